"""Claims of published studies and their tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeVar, Unpack

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from judgestats.analysis.families import AnalysisPlan, Hypothesis
from judgestats.analysis.records import Analysis, NamedResult, results_by_subject
from judgestats.errors import InputError
from judgestats.items.tables import Row, read_source
from judgestats.results import About, Drawing, Headline, apa_number, apa_p, bounds_of, with_bounds
from judgestats.results import Claim as ClaimKind
from judgestats.results.change_screen import claim_outcome
from judgestats.results.records import Role
from judgestats.stats.agreement.position import agreement_across_judges
from judgestats.stats.dispersion.condition_summary import mean_shift
from judgestats.stats.inference.keywords import SumInference
from judgestats.stats.inference.multiplicity import Family
from judgestats.stats.inference.result import Comparison, Comparisons, Estimate, Result

T = TypeVar("T")
VERDICTS = ("stands", "stands in part", "open", "does not stand", "not examined")
"""``open``: the data show neither the claim nor its contrary."""


def joint_verdict(stands: Sequence[bool], *, otherwise: str = "open") -> str:
    """The verdict on a claim made for several judges or conditions at once.

    Examples
    --------
    >>> joint_verdict([True, False]), joint_verdict([False], otherwise="does not stand")
    ('stands in part', 'does not stand')
    """
    if all(stands):
        return "stands"
    return "stands in part" if any(stands) else otherwise


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What the data say of a claim: the part of `Claim` that its evaluator computes.

    Attributes
    ----------
    verdict, because, reproduced : str
    results : iterable of NamedResult
        By `then` and `now`; the claim puts its id before theirs.
    test_now : str
        Overrides the declared one, where it names a number of the options.
    """

    verdict: str
    because: str
    reproduced: str = ""
    results: Iterable[NamedResult] = ()
    test_now: str = ""


Evaluator = Callable[[Any, "Options"], "Finding | str"]
"""Of the study's data and the options; a text says which data are missing."""


@dataclass(frozen=True)
class Claim:
    """One claim, declared by its study as a row, and re-examined by its evaluator.

    Attributes
    ----------
    id : str
        Prefix of the ids of its results.
    claim : str
        What the study says, in our words.
    published : str
        The number or statement it printed.
    test_then : str
        The test it used.
    reproduced : str
        What that test gives here, on the same data.
    test_now : str
        The test that the question calls for.
    verdict : str
        One of `VERDICTS`.
    because : str
        Why, with the numbers that decide.
    results : tuple of NamedResult
        ``<id>.then...`` with the role ``replicated``, ``<id>.now...`` with the others.
    evaluate : callable or None
        ``evaluate(data, options)``, a `Finding`, or which data are missing.
    """

    id: str
    claim: str
    _: KW_ONLY
    published: str
    test_then: str
    test_now: str
    verdict: str = "not examined"
    because: str = ""
    reproduced: str = ""
    results: tuple[NamedResult, ...] = ()
    evaluate: Evaluator | None = None

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise InputError(f"Claim: verdict must be one of {VERDICTS}, got {self.verdict!r}.")

    def examined(self, data: Any, options: Options) -> Claim:
        """The claim with what the data say of it."""
        found = self.evaluate(data, options) if self.evaluate else "no test is declared"
        if isinstance(found, str):
            return self.not_examined(found)
        results = tuple(replace(r, id=f"{self.id}.{r.id}") for r in found.results)
        test_now = found.test_now or self.test_now
        return replace(self, **(vars(found) | {"results": results, "test_now": test_now}))

    def not_examined(self, missing: str) -> Claim:
        """The claim where the folder holds no data."""
        return replace(self, verdict="not examined", because=f"No data: {missing}.")

    @property
    def is_examined(self) -> bool:
        """Whether there were data."""
        return self.verdict != "not examined"

    def row(self) -> dict[str, Any]:
        """Its row of the table of claims."""
        told = [f.name for f in fields(self) if f.name not in {"results", "evaluate"}]
        return {name: getattr(self, name) for name in told}


Found = Result | Mapping[str, Result]


