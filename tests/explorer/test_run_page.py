"""The page as an artifact of a run, and again from the run."""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from judgestats.cli import main
from tests.explorer.conftest import judgments


def data_of(path: Path) -> dict[str, Any]:
    packed = re.search(r'octet-stream">([^<]+)<', path.read_text(encoding="utf-8"))
    assert packed is not None
    return dict(json.loads(gzip.decompress(base64.b64decode(packed[1]))))


@pytest.mark.parametrize("texts", ["on", "off"])
def test_a_run_holds_its_page_and_its_report_links_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, texts: str
) -> None:
    monkeypatch.chdir(tmp_path)
    frame = judgments(15, n_items=24, repeats=3, labels="points")
    kept = {"item_id": "item", "judge": "judge", "replicate": "trial", "score": "score",
            "label": "human_score", "explanation": "explanation", "raw_text": "reply",
            "question_text": "question", "answer_text": "answer"}  # fmt: skip
    frame[list(kept)].rename(columns=kept).to_csv("my.csv", index=False)
    words = ["analyze", "my.csv", "--track", "none", "--report", "html", "--resamples", "99"]
    assert main([*words, "--texts", texts]) == 0
    [page] = Path("judgestats-reports").glob("*/explore.html")
    assert 'href="explore.html"' in page.with_name("report.html").read_text(encoding="utf-8")
    made = data_of(page)
    assert made["meta"]["numeric"] is True
    assert bool(made["items"]["texts"]) is (texts == "on")
    assert ("explanation" in made["judgments"]) is (texts == "on")
    verdicts = json.loads(page.with_name("verdict.json").read_text(encoding="utf-8"))["verdicts"]
    own = [
        {k: v for k, v in shown.items() if k in verdicts[0]} for shown in made["record"]["verdicts"]
    ]
    for shown, written in zip(own, verdicts, strict=True):
        assert {**shown, "requirements": None} == {**written, "requirements": None}
    again = ["view", str(page.parent), "--no-open", "--texts", texts]
    assert main([*again, "--out", "again.html"]) == 0
    assert Path("again.html").read_bytes() == page.read_bytes()


def test_a_comparison_and_a_wrong_option_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["view", "none.csv", "--no-open"]) == 2
    assert main(["view", "none.csv", "--out", "-"]) == 2
    assert "--out - is not possible" in capsys.readouterr().err
    assert main(["view", "none.csv", "--max-mb", "0"]) == 2
    assert "--max-mb must be above 0" in capsys.readouterr().err


def test_a_replication_offers_and_has_no_page_of_judgments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["run", "replicate", "--study", "llmbar", "--report", "html"]
    assert main(words) == 0
    assert "judgestats view" not in capsys.readouterr().out
    [report] = Path("mlruns").glob("*/*/artifacts/report.html")
    run = report.parts[-3]
    assert main(["view", run, "--no-open"]) == 2
    assert f"{run} has no judgments (it holds a study's results)" in capsys.readouterr().err
