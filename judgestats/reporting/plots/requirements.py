"""Forest plot of requirements: estimates against their thresholds, the failing side shaded."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes

from judgestats.reporting.plots.base import GREY, INK, Figure, finite, wrap_unique

GOOD, BAD = "#0072b2", "#b84a00"
"""Holds and fails: Okabe and Ito's blue, and vermilion darkened for text."""


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
class RequirementPlot(Figure):
    """Rows of estimates on one axis.

    Attributes
    ----------
    rows : tuple of RequirementRow
    x_label : str
    bounds : (float, float)
        Range of the quantity, beyond which the axis does not reach.
    """

    rows: tuple[RequirementRow, ...]
    x_label: str
    bounds: tuple[float, float] = (-math.inf, math.inf)

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches."""
        n = len(self.rows)
        row = 0.42 if self.is_narrow else 0.27 if n <= 6 else 0.18
        return (self.width, 0.62 + row * n)

    @property
    def alt(self) -> str:
        """The figure in words."""
        told = (f"{row.name}: {row.text}, {row.status}" for row in self.rows)
        return f"{self.x_label}. {'; '.join(told)}."

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
                ax.plot([mark, mark], [y - 0.5, y + 0.5], color=GREY, lw=0.9, ls=(0, (4, 2)))
            self._estimate(ax, y, row, left, right)
        ax.set_yticks(range(n), wrap_unique([r.name for r in self.rows], width=self.letters(30)))
        ax.tick_params(axis="y", length=0)
        ax.grid(visible=False)
        ax.set_xlabel(self.x_label)

    def _estimate(self, ax: Axes, y: int, row: RequirementRow, left: float, right: float) -> None:
        colour = {"fails": BAD, "holds": GOOD}.get(row.status.partition(" ")[0], INK)
        known = math.isfinite(row.low) and math.isfinite(row.high)
        low, high = max(row.low, left), min(row.high, right)
        if known:
            ax.plot([low, high], [y, y], color=colour, lw=1.2)
            for end, cut, sign in ((low, row.low < left, "<"), (high, row.high > right, ">")):
                mark = sign if cut else "|"
                ax.plot([end], [y], marker=mark, color=colour, ms=4.5, clip_on=False)
        filled = known and row.status.partition(" ")[0] in {"holds", "fails"}
        ax.plot([row.value], [y], marker="o", ms=5, color=colour, mfc=colour if filled else "white")
        told = f"{row.text}\n{row.status}" if self.is_narrow else f"{row.text}  {row.status}"
        ax.annotate(
            told, (1.0, y), xycoords=("axes fraction", "data"), xytext=(6, 0),
            textcoords="offset points", va="center", fontsize=7.5, color=colour,
        )  # fmt: skip

    def _limits(self) -> tuple[float, float]:
        """Ends of the axis, from estimates and thresholds rather than from one wide interval."""
        core = finite([v for r in self.rows for v in (r.value, r.threshold, r.top)])
        reach = max(float(core.max() - core.min()), 0.05 * float(np.abs(core).max()), 1e-9)
        ends = finite([e for r in self.rows for e in (r.low, r.high)])
        near = ends[(ends >= core.min() - 1.5 * reach) & (ends <= core.max() + 1.5 * reach)]
        shown = np.concatenate([core, near])
        margin = 0.08 * max(float(shown.max() - shown.min()), reach)
        low = max(float(shown.min()) - margin, self.bounds[0])
        return low, min(float(shown.max()) + margin, self.bounds[1])
