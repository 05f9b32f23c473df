"""Figures of dispersion and reliability by condition."""

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
    Figure,
    finite,
    label_points,
    nothing_to_show,
    series,
    wrap_unique,
    wrapped,
)

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
                f"{shape}. Give one column a condition."
            )


@dataclass(frozen=True, kw_only=True)
class SpreadByCondition(Figure):
    """Each item's spread as a thin line over the conditions, and their mean with its interval.

    The interval of the mean is shown as a bar; which items are shown where there are many, and
    where their points lie, is drawn by a fixed seed.
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
        """The figure in words."""
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


@dataclass(frozen=True, kw_only=True)
class MeanAgainstSpread(Figure):
    """One point a condition: its mean score and its within-item variance.

    Near the end of a scale the two move together; this figure shows whether a smaller spread is a
    steadier judge or only a judge at the ceiling.

    Attributes
    ----------
    mean, spread : tuple of float
    series_name : tuple of str
        What the points of one line have in common (a judge).
    point_label : tuple of str
        What tells the points of a line apart (a temperature).
    """

    mean: tuple[float, ...]
    spread: tuple[float, ...]
    series_name: tuple[str, ...]
    point_label: tuple[str, ...]

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches."""
        names = list(dict.fromkeys(self.series_name))
        rows = math.ceil(len(names) / (1 if self.is_narrow else 2)) if len(names) > 1 else 0
        return (self.width, 3.4 + 0.2 * rows)

    @property
    def alt(self) -> str:
        """The figure in words."""
        points = "; ".join(
            f"{s} {p}: mean {m:.2f}, variance {v:.3g}"
            for s, p, m, v in zip(
                self.series_name, self.point_label, self.mean, self.spread, strict=True
            )
            if math.isfinite(m) and math.isfinite(v)
        )
        return f"Within-item variance against mean score. {points or 'Nothing to show'}."

    def draw(self, ax: Axes) -> None:
        """Draw on the axes given."""
        names = list(dict.fromkeys(self.series_name))
        mean, spread = np.asarray(self.mean, dtype=float), np.asarray(self.spread, dtype=float)
        if not np.isfinite(mean * spread).any():
            nothing_to_show(ax, "no condition has both a mean and a spread")
            return
        for i, name in enumerate(names):
            rows = [j for j, s in enumerate(self.series_name) if s == name]
            ax.plot(mean[rows], spread[rows], label=wrapped(name, width=40, lines=2), **series(i))
        ax.grid(visible=True, axis="both")
        ax.set_xlabel("Mean score")
        ax.set_ylabel("Within-item variance")
        ax.margins(0.09)
        ax.set_ylim(bottom=min(0.0, ax.get_ylim()[0]))
        if len(names) > 1:
            ax.legend(
                loc="lower center",
                bbox_to_anchor=(0.5, 1.0),
                ncols=1 if self.is_narrow else min(2, len(names)),
            )
        points = list(zip(mean.tolist(), spread.tolist(), strict=True))
        first_last = [
            j
            for name in names
            for rows in [[k for k, s in enumerate(self.series_name) if s == name]]
            for j in ([rows[0], rows[-1]] if len(points) > 14 else rows)
        ]
        chosen = list(dict.fromkeys(first_last))
        label_points(
            ax, [points[j] for j in chosen],
            wrap_unique([self.point_label[j] for j in chosen], width=24, lines=1), avoid=points,
        )  # fmt: skip
