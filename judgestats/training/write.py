"""Writing training data: two JSONL files, where each line comes from, and a card."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from judgestats.errors import InputError, StoreError
from judgestats.training.examples import DataSplit, Example, ExampleSet, Filters, imbalance

_OPENAI_LEAST = 10


def write_training_data(
    folder: str | Path,
    *,
    chosen: ExampleSet,
    split: DataSplit,
    filters: Filters,
    seed: int,
    runs: Sequence[Mapping[str, str]],
    prompt_sha: str = "",
    overwrite: bool = False,
) -> dict[str, str]:
    """Write ``train.jsonl``, ``validation.jsonl``, ``provenance.csv`` and the card ``README.md``.

    Parameters
    ----------
    folder : str or Path
        Made if need be.
    chosen : ExampleSet
    split : DataSplit
    filters : Filters
    seed : int
        Of the split, for the card.
    runs : sequence of mapping
        For the card: ``name``, ``judges``, ``items``, ``simulated`` ("true" or "false").
    prompt_sha : str
        The student's prompt, for the card.
    overwrite : bool
        Whether files of these names that are there may be replaced.

    Returns
    -------
    dict of file to str
        SHA-256 of what was written.

    Raises
    ------
    InputError
        If there is nothing to write, or a file is there.
    StoreError
        If the folder cannot be written.

    Notes
    -----
    A line is ``{"messages": [{"role": ..., "content": ...}, ...]}`` and nothing else, which
    OpenAI's fine-tuning, trl and most other tools take. The card's first lines say to the
    `datasets` package which file is which.
    """
    if not split.train:
        reasons = ", ".join(f"{why}: {n}" for why, n in chosen.left_out.items())
        raise InputError(
            f"export: none of the {chosen.judgments} judgments is left to train on ({reasons}). "
            "Relax the filters, or give another run."
        )
    target = Path(folder)
    texts = {"train.jsonl": _lines(split.train), "provenance.csv": _provenance(split)}
    if split.validation:
        texts["validation.jsonl"] = _lines(split.validation)
    digests = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}
    texts["README.md"] = _card(chosen, split, filters, seed, runs, prompt_sha, digests)
    digests["README.md"] = hashlib.sha256(texts["README.md"].encode()).hexdigest()
    try:
        there = sorted(name for name in (*texts, "validation.jsonl") if (target / name).exists())
        if there and not overwrite:
            raise InputError(
                f"export: {target / there[0]} is there already. Give another folder, or "
                "--overwrite."
            )
        target.mkdir(parents=True, exist_ok=True)
        (target / "validation.jsonl").unlink(missing_ok=True)
        for name, text in texts.items():
            (target / name).write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise StoreError(f"export: {str(target)!r} cannot be written ({error}).") from error
    return digests


def _lines(examples: Sequence[Example]) -> str:
    # "\u2028" and its like are line ends to some readers; JSON may write them escaped.
    lines = (
        json.dumps({"messages": [dict(m) for m in x.messages]}, ensure_ascii=False)
        .replace("\u2028", "\\u2028")
        .replace("\u2029", "\\u2029")
        .replace("\x85", "\\u0085")
        for x in examples
    )
    return "".join(f"{line}\n" for line in lines)


def _provenance(split: DataSplit) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(
        ["file", "line", "run", "condition", "kind", "item_id", "order", "replicate", "verdict"]
    )
    for file, part in (("train.jsonl", split.train), ("validation.jsonl", split.validation)):
        for line, x in enumerate(part, start=1):
            place = [x.run, x.condition, x.kind, x.item_id, x.order, x.replicate, x.verdict]
            writer.writerow([file, line, *place])
    return out.getvalue()


_NEVER = (
    "Verdicts by majority are not here: they are counted from votes, so that no judge wrote a "
    "reasoning that led to them, and the single votes are not what was decided."
)
_WHOSE = {
    "any": f"{_NEVER} All other strategies are, those by aggregate among them.",
    **dict.fromkeys(
        ("vanilla", "cce", "mixed"),
        f"{_NEVER} Verdicts by aggregate, and of other strategies, are not here either: an "
        "aggregate's reasoning weighs votes that the student is not shown. --mode any takes them.",
    ),
}


def _counts(examples: Sequence[Example], field: str) -> str:
    counts = Counter(str(getattr(x, field)) for x in examples)
    return ", ".join(f"{name} {n}" for name, n in sorted(counts.items())) or "none"


def _cell(text: object) -> str:
    """A text in a Markdown table: one line, no bar, bounded."""
    plain = " ".join(str(text).split()).replace("|", "/").replace("`", "'")
    return plain[:200]


def _card(
    chosen: ExampleSet,
    split: DataSplit,
    filters: Filters,
    seed: int,
    runs: Sequence[Mapping[str, str]],
    prompt_sha: str,
    digests: Mapping[str, str],
) -> str:
    names = {"train": split.train, "validation": split.validation}
    head = ["---", "license: other", "configs:", "  - config_name: default", "    data_files:"]
    for name, part in names.items():
        if part:
            head += [f"      - split: {name}", f"        path: {name}.jsonl"]
    lines = [*head, "---", "", "# Judgments as training data for a judge", ""]
    if any(run.get("simulated") == "true" for run in runs):
        lines += [
            (
                "**SIMULATED judges**: the reasoning is placeholder text. Good for a rehearsal of "
                "the pipeline, not for training."
            ),
            "",
        ]
    lines += ["| part | examples | questions | kind | verdicts |", "|---|---|---|---|---|"]
    for name, part in names.items():
        n = split.train_questions if name == "train" else split.validation_questions
        lines.append(
            f"| {name} | {len(part)} | {n} | {_counts(part, 'kind')} | {_counts(part, 'verdict')} |"
        )
    uneven = imbalance(chosen)
    lines += ["", uneven] if uneven else []
    lines += ["", "| run | judges | items |", "|---|---|---|"]
    lines += [f"| {_cell(r['name'])} | {_cell(r['judges'])} | {_cell(r['items'])} |" for r in runs]
    settings = {k: v for k, v in asdict(filters).items() if v not in ((), "")}
    lines += [
        "",
        "Filters: " + ", ".join(f"{k} = {_cell(v)}" for k, v in settings.items()) + ". "
        f"Split by question with seed {seed}; no question stands in both parts. Exact repetitions "
        f"are kept once. Prompt of the student: {prompt_sha or 'own'}.",
        "",
        f"Of {chosen.judgments} judgments, {len(chosen.examples)} became examples. Left out:",
        "",
        "| reason | judgments |",
        "|---|---|",
        *(f"| {why} | {n} |" for why, n in chosen.left_out.items()),
        "",
        _WHOSE[filters.kind],
        "",
        "| file | SHA-256 |",
        "|---|---|",
        *(f"| {name} | {digest} |" for name, digest in sorted(digests.items())),
        "",
    ]
    if len(split.train) < _OPENAI_LEAST:
        lines += [f"OpenAI's fine-tuning asks for at least {_OPENAI_LEAST} examples.", ""]
    lines += [
        "## Licence",
        "",
        (
            "Nothing is licensed by this file. Questions and answers keep the licence of the item "
            "set they come from; reasoning and verdicts are a model's output, and its provider's "
            "terms say whether other models may be trained on it. Look at both before you train "
            "or share."
        ),
        "",
        (
            "Texts are untrusted: they come from users, models and judges. They are data, not "
            "instructions, and nothing in them was checked for truth."
        ),
        "",
    ]
    return "\n".join(lines)
