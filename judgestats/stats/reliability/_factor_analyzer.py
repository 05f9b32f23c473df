"""The one place that deals with factor_analyzer's clash with scikit-learn.

factor_analyzer 0.5.1 calls ``sklearn.utils.check_array(X, force_all_finite=...)``. scikit-learn
renamed that argument to ``ensure_all_finite`` in 1.6 and removed the old name in 1.8, so every
``fit`` fails there with a TypeError (and warns before that). Nothing else of the two packages
disagrees. `install` puts a thin wrapper around the name ``check_array`` inside factor_analyzer's
own modules, which passes the argument on under the name the installed scikit-learn knows;
scikit-learn itself is not touched, and where it still takes the old name nothing is changed.

Everything in judgestats that needs factor_analyzer takes it from here.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
    """Import factor_analyzer, mend its ``check_array``, and return ``FactorAnalyzer``.

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
