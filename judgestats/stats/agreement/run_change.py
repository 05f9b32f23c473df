"""Did a judge change between two runs, beyond what asking again changes by itself?"""

from __future__ import annotations

import math
from typing import Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike

from judgestats.arrays import Floats, too_large
from judgestats.errors import InputError, one_of
from judgestats.stats.agreement.raw_agreement import pairs_that_agree
from judgestats.stats.designs.count_table import encode_verdicts
from judgestats.stats.inference.bootstrap import cluster_codes
from judgestats.stats.inference.estimate import Estimate, Note, Sample
from judgestats.stats.inference.jackknife import mean_over_clusters
from judgestats.stats.inference.keywords import Permuted, with_keywords
from judgestats.stats.inference.result import TestResult

RunKind = Literal["verdicts", "scores"]

CHUNK = 100
"""Permutations held in memory at once."""

_LABELS = {
    "verdicts": "Share of verdicts that changed beyond repetition",
    "scores": "Shift of the mean score",
}


@with_keywords()
def run_change(
    before: ArrayLike,
    after: ArrayLike,
    *,
    kind: RunKind,
    baseline: tuple[ArrayLike, ArrayLike] | None = None,
    **inference: Unpack[Permuted],
) -> TestResult:
    r"""Test whether the same items are judged differently in a second run.

    Parameters
    ----------
    before, after : array-like, shape (n_items, n_replications)
        What each run said about the same items; the numbers of replications may differ. None, NaN
        or empty text where nothing was read.
    kind : {"verdicts", "scores"}
        Categories, or numbers whose mean is compared. (Spread: `spread_test` on both runs, which
        exchanges whole cells.)
    baseline : tuple of two array-likes, optional
        Two runs of the same items between which nothing was changed (an A/A re-run), in the shape
        of `before` and `after`: the change is then measured beyond theirs. A service that varies
        from day to day changes without being changed.

    Returns
    -------
    TestResult
        ``effects``: the change with its interval. ``details``: ``n_matched`` and ``n_dropped``
        items, ``between`` and ``within`` disagreement (verdicts), ``ruled_out_above`` (changes
        above it are ruled out at the level), ``p_from``.

    Raises
    ------
    InputError
        If the shapes do not fit.

    Notes
    -----
    Verdicts: for each item the probability that a verdict of one run differs from one of the other,
    minus the probability that two of the same run differ (the mean over the runs that repeated);
    on average 0 where nothing changed, and half the squared distance of the items' probabilities
    where something did. Scores: the mean over items of the difference of item means.

    p exchanges replications between the runs within items, which asks whether anything changed at
    all. With a baseline, p is Student's t of the clustered engine on the items' changes minus the
    baseline's. Verdicts of runs that did not repeat cannot be told from repetition: no test.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random((60, 1))
    >>> first, again = (rng.random((60, 3)) < p).astype(int), (rng.random((60, 3)) < p).astype(int)
    >>> out = run_change(first, again, kind="verdicts")
    >>> bool(out.p_value > 0.05), round(out.details["between"], 2), round(out.details["within"], 2)
    (True, 0.3, 0.32)
    """
    where = "run_change"
    one_of(where, "kind", kind, _LABELS)
    if inference["n_permutations"] < 1:
        raise InputError(f"{where}: n_permutations must be at least 1, got 0. Use 9999.")
    pooled, split = _pooled(before, after, kind, where)
    codes = cluster_codes(inference["cluster"], pooled.shape[0], where=where)
    read = [np.isfinite(pooled[:, :split]).sum(1), np.isfinite(pooled[:, split:]).sum(1)]
    matched = (read[0] > 0) & (read[1] > 0)
    sample = Sample.of(
        matched,
        "no verdict in one of the runs",
        None if inference["cluster"] is None else codes,
        n_replications=min(split, pooled.shape[1] - split),
        n_replications_max=max(split, pooled.shape[1] - split),
    )
    result = TestResult(
        name=where,
        method="Permutation test of a change between runs (replications exchanged within items)",
        statistic=math.nan,
        statistic_name="change",
        p_value=math.nan,
        sample=sample,
        null_hypothesis="the second run is another repetition of the first",
        alternative="the runs differ" if kind == "scores" else "more verdicts changed",
        details={"n_matched": sample.n_items, "n_dropped": sample.n_excluded},
    )
    if not matched.any():
        return result.replace(reason="no item was read in both runs")
    pooled, codes = pooled[matched], codes[matched]
    parts = _changes(pooled[None], split, kind)
    change = parts[0][0]
    present = np.isfinite(change)
    if not present.any():
        return result.replace(
            reason="neither run repeated its verdicts, so change cannot be told from repetition"
        )
    notes: tuple[Note, ...] = ()
    details = dict(result.details)
    if kind == "verdicts":
        details["between"], details["within"] = (
            float(np.nanmean(v[0][present])) for v in parts[1:]
        )
    elif split == 1 and pooled.shape[1] == 2:
        message = (
            "Each run judged once: the direction of the shift can be tested, whether single scores "
            "changed beyond repetition cannot."
        )
        notes = (Note(code="not_repeated", message=message),)
    if baseline is not None:
        base, base_split = _pooled(*baseline, kind, where)
        if base.shape[0] != matched.size:
            raise InputError(
                f"{where}: baseline must hold the {matched.size} items of before and after, got "
                f"{base.shape[0]}. Align it by item."
            )
        change = change - _changes(base[matched][None], base_split, kind)[0][0]
        present &= np.isfinite(change)
        if not present.any():
            return result.replace(reason="no item has a change in the baseline too")
    m = mean_over_clusters(change[present], codes[present])
    if baseline is not None:
        two_sided = m.p_value()
        p = two_sided if kind == "scores" else _upper(two_sided, m.statistic())
        details["p_from"] = "t over clusters, beyond the baseline"
        method = "Change between runs beyond an unchanged re-run (t over clusters)"
        result = result.replace(method=method, df={"df": m.df})
    else:
        p = _exchange_p(
            pooled[present], split, kind, m.mean, inference["n_permutations"], inference["seed"]
        )
        details |= {"p_from": "replications exchanged within items"}
        details |= {"n_permutations": inference["n_permutations"], "seed": inference["seed"]}
    interval = m.interval(inference["level"])
    if interval is not None:
        ends = (abs(interval.low), abs(interval.high)) if kind == "scores" else (interval.high,)
        details["ruled_out_above"] = max(ends)
    effect = Estimate(
        name=f"change_of_{kind}",
        label=_LABELS[kind],
        estimator="beyond an unchanged re-run" if baseline is not None else "mean over items",
        estimate=m.mean,
        std_error=m.std_error,
        interval=interval,
        sample=sample,
        notes=(Note(code="no_interval", message=f"No interval: {m.reason}."),) if m.reason else (),
    )
    return result.replace(
        statistic=m.mean, p_value=p, effects=(effect,), details=details, notes=notes
    )


