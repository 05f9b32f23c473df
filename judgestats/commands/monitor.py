"""``judgestats monitor``: running rates of a stream of judgments, with anytime-valid limits."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.decisions.change import Change
from judgestats.analysis.decisions.record import number
from judgestats.commands.arguments import Args, repeated_options, table_options
from judgestats.commands.label_page import read_table
from judgestats.commands.monitor_anchors import anchors_command
from judgestats.data.readers.json_paths import ROW
from judgestats.data.readers.options import TableOptions
from judgestats.data.readers.registry import read_judgments
from judgestats.data.readers.row_checks import OpenQuestionError, Rows, check_raters, stated_rows
from judgestats.errors import InputError, nearest
from judgestats.files.guarded import file_sha256
from judgestats.files.monitor_state import (
    Look,
    MonitorState,
    Observation,
    Terms,
    changed_state,
)
from judgestats.files.text import command_word
from judgestats.results.metric_names import Side, as_option, named_bounds
from judgestats.runner import display as console
from judgestats.stats.validity.sequential import FIRST_LOOK, RunningAverage


def monitor_command(arguments: Args) -> int:
    """Add a file of judgments to the running averages and hold them to bounds.

    Parameters
    ----------
    arguments : Args
        ``file``, ``rate``, ``cluster``, ``state``, ``require``, ``level``; with anchors see
        `judgestats.commands.monitor_anchors.anchors_command`.

    Returns
    -------
    int
        1 where a rate is established to be beyond its bound, else 0.
    """
    if arguments.anchors or arguments.plan or arguments.reopen:
        return anchors_command(arguments)
    if changes := [one for one in arguments.require if one.startswith(Change.required)]:
        raise InputError(f"monitor: --require {changes[0]} needs anchors. Add --anchors FILE.")
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
        raise InputError(f"monitor: --level must be between 0 and 1, got {arguments.level}.")
    frame = _judge_rows(arguments, rates)
    if frame.empty:
        raise InputError(f"{arguments.file} holds no judgment. Nothing was added.")
    sentences, beyond = _look(arguments, frame, rates, bounds)
    head = [f"Beyond the threshold: {', '.join(beyond)}."] if beyond else []
    word = "FAIL" if beyond else "PASS" if bounds["min"] or bounds["max"] else "READY"
    again = [f"judgestats analyze {command_word(arguments.file)}", *repeated_options(arguments)]
    following = [" ".join(again)]
    console.print_outcome(word, *head, *sentences, following=following)
    return 1 if beyond else 0


def _judge_rows(arguments: Args, rates: Sequence[tuple[str, str]]) -> pd.DataFrame:
    """The judge's rows as text: columns as they are, or as `judgestats analyze` reads them.

    Raises
    ------
    InputError
        Nobody said which rows are the judge's, and people gave some.
    """
    path = Path(arguments.file)
    options = TableOptions(**table_options(arguments))
    table = read_table(path)
    columns = {column for _, rule in rates for column in rule.replace(":=", ":").split(":")[:1]}
    columns |= {rule.partition(":=")[2] for _, rule in rates if ":=" in rule}
    columns |= {arguments.cluster} if arguments.cluster else set()
    plain = columns <= set(table) and not options.has_columns and arguments.reader == "auto"
    try:
        if plain:
            table, humans, _ = stated_rows(path, table, options)
            names = {"item_id": str(table.columns[0])}
            read_by = partial(_previewed, path)
            check_raters(Rows(source=path, table=table, names=names, options=options, read=read_by))
            return table[~humans].reset_index(drop=True)
        read = read_judgments(path, reader=arguments.reader, **table_options(arguments))
    except OpenQuestionError as question:
        if all(answer.options.item == (ROW,) for answer in question.answers):
            return table  # rates need no ids
        raise (question.drop_options("factors", "mapping", "item") if plain else question) from None
    except InputError:
        if options.set_options() or arguments.reader != "auto":
            raise
        return table  # a column that is not there is refused by its name
    scores = read["score"].map("{:g}".format).where(read["score"].notna(), "")
    read = read.assign(verdict=read["choice"].where(read["choice"] != "", scores), score=scores)
    return read.astype(object).where(read.notna(), "").map(str)


def _previewed(path: Path, options: TableOptions) -> pd.DataFrame:
    """The judge's rows, an item each, for the preview of an answer."""
    _, humans, _ = stated_rows(path, read_table(path), options)
    rows = np.flatnonzero(~humans)
    return pd.DataFrame({"item_id": rows, "condition": "", "order": ""})


