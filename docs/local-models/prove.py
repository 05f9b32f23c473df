"""Proof that `judgestats train` and `judgestats coverage` work, end to end, on tiny random models.

    pip install 'judgestats[train,coverage]'
    python docs/local-models/prove.py          # writes results.json beside it

The commands of docs/training-data.md run one after the other, each in a process of its own: a run
of `crowd`, its export, fine-tuning on it, coverage. Nothing is downloaded: the tokenizers are made
from the texts, the models from a config. The judge is simulated, so that what is learned is the
form of a verdict, not judging.
"""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")

from judgestats.commands.export import run_source
from judgestats.protocols.base import ReplyMode
from judgestats.protocols.strategies import Wording
from judgestats.training import LocalJudge

SEED = 0
TOKENS = {"bos": "<s>", "eos": "</s>", "unk": "<unk>", "pad": "<pad>"}
RUN = (
    "run crowd --judges sim-crowd --strategies vanilla,cce@2 --scaling none --selections none "
    "--replicates 1 --key-points 0 --report none --pairs"
)
EXPORT = "--out data --mode mixed --balance --validation 0.2"
TRAIN = (
    "train data --model ./base --out judge --learning-rate 3e-3 --batch-size 1 --accumulate 1 "
    "--epochs"
)
COVERAGE = "--model ./bart --threshold 0.05 --out coverage.csv"


def command(words: str, folder: Path, told: list[str]) -> str:
    """What a command says on standard output; it must succeed."""
    told.append(f"judgestats {words}")
    done = subprocess.run(
        [sys.executable, "-m", "judgestats", *words.split()],
        cwd=folder,
        env=os.environ | {"MLFLOW_TRACKING_URI": f"sqlite:///{folder / 'mlflow.db'}"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"judgestats {words}: {done.stderr[-2000:]}")
    return done.stdout


def make_tokenizer(texts: list[str], folder: Path) -> Any:
    """A byte-level BPE tokenizer trained on the texts."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    inner = Tokenizer(models.BPE(unk_token=TOKENS["unk"]))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    inner.train_from_iterator(
        texts,
        trainers.BpeTrainer(
            vocab_size=2000,
            special_tokens=list(TOKENS.values()),
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    inner.post_processor = processors.ByteLevel(trim_offsets=False)
    made = PreTrainedTokenizerFast(
        tokenizer_object=inner,
        **{f"{name}_token": token for name, token in TOKENS.items()},
    )
    made.save_pretrained(str(folder))
    return made


def make_causal(texts: list[str], folder: Path) -> Path:
    """A tiny Llama with random weights."""
    from transformers import LlamaConfig, LlamaForCausalLM, set_seed

    tokenizer = make_tokenizer(texts, folder)
    set_seed(SEED)
    LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=96,
            intermediate_size=192,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=4,
            max_position_embeddings=4096,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
    ).save_pretrained(str(folder))
    return folder


def make_bart(texts: list[str], folder: Path) -> Path:
    """A tiny BART with random weights."""
    from transformers import BartConfig, BartForConditionalGeneration, set_seed

    tokenizer = make_tokenizer(texts, folder)
    set_seed(SEED)
    BartForConditionalGeneration(
        BartConfig(
            vocab_size=len(tokenizer),
            d_model=64,
            encoder_layers=2,
            decoder_layers=2,
            encoder_attention_heads=4,
            decoder_attention_heads=4,
            encoder_ffn_dim=128,
            decoder_ffn_dim=128,
            max_position_embeddings=1024,
            init_std=0.6,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
            decoder_start_token_id=tokenizer.eos_token_id,
        )
    ).save_pretrained(str(folder))
    return folder


def asked(model: str, folder: Path, run: Path) -> dict[str, Any]:
    """What a local judge says on validation pairs, as the protocol's reader reads it."""
    source, _ = run_source(str(run))
    judge, how = (
        LocalJudge(model, max_tokens=80),
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
    said = command(f"{RUN} {pairs}", folder, told)
    name = re.findall(r"^MLflow run ([0-9a-f]{32}) ", said, flags=re.MULTILINE)[0]
    run = next(folder.glob(f"mlruns/*/{name}/artifacts"))
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


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        text = json.dumps(prove(Path(scratch)), indent=1, ensure_ascii=True) + "\n"
    Path(__file__).with_name("results.json").write_text(text, encoding="utf-8")
    sys.stdout.write(text)
