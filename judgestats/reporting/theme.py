"""The house theme of all figures: colour-blind safe, legible in print, the same bytes each time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import matplotlib as mpl

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's colours, the most different first (Okabe and Ito 2008); yellow is left out, since
it is lost on white paper."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X")
LINES = (
    "-",
    (0, (5, 1.5)),
    (0, (1.5, 1.2)),
    (0, (6, 1.5, 1.2, 1.5)),
    (0, (3, 1)),
    (0, (1, 2)),
    "-",
)
INK, GREY, PALE = "#1a1a1a", "#6b6b6b", "#d9d9d9"
SEQUENTIAL = "Blues"
DIVERGING = "PuOr"
PAPER_WIDTH = 6.3
"""Inches between the margins of an A4 page."""
NARROW = 3.7
"""Inches of a figure for a small screen."""

_RC: dict[str, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": INK,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.labelcolor": INK,
    "axes.labelsize": 9,
    "axes.linewidth": 0.7,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.unicode_minus": True,
    "errorbar.capsize": 2.0,
    "figure.dpi": 110,
    "figure.facecolor": "white",
    "font.size": 8.5,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.6,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "legend.handlelength": 2.4,
    "lines.linewidth": 1.4,
    "lines.markersize": 4.5,
    "savefig.facecolor": "white",
    "svg.fonttype": "path",
    "svg.hashsalt": "judgestats",
    "text.color": INK,
    "text.parse_math": False,  # a label is text, whatever dollar signs it holds
    "text.usetex": False,
    "xtick.color": INK,
    "xtick.labelsize": 8,
    "xtick.major.size": 3,
    "xtick.major.width": 0.7,
    "ytick.color": INK,
    "ytick.labelsize": 8,
    "ytick.major.size": 3,
    "ytick.major.width": 0.7,
}


_WIDE_FONTS = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans SC",
    "Source Han Sans SC",
    "WenQuanYi Zen Hei",
    "PingFang SC",
    "Hiragino Sans",
    "Microsoft YaHei",
    "Malgun Gothic",
    "Noto Sans Arabic",
    "Noto Sans Devanagari",
)


@cache
def _further_fonts() -> tuple[str, ...]:
    """Installed fonts with letters that matplotlib's own font does not have."""
    from matplotlib.font_manager import fontManager

    installed = {font.name for font in fontManager.ttflist}
    return tuple(name for name in _WIDE_FONTS if name in installed)


@contextmanager
def theme() -> Iterator[None]:
    """Draw inside this context; matplotlib's defaults and the user's settings are put back after.

    Examples
    --------
    >>> import matplotlib
    >>> with theme():
    ...     matplotlib.rcParams["svg.hashsalt"]
    'judgestats'
    """
    with mpl.rc_context():
        mpl.rcdefaults()
        settings: Any = mpl.rcParams
        settings["font.family"] = ["DejaVu Sans", *_further_fonts()]
        settings.update(_RC)
        yield


def series(index: int) -> dict[str, Any]:
    """Colour, marker and line of the i-th series: told apart without colour too.

    Examples
    --------
    >>> series(0)["color"], series(7)["color"] == series(0)["color"]
    ('#0072B2', True)
    """
    colour, marker = COLOURS[index % len(COLOURS)], MARKERS[(index + index // 7) % len(MARKERS)]
    return {"color": colour, "marker": marker, "linestyle": LINES[index % len(LINES)]}
