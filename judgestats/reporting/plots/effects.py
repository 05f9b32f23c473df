"""Forest plots, equivalence plots, calibration, and scaling."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter, NullLocator

from judgestats.errors import InputError
from judgestats.reporting.numbers import UNKNOWN, number, positive_interval
from judgestats.reporting.plots.base import (
    COLOURS,
    GREY,
    INK,
    NARROW,
    PAPER_WIDTH,
    Figure,
    Sized,
    nothing_to_show,
    padded_limits,
    series,
    wrap_unique,
    wrapped,
)

_FINE = (1.0, 1.1, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0)

Verdict = Literal["", "different", "equivalent", "undecided"]


@dataclass(frozen=True, kw_only=True)
class EffectRow:
    """One estimate with its interval; NaN means undefined, and is shown as that.

    `verdict` is that of the declared test of the row, adjusted, as text and tables have it: marks
    go by it and never by the interval, which is not adjusted. Empty: nothing was tested.
    """

    label: str
    estimate: float
    low: float = math.nan
    high: float = math.nan
    group: str = ""
    verdict: Verdict = ""


@dataclass(frozen=True, kw_only=True)
class Forest(Figure):
    """Estimates with intervals, one a line, and the numbers written beside them.

    Squares of rows that were tested and not told apart are hollow, all others filled.

    Attributes
    ----------
    rows : tuple of EffectRow
    reference : float
        Where nothing would lie (0, or 1 for ratios); NaN draws no line.
    log : bool
        Logarithmic axis, for ratios.
    bounded : bool
        Numbers that cannot exceed 1: written without a leading zero.
    """

    rows: tuple[EffectRow, ...]
    x_label: str = "Effect"
    reference: float = 0.0
    log: bool = False
    bounded: bool = False
    level: float = 0.95
    digits: int = 2
    width: float = PAPER_WIDTH

    @property
    def narrow(self) -> Forest:
        """The figure for a small screen, which leaves the numbers to the tables."""
        return replace(self, width=NARROW)

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
    def size(self) -> tuple[float, float]:
        """Width and height in inches."""
        height = sum(0.21 + 0.12 * self._label(line).count("\n") for line in self._lines)
        return (self.width, max(1.5, 0.85 + height))

    def _label(self, line: str) -> str:
        width, lines = (36, 2) if self.width >= PAPER_WIDTH else (20, 3)
        if line.startswith("\t"):
            return wrapped(line, width=width, lines=lines)
        labels = list(dict.fromkeys(row.label for row in self.rows))
        return wrap_unique(labels, width=width, lines=lines)[labels.index(line)]

    @property
    def alt(self) -> str:
        """The figure in words."""
        parts = [f"{r.label} {self._numbers(r)}" for r in self.rows]
        return f"Forest plot of {self.x_label.lower()} with {100 * self.level:g} % intervals. " + (
            "; ".join(parts) + "."
        )

    def _numbers(self, row: EffectRow) -> str:
        if math.isnan(row.estimate):
            return "undefined"
        plain = partial(number, digits=self.digits, leading_zero=not self.bounded)
        show = _ratio if self.log else plain
        if math.isnan(row.low) or math.isnan(row.high):
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
        y, positions, labels = 0.0, [], []
        by_row: list[float] = []
        for line in self._lines:
            text = self._label(line)
            step = 1.0 + 0.55 * text.count("\n")
            centre = y + step / 2
            positions.append(centre)
            labels.append(text)
            if not line.startswith("\t"):
                by_row.append(centre)
            y += step
        if math.isfinite(self.reference):
            ax.axvline(self.reference, color=GREY, lw=0.9, ls=(0, (4, 2)))
        for centre, row in zip(by_row, self.rows, strict=True):
            if math.isnan(row.estimate):
                continue
            if not (math.isnan(row.low) or math.isnan(row.high)):
                ax.hlines(centre, row.low, row.high, color=COLOURS[0], lw=1.6)
            face = COLOURS[0] if row.verdict in {"", "different"} else "white"
            ax.plot(row.estimate, centre, "s", color=COLOURS[0], mfc=face, ms=5)
        ax.set_ylim(y, 0)
        ax.set_yticks(positions, labels)
        for tick, line in zip(ax.get_yticklabels(), self._lines, strict=True):
            if line.startswith("\t"):
                tick.set_fontweight("bold")
        ax.tick_params(axis="y", length=0)
        ax.grid(visible=False, axis="y")
        ax.grid(visible=True, axis="x")
        self._limits(ax, by_row)
        if self.width >= PAPER_WIDTH:
            right = ax.twinx()
            right.set_ylim(ax.get_ylim())
            right.set_yticks(by_row, [self._numbers(r) for r in self.rows])
            right.tick_params(axis="y", length=0)
            right.spines[:].set_visible(False)
            right.grid(visible=False)
        ax.spines["left"].set_visible(False)
        ax.set_xlabel(wrapped(self.x_label, width=60 if self.width >= PAPER_WIDTH else 26))

    def _limits(self, ax: Axes, by_row: Sequence[float]) -> None:
        values = [v for r in self.rows for v in (r.estimate, r.low, r.high)] + [self.reference]
        if not self.log:
            ax.set_xlim(*padded_limits(values))
            ax.xaxis.set_major_locator(MaxNLocator(6 if self.width >= PAPER_WIDTH else 4))
            return
        _ratio_limits(ax, values, [r.estimate for r in self.rows] + [self.reference])
        low, high = ax.get_xlim()
        for line, row in zip(by_row, self.rows, strict=True):
            for bound, edge, mark in ((row.low, low, "<"), (row.high, high, ">")):
                beyond = bound < edge if mark == "<" else bound > edge
                if beyond:  # the interval goes on beyond what is shown
                    ax.plot(edge, line, mark, color=COLOURS[0], ms=4.5, clip_on=False)


@dataclass(frozen=True, kw_only=True)
class Equivalence(Sized):
    """Intervals against a margin declared beforehand, each with the verdict of its row.

    Attributes
    ----------
    rows : tuple of EffectRow
        With the intervals that belong to the test (90 % for two one-sided tests at .05).
    margin : (float, float)
        Lower and upper bound of what counts as no difference.
    """

    rows: tuple[EffectRow, ...]
    margin: tuple[float, float]
    x_label: str = "Difference"
    log: bool = False
    level: float = 0.90

    @property
    def _labels(self) -> list[str]:
        return wrap_unique(
            [row.label for row in self.rows],
            width=self.letters(36),
            lines=3 if self.is_narrow else 2,
        )

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches."""
        height = sum(0.24 + 0.12 * label.count("\n") for label in self._labels)
        return (self.width, max(1.6, 1.05 + height))

    @staticmethod
    def verdict(row: EffectRow) -> str:
        """``equivalent``, ``different``, ``undecided`` or ``undefined``."""
        if math.isnan(row.low) or math.isnan(row.high):
            return "undefined"
        return row.verdict or "undecided"

    @property
    def alt(self) -> str:
        """The figure in words."""
        parts = [
            f"{r.label}: {number(r.estimate)} [{number(r.low)}, {number(r.high)}], "
            f"{self.verdict(r)}"
            for r in self.rows
        ]
        low, high = self.margin
        return (
            f"Equivalence plot: {100 * self.level:g} % intervals against the margin "
            f"{number(low)} to {number(high)}. " + "; ".join(parts) + "."
        )

    def draw(self, ax: Axes) -> None:
        """Draw on the axes given."""
        if not self.rows:
            nothing_to_show(ax, "there is no comparison to show")
            return
        low, high = self.margin
        if not low < high:
            raise InputError(
                f"Equivalence: margin must be (lower, upper), but is {self.margin}. "
                "Declare what counts as no difference, such as (-0.5, 0.5)."
            )
        if self.log:
            _check_positive(self.rows)
            ax.set_xscale("log")
        ax.axvspan(low, high, color=COLOURS[2], alpha=0.13, lw=0)
        for edge in self.margin:
            ax.axvline(edge, color=COLOURS[2], lw=1.0, ls=(0, (4, 2)))
        ax.axvline(1.0 if self.log else 0.0, color=GREY, lw=0.8)
        looks = {
            "equivalent": (COLOURS[2], "o", COLOURS[2]),
            "different": (COLOURS[1], "s", COLOURS[1]),
            "undecided": (INK, "D", "white"),
        }
        for i, row in enumerate(self.rows):
            verdict = self.verdict(row)
            if verdict == "undefined":
                continue
            colour, marker, face = looks[verdict]
            ax.hlines(i, row.low, row.high, color=colour, lw=1.8)
            ax.plot(row.estimate, i, marker, color=colour, mfc=face, ms=5.5)
        ax.set_ylim(len(self.rows) - 0.5, -0.5)
        ax.set_yticks(range(len(self.rows)), self._labels)
        ax.tick_params(axis="y", length=0)
        right = ax.twinx()
        right.set_ylim(ax.get_ylim())
        right.set_yticks(range(len(self.rows)), [self.verdict(r) for r in self.rows])
        right.tick_params(axis="y", length=0)
        for each in (ax, right):
            each.spines["left"].set_visible(False)
            each.spines["right"].set_visible(False)
            each.grid(visible=False)
        values = [v for r in self.rows for v in (r.low, r.high)] + list(self.margin)
        if self.log:
            _ratio_limits(ax, values, [r.estimate for r in self.rows] + list(self.margin))
        else:
            ax.set_xlim(*padded_limits(values))
        said = f"{self.x_label} ({100 * self.level:g} % interval; shaded: declared margin)"
        ax.set_xlabel(wrapped(said, width=self.letters(80)))


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


