"""Change over time told apart: the judge's on unchanged answers, and the system's."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from judgestats.arrays import Floats, Ints
from judgestats.errors import InputError
from judgestats.stats.inference.resampling import cluster_codes
from judgestats.stats.inference.result import Estimate, Interval, Note, Sample
from judgestats.stats.validity.clustered_share import (
    cluster_variance,
    critical_value,
    effective_clusters,
)
from judgestats.stats.validity.inputs import score_values


def anchored_change(
    before: ArrayLike,
    before_again: ArrayLike,
    after: ArrayLike,
    *,
    cluster_before: ArrayLike | None = None,
    cluster_after: ArrayLike | None = None,
    level: float = 0.95,
) -> dict[str, Estimate]:
    r"""Split a change of a judged average into the judge's and the system's, by anchors.

    Parameters
    ----------
    before : array-like, shape (N,)
        Scores (or 0 / 1) of the earlier answers by the judge of then.
    before_again : array-like, shape (N,)
        The same answers judged by today's judge: the anchors, drawn at random; NaN for others.
    after : array-like, shape (M,)
        Today's answers by today's judge.
    cluster_before, cluster_after : array-like, optional
        Question of each answer; the same questions may stand on both sides.
    level : float

    Returns
    -------
    dict of str to Estimate
        ``total``, ``judge`` (on unchanged answers) and ``system`` (as today's judge sees it);
        judge and system add up to the total. Without anchors these two are NaN with the reason.

    Raises
    ------
    InputError
        If shapes differ, or nothing was judged before or after.

    Notes
    -----
    The judge's part is the mean difference of the anchors, the system's the rest of the total. By
    sums of influence over clusters, with the effective number of clusters (of the anchors; of the
    smaller side for the total) minus 1 degrees of freedom.

    Examples
    --------
    >>> out = anchored_change([6, 7, 5, 6], [7, 8, 6, None], [9, 8, 8, 9])
    >>> [round(out[k].estimate, 2) for k in ("total", "judge", "system")]
    [2.5, 1.0, 1.5]
    """
    where = "anchored_change"
    old, again, new = (
        score_values(v, where=where, name=n)
        for v, n in ((before, "before"), (before_again, "before_again"), (after, "after"))
    )
    if old.ndim != 1 or old.shape != again.shape or new.ndim != 1:
        raise InputError(
            f"{where}: before and before_again must hold one entry for each earlier answer, got "
            f"shapes {old.shape} and {again.shape}."
        )
    read_old, read_new = ~np.isnan(old), ~np.isnan(new)
    anchors = read_old & ~np.isnan(again)
    if not read_old.any() or not read_new.any():
        raise InputError(f"{where}: no answer was read before or after. Give judged answers.")
    codes = _codes(cluster_before, cluster_after, old.size, new.size, where)
    n_old, n_new = int(read_old.sum()), int(read_new.sum())
    on_old, on_new = np.zeros(old.size), np.zeros(new.size)
    on_old[read_old] = -(old[read_old] - old[read_old].mean()) / n_old
    on_new[read_new] = (new[read_new] - new[read_new].mean()) / n_new
    total = float(new[read_new].mean() - old[read_old].mean())
    total_influence = np.concatenate([on_old, on_new])
    clustered = cluster_before is not None or cluster_after is not None
    df = (
        min(
            effective_clusters(codes[: old.size][read_old]),
            effective_clusters(codes[old.size :][read_new]),
        )
        - 1
    )
    sample = Sample(
        n_items=n_old + n_new,
        n_clusters=int(np.unique(codes).size) if clustered else None,
        n_excluded=int(old.size - n_old + new.size - n_new),
    )
    out = {
        "total": _estimate("total_change", "Change", total, total_influence, codes, df, sample,
                           level)
    }  # fmt: skip
    if anchors.sum() < 2:
        reason = (
            "fewer than two earlier answers were judged again: without anchors the judge's change "
            "cannot be told from the system's"
        )
        for name, label in _PARTS.items():
            out[name] = Estimate(
                name=f"{name}_change", label=label, estimate=math.nan, sample=sample, reason=reason
            )
        return out
    d = again[anchors] - old[anchors]
    judge_influence = np.zeros(codes.size)
    judge_influence[: old.size][anchors] = (d - d.mean()) / d.size
    df_anchor = effective_clusters(codes[: old.size][anchors]) - 1
    judge = float(d.mean())
    of_anchors = Sample(n_items=int(anchors.sum()))
    out["judge"] = _estimate(
        "judge_change", _PARTS["judge"], judge, judge_influence, codes, df_anchor, of_anchors, level
    )
    out["system"] = _estimate(
        "system_change", _PARTS["system"], total - judge, total_influence - judge_influence, codes,
        min(df, df_anchor), sample, level,
    )  # fmt: skip
    return out


_PARTS = {"judge": "Change of the judge", "system": "Change of the system (today's judge)"}


def _codes(before: ArrayLike | None, after: ArrayLike | None, n: int, m: int, where: str) -> Ints:
    """Clusters of both sides; a question on both sides is one."""
    if before is None and after is None:
        return np.arange(n + m)
    one = (
        [f"before {i}" for i in range(n)]
        if before is None
        else [str(c) for c in np.asarray(before)]
    )
    two = [f"after {i}" for i in range(m)] if after is None else [str(c) for c in np.asarray(after)]
    return cluster_codes(np.array([*one, *two]), n + m, where=where)


def _estimate(
    name: str,
    label: str,
    value: float,
    influence: Floats,
    codes: Ints,
    df: float,
    sample: Sample,
    level: float,
) -> Estimate:
    taking_part = influence != 0
    variance = cluster_variance(influence, codes) if taking_part.any() else 0.0
    if not variance > 1e-18:
        note = Note(code="no_interval", message="No interval: the difference does not vary.")
        return Estimate(name=name, label=label, estimate=value, sample=sample, notes=(note,))
    se = math.sqrt(variance)
    half = critical_value(level, max(df, 1.0)) * se
    return Estimate(
        name=name,
        label=label,
        estimator="difference of means",
        estimate=value,
        std_error=se,
        interval=Interval(
            low=value - half, high=value + half, level=level, method="t, effective df"
        ),
        sample=sample,
        details={"df": max(df, 1.0)},
    )
