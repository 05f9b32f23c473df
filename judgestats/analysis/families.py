"""Design and plan of an analysis, families of claims, and strata."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, TypeVar

import numpy as np
import pandas as pd

from judgestats.analysis.records import NamedResult
from judgestats.arrays import Objects
from judgestats.data.codes import first_rows, places_of, tallied
from judgestats.data.columns import INTERLEAVED, heat, sort_levels
from judgestats.data.parse import ScoreArray, final_rows
from judgestats.errors import InputError
from judgestats.results import About, Claim, Headline
from judgestats.results.numbers import count_noun, is_number
from judgestats.results.records import Role
from judgestats.stats import adjust_family, p_adjust
from judgestats.stats.inference.multiplicity import Family, p_bounds, with_adjusted
from judgestats.stats.inference.result import (
    Comparison,
    Comparisons,
    Estimate,
    Interval,
    Note,
    Result,
    TestResult,
    adjusted_interval,
)
from judgestats.stats.inference.runs import COVERAGE, FEW

Facet = Literal["absent", "fixed", "random", "unidentified"]
REQUEST_ORDER = "request_order"
"""Column of judgments whose requests were sent in an order that is known."""
THESE_RUNS = "these runs"


@dataclass(frozen=True, kw_only=True)
class Design:
    """Sources of variation behind every interval of an analysis.

    Attributes
    ----------
    item, cluster, judge, run, criterion, order : {"absent", "fixed", "random", "unidentified"}
    target : {"new items", "these runs"}
        What intervals hold for: items like these, in any runs or in these runs only.
    request_order : str
        ``interleaved`` where repeats cannot share a shift of their run; empty where not known.
    n_items, n_clusters, n_judges, n_criteria, n_orders : int
    n_conditions : int
        Judges in their settings, at least as many as judges.
    n_copies : int
        Items that repeat another one, counted in its cluster.
    runs : tuple of int
        Smallest and largest number of runs of a judge.

    Examples
    --------
    >>> Design.from_counts(n_items=40, n_clusters=12, runs=[5, 5, 5]).line
    'Design: 40 items in 12 questions (random), 3 judges (fixed), 5 runs per judge (random)'
    >>> Design.from_counts(n_items=40, n_clusters=40, runs=[2, 2]).target
    'these runs'
    """

    item: Facet = "random"
    cluster: Facet
    judge: Facet
    run: Facet
    criterion: Facet
    order: Facet
    target: str
    request_order: str = ""
    n_items: int
    n_clusters: int
    n_judges: int
    n_criteria: int = 1
    n_orders: int = 1
    n_conditions: int
    n_copies: int = 0
    runs: tuple[int, int]

    @classmethod
    def from_counts(
        cls,
        *,
        n_items: int,
        n_clusters: int,
        runs: Iterable[int],
        n_criteria: int = 1,
        n_orders: int = 1,
        n_judges: int | None = None,
        request_order: str = "",
    ) -> Design:
        """The design from counts.

        Parameters
        ----------
        n_items, n_clusters : int
            As many clusters as items where no cluster holds two.
        runs : iterable of int
            Runs of each condition.
        n_criteria, n_orders : int
        n_judges : int, optional
            By default each condition is another judge.
        request_order : str

        Returns
        -------
        Design
        """
        counts = list(runs) or [1]
        run: Facet = "absent"
        if max(counts) > 0 and request_order != INTERLEAVED:
            # Decided on two judges: no third one, or a copy, turns it.
            enough = sum(n - 1 for n in sorted(counts)[:2]) >= FEW and min(counts) > 1
            run = "random" if enough else "unidentified"
        return cls(
            cluster="random" if n_clusters < n_items else "absent",
            judge="fixed",
            run=run,
            criterion="fixed" if n_criteria > 1 else "absent",
            order="fixed" if n_orders > 1 else "absent",
            target=THESE_RUNS if run == "unidentified" else "new items",
            request_order=request_order,
            n_items=n_items,
            n_clusters=n_clusters,
            n_judges=n_judges or len(counts),
            n_conditions=len(counts),
            n_criteria=n_criteria,
            n_orders=n_orders,
            runs=(min(counts), max(counts)),
        )

    @classmethod
    def from_frame(cls, frame: pd.DataFrame) -> Design:
        """The design of a judgments frame, its clusters and copies already joined.

        Parameters
        ----------
        frame : DataFrame
            A parsed judgments frame.

        Returns
        -------
        Design

        Examples
        --------
        >>> frame = pd.DataFrame({"condition": "a", "item_id": ["x", "x", "y", "y"],
        ...     "cluster": ["x", "x", "y", "y"], "replicate": [0, 1, 0, 1], "order": ""})
        >>> Design.from_frame(frame).runs
        (2, 2)
        """
        frame = final_rows(frame)
        orders = frame["order"].replace("", pd.NA) if "order" in frame else pd.Series(dtype=object)
        return cls.from_counts(
            n_items=frame["item_id"].nunique(),
            n_clusters=frame["cluster"].nunique(),
            runs=_run_counts(frame),
            n_criteria=frame["criterion"].nunique() if "criterion" in frame else 1,
            n_orders=max(1, orders.nunique()),
            n_judges=frame["judge"].nunique() if "judge" in frame else None,
            request_order=request_order(frame),
        )

    @property
    def interleaved(self) -> bool:
        """Whether repeats cannot share a shift of their run."""
        return self.request_order == INTERLEAVED

    @property
    def line(self) -> str:
        """The design in one line."""
        items = count_noun(self.n_items, "item", "items")
        if self.cluster == "random":
            items += f" in {count_noun(self.n_clusters, 'question', 'questions')}"
        copies = f", {count_noun(self.n_copies, 'copy', 'copies')} joined" if self.n_copies else ""
        parts = [f"{items} ({self.item}{copies})"]
        for facet, n, one, many in (
            (self.judge, self.n_judges, "judge", "judges"),
            (self.criterion, self.n_criteria, "criterion", "criteria"),
            (self.order, self.n_orders, "order", "orders"),
        ):
            if facet != "absent":
                parts.append(f"{count_noun(n, one, many)} ({facet})")
        if self.n_conditions > self.n_judges:
            parts.insert(2, count_noun(self.n_conditions, "condition", "conditions"))
        return f"Design: {', '.join([*parts, self._runs()])}"

    def _runs(self) -> str:
        least, most = self.runs
        span = f"{least}" if least == most else f"{least}–{most}"
        per = "condition" if self.n_conditions > self.n_judges else "judge"
        if most == 0:
            return f"repeats of a {per} in no runs"
        if self.interleaved and most > 1:
            return f"{span} repeats per {per} (interleaved)"
        known = "not identified" if self.run == "unidentified" else self.run
        return f"{span} {'run' if most == 1 else 'runs'} per {per} ({known})"


def request_order(frame: pd.DataFrame) -> str:
    """The order of the requests, as far as the judgments say it.

    Parameters
    ----------
    frame : DataFrame

    Returns
    -------
    str
        ``interleaved`` or empty: recorded by a run, or all repeats choices of one call.

    Examples
    --------
    >>> request_order(pd.DataFrame({"choices_in_request": [5, 5], "replicate": [0, 4]}))
    'interleaved'
    >>> request_order(pd.DataFrame({"choices_in_request": [1, 1], "replicate": [0, 1]}))
    ''
    """
    if REQUEST_ORDER in frame and frame[REQUEST_ORDER].eq(INTERLEAVED).all():
        return INTERLEAVED
    if not {"choices_in_request", "replicate"} <= set(frame.columns) or not len(frame):
        return ""
    most = int(frame["replicate"].max()) + 1
    return INTERLEAVED if most > 1 and int(frame["choices_in_request"].min()) >= most else ""


def recorded_order(frame: pd.DataFrame) -> str:
    """The order in which a run asked all requests of its plan, shuffled over items and repeats.

    Parameters
    ----------
    frame : DataFrame
        With ``cached``: whether a reply comes from an earlier collection.

    Returns
    -------
    str
        ``interleaved``; empty where some repeats of a judge come from an earlier collection and
        others do not, which may have shifted between the two.

    Examples
    --------
    >>> frame = pd.DataFrame({"condition": "a", "replicate": [0, 0, 1, 1], "cached": False})
    >>> recorded_order(frame), recorded_order(frame.assign(cached=[True, True, False, False]))
    ('interleaved', '')
    """
    earlier = frame.groupby(["condition", "replicate"], sort=False)["cached"].mean()
    spans = earlier.groupby("condition").agg(["min", "max"])
    return INTERLEAVED if (spans["max"] - spans["min"] <= 0.5).all() else ""


def _run_counts(frame: pd.DataFrame) -> list[int]:
    """Of each condition the repeat indices that are runs, as `run_columns` finds them."""
    place, shape, _ = places_of(frame["condition"], frame["item_id"], frame["replicate"])
    n_conditions, n_items, n_runs = shape
    cell, run = np.divmod(tallied(place, math.prod(shape))[0], n_runs)
    items = np.bincount(cell[np.diff(cell, prepend=-1) > 0] // n_items)
    seen, covered = tallied(cell // n_items * n_runs + run, n_conditions * n_runs)
    condition = seen // n_runs
    is_run = covered >= COVERAGE * items[condition] - 1e-9
    several = np.bincount(condition) > 1
    runs = np.bincount(condition, weights=is_run)
    return [int(n) for n in np.where((runs == 1) & several, 0, runs)]


@dataclass(frozen=True)
class Hypothesis:
    """One declared question to the data.

    Attributes
    ----------
    id : str
        Prefix of the ids of the results that answer it.
    question : str
    test : str
        The test or estimator, as text.
    family : str
        Tests of one family are adjusted together; empty if nothing is tested.
    role : {"primary", "secondary", "descriptive", "replicated"}
    adjustment : str
        Such as ``holm`` or ``none``; empty: ``holm`` where there is a family.
    """

    id: str
    question: str
    test: str
    family: str = ""
    role: Role = "secondary"
    adjustment: str = ""

    def __post_init__(self) -> None:
        if not self.adjustment:
            tested = self.family and not self.family.startswith("none")
            object.__setattr__(self, "adjustment", "holm" if tested else "none")


def published(
    test: str, question: str = "What would the replicated study have printed?"
) -> Hypothesis:
    """What the replicated study tested, or printed."""
    return Hypothesis("published", question, test, role="replicated")


@dataclass(frozen=True, kw_only=True)
class AnalysisPlan:
    """What an experiment declares before it asks a judge anything.

    Attributes
    ----------
    experiment, question : str
        The question of an experiment is that of its design.
    hypotheses : tuple of Hypothesis
    blocks : str
        What is compared with what.
    missing : str
        The handling of judgments that could not be read.
    level : float
        Of intervals; tests are read at ``1 - level``.
    n_resamples, seed : int
        Of bootstraps and permutations.
    margins : mapping of str to float
        Equivalence margins, declared before the data.
    options : mapping of str to str
        Further rules declared before the data (the handling of orders that disagree).
    design : Design or None
        Facets of the judgments; None before there are any.
    """

    experiment: str
    hypotheses: tuple[Hypothesis, ...]
    blocks: str
    missing: str
    question: str = ""
    level: float = 0.95
    n_resamples: int = 999
    seed: int = 0
    margins: Mapping[str, float] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    design: Design | None = None

    @property
    def n_criteria(self) -> int:
        """Criteria whose claims are adjusted together."""
        return int(self.options.get("criteria", 1))

    @property
    def resampling(self) -> dict[str, Any]:
        """Level, permutations, and seed, as tests and estimates with a null take them."""
        return {"level": self.level, "n_permutations": self.n_resamples, "seed": self.seed}

    def drop_hypotheses(self, *hypotheses: str) -> AnalysisPlan:
        """The plan without the hypotheses of these ids, which the conditions cannot answer."""
        kept = tuple(h for h in self.hypotheses if h.id not in hypotheses)
        return replace(self, hypotheses=kept)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for plan.json."""
        return asdict(self)


