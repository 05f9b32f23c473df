"""The interactive page in headless Chromium: python benchmarks/view.py [--write]

Medians of five: time until the page is ready, each kind of update, frames while scrolling, and
opening an item; those above their limit are marked. Limits are for two cores and a load below 2.
``--write`` puts the table into docs/benchmarks/view.md, with the load.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from judgestats.reporting.explorer import html_page, view_payload  # noqa: E402
from judgestats.results import Results  # noqa: E402
from tests.explorer.browser import CHROMIUM, MISSING, Browser  # noqa: E402

PAGE = ROOT / "docs" / "benchmarks" / "view.md"
TIMES = 5
CASES = ((416, 3, 8), (4_168, 3, 8), (100_000, 1, 1))
"""Items, judges, repeats."""
LIMITS = {"ready, 9,984": 500, "ready, 100,032": 2500, "scroll": 33}
LIMIT = 100
"""Milliseconds of an update, or of opening an item."""
SPEED = """(async () => { const J = judgestats, S = J.state, F = S.filters, out = {};
  const frame = () => new Promise((r) => requestAnimationFrame(() => setTimeout(r, 0)));
  const middle = (t) => t.sort((x, y) => x - y)[Math.floor(t.length / 2)];
  const run = async (name, change) => { const t = [];
    for (let i = 0; i < 5; i++) { change(i); const from = performance.now();
      J.update(false, name === 'sort'); t.push(performance.now() - from); await frame(); }
    out[name] = middle(t); };
  await run('sort', (i) => { S.sort = ['differ', 'flips', 'wrong'][i % 3]; });
  await run('mode', (i) => { S.mode = ['flips', 'wrong', 'differ'][i % 3]; });
  S.mode = 'all';
  await run('filter by slice', (i) => { F.slice = new Set(['ABC'[i % 3]]); });
  F.slice = new Set();
  await run('filter by repeat', (i) => { F.repeat = new Set([1 + i % 3, 5]); });
  F.repeat = new Set();
  await run('filter by verdict', (i) => { F.verdict = new Set([i + 3]); });
  F.verdict = new Set();
  await run('brush', (i) => { F.brush = { column: 0, x: [3, 5 + i / 9], y: [0, 2] }; });
  F.brush = null;
  J.update();
  const scroller = document.querySelector('.mx-scroll'), frames = [];
  for (let i = 0; i < 30; i++) { const from = performance.now(); scroller.scrollTop += 400;
    await new Promise((r) => requestAnimationFrame(r)); frames.push(performance.now() - from); }
  out.scroll = middle(frames);
  const opened = [];
  for (let i = 0; i < 5; i++) { const at = document.querySelectorAll('[data-at] .mx-cell')[i];
    const from = performance.now(); at.click(); document.body.offsetHeight;
    opened.push(performance.now() - from); await frame(); }
  out['open an item'] = middle(opened);
  return out; })()"""


def judgments(items: int, judges: int, repeats: int) -> pd.DataFrame:
    """Scores with a label, a question, an answer, and a different reply of 430 characters each."""
    rng = np.random.default_rng(1)
    n = items * judges * repeats
    item = np.repeat(np.arange(items), judges * repeats)
    quality = rng.uniform(1, 10, items)
    words = np.array([f"w{k}" for k in range(999)])
    names = np.char.add("judge-", np.tile(np.repeat(np.arange(judges), repeats), items).astype(str))
    score = np.clip(np.round(quality[item] + rng.normal(0, 1.5, n)), 1, 10)
    return pd.DataFrame({
        "condition": names, "judge": names, "item_id": np.char.add("item-", item.astype(str)),
        "cluster": np.char.add("q", (item // 4).astype(str)),
        "category": np.array([*"ABC"])[item % 3],
        "replicate": np.tile(np.arange(1, repeats + 1), items * judges), "stage": "final",
        "order": "", "status": "ok", "score": score, "choice": "",
        "label": np.where(quality[item] >= 6, "pass", "fail"),
        "raw_text": [" ".join(words[rng.integers(0, 999, 90)])[:430] for _ in range(n)],
        "question_text": np.char.add("Question ", (item // 4).astype(str)),
        "answer_text": np.char.add("Answer ", item.astype(str)),
    })  # fmt: skip


def measured(tab: Browser, folder: Path) -> list[tuple[str, str, float, int]]:
    """Data, what is measured, milliseconds, and the limit."""
    rows = []
    for case in CASES:
        frame = judgments(*case)
        n = f"{len(frame):,}"
        results = Results(experiment="made", question="?", results=(), title="Made up")
        data = view_payload(results, frame, cutoff=6.0, max_mb=50)[1]
        path = folder / "page.html"
        path.write_text(html_page(data), encoding="utf-8")
        name = f"{n} ({case[0]:,} items, {case[1]} × {case[2]}), {path.stat().st_size / 1e6:.1f} MB"
        ready = []
        for _ in range(TIMES):
            tab.open(path.as_uri())
            ready.append(float(tab.js("document.documentElement.dataset.ready")))
        found = {"ready": statistics.median(ready), **tab.js(SPEED)}
        for what, ms in found.items():
            limit = LIMITS.get(what, LIMITS.get(f"{what}, {n}", LIMITS["ready, 100,032"]
                                                if what == "ready" else LIMIT))  # fmt: skip
            rows.append((name, what, ms, limit))
    return rows


def main() -> None:
    """Measure, print, and with ``--write`` keep the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true")
    write = parser.parse_args().write
    if CHROMIUM is None:
        print(MISSING)
        return
    before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as work, Browser(Path(work) / "profile") as tab:
        rows = measured(tab, Path(work))
    load = f"load {before:.1f} before and {os.getloadavg()[0]:.1f} after"
    lines = [f"| {name} | {what} | {ms:.0f} | {limit} |" for name, what, ms, limit in rows]
    above = ["" if ms <= limit else "  above the limit" for _, _, ms, limit in rows]
    print(*map("".join, zip(lines, above, strict=True)), load, sep="\n")
    if write:
        text = (
            "<!-- generated by benchmarks/view.py -->\n\n# The interactive page\n\n"
            "`python benchmarks/view.py --write` makes this page. Medians of five in headless "
            f"Chromium, {os.cpu_count()} cores, {load}. Each judgment has a different reply of 430 "
            "characters. Ready: from the start of the script to the first painted matrix.\n\n"
            "| judgments | what | ms | at most |\n|---|---|---|---|\n" + "\n".join(lines) + "\n"
        )
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
