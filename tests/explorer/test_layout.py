"""Room on the page: long names, tables side by side, and where the focus and a decision go."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import pytest

import judgestats
from tests.explorer.browser import Browser
from tests.explorer.conftest import judgments

OUTSIDE = """[...document.querySelectorAll('.top, .top *, .figure h3, .mx-head *, #detail *')]
  .filter((e) => e.checkVisibility() && !e.closest('svg, option, .sr')
    && (e.closest('.top, #detail') || document.body).getBoundingClientRect().right + 1
      < e.getBoundingClientRect().right && !e.closest('.panel, .mx-head'))
  .map((e) => e.outerHTML.slice(0, 90))"""
"""What is cut off at the right of the header or of an item."""


def test_a_long_name_breaks_in_header_figure_matrix_and_item(
    opened: Callable[..., Browser],
) -> None:
    frame = judgments(8, judges=("a" * 200, "b" * 80, "cy"), unparsed=0.0, missing=0.0)
    results = judgestats.audit(frame, n_resamples=99).run.records
    for fragment in ("", "#item=q0/a1"):
        tab = opened(frame, fragment, results=results)
        tab.js("document.querySelector('.summary').open = true")
        for width in (390, 514, 768, 1280):
            tab.size(width)
            tab.js("new Promise((r) => requestAnimationFrame(() => setTimeout(r, 40)))")
            assert tab.js("[innerWidth, document.documentElement.scrollWidth]") == [width, width]
            assert tab.js(OUTSIDE) == []
        heads = """[...document.querySelectorAll('.mx-head .brief, .panel h3')]
          .map((e) => e.offsetHeight / parseFloat(getComputedStyle(e).fontSize))"""
        assert max(tab.js(heads)) < 7  # four lines
        whole = "[...document.querySelectorAll('.mx-head .brief')].map((e) => e.title)"
        assert tab.js(whole) == ["a" * 200, "b" * 80, "cy"]


def test_a_label_of_the_header_breaks_before_its_number_on_a_phone(
    opened: Callable[..., Browser],
) -> None:
    frame = judgments(8, kind="choice", unparsed=0.0, missing=0.0)
    tab = opened(frame, results=judgestats.audit(frame, n_resamples=99).run.records)
    tab.size(390)
    tab.js("document.querySelector('.summary').open = true")
    shown = """[...document.querySelectorAll('.verdicts .num')].map((e) =>
      [getComputedStyle(e, '::before').whiteSpace, e.scrollWidth <= e.clientWidth].join())"""
    assert set(tab.js(shown)) == {"normal,true"}


def test_three_tables_of_counts_stand_side_by_side(opened: Callable[..., Browser]) -> None:
    words = {"pass": "shipping fee", "fail": "other topic"}
    frame = judgments(8, kind="choice", unparsed=0.0, missing=0.0)
    for column in ("choice", "label"):
        frame[column] = frame[column].map(words)
    frame.loc[frame["item_id"].str.endswith("a0"), ["choice", "label"]] = "returns"
    frame.loc[frame["item_id"].str.endswith("a1"), ["choice", "label"]] = "billing"
    tab = opened(frame)
    tops = "[...document.querySelectorAll('.panel')].map((e) => e.getBoundingClientRect().top)"
    assert len(tab.js(tops)) == 3
    assert len(set(tab.js(tops))) == 1
    figure = "document.querySelector('.figure')"
    assert tab.js(f"{figure}.scrollHeight <= {figure}.clientHeight") is True


def test_the_focus_goes_into_the_wide_view_and_out_of_the_search(
    opened: Callable[..., Browser],
) -> None:
    tab = opened(judgments(8, unparsed=0.0, missing=0.0))
    tab.key("j")
    tab.key("e")
    assert tab.js("document.activeElement.id") == "detail-body"
    tab.key("Escape")
    assert tab.js("document.activeElement.dataset.c") == "-1"
    tab.key("/")
    tab.key("Escape")
    assert tab.js("document.activeElement.id") == "matrix"
    tab.key("j")
    tab.js("document.querySelector('[aria-label=Note]').focus()")
    tab.key("Escape")
    assert tab.js("document.activeElement.id") == "detail-body"


@pytest.mark.parametrize(("errs", "judge"), [("bob", "bob"), ("cy", "cy"), ("", "ann")])
def test_an_item_is_opened_at_the_first_judge_that_errs(
    opened: Callable[..., Browser], errs: str, judge: str
) -> None:
    frame = judgments(8, n_items=1, unparsed=0.0, missing=0.0)
    frame["label"] = "pass"
    frame["score"] = frame["judge"].eq(errs).map({True: 2.0, False: 9.0})
    tab = opened(frame)
    tab.key("j")
    chosen = "document.querySelector('#decide select').selectedOptions[0].textContent"
    assert tab.js(chosen) == judge
    tab.key("ArrowRight")
    tab.key("Enter")
    assert tab.js(chosen) == "ann"  # a cell that is chosen


def test_labels_that_differ_by_criterion_are_shown_with_each(
    opened: Callable[..., Browser],
) -> None:
    frame = judgments(8, judges=("ann",), n_items=1, labels="points", missing=0.0, repeats=1)
    parts = [frame.assign(criterion=c, label=f"{k}") for c, k in (("fluency", 3), ("truth", 7))]
    both = pd.concat(parts, ignore_index=True)
    both["condition"] = both["judge"] + ", criterion=" + both["criterion"]
    tab = opened(both, "#item=q0/a0", cutoff=None)
    assert tab.js("document.getElementById('detail-sub').textContent").endswith("by criterion")
    told = "[...document.querySelectorAll('.judge h4 span')].map((e) => e.textContent)"
    assert [t.rpartition(" · ")[2] for t in tab.js(told)] == ["human label 3", "human label 7"]
