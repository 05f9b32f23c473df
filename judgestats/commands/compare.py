"""``judgestats compare A B``: what differs between runs or files."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgestats.commands.arguments import Args
from judgestats.results import to_plain
from judgestats.results.change_screen import change_outcome, change_sentences
from judgestats.runner import display as console
from judgestats.runner.display import announce_progress, finish, print_lines, write_json
from judgestats.tracking.fetch import whole_run

if TYPE_CHECKING:
    from judgestats.reporting.notebook import Compared


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
