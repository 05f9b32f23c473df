"""A published study re-examined, claim by claim."""

from __future__ import annotations

import re
from typing import Any

from judgestats.reporting.escape import escape_markdown
from judgestats.reporting.runs import Run
from judgestats.reporting.sections.result_tables import results_tables
from judgestats.reporting.show import Markdown, Showable
from judgestats.reporting.tables import Column, Table

__all__ = ["each_claim", "overview", "study"]


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


def each_claim(run: Run, *, tables: bool = True) -> list[Showable]:
    """Claim by claim: published, its own test reproduced, the test called for, the verdict.

    Parameters
    ----------
    run : Run
    tables : bool
        Also show the tests behind each claim.
    """
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
        if tables:
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
