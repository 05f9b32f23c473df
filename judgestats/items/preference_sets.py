"""Published sets of labelled response pairs."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from judgestats.arrays import Objects
from judgestats.errors import InputError
from judgestats.items.records import (
    HumanLabel,
    Item,
    Response,
    as_text,
    check_items,
    short_repr,
)
from judgestats.items.tables import Row, Source, as_name, read_winner

GOLD = "gold"
"""The annotator's name of labels that a set declares to be right."""

_TURN_MARK = re.compile(r"\s*<extra_id_1>(Assistant|User)\n")


def _text(row: Row, name: str, *, empty_ok: bool = False) -> str:
    if name not in row.values:
        raise InputError(
            f"{row.where}: the field {name!r} is missing; it has "
            f"{short_repr(list(row.values), 200)}."
        )
    return as_text(row.values[name], f"{row.where}: {name!r}", empty_ok=empty_ok)


def _optional_name(row: Row, name: str, default: str = "") -> str:
    value = row.values.get(name)
    return default if value in (None, "") else as_name(value, f"{row.where}: {name!r}")


class _Items:
    """Items in the making: those with the same question share the cluster of the first."""

    def __init__(self) -> None:
        self._items: list[Item] = []
        self._cluster_of: dict[object, str] = {}

    def add(
        self, item_id: str, question: str, responses: tuple[Response, ...], **fields: Any
    ) -> None:
        """An item of one turn; `fields` are others of it."""
        key = (question, fields.get("context", ""))
        cluster = self._cluster_of.setdefault(key, item_id)
        self._items.append(
            Item(id=item_id, cluster=cluster, turns=(question,), responses=responses, **fields)
        )

    def checked(self, source: Source) -> tuple[Item, ...]:
        """All of them, checked."""
        return check_items(self._items, where=source.name)


def _gold(winner: str) -> tuple[HumanLabel, ...]:
    """The label of a pair of which one is correct."""
    return (HumanLabel(annotator=GOLD, a=0, b=1, winner=winner),)


def rewardbench_items(source: Source) -> tuple[Item, ...]:
    """RewardBench: rows with ``prompt, chosen, rejected, subset`` and, where given, ids and models.

    Also understands RewardBench 2, where `chosen` and `rejected` are lists: every chosen response
    is labelled better than every rejected one.

    Parameters
    ----------
    source : Source

    Returns
    -------
    tuple of Item
        Chosen responses first, then rejected ones; the category is the subset, labels are by
        ``"gold"``. Ids are ``<subset>/<id>`` (an id alone is not unique in RewardBench 2).

    Raises
    ------
    InputError
        If a field is missing, of the wrong type or empty.
    """
    items = _Items()
    for number, row in enumerate(source.rows, start=1):
        subset = _optional_name(row, "subset")
        name = _optional_name(row, "id", f"row-{number}")
        item_id = f"{subset}/{name}" if subset else name
        prompt = _text(row, "prompt")
        chosen = _responses(row, "chosen", _models(row, "chosen_model"))
        rejected = _responses(row, "rejected", _models(row, "rejected_model"))
        # RewardBench 2 names the authors of all its completions together, or one for them all.
        authors = _models(row, "models")
        if len(authors) in {1, len(chosen) + len(rejected)}:
            chosen = _name_authors(chosen, authors[: len(chosen)] if len(authors) > 1 else authors)
            rejected = _name_authors(
                rejected, authors[len(chosen) :] if len(authors) > 1 else authors
            )
        labels = tuple(
            HumanLabel(annotator=GOLD, a=a, b=len(chosen) + b, winner="a")
            for a in range(len(chosen))
            for b in range(len(rejected))
        )
        items.add(item_id, prompt, chosen + rejected, category=subset, labels=labels)
    return items.checked(source)


def _name_authors(
    responses: tuple[Response, ...], authors: tuple[str, ...]
) -> tuple[Response, ...]:
    names = authors * len(responses) if len(authors) == 1 else authors
    return tuple(
        replace(response, author=response.author or name)
        for response, name in zip(responses, names, strict=True)
    )


