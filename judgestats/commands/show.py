"""``judgestats show RUN [ID]``: a run's screen again, or one of its results with all it holds."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from judgestats.commands.table import Given
from judgestats.errors import InputError, guard_output, nearest
from judgestats.results import Results, estimand_of
from judgestats.results.numbers import format_number
from judgestats.results.records import Comparison, Estimate, Record, plain
from judgestats.results.text import print_of, words_of
from judgestats.runner import display as console
from judgestats.runner.display import finish, show, write_json
from judgestats.terminal import emit


def show_command(arguments: Given) -> int:
    """Show a run, or one of its results.

    Parameters
    ----------
    arguments : Given
        ``run``, ``result`` (words of an id), ``full``, ``json`` and thresholds.

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
    with console.showing(console.asked_for(arguments)):
        if not arguments.result:
            again = f"judgestats show {arguments.run}"
            further = [f"{again} --json"] if arguments.full else ["--full", "--json"]
            following = [f"{again} {_an_id(results)}", *further]
            show(results, more=f"{again} --full", following=following)
            finish(results, following=following)
            return 0
        record = _record(results, " ".join(arguments.result))
        if arguments.json:
            write_json({"record": plain(record)})
        else:
            console.say(record_text(record, results))
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


def second_opinion_command(arguments: Given) -> int:
    """Show the cross-check of a run by the command's earlier name.

    Parameters
    ----------
    arguments : Given
        ``run`` (an id or a folder) and ``out`` (a CSV file, or empty).

    Returns
    -------
    int
        1 where a number differs by more than its tolerance.
    """
    from judgestats.deprecated import command_note
    from judgestats.reporting.runs import rows_of_table
    from judgestats.tracking.fetch import results_of_run, whole_run

    emit(f"{command_note('second-opinion')}\n", error=True)
    run = whole_run(arguments.run)
    results = _crosschecked(run, results_of_run(run))
    rows = rows_of_table(results["crosscheck"])
    if arguments.out:
        import pandas as pd

        with guard_output(arguments.out):
            pd.DataFrame(rows).to_csv(arguments.out, index=False)
    console.say(record_text(results["crosscheck"], results))
    return int(not all(row["agrees"] for row in rows))


def _an_id(results: Results) -> str:
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
        entry = estimand_of(record.estimand)
        unit = f", in {entry.unit}" if entry.unit not in {"number", "coefficient"} else ""
        lines.append(f"{entry.label}: {entry.meaning}{unit}")
        if entry.function:
            lines.append(f"computed by judgestats.stats.{entry.function}")
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
