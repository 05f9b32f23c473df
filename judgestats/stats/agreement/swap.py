"""Two options shown in both orders: is the same response preferred after a swap?

Verdicts here name the *response* ("a", "b" or a tie), not the place where it stood: in the first
order response a is shown first, in the second order response b is.
"""

from __future__ import annotations

import math
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike

from judgestats.arrays import Bools, Floats, Ints
from judgestats.errors import InputError, one_of
from judgestats.stats.agreement.cohen import cohen_kappa
from judgestats.stats.inference.keywords import Resampled, with_keywords
from judgestats.stats.inference.proportions import proportion_limits
from judgestats.stats.inference.result import Estimate, Interval, Sample
from judgestats.stats.inference.sum_statistics import (
    IntervalMethod,
    SumStatistic,
    estimate_from_sums,
)
from judgestats.stats.layouts.count_table import counts_of_codes, encode_verdicts

OUTCOMES = ("a", "b", "tie")


def clopper_pearson(successes: int, trials: int, *, level: float = 0.95) -> Interval:
    """Exact interval of a proportion of independent trials.

    Parameters
    ----------
    successes, trials : int
    level : float

    Returns
    -------
    Interval
        (0, 1) for no trials.

    Raises
    ------
    InputError
        If the counts do not fit.

    Notes
    -----
    Quantiles of the beta distribution; never covers less than its level.

    References
    ----------
    Clopper & Pearson (1934), Biometrika 26, 404-413.

    Examples
    --------
    >>> clopper_pearson(14, 25).low.__round__(6)
    0.349282
    """
    if not 0 <= successes <= trials:
        raise InputError(
            f"clopper_pearson: successes must lie between 0 and trials, got {successes} of "
            f"{trials}. Give counts."
        )
    if trials == 0:
        return Interval(low=0.0, high=1.0, level=level, method="Clopper-Pearson (exact)")
    low, high = proportion_limits(successes, trials, level=level, method="clopper-pearson")
    return Interval(low=low, high=high, level=level, method="Clopper-Pearson (exact)")


def both_orders(first: ArrayLike, second: ArrayLike, where: str) -> tuple[Ints, Ints, Bools]:
    """Codes (0 = a, 1 = b, 2 = tie) of both orders as (items, repetitions), and who has both.

    Raises
    ------
    InputError
        If a verdict is none of the three, or the items differ.
    """
    a, _ = encode_verdicts(first, categories=OUTCOMES, where=where)
    b, _ = encode_verdicts(second, categories=OUTCOMES, where=where)
    a = a[:, None] if a.ndim == 1 else a
    b = b[:, None] if b.ndim == 1 else b
    if a.ndim != 2 or b.ndim != 2 or a.shape[0] != b.shape[0] or a.shape[0] == 0:
        raise InputError(
            f"{where}: first_order and second_order must hold the same items (rows), got shapes "
            f"{a.shape} and {b.shape}. Align them by item; columns are repetitions."
        )
    return a, b, np.any(a >= 0, axis=1) & np.any(b >= 0, axis=1)


def order_sample(both: Bools, a: Ints, b: Ints) -> Sample:
    """Items with verdicts in both orders, repetitions and exclusions."""
    n_out = int(np.sum(~both))
    width = (a.shape[1], b.shape[1])
    return Sample(
        n_items=int(both.sum()),
        n_replications=min(width),
        n_replications_max=max(width),
        excluded={"no verdict in one of the orders": n_out},
    )


def pair_agreement(x: Floats, y: Floats) -> Floats:
    """Share of pairs (one judgment of each order) that agree, from counts (..., items, 3)."""
    return np.asarray(np.sum(x * y, axis=-1) / (x.sum(axis=-1) * y.sum(axis=-1)))


