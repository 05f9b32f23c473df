"""Verdicts in words asked for once: how often each was given, and whether judges agree."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import pandas as pd

from judgestats.analysis.beside_verdicts import has_slots
from judgestats.analysis.pass_fail import in_pass_and_fail, is_pass_fail
from judgestats.analysis.plan import AnalysisPlan, Hypothesis
from judgestats.analysis.verdict_words import orders_shown
from judgestats.stats.agreement.cohen import cohen_kappa
from judgestats.stats.agreement.krippendorff import krippendorff_alpha
from judgestats.stats.agreement.mean_share import mean_share
from judgestats.stats.inference.result import Result

Found = list[tuple[str, str, Result]]

SHARE_OF = "share of "
_MOST_OPTIONS = 6
_MOST_JUDGES = 12


def verdicts_asked_once(frame: pd.DataFrame) -> dict[str, bool]:
    """Of each condition, whether no item was asked for twice in the same order."""
    sizes = frame.groupby(["condition", "order", "item_id"], sort=False).size()
    return {str(c): int(n) < 2 for c, n in sizes.groupby(level="condition").max().items()}


def single_shot_verdict_plan(declared: AnalysisPlan, frame: pd.DataFrame) -> AnalysisPlan:
    """The plan for verdicts: what these can answer, and what those asked for once can.

    Parameters
    ----------
    declared : AnalysisPlan
        For repeated verdicts.
    frame : DataFrame
        A parsed frame.

    Returns
    -------
    AnalysisPlan
    """
    once = verdicts_asked_once(frame)
    labelled = "label" in frame and bool((frame["label"].astype(str).str.strip() != "").any())
    orders = frame.groupby("condition")["order"].nunique()
    answerable = {
        "reliability": not all(once.values()),
        "order": bool((orders == 2).any()),
        "slots": has_slots(frame),
        "people": labelled,
        "compare": labelled and len(once) > 1,
        "systems": labelled and "author" in frame,
        "panel": labelled and len(once) > 1,
    }
    asked = [h for h in declared.hypotheses if answerable.get(h.id, True)]
    if not any(once.values()) and not is_pass_fail(in_pass_and_fail(frame)):
        return replace(declared, hypotheses=tuple(asked))
    asked.insert(
        0,
        Hypothesis(
            id="verdicts",
            role="primary",
            question="How often is each verdict given?",
            test="share of items with interval over clusters",
        ),
    )
    if len(once) > 1 and any(once.values()):
        asked.append(
            Hypothesis(
                id="judges",
                role="primary",
                question="Do the judges agree on the items that several of them judged?",
                test="Krippendorff's alpha beside its null; Cohen's kappa of every pair",
            )
        )
    return replace(declared, hypotheses=tuple(asked))


def verdict_options(asked: pd.DataFrame) -> list[str]:
    """The different verdicts that were read."""
    return sorted(set(asked["choice"]) - {""})


def shares_of_verdicts(asked: pd.DataFrame, declared: AnalysisPlan) -> Found:
    """The share of each verdict among the items read, of one condition.

    Parameters
    ----------
    asked : DataFrame
        Judgments of one condition.
    declared : AnalysisPlan

    Returns
    -------
    list of (str, str, Result)
        Empty where nothing was read, or where verdicts are more than six different words.
    """
    options = verdict_options(asked)
    if not 1 <= len(options) <= _MOST_OPTIONS:
        return []
    read = asked[asked["choice"] != ""]
    clusters = read.groupby("item_id", sort=False)["cluster"].first()
    results: Found = []
    for option in options:
        share = (read["choice"] == option).groupby(read["item_id"], sort=False).mean()
        name = f"{SHARE_OF}'{option}'"
        value = mean_share(
            share.to_numpy(float),
            cluster=clusters.loc[share.index].to_numpy(object),
            level=declared.level,
            name="share",
            label=f"{name[0].upper()}{name[1:]}",
        )
        results.append((f"verdicts.{name}", f"How often '{option}' is given", value))
    return results


def judges_of_verdicts(frame: pd.DataFrame, declared: AnalysisPlan) -> Found:
    """Agreement between conditions on the items that several of them judged.

    Parameters
    ----------
    frame : DataFrame
        A parsed frame with choices; of repeated judgments, and of two orders, the first counts.
    declared : AnalysisPlan

    Returns
    -------
    list of (str, str, Result)
        Empty where fewer than three items have verdicts of two conditions.
    """
    first = frame[(frame["order"] == orders_shown(frame)[0]) & (frame["choice"] != "")]
    first = first.drop_duplicates(["condition", "item_id"])
    table = first.pivot(index="item_id", columns="condition", values="choice")
    names = [c for c in dict.fromkeys(frame["condition"]) if c in table]
    table = table[names].fillna("").astype(object)
    table = table[(table != "").sum(axis=1) >= 2]
    if not 2 <= len(names) <= _MOST_JUDGES or len(table) < 3:
        return []
    clusters = first.groupby("item_id")["cluster"].first().loc[table.index]
    common: dict[str, Any] = {
        "cluster": clusters.to_numpy(object) if clusters.nunique() < len(table) else None,
        "level": declared.level,
        "n_permutations": declared.n_resamples,
        "seed": declared.seed,
    }
    verdicts = table.to_numpy(object)
    options = sorted({*verdicts.ravel()} - {""})
    results: Found = [
        (
            "judges.alpha",
            "Agreement between judges, Krippendorff's alpha",
            krippendorff_alpha(verdicts, **common),
        )
    ]
    for i, j in itertools.combinations(range(len(names)), 2):
        pair = f"{names[i]} and {names[j]}"
        both = (verdicts[:, i] != "") & (verdicts[:, j] != "")
        if int(both.sum()) < 3:
            continue
        kappa = cohen_kappa(verdicts[:, i], verdicts[:, j], categories=options, **common)
        title = f"Agreement of two judges beyond chance ({pair})"
        results.append((f"judges.kappa.{pair}", title, kappa))
    return results
