"""Records of many runs and audits, and the comparison of two recordings.

    python .ci/golden.py record FOLDER [--only GLOB]
    python .ci/golden.py compare OLD NEW [--changes .ci/golden_changes.toml] [--texts]

`record` writes one JSON file per case: exit code, every field of every record, the metrics and
parameters of the MLflow runs, a hash of the judgments, and the keys of the journal. `compare`
fails on a difference that the list of changes does not name, and on a named one that is gone.
"""

from __future__ import annotations

import argparse
import contextlib
import fnmatch
import hashlib
import json
import math
import multiprocessing
import os
import re
import sqlite3
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = next(
    p for p in (ROOT / "tests").glob("*/fixtures") if p.parent.name in {"data", "judgments"}
)
SHARED = ROOT.parent / "shared" / "data"

# Fields that hold prose, times, or the names of files: compared by --texts only, or never.
TEXTS = re.compile(
    r"(^|/)(text|sentences?|says|short|ask|label|title|message|caption|answer|question|reason|"
    r"description|heading|method|unit|size|abstract|name|notes?|lines|why|stderr|limitations|"
    r"reading|packages|rows|figures|drawing|facts|recommendation)(/|$)"
)
VOLATILE = re.compile(
    r"run_id|latency|seconds|asked_at|created|started|time|path|folder|uri|commit|source|session|"
    r"parameter/items"
)
SMALL = 1e-10
QUERIES = {
    "metrics": "SELECT run_uuid, key, value FROM metrics ORDER BY value",
    "params": "SELECT run_uuid, key, value FROM params ORDER BY value",
}


def generated(folder: Path) -> dict[str, list[str]]:
    """Files of every kind of judgments, from one seed, with the options that read them."""
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(1)
    n = 60
    grid = pd.MultiIndex.from_product(
        [[f"q{i:03d}" for i in range(n)], ["m1", "m2"], range(4)],
        names=["item_id", "judge", "replicate"],
    ).to_frame(index=False)
    truth = rng.normal(6, 1.5, n).repeat(8)
    score = np.clip(np.rint(truth + rng.normal(0, 1, len(grid))), 1, 10).astype(int)
    verdict = np.where(score + rng.normal(0, 1, len(grid)) > 6, "pass", "fail")
    scores = grid.assign(score=score)
    cases = {
        "scores": scores,
        "one-item": scores[scores["item_id"] == "q000"],
        "all-equal": scores.assign(score=5),
        "unequal": scores.sample(frac=0.8, random_state=1).sort_index(),
        "pass-fail": grid.assign(verdict=verdict),
        "once": grid.assign(verdict=verdict).query("replicate == 0").drop(columns="replicate"),
        "category": grid.assign(verdict=rng.choice(["low", "medium", "high"], len(grid))),
        "choice": grid.assign(choice=rng.choice(list("ABCDE"), len(grid))),
        "pairs": grid.assign(
            winner=rng.choice(["a", "b", "tie"], len(grid)),
            order=[["ab", "ba"][r % 2] for r in grid["replicate"]],
        ),
        "labelled": grid.assign(
            verdict=verdict,
            label=np.where(truth > 6, "pass", "fail"),
            question=grid["item_id"].str[:3],
        ),
        "criteria": pd.concat(
            [scores.assign(criterion="tone"), scores.assign(criterion="facts", score=11 - score)]
        ),
    }
    for name, frame in cases.items():
        frame.to_csv(folder / f"{name}.csv", index=False)
    later = scores.assign(score=np.clip(scores["score"] + rng.integers(0, 2, len(scores)), 1, 10))
    later.to_csv(folder / "later.csv", index=False)
    flipped = cases["pass-fail"].assign(verdict=rng.permutation(verdict))
    flipped.to_csv(folder / "flipped.csv", index=False)
    big = pd.concat([scores.assign(item_id=scores["item_id"] + f"-{i}") for i in range(4400)])
    big.to_parquet(folder / "big.parquet", index=False)
    return {name: [] for name in cases}


