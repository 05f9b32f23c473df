"""The figure that answers: an estimand against a factor, or ranked dots with their references."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import NullLocator

from judgestats.reporting.numbers import number
from judgestats.reporting.plots.base import (
    COLOURS,
    GREY,
    INK,
    PALE,
    Figure,
    finite,
    series,
    wrap_unique,
    wrapped,
)
from judgestats.sinks import clean


@dataclass(frozen=True, kw_only=True)
class Point:
    """A number with its interval; `x` places it on a curve."""

    value: float
    low: float = math.nan
    high: float = math.nan
    x: float = math.nan


@dataclass(frozen=True, kw_only=True)
class Curve:
    """The points of one series, in order; a quiet one is thin and not named."""

    name: str
    points: tuple[Point, ...]
    quiet: bool = False


@dataclass(frozen=True, kw_only=True)
class CurvePanel:
    """One estimand against the factor.

    `lines` are references with their names, `from_zero` says that the axis begins at 0, `diagonal`
    that both axes are shares which must be equal.
    """

    y_label: str
    curves: tuple[Curve, ...]
    lines: tuple[tuple[str, float], ...] = ()
    from_zero: bool = False
    diagonal: bool = False


def _bars(point: Point) -> np.ndarray[Any, Any] | None:
    """The lengths of an interval on both sides of its estimate; None without one."""
    if not (math.isfinite(point.low) and math.isfinite(point.high)):
        return None
    below, above = max(0.0, point.value - point.low), max(0.0, point.high - point.value)
    return np.array([[below], [above]])


def _near(points: Sequence[Point], marks: Sequence[float] = ()) -> tuple[float, float] | None:
    """Limits that leave out ends of intervals which are far from every estimate and mark."""
    values = finite([p.value for p in points])
    if not len(values):
        return None
    reach = 2.5 * max(float(values.max() - values.min()), 0.3 * float(np.abs(values).max()), 1e-9)
    low, high = float(values.min()) - reach, float(values.max()) + reach
    shown = finite([e for p in points for e in (p.value, p.low, p.high)])
    kept = shown[(shown >= low) & (shown <= high)]
    if len(kept) == len(shown):
        return None
    kept = np.concatenate([kept, finite(marks)])
    return float(kept.min()), float(kept.max()) + 0.15 * reach


def _thin_levels(xs: Sequence[float]) -> list[float]:
    """Levels whose labels do not touch."""
    room = 0.07 * (xs[-1] - xs[0]) if xs else 0.0
    kept: list[float] = []
    for x in xs:
        if not kept or x - kept[-1] >= room:
            kept.append(x)
    return kept


@dataclass(frozen=True, kw_only=True)
class Curves(Figure):
    """Estimates with intervals against a factor, a line a series, a panel an estimand.

    `levels` name the values of a factor that is drawn at equal distances; a `log` axis is
    logarithmic.
    """

    panels: tuple[CurvePanel, ...]
    x_label: str
    levels: tuple[str, ...] = ()
    log: bool = False

    @property
    def _stacked(self) -> bool:
        return self.is_narrow or len(self.panels) == 1

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches."""
        rows = len(self.panels) if self._stacked else 1
        further = 0.3 * max(0, math.ceil(len(self._legend) / self._columns) - 2)
        return (self.width, 2.45 * rows + (0.25 + further if self._many else 0))

    @property
    def _legend(self) -> list[str]:
        """The names in the legend, in their lines."""
        panel = self.panels[0]
        named = [curve.name for curve in panel.curves if not curve.quiet]
        lines = [wrapped(name, width=24, lines=2) for name, _ in panel.lines]
        return [*wrap_unique(named, width=24, lines=2), *lines]

    @property
    def _columns(self) -> int:
        """Columns of the legend that there is space for."""
        longest = max(len(line) for name in self._legend for line in name.split("\n"))
        room = int(self.width / (0.068 * longest + 0.5))
        return max(1, min(2 if self.is_narrow else 4, len(self._legend), room))

    @property
    def alt(self) -> str:
        """The figure as text."""
        if self.caption:
            return self.caption
        parts = [
            f"{c.name}: " + ", ".join(f"{number(p.value)} at {self._level(p.x)}" for p in c.points)
            for panel in self.panels
            for c in panel.curves
        ]
        return f"{self.panels[0].y_label} by {self.x_label.lower()}. {'; '.join(parts)}."

    def _level(self, x: float) -> str:
        return self.levels[round(x)] if self.levels else f"{x:.3g}"

    @property
    def _many(self) -> bool:
        return any(len(p.curves) > 1 or p.lines for p in self.panels)

    def compose(self, canvas: Canvas) -> None:
        """Draw every panel; one legend above all."""
        n = len(self.panels)
        shape = (n, 1) if self._stacked else (1, n)
        axes = np.atleast_1d(canvas.subplots(*shape, sharex=True)).ravel()
        for panel, ax in zip(self.panels, axes, strict=True):
            self._panel(panel, ax)
            if ax is axes[-1] or not self._stacked:
                ax.set_xlabel(self.x_label)
        if self._many:
            handles, labels = axes[0].get_legend_handles_labels()
            canvas.legend(handles, labels, loc="outside upper left", ncols=self._columns)

    def _panel(self, panel: CurvePanel, ax: Axes) -> None:
        xs = sorted({p.x for curve in panel.curves for p in curve.points})
        gap = 0.0 if self.log else min((b - a for a, b in pairwise(xs)), default=1.0)
        named = [curve for curve in panel.curves if not curve.quiet]
        step = min(0.09, 0.5 / max(1, len(named))) * gap
        names = wrap_unique([curve.name for curve in named], width=24, lines=2)
        for curve in panel.curves:
            if curve.quiet:
                ax.plot([p.x for p in curve.points], [p.value for p in curve.points], **_QUIET)
        for i, curve in enumerate(named):
            moved = (i - (len(named) - 1) / 2) * step  # intervals beside one another
            style = series(i)
            kept = [p for p in curve.points if math.isfinite(p.value)]
            ax.plot(
                [p.x + moved for p in kept], [p.value for p in kept],
                label=names[i], **style,
            )  # fmt: skip
            for p in kept:
                bars = _bars(p)
                if bars is not None:
                    ax.errorbar([p.x + moved], [p.value], yerr=bars, color=style["color"], lw=0.9)
        for name, line in panel.lines:  # named in the legend, off the curves
            label = wrapped(name, width=24, lines=2)
            ax.axhline(line, label=label, color=GREY, lw=0.9, linestyle=(0, (4, 2)))
        if panel.diagonal:
            ax.plot((0, 1), (0, 1), color=GREY, lw=1, ls="--", zorder=0)
        limits = _near([p for curve in panel.curves for p in curve.points])
        if limits:
            ax.set_ylim(*limits)
        if panel.from_zero:
            _, high = ax.get_ylim()
            ax.set_ylim(min(ax.get_ylim()[0], -0.03 * high), high)
        self._ticks(panel, ax, xs)
        ax.set_ylabel(wrapped(panel.y_label.replace(" / ", "/"), width=28, lines=2))

    def _ticks(self, panel: CurvePanel, ax: Axes, xs: Sequence[float]) -> None:
        ticks = list(xs) if self.log else _thin_levels(xs)
        if self.log:
            ax.set_xscale("log")
            ax.xaxis.set_minor_locator(NullLocator())
        if len(ticks) <= 8 and not panel.diagonal:
            ax.set_xticks(ticks, [self._level(x) for x in ticks])
        if max((abs(p.value) for c in panel.curves for p in c.points), default=0.0) >= 10_000:
            ax.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")


