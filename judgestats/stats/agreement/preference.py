"""Preferences between systems: effects, win rates, round robins, transitivity."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from judgestats.arrays import Floats, Ints, check_items, check_lengths
from judgestats.errors import InputError
from judgestats.results.quantities import name_of
from judgestats.stats.agreement.human import outcome_codes
from judgestats.stats.dispersion.equivalence import EquivalenceResult
from judgestats.stats.inference import cluster_codes, distributions, result
from judgestats.stats.inference.jackknife import effective_clusters, t_of_clusters
from judgestats.stats.inference.keywords import Clustered, with_keywords
from judgestats.stats.inference.multiplicity import with_adjusted
from judgestats.stats.inference.sum_statistics import share_estimate

_NAMES = {
    "length": ("twice as long", "as long"),
    "own": ("its own answer", "another's answer"),
}


@dataclass(frozen=True, kw_only=True)
class SignedRegression:
    """Least squares without intercept, errors over clusters; NaN with a reason where undefined."""

    beta: Floats
    errors: Floats
    df: float
    n: int
    n_clusters: int
    reason: str = ""


def signed_regression(y: Floats, columns: Floats, codes: Ints) -> SignedRegression:
    """Regression of a signed outcome on signed covariates.

    Parameters
    ----------
    y : ndarray, shape (N,)
        Changes sign when the names of the two responses are exchanged, as every column does; hence
        no intercept.
    columns : ndarray, shape (N, p)
    codes : ndarray, shape (N,)
        Cluster of each row.

    Returns
    -------
    SignedRegression
        Sandwich errors over clusters with the factor G / (G - 1), G - 1 df.
    """
    width = columns.shape[1]
    _, compact = np.unique(codes, return_inverse=True)
    n_clusters = int(compact.max()) + 1 if compact.size else 0
    nothing = np.full(width, math.nan)
    if n_clusters < width + 1 or np.linalg.matrix_rank(columns) < width:
        return SignedRegression(
            beta=nothing, errors=nothing, df=math.nan, n=y.size, n_clusters=n_clusters,
            reason="too few questions, or what is compared does not vary",
        )  # fmt: skip
    bread = np.linalg.inv(columns.T @ columns)
    beta = bread @ columns.T @ y
    scores = np.zeros((n_clusters, width))
    np.add.at(scores, compact, columns * (y - columns @ beta)[:, None])
    factor = n_clusters / (n_clusters - 1)
    errors = np.sqrt(np.diag(bread @ (scores.T @ scores) @ bread) * factor)
    return SignedRegression(
        beta=beta,
        errors=errors,
        df=max(effective_clusters(np.bincount(compact)) - 1.0, 1.0),
        n=y.size,
        n_clusters=n_clusters,
    )


@with_keywords()
def preference_effects(
    preference: ArrayLike,
    human: ArrayLike,
    *,
    log_length_ratio: ArrayLike,
    own: ArrayLike | None = None,
    **inference: Unpack[Clustered],
) -> Mapping[str, result.Comparisons]:
    r"""What length, and being the judge's own answer, add to a judge's preference.

    Parameters
    ----------
    preference : array-like, shape (N,)
        Share of the judge's verdicts for response a (a tie counts half), by pair.
    human : array-like, shape (N,)
        The same for people.
    log_length_ratio : array-like, shape (N,)
        Natural logarithm of length a / length b.
    own : array-like, shape (N,), optional
        1 where a is by the judge's own model and b is not, -1 the other way round, else 0.
    cluster : array-like, shape (N,), optional
        The question of each pair.

    Returns
    -------
    mapping of {"length", "own"} to Comparisons
        One row each: the change of the share where the response is twice as long, and where it is
        the judge's own. ``"own"`` only where `own` is given.

    Raises
    ------
    InputError
        If the shapes differ, or `own` holds something else than -1, 0 and 1.

    Notes
    -----
    Least squares of preference - 1/2 on human - 1/2, the log length ratio and `own`, *without
    intercept*. Exchanging the names of a and b changes the sign of all of them. Each effect is held
    at equal length, authorship, and human preference. Sandwich errors over clusters, t with
    effective df (G - 1 for equal clusters). Human preference is measured with error (few labels per
    pair), so the adjustment for it is incomplete. If a judge sees quality better than the labels
    do, a preference for quality remains in the effects.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> ratio, human = rng.normal(size=300), rng.choice([0, 0.5, 1], size=300)
    >>> mine = rng.choice([-1, 0, 1], size=300)
    >>> judge = 0.5 + 0.6 * (human - 0.5) + 0.1 * ratio + 0.15 * mine + rng.normal(0, 0.1, 300)
    >>> found = preference_effects(judge, human, log_length_ratio=ratio, own=mine)
    >>> [round(found[k].rows[0].estimate, 2) for k in ("length", "own")]
    [0.07, 0.15]
    """
    where = "preference_effects"
    given = [preference, human, log_length_ratio, *([] if own is None else [own])]
    y, h, x, *rest = (np.asarray(v, dtype=float) for v in given)
    if y.ndim != 1 or any(v.shape != y.shape for v in (h, x, *rest)):
        shapes = ", ".join(str(v.shape) for v in (y, h, x, *rest))
        raise InputError(f"{where}: give one number per pair for each variable, got {shapes}.")
    if rest and not set(np.unique(rest[0])) <= {-1.0, 0.0, 1.0}:
        raise InputError(f"{where}: own must hold -1, 0 and 1, got {sorted(set(rest[0]))[:5]}.")
    used = ~np.isnan(np.column_stack([y, h, x, *rest])).any(axis=1)
    codes = cluster_codes(inference["cluster"], y.size, where=where)
    # log_2 of the ratio: one unit is a response twice as long.
    columns = np.column_stack([h[used] - 0.5, x[used] / math.log(2), *(v[used] for v in rest)])
    fit = signed_regression(y[used] - 0.5, columns, codes[used])
    sample = result.Sample.from_mask(used, "no verdict or label", codes)
    out = {}
    for place, name in enumerate(("length", "own")[: columns.shape[1] - 1], start=1):
        row = _row(fit, place, *_NAMES[name], level=inference["level"])
        out[name] = result.Comparisons(
            name=f"{name}_effect",
            symbol="t",
            method="Least squares on the preference, human preference held constant",
            adjust="holm",
            family=f"effect of {name}",
            rows=with_adjusted([row], "holm"),
            sample=sample,
            details={"human": float(fit.beta[0])},
        )
    return out


def _row(fit: SignedRegression, place: int, a: str, b: str, *, level: float) -> result.Comparison:
    value, error = float(fit.beta[place]), float(fit.errors[place])
    row = result.Comparison(
        a=a, b=b, estimate=value, estimate_name="preference_change", df=fit.df, n=fit.n,
        reason=fit.reason or "the preferences leave no residual",
    )  # fmt: skip
    if not error > 1e-12:
        return row
    half = float(distributions.t.ppf((1 + level) / 2, fit.df)) * error
    method = f"sandwich over clusters, {t_of_clusters(fit.df)}"
    return replace(
        row,
        statistic=value / error,
        p_value=float(2 * distributions.t.sf(abs(value / error), fit.df)),
        interval=result.Interval(low=value - half, high=value + half, level=level, method=method),
        reason="",
    )


def equivalence_of_effects(effects: result.Comparisons, *, margin: float) -> EquivalenceResult:
    r"""Test effects with t intervals for equivalence within a margin.

    Parameters
    ----------
    effects : Comparisons
        Differences with statistic, df and symmetric t interval, as of `preference_effects`.
    margin : float
        Declared before the data are seen.

    Returns
    -------
    EquivalenceResult

    Raises
    ------
    InputError
        If the margin is not positive.

    Notes
    -----
    Two one-sided t tests at .05 (Schuirmann, 1987) with the standard error behind the interval.

    Examples
    --------
    >>> from judgestats.stats.dispersion.condition_summary import mean_shift
    >>> Y = [[7.1, 7.2], [5.0, 5.1], [8.4, 8.2], [6.0, 6.1], [4.9, 4.9], [7.7, 7.8]]
    >>> out = equivalence_of_effects(mean_shift(Y, conditions=["plain", "anchored"]), margin=0.5)
    >>> round(out.rows[0].p_value, 5)  # as equivalence_of_means
    0.00011
    """
    if not margin > 0:
        raise InputError(f"equivalence_of_effects: margin must be positive, got {margin!r}.")
    alpha, rows = 0.05, []
    for row in effects.rows:
        p = t = math.nan
        interval = None
        if row.interval is not None and not math.isnan(row.df):
            quantile = float(distributions.t.ppf((1 + row.interval.level) / 2, row.df))
            error = (row.interval.high - row.interval.low) / 2 / quantile
            t = min(row.estimate + margin, margin - row.estimate) / error
            p = float(distributions.t.sf(t, row.df))
            half = float(distributions.t.ppf(1 - alpha, row.df)) * error
            interval = result.Interval(
                low=row.estimate - half,
                high=row.estimate + half,
                level=1 - 2 * alpha,
                method=row.interval.method,
            )
        rows.append(
            result.Comparison(
                a=row.a, b=row.b, estimate=row.estimate, estimate_name=row.estimate_name,
                statistic=t, df=row.df, p_value=p, interval=interval, n=row.n, reason=row.reason,
            )
        )  # fmt: skip
    return EquivalenceResult(
        name="equivalence_of_effects",
        symbol="t",
        method="Two one-sided t tests of the effects",
        adjust="holm",
        family=effects.family,
        rows=with_adjusted(rows, "holm"),
        sample=effects.sample,
        margin=(-margin, margin),
        alpha=alpha,
        quantity=name_of(rows[0].estimate_name) if rows else "",
    )


_WORD = re.compile(r"\W+")
"""What a system's name (gpt-4) has that the name of an estimate has not."""


