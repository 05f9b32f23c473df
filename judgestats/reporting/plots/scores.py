"""Figures of scores: their distribution, and the dispersion of repeats, by condition."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure as Canvas

from judgestats.errors import InputError
from judgestats.reporting.plots.base import (
    COLOURS,
    GREY,
    INK,
    SEQUENTIAL,
    Figure,
    finite,
    nothing_to_show,
    wrap_unique,
    wrapped,
)

_MAX_LEVELS = 21


def _ink_on(rgba: Any) -> str:
    red, green, blue = (float(part) for part in np.ravel(rgba)[:3])
    return INK if 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 else "white"


@dataclass(frozen=True, kw_only=True)
class ScoreDistribution(Figure):
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

    labels: tuple[str, ...]
    scores: tuple[np.ndarray[Any, Any], ...]
    scale: tuple[float, float] | None = None
    x_label: str = "Score"

    def __post_init__(self) -> None:
        if len(self.labels) != len(self.scores):
            raise InputError(
                f"ScoreDistribution: scores must be as many as labels, but came "
                f"{len(self.scores)} for {len(self.labels)}. Give one array per condition."
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
        rows = sum(0.36 if "\n" in name else 0.27 for name in self._names)
        return (self.width, max(1.7, 0.95 + 0.15 * self.is_narrow + rows))

    @property
    def _names(self) -> list[str]:
        return wrap_unique(self.labels, width=self.letters(32), lines=2)

    @property
    def alt(self) -> str:
        """The figure as text."""
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
        ax.set_yticks(range(len(self.labels)), self._names)
        ax.set_ylim(len(self.labels) - 0.5, -0.5)
        ax.tick_params(length=0)
        ax.grid(visible=False)
        ax.spines[:].set_visible(False)
        if names:
            ax.set_xticks((edges[:-1] + edges[1:]) / 2, names)
        said = f"{self.x_label} (tone and number: percent of the condition's scores)"
        ax.set_xlabel(wrapped(said, width=self.letters(70)))
        ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0))


_MAX_LINES = 400
_MEASURE = "Within-item standard deviation"


@dataclass(frozen=True, kw_only=True)
class SpreadPanel:
    """One panel: conditions in order, and the spread of each item under each condition.

    Attributes
    ----------
    name : str
        The panel's title (a judge, as a rule).
    conditions : tuple of str
    values : (n_items, n_conditions) array
        Spread of an item's scores within a condition; NaN where missing.
    mean, low, high : tuple of float
        Of each condition: the mean over items with its interval.
    """

    name: str
    conditions: tuple[str, ...]
    values: np.ndarray[Any, Any]
    mean: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]

    def __post_init__(self) -> None:
        shape = np.asarray(self.values).shape
        if len(shape) != 2 or shape[1] != len(self.conditions):
            raise InputError(
                f"SpreadPanel: values must have shape (items, {len(self.conditions)}), but has "
                f"{shape}. Give one column per condition."
            )


@dataclass(frozen=True, kw_only=True)
class SpreadByCondition(Figure):
    """Each item's spread as a thin line over the conditions, and their mean with its interval.

    A bar shows the interval of the mean. A fixed seed chooses the items shown and the place of
    their points.
    """

    panels: tuple[SpreadPanel, ...]
    x_label: str = ""

    @property
    def _columns(self) -> int:
        widest = max((len(p.conditions) for p in self.panels), default=1)
        return (
            1
            if len(self.panels) < 2 or widest > 14 or self.is_narrow
            else min(3 if widest <= 6 else 2, len(self.panels))
        )

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches."""
        rows = math.ceil(len(self.panels) / self._columns) or 1
        return (self.width, 0.35 + (2.9 if self._columns == 1 else 2.4) * rows)

    @property
    def alt(self) -> str:
        """The figure as text."""
        parts = []
        for panel in self.panels:
            shown = "; ".join(
                f"{c} {m:.3g}"
                for c, m in zip(panel.conditions, panel.mean, strict=True)
                if math.isfinite(m)
            )
            parts.append(f"{panel.name}: {shown or 'nothing to show'}")
        return f"{_MEASURE} by condition, mean over items. " + ". ".join(parts) + "."

    def compose(self, canvas: Canvas) -> None:
        """Fill a whole canvas."""
        if not self.panels:
            nothing_to_show(canvas.subplots(), "no condition has replicated scores")
            return
        columns = self._columns
        rows = math.ceil(len(self.panels) / columns)
        axes = canvas.subplots(rows, columns, sharey=True, squeeze=False).ravel()
        top = max((float(finite(p.values).max(initial=0.0)) for p in self.panels), default=1.0)
        for i, ax in enumerate(axes):
            if i >= len(self.panels):
                ax.axis("off")
                continue
            self._panel(ax, self.panels[i], COLOURS[i % len(COLOURS)])
            ax.set_ylim(-0.03 * (top or 1.0), 1.05 * (top or 1.0))
            if len(self.panels) > 1:
                ax.set_title(wrapped(self.panels[i].name, width=34 if columns < 3 else 24, lines=2))
            if i % columns == 0:
                ax.set_ylabel(wrapped(_MEASURE, width=28))
            if self.x_label and i >= len(self.panels) - columns:
                ax.set_xlabel(self.x_label)

    def _panel(self, ax: Axes, panel: SpreadPanel, colour: str) -> None:
        values = np.asarray(panel.values, dtype=float)
        count = len(panel.conditions)
        x = np.arange(count)
        if finite(values).size == 0:
            nothing_to_show(ax, "no item has two or more scores here")
            return
        rng = np.random.default_rng(0)
        kept = (
            values
            if len(values) <= _MAX_LINES
            else values[rng.permutation(len(values))[:_MAX_LINES]]
        )
        alpha = min(0.5, max(0.06, 9.0 / max(1, len(kept))))
        jitter = rng.uniform(-0.06, 0.06, size=len(kept))
        if count > 1:
            lines = [np.column_stack([x + j, row]) for j, row in zip(jitter, kept, strict=True)]
            ax.add_collection(LineCollection(lines, colors=GREY, linewidths=0.6, alpha=alpha))
        ax.plot(
            (x[None, :] + jitter[:, None]).ravel(), kept.ravel(), ".",
            ms=2.6 if count > 1 else 5, color=GREY, alpha=min(0.6, 1.6 * alpha), mew=0,
        )  # fmt: skip
        ax.plot(x, panel.mean, "-", color=colour, lw=1.6, zorder=4)
        for i, (low, high) in enumerate(zip(panel.low, panel.high, strict=True)):
            if math.isfinite(low):
                ax.plot([i, i], [low, high], "-", color=colour, lw=2.2, zorder=4)
        ax.plot(x, panel.mean, "o", color=colour, ms=5, zorder=5)
        longest = max(len(c) for c in panel.conditions)
        crowded = longest * count > self.letters(60) / self._columns
        labels = wrap_unique(panel.conditions, width=24 if crowded else 30, lines=1)
        every = max(1, math.ceil(count / 16))
        ax.set_xticks(x[::every], labels[::every])
        if crowded:
            ax.tick_params(axis="x", labelrotation=45)
            for tick in ax.get_xticklabels():
                tick.set_horizontalalignment("right")
                tick.set_rotation_mode("anchor")
        ax.set_xlim(-0.5, count - 0.5)
