"""``judgestats second-opinion RUN``: a run's numbers recomputed by independent packages."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from judgestats.commands.arguments import Args
from judgestats.errors import InputError, guard_output
from judgestats.results.files import read_values
from judgestats.runner import display as console
from judgestats.runner.parameter_types import read_pairs
from judgestats.tracking.fetch import (
    results_of_run,
    run_data,
    run_items,
    run_judgments,
    run_standings,
)


def second_opinion_command(arguments: Args) -> int:
    """Print ours, theirs and the difference of every number that another package computes.

    The table is kept with the run, whose full report shows it.

    Parameters
    ----------
    arguments : Args
        ``run`` (an id or a folder) and ``out`` (a CSV file, or empty).

    Returns
    -------
    int
        1 where a number lies beyond its tolerance.
    """
    from judgestats.analysis.crosscheck import disagreeing, opinions_table, second_opinion

    opinions = second_opinion(
        run_judgments(arguments.run),
        results_of_run(arguments.run),
        items=run_items(arguments.run),
        standings=run_standings(arguments.run),
        own=_own(arguments.run),
    )
    if not opinions:
        raise InputError(
            f"second-opinion: no number of {arguments.run} can be recomputed by another package: "
            "they want items that were all judged, and read, equally often."
        )
    table = opinions_table(opinions)
    _keep(arguments.run, table)
    if arguments.out:
        with guard_output(arguments.out):
            table.to_csv(Path(arguments.out), index=False)
    for o in opinions:
        console.say(
            f"{'same' if o.agrees else 'DIFFERS'}  {o.what} ({o.result}): ours {o.ours:.6g}, "
            f"{o.package} {o.theirs:.6g}; {o.convention}"
        )
    apart = len(disagreeing(opinions))
    console.say(f"{len(opinions) - apart} of {len(opinions)} numbers are the same.")
    return 1 if apart else 0


def _own(run: str) -> Mapping[str, str]:
    """Whose answers are a judge's own, as the run was given it."""
    with run_data(run) as (folder, _):
        session = folder / "session.json"
        values = read_values(session) if session.is_file() else {}
    given = values.get("parameters") if isinstance(values, dict) else None
    return read_pairs("own", str(given.get("own", ""))) if isinstance(given, dict) else {}


def _keep(run: str, table: pd.DataFrame) -> None:
    """Put the table among the run's own, in its folder or its store."""
    from judgestats.runner.record import write_tables
    from judgestats.tracking.fetch import run_folder, whole_run
    from judgestats.tracking.store import open_store, store_faults

    with tempfile.TemporaryDirectory(prefix="judgestats-") as scratch:
        folder, _ = run_folder(run, Path(scratch))
        write_tables(folder / "tables", {"second-opinion": table})
        if folder.is_relative_to(scratch):
            file = str(folder / "tables" / "second-opinion.csv")
            with store_faults("a table was written"):
                store = open_store(existing=True)
                store.client.log_artifact(whole_run(run), file, artifact_path="tables")
