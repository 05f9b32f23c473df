"""What was read: roles of columns, counts, and meanings of words, as ``--json`` prints them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from judgestats.data.readers.columns import SYSTEMS, Remark, each_distinct, folded
from judgestats.data.readers.options import TableOptions
from judgestats.data.readers.roles import ColumnRoles
from judgestats.data.readers.row_checks import OpenQuestionError
from judgestats.data.verdict_kinds import Kind
from judgestats.protocols.base import Status
from judgestats.results.numbers import count_noun

VERSION = 1
_ROLE_OF: Mapping[str, str] = {
    "item_id": "item",
    "cluster": "cluster",
    "judge": "judge",
    "score": "verdict",
    "choice": "verdict",
    "verdict": "verdict",
    "replicate": "repeat",
    "order": "order",
    "temperature": "condition",
    "label": "label",
    "confidence": "confidence",
    "pass_probability": "confidence",
    "explanation": "explanation",
    "raw_text": "raw_reply",
    "cost_usd": "cost",
    "weight": "weight",
    **{name: name for name in ("system", "run", "rater", "latency_s")},
}
"""Roles of the columns of a judgments frame."""
COUNT_OF: Mapping[str, str] = {
    **dict.fromkeys(Status, "unparsed"),
    Status.FAILED: "error",
    Status.INVALID: "error",
    Status.NOT_APPLICABLE: "not_applicable",
    Status.MISSING: "missing",
}
"""Which of the four counts a judgment without a verdict belongs to."""
_LONGEST = 220


def add_roles(roles: dict[str, list[str]], role: str, columns: Iterable[str]) -> None:
    """Add columns to a role, each once."""
    held = roles.setdefault(role, [])
    held += [c for c in dict.fromkeys(columns) if c not in held]


def roles_of(
    names: Mapping[str, str],
    understanding: ColumnRoles,
    *,
    systems: Sequence[str],
    wide: Mapping[str, str],
    options: TableOptions,
) -> dict[str, list[str]]:
    """The columns of each role.

    Parameters
    ----------
    names : mapping of our column to theirs
    understanding : ColumnRoles
    systems : sequence of str
        Columns that name systems.
    wide : mapping of column to role
        Columns that hold the verdicts of one judge, run, criterion, order or person each.
    options : TableOptions

    Returns
    -------
    dict of str to list of str
    """
    roles: dict[str, list[str]] = {}
    run = options.mapping.get("run", "")
    if run:
        names = {k: v for k, v in names.items() if k != "replicate" or v != run}
        names |= {k: v for k, v in options.mapping.items() if k in {"run", "replicate"}}
    # Names such as dense_safety and sparse_safety tell a system each.
    stacked_names = [c for c, role in wide.items() if role == "criterion"]
    made_system = ["system"] if stacked_names and "system" in understanding.item else []
    unnamed = {*systems, *made_system}
    add_roles(roles, "item", [c for c in understanding.item if c not in unnamed])
    stacked = set(wide.values()) - {"label"}
    for ours, column in names.items():
        role = _ROLE_OF.get(ours, "")
        made = bool(stacked) and column in stacked | {"verdict"}
        if role and ours != "item_id" and not made:
            add_roles(roles, role, [column])
    factors = understanding.factors
    for factor in factors:
        role = "system" if folded(factor) in SYSTEMS else "condition"
        role = "criterion" if factor == understanding.criterion else role
        add_roles(roles, role, [c for c, r in wide.items() if r == factor] or [factor])
    answered = [c for c in understanding.item if folded(c) in SYSTEMS and c not in unnamed]
    add_roles(roles, "system", stacked_names if made_system else systems or answered)
    for column, role in wide.items():
        if role not in factors:
            add_roles(roles, {"replicate": "repeat"}.get(role, role), [column])
    for stated in (options.human, options.judge_rows):
        if stated:
            add_roles(roles, "rater_kind", [stated.partition("=")[0].strip()])
    return {role: columns for role, columns in roles.items() if columns}


def meanings_of(kinds: Iterable[Kind]) -> dict[str, str]:
    """What each word of a column of verdicts was interpreted as.

    Examples
    --------
    >>> from judgestats.data.verdict_kinds import kind_of
    >>> meanings_of([kind_of(pd.Series(["PASS", "n/a", "FAIL"]), column="verdict")])
    {'pass': 'pass', 'fail': 'fail', 'n/a': 'skip'}
    """
    found: dict[str, str] = {}
    for kind in kinds:
        found |= {str(w): str(m) for w, m in {**kind.codes, **kind.statuses}.items() if w != ""}
    return found


def reading_of(frame: pd.DataFrame) -> dict[str, Any]:
    """The reading of a file as ``--json`` has it.

    Parameters
    ----------
    frame : DataFrame
        As `judgestats.read_judgments` returns it.

    Returns
    -------
    dict
        ``version``, ``status``, ``layout``, ``sentence``, ``roles``, ``counts``, ``values``,
        ``unused``, ``options``, ``warnings``.

    Examples
    --------
    >>> from judgestats import read_judgments
    >>> rows = [{"item": "a", "trial": 1, "score": 7}, {"item": "a", "trial": 2, "score": None}]
    >>> reading = reading_of(read_judgments(rows))
    >>> reading["roles"]
    {'item': ['item'], 'verdict': ['score'], 'repeat': ['trial']}
    >>> reading["counts"]["judgments"], reading["counts"]["missing"], reading["counts"]["repeats"]
    (1, 1, 2)
    >>> reading["sentence"]
    'Read as a table: 1 item (item), 2 repeats (trial), verdict = score; 1 judgment, 1 missing.'
    """
    attrs = frame.attrs
    roles = {str(k): list(v) for k, v in attrs.get("roles", {}).items()}
    counts = counts_of(frame)
    return {
        "version": VERSION,
        "status": "ok",
        "layout": attrs.get("layout") or attrs.get("reader", "table"),
        "sentence": _sentence(str(attrs.get("about", "a table")), roles, counts),
        "roles": roles,
        "counts": counts,
        "values": {str(c): dict(words) for c, words in attrs.get("values", {}).items() if words},
        "unused": {str(c): str(why) for c, why in attrs.get("unused", {}).items()},
        "options": list(attrs.get("options", ())),
        "warnings": [
            {"code": note.code, "message": str(note), "count": note.n}
            for note in map(_remark, attrs.get("notes", ()))
        ],
    }


def _remark(note: str) -> Remark:
    return note if isinstance(note, Remark) else Remark(note)


def counts_of(frame: pd.DataFrame) -> dict[str, int]:
    """Rows, items, judges, verdicts and labels of a frame, in whole numbers.

    Judgments are rows with a verdict; those without are not applicable, unparsed, an error or
    missing. Labels are counted by rater.
    """
    attrs = frame.attrs
    levels = attrs.get("levels", {})
    statuses = Counter[str]()
    for status, n in frame["status"].value_counts().items():
        statuses["ok" if status == "ok" else COUNT_OF[Status(str(status))]] += int(n)
    sides = [c for c in ("system_a", "system_b") if c in frame]
    systems = (
        set().union(*(set(frame[c]) for c in sides)) if sides else set(frame.get("author", ()))
    )
    criteria = frame["criterion"].nunique() if "criterion" in frame else 1
    people = [c for c in frame if str(c).startswith("label_")]
    has_label = pd.Series(False, index=frame.index)
    if "label" in frame:
        has_label = each_distinct(frame["label"], lambda v: str(v).strip()).ne("")
    keys = ["item_id", *([c for c in ("criterion",) if c in frame])]
    labelled = frame[[*keys, *people]].assign(label=has_label).drop_duplicates(keys)
    given = labelled[people].map(lambda v: str(v) != "") if people else labelled[["label"]]
    ties = given.any(axis=1) & ~labelled["label"]
    return {
        "rows_in": int(attrs.get("rows_in", len(frame))),
        "rows_filtered": int(attrs.get("rows_filtered", 0)),
        "items": int(frame["item_id"].nunique()),
        "clusters": int(frame["cluster"].nunique()),
        "judges": int(frame["judge"].nunique()),
        "human_raters": len(people) or int(has_label.any()),
        "systems": max(len(systems - {""}), int(levels.get("system", 0))),
        "criteria": max(int(criteria), int(levels.get("criterion", 1))),
        "orders": max(1, int(frame["order"].replace("", pd.NA).nunique())),
        "repeats": int(frame["replicate"].nunique()),
        "judgments": statuses["ok"],
        "labels": int(given.to_numpy(bool).sum()),
        **{name: statuses[name] for name in ("not_applicable", "unparsed", "error", "missing")},
        "label_missing": int((~labelled["label"] & ~ties).sum()) if has_label.any() else 0,
        "label_tie": int(ties.sum()),
        "copies": sum(
            note.n for note in map(_remark, attrs.get("notes", ())) if note.code == "copies"
        ),
    }


def _sentence(about: str, roles: Mapping[str, Sequence[str]], counts: Mapping[str, int]) -> str:
    """The reading in one sentence."""

    def count_text(count: str, word: str, role: str = "") -> str:
        plural = {"criterion": "criteria"}.get(word, f"{word}s")
        held = roles.get(role or word, ())
        columns = ", ".join([*held[:2], "..."] if len(held) > 3 else held)
        return count_noun(counts[count], word, plural) + (f" ({columns})" if columns else "")

    parts = [count_text("items", "item")]
    several = (("clusters", "cluster"), ("judges", "judge"), ("systems", "system"),
               ("criteria", "criterion"), ("orders", "order"), ("repeats", "repeat"))  # fmt: skip
    for count, word in several:
        if counts[count] > 1 and (word != "cluster" or counts[count] < counts["items"]):
            parts.append(count_text(count, word))
    if columns := roles.get("verdict"):
        parts.append(f"verdict = {', '.join(columns)}")
    found = [count_noun(counts["judgments"], "judgment", "judgments")]
    found += [
        f"{counts[name]:,} {name.replace('_', ' ')}"
        for name in ("not_applicable", "unparsed", "error", "missing")
        if counts[name]
    ]
    if counts["labels"]:
        found.append(count_noun(counts["labels"], "label", "labels"))
    text = f"Read as {about}: {', '.join(parts)}; {', '.join(found)}."
    return text if len(text) <= _LONGEST else text[: _LONGEST - 4] + " ..."


def open_question_record(question: OpenQuestionError, command: Sequence[str]) -> dict[str, Any]:
    """The reading of a file that can be read in several ways: the question with its answers.

    Parameters
    ----------
    question : OpenQuestionError
    command : sequence of str
        The words to which the options of an answer are added.

    Returns
    -------
    dict
        ``version``, ``status`` (ask), ``question``, and ``options`` with ``meaning``, ``command``
        and ``preview`` each.
    """
    return {
        "version": VERSION,
        "status": "ask",
        "question": question.question,
        "options": [
            {
                "meaning": answer.meaning,
                "command": [*command, *answer.options.words()],
                "preview": list(answer.preview),
            }
            for answer in question.answers
        ],
    }
