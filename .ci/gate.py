"""The GitHub Action's step: the gate and drift of a judge, as an exit code and a summary.

Everything comes from the environment (see action.yml), so that nothing of an input is a shell's.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import judgestats as js
from judgestats.errors import JudgestatsError
from judgestats.results.gate import Gate, gate_reason
from judgestats.results.purposes import threshold_text
from judgestats.results.verdict import ORDER
from judgestats.results.verdict_screen import number_text, status_text


def cell(text: str) -> str:
    """A text within a table of Markdown: no column, line or tag of its own."""
    plain = " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|")
    return plain.replace("<", "&lt;").replace("`", "'")


def given(environ: Mapping[str, str], name: str) -> str:
    """An input of the action."""
    return environ.get(f"JUDGESTATS_{name}", "").strip()


def decided(environ: Mapping[str, str]) -> Gate | None:
    """The verdicts on the judge; None where only drift is asked for."""
    required = given(environ, "REQUIRE").split()
    for name, sign in (("MIN", ">="), ("MAX", "<=")):  # inputs of 0.2
        required += [sign.join(b.rsplit("=", 1)) for b in given(environ, name).split()]
    named = given(environ, "RUN") or given(environ, "FILE") or given(environ, "JUDGMENTS")
    if given(environ, "BEFORE") and not required and not given(environ, "FOR"):
        return None
    options: dict[str, Any] = {}
    if given(environ, "LABELS"):
        options["labels"] = given(environ, "LABELS")
    return js.check(
        named, for_=given(environ, "FOR"), require=required,
        strict=given(environ, "STRICT") == "true", allow=given(environ, "ALLOW").split(), **options,
    )  # fmt: skip


def summary(gate: Gate) -> list[str]:
    """The verdicts and their requirements, as Markdown."""
    lines = [
        f"**{gate.word(v)}** {cell(v.subject.name)}: {cell(gate_reason(v))}\n"
        for v in gate.verdicts
    ]
    lines += ["| | quantity | estimate | needed | status |", "|---|---|---|---|---|"]
    for v in gate.verdicts:
        for r in v.requirements:
            texts = (
                v.subject.name, r.label, number_text(r),
                threshold_text(r), status_text(r),
            )  # fmt: skip
            lines.append(f"| {' | '.join(map(cell, texts))} |")
    return [*lines, ""]


def run(environ: Mapping[str, str]) -> tuple[int, str, dict[str, str]]:
    """The exit code, the summary, and the outputs."""
    file = given(environ, "FILE") or given(environ, "JUDGMENTS") or given(environ, "RUN")
    lines, code, outputs = [f"## {cell(Path(file).name)}", ""], 0, {}
    gate = decided(environ)
    if gate is not None:
        lines += summary(gate)
        code = gate.exit_code
        worst = min(gate.verdicts, key=lambda v: ORDER.index(v.outcome), default=None)
        outputs = {
            "verdict": worst.outcome if worst else "",
            "deciding": " ".join(worst.deciding.split()) if worst else "",
        }
    if before := given(environ, "BEFORE"):
        change = js.drift(before, file)
        shown = any(h.claim == "differs" for h in change.headlines)
        code = max(code, int(shown)) if code != 3 else (1 if shown else 3)
        lines += [f"**{'Changed' if shown else 'No change shown'}** {cell(change.sentence)}", ""]
    return code, "\n".join(lines) + "\n", outputs


def main() -> int:
    """Write the summary where GitHub shows it, and print it."""
    outputs: dict[str, str] = {}
    try:
        code, text, outputs = run(os.environ)
    except JudgestatsError as error:
        code, text = error.exit_code, f"judgestats: {error}\n"
    sys.stdout.write(text)
    if page := os.environ.get("GITHUB_STEP_SUMMARY", ""):
        with Path(page).open("a", encoding="utf-8") as out:
            out.write(text)
    if page := os.environ.get("GITHUB_OUTPUT", ""):
        with Path(page).open("a", encoding="utf-8") as out:
            out.writelines(f"{k}={v}\n" for k, v in {**outputs, "exit-code": str(code)}.items())
    return code


if __name__ == "__main__":
    sys.exit(main())