@with_keywords()
def swap_consistency(
    first_order: ArrayLike,
    second_order: ArrayLike,
    *,
    ties: Literal["verdict", "exclude"] = "verdict",
    interval: Literal["exact", "jackknife", "linearised", "bca", "percentile", "none"]
    | None = None,
    **inference: Unpack[Resampled],
) -> Estimate:
    """Share of items on which the judge prefers the same response in both orders.

    Parameters
    ----------
    first_order, second_order : array-like, shape (n_items,) or (n_items, n_repetitions)
        Response preferred, ``"a"``, ``"b"`` or ``"tie"``, with a shown first and with b shown
        first; None, NaN or empty text where not read. With repetitions: the share of all pairs of
        one judgment from each order, averaged over items.
    ties : {"verdict", "exclude"}
        Whether a tie in both orders is consistency (default), or judgments of a tie are left out.
    interval : {"exact", "jackknife", "linearised", "bca", "percentile", "none"}, optional
        Default: ``exact`` (Clopper-Pearson) for independent items judged once in each order, else
        ``jackknife`` over clusters.

    Returns
    -------
    Estimate
        ``details``: Cohen's kappa of the two orders (for one repetition), share of ties.

    Raises
    ------
    InputError
        If a verdict is none of the three, the shapes differ, or ``exact`` does not fit.

    Notes
    -----
    Inconsistency mixes a preference for a position with plain noise: `position_and_noise` takes
    them apart from repeated judgments.

    References
    ----------
    STATISTICS section 8 of the project's design.

    Examples
    --------
    >>> out = swap_consistency(["a", "a", "b", "tie"], ["a", "b", "b", "tie"])
    >>> out.estimate, out.interval.method
    (0.75, 'Clopper-Pearson (exact)')
    """
    where = "swap_consistency"
    one_of(where, "ties", ties, ("verdict", "exclude"))
    a, b, _ = both_orders(first_order, second_order, where)
    n_ties = int(np.sum(a == 2) + np.sum(b == 2))
    n_read = int(np.sum(a >= 0) + np.sum(b >= 0))
    if ties == "exclude":
        a, b = np.where(a == 2, -1, a), np.where(b == 2, -1, b)
    both = np.any(a >= 0, axis=1) & np.any(b >= 0, axis=1)
    once = a.shape[1] == b.shape[1] == 1
    chosen = (
        interval
        if interval is not None
        else ("exact" if once and inference["cluster"] is None else None)
    )
    if chosen == "exact" and not (once and inference["cluster"] is None):
        clusters = "" if inference["cluster"] is None else " and clusters"
        raise InputError(
            f"{where}: interval='exact' needs independent items judged once in each order, got "
            f"{a.shape[1]} repetitions{clusters}. Use interval='jackknife'."
        )
    with np.errstate(divide="ignore", invalid="ignore"):
        same = pair_agreement(counts_of_codes(a, 3), counts_of_codes(b, 3))
    data = np.column_stack([both, np.where(both, same, 0.0)]).astype(float)
    details: dict[str, Any] = {"tie_share": n_ties / n_read if n_read else math.nan}
    if once:
        kappa = cohen_kappa(
            np.where(both, a[:, 0], np.nan), np.where(both, b[:, 0], np.nan), interval="none"
        )
        details |= {"kappa": kappa.estimate, "consistent": int(data[:, 1].sum())}
    method: IntervalMethod = (
        "none" if chosen == "exact" else ("jackknife" if chosen is None else chosen)
    )
    result = estimate_from_sums(
        SumStatistic(per_item=lambda x: x, combine=lambda s: np.asarray(s[..., 1] / s[..., 0])),
        data,
        name=where,
        label="Same response preferred in both orders",
        estimator="pairs of one judgment from each order"
        + ("; ties left out" if ties == "exclude" else "; a tie is a verdict"),
        sample=order_sample(both, a, b),
        reason="no item has a verdict in both orders",
        where=where,
        interval=method,
        scale="logit",
        **inference,
        proportion=True,
        details=details,
    )
    if chosen == "exact" and math.isfinite(result.estimate):
        exact = clopper_pearson(int(data[:, 1].sum()), int(both.sum()), level=inference["level"])
        result = result.replace(interval=exact)
    return result
