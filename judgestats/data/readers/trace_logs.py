"""Logs of MLflow and Label Studio."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from judgestats.data.readers import logs
from judgestats.data.readers.frame import failed, grade, unparsed_fields
from judgestats.data.readers.json_paths import json_list
from judgestats.errors import InputError
from judgestats.files.text import decode_json, number, text

_CALL_FAILED = ("invoke judge", "timed out", "timeout", "rate limit", "connection", "api error")
_META = "mlflow.assessment."
_RAW = "Raw output:"


def _fits(log: logs.Log) -> bool:
    if log.has("info") and isinstance(log.first["info"], dict):
        return "trace_id" in log.first["info"] or "request_id" in log.first["info"]
    return log.has("trace_id", "assessments")


def _read_log(log: logs.Log) -> pd.DataFrame:
    return trace_frame((r for _, r in log.records()), path=log.path, judge=log.judge)


def trace_frame(traces: Iterable[dict[str, Any]], *, path: Path, judge: str = "") -> pd.DataFrame:
    """Traces with assessments as judgments: what judges said, with human feedback as labels.

    Parameters
    ----------
    traces : iterable of dict
        As ``Trace.to_dict()`` gives them, or rows of ``search_traces``.
    path : Path
        For messages.
    judge : str
        The judge's name where an assessment does not name it.

    Returns
    -------
    DataFrame
        The parsed frame, not yet validated.
    """
    rows = logs.Rows(path)
    kept: list[tuple[dict[str, str], list[dict[str, Any]]]] = []
    judges: dict[str, str] = {}
    for trace in traces:
        info = logs.object_of(trace.get("info")) or trace
        assessments = [
            a
            for a in map(logs.object_of, json_list(info.get("assessments")) or [])
            if a.get("valid") is not False
            and (a.get("feedback") is not None or a.get("expectation"))
        ]
        for a in assessments:
            source = logs.object_of(a.get("source"))
            if text(source.get("source_type"), 20) in {"LLM_JUDGE", "AI_JUDGE"}:
                judges[_name(a)] = text(source.get("source_id"), 200)
        trace_id = text(info.get("trace_id") or info.get("request_id"), 100)
        asked, answered = _trace_texts(trace, info)
        cluster = logs.named_text(asked) or trace_id or "(no input)"
        item = f"{cluster}/{logs.digest(answered)[:8]}" if answered else cluster
        kept.append(({"trace_id": trace_id, "cluster": cluster, "item_id": item}, assessments))
    rules: set[str] = set()
    people: set[str] = set()
    for place, said in kept:
        labels = _labels(said)
        people |= set(labels)
        for a in said:
            kind = text(logs.object_of(a.get("source")).get("source_type"), 40)
            name = _name(a)
            if kind == "HUMAN" or a.get("feedback") is None:
                continue
            if name not in judges:
                rules.add(name)
                continue
            who = judges[name] or judge or name
            rows.add(**place, **_judged(a), judge=who, scorer=name, label=labels.get(name, ""))
    if judges and (unmatched := sorted(people - set(judges))):
        rows.note(
            f"Human feedback {', '.join(unmatched[:8])} labels no judgment. Labels are "
            f"human feedback under the name of a judge ({', '.join(sorted(judges)[:8])})."
        )
    left = sorted(rules - set(judges))
    if left:
        rows.note(
            "Scorers in code, and judges that failed every time, were left out: "
            f"{', '.join(left[:8])}."
        )
    return rows.frame()


def _name(assessment: Mapping[str, Any]) -> str:
    return text(assessment.get("assessment_name") or assessment.get("name"), 200)


def _trace_texts(trace: Mapping[str, Any], info: Mapping[str, Any]) -> tuple[str, str]:
    """What went in and what came out: from the root span, else from the trace's own record."""
    metadata = logs.object_of(info.get("trace_metadata"))
    spans = logs.list_of(logs.object_of(trace.get("data")).get("spans", trace.get("spans")))
    root = next((s for s in map(logs.object_of, spans) if not s.get("parent_span_id")), {})
    attributes = logs.object_of(root.get("attributes"))
    asked, answered = (
        attributes.get(f"mlflow.span{side}")
        or metadata.get(f"mlflow.trace{side}")
        or info.get(f"{name}_preview")
        or trace.get(name)
        for side, name in (("Inputs", "request"), ("Outputs", "response"))
    )
    return _plain(asked), _plain(answered)


