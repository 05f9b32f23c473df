"""Standard errors of one-factor omega by the delta method, normal-theory and robust.

The covariance matrix of the ML estimates is ``(2 / N) H^-1`` with ``H`` the Hessian of the ML
discrepancy: the expected one (lavaan's default) or the exact one at the estimates ("observed",
what MBESS reports). The robust version is the sandwich ``H^-1 J H^-1`` of casewise scores (MBESS'
``mlr``), which neither asks for normality nor, with clusters, for independent items: scores are
then summed within clusters first.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from scipy.special import expit, logit

from judgestats.arrays import Bools, Floats, Ints
from judgestats.stats.inference import distributions
from judgestats.stats.reliability.one_factor_solvers import ml_derivatives

Information = Literal["expected", "observed", "robust"]


def omega_gradient(
    loadings: Floats, psi: Floats, *, weights: Floats | None
) -> tuple[float, Floats]:
    """Model-denominator omega and its gradient in (loadings, uniquenesses).

    Parameters
    ----------
    loadings, psi : arrays of shape (p,)
        The solution on the correlation scale.
    weights : array of shape (p,) or None
        Standard deviations of the columns: omega of the raw sum. None: omega of the sum of
        standardised columns, where the standardisation is part of the function (its sampling
        error counts).
    """
    if weights is not None:
        u, v = float(weights @ loadings), float(weights**2 @ psi)
        du_dl, du_dp = weights, np.zeros_like(psi)
        dv_dl, dv_dp = np.zeros_like(psi), weights**2
    else:
        z = 1.0 / np.sqrt(loadings**2 + psi)
        u, v = float(z @ loadings), float(z**2 @ psi)
        du_dl, du_dp = psi * z**3, -0.5 * loadings * z**3
        dv_dl, dv_dp = -2.0 * psi * loadings * z**4, loadings**2 * z**4
    total = u * u + v
    d_u, d_v = 2.0 * u * v / total**2, -(u**2) / total**2
    return u * u / total, np.concatenate([d_u * du_dl + d_v * dv_dl, d_u * du_dp + d_v * dv_dp])


def omega_std_error(
    X: Floats,
    loadings: Floats,
    psi: Floats,
    *,
    information: Information = "robust",
    equal_loadings: bool = False,
    standardize: bool = False,
    held: Bools | None = None,
    cluster: Ints | None = None,
) -> float:
    """Delta-method standard error of omega (model denominator) at an ML solution.

    Parameters
    ----------
    X : array of shape (N, p)
        Complete scores.
    loadings, psi : arrays of shape (p,)
        The ML solution in the units of `X`.
    information : {"expected", "observed", "robust"}
        See the module's text.
    equal_loadings : bool
        The solution is tau-equivalent.
    standardize : bool
        Omega of the sum of standardised columns.
    held : array of bool of shape (p,), optional
        Uniquenesses at their bound; they are treated as known.
    cluster : array of int of shape (N,), optional
        Cluster codes for the robust version.

    Returns
    -------
    float
        NaN where the information matrix is singular or not positive.
    """
    n, p = X.shape
    centred = X - X.mean(0)
    scale = np.sqrt((centred**2).mean(0))
    if equal_loadings:
        scale = np.full(p, math.sqrt(float((scale**2).mean())))
    Z = centred / scale
    R = Z.T @ Z / n
    # the solution was fitted to the N - 1 covariance: the ML scale is that of the N divisor
    shrink = (n - 1) / n
    lo, ps = loadings / scale * math.sqrt(shrink), psi / scale**2 * shrink
    _, expected, exact = ml_derivatives(R[None], lo[None], ps[None])
    bread = expected[0] if information == "expected" else exact[0]
    _, gradient = omega_gradient(lo, ps, weights=None if standardize else scale)
    to_free = np.eye(2 * p)
    if equal_loadings:
        to_free = np.zeros((p + 1, 2 * p))
        to_free[0, :p] = 1.0
        to_free[np.arange(1, p + 1), np.arange(p, 2 * p)] = 1.0
    if held is not None and held.any():
        keep = np.ones(to_free.shape[0], dtype=bool)
        keep[-p:] = ~held
        to_free = to_free[keep]
    bread = to_free @ bread @ to_free.T
    gradient = to_free @ gradient
    try:
        direction = np.linalg.solve(bread, gradient)
    except np.linalg.LinAlgError:
        return math.nan
    if information != "robust":
        variance = 2.0 / n * float(gradient @ direction)
        return math.sqrt(variance) if variance > 0 else math.nan
    scores = _casewise_gradient(Z, lo, ps) @ to_free.T
    influence = scores @ direction
    if cluster is not None:
        influence = np.bincount(cluster, weights=influence).astype(float)
    variance = float(influence @ influence) / n**2
    return math.sqrt(variance) if variance > 0 else math.nan


def _casewise_gradient(Z: Floats, loadings: Floats, psi: Floats) -> Floats:
    """Each case's contribution to the gradient of the ML discrepancy, shape (N, 2p)."""
    sigma = np.outer(loadings, loadings) + np.diag(psi)
    W = np.linalg.inv(sigma)
    y = Z @ W
    w = W @ loadings
    by_loading = 2.0 * (w - y * (y @ loadings)[:, None])
    by_psi = np.diag(W) - y**2
    return np.concatenate([by_loading, by_psi], axis=1)


def logit_interval(estimate: float, std_error: float, *, level: float) -> tuple[float, float]:
    """Symmetric interval on the logit scale, turned back; NaN outside (0, 1).

    Examples
    --------
    >>> low, high = logit_interval(0.8, 0.05, level=0.95)
    >>> round(low, 4), round(high, 4)
    (0.6843, 0.8807)
    """
    if not (0 < estimate < 1 and std_error > 0):
        return math.nan, math.nan
    z = float(distributions.norm.ppf((1 + level) / 2)) * std_error / (estimate * (1 - estimate))
    centre = float(logit(estimate))
    return float(expit(centre - z)), float(expit(centre + z))
