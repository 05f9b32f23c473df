"""The documents on a re-examined study and on an audit of verdicts."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judgestats.analysis import supplemented
from judgestats.analysis.audit import audit
from judgestats.data import parsed_frame
from judgestats.reporting import load_run, render_report
from judgestats.reporting.sections import conditions, data
from judgestats.results import Estimate, Results, Test, read_results, write_results
from judgestats.results.change_screen import outcome_lines
from judgestats.runner import record as files
from judgestats.runner import session, write_json
from tests.reporting.record_numbers import faults


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two judges, both orders, three repetitions, people's labels, a few unread."""
    rng = np.random.default_rng(3)
    rows = []
    for judge, lean in (("steady", 0.05), ("first-lover", 0.4)):
        for i in range(30):
            truth = "a" if i % 2 else "b"
            for order in ("ab", "ba"):
                first = order[0]
                for r in range(3):
                    said = first if rng.random() < lean else truth
                    lost = i == 4 and r == 0
                    rows.append(
                        {
                            "judge": judge, "item_id": f"p{i}", "cluster": f"q{i // 2}",
                            "order": order, "replicate": r, "choice": "" if lost else said,
                            "label": truth, "status": "ambiguous" if lost else "ok",
                            "reason": "two verdicts" if lost else "",
                        }
                    )  # fmt: skip
    frame = parsed_frame(pd.DataFrame(rows))
    folder = tmp_path_factory.mktemp("verdicts")
    (folder / "data").mkdir()
    frame.to_parquet(folder / "data" / "judgments.parquet", index=False)
    analysis = supplemented(audit(frame, n_resamples=99), frame, level=0.95)
    write_json(folder / "session.json", session())
    about = {
        "kind": "audit", "title": "Audit of pairs", "simulated": False,
        "judges": [{"name": "steady", "model": "steady"}], "design": {"clusters": 15, "items": 30},
        "command": "judgestats analyze pairs.csv",
    }  # fmt: skip
    files.write_results(folder, analysis, about)
    return folder


def text_of(page: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", re.sub(r"base64,[\w+/=]+", "", page)))


def test_audit_of_verdicts(verdicts: Path, tmp_path: Path) -> None:
    made = render_report(
        verdicts, to=("html", "pdf"), out_dir=tmp_path, renderer="builtin", detail="full"
    )
    text = text_of(made["html"].read_text())
    for part in (
        "Order consistency", "Agreement with humans", "Unparsed, of replies",
        "unparsed as a category", "ambiguous", "two verdicts", "Consistency is not validity",
        "judgestats analyze pairs.csv",
    ):  # fmt: skip
        assert part in text or part in made["html"].read_text(), part
    assert "SIMULATED" not in text
    assert made["pdf"].stat().st_size > 20_000


def test_the_brief_audit_keeps_to_its_records(verdicts: Path, tmp_path: Path) -> None:
    made = render_report(verdicts, to=("html",), out_dir=tmp_path, renderer="builtin")
    found = read_results(verdicts / "results.json")
    assert faults(made["html"], found) == []
    page = text_of(made["html"].read_text())
    assert outcome_lines(found)[0].partition("  ")[0] in page


def test_a_full_report_has_the_null_values_of_verdicts(verdicts: Path) -> None:
    run = load_run(verdicts)
    tables = data.descriptives(run)
    said = [c.label for table in tables for c in table.columns] + [t.note for t in tables]
    nulls = {r.id.split(".")[1] for r in run.records.select(Estimate) if r.null is not None}
    assert {"kappa", "flip_rate", "fleiss_kappa"} <= nulls
    for key in ("kappa", "flip_rate", "fleiss_kappa"):
        assert any(f"{conditions.heading(key)}: null 95th percentile" in text for text in said)


def test_replication(run_folder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    folder.mkdir()
    results = read_results(run_folder / "results.json")
    tests = [r for r in results.select(Test, top=True) if r.id.startswith("spread.")]
    kept = [
        replace(
            test,
            id=f"grows.{'then' if i == 2 else 'now'}.{i}",
            family="",
            effects=(),
            p_adjusted=math.nan,
            role="replicated" if i == 2 else "primary",
        )
        for i, test in enumerate([*tests, tests[0]])
    ]
    facts = {
        "simulated": False,
        "claims": [
            {"id": "grows", "claim": "Spread grows <b>", "published": "p < .0001",
             "test_then": "Spearman", "test_now": "blocked F", "verdict": "stands",
             "because": "F is large", "reproduced": "rho = .5"},
            {"id": "none", "claim": "No difference", "published": "p > .1", "test_then": "?",
             "test_now": "TOST", "verdict": "not examined", "because": "No data: x."},
        ],
    }  # fmt: skip
    study = Results(
        kind="replication", results=tuple(kept), title="A study", facts=facts,
        experiment="replicate study", question="?",
    )  # fmt: skip
    write_results(folder / "results.json", study)
    made = render_report(
        folder, to=("html", "pdf"), out_dir=tmp_path, renderer="builtin", detail="full"
    )
    brief = render_report(folder, to=("html",), out_dir=tmp_path / "b", renderer="builtin")
    assert faults(brief["html"], read_results(folder / "results.json")) == []
    text = text_of(made["html"].read_text())
    for part in (
        "Spread grows &lt;b&gt;", "The study's test: Spearman", "Holds. F is large",
        "Not examined. No data", "Required tests", "The study's own tests, reproduced",
    ):  # fmt: skip
        assert part.replace("'", "’") in text or part in text, part
