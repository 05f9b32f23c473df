"""Experiments on the spread of repeated scores, and the comparison of spread they share."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
import pandas as pd

from judgestats.analysis import families, records
from judgestats.analysis.coefficients import (
    contrast_drawing,
    factor_curve,
    ranked,
    results_row,
    score_rows,
)
from judgestats.analysis.conversion import with_items
from judgestats.analysis.families import AnalysisPlan, Hypothesis, Stratum
from judgestats.analysis.limits import common_limits
from judgestats.analysis.records import Analysis, NamedResult
from judgestats.analysis.scores import declared_conditions
from judgestats.data.columns import EXTRA, Condition, sort_levels
from judgestats.data.parse import ScoreArray
from judgestats.results import About, Headline, Row, apa_number, name_of
from judgestats.stats.comparison.blocked_f import blocked_f_test
from judgestats.stats.designs.cells import cell_statistics
from judgestats.stats.dispersion.dispersion_test import SpreadResult, spread_test
from judgestats.stats.dispersion.equivalence import EquivalenceResult, equivalence_of_spread
from judgestats.stats.dispersion.ratios import ratio_of_ratios
from judgestats.stats.inference.multiplicity import Family, adjust_family, p_adjust
from judgestats.stats.inference.result import Result, TestResult

FAMILY = "spread.family"
"""The family of all tests of spread that the answer tells."""


@dataclass(frozen=True, kw_only=True)
class SpreadQuestion:
    """One hypothesis on spread with its answer in every stratum.

    Attributes
    ----------
    id : str
        Of the hypothesis, and what the ids of its results begin with: ``spread``, ``vary.top_p``.
    across : str
        What is compared, in the plural: ``temperatures``.
    each : str
        What a stratum is: ``judge``.
    strata : tuple of Stratum
    spreads : mapping of stratum to SpreadResult
    equivalence : mapping of stratum to EquivalenceResult
        Of every pair, since equality is claimed of all.
    """

    id: str
    across: str
    each: str
    strata: tuple[Stratum, ...]
    spreads: Mapping[str, SpreadResult]
    equivalence: Mapping[str, EquivalenceResult]

    def result_id(self, kind: str, stratum: str) -> str:
        """Of the test (kind ``spread``), the ratios or the equivalence in a stratum."""
        if self.id == "spread":
            return f"{kind}.{stratum}"
        return f"{self.id}.{stratum}" if kind == "spread" else f"{self.id}.{kind}.{stratum}"


def spread_questions(
    array: ScoreArray,
    declared: AnalysisPlan,
    *questions: tuple[str, str, str, Sequence[Stratum]],
    reference: str | None = None,
) -> tuple[SpreadQuestion, ...]:
    """Answer hypotheses on spread whose tests are one family.

    Parameters
    ----------
    array : ScoreArray
    declared : AnalysisPlan
    *questions : tuple
        Id, what is compared, what a stratum is, and the strata; see `SpreadQuestion`.
    reference : str, optional
        The level that ratios and shifts refer to; every pair by default.

    Returns
    -------
    tuple of SpreadQuestion
        Permutations are as many as resolve the level in a family of this size.
    """
    tests = sum(len(strata) for *_, strata in questions)
    margin = declared.margins["variance_ratio"]
    asked = tuple(
        SpreadQuestion(
            id=identity, across=across, each=each, strata=tuple(strata),
            spreads=compare_spread(array, strata, declared, reference=reference, tests=tests),
            equivalence={
                s.name: equivalence_of_spread(
                    s.scores(array), conditions=s.labels, cluster=array.clusters, margin=margin
                )
                for s in strata
            },
        )
        for identity, across, each, strata in questions
    )  # fmt: skip
    return _restrict_spreads(asked) if tests else asked


def _restrict_spreads(asked: tuple[SpreadQuestion, ...]) -> tuple[SpreadQuestion, ...]:
    """The comparisons, each limited by the test of its stratum, adjusted for all strata."""
    family = spread_family(*asked)

    def restrict(question: SpreadQuestion, name: str) -> SpreadResult:
        label, claim = label_of(question, name, asked[1:]), question.result_id("spread", name)
        p, bound = family.p_adjusted[label], family.p_bound[label]
        return restrict_spread(question.spreads[name], p, bound, claim)

    return tuple(replace(q, spreads={n: restrict(q, n) for n in q.spreads}) for q in asked)


def restrict_spread(spread: SpreadResult, p: float, bound: bool, claim: str) -> SpreadResult:
    """The comparison, its pairs limited by the adjusted p of its test (`restrict_pairs`)."""
    distances = spread.gmd_ratios
    held = partial(families.restrict_pairs, p=p, bound=bound, claim=claim)
    return replace(
        spread,
        ratios=held(spread.ratios),
        gmd_ratios=None if distances is None else held(distances),
        post_hoc=tuple(map(held, spread.post_hoc)),
    )


def compare_spread(
    array: ScoreArray,
    strata: Sequence[Stratum],
    declared: AnalysisPlan,
    *,
    reference: str | None = None,
    tests: int | None = None,
) -> dict[str, SpreadResult]:
    """`spread_test` in every stratum, by its name.

    Parameters
    ----------
    array : ScoreArray
    strata : sequence of Stratum
        With `at`, the levels are ordered and trends are tested.
    declared : AnalysisPlan
    reference : str, optional
        The level that ratios and shifts refer to; every pair by default.
    tests : int, optional
        Size of the family; one test a stratum by default.
    """
    return {
        s.name: with_items(
            spread_test(
                s.scores(array),
                conditions=s.labels,
                cluster=array.clusters,
                ordered=list(s.at) if s.at is not None else False,
                reference=reference if reference in s.labels else None,
                n_comparisons=max(tests or len(strata), 1),
                n_resamples=declared.n_resamples,
                **declared.resampling,
            ),
            array.items,
        )
        for s in strata
    }


def spread_family(*questions: SpreadQuestion) -> Family:
    """The tests of all questions and strata, adjusted together."""
    first, *others = questions
    across = " and ".join(q.across for q in questions)
    return adjust_family(
        {label_of(q, name, others): s.primary for q in questions for name, s in q.spreads.items()},
        family=f"spread across {across}, one test per {first.each if not others else 'stratum'}",
        method="holm",
    )


def label_of(question: SpreadQuestion, stratum: str, others: Sequence[SpreadQuestion]) -> str:
    """Of a test in the family: the stratum, which several questions may share."""
    return question.result_id("spread", stratum) if others else stratum


def spread_results(*questions: SpreadQuestion) -> list[NamedResult]:
    """Every result of the comparisons of spread, named and with its role.

    Parameters
    ----------
    *questions : SpreadQuestion
        The primary one first; the tests of the others are in its family.

    Returns
    -------
    list of NamedResult
        ``spread.*`` (primary), ``trend.*``, ``ranks.*``, ``posthoc.*``, ``gmd.*``,
        ``ratio.*``, ``shift.*``, and of further questions the test, the trend and the ratios.
    """
    results = [r for q in questions for s in q.strata for r in _results(q, s)]
    if sum(len(q.spreads) for q in questions) > 1:
        title = f"Spread across {' and '.join(q.across for q in questions)}, adjusted"
        results.append(NamedResult(FAMILY, title, "primary", spread_family(*questions)))
    for s in questions[0].strata:
        title, equal = f"Equivalence of spread, {s.name}", questions[0].equivalence[s.name]
        named = partial(NamedResult, f"equivalence.{s.name}", title, "secondary", equal)
        results.append(named(about=s.about, levels=s.levels))
    return records.sort_by_role(results)


def _results(question: SpreadQuestion, stratum: Stratum) -> list[NamedResult]:
    """The test of a stratum with trends, ranks, pairs, ratios, and shifts."""
    spread, what = question.spreads[stratum.name], question.across
    first = question.id == "spread"
    over, across = ("", "") if first else (f" over {what}", f" across {what}")
    trends = [(f"trend.{t.name}", f"Trend of spread{over}", t, "") for t in spread.trend]
    ratios = ("ratio", f"Ratios of variances{across}", spread.ratios, "")
    gmd = ("gmd", f"GMD ratios{across}", spread.gmd_ratios, "ratio" if first else "")
    test = ("spread", f"Spread across {what}", spread.primary, "")
    rows: list[tuple[str, str, Result | None, str]] = [
        test, *trends,
        ("ranks", "Ranks of spread", spread.rank_test, "spread"),
        ("ranks_f", "Ranks of spread, F", spread.iman_davenport, "spread"),
        *((f"posthoc.{p.name}", f"Which {what}", p, "spread") for p in spread.post_hoc),
        gmd, ratios,
        ("shift", "Shifts of the mean", spread.shifts, ""),
    ] if first else [
        test, *trends, gmd, ratios,
        ("equivalence", f"Equivalence across {what}", question.equivalence[stratum.name], ""),
    ]  # fmt: skip
    return [
        NamedResult(
            question.result_id(key, stratum.name), f"{title}, {stratum.name}",
            "primary" if first and key == "spread" else "secondary", result,
            hypothesis=hypothesis if first else question.id,
            about=stratum.about, levels=stratum.levels if key != "spread" or not first else {},
        )
        for key, title, result, hypothesis in rows
        if result is not None
    ]  # fmt: skip


def spread_headlines(*questions: SpreadQuestion) -> tuple[Headline, ...]:
    """Claims per stratum: its spread differs, is equivalent within the margin, or neither.

    Parameters
    ----------
    *questions : SpreadQuestion
        As in `spread_results`, whose ids the headlines rest on.

    Returns
    -------
    tuple of Headline
        ``headline.spread.*``; the direction is that of the last condition against the first.
        Equality is adjusted over all strata, as differences are.
    """
    placed = [(q, s, s.name) for q in questions for s in q.strata]
    if not placed:
        return ()
    family = spread_family(*questions)
    alike = p_adjust([q.equivalence[name].p_all for q, _, name in placed])
    floor = records.smallest_adjusted(
        [t.p_floor for t in family.tests.values()], method=family.adjust
    )
    headlines = []
    for (question, stratum, name), p_alike in zip(placed, alike, strict=True):
        test, pairs = question.spreads[name].primary, question.spreads[name].gmd_ratios
        label = label_of(question, name, questions[1:])
        p, reason = family.p_adjusted[label], test.reason
        if families.claim_of(p, p_alike) == "open" and floor > families.LEVEL:
            smallest = apa_number(floor, bounded=True)
            reason = f"too few questions: the smallest possible p is {smallest}"
        kinds = ["spread", "equivalence", "ratio"]
        if pairs is not None:
            kinds.append("gmd")  # the ratios of what the test compares
        headlines.append(
            families.claim_headline(
                question.result_id("spread", name), stratum.about,
                p=p, p_alike=p_alike, p_bound=family.p_bound[label],
                hypothesis=question.id, estimand="variance_ratio",
                direction=_direction(question.spreads[name]),
                rests_on=tuple(question.result_id(kind, name) for kind in kinds),
                family=FAMILY if len(placed) > 1 else "", reason=reason,
            )
        )  # fmt: skip
    return tuple(headlines)


def _direction(spread: SpreadResult) -> Literal["", "higher", "lower"]:
    """Whether the last condition varies more or less than the first."""
    if spread.summary is None:
        return ""
    variances = [spread.summary[c].variance.estimate for c in spread.conditions]
    return families.direction_of(variances[-1] - variances[0])


MARGIN = 1.5
"""Declared margin of equivalence: a ratio of variances between 1/1.5 and 1.5 matters little."""

_BLOCKS = (
    "The item is the block: every condition judges the same items. The cell is an item under a "
    "condition; its statistic is the mean distance of its repeated scores from their mean. "
    "Intervals and permutations keep the items of a question together."
)
_MISSING = (
    "A judgment that could not be read has a status and no score; the rates are reported by "
    "condition. A cell with fewer than two scores is left out of tests of spread, and so is its "
    "item; both are counted."
)
_VARY = "vary."

Further = tuple[list[NamedResult], list[Headline]]
FurtherOf = Callable[[ScoreArray, pd.DataFrame, tuple[SpreadQuestion, ...], AnalysisPlan], Further]


def varied_hypotheses(conditions: Sequence[Condition]) -> tuple[Hypothesis, ...]:
    """One hypothesis a field of the request that the conditions vary.

    Examples
    --------
    >>> conditions = [Condition(judge="j", settings={"top_p": p}) for p in (0.5, 1.0)]
    >>> [h.id for h in varied_hypotheses(conditions)]
    ['vary.top_p']
    """
    levels: dict[str, dict[str, None]] = {}
    for condition in conditions:
        for name in condition.settings:
            short = name.removeprefix(EXTRA)
            levels.setdefault(short, {})[condition.levels[short]] = None
    ordered = "; Page's L, Spearman and Kendall, the levels being ordered"
    return tuple(
        Hypothesis(
            f"{_VARY}{name}",
            f"Does the spread of repeated scores differ between levels of {name}?",
            "as the primary test, ratios of variances, two one-sided tests"
            + (ordered if sort_levels(name, of) is not None else ""),
            "one test per stratum of all other factors, in one family with the primary ones",
        )
        for name, of in levels.items()
    )


@dataclass(kw_only=True)
class SpreadExperiment:
    """An experiment that compares the levels of one factor, in every stratum of the others.

    Attributes
    ----------
    experiment : str
    vary : str
        The column of the conditions that is compared: ``"judge"``, ``"factor_guideline"``.
    across : str
        What is compared, in the plural.
    each : str
        What a stratum is: ``"temperature"``, ``"judge and temperature"``.
    ratio : str
        The question that ratios of variances answer.
    published : str
        The test that the replicated study printed.
    reference : str, optional
        The level that ratios and shifts refer to; every pair by default.
    hypotheses : callable, optional
        ``hypotheses(conditions)``: hypotheses beyond the comparison of levels.
    further : callable, optional
        ``further(array, cells, questions, declared)``: results and claims that answer it.
    """

    experiment: str
    vary: str
    across: str
    each: str
    ratio: str
    published: str
    reference: str | None = None
    hypotheses: Callable[[Sequence[Condition]], tuple[Hypothesis, ...]] | None = None
    further: FurtherOf | None = None

    def plan(self, parameters: Mapping[str, Any], conditions: Sequence[Condition]) -> AnalysisPlan:
        """The plan, as it is written to the run before the first call.

        Parameters
        ----------
        parameters : mapping
            The experiment's parameters, read.
        conditions : sequence of Condition

        Returns
        -------
        AnalysisPlan
        """
        across, each = self.across, self.each
        pairs = f"pairs of {across}, within a {each}"
        return families.planned(
            self.experiment, parameters,
            Hypothesis("spread", f"Does the spread of repeated scores differ between {across}?",
                "GMD ratio of two, blocked F test on the cell statistic of more, with p by "
                "exchanging cells within items",
                f"one test per {each}", "primary"),
            Hypothesis("ratio", self.ratio,
                "GMD ratio, cells exchanged within clusters, and ratio of pooled within-cell "
                "variances, intervals over clusters, log scale", pairs),
            Hypothesis(
                "equivalence", "Where no difference is significant: are the levels equivalent?",
                f"two one-sided tests, ratio of variances within 1/{MARGIN} to {MARGIN}", pairs,
            ),
            Hypothesis("shift", f"Do mean scores differ between {across}?",
                "paired difference of means, interval over clusters", pairs),
            Hypothesis(
                "reliability", "How reliable is one judgment, and the mean of all replications?",
                "ICC(1) and Cronbach's alpha with jackknife intervals, each next to its null",
                role="descriptive",
            ),
            *(self.hypotheses(conditions) if self.hypotheses else ()),
            families.published(self.published),
            blocks=_BLOCKS, missing=_MISSING,
            margins={"variance_ratio": MARGIN},
        )  # fmt: skip

    def analyse(self, frame: pd.DataFrame, declared: AnalysisPlan) -> Analysis:
        """Answer the plan's hypotheses.

        Parameters
        ----------
        frame : DataFrame
            The parsed judgments, all conditions on the same items.
        declared : AnalysisPlan

        Returns
        -------
        Analysis
        """
        frame = frame[frame["status"] != "invalid_condition"]
        described, array = declared_conditions(frame, declared)
        cells, heated = described.table, self.vary == "temperature"
        sampled = cells[cells["temperature"] != 0] if heated else cells
        varied = [h.id for h in declared.hypotheses if h.id.startswith(_VARY)]
        questions = spread_questions(
            array, declared,
            ("spread", self.across, self.each, families.strata_of(sampled, vary=self.vary)),
            *(
                (key, f"levels of {name}", "stratum",
                 families.strata_of(sampled, vary=f"factor_{name}", ordered=True))
                for key in varied for name in [key.removeprefix(_VARY)]
            ),
            reference=self.reference,
        )  # fmt: skip
        headlines = spread_headlines(*questions)
        if not any(q.strata for q in (questions[:1] if heated else questions)):
            why = nothing_compared(sampled, self.vary, across=self.across)
            none = families.claim_headline(
                "spread", About(), p=math.nan, estimand="variance_ratio", reason=why
            )
            headlines = (none, *headlines)
        further, claims = (
            self.further(array, sampled, questions, declared) if self.further else ([], [])
        )
        compared, contrast = spread_results(*questions), _contrast_row(cells, self.vary)
        spreads = questions[0].spreads
        return Analysis(
            experiment=self.experiment,
            question=declared.question,
            drawing=factor_curve("temperature", "sem", caption=_DRAWN) if heated
            else contrast_drawing(contrast, ranked(
                "sem", "icc1", caption=f"{name_of('sem')}, and the single-rating reliability.",
                results=compared, compared="posthoc.nemenyi.",
            )),
            headlines=(*headlines, *claims),
            described=described.estimates,
            rows=(*contrast, *score_rows(cells["condition"])),
            condition_records=described.conditions,
            conditions=cells,
            results=(*compared, *further, *described.results),
            limitations=tuple(common_limits(frame, cells, array)),
            metrics={f"spread/p_value/{name}": s.p_value for name, s in spreads.items()}
            | {
                f"spread/variance_ratio/{judge}": row.estimate
                for judge, spread in (spreads if heated else {}).items()
                for row in spread.ratios.rows
                if {row.a, row.b} == {spread.conditions[0], spread.conditions[-1]}
            },
            condition_metrics=described.metrics,
            curves=_curves(cells) if heated else {},
        )  # fmt: skip


_DRAWN = f"{name_of('sem')} with 95% intervals, by sampling temperature. At 0 sampling is off."


def nothing_compared(cells: pd.DataFrame, column: str, *, across: str) -> str:
    """Why no levels were compared: one was judged, or of fewer than two anything could be read.

    Parameters
    ----------
    cells : DataFrame
        One row per condition that could be compared.
    column : str
        What is compared.
    across : str
        The same in the plural.

    Returns
    -------
    str

    Examples
    --------
    >>> cells = pd.DataFrame({"temperature": [0.3, 1.0], "n_ok": [0, 12]})
    >>> nothing_compared(cells, "temperature", across="temperatures above 0")
    'Of fewer than two temperatures above 0 could any score be read, so they were not compared.'
    """
    judged = cells[column].nunique(dropna=False)
    read = cells.loc[cells["n_ok"] > 0, column].nunique(dropna=False) if "n_ok" in cells else judged
    text = f"No two {across} were judged alike in everything else"
    if read < 2:
        text = f"Of fewer than two {across} could any score be read"
    if judged < 2:
        text = f"Fewer than two {across} were judged"
    return f"{text}, so they were not compared."


def _curves(cells: pd.DataFrame) -> dict[str, list[tuple[int, float]]]:
    """Lines over temperature; MLflow's steps are whole numbers, hence hundredths."""
    curves: dict[str, list[tuple[int, float]]] = {}
    for stratum in families.strata_of(cells, vary="temperature"):
        own = cells[cells["condition"].isin(stratum.conditions)].sort_values("temperature")
        steps = [round(100 * t) for t in own["temperature"]]
        for column, name in (("within_variance", "variance"), ("icc1", "icc1"), ("mean", "mean")):
            curves[f"curve/{name}/{stratum.name}"] = list(zip(steps, own[column], strict=True))
    return curves


