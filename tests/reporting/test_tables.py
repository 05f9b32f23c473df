"""Tables: numbers, alignment, and harmlessness in each format."""

from __future__ import annotations

import csv
import io
import math
import os
import re
import zipfile
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgestats import results as records
from judgestats.errors import InputError
from judgestats.reporting import (
    Column,
    OutputFolder,
    Table,
    disagreements,
    pandoc,
    use_output,
)
from judgestats.reporting import numbers as formats
from judgestats.reporting import pandoc as typst

FUZZ = int(os.environ.get("JUDGESTATS_FUZZ", "1"))  # how many times as many examples

EVIL = '<script>x</script>|"; #panic("no") \\input{x} ```{=html} {{< x >}} @fig-a =cmd()'


def sample() -> Table:
    return Table(
        columns=(
            Column(key="name", label="Condition"),
            Column(key="n", format="integer"),
            Column(key="mean", format="number:2"),
            Column(key="icc", label="ICC(1,1)", format="coefficient:3"),
            Column(key="p", format="p"),
            Column(key="cost", format="money"),
        ),
        rows=(
            {"name": "a|b", "n": 1200, "mean": -1.256, "icc": 0.8123, "p": 0.0004, "cost": None},
            {"name": EVIL, "n": 3, "mean": 10.5, "icc": math.nan, "p": 0.04, "cost": 0.000213},
        ),
        caption="A caption with <b> and @fig-a",
        note="Note: " + EVIL,
        label="tbl-sample",
    )


@pytest.mark.parametrize(
    ("shown", "wanted"),
    [
        (formats.number(0.0042), "0.004"),
        (formats.number(1e-9, digits=3), "0.000"),
        (formats.number(12345678.0), "12,345,678"),
        (formats.number(np.float64(2.5), digits=1), "2.5"),
        (formats.number(math.inf), "∞"),
        (formats.number(-0.25, leading_zero=False), "−.25"),
        (formats.number(-0.0), "0.00"),
        (formats.p_value(0.0009999), "< .001"),
        (formats.p_value(0.001), ".001"),
        (formats.p_value(np.float64("nan")), "–"),
        (formats.interval(0.5, math.nan), "–"),
        (formats.percent(1.0, digits=0), "100%"),
        (formats.money(12.0), "$12.00"),
        (formats.integer(-4), "−4"),
    ],
)
def test_numbers(shown: str, wanted: str) -> None:
    assert shown == wanted


def test_html_is_only_a_table() -> None:
    tags: set[str] = set()

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: object) -> None:
            tags.add(tag)

    Reader().feed(sample().to_html())
    assert tags == {"div", "table", "caption", "thead", "tr", "th", "tbody", "td", "p", "wbr"}
    html = sample().to_html()
    assert 'data-quarto-disable-processing="true"' in html
    assert ".812" in html
    assert "&lt; .001" in html
    assert "unknown" in html


def test_every_format_renders(tmp_path: Path) -> None:
    table = sample()
    with use_output(OutputFolder(has_fallbacks=True)):
        source = "See @tbl-sample.\n\n" + table.to_quarto()
    page = pandoc.to_html(source, header={}, work_dir=tmp_path)
    assert page.count("<figcaption>") == 1
    assert "A caption with &lt;b&gt; and @fig-a" in page
    assert page.count("<table") == 1
    assert "<script" not in page
    made = pandoc.to_typst(source, header={}, work_dir=tmp_path)
    typst.compile_pdf(made, work_dir=tmp_path, output=tmp_path / "t.pdf", epoch=0)
    for kind in ("docx", "tex", "md"):
        out = tmp_path / f"t.{kind}"
        pandoc.to_document(source, to=kind, header={}, work_dir=tmp_path, output=out, epoch=0)
    text = (tmp_path / "t.tex").read_text()
    assert "1,200" in text
    assert "\\input{x}" not in text
    assert "#panic" in (tmp_path / "t.md").read_text().replace("\\", "")
    assert "<script>" not in (tmp_path / "t.md").read_text()
    with zipfile.ZipFile(tmp_path / "t.docx") as archive:
        body = archive.read("word/document.xml").decode()
    assert "1,200" in body
    assert body.count("<w:tbl>") == 1


