"""Shared parts and theme of all figures."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Self

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Canvas

from judgestats.errors import InputError
from judgestats.reporting.tokens import LIGHT, SERIES
from judgestats.sinks import clean

COLOURS = (*SERIES, "#000000")
MARKERS = ("o", "^", "s", "D", "v", "P", "X")
LINES = (
    "-",
    (0, (5, 1.5)),
    (0, (1.5, 1.2)),
    (0, (6, 1.5, 1.2, 1.5)),
    (0, (3, 1)),
    (0, (1, 2)),
    "-",
)
INK, GREY, PALE = LIGHT["ink"], LIGHT["quiet"], LIGHT["line"]
SEQUENTIAL = "Blues"
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
    "figure.dpi": 150,  # of the layout too: at fewer, hinted labels are narrower
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
    """Colour, marker and line of the i-th series: distinguished without colour too.

    Examples
    --------
    >>> series(0)["color"], series(7)["color"] == series(0)["color"]
    ('#0072B2', True)
    """
    colour, marker = COLOURS[index % len(COLOURS)], MARKERS[(index + index // 7) % len(MARKERS)]
    return {"color": colour, "marker": marker, "linestyle": LINES[index % len(LINES)]}


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure as an object: it knows its data, size, caption and description.

    Attributes
    ----------
    caption : str
        Plain text under the figure in a document.
    width : float
        In inches.
    """

    caption: str = ""
    width: float = field(default=PAPER_WIDTH, repr=False)

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches."""
        return (self.width, 3.4)

    @property
    def narrow(self) -> Self:
        """The figure for a small screen."""
        return replace(self, width=NARROW)

    @property
    def is_narrow(self) -> bool:
        """Whether it is for a small screen."""
        return self.width < PAPER_WIDTH

    def letters(self, most: int) -> int:
        """Letters of a line that has this many on paper."""
        return max(12, most * 11 // 20) if self.is_narrow else most

    @property
    def alt(self) -> str:
        """The figure as text, for readers who do not see it."""
        return self.caption

    def draw(self, ax: Axes) -> None:
        """Draw on the axes given."""
        raise NotImplementedError

    def compose(self, canvas: Canvas) -> None:
        """Fill a whole canvas; figures of several panels override this."""
        self.draw(canvas.subplots())

    def render(self) -> Canvas:
        """The drawn matplotlib figure, free of pyplot's global state."""
        with theme():
            canvas = Canvas(figsize=self.size, layout="constrained")
            FigureCanvasAgg(canvas)
            self.compose(canvas)
            canvas.draw_without_rendering()
            canvas.set_layout_engine("none")  # laid out; what follows need not do it again
        return canvas

    def save(self, path: str | Path, *, dpi: int = 150) -> Path:
        """Write ``.png``, ``.svg`` or ``.pdf``; the same figure gives the same bytes.

        Parameters
        ----------
        path : path
            Where to; the suffix chooses the format.
        dpi : int
            Dots per inch of a PNG.

        Returns
        -------
        Path
            The written file.
        """
        return self.save_all([path], dpi=dpi)[0]

    def save_all(
        self, paths: Sequence[str | Path], *, dpi: int | Sequence[int] = 150
    ) -> list[Path]:
        """Write the figure to several paths, drawn once.

        Parameters
        ----------
        paths : sequence of path
            As for `save`.
        dpi : int or sequence of int
            Dots per inch of a PNG, of all or one for each path.

        Returns
        -------
        list of Path
            The written files.
        """
        targets = [Path(path) for path in paths]
        kinds = [target.suffix.lower().lstrip(".") for target in targets]
        for target, data in zip(targets, self._bytes(kinds, dpi), strict=True):
            target.write_bytes(data)
        return targets

    def _bytes(self, kinds: Sequence[str], dpi: int | Sequence[int] = 150) -> list[bytes]:
        metadata: dict[str, dict[str, Any]] = {
            "png": {"Software": None},
            "svg": {"Date": None, "Creator": None},
            "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
        }
        unknown = next((kind for kind in kinds if kind not in metadata), None)
        if unknown is not None:
            raise InputError(
                f"Figure.save: path must end in .png, .svg or .pdf, but ends in .{unknown}. "
                "Choose one of these."
            )
        made = []
        with theme():
            canvas = self.render()
            each = [dpi] * len(kinds) if isinstance(dpi, int) else dpi
            for kind, dots in zip(kinds, each, strict=True):
                out = io.BytesIO()
                canvas.savefig(out, format=kind, dpi=dots, metadata=metadata[kind])
                made.append(out.getvalue())
        return made

    def _repr_png_(self) -> bytes:
        return self._bytes(["png"], 110)[0]


def wrapped(label: object, *, width: int = 30, lines: int = 3) -> str:
    """A label broken into lines; one too long even for that loses its middle, not its end.

    Examples
    --------
    >>> wrapped("gpt-4o-mini, T=0.5", width=12)
    'gpt-4o-mini,\\nT=0.5'
    >>> wrapped("a-very-long-name-of-a-judge, T=0.5", width=16, lines=1)
    'a-very-lo… T=0.5'
    """
    text = " ".join(clean(label).split()) or "–"
    for room in range(width * lines, 4, -1):
        shown = text if len(text) <= room else _middle_out(text, room)
        parts = textwrap.wrap(shown, width=width, break_long_words=True, break_on_hyphens=True)
        if len(parts) <= lines:
            return "\n".join(parts)
    return text[:width]


