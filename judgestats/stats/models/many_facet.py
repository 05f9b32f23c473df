"""Many-facet rating models: severities, systems, thresholds and fit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Unpack

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import ndtri

from judgestats.arrays import Floats
from judgestats.errors import InputError
from judgestats.stats.inference.estimate import Estimate, Note, Result, Sample, print_table
from judgestats.stats.inference.keywords import Seeded, with_keywords
from judgestats.stats.models.bradley_terry import rank_intervals
from judgestats.stats.models.facet_fit import (
    Facets,
    Fitted,
    Ratings,
    contrast,
    design_of,
    level_probability,
    marginal_fit,
    rated,
)
from judgestats.stats.models.ordinal import cluster_df, few_clusters_notes, wald_interval

METHOD = "marginal maximum likelihood"
NORMAL = ndtri((np.arange(41) + 0.5) / 41)
"""Quantiles of quality over which points are averaged."""


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
        Steps between neighbouring levels, their sum 0.
    levels : tuple of float
        The scores used.
    sigma : float
        Standard deviation of quality, in logits.
    reliability : float
        Of the answers' quality: var(EAP) / (var(EAP) + mean posterior variance).
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
    mean: float
    sigma: float
    reliability: float
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
        lines = [
            "thresholds: " + ", ".join(t.short() for t in self.thresholds),
            f"reliability of quality {self.reliability:.3f}; data: {self.sample}",
        ]
        return print_table(f"Many-facet model ({METHOD})", shown, lines, self.notes)


class _Terms:
    """Linear and smooth functions of the parameters, with errors by the delta method."""

    def __init__(
        self, ratings: Ratings, design: Floats, at: Mapping[str, slice], fit: Fitted, *,
        level: float,
    ) -> None:  # fmt: skip
        self.ratings, self.design, self.at, self.fitted = ratings, design, at, fit
        self.level, self.df = level, cluster_df(ratings.cluster)
        n_clusters = int(np.unique(ratings.cluster).size)
        self.sample = Sample(
            n_items=len(ratings.answers),
            n_clusters=n_clusters if ratings.clustered else None,
            excluded={"no score": ratings.unread},
        )
        self.weight = np.asarray(ratings.cells_of.sum(axis=0)).reshape(-1)
        self.notes = few_clusters_notes(n_clusters)

    def term(self, name: str, label: str, value: float, row: Floats) -> Estimate:
        se = math.sqrt(max(float(row @ self.fitted.covariance @ row), 0.0))
        return Estimate(
            name=name, label=label, estimate=value, std_error=se, sample=self.sample,
            interval=wald_interval(value, se, df=self.df, level=self.level), estimator=METHOD,
        )  # fmt: skip

    def rows(self, name: str, matrix: Floats) -> Floats:
        """A matrix of one block's parameters as one of all parameters."""
        out = np.zeros((matrix.shape[0], self.fitted.beta.size))
        out[:, self.at[name]] = matrix
        return out

    def points(self, name: str, facet: Facets, matrix: Floats) -> tuple[Floats, Floats]:
        """Expected score under each level of a block less their mean, and its slopes."""
        sign = 1.0 if name == "mean" else -1.0
        levels, steps = self.ratings.levels, np.arange(self.ratings.levels.size, dtype=float)
        part = np.abs(matrix) if name == "mean" else matrix

        def mean(beta: Floats) -> Floats:
            logits = self.design @ beta[:-1]
            rest = logits - self.design[:, :, self.at[name]] @ beta[self.at[name]]
            nodes = math.exp(beta[-1]) * NORMAL
            out = np.empty(len(facet.levels))
            for i, effect in enumerate(part @ beta[self.at[name]]):
                p = level_probability(rest + sign * steps * effect, nodes)
                score = np.einsum("ckq,k->c", p, levels) / nodes.size
                out[i] = self.weight @ score / self.weight.sum()
            return np.asarray(out - out.mean())

        beta = self.fitted.beta
        centre = mean(beta)
        slope = np.zeros((centre.size, beta.size))
        for i in range(beta.size):
            moved = beta.copy()
            moved[i] += 1e-5
            slope[:, i] = (mean(moved) - centre) / 1e-5
        return centre, slope

    def fit(self, facet: Facets) -> tuple[Floats, Floats, Floats]:
        """Infit, outfit and number of ratings of each level of a facet."""
        by = {
            key: np.asarray(
                np.bincount(facet.of_cell, weights=v, minlength=len(facet.levels)), dtype=float
            )
            for key, v in self.fitted.tables.items()
        }
        with np.errstate(invalid="ignore", divide="ignore"):
            return by["squares"] / by["variance"], by["standardised"] / by["n"], by["n"]


