"""A change between two runs told apart by anchors: the judge's, and the system's."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from judgestats.analysis.outcome import Analysis, NamedResult
from judgestats.results import About, Claim, Headline
from judgestats.results.numbers import apa_estimate
from judgestats.stats.inference.result import Estimate
from judgestats.stats.validity.anchors import anchored_change

__all__ = ["with_split"]

_TITLES = {
    "total": "Total change between the runs",
    "judge": "Change of the judge, on unchanged answers",
    "system": "Change of the system, as today's judge sees it",
}
_PASS = {"pass": 1.0, "yes": 1.0, "correct": 1.0, "fail": 0.0, "no": 0.0, "incorrect": 0.0}


def with_split(
    found: Analysis,
    before: pd.DataFrame,
    anchors: pd.DataFrame,
    after: pd.DataFrame,
    pairs: Mapping[str, str],
    *,
    level: float,
) -> Analysis:
    """The comparison of the anchors with the total change split into its two parts.

    Parameters
    ----------
    found : Analysis
        Of the first run and the anchors.
    before, anchors, after : DataFrame
    pairs : mapping of condition to condition
        Of the first run to the second.
    level : float

    Returns
    -------
    Analysis
    """
    results: list[NamedResult] = []
    headlines: list[Headline] = []
    told = []
    for first, second in pairs.items():
        old, new = _by_item(before, first), _by_item(after, second)
        again = _by_item(anchors, first if first in set(anchors["condition"]) else second)
        if old.empty or new.empty:
            continue
        parts = anchored_change(
            old["value"].to_numpy(float),
            again["value"].reindex(old.index).to_numpy(float),
            new["value"].to_numpy(float),
            cluster_before=old["cluster"].to_numpy(object),
            cluster_after=new["cluster"].to_numpy(object),
            level=level,
        )
        name = first if first == second else f"{first} -> {second}"
        for key, estimate in parts.items():
            about = About(stratum=name, conditions=(first, second), varied="run")
            named = NamedResult(
                id=f"anchored.{key}.{name}",
                title=f"{_TITLES[key]} ({name})",
                role="primary",
                result=estimate,
                headline=True,
                about=about,
            )
            claim: Claim = "undefined" if math.isnan(estimate.estimate) else "described"
            results.append(named)
            headlines.append(
                Headline(
                    id=f"headline.{named.id}",
                    hypothesis="anchored",
                    claim=claim,
                    about=about,
                    estimand=estimate.name,
                    rests_on=(named.id,),
                    reason=estimate.reason,
                )
            )
        told.append(_told(name, parts))
    note = (
        "The anchors are taken as drawn at random among the first run's answers; others speak for "
        "themselves alone. A change of the people whose labels a judge follows is not seen."
    )
    return replace(
        found,
        sentence=" ".join([found.sentence, *told]),
        results=(*results, *found.results),
        headlines=(*headlines, *found.headlines),
        limitations=(note, *found.limitations),
    )


def _by_item(frame: pd.DataFrame, condition: str) -> pd.DataFrame:
    """Mean score, or share of passes, of each item with its cluster."""
    own = frame[frame["condition"] == condition]
    value = own["score"]
    if not value.notna().any():
        value = own["choice"].astype(str).str.lower().map(_PASS)
    table = own.assign(value=value.astype(float)).groupby("item_id", sort=False)
    return table.agg(value=("value", "mean"), cluster=("cluster", "first")).dropna(subset="value")


def _told(name: str, parts: Mapping[str, Estimate]) -> str:
    shown = {k: apa_estimate(e.estimate, e.interval) for k, e in parts.items()}
    if np.isnan(parts["judge"].estimate):
        return f"{name}: changed by {shown['total']}; {parts['judge'].reason}."
    return (
        f"{name}: of the total change of {shown['total']}, {shown['judge']} is the judge's (on "
        f"unchanged answers) and {shown['system']} the system's as today's judge sees it."
    )
