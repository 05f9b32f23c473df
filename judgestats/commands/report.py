"""``judgestats report RUN...``: the report of a run rendered again, or several runs compared."""

from __future__ import annotations

import shlex
import tempfile
from pathlib import Path
from typing import NamedTuple

from judgestats.commands.table import Given
from judgestats.errors import InputError
from judgestats.experiment import console
from judgestats.experiment.common_parameters import FORMATS as ASKED
from judgestats.experiment.showing import finish, show_brief, working, write_json
from judgestats.results import Results, read_results
from judgestats.results.brief import Brief
from judgestats.results.side_by_side import brief_of_runs
from judgestats.results.thresholds import read_thresholds
from judgestats.results.values import plain

_LONGEST = 90
"""Letters of a command that is shown whole."""


def report_command(arguments: Given) -> int:
    """Render a run's report, or the comparison of several runs, into a folder.

    Parameters
    ----------
    arguments : Given
        ``run`` (ids or folders), ``to``, ``out`` and ``document``.

    Returns
    -------
    int
        0.
    """
    place = _place(arguments.out, arguments.to)
    if not place.formats:
        raise InputError("report: --to names no format. Write for example --to html,pdf.")
    with console.showing(console.asked_for(arguments)):
        _report(arguments, place)
    return 0


class _Place(NamedTuple):
    """Where a report goes: a folder, the name of its files where one was given, its formats."""

    folder: Path
    name: str
    formats: tuple[str, ...]


def _place(out: str, to: str | None) -> _Place:
    """What ``--out`` and ``--to`` say together: ``x.html`` is a file, other names are folders.

    Examples
    --------
    >>> _place("x/mine.pdf", None)
    _Place(folder=PosixPath('x'), name='mine', formats=('pdf',))
    >>> _place("v1.2", None).formats
    ('html', 'pdf')
    """
    from judgestats.reporting.render import FORMATS

    path = Path(out or ".")
    suffix = path.suffix.removeprefix(".").lower()
    formats = ASKED("--to", to) if to is not None else ()
    if path.is_dir() or not suffix.isalpha():
        if path.is_file():
            raise InputError(
                f"report: --out {out} is a file. Name a folder, or a file whose name ends in "
                f"{', '.join(f'.{kind}' for kind in FORMATS)}."
            )
        return _Place(path, "", formats if to is not None else ASKED("--to", "html,pdf"))
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
    return _Place(path.parent, path.stem, (suffix,))


def _report(arguments: Given, place: _Place) -> None:
    from judgestats.reporting.report import render_report
    from judgestats.tracking.fetch import run_folder

    with tempfile.TemporaryDirectory(prefix="judgestats-") as scratch:
        runs = []
        for number, run in enumerate(arguments.run):
            own = Path(scratch) / str(number)
            own.mkdir()
            runs.append(run_folder(run, own))
        folders = [folder for folder, _ in runs]
        beside = _beside(dict(zip(_names(arguments.run), folders, strict=True)))
        if len(folders) > 1 and console.shown_as().form != "json":
            show_brief(beside, more="the report holds all", closing=len(place.formats) + 2)
        document = arguments.template or arguments.document
        with working("Rendering the report"):
            made = render_report(
                folders[0] if len(folders) == 1 else folders,
                to=place.formats,
                out_dir=place.folder,
                document=document,
                detail=arguments.detail,
                name=place.name or ("report" if len(folders) == 1 else "comparison"),
            )
    if console.shown_as().form == "json":
        reports = {kind: str(path) for kind, path in made.items()}
        write_json({"brief": plain(beside), "reports": reports})
        return
    console.say(*(f"Report ({kind}): {path}" for kind, path in made.items()))
    if len(folders) > 1:
        finish(None, following=_following(arguments.run, beside))


def _following(runs: list[str], beside: Brief) -> list[str]:
    """The test of two runs by itself, where there is one; else each run."""
    words = [run if Path(run).exists() else run[: console.SHORT] for run in runs]
    tested = any(answer.claim != "undefined" for answer in beside.answers)
    if tested and words[0] != words[1]:
        whole = shlex.join(["judgestats", "drift", *words[:2]])
        return [whole if len(whole) <= _LONGEST else "judgestats drift FIRST SECOND"]
    return [shlex.join(["judgestats", "show", run]) for run in dict.fromkeys(words)]


def _names(runs: list[str]) -> list[str]:
    """What each run is called beside the others: the beginning of its id, its folder."""
    names = [Path(run).name if Path(run).exists() else run[: console.SHORT] for run in runs]
    return names if len(set(names)) == len(names) else [f"run {i + 1}" for i in range(len(runs))]


def _beside(folders: dict[str, Path]) -> Brief:
    """The runs side by side with what the page tests, shown before anything is rendered."""
    runs = {name: read_results(folder / "results.json") for name, folder in folders.items()}
    chosen = console.shown_as()
    changes: dict[str, Results | str] = {}
    if len(folders) > 1:
        from judgestats.reporting import load_run
        from judgestats.reporting.sections.held import pairs

        with working("Comparing the runs"):
            held = pairs([load_run(folder) for folder in folders.values()])
        for name, pair in zip(list(folders)[1:], held, strict=True):
            changes[name] = pair.refused if pair.comparison is None else pair.comparison
    thresholds = read_thresholds(chosen.least, chosen.most, list(runs.values()))
    return brief_of_runs(runs, thresholds=thresholds, changes=changes)
