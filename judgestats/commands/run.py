"""``judgestats run NAME``: an experiment, from its parameters to its report."""

from __future__ import annotations

import argparse
import os
import sys

from judgestats.commands.show_words import SHOW_HELP, add_show_words
from judgestats.errors import InputError
from judgestats.experiment import console
from judgestats.experiment.design import (
    Design,
    ReplicationDesign,
    experiment_names,
    load_design,
)
from judgestats.experiment.parameters import read_truth, split_arguments
from judgestats.spelling import MLFLOW, OPTIONS, spelled_for

__all__ = ["run_command"]


def run_command(words: list[str]) -> int:
    """Run the experiment that `words` name.

    Parameters
    ----------
    words : list of str
        ``NAME --parameter value ...``; ``--help`` lists the parameters.

    Returns
    -------
    int
        0.
    """
    help_asked = [w for w in words if w in {"-h", "--help"}]
    rest = [w for w in words if w not in {"-h", "--help"}]
    name = rest[0] if rest and not rest[0].startswith("-") else ""
    if help_asked or not name:
        sys.stdout.write(_help(name))
        if not help_asked:
            raise InputError(f"run: name an experiment: {', '.join(experiment_names())}.")
        return 0
    design = load_design(name)
    names = {p.name: p for p in design.all_parameters}
    # Under MLflow the user wrote -P name=value, whatever MLflow makes of it for us.
    spelled_for(MLFLOW if os.environ.get("MLFLOW_RUN_ID") else OPTIONS, names)
    shown_as, rest = _shown_as(rest[1:])
    given = split_arguments(rest, flags=[n for n, p in names.items() if p.read is read_truth])
    with console.showing(shown_as):
        _run(design, given)
    return 0


def _shown_as(words: list[str]) -> tuple[console.ShownAs, list[str]]:
    """How the results are to be shown, and the words that are not about that."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    add_show_words(parser)
    try:
        arguments, rest = parser.parse_known_args(words)
    except argparse.ArgumentError as error:
        raise InputError(f"run: {error}.") from None
    return console.asked_for(arguments), rest


def _run(design: Design | ReplicationDesign, given: dict[str, str]) -> None:
    if isinstance(design, ReplicationDesign):
        from judgestats.experiment.replication import run_replication

        run_replication(design, given)
        return
    from judgestats.experiment.run import run_experiment

    run_experiment(design, given)


def _help(name: str) -> str:
    if not name:
        width = max(map(len, experiment_names())) + 2
        lines = ["usage: judgestats run EXPERIMENT [--parameter value ...]", "", "experiments:"]
        lines += [f"  {n:<{width}}{load_design(n).title}" for n in experiment_names()]
        return "\n".join([*lines, "", "judgestats run EXPERIMENT --help lists its parameters.\n"])
    design = load_design(name)
    lines = [
        f"usage: judgestats run {name} [--parameter value ...]     (or -P parameter=value)",
        f"   or: mlflow run . -e {name} [-P parameter=value ...]",
        "",
        design.question,
        "",
        "parameters:",
    ]
    width = max(len(p.name) for p in design.all_parameters)
    for parameter in design.all_parameters:
        default = design.defaults.get(parameter.name, parameter.default)
        shown = f" [{default}]" if default else ""
        lines.append(f"  {parameter.name:<{width}} {parameter.help}{shown}")
    lines += ["", *SHOW_HELP]
    if design.presets:
        lines += ["", f"presets: {', '.join(design.presets)}"]
    return "\n".join([*lines, ""])
