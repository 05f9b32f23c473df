"""Verdicts and labels as input: checks, draws, and clustered shares."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from judgestats.arrays import Bools, Floats, Ints, as_numbers, mean_of_present
from judgestats.errors import InputError, one_of
from judgestats.results.verdict import Measure, share_measure
from judgestats.stats.inference import distributions
from judgestats.stats.inference.bootstrap import cluster_codes
from judgestats.stats.inference.distributions import proportion_limits
from judgestats.stats.inference.jackknife import mean_over_clusters
from judgestats.stats.inference.result import Estimate, Interval, Note, Result, Sample, notes_block
from judgestats.stats.validity.label_draws import LABELS_DRAWN

FAIL_PASS = ("fail", "pass")
"""The verdicts' words, the negative one first."""

FEW_LABELS = 20
PICKED_BY_HAND = "the labelled items were picked by hand: they say nothing about the others"


def _absent(value: object) -> bool:
    return value is None or value == "" or value != value  # noqa: PLR0124 (NaN)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Report(Result):
    """A result of several numbers, printed under a title with its notes.

    Attributes
    ----------
    notes : tuple of Note
    """

    TITLE: ClassVar[str] = ""
    notes: tuple[Note, ...] = ()

    def lines(self) -> list[str]:
        """What is printed between title and notes."""
        return [self.sentence()]

    def __str__(self) -> str:
        return "\n".join(["", f"\t{self.TITLE}", "", *self.lines(), *notes_block(self.notes), ""])


def verdict_values(values: ArrayLike, *, where: str, name: str) -> Floats:
    """Verdicts as 1 (pass), 0 (fail) and NaN (none).

    Parameters
    ----------
    values : array-like
        ``"pass"``, ``"fail"``, booleans, or 0 and 1; None, NaN or empty text where there is none.
    where, name : str
        Of the calling function and of the argument, for messages.

    Returns
    -------
    ndarray of float, of the same shape

    Raises
    ------
    InputError
        If a value is not one of the verdicts' words.

    Examples
    --------
    >>> verdict_values(["pass", "fail", None], where="f", name="judge").tolist()
    [1.0, 0.0, nan]
    """
    array = np.asarray(values)
    if array.dtype.kind in "bif":
        numbers = array.astype(float)
        bad = numbers[~np.isnan(numbers) & (numbers != 0) & (numbers != 1)]
        if bad.size:
            raise InputError(f"{where}: {name} must be 0 or 1, got {bad[0]:g}. Give verdicts.")
        return numbers
    code: dict[object, float] = {FAIL_PASS[0]: 0.0, FAIL_PASS[1]: 1.0}
    code |= {0: 0.0, 1: 1.0}  # True and False are equal to these
    out = np.full(array.size, np.nan)
    unknown: set[str] = set()
    for i, value in enumerate(np.asarray(array, dtype=object).reshape(-1)):
        if _absent(value):
            continue
        if value in code:
            out[i] = code[value]
        else:
            unknown.add(str(value))
    if unknown:
        shown = ", ".join(repr(v) for v in sorted(unknown)[:3])
        more = f" and {len(unknown) - 3} more" if len(unknown) > 3 else ""
        words = " and ".join(map(repr, FAIL_PASS))
        raise InputError(f"{where}: {name} holds {shown}{more}, but the verdicts are {words}.")
    return out.reshape(array.shape)


@dataclasses.dataclass(frozen=True, kw_only=True)
class LabelledItems:
    """All items judged, and which of them have human labels.

    Attributes
    ----------
    judge : ndarray, shape (N,)
        Verdict or score, the mean over repeats; NaN = unparsed.
    human : ndarray, shape (N,)
        Label, NaN where there is none.
    codes : ndarray of int, shape (N,)
        Cluster of each item.
    clustered : bool
        Whether a cluster was given.
    stratum : ndarray of int, shape (N,)
        Stratum of each item, 0 without strata.
    strata : tuple of str
    notes : tuple of Note
    """

    judge: Floats
    human: Floats
    codes: Ints
    clustered: bool
    stratum: Ints
    strata: tuple[str, ...] = ("",)
    notes: tuple[Note, ...] = ()

    @property
    def labelled(self) -> Bools:
        """Which items have a label."""
        return ~np.isnan(self.human)

    def only(self, kept: Bools) -> LabelledItems:
        """Some of the items, with the strata that they are of."""
        used, place = np.unique(self.stratum[kept], return_inverse=True)
        return dataclasses.replace(
            self,
            judge=self.judge[kept],
            human=self.human[kept],
            codes=self.codes[kept],
            stratum=place.reshape(-1).astype(np.int64),
            strata=tuple(self.strata[h] for h in used.tolist()) or self.strata,
        )

    def sample(self) -> Sample:
        """The labelled items."""
        return Sample.from_mask(
            self.labelled, "not labelled", self.codes if self.clustered else None
        )

    @property
    def n(self) -> int:
        """Number of labels."""
        return int(self.labelled.sum())

    @property
    def n_items(self) -> int:
        """Number of items judged."""
        return int(self.judge.size)


