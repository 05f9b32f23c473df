"""Intraclass correlations in six forms, from scores and from cells."""

from __future__ import annotations

import math
from typing import Any, Literal, Unpack, get_args, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgestats.arrays import check_between
from judgestats.errors import InputError, one_of
from judgestats.stats.designs import score_matrix
from judgestats.stats.inference import distributions
from judgestats.stats.inference.keywords import NULL, Permuted, with_keywords
from judgestats.stats.inference.permutation import permutation_distribution, summarise_permutations
from judgestats.stats.inference.result import Estimate, Interval, Note
from judgestats.stats.reliability.mean_square_ratio import MeanSquareRatio, shuffled_mean_squares


@overload
def spearman_brown(reliability: float, *, k: float) -> float: ...
@overload
def spearman_brown(reliability: NDArray[np.float64], *, k: float) -> NDArray[np.float64]: ...
def spearman_brown(
    reliability: float | NDArray[np.float64], *, k: float
) -> float | NDArray[np.float64]:
    r"""Reliability of the mean of `k` judgments from the reliability of one.

    Parameters
    ----------
    reliability : float or ndarray
        Single-rating reliability (or that of a mean, when `k` is a ratio of lengths).
    k : float
        Number of judgments averaged; below 1 steps down.

    Returns
    -------
    float or ndarray
        :math:`k \rho / (1 + (k - 1) \rho)`; NaN where the denominator is 0.

    Raises
    ------
    InputError
        If `k` is not positive.

    Notes
    -----
    Holds for parallel judgments: equal true scores and error variances, as replications of one
    prompt have by design.

    References
    ----------
    Spearman (1910); Brown (1910), British Journal of Psychology 3.

    Examples
    --------
    >>> round(spearman_brown(0.5, k=4), 10), round(spearman_brown(0.8, k=0.25), 10)
    (0.8, 0.5)
    """
    if not k > 0:
        raise InputError(f"spearman_brown: k must be positive, got {k}.")
    if isinstance(reliability, np.ndarray):
        with np.errstate(divide="ignore", invalid="ignore"):
            stepped: NDArray[np.float64] = k * reliability / (1 + (k - 1) * reliability)
        return np.where(np.isfinite(stepped), stepped, np.nan)
    denominator = 1 + (k - 1) * reliability
    return k * reliability / denominator if denominator != 0 else math.nan


def exact_replications(reliability: float, *, target: float) -> float:
    r"""How many judgments' mean reaches a target reliability, not rounded.

    Parameters
    ----------
    reliability : float
        Single-judgment reliability.
    target : float
        Reliability wanted of the mean, in (0, 1).

    Returns
    -------
    float
        :math:`\rho^* (1 - \rho) / (\rho (1 - \rho^*))`, Spearman-Brown inverted. 0 where one
        judgment has reliability 1; NaN where it is 0 or less, because no number is enough.

    Raises
    ------
    InputError
        If `target` is not in (0, 1).

    Examples
    --------
    >>> round(exact_replications(0.5, target=0.8), 10), exact_replications(-0.1, target=0.8)
    (4.0, nan)
    """
    check_between("replications_needed", "target", target)
    if math.isnan(reliability) or reliability <= 0:
        return math.nan
    return target * (1 - reliability) / (reliability * (1 - target))


def replications_needed(single: float, *, target: float) -> float:
    """Smallest number of judgments whose mean reaches a reliability (Spearman-Brown).

    Parameters
    ----------
    single : float
        Single-judgment reliability.
    target : float
        Reliability wanted, in (0, 1).

    Returns
    -------
    float
        At least 1; NaN where `single` is not positive.

    Raises
    ------
    InputError
        If `target` is not inside (0, 1).

    Examples
    --------
    >>> replications_needed(0.5, target=0.8), replications_needed(-0.1, target=0.8)
    (4.0, nan)
    """
    exact = exact_replications(single, target=target)
    return exact if math.isnan(exact) else float(max(1, math.ceil(exact - 1e-9)))


FloatArray = NDArray[np.float64]
IccForm = Literal[
    "ICC(1,1)", "ICC(2,1)", "ICC(A,1)", "ICC(3,1)", "ICC(1,k)", "ICC(2,k)", "ICC(A,k)", "ICC(3,k)"
]
IccInterval = Literal["auto", "f", "none"]

