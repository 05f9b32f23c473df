"""Agreement with people on pairs of responses: the alignment score beside its baselines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgestats.arrays import Bools, Floats, Ints
from judgestats.errors import InputError
from judgestats.stats.inference.keywords import (
    ON_DEMAND,
    Permutations,
    Seeded,
    SumInference,
    with_keywords,
)
from judgestats.stats.inference.relation_null import relation_null
from judgestats.stats.inference.result import Estimate, NullReference, Sample
from judgestats.stats.inference.sum_statistics import (
    IntervalMethod,
    SumStatistic,
    estimate_from_sums,
)
from judgestats.stats.layouts.count_table import encode_verdicts

OUTCOMES = ("a", "b", "tie")
TIE = 2


def outcome_codes(verdicts: ArrayLike, where: str, *, categories: Sequence[str] = OUTCOMES) -> Ints:
    """Outcome codes 0 = a, 1 = b, 2 = tie (or by `categories`), -1 = missing."""
    return encode_verdicts(verdicts, categories=categories, where=where)[0]


def pair_credit(judge: Ints, human: Ints) -> Floats:
    """1 for the same outcome, .5 when exactly one is a tie, 0 otherwise; NaN where missing."""
    one_tie = (judge == TIE) != (human == TIE)
    value = np.where(judge == human, 1.0, np.where(one_tie, 0.5, 0.0))
    return np.where((judge >= 0) & (human >= 0), value, np.nan)


def share_of_sums() -> SumStatistic:
    """Sum of the second column over the sum of the first."""
    return SumStatistic(per_item=lambda x: x, combine=lambda s: np.asarray(s[..., 1] / s[..., 0]))


def alignment_credit(judge: ArrayLike, human: ArrayLike) -> Floats:
    """Credit of each pair: 1 same outcome, .5 exactly one says tie, 0 opposite, NaN missing.

    Parameters
    ----------
    judge, human : array-like of the same shape
        ``"a"``, ``"b"`` or ``"tie"``; None, NaN or empty text where not read.

    Returns
    -------
    ndarray of float
        For tests paired by pair (two methods on the same pairs).

    Raises
    ------
    InputError
        If an outcome is none of the three, or the shapes differ.

    Notes
    -----
    The score of the public study LLMasJudge.

    References
    ----------
    STATISTICS section 7 of the project's design.

    Examples
    --------
    >>> alignment_credit(["a", "a", "tie", None], ["a", "b", "b", "a"])
    array([1. , 0. , 0.5, nan])
    """
    a, b = outcome_codes(judge, "alignment_credit"), outcome_codes(human, "alignment_credit")
    if a.shape != b.shape:
        raise InputError(
            f"alignment_credit: judge and human must have the same shape, got {a.shape} and "
            f"{b.shape}. Align them by pair."
        )
    return pair_credit(a, b)


def labelled_pairs(
    judge: ArrayLike, human: ArrayLike, where: str, *, categories: Sequence[str] = OUTCOMES
) -> tuple[Ints, Ints, Bools, Sample]:
    """Codes of judge and human per pair, which pairs have both, and the sample."""
    a, b = (outcome_codes(v, where, categories=categories) for v in (judge, human))
    if a.ndim != 1 or a.shape != b.shape or a.size == 0:
        raise InputError(
            f"{where}: judge and human must be one outcome for each pair, got shapes {a.shape} and "
            f"{b.shape}. Align them by pair (one row for each human label)."
        )
    used = (a >= 0) & (b >= 0)
    excluded = {
        "no verdict of the judge": int(np.sum((a < 0) & (b >= 0))),
        "no human label": int(np.sum(b < 0)),
    }
    sample = Sample(
        n_items=int(used.sum()),
        excluded=excluded,
    )
    return a, b, used, sample


@with_keywords(permutations=ON_DEMAND)
def alignment_score(
    judge: ArrayLike,
    human: ArrayLike,
    *,
    strata: ArrayLike | None = None,
    **inference: Unpack[SumInference],
) -> Estimate:
    r"""Alignment score of a judge with human labels, beside its baselines on the same pairs.

    Parameters
    ----------
    judge, human : array-like, shape (n_pairs,)
        ``"a"``, ``"b"`` or ``"tie"`` for the same two responses; None, NaN or empty text where
        not read.
    cluster : array-like, shape (n_pairs,), optional
        The question of each pair: pairs of one question share answers.
    n_permutations : int
        Permutations of the null (human labels over pairs, within `strata`); 0 for none.
    strata : array-like, shape (n_pairs,), optional

    Returns
    -------
    Estimate
        ``details``: ``always_tie``, ``random_three`` (a, b, tie equally likely), ``random_two``
        (a, b), all on the same pairs, ``above_always_tie`` (difference with interval), and the
        3 x 3 ``table`` (rows judge, columns human; a, b, tie).

    Raises
    ------
    InputError
        If an outcome is none of the three, or the lengths differ.

    Notes
    -----
    1 when judge and human say the same of {a, b, tie}, .5 when exactly one says tie, 0 otherwise;
    the mean over pairs. Always saying tie earns .5 on every decided pair and 1 on every tied one,
    so the score of a set depends on its share of human ties: read it beside its baselines.

    References
    ----------
    The public study LLMasJudge (score and always-tie / random baselines).

    Examples
    --------
    >>> out = alignment_score(["a", "a", "tie", "b"], ["a", "b", "b", "b"])
    >>> out.estimate, out.details["always_tie"], out.details["random_two"]
    (0.625, 0.5, 0.5)
    """
    where = "alignment_score"
    a, b, used, sample = labelled_pairs(judge, human, where)
    credit = np.where(used, pair_credit(a, b), 0.0)
    tied = used & (b == TIE)
    table = np.zeros((3, 3))
    np.add.at(table, (a[used], b[used]), 1.0)
    share = float(tied.sum() / used.sum()) if used.any() else math.nan
    base = np.where(tied, 1.0, 0.5)

    def mean(name: str, label: str, values: Floats, *, proportion: bool) -> Estimate:
        return estimate_from_sums(
            share_of_sums(),
            np.column_stack([used, np.where(used, values, 0.0)]).astype(float),
            name=name,
            label=label,
            estimator="mean credit over pairs: 1 same, .5 exactly one tie, 0 otherwise",
            sample=sample,
            reason="no pair has both a verdict and a human label",
            where=where,
            cluster=inference["cluster"],
            level=inference["level"],
            interval=inference["interval"],
            scale="logit" if proportion else "identity",
            n_resamples=inference["n_resamples"],
            seed=inference["seed"],
            proportion=proportion,
        )

    above = mean(
        "alignment_above_always_tie", "Alignment above always tie", credit - base, proportion=False
    )
    result = mean(where, "Alignment score", credit, proportion=True).replace(
        details={
            "always_tie": 0.5 + 0.5 * share,
            "random_three": 0.5 + share / 6,
            "random_two": 0.5,
            "human_tie_share": share,
            "above_always_tie": above,
            "table": table,
            "outcomes": OUTCOMES,
        }
    )
    if inference["n_permutations"] and math.isfinite(result.estimate):
        null = _label_null(
            a[used],
            b[used],
            *(None if v is None else np.asarray(v)[used] for v in (inference["cluster"], strata)),
            n_permutations=inference["n_permutations"],
            seed=inference["seed"],
        )
        result = result.replace(null=null)
    return result


def _label_null(
    a: Ints,
    b: Ints,
    cluster: NDArray[Any] | None,
    strata: NDArray[Any] | None,
    **inference: Unpack[Permutations],
) -> NullReference:
    """Null of the score: human labels over pairs."""
    return relation_null(
        (b, a),
        lambda labels, verdicts: pair_credit(np.broadcast_to(verdicts, labels.shape), labels).mean(
            -1
        ),
        cluster=cluster,
        strata=strata,
        **inference,
        vectorized=True,
    )


@with_keywords()
def alignment_by_category(
    judge: ArrayLike,
    human: ArrayLike,
    *,
    category: ArrayLike,
    interval: IntervalMethod = "jackknife",
    **inference: Unpack[Seeded],
) -> dict[str, Estimate]:
    """Alignment score within each category of the pairs.

    Parameters
    ----------
    judge, human : array-like, shape (n_pairs,)
        See `alignment_score`.
    category : array-like, shape (n_pairs,)
        Label of each pair (writing, coding ...).
    interval
        See `alignment_score`.

    Returns
    -------
    dict of str to Estimate
        In the order of the sorted labels; each with its own baselines.

    Raises
    ------
    InputError
        If the lengths differ.

    Notes
    -----
    Baselines differ between categories, because human ties do.

    References
    ----------
    STATISTICS section 7 of the project's design.

    Examples
    --------
    >>> out = alignment_by_category(["a", "b", "a"], ["a", "a", "a"], category=["x", "x", "y"])
    >>> {k: e.estimate for k, e in out.items()}
    {'x': 0.5, 'y': 1.0}
    """
    labels = np.asarray(category).astype(str)
    a, b = np.asarray(judge, dtype=object), np.asarray(human, dtype=object)
    if labels.shape != a.shape or a.shape != b.shape:
        raise InputError(
            f"alignment_by_category: category must be one label for each of the {a.size} pairs, "
            f"got shape {labels.shape}. Align it with judge and human."
        )
    groups = None if inference["cluster"] is None else np.asarray(inference["cluster"])
    out = {}
    for name in np.unique(labels):
        rows = labels == name
        out[str(name)] = alignment_score(
            a[rows],
            b[rows],
            cluster=None if groups is None else groups[rows],
            level=inference["level"],
            interval=interval,
            seed=inference["seed"],
        )
    return out
