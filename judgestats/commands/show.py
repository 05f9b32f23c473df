"""``judgestats show RUN [ID]``: a run's screen again, or one of its results with all it holds."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from judgestats.commands.arguments import Args
from judgestats.errors import InputError, guard_output, nearest
from judgestats.files.text import decode_json
from judgestats.results import Results, Table, print_of, quantity_of, words_of
from judgestats.results.card import SCHEMA, card_svg, judge_card
from judgestats.results.numbers import format_number
from judgestats.results.records import Comparison, Estimate, Record, plain, rows_of_table
from judgestats.runner import display as console
from judgestats.runner.display import finish, show, write_json
from judgestats.sinks import csv_text


def show_command(arguments: Args) -> int:
    """Show a run, or one of its results.

    Parameters
    ----------
    arguments : Args
        ``run``, ``result`` (words of an id), ``all``, ``json`` and ``require``.

    Returns
    -------
    int
        0.

    Raises
    ------
    InputError
        There is no such run, or no such result in it.
    """
    from judgestats.tracking.fetch import results_of_run, whole_run

    run = whole_run(arguments.run)
    results = results_of_run(run)
    if arguments.result == ["crosscheck"]:
        results = _crosschecked(run, results)
    with console.use_output(console.parse_output_options(arguments)):
        if not arguments.result:
            again = f"judgestats show {arguments.run}"
            further = [f"{again} --json"] if arguments.all else ["--all", "--json"]
            following = [f"{again} {_example_id(results)}", *further]
            show(results, more=f"{again} --all", following=following)
            finish(results, following=following)
            return 0
        record = _record(results, " ".join(arguments.result))
        if arguments.out:
            _write_table(record, Path(arguments.out))
        if arguments.json:
            write_json({"record": plain(record)})
        else:
            console.print_result(record_text(record, results))
    return 0


def card_command(arguments: Args) -> int:
    """Write the card of one judge.

    Parameters
    ----------
    arguments : Args
        ``run``, ``judge`` and ``out``.

    Returns
    -------
    int
        0.

    Raises
    ------
    InputError
        No such run or verdict, or ``--out`` names another kind of file.
    """
    from judgestats.reporting.runs import load_run

    out = Path(arguments.out)
    if out.suffix not in {".svg", ".json"}:
        raise InputError(f"card: --out takes a .svg or .json file, got {arguments.out!r}.")
    run = load_run(arguments.run)
    manifest = run.folder / "manifest.json"
    digests = decode_json(manifest.read_text("utf-8"))["sha256"] if manifest.is_file() else {}
    made = datetime.fromtimestamp((run.folder / "results.json").stat().st_mtime, UTC)
    card = judge_card(
        run.records, arguments.judge, digest=digests.get("judgments.parquet", ""),
        date=made.date().isoformat(),
    )  # fmt: skip
    text = card_svg(card) if out.suffix == ".svg" else json.dumps(card, indent=1) + "\n"
    with guard_output(out):
        if out.exists() and SCHEMA not in out.read_text("utf-8", errors="replace")[:200]:
            raise InputError(f"card: {out} is another file. Name a new one: --out card.svg")
        out.write_text(text, encoding="utf-8")
    console.print_result(str(out))
    return 0


def _crosschecked(run: str, results: Results) -> Results:
    """The results with the cross-check, computed now for a run that was made without."""
    from judgestats.analysis.crosscheck import CROSSCHECK, crosscheck, with_crosscheck
    from judgestats.tracking.fetch import run_judgments, run_standings

    if CROSSCHECK in results:
        return results
    rows = crosscheck(run_judgments(run), results, standings=run_standings(run))
    if not rows:
        raise InputError(
            f"show: no number of {run} can be recomputed by another package. They need items that "
            "were all judged, and parsed, equally often."
        )
    return with_crosscheck(results, rows)


def _write_table(record: Record, path: Path) -> None:
    """Write a table, one row per row."""
    import pandas as pd

    if not isinstance(record, Table):
        raise InputError(f"show --out: {record.id} is not a table. Use --json instead.")
    with guard_output(path):
        text = csv_text(pd.DataFrame(rows_of_table(record)))
        path.write_text(text, encoding="utf-8", newline="")


def _example_id(results: Results) -> str:
    """The id of something that the screen shows, for a start."""
    ids = [next(iter(row.cells.values())) for row in results.rows]
    return shlex.quote(ids[0]) if ids else "ID"


def _record(results: Results, name: str) -> Record:
    """The result of this id, or the only one whose id begins so."""
    if name in results:
        return results[name]
    ids = [record.id for record in results.results]
    begin = [i for i in ids if i.startswith(name)]
    if len(begin) == 1:
        return results[begin[0]]
    if begin:
        few = "; ".join(begin[:8]) + (f"; and {len(begin) - 8} more" if len(begin) > 8 else "")
        raise InputError(f"show: {len(begin)} results begin with {name!r}: {few}. Name one.")
    hint = nearest(name, ids) or f" There are: {'; '.join(ids[:8])} ..."
    raise InputError(f"show: the run has no result {name!r}.{hint}")


def record_text(record: Record, results: Results) -> str:
    """A result with everything it holds: what it is, its words, its print, notes and null.

    Parameters
    ----------
    record : Record
    results : Results
        Holds its family, effects and members.

    Returns
    -------
    str
    """
    lines = [record.title, f"id: {record.id}  ({type(record).__name__.lower()}, {record.role})"]
    if isinstance(record, (Estimate, Comparison)):
        entry = quantity_of(record.estimand)
        unit = f", in {entry.unit}" if entry.unit not in {"number", "coefficient"} else ""
        lines.append(f"{entry.heading}: {entry.glossary}{unit}")
        if entry.function:
            lines.append(f"computed by judgestats.stats.{entry.function.rpartition(':')[2]}")
    lines += _subject(record)
    lines += ["", print_of(record, results)]
    told = isinstance(record, Estimate)  # its print says all that its words do, to more digits
    if not told and (words := str(words_of(record, results))):
        lines += ["", *console.wrapped(words)]
    if numbers := list(_details(record)):
        lines += ["", "details:", *numbers]
    return "\n".join(lines)


def _subject(record: Record) -> Iterator[str]:
    about = record.about
    parts = [about.judge, about.stratum, *about.conditions[:4], about.slice]
    if subject := "; ".join(dict.fromkeys(filter(None, parts))):
        yield f"about: {subject}"
    if record.part_of:
        yield f"part of: {record.part_of}"


def _details(record: Record) -> Iterator[str]:
    """Named numbers of its method; tables of them stay in the file."""
    for name, value in record.details.items():
        if isinstance(value, float):
            yield f"  {name}: {format_number(value)}"
        elif isinstance(value, (int, str, bool)):
            yield f"  {name}: {value}"
