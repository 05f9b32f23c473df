"""Bias and variance together: squared error against people's scores, by condition and k."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.ratings import ratings_of
from judgestats.analysis.records import Analysis, NamedResult, condition_result
from judgestats.analysis.supplements import Rows
from judgestats.analysis.validity import designed_scores, marked_as_tuned
from judgestats.data.matrices import score_array
from judgestats.data.readers.labels import with_labels
from judgestats.errors import InputError
from judgestats.items.records import Item
from judgestats.protocols.base import Scale
from judgestats.stats.validity.scores import error_parts

_KS = (1, 3, 5, 10, 20)
_PARTS = ("mean_squared_error", "squared_bias", "between_items", "replicates")


@dataclass(frozen=True, kw_only=True)
class ErrorByK(Rows):
    """Squared error of every condition in its parts, by number of judgments averaged."""

    def sentence(self) -> str:
        """Each condition's error with one judgment in its parts, and with the most; the least.

        Examples
        --------
        >>> row = {"k": 1, "squared_bias": 0.1, "between_items": 1.0}
        >>> rows = [{**row, "condition": "a", "mean_squared_error": 2.1, "replicates": 1.0},
        ...         {**row, "condition": "a", "k": 5, "mean_squared_error": 1.3, "replicates": 0.2}]
        >>> ErrorByK(table=pd.DataFrame(rows)).sentence()
        'Squared error with one judgment: a 2.10 = bias² 0.10 + items 1.00 + replicates 1.00, 1.30 with 5.'
        """  # noqa: E501
        parts = []
        for name, own in self.table.groupby("condition", sort=False):
            one, most = own.iloc[0], own.iloc[-1]
            bias, items, noise = (_format_term(one[p]) for p in _PARTS[1:])
            text = (
                f"{name} {_format_term(one[_PARTS[0]])} = bias² {bias} + items {items} + "
                "replicates "
            )
            text += noise
            if most["k"] > one["k"]:
                text += f", {_format_term(most[_PARTS[0]])} with {most['k']}"
            parts.append(text)
        text = f"Squared error with one judgment: {'; '.join(parts)}."
        if len(parts) > 1:
            least = [
                own.loc[own[_PARTS[0]].idxmin(), "condition"]
                for k in (self.table["k"].min(), self.table["k"].max())
                if len(own := self.table[self.table["k"] == k])
            ]
            text += f" Least with one: {least[0]}; with most: {least[1]}."
        return text


def _format_term(value: float) -> str:
    """Two decimals: parts of a squared error have no bounds to shorten by."""
    return f"{value:.2f}"


def with_people_error(
    analysis: Analysis,
    frame: pd.DataFrame,
    items: Sequence[Item],
    *,
    people: str,
    scale: Scale,
    level: float,
) -> Analysis:
    """An analysis of scores with their squared error against people's, split into its parts.

    Does reasoning, or a lower temperature, buy less spread with more bias? The parts tell: squared
    bias, what is an item's own and stays, what changes when asked again (and falls with k).

    Parameters
    ----------
    analysis : Analysis
    frame : DataFrame
        The parsed judgments.
    items : sequence of Item
    people : str
        A table of people's scores; ``designed`` is the items' designed quality on the scale, which
        is nobody's score and called by its name; empty: nothing is held to people.
    scale : Scale
    level : float

    Returns
    -------
    Analysis
        As it was where no item has both, or none was scored twice.
    """
    if not people or not frame["score"].notna().any():
        return analysis
    scored = frame[frame["score"].notna() | frame["choice"].eq("")]
    try:
        ratings, labelled = _ratings(scored, items, people, scale)
    except InputError as error:  # the judgments are paid for: they are kept, and this is said
        return replace(analysis, limitations=(*analysis.limitations, f"people: {error}"))
    if ratings.empty:
        return analysis
    array = score_array(scored)
    human = ratings.reindex(list(array.items)).to_numpy(float)
    several = len(set(array.clusters)) < len(array.clusters)
    cluster = array.clusters if several else None
    against = "the designed quality" if people == "designed" else "people"
    results: list[NamedResult] = []
    rows: list[dict[str, Any]] = []
    metrics = {name: dict(values) for name, values in analysis.condition_metrics.items()}
    for name in array.conditions:
        scores = array.condition(name)
        if not np.any((np.isfinite(scores).sum(axis=1) >= 2) & np.isfinite(human)):
            continue
        for k in [k for k in _KS if k <= scores.shape[1]]:
            parts = error_parts(scores, human, k=k, cluster=cluster, level=level)
            row: dict[str, Any] = {"condition": name, "k": k}
            for part in _PARTS:
                row[part] = parts[part].estimate
                bounds = parts[part].interval
                if bounds is not None:
                    row[f"{part}_low"], row[f"{part}_high"] = bounds.low, bounds.high
            rows.append(row)
            if k == 1:
                results += [
                    condition_result(
                        f"error.{part}", f"{parts[part].label} against {against}", name,
                        parts[part], role="descriptive",
                    )
                    for part in _PARTS
                ]  # fmt: skip
                metrics.setdefault(name, {})["validity/mean_squared_error"] = row[_PARTS[0]]
    if not rows:
        return analysis
    title = f"Squared error against {against}: bias² + items + replicates / k"
    table = NamedResult("error.by_k", title, "descriptive", ErrorByK(table=pd.DataFrame(rows)))
    analysis = replace(
        analysis,
        described=(*analysis.described, *results, table),
        condition_metrics=metrics,
    )
    return marked_as_tuned(analysis, [labelled])


def _ratings(
    frame: pd.DataFrame, items: Sequence[Item], people: str, scale: Scale
) -> tuple[pd.Series, pd.DataFrame]:
    """People's scores by item, and the judgments with their labels."""
    if people != "designed":
        joined = with_labels(Path("what was judged"), frame, Path(people))
        ratings, words = ratings_of(joined)
        if ratings.empty and words:
            raise InputError(
                f"people: the labels of {people} are words; people's scores are numbers."
            )
        return ratings, joined
    return pd.Series(designed_scores(items, scale.low, scale.high), dtype=float), frame
