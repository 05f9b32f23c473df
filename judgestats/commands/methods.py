"""``judgestats methods RUN``: the methods section of a paper, and a checklist of what it lacks."""

from __future__ import annotations

from pathlib import Path

from judgestats.commands.table import Given
from judgestats.experiment import console
from judgestats.experiment.design import project_folder


def methods_command(arguments: Given) -> int:
    """Print the methods of a run and what is missing of the checklist, or write both to a file.

    Parameters
    ----------
    arguments : Given
        ``run`` (an id or a folder) and ``out`` (a file, or empty).

    Returns
    -------
    int
        0.
    """
    from judgestats.reporting.runs import load_run
    from judgestats.reporting.writing_up import checklist, methods_text, write_methods

    run = load_run(arguments.run)
    entries = checklist(run)
    if arguments.out:
        bibliography = project_folder("reports") / "references.bib"
        write_methods(run, Path(arguments.out), bibliography=bibliography)
        console.say(f"Written to {arguments.out}.")
    else:
        console.say(methods_text(run))
    missing = [e for e in entries if not e.reported]
    console.say(f"Checklist: {len(entries) - len(missing)} of {len(entries)} are in the run.")
    for entry in missing:
        console.say(f"  missing  {entry.what}: {entry.where.removeprefix('missing: ')}")
    return 0
