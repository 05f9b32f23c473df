"""Conditions and tasks: which judgment is asked for, before anybody is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from judgestats.protocols.base import Prompted, ReplyMode

__all__ = ["Condition", "Task"]


@dataclass(frozen=True, kw_only=True)
class Condition:
    """One cell of the design: a judge at a temperature, and any further factors.

    Attributes
    ----------
    judge : str
        The judge as the user named it (``gpt-4o-mini``, ``sim-typical``,
        ``llama3@http://localhost:11434/v1``).
    temperature : float or None
        None asks the server for its default.
    factors : mapping of str to str
        Further factors of the design (``{"guideline": "detailed"}``).
    """

    judge: str
    temperature: float | None = None
    factors: Mapping[str, str] = field(default_factory=dict, hash=False)

    @cached_property
    def label(self) -> str:
        """A readable unique name: ``gpt-4o-mini, T=0.5, guideline=detailed``."""
        parts = [self.judge]
        if self.temperature is not None:
            parts.append(f"T={self.temperature:g}")
        parts += [f"{k}={v}" for k, v in self.factors.items()]
        return ", ".join(parts)


@dataclass(frozen=True, kw_only=True)
class Task:
    """One judgment to be made: (condition, item, order, stage, replicate) and how to prompt it.

    `build` makes the prompt for the reply mode that the judge turns out to support. `choices_group`
    tasks differ only in `replicate`; where a request carries several choices (``n``) they share it.
    """

    condition: Condition
    item_id: str
    cluster: str
    replicate: int
    build: Callable[[ReplyMode], Prompted]
    order: str = ""
    stage: str = "final"
    category: str = ""

    @cached_property
    def key(self) -> tuple[str, str, str, str, int]:
        """What must be unique in a plan: condition, item, order, stage, replicate."""
        return (self.condition.label, self.item_id, self.order, self.stage, self.replicate)
