"""Panels of judges: votes, scores, choices, and learnt weights."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Literal, Unpack

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from judgestats.arrays import Floats, Ints
from judgestats.errors import InputError
from judgestats.results.numbers import bounds_of, with_bounds
from judgestats.stats.inference.bootstrap import cluster_codes
from judgestats.stats.inference.estimate import Estimate, Note, Result, Sample, notes_block
from judgestats.stats.inference.jackknife import mean_over_clusters
from judgestats.stats.inference.keywords import Seeded, with_keywords
from judgestats.stats.validity.inputs import FAIL_PASS, score_values, verdict_values

PanelRule = Literal["majority", "weighted", "mean", "median"]

COPY = 0.9
"""Correlation of two judges' errors from which one is named a near copy of the other."""
FOLDS = 5
LEAST_LABELS = 20


def panel_votes(
    votes: ArrayLike, *, rule: PanelRule = "majority", weights: ArrayLike | None = None
) -> Floats:
    """One verdict or score of several judges.

    Parameters
    ----------
    votes : array-like, shape (N, judges)
        0 and 1, or scores for ``mean`` and ``median``; NaN where a judge was not read.
    rule : {"majority", "weighted", "mean", "median"}
        ``weighted``: the sign of the sum of weights for 1 and against; a tie is NaN, as of
        ``majority``.
    weights : array-like, shape (judges, 2), optional
        Of ``weighted``: log odds that a pass and a fail verdict of each judge is worth (see
        `vote_weights`).

    Returns
    -------
    ndarray, shape (N,)

    Raises
    ------
    InputError
        If shapes differ or weights are missing.

    Examples
    --------
    >>> panel_votes([[1, 1, 0], [1, 0, None]]).tolist()
    [1.0, nan]
    """
    v = score_values(votes, where="panel_votes", name="votes")
    if v.ndim != 2 or v.size == 0:
        raise InputError(f"panel_votes: votes must have shape (items, judges), got {v.shape}.")
    present = ~np.isnan(v)
    if rule in {"mean", "median"}:
        out = np.full(v.shape[0], np.nan)
        some = present.any(axis=1)
        of = np.nanmean if rule == "mean" else np.nanmedian
        out[some] = of(v[some], axis=1)
        return out
    if rule not in {"majority", "weighted"}:
        raise InputError(
            f"panel_votes: rule must be majority, weighted, mean or median, got {rule!r}."
        )
    if np.any(present & (v != 0) & (v != 1)):
        raise InputError("panel_votes: verdicts must be 0 or 1. Use mean or median for scores.")
    w = np.column_stack([np.ones(v.shape[1]), -np.ones(v.shape[1])])
    if rule == "weighted":
        if weights is None or np.shape(weights) != (v.shape[1], 2):
            raise InputError("panel_votes: weighted needs two weights for each judge.")
        w = np.asarray(weights, dtype=float)
    total = np.where(v == 1, w[:, 0], 0.0).sum(axis=1) + np.where(v == 0, w[:, 1], 0.0).sum(axis=1)
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
class Panel(Result):
    """What a panel of judges is worth against people.

    Attributes
    ----------
    accuracy : mapping of str to Estimate
        Of every judge, and of the panel ``majority`` and ``weighted`` (cross-fitted).
    against_best : mapping of str to Estimate
        Accuracy of each panel minus that of its best member, member and weights chosen on the other
        folds.
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
    notes: tuple[Note, ...] = ()
    measure: str = "accuracy"

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
            verdict = (
                "better than" if low > 0 else "worse than" if high < 0 else "not told apart from"
            )
            parts.append(f"the {name} is {verdict} its best member ({shown})")
        text = (
            f"{'; '.join(parts)} in {self.measure}, at {self.calls} times the calls; "
            f"{self.calls} judges err like {self.effective_judges:.1f} independent ones"
        )
        if self.copies:
            pairs = ", ".join(f"{a} and {b} ({r:.2f})" for a, b, r in self.copies)
            text += f"; near copies: {pairs}"
        return f"{text[0].upper()}{text[1:]} ({self.sample})."

    def __str__(self) -> str:
        lines = ["", "\tPanel of judges", "", self.sentence()]
        lines += [f"{k}: {e.short()}" for k, e in self.accuracy.items()]
        return "\n".join([*lines, *notes_block(self.notes), ""])


@with_keywords()
def panel_of_judges(
    votes: ArrayLike,
    human: ArrayLike,
    *,
    names: Sequence[str],
    categories: Sequence[str] = FAIL_PASS,
    **inference: Unpack[Seeded],
) -> Panel:
    r"""Is a panel of judges better than its best member?

    Parameters
    ----------
    votes : array-like, shape (N, judges)
        Verdicts, None where unread.
    human : array-like, shape (N,)
    names : sequence of str
        Of the judges.
    categories : sequence of two str
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
    Best member and weights are chosen on four fifths of the clusters and judged on the fifth: the
    best of five equal judges looks .045 too good on the 100 labels it was chosen by. Weights are
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
    v = verdict_values(votes, categories=categories, where=where, name="votes")
    y = verdict_values(human, categories=categories, where=where, name="human")
    f, y, codes, sample = labelled_panel(
        v, y, names, inference["cluster"], where=where, reserved=("majority", "weighted")
    )
    right = (f == y[:, None]).astype(float)
    majority, weighted, best = _cross_fitted(f, y, right, codes, inference["seed"])
    accuracy = {
        name: accuracy_over_clusters(right[:, j], codes, name, sample, inference["level"])
        for j, name in enumerate(names)
    }
    gains = {}
    for name, credit in (("majority", majority), ("weighted", weighted)):
        accuracy[name] = accuracy_over_clusters(credit, codes, name, sample, inference["level"])
        gains[name] = accuracy_over_clusters(
            credit - best, codes, f"{name}_gain", sample, inference["level"], share=False
        )
    errors = 1 - right
    notes: list[Note] = []
    if np.isnan(f).any():
        message = f"{int(np.isnan(f).sum())} unread verdicts count as wrong, and have no vote."
        notes.append(Note(code="unread_wrong", message=message))
    return Panel(
        accuracy=accuracy,
        against_best=gains,
        effective_judges=effective_judges(errors),
        copies=near_copies(errors, names),
        calls=f.shape[1],
        sample=sample,
        notes=tuple(notes),
    )


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
            f"of at least two judges, got shapes {judged.shape} and {y.shape} for {len(names)} "
            "names."
        )
    if len({*names, *reserved}) < len(names) + len(reserved):
        raise InputError(
            f"{where}: names must differ, and none may be {' or '.join(reserved)}, which name the "
            f"panels, got {list(names)}. Rename that judge."
        )
    used = ~np.isnan(y) & ~(complete & np.isnan(judged).any(axis=1))
    codes = cluster_codes(cluster, y.size, where=where)[used]
    n_clusters = np.unique(codes).size
    if used.sum() < LEAST_LABELS or n_clusters < FOLDS:
        what = "labelled items with all scores" if complete else "labels"
        raise InputError(
            f"{where}: {int(used.sum())} {what} in {n_clusters} clusters are too few to choose and "
            f"to judge: at least {LEAST_LABELS} in {FOLDS} clusters."
        )
    n_out = int(np.sum(~used))
    why = "no label, or a judge without a score" if complete else "not labelled"
    sample = Sample(
        n_items=int(used.sum()),
        n_clusters=n_clusters if cluster is not None else None,
        n_replications=len(names),
        repeated="judge",
        excluded={why: n_out},
    )
    return judged[used], y[used], codes, sample


