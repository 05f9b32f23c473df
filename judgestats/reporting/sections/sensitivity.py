"""How far results hang on single questions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from judgestats.analysis.rotations import Rotations
from judgestats.analysis.strata import Stratum, strata_of
from judgestats.judgments.shapes import score_array
from judgestats.reporting.runs import Run
from judgestats.reporting.sections.missing import (
    commonest_share,
    same_after_swap,
    same_as_people,
)
from judgestats.reporting.sections.selections import in_rotations
from judgestats.reporting.show import Markdown
from judgestats.reporting.tables import Column, Table
from judgestats.stats.agreement.grade_score_items import grade_score_items
from judgestats.stats.agreement.vote_share import pair_statistic
from judgestats.stats.layouts.cell_statistics import cell_statistics
from judgestats.stats.layouts.count_table import count_table
from judgestats.stats.reliability.intraclass import icc

__all__ = ["left_out", "left_out_estimates", "left_out_primary"]

_MOST_LEFT_OUT = 500
"""With more questions than this no single one can matter much."""


def left_out_estimates(run: Run) -> Table | Markdown:
    """Reliability, or what verdicts agree with, by condition, each question left out in turn."""
    frame = run.judgments
    if frame.empty or len(run.finals) < len(frame):
        return Markdown("")  # judged in stages: a row is a part of a verdict
    whole: dict[tuple[str, str], list[float]] = {}
    extreme: dict[tuple[str, str], str] = {}
    for condition, part in frame.groupby("condition", sort=False):
        for what, value in _estimators(part, run):
            codes, uniques = pd.factorize(part["cluster"].astype(str))
            names = [str(name) for name in uniques]
            if not 3 <= len(names) <= _MOST_LEFT_OUT:
                continue
            every, without = value(np.ones(len(part), dtype=bool)), []
            for code in range(len(names)):
                without.append(value(codes != code))
            values = np.array(without)
            if math.isnan(every) or np.isnan(values).all():
                continue
            key = (what, str(condition))
            whole[key] = [every, float(np.nanmin(values)), float(np.nanmax(values))]
            extreme[key] = names[int(np.nanargmax(np.abs(values - every)))]
    for condition, every, values, names in _credit_left_out(run):
        key = ("Agreement with people (1 / .5 / 0)", condition)
        whole[key] = [every, float(np.nanmin(values)), float(np.nanmax(values))]
        extreme[key] = names[int(np.nanargmax(np.abs(values - every)))]
    if not whole:
        return Markdown("")
    rows = [
        {
            "group": what, "condition": condition, "all": v[0], "low": v[1], "high": v[2],
            "question": extreme[what, condition] if v[1] < v[2] else None,
        }
        for (what, condition), v in sorted(whole.items(), key=lambda pair: pair[0][0])
    ]  # fmt: skip
    return _left_out_table(
        rows, of="condition", number="coefficient:3", caption="Estimates", name="estimates"
    )


def _left_out_table(
    rows: Sequence[Mapping[str, Any]],
    *,
    of: str,
    number: str,
    caption: str,
    name: str = "",
    question: str = "Question that matters most",
    further: Sequence[Column] = (),
) -> Table:
    """Something computed from all questions, and its extremes with each left out in turn.

    Parameters
    ----------
    rows : sequence of mapping
        ``all``, ``low``, ``high`` and ``question``, under the key `of`, perhaps in a ``group``.
    of : str
        What a row stands for.
    number : str
        The format of the three numbers.
    caption : str
        What is computed.
    name : str
        Behind the table's label, where there are several such tables.
    question : str
        What the question named is.
    further : sequence of Column
        Before the question.
    """
    return Table(
        columns=(
            Column(key=of, label=of.capitalize()),
            Column(key="all", label="All questions", format=number),
            Column(key="low", label="Lowest, one left out", format=number),
            Column(key="high", label="Highest, one left out", format=number),
            *further,
            Column(key="question", label=question),
        ),
        rows=tuple(rows),
        group="group" if any("group" in row for row in rows) else "",
        caption=f"{caption} with each question left out in turn.",
        label=f"tbl-left-out-{name}".rstrip("-"),
    )


def _credit_left_out(run: Run) -> Iterator[tuple[str, float, np.ndarray[Any, Any], list[str]]]:
    """Mean credit of each method over pairs: of all of them, and without each question."""
    arrays = run.arrays
    if not {"credit", "clusters", "conditions"} <= set(arrays):
        return
    credit = np.array([[math.nan if v is None else float(v) for v in r] for r in arrays["credit"]])
    clusters = np.array([str(c) for c in arrays["clusters"]])
    names = list(dict.fromkeys(clusters.tolist()))
    if not 3 <= len(names) <= _MOST_LEFT_OUT:
        return
    for j, condition in enumerate(arrays["conditions"]):
        known = ~np.isnan(credit[:, j])
        if len(set(clusters[known].tolist())) > 1:
            kept = [known & (clusters != name) for name in names]
            values = np.array([credit[rows, j].mean() for rows in kept])
            yield str(condition), float(credit[known, j].mean()), values, names


def _estimators(
    part: pd.DataFrame, run: Run
) -> list[tuple[str, Callable[[np.ndarray[Any, Any]], float]]]:
    """What can be estimated from a condition's judgments, as functions of the rows kept."""
    if "score" in part and part["score"].notna().any():
        array = part.pivot_table(
            index="item_id", columns="replicate", values="score", aggfunc="first", sort=False
        )
        if array.shape[1] < 2:
            return []
        values, row = (
            array.to_numpy(dtype=float),
            array.index.get_indexer(pd.Index(part["item_id"])),
        )

        def reliability(kept: np.ndarray[Any, Any]) -> float:
            shown = np.zeros(len(values), dtype=bool)
            shown[row[kept]] = True
            chosen = values[shown]
            return float(icc(chosen, form="ICC(1,1)", interval="none", n_permutations=0).estimate)

        return [("Reliability of one judgment, ICC(1,1)", reliability)]
    if "grade_score" in run.conditions and in_rotations(part):
        return [("Grade Score", _grade_score(part))]
    repeated = len(part) > part["item_id"].nunique()
    one_order = not part.duplicated(["item_id", "replicate"]).any()
    if "vote_share" in run.conditions and repeated and one_order:
        return [("Reliability of one verdict", _vote_share(part))]
    read = part["choice"].astype(str).ne("").to_numpy()
    found: list[tuple[str, Callable[[np.ndarray[Any, Any]], float]]] = []
    for what, statistic in (
        ("Same verdict as people", same_as_people),
        ("Same verdict after a swap", same_after_swap),
        ("Commonest verdict of an item, share", _repeated_share),
    ):
        if not math.isnan(statistic(part[read])):
            found.append((what, _of_kept(statistic, part, read)))
    return found


