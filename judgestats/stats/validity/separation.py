"""Scores beside pass and fail labels: how often what people pass is scored above what they fail."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize, special

from judgestats.arrays import Bools, Floats, Ints
from judgestats.errors import InputError
from judgestats.stats.inference import distributions
from judgestats.stats.inference.cluster_jackknife import cluster_sums, effective_clusters
from judgestats.stats.inference.keywords import Clustered, with_keywords
from judgestats.stats.inference.resampling import cluster_codes
from judgestats.stats.inference.result import Estimate, Interval, Note, Sample
from judgestats.stats.validity.choice_by_k import subset_weights
from judgestats.stats.validity.error_parts import AccuracyByK, accuracy_of_credits
from judgestats.stats.validity.inputs import score_values

_EDGE = 1e-9


@with_keywords()
def separation(scores: ArrayLike, passed: ArrayLike, **inference: Unpack[Clustered]) -> Estimate:
    r"""How often an item that people pass is scored above one that they fail; a tie counts half.

    Parameters
    ----------
    scores : array-like, shape (N,) or (N, repeats)
        Repeats are averaged first; NaN where unread.
    passed : array-like, shape (N,)
        1 where people pass the item, 0 where they fail it, NaN where nobody says.

    Returns
    -------
    Estimate
        .5 where scores tell nothing, 1 where every passed item stands above every failed one: the
        area under the receiver's curve.

    Raises
    ------
    InputError
        If shapes differ, a label is neither 0 nor 1, or no labelled item has a score.

    Notes
    -----
    :math:`A = P(S_{pass} > S_{fail}) + P(S_{pass} = S_{fail}) / 2`. The standard
    error is that of the items' structural components, summed over clusters. Limits are the outer
    of two, with t on the effective clusters of the rarer kind less one: Newcombe's score limits
    (method 5) widened by the clusters' design effect, which cover where A is near 1 and hardly a
    pair is turned, and the standard error on the logit, which covers where one kind is rare.

    References
    ----------
    DeLong, DeLong & Clarke-Pearson (1988), Biometrics 44, 837-845; Obuchowski (1997), Biometrics
    53, 567-578; Newcombe (2006), Statistics in Medicine 25, 559-573.

    Examples
    --------
    >>> out = separation([8, 7, 3, 5, 6, 2], [1, 1, 0, 0, 1, 1])
    >>> round(out.estimate, 3)
    0.75
    """
    where = "separation"
    x = score_values(scores, where=where, name="scores")
    x = x[:, None] if x.ndim == 1 else x
    y = _labels(x, passed, where)
    used = ~np.isnan(x).all(axis=1) & ~np.isnan(y)
    if not used.any():
        raise InputError(f"{where}: no item has both a score and a label of pass or fail.")
    codes = cluster_codes(inference["cluster"], y.size, where=where)[used]
    mean, right = np.nanmean(x[used], axis=1), y[used] == 1
    sample = _sample(used, codes, inference["cluster"] is not None, x.shape[1])
    estimate = Estimate(
        name="separation", label="Passed by people scored above failed", estimate=math.nan,
        sample=sample,
    )  # fmt: skip
    if right.all() or not right.any():
        only = "pass" if right.all() else "fail"
        return estimate.replace(reason=f"people say {only} of all items")
    placed = _components(mean[:, None], right)[:, 0]
    area = float(placed[right].mean())
    spread = _spread(placed, right, codes, area)
    return estimate.replace(
        estimator="structural components",
        estimate=area,
        std_error=spread.error,
        interval=_interval(area, spread, inference["level"]),
        notes=_few(spread.rarer),
    )


@with_keywords()
def separation_by_k(
    scores: ArrayLike,
    passed: ArrayLike,
    *,
    ks: Sequence[int] | None = None,
    margin: float = 0.01,
    seed: int = 0,
    **inference: Unpack[Clustered],
) -> AccuracyByK:
    """How well the mean of k scores tells what people pass from what they fail, by k.

    Parameters
    ----------
    scores : array-like, shape (N, repeats)
        NaN where unread.
    passed : array-like, shape (N,)
        1, 0 or NaN, as `separation` takes them.
    ks : sequence of int, optional
        Numbers of scores, at most the repeats; 1, 2, 3, 5 and the most otherwise.
    margin : float
        Loss that is accepted for fewer scores.
    seed : int
        Of the subsets, where there are more than 100.

    Returns
    -------
    AccuracyByK
        `separation` of the mean of k scores, averaged over subsets.

    Raises
    ------
    InputError
        If shapes differ, a k exceeds the repeats, or the items with a label and all scores are not
        of both kinds.

    Examples
    --------
    >>> out = separation_by_k([[6, 8], [7, 5], [5, 4], [6, 3]], [1, 1, 0, 0])
    >>> {k: round(e.estimate, 3) for k, e in out.accuracy.items()}
    {1: 0.938, 2: 1.0}
    """
    where = "separation_by_k"
    x = score_values(scores, where=where, name="scores")
    if x.ndim != 2:
        raise InputError(f"{where}: scores must have one row an item, got shape {x.shape}.")
    y = _labels(x, passed, where)
    most = x.shape[1]
    chosen = sorted({*(ks or (k for k in (1, 2, 3, 5) if k < most)), most})
    if chosen[0] < 1 or chosen[-1] > most:
        raise InputError(f"{where}: ks must lie within 1 to {most} scores, got {chosen}.")
    used = ~np.isnan(x).any(axis=1) & ~np.isnan(y)
    right = y[used] == 1
    if not used.any() or right.all() or not right.any():
        raise InputError(
            f"{where}: the items with a label and all {most} scores must hold passed and failed "
            "ones."
        )
    codes = cluster_codes(inference["cluster"], y.size, where=where)[used]
    by_k = {}
    for k in chosen:
        sums = np.round(x[used] @ subset_weights(most, k, seed), 9)
        placed = _components(sums, right).mean(axis=1)
        area = float(placed[right].mean())
        # Values whose mean is the area and whose spread over clusters is its variance.
        by_k[k] = area + right.size * _influence(placed, right, area)
    sample = _sample(used, codes, inference["cluster"] is not None, most)
    return accuracy_of_credits(
        by_k, codes, sample, margin=margin, level=inference["level"], of_pairs=True
    )


def shares_on_the_right_side(scores: Floats, passed: Floats) -> Floats:
    """Of each labelled item the share of the other kind that its score stands rightly to.

    Examples
    --------
    >>> shares_on_the_right_side(np.array([8.0, 6.0, 6.0]), np.array([1.0, 1.0, 0.0])).tolist()
    [1.0, 0.5, 0.75]
    """
    used = ~np.isnan(scores) & ~np.isnan(passed)
    out = np.full(scores.size, np.nan)
    right = passed[used] == 1
    if right.any() and not right.all():
        out[used] = _components(scores[used][:, None], right)[:, 0]
    return out


def _labels(x: Floats, passed: ArrayLike, where: str) -> Floats:
    y = score_values(passed, where=where, name="passed")
    if y.shape != x.shape[:1]:
        raise InputError(
            f"{where}: there must be one label for each row of scores, got shapes {x.shape} and "
            f"{y.shape}."
        )
    if not np.isin(y[~np.isnan(y)], (0.0, 1.0)).all():
        raise InputError(f"{where}: labels must be 1 (pass), 0 (fail) or NaN.")
    return y


def _sample(used: Bools, codes: Ints, clustered: bool, k: int) -> Sample:
    n_out = int(np.sum(~used))
    return Sample(
        n_items=codes.size, n_clusters=int(np.unique(codes).size) if clustered else None,
        n_replications=k,
        excluded={"no label, or no score": n_out},
    )  # fmt: skip


def _components(x: Floats, right: Bools) -> Floats:
    """Of each item in each column the share of the other kind on its right side, a tie half.

    Examples
    --------
    >>> _components(np.array([[8.0], [6.0], [6.0]]), np.array([True, True, False])).ravel().tolist()
    [1.0, 0.5, 0.75]
    """
    ranks = distributions.ranks(x, axis=0)
    out = np.empty_like(ranks)
    for own, sign in ((right, 1), (~right, -1)):
        others = float(np.sum(~own))
        below = (ranks[own] - distributions.ranks(x[own], axis=0)) / others
        out[own] = below if sign == 1 else 1 - below
    return out


def _influence(placed: Floats, right: Bools, area: float) -> Floats:
    """What each item moves the area by; they sum to 0."""
    return np.asarray((placed - area) / np.where(right, right.sum(), (~right).sum()))


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Spread:
    """Standard error over clusters, its ratio to that of independent items, and sizes."""

    error: float
    design_effect: float
    rarer: float
    sizes: tuple[int, int]


def _spread(placed: Floats, right: Bools, codes: Ints, area: float) -> _Spread:
    moved = _influence(placed, right, area)
    by_cluster = cluster_sums(moved, codes)
    g, n = by_cluster.size, moved.size
    kinds = [cluster_sums(own.astype(float), codes) for own in (right, ~right)]
    largest = max(float(own.sum() / effective_clusters(own[own > 0])) for own in kinds)
    within = n / (n - 1) * float(np.sum(moved**2))
    between = g / (g - 1) * float(np.sum(by_cluster**2)) if g > 1 else math.nan
    return _Spread(
        error=math.sqrt(between),
        # Where every pair is ordered rightly no error tells how alike a cluster's items are.
        design_effect=max(between / within, 1.0) if within > 0 else largest,
        rarer=min(effective_clusters(own[own > 0]) for own in kinds),
        sizes=(int(right.sum()), int((~right).sum())),
    )


def _interval(area: float, spread: _Spread, level: float) -> Interval | None:
    if math.isnan(spread.error):
        return None
    quantile = float(distributions.t.ppf((1 + level) / 2, max(spread.rarer - 1, 1.0)))
    factor = quantile * math.sqrt(spread.design_effect)

    def beyond(a: float) -> float:
        return abs(area - a) - factor * _null_error(a, *spread.sizes)

    # At 0 and 1 themselves the error is 0: the limit is sought next to them.
    inner = min(max(area, _EDGE), 1 - _EDGE)
    low = 0.0 if area == 0 else float(optimize.brentq(beyond, 0.0, inner))
    high = 1.0 if area == 1 else float(optimize.brentq(beyond, inner, 1.0))
    if 0 < area < 1:
        half = quantile * spread.error / (area * (1 - area))
        low = min(low, float(special.expit(special.logit(area) - half)))
        high = max(high, float(special.expit(special.logit(area) + half)))
    method = "outer of score limits (Newcombe) and structural components on the logit, t"
    return Interval(low=low, high=high, level=level, method=method)


def _null_error(a: float, passed: int, failed: int) -> float:
    """Standard error that an area of `a` would have, Newcombe's method 5."""
    middle = (passed + failed) / 2
    pairs = 2 * middle - 1 - (3 * middle - 3) / ((2 - a) * (1 + a))
    return math.sqrt(max(a * (1 - a) * pairs / (passed * failed), 0.0))


def _few(rarer: float) -> tuple[Note, ...]:
    if rarer >= 5:
        return ()
    message = f"The rarer label stands in {rarer:.3g} clusters: the interval is rough."
    return (Note(code="few_clusters", message=message),)
