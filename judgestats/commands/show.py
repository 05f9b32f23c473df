"""Results of a run on the screen, reports, methods, and the comparison of runs."""

from __future__ import annotations

import json
import math
import re
import shlex
import shutil
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from judgestats.commands.arguments import Args
from judgestats.data.schema import refuse_edited
from judgestats.deadlines import scratch_folder
from judgestats.errors import InputError, guard_output, nearest
from judgestats.files.text import command_word, format_number
from judgestats.results import Results, Table, print_of, quantity_of, to_plain, words_of
from judgestats.results.change_screen import change_outcome, change_sentences
from judgestats.results.gate import SCHEMA, card_svg, judge_card
from judgestats.results.records import Comparison, Estimate, Record, plain, rows_of_table
from judgestats.results.results import manifest_of
from judgestats.results.screen import in_these_runs, wrapped
from judgestats.results.screen import record_text as number_text
from judgestats.results.verdict_screen import WORDS
from judgestats.runner import display as console
from judgestats.runner.common_parameters import FORMATS as ASKED
from judgestats.runner.design import project_folder
from judgestats.runner.display import announce_progress, finish, print_lines, show, write_json
from judgestats.sinks import write_csv_file
from judgestats.tracking.runs import (
    results_of_run,
    run_folder,
    run_judgments,
    run_standings,
    whole_run,
)

if TYPE_CHECKING:
    from judgestats.reporting.notebook import Compared


def show_command(arguments: Args) -> int:
    """Show a run, or one of its results.

    Parameters
    ----------
    arguments : Args
        ``run``, ``result`` (words of an id, or a key that conditions have), ``all``, ``json`` and
        ``require``.

    Returns
    -------
    int
        0.

    Raises
    ------
    InputError
        There is no such run, or no such result in it.
    """
    run = whole_run(arguments.run)
    results = results_of_run(run)
    if arguments.result == ["crosscheck"]:
        results = _crosschecked(run, results)
    with console.use_output(console.parse_output_options(arguments)):
        if not arguments.result:
            again = f"judgestats show {command_word(arguments.run)}"
            further = [f"{again} --json"] if arguments.all else ["--all", "--json"]
            following = [_show_example(again, results), *further]
            show(results, more=f"{again} --all", following=following)
            finish(results, following=following)
            return 0
        name = " ".join(arguments.result)
        own = [r for r in results.results if r.id.startswith(f"condition.{name}.")]
        records: list[Record] = [*own] or [_record(results, name)]
        if arguments.out:
            _write_table(records[0], Path(arguments.out))
        if arguments.json:
            listed = [plain(record) for record in records]
            write_json({"records": listed} if own else {"record": listed[0]})
        else:
            console.print_result("\n\n".join(record_text(r, results) for r in records))
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
    refuse_edited(run.folder / "data" / "judgments.parquet")
    digests = manifest_of(run.folder)["sha256"]
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
    made_of = card["verdict"]
    said = f"{card['judge']}: {made_of['sentence']}"
    console.print_outcome(
        WORDS[made_of["outcome"]], said, f"Card: {out}",
        following=[f"judgestats show {command_word(arguments.run)}"],
    )  # fmt: skip
    return 0


def _crosschecked(run: str, results: Results) -> Results:
    """The results with the cross-check, computed now for a run that was made without."""
    from judgestats.analysis.crosscheck import CROSSCHECK, crosscheck, with_crosscheck

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
    write_csv_file(path, pd.DataFrame(rows_of_table(record)))


_LONGEST_COMMAND = 93
"""Characters of a command that fits on a line after ``Next``."""


def _show_example(again: str, results: Results) -> str:
    """The command that shows a number of the screen, the first that fits on a line."""
    ids = (next(iter(row.cells.values())) for row in results.rows)
    commands = (f"{again} {shlex.quote(one)}" for one in ids)
    return next((c for c in commands if len(c) <= _LONGEST_COMMAND), f"{again} ID")


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
        unit = (
            f", in {entry.unit}"
            if entry.unit not in {"number", "coefficient", "probability"}
            else ""
        )
        lines.append(f"{entry.heading}: {entry.glossary}{unit}")
        if entry.function:
            lines.append(f"computed by judgestats.stats.{entry.function.rpartition(':')[2]}")
    lines += _subject(record)
    if isinstance(record, Estimate) and (sentence := error_sentence(record, results)):
        lines += ["", sentence]
    lines += ["", print_of(record, results)]
    if words := str(words_of(record, results)):
        lines += ["", *wrapped(words)]
    if numbers := list(_details(record)):
        lines += ["", "details:", *numbers]
    return "\n".join(lines)


