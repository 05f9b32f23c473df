"""``judgestats requests EXPERIMENT|RUN``: what is missing of a run, for a batch runner."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judgestats.commands.table import Given
from judgestats.errors import InputError
from judgestats.experiment import console
from judgestats.experiment.design import (
    Design,
    ReplicationDesign,
    experiment_names,
    load_design,
)
from judgestats.experiment.parameters import split_arguments


def requests_command(arguments: Given) -> int:
    """Write the requests, and say how to go on.

    Parameters
    ----------
    arguments : Given
        ``to``, ``parts``, and ``words``: an experiment or a run, and parameters.

    Returns
    -------
    int
        0.
    """
    from judgestats.experiment.offline import write_requests

    if not arguments.words or arguments.words[0].startswith("-"):
        raise InputError(
            "requests: name an experiment with its parameters, or a run: "
            f"{', '.join(experiment_names())}."
        )
    design, given = _asked(arguments.words)
    written = write_requests(design, given, Path(arguments.to), parts=arguments.parts)
    journal = f" --journal {shlex.quote(written.journal)}" if "journal" in given else ""
    command = console.repeat_command(design.name, {**given, "mode": "offline"}, mlflow=False)
    if not written.files:
        console.say(f"The journal {written.journal} holds all that can be asked now.", command)
        return 0
    console.say(
        f"{sum(written.files.values()):,} of {written.planned:,} judgments are not in "
        f"{written.journal}:"
    )
    for path, count in written.files.items():
        console.say(f"  {path}  {count:,} requests of {written.models[path]}")
    first, model = next((p, written.models[p]) for p in written.files)
    results = first.with_stem(f"{first.stem}-results")
    console.say(
        "Then, with any runner of OpenAI's batch files:",
        f"  vllm run-batch -i {shlex.quote(str(first))} -o {shlex.quote(str(results))} "
        f"--model {shlex.quote(model)}",
        f"  judgestats ingest {shlex.quote(str(results))}{journal}",
        f"  {command}",
    )
    return 0


def _asked(words: list[str]) -> tuple[Design[Any], Mapping[str, str]]:
    """The design and the parameters: of an experiment, or of a run and what is changed of it."""
    name, rest = words[0], words[1:]
    before: Mapping[str, str] = {}
    if name not in experiment_names():
        from judgestats.tracking.fetch import parameters_of_run

        name, before = parameters_of_run(name)
    design = load_design(name)
    if isinstance(design, ReplicationDesign):
        raise InputError(f"requests: {name} reads published judgments and asks nobody.")
    flags = [p.name for p in design.all_parameters if p.switch]
    return design, {**before, **split_arguments(rest, flags=flags)}
