"""Label Studio's JSON export: predictions of models as judgments, people's annotations as labels.

Where a project has no predictions, each annotator is a judge of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pandas as pd

from judgestats.judgments.readers.grades import grade
from judgestats.judgments.readers.logs import Log, Reader, Rows
from judgestats.judgments.readers.untrusted import text

_KINDS = ("rating", "number", "choices")


def _fits(log: Log) -> bool:
    return log.has("id", "data", "annotations") and isinstance(log.first["annotations"], list)


def _read(log: Log) -> pd.DataFrame:
    tasks = [record for _, record in log.records()]
    rows = Rows(log.path)
    judged = any(_values(p) for task in tasks for p in _listed(task.get("predictions")))
    for task in tasks:
        people = [a for a in _listed(task.get("annotations")) if not a.get("was_cancelled")]
        labels: dict[str, Counter[str]] = {}
        for annotation in people:
            for name, value in _values(annotation):
                labels.setdefault(name, Counter())[text(value, 100)] += 1
        item = text(task.get("id"), 200)
        for result in _listed(task.get("predictions")) if judged else people:
            for name, value in _values(result):
                rows.add(
                    **grade(value),
                    judge=log.judge or (text(result.get("model_version"), 200) if judged
                                        else _person(result)) or "model",
                    scorer=name,
                    item_id=item,
                    cluster=item,
                    label=_most(labels.get(name)) if judged else "",
                    replicate=-1,
                    asked_at=text(result.get("created_at"), 40),
                )  # fmt: skip
    if not judged:
        rows.note("The export holds no predictions of a model: every annotator is read as a judge.")
    return rows.frame()


def _listed(value: object) -> list[dict[str, Any]]:
    return [v for v in value if isinstance(v, dict)] if isinstance(value, list) else []


def _person(annotation: dict[str, Any]) -> str:
    who = annotation.get("completed_by")
    if isinstance(who, dict):
        who = who.get("email") or who.get("id")
    return f"annotator {text(who, 200)}"


def _values(words: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """What was rated or chosen, by the name of the control; other regions are no verdicts."""
    for result in _listed(words.get("result")):
        value = result.get("value")
        content = next((value[k] for k in _KINDS if k in value), None) if isinstance(
            value, dict
        ) else None  # fmt: skip
        if isinstance(content, list):
            content = content[0] if len(content) == 1 else None
        if content is not None:
            yield text(result.get("from_name"), 200), content


def _most(text: Counter[str] | None) -> str:
    """What most people said; empty where two things were said equally often."""
    if not text:
        return ""
    best = text.most_common(2)
    return "" if len(best) == 2 and best[0][1] == best[1][1] else best[0][0]


LABEL_STUDIO = Reader(
    name="label-studio",
    about="Label Studio's JSON export: tasks with annotations (and predictions)",
    item="task",
    fits=_fits,
    read=_read,
)