def planned(
    experiment: str, parameters: Mapping[str, Any], *hypotheses: Hypothesis, **fields: Any
) -> AnalysisPlan:
    """The plan of an experiment, as it is written to the run before the first call.

    Parameters
    ----------
    experiment : str
    parameters : mapping
        The experiment's parameters, read.
    *hypotheses : Hypothesis
    **fields
        Others of the plan.
    """
    return AnalysisPlan(
        experiment=experiment, hypotheses=hypotheses, n_resamples=int(parameters["resamples"]),
        seed=int(parameters["seed"]), **fields,
    )  # fmt: skip


def with_omega_model(declared: AnalysisPlan, model: str) -> AnalysisPlan:
    """The plan with the model whose omega is reported in addition to the parallel one."""
    return replace(declared, options={**declared.options, "omega_model": model})


def clusters_of(frame: pd.DataFrame, items: Iterable[Any]) -> Objects:
    """The question of each of these items."""
    first = frame[["item_id", "cluster"]].iloc[first_rows(frame["item_id"])].set_index("item_id")
    return first["cluster"].loc[list(items)].to_numpy(object)


def shared_clusters(clusters: Objects) -> Objects | None:
    """The clusters, or None where each item is its own.

    Examples
    --------
    >>> shared_clusters(np.array(["q1", "q2"], dtype=object)) is None
    True
    """
    return clusters if len(set(clusters)) < len(clusters) else None


