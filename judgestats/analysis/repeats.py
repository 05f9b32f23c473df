"""Repeats: their number and cost, and their errors under the design of a condition."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.coefficients import declared_row, described, metric_values
from judgestats.analysis.conversion import Ends
from judgestats.analysis.families import THESE_RUNS
from judgestats.analysis.limits import Limit
from judgestats.analysis.records import Analysis, NamedResult
from judgestats.arrays import Floats, Ints
from judgestats.data.parse import kept_rows, score_array
from judgestats.errors import InputError
from judgestats.results import About, plain, quantity_of
from judgestats.results.numbers import TARGETS
from judgestats.stats import comparisons_with_best, repeat_pairs, replications_needed
from judgestats.stats.inference.bootstrap import not_estimable
from judgestats.stats.inference.result import Estimate, Limits, Note, Sample
from judgestats.stats.inference.runs import COVERAGE, SHOWN, RunComponent, run_columns
from judgestats.stats.reliability.mean_square_ratio import MeanSquareRatio
from judgestats.stats.reliability.repeat_error import ONE_SIDED, RepeatPairs, far_distance


@dataclass(frozen=True, kw_only=True)
class Costs:
    """What each condition spends: money, else tokens, else judgments.

    Attributes
    ----------
    amounts : tuple of float
    unit : str
        ``"USD"``, ``"tokens"`` or ``"judgments"``.
    """

    amounts: tuple[float, ...]
    unit: str

    @classmethod
    def from_rows(cls, rows: Sequence[Mapping[str, Any]], **columns: str) -> Costs:
        """The first of some columns that is known, and above 0, of every row.

        Parameters
        ----------
        rows : sequence of mapping
        **columns : str
            Unit to column, the preferred first; the last is the fallback.

        Examples
        --------
        >>> rows = [{"usd": math.nan, "tokens": 290.0}, {"usd": math.nan, "tokens": 732.0}]
        >>> Costs.from_rows(rows, USD="usd", tokens="tokens").unit
        'tokens'
        """
        known_costs = [
            cls(amounts=tuple(float(row.get(column) or math.nan) for row in rows), unit=unit)
            for unit, column in columns.items()
        ]
        usable = (s for s in known_costs if all(math.isfinite(v) and v > 0 for v in s.amounts))
        return next(usable, known_costs[-1])


def best_conditions(
    values: Mapping[str, Floats],
    clusters: Any,
    *,
    spent: Costs,
    margin: float,
    level: float,
) -> tuple[NamedResult, ...]:
    """Comparisons of conditions with the best one, with what each spends.

    Parameters
    ----------
    values : mapping of condition to ndarray
        One number per item; larger is better.
    clusters : sequence
    spent : Costs
        In the order of `values`.
    margin, level : float

    Returns
    -------
    tuple of NamedResult
        Empty if there is nothing to choose from.
    """
    names, table = list(values), np.column_stack(list(values.values()))
    if len(names) < 2 or np.isfinite(table).all(axis=1).sum() < 2:
        return ()
    best = comparisons_with_best(
        table, conditions=names, cost=spent.amounts, margin=margin, cluster=clusters, level=level,
    )  # fmt: skip
    title, levels = "Which may be the best in agreement with human labels", {n: n for n in names}
    return (NamedResult("best", title, "secondary", best, levels=levels),)


def repeat_gains(conditions: pd.DataFrame, frame: pd.DataFrame) -> pd.DataFrame:
    """Gain by repeats of each condition, and the cost of a judgment.

    Parameters
    ----------
    conditions : DataFrame
        The table of conditions.
    frame : DataFrame
        The parsed judgments; their tokens are averaged.

    Returns
    -------
    DataFrame
        By condition: the reliability of a ``single`` judgment or verdict, and the judgments
        ``needed`` for `TARGETS` (inf: no number reaches it). Also the mean ``tokens`` and
        ``calls`` per item.

    Examples
    --------
    >>> table = pd.DataFrame({"condition": ["a"], "icc1": [0.5]})
    >>> row = repeat_gains(table, pd.DataFrame()).iloc[0]
    >>> print(int(row["needed_90"]))
    9
    """
    name = next((c for c in ("icc1", "vote_share") if c in conditions), "")
    rows = []
    for row in conditions.to_dict("records"):
        single = _number(row.get(name))
        line: dict[str, Any] = {"condition": str(row["condition"]), "single": single}
        for target in TARGETS:
            line[f"needed_{round(100 * target)}"] = _needed(single, target)
        rows.append(line | _mean_usage(row, frame))
    return pd.DataFrame(rows)


def repeats_needed(single: Estimate) -> Estimate:
    """How many judgments reach a reliability, by the reliability of one.

    Parameters
    ----------
    single : Estimate
        Single-judgment reliability.

    Returns
    -------
    Estimate
        The judgments. The limits of its interval are the judgments for the limits of the
        reliability. The upper limit is infinite where the reliability reaches 0.

    Examples
    --------
    >>> from judgestats.stats.inference.result import Interval, Sample
    >>> one = Estimate(name="icc_1_1", label="", estimate=0.76, sample=Sample(n_items=30),
    ...                interval=Interval(low=0.64, high=0.86, level=0.95, method="F"))
    >>> needed = repeats_needed(one)
    >>> needed.estimate, needed.interval.low, needed.interval.high
    (3.0, 2.0, 6.0)
    """
    interval, target = single.interval, TARGETS[-1]
    refused = str(single.details.get("refused", ""))
    if interval is not None and not math.isnan(interval.low + interval.high):
        low, high = _needed(interval.high, target), _needed(interval.low, target)
        interval = replace(interval, low=low, high=high)
    return Estimate(
        name="k_needed",
        label=f"Judgments for a reliability of {target:g}",
        estimate=math.nan if refused else _needed(single.estimate, target),
        interval=None if math.isnan(single.estimate) else interval,
        sample=single.sample,
        reason=single.reason or refused,
    )


def _number(value: Any) -> float:
    number = plain(value)
    return float(number) if isinstance(number, (int, float)) else math.nan


def _needed(single: float, target: float) -> float:
    if not single > 0:
        return math.inf if single <= 0 else math.nan
    return replications_needed(single, target=target)


def _mean_usage(row: dict[Any, Any], frame: pd.DataFrame) -> dict[str, float]:
    """Mean tokens of a judgment, and judgments per item."""
    used = [c for c in ("item_id", "tokens_in", "tokens_out") if c in frame]
    mine = frame.loc[frame["condition"] == row["condition"], used] if len(frame) else frame
    tokens = math.nan
    if len(mine) and {"tokens_in", "tokens_out"} <= set(mine.columns):
        tokens = float((mine["tokens_in"] + mine["tokens_out"]).mean())
    return {
        "tokens": tokens if tokens > 0 else math.nan,
        "calls": len(mine) / mine["item_id"].nunique() if len(mine) else math.nan,
    }


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
        if runs is None or math.isnan(value.estimate) or not (runs.target or runs.is_random):
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
    found = _limited(value, both, "Graybill-Wang of runs and residual")
    return _of_complete_items(found.replace(estimate=both.estimate), ratio)


def _of_complete_items(value: Estimate, ratio: MeanSquareRatio) -> Estimate:
    """An estimate from items x runs, which counts the items that every run has."""
    n, had = int(ratio.items.sum()), value.sample.n_items
    if n >= had:
        return value
    excluded = {**value.sample.excluded, "a run misses it": had - n}
    sample = replace(value.sample, n_items=n, n_clusters=ratio.items.size, excluded=excluded)
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
    value: Estimate,
    runs: RunComponent | None,
    ratio: MeanSquareRatio | None,
    pairs: RepeatPairs,
    level: float,
) -> Estimate:
    """The ICC with the limits that its runs and the mode of its scores allow.

    Parameters
    ----------
    value : Estimate
        ICC(1,1).
    runs : RunComponent or None
        Of the condition; None where repeats are not distinguished.
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
    elif runs is not None and (runs.target or runs.is_random):
        value = value.replace(details={**value.details, "target": THESE_RUNS})
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
    own = kept_rows(frame, frame["condition"].isin(known))
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
            unknown: dict[str, Any] = {"estimate": math.nan, "interval": None, "notes": ()}
            values = (
                v.replace(**unknown, reason=_NO_SCALE) if v.name in _BY_SCALE else v for v in values
            )
            lost = (*(limit for limit in lost if limit is not NO_SCALE), NO_SCALE)
        added += [described(v, sem.about) for v in values]
    sems = (r.result for r in analysis.described if r.id.startswith(SEM))
    if any(isinstance(r, Estimate) and r.details.get("target") == THESE_RUNS for r in sems):
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
    tail = own.sem_tail(level, least=sem.interval.high if sem.interval else 0.0)
    far = own.far_share(level)
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
            estimate = limits.high
        if key == "far_share":
            counts = {"far_items": int((own.n_far > 0).sum()), "distance": far_distance(own.scale)}
            made = made.replace(details={**made.details, **counts})
        reason = limits.reason if math.isnan(estimate) else ""
        yield made.replace(estimate=estimate, reason=reason, notes=() if reason else made.notes)


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
            unknown = dict.fromkeys((f"ci/{metric}.lo", f"ci/{metric}.hi"), math.nan)
            metrics[name] |= unknown | metric_values(metric, share)
    return metrics
