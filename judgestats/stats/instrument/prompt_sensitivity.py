"""How much of a judge's scatter is its prompt's wording, beside asking again?"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from judgestats.arrays import Floats, too_large
from judgestats.errors import InputError
from judgestats.stats.inference.interval_scales import Scale
from judgestats.stats.inference.keywords import Permuted, with_keywords
from judgestats.stats.inference.resampling import cluster_codes
from judgestats.stats.inference.result import Sample, TestResult
from judgestats.stats.inference.sum_statistics import (
    SumStatistic,
    estimate_from_sums,
)


@with_keywords()
def prompt_sensitivity(scores: ArrayLike, **inference: Unpack[Permuted]) -> TestResult:
    r"""Variance of scores over wordings of the prompt, beside that over repetitions.

    Parameters
    ----------
    scores : array-like, shape (n_items, n_prompts, n_replications)
        NaN where not read. At least two prompts; some cell with two scores.

    Returns
    -------
    TestResult
        Permutation test that the wording does not matter: the scores of an item are exchanged
        over its prompts. ``effects``: the share of a single score's scatter that is the wording's,
        the standard deviation of a score asked again with the same and with another wording, and
        how often such a score is another one (jackknife over clusters). ``details``: ``wording_variance``, ``repeat_variance``, and
        ``two_wordings`` and ``one_wording``, the standard error of a mean of two scores from two
        wordings, or from one asked twice.

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
    one. The intervals are over questions, for wordings like these: how wordings that were not
    tried would differ is told by their number alone. The test exchanges within items, so that
    clusters need no further care.

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
    try:
        x = np.asarray(scores, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"{where}: scores must be numbers ({error}).") from None
    if x.ndim != 3 or x.shape[1] < 2:
        raise InputError(
            f"{where}: scores must be items x prompts x replications with at least 2 prompts, got "
            f"shape {x.shape}."
        )
    if too_large(x).any():
        raise InputError(f"{where}: scores must be finite, got one infinite or beyond 1e50.")
    codes = cluster_codes(inference["cluster"], x.shape[0], where=where)
    used = (~np.isnan(x)).any(axis=2).sum(axis=1) >= 2
    x, codes = x[used], codes[used]
    sample = Sample(
        n_items=int(used.sum()),
        n_clusters=None if inference["cluster"] is None else len(set(codes.tolist())),
        n_excluded=int((~used).sum()),
        excluded={"scored under fewer than 2 prompts": int((~used).sum())}
        if not used.all()
        else {},
    )
    columns = np.column_stack([_columns(x), *_flips(x)])
    sums = columns.sum(axis=0) if len(x) else np.zeros(_WIDTH)
    reason = ""
    if not len(x):
        reason = "no item has scores under two prompts"
    elif sums[1] == 0:
        reason = "no prompt was asked twice about an item"
    wording, repeat = (math.nan, math.nan) if reason else _variances(sums)
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
    p, n = (math.nan, inference["n_permutations"])
    if not reason:
        p = _p_value(x, n, inference["seed"])
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


def _variances(sums: Floats) -> tuple[float, float]:
    repeat = sums[0] / sums[1]
    return float(sums[2] / sums[3] - repeat * sums[4] / sums[5]), float(repeat)


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


def _flips_repeated(sums: Floats) -> Floats:
    return np.asarray(sums[..., 6] / sums[..., 7])


def _flips_reworded(sums: Floats) -> Floats:
    return np.asarray(sums[..., 8] / sums[..., 9])


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
    ("wording_share", "Share of the scatter that is the wording's", _share, "log_complement"),
    ("sd_repeated", "Standard deviation, same wording", _same, "identity"),
    ("sd_reworded", "Standard deviation, another wording", _reworded, "identity"),
    ("flips_repeated", "Another score, same wording", _flips_repeated, "identity"),
    ("flips_reworded", "Another score, another wording", _flips_reworded, "identity"),
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
