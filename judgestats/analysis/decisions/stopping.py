"""Stopping rule: stop collecting when a width is reached, or when the answer is known."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from scipy import special

from judgestats.analysis.decisions.record import Decision, number
from judgestats.errors import InputError, nearest
from judgestats.results.numbers import apa_number
from judgestats.results.records import Number, Part
from judgestats.stats.inference.spending import spending_bounds

FIRST, STEP = 20, 10
_WIDTH = re.compile(r"^(?P<name>\w+):width<=(?P<value>[^\s]+)$")
_ANSWER = re.compile(r"^(?P<name>\w+)(?P<sign>!=|>=|<=)(?P<value>[^\s]+)$")


@dataclass(frozen=True, kw_only=True)
class StopLook(Part):
    """One look: items, estimate with limits, and the bound for z where the stop is a verdict."""

    items: int
    estimate: Number
    low: Number
    high: Number
    bound: Number = math.nan


@dataclass(frozen=True, kw_only=True)
class StoppingRule(Decision):
    """Whether enough items were judged, look by look.

    Attributes
    ----------
    rule : str
        ``icc_1_1:width<=.1`` (precision), or ``difference!=0`` and ``icc_1_1>=.75`` (verdict).
    quantity : str
    stop : {"width", "verdict"}
    sign : str
    target : float
        The width, or the value that is tested.
    reached : bool
        Whether the last look stops.
    items, max_items : int
    looks : tuple of StopLook
    planned : tuple of int
        Items at each look.
    saved_share : float
        1 - items / max_items; NaN before a stop.
    projected : int
        Items at which the width would be reached, of the last look.

    Notes
    -----
    A stop on the width leaves the ordinary interval valid, asymptotically. A stop on the answer
    spends the error over the planned looks (Lan and DeMets 1983), and its interval uses the bound
    at the stop.

    References
    ----------
    Anscombe (1952), Proc. Camb. Phil. Soc. 48, 600-607; Chow & Robbins (1965), Ann. Math. Stat. 36,
    457-462; Lan & DeMets (1983), Biometrika 70, 659-663; Jennison & Turnbull (1989), JRSS B 51.

    Examples
    --------
    >>> rule = StoppingRule.parse("icc_1_1:width<=.1", max_items=300, step=190)
    >>> rule = rule.look(20, .69, .48, .85)
    >>> rule.reached, rule.projected > 200
    (False, True)
    >>> print(rule.look(210, .746, .693, .792))
    STOPPED  icc_1_1 .746 [.693, .792] after 210 of 300 items: width .10 reached, 30% of the items
             saved.
    """

    kind: ClassVar[str] = "stop"
    word: ClassVar[str] = "STOPPED"
    rule: str
    quantity: str
    stop: Literal["width", "verdict"]
    sign: str = ""
    target: Number
    reached: bool = False
    items: int = 0
    max_items: int
    looks: tuple[StopLook, ...] = ()
    planned: tuple[int, ...] = ()
    saved_share: Number = math.nan
    projected: int = 0

    @classmethod
    def parse(
        cls,
        text: str,
        *,
        max_items: int,
        measured: Sequence[str] = (),
        first: int = FIRST,
        step: int = STEP,
        level: float = 0.95,
    ) -> StoppingRule:
        """Read a rule.

        Parameters
        ----------
        text : str
        max_items : int
        measured : sequence of str
            Quantities with an interval; empty: any.
        first, step : int
            Items at the first look, and between looks.
        level : float

        Raises
        ------
        InputError
            The rule cannot be read, mixes both kinds, or names what is not measured.
        """
        if " or " in text or "," in text:
            raise InputError(f"--until: {text!r} joins two stops. Give one.")
        found = _WIDTH.match(text.strip()) or _ANSWER.match(text.strip())
        try:
            value = float(found["value"]) if found else math.nan
        except ValueError:
            value = math.nan
        if found is None or not math.isfinite(value):
            raise InputError(
                f"--until takes NAME:width<=NUMBER, NAME!=NUMBER or NAME>=NUMBER, got {text!r}."
            )
        name, width = found["name"], ":width" in text
        if measured and name not in measured:
            raise InputError(
                f"--until: {name} is not measured with an interval.{nearest(name, measured)} "
                f"There are: {', '.join(measured)}."
            )
        if width and value <= 0:
            raise InputError("--until: a width must be above 0, e.g. icc_1_1:width<=.1.")
        if not 2 <= first <= max_items or step < 1:
            raise InputError(f"--until: the first look, at {first} items, must be within the run.")
        planned = [*range(first, max_items, step), max_items]
        return cls(
            rule=text.strip(), quantity=name, stop="width" if width else "verdict",
            sign="" if width else found["sign"], target=value, max_items=max_items,
            planned=tuple(planned), level=level, reason="no look was taken",
            method="width stop" if width else "Lan and DeMets' spending, O'Brien-Fleming-like",
        )  # fmt: skip

    def look(
        self, items: int, estimate: float, low: float, high: float, *, df: float = math.inf
    ) -> StoppingRule:
        """Take the next planned look.

        Parameters
        ----------
        items : int
            Whole items judged so far.
        estimate, low, high : float
            With its interval at `level`.
        df : float
            Degrees of freedom of the interval: z has the tail of this t.

        Returns
        -------
        StoppingRule
            With the look, and whether it stops.

        Raises
        ------
        InputError
            The look was not planned, or the run has stopped.
        """
        left = self.planned[len(self.looks) :]
        if self.reached or not left or items != left[0]:
            plan = "none is left" if self.reached or not left else f"the next is at {left[0]}"
            raise InputError(f"--until: no look is planned at {items} items; {plan}.")
        looks = len(self.looks) + 1
        base = replace(self, items=items, n_items=items)
        if self.stop == "width":
            stops = high - low <= self.target
            made = StopLook(items=items, estimate=estimate, low=low, high=high)
            ratio = (high - low) / self.target
            projected = items if stops else math.ceil(items * ratio**2)
            base = replace(base, projected=projected if math.isfinite(ratio) else 0)
        else:
            made, stops = self._verdict_look(items, estimate, low, high, df, looks)
        return replace(
            base, looks=(*self.looks, made), reached=stops, certified=stops,
            saved_share=1 - items / self.max_items if stops else math.nan,
            reason="" if stops else "the rule is not met",
        )  # fmt: skip

    def _verdict_look(
        self, items: int, estimate: float, low: float, high: float, df: float, looks: int
    ) -> tuple[StopLook, bool]:
        """Hold z to the bound of this look; limits are those of the bound."""
        shares = [n / self.max_items for n in self.planned[:looks]]
        bound = float(spending_bounds(shares, 1 - self.level)[-1])
        quantile = float(
            special.stdtrit(df, (1 + self.level) / 2) if math.isfinite(df)
            else special.ndtri((1 + self.level) / 2)
        )  # fmt: skip
        error = (high - low) / (2 * quantile)
        tail = float(special.ndtr(-bound))
        wide = error * (-float(special.stdtrit(df, tail)) if math.isfinite(df) else bound)
        made = StopLook(
            items=items, estimate=estimate, low=estimate - wide, high=estimate + wide, bound=bound
        )
        above, below = made.low > self.target, made.high < self.target
        return made, above or below

    def sentences(self) -> list[str]:
        """Estimate, items, and what the stop saved; or what is still missing."""
        if not self.looks:
            return [f"{self.rule}: {self.reason}."]
        last = self.looks[-1]
        limits = f"[{number(last.low, 3)}, {number(last.high, 3)}]"
        shown = f"{self.quantity} {number(last.estimate, 3)} {limits}"
        after = f"after {self.items} of {self.max_items} items"
        if not self.reached:
            more = ""
            if self.stop == "width" and self.projected > self.max_items:
                more = f" Width {apa_number(self.target, bounded=True)} needs about "
                more += f"{self.projected:,} items, more than the maximum."
            return [f"{shown} {after}: {self.rule} is not met.{more}"]
        what = (
            f"width {apa_number(self.target, bounded=True)} reached" if self.stop == "width"
            else f"{'above' if last.low > self.target else 'below'} {self.target:g} is shown"
        )  # fmt: skip
        return [f"{shown} {after}: {what}, {100 * self.saved_share:.0f}% of the items saved."]

    def screen(self) -> list[str]:
        """As of every decision; without a stop the word is GO ON."""
        lines = super().screen()
        return lines if self.reached else [
            line.replace("STOPPED", "GO ON  ", 1) if i == 0 else line
            for i, line in enumerate(lines)
        ]  # fmt: skip
