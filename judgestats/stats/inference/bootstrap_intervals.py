"""From a bootstrap distribution to an interval: percentiles, BCa, and the scales they live on."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import numpy as np

from judgestats.arrays import Floats
from judgestats.errors import one_of
from judgestats.stats.inference import distributions
from judgestats.stats.inference.result import Interval, Note

Method = Literal["bca", "percentile", "basic", "normal"]
Transform = Literal["identity", "logit", "log", "fisher", "log_complement"]


_FORWARD: dict[str, Callable[[Floats], Floats]] = {
    "identity": lambda x: x,
    "logit": lambda x: np.log(x) - np.log1p(-x),
    "log": np.log,
    "fisher": np.arctanh,
    "log_complement": lambda x: -np.log1p(-x),
}
_BACKWARD: dict[str, Callable[[Floats], Floats]] = {
    "identity": lambda x: x,
    "logit": lambda x: 1.0 / (1.0 + np.exp(-x)),
    "log": np.exp,
    "fisher": np.tanh,
    "log_complement": lambda x: -np.expm1(-x),
}


def undefined_interval(
    *, level: float, method: str, n: int | None = None, seed: int | None = None
) -> Interval:
    """An interval without bounds: a note beside it says why."""
    return Interval(
        low=math.nan, high=math.nan, level=level, method=method, n_resamples=n, seed=seed
    )


def _bca_levels(
    column: Floats, estimate: float, jackknife: Floats, level: float
) -> tuple[float, float] | None:
    """The two percentile levels of the bias-corrected, accelerated interval (Efron, 1987)."""
    # Resamples that give the estimate again differ from it in the last bits, by the machine.
    equal = np.isclose(column, estimate, rtol=1e-12, atol=1e-12)
    below = np.mean((column < estimate) & ~equal) + 0.5 * np.mean(equal)
    z0 = distributions.norm.ppf(below)
    if not np.isfinite(jackknife).all():
        return None
    centred = np.mean(jackknife) - jackknife
    spread = np.sum(centred**2)
    if not np.isfinite(z0) or not np.isfinite(spread) or spread == 0.0:
        return None
    acceleration = np.sum(centred**3) / (6.0 * spread**1.5)
    z = distributions.norm.ppf(np.array([(1 - level) / 2, (1 + level) / 2]))
    shrink = 1.0 - acceleration * (z0 + z)
    if np.any(shrink <= 0):
        return None
    low, high = distributions.norm.cdf(z0 + (z0 + z) / shrink)
    return float(low), float(high)


def distribution_interval(
    column: Floats,
    estimate: float,
    jackknife: Floats | None,
    *,
    level: float,
    method: Method,
    transform: Transform,
    seed: int | None,
    label: str,
) -> tuple[Interval, list[Note]]:
    """The interval of one quantity from its resamples (NaN = undefined resample)."""
    n = column.size
    notes: list[Note] = []
    nothing = undefined_interval(level=level, method=f"cluster bootstrap, {method}", n=n, seed=seed)
    defined = column[np.isfinite(column)]
    if not math.isfinite(estimate):
        notes.append(Note(code="undefined_estimate", message=f"No interval: {label} is undefined."))
        return nothing, notes
    if defined.size < max(2, n / 2):
        message = f"No interval: {label} is undefined in {n - defined.size} of {n} resamples."
        notes.append(Note(code="mostly_undefined_resamples", message=message))
        return nothing, notes
    if np.ptp(defined) <= 1e-12 * max(1.0, abs(estimate)):
        message = (
            f"No interval: {label} is {defined[0]:g} in every resample, so resampling cannot show "
            "how uncertain it is."
        )
        notes.append(Note(code="constant_distribution", message=message))
        return nothing, notes

    forward, backward = _FORWARD[transform], _BACKWARD[transform]
    tails = ((1 - level) / 2, (1 + level) / 2)
    scale = "" if transform == "identity" else f" on the {transform} scale"
    name = f"cluster bootstrap, {method}{scale}"
    if method in {"basic", "normal"}:
        with np.errstate(divide="ignore", invalid="ignore"):
            moved, centre = forward(defined), float(forward(np.array([estimate]))[0])
        outside = int(np.sum(~np.isfinite(moved)))
        if not math.isfinite(centre) or outside > defined.size / 2:
            message = f"No interval: {label} lies outside the {transform} scale."
            notes.append(Note(code="outside_transform", message=message))
            return nothing, notes
        if outside:
            message = f"{outside} resamples of {label} lie outside the {transform} scale."
            notes.append(Note(code="outside_transform", message=message))
        moved = moved[np.isfinite(moved)]
        if method == "basic":
            ends = 2 * centre - np.quantile(moved, tails)[::-1]
        else:
            z = distributions.norm.ppf(np.array(tails))
            ends = centre + z * np.std(moved, ddof=1)
        low, high = backward(np.asarray(ends, dtype=float))
    else:
        levels = tails
        if method == "bca":
            with np.errstate(divide="ignore", invalid="ignore"):
                shifted = forward(jackknife) if jackknife is not None else np.array([np.nan])
            corrected = _bca_levels(defined, estimate, shifted, level)
            if corrected is not None:
                levels = corrected
            else:
                message = (
                    f"The BCa correction of {label} is undefined (all resamples on one side, or a "
                    "constant or undefined jackknife): the percentile interval is given instead."
                )
                notes.append(Note(code="bca_undefined", message=message))
                name = f"cluster bootstrap, percentile{scale}"
        low, high = np.quantile(defined, levels)
    interval = Interval(
        low=float(low), high=float(high), level=level, method=name, n_resamples=n, seed=seed
    )
    return interval, notes


def on_scale(
    transform: str, *, where: str
) -> tuple[Callable[[Floats], Floats], Callable[[Floats], Floats]]:
    """A named transform and its inverse.

    Examples
    --------
    >>> import numpy as np
    >>> there, back = on_scale("fisher", where="f")
    >>> back(there(np.array([0.5]))).round(6)
    array([0.5])
    """
    one_of(where, "transform", transform, _FORWARD)
    return _FORWARD[transform], _BACKWARD[transform]
