"""Data of the study LLMasJudge: the authors' result folder, or tables of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from judgestats.arrays import Floats
from judgestats.errors import InputError
from judgestats.files.tables import read_csv
from judgestats.files.text import decode_json

T = TypeVar("T")
Cell = tuple[float, str]
"""Temperature and judge."""
Cells = Mapping[Cell, Floats]
NONE, MINI = "none", "gpt-4o-mini"
REASONING = ("before", "after")
NOT_SENT = ("paragraphs", "subscores")
"""Guidelines that the authors' programs never sent: both arms asked with the plain prompt."""

_GUIDELINES = {"basic": "anchors", "full_scale": "words", "detailed": "paragraphs"}
"""The study's names of its guidelines in tables, and what judgestats calls them."""
_ARMS = {
    NONE: "exp1b",
    "anchors": "exp3b",
    "words": "exp3c",
    "paragraphs": "exp3d",
    "subscores": "exp3e",
    "before": "exp2a",
    "after": "exp2b",
}
_METHODS = {
    "pairwise_baseline": "pairwise, reasoning",
    "pairwise_no_reasoning": "pairwise",
    "gpt4o_mini_basic": "pointwise",
    "gpt4o_mini_reasoning": "pointwise, before",
    "gpt4o_mini_reasoning_after": "pointwise, after",
    "gpt4o_mini_10trials": "pointwise, mean of 10",
    "gpt4o_mini_reference": "pointwise, guideline",
    "always_tie": "always tie",
    "random": "random",
}
_TABLES = {
    "temperature_variances": ["temperature", "judge", "variance"],
    "guideline_variances": ["guideline", "temperature", "judge", "variance"],
    "repeated_scores": ["temperature", "judge", "item", "replicate", "score"],
}
_MAX_BYTES = 200_000_000


@dataclass(frozen=True, kw_only=True)
class LLMasJudgeData:
    """What was found in the folder; a missing part is an empty mapping.

    Attributes
    ----------
    arms : mapping of level to mapping of (temperature, judge) to ndarray
        Population variance of about ten scores, one per item: ``none``, a guideline, or reasoning
        ``before`` or ``after``.
    raw : mapping of {"none", "before"} to mapping of (temperature, judge) to ndarray
        Items x trials, NaN where an item has fewer.
    alignment : mapping of method to ndarray
        0, .5 or 1 for every pair, in one order of pairs.
    alignment_temperatures : mapping of {"none", "before"} to mapping of temperature to ndarray
    source : str
        Which layout was read.
    left_out : tuple of str
        What could not be used, and why.
    """

    arms: Mapping[str, Cells] = field(default_factory=dict)
    raw: Mapping[str, Cells] = field(default_factory=dict)
    alignment: Mapping[str, Floats] = field(default_factory=dict)
    alignment_temperatures: Mapping[str, Mapping[float, Floats]] = field(default_factory=dict)
    source: str = ""
    left_out: tuple[str, ...] = ()

    @property
    def plain(self) -> Cells:
        """Variances without guideline and reasoning."""
        return self.arms.get(NONE, {})

    @property
    def guidelines(self) -> Mapping[str, Cells]:
        """Variances by guideline."""
        return {k: v for k, v in self.arms.items() if k not in (NONE, *REASONING)}

    @property
    def judges(self) -> list[str]:
        """The judges, in the order of the file."""
        return list(dict.fromkeys(j for _, j in self.plain))

    @property
    def n_items(self) -> int:
        """Number of items behind a complete array of variances."""
        return max((v.size for cells in self.arms.values() for v in cells.values()), default=0)

    def by_temperature(self, level: str, judge: str) -> dict[float, Floats]:
        """Variances of a judge, the coldest first."""
        cells = sorted(self.arms.get(level, {}).items(), key=lambda cell: cell[0])
        return {t: values for (t, own), values in cells if own == judge}

    def complete(self, columns: Mapping[T, Floats]) -> tuple[list[T], Floats]:
        """The arrays that hold every item, side by side: only these can be aligned by index."""
        kept = {k: v for k, v in columns.items() if v.size == self.n_items}
        empty = np.empty((self.n_items, 0))
        return list(kept), np.column_stack(list(kept.values())) if kept else empty


