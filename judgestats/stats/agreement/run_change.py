"""Change of a judge between two runs, beyond the noise of repeats."""

from __future__ import annotations

import math
from typing import Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike

from judgestats.arrays import Floats, check_finite, check_items, mean_of_present
from judgestats.errors import InputError, one_of
from judgestats.stats.agreement.raw_agreement import pairs_that_agree
from judgestats.stats.designs.count_table import encode_verdicts
from judgestats.stats.inference.bootstrap import cluster_codes
from judgestats.stats.inference.distributions import t
from judgestats.stats.inference.jackknife import MeanOverClusters, mean_over_clusters
from judgestats.stats.inference.keywords import Clustered, with_keywords
from judgestats.stats.inference.result import Estimate, Note, Sample, TestResult

RunKind = Literal["verdicts", "scores", "flips"]
Target = Literal["new items", "these items"]

_LABELS = {
    "verdicts": "Share of verdicts that changed beyond repetition",
    "scores": "Shift of the mean score",
    "flips": "Change of the flip rate",
}
_NAMES = {
    "verdicts": "change_of_verdicts",
    "scores": "change_of_scores",
    "flips": "change_of_flips",
}
_UNREPEATED = {
    "verdicts": "neither run repeated its verdicts, so change cannot be distinguished from "
    "repetition",
    "flips": "a flip rate needs repeats in both runs",
    "scores": "no item was read in both runs",
}


