"""Trim what the tools wrote to committed fixtures: no addresses, paths or names, and fewer bytes.

`python trim.py RUNS FIXTURES`, with Inspect's interpreter (its zip archives are zstandard-compressed).
RUNS holds what the other scripts of this folder left behind (see README.md). The forms stay as the tools
write them; only strings are replaced, traces of other programs cut, and calls' HTTP records dropped.
"""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import sys
import zipfile
from pathlib import Path

import zipfile_zstd  # noqa: F401  (teaches zipfile method 93)

RULES = [
    (re.compile(r"https?://(?:127\.0\.0\.1|localhost):\d+"), "http://judge.invalid"),
    (re.compile(r"(?<![\w:/])/(?:work|root|home|tmp|usr)/[\w./~-]*"), "PATH"),
]
DROP = {
    "call",
    "http",
    "stack_trace",
    "traceback",
    "traceback_ansi",
    "git",
    "pretty_env_info",
    "revision",
    "attachments_http",
}
NAMES = {
    "mlflow.user": "user",
    "mlflow.source.name": "script.py",
    "mlflow.artifactLocation": "artifacts",
}


def clean(value, keep_http=False):
    """A value with its strings scrubbed and heavy keys gone."""
    if isinstance(value, str):
        for pattern, instead in RULES:
            value = pattern.sub(instead, value)
        return value
    if isinstance(value, list):
        return [clean(v, keep_http) for v in value]
    if isinstance(value, dict):
        out = {}
        for key, inner in value.items():
            if key == "http" and keep_http and isinstance(inner, dict):
                out[key] = {"status": inner.get("status"), "statusText": inner.get("statusText")}
            elif key in NAMES:
                out[key] = NAMES[key]
            elif key not in DROP:
                out[key] = clean(inner, keep_http)
        return out
    return value


def inspect_sample(sample):
    """A sample without the events that no grader made."""
    kept = ("span_begin", "span_end", "model", "score")
    sample["events"] = [e for e in sample.get("events", []) if e["event"] in kept]
    sample["attachments"] = {}
    return clean(sample)


def lines(source: Path, target: Path, change=clean, rows=slice(None)):
    """A JSON lines file."""
    kept = source.read_text().splitlines()[rows]
    target.write_text("".join(json.dumps(change(json.loads(x))) + "\n" for x in kept))


def main(runs: Path, out: Path) -> None:
    """Write all fixtures."""
    for name in (
        "inspect",
        "promptfoo",
        "mlflow",
        "lm_eval",
        "alpaca_eval",
        "fastchat",
        "judgekeeper",
        "deepeval",
        "ragas",
    ):
        shutil.rmtree(out / name, ignore_errors=True)
        (out / name).mkdir(parents=True)
    (source,) = (runs / "readers-inspect" / "run" / "logs-eval-model-x").glob("*.eval")
    with (
        zipfile.ZipFile(source) as old,
        zipfile.ZipFile(out / "inspect" / "model-x.eval", "w", zipfile.ZIP_ZSTANDARD) as new,
    ):
        for info in old.infolist():
            value = json.loads(old.read(info))
            value = inspect_sample(value) if info.filename.startswith("samples/") else clean(value)
            new.writestr(
                zipfile.ZipInfo(info.filename, (2026, 11, 22, 0, 0, 0)),
                json.dumps(value),
                zipfile.ZIP_ZSTANDARD,
            )
    (source,) = (runs / "readers-inspect" / "run" / "logs-json-model-y").glob("*.json")
    value = json.loads(source.read_text())
    value["samples"] = [inspect_sample(s) for s in value["samples"]]
    (out / "inspect" / "model-y.json").write_text(json.dumps(clean(value)))

    promptfoo = runs / "readers-promptfoo" / "run"
    value = clean(json.loads((promptfoo / "out.json").read_text()), keep_http=True)
    (out / "promptfoo" / "results.json").write_text(json.dumps(value))
    with (
        sqlite3.connect(promptfoo / "cfg" / "promptfoo.db") as old,
        sqlite3.connect(out / "promptfoo" / "promptfoo.db") as new,
    ):
        for table in ("evals", "eval_results"):
            schema = old.execute(
                "SELECT sql FROM sqlite_master WHERE type='table' AND name=?", (table,)
            ).fetchone()[0]
            new.execute(schema)
            cursor = old.execute(f"SELECT * FROM {table}")
            for row in cursor:
                kept = [
                    json.dumps(clean(json.loads(v), keep_http=True))
                    if isinstance(v, str) and v[:1] in "{["
                    else clean(v)
                    for v in row
                ]
                new.execute(f"INSERT INTO {table} VALUES ({','.join('?' * len(kept))})", kept)
        new.commit()
        new.execute("VACUUM")

    mlflow = runs / "readers-mlflow" / "run"
    lines(mlflow / "traces.jsonl", out / "mlflow" / "traces.jsonl")
    for name in ("eval_results_table.json",):
        (out / "mlflow" / name).write_text(
            json.dumps(clean(json.loads((mlflow / name).read_text())))
        )
    table = json.loads((mlflow / "traces_table.json").read_text())
    for row in table:
        row.pop("trace", None)
        row.pop("spans", None)
    (out / "mlflow" / "traces_table.json").write_text(json.dumps(clean(table)))

    for source in (runs / "readers-lmeval" / "run" / "out").rglob("*.json*"):
        target = out / "lm_eval" / source.name
        if source.suffix == ".json":
            target.write_text(json.dumps(clean(json.loads(source.read_text()))))
        else:
            lines(source, target)
    value = clean(json.loads((runs / "readers-alpaca" / "run" / "annotations.json").read_text()))
    (out / "alpaca_eval" / "annotations.json").write_text(json.dumps(value, indent=1))
    for source in (runs / "readers-fschat" / "run").glob("*.jsonl"):
        lines(source, out / "fastchat" / source.name)
    keeper = runs / "readers-jk" / "run"
    (out / "judgekeeper" / "runs").mkdir()
    lines(keeper / "anchors.jsonl", out / "judgekeeper" / "anchors.jsonl")
    lines(keeper / "records.jsonl", out / "judgekeeper" / "records.jsonl")
    for source in (keeper / "runs").glob("*.jsonl"):
        lines(source, out / "judgekeeper" / "runs" / source.name)
    python_tools(runs, out)


def python_tools(runs: Path, out: Path) -> None:
    """What DeepEval and ragas left behind."""
    (source,) = (runs / "readers-deepeval").glob("test_run_*.json")
    value = clean(json.loads(source.read_text()))
    (out / "deepeval" / "test_run.json").write_text(json.dumps(value))
    for name in ("scores.csv", "scores.jsonl"):
        told = clean((runs / "readers-ragas" / name).read_text())
        (out / "ragas" / name).write_text(told)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