LEVEL = 0.05
"""Of every claim."""

SomeComparisons = TypeVar("SomeComparisons", bound=Comparisons)


def one_family(parts: Mapping[str, SomeComparisons], *, family: str) -> SomeComparisons:
    """The rows of several comparisons as one family, adjusted together (Holm).

    Parameters
    ----------
    parts : mapping of label to Comparisons
        Made by the same function; the label (a judge and what else it was asked under) goes behind
        the first name of each row.
    family : str
        The hypothesis that all rows answer.

    Returns
    -------
    Comparisons
        Of the class of the parts. The sample is that of the part with the most items; every row
        has its own number.

    Raises
    ------
    InputError
        If there is no part.

    Examples
    --------
    >>> from judgestats.stats.dispersion.condition_summary import mean_shift
    >>> one = mean_shift([[1.0, 2.0], [2.0, 3.5], [4.0, 4.6]], conditions=["plain", "padded"])
    >>> two = mean_shift([[1.0, 1.1], [2.0, 1.8], [4.0, 4.3]], conditions=["plain", "padded"])
    >>> both = one_family({"judge 1": one, "judge 2": two}, family="padding")
    >>> [(r.a, round(r.p_value, 3), round(r.p_adjusted, 3)) for r in both.rows]
    [('padded (judge 1)', 0.058, 0.116), ('padded (judge 2)', 0.691, 0.691)]
    """
    if not parts:
        raise InputError("one_family: parts must hold at least one comparison, got none.")
    rows = [
        replace(row, a=f"{row.a} ({label})", n=row.n or part.sample.n_items)
        for label, part in parts.items()
        for row in part.rows
    ]
    notes = (
        Note(code=note.code, message=f"{label}: {note.message}")
        for label, part in parts.items()
        for note in part.notes
    )
    return replace(
        next(iter(parts.values())),
        rows=with_adjusted(rows, "holm"),
        adjust="holm",
        family=family,
        sample=max((p.sample for p in parts.values()), key=lambda s: s.n_items),
        notes=tuple(notes),
    )


