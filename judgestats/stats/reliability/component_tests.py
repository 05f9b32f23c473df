"""Permutation null of a variance component."""

from __future__ import annotations

from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from judgestats.arrays import Floats
from judgestats.errors import InputError
from judgestats.stats.inference.keywords import NULL, Permutations, with_keywords
from judgestats.stats.inference.permutation import permutation_distribution
from judgestats.stats.inference.result import NullReference
from judgestats.stats.layouts.crossed_layout import (
    array_layout,
    factors_of,
    strata_of,
    terms_of,
)


@with_keywords(permutations=NULL)
def component_null(
    scores: ArrayLike,
    *,
    facet: str,
    design: str | tuple[str, ...] = "item x replicate",
    n_jobs: int = 1,
    **inference: Unpack[Permutations],
) -> NullReference:
    """Permutation null of a facet's variance component: its levels within the other facets.

    Parameters
    ----------
    scores : array-like
        Complete array with one axis per facet of the design, as for `variance_components`; a last,
        further axis holds repeated judgments, which stay in their cell.
    facet : str
        ``item``, ``judge``, ``prompt`` or ``replicate``: a facet whose main effect is a term.
    design : str or tuple of str
    n_jobs : int

    Returns
    -------
    NullReference
        Of the ANOVA estimate, which may be negative: its mean is near 0 under the null.

    Raises
    ------
    InputError
        If the facet is no term of the design, or the array is not complete.

    Notes
    -----
    The levels of the facet are shuffled independently for every combination of the other facets,
    whole cells at a time. That also exchanges the facet's interactions with the others, which the
    null leaves free: exact where those interactions are exchangeable over its levels.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(8.0)[:, None] + np.random.default_rng(0).normal(size=(8, 4))
    >>> component_null(x, facet="item", n_permutations=99).p_value
    0.01
    """
    where = "component_null"
    terms = terms_of(design, where=where)
    factors = factors_of(terms)
    if facet not in terms or facet not in factors:
        raise InputError(
            f"{where}: facet must be a main effect of the design ({', '.join(factors)}), got "
            f"{facet!r}. Choose one of these."
        )
    x = np.asarray(scores, dtype=float)
    if np.isnan(x).any() or x.ndim not in {len(factors), len(factors) + 1}:
        raise InputError(
            f"{where}: scores must be a complete array with one axis per facet "
            f"({', '.join(factors)}), got shape {x.shape} with {int(np.isnan(x).sum())} missing. "
            "Leave out the items that lack a judgment."
        )
    index = [*terms, "residual"].index(facet)

    def estimate(cells: Floats) -> float:
        strata, _ = strata_of(array_layout(cells, factors), terms)
        expected = np.array([s.coefficients for s in strata])
        squares = np.array([s.mean_square for s in strata])
        return float(np.linalg.lstsq(expected, squares, rcond=None)[0][index])

    # One column per item has nothing to permute within: the one-facet design shuffles everything.
    together = tuple(range(len(factors), x.ndim)) if len(factors) > 1 else ()
    axis = factors.index(facet)
    return permutation_distribution(
        x,
        estimate,
        scheme="levels",
        axis=axis,
        together=together,
        **inference,
        n_jobs=n_jobs,
    ).null
