"""Comparison of dispersion between conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import pandas as pd

from judgestats.analysis import families
from judgestats.analysis.conversion import with_items
from judgestats.analysis.records import NamedResult, smallest_adjusted, sort_by_role
from judgestats.analysis.scores import ScoreConditions, score_conditions
from judgestats.data.matrices import ScoreArray, score_array
from judgestats.results import Headline, apa_number
from judgestats.stats.dispersion.dispersion_test import SpreadResult, spread_test
from judgestats.stats.dispersion.equivalence import EquivalenceResult, equivalence_of_spread
from judgestats.stats.inference.estimate import Result
from judgestats.stats.inference.multiplicity import Family, adjust_family, p_adjust

FAMILY = "spread.family"
"""The family of all tests of spread that the answer tells."""


def described_scores(
    frame: pd.DataFrame, declared: families.AnalysisPlan
) -> tuple[pd.DataFrame, ScoreArray, ScoreConditions]:
    """The judgments that were asked, the same as an array, and the description of each condition.

    Conditions that a judge refuses (``invalid_condition``) are left out of all three.
    """
    frame = frame[frame["status"] != "invalid_condition"]
    array = score_array(frame)
    described = score_conditions(
        frame,
        array,
        **declared.resampling,
        omega_model=declared.options.get("omega_model", "parallel"),
    )
    return frame, array, described


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
    strata: tuple[families.Stratum, ...]
    spreads: Mapping[str, SpreadResult]
    equivalence: Mapping[str, EquivalenceResult]

    def result_id(self, kind: str, stratum: str) -> str:
        """Of the test (kind ``spread``), the ratios or the equivalence in a stratum."""
        if self.id == "spread":
            return f"{kind}.{stratum}"
        return f"{self.id}.{stratum}" if kind == "spread" else f"{self.id}.{kind}.{stratum}"


def spread_questions(
    array: ScoreArray,
    declared: families.AnalysisPlan,
    *questions: tuple[str, str, str, Sequence[families.Stratum]],
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
    asked = tuple(
        SpreadQuestion(
            id=identity,
            across=across,
            each=each,
            strata=tuple(strata),
            spreads=compare_spread(array, strata, declared, reference=reference, tests=tests),
            equivalence=equivalence_in(array, strata, declared),
        )
        for identity, across, each, strata in questions
    )
    return _restrict_spreads(asked) if tests else asked


def _restrict_spreads(asked: tuple[SpreadQuestion, ...]) -> tuple[SpreadQuestion, ...]:
    """The comparisons, each limited by the test of its stratum, adjusted for all strata."""
    family = spread_family(*asked)

    def restrict(question: SpreadQuestion) -> dict[str, SpreadResult]:
        labels = {name: label_of(question, name, asked[1:]) for name in question.spreads}
        return {
            name: restrict_spread(
                s,
                family.p_adjusted[labels[name]],
                family.p_bound[labels[name]],
                question.result_id("spread", name),
            )
            for name, s in question.spreads.items()
        }

    return tuple(replace(question, spreads=restrict(question)) for question in asked)


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
    strata: Sequence[families.Stratum],
    declared: families.AnalysisPlan,
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
        {
            label_of(q, name, others): s.blocked_f
            for q in questions
            for name, s in q.spreads.items()
        },
        family=f"spread across {across}, one test per {first.each if not others else 'stratum'}",
        method="holm",
    )


def test_ids(*questions: SpreadQuestion) -> dict[str, str]:
    """Ids of the tests in the family of `spread_family`, by their labels there."""
    _, *others = questions
    return {
        label_of(q, name, others): q.result_id("spread", name)
        for q in questions
        for name in q.spreads
    }


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
        family = spread_family(*questions)
        results.append(NamedResult(FAMILY, title, "primary", family))
    results += [
        NamedResult(f"equivalence.{s.name}", f"Equivalence of spread, {s.name}", "secondary",
                    questions[0].equivalence[s.name], about=s.about,
                    levels=s.levels)
        for s in questions[0].strata
    ]  # fmt: skip
    return sort_by_role(results)


def _results(question: SpreadQuestion, stratum: families.Stratum) -> list[NamedResult]:
    """The test of a stratum with trends, ranks, pairs, ratios, and shifts."""
    spread, what = question.spreads[stratum.name], question.across
    first = question.id == "spread"
    over, across = ("", "") if first else (f" over {what}", f" across {what}")
    trends = [(f"trend.{t.name}", f"Trend of spread{over}", t, "") for t in spread.trend]
    ratios = ("ratio", f"Ratios of variances{across}", spread.ratios, "")
    test = ("spread", f"Spread across {what}", spread.blocked_f, "")
    rows: list[tuple[str, str, Result | None, str]] = [
        test, *trends,
        ("ranks", "Ranks of spread", spread.rank_test, "spread"),
        ("ranks_f", "Ranks of spread, F", spread.iman_davenport, "spread"),
        *((f"posthoc.{p.name}", f"Which {what}", p, "spread") for p in spread.post_hoc),
        ("gmd", "GMD ratios", spread.gmd_ratios, "ratio"), ratios,
        ("shift", "Shifts of the mean", spread.shifts, ""),
    ] if first else [
        test, *trends, ratios,
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


def equivalence_in(
    array: ScoreArray, strata: Sequence[families.Stratum], declared: families.AnalysisPlan
) -> dict[str, EquivalenceResult]:
    """Two one-sided tests of every pair in every stratum, against the declared margin."""
    return {
        s.name: equivalence_of_spread(
            s.scores(array),
            conditions=s.labels,
            cluster=array.clusters,
            margin=declared.margins["variance_ratio"],
        )
        for s in strata
    }


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
    floor = smallest_adjusted(
        [t.p_floor for t in family.tests.values()],
        method=family.adjust,
    )
    headlines = []
    for (question, stratum, name), p_alike in zip(placed, alike, strict=True):
        test = question.spreads[name].blocked_f
        label = label_of(question, name, questions[1:])
        p, reason = family.p_adjusted[label], test.reason
        if families.claim_of(p, p_alike) == "open" and floor > families.LEVEL:
            reason = f"with so few questions no p below {apa_number(floor, bounded=True)} exists"
        kinds = ("spread", "equivalence", "ratio", *_compared(question, name))
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


def _compared(question: SpreadQuestion, name: str) -> tuple[str, ...]:
    """The ratios of what the test compares, where these are not variances."""
    first = question.id == "spread"
    return ("gmd",) if first and question.spreads[name].gmd_ratios is not None else ()


def _direction(spread: SpreadResult) -> Literal["", "higher", "lower"]:
    """Whether the last condition varies more or less than the first."""
    if spread.summary is None:
        return ""
    low, high = (
        spread.summary[c].variance.estimate for c in (spread.conditions[0], spread.conditions[-1])
    )
    if high > low:
        return "higher"
    return "lower" if high < low else ""
