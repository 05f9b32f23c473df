"""Position bias: order swaps, noise, and preference for a position."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Literal, Unpack

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from judgestats.arrays import Bools, Floats, Ints
from judgestats.errors import InputError, one_of
from judgestats.stats.agreement.kappa import cohen_kappa
from judgestats.stats.designs.count_table import encode_verdicts
from judgestats.stats.inference import distributions
from judgestats.stats.inference.bootstrap import cluster_codes
from judgestats.stats.inference.distributions import proportion_limits
from judgestats.stats.inference.estimate import Estimate, Interval, NullReference, Result, Sample
from judgestats.stats.inference.keywords import (
    NULL,
    Clustered,
    Permutations,
    Resampled,
    SumInference,
    with_keywords,
)
from judgestats.stats.inference.permutation import permutation_distribution
from judgestats.stats.inference.result import TestResult
from judgestats.stats.inference.sum_statistics import (
    IntervalMethod,
    SumStatistic,
    counts_of_codes,
    estimate_from_sums,
)

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


@dataclasses.dataclass(frozen=True, kw_only=True)
class PositionAndNoise(Result):
    """Disagreement between orders, split into noise of repetition and effect of position.

    Attributes
    ----------
    noise : Estimate
        Chance that two judgments in the *same* order differ.
    between : Estimate
        Chance that two judgments in *opposite* orders differ.
    position : Estimate
        Their difference: what order adds. Its null exchanges verdicts between orders.
    noise_share : Estimate
        Noise over disagreement between orders: how much of it repetition alone explains.
    """

    noise: Estimate
    between: Estimate
    position: Estimate
    noise_share: Estimate

    def tidy(self) -> pd.DataFrame:
        """One row for each of the four estimates."""
        parts = (self.noise, self.between, self.position, self.noise_share)
        return pd.concat([e.tidy() for e in parts], ignore_index=True)

    def apa(self, *, digits: int = 2) -> str:
        """The four estimates with their intervals: see `Result.apa`."""
        parts = (self.noise, self.between, self.position, self.noise_share)
        return "; ".join(e.apa(digits=digits) for e in parts)

    def sentence(self) -> str:
        """The decomposition in one sentence."""
        if math.isnan(self.position.estimate):
            return f"Position and noise cannot be told apart: {self.position.reason}."
        return (
            f"Two judgments differ with probability {self.noise.short()} when the order is the "
            f"same and {self.between.short()} when it is swapped, so order adds "
            f"{self.position.short()} ({self.position.sample})."
        )

    def __str__(self) -> str:
        parts = (self.noise, self.between, self.position, self.noise_share)
        lines = ["", "\tPosition apart from repetition noise", ""]
        lines += [f"{e.label}: {e.short()}" for e in parts]
        if self.position.null:
            lines.append(str(self.position.null))
        return "\n".join([*lines, f"data: {self.position.sample}", ""])


def _parts(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Disagreement within orders and between them, from counts (..., items, 3)."""

    def item_disagreement(c: Floats) -> Floats:
        m = c.sum(axis=-1)
        return np.asarray(1.0 - np.sum(c * (c - 1.0), axis=-1) / (m * (m - 1.0)))

    return (item_disagreement(a) + item_disagreement(b)) / 2, 1.0 - pair_agreement(a, b)