def _temperature_questions(conditions: Sequence[Condition]) -> tuple[Hypothesis, ...]:
    return (
        Hypothesis("trend", "Does the spread grow with temperature?",
            "Page's L, Spearman and Kendall with intervals over clusters",
            "none: reported next to the primary test"),
        Hypothesis("judges", "At each temperature: which judge is more consistent?",
            "as for the spread, with judges instead of temperatures, paired by item; T = 0, where "
            "sampling is off, is described and enters no test",
            "one test per temperature"),
        *varied_hypotheses(conditions),
    )  # fmt: skip


def _judges_at_temperatures(
    array: ScoreArray,
    cells: pd.DataFrame,
    questions: tuple[SpreadQuestion, ...],
    declared: AnalysisPlan,
) -> Further:
    """Judges compared at each temperature, paired by item."""
    del questions
    strata = families.strata_of(cells, vary="judge")
    spreads = compare_spread(array, strata, declared)
    tests = {n: s.primary for n, s in spreads.items() if not math.isnan(s.p_value)}
    what = "spread across judges, one test per temperature"
    family = adjust_family(tests, family=what) if tests else None
    results: list[NamedResult] = []
    for stratum in strata:
        name, spread = stratum.name, spreads[stratum.name]
        if family is not None and name in tests:
            p, bound = family.p_adjusted[name], family.p_bound[name]
            spread = restrict_spread(spread, p, bound, f"judges.{name}")
        named = partial(
            NamedResult, role="secondary", hypothesis="judges", about=stratum.about,
            levels=stratum.levels,
        )  # fmt: skip
        results += [
            named(f"judges.{name}", f"Judges at {name}: spread", result=spread.primary),
            named(f"judges_ratio.{name}", f"Judges at {name}: ratios", result=spread.ratios),
        ]
    if family is not None and len(tests) > 1:
        title = "Spread between judges, adjusted"
        results.append(NamedResult("judges.family", title, "secondary", family))
    return results, []