def _upper(two_sided: float, statistic: float) -> float:
    """One-sided p for a change above the baseline's."""
    return two_sided / 2 if statistic > 0 else 1 - two_sided / 2


def _pooled(before: ArrayLike, after: ArrayLike, kind: RunKind, where: str) -> tuple[Floats, int]:
    """Both runs side by side as numbers (codes of verdicts; NaN unread), and the split."""
    runs = []
    for run in (before, after):
        array = np.asarray(run, dtype=float if kind == "scores" else object)
        runs.append(array[:, None] if array.ndim == 1 else array)
    shapes = [r.shape for r in runs]
    if any(r.ndim != 2 for r in runs) or shapes[0][0] != shapes[1][0] or shapes[0][0] == 0:
        raise InputError(
            f"{where}: before and after must have shape (items, replications) with the same items, "
            f"got {shapes[0]} and {shapes[1]}. Align the runs by item."
        )
    both = np.concatenate(runs, axis=1)
    if kind == "scores":
        if too_large(both).any():
            raise InputError(
                f"{where}: scores must be finite or NaN, got one infinite or beyond 1e50."
            )
        return both.astype(float), shapes[0][1]
    codes = encode_verdicts(both, where=where)[0]
    return np.where(codes >= 0, codes, np.nan).astype(float), shapes[0][1]


def _changes(pooled: Floats, split: int, kind: RunKind) -> tuple[Floats, Floats, Floats]:
    """Each item's change, between- and within-run disagreement, for stacks (B, items, columns)."""
    first, second = pooled[..., :split], pooled[..., split:]
    if kind == "scores":
        read = [np.isfinite(v).sum(-1) for v in (first, second)]
        means = [
            np.where(n > 0, np.nansum(v, -1) / np.maximum(n, 1), np.nan)
            for v, n in zip((first, second), read, strict=True)
        ]
        change = means[1] - means[0]
        return change, change, change
    n_categories = int(np.nanmax(pooled)) + 1
    counts = [
        np.stack([np.sum(v == c, axis=-1) for c in range(n_categories)], axis=-1).astype(float)
        for v in (first, second)
    ]
    totals = [c.sum(-1) for c in counts]
    with np.errstate(divide="ignore", invalid="ignore"):
        between = 1 - np.sum(counts[0] * counts[1], axis=-1) / (totals[0] * totals[1])
        inside = [
            np.where(n > 1, 1 - pairs_that_agree(c), np.nan)
            for c, n in zip(counts, totals, strict=True)
        ]
    repeated = np.isfinite(inside[0]).astype(int) + np.isfinite(inside[1])
    total = np.nan_to_num(inside[0]) + np.nan_to_num(inside[1])
    within = np.where(repeated > 0, total / np.maximum(repeated, 1), np.nan)
    return between - within, between, within


def _exchange_p(
    pooled: Floats, split: int, kind: RunKind, observed: float, n: int, seed: int | None
) -> float:
    """P-value from exchanging what was read between the runs, item by item."""
    rng = np.random.default_rng(seed)
    read = np.isfinite(pooled)
    # Only places that were read change values, so each run keeps its number of replications.
    order = np.argsort(~read, axis=1, kind="stable")
    packed = np.take_along_axis(pooled, order, axis=1)
    extreme = 0
    for start in range(0, n, CHUNK):
        size = min(CHUNK, n - start)
        keys = np.where(np.isfinite(packed), rng.random((size, *packed.shape)), 2.0)
        drawn = np.take_along_axis(packed[None], np.argsort(keys, axis=-1), axis=-1)
        moved = np.empty_like(drawn)
        np.put_along_axis(moved, np.broadcast_to(order, drawn.shape), drawn, axis=-1)
        values = np.nanmean(_changes(moved, split, kind)[0], axis=-1)
        reached = np.abs(values) if kind == "scores" else values
        limit = abs(observed) if kind == "scores" else observed
        extreme += int(np.sum(reached >= limit - 1e-10 * max(1.0, abs(limit))))
    return (extreme + 1) / (n + 1)
