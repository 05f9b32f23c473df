"""``judgestats run NAME``: an experiment, from its parameters to its report."""

from __future__ import annotations

import os
from typing import Any

from judgestats.commands.declared.shared import SHOW_AND_BOUNDS
from judgestats.commands.table import Given
from judgestats.errors import InputError
from judgestats.runner import display as console
from judgestats.runner.common_parameters import split_arguments
from judgestats.runner.design import (
    Design,
    ReplicationDesign,
    experiment_names,
    load_design,
)
from judgestats.style import MLFLOW, OPTIONS, spelled_for
from judgestats.terminal import emit


def run_command(arguments: Given) -> int:
    """Run the experiment that `arguments` name.

    Parameters
    ----------
    arguments : Given
        How results are shown, and ``words``: ``NAME --parameter value ...`` (``--help`` lists the
        parameters).

    Returns
    -------
    int
        0.
    """
    help_asked = [w for w in arguments.words if w in {"-h", "--help"}]
    rest = [w for w in arguments.words if w not in {"-h", "--help"}]
    name = rest[0] if rest and not rest[0].startswith("-") else ""
    if help_asked or not name:
        emit(_help(name))
        if not help_asked:
            raise InputError(f"run: name an experiment: {', '.join(experiment_names())}.")
        return 0
    design = load_design(name)
    names = {p.name: p for p in design.all_parameters}
    # Under MLflow the user wrote -P name=value, whatever MLflow makes of it for us.
    spelled_for(MLFLOW if os.environ.get("MLFLOW_RUN_ID") else OPTIONS, names)
    given = split_arguments(rest[1:], flags=[n for n, p in names.items() if p.switch])
    with console.showing(console.asked_for(arguments)):
        _run(design, given)
    return 0


def completions(words: list[str], incomplete: str) -> list[tuple[str, str]]:
    """What may follow in a shell: experiments, then the parameters of the one that is named.

    Parameters
    ----------
    words : list of str
        The words before.
    incomplete : str
        How the word begins.

    Returns
    -------
    list of (word, what it is)

    Examples
    --------
    >>> completions([], "temp")
    [('temperature', 'Temperature and the consistency of scores')]
    >>> completions(["temperature"], "--dry")
    [('--dry-run', 'print calls, tokens and price, send nothing')]
    """
    if not words:
        names = [n for n in experiment_names() if n.startswith(incomplete)]
        return [(name, load_design(name).title) for name in names]
    if words[0] not in experiment_names():
        return []
    parameters = load_design(words[0]).all_parameters
    by_option = {f"--{p.name.replace('_', '-')}": p for p in parameters}
    if words[-1] == "-P":
        named = [(f"{p.name}=", p.help) for p in parameters]
        named += [(f"{p.name}={word}", p.help) for p in parameters for word in p.words]
    elif words[-1] in by_option and not by_option[words[-1]].switch:
        named = [(word, "") for word in by_option[words[-1]].words]
    else:
        named = [(option, p.help) for option, p in by_option.items()]
    return [(word, about) for word, about in named if word.startswith(incomplete)]


def _run(design: Design[Any] | ReplicationDesign, given: dict[str, str]) -> None:
    if isinstance(design, ReplicationDesign):
        from judgestats.runner.replication import run_replication

        run_replication(design, given)
        return
    from judgestats.runner.run import run_experiment

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
    lines += ["", "how results are shown:"]
    lines += [f"  {f'{o.flag} {o.metavar}':<18} {o.help}" for o in SHOW_AND_BOUNDS]
    if design.presets:
        lines += ["", f"presets: {', '.join(design.presets)}"]
    return "\n".join([*lines, ""])
