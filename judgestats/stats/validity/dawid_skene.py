"""Dawid-Skene error rates, and errors that judges share."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Sequence
from typing import Unpack

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from judgestats.arrays import Bools, Floats, Ints
from judgestats.errors import InputError
from judgestats.stats.agreement.kappa import cohen_kappa
from judgestats.stats.designs.count_table import encode_verdicts
from judgestats.stats.inference.bootstrap import cluster_codes
from judgestats.stats.inference.estimate import Interval, Note, Result, Sample, notes_block
from judgestats.stats.inference.keywords import Clustered, Resampled, with_keywords
from judgestats.stats.inference.multiplicity import Adjustment, with_adjusted
from judgestats.stats.inference.result import Comparison, Comparisons
from judgestats.stats.validity.inputs import FAIL_PASS, share_over_clusters, verdict_values

LEAST_GOLD = 20
LEAST_OF_ONE = 5
_STEPS = 500


@dataclasses.dataclass(frozen=True, kw_only=True)
class JudgeErrors(Result):
    """Error rates of judges by Dawid and Skene's model, beside those on the labels alone.

    Attributes
    ----------
    rows : DataFrame
        A judge a row: ``sensitivity``, ``specificity``, ``accuracy`` with ``accuracy_low`` and
        ``accuracy_high`` by the model; ``gold_accuracy`` with its limits on the labelled items.
    prevalence : float
        Share of passes by the model.
    posterior : ndarray, shape (N,)
        Chance of a pass of every item; of a labelled one its label.
    sample : Sample
    notes : tuple of Note
    reason : str
        Why no accuracy is given.
    """

    rows: pd.DataFrame
    prevalence: float
    posterior: Floats
    sample: Sample
    notes: tuple[Note, ...] = ()
    reason: str = ""

    def tidy(self) -> pd.DataFrame:
        """One row per judge."""
        return self.rows

    def sentence(self) -> str:
        """Each judge's accuracy by the model and on the labels."""
        if self.reason:
            return f"No accuracy by Dawid and Skene's model: {self.reason}."
        text = "; ".join(
            f"{r['judge']} {r['accuracy']:.3f} (on the labels {r['gold_accuracy']:.3f})"
            for r in self.rows.to_dict("records")
        )
        return f"Accuracy by Dawid and Skene's model: {text} ({self.sample})."

    def __str__(self) -> str:
        lines = ["", "\tDawid and Skene's model", "", self.sentence()]
        if not self.reason:
            lines.append(self.rows.to_string(index=False, float_format=lambda v: f"{v:.3f}"))
        return "\n".join([*lines, *notes_block(self.notes), ""])