def then(title: str, found: Found, at: str = "") -> list[NamedResult]:
    """Results of the study's own test, ``then.AT``; of a mapping ``title, NAME`` each."""
    return _titled("replicated", "then", title, found, at)


def now(title: str, found: Found, at: str = "", *, primary: bool = False) -> list[NamedResult]:
    """Results of a test that the question calls for, ``now.AT``, as of `then`."""
    return _titled("primary" if primary else "secondary", "now", title, found, at)


def _titled(role: Role, whose: str, title: str, found: Found, at: str) -> list[NamedResult]:
    identity = f"{whose}.{at}" if at else whose
    if isinstance(found, Mapping):
        return results_by_subject(identity, title, role, found)
    return [NamedResult(identity, title, role, found)]


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a study is re-examined; intervals are of 95%, tests are read at .05."""

    n_resamples: int = 999
    seed: int = 0


@dataclass(frozen=True, kw_only=True)
class Study:
    """A published study that can be re-examined: its data, its claims, one row each.

    Attributes
    ----------
    name : str
        As in ``-P study=``.
    title, source : str
    layout : str
        What a folder of its data holds.
    heading, question : str
        Of the re-examination.
    read : callable
        ``read(folder, options)``: the data that the claims are about.
    claims : tuple of Claim
        As declared, with their evaluators.
    conditions : callable
        ``conditions(data, options)``: one row per condition of the study.
    drawing : Drawing or callable
        The figure that answers; of the data, where its caption names them.
    data_source : str or callable
        Which data were read.
    limitations : callable
        ``limitations(data)``, including what was left out, and why.
    margins : mapping
        Equivalence margins.
    from_print : bool
        Whether only the printed tables are examined: no judgments are public.
    """

    name: str
    title: str
    source: str
    layout: str
    heading: str
    question: str
    read: Callable[[Path, Options], Any]
    claims: tuple[Claim, ...]
    conditions: Callable[[Any, Options], pd.DataFrame]
    drawing: Drawing | Callable[[Any], Drawing]
    data_source: str | Callable[[Any], str]
    limitations: Callable[[Any], Iterable[str]]
    margins: Mapping[str, float] = field(default_factory=dict)
    from_print: bool = False

    def examine(self, folder: Path, options: Options) -> Replication:
        """Every claim of the study, on the data of a folder.

        Parameters
        ----------
        folder : Path
            As `layout` describes it.
        options : Options

        Returns
        -------
        Replication

        Raises
        ------
        InputError
            If the folder does not hold the data, or a file is damaged.
        """
        data = self.read(folder, options)
        source, drawing = self.data_source, self.drawing
        return Replication(
            study=self.name,
            title=self.heading,
            question=self.question,
            claims=tuple(claim.examined(data, options) for claim in self.claims),
            conditions=self.conditions(data, options),
            data_source=source if isinstance(source, str) else source(data),
            limitations=tuple(self.limitations(data)),
            margins=self.margins,
            drawing=drawing(data) if callable(drawing) else drawing,
        )


@dataclass(frozen=True, kw_only=True)
class Replication:
    """All claims of a study.

    Attributes
    ----------
    study, title, question : str
    claims : tuple of Claim
    conditions : DataFrame
        What was measured: one row per condition of the study.
    limitations : tuple of str
        Including what was left out, and why.
    data_source : str
        Which data were read.
    margins : mapping
        Equivalence margins.
    drawing : Drawing or None
        The figure that answers.
    """

    study: str
    title: str
    question: str
    claims: tuple[Claim, ...]
    conditions: pd.DataFrame
    data_source: str
    limitations: tuple[str, ...] = ()
    margins: Mapping[str, float] = field(default_factory=dict)
    drawing: Drawing | None = None

    def counts(self) -> dict[str, int]:
        """Number of claims by verdict, in the order of `VERDICTS`."""
        return {v: sum(c.verdict == v for c in self.claims) for v in VERDICTS}

    def sentence(self) -> str:
        """Numbers of claims by outcome, in one sentence."""
        sentences = [f"{n} {claim_outcome(v, n)}" for v, n in self.counts().items() if n]
        return f"Of {len(self.claims)} claims: {', '.join(sentences)}."

    def table(self) -> pd.DataFrame:
        """One row per claim."""
        return pd.DataFrame([c.row() for c in self.claims])

    def plan(self, options: Options) -> AnalysisPlan:
        """The claims as hypotheses, for plan.json."""
        return AnalysisPlan(
            experiment=f"replicate {self.study}",
            question=self.question,
            hypotheses=tuple(
                Hypothesis(id=c.id, role="primary", question=c.claim, test=c.test_now)
                for c in self.claims
                if c.is_examined
            ),
            blocks="As each claim's row states. The study's own tests are listed with it.",
            missing="Arrays of unequal length are not aligned by index. Omissions are reported.",
            level=0.95,
            n_resamples=options.n_resamples,
            seed=options.seed,
            margins=self.margins,
        )

    def analysis(self) -> Analysis:
        """The replication in the form of every other analysis."""
        missing = self.counts()["not examined"]
        needs = (
            f"{missing} of {len(self.claims)} claims could not be examined, because these data "
            "lack what they need (each claim names it). Give a folder that has it by the "
            "parameter data."
        )
        return Analysis(
            experiment=f"replicate {self.study}",
            question=self.question,
            drawing=self.drawing,
            finding=self.sentence(),
            conditions=self.conditions,
            headlines=tuple(map(_headline, self.claims)),
            results=tuple(r for c in self.claims for r in c.results),
            limitations=(*self.limitations, needs) if missing else self.limitations,
            metrics={f"claims/{v.replace(' ', '_')}": float(n) for v, n in self.counts().items()},
        )


def _headline(claim: Claim) -> Headline:
    """The outcome of a claim on printed data, which claims nothing about other judges."""
    kinds: Mapping[str, ClaimKind] = {"not examined": "undefined", "open": "open"}
    return Headline(
        id=f"headline.{claim.id}",
        hypothesis=claim.id,
        claim=kinds.get(claim.verdict, "described"),
        about=About(varied=claim.claim),
        rests_on=tuple(r.id for r in claim.results if not isinstance(r.result, Family)),
        reason=f"{claim_outcome(claim.verdict)}: {claim.because}",
        says=f"{claim_outcome(claim.verdict)}: {claim.claim}",
    )


def file_of(folder: Path, *names: str, study: str) -> Path:
    """The first file of a folder that has one of the names, packed or not.

    Raises
    ------
    InputError
        If there is none.
    """
    if not folder.is_dir():
        raise InputError(f"replicate: there is no folder {str(folder)!r} for {study}.")
    for name in names:
        files = sorted(folder.glob(f"{name}*"))
        if files:
            return files[0]
    raise InputError(f"replicate: {str(folder)!r} holds no {' or '.join(names)} of {study}.")


def records_of(path: Path, needed: Sequence[str]) -> tuple[Row, ...]:
    """The rows of a file, each with the fields that are needed.

    Raises
    ------
    InputError
        If the file is damaged or a row lacks one.
    """
    rows = read_source(path).rows
    for row in rows:
        missing = [name for name in needed if name not in row.values]
        if missing:
            raise InputError(f"replicate: {row.where} lacks {', '.join(missing)}.")
    return rows


def table_of(path: Path, columns: Sequence[str], *, numbers: Sequence[str] = ()) -> pd.DataFrame:
    """A file as a frame of text, with the columns that are needed; nothing is empty text.

    Parameters
    ----------
    path : Path
    columns : sequence of str
    numbers : sequence of str
        Columns of numbers; NaN where a cell is not a number.

    Raises
    ------
    InputError
        As `records_of`.
    """
    rows = records_of(path, columns)
    frame = pd.DataFrame(
        [{c: _text(row.values[c]) for c in columns} for row in rows], columns=list(columns)
    )
    return frame.assign(**{c: pd.to_numeric(frame[c], errors="coerce") for c in numbers})


def _text(value: Any) -> str:
    return "" if value is None or pd.isna(value) else str(value).strip()


def bounded(value: float, *, digits: int = 3) -> str:
    """A share or coefficient.

    Examples
    --------
    >>> bounded(0.8136)
    '.814'
    """
    return apa_number(value, digits=digits, bounded=True)


def five_numbers(counts: ArrayLike) -> list[float]:
    """Least, quartiles, most: numbers of the data, as the paper prints them.

    Examples
    --------
    >>> five_numbers([0, 0, 1, 1, 2])
    [0.0, 0.0, 1.0, 1.0, 2.0]
    """
    return [float(v) for v in np.quantile(np.asarray(counts, dtype=float), np.linspace(0, 1, 5))]


def judges_agreement(
    tables: Sequence[pd.DataFrame], **inference: Unpack[SumInference]
) -> tuple[Estimate, dict[str, list[float]]]:
    """Agreement of judges on the questions and replications that all have, and five numbers of it.

    Parameters
    ----------
    tables : sequence of DataFrame
        Verdicts of a judge each, questions x replications.

    Returns
    -------
    agreement : Estimate
    five : dict of str to list
        Over replications and over questions, by their number.
    """
    shared = sorted(set.intersection(*(set(table.index) for table in tables)))
    width = min(table.shape[1] for table in tables)
    common = np.stack([table.loc[shared].to_numpy(object)[:, :width] for table in tables])
    result = agreement_across_judges(common, **inference)
    over = {
        f"{width} replications": result.details["five_numbers"],
        f"{len(shared)} questions": result.details["five_numbers_items"],
    }
    return result, {what: list(five.values()) for what, five in over.items()}


def format_percent(value: float) -> str:
    """A share in percent, as studies print accuracies.

    Examples
    --------
    >>> format_percent(0.7172)
    '71.7%'
    """
    return f"{100 * value:.1f}%"


def hundredths(estimate: Estimate) -> str:
    """An estimated share in percent with its interval."""
    low, high = low_high(estimate)
    share = with_bounds(100 * estimate.estimate, 100 * low, 100 * high, digits=1)
    number, space, interval = share.partition(" ")
    return f"{number}%{space}{interval}"


def signed(row: Comparison, *, digits: int, times: float = 1, unit: str = "") -> str:
    """A difference with its sign, interval, and p, adjusted where the family adjusts it."""
    p = row.p_value if np.isnan(row.p_adjusted) else row.p_adjusted
    difference = row.with_bounds(digits=digits, times=times)
    return f"{'+' if row.estimate > 0 else ''}{difference}{unit}, {apa_p(p)}"


def shifted(row: Comparison) -> str:
    """A difference of shares in points of a hundred, with its interval and p."""
    return signed(row, digits=1, times=100, unit=" points")


def listed(values: Mapping[str, T], show: Callable[[T], str] = str, between: str = "; ") -> str:
    """Names with their values.

    Examples
    --------
    >>> listed({"a": 0.5, "b": 1.0}, bounded, ", ")
    'a .500, b 1.000'
    """
    return between.join(f"{name} {show(value)}" for name, value in values.items())


def levels_of(shift: Comparisons) -> dict[str, Comparison]:
    """The differences from one reference, by the level that is compared with it."""
    return {str(row.a): row for row in shift.rows}


def low_high(of: Estimate | Comparison) -> tuple[float, float]:
    """The limits of an interval; NaN where there is none."""
    return bounds_of(of.interval)


def interval_cells(name: str, estimate: Estimate) -> dict[str, float]:
    """An estimate and its limits as cells of a row of conditions."""
    low, high = low_high(estimate)
    return {name: estimate.estimate, f"{name}_low": low, f"{name}_high": high}


def paired_shift(
    columns: Mapping[str, Any], *, reference: str | None = None, cluster: Any = None
) -> Comparisons:
    """Mean differences between named columns, on the rows that all of them have.

    Parameters
    ----------
    columns : mapping of str to sequence
        Series are joined by their index, arrays by place.
    reference : str, optional
        By default every pair, the later minus the earlier.
    cluster : sequence, optional

    Returns
    -------
    Comparisons
    """
    wide = pd.DataFrame(columns).dropna()
    values, named = wide.to_numpy(float), list(wide.columns)
    return mean_shift(values, conditions=named, reference=reference, cluster=cluster)
