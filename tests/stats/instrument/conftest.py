"""What R and second codes say about the data sets of tests/reference/data/inst_*.csv."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

REPOSITORY = Path(__file__).resolve().parents[3]
FOLDER = REPOSITORY / "tests" / "reference"
SHARED = REPOSITORY.parent / "shared" / "reference"


class Reference:
    """Data sets and the values computed of them elsewhere."""

    def __init__(self) -> None:
        self.values = json.loads((FOLDER / "instrument.json").read_text(encoding="utf-8"))

    def value(self, data_set: str, statistic: str) -> Any:
        return self.values[data_set][statistic]["value"]

    def data(self, data_set: str) -> pd.DataFrame:
        for folder in (FOLDER, SHARED):
            path = folder / "data" / f"inst_{data_set}.csv"
            if path.exists():
                return pd.read_csv(path)
        pytest.skip(f"{data_set} is not beside the repository")


@pytest.fixture(scope="session")
def reference() -> Reference:
    return Reference()
