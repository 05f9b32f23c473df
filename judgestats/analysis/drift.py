"""The same judge and items at two dates or versions: what changed beyond asking again."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.audit import verdict_plan
from judgestats.analysis.copies import find_copies, handled_copies, without_copies
from judgestats.analysis.drift_claims import (
    at_family_level,
    drift_headlines,
    drift_weights,
    left_out_items,
    with_labelled,
    with_reach,
    with_split,
)
from judgestats.analysis.drift_tests import (
    both_runs,
    match_conditions,
    pair_label,
    rerun_of,
    share_rows,
    tests_of_pair,
)
from judgestats.analysis.limits import Limit, common_limits
from judgestats.analysis.records import Analysis, NamedResult
from judgestats.analysis.scores import score_conditions
from judgestats.analysis.summary_rows import declared_row
from judgestats.analysis.verdict_audit import audit_verdicts
from judgestats.analysis.verdict_consistency import outcomes
from judgestats.data.matrices import score_array
from judgestats.results import Drawing, Row
from judgestats.stats import adjust_family
from judgestats.stats.agreement.run_change import Target
from judgestats.stats.inference.multiplicity import Family
from judgestats.stats.inference.result import TestResult

_QUESTION = "Has the judge changed between the two runs, beyond what asking again changes?"
_FAMILY = "change between the runs, one test for each condition and aspect"
_NO_BASELINE = Limit(
    "No unchanged re-run of the first run was given (--baseline): a service that varies from day "
    "to day by itself counts as changed.",
    code="no_baseline",
    short="no unchanged re-run (--baseline)",
)


def drift(
    before: pd.DataFrame,
    after: pd.DataFrame,
    *,
    baseline: pd.DataFrame | None = None,
    anchors: pd.DataFrame | None = None,
    pairs: Mapping[str, str] | None = None,
    n_resamples: int = 999,
    seed: int = 0,
    level: float = 0.95,
    omega_model: str = "parallel",
    comparisons: int = 1,
    target: Target = "new items",
    margin: float = math.nan,
    duplicates: str = "cluster",
) -> Analysis:
    """Compare two runs of a judge on the items they share.

    Parameters
    ----------
    before, after : DataFrame
        Parsed judgments of the two runs.
    baseline : DataFrame, optional
        The first run done again with nothing changed (an A/A re-run): shifts of the mean and
        changed verdicts are then counted beyond what that re-run changed. A service that varies
        from day to day changes without being changed.
    anchors : DataFrame, optional
        Answers of the first run, unchanged, judged again by today's judge. The second run may then
        be of other answers: the tests are of the anchors, and the total change of the mean (of
        passes) is split into the judge's on unchanged answers and the system's as today's judge
        sees it. Anchors are to be drawn at random.
    pairs : mapping, optional
        See `match_conditions`.
    n_resamples : int
        Permutations of each test; more are drawn where the family needs them.
    seed : int
    level : float
    omega_model : {"parallel", "tau-equivalent", "congeneric"}
        Its omega of each run stands beside the parallel one.
    comparisons : int
        Of so many comparisons of runs this is one: p is adjusted for all.
    target : {"new items", "these items"}
        What the estimate, interval, and p of the mean, pass rate or win rate hold for.
    margin : float
        Change of it that counts as none; by default .05 of rates, 5% of the range of scores.
    duplicates : {"cluster", "drop", "keep", "refuse"}
        What becomes of items that repeat another item's text, or its replies in both runs:
        `join_copies`.

    Returns
    -------
    Analysis
        Tests of one family, paired by item: the mean score, pass rate or win rate, the spread of
        repeated scores, the flip rate, and verdicts that differ between the runs more often than
        within them. Next to them the reliability in each run. A headline each.

    Raises
    ------
    InputError
        The runs share no condition, or fewer than three items.

    Notes
    -----
    Where items are labelled the changes of agreement with people, sensitivity and specificity on
    the same answers lead. Estimate, interval and p of a line have one target (`run_change`);
    the spread exchanges whole cells. Weighted Holm: the mean, pass rate or win rate weighs .8, all
    others .2, and intervals are of the same levels. No change is claimed where the 90% interval of
    the leading quantity lies within the margin. Runs that judged once show the direction of a
    shift at most.

    Examples
    --------
    >>> from judgestats.data.readers.frame import parsed_frame
    >>> def run(bump):
    ...     return parsed_frame(pd.DataFrame([
    ...         dict(judge="J", temperature=1.0, item_id=f"i{i}", cluster=f"i{i}", replicate=r,
    ...              score=float(2 + i % 5 + (i + r) % 2 + bump), status="ok")
    ...         for i in range(12) for r in range(4)]))
    >>> found = drift(run(0), run(1), n_resamples=99)
    >>> round(found["shift.J, T=1"].effect.estimate, 6), found.headlines[0].claim
    (1.0, 'differs')
    """
    if anchors is not None:
        matched = match_conditions(before, after, pairs=pairs)
        plain = [f.drop(columns="label", errors="ignore") for f in (before, anchors)]
        analysis = drift(
            *plain, baseline=baseline, n_resamples=n_resamples, seed=seed, level=level,
            omega_model=omega_model, comparisons=comparisons, target=target, margin=margin,
            duplicates=duplicates,
        )  # fmt: skip
        return with_split(analysis, before, anchors, after, matched, level=level)
    chosen = match_conditions(before, after, pairs=pairs)
    joined, counts = both_runs(before, after, chosen)
    copies = handled_copies(find_copies(joined), duplicates)
    joined, before, after = (without_copies(f, copies) for f in (joined, before, after))
    scored = bool(joined["score"].notna().any())
    if not scored:
        joined = joined.assign(choice=outcomes(joined["choice"]))
    table, described, limits, metrics = _described(
        joined, n_resamples=n_resamples, seed=seed, level=level, scored=scored,
        omega_model=omega_model,
    )  # fmt: skip
    joint = copies.limits if copies.groups else ()
    limits = (*left_out_items(counts), *joint, *limits)
    if baseline is None:
        limits = (*limits, _NO_BASELINE)
    again = None if baseline is None else rerun_of(baseline, chosen, scored=scored)
    tests: list[NamedResult] = []
    for first, second in chosen.items():
        own = joined[joined["condition"].isin([f"first: {first}", f"second: {second}"])]
        rerun = None if again is None else again[again["condition"] == first]
        tests += tests_of_pair(
            first, second, own, rerun, n_resamples, len(chosen) * comparisons, scored=scored,
            level=level, seed=seed, target=target, margin=margin,
        )  # fmt: skip
    tests = with_reach(at_family_level(tests, 1 - (1 - level) / comparisons))
    primary = {r.id: r.result for r in tests if isinstance(r.result, TestResult)}
    family = adjust_family(primary, family=_FAMILY, weights=drift_weights(primary))
    family = _adjust_comparisons(family, comparisons)
    confirmed = baseline is not None
    headlines = drift_headlines(tests, family, confirmed=confirmed)
    names = {pair_label(*pair): pair_label(*pair, joint=" ") for pair in chosen.items()}
    analysis = Analysis(
        experiment="drift",
        question=_QUESTION,
        headlines=headlines,
        conditions=table,
        results=(
            *tests,
            NamedResult(
                id="drift.family", title="Change between the runs, adjusted", role="primary",
                result=family, headline=True,
            ),
            *described,
        ),
        limitations=limits,
        condition_metrics=metrics,
        rows=(*_rows(names), *share_rows(tests, names, family.p_adjusted)),
        drawing=_drawing([pair_label(*pair, joint=" ") for pair in chosen.items()], scored=scored),
    )  # fmt: skip
    return with_labelled(analysis, before, after, chosen, level=level)


def _adjust_comparisons(family: Family, comparisons: int) -> Family:
    """Adjusted for all comparisons of runs too (Bonferroni over them, Holm within each)."""
    if comparisons == 1:
        return family
    adjusted = {k: float(np.minimum(1.0, p * comparisons)) for k, p in family.p_adjusted.items()}
    return replace(
        family, name=f"{family.name}, in {comparisons} comparisons of runs", p_adjusted=adjusted
    )


def _drawing(names: Sequence[str], *, scored: bool) -> Drawing:
    """The change of every condition: of its mean score, or of its verdicts."""
    kind, aspect = ("shift", "change_of_scores") if scored else ("flips", "change_of_verdicts")
    what = "Shift of the mean score" if scored else "Verdicts changed beyond repetition"
    return Drawing(
        kind="dots",
        rows=tuple(f"{kind}.{name}/{aspect}" for name in names),
        caption=f"{what}, from the first run to the second, with intervals.",
    )


def _rows(names: Mapping[str, str]) -> tuple[Row, ...]:
    """What changed of each condition, with the interval that says what is ruled out."""
    return (
        declared_row("change_of_scores", names, ids="shift.{}/change_of_scores"),
        declared_row("gmd_ratio", names, ids="gmd.{}/second run:first run"),
        declared_row("change_of_pass_rate", names, ids="pass_rate.{}/change_of_pass_rate"),
        declared_row("change_of_win_rate", names, ids="win_rate.{}/change_of_win_rate"),
        declared_row(
            "change_of_order_consistency", names, ids="order.{}/change_of_order_consistency"
        ),
        declared_row("change_of_flips", names, ids="flip_rate.{}/change_of_flips"),
        declared_row("change_of_verdicts", names, ids="flips.{}/change_of_verdicts"),
    )


def _described(
    joined: pd.DataFrame,
    *,
    n_resamples: int,
    seed: int,
    level: float,
    scored: bool,
    omega_model: str,
) -> tuple[pd.DataFrame, list[NamedResult], tuple[str, ...], dict[str, Any]]:
    """Each run by itself: the table of conditions, reliabilities, limits and metrics."""
    if scored:
        array = score_array(joined)
        scored_conditions = score_conditions(
            joined, array, level=level, n_permutations=n_resamples, seed=seed,
            omega_model=omega_model,
        )  # fmt: skip
        limits = tuple(common_limits(joined, scored_conditions.table, array))
        kinds = ("condition.mean.", "condition.sem.")
        shown = [r for r in scored_conditions.estimates if r.id.startswith(kinds)]
        return (
            scored_conditions.table,
            [*scored_conditions.results, *shown],
            limits,
            dict(scored_conditions.metrics),
        )
    plan = verdict_plan(n_resamples=n_resamples, seed=seed, level=level)
    audited = audit_verdicts(joined.drop(columns="label", errors="ignore"), plan)
    described = [replace(r, role="descriptive", headline=False) for r in audited.of_role("primary")]
    metrics = dict(audited.condition_metrics)
    return audited.conditions, described, audited.limitations, metrics
