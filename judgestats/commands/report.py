"""``judgestats report RUN...``: the report of a run rendered again, or several runs compared."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from judgestats.errors import InputError
from judgestats.experiment import console
from judgestats.experiment.parameters import COMMON

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
        document = arguments.template or arguments.document
        made = render_report(
            folders[0] if len(folders) == 1 else folders,
            to=formats,
            out_dir=out,
            document=document,
            detail=arguments.detail,
            name="report" if len(folders) == 1 else "comparison",
        )
    console.say(*(f"Report ({kind}): {path}" for kind, path in made.items()))
    return 0
