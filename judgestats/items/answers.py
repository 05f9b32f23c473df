"""Answers of models from a file of their own, and which answers are known to be good."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from judgestats.errors import InputError
from judgestats.items.files import read_source
from judgestats.items.records import MAX_CHARS, as_text, as_turns, shown
from judgestats.items.schema import Item, Response
from judgestats.items.tables import as_name

LONGEST_TARGET = 60
"""Characters. A longer reference is a model answer rather than a target to be matched."""

_ID = ("item_id", "item", "id", "question_id")
_AUTHOR = ("author", "model", "model_id")
_ANSWER = ("answer", "response", "text", "output")
_SETTING = re.compile(r"@https?://.*$|, t=[\d.]+.*$| #\d+$")
_LETTER = re.compile(r"\(\w\)")
_WORDS = re.compile(r"[^\w.%$-]+")


def with_answers(
    items: Sequence[Item], path: str | Path, *, required: bool = True
) -> tuple[Item, ...]:
    """Items with the answers of a file instead of their own.

    Parameters
    ----------
    items : sequence of Item
    path : str or Path
        JSONL, CSV or Parquet; a row is one answer: ``item_id``, ``author`` (or ``model``), and
        ``answer`` (or ``response``); ``turns`` may hold the answers to all turns of the question.
        Rows of items that are not in `items` are not used.
    required : bool
        Whether it is an error if the file answers none of the items.

    Returns
    -------
    tuple of Item
        Those that the file answers, in their order; the answers in the order of the file.

    Raises
    ------
    InputError
        A row lacks a field, a model answers an item twice, or no item is answered.
    """
    source = read_source(path)
    wanted = {item.id: item for item in items}
    answers: dict[str, dict[str, tuple[str, ...]]] = {}
    for row in source.rows:
        item_id = as_name(_first(row.values, _ID, row.where), f"{row.where}: the item's id")
        if item_id not in wanted:
            continue
        author = as_name(_first(row.values, _AUTHOR, row.where), f"{row.where}: the author")
        text = as_text(
            _first(row.values, _ANSWER, row.where),
            f"{row.where}: the answer",
            empty_ok=True,
            max_chars=MAX_CHARS,
        )
        given = answers.setdefault(item_id, {})
        if author in given:
            raise InputError(f"{row.where}: {author} answers the item {item_id!r} a second time.")
        given[author] = _turns(row.values.get("turns"), text, wanted[item_id], row.where)
    if not answers and required:
        raise InputError(
            f"answers: no row of {source.name} answers any of the {len(items)} items. Its item_id "
            f"must be theirs, such as {shown(items[0].id) if items else 'the first one'}."
        )
    return tuple(
        replace(
            item,
            labels=(),
            responses=tuple(
                Response(turns=turns, author=author) for author, turns in answers[item.id].items()
            ),
        )
        for item in items
        if item.id in answers
    )


def _turns(given: Any, answer: str, item: Item, where: str) -> tuple[str, ...]:
    """The answers to all turns: as told, else only the last one is known and the others empty."""
    if not isinstance(given, list):
        return (*("",) * (len(item.turns) - 1), answer)
    turns = as_turns(given, f"{where}: 'turns'", empty_ok=True)
    if len(turns) != len(item.turns) or turns[-1] != answer:
        raise InputError(
            f"{where}: 'turns' must hold one answer for each of the {len(item.turns)} turns of "
            f"{shown(item.id)}, the last of them the answer. Leave it out if only that is known."
        )
    return turns


def _first(values: Any, names: Sequence[str], where: str) -> Any:
    for name in names:
        if name in values:
            return values[name]
    raise InputError(f"{where}: one of the fields {', '.join(names)} is needed; none is there.")


def model_names(name: str) -> tuple[str, ...]:
    """What the model behind a judge's or an author's name may be called.

    Without endpoint, temperature and number, in small letters; with and without its maker.

    Examples
    --------
    >>> model_names("Qwen/Qwen2.5-7B@http://localhost:8000/v1")
    ('qwen/qwen2.5-7b', 'qwen2.5-7b')
    >>> model_names("gpt-4o, T=0.5 #2"), model_names("")
    (('gpt-4o',), ())
    """
    bare = _SETTING.sub("", name.strip().lower())
    return tuple(dict.fromkeys(m for m in (bare, bare.rpartition("/")[2]) if m))


def holds_target(answer: str, target: str) -> bool | None:
    """Whether an answer names a short target, as whole words, whatever their case.

    A single letter in brackets is looked for with its brackets: "a" is a word of its own. None
    where the target is longer than `LONGEST_TARGET` characters or empty: then matching words says
    nothing.

    Examples
    --------
    >>> holds_target("The answer is (B).", "(B)"), holds_target("Falsehood.", "False")
    (True, False)
    """
    if _LETTER.fullmatch(target.strip()):
        return target.strip().lower() in answer.lower()
    plain_answer, meant = (_plain(text) for text in (answer, target))
    if not meant or len(target) > LONGEST_TARGET:
        return None
    return f" {meant} " in f" {plain_answer} "


def _plain(text: str) -> str:
    words = (word.strip(".-") for word in _WORDS.split(text.lower()))
    return " ".join(word for word in words if word)


def best_response(item: Item, among: Sequence[int]) -> int | None:
    """The response that people or the item's design prefer to all others, if there is one.

    Designed qualities come first (the bundled bank); else the labels: most wins less losses, if no
    other response has as many.

    Parameters
    ----------
    item : Item
    among : sequence of int
        Indices of the responses that are compared.

    Returns
    -------
    int or None
    """
    qualities = {i: item.responses[i].quality for i in among}
    by_name = {i: q for i, q in qualities.items() if q is not None}
    if len(by_name) == len(qualities):
        return _unique_best(by_name)
    wins = dict.fromkeys(among, 0.0)
    seen = False
    for label in item.labels:
        if label.a in wins and label.b in wins and label.turn == len(item.turns):
            seen = True
            won = {"a": 1.0, "b": -1.0, "tie": 0.0}[label.winner]
            wins[label.a] += won
            wins[label.b] -= won
    return _unique_best(wins) if seen else None


def _unique_best(values: dict[int, float]) -> int | None:
    top = max(values.values())
    best = [i for i, value in values.items() if value == top]
    return best[0] if len(best) == 1 else None