def restrict_pairs(
    pairs: SomeComparisons, p: float, *, claim: str, bound: bool = False
) -> SomeComparisons:
    """The pairs, none significant where the claim on all of them is not.

    Pairs that are adjusted only among one another may reject where the test of all conditions,
    adjusted for the other claims, does not. No pair's p is below that of the claim, and every
    interval includes the values that this p does not reject.

    Parameters
    ----------
    pairs : Comparisons
    p : float
        Of the claim, adjusted; NaN holds nothing.
    claim : str
        Id of the claim: of the test or the headline, which bears this p.
    bound : bool
        Whether it is a bound, as a p of permutations may be.

    Examples
    --------
    >>> from judgestats.stats.dispersion.condition_summary import mean_shift
    >>> pairs = mean_shift([[1.0, 2.0], [2.0, 2.9], [4.0, 5.2]], conditions=["a", "b"])
    >>> held = restrict_pairs(pairs, 0.2, claim="shift.all")
    >>> [(round(r.p_adjusted, 3), r.held_to) for each in (pairs, held) for r in each.rows]
    [(0.007, ''), (0.2, 'shift.all')]
    """
    if math.isnan(p):
        return pairs
    rows = [replace(r, held_to=claim) for r in pairs.rows]
    held = [
        replace(r, p_adjusted=p, p_bound=bound, interval=_agreeing(r, p)) if r.p_adjusted < p else r
        for r in rows
    ]
    return replace(pairs, rows=tuple(held))


