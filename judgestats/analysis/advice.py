"""What a judge's reliability and noise allow: repeats for a target, differences told apart."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pandas as pd

from judgestats.results.conventions import AVERAGED, TARGETS
from judgestats.results.values import plain
from judgestats.stats.inference.result import Estimate
from judgestats.stats.reliability.step_up import replications_needed

_Z = 1.959963984540054


def what_repeats_give(conditions: pd.DataFrame, frame: pd.DataFrame) -> pd.DataFrame:
    """What repeats of each condition buy, and what a judgment takes.

    Parameters
    ----------
    conditions : DataFrame
        The table of conditions.
    frame : DataFrame
        The parsed judgments; their tokens are averaged.

    Returns
    -------
    DataFrame
        By condition: the reliability of a ``single`` judgment or verdict, the judgments ``needed``
        for `TARGETS` (inf: no number of them reaches it), the reliability of the mean and the
        smallest difference it tells apart for `AVERAGED`, the mean ``tokens`` and ``calls`` an
        item.

    Examples
    --------
    >>> table = pd.DataFrame({"condition": ["a"], "icc1": [0.5], "sem": [1.0]})
    >>> row = what_repeats_give(table, pd.DataFrame()).iloc[0]
    >>> print(int(row["needed_90"]), round(row["reliability_3"], 2), round(row["difference_1"], 2))
    9 0.75 2.77
    """
    name = next((c for c in ("icc1", "vote_share") if c in conditions), "")
    rows = []
    for row in conditions.to_dict("records"):
        single, sem = _number(row.get(name)), _number(row.get("sem"))
        line: dict[str, Any] = {"condition": str(row["condition"]), "single": single}
        for target in TARGETS:
            line[f"needed_{round(100 * target)}"] = _needed(single, target)
        for k in AVERAGED:
            is_known = single > 0
            line[f"reliability_{k}"] = k * single / (1 + (k - 1) * single) if is_known else math.nan
            line[f"difference_{k}"] = _Z * math.sqrt(2.0 / k) * sem
        rows.append(line | _taken(row, frame))
    return pd.DataFrame(rows)


def repeats_needed(single: Estimate, *, target: float = TARGETS[-1]) -> Estimate:
    """How many judgments reach a reliability, by the reliability of one.

    Parameters
    ----------
    single : Estimate
        Reliability of one judgment.
    target : float

    Returns
    -------
    Estimate
        The judgments; its interval holds those that the ends of the reliability's ask for, the
        larger number at its lower end, infinite where that reaches 0.

    Examples
    --------
    >>> from judgestats.stats.inference.result import Interval, Sample
    >>> one = Estimate(name="icc_1_1", label="", estimate=0.76, sample=Sample(n_items=30),
    ...                interval=Interval(low=0.64, high=0.86, level=0.95, method="F"))
    >>> needed = repeats_needed(one)
    >>> needed.estimate, needed.interval.low, needed.interval.high
    (3.0, 2.0, 6.0)
    """
    interval = single.interval
    if interval is not None and not math.isnan(interval.low + interval.high):
        low, high = _needed(interval.high, target), _needed(interval.low, target)
        interval = replace(interval, low=low, high=high)
    return Estimate(
        name="k_needed",
        label=f"Judgments for a reliability of {target:g}",
        estimate=_needed(single.estimate, target),
        interval=None if math.isnan(single.estimate) else interval,
        sample=single.sample,
        reason=single.reason,
    )


def _number(value: Any) -> float:
    number = plain(value)
    return float(number) if isinstance(number, (int, float)) else math.nan


def _needed(single: float, target: float) -> float:
    if not single > 0:
        return math.inf if single <= 0 else math.nan
    return float(max(1, math.ceil(float(replications_needed(single, target=target)) - 1e-9)))


def _taken(row: dict[Any, Any], frame: pd.DataFrame) -> dict[str, float]:
    """Mean tokens of a judgment, and judgments an item."""
    used = [c for c in ("item_id", "tokens_in", "tokens_out") if c in frame]
    mine = frame.loc[frame["condition"] == row["condition"], used] if len(frame) else frame
    tokens = math.nan
    if len(mine) and {"tokens_in", "tokens_out"} <= set(mine.columns):
        tokens = float((mine["tokens_in"] + mine["tokens_out"]).mean())
    return {
        "tokens": tokens if tokens > 0 else math.nan,
        "calls": len(mine) / mine["item_id"].nunique() if len(mine) else math.nan,
    }