_QUIET: dict[str, Any] = {"color": "#b0b0b0", "lw": 0.7, "zorder": 1}


def _depths(joined: Sequence[Sequence[int]]) -> list[int]:
    """Where bars stand so that no two touch: those of rows apart above one another.

    Examples
    --------
    >>> _depths([[0, 1], [2, 3], [3, 4]])
    [0, 0, 1]
    """
    out: list[int] = []
    for i, places in enumerate(joined):
        taken = {
            out[k] for k in range(i)
            if joined[k][0] <= places[-1] and places[0] <= joined[k][-1]
        }  # fmt: skip
        out.append(next(depth for depth in range(i + 1) if depth not in taken))
    return out


def _point_beyond(ax: Axes, points: Sequence[Point]) -> None:
    """An arrow at the edge where an interval goes on beyond it."""
    low, high = ax.get_xlim()
    for at, p in enumerate(points):
        if _bars(p) is None:
            continue
        for edge, sign, beyond in ((low, "<", p.low < low), (high, ">", p.high > high)):
            if beyond:
                ax.plot([edge], [at], sign, color=INK, markersize=4, clip_on=False)
    ax.set_xlim(low, high)


@dataclass(frozen=True, kw_only=True)
class DotPanel:
    """One estimand of every row.

    `chance` is the null's 95th percentile of each row. `line` is a reference of all rows.
    `from_zero` says that the axis begins at 0.
    """

    x_label: str
    points: tuple[Point, ...]
    name: str = ""
    chance: tuple[float, ...] = ()
    line: float = math.nan
    line_label: str = ""
    percent: bool = False
    from_zero: bool = False


