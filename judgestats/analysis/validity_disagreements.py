"""The items on which judge and people differ, with texts and the judge's words: a list to read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from judgestats.analysis.outcome import Analysis, NamedResult
from judgestats.analysis.supplements import Rows
from judgestats.analysis.validity import Disagreements
from judgestats.results.values import spreadsheet_cell

__all__ = ["DISAGREEMENTS", "with_disagreements"]

DISAGREEMENTS = "tables/disagreements.csv"
_TOLD = 1000
_LISTED = 20


def with_disagreements(
    analysis: Analysis, frame: pd.DataFrame, known: Mapping[str, tuple[str, str]], *, texts: bool
) -> Analysis:
    """An analysis with all items on which judge and people differ: a record, and a file of the run.

    Parameters
    ----------
    analysis : Analysis
        Its results ``people.disagreements`` say which items.
    frame : DataFrame
        The parsed judgments: they hold the judge's words.
    known : mapping of item to (question, answer)
        Empty where they are not known.
    texts : bool
        Whether texts are shown; without, the list names items, verdicts and gaps only.

    Returns
    -------
    Analysis
    """
    parts = [
        _listed(r.about.conditions[0], r.result, frame, known if texts else {}, texts=texts)
        for r in analysis.results
        if isinstance(r.result, Disagreements) and r.result.n and r.about.conditions
    ]
    if not parts:
        return analysis
    table = pd.concat(parts, ignore_index=True)
    shown = table.groupby("condition", sort=False).head(_LISTED)
    shown = shown.map(lambda v: v[:_TOLD] if isinstance(v, str) else v)
    record = NamedResult(
        id="disagreements",
        title="Where judge and people differ most",
        role="descriptive",
        result=Rows(table=shown.reset_index(drop=True)),
    )
    # These texts were written by others: none of them is a formula to whoever opens the file.
    written = table.map(spreadsheet_cell).to_csv(index=False, lineterminator="\n")
    return replace(
        analysis,
        described=(*analysis.described, record),
        files={**analysis.files, DISAGREEMENTS: written},
    )


def _listed(
    condition: str,
    found: Disagreements,
    frame: pd.DataFrame,
    known: Mapping[str, tuple[str, str]],
    *,
    texts: bool,
) -> pd.DataFrame:
    rows = found.everything.copy()
    rows.insert(0, "condition", condition)
    if not texts:
        return rows
    said = _words(
        frame[frame["condition"] == condition],
        dict(zip(rows["item_id"], rows["people"], strict=True)),
    )
    asked = [known.get(str(item), ("", "")) for item in rows["item_id"]]
    return rows.assign(
        question=[q for q, _ in asked],
        answer=[a for _, a in asked],
        judge_says=[said.get(item, "") for item in rows["item_id"]],
    )


def _words(own: pd.DataFrame, people: Mapping[Any, float]) -> dict[Any, str]:
    """By item the reason given with the judgment furthest from people's, else its reply."""
    own = own[own["item_id"].isin(set(people))].reset_index(drop=True)
    if own.empty:
        return {}
    value = own["score"].where(own["score"].notna(), own["choice"].map({"pass": 1.0, "fail": 0.0}))
    far = (value.astype(float) - own["item_id"].map(people).astype(float)).abs().fillna(-1.0)
    furthest = own.loc[far.groupby(own["item_id"], sort=False).idxmax()]
    told = [furthest[c].astype(object) for c in ("explanation", "raw_text") if c in own]
    return {
        item: next((str(w) for w in words if isinstance(w, str) and w), "")
        for item, *words in zip(furthest["item_id"], *told, strict=True)
    }
