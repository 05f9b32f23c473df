"""The values of tests/reference/inference.json, made by two codes, and their data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

FOLDER = Path(__file__).resolve().parents[1] / "reference"


class InferenceReference:
    """Data sets and the values computed of them elsewhere."""

    def __init__(self) -> None:
        self.values = json.loads((FOLDER / "inference.json").read_text(encoding="utf-8"))

    def value(self, data_set: str, statistic: str) -> Any:
        return self.values[f"inf_{data_set}"][statistic]["value"]

    def data(self, data_set: str) -> pd.DataFrame:
        return pd.read_csv(FOLDER / "data" / f"inf_{data_set}.csv")

    def cube(self, data_set: str) -> tuple[np.ndarray, np.ndarray]:
        """Items x judges x runs, and the cluster of each item."""
        rows = self.data(data_set)
        wide = rows.pivot(index="item", columns=["judge", "run"], values="score")
        judges, runs = rows["judge"].nunique(), rows["run"].nunique()
        scores = wide.to_numpy(float).reshape(len(wide), judges, runs)
        clusters = rows.drop_duplicates("item").set_index("item")["cluster"].loc[wide.index]
        return scores, clusters.to_numpy(str)


@pytest.fixture(scope="session")
def declared() -> InferenceReference:
    return InferenceReference()
