"""The cumulative logit model of scores: which factor moves them, on the log-odds scale."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix
from scipy.special import expit

from judgestats.arrays import Floats, Ints
from judgestats.errors import InputError
from judgestats.stats.inference.estimate_set import Estimates
from judgestats.stats.inference.keywords import Clustered, with_keywords
from judgestats.stats.inference.resampling import cluster_codes
from judgestats.stats.inference.result import Estimate, Note, Sample
from judgestats.stats.instrument.fitting import (
    Fit,
    Parts,
    cluster_df,
    clustered_covariance,
    newton,
    wald_interval,
)
from judgestats.stats.instrument.latent_cumulative import Columns, cumulative_model
from judgestats.stats.instrument.latent_grid import fit_on_grid
from judgestats.stats.validity.inputs import score_values

MOST_LEVELS = 100
RUNAWAY = "a factor decides the scores without exception, so its log odds are infinite"


def coded_levels(scores: Floats, *, where: str) -> tuple[Floats, Ints]:
    """The distinct scores in order, and the place of each score among them (-1 where missing).

    Examples
    --------
    >>> levels, codes = coded_levels(np.array([7.0, 9.0, np.nan, 7.0]), where="f")
    >>> levels.tolist(), codes.tolist()
    ([7.0, 9.0], [0, 1, -1, 0])
    """
    read = ~np.isnan(scores)
    levels = np.unique(scores[read])
    if levels.size < 2 or levels.size > MOST_LEVELS:
        problem = "all scores are equal" if levels.size == 1 else f"there are {levels.size} levels"
        raise InputError(
            f"{where}: a scale of 2 to {MOST_LEVELS} levels is needed, but "
            f"{problem if levels.size else 'no score was read'}. Round the scores, or use means."
        )
    codes = np.full(scores.shape, -1, dtype=np.int64)
    codes[read] = np.searchsorted(levels, scores[read])
    return levels, codes


def level_likelihood(
    cut: Floats, y: Ints, eta: Floats
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Probability of each row's level, with the pieces of its derivatives.

    Parameters
    ----------
    cut : ndarray, shape (K - 1,)
        Thresholds in order.
    y : ndarray of int, shape (n,)
    eta : ndarray, shape (n,)

    Returns
    -------
    p, up, low, up_slope, low_slope : ndarray, shape (n,)
        Probability; density at the upper and lower threshold; their derivatives.

    Examples
    --------
    >>> level_likelihood(np.array([0.0]), np.array([0, 1]), np.zeros(2))[0].tolist()
    [0.5, 0.5]
    """
    edges = np.concatenate([[-np.inf], cut, [np.inf]])
    upper, lower = expit(edges[y + 1] - eta), expit(edges[y] - eta)
    # Of two probabilities near 1 the difference is that of their complements.
    flipped = expit(eta - edges[y]) - expit(eta - edges[y + 1])
    p = np.where(lower > 0.5, flipped, upper - lower)
    up, low = upper * (1 - upper), lower * (1 - lower)
    return p, up, low, up * (1 - 2 * upper), low * (1 - 2 * lower)


def fit_cumulative_logit(y: Ints, x: Floats, *, where: str) -> Fit:
    """Thresholds, then slopes: P(Y <= k) = logistic(threshold_k - x'b), by Newton's method.

    Parameters
    ----------
    y : ndarray of int, shape (n,)
        Levels 0 .. K - 1, each of them used.
    x : ndarray, shape (n, p)
    where : str

    Returns
    -------
    Fit

    Examples
    --------
    >>> y = np.array([0, 1, 0, 1, 1, 0])
    >>> fit = fit_cumulative_logit(y, np.zeros((6, 0)), where="f")
    >>> abs(round(float(fit.beta[0]), 9))
    0.0
    """
    k, (n, p) = int(y.max()) + 1, x.shape
    share = np.cumsum(np.bincount(y, minlength=k)[:-1]) / n
    start = np.concatenate([np.log(share / (1 - share)), np.zeros(p)])
    above, below = np.zeros((n, k - 1 + p)), np.zeros((n, k - 1 + p))
    rows = np.arange(n)
    above[rows[y < k - 1], y[y < k - 1]] = 1.0
    below[rows[y > 0], y[y > 0] - 1] = 1.0
    above[:, k - 1 :], below[:, k - 1 :] = -x, -x

    def parts(beta: Floats) -> Parts:
        prob, up, low, up_slope, low_slope = level_likelihood(beta[: k - 1], y, x @ beta[k - 1 :])
        if not np.all(prob > 0):
            return -np.inf, np.zeros_like(above), np.eye(beta.size)
        u, v = up / prob, low / prob
        scores = above * u[:, None] - below * v[:, None]
        uu, vv, uv = u * u - up_slope / prob, v * v + low_slope / prob, -u * v
        cross = (above * uv[:, None]).T @ below
        information = (above * uu[:, None]).T @ above + (below * vv[:, None]).T @ below
        return float(np.log(prob).sum()), scores, information + cross + cross.T

    return newton(parts, start, where=where, runaway=RUNAWAY)


