"""Data of the study LLMasJudge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from judgestats.arrays import Floats
from judgestats.errors import InputError
from judgestats.files.tables import read_csv
from judgestats.files.text import decode_json
from judgestats.results.numbers import apa_number, format_p
from judgestats.results.quantities import name_of
from judgestats.stats.dispersion.dispersion_test import SpreadResult, spread_test
from judgestats.stats.dispersion.equivalence import EquivalenceResult
from judgestats.stats.inference.multiplicity import Family
from judgestats.stats.inference.result import Comparisons, TestResult
from judgestats.studies.claims import Options

Cell = tuple[float, str]
"""Temperature and judge."""

GUIDELINE_LEVELS: Mapping[str, str] = {
    "basic": "anchors",
    "full_scale": "words",
    "detailed": "paragraphs",
    "subscores": "subscores",
}
"""The study's names of its guidelines, and what judgestats calls them."""

NOT_SENT = ("paragraphs", "subscores")
"""Guidelines that the authors' programs never sent: both arms asked with the plain prompt."""

_JUDGE = "gpt-4o-mini"  # experiments with one judge leave its name out
_EXPERIMENTS = {"exp3b": "anchors", "exp3c": "words", "exp3d": "paragraphs", "exp3e": "subscores"}
_REASONING = {"exp2a": "before", "exp2b": "after"}
_MAX_BYTES = 200_000_000


