"""Statistics that are functions of per-item sums, for resampling by weights."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, Required, Unpack, get_args

import numpy as np
from numpy.typing import NDArray

from judgestats.arrays import Floats, Ints
from judgestats.errors import InputError, one_of
from judgestats.results.numbers import count_noun
from judgestats.stats.inference import bootstrap, distributions
from judgestats.stats.inference.jackknife import (
    cluster_sums,
    effective_clusters,
    jackknife_error,
    lack_note,
    t_of_clusters,
)
from judgestats.stats.inference.keywords import (
    ON_DEMAND,
    IntervalMethod,
    Permutations,
    SumInference,
    with_keywords,
)
from judgestats.stats.inference.permutation import permutation_distribution, summarise_permutations
from judgestats.stats.inference.result import Estimate, Interval, Note, NullReference, Sample

MOST_STATES = 200
"""Different rows of counts up to which drawing these takes less time than shuffling the items."""


def counts_of_codes(codes: Ints, n_categories: int) -> Floats:
    """Count codes (-1 = missing) per item: shape (..., n_items, n_categories).

    Examples
    --------
    >>> counts_of_codes(np.array([[0, 0, 1], [1, -1, 1]]), 2)
    array([[2., 1.],
           [0., 2.]])
    """
    shape = codes.shape[:-1]
    n = math.prod(shape)
    rows = codes.reshape(n, codes.shape[-1])
    # Column 0 collects the missing verdicts and is dropped.
    index = np.arange(n)[:, None] * (n_categories + 1) + rows + 1
    counts = np.bincount(index.ravel(), minlength=n * (n_categories + 1))
    table = counts.reshape(n, n_categories + 1)[:, 1:].astype(float)
    return table.reshape(*shape, n_categories)


@dataclass(frozen=True)
class CountedCodes:
    """Codes (..., n_items, n_replications) to the data of a statistic, through counts alone.

    Attributes
    ----------
    n_categories : int
    columns : tuple of int
        Replications in each block that is counted separately (orders of presentation); empty: one
        block of all.
    of : callable, optional
        Counts, those of the blocks side by side, to data. An item without a verdict in a block
        must add nothing for it.

    Examples
    --------
    >>> CountedCodes(2, columns=(2, 1))(np.array([[0, 0, 1]]))
    array([[2., 0., 0., 1.]])
    """

    n_categories: int
    columns: tuple[int, ...] = ()
    of: Callable[[Floats], Floats] | None = None

    def __call__(self, codes: Ints) -> Floats:
        """The data of codes."""
        parts = [counts_of_codes(block, self.n_categories) for block in self._blocks(codes)]
        return self._data(np.concatenate(parts, axis=-1))

    def is_drawn_fast(self, codes: Ints) -> bool:
        """Whether few different rows of counts are possible."""
        return all(
            math.comb(block.shape[-1] + self.n_categories, self.n_categories) <= MOST_STATES
            for block in self._blocks(codes)
        )

    def sums(
        self,
        codes: Ints,
        per_item: Callable[[NDArray[Any]], Floats],
        *,
        size: int,
        seed: Any,
    ) -> Iterator[Floats]:
        """Sums over items of what a statistic adds up, each column shuffled over the items.

        Which item has which counts does not matter for a sum: how many have each is drawn, column
        by column, from the multivariate hypergeometric distribution that shuffling gives.

        Parameters
        ----------
        codes : ndarray of int, shape (n_items, n_replications)
        per_item : callable
            Of the statistic.
        size : int
            Shuffles.
        seed : int or SeedSequence
        """
        rng = np.random.default_rng(seed)
        q = self.n_categories
        blocks = [
            [np.bincount(column + 1, minlength=q + 1) for column in block.T]
            for block in self._blocks(codes)
        ]
        for _ in range(size):
            total: Floats | float = 0.0
            for place, columns in enumerate(blocks):
                counts, times = _shuffled(columns, len(codes), rng)
                side_by_side = np.zeros((len(counts), q * len(blocks)))
                side_by_side[:, place * q : (place + 1) * q] = counts
                total = total + times @ per_item(self._data(side_by_side))
            yield np.asarray(total)

    def _data(self, counts: Floats) -> Floats:
        return counts if self.of is None else self.of(counts)

    def _blocks(self, codes: Ints) -> list[Ints]:
        ends = np.cumsum([0, *(self.columns or codes.shape[-1:])]).tolist()
        return [codes[..., a:b] for a, b in pairwise(ends)]


def _shuffled(columns: list[Ints], n_items: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Rows of counts after a shuffle of every column, and how many items have each.

    A column is how often it holds each code, the missing first.
    """
    width = len(columns[0]) - 1
    rows = np.zeros((1, width), dtype=np.int64)
    times = np.array([n_items])
    steps = np.vstack([np.zeros((1, width), dtype=np.int64), np.eye(width, dtype=np.int64)])
    for column in columns:
        left = column.copy()
        drawn = np.empty((len(rows), width + 1), dtype=np.int64)
        for k, n in enumerate(times):
            drawn[k] = rng.multivariate_hypergeometric(left, n, method="marginals")
            left -= drawn[k]
        grown = (rows[:, None, :] + steps[None, :, :]).reshape(-1, width)
        rows, where = np.unique(grown, axis=0, return_inverse=True)
        counted = np.bincount(where.ravel(), weights=drawn.ravel(), minlength=len(rows))
        times = counted.astype(np.int64)
        rows, times = rows[times > 0], times[times > 0]
    return rows, times


