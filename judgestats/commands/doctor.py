"""Installation, files, and journals."""

from __future__ import annotations

import asyncio
import os
import platform
import shlex
import shutil
import textwrap
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from judgestats.analysis import answerable, find_copies
from judgestats.collection.journal import Journal, journal_view
from judgestats.collection.journal_file import is_laid_out
from judgestats.commands.arguments import Args, table_options
from judgestats.commands.audit import read_or_ask
from judgestats.commands.options import repeated_options
from judgestats.data.readers.interpretation import ROLE_OF, reading_of
from judgestats.data.readers.logs import table_of
from judgestats.data.readers.registry import read_judgments
from judgestats.data.readers.row_checks import OpenQuestionError, first_judgments
from judgestats.errors import InputError, JudgestatsError, printable
from judgestats.files.guarded import NoTableError
from judgestats.files.remote import local_file
from judgestats.files.text import command_word
from judgestats.results.numbers import aligned, count_noun
from judgestats.results.screen import next_line, plain_text
from judgestats.results.verdict_screen import grid_lines
from judgestats.runner import display as console
from judgestats.runner.record import PACKAGES
from judgestats.version import __version__

if TYPE_CHECKING:
    from judgestats.collection.spec import JudgeSpec


def doctor_command(arguments: Args) -> int:
    """Look at everything a run needs and say what is missing.

    Parameters
    ----------
    arguments : Args
        ``judges``, ``base_url`` and ``timeout``; with a ``file`` (of judgments, or a journal) that
        is looked at instead.

    Returns
    -------
    int
        0 when a run can start, 1 when something named here is in its way.
    """
    if arguments.json and not arguments.file:
        raise InputError("doctor: --json is for a file of judgments. Name it.")
    if arguments.file:
        path = local_file(arguments.file)
        journal = arguments.drop or path.name == "journal.sqlite" or is_laid_out(path)
        return doctor_journal(path, drop=arguments.drop) if journal else doctor_file(arguments)
    if arguments.drop:
        raise InputError("doctor: --drop is for a journal. Name its file.")
    console.print_result(f"judgestats {__version__}, Python {platform.python_version()}", "")
    console.print_result("Packages: " + ", ".join(f"{p} {metadata.version(p)}" for p in PACKAGES))
    renderer = "Quarto" if shutil.which("quarto") else "the built-in renderer (no Quarto here)"
    console.print_result(f"Reports: rendered by {renderer}")
    faults = [*_store(), *_judges(arguments)]
    if faults:
        console.print_result("", "To do:", *(f"  - {f}" for f in faults))
        return 1
    asked = [("--judges", arguments.judges), ("--base-url", arguments.base_url)]
    words = "".join(f" {flag} {shlex.quote(value)}" for flag, value in asked if value)
    console.print_result("", f"All is in place. Next: judgestats run temperature{words}")
    return 0


def _store() -> list[str]:
    from judgestats.tracking.store import open_store

    try:
        store = open_store()
    except JudgestatsError as error:
        console.print_result(f"Runs: {error}")
        return ["make the tracking store writable, or set MLFLOW_TRACKING_URI"]
    console.print_result(f"Runs: go to {store.uri}, experiment {store.experiment_name!r}")
    return []


def _judges(arguments: Args) -> list[str]:
    from judgestats.collection.spec import read_judges, strip_address

    has_key = bool(os.environ.get("OPENAI_API_KEY"))
    console.print_result(f"OPENAI_API_KEY: {'set' if has_key else 'not set'}")
    names = [n.strip() for n in arguments.judges.split(",") if n.strip()]
    if not names:
        names = ["gpt-4o-mini"] if has_key or arguments.base_url else ["sim-typical"]
    faults = []
    for name in names:
        try:
            specs = read_judges([name], base_url=arguments.base_url)
        except JudgestatsError as error:
            console.print_result(f"Judge {strip_address(name)}: {error}")
            faults.append(f"judge {strip_address(name)}: see above")
            continue
        for spec in specs.values():
            seen, fault = _test_call(spec, arguments.timeout)
            console.print_result(f"Judge {spec.name}: {seen}")
            faults += [f"judge {spec.name}: see above"] if fault else []
    if not has_key:
        console.print_result(
            "  (for a real judge: export OPENAI_API_KEY=..., or --base-url of any "
            "OpenAI-compatible server)"
        )
    return faults


def _test_call(spec: JudgeSpec, timeout_s: float) -> tuple[str, bool]:
    """What one call of a judge came to, and whether that is in a run's way."""
    from judgestats.collection.endpoint_card import first_answer

    if spec.in_process and spec.local is None:
        if spec.function is not None:
            spec.function.load()
            return "a function, in this process", False
        return "simulated, in this process", False
    try:
        return asyncio.run(first_answer(spec.launch(), timeout_s=timeout_s)), False
    except JudgestatsError as error:
        return str(error), True


