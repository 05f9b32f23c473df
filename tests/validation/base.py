"""One row of the validation table, and where R's numbers are read from.

Add rows in a module of this folder that defines ``CASES: list[Case]`` (`scores.py` is an example);
`test_validation.py` tests every row of every such module, and `docs/build_validation.py` prints
them. Compare numbers, not texts: `ours` returns a number, an array, a list or a mapping of the same
shape as what `path` picks from R's value (or what `theirs` makes of it).
"""

from __future__ import annotations

import importlib
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis import computed
from judgestats.results import QUANTITIES

HERE = Path(__file__).resolve().parent
REFERENCE = HERE.parent / "reference"
NOT_REGISTRIES = {"__init__", "base", "conftest"}

SPECIAL = {"NA": math.nan, "NaN": math.nan, "Inf": math.inf, "-Inf": -math.inf}


@dataclass(frozen=True, kw_only=True)
class Case:
    """One number (or array) of ours beside R's.

    `tolerance` is absolute for values up to 1 and relative beyond. `agrees=False` marks a row where
    R is wrong or follows another convention: `note` must say which, and the test then requires
    that the two *do* differ by more than the tolerance, so that the note stays true.
    `undefined=True` marks a row where R refuses or divides by zero and ours must be NaN.
    """

    statistic: str
    dataset: str
    key: str
    ours: Callable[[], Any]
    path: tuple[str | int, ...] = ()
    theirs: Callable[[Any], Any] | None = None
    tolerance: float = 1e-10
    agrees: bool = True
    undefined: bool = False
    note: str = ""

    @property
    def id(self) -> str:
        """Unique readable name of the row."""
        where = ".".join(str(step) for step in self.path)
        return f"{self.statistic}-{self.dataset}-{self.key}" + (f"-{where}" if where else "")


@cache
def _entries() -> dict[str, Any]:
    return json.loads((REFERENCE / "reference.json").read_text(encoding="utf-8"))


def load(dataset: str) -> pd.DataFrame:
    """The reference data set of that name, as R read it."""
    return pd.read_csv(REFERENCE / "data" / f"{dataset}.csv")


def matrix(dataset: str) -> np.ndarray:
    """The data set as a float array, NaN where missing."""
    return load(dataset).to_numpy(dtype=float)


def entry(dataset: str, key: str) -> dict[str, Any]:
    """The whole reference entry: value or error, r_call, package, version ..."""
    try:
        return _entries()[dataset][key]
    except KeyError:
        raise KeyError(
            f"tests/reference/reference.json has no {key!r} of {dataset!r}: add what R says "
            "(tests/reference/README.md)"
        ) from None


def reference(dataset: str, key: str, *path: str | int) -> Any:
    """R's value (or the part of it that `path` leads to), numbers as numbers.

    Matrices ({rows, cols, matrix}) become arrays when the path ends on them.
    """
    value = entry(dataset, key)["value"]
    for step in path:
        value = value[step]
    return numbers(value)


def numbers(value: Any) -> Any:
    """R's JSON as floats and arrays: "NA", "NaN", "Inf" become numbers, matrices arrays."""
    if isinstance(value, str):
        return SPECIAL.get(value, value)
    if isinstance(value, Mapping):
        if "matrix" in value:
            return np.array(numbers(value["matrix"]), dtype=float)
        return {k: numbers(v) for k, v in value.items()}
    if isinstance(value, list):
        return [numbers(v) for v in value]
    return value


def flatten(value: Any) -> np.ndarray:
    """Any nest of numbers as one float vector; mappings in the order of their sorted keys."""
    if is_dataclass(value) and hasattr(value, "low"):
        return np.array([value.low, value.high], dtype=float)
    if isinstance(value, Mapping):
        parts = [flatten(value[k]) for k in sorted(value)]
        return np.concatenate(parts) if parts else np.array([])
    if isinstance(value, (list, tuple)):
        parts = [flatten(v) for v in value]
        return np.concatenate(parts) if parts else np.array([])
    if value is None:
        return np.array([math.nan])
    return np.asarray(value, dtype=float).reshape(-1)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """R's numbers, ours, and the largest difference (relative beyond 1)."""

    r: np.ndarray
    ours: np.ndarray
    difference: float
    r_error: str = ""

    @property
    def worst(self) -> int:
        """Index of the largest difference."""
        gap = np.abs(self.ours - self.r) if self.r.shape == self.ours.shape else np.array([])
        return int(np.nanargmax(gap)) if gap.size and not np.isnan(gap).all() else 0

    @property
    def first(self) -> int:
        """Index of the first number that is defined."""
        return int(np.argmax(np.isfinite(self.r)))


def run(case: Case) -> Outcome:
    """Compute a row: R's value, ours, and how far apart they are."""
    stored = entry(case.dataset, case.key)
    ours = flatten(case.ours())
    if "value" not in stored:
        return Outcome(
            r=np.array([math.nan]), ours=ours, difference=math.nan, r_error=str(stored["error"])
        )
    value = reference(case.dataset, case.key, *case.path)
    r = flatten(case.theirs(value) if case.theirs else value)
    if r.shape != ours.shape:
        msg = f"{case.id}: R gives {r.size} numbers, ours are {ours.size}"
        raise AssertionError(msg)
    both_missing = np.isnan(r) & np.isnan(ours)
    same = both_missing | (r == ours)
    gap = np.where(same, 0.0, np.abs(ours - r) / np.maximum(1.0, np.abs(r)))
    one_missing = np.isnan(r) != np.isnan(ours)
    largest = math.inf if one_missing.any() else float(np.max(gap, initial=0.0))
    return Outcome(r=r, ours=ours, difference=largest)


def registries() -> list[str]:
    """Names of the registry modules in this folder."""
    return sorted(
        p.stem
        for p in HERE.glob("*.py")
        if p.stem not in NOT_REGISTRIES and not p.stem.startswith("test_")
    )


def declared_cases() -> Iterator[Case]:
    """A row for each quantity whose declaration names R's number."""
    for quantity in QUANTITIES.values():
        if quantity.reference:
            dataset, key, *path = quantity.reference
            yield Case(
                statistic=f"{quantity.heading}, as audits compute it",
                dataset=dataset,
                key=key,
                path=tuple(path),
                ours=lambda q=quantity, d=dataset: computed(q, load(d).to_numpy()).estimate,
            )


def all_cases() -> Sequence[tuple[str, Case]]:
    """Every row of every registry, as (registry, case)."""
    found: list[tuple[str, Case]] = []
    for name in registries():
        module = importlib.import_module(f"validation.{name}")
        found += [(name, case) for case in module.CASES]
    found += [("declared", case) for case in declared_cases()]
    return found
