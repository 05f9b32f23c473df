"""Variance components of a judging study, with permutation nulls."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, Literal, Unpack

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import optimize

from judgestats.arrays import Floats, too_large
from judgestats.errors import InputError, one_of
from judgestats.results.numbers import format_number
from judgestats.stats.designs.crossed_layout import (
    Layout,
    array_layout,
    factors_of,
    long_layout,
    strata_of,
    terms_of,
)
from judgestats.stats.inference import distributions
from judgestats.stats.inference.estimate import Interval, Note, NullReference, Result, Sample
from judgestats.stats.inference.keywords import NULL, Permutations, with_keywords
from judgestats.stats.inference.permutation import permutation_distribution
from judgestats.stats.reliability.reml import (
    BalancedCriterion,
    Criterion,
    Optimum,
    minimise,
    unbalanced_criterion,
)

Method = Literal["reml", "ml", "anova"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class VarianceComponents(Result):
    """The variance of every random term of a design, and of the residual.

    Attributes
    ----------
    design : str
        Name of the design, or its terms.
    method : str
        ``reml``, ``ml`` or ``anova``.
    variances : mapping of str to float
        Term to variance in squared score points; last ``residual``. NaN with `reason` where
        undefined; ANOVA estimates may be negative (they are not truncated here).
    levels : mapping of str to int
        Levels of every facet.
    sample : Sample
    criterion : float
        -2 log (restricted) likelihood at the optimum; NaN for ANOVA.
    intervals : mapping of str to Interval
        Profile-likelihood intervals of the *standard deviations*, where asked for.
    converged : bool
    notes : tuple of Note
    reason : str
    """

    design: str
    method: str
    variances: Mapping[str, float]
    levels: Mapping[str, int]
    sample: Sample
    criterion: float = math.nan
    intervals: Mapping[str, Interval] = dataclasses.field(default_factory=dict)
    converged: bool = True
    notes: tuple[Note, ...] = ()
    reason: str = ""

    def __getitem__(self, term: str) -> float:
        if term not in self.variances:
            raise InputError(
                f"variance_components: {term!r} is no term of this design. Choose one of "
                f"{', '.join(self.variances)}."
            )
        return self.variances[term]

    @property
    def total(self) -> float:
        """Sum of the components, negative ones counted as 0."""
        return float(sum(max(v, 0.0) for v in self.variances.values()))

    def tidy(self) -> pd.DataFrame:
        """One row per component: variance, standard deviation, share of the total."""
        total = self.total
        rows: list[dict[str, Any]] = []
        for term, variance in self.variances.items():
            interval = self.intervals.get(term)
            deviation = math.sqrt(max(variance, 0.0)) if not math.isnan(variance) else math.nan
            rows.append(
                {
                    "term": term,
                    "estimate": variance,
                    "std_dev": deviation,
                    "share": max(variance, 0.0) / total if total > 0 else math.nan,
                    "std_dev_low": interval.low if interval else math.nan,
                    "std_dev_high": interval.high if interval else math.nan,
                    "method": self.method,
                    "n": self.sample.n_items,
                    "reason": self.reason,
                }
            )
        return pd.DataFrame(rows)

    def glance(self) -> pd.DataFrame:
        """One row for the fit."""
        row = {
            "term": "variance_components",
            "design": self.design,
            "method": self.method,
            "criterion": self.criterion,
            "converged": self.converged,
            "n": self.sample.n_items,
        }
        return pd.DataFrame([row | {f"n_{k}": v for k, v in self.levels.items()}])

    def sentence(self) -> str:
        """The components as shares of the total variance."""
        if self.reason:
            return f"Variance components are undefined: {self.reason}."
        total = self.total
        parts = [f"{t} {100 * max(v, 0.0) / total:.3g}%" for t, v in self.variances.items()]
        return (
            f"Of the variance of single judgments ({self.method.upper()}, {self.design}): "
            f"{', '.join(parts)} ({self.sample})."
        )

    def __str__(self) -> str:
        lines = ["", f"\tVariance components ({self.method.upper()}): {self.design}", ""]
        if self.reason:
            lines.append(f"undefined: {self.reason}")
        width = max(len(t) for t in self.variances)
        total = self.total
        for term, variance in self.variances.items():
            share = 100 * max(variance, 0.0) / total if total > 0 else math.nan
            text = f"{term:<{width}}  variance {format_number(variance):>9}  {share:5.1f} %"
            if term in self.intervals:
                text += f"  SD 95% {self.intervals[term]}"
            lines.append(text)
        lines.append("levels: " + ", ".join(f"{k} {v}" for k, v in self.levels.items()))
        lines.append(f"data: {self.sample}")
        lines += [f"warning: {note.message}" for note in self.notes]
        return "\n".join([*lines, ""])


def variance_components(
    scores: ArrayLike,
    *,
    design: str | tuple[str, ...] = "item x replicate",
    facets: Mapping[str, ArrayLike] | None = None,
    method: Method = "reml",
    profile: bool = False,
    level: float = 0.95,
) -> VarianceComponents:
    r"""Variance components of a named design, by REML, ML or ANOVA.

    Parameters
    ----------
    scores : array-like
        Either an array with one axis per facet of the design, in its order (items x replications;
        items x judges x replications; a further last axis holds repeated judgments of a cell), NaN
        where missing; or one score per judgment, with `facets`. For ``replicate in item`` a matrix
        of items x replications.
    design : str or tuple of str
        A name in ``crossed_layout.DESIGNS``: ``replicate in item``, ``item x replicate``,
        ``item x judge``, ``replicate in item x judge``, ``item x judge x replicate``,
        ``item x judge x prompt``, ``replicate in item x judge x prompt``; or the random terms, such
        as ``("item", "judge", "item:judge")``. All terms are random, the mean is fixed.
    facets : mapping of str to array-like, optional
        Labels of every facet, one per score.
    method : {"reml", "ml", "anova"}
        ``anova`` (expected mean squares) needs a balanced layout and may give negative values.
    profile : bool
        Add profile-likelihood intervals of the standard deviations (of the full likelihood, as
        ``lme4::confint``).
    level : float

    Returns
    -------
    VarianceComponents

    Raises
    ------
    InputError
        If the scores do not fit the design.

    Notes
    -----
    In a balanced layout the likelihood depends on the strata's sums of squares only: REML equals
    ANOVA where no component is negative, and the boundary solution is found exactly. Otherwise
    terms that hold the item are block diagonal (one small inverse per pattern of judgments), and
    the other facets enter by Woodbury's identity. The numbers are those of ``lme4::lmer`` with a
    tight optimiser. With a residual of exactly 0 the likelihood is unbounded (``lme4`` then gives a
    wrong item variance): the ANOVA values are given, with a note.

    References
    ----------
    Patterson & Thompson (1971), Biometrika 58. Searle, Casella & McCulloch (1992), Variance
    Components. Bates et al. (2015), J. Statistical Software 67(1).

    Examples
    --------
    >>> x = [[2, 3, 2], [5, 4, 5], [8, 8, 9], [4, 4, 3]]
    >>> parts = variance_components(x)
    >>> {term: round(value, 3) for term, value in parts.variances.items()}
    {'item': 6.509, 'replicate': 0.0, 'residual': 0.333}
    """
    where = "variance_components"
    one_of(where, "method", method, ("reml", "ml", "anova"))
    terms = terms_of(design, where=where)
    factors = factors_of(terms)
    layout = _read_layout(scores, facets, factors, where)
    title = design if isinstance(design, str) else " + ".join(terms)
    names = (*terms, "residual")
    common: dict[str, Any] = {
        "design": title,
        "method": method,
        "levels": dict(layout.levels),
        "sample": _sample(layout),
    }
    reason = _why_not(layout, terms)
    if not reason and method == "anova" and not layout.balanced:
        reason = "ANOVA components need every cell judged equally often: use method='reml'"
    if reason:
        return VarianceComponents(variances=dict.fromkeys(names, math.nan), reason=reason, **common)

    notes: list[Note] = []
    if layout.balanced:
        strata, of_mean = strata_of(layout, terms)
        expected = np.array([s.coefficients for s in strata])
        squares = np.array([s.mean_square for s in strata])
        solvable = len(strata) == len(names)
        if method == "anova" and not solvable:
            reason = "the design leaves out a term that a stratum needs: use method='reml'"
            values = dict.fromkeys(names, math.nan)
            return VarianceComponents(variances=values, reason=reason, **common)
        anova = np.linalg.solve(expected, squares) if solvable else None
        if method == "anova" and anova is not None:
            if np.any(anova < 0):
                negative = ", ".join(n for n, v in zip(names, anova, strict=True) if v < 0)
                message = f"Negative ANOVA estimates ({negative}): REML puts them at 0."
                notes.append(Note(code="negative_component", message=message))
            return VarianceComponents(
                variances=_name_values(names, anova), notes=tuple(notes), **common
            )
        if squares[-1] == 0:
            start = np.maximum(anova if anova is not None else squares[0] * expected[0], 0.0)
            message = (
                "The residual is exactly 0, so the likelihood is unbounded: ANOVA values, negative "
                "ones as 0."
            )
            notes.append(Note(code="zero_residual", message=message))
            return VarianceComponents(
                variances=_name_values(names, start), notes=tuple(notes), **common
            )
        criterion: Criterion = BalancedCriterion(
            strata, of_mean, layout.y.size, restricted=method == "reml"
        )
        best = (
            Optimum(anova, criterion(anova)[0], True)
            if method == "reml" and anova is not None and np.all(anova >= 0)
            else None
        )
    else:
        criterion = unbalanced_criterion(layout, terms, restricted=method == "reml")
        best = None
    if best is None:
        best = minimise(criterion, np.full(len(names), criterion.scale / len(names)))
    if not best.converged:
        message = "The likelihood's optimum was not reached to full precision; check the design."
        notes.append(Note(code="not_converged", message=message))
    zero = [n for n, v in zip(names, best.variances, strict=True) if v <= 1e-9 * criterion.scale]
    if zero:
        message = f"At the boundary: {', '.join(zero)} estimated as 0."
        notes.append(Note(code="boundary", message=message))
    intervals: dict[str, Interval] = {}
    if profile:
        full: Criterion
        if layout.balanced:
            full = BalancedCriterion(strata, of_mean, layout.y.size, restricted=False)
        else:
            full = unbalanced_criterion(layout, terms, restricted=False)
        intervals = _profile(full, best.variances, names, level)
    return VarianceComponents(
        variances=_name_values(names, best.variances),
        criterion=best.criterion,
        converged=best.converged,
        intervals=intervals,
        notes=tuple(notes),
        **common,
    )


def _name_values(names: tuple[str, ...], values: Floats) -> dict[str, float]:
    return {name: float(value) for name, value in zip(names, values, strict=True)}


def _read_layout(
    scores: ArrayLike, facets: Mapping[str, ArrayLike] | None, factors: tuple[str, ...], where: str
) -> Layout:
    """The scores as a layout, whichever way they came."""
    y = np.asarray(scores, dtype=float)
    if too_large(y).any():
        raise InputError(
            f"{where}: scores must be finite, {int(too_large(y).sum())} of {y.size} are infinite "
            "or beyond 1e50. Mark unusable judgments as NaN."
        )
    if facets is None:
        if y.ndim not in {len(factors), len(factors) + 1}:
            raise InputError(
                f"{where}: scores must have one axis per facet ({', '.join(factors)}) and at most "
                f"one more for repeated judgments, got shape {y.shape}. Reshape them, or give one "
                "score per judgment with facets."
            )
        return array_layout(y, factors)
    absent = [f for f in factors if f not in facets]
    wrong = [f for f in factors if f in facets and np.asarray(facets[f]).shape != y.shape]
    if y.ndim != 1 or absent or wrong:
        raise InputError(
            f"{where}: facets must label each of the {y.size} scores for {', '.join(factors)}; "
            f"missing: {', '.join(absent) or 'none'}, of another length: "
            f"{', '.join(wrong) or 'none'}, scores of shape {y.shape}. Give one label per score."
        )
    return long_layout(y, facets, factors)


def _sample(layout: Layout) -> Sample:
    counts = np.bincount(layout.codes["item"]) if layout.y.size else np.zeros(1, dtype=int)
    counts = counts[counts > 0] if layout.y.size else counts
    low, high = int(counts.min()), int(counts.max())
    return Sample(
        n_items=int(np.unique(layout.codes["item"]).size),
        n_replications=low,
        n_replications_max=high if high != low else None,
    )


def _why_not(layout: Layout, terms: tuple[str, ...]) -> str:
    """Why the components cannot be estimated; empty where they can."""
    if not layout.y.size:
        return "no judgment is left"
    for factor, count in layout.levels.items():
        if count < 2:
            return f"the facet {factor} has {count} level; its variance needs at least 2"
    if np.ptp(layout.y) == 0:
        return "all scores are equal, so there is no variance to divide"
    for term in terms:
        parts = [layout.codes[f] for f in term.split(":")]
        shape = [layout.levels[f] for f in term.split(":")]
        cells = np.unique(np.ravel_multi_index(tuple(parts), tuple(shape))).size
        if cells == layout.y.size:
            return (
                f"every level of {term} holds one judgment, so that it cannot be told from the "
                "residual: leave the term out, or judge cells more than once"
            )
    return ""


def _profile(
    criterion: Criterion, start: Floats, names: tuple[str, ...], level: float
) -> dict[str, Interval]:
    """Profile-likelihood intervals of standard deviations (full likelihood)."""
    best = minimise(criterion, np.maximum(start, 1e-3 * criterion.scale))
    threshold = float(distributions.norm.ppf((1 + level) / 2))
    out: dict[str, Interval] = {}
    for index, name in enumerate(names):
        centre = math.sqrt(best.variances[index])
        latest = best.variances.copy()

        def excess(deviation: float, index: int = index, latest: Floats = latest) -> float:
            optimum = minimise(criterion, latest, fixed={index: deviation**2}, polish=False)
            latest[:] = optimum.variances  # the next value of the profile starts here
            # The root of the deviance is nearly linear, so that few steps reach its crossing.
            return math.sqrt(max(optimum.criterion - best.criterion, 0.0)) - threshold

        last = index == len(names) - 1
        lowest = 1e-4 * math.sqrt(criterion.scale) if last else 0.0
        low = 0.0
        if centre > lowest and excess(lowest) > 0:
            low = float(optimize.brentq(excess, lowest, centre, xtol=1e-6, rtol=1e-6))
        high = max(2 * centre, 0.1 * math.sqrt(criterion.scale))
        while excess(high) < 0 and high < 1e6 * math.sqrt(criterion.scale):
            high *= 2
        high = float(optimize.brentq(excess, centre, high, xtol=1e-6, rtol=1e-6))
        out[name] = Interval(low=low, high=high, level=level, method="profile likelihood (ML)")
    return out


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
