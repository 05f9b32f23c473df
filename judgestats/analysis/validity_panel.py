"""Several judges as one panel, held to labels: is it better than its best member, at what price?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.outcome import NamedResult
from judgestats.analysis.plan import AnalysisPlan, Hypothesis
from judgestats.analysis.ratings import item_means
from judgestats.errors import InputError
from judgestats.judgments.shapes import ScoreArray
from judgestats.results import About
from judgestats.stats.validity.choice_panel import panel_of_choices
from judgestats.stats.validity.panels import Panel, panel_of_judges
from judgestats.stats.validity.score_panel import panel_of_scores

PANEL = Hypothesis(
    id="panel",
    role="secondary",
    question="Is a panel of these conditions better than its best member?",
    test="majority (scores: mean, median) and weights learnt from labels against the best member, "
    "weights and best member chosen on four fifths of the questions and judged on the fifth; near "
    "copies and the effective number of judges beside it",
    family="none: differences with intervals",
)
PANEL_GAIN = "panel.gain"
_MOST = 12
_MOST_OPTIONS = 26
_PAIRS = (("fail", "pass"), ("a", "b"))


def panel_of_verdicts(frame: pd.DataFrame, declared: AnalysisPlan) -> list[NamedResult]:
    """A panel of all conditions' majorities, on the labelled items.

    Parameters
    ----------
    frame : DataFrame
        ``choice`` and ``label`` in the same words, of two.
    declared : AnalysisPlan

    Returns
    -------
    list of NamedResult
        Empty where there is one condition, or too few labels.
    """
    names = [str(c) for c in frame["condition"].unique()]
    if "label" not in frame or not 2 <= len(names) <= _MOST:
        return []
    values = set(frame["label"]) - {"", "tie"}
    words = next((p for p in _PAIRS if values and values <= set(p)), None)
    if words is None:
        return _of_options(frame, values, names, declared)
    code = {words[0]: 0.0, words[1]: 1.0}
    value = frame["choice"].map(code).astype(float)
    share = value.groupby([frame["item_id"], frame["condition"]], sort=False).mean().unstack()
    share = share.reindex(columns=names)
    votes = np.where(share == 0.5, np.nan, np.where(share.isna(), share, share > 0.5))
    first = frame.drop_duplicates("item_id").set_index("item_id").loc[share.index]
    human = first["label"].map(code).to_numpy(float)
    try:
        panel = panel_of_judges(
            votes, human, names=names, **_options(first["cluster"].to_numpy(object), declared)
        )
    except InputError:
        return []
    return _named(panel, names)


def _of_options(
    frame: pd.DataFrame, ids: set[str], names: list[str], declared: AnalysisPlan
) -> list[NamedResult]:
    """A panel of choices among several: each condition's most frequent choice is its vote."""
    chosen = frame[frame["choice"] != ""]
    if not ids or len(ids) > _MOST_OPTIONS or not set(chosen["choice"]) & ids:
        return []
    counts = chosen.groupby(["item_id", "condition", "choice"], sort=False).size()
    most = counts.groupby(level=[0, 1], sort=False).transform("max") == counts
    top = counts[most].reset_index("choice")["choice"]
    votes = top[~top.index.duplicated(keep=False)].unstack().reindex(columns=names)
    first = frame.drop_duplicates("item_id").set_index("item_id")
    return _chosen(votes.reindex(first.index), first["label"], first["cluster"], names, declared)


def panel_of_answers(
    array: ScoreArray, right: pd.Series, declared: AnalysisPlan
) -> list[NamedResult]:
    """A panel of conditions that score several answers to a question of which one is right.

    Parameters
    ----------
    array : ScoreArray
        Clusters are the questions.
    right : Series
        Of each item whether it is the right answer.
    declared : AnalysisPlan

    Returns
    -------
    list of NamedResult
        Empty where there is one condition, or too few questions.
    """
    names = list(array.conditions)
    if not 2 <= len(names) <= _MOST:
        return []
    means = pd.DataFrame(item_means(array), columns=names, index=list(array.items))
    question = pd.Series(array.clusters, index=means.index, dtype=object)
    true = right.reindex(means.index).fillna(False).astype(bool)
    one = true.groupby(question).transform("sum") == 1
    means, question, true = means[one], question[one], true[one]
    label = pd.Series(means.index[true], index=question[true].to_numpy(), dtype=object)
    votes = pd.DataFrame(index=label.index, columns=names, dtype=object)
    for name in names:
        highest = means[name].groupby(question).transform("max") == means[name]
        top = pd.Series(means.index[highest], index=question[highest].to_numpy(), dtype=object)
        votes[name] = top[~top.index.duplicated(keep=False)].reindex(label.index)
    return _chosen(votes, label, None, names, declared)


def _chosen(
    votes: pd.DataFrame, label: pd.Series, cluster: pd.Series | None, names: list[str],
    declared: AnalysisPlan,
) -> list[NamedResult]:  # fmt: skip
    given: dict[str, Any] = {"cluster": None, "level": declared.level, "seed": declared.seed}
    if cluster is not None:
        given = _options(cluster.to_numpy(object), declared)
    try:
        panel = panel_of_choices(
            votes.astype(object).where(votes.notna(), None).to_numpy(object),
            label.to_numpy(object), names=names, **given,
        )  # fmt: skip
    except InputError:
        return []
    return _named(panel, names)


def panel_of_ratings(
    array: ScoreArray, ratings: pd.Series, declared: AnalysisPlan
) -> list[NamedResult]:
    """A panel of all conditions' mean scores, on the items that people scored.

    Parameters
    ----------
    array : ScoreArray
    ratings : Series
        By item.
    declared : AnalysisPlan

    Returns
    -------
    list of NamedResult
        Empty where there is one condition, or too few labels.
    """
    names = list(array.conditions)
    if not 2 <= len(names) <= _MOST:
        return []
    human = ratings.reindex(list(array.items)).to_numpy(float)
    try:
        panel = panel_of_scores(
            item_means(array), human, names=names, **_options(array.clusters, declared)
        )
    except InputError:
        return []
    return _named(panel, names)


def _options(clusters: Any, declared: AnalysisPlan) -> dict[str, Any]:
    several = len(set(clusters)) < len(clusters)
    return {
        "cluster": clusters if several else None, "level": declared.level, "seed": declared.seed,
    }  # fmt: skip


def _named(panel: Panel, names: list[str]) -> list[NamedResult]:
    """The panel, and what its plain rule gains over the best member."""
    rule, gain = next(iter(panel.against_best.items()))
    about = About(conditions=tuple(names))
    return [
        NamedResult(
            id="panel.all",
            title="Several judges as one panel",
            role="secondary",
            result=panel,
            headline=True,
            about=about,
        ),
        NamedResult(
            id=PANEL_GAIN,
            title=f"A panel of all, by {rule}, less its best member",
            role="secondary",
            result=gain,
            about=about,
        ),
    ]
