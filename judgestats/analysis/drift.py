"""The same judge and items at two dates or versions: what changed beyond asking again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.analysis.asked_rows import asked_row
from judgestats.analysis.drift_anchors import with_labelled, with_split
from judgestats.analysis.drift_answer import drift_headlines, drift_sentence, left_out_items
from judgestats.analysis.item_names import with_items
from judgestats.analysis.limits import Limit, common_limits
from judgestats.analysis.outcome import Analysis, NamedResult
from judgestats.analysis.scores import score_conditions
from judgestats.analysis.verdict_plan import verdict_plan
from judgestats.analysis.verdict_words import outcomes
from judgestats.analysis.verdicts import audit_verdicts
from judgestats.errors import InputError
from judgestats.judgments.shapes import score_array
from judgestats.results import About, Drawing, Row
from judgestats.results.records import Role
from judgestats.stats import adjust_family, run_change, spread_test
from judgestats.stats.agreement.run_change import RunKind
from judgestats.stats.inference.adjust import Family
from judgestats.stats.inference.permutation_summary import ENOUGH, permutations_needed
from judgestats.stats.inference.result import Result, TestResult

_QUESTION = "Has the judge changed between the two runs, beyond what asking again changes?"
_FAMILY = "change between the runs, one test for each condition and aspect"
_NO_BASELINE = Limit(
    "No unchanged re-run of the first run was given (--baseline): a service that varies from day "
    "to day by itself counts as changed.",
    code="no_baseline",
    short="no unchanged re-run (--baseline)",
)
_ONCE = "neither run repeated its scores, so their scatter is not known"
_FEW_VALUES = 20
"""Scores of more distinct values are compared by mean and spread alone, not as verdicts."""


@dataclass(frozen=True, kw_only=True)
class _Aspect:
    """What may have changed between two runs: a column compared as numbers or as verdicts."""

    id: str
    title: str
    column: str
    kind: RunKind


_MEAN = _Aspect(id="shift", title="Shift of the mean score", column="score", kind="scores")
_SCORES = _Aspect(
    id="flips", title="Scores changed beyond repetition", column="score", kind="verdicts"
)
_VERDICTS = _Aspect(
    id="flips", title="Verdicts changed beyond repetition", column="choice", kind="verdicts"
)


def match_conditions(
    before: pd.DataFrame, after: pd.DataFrame, *, pairs: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Which condition of the first run is compared with which of the second.

    Parameters
    ----------
    before, after : DataFrame
        Parsed frames.
    pairs : mapping, optional
        Named by the user. By default conditions of the same label; where there is none, the only
        condition of each run.

    Returns
    -------
    dict
        Condition of the first run to condition of the second.

    Raises
    ------
    InputError
        Nothing matches, or a named condition is not there.

    Examples
    --------
    >>> a = pd.DataFrame({"condition": ["x, T=0", "x, T=1"]})
    >>> match_conditions(a, a)
    {'x, T=0': 'x, T=0', 'x, T=1': 'x, T=1'}
    """
    one, two = (list(dict.fromkeys(f["condition"])) for f in (before, after))
    if pairs:
        for name, labels, which in (
            *((a, one, "first") for a in pairs),
            *((b, two, "second") for b in pairs.values()),
        ):
            if name not in labels:
                raise InputError(
                    f"drift: the {which} run has no condition {name!r}. It has: "
                    f"{'; '.join(labels)}."
                )
        return dict(pairs)
    same = {c: c for c in one if c in set(two)}
    if same:
        return same
    if len(one) == len(two) == 1:
        return {one[0]: two[0]}
    raise InputError(
        f"drift: the runs share no condition (first: {'; '.join(one)}; second: {'; '.join(two)}). "
        "Say which belong together with --pair 'FIRST -> SECOND'."
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

    Returns
    -------
    Analysis
        Tests of one family (Holm), paired by item: the mean score, the spread of repeated scores,
        and verdicts that differ between the runs more often than within them. Beside them the
        ratios of mean distances and of variances, and the reliability in each run. A headline each.

    Raises
    ------
    InputError
        The runs share no condition, or fewer than three items.

    Notes
    -----
    Where items are labelled the changes of agreement with people, sensitivity and specificity on
    the same answers lead. Means and verdicts: p exchanges replications between the runs within
    items; spread: whole cells. Runs that judged once show the direction of a shift at most.

    Examples
    --------
    >>> from judgestats.judgments.readers.frame import parsed_frame
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
            omega_model=omega_model, comparisons=comparisons,
        )  # fmt: skip
        return with_split(analysis, before, anchors, after, matched, level=level)
    chosen = match_conditions(before, after, pairs=pairs)
    joined, counts = both_runs(before, after, chosen)
    scored = bool(joined["score"].notna().any())
    if not scored:
        joined = joined.assign(choice=outcomes(joined["choice"]))
    table, described, limits, metrics = _described(
        joined, n_resamples=n_resamples, seed=seed, level=level, scored=scored,
        omega_model=omega_model,
    )  # fmt: skip
    limits = (*left_out_items(counts), *limits)
    if baseline is None:
        limits = (*limits, _NO_BASELINE)
    again = None if baseline is None else _rerun(baseline, chosen, scored=scored)
    tests: list[NamedResult] = []
    for first, second in chosen.items():
        own = joined[joined["condition"].isin([f"first: {first}", f"second: {second}"])]
        rerun = None if again is None else again[again["condition"] == first]
        tests += _pair(
            first, second, own, rerun, n_resamples, len(chosen) * comparisons, scored=scored,
            level=level, seed=seed,
        )  # fmt: skip
    primary = {r.id: r.result for r in tests if isinstance(r.result, TestResult)}
    family = _of_several(adjust_family(primary, family=_FAMILY), comparisons)
    headlines = drift_headlines(tests, family)
    analysis = Analysis(
        experiment="drift",
        question=_QUESTION,
        sentence=drift_sentence(headlines, tests, counts),
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
        rows=_rows(names := list(dict.fromkeys(r.about.stratum for r in tests))),
        drawing=_drawing(names, scored=scored),
    )  # fmt: skip
    return with_labelled(analysis, before, after, chosen, level=level)


