"""One estimated quantity."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from judgestats.results.estimands import symbol_of, without_zero
from judgestats.results.numbers import format_number, with_bounds
from judgestats.results.parts import NOT_ESTIMABLE
from judgestats.results.wording import estimate_text, null_text
from judgestats.stats.inference.result_parts import (
    Interval,
    Note,
    NullReference,
    Result,
    Sample,
    notes_block,
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Estimate(Result):
    """One estimated quantity with everything a reader needs to judge it.

    Attributes
    ----------
    name : str
        Stable machine name of the estimand, such as ``omega_total``.
    label : str
        Readable name, such as ``McDonald's omega total``.
    estimator : str
        How it was estimated, with the convention where packages differ.
    estimate : float
        The value; NaN with `reason` where it is undefined.
    interval : Interval or None
        Confidence interval; None where none is defined (the reason is in `notes`).
    std_error : float
        Standard error on the scale of the estimate, NaN where the interval does not use one.
    sample : Sample
        Items, clusters, replications, exclusions.
    null : NullReference or None
        What permutation of nothing gives.
    notes : tuple of Note
        Warnings as data.
    reason : str
        Why the estimate is NaN, else empty.
    details : mapping
        Further named numbers (plain values or arrays), such as loadings or fit indices.
    """

    name: str
    label: str
    estimate: float
    sample: Sample
    estimator: str = ""
    interval: Interval | None = None
    std_error: float = math.nan
    null: NullReference | None = None
    notes: tuple[Note, ...] = ()
    reason: str = ""
    details: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def replace(self, **changes: Any) -> Estimate:
        """A copy with some fields changed (the way a null or interval is added later)."""
        return dataclasses.replace(self, **changes)

    def tidy(self) -> pd.DataFrame:
        """One row per term, broom's column names."""
        return pd.DataFrame([self.row()])

    def row(self) -> dict[str, Any]:
        """The tidy row as a dict."""
        iv, null = self.interval, self.null
        return {
            "term": self.name,
            "estimate": self.estimate,
            "std_error": self.std_error,
            "conf_low": iv.low if iv else math.nan,
            "conf_high": iv.high if iv else math.nan,
            "conf_level": iv.level if iv else math.nan,
            "conf_method": iv.method if iv else "",
            "method": self.estimator,
            "n": self.sample.n_items,
            "n_clusters": self.sample.n_clusters,
            "n_replications": self.sample.n_replications,
            "n_excluded": self.sample.n_excluded,
            "null_mean": null.mean if null else math.nan,
            "null_q95": null.q95 if null else math.nan,
            "p_value": null.p_value if null else math.nan,
            "reason": self.reason,
        }

    def short(self) -> str:
        """``.81 [.75, .86]``: the estimate with its interval, to the same decimals."""
        low, high = (
            (self.interval.low, self.interval.high) if self.interval else (math.nan, math.nan)
        )
        return with_bounds(self.estimate, low, high, bounded=without_zero(self.name))

    def apa(self, *, digits: int = 2) -> str:
        """``ICC(1,1) = .81, 95% CI [.75, .87]``: see `Result.apa`.

        Examples
        --------
        >>> e = Estimate(name="icc_1_1", label="ICC(1,1)", estimate=0.8134,
        ...              sample=Sample(n_items=40), interval=Interval(low=0.751, high=0.866))
        >>> e.apa()
        'ICC(1,1) = .81, 95% CI [.75, .87]'
        """
        return self._written(symbol_of(self.name, self.label), digits)

    def _written(self, label: str, digits: int = 2) -> str:
        return estimate_text(
            label, self.estimate, self.interval,
            bounded=without_zero(self.name), reason=self.reason, digits=digits,
            lost=any(note.code == NOT_ESTIMABLE for note in self.notes),
        )  # fmt: skip

    def sentence(self) -> str:
        """The result as one sentence for a report."""
        if math.isnan(self.estimate):
            return f"{self.label} is undefined: {self.reason}."
        text, null = self._written(self.label), self.null
        if null:
            bounded = without_zero(self.name)
            text += null_text(
                null.mean,
                null.q95,
                null.p_value,
                bounded=bounded,
                reason=null.reason,
                smallest=null.p_smallest,
            )
        return text + f" ({self.sample})."

    def __str__(self) -> str:
        lines = ["", f"\t{self.label}", ""]
        lines.append(f"{self.name} = {format_number(self.estimate, digits=5)}")
        if self.reason:
            lines.append(f"undefined: {self.reason}")
        if self.interval:
            lines.append(
                f"{100 * self.interval.level:g} percent confidence interval: {self.interval} "
                f"({self.interval.method})"
            )
        if self.null:
            lines.append(str(self.null))
        lines.append(f"data: {self.sample}")
        if self.estimator:
            lines.append(f"estimator: {self.estimator}")
        return "\n".join([*lines, *notes_block(self.notes), ""])