WITHOUT = "none"
"""The level of ``reasoning`` that the others are compared with."""
_FAMILY = "all pairs of judges, temperatures and ways of reasoning"
_INTERACTION = (
    Hypothesis(
        "interaction",
        "At each temperature: does reasoning change the spread of all judges alike?",
        "ratio of the judges' variance ratios (reasoning over none), jackknife over clusters on "
        "the log scale. A claim needs an effect of reasoning in the primary family",
        _FAMILY,
    ),
    Hypothesis(
        "interaction_f",
        "Do the judges differ in the difference, not in the factor?",
        "blocked F test of the judges on differences of mean distance (reasoning minus none), p "
        "by exchanging judges within items. Judges of unequal spread can differ here although "
        "reasoning multiplies their spread by one factor",
        "one test per temperature and way of reasoning",
    ),
)

Paired = Mapping[str, tuple[Stratum, Stratum]]


def _reasoning_questions(conditions: Sequence[Condition]) -> tuple[Hypothesis, ...]:
    ways = {c.factors["reasoning"] for c in conditions}
    asked = len({c.judge for c in conditions}) > 1 and WITHOUT in ways and len(ways) > 1
    return _INTERACTION if asked else ()


def judges_with_and_without(cells: pd.DataFrame) -> Paired:
    """The judges' conditions with a way of reasoning and without, at each temperature.

    Parameters
    ----------
    cells : DataFrame
        One row per condition.

    Returns
    -------
    mapping of "way at temperature" to (Stratum, Stratum)
    """
    by_level = {
        str(level): {
            s.name.partition(" and ")[0]: s for s in families.strata_of(chosen, vary="judge")
        }
        for level, chosen in cells.groupby("factor_reasoning", sort=False)
    }
    base = by_level.pop(WITHOUT, {})
    return {
        f"{level} at {where}": (treated, base[where])
        for level, strata in by_level.items()
        for where, treated in strata.items()
        if where in base and base[where].labels == treated.labels
    }


