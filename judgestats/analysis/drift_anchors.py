"""A change between two runs told apart by anchors (the judge's, the system's) and by labels."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.analysis.asked_rows import asked_row
from judgestats.analysis.drift_runs import called
from judgestats.analysis.outcome import Analysis, NamedResult
from judgestats.analysis.verdict_words import outcomes
from judgestats.results import About, Claim, Headline, Row
from judgestats.results.numbers import apa_estimate
from judgestats.stats.inference.result import Estimate
from judgestats.stats.validity.anchors import anchored_change
from judgestats.stats.validity.paired_shares import paired_share_difference

_TITLES = {
    "total": "Total change between the runs",
    "judge": "Change of the judge, on unchanged answers",
    "system": "Change of the system, as today's judge sees it",
    "people": "Change of people's labels, on unchanged answers",
    "accuracy": "Change of agreement with people, on unchanged answers",
    "distance": "Change of the distance from people, on unchanged answers",
    "sensitivity": "Change of sensitivity, on unchanged answers",
    "specificity": "Change of specificity, on unchanged answers",
}
_ASKED = {
    "total": ("changed by", "changed"),
    "judge": ("of that the judge", "judge"),
    "system": ("of that the system", "system"),
    "people": ("people's labels changed by", "people"),
    "accuracy": ("agreement with people changed by", "agreement"),
    "distance": ("distance from people changed by", "distance"),
    "sensitivity": ("sensitivity changed by", "sensitivity"),
    "specificity": ("specificity changed by", "specificity"),
}
_LEAST = 5
"""Anchors of one label that a change of sensitivity or specificity needs."""
_PASS = {"pass": 1.0, "yes": 1.0, "correct": 1.0, "fail": 0.0, "no": 0.0, "incorrect": 0.0}


def with_split(
    analysis: Analysis,
    before: pd.DataFrame,
    anchors: pd.DataFrame,
    after: pd.DataFrame,
    pairs: Mapping[str, str],
    *,
    level: float,
) -> Analysis:
    """The comparison of the anchors with the total change split into its two parts.

    Parameters
    ----------
    analysis : Analysis
        Of the first run and the anchors.
    before, anchors, after : DataFrame
    pairs : mapping of condition to condition
        Of the first run to the second.
    level : float

    Returns
    -------
    Analysis
    """
    split: dict[str, Mapping[str, Estimate]] = {}
    about: dict[str, About] = {}
    for first, second in pairs.items():
        old, new = _by_item(before, first), _by_item(after, second)
        again = _by_item(anchors, first if first in set(anchors["condition"]) else second)
        if old.empty or new.empty:
            continue
        parts = anchored_change(
            old["value"].to_numpy(float),
            again["value"].reindex(old.index).to_numpy(float),
            new["value"].to_numpy(float),
            cluster_before=old["cluster"].to_numpy(object),
            cluster_after=new["cluster"].to_numpy(object),
            level=level,
        )
        name = called(first, second, joint=" ")
        split[name] = parts | _people(before, anchors, first, old, again, level=level)
        about[name] = About(stratum=called(first, second), conditions=(first, second), varied="run")
    note = (
        "The anchors are taken as drawn at random among the first run's answers; others speak for "
        "themselves alone."
    )
    if not any("people" in parts for parts in split.values()):
        note += " A change of people is not seen: give the anchors' labels of then and of today."
    return _led(analysis, split, about, note)


def with_labelled(
    analysis: Analysis,
    before: pd.DataFrame,
    after: pd.DataFrame,
    pairs: Mapping[str, str],
    *,
    level: float,
) -> Analysis:
    """The comparison of two runs on the same answers, led by what their labels tell.

    Parameters
    ----------
    analysis : Analysis
    before, after : DataFrame
        The labels of the first run (else of the second) are those that both are held to.
    pairs : mapping of condition to condition
    level : float

    Returns
    -------
    Analysis
        As given where nothing is labelled.
    """
    split: dict[str, Mapping[str, Estimate]] = {}
    about: dict[str, About] = {}
    for first, second in pairs.items():
        labelled = before if not _labels(before, first).empty else after
        name = called(first, second, joint=" ")
        old, new = _by_item(before, first), _by_item(after, second)
        parts: dict[str, Estimate] = _agreement(before, after, first, second, level=level)
        if not old.empty and not new.empty:
            parts |= _people(labelled, after, first, old, new, level=level)
        if parts:
            split[name] = parts
            about[name] = About(
                stratum=called(first, second), conditions=(first, second), varied="run"
            )
    return _led(analysis, split, about) if split else analysis


def _led(
    analysis: Analysis,
    split: Mapping[str, Mapping[str, Estimate]],
    about: Mapping[str, About],
    *notes: str,
) -> Analysis:
    """The analysis with these changes before everything else."""
    results = [
        NamedResult(
            id=f"anchored.{key}.{name}",
            title=f"{_TITLES[key]} ({about[name].stratum})",
            role="primary",
            result=estimate,
            headline=True,
            about=about[name],
        )
        for name, parts in split.items()
        for key, estimate in parts.items()
    ]
    headlines = []
    for named in results:
        estimate = named.result
        if not isinstance(estimate, Estimate):
            continue
        claim: Claim = "undefined" if math.isnan(estimate.estimate) else "described"
        headlines.append(
            Headline(
                id=f"headline.{named.id}",
                hypothesis="anchored",
                claim=claim,
                about=named.about,
                estimand=estimate.name,
                rests_on=(named.id,),
                reason=estimate.reason,
            )
        )
    return replace(
        analysis,
        sentence=" ".join(
            [*(_told(about[n].stratum, p) for n, p in split.items()), analysis.sentence]
        ),
        results=(*results, *analysis.results),
        headlines=(*headlines, *analysis.headlines),
        limitations=(*notes, *analysis.limitations),
        rows=(*_rows({about[name].stratum: name for name in split}), *analysis.rows),
    )


def _agreement(
    before: pd.DataFrame, after: pd.DataFrame, first: str, second: str, *, level: float
) -> dict[str, Estimate]:
    """How much more, or less, both runs agree with one and the same label of each item."""
    own = [f[f["condition"] == c] for f, c in ((before, first), (after, second))]
    labelled = next((f for f in own if "label" in f and f["label"].astype(str).ne("").any()), None)
    if labelled is None:
        return {}
    label = labelled.drop_duplicates("item_id").set_index("item_id")["label"].astype(str)
    scored = own[0]["score"].notna().any()
    name = "distance_change" if scored else "accuracy_change"
    credit = []
    for frame in own:
        human = frame["item_id"].map(label)
        if scored:
            value = (frame["score"] - pd.to_numeric(human, errors="coerce")).abs()
        else:
            words = outcomes(frame["choice"].astype(str)).str.lower()
            present = human.fillna("").ne("") & words.ne("")
            wanted = outcomes(human.fillna("")).str.lower()
            value = words.eq(wanted).astype(float).where(present)
        credit.append(value.groupby(frame["item_id"], sort=False).mean())
    was, now = credit[0], credit[1].reindex(credit[0].index)
    if int((was.notna() & now.notna()).sum()) < _LEAST:
        return {}
    clusters = own[0].drop_duplicates("item_id").set_index("item_id")["cluster"]
    groups = clusters.reindex(was.index).to_numpy(object)
    return {name.removesuffix("_change"): _change(name, was, now, groups, level)}


def _rows(names: Mapping[str, str]) -> tuple[Row, ...]:
    """What the screen shows of the split, by pair of conditions with what its ids call it."""
    return tuple(
        asked_row(key, ask, short, f"{key}_change", f"anchored.{key}.{{}}", names)
        for key, (ask, short) in _ASKED.items()
    )


def _people(
    before: pd.DataFrame,
    anchors: pd.DataFrame,
    condition: str,
    old: pd.DataFrame,
    again: pd.DataFrame,
    *,
    level: float,
) -> dict[str, Estimate]:
    """What labels of the anchors, of then and of today, say of people and of the judge's errors.

    Sensitivity can change while the mean does not: verdicts are compared within each label of then.
    """
    then, today = (_labels(f, condition) for f in (before, anchors))
    then = then.reindex(old.index)
    cluster = old["cluster"].to_numpy(object)
    out = {}
    relabelled = today.reindex(old.index)
    if int((then.notna() & relabelled.notna()).sum()) >= 2:
        out["people"] = _change("people_change", then, relabelled, cluster, level)
    judged = again["value"].reindex(old.index)
    if set(then.dropna()) <= {0.0, 1.0} and set(old["value"].dropna().round(9)) <= {0.0, 1.0}:
        for key, label in (("sensitivity", 1.0), ("specificity", 0.0)):
            own = (then == label) & judged.notna()
            if int(own.sum()) < _LEAST:
                continue
            was, now = (v if label else 1 - v for v in (old["value"], judged))
            groups = cluster[own.to_numpy()]
            out[key] = _change(f"{key}_change", was[own], now[own], groups, level)
    return out


def _change(
    name: str, one: pd.Series, two: pd.Series, cluster: NDArray[np.object_], level: float
) -> Estimate:
    """Paired difference on the same answers: Tango's of shares, where a question has one answer."""
    both = (one.notna() & two.notna()).to_numpy()
    a, b, groups = one[both].to_numpy(float), two[both].to_numpy(float), cluster[both]
    if len(set(groups)) == groups.size and set(np.r_[a, b]) <= {0.0, 1.0}:
        return paired_share_difference(b, a, level=level).replace(name=name, label=_label(name))
    whole = anchored_change(a, b, b, cluster_before=groups, cluster_after=groups, level=level)
    return whole["judge"].replace(name=name, label=_label(name))


