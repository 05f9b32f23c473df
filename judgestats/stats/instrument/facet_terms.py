"""From the parameters of a rating-scale model to severities, points, thresholds and ranks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import islice

import numpy as np
from scipy.special import ndtri

from judgestats.arrays import Floats
from judgestats.stats.inference.result import Estimate, Note, Sample
from judgestats.stats.instrument.facet_design import Facets, Ratings, contrast
from judgestats.stats.instrument.facet_fit import Fitted, level_probability
from judgestats.stats.instrument.facet_result import FacetLevel, ManyFacet
from judgestats.stats.instrument.fitting import cluster_df, wald_interval
from judgestats.stats.instrument.strengths import rank_intervals

FEW_CLUSTERS = 20
AT = np.arange(-3.0, 4.0)
NORMAL = ndtri((np.arange(41) + 0.5) / 41)
"""Quantiles of quality over which points are averaged."""


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
        self.few = n_clusters if n_clusters < FEW_CLUSTERS else 0

    def term(self, name: str, label: str, value: float, row: Floats) -> Estimate:
        se = math.sqrt(max(float(row @ self.fitted.covariance @ row), 0.0))
        interval = wald_interval(
            value, se, df=self.df, level=self.level, sandwich=self.fitted.sandwich
        )
        return Estimate(
            name=name, label=label, estimate=value, std_error=se, sample=self.sample,
            interval=interval, estimator=self.fitted.method,
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
    own_steps: bool, level: float, seed: int | None,
) -> ManyFacet:  # fmt: skip
    """All that the parameters say.

    Parameters
    ----------
    ratings : Ratings
    design : ndarray, shape (C, K, p)
    at : mapping of str to slice
        Blocks of p.
    fit : Fitted
    own_steps : bool
        Whether each level of the first facet has thresholds of its own.
    level : float
    seed : int or None

    Returns
    -------
    ManyFacet
    """
    terms = _Terms(ratings, design, at, fit, level=level)
    facets, separation = {}, {}
    for name, facet in ratings.facets.items():
        matrix = contrast(len(facet.levels))
        facets[name] = _levels(terms, name, name, facet, matrix)
        values = np.array([v.severity.estimate for v in facets[name]])
        errors = np.array([v.severity.std_error for v in facets[name]])
        varies = float(np.var(values, ddof=1))
        separation[name] = 1 - float(np.mean(errors**2)) / varies if varies > 0 else 0.0
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
    steps, notes = _steps(terms, own_steps=own_steps)
    return ManyFacet(
        facets=facets,
        systems=systems,
        system_ranks=ranks,
        thresholds=steps,
        levels=tuple(ratings.levels.tolist()),
        method=fit.method,
        mean=float(np.mean(fit.beta[at["mean"]])),
        sigma=math.exp(float(fit.beta[-1])),
        reliability=fit.reliability,
        separation=separation,
        information=_information(terms),
        quality=fit.quality,
        quality_sd=fit.quality_sd,
        answers=ratings.answers,
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


def _steps(terms: _Terms, *, own_steps: bool) -> tuple[tuple[Estimate, ...], list[Note]]:
    """Thresholds; of a partial-credit model those of each level, its severity included."""
    levels, fitted = terms.ratings.levels, terms.fitted
    k = levels.size
    if k == 2:
        return (), []
    name, first = next(iter(terms.ratings.facets.items()))
    whose = first.levels if own_steps else ("",)
    out, disordered = [], []
    for j, who in enumerate(whose):
        matrix = np.zeros((k - 1, terms.design.shape[2] + 1))
        start = terms.at["tau"].start + j * (k - 2)
        matrix[:, start : start + k - 2] = contrast(k - 1)
        value = matrix @ fitted.beta
        for i in range(k - 1):
            label = f"{levels[i]:g} | {levels[i + 1]:g}" + (f", {name} {who}" if who else "")
            out.append(terms.term("threshold", label, float(value[i]), matrix[i]))
        if np.any(np.diff(value) < 0):
            at = int(np.argmax(np.diff(value) < 0)) + 1
            disordered.append(f"{levels[at]:g}" + (f" ({name} {who})" if who else ""))
    notes = []
    if disordered:
        message = (
            f"Thresholds are not in order around {', '.join(disordered)}: that level is nowhere "
            "the likeliest. Merge it with a neighbour."
        )
        notes.append(Note(code="disordered", message=message))
    return tuple(out), notes


def _information(terms: _Terms) -> dict[str, tuple[float, ...]]:
    """Fisher information of one rating by each level of the first facet along quality."""
    beta = terms.fitted.beta[:-1].copy()
    beta[terms.at["mean"]] = 0.0
    steps = np.arange(terms.ratings.levels.size, dtype=float)
    p = level_probability(terms.design @ beta, AT)
    variance = np.einsum("ckq,k->cq", p, steps**2) - np.einsum("ckq,k->cq", p, steps) ** 2
    first = next(iter(terms.ratings.facets.values()))
    return {
        name: tuple(np.average(variance[at], axis=0, weights=terms.weight[at]).tolist())
        for name, at in ((n, first.of_cell == i) for i, n in enumerate(first.levels))
    }


def _notes(terms: _Terms) -> list[Note]:
    ratings, notes = terms.ratings, []
    if terms.few:
        message = f"Only {terms.few} clusters: intervals were studied from {FEW_CLUSTERS} on."
        notes.append(Note(code="few_clusters", message=message))
    gaps = np.diff(ratings.levels)
    if np.allclose(ratings.levels, np.round(ratings.levels)) and np.any(gaps > 1.5):
        between = (
            f"{level + step:g}"
            for level, gap in zip(ratings.levels[:-1], gaps, strict=True)
            for step in range(1, round(gap))
        )
        unused = list(islice(between, 6))
        shown = ", ".join(unused[:5]) + (" and more" if len(unused) > 5 else "")
        message = f"Nobody gave {shown}: the steps are those between the levels used."
        notes.append(Note(code="unused_levels", message=message))
    if ratings.extreme:
        message = (
            f"{ratings.extreme} of {len(ratings.answers)} answers lie at the floor or ceiling "
            "throughout: their quality rests on the assumption of normal qualities."
            if terms.fitted.sandwich == "CR1"
            else f"{ratings.extreme} answers at the floor or ceiling throughout have no finite "
            "quality and are left out."
        )
        notes.append(Note(code="extreme", message=message))
    if terms.fitted.sandwich != "CR1":
        message = (
            "Joint maximum likelihood spreads severities (by 1.61, 1.24, 1.11 for 3, 5, 10 "
            "judges), and its errors are the model's, not over clusters: report method='mml'."
        )
        notes.append(Note(code="joint", message=message))
    return notes