def _interaction(
    array: ScoreArray,
    cells: pd.DataFrame,
    questions: tuple[SpreadQuestion, ...],
    declared: AnalysisPlan,
) -> Further:
    """Whether reasoning changes all judges alike: ratios of variance ratios, and differences."""
    paired = judges_with_and_without(cells)
    results, claims = _interaction_by_differences(array, paired, declared), []
    if paired:
        ratios = families.one_family({
            where: ratio_of_ratios(
                treated.scores(array), control.scores(array), groups=treated.labels,
                cluster=array.clusters, level=declared.level,
            )
            for where, (treated, control) in paired.items()
        }, family=_FAMILY)  # fmt: skip
        tests = spread_family(*questions)
        first = min(tests.p_adjusted, key=lambda name: np.nan_to_num(tests.p_adjusted[name], nan=1))
        ratios = families.restrict_pairs(
            ratios, tests.p_adjusted[first], bound=tests.p_bound[first],
            claim=first if len(questions) > 1 else questions[0].result_id("spread", first),
        )  # fmt: skip
        title = "Is the change by reasoning the same for all judges"
        results.insert(0, NamedResult("interaction", title, "secondary", ratios))
        claims = [
            families.claim_headline(
                f"interaction.{row.a}:{row.b}",
                About(stratum=f"{row.a} and {row.b}", varied="reasoning"),
                p=row.p_adjusted, p_bound=row.p_bound, estimand="variance_ratio",
                direction=families.direction_of(row.estimate - 1), family="interaction",
                rests_on=(f"interaction/{row.a}:{row.b}",), reason=row.reason,
            )
            for row in ratios.rows
        ]  # fmt: skip
    return results, claims


