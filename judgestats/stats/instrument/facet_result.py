"""What a many-facet model says: severities with fit, thresholds, systems, quality."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from judgestats.arrays import Floats
from judgestats.errors import InputError
from judgestats.stats.inference.result import Estimate, Note, Result, Sample


@dataclass(frozen=True, kw_only=True)
class FacetLevel:
    """One judge, prompt or system.

    Attributes
    ----------
    facet, level : str
    severity : Estimate
        In logits, higher is stricter; of a system its quality, higher is better.
    points : Estimate
        Mean score that it gives (or gets) less the mean of its facet, on the same answers.
    infit, outfit : float
        Mean squared residual over its expectation, weighted by information and not.
    n : int
        Ratings.
    """

    facet: str
    level: str
    severity: Estimate
    points: Estimate
    infit: float
    outfit: float
    n: int


@dataclass(frozen=True, kw_only=True)
class ManyFacet(Result):
    """A fitted many-facet model.

    Attributes
    ----------
    facets : mapping of str to tuple of FacetLevel
    systems : tuple of FacetLevel
        The best first; empty without `system`.
    system_ranks : tuple of (int, int)
        Highest and lowest rank of each system, all at once.
    thresholds : tuple of Estimate
        Steps between neighbouring levels, their sum 0 (for each level of the first facet in a
        partial-credit model).
    levels : tuple of float
        The scores used.
    sigma : float
        Standard deviation of quality, in logits.
    reliability : float
        Of the answers' quality: var(EAP) / (var(EAP) + mean posterior variance), by joint maximum
        likelihood (var - mean se^2) / var.
    separation : mapping of str to float
        The same of the levels of each facet: how surely they differ.
    information : mapping of str to tuple of float
        Of one rating by each level of the first facet, at quality -3, -2, ..., 3 logits.
    quality, quality_sd : ndarray, shape (n_answers,)
        Of `answers`, with severity taken out; NaN at the floor or ceiling in a joint fit.
    extreme : int
        Answers at the floor or ceiling throughout.
    change : float
        Largest change of a parameter when the grid of the integral is doubled.
    std_errors_model : mapping of str to list of float
        Of the free parameters by inverse information, as R's ``vcov`` gives them.
    """

    facets: Mapping[str, tuple[FacetLevel, ...]]
    systems: tuple[FacetLevel, ...]
    system_ranks: tuple[tuple[int, int], ...]
    thresholds: tuple[Estimate, ...]
    levels: tuple[float, ...]
    method: str
    mean: float
    sigma: float
    reliability: float
    separation: Mapping[str, float]
    information: Mapping[str, tuple[float, ...]]
    quality: Floats
    quality_sd: Floats
    answers: tuple[str, ...]
    extreme: int
    loglik: float
    change: float
    std_errors_model: Mapping[str, list[float]]
    sample: Sample
    notes: tuple[Note, ...] = ()

    def __getitem__(self, key: tuple[str, str]) -> FacetLevel:
        """A level by facet and name: ``result["judge", "gpt"]``."""
        facet, level = key
        for matching in (*self.facets.get(facet, ()), *self.systems):
            if matching.facet == facet and matching.level == level:
                return matching
        listed = ", ".join(f"{f.facet} {f.level}" for f in self._all())
        raise InputError(f"many_facet: there is no {facet} {level!r}. Choose one of {listed}.")

    def _all(self) -> tuple[FacetLevel, ...]:
        return (*(v for levels in self.facets.values() for v in levels), *self.systems)

    def tidy(self) -> pd.DataFrame:
        """One row a judge, prompt or system, then one a threshold."""
        rows = [
            {
                "facet": v.facet,
                "level": v.level,
                **v.severity.row(),
                "points": v.points.estimate,
                "points_low": v.points.interval.low if v.points.interval else np.nan,
                "points_high": v.points.interval.high if v.points.interval else np.nan,
                "infit": v.infit,
                "outfit": v.outfit,
                "n": v.n,
            }
            for v in self._all()
        ]
        rows += [{"facet": "threshold", "level": t.label, **t.row()} for t in self.thresholds]
        return pd.DataFrame(rows)

    def glance(self) -> pd.DataFrame:
        """One row: the fit as a whole."""
        return pd.DataFrame(
            [
                {
                    "term": "many_facet",
                    "method": self.method,
                    "reliability": self.reliability,
                    "sigma": self.sigma,
                    "loglik": self.loglik,
                    "grid_change": self.change,
                    "n": self.sample.n_items,
                    "n_clusters": self.sample.n_clusters,
                    "extreme": self.extreme,
                }
            ]
        )

    def apa(self, *, digits: int = 2) -> str:
        """Every severity with its interval: see `Result.apa`."""
        return "; ".join(
            f"{v.facet} {v.level}: {v.severity.apa(digits=digits)}" for v in self._all()
        )

    def sentence(self) -> str:
        """The strictest and the mildest of the first facet, and the leading system."""
        name, levels = next(iter(self.facets.items()))
        strict = max(levels, key=lambda v: v.severity.estimate)
        mild = min(levels, key=lambda v: v.severity.estimate)
        text = (
            f"the strictest {name} is {strict.level} ({strict.severity.short()} logits, "
            f"{strict.points.short()} points), the mildest {mild.level} ({mild.severity.short()} "
            f"logits, {mild.points.short()} points)"
        )
        if self.systems:
            best, (_, worst) = self.systems[0], self.system_ranks[0]
            text += f"; {best.level} leads the systems (rank 1 to {worst})"
        return f"{text} ({self.sample})."

    def __str__(self) -> str:
        lines = ["", f"\tMany-facet model ({self.method})", ""]
        shown = pd.DataFrame(
            [
                {
                    "facet": v.facet,
                    "level": v.level,
                    "logits": v.severity.short(),
                    "points": v.points.short(),
                    "infit": f"{v.infit:.2f}",
                    "outfit": f"{v.outfit:.2f}",
                    "n": v.n,
                }
                for v in self._all()
            ]
        )
        lines.append(shown.to_string(index=False))
        lines.append("thresholds: " + ", ".join(t.short() for t in self.thresholds))
        lines.append(f"reliability of quality {self.reliability:.3f}; data: {self.sample}")
        return "\n".join([*lines, *(f"warning: {n.message}" for n in self.notes), ""])
