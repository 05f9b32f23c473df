"""Mean scores as human raters would give them: regression, difference and PPI estimators."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from judgestats.arrays import Floats, Ints
from judgestats.stats.inference.result import Estimate, Interval, Note
from judgestats.stats.validity import inputs

_LABELS = {
    "people_only": "Human labels alone",
    "greg": "Corrected mean (regression)",
    "difference": "Corrected mean (difference)",
    "ppi": "PPI",
    "ppi++": "PPI++",
}
_MANY = 100
_SKEWED = 0.5
_NO_SPREAD = "fewer than two labels (or clusters with labels) show no variation"


def _estimate(
    items: inputs.LabelledItems,
    name: str,
    estimator: str,
    moments: tuple[float, float, float],
    level: float,
    *,
    of: str = "",
    **details: float | None,
) -> Estimate:
    """The estimate of a mean from its value, standard error, and degrees of freedom."""
    value, std_error, df = moments
    method = ("t over clusters, effective df" if items.clustered else "t") + of
    return inputs.t_estimate(
        value, std_error, df, name=name, label=_LABELS[name], estimator=estimator,
        sample=items.sample(), level=level, method=method, constant="the labels do not vary",
        details={**({"df": df} if std_error > 0 else {}), **details},
    )  # fmt: skip


def _undefined(items: inputs.LabelledItems, name: str, reason: str) -> Estimate:
    return Estimate(name=name, label=_LABELS[name], sample=items.sample(), reason=reason)


def _cluster_df(items: inputs.LabelledItems) -> float:
    """Effective degrees of freedom of the labelled clusters."""
    return max(inputs.effective_clusters(items.codes[items.labelled]) - 1.0, 1.0)


def _rest(codes: Ints) -> Floats:
    """Of each label, the share of the labels that its cluster does not hold (at least .05).

    Residuals are divided by it, as the jackknife does: a fit lies near the large clusters. Without
    it 10 questions of unequal size labelled whole cover .91, with it .95.

    Examples
    --------
    >>> _rest(np.array([0, 0, 0, 1])).tolist()
    [0.25, 0.25, 0.25, 0.75]
    """
    return np.maximum(1 - np.bincount(codes)[codes] / codes.size, 0.05)


def _too_few(items: inputs.LabelledItems, least: int) -> str:
    lab = items.labelled
    if items.n < least or np.unique(items.codes[lab]).size < 2:
        return _NO_SPREAD
    return ""


def people_mean(items: inputs.LabelledItems, *, level: float = 0.95) -> Estimate:
    """The mean of the labels alone, Student's t (over clusters with effective df)."""
    if reason := _too_few(items, 2):
        return _undefined(items, "people_only", reason)
    y = items.human[items.labelled]
    codes = items.codes[items.labelled]
    value = float(y.mean())
    se = math.sqrt(inputs.cluster_variance((y - value) / y.size, codes))
    df = _cluster_df(items) if items.clustered else y.size - 1.0
    return _estimate(items, "people_only", "mean of the labels", (value, se, df), level)