@with_keywords()
def dawid_skene(
    votes: ArrayLike,
    human: ArrayLike,
    *,
    names: Sequence[str],
    categories: Sequence[str] = FAIL_PASS,
    **inference: Unpack[Resampled],
) -> JudgeErrors:
    r"""Error rates of several judges of all items, from labels of a few.

    Parameters
    ----------
    votes : array-like, shape (N, judges)
        Verdicts, None where unread.
    human : array-like, shape (N,)
        The gold subset: labels, None where there is none.
    names : sequence of str
        Of the judges.
    categories : sequence of two str
        The verdicts' words, the negative one first.

    Returns
    -------
    JudgeErrors
        Without an accuracy, and with the reason, where fewer than 20 items are labelled or fewer
        than 5 of one label: the model then calls right what most judges say.

    Raises
    ------
    InputError
        If shapes differ or there are fewer than two judges.

    Notes
    -----
    EM with labels held fixed, half a verdict added to each rate; intervals by the percentile
    bootstrap over clusters. Judges are taken to err independently given the truth. Where they err
    together (on LLMBar the best judge is called the worst) the model contradicts the labels: a
    judge whose accuracy by the model lies outside its interval on the labels is named, and the
    labels are to be believed.

    References
    ----------
    Dawid & Skene (1979), Applied Statistics 28, 20-28.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(600) < 0.6
    >>> votes = np.where(rng.random((600, 3)) < [0.9, 0.8, 0.7], y[:, None], ~y[:, None])
    >>> gold = np.where(np.arange(600) < 60, y, np.nan)
    >>> out = dawid_skene(votes, gold, names=list("abc"), n_resamples=19)
    >>> [abs(a - t) < 0.05 for a, t in zip(out.rows["accuracy"], [0.9, 0.8, 0.7])]
    [True, True, True]
    >>> dawid_skene(votes, np.full(600, np.nan), names=list("abc")).sentence()
    "No accuracy by Dawid and Skene's model: 0 of 600 items are labelled, at least 20 are needed."
    """
    where = "dawid_skene"
    v = verdict_values(votes, categories=categories, where=where, name="votes")
    y = verdict_values(human, categories=categories, where=where, name="human")
    if v.ndim != 2 or v.shape[0] != y.size or v.shape[1] != len(names) or v.shape[1] < 2:
        raise InputError(
            f"{where}: votes must have one row for each label and one column for each of at least "
            f"two judges, got shapes {v.shape} and {y.shape} for {len(names)} names."
        )
    codes = cluster_codes(inference["cluster"], y.size, where=where)
    gold = ~np.isnan(y)
    clustered = inference["cluster"] is not None
    sample = Sample(
        n_items=y.size,
        n_clusters=int(np.unique(codes).size) if clustered else None,
        n_replications=v.shape[1],
        repeated="judge",
    )
    if reason := _too_little(y[gold], y.size):
        return JudgeErrors(
            rows=pd.DataFrame(), prevalence=math.nan, posterior=np.full(y.size, math.nan),
            sample=sample, reason=reason,
        )  # fmt: skip
    # Items of the same verdicts and label are alike: the model sees how many there are.
    kinds, place = np.unique(np.nan_to_num(np.c_[v, y], nan=2.0), axis=0, return_inverse=True)
    place = place.reshape(-1)
    patterns = np.where(kinds == 2, np.nan, kinds)
    rates, prevalence, posterior = _fitted(patterns, np.bincount(place).astype(float))
    present, compact = np.unique(codes, return_inverse=True)
    by_cluster = np.zeros((present.size, len(patterns)))
    np.add.at(by_cluster, (compact.reshape(-1), place), 1.0)
    rng = np.random.default_rng(inference["seed"])
    drawn = []
    for _ in range(inference["n_resamples"]):
        counts = rng.multinomial(present.size, np.full(present.size, 1 / present.size))
        again, share, _ = _fitted(patterns, counts @ by_cluster, start=rates)
        drawn.append(share * again[:, 0] + (1 - share) * again[:, 1])
    tail = (1 - inference["level"]) / 2
    ends = (
        np.quantile(drawn, [tail, 1 - tail], axis=0) if drawn else np.full((2, len(names)), np.nan)
    )
    rows, contradicted = [], []
    for j, name in enumerate(names):
        se, sp = rates[j]
        model = prevalence * se + (1 - prevalence) * sp
        read = gold & ~np.isnan(v[:, j])
        of = share_over_clusters(
            (v[:, j] == y)[read].astype(float), np.ones(int(read.sum())), codes[read],
            clustered=clustered, level=inference["level"],
        )  # fmt: skip
        if not of.low <= model <= of.high:
            contradicted.append(name)
        rows.append(
            {"judge": name, "sensitivity": se, "specificity": sp, "accuracy": model,
             "accuracy_low": ends[0, j], "accuracy_high": ends[1, j], "gold_accuracy": of.share,
             "gold_low": of.low, "gold_high": of.high}
        )  # fmt: skip
    notes: tuple[Note, ...] = ()
    if contradicted:
        message = (
            f"The labels contradict the model for {', '.join(contradicted)}: the judges do not err "
            "independently. Believe the labels."
        )
        notes = (Note(code="model_contradicted", message=message),)
    return JudgeErrors(
        rows=pd.DataFrame(rows), prevalence=prevalence, posterior=posterior[place], sample=sample,
        notes=notes,
    )  # fmt: skip


def _too_little(labels: Floats, n: int) -> str:
    if labels.size < LEAST_GOLD:
        return f"{labels.size} of {n} items are labelled, at least {LEAST_GOLD} are needed"
    fewest = int(min(labels.sum(), (1 - labels).sum()))
    if fewest < LEAST_OF_ONE:
        return f"only {fewest} labels are of one kind, at least {LEAST_OF_ONE} are needed"
    return ""


