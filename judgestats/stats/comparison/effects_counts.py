"""Effects of two proportions: odds ratio and Cohen's h."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from judgestats.errors import InputError
from judgestats.stats.inference import distributions
from judgestats.stats.inference.result import Estimate, Interval, Note, Sample

_MOST_COUNTED = 10**8
"""Sum of a table's counts, at most, of which the exact distribution is computed."""


def odds_ratio(
    table: ArrayLike,
    *,
    interval: Literal["exact", "woolf", "none"] = "exact",
    level: float = 0.95,
) -> Estimate:
    r"""Odds ratio of a 2 x 2 table of independent counts.

    Parameters
    ----------
    table : array-like, shape (2, 2)
        Rows: groups; columns: yes, no.
    interval : {"exact", "woolf", "none"}
        Exact conditional limits (as R's ``fisher.test``; scipy's agree), or Woolf's on the log
        scale (undefined with an empty cell).
    level : float

    Returns
    -------
    Estimate
        The sample odds ratio a d / (b c). ``details["conditional"]``: the conditional maximum
        likelihood estimate of ``fisher.test``; ``details["p_value"]``: Fisher's exact p.

    Raises
    ------
    InputError
        If the table is not 2 x 2 counts.

    Examples
    --------
    >>> e = odds_ratio([[30, 10], [20, 20]])
    >>> e.estimate, round(e.interval.low, 3), round(e.interval.high, 3)
    (3.0, 1.06, 8.705)
    """
    from scipy import stats

    where = "odds_ratio"
    counts = np.asarray(table, dtype=float)
    whole = counts.shape == (2, 2) and bool(np.all(np.isfinite(counts)) and np.all(counts >= 0))
    if not whole or np.any(counts != np.rint(counts)):
        raise InputError(
            f"{where}: table must be 2 x 2 counts, got shape {counts.shape}. Give groups in rows "
            "and yes / no in columns."
        )
    a, b, c, d = counts.ravel().tolist()
    if counts.sum() > _MOST_COUNTED:
        raise InputError(
            f"{where}: the table counts {counts.sum():.3g}; at most {_MOST_COUNTED:,} are counted "
            "exactly. Give counts, not scores."
        )
    sample = Sample(n_items=int(counts.sum()))
    reason = ""
    if 0 in {a + b, c + d, a + c, b + d}:
        reason = "a row or column of the table is empty"
    value = conditional = p = math.nan
    bounds_found: Interval | None = None
    notes: tuple[Note, ...] = ()
    if not reason:
        value = math.inf if b * c == 0 else a * d / (b * c)
        fit = stats.contingency.odds_ratio(counts.astype(np.int64), kind="conditional")
        conditional = float(fit.statistic)
        p = float(stats.fisher_exact(counts)[1])
        if interval == "exact":
            limits = fit.confidence_interval(confidence_level=level)
            bounds_found = Interval(
                low=float(limits.low), high=float(limits.high), level=level, method="exact"
            )
        elif interval == "woolf" and min(a, b, c, d) > 0:
            half = float(distributions.norm.isf((1 - level) / 2)) * math.sqrt(
                1 / a + 1 / b + 1 / c + 1 / d
            )
            bounds_found = Interval(
                low=value * math.exp(-half),
                high=value * math.exp(half),
                level=level,
                method="Woolf (log)",
            )
        elif interval == "woolf":
            notes = (Note(code="no_interval", message="No Woolf interval: a cell is empty."),)
    return Estimate(
        name=where,
        label="odds ratio",
        estimator="a d / (b c)",
        estimate=value,
        interval=bounds_found,
        sample=sample,
        notes=notes,
        reason=reason,
        details={"conditional": conditional, "p_value": p},
    )


def cohens_h(
    successes_a: float, n_a: float, successes_b: float, n_b: float, *, level: float = 0.95
) -> Estimate:
    r"""Cohen's h of two independent proportions.

    Parameters
    ----------
    successes_a, n_a, successes_b, n_b : float
        Successes and trials of both groups.
    level : float

    Returns
    -------
    Estimate

    Raises
    ------
    InputError
        If the counts cannot be used.

    Notes
    -----
    :math:`h = 2\arcsin\sqrt{p_a} - 2\arcsin\sqrt{p_b}`, standard error
    :math:`\sqrt{1/n_a + 1/n_b}`, as effectsize.

    References
    ----------
    Cohen (1988), ch. 6.

    Examples
    --------
    >>> print(cohens_h(30, 40, 20, 40).short())
    0.52 [0.09, 0.96]
    """
    for successes, n in ((successes_a, n_a), (successes_b, n_b)):
        if not (0 < n < math.inf and 0 <= successes <= n):
            raise InputError(
                f"cohens_h: 0 <= successes <= n and n > 0 are required, got {successes} of {n}. "
                "Give counts."
            )
    h = 2 * (math.asin(math.sqrt(successes_a / n_a)) - math.asin(math.sqrt(successes_b / n_b)))
    se = math.sqrt(1 / n_a + 1 / n_b)
    half = float(distributions.norm.isf((1 - level) / 2)) * se
    return Estimate(
        name="cohens_h",
        label="Cohen's h",
        estimator="difference of arcsine-transformed proportions",
        estimate=h,
        std_error=se,
        interval=Interval(
            low=max(h - half, -math.pi), high=min(h + half, math.pi), level=level, method="normal"
        ),
        sample=Sample(n_items=int(n_a + n_b)),
    )
