"""Panels of judges: votes and weights, their gain, and effective votes."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Unpack

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import special

from judgestats.arrays import Bools, Floats, Ints, as_numbers
from judgestats.errors import InputError
from judgestats.results.numbers import bounds_of, with_bounds
from judgestats.stats.inference import cluster_codes, jackknife
from judgestats.stats.inference.distributions import norm, t
from judgestats.stats.inference.keywords import Seeded, with_keywords
from judgestats.stats.inference.result import Estimate, Interval, Note, Sample
from judgestats.stats.validity.inputs import Report, mean_estimate, verdict_values

FOLDS = 5
_POWER = 0.8


@with_keywords()
def panel_gain(
    panel: ArrayLike, members: ArrayLike, *, losses: bool = False, **inference: Unpack[Seeded]
) -> Estimate:
    r"""What a panel gains over the best of its members, whichever that is.

    Parameters
    ----------
    panel : array-like, shape (N,)
        Credit of the panel's verdict on each labelled item, from 0 to 1; or its squared error.
    members : array-like, shape (N, J)
        The same of each member.
    losses : bool
        Whether less is better: squared errors, which have no size of one disagreement.

    Returns
    -------
    Estimate
        The panel's mean minus the best member's. The panel is better than every member where the
        interval is above 0 (losses: below). A note says how many labels could show a gain.

    Raises
    ------
    InputError
        If shapes differ, a value is missing, or there are fewer than two members.

    Notes
    -----
    With d_j the mean difference from member j and s_j its jackknife error over clusters, the gain
    is the smallest :math:`\delta_j`. The lower limit is :math:`\min_j (d_j - t_{.975} s_j)`, which
    holds for the best member whichever it is. The upper limit is
    :math:`\min_j (d'_j + t_{1 - .025/J} s'_j)`, with one disagreement added each way (Bonett &
    Price 2012; of half a credit for two members). Coverage is .958 or more with 40 to 300 labels
    and 2 to 7 judges. With a best member chosen in five folds, coverage is .58 to .95 only. The
    estimate chooses the member on four fifths of the clusters and judges it on the fifth. Outside
    the interval it is moved to the nearer limit.

    References
    ----------
    Bonett & Price (2012), Journal of Educational and Behavioral Statistics 37, 479-488;
    Berger (1982), Technometrics 24, 295-300.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> right = rng.random((300, 5)) < 0.75
    >>> out = panel_gain(right.sum(axis=1) > 2, right)
    >>> out.interval.low > 0, round(out.estimate, 2)
    (True, 0.13)
    """
    where = "panel_gain"
    own = as_numbers(panel, "panel", where)
    each = as_numbers(members, "members", where)
    if own.ndim != 1 or each.ndim != 2 or len(each) != own.size or each.shape[1] < 2:
        raise InputError(
            f"{where}: members must have one row for each value of panel and at least two "
            f"columns, got shapes {own.shape} and {each.shape}."
        )
    if own.size < 2 or np.isnan(own).any() or np.isnan(each).any():
        raise InputError(f"{where}: expected at least two items without missing values.")
    codes = cluster_codes(inference["cluster"], own.size, where=where)
    sign = -1.0 if losses else 1.0
    gain = sign * (own - best_member(sign * each, codes, inference["seed"]) * sign)
    differences = sign * (own[:, None] - each)
    sizes = np.bincount(np.unique(codes, return_inverse=True)[1].reshape(-1))
    estimate = Estimate(
        name="squared_error_gain" if losses else "accuracy_gain",
        label="Panel minus its best member", estimate=sign * float(gain.mean()),
        estimator="difference, member chosen out of fold",
        sample=Sample.from_mask(np.ones(own.size, bool), "", None if inference["cluster"] is None
                         else codes, n_replications=each.shape[1], repeated="judge"),
        details={"differences": (sign * differences.mean(axis=0)).tolist()},
    )  # fmt: skip
    if lack := jackknife.lack_note(sizes):
        return estimate.replace(notes=lack)
    low, high, needed = _limits(differences, codes, sizes, inference["level"], losses=losses)
    if not high > low:
        why = "the panel differs from a member by the same amount on every item"
        return estimate.replace(notes=Note.no_interval(why))
    value = float(np.clip(gain.mean(), low, high))
    ends = (-high, -low) if losses else (low, high)
    is_open = low <= 0 <= high and value > 0 and math.isfinite(needed) and needed > own.size
    wanted = f"{needed:,.0f}" if math.isfinite(needed) else ""
    message = f"{own.size:,} labels cannot show this; about {wanted} would."
    return estimate.replace(
        estimate=sign * value,
        interval=Interval(
            low=ends[0], high=ends[1], level=inference["level"],
            method="least of the members' intervals, Bonferroni above",
        ),
        notes=Note.where(is_open, "labels_cannot_show", message),
    )  # fmt: skip


def _limits(
    differences: Floats, codes: Ints, sizes: Ints, level: float, *, losses: bool
) -> tuple[float, float, float]:
    """Both limits of the smallest gain, and the labels that would show it with power .8."""
    n, members = differences.shape
    d = differences.mean(axis=0)
    lost = -jackknife.cluster_sums(differences - d, codes) / (n - sizes)[:, None]
    pairs = [jackknife.jackknife_error(lost[:, j], sizes) for j in range(members)]
    s, df = np.array([error for error, _ in pairs]), pairs[0][1]
    alpha = 1 - level
    if losses:
        d_high, s_high = d, s
    else:
        d_high, s_high = _one_each_way(differences, codes, sizes)
        constant = (s <= 1e-12) & (np.abs(d) > 1e-12)
        d, s = np.where(constant, d_high, d), np.where(constant, s_high, s)
    low = d - t.ppf(1 - alpha / 2, df) * s
    high = d_high + t.ppf(1 - alpha / 2 / members, df) * s_high
    needed = math.inf
    if (d > 0).all():
        factor = norm.ppf(1 - alpha / 2) + norm.ppf(_POWER)
        needed = float(n * np.max(factor * s / d) ** 2)
    return float(low.min()), float(high.min()), needed


def _one_each_way(differences: Floats, codes: Ints, sizes: Ints) -> tuple[Floats, Floats]:
    """Mean and error with one disagreement added each way, each a separate cluster."""
    n, members = differences.shape
    step = max(0.5 if members == 2 else 1.0, float(np.abs(differences).max()))
    d = differences.sum(axis=0) / (n + 2)
    own = jackknife.cluster_sums(differences - d, codes)
    added = np.stack([step - d, -step - d])
    if sizes.size == n:
        total = np.sum(own**2, axis=0) + np.sum(added**2, axis=0)
        return d, np.sqrt(total) / (n + 2)
    left = -np.concatenate([own / (n + 2 - sizes)[:, None], added / (n + 1)])
    every = np.append(sizes, [1, 1])
    return d, np.array([jackknife.jackknife_error(column, every)[0] for column in left.T])


def folds(codes: Ints, seed: int | None) -> Iterator[Bools]:
    """Items of each fold; those of a cluster stay together.

    Parameters
    ----------
    codes : ndarray of int, shape (N,)
        Cluster of each item.
    seed : int or None

    Yields
    ------
    ndarray of bool, shape (N,)
    """
    kinds = np.unique(codes)
    fold = np.random.default_rng(seed).permutation(np.arange(kinds.size) % FOLDS)
    of = fold[np.searchsorted(kinds, codes)]
    for k in range(FOLDS):
        yield of == k


def best_member(credit: Floats, codes: Ints, seed: int | None) -> Floats:
    """Of each item, the credit of the judge that was best on the other folds.

    Parameters
    ----------
    credit : ndarray, shape (N, J)
    codes : ndarray of int, shape (N,)
        Cluster of each item.
    seed : int or None

    Returns
    -------
    ndarray, shape (N,)
    """
    best = np.empty(codes.size)
    for out in folds(codes, seed):
        best[out] = credit[out, int(np.argmax(credit[~out].mean(axis=0)))]
    return best


FEW_APART = 30
"""Clusters that set near copies apart, from which their influence alone gives limits."""
FEW_WRONG = 60
"""Clusters with errors below which the lower limit of effective votes is widened."""


def effective_judges(errors: Floats) -> float:
    """Mean variance of the judges' errors over the variance of their mean.

    Parameters
    ----------
    errors : ndarray, shape (items, judges)

    Returns
    -------
    float
        k / (1 + (k - 1) rho); NaN where the mean error does not vary.

    References
    ----------
    Kish (1965), *Survey sampling*; Kohli (2026), arXiv:2605.29800.

    Examples
    --------
    >>> round(effective_judges(np.eye(4)[:, :2]), 6)
    3.0
    """
    whole = float(np.var(errors.mean(axis=1), ddof=1))
    each = float(np.mean(np.var(errors, axis=0, ddof=1)))
    return each / whole if whole > 0 else math.nan


def effective_judges_limits(
    errors: Floats, codes: Ints | None = None, level: float = 0.95, step: float = 1.0
) -> tuple[float, float]:
    """Limits of the effective number of judges, by influence on its logarithm.

    Parameters
    ----------
    errors : ndarray, shape (items, judges)
    codes : ndarray of int, optional
        Clusters, over which influence is summed.
    level : float
    step : float
        Mean squared distance of two judges on an item that sets them apart. Of verdicts it is 1, of
        scores twice their variance, as of unrelated ones.

    Returns
    -------
    low, high : float
        With t of 2 G / (kurtosis - 1) degrees of freedom, at most G - 1. The lower limit is at
        least 1: the mean varies no more than a judge. Where fewer than 60 clusters hold errors,
        it allows for one more in which all judges err. Where fewer than 30 clusters set the judges
        apart, the upper limit allows for two more in which one judge is `step` away. NaN where
        the errors do not vary.

    Examples
    --------
    >>> e = (np.random.default_rng(0).random((100, 3)) < .2).astype(float)
    >>> low, high = effective_judges_limits(e)
    >>> bool(low < effective_judges(e) < high)
    True
    """
    places = np.arange(len(errors)) if codes is None else np.unique(codes, return_inverse=True)[1]
    g, k = int(places.max(initial=-1)) + 1, errors.shape[1]
    if g < 2 or not errors.mean(axis=1).var() > 0:
        return math.nan, math.nan
    middle, tail = math.log(effective_judges(errors)), (1 + level) / 2
    error, kurtosis = _log_influence(errors, places)
    df = max(1.0, min(g - 1, 2 * g / max(kurtosis - 1, 1e-9)))
    low, high = (middle + sign * float(special.stdtrit(df, tail)) * error for sign in (-1, 1))
    if np.unique(places[(errors != 0).any(axis=1)]).size < FEW_WRONG:
        size, items = math.sqrt(float(np.square(errors[errors != 0]).mean())), len(errors) // g
        more = np.vstack([errors, np.full((items, k), size)])
        wide = _log_influence(more, np.append(places, np.full(items, g)))[0]
        far = float(special.stdtrit(g, tail)) * wide
        low = min(low, math.log(effective_judges(more)) - far)
    if np.unique(places[np.ptp(errors, axis=1) > 0]).size < FEW_APART:
        one = step * (k - 1) / k**2 / (g * float(errors.var(axis=0).mean()))
        far = float(special.stdtrit(g - 1, tail)) * math.hypot(error, math.sqrt(2) * one)
        high = max(high, middle + 2 * one + far)
    return math.exp(max(low, 0.0)), math.exp(min(high, 700.0))


def _log_influence(errors: Floats, places: Ints) -> tuple[float, float]:
    """Standard error of the logarithm of effective judges over clusters, and its kurtosis."""
    mean, variance = errors.mean(axis=1), float(errors.var(axis=0).mean())
    centred = np.square(errors - errors.mean(axis=0)).mean(axis=1)
    u = np.bincount(places, centred / variance - np.square(mean - mean.mean()) / mean.var())
    g, squares = u.size, float(np.square(u - u.mean()).sum())
    kurtosis = g * float(((u - u.mean()) ** 4).sum()) / max(squares**2, 1e-300)
    return math.sqrt(g / (g - 1) * squares) / len(errors), kurtosis


def vote_variance(votes: Floats) -> float:
    """Mean of v (1 - v) over items, v the share of pass votes: it needs no label.

    Examples
    --------
    >>> vote_variance(np.array([[1.0, 0.0], [1.0, 1.0]]))
    0.125
    """
    share = votes.mean(axis=1)
    return float(np.mean(share * (1 - share)))


def subset_credit(errors: Floats, k: int) -> Floats:
    """Of each item the share of subsets of k judges whose majority is correct, a tie half.

    Parameters
    ----------
    errors : ndarray of 0 and 1, shape (items, judges)
    k : int

    Examples
    --------
    >>> subset_credit(np.array([[0.0, 0.0, 1.0]]), 1).round(4).tolist()
    [0.6667]
    """
    wrong = errors.sum(axis=1).astype(int)
    judges = errors.shape[1]
    x = np.arange(k + 1)
    credit = np.where(2 * x < k, 1.0, np.where(2 * x == k, 0.5, 0.0))
    table = np.array([
        float(np.sum(credit * special.comb(w, x) * special.comb(judges - w, k - x)))
        for w in range(judges + 1)
    ]) / special.comb(judges, k)  # fmt: skip
    return np.asarray(table[wrong])


def modelled_accuracy(error: float, correlation: float, k: int) -> float:
    """Accuracy of the majority of k judges with beta-binomial errors; ties half.

    Parameters
    ----------
    error, correlation : float
        Mean error rate, and mean correlation of two judges' errors.
    k : int

    References
    ----------
    Williams (1975), Biometrics 31, 949-952; Ladha (1992), Am. J. Political Science 36, 617-634.

    Examples
    --------
    >>> round(modelled_accuracy(.2, 0.0, 3), 3), round(modelled_accuracy(.2, .5, 25), 3)
    (0.896, 0.829)
    """
    x = np.arange(k + 1)
    choose = special.gammaln(k + 1) - special.gammaln(x + 1) - special.gammaln(k - x + 1)
    if correlation < 1e-9:
        logs = choose + special.xlogy(x, error) + special.xlog1py(k - x, -error)
    else:
        a, b = (p * (1 - correlation) / correlation for p in (error, 1 - error))
        logs = choose + special.betaln(x + a, k - x + b) - special.betaln(a, b)
    weights = np.exp(logs)
    return float(weights[2 * x < k].sum() + 0.5 * weights[2 * x == k].sum())


def independent_accuracy(error_rates: Floats) -> float:
    """Accuracy of the majority if judges with these error rates erred independently; ties half.

    Examples
    --------
    >>> round(independent_accuracy(np.array([.2, .2, .2])), 3)
    0.896
    """
    weights = np.array([1.0])
    for rate in error_rates:
        weights = np.convolve(weights, [1 - rate, rate])
    x, k = np.arange(weights.size), weights.size - 1
    return float(weights[2 * x < k].sum() + 0.5 * weights[2 * x == k].sum())


COPY = 0.9
"""Correlation of two judges' errors from which one is named a near copy of the other."""
LEAST_LABELS = 20


