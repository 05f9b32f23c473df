"""Text of reports stands out from its ground in both colour schemes; intervals open the page."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from html import unescape
from pathlib import Path
from urllib.parse import parse_qs

import pytest

from judgestats.reporting import link_intervals, load_run, numbers, render_report
from judgestats.results import About, Estimate
from tests.explorer.browser import CHROMIUM, MISSING, Browser
from tests.reporting.record_numbers import faults

INTERVAL = re.compile(
    r'(?P<before>.{0,200})\[<span data-record="[^"]+">[^<]*</span>,\u00a0?<span data-record='
)


@pytest.fixture(scope="module")
def beside(run_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report next to the interactive page of its run."""
    folder = tmp_path_factory.mktemp("beside")
    (folder / "explore.html").write_text("", encoding="utf-8")
    return render_report(run_folder, to=("html",), out_dir=folder, renderer="builtin")["html"]


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_stands_out_from_its_ground(beside: Path, tmp_path: Path, scheme: str) -> None:
    if CHROMIUM is None:
        pytest.skip(MISSING)
    page = tmp_path / "page.html"
    text = re.sub(
        r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", beside.read_text("utf-8")
    )
    page.write_text(text, encoding="utf-8")
    with Browser(tmp_path / "profile") as tab:
        tab.ask("Page.navigate", url=page.as_uri())
        tab.until("document.readyState === 'complete' && document.querySelector('main')")
        assert tab.pale_texts(scheme) == []


def test_every_interval_opens_the_judgments_behind_it(beside: Path, run_folder: Path) -> None:
    html = beside.read_text("utf-8")
    intervals = list(INTERVAL.finditer(html))
    assert len(intervals) > 20
    for found in intervals:
        assert re.search(r'<a class="evidence" href="explore\.html#[^"]*">$', found["before"])
    run = load_run(run_folder)
    assert faults(beside, run.records) == []
    judges = {c.judge for c in run.records.conditions}
    fragments = [unescape(f) for f in re.findall(r'href="explore\.html#([^"]*)"', html)]
    named = [parse_qs(f) for f in fragments]
    assert all(set(n.get("judge", [])) <= judges for n in named)
    assert sum("judge" in n for n in named) > len(named) / 2


def test_every_interval_of_a_full_report_names_its_judges(run_folder: Path, tmp_path: Path) -> None:
    """Those of tables of the conditions too; none opens the whole page, as none is of all."""
    (tmp_path / "explore.html").write_text("", encoding="utf-8")
    made = render_report(
        run_folder, to=("html",), out_dir=tmp_path, renderer="builtin", detail="full"
    )
    html = re.sub(r'<svg\b.*?</svg>| (?:alt|src)="[^"]*"', "", made["html"].read_text("utf-8"))
    judges = {c.judge for c in load_run(run_folder).records.conditions}
    links = re.findall(r'<a class="evidence" href="explore\.html([^"]*)">.*?</a>', html, re.DOTALL)
    assert len(links) > 40
    assert {w for f in links for w in parse_qs(unescape(f)[1:])["judge"]} == judges
    rest = re.sub(r'<a class="evidence".*?</a>|<(?:pre|head)\b.*?</(?:pre|head)>', "", html,
                  flags=re.DOTALL)  # fmt: skip
    assert (
        re.findall(r"[\d%]\s\[[-\u2212.\d]+,\s[-\u2212.\d]+\]", re.sub("<[^>]*>", "", rest)) == []
    )


def test_intervals_in_sentences_open_the_judgments_too() -> None:
    page = (
        '<head><title>0.5 [0.4, 0.6]</title></head><p><span data-record="a#finding">It is 0.36 '
        "[0.06,\u00a00.63].</span> TPR = .34, 95% CI [.28, .41], scale [1, 10].</p>"
        "<p>j-1 differs. Of j-2: .50 [.41, .59]</p><pre>1 [1, 2]</pre>"
    )
    known = {"a#finding": "judge=x&mode=wrong", "Of j-2: .50 ": "judge=j-2"}
    linked = link_intervals(page, lambda where: known.get(where, ""))
    assert re.findall(r'<a class="evidence" href="([^"]*)">([^<]*)</a>', linked) == [
        ("explore.html#judge=x&amp;mode=wrong", "[0.06,\u00a00.63]"),
        ("explore.html", "[.28, .41]"),
        ("explore.html#judge=j-2", "[.41, .59]"),
    ]
    assert re.sub(r"</?a[^>]*>", "", linked) == page


def test_a_link_names_the_judge_of_a_record_and_no_other(run_folder: Path) -> None:
    run = load_run(run_folder)
    first = run.records.conditions[0]
    alike = replace(first, label=f"{first.judge}-2, T=1", judge=f"{first.judge}-2")
    estimate = replace(
        next(run.records.select(Estimate)), id=f"order.a, {alike.judge}", about=About(),
        title=f"Both orders agree, a by {alike.judge}", part_of="",
    )  # fmt: skip
    records = replace(run.records, conditions=(first, alike), results=(estimate,))
    made = replace(run, records=records)
    assert parse_qs(made.evidence(numbers.address(estimate.id, "estimate"))) == {
        "judge": [alike.judge]
    }
    assert made.evidence("#finding") == ""
    assert parse_qs(made.evidence(f"{alike.judge} differs: 3.4 ")) == {"judge": [alike.judge]}
    assert made.evidence("Accuracy 3.4 ") == ""


@pytest.mark.parametrize(
    ("title", "whole", "methods"),
    [
        ("Kappa with people, j-1, pairwise at T=0.5", "", {"pairwise"}),
        ("T=0.5 against T=0", "Equivalence of temperatures, pairwise by j-1", {"pairwise"}),
        ("Agreement, pairwise-before by j-1", "", {"pairwise-before"}),
        ("Agreement by temperature, j-1 at T=0.5", "", set()),
    ],
)
def test_a_link_names_the_conditions_that_a_title_names(
    run_folder: Path, title: str, whole: str, methods: set[str]
) -> None:
    run = load_run(run_folder)
    first = next(run.records.select(Estimate))
    conditions = tuple(
        replace(
            run.records.conditions[0], label=f"{judge}, T=0.5, method={method}", judge=judge,
            factors={"temperature": 0.5, "method": method}, estimates={},
        )
        for judge in ("j-1", "j-10") for method in ("pairwise", "pairwise-before")
    )  # fmt: skip
    results = (
        replace(first, id="x", part_of="y" if whole else "", title=title, about=About()),
        replace(first, id="y", part_of="", title=whole, about=About()),
    )
    made = replace(run, records=replace(run.records, conditions=conditions, results=results))
    named = parse_qs(made.evidence(numbers.address("x", "estimate")))
    assert named["judge"] == ["j-1"]
    assert named.get("condition", []) == [f"T=0.5, method={method}" for method in methods]


def test_without_the_page_nothing_links_to_it(run_folder: Path, tmp_path: Path) -> None:
    run = shutil.copytree(run_folder, tmp_path / "run")
    made = render_report(run, to=("html",), out_dir=tmp_path / "out", renderer="builtin")
    assert "explore.html" not in made["html"].read_text("utf-8")
