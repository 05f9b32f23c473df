"""Item sets by name, and their summary."""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judgestats.errors import InputError
from judgestats.items.bank import load_bank
from judgestats.items.preference_sets import drop_ties
from judgestats.items.published import GIVEN, PUBLISHED, fetch_path
from judgestats.items.readers import LAYOUTS, read_items
from judgestats.items.records import Item, item_to_record, short_repr

BANK = "bank"


def sets() -> Mapping[str, str]:
    """What `load_items` understands: names, and what stands behind each.

    Returns
    -------
    mapping of str to str

    Examples
    --------
    >>> sets()["bank"]
    'the bundled bank: questions with answers of designed quality'
    """
    return {
        BANK: "the bundled bank: questions with answers of designed quality",
        "mt_bench": "a folder in FastChat's layout: question.jsonl and model_answer/*.jsonl",
        **{name: layout.about for name, layout in LAYOUTS.items()},
    }


def parse_options(text: str | None) -> dict[str, Any]:
    """Options of `judgestats.items.readers.read_items` from their command-line form.

    Parameters
    ----------
    text : str or None
        ``"turn=1,ties=drop"``; of ``models`` several are joined by ``+``.

    Returns
    -------
    dict

    Raises
    ------
    InputError
        If an option is unknown, stands twice, or has no such value.

    Examples
    --------
    >>> parse_options("turn=1, ties=drop, models=gpt-4+claude-v1")
    {'turn': 1, 'ties': 'drop', 'models': ('gpt-4', 'claude-v1')}
    """
    options: dict[str, Any] = {}
    for part in (text or "").split(","):
        if not part.strip():
            continue
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not value or name not in _OPTIONS:
            raise InputError(
                f"item_options: {short_repr(part.strip())} is not option=value with an option "
                f"among {', '.join(_OPTIONS)}. Write for instance turn=1,ties=drop."
            )
        if name in options:
            raise InputError(f"item_options: {name} stands twice. Give it once.")
        options[name] = _OPTIONS[name](name, value)
    return options


def _whole(name: str, value: str) -> int:
    if not value.isdecimal() or len(value) > 12:
        raise InputError(f"item_options: {name} must be a whole number, not {short_repr(value)}.")
    return int(value)


def _truth(name: str, value: str) -> bool:
    if value.lower() not in ("true", "false"):
        raise InputError(f"item_options: {name} must be true or false, not {short_repr(value)}.")
    return value.lower() == "true"


_OPTIONS: Mapping[str, Callable[[str, str], Any]] = {
    "turn": _whole,
    "cut": _whole,
    "ties": lambda _, value: value,
    "preference": lambda _, value: value,
    "models": lambda _, value: tuple(m.strip() for m in value.split("+") if m.strip()),
    "together": _truth,
    "empty_ok": _truth,
    "max_chars": _whole,
}


def load_items(name_or_path: str | Path, **options: Any) -> tuple[Item, ...]:
    """The items of the bundled bank, of a file or folder, or of a file in a named layout.

    Parameters
    ----------
    name_or_path : str or Path
        ``"bank"``; a path; or ``"layout:path"`` (``"rewardbench:my.parquet"``), which is
        ``read_items(path, layout=...)``; or the name of a published set that stands where
        ``judgestats items fetch NAME`` puts it.
    **options
        Passed to `judgestats.items.readers.read_items`.

    Returns
    -------
    tuple of Item

    Raises
    ------
    InputError
        As `read_items`; also where the bank is given an option, or a layout's name stands alone.

    Examples
    --------
    >>> load_items("bank") is load_bank()
    True
    """
    text = str(name_or_path)
    if text == BANK:
        given = {
            k: v
            for k, v in options.items()
            if v not in (None, False) and k not in {"ties", "questions"}
        }
        if given:
            raise InputError(
                f"load_items: the bundled bank takes no options, got {short_repr(sorted(given))}. "
                "Leave them out, or give a file."
            )
        bank = load_bank()
        return drop_ties(bank) if options.get("ties") == "drop" else bank
    name, colon, rest = text.partition(":")
    if colon and name in sets() and name != BANK and rest and not _exists(text):
        return read_items(rest, **{**options, "layout": name})
    check_there([text])
    if text in PUBLISHED and not _exists(text):
        return read_items(fetch_path(text), **{**options, "layout": PUBLISHED[text].layout})
    if text in sets() and not _exists(text):
        raise InputError(
            f"load_items: {text!r} is the name of a layout ({sets()[text]}); its files do not come "
            f"with judgestats. Give the path, or {text}:PATH."
        )
    return read_items(name_or_path, **options)


