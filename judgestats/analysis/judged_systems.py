"""Systems as a judge scores them: each alone, and paired by question; points of rubrics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from judgestats.analysis.records import Analysis, NamedResult
from judgestats.analysis.summary_rows import results_row
from judgestats.arrays import Objects
from judgestats.results import About, Row
from judgestats.stats.agreement.raw_agreement import mean_share
from judgestats.stats.dispersion.condition_summary import condition_summary, mean_shift
from judgestats.stats.inference.estimate import Estimate

_MOST = 30
_SHOWN = 6
_LEAST = 5
"""Questions that two systems must share to be compared."""
_CODES = {"pass": 1.0, "fail": 0.0}
_MEAN, _PASS_RATE = "system.mean", "system.pass_rate"


def with_systems(analysis: Analysis, frame: pd.DataFrame, *, level: float = 0.95) -> Analysis:
    """An audit with what the judge says of each system, where several were judged.

    Parameters
    ----------
    analysis : Analysis
    frame : DataFrame
        The parsed judgments; ``author`` names the system, ``cluster`` the question that several
        systems answered, ``weight`` the points of a rubric's item.
    level : float
        Of the intervals.

    Returns
    -------
    Analysis
        With the mean or pass rate of each system, their differences paired by question and adjusted
        by Holm, and the score of rubrics.
    """
    results: list[NamedResult] = []
    rows: list[Row] = []
    names = set(analysis.conditions["condition"])
    for condition, own in frame.groupby("condition", sort=False):
        if condition not in names:
            continue
        about = About(conditions=(str(condition),))
        results += _rubric_scores(own, about, level)
        systems = [s for s in dict.fromkeys(own.get("author", pd.Series(dtype=str))) if s]
        if 2 <= len(systems) <= _MOST:
            results += _judged(own, systems, about, level)
    for key, ask in ((_MEAN, "Mean score"), (_PASS_RATE, "Pass rate")):
        found = [r for r in results if r.id.startswith(f"{key}.")]
        for system in list(dict.fromkeys(str(r.about.factors["system"]) for r in found))[:_SHOWN]:
            held = [r.about.conditions[0] for r in found if r.about.factors["system"] == system]
            estimand = "mean" if key == _MEAN else "share"
            row = results_row(
                f"{key}/{system}", f"{ask} of {system}", system, estimand,
                f"{key}.{system}.{{}}", held,
            )  # fmt: skip
            rows.append(row)
    rubrics = [r.about.conditions[0] for r in results if r.id.startswith("rubric_score.")]
    if rubrics:
        rows.append(
            results_row("rubric_score", "Rubric score", "Rubric", "rubric_score",
                        "rubric_score.{}", rubrics)
        )  # fmt: skip
    return replace(analysis, results=(*analysis.results, *results), rows=(*analysis.rows, *rows))


def _judged(
    own: pd.DataFrame, systems: Sequence[str], about: About, level: float
) -> Iterator[NamedResult]:
    """Each system of one condition, and the differences of all pairs."""
    condition = about.conditions[0]
    verdicts = not own["score"].notna().any()
    value = own["choice"].map(_CODES) if verdicts else own["score"]
    read = own.assign(value=value.astype(float)).dropna(subset=["value"])
    items = read.groupby(["author", "cluster", "item_id"], sort=False)["value"].mean().reset_index()
    for system, part in items.groupby("author", sort=False):
        key, heading = (_PASS_RATE, "Pass rate") if verdicts else (_MEAN, "Mean score")
        cluster = part["cluster"].to_numpy(object)
        if verdicts:
            shares = part["value"].to_numpy(float)
            estimate = mean_share(shares, cluster=cluster, level=level, name="share", label=heading)
        else:
            estimate = _mean(part["value"], cluster, level)
        yield NamedResult(
            id=f"{key}.{system}.{condition}",
            title=f"{heading} of {system} ({condition})",
            role="descriptive",
            result=estimate,
            about=replace(about, factors={"system": str(system)}),
        )
    table = items.pivot_table(index="cluster", columns="author", values="value", sort=False)
    known = [s for s in systems if s in table]
    table = table[known].dropna(thresh=2)
    if len(known) >= 2 and len(table) >= _LEAST:
        shifts = mean_shift(table.to_numpy(float)[:, :, None], conditions=known, level=level)
        yield NamedResult(
            id=f"systems_judged.{condition}",
            title=f"Differences of systems by the judge alone, paired by question ({condition})",
            role="descriptive",
            result=shifts,
            about=about,
        )


def _mean(values: pd.Series, cluster: Objects | None, level: float) -> Estimate:
    scores = values.to_numpy(float)[:, None, None]
    return condition_summary(scores, conditions=("",), cluster=cluster, level=level)[""].mean


def _rubric_scores(own: pd.DataFrame, about: About, level: float) -> Iterator[NamedResult]:
    """Points that answers earned, as a share of the positive points of their rubrics."""
    if "weight" not in own or not own["choice"].isin(_CODES).any():
        return
    read = own[own["choice"].isin(_CODES)]
    points = read["weight"].fillna(0.0)
    table = pd.DataFrame({
        "answer": read["cluster"],
        "met": points.where(read["choice"] == "pass", 0.0),
        "positive": points.clip(lower=0.0),
    }).groupby("answer", sort=False).sum()  # fmt: skip
    table = table[table["positive"] > 0]
    if len(table) < 2:
        return
    estimate = _mean(table["met"] / table["positive"], None, level)
    interval = estimate.interval
    if interval is not None:
        low, high = np.clip([interval.low, interval.high], 0, 1).tolist()
        interval = replace(interval, low=low, high=high)
    yield NamedResult(
        id=f"rubric_score.{about.conditions[0]}",
        title=f"Rubric score ({about.conditions[0]})",
        role="descriptive",
        result=estimate.replace(
            name="rubric_score",
            label="Rubric score",
            estimate=float(np.clip(estimate.estimate, 0, 1)),
            interval=interval,
        ),
        about=about,
    )