def greg_mean(items: inputs.LabelledItems, *, level: float = 0.95) -> Estimate:
    r"""The regression estimator: human mean, moved by what the judge says of all items.

    Parameters
    ----------
    items : LabelledItems
        Unparsed items must be left out before.
    level : float

    Returns
    -------
    Estimate
        ``details``: ``slope``, ``std_error_without_leverage`` (over clusters, of plain sums).

    Notes
    -----
    :math:`\bar y + b(\bar f_N - \bar f_n)`; variance
    :math:`s_e^2 (1/n + (\bar f_N - \bar f_n)^2 / S_{ff}) + b^2 s_f^2 / N`, Student's t with n - 2
    degrees of freedom; with fewer than 100 labels and skewed residuals joined with the limits that
    follow the skewness (Hall). Over clusters: sums of influence over all clusters, labelled or not,
    residuals divided by the share of the labels outside their cluster, with the effective number of
    labelled clusters minus 1 degrees of freedom.

    References
    ----------
    Saerndal, Swensson & Wretman (1992), Model Assisted Survey Sampling, chapter 6. Hall (1992),
    JRSS B 54, 221-228. Bell & McCaffrey (2002), Survey Methodology 28, 169-181.
    """
    if reason := _too_few(items, 3):
        return _undefined(items, "greg", reason)
    lab = items.labelled
    y, x, f = items.human[lab], items.judge[lab], items.judge
    n, big = y.size, f.size
    spread = float(np.sum((x - x.mean()) ** 2))
    if spread <= 1e-12 * max(1.0, float(np.max(np.abs(x)))) ** 2:
        return _undefined(items, "greg", "the judge says the same of every labelled item")
    slope = float(np.sum((x - x.mean()) * (y - y.mean()))) / spread
    shift = float(f.mean() - x.mean())
    value = float(y.mean()) + slope * shift
    residual = y - y.mean() - slope * (x - x.mean())
    of_items = slope**2 * float(np.var(f, ddof=1)) / big
    s2 = float(residual @ residual) / (n - 2)
    simple = math.sqrt(s2 / n + of_items)
    se = math.sqrt(s2 * (1 / n + shift**2 / spread) + of_items)
    df = n - 2.0
    skew = 0.0 if items.clustered or n >= _MANY else _skewness(residual)
    if items.clustered:

        def sums_error(of_labels: Floats) -> float:
            influence = slope * (f - f.mean()) / big
            influence[lab] += of_labels / n
            return math.sqrt(inputs.cluster_variance(influence, items.codes))

        simple, se = sums_error(residual), sums_error(residual / _rest(items.codes[lab]))
        df = _cluster_df(items)
    estimate = _estimate(
        items,
        "greg",
        "regression on the judge's scores",
        (value, se, df),
        level,
        slope=slope,
        std_error_without_leverage=simple,
    )
    return _joined_for_skew(estimate, skew, n, df, level) if abs(skew) >= _SKEWED else estimate


def _skewness(r: Floats) -> float:
    """Adjusted Fisher-Pearson skewness; 0 if nothing varies."""
    from scipy import stats

    return float(stats.skew(r, bias=False)) if np.ptp(r) > 0 else 0.0


def _joined_for_skew(estimate: Estimate, skew: float, n: int, df: float, level: float) -> Estimate:
    """The interval joined with Hall's (1992), whose limits follow the skewness.

    At 20 labels of exponential scores t alone covers .90 to .93, the joined interval .93 to .96.
    """
    if estimate.interval is None:
        return estimate
    a, t = skew / math.sqrt(n), inputs.critical_value(level, df)
    low, high = (
        estimate.estimate - estimate.std_error * 3 / a * (float(np.cbrt(1 + a * (x - a / 6))) - 1)
        for x in (t, -t)
    )
    t_limits = estimate.interval
    joined = Interval(
        low=min(low, t_limits.low), high=max(high, t_limits.high), level=level,
        method=f"{t_limits.method}, joined with Hall's limits (skewed, few labels)",
    )  # fmt: skip
    return estimate.replace(interval=joined)


def ppi_mean(
    items: inputs.LabelledItems,
    *,
    estimator: Literal["difference", "ppi", "ppi++"] = "ppi++",
    level: float = 0.95,
) -> Estimate:
    r"""Prediction-powered estimators of a mean.

    Parameters
    ----------
    items : LabelledItems
        Unparsed items must be left out before.
    estimator : {"difference", "ppi", "ppi++"}
        ``difference``: judge's mean over all N items plus the mean difference of the labelled.
        ``ppi``: the judge's mean over the unlabelled items instead. ``ppi++``: the same with the
        judge weighted by the best lambda, cut to 0-1.
    level : float

    Returns
    -------
    Estimate
        ``details``: ``lambda``.

    Notes
    -----
    :math:`\lambda \bar f_u + \overline{y - \lambda f}`; lambda is the covariance of label and
    judge (over n) divided by :math:`(1 + n/N_u)` times the judge's variance over all items.
    Variances are over n - 1 and t has n - 1 degrees of freedom; ppi-python's are over n, normal.

    References
    ----------
    Angelopoulos et al. (2023), Science 382, 669-674; Angelopoulos, Duchi & Zrnic (2023),
    arXiv 2311.01453.
    """
    if reason := _too_few(items, 2):
        return _undefined(items, estimator, reason)
    lab = items.labelled
    y, x = items.human[lab], items.judge[lab]
    rest = items.judge if estimator == "difference" else items.judge[~lab]
    n, big = y.size, rest.size
    if big < 2:
        return _undefined(items, estimator, "fewer than two items are without a label")
    lam = 1.0
    if estimator == "ppi++":
        spread = float(np.var(items.judge, ddof=1))
        covariance = float(np.mean((y - y.mean()) * (x - x.mean())))
        lam = min(max(covariance / ((1 + n / big) * spread), 0.0), 1.0) if spread > 0 else 0.0
    r = y - lam * x
    value = lam * float(rest.mean()) + float(r.mean())
    se = math.sqrt(float(np.var(r, ddof=1)) / n + lam**2 * float(np.var(rest, ddof=1)) / big)
    df = n - 1.0
    if items.clustered:
        influence = np.zeros(items.n_items)
        influence[lab] = (r - r.mean()) / n
        if estimator == "difference":
            influence += (items.judge - rest.mean()) / big
        else:
            influence[~lab] += lam * (rest - rest.mean()) / big
        se = math.sqrt(inputs.cluster_variance(influence, items.codes))
        df = _cluster_df(items)
    how, details = f"lambda = {lam:.4g}", {"lambda": lam}
    return _estimate(items, estimator, how, (value, se, df), level, of="", **details)


