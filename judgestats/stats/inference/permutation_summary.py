"""What permutations tell: the null reference and the p-value of a finished distribution."""

from __future__ import annotations

import dataclasses
import math
from typing import Literal

import numpy as np

from judgestats.arrays import Floats
from judgestats.errors import InputError
from judgestats.stats.inference.result import Note, NullReference

Scheme = Literal["replications", "questions", "cells", "positions", "labels", "levels"]
Alternative = Literal["greater", "less", "two-sided"]

ENOUGH = 20
"""Permutations at least as extreme as the observed value that resolve its p-value."""

SCHEMES: dict[str, tuple[str, str]] = {
    "replications": ("the item does not matter", "each replication's column over items"),
    "questions": (
        "replications are independent",
        "each question's judgments over replications",
    ),
    "cells": ("the condition does not matter", "whole item x condition cells within items"),
    "positions": ("order does not matter", "positions within items"),
    "labels": ("no relation", "labels over items within strata"),
    "levels": ("the component is 0", "levels of the facet within the other facets"),
}
"""Scheme -> (null hypothesis, what is permuted)."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class PermutationResult:
    """The null reference together with the distribution it summarises.

    Attributes
    ----------
    observed : float
        The statistic on the data as given.
    null : NullReference
        Hypothesis, what was permuted, mean, 95th percentile and p-value.
    distribution : ndarray, shape (n_permutations,)
        The statistic on every permutation, NaN where undefined.
    n_failed : int
        Permutations in which the statistic is undefined; they count as at least as extreme as the
        observed value, so that p stays valid.
    notes : tuple of Note
        Warnings as data.
    """

    observed: float
    null: NullReference
    distribution: Floats
    n_failed: int = 0
    notes: tuple[Note, ...] = ()


def permutations_needed(alpha: float = 0.05, n_comparisons: int = 1) -> int:
    r"""Number of permutations that resolve a Bonferroni-adjusted level: 20 reach it by chance.

    Parameters
    ----------
    alpha : float
        Level of the family, in (0, 1).
    n_comparisons : int
        Size of the family.

    Returns
    -------
    int
        20 n_comparisons / alpha, less the arrangement observed. With 1 / (B + 1) just at the
        adjusted level one chance draw decides.

    Raises
    ------
    InputError
        If `alpha` or `n_comparisons` is out of range.

    Examples
    --------
    >>> permutations_needed(0.05, 1), permutations_needed(0.05, 50)
    (399, 19999)
    """
    if not 0 < alpha < 1 or n_comparisons < 1:
        raise InputError(
            "permutations_needed: alpha must lie in (0, 1) and n_comparisons be at least 1, got "
            f"{alpha} and {n_comparisons}. Give the family's level and its number of comparisons."
        )
    # The small slack keeps 200 / 0.05 = 4000.0000000000005 from asking for one more.
    return max(1, math.ceil(ENOUGH * n_comparisons / alpha * (1 - 1e-12)) - 1)


def summarise_permutations(
    observed: float,
    distribution: Floats,
    *,
    scheme: str,
    seed: int | None,
    alternative: str = "greater",
    refusal: str = "",
    fixed: str = "",
) -> PermutationResult:
    """Mean, 95th percentile and p-value of a finished null distribution.

    Parameters
    ----------
    observed : float
    distribution : ndarray, shape (n_permutations,)
        NaN where undefined.
    scheme, seed, alternative
        As `permutation_distribution` takes them.
    refusal : str
        Why the statistic is undefined in some permutations.
    fixed : str
        Why no permutation moves the statistic, should none do. There is no p-value then: one near
        1 would read as a finding of the data.

    Returns
    -------
    PermutationResult

    Examples
    --------
    >>> values = np.linspace(0, 1, 99)
    >>> float(summarise_permutations(2.0, values, scheme="labels", seed=None).null.p_value)
    0.01
    """
    n = distribution.size
    defined = distribution[~np.isnan(distribution)]
    n_failed = n - defined.size
    notes: list[Note] = []
    if n_failed:
        message = f"The statistic is undefined in {n_failed} of {n} permutations"
        message += f" ({refusal})" if refusal else ""
        message += "; they count as at least as extreme as the observed value."
        notes.append(Note(code="undefined_permutations", message=message))
    if math.isnan(observed):
        notes.append(
            Note(code="undefined_estimate", message="No p-value: the statistic is undefined.")
        )
    slack = 1e-10 * max(1.0, abs(observed)) if math.isfinite(observed) else 0.0
    above = (np.sum(defined >= observed - slack) + n_failed + 1) / (n + 1)
    below = (np.sum(defined <= observed + slack) + n_failed + 1) / (n + 1)
    p = {"greater": above, "less": below, "two-sided": min(1.0, 2 * min(above, below))}[alternative]
    hypothesis, permuted = SCHEMES[scheme]
    still = n > n_failed == 0 and bool(np.all(np.abs(defined - observed) <= slack))
    silent = fixed if still else ""
    if silent:
        notes.append(Note(code="uninformative_null", message=f"No p-value: {silent}."))
    null = NullReference(
        hypothesis=hypothesis,
        permuted=permuted,
        mean=float(np.mean(defined)) if defined.size else math.nan,
        q95=float(np.quantile(defined, 0.95)) if defined.size else math.nan,
        p_value=math.nan if math.isnan(observed) or silent else float(p),
        n_permutations=n,
        seed=seed,
        reason=silent,
        sides=2 if alternative == "two-sided" else 1,
    )
    return PermutationResult(
        observed=observed,
        null=null,
        distribution=distribution,
        n_failed=n_failed,
        notes=tuple(notes),
    )