def _look(
    arguments: Args,
    frame: pd.DataFrame,
    rates: Sequence[tuple[str, str]],
    bounds: Mapping[Side, Mapping[str, float]],
) -> tuple[list[str], list[str]]:
    """Add the file to the state; what there is to say, and the rates beyond their bounds."""
    cluster = _values(frame, arguments.cluster).tolist() if arguments.cluster else []
    if "" in cluster:
        raise InputError(
            f"{arguments.file}, row {cluster.index('') + 1}: {arguments.cluster} is empty. Name "
            "the cluster of each judgment."
        )
    read = {name: _rate(arguments.file, frame, rule) for name, rule in rates}
    digest = file_sha256(Path(arguments.file))
    sentences, beyond = [], []
    with changed_state(Path(arguments.state)) as state:
        new = not state.periods()
        state.open(Terms(alpha=round(1 - arguments.level, 12)))
        if not new:
            _check_rates(state, read)
        _check_clusters(state, cluster)
        period = state.add_period(digest)
        for (name, rule), values in zip(rates, read.values(), strict=True):
            held = state.rows("SELECT total(value) FROM observation WHERE kind = ?", _kind(name))
            if not held[0][0]:
                sentences += _absent(frame, name, rule)
            cells = [None if math.isnan(v) else v for v in values.tolist()]
            items = cluster or [""] * len(cells)
            state.add_observations(
                Observation(period, _kind(name), item, row, cell)
                for row, (item, cell) in enumerate(zip(items, cells, strict=True))
            )
            sums = state.rows(_CLUSTERS, _kind(name))
            average = RunningAverage.from_clusters(*zip(*sums, strict=True))
            low, high = average.limits(level=arguments.level, n_quantities=len(rates))
            fixed = average.fixed_limits(level=arguments.level)
            sentences.append(_line(name, average, (low, high), fixed))
            if high < bounds["min"].get(name, -math.inf) or low > bounds["max"].get(name, math.inf):
                beyond.append(name)
        state.add_look(Look(period, None, None, f"beyond: {', '.join(beyond)}" if beyond else ""))
    return sentences, beyond


_CLUSTERS = """SELECT count(value), total(value) FROM observation WHERE kind = ?
GROUP BY period, item, CASE item WHEN '' THEN repeat END"""
"""Values read of each cluster, and their sum; a row without a cluster is a separate one."""


def _kind(rate: str) -> str:
    return f"rate:{rate}"


def _check_rates(state: MonitorState, names: Iterable[str]) -> None:
    held = [kind for (kind,) in state.rows("SELECT DISTINCT kind FROM observation")]
    if not all(kind.startswith(_kind("")) for kind in held):
        raise InputError(f"{state.path}: the state has anchors. Add --anchors FILE.")
    if set(held) != set(map(_kind, names)):
        shown = ", ".join(kind.removeprefix("rate:") for kind in held)
        raise InputError(
            f"{state.path}: the state is of other rates ({shown}). The level is shared over the "
            "rates, so they stay the same: give these, or another --state."
        )


def _check_clusters(state: MonitorState, cluster: Sequence[str]) -> None:
    held = {item for (item,) in state.rows("SELECT DISTINCT item FROM observation")}
    if again := sorted(held & set(cluster)):
        raise InputError(
            f"monitor: {len(again)} clusters were added before (such as {again[0]!r}). Give each "
            "cluster once, with all its rows."
        )


def _line(
    name: str, average: RunningAverage, limits: Sequence[float], fixed: Sequence[float]
) -> str:
    if math.isnan(limits[0]):
        return f"{name}: {number(average.average, 3)}, no interval before {FIRST_LOOK} clusters"
    wide, once = (", ".join(number(v, 3) for v in ends) for ends in (limits, fixed))
    shown = f"{name}: {number(average.average, 3)} [{wide}] at every update, "
    return f"{shown}{average.n:.0f} judgments (for a single look only: [{once}])"


def _pair(text: str, option: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name or not value:
        raise InputError(f"monitor: --{option} expects NAME=VALUE, got {text!r}.")
    return name.strip(), value.strip()


def _values(frame: pd.DataFrame, column: str) -> pd.Series:
    if column not in frame:
        raise InputError(
            f"monitor: there is no column {column!r}.{nearest(column, frame.columns)} There are "
            f"{', '.join(frame.columns)}."
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
    """COLUMN:WORD (the share of a word; empty: unparsed) or COLUMN:=OTHER (two columns agree)."""
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