def restrict_results(
    results: Iterable[NamedResult], claims: Mapping[str, Headline | None]
) -> list[NamedResult]:
    """The results, with no pair significant where the claim on its set, by its id, is not."""
    out = []
    for named in results:
        claim, result = claims.get(named.id), named.result
        if claim is not None and isinstance(result, Comparisons):
            result = restrict_pairs(result, claim.p_adjusted, claim=claim.id, bound=claim.p_bound)
        out.append(replace(named, result=result))
    return out


def _agreeing(row: Comparison, p: float) -> Interval | None:
    """The interval of a pair whose adjusted p is raised: wider where it is no longer rejected."""
    if p <= LEVEL or row.limits is None or row.interval is None or not 0 < row.p_value < p:
        return row.interval
    held, level = row.interval, 1 - LEVEL * row.p_value / p
    if level <= held.level:
        return held
    return adjusted_interval(row.limits(level), held.family_level or held.level)


def claim_of(p: float, p_alike: float) -> Claim:
    """What adjusted p of a difference and of equivalence allow to say.

    Examples
    --------
    >>> claim_of(0.01, 0.5), claim_of(0.4, 0.01), claim_of(0.4, 0.4)
    ('differs', 'equivalent', 'open')
    >>> claim_of(math.nan, math.nan)
    'undefined'
    """
    if p <= LEVEL:
        return "differs"
    if p_alike <= LEVEL:
        return "equivalent"
    return "undefined" if math.isnan(p) else "open"


def claim_headline(
    identity: str,
    about: About,
    says: Mapping[Any, str] | None = None,
    *,
    p: float,
    p_alike: float = math.nan,
    p_bound: bool = False,
    **fields: Any,
) -> Headline:
    """What adjusted p of a difference and of equivalence allow to claim, as a headline.

    Parameters
    ----------
    identity : str
        Of the headline, behind ``headline.``.
    about : About
    says : mapping of claim to str, optional
        Where `judgestats.results.contrasts` does not word the hypothesis.
    p, p_alike : float
        Adjusted, of a difference and of equivalence; that of the claim is in the headline.
    p_bound : bool
        Whether `p` is a bound.
    **fields
        Others of the headline; its hypothesis is what the identity begins with by default.
    """
    claim = claim_of(p, p_alike)
    equivalent = claim == "equivalent"
    fields = {"hypothesis": identity.partition(".")[0], **fields}
    return Headline(
        id=f"headline.{identity}", claim=claim, about=about, says=(says or {}).get(claim, ""),
        p_adjusted=p_alike if equivalent else p, p_bound=p_bound and not equivalent, **fields,
    )  # fmt: skip


def described_headline(named: NamedResult, **fields: Any) -> Headline:
    """A result that claims nothing: described, or undefined where it could not be computed.

    Parameters
    ----------
    named : NamedResult
        An estimate, or what the fields describe.
    **fields
        Of the headline.
    """
    if isinstance(value := named.result, Estimate):
        undefined = math.isnan(value.estimate)
        own = {"estimand": value.name, "reason": value.reason}
        fields = {"claim": "undefined" if undefined else "described", **own, **fields}
    common = {"hypothesis": named.answers, "about": named.about, "rests_on": (named.id,)}
    return Headline(id=f"headline.{named.id}", **{**common, **fields})


