"""Beside whether a judge is right: how steady it is, where it was asked more than once."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from judgestats.analysis.asked_rows import asked_row
from judgestats.analysis.outcome import NamedResult
from judgestats.analysis.plan import AnalysisPlan
from judgestats.judgments.shapes import score_array
from judgestats.results import About, Row
from judgestats.results.estimands import name_of
from judgestats.stats.agreement.raw_agreement import flip_rate
from judgestats.stats.inference.result import Estimate
from judgestats.stats.spread.condition_summary import condition_summary


def steady_results(name: str, asked: pd.DataFrame, declared: AnalysisPlan) -> list[NamedResult]:
    """The SEM of repeated scores, or how often asking again changes the verdict.

    Parameters
    ----------
    name : str
        The condition.
    asked : DataFrame
        Its judgments; pass and fail have a ``choice``.
    declared : AnalysisPlan

    Returns
    -------
    list of NamedResult
        None where nothing was asked twice.
    """
    if asked["replicate"].nunique() < 2:
        return []
    if not set(asked["choice"]) - {""}:
        array = score_array(asked)
        described = condition_summary(
            array.scores, conditions=array.conditions, cluster=array.clusters, level=declared.level
        )
        return [_described(f"condition.sem.{name}", name_of("sem"), described[name].sem, name)]
    wide = asked.pivot(index="item_id", columns="replicate", values="choice")
    clusters = asked.drop_duplicates("item_id").set_index("item_id")["cluster"].loc[wide.index]
    changes = flip_rate(
        wide.to_numpy(object),
        cluster=clusters.to_numpy(object) if clusters.nunique() < len(wide) else None,
        level=declared.level,
        n_permutations=0,
        seed=declared.seed,
    )
    title = f"How often asking again changes the verdict ({name})"
    return [_described(f"reliability.flip_rate.{name}", title, changes, name)]


def _described(identity: str, title: str, result: Estimate, name: str) -> NamedResult:
    about = About(conditions=(name,))
    return NamedResult(id=identity, title=title, role="descriptive", result=result, about=about)


def steady_rows(results: Iterable[NamedResult]) -> tuple[Row, Row]:
    """The rows of these results on the screen and on page one."""
    ids = [r.id for r in results]

    def names(prefix: str) -> list[str]:
        return [i.removeprefix(prefix) for i in ids if i.startswith(prefix)]

    flips, sem = "reliability.flip_rate.", "condition.sem."
    return (
        asked_row(
            "flips", "asked again it changes", "changes", "flip_rate", f"{flips}{{}}",
            names(flips), note="(share of verdicts)",
        ),
        asked_row(
            "sem", name_of("sem"), "SEM", "sem", f"{sem}{{}}", names(sem),
        ),
    )  # fmt: skip
