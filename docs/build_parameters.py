"""The parameters of every experiment, with defaults and preset: docs/experiments/*.md, MLproject.

    python docs/build_parameters.py            # write the tables
    python docs/build_parameters.py --check    # CI: they are what the designs declare

The tables are between two marks at the end of each page; index.md has those that all take.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

from judgestats.protocols.probes import PROBES
from judgestats.runner.common_parameters import CommonParameters
from judgestats.runner.design import Design, ReplicationDesign, experiment_names, load_design
from judgestats.runner.parameter_types import Parameter, parameters_of

PAGES = Path(__file__).resolve().parent / "experiments"
PROJECT = PAGES.parents[1] / "MLproject"
PROBES_BEGIN = "<!-- probes: written by docs/build_parameters.py -->"
PROBES_END = "<!-- end of probes -->"
BEGIN, END = "<!-- parameters: written by docs/build_parameters.py -->", "<!-- end -->"


def table(
    parameters: Iterable[Parameter], design: Design | ReplicationDesign | None = None
) -> list[str]:
    """The rows of parameters, with the values of the preset where there is one."""
    defaults = dict(design.defaults) if design else {}
    preset = dict(design.presets.get("paper", {})) if design else {}
    head = ["parameter", "default", *(["`preset=paper`"] if preset else []), "what"]
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for p in parameters:
        cells = [f"`{p.name}`", _code(defaults.get(p.name, p.default))]
        if preset:
            cells.append(_code(preset[p.name]) if p.name in preset else "")
        lines.append(f"| {' | '.join([*cells, p.help.replace('|', '/')])} |")
    return lines


def _code(value: str) -> str:
    return f"`{value.replace(',', ', ')}`" if value else "(none)"


def section(design: Design | ReplicationDesign) -> str:
    """What a page says of its experiment's parameters."""
    changed = {*design.defaults, *(key for preset in design.presets.values() for key in preset)}
    own = {p.name for p in design.own_parameters}
    listed = [p for p in design.all_parameters if p.name in changed - own]
    rows = table([*listed, *design.own_parameters], design)
    if isinstance(design, Design):
        rest = "All others are those that [every experiment takes](index.md#parameters)."
    else:
        names = [f"`{p.name}`" for p in design.all_parameters if p.name not in own]
        rest = f"Besides: {', '.join(names)}, as in [every experiment](index.md#parameters)."
    return "\n".join([BEGIN, "", "## Parameters", "", *rows, "", rest, "", END])


def common_section() -> str:
    """What all experiments that ask a judge take."""
    said = "An experiment's page lists its own parameters and the defaults that differ."
    return "\n".join(
        [BEGIN, "", "## Parameters", "", *table(parameters_of(CommonParameters)), "", said, "", END]
    )


def probes() -> str:
    """The catalogue of probes, as it is declared."""
    rows = [f"| `{p.name}` | {p.kind} | {p.does} |" for p in PROBES.values()]
    return "\n".join(["| probe | kind | change |", "|---|---|---|", *rows])


def _with_probes(text: str) -> str:
    if PROBES_BEGIN not in text:
        return text
    before, _, rest = text.partition(PROBES_BEGIN)
    return f"{before}{PROBES_BEGIN}\n\n{probes()}\n\n{PROBES_END}{rest.partition(PROBES_END)[2]}"


def pages() -> dict[Path, str]:
    """Every page with its section, as it should be."""
    found = {PAGES / "index.md": common_section()}
    for name in experiment_names():
        for page in PAGES.glob(f"{name}*.md"):
            found[page] = section(load_design(name))
    return {
        page: _with_probes(_with(page.read_text(encoding="utf-8"), part))
        for page, part in found.items()
    }


def _with(text: str, part: str) -> str:
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2].strip()
    return f"{before.rstrip()}\n\n{part}\n" + (f"\n{after}\n" if after else "")


def project_file() -> str:
    """MLproject with an entry point of every experiment."""
    head, mark, _ = PROJECT.read_text(encoding="utf-8").partition("entry_points:\n")
    points = {"main": "temperature", **{name: name for name in experiment_names()}}
    lines = [f'  {n}:\n    command: "python -m judgestats run {e}"\n' for n, e in points.items()]
    return head + mark + "".join(lines)


def main() -> int:
    """Write the pages, or check them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    whole = {**pages(), PROJECT: project_file()}
    stale = {p: t for p, t in whole.items() if p.read_text(encoding="utf-8") != t}
    for page, text in stale.items():
        if check:
            print(f"{page.name}: not what the design declares; run docs/build_parameters.py")
        else:
            page.write_text(text, encoding="utf-8", newline="\n")
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
