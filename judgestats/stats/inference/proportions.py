"""A proportion with an interval that does not fail at 0 and 1."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from scipy import optimize, special

from judgestats.errors import InputError, one_of
from judgestats.stats.inference import distributions
from judgestats.stats.inference.result import Estimate, Interval, Note, Sample

ProportionInterval = Literal[
    "wilson", "clopper-pearson", "jeffreys", "agresti-coull", "wilson-cc", "mid-p", "wald"
]
_METHODS = (
    "wilson",
    "clopper-pearson",
    "jeffreys",
    "agresti-coull",
    "wilson-cc",
    "mid-p",
    "wald",
)


def proportion_limits(
    successes: float, n: float, *, level: float = 0.95, method: ProportionInterval = "wilson"
) -> tuple[float, float]:
    """Confidence limits of a binomial proportion.

    Parameters
    ----------
    successes, n : float
        Number of successes and of trials.
    level : float
    method : str
        See `proportion`.

    Returns
    -------
    low, high : float

    Raises
    ------
    InputError
        If the counts or the method cannot be used.

    Examples
    --------
    >>> [round(v, 4) for v in proportion_limits(20, 40)]
    [0.352, 0.648]
    """
    one_of("proportion_limits", "method", method, _METHODS)
    if not (n > 0 and 0 <= successes <= n):
        raise InputError(
            f"proportion_limits: 0 <= successes <= n and n > 0 are required, got {successes} of "
            f"{n}. Give counts."
        )
    alpha = 1 - level
    z = float(distributions.norm.isf(alpha / 2))
    p = successes / n
    x, rest = float(successes), float(n - successes)
    if method == "clopper-pearson":
        low = float(special.betaincinv(x, rest + 1, alpha / 2)) if x > 0 else 0.0
        high = float(special.betaincinv(x + 1, rest, 1 - alpha / 2)) if rest > 0 else 1.0
        return low, high
    if method == "jeffreys":
        low = float(special.betaincinv(x + 0.5, rest + 0.5, alpha / 2)) if x > 0 else 0.0
        high = float(special.betaincinv(x + 0.5, rest + 0.5, 1 - alpha / 2)) if rest > 0 else 1.0
        return low, high
    if method == "mid-p":
        return _mid_p(x, n, alpha)
    if method == "wald":
        half = z * math.sqrt(p * (1 - p) / n)
        return max(p - half, 0.0), min(p + half, 1.0)
    if method == "agresti-coull":
        grown = n + z**2
        centre = (x + z**2 / 2) / grown
        half = z * math.sqrt(centre * (1 - centre) / grown)
        return max(centre - half, 0.0), min(centre + half, 1.0)
    if method == "wilson-cc":
        low = 2 * x + z**2 - 1 - z * math.sqrt(z**2 - 2 - 1 / n + 4 * p * (n * (1 - p) + 1))
        high = 2 * x + z**2 + 1 + z * math.sqrt(z**2 + 2 - 1 / n + 4 * p * (n * (1 - p) - 1))
        scale = 2 * (n + z**2)
        return (max(low / scale, 0.0) if x > 0 else 0.0), (min(high / scale, 1.0) if rest else 1.0)
    centre = (x + z**2 / 2) / (n + z**2)
    half = z / (n + z**2) * math.sqrt(n * p * (1 - p) + z**2 / 4)
    return (max(centre - half, 0.0) if x > 0 else 0.0), (min(centre + half, 1.0) if rest else 1.0)


def _mid_p(x: float, n: float, alpha: float) -> tuple[float, float]:
    """Limits at which the mid-p tail is alpha / 2."""

    def upper_tail(p: float) -> float:
        return (
            float(distributions.binom.sf(x, n, p) + 0.5 * distributions.binom.pmf(x, n, p))
            - alpha / 2
        )

    def lower_tail(p: float) -> float:
        return (
            float(distributions.binom.cdf(x, n, p) - 0.5 * distributions.binom.pmf(x, n, p))
            - alpha / 2
        )

    low = 0.0 if x == 0 else float(optimize.brentq(upper_tail, 0.0, 1.0, xtol=1e-14))
    high = 1.0 if x == n else float(optimize.brentq(lower_tail, 0.0, 1.0, xtol=1e-14))
    return low, high


def proportion(
    successes: float,
    n: float,
    *,
    level: float = 0.95,
    method: ProportionInterval = "wilson",
    label: str = "proportion",
) -> Estimate:
    r"""A binomial proportion with its interval.

    Parameters
    ----------
    successes, n : float
        Number of successes and of independent trials. Trials that share a cluster are not
        independent: use the swap, agreement or bootstrap functions then.
    level : float
    method : str
        One of wilson, clopper-pearson, jeffreys, agresti-coull, wilson-cc, mid-p, wald.
        Wilson (default) is close to nominal on average; Clopper-Pearson is never liberal; Wald
        fails near 0 and 1 and is here to replicate published tables.
    label : str
        Readable name.

    Returns
    -------
    Estimate

    Raises
    ------
    InputError
        If the counts or the method cannot be used.

    Notes
    -----
    Same numbers as DescTools' ``BinomCI``.

    References
    ----------
    Wilson (1927), JASA 22, 209-212; Brown, Cai & DasGupta (2001), Statist. Sci. 16, 101-133.

    Examples
    --------
    >>> print(proportion(20, 40).short())
    .50 [.35, .65]
    """
    sample = Sample(n_items=int(n) if n == n else 0)  # noqa: PLR0124 (NaN)
    if n == 0:
        return Estimate(
            name="proportion",
            label=label,
            estimate=math.nan,
            sample=sample,
            reason="there are no trials",
        )
    low, high = proportion_limits(successes, n, level=level, method=method)
    notes: tuple[Note, ...] = ()
    if method == "wald" and successes in {0, n}:
        notes = (Note(code="degenerate", message="Wald's interval has no width at 0 or 1."),)
        low = high = math.nan
    return Estimate(
        name="proportion",
        label=label,
        estimator=f"{method} interval",
        estimate=float(np.float64(successes) / n),
        interval=Interval(low=low, high=high, level=level, method=method),
        sample=sample,
        notes=notes,
    )
