"""Specification curve: each claim of an audit under every declared choice of its analysis."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from judgestats.analysis.audit_answer import audit_headlines, restrict_to_claims
from judgestats.analysis.conversion import Ends
from judgestats.analysis.families import LEVEL, AnalysisPlan
from judgestats.analysis.limits import Limit
from judgestats.analysis.records import Analysis, NamedResult
from judgestats.analysis.score_audit import score_comparisons
from judgestats.analysis.supplements import Rows
from judgestats.analysis.verdict_audit import verdict_comparisons
from judgestats.arrays import Floats
from judgestats.data.parse import score_array
from judgestats.protocols.base import NOT_UNPARSED
from judgestats.results import About, Headline, bounds_of, quantity_of
from judgestats.results.numbers import apa_p, format_p, with_bounds
from judgestats.stats.dispersion.condition_summary import mean_shift
from judgestats.stats.inference import Comparison, Comparisons, jackknife_error
from judgestats.stats.reliability.repeat_error import far_distance
from judgestats.stats.robustness.levels import recode_scores

SPECS = "specs."
"""Begins the ids of specification curves."""
MEANS, DISPERSION, PEOPLE = "shift.all", "gmd.all", "compare.people.pairs"
_TESTS = {MEANS: MEANS, DISPERSION: DISPERSION, PEOPLE: "compare.people"}
"""Of the pairs of a comparison the test that its headline rests on first."""
_TITLES = {
    "default": "",
    "unparsed": "unparsed policy",
    "cluster": "clusters",
    "recoding": "recoding",
    "temperature": "T = 0 rows",
    "repeats": "repeats",
    "far": "far replies",
    "items": "items",
}
_DRAWS = 999
_NO_JOINT = "No joint test: runs differ, and exchanging conditions keeps their runs together."
_NOTHING = Limit(
    "No specification curve: no claim compares two conditions.",
    code="no_specifications",
    short="no specification curve: no claim compares two conditions",
)

Role = Literal["decides", "reveals", "apart", "all"]
"""Of a specification: one change that counts, one that shows dependence only, one of another
estimand, or one of the full cross product."""


@dataclass(frozen=True)
class Choice:
    """One change of the declared analysis.

    Attributes
    ----------
    key, value : str
        What is changed, and to what.
    role : {"decides", "reveals", "apart"}
    change : callable
        From judgments to those of the changed analysis.
    unparsed : float
        Agreement with human labels that an unparsed reply counts for; NaN leaves it out.
    """

    key: str
    value: str
    role: Role = "decides"
    change: Callable[[pd.DataFrame], pd.DataFrame] = lambda frame: frame
    unparsed: float = math.nan


@dataclass(frozen=True, kw_only=True)
class Specification:
    """A claim on two conditions under one choice or several.

    Attributes
    ----------
    choices : tuple of Choice
        Empty: the declared analysis.
    role : str
    estimate, low, high, p : float
        p adjusted as the claim's.
    verdict : {"higher", "lower", "open", "not estimable"}
        Of the first condition against the second.
    """

    choices: tuple[Choice, ...]
    role: Role
    estimate: float = math.nan
    low: float = math.nan
    high: float = math.nan
    p: float = math.nan
    verdict: str = "not estimable"

    @classmethod
    def from_comparison(
        cls, row: Comparison | None, choices: tuple[Choice, ...], role: Role, *, null: float
    ) -> Specification:
        """From the comparison; None where it could not be made."""
        if row is None or math.isnan(row.estimate) or math.isnan(row.p_adjusted):
            return cls(choices=choices, role=role)
        low, high = bounds_of(row.interval)
        above = "higher" if row.estimate > null else "lower"
        return cls(
            choices=choices,
            role=role,
            estimate=row.estimate,
            low=low,
            high=high,
            p=row.p_adjusted,
            verdict=above if row.p_adjusted <= LEVEL else "open",
        )


@dataclass(frozen=True, kw_only=True)
class SpecificationCurve(Rows):
    """One claim on two conditions under every declared choice.

    Attributes
    ----------
    table : DataFrame
        One row a specification, those of the full cross product by their estimates.
    claim : str
        Name of the estimate and the two conditions.
    default : Specification
    single : tuple of Specification
        One change each.
    every : tuple of Specification
        The full cross product of the changes that decide.
    p_joint : float
        Of the median t over the cross product, conditions exchanged within clusters.
    no_joint : str
        Why there is no such p.
    """

    claim: str
    default: Specification
    single: tuple[Specification, ...]
    every: tuple[Specification, ...]
    p_joint: float = math.nan
    no_joint: str = ""

    @property
    def decisive(self) -> tuple[Specification, ...]:
        """The declared analysis, and each single change that counts and can be estimated."""
        counted = (s for s in self.single if s.role == "decides" and s.verdict != "not estimable")
        return (self.default, *counted)

    @property
    def depends(self) -> tuple[Specification, ...]:
        """The single changes with another verdict."""
        return tuple(s for s in self.decisive if s.verdict != self.default.verdict)

    @property
    def same_share(self) -> float:
        """Share of the cross product with the sign and verdict of the declared analysis."""
        own = [s for s in self.every if s.verdict != "not estimable"]
        return sum(s.verdict == self.default.verdict for s in own) / max(len(own), 1)

    @property
    def short(self) -> str:
        """The verdict over the decisive set."""
        if self.depends:
            return f"depends on: {changes_text(self.default, self.depends)}"
        n = len(self.decisive)
        if n == 1:
            return "no other choice applies to these data"
        verdict = "no difference is shown" if self.default.verdict == "open" else "holds"
        return f"{verdict} in {n} of {n}"

    def sentence(self) -> str:
        """Estimate, verdict over the decisive set, and range of the cross product."""
        text = self.claim_sentence
        own = [s.estimate for s in self.every if s.verdict != "not estimable"]
        if len(own) > 1:
            text += (
                f" All {len(own)} combinations: {with_bounds(min(own), math.nan, math.nan)} to "
                f"{with_bounds(max(own), math.nan, math.nan)}, same sign and verdict in "
                f"{100 * self.same_share:.0f}%."
            )
        if not math.isnan(self.p_joint):
            text += f" Joint test {apa_p(self.p_joint, smallest=1 / (_DRAWS + 1))}."
        return f"{text} {self.no_joint}".rstrip()

    @property
    def details(self) -> dict[str, Any]:
        """The verdict, for screens."""
        return {"said": self.claim_sentence, "holds": not self.depends}

    @property
    def claim_sentence(self) -> str:
        """The claim with its verdict over the decisive set."""
        own = self.default
        return f"{self.claim} {with_bounds(own.estimate, own.low, own.high)}: {self.short}."

    @property
    def document(self) -> dict[str, Any]:
        """For programs."""
        return {
            "claim": self.claim,
            "verdict": self.short,
            "holds": not self.depends,
            "same": len(self.decisive) - len(self.depends),
            "of": len(self.decisive),
            "depends_on": [s.choices[0].key for s in self.depends],
            "n_combinations": len(self.every),
            "same_share": self.same_share,
            "p_joint": self.p_joint,
            "reason": self.no_joint,
            "specifications": self.table.to_dict("records"),
        }


def changes_text(default: Specification, others: Iterable[Specification]) -> str:
    """The changes that turn a verdict, each with both p."""
    before = format_p(default.p)
    return ", ".join(
        f"{_TITLES[s.choices[0].key]} (p {before} → {format_p(s.p).removeprefix('= ')})"
        for s in others
    )


def with_specifications(
    analysis: Analysis, frame: pd.DataFrame, declared: AnalysisPlan, *, scale: Ends | None = None
) -> Analysis:
    """An audit with the specification curve of each claim on two conditions.

    Parameters
    ----------
    analysis : Analysis
        Of scores or of verdicts.
    frame : DataFrame
        Its judgments.
    declared : AnalysisPlan
        The declared analysis stays the headline; ``options["specs"] = "joint"`` adds the joint
        test.
    scale : (float, float), optional
        Ends of the scale; those of the scores by default.

    Returns
    -------
    Analysis
        Headlines that one change turns claim nothing, and say what they depend on.

    Notes
    -----
    Decisive are the declared analysis and each single change. Another clustering shows dependence
    and never decides; ranks within judges and first repeats are other estimands. The full cross
    product of the changes that decide is described, without p. Simonsohn, Simmons & Nelson (2020),
    Specification curve analysis. Nature Human Behaviour 4, 1208-1214.
    """
    specified = _Specified(analysis=analysis, frame=frame, declared=declared, scale=scale)
    curves = list(specified.curves())
    if not curves:
        return replace(analysis, limitations=(*analysis.limitations, _NOTHING))
    headlines = tuple(specified.assess(h) for h in analysis.headlines)
    return replace(analysis, headlines=headlines, results=(*analysis.results, *curves))


def specifications_of(analysis: Analysis) -> list[dict[str, Any]]:
    """The specification curves of an analysis, for programs."""
    curves = (r.result for r in analysis.results)
    return [c.document for c in curves if isinstance(c, SpecificationCurve)]


@dataclass(frozen=True, kw_only=True)
class _Specified:
    """The comparisons of an audit, made again under other choices."""

    analysis: Analysis
    frame: pd.DataFrame
    declared: AnalysisPlan
    scale: Ends | None
    made: dict[tuple[tuple[str, str], ...], Mapping[str, Any]] = field(default_factory=dict)

    @property
    def pairs(self) -> Iterator[tuple[str, Comparison]]:
        """Each comparison of two conditions with a p."""
        for named in self.analysis.results:
            if named.id in _TESTS and isinstance(named.result, Comparisons):
                for row in named.result.rows:
                    if not math.isnan(row.p_adjusted) and not math.isnan(row.estimate):
                        yield named.id, row

    def curves(self) -> Iterator[NamedResult]:
        """The curve of each pair of conditions."""
        for claim, row in self.pairs:
            heading = quantity_of(row.estimate_name).heading
            yield NamedResult(
                f"{SPECS}{claim.partition('.')[0]}.{row.a}:{row.b}",
                f"Specification curve: {heading}, {row.a} and {row.b}",
                "secondary",
                self._curve(claim, row),
                hypothesis="specs",
                about=About(conditions=(row.a, row.b)),
            )

    def _curve(self, claim: str, row: Comparison) -> SpecificationCurve:
        null = 1.0 if quantity_of(row.estimate_name).is_ratio else 0.0
        choices = self.choices(claim)

        def find_specification(chosen: tuple[Choice, ...], role: Role) -> Specification:
            rows = self.rows(claim, chosen)
            return Specification.from_comparison(rows.get((row.a, row.b)), chosen, role, null=null)

        default = Specification.from_comparison(row, (), "decides", null=null)
        single = tuple(find_specification((choice,), choice.role) for choice in choices)
        combined = list(_combinations([c for c in choices if c.role == "decides"]))
        found = (find_specification(chosen, "all") if chosen else default for chosen in combined)
        every = tuple(sorted(found, key=lambda s: (math.isnan(s.estimate), s.estimate)))
        p_joint, asked = math.nan, self.declared.options.get("specs") == "joint"
        runs_differ = float(row.details.get("run_sd", 0.0) or 0.0) > 0
        if asked and claim != DISPERSION and not runs_differ:
            p_joint = self._joint(claim, (row.a, row.b), combined)
        label = quantity_of(row.estimate_name).heading
        return SpecificationCurve(
            table=_table(row, [default, *single], every),
            claim=f"{label[0].upper()}{label[1:]}, {row.a} against {row.b}:",
            default=default,
            single=single,
            every=every,
            p_joint=p_joint,
            no_joint=_NO_JOINT if asked and runs_differ else "",
        )

    def choices(self, claim: str) -> list[Choice]:
        """The changes that apply to these judgments."""
        return list(_choices(self.frame, claim, self.scale))

    def rows(self, claim: str, chosen: tuple[Choice, ...]) -> Mapping[Any, Comparison]:
        """Comparisons of a claim by their conditions, under these choices."""
        found: Mapping[Any, Comparison] = self._specify(claim, chosen)["rows"].get(claim, {})
        return found

    def _changed(self, chosen: tuple[Choice, ...]) -> tuple[pd.DataFrame, float]:
        """The judgments under these choices, and what an unparsed reply counts for."""
        frame = functools.reduce(lambda rows, choice: choice.change(rows), chosen, self.frame)
        return frame, next((c.unparsed for c in chosen if c.key == "unparsed"), math.nan)

    def _specify(self, claim: str, chosen: tuple[Choice, ...]) -> Mapping[str, Any]:
        key = tuple((c.key, c.value) for c in chosen)
        if key in self.made:
            return self.made[key]
        frame, unparsed = self._changed(chosen)
        if claim == PEOPLE:
            new, _ = verdict_comparisons(frame, self.declared, unparsed=unparsed)
        elif any(c.value == "first" for c in chosen):
            array = score_array(frame)
            shifts = mean_shift(
                array.scores,
                conditions=array.conditions,
                cluster=array.clusters,
                level=self.declared.level,
            )
            new = [NamedResult(MEANS, "Differences of first scores", "secondary", shifts)]
        else:
            new = score_comparisons(frame, self.declared)
        again = {r.id for r in new}
        fixed = [r for r in self.analysis.results if r.id not in {*again, *_TESTS}]
        headlines = audit_headlines([*fixed, *new], n_criteria=self.declared.n_criteria)
        held = restrict_to_claims(new, headlines)
        self.made[key] = {
            "rows": {
                r.id: {(row.a, row.b): row for row in r.result.rows}
                for r in held
                if isinstance(r.result, Comparisons)
            },
            "headlines": {h.rests_on[0]: h for h in headlines},
        }
        return self.made[key]

    def assess(self, headline: Headline) -> Headline:
        """A headline; one that a single change turns claims nothing."""
        tested = {test: claim for claim, test in _TESTS.items()}
        claim = tested.get(headline.rests_on[0])
        if claim is None or headline.claim not in {"differs", "open"}:
            return headline
        default = Specification(choices=(), role="decides", p=headline.p_adjusted)
        turned = []
        for choice in self.choices(claim):
            other = self._specify(claim, (choice,))["headlines"].get(headline.rests_on[0])
            claims = {headline.claim, other.claim} if other is not None else set()
            if choice.role == "decides" and claims == {"differs", "open"}:
                turned.append(replace(default, choices=(choice,), p=other.p_adjusted))
        if not turned:
            return headline
        what = {MEANS: "mean score", DISPERSION: "the mean difference of repeats",
                PEOPLE: "agreement with human labels"}[claim]  # fmt: skip
        says = (
            f"whether the conditions differ in {what} depends on: {changes_text(default, turned)}"
        )
        return replace(headline, claim="open", says=says)

    def _joint(
        self, claim: str, pair: tuple[str, str], combined: Sequence[tuple[Choice, ...]]
    ) -> float:
        """The p of the median t over specifications, conditions exchanged within clusters."""
        sums = [s for s in (self._sums(claim, pair, chosen) for chosen in combined) if len(s) > 1]
        names = sorted({name for own in sums for name in own.index})
        if not names:
            return math.nan
        signs = np.random.default_rng(self.declared.seed).choice([-1, 1], (_DRAWS, len(names)))
        signs = np.vstack([np.ones(len(names)), signs])
        place = {name: i for i, name in enumerate(names)}
        t = np.array([_studentised(own, signs[:, [place[n] for n in own.index]]) for own in sums])
        drawn = np.abs(np.median(t, axis=0))
        return float(np.sum(drawn >= drawn[0] * (1 - 1e-9))) / (_DRAWS + 1)

    def _sums(self, claim: str, pair: tuple[str, str], chosen: tuple[Choice, ...]) -> pd.DataFrame:
        """Sum of the differences of two conditions, and number of items, by cluster."""
        frame, unparsed = self._changed(chosen)
        frame = frame[frame["condition"].isin(pair)]
        if claim == PEOPLE:
            _, agreement = verdict_comparisons(frame, self.declared, unparsed=unparsed)
            means = pd.DataFrame(agreement)
        else:
            cells = frame.groupby(["item_id", "condition"], sort=False)["score"].mean()
            means = cells.unstack("condition")
        if not set(pair) <= set(means.columns):
            return pd.DataFrame()
        apart = (means[pair[0]] - means[pair[1]]).dropna()
        owner = frame.drop_duplicates("item_id").set_index("item_id")["cluster"].astype(str)
        return apart.groupby(owner.loc[apart.index]).agg(["sum", "size"])


def _studentised(sums: pd.DataFrame, signs: Floats) -> Floats:
    """Studentised mean difference of each exchange, by the jackknife over clusters."""
    sizes = sums["size"].to_numpy(float)
    out = []
    for own in signs * sums["sum"].to_numpy(float):
        error, _ = jackknife_error((own.sum() - own) / (sizes.sum() - sizes), sizes)
        out.append(own.sum() / sizes.sum() / error if error > 0 else 0.0)
    return np.array(out)


def _combinations(choices: Sequence[Choice]) -> Iterator[tuple[Choice, ...]]:
    """The full cross product: of each key the declared choice, or one of the others."""
    keys = list(dict.fromkeys(c.key for c in choices))
    options = [[None, *(c for c in choices if c.key == key)] for key in keys]
    for chosen in itertools.product(*options):
        yield tuple(c for c in chosen if c is not None)


def _table(
    row: Comparison, single: Sequence[Specification], every: Sequence[Specification]
) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "a": row.a,
            "b": row.b,
            "role": s.role if s.choices or s.role == "all" else "default",
            "choice": ", ".join(c.key for c in s.choices) or "declared",
            "value": ", ".join(c.value for c in s.choices) or "declared",
            "estimate": s.estimate,
            "low": s.low,
            "high": s.high,
            "p": s.p,
            "verdict": s.verdict,
        }
        for s in (*single, *(replace(one, role="all") for one in every))
    )


def _choices(frame: pd.DataFrame, claim: str, scale: Ends | None) -> Iterator[Choice]:
    """The changes of a claim that change these judgments, in the order in which they are made."""
    heats = frame.groupby("condition", sort=False)["temperature"].first()
    cold = heats.eq(0)
    if claim == DISPERSION and cold.any():
        yield Choice("temperature", "in", change=lambda f: f.assign(temperature=math.nan))
    elif cold.any() and int((~cold).sum()) >= 2:
        names = set(heats.index[cold])
        yield Choice("temperature", "out", change=lambda f: f[~f["condition"].isin(names)])
    if frame["cluster"].nunique() < frame["item_id"].nunique():
        yield Choice("cluster", "item", "reveals", lambda f: f.assign(cluster=f["item_id"]))
    repeated = frame.duplicated(["condition", "item_id", "order"]).any()
    if claim != DISPERSION and repeated:
        yield Choice("repeats", "first", "apart", _first_repeats)
    unparsed = _is_unparsed(frame)
    if claim == PEOPLE:
        if unparsed.any():
            yield Choice("unparsed", "own category", unparsed=0.0)
        return
    scores = frame["score"].dropna()
    low = scale[0] if scale else float(scores.min())
    if unparsed.any():
        yield Choice("unparsed", "lowest score", change=_rescored(
            lambda f: f["score"].mask(_is_unparsed(f), low)
        ))  # fmt: skip
    if heats.size > 2 and len(_common_items(frame)) < len(frame):
        yield Choice("items", "judged by all", change=_common_items)
    apart = far_distance(scale) - 1e-9 if scale else math.inf
    if _far(frame, apart).any():
        yield Choice("far", "item's median", change=_rescored(
            lambda f: f["score"].mask(_far(f, apart), _medians(f))
        ))  # fmt: skip
    if 4 <= scores.nunique() <= 200:
        yield Choice("recoding", "neighbours in pairs", change=_rescored(
            lambda f: recode_scores(f["score"].to_numpy(float))
        ))  # fmt: skip
    if claim == DISPERSION:
        yield Choice("recoding", "ranks within judge", "apart", _rescored(
            lambda f: f.groupby("condition", sort=False)["score"].rank(pct=True)
        ))  # fmt: skip


def _rescored(scores: Callable[[pd.DataFrame], Any]) -> Callable[[pd.DataFrame], pd.DataFrame]:
    return lambda frame: frame.assign(score=scores(frame))


def _is_unparsed(frame: pd.DataFrame) -> pd.Series:
    return frame["status"].ne("ok") & ~frame["status"].isin(NOT_UNPARSED)


def _medians(frame: pd.DataFrame) -> pd.Series:
    cells = frame.groupby(["condition", "item_id"], sort=False)["score"]
    return cells.transform("median")


def _far(frame: pd.DataFrame, apart: float) -> pd.Series:
    """Which scores are far from the median of their item's repeats."""
    return (frame["score"] - _medians(frame)).abs().ge(apart)


def _first_repeats(frame: pd.DataFrame) -> pd.DataFrame:
    ordered = frame.sort_values("replicate", kind="stable")
    return ordered.drop_duplicates(["condition", "item_id", "order"]).sort_index()


def _common_items(frame: pd.DataFrame) -> pd.DataFrame:
    scored = frame[frame["score"].notna()]
    n = scored.groupby("item_id")["condition"].nunique()
    whole = n.index[n == frame["condition"].nunique()]
    return frame[frame["item_id"].isin(whole)]