def wrap_unique(labels: Sequence[object], *, width: int = 30, lines: int = 3) -> list[str]:
    """Labels broken into lines as by `wrapped`; shortened ones still differ where the labels do.

    What all have in common goes first (parts, names of factors, beginnings of levels), then the
    ends of levels.

    Examples
    --------
    >>> wrap_unique(["judge-a, prompt=plain", "judge-b, prompt=plain"], width=17, lines=1)
    ['judge-a', 'judge-b']
    >>> wrap_unique(["judge-a, prompt=1", "judge-a, prompt=2", "judge-b, prompt=1"],
    ...               width=13, lines=1)
    ['judge-a, pr=1', 'judge-a, pr=2', 'judge-b, pr=1']
    """
    texts = [" ".join(clean(label).split()) or "–" for label in labels]
    different = len(set(texts))
    for tried in _ever_shorter(texts):
        parts = [textwrap.wrap(text, width=width) for text in tried]
        if max(map(len, parts), default=0) <= lines and len(set(tried)) == different:
            return ["\n".join(part) for part in parts]
    shown = [wrapped(text, width=width, lines=lines) for text in texts]
    if len(set(shown)) == different:
        return shown
    place = {text: str(i) for i, text in enumerate(dict.fromkeys(texts), start=1)}
    return [
        wrapped(f"{place[t]}: {t[: max(1, width * lines // 2)]}…", width=width, lines=lines)
        for t in texts
    ]


def _ever_shorter(texts: Sequence[str]) -> Iterator[list[str]]:
    """The texts, then without more and more of what does not distinguish them."""
    yield list(texts)
    rows = [text.split(", ") for text in texts]
    if len({len(row) for row in rows}) != 1:
        rows = [[text] for text in texts]
    varied = [column for column in zip(*rows, strict=True) if len(set(column)) > 1]
    if not varied:
        return
    keys = [_key(column) for column in varied]
    levels = [
        [part[len(key) :] for part in column] for key, column in zip(keys, varied, strict=True)
    ]
    yield _joined(keys, levels)
    for most in (4, 2):  # one letter could be another number's: p
        short = [f"{key[:-1][:most]}=" if key else "" for key in keys]
        if len(set(short)) == len(set(keys)):
            keys = short
        yield _joined(keys, levels)
    levels = [_strip_prefix(column) for column in levels]
    yield _joined(keys, levels)
    for most in range(max(len(level) for column in levels for level in column), 1, -1):
        yield _joined(keys, [_shorten_levels(column, most) for column in levels])


def _joined(keys: Sequence[str], levels: Sequence[Sequence[str]]) -> list[str]:
    named = [[key + level for level in column] for key, column in zip(keys, levels, strict=True)]
    return [", ".join(parts) for parts in zip(*named, strict=True)]


def _key(column: Sequence[str]) -> str:
    """The name of the factor that all parts begin with (``prompt=``)."""
    names = {part.partition("=")[0] for part in column if "=" in part}
    return f"{names.pop()}=" if len(names) == 1 and all("=" in part for part in column) else ""


def _strip_prefix(levels: Sequence[str]) -> list[str]:
    """Levels without their common first words."""
    low, high = min(levels), max(levels)
    common = next((i for i, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), len(low))
    cut = max(low.rfind(mark, 0, common) for mark in " -_/:") + 1
    return [level[cut:] for level in levels] if all(len(v) > cut for v in levels) else list(levels)


def _shorten_levels(levels: Sequence[str], most: int) -> list[str]:
    """Levels of this many letters, cut at their ends; those of a factor that would be one stay."""
    cut = [v if len(v) <= most else v[: most - 1] + "…" for v in levels]
    return cut if len(set(cut)) == len(set(levels)) else list(levels)


def _middle_out(text: str, room: int) -> str:
    """The beginning and the end of a text; the end is what distinguishes conditions."""
    tail = text[-max(1, (room - 1) // 2) :]
    cut = tail.find(" ")
    if 0 <= cut < len(tail) - 3:  # begin the end at a word
        tail = tail[cut:]
    return text[: max(1, room - 1 - len(tail))].rstrip(" ,") + "…" + tail


def finite(values: Sequence[float] | np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The finite values as floats."""
    array = np.asarray(values, dtype=float)
    kept: np.ndarray[Any, Any] = array[np.isfinite(array)]
    return kept


def padded_limits(values: Sequence[float]) -> tuple[float, float]:
    """Axis limits with a margin; never of zero width."""
    shown = finite(np.asarray(values, dtype=float))
    if shown.size == 0:
        return (0.0, 1.0)
    low, high = float(shown.min()), float(shown.max())
    margin = 0.06 * (high - low) if high > low else max(0.5, 0.1 * abs(high))
    return (low - margin, high + margin)


def nothing_to_show(ax: Axes, why: str) -> None:
    """Say inside the axes why they are empty."""
    ax.text(
        0.5, 0.5, wrapped(why, width=60, lines=4), transform=ax.transAxes, ha="center", va="center",
        color=GREY,
    )  # fmt: skip
    ax.set_xticks([])
    ax.set_yticks([])
    ax.grid(visible=False)
