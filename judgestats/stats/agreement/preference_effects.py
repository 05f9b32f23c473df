"""Length and authorship: what moves a judge's preference when people's is held constant."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from judgestats.arrays import Floats, Ints
from judgestats.errors import InputError
from judgestats.stats.inference import distributions
from judgestats.stats.inference.adjust import Adjustment
from judgestats.stats.inference.cluster_jackknife import effective_clusters, t_of_clusters
from judgestats.stats.inference.keywords import Clustered, with_keywords
from judgestats.stats.inference.resampling import cluster_codes
from judgestats.stats.inference.result import Comparison, Comparisons, Interval, Sample
from judgestats.stats.spread.equivalence import EquivalenceResult
from judgestats.stats.spread.variance_ratio import with_adjusted

_NAMES = {
    "length": ("twice as long", "as long"),
    "own": ("its own answer", "another's answer"),
}


@dataclass(frozen=True, kw_only=True)
class SignedRegression:
    """Least squares without intercept, errors over clusters; NaN with a reason where undefined."""

    beta: Floats
    errors: Floats
    df: float
    n: int
    n_clusters: int
    reason: str = ""


def signed_regression(y: Floats, columns: Floats, codes: Ints) -> SignedRegression:
    """Regression of a signed outcome on signed covariates.

    Parameters
    ----------
    y : ndarray, shape (N,)
        Changes sign when the names of the two responses are exchanged, as every column does; hence
        no intercept.
    columns : ndarray, shape (N, p)
    codes : ndarray, shape (N,)
        Cluster of each row.

    Returns
    -------
    SignedRegression
        Sandwich errors over clusters with the factor G / (G - 1), G - 1 df.
    """
    width = columns.shape[1]
    _, compact = np.unique(codes, return_inverse=True)
    n_clusters = int(compact.max()) + 1 if compact.size else 0
    nothing = np.full(width, math.nan)
    if n_clusters < width + 1 or np.linalg.matrix_rank(columns) < width:
        return SignedRegression(
            beta=nothing, errors=nothing, df=math.nan, n=y.size, n_clusters=n_clusters,
            reason="too few questions, or what is compared does not vary",
        )  # fmt: skip
    bread = np.linalg.inv(columns.T @ columns)
    beta = bread @ columns.T @ y
    scores = np.zeros((n_clusters, width))
    np.add.at(scores, compact, columns * (y - columns @ beta)[:, None])
    factor = n_clusters / (n_clusters - 1)
    errors = np.sqrt(np.diag(bread @ (scores.T @ scores) @ bread) * factor)
    return SignedRegression(
        beta=beta,
        errors=errors,
        df=max(effective_clusters(np.bincount(compact)) - 1.0, 1.0),
        n=y.size,
        n_clusters=n_clusters,
    )


@with_keywords()
def preference_effects(
    preference: ArrayLike,
    human: ArrayLike,
    *,
    log_length_ratio: ArrayLike,
    own: ArrayLike | None = None,
    adjust: Adjustment = "holm",
    **inference: Unpack[Clustered],
) -> Mapping[str, Comparisons]:
    r"""What length, and being the judge's own answer, add to a judge's preference.

    Parameters
    ----------
    preference : array-like, shape (N,)
        Share of the judge's verdicts for response a (a tie counts half), by pair.
    human : array-like, shape (N,)
        The same for people.
    log_length_ratio : array-like, shape (N,)
        Natural logarithm of length a / length b.
    own : array-like, shape (N,), optional
        1 where a is by the judge's own model and b is not, -1 the other way round, else 0.
    cluster : array-like, shape (N,), optional
        The question of each pair.
    adjust : str

    Returns
    -------
    mapping of {"length", "own"} to Comparisons
        One row each: the change of the share where the response is twice as long, and where it is
        the judge's own. ``"own"`` only where `own` is given.

    Raises
    ------
    InputError
        If the shapes differ, or `own` holds something else than -1, 0 and 1.

    Notes
    -----
    Least squares of preference - 1/2 on human - 1/2, the log length ratio and `own`, *without
    intercept*: exchanging the names of a and b changes the sign of all of them. Each effect is
    held at equal length, authorship and preference of people. Sandwich errors over clusters, t with
    effective df (G - 1 for equal clusters). People's preference is measured with error (few labels
    a pair), so it is held constant incompletely: a judge that sees quality better than the labels
    seems to prefer what is good.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> ratio, human = rng.normal(size=300), rng.choice([0, 0.5, 1], size=300)
    >>> mine = rng.choice([-1, 0, 1], size=300)
    >>> judge = 0.5 + 0.6 * (human - 0.5) + 0.1 * ratio + 0.15 * mine + rng.normal(0, 0.1, 300)
    >>> found = preference_effects(judge, human, log_length_ratio=ratio, own=mine)
    >>> [round(found[k].rows[0].estimate, 2) for k in ("length", "own")]
    [0.07, 0.15]
    """
    where = "preference_effects"
    given = [preference, human, log_length_ratio, *([] if own is None else [own])]
    y, h, x, *rest = (np.asarray(v, dtype=float) for v in given)
    if y.ndim != 1 or any(v.shape != y.shape for v in (h, x, *rest)):
        raise InputError(
            f"{where}: give one number a pair for each variable, got shapes "
            f"{', '.join(str(v.shape) for v in (y, h, x, *rest))}."
        )
    if rest and not set(np.unique(rest[0])) <= {-1.0, 0.0, 1.0}:
        raise InputError(f"{where}: own must hold -1, 0 and 1, got {sorted(set(rest[0]))[:5]}.")
    used = ~np.isnan(np.column_stack([y, h, x, *rest])).any(axis=1)
    codes = cluster_codes(inference["cluster"], y.size, where=where)[used]
    # log_2 of the ratio: one unit is a response twice as long.
    columns = np.column_stack([h[used] - 0.5, x[used] / math.log(2), *(v[used] for v in rest)])
    fit = signed_regression(y[used] - 0.5, columns, codes)
    lost = int(np.sum(~used))
    sample = Sample(
        n_items=int(used.sum()),
        n_clusters=fit.n_clusters,
        excluded={"no verdict or label": lost},
    )
    out = {}
    for place, name in enumerate(("length", "own")[: columns.shape[1] - 1], start=1):
        row = _row(fit, place, *_NAMES[name], level=inference["level"])
        out[name] = Comparisons(
            name=f"{name}_effect",
            symbol="t",
            method="Least squares on the preference, people's preference held constant",
            adjust=adjust,
            family=f"effect of {name}",
            rows=with_adjusted([row], adjust),
            sample=sample,
            details={"human": float(fit.beta[0])},
        )
    return out


def _row(fit: SignedRegression, place: int, a: str, b: str, *, level: float) -> Comparison:
    value, error = float(fit.beta[place]), float(fit.errors[place])
    defined = error > 1e-12
    half = float(distributions.t.ppf((1 + level) / 2, fit.df)) * error if defined else math.nan
    return Comparison(
        a=a,
        b=b,
        estimate=value,
        estimate_name="change of the preference",
        statistic=value / error if defined else math.nan,
        df=fit.df,
        p_value=float(2 * distributions.t.sf(abs(value / error), fit.df)) if defined else math.nan,
        p_adjusted=math.nan,
        interval=Interval(
            low=value - half,
            high=value + half,
            level=level,
            method=f"sandwich over clusters, {t_of_clusters(fit.df)}",
        )
        if defined
        else None,
        n=fit.n,
        reason=fit.reason or ("" if defined else "the preferences leave no residual"),
    )


def equivalence_of_effects(
    effects: Comparisons, *, margin: float, alpha: float = 0.05, adjust: Adjustment = "holm"
) -> EquivalenceResult:
    r"""Are effects with t intervals shown to be smaller than a margin?

    Parameters
    ----------
    effects : Comparisons
        Differences with statistic, df and symmetric t interval, as of `preference_effects`.
    margin : float
        Declared before the data are seen.
    alpha : float
        Level of each one-sided test.
    adjust : str

    Returns
    -------
    EquivalenceResult

    Raises
    ------
    InputError
        If the margin is not positive.

    Notes
    -----
    Two one-sided t tests (Schuirmann, 1987) with the standard error behind the interval.

    Examples
    --------
    >>> from judgestats.stats.spread.mean_shift import mean_shift
    >>> Y = [[7.1, 7.2], [5.0, 5.1], [8.4, 8.2], [6.0, 6.1], [4.9, 4.9], [7.7, 7.8]]
    >>> out = equivalence_of_effects(mean_shift(Y, conditions=["plain", "anchored"]), margin=0.5)
    >>> round(out.rows[0].p_value, 5)  # as equivalence_of_means
    0.00011
    """
    if not margin > 0:
        raise InputError(f"equivalence_of_effects: margin must be positive, got {margin!r}.")
    rows = []
    for row in effects.rows:
        p = t = math.nan
        interval = None
        if row.interval is not None and not math.isnan(row.df):
            quantile = float(distributions.t.ppf((1 + row.interval.level) / 2, row.df))
            error = (row.interval.high - row.interval.low) / 2 / quantile
            t = min(row.estimate + margin, margin - row.estimate) / error
            p = float(distributions.t.sf(t, row.df))
            half = float(distributions.t.ppf(1 - alpha, row.df)) * error
            interval = Interval(
                low=row.estimate - half,
                high=row.estimate + half,
                level=1 - 2 * alpha,
                method=row.interval.method,
            )
        rows.append(
            Comparison(
                a=row.a, b=row.b, estimate=row.estimate, estimate_name=row.estimate_name,
                statistic=t, df=row.df, p_value=p, p_adjusted=math.nan, interval=interval,
                n=row.n, reason=row.reason,
            )
        )  # fmt: skip
    return EquivalenceResult(
        name="equivalence_of_effects",
        symbol="t",
        method="Two one-sided t tests of the effects",
        adjust=adjust,
        family=effects.family,
        rows=with_adjusted(rows, adjust),
        sample=effects.sample,
        margin=(-margin, margin),
        alpha=alpha,
        quantity=rows[0].estimate_name if rows else "",
    )