def _plain(value: object) -> str:
    """Inputs as text: an object with one text is that text, any other is sorted JSON."""
    if isinstance(value, str):
        try:
            value = decode_json(value)
        except ValueError:
            return text(value)
    if isinstance(value, dict) and len(value) == 1 and isinstance(next(iter(value.values())), str):
        return text(next(iter(value.values())))
    if isinstance(value, dict):
        value = dict(sorted(value.items()))
    return text(value)


def _labels(assessments: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Human labels of a trace, by the name of what is judged."""
    labels: dict[str, str] = {}
    for a in assessments:
        if logs.object_of(a.get("source")).get("source_type") == "HUMAN" or a.get("expectation"):
            content = logs.object_of(a.get("feedback") or a.get("expectation")).get("value")
            labels[_name(a)] = _word(content)
    return labels


def _judged(assessment: Mapping[str, Any]) -> dict[str, Any]:
    """What a judge said of a trace, and what it cost."""
    metadata = logs.object_of(assessment.get("metadata"))
    rationale = text(assessment.get("rationale"))
    return {
        **_feedback(logs.object_of(assessment.get("feedback")), rationale),
        "raw_text": rationale,
        "explanation": rationale,
        "prompt_sha": text(metadata.get("judgestats.prompt_sha"), 40)
        or logs.digest(text(metadata.get("guideline"))),
        "tokens_in": number(metadata.get(f"{_META}judgeInputTokens")),
        "tokens_out": number(metadata.get(f"{_META}judgeOutputTokens")),
        "cost_usd": number(metadata.get(f"{_META}judgeCost")),
        "asked_at": text(assessment.get("create_time"), 40),
    }


def _word(value: object) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else text(value, 100)


def _feedback(feedback: Mapping[str, Any], rationale: str) -> dict[str, Any]:
    error = feedback.get("error")
    if error is not None and logs.is_missing(feedback.get("value")):
        content = logs.object_of(error)
        why = text(content.get("error_message") or content.get("error_code") or error, 300)
        if content.get("error_code") == "FAILED" or any(m in why.lower() for m in _CALL_FAILED):
            return failed(why)
        return unparsed_fields(rationale, f"MLflow could not read the reply: {why}")
    return grade(feedback.get("value"), raw=rationale)


def _fits_table(log: logs.Log) -> bool:
    columns = log.first.get("columns")
    return (
        log.kind == "json"
        and log.has("columns", "data")
        and isinstance(columns, list)
        and any(isinstance(c, str) and c.endswith("/score") for c in columns)
    )


def _read_table(log: logs.Log) -> pd.DataFrame:
    rows = logs.Rows(log.path)
    columns = [text(c, 300) for c in log.first["columns"]]
    data = log.first["data"]
    if not isinstance(data, list):
        raise InputError(f"{log.path}: data must be a list of rows.")
    metrics = [
        c.removesuffix("/score")
        for c in columns
        if c.endswith("/score") and f"{c.removesuffix('/score')}/justification" in columns
    ]
    if not metrics:
        raise InputError(
            f"{log.path}: no metric was graded by a model (a column NAME/score with "
            f"NAME/justification). The columns are {', '.join(columns[:20])}."
        )
    judge = log.judge
    if not judge:
        judge = "judge"
        rows.note("MLflow's evaluation table does not name the judge (--judge NAME does).")
    for i, row in enumerate(data):
        if not isinstance(row, list) or len(row) != len(columns):
            raise InputError(f"{log.path}, row {i}: expected {len(columns)} values.")
        row_values = dict(zip(columns, row, strict=True))
        for fields in _graded(row_values, metrics, i):
            rows.add(judge=judge, **fields)
    return rows.frame()


def _graded(words: Mapping[str, Any], metrics: list[str], i: int) -> Iterator[dict[str, Any]]:
    asked = next((_plain(words[c]) for c in ("inputs", "request", "question") if c in words), "")
    answered = next(
        (_plain(words[c]) for c in ("outputs", "predictions", "response") if c in words), ""
    )
    cluster = logs.named_text(asked) or f"row {i}"
    item = f"{cluster}/{logs.digest(answered)[:8]}" if answered and asked else cluster
    for metric in metrics:
        reply = text(words.get(f"{metric}/justification"))
        score = words.get(f"{metric}/score")
        why, mark, quoted = reply.partition(_RAW)
        raw = quoted.strip() if mark else reply
        if logs.is_missing(score) and "Failed to score model on payload" in reply:
            failure = failed(reply)
        elif logs.is_missing(score):
            failure = unparsed_fields(raw, why.strip() or "no score in the table")
        else:
            failure = grade(score, raw=raw)
        yield {
            **failure,
            "scorer": metric,
            "cluster": cluster,
            "item_id": item,
            "raw_text": raw,
            "explanation": reply,
            "author": text(words.get("model"), 200) if "model" in words else "",
        }


MLFLOW = logs.Reader(
    name="mlflow",
    layout="mlflow-traces",
    about="MLflow traces with assessments: Trace.to_json() a line, or rows of search_traces()",
    item="input / output; cluster: the input",
    roles={
        "item": ("info.trace_id",),
        "criterion": ("info.assessments[].assessment_name",),
        "rater_kind": ("info.assessments[].source.source_type",),
        "judge": ("info.assessments[].source.source_id",),
        "verdict": ("info.assessments[].feedback.value",),
    },
    fits=_fits,
    read=_read_log,
)
MLFLOW_TABLE = logs.Reader(
    name="mlflow-table",
    about="MLflow eval_results_table.json (columns NAME/score and NAME/justification)",
    item="input / output; cluster: the input",
    roles={"item": ("inputs", "outputs")},
    fits=_fits_table,
    read=_read_table,
)


_KINDS = ("rating", "number", "choices")


def _label_studio_fits(log: logs.Log) -> bool:
    return log.has("id", "data", "annotations") and isinstance(log.first["annotations"], list)


def _label_studio_read(log: logs.Log) -> pd.DataFrame:
    tasks = [record for _, record in log.records()]
    rows = logs.Rows(log.path)
    if not any(_objects(task.get("predictions")) for task in tasks):
        raise InputError(
            f"{log.path}: the export holds annotations of human raters and no predictions of a "
            "model, so there are no judge rows. Import the judge's verdicts as predictions, "
            "and export again."
        )
    lost: set[str] = set()
    for task in tasks:
        people = [a for a in _objects(task.get("annotations")) if not a.get("was_cancelled")]
        labels: dict[str, Counter[str]] = {}
        for annotation in people:
            for name, value in _values(annotation):
                labels.setdefault(name, Counter())[text(value, 100)] += 1
        item = text(task.get("id"), 200)
        lost |= set(labels)
        for result in _objects(task.get("predictions")):
            for name, value in _values(result):
                rows.add(
                    **grade(value),
                    judge=log.judge or text(result.get("model_version"), 200) or "model",
                    scorer=name,
                    item_id=item,
                    cluster=item,
                    label=_most(labels.get(name)),
                    asked_at=text(result.get("created_at"), 40),
                )
    if lost and not rows.holds("label"):
        rows.note(f"No human label has the name of a prediction: {', '.join(sorted(lost)[:8])}.")
    return rows.frame()


def _objects(value: object) -> list[dict[str, Any]]:
    return [v for v in logs.list_of(value) if isinstance(v, dict)]


def _values(words: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """What was rated or chosen, by the name of the control; other regions are not verdicts."""
    for result in _objects(words.get("result")):
        value = logs.object_of(result.get("value"))
        content = next((value[k] for k in _KINDS if k in value), None)
        if isinstance(content, list):
            content = content[0] if len(content) == 1 else None
        if content is not None:
            yield text(result.get("from_name"), 200), content


def _most(text: Counter[str] | None) -> str:
    """What most people said; empty where two things were said equally often."""
    if not text:
        return ""
    best = text.most_common(2)
    return "" if len(best) == 2 and best[0][1] == best[1][1] else best[0][0]


LABEL_STUDIO = logs.Reader(
    name="label-studio",
    about="Label Studio's JSON export: tasks with annotations (and predictions)",
    item="task",
    roles={
        "item": ("id",),
        "judge": ("predictions[].model_version",),
        "verdict": ("predictions[].result[].value",),
        "label": ("annotations[].result[].value",),
    },
    fits=_label_studio_fits,
    read=_label_studio_read,
)