def _voted(votes: Floats, weights: Floats) -> Floats:
    """The verdict with most weight on each item; NaN where both weigh the same."""
    total = np.where(votes == 1, weights[:, 0], 0.0).sum(axis=1)
    total = total + np.where(votes == 0, weights[:, 1], 0.0).sum(axis=1)
    return np.where(np.abs(total) < 1e-12, np.nan, (total > 0).astype(float))


def vote_weights(votes: Floats, y: Floats) -> Floats:
    """Log odds for a pass of each judge's pass and fail verdict, from labels (half a label added).

    Examples
    --------
    >>> y = np.array([1.0, 1.0, 0.0, 0.0])
    >>> vote_weights(y[:, None], y).round(2)
    array([[ 1.61, -1.61]])
    """
    out = np.zeros((votes.shape[1], 2))
    for j in range(votes.shape[1]):
        v = votes[:, j]
        counts = [
            (float(np.sum((v == a) & (y == 1))), float(np.sum((v == a) & (y == 0)))) for a in (1, 0)
        ]
        ones, zeros = counts[0][0] + counts[1][0], counts[0][1] + counts[1][1]
        for i, (k1, k0) in enumerate(counts):
            out[j, i] = math.log((k1 + 0.5) / (ones + 1)) - math.log((k0 + 0.5) / (zeros + 1))
    return out