def _grade_score(part: pd.DataFrame) -> Callable[[np.ndarray[Any, Any]], float]:
    """Mean of the items' Grade Scores over the items of the rows kept."""
    found = Rotations(part)
    scores = grade_score_items(found.positions, n_options=found.n_options)
    complete = np.asarray(scores["complete"], dtype=bool)
    values, items = np.asarray(scores["grade_score"], dtype=float)[complete], found.items[complete]
    ids = part["item_id"].to_numpy()

    def mean(kept: np.ndarray[Any, Any]) -> float:
        chosen = np.isin(items, ids[kept])
        return float(values[chosen].mean()) if chosen.any() else math.nan

    return mean


def _vote_share(part: pd.DataFrame) -> Callable[[np.ndarray[Any, Any]], float]:
    """Reliability of one verdict (of letters, where they were shown) over the items kept."""
    column = "position" if "position" in part else "choice"
    wide = part.pivot(index="item_id", columns="replicate", values=column).fillna("")
    table = count_table(wide.to_numpy(object), where="left_out_estimates")
    ids = part["item_id"].to_numpy()

    def reliability(kept: np.ndarray[Any, Any]) -> float:
        chosen = table.counts[wide.index.isin(set(ids[kept]))]
        return float(pair_statistic("anova").value(chosen))

    return reliability


def _of_kept(
    statistic: Callable[[pd.DataFrame], float], part: pd.DataFrame, read: np.ndarray[Any, Any]
) -> Callable[[np.ndarray[Any, Any]], float]:
    return lambda kept: statistic(part[read & kept])


def _repeated_share(frame: pd.DataFrame) -> float:
    keys = ["item_id", "order"] if "order" in frame else ["item_id"]
    return (
        commonest_share(frame, keys)
        if len(frame) and frame.groupby(keys).size().max() > 1
        else math.nan
    )