FORMS: dict[str, tuple[str, str]] = {
    "ICC(1,1)": ("icc_1_1", "one-way random, one judgment"),
    "ICC(2,1)": ("icc_2_1", "two-way random, absolute agreement, one judgment"),
    "ICC(A,1)": ("icc_a_1", "two-way, absolute agreement of these judges, one judgment"),
    "ICC(3,1)": ("icc_3_1", "two-way mixed, consistency, one judgment"),
    "ICC(1,k)": ("icc_1_k", "one-way random, mean of k judgments"),
    "ICC(2,k)": ("icc_2_k", "two-way random, absolute agreement, mean of k judgments"),
    "ICC(A,k)": ("icc_a_k", "two-way, absolute agreement of these judges, mean of k judgments"),
    "ICC(3,k)": ("icc_3_k", "two-way mixed, consistency, mean of k judgments"),
}
"""Name -> (machine name, what it is): Shrout and Fleiss's, and McGraw and Wong's ICC(A,.)."""


def icc_value(form: str, ms: score_matrix.MeanSquares, repeats: float = 0.0) -> FloatArray:
    """The coefficient from mean squares (of one layout or a stack); NaN if nothing varies.

    Parameters
    ----------
    form : str
    ms : MeanSquares
        Of means of repeats, where `repeats` is given.
    repeats : float
        Of ICC(A,1), the variance of one repeat beyond that of such a mean.
    """
    b, c, e, w = (np.asarray(v) for v in (ms.items, ms.replications, ms.residual, ms.within))
    k, n = ms.k, ms.n
    with np.errstate(divide="ignore", invalid="ignore"):
        if form == "ICC(1,1)":
            value = (b - w) / (b + (k - 1) * w)
        elif form == "ICC(1,k)":
            value = (b - w) / b
        elif form in {"ICC(2,1)", "ICC(A,1)"}:
            value = (b - e) / (b + (k - 1) * e + k * (c - e) / n + k * repeats)
        elif form in {"ICC(2,k)", "ICC(A,k)"}:
            value = (b - e) / (b + (c - e) / n)
        elif form == "ICC(3,1)":
            value = (b - e) / (b + (k - 1) * e)
        else:
            value = (b - e) / b
    out: FloatArray = np.where(np.isfinite(value), value, np.nan)
    return out


def f_bounds(form: str, ms: score_matrix.MeanSquares, level: float) -> tuple[float, float]:
    """Bounds by the F distribution (Shrout and Fleiss, 1979, as ``psych::ICC``)."""
    tail = (1 - level) / 2
    b, c, e, w = (float(v) for v in (ms.items, ms.replications, ms.residual, ms.within))
    n, k = float(ms.n), float(ms.k)
    if form[4] in "2A":
        single = float(icc_value("ICC(2,1)", ms))
        ratio = c / e
        part = n * (1 + (k - 1) * single) - k * single
        df = (k - 1) * (n - 1) * (k * single * ratio + part) ** 2
        df /= (n - 1) * k**2 * single**2 * ratio**2 + part**2
        upper_f = float(distributions.f.ppf(1 - tail, n - 1, df))
        lower_f = float(distributions.f.ppf(1 - tail, df, n - 1))
        spread = k * c + (k * n - k - n) * e
        low = n * (b - upper_f * e) / (upper_f * spread + n * b)
        high = n * (lower_f * b - e) / (spread + n * lower_f * b)
        if form.endswith(",k)"):
            low, high = spearman_brown(low, k=k), spearman_brown(high, k=k)
        return low, high
    error, df = (w, float(ms.df_within)) if "(1," in form else (e, (n - 1) * (k - 1))
    observed = b / error
    low_f = observed / float(distributions.f.ppf(1 - tail, n - 1, df))
    high_f = observed * float(distributions.f.ppf(1 - tail, df, n - 1))
    if form.endswith(",k)"):
        return 1 - 1 / low_f, 1 - 1 / high_f
    return (low_f - 1) / (low_f + k - 1), (high_f - 1) / (high_f + k - 1)


def _f_test(form: str, ms: score_matrix.MeanSquares) -> dict[str, float]:
    """F test of "the coefficient is 0"."""
    one_way = "(1," in form
    error = float(ms.within if one_way else ms.residual)
    df2 = float(ms.df_within) if one_way else (float(ms.n) - 1) * (float(ms.k) - 1)
    f = float(ms.items) / error if error > 0 else math.inf
    df1 = float(ms.n) - 1
    return {"F": f, "df1": df1, "df2": df2, "p_value": float(distributions.f.sf(f, df1, df2))}