def family_of_tests(
    identity: str, tests: Mapping[str, TestResult], family: str, *, role: Role = "secondary"
) -> list[NamedResult]:
    """Tests by label as a family (Holm), named; none where fewer than two could be computed.

    Parameters
    ----------
    identity : str
        Id of the family.
    tests : mapping of label to TestResult
    family : str
        What all of them answer.
    role : str
        Of the named result.
    """
    by_name = {name: t for name, t in tests.items() if not math.isnan(t.p_value)}
    if len(by_name) < 2:
        return []
    title = f"{family[0].upper()}{family[1:]}, adjusted"
    return [NamedResult(identity, title, role, adjust_family(by_name, family=family))]


def jointly(
    results: Sequence[NamedResult], ids: Collection[str], *, family: str
) -> list[NamedResult]:
    """The results, with the families and sets of some ids adjusted as one family (Holm).

    Each interval excludes the null value if and only if its adjusted p is at most .05.

    What one sentence tells is one family: each adjusted apart, a judge that does nothing would be
    called wrong in several times 5%.

    Parameters
    ----------
    results : sequence of NamedResult
    ids : collection of str
        Of results of `adjust_family` and of comparisons.
    family : str
        What the tests together answer.
    """
    out = list(results)
    at = [i for i, r in enumerate(out) if r.id in ids]
    given = [_p_of_tests(out[i].result) for i in at]
    every, floors = ([pair[k] for pairs in given for pair in pairs] for k in (0, 1))
    adjusted = list(zip(p_adjust(every).tolist(), p_bounds(every, floors), strict=True))
    for i, ps in zip(at, given, strict=True):
        own, adjusted = adjusted[: len(ps)], adjusted[len(ps) :]
        out[i] = replace(out[i], result=_with_adjusted(out[i].result, own, family))
    return out


def _p_of_tests(result: Result) -> list[tuple[float, float]]:
    """The p of each test of a family or set, and its floor."""
    if isinstance(result, Family):
        return [(t.p_value, t.p_floor) for t in result.tests.values()]
    if not isinstance(result, Comparisons):
        return []
    return [(r.p_value, result.p_floor) for r in result.rows]


def _with_adjusted(result: Result, p: Sequence[tuple[float, bool]], family: str) -> Result:
    """The result with its adjusted p, each with whether it is a bound."""
    if isinstance(result, Family):
        values = {label: v for label, (v, _) in zip(result.tests, p, strict=True)}
        bounds = {label: bound for label, (_, bound) in zip(result.tests, p, strict=True)}
        return replace(result, name=family, p_adjusted=values, p_bound=bounds)
    if isinstance(result, Comparisons):
        rows = tuple(
            replace(r, p_adjusted=v, p_bound=bound, interval=_agreeing(r, v))
            for r, (v, bound) in zip(result.rows, p, strict=True)
        )
        return replace(result, family=family, rows=rows)
    return result


@dataclass(frozen=True, kw_only=True)
class ClaimedTest:
    """A test, and the content of its claim besides the p.

    Attributes
    ----------
    result : NamedResult
    about : About
    direction : str
    beside : tuple of str
        Ids of what else the claim rests on.
    size : str
        Id of what says how large the difference is.
    """

    result: NamedResult
    about: About
    direction: Literal["", "higher", "lower"] = ""
    beside: tuple[str, ...] = ()
    size: str = ""


def headline_of_test(
    claimed: ClaimedTest, family: Sequence[NamedResult], *, estimand: str
) -> Headline:
    """What a test allows to claim: that it differs, or nothing.

    Parameters
    ----------
    claimed : ClaimedTest
    family : sequence of NamedResult
        As `family_of_tests` gives it, perhaps adjusted with others by `jointly`; where it is
        empty, the p is that of the test.
    estimand : str
    """
    named, test = claimed.result, claimed.result.result
    p, floor = (test.p_value, test.p_floor) if isinstance(test, TestResult) else (math.nan,) * 2
    bound = p <= floor
    for whole in family:
        if isinstance(whole.result, Family):
            label = next((k for k, t in whole.result.tests.items() if t is test), None)
            if label is not None:
                p, bound = whole.result.p_adjusted[label], whole.result.p_bound[label]
    return claim_headline(
        named.id, claimed.about, p=p, p_bound=bound, hypothesis=named.answers, estimand=estimand,
        direction=claimed.direction if p <= LEVEL else "", rests_on=(named.id, *claimed.beside),
        family=family[0].id if family else "", size=claimed.size,
        reason=test.reason if isinstance(test, TestResult) else "",
    )  # fmt: skip


