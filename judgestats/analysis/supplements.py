"""Supplementary results of every analysis."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from judgestats.analysis import agreement
from judgestats.analysis import selections as places
from judgestats.analysis import sensitivity as unread_policies
from judgestats.analysis.recommendation import repeat_gains
from judgestats.analysis.records import Analysis, NamedResult
from judgestats.analysis.repeat_errors import frame_errors
from judgestats.analysis.repeat_limits import with_lost_shares
from judgestats.analysis.scores import clip_to_scale, on_one_scale, run_scales, scale_end_shares
from judgestats.analysis.sensitivity import left_out_estimates, left_out_primary, left_out_variances
from judgestats.data.readers.frame import bare
from judgestats.results.numbers import LEAST_IN_CATEGORY
from judgestats.stats.agreement.raw_agreement import mean_share
from judgestats.stats.inference.estimate import Result


def agreement_by_category(frame: pd.DataFrame, *, level: float = 0.95) -> pd.DataFrame:
    """Shares of verdicts that are people's, by condition and category, with intervals.

    Parameters
    ----------
    frame : DataFrame
        Parsed judgments; without labels or categories nothing is computed.
    level : float

    Returns
    -------
    DataFrame
        ``condition``, ``category``, ``n_items``, ``accuracy`` and its interval's ends.
    """
    if not {"label", "category"} <= set(frame.columns):
        return pd.DataFrame()
    labelled = frame[frame["label"].astype(str).ne("") & frame["choice"].astype(str).ne("")]
    labelled = labelled.assign(
        right=labelled["choice"].astype(str) == labelled["label"].astype(str)
    )
    rows: list[dict[str, Any]] = []
    for (condition, name), group in labelled.groupby(["condition", "category"], sort=True):
        by_item = group.groupby("item_id")["right"].mean()
        if not name or len(by_item) < LEAST_IN_CATEGORY:
            continue
        clusters = group.groupby("item_id")["cluster"].first().loc[by_item.index]
        share = mean_share(by_item.to_numpy(dtype=float), cluster=clusters.to_numpy(), level=level)
        low, high = (
            (share.interval.low, share.interval.high) if share.interval else (math.nan, math.nan)
        )
        rows.append(
            {
                "condition": str(condition), "category": str(name), "n_items": len(by_item),
                "accuracy": share.estimate, "accuracy_low": low, "accuracy_high": high,
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


@dataclass(frozen=True, kw_only=True)
class Rows(Result):
    """A table as a result."""

    table: pd.DataFrame

    def tidy(self) -> pd.DataFrame:
        """The table."""
        return self.table


def supplemented(
    analysis: Analysis,
    frame: pd.DataFrame,
    *,
    level: float,
    scale: tuple[float, float] | None = None,
) -> Analysis:
    """An analysis with what stands beside the answer of every run.

    Parameters
    ----------
    analysis : Analysis
    frame : DataFrame
        The parsed judgments that it is of.
    level : float
        Of intervals.
    scale : (float, float), optional
        Ends of the scale of the scores, where it is known.

    Returns
    -------
    Analysis
    """
    frame = bare(frame)
    analysis = with_lost_shares(analysis, frame, level=level)
    final = frame[frame["stage"].eq("final")] if "stage" in frame else frame
    analysis = frame_errors(analysis, final, run_scales(analysis.conditions, scale), level)
    analysis = clip_to_scale(analysis, scale)
    several = "stage" in frame and not frame["stage"].eq("final").all()
    verdicts = frame[frame["stage"] == "final"] if several else frame
    scored = on_one_scale(verdicts, analysis.conditions, scale)
    of_scores = "score" in frame and bool(verdicts["score"].notna().any())
    tables = {
        "sensitivity.primary": left_out_primary(analysis, frame),
        "sensitivity.estimates": left_out_estimates(analysis, frame),
        "sensitivity.variance": left_out_variances(analysis),
        "categories": agreement_by_category(frame, level=level),
        "repeats": repeat_gains(analysis.conditions, frame),
        "policies.scores": unread_policies.score_sensitivity(scored),
        "policies.verdicts": unread_policies.verdict_sensitivity(
            verdicts.iloc[:0] if of_scores else verdicts
        ),
        "scale_ends": scale_end_shares(scored, scale),
        "places.pairs": places.position_shares_pairs(verdicts),
        "places.selections": places.position_shares_selections(frame),
    }
    described = tuple(
        NamedResult(
            name, _TITLES[name], "descriptive", Rows(table=_sort_conditions(table, analysis))
        )
        for name, table in tables.items()
        if len(table)
    )
    by_name = {r.id for r in analysis.results}  # what an audit has claimed
    return replace(
        analysis,
        described=(
            *analysis.described,
            *described,
            *agreement.label_agreement_results(frame, level=level),
            *(r for r in agreement.verdict_results(frame, level=level) if r.id not in by_name),
            *agreement.inter_judge_agreement(frame, level=level),
        ),
    )


def _sort_conditions(table: pd.DataFrame, analysis: Analysis) -> pd.DataFrame:
    """Rows of conditions as the conditions stand: answers may come in any order."""
    if list(table.columns[:1]) != ["condition"]:
        return table
    order = {str(name): at for at, name in enumerate(analysis.conditions["condition"])}
    return table.sort_values(
        "condition", key=lambda names: names.map(order), kind="stable", ignore_index=True
    )


_TITLES = {
    "sensitivity.primary": "F of the primary test, each question left out in turn",
    "sensitivity.estimates": "Estimates, each question left out in turn",
    "sensitivity.variance": "Within-item variance, each question left out in turn",
    "repeats": "What repeats give, and what a judgment takes",
    "policies.scores": "Scores read, and items of which every judgment was read",
    "policies.verdicts": "Verdicts with unread ones left out, and as a category",
    "scale_ends": "Share of scores at an end of the scale",
    "places.pairs": "Which place was preferred, ties left out",
    "places.selections": "How often each place was selected",
    "categories": "Same verdict as the labels, by category",
}