def folds_of(codes: Ints, seed: int | None) -> Ints:
    """The fold of each item; those of a cluster stay together."""
    kinds = np.unique(codes)
    fold = np.random.default_rng(seed).permutation(np.arange(kinds.size) % FOLDS)
    return np.asarray(fold[np.searchsorted(kinds, codes)])


def _credit(verdict: Floats, y: Floats) -> Floats:
    """1 right, 0 wrong, half for a tie."""
    return np.where(np.isnan(verdict), 0.5, (verdict == y).astype(float))


def _cross_fitted(
    f: Floats, y: Floats, right: Floats, codes: Ints, seed: int | None
) -> tuple[Floats, Floats, Floats]:
    """Credit of the majority, the weighted panel and the best member, the last two out of fold."""
    of = folds_of(codes, seed)
    weighted, best = np.empty(y.size), np.empty(y.size)
    for k in range(FOLDS):
        out = of == k
        w = vote_weights(f[~out], y[~out])
        weighted[out] = _credit(panel_votes(f[out], rule="weighted", weights=w), y[out])
        best[out] = right[out, int(np.argmax(right[~out].mean(axis=0)))]
    return _credit(panel_votes(f), y), weighted, best


def accuracy_over_clusters(
    values: Floats, codes: Ints, name: str, sample: Sample, level: float, *,
    share: bool = True,
) -> Estimate:  # fmt: skip
    """Accuracy, or a difference of accuracies, with an interval over clusters."""
    over = mean_over_clusters(values, codes)
    iv = over.interval(level)
    if iv is not None and share:
        iv = dataclasses.replace(iv, low=max(iv.low, 0.0), high=min(iv.high, 1.0))
    notes = () if iv else (Note(code="no_interval", message=f"No interval: {over.reason}."),)
    return Estimate(
        name="accuracy" if share else "accuracy_gain",
        label=f"Accuracy of {name}" if share else f"Accuracy over the best member ({name})",
        estimator="share of the labels" if share else "difference, chosen out of fold",
        estimate=over.mean,
        std_error=over.std_error,
        interval=iv,
        sample=sample,
        notes=notes,
    )


