"""Sensitivity to the prompt's wording and to the scale."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from judgestats.arrays import Floats, Ints, as_numbers, check_axes, check_between, check_items
from judgestats.stats.designs.score_matrix import score_matrix
from judgestats.stats.inference import Estimate, Interval, Sample, TestResult, distributions
from judgestats.stats.inference.bootstrap import Scale, cluster_codes
from judgestats.stats.inference.jackknife import jackknife_error, t_of_clusters
from judgestats.stats.inference.keywords import Clustered, Permuted, with_keywords
from judgestats.stats.inference.sum_statistics import SumStatistic, estimate_from_sums


@with_keywords()
def prompt_sensitivity(scores: ArrayLike, **inference: Unpack[Permuted]) -> TestResult:
    r"""Variance of scores over wordings of the prompt, compared with that over repeats.

    Parameters
    ----------
    scores : array-like, shape (n_items, n_prompts, n_replications)
        NaN where not read. At least two prompts; some cell with two scores.

    Returns
    -------
    TestResult
        Permutation test that the wording does not matter: the scores of an item are exchanged over
        its prompts. ``effects`` (jackknife over clusters): share of a single score's variance due
        to wording; standard deviation and share of different scores, each with the same and with
        another wording. ``details``: ``wording_variance``,
        ``repeat_variance``, and ``two_wordings`` and ``one_wording``, the standard error of a mean
        of two scores from two wordings, or from one used twice.

    Raises
    ------
    InputError
        If the scores are no such array.

    Notes
    -----
    With cell means :math:`m_{ip}` of :math:`r_{ip}` scores: :math:`\hat\sigma_e^2` is the mean
    square within cells and :math:`\hat\sigma_w^2 = \overline{\mathrm{var}_p(m_{ip})} -
    \hat\sigma_e^2\,\overline{1/r_{ip}}`, the variance of a score over wordings: of their levels and
    of what they do to single items. A mean of k scores has the error variance
    :math:`(\sigma_w^2 + \sigma_e^2)/k` from k wordings and :math:`\sigma_w^2 + \sigma_e^2/k` from
    one. The intervals are over questions, for wordings like these. They do not include the sampling
    of wordings. The test exchanges scores within items, so it is valid with clusters.

    References
    ----------
    Brennan (2001), Generalizability Theory, chapters 3 and 4.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(40, 1, 1)) + rng.normal(0, 0.5, (40, 4, 1)) + rng.normal(0, 0.5, (40, 4, 3))
    >>> out = prompt_sensitivity(x, n_permutations=99, seed=1)
    >>> bool(0.3 < out.effect.estimate < 0.7), out.p_value
    (True, 0.01)
    """  # noqa: E501
    where = "prompt_sensitivity"
    x = as_numbers(scores, "scores", where)
    check_axes(where, "scores", x, "items x prompts x replications", (0, 2))
    codes = cluster_codes(inference["cluster"], x.shape[0], where=where)
    used = (~np.isnan(x)).any(axis=2).sum(axis=1) >= 2
    clusters = None if inference["cluster"] is None else codes
    sample = Sample.from_mask(used, "scored under fewer than 2 prompts", clusters)
    x, codes = x[used], codes[used]
    columns = np.column_stack([_columns(x), *_flips(x)])
    sums = columns.sum(axis=0) if len(x) else np.zeros(_WIDTH)
    reason = ""
    if not len(x):
        reason = "no item has scores under two prompts"
    elif sums[1] == 0:
        reason = "no item was judged twice with the same prompt"
    wording, repeat = (math.nan, math.nan) if reason else map(float, _parts(sums))
    if not reason and repeat <= 0 and wording <= 0:
        reason = "no score varies"
    common: dict[str, Any] = {
        "sample": sample,
        "reason": reason,
        "where": where,
        "cluster": codes if inference["cluster"] is not None and len(codes) else None,
        "level": inference["level"],
    }
    effects = tuple(
        estimate_from_sums(
            SumStatistic(per_item=lambda d: d, combine=combine),
            columns if not reason else np.full((max(len(x), 1), _WIDTH), np.nan),
            name=name,
            label=label,
            estimator="mean squares over wordings and within",
            scale=scale,
            **common,
        )
        for name, label, combine, scale in _EFFECTS
    )
    n = inference["n_permutations"]
    p = math.nan if reason else _p_value(x, n, inference["seed"])
    return TestResult(
        name=where,
        method="Permutation test of the prompt's wording (scores exchanged within items)",
        statistic=math.nan if reason else _ratio(x[None])[0],
        statistic_name="F",
        p_value=p,
        null_hypothesis="the wording of the prompt does not matter",
        alternative="scores of one wording are more alike than those of several",
        why="the scores of an item are exchangeable over wordings that do not matter",
        effects=effects,
        sample=sample,
        reason=reason,
        details={
            "wording_variance": wording,
            "repeat_variance": repeat,
            "two_wordings": math.sqrt(max(wording + repeat, 0.0) / 2) if not reason else math.nan,
            "one_wording": math.sqrt(max(wording, 0.0) + repeat / 2) if not reason else math.nan,
            "n_prompts": int(x.shape[1]),
            "p_floor": 1 / (n + 1),
        },
    )


def _columns(x: Floats) -> Floats:
    """Of each item: within its cells, between its prompts (sums of squares, df), 1 / r, prompts."""
    count = (~np.isnan(x)).sum(axis=2)
    there = count > 0
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(there, np.nansum(x, axis=2) / count, np.nan)
        within = np.nansum((x - means[:, :, None]) ** 2, axis=(1, 2))
        centre = np.nansum(means, axis=1) / there.sum(axis=1)
        between = np.nansum((means - centre[:, None]) ** 2, axis=1)
        inverse = np.where(there, 1 / count, 0.0).sum(axis=1)
    df = np.where(there, count - 1, 0).sum(axis=1)
    return np.column_stack(
        [within, df, between, there.sum(axis=1) - 1.0, inverse, there.sum(axis=1)]
    ).astype(float)


def _flips(x: Floats) -> tuple[Floats, ...]:
    """Of each item: pairs of scores that differ and all pairs, in one wording and in two."""
    flat = x.reshape(len(x), x.shape[1] * x.shape[2])
    prompt = np.repeat(np.arange(x.shape[1]), x.shape[2])
    out = [np.zeros(len(x)) for _ in range(4)]
    for a in range(flat.shape[1]):
        later = flat[:, a + 1 :]
        both = ~np.isnan(flat[:, [a]]) & ~np.isnan(later)
        differ = both & (flat[:, [a]] != later)
        same = prompt[a + 1 :] == prompt[a]
        for k, alike in enumerate((same, ~same)):
            out[2 * k] += (differ & alike).sum(axis=1)
            out[2 * k + 1] += (both & alike).sum(axis=1)
    return tuple(out)


def _parts(sums: Floats) -> tuple[Floats, Floats]:
    repeat = sums[..., 0] / sums[..., 1]
    return sums[..., 2] / sums[..., 3] - repeat * sums[..., 4] / sums[..., 5], repeat


def _share(sums: Floats) -> Floats:
    wording, repeat = _parts(sums)
    return np.asarray(wording / (wording + repeat))


def _same(sums: Floats) -> Floats:
    return np.asarray(np.sqrt(_parts(sums)[1]))


def _reworded(sums: Floats) -> Floats:
    wording, repeat = _parts(sums)
    return np.asarray(np.sqrt(np.maximum(np.real(wording + repeat), 0.0)))


def _ratio(x: Floats) -> Floats:
    """Mean square between prompts over that within, for a stack of tables."""
    count = (~np.isnan(x)).sum(axis=3)
    there = count > 0
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(there, np.nansum(x, axis=3) / count, 0.0)
        total = np.nansum(x, axis=(2, 3)) / count.sum(axis=2)
        between = (count * (means - total[..., None]) ** 2 * there).sum(axis=(1, 2))
        within = np.nansum((x - means[..., None]) ** 2, axis=(1, 2, 3))
        df = (there.sum(axis=2) - 1).sum(axis=1), np.maximum(count - 1, 0).sum(axis=(1, 2))
        out = (between / df[0]) / (within / df[1])
    return np.asarray(np.where(np.isnan(out), 1.0, out))


_EFFECTS: tuple[tuple[str, str, Callable[[Floats], Floats], Scale], ...] = (
    ("wording_share", "Share of the variance due to wording", _share, "log_complement"),
    ("sd_repeated", "Standard deviation, same wording", _same, "identity"),
    ("sd_reworded", "Standard deviation, another wording", _reworded, "identity"),
    ("flips_repeated", "Another score, same wording", lambda s: s[..., 6] / s[..., 7], "identity"),
    (
        "flips_reworded",
        "Another score, another wording",
        lambda s: s[..., 8] / s[..., 9],
        "identity",
    ),
)

_WIDTH = 10
"""Columns of sums: six of variances, four of scores that differ."""
CHUNK = 50
"""Permutations held in memory at once."""


def _p_value(x: Floats, n: int, seed: int | None) -> float:
    """Of the ratio, the scores of an item exchanged over the places that were read."""
    rng = np.random.default_rng(seed)
    observed = _ratio(x[None])[0]
    flat = x.reshape(len(x), -1)
    read = ~np.isnan(flat)
    extreme = 0
    done = 0
    while done < n:
        m = min(CHUNK, n - done)
        # What was not read stays where it is: it sorts behind, and the places it had are kept.
        key = np.where(read, rng.random((m, *flat.shape)), 2.0)
        drawn = np.take_along_axis(np.broadcast_to(flat, key.shape), key.argsort(axis=-1), axis=-1)
        placed = np.full(key.shape, np.nan)
        order = np.argsort(~read, axis=-1, kind="stable")
        np.put_along_axis(placed, np.broadcast_to(order, key.shape), drawn, axis=-1)
        ratio = _ratio(placed.reshape(m, *x.shape))
        extreme += int(np.sum(ratio >= observed * (1 - 1e-10)))
        done += m
    return (1 + extreme) / (1 + n)


_REACH = 4.0
"""One of n items that goes from one end of the order to the other costs gamma at most 4 / n."""
_ROWS = 256
_NOTHING = 1e-12
_TERMS = (
    ("rank_loss", "Order lost by the other scale"),
    ("rank_agreement", "Agreement of the orders on both scales"),
    ("rank_repeated", "Agreement of repeats on the first scale"),
    ("rank_repeated_changed", "Agreement of repeats on the other scale"),
    ("kappa_matched", "Kappa after matching the scales"),
)


@with_keywords()
def scale_agreement(
    original: ArrayLike,
    changed: ArrayLike,
    *,
    margin: float = 0.1,
    **inference: Unpack[Clustered],
) -> TestResult:
    r"""Compare the rank agreement of two scales with that of repeats on each scale.

    Parameters
    ----------
    original, changed : array-like, shape (n_items, n_replications)
        Scores of the same items on two scales, the better the higher; NaN where not read. At least
        two replications of each.
    margin : float
        Declared before the data are seen: a smaller loss is called none.

    Returns
    -------
    TestResult
        ``effects``: ``rank_loss``, ``rank_agreement`` (rank correlation of single scores on the two
        scales), ``rank_repeated`` and ``rank_repeated_changed`` (the same within each), and
        ``kappa_matched``, quadratically weighted kappa where each score of the other scale is
        matched with the score of the first that has its rank. ``details``: ``p_small``, of a loss
        of the margin or more, and ``margin``.

    Raises
    ------
    InputError
        If the shapes differ, or the margin is not between 0 and 1.

    Notes
    -----
    Scales are compared by order, not by means, which no two scales share. The rank correlation is
    Greiner's :math:`\sin(\pi\gamma/2)` of Goodman and Kruskal's :math:`\gamma`. It counts only
    pairs of items that both scores distinguish: a shorter scale makes ties, which change no order.
    With :math:`\rho_{oc}` its mean over pairs of replications, one of each scale, and
    :math:`\rho_{oo}, \rho_{cc}` within each, the loss is
    :math:`\sqrt{\rho_{oo}\rho_{cc}} - \rho_{oc}`: 0 where both scales order the items alike and
    only rounding and repetition disturb it (Spearman's attenuation); by simulation -.01 to .003
    with 3 to 100 levels. Jackknife over clusters, t with effective degrees of freedom, one-sided.
    If nothing varies over clusters, a loss of the margin m needs a change in at least a share m / 4
    of them. The probability that none of G changes is then at most :math:`(1 - m/4)^G`.

    References
    ----------
    Goodman & Kruskal (1954), JASA 49, 732-764; Greiner (1909), Z. Math. Phys. 57, 121-158;
    Spearman (1904), Am. J. Psychol. 15, 72-101.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> quality = rng.normal(size=(80, 1))
    >>> ten = np.clip(np.round(6 + 2 * quality + rng.normal(0, 0.5, (80, 3))), 1, 10)
    >>> five = np.clip(np.round(3 + quality + rng.normal(0, 0.25, (80, 3))), 1, 5)
    >>> out = scale_agreement(ten, five)
    >>> round(abs(out.effect.estimate), 2), out.p_value > 0.05, out.details["p_small"] < 0.05
    (0.0, True, True)
    """
    where = "scale_agreement"
    check_between(where, "margin", margin)
    one, other = score_matrix(original, where=where), score_matrix(changed, where=where)
    check_items(where, original=one, changed=other)
    codes = cluster_codes(inference["cluster"], one.shape[0], where=where)
    used = ~(np.isnan(one).all(axis=1) | np.isnan(other).all(axis=1))
    sample = Sample.from_mask(
        used, "not read on both scales", None if inference["cluster"] is None else codes
    )
    one, other = one[used], other[used]
    present, codes = np.unique(codes[used], return_inverse=True)
    result = TestResult(
        name=where,
        method="Rank agreement of two scales against that of repeats, over clusters",
        statistic_name="t",
        null_hypothesis="both scales order the items alike",
        alternative="the other scale orders them otherwise",
        why="means of two scales cannot be compared, orders can",
        sample=sample,
        details={"margin": margin, "n_units": int(present.size), "p_small": math.nan},
    )
    orders, reason = _orders(one, other, codes), ""
    whole = np.append(orders[0], _kappas(one, other))
    if min(one.shape[1], other.shape[1]) < 2:
        reason = "a scale without repeats has no reference for repeat noise"
    elif present.size < 3:
        reason = "an order is compared over three questions or more"
    elif np.isnan(whole).any():
        reason = "on one of the scales no order repeats itself"
    if reason:
        return result.replace(reason=reason, effects=_effects(whole, sample, reason=reason))
    kappas = [_kappas(one[codes != g], other[codes != g]) for g in range(present.size)]
    left = np.column_stack([orders[1:], kappas])
    errors = [jackknife_error(column, np.bincount(codes)) for column in left.T]
    effects = _effects(whole, sample, errors=errors, level=inference["level"])
    loss, (error, df) = float(whole[0]), errors[0]
    if not error > _NOTHING:  # NaN too: an order that holds without one question
        same = abs(loss) <= _NOTHING
        small = (1 - margin / _REACH) ** present.size if same else math.nan
        return result.replace(
            p_value=1.0 if same else math.nan,
            effects=effects,
            reason="" if same else "without one of the questions no order repeats itself",
            details=dict(result.details) | {"p_small": small},
        )
    return result.replace(
        statistic=loss / error,
        df={"df": df},
        p_value=float(distributions.t.sf(loss / error, df)),
        effects=effects,
        details=dict(result.details)
        | {"p_small": float(distributions.t.cdf((loss - margin) / error, df))},
    )


def _effects(
    whole: Floats,
    sample: Sample,
    *,
    errors: list[tuple[float, float]] | None = None,
    level: float = 0.95,
    reason: str = "",
) -> tuple[Estimate, ...]:
    out = []
    for k, (name, label) in enumerate(_TERMS):
        error, df = (math.nan, math.nan) if errors is None else errors[k]
        half = math.nan
        if error > _NOTHING:
            half = float(distributions.t.ppf((1 + level) / 2, df)) * error
        value = math.nan if reason else float(whole[k])
        how = "quadratic weights" if name == "kappa_matched" else "sin(pi gamma / 2)"
        out.append(
            Estimate(
                name=name, label=label, estimate=value, sample=sample, reason=reason,
                std_error=error, estimator=f"{how}, single scores",
                interval=None if math.isnan(half) else Interval(
                    low=value - half, high=value + half, level=level,
                    method=f"jackknife over clusters, {t_of_clusters(df)}",
                ),
            )
        )  # fmt: skip
    return tuple(out)


def _orders(one: Floats, other: Floats, codes: Ints) -> Floats:
    """Loss and agreements, of all items in row 0, then without each cluster."""
    sides = one.T, other.T
    between = _correlation([(a, b) for a in sides[0] for b in sides[1]], codes)
    within = [_correlation(list(combinations(side, 2)), codes) for side in sides]
    product = within[0] * within[1]
    usable = np.where((within[0] > 0) & (within[1] > 0), product, math.nan)
    return np.column_stack([np.sqrt(usable) - between, between, *within])


def _correlation(pairs: list[tuple[Floats, Floats]], codes: Ints) -> Floats:
    """Mean over pairs of columns of sin(pi gamma / 2), whole and without each cluster."""
    correlations = [np.sin(np.pi / 2 * _gamma(a, b, codes)) for a, b in pairs]
    if not correlations:
        return np.full(int(codes.max(initial=-1)) + 2, math.nan)  # size: clusters
    values = np.stack(correlations)
    present = ~np.isnan(values)
    total = np.where(present, values, 0.0).sum(axis=0)
    count = present.sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), math.nan)


def _gamma(a: Floats, b: Floats, codes: Ints) -> Floats:
    """Goodman and Kruskal's gamma of two columns, of all items and without each cluster."""
    n, groups = a.size, int(codes.max(initial=-1)) + 1
    net, ordered = np.zeros(n), np.zeros(n)
    inside = np.zeros((groups, 2))
    with np.errstate(invalid="ignore"):
        for start in range(0, n, _ROWS):
            rows = slice(start, start + _ROWS)
            sign = np.sign(a[rows, None] - a) * np.sign(b[rows, None] - b)
            sign = np.where(np.isnan(sign), 0.0, sign)
            net[rows], ordered[rows] = sign.sum(axis=1), np.abs(sign).sum(axis=1)
            same = np.where(codes[rows, None] == codes, sign, 0.0)
            np.add.at(inside[:, 0], codes[rows], same.sum(axis=1))
            np.add.at(inside[:, 1], codes[rows], np.abs(same).sum(axis=1))
    sums = np.column_stack([net, ordered])
    by_cluster = np.zeros((groups, 2))
    np.add.at(by_cluster, codes, sums)
    # A pair within a cluster is in its sum twice, one across it once: both are taken out.
    left = sums.sum(axis=0) - 2 * by_cluster + inside
    all_of = np.vstack([sums.sum(axis=0), left])
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(all_of[:, 0] / all_of[:, 1])


def _kappas(one: Floats, other: Floats) -> float:
    """Mean over pairs of columns of the quadratically weighted kappa of numbers.

    That is Lin's coefficient with moments over n; of all pairs of columns the moments are products
    of matrices.
    """
    matched = _matched(one, other)
    if not one.size or np.isnan(one).all():
        return math.nan
    middle = float(np.nanmean(one))
    in_one, in_other = ~np.isnan(one), ~np.isnan(matched)
    x, y = np.where(in_one, one - middle, 0.0), np.where(in_other, matched - middle, 0.0)
    p, q = in_one.astype(float), in_other.astype(float)
    n = p.T @ q
    with np.errstate(divide="ignore", invalid="ignore"):
        mean_x, mean_y = x.T @ q / n, p.T @ y / n
        square_x, square_y, product = (x**2).T @ q / n, p.T @ y**2 / n, x.T @ y / n
        gap = (mean_x - mean_y) ** 2
        apart = square_x - mean_x**2 + square_y - mean_y**2 + gap
        kappa = 1 - (square_x - 2 * product + square_y) / apart
        usable = (n >= 3) & (apart > 1e-12 * np.maximum(square_x + square_y, 1.0))
    return _mean(kappa[usable].tolist())


def _matched(one: Floats, other: Floats) -> Floats:
    """Each score of the other scale as that of the first with its rank."""
    read = other[~np.isnan(other)]
    target = np.sort(one[~np.isnan(one)])
    values, counts = np.unique(read, return_counts=True)
    middle = (np.cumsum(counts) - counts / 2) / read.size
    as_one = target[np.minimum((middle * target.size).astype(int), target.size - 1)]
    out = np.full(other.shape, math.nan)
    present = ~np.isnan(other)
    out[present] = as_one[np.searchsorted(values, other[present])]
    return out


def _mean(values: list[float]) -> float:
    kept = [v for v in values if not math.isnan(v)]
    return sum(kept) / len(kept) if kept else math.nan
