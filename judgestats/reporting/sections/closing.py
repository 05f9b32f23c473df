"""What follows: limitations, the priced recommendation, the account, the session."""

from __future__ import annotations

from judgestats.reporting.escape import escape_markdown, verbatim
from judgestats.reporting.formats import integer, money
from judgestats.reporting.runs import Run
from judgestats.reporting.sections.methods import methods
from judgestats.reporting.show import Markdown
from judgestats.reporting.tables import Column, Table

__all__ = [
    "account",
    "command",
    "limitations",
    "methods",
    "session",
]


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
        "cached": "Taken from the journal (not asked again)",
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
        caption="What was asked, answered and paid.",
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
    return Markdown(verbatim(text)) if text else Markdown("The run does not say how it was made.")
