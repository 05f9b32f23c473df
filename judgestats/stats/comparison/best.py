"""Which conditions may be the best, and which one can be recommended?"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from judgestats.arrays import Floats, Ints, check_axes, check_distinct, check_finite
from judgestats.errors import InputError
from judgestats.results.numbers import apa_number, count_noun
from judgestats.stats.inference.bootstrap import cluster_codes
from judgestats.stats.inference.distributions import (
    studentized_range_isf,
    studentized_range_sf,
)
from judgestats.stats.inference.jackknife import mean_over_clusters
from judgestats.stats.inference.keywords import Clustered, with_keywords
from judgestats.stats.inference.result import Comparison, Comparisons, Interval, Sample


@dataclasses.dataclass(frozen=True, kw_only=True)
class BestConditions(Comparisons):
    """Every condition against the best of the others.

    Attributes
    ----------
    rows : tuple of Comparison
        ``a`` the condition, ``b`` the best of the others as observed, ``estimate`` a - b, and
        ``interval`` the simultaneous interval of a's mean minus the best of the others' true means,
        ``p_adjusted`` (and ``p_value``) the simultaneous p of a being among the best.
    means : mapping of str to float
    candidates : tuple of str
        Conditions that may be the best: together they hold every true best at the level.
    non_inferior : tuple of str
        Conditions established to be less than `margin` below the best.
    recommended : str or None
        The cheapest of `non_inferior`; None where none is.
    n_items_needed : int or None
        How many items like these would show the leading condition non-inferior within `margin`,
        were the differences as observed; None where one is shown already, or the leaders are equal
        and there is no margin.
    """

    means: Mapping[str, float]
    margin: float | None
    candidates: tuple[str, ...]
    non_inferior: tuple[str, ...]
    recommended: str | None
    n_items_needed: int | None

    def sentence(self) -> str:
        """What may be the best, what is recommended, or how many items would decide."""
        shown = [f"{name} ({apa_number(self.means[name])})" for name in self.candidates]
        if len(shown) == 1:
            text = f"{shown[0]} is the best"
        else:
            text = f"The best is among {', '.join(shown)}: these are not distinguished at this size"
        if self.recommended:
            within = f" within {apa_number(self.margin)}" if self.margin else ""
            of = "the cheapest of those" if len(self.non_inferior) > 1 else "the only one"
            text += f"; {self.recommended} is {of} non-inferior to the best{within}"
        elif self.n_items_needed:
            text += f"; {count_noun(self.n_items_needed, 'item', 'items')} would decide"
        return f"{text} ({self.sample})."


@with_keywords()
def comparisons_with_best(
    scores: ArrayLike,
    *,
    conditions: Sequence[object] | None = None,
    cost: Sequence[float] | None = None,
    margin: float | None = None,
    **inference: Unpack[Clustered],
) -> BestConditions:
    r"""Compare every condition with the best of the others, all at once.

    Parameters
    ----------
    scores : array-like, shape (n_items, k)
        One number per item and condition, larger is better (credit, share right, mean score); items
        that lack a condition are left out and counted.
    conditions : sequence, optional
        Names of the columns.
    cost : sequence of float, optional
        Cost of each condition (money, or tokens where money is unknown). The cheapest condition
        that is non-inferior is recommended; without costs the one with the highest mean.
    margin : float, optional
        Declared before the data are seen: the largest loss against the best that does not matter.
        None recommends a condition only where it is significantly better than all others.
    level : float
        Probability with which the candidates hold every true best.

    Returns
    -------
    BestConditions

    Raises
    ------
    InputError
        If the shape, the names, the costs or the margin cannot be used.

    Notes
    -----
    Condition i stays a candidate unless some j beats it by more than
    :math:`d\,se_{ij}`, with :math:`d = q_{k, df} / \sqrt 2` from the studentised range (Tukey and
    Kramer) and :math:`se_{ij}`, df of the clustered engine on the items' differences. All pairs
    are bounded at once, so *all* of several equally good conditions are held with the stated
    probability; unadjusted tests leave out one of seven equal ones in 44%. The intervals are
    Hsu's: from min(0, lower) to max(0, upper).

    References
    ----------
    Hsu (1996), Multiple Comparisons: Theory and Methods, chapter 4. Hayter (1984), Annals of
    Statistics 12, 61-75.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> credit = rng.random((200, 3)) < [0.9, 0.89, 0.6]
    >>> out = comparisons_with_best(credit, conditions=["a", "b", "c"], cost=[9, 1, 1], margin=0.1)
    >>> out.candidates, out.recommended
    (('a', 'b'), 'b')
    """
    where = "comparisons_with_best"
    x = np.asarray(scores, dtype=float)
    check_axes(where, "scores", x, "items x conditions", (1, 2))
    k = x.shape[1]
    names = tuple(map(str, range(1, k + 1) if conditions is None else conditions))
    check_distinct(where, "conditions", names, k)
    prices = None if cost is None else np.asarray(cost, dtype=float)
    if prices is not None and (prices.shape != (k,) or not np.isfinite(prices).all()):
        raise InputError(
            f"{where}: cost must be {k} finite numbers, one per condition, got {cost!r}. Leave it "
            "out where a cost is unknown, or give tokens."
        )
    if margin is not None and not (margin > 0 and math.isfinite(margin)):
        raise InputError(
            f"{where}: margin must be a positive number, got {margin!r}. Declare the largest loss "
            "that would not matter."
        )
    codes = cluster_codes(inference["cluster"], x.shape[0], where=where)
    check_finite(where, "scores", x)
    used = np.isfinite(x).all(axis=1)
    lost = int(np.sum(~used))
    x, codes = x[used], codes[used]
    if x.shape[0] < 2:
        raise InputError(
            f"{where}: at least 2 items must have a score under every condition, got {x.shape[0]}. "
            "Leave out the condition that lacks most."
        )
    sample = Sample(
        n_items=x.shape[0],
        n_clusters=int(np.unique(codes).size) if inference["cluster"] is not None else None,
        excluded={"not scored under every condition": lost},
    )
    difference, error, df = _all_differences(x, codes)
    reach = error
    if not math.isnan(df):
        critical = studentized_range_isf(1 - inference["level"], k=k, df=df) / math.sqrt(2)
        reach = error * critical
    rows = tuple(_row(i, names, difference, error, reach, df, inference["level"]) for i in range(k))
    candidates = [i for i in range(k) if np.all(difference[i] >= -reach[i])]
    lower = [min(difference[i, j] - reach[i, j] for j in range(k) if j != i) for i in range(k)]
    kept = [i for i in range(k) if lower[i] > -(margin or 0.0)]
    order = sorted(
        kept, key=lambda i: ((prices[i] if prices is not None else 0.0), -x[:, i].mean())
    )
    return BestConditions(
        name=where,
        method="Comparisons with the best",
        adjust="simultaneous",
        family=f"{k} conditions",
        rows=rows,
        sample=sample,
        means={name: float(m) for name, m in zip(names, x.mean(axis=0), strict=True)},
        margin=margin,
        candidates=tuple(names[i] for i in candidates),
        non_inferior=tuple(names[i] for i in kept),
        recommended=names[order[0]] if order else None,
        n_items_needed=None if order else _items_needed(difference, reach, x.shape[0], margin),
    )


def _all_differences(x: Floats, codes: Ints) -> tuple[Floats, Floats, float]:
    """Differences of means, their standard errors and degrees of freedom."""
    k = x.shape[1]
    difference, error = np.zeros((k, k)), np.zeros((k, k))
    df = math.nan
    for i in range(k):
        for j in range(i):
            m = mean_over_clusters(x[:, i] - x[:, j], codes)
            difference[i, j], difference[j, i] = m.mean, -m.mean
            # Columns that differ by the same amount in every cluster leave nothing to be unsure of,
            # except where there is but one cluster.
            unsure = 0.0 if math.isnan(m.std_error) and not math.isnan(m.df) else m.std_error
            error[i, j] = error[j, i] = math.inf if math.isnan(unsure) else unsure
            df = m.df
    return difference, error, df


def _row(
    i: int,
    names: tuple[str, ...],
    difference: Floats,
    error: Floats,
    reach: Floats,
    df: float,
    level: float,
) -> Comparison:
    """One condition against the best of the others (Hsu's constrained interval)."""
    others = [j for j in range(len(names)) if j != i]
    best = min(others, key=lambda j: difference[i, j])
    low = min(difference[i, j] - reach[i, j] for j in others)
    high = min(difference[i, j] + reach[i, j] for j in others)
    with np.errstate(divide="ignore", invalid="ignore"):
        behind = float(np.nanmax(np.append(-difference[i, others] / error[i, others], 0.0)))
    p = math.nan
    if not math.isnan(df):
        p = float(studentized_range_sf(math.sqrt(2) * behind, k=len(names), df=df))
    return Comparison(
        a=names[i],
        b=names[best],
        estimate=float(difference[i, best]),
        estimate_name="difference_from_best",
        statistic=behind,
        df=df,
        p_value=p,
        p_adjusted=p,
        interval=Interval(
            low=float(min(0.0, low)),
            high=float(max(0.0, high)),
            level=level,
            method="simultaneous comparisons with the best (Hsu), clustered",
        )
        if math.isfinite(low)
        else None,
        reason="" if math.isfinite(low) else "one cluster shows no variation",
    )


def _items_needed(difference: Floats, reach: Floats, n: int, margin: float | None) -> int | None:
    """Items after which the leader's lower limits would pass the margin, all else as observed."""
    leader = int(np.argmax(difference.sum(axis=1)))
    others = [j for j in range(len(difference)) if j != leader]
    room = [difference[leader, j] + (margin or 0.0) for j in others]
    if min(room) <= 0 or not np.isfinite(reach).all():
        return None
    factor = max(float(reach[leader, j] / r) ** 2 for j, r in zip(others, room, strict=True))
    return math.ceil(n * factor) + 1
