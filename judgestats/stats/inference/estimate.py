"""Estimates with intervals, and the parts of their prints."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from judgestats.arrays import Bools, Ints
from judgestats.results.numbers import format_number, format_p, with_bounds
from judgestats.results.quantities import omits_zero, symbol_of
from judgestats.results.records import NOT_ESTIMABLE, plain
from judgestats.results.text import estimate_text, null_text, sample_text
from judgestats.sinks import escape_html


@dataclasses.dataclass(frozen=True, kw_only=True)
class Interval:
    """A confidence interval: two floats, its level and how it was made."""

    low: float
    high: float
    level: float = 0.95
    method: str = ""
    n_resamples: int | None = None
    seed: int | None = None

    def __str__(self) -> str:
        """Both bounds to the same decimals: four figures of the larger one.

        Examples
        --------
        >>> print(Interval(low=0.79, high=0.86421), Interval(low=1.5, high=31.0))
        [0.7900, 0.8642] [1.50, 31.00]
        """
        largest = max(abs(self.low), abs(self.high))
        if not 1e-4 <= largest < 1e5:  # zero, not finite, or in need of an exponent
            return f"[{format_number(self.low)}, {format_number(self.high)}]"
        decimals = max(0, 3 - math.floor(math.log10(largest)))
        return f"[{self.low:.{decimals}f}, {self.high:.{decimals}f}]"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Limits:
    """An estimate with two limits of one level.

    Attributes
    ----------
    estimate, low, high : float
        Limits are NaN where `reason` says why there are none.
    level : float
    df : float
        Degrees of freedom behind the limits; NaN where there are none.
    reason : str
    """

    estimate: float
    low: float = math.nan
    high: float = math.nan
    level: float
    df: float = math.nan
    reason: str = ""

    def interval(self, method: str = "") -> Interval | None:
        """The limits as an interval; None where there are none.

        Parameters
        ----------
        method : str
        """
        if math.isnan(self.low) or math.isnan(self.high):
            return None
        return Interval(low=self.low, high=self.high, level=self.level, method=method)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Sample:
    """What a number was computed from.

    `n_replications` is the number per item, or the smallest where items differ (then
    `n_replications_max` is the largest). `repeated` names what is counted. `excluded` maps a reason
    to a count. Reasons with a count of 0 are dropped, and `n_excluded` defaults to their sum.

    Examples
    --------
    >>> Sample(n_items=8, excluded={"not read": 2, "no label": 0})
    Sample(n_items=8, ..., n_excluded=2, excluded={'not read': 2}, repeated='replication')
    """

    n_items: int
    n_clusters: int | None = None
    n_replications: int | None = None
    n_replications_max: int | None = None
    n_excluded: int = 0
    excluded: Mapping[str, int] = dataclasses.field(default_factory=dict)
    repeated: str = "replication"

    def __post_init__(self) -> None:
        excluded = {reason: n for reason, n in self.excluded.items() if n}
        object.__setattr__(self, "excluded", excluded)
        object.__setattr__(self, "n_excluded", self.n_excluded or sum(excluded.values()))

    @classmethod
    def from_mask(
        cls,
        used: Bools,
        why: str | Mapping[str, int],
        codes: Ints | None = None,
        **more: Any,
    ) -> Sample:
        """The items used, their clusters, and why the others are left out.

        Parameters
        ----------
        used : ndarray of bool, shape (n_items,)
        why : str or mapping of str to int
            Why items are not used, or how many for which reason.
        codes : ndarray of int, shape (n_items,), optional
            Cluster of each item; None where items are independent.
        **more
            Further fields.

        Returns
        -------
        Sample

        Examples
        --------
        >>> used = np.array([True, True, False])
        >>> Sample.from_mask(used, "unparsed", np.array([4, 4, 5])).n_clusters
        1
        """
        n = int(np.sum(used))
        return cls(
            n_items=n,
            n_clusters=None if codes is None else int(np.unique(codes[used]).size),
            excluded={why: used.size - n} if isinstance(why, str) else why,
            **more,
        )

    def __str__(self) -> str:
        return sample_text(self)


@dataclasses.dataclass(frozen=True, kw_only=True)
class NullReference:
    """What the same coefficient yields under the null hypothesis (STATISTICS section 3)."""

    hypothesis: str
    permuted: str
    mean: float
    q95: float
    p_value: float
    n_permutations: int
    seed: int | None = None
    drawn: bool = False
    """Whether `permuted` names what was drawn at random rather than permuted."""
    reason: str = ""
    """Why the null says nothing (no permutation changes the value); `p_value` is NaN then."""
    p_method: str = ""
    """How `p_value` was had where the permutations did not give it."""
    sides: int = 1
    """2 where `p_value` is twice that of the nearer side."""

    @property
    def p_smallest(self) -> float:
        """The smallest p-value that this many permutations can give; 0 where p is not theirs."""
        return 0.0 if self.p_method else self.sides / (self.n_permutations + 1)

    def __str__(self) -> str:
        if self.reason:
            return f"null ({self.hypothesis}): says nothing, {self.reason}"
        how = "draws of" if self.drawn else "permutations of"
        p = f", p {format_p(self.p_value, smallest=self.p_smallest)}"
        return (
            f"null ({self.hypothesis}): mean {format_number(self.mean)}, 95th percentile "
            f"{format_number(self.q95)}{p if not math.isnan(self.p_value) else ''} "
            f"({self.n_permutations} {how} {self.permuted}{self.p_method and f'; {self.p_method}'})"
        )


@dataclasses.dataclass(frozen=True, kw_only=True)
class Note:
    """A warning as data: a stable code to test for, and a sentence to read."""

    code: str
    message: str

    def __str__(self) -> str:
        return self.message


class Result:
    """Base of all results: how each prints, in a terminal and in a notebook."""

    def tidy(self) -> pd.DataFrame:
        """One row per term, broom's column names."""
        raise TypeError(f"{type(self).__name__} does not define tidy()")

    def glance(self) -> pd.DataFrame:
        """One row for the whole result."""
        return self.tidy()

    def sentence(self) -> str:
        """The result as one sentence for a report."""
        raise TypeError(f"{type(self).__name__} does not define sentence()")

    def apa(self, *, digits: int = 2) -> str:
        """The result as a string for one's own paper, in the style of the APA manual (7th edition).

        Parameters
        ----------
        digits : int
            Decimals of estimates and statistics; p-values have three.

        Returns
        -------
        str
            Plain text: statistic with degrees of freedom, exact p (``< .001``), effect with
            interval in brackets. Numbers that cannot exceed 1 have no leading zero.

        Raises
        ------
        TypeError
            The result is a table or a plan: neither an estimate nor a test.
        """
        del digits
        raise TypeError(f"{type(self).__name__} has no APA form: ask one of its parts")

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values, NaN as None."""
        return {"type": type(self).__name__, **plain(self)}

    def __iter__(self) -> Any:
        raise TypeError(
            f"{type(self).__name__} is not iterable: read its fields by name, or use .tidy()"
        )

    def _repr_html_(self) -> str:
        return f"<pre class='judgestats'>{escape_html(str(self))}</pre>"


def notes_block(notes: Sequence[Note]) -> list[str]:
    """The warnings as lines of a print."""
    return [f"warning: {note.message}" for note in notes]


def print_table(
    title: str, table: pd.DataFrame, lines: Sequence[str] = (), notes: Sequence[Note] = ()
) -> str:
    """A titled table with the lines and warnings under it, as results print."""
    text = table.to_string(index=False, float_format=format_number)
    return "\n".join(["", f"\t{title}", "", text, *lines, *notes_block(notes), ""])


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
        return with_bounds(self.estimate, low, high, bounded=omits_zero(self.name))

    def apa(self, *, digits: int = 2) -> str:
        """``ICC(1,1) = .81, 95% CI [.75, .87]``: see `Result.apa`.

        Examples
        --------
        >>> e = Estimate(name="icc_1_1", label="ICC(1,1)", estimate=0.8134,
        ...              sample=Sample(n_items=40), interval=Interval(low=0.751, high=0.866))
        >>> e.apa()
        'ICC(1,1) = .81, 95% CI [.75, .87]'
        """
        return self._format_estimate(symbol_of(self.name, self.label), digits)

    def _format_estimate(self, label: str, digits: int = 2) -> str:
        return estimate_text(
            label, self.estimate, self.interval,
            bounded=omits_zero(self.name), reason=self.reason, digits=digits,
            lost=any(note.code == NOT_ESTIMABLE for note in self.notes),
        )  # fmt: skip

    def sentence(self) -> str:
        """The result as one sentence for a report."""
        if math.isnan(self.estimate):
            return f"{self.label} is undefined: {self.reason}."
        text, null = self._format_estimate(self.label), self.null
        if null:
            bounded = omits_zero(self.name)
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
