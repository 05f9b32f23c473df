"""Put the summary page of the brief report of eight kinds of run side by side in
docs/images/page-ones.png.

Run from the project's root: python docs/build_page_ones.py (minutes: six experiments on simulated
judges, a study and an audit, in a folder that is thrown away), or with the PDFs of finished runs,
which are taken in the order given.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
SHEET = ROOT / "docs" / "images" / "page-ones.png"
RECORDED = ROOT / "judgestats" / "data" / "demo" / "scores.csv.gz"
RUNS = (
    ("run", "temperature"),
    ("run", "alignment"),
    ("run", "self_consistency"),
    ("run", "bias"),
    ("run", "omega"),
    ("run", "crowd"),
    ("run", "replicate", "--study", "schroeder2024"),
    ("analyze", str(RECORDED), "--wide", "run=run*", "--scale", "1-10"),
)
ACROSS, DPI, GAP = 4, 38, 6


def report_pdf(words: tuple[str, ...], folder: Path) -> Path:
    """The PDF of the report of one command, run in a separate folder."""
    folder.mkdir()
    command = [sys.executable, "-m", "judgestats", *words, "--report", "pdf"]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    [pdf] = folder.glob("mlruns/*/*/artifacts/report.pdf")
    return pdf


def first_page(pdf: Path) -> Image.Image:
    """Its first page as a picture."""
    with tempfile.TemporaryDirectory() as scratch:
        target = Path(scratch) / "page"
        command = ["pdftoppm", "-r", str(DPI), "-png", "-f", "1", "-singlefile", str(pdf), target]
        subprocess.run(command, check=True)
        return Image.open(f"{target}.png").convert("RGB")


def main() -> None:
    """Make the reports, or take those given, and write the sheet."""
    with tempfile.TemporaryDirectory() as scratch:
        given = [Path(name) for name in sys.argv[1:]]
        pdfs = given or [report_pdf(words, Path(scratch) / words[1][-40:].replace("/", "-"))
                         for words in RUNS]  # fmt: skip
        pages = [first_page(pdf) for pdf in pdfs]
    width, height = pages[0].size
    down = -(-len(pages) // ACROSS)
    sheet = Image.new("RGB", (ACROSS * (width + GAP), down * (height + GAP)), "gray")
    for i, page in enumerate(pages):
        sheet.paste(page, (i % ACROSS * (width + GAP), i // ACROSS * (height + GAP)))
    sheet.quantize(64).save(SHEET, optimize=True)


if __name__ == "__main__":
    main()