def labelled_items(
    judge: ArrayLike,
    human: ArrayLike,
    *,
    kind: Literal["verdict", "score"],
    cluster: ArrayLike | None = None,
    stratum: ArrayLike | None = None,
    where: str,
) -> LabelledItems:
    """Check and align a judge's output with human labels.

    Parameters
    ----------
    judge : array-like, shape (N,) or (N, repeats)
        Repeats are averaged within the item before anything else.
    human : array-like, shape (N,)
    kind : {"verdict", "score"}
    cluster, stratum : array-like, shape (N,), optional
    where : str
        Name of the calling function, for messages.

    Returns
    -------
    LabelledItems

    Raises
    ------
    InputError
        If shapes differ, a value cannot be read, or there is no item.

    Examples
    --------
    >>> labelled_items([[1, 0], [1, 1]], [1, None], kind="score", where="f").judge.tolist()
    [0.5, 1.0]
    """
    if kind == "verdict":
        f = verdict_values(judge, where=where, name="judge")
        y = verdict_values(human, where=where, name="human")
    else:
        f = as_numbers(judge, "judge", where)
        y = as_numbers(human, "human", where)
    if f.ndim not in {1, 2} or y.ndim != 1 or f.shape[0] != y.size or f.size == 0:
        raise InputError(
            f"{where}: judge and human must hold one entry for each item judged, NaN or None "
            f"without a label, got shapes {f.shape} and {y.shape}."
        )
    if f.ndim == 2:
        f = mean_of_present(f, 1)
    codes = cluster_codes(cluster, y.size, where=where)
    strata, place = ("",), np.zeros(y.size, dtype=np.int64)
    if stratum is not None:
        kinds = np.asarray(stratum, dtype=object)
        if kinds.shape != y.shape or any(_absent(v) for v in kinds):
            raise InputError(f"{where}: stratum must name the stratum of each of {y.size} items.")
        names, place = np.unique(kinds.astype(str), return_inverse=True)
        strata, place = tuple(names.tolist()), place.reshape(-1).astype(np.int64)
    n = int(np.sum(~np.isnan(y)))
    message = f"Only {n} labels: intervals were studied from {FEW_LABELS} labels on. Label more."
    return LabelledItems(
        judge=f,
        human=y,
        codes=codes,
        clustered=cluster is not None,
        stratum=place,
        strata=strata,
        notes=Note.where(0 < n < FEW_LABELS, "few_labels", message),
    )


def policy_notes(labels_drawn: str | None, *, where: str) -> tuple[Note, ...]:
    """Check `labels_drawn` and warn where it is not stated.

    Raises
    ------
    InputError
        If it is not one of the known ways.

    Examples
    --------
    >>> policy_notes("random", where="f")
    ()
    """
    if labels_drawn is None:
        message = (
            "The sampling of the labels is not stated, so the result assumes random. State "
            f"labels_drawn={' / '.join(LABELS_DRAWN)}."
        )
        return Note.where(True, "assumes_random", message)
    one_of(where, "labels_drawn", labels_drawn, LABELS_DRAWN)
    message = "The labelled items were picked by hand, so they do not speak for the other items."
    return Note.where(labels_drawn == "convenience", "convenience", message)


def chance_weights(items: LabelledItems, chance: ArrayLike | None, where: str) -> Floats | None:
    """Items that each label stands for, 1 / chance; 0 where there is no label.

    Raises
    ------
    InputError
        If a labelled item has no possible chance.
    """
    if chance is None:
        return None
    pi = np.asarray(chance, dtype=float)
    own = pi[items.labelled] if pi.shape == items.human.shape else np.zeros(1)
    if not np.all((own > 0) & (own <= 1)):
        raise InputError(
            f"{where}: chance must hold a number above 0 and up to 1 for each labelled item."
        )
    return np.where(items.labelled, 1 / np.where(items.labelled, pi, 1.0), 0.0)