def effective_judges(errors: Floats) -> float:
    """Mean variance of the judges' errors over the variance of their mean."""
    whole = float(np.var(errors.mean(axis=1), ddof=1))
    each = float(np.mean(np.var(errors, axis=0, ddof=1)))
    return each / whole if whole > 0 else math.nan


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
def panel_of_choices(
    votes: ArrayLike, human: ArrayLike, *, names: Sequence[str], **inference: Unpack[Seeded]
) -> Panel:
    r"""Do several judges together choose the right answer more often than the best of them?

    Parameters
    ----------
    votes : array-like, shape (N, judges)
        The answer that each judge chose, None where unread.
    human : array-like, shape (N,)
        The right one, None where nobody said.
    names : sequence of str
        Of the judges.
    cluster : array-like, shape (N,), optional
        Folds keep clusters together.
    seed : int or None
        Of the folds.

    Returns
    -------
    Panel
        Of the ``plurality`` and of votes ``weighted`` by accuracy.

    Raises
    ------
    InputError
        If shapes differ, names repeat or are those of a panel, there are fewer than two judges or
        20 labels.

    Notes
    -----
    Answers with equally many votes share the credit. A vote weighs
    :math:`\log\{a (K - 1) / (1 - a)\}`, a the judge's accuracy and K the answers that an item was
    given on average, at least 2; weights and the best member are learnt on four fifths of the
    clusters and judged on the fifth.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> right = rng.integers(0, 4, 300)
    >>> votes = np.where(rng.random((300, 5)) < 0.6, right[:, None], rng.integers(0, 4, (300, 5)))
    >>> out = panel_of_choices(votes, right, names=list("abcde"))
    >>> out.against_best["plurality"].interval.low > 0
    True
    """
    where = "panel_of_choices"
    votes_array = np.asarray(votes, dtype=object)
    labels_array = np.asarray(human, dtype=object)
    if votes_array.ndim != 2 or labels_array.shape != votes_array.shape[:1]:
        raise InputError(
            f"{where}: votes must have one row for each label, got shapes {votes_array.shape} and "
            f"{labels_array.shape}."
        )
    both = np.column_stack([votes_array, labels_array])
    empty = np.array([v is None or v == "" or v != v for v in both.ravel()])  # noqa: PLR0124 (NaN)
    codes_of, _ = pd.factorize(np.array([str(v) for v in both.ravel()], dtype=object))
    coded = np.where(empty, np.nan, codes_of.astype(float)).reshape(both.shape)
    x, y, codes, sample = labelled_panel(
        coded[:, :-1], coded[:, -1], names, inference["cluster"], where=where,
        reserved=("plurality", "weighted"),
    )  # fmt: skip
    right = (x == y[:, None]).astype(float)
    options = max(2.0, float(np.mean([len(set(r[~np.isnan(r)])) for r in np.c_[x, y]])))
    plurality = _choice_panel_credit(x, y, np.ones(x.shape[1]))
    weighted, best = np.empty(y.size), np.empty(y.size)
    fold = folds_of(codes, inference["seed"])
    for k in range(FOLDS):
        out = fold == k
        shares = (right[~out].sum(axis=0) + 0.5) / (np.sum(~out) + 1)
        weighted[out] = _choice_panel_credit(
            x[out], y[out], np.log(shares * (options - 1) / (1 - shares))
        )
        best[out] = right[out, int(np.argmax(right[~out].mean(axis=0)))]
    level = inference["level"]
    each = {n: right[:, j] for j, n in enumerate(names)}
    panels = {"plurality": plurality, "weighted": weighted}
    unread = int(np.isnan(x).sum())
    message = f"{unread} unread choices count as wrong, and have no vote."
    return Panel(
        accuracy={
            n: accuracy_over_clusters(c, codes, n, sample, level)
            for n, c in (each | panels).items()
        },
        against_best={
            n: accuracy_over_clusters(c - best, codes, n, sample, level, share=False)
            for n, c in panels.items()
        },
        effective_judges=effective_judges(1 - right),
        copies=near_copies(1 - right, names),
        calls=x.shape[1],
        sample=sample,
        notes=(Note(code="unread_wrong", message=message),) if unread else (),
    )


