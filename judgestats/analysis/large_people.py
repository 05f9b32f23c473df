"""People's labels in a stream: agreement of the labelled judgments, averages of all corrected."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.analysis.asked_rows import people_rows, true_rows
from judgestats.analysis.audit import audit_read
from judgestats.analysis.audit_plan import plan_for
from judgestats.analysis.outcome import Analysis, NamedResult
from judgestats.analysis.plan import AnalysisPlan
from judgestats.analysis.ratings import ratings_of, true_score_of
from judgestats.analysis.validity import (
    Found,
    labelled_scores,
    labelled_verdicts,
    people_verdicts,
    validity_metrics,
)
from judgestats.analysis.validity_warnings import label_warnings
from judgestats.analysis.verdict_table import estimates_of
from judgestats.errors import InputError
from judgestats.judgments.large.reduced import ReducedJudgments
from judgestats.judgments.words import FAIL, PASS
from judgestats.results import About


def with_labelled(
    analysis: Analysis,
    reduced: ReducedJudgments,
    labelled: pd.DataFrame,
    *,
    labels_drawn: str = "",
    **choices: Any,
) -> Analysis:
    """The audit of a stream with what its labelled judgments say, and averages corrected by them.

    Parameters
    ----------
    analysis : Analysis
        Of the stream.
    reduced : ReducedJudgments
        What was counted: the judge's verdicts on all items.
    labelled : DataFrame
        The judgments with a label, as `labelled_judgments` gives them.
    labels_drawn, **choices
        As `audit` takes them.

    Returns
    -------
    Analysis

    Raises
    ------
    InputError
        The labels were drawn within strata, which a stream does not keep.
    """
    if labels_drawn == "stratified":
        raise InputError(
            "labels_drawn='stratified' needs the category of every item, and so the judgments in "
            "memory. Use --stream no."
        )
    own = audit_read(labelled, notes=labelled.attrs.get("notes", ()), **choices)
    declared = plan_for(labelled, labels_drawn=labels_drawn, **choices)
    of_all = dict(_of_all_items(reduced, labelled, declared))
    people = _people(own, of_all)
    kinds = {r.id.split(".")[1] for r in people}
    columns = [
        str(c)
        for c in own.conditions.columns
        if str(c).removesuffix("_low").removesuffix("_high") in kinds
    ]
    table = analysis.conditions.merge(
        own.conditions[["condition", *columns]], on="condition", how="left", validate="one_to_one"
    )
    if not reduced.is_scores:
        table = _with_estimates(table, of_all)
    n, items = len(labelled), labelled["item_id"].nunique()
    text = (
        f"Agreement with people is that of the {n:,} judgments of {items:,} labelled items, which "
        "were read once more."
    )
    metrics = {
        name: {
            **values,
            **{
                k: v
                for k, v in own.condition_metrics.get(name, {}).items()
                if k.removeprefix("ci/").startswith("people/")
            },
            **validity_metrics(of_all.get(name, [])),
        }
        for name, values in analysis.condition_metrics.items()
    }
    names = table["condition"]
    return replace(
        analysis,
        conditions=table,
        results=(*analysis.results, *people),
        rows=(
            *analysis.rows,
            *people_rows(
                names,
                *true_rows(
                    names,
                    true_score_of(labelled) if reduced.is_scores else "poststratified",
                    labels_drawn=labels_drawn,
                ),
                labels_drawn=labels_drawn,
                repeats=labelled["replicate"].nunique(),
            ),
        ),
        limitations=(
            *analysis.limitations,
            text,
            *label_warnings(people),
            *labelled.attrs.get("notes", ()),
        ),
        condition_metrics=metrics,
    )


def _people(own: Analysis, of_all: dict[str, Found]) -> tuple[NamedResult, ...]:
    """The labelled judgments' results; where all items have a part in one, that of all items."""
    over = {
        f"{kind}.{name}": NamedResult(
            id=f"{kind}.{name}", title=f"{title} ({name})", role="primary", result=result,
            headline=True, about=About(conditions=(name,)),
        )
        for name, named in of_all.items()
        for kind, title, result in named
    }  # fmt: skip
    kept = [over.pop(r.id, r) for r in own.results if r.id.startswith("people.")]
    return (*kept, *over.values())


def _of_all_items(
    reduced: ReducedJudgments, labelled: pd.DataFrame, declared: AnalysisPlan
) -> Iterator[tuple[str, Found]]:
    """By condition: what the counts of all items say beside the labels of some."""
    passes = set(reduced.values) <= {PASS, FAIL}
    if not (reduced.is_scores or passes):
        return
    ratings, _ = ratings_of(labelled)
    worth = np.array([v if reduced.is_scores else v == PASS for v in reduced.values], dtype=float)
    names = np.asarray(reduced.items, dtype=object)
    for label, rows in labelled.groupby("condition", sort=False):
        places = [i for i, c in enumerate(reduced.columns) if c.label == label]
        counts = reduced.counts[:, places].sum(axis=1, dtype=np.int64)
        # A score that nobody could read has no mean; a verdict so is a class of its own.
        kept = counts.any(axis=1) if reduced.is_scores else (reduced.asked[:, places] > 0).any(1)
        cluster = reduced.cluster[kept]
        how: dict[str, Any] = {
            "cluster": cluster if np.unique(cluster).size < cluster.size else None
        }
        judge, items = _spread_out(counts[kept], worth), names[kept]
        if reduced.is_scores:
            human = ratings.reindex(list(items)).to_numpy(float)
            results = labelled_scores(judge, human, rows, declared, items=items, **how)
        else:
            index = pd.Index(items)
            human = people_verdicts(rows, index)
            results = labelled_verdicts(judge, human, rows, declared, items=index, **how)
        yield str(label), results


def _spread_out(counts: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Counts of each value as items x judgments, NaN behind the last of an item.

    Examples
    --------
    >>> _spread_out(np.array([[1, 2], [0, 1]]), np.array([7.0, 9.0])).tolist()
    [[7.0, 9.0, 9.0], [9.0, nan, nan]]
    """
    sizes = counts.sum(axis=1)
    out = np.full((len(counts), max(1, int(sizes.max(initial=1)))), np.nan)
    repeated = np.repeat(np.tile(values, len(counts)), counts.ravel())
    out[np.arange(out.shape[1]) < sizes[:, None]] = repeated
    return out


def _with_estimates(table: pd.DataFrame, of_all: dict[str, Found]) -> pd.DataFrame:
    """The table with the estimates of each condition in its columns, as the audit in memory has."""
    rows = []
    for line in table.to_dict("records"):
        row: dict[str, Any] = {str(k): v for k, v in line.items()}
        rows.append(row | estimates_of(of_all.get(str(row["condition"]), [])))
    return pd.DataFrame(rows)
