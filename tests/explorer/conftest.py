"""Judgments made up with a seed, pages of them, and one browser for all tests of the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from judgestats.reporting.explorer import html_page, view_payload
from judgestats.results import Results
from tests.explorer.browser import CHROMIUM, MISSING, Browser

NOTHING = Results(experiment="made", question="?", results=(), title="Made up")


def judgments(
    seed: int = 1, *, n_items: int = 40, judges: tuple[str, ...] = ("ann", "bob", "cy"),
    repeats: int = 4, kind: str = "score", labels: str = "words", unparsed: float = 0.02,
    missing: float = 0.05,
) -> pd.DataFrame:  # fmt: skip
    """Judgments as a run keeps them: cells are missing, verdicts tie, replies are unparsed."""
    rng = np.random.default_rng(seed)
    words = ["pass", "fail"] if labels == "words" or kind == "choice" else []
    rows = []
    for i in range(n_items):
        quality = rng.uniform(1, 10)
        label = {
            "words": words[int(quality < 6)] if words else "", "none": "",
            "points": f"{round(quality)}",
        }[labels]  # fmt: skip
        for judge in judges:
            if rng.random() < missing:
                continue
            for r in range(repeats):
                score = float(np.clip(round(quality + rng.normal(0, 1.5)), 1, 10))
                bad = rng.random() < unparsed
                rows.append({
                    "condition": judge, "judge": judge, "item_id": f"q{i // 4}/a{i % 4}",
                    "cluster": f"q{i // 4}", "category": "ABC"[i % 3], "replicate": r + 1,
                    "stage": "final", "order": "", "status": "unparseable" if bad else "ok",
                    "score": score if kind == "score" and not bad else np.nan,
                    "choice": words[int(score < 6)] if kind == "choice" and not bad else "",
                    "label": label, "explanation": f"Reason {i} {r}" if r % 2 else "",
                    "raw_text": f'{{"score": {score}}}', "tokens_out": 12.0 + r,
                    "cost_usd": 1e-4 * r, "question_text": f"Question {i // 4}?\nSecond line",
                    "answer_text": f"**Answer** {i} of judge text",
                })  # fmt: skip
    return pd.DataFrame(rows)


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip(MISSING)
    with Browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Callable[..., Browser]:
    """Write the page of a frame, open it, and give the browser."""

    def write(frame: pd.DataFrame, fragment: str = "", **options: Any) -> Browser:
        options = {"cutoff": 6.0} | options if "score" in frame else options
        results = options.pop("results", NOTHING)
        path = tmp_path / f"page{len(list(tmp_path.iterdir()))}.html"
        path.write_text(html_page(view_payload(results, frame, **options)[1]), encoding="utf-8")
        browser.size(1280)
        browser.open(path.as_uri() + fragment)
        return browser

    return write
