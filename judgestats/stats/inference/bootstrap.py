"""Cluster bootstrap: resampling plans, interval scales, and percentile and BCa intervals."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Unpack, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from judgestats.arrays import Floats, Ints, too_large
from judgestats.engine import WORTH_THREADS, map_blocks
from judgestats.errors import InputError, one_of
from judgestats.results.numbers import count_noun
from judgestats.results.records import NOT_ESTIMABLE
from judgestats.stats.inference import distributions
from judgestats.stats.inference.keywords import Resampled, one_blas_thread, with_keywords
from judgestats.stats.inference.result import Interval, Note

Method = Literal["bca", "percentile", "normal"]
Transform = Literal["identity", "logit", "log", "fisher", "log_complement"]
Scale = Transform | Literal["log_ratio"]


def undefined_interval(
    *, level: float, method: str, n: int | None = None, seed: int | None = None
) -> Interval:
    """An interval without bounds, whose reason is given in a note."""
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

    def lost(code: str, message: str) -> tuple[Interval, list[Note]]:
        name = f"cluster bootstrap, {method}"
        nothing = undefined_interval(level=level, method=name, n=n, seed=seed)
        return nothing, [Note(code=code, message=message)]

    defined = column[np.isfinite(column)]
    if not math.isfinite(estimate):
        return lost("undefined_estimate", f"No interval: {label} is undefined.")
    if defined.size < max(2, n / 2):
        message = f"No interval: {label} is undefined in {n - defined.size} of {n} resamples."
        return lost("mostly_undefined_resamples", message)
    if np.ptp(defined) <= 1e-12 * max(1.0, abs(estimate)):
        message = f"No interval: {label} is {defined[0]:g} in every resample."
        return lost("constant_distribution", message)

    tails = ((1 - level) / 2, (1 + level) / 2)
    scale = "" if transform == "identity" else f" on the {transform} scale"
    name = f"cluster bootstrap, {method}{scale}"
    if method == "normal":
        moved, centre = forward(defined, transform), float(forward(estimate, transform))
        outside = int(np.sum(~np.isfinite(moved)))
        if not math.isfinite(centre) or outside > defined.size / 2:
            message = f"No interval: {label} is outside the {transform} scale."
            return lost("outside_transform", message)
        if outside:
            message = f"{outside} resamples of {label} are outside the {transform} scale."
            notes.append(Note(code="outside_transform", message=message))
        moved = moved[np.isfinite(moved)]
        z = distributions.norm.ppf(np.array(tails))
        ends = centre + z * np.std(moved, ddof=1)
        low, high = backward(ends, transform)
    else:
        levels: tuple[float, float] | None = tails
        if method == "bca":
            shifted = forward(np.nan if jackknife is None else jackknife, transform)
            levels = _bca_levels(defined, estimate, shifted, level)
        if levels is None:
            message = f"The BCa correction of {label} is undefined: the interval is percentile."
            notes.append(Note(code="bca_undefined", message=message))
            name = f"cluster bootstrap, percentile{scale}"
        low, high = np.quantile(defined, levels or tails)
    interval = Interval(
        low=float(low), high=float(high), level=level, method=name, n_resamples=n, seed=seed
    )
    return interval, notes


CHUNK = 250
"""Resamples drawn from one child seed: fixed, so that the number of workers changes nothing."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class BootstrapResult:
    """What `cluster_bootstrap` returns.

    Attributes
    ----------
    estimates : ndarray, shape (q,)
        The statistic on the data as given (q = 1 for a statistic that returns a number).
    intervals : tuple of Interval
        One for each quantity; bounds are NaN where none is defined (`notes` say why).
    distribution : ndarray, shape (n_resamples,) or (n_resamples, q)
        The statistic on every resample, NaN where undefined. Rows are joint: quantities of one
        row come from the same resample.
    std_errors : ndarray, shape (q,)
        Standard deviation of the defined resamples.
    n_clusters : int
        Number of clusters resampled.
    n_failed : int
        Resamples in which at least one quantity is undefined.
    notes : tuple of Note
        Warnings as data.
    """

    estimates: Floats
    intervals: tuple[Interval, ...]
    distribution: Floats
    std_errors: Floats
    n_clusters: int
    n_failed: int
    notes: tuple[Note, ...] = ()

    @property
    def estimate(self) -> float:
        """The first (often the only) quantity on the data as given."""
        return float(self.estimates[0])

    @property
    def interval(self) -> Interval:
        """The interval of the first (often the only) quantity."""
        return self.intervals[0]

    @property
    def std_error(self) -> float:
        """Bootstrap standard error of the first quantity."""
        return float(self.std_errors[0])


