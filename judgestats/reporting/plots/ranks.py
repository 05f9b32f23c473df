"""The critical-difference diagram (Demsar 2006)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from matplotlib.axes import Axes

from judgestats.errors import InputError
from judgestats.reporting.escape import clean
from judgestats.reporting.plots.base import Figure, nothing_to_show, wrapped_apart
from judgestats.reporting.theme import COLOURS, INK, NARROW, PAPER_WIDTH

_MOST_LETTERS = 34
_LETTER = 0.052
"""Inches of a letter of a label."""


def cliques(ranks: Sequence[float], same: np.ndarray) -> list[tuple[int, int]]:
    """Maximal runs of neighbours, in order of rank, of which no pair is told apart.

    Parameters
    ----------
    ranks : sequence of float
        Mean ranks.
    same : (k, k) bool array
        Whether a pair is not told apart.

    Returns
    -------
    list of (int, int)
        First and last position in the order of rank; runs of one are left out.

    Examples
    --------
    >>> import numpy as np
    >>> cliques([1.0, 2.0, 3.0], np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]], dtype=bool))
    [(0, 1), (1, 2)]
    """
    order = np.argsort(ranks, kind="stable")
    runs: list[tuple[int, int]] = []
    for start in range(len(order)):
        end = start
        while end + 1 < len(order) and all(
            same[order[i], order[end + 1]] for i in range(start, end + 1)
        ):
            end += 1
        if end > start and not (runs and runs[-1][1] >= end):
            runs.append((start, end))
    return runs


@dataclass(frozen=True, kw_only=True)
class CriticalDifference(Figure):
    """Mean ranks on a line; bars join conditions which the comparisons do not tell apart.

    Attributes
    ----------
    labels : tuple of str
    mean_ranks : tuple of float
        Same length; NaN is left out.
    critical_difference : float
        Nemenyi's; NaN where another test made the pairs.
    told_apart : tuple of (str, str)
        Pairs told apart; used instead of `critical_difference` where `from_pairs` is true.
    from_pairs : bool
    low_label, high_label : str
        What a low and a high rank mean.
    """

    labels: tuple[str, ...]
    mean_ranks: tuple[float, ...]
    critical_difference: float = math.nan
    told_apart: tuple[tuple[str, str], ...] = ()
    from_pairs: bool = False
    low_label: str = "lower"
    high_label: str = "higher"
    width: float = PAPER_WIDTH

    @property
    def narrow(self) -> CriticalDifference:
        """The figure for a small screen."""
        return replace(self, width=NARROW)

    def __post_init__(self) -> None:
        if len(self.labels) != len(self.mean_ranks):
            raise InputError(
                f"CriticalDifference: mean_ranks must be as many as labels, but came "
                f"{len(self.mean_ranks)} for {len(self.labels)}. Give one mean rank a label."
            )

    def _shown(self) -> tuple[list[str], np.ndarray]:
        kept = [
            (n, r) for n, r in zip(self.labels, self.mean_ranks, strict=True) if math.isfinite(r)
        ]
        kept.sort(key=lambda pair: pair[1])
        return [n for n, _ in kept], np.array([r for _, r in kept])

    def _runs(self, names: list[str], ranks: np.ndarray) -> list[tuple[int, int]]:
        k = len(names)
        if self.from_pairs:
            apart = {frozenset(pair) for pair in self.told_apart}
            same = np.array([[frozenset((a, b)) not in apart for b in names] for a in names])
        else:
            same = np.abs(ranks[:, None] - ranks[None, :]) < self.critical_difference
        return cliques(list(ranks), same.reshape(k, k))

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches."""
        names, ranks = self._shown()
        runs = len(self._runs(names, ranks)) if len(names) > 1 else 0
        return (self.width, max(0.9, self._above + self._below(len(names), runs) + 0.1))

    @property
    def _above(self) -> float:
        """Inches above the line of ranks: its numbers, and the critical difference."""
        return 0.55 if math.isfinite(self.critical_difference) else 0.32

    @staticmethod
    def _below(k: int, runs: int) -> float:
        """Inches under the line of ranks: bars, then the labels of one side."""
        return 0.11 * (runs + 1) + 0.08 + 0.2 * (math.ceil(k / 2) - 1) + 0.12

    @property
    def alt(self) -> str:
        """The figure in words."""
        names, ranks = self._shown()
        order = "; ".join(f"{n} {r:.2f}" for n, r in zip(names, ranks, strict=True))
        groups = [f"{names[a]} to {names[b]}" for a, b in self._runs(names, ranks)]
        joined = f" Not told apart: {'; '.join(groups)}." if groups else ""
        return f"Critical-difference diagram, mean ranks: {order}.{joined}"

    def draw(self, ax: Axes) -> None:
        """Draw on the axes given."""
        ax.axis("off")
        names, ranks = self._shown()
        if len(names) < 2:
            nothing_to_show(ax, "a critical-difference diagram needs at least two mean ranks")
            return
        k = len(names)
        low, high = 1.0, float(max(k, math.ceil(ranks.max())))
        runs = self._runs(names, ranks)
        half = math.ceil(k / 2)
        # data units: x in ranks, y in inches downwards from the axis line
        wide = self.width >= PAPER_WIDTH
        room = min(_MOST_LETTERS if wide else 17, max(14, *(len(clean(n)) for n in names)))
        share = _LETTER * (room + 8) / self.width  # of the width, for the labels of one side
        side = share / (1 - 2 * share) * (high - low)
        ax.set_xlim(low - side, high + side)
        ax.set_ylim(-self._below(k, len(runs)), self._above)
        ax.hlines(0, low, high, color=INK, lw=1.0)
        step = max(1, math.ceil((high - low) / (12 if wide else 6)))
        for tick in range(int(low), int(high) + 1):
            major = (tick - int(low)) % step == 0
            ax.vlines(tick, 0, 0.08 if major else 0.04, color=INK, lw=0.8)
            if major:
                ax.text(tick, 0.1, str(tick), ha="center", va="bottom", fontsize=8)
        ax.text(
            low - 0.02 * (high - low),
            0.0,
            self.low_label + " ",
            ha="right",
            va="center",
            fontsize=8,
        )
        ax.text(
            high + 0.02 * (high - low),
            0.0,
            " " + self.high_label,
            ha="left",
            va="center",
            fontsize=8,
        )
        if math.isfinite(self.critical_difference):
            end = min(high, low + self.critical_difference)
            ax.plot([low, end], [0.4, 0.4], color=INK, lw=1.6, marker="|", ms=6)
            ax.annotate(
                f"CD = {self.critical_difference:.2f}", (end, 0.4), xytext=(6, 0),
                textcoords="offset points", ha="left", va="center", fontsize=8,
            )  # fmt: skip
        for i, (a, b) in enumerate(runs):
            y = -0.11 * (i + 1)
            margin = 0.006 * (high - low)
            ax.plot(
                [ranks[a] - margin, ranks[b] + margin], [y, y], color=COLOURS[1], lw=3.2,
                solid_capstyle="butt",
            )  # fmt: skip
        top = -0.11 * (len(runs) + 1) - 0.08
        short = wrapped_apart(names, width=room, lines=1)
        for i, (name, rank) in enumerate(zip(short, ranks, strict=True)):
            left = i < half
            place = i if left else k - 1 - i
            y = top - 0.2 * place
            x = low - 0.02 * (high - low) if left else high + 0.02 * (high - low)
            ax.plot([rank, rank, x], [0, y, y], color=INK, lw=0.7)
            text = f"{name}  {rank:.2f}"
            ax.text(x, y, text + " " if left else " " + text, ha="right" if left else "left",
                    va="center", fontsize=7)  # fmt: skip