@dataclasses.dataclass(frozen=True, kw_only=True)
class Panel(Report):
    """Agreement of a panel of judges with human labels, against its members.

    Attributes
    ----------
    accuracy : mapping of str to Estimate
        Of every judge, and of the panel ``majority`` and ``weighted`` (cross-fitted).
    against_best : mapping of str to Estimate
        Accuracy of each panel minus that of its best member: see `panel_gain`.
    effective_judges : float
        Independent judges of the same accuracy whose average would err as variably.
    copies : tuple of tuple
        Pairs of judges whose errors correlate above .9, with the correlation.
    calls : int
        Calls a verdict of the panel costs, where a member costs 1.
    sample : Sample
    notes : tuple of Note
    measure : {"accuracy", "mean squared error"}
        What `accuracy` holds: for scores their squared error, the smaller the better.
    """

    accuracy: Mapping[str, Estimate]
    against_best: Mapping[str, Estimate]
    effective_judges: float
    copies: tuple[tuple[str, str, float], ...]
    calls: int
    sample: Sample
    measure: str = "accuracy"
    TITLE = "Panel of judges"

    def tidy(self) -> pd.DataFrame:
        """One row per judge and panel, with the gain over the best member."""
        frame = pd.DataFrame([e.row() for e in self.accuracy.values()])
        gain = {k: v.estimate for k, v in self.against_best.items()}
        return frame.assign(
            judge=list(self.accuracy), gain=[gain.get(k, math.nan) for k in self.accuracy]
        )

    def sentence(self) -> str:
        """Whether the panel is better than its best member, and at what price."""
        parts = []
        share = self.measure == "accuracy"
        for name, gain in self.against_best.items():
            shown = with_bounds(gain.estimate, *bounds_of(gain.interval), bounded=share)
            if gain.interval is None:
                parts.append(f"{name}: {shown} against its best member")
                continue
            low, high = gain.interval.low, gain.interval.high
            if not share:  # the smaller the better
                low, high = -high, -low
            verdict = "better than" if low > 0 else "not distinguished from"
            verdict = "worse than" if high < 0 else verdict
            more = "".join(f"; {note.message.rstrip('.')}" for note in gain.notes)
            parts.append(f"the {name} is {verdict} its best member ({shown}{more})")
        text = (
            f"{'; '.join(parts)} in {self.measure}, at {self.calls} times the calls; "
            f"{self.calls} judges have {self.effective_judges:.1f} effective votes"
        )
        if self.copies:
            pairs = ", ".join(f"{a} and {b} ({r:.2f})" for a, b, r in self.copies)
            text += f"; near copies: {pairs}"
        return f"{text[0].upper()}{text[1:]} ({self.sample})."

    def lines(self) -> list[str]:
        """The sentence, and every judge and panel."""
        return [self.sentence(), *(f"{k}: {e.short()}" for k, e in self.accuracy.items())]


