"""Stated confidences against how often they were right."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes

from judgestats.reporting.formats import number
from judgestats.reporting.plots.base import Figure, wrapped
from judgestats.reporting.theme import GREY, PAPER_WIDTH, series


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
