"""Can this judge be trusted? The analysis of judgments that people already have."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.asked_rows import people_rows, score_rows, true_rows
from judgestats.analysis.audit_answer import audit_headlines, audit_sentence
from judgestats.analysis.audit_parts import both_audits, both_plans, kinds
from judgestats.analysis.drawings import DRAWN, DRAWN_SCORES, ranked
from judgestats.analysis.drawn import check_drawn, drawn_as, read_mix
from judgestats.analysis.instrument import instrument_limits, instrument_metrics, instrument_rows
from judgestats.analysis.item_names import with_items
from judgestats.analysis.limits import common_limits, limits_of_conditions
from judgestats.analysis.outcome import Analysis, NamedResult
from judgestats.analysis.plan import AnalysisPlan, Hypothesis, with_omega_model
from judgestats.analysis.recommend import recommend_reliable
from judgestats.analysis.scores import ScoreConditions, cell_arrays, score_conditions
from judgestats.analysis.single_shot import (
    NOT_REPEATED,
    constant_limits,
    described_once,
    label_limits,
    other_results,
    repeat_limits,
    repetition,
    single_shot_conditions,
    single_shot_plan,
    single_shot_sentence,
    with_people,
)
from judgestats.analysis.single_shot_verdicts import single_shot_verdict_plan
from judgestats.analysis.validity import validity_metrics
from judgestats.analysis.validity_elsewhere import check_rates, read_rates
from judgestats.analysis.validity_k import recommend_by_labels
from judgestats.analysis.validity_tuning import marked_as_tuned
from judgestats.analysis.validity_warnings import label_warnings
from judgestats.analysis.verdicts import audit_verdicts, verdict_plan
from judgestats.errors import InputError
from judgestats.judgments.readers.frame import bare, in_reading_order
from judgestats.judgments.schemas import validate_parsed
from judgestats.judgments.shapes import ScoreArray, score_array
from judgestats.stats.inference.result import Comparisons, Result
from judgestats.stats.spread.mean_shift import mean_shift
from judgestats.stats.spread.spread_between_conditions import SpreadResult, spread_test

__all__ = ["audit", "audit_read", "comparison_results", "plan", "plan_for"]

_QUESTION = "How consistent and reliable are these judgments, and which judge is steadier?"
_MOST_CONDITIONS = 12


def plan(*, n_resamples: int = 999, seed: int = 0, level: float = 0.95) -> AnalysisPlan:
    """What an audit always asks, whatever the data say.

    Parameters
    ----------
    n_resamples, seed : int
        Of bootstraps and permutations.
    level : float
        Of the intervals.

    Returns
    -------
    AnalysisPlan
    """
    return AnalysisPlan(
        experiment="audit",
        question=_QUESTION,
        blocks=(
            "The item is the block; only items judged under every compared condition enter a "
            "comparison. Intervals and permutations keep the items of a cluster together."
        ),
        missing=(
            "A judgment without a verdict has a status and no score; the rates are reported by "
            "condition."
        ),
        level=level,
        n_resamples=n_resamples,
        seed=seed,
        hypotheses=(
            Hypothesis(
                id="reliability",
                role="primary",
                question="How reliable is one judgment, and the mean of all replications?",
                test="ICC(1) and parallel omega with intervals, each beside its null",
            ),
            Hypothesis(
                id="spread",
                role="secondary",
                question="Does the spread of repeated scores differ between conditions?",
                test="blocked F test on the cell statistic, p by exchanging cells within items",
                family="all conditions that share items: one test, and the claims on spread, means "
                "and agreement with people",
                adjustment="holm",
            ),
            Hypothesis(
                id="ratio",
                role="secondary",
                question="Which condition is steadier, by how much?",
                test="ratio of mean distances and of pooled within-cell variances, intervals over "
                "clusters",
                family="pairs of conditions",
                adjustment="holm",
            ),
            Hypothesis(
                id="shift",
                role="secondary",
                question="Which condition gives higher scores?",
                test="paired difference of means, interval over clusters",
                family="pairs of conditions",
                adjustment="holm",
            ),
            Hypothesis(
                id="best",
                role="secondary",
                question="Which condition may be the most reliable?",
                test="comparisons with the best, ICC(1,1), simultaneous over clusters; at T = 0 "
                "one draw is repeated, so it is no candidate",
                family="all conditions with sampling",
                adjustment="simultaneous",
            ),
        ),
    )


def plan_for(
    frame: pd.DataFrame,
    *,
    n_resamples: int = 999,
    seed: int = 0,
    level: float = 0.95,
    labels_drawn: str = "",
    mix: str = "",
    omega_model: str = "parallel",
    sensitivity: str = "",
    specificity: str = "",
) -> AnalysisPlan:
    """The plan that fits what a frame holds: scores, or verdicts in words.

    Parameters
    ----------
    frame : DataFrame
        A parsed frame.
    n_resamples, seed : int
    level : float
    labels_drawn : str
        How the labelled items were chosen; empty where it is not said.
    mix : str
        See `audit`.
    omega_model : str
        See `audit`.
    sensitivity, specificity : str
        See `audit`.

    Returns
    -------
    AnalysisPlan
    """
    drawn = {"labels_drawn": labels_drawn} if check_drawn(labels_drawn) else {}
    if read_mix(mix):
        drawn["mix"] = mix
    given = {"sensitivity": sensitivity, "specificity": specificity}
    drawn |= given if read_rates(given) else {}
    scores = plan(n_resamples=n_resamples, seed=seed, level=level)
    scores = with_omega_model(replace(scores, options=drawn), omega_model)
    verdicts = verdict_plan(n_resamples=n_resamples, seed=seed, level=level)
    verdicts = replace(verdicts, options={**verdicts.options, **drawn})
    in_scores, in_words = kinds(frame)
    if in_scores and in_words:
        worded = frame["condition"].isin(in_words)
        return both_plans(
            single_shot_plan(scores, frame[~worded]),
            single_shot_verdict_plan(verdicts, frame[worded]),
        )
    return (
        single_shot_plan(scores, frame) if in_scores else single_shot_verdict_plan(verdicts, frame)
    )


def audit(
    judgments: pd.DataFrame,
    *,
    n_resamples: int = 999,
    seed: int = 0,
    level: float = 0.95,
    labels_drawn: str = "",
    mix: str = "",
    omega_model: str = "parallel",
    sensitivity: str = "",
    specificity: str = "",
) -> Analysis:
    """Audit a frame of judgments: reliability and spread per condition, and paired comparisons.

    Parameters
    ----------
    judgments : DataFrame
        A judgments frame, as `judgestats.read_judgments` returns it.
    n_resamples, seed : int
        Of bootstraps and permutations.
    level : float
        Of the intervals.
    labels_drawn : {"random", "stratified", "by-verdict", "convenience"}, optional
        How the labelled items were chosen; by default as their chances (a column ``chance`` of
        the labels) show, else random is assumed, and said.
    mix : str
        Share of each category in the traffic that corrected rates are for: ``chat=.8,code=.2``.
    omega_model : {"parallel", "tau-equivalent", "congeneric"}
        Its omega stands beside the parallel one, which exchangeable replications imply; chosen
        before the data are seen, never by its fit.
    sensitivity, specificity : str
        The judge's rates in another study with their numbers of labels, ``137/149`` or ``.92/149``:
        where these judgments have no labels, the pass rate is corrected by them.

    Returns
    -------
    Analysis
        Prints as a summary that ends in one plain sentence.

    Raises
    ------
    InputError
        No judgment has a score or a choice.

    Examples
    --------
    >>> import pandas as pd
    >>> from judgestats.judgments.readers.frame import parsed_frame
    >>> rows = [dict(judge="J", temperature=1.0, item_id=f"i{i}", cluster=f"i{i}", replicate=r,
    ...              score=float(3 + i % 5 + (i + r) % 2), status="ok")
    ...         for i in range(12) for r in range(4)]
    >>> found = audit(parsed_frame(pd.DataFrame(rows)), n_resamples=99)
    >>> found.conditions["n_items"].tolist()
    [12]
    """
    return audit_read(
        validate_parsed(judgments),
        notes=judgments.attrs.get("notes", ()),
        n_resamples=n_resamples,
        seed=seed,
        level=level,
        labels_drawn=labels_drawn,
        mix=mix,
        omega_model=omega_model,
        sensitivity=sensitivity,
        specificity=specificity,
    )


def audit_read(frame: pd.DataFrame, *, notes: Iterable[object] = (), **options: Any) -> Analysis:
    """Audit a frame that has just been read, and was validated there.

    Parameters
    ----------
    frame : DataFrame
        As `judgestats.read_judgments` returned it.
    notes : iterable of str
        What the data leave open.
    **options
        As `audit` takes them.

    Returns
    -------
    Analysis
    """
    options = {"n_resamples": 999, "seed": 0, "labels_drawn": "", **options}
    frame = bare(in_reading_order(frame))
    in_scores, in_words = kinds(frame)
    if not (in_scores or in_words):
        raise InputError(
            f"audit: none of the {len(frame)} judgments could be read "
            f"({', '.join(f'{n} {s}' for s, n in frame['status'].value_counts().items())}), so "
            "nothing can be described. Look at their reason column; verdicts in words need a "
            "choice column: read_judgments(..., mapping={'choice': 'COLUMN'})."
        )
    if in_scores and in_words:
        audits = both_audits(
            frame,
            in_words,
            scores=lambda part: _audit_scores(part, plan_for(part, **options)),
            verdicts=lambda part: audit_verdicts(part, plan_for(part, **options)),
        )
    elif in_scores:
        audits = _audit_scores(frame, plan_for(frame, **options))
    else:
        audits = audit_verdicts(frame, plan_for(frame, **options))
    read_notes = list(map(str, notes))
    if (
        options["labels_drawn"] == "by-verdict"
        and "chance" not in frame
        and len(audits.conditions) > 1
    ):
        read_notes.append(
            "Labels drawn by verdict are weighted in each condition by its own verdicts, which is "
            "right for the judge that they were drawn by and for no other: a column chance beside "
            "the labels serves all."
        )
    warned = label_warnings(audits.results)
    audits = replace(audits, limitations=(*warned, *audits.limitations, *read_notes))
    return marked_as_tuned(audits, [frame])


def _audit_scores(frame: pd.DataFrame, declared: AnalysisPlan) -> Analysis:
    check_rates(frame, declared)
    n_resamples, seed, level = declared.n_resamples, declared.seed, declared.level
    array = score_array(frame)
    described = score_conditions(
        frame, array, level=level, n_permutations=n_resamples, seed=seed,
        omega_model=declared.options.get("omega_model", "parallel"),
    )  # fmt: skip
    once = single_shot_conditions(frame)
    others = other_results(frame, array, declared)
    if all(once.values()):
        return _audit_once(frame, array, described, others, declared)
    results = [_primary(r) for r in described.results if not once[r.id.split(".", 2)[2]]]
    results += others
    cells = with_people(described.table, others)
    compared, shifts = _compare(array, cells, declared)
    results += comparison_results(compared, shifts)
    headlines = audit_headlines(results)
    advice, rests_on = recommend_reliable(cells, array)
    return Analysis(
        experiment="audit",
        question=_QUESTION,
        drawing=ranked(*DRAWN_SCORES, caption=DRAWN),
        sentence=audit_sentence(cells, headlines, results),
        headlines=headlines,
        conditions=cells,
        results=(*results, *rests_on),
        limitations=(
            *common_limits(frame, cells, array),
            *repeat_limits(frame),
            *label_limits(frame),
            *instrument_limits(frame, declared, results),
        ),
        recommendation=recommend_by_labels(results, frame) or advice,
        described=described.estimates,
        condition_records=described.conditions,
        rows=(
            *score_rows(cells["condition"]),
            *people_rows(
                cells["condition"],
                *true_rows(cells["condition"], "greg", labels_drawn=drawn_as(declared)),
                labels_drawn=drawn_as(declared),
            ),
            *instrument_rows(frame, results),
        ),
        metrics=_metrics(described, compared),
        condition_metrics=_and_people(described.metrics, cells, others),
        arrays=cell_arrays(array),
    )


def _audit_once(
    frame: pd.DataFrame,
    array: ScoreArray,
    described: ScoreConditions,
    results: list[NamedResult],
    declared: AnalysisPlan,
) -> Analysis:
    """The audit of scores of which none was repeated: all but consistency."""
    table = described_once(described.table, frame, results)
    limits = limits_of_conditions(
        described.table, n_clusters=len(set(array.clusters)), sizes=np.zeros(0, dtype=np.int64)
    )
    metrics = {
        name: {k: v for k, v in values.items() if k in _ONCE_METRICS}
        for name, values in described.metrics.items()
    }
    return Analysis(
        experiment="audit",
        question=declared.question,
        drawing=ranked(*DRAWN_SCORES, caption=DRAWN),
        sentence=single_shot_sentence(table, results),
        headlines=audit_headlines(results),
        conditions=table,
        results=tuple(results),
        limitations=(
            NOT_REPEATED,
            *constant_limits(table),
            *limits,
            *label_limits(frame),
            *instrument_limits(frame, declared, results),
        ),
        recommendation=repetition(frame, seed=declared.seed),
        described=tuple(r for r in described.estimates if r.id.startswith("condition.mean.")),
        rows=(
            score_rows(table["condition"])[-1],
            *people_rows(
                table["condition"],
                *true_rows(table["condition"], "greg", labels_drawn=drawn_as(declared)),
                labels_drawn=drawn_as(declared),
            ),
            *instrument_rows(frame, results),
        ),
        condition_metrics=_and_people(metrics, table, results),
    )


def _and_people(
    metrics: Mapping[str, Mapping[str, float]], table: pd.DataFrame, results: list[NamedResult]
) -> dict[str, dict[str, float]]:
    """Each condition's metrics with what people's ratings say of it, where there are some."""
    out = {
        name: dict(values)
        | validity_metrics(
            (r.id.removesuffix(f".{name}"), r.title, r.result)
            for r in results
            if r.id.endswith(f".{name}")
        )
        | instrument_metrics(results, name)
        for name, values in metrics.items()
    }
    for row in table.to_dict("records"):
        if not math.isnan(row.get("pearson", math.nan)):
            out[str(row["condition"])]["people/pearson"] = row["pearson"]
    return out


_ONCE_METRICS = frozenset(
    {
        "score/mean", "ci/score/mean.lo", "ci/score/mean.hi", "quality/unread_share",
        "quality/unanswered_share", "cost/usd", "cost/latency_s", "cost/tokens_out",
    }
)  # fmt: skip


def _primary(named: NamedResult) -> NamedResult:
    """Of one judgment and of the mean; an omega of another model stands beside."""
    is_reliability = named.id.split(".")[1] in {"icc1", "omega"}
    return replace(
        named, role="primary" if is_reliability else "secondary", headline=is_reliability
    )


def _compare(
    array: ScoreArray, cells: pd.DataFrame, declared: AnalysisPlan
) -> tuple[SpreadResult | None, Comparisons | None]:
    """The paired comparisons of conditions that share items: of spread, and of means.

    At T = 0 the spread is 0 by construction: such conditions are compared in their means alone.
    """
    counted = np.sum(~np.isnan(array.scores), axis=2)
    cold = set(cells.loc[cells["temperature"] == 0, "condition"])
    warm = [i for i, name in enumerate(array.conditions) if name not in cold]

    def shared(columns: Sequence[int]) -> bool:
        """Whether at least three items have two scores in each of several conditions."""
        enough = int(np.all(counted[:, columns] >= 2, axis=1).sum()) >= 3
        return 2 <= len(columns) <= _MOST_CONDITIONS and enough

    everything = range(len(array.conditions))
    spread, shifts = None, None
    if shared(warm):
        spread = with_items(
            spread_test(
                array.scores[:, warm],
                conditions=[array.conditions[i] for i in warm],
                cluster=array.clusters,
                level=declared.level,
                n_permutations=declared.n_resamples,
                n_resamples=declared.n_resamples,
                seed=declared.seed,
            ),
            array.items,
        )
        shifts = spread.shifts
    if cold and shared(everything):
        shifts = mean_shift(
            array.scores,
            conditions=array.conditions,
            cluster=array.clusters,
            level=declared.level,
        )
    return spread, shifts


def comparison_results(
    spread: SpreadResult | None, shifts: Comparisons | None
) -> list[NamedResult]:
    """The results of a comparison of all conditions, named and with their role."""
    listed: list[tuple[str, str, Result]] = []
    if spread is not None:
        listed += [
            ("spread.all", "Spread of all conditions", spread.blocked_f),
            ("ranks.all", "Ranks of spread", spread.rank_test),
            *((f"posthoc.{f.name}", "Which conditions", f) for f in spread.post_hoc),
            *(
                [("distance.all", "Ratios of mean distances", spread.distance_ratios)]
                if spread.distance_ratios is not None
                else []
            ),
            ("ratio.all", "Ratios of variances", spread.ratios),
        ]
    if shifts is not None:
        listed.append(("shift.all", "Differences of mean scores", shifts))
    return [
        NamedResult(
            id=identity,
            title=title,
            role="secondary",
            result=result,
            headline=True,
            hypothesis=_ANSWERS.get(identity.partition(".")[0], ""),
        )
        for identity, title, result in listed
    ]


_ANSWERS = {"ranks": "spread", "posthoc": "spread", "distance": "ratio"}
"""Hypotheses of results whose ids do not begin with them."""


def _metrics(described: ScoreConditions, compared: SpreadResult | None) -> dict[str, float]:
    table = described.table
    out: dict[str, float] = {}
    if len(table) == 1:
        out |= described.metrics[table["condition"].iloc[0]]
    if compared is not None:
        out["spread/p_value"] = compared.blocked_f.p_value
    return out
