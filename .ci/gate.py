"""The GitHub Action's step: the gate and drift of a judge, as exit code, summary, and comment.

Everything comes from the environment (see action.yml), so that nothing of an input is a shell's.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import requests

import judgestats as js
from judgestats.analysis import match_conditions
from judgestats.decisions import attribute_flips
from judgestats.errors import JudgestatsError
from judgestats.results.gate import Gate, gate_reason, limit_cell
from judgestats.results.purposes import threshold_text
from judgestats.results.verdict import ORDER
from judgestats.results.verdict_screen import number_text, status_text
from judgestats.sinks import escape_note, shorten
from judgestats.terminal import emit

MOST_FLIPS = 20
MOST_BYTES = 20_000
MOST_PAGES = 10
SECONDS = 20


def note(text: str) -> str:
    """A text that others wrote: no link, mention, cell, or tag of its own."""
    return str(escape_note(shorten(text, limit=300)))


def given(environ: Mapping[str, str], name: str) -> str:
    """An input of the action."""
    return environ.get(f"JUDGESTATS_{name}", "").strip()


def decided(environ: Mapping[str, str]) -> Gate | None:
    """The verdicts on the judge; None where only drift is asked for."""
    required = given(environ, "REQUIRE").split()
    for name, sign in (("MIN", ">="), ("MAX", "<=")):  # inputs of 0.2
        required += [sign.join(b.rsplit("=", 1)) for b in given(environ, name).split()]
    named = given(environ, "RUN") or given(environ, "FILE") or given(environ, "JUDGMENTS")
    if given(environ, "BEFORE") and not (
        required or given(environ, "FOR") or given(environ, "LABELS")
    ):
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
        f"**{gate.word(v)}** {note(v.subject.name)}: {note(gate_reason(v))}\n"
        for v in gate.verdicts
    ]
    lines += ["| | quantity | estimate | needed | limit that decides | status |", f"|{'---|' * 6}"]
    for v in gate.verdicts:
        for r in v.requirements:
            cells = number_text(r), threshold_text(r), limit_cell(r), status_text(r)
            lines.append(f"| {note(v.subject.name)} | {note(r.label)} | {' | '.join(cells)} |")
    return [*lines, "", *(f"- {note(step)}" for step in gate.steps()), ""]


def flips(before: str, after: str, anchors: str) -> list[str]:
    """Verdicts that changed, each with its attribution, as Markdown; pass / fail verdicts only."""
    if not all(Path(f).is_file() for f in (before, after)):
        return []  # runs keep no texts of outputs
    frames = [js.read_judgments(f) for f in (before, after)]
    words = {w for f in frames for w in f["choice"].astype(str).str.lower()} - {""}
    if not words or not words <= {"pass", "fail"}:
        return []
    judged = js.drift(before, anchors) if anchors else None
    by_judge = judged is not None and any(h.claim == "differs" for h in judged.headlines)
    lines = []
    for one, two in match_conditions(*frames).items():
        found = attribute_flips(
            *(f[f["condition"] == c] for f, c in zip(frames, (one, two), strict=True)),
            judge_changed=by_judge,
        )
        lines += [f"{note(two)}: {found.sentence}", ""]
        if found.rows:
            lines += ["| item | before | after | cause |", "|---|---|---|---|"]
        lines += [
            f"| {note(f.item)} | {note(f.before)} | {note(f.after)} | {f.cause} |"
            for f in found.rows[:MOST_FLIPS]
        ]
        left = len(found.rows) - MOST_FLIPS
        lines += [f"\n{left} more flips.", ""] if left > 0 else [""]
    return lines


def comment(environ: Mapping[str, str], text: str) -> str:
    """Write the pull request's one comment of this job; a reason where there is none."""
    if given(environ, "COMMENT") != "true":
        return ""
    event = Path(environ.get("GITHUB_EVENT_PATH", ""))
    told = json.loads(event.read_text("utf-8")) if event.is_file() else {}
    number = told.get("pull_request", {}).get("number")
    if not number:
        return "No comment: this run belongs to no pull request."
    marker = f"<!-- judgestats:{note(environ.get('GITHUB_JOB', ''))} -->"
    body = f"{marker}\n{text}".encode()
    if len(body) > MOST_BYTES:
        body = body[: MOST_BYTES - 60].rpartition(b"\n")[0] + b"\n\nThe rest is in the summary."
    base = f"{environ['GITHUB_API_URL']}/repos/{environ['GITHUB_REPOSITORY']}/issues"

    def call(method: str, url: str, data: Mapping[str, str] | None = None) -> Any:
        reply = requests.request(
            method, url, json=data, timeout=SECONDS,
            headers={"Authorization": f"Bearer {given(environ, 'TOKEN')}",
                     "Accept": "application/vnd.github+json"},
        )  # fmt: skip
        reply.raise_for_status()
        return reply.json()

    try:
        for page in range(1, MOST_PAGES + 1):
            listed = call("GET", f"{base}/{number}/comments?per_page=100&page={page}")
            for one in listed:
                if one["body"].startswith(marker) and one["user"]["type"] == "Bot":
                    call("PATCH", f"{base}/comments/{one['id']}", {"body": body.decode()})
                    return ""
            if len(listed) < 100:
                break
        call("POST", f"{base}/{number}/comments", {"body": body.decode()})
    except requests.HTTPError as error:  # a fork's token reads only
        code = error.response.status_code
        return f"No comment: GitHub answered {code}. The job needs pull-requests: write."
    except requests.RequestException as error:
        return f"No comment: {type(error).__name__}."
    return ""


def run(environ: Mapping[str, str]) -> tuple[int, str, dict[str, str]]:
    """The exit code, the summary, and the outputs."""
    file = given(environ, "FILE") or given(environ, "JUDGMENTS") or given(environ, "RUN")
    lines, code, outputs = [f"## {note(Path(file).name)}", ""], 0, {}
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
        lines += [f"**{'Changed' if shown else 'No change shown'}** {note(change.sentence)}", ""]
        lines += flips(before, file, given(environ, "ANCHORS"))
    return code, "\n".join(lines) + "\n", outputs


def main() -> int:
    """Write the summary where GitHub shows it, and print it."""
    outputs: dict[str, str] = {}
    try:
        code, text, outputs = run(os.environ)
    except JudgestatsError as error:
        code, text = error.exit_code, f"judgestats: {note(str(error))}\n"
    if why := comment(os.environ, text):
        text += f"\n{why}\n"
    emit(text)
    if page := os.environ.get("GITHUB_STEP_SUMMARY", ""):
        with Path(page).open("a", encoding="utf-8") as out:
            out.write(text)
    if page := os.environ.get("GITHUB_OUTPUT", ""):
        with Path(page).open("a", encoding="utf-8") as out:
            out.writelines(f"{k}={v}\n" for k, v in {**outputs, "exit-code": str(code)}.items())
    return code


if __name__ == "__main__":
    sys.exit(main())