def effective_clusters(codes: Ints, weights: Floats | None = None) -> float:
    r"""Kish's effective number of clusters, :math:`(\sum m_g)^2 / \sum m_g^2`.

    Examples
    --------
    >>> effective_clusters(np.array([0, 0, 1, 1])), round(effective_clusters(np.array([0] * 9 + [1])), 2)
    (2.0, 1.22)
    """  # noqa: E501
    m = np.bincount(codes, weights=weights)
    total = float(m.sum())
    return total**2 / float(np.sum(m**2)) if total > 0 else 0.0


def cluster_variance(influence: Floats, codes: Ints) -> float:
    r"""Variance of a statistic from the influence of its items, summed within clusters.

    :math:`\frac{G}{G-1}\sum_g (u_g - \bar u)^2`; NaN with one cluster.

    Examples
    --------
    >>> x = np.array([1.0, 2.0, 4.0])
    >>> round(cluster_variance((x - x.mean()) / 3, np.arange(3)), 6) == round(7 / 9, 6)
    True
    """
    present, compact = np.unique(codes, return_inverse=True)
    g = present.size
    if g < 2:
        return math.nan
    sums = np.bincount(compact.reshape(-1), weights=influence)
    return g / (g - 1) * float(np.sum((sums - sums.mean()) ** 2))


def df_of_influence(influence: Floats, codes: Ints, effective: float) -> float:
    r"""Degrees of freedom of a variance over clusters: what the sums of influence leave of them.

    The smaller of the effective number of clusters minus 1 and :math:`2 G / (\kappa - 1)`, of G
    clusters whose influence has the kurtosis :math:`\kappa`: with a rare class few of them make the
    variance. With Kish's number alone a pass rate of .05 over 60 questions of unequal size covers
    .90 (useless judge), with the smaller .94.

    Examples
    --------
    >>> even, one = np.tile([1.0, -1.0], 20), np.r_[3.0, np.full(39, 0.1)]
    >>> df_of_influence(even, np.arange(40), 40.0), df_of_influence(one, np.arange(40), 40.0) < 5
    (39.0, True)
    """
    _, compact = np.unique(codes, return_inverse=True)
    u = np.bincount(compact.reshape(-1), weights=influence)
    u = u[np.abs(u) > 1e-15]
    least = effective - 1.0
    if u.size > 2:
        kurtosis = u.size * float(np.sum(u**4)) / float(np.sum(u**2)) ** 2
        least = min(least, 2 * u.size / max(kurtosis - 1, 1e-9))
    return max(least, 1.0)


def two_group_test(
    values: Floats, one: Bools, other: Bools, codes: Ints, *, exact: bool
) -> tuple[float, float, float]:
    """Do the means of two groups of items differ?

    Parameters
    ----------
    values : ndarray, shape (n,)
    one, other : ndarray of bool, shape (n,)
        The items of each group.
    codes : ndarray of int, shape (n,)
        Cluster of each item.
    exact : bool
        Fisher's exact test of 1 or not, for independent items; otherwise Student's t of the
        difference, over clusters with effective degrees of freedom.

    Returns
    -------
    statistic, p, df : float
        The odds ratio or t; p is NaN if nothing varies, df NaN for the exact test.

    Examples
    --------
    >>> values, one = np.repeat([1.0, 0.0, 1.0, 0.0], [9, 1, 2, 8]), np.repeat([True, False], 10)
    >>> [round(v, 4) for v in two_group_test(values, one, ~one, np.arange(20), exact=True)[:2]]
    [36.0, 0.0055]
    """
    if exact:
        passed, failed = ([int(np.sum(same[g])) for g in (one, other)]
                          for same in (values == 1, values != 1))  # fmt: skip
        return *distributions.fisher_exact(passed, failed), math.nan
    difference, influence, df = mean_difference(values, one, other, codes)
    variance = cluster_variance(influence, codes)
    if not variance > 1e-18:
        return math.nan, math.nan, math.nan
    t = difference / math.sqrt(variance)
    return t, float(2 * distributions.t.sf(abs(t), df)), df


