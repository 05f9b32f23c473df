"""Score distributions and critical-difference diagrams."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import TwoSlopeNorm

from judgestats.errors import InputError
from judgestats.reporting.plots.base import (
    COLOURS,
    DIVERGING,
    GREY,
    INK,
    SEQUENTIAL,
    Figure,
    finite,
    nothing_to_show,
    wrap_unique,
    wrapped,
)
from judgestats.sinks import clean

_MAX_LEVELS = 21


def _ink_on(rgba: Any) -> str:
    red, green, blue = (float(part) for part in np.ravel(rgba)[:3])
    return INK if 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 else "white"


@dataclass(frozen=True, kw_only=True)
class _Tones(Figure):
    """A row of tones for each label, top down."""

    labels: tuple[str, ...]

    @property
    def _names(self) -> list[str]:
        return wrap_unique(self.labels, width=self.letters(32), lines=2)

    def _height(self, *, tall: float) -> float:
        return sum(tall if "\n" in name else 0.27 for name in self._names)

    def _frame_rows(self, ax: Axes) -> None:
        ax.set_yticks(range(len(self.labels)), self._names)
        ax.set_ylim(len(self.labels) - 0.5, -0.5)
        ax.tick_params(length=0)
        ax.grid(visible=False)
        ax.spines[:].set_visible(False)


@dataclass(frozen=True, kw_only=True)
class ScoreDistribution(_Tones):
    """The share of each score under each condition, as a table of tones, with the means.

    Attributes
    ----------
    labels : tuple of str
        Conditions, from top to bottom.
    scores : tuple of array
        The scores under each condition; NaN is left out.
    scale : (float, float), optional
        Ends of the scale; by default those of the data.
    """

    scores: tuple[np.ndarray[Any, Any], ...]
    scale: tuple[float, float] | None = None
    x_label: str = "Score"

    def __post_init__(self) -> None:
        if len(self.labels) != len(self.scores):
            raise InputError(
                f"ScoreDistribution: scores must be as many as labels, but came "
                f"{len(self.scores)} for {len(self.labels)}. Give one array a condition."
            )

    def _edges(self) -> tuple[np.ndarray[Any, Any], list[str]]:
        shown = finite(np.concatenate([np.asarray(s, dtype=float).ravel() for s in self.scores]))
        low, high = self.scale or (float(shown.min()), float(shown.max()))
        whole = bool(np.all(shown == np.round(shown)))
        if whole and high - low < _MAX_LEVELS:
            levels = np.arange(math.floor(low), math.ceil(high) + 1)  # size: below _MAX_LEVELS
            return np.append(levels - 0.5, levels[-1] + 0.5), [f"{v:g}" for v in levels]
        edges = np.linspace(low, high if high > low else low + 1, 13)
        return edges, []

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches."""
        height = 0.95 + 0.15 * self.is_narrow + self._height(tall=0.36)
        return (self.width, max(1.7, height))

    @property
    def alt(self) -> str:
        """The figure in words."""
        parts = []
        for name, values in zip(self.labels, self.scores, strict=True):
            kept = finite(values)
            parts.append(
                f"{name}: n {kept.size}, mean {kept.mean():.2f}, median {np.median(kept):g}"
                if kept.size
                else f"{name}: no score"
            )
        return "Distribution of scores by condition. " + "; ".join(parts) + "."

    def draw(self, ax: Axes) -> None:
        """Draw on the axes given."""
        if not self.scores or all(finite(s).size == 0 for s in self.scores):
            nothing_to_show(ax, "there is no score to show")
            return
        edges, names = self._edges()
        shares = np.full((len(self.labels), len(edges) - 1), np.nan)
        for i, values in enumerate(self.scores):
            kept = finite(values)
            if kept.size:
                shares[i] = np.histogram(kept, bins=edges)[0] / kept.size
        rows = np.arange(len(self.labels) + 1) - 0.5
        mesh = ax.pcolormesh(
            edges, rows, np.ma.masked_invalid(shares), cmap=SEQUENTIAL, vmin=0,
            vmax=max(0.2, float(np.nanmax(shares))), edgecolors="white", linewidth=0.8,
        )  # fmt: skip
        # a number is written only where its cell has room for it
        if shares.shape[1] <= 12:
            centres = (edges[:-1] + edges[1:]) / 2
            for (i, j), share in np.ndenumerate(shares):
                if share >= 0.005:
                    colour = _ink_on(mesh.to_rgba(share))
                    ax.text(centres[j], i - 0.17, f"{100 * share:.0f}", ha="center", va="center",
                            fontsize=5.5 if self.is_narrow else 6.5, color=colour)  # fmt: skip
        means = [float(finite(s).mean()) if finite(s).size else math.nan for s in self.scores]
        ax.plot(means, np.arange(len(means)) + 0.3, "D", ms=4.0, color=COLOURS[1], mec="white",
                mew=0.6, label="mean", clip_on=False)  # fmt: skip
        for i, values in enumerate(self.scores):
            if finite(values).size == 0:
                ax.text((edges[0] + edges[-1]) / 2, i, "no score", ha="center", va="center",
                        color=GREY, fontsize=8)  # fmt: skip
        self._frame_rows(ax)
        if names:
            ax.set_xticks((edges[:-1] + edges[1:]) / 2, names)
        said = f"{self.x_label} (tone and number: percent of the condition's scores)"
        ax.set_xlabel(wrapped(said, width=self.letters(70)))
        ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0))


