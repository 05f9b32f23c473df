"""Reliability of vote shares and stability of majorities."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Sequence
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from judgestats.arrays import Floats, Ints
from judgestats.errors import InputError, one_of
from judgestats.stats.agreement.chance_corrected import least_vote_share
from judgestats.stats.designs.count_table import CountTable, count_table, rare_category_notes
from judgestats.stats.inference.bootstrap import only, useful_reliability
from judgestats.stats.inference.estimate import Estimate, Interval, Note
from judgestats.stats.inference.keywords import ON_DEMAND, Seeded, SumInference, with_keywords
from judgestats.stats.inference.sum_statistics import (
    CountedCodes,
    IntervalMethod,
    SumStatistic,
    estimate_from_sums,
    permutation_reference,
)
from judgestats.stats.reliability.intraclass import replications_needed, spearman_brown

Estimator = Literal["anova", "kappa"]


def _whole_judgments(reliability: float, target: float) -> float:
    """Least whole number of judgments whose vote share reaches a reliability; inf if none does."""
    if math.isnan(reliability):
        return math.nan
    if reliability <= 0:
        return math.inf
    # The small slack keeps 4.000000000000001 from asking for a fifth judgment.
    exact = replications_needed(reliability, target=target)
    return float(max(1, math.ceil(exact * (1 - 1e-12))))


def pair_statistic(estimator: str) -> SumStatistic:
    """rho_1 = 1 - disagreement within items / disagreement between (anova) or overall (kappa).

    Examples
    --------
    >>> float(pair_statistic("kappa").value(np.array([[2.0, 0.0], [0.0, 2.0]])))
    1.0
    """

    def per_item(counts: NDArray[Any]) -> Floats:
        r = counts @ np.ones(counts.shape[-1])
        pairs = r * (r - 1.0)
        own = np.einsum("...k,...k->...", counts, counts)
        same = own - r
        return np.concatenate(
            [np.stack([pairs, pairs - same, r**2, own], axis=-1), counts], axis=-1
        )

    def combine(s: NDArray[Any]) -> NDArray[Any]:
        margin = s[..., 4:]
        n = margin.sum(axis=-1)
        within = s[..., 1] / s[..., 0]
        alike = np.einsum("...k,...k->...", margin, margin)
        if estimator == "kappa":
            return np.asarray(1.0 - within / (1.0 - alike / n**2))
        # Pairs of judgments of different items: all ordered pairs less those within items.
        between = 1.0 - (alike - s[..., 3]) / (n**2 - s[..., 2])
        return np.asarray(1.0 - within / between)

    return SumStatistic(per_item=per_item, combine=combine)


def _stepped_values(rho: NDArray[Any], k: float) -> NDArray[Any]:
    """Spearman-Brown; NaN at or below its pole -1 / (k - 1), where it would change sign."""
    return np.where(1.0 + (k - 1.0) * rho > 0, spearman_brown(np.asarray(rho), k=k), np.nan)


def _step(interval: Interval | None, k: float, value: float) -> tuple[Interval | None, list[Note]]:
    """An interval of rho_1 carried to k judgments (a monotone map), without impossible values."""
    if interval is None:
        return None, []
    low, high = _stepped_values(np.array([interval.low, interval.high]), k)
    below = -math.inf if math.isnan(low) else float(low)
    # A value below 0 that the data do not show themselves is none that the judge could have.
    least = min(0.0, value)
    stepped = Interval(
        low=max(below, least),
        high=float(high),
        level=interval.level,
        method=f"{interval.method}, stepped up (Spearman-Brown)",
        n_resamples=interval.n_resamples,
        seed=interval.seed,
    )
    if below >= least:
        return stepped, []
    end = "0" if least == 0 else "the estimate"
    message = (
        f"The interval ends at {end}: judgments that are independent given the item have no "
        "reliability below 0, but stepping up sends small negative values far below it."
    )
    return stepped, [Note(code="interval_cut_at_zero", message=message)]


@with_keywords(permutations=ON_DEMAND)
def vote_share_reliability(
    verdicts: ArrayLike | CountTable,
    *,
    k: int | None = 1,
    estimator: Estimator = "anova",
    categories: Sequence[Any] | None = None,
    **inference: Unpack[SumInference],
) -> Estimate:
    r"""Reliability of the vote shares of k judgments, without any order of the verdicts.

    Parameters
    ----------
    verdicts : array-like, shape (n_items, n_replications), or CountTable
        Text or numbers; None, NaN or empty text where nothing was read.
    k : int or None
        Judgments whose vote share is meant: 1 for a single judgment; None for as many as were
        made (their harmonic mean over items where they differ).
    estimator : {"anova", "kappa"}
        ``anova``: unbiased variance components of the option indicators. ``kappa``: divisor N, as
        Fleiss' kappa, which is biased downwards for few items. Each is stepped up from itself.
    categories
        See `judgestats.stats.fleiss_kappa`. The null is that of the stepped-up value.

    Returns
    -------
    Estimate
        ``details``: rho_1, the k asked for, and the number of judgments reaching .80 and .90.

    Raises
    ------
    InputError
        If `k` or `estimator` is unusable, or a verdict is no category.

    Notes
    -----
    .. math:: \rho_k = \frac{\sum_c Var(\pi_c)}{\sum_c Var(\hat p_c)}, \quad
              \rho_1 = 1 - \frac{D_w}{D_b}

    with D_w the probability that two judgments of one item differ, over all such pairs, and D_b
    that two judgments of *different* items differ (``anova``) or that two judgments drawn with
    replacement differ (``kappa``). With equal R the first is the one-way ICC(1) of the option
    indicators summed over options, the second is Fleiss' kappa. With unequal R every pair of
    judgments weighs the same (pair weights); Fleiss' kappa as irrCAC computes it weighs items the
    same, and differs then.

    The jackknife interval of rho_1 is symmetric on the scale log((x - L) / (1 - x)), L the least
    value that such data can give (-1 / (R - 1) with equal R): the log of the ratio of mean squares,
    Fisher's z of an intraclass correlation. It covers as -log(1 - x) does and never leaves the
    attainable range (docs/simulations/verdicts.md). Stepped up to k judgments it ends at 0, or at
    an estimate below 0, since independent judgments have no reliability below 0.

    References
    ----------
    Fleiss & Cuzick (1979), The reliability of dichotomous judgments: unequal numbers of judges
    per subject. Appl Psychol Meas 3, 537-542.

    Examples
    --------
    >>> verdicts = [["A", "A", "A"], ["A", "A", "B"], ["B", "B", "B"], ["A", "A", "A"]]
    >>> one = vote_share_reliability(verdicts)
    >>> round(one.estimate, 4), one.details["k_for_90"]
    (0.7, 4.0)
    >>> round(vote_share_reliability(verdicts, k=None).estimate, 4)
    0.875
    """
    where = "vote_share_reliability"
    one_of(where, "estimator", estimator, ("anova", "kappa"), advice="'anova' is unbiased.")
    if k is not None and k < 1:
        raise InputError(f"{where}: k must be at least 1 or None, got {k}. Use 1 for one judgment.")
    table = count_table(verdicts, categories=categories, where=where)
    q = len(table.categories)
    r = table.per_item
    rated = r[r >= 1]
    if k is not None:
        judgments = float(k)
    else:
        judgments = float(rated.size / np.sum(1 / rated)) if rated.size else 1.0
    seen = [c for c, n in zip(table.categories, table.counts.sum(axis=0), strict=True) if n]
    if not np.any(r >= 2):
        reason = "no item has two verdicts"
    elif rated.size < 2:
        reason = "differences between items need two items, there is one"
    elif len(seen) == 1:
        reason = f"every verdict is {seen[0]}: items cannot differ (raw agreement is 1)"
    else:
        reason = "judgments of different items never differ"
    single = pair_statistic(estimator)
    one = estimate_from_sums(
        single,
        table.counts,
        name="vote_share_reliability",
        label="Vote-share reliability of one judgment",
        estimator=f"{estimator}; pairs of judgments weigh equally",
        sample=table.sample(),
        reason=reason,
        where=where,
        cluster=inference["cluster"],
        level=inference["level"],
        interval=inference["interval"],
        scale="log_ratio",
        least=least_vote_share(r, estimator=estimator),
        n_resamples=inference["n_resamples"],
        seed=inference["seed"],
        notes=rare_category_notes(table.counts),
    )
    if inference["n_permutations"] and math.isfinite(one.estimate):
        null, notes = permutation_reference(
            SumStatistic(
                per_item=single.per_item,
                combine=lambda s: _stepped_values(single.combine(s), judgments),
            ),
            table.codes,
            CountedCodes(q),
            n_permutations=inference["n_permutations"],
            seed=inference["seed"],
            where=where,
        )
        one = one.replace(null=null, notes=(*one.notes, *notes))
    details = {
        "rho_1": one.estimate,
        "k": judgments,
        "k_for_80": _whole_judgments(one.estimate, 0.8),
        "k_for_90": _whole_judgments(one.estimate, 0.9),
        "categories": table.categories,
    }
    out = one if judgments == 1 else _stepped(one, judgments, {})
    kept, lost = useful_reliability(out.interval, only(table.sample().n_clusters or 0))
    others = (note for note in out.notes if not lost or note.code != "few_clusters")
    return out.replace(interval=kept, notes=(*others, *lost), details=details)


def _stepped(one: Estimate, k: float, details: dict[str, Any]) -> Estimate:
    """The estimate for k judgments from that for one."""
    value = float(_stepped_values(np.array(one.estimate), k))
    reason = one.reason
    if math.isnan(value) and not reason:
        reason = f"one judgment's reliability {one.estimate:.4g} is below -1 / (k - 1)"
    interval, notes = _step(one.interval, k, value) if math.isfinite(value) else (None, [])
    return one.replace(
        label=f"Vote-share reliability of {k:.4g} judgments",
        estimate=value,
        estimator=f"{one.estimator}; stepped up from one judgment (Spearman-Brown)",
        interval=interval,
        std_error=math.nan,
        reason=reason,
        notes=(*one.notes, *notes),
        details=details,
    )


StabilityEstimator = Literal["disjoint", "plug-in"]
TieRule = Literal["random", "own"]

EXACT_WORK = 500_000
"""Pairs of panels up to which one item's agreement is enumerated rather than drawn."""