def _label(name: str) -> str:
    return _TITLES[name.removesuffix("_change")].partition(",")[0]


def _labels(frame: pd.DataFrame, condition: str) -> pd.Series:
    """People's labels by item: scores, or 1 for a pass."""
    own = frame[frame["condition"] == condition] if condition in set(frame["condition"]) else frame
    if "label" not in own:
        return pd.Series(dtype=float)
    words = own["label"].astype(str).str.strip().str.lower()
    value = pd.to_numeric(words.map(lambda v: _PASS.get(v, v)), errors="coerce")
    return value.groupby(own["item_id"], sort=False).mean().dropna()


def _by_item(frame: pd.DataFrame, condition: str) -> pd.DataFrame:
    """Mean score, or share of passes, of each item with its cluster."""
    own = frame[frame["condition"] == condition]
    value = own["score"]
    if not value.notna().any():
        value = own["choice"].astype(str).str.lower().map(_PASS)
    table = own.assign(value=value.astype(float)).groupby("item_id", sort=False)
    return table.agg(value=("value", "mean"), cluster=("cluster", "first")).dropna(subset="value")


def _told(name: str, parts: Mapping[str, Estimate]) -> str:
    shown = {k: apa_estimate(e.estimate, e.interval) for k, e in parts.items()}
    beside = {"accuracy": "agreement with people", "distance": "distance from people",
              "people": "people's labels", "sensitivity": "sensitivity",
              "specificity": "specificity"}  # fmt: skip
    sentences = [f"{what} by {shown[k]}" for k, what in beside.items() if k in shown]
    if "total" not in parts:
        return f"{name}: on the same answers changed: {', '.join(sentences)}."
    if np.isnan(parts["judge"].estimate):
        return f"{name}: changed by {shown['total']}; {parts['judge'].reason}."
    text = (
        f"{name}: of the total change of {shown['total']}, {shown['judge']} is the judge's (on "
        f"unchanged answers) and {shown['system']} the system's as today's judge sees it."
    )
    return f"{text} On unchanged answers changed: {', '.join(sentences)}." if sentences else text
