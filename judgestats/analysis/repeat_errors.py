"""Errors of repeats of each condition: intervals under its design, tail bounds, refusals."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.coefficients import described
from judgestats.analysis.conversion import Ends
from judgestats.analysis.families import THESE_RUNS
from judgestats.analysis.limits import Limit
from judgestats.analysis.records import Analysis, NamedResult
from judgestats.analysis.summary_rows import declared_row
from judgestats.arrays import Floats, Ints
from judgestats.data.matrices import score_array
from judgestats.errors import InputError
from judgestats.results import About, quantity_of
from judgestats.stats.inference.bootstrap import cluster_note, is_too_wide, not_estimable
from judgestats.stats.inference.estimate import Estimate, Limits, Note, Sample
from judgestats.stats.inference.runs import COVERAGE, SHOWN, RunComponent, run_columns
from judgestats.stats.reliability.mean_square_ratio import MeanSquareRatio
from judgestats.stats.reliability.repeat_error import ONE_SIDED, RepeatPairs, repeat_pairs

SEM = "condition.sem."
_LOST = ("not_estimable", "no_interval", "few_clusters")
_TAIL = "upper limit that allows for far replies not seen"
_BY_SCALE = ("sem_tail", "sem_core", "far_share", "icc_tail")
_NO_SCALE = "the ends of the scale are not stated (--scale 1-10)"
IN_THESE_RUNS = Limit(
    "Fewer than 5 runs of a judge do not identify between-run noise: its SEM and ICC hold for "
    "these runs only. Interleave repeats or make 5 runs.",
    code="few_runs",
    short="SEM and ICC hold in these runs: interleave repeats or make 5",
)
NO_SCALE = Limit(
    f"No tail bounds and far shares: {_NO_SCALE}.",
    code="no_scale",
    short="no SEM tail bound: state the scale (--scale 1-10)",
)


def two_way_squares(scores: Floats, codes: Ints) -> MeanSquareRatio | None:
    """Two-way mean squares of the items that every run has; None if these are too few.

    Parameters
    ----------
    scores : ndarray, shape (N, R)
    codes : ndarray of int, shape (N,)
    """
    scores = scores[:, run_columns(scores)]
    present = ~np.isnan(scores)
    whole, repeated = present.all(axis=1), int((present.sum(axis=1) > 1).sum())
    if int(whole.sum()) < max(3, COVERAGE * repeated) or scores.shape[1] < 2:
        return None
    own = np.unique(codes[whole], return_inverse=True)[1]
    return MeanSquareRatio.from_scores(scores[whole], own, residual=True)


def sem_by_design(
    value: Estimate, runs: RunComponent | None, ratio: MeanSquareRatio | None, level: float
) -> Estimate:
    """The SEM of repeats in any run, or the plain one with the note that it holds in these.

    Parameters
    ----------
    value : Estimate
        The plain SEM.
    runs : RunComponent or None
        Of the condition; None where repeats are not distinguished.
    ratio : MeanSquareRatio or None
        Of items x runs, where runs are random.
    level : float
    """
    if ratio is None or ratio.k < 3:
        if runs is None or not (runs.target or runs.is_random):
            return value
        word = {2: "Two", 3: "Three", 4: "Four"}.get(runs.runs[0], str(runs.runs[0]))
        why = f"{word} runs do not measure between-run noise"
        if runs.is_identified:
            why = f"Less than {100 * COVERAGE:.0f}% of the items have a reply in every run"
        message = f"{why}: the SEM holds in these runs."
        note = Note(code="runs", message=message)
        details = {**value.details, "target": THESE_RUNS}
        return value.replace(notes=(*value.notes, note), details=details)
    both = ratio.sem_limits(level)
    if is_too_wide(both.estimate, both.low, both.high, degree=1, compared=False):
        why = "An end would be over 5 times the estimate. Judge more items"
        both = replace(both, reason=f"{cluster_note(ratio.inside)} {why}")
    found = _limited(value, both, "Graybill-Wang of runs and residual")
    return _of_complete_items(found.replace(estimate=both.estimate), ratio)


def _of_complete_items(value: Estimate, ratio: MeanSquareRatio) -> Estimate:
    """An estimate from items x runs, which counts the items that every run has."""
    n, had = int(ratio.items.sum()), value.sample.n_items
    if n >= had:
        return value
    sample = replace(
        value.sample, n_items=n, n_clusters=ratio.items.size,
        excluded={**value.sample.excluded, "a run misses it": had - n},
    )  # fmt: skip
    return value.replace(sample=sample)


def consistency_without_runs(
    subject: About, runs: RunComponent | None, ratio: MeanSquareRatio | None, level: float
) -> list[NamedResult]:
    """ICC(3,1), with runs taken out of the error, if runs differ significantly; else empty.

    Parameters
    ----------
    subject : About
        The condition.
    runs : RunComponent or None
        Its own.
    ratio : MeanSquareRatio or None
        Of items x runs, where runs are random.
    level : float
    """
    if ratio is None or runs is None or not runs.p_value <= SHOWN:
        return []
    interval, notes = ratio.icc_interval(single=True, level=level)
    value = Estimate(
        name="icc_3_1", label="ICC(3,1), runs as columns", estimate=ratio.limits(level).estimate,
        estimator="two-way mean squares", interval=interval, notes=notes,
        sample=Sample(n_items=int(ratio.items.sum()), n_clusters=ratio.items.size),
    )  # fmt: skip
    identity = f"condition.icc_3_1.{subject.conditions[0]}"
    return [NamedResult(identity, value.label, "descriptive", value, about=subject)]


def icc_by_design(
    value: Estimate, ratio: MeanSquareRatio | None, pairs: RepeatPairs, level: float
) -> Estimate:
    """The ICC with the limits that its runs and the mode of its scores allow.

    Parameters
    ----------
    value : Estimate
        ICC(1,1).
    ratio : MeanSquareRatio or None
        Of items x runs, where runs are random: they are its columns then.
    pairs : RepeatPairs
        Of its scores.
    level : float
    """
    if math.isnan(value.estimate):
        return value
    kept = tuple(n for n in value.notes if n.code not in _LOST)
    if refused := pairs.icc_refusal:
        notes = (*kept, not_estimable(f"{refused}."))
        return value.replace(
            interval=None, notes=notes, details={**value.details, "refused": refused}
        )
    if ratio is not None and ratio.k >= 3:
        interval, notes = ratio.judges_interval(fixed=False, single=True, level=level)
        value = value.replace(interval=interval, notes=(*kept, *notes))
    if value.interval is None or pairs.mode_share < ONE_SIDED:
        return value
    text = f"{100 * pairs.mode_share:.0f}% of scores are {pairs.mode:g}"
    note = Note(code="lower_limit_only", message=f"{text}: only the lower limit of the ICC covers.")
    return value.replace(interval=replace(value.interval, high=1.0), notes=(*value.notes, note))


def frame_errors(
    analysis: Analysis, frame: pd.DataFrame, scales: Mapping[str, Ends | None], level: float
) -> Analysis:
    """An analysis with the tail bounds and far shares of the scores in memory.

    Parameters
    ----------
    analysis : Analysis
    frame : DataFrame
        Its judgments.
    scales : mapping of condition to (float, float) or None
    level : float

    Returns
    -------
    Analysis
    """
    named = [r.id.removeprefix(SEM) for r in analysis.described if r.id.startswith(SEM)]
    known = tuple(named) if "score" in frame else ()
    own = frame[frame["condition"].isin(known)]
    if not len(own) or "stage" not in own:
        return analysis
    try:
        array = score_array(own, conditions=known)
    except InputError:  # several orders of one item are no repeats
        return analysis
    clusters = array.clusters.astype(str)
    seen = array.scores[~np.isnan(array.scores)]
    ends = {name: scales.get(name) or assumed_scale(seen) for name in known}
    pairs = {
        name: repeat_pairs(array.condition(name), scale=ends[name], cluster=clusters)
        for name in known
    }
    unstated = [name for name in known if not scales.get(name)]
    return with_repeat_errors(analysis, pairs, unstated=unstated, level=level)


def assumed_scale(scores: Floats) -> Ends:
    """The range of the scores, for what does not rest on the ends of their scale."""
    low, high = (float(scores.min()), float(scores.max())) if scores.size else (0.0, 1.0)
    return (low, high) if high > low else (low, low + 1)


def with_repeat_errors(
    analysis: Analysis,
    pairs: Mapping[str, RepeatPairs],
    *,
    unstated: Collection[str] = (),
    level: float,
) -> Analysis:
    """An analysis with the mean difference of repeats, tail bounds, and far shares.

    Parameters
    ----------
    analysis : Analysis
    pairs : mapping of condition to RepeatPairs
    unstated : collection of str
        Conditions whose scale has no stated ends: what rests on them has a reason instead.
    level : float

    Returns
    -------
    Analysis
    """
    added: list[NamedResult] = []
    lost: tuple[Limit, ...] = ()
    by_id = {r.id: r for r in analysis.described}
    for name, own in pairs.items():
        sem = by_id.get(f"{SEM}{name}")
        if sem is None or not isinstance(sem.result, Estimate) or not own.n.size:
            continue
        variance = by_id.get(f"condition.pooled_within_variance.{name}")
        told = sem.result.estimate**2
        if variance is not None:
            told = getattr(variance.result, "estimate", math.nan)
        if not math.isclose(told, own.sem(level).estimate ** 2, rel_tol=1e-6):
            continue  # described in points of another scale
        values = _repeat_statistics(sem.result, own, level)
        if own.icc_refusal:
            short = f"{name}: {own.icc_refusal}"
            lost = (*lost, Limit(f"{short}.", code="icc_refused", short=short))
        if name in unstated:
            values = (_clear_unscaled(v) for v in values)
            lost = (*(limit for limit in lost if limit is not NO_SCALE), NO_SCALE)
        added += [described(v, sem.about) for v in values]
    if any(_is_limited_to_runs(r) for r in analysis.described):
        lost = (*lost, IN_THESE_RUNS)
    if not added:
        return analysis
    return replace(
        analysis,
        limitations=(*analysis.limitations, *lost),
        described=(*analysis.described, *added),
        rows=tuple(_with_tail_rows(analysis, added)),
        condition_metrics=_with_far_shares(analysis, added),
    )


def _limited(value: Estimate, limits: Limits, method: str) -> Estimate:
    """An estimate with these limits, or the note that says why there are none."""
    notes = tuple(n for n in value.notes if n.code not in _LOST)
    if not limits.reason:
        details = {**value.details, "df": limits.df}
        return value.replace(interval=limits.interval(method), notes=notes, details=details)
    return value.replace(interval=None, notes=(*notes, not_estimable(f"{limits.reason}.")))


def _repeat_statistics(sem: Estimate, own: RepeatPairs, level: float) -> Iterator[Estimate]:
    """Mean difference of repeats, tail bound, core SEM, far share, and tail bound of the ICC.

    Where an ICC is refused, the flip rate too.
    """
    tail, far = own.sem_tail(level), own.far_share(level)
    base = sem.replace(notes=(), details={}, interval=None, reason="")
    counted = "Clopper-Pearson on the effective number of pairs"
    flips = [("flip_rate", own.flip_rate(level), counted)] if own.icc_refusal else []
    for key, limits, method in (
        *flips,
        ("gmd", own.gmd(level), "jackknife over clusters of the log mean"),
        ("sem_tail", tail, _TAIL),
        ("sem_core", own.core_sem(level), "jackknife over clusters of the log variance"),
        ("far_share", far, counted),
        ("icc_tail", own.icc(level, tail=True), _TAIL),
    ):
        made = _limited(base.replace(name=key, label=quantity_of(key).heading), limits, method)
        estimate = limits.estimate
        if key == "icc_tail" and own.icc_refusal:
            made = made.replace(interval=None, notes=(not_estimable(f"{own.icc_refusal}."),))
        if key == "sem_tail":
            high = max(limits.high, sem.interval.high if sem.interval else limits.high)
            estimate = high
            if made.interval is not None:
                made = made.replace(interval=replace(made.interval, high=high))
        reason = limits.reason if math.isnan(estimate) else ""
        yield made.replace(estimate=estimate, reason=reason, notes=() if reason else made.notes)


def _is_limited_to_runs(named: NamedResult) -> bool:
    if not (named.id.startswith(SEM) and isinstance(named.result, Estimate)):
        return False
    return named.result.details.get("target") == THESE_RUNS


def _clear_unscaled(value: Estimate) -> Estimate:
    if value.name not in _BY_SCALE:
        return value
    return value.replace(estimate=math.nan, interval=None, notes=(), reason=_NO_SCALE)


def _with_tail_rows(analysis: Analysis, added: list[NamedResult]) -> Iterator[Any]:
    """The rows, that of the tail bound right behind that of the SEM."""
    kinds = {r.id: r.result.name for r in added if isinstance(r.result, Estimate)}
    names = {
        key: [r.about.conditions[0] for r in added if kinds.get(r.id) == key]
        for key in ("sem_tail", "far_share", "flip_rate")
    }
    for row in analysis.rows:
        yield row
        if row.key == "sem":
            yield from (declared_row(key, own) for key, own in names.items() if own)


def _with_far_shares(analysis: Analysis, added: list[NamedResult]) -> dict[str, dict[str, float]]:
    """The metrics of conditions with their far shares."""
    metrics = {name: dict(values) for name, values in analysis.condition_metrics.items()}
    metric = quantity_of("far_share").metric
    for one in added:
        share, name = one.result, one.about.conditions[0]
        if isinstance(share, Estimate) and share.name == "far_share" and name in metrics:
            interval = share.interval
            metrics[name] |= {
                metric: share.estimate,
                f"ci/{metric}.lo": interval.low if interval else math.nan,
                f"ci/{metric}.hi": interval.high if interval else math.nan,
            }
    return metrics
