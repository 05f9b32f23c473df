"""Figures: nothing cut, nothing written over other writing, the same bytes each time."""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure as Canvas
from matplotlib.image import imread
from matplotlib.text import Text

from judgestats.errors import InputError
from judgestats.reporting import COLOURS, plots, theme, wrap_unique

LONG = (
    "gpt-4o-mini-2024-07-18",
    "meta-llama/Llama-3.3-70B-Instruct-Turbo@http://localhost:8000/v1",
    "claude $x^2$ <b> \\frac{1}{2} 你",
)
MANY = tuple(f"{j}, T={t / 10:g}" for j in LONG[:2] for t in range(11))
NAN = math.nan


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def effects(labels: tuple[str, ...], *, width: float = 0.3) -> tuple[plots.EffectRow, ...]:
    return tuple(
        plots.EffectRow(label=n, estimate=math.exp(e), low=math.exp(e - width),
                        high=math.exp(e + width))
        for n, e in zip(labels, rng().normal(0, 0.4, len(labels)), strict=True)
    )  # fmt: skip


def curves(names: tuple[str, ...], *, levels: tuple[str, ...] = ()) -> plots.Figure:
    panel = plots.CurvePanel(
        y_label="Reliability of the mean of k",
        curves=tuple(
            plots.Curve(
                name=name,
                points=tuple(
                    plots.Point(x=i if levels else k, value=v, low=v - 0.1, high=v + 0.05)
                    for i, (k, v) in enumerate(zip((1, 2, 3, 5, 10), values, strict=True))
                ),
            )
            for i, name in enumerate(names)
            for values in [np.sort(rng().uniform(0.01 * i, 0.9, 5))]
        ),
        lines=(("target", 0.8),),
    )  # fmt: skip
    return plots.Curves(panels=(panel,), x_label="Judgments", levels=levels)


FIGURES: dict[str, Callable[[], plots.Figure]] = {
    "forest narrow": lambda: plots.Forest(rows=effects(MANY[:6]), reference=1.0).narrow,
    "forest": lambda: plots.Forest(rows=effects(MANY), reference=1.0, log=True),
    "forest grouped": lambda: plots.Forest(
        rows=(
            plots.EffectRow(label="one", estimate=0.5, low=0.1, high=0.9, group="first " + LONG[1]),
            plots.EffectRow(label="two", estimate=NAN, group="first " + LONG[1]),
            plots.EffectRow(label="three", estimate=-0.1, group="second"),
        )
    ),
    "forest of any size": lambda: plots.Forest(
        rows=(
            plots.EffectRow(label="wide", estimate=0.5, low=1e-8, high=1e9),
            plots.EffectRow(label="narrow", estimate=1.2, low=1.1, high=1.3),
        ),
        reference=1.0, log=True,
    ),
    "forest none": lambda: plots.Forest(rows=()),
    "equivalence": lambda: plots.Forest(
        rows=(*effects(MANY[:6]), plots.EffectRow(label="undefined", estimate=NAN)),
        margin=(0.8, 1.25), log=True, reference=1.0,
    ),
    "curves": lambda: curves(LONG[:2]),
    "curves many": lambda: curves(MANY),
    "curves of levels": lambda: curves(("a", "b"), levels=("0", "2", "4", "8", "16")),
    "curves and diagonal": lambda: plots.Curves(
        panels=(
            plots.CurvePanel(
                y_label="Share that was right", diagonal=True,
                curves=(plots.Curve(name="a", points=(plots.Point(x=0.551, value=0.5),
                                                      plots.Point(x=0.913, value=0.8))),),
            ),
        ),
        x_label="Stated confidence",
    ),
    "null": lambda: plots.Forest(
        rows=tuple(
            plots.EffectRow(label="ICC(1,1), " + n, estimate=e, low=e - 0.1, high=e + 0.1,
                          null_mean=0.0, null_q95=0.1)
            for n, e in zip(MANY[8:14], rng().uniform(0, 1, 6), strict=True)
        )
    ),
    "null undefined": lambda: plots.Forest(
        rows=(plots.EffectRow(label="kappa", estimate=NAN, null_mean=NAN, null_q95=NAN),)
    ),
    "scores": lambda: plots.ScoreDistribution(
        labels=MANY, scores=tuple(np.clip(rng().normal(7, 2, 40).round(), 1, 10) for _ in MANY),
        scale=(1, 10),
    ),
    "scores fractions": lambda: plots.ScoreDistribution(
        labels=("a", "b"), scores=(np.array([7.25, 7.5, NAN]), np.array([NAN]))
    ),
    "scores wide": lambda: plots.ScoreDistribution(
        labels=("a",), scores=(np.arange(100.0),), scale=(0, 100)
    ),
}  # fmt: skip


