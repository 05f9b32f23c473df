"""One-factor model of repeated scores and its solvers."""

from __future__ import annotations

import dataclasses
import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from judgestats.arrays import Bools, Floats
from judgestats.stats.inference import distributions

GRADIENT_TOLERANCE = 1e-9
HALVINGS = 40
MAX_ITERATIONS = 300
NEAR = 1e-2  # gradient below which the exact Hessian replaces the expected one


@dataclasses.dataclass(frozen=True, kw_only=True)
class Solution:
    """A stack of one-factor solutions.

    Attributes
    ----------
    loadings, uniquenesses : arrays of shape (B, p)
        In the units of the matrices given; each solution's loadings sum to a positive number.
    objective : array of shape (B,)
        Minimum of the discrepancy: ``log|Sigma| + tr(S Sigma^-1)`` for ML (the constant
        ``-log|S| - p`` left out), the sum of squared off-diagonal residuals for minres.
    converged : array of shape (B,)
        Whether the projected gradient vanished.
    at_bound : array of shape (B, p)
        Whether a uniqueness sits at its lower bound (a Heywood case).
    iterations : int
        Newton steps of the slowest fit.
    """

    loadings: Floats
    uniquenesses: Floats
    objective: Floats
    converged: Bools
    at_bound: Bools
    iterations: int


def _inverse_diagonal(a: Floats, loadings: Floats, psi: Floats) -> tuple[Floats, Floats]:
    """``c = 1 + l' Psi^-1 l``, and the diagonal of ``Sigma^-1`` without cancellation.

    ``1 / psi_i - a_i^2 / c`` loses every digit where a uniqueness is next to nothing; ``(1 + the
    sum over the other columns of a_j l_j) / (psi_i c)`` is the same and loses none.
    """
    shares = a * loadings
    others = 1.0 - np.eye(psi.shape[1])
    return 1.0 + shares.sum(1), (1.0 + shares @ others) / (psi * (1.0 + shares.sum(1))[:, None])


def ml_discrepancy(S: Floats, loadings: Floats, psi: Floats) -> Floats:
    """``log|Sigma| + tr(S Sigma^-1)`` for each matrix; infinite where Sigma is not positive."""
    with np.errstate(all="ignore"):
        a = loadings / psi
        c, diagonal = _inverse_diagonal(a, loadings, psi)
        between = np.where(np.eye(psi.shape[1], dtype=bool), 0.0, S)
        Sa = np.einsum("bij,bj->bi", between, a)
        trace = np.einsum("bii,bi->b", S, diagonal) - np.einsum("bi,bi->b", a, Sa) / c
        log_det = np.log(np.abs(psi)).sum(1) + np.log(np.abs(c))
    negative = (psi < 0).sum(1)
    positive = ((negative == 0) & (c > 0)) | ((negative == 1) & (c < 0))
    value = log_det + trace
    return np.asarray(np.where(positive & np.isfinite(value), value, np.inf), dtype=float)