def read_llmasjudge(folder: Path) -> LLMasJudgeData:
    """Read the study's figures.

    Parameters
    ----------
    folder : path
        With ``temperature_variances.csv.gz``, ``guideline_variances.csv.gz`` and
        ``repeated_scores.csv.gz`` (or some of them); or the authors' folder, itself or its
        ``results``.

    Returns
    -------
    LLMasJudgeData

    Raises
    ------
    InputError
        If the folder holds neither layout, or a file is damaged.
    """
    if not folder.is_dir():
        raise InputError(
            f"replicate: there is no folder {str(folder)!r}. Give data=FOLDER with the study's "
            "tables, or the authors' own results."
        )
    if any(folder.glob("*_variances.csv*")) or any(folder.glob("repeated_scores.csv*")):
        return _tables(folder)
    for candidate in (folder, folder / "results"):
        if any(candidate.glob("exp*/combined_results*.json")):
            return _authors(candidate)
    raise InputError(
        f"replicate: {str(folder)!r} holds neither the study's tables "
        "(temperature_variances.csv.gz ...) nor the authors' expNx/combined_results.json."
    )


def _tables(folder: Path) -> LLMasJudgeData:
    plain, guided, repeated = (_csv(folder, name, needed) for name, needed in _TABLES.items())
    arms = {NONE: _split_cells(plain)} if len(plain) else {}
    for guideline, own in guided.groupby("guideline", sort=False):
        arms[_GUIDELINES.get(str(guideline), str(guideline))] = _split_cells(own)
    raw = {
        (float(str(t)), str(j)): own.pivot_table(
            index="item", columns="replicate", values="score"
        ).to_numpy(dtype=float)
        for (t, j), own in repeated.groupby(["temperature", "judge"], sort=False)
    }
    source = "the study's tables"
    return LLMasJudgeData(arms=arms, raw={NONE: raw} if raw else {}, source=source)


def _csv(folder: Path, name: str, columns: Sequence[str]) -> pd.DataFrame:
    """A table of the folder; without rows where it is not there."""
    for path in sorted(folder.glob(f"{name}.csv*"))[:1]:
        try:
            frame = read_csv(path)
        except (OSError, ValueError) as error:
            raise InputError(f"replicate: {path.name} cannot be read ({error}).") from error
        missing = [c for c in columns if c not in frame]
        if missing:
            raise InputError(f"replicate: {path.name} lacks the column {missing[0]!r}.")
        return frame
    return pd.DataFrame(columns=list(columns))


def _split_cells(frame: pd.DataFrame) -> dict[Cell, Floats]:
    ordered = frame.sort_values("index", kind="stable") if "index" in frame else frame
    return {
        (float(str(t)), str(j)): own["variance"].to_numpy(dtype=float)
        for (t, j), own in ordered.groupby(["temperature", "judge"], sort=False)
    }


def _authors(folder: Path) -> LLMasJudgeData:
    left_out: list[str] = []
    arms, raw = (
        {level: cells for level, name in folders.items()
         if (cells := _cells(folder / name, key, what, left_out))}
        for folders, key, what in (
            (_ARMS, "individual_variances", "variances"),
            ({NONE: "exp1c", "before": "exp1c_reasoning"}, "raw_scores", "raw scores"),
        )
    )  # fmt: skip
    alignment, by_temperature = _alignment(folder / "exp4a", left_out)
    return LLMasJudgeData(
        arms=arms,
        raw=raw,
        alignment=alignment,
        alignment_temperatures=by_temperature,
        source="the authors' result folder",
        left_out=tuple(left_out),
    )