def of_size(n: int) -> dict[str, Callable[[], plots.Figure]]:
    """Every kind of figure for `n` conditions with names as an experiment makes them."""
    names = tuple(f"judge-{i // 8}, T={i % 8 / 10:g}, prompt=p{i % 3}" for i in range(n))
    values = np.linspace(0.2, 0.95, n)
    return {
        f"forest {n}": lambda: plots.Forest(rows=effects(names), reference=1.0, log=True),
        f"equivalence {n}": lambda: plots.Forest(
            rows=effects(names), margin=(0.8, 1.25), log=True, reference=1.0
        ),
        f"curves {n}": lambda: curves(names),
        f"null {n}": lambda: plots.Forest(
            rows=tuple(
                plots.EffectRow(label=m, estimate=v, low=v - 0.1, high=v + 0.04, null_mean=0.0,
                              null_q95=0.1)
                for m, v in zip(names, values, strict=True)
            )
        ),
        f"scores {n}": lambda: plots.ScoreDistribution(
            labels=names, scores=tuple(np.clip(rng().normal(7, 2, 40).round(), 1, 10)
                                       for _ in names), scale=(1, 10),
        ),
    }  # fmt: skip


FIGURES |= of_size(6) | of_size(40)


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.filterwarnings("ignore:Glyph")
def test_nothing_is_cut_or_overlaps(name: str) -> None:
    figure = FIGURES[name]()
    assert figure.alt.strip()
    assert "nan" not in figure.alt.replace("Financ", "")
    whole_and_apart(figure)
    whole_and_apart(figure.narrow)


def whole_and_apart(figure: plots.Figure) -> None:
    canvas = figure.render()
    with theme():
        canvas.draw_without_rendering()
        renderer = canvas._get_renderer()  # type: ignore[attr-defined]
        width, height = canvas.get_size_inches() * canvas.dpi
        texts = _shown_texts(canvas)
        boxes = [(t.get_text(), t.get_window_extent(renderer), t.get_rotation()) for t in texts]
    assert boxes
    for text, box, _ in boxes:
        assert box.x0 >= -1, f"cut at the left: {text!r}"
        assert box.y0 >= -1, f"cut below: {text!r}"
        assert box.x1 <= width + 1, f"cut at the right: {text!r}"
        assert box.y1 <= height + 1, f"cut above: {text!r}"
    level = [(t, b.shrunk(0.9, 0.8)) for t, b, rotation in boxes if rotation in {0, 90}]
    for i, (a, first) in enumerate(level):
        for b, second in level[i + 1 :]:
            assert not first.overlaps(second), f"{a!r} lies on {b!r}"


def _shown_texts(canvas: Canvas) -> list[Text]:
    """All texts that are drawn: tick labels outside the limits exist but are not."""
    ticks: list[Text] = []
    shown: list[Text] = []
    for ax in canvas.axes:
        for axis in (ax.xaxis, ax.yaxis):
            made = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
            ticks += [label for tick in made for label in (tick.label1, tick.label2)]
            if ax.axison and axis.get_visible():
                drawn = axis._update_ticks()
                shown += [label for tick in drawn for label in (tick.label1, tick.label2)]
    shown += [t for t in canvas.findobj(Text) if t not in ticks]
    return [t for t in shown if t.get_visible() and t.get_text().strip()]


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_same_bytes_whatever_the_users_settings(tmp_path: Path, suffix: str) -> None:
    figure = FIGURES["forest narrow"]()
    first = figure.save(tmp_path / f"a.{suffix}").read_bytes()
    with mpl.rc_context({"font.size": 20, "axes.facecolor": "red", "figure.dpi": 30}):
        second = figure.save(tmp_path / f"b.{suffix}").read_bytes()
        assert mpl.rcParams["font.size"] == 20
    assert first == second