def _panels(q: int, k: int) -> Ints:
    """All ways to split k judgments over q categories: shape (C(k + q - 1, q - 1), q)."""
    bars = np.array(list(itertools.combinations(range(k + q - 1), q - 1)), dtype=np.int64)
    bars = bars.reshape(-1, q - 1)
    n = bars.shape[0]
    ends = np.hstack([np.full((n, 1), -1), bars, np.full((n, 1), k + q - 1)])
    return np.asarray(np.diff(ends, axis=1) - 1)


def _majority(panels: NDArray[Any]) -> Floats:
    """Chance that each category is the panel's verdict: ties are shared evenly."""
    top = panels == panels.max(axis=-1, keepdims=True)
    return np.asarray(top / top.sum(axis=-1, keepdims=True), dtype=float)


def _same(first: NDArray[Any], second: NDArray[Any], ties: str) -> Floats:
    """Chance that two panels' verdicts agree, by the tie rule."""
    a, b = _majority(first), _majority(second)
    if ties == "random":
        return np.asarray(np.sum(a * b, axis=-1))
    alone = (a.max(axis=-1) == 1) & (b.max(axis=-1) == 1)
    both_tied = (a.max(axis=-1) < 1) & (b.max(axis=-1) < 1)
    same = np.sum(a * b, axis=-1)
    return np.asarray(np.where(alone, same, both_tied.astype(float)))