def many_facet_result(
    ratings: Ratings, design: Floats, at: Mapping[str, slice], fit: Fitted, *,
    level: float, seed: int | None,
) -> ManyFacet:  # fmt: skip
    """All that the parameters say.

    Parameters
    ----------
    ratings : Ratings
    design : ndarray, shape (C, K, p)
    at : mapping of str to slice
        Blocks of p.
    fit : Fitted
    level : float
    seed : int or None

    Returns
    -------
    ManyFacet
    """
    terms = _Terms(ratings, design, at, fit, level=level)
    facets = {
        name: _levels(terms, name, name, facet, contrast(len(facet.levels)))
        for name, facet in ratings.facets.items()
    }
    systems: tuple[FacetLevel, ...] = ()
    ranks: tuple[tuple[int, int], ...] = ()
    if ratings.systems is not None:
        n = len(ratings.systems.levels)
        matrix = np.eye(n) - 1 / n
        each = _levels(terms, "mean", "system", ratings.systems, matrix)
        order = np.argsort([-v.severity.estimate for v in each], kind="stable")
        systems = tuple(each[i] for i in order)
        rows = terms.rows("mean", matrix)[order]
        ranks = rank_intervals(
            rows @ fit.beta, rows @ fit.covariance @ rows.T, df=terms.df, level=level, seed=seed
        )
    steps, notes = _steps(terms)
    return ManyFacet(
        facets=facets,
        systems=systems,
        system_ranks=ranks,
        thresholds=steps,
        levels=tuple(ratings.levels.tolist()),
        mean=float(np.mean(fit.beta[at["mean"]])),
        sigma=math.exp(float(fit.beta[-1])),
        reliability=fit.reliability,
        extreme=ratings.extreme,
        loglik=fit.loglik,
        change=fit.change,
        std_errors_model={name: fit.std_errors[part].tolist() for name, part in at.items()},
        sample=terms.sample,
        notes=(*notes, *_notes(terms)),
    )


def _levels(
    terms: _Terms, block: str, facet: str, of: Facets, matrix: Floats
) -> tuple[FacetLevel, ...]:
    rows = terms.rows(block, matrix)
    value = rows @ terms.fitted.beta
    whole = np.eye(len(of.levels)) if block == "mean" else matrix
    centre, slope = terms.points(block, of, whole)
    infit, outfit, n = terms.fit(of)
    if block == "mean":
        key, what, points, given = "quality", "Quality of", "quality_points", "Quality of"
    else:  # points are those given: more of them is less severity
        key, what, points, given = "severity", "Severity of", "leniency_points", "Leniency of"
    return tuple(
        FacetLevel(
            facet=facet,
            level=name,
            severity=terms.term(key, f"{what} {facet} {name}", float(value[i]), rows[i]),
            points=terms.term(
                points, f"{given} {facet} {name} in points", float(centre[i]), slope[i]
            ),
            infit=float(infit[i]),
            outfit=float(outfit[i]),
            n=int(n[i]),
        )
        for i, name in enumerate(of.levels)
    )


def _steps(terms: _Terms) -> tuple[tuple[Estimate, ...], list[Note]]:
    """Thresholds, and a note where they are out of order."""
    levels = terms.ratings.levels
    k = levels.size
    if k == 2:
        return (), []
    matrix = terms.rows("tau", contrast(k - 1))
    value = matrix @ terms.fitted.beta
    steps = tuple(
        terms.term("threshold", f"{levels[i]:g} | {levels[i + 1]:g}", float(value[i]), matrix[i])
        for i in range(k - 1)
    )
    if not np.any(np.diff(value) < 0):
        return steps, []
    message = (
        f"Thresholds are not in order around {levels[int(np.argmax(np.diff(value) < 0)) + 1]:g}: "
        "that level is nowhere the likeliest. Merge it with a neighbour."
    )
    return steps, [Note(code="disordered", message=message)]