def _ratio_limits(ax: Axes, values: Sequence[float], inner: Sequence[float]) -> None:
    """Limits that hold all estimates and intervals, but none more than a factor of 50 outside."""
    kept = [math.log(v) for v in inner if math.isfinite(v) and v > 0]
    least, most = min(kept) - math.log(50), max(kept) + math.log(50)
    shown = [math.log(v) for v in values if math.isfinite(v) and v > 0]
    low, high = padded_limits([min(max(v, least), most) for v in shown])
    ax.set_xlim(math.exp(low), math.exp(high))
    _ratio_ticks(ax)


def _ratio_ticks(ax: Axes) -> None:
    """Ticks at readable ratios: 0.5, 1, 2, 5 ..., closer together where the axis is short."""
    low, high = ax.get_xlim()
    ticks: list[float] = []
    every = max(1, math.ceil(math.log10(high / low) / 7))
    for steps in ((1.0,), (1.0, 2.0, 5.0), (1.0, 1.5, 2.0, 3.0, 5.0, 7.0), tuple(_FINE)):
        decades = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
        kept = [d for d in decades if d % every == 0]
        ticks = [s * 10.0**d for d in kept for s in steps if low <= s * 10.0**d <= high]
        if len(ticks) >= 4:
            break
    if len(ticks) < 3:
        ticks = list(MaxNLocator(4).tick_values(low, high))
        ticks = [t for t in ticks if low <= t <= high]
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xticks(ticks)
    ax.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())


