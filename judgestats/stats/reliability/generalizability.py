"""Generalizability coefficients and D-studies: how reliable would another design have been?

The universe score of an item is its mean over all judges, prompts and draws it could have met.
Facets are random (a sample from more of their kind) or fixed (exactly these, also next time).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from judgestats.errors import InputError
from judgestats.results.numbers import format_number
from judgestats.stats.designs.crossed_layout import factors_of
from judgestats.stats.inference.estimate import Estimate, Note, Result, Sample
from judgestats.stats.inference.result import Estimates
from judgestats.stats.reliability.variance_components import VarianceComponents

Components = VarianceComponents | Mapping[str, float]


@dataclasses.dataclass(frozen=True, kw_only=True)
class ErrorVariances:
    """Universe score variance and error variances of an item's mean score under a design.

    Attributes
    ----------
    universe : float
        Variance of the items' universe scores (fixed facets averaged in), squared score points.
    relative : float
        Error variance of comparisons between items.
    absolute : float
        Error variance of the score itself; never below `relative`.
    truncated : tuple of str
        Components that were negative and count as 0.
    """

    universe: float
    relative: float
    absolute: float
    truncated: tuple[str, ...] = ()

    @property
    def g(self) -> float:
        """Generalizability coefficient E rho squared: universe / (universe + relative)."""
        total = self.universe + self.relative
        return self.universe / total if total > 0 else math.nan

    @property
    def phi(self) -> float:
        """Dependability coefficient Phi: universe / (universe + absolute)."""
        total = self.universe + self.absolute
        return self.universe / total if total > 0 else math.nan


def _variances(components: Components) -> Mapping[str, float]:
    return components.variances if isinstance(components, VarianceComponents) else components


def residual_facets(variances: Mapping[str, float]) -> tuple[str, ...]:
    """The facets whose numbers divide the residual: all of the design, and repeated judgments.

    Where the design holds the interaction of all its facets, the residual is the draw itself, so
    that ``replicate`` divides it too; otherwise it is that interaction.

    Examples
    --------
    >>> residual_facets({"item": 1.0, "residual": 1.0})
    ('replicate',)
    >>> residual_facets({"item": 1.0, "judge": 1.0, "residual": 1.0})
    ('judge',)
    """
    terms = tuple(t for t in variances if t != "residual")
    factors = factors_of(terms)
    others = tuple(f for f in factors if f != "item")
    saturated = any(frozenset(t.split(":")) == frozenset(factors) for t in terms)
    return (*others, "replicate") if saturated and "replicate" not in others else others


def facet_counts(
    components: Components, n: Mapping[str, int] | None, fixed: Sequence[str], where: str
) -> dict[str, int]:
    """How many of each facet an item's score averages; the observed numbers by default."""
    variances = _variances(components)
    absent = [t for t in ("item", "residual") if t not in variances]
    if absent:
        raise InputError(
            f"{where}: components must hold 'item' and 'residual', missing: {', '.join(absent)}. "
            "Give the result of variance_components."
        )
    facets = residual_facets(variances)
    given = dict(n or {})
    unknown = [f for f in (*given, *fixed) if f not in facets]
    if unknown:
        raise InputError(
            f"{where}: n and fixed must name facets of the design ({', '.join(facets)}), got "
            f"{', '.join(unknown)}. Leave out what the design does not have."
        )
    low = {f: v for f, v in given.items() if v < 1}
    if low:
        raise InputError(
            f"{where}: n must be at least 1 for every facet, got {low}. Give numbers of levels."
        )
    if "replicate" in fixed:
        raise InputError(
            f"{where}: fixed must not hold replicate: a draw cannot be repeated. Leave it out."
        )
    for facet in facets:
        if facet in given:
            continue
        if not isinstance(components, VarianceComponents):
            raise InputError(
                f"{where}: n must give a number for the facet {facet}, got {given}. Add it."
            )
        if facet in components.levels:
            given[facet] = components.levels[facet]
        else:  # repeated judgments within the cell
            cells = np.prod([v for f, v in components.levels.items() if f != "item"])
            given[facet] = max(1, round((components.sample.n_replications or 1) / float(cells)))
    return given


