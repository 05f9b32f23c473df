"""Training examples: choice, balance, split, files, and card."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd
from scipy.cluster.hierarchy import DisjointSet

from judgestats.errors import InputError, StoreError, one_of
from judgestats.items import Item, label_table
from judgestats.protocols.base import ReplyMode, Status, Unit
from judgestats.protocols.strategies import Wording
from judgestats.protocols.strategies.base import stage_kind
from judgestats.protocols.template import pair_name
from judgestats.sinks import rows_text

STUDENT = Wording(labelled_only=False)
"""How the student is asked: as the vanilla judge of `crowd`, explanation first."""

KINDS = ("vanilla", "cce", "mixed", "any")
"""Whose judgments: of vanilla conditions, of crowd comparative ones, of both, of all strategies."""

_MAX_CHARS = 400_000
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
# A chat template is text, and tokenizers read these as structure wherever they stand.
_SPECIAL = re.compile(
    r"<\|[^|<>\n]{1,60}\|>|<\uff5c[^<>\n]{1,60}\uff5c>|</?s>|\[/?INST\]|<</?SYS>>|<(?:start|end)_of_turn>|"
    r"<(?:bos|eos|pad|unk)>|<extra_id_\d{1,3}>|<\|(?:im_start|im_end)",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class Source:
    """One run: its name, its parsed judgments and its items."""

    name: str
    frame: pd.DataFrame
    items: tuple[Item, ...]


@dataclass(frozen=True, kw_only=True)
class Filters:
    """Which judgments are wanted.

    Attributes
    ----------
    kind : {"vanilla", "cce", "mixed", "any"}
    correct : bool
        Only verdicts that agree with the label of the pair (the one most annotators gave; a draw
        among them is not a label).
    consistent : bool
        Only verdicts that are the same in both orders of the same replication.
    conditions : tuple of str
        Only conditions whose name holds one of these texts; all if empty.
    balance : bool
        As many examples of every kind as the smallest has (`balanced`).
    """

    kind: str = "mixed"
    correct: bool = False
    consistent: bool = False
    conditions: tuple[str, ...] = ()
    balance: bool = False

    def __post_init__(self) -> None:
        one_of("export", "mode", self.kind, KINDS)


@dataclass(frozen=True, kw_only=True)
class Example:
    """One training example and where it comes from."""

    messages: tuple[Mapping[str, str], ...]
    run: str
    condition: str
    kind: str
    item_id: str
    order: str
    replicate: int
    cluster: str
    question: str
    verdict: str


@dataclass(frozen=True, kw_only=True)
class ExampleSet:
    """The examples, and how many judgments were left out for which reason, most frequent first."""

    examples: tuple[Example, ...]
    judgments: int
    left_out: Mapping[str, int] = field(default_factory=dict)


def training_examples(sources: Iterable[Source], *, filters: Filters) -> ExampleSet:
    """Judgments on pairs as chats: prompt of a vanilla judge, reasoning, verdict.

    Parameters
    ----------
    sources : iterable of Source
    filters : Filters

    Returns
    -------
    ExampleSet
        Exact repetitions (same prompt, same reply) once. The student is asked as the vanilla judge
        of `crowd`, and every reply is read back by its reader to the teacher's verdict.

    Raises
    ------
    InputError
        If a frame lacks a column.

    Examples
    --------
    >>> from judgestats.items.records import Response
    >>> two = (Response(turns=("4",)), Response(turns=("5",)))
    >>> item = Item(id="q", cluster="q", turns=("2+2?",), responses=two)
    >>> row = dict(condition="j", item_id="q/0|1", order="ba", stage="final", replicate=0,
    ...     status="ok", choice="a", explanation="4 is right.", cluster="q")
    >>> made = training_examples(
    ...     [Source(name="run", frame=pd.DataFrame([row]), items=(item,))], filters=Filters())
    >>> made.examples[0].messages[-1]["content"]  # the earlier response was shown second
    '4 is right.\\n\\n[[B]]'
    """
    examples: dict[tuple[str, ...], Example] = {}
    left: Counter[str] = Counter()
    total = 0
    for source in sources:
        rows = _rows(source)
        total += len(rows)
        by_name = {(u.item_id, u.order): u for u in STUDENT.units(source.items)}
        labels = _labels(source.items)
        agreed = _agreed(rows)
        for row in rows:
            unit = by_name.get((row["item_id"], row["order"]))
            why = _rejection_reason(row, unit, filters, labels, agreed)
            if not why and unit is not None:
                made = _example(source.name, row, unit)
                key = () if isinstance(made, str) else tuple(m["content"] for m in made.messages)
                if isinstance(made, str):
                    why = made
                elif key in examples:
                    why = "a repetition"
                else:
                    examples[key] = made
            if why:
                left[why] += 1
    order = dict(sorted(left.items(), key=lambda reason: (-reason[1], reason[0])))
    return ExampleSet(examples=tuple(examples.values()), judgments=total, left_out=order)


_NEEDED = (
    "condition",
    "item_id",
    "order",
    "stage",
    "replicate",
    "status",
    "choice",
    "explanation",
    "cluster",
)


def _rows(source: Source) -> list[dict[str, Any]]:
    missing = [name for name in _NEEDED if name not in source.frame]
    if missing:
        raise InputError(
            f"export: the judgments of {source.name} lack the column(s) {', '.join(missing)}. Give "
            "a run of judgestats, or a frame as judgestats.read_judgments makes it."
        )
    more = [c for c in ("factor_strategy", "factor_method") if c in source.frame]
    records = source.frame[[*_NEEDED, *more]].to_dict("records")
    return [{str(key): value for key, value in row.items()} for row in records]


def kind_of(row: Mapping[str, Any]) -> str:
    """``vanilla``, ``cce``, or another strategy by its name.

    Examples
    --------
    >>> kind_of({"factor_strategy": "cce-criticising@8"}), kind_of({"factor_method": "pairwise"})
    ('cce', 'vanilla')
    """
    strategy = row.get("factor_strategy")
    name = strategy if isinstance(strategy, str) and strategy else "vanilla"
    return "cce" if name.startswith("cce") else name


def _labels(items: tuple[Item, ...]) -> dict[str, str]:
    """Each pair's label, by the pair's name: what most annotators said, where one thing leads."""
    table = label_table(items)
    by_id = {item.id: item for item in items}
    out = {}
    for item, pair, label in zip(table.items, table.pairs, table.labels, strict=True):
        (first, votes), *rest = Counter(x for x in label if x).most_common()
        if not rest or rest[0][1] < votes:
            out[pair_name(by_id[item], pair)] = first
    return out


def _agreed(rows: Sequence[Mapping[str, Any]]) -> set[tuple[str, str, int]]:
    """(condition, pair, replicate) with the same readable verdict in both orders."""
    verdicts: dict[tuple[str, str, int], dict[str, str]] = {}
    for row in rows:
        if row["status"] == Status.OK.value and row["stage"] == "final":
            key = (row["condition"], row["item_id"], row["replicate"])
            verdicts.setdefault(key, {})[row["order"]] = row["choice"]
    return {
        key
        for key, orders in verdicts.items()
        if orders.get("ab") and orders.get("ab") == orders.get("ba")
    }


def _rejection_reason(
    row: Mapping[str, Any],
    unit: Unit | None,
    filters: Filters,
    labels: Mapping[str, str],
    agreed: set[tuple[str, str, int]],
) -> str:
    """Why a judgment is not wanted; empty where it is."""
    kind = kind_of(row)
    wanted = {"vanilla": {"vanilla"}, "cce": {"cce"}, "mixed": {"vanilla", "cce"}, "any": {kind}}
    label = labels.get(row["item_id"], "")
    stage = stage_kind(str(row["stage"]))
    verdict, place = row["choice"], (row["condition"], row["item_id"], row["replicate"])
    named = not filters.conditions or any(text in row["condition"] for text in filters.conditions)
    checks = (
        (f"another stage: {stage}", row["stage"] != "final"),
        ("no verdict on a pair", row["order"] not in {"ab", "ba"}),
        ("another condition", not named),
        (f"another strategy: {kind}", kind not in wanted[filters.kind]),
        ("unread", row["status"] != Status.OK.value),
        ("no verdict on a pair", verdict not in {"a", "b", "tie"}),
        ("a pair that the items do not have", unit is None),
        ("a tie", verdict == "tie"),
        ("no label", filters.correct and not label),
        ("not correct", filters.correct and verdict != label),
        ("not the same in both orders", filters.consistent and place not in agreed),
        ("no reasoning", not str(row["explanation"]).strip()),
    )
    return next((why for why, holds in checks if holds), "")


def _example(run: str, row: Mapping[str, Any], unit: Unit) -> Example | str:
    """The chat, or the reason why it cannot be written."""
    first = "a" if unit.shown[0] == min(unit.shown) else "b"
    letter = "A" if row["choice"] == first else "B"
    explanation = str(row["explanation"]).strip()
    mark = f"[[{letter}]]"
    reply = explanation if explanation.endswith(mark) else f"{explanation}\n\n{mark}".strip()
    prompt = STUDENT.ask("vanilla", unit, ReplyMode.TEXT)
    messages = (*prompt.messages, {"role": "assistant", "content": reply})
    texts = [m["content"] for m in messages]
    if any(_CONTROL.search(text) for text in texts):
        return "a control character"
    if any(_SPECIAL.search(text) for text in texts):
        return "a chat template's control token"
    if sum(map(len, texts)) > _MAX_CHARS:
        return "too long"
    back = STUDENT.read(unit, ReplyMode.TEXT, reply)
    if back.status is not Status.OK or back.choice != row["choice"]:
        return "another verdict in the reasoning"
    return Example(
        messages=messages,
        run=run,
        condition=row["condition"],
        kind=kind_of(row),
        item_id=row["item_id"],
        order=row["order"],
        replicate=int(row["replicate"]),
        cluster=row["cluster"],
        question=unit.item.question,
        verdict=letter,
    )


def balanced(chosen: ExampleSet, *, seed: int = 0) -> ExampleSet:
    """As many examples of every kind (vanilla, cce, ...) as the smallest has.

    Parameters
    ----------
    chosen : ExampleSet
    seed : int
        Of the choice of examples from a larger kind. Questions take turns, so that all of them stay
        as long as possible, and examples within a question are drawn.

    Returns
    -------
    ExampleSet
        In their order; what was left out is counted.

    Raises
    ------
    InputError
        If there is one kind only.
    """
    sizes = Counter(example.kind for example in chosen.examples)
    if len(sizes) < 2:
        raise InputError(
            "export: examples of several kinds are needed to be balanced. Leave --balance out, or "
            "export a run with vanilla and crowd judgments (--mode mixed)."
        )
    least, seen = min(sizes.values()), Counter[tuple[str, str, str]]()
    turns: dict[str, list[tuple[int, str, int]]] = {}
    for draw, i in sorted((_draw(x, seed), i) for i, x in enumerate(chosen.examples)):
        x = chosen.examples[i]
        question = (x.kind, x.run, x.cluster)
        turns.setdefault(x.kind, []).append((seen[question], draw, i))
        seen[question] += 1
    kept = {i for own in turns.values() for _, _, i in sorted(own)[:least]}
    lost = len(chosen.examples) - len(kept)
    left = dict(chosen.left_out) | ({"more of its kind than of the others": lost} if lost else {})
    examples = tuple(x for i, x in enumerate(chosen.examples) if i in kept)
    return replace(chosen, examples=examples, left_out=left)


def _draw(x: Example, seed: int) -> str:
    about = "\0".join((str(seed), x.condition, x.item_id, x.order, str(x.replicate), x.run))
    return hashlib.sha256(about.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, kw_only=True)
class DataSplit:
    """The two parts, and the number of questions (or what ties questions together) in each."""

    train: tuple[Example, ...]
    validation: tuple[Example, ...]
    train_questions: int
    validation_questions: int


def split_by_question(
    examples: Sequence[Example], *, share: float = 0.1, seed: int = 0
) -> DataSplit:
    """Put whole questions into training or validation.

    Parameters
    ----------
    examples : sequence of Example
    share : float
        Part of the questions that goes to validation, 0 up to .5; rounded to whole questions, at
        least one unless it is 0.
    seed : int

    Returns
    -------
    DataSplit
        Examples of one cluster, and those with the same question in whatever cluster or run, stay
        together. The place of a question depends on the seed and its text alone.

    Raises
    ------
    InputError
        If the share is out of range, or there are too few questions to divide.
    """
    if not (0 <= share <= 0.5 and math.isfinite(share)):
        raise InputError(f"export: the validation share must be 0 to 0.5, got {share}.")

    def draw(group: list[int]) -> str:
        first = min(examples[i].question for i in group)
        return hashlib.sha256(f"{seed}\0{first}".encode()).hexdigest()

    drawn = sorted(_together(examples), key=draw)
    wanted = 0 if share == 0 else max(1, math.floor(share * len(drawn) + 0.5))
    if wanted >= len(drawn) > 0:
        raise InputError(
            f"export: {len(drawn)} question(s) cannot be divided into training and validation. "
            "Give more judgments, or --validation 0."
        )
    held = {i for group in drawn[:wanted] for i in group}
    return DataSplit(
        train=tuple(x for i, x in enumerate(examples) if i not in held),
        validation=tuple(x for i, x in enumerate(examples) if i in held),
        train_questions=len(drawn) - wanted,
        validation_questions=wanted,
    )


def _together(examples: Sequence[Example]) -> list[list[int]]:
    """Places of the examples that must stay together (through clusters and questions)."""
    groups = DisjointSet(range(len(examples)))
    first: dict[tuple[str, ...], int] = {}
    for i, example in enumerate(examples):
        plain = " ".join(example.question.split()).casefold()
        for key in (("cluster", example.run, example.cluster), ("question", plain)):
            groups.merge(first.setdefault(key, i), i)
    return [sorted(group) for group in groups.subsets()]


def write_training_data(
    folder: str | Path,
    *,
    chosen: ExampleSet,
    split: DataSplit,
    filters: Filters,
    seed: int,
    runs: Sequence[Mapping[str, str]],
    overwrite: bool = False,
) -> list[str]:
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
    overwrite : bool
        Whether files of these names that are there may be replaced.

    Returns
    -------
    list of str
        Names of the files.

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
    texts["README.md"] = _card(chosen, split, filters, seed, runs)
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
    return sorted(texts)


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
    rows: list[list[Any]] = [
        ["file", "line", "run", "condition", "kind", "item_id", "order", "replicate", "verdict"]
    ]
    for file, part in (("train.jsonl", split.train), ("validation.jsonl", split.validation)):
        for line, x in enumerate(part, start=1):
            place = [x.run, x.condition, x.kind, x.item_id, x.order, x.replicate, x.verdict]
            rows.append([file, line, *place])
    return rows_text(rows)


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
) -> str:
    names = {"train": split.train, "validation": split.validation}
    head = ["---", "license: other", "configs:", "  - config_name: default", "    data_files:"]
    for name, part in names.items():
        if part:
            head += [f"      - split: {name}", f"        path: {name}.jsonl"]
    lines = [*head, "---", "", "# Judgments as training data for a judge", ""]
    if any(run.get("simulated") == "true" for run in runs):
        lines += ["**SIMULATED judges**: the reasoning is placeholder text, not for training.", ""]
    lines += ["| part | examples | questions | kind | verdicts |", "|---|---|---|---|---|"]
    for name, part in names.items():
        n = split.train_questions if name == "train" else split.validation_questions
        lines.append(
            f"| {name} | {len(part)} | {n} | {_counts(part, 'kind')} | {_counts(part, 'verdict')} |"
        )
    lines += ["", "| run | judges | items |", "|---|---|---|"]
    lines += [f"| {_cell(r['name'])} | {_cell(r['judges'])} | {_cell(r['items'])} |" for r in runs]
    settings = {k: v for k, v in asdict(filters).items() if v not in ((), "")}
    lines += [
        "",
        "Filters: " + ", ".join(f"{k} = {_cell(v)}" for k, v in settings.items()) + ". "
        f"Split by question with seed {seed}; no question stands in both parts. Exact repetitions "
        "are kept once. Prompt of the student: "
        f"{STUDENT.comparison('vanilla').template.sha}.",
        "",
        f"Of {chosen.judgments} judgments, {len(chosen.examples)} became examples. Left out:",
        "",
        "| reason | judgments |",
        "|---|---|",
        *(f"| {why} | {n} |" for why, n in chosen.left_out.items()),
        "",
        (
            "Verdicts by majority are never here, since no judge wrote a reasoning that led to "
            "them; other strategies only by --mode any."
        ),
        "",
        "## Licence",
        "",
        "Nothing is licensed by this file. Questions and answers keep the licence of their set.",
        "A provider's terms say whether other models may be trained on what its model wrote.",
        "Texts are untrusted: data, not instructions, and not checked for truth.",
        "",
    ]
    return "\n".join(lines)
