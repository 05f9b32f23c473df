"""Fine-tuning of judges, and attention of explanations."""

from __future__ import annotations

import hashlib
import importlib
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd

from judgestats.errors import InputError, StoreError
from judgestats.items.records import Item, short_repr
from judgestats.items.tables import read_source
from judgestats.protocols.pairwise import Pairwise
from judgestats.stats.agreement import attention_coverage, mean_share
from judgestats.stats.inference.result import Estimate


def need(extra: str, *modules: str) -> tuple[ModuleType, ...]:
    """Import modules of an extra.

    Parameters
    ----------
    extra : str
        The extra that installs them.
    *modules : str

    Returns
    -------
    tuple of module

    Raises
    ------
    InputError
        If one is not installed; the message names the extra.

    Examples
    --------
    >>> need("train", "no_such_module")
    Traceback (most recent call last):
    ...
    judgestats.errors.InputError: this needs no_such_module, which is not installed. Install the
    extra: pip install 'judgestats[train]'
    """
    missing = []
    for name in modules:
        try:
            missing.append(importlib.import_module(name))
        except ImportError as error:
            raise InputError(
                f"this needs {name}, which is not installed"
                + ("" if getattr(error, "name", "") == name else f" completely ({error})")
                + f". Install the extra: pip install 'judgestats[{extra}]'"
            ) from error
    return tuple(missing)


CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{{ '<|' + message['role'] + '|>\\n' + message['content'] + '\\n' }}"
    "{% if message['role'] == 'assistant' %}{{ eos_token }}{% endif %}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>\\n' }}{% endif %}"
)
"""Given to a base model's tokenizer that has none; saved with the fine-tuned model."""


def load(name_or_path: str, *, kind: str, extra: str) -> tuple[Any, Any]:
    """A model and its tokenizer, from a folder or by its name on a hub.

    Parameters
    ----------
    name_or_path : str
        What looks like a path (it begins with ``.`` or ``/``, or exists) is never looked up.
    kind : str
        A class of transformers, such as ``AutoModelForCausalLM``.
    extra : str
        The extra that brings transformers.

    Returns
    -------
    model, tokenizer

    Raises
    ------
    InputError
        If it cannot be loaded. Weights must be safetensors, and code that a model brings along is
        not run.
    """
    (transformers,) = need(extra, "transformers")
    path = Path(name_or_path)
    local = name_or_path.startswith((".", "/", "~")) or path.exists()
    if local and not path.is_dir():
        raise InputError(f"model: there is no folder {name_or_path!r}. Give a model's folder.")
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            name_or_path, trust_remote_code=False, local_files_only=local
        )
        model = getattr(transformers, kind).from_pretrained(
            name_or_path,
            trust_remote_code=False,
            use_safetensors=True,
            local_files_only=local,
            attn_implementation="eager",
        )
    except (OSError, ValueError, KeyError, ImportError) as error:
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise InputError(
            f"model: {name_or_path!r} cannot be loaded as {kind} ({short_repr(first, 200)}). Give "
            "a "
            "folder with config.json, tokenizer and safetensors weights, or a name on the hub."
        ) from error
    return model, tokenizer


@dataclass(frozen=True, kw_only=True)
class TrainingSettings:
    """How a judge is trained; what is not named here is trl's default.

    Attributes
    ----------
    epochs : float
    learning_rate : float
    batch_size : int
        Examples a step and device.
    accumulate : int
        Steps whose gradients are added up before an update.
    max_length : int
        Tokens of an example; longer ones are left out (a cut one would lose its verdict).
    seed : int
    """

    epochs: float = 1.0
    learning_rate: float = 2e-5
    batch_size: int = 1
    accumulate: int = 8
    max_length: int = 4096
    seed: int = 0

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if name != "seed" and not (math.isfinite(value) and value > 0):
                raise InputError(f"train: {name} must be a number above 0, got {value}.")