@with_keywords()
def panel_of_judges(
    votes: ArrayLike, human: ArrayLike, *, names: Sequence[str], **inference: Unpack[Seeded]
) -> Panel:
    r"""Is a panel of judges better than its best member?

    Parameters
    ----------
    votes : array-like, shape (N, judges)
        Verdicts, None where unparsed.
    human : array-like, shape (N,)
    names : sequence of str
        Of the judges.
    cluster : array-like, shape (N,), optional
        Folds keep clusters together.
    seed : int or None
        Of the folds.

    Returns
    -------
    Panel

    Raises
    ------
    InputError
        If shapes differ, names repeat or are those of a panel, there are fewer than two judges
        or 20 labels.

    Notes
    -----
    The gain over the best member and its interval are those of `panel_gain`. Weights are learnt on
    four fifths of the clusters and judged on the fifth: they are
    the log likelihood ratios of each judge's verdicts, as if judges erred independently. The
    effective number of judges: mean variance of the errors divided by the variance of their mean.
    Accuracy is never estimated without labels: Dawid and Skene's model calls the best judge the
    worst where the others agree on their errors.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(400) < 0.6
    >>> votes = np.where(rng.random((400, 5)) < 0.75, y[:, None], ~y[:, None])
    >>> out = panel_of_judges(votes, y, names=list("abcde"))
    >>> out.against_best["majority"].interval.low > 0, out.effective_judges > 4
    (True, True)
    """
    where = "panel_of_judges"
    v = verdict_values(votes, where=where, name="votes")
    y = verdict_values(human, where=where, name="human")
    f, y, codes, sample = labelled_panel(
        v, y, names, inference["cluster"], where=where, reserved=("majority", "weighted")
    )
    right = (f == y[:, None]).astype(float)
    weighted = np.empty(y.size)
    for out in folds(codes, inference["seed"]):
        weighted[out] = _credit(_voted(f[out], vote_weights(f[~out], y[~out])), y[out])
    majority = _credit(_voted(f, np.array([[1.0, -1.0]] * f.shape[1])), y)
    return _panel_of(
        dict(zip(names, right.T, strict=True)),
        {"majority": majority, "weighted": weighted},
        codes,
        sample,
        inference,
        errors=1 - right,
        unread=int(np.isnan(f).sum()),
    )


