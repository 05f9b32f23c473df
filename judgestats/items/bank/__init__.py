"""The bundled item bank: questions with answers of designed quality, written for this project.

``items.jsonl`` holds questions and answers, one item per line; ``labels.jsonl`` the pairwise
preferences of three annotator personas. The personas are *designed*, not people:
``docs/build_bank_labels.py`` says how their labels are made and makes them again.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from functools import cache
from pathlib import Path

from judgestats.files.text import decode_json
from judgestats.items.records import HumanLabel, Item, check_items, item_from_record

__all__ = ["load_bank"]


@cache
def load_bank() -> tuple[Item, ...]:
    """The bundled items, with their labels; read once a process, then remembered.

    Returns
    -------
    tuple of Item
        In the order of the file. Every item has at least four responses with a designed quality and
        labels by ``"strict-expert"``, ``"lay-reader"`` and ``"hurried-reader"`` (designed personas,
        not people).

    Examples
    --------
    >>> bank = load_bank()
    >>> len(bank) >= 24, min(len(item.responses) for item in bank)
    (True, 4)
    """
    folder = Path(__file__).parent
    labels: defaultdict[str, list[HumanLabel]] = defaultdict(list)
    text = folder.joinpath("labels.jsonl").read_text(encoding="utf-8")
    for record in decode_json(
        "[" + text.strip().replace("\n", ",") + "]", keep_last=True
    ):  # one call: it is fast
        labels[record.pop("item")].append(HumanLabel(**record))
    lines = folder.joinpath("items.jsonl").read_text(encoding="utf-8").split("\n")
    items = (
        item_from_record(decode_json(line), where=f"bank/items.jsonl, line {number}")
        for number, line in enumerate(lines, start=1)
        if line
    )
    return check_items(
        (replace(item, labels=tuple(labels[item.id])) for item in items), where="load_bank"
    )
