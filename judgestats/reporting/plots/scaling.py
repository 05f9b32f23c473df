"""A share against the number of judgments that stand before a verdict."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes

from judgestats.reporting.formats import number
from judgestats.reporting.plots.base import Sized, nothing_to_show, wrapped
from judgestats.reporting.theme import series


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
