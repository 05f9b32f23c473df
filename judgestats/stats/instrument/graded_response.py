"""How sharp each judge is, and where along quality: the graded response model."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.sparse import csr_matrix
from scipy.special import expit

from judgestats.arrays import Floats, Ints
from judgestats.errors import InputError
from judgestats.stats.inference.keywords import Clustered, with_keywords
from judgestats.stats.inference.resampling import cluster_codes
from judgestats.stats.inference.result import Estimate, Note, Result, Sample
from judgestats.stats.instrument.fitting import cluster_df, clustered_covariance, wald_interval
from judgestats.stats.instrument.latent_cumulative import Columns, cumulative_model
from judgestats.stats.instrument.latent_grid import fit_on_grid, grid_of
from judgestats.stats.instrument.ordinal import coded_levels
from judgestats.stats.validity.inputs import score_values

WHERE = "graded_response"
LEAST_JUDGES = 3
LEAST_ANSWERS = 200
COPY = 5.0
"""Discrimination from which a judge says little else than the signal all share."""
AT = np.arange(-3.0, 4.0)
RUNAWAY = (
    "a discrimination or threshold is without bound: a judge follows the others without exception, "
    "or gives some level too seldom. Merge rare levels, or use many_facet"
)


@dataclass(frozen=True, kw_only=True)
class GradedResponse(Result):
    """A fitted graded response model.

    Attributes
    ----------
    judges : tuple of str
    discriminations : tuple of Estimate
        One a judge.
    thresholds : mapping of str to tuple of Estimate
        By judge; NaN with a reason for a level that it never gives.
    information : mapping of str to tuple of float
        Of one score by each judge, at quality -3, -2, ..., 3.
    reliability : mapping of str to float
        ``empirical``, var(EAP) / (var(EAP) + mean posterior variance); ``posterior``, 1 - mean
        posterior variance; ``information``, the mean of I / (I + 1).
    quality, quality_sd : ndarray, shape (n_answers,)
        Posterior mean and standard deviation, quality being standard normal.
    std_errors_model : mapping of str to list of float
        Of the discriminations and each judge's thresholds by inverse information.
    loglik, change : float
        ``change`` is the largest change of a parameter when the grid is doubled.
    """

    judges: tuple[str, ...]
    discriminations: tuple[Estimate, ...]
    thresholds: Mapping[str, tuple[Estimate, ...]]
    information: Mapping[str, tuple[float, ...]]
    reliability: Mapping[str, float]
    quality: Floats
    quality_sd: Floats
    std_errors_model: Mapping[str, list[float]]
    loglik: float
    change: float
    sample: Sample
    notes: tuple[Note, ...] = ()

    def tidy(self) -> pd.DataFrame:
        """One row a discrimination, then one a threshold."""
        rows = [
            {"judge": j, **t.row()} for j, t in zip(self.judges, self.discriminations, strict=True)
        ]
        rows += [
            {"judge": j, **t.row(), "level": t.label}
            for j in self.judges
            for t in self.thresholds[j]
        ]
        return pd.DataFrame(rows)

    def glance(self) -> pd.DataFrame:
        """One row: the fit as a whole."""
        return pd.DataFrame(
            [
                {
                    "term": WHERE,
                    "loglik": self.loglik,
                    "grid_change": self.change,
                    "n": self.sample.n_items,
                    **{f"reliability_{k}": v for k, v in self.reliability.items()},
                }
            ]
        )

    def apa(self, *, digits: int = 2) -> str:
        """Every discrimination with its interval: see `Result.apa`."""
        discrimination = zip(self.judges, self.discriminations, strict=True)
        return "; ".join(f"{j}: {t.apa(digits=digits)}" for j, t in discrimination)

    def sentence(self) -> str:
        """The sharpest and the dullest judge."""
        sharp = max(self.discriminations, key=lambda t: t.estimate)
        dull = min(self.discriminations, key=lambda t: t.estimate)
        return (
            f"{sharp.label} is largest ({sharp.short()}), {dull.label} smallest ({dull.short()}); "
            f"reliability of quality {self.reliability['empirical']:.2f} ({self.sample})."
        )

    def __str__(self) -> str:
        lines = ["", "\tGraded response model", ""]
        for j, t in zip(self.judges, self.discriminations, strict=True):
            steps = ", ".join(f"{b.estimate:.2f}" for b in self.thresholds[j])
            lines.append(f"{j}: a = {t.short()}; b = {steps}")
        lines.append(f"data: {self.sample}")
        return "\n".join([*lines, *(f"warning: {n.message}" for n in self.notes), ""])


@with_keywords()
def graded_response(
    scores: ArrayLike, *, names: Sequence[str] | None = None, **inference: Unpack[Clustered]
) -> GradedResponse:
    r"""How sharply each judge's scores follow the quality that all judges see, and where.

    Parameters
    ----------
    scores : array-like, shape (n_answers, judges)
        NaN where unread.
    names : sequence of str, optional
        Of the judges.
    cluster : array-like, shape (n_answers,), optional
        The question of each answer.

    Returns
    -------
    GradedResponse

    Raises
    ------
    InputError
        If there are fewer than 3 judges or 200 answers, or a parameter is without bound.

    Notes
    -----
    :math:`P(X_j \ge k) = \mathrm{logistic}(a_j(\theta - b_{jk}))`, :math:`\theta \sim N(0, 1)`, by
    marginal maximum likelihood. Three judges are just identified: nothing is left to test the fit,
    and in some samples of 300 answers a discrimination has no bound (refused).
    A discrimination of 5 or more says that a judge is nearly a copy of what all share, shared
    errors included; it is not validity. Repeats of one judge in place of judges measure its
    repeatability. girth 0.8 takes the thresholds from the marginals and bounds a to [.2, 5]: it
    stops .05 from the maximum.

    References
    ----------
    Samejima (1969), Psychometrika Monograph 17.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> quality = rng.normal(size=(300, 1))
    >>> noise = rng.logistic(size=(300, 4)) * [0.5, 0.5, 0.5, 2]
    >>> out = graded_response(np.digitize(quality + noise, [-1, 0, 1]), names=[*"abc", "dull"])
    >>> min(out.discriminations, key=lambda t: t.estimate).label
    'Discrimination of dull'
    """
    x = score_values(scores, where=WHERE, name="scores")
    if x.ndim != 2 or x.shape[1] < LEAST_JUDGES or x.shape[0] < LEAST_ANSWERS:
        raise InputError(
            f"{WHERE}: at least {LEAST_JUDGES} judges and {LEAST_ANSWERS} answers are needed, got "
            f"shape {x.shape}. Use many_facet, which asks for less."
        )
    judges = tuple(names) if names is not None else tuple(f"j{i + 1}" for i in range(x.shape[1]))
    if len(judges) != x.shape[1]:
        raise InputError(f"{WHERE}: {len(judges)} names for {x.shape[1]} judges. Name each.")
    codes = cluster_codes(inference["cluster"], x.shape[0], where=WHERE)
    kept = (~np.isnan(x)).any(axis=1)
    x, codes = x[kept], codes[kept]
    every = coded_levels(x, where=WHERE)[0]
    own = [coded_levels(x[:, j], where=f"{WHERE}: {name}") for j, name in enumerate(judges)]
    columns, start = _columns(own, x.shape[0])
    fitted = fit_on_grid(cumulative_model(columns), start, where=WHERE, runaway=RUNAWAY)
    lost = int(np.isnan(x).sum())
    sample = Sample(
        n_items=x.shape[0],
        n_clusters=int(np.unique(codes).size) if inference["cluster"] is not None else None,
        n_replications=x.shape[1],
        repeated="judge",
        excluded={"not read": lost},
    )
    covariance = clustered_covariance(fitted.fit, codes)
    df, level = cluster_df(codes), inference["level"]
    beta, n_judges = fitted.fit.beta, len(judges)

    def term(name: str, label: str, value: float, se: float) -> Estimate:
        interval = wald_interval(value, se, df=df, level=level, sandwich="CR1")
        return Estimate(name=name, label=label, estimate=value, std_error=se, sample=sample,
                        interval=interval, estimator="graded response, marginal ML")  # fmt: skip

    a = beta[:n_judges]
    errors, model = np.sqrt(np.diag(covariance)), np.sqrt(np.diag(fitted.fit.bread))
    discriminations = tuple(
        term("discrimination", f"Discrimination of {name}", float(a[j]), float(errors[j]))
        for j, name in enumerate(judges)
    )
    thresholds: dict[str, tuple[Estimate, ...]] = {}
    by_model: dict[str, list[float]] = {"discrimination": model[:n_judges].tolist()}
    at = n_judges
    for j, name in enumerate(judges):
        levels = own[j][0]
        steps: dict[float, Estimate] = {}
        by_model[name] = []
        for i in range(levels.size - 1):
            row = np.zeros(beta.size)
            row[at + i], row[j] = 1 / a[j], -beta[at + i] / a[j] ** 2
            label = f"{name}: {levels[i]:g} | {levels[i + 1]:g}"
            se = math.sqrt(float(row @ covariance @ row))
            steps[float(levels[i + 1])] = term("threshold", label, float(beta[at + i] / a[j]), se)
            by_model[name].append(math.sqrt(float(row @ fitted.fit.bread @ row)))
        thresholds[name] = tuple(steps.get(v, _never(name, v, sample)) for v in every[1:].tolist())
        at += levels.size - 1
    mean = fitted.posterior @ fitted.grid.x
    sd = np.sqrt(fitted.posterior @ fitted.grid.x**2 - mean**2)
    cuts = [
        np.array([t.estimate for t in thresholds[n] if not math.isnan(t.estimate)]) for n in judges
    ]
    wide = grid_of(241)
    whole = sum(_information(a[j], cuts[j], wide.x) for j in range(n_judges))
    varies = float(np.var(mean, ddof=1))
    notes = [_copy(t) for t in discriminations if t.estimate >= COPY]
    if n_judges == LEAST_JUDGES:
        message = "Three judges are just identified: the fit of the model cannot be tested."
        notes.append(Note(code="just_identified", message=message))
    return GradedResponse(
        judges=judges,
        discriminations=discriminations,
        thresholds=thresholds,
        information={
            name: tuple(_information(a[j], cuts[j], AT).tolist()) for j, name in enumerate(judges)
        },
        reliability={
            "empirical": varies / (varies + float(np.mean(sd**2))),
            "posterior": 1 - float(np.mean(sd**2)),
            "information": float(np.sum(np.exp(wide.log_weight) * whole / (whole + 1))),
        },
        quality=mean,
        quality_sd=sd,
        std_errors_model=by_model,
        loglik=fitted.fit.loglik,
        change=fitted.change,
        sample=sample,
        notes=tuple(notes),
    )


def _columns(own: Sequence[tuple[Floats, Ints]], n: int) -> tuple[Columns, Floats]:
    """One column a judge and level; parameters are discriminations, then a * b by judge."""
    judges = len(own)
    p = judges + sum(levels.size - 1 for levels, _ in own)
    above, below, loading, top, bottom, start = [], [], [], [], [], [np.full(judges, 1.2)]
    rows, columns, at, first = [], [], judges, 0
    for j, (levels, coded) in enumerate(own):
        k = levels.size
        eye = np.zeros((k + 1, p))
        eye[np.arange(1, k), at + np.arange(k - 1)] = 1.0
        above.append(eye[1:])
        below.append(eye[:-1])
        load = np.zeros((k, p))
        load[:, j] = 1.0
        loading.append(load)
        top.append(np.arange(k) == k - 1)
        bottom.append(np.arange(k) == 0)
        read = np.flatnonzero(coded >= 0)
        share = np.cumsum(np.bincount(coded[read], minlength=k))[:-1] / read.size
        start.append(1.2 * np.log(share / (1 - share)))
        rows.append(read)
        columns.append(first + coded[read])
        at, first = at + k - 1, first + k
    row, column = np.concatenate(rows), np.concatenate(columns)
    counts = csr_matrix((np.ones(row.size), (row, column)), shape=(n, first))
    return Columns(
        counts=counts, above=np.vstack(above), below=np.vstack(below), loading=np.vstack(loading),
        top=np.concatenate(top), bottom=np.concatenate(bottom),
    ), np.concatenate(start)  # fmt: skip


def _information(a: float, cuts: Floats, at: Floats) -> Floats:
    """Fisher information of one score along quality."""
    upper = expit(a * (at - cuts[:, None]))
    cumulative = np.vstack([np.ones_like(at), upper, np.zeros_like(at)])
    slope = a * cumulative * (1 - cumulative)
    p = np.maximum(cumulative[:-1] - cumulative[1:], 1e-300)
    return np.asarray(np.sum((slope[:-1] - slope[1:]) ** 2 / p, axis=0))


def _never(judge: str, level: float, sample: Sample) -> Estimate:
    return Estimate(
        name="threshold", label=f"{judge}: {level:g}", estimate=math.nan, sample=sample,
        reason=f"{judge} never gives {level:g}, or nothing below it",
    )  # fmt: skip


def _copy(term: Estimate) -> Note:
    message = (
        f"{term.label} is {term.estimate:.1f}: nearly a copy of what all judges share, their "
        "shared errors included; it is not validity."
    )
    return Note(code="shared_signal", message=message)
