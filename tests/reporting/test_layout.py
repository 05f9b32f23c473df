"""How a report looks: in a browser, wide and narrow, and on paper."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)


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


@pytest.mark.pdf
def test_no_word_stands_outside_the_margins_of_the_pdf(report: dict[str, Path]) -> None:
    if shutil.which("pdftotext") is None:
        pytest.skip("pdftotext is not installed (apt-get install poppler-utils)")
    done = subprocess.run(
        ["pdftotext", "-bbox", str(report["pdf"]), "-"], capture_output=True, check=True
    )
    text = done.stdout.decode()
    width = float(re.search(r'<page width="([\d.]+)"', text).group(1))  # type: ignore[union-attr]
    words = re.findall(r'<word xMin="([\d.-]+)" yMin="([\d.-]+)" xMax="([\d.-]+)"', text)
    assert len(words) > 1000
    margin = 23 / 25.4 * 72  # punctuation may hang into it by a hair
    outside = [w for w in words if float(w[0]) < margin - 4 or float(w[2]) > width - margin + 4]
    assert not outside


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
  const scrolled = [...document.querySelectorAll('.js-table')]
    .filter(e => e.scrollWidth > e.clientWidth + 1)
    .map(e => e.scrollWidth + ' > ' + e.clientWidth + ': ' + e.innerText.slice(0, 60));
  const cut = [...document.querySelectorAll('td,th,figcaption,h1,h2,h3,p')].filter(e => {
    const r = e.getBoundingClientRect(); const s = e.closest('.js-table,pre');
    return !s && r.width && r.right > innerWidth + 1; }).length;
  const boxes = [...document.querySelectorAll('main > *')]
    .map(e => [e, e.getBoundingClientRect()])
    .filter(([e, r]) => r.height && getComputedStyle(e).position === 'static');
  let over = 0;
  for (let i = 1; i < boxes.length; i++) if (boxes[i][1].top < boxes[i-1][1].bottom - 1) over++;
  const banner = document.querySelector('.simulated-banner');
  const seen = b => { const r = b.getBoundingClientRect();
    return r.top >= 0 && r.bottom <= innerHeight && r.height > 10; };
  const first = !!banner && seen(banner);
  scrollTo(0, document.body.scrollHeight);
  const r = banner && banner.getBoundingClientRect();
  const told = first && seen(banner);
  const title = document.querySelector('h1').getBoundingClientRect().top + scrollY;
  const hidden = !!r && title < r.height;
  const list = document.querySelector('nav#TOC ul'), top = e => e.getBoundingClientRect().top;
  const contents = list.checkVisibility() ? 'listed' : 'closed';
  scrollTo(0, 0);
  const before = top(document.querySelector('nav#TOC')) <
    top(document.querySelector('main .answer p'));
  parent.postMessage(JSON.stringify({wide, broken, empty, cut, over, scrolled, told, hidden,
    contents, before, width: innerWidth, images: document.images.length}), '*');
});</script>"""

FRAME = """<!DOCTYPE html><html><head><title>none</title></head><body style="margin:0">
<iframe src="copy.html" style="border:0;width:{width}px;height:900px"></iframe>
<script>addEventListener('message', e => {{ document.title = e.data; }});</script></body></html>"""


@pytest.mark.browser
@pytest.mark.parametrize("width", [420, 1200, 1700])
def test_layout_in_a_browser(report: dict[str, Path], tmp_path: Path, width: int) -> None:
    """Nothing is cut, overlapping or empty; a copy with a measuring script, in a frame so narrow.

    No table has to be scrolled sideways, and the
    banner is seen at both ends of the page.
    """
    page = report["html"].read_text()
    page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
    (tmp_path / "copy.html").write_text(
        page.replace("</head>", MEASURE + "</head>"), encoding="utf-8"
    )
    frame = tmp_path / "frame.html"
    frame.write_text(FRAME.format(width=width), encoding="utf-8")
    dom = dump_dom(frame, tmp_path, width=max(width, 600))
    title = re.search(r"<title>(.*?)</title>", dom, re.DOTALL)
    assert title
    found = json.loads(title.group(1))
    assert found["images"] >= 6
    assert found == {
        "wide": False, "broken": 0, "empty": 0, "cut": 0, "over": 0, "scrolled": [], "told": True,
        "hidden": False, "width": width, "images": found["images"], "before": True,
        "contents": "listed" if width > 1152 else "closed",
    }  # fmt: skip
