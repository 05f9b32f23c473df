"""Cells run in this process: what they show, where their files go, and how they fail."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import pytest

from judgestats.errors import RenderError
from judgestats.reporting import OutputFolder, current_output, execute_document, parse_document

HEAD = "---\ntitle: T\nexecute: {echo: false}\n---\n"


def markdown(body: str, folder: Path, **params: object) -> str:
    document = parse_document(HEAD + body, path=Path("own.qmd"))
    return execute_document(document, params=params, sink=OutputFolder(folder=folder), epoch=3)


def cell(source: str, *options: str) -> str:
    head = "".join(f"#| {option}\n" for option in options)
    return f"```{{python}}\n{head}{source}\n```\n"


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("x = 2\nx + 1", "3"),
        ("x = 2", ""),
        ("None", ""),
        ("2;", ""),
        ("'a'", "'a'"),
        ("print('a')\nprint('b')\n'c'", "a\nb"),
        ("display(1, 2)\n3", "1"),
        ("for i in range(3):\n    i", ""),
        ("import os; os.environ['SOURCE_DATE_EPOCH']", "'3'"),
        ("__name__", "'__main__'"),
        ("def f():\n    return g()\ndef g():\n    return 7\nf()", "7"),
    ],
)
def test_the_last_value_is_shown(source: str, shown: str, tmp_path: Path) -> None:
    text = markdown(cell(source), tmp_path)
    assert (f"\n{shown}\n" in text) if shown else text.strip() == ""


def test_cells_share_a_namespace_of_their_document(tmp_path: Path) -> None:
    body = cell("a = 1", "tags: [parameters]") + cell("b = a + 1") + "One `{python} a * b`.\n"
    assert "One 2." in markdown(body, tmp_path)
    assert "One 12." in markdown(body, tmp_path, a=3)
    with pytest.raises(RenderError, match="name 'b' is not defined"):
        markdown(cell("b"), tmp_path)


def test_what_shows_itself_in_markdown_or_as_a_picture_does(tmp_path: Path) -> None:
    own = "class Own:\n    def _repr_{}_(self):\n        return {!r}\nOwn()"
    body = "".join(cell(own.format(*kind)) for kind in (("markdown", "*a*"), ("svg", "<svg/>")))
    assert markdown(body, tmp_path) == "*a*\n\n![](cell-pictures/picture-1.svg)\n"
    assert (tmp_path / "cell-pictures" / "picture-1.svg").read_text() == "<svg/>"


def test_figures_that_a_cell_opens_are_drawn_and_closed(tmp_path: Path) -> None:
    from matplotlib import pyplot

    kept = pyplot.figure()
    source = "import matplotlib.pyplot as p\np.figure()\np.plot([1, 2])\np.figure();"
    text = markdown(cell(source), tmp_path)
    assert text.count("cell-pictures/picture-") == 2
    assert pyplot.get_fignums() == [kept.number]
    pyplot.close(kept)


def test_files_go_to_the_sink_and_nothing_else_changes(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    (tmp_path / "out").mkdir()
    source = (
        "from judgestats.reporting import show\n"
        "from judgestats.reporting import current_output\n"
        "current_output().path('tables/a.csv').write_text('a')\n"
        "show('shown')"
    )
    before = (sys.stdout, sys.stderr, dict(os.environ))
    assert markdown(cell(source), tmp_path / "out") == "shown\n"
    assert (sys.stdout, sys.stderr, dict(os.environ)) == before
    assert [p.name for p in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out" / "tables" / "a.csv").read_text() == "a"
    assert current_output() == OutputFolder()


def test_a_cell_keeps_what_it_prints_and_other_threads_their_stream(tmp_path, capsys) -> None:
    source = (
        "import sys, threading, warnings\n"
        "print('ours')\nprint('error', file=sys.stderr)\n"
        "t = threading.Thread(target=lambda: print('theirs'))\nt.start(); t.join()"
    )
    text = markdown(cell(source), tmp_path)
    assert "ours" in text
    assert "error" in text
    assert "theirs" not in text
    assert capsys.readouterr().out == "theirs\n"
    assert "error" not in markdown(cell(source, "warning: false"), tmp_path)
    assert threading.active_count() >= 1


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (cell("x = 1\n1 / 0", "label: bad"), "own.qmd, cell 'bad', line 8: ZeroDivisionError: "),
        (cell("x = 1\n\nx +"), "own.qmd, line 8: SyntaxError: invalid syntax"),
        (cell("def f():\n    raise KeyError('k')\nf()"), "own.qmd, line 7: KeyError: 'k'"),
        (cell("raise SystemExit(3)"), "own.qmd, line 6: SystemExit: 3"),
        (cell("%matplotlib inline"), "own.qmd, line 6: SyntaxError"),
        ("Text `{python} 1 / 0`\n", "own.qmd, text from line 5: inline expression '1 / 0': Zero"),
    ],
)
def test_what_fails_is_named_with_the_line_of_the_document(body, message, tmp_path) -> None:
    with pytest.raises(RenderError) as failed:
        markdown(body, tmp_path)
    assert str(failed.value).startswith(message)


def test_a_document_that_calls_a_part_of_earlier_reports_says_how_to_write_it_anew(tmp_path):
    called = cell("from judgestats.reporting.sections import figures\nfigures.spread(1)")
    with pytest.raises(RenderError, match=r"line 7: Attr.* 'spread'\. .* --document NEW\.qmd\.$"):
        markdown(called, tmp_path)


def test_an_interrupt_is_no_failure_of_the_cell(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        markdown(cell("raise KeyboardInterrupt"), tmp_path)