def cluster_codes(cluster: ArrayLike | None, n_items: int, *, where: str) -> Ints:
    """Integer code of each item's cluster, 0 .. G-1; every item its own where `cluster` is None.

    Parameters
    ----------
    cluster : array-like, shape (n_items,), or None
        Labels of any sortable kind.
    n_items : int
    where : str
        Name of the calling function, for the message.

    Returns
    -------
    ndarray of int, shape (n_items,)

    Raises
    ------
    InputError
        If the length differs from `n_items` or a label is missing.

    Examples
    --------
    >>> cluster_codes(["q1", "q1", "q2"], 3, where="f")
    array([0, 0, 1])
    """
    if cluster is None:
        return np.arange(n_items)
    labels = np.asarray(cluster)
    if labels.shape != (n_items,):
        raise InputError(
            f"{where}: cluster must hold one label per item ({n_items}), got shape {labels.shape}."
        )
    codes, levels = pd.factorize(labels)
    missing = codes < 0
    if missing.any():
        raise InputError(
            f"{where}: cluster has {int(missing.sum())} missing labels of {n_items}. Name them all."
        )
    names = levels.astype(str) if levels.dtype.kind == "O" else levels
    return np.unique(names, return_inverse=True)[1].reshape(-1)[codes].astype(np.int64)


def shared_items(
    arrays: ArrayLike | tuple[NDArray[Any], ...], *, where: str
) -> tuple[NDArray[Any], ...]:
    """Arrays that share their first axis, the items."""
    data = tuple(np.asarray(a) for a in (arrays if isinstance(arrays, tuple) else (arrays,)))
    if not data or any(a.ndim == 0 or not 0 < len(a) == len(data[0]) for a in data):
        shapes = [a.shape for a in data]
        raise InputError(
            f"{where}: arrays must share their first axis (the items, at least 1), got {shapes}."
        )
    return data


@one_blas_thread()
def _chunk(
    arrays: tuple[NDArray[Any], ...],
    statistic: Callable[..., Any],
    codes: Ints,
    n_clusters: int,
    size: int,
    seed: np.random.SeedSequence,
    vectorized: bool,
) -> tuple[Floats, str]:
    """The statistic on `size` resamples of the clusters, and the first refusal's message."""
    rng = np.random.default_rng(seed)
    drawn = rng.integers(n_clusters, size=(size, n_clusters))
    offset = np.arange(size)[:, None] * n_clusters
    counts = np.bincount((drawn + offset).ravel(), minlength=size * n_clusters)
    weights = counts.reshape(size, n_clusters)[:, codes]
    return _evaluate(arrays, statistic, weights, vectorized)


def _evaluate(
    arrays: tuple[NDArray[Any], ...],
    statistic: Callable[..., Any],
    weights: Ints,
    vectorized: bool,
) -> tuple[Floats, str]:
    """The statistic for each row of item counts, shape (B, q); NaN (and why) where refused."""
    if vectorized:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            values = np.asarray(statistic(*arrays, weights.astype(float)), dtype=float)
        values = np.where(too_large(values), np.nan, values)
        return (values[:, None] if values.ndim == 1 else values), ""
    rows: list[Floats | None] = []
    refusal = ""
    items = np.arange(weights.shape[1])
    for row in weights:
        index = np.repeat(items, row)
        try:
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                value = statistic(*(a[index] for a in arrays))
            rows.append(np.atleast_1d(np.where(too_large(value), np.nan, value)))
        except (InputError, np.linalg.LinAlgError, ZeroDivisionError) as error:
            # A resample the statistic refuses is undefined: it becomes NaN, counted and noted.
            refusal = refusal or str(error)
            rows.append(None)
    width = max((r.size for r in rows if r is not None), default=1)
    return np.array([np.full(width, np.nan) if r is None else r for r in rows]), refusal


