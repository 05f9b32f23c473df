"""The report of a run: what it says, that it loads nothing, how it looks."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

from judgestats.errors import InputError, RenderError
from judgestats.reporting import load_run
from judgestats.reporting.report import document_path, render_report
from judgestats.reporting.runs import Run
from judgestats.reporting.sections import (
    advice,
    checks,
    closing,
    data,
    design,
    figures,
    findings,
    sensitivity,
)
from judgestats.reporting.show import Markdown, section, show

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)


@pytest.fixture(scope="module")
def report(run_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    out = tmp_path_factory.mktemp("report")
    return render_report(
        run_folder, to=("html", "pdf", "docx", "tex", "md"), out_dir=out, renderer="builtin"
    )


def without_pictures(page: str) -> str:
    return re.sub(r"base64,[\w+/=]+", "", page)


def pdf_text(path: Path) -> str:
    if shutil.which("pdftotext") is None:
        pytest.skip("pdftotext is not installed (apt-get install poppler-utils)")
    done = subprocess.run(["pdftotext", "-layout", str(path), "-"], capture_output=True, check=True)
    return done.stdout.decode()


# -- what it says --------------------------------------------------------------------------------


def test_it_has_what_a_statistician_expects(report: dict[str, Path], run_folder: Path) -> None:
    page = without_pictures(report["html"].read_text())
    results = json.loads((run_folder / "results.json").read_text())
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", page))
    for heading in (
        "Question and design", "Judges and prompts", "What could not be read", "Description",
        "Checks", "Primary", "Mean beside spread", "Reliability and its null", "Sensitivity",
        "As the replicated study printed it", "Limitations", "Recommendation", "Methods in brief",
        "References", "Prompts", "Primary results in full", "All pairs", "Warnings", "Session",
    ):  # fmt: skip
        assert heading in text, heading
    found = next(r for r in results["results"] if r["id"] == "spread.sim-typical")
    glance = found["glance"][0]
    assert f"= {glance['statistic']:.2f}" in text
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


def test_no_banner_where_no_judge_was_simulated() -> None:
    assert str(design.banner(Run(Path("x"), {"results": [], "simulated": False}))) == ""
    assert "<simulated>" in str(design.banner(Run(Path("x"), {"results": [], "simulated": True})))


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
            assert (attributes["href"] or "").startswith("#")
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


def test_same_bytes_again(report: dict[str, Path], run_folder: Path, tmp_path: Path) -> None:
    again = render_report(run_folder, to=("html", "pdf"), out_dir=tmp_path, renderer="builtin")
    assert again["html"].read_bytes() == report["html"].read_bytes()
    assert again["pdf"].read_bytes() == report["pdf"].read_bytes()


@pytest.mark.pdf
def test_fonts_are_embedded(report: dict[str, Path]) -> None:
    if shutil.which("pdffonts") is None:
        pytest.skip("pdffonts is not installed (apt-get install poppler-utils)")
    done = subprocess.run(["pdffonts", str(report["pdf"])], capture_output=True, check=True)
    lines = done.stdout.decode().splitlines()[2:]
    assert lines
    for line in lines:
        emb, sub = line.split()[-5:-3]
        assert (emb, sub) == ("yes", "yes"), line


@pytest.mark.pdf
def test_pdf_pages_are_not_empty_and_keep_their_margins(
    report: dict[str, Path], tmp_path: Path
) -> None:
    if shutil.which("pdftoppm") is None:
        pytest.skip("pdftoppm is not installed (apt-get install poppler-utils)")
    subprocess.run(
        ["pdftoppm", "-r", "40", "-gray", "-png", str(report["pdf"]), str(tmp_path / "p")],
        check=True,
    )
    pages = sorted(tmp_path.glob("p*.png"))
    for path in pages:
        pixels = imread(path)
        pixels = pixels if pixels.ndim == 2 else pixels[..., 0]
        ink = pixels < 0.8
        body = ink[int(0.08 * len(ink)) : int(0.93 * len(ink))]
        assert body.mean() > 0.004, f"{path.name} is almost empty"
        width = ink.shape[1]
        margin = int(width * 17 / 210)
        assert not ink[:, :margin].any(), f"{path.name}: something stands in the left margin"
        assert not ink[:, -margin:].any(), f"{path.name}: something stands in the right margin"


def screenshot(page: Path, target: Path, *, width: int, height: int) -> np.ndarray:
    if CHROMIUM is None:
        pytest.skip("no chromium on PATH (apt-get install chromium)")
    subprocess.run(
        [
            str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
            "--disable-background-networking", f"--user-data-dir={target.parent / 'profile'}",
            f"--window-size={width},{height}", f"--screenshot={target}", page.as_uri(),
        ],
        check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    return imread(target)


def dump_dom(page: Path, folder: Path, *, width: int) -> str:
    if CHROMIUM is None:
        pytest.skip("no chromium on PATH (apt-get install chromium)")
    done = subprocess.run(
        [
            str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu",
            "--disable-background-networking", f"--user-data-dir={folder / 'profile2'}",
            f"--window-size={width},900", "--virtual-time-budget=4000", "--dump-dom",
            page.as_uri(),
        ],
        check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    return done.stdout.decode()


MEASURE = """<script>addEventListener('load', () => {
  const wide = document.documentElement.scrollWidth > innerWidth + 1;
  const broken = [...document.images].filter(i => !i.complete || !i.naturalWidth).length;
  const empty = [...document.querySelectorAll('figure,table,main section,pre')]
    .filter(e => !e.textContent.trim() && !e.querySelector('img')).length;
  const cut = [...document.querySelectorAll('td,th,figcaption,h1,h2,h3,p')].filter(e => {
    const r = e.getBoundingClientRect(); const s = e.closest('.js-table,pre');
    return !s && r.width && r.right > innerWidth + 1; }).length;
  const boxes = [...document.querySelectorAll('main > *')]
    .map(e => [e, e.getBoundingClientRect()])
    .filter(([e, r]) => r.height && getComputedStyle(e).position === 'static');
  let over = 0;
  for (let i = 1; i < boxes.length; i++) if (boxes[i][1].top < boxes[i-1][1].bottom - 1) over++;
  document.title = JSON.stringify({wide, broken, empty, cut, over, images: document.images.length});
});</script>"""


@pytest.mark.browser
@pytest.mark.parametrize("width", [420, 1000, 1700])
def test_layout_in_a_browser(report: dict[str, Path], tmp_path: Path, width: int) -> None:
    """Nothing is cut, overlapping or empty; the measuring script is added to a copy."""
    page = report["html"].read_text()
    page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
    copy = tmp_path / "copy.html"
    copy.write_text(page.replace("</head>", MEASURE + "</head>"), encoding="utf-8")
    title = re.search(r"<title>(.*?)</title>", dump_dom(copy, tmp_path, width=width), re.DOTALL)
    assert title
    found = json.loads(title.group(1))
    assert found["images"] >= 6
    assert not found["wide"], "the page is wider than the window"
    assert found == {"wide": False, "broken": 0, "empty": 0, "cut": 0, "over": 0,
                     "images": found["images"]}  # fmt: skip


@pytest.mark.browser
def test_the_page_shows_something_in_a_browser(report: dict[str, Path], tmp_path: Path) -> None:
    pixels = screenshot(report["html"], tmp_path / "s.png", width=1000, height=1400)
    grey = pixels[..., :3].mean(axis=2)
    assert (grey < 0.5).mean() > 0.01
    bands = np.array_split(grey, 7)
    assert all((band < 0.6).mean() > 0.001 for band in bands)


# -- runs and documents --------------------------------------------------------------------------


def test_a_section_without_content_has_no_heading(run_folder: Path) -> None:
    assert section("# Nothing", None, Markdown(""), []).text == ""
    assert section("# Something", "text", intro="first").text == "# Something\n\nfirst\n\ntext"
    told = str(closing.methods(load_run(run_folder)))
    assert "@shrout1979" in told
    assert "@schuirmann1987" in told
    assert "@gradescore2024" not in told


def test_runs_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"no results\.json"):
        load_run(tmp_path / "empty")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "results.json").write_text("[1]")
    with pytest.raises(InputError, match="not written by judgestats"):
        load_run(tmp_path / "other")
    (tmp_path / "other" / "results.json").write_text("{")
    with pytest.raises(InputError, match="cannot be read"):
        load_run(tmp_path / "other")


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
    assert "Within-item variance" in made["html"].read_text()


def test_left_out_is_what_it_says(run_folder: Path) -> None:
    run = load_run(run_folder)
    table = sensitivity.left_out(run)
    arrays = run.results["arrays"]
    values = np.array(arrays["cell_variances"], dtype=float)[:, 1]
    clusters = np.array(arrays["clusters"])
    each = [values[clusters != c].mean() for c in set(clusters)]
    row = table.rows[1]  # type: ignore[union-attr]
    assert row["low"] == pytest.approx(min(each))
    assert row["high"] == pytest.approx(max(each))
    primary = sensitivity.left_out_primary(run)
    found = next(r for r in run.results["results"] if r["id"] == "spread.sim-typical")
    statistic = found["glance"][0]["statistic"]
    assert primary.rows[0]["f"] == pytest.approx(statistic)  # type: ignore[union-attr]


def test_sections_of_a_run_without_anything() -> None:
    run = Run(Path("nowhere"), {"results": []})
    parts = [
        design.banner(run), design.answer(run), design.question(run), design.overview(run),
        design.plan(run), design.plan_notes(run), design.judges(run), design.temperatures(run),
        design.prompts(run), data.items(run), data.exclusions(run), data.exclusion_reasons(run),
        data.descriptives(run), data.reliability(run), data.verdicts(run), checks.checks(run),
        sensitivity.missing_policies(run), sensitivity.left_out(run),
        sensitivity.left_out_primary(run), sensitivity.left_out_estimates(run),
        advice.in_short(run), checks.warnings_note(run), findings.descriptive(run),
        checks.warnings(run), findings.primary(run), findings.secondary(run), findings.pairs(run),
        findings.replicated_section(run), findings.prints(run, "primary"), figures.scores(run),
        figures.spread(run), figures.mean_against_spread(run), figures.null_strip(run),
        figures.reliability_by_k(run), figures.positions(run), figures.coefficients(run),
        closing.limitations(run), advice.recommendation(run), advice.prices(run),
        advice.uses(run), closing.methods(run),
        closing.account(run), closing.session(run), closing.command(run),
    ]  # fmt: skip
    assert "Question" in str(show(*parts)) or str(show(*parts))
    assert figures.spread(run) is None
