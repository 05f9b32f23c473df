"""Wilcoxon's signed-rank test of paired values, with R's rules for exact p and continuity."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike

from judgestats.arrays import Floats, Ints
from judgestats.errors import one_of
from judgestats.stats.comparison.location_shift import paired_estimate
from judgestats.stats.comparison.matched_effects import matched_estimate
from judgestats.stats.inference import distributions
from judgestats.stats.inference.keywords import Seeded, with_keywords
from judgestats.stats.inference.rank_distributions import signed_rank_null
from judgestats.stats.inference.result import Estimate, Note, TestResult
from judgestats.stats.inference.rounding_noise import noise_free_difference
from judgestats.stats.layouts.blocks import Blocks, as_paired
from judgestats.stats.layouts.formula import Missing

Alternative = Literal["two-sided", "greater", "less"]
Zeros = Literal["drop", "pratt"]

_WHY = (
    "The signed-rank test was used because the values are paired by item; it asks whether the "
    "differences are symmetric about zero."
)
ALTERNATIVES = ("two-sided", "greater", "less")

CLUSTER_WORK = 40_000_000
"""Elementary steps up to which sign changes of clusters are enumerated exactly by default."""


def tail_p(null: Floats, observed: int, centre: float, alternative: Alternative) -> float:
    """p-value from the probabilities of whole-number statistics; two-sided by distance."""
    values = np.arange(null.size)
    if alternative == "greater":
        chosen = values >= observed
    elif alternative == "less":
        chosen = values <= observed
    else:
        chosen = np.abs(values - centre) >= abs(observed - centre) - 1e-9
    return float(min(1.0, null[chosen].sum()))


def normal_p(z: float, alternative: Alternative) -> float:
    """p-value of a standard normal statistic."""
    if alternative == "two-sided":
        return float(min(1.0, 2 * distributions.norm.sf(abs(z))))
    return float(distributions.norm.sf(z if alternative == "greater" else -z))


def continuity(centred: float, alternative: Alternative, correct: bool) -> float:
    """R's continuity correction: half a rank towards the centre."""
    if not correct:
        return 0.0
    if alternative == "two-sided":
        return float(np.sign(centred)) * 0.5
    return 0.5 if alternative == "greater" else -0.5


@with_keywords()
def wilcoxon_signed_rank(
    x: ArrayLike | str,
    y: object = None,
    *,
    alternative: Alternative = "two-sided",
    exact: bool | None = None,
    correct: bool = True,
    zeros: Zeros = "pratt",
    names: Sequence[Any] | None = None,
    missing: Missing = "drop",
    **inference: Unpack[Seeded],
) -> TestResult:
    r"""Wilcoxon's signed-rank test: do paired values differ?

    Parameters
    ----------
    x, y : array-like of shape (n,)
        Both values of every pair; or an array (n, 2) alone; or a formula
        ``"score ~ condition | item"`` and a frame with two conditions.
    alternative : {"two-sided", "greater", "less"}
        ``greater``: x tends to be larger than y.
    exact : bool, optional
        Default R's rule: exact below 50 differences without ties or zeros. True: exact given the
        ties (shift algorithm, as exactRankTests and coin). False: normal.
    correct : bool
        Continuity correction of the normal approximation, as R's default.
    zeros : {"pratt", "drop"}
        Zero differences are ranked with the others and left out after (Pratt; the default of
        ``coin::wilcoxsign_test``), or left out before (R's ``wilcox.test``). The pseudomedian and
        its interval keep or leave them out likewise.
    names : sequence, optional
        Labels of the two columns.
    cluster : array-like of shape (n,) or str, optional
        Cluster of each pair: the p-value is then exact over sign changes of whole clusters.
    missing : {"drop", "raise"}
        Pairs with a missing value are left out and counted, or refused.
    seed : int or None
        Has no effect: nothing is drawn.

    Returns
    -------
    TestResult
        Effects: matched rank-biserial correlation, Hodges-Lehmann pseudomedian.

    Raises
    ------
    InputError
        If the data cannot be read as pairs or an option is unknown.

    Notes
    -----
    :math:`V = \sum_{d_i > 0} \mathrm{rank}|d_i|`, variance :math:`\sum r_i^2 / 4`, which is R's tie
    correction. scipy's ``wilcoxon`` reports the smaller of V+ and V-, is asymptotic with ties and
    applies no continuity correction by default; so this is own code, held to R.

    References
    ----------
    Wilcoxon (1945), Biometrics 1, 80-83; Streitberg & Roehmel (1986), Statist. Software
    Newsletter 12, 10-17; Rosner, Glynn & Lee (2006), Biometrics 62, 185-192 (clusters).

    Examples
    --------
    >>> before = [8.1, 7.4, 6.9, 9.0, 7.7, 8.4, 6.2]
    >>> after = [7.0, 7.1, 6.8, 8.1, 7.2, 8.6, 5.5]
    >>> result = wilcoxon_signed_rank(before, after)
    >>> result.statistic, round(result.p_value, 6), round(result.effect.estimate, 4)
    (26.0, 0.046875, 0.8571)
    """
    where = "wilcoxon_signed_rank"
    one_of(where, "alternative", alternative, ALTERNATIVES)
    one_of(where, "zeros", zeros, ("drop", "pratt"))
    blocks = as_paired(
        x, y, where=where, names=names, cluster=inference["cluster"], missing=missing
    )
    d = noise_free_difference(blocks.scores[:, 0], blocks.scores[:, 1])
    notes = list(blocks.notes)
    n_zero = int(np.sum(d == 0))
    if n_zero:
        done = "left out" if zeros == "drop" else "ranked and then left out (Pratt)"
        zero_words = "difference of zero is" if n_zero == 1 else "differences of zero are"
        notes.append(Note(code="zero_differences", message=f"{n_zero} {zero_words} {done}."))
    outcome = signed_rank_outcome(d, blocks.cluster, alternative, exact, correct, zeros)
    a, b = blocks.conditions
    effects = (
        matched_estimate(
            d,
            sample=blocks.sample,
            cluster=blocks.cluster,
            level=inference["level"],
        ),
        _shift(d, blocks, zeros, correct, inference["level"]),
    )
    side = {"two-sided": "not symmetric about 0", "greater": "above 0", "less": "below 0"}
    return TestResult(
        name=where,
        method=outcome["method"],
        statistic=outcome["statistic"],
        statistic_name="V",
        p_value=outcome["p_value"],
        sample=blocks.sample,
        null_hypothesis=f"{a} and {b} are alike",
        alternative=f"the differences {a} - {b} are {side[alternative]}",
        why=_WHY,
        effects=effects,
        data_name=blocks.data_name if isinstance(x, str) else f"{a} and {b}",
        notes=tuple(notes),
        reason=outcome["reason"],
        details=MappingProxyType({"n_zero": n_zero, "n_used": d.size - n_zero, "z": outcome["z"]}),
    )