@with_keywords()
def win_rates(
    verdicts: ArrayLike, *, system_a: ArrayLike, system_b: ArrayLike, **inference: Unpack[Clustered]
) -> result.Estimates:
    """Share of its comparisons that each system wins, a tie counting half.

    Parameters
    ----------
    verdicts : array-like, shape (n_pairs,)
        ``"a"``, ``"b"`` or ``"tie"``; None, NaN or empty text where not read.
    system_a, system_b : array-like, shape (n_pairs,)
        Who wrote each response.
    cluster : array-like, shape (n_pairs,), optional
        The question of each pair.

    Returns
    -------
    Estimates
        One term a system, named ``win_rate_SYSTEM`` (letters, digits and underscores), the best
        first; its label has the name as given.

    Raises
    ------
    InputError
        If the lengths differ, a verdict is not one of the three, or a system meets itself.

    Notes
    -----
    The rates hold for the opponents that were met: they are comparable where every system met every
    other equally often. Systems share questions, so the intervals of two rates are not independent:
    compare systems by `comparisons_with_best` on their credit by question.

    Examples
    --------
    >>> out = win_rates(["a", "a", "tie", "b"], system_a=["x", "x", "x", "y"],
    ...                 system_b=["y", "z", "z", "z"])
    >>> [(t.name, round(t.estimate, 2)) for t in out.terms]
    [('win_rate_x', 0.83), ('win_rate_z', 0.5), ('win_rate_y', 0.0)]
    """
    where = "win_rates"
    codes = outcome_codes(verdicts, where)
    first, second = (np.asarray(s).astype(str) for s in (system_a, system_b))
    check_lengths(where, least=1, verdicts=codes, system_a=first, system_b=second)
    if np.any(first == second):
        who = first[first == second][0]
        raise InputError(f"{where}: a system cannot meet itself, got {who!r}.")
    groups = cluster_codes(inference["cluster"], codes.size, where=where)
    credit = np.array([1.0, 0.0, 0.5, 0.0])[codes]
    terms = []
    for name in sorted({*first.tolist(), *second.tolist()}):
        took_part = ((first == name) | (second == name)) & (codes >= 0)
        gained = np.where(first == name, credit, 1 - credit) * took_part
        unread = int(np.sum(((first == name) | (second == name)) & (codes < 0)))
        terms.append(
            share_estimate(
                took_part,
                gained,
                name=f"win_rate_{_WORD.sub('_', name)}",
                label=f"Win rate of {name}",
                estimator="share of comparisons won, a tie counting half",
                sample=result.Sample(n_items=int(took_part.sum()), excluded={"no verdict": unread}),
                reason="no comparison was read",
                where=where,
                cluster=inference["cluster"],
                level=inference["level"],
            )
        )
    clusters = None if inference["cluster"] is None else groups
    return result.Estimates(
        name=where,
        label="Win rates",
        terms=tuple(sorted(terms, key=lambda t: -t.estimate)),
        sample=result.Sample.from_mask(codes >= 0, "no verdict", clusters),
    )