_WIDTH = 100
_LINES, _LEAST_ROOM, _MOST_COPIES, _MOST_NOTES = 20, 5, 4, 3


def doctor_file(arguments: Args) -> int:
    """Say what a file holds and can answer.

    Parameters
    ----------
    arguments : Args
        ``file`` and the words on how to read it.

    Returns
    -------
    int
        0 where the file can be analysed as it is (with the words given), 1 where it cannot. With
        ``--json`` the reading is one document.

    Raises
    ------
    InputError
        The file cannot be read.
    """
    words = table_options(arguments)
    path = local_file(arguments.file)
    if arguments.json:
        with console.use_output(console.OutputOptions(form="json")):
            console.write_json({"reading": reading_of(read_or_ask(path, arguments, words))})
        return 0
    file = command_word(arguments.file)
    try:
        frame = read_judgments(path, reader=arguments.reader, **words)
    except InputError as error:
        try:
            lines = _columns_of(path, words["table"])
        except InputError:  # not even a table that somebody could map: refused
            raise error from None
        question, *answers = str(error).split("\n")
        console.print_outcome("NOT YET", question)
        is_open = isinstance(error, OpenQuestionError) and error.answers
        following = "one of these commands" if is_open else "judgestats doctor --help"
        room = _LINES - len(answers) - 3  # the question, a blank, and what is next
        shown = ["", *_fit_columns(lines, room)] if lines and room >= _LEAST_ROOM else []
        console.print_result(*answers, *shown, f"Next  {following}")
        return 1
    width = 100
    asked = answerable(frame)
    ready = [q.asked for q in asked if q.answered]
    missing = [q.asked for q in asked if not q.answered]
    first = f"READY  for {', '.join(ready)}" if ready else "NOT YET  nothing can be estimated"
    rest = f"; not for {', '.join(missing)}" if missing else ""
    lines = textwrap.wrap(f"{first}{rest}.", width, subsequent_indent="       ")
    lines += [*textwrap.wrap(" · ".join(_file_facts(path, frame)), width), ""]
    place, columns = len(lines), []
    if frame.attrs["reader"] == "table" and "files" not in frame.attrs:
        named = frame.attrs.get("columns_read", {}).items()
        used = {theirs: ROLE_OF.get(ours, ours) for ours, theirs in named}
        used |= {t.partition(".")[0].removesuffix("[]"): o for t, o in used.items() if "." in t}
        used |= frame.attrs.get("parts", {}) | frame.attrs.get("unused", {})
        reasons = frame.attrs.get("reasons", {})
        used = {c: f"{role} ({reasons[c]})" if c in reasons else role for c, role in used.items()}
        columns = _columns_of(path, words["table"], used)
    for line in frame.attrs.get("understood", []):
        lines += _wrapped(line)
    after = len(lines)
    for note in frame.attrs["notes"][:_MOST_NOTES]:
        lines += _wrapped(f"Care  {note}")
    copies = find_copies(frame)
    if copies.groups:
        lines += _wrapped(f"Care  {copies.description}.")
        lines += [f"      {' = '.join(group)}" for group in copies.groups[:_MOST_COPIES]]
    rows = [["Can answer", "", "Missing"]]
    states = [f"{'yes' if q.answered else 'no'}, {q.grounds}" for q in asked]
    left = max(len(q.asked) for q in asked) + max(map(len, states)) + 4
    for q, state in zip(asked, states, strict=True):
        first_line, *others = textwrap.wrap(
            q.needs or "-", max(30, width - left), break_on_hyphens=False, break_long_words=False
        )
        rows += [[q.asked, state, first_line], *(["", "", line] for line in others)]
    lines += plain_text(grid_lines(rows, 2 * width) or []).split("\n")
    options = repeated_options(arguments)
    again = [" ".join(["judgestats analyze", file, *options])]
    judged = " ".join([file, *(w for w in options if not w.startswith("--labels "))])
    again += [q.command.format(file=judged) for q in asked if q.command]
    closing = plain_text(next_line(again, width)).split("\n")
    shown = _wrapped(f"First judgments  {' | '.join(first_judgments(frame))}")
    if len(columns) + len(lines) + len(shown) + len(closing) <= _LINES:
        lines[after:after] = shown
    lines[place:place] = _fit_columns(columns, _LINES - len(lines) - len(closing))
    console.print_result(*lines, *closing)
    return 0


def _fit_columns(lines: list[str], room: int) -> list[str]:
    """The table of columns in at most `room` lines, but its head and three columns."""
    kept = max(room, _LEAST_ROOM) - 1
    if len(lines) <= kept + 1:
        return lines
    return [*lines[:kept], f"... and {len(lines) - kept} more columns: --json"]


