"""Severity of judges and prompts on one scale: many-facet rating models."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike

from judgestats.arrays import Floats
from judgestats.errors import InputError, one_of
from judgestats.stats.inference.keywords import Seeded, with_keywords
from judgestats.stats.instrument.facet_design import Ratings, design_of, rated
from judgestats.stats.instrument.facet_fit import Fitted, joint_fit, level_fit, level_probability
from judgestats.stats.instrument.facet_result import ManyFacet
from judgestats.stats.instrument.facet_terms import many_facet_result
from judgestats.stats.instrument.fitting import clustered_covariance
from judgestats.stats.instrument.latent_grid import Grid, fit_on_grid, integrated

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