@dataclass(frozen=True, kw_only=True)
class Trained:
    """A fine-tuned judge.

    Attributes
    ----------
    folder : Path
        Model, tokenizer and ``training.json``.
    losses : tuple of (int, float)
        Training loss by step: of the reply's tokens only.
    eval_losses : tuple of (int, float)
        Loss on the validation part, where there is one, by step.
    examples, too_long : int
        Examples trained on, and those left out.
    """

    folder: Path
    losses: tuple[tuple[int, float], ...]
    eval_losses: tuple[tuple[int, float], ...]
    examples: int
    too_long: int

    def __str__(self) -> str:
        first, last = self.losses[0][1], self.losses[-1][1]
        text = f"{self.examples} examples ({self.too_long} longer ones left out); "
        text += f"training loss {first:.3f} at the first, {last:.3f} at the last step logged"
        if self.eval_losses:
            text += f"; validation loss {self.eval_losses[0][1]:.3f}, {self.eval_losses[-1][1]:.3f}"
        return f"{text}. The judge is in {self.folder}."


def read_chats(path: str | Path) -> list[list[dict[str, str]]]:
    """The chats of a JSONL file as `judgestats export` writes it.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    list of list of dict
        Messages with ``role`` and ``content``; the last one is the assistant's.

    Raises
    ------
    InputError
        If a line is something else.
    """
    chats = []
    for row in read_source(path).rows:
        given = row.values.get("messages")
        messages: list[Any] = given if isinstance(given, list) else []
        good = all(
            isinstance(m, dict)
            and m.get("role") in {"system", "user", "assistant"}
            and isinstance(m.get("content"), str)
            for m in messages
        )
        if not good or len(messages) < 2 or messages[-1]["role"] != "assistant":
            raise InputError(
                f"{row.where}: expected messages with role and content that end with the "
                f"assistant's, got {short_repr(given)}. Give a file that `judgestats export` wrote."
            )
        chats.append([{"role": m["role"], "content": m["content"]} for m in messages])
    return chats


