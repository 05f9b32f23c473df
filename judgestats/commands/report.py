"""Reports, methods, templates, and the comparison of runs: ``judgestats report``, ``compare``."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from judgestats.commands.arguments import Args
from judgestats.deadlines import scratch_folder
from judgestats.errors import InputError, guard_output
from judgestats.results import to_plain
from judgestats.results.change_screen import change_outcome, change_sentences
from judgestats.runner import display as console
from judgestats.runner.common_parameters import FORMATS as ASKED
from judgestats.runner.design import project_folder
from judgestats.runner.display import announce_progress, finish, print_lines, write_json
from judgestats.tracking.fetch import whole_run

if TYPE_CHECKING:
    from judgestats.reporting.notebook import Compared


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
    if _is_new(arguments.document):
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
    from judgestats.tracking.fetch import run_folder

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
    console.print_result(*(f"Report ({kind}): {path}" for kind, path in made.items()))
    if compared is not None:
        finish(None, following=comparison_commands(arguments.run))


def _compared(runs: list[str], folders: list[Path]) -> Compared:
    """The runs compared with the first, shown before anything is rendered."""
    from judgestats.api import compare
    from judgestats.reporting.notebook import Compared

    with announce_progress("Comparing the runs"):
        found = compare(*folders)
    return Compared(run_names(runs), found.runs, found.pairs)


_PARAMETER = re.compile(r'^run = "\."', re.MULTILINE)


def _is_new(document: str) -> bool:
    """Whether a document is named that is not there yet."""
    return document.endswith(".qmd") and not Path(document).is_file()


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
        f"  judgestats report {shlex.quote(name)} --document {shlex.quote(str(target))}",
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
    words = [run if Path(run).exists() else run[: console.SHORT] for run in runs]
    if any(Path(run).is_file() for run in runs):
        return [shlex.join(["judgestats", "drift", *words[:2], "--all"])]
    shown = [shlex.join(["judgestats", "show", run]) for run in dict.fromkeys(words)]
    return [shlex.join(["judgestats", "report", *words]), *shown[:2]]


def run_names(runs: Sequence[str]) -> list[str]:
    """What runs are called next to each other: the beginning of an id, the name of a folder."""
    names = [Path(run).name if Path(run).exists() else run[: console.SHORT] for run in runs]
    return names if len(set(names)) == len(names) else [f"run {i + 1}" for i in range(len(runs))]