def layout_of(source: str) -> str:
    """The layout that a source names, with or without a path; empty where it is found out.

    Examples
    --------
    >>> layout_of("mt_bench"), layout_of("bbh:my/folder"), layout_of("my.csv")
    ('mt_bench', 'bbh', '')
    """
    name, colon, _ = source.partition(":")
    if colon:
        return name if name in sets() and not _exists(source) else ""
    return PUBLISHED[name].layout if name in PUBLISHED and not _exists(name) else ""


def check_there(names: Iterable[str]) -> None:
    """Refuse names of published sets that have not been fetched, all of them in one sentence.

    Parameters
    ----------
    names : iterable of str
        As `load_items` takes them; what is no such name is passed over.

    Raises
    ------
    InputError
        With the commands that bring them, their licences and sizes, and what to do without a
        network.
    """
    names = [str(name) for name in names]
    for name in names:
        if name in GIVEN and not _exists(name):
            raise InputError(f"items: {GIVEN[name]}.")
    absent = [n for n in names if n in PUBLISHED and not _exists(n)]
    absent = [n for n in absent if not _exists(str(fetch_path(n)))]
    if not absent:
        return
    text = "; ".join(f"`judgestats items fetch {n}` ({PUBLISHED[n].about()})" for n in absent)
    first = absent[0]
    which = (
        f"{first!r} is a published set, and it is not at {fetch_path(first).as_posix()}"
        if len(absent) == 1
        else f"the published sets {', '.join(absent)} are not below data/"
    )
    raise InputError(
        f"items: {which}. Download with {text}. Without a network, get the files elsewhere "
        f"(`judgestats items list {first}` names them) and give them as {first}:PATH."
    )


def _exists(name: str) -> bool:
    try:
        return Path(name).exists()
    except (OSError, ValueError):
        return False  # a name that the system refuses


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
            f"{_count_noun(self.items, 'item')} in {_count_noun(self.clusters, 'cluster')}",
            _count_noun(self.responses, "response"),
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
                f"{_count_noun(self.labels, 'label')} on "
                f"{_count_noun(self.labelled_pairs, 'pair')} by "
                f"{_count_noun(len(self.annotators), 'annotator')}"
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
    >>> from judgestats.items.records import Response
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
    items: Iterable[Item], *, limit: int | None = None, seed: int | None = 0
) -> tuple[Item, ...]:
    """A part of an item set, drawn at random but repeatably, spread over its categories.

    Parameters
    ----------
    items : iterable of Item
    limit : int, optional
        At most so many items, taken from the categories in turn, so that a small part still covers
        them all.
    seed : int or None
        Decides which items; None takes the first ones of the file.

    Returns
    -------
    tuple of Item
        In the order of `items`.

    Raises
    ------
    InputError
        If `limit` is below 1, or there is no item.

    Examples
    --------
    >>> from judgestats.items.bank import load_bank
    >>> [item.category for item in select_items(load_bank(), limit=3)]
    ['writing', 'reasoning', 'maths']
    """
    pool = list(items)
    if limit is not None and (isinstance(limit, bool) or limit < 1):
        raise InputError(f"select_items: limit must be at least 1, not {short_repr(limit)}.")
    if not pool:
        raise InputError("select_items: there is no item to choose from.")
    if limit is None:
        return tuple(pool)
    by_category: dict[str, list[int]] = {}
    for index, item in enumerate(pool):
        by_category.setdefault(item.category, []).append(index)
    if seed is not None:
        rng = random.Random(seed)
        for indices in by_category.values():
            rng.shuffle(indices)
    chosen = [
        indices[depth]
        for depth in range(max(map(len, by_category.values())))
        for indices in by_category.values()
        if depth < len(indices)
    ]
    return tuple(pool[index] for index in sorted(chosen[:limit]))


def _count_noun(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