def train_judge(
    data: str | Path,
    *,
    model: str,
    out: str | Path,
    settings: TrainingSettings | None = None,
) -> Trained:
    """Fine-tune a causal language model on exported judgments.

    Parameters
    ----------
    data : str or Path
        A folder that `judgestats export` wrote: ``train.jsonl`` and perhaps ``validation.jsonl``;
        or one file of chats, such as ``chosen/*.jsonl`` of rejection sampling.
    model : str
        A model's folder, or its name on the hub.
    out : str or Path
        A new folder for the judge.
    settings : TrainingSettings, optional

    Returns
    -------
    Trained

    Raises
    ------
    InputError
        If the extra is missing, or data, model or settings cannot be used.
    StoreError
        If the folder cannot be written.

    Notes
    -----
    Supervised fine-tuning by trl's ``SFTTrainer``. Prompt and reply are given apart, so that only
    the reply's tokens count in the loss. A tokenizer without a chat template gets a plain one.
    """
    settings = settings or TrainingSettings()
    datasets, trl, transformers = need("train", "datasets", "trl", "transformers")
    folder, target = Path(data), Path(out)
    if target.exists() and any(target.iterdir()):
        raise InputError(f"train: {target} is there already. Give a new folder.")
    examples = folder if folder.is_file() else folder / "train.jsonl"
    texts = {"train": read_chats(examples)}
    if (folder / "validation.jsonl").exists():
        texts["validation"] = read_chats(folder / "validation.jsonl")
    learner, tokenizer = load(model, kind="AutoModelForCausalLM", extra="train")
    if not tokenizer.chat_template:
        tokenizer.chat_template = CHAT_TEMPLATE
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    kept = {name: _fitting(tokenizer, chats, settings) for name, chats in texts.items()}
    if not kept["train"]:
        raise InputError(
            f"train: none of the {len(texts['train'])} examples has at most {settings.max_length} "
            "tokens. Raise max_length, if the model takes it."
        )
    parts = {
        name: datasets.Dataset.from_list(
            [{"prompt": chat[:-1], "completion": chat[-1:]} for chat in chats]
        )
        for name, chats in kept.items()
        if chats
    }
    transformers.set_seed(settings.seed)
    try:
        target.mkdir(parents=True, exist_ok=True)
        trainer = trl.SFTTrainer(
            model=learner,
            args=_arguments(trl, target, settings, evaluated="validation" in parts),
            train_dataset=parts["train"],
            eval_dataset=parts.get("validation"),
            processing_class=tokenizer,
        )
        trainer.train()
        trainer.save_model(str(target))
        tokenizer.save_pretrained(str(target))
    except OSError as error:
        raise StoreError(f"train: {str(target)!r} cannot be written ({error}).") from error
    history: list[dict[str, Any]] = trainer.state.log_history
    trained = Trained(
        folder=target,
        losses=_curve(history, "loss"),
        eval_losses=_curve(history, "eval_loss"),
        examples=len(kept["train"]),
        too_long=len(texts["train"]) - len(kept["train"]),
    )
    about = {
        "model": model if not Path(model).exists() else Path(model).name,
        "train_sha256": hashlib.sha256(examples.read_bytes()).hexdigest(),
        "settings": asdict(settings),
        "losses": trained.losses,
        "eval_losses": trained.eval_losses,
        "examples": trained.examples,
        "too_long": trained.too_long,
        "versions": {m.__name__: m.__version__ for m in (trl, transformers, datasets)},
    }
    (target / "training.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    return trained


def _arguments(trl: Any, target: Path, settings: TrainingSettings, *, evaluated: bool) -> Any:
    return trl.SFTConfig(
        output_dir=str(target),
        num_train_epochs=settings.epochs,
        learning_rate=settings.learning_rate,
        per_device_train_batch_size=settings.batch_size,
        per_device_eval_batch_size=settings.batch_size,
        gradient_accumulation_steps=settings.accumulate,
        max_length=settings.max_length,
        completion_only_loss=True,
        seed=settings.seed,
        data_seed=settings.seed,
        logging_steps=1,
        logging_first_step=True,
        eval_strategy="epoch" if evaluated else "no",
        eval_on_start=evaluated,
        save_strategy="no",
        report_to=[],
        bf16=False,
        gradient_checkpointing=False,
    )


def _fitting(
    tokenizer: Any, chats: list[list[dict[str, str]]], settings: TrainingSettings
) -> list[list[dict[str, str]]]:
    """The chats that fit; a cut one would be taught without its verdict."""
    return [
        chat
        for chat in chats
        if len(tokenizer(tokenizer.apply_chat_template(chat, tokenize=False))["input_ids"])
        <= settings.max_length
    ]


def _curve(history: list[dict[str, Any]], key: str) -> tuple[tuple[int, float], ...]:
    return tuple((int(row["step"]), float(row[key])) for row in history if key in row)


class CoverageModel:
    """An encoder-decoder that says what of a target a text attends to.

    Parameters
    ----------
    model : str
        A model's folder, or its name on the hub (the replicated study: BART-base).
    threshold : float
        Attention above which a token counts as covered.
    """

    def __init__(self, model: str, *, threshold: float = 0.1) -> None:
        if not 0 <= threshold < 1:
            raise InputError(f"coverage: threshold must lie in 0-1, got {threshold}. Try 0.1.")
        (self._torch,) = need("coverage", "torch")
        self._model, self._tokenizer = load(model, kind="AutoModelForSeq2SeqLM", extra="coverage")
        self._model.eval()
        self.threshold = threshold
        self.cut = 0
        """Texts that were longer than the model reads, and were cut."""

    def __call__(self, target: str, reading: str) -> float:
        """The share of `target`'s tokens that `reading` attends to; NaN where either is empty."""
        if not target.strip() or not reading.strip():
            return float("nan")
        source, tokens = self._tokens(target), self._tokens(reading)
        with self._torch.inference_mode():
            out = self._model(
                input_ids=source["input_ids"],
                attention_mask=source["attention_mask"],
                decoder_input_ids=tokens["input_ids"],
                output_attentions=True,
            )
        last = out.cross_attentions[-1][0].numpy().astype(float)
        special = set(self._tokenizer.all_special_ids)
        counted = [t not in special for t in source["input_ids"][0].tolist()]
        return attention_coverage(last, threshold=self.threshold, counted=counted)

    def _tokens(self, text: str) -> Any:
        most = int(getattr(self._model.config, "max_position_embeddings", 0) or 1024)
        full = self._tokenizer(text, return_tensors="pt", truncation=False)
        if full["input_ids"].shape[1] <= most:
            return full
        self.cut += 1
        return self._tokenizer(text, return_tensors="pt", truncation=True, max_length=most)


def coverage_table(
    frame: pd.DataFrame, items: Sequence[Item], model: CoverageModel, *, seed: int = 0
) -> pd.DataFrame:
    """Coverage of each final judgment with an explanation, and of an unrelated explanation.

    Parameters
    ----------
    frame : DataFrame
        Parsed judgments of pairs.
    items : sequence of Item
    model : CoverageModel
    seed : int
        Of which other question's explanation of the same condition is treated as unrelated.

    Returns
    -------
    DataFrame
        ``condition, item_id, order, replicate, cluster, coverage, unrelated``; the last is NaN
        where the condition has no other question.

    Raises
    ------
    InputError
        If no judgment has an explanation.
    """
    units = {(u.item_id, u.order): u for u in Pairwise().units(tuple(items))}
    in_units = [pair in units for pair in zip(frame["item_id"], frame["order"], strict=True)]
    words = frame["stage"].eq("final") & frame["explanation"].str.strip().ne("")
    used = frame[words & pd.Series(in_units, index=frame.index)].reset_index(drop=True)
    if used.empty:
        raise InputError(
            "coverage: no final judgment on a pair has an explanation. Give a run that asks for "
            "reasoning (methods=pairwise-before, or the experiment crowd)."
        )
    rng = np.random.default_rng(seed)
    rows = []
    for row in used.to_dict("records"):
        unit = units[row["item_id"], row["order"]]
        target = "\n\n".join(unit.item.responses[i].text for i in unit.shown)
        others = used[used["condition"].eq(row["condition"]) & used["cluster"].ne(row["cluster"])][
            "explanation"
        ]
        other = others.iloc[int(rng.integers(len(others)))] if len(others) else ""
        rows.append(
            {
                **{k: row[k] for k in ("condition", "item_id", "order", "replicate", "cluster")},
                "coverage": model(target, row["explanation"]),
                "unrelated": model(target, other),
            }
        )
    return pd.DataFrame(rows)


def covered(table: pd.DataFrame) -> dict[str, tuple[Estimate, Estimate]]:
    """Mean coverage of each condition, and of unrelated explanations, with intervals.

    Parameters
    ----------
    table : DataFrame
        As `coverage_table` makes it.

    Returns
    -------
    dict of condition to (Estimate, Estimate)
        Intervals over questions.

    Examples
    --------
    >>> rows = [("c", f"q{i}", .2 + .1 * (i % 3), .1) for i in range(6)]
    >>> names = ["condition", "cluster", "coverage", "unrelated"]
    >>> made = covered(pd.DataFrame(rows, columns=names))
    >>> round(made["c"][0].estimate, 3), round(made["c"][1].estimate, 3)
    (0.3, 0.1)
    """
    out = {}
    for condition, own in table.groupby("condition", sort=False):
        shares = [
            mean_share(
                own[column].to_numpy(float),
                cluster=own["cluster"].to_numpy(object),
                name=f"attention_{column}",
                label="Coverage" if column == "coverage" else "Coverage by unrelated text",
            )
            for column in ("coverage", "unrelated")
            if own[column].notna().any()
        ]
        if len(shares) == 2:
            out[str(condition)] = (shares[0], shares[1])
    return out
