"""Gate for CI: a file of judgments or a run, decided by its verdicts."""

from __future__ import annotations

from pathlib import Path

from judgestats.analysis.decisions.change import ChangeMonitor
from judgestats.api import check
from judgestats.commands.arguments import Args, reading_options
from judgestats.commands.monitor import exit_code
from judgestats.files.monitor_state import is_state
from judgestats.results import plain, read_requirements
from judgestats.results.screen import full_text
from judgestats.results.verdict import SCHEMA, summary_of
from judgestats.runner import display as console

_AS_GIVEN = ("require", "judge", "criterion", "strict", "allow", "looks", "labels_drawn", "tail")


def check_command(arguments: Args) -> int:
    """Decide on a file or a run, and print what decides.

    Parameters
    ----------
    arguments : Args
        As `judgestats.cli` parses them.

    Returns
    -------
    int
        0 pass, 1 fail, 3 cannot tell.
    """
    read_requirements(arguments.require)  # a wrong one is refused before anything is read
    if is_state(Path(arguments.file)):
        return _check_state(arguments)
    options = {k: v for k, v in reading_options(arguments).items() if k != "judge"}
    gate = check(
        arguments.file,
        for_=getattr(arguments, "for"),
        at=[*arguments.at, *arguments.condition],
        **{name: getattr(arguments, name) for name in _AS_GIVEN},
        **options,
    )
    with console.use_output(console.parse_output_options(arguments)):
        form = console.output_options().form
        if form == "json":
            console.write_json({
                "schema": SCHEMA, "exit": gate.exit_code, "passed": gate.passed,
                "verdicts": plain(gate.verdicts), "summary": plain(summary_of(gate.verdicts)),
            })  # fmt: skip
        else:
            console.print_lines(gate.lines())
            if form == "full":
                console.print_result("", full_text(gate.results))
    return gate.exit_code


def _check_state(arguments: Args) -> int:
    """The verdict of a monitor with anchors: 1 where a change is shown that must not be."""
    made = ChangeMonitor(arguments.file).verdict()
    code = exit_code(made, arguments.require)
    if arguments.json:
        console.write_json({**made.to_dict(), "exit": code, "passed": code == 0})
    else:
        console.print_result(f"{'FAIL' if code else 'PASS'}  {arguments.file}", *made.screen())
    return code