def left_out(run: Run) -> Table | Markdown:
    """How far the within-item variance of each condition hangs on one question.

    The pooled variance is computed again with each question left out in turn; the extremes are
    shown. The arrays are those of the analysis, nothing is drawn at random.
    """
    arrays = run.arrays
    if "cell_variances" not in arrays:
        return Markdown("")
    variances = np.array(
        [[math.nan if v is None else float(v) for v in row] for row in arrays["cell_variances"]]
    )
    clusters = np.array([str(c) for c in arrays["clusters"]])
    if len(set(clusters.tolist())) < 3:
        return Markdown("With fewer than three questions none can be left out.")
    names, codes = np.unique(clusters, return_inverse=True)
    rows = []
    for j, condition in enumerate(arrays["conditions"]):
        column = variances[:, j]
        seen = np.isfinite(column)
        if not seen.any():
            continue
        values = np.where(seen, column, 0.0)
        without = seen.sum() - np.bincount(codes, weights=seen, minlength=len(names))
        rest = values.sum() - np.bincount(codes, weights=values, minlength=len(names))
        means = np.full(len(names), math.nan)
        np.divide(rest, without, out=means, where=without > 0)
        low, high = int(np.nanargmin(means)), int(np.nanargmax(means))
        rows.append(
            {
                "condition": str(condition),
                "all": float(column[seen].mean()),
                "low": float(means[low]),
                "high": float(means[high]),
                "question": str(names[low]) if means[low] < column[seen].mean() else None,
            }
        )
    return _left_out_table(
        rows, of="condition", number="number:3", caption="Within-item variance",
        question="Question that adds most",
    )  # fmt: skip


def left_out_primary(run: Run) -> Table | Markdown:
    """The primary blocked F tests of spread, with each question left out in turn.

    Here the p-value is that of the F distribution: what is shown is how much it moves, not a new
    result. The statistic of a cell is the mean distance of its scores from their mean.
    """
    frame = run.judgments
    if frame.empty:
        return Markdown("")
    rows = []
    for stratum in _primary_strata(run):
        array = score_array(frame, conditions=stratum.conditions)
        cells = cell_statistics(array.scores).from_mean
        whole = np.isfinite(cells).all(axis=1)
        y, owner = cells[whole], np.array([str(c) for c in array.clusters])[whole]
        questions = list(dict.fromkeys(owner.tolist()))
        if not 4 <= len(questions) <= _MOST_LEFT_OUT:
            continue
        every = _blocked_f(y)
        found = [_blocked_f(y[owner != q]) for q in questions]
        weakest = int(np.argmin([f for f, _ in found]))
        rows.append(
            {
                "test": stratum.name,
                "all": every[0],
                "low": found[weakest][0],
                "high": max(f for f, _ in found),
                "p": max(p for _, p in found),
                "question": str(questions[weakest]),
            }
        )
    if not rows:
        return Markdown("")
    return _left_out_table(
        rows, of="test", number="number:2", name="primary",
        caption="F of the primary test (p of the F distribution, to show how much it moves)",
        further=(Column(key="p", label="Largest p", format="p"),),
    )  # fmt: skip


def _primary_strata(run: Run) -> tuple[Stratum, ...]:
    """The conditions that each primary test of spread compares, by its name."""
    table = run.conditions
    tested = {r.id.partition(".")[2] for r in run.named("spread")}
    if "all" in tested:  # an audit compares all conditions at once
        names = tuple(str(c) for c in table["condition"])
        return (Stratum(name="all conditions", conditions=names, labels=names),)
    if "judge" not in table or "temperature" not in table:
        return ()
    factors = [str(c) for c in table.columns if str(c).startswith("factor_")]
    for vary in ("temperature", "judge", *factors):
        strata = strata_of(table, vary=vary)
        if strata and {s.name for s in strata} <= tested:
            return strata
    return ()


def _blocked_f(y: np.ndarray[Any, Any]) -> tuple[float, float]:
    """F of the conditions after removing the blocks, and its p by the F distribution."""
    n, k = y.shape
    centred = y - y.mean(axis=1, keepdims=True)
    between = n * float(np.sum(centred.mean(axis=0) ** 2)) / (k - 1)
    residual = float(np.sum((centred - centred.mean(axis=0)) ** 2)) / ((n - 1) * (k - 1))
    if residual <= 0:
        return (math.nan, math.nan)
    f = between / residual
    return (f, float(stats.f.sf(f, k - 1, (n - 1) * (k - 1))))