@with_keywords()
def cluster_bootstrap(
    arrays: ArrayLike | tuple[NDArray[Any], ...],
    statistic: Callable[..., Any],
    *,
    method: Method = "bca",
    transform: Transform = "identity",
    n_jobs: int = 1,
    vectorized: bool = False,
    names: Sequence[str] = (),
    **inference: Unpack[Resampled],
) -> BootstrapResult:
    r"""Bootstrap a statistic by resampling whole clusters of items with replacement.

    Parameters
    ----------
    arrays : array-like, or tuple of arrays
        Data whose first axis is the items; a tuple's arrays share it and are resampled together.
        (A list is one array, as in numpy.)
    statistic : callable
        ``statistic(*arrays)`` returns a number, or a 1-d array of q quantities that are
        bootstrapped jointly. With ``vectorized=True`` it is called as
        ``statistic(*arrays, weights)``, where ``weights`` (float, shape (B, n_items)) counts how
        often each resample holds each item, and returns shape (B,) or (B, q): for coefficients
        that depend on the items through sums.
    n_resamples : int
        Number of bootstrap resamples, at least 2.
    level : float
        Confidence level in (0, 1).
    method : {"bca", "percentile", "normal"}
        ``bca``: bias-corrected and accelerated, acceleration by the jackknife over clusters;
        ``normal`` works on the scale of `transform`. Where BCa's correction is undefined the
        percentile interval is given, with a note.
    transform : {"identity", "logit", "log", "fisher", "log_complement"}
        Scale of the normal interval and of BCa's acceleration; ``log_complement`` is
        -log(1 - x), the scale on which alpha is nearly normal. Percentiles do not depend on it.
    n_jobs : int
        joblib workers; the result does not depend on it.
    vectorized : bool
        See `statistic`.
    names : sequence of str
        Names of the quantities, for the notes.

    Returns
    -------
    BootstrapResult

    Raises
    ------
    InputError
        If shapes, counts or names of options are unusable.

    Notes
    -----
    A resample draws G of the G clusters with replacement; an item counts as often as its cluster
    was drawn. With few clusters every bootstrap interval is too short: fewer than 10 adds a note.
    Quantiles are numpy's default (R's type 7).

    References
    ----------
    Efron (1987), Better bootstrap confidence intervals. JASA 82, 171-185.
    Field & Welsh (2007), Bootstrapping clustered data. JRSS B 69, 369-390.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.random.default_rng(1).normal(size=40)
    >>> boot = cluster_bootstrap(x, np.mean, n_resamples=500)
    >>> bool(boot.interval.low < x.mean() < boot.interval.high), boot.n_clusters
    (True, 40)
    """
    where = "cluster_bootstrap"
    data = shared_items(arrays, where=where)
    n_items = data[0].shape[0]
    one_of(where, "method", method, ("bca", "percentile", "normal"))
    one_of(where, "transform", transform, get_args(Transform))

    codes = cluster_codes(inference["cluster"], n_items, where=where)
    n_clusters = int(codes.max()) + 1
    if vectorized:
        estimates = _evaluate(data, statistic, np.ones((1, n_items), dtype=np.int64), True)[0][0]
    else:
        estimates = np.atleast_1d(np.asarray(statistic(*data), dtype=float))
    q = estimates.size
    label = [*names, *(f"quantity {k + 1}" if q > 1 else "the statistic" for k in range(q))][:q]
    notes: list[Note] = []
    if n_clusters < 2:
        message = "No interval: one cluster cannot be resampled. Judge items of more questions."
        nothing = undefined_interval(
            level=inference["level"], method="cluster bootstrap", n=0, seed=inference["seed"]
        )
        empty = np.full((0,) if q == 1 else (0, q), np.nan)
        return BootstrapResult(
            estimates=estimates,
            intervals=(nothing,) * q,
            distribution=empty,
            std_errors=np.full(q, np.nan),
            n_clusters=n_clusters,
            n_failed=0,
            notes=(Note(code="one_cluster", message=message),),
        )
    if n_clusters < 10:
        message = f"Only {n_clusters} clusters: the bootstrap interval is likely too short."
        message += " Judge items of more questions."
        notes.append(Note(code="few_clusters", message=message))

    sizes = [
        min(CHUNK, inference["n_resamples"] - start)
        for start in range(0, inference["n_resamples"], CHUNK)
    ]
    seeds = np.random.SeedSequence(inference["seed"]).spawn(len(sizes))
    jobs = [
        (data, statistic, codes, n_clusters, n, s, vectorized)
        for n, s in zip(sizes, seeds, strict=True)
    ]
    with one_blas_thread():  # once for all threads: each would put back what another set
        large = vectorized and data[0].size * inference["n_resamples"] > WORTH_THREADS
        parts = map_blocks(_chunk, jobs, n_jobs=n_jobs, threads=large)

    def of_width(part: Floats) -> Floats:
        return part if part.shape[1] == q else np.full((part.shape[0], q), np.nan)

    refusal = next((why for _, why in parts if why), "")
    distribution = np.concatenate([of_width(part) for part, _ in parts])
    failed = ~np.isfinite(distribution).all(axis=1)
    if failed.any():
        message = f"The statistic is undefined in {int(failed.sum())} of {failed.size} resamples"
        message += f" ({refusal})" if refusal else ""
        message += "; the interval describes the others."
        notes.append(Note(code="undefined_resamples", message=message))

    jackknife: Floats | None = None
    if method == "bca":
        every = np.arange(n_clusters)[:, None]
        blocks = [every[start : start + CHUNK] for start in range(0, n_clusters, CHUNK)]
        kept = ((codes != block).astype(np.int64) for block in blocks)
        left = [_evaluate(data, statistic, weights, vectorized)[0] for weights in kept]
        jackknife = np.concatenate([of_width(part) for part in left])
    intervals: list[Interval] = []
    for k in range(q):
        interval, more = distribution_interval(
            distribution[:, k],
            float(estimates[k]),
            None if jackknife is None else jackknife[:, k],
            level=inference["level"],
            method=method,
            transform=transform,
            seed=inference["seed"],
            label=label[k],
        )
        intervals.append(interval)
        notes += more
    errors = [
        np.std(column[np.isfinite(column)], ddof=1) if np.isfinite(column).sum() > 1 else np.nan
        for column in distribution.T
    ]
    return BootstrapResult(
        estimates=estimates,
        intervals=tuple(intervals),
        distribution=distribution[:, 0] if q == 1 else distribution,
        std_errors=np.array(errors),
        n_clusters=n_clusters,
        n_failed=int(failed.sum()),
        notes=tuple(notes),
    )