def _fitted(
    patterns: Floats, counts: Floats, *, start: Floats | None = None
) -> tuple[Floats, float, Floats]:
    """Sensitivity and specificity of each judge, prevalence, chance of a pass by pattern."""
    votes, label = patterns[:, :-1], patterns[:, -1]
    read = ~np.isnan(votes)
    passed = np.where(read, votes, 0.0)
    rates = np.full((votes.shape[1], 2), 0.7) if start is None else start
    prevalence = 0.5
    chance = np.zeros(len(patterns))
    for _ in range(_STEPS):
        se, sp = np.clip(rates[:, 0], 1e-6, 1 - 1e-6), np.clip(rates[:, 1], 1e-6, 1 - 1e-6)
        odds = np.where(
            read, np.where(passed == 1, np.log(se / (1 - sp)), np.log((1 - se) / sp)), 0.0
        ).sum(axis=1) + math.log(prevalence / (1 - prevalence))
        before = chance
        chance = np.where(np.isnan(label), 1 / (1 + np.exp(-np.clip(odds, -500, 500))), label)
        good, bad = (counts * chance)[:, None], (counts * (1 - chance))[:, None]
        hit, miss = (good * passed * read).sum(axis=0), (bad * (1 - passed) * read).sum(axis=0)
        rates = np.column_stack(
            [(hit + 0.5) / ((good * read).sum(axis=0) + 1),
             (miss + 0.5) / ((bad * read).sum(axis=0) + 1)]
        )  # fmt: skip
        prevalence = float((good.sum() + 0.5) / (counts.sum() + 1))
        if np.max(np.abs(chance - before)) < 1e-8:
            break
    return rates, prevalence, chance


@with_keywords()
def shared_errors(
    verdicts: ArrayLike,
    truth: ArrayLike,
    *,
    names: Sequence[str] | None = None,
    adjust: Adjustment = "holm",
    **inference: Unpack[Clustered],
) -> Comparisons:
    r"""Do two judges err on the same items more often than the items' difficulty explains?

    Parameters
    ----------
    verdicts : array-like, shape (n_items, judges)
        Chosen options in words or numbers; None, NaN or empty where unread.
    truth : array-like, shape (n_items,)
        The right option.
    names : sequence of str, optional
        Of the judges.
    adjust : str
        Over the pairs.

    Returns
    -------
    Comparisons
        One row a pair: Cohen's kappa of their errors with its interval; ``effect`` is the share of
        the same wrong option where both are wrong, NaN with two options, where it must be 1.
        ``details``: ``error_rates``, and by pair ``both_wrong`` and ``expected``, the number that
        difficulty explains.

    Raises
    ------
    InputError
        If there are fewer than two judges, or shapes differ.

    Notes
    -----
    Errors correlate because items are hard. p is one-sided, for errors together among items that
    the same number of the *other* judges got wrong, given the errors of each. That number tells
    difficulty in part only, so the pair is held to the odds ratio that all other pairs have there
    (Mantel and Haenszel; at least 1), not to independence: p is that of noncentral hypergeometric
    counts. With two judges there is nothing to hold to, and p tells copies from hard items not at
    all. p takes items as independent, the interval does not. An LLM and its
    sibling had kappa .66, two unrelated ones .19; a judge that copies 80 % .83.

    References
    ----------
    Mantel & Haenszel (1959), J. Natl. Cancer Inst. 22, 719-748.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(4, size=300)
    >>> said = np.where(rng.random((300, 3)) < 0.6, truth[:, None], rng.integers(4, size=(300, 3)))
    >>> copied = np.column_stack([said, np.where(rng.random(300) < 0.8, said[:, 2], truth)])
    >>> out = shared_errors(copied, truth, names=["a", "b", "c", "copy"])
    >>> [(r.a, r.b) for r in out.rows if r.p_adjusted < 0.05]
    [('c', 'copy')]
    """
    where = "shared_errors"
    verdicts_array, right = np.asarray(verdicts), np.asarray(truth)
    if (
        verdicts_array.ndim != 2
        or verdicts_array.shape[1] < 2
        or right.shape != (verdicts_array.shape[0],)
        or not right.size
    ):
        raise InputError(
            f"{where}: verdicts must be items x judges (at least two) with one truth an item, got "
            f"shapes {verdicts_array.shape} and {right.shape}."
        )
    judges = (
        tuple(names)
        if names is not None
        else tuple(f"j{i + 1}" for i in range(verdicts_array.shape[1]))
    )
    if len(judges) != verdicts_array.shape[1]:
        raise InputError(
            f"{where}: {len(judges)} names for {verdicts_array.shape[1]} judges. Name each."
        )
    both = np.column_stack([verdicts_array.astype(object), right.astype(object)])
    codes, options = encode_verdicts(both, where=where)
    choice, gold = codes[:, :-1], codes[:, -1]
    read = (choice >= 0) & (gold[:, None] >= 0)
    wrong = read & (choice != gold[:, None])
    groups = cluster_codes(inference["cluster"], gold.size, where=where)
    rows, counts, tables = [], {}, {}
    for i, j in itertools.combinations(range(len(judges)), 2):
        used = read[:, i] & read[:, j]
        others = np.delete(wrong, [i, j], axis=1).sum(axis=1)[used]
        tables[i, j] = _strata(wrong[used, i], wrong[used, j], others)
    parts = {pair: _odds_parts(table) for pair, table in tables.items()}
    whole = np.sum(list(parts.values()), axis=0)
    for i in range(len(judges)):
        for j in range(i + 1, len(judges)):
            used = read[:, i] & read[:, j]
            a, b = wrong[used, i], wrong[used, j]
            top, bottom = whole - parts[i, j]
            odds = min(max(top / bottom, 1.0), 1e6) if bottom > 0 else 1.0
            p, expected = _exact(tables[i, j], odds)
            together = a & b
            same = (choice[used, i] == choice[used, j])[together]
            share = float(same.mean()) if same.size and len(options) > 2 else math.nan
            kappa = _kappa(a, b, groups[used], inference["level"])
            counts[f"{judges[i]} - {judges[j]}"] = {
                "both_wrong": int(together.sum()), "expected": expected, "n": int(used.sum()),
            }  # fmt: skip
            reason = kappa[2]
            rows.append(
                Comparison(
                    a=judges[i], b=judges[j], estimate=kappa[0], statistic=float(together.sum()),
                    p_value=math.nan if reason else p, p_adjusted=math.nan,
                    estimate_name="kappa_of_errors", interval=kappa[1], effect=share,
                    effect_name="same_wrong_answer", n=int(used.sum()), reason=reason,
                )
            )  # fmt: skip
    lost = int(np.sum(~read))
    notes = []
    if len(judges) == 2:
        message = "With two judges hard items and shared errors cannot be told apart: add a third."
        notes.append(Note(code="difficulty_unknown", message=message))
    if len(options) <= 2:
        message = "With two options two wrong answers are always the same: kappa alone speaks."
        notes.append(Note(code="two_options", message=message))
    with np.errstate(invalid="ignore"):
        rates = wrong.sum(axis=0) / read.sum(axis=0)
    return Comparisons(
        name=where,
        method="Errors of two judges on the same items, within items of like difficulty",
        adjust=adjust,
        family="pairs of judges",
        rows=with_adjusted(rows, adjust),
        sample=Sample(
            n_items=int((gold >= 0).sum()),
            n_clusters=int(np.unique(groups).size) if inference["cluster"] is not None else None,
            n_replications=len(judges),
            repeated="judge",
            excluded={"not read, or no truth": lost},
        ),
        notes=tuple(notes),
        details={
            "error_rates": dict(zip(judges, np.nan_to_num(rates).tolist(), strict=True)),
            "pairs": counts,
        },
    )


