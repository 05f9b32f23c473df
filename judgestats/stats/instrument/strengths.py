"""A ranking of systems: strengths, their differences, and ranks that hold all at once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from judgestats.arrays import Floats
from judgestats.errors import InputError
from judgestats.stats.inference.result import (
    Comparison,
    Comparisons,
    Estimate,
    Note,
    Result,
    Sample,
)

DRAWS = 20_000


def rank_intervals(
    values: Floats, covariance: Floats, *, df: float, level: float, seed: int | None
) -> tuple[tuple[int, int], ...]:
    """Highest and lowest rank that each value may have, all intervals holding at once.

    Parameters
    ----------
    values : ndarray, shape (k,)
    covariance : ndarray, shape (k, k)
    df : float
        Of Student's t.
    level : float
    seed : int or None
        Of the draws that give the critical value.

    Returns
    -------
    tuple of (int, int)
        Rank 1 is the largest value.

    Examples
    --------
    >>> rank_intervals(np.array([5.0, 0.1, 0.0]), np.eye(3) * 0.1, df=50.0, level=0.95, seed=0)
    ((1, 1), (2, 3), (2, 3))
    """
    k = values.size
    i, j = np.triu_indices(k, 1)
    spread = np.diag(covariance)
    errors = np.sqrt(np.maximum(spread[i] + spread[j] - 2 * covariance[i, j], 1e-300))
    value, vector = np.linalg.eigh(covariance)
    root = vector * np.sqrt(np.maximum(value, 0.0))
    rng = np.random.default_rng(seed)
    largest = np.empty(DRAWS)
    block = max(1, 2_000_000 // max(i.size, 1))
    for start in range(0, DRAWS, block):
        n = min(block, DRAWS - start)
        z = rng.normal(size=(n, k)) @ root.T
        t = np.abs(z[:, i] - z[:, j]) / errors
        largest[start : start + n] = t.max(axis=1) / np.sqrt(rng.chisquare(df, size=n) / df)
    critical = float(np.quantile(largest, level))
    t = (values[i] - values[j]) / errors
    above, below = np.zeros(k, dtype=int), np.zeros(k, dtype=int)
    np.add.at(below, i, t > critical)
    np.add.at(above, j, t > critical)
    np.add.at(below, j, t < -critical)
    np.add.at(above, i, t < -critical)
    return tuple((int(1 + a), int(k - b)) for a, b in zip(above, below, strict=True))


@dataclass(frozen=True, kw_only=True)
class Strengths(Result):
    """Systems ranked from pairwise verdicts, the strongest first.

    Attributes
    ----------
    systems : tuple of str
    strengths : tuple of Estimate
        In logits, their sum 0.
    others : tuple of Estimate
        Order effect, ties, slopes of covariates, where they are in the model.
    pairs : tuple of Comparison
        The stronger minus the weaker; ``effect`` is the chance that the order is the other one.
    ranks : tuple of (int, int)
        Highest and lowest rank of each system, all at once.
    covariance : ndarray, shape (k, k)
        Of the strengths.
    loglik : float
    adjust, sandwich : str
    sample : Sample
    notes : tuple of Note
    """

    systems: tuple[str, ...]
    strengths: tuple[Estimate, ...]
    others: tuple[Estimate, ...]
    pairs: tuple[Comparison, ...]
    ranks: tuple[tuple[int, int], ...]
    covariance: Floats
    loglik: float
    adjust: str
    sandwich: str
    sample: Sample
    notes: tuple[Note, ...] = ()

    def __getitem__(self, name: str) -> Estimate:
        """The strength of a system, or ``order_effect`` and ``log_tie``."""
        for system, term in zip(self.systems, self.strengths, strict=True):
            if system == name:
                return term
        for term in self.others:
            if name in {term.name, term.label.removeprefix("Slope of ")}:
                return term
        raise InputError(
            f"bradley_terry: no term is named {name!r}. Choose one of "
            f"{', '.join([*self.systems, *(t.name for t in self.others)])}."
        )

    @property
    def differences(self) -> Comparisons:
        """All pairs of systems as one family."""
        return Comparisons(
            name="bradley_terry", method="Differences of strengths (Bradley-Terry)", symbol="t",
            adjust=self.adjust, family="pairs of systems", rows=self.pairs, sample=self.sample,
            notes=self.notes,
        )  # fmt: skip

    def tidy(self) -> pd.DataFrame:
        """One row a system, then order, ties and slopes."""
        rows: list[dict[str, Any]] = []
        for system, term, (best, worst) in zip(
            self.systems, self.strengths, self.ranks, strict=True
        ):
            rows.append({**term.row(), "system": system, "rank_best": best, "rank_worst": worst})
        rows += [{**t.row(), "system": "", "term": t.name} for t in self.others]
        return pd.DataFrame(rows)

    def glance(self) -> pd.DataFrame:
        """One row: how the model fits, and how many systems may be the best."""
        return pd.DataFrame(
            [
                {
                    "term": "bradley_terry",
                    "n_systems": len(self.systems),
                    "may_be_best": sum(best == 1 for best, _ in self.ranks),
                    "loglik": self.loglik,
                    "n": self.sample.n_items,
                    "n_clusters": self.sample.n_clusters,
                }
            ]
        )

    def apa(self, *, digits: int = 2) -> str:
        """Every strength with its interval: see `Result.apa`."""
        return "; ".join(
            f"{t.label}: {t.apa(digits=digits)}" for t in (*self.strengths, *self.others)
        )

    def sentence(self) -> str:
        """Who leads, and how sure that is."""
        best = [s for s, (high, _) in zip(self.systems, self.ranks, strict=True) if high == 1]
        first = self.strengths[0]
        if len(best) == 1:
            text = f"{best[0]} is the strongest ({first.short()} logits above the mean)"
        else:
            others = ", ".join(best[:4]) + (f" and {len(best) - 4} more" if len(best) > 4 else "")
            text = f"{self.systems[0]} leads ({first.short()}); {others} may each be the strongest"
        close = max(self.pairs, key=lambda r: -1.0 if math.isnan(r.effect) else r.effect)
        return (
            f"{text}; the least certain order is {close.a} over {close.b} "
            f"(chance of the other order {close.effect:.2f}) ({self.sample})."
        )

    def __str__(self) -> str:
        shown = pd.DataFrame(
            {
                "system": self.systems,
                "strength": [t.short() for t in self.strengths],
                "ranks": [f"{a}-{b}" if a < b else f"{a}" for a, b in self.ranks],
            }
        )
        lines = ["", f"\tStrengths of systems ({self.strengths[0].estimator})", ""]
        lines.append(shown.to_string(index=False))
        lines += [f"{t.label}: {t.short()}" for t in self.others]
        lines.append(f"data: {self.sample}")
        return "\n".join([*lines, *(f"warning: {n.message}" for n in self.notes), ""])