@with_keywords()
def cumulative_logit(
    scores: ArrayLike,
    factors: Mapping[str, ArrayLike],
    *,
    answer: ArrayLike | None = None,
    **inference: Unpack[Clustered],
) -> Estimates:
    r"""What moves the scores: log odds of a higher score, errors over clusters.

    Parameters
    ----------
    scores : array-like, shape (n,)
        NaN where unread.
    factors : mapping of str to array-like, shape (n,)
        Numbers enter as slopes; words as differences from their first level in order, one term a
        level, ``log_odds_FACTOR_LEVEL``.
    answer : array-like, shape (n,), optional
        Which answer was scored: its quality is then a normal variable of the model, and log odds
        are those for one answer; ``answer_sd`` is a further term. Without it they are those for
        answers drawn at random, which are smaller.
    cluster : array-like, shape (n,), optional
        The question of each score; by default its answer, where that is given.

    Returns
    -------
    Estimates
        ``details``: ``thresholds``, ``levels``, ``loglik``, ``std_errors_wald`` by term, and with
        `answer` ``change``, what doubling the grid of the integral would move.

    Raises
    ------
    InputError
        If factors are confounded, or one decides the scores without exception.

    Notes
    -----
    :math:`P(Y \le k) = \mathrm{logistic}(\tau_k - x'\beta)`. Sandwich errors (CR1) with effective
    degrees of freedom. A factor that differs *between* questions has Wald intervals that cover .82
    to .86 where answers of a question share their quality; these cover .94. `OrderedModel` of
    statsmodels has the same maximum (7e-10), but no errors over clusters; R's ``clm`` and ``polr``
    likewise. With `answer` it is R's ``clmm``, the integral taken on a grid in place of Laplace's
    approximation. A temperature whose scores repeat within answers is inferred over answers or
    questions here; the model's own error takes repeats for new answers (.21 in place of .36). A few
    judges do not determine a variance of judges: give them as a factor.

    References
    ----------
    McCullagh (1980), J. R. Stat. Soc. B 42, 109-142.

    Examples
    --------
    >>> scores = [1, 2, 2, 3, 3, 2, 3, 4, 4, 4] * 6
    >>> out = cumulative_logit(scores, {"judge": (["a"] * 5 + ["b"] * 5) * 6})
    >>> round(out["log_odds_judge_b"].estimate, 2)
    2.67
    """
    where = "cumulative_logit"
    y = score_values(scores, where=where, name="scores")
    if y.ndim != 1 or not factors:
        raise InputError(f"{where}: give one score a row and at least one factor, got {y.shape}.")
    columns, names = _columns(factors, y.size)
    codes = cluster_codes(inference["cluster"], y.size, where=where)
    read = ~np.isnan(y)
    levels, coded = coded_levels(y, where=where)
    x = columns[read]
    if np.linalg.matrix_rank(x - x.mean(axis=0)) < x.shape[1]:
        raise InputError(
            f"{where}: {', '.join(names)} cannot be told apart: one of them does not vary, or "
            "follows from the others. Leave it out."
        )
    centre = x.mean(axis=0)
    groups, change = codes[read], math.nan
    if answer is None:
        fit = fit_cumulative_logit(coded[read], x - centre, where=where)
    else:
        who = _answers(answer, y.size)[read]
        if inference["cluster"] is None:
            groups = who
        fit, change = _with_answers(coded[read], x - centre, who)
    of_rows = groups if answer is None else _cluster_of_answers(who, groups)
    covariance, df = clustered_covariance(fit, of_rows), cluster_df(groups)
    k, lost = levels.size - 1, int(np.sum(~read))
    sample = Sample(
        n_items=int(read.sum()),
        n_clusters=int(np.unique(groups).size) if np.unique(groups).size < groups.size else None,
        excluded={"not read": lost},
    )
    slopes = slice(k, k + len(names))
    errors = np.sqrt(np.diag(covariance))
    notes = () if df >= 19 else (_few(df),)
    terms = tuple(
        Estimate(
            name=f"log_odds_{name}", label=f"Log odds of a higher score, {name.replace('_', ' ')}",
            estimate=float(b), std_error=float(se), sample=sample, estimator="cumulative logit",
            interval=wald_interval(
                float(b), float(se), df=df, level=inference["level"], sandwich="CR1"
            ),
            notes=notes,
        )
        for name, b, se in zip(names, fit.beta[slopes], errors[slopes], strict=True)
    )  # fmt: skip
    if answer is not None:
        sd, error = abs(float(fit.beta[-1])), float(errors[-1])
        interval = wald_interval(sd, error, df=df, level=inference["level"], sandwich="CR1")
        terms += (
            Estimate(
                name="answer_sd", label="Standard deviation of answers", estimate=sd,
                std_error=error, sample=sample, estimator="cumulative logit", notes=notes,
                interval=interval,
            ),
        )  # fmt: skip
    wald = np.sqrt(np.diag(fit.bread))[slopes]
    return Estimates(
        name=where, label="Cumulative logit", terms=terms, sample=sample,
        details={
            "thresholds": (fit.beta[:k] + centre @ fit.beta[slopes]).tolist(),
            "levels": levels.tolist(), "loglik": fit.loglik,
            "std_errors_wald": dict(zip(names, wald.tolist(), strict=True)),
            **({} if answer is None else {"change": change}),
        },
    )  # fmt: skip


