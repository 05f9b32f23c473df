"""Who answers which items, how often, and how it is asked; and the tasks that follow from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from judgestats.errors import InputError
from judgestats.items.schema import Item
from judgestats.judges.spec import JudgeSpec, parse_judge
from judgestats.judgments.design import Condition, Task
from judgestats.judgments.settings import label
from judgestats.protocols.answer_prompt import AnswerPrompt

_STAGE = "answer"


@dataclass(frozen=True, kw_only=True)
class AnswerPlan:
    """Who answers, how hot, how often, and how it is asked.

    Attributes
    ----------
    answerers : mapping of str to JudgeSpec
        Models by name, as `parse_judge` reads them (`AnswerPlan.of` does it).
    temperatures : tuple of float or None
        Every model answers every item once at each of them, or `samples` times.
    samples : int
    protocol : AnswerPrompt
    settings, seed
        As in `collect`.
    """

    answerers: Mapping[str, JudgeSpec]
    temperatures: tuple[float | None, ...] = (0.75,)
    samples: int = 1
    protocol: AnswerPrompt
    settings: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None

    def __post_init__(self) -> None:
        if not self.answerers or not self.temperatures or self.samples < 1:
            raise InputError(
                "answerers: an answer plan needs at least one model, one temperature and one "
                f"sample, got {len(self.answerers)}, {len(self.temperatures)} and {self.samples}."
            )

    @classmethod
    def of(
        cls,
        answerers: Iterable[str],
        *,
        base_url: str | None = None,
        environ: Mapping[str, str] | None = None,
        protocol: AnswerPrompt | None = None,
        **options: Any,
    ) -> AnswerPlan:
        """The plan for models by name (``m``, ``m@http://host/v1``, ``sim-answerer-1``).

        Examples
        --------
        >>> AnswerPlan.of(["sim-answerer-1"], temperatures=(0.2, 1.0)).authors
        ('sim-answerer-1, T=0.2', 'sim-answerer-1, T=1')
        """
        specs = {
            name: parse_judge(name, base_url=base_url, environ=environ, answers=True)
            for name in answerers
        }
        return cls(answerers=specs, protocol=protocol or AnswerPrompt(), **options)

    @property
    def voices(self) -> dict[tuple[str, float | None, int], str]:
        """The author's name of each (answerer, temperature, sample).

        The model's name (as written, endpoint included, where two endpoints serve the same model),
        with its temperature and the sample's number where there are several.
        """
        models = [s.model for s in self.answerers.values()]
        out = {}
        for name, spec in self.answerers.items():
            base = spec.model if models.count(spec.model) == 1 else name
            for temperature in self.temperatures:
                heat = (
                    f", {label('temperature', temperature)}" if len(self.temperatures) > 1 else ""
                )
                for sample in range(self.samples):
                    number = f" #{sample + 1}" if self.samples > 1 else ""
                    out[name, temperature, sample] = f"{base}{heat}{number}"
        return out

    @property
    def authors(self) -> tuple[str, ...]:
        """The authors' names, in the order in which their answers stand."""
        return tuple(self.voices.values())


def answer_task(
    plan: AnswerPlan,
    item: Item,
    answerer: str,
    temperature: float | None,
    sample: int,
    *,
    answers: tuple[str, ...] = (),
) -> Task:
    """An item's next turn, asked of an answerer: the turns before it have `answers`."""
    return Task(
        condition=Condition(judge=answerer, temperature=temperature),
        item_id=item.id,
        cluster=item.cluster,
        category=item.category,
        replicate=sample,
        stage=stage_of(len(answers) + 1),
        build=partial(plan.protocol.prompt, item, answers),
    )


def stage_of(turn: int) -> str:
    """The stage of a task that asks for the answer to a turn, counted from 1.

    Examples
    --------
    >>> stage_of(1), stage_of(2)
    ('answer', 'answer 2')
    """
    return _STAGE if turn == 1 else f"{_STAGE} {turn}"
