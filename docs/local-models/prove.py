"""Proof that the recipes of docs/training-data.md work, end to end, on tiny random models.

    pip install 'judgestats[train,coverage]'
    python docs/local-models/prove.py                 # writes results.json beside it
    python docs/local-models/prove.py table2          # one part only: distilled, table2, table3

Their commands run one after the other: a run of `crowd`, exports,
fine-tuning, the judging of five sets by the judges that came of it (Table 2 of arXiv 2502.12501);
selection by three rules, fine-tuning on each, answers and their scores (Table 3); coverage. Nothing
is downloaded. The teacher is simulated and the weights are random, so that what is proven is the
line, not that anything is learned but the form of a verdict.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import math
import os
import re
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")
sys.path.insert(0, str(Path(__file__).parent))

from local import LocalJudge
from tiny import lines, make_bart, make_causal, mt_bench, questions, served, stand_ins

from judgestats.cli import main
from judgestats.commands.requests import run_source
from judgestats.protocols.base import ReplyMode
from judgestats.protocols.strategies import Wording

PLAIN = "--scaling none --selections none --key-points 0 --repeats 1 --report none"
RUN = f"run crowd --judges sim-crowd --strategies vanilla,cce@2 {PLAIN} --pairs"
EXPORT = "--out data --mode mixed --balance --validation 0.2"
LEARN = "--learning-rate 3e-3 --batch-size 1 --accumulate 1 --epochs"
TRAIN = f"train data --model ./base --out judge {LEARN}"
COVERAGE = "--model ./bart --threshold 0.05 --out coverage.csv"
REPLY_TOKENS = 80
"""Of a judge: the taught replies have fewer."""


def command(words: str, folder: Path, told: list[str]) -> str:
    """What a command says on standard output; it must succeed."""
    is_training = words.split(maxsplit=1)[0] in {"train", "coverage"}
    told.append(f"{'python -m judgestats.training' if is_training else 'judgestats'} {words}")
    os.environ["MLFLOW_TRACKING_URI"] = f"sqlite:///{folder / 'mlflow.db'}"
    said = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(said):
        if main(words.split()):
            raise RuntimeError(f"judgestats {words}: {said.getvalue()[-2000:]}")
    return said.getvalue()


def asked(model: str, folder: Path, run: Path) -> dict[str, Any]:
    """What a local judge says on validation pairs, as the protocol's reader reads it."""
    source, _ = run_source(str(run))
    judge, how = (
        LocalJudge(model, max_tokens=REPLY_TOKENS),
        Wording(labelled_only=False).comparison("vanilla"),
    )
    units = {(u.item_id, u.order): u for u in how.units(source.items)}
    with (folder / "data" / "provenance.csv").open(newline="", encoding="utf-8") as stream:
        places = [row for row in csv.DictReader(stream) if row["file"] == "validation.jsonl"]
    lines = (folder / "data" / "validation.jsonl").read_text("utf-8").split("\n")
    status: dict[str, int] = {}
    shown = ""
    for place, line in list(zip(places, lines, strict=False))[:12]:
        said, finish = judge.reply(json.loads(line)["messages"][:-1])
        unit = units[place["item_id"], place["order"]]
        verdict = how.read(unit, ReplyMode.TEXT, said, finish_reason=finish)
        status[verdict.status.value] = status.get(verdict.status.value, 0) + 1
        shown = shown or said[:160]
    return {"asked": sum(status.values()), "status": status, "first_reply": shown}