@dataclass(frozen=True, kw_only=True)
class RoundRobin(result.Result):
    """Standing of candidates after a round robin.

    Attributes
    ----------
    wins, ties, losses : ndarray of int, shape (n_candidates,)
        Pairs won, tied, lost; a pair's verdict is what most of its judgments say.
    points : ndarray, shape (n_candidates,)
        Wins plus half the ties.
    share : ndarray, shape (n_candidates,)
        Of the judgments that a candidate took part in: those it won, a tie as a half, averaged over
        its pairs. NaN where none of its pairs was read.
    n_pairs_read, n_pairs : int
        Pairs with a verdict, and all pairs.
    """

    wins: Ints
    ties: Ints
    losses: Ints
    points: Floats
    share: Floats
    n_pairs_read: int
    n_pairs: int

    @property
    def complete(self) -> bool:
        """Whether every pair has a verdict: otherwise points are not comparable."""
        return self.n_pairs_read == self.n_pairs

    def leaders(self, *, by_share: bool = False) -> tuple[int, ...]:
        """The candidates with most points; among them those with the largest share, if asked."""
        best = np.flatnonzero(self.points == self.points.max())
        if by_share and len(best) > 1:
            shares = np.nan_to_num(self.share[best], nan=-1.0)
            best = best[shares >= shares.max() - 1e-9]
        return tuple(int(i) for i in best)

    def tidy(self) -> pd.DataFrame:
        """One row per candidate."""
        columns = ("wins", "ties", "losses", "points", "share")
        counted = {name: getattr(self, name) for name in columns}
        return pd.DataFrame({"candidate": np.arange(len(self.points)), **counted})