def test_csv_is_unrounded_and_runs_nothing() -> None:
    table = Table(columns=(Column(key="a"), Column(key="b")), rows=({"a": "=1+1", "b": 1 / 3},))
    rows = list(csv.reader(io.StringIO(table.to_csv())))
    assert rows == [["a", "b"], ["'=1+1", str(1 / 3)]]


def test_markdown_table_keeps_its_shape() -> None:
    lines = sample().to_markdown().split("\n")
    assert len(lines) == 4
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {7}


def test_groups_and_frames() -> None:
    frame = pd.DataFrame(
        {"judge": ["x", "x", "y"], "t": [0.0, 1.0, 0.5], "n": [1, 2, 3], "p_value": [0.5, 0.0, 1.0]}
    )
    table = Table.from_frame(frame, group="judge")
    assert [c.key for c in table.columns] == ["t", "n", "p_value"]
    assert table.to_html().count('class="group"') == 2
    assert "**x**" in table.to_markdown()
    assert "< .001" in str(table)


def test_wrong_use_is_refused() -> None:
    with pytest.raises(InputError, match="label must be"):
        Table(columns=(Column(key="a"),), rows=(), label="fig-a")
    with pytest.raises(InputError, match="columns must hold"):
        Table(columns=(), rows=())
    with pytest.raises(InputError, match="format must be one of"):
        Table(columns=(Column(key="a", format="decimal"),), rows=({"a": 1},)).cells()


@pytest.mark.fuzz
@settings(max_examples=20 * FUZZ, deadline=None)
@given(st.lists(st.lists(st.text(max_size=20), min_size=2, max_size=2), max_size=5))
def test_any_text_keeps_rows_and_columns(rows: list[list[str]]) -> None:
    table = Table(
        columns=(Column(key="a"), Column(key="b")),
        rows=tuple({"a": a, "b": b} for a, b in rows),
    )
    assert table.to_html().count("<tr>") == len(rows) + 1
    assert table.to_html().count("<td") == 2 * len(rows)
    assert len(table.to_markdown().split("\n")) == len(rows) + 2


def test_a_wide_table_keeps_its_numbers_whole_and_two_columns_are_never_unfolded() -> None:
    names = [f"measure {k}" for k in range(7)]
    row = {"name": "coding-off-by-one/author-d", **dict.fromkeys(names, ".72 [.60, .81]")}
    columns = [Column(key="name"), *(Column(key=k, align="right") for k in names)]

    def shape(count: int) -> list[str]:
        html = Table(columns=tuple(columns[:count]), rows=(row,)).to_html()
        return re.findall(r'<div class="js-table([^"]*)"', html)[0].split()

    assert shape(2) == ["whole"]
    assert shape(6) == ["wide", "wider", "whole", "stack"]
    assert "whole" not in shape(8)
    long = {"a": "x" * 40, "b": "y" * 40}
    two = Table(columns=(Column(key="a"), Column(key="b")), rows=(long,)).to_html()
    assert "stack" not in two
    absent = Table(columns=(columns[0], Column(key="b", format="number")), rows=(row,)).to_html()
    assert '<td class="num none"' in absent
    assert "coding-off-by-one/<wbr>author-d" in absent.replace("-<wbr>", "-")


def test_without_the_builtin_renderer_there_is_no_fallback() -> None:
    assert "js-fallback" not in sample().to_quarto()


def test_disagreements_of_verdicts_in_words_are_shown_in_words(tmp_path) -> None:
    """A choice of options had ended the report: it was taken for a number."""
    keys = ("condition", "item_id", "judge", "people", "gap")
    record = records.Table(
        id="disagreements", hypothesis="people", role="descriptive", title="Disagreements",
        columns=tuple(records.Column(key=k, label=k) for k in keys),
        rows=(("j", "i1", "a*", "b", 1.0), ("j", "i2", 3.0, 8.0, 5.0)),
    )  # fmt: skip
    found = records.Results(experiment="x", question="", results=(record,))
    table = disagreements(SimpleNamespace(records=found, folder=tmp_path, condition_name=str))[0]
    shown = [row["judge"].markdown for row in table.rows]
    assert shown == [
        '[3\\.00]{data-record="disagreements#rows.1.judge"}',
        '[a\\*]{data-record="disagreements#rows.0.judge"}',
    ]