@with_keywords(permutations=NULL)
def position_and_noise(
    first_order: ArrayLike, second_order: ArrayLike, **inference: Unpack[SumInference]
) -> PositionAndNoise:
    r"""Take the effect of position apart from repetition noise, by repeating both orders.

    Parameters
    ----------
    first_order, second_order : array-like, shape (n_items, n_repetitions)
        Response preferred, ``"a"``, ``"b"`` or ``"tie"``, with a shown first and with b shown
        first; at least two repetitions read in each order (other items are left out, counted).
    n_permutations : int
        Permutations of the null of ``position``: an item's verdicts exchanged between its orders.

    Returns
    -------
    PositionAndNoise

    Raises
    ------
    InputError
        If a verdict is none of the three or the shapes do not fit.

    Notes
    -----
    With verdict probabilities :math:`\pi_1, \pi_2` in the two orders, two judgments in opposite
    orders differ with probability :math:`1 - \pi_1 \pi_2`, two in the same order with
    :math:`1 - (|\pi_1|^2 + |\pi_2|^2) / 2`; the difference is :math:`|\pi_1 - \pi_2|^2 / 2`,
    which is 0 when order does not matter. All three are estimated without bias from pairs of
    distinct judgments, so ``position`` can come out slightly negative.

    References
    ----------
    STATISTICS section 8 of the project's design.

    Examples
    --------
    >>> first = [["a", "a", "a"], ["a", "b", "a"], ["b", "b", "b"]]
    >>> second = [["b", "b", "b"], ["a", "b", "b"], ["b", "b", "b"]]
    >>> out = position_and_noise(first, second, n_permutations=99, interval="none")
    >>> [round(e.estimate, 4) for e in (out.noise, out.between, out.position)]
    [0.2222, 0.5185, 0.2963]
    """
    where = "position_and_noise"
    a, b, _ = both_orders(first_order, second_order, where)
    used = (np.sum(a >= 0, axis=1) >= 2) & (np.sum(b >= 0, axis=1) >= 2)
    ca, cb = counts_of_codes(a, 3), counts_of_codes(b, 3)
    with np.errstate(divide="ignore", invalid="ignore"):
        noise, between = (np.where(used, v, 0.0) for v in _parts(ca, cb))
    data = np.column_stack([used, noise, between]).astype(float)
    n_out = int(np.sum(~used))
    why = "fewer than two verdicts in one of the orders"
    sample = dataclasses.replace(
        order_sample(used, a, b),
        n_excluded=n_out,
        excluded={why: n_out},
    )

    def estimate(name: str, label: str, combine: Any, *, proportion: bool) -> Estimate:
        return estimate_from_sums(
            SumStatistic(per_item=lambda x: x, combine=combine),
            data,
            name=name,
            label=label,
            estimator="pairs of distinct judgments, items weigh equally",
            sample=sample,
            reason="no item has two verdicts in each order"
            if not used.any()
            else "the orders never disagree",
            where=where,
            cluster=inference["cluster"],
            level=inference["level"],
            interval=inference["interval"],
            scale="logit" if proportion else "identity",
            n_resamples=inference["n_resamples"],
            seed=inference["seed"],
            proportion=proportion,
        )

    position = estimate(
        "position_effect",
        "Disagreement that order adds",
        lambda s: np.asarray((s[..., 2] - s[..., 1]) / s[..., 0]),
        proportion=False,
    )
    if inference["n_permutations"] and math.isfinite(position.estimate):
        position = position.replace(
            null=_position_null(
                a[used], b[used], n_permutations=inference["n_permutations"], seed=inference["seed"]
            )
        )
    return PositionAndNoise(
        noise=estimate(
            "repetition_noise",
            "Two judgments in the same order differ",
            lambda s: np.asarray(s[..., 1] / s[..., 0]),
            proportion=True,
        ),
        between=estimate(
            "order_disagreement",
            "Two judgments in opposite orders differ",
            lambda s: np.asarray(s[..., 2] / s[..., 0]),
            proportion=True,
        ),
        position=position,
        noise_share=estimate(
            "noise_share",
            "Noise as a share of the disagreement between orders",
            lambda s: np.asarray(s[..., 1] / s[..., 2]),
            proportion=False,
        ),
    )


def _position_null(a: Ints, b: Ints, **inference: Unpack[Permutations]) -> NullReference:
    """Null of the position effect: an item's verdicts exchanged between its orders."""
    split = a.shape[1]

    def statistic(x: Ints) -> Floats:
        ca, cb = counts_of_codes(x[..., :split], 3), counts_of_codes(x[..., split:], 3)
        noise, between = _parts(ca, cb)
        gap = between - noise
        # Missing verdicts can leave an order with fewer than two: such items drop out.
        return np.asarray(np.nanmean(np.where(np.isfinite(gap), gap, np.nan), axis=-1))

    return permutation_distribution(
        np.hstack([a, b]),
        statistic,
        scheme="positions",
        **inference,
        vectorized=True,
    ).null


