"""Gate: what verdicts mean for CI, and its screen."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from judgestats.errors import printable
from judgestats.results.decisions import TAILS
from judgestats.results.numbers import apa_number
from judgestats.results.purposes import FLAGS, is_imprecise, threshold_text, too_few
from judgestats.results.quantities import quantity_of
from judgestats.results.results import Results
from judgestats.results.screen import WIDTH, Lines, Span, brief_of, hanging_lines, rest_lines
from judgestats.results.verdict import Requirement, Verdict
from judgestats.results.verdict_screen import (
    deciding_label,
    facts_lines,
    grid_lines,
    limit_number,
    number_text,
    status_text,
    step_text,
)

EXITS = "0 pass, 1 fail, 2 refused, 3 cannot tell, 4 internal error"
_MOST_ROWS, _MOST_LINES, _MOST_STEPS = 9, 3, 1


@dataclass(frozen=True, kw_only=True)
class Gate:
    """The verdicts on all subjects of a check, and what they mean for it.

    Attributes
    ----------
    results : Results
        With a verdict per subject.
    strict : bool
        Whether USE WITH CARE fails.
    allow_cannot_tell : bool
        Whether CANNOT TELL passes.
    """

    results: Results
    strict: bool
    allow_cannot_tell: bool

    def __repr__(self) -> str:
        """The screen: the records behind it are thousands of numbers."""
        return "\n".join("".join(span.text for span in line).rstrip() for line in self.lines())

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """One per subject."""
        return self.results.verdicts

    @property
    def exit_code(self) -> int:
        """0 pass, 1 fail, 3 cannot tell; nothing that was decided on passes nothing."""
        outcomes = {v.outcome for v in self.verdicts}
        if "DO_NOT_USE" in outcomes or (self.strict and "USE_WITH_CARE" in outcomes):
            return 1
        unknown = "CANNOT_TELL" in outcomes or not outcomes
        return 3 if unknown and not self.allow_cannot_tell else 0

    @property
    def passed(self) -> bool:
        """Whether the exit code is 0."""
        return self.exit_code == 0

    def word(self, verdict: Verdict) -> str:
        """PASS, FAIL, or CANNOT TELL."""
        if verdict.outcome == "CANNOT_TELL":
            return "CANNOT TELL"
        strict = self.strict and verdict.outcome == "USE_WITH_CARE"
        return "FAIL" if verdict.outcome == "DO_NOT_USE" or strict else "PASS"

    def lines(self, width: int = WIDTH) -> Lines:
        """The screen: a line per verdict, facts, the limits that decide, and the exit code."""
        words = ("FAIL", "CANNOT TELL", "PASS")
        ordered = sorted(self.verdicts, key=lambda v: words.index(self.word(v)))
        out: Lines = []
        for verdict in ordered[:_MOST_LINES]:
            word = self.word(verdict)
            text = textwrap.wrap(f"{_name(verdict)}: {gate_reason(verdict)}", width - len(word) - 2)
            style = {"PASS": "good", "FAIL": "bad"}.get(word, "bold")
            out += hanging_lines(f"{word}  ", style, text)
        out += rest_lines(len(ordered) - _MOST_LINES, "--all")
        out += [*facts_lines(self.results, brief_of(self.results), width), []]
        out += [*self._table(ordered, width), *self._tails(ordered, width), []]
        unanswered = textwrap.wrap(self._unanswered(), width - 6)
        out += hanging_lines("Care  ", "bold", unanswered)
        decisive: Lines = []
        for said in self.steps()[:_MOST_STEPS]:
            decisive += hanging_lines("Next  ", "bold", textwrap.wrap(said, width - 6))
        out += [*decisive, *([[]] if unanswered or decisive else [])]
        allowed = " (--allow cannot-tell)" if self.passed and self._is_open else ""
        out.append([Span(f"exit {self.exit_code}{allowed} ({EXITS})")])
        return out

    @property
    def _is_open(self) -> bool:
        return any(v.outcome == "CANNOT_TELL" for v in self.verdicts)

    def _unanswered(self) -> str:
        """Warning on unanswered judgments, if no requirement limits their share."""
        quantity = quantity_of("unanswered_share")
        metric = quantity.metric
        called = {quantity.key, metric, *quantity.aliases}
        if any(r.key in called for v in self.verdicts for r in v.requirements):
            return ""
        names = {v.subject.label for v in self.verdicts}
        metrics = self.results.condition_metrics
        worst = max((metrics[n].get(metric, 0.0) for n in names if n in metrics), default=0.0)
        if not worst > 0:
            return ""
        return (
            f"Not required: up to {100 * worst:.3g}% of the judgments of a condition were not "
            "answered, and are in no number. Add --require 'quality/unanswered_share<=.05'."
        )

    def steps(self) -> list[str]:
        """How much more data decide each subject that is open, as sentences."""
        out = []
        for verdict in [v for v in self.verdicts if v.outcome == "CANNOT_TELL" and v.next]:
            step = next((s for s in verdict.next if s.key == verdict.deciding), verdict.next[0])
            who = f"{_name(verdict)}: " if len(self.verdicts) > 1 else ""
            out.append(f"{who}{step_text(step, deciding_label(verdict, step.key))}")
        return out

    def _tails(self, ordered: Sequence[Verdict], width: int) -> Lines:
        """Tail bounds of the SEMs and ICCs that are required."""
        parts = []
        for verdict in ordered[:_MOST_ROWS]:
            for key in (r.key for r in verdict.requirements if r.key in TAILS):
                bound = self.results.estimate(f"condition.{TAILS[key]}.{verdict.subject.label}")
                if bound is not None and bound.interval is not None:
                    own, ends = quantity_of(bound.estimand), bound.interval
                    limit = ends.high if key == "sem" else ends.low
                    text = f"{own.heading} {apa_number(limit, bounded=own.high == 1)}"
                    parts.append(f"{_name(verdict)}: {text}" if len(ordered) > 1 else text)
        text = f"With far replies not seen: {'; '.join(parts)}." if parts else ""
        return [[Span(line)] for line in textwrap.wrap(text, width)]

    def _table(self, ordered: Sequence[Verdict], width: int) -> Lines:
        many = len(ordered) > 1
        rows = [["", "Estimate", "Needed", "Limit that decides", "Status"]]
        listed = [(v, r) for v in ordered for r in v.requirements]
        rank = ("fails", "open", "not_measured", "holds")
        listed.sort(key=lambda pair: rank.index(pair[1].status) if many else 0)
        for verdict, r in listed[:_MOST_ROWS]:
            label = r.label
            rows.append([
                f"{_name(verdict)}: {label}" if many else label,
                number_text(r), threshold_text(r), limit_cell(r), status_text(r).partition(" (")[0],
            ])  # fmt: skip
        short = [[row[0][-40:], *row[1:]] for row in rows]
        table = grid_lines(rows, width) or grid_lines(short, 2 * width)
        return [*(table or []), *rest_lines(len(listed) - _MOST_ROWS, "--all")]


def gate_reason(verdict: Verdict) -> str:
    """Why a subject passes or not, with the limit that decides."""
    r = verdict.decisive
    if verdict.outcome in {"USE", "USE_WITH_CARE"} or r is None:
        count = sum(one.status == "holds" for one in verdict.requirements)
        care = next((c.text for c in verdict.caveats if c.severity == "major"), "")
        return f"{count} of {len(verdict.requirements)} requirements hold. {care}".strip()
    label, needed = r.label, threshold_text(r).removeprefix("within ").lstrip("≥≤ ")
    if r.status == "not_measured":
        return f"{label} is not measured: {r.reason}."
    value = apa_number(r.estimate, digits=3, bounded=r.bounded)
    if r.status == "open" and (not r.limit_side or r.key in FLAGS):
        return verdict.sentence
    if r.status == "open":
        why = too_few(r) if is_imprecise(r) else f"is too close to {needed}"
        return f"{label} {value} {why} ({_limit_words(r)})."
    if r.status == "holds":
        blocker = next((c.text for c in verdict.caveats if c.severity == "blocker"), "")
        return blocker or f"{label} holds."
    side = {"min": "below", "max": "above", "within": "outside"}[r.direction]
    return f"{label} {value} is {side} {needed} ({_limit_words(r)})."


def _limit_words(r: Requirement) -> str:
    number, _, side = limit_cell(r).partition(" ")
    return f"{side.strip('()')} limit {number}" if side else "no limit"


def limit_cell(r: Requirement) -> str:
    """The limit that decides, and which end of an interval it is."""
    if not r.limit_side or r.key in FLAGS:
        return "-"
    return f"{limit_number(r, 3)} ({r.limit_side})"


def _name(verdict: Verdict) -> str:
    return printable(verdict.subject.name, one_line=True)[:60]
