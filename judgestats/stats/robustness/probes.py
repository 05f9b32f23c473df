"""Shift and success of probes."""

from __future__ import annotations

import dataclasses
import math
from typing import Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgestats.arrays import Floats, check_between, check_items, mean_of_present
from judgestats.errors import InputError
from judgestats.stats.agreement.position import clopper_pearson
from judgestats.stats.designs.score_matrix import score_matrix
from judgestats.stats.inference import Estimate, Sample, TestResult, cluster_codes, distributions
from judgestats.stats.inference.jackknife import MeanOverClusters, mean_over_clusters
from judgestats.stats.inference.keywords import Clustered, with_keywords

_POWER = 0.8


@with_keywords()
def probe_shift(
    original: ArrayLike,
    changed: ArrayLike,
    *,
    margin: float,
    reach: float,
    of: Literal["scores", "verdicts"] = "scores",
    **inference: Unpack[Clustered],
) -> TestResult:
    r"""Shift of a judge's verdicts by a change of what it judges, paired by item.

    Parameters
    ----------
    original, changed : array-like, shape (n_items,) or (n_items, n_replications)
        Scores, or shares of verdicts, without and with the change; NaN where not read. Items with
        none on one side are left out and counted.
    margin : float
        Declared before the data are seen: a smaller shift is called none.
    reach : float
        The largest shift that there can be: the width of the scale, or 1 for shares.
    of : {"scores", "verdicts"}
        What is shifted: names the effects.

    Returns
    -------
    TestResult
        ``effects``: the mean shift, and the smallest shift that this design finds in four of five
        cases (at .05, this probe alone). ``details``: ``p_small``, of a shift of the margin or
        more, and ``margin``.

    Raises
    ------
    InputError
        If the shapes differ, or margin and reach do not fit.

    Notes
    -----
    The mean over items of the differences of their means over replications, its error over
    clusters (t with effective degrees of freedom), two one-sided tests for `p_small`. Neither p is
    ever below what the signs of G clusters alone can show, :math:`2^{1-G}`: a handful of equal
    differences leaves t without an error to divide by.

    A judge that a change never moves has no error either. Suppose that the mean shift is m, and no
    cluster can shift by more than the reach r. Then at least m / r of the clusters shift. The
    probability that none of G does is at most :math:`(1 - m/r)^G`, which is `p_small`. Where a few
    clusters hold all of a shift, t is liberal. If a tenth of 29 questions shift by the maximum, the
    test finds a shift below .1 in 17% of the cases.

    References
    ----------
    Schuirmann (1987), J. Pharmacokin. Biopharm. 15, 657-680.

    Examples
    --------
    >>> out = probe_shift([7, 8, 5, 6, 7, 9], [8, 8.5, 6, 6.5, 8, 10], margin=0.25, reach=9)
    >>> round(out.effect.estimate, 3), round(out.p_value, 4), out.details["p_small"] > 0.9
    (0.833, 0.0312, True)
    >>> still = probe_shift([0.5] * 40, [0.5] * 40, margin=0.1, reach=1)
    >>> still.p_value, round(still.details["p_small"], 4)
    (1.0, 0.0148)
    """
    where = "probe_shift"
    if not 0 < margin < reach:
        raise InputError(
            f"{where}: margin must be positive and below the reach, got {margin} of {reach}."
        )
    before, after = (mean_of_present(_table(x, where), 1) for x in (original, changed))
    check_items(where, original=before, changed=after)
    shift = after - before
    codes = cluster_codes(inference["cluster"], shift.size, where=where)
    used = ~np.isnan(shift)
    n = int(np.unique(codes[used]).size)
    sample = Sample.from_mask(
        used, "not read on both sides", None if inference["cluster"] is None else codes
    )
    result = TestResult(
        name=where,
        method="Paired shift by a change, over clusters",
        statistic_name="t",
        null_hypothesis="the change does not move the judge",
        alternative="it does",
        why="original and changed are judged alike and often, so that quality and plain "
        "repetition cancel",
        sample=sample,
        details={"margin": margin, "reach": reach, "n_units": n, "p_small": math.nan},
    )
    if not used.any():
        return result.replace(reason="no item was read both with and without the change")
    m = mean_over_clusters(shift[used], codes[used])
    floor = 2.0 ** (1 - n)
    p, small = _p_values(m, margin, reach, n)
    detectable = math.nan
    if not math.isnan(m.std_error):
        reached = distributions.t.ppf(0.975, m.df) + distributions.t.ppf(_POWER, m.df)
        detectable = float(reached * m.std_error)
    effects = (
        Estimate(
            name="probe_shift" if of == "scores" else "preference_shift",
            label="Shift by the change",
            estimate=m.mean,
            std_error=m.std_error,
            estimator="mean of the items' differences",
            interval=m.interval(inference["level"]),
            sample=sample,
        ),
        Estimate(
            name="detectable_shift" if of == "scores" else "detectable_preference",
            label="Smallest shift found in four of five cases",
            estimate=detectable,
            estimator="at .05, this probe alone",
            sample=sample,
            reason=m.reason,
        ),
    )
    return result.replace(
        statistic=m.statistic(),
        df={} if math.isnan(m.df) else {"df": m.df},
        p_value=max(p, min(floor, 1.0)) if not math.isnan(p) else p,
        effects=effects,
        reason=m.reason if math.isnan(m.df) else "",
        details=dict(result.details) | {"p_small": max(small, floor), "p_floor": floor},
    )


