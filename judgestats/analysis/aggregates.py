"""Several judgments made into one: its verdicts on pairs, credit, reliability and cost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from judgestats.analysis.outcome import NamedResult
from judgestats.analysis.pair_description import describe_verdicts
from judgestats.analysis.pair_methods import JudgedPairs
from judgestats.analysis.selections import add_estimate, named
from judgestats.arrays import Floats, Objects
from judgestats.stats.agreement.transitivity import pairwise_from_scores
from judgestats.stats.inference.result import Estimate
from judgestats.stats.reliability.intraclass import icc
from judgestats.stats.reliability.omega import omega_total


@dataclass(frozen=True, kw_only=True)
class Answers:
    """What was scored: the responses of the labelled pairs.

    Attributes
    ----------
    pairs : JudgedPairs
    names : tuple of str
        Ids of the responses, one a row of scores.
    clusters : ndarray of object
        Their questions.
    """

    pairs: JudgedPairs
    names: tuple[str, ...]
    clusters: Objects

    def verdicts(self, grouped: Floats) -> Objects:
        """Scores of each group as verdicts on the pairs, pairs x groups; equal scores are a tie."""
        place = {name: i for i, name in enumerate(self.names)}
        a = grouped[[place[n] for n in self.pairs.first]]
        b = grouped[[place[n] for n in self.pairs.second]]
        return np.column_stack(
            [
                np.array([v or "" for v in pairwise_from_scores(a[:, g], b[:, g])], dtype=object)
                for g in range(grouped.shape[1])
            ]
        )


@dataclass(frozen=True, kw_only=True)
class Aggregated:
    """One way of making several judgments into one.

    Attributes
    ----------
    row : dict
        Its row of the table of conditions.
    results : tuple of NamedResult
    credit : ndarray, shape (n_pairs,)
        Averaged over the groups.
    """

    row: dict[str, Any]
    results: tuple[NamedResult, ...]
    credit: Floats

    @property
    def name(self) -> str:
        """Its label."""
        return str(self.row["condition"])


def described(
    base: Mapping[str, Any],
    grouped: Floats,
    answers: Answers,
    *,
    name: str,
    how: str,
    judgments: int,
    cost: float,
    level: float,
    tokens: float = math.nan,
    scores: Floats | None = None,
    n_permutations: int = 999,
    seed: int = 0,
) -> Aggregated:
    """Describe the aggregated scores of one condition or panel.

    Parameters
    ----------
    base : mapping
        The row of the condition they come from.
    grouped : ndarray, shape (n_answers, n_groups)
    answers : Answers
    name, how : str
    judgments : int
        How many judgments of an answer make one.
    cost : float
        Of that many judgments of all answers.
    tokens : float
        In and out, of the judgments that one verdict on a pair takes.
    level : float
    scores : ndarray, shape (n_answers, judgments), optional
        Where there is one group only: its judgments, whose mean's reliability is the parallel
        omega. Without it a single group has no reliability.
    n_permutations, seed : int
        Of the null of the reliability.

    Returns
    -------
    Aggregated
    """
    row = {**base, "condition": name, "aggregate": how, "k": judgments, "cost_usd": cost}
    row["cost_per_pair"] = cost / max(len(answers.pairs.names), 1)
    row["tokens_per_pair"] = tokens
    row["n_replications"] = grouped.shape[1]
    credit, results = describe_verdicts(
        row, answers.verdicts(grouped), answers.pairs, name=name, level=level
    )
    reliability = _reliability(
        grouped, answers, scores, level=level, n_permutations=n_permutations, seed=seed
    )
    if reliability is not None:
        add_estimate(row, "reliability", reliability)
        if judgments == 1:
            add_estimate(row, "icc1", reliability)
        results.append(
            named(f"reliability.{name}", f"Reliability, {name}", "descriptive", reliability)
        )
    return Aggregated(row=row, results=tuple(results), credit=credit)


def _reliability(
    grouped: Floats,
    answers: Answers,
    scores: Floats | None,
    *,
    level: float,
    n_permutations: int,
    seed: int,
) -> Estimate | None:
    """ICC over the groups, or parallel omega of the one group's judgments."""
    if grouped.shape[1] > 1:
        return icc(
            grouped, form="ICC(1,1)", cluster=answers.clusters, level=level, missing="listwise",
            n_permutations=n_permutations, seed=seed,
        )  # fmt: skip
    if scores is None or scores.shape[1] < 2:
        return None
    return omega_total(
        scores, model="parallel", level=level, cluster=answers.clusters, null=True,
        n_permutations=n_permutations, seed=seed,
    )  # fmt: skip