def claimed_tests(
    identity: str, tests: Mapping[str, ClaimedTest], family: str, *, estimand: str
) -> tuple[list[NamedResult], list[Headline]]:
    """Tests by label, their family behind them, and what each allows to claim.

    Parameters
    ----------
    identity : str
        Id of the family.
    tests : mapping of label to ClaimedTest
    family : str
        What all of them answer.
    estimand : str
        Of the claims.
    """
    of = {k: t.result.result for k, t in tests.items() if isinstance(t.result.result, TestResult)}
    adjusted = family_of_tests(identity, of, family)
    headlines = [headline_of_test(t, adjusted, estimand=estimand) for t in tests.values()]
    return [*(t.result for t in tests.values()), *adjusted], headlines


def headlines_of_rows(
    named: NamedResult,
    *,
    estimand: str,
    about: About,
    alike: Mapping[tuple[str, str], float] | None = None,
    beside: str = "",
) -> Iterator[Headline]:
    """What each pair of a set allows to claim.

    Parameters
    ----------
    named : NamedResult
        The comparisons, adjusted.
    estimand : str
    about : About
    alike : mapping of pair to p, optional
        Of equivalence, adjusted.
    beside : str
        Id of the tests of equivalence.
    """
    for row in named.result.rows if isinstance(named.result, Comparisons) else ():
        pair = f"{row.a}:{row.b}"
        p_alike = (alike or {}).get((row.a, row.b), math.nan)
        equal = (f"{beside}/{pair}",) if beside and not math.isnan(p_alike) else ()
        yield claim_headline(
            f"{named.id}/{pair}", about, p=row.p_adjusted, p_alike=p_alike, p_bound=row.p_bound,
            hypothesis=named.answers, estimand=estimand, family=named.id, reason=row.reason,
            direction=direction_of(row.estimate) if row.p_adjusted <= LEVEL else "",
            rests_on=(f"{named.id}/{pair}", *equal),
        )  # fmt: skip


def direction_of(difference: float) -> Literal["", "higher", "lower"]:
    """Of a difference.

    Examples
    --------
    >>> direction_of(-0.2), direction_of(0.0)
    ('lower', '')
    """
    if difference > 0:
        return "higher"
    return "lower" if difference < 0 else ""


@dataclass(frozen=True, kw_only=True)
class Stratum:
    """Conditions that differ in one thing only.

    Attributes
    ----------
    name : str
        What they share: ``sim-typical at T=0.5``.
    conditions : tuple of str
        Labels of the conditions.
    labels : tuple of str
        What they differ in.
    at : tuple of float or None
        The numbers behind the labels, where these are ordered.
    varied : str
        The factor that they differ in.
    factors : mapping of str to level
        What they share; ``judge`` among it, unless judges are compared.
    """

    name: str
    conditions: tuple[str, ...]
    labels: tuple[str, ...]
    at: tuple[float, ...] | None = None
    varied: str = ""
    factors: Mapping[str, str | float | None] = field(default_factory=dict)

    def scores(self, array: ScoreArray) -> np.ndarray[tuple[int, int, int], np.dtype[np.float64]]:
        """Items x levels x replications."""
        return np.stack([array.condition(c) for c in self.conditions], axis=1)

    @property
    def about(self) -> About:
        """The stratum as the subject of a result."""
        rest = {name: level for name, level in self.factors.items() if name != "judge"}
        return About(
            judge=str(self.factors.get("judge") or ""),
            stratum=self.name,
            conditions=self.conditions,
            varied=self.varied,
            factors=rest,
        )

    @property
    def levels(self) -> dict[str, str]:
        """The conditions by what they differ in."""
        return dict(zip(self.labels, self.conditions, strict=True))


