"""Cumulative logit models: fixed effects, and one latent quality per answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from scipy.special import expit, logsumexp

from judgestats.arrays import Bools, Floats, Ints
from judgestats.errors import InputError
from judgestats.stats.inference import distributions
from judgestats.stats.inference.bootstrap import cluster_codes
from judgestats.stats.inference.estimate import Estimate, Interval, Note, Sample
from judgestats.stats.inference.jackknife import cluster_sums, effective_clusters, t_of_clusters
from judgestats.stats.inference.keywords import Clustered, with_keywords
from judgestats.stats.inference.result import Estimates
from judgestats.stats.validity.inputs import score_values

Parts = tuple[float, Floats, Floats]
"""Log-likelihood, scores (n, p) and information (p, p)."""

Sandwich = Literal["CR0", "CR1", "CR2"]
SANDWICHES: tuple[str, ...] = ("CR0", "CR1", "CR2")
INFINITE = 15.0
"""Logits beyond which an estimate is a runaway: odds of three million to one."""


@dataclass(frozen=True, kw_only=True)
class Fit:
    """A maximum of a likelihood: its parameters, scores of each row, inverse information."""

    beta: Floats
    loglik: float
    scores: Floats
    bread: Floats


def newton(
    parts: Callable[[Floats], Parts],
    start: Floats,
    *,
    where: str,
    runaway: str = "",
    tolerance: float = 1e-11,
    steps: int = 60,
) -> Fit:
    """Maximise a concave log-likelihood.

    Parameters
    ----------
    parts : callable
        Parameters to log-likelihood (-inf where not allowed), scores (n, p), information (p, p).
    start : ndarray, shape (p,)
    where : str
        Name of the public function, for messages.
    runaway : str
        What it means where a parameter grows without bound; empty: no bound is held.
    tolerance : float
        Largest last step.
    steps : int

    Returns
    -------
    Fit

    Raises
    ------
    InputError
        If there is no finite maximum, or it is not reached.

    Examples
    --------
    >>> y = np.array([1.0, 1.0, 0.0, 1.0])
    >>> def parts(b):
    ...     p = 1 / (1 + np.exp(-b[0]))
    ...     ll = float(np.sum(y * np.log(p) + (1 - y) * np.log(1 - p)))
    ...     return ll, (y - p)[:, None], np.array([[4 * p * (1 - p)]])
    >>> round(float(newton(parts, np.zeros(1), where="f").beta[0]), 6) == round(math.log(3), 6)
    True
    """
    beta = np.array(start, dtype=float)
    value, scores, information = parts(beta)
    for _ in range(steps):
        try:
            step = np.linalg.solve(information, scores.sum(axis=0))
        except np.linalg.LinAlgError as error:
            raise InputError(f"{where}: {runaway or 'the parameters are confounded'}.") from error
        size = 1.0
        new = parts(beta + step)
        while not new[0] >= value - 1e-9 * (1 + abs(value)) and size > 1e-6:
            size /= 2
            new = parts(beta + size * step)
        beta = beta + size * step
        value, scores, information = new
        if runaway and np.abs(beta).max() > INFINITE:
            raise InputError(f"{where}: {runaway}.")
        if np.abs(step).max() < tolerance:
            break
    else:
        if np.abs(step).max() > 1e-6:
            raise InputError(
                f"{where}: the likelihood has no clear maximum ({steps} Newton steps). The "
                "parameters are many for these judgments: leave a facet out, or give more."
            )
    return Fit(
        beta=beta,
        loglik=value,
        scores=scores,
        bread=np.asarray(np.linalg.inv(information), dtype=np.float64),
    )


def clustered_covariance(fit: Fit, codes: Ints, kind: str = "CR1") -> Floats:
    """Sandwich covariance of a maximum, scores summed by cluster; CR1 multiplies by G / (G - 1).

    Examples
    --------
    >>> one = Fit(beta=np.zeros(1), loglik=0.0, scores=np.array([[1.0], [-1.0], [2.0], [-2.0]]),
    ...           bread=np.array([[0.25]]))
    >>> round(float(clustered_covariance(one, np.arange(4))[0, 0]), 4)
    0.8333
    """
    sums = cluster_sums(fit.scores, codes)
    g = sums.shape[0]
    factor = g / (g - 1) if kind == "CR1" and g > 1 else 1.0
    return np.asarray(fit.bread @ (sums.T @ sums) @ fit.bread * factor)


def weighted_cr2(x: Floats, weight: Floats, residual: Floats, codes: Ints, bread: Floats) -> Floats:
    """CR2 covariance of a generalised linear model (Bell & McCaffrey 2002, on the response).

    Parameters
    ----------
    x : ndarray, shape (n, p)
    weight : ndarray, shape (n,)
        Working weights, which are the variances of a canonical model.
    residual : ndarray, shape (n,)
        Response minus mean.
    codes : ndarray of int, shape (n,)
    bread : ndarray, shape (p, p)
        Inverse of X'WX.

    Notes
    -----
    As clubSandwich 0.5 for a glm: the target is the model's variance of the response.
    """
    meat = np.zeros_like(bread)
    for g in np.unique(codes):
        at = codes == g
        root = np.sqrt(weight[at])
        slope = x[at] * weight[at][:, None]
        left = np.diag(weight[at]) - slope @ bread @ slope.T
        value, vector = np.linalg.eigh(left * np.outer(root, root))
        inverse = np.where(value > 1e-10 * value.max(), value, np.inf) ** -0.5
        adjusted = (vector * inverse) @ vector.T * np.outer(root, root)
        score = x[at].T @ (adjusted @ residual[at])
        meat += np.outer(score, score)
    return np.asarray(bread @ meat @ bread)


def cluster_df(codes: Ints) -> float:
    """Effective degrees of freedom of an interval over clusters, at least 1.

    Examples
    --------
    >>> cluster_df(np.repeat(np.arange(5), 3))
    4.0
    """
    sizes = np.unique(codes, return_counts=True)[1]
    return max(effective_clusters(sizes) - 1.0, 1.0)


def wald_interval(
    estimate: float, std_error: float, *, df: float, level: float, sandwich: str
) -> Interval | None:
    """Estimate and standard error as an interval, None where there is no error."""
    if not (math.isfinite(std_error) and std_error > 0 and math.isfinite(estimate)):
        return None
    half = float(distributions.t.ppf((1 + level) / 2, df)) * std_error
    method = f"{sandwich} sandwich over clusters, {t_of_clusters(df)}"
    return Interval(low=estimate - half, high=estimate + half, level=level, method=method)


REACH = 7.0
"""Standard deviations of quality that the grid spans to either side."""
FINEST = 1601
LATENT_GRID_INFINITE = 40.0
"""Logits beyond which an estimate is a runaway: a sharp judge's thresholds reach 15."""
PER_SD = 3.0
"""Nodes for one standard deviation of the narrowest posterior."""


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Equally spaced nodes of a standard normal variable with their log weights."""

    x: Floats
    log_weight: Floats


def grid_of(n: int) -> Grid:
    """A grid of n nodes.

    Examples
    --------
    >>> g = grid_of(101)
    >>> round(float(np.sum(np.exp(g.log_weight) * g.x**2)), 9)
    1.0
    """
    x = np.linspace(-REACH, REACH, n)
    log_weight = -x * x / 2
    return Grid(x=x, log_weight=log_weight - logsumexp(log_weight))


def integrated(loglik: Floats, grid: Grid) -> tuple[Floats, Floats]:
    """Marginal log-likelihood of each answer and its posterior over the nodes.

    Parameters
    ----------
    loglik : ndarray, shape (n_answers, n_nodes)
        Log-likelihood of all ratings of an answer at each node.
    grid : Grid

    Returns
    -------
    marginal : ndarray, shape (n_answers,)
    posterior : ndarray, shape (n_answers, n_nodes)

    Examples
    --------
    >>> integrated(np.zeros((1, 51)), grid_of(51))[0].round(9).tolist()
    [0.0]
    """
    joint = loglik + grid.log_weight
    largest = joint.max(axis=1, keepdims=True)
    weights = np.exp(joint - largest)
    total = weights.sum(axis=1, keepdims=True)
    return (largest + np.log(total))[:, 0], weights / total


Model = Callable[[Floats, Grid], tuple[float, Floats, Floats]]
"""Parameters and grid to log-likelihood, scores of the answers (N, p), posteriors (N, Q)."""


@dataclass(frozen=True, kw_only=True)
class GridFit:
    """A marginal maximum, the grid it was found on, and what doubling the grid would move."""

    fit: Fit
    grid: Grid
    posterior: Floats
    change: float


def fit_on_grid(model: Model, start: Floats, *, where: str, runaway: str) -> GridFit:
    """Maximise a marginal likelihood; the grid is refined until posteriors are wide on it.

    Parameters
    ----------
    model : callable
    start : ndarray, shape (p,)
    where : str
        Name of the public function, for messages.
    runaway : str
        What it means where a parameter grows without bound.

    Returns
    -------
    GridFit

    Raises
    ------
    InputError
        If there is no finite maximum.
    """
    grid = grid_of(81)

    beta = _approached(model, start, grid)
    if np.abs(beta).max() > LATENT_GRID_INFINITE:
        raise InputError(f"{where}: {runaway}.")
    for _ in range(6):
        x, posterior = grid.x, model(beta, grid)[2]
        mean = posterior @ x
        narrow = math.sqrt(max(float((posterior @ x**2 - mean**2).min()), 1e-8))
        needed = min(int(2 * REACH * PER_SD / narrow) + 1, FINEST)
        if needed <= grid.x.size:
            break
        grid = grid_of(needed)
    beta = _newton(model, beta, grid, where=where, runaway=runaway)
    information = _information(model, beta, grid)
    value, scores, posterior = model(beta, grid)
    finer = model(beta, grid_of(2 * grid.x.size - 1))[1].sum(axis=0)
    return GridFit(
        fit=Fit(
            beta=beta, loglik=value, scores=scores, bread=np.asarray(np.linalg.inv(information))
        ),
        grid=grid,
        posterior=posterior,
        change=float(np.abs(_solved(information, finer, where, runaway)).max()),
    )


def _newton(model: Model, beta: Floats, grid: Grid, *, where: str, runaway: str) -> Floats:
    """The maximum to the last digits; the information is computed anew after each large step."""
    value, scores, _ = model(beta, grid)
    information = _information(model, beta, grid)
    for _ in range(40):
        # Away from the maximum a direction may curve upwards: its curvature is taken absolute.
        curve, axes = np.linalg.eigh(information)
        curve = np.maximum(np.abs(curve), 1e-8 * np.abs(curve).max())
        step = axes @ ((axes.T @ scores.sum(axis=0)) / curve)
        largest = float(np.abs(step).max())
        if largest < 1e-9:
            return beta
        size = min(1.0, 2.0 / largest)
        new = model(beta + size * step, grid)
        while not new[0] >= value - 1e-9 * abs(value) and size > 1e-4:
            size /= 2
            new = model(beta + size * step, grid)
        beta = beta + size * step
        value, scores, _ = new
        if largest > 1e-2:
            information = _information(model, beta, grid)
    raise InputError(f"{where}: the likelihood has no clear maximum: {runaway}.")


def _approached(model: Model, start: Floats, grid: Grid) -> Floats:
    """Near the maximum: BFGS on axes that the outer product of the scores makes alike."""
    scores = model(start, grid)[1]
    outer = scores.T @ scores
    outer += 1e-3 * np.trace(outer) / start.size * np.eye(start.size)
    axes = np.linalg.inv(np.linalg.cholesky(outer)).T

    def deviance(z: Floats) -> tuple[float, Floats]:
        value, each, _ = model(start + axes @ z, grid)
        if not math.isfinite(value):
            return 1e12, np.zeros_like(z)
        return -value, -(each.sum(axis=0) @ axes)

    optimum = minimize(
        deviance, np.zeros(start.size), jac=True, method="BFGS", options={"gtol": 1e-2}
    )
    return np.asarray(start + axes @ optimum.x)


def _information(model: Model, beta: Floats, grid: Grid) -> Floats:
    """The observed information, from differences of the gradient."""
    step, p = 1e-4, beta.size
    out = np.empty((p, p))
    for i in range(p):
        up, down = beta.copy(), beta.copy()
        up[i] += step
        down[i] -= step
        rise = model(up, grid)[1].sum(axis=0) - model(down, grid)[1].sum(axis=0)
        out[i] = -rise / (2 * step)
    return (out + out.T) / 2


def _solved(matrix: Floats, vector: Floats, where: str, runaway: str) -> Floats:
    value = np.linalg.eigvalsh(matrix)
    if not value[0] > 1e-9 * max(float(value[-1]), 1e-300):
        raise InputError(f"{where}: {runaway}.")
    return np.asarray(np.linalg.solve(matrix, vector))


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Different (level, row of the design) pairs, and how often each answer got them.

    Attributes
    ----------
    counts : csr_matrix, shape (n_answers, M)
    above, below : ndarray, shape (M, p)
        Upper and lower threshold of the level, as functions of the parameters.
    top, bottom : ndarray of bool, shape (M,)
        Whether the level is the highest, or the lowest.
    loading : ndarray, shape (M, p)
        What the parameters make of one standard deviation of quality.
    """

    counts: csr_matrix
    above: Floats
    below: Floats
    top: Bools
    bottom: Bools
    loading: Floats