def error_sentence(record: Estimate, results: Results) -> str:
    """The SEM with its tail bound, or the far share, in one sentence; else empty.

    Parameters
    ----------
    record : Estimate
    results : Results
        Holds the tail bound.
    """
    interval, label = record.interval, "; ".join(record.about.conditions)
    if record.estimand == "sem":
        tail = results.estimate(f"condition.sem_tail.{label}")
        said = f"SEM{in_these_runs(record)} {number_text(record)} points"
        if tail is None or math.isnan(tail.estimate):
            return said
        return f"{said}; at most {number_text(tail)} with unseen far replies"
    if record.estimand == "far_share" and interval is not None and record.sample is not None:
        seen, distance = record.details["far_items"], record.details["distance"]
        items = f"{seen} of {record.sample.n_items} items"
        most = f"at most {100 * interval.high:.1f}% of pairs"
        return f"repeats {distance:g}+ points apart: {items} ({most})"
    return ""


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
        elif isinstance(value, (int, str, bool)) and value != "":
            yield f"  {name}: {value}"


def report_command(arguments: Args) -> int:
    """Render a run's report, its methods, or the comparison of several runs.

    Parameters
    ----------
    arguments : Args
        ``run`` (ids or folders), ``to``, ``out``, ``detail``, ``document`` and ``methods``.

    Returns
    -------
    int
        0.

    Raises
    ------
    InputError
        Options do not go together, or a document is there already.
    """
    if arguments.methods:
        return _methods(arguments)
    if arguments.document.endswith(".qmd") and not Path(arguments.document).is_file():
        return _copy_document(arguments)
    place = _report_path(arguments.out, arguments.to)
    if not place.formats:
        raise InputError("report: --to names no format. Write for example --to html,pdf.")
    with console.use_output(console.parse_output_options(arguments)):
        _report(arguments, place)
    return 0


def _one(arguments: Args, option: str) -> str:
    """The only run, for an option that takes one."""
    if len(arguments.run) != 1:
        raise InputError(f"report: {option} takes one run, got {len(arguments.run)}.")
    return str(arguments.run[0])


class _ReportPath(NamedTuple):
    """Where a report goes: a folder, the name of its files where one was given, its formats."""

    folder: Path
    name: str
    formats: tuple[str, ...]


def _report_path(out: str, to: str | None) -> _ReportPath:
    """What ``--out`` and ``--to`` say together: ``x.html`` is a file, other names are folders.

    Examples
    --------
    >>> _report_path("x/mine.pdf", None)
    _ReportPath(folder=PosixPath('x'), name='mine', formats=('pdf',))
    >>> _report_path("v1.2", None).formats
    ('html', 'pdf')
    """
    from judgestats.reporting.renderer import FORMATS

    path = Path(out or ".")
    suffix = path.suffix.removeprefix(".").lower()
    formats = ASKED("--to", to) if to is not None else ()
    if path.is_dir() or not suffix.isalpha():
        if path.is_file():
            raise InputError(
                f"report: --out {out} is a file. Name a folder, or a file whose name ends in "
                f"{', '.join(f'.{kind}' for kind in FORMATS)}."
            )
        return _ReportPath(path, "", formats if to is not None else ASKED("--to", "html,pdf"))
    if suffix not in FORMATS:
        raise InputError(
            f"report: --out {out} names a file of no known format. Let its name end in "
            f"{', '.join(f'.{kind}' for kind in FORMATS)}, or name a folder."
        )
    if to is not None and formats != (suffix,):
        raise InputError(
            f"report: --out {out} is one {suffix} file, --to {to} asks for other formats. Leave "
            "--to out, or name a folder with --out."
        )
    return _ReportPath(path.parent, path.stem, (suffix,))


def _report(arguments: Args, place: _ReportPath) -> None:
    from judgestats.reporting.renderer import render_report

    with scratch_folder() as scratch:
        runs = []
        for number, run in enumerate(arguments.run):
            own = Path(scratch) / str(number)
            own.mkdir()
            runs.append(run_folder(run, own))
        folders = [folder for folder, _ in runs]
        compared = _compared(arguments.run, folders) if len(folders) > 1 else None
        if compared is not None and console.output_options().form != "json":
            print_lines(compared.screen(width=console.screen_size()[0]))
        with announce_progress("Rendering the report"):
            made = render_report(
                folders[0] if len(folders) == 1 else folders,
                to=place.formats,
                out_dir=place.folder,
                document=arguments.document,
                detail=arguments.detail,
                name=place.name or ("report" if len(folders) == 1 else "comparison"),
            )
    if console.output_options().form == "json":
        reports = {kind: str(path) for kind, path in made.items()}
        found = comparison_document(compared) if compared is not None else {}
        write_json({**found, "reports": reports})
        return
    said = [f"Report ({kind}): {path}" for kind, path in made.items()]
    if compared is not None:
        console.print_result(*said)
        finish(None, following=comparison_commands(arguments.run))
        return
    again = f"judgestats show {command_word(arguments.run[0])}"
    console.print_outcome("READY", *said, following=[again])


def _compared(runs: list[str], folders: list[Path]) -> Compared:
    """The runs compared with the first, shown before anything is rendered."""
    from judgestats.api import compare
    from judgestats.reporting.notebook import Compared

    with announce_progress("Comparing the runs"):
        found = compare(*folders)
    return Compared(run_names(runs), found.runs, found.pairs)


_PARAMETER = re.compile(r'^run = "\."', re.MULTILINE)