def _models(row: Row, name: str) -> tuple[str, ...]:
    value = row.values.get(name) or ()
    entries = value if isinstance(value, Sequence) and not isinstance(value, str) else (value,)
    return tuple(str(entry) for entry in entries)


def _responses(row: Row, field: str, authors: tuple[str, ...]) -> tuple[Response, ...]:
    value = row.values.get(field)
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, Sequence) or not texts:
        raise InputError(
            f"{row.where}: {field!r} must be a text or a list of texts, not {short_repr(value)}."
        )
    names = authors if len(authors) == len(texts) else ("",) * len(texts)
    what = f"{row.where}: {field!r}"
    return tuple(
        Response(turns=(as_text(text, what, empty_ok=True),), author=name)
        for text, name in zip(texts, names, strict=True)
    )


def helpsteer2_items(source: Source) -> tuple[Item, ...]:
    """HelpSteer2: the responses to a prompt; the more helpful one is preferred, equal ones tie.

    Parameters
    ----------
    source : Source
        Rows with ``prompt, response, helpfulness`` (0-4); rows with the same prompt belong together
        (two a prompt in the published set).

    Returns
    -------
    tuple of Item
        One per prompt, with a label by ``"ratings"`` for every pair of its responses. Prompts with
        one response only are left out: nothing can be compared. A prompt that holds earlier turns
        (marked ``<extra_id_1>User`` and ``<extra_id_1>Assistant`` in the published file) becomes an
        item of several turns.

    Raises
    ------
    InputError
        If a field is missing or of the wrong type.
    """
    rated: dict[str, list[tuple[Response, float]]] = {}
    for row in source.rows:
        answer = _text(row, "response", empty_ok=True)
        value = _rating(row, "helpfulness")
        prompt = _text(row, "prompt")
        _, earlier = _conversation_turns(prompt)
        rated.setdefault(prompt, []).append((Response(turns=(*earlier, answer)), value))
    items = []
    for number, (prompt, entries) in enumerate(rated.items(), start=1):
        if len(entries) < 2:
            continue
        labels = tuple(
            HumanLabel(annotator="ratings", a=a, b=b, winner=_higher(entries[a][1], entries[b][1]))
            for a, b in combinations(range(len(entries)), 2)
        )
        name = f"prompt-{number}"
        items.append(
            Item(
                id=name,
                cluster=name,
                turns=_conversation_turns(prompt)[0],
                responses=tuple(response for response, _ in entries),
                labels=labels,
            )
        )
    return check_items(items, where=source.name)


