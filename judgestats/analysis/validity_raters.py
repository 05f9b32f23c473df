"""Several annotators, panels of judges, and draws of labels."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.analysis.agreement import item_means
from judgestats.analysis.families import AnalysisPlan, Hypothesis, shared_clusters
from judgestats.analysis.records import NamedResult
from judgestats.arrays import Bools, Floats, Objects
from judgestats.data.matrices import ScoreArray
from judgestats.errors import InputError
from judgestats.results import About
from judgestats.stats.agreement.kappa import fleiss_kappa
from judgestats.stats.inference.result import Estimate, Result
from judgestats.stats.validity.annotators import (
    AlternativeAnnotator,
    agreement_ceiling,
    alternative_annotator_test,
)
from judgestats.stats.validity.label_draws import LABELS_DRAWN, LabelsDrawn
from judgestats.stats.validity.panels import (
    Panel,
    panel_of_choices,
    panel_of_judges,
    panel_of_scores,
)

PERSON = "label_"
"""Prefix of a column that holds one rater's labels."""
_LEAST = 10
_MOST_PEOPLE = 50


def annotator_results(
    asked: pd.DataFrame, declared: AnalysisPlan, *, scores: bool
) -> list[tuple[str, str, Result]]:
    """Agreement among human raters and with the judge, and the alternative annotator test.

    Parameters
    ----------
    asked : DataFrame
        Judgments of one condition; columns ``label_NAME`` hold each rater's labels in the judge's
        words.
    declared : AnalysisPlan
    scores : bool
        Whether `score` holds the verdicts, else `choice`.

    Returns
    -------
    list of (str, str, Result)
        Empty where fewer than ten judged items have the labels of two human raters.
    """
    people = [str(c) for c in asked if str(c).startswith(PERSON)]
    if not 2 <= len(people) <= _MOST_PEOPLE:
        return []
    first = asked.drop_duplicates("item_id").set_index("item_id")
    labels = _labels(first[people], scores=scores)
    judge = _judge(asked, scores=scores).reindex(first.index)
    present = pd.notna(labels)
    enough = pd.notna(judge).to_numpy() & (present.sum(axis=1) >= 2)
    if int(enough.sum()) < _LEAST:
        return []
    clusters = first["cluster"].to_numpy(object)
    cluster = shared_clusters(clusters)
    values = judge.to_numpy(object)
    try:
        agreed = agreement_ceiling(
            values, labels, scores=scores, cluster=cluster, level=declared.level
        )
        replaced = alternative_annotator_test(
            values,
            labels,
            annotators=[c.removeprefix(PERSON) for c in people],
            scoring="neg_rmse" if scores else "accuracy",
            cluster=cluster,
            seed=declared.seed,
        )
    except InputError:  # labels that are not numbers
        return []
    judged = "apart" if scores else "with_one"
    beyond: list[tuple[str, str, Result]] = []
    if not scores:  # on the items of the others: judged, labelled by two
        kappa = fleiss_kappa(
            labels[enough], cluster=clusters[enough], level=declared.level, n_permutations=0
        ).replace(label="Fleiss' kappa of human raters")
        beyond = [("people.among_kappa", kappa.label, kappa)]
    return [
        (f"people.{judged}", agreed["judge"].label, agreed["judge"]),
        ("people.among_themselves", agreed["people"].label, agreed["people"]),
        ("people.gap", agreed["gap"].label, agreed["gap"]),
        *beyond,
        ("people.replaced", "May the judge replace an annotator?", replaced),
        *_replaces(replaced),
    ]


def _replaces(replaced: AlternativeAnnotator) -> list[tuple[str, str, Result]]:
    """Share of annotators that the judge may replace, with that of a constant judge."""
    constant = replaced.beside.get("the best constant label")
    return [
        (
            f"people.{kind}",
            label,
            Estimate(
                name="winning_rate", label=label, estimate=test.winning_rate, sample=test.sample,
                reason=test.reason,
            ),
        )
        for kind, label, test in (
            ("replaces", f"Alt-test winning rate (epsilon {replaced.epsilon:g})", replaced),
            ("constant_replaces", "Alt-test winning rate of a constant judge", constant),
        )
        if test is not None and not test.reason
    ]  # fmt: skip


def _labels(table: pd.DataFrame, *, scores: bool) -> NDArray[np.object_]:
    """Items x people, None where a person said nothing, in the words of the choices."""
    words = table.fillna("").astype(str).to_numpy(object).ravel()
    labels_text = pd.Series(words, dtype=object).str.strip()
    if not scores:
        labels_text = labels_text.str.lower()
    return labels_text.where(labels_text != "", None).to_numpy(object).reshape(table.shape)


def _judge(asked: pd.DataFrame, *, scores: bool) -> pd.Series:
    """The judge's mean score, or what it says most often (None where two things are)."""
    if scores:
        return asked.groupby("item_id", sort=False)["score"].mean()
    read = asked[asked["choice"] != ""]
    counts = pd.crosstab(read["item_id"], read["choice"].str.lower())
    if counts.empty:
        return pd.Series(dtype=object)
    top = counts.max(axis=1)
    most = pd.Series(counts.idxmax(axis=1), dtype=object)
    return most.where(counts.eq(top, axis=0).sum(axis=1) == 1, None)


