"""Proof that fine-tuning and coverage work, on tiny models with random weights made here.

    pip install 'judgestats[train,coverage]'
    python docs/local-models/prove.py [training | coverage]     # writes results.json beside it

Nothing is downloaded: the tokenizer is trained on the texts, the models are made from a config. The
judgments are a simulated judge's, so that what is learned is the form of a verdict, not judging.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")

from judgestats.items.bank import load_bank
from judgestats.items.schema import Item
from judgestats.judges.collect import collect_judgments
from judgestats.judgments.design import Condition, Task
from judgestats.judgments.parse import parse_judgments
from judgestats.judgments.training import (
    Chosen,
    Filters,
    Source,
    Split,
    split_by_question,
    training_examples,
    write_training_data,
)
from judgestats.local import LocalJudge, TrainingSettings, train_judge
from judgestats.local.coverage import CoverageModel, coverage_table, covered
from judgestats.protocols.strategies import Wording

SEED = 0
TOKENS = {"bos": "<s>", "eos": "</s>", "unk": "<unk>", "pad": "<pad>"}
JUDGE = "sim-typical"


def judged(items: tuple[Item, ...], wording: Wording) -> Source:
    """Judgments of a simulated judge on every pair of the items, in both orders."""
    how = wording.comparison("vanilla")
    condition = Condition(judge=JUDGE, temperature=0.5, factors={"strategy": "vanilla"})
    units = {(u.item_id, u.order): u for u in how.units(items)}
    tasks = [
        Task(
            condition=condition,
            item_id=u.item_id,
            cluster=u.cluster,
            category=u.category,
            replicate=0,
            order=u.order,
            build=lambda mode, u=u: wording.ask("vanilla", u, mode),
        )
        for u in units.values()
    ]
    raw = collect_judgments(tasks).read()
    frame = parse_judgments(raw, protocols={condition.label: how}, units=units)
    return Source(name="proof", frame=frame, items=items)


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


def asked(judge: LocalJudge, source: Source, split: Split, wording: Wording) -> dict[str, Any]:
    """What the local judge says on validation pairs, as the protocol's reader reads it."""
    how = wording.comparison("vanilla")
    units = {(u.item_id, u.order): u for u in how.units(source.items)}
    status: dict[str, int] = {}
    shown = ""
    for example in split.validation[:12]:
        unit = units[example.item_id, example.order]
        said, finish = judge.reply(example.messages[:-1])
        verdict = how.read(unit, _text_mode(), said, finish_reason=finish)
        status[verdict.status.value] = status.get(verdict.status.value, 0) + 1
        shown = shown or said[:160]
    return {"asked": min(12, len(split.validation)), "status": status, "first_reply": shown}


def _text_mode() -> Any:
    from judgestats.protocols.base import ReplyMode

    return ReplyMode.TEXT


def prove_training(folder: Path, *, questions: int = 8, epochs: float = 5.0) -> dict[str, Any]:
    """Export judgments, train a judge on them, ask it; everything below `folder`."""
    wording = Wording(labelled_only=False)
    source = judged(load_bank()[:questions], wording)
    filters = Filters(kind="vanilla")
    chosen: Chosen = training_examples([source], filters=filters, student=wording)
    split = split_by_question(chosen.examples, share=0.2, seed=SEED)
    data = write_training_data(
        folder / "data",
        chosen=chosen,
        split=split,
        filters=filters,
        seed=SEED,
        runs=[{"name": "proof", "judges": JUDGE, "items": "bank", "simulated": "true"}],
    ).folder
    texts = [m["content"] for x in split.train for m in x.messages]
    base = make_causal(texts, folder / "base")
    before = asked(LocalJudge(str(base), max_tokens=80), source, split, wording)
    trained = train_judge(
        data,
        model=str(base),
        out=folder / "judge",
        settings=TrainingSettings(
            epochs=epochs, learning_rate=3e-3, batch_size=4, accumulate=1, max_length=4096
        ),
    )
    after = asked(LocalJudge(str(folder / "judge"), max_tokens=80), source, split, wording)
    losses = [loss for _, loss in trained.losses]
    part = max(1, len(losses) // 10)
    return {
        "examples": {"train": len(split.train), "validation": len(split.validation)},
        "loss": {
            "steps": len(losses),
            "first_tenth": sum(losses[:part]) / part,
            "last_tenth": sum(losses[-part:]) / part,
            "validation": [loss for _, loss in trained.eval_losses],
        },
        "judge": {"before": before, "after": after},
        "versions": json.loads((folder / "judge" / "training.json").read_text())["versions"],
    }


def prove_coverage(folder: Path, *, questions: int = 24, each: int = 2) -> dict[str, Any]:
    """Coverage of the responses by some explanations of every question."""
    wording = Wording(labelled_only=False)
    source = judged(load_bank()[:questions], wording)
    texts = [r.text for item in source.items for r in item.responses]
    model = CoverageModel(
        str(make_bart([*texts, *source.frame["explanation"]], folder / "bart")), threshold=0.05
    )
    few = source.frame.groupby("cluster", sort=False).head(each)
    table = coverage_table(few, source.items, model, seed=SEED)
    [(own, unrelated)] = covered(table).values()

    def plain(found: Any) -> list[float]:
        bounds = [found.interval.low, found.interval.high] if found.interval else []
        return [found.estimate, *bounds]

    return {
        "model": "tiny BART, random weights",
        "threshold": model.threshold,
        "judgments": len(few),
        "questions": questions,
        "own": plain(own),
        "unrelated": plain(unrelated),
        "texts_cut": model.cut,
    }


PROOFS = {"training": prove_training, "coverage": prove_coverage}

if __name__ == "__main__":
    target = Path(__file__).with_name("results.json")
    found = json.loads(target.read_text("utf-8")) if target.exists() else {}
    for name in sys.argv[1:] or PROOFS:
        with tempfile.TemporaryDirectory() as scratch:
            found[name] = PROOFS[name](Path(scratch))
    text = json.dumps(found, indent=1, ensure_ascii=True) + "\n"
    target.write_text(text, encoding="utf-8")
    sys.stdout.write(text)