def _panel_of(
    members: Mapping[str, Floats],
    panels: Mapping[str, Floats],
    codes: Ints,
    sample: Sample,
    inference: Seeded,
    *,
    errors: Floats,
    unread: int = 0,
    squared: bool = False,
) -> Panel:
    """The members' and panels' credits (or squared errors) and what panels gain over the best."""
    name, label, most = _SQUARED if squared else _ACCURACY
    each = np.column_stack(list(members.values()))

    def part(values: Floats, member: str) -> Estimate:
        return mean_estimate(
            values, codes, name=name, label=label.format(member), sample=sample,
            level=inference["level"], least=0.0, most=most,
        )  # fmt: skip

    def gain(values: Floats, panel: str) -> Estimate:
        found = panel_gain(
            values, each, losses=squared, cluster=None if sample.n_clusters is None else codes,
            level=inference["level"], seed=inference["seed"],
        )  # fmt: skip
        return found.replace(label=f"{panel} minus its best member", sample=sample)

    message = f"{unread} unparsed verdicts count as wrong, and have no vote."
    return Panel(
        accuracy={n: part(v, n) for n, v in {**members, **panels}.items()},
        against_best={n: gain(v, n) for n, v in panels.items()},
        effective_judges=effective_judges(errors),
        copies=near_copies(errors, list(members)),
        calls=len(members),
        sample=sample,
        measure="mean squared error" if squared else "accuracy",
        notes=Note.where(unread, "unread_wrong", message),
    )


