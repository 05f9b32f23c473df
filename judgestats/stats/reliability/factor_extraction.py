"""Several factors of a correlation matrix: minres extraction and oblimin rotation.

Own code, because factor_analyzer's extraction differentiates numerically (a hundred times slower
than its gradient costs) and stops at a loose tolerance; `tests` hold the two to each other.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy.optimize import minimize

from judgestats.arrays import Floats


@dataclasses.dataclass(frozen=True, kw_only=True)
class FactorSolution:
    """Loadings with what belongs to them.

    Attributes
    ----------
    loadings : array of shape (p, k)
        Pattern loadings.
    phi : array of shape (k, k)
        Factor correlations (identity before an oblique rotation).
    uniquenesses : array of shape (p,)
        ``1 - diag(loadings phi loadings')``.
    objective : float
        Sum of squared residuals, or the rotation criterion.
    converged : bool
    """

    loadings: Floats
    phi: Floats
    uniquenesses: Floats
    objective: float
    converged: bool


def _squared_multiple_correlations(R: Floats) -> Floats:
    """Squared multiple correlation of each column, from the pseudo-inverse where R is singular."""
    inverse = np.linalg.pinv(R, hermitian=True)
    return np.asarray(1.0 - 1.0 / np.maximum(np.diag(inverse), 1.0))


def minres_factors(
    R: Floats,
    *,
    n_factors: int,
    lower: float = 0.005,
    tolerance: float = 1e-14,
    max_iterations: int = 2000,
) -> FactorSolution:
    """Minimum-residual (unweighted least squares) factors of a correlation matrix.

    Minimises over the uniquenesses, each in ``[lower, 1]``, the sum of squares of
    ``R - diag(psi) - L L'`` where ``L`` holds the leading principal axes of ``R - diag(psi)``. The
    gradient is ``-2`` times the diagonal of the residual.

    Parameters
    ----------
    R : array of shape (p, p)
        Correlation matrix.
    n_factors : int
        Number of factors, at most p.
    lower : float
        Lower bound of each uniqueness (.005 in psych and factor_analyzer).
    tolerance, max_iterations
        Of L-BFGS-B.

    Returns
    -------
    FactorSolution
        Unrotated: orthogonal columns in falling order of size, positive column sums.

    Examples
    --------
    >>> R = np.full((6, 6), 0.25) + 0.75 * np.eye(6)
    >>> minres_factors(R, n_factors=1).loadings.round(4).ravel().tolist()
    [0.5, 0.5, 0.5, 0.5, 0.5, 0.5]
    """
    p = R.shape[0]
    k = n_factors
    index = np.arange(p)

    def objective(psi: Floats) -> tuple[float, Floats]:
        reduced = R.copy()
        reduced[index, index] -= psi
        values, vectors = np.linalg.eigh(reduced)
        kept = np.maximum(values[p - k :], 0.0)
        left = values.copy()
        left[p - k :] -= kept
        return float(left @ left), -2.0 * ((vectors**2) @ left)

    start = np.clip(1.0 - _squared_multiple_correlations(R), lower, 1.0)
    optimum = minimize(
        objective,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(lower, 1.0)] * p,
        options={"maxiter": max_iterations, "ftol": tolerance, "gtol": 1e-9, "maxcor": 20},
    )
    reduced = R.copy()
    reduced[index, index] -= optimum.x
    values, vectors = np.linalg.eigh(reduced)
    loadings = vectors[:, ::-1][:, :k] * np.sqrt(np.maximum(values[::-1][:k], 0.0))
    loadings = loadings * np.where(loadings.sum(0) < 0, -1.0, 1.0)
    return FactorSolution(
        loadings=loadings,
        phi=np.eye(k),
        uniquenesses=1.0 - (loadings**2).sum(1),
        objective=float(optimum.fun),
        converged=bool(optimum.success),
    )


def oblimin(
    loadings: Floats,
    *,
    gamma: float = 0.0,
    tolerance: float = 1e-8,
    max_iterations: int = 5000,
) -> FactorSolution:
    """Oblimin rotation by gradient projection, without Kaiser normalisation.

    ``gamma = 0`` is quartimin, the default of GPArotation (and so of psych) and of factor_analyzer;
    those stop at a gradient of 1e-5, this one at `tolerance`.

    Parameters
    ----------
    loadings : array of shape (p, k)
        Unrotated loadings.
    gamma : float
        Obliqueness.
    tolerance : float
        Norm of the projected gradient at which the search stops.
    max_iterations : int
        Steps allowed.

    Returns
    -------
    FactorSolution
        Columns in falling order of their sum of squares, with positive sums.

    References
    ----------
    Jennrich (2002), A simple general procedure for oblique rotation. Psychometrika 67, 7-19.

    Examples
    --------
    >>> A = np.array([[0.8, 0.3], [0.7, 0.3], [0.3, 0.6], [0.4, 0.7]])
    >>> solution = oblimin(A)
    >>> bool(np.allclose(solution.loadings @ solution.phi @ solution.loadings.T, A @ A.T))
    True
    """
    k = loadings.shape[1]
    communality = (loadings**2).sum(1)
    if k == 1:
        return FactorSolution(
            loadings=loadings,
            phi=np.eye(1),
            uniquenesses=1.0 - communality,
            objective=0.0,
            converged=True,
        )
    others = 1.0 - np.eye(k)

    def criterion(L: Floats) -> tuple[float, Floats]:
        squared = L**2 @ others
        if gamma:
            squared = squared - gamma * squared.mean(0)
        return float((L**2 * squared).sum() / 4.0), L * squared

    T = np.eye(k)
    inverse = T
    L = loadings @ inverse.T
    f, Gq = criterion(L)
    step = 1.0
    norm = np.inf
    for _ in range(max_iterations):
        G = -(L.T @ Gq @ inverse).T
        Gp = G - T * (T * G).sum(0)
        norm = float(np.linalg.norm(Gp))
        if norm < tolerance:
            break
        step *= 2.0
        for _ in range(40):
            X = T - step * Gp
            trial = X / np.sqrt((X**2).sum(0))
            trial_inverse = np.linalg.inv(trial)
            trial_L = loadings @ trial_inverse.T
            trial_f, trial_Gq = criterion(trial_L)
            if f - trial_f > 0.5 * norm**2 * step:
                break
            step *= 0.5
        T, inverse, L, f, Gq = trial, trial_inverse, trial_L, trial_f, trial_Gq
    phi = T.T @ T
    sign = np.where(L.sum(0) < 0, -1.0, 1.0)
    order = np.argsort(-(L**2).sum(0), kind="stable")
    L, phi = (L * sign)[:, order], (phi * np.outer(sign, sign))[np.ix_(order, order)]
    return FactorSolution(
        loadings=L,
        phi=phi,
        uniquenesses=1.0 - communality,
        objective=f,
        converged=norm < max(tolerance, 1e-5),
    )
