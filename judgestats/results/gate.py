"""What verdicts mean for CI, and the card of one judge (``judge-card/1``, JSON and SVG)."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judgestats.errors import InputError, printable
from judgestats.results.decisions import TAILS
from judgestats.results.numbers import apa_number
from judgestats.results.purposes import FLAGS, is_imprecise, threshold_text, too_few
from judgestats.results.quantities import quantity_of
from judgestats.results.results import Results
from judgestats.results.screen import (
    WIDTH,
    Lines,
    Span,
    brief_of,
    hanging_lines,
    plain_text,
    rest_lines,
)
from judgestats.results.verdict import ORDER, Requirement, Verdict
from judgestats.results.verdict_screen import (
    WORDS,
    deciding_label,
    facts_lines,
    grid_lines,
    limit_number,
    number_text,
    status_text,
    step_text,
)
from judgestats.sinks import escape_html, shorten
from judgestats.version import __version__

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
        return plain_text(self.lines())

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
        whole = len(verdict.requirements)
        hold = "requirement holds" if whole == 1 else "requirements hold"
        return f"{count} of {whole} {hold}. {care}".strip()
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


SCHEMA = "judge-card/1"
_WIDTH, _HEIGHT = 480, 140
_COLOURS = dict(zip(ORDER, ("#b42318", "#475467", "#b54708", "#067647"), strict=True))
_DARK = dict(zip(ORDER, ("#f97066", "#98a2b3", "#fdb022", "#47cd89"), strict=True))


def judge_card(
    results: Results,
    judge: str = "",
    *,
    digest: str = "",
    date: str = "",
) -> dict[str, Any]:
    """Give the verdict on one judge and the numbers that it rests on.

    Parameters
    ----------
    results : Results
    judge : str
        Name of the judge or condition; may be empty where there is one verdict.
    digest : str
        SHA-256 of the judgments.
    date : str
        Of the analysis, as ISO 8601.

    Returns
    -------
    dict
        ``judge``, ``criterion``, ``condition``, and ``scale``. ``data`` has items, labels, sha256;
        ``verdict`` has outcome, purpose, sentence. ``numbers`` has a row per requirement. Further:
        ``unparsed_share``, ``simulated``, ``date``, ``judgestats``, ``schema``.

    Raises
    ------
    InputError
        No verdict, an unknown judge, or several verdicts and no judge named.

    Examples
    --------
    >>> from judgestats.results.verdict import Subject, Verdict
    >>> verdict = Verdict(outcome="CANNOT_TELL", subject=Subject(judge="a"), purpose="score")
    >>> card = judge_card(Results(experiment="x", question="?", results=(), verdicts=(verdict,)))
    >>> card["judge"], card["verdict"]["outcome"], card["numbers"]
    ('a', 'CANNOT_TELL', [])
    """
    found = [v for v in results.verdicts if v.subject.judge or v.subject.label]
    names = list(dict.fromkeys(v.subject.name for v in found))
    if judge:
        found = [v for v in found if judge in (v.subject.name, v.subject.judge)]
    if not found:
        raise InputError(
            f"card: no verdict on {judge!r}. Judges: {', '.join(names)}." if names
            else "card: this run has no verdict on a judge. See: judgestats show RUN"
        )  # fmt: skip
    if len(found) > 1:
        raise InputError(
            f"card: {len(found)} conditions have a verdict. Name one: --judge {names[0]!r}"
        )
    verdict = found[0]
    subject = verdict.subject
    own = {m.key: m for m in results.measures if m.subject == subject}
    design = results.facts.get("design")
    design = design if isinstance(design, Mapping) else {}
    return {
        "schema": SCHEMA,
        "judge": subject.judge or subject.name,
        "criterion": subject.criterion,
        "condition": {k: v for k, v in subject.condition.items() if v is not None},
        "scale": design.get("scale"),
        "data": {
            "items": design.get("items"),
            "labels": sum(own[k].n for k in ("tpr", "tnr") if k in own),
            "sha256": digest,
        },
        "verdict": {
            "outcome": verdict.outcome, "purpose": verdict.purpose, "sentence": verdict.sentence,
        },
        "numbers": [
            {
                "key": r.key, "name": r.label, "status": r.status, "text": number_text(r),
                **{k: _number(getattr(r, k)) for k in ("estimate", "low", "high", "threshold")},
            }
            for r in verdict.requirements
        ],
        "unparsed_share": _number(own["unparsed_share"].estimate) if "unparsed_share" in own
        else None,
        "simulated": verdict.simulated or results.all_simulated,
        "date": date,
        "judgestats": __version__,
    }  # fmt: skip


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def card_svg(card: Mapping[str, Any]) -> str:
    """Draw a card: 480 x 140, light and dark, without script, link, font, or image from outside.

    Parameters
    ----------
    card : mapping
        See `judge_card`.

    Returns
    -------
    str

    Examples
    --------
    >>> card = {"judge": "a<b", "verdict": {"outcome": "USE", "sentence": "all hold."},
    ...         "numbers": [], "data": {"items": 9, "labels": 0}, "simulated": False,
    ...         "date": "2026-01-01", "judgestats": "0.3", "criterion": "", "condition": {}}
    >>> text = card_svg(card)
    >>> "a&lt;b" in text, "<script" in text
    (True, False)
    """
    outcome = card["verdict"]["outcome"]
    data = card["data"]
    facts = [
        f"{data['items']:,} items" if data["items"] else "",
        f"{data['labels']:,} labels" if data["labels"] else "no labels",
        "SIMULATED" if card["simulated"] else "", card["date"], f"judgestats {card['judgestats']}",
    ]  # fmt: skip
    about = [card["criterion"], *(f"{k}={v}" for k, v in card["condition"].items())]
    sentence = card["verdict"]["sentence"]
    sentence = sentence[:1].upper() + sentence[1:]
    name = ", ".join([card["judge"], *(a for a in about if a)])
    rows = []
    for y, n in zip((84, 100, 116), card["numbers"], strict=False):
        cells = (
            (16, "", _svg(n["name"], 26)),
            (220, "n", _svg(n["text"], 24)),
            (380, "m", _svg(n["status"].replace("_", " "), 14)),
        )
        rows += [f'<text x="{x}" y="{y}" class="{kind}">{cell}</text>' for x, kind, cell in cells]
    lines = [
        f'<text x="16" y="26" class="o">{WORDS[outcome]}</text>',
        f'<text x="16" y="44" class="b">{_svg(name, 60)}</text>',
        f'<text x="16" y="62" class="m">{_svg(sentence, 76)}</text>', *rows,
        f'<text x="16" y="132" class="m">{_svg(" · ".join(f for f in facts if f), 76)}</text>',
    ]  # fmt: skip
    style = (
        f"text{{font:12px sans-serif;fill:#101828}}.o{{font:bold 18px sans-serif;"
        f"fill:{_COLOURS[outcome]}}}.b{{font-weight:bold}}.m{{fill:#475467}}"
        ".n{font-family:monospace}rect{fill:#fff;stroke:#d0d5dd}"
        "@media(prefers-color-scheme:dark){text{fill:#f2f4f7}.m{fill:#98a2b3}"
        f".o{{fill:{_DARK[outcome]}}}rect{{fill:#101828;stroke:#475467}}}}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}" '
        f'viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">'
        f"<!-- {SCHEMA} --><title>{_svg(f'{name}: {WORDS[outcome]}', 120)}</title>"
        f"<style>{style}</style>"
        f'<rect x=".5" y=".5" width="{_WIDTH - 1}" height="{_HEIGHT - 1}" rx="6"/>'
        f"{''.join(lines)}</svg>\n"
    )


def _svg(text: str, most: int) -> str:
    return str(escape_html(shorten(text, limit=most)))