@with_keywords(permutations=NULL)
def icc(
    scores: ArrayLike,
    *,
    form: IccForm = "ICC(1,1)",
    interval: IccInterval = "auto",
    missing: Literal["refuse", "listwise"] = "refuse",
    n_jobs: int = 1,
    **inference: Unpack[Permuted],
) -> Estimate:
    r"""Intraclass correlation of replications, in one of Shrout and Fleiss's six forms or ICC(A,.).

    Parameters
    ----------
    scores : array-like, shape (n_items, n_replications)
        Scores in points; NaN where missing. Of ICC(A,1) also (n_items, n_judges, n_repeats).
    form : str
        ``ICC(1,1)``: replications are exchangeable draws (those of one prompt are). ``ICC(2,1)``:
        columns are a random sample of judges and their level matters. ``ICC(A,1)``: columns are
        these judges and their level matters. ``ICC(3,1)``: columns are these judges and their
        level does not matter. ``ICC(.,k)``: the mean of all columns.
    interval : {"auto", "f", "none"}
        ``auto``: the jackknife over items, or over clusters where items share them, of the ratio of
        mean squares (`MeanSquareRatio`). For ICC(2,.) it is joined with the chi-squared limits of
        the mean square of judges. At a nominal .05, F intervals, which assume equal variance of
        items, miss .12 to .20 of judges' reliabilities (docs/simulations/null.md). The bootstrap
        misses .06 to .14 for normal scores (scores.md).
    missing : {"refuse", "listwise"}
        ICC(1) handles unequal numbers of judgments as they are; the two-way forms need complete
        rows, and give NaN with the reason or drop items (counted).
    n_permutations : int
        Permutations of each replication's column over items for the null; 0 for none.
    n_jobs : int

    Returns
    -------
    Estimate
        Details hold the mean squares, k (n0 where unequal) and the F test of 0.

    Raises
    ------
    InputError
        If the scores are not a finite matrix or an option is unknown.

    Notes
    -----
    With mean squares between items B, columns C, residual E, within items W:
    ICC(1,1) = (B - W) / (B + (k-1) W), ICC(2,1) = (B - E) / (B + (k-1) E + k (C - E) / n),
    ICC(3,1) = (B - E) / (B + (k-1) E). Unequal numbers: k = n0 =
    (sum n_i - sum n_i^2 / sum n_i) / (N - 1); the F interval is then approximate. The interval of
    ICC(2,k) steps up the bounds of ICC(2,1), as ``psych::ICC``; ``irr::icc`` recomputes the degrees
    of freedom. ICC(3,k) is raw alpha.

    ICC(A,1) of repeats takes mean squares of the judges' means and adds k W to the denominator. W
    is the mean over cells of (1 - 1/R) times their variance. That is the agreement of one judgment.

    References
    ----------
    Shrout & Fleiss (1979), Psychological Bulletin 86. McGraw & Wong (1996), Psychological
    Methods 1. Donner (1986), International Statistical Review 54 (n0).

    Examples
    --------
    >>> x = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    >>> value = icc(x, form="ICC(2,1)", n_permutations=99)
    >>> round(value.estimate, 2), round(value.interval.low, 3), round(value.interval.high, 3)
    (0.29, 0.004, 0.828)
    """
    where = "icc"
    one_of(where, "form", form, FORMS)
    one_of(where, "interval", interval, get_args(IccInterval))
    one_of(where, "missing", missing, ("refuse", "listwise"))
    scores, repeats = _means_of_repeats(scores, form, where)
    one_way = "(1," in form
    policy: Literal["pairwise", "listwise", "refuse"] = (
        "pairwise" if one_way and missing == "refuse" else missing
    )
    prepared = score_matrix.prepare_scores(
        scores, where=where, cluster=inference["cluster"], missing=policy, min_replications=1
    )
    name, meaning = FORMS[form]
    common: dict[str, Any] = {
        "name": name,
        "label": form,
        "estimator": f"{meaning}, by ANOVA mean squares",
        "sample": prepared.sample,
    }
    x = prepared.x
    reason = prepared.reason
    if not reason and int((~np.isnan(x)).sum(axis=1).max()) < 2:
        reason = "2 replications of some item are needed, no item has more than 1"
    if reason:
        if not one_way and "missing judgment" in reason:
            lack = reason.split(";", maxsplit=1)[0]
            reason = f"{lack}; a two-way form needs complete rows: missing='listwise' or ICC(1,1)"
        return Estimate(reason=reason, **common)

    complete = prepared.complete
    ms = score_matrix.mean_squares(x) if complete else score_matrix.one_way_mean_squares(x)
    extra = np.zeros_like(x) if repeats is None else repeats
    more_error = float(extra.mean())
    value = float(icc_value(form, ms, more_error))
    if math.isnan(value):
        reason = "no score varies, so there is no variance to be reliable"
        if float(ms.within) > 0:
            reason = "item means do not vary, and the coefficient of their mean is -Inf"
        return Estimate(reason=reason, **common)

    notes = list(prepared.notes)
    bounds, more = _interval(form, prepared, ms, interval, inference["level"], extra)
    notes += more
    message = (
        "Every item got the same score from all its replications: reliability 1 says that one "
    )
    message += "draw was repeated, not that the judge is correct."
    notes += Note.where(float(ms.within) == 0, "no_within_item_variance", message)
    message = "The value is negative: judgments of an item differ more than items do."
    notes += Note.where(value < 0, "negative_reliability", message)
    null = None
    if inference["n_permutations"] > 0:
        seed = inference["seed"]
        draws: dict[str, Any] = {
            "n_permutations": inference["n_permutations"],
            "seed": seed,
            "n_jobs": n_jobs,
        }
        if complete:
            drawn = icc_value(form, shuffled_mean_squares(x, **draws), more_error)
            permuted = summarise_permutations(value, drawn, scheme="replications", seed=seed)
        else:
            permuted = permutation_distribution(
                x,
                lambda stack: icc_value(form, score_matrix.one_way_mean_squares(stack)),
                scheme="replications",
                vectorized=True,
                **draws,
            )
        null = permuted.null
        notes += permuted.notes
    details = {
        "k": float(ms.k),
        "ms_items": float(ms.items),
        "ms_replications": float(ms.replications),
        "ms_residual": float(ms.residual),
        "ms_within": float(ms.within),
        **_f_test(form, ms),
    }
    return Estimate(
        estimate=value, interval=bounds, null=null, notes=tuple(notes), details=details, **common
    )


