"""Reliability of the mean of k judgments, and coefficients beside what nothing would give."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, NullLocator

from judgestats.reporting.formats import number
from judgestats.reporting.plots.base import Sized, nothing_to_show, padded_limits, wrapped
from judgestats.reporting.theme import COLOURS, GREY, INK, series


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
