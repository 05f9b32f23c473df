"""Agreement with people in a stream: what the audit in memory says of the labelled judgments."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd

from judgestats.analysis.asked_rows import people_rows
from judgestats.analysis.audit import audit_read
from judgestats.analysis.outcome import Analysis

__all__ = ["with_labelled"]


def with_labelled(found: Analysis, labelled: pd.DataFrame, **choices: Any) -> Analysis:
    """The audit of a stream with the results on people of its labelled judgments.

    Parameters
    ----------
    found : Analysis
        Of the stream.
    labelled : DataFrame
        The judgments with a label, as `labelled_judgments` gives them.
    **choices
        As `audit` takes them.

    Returns
    -------
    Analysis
        Averages corrected by labels are not among them: they need every judgment.
    """
    own = audit_read(labelled, notes=labelled.attrs.get("notes", ()), **choices)
    people = tuple(r for r in own.results if r.id.startswith("people."))
    kinds = {r.id.split(".")[1] for r in people}
    told = [
        str(c)
        for c in own.conditions.columns
        if str(c).removesuffix("_low").removesuffix("_high") in kinds
    ]
    table = found.conditions.merge(
        own.conditions[["condition", *told]], on="condition", how="left", validate="one_to_one"
    )
    n, items = len(labelled), labelled["item_id"].nunique()
    said = (
        f"Agreement with people is that of the {n:,} judgments of {items:,} labelled items, which "
        "were read once more. Left out: averages corrected by the labels, which need all judgments."
    )
    metrics = {
        name: {
            **values,
            **{
                k: v
                for k, v in own.condition_metrics.get(name, {}).items()
                if k.removeprefix("ci/").startswith("people/")
            },
        }
        for name, values in found.condition_metrics.items()
    }
    return replace(
        found,
        conditions=table,
        results=(*found.results, *people),
        rows=(*found.rows, *people_rows(table["condition"])),
        limitations=(*found.limitations, said, *labelled.attrs.get("notes", ())),
        condition_metrics=metrics,
    )
