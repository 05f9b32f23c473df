"""Forest plots of estimates, and figures of dispersion and reliability by condition."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter, NullLocator

from judgestats.errors import InputError
from judgestats.reporting.numbers import UNKNOWN, number, positive_interval
from judgestats.reporting.plots.base import (
    COLOURS,
    GREY,
    INK,
    Figure,
    finite,
    label_points,
    nothing_to_show,
    padded_limits,
    series,
    wrap_unique,
    wrapped,
)

_FINE = (1.0, 1.1, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0)

Verdict = Literal["", "different", "equivalent", "undecided"]
_LOOKS = {
    "equivalent": (COLOURS[2], "o", COLOURS[2]),
    "different": (COLOURS[1], "s", COLOURS[1]),
    "undecided": (INK, "D", "white"),
}
"""Colour, marker and face of an estimate beside a margin, by its verdict."""
_NULL = "#bdbdbd"


@dataclass(frozen=True, kw_only=True)
class EffectRow:
    """One estimate with its interval; NaN means undefined, and is shown as that.

    `verdict` is that of the declared test of the row, adjusted, as text and tables have it: marks
    go by it and never by the interval, which is not adjusted. Empty: nothing was tested.
    `null_mean` and `null_q95` are what the same computation yields when there is nothing to find.
    """

    label: str
    estimate: float
    low: float = math.nan
    high: float = math.nan
    group: str = ""
    verdict: Verdict = ""
    null_mean: float = math.nan
    null_q95: float = math.nan

    @property
    def has_interval(self) -> bool:
        """Whether both of its ends are known."""
        return not (math.isnan(self.low) or math.isnan(self.high))

    @property
    def has_null(self) -> bool:
        """Whether it stands beside its null."""
        return math.isfinite(self.null_mean) and math.isfinite(self.null_q95)

    @property
    def is_hollow(self) -> bool:
        """Whether its mark says that nothing was found: not told apart, or within its null."""
        within = self.has_null and self.estimate <= self.null_q95
        return within or self.verdict not in {"", "different"}


@dataclass(frozen=True, kw_only=True)
class Forest(Figure):
    """Estimates with intervals, one a line, and the numbers written beside them.

    Squares of rows that were tested and not told apart, or that lie within their null, are hollow.
    Beside a margin the verdict of each row is written instead of its numbers.

    Attributes
    ----------
    rows : tuple of EffectRow
    reference : float
        Where nothing would lie (0, or 1 for ratios); NaN draws no line.
    log : bool
        Logarithmic axis, for ratios.
    bounded : bool
        Numbers that cannot exceed 1: written without a leading zero.
    margin : (float, float), optional
        Lower and upper bound of what counts as no difference, declared beforehand. The intervals
        are those of the test then (90 % for two one-sided tests at .05).
    """

    rows: tuple[EffectRow, ...]
    x_label: str = "Effect"
    reference: float = 0.0
    log: bool = False
    bounded: bool = False
    level: float = 0.95
    margin: tuple[float, float] | None = None

    @property
    def _lines(self) -> list[str]:
        """Heading and row labels from top to bottom; headings begin with a tab."""
        out: list[str] = []
        group = ""
        for row in self.rows:
            if row.group and row.group != group:
                out.append("\t" + row.group)
                group = row.group
            out.append(row.label)
        return out

    @property
    def _has_nulls(self) -> bool:
        return any(row.has_null for row in self.rows)

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches."""
        height = sum(0.21 + 0.12 * self._label(line).count("\n") for line in self._lines)
        legend = self._has_nulls * (0.45 if self.is_narrow else 0.25)
        return (self.width, max(1.5, 0.85 + legend + height))

    def _label(self, line: str) -> str:
        width, lines = (20, 3) if self.is_narrow else (36, 2)
        if line.startswith("\t"):
            return wrapped(line, width=width, lines=lines)
        labels = list(dict.fromkeys(row.label for row in self.rows))
        return wrap_unique(labels, width=width, lines=lines)[labels.index(line)]

    @property
    def alt(self) -> str:
        """The figure in words."""
        parts = "; ".join(
            f"{f'{r.group}, ' if r.has_null and r.group else ''}{r.label} {self._numbers(r)}"
            + (f", {self._verdict(r)}" if self.margin else "")
            + (f", null mean {number(r.null_mean)}, 95th percentile {number(r.null_q95)}"
               if r.has_null else "")
            for r in self.rows
        )  # fmt: skip
        low, high = self.margin or (math.nan, math.nan)
        against = f" against the margin {number(low)} to {number(high)}" if self.margin else ""
        return (
            f"Forest plot of {self.x_label.lower()} with {100 * self.level:g} % intervals{against}."
            f" {parts}."
        )

    @staticmethod
    def _verdict(row: EffectRow) -> str:
        return (row.verdict or "undecided") if row.has_interval else "undefined"

    def _numbers(self, row: EffectRow) -> str:
        if math.isnan(row.estimate):
            return "undefined"
        show = _ratio if self.log else partial(number, leading_zero=not self.bounded)
        if not row.has_interval:
            return show(row.estimate)
        if self.log:
            return f"{show(row.estimate)} {_ratio_interval(row)}"
        return f"{show(row.estimate)} [{show(row.low)}, {show(row.high)}]"

    def draw(self, ax: Axes) -> None:
        """Draw on the axes given."""
        if not self.rows:
            nothing_to_show(ax, "there is no effect to show")
            return
        if self.log:
            _check_positive(self.rows)
            ax.set_xscale("log")
        if self.margin:
            self._shade_margin(ax, *self.margin)
        if math.isfinite(self.reference):
            ax.axvline(self.reference, color=GREY, lw=0.9, ls=(0, (4, 2)))
        y, positions, labels = 0.0, [], []
        by_row: list[float] = []
        for line in self._lines:
            text = self._label(line)
            step = 1.0 + 0.55 * text.count("\n")
            positions.append(y + step / 2)
            labels.append(text)
            if not line.startswith("\t"):
                by_row.append(y + step / 2)
            y += step
        for centre, row in zip(by_row, self.rows, strict=True):
            self._mark(ax, centre, row)
        ax.set_ylim(y, 0)
        ax.set_yticks(positions, labels)
        for tick, line in zip(ax.get_yticklabels(), self._lines, strict=True):
            if line.startswith("\t"):
                tick.set_fontweight("bold")
        ax.tick_params(axis="y", length=0)
        ax.grid(visible=False, axis="y")
        ax.grid(visible=not self.margin, axis="x")
        self._limits(ax, by_row)
        if self.margin or not self.is_narrow:
            texts = [self._verdict(r) if self.margin else self._numbers(r) for r in self.rows]
            right = ax.twinx()
            right.set_ylim(ax.get_ylim())
            right.set_yticks(by_row, texts)
            right.tick_params(axis="y", length=0)
            right.spines[:].set_visible(False)
            right.grid(visible=False)
        ax.spines["left"].set_visible(False)
        said = self.x_label
        if self.margin:
            said += f" ({100 * self.level:g} % interval; shaded: declared margin)"
        ax.set_xlabel(wrapped(said, width=26 if self.is_narrow else 60))
        if self._has_nulls:
            ax.plot([], [], "s", color=COLOURS[0], label="observed, with interval")
            ax.plot([], [], color=_NULL, lw=7, label="null: mean (tick) to 95th percentile")
            # from the right end of the axes to the left, over the labels: it is never cut
            columns = 1 if self.is_narrow else 2
            ax.legend(
                loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=columns, borderaxespad=0.2
            )

    @staticmethod
    def _shade_margin(ax: Axes, low: float, high: float) -> None:
        if not low < high:
            raise InputError(
                f"Forest: margin must be (lower, upper), but is {(low, high)}. "
                "Declare what counts as no difference, such as (-0.5, 0.5)."
            )
        ax.axvspan(low, high, color=COLOURS[2], alpha=0.13, lw=0)
        for edge in (low, high):
            ax.axvline(edge, color=COLOURS[2], lw=1.0, ls=(0, (4, 2)))

    def _mark(self, ax: Axes, centre: float, row: EffectRow) -> None:
        """Draw one row: its null, its interval, and its estimate."""
        if row.has_null:
            ax.plot(
                [row.null_mean, row.null_q95], [centre, centre], color=_NULL, lw=7,
                solid_capstyle="butt", zorder=1,
            )  # fmt: skip
            ax.plot(row.null_mean, centre, "|", color=GREY, ms=11, mew=1.6, zorder=2)
        if math.isnan(row.estimate) or (self.margin and not row.has_interval):
            return
        colour, marker, face = COLOURS[0], "s", "white" if row.is_hollow else COLOURS[0]
        if self.margin:
            colour, marker, face = _LOOKS[self._verdict(row)]
        if row.has_interval:
            ax.hlines(centre, row.low, row.high, color=colour, lw=1.6, zorder=3)
        ax.plot(row.estimate, centre, marker, color=colour, mfc=face, ms=5, zorder=4)

    def _limits(self, ax: Axes, by_row: Sequence[float]) -> None:
        marks = [self.reference, *(self.margin or ())]
        values = [v for r in self.rows for v in (r.estimate, r.low, r.high)] + marks
        if not self.log:
            nulls = [v for r in self.rows for v in (r.null_mean, r.null_q95)]
            ax.set_xlim(*padded_limits(values + nulls))
            ax.xaxis.set_major_locator(MaxNLocator(4 if self.is_narrow else 6))
            return
        least = 3 if self.is_narrow else 4
        _ratio_limits(ax, values, [r.estimate for r in self.rows] + marks, least)
        low, high = ax.get_xlim()
        for line, row in zip(by_row, self.rows, strict=True):
            for bound, edge, mark in ((row.low, low, "<"), (row.high, high, ">")):
                beyond = bound < edge if mark == "<" else bound > edge
                if beyond:  # the interval goes on beyond what is shown
                    ax.plot(edge, line, mark, color=COLOURS[0], ms=4.5, clip_on=False)


