"""Round robin of candidates from pairwise verdicts: wins, points and who leads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from judgestats.arrays import Floats, Ints
from judgestats.errors import InputError
from judgestats.stats.inference.result import Result


@dataclass(frozen=True, kw_only=True)
class RoundRobin(Result):
    """Standing of candidates after a round robin.

    Attributes
    ----------
    wins, ties, losses : ndarray of int, shape (n_candidates,)
        Pairs won, tied, lost; a pair's verdict is what most of its judgments say.
    points : ndarray, shape (n_candidates,)
        Wins plus half the ties.
    share : ndarray, shape (n_candidates,)
        Of the judgments that a candidate took part in: those it won, a tie as a half, averaged over
        its pairs. NaN where none of its pairs was read.
    n_pairs_read, n_pairs : int
        Pairs with a verdict, and all pairs.
    """

    wins: Ints
    ties: Ints
    losses: Ints
    points: Floats
    share: Floats
    n_pairs_read: int
    n_pairs: int

    @property
    def complete(self) -> bool:
        """Whether every pair has a verdict: otherwise points are not comparable."""
        return self.n_pairs_read == self.n_pairs

    def leaders(self, *, by_share: bool = False) -> tuple[int, ...]:
        """The candidates with most points; among them those with the largest share, if asked."""
        best = np.flatnonzero(self.points == self.points.max())
        if by_share and len(best) > 1:
            shares = np.nan_to_num(self.share[best], nan=-1.0)
            best = best[shares >= shares.max() - 1e-9]
        return tuple(int(i) for i in best)

    def tidy(self) -> pd.DataFrame:
        """One row a candidate."""
        return pd.DataFrame(
            {
                "candidate": np.arange(len(self.points)),
                "wins": self.wins,
                "ties": self.ties,
                "losses": self.losses,
                "points": self.points,
                "share": self.share,
            }
        )

    def glance(self) -> pd.DataFrame:
        """Who leads, and how much was read."""
        return pd.DataFrame(
            [
                {
                    "method": "round robin",
                    "n": len(self.points),
                    "leaders": "|".join(map(str, self.leaders())),
                    "n_pairs_read": self.n_pairs_read,
                    "n_pairs": self.n_pairs,
                }
            ]
        )

    def sentence(self) -> str:
        """Who leads."""
        who = ", ".join(str(i) for i in self.leaders())
        return (
            f"candidate {who} leads with {self.points.max():g} "
            f"point{'' if self.points.max() == 1 else 's'} "
            f"({self.n_pairs_read} of {self.n_pairs} pairs read)"
        )

    def __str__(self) -> str:
        return f"\n\tRound robin\n\n{self.tidy().to_string(index=False)}\n\n{self.sentence()}"


def round_robin(
    first: ArrayLike, second: ArrayLike, verdict: ArrayLike, *, n_candidates: int
) -> RoundRobin:
    r"""Points of candidates that were all compared in pairs.

    Parameters
    ----------
    first, second : array-like of int, shape (n_judgments,)
        The two candidates compared, 0 to ``n_candidates - 1``.
    verdict : array-like, shape (n_judgments,)
        ``"a"`` (first wins), ``"b"``, ``"tie"``; None, NaN or empty where not read.
    n_candidates : int

    Returns
    -------
    RoundRobin

    Raises
    ------
    InputError
        If the lengths differ, a candidate is out of range or compared with itself, or a verdict is
        unknown.

    Notes
    -----
    A pair may be judged often (both orders, repetitions): it is won by the candidate that more of
    its judgments prefer, and tied where as many prefer either. Points are Copeland's, a tie being a
    half.

    References
    ----------
    Copeland (1951), A reasonable social welfare function. University of Michigan, mimeographed.

    Examples
    --------
    >>> found = round_robin([0, 0, 1], [1, 2, 2], ["a", "a", "tie"], n_candidates=3)
    >>> found.points.tolist(), found.leaders()
    ([2.0, 0.5, 0.5], (0,))
    """
    where = "round_robin"
    i, j = (np.asarray(x) for x in (first, second))
    verdicts = np.asarray(verdict, dtype=object)
    if i.ndim != 1 or i.shape != j.shape or i.shape != verdicts.shape:
        raise InputError(
            f"{where}: first, second and verdict must be equally long lists, got shapes {i.shape}, "
            f"{j.shape} and {verdicts.shape}. Give one entry for each judgment."
        )
    if n_candidates < 2 or (i.size and not _valid(i, j, n_candidates)):
        raise InputError(
            f"{where}: first and second must be different whole numbers from 0 to "
            f"{n_candidates - 1}, at least two candidates. Number the candidates of one question."
        )
    net = np.zeros((n_candidates, n_candidates))
    read = np.zeros((n_candidates, n_candidates))
    for a, b, v in zip(i.tolist(), j.tolist(), verdicts.tolist(), strict=True):
        if v is None or v == "" or v != v:  # noqa: PLR0124 - NaN
            continue
        if v not in _CREDIT:
            raise InputError(f"{where}: a verdict must be a, b or tie, got {v!r}. Recode it.")
        net[a, b] += _CREDIT[v]
        net[b, a] -= _CREDIT[v]
        read[a, b] += 1
        read[b, a] += 1
    has_read = read > 0
    wins, losses = (has_read & (net > 0)).sum(axis=1), (has_read & (net < 0)).sum(axis=1)
    ties = has_read.sum(axis=1) - wins - losses
    with np.errstate(invalid="ignore", divide="ignore"):
        by_pair = np.where(has_read, (net / read + 1) / 2, 0.0)
        share = np.where(has_read.any(axis=1), by_pair.sum(axis=1) / has_read.sum(axis=1), np.nan)
    return RoundRobin(
        wins=wins.astype(np.int64),
        ties=ties.astype(np.int64),
        losses=losses.astype(np.int64),
        points=wins + ties / 2,
        share=share,
        n_pairs_read=int(has_read.sum()) // 2,
        n_pairs=n_candidates * (n_candidates - 1) // 2,
    )


_CREDIT = {"a": 1.0, "b": -1.0, "tie": 0.0}


def _valid(i: NDArray[Any], j: NDArray[Any], n: int) -> bool:
    if i.dtype.kind not in "iu" or j.dtype.kind not in "iu":
        return False
    return bool(np.all((i >= 0) & (j >= 0) & (i < n) & (j < n) & (i != j)))
