"""Omega as arXiv 2412.12509 computed it, for replication only."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import inspect
import math
import warnings
from collections.abc import Callable
from typing import Any, Unpack

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from judgestats.arrays import Floats
from judgestats.errors import InputError
from judgestats.stats.inference.keywords import NULL, Permutations, one_blas_thread, with_keywords
from judgestats.stats.inference.permutation import permutation_distribution
from judgestats.stats.inference.result import Estimate, Note, NullReference, Sample

LOWER = 0.005
"""Lower bound of each uniqueness."""


def minres_factors(
    R: Floats,
    *,
    n_factors: int,
    tolerance: float = 1e-14,
) -> Floats:
    """Minimum-residual (unweighted least squares) factors of a correlation matrix.

    Minimises over the uniquenesses, each in ``[.005, 1]`` (as in psych and factor_analyzer), the
    sum of squares of ``R - diag(psi) - L L'`` where ``L`` holds the leading principal axes of
    ``R - diag(psi)``. The gradient is ``-2`` times the diagonal of the residual.

    Parameters
    ----------
    R : array of shape (p, p)
        Correlation matrix.
    n_factors : int
        Number of factors, at most p.
    tolerance : float
        Of L-BFGS-B.

    Returns
    -------
    array of shape (p, k)
        Unrotated: orthogonal columns in falling order of size, positive column sums.

    Examples
    --------
    >>> R = np.full((6, 6), 0.25) + 0.75 * np.eye(6)
    >>> minres_factors(R, n_factors=1).round(4).ravel().tolist()
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

    multiple = 1.0 - 1.0 / np.maximum(np.diag(np.linalg.pinv(R, hermitian=True)), 1.0)
    start = np.clip(1.0 - multiple, LOWER, 1.0)
    optimum = scipy.optimize.minimize(
        objective,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(LOWER, 1.0)] * p,
        options={"maxiter": 2000, "ftol": tolerance, "gtol": 1e-9, "maxcor": 20},
    )
    reduced = R.copy()
    reduced[index, index] -= optimum.x
    values, vectors = np.linalg.eigh(reduced)
    loadings = vectors[:, ::-1][:, :k] * np.sqrt(np.maximum(values[::-1][:k], 0.0))
    return np.asarray(loadings * np.where(loadings.sum(0) < 0, -1.0, 1.0))


def oblimin(
    loadings: Floats,
    *,
    tolerance: float = 1e-8,
    max_iterations: int = 5000,
) -> Floats:
    """Oblimin rotation by gradient projection, without Kaiser normalisation.

    Quartimin (gamma 0), the default of GPArotation (and so of psych) and of factor_analyzer;
    those stop at a gradient of 1e-5, this one at `tolerance`.

    Parameters
    ----------
    loadings : array of shape (p, k)
        Unrotated loadings.
    tolerance : float
        Norm of the projected gradient at which the search stops.
    max_iterations : int
        Steps allowed.

    Returns
    -------
    array of shape (p, k)
        Pattern loadings, columns in falling order of their sum of squares, with positive sums.

    References
    ----------
    Jennrich (2002), A simple general procedure for oblique rotation. Psychometrika 67, 7-19.

    Examples
    --------
    >>> A = np.array([[0.8, 0.3], [0.7, 0.3], [0.3, 0.6], [0.4, 0.7]])
    >>> oblimin(A).round(3).tolist()[:2]
    [[0.869, -0.02], [0.733, 0.037]]
    """
    k = loadings.shape[1]
    if k == 1:
        return loadings
    others = 1.0 - np.eye(k)

    def criterion(L: Floats) -> tuple[float, Floats]:
        squared = L**2 @ others
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
    sign = np.where(L.sum(0) < 0, -1.0, 1.0)
    order = np.argsort(-(L**2).sum(0), kind="stable")
    return np.asarray((L * sign)[:, order])


OLD_NAME = "force_all_finite"
NEW_NAME = "ensure_all_finite"
MODULES = ("factor_analyzer.factor_analyzer", "factor_analyzer.confirmatory_factor_analyzer")


def accepts_argument(function: Callable[..., Any], name: str) -> bool:
    """Whether `function` takes a keyword argument `name`.

    Examples
    --------
    >>> accepts_argument(lambda X, *, force_all_finite=True: X, "force_all_finite")
    True
    """
    parameters = inspect.signature(function).parameters.values()
    return any(p.name == name or p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters)


