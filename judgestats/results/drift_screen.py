"""First screen of a drift test: outcome, facts, changes, and care."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence

from judgestats.results.answers import format_record, size_of
from judgestats.results.records import Headline
from judgestats.results.results import Results
from judgestats.results.screen import WIDTH, Lines, Span, condition_table
from judgestats.results.summary import brief_of
from judgestats.results.verdict_screen import care_lines, facts_lines

OUTCOMES = ("CHANGED", "NO CHANGE", "CANNOT TELL")
_STYLES = {"CHANGED": "bad", "NO CHANGE": "good", "CANNOT TELL": "bold"}
_MOST = 3


def drift_screen(results: Results, *, width: int = WIDTH, more: str = "") -> Lines:
    """The screen of a comparison of two runs.

    Parameters
    ----------
    results : Results
        Of `judgestats drift`.
    width : int
    more : str
        The command that shows everything.

    Returns
    -------
    list of list of Span
    """
    outcome = next((o for o in OUTCOMES if results.answer.startswith(o)), "CANNOT TELL")
    shown = _deciding(results.headlines, outcome)
    texts = [text for text in (_change(h, results) for h in shown) if text]
    brief = brief_of(results)
    head: Lines = []
    for text in texts[:_MOST] or [results.answer.partition(": ")[2]]:
        wide = len(outcome) + 2
        for i, line in enumerate(textwrap.wrap(text, width - wide)[:3]):
            word = outcome if i == 0 else ""
            head.append([Span(f"{word:<{wide}}", _STYLES[outcome]), Span(line)])
    left = len(texts) - _MOST
    if left > 0:
        head.append([Span(f"{left} more: {more}" if more else f"{left} more", "dim")])
    care = care_lines(results, width)
    head += [*facts_lines(results, brief, width), []]
    room = 18 - len(head) - len(care)
    if not brief.lines:
        return [*head, *care]
    table = condition_table(brief, width + 1, room, more)
    bare = [[first._replace(text=first.text[1:]), *rest] for first, *rest in table]
    return [*head, *bare, [], *care]


def _deciding(headlines: Sequence[Headline], outcome: str) -> list[Headline]:
    """The claims that make the outcome, those shown first."""
    claim = {"CHANGED": "differs", "NO CHANGE": "equivalent", "CANNOT TELL": "open"}[outcome]
    return [h for h in headlines if h.claim == claim]


def _change(headline: Headline, results: Results) -> str:
    """How far one quantity moved, with its interval."""
    size = size_of(headline, results)
    if size is None or not math.isfinite(size.estimate):
        return ""
    asked = next((row.ask for row in results.rows if size.id in row.cells.values()), "")
    what = asked.removeprefix("Change of ") or headline.says or headline.hypothesis
    number = " ".join(filter(None, format_record(size)))
    who = f"{headline.about.stratum}: " if headline.about.stratum else ""
    if headline.claim == "equivalent":
        return f"{who}{what} changed by less than the margin: {number}."
    if headline.claim == "open":
        return f"{who}{what} changed by {number}; neither a change nor equality is shown."
    if not asked.startswith("Change of "):
        return f"{who}{what} {number}."
    return f"{who}{what} {'rose' if size.estimate > 0 else 'fell'} by {number}."
