"""Results: estimates with intervals, tests, sets of estimates, and their prints."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import pandas as pd

from judgestats.errors import InputError
from judgestats.files.text import format_number
from judgestats.results import numbers, records, with_bounds
from judgestats.results.quantities import name_of, omits_zero, symbol_of
from judgestats.results.records import LOST, NOT_ESTIMABLE, plain
from judgestats.results.text import (
    estimate_text,
    furthest,
    hangs_on,
    null_text,
    pairs_text,
    statistic_text,
    words_of_test,
)
from judgestats.sinks import escape_html

Interval: TypeAlias = records.Interval
Sample: TypeAlias = records.Sample


def adjusted_interval(interval: Interval | None, family_level: float) -> Interval | None:
    """An interval as one of a family whose intervals hold together at a level."""
    if interval is None or interval.level == family_level:
        return interval
    return dataclasses.replace(interval, family_level=family_level)


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
        p = f", p {numbers.format_p(self.p_value, smallest=self.p_smallest)}"
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

    @classmethod
    def where(cls, condition: object, code: str, message: str) -> tuple[Note, ...]:
        """The note, where a condition holds."""
        return (cls(code=code, message=message),) if condition else ()

    @classmethod
    def no_interval(cls, why: str) -> tuple[Note, ...]:
        """The note that there is no interval, and why."""
        return (cls(code="no_interval", message=f"No interval: {why}."),)


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
    estimate: float = math.nan
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
        bounds = numbers.bounds_of(self.interval)
        return with_bounds(self.estimate, *bounds, bounded=omits_zero(self.name))

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
            text += null_text(null, null.p_value, null.p_smallest, bounded=bounded)
        return text + f" ({self.sample})."

    def __str__(self) -> str:
        lines = ["", f"\t{self.label}", ""]
        lines.append(f"{self.name} = {format_number(self.estimate, digits=5)}")
        if self.reason:
            lines.append(f"undefined: {self.reason}")
        if self.interval:
            lines.append(
                f"{numbers.percent_of(self.interval)} percent confidence interval: {self.interval} "
                f"({self.interval.method})"
            )
        if self.null:
            lines.append(str(self.null))
        lines.append(f"data: {self.sample}")
        if self.estimator:
            lines.append(f"estimator: {self.estimator}")
        return "\n".join([*lines, *self._further_lines(), *notes_block(self.notes), ""])

    def _further_lines(self) -> list[str]:
        """Lines that a kind of estimate prints before its notes."""
        return []


@dataclasses.dataclass(frozen=True, kw_only=True)
class Estimates(Result):
    """A named set of `Estimate` objects, printed as one table.

    Attributes
    ----------
    name, label : str
        Machine name and title of the set.
    terms : tuple of Estimate
    sample : Sample
    notes : tuple of Note
        Warnings that concern all terms (each term has its own besides).
    details : mapping
        Further named numbers.

    Examples
    --------
    >>> one = Estimate(name="alpha", label="Alpha", estimate=0.8, sample=Sample(n_items=9))
    >>> both = Estimates(name="set", label="A set", terms=(one,), sample=one.sample)
    >>> both["alpha"].estimate
    0.8
    """

    name: str
    label: str
    terms: tuple[Estimate, ...]
    sample: Sample
    notes: tuple[Note, ...] = ()
    details: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def __getitem__(self, name: str) -> Estimate:
        for term in self.terms:
            if term.name == name:
                return term
        names = ", ".join(term.name for term in self.terms)
        raise InputError(f"{self.name}: no term is named {name!r}. Choose one of {names}.")

    def tidy(self) -> pd.DataFrame:
        """One row per estimate."""
        return pd.DataFrame([term.row() for term in self.terms])

    def apa(self, *, digits: int = 2) -> str:
        """Every estimate with its interval: see `Result.apa`."""
        return "; ".join(term.apa(digits=digits) for term in self.terms)

    def sentence(self) -> str:
        """All estimates in one sentence."""
        parts = [
            f"{t.label} {t.short()}"
            if not math.isnan(t.estimate)
            else f"{t.label} undefined ({t.reason})"
            for t in self.terms
        ]
        return f"{self.label}: {'; '.join(parts)} ({self.sample})."

    def all_notes(self) -> tuple[Note, ...]:
        """The set's notes and those of its terms, each once."""
        notes = [*self.notes, *(note for term in self.terms for note in term.notes)]
        return tuple(dict.fromkeys(notes))

    def __str__(self) -> str:
        width = max((len(t.label) for t in self.terms), default=0)
        lines = ["", f"\t{self.label}", ""]
        for t in self.terms:
            line = f"{t.label:<{width}}  {format_number(t.estimate):>9}"
            if t.interval:
                percent = numbers.percent_of(t.interval)
                line += f"  {t.interval!s:<20} {percent}% CI, {t.interval.method}"
            if t.reason:
                line += f"  undefined: {t.reason}"
            lines.append(line)
            if t.null:
                lines.append(f"{'':<{width}}  {t.null}")
        lines.append(f"data: {self.sample}")
        lines += notes_block(self.all_notes())
        return "\n".join([*lines, ""])


