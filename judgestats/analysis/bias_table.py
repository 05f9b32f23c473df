"""The conditions of the bias experiment, described: verdicts by order, scores by scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from judgestats.analysis.bias_probes import Probed, Things, author_of_judge, in_points
from judgestats.analysis.outcome import NamedResult
from judgestats.analysis.pair_methods import JudgedPairs
from judgestats.analysis.plan import AnalysisPlan
from judgestats.analysis.scores import score_conditions
from judgestats.analysis.selections import add_estimate, condition_row, metrics_of
from judgestats.items.schema import Item
from judgestats.judgments.shapes import ScoreArray, score_array
from judgestats.protocols.scale import Scale
from judgestats.stats.agreement.position_preference import first_position_preference
from judgestats.stats.agreement.swap import swap_consistency
from judgestats.stats.spread.mean_shift import mean_shift

__all__ = ["BiasTable", "bias_table", "own_authors"]

_METRICS = {
    "swap_consistency": "order/swap_consistency",
    "first_place": "order/first_place_share",
    "padding_shift": "bias/padding_points",
}


@dataclass(frozen=True, kw_only=True)
class BiasTable:
    """One row a condition, the reliabilities behind it, metrics, and the scores as an array."""

    table: pd.DataFrame
    results: tuple[NamedResult, ...]
    metrics: Mapping[str, Mapping[str, float]]
    array: ScoreArray | None


def own_authors(
    frame: pd.DataFrame, items: Sequence[Item], declared: Mapping[str, str]
) -> dict[str, str]:
    """Each judge's own author: as declared, else the author that bears its model's name."""
    by_name = {label_of.author for item in items for label_of in item.responses}
    authors = sorted(a for a in by_name if a and not a.endswith("+padded"))
    by_judge = {}
    for judge in dict.fromkeys(str(j) for j in frame["judge"]):
        author = declared.get(judge) or author_of_judge(judge, authors)
        if author in authors:
            by_judge[judge] = author
    return by_judge


def bias_table(
    frame: pd.DataFrame,
    probed: Sequence[Probed],
    things: Things,
    pairs: JudgedPairs,
    declared: AnalysisPlan,
) -> BiasTable:
    """Describe every condition; scores in points of a 1-10 scale, whatever was asked for.

    Parameters
    ----------
    frame : DataFrame
        The parsed judgments.
    probed : sequence of Probed
    things : Things
    pairs : JudgedPairs
    declared : AnalysisPlan

    Returns
    -------
    BiasTable
    """
    scored = _in_points(frame, things)
    rows: dict[str, dict[str, Any]] = {}
    results: tuple[NamedResult, ...] = ()
    metrics: dict[str, dict[str, float]] = {}
    array = score_array(scored) if len(scored) else None
    if array is not None:
        described = score_conditions(
            scored, array, level=declared.level, n_permutations=declared.n_resamples,
            seed=declared.seed, omega_model=declared.options.get("omega_model", "parallel"),
        )  # fmt: skip
        results = described.results
        metrics = {k: dict(v) for k, v in described.metrics.items()}
        rows = {
            str(r["condition"]): {str(k): v for k, v in r.items()}
            for r in described.table.to_dict("records")
        }
    common: dict[str, Any] = {"level": declared.level}
    for p in probed:
        for probe, condition in p.conditions.items():
            asked = frame[frame["condition"] == condition]
            row: dict[str, Any] = {**rows.get(condition, {}), **condition_row(condition, asked)}
            if probe == "pairs" and p.comparing is not None:
                c = p.comparing
                row["n_items"] = len(pairs.names)
                place = {**common, "cluster": pairs.table.clusters}
                add_estimate(row, "swap_consistency", swap_consistency(c.ab, c.ba, **place))
                lean = first_position_preference(c.ab, c.ba, **place)
                add_estimate(row, "first_place", lean.effects[1])
            elif probe in p.scores:
                row["n_items"] = len(things.original)
                row["scale"] = probe.removeprefix("scale ")
                if things.twins:
                    moved = mean_shift(
                        p.padded[probe],
                        cluster=things.clusters([t[0] for t in things.twins]),
                        **common,
                    ).rows[0]
                    row["padding_shift"] = moved.estimate
                    if moved.interval is not None:
                        row["padding_shift_low"] = moved.interval.low
                        row["padding_shift_high"] = moved.interval.high
            rows[condition] = row
            metrics[condition] = {**metrics.get(condition, {}), **metrics_of(row, _METRICS)}
    ordered = [rows[str(c)] for c in dict.fromkeys(frame["condition"])]
    return BiasTable(table=pd.DataFrame(ordered), results=results, metrics=metrics, array=array)


def _in_points(frame: pd.DataFrame, things: Things) -> pd.DataFrame:
    """The scores of the answers without padding, in points of one scale."""
    probe = frame["factor_probe"].astype(str)
    scored = frame[probe.str.startswith("scale ") & frame["item_id"].isin(things.original)]
    parts = [
        part.assign(
            score=in_points(
                part["score"].to_numpy(float), Scale.parse(str(name).removeprefix("scale "))
            )
        )
        for name, part in scored.groupby("factor_probe", sort=False)
    ]
    return pd.concat(parts).loc[scored.index] if parts else scored
