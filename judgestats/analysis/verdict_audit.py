"""Audit of verdicts, repeated or not: pass rates, tables, and consistency."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis import coefficients, validity_systems, verdict_consistency
from judgestats.analysis.agreement import has_slots, judges_named, slot_results
from judgestats.analysis.audit_answer import audit_headlines
from judgestats.analysis.coefficients import condition_metrics, described, is_primary
from judgestats.analysis.families import AnalysisPlan, Hypothesis, clusters_of, shared_clusters
from judgestats.analysis.leaderboard import strength_results, strength_rows
from judgestats.analysis.limits import Limit, few_questions, lost_limits
from judgestats.analysis.records import Analysis, Found, NamedResult, condition_result
from judgestats.analysis.repeats import repeats_needed
from judgestats.analysis.selections import credit_test, label_shares, matched_rank_test
from judgestats.analysis.supplements import not_repeated
from judgestats.analysis.validity import (
    is_pass_fail,
    pass_fail_results,
    texts_in,
    to_pass_fail,
    validity_metrics,
)
from judgestats.analysis.validity_raters import check_rates, drawn_as, panel_of_verdicts
from judgestats.analysis.verdict_consistency import orders_shown
from judgestats.data.codes import places_of, tallied
from judgestats.data.parse import status_table
from judgestats.protocols.base import NOT_UNPARSED
from judgestats.results import About, quantity_of
from judgestats.stats import cohen_kappa, krippendorff_alpha, mean_shift
from judgestats.stats.agreement import alignment_credit, mean_share
from judgestats.stats.inference.result import Estimate, Result

SHARE_OF = "share of "
_MOST_OPTIONS = 6
_MOST_JUDGES = 12


def single_run_conditions(frame: pd.DataFrame) -> dict[str, bool]:
    """Of each condition, whether no item was judged twice in the same order."""
    place, shape, (conditions, *_) = places_of(
        *(frame[c] for c in ("condition", "order", "item_id"))
    )
    filled, counts = tallied(place, math.prod(shape))
    several = set((filled[counts > 1] // math.prod(shape[1:])).tolist())
    return {str(c): code not in several for code, c in enumerate(conditions)}


_SHARES = Hypothesis(
    "verdicts", "How often is each verdict given?", "share of items with interval over clusters",
    role="primary",
)  # fmt: skip
_JUDGES = Hypothesis(
    "judges", "Do the judges agree on the items that several of them judged?",
    "Krippendorff's alpha next to its null, and Cohen's kappa of every pair", role="primary",
)  # fmt: skip
_ASKED = {
    "reliability": "how consistent are these verdicts",
    "order": "do they follow position",
    "people": "do they agree with humans",
}


def single_shot_verdict_plan(declared: AnalysisPlan, frame: pd.DataFrame) -> AnalysisPlan:
    """The plan for verdicts, with the questions that unrepeated verdicts can answer.

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
    once = single_run_conditions(frame)
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
        "strength": "system_a" in frame,
        "slices": labelled,
    }
    parts = [text for name, text in _ASKED.items() if answerable[name]]
    question = f"{', and '.join(parts) or 'how often is each verdict given'}?"
    declared = replace(declared, question=question[0].upper() + question[1:])
    asked = [h for h in declared.hypotheses if answerable.get(h.id, True)]
    if not any(once.values()) and not is_pass_fail(to_pass_fail(frame)):
        return replace(declared, hypotheses=tuple(asked))
    asked.insert(0, _SHARES)
    if len(once) > 1 and any(once.values()):
        asked.append(_JUDGES)
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
        Empty if nothing was read, or where verdicts are more than six different words.
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
            share.to_numpy(float), cluster=clusters.loc[share.index].to_numpy(object),
            level=declared.level, name="share", label=f"{name[0].upper()}{name[1:]}",
        )  # fmt: skip
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
    cluster = shared_clusters(clusters_of(first, table.index))
    common: dict[str, Any] = {"cluster": cluster, **declared.resampling}
    verdicts = table.to_numpy(object)
    options = sorted({*verdicts.ravel()} - {""})
    alpha = krippendorff_alpha(verdicts, **common)
    results: Found = [("judges.alpha", "Agreement between judges, Krippendorff's alpha", alpha)]
    for i, j in itertools.combinations(range(len(names)), 2):
        pair = f"{names[i]} and {names[j]}"
        both = (verdicts[:, i] != "") & (verdicts[:, j] != "")
        if int(both.sum()) < 3:
            continue
        kappa = cohen_kappa(verdicts[:, i], verdicts[:, j], categories=options, **common)
        title = f"Cohen's kappa of two judges ({pair})"
        results.append((f"judges.kappa.{pair}", title, kappa))
    return results