@with_keywords()
def first_position_preference(
    first_order: ArrayLike, second_order: ArrayLike, **inference: Unpack[Clustered]
) -> TestResult:
    r"""Does the judge lean to the response shown first, or to the one shown second?

    Parameters
    ----------
    first_order, second_order : array-like, shape (n_items,) or (n_items, n_repetitions)
        Response preferred, ``"a"``, ``"b"`` or ``"tie"``, with a shown first and with b shown
        first; None, NaN or empty text where not read.
    cluster : array-like, shape (n_items,), optional
        Cluster of each item: clusters are then the unit of the exact test.

    Returns
    -------
    TestResult
        Exact sign test. ``effects``: the share leaning to the first position among units that
        lean at all (Clopper-Pearson), and the share of all decided verdicts for the response shown
        first (jackknife over clusters). ``details``: the counts behind them.

    Raises
    ------
    InputError
        If a verdict is none of the three or the shapes differ.

    Notes
    -----
    A unit's lean is (share of its verdicts for the first place) - (share for the second), each
    order weighing the same. Without clusters, repetitions and ties this is McNemar's exact test
    on the items whose verdict follows the order. Only items with verdicts in both orders enter,
    so that the quality of the responses cancels.

    References
    ----------
    Clopper & Pearson (1934); McNemar (1947).

    Examples
    --------
    >>> first = ["a"] * 12 + ["b"] * 3 + ["a"] * 5
    >>> second = ["b"] * 12 + ["a"] * 3 + ["a"] * 5
    >>> out = first_position_preference(first, second)
    >>> round(out.p_value, 4), out.effect.estimate, round(out.effects[1].estimate, 4)
    (0.0352, 0.8, 0.725)
    """
    where = "first_position_preference"
    a, b, both = both_orders(first_order, second_order, where)
    groups = cluster_codes(inference["cluster"], a.shape[0], where=where)
    # Counts by place (first, second, tie): in the second order, b stands first.
    ca, cb = counts_of_codes(a, 3), counts_of_codes(b, 3)[:, [1, 0, 2]]
    with np.errstate(divide="ignore", invalid="ignore"):
        places = (ca / ca.sum(axis=1, keepdims=True) + cb / cb.sum(axis=1, keepdims=True)) / 2
    places = np.where(both[:, None], places, 0.0)
    lean = np.zeros(int(groups.max()) + 1)
    np.add.at(lean, groups, places[:, 0] - places[:, 1])
    first = int(np.sum(lean > 1e-12))
    second = int(np.sum(lean < -1e-12))
    units = np.unique(groups[both]).size
    sample = order_sample(both, a, b)
    if inference["cluster"] is not None:
        sample = dataclasses.replace(sample, n_clusters=int(units))
    unit = "item" if inference["cluster"] is None else "cluster"
    share = estimate_from_sums(
        SumStatistic(per_item=lambda x: x, combine=lambda s: np.asarray(s[..., 1] / s[..., 0])),
        np.column_stack([places[:, 0] + places[:, 1], places[:, 0]]),
        name="first_position_share",
        label="Share of decided verdicts for the response shown first",
        estimator="items with both orders, orders weigh equally, ties left out",
        sample=sample,
        reason="no decided verdict",
        where=where,
        **inference,
        scale="logit",
        proportion=True,
    )
    leaning = first + second
    conditional = Estimate(
        name="first_position_preference",
        label=f"Share leaning to the first position among {unit}s that lean",
        estimate=first / leaning if leaning else math.nan,
        estimator=f"{unit}s whose verdicts follow the order",
        interval=clopper_pearson(first, leaning, level=inference["level"]) if leaning else None,
        sample=dataclasses.replace(sample, n_items=leaning),
        reason="" if leaning else f"no {unit}'s verdict follows the order",
    )
    result = TestResult(
        name=where,
        method=f"Exact sign test of position preference ({unit}s as units)",
        statistic=float(first),
        statistic_name=f"{unit}s leaning first",
        p_value=math.nan,
        sample=sample,
        null_hypothesis="the first and the second place are preferred equally often",
        alternative="one place is preferred",
        why="both orders of the same pair are compared, so the quality of the responses cancels",
        effects=(conditional, share),
        details={
            "leaning_first": first,
            "leaning_second": second,
            "no_lean": int(units) - leaning,
            "tie_share": float(places[both, 2].mean()) if both.any() else math.nan,
        },
    )
    if not both.any():
        return result.replace(statistic=math.nan, reason="no item has a verdict in both orders")
    p = distributions.sign_test(first, leaning - first)
    return result.replace(p_value=p)