def _choice_panel_credit(votes: Floats, right: Floats, weights: Floats) -> Floats:
    """Of each item, the share of the answers with most weight that is the right one."""
    out = np.zeros(right.size)
    for i, (row, true) in enumerate(zip(votes, right, strict=True)):
        read = ~np.isnan(row)
        if not read.any():
            continue
        answers, place = np.unique(row[read], return_inverse=True)
        total = np.bincount(place.reshape(-1), weights[read])
        top = answers[total >= total.max() - 1e-12]
        out[i] = float(true in top) / top.size if math.isfinite(total.max()) else 0.0
    return out


@with_keywords()
def panel_of_scores(
    scores: ArrayLike, human: ArrayLike, *, names: Sequence[str], **inference: Unpack[Seeded]
) -> Panel:
    r"""Are several judges' scores together nearer to people's than the best judge's?

    Parameters
    ----------
    scores : array-like, shape (N, judges)
        NaN where unread.
    human : array-like, shape (N,)
        People's scores, NaN where there is none.
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
        20 items with all judges' scores and people's.

    Notes
    -----
    ``weighted``: least squares of people's score on the judges' with intercept, shrunk towards the
    plain mean by one label's worth a judge; it and the best member are learnt on four fifths of the
    clusters and judged on the fifth. Mean and median keep the judges' common bias, weights take it
    out. Near copies are judges whose errors correlate above .9.

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
    x = score_values(scores, where=where, name="scores")
    y = score_values(human, where=where, name="human")
    x, y, codes, sample = labelled_panel(
        x, y, names, inference["cluster"], where=where, complete=True,
        reserved=("mean", "median", "weighted"),
    )  # fmt: skip
    errors = x - y[:, None]
    weighted, best = np.empty(y.size), np.empty(y.size)
    fold = folds_of(codes, inference["seed"])
    for k in range(FOLDS):
        out = fold == k
        weighted[out] = _weighted(x[~out], y[~out], x[out]) - y[out]
        best[out] = errors[out, int(np.argmin((errors[~out] ** 2).mean(axis=0)))]
    panels = {
        "mean": panel_votes(x, rule="mean") - y,
        "median": panel_votes(x, rule="median") - y,
        "weighted": weighted,
    }

    def part(values: Floats, name: str, label: str) -> Estimate:
        over = mean_over_clusters(values, codes)
        iv = over.interval(inference["level"])
        notes = () if iv else (Note(code="no_interval", message=f"No interval: {over.reason}."),)
        return Estimate(
            name=name, label=label, estimate=over.mean, std_error=over.std_error, interval=iv,
            sample=sample, notes=notes,
        )  # fmt: skip

    squared = {name: errors[:, j] ** 2 for j, name in enumerate(names)}
    squared |= {name: e**2 for name, e in panels.items()}
    return Panel(
        accuracy={
            n: part(v, "mean_squared_error", f"Squared error of {n}") for n, v in squared.items()
        },
        against_best={
            n: part(e**2 - best**2, "squared_error_gain", f"Squared error over the best ({n})")
            for n, e in panels.items()
        },
        effective_judges=effective_judges(errors),
        copies=near_copies(errors, names),
        calls=x.shape[1],
        sample=sample,
        measure="mean squared error",
    )


def _weighted(x: Floats, y: Floats, new: Floats) -> Floats:
    """People's score by least squares, the judges' deviations from their mean shrunk to 0."""
    judges = x.shape[1]

    def columns(of: Floats) -> Floats:
        mean = of.mean(axis=1, keepdims=True)
        return np.column_stack([np.ones(len(of)), mean, of - mean])

    design = columns(x)
    penalty = np.diag([0.0, 0.0, *([max(float(np.var(x)), 1e-12) * judges] * judges)])
    solved = np.linalg.lstsq(design.T @ design + penalty, design.T @ y, rcond=None)[0]
    return np.asarray(columns(new) @ solved)