def mean_difference(
    values: Floats, one: Bools, other: Bools, codes: Ints
) -> tuple[float, Floats, float]:
    """Difference of two groups' means, the influence of every item, and degrees of freedom.

    Examples
    --------
    >>> first = np.array([True, True, False, False])
    >>> mean_difference(np.array([1.0, 3.0, 2.0, 4.0]), first, ~first, np.arange(4))
    (-1.0, array([-0.5,  0.5,  0.5, -0.5]), 1.0)
    """
    influence = np.zeros(values.size)
    influence[one] = (values[one] - values[one].mean()) / one.sum()
    influence[other] = -(values[other] - values[other].mean()) / other.sum()
    df = max(min(effective_clusters(codes[g]) for g in (one, other)) - 1.0, 1.0)
    return float(values[one].mean()) - float(values[other].mean()), influence, df


def critical_value(level: float, df: float) -> float:
    """Student's two-sided critical value; normal where `df` is infinite."""
    tail = (1 - level) / 2  # by scipy.special: a tenth of the time of scipy.stats
    return -float(special.ndtri(tail) if math.isinf(df) else special.stdtrit(df, tail))


def wilson_limits(
    share: float, n: float, *, level: float = 0.95, inflation: float = 1.0
) -> tuple[float, float]:
    """Wilson's limits of a share of `n` labels, its variance being `inflation` times binomial.

    Examples
    --------
    >>> [round(v, 4) for v in wilson_limits(0.5, 40)]
    [0.352, 0.648]
    """
    effective = n / inflation
    # A share of an effective number may leave 0-1 in the last bit.
    return proportion_limits(min(max(share * effective, 0.0), effective), effective, level=level)


def mean_estimate(
    values: Floats,
    codes: Ints,
    *,
    name: str,
    label: str,
    sample: Sample,
    level: float,
    estimator: str = "",
    least: float = -math.inf,
    most: float = math.inf,
) -> Estimate:
    """Mean over items with its interval over clusters, cut to what the mean can be.

    Parameters
    ----------
    values : ndarray, shape (n,)
    codes : ndarray of int, shape (n,)
        Cluster of each item.
    name, label, sample, estimator
        Fields of the result.
    level : float
    least, most : float
        Ends of the interval at most.

    Returns
    -------
    Estimate

    Examples
    --------
    >>> out = mean_estimate(np.array([0.0, 1.0, 1.0]), np.arange(3), name="share", label="Share",
    ...                     sample=Sample(n_items=3), level=0.95, least=0.0, most=1.0)
    >>> round(out.estimate, 3), out.interval.low, out.interval.high
    (0.667, 0.0, 1.0)
    """
    over = mean_over_clusters(values, codes)
    estimate = Estimate(
        name=name,
        label=label,
        estimator=estimator,
        estimate=over.mean,
        std_error=over.std_error,
        interval=over.interval(level),
        sample=sample,
        notes=over.notes,
    )
    return clip_limits(estimate, least, most)


def t_estimate(
    value: float,
    std_error: float,
    df: float,
    *,
    name: str,
    label: str,
    sample: Sample,
    level: float,
    estimator: str = "",
    method: str = "t",
    constant: str = "the difference does not vary",
    details: dict[str, Any] | None = None,
) -> Estimate:
    """A value with Student's interval, or with a note if nothing varies.

    Parameters
    ----------
    value, std_error, df : float
    name, label, sample, estimator, details
        Fields of the result.
    level : float
    method : str
        How the interval was had.
    constant : str
        Why there is none where the standard error is 0 or undefined.

    Returns
    -------
    Estimate

    Examples
    --------
    >>> t_estimate(0.5, 0.1, math.inf, name="gap", label="Gap", sample=Sample(n_items=9),
    ...            level=0.95).short()
    '0.50 [0.30, 0.70]'
    """
    estimate = Estimate(
        name=name,
        label=label,
        estimator=estimator,
        estimate=value,
        sample=sample,
        details=details or {},
    )
    if not std_error > 0:
        return estimate.replace(notes=Note.no_interval(constant))
    half = critical_value(level, df) * std_error
    interval = Interval(low=value - half, high=value + half, level=level, method=method)
    return estimate.replace(std_error=std_error, interval=interval)