def error_variances(
    components: Components, *, n: Mapping[str, int] | None = None, fixed: Sequence[str] = ()
) -> ErrorVariances:
    r"""Universe score and error variances of an item's mean score.

    Parameters
    ----------
    components : VarianceComponents or mapping of term to variance
        With the terms ``item`` and ``residual``.
    n : mapping of facet to int, optional
        Judges, prompts, replicates that an item's score averages; default as observed.
    fixed : sequence of str
        Facets that stay the same next time. A fixed facet's interaction with the item is part of
        the universe score, and its main effect is no error.

    Returns
    -------
    ErrorVariances

    Raises
    ------
    InputError
        If a facet is unknown, its number is missing or below 1.

    Notes
    -----
    A term's variance is divided by the product of the numbers of its facets (other than the item);
    the residual by the product of all. Negative components count as 0.

    References
    ----------
    Brennan (2001), Generalizability Theory, chapters 3 and 4.

    Examples
    --------
    >>> e = error_variances({"item": 0.8, "replicate": 0.1, "residual": 0.6}, n={"replicate": 3})
    >>> round(e.g, 6), round(e.phi, 6)
    (0.8, 0.774194)
    """
    counts = facet_counts(components, n, fixed, "error_variances")
    variances = _variances(components)
    if any(math.isnan(v) for v in variances.values()):
        return ErrorVariances(universe=math.nan, relative=math.nan, absolute=math.nan)
    universe = relative = shared = 0.0
    for term, raw in variances.items():
        variance = max(float(raw), 0.0)
        facets = (
            residual_facets(variances)
            if term == "residual"
            else tuple(f for f in term.split(":") if f != "item")
        )
        part = variance / math.prod(counts[f] for f in facets)
        is_fixed = all(f in fixed for f in facets)
        if term == "residual" or "item" in term.split(":"):
            # The item itself has no facets, so that it always counts as universe score.
            if is_fixed:
                universe += part
            else:
                relative += part
        elif not is_fixed:
            shared += part
    return ErrorVariances(
        universe=universe,
        relative=relative,
        absolute=relative + shared,
        truncated=tuple(t for t, v in variances.items() if v < 0),
    )


def truncation_notes(errors: ErrorVariances) -> tuple[Note, ...]:
    """Says which negative components were set to 0."""
    if not errors.truncated:
        return ()
    message = f"Negative components count as 0: {', '.join(errors.truncated)}."
    return (Note(code="negative_component", message=message),)


