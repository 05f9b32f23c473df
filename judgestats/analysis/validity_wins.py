"""Preferences between named systems, with labels: the win rates that people would give."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.asked_rows import asked_row
from judgestats.analysis.outcome import NamedResult
from judgestats.analysis.plan import AnalysisPlan
from judgestats.results import About, Row
from judgestats.results.numbers import apa_number
from judgestats.stats.inference.result import Comparisons, Estimate
from judgestats.stats.validity.systems import corrected_differences, corrected_win_rate

_MOST = 30
_LEAST = 20
_CREDIT = {"a": 1.0, "tie": 0.5, "b": 0.0}
_WORDS = {1.0: "win", 0.5: "tie", 0.0: "loss"}


def win_results(frame: pd.DataFrame, declared: AnalysisPlan) -> list[NamedResult]:
    """Corrected win rate of every pair of systems, and their differences adjusted by Holm.

    Parameters
    ----------
    frame : DataFrame
        The parsed judgments; ``system_a`` and ``system_b`` name the systems of each row, ``choice``
        and ``label`` say a, b or tie.
    declared : AnalysisPlan

    Returns
    -------
    list of NamedResult
        Empty where no systems are named or no pair of them has 20 labels.
    """
    drawn: Any = declared.options.get("labels_drawn") or None
    if not {"system_a", "system_b", "label"} <= set(frame) or drawn == "stratified":
        return []
    if "chance" in frame and drawn != "by-verdict":
        return []  # drawn with unequal chances: win rates are not weighted by them
    results = []
    for condition, own in frame.groupby("condition", sort=False):
        if not set(own["choice"]) | set(own["label"]) <= {*_CREDIT, ""}:
            continue
        about = About(conditions=(str(condition),))
        items = _by_item(own)
        results += [
            NamedResult(
                id=f"preferred.{first} over {second}.{condition}",
                title=f"How often people would prefer {first} to {second}, a tie half; judge "
                f"alone {apa_number(rate.details['judge'], bounded=True)} ({condition})",
                role="primary",
                result=rate,
                about=about,
                hypothesis="people",
            )
            for first, second, rate in _rates(items, drawn, declared.level)
        ]
        if results and drawn != "by-verdict" and (pairs := _compared(items, drawn, declared.level)):
            results.append(
                NamedResult(
                    id=f"systems.{condition}",
                    title=f"Systems as people would prefer them, wins less losses ({condition})",
                    role="secondary",
                    result=pairs,
                    headline=True,
                    about=about,
                )
            )
    return results


def win_rows(results: list[NamedResult]) -> tuple[Row, ...]:
    """The row of the screen, where there is one pair of systems."""
    pairs = dict.fromkeys(_pair(r) for r in results if r.id.startswith("preferred."))
    if len(pairs) != 1:
        return ()
    [pair] = pairs
    first, _, second = pair.partition(" over ")
    names = [r.about.conditions[0] for r in results if r.id.startswith(f"preferred.{pair}.")]
    return (
        asked_row(
            "wins", f"people would prefer {first}", "win rate", "win_rate",
            f"preferred.{pair}.{{}}", names, note=f"(to {second}, a tie half)",
        ),
    )  # fmt: skip


def _pair(named: NamedResult) -> str:
    return named.id.removeprefix("preferred.").removesuffix(f".{named.about.conditions[0]}")


def _by_item(own: pd.DataFrame) -> pd.DataFrame:
    """A row a judgment: its pair of systems, first by name, and what judge and people give it."""
    systems = own[["system_a", "system_b"]].astype(str)
    own = own[(systems != "").all(axis=1) & (systems["system_a"] != systems["system_b"])]
    a, b = (own[c].astype(str).to_numpy(object) for c in ("system_a", "system_b"))
    swapped = a > b
    credit = {
        name: np.where(swapped, 1 - own[c].map(_CREDIT), own[c].map(_CREDIT))
        for name, c in (("judge", "choice"), ("human", "label"))
    }
    return pd.DataFrame(
        {
            "item": own["item_id"].to_numpy(object),
            "cluster": own["cluster"].to_numpy(object),
            "first": np.where(swapped, b, a),
            "second": np.where(swapped, a, b),
            **credit,
        }
    )


def _rates(items: pd.DataFrame, drawn: Any, level: float) -> Iterator[tuple[str, str, Estimate]]:
    placed = items.assign(place=items.groupby("item").cumcount())
    for (first, second), rows in placed.groupby(["first", "second"], sort=False):
        human = _labels(rows)
        if int(human.notna().sum()) < _LEAST:
            continue
        judge = rows.pivot(index="item", columns="place", values="judge").reindex(human.index)
        clusters = rows.groupby("item", sort=False)["cluster"].first()
        rate = corrected_win_rate(
            judge.map(_WORDS.get).to_numpy(object),
            human.map(_WORDS.get).to_numpy(object),
            labels_drawn=drawn,
            level=level,
            cluster=clusters.to_numpy(object) if clusters.duplicated().any() else None,
        )
        yield str(first), str(second), rate.replace(label=f"People prefer {first} to {second}")


def _labels(rows: pd.DataFrame) -> pd.Series:
    """People's outcome of each item; where labels of one item differ evenly, a tie."""
    mean = rows.groupby("item", sort=False)["human"].mean()
    return mean.where(mean.isna() | (mean == 0.5), mean.round(0))


def _compared(items: pd.DataFrame, drawn: Any, level: float) -> Comparisons | None:
    """All pairs of systems in one family: a column a system, the credit of each item."""
    systems = list(dict.fromkeys([*items["first"], *items["second"]]))
    human = _labels(items)
    if not 2 <= len(systems) <= _MOST or int(human.notna().sum()) < _LEAST:
        return None
    once = items.drop_duplicates("item").set_index("item")
    judge = items.groupby("item", sort=False)["judge"].mean()
    tables = []
    for credit in (judge, human):
        wide = np.full((len(once), len(systems)), np.nan)
        for column, own in ((once["first"], credit), (once["second"], 1 - credit)):
            wide[np.arange(len(once)), [systems.index(s) for s in column]] = own
        tables.append(wide)
    clusters = once["cluster"]
    differences = corrected_differences(
        *tables, names=systems, kind="score", labels_drawn=drawn, level=level,
        cluster=clusters.to_numpy(object) if clusters.duplicated().any() else None,
    )  # fmt: skip
    details = {k: v for k, v in differences.details.items() if k != "win_rates"}
    kept = tuple(r for r in differences.rows if r.n)
    notes = tuple(n for n in differences.notes if n.code != "unread_left_out")  # the empty cells
    return replace(differences, rows=kept, notes=notes, details=details) if kept else None