def _log_choose(n: NDArray[Any], k: NDArray[Any]) -> Floats:
    """Log binomial coefficient, -inf where k > n."""
    with np.errstate(divide="ignore", invalid="ignore"):
        value = gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(np.maximum(n - k, 0) + 1.0)
    return np.where(k > n, -np.inf, value)


def _exact(counts: Ints, k: int, ties: str) -> float:
    """Two disjoint panels of k drawn without replacement, by enumeration."""
    panels = _panels(counts.size, k)
    first = panels[np.all(panels <= counts, axis=1)]
    r = int(counts.sum())
    log_first = _log_choose(counts, first).sum(axis=1) - _log_choose(np.array(r), np.array(k))
    total = 0.0
    for a, log_a in zip(first, log_first, strict=True):
        rest = counts - a
        second = panels[np.all(panels <= rest, axis=1)]
        log_b = _log_choose(rest, second).sum(axis=1) - _log_choose(np.array(r - k), np.array(k))
        same = _same(np.broadcast_to(a, second.shape), second, ties)
        total += float(np.exp(log_a) * np.sum(np.exp(log_b) * same))
    return total


def _sampled_stability(
    counts: Ints, k: int, ties: str, n_draws: int, rng: np.random.Generator
) -> float:
    """Two disjoint panels of k, by seeded subsampling."""
    labels = np.repeat(np.arange(counts.size), counts)
    shuffled = rng.permuted(np.broadcast_to(labels, (n_draws, labels.size)), axis=1)[:, : 2 * k]
    hot = shuffled[..., None] == np.arange(counts.size)
    return float(np.mean(_same(hot[:, :k].sum(axis=1), hot[:, k:].sum(axis=1), ties)))


