"""The figure of page one: its caption tells what is drawn, and no panel stands half empty."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from unittest import mock

import numpy as np

from judgestats.reporting import Run, answer_figure, load_run, plots, theme
from judgestats.reporting.sections import answer
from judgestats.results import About, Drawing, Estimate, Headline, Interval, Results
from tests.null_judge.designs import aligned
from tests.null_judge.worlds import World


def shift(name: str, value: float) -> Estimate:
    return Estimate(
        id=f"probe.{name}/probe_shift", hypothesis="moved", role="primary", title=name,
        estimand="probe_shift", estimate=value, about=About(stratum=name),
        interval=Interval(low=value - 0.1, high=value + 0.1),
    )  # fmt: skip


def drawn(records: tuple[Estimate, ...], claimed: str = ""):
    claim = Headline(id="h", hypothesis="moved", claim="differs", about=About(), size=claimed)
    found = Results(
        experiment="probe", question="?", results=records, headlines=(claim,) * bool(claimed),
        drawing=Drawing(kind="dots", rows=tuple(r.id for r in records), caption="Shifts."),
    )  # fmt: skip
    shown = answer_figure(Run(Path("x"), found))
    assert shown is not None
    return shown


def test_bars_are_told_where_methods_are_joined():
    analysis = aligned(np.random.default_rng(0), World(), resamples=99)
    records = analysis.records({})
    shown = answer_figure(Run(Path("x"), records))
    assert shown is not None
    assert len(shown.figure.brackets) == 2, "the methods of each judge agree equally often"
    assert "Vertical bars join" in shown.caption
    assert records.drawing is not None
    none = replace(records, drawing=replace(records.drawing, compared=()))
    shown = answer_figure(Run(Path("x"), none))
    assert shown is not None
    assert shown.figure.brackets == ()
    assert "bars" not in shown.caption


def test_of_many_effects_those_claimed_and_the_largest_are_drawn():
    records = tuple(shift(f"change {i}", i / 100) for i in range(20))
    shown = drawn(records, claimed=records[3].id)
    largest = [f"change {i}" for i in range(19, 8, -1)]
    assert list(shown.figure.labels) == ["change 3", *largest]
    title, _, rest = shown.caption.partition(". ")
    assert title.endswith("is highest for change 19 and lowest for change 3")
    assert rest == "Shifts. The largest 12 of 20 are drawn."


def test_of_many_conditions_those_that_the_answer_is_about_are_drawn():
    analysis = aligned(np.random.default_rng(0), World(), resamples=99)
    records = analysis.records({})
    every = answer_figure(Run(Path("x"), records))
    assert every is not None
    by_value = analysis.conditions.sort_values("alignment")
    worst, best = (str(by_value["condition"].iloc[i]) for i in (0, -1))
    told = Headline(id="h", hypothesis="best", claim="differs", says="stands out",
                    about=About(conditions=(worst,)))  # fmt: skip
    with mock.patch.object(answer, "_MOST_DOTS", 3):
        shown, untold = (
            answer_figure(Run(Path("x"), replace(records, headlines=headlines)))
            for headlines in ((told,), ())
        )
    assert shown is not None
    assert untold is not None
    kept, best_only = (len(s.figure.labels) for s in (shown, untold))
    assert kept == best_only == len(every.figure.labels) - len(by_value) + 3
    point = dict(zip(by_value["condition"], by_value["alignment"], strict=True))
    values = [p.value for p in shown.figure.panels[0].points]
    assert {point[worst], point[best]} <= set(values)
    assert point[worst] not in [p.value for p in untold.figure.panels[0].points]
    assert "3 of 6 are drawn: those that the answer is about, then the highest." in shown.caption
    assert "3 of 6 are drawn: the highest." in untold.caption


def test_effects_have_a_line_where_nothing_changes():
    figure = drawn(tuple(shift(n, 0.3) for n in "abc")).figure
    assert [panel.line for panel in figure.panels] == [0.0]
    with theme():
        [ax] = figure.render().axes
    assert any(list(line.get_xdata()) == [0.0, 0.0] for line in ax.lines)
    low, high = ax.get_xlim()
    assert low <= 0.0 < high


def test_a_caption_names_the_panels_that_are_drawn(run_folder):
    run = load_run(run_folder)
    drawing = Drawing(kind="dots", estimands=("icc1", "pearson"))
    shown = answer_figure(Run(run.folder, replace(run.records, drawing=drawing)))
    assert shown is not None
    assert shown.caption.startswith("ICC(1,1) is highest for ")
    assert "T=0 " not in shown.caption.partition(".")[0], "one draw was repeated there"
    assert "Pearson" not in shown.caption, "there were no labels"


def test_an_interval_that_goes_on_beyond_the_panel_ends_in_an_arrow():
    near, far = plots.Point(value=1.0, low=0.9, high=1.1), plots.Point(value=1.0, low=0.8, high=9.0)
    figure = plots.Dots(
        labels=("near", "far"), panels=(plots.DotPanel(x_label="SEM", points=(near, far)),)
    )
    with theme():
        [ax] = figure.render().axes
    assert ax.get_xlim()[1] < 9.0
    arrows = [line for line in ax.lines if line.get_marker() in {"<", ">"}]
    assert [(*line.get_xdata(), *line.get_ydata()) for line in arrows] == [(ax.get_xlim()[1], 1)]
