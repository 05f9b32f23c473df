"""What is judged: the item schema, loaders for files and published sets, the bundled bank."""

from __future__ import annotations

from judgestats.items.bank import load_bank
from judgestats.items.published import Fetched, fetch
from judgestats.items.readers import read_items, write_items
from judgestats.items.records import HumanLabel, Item, Response
from judgestats.items.sets import describe_items, item_set_sha, load_items, select_items, sets
from judgestats.items.tables import parse_mapping

__all__ = [
    "Fetched",
    "HumanLabel",
    "Item",
    "Response",
    "describe_items",
    "fetch",
    "item_set_sha",
    "load_bank",
    "load_items",
    "parse_mapping",
    "read_items",
    "select_items",
    "sets",
    "write_items",
]