def _answers(answer: ArrayLike, n: int) -> Ints:
    given = np.asarray(answer)
    if given.shape != (n,):
        raise InputError(
            f"cumulative_logit: answer must have one entry for each of {n} scores, got shape "
            f"{given.shape}."
        )
    given = given if given.dtype.kind in "iuf" else given.astype(str)
    return np.unique(given, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _cluster_of_answers(who: Ints, groups: Ints) -> Ints:
    """The cluster of each answer, which must be one."""
    present, first = np.unique(who, return_index=True)
    of = groups[first]
    if np.any(of[np.searchsorted(present, who)] != groups):
        raise InputError("cumulative_logit: an answer has one cluster, but some have several.")
    return np.asarray(of)


def _with_answers(y: Ints, x: Floats, who: Ints) -> tuple[Fit, float]:
    """Thresholds, slopes and the standard deviation of answers, whose quality is integrated out."""
    where = "cumulative_logit"
    who = np.unique(who, return_inverse=True)[1].reshape(-1)
    n, k, p = int(who.max()) + 1, int(y.max()) + 1, x.shape[1]
    if n == who.size:
        raise InputError(
            f"{where}: every answer was scored once, so its own quality cannot be told from "
            "chance. Leave answer out."
        )
    start = fit_cumulative_logit(y, x, where=where).beta
    kinds, at = np.unique(np.column_stack([y, x]), axis=0, return_inverse=True)
    level = kinds[:, 0].astype(np.int64)
    above, below, loading = (np.zeros((level.size, k + p)) for _ in range(3))
    rows = np.arange(level.size)
    above[rows[level < k - 1], level[level < k - 1]] = 1.0
    below[rows[level > 0], level[level > 0] - 1] = 1.0
    above[:, k - 1 : -1] = below[:, k - 1 : -1] = -kinds[:, 1:]
    loading[:, -1] = 1.0
    columns = Columns(
        counts=csr_matrix((np.ones(who.size), (who, at.reshape(-1))), shape=(n, level.size)),
        above=above, below=below, loading=loading, top=level == k - 1, bottom=level == 0,
    )  # fmt: skip
    model = cumulative_model(columns)
    fit = fit_on_grid(model, np.append(start, 1.0), where=where, runaway=RUNAWAY)
    return fit.fit, fit.change


def _few(df: float) -> Note:
    message = f"Only {df + 1:.0f} effective clusters: intervals were studied from 20 on."
    return Note(code="few_clusters", message=message)


def _columns(factors: Mapping[str, ArrayLike], n: int) -> tuple[Floats, list[str]]:
    """Numbers as they are, words as differences from their first level."""
    where = "cumulative_logit"
    columns: list[Floats] = []
    names: list[str] = []
    for name, given in factors.items():
        values = np.asarray(given)
        if values.shape != (n,):
            raise InputError(
                f"{where}: factor {name!r} must have one entry for each of {n} scores, got shape "
                f"{values.shape}."
            )
        if values.dtype.kind in "bif":
            if not np.all(np.isfinite(values)):
                raise InputError(f"{where}: factor {name!r} has missing or infinite numbers.")
            columns.append(values.astype(float))
            names.append(name)
            continue
        levels, coded = np.unique(values.astype(str), return_inverse=True)
        columns += [(coded == i).astype(float) for i in range(1, levels.size)]
        names += [f"{name}_{level}" for level in levels[1:]]
    return np.column_stack(columns) if columns else np.zeros((n, 1)), names or [*factors]


def dummies(groups: Sequence[str] | NDArray[np.str_], names: Sequence[str]) -> Floats:
    """One column for each name but the first.

    Examples
    --------
    >>> dummies(["a", "b", "a"], ["a", "b"]).tolist()
    [[0.0], [1.0], [0.0]]
    """
    values = np.asarray(groups)
    return np.column_stack([(values == name).astype(float) for name in names[1:]])
