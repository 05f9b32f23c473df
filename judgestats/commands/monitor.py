"""``judgestats monitor``: running rates of a stream of judgments, with limits for every look."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from judgestats.commands.arguments import Args
from judgestats.commands.file_lock import lock_file, replace_file
from judgestats.commands.label_page import read_table
from judgestats.errors import InputError
from judgestats.files.guarded import json_document
from judgestats.files.text import short
from judgestats.results.thresholds import Side, as_option, named_bounds
from judgestats.runner import display as console
from judgestats.stats.validity.sequential import FIRST_LOOK, RunningAverage

_VERSION = 1


def monitor_command(arguments: Args) -> int:
    """Add a file of judgments to the running averages and hold them to bounds.

    Parameters
    ----------
    arguments : Args
        ``file``, ``rate``, ``cluster``, ``state``, ``require``, ``level``.

    Returns
    -------
    int
        1 where a rate is shown to lie beyond its bound, else 0.
    """
    rates = [_pair(text, "rate") for text in arguments.rate]
    names = [name for name, _ in rates]
    if not rates or len(set(names)) < len(names):
        raise InputError("monitor: name each rate once, as in --rate pass=verdict:pass.")
    bounds: dict[Side, dict[str, float]] = {"min": {}, "max": {}}
    for name, side, bound, written in named_bounds(arguments.require, where="monitor: "):
        if ":" in dict(rates).get(name, "") and not 0 <= bound <= 1:
            raise InputError(
                f"monitor: {as_option(side, name, written)}: a share is between 0 and 1, e.g. .8."
            )
        bounds[side][name] = bound
    strange = {*bounds["min"], *bounds["max"]} - set(names)
    if strange:
        raise InputError(f"monitor: a bound names no rate: {', '.join(sorted(strange))}.")
    if not 0 < arguments.level < 1:
        raise InputError(f"monitor: --level must lie inside 0-1, got {arguments.level}.")
    frame = read_table(Path(arguments.file))
    with lock_file(Path(arguments.state)):  # of two at once the later one adds to the earlier
        sentences, beyond = _look(arguments, frame, rates, bounds)
    console.print_result(*sentences)
    if beyond:
        console.print_result(f"Beyond its bound at every look's level: {', '.join(beyond)}.")
    return 1 if beyond else 0


def _look(
    arguments: Args,
    frame: pd.DataFrame,
    rates: Sequence[tuple[str, str]],
    bounds: Mapping[Side, Mapping[str, float]],
) -> tuple[list[str], list[str]]:
    """Add the file to the state; what there is to say, and the rates beyond their bounds."""
    path = Path(arguments.state)
    state = _read_state(path, [name for name, _ in rates])
    cluster = np.arange(len(frame)).astype(str)
    if arguments.cluster:
        cluster = _values(frame, arguments.cluster).to_numpy(str)
    groups = list(dict.fromkeys(cluster.tolist()))
    seen = set(state["clusters"])
    if arguments.cluster and seen & set(groups):
        raise InputError(
            f"monitor: {len(seen & set(groups))} clusters were added before (such as "
            f"{sorted(seen & set(groups))[0]!r}). Clusters enter whole: give each once."
        )
    digest = hashlib.sha256(Path(arguments.file).read_bytes()).hexdigest()
    if digest in state["files"]:
        raise InputError(
            f"monitor: {arguments.file} was added to {path} before. Give each judgment once."
        )
    read = {name: _rate(arguments.file, frame, rule) for name, rule in rates}
    sentences = [
        sentence
        for name, rule in rates
        if not state["rates"].get(name, {}).get("total")
        for sentence in _absent(frame, name, rule)
    ]
    beyond = []
    for name, values in read.items():
        average = RunningAverage(**state["rates"].get(name, {}))
        for rows in pd.Series(np.arange(len(frame))).groupby(cluster, sort=False):
            average = average.add(values[rows[1].to_numpy()])
        state["rates"][name] = dict(average.to_dict())
        low, high = average.limits(level=arguments.level, n_quantities=len(rates))
        fixed = average.fixed_limits(level=arguments.level)
        sentences.append(_line(name, average, (low, high), fixed))
        if high < bounds["min"].get(name, -math.inf) or low > bounds["max"].get(name, math.inf):
            beyond.append(name)
    state["clusters"] = sorted({*seen, *groups}) if arguments.cluster else []
    state["files"] = [*state["files"], digest]
    text = json.dumps(state, indent=1)
    replace_file(path, lambda beside: beside.write_text(text, encoding="utf-8"))
    return sentences, beyond


def _line(
    name: str, average: RunningAverage, limits: Sequence[float], fixed: Sequence[float]
) -> str:
    if math.isnan(limits[0]):
        return f"{name}: {average.average:.3f}, no limits before {FIRST_LOOK} clusters"
    return (
        f"{name}: {average.average:.3f} [{limits[0]:.3f}, {limits[1]:.3f}] at every look, "
        f"{average.n:.0f} judgments (looked at once, which this is not: "
        f"[{fixed[0]:.3f}, {fixed[1]:.3f}])"
    )


def _pair(text: str, option: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name or not value:
        raise InputError(f"monitor: --{option} expects NAME=VALUE, got {text!r}.")
    return name.strip(), value.strip()


def _values(frame: pd.DataFrame, column: str) -> pd.Series:
    if column not in frame:
        raise InputError(
            f"monitor: there is no column {column!r}; there are {', '.join(frame.columns)}."
        )
    return frame[column]


def _share(file: str, row: int, column: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.inf
    if not (0 <= value <= 1 or math.isnan(value)):
        raise InputError(
            f"{file}, row {row}: {column} is {text[:40]!r}, and a rate is of numbers from 0 to 1. "
            f"Correct it, or name the word that counts: --rate NAME={column}:WORD."
        )
    return value


def _rate(file: str, frame: pd.DataFrame, rule: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """COLUMN:WORD (the share of a word; empty: unread) or COLUMN:=OTHER (two columns agree)."""
    column, sign, word = rule.partition(":")
    values = _values(frame, column)
    if not sign:
        cells = enumerate(values, start=1)
        return np.array([_share(file, row, column, v) if v else math.nan for row, v in cells])
    if word.startswith("="):
        other = _values(frame, word[1:])
        both = (values != "") & (other != "")
        same = (values == other).astype(float)
        return np.asarray(np.where(both, same, np.nan), dtype=float)
    if not word:
        return np.asarray((values == "").to_numpy(), dtype=float)
    return np.asarray(np.where(values == "", np.nan, (values == word).astype(float)), dtype=float)


def _absent(frame: pd.DataFrame, name: str, rule: str) -> list[str]:
    """What to say where no row holds the rate's word: a slip of the pen, or a rate of 0."""
    column, sign, word = rule.partition(":")
    held = [w for w in frame[column].unique() if w]
    if not sign or not word or word.startswith("=") or word in held:
        return []
    some = ", ".join(held[:4]) or "nothing"
    sentence = (
        f"{name}: no row's {column} is {word!r}; there are {some}. If that is a slip, move the "
        "state away and look again."
    )
    return [sentence]


