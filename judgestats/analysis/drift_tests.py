"""What one condition shows from the first run to the second: mean, scores, scatter, verdicts."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.analysis.drift_runs import called
from judgestats.analysis.item_names import with_items
from judgestats.analysis.outcome import NamedResult
from judgestats.judgments.shapes import score_array
from judgestats.results import About
from judgestats.results.records import Role
from judgestats.stats import run_change, spread_test
from judgestats.stats.agreement.run_change import RunKind
from judgestats.stats.inference.permutation_summary import ENOUGH, permutations_needed
from judgestats.stats.inference.result import Result, TestResult

_RUNS = ("first run", "second run")
_ONCE = "neither run repeated its scores, so their scatter is not known"
SAME = "the same judgments in both runs: nothing has changed on these items"
"""The reason where nothing is tested: one run given twice, say, agrees with itself by design."""


_FEW_VALUES = 20
"""Scores of more distinct values are compared by mean and spread alone, not as verdicts."""


@dataclass(frozen=True, kw_only=True)
class _Aspect:
    """What may have changed between two runs: a column compared as numbers or as verdicts."""

    id: str
    title: str
    column: str
    kind: RunKind


_MEAN = _Aspect(id="shift", title="Shift of the mean score", column="score", kind="scores")


_SCORES = _Aspect(
    id="flips", title="Scores changed beyond repetition", column="score", kind="verdicts"
)


_VERDICTS = _Aspect(
    id="flips", title="Verdicts changed beyond repetition", column="choice", kind="verdicts"
)


def tests_of_pair(
    first: str,
    second: str,
    own: pd.DataFrame,
    rerun: pd.DataFrame | None,
    n_resamples: int,
    n_pairs: int,
    *,
    scored: bool,
    level: float,
    seed: int,
) -> list[NamedResult]:
    """The tests of one condition, and the ratio of its variances."""
    name, shown = called(first, second, joint=" "), called(first, second)
    labels = (f"first: {first}", f"second: {second}")
    aspects = [_VERDICTS]
    if scored:
        aspects = [_MEAN, *([_SCORES] if own["score"].nunique() <= _FEW_VALUES else [])]
    n_tests = n_pairs * (len(aspects) + scored)
    listed: list[tuple[str, str, Role, Result]] = []
    for aspect in aspects:
        change = _change(own, rerun, labels, aspect, n_resamples, n_tests, level=level, seed=seed)
        listed.append((aspect.id, aspect.title, "primary", change))
    if scored:
        array = score_array(own, conditions=labels[::-1])
        spread = with_items(
            spread_test(
                array.scores, conditions=_RUNS[::-1], cluster=array.clusters,
                reference=_RUNS[0], level=level, n_permutations=n_resamples, n_comparisons=n_tests,
                n_resamples=n_resamples, seed=seed,
            ), array.items,
        )  # fmt: skip
        blocked = spread.blocked_f
        if array.scores.shape[-1] < 2:
            blocked = replace(blocked, reason=_ONCE)
        ratios: list[tuple[str, str, Result | None]] = [
            ("distance", "Ratio of mean distances from the item's mean", spread.distance_ratios),
            ("ratio", "Ratio of within-item variances", spread.ratios),
        ]
        listed.append(("spread", "Spread of repeated scores", "primary", blocked))
        listed += [(kind, title, "secondary", r) for kind, title, r in ratios if r is not None]
    if _are_same(own, rerun, labels, aspects[-1].column):
        listed = [(kind, title, role, _not_tested(r)) for kind, title, role, r in listed]
    judges = set(own["judge"])
    about = About(
        judge=str(judges.pop()) if len(judges) == 1 else "",
        stratum=shown,
        conditions=labels,
        varied="run",
    )
    return [
        NamedResult(
            id=f"{kind}.{name}", title=f"{title} ({shown})", role=role, result=result, about=about,
            levels=dict(zip(_RUNS, labels, strict=True)),
        )
        for kind, title, role, result in listed
    ]  # fmt: skip


def _are_same(
    own: pd.DataFrame, rerun: pd.DataFrame | None, labels: tuple[str, str], column: str
) -> bool:
    """Whether both runs said the same of every item, in whatever order, and no re-run differs."""
    units = own.drop_duplicates(["item_id", "order"])
    rows = pd.MultiIndex.from_frame(units[["item_id", "order"]])
    runs = [own[own["condition"] == label] for label in labels]
    tables = [_table(run, rows, column) for run in (*runs, *([] if rerun is None else [rerun]))]
    said = [[sorted(map(str, row)) for row in table] for table in tables]
    read = any(value is not None for row in tables[0] for value in row)
    return read and all(one == said[0] for one in said[1:])


def _not_tested(result: Result) -> Result:
    """A test without p and size; what else stands beside it stays."""
    if not isinstance(result, TestResult):
        return result
    return replace(result, statistic=math.nan, p_value=math.nan, effects=(), reason=SAME)


def _change(
    own: pd.DataFrame,
    rerun: pd.DataFrame | None,
    labels: tuple[str, str],
    aspect: _Aspect,
    n_resamples: int,
    n_tests: int,
    *,
    level: float,
    seed: int,
) -> TestResult:
    """`run_change` of one aspect, with as many permutations as its family needs."""
    units = own.drop_duplicates(["item_id", "order"])
    rows = pd.MultiIndex.from_frame(units[["item_id", "order"]])
    cluster = units["cluster"].to_numpy(object)
    one, two = (_table(own[own["condition"] == label], rows, aspect.column) for label in labels)
    drawn = n_resamples
    while True:
        change = run_change(
            one, two, kind=aspect.kind, cluster=cluster if len(set(cluster)) < len(rows) else None,
            baseline=None if rerun is None else (one, _table(rerun, rows, aspect.column)),
            level=level, n_permutations=drawn, seed=seed,
        )  # fmt: skip
        # A p-value that many permutations reach is resolved; only small ones need more of them.
        most = max(drawn, permutations_needed(n_comparisons=n_tests))
        if rerun is not None or drawn == most or not change.p_value * (drawn + 1) <= ENOUGH:
            return change
        drawn = most


def _table(run: pd.DataFrame, rows: pd.MultiIndex, column: str) -> NDArray[np.object_]:
    """What one run said, (item, order) x replications; None where nothing was read."""
    read = run[run["status"] == "ok"]
    place = read.groupby(["item_id", "order"], sort=False).cumcount()
    table = read.assign(place=place).pivot(
        index=["item_id", "order"], columns="place", values=column
    )
    table = table.reindex(index=rows, columns=range(max(1, table.shape[1]))).astype(object)
    return table.where(table.notna(), None).to_numpy(object)