def stratified_mean(
    items: inputs.LabelledItems,
    shares: Floats,
    *,
    use_judge: bool = True,
    slope: float | None = None,
    level: float = 0.95,
) -> Estimate:
    r"""Mean over strata that were labelled separately.

    Parameters
    ----------
    items : LabelledItems
    shares : ndarray, shape (strata,)
        Share of each stratum.
    use_judge : bool
        False: people only.
    slope : float, optional
        Common slope on the judge's scores: 1 is the difference estimator; None estimates it.
    level : float

    Returns
    -------
    Estimate

    Notes
    -----
    :math:`\sum_h W_h (\bar y_h + b(\bar F_h - \bar f_h))`, variance
    :math:`\sum_h W_h^2 s_{e,h}^2 / n_h` (plus b^2 times the variance of the judge's stratified mean
    for the population), b the slope of least variance, Satterthwaite's degrees of freedom.
    """
    name = "people_only" if not use_judge else ("difference" if slope == 1 else "greg")
    lab = items.labelled
    parts = range(len(items.strata))
    if any(int(np.sum(lab & (items.stratum == h))) < 2 for h in parts):
        return _undefined(items, name, "a stratum has fewer than two labels")
    b = 0.0 if not use_judge else slope
    groups = [lab & (items.stratum == h) for h in parts]
    if b is None:
        top = bottom = 0.0
        for h, g in zip(parts, groups, strict=True):
            x, y, k = items.judge[g], items.human[g], float(g.sum())
            top += shares[h] ** 2 / k * float(np.sum((x - x.mean()) * (y - y.mean()))) / (k - 1)
            bottom += shares[h] ** 2 / k * float(np.var(x, ddof=1))
        if bottom <= 0:
            return _undefined(items, name, "the judge says the same of every labelled item")
        b = top / bottom
    value = of_items = 0.0
    terms, dfs = [], []
    influence = np.zeros(items.n_items)
    for h, g in zip(parts, groups, strict=True):
        everyone = items.stratum == h
        r = items.human[g] - b * items.judge[g]
        f = items.judge[everyone]
        value += shares[h] * (float(r.mean()) + b * float(f.mean()))
        terms.append(shares[h] ** 2 * float(np.var(r, ddof=1)) / r.size)
        dfs.append(r.size - 1.0)
        influence[g] += shares[h] * (r - r.mean()) / r.size / _rest(items.codes[g])
        if b and f.size > 1:
            of_items += shares[h] ** 2 * b**2 * float(np.var(f, ddof=1)) / f.size
            influence[everyone] += shares[h] * b * (f - f.mean()) / f.size
    v = np.array(terms)
    se = math.sqrt(float(v.sum()) + of_items)
    df = float(v.sum()) ** 2 / float(np.sum(v**2 / np.array(dfs))) if v.sum() > 0 else math.inf
    if items.clustered:
        se, df = math.sqrt(inputs.cluster_variance(influence, items.codes)), _cluster_df(items)
    how = "strata weighted by their shares"
    return _estimate(items, name, how, (value, se, df), level, of=", strata", slope=b)


def skew_notes(y: Floats) -> tuple[Note, ...]:
    """Few labels of a skewed score: Student's t covers less than it says."""
    from scipy import stats

    if not 3 <= y.size < 50 or np.ptp(y) == 0:
        return ()
    skew = float(stats.skew(y))
    message = (
        f"The labels are skewed ({skew:.1f}) and fewer than 50: the interval of the labels alone "
        "covers less than its level."
    )
    return Note.where(not abs(skew) < 1, "skewed", message)
