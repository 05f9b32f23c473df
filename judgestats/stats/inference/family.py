"""Families of comparisons under one adjustment."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from judgestats.results.estimands import without_zero
from judgestats.results.numbers import (
    adjusted_p,
    apa_estimate,
    format_number,
    with_bounds,
)
from judgestats.results.parts import LOST, NOT_ESTIMABLE
from judgestats.results.wording import furthest, hangs_on, pairs_text
from judgestats.stats.inference.result_parts import Interval, Note, Result, Sample, notes_block


@dataclasses.dataclass(frozen=True, kw_only=True)
class Comparison:
    """One row of a family of comparisons: `a` against `b`."""

    a: str
    b: str
    estimate: float
    statistic: float
    p_value: float
    p_adjusted: float = math.nan
    """Filled in by `with_adjusted` where a whole family is adjusted."""
    estimate_name: str = "difference"
    df: float = math.nan
    interval: Interval | None = None
    effect: float = math.nan
    effect_name: str = ""
    p_bound: bool = False
    """Whether `p_adjusted` is an upper bound: see `judgestats.stats.p_bounds`."""
    held_to: str = ""
    """Id of the claim of all conditions below whose adjusted p that of this pair cannot lie."""
    n: int | None = None
    reason: str = ""
    notes: tuple[Note, ...] = ()
    details: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def lost(self) -> str:
        """What stands in place of an interval that is not estimable, with a space before it."""
        return f" {LOST}" if any(note.code == NOT_ESTIMABLE for note in self.notes) else ""

    def with_bounds(self, *, digits: int = 2, bounded: bool = False, times: float = 1.0) -> str:
        """The estimate with its interval for a sentence, or the reason why there is none.

        Parameters
        ----------
        digits : int
            The fewest decimals.
        bounded : bool
            Whether it cannot exceed 1, and so has no leading zero.
        times : float
            100 for a share that is told in hundredths.

        Examples
        --------
        >>> row = Comparison(a="x", b="y", estimate=0.0312, statistic=2.1, p_value=0.04,
        ...                  p_adjusted=0.04, interval=Interval(low=0.002, high=0.071))
        >>> row.with_bounds(), row.with_bounds(times=100, digits=0)
        ('0.031 [0.002, 0.071]', '3.1 [0.2, 7.1]')
        """
        low, high = (
            (self.interval.low, self.interval.high) if self.interval else (math.nan, math.nan)
        )
        text = with_bounds(
            times * self.estimate, times * low, times * high, digits=digits, bounded=bounded
        )
        if self.interval or not self.reason:
            return f"{text}{self.lost}"
        return self.reason if math.isnan(self.estimate) else f"{text} ({self.reason})"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Comparisons(Result):
    """A family of comparisons under one adjustment (post hoc, or a declared family)."""

    name: str
    method: str
    adjust: str
    family: str
    rows: tuple[Comparison, ...]
    sample: Sample
    notes: tuple[Note, ...] = ()
    details: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    symbol: str = ""
    """Of the rows' statistic; empty where a row has none."""

    def replace(self, **changes: Any) -> Comparisons:
        """A copy with some fields changed."""
        return dataclasses.replace(self, **changes)

    def tidy(self) -> pd.DataFrame:
        """One row per term, broom's column names."""
        return pd.DataFrame(
            [
                {
                    "contrast": f"{r.a} - {r.b}",
                    "a": r.a,
                    "b": r.b,
                    "estimate": r.estimate,
                    "estimate_name": r.estimate_name,
                    "conf_low": r.interval.low if r.interval else math.nan,
                    "conf_high": r.interval.high if r.interval else math.nan,
                    "statistic": r.statistic,
                    "df": r.df,
                    "p_value": r.p_value,
                    "p_adjusted": r.p_adjusted,
                    "effect": r.effect,
                    "effect_name": r.effect_name,
                    "n": r.n if r.n is not None else self.sample.n_items,
                    "adjust": self.adjust,
                    "method": self.method,
                    "reason": r.reason,
                }
                for r in self.rows
            ]
        )

    def glance(self) -> pd.DataFrame:
        """One row for the whole result."""
        p = [r.p_adjusted for r in self.rows if not math.isnan(r.p_adjusted)]
        return pd.DataFrame(
            [
                {
                    "term": self.name,
                    "method": self.method,
                    "adjust": self.adjust,
                    "family": self.family,
                    "n_comparisons": len(self.rows),
                    "n_below_05": sum(v < 0.05 for v in p),
                    "min_p_adjusted": min(p) if p else math.nan,
                    "n": self.sample.n_items,
                }
            ]
        )

    @property
    def p_floor(self) -> float:
        """The smallest p that the method can give on these data; NaN where none is known."""
        drawn = self.details.get("n_permutations")
        return float(self.details.get("p_floor", 1 / (drawn + 1) if drawn else math.nan))

    def apa(self, *, digits: int = 2) -> str:
        """Every pair with its estimate, interval and adjusted p: see `Result.apa`."""
        return "; ".join(self._row_apa(row, digits) for row in self.rows)

    @staticmethod
    def _row_apa(row: Comparison, digits: int) -> str:
        name = f"{row.a} vs. {row.b}"
        if math.isnan(row.estimate):
            return f"{name}: undefined ({row.reason or 'no reason given'})"
        bounded = without_zero(row.estimate_name)
        shown = apa_estimate(row.estimate, row.interval, digits=digits, bounded=bounded)
        parts = [f"{name}: {row.estimate_name} = {shown}{row.lost}"]
        if not math.isnan(row.p_adjusted):
            parts.append(f"adjusted p {adjusted_p(row)}")
        return ", ".join(parts)

    def sentence(self) -> str:
        """The result as one sentence for a report."""
        rows = [
            (f"{r.a} against {r.b} ({self._row_found(r)})", r.p_adjusted, r.reason)
            for r in self.rows
        ]
        far = (
            furthest([r.estimate for r in self.rows], ratios="ratio" in self.rows[0].estimate_name)
            if self.rows
            else None
        )
        return pairs_text(
            self.method, self.adjust, self.family, rows, sample=str(self.sample),
            largest="" if far is None else rows[far][0],
        )  # fmt: skip

    @staticmethod
    def _row_found(row: Comparison) -> str:
        """Estimate, interval, on what it hangs, and adjusted p of one pair, for a sentence."""
        bounded = without_zero(row.estimate_name)
        text = f"{row.estimate_name} {apa_estimate(row.estimate, row.interval, bounded=bounded)}"
        return f"{text}{row.lost}{hangs_on(row.details)}, adjusted p {adjusted_p(row)}"

    def __str__(self) -> str:
        columns = ["contrast", "estimate", "statistic", "p_value", "p_adjusted"]
        if any(r.interval for r in self.rows):
            columns[2:2] = ["conf_low", "conf_high"]
        frame = self.tidy()[columns]
        table = frame.to_string(index=False, float_format=format_number)
        lines = ["", f"\t{self.method}", "", f"family: {self.family}; adjustment: {self.adjust}"]
        notes = [*self.notes, *(note for row in self.rows for note in row.notes)]
        return "\n".join([*lines, table, f"({self.sample})", *notes_block(notes), ""])
