"""``judgestats view RUN|FILE``: every judgment on one interactive page."""

from __future__ import annotations

import math
import sys
import webbrowser
from pathlib import Path
from typing import Any

import pandas as pd

from judgestats.api import audit, is_run
from judgestats.commands.arguments import Args, reading_options
from judgestats.commands.labels import read_table
from judgestats.data.readers.labels import with_labels
from judgestats.errors import InputError
from judgestats.reporting.explorer import run_page, write_page
from judgestats.reporting.explorer.page import PAGE
from judgestats.reporting.runs import load_run
from judgestats.runner import display as console


def view_command(arguments: Args) -> int:
    """Write the page of a run, or of a file after its audit, and open it.

    Parameters
    ----------
    arguments : Args
        As `judgestats.cli` parses them.

    Returns
    -------
    int
        0.

    Raises
    ------
    InputError
        Nothing to show, a wrong option, or a file of another program at ``--out``.
    """
    out = Path(arguments.out)
    if arguments.out == "-":
        raise InputError("view: the page is a file, so --out - is not possible. Name a file.")
    if out.is_dir():
        out /= PAGE
    options: dict[str, Any] = {
        "keep_texts": arguments.texts == "on", "max_mb": arguments.max_mb,
        "cutoff": None if math.isnan(arguments.cutoff) else arguments.cutoff,
    }  # fmt: skip
    labels = Path(arguments.labels) if arguments.labels else None
    given = read_table(labels) if labels else pd.DataFrame()
    is_decided = {"item_id", "resolution", "judge"} <= set(given)  # as the page saves decisions
    if is_decided:
        options["decisions"], labels = given, None
    if is_run(arguments.file):
        run = load_run(arguments.file)
        if run.finals.empty:
            why = dict.fromkeys(("drift", "comparison"), "it is a comparison of runs")
            why["replication"] = "it holds a study's results"
            own = why.get(run.records.kind, "they were counted, not kept")
            raise InputError(f"view: {arguments.file} has no judgments ({own}). Give one run.")
        if labels:
            options["frame"] = with_labels(Path(arguments.file), run.finals, labels, scores=True)
    else:
        how = reading_options(Args(**vars(arguments) | {"labels": str(labels or "")}))
        with console.announce_progress(f"Reading and analysing {Path(arguments.file).name}"):
            run = audit(arguments.file, **how).run
    text = run_page(run, **options)
    size = len(text.encode()) / 1e6
    if not size <= arguments.max_mb:
        raise InputError(
            f"view: the smallest page has {size:.2f} MB, but --max-mb is {arguments.max_mb:g}. "
            f"Give --max-mb {size + 0.1:.1f}."
        )
    write_page(text, out)
    replies = [c for c in ("raw_text", "explanation") if c in run.finals]
    if arguments.texts == "on" and not (run.finals[replies] != "").to_numpy().any():
        console.print_status(
            f"view: {arguments.file} holds no replies; the page shows verdicts only."
        )
    console.print_result(f"{out} ({size:.1f} MB)")
    if arguments.open or (not arguments.no_open and sys.stdout is not None and sys.stdout.isatty()):
        webbrowser.open(out.resolve().as_uri())
    return 0
