"""Commands that ask judges: experiments, endpoint cards, and the simulated server."""

from __future__ import annotations

import os
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgestats.commands.arguments import Args
from judgestats.commands.declarations import COMMANDS
from judgestats.commands.help import Entry, grouped, option_entry, screen_width, two_columns
from judgestats.commands.options import RESULTS
from judgestats.deprecated import current_parameters
from judgestats.errors import InputError, guard_output
from judgestats.runner import display as console
from judgestats.runner.common_parameters import split_arguments
from judgestats.runner.design import Design, ReplicationDesign, experiment_names, load_design
from judgestats.terminal import MLFLOW, OPTIONS, emit, spelled_for

if TYPE_CHECKING:
    from judgestats.collection.spec import JudgeSpec


def run_command(arguments: Args) -> int:
    """Run the experiment that `arguments` name.

    Parameters
    ----------
    arguments : Args
        How results are shown, and ``words``: ``NAME --parameter value ...`` (``--help`` lists the
        parameters).

    Returns
    -------
    int
        0, 5 where the report failed, 6 where the run is incomplete.
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
    given = given_parameters(design, rest[1:])
    with console.use_output(console.parse_output_options(arguments)):
        return _run(design, given)


def given_parameters(design: Design[Any] | ReplicationDesign, words: list[str]) -> dict[str, str]:
    """The parameters that words give, by their present names; a note on each earlier one."""
    flags = [p.name for p in design.all_parameters if p.switch]
    given, notes = current_parameters(split_arguments(words, flags=flags))
    for note in notes:
        emit(f"judgestats: {note}\n", error=True)
    return given


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
    [('--dry-run', 'Print calls, tokens and cost, and send nothing')]
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


def _run(design: Design[Any] | ReplicationDesign, given: dict[str, str]) -> int:
    if isinstance(design, ReplicationDesign):
        from judgestats.runner.run import run_replication

        return run_replication(design, given).exit_code
    from judgestats.runner.run import run_experiment

    outcome = run_experiment(design, given)
    return outcome.exit_code if outcome else 0


def _help(name: str) -> str:
    """The page of all experiments, or of one with its parameters."""
    if not name:
        about, examples = COMMANDS["run"].about, COMMANDS["run"].examples
        listed = [Entry(n, load_design(n).title) for n in experiment_names()]
        lines = ["Usage: judgestats run EXPERIMENT [OPTIONS]", "", about, "", "Experiments:"]
        lines += [*two_columns(listed), *grouped(map(option_entry, RESULTS)), "", "Examples:"]
        lines += [f"  {example}" for example in examples]
        return "\n".join([*lines, "", "judgestats run EXPERIMENT --help lists its options.", ""])
    design = load_design(name)
    lines = [
        f"Usage: judgestats run {name} [OPTIONS]",
        f"   or: mlflow run . -e {name} [-P NAME=VALUE]...",
        "",
        *textwrap.wrap(design.question, screen_width()),
    ]
    listed = []
    for parameter in design.all_parameters:
        default = design.defaults.get(parameter.name, parameter.default)
        told = f" (default: {default})" if default and not parameter.switch else ""
        term = f"--{parameter.name.replace('_', '-')}"
        listed.append(Entry(term, parameter.help + told, parameter.group, parameter.common))
    shown = [option_entry(option) for option in RESULTS]
    lines += grouped([*listed, *(e._replace(group="Output", common=False) for e in shown)])
    if design.presets:
        lines += ["", f"Presets: {', '.join(design.presets)}"]
    return "\n".join([*lines, "", "Example:", f"  judgestats run {name} --dry-run", ""])


def endpoint_command(arguments: Args) -> int:
    """Examine an endpoint, or those of a file of judges; print each card, keep and compare it.

    Parameters
    ----------
    arguments : Args
        ``model``, ``base_url``, ``timeout``, ``prices``, ``out`` and ``track``.

    Returns
    -------
    int
        0.

    Raises
    ------
    InputError, JudgeError
        An unusable name or file; an endpoint that does not answer.
    """
    from judgestats.collection.spec import read_judges

    judges = read_judges([arguments.model], base_url=arguments.base_url)
    if len(judges) > 1 and arguments.out:
        raise InputError(
            f"endpoint: {arguments.model} holds {len(judges)} judges; --out is of one card."
        )
    for spec in judges.values():
        _examine(spec, arguments)
    return 0


def _examine(spec: JudgeSpec, arguments: Args) -> None:
    """Examine one judge, and compare its card with the newest that the store holds."""
    from judgestats.api import endpoint

    card = endpoint(spec, prices=arguments.prices, timeout=arguments.timeout)
    named = [f"{spec.name}:"] if spec.from_file and spec.name != spec.model else []
    console.print_result(*named, str(card))
    if arguments.out:
        with guard_output(arguments.out):
            Path(arguments.out).write_text(card.to_json(), encoding="utf-8")
    if arguments.track == "none":
        return
    from judgestats.tracking.runs import keep_card, last_card
    from judgestats.tracking.store import open_store

    store = open_store()
    earlier = last_card(store, card.base_url, card.model)
    console.print_result("", f"Kept as run {keep_card(store, card)} in {store.uri}")
    if earlier is not None:
        same = f"As on {str(earlier.get('asked_at', ''))[:10]}."
        console.print_result("", *(card.changes(earlier) or [same]))


def simulate_command(arguments: Args) -> int:
    """Serve until stopped.

    Parameters
    ----------
    arguments : Args
        ``host`` and ``port``.

    Returns
    -------
    int
        0.
    """
    from judgestats.simulated.app import Faults, serve

    if not 0 <= arguments.port <= 65535:
        raise InputError(f"simulate: --port must lie in 0-65535, got {arguments.port}.")
    if arguments.host not in {"127.0.0.1", "localhost", "::1"}:
        emit(
            f"judgestats: serving on {arguments.host}: everyone who reaches this machine can use "
            "the simulated judges.\n",
            error=True,
        )
    serve(port=arguments.port, host=arguments.host, faults=Faults.parse(arguments.faults))
    return 0
