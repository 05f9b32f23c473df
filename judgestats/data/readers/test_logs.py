"""Logs of test frameworks: DeepEval, ragas, judgekeeper, lm-evaluation-harness."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from judgestats.data.readers.columns import folded, names_id
from judgestats.data.readers.frame import failed, grade, unparsed_fields
from judgestats.data.readers.layout import NO_VERDICT
from judgestats.data.readers.logs import Log, Reader, Rows, digest, list_of, named_text, object_of
from judgestats.data.readers.options import TableOptions
from judgestats.data.readers.roles import counts_or_measures
from judgestats.data.verdict_kinds import numbers_of
from judgestats.errors import InputError
from judgestats.files.guarded import Limits, json_document, records
from judgestats.files.text import number, text


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


def _read_log(log: Log) -> pd.DataFrame:
    rows = Rows(log.path)
    cases = _cases(log.document)
    metrics = [m for case in cases for m in _metrics(case)]
    judged = {_metric_name(m) for m in metrics if m.get("evaluationmodel")}
    rules = {_metric_name(m) for m in metrics} - judged if judged else set()
    if rules:
        rows.note(f"Metrics without a judge were left out: {', '.join(sorted(rules)[:8])}.")
    for i, case in enumerate(cases):
        names = [_metric_name(m) for m in _metrics(case)]
        if len(names) > 1 and "" in names:
            raise InputError(f"{log.path}: a metric of test case {i} has no name. Fill it in.")
        asked = text(case.get("input"))
        answered = text(case.get("actualoutput"))
        cluster = named_text(asked) or text(case.get("name"), 200) or f"case {i}"
        for metric in _metrics(case):
            if _metric_name(metric) in rules:
                continue
            why = text(metric.get("error"), 300)
            reply = text(metric.get("reason"))
            lost = why and metric.get("score") is None and not _reply(why)
            rows.add(
                **(failed(why) if lost
                   else grade(metric.get("score"), raw=reply or _reply(why), why=why)),
                judge=text(metric.get("evaluationmodel"), 200) or log.judge or "judge",
                scorer=_metric_name(metric),
                cluster=cluster,
                item_id=f"{cluster}/{digest(answered)[:8]}" if answered else cluster,
                explanation=reply,
                raw_text=_reply(why),
                cost_usd=number(metric.get("evaluationcost")),
            )  # fmt: skip
    return rows.frame(scale=(0.0, 1.0))


def _metric_name(metric: dict[str, Any]) -> str:
    return text(metric.get("name"), 200)


def _reply(why: str) -> str:
    """What a reply that was no JSON began with, as the error quotes it."""
    quoted = re.search(r"input_value=(['\"])(.*?)\1, input_type", why, re.S)
    return quoted.group(2) if quoted else ""


def _metrics(case: dict[str, Any]) -> list[dict[str, Any]]:
    return [_plain(m) for m in list_of(case.get("metricsdata")) if isinstance(m, dict)]


DEEPEVAL = Reader(
    name="deepeval",
    about="DeepEval test runs: testCases with metricsData (name, score, evaluationModel)",
    item="input / output; cluster: the input",
    roles={
        "item": ("testCases[].input", "testCases[].actualOutput"),
        "criterion": ("testCases[].metricsData[].name",),
        "verdict": ("testCases[].metricsData[].score",),
        "judge": ("testCases[].metricsData[].evaluationModel",),
    },
    fits=_fits,
    read=_read_log,
)


_PAIRS = (("user_input", "response"), ("question", "answer", "contexts"))
"""Columns of ragas, and of its versions before 0.2."""


def ragas_options(table: pd.DataFrame, options: TableOptions) -> TableOptions:
    """Options for results of ragas: metrics are criteria, question and response form the item.

    Parameters
    ----------
    table : DataFrame
    options : TableOptions
        Returned as they are where they say something of the kind, or the table is no such thing.

    Returns
    -------
    TableOptions

    Examples
    --------
    >>> rows = pd.DataFrame({"user_input": ["?"], "response": ["!"], "faithfulness": [0.5]})
    >>> ragas_options(rows, TableOptions()).wide
    ('criterion=faithfulness',)
    """
    held = next((own for own in _PAIRS if set(own) <= set(table.columns)), None)
    if held is None or options.has_table_options:
        return options
    metrics = [str(c) for c in table.columns if c not in held and _is_metric(str(c), table[c])]
    if not metrics:
        return options
    return replace(options, item=held[:2], wide=(f"criterion={','.join(metrics)}",))


def _is_metric(name: str, column: pd.Series) -> bool:
    """Whether a column holds the scores of a metric, rather than a count, an id or a constant."""
    given = numbers_of(column[column.notna() & (column.astype(str) != "")].tolist())
    known = names_id(name) or counts_or_measures(name) or NO_VERDICT.search(name)
    if known or not len(given) or pd.isna(given).any():
        return False
    distinct = len(set(given))
    is_index = distinct == len(column) > 1 and (given % 1 == 0).all()
    return not is_index and (distinct > 1 or bool(0 <= given[0] <= 1))


def _judgekeeper_fits(log: Log) -> bool:
    is_header = log.first.get("type") == "header" and log.has("fingerprint", "run")
    return log.kind == "jsonl" and is_header


def _verdict(value: object, score: object, text: str, error: str) -> dict[str, Any]:
    if value == "error" or error:
        return unparsed_fields(text, error or "no verdict") if text else failed(error)
    score_value = number(score)
    return grade(value, raw=text) if math.isnan(score_value) else grade(score_value)


def _judgekeeper_read(log: Log) -> pd.DataFrame:
    rows = Rows(log.path)
    anchors = _anchors(log.path, rows)
    run = number(log.first.get("run"))
    about = object_of(log.first.get("fingerprint"))
    for _, record in log.records():
        if record.get("type") != "judgment":
            continue
        item = text(record.get("id"), 300)
        anchor = anchors.get(item, {})
        own = {**about, **object_of(record.get("fingerprint"))}
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
    return rows.frame()


def _anchors(path: Path, rows: Rows) -> dict[str, dict[str, str]]:
    """Human labels, from the anchors file in the same folder or the one above."""
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
    rows.note("There is no anchors.jsonl next to the run or above it: no human labels are known.")
    return {}


def _read_records(log: Log) -> pd.DataFrame:
    rows = Rows(log.path)
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
        about = object_of(record.get("evaluator"))
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
    return rows.frame()


JUDGEKEEPER = Reader(
    name="judgekeeper",
    about="judgekeeper run-NN.jsonl, or a folder of them (labels from anchors.jsonl)",
    item="its id",
    roles={"item": ("id",), "verdict": ("label",)},
    fits=_judgekeeper_fits,
    read=_judgekeeper_read,
)
JUDGEKEEPER_RECORDS = Reader(
    name="judgekeeper-records",
    about="judgekeeper's exported records.jsonl (target_id, annotator_kind, label)",
    item="its id",
    roles={"item": ("target_id",), "rater_kind": ("annotator_kind",), "verdict": ("label",)},
    fits=lambda log: log.kind == "jsonl" and log.has("target_id", "annotator_kind", "label"),
    read=_read_records,
)


_RESULTS = 50_000_000


def _lm_eval_read(log: Log) -> pd.DataFrame:
    about = _results(log.path)
    arguments = object_of(object_of(about.get("config")).get("model_args"))
    judge = log.judge or text(about.get("model_name") or arguments.get("model"), 200)
    rows = Rows(log.path)
    if not judge:
        judge = log.path.resolve().parent.name or "model"
        rows.note(
            f"There is no results_*.json next to {log.path.name}, so the judge is named after its "
            f"folder: {judge!r} (--judge NAME says otherwise)."
        )
    task = _task(log.path, about)
    for where, record in log.records():
        _add(rows, where, record, judge, task)
    # Filters read one reply in several ways: conditions that are compared, no criteria.
    return rows.frame().drop(columns="criterion", errors="ignore")


def _task(path: Path, about: dict[str, Any]) -> str:
    """The task, from the file's name; among the results' tasks where they are known."""
    name = path.name.removesuffix(".gz").removesuffix(".jsonl").removeprefix("samples_")
    fitting = [t for t in object_of(about.get("configs")) if name.startswith(text(t))]
    if fitting:
        return text(max(fitting, key=len))
    return name.rsplit("_", 1)[0] if "T" in name.rsplit("_", 1)[-1] else name


def _results(path: Path) -> dict[str, Any]:
    """The results file of the same run, next to the samples; empty where there is none."""
    stamp = path.name.removesuffix(".gz").removesuffix(".jsonl").rsplit("_", 1)[-1]
    beside = path.parent / f"results_{stamp}.json"
    if not beside.is_file() or beside.is_symlink():
        return {}
    try:
        document = json_document(beside, limits=Limits(document_bytes=_RESULTS))
    except InputError:
        return {}  # the samples stand by themselves; without it the judge is named by the folder
    return object_of(document)


def _temperature(record: dict[str, Any]) -> float:
    asked = record.get("arguments")
    try:
        options = asked["gen_args_0"]["arg_1"]  # type: ignore[index]
        temperature = number(options.get("temperature"))
        greedy = math.isnan(temperature) and options.get("do_sample") is False
    except (KeyError, TypeError, AttributeError, IndexError):
        return math.nan
    return 0.0 if greedy else temperature


def _add(rows: Rows, where: str, record: dict[str, Any], judge: str, task: str) -> None:
    kept, responses = record.get("filtered_resps"), record.get("resps")
    if not isinstance(kept, list) or not isinstance(responses, list):
        raise InputError(f"{rows.path}, {where}: resps and filtered_resps must be lists.")
    doc = object_of(record.get("doc"))
    item = text(record.get("doc_id"), 100)
    cluster = next(
        (text(doc[k], 300) for k in ("question_id", "cluster", "id") if k in doc and doc[k] != ""),
        item,
    )
    common: dict[str, Any] = {
        "judge": judge,
        "task": task,
        "item_id": item,
        "cluster": cluster,
        "category": text(doc.get("category"), 200),
        "scorer": text(record.get("filter"), 200),
        "label": text(record.get("target"), 200),
        "temperature": _temperature(record),
        "author": text(doc.get("model"), 200),
    }
    ranked = _ranked(kept)
    if ranked is not None:
        target = common["label"]
        common["label"] = f"option {target}" if target.isdecimal() else target
        rows.add(**common, **grade(f"option {ranked}"), raw_text=text(kept))
        rows.note(
            "Multiple choice by log-likelihood: the choice is the number (from 0) of the likeliest "
            "option, without normalisation for length."
        )
        return
    raw = responses[0] if responses and isinstance(responses[0], list) else responses
    first = kept[0] if kept else None
    verdicts = first if isinstance(first, list) else [first]
    if len(verdicts) < len(raw):
        rows.note(
            f"The filter {common['scorer']!r} keeps one verdict of {len(raw)} replies: the "
            "repetitions are not read. Add a filter that ends without take_first (docs/readers.md)."
        )
    for i, verdict in enumerate(verdicts):
        reply = text(raw[i]) if i < len(raw) else ""
        # A longer reply that no filter has shortened holds no verdict.
        plain = verdict if isinstance(verdict, (str, int, float)) else None
        rows.add(
            **common,
            **grade(plain, raw=reply, why="the filter found no verdict in the reply"),
            replicate=i,
            raw_text=reply,
        )


def _ranked(kept: list[Any]) -> int | None:
    """The likeliest option, where the responses are (log-likelihood, greedy) pairs."""
    pairs = [
        p
        for p in kept
        if isinstance(p, list)
        and len(p) == 2
        and isinstance(p[1], (bool, str))
        and not isinstance(p[0], str)
    ]
    if len(kept) < 2 or len(pairs) < len(kept):
        return None
    values = [number(p[0]) for p in pairs]
    if any(math.isnan(v) for v in values):
        return None
    return max(range(len(values)), key=values.__getitem__)


LM_EVAL = Reader(
    name="lm-eval",
    about="lm-evaluation-harness samples_*.jsonl: doc_id, doc, resps, filtered_resps (with "
    "results_*.json next to it)",
    item="document; cluster: its question_id or id",
    roles={
        "item": ("doc_id",),
        "repeat": ("filtered_resps[][]",),
        "verdict": ("filtered_resps[][]",),
    },
    fits=lambda log: log.has("doc_id", "doc", "resps", "filtered_resps"),
    read=_lm_eval_read,
)