def round_robin(
    first: ArrayLike, second: ArrayLike, verdict: ArrayLike, *, n_candidates: int
) -> RoundRobin:
    r"""Points of candidates that were all compared in pairs.

    Parameters
    ----------
    first, second : array-like of int, shape (n_judgments,)
        The two candidates compared, 0 to ``n_candidates - 1``.
    verdict : array-like, shape (n_judgments,)
        ``"a"`` (first wins), ``"b"``, ``"tie"``; None, NaN or empty where not read.
    n_candidates : int

    Returns
    -------
    RoundRobin

    Raises
    ------
    InputError
        If the lengths differ, a candidate is out of range or compared with itself, or a verdict is
        unknown.

    Notes
    -----
    A pair may be judged often (both orders, repetitions): it is won by the candidate that more of
    its judgments prefer, and tied where as many prefer either. Points are Copeland's, a tie being a
    half.

    References
    ----------
    Copeland (1951), A reasonable social welfare function. University of Michigan, mimeographed.

    Examples
    --------
    >>> found = round_robin([0, 0, 1], [1, 2, 2], ["a", "a", "tie"], n_candidates=3)
    >>> found.points.tolist(), found.leaders()
    ([2.0, 0.5, 0.5], (0,))
    """
    where = "round_robin"
    i, j = (np.asarray(x) for x in (first, second))
    verdicts = np.asarray(verdict, dtype=object)
    check_lengths(where, first=i, second=j, verdict=verdicts)
    whole = all(v.dtype.kind in "iu" for v in (i, j))
    known = whole and np.all((np.minimum(i, j) >= 0) & (np.maximum(i, j) < n_candidates))
    if n_candidates < 2 or (i.size and not (known and np.all(i != j))):
        raise InputError(
            f"{where}: first and second must be different whole numbers from 0 to "
            f"{n_candidates - 1}, at least two candidates."
        )
    net = np.zeros((n_candidates, n_candidates))
    read = np.zeros((n_candidates, n_candidates))
    for a, b, v in zip(i.tolist(), j.tolist(), verdicts.tolist(), strict=True):
        if v is None or v == "" or v != v:  # noqa: PLR0124 - NaN
            continue
        if v not in _CREDIT:
            raise InputError(f"{where}: a verdict must be a, b or tie, got {v!r}. Recode it.")
        net[a, b] += _CREDIT[v]
        net[b, a] -= _CREDIT[v]
        read[a, b] += 1
        read[b, a] += 1
    has_read = read > 0
    wins, losses = (has_read & (net > 0)).sum(axis=1), (has_read & (net < 0)).sum(axis=1)
    ties = has_read.sum(axis=1) - wins - losses
    with np.errstate(invalid="ignore", divide="ignore"):
        by_pair = np.where(has_read, (net / read + 1) / 2, 0.0)
        share = np.where(has_read.any(axis=1), by_pair.sum(axis=1) / has_read.sum(axis=1), np.nan)
    return RoundRobin(
        wins=wins.astype(np.int64),
        ties=ties.astype(np.int64),
        losses=losses.astype(np.int64),
        points=wins + ties / 2,
        share=share,
        n_pairs_read=int(has_read.sum()) // 2,
        n_pairs=n_candidates * (n_candidates - 1) // 2,
    )


