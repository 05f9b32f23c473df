"""The GitHub Action's step: bounds and drift of a judge, as an exit code and a Markdown summary.

Everything comes from the environment (see action.yml), so that nothing of an input is a shell's.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import judgestats as js
from judgestats.commands.check import evaluate_thresholds, read_demands
from judgestats.errors import JudgestatsError
from judgestats.results.thresholds import SIGNS, Side


def cell(text: str) -> str:
    """A text within a table of Markdown: no column, line or tag of its own."""
    plain = " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|")
    return plain.replace("<", "&lt;").replace("`", "'")


def as_input(side: Side, name: str, number: str) -> str:
    """A threshold as the action's input takes it."""
    return f"require: {name}{SIGNS[side]}{number}"


def gate(environ: Mapping[str, str]) -> tuple[bool, str]:
    """Whether all bounds hold and no change is shown, and the summary that says so."""
    file = environ["JUDGESTATS_JUDGMENTS"]
    found = js.audit(file)
    lines = [f"## {cell(Path(file).name)}", "", cell(found.sentence), ""]
    passed = True
    required = environ.get("JUDGESTATS_REQUIRE", "").split()
    for name, sign in (("MIN", ">="), ("MAX", "<=")):  # inputs of 0.2
        required += [
            sign.join(b.rsplit("=", 1)) for b in environ.get(f"JUDGESTATS_{name}", "").split()
        ]
    if required:
        held = evaluate_thresholds(found.run.records, read_demands(required), spelled=as_input)
        lines += ["| | condition | demanded | estimate | decided on |", "|---|---|---|---|---|"]
        for f in held.findings:
            passed &= f.passed
            sign = SIGNS[f.demand.side]
            lines.append(
                f"| {'holds' if f.passed else '**fails**'} | {cell(f.where)} "
                f"| {cell(f.demand.metric)} {sign} {f.demand.bound:g} | {f.estimate:.3f} "
                f"| {f.decided_on:.3f} ({cell(f.basis)}) |"
            )
        lines.append("")
    if before := environ.get("JUDGESTATS_BEFORE", ""):
        change = js.drift(before, file)
        shown = any(h.claim == "differs" for h in change.headlines)
        passed &= not shown
        lines += [f"**{'Changed' if shown else 'No change shown'}** {cell(change.sentence)}", ""]
    return passed, "\n".join(lines) + "\n"


def main() -> int:
    """Write the summary where GitHub shows it, and print it."""
    try:
        passed, summary = gate(os.environ)
        code = 0 if passed else 1
    except JudgestatsError as error:
        code, summary = error.exit_code, f"judgestats: {error}\n"
    sys.stdout.write(summary)
    if page := os.environ.get("GITHUB_STEP_SUMMARY", ""):
        with Path(page).open("a", encoding="utf-8") as out:
            out.write(summary)
    return code


if __name__ == "__main__":
    sys.exit(main())