def _plug_in(counts: Ints, k: int, ties: str, n_draws: int, rng: np.random.Generator) -> float:
    """Two panels drawn *with* replacement from the observed shares."""
    shares = counts / counts.sum()
    panels = math.comb(k + counts.size - 1, counts.size - 1)
    if panels**2 > EXACT_WORK:
        a = rng.multinomial(k, shares, size=n_draws)
        b = rng.multinomial(k, shares, size=n_draws)
        return float(np.mean(_same(a, b, ties)))
    every = _panels(counts.size, k)
    log_p = np.log(shares)
    weight = np.exp(gammaln(k + 1.0) - gammaln(every + 1.0).sum(axis=1) + every @ log_p)
    top = _majority(every)
    if ties == "random":
        verdict = weight @ top
        return float(np.sum(verdict**2))
    alone = top.max(axis=1) == 1
    verdict = (weight * alone) @ top
    return float(np.sum(verdict**2) + np.sum(weight[~alone]) ** 2)


def panel_agreement(
    counts: ArrayLike,
    *,
    k: int,
    estimator: StabilityEstimator = "disjoint",
    ties: TieRule = "random",
    n_draws: int = 2000,
    seed: int | None = 0,
) -> float:
    """Chance that two panels of k agree on one item's majority verdict.

    Parameters
    ----------
    counts : array-like, shape (q,)
        The item's verdicts by category.
    k : int
        Judgments in a panel.
    estimator : {"disjoint", "plug-in"}
    ties : {"random", "own"}
    n_draws : int
        Draws where enumeration would be too long.
    seed : int or None

    Returns
    -------
    float
        NaN where the item has too few judgments.

    Raises
    ------
    InputError
        If k is below 1.

    Notes
    -----
    See `majority_stability`.

    References
    ----------
    Multivariate hypergeometric distribution.

    Examples
    --------
    >>> [round(panel_agreement([3, 1], k=1, estimator=e), 6) for e in ("disjoint", "plug-in")]
    [0.5, 0.625]
    """
    if k < 1:
        raise InputError(f"panel_agreement: k must be at least 1, got {k}. Use an odd number.")
    votes = np.asarray(counts, dtype=np.int64)
    votes = votes[votes > 0]
    r = int(votes.sum())
    rng = np.random.default_rng(seed)
    if r == 0 or (estimator == "disjoint" and 2 * k > r):
        return math.nan
    if votes.size == 1:
        return 1.0
    if estimator == "plug-in":
        return _plug_in(votes, k, ties, n_draws, rng)
    panels = math.comb(k + votes.size - 1, votes.size - 1)
    if panels**2 <= EXACT_WORK:
        return _exact(votes, k, ties)
    return _sampled_stability(votes, k, ties, n_draws, rng)