@dataclasses.dataclass(frozen=True, kw_only=True)
class TestResult(Result):
    """One hypothesis test, printed as R prints an ``htest``.

    Attributes
    ----------
    name : str
        Stable machine name, such as ``friedman_test``.
    method : str
        Title as R would print it.
    statistic, statistic_name : float, str
        The test statistic and its symbol.
    df : mapping of str to float
        Degrees of freedom by name (``{"df": 3}`` or ``{"num df": 3, "denom df": 57}``).
    p_value : float
        Exact to double precision where defined.
    null_hypothesis, alternative : str
        As text.
    why : str
        Why this test answers the question (used by `sentence`).
    effects : tuple of Estimate
        Effect sizes with intervals, the first is the main one.
    sample : Sample
    estimates : mapping of str to float
        Group means, mean ranks and the like, by level.
    notes, reason, details
        As in `Estimate`; ``p_floor`` of the details is the smallest p that the method can give.
    """

    __test__ = False  # pytest must not collect it

    name: str
    method: str
    statistic: float = math.nan
    statistic_name: str
    p_value: float = math.nan
    sample: Sample
    df: Mapping[str, float] = dataclasses.field(default_factory=dict)
    null_hypothesis: str = ""
    alternative: str = ""
    why: str = ""
    effects: tuple[Estimate, ...] = ()
    estimates: Mapping[str, float] = dataclasses.field(default_factory=dict)
    data_name: str = ""
    notes: tuple[Note, ...] = ()
    reason: str = ""
    details: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def effect(self) -> Estimate | None:
        """The main effect size."""
        return self.effects[0] if self.effects else None

    def replace(self, **changes: Any) -> TestResult:
        """A copy with some fields changed."""
        return dataclasses.replace(self, **changes)

    def statistic_text(self) -> str:
        """``F(3, 57) = 4.21``-style text."""
        inside = ", ".join(format_number(v) for v in self.df.values())
        name = f"{self.statistic_name}({inside})" if inside else self.statistic_name
        return f"{name} = {format_number(self.statistic)}"

    def glance(self) -> pd.DataFrame:
        """One row for the whole result."""
        df, df_residual, *_ = (*self.df.values(), math.nan, math.nan)
        low, high = numbers.bounds_of(self.effect.interval if self.effect else None)
        return pd.DataFrame(
            [
                {
                    "term": self.name,
                    "statistic": self.statistic,
                    "df": df,
                    "df_residual": df_residual,
                    "p_value": self.p_value,
                    "estimate": self.effect.estimate if self.effect else math.nan,
                    "conf_low": low,
                    "conf_high": high,
                    "effect": self.effect.name if self.effect else "",
                    "method": self.method,
                    "alternative": self.alternative,
                    "n": self.sample.n_items,
                    "n_clusters": self.sample.n_clusters,
                    "n_excluded": self.sample.n_excluded,
                    "reason": self.reason,
                }
            ]
        )

    def tidy(self) -> pd.DataFrame:
        """One row per term, broom's column names."""
        if not self.effects:
            return self.glance()
        frame = pd.DataFrame([e.row() for e in self.effects])
        frame["statistic"], frame["p_value"] = self.statistic, self.p_value
        frame["test"] = self.name
        return frame

    def apa(self, *, digits: int = 2) -> str:
        """``F(3, 57) = 4.21, p = .009, ηp² = .18, 95% CI [.02, .32]``: see `Result.apa`.

        A chi-squared statistic is given with the number of items, ``χ²(3, N = 20) = 9.10``, as the
        manual asks.

        Examples
        --------
        >>> t = TestResult(name="f", method="F", statistic=4.213, statistic_name="F",
        ...                p_value=0.0093, df={"a": 3, "b": 57}, sample=Sample(n_items=20))
        >>> t.apa()
        'F(3, 57) = 4.21, p = .009'
        """
        if math.isnan(self.p_value):
            return f"{self.method}: not computed ({self.reason})"
        text = f"{self._statistic(digits)}, {numbers.apa_p(self.p_value, smallest=self.p_floor)}"
        if self.effect is not None and not math.isnan(self.effect.estimate):
            text += f", {self.effect.apa(digits=digits)}"
        return text

    @property
    def p_floor(self) -> float:
        """The smallest p that the method can give on these data; NaN where none is known."""
        drawn = self.details.get("n_permutations")
        return float(self.details.get("p_floor", 1 / (drawn + 1) if drawn else math.nan))

    def _statistic(self, digits: int) -> str:
        """The statistic with its degrees of freedom."""
        return statistic_text(
            self.statistic_name, self.statistic, self.df, n_items=self.sample.n_items, digits=digits
        )

    def sentence(self, *, p_adjusted: float = math.nan) -> str:
        """The result as one sentence for a report.

        Parameters
        ----------
        p_adjusted : float
            The p-value adjusted in the declared family of the test, where it has one: the verdict
            goes by it.

        Examples
        --------
        >>> t = TestResult(name="f", method="F test", statistic=3.6, statistic_name="F",
        ...                p_value=0.04, sample=Sample(n_items=20), null_hypothesis="all are alike")
        >>> t.sentence(p_adjusted=0.12).partition("). ")[2]
        'Taken alone it speaks against the hypothesis that all are alike; adjusted for the other tests of its family it does not.'
        """  # noqa: E501
        if math.isnan(self.p_value):
            return f"{self.method}: not computed ({self.reason})."
        return str(
            words_of_test(
                method=self.method,
                numbers=self.apa(),
                sample=str(self.sample),
                p=self.p_value,
                p_adjusted=p_adjusted,
                null_hypothesis=self.null_hypothesis,
                why=self.why,
                has_effect=bool(self.effect),
            )
        )

    def __str__(self) -> str:
        lines = ["", f"\t{self.method}", ""]
        if self.data_name:
            lines.append(f"data:  {self.data_name}")
        parts = [f"{self.statistic_name} = {format_number(self.statistic, digits=5)}"]
        parts += [f"{k} = {format_number(v, digits=5)}" for k, v in self.df.items()]
        parts.append(f"p-value {numbers.printed_p(self.p_value, smallest=self.p_floor)}")
        lines.append(", ".join(parts))
        if self.reason:
            lines.append(f"not computed: {self.reason}")
        if self.alternative:
            lines.append(f"alternative hypothesis: {self.alternative}")
        for effect in self.effects:
            text = f"{effect.label}: {format_number(effect.estimate)}"
            if effect.interval:
                text += f", {numbers.percent_of(effect.interval)} percent CI {effect.interval}"
            lines.append(text)
        if self.estimates:
            lines.append("sample estimates:")
            width = max(len(str(k)) for k in self.estimates)
            lines += [
                f"  {k!s:<{width}}  {format_number(v, digits=5)}" for k, v in self.estimates.items()
            ]
        lines.append(f"({self.sample})")
        return "\n".join([*lines, *notes_block(self.notes), ""])


