"""Figures of dispersion and reliability by condition."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FuncFormatter, NullLocator

from judgestats.errors import InputError
from judgestats.reporting.numbers import number
from judgestats.reporting.plots.base import (
    COLOURS,
    GREY,
    INK,
    Sized,
    finite,
    label_points,
    nothing_to_show,
    padded_limits,
    series,
    wrap_unique,
    wrapped,
)

_MAX_LINES = 400


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
class SpreadByCondition(Sized):
    """Each item's spread as a thin line over the conditions, and their mean with its interval.

    The interval of the mean is shown as a bar; `seed` draws which items are shown where there are
    many, and where their points lie.
    """

    panels: tuple[SpreadPanel, ...]
    measure: str = "Within-item standard deviation"
    x_label: str = ""
    seed: int = 0

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
        return f"{self.measure} by condition, mean over items. " + ". ".join(parts) + "."

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
                ax.set_ylabel(wrapped(self.measure, width=28))
            if self.x_label and i >= len(self.panels) - columns:
                ax.set_xlabel(self.x_label)

    def draw(self, ax: Axes) -> None:
        """Draw the first panel."""
        self._panel(ax, self.panels[0], COLOURS[0])
        ax.set_ylabel(wrapped(self.measure, width=28))
        ax.set_xlabel(self.x_label)

    def _panel(self, ax: Axes, panel: SpreadPanel, colour: str) -> None:
        values = np.asarray(panel.values, dtype=float)
        count = len(panel.conditions)
        x = np.arange(count)
        if finite(values).size == 0:
            nothing_to_show(ax, "no item has two or more scores here")
            return
        rng = np.random.default_rng(self.seed)
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
class MeanAgainstSpread(Sized):
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
    x_label: str = "Mean score"
    y_label: str = "Within-item variance"

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
        return f"{self.y_label} against {self.x_label.lower()}. {points or 'Nothing to show'}."

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
        ax.set_xlabel(self.x_label)
        ax.set_ylabel(self.y_label)
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
        ax.annotate("", xy=(0, 0))
        ax.xaxis.label.set_color(INK)


def stepped_up(single: float, k: float | np.ndarray) -> np.ndarray:
    """Spearman-Brown: the reliability of the mean of k judgments from that of one.

    Parameters
    ----------
    single : float
        Reliability of one judgment.
    k : float or array
        Number of judgments averaged.

    Returns
    -------
    ndarray
        ``k r / (1 + (k - 1) r)``.

    Examples
    --------
    >>> round(float(stepped_up(0.5, 4)), 3)
    0.8
    """
    k = np.asarray(k, dtype=float)
    return np.asarray(k * single / (1 + (k - 1) * single))


_MOST_NAMED = 7


@dataclass(frozen=True, kw_only=True)
class ReliabilityCurve:
    """The reliability of one judgment under one condition, with its interval."""

    name: str
    single: float
    low: float = math.nan
    high: float = math.nan


@dataclass(frozen=True, kw_only=True)
class ReliabilityByK(Sized):
    """How reliable the mean of k judgments is, by Spearman-Brown from one judgment's ICC.

    Of more than seven curves, the highest, the middle and the lowest are named; the others are
    thin. A coefficient below 0 is drawn as 0: averaging cannot help there.
    """

    curves: tuple[ReliabilityCurve, ...]
    k_max: int = 20
    targets: tuple[float, ...] = (0.8, 0.9)
    y_label: str = "Reliability of the mean of k"

    @property
    def _columns(self) -> int:
        return 1 if self.is_narrow else 2

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches."""
        named = len(self.curves) if len(self.curves) <= _MOST_NAMED else 3
        rows = math.ceil(named / self._columns) if named > 1 else 0
        return (self.width, 3.1 + 0.19 * rows)

    @property
    def alt(self) -> str:
        """The figure in words."""
        parts = []
        for c in self.curves:
            if math.isfinite(c.single):
                parts.append(
                    f"{c.name}: {c.single:.2f} for one, "
                    f"{float(stepped_up(c.single, self.k_max)):.2f} for {self.k_max}"
                )
            else:
                parts.append(f"{c.name}: undefined")
        return f"{self.y_label}. " + "; ".join(parts) + "."

    def draw(self, ax: Axes) -> None:
        """Draw on the axes given."""
        shown = [c for c in self.curves if math.isfinite(c.single)]
        if not shown:
            nothing_to_show(ax, "no condition has a defined reliability")
            return
        k = np.unique(np.round(np.geomspace(1, max(2, self.k_max), 60)).astype(int))
        for target in self.targets:
            ax.axhline(target, color=GREY, lw=0.8, ls=(0, (4, 2)))
            ax.annotate(
                number(target, leading_zero=False), (1.0, target),
                xycoords=("axes fraction", "data"),
                xytext=(6, 0), textcoords="offset points", va="center", fontsize=8, color=GREY,
            )  # fmt: skip
        few = len(shown) <= 4
        every = max(1, len(k) // 8)
        named = shown
        if len(shown) > _MOST_NAMED:
            ordered = sorted(shown, key=lambda c: c.single)
            named = [ordered[-1], ordered[len(ordered) // 2], ordered[0]]
        for c in shown:
            if c not in named:
                ax.plot(k, stepped_up(max(0.0, c.single), k), color="#b0b0b0", lw=0.7, zorder=1)
        for i, c in enumerate(named):
            look = series(i)
            if few and math.isfinite(c.low) and math.isfinite(c.high):
                ax.fill_between(
                    k, stepped_up(max(0.0, c.low), k), stepped_up(max(0.0, c.high), k),
                    color=look["color"], alpha=0.13, lw=0,
                )  # fmt: skip
            ax.plot(
                k, stepped_up(max(0.0, c.single), k), label=wrapped(c.name, width=38, lines=2),
                markevery=every, **look,
            )  # fmt: skip
        ax.set_xscale("log")
        ticks = [t for t in (1, 2, 3, 5, 10, 20, 50, 100, 200) if t <= self.k_max]
        ax.xaxis.set_minor_locator(NullLocator())
        ax.set_xticks(ticks)
        ax.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
        ax.set_xlim(0.95, max(2, self.k_max) * 1.05)
        ax.set_ylim(-0.02, 1.02)
        ax.set_xlabel("Judgments averaged (k)")
        ax.set_ylabel(self.y_label)
        if len(shown) > 1:
            ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=self._columns)


@dataclass(frozen=True, kw_only=True)
class NullRow:
    """One coefficient, and the mean and 95th percentile of its null."""

    label: str
    estimate: float
    null_mean: float
    null_q95: float
    low: float = math.nan
    high: float = math.nan
    group: str = ""


@dataclass(frozen=True, kw_only=True)
class NullStrip(Sized):
    """Each coefficient beside what it yields when there is nothing to find."""

    rows: tuple[NullRow, ...]
    x_label: str = "Coefficient"

    def _lines(self) -> list[tuple[str, NullRow | None]]:
        """Headings of groups (without a row) and rows, from top to bottom."""
        out: list[tuple[str, NullRow | None]] = []
        group = ""
        for row in self.rows:
            if row.group and row.group != group:
                out.append((wrapped(row.group, width=self.letters(46), lines=2), None))
            group = row.group
            out.append((wrapped(row.label, width=self.letters(34), lines=2), row))
        return out

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches."""
        height = sum(0.26 if "\n" not in text else 0.38 for text, _ in self._lines())
        return (self.width, max(1.6, 1.1 + 0.2 * self.is_narrow + height))

    @property
    def alt(self) -> str:
        """The figure in words."""
        parts = [
            f"{f'{r.group}, ' if r.group else ''}{r.label}: {number(r.estimate)}, "
            f"null mean {number(r.null_mean)}, 95th percentile {number(r.null_q95)}"
            for r in self.rows
        ]
        return "Coefficients beside their null reference. " + "; ".join(parts) + "."

    def draw(self, ax: Axes) -> None:
        """Draw on the axes given."""
        if not self.rows:
            nothing_to_show(ax, "no coefficient has a null reference")
            return
        lines = self._lines()
        for i, (_, row) in enumerate(lines):
            if row is None:
                continue
            if math.isfinite(row.null_mean) and math.isfinite(row.null_q95):
                ax.plot(
                    [row.null_mean, row.null_q95], [i, i], color="#bdbdbd", lw=7,
                    solid_capstyle="butt", zorder=1,
                )  # fmt: skip
                ax.plot(row.null_mean, i, "|", color=GREY, ms=11, mew=1.6, zorder=2)
            if math.isfinite(row.low) and math.isfinite(row.high):
                ax.hlines(i, row.low, row.high, color=COLOURS[0], lw=1.5, zorder=3)
            if math.isfinite(row.estimate):
                beyond = not row.estimate <= row.null_q95
                ax.plot(
                    row.estimate, i, "o", color=COLOURS[0], mfc=COLOURS[0] if beyond else "white",
                    ms=5.5, zorder=4,
                )  # fmt: skip
            else:
                ax.annotate("undefined", (0.5, i), xycoords=("axes fraction", "data"),
                            va="center", ha="center", fontsize=8, color=GREY)  # fmt: skip
        ax.set_ylim(len(lines) - 0.5, -0.5)
        ax.set_yticks(range(len(lines)), [text for text, _ in lines])
        for tick, (_, row) in zip(ax.get_yticklabels(), lines, strict=True):
            if row is None:
                tick.set_fontweight("bold")
        ax.tick_params(axis="y", length=0)
        ax.grid(visible=False, axis="y")
        ax.grid(visible=True, axis="x")
        ax.spines["left"].set_visible(False)
        values = [
            v for r in self.rows for v in (r.estimate, r.null_mean, r.null_q95, r.low, r.high)
        ]
        ax.set_xlim(*padded_limits(values))
        ax.set_xlabel(self.x_label)
        ax.plot([], [], "o", color=COLOURS[0], label="observed, with interval")
        ax.plot([], [], color="#bdbdbd", lw=7, label="null: mean (tick) to 95th percentile")
        # from the right end of the axes to the left, over the labels: it is never cut
        columns = 1 if self.is_narrow else 2
        ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=columns, borderaxespad=0.2)
        ax.xaxis.label.set_color(INK)
