"""Stopping rule: stop collecting when a width is reached, or when the answer is known."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from scipy import special

from judgestats.analysis.decisions.record import Decision, level_text, number
from judgestats.errors import InputError, nearest
from judgestats.results.numbers import apa_number
from judgestats.results.records import Number, Part
from judgestats.stats.inference.multiplicity import alpha_spent, spending_bounds
from judgestats.stats.validity.sequential import FIRST_LOOK as FIRST
from judgestats.stats.validity.sequential import sequence_bound

STEP = 10
_WIDTH = re.compile(r"^(?P<name>\w+)\s*:\s*width\s*<=\s*(?P<value>\S+)$")
VERDICT = "verdict"
"""The rule that stops where every verdict is known."""
_ANSWER = re.compile(r"^(?P<name>\w+)\s*(?P<sign>!=|>=|<=)\s*(?P<value>\S+)$")


def unmeasured(name: str, measured: Sequence[str]) -> InputError:
    """That a rule names what is not measured."""
    return InputError(
        f"--until: {name} is not measured with an interval.{nearest(name, measured)} "
        f"There are: {', '.join(measured)}."
    )


@dataclass(frozen=True, kw_only=True)
class StopLook(Part):
    """One look: items, estimate with limits, and the bound for z where the stop is a verdict.

    `subject` is what is furthest from a stop, where there are several.
    """

    items: int
    estimate: Number
    low: Number
    high: Number
    bound: Number = math.nan
    subject: str = ""


@dataclass(frozen=True, kw_only=True)
class StoppingRule(Decision):
    """Whether enough items were judged, look by look.

    Attributes
    ----------
    rule : str
        ``icc_1_1:width<=.1`` (precision), or ``difference!=0``, ``icc_1_1>=.75``, and ``verdict``
        (USE or DO NOT USE).
    quantity : str
    stop : {"width", "verdict"}
    sign : str
    target : float
        The width, or the value that is tested.
    reached : bool
        Whether the last look stops.
    items, max_items : int
    is_bounded : bool
        Whether a maximum was stated; without one a stop on the answer takes a confidence sequence,
        and `max_items` are the available items.
    claims : int
        Requirements that verdicts claim at once, of which a confidence sequence takes each.
    looks : tuple of StopLook
    planned : tuple of int
        Items at each look.
    saved_share : float
        1 - items / max_items, or of the money where its cost is known; NaN before the end.
    spent_usd, full_usd : float
        Cost of the items judged, and of all at the same cost per item; NaN where not known.
    projected : int
        Items at which the width would be reached, of the last look.

    Notes
    -----
    A stop on the width leaves the ordinary interval valid, asymptotically. A stop on the answer
    spends the error over the planned looks (Lan and DeMets 1983); without a maximum it takes an
    asymptotic confidence sequence (Waudby-Smith et al. 2024). Its interval uses the bound at the
    stop.

    References
    ----------
    Anscombe (1952), Proc. Camb. Phil. Soc. 48, 600-607; Chow & Robbins (1965), Ann. Math. Stat. 36,
    457-462; Lan & DeMets (1983), Biometrika 70, 659-663. Jennison & Turnbull (1989), JRSS B 51.
    Waudby-Smith, Arbour, Sinha, Kennedy & Ramdas (2024), Ann. Statist. 52, 2613-2640.

    Examples
    --------
    >>> rule = StoppingRule.parse("icc_1_1:width<=.1", max_items=300, step=190)
    >>> rule = rule.look(20, .69, .48, .85)
    >>> rule.reached, rule.projected > 200
    (False, True)
    >>> print(rule.look(210, .746, .693, .792))
    STOPPED  icc_1_1 .746, 95% CI [.693, .792], after 210 of 300 items: width .10 reached, 30% of
             the items saved.
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
    is_bounded: bool = True
    claims: int = 1
    looks: tuple[StopLook, ...] = ()
    planned: tuple[int, ...] = ()
    saved_share: Number = math.nan
    spent_usd: Number = math.nan
    full_usd: Number = math.nan
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
        is_bounded: bool = True,
        independent: int | None = None,
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
        is_bounded : bool
            Whether `max_items` is a stated maximum, not all available items.
        independent : int, optional
            Clusters at the first look; by default its items.

        Raises
        ------
        InputError
            The rule cannot be read, mixes both kinds, or names what is not measured.
        """
        if " or " in text or "," in text:
            raise InputError(f"--until: {text!r} joins two stops. Give one.")
        width = _WIDTH.match(text.strip())
        found = width or _ANSWER.match(text.strip())
        try:
            value = float(found["value"]) if found else math.nan
        except ValueError:
            value = math.nan
        if text.strip() != VERDICT and not math.isfinite(value):
            raise InputError(
                "--until takes NAME:width<=NUMBER, NAME!=NUMBER, NAME>=NUMBER, NAME<=NUMBER, or "
                f"verdict, got {text!r}."
            )
        name = found["name"] if found else VERDICT
        if measured and name not in measured:
            raise unmeasured(name, measured)
        if width and value <= 0:
            raise InputError("--until: a width must be above 0, e.g. icc_1_1:width<=.1.")
        if not 2 <= first <= max_items or step < 1:
            raise InputError(f"--until: the first look, at {first} items, must be within the run.")
        independent = first if independent is None else independent
        if not (width or is_bounded) and independent < FIRST:
            raise InputError(
                f"--until: without a maximum a stop on the answer looks from {FIRST} clusters on, "
                f"not at {independent}. State the maximum, e.g. --max-items {max_items}."
            )
        planned = [*range(first, max_items, step), max_items]
        spends = "Lan and DeMets' spending, O'Brien-Fleming-like"
        spends = spends if is_bounded else "asymptotic confidence sequence"
        return cls(
            rule=text.strip(), quantity=name, stop="width" if width else "verdict",
            sign=found["sign"] if found and not width else "", target=value, max_items=max_items,
            planned=tuple(planned), level=level, reason="no look was taken",
            method="width stop" if width else spends, is_bounded=is_bounded,
        )  # fmt: skip

    @property
    def bound(self) -> float:
        """The bound for z at the next look; NaN of a width, and where no look is left."""
        looks = len(self.looks) + 1
        if self.stop == "width" or looks > len(self.planned):
            return math.nan
        if not self.is_bounded:
            return sequence_bound(self.planned[looks - 1], 1 - self.level)
        return float(_bounds(self.planned, 1 - self.level)[looks - 1])

    @property
    def next_level(self) -> float:
        """Level of the interval that the next look takes: of its bound, or that of the rule."""
        bound = self.bound
        return self.level if math.isnan(bound) else float(1 - 2 * special.ndtr(-bound))

    @property
    def next_error(self) -> float:
        """Error that the next look of a verdict may spend, or has in a confidence sequence."""
        looks = len(self.looks)
        if not self.is_bounded:  # each claim one-sided
            bound = sequence_bound(self.planned[looks], 2 * (1 - self.level) / self.claims)
            return self.claims * float(special.ndtr(-bound))
        before = self.planned[looks - 1] / self.max_items if looks else 0.0
        now, alpha = self.planned[looks] / self.max_items, 1 - self.level
        return alpha_spent(now, alpha) - (alpha_spent(before, alpha) if looks else 0.0)

    def decide(self, items: int, known: bool) -> StoppingRule:
        """Take the next planned look at verdicts.

        Parameters
        ----------
        items : int
            Whole items judged so far.
        known : bool
            Whether every verdict is known, at the error that `next_error` names.

        Returns
        -------
        StoppingRule

        Raises
        ------
        InputError
            The look was not planned, or the run has stopped.
        """
        self._check_planned(items)
        nan = math.nan
        made = StopLook(items=items, estimate=nan, low=nan, high=nan, bound=self.bound)
        return self._with_look(made, known)

    def look(
        self,
        items: int,
        estimate: float,
        low: float,
        high: float,
        *,
        df: float = math.inf,
        at_bound: bool = False,
        subject: str = "",
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
        at_bound : bool
            Whether the interval has the level of the bound, `next_level`.
        subject : str
            What was estimated, where there are several.

        Returns
        -------
        StoppingRule
            With the look, and whether it stops.

        Raises
        ------
        InputError
            The look was not planned, or the run has stopped.
        """
        self._check_planned(items)
        made = StopLook(items=items, estimate=estimate, low=low, high=high, subject=subject)
        if self.stop == "width":
            return self._with_look(made, high - low <= self.target)
        bound = self.bound
        if not at_bound:
            low, high = _widened(estimate, low, high, bound=bound, df=df, level=self.level)
        made = replace(made, low=low, high=high, bound=bound)
        return self._with_look(made, low > self.target or high < self.target)

    def _check_planned(self, items: int) -> None:
        left = self.planned[len(self.looks) :]
        if self.reached or not left or items != left[0]:
            plan = "none is left" if self.reached or not left else f"the next is at {left[0]}"
            raise InputError(f"--until: no look is planned at {items} items; {plan}.")

    def _with_look(self, made: StopLook, stops: bool) -> StoppingRule:
        """The rule with a look, and whether it stops."""
        ratio = (made.high - made.low) / self.target if self.stop == "width" else math.nan
        projected = made.items if stops else made.items * ratio**2
        return replace(
            self, items=made.items, n_items=made.items, looks=(*self.looks, made), reached=stops,
            certified=stops, subject=made.subject,
            saved_share=1 - made.items / self.max_items
            if stops or made.items == self.max_items else math.nan,
            projected=math.ceil(projected) if math.isfinite(projected) else 0,
            reason="" if stops else "the rule is not met",
        )  # fmt: skip

    def priced(self, usd: float) -> StoppingRule:
        """The rule with the cost of its items, and of all items at the same cost per item.

        Parameters
        ----------
        usd : float
            Cost of the items judged, in US dollars; NaN where it is not known.
        """
        if not (math.isfinite(usd) and usd > 0 and self.items):
            return self
        full = usd / self.items * self.max_items
        return replace(self, spent_usd=usd, full_usd=full)

    def sentences(self) -> list[str]:
        """Estimate, items, and what the stop saved; or what is still missing."""
        if not self.looks:
            return [f"{self.rule}: {self.reason}."]
        after = f"after {self.items} of {self.max_items} items"
        level = level_text(self.level)
        if self.quantity == VERDICT:
            if not self.reached:
                return [f"Not every verdict is known {after}."]
            surely = f"with {level} confidence over all looks"
            return [f"Every verdict is known {after}, {surely}: {self._saved()}."]
        last = self.looks[-1]
        limits = f", {level} CI [{number(last.low, 3)}, {number(last.high, 3)}]"
        if math.isnan(last.low):
            limits = " (no interval)"
        elif self.stop == "verdict":
            limits += " over all looks"
        shown = f"{self.quantity} {number(last.estimate, 3)}{limits},"
        if not self.reached:
            more = ""
            if self.stop == "width" and self.projected > self.max_items:
                more = f" Width {apa_number(self.target, bounded=True)} needs about "
                more += f"{self.projected:,} items{self._price()}, more than "
                more += "the maximum." if self.is_bounded else "there are."
            return [f"{shown} {after}: {self.rule} is not met.{more}"]
        what = (
            f"width {apa_number(self.target, bounded=True)} reached" if self.stop == "width"
            else f"{'above' if last.low > self.target else 'below'} {self.target:g} is shown"
        )  # fmt: skip
        return [f"{shown} {after}: {what}, {self._saved()}."]

    def _saved(self) -> str:
        """What the stop saved: of the budget where prices are known, else of the items."""
        share = f"{100 * self.saved_share:.0f}%"
        if math.isnan(self.spent_usd):
            return f"{share} of the items saved"
        spent, full = usd_text(self.spent_usd), usd_text(self.full_usd)
        return f"{share} of the budget saved ({spent} of about {full})"

    def _price(self) -> str:
        if math.isnan(self.full_usd):
            return ""
        return f" (about {usd_text(self.full_usd / self.max_items * self.projected)})"

    @property
    def heading(self) -> str:
        """As of every decision; without a stop GO ON, or ENDED at the last look."""
        return self.word if self.reached else "GO ON" if self.items < self.max_items else "ENDED"


@functools.lru_cache(maxsize=16)
def _bounds(planned: tuple[int, ...], alpha: float) -> tuple[float, ...]:
    """Bounds for z at each planned look; the last is at the maximum."""
    return tuple(spending_bounds([n / planned[-1] for n in planned], alpha).tolist())


def _widened(
    estimate: float, low: float, high: float, *, bound: float, df: float, level: float
) -> tuple[float, float]:
    """Limits of a symmetric interval at the level of a bound."""
    if math.isfinite(df):
        quantile = float(special.stdtrit(df, (1 + level) / 2))
        times = -float(special.stdtrit(df, float(special.ndtr(-bound))))
    else:
        quantile, times = float(special.ndtri((1 + level) / 2)), bound
    wide = (high - low) / (2 * quantile) * times
    return estimate - wide, estimate + wide


def usd_text(usd: float) -> str:
    """Money in two decimals, in four below a cent.

    Examples
    --------
    >>> usd_text(3.2), usd_text(.0042)
    ('$3.20', '$0.0042')
    """
    return f"${usd:,.2f}" if usd >= 0.01 else f"${usd:.4f}"