@with_keywords()
def run_change(
    before: ArrayLike,
    after: ArrayLike,
    *,
    kind: RunKind,
    baseline: tuple[ArrayLike, ArrayLike] | None = None,
    target: Target = "new items",
    margin: float = math.nan,
    **inference: Unpack[Clustered],
) -> TestResult:
    r"""Test whether the same items are judged differently in a second run.

    Parameters
    ----------
    before, after : array-like, shape (n_items, n_replications)
        What each run said about the same items; the numbers of replications may differ. None, NaN
        or empty text if nothing was read.
    kind : {"verdicts", "scores", "flips"}
        Categories, numbers whose mean is compared (shares as 1 and 0), or categories whose flip
        rates are compared. (Spread: `gmd_ratio` of both runs.)
    baseline : tuple of two array-likes, optional
        Two runs of the same items between which nothing was changed (an A/A re-run), in the shape
        of `before` and `after`: the change is then measured beyond theirs. A service that varies
        from day to day changes without being changed.
    target : {"new items", "these items"}
        What estimate, interval, and p all hold for: items like these, or these items alone
        (``scores`` without a baseline, which need two repeats in each run).
    margin : float
        Change up to which the runs count as the same.

    Returns
    -------
    TestResult
        ``effects``: the change with its interval. ``details``: ``n_matched`` and ``n_dropped``
        items, ``between`` and ``within`` disagreement (verdicts), ``ruled_out_above`` (changes
        above it are ruled out at the level), ``target``, ``narrower_for_these_items`` (the share
        by which the wider claim widens the interval of scores), and with a margin
        ``p_equivalent``.

    Raises
    ------
    InputError
        If the shapes do not fit, or these items cannot be the target.

    Notes
    -----
    Verdicts: the probability per item that verdicts of the two runs differ, minus that within a
    run (mean over the runs with repeats). Its expectation is 0 if
    nothing changed, else half the squared distance of the items' probabilities. Scores: the mean
    over items of the difference of item means.

    New items: p and interval are Student's t of the items' changes, jackknife over clusters. These
    items: :math:`v_i = s_{iA}^2 / R_A + s_{iB}^2 / R_B`, :math:`V = \sum v_i / n^2`, df
    :math:`(\min R - 1) (\sum v_i)^2 / \sum v_i^2`. False "differs" of new items .046 to .064,
    also where items shift by run; of these items up to .54 there. Verdicts change upwards: a change
    below 0 has p = 1. A change that is the same in every cluster has no interval, and p of the sign
    test. p of equivalence: two one-sided tests at the margin. Verdicts of runs that did not repeat
    cannot be distinguished from repetition: no test.

    References
    ----------
    Schuirmann (1987), J. Pharmacokinet. Biopharm. 15, 657-680 (two one-sided tests).

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
    one_of(where, "target", target, ("new items", "these items"))
    if target == "these items" and (kind != "scores" or baseline is not None):
        raise InputError(
            f"{where}: these items can be the target of scores without a baseline. Use new items."
        )
    pooled, split = _pooled(before, after, kind, where)
    codes = cluster_codes(inference["cluster"], pooled.shape[0], where=where)
    read = [np.isfinite(pooled[:, :split]).sum(1), np.isfinite(pooled[:, split:]).sum(1)]
    matched = (read[0] > 0) & (read[1] > 0)
    sample = Sample.from_mask(
        matched,
        "no verdict in one of the runs",
        None if inference["cluster"] is None else codes,
        n_replications=min(split, pooled.shape[1] - split),
        n_replications_max=max(split, pooled.shape[1] - split),
    )
    result = TestResult(
        name=where,
        method="Change between runs (t over clusters)",
        statistic_name="change",
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
        return result.replace(reason=_UNREPEATED[kind])
    message = (
        "Each run judged once: the direction of the shift can be tested, whether single scores "
        "changed beyond repetition cannot."
    )
    is_single = kind != "verdicts" and split == 1 and pooled.shape[1] == 2
    notes = Note.where(is_single, "not_repeated", message)
    details = dict(result.details)
    if kind == "verdicts":
        details["between"], details["within"] = (
            float(np.nanmean(v[0][present])) for v in parts[1:]
        )
    if baseline is not None:
        base, base_split = _pooled(*baseline, kind, where)
        check_items(where, before=matched, baseline=base)
        change = change - _changes(base[matched][None], base_split, kind)[0][0]
        present &= np.isfinite(change)
        if not present.any():
            return result.replace(reason="no item has a change in the baseline too")
    details["target"] = target
    m = mean_over_clusters(change[present], codes[present])
    level = inference["level"]
    if target == "these items":
        m = _fixed_items_error(pooled[present], split, m.mean)
    elif kind == "scores" and baseline is None:
        now = m.interval(level)
        fixed = _fixed_items_error(pooled[present], split, m.mean).interval(level)
        if now is not None and fixed is not None:
            saved = 1 - (fixed.high - fixed.low) / (now.high - now.low)
            much = f"{100 * saved:.0f}%" if saved >= 0.005 else "no"
            text = f"An interval for these items alone would be {much} narrower."
            details["narrower_for_these_items"] = max(saved, 0.0)
            notes += Note.where(True, "wider_claim", text)
    p = m.p_value()
    if math.isnan(p) and not math.isnan(m.df) and abs(m.mean) > 1e-12:
        # The same change in every cluster has no error: the sign test of the clusters remains.
        p = 2.0 ** (1 - np.unique(codes[present]).size)
    if kind == "verdicts" and m.mean < 0:
        p = 1.0
    interval = m.interval(level)
    if interval is not None:
        ends = (interval.high,) if kind == "verdicts" else (abs(interval.low), abs(interval.high))
        details["ruled_out_above"] = max(ends)
        if margin > 0:
            equal = math.nan
            if m.std_error > 0:
                equal = float(t.sf((margin - abs(m.mean)) / m.std_error, m.df))
            details |= {"margin": margin, "p_equivalent": equal}
    effect = Estimate(
        name=_NAMES[kind],
        label=_LABELS[kind],
        estimator="beyond an unchanged re-run" if baseline is not None else "mean over items",
        estimate=m.mean,
        std_error=m.std_error,
        interval=interval,
        sample=sample,
        notes=m.notes,
    )
    method = f"Change between runs, {target} (t over clusters)"
    if target == "these items":
        method = "Change between runs, these items (t from repeats)"
    if baseline is not None:
        method = "Change between runs beyond an unchanged re-run (t over clusters)"
    return result.replace(
        method=method, df={"df": m.df}, statistic=m.statistic(), statistic_name="t", p_value=p,
        effects=(effect,), details=details, notes=notes,
        reason=m.reason if math.isnan(p) else "",
    )  # fmt: skip


def _fixed_items_error(pooled: Floats, split: int, mean: float) -> MeanOverClusters:
    """The error of a mean change on these items, from the repeats of each run."""
    variances, repeats = [], []
    for run in (pooled[:, :split], pooled[:, split:]):
        n = np.isfinite(run).sum(axis=1)
        if n.min() < 2:
            reason = "these items need two repeats of each in both runs"
            return MeanOverClusters(mean=mean, reason=reason)
        variances.append(np.nanvar(run, axis=1, ddof=1) / n)
        repeats.append(int(n.min()))
    v = variances[0] + variances[1]
    if not v.sum() > 0:
        return MeanOverClusters(mean=mean, reason="no repeat differs, so these items have no error")
    df = (min(repeats) - 1) * float(v.sum() ** 2 / np.sum(v**2))
    return MeanOverClusters(mean=mean, std_error=math.sqrt(float(v.sum())) / v.size, df=df)


def _pooled(before: ArrayLike, after: ArrayLike, kind: RunKind, where: str) -> tuple[Floats, int]:
    """Both runs side by side as numbers (codes of verdicts; NaN unparsed), and the split."""
    runs = []
    for run in (before, after):
        array = np.asarray(run, dtype=float if kind == "scores" else object)
        runs.append(array[:, None] if array.ndim == 1 else array)
    shapes = [r.shape for r in runs]
    check_items(where, least=1, ndim=2, before=runs[0], after=runs[1])
    both = np.concatenate(runs, axis=1)
    if kind == "scores":
        check_finite(where, "scores", both)
        return both.astype(float), shapes[0][1]
    codes = encode_verdicts(both, where=where)[0]
    return np.where(codes >= 0, codes, np.nan).astype(float), shapes[0][1]


def _changes(pooled: Floats, split: int, kind: RunKind) -> tuple[Floats, Floats, Floats]:
    """Each item's change, between- and within-run disagreement, for stacks (B, items, columns)."""
    first, second = pooled[..., :split], pooled[..., split:]
    if kind == "scores":
        change = mean_of_present(second, -1) - mean_of_present(first, -1)
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
    if kind == "flips":
        change = inside[1] - inside[0]
        return change, change, change
    repeated = np.isfinite(inside[0]).astype(int) + np.isfinite(inside[1])
    total = np.nan_to_num(inside[0]) + np.nan_to_num(inside[1])
    within = np.where(repeated > 0, total / np.maximum(repeated, 1), np.nan)
    return between - within, between, within