def _file_facts(path: Path, frame: pd.DataFrame) -> list[str]:
    """Name, format, and size of a file that was read."""
    judges, items = int(frame["judge"].nunique()), int(frame["item_id"].nunique())
    clusters, repeats = int(frame["cluster"].nunique()), int(frame["replicate"].nunique())
    within = f" ({count_noun(clusters, 'cluster', 'clusters')})" if clusters < items else ""
    sizes = (
        count_noun(judges, "judge", "judges"), count_noun(items, "item", "items") + within,
        count_noun(repeats, "repeat", "repeats"),
    )  # fmt: skip
    rows = count_noun(len(frame), "judgment", "judgments")
    return [path.name, str(frame.attrs["reader"]), f"{rows} = {' × '.join(sizes)}"]


def _wrapped(line: str) -> list[str]:
    """A line in lines of a screen's width; commands are not broken at their hyphens."""
    start = " " * (7 if line.startswith(" ") else 2)
    return textwrap.wrap(
        line, 100, subsequent_indent=start, break_on_hyphens=False, break_long_words=False
    )


def _columns_of(path: Path, table: str, used: Mapping[str, str] | None = None) -> list[str]:
    """The columns of a table; empty where the file holds none."""
    try:
        return column_lines(table_of(path, lambda _: [], table=table), used or {})
    except NoTableError:
        return []  # what is wrong with it is said by the reader


def column_lines(table: pd.DataFrame, used: Mapping[str, str]) -> list[str]:
    """Each column, verdicts first: kind, share that is filled, role, and examples.

    Parameters
    ----------
    table : DataFrame
    used : mapping of column to what it serves as, or why it is not used

    Returns
    -------
    list of str

    Examples
    --------
    >>> print(*column_lines(pd.DataFrame({"id": ["a", "b"], "s": [1, None]}), {"id": "item"}),
    ...       sep="\\n")
    column  kind     filled  values  role  examples
    id      words      100%       2  item  a, b
    s       numbers     50%       1  -     1
    """
    rows = [("column", "kind", "filled", "values", "role", "examples")]
    for name in sorted(table.columns, key=lambda n: not used.get(str(n), "").startswith("verdict")):
        column = table[name]
        kept = column.dropna()
        texts = kept.map(str)
        distinct = list(dict.fromkeys(texts.head(10_000)))
        shown = ", ".join(printable(t[:24], one_line=True) for t in distinct[:3])
        rows.append(
            (
                printable(str(name)[:30], one_line=True),
                _kind(column, distinct),
                f"{100 * len(kept) / max(1, len(column)):.0f}%",
                f"{texts.nunique():,}",
                used.get(str(name), "-"),
                shown.removesuffix(".0"),
            )
        )
    lines = aligned(rows, {2, 3})
    return [text if len(text) <= _WIDTH else f"{text[: _WIDTH - 3]}..." for text in lines]


def _kind(column: pd.Series, distinct: list[str]) -> str:
    if not distinct:
        return "empty"
    if pd.api.types.is_bool_dtype(column):
        return "yes/no"
    if pd.api.types.is_numeric_dtype(column):
        return "numbers"
    if pd.api.types.is_datetime64_any_dtype(column):
        return "times"
    return "text" if sum(map(len, distinct)) > 40 * len(distinct) else "words"


_JOURNAL_SHOWN = 5


def doctor_journal(path: Path, *, drop: bool) -> int:
    """Check a journal, and print what its calls cost.

    Parameters
    ----------
    path : Path
    drop : bool
        Remove damaged answers.

    Returns
    -------
    int
        0 where the file is intact, 1 where something is damaged.

    Raises
    ------
    InputError
        There is no such file.
    """
    if not path.exists():
        raise InputError(f"doctor: journal {path} not found.")
    with Journal(path) if drop else journal_view(path) as journal:
        faults = journal.damaged(drop=drop)
        kept, lines, unpriced = len(journal), journal.ledger.lines(), journal.unpriced()
    count = f"{len(faults)} fault{'s' * (len(faults) != 1)}"
    what = f"kept, {count}" if faults else "whole"
    more = (
        [f"  ... and {len(faults) - _JOURNAL_SHOWN} more"] if len(faults) > _JOURNAL_SHOWN else []
    )
    head = f"journal {path}: {kept:,} answers {what}"
    console.print_result(head, *(f"  {fault}" for fault in faults[:_JOURNAL_SHOWN]), *more)
    if lines:
        dollars = sum(line.spend.total for line in lines)
        twice = sum(line.spend.asked_again for line in lines)
        console.print_result(
            f"  {sum(line.spend.requests for line in lines):,} requests, ${dollars:,.4f} spent"
            f"{f' and {unpriced:,} answers of unknown price' if unpriced else ''}, "
            f"{twice:,} judgments possibly billed twice"
        )
    if faults and not drop:
        console.print_result("To remove the damaged rows and request them again: add --drop")
    return 1 if faults else 0
