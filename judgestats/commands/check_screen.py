"""What ``judgestats check`` prints: the run, what holds, what to mind and what comes next."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from judgestats.commands.check_findings import Demand, Finding, Held
from judgestats.experiment import console
from judgestats.experiment.showing import show_framed
from judgestats.results import ESTIMANDS, Results, estimand_of
from judgestats.results.answers import number_of, row_decimals, shown
from judgestats.results.brief import brief_of
from judgestats.results.numbers import estimate_parts
from judgestats.results.quantities import is_called, metric_called, quantities_of
from judgestats.results.screen import Span
from judgestats.tracking.readings import WHOLE_RUN

_MOST_FINDINGS = 12
_LONGEST_NAME = 40
_UNANSWERED = "quality/unanswered_share"


def show_held(run: str, results: Results, held: Held, demands: Sequence[Demand]) -> None:
    """Print what was demanded and found in a frame, what failed first.

    Parameters
    ----------
    run : str
        Its id or folder, as it was typed.
    results : Results
    held : Held
    demands : sequence of Demand
    """
    ordered = list(held.findings)
    failed = sum(not f.passed for f in ordered)
    screen = console.shown_as().form == "screen"
    if screen:
        ordered.sort(key=lambda f: f.passed)
        ordered = ordered[:_MOST_FINDINGS]
    width = max(len(f.where) for f in ordered)
    width = min(width, _LONGEST_NAME) if screen else width
    body = [[Span(f" {len(held.findings) - failed} of {len(held.findings)} demands hold.")]]
    body += [_line(f, width, results) for f in ordered]
    if more := len(held.findings) - len(ordered):
        body.append([Span(f" and {more} more: judgestats check {_short(run)} ... --full")])
    brief = brief_of(results)
    mind = (*_notes(held, demands), *brief.mind)
    facts = (f"run {_short(run)}", *brief.facts)
    show_framed(
        replace(brief, facts=facts, mind=mind, use=(), read=(), thresholds=()),
        body,
        following=[f"judgestats show {_short(run)}", *_reports(run, failed)],
    )


def _short(run: str) -> str:
    """A run as a command takes it: the beginning of an id, a whole path."""
    return run if Path(run).exists() else run[: console.SHORT]


def _reports(run: str, failed: int) -> list[str]:
    return [] if failed else [f"judgestats report {_short(run)}"]


def _notes(held: Held, demands: Sequence[Demand]) -> list[str]:
    """What the demands say nothing of, and why."""
    notes = []
    if held.left and held.still:
        notes.append(
            f"left out (sampling is off there, so repeating says nothing of "
            f"{', '.join(held.left)}): {'; '.join(held.still)}"
        )
    if any(math.isnan(f.estimate) for f in held.findings):
        notes.append(
            "a number that is undefined in a condition fails there; where it cannot exist (the "
            "order of a single response), name the conditions meant: --condition NAME"
        )
    return [*notes, *_unanswered(held.runs, demands)]


def _unanswered(runs: Mapping[str, Mapping[str, float]], demands: Sequence[Demand]) -> list[str]:
    """That judgments are in no number, where nobody demanded anything of how many."""
    named = {metric_called(demand.metric, [_UNANSWERED]) for demand in demands}
    shares = {name: m.get(_UNANSWERED, 0.0) for name, m in runs.items() if name != WHOLE_RUN}
    worst = max(shares, key=lambda name: shares[name], default="")
    if not worst or not shares[worst] > 0 or _UNANSWERED in named:
        return []
    text = (
        f"not demanded: up to {100 * shares[worst]:.3g} % of the judgments of a condition "
        f"({worst}) were not answered or never asked, and are in no number (--max "
        "unanswered=.05 says how many may be)"
    )
    return [text]


def _line(finding: Finding, width: int, results: Results) -> list[Span]:
    """``PASS  gpt-4o  reliability .89 [.85, .93], demanded >= .8``."""
    name = finding.where if len(finding.where) <= width else f"{finding.where[: width - 3]}..."
    mark = Span("PASS", "good") if finding.passed else Span("FAIL", "bad")
    sign = ">=" if finding.demand.side == "min" else "<="
    number, bounded = _number(finding, results)
    sized = finding.basis == "size at most"
    sign = f"size {sign}" if sized else sign
    why = "" if sized or finding.basis.endswith("bound") else f" ({finding.basis})"
    if math.isnan(finding.decided_on) and not why:
        why = " (no such end of its interval)"
    demanded = f"{finding.demand.bound:g}"
    demanded = demanded.replace("0.", ".", 1) if bounded and demanded[:2] == "0." else demanded
    text = f"{finding.demand.metric} {number}{why}, demanded {sign} {demanded}"
    return [Span(" "), mark, Span(f"  {name:<{width}}  {text}")]


def _number(finding: Finding, results: Results) -> tuple[str, bool]:
    """The number with its interval in the digits of the screen, and whether it is a share."""
    for row in results.rows:
        record = row.cells.get(finding.where, "")
        if is_called(row, finding.demand.metric) and record in results:
            number = number_of(results, record)
            parts = shown(number, decimals=row_decimals(row, results))
            return " ".join(filter(None, parts)), ESTIMANDS[row.estimand].bounded
    metrics = {m for own in results.condition_metrics.values() for m in own}
    named = quantities_of(finding.demand.metric, results.rows, metrics)
    bounded = any(estimand_of(quantity.estimand).bounded for quantity in named)
    if math.isnan(finding.estimate):
        return "-", bounded
    parts = estimate_parts(finding.estimate, finding.low, finding.high, bounded=bounded)
    return " ".join(filter(None, parts)), bounded