def translate_finite_argument(check_array: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap `check_array` so that it takes ``force_all_finite`` whatever it calls that argument.

    Where `check_array` already knows the new name, the old one is passed on under the new name.
    Where it knows only the old name (scikit-learn before 1.6), it is returned unchanged.

    Examples
    --------
    >>> translate_finite_argument(lambda X, *, ensure_all_finite=True: ensure_all_finite)(
    ...     [1], force_all_finite="allow-nan"
    ... )
    'allow-nan'
    """
    if not accepts_argument(check_array, NEW_NAME):
        return check_array

    @functools.wraps(check_array)
    def checked(*args: Any, **kwargs: Any) -> Any:
        if OLD_NAME in kwargs:
            kwargs[NEW_NAME] = kwargs.pop(OLD_NAME)
        return check_array(*args, **kwargs)

    return checked


def install() -> type[Any]:
    """Import factor_analyzer, fix its ``check_array``, and return ``FactorAnalyzer``.

    Safe to call again: a wrapped function is recognised and left alone.
    """
    for name in MODULES:
        module: Any = importlib.import_module(name)
        if not hasattr(module.check_array, "__wrapped__"):
            module.check_array = translate_finite_argument(module.check_array)
    analyzer: type[Any] = importlib.import_module(MODULES[0]).FactorAnalyzer
    return analyzer


def factor_analysis(
    correlations: NDArray[np.float64],
    *,
    n_factors: int,
    method: str = "minres",
    rotation: str | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None, tuple[str, ...]]:
    """factor_analyzer's solution for a correlation matrix, its warnings returned as data.

    Parameters
    ----------
    correlations : array of shape (p, p)
        Correlation matrix (copied: factor_analyzer writes into what it is given).
    n_factors : int
        Number of factors.
    method : {"minres", "ml", "principal"}
        Its extraction method.
    rotation : str or None
        Its rotation, such as ``"oblimin"``.

    Returns
    -------
    loadings : array of shape (p, n_factors)
        Pattern loadings.
    phi : array of shape (n_factors, n_factors) or None
        Factor correlations of an oblique rotation.
    warnings : tuple of str
        What factor_analyzer warned of.

    Examples
    --------
    >>> R = np.full((4, 4), 0.36) + 0.64 * np.eye(4)
    >>> loadings, phi, _ = factor_analysis(R, n_factors=1)
    >>> np.abs(loadings).round(3).ravel().tolist(), phi is None
    ([0.6, 0.6, 0.6, 0.6], True)
    """
    analyzer = install()(n_factors=n_factors, method=method, rotation=rotation, is_corr_matrix=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        analyzer.fit(np.array(correlations, dtype=float))
    phi = analyzer.phi_
    return (
        np.asarray(analyzer.loadings_, dtype=float),
        None if phi is None else np.asarray(phi, dtype=float),
        tuple(str(w.message) for w in caught),
    )


N_FACTORS = 3
NO_ANSWER = 6.0
CODES: dict[str, float] = {
    **dict(zip("ABCDE", (1.0, 2.0, 3.0, 4.0, 5.0), strict=True)),
    **dict.fromkeys(("no_answer", "unparseable", "refused", "truncated", "failed", ""), NO_ANSWER),
    **dict.fromkeys(("multiple", "ambiguous"), 7.0),
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class PublishedOmega(Estimate):
    """The published omega, its parts, its null, and the published alpha.

    Attributes
    ----------
    coefficient : float
        Omega total of the questions that vary, before constant questions are counted in.
    alpha : float
        The published alpha (from the same absolute correlations, constants counted in).
    alpha_null : NullReference or None
        Its null.
    n_constant : int
        Constant questions counted as reliability 1.
    n_dropped : int
        Questions without one readable verdict, dropped uncounted.
    n_rest : int
        Questions that vary.
    """

    coefficient: float = math.nan
    alpha: float = math.nan
    alpha_null: NullReference | None = None
    n_constant: int = 0
    n_dropped: int = 0
    n_rest: int = 0

    def row(self) -> dict[str, Any]:
        """The tidy row, with the parts of the published result."""
        own = ("coefficient", "alpha", "n_constant", "n_dropped", "n_rest")
        return super().row() | {name: getattr(self, name) for name in own}

    def _further_lines(self) -> list[str]:
        questions = (
            f"questions: {self.n_rest} vary, {self.n_constant} constant (counted as 1), "
            f"{self.n_dropped} never readable (dropped uncounted)"
        )
        return [questions, f"alpha by the same procedure: {self.alpha:.5g}"]


def published_verdict_codes(verdicts: ArrayLike) -> Floats:
    """Verdict letters and statuses as the numbers of arXiv 2412.12509.

    Parameters
    ----------
    verdicts : array-like
        ``A`` to ``E`` become 1 to 5. ``no_answer``, an unparsed status, None, and the empty text
        become 6. ``multiple`` and ``ambiguous`` become 7. Numbers 1 to 7 stay, NaN becomes 6.

    Returns
    -------
    array of float
        Same shape.

    Raises
    ------
    InputError
        If a verdict is not one of these.

    Examples
    --------
    >>> published_verdict_codes([["A", "E"], [None, "multiple"]]).tolist()
    [[1.0, 5.0], [6.0, 7.0]]
    """
    given = np.asarray(verdicts)
    if given.dtype.kind in "iuf":
        codes = np.where(np.isnan(given.astype(float)), NO_ANSWER, given.astype(float))
        wrong = [v for v in np.unique(codes) if v not in set(CODES.values())]
    else:
        flat = given.astype(object).ravel()
        texts = ["" if v is None or v != v else str(v).strip() for v in flat]  # noqa: PLR0124 (NaN)
        wrong = sorted({t for t in texts if t not in CODES})
        codes = np.array([CODES.get(t, math.nan) for t in texts]).reshape(given.shape)
    if wrong:
        shown = ", ".join(repr(w) for w in wrong[:5])
        raise InputError(
            "published_verdict_codes: verdicts must be A to E, a status, or codes 1 to 7; got "
            f"{shown}. Use vote_share_reliability for others."
        )
    return np.asarray(codes, dtype=float)


@one_blas_thread()
@with_keywords(permutations=NULL)
def published_omega_2412_12509(
    verdicts: ArrayLike, *, n_jobs: int = 1, **inference: Unpack[Permutations]
) -> PublishedOmega:
    r"""Omega total exactly as published in arXiv 2412.12509, with its null (replication only).

    Parameters
    ----------
    verdicts : array-like of shape (N questions, R replications)
        Letters, statuses or codes as `published_verdict_codes` takes them.
    n_permutations : int
        Shufflings of each question's replications for the null.
    n_jobs : int
        Workers; the result does not depend on it.

    Returns
    -------
    PublishedOmega
        Always with `null`. No interval: the procedure defines none.

    Raises
    ------
    InputError
        If `verdicts` is not a table with at least two replications, or holds other verdicts.

    Notes
    -----
    With the N questions as columns and the R replications as rows: questions constant at
    code 6 are dropped and not counted; other constant questions are dropped and counted later. On
    the rest, R = \|corr\|, three minres factors, oblimin, and

    .. math:: \omega = (\sum R - \sum u) / \sum R, \qquad
              u_j = 1 - \sum_k \lambda_{jk}^2,

    as reliabiliPy 0.0.36 computes it; the result is
    ``(n_constant + n_rest * omega) / (n_constant + n_rest)``, and 1 where every question is
    constant. It is not a reliability of a judge for two reasons. The absolute value turns the
    sampling error of a correlation, about ``.8 / sqrt(R)`` on average, into agreement. Under the
    null hypothesis it gives .70, .64 and .41-.55 for 27, 20 and 8 questions and 100 replications.
    Second, `u` sums squared *pattern* loadings, which after an oblique rotation are not
    communalities. The correct ones, ``diag(L phi L')``, change the tables by about .002.

    The estimate comes from factor_analyzer. The null uses this package's own minres and oblimin,
    which reach the same optimum to six digits about ten times faster.

    References
    ----------
    Schroeder & Wood-Doughty (2024), Can you trust LLM judgments? arXiv 2412.12509.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> noise = rng.integers(1, 6, size=(20, 100))
    >>> result = published_omega_2412_12509(noise, n_permutations=19)
    >>> round(result.estimate, 2), round(result.null.mean, 2)
    (0.66, 0.67)
    """
    codes = published_verdict_codes(verdicts)
    if codes.ndim != 2 or codes.shape[1] < 2:
        raise InputError(
            "published_omega_2412_12509: verdicts must be a table of questions x replications "
            f"with at least two replications, got shape {codes.shape}."
        )
    constant = (codes == codes[:, :1]).all(axis=1)
    unread = constant & (codes[:, 0] == NO_ANSWER)
    n_constant, n_dropped = int((constant & ~unread).sum()), int(unread.sum())
    rest = codes[~constant]
    n_rest = rest.shape[0]
    base = PublishedOmega(
        name="published_omega_2412_12509",
        label="Omega as published in arXiv 2412.12509 (for replication only)",
        sample=Sample(
            n_items=codes.shape[0],
            n_replications=codes.shape[1],
            excluded={"no readable verdict in any replication": n_dropped},
        ),
        estimator="questions as indicators, replications as cases, A-E = 1-5, absolute "
        "correlations, 3 minres factors, oblimin (factor_analyzer); reliabiliPy's omega total",
        notes=Note.where(
            True,
            "replication_only",
            "not a reliability of the judge: compare it with its null, not with 0",
        ),
        n_constant=n_constant,
        n_dropped=n_dropped,
        n_rest=n_rest,
    )
    if n_rest == 0:
        return _all_constant(base, **inference)
    if n_rest == 1:
        reason = "one question varies: one indicator has no correlation to factor"
        return dataclasses.replace(base, reason=reason)
    R = np.abs(np.corrcoef(rest))
    try:
        loadings, _, warned = factor_analysis(R, n_factors=N_FACTORS, rotation="oblimin")
    except np.linalg.LinAlgError:
        reason = "the absolute correlations are singular, so the published procedure stops"
        return dataclasses.replace(base, reason=reason)
    omega = _omega(R, loadings)
    notes = [note for text in warned for note in Note.where(True, "factor_analyzer", text)]

    def fast_omega(x: Floats) -> float:
        R = np.abs(np.corrcoef(x))
        k = min(N_FACTORS, R.shape[0])
        unrotated = minres_factors(R, n_factors=k, tolerance=1e-12)
        return _omega(R, oblimin(unrotated, tolerance=1e-5, max_iterations=1000))

    def mixed(value: float) -> float:
        return float((n_constant + n_rest * value) / (n_constant + n_rest))

    def null_of(statistic: Any) -> NullReference:
        return permutation_distribution(
            rest, statistic, scheme="questions", **inference, n_jobs=n_jobs
        ).null

    return dataclasses.replace(
        base,
        estimate=mixed(omega),
        coefficient=omega,
        alpha=mixed(_alpha(R)),
        null=null_of(lambda x: mixed(fast_omega(x))),
        alpha_null=null_of(lambda x: mixed(_alpha(np.abs(np.corrcoef(x))))),
        notes=(*base.notes, *notes),
    )


def _all_constant(base: PublishedOmega, **inference: Unpack[Permutations]) -> PublishedOmega:
    """Every question constant: 1 by rule, and 1 in every shuffling too."""
    if base.n_constant == 0:
        return dataclasses.replace(base, reason="no question has a readable verdict")
    null = NullReference(
        hypothesis="replications are independent",
        permuted="each question's judgments over replications",
        mean=1.0,
        q95=1.0,
        p_value=1.0,
        **inference,
    )
    message = "every question is constant over replications: 1 by rule, not by estimation"
    notes = (*base.notes, *Note.where(True, "all_constant", message))
    return dataclasses.replace(
        base, estimate=1.0, alpha=1.0, null=null, alpha_null=null, notes=notes
    )


def _omega(R: Floats, loadings: Floats) -> float:
    """Reliabilipy's omega total: uniquenesses from squared pattern loadings."""
    total = float(R.sum())
    return float((total - (1.0 - (loadings**2).sum(1)).sum()) / total)


def _alpha(R: Floats) -> float:
    """Standardised alpha of a (here absolute) correlation matrix."""
    p, total = R.shape[0], float(R.sum())
    return float(p / (p - 1) * (total - p) / total)
