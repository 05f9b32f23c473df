"""The report of a run: what it says, that it loads nothing, how it looks."""

from __future__ import annotations

import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest

from judgestats.errors import RenderError
from judgestats.reporting import (
    Run,
    document_path,
    render_report,
    show,
)
from judgestats.reporting.sections import (
    answer,
    checks,
    closing,
    data,
    design,
    figures,
    people,
    results,
    studies,
    summary,
)
from judgestats.results import Results, Test, read_results
from tests.reporting.pages import pdf_text

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)


def without_pictures(page: str) -> str:
    return re.sub(r"base64,[\w+/=]+", "", page)


# -- what it says --------------------------------------------------------------------------------


def test_it_has_what_a_statistician_expects(report: dict[str, Path], run_folder: Path) -> None:
    page = without_pictures(report["html"].read_text())
    records = read_results(run_folder / "results.json")
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", page))
    for heading in (
        "Question and design", "Judges and prompts", "Description", "Checks", "Mean and variance",
        "Sensitivity", "As the replicated study printed it", "Limitations", "Repeats and price",
        "Methods in brief", "References", "Prompts", "Warnings", "Session",
    ):  # fmt: skip
        assert heading in text, heading
    found = records.get("spread.sim-typical", Test)
    assert f"= {found.statistic.value:.2f}" in text
    assert "95% CI" in text
    assert "unparseable" in text
    assert "fail to reject" not in text
    assert "SIMULATED" in text
    assert "$0.00020" in text
    assert "judgestats run temperature" in text
    assert "Shrout" in text
    assert "2026-05-04 10:00 UTC" in text


def test_numbers_are_the_same_in_html_and_pdf(report: dict[str, Path]) -> None:
    page = without_pictures(report["html"].read_text())
    body = page.split("<main>")[1]
    html = re.sub(r"<(script|style).*?</\1>", "", body, flags=re.DOTALL)
    html = re.sub(r"<[^>]+>", " ", re.sub(r"<wbr>", "", html))
    wanted = set(re.findall(r"\d*\.\d{2,}", html))
    text = pdf_text(report["pdf"])
    assert len(wanted) > 100
    missing = {n for n in wanted if n not in text}
    assert not missing


@pytest.mark.pdf
def test_every_page_of_a_simulated_run_says_so(report: dict[str, Path]) -> None:
    pages = pdf_text(report["pdf"]).split("\f")[:-1]
    assert len(pages) > 5
    assert all("SIMULATED" in page for page in pages)
    assert all(f"{i + 1} / {len(pages)}" in page for i, page in enumerate(pages))


def nothing(**facts: object) -> Results:
    return Results(experiment="", question="", results=(), facts=facts)


def test_no_banner_where_no_judge_was_simulated() -> None:
    assert str(design.banner(Run(Path("x"), nothing(simulated=False)))) == ""
    assert "<simulated>" in str(design.banner(Run(Path("x"), nothing(simulated=True))))


# -- untrusted text ------------------------------------------------------------------------------


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_hostile_names_prompts_and_reasons_stay_text(report: dict[str, Path]) -> None:
    page = report["html"].read_text()
    reader = Tags()
    reader.feed(page)
    tags = {tag for tag, _ in reader.found}
    assert not tags & {"script", "iframe", "object", "embed", "link", "base", "form", "video"}
    for tag, attributes in reader.found:
        assert not any(name.startswith("on") for name in attributes), tag
        if "src" in attributes:
            assert (attributes["src"] or "").startswith("data:image/svg+xml;base64,")
        if "href" in attributes:
            assert (attributes["href"] or "").startswith(("#", "tables/", "explore.html"))
        assert "url(" not in (attributes.get("style") or "")
    assert "&lt;script&gt;alert(1)" in page
    plain = without_pictures(page).replace("<wbr>", "")
    assert "@import" not in plain
    assert "default-src 'none'" in plain
    # addresses occur as text of the hostile prompt only
    assert set(re.findall(r"https?://[\w.]+", plain)) <= {"http://evil.example"}


@pytest.mark.pdf
def test_hostile_text_is_printed_in_the_pdf(report: dict[str, Path]) -> None:
    text = re.sub(r"\s+", " ", pdf_text(report["pdf"]))
    assert "<script>alert(1)</script>" in text
    assert "#panic()" in text or "#panic" in text
    assert '#read("x")' in text


def test_markdown_and_latex_hold_no_active_text(report: dict[str, Path]) -> None:
    markdown = re.sub(r"(?ms)^ *```.*?^ *```|^    .*?$", "", report["md"].read_text())
    assert not re.search(r"(?<!\\)<script", markdown)
    assert not re.search(r"(?<!\\)<img src=['\"]?http", markdown)
    assert "\\input" not in report["tex"].read_text()


# -- bytes, fonts, pictures ------------------------------------------------------------------------


# -- runs and documents --------------------------------------------------------------------------


def test_documents(tmp_path: Path, run_folder: Path) -> None:
    assert document_path("experiment").is_file()
    with pytest.raises(RenderError, match="there is no document 'nope'"):
        document_path("nope")
    own = tmp_path / "own.qmd"
    own.write_text(
        "---\ntitle: Mine\n---\n\n```{python}\n#| tags: [parameters]\nrun = ''\n```\n\n"
        "```{python}\n#| echo: false\nfrom judgestats.reporting import load_run, show\n"
        "from judgestats.reporting.sections import data\n"
        "show(data.descriptives(load_run(run)))\n```\n"
    )
    made = render_report(run_folder, to=("html",), out_dir=tmp_path, document=str(own), name="own")
    assert "SD between items" in made["html"].read_text()


def test_sections_of_a_run_without_anything() -> None:
    run = Run(Path("nowhere"), nothing())
    parts = [
        made(run)
        for made in (
            design.banner, design.setting, design.plan, design.plan_notes, design.judges,
            design.temperatures, design.prompts, data.items, data.exclusions,
            data.exclusion_reasons, data.condition_descriptions, data.descriptives,
            data.position_shares, data.prices,
            checks.checks, checks.missing_policies, checks.warnings,
            checks.crosscheck, checks.limits, results.results, results.described,
            studies.replicated, studies.study_tests,
            studies.overview, studies.each_claim, results.systems,
            figures.scores, figures.mean_against_spread, figures.null_strip,
            figures.compared, people.disagreements,
            people.costs, people.confidences, closing.methods,
            closing.account, closing.session, closing.command, summary.summary_page,
            answer.answer_figure,
        )
    ]  # fmt: skip
    assert str(show(*parts))
    assert figures.scores(run) is None
