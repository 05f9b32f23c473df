"""Forest plots of estimates, and of requirements against their thresholds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter, NullLocator

from judgestats.errors import InputError
from judgestats.reporting.numbers import MINUS, UNKNOWN, number, positive_interval
from judgestats.reporting.plots import base
from judgestats.reporting.tokens import LIGHT

_FINE = (1.0, 1.1, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0)
Verdict = Literal["", "different", "equivalent", "undecided"]
_LOOKS = {
    "equivalent": (base.COLOURS[2], "o", base.COLOURS[2]),
    "different": (base.COLOURS[1], "s", base.COLOURS[1]),
    "undecided": (base.INK, "D", "white"),
}
"""Colour, marker and face of an estimate next to a margin, by its verdict."""
_NULL = "#bdbdbd"


@dataclass(frozen=True, kw_only=True)
class EffectRow:
    """One estimate with its interval; NaN means undefined, and is shown as that.

    `verdict` is that of the declared test of the row, adjusted, as text and tables have it: marks
    go by it and never by the interval, which is not adjusted. Empty: nothing was tested.
    `null_mean` and `null_q95` are what the same computation yields under the null hypothesis.
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
        """Whether it is next to its null."""
        return math.isfinite(self.null_mean) and math.isfinite(self.null_q95)

    @property
    def is_hollow(self) -> bool:
        """Whether it shows nothing: no interval, not distinguished, or within its null."""
        within = self.has_null and self.estimate <= self.null_q95
        return not self.has_interval or within or self.verdict not in {"", "different"}


