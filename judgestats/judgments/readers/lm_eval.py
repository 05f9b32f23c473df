"""lm-evaluation-harness samples of a task in which the model under evaluation is the judge."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pandas as pd

from judgestats.errors import InputError
from judgestats.judgments.readers.grades import grade
from judgestats.judgments.readers.logs import Log, Reader, Rows
from judgestats.judgments.readers.untrusted import json_document, number, text

_RESULTS = 50_000_000


def _fits(log: Log) -> bool:
    return log.has("doc_id", "doc", "resps", "filtered_resps")


def _read(log: Log) -> pd.DataFrame:
    about = _results(log.path)
    judge = log.judge or _model(about)
    rows = Rows(log.path)
    if not judge:
        judge = log.path.resolve().parent.name or "model"
        rows.note(
            f"There is no results_*.json beside {log.path.name}, so the judge is named after its "
            f"folder: {judge!r} (--judge NAME says otherwise)."
        )
    task = _task(log.path, about)
    for where, record in log.records():
        _add(rows, where, record, judge, task)
    return rows.frame()


def _task(path: Path, about: dict[str, Any]) -> str:
    """The task, from the file's name; among the results' tasks where they are known."""
    name = path.name.removesuffix(".gz").removesuffix(".jsonl").removeprefix("samples_")
    configs = about.get("configs")
    if isinstance(configs, dict):
        fitting = [t for t in configs if name.startswith(text(t))]
        if fitting:
            return text(max(fitting, key=len))
    return name.rsplit("_", 1)[0] if "T" in name.rsplit("_", 1)[-1] else name


def _results(path: Path) -> dict[str, Any]:
    """The results file of the same run, beside the samples; empty where there is none."""
    stamp = path.name.removesuffix(".gz").removesuffix(".jsonl").rsplit("_", 1)[-1]
    beside = path.parent / f"results_{stamp}.json"
    if not beside.is_file() or beside.is_symlink():
        return {}
    try:
        document = json_document(beside, most=_RESULTS)
    except InputError:
        return {}  # the samples stand by themselves; without it the judge is named by the folder
    return document if isinstance(document, dict) else {}


def _model(about: dict[str, Any]) -> str:
    name = about.get("model_name")
    if not name:
        config = about.get("config")
        arguments = config.get("model_args") if isinstance(config, dict) else None
        name = arguments.get("model") if isinstance(arguments, dict) else None
    return text(name, 200)


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
    doc = record.get("doc")
    doc = doc if isinstance(doc, dict) else {}
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
        "answerer": text(doc.get("model"), 200),
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
        rows.add(
            **common,
            **grade(_plain(verdict), raw=reply, why="the filter found no verdict in the reply"),
            replicate=i,
            raw_text=reply,
        )


def _plain(verdict: object) -> object:
    """A verdict; a longer reply that no filter has cut down is none."""
    return verdict if isinstance(verdict, (str, int, float, bool)) else None


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
    "results_*.json beside)",
    item="document; cluster: its question_id or id",
    fits=_fits,
    read=_read,
)
