"""Cohen's kappa of two judges, or of a judge and a person."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgestats.arrays import Floats
from judgestats.errors import InputError
from judgestats.stats.agreement.category_weights import WeightName, weights_for
from judgestats.stats.agreement.chance_corrected import ONE_VERDICT
from judgestats.stats.inference import distributions
from judgestats.stats.inference.keywords import ON_DEMAND, SumInference, with_keywords
from judgestats.stats.inference.result import Estimate
from judgestats.stats.inference.sum_statistics import (
    SumStatistic,
    estimate_from_sums,
    influence,
)
from judgestats.stats.layouts.count_table import (
    CountTable,
    counts_of_codes,
    encode_verdicts,
    rare_category_notes,
)


@with_keywords(permutations=ON_DEMAND)
def cohen_kappa(
    first: ArrayLike,
    second: ArrayLike,
    *,
    categories: Sequence[Any] | None = None,
    weights: WeightName | ArrayLike = "unweighted",
    **inference: Unpack[SumInference],
) -> Estimate:
    r"""Cohen's kappa of two judges (or a judge and a person), weighted if asked.

    Parameters
    ----------
    first, second : array-like, shape (n_items,)
        Verdicts on the same items; None, NaN or empty text where nothing was read. Items with
        one missing are left out and counted.
    categories : sequence, optional
        All categories, in order for weights.
    weights : {"unweighted", "linear", "quadratic", "ordinal"} or array-like, shape (q, q)
        irr's ``equal`` is linear and ``squared`` quadratic (Fleiss-Cohen).
    cluster, level, interval, n_resamples, n_permutations, seed
        See `fleiss_kappa`; L is -1 (see `judgestats.stats.agreement.attainable_minimum`; weights of
        one's own, which may have no such end, are on -log(1 - x)).

    Returns
    -------
    Estimate
        ``details``: the table of both, raw and chance agreement, the asymptotic standard error
        ``ase`` (as vcd::Kappa), and z and p of kappa = 0 (as irr::kappa2).

    Raises
    ------
    InputError
        If the lengths differ, a verdict is no category, or the weights do not fit.

    Notes
    -----
    .. math:: \kappa_w = \frac{\sum W_{kl} p_{kl} - \sum W_{kl} p_{k.} p_{.l}}
              {1 - \sum W_{kl} p_{k.} p_{.l}}

    psych 2.2.9's variance of the weighted kappa is 0, which is wrong.

    References
    ----------
    Cohen (1968), Weighted kappa. Psychol Bull 70, 213-220.
    Fleiss, Cohen & Everitt (1969), Psychol Bull 72, 323-327.

    Examples
    --------
    >>> judge = ["A", "A", "B", "B", "A", "tie"]
    >>> human = ["A", "B", "B", "B", "A", "A"]
    >>> round(cohen_kappa(judge, human).estimate, 4)
    0.4286
    """
    where = "cohen_kappa"
    a, b = np.asarray(first), np.asarray(second)
    if a.ndim != 1 or a.shape != b.shape:
        raise InputError(
            f"{where}: first and second must be two verdicts on the same items, got shapes "
            f"{a.shape} and {b.shape}. Align them by item."
        )
    both = np.column_stack([a.astype(object), b.astype(object)])
    codes, named = encode_verdicts(both, categories=categories, where=where)
    table = CountTable(
        counts=np.zeros((codes.shape[0], len(named))), categories=named, codes=codes,
        given=categories is not None,
    )  # fmt: skip
    matrix, weight_name = weights_for(table, weights, where=where)
    q = len(named)
    read = np.all(codes >= 0, axis=1)
    n_out = int(np.sum(~read))

    def per_item(c: NDArray[Any]) -> Floats:
        seen = np.all(c >= 0, axis=-1)
        cell = np.where(seen, c[..., 0] * q + c[..., 1], -1)
        return np.asarray(cell[..., None] == np.arange(q * q), dtype=float)

    def combine(s: NDArray[Any]) -> NDArray[Any]:
        p = s.reshape(*s.shape[:-1], q, q) / s.sum(axis=-1)[..., None, None]
        po = np.sum(p * matrix, axis=(-2, -1))
        pe = np.sum((p.sum(axis=-1) @ matrix) * p.sum(axis=-2), axis=-1)
        return np.asarray((po - pe) / (1 - pe))

    statistic = SumStatistic(per_item=per_item, combine=combine)
    cells = per_item(codes).sum(axis=0).reshape(q, q)
    n = float(cells.sum())
    if n == 0:
        reason = "no item has both verdicts"
    else:
        used = [
            str(c) for c, k in zip(named, cells.sum(axis=0) + cells.sum(axis=1), strict=True) if k
        ]
        reason = ONE_VERDICT.format(only=used[0]) if len(used) == 1 else "chance agreement is 1"
    sample = dataclasses.replace(
        table.sample(),
        n_items=int(n),
        n_replications=None,
        n_replications_max=None,
        n_excluded=n_out,
        excluded={"one of the two verdicts is missing": n_out},
    )
    return estimate_from_sums(
        statistic,
        codes,
        name=where if weight_name == "unweighted" else f"{where}_{weight_name.split()[0]}",
        label="Cohen's kappa" if weight_name == "unweighted" else "Cohen's weighted kappa",
        estimator=f"{weight_name}; items with both verdicts",
        sample=sample,
        reason=reason,
        where=where,
        scale="log_ratio",
        least=-1.0 if isinstance(weights, str) else math.nan,
        codes=codes,
        **inference,
        notes=rare_category_notes(counts_of_codes(codes[read], q)),
        details={"categories": named, "table": cells, "weights": weight_name}
        | (_cohen_details(statistic, per_item(codes), cells / n, matrix, n) if n else {}),
    )


def _cohen_details(
    statistic: SumStatistic, terms: Floats, p: Floats, weights: Floats, n: float
) -> dict[str, float]:
    """Raw and chance agreement, the asymptotic standard error and the z test of kappa = 0."""
    row, col = p.sum(axis=1), p.sum(axis=0)
    po, pe = float(np.sum(p * weights)), float(row @ weights @ col)
    with np.errstate(divide="ignore", invalid="ignore"):
        ase = float(np.sqrt(np.sum(influence(statistic, terms) ** 2)))
        mean = (weights @ col)[:, None] + (weights.T @ row)[None, :]
        variance = (np.sum(np.outer(row, col) * (weights - mean) ** 2) - pe**2) / (
            n * np.square(np.float64(1 - pe))
        )
        z = float(np.float64(po - pe) / np.float64(1 - pe) / np.sqrt(variance))
    return {
        "percent_agreement": po,
        "chance_agreement": pe,
        "ase": ase,
        "z_no_agreement": z,
        "p_no_agreement": float(2 * distributions.norm.sf(abs(z))),
    }
