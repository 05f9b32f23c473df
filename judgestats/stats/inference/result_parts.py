"""The parts that results are made of, and their common base."""

from __future__ import annotations

import dataclasses
import html
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from judgestats.results.numbers import format_number, format_p
from judgestats.results.wording import sample_text


def to_plain(value: Any) -> Any:
    """Turn a result, array or scalar into plain JSON values; NaN becomes None, never 0.

    Examples
    --------
    >>> to_plain({"a": np.float64("nan"), "b": np.array([1, 2])})
    {'a': None, 'b': [1, 2]}
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: to_plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(k): to_plain(v) for k, v in value.items()}
    if isinstance(value, np.ndarray):
        return [to_plain(v) for v in value.tolist()]
    if isinstance(value, pd.DataFrame):
        return [to_plain(row) for row in value.to_dict("records")]
    if isinstance(value, (list, tuple, set, frozenset)):
        return [to_plain(v) for v in value]
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        number = float(value)
        return number if math.isfinite(number) else (None if math.isnan(number) else str(number))
    if value is None or isinstance(value, str):
        return value
    return str(value)


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
class Sample:
    """What a number was computed from.

    `n_replications` is the number per item, or the smallest where items differ (then
    `n_replications_max` is the largest), told as so many of `repeated`. `excluded` maps a reason to
    a count; reasons of nothing fall away, and `n_excluded` is their sum where it is not given.

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

    def __str__(self) -> str:
        return sample_text(self)


@dataclasses.dataclass(frozen=True, kw_only=True)
class NullReference:
    """What the same coefficient yields when there is nothing to find (STATISTICS section 3)."""

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
        plain = to_plain(self)
        return {"type": type(self).__name__, **plain}

    def __iter__(self) -> Any:
        raise TypeError(
            f"{type(self).__name__} is not iterable: read its fields by name, or use .tidy()"
        )

    def _repr_html_(self) -> str:
        return f"<pre class='judgestats'>{html.escape(str(self))}</pre>"


def notes_block(notes: Sequence[Note]) -> list[str]:
    """The warnings as lines of a print."""
    return [f"warning: {note.message}" for note in notes]