@dataclass(frozen=True, kw_only=True)
class Dots(Figure):
    """Rows of dots with intervals; a bracket joins rows that are not distinguished.

    Attributes
    ----------
    labels : tuple of str
        Top down.
    panels : tuple of DotPanel
        Of as many points each.
    brackets : tuple of (int, int)
        First and last row of each.
    quiet : tuple of int
        Rows that are references and not judged: hollow.
    """

    labels: tuple[str, ...]
    panels: tuple[DotPanel, ...]
    brackets: tuple[tuple[int, int], ...] = ()
    quiet: tuple[int, ...] = ()

    def _rows(self, panel: DotPanel) -> list[int]:
        """The rows that a panel shows: where panels share them all, else those with a number."""
        every = range(len(self.labels))
        return [i for i in every if math.isfinite(panel.points[i].value)] if self._own else [*every]

    @property
    def _own(self) -> bool:
        """Whether panels are under one another, each with its own rows.

        On a small screen, and where a panel would be half empty.
        """
        shown = [sum(math.isfinite(p.value) for p in panel.points) for panel in self.panels]
        return self.is_narrow or any(2 * n <= len(self.labels) for n in shown)

    @property
    def _letters(self) -> int:
        """Letters of a label's line."""
        return 22 if self.is_narrow else (40, 34, 24)[self._panel_columns - 1]

    @property
    def _panel_columns(self) -> int:
        """Panels side by side, 3 at most."""
        return 1 if self._own else min(len(self.panels), 3)

    @property
    def _high(self) -> list[float]:
        """Inches of each panel."""
        tall = self.is_narrow or max((len(name) for name in self.labels), default=0) > self._letters
        each = 0.3 if tall else 0.23
        return [
            0.62 + each * max(2, len(self._rows(panel))) + 0.16 * max(0, name.count("\n") - 1)
            for panel, name in zip(self.panels, self._names, strict=True)
        ]

    @property
    def _names(self) -> list[str]:
        """What each panel's axis is called, in its lines."""
        letters = 26 if self.is_narrow else (46, 26, 18)[self._panel_columns - 1]
        return [wrapped(clean(panel.x_label), width=letters, lines=4) for panel in self.panels]

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches."""
        return (self.width, (sum(self._high) if self._own else max(self._high)) + 0.1)

    def compose(self, canvas: Canvas) -> None:
        """Draw every panel next to (or under) the labels."""
        n = len(self.panels)
        if self._own:
            axes = canvas.subplots(n, 1, gridspec_kw={"height_ratios": self._high})
        else:
            axes = canvas.subplots(1, n, sharey=True)
        drawn = list(np.atleast_1d(axes).ravel())
        for k, (panel, ax) in enumerate(zip(self.panels, drawn, strict=True)):
            self._panel(panel, ax, brackets=self.brackets if k == 0 else ())
            ax.set_xlabel(self._names[k])
        short = wrap_unique(self.labels, width=self._letters, lines=2)
        for panel, ax in zip(self.panels, drawn if self._own else drawn[:1], strict=False):
            rows = self._rows(panel)
            names = [short[i] for i in rows]
            ax.set_yticks(range(len(rows)), names)
            ax.set_ylim(len(rows) - 0.4, -0.6)
        canvas.draw_without_rendering()  # the first layout does not know the labels' widths

    def _panel(self, panel: DotPanel, ax: Axes, *, brackets: Sequence[tuple[int, int]]) -> None:
        rows = self._rows(panel)
        for at, row in enumerate(rows):
            point = panel.points[row]
            if row < len(panel.chance) and math.isfinite(panel.chance[row]):
                ax.vlines(panel.chance[row], at - 0.32, at + 0.32, color=GREY, lw=1.6)
            if not math.isfinite(point.value):
                continue
            bars = _bars(point)
            colour = GREY if row in self.quiet else COLOURS[0]
            if bars is not None:
                ax.errorbar([point.value], [at], xerr=bars, color=colour, lw=1.1)
            ax.plot(
                [point.value], [at], "o", color=colour,
                markerfacecolor="white" if row in self.quiet else colour,
            )  # fmt: skip
        if math.isfinite(panel.line):
            ax.axvline(panel.line, color=GREY, lw=0.9, linestyle=(0, (4, 2)))
            ax.annotate(
                panel.line_label, (panel.line, 1), xycoords=("data", "axes fraction"),
                xytext=(0, 2), textcoords="offset points", ha="center", va="bottom", fontsize=7.5,
                color=GREY,
            )  # fmt: skip
        limits = _near(panel.points, (*panel.chance, panel.line))
        if limits:
            ax.set_xlim(*limits)
        if panel.from_zero:
            low, high = ax.get_xlim()
            ax.set_xlim(min(low, -0.03 * high), high)
        joined = [[at for at, row in enumerate(rows) if a <= row <= b] for a, b in brackets]
        if joined := [places for places in joined if len(places) > 1]:
            low, high = ax.get_xlim()
            depths = _depths(joined)
            for depth, places in zip(depths, joined, strict=True):
                x = high + (0.03 + 0.035 * depth) * (high - low)
                ends = [places[0] - 0.2, places[-1] + 0.2]
                ax.plot([x, x], ends, color=INK, lw=2.2, clip_on=False)
            ax.set_xlim(low, high + (0.085 + 0.035 * max(depths)) * (high - low))
        _point_beyond(ax, [panel.points[row] for row in rows])
        if panel.percent:
            ax.xaxis.set_major_formatter(lambda value, _: f"{100 * value:g}%")
            ax.locator_params(axis="x", nbins=3)  # their labels are long
        ax.grid(visible=True, axis="x")
        ax.grid(visible=False, axis="y")
        ax.hlines(range(len(rows)), *ax.get_xlim(), color=PALE, lw=0.5, zorder=0)
        ax.tick_params(axis="y", length=0)


def cliques(ranks: Sequence[float], same: np.ndarray) -> list[tuple[int, int]]:
    """Maximal runs of neighbours, in order of rank, of which no pair is distinguished.

    Parameters
    ----------
    ranks : sequence of float
        Mean ranks.
    same : (k, k) bool array
        Whether a pair is not distinguished.

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
