"""What `omega_total` returns: the estimate, its model, and what k judgments are worth."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from judgestats.arrays import Floats
from judgestats.errors import InputError
from judgestats.stats.inference.result import Estimate, format_number, format_p
from judgestats.stats.reliability.one_factor import OneFactorFit

TARGETS = (0.80, 0.90)


@dataclasses.dataclass(frozen=True, kw_only=True)
class OmegaEstimate(Estimate):
    """Omega total with its model, and what one judgment and the mean of k are worth.

    Attributes
    ----------
    model, estimator_name, denominator : str
        As asked for.
    loadings, uniquenesses : arrays of shape (p,)
        The solution in score units (correlation units when standardised); empty if undefined.
    fit : OneFactorFit or None
        Fit indices, Heywood columns, convergence.
    single : float
        Reliability of one judgment, ICC(3,1): the parallel model's common covariance over its
        common variance.
    mean_of_all : float
        Reliability of the mean of all judgments: Spearman-Brown of `single`, equal to raw alpha.
    replications_for : mapping of float to float
        Target reliability -> judgments needed for it, NaN where no number reaches it.
    omegas : mapping of str to float
        All three denominators by name.
    """

    model: str = "parallel"
    estimator_name: str = "ml"
    denominator: str = "model"
    loadings: Floats = dataclasses.field(default_factory=lambda: np.empty(0))
    uniquenesses: Floats = dataclasses.field(default_factory=lambda: np.empty(0))
    fit: OneFactorFit | None = None
    single: float = math.nan
    mean_of_all: float = math.nan
    replications_for: dict[float, float] = dataclasses.field(default_factory=dict)
    omegas: dict[str, float] = dataclasses.field(default_factory=dict)

    def row(self) -> dict[str, Any]:
        """The tidy row, with model, fit and the worth of one judgment."""
        row = super().row()
        row |= {"model": self.model, "denominator": self.denominator, "single": self.single}
        row |= {f"k_for_{t:g}": k for t, k in self.replications_for.items()}
        if self.fit is not None:
            row |= {
                "chi2": self.fit.chi2,
                "df_fit": self.fit.df,
                "p_fit": self.fit.p_value,
                "rmsea": self.fit.rmsea,
                "cfi": self.fit.cfi,
                "srmr": self.fit.srmr,
                "n_heywood": len(self.fit.heywood),
            }
        return row

    def __str__(self) -> str:
        lines = super().__str__().rstrip("\n").split("\n")
        at = next((i for i, s in enumerate(lines) if s.startswith("warning")), len(lines))
        more = []
        if self.fit is not None and math.isfinite(self.fit.chi2):
            f = self.fit
            more.append(
                f"fit: chi2 = {format_number(f.chi2)}, df = {f.df}, p {format_p(f.p_value)}, "
                f"RMSEA {format_number(f.rmsea)}, CFI {format_number(f.cfi)}, "
                f"SRMR {format_number(f.srmr)}"
            )
        k = self.sample.n_replications_max or self.sample.n_replications
        more.append(
            f"one judgment: {format_number(self.single)}; mean of {k}: "
            f"{format_number(self.mean_of_all)} (parallel model)"
        )
        if self.replications_for:
            more.append(
                "judgments needed: "
                + ", ".join(f"{_count(n)} for {t:g}" for t, n in self.replications_for.items())
            )
        return "\n".join([*lines[:at], *more, *lines[at:], ""])


def _count(n: float) -> str:
    return "no number" if math.isnan(n) else f"{n:.0f}"


def replications_needed(single: float, *, target: float) -> float:
    r"""Smallest number of judgments whose mean reaches a reliability (Spearman-Brown).

    Parameters
    ----------
    single : float
        Reliability of one judgment.
    target : float
        Reliability wanted, in (0, 1).

    Returns
    -------
    float
        ``ceil(target (1 - single) / (single (1 - target)))``; NaN where `single` is not positive.

    Raises
    ------
    InputError
        If `target` is not inside (0, 1).

    Examples
    --------
    >>> replications_needed(0.5, target=0.8), replications_needed(-0.1, target=0.8)
    (4.0, nan)
    """
    if not 0 < target < 1:
        msg = (
            f"replications_needed: target must lie in (0, 1), got {target}. "
            "Give a reliability such as 0.8."
        )
        raise InputError(msg)
    if not single > 0:
        return math.nan
    if single >= 1:
        return 1.0
    exact = target * (1 - single) / (single * (1 - target))
    return float(max(1, math.ceil(exact - 1e-9)))