PANEL = Hypothesis(
    id="panel",
    question="Is a panel of these conditions better than its best member?",
    test="majority (scores: mean, median) and weights learnt from labels against each member, with "
    "the interval of the best one. Weights are learnt on four fifths of the questions. Near copies "
    "and the effective number of judges are reported",
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
        ``choice`` and ``label`` with the same two values.
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
        return _option_panel(frame, values, names, declared)
    code = {words[0]: 0.0, words[1]: 1.0}
    value = frame["choice"].map(code).astype(float)
    share = value.groupby([frame["item_id"], frame["condition"]], sort=False).mean().unstack()
    share = share.reindex(columns=names).sort_index()  # folds follow the items, not their rows
    votes = np.where(share == 0.5, np.nan, np.where(share.isna(), share, share > 0.5))
    first = _once(frame).loc[share.index]
    human = first["label"].map(code).to_numpy(float)
    try:
        panel = panel_of_judges(
            votes, human, names=names, **_options(first["cluster"].to_numpy(object), declared)
        )
    except InputError:
        return []
    return _name_panel(panel, names)


def _once(frame: pd.DataFrame) -> pd.DataFrame:
    """A row per item, without a label where the conditions' labels differ."""
    labels = frame["label"].mask(frame["label"].eq("")).groupby(frame["item_id"]).nunique()
    first = frame.drop_duplicates("item_id").set_index("item_id")
    return first.assign(label=first["label"].mask(labels.reindex(first.index) > 1, ""))


def _option_panel(
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
    first = _once(frame).sort_index()
    return _choice_panel(
        votes.reindex(first.index), first["label"], first["cluster"], names, declared
    )


def panel_of_answers(
    array: ScoreArray, right: pd.Series, declared: AnalysisPlan
) -> list[NamedResult]:
    """A panel of conditions that score several answers to a question of which one is correct.

    Parameters
    ----------
    array : ScoreArray
        Clusters are the questions.
    right : Series
        Of each item whether it is the correct answer.
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
    label = pd.Series(means.index[true], index=question[true].to_numpy(), dtype=object).sort_index()
    votes = pd.DataFrame(index=label.index, columns=names, dtype=object)
    for name in names:
        highest = means[name].groupby(question).transform("max") == means[name]
        top = pd.Series(means.index[highest], index=question[highest].to_numpy(), dtype=object)
        votes[name] = top[~top.index.duplicated(keep=False)].reindex(label.index)
    return _choice_panel(votes, label, None, names, declared)


def _choice_panel(
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
    return _name_panel(panel, names)


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
    order = np.argsort(np.asarray(array.items, dtype=str))
    try:
        panel = panel_of_scores(
            item_means(array)[order], human[order], names=names,
            **_options(array.clusters[order], declared),
        )  # fmt: skip
    except InputError:
        return []
    return _name_panel(panel, names)


def _options(clusters: Any, declared: AnalysisPlan) -> dict[str, Any]:
    cluster = shared_clusters(clusters)
    return {"cluster": cluster, "level": declared.level, "seed": declared.seed}


def _name_panel(panel: Panel, names: list[str]) -> list[NamedResult]:
    """The panel, and what its plain rule gains over the best member."""
    rule, gain = next(iter(panel.against_best.items()))
    about = About(conditions=tuple(names))
    return [
        NamedResult(
            "panel.all", "Several judges as one panel", "secondary", panel, about=about
        ),
        NamedResult(
            PANEL_GAIN, f"A panel of all, by {rule}, less its best member", "secondary", gain,
            about=about,
        ),
    ]  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """How to weight the labels of one condition.

    Attributes
    ----------
    labels_drawn : str or None
        None where nobody says: the result then assumes random.
    chance : ndarray or None
        Known unequal chance of each labelled item.
    stratum : ndarray or None
        Of each item, for stratified labels or a stated mix.
    mix : mapping or None
        Stated share of each stratum in the traffic.
    """

    labels_drawn: LabelsDrawn | None
    chance: Floats | None = None
    stratum: Objects | None = None
    mix: Mapping[str, float] | None = None


def check_drawn(labels_drawn: str) -> str:
    """The name as it is, where it is one.

    Raises
    ------
    InputError
        It is not one of the known ways.

    Examples
    --------
    >>> check_drawn("by-verdict")
    'by-verdict'
    """
    if labels_drawn and labels_drawn not in LABELS_DRAWN:
        raise InputError(
            f"labels_drawn must be one of {', '.join(LABELS_DRAWN)}, got {labels_drawn[:40]!r}. "
            "Say how the labelled items were chosen."
        )
    return labels_drawn


def drawn_as(declared: AnalysisPlan) -> str:
    """How the labelled items were chosen, as it was stated; empty where it was not."""
    return str(declared.options.get("labels_drawn") or "")


def drawing(
    asked: pd.DataFrame, items: pd.Index, labelled: Bools, verdict: Floats,
    declared: AnalysisPlan,
) -> Drawing:  # fmt: skip
    """How one condition's labelled items were drawn.

    Parameters
    ----------
    asked : DataFrame
        Judgments of the condition; a column ``chance`` is what ``judgestats labels plan`` wrote.
    items : Index
        The items in the order of the arrays.
    labelled : ndarray of bool
    verdict : ndarray
        The judge's verdict or score on each item, NaN where there is none.
    declared : AnalysisPlan
        ``options["labels_drawn"]`` is what was stated.

    Returns
    -------
    Drawing

    Raises
    ------
    InputError
        Nothing shows the weights that the stated way needs.
    """
    stated = cast("LabelsDrawn | None", declared.options.get("labels_drawn") or None)
    if mix := read_mix(declared.options.get("mix", "")):
        return _mix_draw(asked, items, stated, mix)
    chance = _item_column(asked, "chance", items)
    names_listed = None
    if chance is not None:
        values = pd.to_numeric(chance, errors="coerce").to_numpy(float)
        names_listed = values if np.isfinite(values[labelled]).all() else None
    if (
        names_listed is not None
        and stated != "stratified"
        and np.ptp(names_listed[labelled]) <= 1e-9
    ):
        # Equal chances: drawn at random, unless what is stated goes beyond the chances.
        return Drawing(labels_drawn=stated or "random")
    if stated == "convenience":
        return Drawing(labels_drawn=stated)
    if names_listed is not None:
        by_verdict = not labelled.all() and _one_each(verdict[labelled], names_listed[labelled])
        if stated in {None, "by-verdict"} and by_verdict:
            return Drawing(labels_drawn="by-verdict")
        # Drawn by something else, as another judge's verdicts: the chances themselves weigh.
        return Drawing(labels_drawn="random", chance=names_listed)
    if stated == "stratified":
        stratum = _item_column(asked, "category", items)
        if stratum is None or stratum.fillna("").eq("").any():
            raise InputError(
                "labels_drawn='stratified' needs the category of every item, which is its stratum. "
                "Name the column by --map category=COLUMN (mapping={'category': COLUMN})."
            )
        return Drawing(labels_drawn=stated, stratum=stratum.to_numpy(object))
    if labelled.all():
        if stated == "by-verdict":
            raise InputError(
                "labels_drawn='by-verdict': every judged item is labelled, so the verdicts' shares "
                "among all items are not known. Give the judgments of all items and the labels by "
                "--labels FILE (labels=), or a column chance in that file."
            )
        return Drawing(labels_drawn=stated or "random")
    return Drawing(labels_drawn=stated)


def read_mix(text: str) -> dict[str, float]:
    """Shares of the categories in the traffic that a rate is for, e.g. ``chat=.8,code=.2``.

    Raises
    ------
    InputError
        A part is not a share.

    Examples
    --------
    >>> read_mix("chat=8, code=2")
    {'chat': 8.0, 'code': 2.0}
    """
    out: dict[str, float] = {}
    for part in filter(None, (p.strip() for p in text.split(","))):
        name, _, value = part.rpartition("=")
        try:
            share = float(value)
        except ValueError:
            share = -1.0
        if not name or not 0 <= share < math.inf:
            raise InputError(f"mix: expected CATEGORY=SHARE, got {part[:40]!r}.")
        out[name.strip()] = share
    if out and not sum(out.values()) > 0:
        raise InputError("mix: the shares are all 0. Give the traffic's shares.")
    return out


def _mix_draw(
    asked: pd.DataFrame, items: pd.Index, stated: LabelsDrawn | None, mix: Mapping[str, float]
) -> Drawing:
    """Rates for a stated mix of categories: corrected within each, weighted by its share."""
    stratum = _item_column(asked, "category", items)
    kinds = set() if stratum is None else set(stratum.fillna("").astype(str))
    if kinds != set(mix):
        raise InputError(
            f"mix names {', '.join(mix)}; the items' categories are "
            f"{', '.join(sorted(kinds)) or 'not known'}. Give a share of each (--map "
            "category=COLUMN names their column)."
        )
    if stated == "by-verdict" or "chance" in asked:
        raise InputError(
            "mix: labels drawn by verdict or with chances are not weighted to a mix. Draw labels "
            "at random within each category."
        )
    strata = np.asarray(stratum, dtype=object)
    return Drawing(labels_drawn=stated, stratum=strata, mix=mix)


def _item_column(asked: pd.DataFrame, column: str, items: pd.Index) -> pd.Series | None:
    if column not in asked:
        return None
    return asked.drop_duplicates("item_id").set_index("item_id")[column].reindex(items)


def _one_each(verdict: Floats, chance: Floats) -> bool:
    """Whether all labelled items of one verdict had one chance."""
    classes = np.where(np.isnan(verdict), -1.0, verdict)
    return all(np.ptp(chance[classes == v]) <= 1e-9 for v in np.unique(classes))
