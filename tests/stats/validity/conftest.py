"""What R and other packages say about the data sets of tests/reference/data/val_*.csv."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

FOLDER = Path(__file__).resolve().parents[2] / "reference"


class Reference:
    """Data sets and the values computed of them elsewhere."""

    def __init__(self) -> None:
        self.values = json.loads((FOLDER / "validity.json").read_text(encoding="utf-8"))

    def value(self, data_set: str, statistic: str) -> Any:
        return self.values[f"val_{data_set}"][statistic]["value"]

    def data(self, data_set: str) -> pd.DataFrame:
        return pd.read_csv(FOLDER / "data" / f"val_{data_set}.csv")


@pytest.fixture(scope="session")
def reference() -> Reference:
    return Reference()
