"""Pictures of summary pages: of every experiment one, and eight kinds of run side by side.

    python docs/build_page_ones.py [NAME ...]

Runs each experiment (or those named) on simulated judges in a temporary folder, minutes in all.
Writes the first page of its report to docs/images/summary-NAME.webp. Without names it writes
docs/images/page-ones.png too.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
RECORDED = ROOT / "judgestats" / "data" / "demo" / "scores.csv.gz"
STUDIES = {"replicate-schroeder2024": "schroeder2024", "replicate-llmasjudge": "llmasjudge"}
TOGETHER = (
    "temperature", "alignment", "self_consistency", "bias", "omega", "crowd",
    "replicate-schroeder2024", "analyze",
)  # fmt: skip
ACROSS, DPI, SMALL, GAP = 4, 90, 38, 6


def words_of(name: str) -> list[str]:
    """The command behind a page."""
    if name == "analyze":
        return ["analyze", str(RECORDED), "--wide", "run=run*", "--scale", "1-10"]
    if name in STUDIES:
        return ["run", "replicate", "--study", STUDIES[name]]
    return ["run", name]


def page_one(name: str, folder: Path) -> Image.Image:
    """The first page of the report of a command, run in a separate folder."""
    folder.mkdir()
    command = [sys.executable, "-m", "judgestats", *words_of(name), "--report", "pdf"]
    own = {**os.environ, "PYTHONPATH": str(ROOT)}
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "env": own}
    code = subprocess.run(command, cwd=folder, check=False, **quiet).returncode
    if code not in {0, 1}:
        sys.exit(f"{' '.join(words_of(name))} ended with {code}")
    [pdf] = folder.glob("mlruns/*/*/artifacts/report.pdf")
    command = ["pdftoppm", "-r", str(DPI), "-png", "-f", "1", "-singlefile", str(pdf), "page"]
    subprocess.run(command, cwd=folder, check=True)
    return Image.open(folder / "page.png").convert("RGB")


def main() -> None:
    """Make the pages and write their pictures."""
    pages = sorted(
        p.stem for p in (ROOT / "docs" / "experiments").glob("*.md") if p.stem != "index"
    )
    made = {}
    with tempfile.TemporaryDirectory() as scratch:
        for name in sys.argv[1:] or dict.fromkeys([*sorted(pages), *TOGETHER]):
            made[name] = page_one(name, Path(scratch) / name)
            if name in pages:
                path = IMAGES / f"summary-{name}.webp"
                made[name].save(path, quality=50, method=6)
                print(f"{path.name}: {path.stat().st_size} bytes", flush=True)
    if sys.argv[1:]:
        return
    small = [page.resize((page.width * SMALL // DPI, page.height * SMALL // DPI))
             for page in (made[name] for name in TOGETHER)]  # fmt: skip
    width, height = small[0].size
    down = -(-len(small) // ACROSS)
    sheet = Image.new("RGB", (ACROSS * (width + GAP), down * (height + GAP)), "gray")
    for i, page in enumerate(small):
        sheet.paste(page, (i % ACROSS * (width + GAP), i // ACROSS * (height + GAP)))
    sheet.quantize(64).save(IMAGES / "page-ones.png", optimize=True)


if __name__ == "__main__":
    main()
