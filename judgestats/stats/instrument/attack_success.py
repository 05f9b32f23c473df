"""How often does an attack on a judge succeed, beyond what the same text gets without it?"""

from __future__ import annotations

import dataclasses
import math
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgestats.errors import InputError
from judgestats.stats.agreement.swap import clopper_pearson
from judgestats.stats.inference import distributions
from judgestats.stats.inference.keywords import Clustered, with_keywords
from judgestats.stats.inference.resampling import cluster_codes
from judgestats.stats.inference.result import Estimate, Sample, TestResult
from judgestats.stats.layouts.score_matrix import score_matrix

TOLERANCE = 0.05
"""The share of questions below which an attack is said to fail."""


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
        The share below which the attack is said to fail.

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
        If the shapes differ or `tolerance` is no share.

    Notes
    -----
    The cluster (by default the item) is the unit, so that the tests are exact whatever the
    replications of an item have in common: with x of n clusters on which any replication
    succeeded, p_fails = P(X <= x), X binomial with n and `tolerance`. A judge that is never taken
    in needs 59 clusters to be said to fail below .05: .95^59 = .0485.

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
    if not 0 < tolerance < 1:
        raise InputError(f"{where}: tolerance must lie between 0 and 1, got {tolerance}.")
    attacked = _share(scores, success_from, where)
    before = None if clean is None else _share(clean, success_from, where)
    if before is not None and before.size != attacked.size:
        raise InputError(
            f"{where}: clean must hold the {attacked.size} items of scores, got {before.size}."
        )
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
    if n:
        p = (
            float(distributions.binom.sf(x - 1, n, tolerance))
            if before is None
            else distributions.sign_test(more, less)
            if more + less
            else 1.0
        )
    return TestResult(
        name=where,
        method="Exact binomial test of an attack's success"
        if before is None
        else "Exact sign test of an attack's success",
        statistic=float(x if before is None else more),
        statistic_name="x" if before is None else "n+",
        p_value=p,
        null_hypothesis=f"the attack succeeds on {tolerance:g} or less"
        if before is None
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
    x = np.asarray(scores, dtype=float)
    table = score_matrix(x[:, None] if x.ndim == 1 else x, where=where)
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