_CREDIT = {"a": 1.0, "b": -1.0, "tie": 0.0}


def pairwise_from_scores(score_a: ArrayLike, score_b: ArrayLike) -> NDArray[Any]:
    """Turn pointwise scores of two responses into a pairwise verdict, from the same judgments.

    Parameters
    ----------
    score_a, score_b : array-like, shape (n_pairs,) or (n_pairs, n_replications)
        Scores of both responses; replications are averaged (those read). NaN where not read.

    Returns
    -------
    ndarray of object, shape (n_pairs,)
        ``"a"``, ``"b"``, ``"tie"`` or None (a score is missing).

    Raises
    ------
    InputError
        If the shapes are unusable.

    Notes
    -----
    Integer scores tie often; averaging replications breaks most ties.

    References
    ----------
    STATISTICS section 7 of the project's design.

    Examples
    --------
    >>> pairwise_from_scores([8, 7, 9, float("nan")], [7, 7, 9.5, 6]).tolist()
    ['a', 'tie', 'b', None]
    """
    where = "pairwise_from_scores"
    a, b = np.asarray(score_a, dtype=float), np.asarray(score_b, dtype=float)
    a, b = (x[:, None] if x.ndim == 1 else x for x in (a, b))
    check_items(where, ndim=2, score_a=a, score_b=b)
    read_a, read_b = np.isfinite(a).sum(axis=1), np.isfinite(b).sum(axis=1)
    sums = np.nansum(a, axis=1), np.nansum(b, axis=1)
    gap = sums[0] / np.maximum(read_a, 1) - sums[1] / np.maximum(read_b, 1)
    # Means of equal scores can differ in the last bit: that is a tie.
    verdict = np.where(gap > 0, "a", "b").astype(object)
    verdict[np.abs(gap) <= 1e-9] = "tie"
    verdict[(read_a == 0) | (read_b == 0)] = None
    return verdict


