"""Recommendation: condition, number of repeats, and cost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.records import NamedResult
from judgestats.arrays import Floats
from judgestats.results.numbers import AVERAGED, TARGETS
from judgestats.results.records import plain
from judgestats.stats.comparison.best import comparisons_with_best
from judgestats.stats.inference.estimate import Estimate
from judgestats.stats.reliability.intraclass import replications_needed


@dataclass(frozen=True, kw_only=True)
class Costs:
    """What each condition spends: money, else tokens, else judgments.

    Attributes
    ----------
    amounts : tuple of float
    unit : str
        ``"USD"``, ``"tokens"`` or ``"judgments"``.
    """

    amounts: tuple[float, ...]
    unit: str

    @classmethod
    def from_rows(cls, rows: Sequence[Mapping[str, Any]], **columns: str) -> Costs:
        """The first of some columns that is known, and above 0, of every row.

        Parameters
        ----------
        rows : sequence of mapping
        **columns : str
            Unit to column, the preferred first; the last is taken in any case.

        Examples
        --------
        >>> rows = [{"usd": math.nan, "tokens": 290.0}, {"usd": math.nan, "tokens": 732.0}]
        >>> Costs.from_rows(rows, USD="usd", tokens="tokens").unit
        'tokens'
        """
        known_costs = [
            cls(amounts=tuple(float(row.get(column) or math.nan) for row in rows), unit=unit)
            for unit, column in columns.items()
        ]
        usable = (s for s in known_costs if all(math.isfinite(v) and v > 0 for v in s.amounts))
        return next(usable, known_costs[-1])

    def usd(self, i: int) -> float | None:
        """Money, where it is known."""
        return self.amounts[i] if self.unit == "USD" else None


def best_conditions(
    values: Mapping[str, Floats],
    clusters: Any,
    *,
    spent: Costs,
    margin: float,
    level: float,
    what: str,
) -> tuple[NamedResult, ...]:
    """Comparisons of conditions with the best one, with what each spends.

    Parameters
    ----------
    values : mapping of condition to ndarray
        One number per item; larger is better.
    clusters : sequence
    spent : Costs
        In the order of `values`.
    margin, level : float
    what : str
        What is compared: ``agreement with people``.

    Returns
    -------
    tuple of NamedResult
        Empty if there is nothing to choose from.
    """
    names, table = list(values), np.column_stack(list(values.values()))
    if len(names) < 2 or np.isfinite(table).all(axis=1).sum() < 2:
        return ()
    best = comparisons_with_best(
        table, conditions=names, cost=spent.amounts, margin=margin, cluster=clusters, level=level,
    )  # fmt: skip
    title, levels = f"Which may be the best in {what}", {name: name for name in names}
    return (NamedResult("best", title, "secondary", best, levels=levels),)


_Z = 1.959963984540054


def repeat_gains(conditions: pd.DataFrame, frame: pd.DataFrame) -> pd.DataFrame:
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
    >>> row = repeat_gains(table, pd.DataFrame()).iloc[0]
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
        rows.append(line | _mean_usage(row, frame))
    return pd.DataFrame(rows)


def repeats_needed(single: Estimate) -> Estimate:
    """How many judgments reach a reliability, by the reliability of one.

    Parameters
    ----------
    single : Estimate
        Single-judgment reliability.

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
    interval, target = single.interval, TARGETS[-1]
    refused = str(single.details.get("refused", ""))
    if interval is not None and not math.isnan(interval.low + interval.high):
        low, high = _needed(interval.high, target), _needed(interval.low, target)
        interval = replace(interval, low=low, high=high)
    return Estimate(
        name="k_needed",
        label=f"Judgments for a reliability of {target:g}",
        estimate=math.nan if refused else _needed(single.estimate, target),
        interval=None if math.isnan(single.estimate) else interval,
        sample=single.sample,
        reason=single.reason or refused,
    )


def _number(value: Any) -> float:
    number = plain(value)
    return float(number) if isinstance(number, (int, float)) else math.nan


def _needed(single: float, target: float) -> float:
    if not single > 0:
        return math.inf if single <= 0 else math.nan
    return replications_needed(single, target=target)


def _mean_usage(row: dict[Any, Any], frame: pd.DataFrame) -> dict[str, float]:
    """Mean tokens of a judgment, and judgments per item."""
    used = [c for c in ("item_id", "tokens_in", "tokens_out") if c in frame]
    mine = frame.loc[frame["condition"] == row["condition"], used] if len(frame) else frame
    tokens = math.nan
    if len(mine) and {"tokens_in", "tokens_out"} <= set(mine.columns):
        tokens = float((mine["tokens_in"] + mine["tokens_out"]).mean())
    return {
        "tokens": tokens if tokens > 0 else math.nan,
        "calls": len(mine) / mine["item_id"].nunique() if len(mine) else math.nan,
    }