@dataclass(frozen=True, kw_only=True)
class CalibrationCurve:
    """One judge's bins: mean confidence, share that was right with its interval, and size."""

    name: str
    confidence: tuple[float, ...]
    share: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    n: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class ReliabilityDiagram(Figure):
    """Share that was right by stated confidence, a curve a judge; the diagonal is calibrated."""

    curves: tuple[CalibrationCurve, ...]

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches."""
        return (min(PAPER_WIDTH, 4.6), 3.8)

    @property
    def alt(self) -> str:
        """The figure in words."""
        parts = [
            f"{c.name}: "
            + ", ".join(
                f"{number(y)} right at {number(p)} ({n})"
                for p, y, n in zip(c.confidence, c.share, c.n, strict=True)
            )
            for c in self.curves
        ]
        return f"Share that was right by stated confidence. {'; '.join(parts)}."

    def draw(self, ax: Axes) -> None:
        """Draw on the axes given."""
        ax.plot((0, 1), (0, 1), color=GREY, lw=1, ls="--", zorder=0)
        for i, curve in enumerate(self.curves):
            look = series(i)
            x = np.array(curve.confidence)
            ax.vlines(x, curve.low, curve.high, color=look["color"], lw=1.2, alpha=0.7)
            ax.plot(x, curve.share, label=wrapped(curve.name, width=30, lines=2), **look)
        ax.set_xlim(-0.02, 1.02)
        ax.set_ylim(-0.02, 1.02)
        ax.set_xlabel("Stated confidence")
        ax.set_ylabel("Share that was right")
        if len(self.curves) > 1:
            ax.legend(loc="upper left")


@dataclass(frozen=True, kw_only=True)
class ScalingCurve:
    """One judge's curve: k, the share at each k, and its interval (NaN where there is none)."""

    name: str
    k: tuple[float, ...]
    share: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class ScalingCurves(Sized):
    """How a share changes with the number of judgments before the verdict, a curve a judge."""

    curves: tuple[ScalingCurve, ...]
    x_label: str = "Judgments before the verdict (k)"
    y_label: str = "Accuracy"

    @property
    def _columns(self) -> int:
        return 1 if self.is_narrow else 2

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches."""
        return (self.width, 3.0 + 0.19 * math.ceil(len(self.curves) / self._columns))

    @property
    def alt(self) -> str:
        """The figure in words."""
        parts = [
            f"{c.name}: "
            + ", ".join(f"{number(y)} at {x:g}" for x, y in zip(c.k, c.share, strict=True))
            for c in self.curves
        ]
        return f"{self.y_label} by {self.x_label.lower()}. " + "; ".join(parts) + "."

    def draw(self, ax: Axes) -> None:
        """Draw on the axes given."""
        if not any(np.isfinite(c.share).any() for c in self.curves):
            nothing_to_show(ax, "no share is defined")
            return
        ticks = sorted({x for c in self.curves for x in c.k})
        place = {x: float(i) for i, x in enumerate(ticks)}  # equal steps
        width = 0.12
        for i, curve in enumerate(self.curves):
            look = series(i)
            shift = (i - (len(self.curves) - 1) / 2) * width
            x = np.array([place[k] for k in curve.k]) + shift
            ax.vlines(x, curve.low, curve.high, color=look["color"], lw=1.2, alpha=0.7)
            ax.plot(x, curve.share, label=wrapped(curve.name, width=38, lines=2), **look)
        ax.set_xticks(range(len(ticks)), [f"{k:g}" for k in ticks])
        values = [v for c in self.curves for v in (*c.share, *c.low, *c.high) if math.isfinite(v)]
        ax.set_ylim(max(0.0, min(values) - 0.04), min(1.0, max(values) + 0.02) + 0.01)
        ax.set_xlabel(self.x_label)
        ax.set_ylabel(self.y_label)
        if len(self.curves) > 1:
            ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=self._columns)
