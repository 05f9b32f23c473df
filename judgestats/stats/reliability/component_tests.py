"""Is a variance component more than nothing? Likelihood ratio, and permutation of the facet."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from judgestats.arrays import Floats
from judgestats.errors import InputError, one_of
from judgestats.stats.inference import distributions
from judgestats.stats.inference.keywords import NULL, Permutations, with_keywords
from judgestats.stats.inference.permutation import permutation_distribution
from judgestats.stats.inference.result import NullReference, TestResult
from judgestats.stats.layouts.crossed_layout import (
    Layout,
    array_layout,
    factors_of,
    long_layout,
    strata_of,
    terms_of,
)
from judgestats.stats.reliability.reml import (
    BalancedCriterion,
    Criterion,
    minimise,
    unbalanced_criterion,
)
from judgestats.stats.reliability.variance_components import variance_components


def component_likelihood_ratio(
    scores: ArrayLike,
    *,
    term: str,
    design: str | tuple[str, ...] = "item x replicate",
    facets: Mapping[str, ArrayLike] | None = None,
) -> TestResult:
    r"""REML likelihood ratio test that the variance of a term is 0.

    Parameters
    ----------
    scores, design, facets
        As for `variance_components`.
    term : str
        A random term of the design.

    Returns
    -------
    TestResult
        `p_value` is that of an even mixture of chi-squared with 0 and 1 degrees of freedom, since a
        variance cannot be negative; ``estimates["p_chi2_1"]`` is the conservative p of
        ``lmerTest::ranova``.

    Raises
    ------
    InputError
        If the term is not one of the design, or the scores do not fit it.

    References
    ----------
    Self & Liang (1987), JASA 82, 605-610. Kuznetsova et al. (2017), J. Statistical Software 82(13).

    Examples
    --------
    >>> x = [[2, 3, 2], [5, 4, 5], [8, 8, 9], [4, 4, 3]]
    >>> component_likelihood_ratio(x, term="item").p_value < 0.001
    True
    """
    where = "component_likelihood_ratio"
    terms = terms_of(design, where=where)
    one_of(where, "term", term, terms, advice="Choose a random term of the design.")
    fit = variance_components(scores, design=design, facets=facets)
    notes = tuple(fit.notes)
    reason = fit.reason
    if not reason and any(n.code == "zero_residual" for n in notes):
        reason = "the residual is exactly 0, so the likelihood is unbounded"
    statistic = p_one = math.nan
    if not reason:
        criterion = _criterion(_layout(scores, facets, factors_of(terms)), terms)
        start = np.array([fit.variances[t] for t in (*terms, "residual")])
        held = {terms.index(term): 0.0}
        without = minimise(criterion, np.maximum(start, 1e-3 * criterion.scale), fixed=held)
        statistic = max(without.criterion - fit.criterion, 0.0)
        p_one = float(distributions.chi2.sf(statistic, 1))
    return TestResult(
        name="component_likelihood_ratio",
        method="REML likelihood ratio test of a variance component",
        statistic=statistic,
        statistic_name="LRT",
        df={"df": 1.0},
        # At a likelihood ratio of 0 the component is at its boundary: nothing speaks for it.
        p_value=(0.5 * p_one if statistic > 0 else 1.0) if not math.isnan(p_one) else math.nan,
        null_hypothesis=f"the variance of {term} is 0",
        alternative=f"the variance of {term} is greater than 0",
        why="it compares the likelihood of the scores with and without the component",
        estimates={"variance": fit.variances[term], "p_chi2_1": p_one},
        sample=fit.sample,
        notes=notes,
        reason=reason,
    )


def _layout(
    scores: ArrayLike, facets: Mapping[str, ArrayLike] | None, factors: tuple[str, ...]
) -> Layout:
    y = np.asarray(scores, dtype=float)
    return array_layout(y, factors) if facets is None else long_layout(y, facets, factors)


def _criterion(layout: Layout, terms: tuple[str, ...]) -> Criterion:
    if not layout.balanced:
        return unbalanced_criterion(layout, terms)
    return BalancedCriterion(*strata_of(layout, terms), layout.y.size)


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
            "Use component_likelihood_ratio where judgments are missing."
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