def clip_limits(estimate: Estimate, least: float = -1.0, most: float = 1.0) -> Estimate:
    """An estimate whose limits are within what it can be."""
    iv = estimate.interval
    if iv is None:
        return estimate
    return estimate.replace(
        interval=dataclasses.replace(iv, low=max(iv.low, least), high=min(iv.high, most))
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class Share:
    """A share over clusters with its limits and what they rest on."""

    share: float
    low: float
    high: float
    n: float
    effective_n: float
    df: float
    method: str
    level: float

    def estimate(
        self, *, name: str, label: str, estimator: str, sample: Sample, reason: str = "",
        details: dict[str, Any] | None = None,
    ) -> Estimate:  # fmt: skip
        """The share as a result; undefined where there is a reason."""
        if reason:
            return Estimate(name=name, label=label, sample=sample, reason=reason)
        interval = Interval(low=self.low, high=self.high, level=self.level, method=self.method)
        return Estimate(
            name=name,
            label=label,
            estimator=estimator,
            estimate=self.share,
            interval=None if math.isnan(self.low) else interval,
            sample=sample,
            details=details or {},
        )


def share_over_clusters(
    success: Floats,
    trial: Floats,
    codes: Ints,
    *,
    clustered: bool,
    level: float = 0.95,
    stratum: Ints | None = None,
    exact: bool = False,
) -> Share:
    r"""The share :math:`\sum s / \sum t` with Wilson's limits on effective numbers.

    Parameters
    ----------
    success, trial : ndarray, shape (n,)
        Weighted counts: trial is an item's weight if it belongs to the denominator, success the
        same if it also has the property.
    codes : ndarray of int, shape (n,)
    clustered : bool
        Whether `codes` are clusters; items are independent otherwise.
    level : float
    stratum : ndarray of int, shape (n,), optional
        Parts drawn separately: the influence is centred within each.
    exact : bool
        Clopper and Pearson's limits at the effective number of Korn and Graubard, which decide
        verdicts.

    Returns
    -------
    Share

    Examples
    --------
    >>> one = np.ones(40)
    >>> s = share_over_clusters(np.repeat([1.0, 0.0], 20), one, np.arange(40), clustered=False)
    >>> round(s.low, 4), round(s.high, 4), s.effective_n
    (0.352, 0.648, 40.0)
    """
    used = trial > 0
    s, t, c = success[used], trial[used], codes[used]
    n = int(used.sum())
    if n == 0:
        return Share(
            share=math.nan, low=math.nan, high=math.nan, n=0, effective_n=0, df=math.nan,
            method="", level=level,
        )  # fmt: skip
    total = float(t.sum())
    p = float(s.sum()) / total
    weighted = bool(np.ptp(t) > 1e-12 * t.max())
    plain = not weighted and stratum is None
    if exact and plain:
        made = share_measure("", (s / t).tolist(), (c if clustered else np.arange(n)).tolist())
        return _exact_share(made, level, "" if math.isnan(made.variance) else "clusters")
    if not clustered and plain:
        low, high = wilson_limits(p, n, level=level)
        return Share(
            share=p, low=low, high=high, n=n, effective_n=float(n), df=math.inf,
            method="Wilson", level=level,
        )  # fmt: skip
    # The denominator is random too: items outside it take part with influence 0.
    u = (success - p * trial) / total
    if stratum is not None:
        for h in np.unique(stratum):
            u[stratum == h] -= u[stratum == h].mean()
    kish = effective_clusters(c, t)
    variance = cluster_variance(u, codes)
    inside = p * (1 - p)
    effective = inside / variance if inside > 1e-12 and variance > 1e-15 else kish
    effective = min(max(effective, 1e-9), effective_clusters(np.arange(n), t))
    if exact:
        groups = np.unique(codes).size if clustered else n
        made = Measure(
            key="", shape="share", estimate=p, variance=inside / effective, n=n, n_clusters=groups
        )
        found = _exact_share(made, level, "clusters" if clustered else "weighted labels")
        return dataclasses.replace(found, effective_n=effective)
    df = max(kish - 1, 1.0) if clustered else math.inf
    z = critical_value(level, math.inf)
    low, high = wilson_limits(
        p, effective, level=level, inflation=(critical_value(level, df) / z) ** 2
    )
    of = "clusters" if clustered else "weighted labels"
    return Share(
        share=p,
        low=low,
        high=high,
        n=n,
        effective_n=effective,
        df=df,
        method=f"Wilson on the effective number of labels ({of})",
        level=level,
    )


def _exact_share(made: Measure, level: float, of: str) -> Share:
    """A share with the limits that decide verdicts."""
    low, high = made.limits((1 - level) / 2)
    on = f" on the effective number of labels ({of})" if of else ""
    return Share(
        share=made.estimate, low=low, high=high, n=made.n,
        effective_n=made.n_effective((1 - level) / 2), df=max(made.n_clusters - 1.0, 1.0),
        method=f"Clopper-Pearson{on}", level=level,
    )  # fmt: skip