def _json(folder: Path) -> dict[str, Any]:
    """The results of an experiment; nothing where its folder holds none."""
    for path in sorted(folder.glob("combined_results*.json"))[:1]:
        where = f"replicate: {folder.name}/{path.name}"
        if path.stat().st_size > _MAX_BYTES:
            raise InputError(f"{where} is too large.")
        try:
            content = decode_json(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise InputError(f"{where} is no JSON ({error}).") from error
        if not isinstance(content, dict):
            raise InputError(f"{where} holds no JSON object.")
        return content
    return {}


def _experiment_results(content: Mapping[str, Any]) -> Iterator[tuple[Cell, Mapping[str, Any]]]:
    """``results[T][judge]``, or ``results[T]`` where an experiment had one judge."""
    for temperature, inside in _object(content.get("results")).items():
        try:
            t = float(temperature)
        except ValueError:
            continue  # not a temperature: a summary beside the cells
        single = isinstance(inside, dict) and {"individual_variances", "raw_scores"} & set(inside)
        for judge, cell in _object({MINI: inside} if single else inside).items():
            if isinstance(cell, dict):
                yield (t, str(judge)), cell


def _object(value: Any) -> Mapping[str, Any]:
    """A JSON object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def _cells(folder: Path, key: str, what: str, left_out: list[str]) -> dict[Cell, Floats]:
    """Variances, or items x trials: an item with fewer trials leaves gaps at its end."""
    nested = key == "raw_scores"
    cells: dict[Cell, Floats] = {}
    for (t, judge), cell in _experiment_results(_json(folder)):
        where = f"{folder.name}: {judge} at T={t:g}"
        rows = cell.get(key)
        of_lists = isinstance(rows, list) and all(isinstance(r, list) for r in rows)
        if not isinstance(rows, list) or not rows or (nested and not of_lists):
            left_out.append(f"{where} has no {what}")
            continue
        table = _numbers(list(zip_longest(*rows)) if nested else rows)
        if table is None:
            left_out.append(f"{where} holds something else than numbers")
        else:
            cells[t, judge] = table.T
    return cells


def _numbers(values: Any) -> Floats | None:
    try:
        return np.array(values, dtype=float)
    except (TypeError, ValueError):
        return None


def _alignment(
    folder: Path, left_out: list[str]
) -> tuple[dict[str, Floats], dict[str, Mapping[float, Floats]]]:
    content = _json(folder)
    given = content.get("intermediate_scores")
    if not isinstance(given, dict):
        left_out += [f"{folder.name}: no intermediate_scores"] if content else []
        return {}, {}
    flat = {**given, **_object(given.get("additional_methods"))}
    methods = {
        name: credit
        for key, name in _METHODS.items()
        if (credit := _credit(flat.get(key), f"{folder.name}: {key}", left_out)) is not None
    }
    by_temperature: dict[str, Mapping[float, Floats]] = {}
    for level, key in ((NONE, "no_reasoning_temps"), ("before", "with_reasoning_temps")):
        cells: dict[float, Floats] = {}
        for t, values in _object(given.get(key)).items():
            where = f"{folder.name}: {key}, {t}"
            temperature = _numbers(str(t).removeprefix("temp_"))
            if temperature is None:
                left_out.append(f"{where} is no temperature")
            elif (credit := _credit(values, where, left_out)) is not None:
                cells[round(float(temperature), 6)] = credit
        by_temperature[level] = cells
    return methods, by_temperature


def _credit(values: Any, where: str, left_out: list[str]) -> Floats | None:
    """Credit by pair, 0 to 1, NaN where there is none; None, and said so, for anything else."""
    if values is None:
        return None
    credit = _numbers(values)
    present = np.empty(0) if credit is None else credit[~np.isnan(credit)]
    are_shares = present.size and present.min() >= 0 and present.max() <= 1
    if credit is None or credit.ndim != 1 or not are_shares:
        left_out.append(f"{where} holds something else than scores of 0 to 1")
        return None
    return credit