def intransitive_triads(
    question: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    verdict: ArrayLike,
    *,
    level: float = 0.95,
) -> result.Estimate:
    r"""Share of triads of responses on which pairwise verdicts go in a circle.

    Parameters
    ----------
    question : array-like, shape (n_verdicts,)
        The question. Each triad belongs to one question; questions are the clusters.
    first, second : array-like, shape (n_verdicts,)
        Names of the two responses compared.
    verdict : array-like, shape (n_verdicts,)
        ``"a"`` (first wins), ``"b"`` (second wins), ``"tie"``; None, NaN or empty where not read.
    level : float
        Confidence level.

    Returns
    -------
    Estimate
        Triads with a tie are left out (counted). ``details``: triads counted, circular, left out,
        and ``chance`` (independent fair verdicts: 1/4).

    Raises
    ------
    InputError
        If the lengths differ, a response is compared with itself, or a verdict is unknown.

    Notes
    -----
    A pair judged more than once with different outcomes is left out as contradictory: take the
    majority first, or swap consistency will be counted as intransitivity.

    References
    ----------
    Kendall & Babington Smith (1940), On the method of paired comparisons. Biometrika 31, 324-345.

    Examples
    --------
    >>> q = ["q1"] * 3 + ["q2"] * 3
    >>> first, second = ["x", "y", "x"] * 2, ["y", "z", "z"] * 2
    >>> verdict = ["a", "a", "b", "a", "a", "a"]
    >>> intransitive_triads(q, first, second, verdict).estimate
    0.5
    """
    where = "intransitive_triads"
    columns = [np.asarray(v, dtype=object) for v in (question, first, second)]
    codes = outcome_codes(verdict, where)
    if codes.ndim != 1 or any(c.shape != codes.shape for c in columns) or codes.size == 0:
        raise InputError(
            f"{where}: question, first, second and verdict must have the same length, got "
            f"{[c.shape for c in columns]} and {codes.shape}."
        )
    preferred_over: dict[Any, dict[Any, set[int]]] = {}
    for q, i, j, code in zip(*columns, codes.tolist(), strict=True):
        if i == j:
            raise InputError(
                f"{where}: first and second must differ, got {i!r} twice (question {q!r})."
            )
        pairs = preferred_over.setdefault(q, {})
        if code >= 0:
            sign = (1, -1, 0)[code]
            key, sign = ((i, j), sign) if str(i) <= str(j) else ((j, i), -sign)
            pairs.setdefault(key, set()).add(sign)
    counted, circular, left_out = np.zeros(len(preferred_over)), np.zeros(len(preferred_over)), 0
    for g, pairs in enumerate(preferred_over.values()):
        names = sorted({name for pair in pairs for name in pair}, key=str)
        for triad in itertools.combinations(names, 3):
            x, y, z = triad
            sides = [pairs.get(pair) for pair in ((x, y), (y, z), (x, z))]
            if any(s is None for s in sides):
                continue
            usable = [s for s in sides if s is not None and len(s) == 1]
            if len(usable) < 3 or any(0 in s for s in usable):
                left_out += 1
                continue
            xy, yz, xz = (next(iter(s)) for s in usable)
            counted[g] += 1
            circular[g] += xy == yz != xz
    return share_estimate(
        counted,
        circular,
        name=where,
        label="Share of intransitive triads",
        estimator="triads judged in all three pairs; ties: exclude",
        sample=result.Sample.from_mask(counted > 0, "no complete triad"),
        reason="no question has a triad judged in all three pairs",
        level=level,
        details={
            "triads": int(counted.sum()),
            "circular": int(circular.sum()),
            "left_out": left_out,
            "chance": 0.25,
        },
    )