def prove(folder: Path, *, pairs: int = 14, epochs: float = 5.0) -> dict[str, Any]:
    """Run the four commands below `folder`, and ask the judge before and after its training."""
    told: list[str] = []
    command(f"{RUN} {pairs}", folder, told)
    name, run = latest_run(folder)
    exported = command(f"export {name} {EXPORT}", folder, told)
    texts = [
        message["content"]
        for line in (folder / "data" / "train.jsonl").read_text("utf-8").split("\n")[:-1]
        for message in json.loads(line)["messages"]
    ]
    make_causal(texts, folder / "base")
    before = asked(str(folder / "base"), folder, run)
    trained = command(f"{TRAIN} {epochs:g}", folder, told)
    after = asked(str(folder / "judge"), folder, run)
    source, _ = run_source(str(run))
    answers = [r.text for item in source.items for r in item.responses]
    make_bart([*answers, *source.frame["explanation"]], folder / "bart")
    covered = command(f"coverage {name} {COVERAGE}", folder, told)
    with (folder / "coverage.csv").open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    about = json.loads((folder / "judge" / "training.json").read_text("utf-8"))
    losses = [loss for _, loss in about["losses"]]
    part = max(1, len(losses) // 10)
    return {
        "commands": [line.replace(name, "RUN") for line in told],
        "said": {
            "export": exported.splitlines()[0],
            "train": trained.splitlines()[0].replace(str(folder), "."),
            "coverage": [line.strip() for line in covered.splitlines() if line.strip()],
        },
        "loss": {
            "steps": len(losses),
            "first_tenth": sum(losses[:part]) / part,
            "last_tenth": sum(losses[-part:]) / part,
            "validation": [loss for _, loss in about["eval_losses"]],
        },
        "examples": about["examples"],
        "judge": {"before": before, "after": after},
        "coverage": {
            "judgments": len(rows),
            "own": _mean(rows, "coverage"),
            "unrelated": _mean(rows, "unrelated"),
        },
        "versions": about["versions"],
    }


def _mean(rows: list[dict[str, str]], name: str) -> float:
    values = [float(row[name]) for row in rows if row[name]]
    return sum(values) / len(values)


def latest_run(folder: Path) -> tuple[str, Path]:
    """The run that was made last below a folder, and its files."""
    runs = [p for p in folder.glob("mlruns/*/*/artifacts") if (p / "results.json").exists()]
    run = max(runs, key=lambda p: (p / "results.json").stat().st_mtime_ns)
    return run.parent.name, run


def taught(folder: Path) -> dict[str, Any]:
    """How many examples a model was trained on, and its loss before and after."""
    about = json.loads((folder / "training.json").read_text("utf-8"))
    losses = [loss for _, loss in about["losses"]]
    return {"examples": about["examples"], "loss": [losses[0], losses[-1]]}


def table2(folder: Path, *, sizes: Mapping[str, int], steps: int, pairs: int) -> dict[str, Any]:
    """Judges trained on vanilla, crowd and mixed judgments, all asked about five sets.

    Each is trained for so many steps, whatever its examples: fewer do not teach random weights the
    form of a verdict, and nothing can be read.
    """
    told: list[str] = []
    made, texts = {}, []
    for size, count in sizes.items():
        command(f"{RUN} {count}", folder, told)
        name, _ = latest_run(folder)
        told[-1] = told[-1].replace(f"--pairs {count}", f"--pairs {size}")
        kinds = {"vanilla": "", "cce": ""} | (
            {"mixed": " --balance"} if count == max(sizes.values()) else {}
        )
        for kind, more in kinds.items():
            data = f"{kind}-{size}"
            command(f"export {name} --out {data} --mode {kind}{more}", folder, told)
            told[-1] = told[-1].replace(name, "RUN")
            chats = (folder / data / "train.jsonl").read_text("utf-8").split("\n")[:-1]
            texts += [m["content"] for chat in chats for m in json.loads(chat)["messages"]]
            made[data] = len(chats)
    make_causal(texts, folder / "base", width=48)
    judges = {}
    for data, examples in made.items():
        epochs = math.ceil(steps / examples)
        command(f"train {data} --model ./base --out judge-{data} {LEARN} {epochs}", folder, told)
        judges[f"judge-{data}"] = taught(folder / f"judge-{data}")
    sets = stand_ins(folder, pairs=pairs)
    with served(folder, max_tokens=REPLY_TOKENS) as url:
        command(
            f"run crowd --preset paper --strategies vanilla {PLAIN} --judges "
            f"{','.join(judges)} --base-url {url} --reply text --items {sets} --timeout 600",
            folder,
            told,
        )
    told[-1] = told[-1].replace(url, "http://localhost:8000/v1").replace(f" --items {sets}", "")
    told[-1] = told[-1].replace(" --timeout 600", "")
    _, run = latest_run(folder)
    with (run / "tables" / "conditions.csv").open(newline="", encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            judges[row["judge"]] |= {
                "asked": int(row["n"]),
                "read": int(row["n_ok"]),
                "accuracy": {
                    name.removeprefix("accuracy_in_"): round(float(value), 3) if value else None
                    for name, value in row.items()
                    if re.fullmatch("accuracy_in_[a-z0-9_]+(?<!_low)(?<!_high)|average", name)
                },
            }
    return {"commands": told, "judges": judges}


ARMS = {"random": "random.jsonl", "vanilla": "01-*.jsonl", "crowd": "02-*.jsonl"}
"""Whose choice a model is trained on, and its file of the run's ``chosen`` folder."""


def table3(folder: Path, *, sizes: Mapping[str, int], epochs: float) -> dict[str, Any]:
    """Models trained on responses chosen at random, by a judge and by one with a crowd."""
    told: list[str] = []
    asked = questions(sum(sizes.values()))
    names = [f"answerer-{n}" for n in range(1, 5)]
    for seed, name in enumerate(names):
        make_causal(asked, folder / name, width=48, seed=seed)
    make_causal(asked, folder / "base", width=48)
    arms: dict[str, dict[str, Any]] = {}
    with served(folder, max_tokens=24) as url:
        begin = 0
        for source, count in sizes.items():
            rows = [
                {"id": str(n), "question": q} for n, q in enumerate(asked[begin : begin + count])
            ]
            begin += count
            lines(folder / f"{source}.jsonl", rows)
            where = ",".join(f"{name}@{url}" for name in names)
            command(
                f"run rejection_sampling --preset paper --items {source}.jsonl --judges sim-crowd "
                f"--k 2 --answer-max-tokens 24 --report none --answerers {where}",
                folder,
                told,
            )
            told[-1] = told[-1].replace(url, "http://localhost:8000/v1")
            _, run = latest_run(folder)
            for arm, pattern in ARMS.items():
                chosen = next((run / "chosen").glob(pattern))
                out = f"{source}-{arm}"
                command(
                    f"train {chosen} --model ./base --out {out} {LEARN} {epochs:g}", folder, told
                )
                told[-1] = told[-1].replace(str(chosen), f"ARTIFACTS/chosen/{pattern}")
                arms[out] = taught(folder / out)
        scored = mt_bench(
            folder / "mt",
            {name: LocalJudge(str(folder / name), max_tokens=24) for name in arms},
            count=4,
        )
        for name, arm in arms.items():
            command(
                f"run temperature --items mt_bench:{scored} --item-options turn=2,models={name} "
                "--judges sim-typical --temperatures 0,0.5 --repeats 2 --report none",
                folder,
                told,
            )
            told[-1] = told[-1].replace(str(scored), "FOLDER")
            _, run = latest_run(folder)
            with (run / "tables" / "conditions.csv").open(newline="", encoding="utf-8") as stream:
                arm["score"] = _mean(list(csv.DictReader(stream)), "mean")
    return {"commands": told, "arms": arms}


PARTS = {
    "distilled": prove,
    "table2": lambda folder: table2(folder, sizes={"10000": 4, "30000": 8}, steps=240, pairs=5),
    "table3": lambda folder: table3(folder, sizes={"lima": 4, "tulu3": 8}, epochs=1),
}

if __name__ == "__main__":
    results = Path(__file__).with_name("results.json")
    found = json.loads(results.read_text("utf-8"))
    for part in sys.argv[1:] or PARTS:
        with tempfile.TemporaryDirectory() as scratch:
            found[part] = PARTS[part](Path(scratch))
        text = json.dumps(found, indent=1, ensure_ascii=True) + "\n"
        results.write_text(text, encoding="utf-8")
    sys.stdout.write(text)
