"""Reference values of decisions: two codes, read from the files that they were computed on."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

FOLDER = Path(__file__).parents[2] / "reference"


@cache
def values() -> dict[str, dict[str, object]]:
    return json.loads((FOLDER / "decisions.json").read_text(encoding="utf-8"))


def data(name: str) -> pd.DataFrame:
    return pd.read_csv(FOLDER / "data" / f"{name}.csv")


def expected(name: str, key: str) -> np.ndarray:
    value = values()[name][key]["value"]
    listed = value if isinstance(value, list) else [value]
    return np.array([float(v) for v in listed])


def agree(name: str, made: dict[str, object], *, tolerance: float = 1e-8) -> None:
    """Every value made equals its reference; undefined is undefined on both sides."""
    for key, value in made.items():
        np.testing.assert_allclose(
            np.atleast_1d(np.asarray(value, float)), expected(name, key), atol=tolerance, rtol=0,
            equal_nan=True, err_msg=f"{name}: {key}",
        )  # fmt: skip