def _of_several(family: Family, comparisons: int) -> Family:
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


def _rows(names: Sequence[str]) -> tuple[Row, ...]:
    """What changed of each condition, with the interval that says what is ruled out."""
    return (
        asked_row(
            "shift",
            "mean score moved by",
            "mean moved",
            "change_of_scores",
            "shift.{}/change_of_scores",
            names,
        ),
        asked_row(
            "spread",
            "its scatter times",
            "scatter x",
            "distance_ratio_mean",
            "distance.{}/second:first",
            names,
        ),
        asked_row(
            "verdicts",
            "verdicts changed",
            "changed",
            "change_of_verdicts",
            "flips.{}/change_of_verdicts",
            names,
            note="(beyond repetition)",
        ),
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
        return (
            scored_conditions.table,
            list(scored_conditions.results),
            limits,
            dict(scored_conditions.metrics),
        )
    plan = verdict_plan(n_resamples=n_resamples, seed=seed, level=level)
    audited = audit_verdicts(joined.drop(columns="label", errors="ignore"), plan)
    described = [replace(r, role="descriptive", headline=False) for r in audited.of_role("primary")]
    metrics = dict(audited.condition_metrics)
    return audited.conditions, described, audited.limitations, metrics


def both_runs(
    before: pd.DataFrame, after: pd.DataFrame, chosen: Mapping[str, str]
) -> tuple[pd.DataFrame, dict[str, int]]:
    """Both runs on the items they share, and how many items were matched and left out.

    Parameters
    ----------
    before, after : DataFrame
        Parsed frames.
    chosen : mapping of condition to condition
        See `match_conditions`.

    Returns
    -------
    frame : DataFrame
        Conditions are called ``first: NAME`` and ``second: NAME``.
    counts : dict
        ``matched``, ``only_first`` and ``only_second``.
    """
    one = before[before["condition"].isin(chosen)]
    two = after[after["condition"].isin(chosen.values())]
    one = one.assign(condition="first: " + one["condition"])
    two = two.assign(condition="second: " + two["condition"])
    names = [set(f["item_id"]) for f in (one, two)]
    shared = names[0] & names[1]
    if len(shared) < 3:
        raise InputError(
            f"drift: the runs share {len(shared)} items; at least 3 are needed. Judge the same "
            "items in both runs (the same items file, limit and seed)."
        )
    joined = pd.concat([one, two], ignore_index=True)
    counts = {
        "matched": len(shared),
        "only_first": len(names[0] - shared),
        "only_second": len(names[1] - shared),
    }
    return joined[joined["item_id"].isin(shared)].reset_index(drop=True), counts


def _rerun(baseline: pd.DataFrame, chosen: Mapping[str, str], *, scored: bool) -> pd.DataFrame:
    """The unchanged re-run, which holds every condition that is compared."""
    absent = [c for c in chosen if c not in set(baseline["condition"])]
    if absent:
        raise InputError(
            f"drift: the baseline has no condition {absent[0]!r}. It is the first run done again: "
            "give a run of the same conditions."
        )
    return baseline if scored else baseline.assign(choice=outcomes(baseline["choice"]))


def _pair(
    first: str,
    second: str,
    own: pd.DataFrame,
    rerun: pd.DataFrame | None,
    n_resamples: int,
    n_pairs: int,
    *,
    scored: bool,
    level: float,
    seed: int,
) -> list[NamedResult]:
    """The tests of one condition, and the ratio of its variances."""
    name = first if first == second else f"{first} -> {second}"
    labels = (f"first: {first}", f"second: {second}")
    aspects = [_VERDICTS]
    if scored:
        aspects = [_MEAN, *([_SCORES] if own["score"].nunique() <= _FEW_VALUES else [])]
    n_tests = n_pairs * (len(aspects) + scored)
    listed: list[tuple[str, str, Role, Result]] = []
    for aspect in aspects:
        change = _change(own, rerun, labels, aspect, n_resamples, n_tests, level=level, seed=seed)
        listed.append((aspect.id, aspect.title, "primary", change))
    if scored:
        array = score_array(own, conditions=labels[::-1])
        spread = with_items(
            spread_test(
                array.scores, conditions=("second", "first"), cluster=array.clusters,
                reference="first", level=level, n_permutations=n_resamples, n_comparisons=n_tests,
                n_resamples=n_resamples, seed=seed,
            ), array.items,
        )  # fmt: skip
        blocked = spread.blocked_f
        if array.scores.shape[-1] < 2:
            blocked = replace(blocked, reason=_ONCE)
        ratios: list[tuple[str, str, Result | None]] = [
            ("distance", "Ratio of mean distances from the item's mean", spread.distance_ratios),
            ("ratio", "Ratio of within-item variances", spread.ratios),
        ]
        listed.append(("spread", "Spread of repeated scores", "primary", blocked))
        listed += [(kind, title, "secondary", r) for kind, title, r in ratios if r is not None]
    judges = set(own["judge"])
    about = About(
        judge=str(judges.pop()) if len(judges) == 1 else "",
        stratum=name,
        conditions=labels,
        varied="run",
    )
    return [
        NamedResult(
            id=f"{kind}.{name}", title=f"{title} ({name})", role=role, result=result, about=about,
            levels={"first": labels[0], "second": labels[1]},
        )
        for kind, title, role, result in listed
    ]  # fmt: skip


def _change(
    own: pd.DataFrame,
    rerun: pd.DataFrame | None,
    labels: tuple[str, str],
    aspect: _Aspect,
    n_resamples: int,
    n_tests: int,
    *,
    level: float,
    seed: int,
) -> TestResult:
    """`run_change` of one aspect, with as many permutations as its family needs."""
    units = own.drop_duplicates(["item_id", "order"])
    rows = pd.MultiIndex.from_frame(units[["item_id", "order"]])
    cluster = units["cluster"].to_numpy(object)
    one, two = (_table(own[own["condition"] == label], rows, aspect.column) for label in labels)
    drawn = n_resamples
    while True:
        change = run_change(
            one, two, kind=aspect.kind, cluster=cluster if len(set(cluster)) < len(rows) else None,
            baseline=None if rerun is None else (one, _table(rerun, rows, aspect.column)),
            level=level, n_permutations=drawn, seed=seed,
        )  # fmt: skip
        # A p-value that many permutations reach is resolved; only small ones need more of them.
        most = max(drawn, permutations_needed(n_comparisons=n_tests))
        if rerun is not None or drawn == most or not change.p_value * (drawn + 1) <= ENOUGH:
            return change
        drawn = most


def _table(run: pd.DataFrame, rows: pd.MultiIndex, column: str) -> NDArray[np.object_]:
    """What one run said, (item, order) x replications; None where nothing was read."""
    read = run[run["status"] == "ok"]
    place = read.groupby(["item_id", "order"], sort=False).cumcount()
    table = read.assign(place=place).pivot(
        index=["item_id", "order"], columns="place", values=column
    )
    table = table.reindex(index=rows, columns=range(max(1, table.shape[1]))).astype(object)
    return table.where(table.notna(), None).to_numpy(object)