@dataclass(frozen=True, kw_only=True)
class Forest(base.Figure):
    """Estimates with intervals, one per line, and the numbers written next to them.

    Squares of rows that were tested and not distinguished, that are within their null, or that have
    no interval, are hollow. Next to a margin the verdict of each row is written instead of its
    numbers.

    Attributes
    ----------
    rows : tuple of EffectRow
    reference : float
        Position of no effect (0, or 1 for ratios); NaN draws no line.
    log : bool
        Logarithmic axis, for ratios.
    bounded : bool
        Numbers that cannot exceed 1: written without a leading zero.
    margin : (float, float), optional
        Lower and upper bound of what counts as no difference, declared beforehand. The intervals
        are those of the test then (90% for two one-sided tests at .05).
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
        each = 0.3 if self.is_narrow else 0.21  # numbers take two lines there
        height = sum(max(each, 0.21 + 0.12 * self._label(t).count("\n")) for t in self._lines)
        return (self.width, max(1.5, 0.95 + 0.12 * self._has_nulls + height))

    def _label(self, line: str) -> str:
        width, lines = (20, 3) if self.is_narrow else (36, 2)
        if line.startswith("\t"):
            return base.wrapped(line, width=width, lines=lines)
        labels = list(dict.fromkeys(row.label for row in self.rows))
        return base.wrap_unique(labels, width=width, lines=lines)[labels.index(line)]

    @property
    def alt(self) -> str:
        """The figure as text."""
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
            f"Forest plot of {self.x_label.lower()} with {100 * self.level:g}% intervals{against}."
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
            limits = positive_interval(row.low, row.high, estimate=row.estimate)
            limits = limits if UNKNOWN in limits else f"[{show(row.low)}, {show(row.high)}]"
            return f"{show(row.estimate)} {limits}"
        return f"{show(row.estimate)} [{show(row.low)}, {show(row.high)}]"

    def draw(self, ax: Axes) -> None:
        """Draw on the axes given."""
        if not self.rows:
            base.nothing_to_show(ax, "there is no effect to show")
            return
        if self.log:
            _check_positive(self.rows)
            ax.set_xscale("log")
        if self.margin:
            self._shade_margin(ax, *self.margin)
        if math.isfinite(self.reference):
            ax.axvline(self.reference, color=base.GREY, lw=0.9, ls=(0, (4, 2)))
            word = "equal" if self.reference else "no difference"
            _name_above(ax, self.reference, word, line=int(self._has_nulls))
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
        texts = [self._verdict(r) if self.margin else self._numbers(r) for r in self.rows]
        if self.is_narrow:
            texts = [text.replace(" [", "\n[") for text in texts]
        right = ax.twinx()
        right.set_ylim(ax.get_ylim())
        right.set_yticks(by_row, texts)
        right.tick_params(axis="y", length=0)
        right.spines[:].set_visible(False)
        right.grid(visible=False)
        ax.spines["left"].set_visible(False)
        said = self.x_label
        if self.margin:
            said += f" ({100 * self.level:g}% interval; shaded: declared margin)"
        ax.set_xlabel(base.wrapped(said, width=26 if self.is_narrow else 60))
        if self._has_nulls:
            first = next(r for r in self.rows if r.has_null)
            _name_above(ax, (first.null_mean + first.null_q95) / 2, "null")

    @staticmethod
    def _shade_margin(ax: Axes, low: float, high: float) -> None:
        if not low < high:
            raise InputError(
                f"Forest: margin must be (lower, upper), but is {(low, high)}. "
                "Declare what counts as no difference, such as (-0.5, 0.5)."
            )
        ax.axvspan(low, high, color=base.COLOURS[2], alpha=0.13, lw=0)
        for edge in (low, high):
            ax.axvline(edge, color=base.COLOURS[2], lw=1.0, ls=(0, (4, 2)))

    def _mark(self, ax: Axes, centre: float, row: EffectRow) -> None:
        """Draw one row: its null, its interval, and its estimate."""
        if row.has_null:
            ax.plot(
                [row.null_mean, row.null_q95], [centre, centre], color=_NULL, lw=7,
                solid_capstyle="butt", zorder=1,
            )  # fmt: skip
            ax.plot(row.null_mean, centre, "|", color=base.GREY, ms=11, mew=1.6, zorder=2)
        if math.isnan(row.estimate) or (self.margin and not row.has_interval):
            return
        colour, marker, face = base.COLOURS[0], "s", "white" if row.is_hollow else base.COLOURS[0]
        if self.margin:
            colour, marker, face = _LOOKS[self._verdict(row)]
        if row.has_interval:
            ax.hlines(centre, row.low, row.high, color=colour, lw=1.6, zorder=3)
        ax.plot(row.estimate, centre, marker, color=colour, mfc=face, ms=5, zorder=4)

    def _limits(self, ax: Axes, by_row: Sequence[float]) -> None:
        marks = [self.reference, *(self.margin or ())]
        inner = [r.estimate for r in self.rows] + marks
        ends = [v for r in self.rows for v in (r.low, r.high)]
        if self.log:
            _ratio_limits(ax, inner + ends, inner, 3 if self.is_narrow else 4)
        else:
            nulls = [v for r in self.rows for v in (r.null_mean, r.null_q95)]
            ax.set_xlim(*_core_limits(inner + nulls, ends))
            ax.xaxis.set_major_locator(MaxNLocator(4 if self.is_narrow else 6))
        if self.bounded:
            ax.xaxis.set_major_formatter(_COEFFICIENT)
        low, high = ax.get_xlim()
        for line, row in zip(by_row, self.rows, strict=True):
            for bound, edge, mark in ((row.low, low, "<"), (row.high, high, ">")):
                beyond = bound < edge if mark == "<" else bound > edge
                if beyond:  # the interval goes on beyond what is shown
                    ax.plot(edge, line, mark, color=base.COLOURS[0], ms=4.5, clip_on=False)


def _core_limits(core: Sequence[float], ends: Sequence[float]) -> tuple[float, float]:
    """Limits by estimates, thresholds, and references rather than by one wide interval."""
    known = base.finite(core)
    if not len(known):
        return base.padded_limits(ends)
    reach = max(float(known.max() - known.min()), 0.05 * float(np.abs(known).max()), 1e-9)
    near = base.finite(
        [e for e in ends if known.min() - 1.5 * reach <= e <= known.max() + 1.5 * reach]
    )
    shown = np.concatenate([known, near])
    margin = 0.08 * max(float(shown.max() - shown.min()), reach)
    return float(shown.min()) - margin, float(shown.max()) + margin


def _name_above(ax: Axes, x: float, word: str, *, line: int = 0) -> None:
    """The word of a line or bar, above the axes; a second one is a line higher."""
    ax.annotate(
        word, (x, 1.0), xycoords=("data", "axes fraction"), xytext=(0, 2 + 9 * line),
        textcoords="offset points", ha="center", va="bottom", fontsize=7.5, color=base.GREY,
    )  # fmt: skip


def _coefficient(value: float, _: object = None) -> str:
    """A tick of a quantity that cannot exceed 1, without a leading zero."""
    text = f"{value:g}".replace("-", MINUS)
    return text.replace("0.", ".", 1) if 0 < abs(value) < 1 else text


_COEFFICIENT = FuncFormatter(_coefficient)


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


def _ratio_limits(ax: Axes, values: Sequence[float], inner: Sequence[float], n_ticks: int) -> None:
    """Limits that hold all estimates and intervals, but none more than a factor of 50 outside."""
    kept = [math.log(v) for v in inner if math.isfinite(v) and v > 0]
    lowest, most = min(kept) - math.log(50), max(kept) + math.log(50)
    shown = [math.log(v) for v in values if math.isfinite(v) and v > 0]
    low, high = base.padded_limits([min(max(v, lowest), most) for v in shown])
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


GOOD, BAD = LIGHT["good"], LIGHT["bad"]


@dataclass(frozen=True, kw_only=True)
class RequirementRow:
    """One requirement of one subject.

    Attributes
    ----------
    name : str
    value, low, high : float
        Estimate with its 95% interval; NaN without one.
    threshold, top : float
        The limit to keep; of a range its two ends.
    direction : {"min", "max", "within"}
    status : str
        Words at the right, after the estimate.
    text : str
        The estimate with its interval, as tables print it.
    """

    name: str
    value: float
    low: float
    high: float
    threshold: float
    top: float
    direction: str
    status: str
    text: str


@dataclass(frozen=True, kw_only=True)
class RequirementPlot(base.Figure):
    """Rows of estimates on one axis.

    Attributes
    ----------
    rows : tuple of RequirementRow
    x_label : str
    needed : str
        Threshold of all rows, written once above it; empty where rows differ.
    bounds : (float, float)
        Range of the quantity, beyond which the axis does not reach.
    """

    rows: tuple[RequirementRow, ...]
    x_label: str
    needed: str = ""
    bounds: tuple[float, float] = (-math.inf, math.inf)

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches."""
        n = len(self.rows)
        row = 0.42 if self.is_narrow else 0.27 if n <= 6 else 0.18
        return (self.width, 0.62 + 0.14 * bool(self.needed) + row * n)

    @property
    def alt(self) -> str:
        """The figure as text."""
        told = (f"{row.name}: {row.text}, {row.status}" for row in self.rows)
        needed = f", needed {self.needed}" if self.needed else ""
        return f"{self.x_label}{needed}. {'; '.join(told)}."

    def draw(self, ax: Axes) -> None:
        """Draw every row, the first at the top."""
        n = len(self.rows)
        left, right = self._limits()
        ax.set_xlim(left, right)
        ax.set_ylim(n - 0.4, -0.6)
        for y, row in enumerate(self.rows):
            edges = {
                "min": [(left, row.threshold)], "max": [(row.threshold, right)],
                "within": [(left, row.threshold), (row.top, right)],
            }[row.direction]  # fmt: skip
            for low, high in edges:
                ax.fill_betweenx([y - 0.5, y + 0.5], low, high, color=BAD, alpha=0.15, lw=0)
            marks = [row.threshold] + ([row.top] if row.direction == "within" else [])
            for mark in marks:
                ax.plot([mark, mark], [y - 0.5, y + 0.5], color=base.GREY, lw=0.9, ls=(0, (4, 2)))
            self._estimate(ax, y, row, left, right)
        ax.set_yticks(
            range(n), base.wrap_unique([r.name for r in self.rows], width=self.letters(30))
        )
        ax.tick_params(axis="y", length=0)
        ax.grid(visible=False)
        ax.set_xlabel(self.x_label)
        if self.bounds[0] >= -1 and self.bounds[1] <= 1:
            ax.xaxis.set_major_formatter(_COEFFICIENT)
        if self.needed:
            first = self.rows[0]
            other = first.top if first.direction == "within" else first.threshold
            _name_above(ax, (first.threshold + other) / 2, f"needed {self.needed}")

    def _estimate(self, ax: Axes, y: int, row: RequirementRow, left: float, right: float) -> None:
        colour = {"fails": BAD, "holds": GOOD}.get(row.status.partition(" ")[0], base.INK)
        known = math.isfinite(row.low) and math.isfinite(row.high)
        low, high = max(row.low, left), min(row.high, right)
        if known:
            ax.plot([low, high], [y, y], color=colour, lw=1.2)
            for end, cut, sign in ((low, row.low < left, 4), (high, row.high > right, 5)):
                mark = sign if cut else "|"  # 4 and 5: an arrow whose tip is there
                ax.plot([end], [y], marker=mark, color=colour, ms=4.5, clip_on=False)
        filled = known and row.status.partition(" ")[0] in {"holds", "fails"}
        ax.plot([row.value], [y], marker="o", ms=5, color=colour, mfc=colour if filled else "white")
        told = f"{row.text}\n{row.status}" if self.is_narrow else f"{row.text}  {row.status}"
        ax.annotate(
            told, (1.0, y), xycoords=("axes fraction", "data"), xytext=(6, 0),
            textcoords="offset points", va="center", fontsize=7.5, color=colour,
        )  # fmt: skip

    def _limits(self) -> tuple[float, float]:
        """Ends of the axis; never beyond the range of the quantity."""
        low, high = _core_limits(
            [v for r in self.rows for v in (r.value, r.threshold, r.top)],
            [e for r in self.rows for e in (r.low, r.high)],
        )
        return max(low, self.bounds[0]), min(high, self.bounds[1])
