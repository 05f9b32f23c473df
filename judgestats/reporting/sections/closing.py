"""Closing of a report, and claims of studies."""

from __future__ import annotations

import re
from typing import Any

from judgestats.reporting.display import Markdown, Showable
from judgestats.reporting.document import verbatim
from judgestats.reporting.explorer.judgments_page import PAGE
from judgestats.reporting.numbers import integer, money
from judgestats.reporting.runs import Run
from judgestats.reporting.sections import methods as methods_part
from judgestats.reporting.sections.result_tables import results_tables
from judgestats.reporting.tables import Column, Table
from judgestats.sinks import escape_markdown

methods = methods_part.methods


def limitations(run: Run) -> Markdown:
    """The limitations that follow from these data."""
    listed = [note.message for note in run.records.limitations]
    if not listed:
        return Markdown("The data gave cause for no limitation beyond those of the design.")
    return Markdown("\n".join(f"- {escape_markdown(text)}" for text in listed))


def account(run: Run) -> Table | Markdown:
    """What was asked, answered, paid."""
    entries = run.facts.get("account") or {}
    labels = {
        "asked": "Judgments asked for",
        "answered": "Answered",
        "failed": "Failed",
        "cached": "From the journal (no new call)",
        "requests": "Requests",
        "retries": "Retries",
        "tokens_in": "Tokens in",
        "tokens_out": "Tokens out",
    }
    parts = {
        "tokens_cached": "Tokens in, of these cached",
        "tokens_reasoning": "Tokens out, of these reasoning",
    }
    labels |= {key: text for key, text in parts.items() if entries.get(key)}
    rows = [
        {"what": text, "n": integer(entries[key])}
        for key, text in labels.items()
        if entries.get(key) is not None
    ]
    if not rows:
        return Markdown("The run keeps no account of calls.")
    if entries.get("cost_unknown"):
        rows.append({"what": "Cost", "n": "unknown (a model has no price in the table)"})
    else:
        rows.append({"what": "Cost", "n": money(entries.get("cost_usd"))})
    return Table(
        columns=(
            Column(key="what", label="Account"),
            Column(key="n", label="Number", align="right"),
        ),
        rows=tuple(rows),
        caption="Calls, replies, and cost.",
        label="tbl-account",
    )


def session(run: Run) -> Table | Markdown:
    """Versions of everything that computed the numbers."""
    s = run.session
    if not s:
        return Markdown("The run keeps no session information.")
    rows = [{"what": k, "version": str(s[k])} for k in ("judgestats", "python", "system") if k in s]
    rows += [{"what": str(k), "version": str(v)} for k, v in (s.get("packages") or {}).items()]
    return Table(
        columns=(Column(key="what", label="Program"), Column(key="version", label="Version")),
        rows=tuple(rows),
        caption="Session information.",
        label="tbl-session",
    )


def command(run: Run) -> Markdown:
    """The command that repeats the run."""
    text = str(run.facts.get("command") or run.session.get("command") or "")
    shown = verbatim(text) if text else "The run does not say how it was made."
    if (run.folder / PAGE).is_file():
        link = f'<a href="{PAGE}">Every judgment on an interactive page</a>'
        shown += f"\n\n`{link}`{{=html}}"
    return Markdown(shown)


def _claims(run: Run) -> list[dict[str, Any]]:
    return [dict(c) for c in run.facts.get("claims") or []]


_CITED = ("schroeder2024", "llmasjudge")
"""Studies that references.bib knows, by the name that `replicate` gives them."""


def study(run: Run) -> Markdown:
    """Which study, on which data; that no judge was asked."""
    source = run.design.get("item_source")
    name = run.records.experiment.removeprefix("replicate ")
    cited = f" [@{name}]" if name in _CITED else ""
    text = f"No judge was asked: the study's own data were analysed again{cited}."
    if source:
        text += f" Data: {escape_markdown(source)}."
    return Markdown(text)


def overview(run: Run, *, tested: bool = False) -> Table | Markdown:
    """Every claim with what became of it; `tested` adds the test that it calls for."""
    claims = _claims(run)
    if not claims:
        return Markdown("The run holds no claims.")
    columns = {"number": "No.", "claim": "Claim", "published": "Published"}
    columns |= {"test_now": "Tested by"} if tested else {}
    columns |= {"verdict": "Re-examined"}
    return Table(
        columns=tuple(Column(key=key, label=text, align="left") for key, text in columns.items()),
        rows=tuple(c | {"number": str(i + 1)} for i, c in enumerate(claims)),
        caption=(
            "The study's claims. Open: the data show neither the claim nor its contrary, which is "
            "not a refutation."
        ),
        label="tbl-claims",
    )


def each_claim(run: Run) -> list[Showable]:
    """Claim by claim: published, its own test reproduced, the test called for, the verdict."""
    shown: list[Showable] = []
    for claim in _claims(run):
        identity = str(claim.get("id", ""))
        lines = [f"## {escape_markdown(claim.get('claim', identity))}", ""]
        for key, label in (
            ("published", "Published"),
            ("test_then", "The study's test"),
            ("reproduced", "That test on these data"),
            ("test_now", "The test called for"),
        ):
            if claim.get(key):
                lines.append(f"- *{label}:* {escape_markdown(claim[key])}")
        verdict = str(claim.get("verdict", "")).capitalize()
        lines += [
            "",
            f"**{escape_markdown(verdict)}.** {escape_markdown(claim.get('because', ''))}",
        ]
        shown.append(Markdown("\n".join(lines)))
        mine = run.named(identity)
        slug = re.sub(r"[^a-z0-9]+", "-", identity.lower()).strip("-") or "claim"
        for roles, label, caption in (
            (("primary", "secondary", "descriptive"), "now", "The tests called for"),
            (("replicated",), "then", "The study's own tests, reproduced"),
        ):
            chosen = [r for r in mine if r.role in roles]
            shown += results_tables(
                chosen, results=run.records, label=f"{slug}-{label}", caption=caption
            )
    return shown