STACK = 40_000
"""Terms of one permutation up to which 250 of them are computed in one stack (80 MB)."""

STEP = 1e-30
"""Imaginary step of the derivative: its error is of order STEP**2, so none is visible."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class SumStatistic:
    """A statistic theta = combine(sum over items of per_item(data)).

    Attributes
    ----------
    per_item : callable
        Data (..., n_items, k), such as a count table, to terms (..., n_items, m). Leading axes are
        permutations.
    combine : callable
        Sums (..., m), real or complex, to values (...). Must be analytic (no absolute values) for
        the derivative; undefined values are NaN.
    """

    per_item: Callable[[NDArray[Any]], Floats]
    combine: Callable[[NDArray[Any]], NDArray[Any]]

    def value(self, data: NDArray[Any]) -> Floats:
        """The statistic on data (..., n_items, k): one value for each leading index."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.combine(self.per_item(data).sum(axis=-2)), dtype=float)


def influence(statistic: SumStatistic, terms: Floats) -> Floats:
    r"""Influence of each row of terms on the statistic: its gradient times the row.

    Parameters
    ----------
    statistic : SumStatistic
    terms : ndarray, shape (n, m)

    Returns
    -------
    ndarray, shape (n,)
        ``d theta / d w_i`` at weight 1 for every row. They sum to 0 for a ratio of sums.

    Notes
    -----
    The derivative is by the complex step, exact to machine precision (Squire & Trapp, 1998).

    Examples
    --------
    >>> mean = SumStatistic(per_item=lambda x: x, combine=lambda s: s[..., 1] / s[..., 0])
    >>> influence(mean, np.array([[1.0, 2.0], [1.0, 4.0]]))
    array([-0.5,  0.5])
    """
    total = terms.sum(axis=0)
    # A block of directions at a time keeps memory small where there are many sums.
    m = total.size
    gradient = np.empty(m)
    with np.errstate(divide="ignore", invalid="ignore"):
        for start in range(0, m, 500):
            stop = min(start + 500, m)
            moved = np.tile(total.astype(complex), (stop - start, 1))
            moved[np.arange(stop - start), np.arange(start, stop)] += 1j * STEP
            gradient[start:stop] = np.imag(statistic.combine(moved)) / STEP
    return np.asarray(terms @ gradient)


