"""Statistics of an audit as one flat list for programs."""

from __future__ import annotations

from typing import Any

import pandas as pd

from judgestats.results import Results
from judgestats.results.quantities import PUBLIC_NAMES
from judgestats.results.records import Estimate

_LEFT_OUT = ("people.always_same.", "verdicts.share of ")
"""What begins the ids of records whose quantity stands for another record."""


def statistics_of(results: Results, frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Every estimate of one condition: its quantity, coordinates, value and bounds.

    Parameters
    ----------
    results : Results
        Of an audit.
    frame : DataFrame
        The judgments that were audited.

    Returns
    -------
    list of dict
        ``name``, ``criterion``, ``judge``, ``system``, ``condition``, ``value``, ``low``, ``high``,
        ``n`` (items).
    """
    placed = {
        str(name): {
            "criterion": str(own["criterion"].iloc[0]) if "criterion" in own else "",
            "judge": str(own["judge"].iloc[0]),
        }
        for name, own in frame.groupby("condition", sort=False)
    }
    tested = _tested(frame)
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    for record in results.results:
        if not isinstance(record, Estimate) or len(record.about.conditions) != 1:
            continue
        if record.id.startswith(_LEFT_OUT) or record.about.slice:
            continue
        condition = record.about.conditions[0]
        name = "pass_rate" if record.estimand == "share" else record.estimand
        name = PUBLIC_NAMES.get(name, name)
        system = str(record.about.factors.get("system", ""))
        if record.id.startswith("wins."):
            name, system = "win_rate", record.label.removeprefix("Win rate of ")
            if system != tested.get(condition):
                continue
        row = {
            "name": name,
            "criterion": "",
            "judge": "",
            **placed.get(condition, {}),
            "system": system,
            "condition": condition,
            "value": record.estimate,
            "low": record.interval.low if record.interval else None,
            "high": record.interval.high if record.interval else None,
            "n": record.sample.n_items if record.sample else None,
        }
        found.setdefault((name, condition, system), row)
    return list(found.values())


def _tested(frame: pd.DataFrame) -> dict[str, str]:
    """The system under test of each condition, where pairs hold two systems."""
    side = f"system_{frame.attrs.get('tested', 'a')}"
    if side not in frame:
        return {}
    return {str(c): str(own[side].mode().iloc[0]) for c, own in frame.groupby("condition")}
