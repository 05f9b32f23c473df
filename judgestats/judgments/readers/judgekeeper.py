"""judgekeeper's run files (``run-NN.jsonl``, labels in ``anchors.jsonl``) and exported records."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pandas as pd

from judgestats.errors import InputError
from judgestats.judgments.readers.grades import failed, grade, unread
from judgestats.judgments.readers.logs import Log, Reader, Rows
from judgestats.judgments.readers.untrusted import number, records, text


def _fits(log: Log) -> bool:
    is_header = log.first.get("type") == "header" and log.has("fingerprint", "run")
    return log.kind == "jsonl" and is_header


def _fits_records(log: Log) -> bool:
    return log.kind == "jsonl" and log.has("target_id", "annotator_kind", "label")


def _read(log: Log) -> pd.DataFrame:
    rows = Rows(log.path)
    _run(log, rows)
    return rows.frame()


def _read_records(log: Log) -> pd.DataFrame:
    rows = Rows(log.path)
    _exported(log, rows)
    return rows.frame()


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _verdict(value: object, score: object, text: str, error: str) -> dict[str, Any]:
    if value == "error" or error:
        return unread(text, error or "no verdict") if text else failed(error)
    score_value = number(score)
    return grade(value, raw=text) if math.isnan(score_value) else grade(score_value)


def _run(log: Log, rows: Rows) -> None:
    anchors = _anchors(log.path, rows)
    run = number(log.first.get("run"))
    about = _object(log.first.get("fingerprint"))
    for _, record in log.records():
        if record.get("type") != "judgment":
            continue
        item = text(record.get("id"), 300)
        anchor = anchors.get(item, {})
        own = {**about, **_object(record.get("fingerprint"))}
        common: dict[str, Any] = {
            "judge": text(own.get("model"), 200) or log.judge or "judge",
            "temperature": number(own.get("temperature")),
            "model_reported": text(own.get("snapshot"), 200),
            "prompt_sha": text(own.get("prompt_hash"), 12),
            "asked_at": text(own.get("created_at"), 40),
            "item_id": item,
            "cluster": anchor.get("cluster", "") or item,
            "category": anchor.get("category", ""),
            "label": anchor.get("label", ""),
            "replicate": int(run) - 1 if 1 <= run < 1e9 else -1,
        }
        pair = "verdict_ba" in record
        for suffix, order in (("", "ab"), ("_ba", "ba"))[: 2 if pair else 1]:
            reply = text(record.get(f"rationale{suffix}"))
            rows.add(
                **common,
                **_verdict(
                    record.get(f"verdict{suffix}"),
                    record.get(f"raw_score{suffix}"),
                    reply,
                    text(record.get(f"error{suffix}"), 300),
                ),
                order=order if pair else "",
                raw_text=reply,
                explanation=reply,
            )


def _anchors(path: Path, rows: Rows) -> dict[str, dict[str, str]]:
    """People's labels, from the anchors file in the same folder or the one above."""
    for folder in (path.parent, path.resolve().parent.parent):
        file = folder / "anchors.jsonl"
        if file.is_file() and not file.is_symlink():
            return {
                text(r.get("id"), 300): {
                    "label": text(r.get("human_label"), 100),
                    "cluster": text(r.get("cluster") or r.get("id"), 300),
                    "category": text(r.get("slice"), 200),
                }
                for _, r in records(file)
            }
    rows.note(
        "There is no anchors.jsonl beside the run or above it: no labels of people are known."
    )
    return {}


def _exported(log: Log, rows: Rows) -> None:
    kept: list[dict[str, Any]] = []
    people: dict[str, str] = {}
    for where, record in log.records():
        kind = text(record.get("annotator_kind"), 20).upper()
        if kind == "HUMAN":
            people[text(record.get("target_id"), 300)] = text(record.get("label"), 100)
        elif kind in {"LLM", "CODE"}:
            kept.append(record)
        else:
            raise InputError(
                f"{log.path}, {where}: annotator_kind is {kind!r}, not HUMAN, LLM or CODE."
            )
    names = {text(r.get("name"), 300) for r in kept}
    for record in kept:
        item = text(record.get("target_id"), 300)
        about = _object(record.get("evaluator"))
        run = number(record.get("run"))
        reply = text(record.get("explanation"))
        rows.add(
            **_verdict(record.get("label"), record.get("score"), reply, ""),
            judge=text(about.get("model"), 200) or log.judge or text(record.get("name"), 200),
            scorer=text(record.get("name"), 300) if len(names) > 1 else "",
            temperature=number(about.get("temperature")),
            prompt_sha=text(about.get("prompt_hash"), 12),
            item_id=item,
            cluster=item,
            label=people.get(item, ""),
            replicate=int(run) - 1 if 1 <= run < 1e9 else -1,
            raw_text=reply,
            explanation=reply,
            asked_at=text(record.get("created_at"), 40),
        )


JUDGEKEEPER = Reader(
    name="judgekeeper",
    about="judgekeeper run-NN.jsonl, or a folder of them (labels from anchors.jsonl)",
    item="its id",
    fits=_fits,
    read=_read,
)
JUDGEKEEPER_RECORDS = Reader(
    name="judgekeeper-records",
    about="judgekeeper's exported records.jsonl (target_id, annotator_kind, label)",
    item="its id",
    fits=_fits_records,
    read=_read_records,
)
