"""Length, place, authorship, scale and the shape of scores: what moves a judge besides quality."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from judgestats.analysis.asked_rows import asked_row
from judgestats.analysis.bias_answer import (
    authorship_told,
    bias_headlines,
    length_told,
    place_told,
    what_to_do,
)
from judgestats.analysis.bias_probes import POINTS, probed, things_of
from judgestats.analysis.bias_table import bias_table, own_authors
from judgestats.analysis.bias_tests import (
    OF_JUDGES,
    padding_results,
    position_results,
    preference_results,
    scales_results,
    shapes_results,
    unread_results,
)
from judgestats.analysis.drawings import ranked
from judgestats.analysis.families import jointly
from judgestats.analysis.outcome import Analysis
from judgestats.analysis.pair_methods import judged_pairs
from judgestats.analysis.plan import AnalysisPlan, Hypothesis
from judgestats.analysis.scores import cell_arrays
from judgestats.analysis.selections import selection_limits
from judgestats.errors import InputError
from judgestats.items.schema import Item
from judgestats.judgments.design import Condition
from judgestats.results import Row
from judgestats.stats.inference.result import Result

__all__ = ["MARGINS", "analyse", "plan"]

MARGINS = {"padding_points": 0.25, "preference": 0.1, "variance_ratio": 1.5}
"""Declared margins: a quarter point of a 1-10 scale; .10 in the share of verdicts (the first place
chosen in .55 against .45); a ratio of variances between 1/1.5 and 1.5."""

_REGRESSION = (
    "regression of the judge's preference on people's, the log length ratio and authorship"
)


def plan(parameters: Mapping[str, Any], conditions: Sequence[Condition]) -> AnalysisPlan:
    """The plan, as it is written to the run before the first call."""
    if parameters["scale"] != POINTS:
        raise InputError(
            f"scale: bias asks for scores on the scales of scales= and tells them in points of "
            f"{POINTS}, got {parameters['scale']}. Write scales={parameters['scale']},... instead."
        )
    asked = {c.judge for c in conditions}
    stray = [j for j in parameters["own"] if j not in asked and not j.startswith("sim-")]
    if stray:  # a simulated judge may stand in the defaults, whatever judges are asked
        raise InputError(
            f"own: {stray[0]!r} is not among the judges that are asked. Write own=judge=author "
            f"with one of {', '.join(sorted(asked))}."
        )

    def primary(identity: str, question: str, test: str, family: str) -> Hypothesis:
        return Hypothesis(
            id=identity, role="primary", question=question, test=test, family=family,
            adjustment="holm",
        )  # fmt: skip

    def further(identity: str, question: str, test: str, family: str) -> Hypothesis:
        return Hypothesis(
            id=identity, role="secondary", question=question, test=test, family=family,
            adjustment="holm",
        )  # fmt: skip

    declared = AnalysisPlan(
        experiment="bias",
        question=(
            "Do length, place, authorship or the scale move a judge's verdicts, and are its scores "
            "normally distributed?"
        ),
        blocks=(
            "The answer and the pair are the blocks; those of one question are kept together. "
            "Scores are told in points of a 1-10 scale, whatever scale was asked for."
        ),
        missing=(
            "A judgment that could not be read is left out; the rates are reported. Where there "
            "are any, the primary tests are given again: on answers read completely, and "
            "with unread verdicts as verdicts for neither place."
        ),
        n_resamples=int(parameters["resamples"]),
        seed=int(parameters["seed"]),
        margins=MARGINS,
        options={j: a for j, a in dict(parameters["own"]).items() if j in asked},
        hypotheses=(
            primary(
                "padding",
                "Does padding that adds nothing change the score of an answer?",
                "mean score padded minus original, paired by answer, interval over questions",
                f"{OF_JUDGES}, scales; with place and authorship, which the answer tells too",
            ),
            primary(
                "position",
                "Does the verdict follow the place?",
                "blocked F test of the shares of both places, exchanged within questions; their "
                "difference; exact sign test of leaning; place apart from repetition noise",
                OF_JUDGES,
            ),
            further(
                "equivalence",
                "Where no effect is seen: is it shown to be small?",
                f"two one-sided tests: padding within {MARGINS['padding_points']} points, place, "
                f"length and authorship within {MARGINS['preference']} of the verdicts, ratio of "
                f"variances within 1/{MARGINS['variance_ratio']} to {MARGINS['variance_ratio']}",
                "per question, as there",
            ),
            further(
                "length",
                "Among real answers: does the judge prefer longer ones that people like alike?",
                _REGRESSION,
                OF_JUDGES,
            ),
            further(
                "own",
                "Does a judge prefer its own answers more than people do?",
                f"{_REGRESSION}, so that length is held constant; beside it its share for its own "
                "answer minus people's, paired by pair (only where it is the author of some)",
                OF_JUDGES,
            ),
            further(
                "scale",
                "Does the scale change the spread relative to its width?",
                "blocked F on cells of scores in points of a 1-10 scale; ratios of variances",
                OF_JUDGES,
            ),
            further(
                "shift",
                "Does the scale change the mean?",
                "mean shift in points of a 1-10 scale, paired by answer",
                f"pairs of scales, {OF_JUDGES}",
            ),
            Hypothesis(
                id="shape",
                role="secondary",
                question="Are repeated scores normally distributed?",
                test="excess kurtosis and skewness of scores centred by item, with intervals over "
                "questions; D'Agostino-Pearson beside them",
                family="not adjusted: the sizes are to be read",
            ),
            Hypothesis(
                id="reliability",
                role="descriptive",
                question="How reliable is one score on each scale, and the mean of all?",
                test="ICC(1) and parallel omega, each beside its null",
            ),
        ),
    )
    return declared if len(parameters["scales"]) > 1 else declared.without("scale", "shift")


def analyse(frame: pd.DataFrame, declared: AnalysisPlan, *, items: Sequence[Item]) -> Analysis:
    """Answer the plan's hypotheses.

    Parameters
    ----------
    frame : DataFrame
        The parsed judgments, with ``factor_probe``.
    declared : AnalysisPlan
    items : sequence of Item
        With a padded twin of one response each.

    Returns
    -------
    Analysis
    """
    frame = frame[frame["status"] != "invalid_condition"]
    pairs, things = judged_pairs(items), things_of(items)
    own = own_authors(frame, items, declared.options)
    probes = probed(frame, items=items, pairs=pairs, things=things, own=own)
    described = bias_table(frame, probes, things, pairs, declared)
    clusters = pairs.table.clusters
    results = [
        *padding_results(probes, things, declared),
        *position_results(probes, clusters, declared),
        *preference_results(probes, clusters, declared),
        *scales_results(probes, things, declared),
        *shapes_results(probes, things, declared),
        *described.results,
    ]
    unread = bool((frame["status"] != "ok").any())
    if unread:
        results += unread_results(probes, things, clusters, declared)
    order = {"primary": 0, "secondary": 1, "descriptive": 2}
    results.sort(key=lambda r: order[r.role])
    for ids in (
        ("padding", "position.family", "own"),
        ("equivalence.padding", "equivalence.position", "equivalence.own"),
    ):
        results = jointly(
            results, ids, family="padding, place and authorship: judges and temperatures"
        )
    by_id: dict[str, Result] = {r.id: r.result for r in results}
    headlines = bias_headlines(by_id, probes)
    sentences = [part(headlines, by_id) for part in (length_told, place_told, authorship_told)]
    return Analysis(
        experiment="bias",
        question=declared.question,
        drawing=ranked(
            "padding_shift",
            "first_place",
            "swap_consistency",
            caption="What empty words add to a score, how often the first place is preferred, and "
            "how often a verdict survives a swap.",
        ),
        sentence=f"{'; '.join(t for t in sentences if t)}.",
        headlines=headlines,
        conditions=described.table,
        results=tuple(results),
        limitations=(
            *selection_limits(frame, described.table),
            *_limits(own, declared, described.table),
        ),
        recommendation=what_to_do(headlines),
        rows=_rows(
            [p.where for p in probes], list(dict.fromkeys(s for p in probes for s in p.scores))
        ),
        condition_metrics=described.metrics,
        arrays=cell_arrays(described.array) if described.array is not None else {},
    )


def _rows(subjects: Sequence[str], scales: Sequence[str]) -> tuple[Row, ...]:
    """By how much each judge follows padding, place and authorship, of which it should none."""
    where = scales[0] if scales else ""
    return (
        asked_row(
            "padding",
            "empty words add",
            "empty words",
            "mean_difference",
            f"padding/padded ({{}}, {where}):original",
            subjects,
            note=f"({where})",
        ),
        asked_row(
            "position",
            "first place preferred",
            "first place",
            "first_position_share",
            "position.{}/first_position_share",
            subjects,
            note="(.50: no preference)",
        ),
        asked_row(
            "swap",
            "same when shown swapped",
            "same if swapped",
            "swap_consistency",
            "position.swap.{}",
            subjects,
        ),
        asked_row(
            "own",
            "its own answers gain",
            "own answers",
            "preference_change",
            "own/its own answer ({}):another's answer",
            subjects,
        ),
    )


def _limits(own: Mapping[str, str], declared: AnalysisPlan, table: pd.DataFrame) -> list[str]:
    limits = []
    if not own:
        limits.append(
            "Self-preference was not examined: no judge bears the name of an author, and none is "
            "named as one (own=judge=author)."
        )
    else:
        text = ", ".join(f"{j} (answers of {a})" for j, a in own.items())
        limits.append(
            f"Own answers: {text}. People's preference is held constant as far as their labels "
            "go; with few labels a pair it is known with error, and a judge that sees quality "
            "better than they do can seem partial."
        )
    missing = [j for j in declared.options if j not in own]
    if missing:
        limits.append(
            f"own= names authors that wrote none of the labelled answers, for {', '.join(missing)}."
        )
    related = table.get("mean_spread_correlation")
    if related is not None and float(related.min()) < -0.3:
        limits.append(
            "Answers with high means scatter less (correlation down to "
            f"{related.min():.2f}): read mean and spread of the scales together."
        )
    return limits
