"""Candidates chosen by their round robin, and the files that hold them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from types import MappingProxyType

import numpy as np
import pandas as pd

from judgestats.arrays import Floats
from judgestats.errors import InputError
from judgestats.items.records import Item
from judgestats.protocols.template import pair_name
from judgestats.sinks import csv_text
from judgestats.stats.agreement.preference import RoundRobin, round_robin

TIES: Mapping[str, str] = MappingProxyType(
    {
        "judgments": "the larger share of single judgments won, then a seeded draw",
        "random": "a seeded draw",
        "drop": "none is chosen",
    }
)
"""What becomes of candidates with equal points."""


@dataclass(frozen=True, kw_only=True)
class Selections:
    """Choices of one condition, question by question.

    Attributes
    ----------
    standings : tuple of RoundRobin or None
        None where a pair has no verdict.
    index : tuple of int or None
        The chosen candidate; None where there is none.
    undecided : int
        Questions in which several had most points.
    verdicts : tuple of mapping
        All verdicts on each pair of candidates.
    """

    standings: tuple[RoundRobin | None, ...]
    index: tuple[int | None, ...]
    undecided: int
    verdicts: tuple[dict[tuple[int, int], list[str]], ...]


def rule_in_words(rule: str) -> str:
    """What a rule for equal points does.

    Raises
    ------
    InputError
        If the rule is unknown.

    Examples
    --------
    >>> rule_in_words("drop")
    'none is chosen'
    """
    if rule not in TIES:
        raise InputError(f"equal_points: must be one of {', '.join(TIES)}, got {rule!r}.")
    return TIES[rule]


def choose(
    name: str, asked: pd.DataFrame, items: Sequence[Item], *, rule: str, seed: int
) -> Selections:
    """The winner of each question's round robin.

    Parameters
    ----------
    name : str
        The condition; with the seed it fixes the draws.
    asked : DataFrame
        Its verdicts: ``item_id`` (the pair's name) and ``choice``.
    items : sequence of Item
    rule : {"judgments", "random", "drop"}
        What is done with candidates of equal points.
    seed : int

    Returns
    -------
    Selections

    Raises
    ------
    InputError
        If the rule is unknown.
    """
    rule_in_words(rule)
    by_pair: dict[str, list[str]] = {}
    for pair, choice in zip(asked["item_id"], asked["choice"], strict=True):
        by_pair.setdefault(pair, []).append(choice)
    standings: list[RoundRobin | None] = []
    index: list[int | None] = []
    verdicts: list[dict[tuple[int, int], list[str]]] = []
    undecided = 0
    for item in items:
        pairs = list(combinations(range(len(item.responses)), 2))
        verdicts_by_pair = {p: by_pair.get(pair_name(item, p), []) for p in pairs}
        flat = [(i, j, v) for (i, j), listed in verdicts_by_pair.items() for v in listed]
        standing = round_robin(
            np.array([i for i, _, _ in flat], dtype=int),
            np.array([j for _, j, _ in flat], dtype=int),
            np.array([v for _, _, v in flat], dtype=object),
            n_candidates=len(item.responses),
        )
        verdicts.append(verdicts_by_pair)
        standings.append(standing if standing.complete else None)
        undecided += standing.complete and len(standing.leaders()) > 1
        index.append(_winner(standing, f"{seed}\0{name}\0{item.id}", rule))
    return Selections(
        standings=tuple(standings),
        index=tuple(index),
        undecided=undecided,
        verdicts=tuple(verdicts),
    )


def _winner(standing: RoundRobin, draw: str, rule: str) -> int | None:
    leaders = standing.leaders(by_share=rule == "judgments")
    if not standing.complete or (len(leaders) > 1 and rule == "drop"):
        return None
    digest = hashlib.sha256(draw.encode("utf-8", "surrogatepass")).digest()
    return leaders[int.from_bytes(digest[:8], "big") % len(leaders)]


def random_selections(items: Sequence[Item], *, seed: int) -> Selections:
    """A candidate of each question, drawn by seed: what a selection is to be better than."""
    index = []
    for item in items:
        digest = hashlib.sha256(f"{seed}\0at random\0{item.id}".encode("utf-8", "surrogatepass"))
        index.append(int.from_bytes(digest.digest()[:8], "big") % len(item.responses))
    nothing = (None,) * len(items)
    return Selections(
        standings=nothing, index=tuple(index), undecided=0, verdicts=({},) * len(items)
    )


def chat_lines(chosen: Selections, items: Sequence[Item]) -> str:
    """The chosen responses as chat-format JSONL: the question's turns and the response's.

    A question whose chosen response says nothing in a turn is left out.
    """
    lines = []
    for item, index in zip(items, chosen.index, strict=True):
        if index is None:
            continue
        messages = []
        for place, (asked, exchange) in enumerate(
            zip(item.turns, item.responses[index].turns, strict=True)
        ):
            text = f"{item.context}\n\n{asked}" if item.context and place == 0 else asked
            messages += [
                {"role": "user", "content": text},
                {"role": "assistant", "content": exchange},
            ]
        if all(m["content"].strip() for m in messages):
            lines.append(json.dumps({"messages": messages}))
    return "".join(f"{line}\n" for line in lines)


def authors_csv(chosen: Mapping[str, Selections], items: Sequence[Item]) -> str:
    """The share of its comparisons that each author's responses win, a condition, as CSV."""
    rows = [
        {"condition": name, "author": response.author, "share_won": share}
        for name, choice_of_pair in chosen.items()
        for item, standing in zip(items, choice_of_pair.standings, strict=True)
        if standing is not None
        for response, share in zip(item.responses, standing.share, strict=True)
        if response.author
    ]
    if not rows:
        return ""
    by = pd.DataFrame(rows).groupby(["condition", "author"], sort=False)["share_won"]
    return csv_text(by.agg(responses="count", share_won="mean").reset_index())


def standings_csv(
    chosen: Mapping[str, Selections], items: Sequence[Item], shares: Sequence[Floats]
) -> str:
    """Wins, points and labelled share of every candidate, as CSV."""
    rows = []
    for name, choice_of_pair in chosen.items():
        for item, standing, index, share in zip(
            items, choice_of_pair.standings, choice_of_pair.index, shares, strict=True
        ):
            if standing is None:
                continue
            own = standing.tidy()
            own.insert(0, "condition", name)
            own.insert(1, "item_id", item.id)
            own.insert(3, "author", [r.author for r in item.responses])
            rows.append(
                own.assign(labelled_share=share, chosen=[i == index for i in range(len(own))])
            )
    return csv_text(pd.concat(rows, ignore_index=True)) if rows else ""
