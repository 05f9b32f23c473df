"""Candidate responses to a question: drawn, and what people's labels say of each."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from judgestats.errors import InputError
from judgestats.items.schema import Item


def draw_candidates(items: Sequence[Item], *, count: int, seed: int) -> tuple[Item, ...]:
    """Keep `count` responses of every item, drawn by seed, and the labels among them.

    Parameters
    ----------
    items : sequence of Item
    count : int
        Candidates an item, at least 2; items with fewer are left out.
    seed : int
        The draw hangs on the seed, the item's id and the response's text and author alone.

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
    kept = tuple(_drawn(item, count, seed) for item in items if len(item.responses) >= count)
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
        The draw hangs on the seed, the item's id and the places of its responses alone.

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


def _drawn(item: Item, count: int, seed: int) -> Item:
    def place(index: int) -> str:
        response = item.responses[index]
        text = "\0".join((str(seed), item.id, response.author, *response.turns, str(index)))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    kept = sorted(sorted(range(len(item.responses)), key=place)[:count])
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
    >>> from judgestats.items.schema import HumanLabel, Response
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
