"""An audit's table of verdicts: a row a condition, its metrics, and the sentence over all rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from judgestats.analysis.single_shot_verdicts import SHARE_OF
from judgestats.analysis.worded_numbers import worded_coefficient
from judgestats.protocols.base import NO_REPLY, Status
from judgestats.stats.inference.result import Estimate, Result

_NOT_UNREAD = (*(s.value for s in NO_REPLY), Status.NOT_APPLICABLE.value)
"""Statuses of judgments without a verdict that are no unread replies."""


def verdict_row(
    name: str, asked: pd.DataFrame, counts: pd.Series, results: list[tuple[str, str, Result]]
) -> dict[str, Any]:
    """What was counted and estimated in one condition, as a row."""
    row: dict[str, Any] = {
        "condition": name,
        "judge": str(asked["judge"].iloc[0]),
        "temperature": float(asked["temperature"].iloc[0]),
        "n": int(counts["n"]),
        "n_items": int(asked["item_id"].nunique()),
        "n_clusters": int(asked["cluster"].nunique()),
        "n_ok": int(asked["status"].eq("ok").sum()),
        **{f"n_{s}": int(counts[s]) for s in _NOT_UNREAD if s in counts},
        "unread_share": float(counts["unread_share"]),
        "unanswered_share": float(counts["unanswered_share"]),
    }
    return row | estimates_of(results)


def estimates_of(results: Sequence[tuple[str, str, Result]]) -> dict[str, float]:
    """The estimates among some results with their intervals, as columns of a row."""
    row: dict[str, float] = {}
    for kind, _, result in results:
        if isinstance(result, Estimate):
            key = kind.split(".", 1)[1]
            # `corrected` is a Grade Score corrected for chance in such tables.
            key = "true_score" if key == "corrected" else key
            row[key] = result.estimate
            if result.interval is not None:
                row[f"{key}_low"], row[f"{key}_high"] = result.interval.low, result.interval.high
    return row


_METRIC_OF = {
    "fleiss_kappa": "agreement/fleiss_kappa",
    "ac1": "agreement/ac1",
    "vote_share": "reliability/vote_share",
    "flip_rate": "agreement/flip_rate",
    "swap_consistency": "order/swap_consistency",
    "alignment": "people/alignment",
    "accuracy": "people/accuracy",
    "pass_rate": "verdicts/pass_rate",
    "sensitivity": "people/sensitivity",
    "specificity": "people/specificity",
    "unread_share": "quality/unread_share",
    "unanswered_share": "quality/unanswered_share",
}


def verdict_metrics(row: Mapping[str, Any]) -> dict[str, float]:
    """A row of the table of conditions under the names that the MLflow UI shows."""
    out: dict[str, float] = {}
    for column, metric in _METRIC_OF.items():
        if column in row:
            out[metric] = row[column]
            if f"{column}_low" in row:
                out[f"ci/{metric}.lo"] = row[f"{column}_low"]
                out[f"ci/{metric}.hi"] = row[f"{column}_high"]
    return out


_SAID = (
    ("fleiss_kappa", "kappa of repetitions"),
    ("swap_consistency", "swap consistency"),
    ("alignment", "agreement with people"),
    ("accuracy", "same verdict as the labels"),
)
_SAID_OF_PASSES = (
    ("pass_rate", "pass rate"),
    ("flip_rate", "flip rate"),
    ("vote_share", "reliability of one verdict"),
    ("sensitivity", "sensitivity"),
    ("specificity", "specificity"),
)


def verdict_sentence(table: pd.DataFrame) -> str:
    """What was found, a clause a condition."""
    parts = []
    for row in table.to_dict("records"):
        sentences = [
            f"{key} {worded_coefficient(row, str(key))}"
            for key in row
            if str(key).startswith(SHARE_OF)
            and not str(key).endswith(("_low", "_high"))
            and not math.isnan(row[key])
        ]
        sentences += [
            f"{label} {worded_coefficient(row, key)}"
            for key, label in (_SAID_OF_PASSES if "pass_rate" in row else _SAID)
            if key in row
            and not math.isnan(row[key])
            and (key != "accuracy" or math.isnan(row.get("alignment", math.nan)))
        ]
        parts.append(f"{row['condition']}: {', '.join(sentences) or 'nothing could be estimated'}")
    return f"{'; '.join(parts)}."