@dataclass(frozen=True, kw_only=True)
class PositionHeatMap(_Tones):
    """How often each position was chosen, against what no preference would give.

    Attributes
    ----------
    labels : tuple of str
        Rows (conditions or judges).
    shares : (n_rows, n_positions) array
        Share of choices; NaN where there is no such position.
    positions : tuple of str
        Names of the positions, as shown.
    """

    shares: np.ndarray[Any, Any]
    positions: tuple[str, ...] = ()
    x_label: str = "Position chosen"

    def __post_init__(self) -> None:
        shape = np.asarray(self.shares).shape
        if len(shape) != 2 or shape[0] != len(self.labels):
            raise InputError(
                f"PositionHeatMap: shares must have shape ({len(self.labels)}, positions), but has "
                f"{shape}. Give one row a label."
            )

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches."""
        return (self.width, max(1.6, 0.85 + self._height(tall=0.38)))

    @property
    def alt(self) -> str:
        """The figure in words."""
        shares = np.asarray(self.shares, dtype=float)
        parts = [
            f"{name}: " + ", ".join(f"{100 * s:.0f}%" for s in row if math.isfinite(s))
            for name, row in zip(self.labels, shares, strict=True)
        ]
        return "Share of choices by position shown. " + "; ".join(parts) + "."

    def draw(self, ax: Axes) -> None:
        """Draw on the axes given."""
        shares = np.asarray(self.shares, dtype=float)
        if not np.isfinite(shares).any():
            nothing_to_show(ax, "no choice was read")
            return
        options = np.isfinite(shares).sum(axis=1, keepdims=True)
        relative = shares * np.where(options > 0, options, np.nan)
        reach = max(0.5, float(np.nanmax(np.abs(relative - 1))))
        norm = TwoSlopeNorm(vcenter=1.0, vmin=1 - reach, vmax=1 + reach)
        rows, columns = np.arange(shares.shape[0] + 1) - 0.5, np.arange(shares.shape[1] + 1) - 0.5
        mesh = ax.pcolormesh(
            columns, rows, np.ma.masked_invalid(relative), cmap=DIVERGING, norm=norm,
            edgecolors="white", linewidth=1.2,
        )  # fmt: skip
        for (i, j), share in np.ndenumerate(shares):
            if math.isfinite(share):
                colour = _ink_on(mesh.to_rgba(relative[i, j]))
                ax.text(j, i, f"{100 * share:.0f}%", ha="center", va="center", fontsize=8,
                        color=colour)  # fmt: skip
        names = self.positions or tuple(str(j + 1) for j in range(shares.shape[1]))
        ax.set_xticks(range(shares.shape[1]), [wrapped(n, width=14, lines=2) for n in names])
        self._frame_rows(ax)
        ax.set_xlabel(self.x_label)
        bar = ax.figure.colorbar(mesh, ax=ax, shrink=0.9, aspect=14, pad=0.02)
        bar.set_label("relative to chance", fontsize=8)
        bar.outline.set_visible(False)
        bar.ax.tick_params(labelsize=7, length=0)


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
        Pairs told apart.
    low_label, high_label : str
        What a low and a high rank mean.
    """

    labels: tuple[str, ...]
    mean_ranks: tuple[float, ...]
    critical_difference: float = math.nan
    told_apart: tuple[tuple[str, str], ...] = ()
    low_label: str = "lower"
    high_label: str = "higher"

    def __post_init__(self) -> None:
        if len(self.labels) != len(self.mean_ranks):
            raise InputError(
                f"CriticalDifference: mean_ranks must be as many as labels, but came "
                f"{len(self.mean_ranks)} for {len(self.labels)}. Give one mean rank a label."
            )

    def _ranked_labels(self) -> tuple[list[str], np.ndarray]:
        kept = [
            (n, r) for n, r in zip(self.labels, self.mean_ranks, strict=True) if math.isfinite(r)
        ]
        kept.sort(key=lambda pair: pair[1])
        return [n for n, _ in kept], np.array([r for _, r in kept])

    def _runs(self, names: list[str], ranks: np.ndarray) -> list[tuple[int, int]]:
        k = len(names)
        apart = {frozenset(pair) for pair in self.told_apart}
        same = np.array([[frozenset((a, b)) not in apart for b in names] for a in names])
        return cliques(list(ranks), same.reshape(k, k))

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches."""
        names, ranks = self._ranked_labels()
        runs = len(self._runs(names, ranks)) if len(names) > 1 else 0
        return (
            self.width,
            max(0.9, self._upper_margin + self._lower_margin(len(names), runs) + 0.1),
        )

    @property
    def _upper_margin(self) -> float:
        """Inches above the line of ranks: its numbers, and the critical difference."""
        return 0.55 if math.isfinite(self.critical_difference) else 0.32

    @staticmethod
    def _lower_margin(k: int, runs: int) -> float:
        """Inches under the line of ranks: bars, then the labels of one side."""
        return 0.11 * (runs + 1) + 0.08 + 0.2 * (math.ceil(k / 2) - 1) + 0.12

    @property
    def alt(self) -> str:
        """The figure in words."""
        names, ranks = self._ranked_labels()
        order = "; ".join(f"{n} {r:.2f}" for n, r in zip(names, ranks, strict=True))
        groups = [f"{names[a]} to {names[b]}" for a, b in self._runs(names, ranks)]
        joined = f" Not separated: {'; '.join(groups)}." if groups else ""
        return f"Critical-difference diagram, mean ranks: {order}.{joined}"

    def draw(self, ax: Axes) -> None:
        """Draw on the axes given."""
        ax.axis("off")
        names, ranks = self._ranked_labels()
        if len(names) < 2:
            nothing_to_show(ax, "a critical-difference diagram needs at least two mean ranks")
            return
        k = len(names)
        low, high = 1.0, float(max(k, math.ceil(ranks.max())))
        runs = self._runs(names, ranks)
        half = math.ceil(k / 2)
        # data units: x in ranks, y in inches downwards from the axis line
        wide = not self.is_narrow
        room = min(_MOST_LETTERS if wide else 17, max(14, *(len(clean(n)) for n in names)))
        share = _LETTER * (room + 8) / self.width  # of the width, for the labels of one side
        side = share / (1 - 2 * share) * (high - low)
        ax.set_xlim(low - side, high + side)
        ax.set_ylim(-self._lower_margin(k, len(runs)), self._upper_margin)
        ax.hlines(0, low, high, color=INK, lw=1.0)
        step = max(1, math.ceil((high - low) / (12 if wide else 6)))
        for tick in range(int(low), int(high) + 1):  # size: ranks
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
        short = wrap_unique(names, width=room, lines=1)
        for i, (name, rank) in enumerate(zip(short, ranks, strict=True)):
            left = i < half
            place = i if left else k - 1 - i
            y = top - 0.2 * place
            x = low - 0.02 * (high - low) if left else high + 0.02 * (high - low)
            ax.plot([rank, rank, x], [0, y, y], color=INK, lw=0.7)
            text = f"{name}  {rank:.2f}"
            ax.text(x, y, text + " " if left else " " + text, ha="right" if left else "left",
                    va="center", fontsize=7)  # fmt: skip
