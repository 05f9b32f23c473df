"""What an audit asks: of scores, whatever the data say, and what fits a frame."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from judgestats.analysis.audit_parts import both_plans, kinds
from judgestats.analysis.drawn import check_drawn, read_mix
from judgestats.analysis.plan import AnalysisPlan, Hypothesis, with_omega_model
from judgestats.analysis.single_shot import single_shot_plan
from judgestats.analysis.single_shot_verdicts import single_shot_verdict_plan
from judgestats.analysis.validity_elsewhere import read_rates
from judgestats.analysis.verdict_plan import verdict_plan

_QUESTION = "How consistent and reliable are these judgments, and which judge is steadier?"


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
                test="ICC(1) and Cronbach's alpha with intervals, each beside its null",
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
