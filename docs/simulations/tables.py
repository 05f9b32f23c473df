"""Where simulations put what they found: a CSV file next to them."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def write_rows(name: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write a table; its columns are those of the first row."""
    path = Path(__file__).with_name(name)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
