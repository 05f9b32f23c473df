"""Judge card: the verdict on one judge as JSON (``judge-card/1``) and as a picture in SVG."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from judgestats.errors import InputError
from judgestats.results.results import Results
from judgestats.results.verdict import ORDER
from judgestats.results.verdict_screen import WORDS, number_text
from judgestats.sinks import escape_html, shorten
from judgestats.version import __version__

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
