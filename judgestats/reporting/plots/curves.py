"""Figures of an estimand against a factor, of ranked dots, and of scores by condition."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from judgestats.errors import InputError
from judgestats.reporting.numbers import number
from judgestats.reporting.plots import base
from judgestats.reporting.plots.base import series
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
    """The points of one series, in order."""

    name: str
    points: tuple[Point, ...]


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
    values = base.finite([p.value for p in points])
    if not len(values):
        return None
    reach = 2.5 * max(float(values.max() - values.min()), 0.3 * float(np.abs(values).max()), 1e-9)
    low, high = float(values.min()) - reach, float(values.max()) + reach
    shown = base.finite([e for p in points for e in (p.value, p.low, p.high)])
    kept = shown[(shown >= low) & (shown <= high)]
    if len(kept) == len(shown):
        return None
    kept = np.concatenate([kept, base.finite(marks)])
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
class Curves(base.Figure):
    """Estimates with intervals against a factor, a line a series, a panel an estimand.

    `levels` name the values of a factor that is drawn at equal distances.
    """

    panels: tuple[CurvePanel, ...]
    x_label: str
    levels: tuple[str, ...] = ()

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
        named = [curve.name for curve in panel.curves]
        lines = [base.wrapped(name, width=24, lines=2) for name, _ in panel.lines]
        return [*base.wrap_unique(named, width=24, lines=2), *lines]

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
        gap = min((b - a for a, b in pairwise(xs)), default=1.0)
        step = min(0.09, 0.5 / max(1, len(panel.curves))) * gap
        names = base.wrap_unique([curve.name for curve in panel.curves], width=24, lines=2)
        for i, curve in enumerate(panel.curves):
            moved = (i - (len(panel.curves) - 1) / 2) * step  # intervals beside one another
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
            label = base.wrapped(name, width=24, lines=2)
            ax.axhline(line, label=label, color=base.GREY, lw=0.9, linestyle=(0, (4, 2)))
        if panel.diagonal:
            ax.plot((0, 1), (0, 1), color=base.GREY, lw=1, ls="--", zorder=0)
        limits = _near([p for curve in panel.curves for p in curve.points])
        if limits:
            ax.set_ylim(*limits)
        if panel.from_zero:
            _, high = ax.get_ylim()
            ax.set_ylim(min(ax.get_ylim()[0], -0.03 * high), high)
        self._ticks(panel, ax, xs)
        ax.set_ylabel(base.wrapped(panel.y_label.replace(" / ", "/"), width=28, lines=2))

    def _ticks(self, panel: CurvePanel, ax: Axes, xs: Sequence[float]) -> None:
        ticks = _thin_levels(xs)
        if len(ticks) <= 8 and not panel.diagonal:
            ax.set_xticks(ticks, [self._level(x) for x in ticks])
        if max((abs(p.value) for c in panel.curves for p in c.points), default=0.0) >= 10_000:
            ax.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")


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
                ax.plot([edge], [at], sign, color=base.INK, markersize=4, clip_on=False)
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
    percent: bool = False
    from_zero: bool = False


@dataclass(frozen=True, kw_only=True)
class Dots(base.Figure):
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
        return [base.wrapped(clean(panel.x_label), width=letters, lines=4) for panel in self.panels]

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
        short = base.wrap_unique(self.labels, width=self._letters, lines=2)
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
                ax.vlines(panel.chance[row], at - 0.32, at + 0.32, color=base.GREY, lw=1.6)
            if not math.isfinite(point.value):
                continue
            bars = _bars(point)
            colour = base.GREY if row in self.quiet else base.COLOURS[0]
            if bars is not None:
                ax.errorbar([point.value], [at], xerr=bars, color=colour, lw=1.1)
            ax.plot(
                [point.value], [at], "o", color=colour,
                markerfacecolor="white" if row in self.quiet else colour,
            )  # fmt: skip
        if math.isfinite(panel.line):
            ax.axvline(panel.line, color=base.GREY, lw=0.9, linestyle=(0, (4, 2)))
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
                ax.plot([x, x], ends, color=base.INK, lw=2.2, clip_on=False)
            ax.set_xlim(low, high + (0.085 + 0.035 * max(depths)) * (high - low))
        _point_beyond(ax, [panel.points[row] for row in rows])
        if panel.percent:
            ax.xaxis.set_major_formatter(lambda value, _: f"{100 * value:g}%")
            ax.locator_params(axis="x", nbins=3)  # their labels are long
        ax.grid(visible=True, axis="x")
        ax.grid(visible=False, axis="y")
        ax.hlines(range(len(rows)), *ax.get_xlim(), color=base.PALE, lw=0.5, zorder=0)
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


_MAX_LEVELS = 21


def _ink_on(rgba: Any) -> str:
    red, green, blue = (float(part) for part in np.ravel(rgba)[:3])
    return base.INK if 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 else "white"


@dataclass(frozen=True, kw_only=True)
class ScoreDistribution(base.Figure):
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
        shown = base.finite(
            np.concatenate([np.asarray(s, dtype=float).ravel() for s in self.scores])
        )
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
        return base.wrap_unique(self.labels, width=self.letters(32), lines=2)

    @property
    def alt(self) -> str:
        """The figure as text."""
        parts = []
        for name, values in zip(self.labels, self.scores, strict=True):
            kept = base.finite(values)
            parts.append(
                f"{name}: n {kept.size}, mean {kept.mean():.2f}, median {np.median(kept):g}"
                if kept.size
                else f"{name}: no score"
            )
        return "Distribution of scores by condition. " + "; ".join(parts) + "."

    def draw(self, ax: Axes) -> None:
        """Draw on the axes given."""
        if not self.scores or all(base.finite(s).size == 0 for s in self.scores):
            base.nothing_to_show(ax, "there is no score to show")
            return
        edges, names = self._edges()
        shares = np.full((len(self.labels), len(edges) - 1), np.nan)
        for i, values in enumerate(self.scores):
            kept = base.finite(values)
            if kept.size:
                shares[i] = np.histogram(kept, bins=edges)[0] / kept.size
        rows = np.arange(len(self.labels) + 1) - 0.5
        mesh = ax.pcolormesh(
            edges, rows, np.ma.masked_invalid(shares), cmap=base.SEQUENTIAL, vmin=0,
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
        means = [
            float(base.finite(s).mean()) if base.finite(s).size else math.nan for s in self.scores
        ]
        ax.plot(means, np.arange(len(means)) + 0.3, "D", ms=4.0, color=base.COLOURS[1], mec="white",
                mew=0.6, label="mean", clip_on=False)  # fmt: skip
        for i, values in enumerate(self.scores):
            if base.finite(values).size == 0:
                ax.text((edges[0] + edges[-1]) / 2, i, "no score", ha="center", va="center",
                        color=base.GREY, fontsize=8)  # fmt: skip
        ax.set_yticks(range(len(self.labels)), self._names)
        ax.set_ylim(len(self.labels) - 0.5, -0.5)
        ax.tick_params(length=0)
        ax.grid(visible=False)
        ax.spines[:].set_visible(False)
        if names:
            ax.set_xticks((edges[:-1] + edges[1:]) / 2, names)
        said = f"{self.x_label} (tone and number: percent of the condition's scores)"
        ax.set_xlabel(base.wrapped(said, width=self.letters(70)))
        ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0))