def _read_state(path: Path, names: Sequence[str]) -> dict[str, Any]:
    if not path.exists():
        return {"version": _VERSION, "rates": {}, "clusters": [], "files": []}
    try:
        state = json_document(path)
        fault = _state_fault(state)
    except InputError as error:
        raise InputError(f"{path} is no state of judgestats monitor: {error}") from error
    if fault:
        raise InputError(
            f"{path} is no state of judgestats monitor ({fault}). Name another --state, or restore "
            "the file."
        )
    if set(state["rates"]) != set(names):
        raise InputError(
            f"{path}: the state is of other rates ({', '.join(state['rates'])}). The level is "
            "shared over the rates, so they stay the same: give these, or another --state."
        )
    return {"files": [], **state}


def _state_fault(state: Any) -> str:
    """What a state cannot hold: a damaged one must not raise an alarm, or none."""
    if not isinstance(state, dict):
        return "no JSON object"
    if state.get("version") != _VERSION:
        return f"field version: {short(state.get('version'))}"
    for name in ("clusters", "files"):
        listed = state.get(name, [] if name == "files" else None)
        if not isinstance(listed, list) or not all(isinstance(v, str) for v in listed):
            return f"field {name}: {short(listed)}"
    rates = state.get("rates")
    if not isinstance(rates, dict):
        return f"field rates: {short(rates)}"
    return next(filter(None, (_rate_fault(name, rate) for name, rate in rates.items())), "")


def _rate_fault(name: str, rate: Any) -> str:
    """What the sums of values in 0-1 cannot be."""
    fields = [field.name for field in dataclasses.fields(RunningAverage)]
    if not isinstance(rate, dict) or set(rate) != set(fields):
        return f"rate {short(name)}: expected {', '.join(fields)}"
    for field, value in rate.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e30:
            return f"rate {short(name)}, field {field}: {short(value)}"
    largest = {
        "t": rate["n"],
        "total": rate["n"],
        "size_squared": rate["n"] ** 2,
        "total_by_size": rate["size_squared"],
        "total_squared": rate["total_by_size"],
    }
    if any(rate[field] != int(rate[field]) for field in ("t", "n", "size_squared")):
        return f"rate {short(name)}: t, n and size_squared must be whole numbers"
    for field, most in largest.items():
        if rate[field] > most * (1 + 1e-9):
            return f"rate {short(name)}, field {field}: {short(rate[field])} exceeds {most:g}"
    return ""
