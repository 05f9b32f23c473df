"""The stand-in refuses what real Quarto fails on: held to the program JUDGESTATS_QUARTO names.

It is made by ``.ci/real_quarto.py``; without it these tests are skipped.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from judgestats.reporting import quarto_source, quarto_version, render_report, render_with_quarto
from tests.reporting.quarto_stand_in import problems

REPORTS = Path(__file__).resolve().parents[2] / "reports"
QUARTO = os.environ.get("JUDGESTATS_QUARTO", "")

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(not QUARTO, reason="JUDGESTATS_QUARTO names no program"),
]

FAULTS = {
    "reference": ("See @tbl-none.", "html", 0, "Unable to resolve crossref @tbl-none"),
    "unnumbered": (
        "# More {#sec-more .unnumbered}\n\n@sec-more", "typst", 0,
        "Unable to resolve crossref @sec-more",
    ),
    "citation": ("[@nobody1900]", "typst", 0, "Citeproc: citation nobody1900 not found"),
    "picture": ("![](none.svg)", "html", 0, "Could not fetch resource none.svg"),
    "picture in typst": ("![](none.svg)", "typst", 1, "file not found"),
    "link": ("[more](#sec-none)", "typst", 1, "label `<sec-none>` does not exist"),
}  # fmt: skip
"""What is added to the body, the format, Quarto's code, its words."""

CALLS = {
    "path": (["--output", "sub/x.html"], "cannot specify a relative or absolute path"),
    "option": (["--output", "x.html", "--nonsense"], "Unknown option --nonsense."),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What stands beside the package's documents, and a small one among it."""
    shutil.copytree(REPORTS, tmp_path / "documents")
    monkeypatch.chdir(tmp_path / "documents")
    return tmp_path / "documents"


def written(folder: Path, body: str) -> None:
    header = yaml.safe_load((folder / "_metadata.yml").read_text("utf-8"))
    header |= {"title": "T", "bibliography": "references.bib"}
    text = quarto_source(f"# One {{#sec-one}}\n\n{body}\n", header)
    (folder / "x.qmd").write_text(text, encoding="utf-8")


def printed(*arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        [QUARTO, "render", "x.qmd", *arguments], capture_output=True, check=False, timeout=600
    )
    text = (done.stdout + done.stderr).decode()
    return done.returncode, re.sub(r"\x1b\[[0-9;]*m", "", text)


@pytest.mark.parametrize("name", FAULTS)
def test_real_quarto_says_what_the_stand_in_says(folder: Path, name: str) -> None:
    body, to, code, words = FAULTS[name]
    if name == "unnumbered":  # as it would be were the heading not lettered by us
        written(folder, "")
        with (folder / "x.qmd").open("a", encoding="utf-8") as file:
            file.write(f"\n{body}\n")
    else:
        written(folder, body)
    output = "x.pdf" if to == "typst" else "x.html"
    got, text = printed("--to", to, "--output", output)
    assert got == code
    assert words in text
    if name != "citation":  # the stand-in reads no bibliography
        found = problems(["render", "x.qmd", "--to", to, "--output", output])
        assert any(words in line for line in found), found


@pytest.mark.parametrize("name", CALLS)
def test_real_quarto_refuses_the_calls_that_the_stand_in_refuses(folder: Path, name: str) -> None:
    arguments, words = CALLS[name]
    written(folder, "Text.")
    code, text = printed("--to", "html", *arguments)
    assert code == 1
    assert words in text
    assert any(words in line for line in problems(["render", "x.qmd", "--to", "html", *arguments]))


def test_real_quarto_renders_a_report_without_a_word(
    run_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert quarto_version(QUARTO) >= (1, 7)
    monkeypatch.setenv("PATH", f"{Path(QUARTO).parent}:{os.environ['PATH']}")
    monkeypatch.delenv("JUDGESTATS_RENDERER", raising=False)
    made = render_report(run_folder, out_dir=tmp_path, renderer="quarto")
    page = made["html"].read_text("utf-8")
    assert '<meta name="generator" content="quarto-' in page
    assert "fonts.googleapis.com" not in page
    assert made["pdf"].read_bytes().startswith(b"%PDF")


def test_what_comes_from_a_run_runs_no_shortcode(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from judgestats.reporting import escape_html, escape_markdown, verbatim

    monkeypatch.setenv("SECRET", "not-to-be-shown")
    text = "{{< env SECRET >}}"
    written(folder, f"{escape_markdown(text)}\n\n{verbatim(text)}\n\n"
            f"```{{=html}}\n<p>{escape_html(text)}</p>\n```")  # fmt: skip
    render_with_quarto(QUARTO, folder / "x.qmd", to="html", output=folder / "y.html", epoch=0)
    page = (folder / "y.html").read_text("utf-8")
    assert "not-to-be-shown" not in page
    assert page.count("env SECRET") == 3
