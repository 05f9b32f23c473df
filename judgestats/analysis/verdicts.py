"""Audit of verdicts in words: a choice between responses, with or without people's labels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.analysis.outcome import Analysis, NamedResult
from judgestats.analysis.people import people_results
from judgestats.analysis.plan import AnalysisPlan, Hypothesis
from judgestats.errors import InputError
from judgestats.judgments.shapes import status_table
from judgestats.stats.alignment import alignment_credit
from judgestats.stats.friedman import friedman_test
from judgestats.stats.gwet import gwet_ac1
from judgestats.stats.kappa import fleiss_kappa
from judgestats.stats.position_noise import position_and_noise
from judgestats.stats.position_preference import first_position_preference
from judgestats.stats.raw_agreement import flip_rate
from judgestats.stats.result import Comparisons, Estimate, Result, format_number
from judgestats.stats.swap import swap_consistency
from judgestats.stats.vote_share import vote_share_reliability
from judgestats.stats.wilcoxon import pairwise_wilcoxon, wilcoxon_signed_rank

__all__ = [
    "OUTCOMES",
    "audit_verdicts",
    "estimates_of",
    "outcomes",
    "verdict_metrics",
    "verdict_plan",
    "verdict_sentence",
]

OUTCOMES: Mapping[str, str] = {
    **dict.fromkeys(("a", "model_a", "response_a", "assistant_a", "1", "first", "[[a]]"), "a"),
    **dict.fromkeys(("b", "model_b", "response_b", "assistant_b", "2", "second", "[[b]]"), "b"),
    **dict.fromkeys(("tie", "c", "0", "same", "both", "neither", "equal", "[[c]]"), "tie"),
}
"""Spellings of the outcome of a comparison of two responses."""

_FIRST = {"ab", "original", "orig", "0", "false", "1"}
_QUESTION = "How consistent are these verdicts, do they follow position, and do people agree?"


def verdict_plan(*, n_resamples: int, seed: int, level: float) -> AnalysisPlan:
    """What an audit of verdicts asks, whatever the data say.

    Parameters
    ----------
    n_resamples, seed : int
    level : float

    Returns
    -------
    AnalysisPlan
    """
    return AnalysisPlan(
        experiment="audit",
        question=_QUESTION,
        blocks="The item (for pairs: the pair of responses) is the block; intervals keep the items "
        "of a cluster together.",
        missing="A judgment without a verdict has a status and no verdict; the rates are reported "
        "by condition.",
        level=level,
        n_resamples=n_resamples,
        seed=seed,
        hypotheses=(
            Hypothesis(
                id="reliability",
                role="primary",
                question="Would the same judge say the same again?",
                test="Fleiss' kappa, AC1, vote-share reliability and flip rate, beside their null",
            ),
            Hypothesis(
                id="order",
                role="primary",
                question="Does the verdict follow the response or the place where it stands?",
                test="swap consistency, first-position preference, position apart from repetition",
            ),
            Hypothesis(
                id="people",
                role="primary",
                question="Do the verdicts agree with people?",
                test="1 / .5 / 0 score beside always-tie and random baselines, accuracy, Cohen's "
                "kappa; the null shuffles people's labels over items",
            ),
            Hypothesis(
                id="compare",
                role="secondary",
                question="Which condition agrees more with people?",
                test="Friedman (Wilcoxon for two) on the scores, paired by item",
                family="all pairs of conditions, on the items that all of them judged",
                adjustment="holm",
            ),
        ),
    )


def outcomes(values: pd.Series, *, strict: bool = False) -> pd.Series:
    """Verdicts as ``a``, ``b``, ``tie`` where all of them are spellings of these.

    Parameters
    ----------
    values : Series of str
        Empty = missing.
    strict : bool
        Raise where some value is no such spelling (else all are returned as they are).

    Returns
    -------
    Series of str

    Examples
    --------
    >>> outcomes(pd.Series(["model_a", "[[B]]", "C", ""])).tolist()
    ['a', 'b', 'tie', '']
    >>> outcomes(pd.Series(["yes", "no"])).tolist()
    ['yes', 'no']
    """
    lower = values.astype(str).str.strip().str.lower()
    known = lower.isin([*OUTCOMES, ""])
    if known.all():
        return lower.map(lambda v: OUTCOMES.get(v, ""))
    if strict:
        strange = values[~known].iloc[0]
        raise InputError(
            f"audit: {str(strange)[:40]!r} is not an outcome of a comparison (a, b, tie and their "
            "usual spellings), which a label needs. Map the column, or leave the labels out."
        )
    return values.astype(str)


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
        Every item was judged once, in one order, and there are no labels.
    """
    strange: tuple[str, ...] = ()
    if "label" in frame and frame["label"].astype(str).str.strip().ne("").any():
        if _in_same_words(frame):
            frame = frame.assign(**{c: _lower(frame[c]) for c in ("choice", "label")})
        else:
            frame = frame.assign(label=outcomes(frame["label"], strict=True))
            frame, strange = _comparable(frame)
    else:
        frame = frame.assign(choice=outcomes(frame["choice"]))
    counts = status_table(frame)
    results: list[NamedResult] = []
    rows: list[dict[str, Any]] = []
    agreement: dict[str, pd.Series] = {}
    for condition, asked in frame.groupby("condition", sort=False):
        name = str(condition)
        found = _condition_results(asked, declared)
        results += [
            NamedResult(
                id=f"{kind}.{name}",
                title=f"{title} ({name})",
                role="primary",
                result=result,
                headline=True,
            )
            for kind, title, result in found
        ]
        rows.append(_row(name, asked, counts.loc[[name]].iloc[0], found))
        if "label" in asked and (asked["label"] != "").any():
            agreement[name] = _credits(asked)
    if not results:
        raise InputError(
            "audit: every item was judged once, in one order, and there are no labels of people, "
            "so nothing can be said. Judge the items again or in both orders, or map a column of "
            "human verdicts as label."
        )
    results += _compare(agreement, frame, declared)
    table = pd.DataFrame(rows)
    return Analysis(
        experiment="audit",
        question=declared.question,
        sentence=verdict_sentence(table),
        conditions=table,
        results=tuple(results),
        limitations=tuple(_limits(frame, table, strange)),
        metrics={
            "quality/unread_share": float(
                (table["unread_share"] * table["n"]).sum() / table["n"].sum()
            )
        },
        condition_metrics={str(r["condition"]): verdict_metrics(r) for r in rows},
    )