def test_pictures_are_drawn_and_not_empty() -> None:
    for name in ("forest", "curves", "scores"):
        pixels = imread(io.BytesIO(FIGURES[name]()._repr_png_()))
        assert pixels.std() > 0.02, name


def test_dollar_signs_are_text() -> None:
    figure = plots.Forest(
        rows=(
            plots.EffectRow(
                label="costs $5 or $6 \\alpha", estimate=0.5, null_mean=0, null_q95=0.1
            ),
        )
    )
    canvas = figure.render()
    texts = {t.get_text() for t in canvas.findobj(Text)}
    assert "costs $5 or $6 \\alpha" in texts
    assert not any(t.get_parse_math() for t in canvas.findobj(Text) if "$" in t.get_text())


def luminance(colour: str) -> float:
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    parts = [
        c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in (red, green, blue)
    ]
    return float(np.dot(parts, (0.2126, 0.7152, 0.0722)))


def test_colours_stand_on_white_paper() -> None:
    contrast = [1.05 / (luminance(c) + 0.05) for c in COLOURS]
    assert min(contrast[:3]) > 3.4
    assert min(contrast) > 2
    assert len({COLOURS[i] for i in range(7)}) == 7


def test_cliques() -> None:
    same = np.abs(np.subtract.outer([1.0, 1.5, 3.0, 3.2], [1.0, 1.5, 3.0, 3.2])) < 1
    assert plots.cliques([1.0, 1.5, 3.0, 3.2], same) == [(0, 1), (2, 3)]
    assert plots.cliques([1.0, 2.0], np.eye(2, dtype=bool)) == []
    assert plots.cliques([3.0, 1.0, 2.0], np.ones((3, 3), dtype=bool)) == [(0, 2)]


CROSSED = [
    f"sim-{judge}, prompt={prompt}, unrelated={unrelated}"
    for judge in ("positional", "typical")
    for prompt in (1, 2)
    for unrelated in ("yes", "no")
]


@pytest.mark.parametrize("width", [6, 10, 12, 17, 22, 34, 60])
@pytest.mark.parametrize(
    "labels",
    [CROSSED, list(LONG), ["a long name of a judge, T=1", "b"], [f"{'x' * 40}{i}" for i in "123"]],
)
def test_no_two_labels_become_one(labels: list[str], width: int) -> None:
    shown = wrap_unique([*labels, labels[0]], width=width, lines=1)
    assert len(set(shown)) == len(set(labels))
    assert shown[-1] == shown[0]
    assert max(map(len, shown)) <= width


def test_what_labels_have_in_common_is_shortened_first() -> None:
    assert wrap_unique(CROSSED[:2], width=17, lines=1) == ["unrelated=yes", "unrelated=no"]
    assert wrap_unique(CROSSED, width=34, lines=1)[0] == "sim-positional, prom=1, unre=yes"
    assert wrap_unique(CROSSED, width=60, lines=1) == CROSSED


def test_marks_go_by_the_adjusted_test_and_never_by_the_interval() -> None:
    row = partial(plots.EffectRow, label="", estimate=1.4, low=1.1, high=1.8)
    beside = (row(), row(verdict="equivalent"), row(low=NAN, high=NAN, verdict="different"))
    alt = plots.Forest(rows=beside, margin=(0.8, 1.25), reference=1.0).alt
    assert [part.rpartition(", ")[2] for part in alt.rstrip(".").split(";")] == [
        "undecided", "equivalent", "undefined",
    ]  # fmt: skip
    ax = Canvas().subplots()
    rows = (row(), row(verdict="undecided"), row(low=0.5, high=2.0, verdict="different"))
    plots.Forest(rows=rows, reference=1.0).draw(ax)
    squares = [line for line in ax.get_lines() if line.get_marker() == "s"]
    assert [line.get_markerfacecolor() == "white" for line in squares] == [False, True, False]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: plots.ScoreDistribution(labels=("a",), scores=()), "scores must be"),
        (
            lambda: plots.Forest(
                rows=(plots.EffectRow(label="x", estimate=-1.0),), log=True
            ).render(),
            "must be positive",
        ),
        (
            lambda: plots.Forest(
                rows=(plots.EffectRow(label="x", estimate=0.0),), margin=(1, -1)
            ).render(),
            "margin must be",
        ),
        (lambda: FIGURES["curves"]().save("x.jpeg"), "must end in"),
    ],
)
def test_wrong_use_is_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()
