"""Errors that judges share."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from judgestats.arrays import Bools, Floats, Ints
from judgestats.errors import InputError
from judgestats.stats.agreement.kappa import cohen_kappa
from judgestats.stats.designs.count_table import encode_verdicts
from judgestats.stats.inference.bootstrap import cluster_codes
from judgestats.stats.inference.estimate import Interval, Note, Sample
from judgestats.stats.inference.keywords import Clustered, with_keywords
from judgestats.stats.inference.multiplicity import with_adjusted
from judgestats.stats.inference.result import Comparison, Comparisons


@with_keywords()
def shared_errors(
    verdicts: ArrayLike,
    truth: ArrayLike,
    *,
    names: Sequence[str] | None = None,
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
    for (i, j), table in tables.items():
        used = read[:, i] & read[:, j]
        a, b = wrong[used, i], wrong[used, j]
        top, bottom = whole - parts[i, j]
        odds = min(max(top / bottom, 1.0), 1e6) if bottom > 0 else 1.0
        p, expected = _exact(table, odds)
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
                p_value=math.nan if reason else p,
                estimate_name="kappa_of_errors", interval=kappa[1], effect=share,
                effect_name="same_wrong_answer", n=int(used.sum()), reason=reason,
            )
        )  # fmt: skip
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
        adjust="holm",
        family="pairs of judges",
        rows=with_adjusted(rows, "holm"),
        sample=Sample.of(
            gold >= 0,
            {"not read, or no truth": int(np.sum(~read))},
            groups if inference["cluster"] is not None else None,
            n_replications=len(judges),
            repeated="judge",
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