@with_keywords()
def majority_stability(
    verdicts: ArrayLike | CountTable,
    *,
    k: int,
    estimator: StabilityEstimator = "disjoint",
    ties: TieRule = "random",
    categories: Sequence[Any] | None = None,
    interval: IntervalMethod = "jackknife",
    n_draws: int = 2000,
    **inference: Unpack[Seeded],
) -> Estimate:
    r"""Share of items on which two independent panels of k judgments reach the same majority.

    Parameters
    ----------
    verdicts : array-like, shape (n_items, n_replications), or CountTable
        None, NaN or empty text where nothing was read.
    k : int
        Judgments in a panel (odd numbers avoid most ties).
    estimator : {"disjoint", "plug-in"}
        ``disjoint``: two panels without a judgment in common, drawn without replacement from the
        R of the item, unbiased; needs 2k <= R. ``plug-in``: panels drawn with replacement from
        the observed shares, any k, biased upwards (noise in the shares counts as conviction).
    ties : {"random", "own"}
        ``random``: a tied panel picks one of its tied verdicts at random. ``own``: a tie is a
        verdict of its own, so two tied panels agree, a tied and a decided one do not.
    categories, interval
        See `judgestats.stats.percent_agreement`.
    n_draws : int
        Draws for items whose panels are too many to enumerate.

    Returns
    -------
    Estimate
        ``details``: the items' values, and how many were enumerated.

    Raises
    ------
    InputError
        If an option is unusable.

    Notes
    -----
    ``disjoint`` sums over panels a and b the multivariate hypergeometric probability
    C(n, a) C(n - a, b) / (C(R, k) C(R - k, k)) times the chance that their majorities agree,
    exactly where at most half a million pairs of panels arise, else by seeded draws. For k = 1 it
    is raw pairwise agreement. Items with R < 2k are left out and counted.

    References
    ----------
    STATISTICS section 2 of the project's design.

    Examples
    --------
    >>> verdicts = [list("AAAAAB"), list("ABABAB"), list("BBBBBB")]
    >>> round(majority_stability(verdicts, k=3).estimate, 4)
    0.6667
    >>> majority_stability(verdicts, k=4).reason[:40]
    'no item has the 8 judgments that two dis'
    """
    where = "majority_stability"
    one_of(where, "estimator", estimator, ("disjoint", "plug-in"))
    one_of(where, "ties", ties, ("random", "own"))
    if k < 1:
        raise InputError(f"{where}: k must be at least 1, got {k}. Use k=3.")
    table = count_table(verdicts, categories=categories, where=where)
    least = 2 * k if estimator == "disjoint" else 1
    counts = table.counts.astype(np.int64)
    # Agreement does not depend on which category is which: equal patterns share one computation.
    patterns, back = np.unique(-np.sort(-counts, axis=1), axis=0, return_inverse=True)
    each = np.array(
        [
            panel_agreement(
                p, k=k, estimator=estimator, ties=ties, n_draws=n_draws, seed=inference["seed"]
            )
            for p in patterns
        ]
    )
    values = each[back.reshape(-1)]
    present = np.isfinite(values)
    data = np.column_stack([present, np.where(present, values, 0.0)]).astype(float)
    notes = []
    if estimator == "plug-in":
        message = (
            "The plug-in estimate is biased upwards: chance differences between the observed "
            "shares count as the judge's conviction. Use estimator='disjoint' while 2k <= R."
        )
        notes.append(Note(code="plug_in_bias", message=message))
    reason = f"no item has the {2 * k} judgments that two disjoint panels of {k} need"
    sample = table.sample(least=least)
    if estimator == "plug-in":
        reason = "no verdict was read"
    elif sample.n_excluded:
        short = {f"fewer than {least} verdicts for two disjoint panels of {k}": sample.n_excluded}
        sample = dataclasses.replace(sample, excluded=short)
    return estimate_from_sums(
        SumStatistic(per_item=lambda x: x, combine=lambda s: np.asarray(s[..., 1] / s[..., 0])),
        data,
        name=f"majority_stability_{k}",
        label=f"Two panels of {k} reach the same majority",
        estimator=f"{estimator}; ties {'broken at random' if ties == 'random' else 'a verdict'}",
        sample=sample,
        reason=reason,
        where=where,
        interval=interval,
        scale="logit",
        **inference,
        proportion=True,
        notes=tuple(notes),
        details={"k": k, "items": values, "ties": ties},
    )