def _interaction_by_differences(
    array: ScoreArray, paired: Paired, declared: AnalysisPlan
) -> list[NamedResult]:
    tests: dict[str, TestResult] = {}
    for where, (treated, control) in paired.items():
        more, less = (
            cell_statistics(s.scores(array), conditions=s.labels, cluster=array.clusters)
            for s in (treated, control)
        )
        change = more.spread("mean") - less.spread("mean")
        complete = ~np.isnan(change).any(axis=1)
        if int(complete.sum()) < 3:
            continue
        tests[where] = blocked_f_test(
            change[complete], conditions=treated.labels, cluster=more.cluster[complete],
            n_comparisons=len(paired), **declared.resampling,
        ).replace(
            name="interaction_blocked_f",
            null_hypothesis="reasoning changes the mean distance of all judges alike",
        )  # fmt: skip
    title = "Differences of mean distance between judges"
    results = records.results_by_subject("interaction_f", title, "secondary", tests)
    if len(tests) > 1:
        name = f"interaction by differences, {_INTERACTION[1].family}"
        family, adjusted = adjust_family(tests, family=name), f"{title}, adjusted"
        results.append(NamedResult("interaction_f.family", adjusted, "secondary", family))
    return results


temperature = SpreadExperiment(
    experiment="temperature",
    vary="temperature",
    across="temperatures above 0",
    each="judge",
    ratio="How much larger is the variance at the higher temperature?",
    published="Spearman of variance and temperature, Kruskal-Wallis and Mann-Whitney on "
    "variances, Levene on scores centred by item and condition; all unpaired",
    hypotheses=_temperature_questions,
    further=_judges_at_temperatures,
)
"""Spread of scores by temperature, consistency of judges, and shifts of the mean."""