def verdict_row(
    name: str, asked: pd.DataFrame, counts: pd.Series, results: Found
) -> dict[str, Any]:
    """What was counted and estimated in one condition, as a row."""
    row: dict[str, Any] = {
        "condition": name,
        "judge": str(asked["judge"].iloc[0]),
        "temperature": float(asked["temperature"].iloc[0]),
        "n": int(counts["n"]),
        "n_items": int(asked["item_id"].nunique()),
        "n_clusters": int(asked["cluster"].nunique()),
        "n_ok": int(asked["status"].eq("ok").sum()),
        **{f"n_{s}": int(counts[s]) for s in NOT_UNPARSED if s in counts},
        "unread_share": float(counts["unread_share"]),
        "unanswered_share": float(counts["unanswered_share"]),
    }
    return row | estimates_of(results)


def estimates_of(results: Sequence[tuple[str, str, Result]]) -> dict[str, float]:
    """The estimates among some results with their intervals, as columns of a row."""
    row: dict[str, float] = {}
    for kind, _, result in results:
        if isinstance(result, Estimate):
            key = kind.split(".", 1)[1]
            # `corrected` is a Grade Score corrected for chance in such tables.
            key = "true_score" if key == "corrected" else key
            row |= coefficients.columns_of(key, result)
    return row


def named_results(
    name: str, results: Sequence[tuple[str, str, Result]]
) -> tuple[list[NamedResult], list[NamedResult]]:
    """The results of a condition, named; and how many verdicts its reliability asks for."""
    about = About(conditions=(name,))
    named = [
        condition_result(
            kind, title, name, result, role="primary" if is_primary(kind) else "secondary"
        )
        for kind, title, result in results
    ]
    record = quantity_of("vote_share_reliability").record
    single = [r for kind, _, r in results if kind == record and isinstance(r, Estimate)]
    return named, [described(repeats_needed(value), about) for value in single]


def audit_verdicts(frame: pd.DataFrame, declared: AnalysisPlan) -> Analysis:
    """Audit verdicts: repetition, order, and agreement with human labels where there are labels.

    Parameters
    ----------
    frame : DataFrame
        A parsed frame with choices; a ``label`` column holds human verdicts. A choice names the
        response (a or b), not the place; ``order`` shows which was shown first.
    declared : AnalysisPlan

    Returns
    -------
    Analysis

    Raises
    ------
    InputError
        Labels and choices cannot be compared.
    """
    frame, strange = _comparable(frame, declared)
    counts = status_table(frame)
    results: list[NamedResult] = []
    described_results: list[NamedResult] = []
    rows: list[dict[str, Any]] = []
    agreement: dict[str, pd.Series] = {}
    validity: dict[str, dict[str, float]] = {}
    once = single_run_conditions(frame)
    shown: dict[str, list[str]] = {}
    for condition, asked in frame.groupby("condition", sort=False):
        name = str(condition)
        named = verdict_consistency.condition_results(asked, declared)
        if is_pass_fail(asked):
            own = pass_fail_results(asked, declared)
            kinds = {kind for kind, _, _ in own}
            named = [*own, *(f for f in named if f[0] not in kinds)]
        elif once[name]:
            shares = shares_of_verdicts(asked, declared)
            shown[name] = verdict_options(asked) if shares else []
            named = [*shares, *named]
        of_condition, needed = named_results(name, named)
        results += of_condition
        described_results += needed
        if "label" in asked and is_pass_fail(asked):
            results += validity_systems.slice_results(name, asked, texts_in(asked), declared)
        rows.append(verdict_row(name, asked, counts.loc[[name]].iloc[0], named))
        validity[name] = validity_metrics(named)
        if "label" in asked and (asked["label"] != "").any():
            agreement[name] = item_credits(asked)
    if any(once.values()):
        results += judges_named(judges_of_verdicts(frame, declared))
    results += _compare(agreement, frame, declared)
    results += panel_of_verdicts(frame, declared)
    results += validity_systems.system_results(frame, declared)
    results += (wins := validity_systems.win_results(frame, declared))
    strengths, boards, unordered = strength_results(frame, declared)
    results += strengths
    described_results += boards
    results += slot_results(frame, **declared.resampling)
    table = pd.DataFrame(rows)
    return Analysis(
        experiment="audit",
        question=declared.question,
        drawing=coefficients.ranked(*coefficients.DRAWN_VERDICTS),
        headlines=audit_headlines(results, n_criteria=declared.n_criteria),
        conditions=table,
        results=tuple(results),
        described=tuple(described_results),
        rows=(
            *coefficients.verdict_rows(table["condition"]),
            *coefficients.share_rows(shown),
            *validity_systems.win_rows(wins),
            *strength_rows(strengths),
            *coefficients.people_rows(
                table["condition"],
                corrected="rogan_gladen" if "sensitivity" in declared.options else "poststratified",
                labels_drawn=drawn_as(declared),
                repeats=frame["replicate"].nunique(),
            ),
        ),
        limitations=(
            *not_repeated([name for name, one in once.items() if one], of=len(once)),
            *_limits(frame, table, strange),
            *unordered,
        ),
        condition_metrics={
            r["condition"]: condition_metrics(r) | validity[r["condition"]] for r in rows
        },
    )