def jackknife(statistic: SumStatistic, sums: Floats) -> Floats:
    """The statistic without each row of `sums` (one row per cluster): shape (n_clusters,).

    Examples
    --------
    >>> mean = SumStatistic(per_item=lambda x: x, combine=lambda s: s[..., 1] / s[..., 0])
    >>> jackknife(mean, np.array([[1.0, 2.0], [1.0, 4.0], [1.0, 6.0]]))
    array([5., 4., 3.])
    """
    out = np.empty(sums.shape[0])
    total = sums.sum(axis=0)
    block = max(1, 4_000_000 // max(1, sums.shape[1]))
    with np.errstate(divide="ignore", invalid="ignore"):
        for start in range(0, sums.shape[0], block):
            rows = slice(start, start + block)
            out[rows] = np.real(statistic.combine(total - sums[rows]))
    return out


def _spread(
    statistic: SumStatistic,
    terms: Floats,
    codes: Ints,
    *,
    method: str,
    scale: bootstrap.Scale,
    least: float,
) -> tuple[float, float, float]:
    """Standard error of the statistic, the one on the interval's scale, degrees of freedom."""
    sums, sizes = cluster_sums(terms, codes), np.bincount(codes)
    n = sums.shape[0]
    if method == "linearised":
        values = influence(statistic, sums)
        se = math.sqrt(n / (n - 1) * float(np.sum((values - values.mean()) ** 2)))
        theta = float(statistic.combine(terms.sum(axis=0)))
        scaled = se * bootstrap.slope(theta, scale, least)
        return se, scaled, max(effective_clusters(sizes) - 1.0, 1.0)
    left_out = jackknife(statistic, sums)
    if not np.all(np.isfinite(left_out)):
        return math.nan, math.nan, math.nan
    se, df = jackknife_error(left_out, sizes)
    moved = bootstrap.forward(left_out, scale, least)
    if scale == "logit" or not np.all(np.isfinite(moved)):
        # A proportion that one cluster alone keeps from 0 or 1 has left-out logits without bound:
        # the delta method covers as well (docs/simulations) and stays finite.
        theta = float(statistic.combine(terms.sum(axis=0)))
        return se, se * bootstrap.slope(theta, scale, least), df
    return se, jackknife_error(moved, sizes)[0], df


def _interval(
    statistic: SumStatistic,
    terms: Floats,
    codes: Ints,
    theta: float,
    inference: SumInference,
    *,
    scale: bootstrap.Scale,
    least: float,
    proportion: bool,
) -> tuple[Interval | None, float, list[Note]]:
    """Interval, standard error and notes."""
    n = int(codes.max()) + 1 if codes.size else 0
    level, method = inference["level"], inference["interval"]
    if method == "none":
        return None, math.nan, []
    if proportion and theta in {0.0, 1.0}:
        # The mean of values in [0, 1] is at least the share of clusters that are exactly 1, so the
        # exact bound for the share holds for the mean as well.
        reach = float(((1 - level) / 2) ** (1 / n))
        low, high = (reach, 1.0) if theta == 1.0 else (0.0, 1.0 - reach)
        how = f"Clopper-Pearson on {count_noun(n, 'cluster', 'clusters')}, all of them {theta:g}"
        return Interval(low=low, high=high, level=level, method=how), math.nan, []
    lack = lack_note(np.bincount(codes)) if n else ()
    if n < 3 or lack:
        message = f"No interval: it needs at least 3 clusters, there are {n}."
        return None, math.nan, [*lack] or [Note(code="too_few_clusters", message=message)]
    if method in {"bca", "percentile"}:
        boot = bootstrap.cluster_bootstrap(
            terms,
            lambda x, weights: statistic.combine(weights @ x),
            cluster=codes,
            n_resamples=inference["n_resamples"],
            level=level,
            method="bca" if method == "bca" else "percentile",
            seed=inference["seed"],
            vectorized=True,
        )
        interval = boot.interval
        usable = math.isfinite(interval.low) and math.isfinite(interval.high)
        return (interval if usable else None), boot.std_error, list(boot.notes)
    se, se_scaled, df = _spread(statistic, terms, codes, method=method, scale=scale, least=least)
    centre = float(bootstrap.forward(theta, scale, least))
    if not math.isfinite(se_scaled) or not math.isfinite(centre) or se <= 1e-12:
        why = "its standard error is undefined when some cluster is left out"
        if se <= 1e-12:
            why = "leaving out any one cluster leaves the estimate unchanged"
        return None, math.nan, list(Note.no_interval(why))
    notes = []
    if df < 19:
        many = count_noun(n, "cluster", "clusters")
        if df < n - 1.5:
            many = f"{df + 1:.1f} effective clusters (of {n}, unequally large)"
        message = f"Only {many}: the interval's coverage was studied from 20 clusters on."
        notes.append(Note(code="few_clusters", message=message))
    half = float(distributions.t.ppf((1 + level) / 2, df)) * se_scaled
    low, high = bootstrap.backward(np.array([centre - half, centre + half]), scale, least)
    where = "" if scale == "identity" else f" on the {scale} scale"
    if scale == "log_ratio":
        where = f" on the scale log((x - L) / (1 - x)), L = {least:.4g} the least possible value"
    name = f"{method} over clusters, {t_of_clusters(df)}{where}"
    return Interval(low=float(low), high=float(high), level=level, method=name), se, notes


@with_keywords(permutations=ON_DEMAND)
def estimate_from_sums(
    statistic: SumStatistic,
    data: NDArray[Any],
    *,
    name: str,
    label: str,
    estimator: str,
    sample: Sample,
    reason: str,
    where: str,
    scale: bootstrap.Scale = "log_complement",
    least: float = 0.0,
    codes: Ints | None = None,
    from_codes: Callable[[Ints], NDArray[Any]] | None = None,
    proportion: bool = False,
    alternative: Literal["greater", "less"] = "greater",
    notes: tuple[Note, ...] = (),
    details: Mapping[str, Any] | None = None,
    **inference: Unpack[SumInference],
) -> Estimate:
    """Value, interval, null and sample of a statistic of sums, as one `Estimate`.

    Parameters
    ----------
    statistic : SumStatistic
    data : ndarray, shape (n_items, k)
    name, label, estimator, sample, notes, details
        Fields of the result.
    reason : str
        Why the value is undefined, used where it is NaN.
    where : str
        Name of the public function, for messages.
    scale : {"identity", "logit", "log_complement", "log_ratio"}
        Scale on which the jackknife and linearised intervals are symmetric. ``log_ratio``,
        log((x - least) / (1 - x)), keeps a coefficient within what its data can show; for a
        reliability of one of R judgments, where `least` is -1 / (R - 1), it is the log of the
        ratio of the mean squares between and within items. ``log_complement`` has no lower end.
    least : float
        Least value that data of this shape can give; where it is undefined ``log_ratio`` is
        ``log_complement``.
    n_permutations : int
        Permutations of the null (each replication's column over items); 0 for none.
    codes : ndarray of int, shape (n_items, n_replications), optional
        What is permuted for the null.
    from_codes : callable, optional
        Codes (..., n_items, n_replications) to data; None if the data are the codes.
    proportion : bool
        Whether the statistic is a mean of values in [0, 1]: an estimate of 0 or 1 then has an
        exact one-sided interval instead of none.
    alternative : {"greater", "less"}
        On which side of its null the coefficient lies where there is something to find: ``less``
        for a disagreement.

    Returns
    -------
    Estimate

    Raises
    ------
    InputError
        If an option is unknown, or a null is asked for and the verdicts are not known.

    Examples
    --------
    >>> mean = SumStatistic(per_item=lambda x: x, combine=lambda s: s[..., 1] / s[..., 0])
    >>> data = np.column_stack([np.ones(30), np.arange(30) % 2])
    >>> out = estimate_from_sums(mean, data, name="share", label="Share", estimator="mean",
    ...     sample=Sample(n_items=30), reason="", where="share", scale="logit")
    >>> out.estimate, bool(out.interval.low < 0.5 < out.interval.high)
    (0.5, True)
    """
    allowed = get_args(IntervalMethod)
    one_of(where, "interval", inference["interval"], allowed, advice="The default is 'jackknife'.")
    if scale == "log_ratio" and not math.isfinite(least):
        scale = "log_complement"
    groups = bootstrap.cluster_codes(inference["cluster"], data.shape[0], where=where)
    terms = statistic.per_item(data)
    # Items that contribute nothing (no verdict read) are no clusters either.
    used = (np.abs(terms) @ np.ones(terms.shape[1])) > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        theta = float(statistic.combine(terms.sum(axis=0)))
    if not used.all() and used.any():
        groups = np.unique(groups[used], return_inverse=True)[1].astype(np.int64)
        terms = terms[used]
    if inference["cluster"] is not None and used.any():
        sample = dataclasses.replace(sample, n_clusters=int(groups.max()) + 1)
    result = Estimate(
        name=name,
        label=label,
        estimate=theta,
        estimator=estimator,
        sample=sample,
        notes=notes,
        details=details or {},
    )
    if not math.isfinite(theta):
        return result.replace(estimate=math.nan, reason=reason)
    interval, se, more = _interval(
        statistic, terms, groups, theta, inference, scale=scale, least=least, proportion=proportion
    )
    null: NullReference | None = None
    if inference["n_permutations"]:
        null, null_notes = permutation_reference(
            statistic,
            codes,
            from_codes,
            n_permutations=inference["n_permutations"],
            seed=inference["seed"],
            where=where,
            alternative=alternative,
        )
        more += null_notes
    return result.replace(interval=interval, std_error=se, null=null, notes=(*notes, *more))


SHARE = SumStatistic(per_item=lambda x: x, combine=lambda s: np.asarray(s[..., 1] / s[..., 0]))
"""Sum of the second column over the sum of the first."""


class Described(SumInference, total=False):
    """Keywords of `estimate_from_sums` that describe an estimate, and those of its interval."""

    label: Required[str]
    estimator: Required[str]
    sample: Required[Sample]
    reason: Required[str]
    notes: tuple[Note, ...]
    details: Mapping[str, Any] | None


def share_estimate(
    wholes: NDArray[Any],
    parts: NDArray[Any],
    *,
    name: str,
    where: str = "",
    signed: bool = False,
    **options: Unpack[Described],
) -> Estimate:
    """Sum of parts over sum of wholes, as the mean share of the items used.

    Parameters
    ----------
    wholes, parts : array-like, shape (n_items,)
        For a mean over items whether each is used, and its share (0 where it is not).
    name, label, estimator, sample, reason, notes, details
        As in `estimate_from_sums`.
    where : str
        Name of the public function, for messages; by default `name`.
    signed : bool
        Whether the parts are other numbers than shares in 0-1, such as differences.
    cluster, level, interval, n_resamples, n_permutations, seed
        As in the public functions.

    Returns
    -------
    Estimate

    Examples
    --------
    >>> out = share_estimate(np.ones(30), np.arange(30) % 2, name="share", label="Share",
    ...     estimator="mean", sample=Sample(n_items=30), reason="")
    >>> out.estimate, bool(out.interval.low < 0.5 < out.interval.high)
    (0.5, True)
    """
    return estimate_from_sums(
        SHARE,
        np.column_stack([wholes, parts]).astype(float),
        name=name,
        where=where or name,
        scale="identity" if signed else "logit",
        proportion=not signed,
        **options,
    )


def permutation_reference(
    statistic: SumStatistic,
    codes: Ints | None,
    from_codes: Callable[[Ints], NDArray[Any]] | None,
    *,
    where: str,
    alternative: Literal["greater", "less"] = "greater",
    **inference: Unpack[Permutations],
) -> tuple[NullReference, list[Note]]:
    """The statistic's null: each replication's column permuted over items.

    Raises
    ------
    InputError
        If only counts are known, not the verdicts themselves.
    """
    if codes is None:
        raise InputError(
            f"{where}: n_permutations needs the verdicts themselves, got counts alone. Pass these "
            "(items x replications), or n_permutations=0."
        )
    make = from_codes if from_codes is not None else (lambda c: c)
    # Small problems go in one stack; large ones one permutation at a time.
    width = max(codes.size, statistic.per_item(make(codes)).size)
    stacked = width <= STACK
    if not stacked and isinstance(make, CountedCodes) and make.is_drawn_fast(codes):
        sums = make.sums(
            codes,
            statistic.per_item,
            size=inference["n_permutations"],
            seed=np.random.SeedSequence(inference["seed"]),
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            drawn = np.asarray(statistic.combine(np.stack(list(sums))), dtype=float)
        done = summarise_permutations(
            float(statistic.value(make(codes))),
            drawn,
            scheme="replications",
            seed=inference["seed"],
            alternative=alternative,
        )
        return done.null, list(done.notes)

    def value(permuted: NDArray[Any]) -> Any:
        found = statistic.value(make(permuted))
        return found if stacked else float(found)

    out = permutation_distribution(
        codes,
        value,
        scheme="replications",
        **inference,
        alternative=alternative,
        vectorized=stacked,
    )
    return out.null, list(out.notes)
