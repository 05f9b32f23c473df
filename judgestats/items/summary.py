"""What an item set is: its digest, its counts, and a part of it."""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from judgestats.errors import InputError
from judgestats.items.records import item_to_record, shown
from judgestats.items.schema import Item


def item_set_sha(items: Iterable[Item]) -> str:
    """A digest of an item set's content.

    Parameters
    ----------
    items : iterable of Item

    Returns
    -------
    str
        The first 12 hex digits of the SHA-256 of the items' canonical JSON (own layout, keys
        sorted), in the order of their ids: reordering the set does not change it; any text,
        reference, quality or label does.

    Examples
    --------
    >>> from judgestats.items.bank import load_bank
    >>> item_set_sha(load_bank()) == item_set_sha(reversed(load_bank()))
    True
    """
    digest = hashlib.sha256()
    for item in sorted(items, key=lambda item: item.id):
        record = json.dumps(item_to_record(item), sort_keys=True, separators=(",", ":"))
        digest.update(record.encode("utf-8") + b"\n")
    return digest.hexdigest()[:12]


@dataclass(frozen=True, kw_only=True)
class ItemSetSummary:
    """Counts of an item set; `str()` is one readable line.

    Attributes
    ----------
    items, clusters, responses, two_turn, with_reference : int
        Items; distinct clusters; responses in all; items with more than one turn; items with a
        reference.
    labels, labelled_pairs : int
        Human labels in all; distinct (item, pair, turn) that have at least one.
    annotators, authors : tuple of str
        Distinct names, sorted; empty names left out.
    categories : mapping of str to int
        Items a category, in order of first occurrence.
    sha : str
        The content digest (`item_set_sha`).
    """

    items: int
    clusters: int
    responses: int
    two_turn: int
    with_reference: int
    labels: int
    labelled_pairs: int
    annotators: tuple[str, ...]
    authors: tuple[str, ...]
    categories: Mapping[str, int]
    sha: str

    def __str__(self) -> str:
        parts = [
            f"{_counted(self.items, 'item')} in {_counted(self.clusters, 'cluster')}",
            _counted(self.responses, "response"),
        ]
        named = [category for category in self.categories if category]
        if named:
            parts.append(f"{len(named)} categories")
        if self.two_turn:
            parts.append(f"{self.two_turn} with two turns")
        if self.with_reference:
            parts.append(f"{self.with_reference} with a reference")
        if self.labels:
            parts.append(
                f"{_counted(self.labels, 'label')} on {_counted(self.labelled_pairs, 'pair')} by "
                f"{_counted(len(self.annotators), 'annotator')}"
            )
        return ", ".join(parts) + f" (sha {self.sha})"


def describe_items(items: Sequence[Item]) -> ItemSetSummary:
    """Counts of an item set.

    Parameters
    ----------
    items : sequence of Item

    Returns
    -------
    ItemSetSummary

    Examples
    --------
    >>> from judgestats.items.schema import Response
    >>> item = Item(id="q1", cluster="q1", turns=("Why?",), responses=(Response(turns=("So.",)),))
    >>> print(describe_items([item]))
    1 item in 1 cluster, 1 response (sha ...)
    """
    labels = [(item.id, label) for item in items for label in item.labels]
    return ItemSetSummary(
        items=len(items),
        clusters=len({item.cluster for item in items}),
        responses=sum(len(item.responses) for item in items),
        two_turn=sum(len(item.turns) > 1 for item in items),
        with_reference=sum(bool(item.reference) for item in items),
        labels=len(labels),
        labelled_pairs=len({(i, frozenset((x.a, x.b)), x.turn) for i, x in labels}),
        annotators=tuple(sorted({x.annotator for _, x in labels})),
        authors=tuple(sorted({r.author for item in items for r in item.responses} - {""})),
        categories=dict(Counter(item.category for item in items)),
        sha=item_set_sha(items),
    )


def select_items(
    items: Iterable[Item],
    *,
    categories: Iterable[str] | str | None = None,
    limit: int | None = None,
    one_per_category: bool = False,
    seed: int | None = 0,
) -> tuple[Item, ...]:
    """A part of an item set, drawn at random but repeatably, spread over its categories.

    Parameters
    ----------
    items : iterable of Item
    categories : iterable of str, optional
        Keep only these.
    limit : int, optional
        At most so many items, taken from the categories in turn, so that a small part still covers
        them all.
    one_per_category : bool
        One item from each category.
    seed : int or None
        Decides which items; None takes the first ones of the file.

    Returns
    -------
    tuple of Item
        In the order of `items`.

    Raises
    ------
    InputError
        If a category does not occur, `limit` is below 1, or nothing is left.

    Examples
    --------
    >>> from judgestats.items.bank import load_bank
    >>> [item.category for item in select_items(load_bank(), limit=3)]
    ['writing', 'reasoning', 'maths']
    """
    pool = list(items)
    if limit is not None and (isinstance(limit, bool) or limit < 1):
        raise InputError(f"select_items: limit must be at least 1, not {shown(limit)}.")
    if categories is not None:
        wanted = [categories] if isinstance(categories, str) else list(categories)
        present = list(dict.fromkeys(item.category for item in pool))
        unknown = [category for category in wanted if category not in present]
        if unknown:
            raise InputError(
                f"select_items: there is no category {shown(unknown[0])}; the set has "
                f"{shown(present, 300)}. Choose among these."
            )
        pool = [item for item in pool if item.category in wanted]
    if not pool:
        raise InputError("select_items: there is no item to choose from. Widen the selection.")
    if limit is None and not one_per_category:
        return tuple(pool)
    by_category: dict[str, list[int]] = {}
    for index, item in enumerate(pool):
        by_category.setdefault(item.category, []).append(index)
    if seed is not None:
        rng = random.Random(seed)
        for indices in by_category.values():
            rng.shuffle(indices)
    rounds = 1 if one_per_category else max(map(len, by_category.values()))
    chosen = [
        indices[depth]
        for depth in range(rounds)
        for indices in by_category.values()
        if depth < len(indices)
    ]
    return tuple(pool[index] for index in sorted(chosen[:limit]))


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
