"""Contact sheets of the interactive page, labelling, a summary page, and figures: docs/images/.

    python docs/build_contact_sheets.py

Runs `judgestats run judges` on simulated judges in an empty folder. Opens its pages in headless
Chromium at three widths in both colour schemes. Writes one picture per page and scheme. Then opens
the interactive page in MLflow's own view of artifacts, on loopback. A picture larger than 200 kB,
text below a contrast of 4.5, or an error inside MLflow's frame ends the script.
"""

from __future__ import annotations

import base64
import io
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from judgestats.cli import main as judgestats  # noqa: E402
from tests.explorer.browser import CHROMIUM, MISSING, Browser  # noqa: E402

WIDTHS, SCHEMES = (390, 514, 1280), ("light", "dark")
HIGH, SCALE, GAP = 1300, 0.75, 12
"""Height of a page that is kept, the size of its picture, and pixels between pictures."""
MOST_BYTES = 200_000
READY = """document.readyState === 'complete'
  && !document.querySelector('#loading:not([hidden])')"""
ITEM = """(() => { judgestats.state.mode = 'flips'; judgestats.update();
  document.querySelector('[data-at="0"] [data-c="1"]').click();
  document.querySelector('.judge.is-open details.reply').open = true; })()"""
"""Opens the first item on which a judge contradicts itself, and its first reply."""
HEIGHT = """document.body.matches('.has-detail') ? innerHeight
  : Math.max(innerHeight, document.documentElement.scrollHeight)"""
FIGURES = """(() => { const main = document.querySelector('main');
  main.replaceChildren(...document.querySelectorAll('main figure:has(img)'));
  document.querySelector('nav#TOC')?.remove(); })()"""
"""Leaves only the figures of a report."""
WITHOUT_PATH = """[...document.querySelectorAll('*')].forEach((e) => {
  if (!e.children.length && e.textContent.startsWith('Path:')) e.style.visibility = 'hidden'; })"""
"""Hides the place of the artifact on this machine."""
LABELS = (
    "item_id,question,answer,annotator,label",
    'q1,Can I return a book?,"Yes. **Within 30 days**:\n- send its number,\n- we send a label.",,',
    "q2,When does the night bus leave?,At 23:40 from the harbour.,,",
)


def pages_of(folder: Path) -> dict[str, tuple[Path, str]]:
    """Pages of a run and of its labels: file, and the script that prepares it."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        code = judgestats(["run", "judges", "--report", "html", "--detail", "full"])
        Path("labels.csv").write_text("\n".join(LABELS), encoding="utf-8")
        words = ["labels", "collect", "labels.csv", "--annotator", "ann"]
        code = code or judgestats([*words, "--out", "label.html"])
    finally:
        os.chdir(before)
    if code not in {0, 1}:
        sys.exit(f"judgestats ended with {code}")
    [report] = folder.rglob("artifacts/report.html")
    text = report.read_text(encoding="utf-8")
    # the policy of a report allows no script, not even that of this one
    report.write_text(re.sub(r'<meta http-equiv="Content-Security[^>]*>', "", text), "utf-8")
    explorer = report.parent / "explore.html"
    return {
        "explore": (explorer, ""), "item": (explorer, ITEM), "labels": (folder / "label.html", ""),
        "summary": (report, ""), "figures": (report, FIGURES),
    }  # fmt: skip


def sheet(tab: Browser, page: Path, prepare: str, scheme: str) -> Image.Image:
    """A page at every width, next to each other."""
    pictures = []
    for width in WIDTHS:
        tab.size(width, dark=scheme == "dark")
        tab.ask("Page.navigate", url=page.as_uri())
        tab.until(READY)
        if prepare:
            tab.js(prepare)
        if faults := tab.pale_texts(scheme):
            sys.exit(f"{page.name} at {width} px, {scheme}: contrast below 4.5: {faults[:3]}")
        high = min(HIGH, tab.js(HEIGHT))
        clip = {"x": 0, "y": 0, "width": width, "height": high, "scale": SCALE}
        shot = tab.ask("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)
        pictures.append(Image.open(io.BytesIO(base64.b64decode(shot["data"]))).convert("RGB"))
    wide = sum(p.width for p in pictures) + GAP * (len(pictures) - 1)
    whole = Image.new("RGB", (wide, max(p.height for p in pictures)), "#808080")
    left = 0
    for picture in pictures:
        whole.paste(picture, (left, 0))
        left += picture.width + GAP
    return whole


def mlflow_view(tab: Browser, page: Path, folder: Path) -> Image.Image:
    """The interactive page of a run inside MLflow's frame, which is sandboxed and 514 px wide."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "mlflow", "ui", "--host", "127.0.0.1", "--port", str(port)]
    command += ["--backend-store-uri", "sqlite:///mlflow.db"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    server = subprocess.Popen(command, cwd=folder, start_new_session=True, **quiet)
    try:
        for _ in range(300):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(1)
        experiment, run = page.parts[-4:-2]
        tab.size(1280)
        tab.ask("Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=False, flatten=True)
        tab.events.clear()
        place = f"experiments/{experiment}/runs/{run}/artifacts/{page.name}"
        tab.ask("Page.navigate", url=f"http://127.0.0.1:{port}/#/{place}")
        for _ in range(120):
            time.sleep(1)
            tab.ask("Target.getTargets")  # takes the events that have come
            frames = [e["params"] for e in tab.events if e["method"] == "Target.attachedToTarget"]
            if inside := [f["sessionId"] for f in frames if f["targetInfo"]["type"] == "iframe"]:
                break
        tab.until("document.documentElement.dataset.ready", inside[-1])
        for domain in ("Runtime", "Log"):
            tab.ask(f"{domain}.enable", inside[-1])
        tab.js("new Promise((r) => setTimeout(r, 500))")
        sandbox = tab.js("document.querySelector('iframe').getAttribute('sandbox')")
        width = tab.js("[innerWidth, document.documentElement.scrollWidth].join()", inside[-1])
        tab.events = [e for e in tab.events if e.get("sessionId") == inside[-1]]
        if (faults := tab.faults()) or sandbox != "allow-scripts":
            sys.exit(f"in MLflow's frame (sandbox={sandbox}): {faults[:3]}")
        print(f"MLflow's frame: sandbox={sandbox}, width and width of the page {width}")
        tab.js(WITHOUT_PATH)
        shot = tab.ask("Page.captureScreenshot")
        return Image.open(io.BytesIO(base64.b64decode(shot["data"]))).convert("RGB")
    finally:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()


def write(picture: Image.Image, path: Path) -> None:
    """Write a picture, not larger than allowed."""
    picture.save(path, quality=55, method=6)
    if (size := path.stat().st_size) > MOST_BYTES:
        sys.exit(f"{path.name} has {size} bytes, at most {MOST_BYTES}")
    print(f"{path.name}: {size} bytes", flush=True)


def main() -> None:
    """Write the sheets."""
    if CHROMIUM is None:
        sys.exit(MISSING)
    target = ROOT / "docs" / "images"
    with tempfile.TemporaryDirectory() as work:
        pages = pages_of(Path(work))
        with Browser(Path(work) / "profile") as tab:
            for name, (page, prepare) in pages.items():
                for scheme in SCHEMES:
                    made = sheet(tab, page, prepare, scheme)
                    write(made, target / f"sheet-{name}-{scheme}.webp")
            write(mlflow_view(tab, pages["explore"][0], Path(work)), target / "sheet-mlflow.webp")


if __name__ == "__main__":
    main()
