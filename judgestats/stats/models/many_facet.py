"""Many-facet rating models: terms and severities."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import islice
from typing import Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from judgestats.arrays import Floats
from judgestats.errors import InputError, one_of
from judgestats.stats.inference.estimate import Estimate, Note, Sample
from judgestats.stats.inference.keywords import Seeded, with_keywords
from judgestats.stats.models.bradley_terry import rank_intervals
from judgestats.stats.models.facet_fit import (
    FacetLevel,
    Facets,
    Fitted,
    ManyFacet,
    Ratings,
    contrast,
    design_of,
    joint_fit,
    level_fit,
    level_probability,
    rated,
)
from judgestats.stats.models.ordinal import (
    Grid,
    cluster_df,
    clustered_covariance,
    fit_on_grid,
    integrated,
    wald_interval,
)

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


WHERE = "many_facet"
RUNAWAY = (
    "a severity or threshold is without bound: some level is given by one judge alone, or ratings "
    "do not overlap. Merge rare levels, or use thresholds='rating-scale'"
)


@with_keywords()
def many_facet(
    scores: ArrayLike,
    *,
    answer: ArrayLike,
    facets: Mapping[str, ArrayLike],
    system: ArrayLike | None = None,
    thresholds: Literal["rating-scale", "partial-credit"] = "rating-scale",
    method: Literal["mml", "jml"] = "mml",
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
    thresholds : {"rating-scale", "partial-credit"}
        One set of steps for all, or one for each level of the first facet.
    method : {"mml", "jml"}
        Marginal maximum likelihood, answers ~ normal; or joint maximum likelihood, which spreads
        severities by 1.61, 1.24, 1.11 for 3, 5, 10 judges and is there to compare.
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
    :math:`\log P(k) / P(k - 1) = \theta_i - \text{severity}_j - \text{prompt}_p - \tau_k`. Levels
    that nobody used have no step: the scale is that of the levels used. Errors: sandwich over
    clusters (CR1). Fit: squared residuals over their expectation, both averaged over the posterior
    of quality, 1 where the model holds; below .7 too predictable, above 1.3 noisy. The grid of the
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
    one_of(WHERE, "thresholds", thresholds, ("rating-scale", "partial-credit"))
    one_of(WHERE, "method", method, ("mml", "jml"))
    ratings = rated(scores, answer, facets, system, inference["cluster"], where=WHERE)
    own = thresholds == "partial-credit"
    if own:
        _refuse_unused(ratings)
    design, at = design_of(ratings, own_steps=own)
    if method == "jml" and system is not None:
        raise InputError(f"{WHERE}: systems are compared by method='mml' only.")
    fit = (
        joint_fit(ratings, design, at["mean"].stop, where=WHERE, runaway=RUNAWAY)
        if method == "jml"
        else _marginal_fit(ratings, design, at)
    )
    return many_facet_result(
        ratings, design, at, fit, own_steps=own, level=inference["level"], seed=inference["seed"]
    )


def _marginal_fit(ratings: Ratings, design: Floats, at: Mapping[str, slice]) -> Fitted:
    start = np.zeros(design.shape[2] + 1)
    fitted = fit_on_grid(rating_model(ratings, design), start, where=WHERE, runaway=RUNAWAY)
    beta = fitted.fit.beta
    nodes = math.exp(beta[-1]) * fitted.grid.x
    tables = level_fit(ratings, level_probability(design @ beta[:-1], nodes), fitted.posterior)
    # Quality of each answer: its system's mean, and the posterior of what is its own.
    mean = fitted.posterior @ nodes
    sd = np.sqrt(np.maximum(fitted.posterior @ nodes**2 - mean**2, 0.0))
    of = ratings.systems
    whose = np.asarray(ratings.cells_of.argmax(axis=1)).reshape(-1)
    group = np.zeros_like(whose) if of is None else of.of_cell[whose]
    quality = mean + beta[at["mean"]][group]
    varies = float(np.var(quality, ddof=1))
    return Fitted(
        beta=beta,
        covariance=clustered_covariance(fitted.fit, ratings.cluster),
        std_errors=np.sqrt(np.diag(fitted.fit.bread)),
        loglik=fitted.fit.loglik,
        tables=tables,
        quality=quality,
        quality_sd=sd,
        reliability=varies / (varies + float(np.mean(sd**2))),
        change=fitted.change,
        method="marginal maximum likelihood",
        sandwich="CR1",
    )


def rating_model(
    ratings: Ratings, design: Floats
) -> Callable[[Floats, Grid], tuple[float, Floats, Floats]]:
    """The marginal log-likelihood of a rating-scale design: parameters, then log sigma."""
    cells, k, p = design.shape
    flat = design.reshape(cells * k, p)
    steps = np.tile(np.arange(k, dtype=float), cells)
    # Many answers are rated alike, and what follows depends on their ratings alone.
    counts, alike = np.unique(ratings.counts.toarray(), axis=0, return_inverse=True)
    alike = alike.reshape(-1)
    observed, points = counts @ flat, counts @ steps
    times = np.repeat(counts.reshape(-1, cells, k).sum(axis=2), k, axis=1)

    def model(beta: Floats, grid: Grid) -> tuple[float, Floats, Floats]:
        sigma = math.exp(min(float(beta[-1]), 20.0))
        prob = level_probability(design @ beta[:-1], sigma * grid.x).reshape(cells * k, -1)
        logp = np.log(np.maximum(prob, 1e-300))
        marginal, posterior = integrated(counts @ logp, grid)
        expected = (posterior @ prob.T) * times
        spread = ((posterior * grid.x) @ prob.T) * times
        of_sigma = sigma * (points * (posterior @ grid.x) - spread @ steps)
        scores = np.column_stack([observed - expected @ flat, of_sigma])
        return float(marginal[alike].sum()), scores[alike], posterior[alike]

    return model


def _refuse_unused(ratings: Ratings) -> None:
    name, first = next(iter(ratings.facets.items()))
    k = ratings.levels.size
    cell = np.asarray(ratings.counts.sum(axis=0)).reshape(-1, k)
    for i, level in enumerate(first.levels):
        used = cell[first.of_cell == i].sum(axis=0) > 0
        if not used.all():
            gone = ratings.levels[~used][0]
            raise InputError(
                f"{WHERE}: {name} {level} never gives {gone:g}, so its thresholds there are not "
                "defined. Use thresholds='rating-scale', or merge levels."
            )
