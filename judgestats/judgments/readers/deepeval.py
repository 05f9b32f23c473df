"""DeepEval test runs: each metric's score of each test case."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pandas as pd

from judgestats.judgments.readers.grades import failed, grade
from judgestats.judgments.readers.logs import Log, Reader, Rows, digest, named_text
from judgestats.judgments.readers.names import folded
from judgestats.judgments.readers.untrusted import number, text

_UNREADABLE = re.compile(r"(validation error|invalid json|jsondecode)", re.I)
"""Errors of replies that came and could not be read; others are failed calls."""


def _cases(document: object) -> list[dict[str, Any]]:
    """The test cases of a test run, of its cache, or of what ``evaluate`` returned."""
    if not isinstance(document, dict):
        return []
    run = document.get("testRunData", document)
    for name in ("testCases", "test_cases", "test_results", "testResults"):
        cases = run.get(name) if isinstance(run, dict) else None
        if isinstance(cases, list):
            return [_plain(c) for c in cases if isinstance(c, dict)]
    return []


def _plain(record: dict[str, Any]) -> dict[str, Any]:
    """Keys without case and underscores: DeepEval writes both forms."""
    return {folded(k): v for k, v in record.items()}


def _fits(log: Log) -> bool:
    return log.kind == "json" and any("metricsdata" in c for c in _cases(log.document)[:3])


def _read(log: Log) -> pd.DataFrame:
    rows = Rows(log.path)
    cases = _cases(log.document)
    judged = {_named(m) for case in cases for m in _metrics(case) if m.get("evaluationmodel")}
    rules = {_named(m) for case in cases for m in _metrics(case)} - judged if judged else set()
    if rules:
        rows.note(f"Metrics without a judge were left out: {', '.join(sorted(rules)[:8])}.")
    for i, case in enumerate(cases):
        asked = text(case.get("input"))
        answered = text(case.get("actualoutput"))
        cluster = named_text(asked) or text(case.get("name"), 200) or f"case {i}"
        for metric in _metrics(case):
            if _named(metric) in rules:
                continue
            why = text(metric.get("error"), 300)
            reply = text(metric.get("reason"))
            lost = failed if why and not _UNREADABLE.search(why) else None
            rows.add(
                **(lost(why) if lost and metric.get("score") is None
                   else grade(metric.get("score"), raw=reply or _reply(why), why=why)),
                judge=text(metric.get("evaluationmodel"), 200) or log.judge or "judge",
                scorer=_named(metric),
                cluster=cluster,
                item_id=f"{cluster}/{digest(answered)[:8]}" if answered else cluster,
                replicate=-1,
                explanation=reply,
                raw_text=_reply(why),
                cost_usd=number(metric.get("evaluationcost")),
            )  # fmt: skip
    return rows.frame(scale=(0.0, 1.0))


def _named(metric: dict[str, Any]) -> str:
    return text(metric.get("name"), 200)


def _reply(why: str) -> str:
    """What a reply that was no JSON began with, as the error quotes it."""
    quoted = re.search(r"input_value=(['\"])(.*?)\1, input_type", why, re.S)
    return quoted.group(2) if quoted else ""


def _metrics(case: dict[str, Any]) -> Iterator[dict[str, Any]]:
    listed = case.get("metricsdata")
    for metric in listed if isinstance(listed, list) else []:
        if isinstance(metric, dict):
            yield _plain(metric)


DEEPEVAL = Reader(
    name="deepeval",
    about="DeepEval test runs: testCases with metricsData (name, score, evaluationModel)",
    item="input / output; cluster: the input",
    fits=_fits,
    read=_read,
)