def _conversation_turns(prompt: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The user's turns in a HelpSteer2 prompt, and the assistant's earlier answers between them.

    A prompt in which the marks do not alternate from user to user stays one text.
    """
    first, *rest = _TURN_MARK.split(prompt)
    roles, texts = rest[::2], [first.strip(), *(text.strip() for text in rest[1::2])]
    alternating = ["Assistant", "User"] * (len(roles) // 2)
    if not roles or roles != alternating or not all(texts):
        return (prompt,), ()
    return tuple(texts[::2]), tuple(texts[1::2])


def _rating(row: Row, name: str) -> float:
    value = row.values.get(name)
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"{row.where}: {name!r} must be a number, not {short_repr(value)}.")
    return number


def _higher(a: float, b: float) -> str:
    return "tie" if a == b else "a" if a > b else "b"


def judgebench_items(source: Source) -> tuple[Item, ...]:
    """JudgeBench: pairs in which one answer is objectively correct.

    Parameters
    ----------
    source : Source
        Rows with ``pair_id, source, question, response_A, response_B`` and `label`, ``"A>B"`` or
        ``"B>A"``; all answers of a row are by `response_model`.

    Returns
    -------
    tuple of Item
        The category is `source` (``mmlu-pro-physics``, ``livebench-math`` ...).

    Raises
    ------
    InputError
        If a field is missing or of the wrong type, or a label is neither.
    """
    items = _Items()
    for number, row in enumerate(source.rows, start=1):
        label = str(row.values.get("label")).replace(" ", "")
        if label not in ("A>B", "B>A"):
            raise InputError(f"{row.where}: 'label' must be A>B or B>A, not {short_repr(label)}.")
        question = _text(row, "question")
        item_id = _optional_name(row, "pair_id", f"row-{number}")
        author = _optional_name(row, "response_model")
        items.add(
            item_id,
            question,
            _two_responses(row, ("response_A", "response_B"), (author, author)),
            category=_optional_name(row, "source"),
            labels=_gold(label[0].lower()),
        )
    return items.checked(source)


def evalbias_items(source: Source) -> tuple[Item, ...]:
    """EvalBiasBench: pairs by type of bias; `response1` is the better one.

    Parameters
    ----------
    source : Source
        One object: type of bias to a list of ``{"instruction", "response1", "response2",
        "label"}``, where `label` is the number of the better response (always 1 in the published
        file).

    Returns
    -------
    tuple of Item
        The category is the type of bias.

    Raises
    ------
    InputError
        If a field is missing or of the wrong type.
    """
    items = _Items()
    for bias, records in (source.document or {}).items():
        if not isinstance(records, Sequence) or isinstance(records, str):
            raise InputError(f"{source.name}: {bias!r} must be a list, not {short_repr(records)}.")
        for number, record in enumerate(records, start=1):
            row = _row(source, record, f"{bias}, record {number}")
            instruction = _text(row, "instruction")
            item_id = f"{bias.replace(' ', '_')}-{number}"
            winner = read_winner(row.values.get("label", 1), f"{row.where}: 'label'")
            responses = _two_responses(row, _NUMBERED)
            items.add(item_id, instruction, responses, category=bias, labels=_gold(winner))
    return items.checked(source)


def _row(source: Source, record: Any, where: str) -> Row:
    if not isinstance(record, Mapping):
        raise InputError(f"{source.name}, {where} must be an object, not {short_repr(record)}.")
    return Row(where=f"{source.name}, {where}", values=record)


_NUMBERED = ("response1", "response2")


def _two_responses(
    row: Row, names: tuple[str, str], authors: tuple[str, str] = ("", "")
) -> tuple[Response, ...]:
    return tuple(
        Response(turns=(_text(row, name, empty_ok=True),), author=author)
        for name, author in zip(names, authors, strict=True)
    )


def offsetbias_items(source: Source) -> tuple[Item, ...]:
    """OffsetBias: rows with ``instruction, output_1, output_2`` and ``label`` (1 or 2 is better).

    Parameters
    ----------
    source : Source

    Returns
    -------
    tuple of Item
        One per row; rows with the same instruction share a cluster.

    Raises
    ------
    InputError
        If a field is missing or of the wrong type, or a label is neither.
    """
    items = _Items()
    for number, row in enumerate(source.rows, start=1):
        label = str(row.values.get("label"))
        if label not in ("1", "2"):
            raise InputError(f"{row.where}: 'label' must be 1 or 2, not {short_repr(label)}.")
        question = _text(row, "instruction")
        responses = _two_responses(row, ("output_1", "output_2"))
        items.add(f"row-{number}", question, responses, labels=_gold("ab"[int(label) - 1]))
    return items.checked(source)


MAJORITY = "majority"
"""The annotator's name of a label that stands for a pair's labels together."""


@dataclass(frozen=True, kw_only=True)
class LabelledPairs:
    """Labelled pairs with all their labels.

    Attributes
    ----------
    items : tuple of str
        Each pair's item.
    pairs : tuple of (int, int)
        Indices of the two responses, the earlier one first.
    clusters, categories : ndarray of object, shape (n_pairs,)
    labels : ndarray of object, shape (n_pairs, most labels of a pair)
        ``"a"`` (the earlier response wins), ``"b"``, ``"tie"``; empty where a pair has fewer. A
        column is not a person: it is the pair's first, second ... label.
    """

    items: tuple[str, ...]
    pairs: tuple[tuple[int, int], ...]
    clusters: Objects
    categories: Objects
    labels: Objects


def label_table(items: Iterable[Item]) -> LabelledPairs:
    """Every labelled pair of the items, with all its labels.

    Examples
    --------
    >>> from judgestats.items.records import Response
    >>> item = Item(id="q", cluster="q", turns=("?",),
    ...     responses=(Response(turns=("x",)), Response(turns=("y",))),
    ...     labels=(HumanLabel(annotator="p", a=1, b=0, winner="a"),))
    >>> table = label_table((item,))
    >>> table.pairs, table.labels.tolist()
    (((0, 1),), [['b']])
    """
    rows: list[tuple[Item, tuple[int, int], list[str]]] = []
    for item in items:
        rows += [(item, pair, winners) for pair, winners in _winners_by_pair(item)]
    width = max((len(labels) for _, _, labels in rows), default=0)
    table = np.full((len(rows), width), "", dtype=object)
    for i, (_, _, labels) in enumerate(rows):
        table[i, : len(labels)] = labels
    return LabelledPairs(
        items=tuple(item.id for item, _, _ in rows),
        pairs=tuple(pair for _, pair, _ in rows),
        clusters=np.array([item.cluster for item, _, _ in rows], dtype=object),
        categories=np.array([item.category for item, _, _ in rows], dtype=object),
        labels=table,
    )


def drop_ties(items: Iterable[Item]) -> tuple[Item, ...]:
    """The items without labels that call a tie, as studies of accuracy take them.

    Parameters
    ----------
    items : iterable of Item

    Returns
    -------
    tuple of Item
        An item of which every label was a tie is left out; an item that never had one is kept.

    Raises
    ------
    InputError
        If nothing is left.

    Examples
    --------
    >>> from judgestats.items.records import Response
    >>> two = (Response(turns=("x",)), Response(turns=("y",)))
    >>> labels = tuple(HumanLabel(annotator="p", a=0, b=1, winner=w) for w in ("tie", "a"))
    >>> item = Item(id="q", cluster="q", turns=("?",), responses=two, labels=labels)
    >>> [label.winner for label in drop_ties([item])[0].labels]
    ['a']
    """
    kept = []
    for item in items:
        labels = tuple(label for label in item.labels if label.winner != "tie")
        if labels or not item.labels:
            kept.append(replace(item, labels=labels))
    if not kept:
        raise InputError("items: every label is a tie, so nothing is left with ties=drop.")
    return tuple(kept)


def majority_labels(items: Iterable[Item]) -> tuple[tuple[Item, ...], int]:
    """One label per pair: what most of its labels that decide say, as accuracy needs it.

    Parameters
    ----------
    items : iterable of Item

    Returns
    -------
    tuple of items and int
        Items with at least one decided pair, their responses all kept; and the number of labelled
        pairs left out, since ties or an even split leave nothing to be right about.

    Examples
    --------
    >>> from judgestats.items.records import Response
    >>> two = (Response(turns=("x",)), Response(turns=("y",)))
    >>> labels = tuple(HumanLabel(annotator=w, a=0, b=1, winner=w) for w in ("tie", "a"))
    >>> item = Item(id="q", cluster="q", turns=("?",), responses=two, labels=labels)
    >>> kept, left_out = majority_labels([item])
    >>> kept[0].labels[0].winner, kept[0].labels[0].annotator, left_out
    ('a', 'majority', 0)
    """
    kept, left_out = [], 0
    for item in items:
        votes, decided = _winners_by_pair(item), []
        for (a, b), winners in votes:
            lead = winners.count("a") - winners.count("b")
            if lead:
                winner = "a" if lead > 0 else "b"
                decided.append(HumanLabel(annotator=MAJORITY, a=a, b=b, winner=winner))
        left_out += len(votes) - len(decided)
        if decided:
            kept.append(replace(item, labels=tuple(decided)))
    return tuple(kept), left_out


def _winners_by_pair(item: Item) -> list[tuple[tuple[int, int], list[str]]]:
    """The labelled pairs of an item in order, each with the winners of its labels."""
    winners: dict[tuple[int, int], list[str]] = {}
    for label in item.labels:
        pair = (min(label.a, label.b), max(label.a, label.b))
        winners.setdefault(pair, []).append(_position_winner(label))
    return sorted(winners.items())


def _position_winner(label: HumanLabel) -> str:
    """The winner, with a for the earlier response."""
    if label.a < label.b or label.winner == "tie":
        return label.winner
    return "b" if label.winner == "a" else "a"


def draw_labelled_pairs(
    items: Sequence[Item], *, limit: int | None, seed: int, keep_responses: bool = False
) -> tuple[Item, ...]:
    """Keep labelled pairs only, at most `limit` of them, and the responses that they need.

    The draw of a pair depends on the seed, its item and its position alone; it goes round the
    questions, so that few pairs come from many questions.

    Parameters
    ----------
    items : sequence of Item
    limit : int or None
        None keeps all labelled pairs.
    seed : int
    keep_responses : bool
        Whether an item keeps responses that no drawn pair needs (a crowd to compare with).

    Returns
    -------
    tuple of Item
        Items without a drawn pair are left out. Responses keep their order.

    Raises
    ------
    InputError
        If no pair has a label.
    """
    drawn = drawn_pairs(items, limit=limit, seed=seed)
    if not drawn:
        raise InputError(
            "items: no pair of responses has a human label, so there is nothing to be aligned "
            "with. Use items=bank, or MT-Bench human judgments (question_id, model_a, model_b, "
            "winner, judge, conversation_a, conversation_b, turn)."
        )
    return tuple(
        _only(items[place], drawn[place], keep_responses=keep_responses) for place in sorted(drawn)
    )


def drawn_pairs(
    items: Sequence[Item], *, limit: int | None, seed: int, labelled: bool = True
) -> dict[int, set[tuple[int, int]]]:
    """Pairs of responses by the place of their item, drawn round the questions.

    Parameters
    ----------
    items : sequence of Item
    limit : int or None
        None keeps all pairs.
    seed : int
    labelled : bool
        Whether only pairs with a label are drawn.

    Returns
    -------
    dict of place to set of (int, int)

    Examples
    --------
    >>> from judgestats.items.bank import load_bank
    >>> drawn = drawn_pairs(load_bank(), limit=40, seed=0, labelled=False)
    >>> len(drawn), sum(map(len, drawn.values()))
    (32, 40)
    """
    by_cluster: dict[str, list[tuple[str, int, tuple[int, int]]]] = {}
    for place, item in enumerate(items):
        n = len(item.responses)
        pairs = (
            sorted({(min(x.a, x.b), max(x.a, x.b)) for x in item.labels})
            if labelled
            else [(i, j) for j in range(n) for i in range(j)]
        )
        for pair in pairs:
            key = hashlib.sha256(f"{seed}\0{item.id}\0{pair}".encode()).hexdigest()
            by_cluster.setdefault(item.cluster, []).append((key, place, pair))
    turns = [
        (rank, key, place, pair)
        for listed in by_cluster.values()
        for rank, (key, place, pair) in enumerate(sorted(listed))
    ]
    drawn: dict[int, set[tuple[int, int]]] = {}
    for _, _, place, pair in sorted(turns)[:limit]:
        drawn.setdefault(place, set()).add(pair)
    return drawn


def _only(item: Item, pairs: set[tuple[int, int]], *, keep_responses: bool) -> Item:
    """An item with the labels of some pairs, and the responses that they need, or all."""
    kept = sorted({index for pair in pairs for index in pair})
    if keep_responses:
        kept = list(range(len(item.responses)))
    place = {old: new for new, old in enumerate(kept)}
    labels = tuple(
        replace(x, a=place[x.a], b=place[x.b])
        for x in item.labels
        if (min(x.a, x.b), max(x.a, x.b)) in pairs
    )
    return replace(item, responses=tuple(item.responses[i] for i in kept), labels=labels)