judges = SpreadExperiment(
    experiment="judges",
    vary="judge",
    across="judges",
    each="temperature",
    ratio="How many times the variance of one judge is that of another?",
    published="Kruskal-Wallis and Mann-Whitney on within-item variances, unpaired",
    hypotheses=varied_hypotheses,
)
"""Consistency of judges at each temperature, paired by item."""


def _contrast_row(cells: pd.DataFrame, vary: str) -> tuple[Row, ...]:
    """How much each level's repeats differ, relative to the level without any, or the lowest T."""
    sampled = cells[cells["temperature"] > 0] if vary == "temperature" else cells
    strata = families.strata_of(sampled, vary=vary)
    base = next(iter(strata[0].levels)) if vary == "temperature" and strata else WITHOUT
    ids = {
        label: f"gmd.{stratum.name}/{level}:{base}"
        for stratum in strata
        if base in stratum.levels
        for level, label in stratum.levels.items()
        if level != base
    }
    head = f"{name_of('gmd_ratio')} to {base}"
    return (results_row("gmd_ratio", head, head, "gmd_ratio", "{}", ids),) if ids else ()


guidelines = SpreadExperiment(
    experiment="guidelines",
    vary="factor_guideline",
    across="guidelines",
    each="judge and temperature",
    ratio="How many times the variance under one guideline is that under another?",
    published="Kruskal-Wallis and Mann-Whitney on within-item variances, unpaired (the study does "
    "not name its test)",
)
"""Does a scoring guideline change the spread, or is "no difference" shown?"""

reasoning = SpreadExperiment(
    experiment="reasoning",
    vary="factor_reasoning",
    across="ways of reasoning",
    each="judge and temperature",
    ratio="How many times the variance without reasoning is that with it?",
    published="Levene on vectors of variances against none, Kruskal-Wallis and Mann-Whitney on "
    "item-wise ratios between judges; all unpaired",
    reference=WITHOUT,
    hypotheses=_reasoning_questions,
    further=_interaction,
)
"""Does reasoning change the spread, and does it do so alike for all judges?"""