def _p_values(m: MeanOverClusters, margin: float, reach: float, n: int) -> tuple[float, float]:
    """Of no shift, and of one of the margin or more."""
    if math.isnan(m.df):
        return math.nan, math.nan
    if not math.isnan(m.std_error):
        nearer = min(m.mean + margin, margin - m.mean) / m.std_error
        return m.p_value(), float(distributions.t.sf(nearer, m.df))
    if abs(m.mean) > 1e-12:  # the same shift everywhere: only signs speak
        return 2.0 ** (1 - n), 1.0 if abs(m.mean) >= margin else math.nan
    return 1.0, (1 - margin / reach) ** n


def _table(x: ArrayLike, where: str) -> Floats:
    """Scores or shares as items x replications."""
    given = np.asarray(x, dtype=float)
    return score_matrix(given[:, None] if given.ndim == 1 else given, where=where)


TOLERANCE = 0.05
"""The share of successes below which an attack counts as failed."""


@with_keywords()
def attack_success(
    scores: ArrayLike,
    clean: ArrayLike | None = None,
    *,
    success_from: float,
    tolerance: float = TOLERANCE,
    **inference: Unpack[Clustered],
) -> TestResult:
    r"""Share of texts on which an attack lifts a score to where it should not be.

    Parameters
    ----------
    scores : array-like, shape (n_items,) or (n_items, n_replications)
        Scores of the texts with the attack; NaN where not read.
    clean : array-like, shape (n_items,) or (n_items, m), optional
        Scores of the same texts without it. Without them any success counts against the judge.
    success_from : float
        The lowest score that is a success.
    tolerance : float
        The share of successes below which the attack counts as failed.

    Returns
    -------
    TestResult
        Exact. With `clean`: the sign test of clusters that succeed more often with the attack
        than without. Without: the binomial test of a share above `tolerance`. ``effects``: the
        share of clusters on which it succeeded at least once with and without the attack
        (Clopper-Pearson). ``details``: ``more``, ``less``, ``tolerance`` and ``p_fails``, the
        binomial p of a share below `tolerance`.

    Raises
    ------
    InputError
        If the shapes differ or `tolerance` is not a share.

    Notes
    -----
    The cluster (by default the item) is the unit, so that the tests are exact whatever the
    replications of an item have in common: with x of n clusters on which any replication
    succeeded, p_fails = P(X <= x), X binomial with n and `tolerance`. To claim a success
    rate below .05 without any success, the test needs 59 clusters: .95^59 = .0485.

    References
    ----------
    Clopper & Pearson (1934), Biometrika 26, 404-413.

    Examples
    --------
    >>> out = attack_success([10] * 9 + [2] * 3, [1] * 12, success_from=10)
    >>> out.effect.estimate, round(out.p_value, 4)
    (0.75, 0.0039)
    >>> round(attack_success([1] * 60, success_from=6).details["p_fails"], 4)
    0.0461
    """
    where = "attack_success"
    check_between(where, "tolerance", tolerance)
    attacked = _share(scores, success_from, where)
    before = None if clean is None else _share(clean, success_from, where)
    if before is not None and before.size != attacked.size:
        raise InputError(f"{where}: clean must hold the {attacked.size} items of scores.")
    codes = cluster_codes(inference["cluster"], attacked.size, where=where)
    used = ~np.isnan(attacked) & (True if before is None else ~np.isnan(before))
    groups = np.unique(codes[used], return_inverse=True)[1].reshape(-1)
    n = int(groups.max()) + 1 if groups.size else 0
    sample = Sample(n_items=int(used.sum()), n_clusters=None if inference["cluster"] is None else n)
    effects = [_rate(attacked[used], groups, n, inference["level"], sample, attack=True)]
    more = less = 0
    if before is not None:
        effects.append(_rate(before[used], groups, n, inference["level"], sample, attack=False))
        change = np.bincount(groups, weights=(attacked - before)[used], minlength=n)
        more, less = int(np.sum(change > 1e-12)), int(np.sum(change < -1e-12))
    x = round(effects[0].estimate * n) if n else 0
    p = math.nan
    if n and before is None:
        p = float(distributions.binom.sf(x - 1, n, tolerance))
    elif n:
        p = distributions.sign_test(more, less) if more + less else 1.0
    binomial = before is None
    return TestResult(
        name=where,
        method=f"Exact {'binomial' if binomial else 'sign'} test of an attack's success",
        statistic=float(x if binomial else more),
        statistic_name="x" if binomial else "n+",
        p_value=p,
        null_hypothesis=f"the attack succeeds on {tolerance:g} or less"
        if binomial
        else "the attack changes nothing",
        alternative="it succeeds more often",
        why="the judge should give such a text no such score",
        effects=tuple(effects),
        sample=sample,
        reason="" if n else "no text has a score",
        details={
            "more": more,
            "less": less,
            "n_units": n,
            "tolerance": tolerance,
            "p_fails": float(distributions.binom.cdf(x, n, tolerance)) if n else math.nan,
        },
    )


def _share(scores: ArrayLike, success_from: float, where: str) -> NDArray[np.float64]:
    """Share of each item's scores that are a success; NaN where none was read."""
    table = _table(scores, where)
    read = ~np.isnan(table)
    count = read.sum(axis=1)
    hits = (np.where(read, table, -np.inf) >= success_from).sum(axis=1)
    return np.where(count > 0, hits / np.maximum(count, 1), np.nan)


def _rate(
    share: NDArray[np.float64],
    groups: NDArray[np.int64],
    n: int,
    level: float,
    sample: Sample,
    *,
    attack: bool,
) -> Estimate:
    """The share of clusters with a success."""
    hit = np.bincount(groups, weights=share, minlength=n) > 0 if n else np.zeros(0, dtype=bool)
    return Estimate(
        name="attack_success" if attack else "clean_success",
        label="Texts on which the attack succeeded"
        if attack
        else "Texts that get as much without it",
        estimate=float(hit.mean()) if n else math.nan,
        estimator="at least once in all replications",
        interval=clopper_pearson(int(hit.sum()), n, level=level) if n else None,
        sample=dataclasses.replace(sample),
        reason="" if n else "no text has a score",
    )
