"""Position apart from repetition noise, when both orders are judged several times."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Unpack

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from judgestats.arrays import Floats, Ints
from judgestats.stats.agreement.swap import both_orders, order_sample, pair_agreement
from judgestats.stats.inference.keywords import NULL, Permutations, SumInference, with_keywords
from judgestats.stats.inference.permutation import permutation_distribution
from judgestats.stats.inference.result import Estimate, NullReference, Result
from judgestats.stats.inference.sum_statistics import (
    SumStatistic,
    estimate_from_sums,
)
from judgestats.stats.layouts.count_table import counts_of_codes


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

    def within(c: Floats) -> Floats:
        m = c.sum(axis=-1)
        return np.asarray(1.0 - np.sum(c * (c - 1.0), axis=-1) / (m * (m - 1.0)))

    return (within(a) + within(b)) / 2, 1.0 - pair_agreement(a, b)


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
