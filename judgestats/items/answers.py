"""Answers and candidate responses from files."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from judgestats.errors import InputError
from judgestats.items.records import Item, Response, as_text, as_turns, short_repr
from judgestats.items.tables import as_name, read_source

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
    """Items with the answers of a file instead of the original ones.

    Parameters
    ----------
    items : sequence of Item
    path : str or Path
        JSONL, CSV, or Parquet, one row per answer: ``item_id``, ``author`` (or ``model``), and
        ``answer`` (or ``response``). ``turns`` may hold the answers to all turns of the question.
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
            _first(row.values, _ANSWER, row.where), f"{row.where}: the answer", empty_ok=True
        )
        given = answers.setdefault(item_id, {})
        if author in given:
            raise InputError(f"{row.where}: {author} answers the item {item_id!r} a second time.")
        given[author] = _turns(row.values.get("turns"), text, wanted[item_id], row.where)
    if not answers and required:
        raise InputError(
            f"answers: no row of {source.name} answers any of the {len(items)} items. Its item_id "
            f"must be theirs, such as {short_repr(items[0].id) if items else 'the first one'}."
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
            f"{short_repr(item.id)}, the last of them the answer. Leave it out if only that is "
            "known."
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

    A single letter in brackets is looked for with its brackets: "a" is a separate word. None where
    the target is longer than `LONGEST_TARGET` characters or empty: then matching words says
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


def draw_candidates(items: Sequence[Item], *, count: int, seed: int) -> tuple[Item, ...]:
    """Keep `count` responses of every item, drawn by seed, and the labels among them.

    Parameters
    ----------
    items : sequence of Item
    count : int
        Candidates an item, at least 2; items with fewer are left out.
    seed : int
        The draw depends on the seed, the item's id and the response's text and author alone.

    Returns
    -------
    tuple of Item
        The responses keep their order.

    Raises
    ------
    InputError
        If no item has as many responses.

    Examples
    --------
    >>> from judgestats.items.bank import load_bank
    >>> {len(item.responses) for item in draw_candidates(load_bank(), count=4, seed=0)}
    {4}
    """
    kept = tuple(
        _draw_responses(item, count, seed) for item in items if len(item.responses) >= count
    )
    if not kept:
        most = max((len(item.responses) for item in items), default=0)
        raise InputError(
            f"items: no question has {count} responses to choose from (at most {most}). Say "
            f"candidates={most}, or give models' answers as answers=FILE."
            if most > 1
            else "items: no question has two responses to choose from. Give models' answers as "
            "answers=FILE (JSONL or CSV with item_id, author, answer)."
        )
    return kept


def draw_responses(items: Sequence[Item], *, count: int | None, seed: int) -> tuple[Item, ...]:
    """Keep at most `count` responses of every item, drawn by seed; labels of pairs fall out.

    Parameters
    ----------
    items : sequence of Item
    count : int or None
        None keeps all.
    seed : int
        The draw depends on the seed, the item's id and the places of its responses alone.

    Returns
    -------
    tuple of Item
        The responses keep their order.

    Examples
    --------
    >>> from judgestats.items.bank import load_bank
    >>> [len(item.responses) for item in draw_responses(load_bank()[:2], count=2, seed=0)]
    [2, 2]
    """
    out = []
    for item in items:
        places = sorted(
            range(len(item.responses)),
            key=lambda k: hashlib.sha256(f"{seed}\0{item.id}\0{k}".encode()).digest(),
        )
        kept = sorted(places[:count])
        out.append(replace(item, responses=tuple(item.responses[k] for k in kept), labels=()))
    return tuple(out)


def _draw_responses(item: Item, count: int, seed: int) -> Item:
    def sort_key(index: int) -> str:
        response = item.responses[index]
        text = "\0".join((str(seed), item.id, response.author, *response.turns, str(index)))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    kept = sorted(sorted(range(len(item.responses)), key=sort_key)[:count])
    new = {old: i for i, old in enumerate(kept)}
    return replace(
        item,
        responses=tuple(item.responses[i] for i in kept),
        labels=tuple(
            replace(x, a=new[x.a], b=new[x.b]) for x in item.labels if x.a in new and x.b in new
        ),
    )


def labelled_shares(item: Item) -> tuple[float, ...]:
    """For each response the share of its labelled comparisons that it won, a tie as a half.

    NaN for a response in no label. A pair counts once, however many people compared it, so that
    a response compared more often does not count for more.

    Parameters
    ----------
    item : Item

    Returns
    -------
    tuple of float

    Examples
    --------
    >>> from judgestats.items.records import HumanLabel, Response
    >>> three = tuple(Response(turns=(t,)) for t in "xyz")
    >>> labels = (HumanLabel(annotator="p", a=0, b=1, winner="a"),
    ...     HumanLabel(annotator="q", a=1, b=0, winner="tie"))
    >>> labelled_shares(Item(id="q", cluster="q", turns=("?",), responses=three, labels=labels))
    (0.75, 0.25, nan)
    """
    share_by_pair: dict[tuple[int, int], list[float]] = {}
    for label in item.labels:
        won = {"a": 1.0, "b": 0.0, "tie": 0.5}[label.winner]
        pair, won = (
            ((label.a, label.b), won) if label.a < label.b else ((label.b, label.a), 1.0 - won)
        )
        share_by_pair.setdefault(pair, []).append(won)
    by_response: list[list[float]] = [[] for _ in item.responses]
    for (i, j), votes in share_by_pair.items():
        mean = sum(votes) / len(votes)
        by_response[i].append(mean)
        by_response[j].append(1.0 - mean)
    return tuple(_mean(shares) for shares in by_response)


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed) if listed else math.nan
