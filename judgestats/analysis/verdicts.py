"""Audit of verdicts in words: a choice between responses, with or without people's labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.advice import repeats_needed
from judgestats.analysis.asked_rows import people_rows, share_rows, true_rows, verdict_rows
from judgestats.analysis.audit_answer import audit_headlines
from judgestats.analysis.beside_verdicts import slot_results
from judgestats.analysis.drawings import DRAWN_VERDICTS, ranked
from judgestats.analysis.drawn import drawn_as
from judgestats.analysis.leaderboard import strength_results, strength_rows
from judgestats.analysis.limits import Limit, few_questions, lost_limits
from judgestats.analysis.outcome import Analysis, NamedResult
from judgestats.analysis.pass_fail import (
    in_pass_and_fail,
    is_pass_fail,
    pass_fail_results,
)
from judgestats.analysis.plan import AnalysisPlan
from judgestats.analysis.ratings import judges_named
from judgestats.analysis.repetition_limits import NOT_REPEATED, not_repeated
from judgestats.analysis.single_shot import repetition
from judgestats.analysis.single_shot_verdicts import (
    judges_of_verdicts,
    shares_of_verdicts,
    verdict_options,
    verdicts_asked_once,
)
from judgestats.analysis.validity import validity_metrics
from judgestats.analysis.validity_elsewhere import check_rates
from judgestats.analysis.validity_k import recommend_by_labels
from judgestats.analysis.validity_labels import texts_in
from judgestats.analysis.validity_panel import panel_of_verdicts
from judgestats.analysis.validity_slices import slice_results
from judgestats.analysis.validity_systems import system_results
from judgestats.analysis.validity_wins import win_results, win_rows
from judgestats.analysis.verdict_advice import recommend_verdicts
from judgestats.analysis.verdict_consistency import condition_results
from judgestats.analysis.verdict_shares import of_shares
from judgestats.analysis.verdict_table import verdict_metrics, verdict_row, verdict_sentence
from judgestats.analysis.verdict_words import (
    comparable,
    in_same_words,
    lower_case,
    outcomes,
)
from judgestats.judgments.shapes import status_table
from judgestats.results import About
from judgestats.stats.agreement.alignment import alignment_credit
from judgestats.stats.comparison.blocked_f import blocked_f_test
from judgestats.stats.comparison.friedman import friedman_test
from judgestats.stats.comparison.wilcoxon import wilcoxon_signed_rank
from judgestats.stats.inference.result import Estimate, Result
from judgestats.stats.spread.mean_shift import mean_shift


def audit_verdicts(frame: pd.DataFrame, declared: AnalysisPlan) -> Analysis:
    """Audit verdicts: repetition, order, and agreement with people where there are labels.

    Parameters
    ----------
    frame : DataFrame
        A parsed frame with choices; a ``label`` column holds people's verdicts. A choice names the
        response (a or b), not the place; ``order`` tells which was shown first.
    declared : AnalysisPlan

    Returns
    -------
    Analysis

    Raises
    ------
    InputError
        Labels and choices cannot be compared.
    """
    strange: tuple[str, ...] = ()
    frame = in_pass_and_fail(frame)
    check_rates(frame, declared)
    if "label" in frame and frame["label"].astype(str).str.strip().ne("").any():
        if in_same_words(frame):
            frame = frame.assign(**{c: lower_case(frame[c]) for c in ("choice", "label")})
        else:
            frame = frame.assign(label=outcomes(frame["label"], strict=True))
            frame, strange = comparable(frame)
    else:
        frame = frame.assign(choice=outcomes(frame["choice"]))
    counts = status_table(frame)
    results: list[NamedResult] = []
    described: list[NamedResult] = []
    rows: list[dict[str, Any]] = []
    agreement: dict[str, pd.Series] = {}
    validity: dict[str, dict[str, float]] = {}
    once = verdicts_asked_once(frame)
    shown: dict[str, list[str]] = {}
    for condition, asked in frame.groupby("condition", sort=False):
        name = str(condition)
        named = condition_results(asked, declared)
        if is_pass_fail(asked):
            own = pass_fail_results(asked, declared)
            kinds = {kind for kind, _, _ in own}
            named = [*own, *(f for f in named if f[0] not in kinds)]
        elif once[name]:
            shares = shares_of_verdicts(asked, declared)
            shown[name] = verdict_options(asked) if shares else []
            named = [*shares, *named]
        results += [
            NamedResult(
                id=f"{kind}.{name}",
                title=f"{title} ({name})",
                role="primary",
                result=result,
                headline=True,
                about=About(conditions=(name,)),
            )
            for kind, title, result in named
        ]
        described += [
            verdicts_needed(name, value)
            for kind, _, value in named
            if kind == "reliability.vote_share" and isinstance(value, Estimate)
        ]
        if "label" in asked and is_pass_fail(asked):
            results += slice_results(name, asked, texts_in(asked), declared)
        rows.append(verdict_row(name, asked, counts.loc[[name]].iloc[0], named))
        validity[name] = validity_metrics(named)
        if "label" in asked and (asked["label"] != "").any():
            agreement[name] = _credits(asked)
    if any(once.values()):
        results += judges_named(judges_of_verdicts(frame, declared))
    results += _compare(agreement, frame, declared)
    results += panel_of_verdicts(frame, declared)
    results += system_results(frame, declared)
    results += (wins := win_results(frame, declared))
    strengths, boards, unordered = strength_results(frame, declared)
    results += strengths
    described += boards
    results += slot_results(
        frame, level=declared.level, n_permutations=declared.n_resamples, seed=declared.seed
    )
    table = pd.DataFrame(rows)
    advice = recommend_by_labels(results, frame)
    if all(once.values()):
        advice = repetition(frame, verdicts=True)
    elif advice is None:
        advice, best = recommend_verdicts(frame, table)
        results += best
    return Analysis(
        experiment="audit",
        question=declared.question,
        drawing=ranked(*DRAWN_VERDICTS),
        sentence=verdict_sentence(table) + (f" {NOT_REPEATED}" if all(once.values()) else ""),
        headlines=audit_headlines(results),
        conditions=table,
        results=tuple(results),
        described=tuple(described),
        rows=(
            *verdict_rows(table["condition"]),
            *share_rows(shown),
            *win_rows(wins),
            *strength_rows(strengths),
            *people_rows(
                table["condition"],
                *true_rows(
                    table["condition"],
                    "rogan_gladen" if "sensitivity" in declared.options else "poststratified",
                    labels_drawn=drawn_as(declared),
                ),
                labels_drawn=drawn_as(declared),
                repeats=frame["replicate"].nunique(),
            ),
        ),
        limitations=(
            *not_repeated([name for name, one in once.items() if one], of=len(once)),
            *_limits(frame, table, strange),
            *unordered,
        ),
        recommendation=advice,
        condition_metrics={
            str(r["condition"]): verdict_metrics(r) | validity[str(r["condition"])] for r in rows
        },
    )


def _credits(asked: pd.DataFrame) -> pd.Series:
    """Mean agreement score of each item."""
    judge, human = asked["choice"].to_numpy(object), asked["label"].to_numpy(object)
    if {*judge, *human} <= {"a", "b", "tie", ""}:
        score = alignment_credit(judge, human)
    else:
        score = np.where((judge == "") | (human == ""), np.nan, (judge == human).astype(float))
    return pd.Series(score, index=asked["item_id"].to_numpy()).groupby(level=0).mean()


def _compare(
    agreement: Mapping[str, pd.Series], frame: pd.DataFrame, declared: AnalysisPlan
) -> list[NamedResult]:
    if len(agreement) < 2:
        return []
    table = pd.DataFrame(dict(agreement)).dropna()
    if len(table) < 3:
        return []
    cluster_of_item = (
        frame.drop_duplicates("item_id").set_index("item_id")["cluster"].loc[table.index]
    )
    cluster = cluster_of_item.to_numpy(object) if cluster_of_item.nunique() < len(table) else None
    names = [str(c) for c in table.columns]
    result: Result
    if len(names) == 2:
        one, two = (table[c].to_numpy(float) for c in table.columns)
        result = wilcoxon_signed_rank(one, two, names=names, cluster=cluster, level=declared.level)
    else:
        result = friedman_test(
            table.to_numpy(float),
            names=names,
            cluster=cluster,
            level=declared.level,
            n_permutations=declared.n_resamples,
            seed=declared.seed,
        )
    credit = blocked_f_test(
        table.to_numpy(float),
        conditions=names,
        cluster=cluster,
        n_permutations=declared.n_resamples,
        level=declared.level,
        seed=declared.seed,
    ).replace(
        name="credit_blocked_f",
        method="Blocked F test of credit, conditions exchanged within items",
        null_hypothesis="the conditions agree equally often with people",
        alternative="some agree more often than others",
    )
    parts: list[tuple[str, str, Result]] = [
        ("compare.people", "Agreement with people, paired by item", credit),
        ("compare.people.ranks", "Ranks of agreement, paired by item", result),
        ("compare.people.pairs", "Shares that agree, pair by pair", of_shares(mean_shift(
            table.to_numpy(float), conditions=names, cluster=cluster, level=declared.level
        ))),
    ]  # fmt: skip
    return [
        NamedResult(id=identity, title=title, role="secondary", result=entry, headline=True)
        for identity, title, entry in parts
    ]


def verdicts_needed(name: str, reliability: Estimate) -> NamedResult:
    """How many verdicts of a condition reach a reliability of .90."""
    return NamedResult(
        id=f"repeats.needed.{name}",
        title="Verdicts for a reliability of .90",
        role="descriptive",
        result=repeats_needed(reliability),
        about=About(conditions=(name,)),
    )


def _limits(frame: pd.DataFrame, table: pd.DataFrame, strange: tuple[str, ...]) -> list[str]:
    limits: list[str] = []
    if strange:
        named = ", ".join(repr(s[:30]) for s in strange[:3]) + (" ..." if len(strange) > 3 else "")
        limits.append(
            f"Choices that are no outcome of a comparison ({named}) count as unread: neither "
            "agreement nor disagreement with people."
        )
    if int(table["n_clusters"].min()) < 50:
        limits.append(few_questions(int(table["n_clusters"].min())))
    limits += lost_limits(table, "could not be read; they count neither for nor against it.")
    if len(set(frame["order"].unique())) > 1 and "fleiss_kappa" in table:
        limits.append(
            "Repetitions are compared within each order in which a pair was shown; verdicts in "
            "different orders are compared in the results on position."
        )
    if frame["order"].nunique() < 2 and set(frame["choice"].unique()) <= {"a", "b", "tie", ""}:
        limits.append(
            Limit(
                "One order only: a preference for a place cannot be told from a preference for a "
                "response.",
                code="one_order",
                short="one order only: places and responses are not told apart",
            )
        )
    return limits