def strata_of(cells: pd.DataFrame, *, vary: str, ordered: bool = False) -> tuple[Stratum, ...]:
    """The strata in which `vary` takes several levels.

    A condition of which no judgment could be read is in none of them: no item has all conditions
    then, and those that were read could not be compared either.

    Parameters
    ----------
    cells : DataFrame
        One row per condition, with ``judge``, ``temperature`` and ``factor_*``; and ``n_ok``, the
        judgments read, where it is known.
    vary : str
        ``"judge"``, ``"temperature"`` or ``"factor_<name>"``.
    ordered : bool
        Whether the levels of a factor are put in their order, where they have one; temperatures are
        ordered in any case.

    Returns
    -------
    tuple of Stratum
        In order of appearance.

    Examples
    --------
    >>> cells = pd.DataFrame({"condition": ["j, T=0", "j, T=1"], "judge": ["j", "j"],
    ...                       "temperature": [0.0, 1.0]})
    >>> [(s.name, s.labels) for s in strata_of(cells, vary="temperature")]
    [('j', ('T=0', 'T=1'))]
    """
    if "n_ok" in cells:
        cells = cells[cells["n_ok"] > 0]
    keys = ["judge", "temperature", *(c for c in cells.columns if c.startswith("factor_"))]
    shared = [k for k in keys if k != vary]
    strata = []
    for _, group in cells.groupby(shared, sort=False, dropna=False):
        if len(group) < 2:
            continue
        chosen = group
        at: tuple[float, ...] | None = None
        if vary == "temperature":
            at = tuple(float(v) for v in chosen[vary])
        elif ordered and (levels := sort_levels(vary.removeprefix("factor_"), chosen[vary])):
            chosen = chosen.set_index(vary, drop=False).loc[list(levels)]
            at = tuple(float(place) for place in range(len(levels)))
        strata.append(
            Stratum(
                name=_stratum_name(chosen.iloc[0], shared),
                conditions=tuple(chosen["condition"]),
                labels=tuple(_level(vary, v) for v in chosen[vary]),
                at=at,
                varied=_factor(vary),
                factors={_factor(k): _shared(chosen.iloc[0][k]) for k in shared},
            )
        )
    return tuple(strata)


def by_levels(table: pd.DataFrame, *columns: str) -> Iterator[tuple[tuple[Any, ...], pd.DataFrame]]:
    """Conditions by the levels of some columns, and by the wording where there are several.

    Examples
    --------
    >>> cells = pd.DataFrame({"judge": ["j", "j"], "factor_wording": ["original", "paraphrase"]})
    >>> [(levels, len(own)) for levels, own in by_levels(cells, "judge")]
    [(('j', 'original'), 1), (('j', 'paraphrase'), 1)]
    """
    wording = ["factor_wording"] if "factor_wording" in table else []
    grouped = table.groupby([*columns, *wording], sort=False, dropna=False)
    return ((tuple(levels), own) for levels, own in grouped)


def _factor(column: str) -> str:
    return column.removeprefix("factor_")


def _shared(value: object) -> str | float | None:
    """A factor's level; None where it is the server's default, or the factor does not apply."""
    if isinstance(value, (int, float)):
        return None if math.isnan(value) else float(value)
    return str(value)


def _level(key: str, value: object) -> str:
    """Text of a level; a bare number gets the name of its factor."""
    level = str(value)
    if key == "temperature":
        return heat(float(level))
    return f"{_factor(key)}={level}" if is_number(level) else level


def _stratum_name(row: pd.Series, shared: Sequence[str]) -> str:
    """``sim-typical at T=0.5``: no comma, so that it can be at the end of a title."""
    rest = [k for k in shared if k == "temperature"]
    rest += [k for k in shared if k.startswith("factor_") and str(row[k]) != "nan"]
    judge = str(row["judge"]) if "judge" in shared else ""
    return " at ".join(filter(None, (judge, " and ".join(_level(k, row[k]) for k in rest))))