_ACCURACY = ("accuracy", "Accuracy of {}", 1.0)
_SQUARED = ("mean_squared_error", "Squared error of {}", math.inf)
"""Name and label of what a member or panel reaches, and the most that it can be."""


def labelled_panel(
    judged: Floats,
    y: Floats,
    names: Sequence[str],
    cluster: ArrayLike | None,
    *,
    where: str,
    reserved: Sequence[str],
    complete: bool = False,
) -> tuple[Floats, Floats, Ints, Sample]:
    """What judges and people said of the labelled items, their clusters and the sample.

    Names must tell judges from one another and from the panels made of them; with `complete` an
    item that a judge left without a score is left out.
    """
    if judged.ndim != 2 or judged.shape != (y.size, len(names)) or len(names) < 2:
        raise InputError(
            f"{where}: verdicts or scores must have one row for each label and one column for each "
            f"of at least two judges, got {judged.shape} and {y.shape} for {len(names)} names."
        )
    if len({*names, *reserved}) < len(names) + len(reserved):
        raise InputError(
            f"{where}: names must differ, and none may be {' or '.join(reserved)}, which name the "
            f"panels, got {list(names)}."
        )
    used = ~np.isnan(y) & ~(complete & np.isnan(judged).any(axis=1))
    codes = cluster_codes(cluster, y.size, where=where)
    n_clusters = np.unique(codes[used]).size
    if used.sum() < LEAST_LABELS or n_clusters < FOLDS:
        what = "labelled items with all scores" if complete else "labels"
        raise InputError(
            f"{where}: {int(used.sum())} {what} in {n_clusters} clusters are too few: at least "
            f"{LEAST_LABELS} in {FOLDS} clusters are needed."
        )
    sample = Sample.from_mask(
        used,
        "no label, or a judge without a score" if complete else "not labelled",
        None if cluster is None else codes,
        n_replications=len(names),
        repeated="judge",
    )
    return judged[used], y[used], codes[used], sample