def _check_positive(rows: Sequence[EffectRow]) -> None:
    bad = [r.label for r in rows for v in (r.estimate, r.low, r.high) if v <= 0]
    if bad:
        raise InputError(
            f"Forest: rows must be positive on a log axis, but {bad[0]!r} is not. "
            "Set log=False, or give ratios."
        )


def _ratio(value: float) -> str:
    """A ratio with three significant digits at most, two decimals at least near 1."""
    if 0.1 <= value < 100:
        return number(value)
    return f"{value:.2g}" if value < 0.1 else f"{value:.3g}"


def _ratio_interval(row: EffectRow) -> str:
    """An interval of a ratio as tables print it: an end that says nothing is no number."""
    limits = positive_interval(row.low, row.high, estimate=row.estimate)
    return limits if UNKNOWN in limits else f"[{_ratio(row.low)}, {_ratio(row.high)}]"


def _ratio_limits(ax: Axes, values: Sequence[float], inner: Sequence[float], n_ticks: int) -> None:
    """Limits that hold all estimates and intervals, but none more than a factor of 50 outside."""
    kept = [math.log(v) for v in inner if math.isfinite(v) and v > 0]
    lowest, most = min(kept) - math.log(50), max(kept) + math.log(50)
    shown = [math.log(v) for v in values if math.isfinite(v) and v > 0]
    low, high = padded_limits([min(max(v, lowest), most) for v in shown])
    ax.set_xlim(math.exp(low), math.exp(high))
    _ratio_ticks(ax, n_ticks)


def _ratio_ticks(ax: Axes, least: int) -> None:
    """Ticks at readable ratios: 0.5, 1, 2, 5 ..., closer together where the axis is short."""
    low, high = ax.get_xlim()
    ticks: list[float] = []
    every = max(1, math.ceil(math.log10(high / low) / 7))
    for steps in ((1.0,), (1.0, 2.0, 5.0), (1.0, 1.5, 2.0, 3.0, 5.0, 7.0), tuple(_FINE)):
        # size: at most 616 decades
        decades = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
        kept = [d for d in decades if d % every == 0]
        ticks = [s * 10.0**d for d in kept for s in steps if low <= s * 10.0**d <= high]
        if len(ticks) >= least:
            break
    if len(ticks) < 3:
        ticks = list(MaxNLocator(4).tick_values(low, high))
        ticks = [t for t in ticks if low <= t <= high]
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xticks(ticks)
    ax.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())


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