def _comparable(
    frame: pd.DataFrame, declared: AnalysisPlan
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The frame with the same values for choices and labels, and labels that are not a choice."""
    strange: tuple[str, ...] = ()
    frame = to_pass_fail(frame)
    check_rates(frame, declared)
    if "label" in frame and frame["label"].astype(str).str.strip().ne("").any():
        if verdict_consistency.has_shared_words(frame):
            lower = {c: verdict_consistency.lower_case(frame[c]) for c in ("choice", "label")}
            frame = frame.assign(**lower)
        else:
            frame = frame.assign(label=verdict_consistency.outcomes(frame["label"], strict=True))
            frame, strange = verdict_consistency.comparable(frame)
    else:
        frame = frame.assign(choice=verdict_consistency.outcomes(frame["choice"]))
    return frame, strange


def verdict_comparisons(
    frame: pd.DataFrame, declared: AnalysisPlan, *, unparsed: float = math.nan
) -> tuple[list[NamedResult], dict[str, pd.Series]]:
    """Comparisons of the agreement of conditions with human labels, as an audit makes them.

    Parameters
    ----------
    frame : DataFrame
    declared : AnalysisPlan
    unparsed : float
        Agreement that an unparsed reply counts for; NaN leaves it out.

    Returns
    -------
    list of NamedResult, dict of condition to Series
        The comparisons, and the mean agreement of each item that they rest on.
    """
    frame, _ = _comparable(frame, declared)
    if "label" not in frame:
        return [], {}
    agreement = {
        str(name): item_credits(asked, unparsed=unparsed)
        for name, asked in frame.groupby("condition", sort=False)
        if (asked["label"] != "").any()
    }
    return _compare(agreement, frame, declared), agreement


def item_credits(asked: pd.DataFrame, *, unparsed: float = math.nan) -> pd.Series:
    """Mean agreement score of each item of a condition; `unparsed` is that of unparsed replies."""
    judge, human = asked["choice"].to_numpy(object), asked["label"].to_numpy(object)
    if {*judge, *human} <= {"a", "b", "tie", ""}:
        score = alignment_credit(judge, human)
    else:
        score = np.where((judge == "") | (human == ""), np.nan, (judge == human).astype(float))
    if not math.isnan(unparsed):
        lost = (judge == "") & (human != "") & ~asked["status"].isin(NOT_UNPARSED).to_numpy()
        score = np.where(lost, unparsed, score)
    return pd.Series(score, index=asked["item_id"].to_numpy()).groupby(level=0).mean()


def _compare(
    agreement: Mapping[str, pd.Series], frame: pd.DataFrame, declared: AnalysisPlan
) -> list[NamedResult]:
    if len(agreement) < 2:
        return []
    table = pd.DataFrame(dict(agreement)).dropna()
    if len(table) < 3:
        return []
    cluster = shared_clusters(clusters_of(frame, table.index))
    names = [str(c) for c in table.columns]
    data = table.to_numpy(float)
    result = matched_rank_test(data, declared, names=names, cluster=cluster)
    common: dict[str, Any] = {"conditions": names, "cluster": cluster}
    credit = credit_test(data, within="items", **common, **declared.resampling)
    shifts = label_shares(mean_shift(data, **common, level=declared.level))
    parts: Found = [
        ("compare.people", "Agreement with human labels, paired by item", credit),
        ("compare.people.ranks", "Ranks of agreement, paired by item", result),
        ("compare.people.pairs", "Shares that agree, pair by pair", shifts),
    ]
    return [NamedResult(identity, title, "secondary", entry) for identity, title, entry in parts]


def _limits(frame: pd.DataFrame, table: pd.DataFrame, strange: tuple[str, ...]) -> list[str]:
    limits: list[str] = []
    if strange:
        named = ", ".join(repr(s[:30]) for s in strange[:3]) + (" ..." if len(strange) > 3 else "")
        limits.append(
            f"Choices that are not pairwise outcomes ({named}) count as unparsed: neither "
            "agreement nor disagreement with human labels."
        )
    if int(table["n_clusters"].min()) < 50:
        limits.append(few_questions(int(table["n_clusters"].min())))
    limits += lost_limits(table, "were not parsed; they count neither for nor against it.")
    if len(set(frame["order"].unique())) > 1 and "fleiss_kappa" in table:
        limits.append(
            "Repetitions are compared within each order in which a pair was shown; verdicts in "
            "different orders are compared in the results on position."
        )
    if frame["order"].nunique() < 2 and set(frame["choice"].unique()) <= {"a", "b", "tie", ""}:
        short = "one order only: position bias cannot be separated"
        text = f"{short[0].upper()}{short[1:]} from a preference for a response."
        limits.append(Limit(text, code="one_order", short=short))
    return limits