def _means_of_repeats(
    scores: ArrayLike, form: str, where: str
) -> tuple[ArrayLike, FloatArray | None]:
    """The judges' means, and of complete items what one repeat varies beyond a mean."""
    given = np.asarray(scores)
    if given.ndim != 3:
        return scores, None
    if form != "ICC(A,1)":
        raise InputError(f"{where}: {form} takes items x judges. Average the repeats of each item.")
    x = np.asarray(given, dtype=float)
    n = (~np.isnan(x)).sum(axis=2)
    safe = np.maximum(n, 1)
    means = np.where(n > 0, np.nansum(x, axis=2) / safe, np.nan)
    squares = np.nansum((x - means[:, :, None]) ** 2, axis=2)
    extra = np.where(n > 1, (1 - 1 / safe) * squares / np.maximum(n - 1, 1), 0.0)
    return means, extra[~np.isnan(means).any(axis=1)]


def _interval(
    form: str,
    prepared: score_matrix.Prepared,
    ms: score_matrix.MeanSquares,
    interval: str,
    level: float,
    repeats: FloatArray,
) -> tuple[Interval | None, tuple[Note, ...]]:
    """The interval asked for, or the note that says why there is none."""
    one_way = "(1," in form
    if interval == "none":
        return None, ()
    if interval == "f":
        if float(ms.within if one_way else ms.residual) == 0:
            value = float(icc_value(form, ms))
            return None, Note.no_interval(f"{form} is {value:g}, as no error variance was observed")
        if float(ms.items) == 0:
            return None, Note.no_interval("item means do not vary")
        message = "The F interval treats items as independent, but they share clusters."
        notes = Note.where(prepared.clustered, "clusters_ignored", message)
        low, high = f_bounds(form, ms, level)
        message = f"Items have unequal numbers of judgments: F interval with n0 = {ms.k:.4g}."
        notes += Note.where(not prepared.complete, "approximate_interval", message)
        title = "F" if prepared.complete else "F with n0, approximate"
        return Interval(low=low, high=high, level=level, method=title), notes
    ratio = MeanSquareRatio.from_scores(prepared.x, prepared.cluster, residual=not one_way)
    if repeats.any():
        ratio = ratio.with_repeats(repeats, prepared.cluster)
    return ratio.form_interval(form, level)