def cumulative_model(columns: Columns) -> Model:
    """The marginal log-likelihood: P(Y <= k) = logistic(threshold_k - loading x), x ~ N(0, 1)."""
    chosen = columns.counts.tocoo()
    answer, at, times = chosen.row, chosen.col, chosen.data
    top, bottom = columns.top[:, None], columns.bottom[:, None]
    answers = csr_matrix(
        (times, (answer, np.arange(times.size))), shape=(columns.counts.shape[0], times.size)
    )

    def model(beta: Floats, grid: Grid) -> tuple[float, Floats, Floats]:
        shift = (columns.loading @ beta)[:, None] * grid.x
        upper = np.where(top, np.inf, (columns.above @ beta)[:, None] - shift)
        lower = np.where(bottom, -np.inf, (columns.below @ beta)[:, None] - shift)
        of_up, of_low = expit(upper), expit(lower)
        p = np.where(of_low > 0.5, expit(-lower) - expit(-upper), of_up - of_low)
        if not np.all(upper[:, 0] > lower[:, 0]):
            n = columns.counts.shape[0]
            empty = np.zeros((n, grid.x.size))
            return -np.inf, np.zeros((n, beta.size)), empty
        p = np.maximum(p, 1e-300)
        marginal, posterior = integrated(np.asarray(columns.counts @ np.log(p)), grid)
        up, low = of_up * expit(-upper) / p, of_low * expit(-lower) / p
        here = posterior[answer]
        u = np.einsum("rq,rq->r", here, up[at])
        v = np.einsum("rq,rq->r", here, low[at])
        w = np.einsum("rq,rq->r", here * grid.x, (low - up)[at])
        rows = (
            u[:, None] * columns.above[at]
            - v[:, None] * columns.below[at]
            + w[:, None] * columns.loading[at]
        )
        return float(marginal.sum()), np.asarray(answers @ rows), posterior

    return model


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