@dataclass(frozen=True, kw_only=True)
class LLMasJudgeData:
    """What was found in the folder; a missing part is an empty mapping.

    Attributes
    ----------
    variances : mapping of (temperature, judge) to ndarray
        Population variance of about ten scores, one an item, no guideline, no reasoning.
    guidelines : mapping of level to mapping
        The same under each guideline.
    reasoning : mapping of {"before", "after"} to mapping
        The same with reasoning.
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

    variances: Mapping[Cell, Floats] = field(default_factory=dict)
    guidelines: Mapping[str, Mapping[Cell, Floats]] = field(default_factory=dict)
    reasoning: Mapping[str, Mapping[Cell, Floats]] = field(default_factory=dict)
    raw: Mapping[str, Mapping[Cell, Floats]] = field(default_factory=dict)
    alignment: Mapping[str, Floats] = field(default_factory=dict)
    alignment_temperatures: Mapping[str, Mapping[float, Floats]] = field(default_factory=dict)
    source: str = ""
    left_out: tuple[str, ...] = ()

    @property
    def n_items(self) -> int:
        """Number of items behind a complete array of variances."""
        sizes = [v.size for v in self.variances.values()]
        sizes += [v.size for cells in self.guidelines.values() for v in cells.values()]
        sizes += [v.size for cells in self.reasoning.values() for v in cells.values()]
        return max(sizes, default=0)


def read_llmasjudge(folder: str | Path) -> LLMasJudgeData:
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
    folder = Path(folder)
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


# ----------------------------------------------------------------------------- tables


def _tables(folder: Path) -> LLMasJudgeData:
    temperature = _csv(folder, "temperature_variances", ("temperature", "judge", "variance"))
    guideline = _csv(
        folder, "guideline_variances", ("guideline", "temperature", "judge", "variance")
    )
    scores = _csv(folder, "repeated_scores", ("temperature", "judge", "item", "replicate", "score"))
    guidelines: dict[str, Mapping[Cell, Floats]] = {}
    if guideline is not None:
        for name, chosen in guideline.groupby("guideline", sort=False):
            guidelines[GUIDELINE_LEVELS.get(str(name), str(name))] = _cell_variances(chosen)
    raw: dict[str, Mapping[Cell, Floats]] = {}
    if scores is not None:
        raw["none"] = {
            (float(str(t)), str(j)): chosen.pivot_table(
                index="item", columns="replicate", values="score"
            ).to_numpy(dtype=float)
            for (t, j), chosen in scores.groupby(["temperature", "judge"], sort=False)
        }
    return LLMasJudgeData(
        variances=_cell_variances(temperature) if temperature is not None else {},
        guidelines=guidelines,
        raw=raw,
        source="the study's tables",
    )


def _csv(folder: Path, name: str, columns: tuple[str, ...]) -> pd.DataFrame | None:
    files = sorted(folder.glob(f"{name}.csv*"))
    if not files:
        return None
    try:
        frame = read_csv(files[0])
    except (OSError, ValueError) as error:
        raise InputError(f"replicate: {files[0].name} cannot be read ({error}).") from error
    missing = [c for c in columns if c not in frame]
    if missing:
        raise InputError(f"replicate: {files[0].name} lacks the column {missing[0]!r}.")
    return frame


def _cell_variances(frame: pd.DataFrame) -> dict[Cell, Floats]:
    ordered = frame.sort_values("index", kind="stable") if "index" in frame else frame
    return {
        (float(str(t)), str(j)): chosen["variance"].to_numpy(dtype=float)
        for (t, j), chosen in ordered.groupby(["temperature", "judge"], sort=False)
    }


# ----------------------------------------------------------------------------- authors' folder


def _authors(folder: Path) -> LLMasJudgeData:
    left_out: list[str] = []
    variances = _variances(folder / "exp1b", left_out)
    guidelines = {
        level: cells
        for name, level in _EXPERIMENTS.items()
        if (cells := _variances(folder / name, left_out))
    }
    reasoning = {
        level: cells
        for name, level in _REASONING.items()
        if (cells := _variances(folder / name, left_out))
    }
    raw = {}
    for level, where in (("none", "exp1c"), ("before", "exp1c_reasoning")):
        cells = _raw_scores(folder / where, left_out)
        if cells:
            raw[level] = cells
    alignment, by_temperature = _alignment(folder / "exp4a", left_out)
    return LLMasJudgeData(
        variances=variances,
        guidelines=guidelines,
        reasoning=reasoning,
        raw=raw,
        alignment=alignment,
        alignment_temperatures=by_temperature,
        source="the authors' result folder",
        left_out=tuple(left_out),
    )


def _json(folder: Path) -> dict[str, Any] | None:
    files = sorted(folder.glob("combined_results*.json"))
    if not files:
        return None
    if files[0].stat().st_size > _MAX_BYTES:
        raise InputError(f"replicate: {folder.name}/{files[0].name} is too large.")
    try:
        content = decode_json(files[0].read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(
            f"replicate: {folder.name}/{files[0].name} is no JSON ({error})."
        ) from error
    if not isinstance(content, dict):
        raise InputError(f"replicate: {folder.name}/{files[0].name} holds no JSON object.")
    return content


def _cells(content: dict[str, Any]) -> dict[Cell, dict[str, Any]]:
    """``results[T][judge]``, or ``results[T]`` where an experiment had one judge."""
    cells: dict[Cell, dict[str, Any]] = {}
    results = content.get("results")
    for temperature, inside in results.items() if isinstance(results, dict) else ():
        try:
            t = float(temperature)
        except ValueError:
            continue  # not a temperature: a summary beside the cells
        if not isinstance(inside, dict):
            continue
        if "individual_variances" in inside or "raw_scores" in inside:
            cells[t, _JUDGE] = inside
        else:
            cells |= {(t, str(j)): cell for j, cell in inside.items() if isinstance(cell, dict)}
    return cells


def _variances(folder: Path, left_out: list[str]) -> dict[Cell, Floats]:
    content = _json(folder)
    if content is None:
        return {}
    variances: dict[Cell, Floats] = {}
    for (t, judge), cell in _cells(content).items():
        values = cell.get("individual_variances")
        if not isinstance(values, list) or not values:
            left_out.append(f"{folder.name}: {judge} at T={t:g} has no variances")
            continue
        try:
            variances[t, judge] = np.asarray(values, dtype=float)
        except (TypeError, ValueError):
            left_out.append(f"{folder.name}: {judge} at T={t:g} holds something else than numbers")
    return variances


def _raw_scores(folder: Path, left_out: list[str]) -> dict[Cell, Floats]:
    """Items x trials; an item with fewer trials than others leaves gaps at its end."""
    content = _json(folder)
    if content is None:
        return {}
    scores: dict[Cell, Floats] = {}
    for (t, judge), cell in _cells(content).items():
        rows = cell.get("raw_scores")
        if not isinstance(rows, list) or not all(isinstance(r, list) for r in rows) or not rows:
            left_out.append(f"{folder.name}: {judge} at T={t:g} has no raw scores")
            continue
        table = np.full((len(rows), max(map(len, rows))), np.nan)
        try:
            for i, row in enumerate(rows):
                table[i, : len(row)] = [np.nan if v is None else float(v) for v in row]
        except (TypeError, ValueError):
            left_out.append(f"{folder.name}: {judge} at T={t:g} holds something else than numbers")
            continue
        scores[t, judge] = table
    return scores


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


def _alignment(
    folder: Path, left_out: list[str]
) -> tuple[dict[str, Floats], dict[str, Mapping[float, Floats]]]:
    content = _json(folder)
    given = content.get("intermediate_scores") if content else None
    if not isinstance(given, dict):
        if content is not None:
            left_out.append(f"{folder.name}: no intermediate_scores")
        return {}, {}
    more = given.get("additional_methods")
    flat = {**given, **(more if isinstance(more, dict) else {})}
    methods = {
        name: credit
        for key, name in _METHODS.items()
        if (credit := _credit(flat.get(key), f"{folder.name}: {key}", left_out)) is not None
    }
    by_temperature: dict[str, Mapping[float, Floats]] = {}
    for level, key in (("none", "no_reasoning_temps"), ("before", "with_reasoning_temps")):
        series = given.get(key)
        if isinstance(series, dict) and series:
            cells: dict[float, Floats] = {}
            for t, values in series.items():
                where = f"{folder.name}: {key}, {t}"
                try:
                    temperature = round(float(str(t).removeprefix("temp_")), 6)
                except ValueError:
                    left_out.append(f"{where} is no temperature")
                    continue
                if (credit := _credit(values, where, left_out)) is not None:
                    cells[temperature] = credit
            by_temperature[level] = cells
    return methods, by_temperature


def _credit(values: Any, where: str, left_out: list[str]) -> Floats | None:
    """Credit by pair, 0 to 1, NaN where there is none; None, and said so, for anything else."""
    if values is None:
        return None
    try:
        credit = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        credit = np.empty(0)
    present = credit[~np.isnan(credit)]
    if credit.ndim != 1 or not present.size or present.min() < 0 or present.max() > 1:
        left_out.append(f"{where} holds something else than scores of 0 to 1")
        return None
    return credit


MARGIN = 1.5
"""Declared margin: a ratio of variances between 1/1.5 and 1.5 matters little."""

MINI = "gpt-4o-mini"


def judges_of(data: LLMasJudgeData) -> list[str]:
    """The judges, in the order of the file."""
    return list(dict.fromkeys(j for _, j in data.variances))


def complete(columns: Mapping[str, Floats], n_items: int) -> tuple[list[str], Floats]:
    """The arrays that hold every item, side by side: only these can be aligned by index."""
    kept = {k: v for k, v in columns.items() if v.size == n_items}
    return list(kept), np.column_stack(list(kept.values())) if kept else np.empty((n_items, 0))


def paired(
    table: Floats, names: list[str], options: Options, *, at: list[float] | None = None
) -> SpreadResult:
    """The comparison of spread within items."""
    return spread_test(
        table,
        conditions=names,
        ordered=at if at is not None else False,
        level=options.level,
        n_permutations=options.n_resamples,
        n_resamples=options.n_resamples,
        seed=options.seed,
    )


def listed(tests: Mapping[str, TestResult]) -> str:
    """Statistic, p and effect of every test."""
    return "; ".join(f"{name}: {test.apa()}" for name, test in tests.items())


def adjusted(family: Family) -> str:
    """The adjusted p of every test."""
    return "; ".join(f"{name}: adjusted p {family.p_text(name)}" for name in family.p_adjusted)


def joint_verdict(stands: list[bool], *, otherwise: str = "open") -> str:
    """The verdict on a claim made for several judges or temperatures at once."""
    if all(stands):
        return "stands"
    return "stands in part" if any(stands) else otherwise


def no_difference(equal: EquivalenceResult, *, differ: bool) -> str:
    """The verdict on a claim of no difference: inside the declared margin, or not.

    A difference that is certain and smaller than the margin does not contradict the claim.
    """
    if equal.all_shown:
        return "stands"
    return "does not stand" if differ else "open"


def listed_pairs(pairs: Comparisons) -> str:
    """The p of every pair, not adjusted, and which of the two is the smaller."""
    return ", ".join(
        f"{row.a} against {row.b} p {format_p(row.p_value)}"
        + (
            f" ({name_of(row.effect_name)} {apa_number(row.effect, bounded=True)})"
            if row.effect_name
            else ""
        )
        for row in pairs.rows
    )
