"""The items on which judge and people differ, with texts and the judge's words: a list to read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.analysis.outcome import Analysis, NamedResult
from judgestats.analysis.supplements import Rows
from judgestats.results.values import spreadsheet_cell
from judgestats.stats.inference.result import Result, Sample

DISAGREEMENTS = "tables/disagreements.csv"
_TOLD = 1000
_LISTED = 20


@dataclass(frozen=True, kw_only=True)
class Disagreements(Result):
    """The items on which a judge and people differ most.

    Attributes
    ----------
    rows : DataFrame
        ``item_id``, ``judge``, ``people``, ``gap``, the largest gap first; the first 20.
    everything : DataFrame
        All of them.
    n : int
        Items on which they differ.
    sample : Sample
    """

    rows: pd.DataFrame
    everything: pd.DataFrame
    n: int
    sample: Sample

    def tidy(self) -> pd.DataFrame:
        """One row per item."""
        return self.rows

    def sentence(self) -> str:
        """How many, and the first of them."""
        if not self.n:
            return f"Judge and people differ on no item ({self.sample})."
        named = ", ".join(str(v)[:40] for v in self.rows["item_id"].head(3))
        return (
            f"Judge and people differ on {self.n} of {self.sample.n_items} labelled items, most on "
            f"{named}: read these."
        )

    def __str__(self) -> str:
        return f"\n{self.sentence()}\n{self.rows.to_string(index=False)}\n"


def disagreements(
    items: Iterable[Any],
    judge: NDArray[Any],
    human: NDArray[Any],
    *,
    least: float,
    gap: NDArray[Any] | None = None,
) -> tuple[str, str, Result]:
    """Items on which judge and people differ by at least `least` (by anything where it is 0).

    Parameters
    ----------
    items : iterable
    judge, human : ndarray
        Scores, or shares of pass verdicts; NaN where there is none.
    least : float
    gap : ndarray, optional
        How far apart they are, where it is not the difference.

    Returns
    -------
    tuple of str, str, Result
        Identity, title and result.
    """
    frame = pd.DataFrame({"item_id": list(items), "judge": judge, "people": human})
    frame = frame.assign(gap=np.abs(np.asarray(judge) - human) if gap is None else gap).dropna()
    apart = frame[frame["gap"] > least] if least == 0 else frame[frame["gap"] >= least]
    return _found(apart, len(frame))


def verdict_disagreements(pairs: pd.DataFrame) -> tuple[str, str, Result]:
    """Items on which at least half of a judge's verdicts in words are not the label.

    Parameters
    ----------
    pairs : DataFrame
        Judgments with ``choice`` and ``label``; an item shown in both orders has several.

    Returns
    -------
    tuple of str, str, Result

    Examples
    --------
    >>> said = pd.DataFrame({"item_id": ["x", "y"], "choice": ["a", "a"], "label": ["a", "b"]})
    >>> print(verdict_disagreements(said)[2].sentence())
    Judge and people differ on 1 of 2 labelled items, most on y: read these.
    """
    read = pairs[pairs["choice"] != ""]
    read = read.assign(gap=(read["choice"] != read["label"]).astype(float))
    by_item = read.groupby("item_id", sort=False)
    frame = pd.DataFrame(
        {
            "judge": read.sort_values(["gap", "choice"], ascending=[False, True])
            .groupby("item_id")["choice"]
            .first(),
            "people": by_item["label"].first(),
            "gap": by_item["gap"].mean(),
        }
    )
    frame = frame.loc[list(by_item.groups)].rename_axis("item_id").reset_index()
    return _found(frame[frame["gap"] >= 0.5], len(frame))


def _found(apart: pd.DataFrame, of: int) -> tuple[str, str, Result]:
    # By name where the gap is the same: which item is shown must not hang on the order of rows.
    rows = apart.sort_values(["gap", "item_id"], ascending=[False, True]).reset_index(drop=True)
    disagreements = Disagreements(
        rows=rows.head(_LISTED), everything=rows, n=len(apart), sample=Sample(n_items=of)
    )
    return "people.disagreements", "Where judge and people differ most", disagreements


def with_disagreements(
    analysis: Analysis,
    frame: pd.DataFrame,
    texts_of_items: Mapping[str, tuple[str, str]],
    *,
    texts: bool,
) -> Analysis:
    """An analysis with all items on which judge and people differ: a record, and a file of the run.

    Parameters
    ----------
    analysis : Analysis
        Its results ``people.disagreements`` say which items.
    frame : DataFrame
        The parsed judgments: they hold the judge's words.
    texts_of_items : mapping of item to (question, answer)
        Empty where they are not known.
    texts : bool
        Whether texts are shown; without, the list names items, verdicts and gaps only.

    Returns
    -------
    Analysis
    """
    parts = [
        _listed(
            r.about.conditions[0], r.result, frame, texts_of_items if texts else {}, texts=texts
        )
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
    disagreements: Disagreements,
    frame: pd.DataFrame,
    texts_of_items: Mapping[str, tuple[str, str]],
    *,
    texts: bool,
) -> pd.DataFrame:
    rows = disagreements.everything.copy()
    rows.insert(0, "condition", condition)
    if not texts:
        return rows
    words = _words(
        frame[frame["condition"].eq(condition) & frame["item_id"].isin(list(rows["item_id"]))],
        dict(zip(rows["item_id"], rows["people"], strict=True)),
    )
    asked = [texts_of_items.get(str(item), ("", "")) for item in rows["item_id"]]
    return rows.assign(
        question=[q for q, _ in asked],
        answer=[a for _, a in asked],
        judge_says=[words.get(item, "") for item in rows["item_id"]],
    )


def _words(own: pd.DataFrame, people: Mapping[Any, Any]) -> dict[Any, str]:
    """By item the reason given with the judgment furthest from people's, else its reply."""
    own = own[own["item_id"].isin(list(people))].reset_index(drop=True)
    if own.empty:
        return {}
    human = own["item_id"].map(people)
    if pd.api.types.is_numeric_dtype(human):
        passed = own["choice"].map({"pass": 1.0, "fail": 0.0})
        far = (own["score"].where(own["score"].notna(), passed).astype(float) - human).abs()
        far = far.fillna(-1.0)
    else:
        far = (own["choice"] != human).astype(float).where(own["choice"] != "", -1.0)
    furthest = own.loc[far.groupby(own["item_id"], sort=False).idxmax()]
    parts = [furthest[c].astype(object) for c in ("explanation", "raw_text") if c in own]
    return {
        item: next((str(w) for w in words if isinstance(w, str) and w), "")
        for item, *words in zip(furthest["item_id"], *parts, strict=True)
    }
