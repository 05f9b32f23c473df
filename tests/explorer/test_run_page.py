"""The page as an artifact of a run, and again from the run."""

from __future__ import annotations

import base64
import gzip
import json
import random
import re
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pandas as pd
import pytest

from judgestats.cli import main
from tests.explorer.conftest import judgments


def data_of(path: Path) -> dict[str, Any]:
    packed = re.search(r'octet-stream">([^<]+)<', path.read_text(encoding="utf-8"))
    assert packed is not None
    return dict(json.loads(gzip.decompress(base64.b64decode(packed[1]))))


@pytest.mark.parametrize("texts", ["on", "off"])
def test_a_run_holds_its_page_and_its_report_links_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], texts: str
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
    assert main([*again, "--max-mb", "0.01"]) == 2
    assert "but --max-mb is 0.01" in capsys.readouterr().err


def test_intervals_of_a_report_name_conditions_and_criteria_of_its_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rng = random.Random(3)
    rows = [
        {"item": f"i{i}", "judge": judge, "aspect": aspect, "wording": wording, "repeat": r,
         "score": min(10, max(1, i % 10 + 1 + rng.randint(-2, 2)))}
        for i in range(16) for judge in ("gpt", "gpt-2") for aspect in ("tone", "style")
        for wording in ("short", "long") for r in range(3)
    ]  # fmt: skip
    pd.DataFrame(rows).to_csv("my.csv", index=False)
    words = ["analyze", "my.csv", "--factor", "wording", "--track", "none", "--resamples", "99"]
    assert main([*words, "--report", "html"]) == 0
    [page] = Path("judgestats-reports").glob("*/explore.html")
    columns = data_of(page)["columns"]
    assert {c["condition"] for c in columns} == {"wording=short", "wording=long"}
    assert {c["criterion"] for c in columns} == {"tone", "style"}
    report = page.with_name("report.html").read_text(encoding="utf-8")
    links = [parse_qs(unescape(f)) for f in re.findall(r'href="explore\.html#([^"]*)"', report)]
    for role in ("judge", "condition", "criterion"):
        assert {w for link in links for w in link.get(role, [])} == {c[role] for c in columns}
    two = [link for link in links if len(link.get("condition", [])) == 2]
    assert any(link["judge"] == ["gpt"] and len(link["criterion"]) == 1 for link in two)
    care = json.loads(page.with_name("results.json").read_text(encoding="utf-8"))["care"]
    steps = [text for text in care if "suffice" in text or "No practical number" in text]
    assert len(steps) == 1
    assert re.search(r" \d more in the record\.$", steps[0])


def test_a_comparison_and_a_wrong_option_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["view", "none.csv", "--no-open"]) == 2
    assert main(["view", "none.csv", "--out", "-"]) == 2
    assert "--out - is not possible" in capsys.readouterr().err


def test_a_replication_offers_and_has_no_page_of_judgments(
    workplace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["run", "replicate", "--study", "schroeder2024", "--report", "html"]
    assert main(words) == 0
    assert "judgestats view" not in capsys.readouterr().out
    [report] = workplace.glob("mlruns/*/*/artifacts/report.html")
    run = report.parts[-3]
    assert main(["view", run, "--no-open"]) == 2
    assert f"{run} has no judgments (it holds a study's results)" in capsys.readouterr().err