BOUNDED = ("logit", "log_ratio")
"""Scales with an end on both sides."""


_SCALES: Mapping[str, tuple[Callable[[Any], Any], Callable[[Any], Any], Callable[[Any], Any]]] = {
    "identity": (np.positive, np.positive, np.ones_like),
    "log": (np.log, np.exp, lambda x: 1.0 / x),
    "fisher": (np.arctanh, np.tanh, lambda x: 1.0 / (1.0 - x**2)),
    "log_complement": (
        lambda x: -np.log1p(-x), lambda y: -np.expm1(-y), lambda x: 1.0 / (1.0 - x)
    ),
}  # fmt: skip
"""The other scales, the way back, and the derivative."""


def forward(x: Any, scale: str, least: float = 0.0) -> Any:
    """Move values to the scale on which the interval is symmetric.

    Parameters
    ----------
    x : float or ndarray
    scale : str
    least : float
        Where ``logit`` and ``log_ratio`` begin: log((x - least) / (1 - x)).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        if scale in BOUNDED:
            return np.log(np.asarray(x) - least) - np.log1p(-np.asarray(x))
        return _SCALES[scale][0](np.asarray(x, dtype=float))


def backward(y: Any, scale: str, least: float = 0.0) -> Any:
    """Undo `forward`."""
    if scale in BOUNDED:
        return least + (1.0 - least) * expit(np.asarray(y))
    return _SCALES[scale][1](np.asarray(y, dtype=float))


def slope(x: float, scale: str, least: float = 0.0) -> float:
    """Derivative of `forward` at x; infinite outside the scale and at its ends.

    Examples
    --------
    >>> slope(0.5, "logit"), slope(0.5, "log"), slope(1.0, "log_complement")
    (4.0, 2.0, inf)
    """
    if not np.isfinite(forward(x, scale, least)):
        return math.inf
    if scale in BOUNDED:
        return 1.0 / (x - least) + 1.0 / (1.0 - x)
    return float(_SCALES[scale][2](x))


NEARLY_ALL = 0.95
"""Share of what is attainable from which on an interval says nothing."""
BEYOND = 5.0
"""How many times the estimate an end may be, on the scale of scores; of squares the square."""


def covers_all(low: float, high: float, ends: tuple[float, float]) -> bool:
    """Whether an interval holds nearly everything that is attainable.

    Examples
    --------
    >>> covers_all(-38.0, 0.999, (0.0, 1.0)), covers_all(0.02, 0.9, (0.0, 1.0))
    (True, False)
    """
    least, most = ends
    return min(high, most) - max(low, least) >= NEARLY_ALL * (most - least)


def is_too_wide(value: float, low: float, high: float) -> bool:
    """Whether the interval of a ratio of variances holds 1 and spans more than is of use.

    Examples
    --------
    >>> [is_too_wide(0.62, low, 113702.0) for low in (0.0, 1.4)]
    [True, False]
    """
    return low <= 1 <= high and (high > BEYOND**2 * value or value > BEYOND**2 * low)


def not_estimable(why: str, *, of: str = "") -> Note:
    """The note of an interval that is not given.

    Examples
    --------
    >>> not_estimable("Only 4 items.").message
    'No interval: not estimable at this size. Only 4 items.'
    """
    name = f" for {of}" if of else ""
    message = f"No interval{name}: not estimable at this size. {why}"
    return Note(code=NOT_ESTIMABLE, message=message)


def cluster_note(sums: NDArray[np.number[Any]], unit: str = "clusters") -> str:
    """A note on the few clusters that carry the variance.

    Parameters
    ----------
    sums : ndarray, shape (G,)
        Each cluster's part of a sum of squares.
    unit : str

    Examples
    --------
    >>> cluster_note(np.array([9.0, 1, 0, 0]), "items"), cluster_note(np.array([1.0, 1, 1]))
    ('One of 4 items carries 90% of the variance (1.2 effective items).', 'Only 3 clusters.')
    """
    parts = np.asarray(sums, dtype=float)
    total, g = float(parts.sum()), parts.size
    effective = total**2 / float(np.sum(parts**2)) if total > 0 else math.nan
    if not effective < 0.75 * g:
        return f"Only {count_noun(g, unit[:-1], unit)}."
    share = 100 * float(parts.max()) / total
    return (
        f"One of {count_noun(g, unit[:-1], unit)} carries {share:.0f}% of the variance "
        f"({effective:.1f} effective {unit})."
    )


def only(n_clusters: int) -> str:
    """What data lack of which no more is known.

    Examples
    --------
    >>> only(4)
    'Only 4 clusters.'
    """
    return f"Only {count_noun(n_clusters, 'cluster', 'clusters')}."


def useful_reliability(
    interval: Interval | None, why: str, *, squares: float = math.nan
) -> tuple[Interval | None, tuple[Note, ...]]:
    """The interval of a reliability, or the note that it is not estimable.

    Parameters
    ----------
    interval : Interval or None
    why : str
        What the data lack.
    squares : float, optional
        How many times its estimate an end of the ratio of mean squares is.

    Returns
    -------
    interval : Interval or None
        None where it covers nearly all from 0 to 1, or holds 0 and spans more than is of use.
    notes : tuple of Note

    Examples
    --------
    >>> useful_reliability(Interval(low=-38.0, high=0.999), "Only 4 items.")[0] is None
    True
    """
    if interval is None:
        return None, ()
    wide = interval.low <= 0 and squares > BEYOND**2
    if not (wide or covers_all(interval.low, interval.high, (0.0, 1.0))):
        return interval, ()
    text = f"{why} The interval would hold nearly all that a reliability can be. Judge more items."
    return None, (not_estimable(text),)