def _lower(values: pd.Series) -> pd.Series:
    return values.astype(str).str.strip().str.lower()


def _in_same_words(frame: pd.DataFrame) -> bool:
    """Whether labels are verdicts in words of their own (pass and fail) that the judge uses too."""
    labels = set(_lower(frame["label"])) - {""}
    return not labels <= set(OUTCOMES) and bool(labels & set(_lower(frame["choice"])))


def _comparable(frame: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Choices that labels can be compared with; the others become unread, and are named.

    A judge that answers something else than a, b or tie has not given a verdict: that is a status,
    and neither agreement nor disagreement. Where most choices are something else, the column is
    the wrong one or coded otherwise, and the caller has to say how.
    """
    lower = frame["choice"].astype(str).str.strip().str.lower()
    strange = ~lower.isin([*OUTCOMES, ""])
    if 2 * int(strange.sum()) > int((lower != "").sum()):
        raise InputError(
            f"audit: most choices are no outcome of a comparison (a, b, tie and their usual "
            f"spellings), such as {frame.loc[strange, 'choice'].iloc[0][:40]!r}, but the labels "
            "are. Recode the choices, or leave the labels out."
        )
    read = frame.assign(
        choice=lower.map(lambda v: OUTCOMES.get(v, "")),
        status=frame["status"].mask(strange, "unparseable"),
    )
    return read, tuple(dict.fromkeys(frame.loc[strange, "choice"].astype(str)))


def _wide(asked: pd.DataFrame, items: pd.Index) -> NDArray[np.object_]:
    """Items x replications of choices; empty = missing."""
    table = asked.pivot(index="item_id", columns="replicate", values="choice").reindex(items)
    return table.fillna("").to_numpy(object)


def _condition_results(
    asked: pd.DataFrame, declared: AnalysisPlan
) -> list[tuple[str, str, Result]]:
    items = pd.Index(dict.fromkeys(asked["item_id"]))
    clusters = asked.drop_duplicates("item_id").set_index("item_id")["cluster"].loc[items]
    cluster = clusters.to_numpy(object) if clusters.nunique() < len(items) else None
    orders = list(dict.fromkeys(asked["order"]))
    by_order = {o: _wide(asked[asked["order"] == o], items) for o in orders}
    first = by_order[orders[0]]
    found: list[tuple[str, str, Result]] = []
    if first.shape[1] > 1:
        common: dict[str, Any] = {
            "cluster": cluster,
            "level": declared.level,
            "n_permutations": declared.n_resamples,
            "seed": declared.seed,
        }
        where = f", order {orders[0]}" if len(orders) > 1 else ""
        found += [
            (
                "reliability.fleiss_kappa",
                f"Agreement of repetitions{where}",
                fleiss_kappa(first, **common),
            ),
            ("reliability.ac1", f"Agreement of repetitions, AC1{where}", gwet_ac1(first, **common)),
            (
                "reliability.vote_share",
                f"Reliability of one verdict{where}",
                vote_share_reliability(first, **common),
            ),
            (
                "reliability.flip_rate",
                f"How often asking again changes the verdict{where}",
                flip_rate(first, **common),
            ),
        ]
        if (first == "").any() and (first != "").any():
            found.append(
                (
                    "reliability.fleiss_kappa_unread",
                    f"Agreement of repetitions{where}, an unread verdict as an option of its own",
                    fleiss_kappa(np.where(first == "", "(unread)", first), **common),
                )
            )
    if len(orders) == 2 and set(asked["choice"]) <= {"a", "b", "tie", ""}:
        found += _order_results(by_order, orders, cluster, declared)
    if "label" in asked and (asked["label"] != "").any():
        found += people_results(asked, declared)
    return found


def _order_results(
    by_order: Mapping[str, NDArray[np.object_]],
    orders: list[str],
    cluster: NDArray[np.object_] | None,
    declared: AnalysisPlan,
) -> list[tuple[str, str, Result]]:
    ab = next((o for o in orders if str(o).lower() in _FIRST), orders[0])
    ba = next(o for o in orders if o != ab)
    first, second = by_order[ab], by_order[ba]
    found: list[tuple[str, str, Result]] = [
        (
            "order.swap_consistency",
            "Same response preferred after a swap",
            swap_consistency(first, second, cluster=cluster, level=declared.level),
        ),
        (
            "order.first_position",
            "Preference for the response shown first",
            first_position_preference(first, second, cluster=cluster, level=declared.level),
        ),
    ]
    if first.shape[1] > 1 and second.shape[1] > 1:
        found.append(
            (
                "order.noise",
                "Position apart from repetition",
                position_and_noise(
                    first,
                    second,
                    cluster=cluster,
                    level=declared.level,
                    n_permutations=declared.n_resamples,
                    seed=declared.seed,
                ),
            )
        )
    return found


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
    several: Comparisons | None = None
    known = frame.drop_duplicates("item_id").set_index("item_id")["cluster"].loc[table.index]
    cluster = known.to_numpy(object) if known.nunique() < len(table) else None
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
        several = pairwise_wilcoxon(
            table.to_numpy(float), names=names, cluster=cluster, level=declared.level
        )
    told: list[tuple[str, str, Result]] = [
        ("compare.people", "Agreement with people, paired by item", result)
    ]
    if several is not None:
        told.append(("compare.people.pairs", "Which conditions, paired by item", several))
    return [
        NamedResult(id=identity, title=title, role="secondary", result=found, headline=True)
        for identity, title, found in told
    ]


def _row(
    name: str, asked: pd.DataFrame, counts: pd.Series, found: list[tuple[str, str, Result]]
) -> dict[str, Any]:
    row: dict[str, Any] = {
        "condition": name,
        "judge": str(asked["judge"].iloc[0]),
        "temperature": float(asked["temperature"].iloc[0]),
        "n": int(counts["n"]),
        "n_items": int(asked["item_id"].nunique()),
        "n_clusters": int(asked["cluster"].nunique()),
        "n_ok": int(asked["status"].eq("ok").sum()),
        "unread_share": float(counts["unread_share"]),
    }
    return row | estimates_of(found)


def estimates_of(found: Sequence[tuple[str, str, Result]]) -> dict[str, float]:
    """The estimates among some results with their intervals, as columns of a row."""
    row: dict[str, float] = {}
    for kind, _, result in found:
        if isinstance(result, Estimate):
            key = kind.split(".", 1)[1]
            row[key] = result.estimate
            if result.interval is not None:
                row[f"{key}_low"], row[f"{key}_high"] = result.interval.low, result.interval.high
    return row


_METRIC_OF = {
    "fleiss_kappa": "agreement/fleiss_kappa",
    "ac1": "agreement/ac1",
    "vote_share": "reliability/vote_share",
    "flip_rate": "agreement/flip_rate",
    "swap_consistency": "order/swap_consistency",
    "alignment": "people/alignment",
    "accuracy": "people/accuracy",
    "unread_share": "quality/unread_share",
}


def verdict_metrics(row: Mapping[str, Any]) -> dict[str, float]:
    """A row of the table of conditions under the names that the MLflow UI shows."""
    out: dict[str, float] = {}
    for column, metric in _METRIC_OF.items():
        if column in row:
            out[metric] = row[column]
            if f"{column}_low" in row:
                out[f"ci/{metric}.lo"] = row[f"{column}_low"]
                out[f"ci/{metric}.hi"] = row[f"{column}_high"]
    return out


_SAID = (
    ("fleiss_kappa", "kappa of repetitions"),
    ("swap_consistency", "swap consistency"),
    ("alignment", "agreement with people"),
    ("accuracy", "same verdict as people"),
)


def verdict_sentence(table: pd.DataFrame) -> str:
    """What was found, a clause a condition."""
    parts = []
    for row in table.to_dict("records"):
        told = [
            f"{label} {_with_interval(row, key)}"
            for key, label in _SAID
            if key in row
            and not math.isnan(row[key])
            and (key != "accuracy" or math.isnan(row.get("alignment", math.nan)))
        ]
        parts.append(f"{row['condition']}: {', '.join(told) or 'nothing could be estimated'}")
    return f"{'; '.join(parts)}."


def _with_interval(row: Mapping[Any, Any], key: str) -> str:
    """A number with its interval, three digits each."""
    text = format_number(row[key], digits=3)
    low, high = (row.get(f"{key}_{side}", math.nan) for side in ("low", "high"))
    if math.isnan(low) or math.isnan(high):
        return text
    return f"{text} [{format_number(low, digits=3)}, {format_number(high, digits=3)}]"


def _limits(frame: pd.DataFrame, table: pd.DataFrame, strange: tuple[str, ...]) -> list[str]:
    limits = []
    if strange:
        named = ", ".join(repr(s[:30]) for s in strange[:3]) + (" ..." if len(strange) > 3 else "")
        limits.append(
            f"Choices that are no outcome of a comparison ({named}) count as unread: neither "
            "agreement nor disagreement with people."
        )
    if int(table["n_clusters"].min()) < 50:
        limits.append(
            f"As few as {int(table['n_clusters'].min())} independent items: intervals are wide."
        )
    worst = table.sort_values("unread_share").iloc[-1]
    if worst["unread_share"] > 0:
        limits.append(
            f"Up to {100 * worst['unread_share']:.3g} % of the verdicts of a condition "
            f"({worst['condition']}) could not be read; they count neither for nor against it."
        )
    if len(set(frame["order"])) > 1 and "fleiss_kappa" in table:
        limits.append(
            "Repetitions are compared within the order named in the title; the other order is used "
            "in the results on position."
        )
    if frame["order"].nunique() < 2 and set(frame["choice"]) <= {"a", "b", "tie", ""}:
        limits.append(
            "One order only: a preference for a place cannot be told from a preference for a "
            "response."
        )
    return limits