def _kappa(a: Bools, b: Bools, groups: Ints, level: float) -> tuple[float, Interval | None, str]:
    """Cohen's kappa of two judges' errors with its interval, or why it is undefined."""
    if a.size == 0:
        return math.nan, None, "no item was judged by both"
    words = np.column_stack([np.where(a, "wrong", "right"), np.where(b, "wrong", "right")])
    kappa = cohen_kappa(words[:, 0], words[:, 1], cluster=groups, level=level)
    reason = "" if math.isfinite(kappa.estimate) else (kappa.reason or "neither judge errs")
    return kappa.estimate, kappa.interval, reason


def _strata(a: Bools, b: Bools, others: Ints) -> Floats:
    """Items, errors of each and of both by number of others that erred: shape (strata, 4)."""
    rows = []
    for s in np.unique(others):
        at = others == s
        rows.append([at.sum(), a[at].sum(), b[at].sum(), (a & b)[at].sum()])
    return np.array(rows, dtype=float).reshape(-1, 4)


def _odds_parts(tables: Floats) -> Floats:
    """Numerator and denominator of Mantel and Haenszel's odds ratio."""
    n, a, b, both = tables.T
    return np.array([np.sum(both * (n - a - b + both) / n), np.sum((a - both) * (b - both) / n)])


def _exact(tables: Floats, odds: float) -> tuple[float, float]:
    """Chance of as many errors together as seen, and the number expected, at an odds ratio."""
    from scipy import stats

    law = np.ones(1)
    for n, a, b, _ in tables.astype(int):
        k = np.arange(min(a, b) + 1)
        part = stats.hypergeom.pmf(k, n, a, b) * odds**k
        law = np.convolve(law, part / part.sum())
    seen = int(tables[:, 3].sum())
    return float(min(law[seen:].sum(), 1.0)), float(law @ np.arange(law.size))
