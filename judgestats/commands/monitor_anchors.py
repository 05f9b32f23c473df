"""``judgestats monitor --anchors``: attribute a change to the judge or to the system."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from judgestats.analysis.decisions.change import Change, ChangeMonitor
from judgestats.analysis.decisions.change_data import ANCHOR, OLD
from judgestats.analysis.decisions.record import number
from judgestats.commands.arguments import Args, table_options
from judgestats.commands.label_page import read_table
from judgestats.data.readers.options import TableOptions, scale_of
from judgestats.errors import InputError, guard_output
from judgestats.files.guarded import file_sha256
from judgestats.files.monitor_state import Terms
from judgestats.files.text import command_word, short
from judgestats.results.numbers import count_noun
from judgestats.results.purposes import read_requirements
from judgestats.results.verdict import Subject, decide
from judgestats.runner import display as console

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
        values, old, clusters, labels = _reference(arguments, arguments.file)
        monitor.reopen(values, old=old, clusters=clusters, labels=labels)
        console.print_result(
            f"READY  New reference of {len(values)} anchors: {path}.",
            f"Next  {_next_command(arguments)}",
        )
        return 0
    terms = _stated_terms(arguments)
    if not (path.exists() and monitor.anchors()):
        source = arguments.anchors or arguments.file
        values, old, clusters, labels = _reference(arguments, source)
        monitor.open(
            values, old=old, clusters=clusters, labels=labels, alpha=terms.alpha,
            tolerance=terms.tolerance, scale=(terms.low, terms.high),
        )  # fmt: skip
    elif not arguments.plan:
        monitor.check_terms(terms)
        _check_same(arguments, monitor)
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


def _reference(
    arguments: Args, file: str
) -> tuple[dict[str, list[float | None]], list[float | None], dict[str, str], dict[str, float]]:
    """Judgments of anchors, those of further old answers, clusters and labels of anchors."""
    read = _read_rows(arguments, file)
    others = read["kind"].isin({OLD, "new"})
    anchors = read[~others]
    held = {
        str(item): [None if math.isnan(v) else float(v) for v in own["value"]]
        for item, own in anchors.groupby("item", sort=False)
    }
    clusters = anchors.drop_duplicates("item").set_index("item")["cluster"].to_dict()
    old = _answers(read[others])
    labels = anchors.dropna(subset="label").groupby("item", sort=False)["label"].first()
    if arguments.label and labels.empty:
        raise InputError(f"{file}: no anchor has a label in column {arguments.label!r}.")
    return (
        held,
        old,
        {str(k): str(v) for k, v in clusters.items() if v},
        {str(k): float(v) for k, v in labels.items()},
    )


def _check_same(arguments: Args, monitor: ChangeMonitor) -> None:
    """Refuse another reference than that of the state."""
    held, *_ = _reference(arguments, arguments.anchors)
    anchors = monitor.anchors()
    if set(held) != anchors:
        raise InputError(
            f"{monitor.path}: the state has other anchors than {arguments.anchors}. Start a new "
            "reference: --reopen."
        )


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