def _copy_document(arguments: Args) -> int:
    """Write a document to edit, the run in its parameters cell, and the files it needs.

    It is a copy of the bundled document of that name, else of the one that reports the run.
    """
    from judgestats.reporting.renderer import DOCUMENTS, document_path
    from judgestats.reporting.runs import load_run

    name = _one(arguments, f"--document {arguments.document}")
    target = Path(arguments.out or ".") / arguments.document
    if target.exists():
        raise InputError(f"report: {target} is there already. To render it: --document {target}.")
    bundled = target.stem if target.stem in DOCUMENTS else ""
    if not bundled:
        bundled = "brief" if arguments.detail == "brief" else load_run(name).records.kind
    source = document_path(bundled)
    run = str(Path(name).resolve()) if Path(name).is_dir() else name
    quoted = run.replace("\\", "\\\\").replace('"', '\\"')
    text = _PARAMETER.sub(lambda _: f'run = "{quoted}"', source.read_text(encoding="utf-8"), 1)
    with guard_output(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        for beside in sorted(source.parent.iterdir()):  # bibliography, styles, the shared header
            needed = beside.suffix in {".bib", ".csl", ".css", ".scss", ".typ", ".yml"}
            if needed and not (target.parent / beside.name).exists():
                shutil.copyfile(beside, target.parent / beside.name)
    console.print_result(
        f"{target} is a copy of the bundled document {bundled}. Edit it, then render it:",
        f"  judgestats report {command_word(name)} --document {command_word(target)}",
        f"  quarto render {target.name}      (in its folder, with judgestats' Python)",
    )
    return 0


def _methods(arguments: Args) -> int:
    """Print a run's methods and what its checklist lacks, or write both to a file."""
    from judgestats.reporting.runs import load_run
    from judgestats.reporting.writing_up import checklist, methods_text, write_methods

    run = load_run(_one(arguments, "--methods"))
    entries = checklist(run)
    if arguments.methods == "-":
        console.print_result(methods_text(run))
    else:
        bibliography = project_folder("reports") / "references.bib"
        write_methods(run, Path(arguments.methods), bibliography=bibliography)
        console.print_result(f"Written to {arguments.methods}.")
    missing = [e for e in entries if not e.reported]
    console.print_result(
        f"Checklist: {len(entries) - len(missing)} of {len(entries)} are in the run."
    )
    for entry in missing:
        console.print_result(f"  missing  {entry.what}: {entry.where.removeprefix('missing: ')}")
    return 0


def compare_command(arguments: Args) -> int:
    """Compare runs or files with the first of them.

    Parameters
    ----------
    arguments : Args
        ``run`` (ids, folders, or files), ``resamples``, ``seed``, ``all`` and ``json``.

    Returns
    -------
    int
        0.

    Raises
    ------
    InputError
        There are fewer than two, or one cannot be read.
    """
    from judgestats.api import compare
    from judgestats.reporting.notebook import Compared
    from judgestats.results.screen import full_text

    with console.use_output(console.parse_output_options(arguments)):
        with announce_progress("Comparing the runs"):
            runs = [run if Path(run).exists() else whole_run(run) for run in arguments.run]
            found = compare(*runs, n_resamples=arguments.resamples, seed=arguments.seed)
        found = Compared(run_names(arguments.run), found.runs, found.pairs)
        if console.output_options().form == "json":
            write_json(comparison_document(found))
            return 0
        print_lines(found.screen(width=console.screen_size()[0]))
        for pair in found.pairs:
            if pair.comparison is not None:
                console.print_verbose("", full_text(pair.comparison))
        finish(None, following=comparison_commands(arguments.run))
    return 0


def comparison_document(found: Compared) -> dict[str, Any]:
    """A comparison for programs: outcome, sentences, and records of each later run."""
    runs = [
        {"run": found.names[pair.number - 1], "outcome": "CANNOT TELL", "reason": pair.refused}
        if pair.comparison is None
        else {
            "run": found.names[pair.number - 1],
            "outcome": change_outcome(pair.comparison.headlines),
            "sentences": change_sentences(pair.comparison),
            "results": to_plain(pair.comparison),
        }
        for pair in found.pairs
    ]
    return {"schema": "judgestats.comparison/1", "first": found.names[0], "compared": runs}


def comparison_commands(runs: Sequence[str]) -> list[str]:
    """What to do next: a report of the runs, or each of them again."""
    words = [command_word(run if Path(run).exists() else run[: console.SHORT]) for run in runs]
    if any(Path(run).is_file() for run in runs):
        return [" ".join(["judgestats drift", *words[:2], "--all"])]
    shown = [f"judgestats show {run}" for run in dict.fromkeys(words)]
    return [" ".join(["judgestats report", *words]), *shown[:2]]


def run_names(runs: Sequence[str]) -> list[str]:
    """What runs are called next to each other: the beginning of an id, the name of a folder."""
    names = [Path(run).name if Path(run).exists() else run[: console.SHORT] for run in runs]
    return names if len(set(names)) == len(names) else [f"run {i + 1}" for i in range(len(runs))]