def _pieces(
    S: Floats, loadings: Floats, psi: Floats
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Gradient, ``W``, ``M``, ``W l`` and ``M l``: all that either Hessian is made of."""
    p = psi.shape[1]
    a = loadings / psi
    c, diagonal = _inverse_diagonal(a, loadings, psi)
    W = -(a[:, :, None] * (a / c[:, None])[:, None, :])
    index = np.arange(p)
    W[:, index, index] = diagonal
    M = W @ S @ W
    M = 0.5 * (M + M.transpose(0, 2, 1))
    w = a / c[:, None]
    m = np.einsum("bij,bj->bi", M, loadings)
    gradient = np.concatenate([2.0 * (w - m), W[:, index, index] - M[:, index, index]], axis=1)
    return gradient, W, M, w, m


def _hessian(W: Floats, M: Floats, w: Floats, m: Floats, loadings: Floats) -> Floats:
    """Second derivatives of the ML discrepancy from ``W``, ``M`` and their products with l."""
    size, p = loadings.shape
    qw = np.einsum("bi,bi->b", loadings, w)[:, None, None]
    qm = np.einsum("bi,bi->b", loadings, m)[:, None, None]
    wm = w[:, :, None] * m[:, None, :]
    H = np.empty((size, 2 * p, 2 * p))
    # loadings x loadings: the last term is the second derivative of Sigma itself
    H[:, :p, :p] = 2.0 * (
        wm
        + wm.transpose(0, 2, 1)
        - w[:, :, None] * w[:, None, :]
        + W * (qm - qw)
        + M * qw
        + (W - M)
    )
    H[:, :p, p:] = 2.0 * (W * (m - w)[:, None, :] + M * w[:, None, :])
    H[:, p:, :p] = H[:, :p, p:].transpose(0, 2, 1)
    H[:, p:, p:] = W * (2.0 * M - W)
    return H


def _solve(H: Floats, g: Floats) -> Floats:
    """``H^-1 g`` for each matrix; a singular one gets its least-squares step."""
    try:
        steps = np.asarray(np.linalg.solve(H, g[:, :, None])[:, :, 0], dtype=float)
    except np.linalg.LinAlgError:
        pairs = zip(H, g, strict=True)
        steps = np.stack([np.asarray(np.linalg.lstsq(h, v, rcond=None)[0]) for h, v in pairs])
    return steps


def _start_ml(R: Floats) -> tuple[Floats, Floats]:
    """Starting point of factanal: uniquenesses from the inverse, loadings from the first root."""
    p = R.shape[1]
    index = np.arange(p)
    values, vectors = np.linalg.eigh(R)
    floor = values[:, -1:] * 1e-6  # a start for singular matrices too; never enters the solution
    inverse_diagonal = ((vectors**2) / np.maximum(values, floor)[:, None, :]).sum(2)
    psi = np.clip((1.0 - 0.5 / p) / inverse_diagonal, 0.02, 0.98)
    root = np.sqrt(psi)
    scaled = R / (root[:, :, None] * root[:, None, :])
    scaled[:, index, index] = R[:, index, index] / psi
    top, first = np.linalg.eigh(scaled)
    loadings = first[:, :, -1] * np.sqrt(np.maximum(top[:, -1] - 1.0, 0.05))[:, None] * root
    return loadings, psi


def ml_one_factor(
    S: Floats,
    *,
    lower: float | None = 0.005,
    equal_loadings: bool = False,
    start: tuple[Floats, Floats] | None = None,
) -> Solution:
    """Maximum likelihood for each covariance matrix of a stack.

    Parameters
    ----------
    S : array of shape (B, p, p)
        Covariance or correlation matrices with positive diagonals.
    lower : float or None
        Lower bound of every uniqueness as a share of its column's variance; None for no bound
        (then a uniqueness may be negative as long as Sigma stays positive definite).
    equal_loadings : bool
        Tau-equivalence: one loading for all columns.
    start : tuple of arrays of shape (p,) or None
        Loadings and uniquenesses to start from (the full-sample solution, for a bootstrap).

    Returns
    -------
    Solution
    """
    size, p, _ = S.shape
    # The congeneric model is free of scale, so it is fitted on correlations. Equal loadings are
    # not: there one common scale keeps the numbers near 1 and leaves the model as it is.
    variances = np.einsum("bii->bi", S)
    scale = np.sqrt(variances.mean(1, keepdims=True) if equal_loadings else variances)
    scale = np.broadcast_to(scale, (size, p))
    R = S / (scale[:, :, None] * scale[:, None, :])
    floor = np.full((size, p), -np.inf) if lower is None else lower * np.einsum("bii->bi", R)
    if start is None:
        loadings, psi = _start_ml(R)
    else:
        loadings = np.broadcast_to(start[0], (size, p)) / scale
        psi = np.broadcast_to(start[1], (size, p)) / scale**2
    if equal_loadings:
        loadings = np.repeat(np.abs(loadings.mean(1, keepdims=True)), p, axis=1)
    psi = np.maximum(psi, floor)

    l_out, psi_out = loadings.copy(), psi.copy()
    f_out = ml_discrepancy(R, loadings, psi)
    done = np.zeros(size, dtype=bool)
    todo = np.arange(size)
    damping = np.zeros(size)
    iteration = 0
    while todo.size and iteration < MAX_ITERATIONS:
        iteration += 1
        f, grad_norm, mu = _ml_step(
            R[todo], l_out, psi_out, f_out[todo], floor[todo], todo, damping[todo], equal_loadings
        )
        stalled = (f_out[todo] - f <= 1e-15 * (1.0 + np.abs(f))) & (mu == 0.0)
        f_out[todo], damping[todo] = f, mu
        small = grad_norm < GRADIENT_TOLERANCE
        # rounding stops the search before 1e-9 in ill-conditioned matrices: a gradient this small
        # with no further descent is the minimum to working precision
        done[todo] |= small | (stalled & (grad_norm < 1e-5))
        todo = todo[~(small | stalled)]
    at_bound = psi_out <= floor * (1 + 1e-9)
    sign = np.where(l_out.sum(1) < 0, -1.0, 1.0)[:, None]
    return Solution(
        loadings=l_out * sign * scale,
        uniquenesses=psi_out * scale**2,
        objective=f_out + 2.0 * np.log(scale).sum(1),
        converged=done,
        at_bound=at_bound,
        iterations=iteration,
    )


def _ml_step(
    R: Floats,
    l_out: Floats,
    psi_out: Floats,
    f: Floats,
    floor: Floats,
    todo: NDArray[np.intp],
    damping: Floats,
    equal_loadings: bool,
) -> tuple[Floats, Floats, Floats]:
    """One projected Newton step of the fits `todo`, written into `l_out` and `psi_out`."""
    loadings, psi = l_out[todo], psi_out[todo]
    size, p = psi.shape
    gradient, W, M, w, m = _pieces(R, loadings, psi)
    if equal_loadings:
        gradient = np.concatenate([gradient[:, :p].sum(1, keepdims=True), gradient[:, p:]], axis=1)
    k = gradient.shape[1] - p  # free loadings: p, or 1 when they are equal
    # A uniqueness at (or just above) its bound that wants to go lower is held: it moves straight to
    # the bound while the others take their Newton step (Bertsekas' projected Newton method).
    room = psi - floor
    pull = np.minimum(np.maximum(gradient[:, k:], 0.0), room)
    residual = np.where(gradient[:, k:] > 0, pull, -gradient[:, k:])
    grad_norm = np.maximum(np.abs(gradient[:, :k]).max(1), residual.max(1))
    held = np.zeros(gradient.shape, dtype=bool)
    held[:, k:] = (room <= np.minimum(grad_norm, 1e-2)[:, None]) & (gradient[:, k:] > 0)
    to_bound = np.where(held[:, k:], -room, 0.0)
    slopes, gradient = gradient, np.where(held, 0.0, gradient)
    near = (grad_norm < NEAR)[:, None]
    H = _hessian(W, np.where(near[:, None], M, W), w, np.where(near, m, w), loadings)
    H = _hold(_collapse(H, p) if equal_loadings else H, held)
    diagonal = np.arange(gradient.shape[1])
    H[:, diagonal, diagonal] += damping[:, None] * np.abs(H[:, diagonal, diagonal])
    step = -_solve(H, gradient)
    slope = np.einsum("bi,bi->b", step, gradient)
    bad = ~np.isfinite(slope) | (slope >= 0) | (np.abs(step).max(1) > 10.0)
    if bad.any():  # the exact Hessian is not positive here, or the step is absurdly long
        E = _hessian(W[bad], W[bad], w[bad], w[bad], loadings[bad])
        E = _hold(_collapse(E, p) if equal_loadings else E, held[bad])
        E[:, diagonal, diagonal] *= 1.0 + 1e-3 + damping[bad][:, None]
        step[bad] = -_solve(E, gradient[bad])
    step[:, k:] = np.where(held[:, k:], to_bound, step[:, k:])
    new_l, new_psi, new_f = loadings.copy(), psi.copy(), f.copy()
    t = np.ones(size)
    left = np.arange(size)
    for _ in range(HALVINGS):
        move = step[left] * t[left][:, None]
        trial_l = loadings[left] + move[:, :k]
        trial_psi = np.maximum(psi[left] + move[:, k:], floor[left])
        trial_f = ml_discrepancy(R[left], trial_l, trial_psi)
        down = np.einsum("bi,bi->b", slopes[left, :k], move[:, :k]) + np.einsum(
            "bi,bi->b", slopes[left, k:], trial_psi - psi[left]
        )
        # At the minimum a good step changes the objective by less than its rounding.
        rounding = 4.0 * np.finfo(float).eps * (1.0 + np.abs(f[left]))
        good = trial_f <= f[left] + 1e-4 * np.minimum(down, 0.0) + rounding
        hit = left[good]
        new_l[hit], new_psi[hit], new_f[hit] = trial_l[good], trial_psi[good], trial_f[good]
        left = left[~good]
        if not left.size:
            break
        t[left] *= 0.5
    l_out[todo], psi_out[todo] = new_l, new_psi
    failed = np.zeros(size, dtype=bool)
    failed[left] = True
    worse = np.where(damping == 0.0, 1e-3, damping * 10.0)
    damping = np.where(failed & (damping < 1e3), worse, 0.0)
    return new_f, grad_norm, damping


def _collapse(H: Floats, p: int) -> Floats:
    """Hessian in (one common loading, uniquenesses) from that in (loadings, uniquenesses)."""
    out = np.empty((H.shape[0], p + 1, p + 1))
    out[:, 0, 0] = H[:, :p, :p].sum((1, 2))
    out[:, 0, 1:] = H[:, :p, p:].sum(1)
    out[:, 1:, 0] = out[:, 0, 1:]
    out[:, 1:, 1:] = H[:, p:, p:]
    return out


def _hold(H: Floats, held: Bools) -> Floats:
    """Replace the rows and columns of held parameters by those of the identity."""
    H = np.where(held[:, :, None] | held[:, None, :], 0.0, H)
    index = np.arange(H.shape[1])
    H[:, index, index] = np.where(held, 1.0, H[:, index, index])
    return H


def minres_one_factor(
    S: Floats,
    *,
    lower: float | None = 0.0,
    start: Floats | None = None,
) -> Solution:
    """Minimum residuals (unweighted least squares off the diagonal) for each matrix of a stack.

    Minimises ``sum_{i<j} (s_ij - l_i l_j)^2``; uniquenesses are what the diagonal leaves,
    ``s_ii - l_i^2``. Not free of scale: correlations and covariances give different solutions.

    Parameters
    ----------
    S : array of shape (B, p, p)
        Covariance or correlation matrices; they may be singular.
    lower : float or None
        Lower bound of every uniqueness as a share of its column's variance, so that
        ``l_i^2 <= (1 - lower) s_ii``; None for no bound.
    start : array of shape (p,) or None
        Loadings to start from.

    Returns
    -------
    Solution
    """
    size, p, _ = S.shape
    variances = np.einsum("bii->bi", S)
    scale = np.sqrt(variances.mean(1))
    R = S / (scale**2)[:, None, None]
    box = (
        np.full((size, p), np.inf)
        if lower is None
        else np.sqrt(np.maximum(1.0 - lower, 0.0) * np.einsum("bii->bi", R))
    )
    index = np.arange(p)
    off = R.copy()
    off[:, index, index] = 0.0
    if start is None:
        values, vectors = np.linalg.eigh(R)
        x = vectors[:, :, -1] * np.sqrt(np.maximum(values[:, -1], 1e-3))[:, None] * 0.9
    else:
        x = np.broadcast_to(start, (size, p)) / scale[:, None]
    x = np.clip(x, -box, box)
    f = _minres_discrepancy(off, x)
    done = np.zeros(size, dtype=bool)
    todo = np.arange(size)
    iteration = 0
    while todo.size and iteration < MAX_ITERATIONS:
        iteration += 1
        new_x, new_f, grad_norm = _minres_step(off[todo], x[todo], f[todo], box[todo])
        stalled = f[todo] - new_f <= 1e-16 * (1.0 + new_f)
        x[todo], f[todo] = new_x, new_f
        small = grad_norm < GRADIENT_TOLERANCE * 1e-2
        done[todo] |= small | (stalled & (grad_norm < 1e-6))
        todo = todo[~(small | stalled)]
    sign = np.where(x.sum(1) < 0, -1.0, 1.0)[:, None]
    loadings = x * sign * scale[:, None]
    at_bound = np.abs(x) >= box * (1 - 1e-12)
    uniquenesses = variances - loadings**2
    if lower is not None:
        uniquenesses = np.where(at_bound, lower * variances, uniquenesses)
    return Solution(
        loadings=loadings,
        uniquenesses=uniquenesses,
        objective=f * scale**4,
        converged=done,
        at_bound=at_bound,
        iterations=iteration,
    )


def _minres_discrepancy(off: Floats, x: Floats) -> Floats:
    """``sum_{i<j} (s_ij - l_i l_j)^2``, by products only (no residual matrix is formed)."""
    squared = x * x
    total = squared.sum(1)
    cross = np.einsum("bi,bij,bj->b", x, off, x, optimize=True)
    model = total**2 - (squared**2).sum(1)
    data = np.einsum("bij,bij->b", off, off)
    value: Floats = 0.5 * (data - 2.0 * cross + model)
    return value


def _minres_step(off: Floats, x: Floats, f: Floats, box: Floats) -> tuple[Floats, Floats, Floats]:
    """One projected Newton step of the minres fits."""
    size, p = x.shape
    index = np.arange(p)
    total = np.einsum("bi,bi->b", x, x)[:, None]
    rest = total - x * x
    gradient = -2.0 * (np.einsum("bij,bj->bi", off, x) - x * rest)
    held = (np.abs(x) >= box * (1 - 1e-12)) & (gradient * x < 0)
    gradient = np.where(held, 0.0, gradient)
    grad_norm = np.abs(gradient).max(1)
    outer = x[:, :, None] * x[:, None, :]
    newton = 4.0 * outer - 2.0 * off
    newton[:, index, index] = 2.0 * rest + 1e-300
    step = -_solve(_hold(newton, held), gradient)
    slope = np.einsum("bi,bi->b", step, gradient)
    bad = ~np.isfinite(slope) | (slope >= 0) | (np.abs(step).max(1) > 10.0)
    if bad.any():  # Gauss-Newton, lightly damped, is always downhill
        gauss = 2.0 * outer[bad]
        gauss[:, index, index] = 2.0 * rest[bad] * (1 + 1e-3) + 1e-6
        step[bad] = -_solve(_hold(gauss, held[bad]), gradient[bad])
    new_x, new_f = x.copy(), f.copy()
    t = np.ones(size)
    left = np.arange(size)
    for _ in range(HALVINGS):
        trial = np.clip(x[left] + step[left] * t[left][:, None], -box[left], box[left])
        trial_f = _minres_discrepancy(off[left], trial)
        down = np.einsum("bi,bi->b", gradient[left], trial - x[left])
        # At the minimum a good step changes the objective by less than its rounding.
        rounding = 4.0 * np.finfo(float).eps * (1.0 + np.abs(f[left]))
        good = trial_f <= f[left] + 1e-4 * np.minimum(down, 0.0) + rounding
        hit = left[good]
        new_x[hit], new_f[hit] = trial[good], trial_f[good]
        left = left[~good]
        if not left.size:
            break
        t[left] *= 0.5
    return new_x, new_f, grad_norm


Model = Literal["parallel", "tau-equivalent", "congeneric"]
Estimator = Literal["ml", "minres"]
Denominator = Literal["model", "observed", "residual"]

DEFAULT_LOWER: dict[str, float] = {"ml": 0.005, "minres": 0.0}
BATCH_CELLS = 3_000_000  # numbers per working array, so that wide data do not exhaust memory


@dataclasses.dataclass(frozen=True, kw_only=True)
class OneFactorFit:
    """How well a one-factor model fits, and whether its solution is proper.

    Attributes
    ----------
    chi2, df, p_value : float
        Likelihood ratio against the saturated model, ``N F`` (lavaan). For minres ``F`` is the ML
        discrepancy at the minres solution (as psych does). NaN where the covariance is singular.
    chi2_bartlett, p_bartlett : float
        The same with factanal's factor ``N - 1 - (2 p + 5) / 6 - 2 / 3``.
    rmsea, cfi, tli, srmr : float
        lavaan's conventions (N, not N - 1, in RMSEA; SRMR over the lower triangle with diagonal).
    objective : float
        The minimised discrepancy: ``log|Sigma| + tr(S Sigma^-1) - log|S| - p`` for ML, the sum of
        squared off-diagonal residuals for minres.
    heywood : tuple of int
        Columns (from 0) whose uniqueness is negative or sits at its lower bound.
    converged : bool
        Whether the search reached a stationary point.
    """

    chi2: float = math.nan
    df: int
    p_value: float = math.nan
    chi2_bartlett: float = math.nan
    p_bartlett: float = math.nan
    rmsea: float = math.nan
    cfi: float = math.nan
    tli: float = math.nan
    srmr: float = math.nan
    objective: float = math.nan
    heywood: tuple[int, ...] = ()
    converged: bool = True


def singular_reason(S: Floats, n_items: int) -> str:
    """Why the covariance matrix has no inverse, or an empty string where it has one.

    Examples
    --------
    >>> singular_reason(np.eye(3), 10)
    ''
    >>> singular_reason(np.ones((2, 2)), 10)
    'columns 1 and 2 are the same up to scale'
    """
    p = S.shape[0]
    variances = np.diag(S)
    constant = np.flatnonzero(variances <= 1e-14 * max(float(variances.max()), 1e-300))
    if constant.size:
        names = ", ".join(str(i + 1) for i in constant[:8])
        return f"column{'s' if constant.size > 1 else ''} {names} hold the same score for all items"
    R = S / np.sqrt(np.outer(variances, variances))
    if float(np.linalg.eigvalsh(R)[0]) > 1e-10 * p:
        return ""
    if n_items <= p:
        return f"{n_items} items do not exceed {p} replications"
    pairs = np.argwhere(np.triu(np.abs(R) > 1 - 1e-10, 1))
    if pairs.size:
        i, j = pairs[0]
        return f"columns {i + 1} and {j + 1} are the same up to scale"
    return "one column is an exact linear combination of the others"


def parallel_solution(S: Floats) -> tuple[float, float]:
    """Common covariance and uniqueness of the parallel model, its closed-form ML and minres fit.

    Examples
    --------
    >>> parallel_solution(np.array([[2.0, 1.0], [1.0, 4.0]]))
    (1.0, 2.0)
    """
    p = S.shape[0]
    common = float((S.sum() - np.trace(S)) / (p * (p - 1)))
    return common, float(np.trace(S) / p - common)


def omegas(loadings: Floats, uniquenesses: Floats, S: Floats) -> dict[str, Floats]:
    """The three one-factor omegas of each solution of a stack, by the name of the denominator.

    ``model`` is ``(sum l)^2 / ((sum l)^2 + sum psi)``, ``observed`` is ``(sum l)^2 / sum S``, and
    ``residual`` is ``1 - sum psi / sum S``.
    """
    true = loadings.sum(-1) ** 2
    error = uniquenesses.sum(-1)
    total = S.sum((-2, -1))
    with np.errstate(divide="ignore", invalid="ignore"):
        return {
            "model": true / (true + error),
            "observed": true / total,
            "residual": 1.0 - error / total,
        }


def fit_stack(
    S: Floats,
    *,
    model: Model,
    estimator: Estimator,
    lower: float | None,
    start: tuple[Floats, Floats] | None = None,
) -> Solution:
    """Fit a tau-equivalent or congeneric model to each matrix of a stack, in bounded memory.

    Parameters
    ----------
    S : array of shape (B, p, p)
        Covariance or correlation matrices; one with a zero or undefined variance gives NaN.
    model, estimator, lower, start
        As in `one_factor_solvers`.

    Returns
    -------
    Solution
    """
    size, p, _ = S.shape
    variances = np.einsum("bii->bi", S)
    usable = np.isfinite(S).all((1, 2)) & (variances > 0).all(1)
    loadings = np.full((size, p), np.nan)
    psi = np.full((size, p), np.nan)
    objective = np.full(size, np.nan)
    converged = np.zeros(size, dtype=bool)
    at_bound = np.zeros((size, p), dtype=bool)
    iterations = 0
    per_batch = max(1, BATCH_CELLS // (4 * p * p))
    index = np.flatnonzero(usable)
    for first in range(0, index.size, per_batch):
        rows = index[first : first + per_batch]
        part = _solve_part(S[rows], model=model, estimator=estimator, lower=lower, start=start)
        loadings[rows], psi[rows] = part.loadings, part.uniquenesses
        objective[rows], converged[rows] = part.objective, part.converged
        at_bound[rows] = part.at_bound
        iterations = max(iterations, part.iterations)
    return Solution(
        loadings=loadings,
        uniquenesses=psi,
        objective=objective,
        converged=converged,
        at_bound=at_bound,
        iterations=iterations,
    )


def _solve_part(
    S: Floats,
    *,
    model: Model,
    estimator: Estimator,
    lower: float | None,
    start: tuple[Floats, Floats] | None,
) -> Solution:
    if estimator == "ml":
        return ml_one_factor(S, lower=lower, equal_loadings=model == "tau-equivalent", start=start)
    if model == "congeneric":
        return minres_one_factor(S, lower=lower, start=None if start is None else start[0])
    # tau-equivalent minres has a closed form: the mean covariance is the squared loading
    size, p, _ = S.shape
    variances = np.einsum("bii->bi", S)
    common = (S.sum((1, 2)) - variances.sum(1)) / (p * (p - 1))
    loadings = np.repeat(np.sqrt(np.maximum(common, 0.0))[:, None], p, axis=1)
    # a negative mean covariance has no real loading; the coefficient itself stays defined (alpha)
    loadings = np.where((common < 0)[:, None], np.nan, loadings)
    psi = variances - common[:, None]
    off = S - loadings[:, :, None] * loadings[:, None, :]
    off[:, np.arange(p), np.arange(p)] = 0.0
    return Solution(
        loadings=loadings,
        uniquenesses=psi,
        objective=0.5 * np.einsum("bij,bij->b", off, off),
        converged=np.ones(size, dtype=bool),
        at_bound=psi < 0,
        iterations=0,
    )


def free_parameters(model: Model, p: int) -> int:
    """Number of free parameters of a model for p columns."""
    return {"parallel": 2, "tau-equivalent": p + 1, "congeneric": 2 * p}[model]


def fit_one_factor(
    S: Floats,
    loadings: Floats,
    uniquenesses: Floats,
    *,
    model: Model,
    n_items: int,
    common: float | None = None,
    heywood: tuple[int, ...] = (),
    converged: bool = True,
    minres_objective: float = math.nan,
) -> OneFactorFit:
    """Fit indices of a solution against its covariance matrix.

    Parameters
    ----------
    S : array of shape (p, p)
        The matrix that was fitted.
    loadings, uniquenesses : arrays of shape (p,)
        The solution.
    model : str
        For the degrees of freedom.
    n_items : int
        Rows behind `S`.
    common : float or None
        The common covariance of the parallel model (it may be negative, and then has no loading).
    heywood, converged, minres_objective
        Passed on from the solver.

    Returns
    -------
    OneFactorFit
    """
    p = S.shape[0]
    df = p * (p + 1) // 2 - free_parameters(model, p)
    implied = np.outer(loadings, loadings) if common is None else np.full((p, p), common)
    sigma = implied + np.diag(uniquenesses)
    variances = np.diag(S)
    plain = OneFactorFit(df=df, objective=minres_objective, heywood=heywood, converged=converged)
    if not np.isfinite(sigma).all() or not (variances > 0).all():
        return plain
    residual = (S - sigma) / np.sqrt(np.outer(variances, variances))
    srmr = float(np.sqrt(np.mean(residual[np.tril_indices(p)] ** 2)))
    sign_s, log_s = np.linalg.slogdet(S)
    sign_m, log_m = np.linalg.slogdet(sigma)
    if singular_reason(S, n_items) or sign_s <= 0 or sign_m <= 0:
        return dataclasses.replace(plain, srmr=srmr)
    F = float(log_m - log_s + np.trace(np.linalg.solve(sigma, S)) - p)
    F0 = float(np.log(variances).sum() - log_s)
    df0 = p * (p - 1) // 2
    chi2, chi2_0 = n_items * F, n_items * F0
    factor = n_items - 1 - (2 * p + 5) / 6 - 2 / 3
    positive = df > 0
    excess, excess_0 = max(chi2 - df, 0.0), max(chi2_0 - df0, chi2 - df, 0.0)
    return OneFactorFit(
        chi2=chi2,
        df=df,
        p_value=float(distributions.chi2.sf(chi2, df)) if positive else math.nan,
        chi2_bartlett=factor * F,
        p_bartlett=float(distributions.chi2.sf(factor * F, df)) if positive else math.nan,
        rmsea=math.sqrt(excess / (df * n_items)) if positive else math.nan,
        cfi=1.0 - excess / excess_0 if positive and excess_0 > 0 else math.nan,
        tli=(chi2_0 / df0 - chi2 / df) / (chi2_0 / df0 - 1)
        if positive and chi2_0 != df0
        else math.nan,
        srmr=srmr,
        objective=minres_objective if math.isfinite(minres_objective) else F,
        heywood=heywood,
        converged=converged,
    )