def generalizability(
    components: Components, *, n: Mapping[str, int] | None = None, fixed: Sequence[str] = ()
) -> Estimates:
    r"""Relative (E rho squared) and absolute (Phi) coefficients, with their standard errors.

    Parameters
    ----------
    components : VarianceComponents or mapping of term to variance
    n : mapping of facet to int, optional
        Numbers averaged; default as observed.
    fixed : sequence of str
        Facets that stay the same next time.

    Returns
    -------
    Estimates
        Terms ``g_relative``, ``phi_absolute``, ``sem_relative``, ``sem_absolute`` (score points).
        `interval` is None: the sampling error of the components is in
        ``variance_components(..., profile=True)`` and, for item x replicate, in `icc`.

    Raises
    ------
    InputError
        As `error_variances`.

    Notes
    -----
    For item x replicate, E rho squared is ICC(3,k) = alpha and Phi is ICC(2,k).

    Examples
    --------
    >>> table = generalizability({"item": 0.8, "residual": 0.6}, n={"replicate": 3})
    >>> [round(term.estimate, 4) for term in table.terms]
    [0.8, 0.8, 0.4472, 0.4472]
    """
    errors = error_variances(components, n=n, fixed=fixed)
    counts = facet_counts(components, n, fixed, "generalizability")
    has_components = isinstance(components, VarianceComponents)
    sample = components.sample if isinstance(components, VarianceComponents) else Sample(n_items=0)
    reason = ""
    if math.isnan(errors.universe):
        reason = (components.reason if isinstance(components, VarianceComponents) else "") or (
            "a variance component is undefined"
        )
    elif math.isnan(errors.phi):
        reason = "all components are 0"
    elif math.isnan(errors.g):
        reason = "neither items nor the errors that matter for comparing them vary"
    how = ", ".join(f"{f} {c}" for f, c in counts.items())
    if fixed:
        how += f"; fixed: {', '.join(fixed)}"
    values = (
        ("g_relative", "Generalizability coefficient", errors.g),
        ("phi_absolute", "Dependability coefficient Phi", errors.phi),
        ("sem_relative", "Standard error, comparing items", math.sqrt(errors.relative)),
        ("sem_absolute", "Standard error of a score", math.sqrt(errors.absolute)),
    )
    terms = tuple(
        Estimate(
            name=name,
            label=label,
            estimate=value,
            estimator=f"variance components, mean over {how}",
            sample=sample,
            notes=truncation_notes(errors),
            reason=reason if math.isnan(value) else "",
        )
        for name, label, value in values
    )
    return Estimates(
        name="generalizability",
        label=f"Generalizability ({how})",
        terms=terms,
        sample=sample,
        notes=components.notes
        if has_components and isinstance(components, VarianceComponents)
        else (),
        details={"n": counts, "universe_variance": errors.universe},
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class DStudy(Result):
    """Coefficients of every combination of facet numbers, one row each.

    Attributes
    ----------
    table : DataFrame
        Columns ``n_<facet>``, ``g_relative``, ``phi_absolute``, ``sem_relative``, ``sem_absolute``,
        ``judgments`` (calls per item), and for a priced plan ``cost_per_item`` and ``cost``.
    fixed : tuple of str
    notes : tuple of Note
    """

    table: pd.DataFrame
    fixed: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()

    def tidy(self) -> pd.DataFrame:
        """The table (a copy)."""
        return self.table.copy()

    def sentence(self) -> str:
        """The range of reliability over the designs compared."""
        low, high = self.table["phi_absolute"].min(), self.table["phi_absolute"].max()
        return (
            f"Over {len(self.table)} designs, the dependability of an item's score ranges from "
            f"{format_number(low)} to {format_number(high)}."
        )

    def __str__(self) -> str:
        text = self.table.to_string(index=False, float_format=format_number)
        lines = ["", "\tD-study", "", text]
        return "\n".join([*lines, *(f"warning: {n.message}" for n in self.notes), ""])


def d_study(
    components: Components, *, n: Mapping[str, Sequence[int]], fixed: Sequence[str] = ()
) -> DStudy:
    """Coefficients over a grid of judges x prompts x replicates.

    Parameters
    ----------
    components : VarianceComponents or mapping of term to variance
    n : mapping of facet to sequence of int
        Numbers to try; facets left out stay as observed.
    fixed : sequence of str
        Facets that stay the same next time.

    Returns
    -------
    DStudy

    Raises
    ------
    InputError
        As `error_variances`, or if a facet has no number to try.

    Examples
    --------
    >>> study = d_study({"item": 0.8, "residual": 0.6}, n={"replicate": [1, 3, 10]})
    >>> study.table["g_relative"].round(3).tolist()
    [0.571, 0.8, 0.93]
    """
    if any(len(values) == 0 for values in n.values()):
        raise InputError(
            f"d_study: n must give at least one number per facet, got {dict(n)}. Use [1, 2, 3]."
        )
    rows: list[dict[str, Any]] = []
    truncated: tuple[Note, ...] = ()
    for numbers in product(*n.values()):
        chosen = dict(zip(n, numbers, strict=True))
        counts = facet_counts(components, chosen, fixed, "d_study")
        errors = error_variances(components, n=counts, fixed=fixed)
        truncated = truncation_notes(errors)
        rows.append(
            {f"n_{facet}": count for facet, count in counts.items()}
            | {
                "g_relative": errors.g,
                "phi_absolute": errors.phi,
                "sem_relative": math.sqrt(errors.relative),
                "sem_absolute": math.sqrt(errors.absolute),
                "judgments": math.prod(counts.values()),
            }
        )
    return DStudy(table=pd.DataFrame(rows), fixed=tuple(fixed), notes=truncated)
