"""Pairs of responses that people have compared: drawn, and their labels as a table."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from judgestats.arrays import Objects
from judgestats.errors import InputError
from judgestats.items.schema import HumanLabel, Item

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
    >>> from judgestats.items.schema import Response
    >>> item = Item(id="q", cluster="q", turns=("?",),
    ...     responses=(Response(turns=("x",)), Response(turns=("y",))),
    ...     labels=(HumanLabel(annotator="p", a=1, b=0, winner="a"),))
    >>> table = label_table((item,))
    >>> table.pairs, table.labels.tolist()
    (((0, 1),), [['b']])
    """
    rows: list[tuple[Item, tuple[int, int], list[str]]] = []
    for item in items:
        by_pair: dict[tuple[int, int], list[str]] = {}
        for label in item.labels:
            pair = (min(label.a, label.b), max(label.a, label.b))
            by_pair.setdefault(pair, []).append(_by_position(label))
        rows += [(item, pair, by_pair[pair]) for pair in sorted(by_pair)]
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


def without_ties(items: Iterable[Item]) -> tuple[Item, ...]:
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
    >>> from judgestats.items.schema import Response
    >>> two = (Response(turns=("x",)), Response(turns=("y",)))
    >>> labels = tuple(HumanLabel(annotator="p", a=0, b=1, winner=w) for w in ("tie", "a"))
    >>> item = Item(id="q", cluster="q", turns=("?",), responses=two, labels=labels)
    >>> [label.winner for label in without_ties([item])[0].labels]
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
    """One label a pair: what most of its labels that decide say, as accuracy needs it.

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
    >>> from judgestats.items.schema import Response
    >>> two = (Response(turns=("x",)), Response(turns=("y",)))
    >>> labels = tuple(HumanLabel(annotator=w, a=0, b=1, winner=w) for w in ("tie", "a"))
    >>> item = Item(id="q", cluster="q", turns=("?",), responses=two, labels=labels)
    >>> kept, left_out = majority_labels([item])
    >>> kept[0].labels[0].winner, kept[0].labels[0].annotator, left_out
    ('a', 'majority', 0)
    """
    kept, left_out = [], 0
    for item in items:
        votes: dict[tuple[int, int], list[str]] = {}
        for label in item.labels:
            pair = (min(label.a, label.b), max(label.a, label.b))
            votes.setdefault(pair, []).append(_by_position(label))
        decided = []
        for (a, b), votes_of_item in sorted(votes.items()):
            lead = votes_of_item.count("a") - votes_of_item.count("b")
            if lead:
                winner = "a" if lead > 0 else "b"
                decided.append(HumanLabel(annotator=MAJORITY, a=a, b=b, winner=winner))
        left_out += len(votes) - len(decided)
        if decided:
            kept.append(replace(item, labels=tuple(decided)))
    return tuple(kept), left_out


def _by_position(label: HumanLabel) -> str:
    """The winner, with a for the earlier response."""
    if label.a < label.b or label.winner == "tie":
        return label.winner
    return "b" if label.winner == "a" else "a"


def draw_labelled_pairs(
    items: Sequence[Item], *, limit: int | None, seed: int, keep_responses: bool = False
) -> tuple[Item, ...]:
    """Keep labelled pairs only, at most `limit` of them, and the responses that they need.

    The draw of a pair hangs on the seed, its item and its place alone; it goes round the questions,
    so that few pairs come from many questions.

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
