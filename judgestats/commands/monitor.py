"""``judgestats monitor``: running rates with anytime-valid limits, and changes by anchors."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.decisions.change import ANCHOR, OLD, Change, ChangeMonitor
from judgestats.analysis.decisions.record import number
from judgestats.commands.arguments import Args, table_options
from judgestats.commands.labels import read_table
from judgestats.commands.options import repeated_options
from judgestats.data.readers.json_paths import ROW
from judgestats.data.readers.options import TableOptions, scale_of
from judgestats.data.readers.registry import read_judgments
from judgestats.data.readers.row_checks import OpenQuestionError, Rows, check_raters, stated_rows
from judgestats.errors import InputError, guard_output, nearest
from judgestats.files.guarded import file_sha256
from judgestats.files.monitor_state import Look, MonitorState, Observation, Terms, changed_state
from judgestats.files.text import command_word, short
from judgestats.results.metric_names import Side, as_option, named_bounds
from judgestats.results.numbers import count_noun
from judgestats.results.purposes import read_requirements
from judgestats.results.verdict import Subject, decide
from judgestats.runner import display as console
from judgestats.stats.validity.sequential import FIRST_LOOK, RunningAverage

_ITEMS = ("item", "item_id", "id")
_CHARTS = (".svg", ".png", ".pdf")
_KIND = "kind"
"""Column that tells anchors (``anchor``) from other answers, where there is one."""


def anchors_command(arguments: Args) -> int:
    """Open a reference, or add a period to it and say what changed.

    Parameters
    ----------
    arguments : Args
        ``file``, ``anchors``, ``state``, ``rate``, ``item``, ``cluster``, ``label``, ``scale``,
        ``tolerance``, ``criteria``, ``reopen``, ``plan``, ``per_period``, ``chart``, ``json``,
        ``require``, ``level``.

    Returns
    -------
    int
        1 where a change is shown (with ``--require`` only of what is required), else 0.
    """
    if not 0 < arguments.level < 1 or not 0 <= arguments.tolerance < 1:
        raise InputError(
            "monitor: --level must be between 0 and 1, and --tolerance at least 0 and below 1."
        )
    if arguments.criteria < 1 or arguments.per_period < 1:
        raise InputError(
            "monitor: --criteria counts criteria monitored at once, and --per-period anchors, 1 or "
            "more."
        )
    if arguments.chart and Path(arguments.chart).suffix.lower() not in _CHARTS:
        raise InputError(
            f"monitor: --chart writes {', '.join(_CHARTS)}, not {short(arguments.chart)}. Nothing "
            "was added."
        )
    if arguments.chart and not Path(arguments.chart).absolute().parent.is_dir():
        raise InputError(
            f"{arguments.chart}: the folder of the chart does not exist. Nothing was added."
        )
    reading = TableOptions(**table_options(arguments) | {"item": (), "scale": None})
    if further := reading.words():
        raise InputError(
            f"monitor: {further[0]} has no effect with anchors. The rate names its column and "
            "word, as in --rate pass=verdict:pass."
        )
    required = read_requirements(arguments.require)
    if strange := sorted(set(required) - set(Change.required)):
        raise InputError(
            f"monitor: --require with anchors knows judge_changed and system_changed, not "
            f"{strange[0]}."
        )
    path = Path(arguments.state)
    monitor = ChangeMonitor(path)
    if arguments.reopen:
        held = _reference(arguments, arguments.file)
        monitor.reopen(**held)
        console.print_result(
            f"READY  New reference of {len(held['reference'])} anchors: {path}.",
            f"Next  {_next_command(arguments)}",
        )
        return 0
    terms = _stated_terms(arguments)
    if not (path.exists() and monitor.anchors()):
        monitor.open(
            **_reference(arguments, arguments.anchors or arguments.file), alpha=terms.alpha,
            tolerance=terms.tolerance, scale=(terms.low, terms.high),
        )  # fmt: skip
    elif not arguments.plan:
        monitor.check_terms(terms)
        if set(_reference(arguments, arguments.anchors)["reference"]) != monitor.anchors():
            raise InputError(
                f"{path}: the state has other anchors than {arguments.anchors}. Start a new "
                "reference: --reopen."
            )
    if arguments.plan:
        plan = _plan_lines(monitor.verdict(), arguments.per_period)
        console.print_result(*plan, f"Next  {_next_command(arguments)}")
        return 0
    made = _add(arguments, monitor)
    if arguments.chart:
        _draw(made, Path(arguments.chart))
    if arguments.json:
        console.write_json(made.to_dict())
    else:
        console.print_result(*made.screen(), f"Next  {_next_command(arguments)}")
    return exit_code(made, arguments.require)


def _next_command(arguments: Args) -> str:
    """The items that changed, where both files are known; else what the reference can find."""
    anchors, file = (
        command_word(name) if name else "" for name in (arguments.anchors, arguments.file)
    )
    if anchors and file and not arguments.plan:
        return f"judgestats drift {anchors} {file}"
    return f"judgestats monitor {file or 'my.csv'} --state {command_word(arguments.state)}"


def _stated_terms(arguments: Args) -> Terms:
    low, high = scale_of(arguments.scale or None) or (0.0, 1.0)
    return Terms(
        alpha=round((1 - arguments.level) / arguments.criteria, 12),
        tolerance=arguments.tolerance, low=float(low), high=float(high),
    )  # fmt: skip


def exit_code(made: Change, require: Sequence[str]) -> int:
    """1 where a change is shown, or one that is required not to be."""
    required = read_requirements(require)
    if not required:
        return int(made.certified)
    own = {m.key: m for m in made.measures(Subject(label="monitor"))}
    demands = [(d, own[key]) for key, d in required.items() if d is not None]
    return 1 if demands and decide(demands).outcome == "DO_NOT_USE" else 0


def _rule(arguments: Args) -> tuple[str, str, str]:
    """Name, column and word of the one rate."""
    if len(arguments.rate) != 1:
        raise InputError(
            "monitor: with anchors give one rate, as in --rate pass=verdict:pass or --rate "
            "score=score --scale 1-10."
        )
    name, sign, rule = arguments.rate[0].partition("=")
    column, _, word = rule.partition(":")
    if not sign or not column or word.startswith("="):
        raise InputError(f"monitor: --rate expects NAME=COLUMN:WORD, got {arguments.rate[0]!r}.")
    return name, column, word


def _read_rows(arguments: Args, file: str) -> pd.DataFrame:
    """Item, value (NaN: unparsed), kind and cluster of each row."""
    _, column, word = _rule(arguments)
    table = read_table(Path(file))
    item = next(iter(arguments.item), "") or next((c for c in _ITEMS if c in table), "item")
    for name in filter(None, (item, column, arguments.cluster)):
        if name not in table:
            raise InputError(
                f"{file}: there is no column {name!r}; there are {', '.join(table.columns)}."
            )
    if table.empty:
        raise InputError(f"{file} holds no judgment. Nothing was added.")
    cells = table[column].astype(str)
    values = _numbers(cells, word)
    if word:
        held = [w for w in cells.unique() if w]
        if word not in held and len(held) > 1:
            raise InputError(
                f"{file}, column {column}: no row is {word!r}; there are {', '.join(held[:4])}. "
                "Nothing was added. Write the words of the reference into the file."
            )
        if held and word not in held:
            console.print_status(f"{file}: every {column} is {held[0]!r}, none is {word!r}.")
    else:
        wrong = values.isna() & (cells != "") & (cells.str.casefold() != "nan")
        if wrong.any():
            row = int(wrong.to_numpy().argmax())
            raise InputError(
                f"{file}, line {row + 2}, column {column}: {cells.iloc[row][:40]!r} is not a "
                f"number. Name the word that counts: --rate NAME={column}:WORD."
            )
    return pd.DataFrame({
        "item": table[item].astype(str),
        "value": values,
        "kind": table[_KIND].astype(str) if _KIND in table else "",
        "cluster": table[arguments.cluster].astype(str) if arguments.cluster else "",
        "label": _labels(table, arguments.label, word, file),
    })  # fmt: skip


def _numbers(cells: pd.Series, word: str) -> pd.Series:
    """1 where a cell is the word, or its number; NaN where it is empty or no number."""
    own = cells == word if word else pd.to_numeric(cells, errors="coerce")
    return own.astype(float).where(cells != "")


def _labels(table: pd.DataFrame, column: str, word: str, file: str) -> pd.Series:
    """Human labels as 0 and 1; NaN where there is none."""
    if column not in table:
        return pd.Series(math.nan, index=table.index)
    cells = table[column].astype(str)
    values = _numbers(cells, word)
    if (values.isna() & (cells != "")).any() or set(values.dropna()) - {0.0, 1.0}:
        raise InputError(f"{file}, column {column}: labels of anchors are 0 or 1, or empty.")
    return values


def _reference(arguments: Args, file: str) -> dict[str, Any]:
    """Judgments of anchors, those of further old answers, clusters and labels of anchors."""
    read = _read_rows(arguments, file)
    others = read["kind"].isin({OLD, "new"})
    anchors = read[~others]
    held = {
        str(item): [None if math.isnan(v) else float(v) for v in own["value"]]
        for item, own in anchors.groupby("item", sort=False)
    }
    clusters = anchors.drop_duplicates("item").set_index("item")["cluster"]
    labels = anchors.dropna(subset="label").groupby("item", sort=False)["label"].first()
    if arguments.label and labels.empty:
        raise InputError(f"{file}: no anchor has a label in column {arguments.label!r}.")
    return {
        "reference": held,
        "old": _answers(read[others]),
        "clusters": clusters[clusters != ""].to_dict(),
        "labels": labels.astype(float).to_dict(),
    }


def _add(arguments: Args, monitor: ChangeMonitor) -> Change:
    read = _read_rows(arguments, arguments.file)
    known = monitor.anchors()
    is_anchor = read["kind"].eq(ANCHOR) | (read["kind"].eq("") & read["item"].isin(known))
    anchors = read[is_anchor]
    digest = hashlib.sha256(file_sha256(Path(arguments.file)).encode()).hexdigest()
    return monitor.add_period(
        list(zip(anchors["item"], anchors["value"], strict=True)),
        _answers(read[~is_anchor]), digest=digest,
    )  # fmt: skip


def _answers(rows: pd.DataFrame) -> list[float | None]:
    """One value per cluster, or per item: repeats of one answer are averaged."""
    named = rows["cluster"].where(rows["cluster"] != "", rows["item"])
    own = named.where(named != "", rows.index.astype(str) + "\0")
    means = rows.groupby(own.to_numpy(), sort=False)["value"].mean()
    return [None if math.isnan(v) else float(v) for v in means]


def _draw(made: Change, path: Path) -> None:
    """Both processes over periods, with the threshold that raises an alarm."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 3.5), layout="constrained")
    axes = figure.subplots()
    periods = [p for p, _, _ in made.series]
    for name, place, style in (("Judge", 1, "-o"), ("System", 2, "--s")):
        axes.plot(periods, [one[place] for one in made.series], style, label=name, markersize=3)
    axes.axhline(made.judge.threshold, color="0.4", linewidth=1, label="Alarm")
    axes.set_xlabel("Period")
    axes.set_ylabel("log e")
    axes.set_title(made.screen()[0].partition(". ")[0][:90], loc="left", fontsize=10)
    axes.legend(frameon=False)
    with guard_output(path):
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def _plan_lines(made: Change, per_period: int) -> list[str]:
    """Delay and floor of a reference, for this many anchors per period."""
    held = made.reference
    head = (
        f"READY  {held['anchors']:.0f} anchors, {held['repeats']:.3g} judgments each, "
        f"{per_period} anchors per period, alpha {made.alpha:g}."
    )
    floor = f"       No judge shift below {number(made.floor)} of the range can raise an alarm."
    lines = [head, floor]
    for delay in made.delays:
        when = "never"
        if math.isfinite(delay.anchors):
            periods = count_noun(math.ceil(delay.anchors / per_period), "period", "periods")
            when = f"after about {delay.anchors:,.0f} anchors ({periods})"
        lines.append(f"       Judge shift {number(delay.shift)}: {when}.")
    return lines


def monitor_command(arguments: Args) -> int:
    """Add a file of judgments to the running averages and hold them to bounds.

    Parameters
    ----------
    arguments : Args
        ``file``, ``rate``, ``cluster``, ``state``, ``require``, ``level``; with anchors see
        `judgestats.commands.monitor.anchors_command`.

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
        if question.answers and all(answer.options.item == (ROW,) for answer in question.answers):
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