def _notes(terms: _Terms) -> list[Note]:
    ratings, notes = terms.ratings, list(terms.notes)
    gaps = np.diff(ratings.levels)
    if np.allclose(ratings.levels, np.round(ratings.levels)) and np.any(gaps > 1.5):
        between = (
            f"{level + step:g}"
            for level, gap in zip(ratings.levels[:-1], gaps, strict=True)
            for step in range(1, round(gap))  # size: cut below
        )
        unused = list(islice(between, 6))
        shown = ", ".join(unused[:5]) + (" and more" if len(unused) > 5 else "")
        message = f"Nobody gave {shown}: the steps are those between the levels used."
        notes.append(Note(code="unused_levels", message=message))
    if ratings.extreme:
        message = (
            f"{ratings.extreme} of {len(ratings.answers)} answers lie at the floor or ceiling "
            "throughout: their quality rests on the assumption of normal qualities."
        )
        notes.append(Note(code="extreme", message=message))
    return notes


WHERE = "many_facet"
RUNAWAY = (
    "a severity or threshold is without bound: some level is given by one judge alone, or ratings "
    "do not overlap. Merge rare levels"
)


@with_keywords()
def many_facet(
    scores: ArrayLike,
    *,
    answer: ArrayLike,
    facets: Mapping[str, ArrayLike],
    system: ArrayLike | None = None,
    **inference: Unpack[Seeded],
) -> ManyFacet:
    r"""Which judge, which prompt is severe, and by how much, whoever rated what.

    Parameters
    ----------
    scores : array-like, shape (n,)
        NaN where unread.
    answer : array-like, shape (n,)
        Which answer was rated.
    facets : mapping of str to array-like, shape (n,)
        Who and what rated it, such as ``{"judge": ..., "prompt": ...}``.
    system : array-like, shape (n,), optional
        Whose answer it is: systems are then compared by the mean quality of their answers, with
        the severity of whoever rated them taken out.
    cluster : array-like, shape (n,), optional
        The question of each rating.

    Returns
    -------
    ManyFacet
        Severities sum to zero in each facet, in logits (higher: stricter) and in points of the
        scale, with infit and outfit; thresholds; systems with ranks that hold all at once.

    Raises
    ------
    InputError
        If severities cannot be known: every answer rated once, levels not linked through answers,
        facets that go together, a threshold without bound.

    Notes
    -----
    :math:`\log P(k) / P(k - 1) = \theta_i - \text{severity}_j - \text{prompt}_p - \tau_k` by
    marginal maximum likelihood, answers ~ normal. Levels that nobody used have no step: the scale
    is that of the levels used. Errors: sandwich over clusters (CR1). Fit: squared residuals over
    their expectation, both averaged over the posterior of quality, 1 where the model holds; below
    .7 too predictable, above 1.3 noisy. The grid of the
    integral is refined until a third of the narrowest posterior's standard deviation; ``change``
    is what doubling it would move. girth 0.8 and py-irt have no facets, and no errors over
    clusters.

    References
    ----------
    Linacre (1989), Many-facet Rasch measurement; Masters (1982), Psychometrika 47, 149-174;
    Wright & Masters (1982), Rating scale analysis.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> quality, judge = np.repeat(rng.normal(size=150), 3), np.tile([0, 1, 2], 150)
    >>> said = np.digitize(quality - 0.8 * (judge == 2) + rng.logistic(0, 0.6, 450), [-1, 0, 1])
    >>> out = many_facet(said, answer=np.repeat(np.arange(150), 3), facets={"judge": judge})
    >>> out["judge", "2"].severity.estimate > 0.5 > out["judge", "1"].severity.estimate
    True
    """
    ratings = rated(scores, answer, facets, system, inference["cluster"], where=WHERE)
    design, at = design_of(ratings)
    fit = marginal_fit(ratings, design, at, where=WHERE, runaway=RUNAWAY)
    return many_facet_result(
        ratings, design, at, fit, level=inference["level"], seed=inference["seed"]
    )