def cases(folder: Path) -> dict[str, list[list[str]]]:
    """Name of a case to its commands, which run one after another in one empty folder."""
    quiet = ["--track", "none", "--report", "none", "--json", "--resamples", "199"]
    run = ["--report", "none", "--resamples", "199", "--seed", "1"]
    out: dict[str, list[list[str]]] = {}
    for entry in sorted((ROOT / "experiments").glob("*.py")):
        out[f"run/{entry.stem}"] = [["run", entry.stem, *run]]
    small = ["run", "temperature", "--replicates", "3", "--limit", "12", *run]
    out["run/temperature-text"] = [[*small, "--reply", "text"]]
    out["run/temperature-again"] = [small, small]
    items = [
        {"item_id": f"i{k}", "question": f"What is {k} + {k}?", "response": f"{2 * k}.", "label": 5}
        for k in range(20)
    ]
    (folder / "items.jsonl").write_text("".join(json.dumps(i) + "\n" for i in items))
    out["run/temperature-items"] = [
        [*small, "--items", str(folder / "items.jsonl"), "--people", "designed"]
    ]
    out["run/crowd-rehearsal"] = [["run", "crowd", "--limit", "8", *run]]
    for name in generated(folder):
        out[f"audit/{name}"] = [["analyze", str(folder / f"{name}.csv"), *quiet]]
    out["audit/big"] = [["analyze", str(folder / "big.parquet"), *quiet]]
    for file in sorted(
        p for p in FIXTURES.rglob("*") if p.suffix in {".json", ".jsonl", ".csv", ".eval", ".db"}
    ):
        out[f"audit/{file.relative_to(FIXTURES)}"] = [["analyze", str(file), *quiet]]
    for sub in ("misread", "exports"):
        for file in sorted((SHARED / sub).glob("*.*")):
            if file.suffix in {".csv", ".json", ".jsonl"} and file.name != "expected.json":
                out[f"shared/{sub}/{file.name}"] = [["analyze", str(file), *quiet]]
    out["demo"] = [["demo", "--json"]]
    pairs = {
        "same": ("scores", "scores"), "scores": ("scores", "later"),
        "pass-fail": ("pass-fail", "flipped"),
        "pairs": ("pairs", "pairs"), "once": ("once", "once"), "criteria": ("criteria", "criteria"),
    }  # fmt: skip
    for name, (first, second) in pairs.items():
        files = [str(folder / f"{first}.csv"), str(folder / f"{second}.csv")]
        out[f"drift/{name}"] = [["drift", *files, "--json", "--resamples", "199"]]
    for name in ("scores", "pass-fail", "pairs", "labelled"):
        file = str(folder / f"{name}.csv")
        out[f"labels/{name}"] = [["labels", "plan", file, "--labels", "20", "--out", "labels.csv"]]
    bounds = ("reliability=.5", "reliability=.99", "sem=.1", "sem=5", "mean=1", "nonsense=1")
    for side in ("--min", "--max"):
        for bound in bounds:
            out[f"check{side}/{bound}"] = [small, ["check", "LAST", side, bound]]
    return out


def perform(job: tuple[str, list[list[str]], Path]) -> None:
    """Run one case in this process and write what it left."""
    name, commands, out = job
    target = out / f"{name.replace('/', '__')}.json"
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        os.environ.update(MLFLOW_TRACKING_URI=f"sqlite:///{scratch}/mlflow.db", COLUMNS="100")
        codes: list[Any] = []
        text = ""
        for words in commands:
            code, text = command([last_run() if w == "LAST" else w for w in words])
            codes.append(code)
        record: dict[str, Any] = {"exit": codes, "stdout": parsed(text)}
        for path in sorted(Path.cwd().rglob("results.json")):
            record.setdefault("results", []).append(json.loads(path.read_text()))
        for path in sorted(Path.cwd().rglob("labels.csv")):
            record["labels"] = path.read_text().splitlines()
        record |= stored()
        os.chdir("/")
    target.write_text(json.dumps(record, sort_keys=True, default=str, indent=0))


def command(words: list[str]) -> tuple[Any, str]:
    """The exit code of a command of judgestats and its standard output."""
    from judgestats.cli import main

    with Path("stdout").open("w+") as stream, Path("stderr").open("w+") as errors:
        with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(errors):
            try:
                code: Any = main(words)
            except Exception as error:  # the record of a crash is the crash
                code = f"{type(error).__name__}"
        stream.seek(0)
        return code, stream.read()


def parsed(text: str) -> Any:
    """A JSON document, or nothing: screens are compared by the tests of screens."""
    try:
        return json.loads(text)
    except ValueError:
        return None


def last_run() -> str:
    """The id of the newest run that is nobody's child."""
    with contextlib.closing(sqlite3.connect("mlflow.db")) as db:
        (run,) = db.execute(
            "SELECT run_uuid FROM runs WHERE run_uuid NOT IN (SELECT run_uuid FROM tags "
            "WHERE key = 'mlflow.parentRunId') ORDER BY start_time DESC LIMIT 1"
        ).fetchone()
    return str(run)