@dataclasses.dataclass(frozen=True, kw_only=True)
class Comparison:
    """One row of a family of comparisons: `a` against `b`."""

    a: str
    b: str
    estimate: float
    statistic: float = math.nan
    p_value: float = math.nan
    p_adjusted: float = math.nan
    """Filled in by `with_adjusted` where a whole family is adjusted."""
    estimate_name: str = "difference"
    df: float = math.nan
    interval: Interval | None = None
    effect: float = math.nan
    effect_name: str = ""
    p_bound: bool = False
    """Whether `p_adjusted` is an upper bound: see `p_bounds` of `stats.inference.multiplicity`."""
    held_to: str = ""
    """Id of the claim of all conditions below whose adjusted p that of this pair cannot lie."""
    n: int | None = None
    reason: str = ""
    notes: tuple[Note, ...] = ()
    details: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    limits: Callable[[float], Interval | None] | None = dataclasses.field(
        default=None, repr=False, compare=False, metadata={"plain": False}
    )
    """The interval at another level, where the method gives one."""

    @property
    def interval_note(self) -> str:
        """What replaces an interval that is not estimable, with a space before it."""
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
            100 for a share that is reported in hundredths.

        Examples
        --------
        >>> row = Comparison(a="x", b="y", estimate=0.0312, statistic=2.1, p_value=0.04,
        ...                  p_adjusted=0.04, interval=Interval(low=0.002, high=0.071))
        >>> row.with_bounds(), row.with_bounds(times=100, digits=0)
        ('0.031 [0.002, 0.071]', '3.1 [0.2, 7.1]')
        """
        values = (times * v for v in (self.estimate, *numbers.bounds_of(self.interval)))
        text = with_bounds(*values, digits=digits, bounded=bounded)
        if self.interval or not self.reason:
            return f"{text}{self.interval_note}"
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
        bounded = omits_zero(row.estimate_name)
        shown = numbers.apa_estimate(row.estimate, row.interval, digits=digits, bounded=bounded)
        parts = [f"{name}: {name_of(row.estimate_name)} = {shown}{row.interval_note}"]
        if not math.isnan(row.p_adjusted):
            parts.append(f"adjusted p {numbers.adjusted_p(row)}")
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
        """Estimate, interval, on what it depends, and adjusted p of one pair, for a sentence."""
        bounded = omits_zero(row.estimate_name)
        shown = numbers.apa_estimate(row.estimate, row.interval, bounded=bounded)
        text = f"{name_of(row.estimate_name)} {shown}"
        p = numbers.adjusted_p(row)
        return f"{text}{row.interval_note}{hangs_on(row.details)}, adjusted p {p}"

    def __str__(self) -> str:
        columns = ["contrast", "estimate", "statistic", "p_value", "p_adjusted"]
        if any(r.interval for r in self.rows):
            columns[2:2] = ["conf_low", "conf_high"]
        frame = self.tidy()[columns]
        table = frame.to_string(index=False, float_format=format_number)
        lines = ["", f"\t{self.method}", "", f"family: {self.family}; adjustment: {self.adjust}"]
        notes = [*self.notes, *(note for row in self.rows for note in row.notes)]
        return "\n".join([*lines, table, f"({self.sample})", *notes_block(notes), ""])