def _credit(verdict: Floats, y: Floats) -> Floats:
    """1 right, 0 wrong, half for a tie."""
    return np.where(np.isnan(verdict), 0.5, (verdict == y).astype(float))


def near_copies(errors: Floats, names: Sequence[str]) -> tuple[tuple[str, str, float], ...]:
    """Pairs of judges that err alike, with the correlation of their errors."""
    sd = errors.std(axis=0)
    out = []
    for a in range(len(names)):
        for b in range(a + 1, len(names)):
            if sd[a] > 0 and sd[b] > 0:
                r = float(np.corrcoef(errors[:, a], errors[:, b])[0, 1])
                if r > COPY:
                    out.append((names[a], names[b], r))
    return tuple(out)


@with_keywords()
def panel_of_scores(
    scores: ArrayLike, human: ArrayLike, *, names: Sequence[str], **inference: Unpack[Seeded]
) -> Panel:
    r"""Compare the scores of several judges together with those of the best of them.

    Parameters
    ----------
    scores : array-like, shape (N, judges)
        NaN where unparsed.
    human : array-like, shape (N,)
        Human scores, NaN where there is none.
    names : sequence of str
    cluster : array-like, shape (N,), optional
        Folds keep clusters together.
    seed : int
        Of the folds.

    Returns
    -------
    Panel
        ``measure`` is the mean squared error; ``against_best`` is negative where a panel is better.

    Raises
    ------
    InputError
        If shapes differ, names repeat or are those of a panel, there are fewer than two judges, or
        20 items with a human score and scores of all judges.

    Notes
    -----
    ``weighted``: least squares of human scores on the judges' scores with intercept, shrunk towards
    the plain mean by the weight of one label per judge. Weights are learnt on four fifths of the
    clusters and judged on the fifth. The gain over the best member: `panel_gain`. Mean and median
    keep the judges' common bias, weights remove it. Near copies are judges whose errors correlate
    above .9.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> people = rng.normal(6, 1.5, 300)
    >>> scores = people[:, None] + rng.normal(0, 1, (300, 4))
    >>> out = panel_of_scores(scores, people, names=list("abcd"))
    >>> bool(out.against_best["mean"].interval.high < 0), out.effective_judges > 3
    (True, True)
    """
    where = "panel_of_scores"
    x = as_numbers(scores, "scores", where)
    y = as_numbers(human, "human", where)
    x, y, codes, sample = labelled_panel(
        x, y, names, inference["cluster"], where=where, complete=True,
        reserved=("mean", "median", "weighted"),
    )  # fmt: skip
    errors = x - y[:, None]
    weighted = np.empty(y.size)
    for out in folds(codes, inference["seed"]):
        weighted[out] = _weighted(x[~out], y[~out], x[out]) - y[out]
    panels = {"mean": np.mean(x, axis=1) - y, "median": np.median(x, axis=1) - y}
    return _panel_of(
        dict(zip(names, (errors**2).T, strict=True)),
        {n: e**2 for n, e in {**panels, "weighted": weighted}.items()},
        codes,
        sample,
        inference,
        errors=errors,
        squared=True,
    )


def _weighted(x: Floats, y: Floats, new: Floats) -> Floats:
    """Human score by least squares, the judges' deviations from their mean shrunk to 0."""
    judges = x.shape[1]

    def columns(of: Floats) -> Floats:
        mean = of.mean(axis=1, keepdims=True)
        return np.column_stack([np.ones(len(of)), mean, of - mean])

    design = columns(x)
    penalty = np.diag([0.0, 0.0, *([max(float(np.var(x)), 1e-12) * judges] * judges)])
    solved = np.linalg.lstsq(design.T @ design + penalty, design.T @ y, rcond=None)[0]
    return np.asarray(columns(new) @ solved)