def stored() -> dict[str, Any]:
    """What the tracking store, the judgments and the journal hold."""
    import pandas as pd

    out: dict[str, Any] = {}
    if Path("mlflow.db").exists():
        with contextlib.closing(sqlite3.connect("mlflow.db")) as db:
            names = dict(db.execute("SELECT run_uuid, name FROM runs").fetchall())
            for table, query in QUERIES.items():
                rows: dict[str, list[Any]] = {}
                for run, key, value in db.execute(query):
                    rows.setdefault(f"{names[run]}: {key}", []).append(value)
                out[table] = rows
    for path in sorted(Path.cwd().rglob("judgments.parquet")):
        frame = pd.read_parquet(path)
        frame = frame[[c for c in sorted(frame) if not VOLATILE.search(c)]]
        digest = hashlib.sha256(frame.to_csv(index=False).encode()).hexdigest()
        out.setdefault("judgments", []).append([len(frame), digest])
    for path in Path.cwd().rglob("journal.sqlite"):
        with contextlib.closing(sqlite3.connect(path)) as db:
            keys = db.execute("SELECT hex(key), text, sent FROM answers ORDER BY key").fetchall()
        out["journal"] = [len(keys), hashlib.sha256(json.dumps(keys).encode()).hexdigest()]
    return out


def record(out: Path, only: str, workers: int) -> None:
    """Write one file per case."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        every = cases(Path(scratch)).items()
        jobs = [(n, c, out.resolve()) for n, c in every if fnmatch.fnmatch(n, only)]
        context = multiprocessing.get_context("fork")
        with context.Pool(workers, maxtasksperchild=1) as pool:
            for done, _ in enumerate(pool.imap_unordered(perform, jobs), start=1):
                sys.stderr.write(f"\r{done} of {len(jobs)}")
    sys.stderr.write("\n")


def leaves(value: Any, at: str = "") -> Iterator[tuple[str, Any]]:
    """Every leaf with its path; an entry of a list with an id is named by it, not by its place."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, f"{at}/{key}")
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            name = inner.get("id", place) if isinstance(inner, dict) else place
            yield from leaves(inner, f"{at}/{name}")
    else:
        yield at, value


def same(a: Any, b: Any) -> bool:
    """Equal, or numbers that differ by rounding."""
    if isinstance(a, (int, float)) and isinstance(b, (int, float)) and not isinstance(a, bool):
        return a == b or math.isclose(a, b, rel_tol=SMALL, abs_tol=1e-12)
    return bool(a == b)


def differences(old: Path, new: Path, renames: list[dict[str, str]], texts: bool) -> Iterator[str]:
    """One line per leaf that differs, is gone, or is new."""
    for file in sorted({p.name for p in [*old.glob("*.json"), *new.glob("*.json")]}):
        sides = []
        for side, folder in enumerate((old, new)):
            path = folder / file
            found = dict(leaves(json.loads(path.read_text()))) if path.exists() else {}
            if side == 0:
                for rename in renames:
                    found = {re.sub(rename["old"], rename["new"], k): v for k, v in found.items()}
            sides.append(found)
        first, second = sides
        for key in sorted(first | second):
            if VOLATILE.search(key) or (TEXTS.search(key) and not texts):
                continue
            if key not in second:
                yield f"{file[:-5]}{key}: gone (was {first[key]!r:.40})"
            elif key not in first:
                yield f"{file[:-5]}{key}: new ({second[key]!r:.40})"
            elif not same(first[key], second[key]):
                yield f"{file[:-5]}{key}: {first[key]!r:.40} -> {second[key]!r:.40}"


def compare(old: Path, new: Path, changes: Path, texts: bool) -> int:
    """Print unlisted differences and unused entries of the list; 1 if there are any."""
    listed = tomllib.loads(changes.read_text()) if changes.exists() else {}
    entries, renames = listed.get("change", []), listed.get("rename", [])
    used = [0] * len(entries)
    unlisted = []
    for line in differences(old, new, renames, texts):
        hits = [i for i, entry in enumerate(entries) if re.search(entry["key"], line)]
        for hit in hits:
            used[hit] += 1
        if not hits:
            unlisted.append(line)
    for line in unlisted[:200]:
        print(line)
    gone = [e["key"] for e, count in zip(entries, used, strict=True) if not count]
    for key in gone:
        print(f"listed and does not occur: {key}")
    print(f"{len(unlisted)} unlisted differences, {sum(used)} listed ones")
    return int(bool(unlisted or gone))


def main() -> int:
    """Take the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    actions = parser.add_subparsers(dest="action", required=True)
    one = actions.add_parser("record")
    one.add_argument("out", type=Path)
    one.add_argument("--only", default="*")
    one.add_argument("--workers", type=int, default=2)
    two = actions.add_parser("compare")
    two.add_argument("old", type=Path)
    two.add_argument("new", type=Path)
    two.add_argument("--changes", type=Path, default=ROOT / ".ci" / "golden_changes.toml")
    two.add_argument("--texts", action="store_true")
    given = parser.parse_args()
    if given.action == "record":
        record(given.out, given.only, given.workers)
        return 0
    return compare(given.old, given.new, given.changes, given.texts)


if __name__ == "__main__":
    sys.exit(main())
