"""Accuracy against human labels, and what people score against each other."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike

from judgestats.errors import InputError, one_of
from judgestats.stats.agreement.alignment import (
    OUTCOMES,
    TIE,
    labelled_pairs,
    outcome_codes,
    pair_credit,
    share_of_sums,
)
from judgestats.stats.inference.keywords import SumResampled, with_keywords
from judgestats.stats.inference.result import Estimate, Sample
from judgestats.stats.inference.sum_statistics import estimate_from_sums


@with_keywords()
def accuracy(
    judge: ArrayLike,
    human: ArrayLike,
    *,
    ties: Literal["include", "exclude", "half"] = "include",
    categories: Sequence[str] = OUTCOMES,
    **inference: Unpack[SumResampled],
) -> Estimate:
    """Share of pairs on which the judge says what the human said.

    Parameters
    ----------
    judge, human : array-like, shape (n_pairs,)
        See `alignment_score`.
    ties : {"include", "exclude", "half"}
        ``include``: a tie is an outcome like the others. ``exclude``: only pairs that both decide.
        ``half``: only pairs the human decides, a judge's tie earns .5.
    categories : sequence of str
        The outcomes; others than a, b, tie (as pass, fail) have no tie, so `ties` is ``include``.

    Returns
    -------
    Estimate

    Raises
    ------
    InputError
        If `ties` is unknown or has no meaning for the categories, an outcome is none of them, or
        the lengths differ.

    Notes
    -----
    ``exclude`` favours a judge that says tie whenever it is unsure: ``details["decided"]`` is the
    share of the pairs it decides.

    References
    ----------
    STATISTICS section 7 of the project's design.

    Examples
    --------
    >>> judge, human = ["a", "a", "tie", "b"], ["a", "b", "b", "tie"]
    >>> [round(accuracy(judge, human, ties=t).estimate, 4) for t in ("include", "exclude", "half")]
    [0.25, 0.5, 0.5]
    """
    where = "accuracy"
    one_of(where, "ties", ties, ("include", "exclude", "half"))
    if tuple(categories) != OUTCOMES and ties != "include":
        raise InputError(
            f"{where}: ties={ties!r} needs the outcomes a, b and tie, got {list(categories)}. "
            "Leave ties out."
        )
    a, b, used, sample = labelled_pairs(judge, human, where, categories=categories)
    decided = used & (b != TIE)
    kept = {"include": used, "exclude": decided & (a != TIE), "half": decided}[ties]
    right = np.where(a == b, 1.0, 0.0)
    if ties == "half":
        right = np.where(a == TIE, 0.5, right)
    n_tied = int(used.sum() - kept.sum())
    excluded = {**sample.excluded, **({"a tie": n_tied} if n_tied else {})}
    return estimate_from_sums(
        share_of_sums(),
        np.column_stack([kept, np.where(kept, right, 0.0)]),
        name=f"accuracy_{ties}_ties" if ties != "half" else "accuracy_ties_half",
        label="Accuracy"
        if tuple(categories) != OUTCOMES
        else {
            "include": "Accuracy (a tie is an outcome)",
            "exclude": "Accuracy on pairs that both decide",
            "half": "Accuracy on pairs the human decides (a judge's tie counts half)",
        }[ties],
        estimator=f"ties: {ties}",
        sample=Sample(
            n_items=int(kept.sum()), n_excluded=int(a.size - kept.sum()), excluded=excluded
        ),
        reason="no pair is left",
        where=where,
        scale="logit",
        **inference,
        proportion=True,
        details={
            "decided": float(np.mean(a[decided] != TIE)) if decided.any() else math.nan,
            "chance": 1 / len(categories) if ties == "include" else 0.5,
        },
    )


@with_keywords()
def human_ceiling(
    labels: ArrayLike,
    *,
    score: Literal["alignment", "accuracy"] = "alignment",
    **inference: Unpack[SumResampled],
) -> Estimate:
    """What one person scores against another on the same pairs: the ceiling for a judge.

    Parameters
    ----------
    labels : array-like, shape (n_pairs, n_annotators)
        ``"a"``, ``"b"`` or ``"tie"``; None, NaN or empty text where an annotator did not label.
    score : {"alignment", "accuracy"}
        The alignment score (ties count half) or plain equality of the three outcomes.

    Returns
    -------
    Estimate
        Mean over pairs of the mean over pairs of annotators. ``details``: ``by_annotators``.

    Raises
    ------
    InputError
        If an outcome is none of the three or there is one annotator only.

    Notes
    -----
    Compare it with the judge's mean score against *single* annotators; a judge compared with the
    annotators' majority has a higher ceiling than this.

    References
    ----------
    STATISTICS section 7 of the project's design.

    Examples
    --------
    >>> human_ceiling([["a", "a", "b"], ["tie", "a", "a"]]).estimate.__round__(4)
    0.5
    """
    where = "human_ceiling"
    codes = outcome_codes(labels, where)
    if codes.ndim != 2 or codes.shape[1] < 2 or codes.shape[0] == 0:
        raise InputError(
            f"{where}: labels must have shape (pairs, annotators) with at least two annotators, "
            f"got {codes.shape}. Put one pair in each row."
        )
    one_of(where, "score", score, ("alignment", "accuracy"))
    both = list(itertools.combinations(range(codes.shape[1]), 2))
    credit = np.column_stack([pair_credit(codes[:, i], codes[:, j]) for i, j in both])
    if score == "accuracy":
        credit = np.where(np.isnan(credit), np.nan, (credit == 1.0).astype(float))
    n_read = np.sum(np.isfinite(credit), axis=1)
    used = n_read > 0
    value = np.where(used, np.nansum(credit, axis=1) / np.maximum(n_read, 1), 0.0)
    n_out = int(np.sum(~used))
    with np.errstate(divide="ignore", invalid="ignore"):
        column = np.nansum(credit, axis=0) / np.sum(np.isfinite(credit), axis=0)
    return estimate_from_sums(
        share_of_sums(),
        np.column_stack([used, value]).astype(float),
        name=where,
        label=f"Human-human {score}",
        estimator="pairs of annotators, mean over pairs of responses",
        sample=Sample(
            n_items=int(used.sum()),
            n_replications=codes.shape[1],
            excluded={"fewer than two annotators": n_out},
        ),
        reason="no pair was labelled by two annotators",
        where=where,
        scale="logit",
        **inference,
        proportion=True,
        details={
            "by_annotators": {
                f"{i + 1}-{j + 1}": float(v) for (i, j), v in zip(both, column, strict=True)
            }
        },
    )
