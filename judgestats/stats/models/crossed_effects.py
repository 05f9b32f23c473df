"""Random-effects model of items, judges, prompts, and repeats."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgestats.arrays import Floats, as_numbers, check_axes
from judgestats.stats.inference.bootstrap import cluster_codes
from judgestats.stats.inference.keywords import Clustered, with_keywords
from judgestats.stats.inference.result import Estimate, Estimates, Note, Sample
from judgestats.stats.inference.sum_statistics import SumStatistic, estimate_from_sums

Array = NDArray[Any]

TERMS = (
    "item", "judge", "prompt", "item_judge", "item_prompt", "judge_prompt", "item_judge_prompt",
    "repeat",
)  # fmt: skip
_SHARES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "answers": ("the answers", ("item",)),
    "judges": ("the judges", ("judge", "item_judge")),
    "wording": (
        "the wording", ("prompt", "item_prompt", "judge_prompt", "item_judge_prompt"),
    ),
    "repeats": ("repetition", ("repeat",)),
}  # fmt: skip
_PLANS: Mapping[str, tuple[str, tuple[int, int, int]]] = {
    "prompt_twice": ("one judge, one prompt, judged twice", (1, 1, 2)),
    "two_prompts": ("one judge, two prompts once each", (1, 2, 1)),
    "two_judges": ("two judges, one prompt, once each", (2, 1, 1)),
}
"""How two judgments of an answer may be spent: judges, prompts, repeats."""


@with_keywords()
def crossed_components(scores: ArrayLike, **inference: Unpack[Clustered]) -> Estimates:
    r"""Variance of scores by item, judge, prompt and repeat, all at once.

    Parameters
    ----------
    scores : array-like, shape (n_items, n_judges, n_prompts, n_replications)
        NaN where not read. At least two judges and two prompts; some cell with two scores.

    Returns
    -------
    Estimates
        ``variance_of_TERM`` of the eight terms (item, judge, prompt, item_judge, item_prompt,
        judge_prompt, item_judge_prompt, repeat). ``variance_share_PART`` of the answers, the
        judges, the wording, and of repeats, which add up to 1. The D-study of two judgments of
        an answer: ``error_of_prompt_twice``, ``error_of_two_prompts``, ``error_of_two_judges``, the
        standard error of their mean as the score that all judges and prompts would give. Intervals
        by the jackknife over clusters.

    Raises
    ------
    InputError
        If the scores are no such array.

    Notes
    -----
    The components solve the expected mean squares of the cell means :math:`m_{ijp}`, whose error
    has the variance :math:`\hat\sigma_e^2\,\overline{1/r_{ijp}}`; negative ones stay so, but count
    as 0 in errors. Where every cell has as many scores and none is negative they are the REML
    estimates (``lme4``). Items without a score in some cell are left out. The error variance of
    the mean over :math:`n_j` judges, :math:`n_p` prompts and r repeats is
    :math:`(\sigma_j^2 + \sigma_{ij}^2)/n_j + (\sigma_p^2 + \sigma_{ip}^2)/n_p + (\sigma_{jp}^2 +
    \sigma_{ijp}^2)/(n_j n_p) + \sigma_e^2/(n_j n_p r)`. Intervals are over questions, for judges
    and prompts like these. They do not include the sampling of judges and prompts.

    References
    ----------
    Brennan (2001), Generalizability Theory, chapters 3 to 5.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = (rng.normal(0, 2, (60, 1, 1, 1)) + rng.normal(0, 1, (60, 3, 1, 1))
    ...      + rng.normal(0, 0.5, (60, 3, 4, 2)))
    >>> out = crossed_components(x)
    >>> round(out["variance_of_item_judge"].estimate, 1), round(out["variance_of_repeat"].estimate, 2)
    (1.1, 0.26)
    >>> round(sum(e.estimate for e in out.terms if e.name.startswith("variance_share")), 6)
    1.0
    """  # noqa: E501
    where = "crossed_components"
    x = as_numbers(scores, "scores", where)
    check_axes(where, "scores", x, "items x judges x prompts x replications", (0, 2, 2))
    codes = cluster_codes(inference["cluster"], x.shape[0], where=where)
    used = np.all(np.any(~np.isnan(x), axis=3), axis=(1, 2))
    x, codes, n_left = x[used], codes[used], int((~used).sum())
    sample = Sample(
        n_items=len(x),
        n_clusters=None if inference["cluster"] is None else len(set(codes.tolist())),
        excluded={"without a score in some cell": n_left},
    )
    shape = (x.shape[1], x.shape[2])
    columns = _columns(x)
    reason = ""
    if len(x) < 2:
        reason = "fewer than two items have a score in every cell"
    elif columns[:, 1].sum() == 0:
        reason = "no item was judged twice in the same wording"
    elif np.ptp(x[~np.isnan(x)]) == 0:
        reason = "no score varies"
    if reason:
        columns = np.full((max(len(x), 1), columns.shape[1]), np.nan)
    message = f"{n_left} of {used.size} items have a cell without a score, and are left out."
    notes = Note.where(n_left and not reason, "incomplete_items", message)

    def estimate(name: str, label: str, of: Callable[[Array], Array]) -> Estimate:
        return estimate_from_sums(
            SumStatistic(per_item=lambda d: d, combine=lambda s: of(_components(s, shape))),
            columns, name=name, label=label, estimator="expected mean squares of cell means",
            scale="identity", sample=sample, reason=reason, where=where,
            cluster=codes if inference["cluster"] is not None and len(codes) else None,
            level=inference["level"],
        )  # fmt: skip

    terms = [
        estimate(f"variance_of_{name}", f"Variance of {name.replace('_', ' × ')}",
                 partial(_sum_of, names=(name,)))
        for name in TERMS
    ]  # fmt: skip
    terms += [
        estimate(f"variance_share_{part}", f"Share of the variance: {words}",
                 partial(_share_of, names=own))
        for part, (words, own) in _SHARES.items()
    ]  # fmt: skip
    terms += [
        estimate(f"error_of_{plan}", f"Standard error: {words}", partial(_error, counts=counts))
        for plan, (words, counts) in _PLANS.items()
    ]
    return Estimates(
        name=where, label="Items, judges, prompts and repeats", terms=tuple(terms), sample=sample,
        notes=notes,
        details={"n_judges": shape[0], "n_prompts": shape[1]},
    )  # fmt: skip


def _columns(x: Floats) -> Floats:
    """Of each item: squares within cells, their df, mean 1/r, squares of means, 1, cell means."""
    count = (~np.isnan(x)).sum(axis=3)
    with np.errstate(invalid="ignore"):
        means = np.nansum(x, axis=3) / np.maximum(count, 1)
    within = np.nansum((x - means[..., None]) ** 2, axis=(1, 2, 3))
    by_judge, by_prompt = means.mean(axis=2), means.mean(axis=1)
    return np.column_stack(
        [
            within, (count - 1).sum(axis=(1, 2)), (1 / np.maximum(count, 1)).mean(axis=(1, 2)),
            (means**2).sum(axis=(1, 2)), (by_judge**2).sum(axis=1), (by_prompt**2).sum(axis=1),
            means.mean(axis=(1, 2)) ** 2, np.ones(len(x)),
            means.reshape(len(x), x.shape[1] * x.shape[2]),
        ]
    )  # fmt: skip


def _components(sums: Array, shape: tuple[int, int]) -> Array:
    """The eight variances (..., 8), in the order of `TERMS`, from sums of `_columns`."""
    (j, p), n = shape, sums[..., 7]
    cells = sums[..., 8:].reshape(*sums.shape[:-1], j, p) / n[..., None, None]
    t_ijp, t_ij, t_ip, t_i = sums[..., 3], p * sums[..., 4], j * sums[..., 5], j * p * sums[..., 6]
    t_jp = n * (cells**2).sum(axis=(-2, -1))
    t_j = n * p * (cells.mean(axis=-1) ** 2).sum(axis=-1)
    t_p = n * j * (cells.mean(axis=-2) ** 2).sum(axis=-1)
    t_0 = n * j * p * cells.mean(axis=(-2, -1)) ** 2
    repeat = sums[..., 0] / sums[..., 1]
    ms_i = (t_i - t_0) / (n - 1)
    ms_j, ms_p = (t_j - t_0) / (j - 1), (t_p - t_0) / (p - 1)
    ms_ij = (t_ij - t_i - t_j + t_0) / ((n - 1) * (j - 1))
    ms_ip = (t_ip - t_i - t_p + t_0) / ((n - 1) * (p - 1))
    ms_jp = (t_jp - t_j - t_p + t_0) / ((j - 1) * (p - 1))
    ms_ijp = (t_ijp - t_ij - t_ip - t_jp + t_i + t_j + t_p - t_0) / ((n - 1) * (j - 1) * (p - 1))
    return np.stack(
        [
            (ms_i - ms_ij - ms_ip + ms_ijp) / (j * p),
            (ms_j - ms_ij - ms_jp + ms_ijp) / (n * p),
            (ms_p - ms_ip - ms_jp + ms_ijp) / (n * j),
            (ms_ij - ms_ijp) / p,
            (ms_ip - ms_ijp) / j,
            (ms_jp - ms_ijp) / n,
            ms_ijp - repeat * sums[..., 2] / n,
            repeat,
        ],
        axis=-1,
    )


def _sum_of(variances: Array, names: tuple[str, ...]) -> Array:
    return np.asarray(sum(variances[..., TERMS.index(name)] for name in names))


def _share_of(variances: Array, names: tuple[str, ...]) -> Array:
    return np.asarray(_sum_of(variances, names) / variances.sum(axis=-1))


def _error(variances: Array, counts: tuple[int, int, int]) -> Array:
    """Standard error of a mean of judges x prompts x repeats; negative components count as 0."""
    v = np.maximum(np.real(variances), 0.0)
    of = {name: v[..., k] for k, name in enumerate(TERMS)}
    n_judges, n_prompts, n_repeats = counts
    cells = n_judges * n_prompts
    error = (
        (of["judge"] + of["item_judge"]) / n_judges
        + (of["prompt"] + of["item_prompt"]) / n_prompts
        + (of["judge_prompt"] + of["item_judge_prompt"]) / cells
        + of["repeat"] / (cells * n_repeats)
    )
    return np.asarray(np.sqrt(error))
