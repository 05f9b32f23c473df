"""``judgestats report RUN...``: the report of a run rendered again, or several runs compared."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from judgestats.errors import InputError
from judgestats.experiment import console
from judgestats.experiment.parameters import COMMON
from judgestats.experiment.showing import show_brief, working, write_json
from judgestats.results import read_results
from judgestats.results.brief import Brief, brief_of_runs
from judgestats.results.thresholds import read_thresholds
from judgestats.results.values import plain

__all__ = ["report_command"]


def report_command(arguments: argparse.Namespace) -> int:
    """Render a run's report, or the comparison of several runs, into a folder.

    Parameters
    ----------
    arguments : Namespace
        ``run`` (ids or folders), ``to``, ``out`` and ``document``.

    Returns
    -------
    int
        0.
    """
    formats = next(p for p in COMMON if p.name == "report").read("--to", arguments.to)
    if not formats:
        raise InputError("report: --to names no format. Write for example --to html,pdf.")
    with console.showing(console.asked_for(arguments)):
        _report(arguments, formats)
    return 0


def _report(arguments: argparse.Namespace, formats: tuple[str, ...]) -> None:
    from judgestats.reporting.report import render_report
    from judgestats.tracking.fetch import run_folder

    out = Path(arguments.out or ".")
    with tempfile.TemporaryDirectory(prefix="judgestats-") as scratch:
        found = []
        for number, run in enumerate(arguments.run):
            own = Path(scratch) / str(number)
            own.mkdir()
            found.append(run_folder(run, own))
        folders = [folder for folder, _ in found]
        beside = _beside(dict(zip(_names(arguments.run), folders, strict=True)))
        if len(folders) > 1 and console.shown_as().form != "json":
            show_brief(beside, more="the report holds all")
        document = arguments.template or arguments.document
        with working("Rendering the report"):
            made = render_report(
                folders[0] if len(folders) == 1 else folders,
                to=formats,
                out_dir=out,
                document=document,
                detail=arguments.detail,
                name="report" if len(folders) == 1 else "comparison",
            )
    if console.shown_as().form == "json":
        reports = {kind: str(path) for kind, path in made.items()}
        write_json({"brief": plain(beside), "reports": reports})
        return
    console.say(*(f"Report ({kind}): {path}" for kind, path in made.items()))


def _names(runs: list[str]) -> list[str]:
    """What each run is called beside the others: the beginning of its id, its folder."""
    names = [Path(run).name if Path(run).exists() else run[: console.SHORT] for run in runs]
    return names if len(set(names)) == len(names) else [f"run {i + 1}" for i in range(len(runs))]


def _beside(folders: dict[str, Path]) -> Brief:
    """The runs side by side, shown before anything is rendered."""
    runs = {name: read_results(folder / "results.json") for name, folder in folders.items()}
    chosen = console.shown_as()
    return brief_of_runs(runs, thresholds=read_thresholds(chosen.least, chosen.most))
