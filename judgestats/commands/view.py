"""``judgestats view RUN|FILE``: every judgment on one interactive page."""

from __future__ import annotations

import math
import sys
import webbrowser
from pathlib import Path
from typing import Any

import pandas as pd

from judgestats.api import audit, is_run
from judgestats.commands.arguments import Args, table_options
from judgestats.commands.label_page import read_table
from judgestats.data.readers.labels import with_labels
from judgestats.errors import InputError
from judgestats.reporting.explorer import run_page, write_page
from judgestats.reporting.runs import Run, load_run
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
        out /= "explore.html"
    if not arguments.max_mb > 0:
        raise InputError(f"view: --max-mb must be above 0, got {arguments.max_mb:g}.")
    decisions = _decisions(arguments.labels)
    run, options = (_open_run if is_run(arguments.file) else _open_file)(
        arguments, decisions is None
    )
    if not math.isnan(arguments.cutoff):
        options["cutoff"] = arguments.cutoff
    text = run_page(
        run, keep_texts=arguments.texts == "on", max_mb=arguments.max_mb, decisions=decisions,
        **options,
    )  # fmt: skip
    write_page(text, out)
    frame = run.finals
    if arguments.texts == "on" and not any(
        c in frame and frame[c].astype(str).ne("").any() for c in ("raw_text", "explanation")
    ):
        console.print_status(
            f"view: {arguments.file} holds no replies; the page shows verdicts only."
        )
    console.print_result(f"{out} ({len(text.encode()) / 1e6:.1f} MB)")
    if arguments.open or (not arguments.no_open and sys.stdout is not None and sys.stdout.isatty()):
        webbrowser.open(out.resolve().as_uri())
    return 0


def _open_run(arguments: Args, labels: bool) -> tuple[Run, dict[str, Any]]:
    run = load_run(arguments.file)
    if not (labels and arguments.labels):
        return run, {}
    joined = with_labels(Path(arguments.file), run.finals, Path(arguments.labels), scores=True)
    return run, {"frame": joined}


def _open_file(arguments: Args, labels: bool) -> tuple[Run, dict[str, Any]]:
    options = {k: v for k, v in table_options(arguments).items() if v}
    if not labels:
        options.pop("labels", None)
    if arguments.reader != "auto":
        options["reader"] = arguments.reader
    with console.announce_progress(f"Reading and analysing {Path(arguments.file).name}"):
        return audit(arguments.file, **options).run, {}


def _decisions(labels: str) -> pd.DataFrame | None:
    """Decisions that the page saved; None of a file of labels."""
    if not labels:
        return None
    frame = read_table(Path(labels))
    return frame if {"item_id", "resolution", "judge"} <= set(frame) else None