def _shift(d: Floats, blocks: Blocks, zeros: Zeros, correct: bool, level: float) -> Estimate:
    """The pseudomedian of the differences that the test is about."""
    kept = d != 0 if zeros == "drop" and np.any(d != 0) else np.ones(d.size, dtype=bool)
    return paired_estimate(
        d[kept],
        sample=blocks.sample,
        correct=correct,
        cluster=None if blocks.cluster is None else blocks.cluster[kept],
        level=level,
    )


def signed_rank_outcome(
    d: Floats,
    cluster: Ints | None,
    alternative: Alternative,
    exact: bool | None,
    correct: bool,
    zeros: Zeros,
) -> dict[str, Any]:
    """Statistic, p-value and method of the signed-rank test of differences."""
    keep = d != 0
    n = int(keep.sum())
    method = "Wilcoxon signed rank test"
    undefined = {"statistic": math.nan, "p_value": math.nan, "z": math.nan, "method": method}
    if n == 0:
        why = "there are no pairs" if d.size == 0 else "all differences are zero"
        return undefined | {"reason": why}
    ranks = (
        distributions.ranks(np.abs(d))[keep]
        if zeros == "pratt"
        else distributions.ranks(np.abs(d[keep]))
    )
    signs = np.sign(d[keep])
    v = float(ranks[signs > 0].sum())
    centred = v - ranks.sum() / 2
    untied = np.unique(ranks).size == n
    spread = math.sqrt(float(np.sum(ranks**2)) / 4)
    # As coin, Pratt's statistic has no continuity correction by default in R; `correct` decides.
    z = (centred - continuity(centred, alternative, correct)) / spread
    out = {"statistic": v, "z": centred / spread, "reason": ""}
    if cluster is not None and n > 0:
        totals = np.rint(2 * np.bincount(cluster[keep], weights=signs * ranks)).astype(np.int64)
        sizes = np.abs(totals)
        if exact is not True and float(sizes.sum()) * sizes.size > CLUSTER_WORK:
            # Many clusters: the sum of independent random signs is normal long before the exact
            # distribution would cost more than a moment.
            z = float(totals.sum()) / math.sqrt(float(np.sum(totals.astype(float) ** 2)))
            return out | {
                "z": z,
                "p_value": normal_p(z, alternative),
                "method": "Wilcoxon signed rank test, normal over sign changes of clusters",
            }
        null = signed_rank_null(sizes)
        positive = int(totals[totals > 0].sum())
        p = tail_p(null, positive, sizes.sum() / 2, alternative)
        return out | {
            "p_value": p,
            "method": "Wilcoxon signed rank test, exact over sign changes of clusters",
        }
    whole = (n < 50 and untied and n == d.size) if exact is None else exact
    if whole:
        scores = np.rint(2 * ranks).astype(np.int64)
        null = signed_rank_null(scores)
        p = tail_p(null, round(2 * v), scores.sum() / 2, alternative)
        method = "Wilcoxon signed rank exact test"
    else:
        p = normal_p(z, alternative)
        method += " with continuity correction" if correct else ""
    return out | {"p_value": p, "method": method}
