"""What asking again buys in accuracy: by number of judgments, by kind of item, and what to take."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.analysis.outcome import NamedResult, Recommendation
from judgestats.analysis.plan import AnalysisPlan
from judgestats.analysis.ratings import passes_of_items
from judgestats.errors import InputError
from judgestats.judgments.shapes import ScoreArray
from judgestats.results.numbers import apa_number
from judgestats.stats.inference.result import Result, Sample
from judgestats.stats.validity.choice_by_k import choice_accuracy_by_k
from judgestats.stats.validity.error_parts import AccuracyByK

_RIGHT = frozenset({"yes", "true", "1", "1.0", "correct", "right"})
_LEAST = 30
_MOST_TOLD = 6


@dataclasses.dataclass(frozen=True, kw_only=True)
class AccuracyByCategory(Result):
    """Accuracy with one and with all judgments in every category, and the fewest that do.

    Attributes
    ----------
    rows : DataFrame
    sample : Sample
    """

    rows: pd.DataFrame
    sample: Sample

    def tidy(self) -> pd.DataFrame:
        """One row a category."""
        return self.rows

    def sentence(self) -> str:
        """Where asking again buys most."""
        gain = self.rows["accuracy_most"] - self.rows["accuracy_1"]
        text = "; ".join(
            f"{r['category']} {apa_number(r['accuracy_1'], bounded=True)} -> "
            f"{apa_number(r['accuracy_most'], bounded=True)} (take {r['recommended']})"
            for r in self.rows.loc[gain.sort_values(ascending=False).index].to_dict("records")
        )
        return f"Accuracy with one and with {self.rows['most'].max()} judgments: {text}."

    def __str__(self) -> str:
        return f"\n{self.sentence()}\n{self.rows.to_string(index=False)}\n"


def right_answers(frame: pd.DataFrame) -> pd.Series | None:
    """Of each item whether it is the right answer to its question; None where nobody says.

    A column ``correct`` says so, or people's labels of scored items (pass, fail) that pass one
    answer of several to a question, and never two.

    Examples
    --------
    >>> f = pd.DataFrame({"item_id": ["a", "b"], "cluster": ["q", "q"], "correct": ["yes", "no"]})
    >>> right_answers(f).tolist()
    [True, False]
    """
    first = frame.drop_duplicates("item_id").set_index("item_id")
    if "correct" in frame:
        right = first["correct"].astype(str).str.strip().str.lower().isin(_RIGHT)
    else:
        passes = passes_of_items(first)
        if passes is None or passes.isna().any():
            return None
        right = passes.eq(1)
    of = right.groupby(first["cluster"]).agg(["sum", "size"])
    several = of[of["size"] > 1]
    if "correct" not in frame and (len(several) < len(of) or several["sum"].gt(1).any()):
        return None
    return right if several["sum"].eq(1).any() else None


def choices_by_k(
    name: str, array: ScoreArray, frame: pd.DataFrame, declared: AnalysisPlan
) -> list[tuple[str, str, Result]]:
    """How often the best scored answer is the right one, by number of scores and by category.

    Parameters
    ----------
    name : str
        The condition.
    array : ScoreArray
    frame : DataFrame
        With ``correct``.
    declared : AnalysisPlan

    Returns
    -------
    list of (str, str, Result)
        Empty where no question has one right answer among several; by number only where each is
        scored twice or more.
    """
    right = right_answers(frame)
    if right is None:
        return []
    scores = array.condition(name)
    scores = scores[:, np.isfinite(scores).any(axis=0)]
    correct = right.reindex(list(array.items)).fillna(False).to_numpy(bool)
    options: dict[str, Any] = {"level": declared.level, "seed": declared.seed}
    try:
        whole = choice_accuracy_by_k(scores, correct, array.clusters, **options)
    except InputError:
        return []
    results: list[tuple[str, str, Result]] = _with_all(whole, correct, array.clusters)
    if scores.shape[1] < 2:
        return results
    results.append(("people.by_k", "The same, by number of judgments", whole))
    first = frame.drop_duplicates("item_id").set_index("item_id")
    kinds = first["category"].reindex(list(array.items)).astype(str).to_numpy(object)
    rows = []
    for kind in sorted(set(kinds) - {""}):
        own = kinds == kind
        if np.unique(array.clusters[own]).size < _LEAST:
            continue
        try:
            part = choice_accuracy_by_k(scores[own], correct[own], array.clusters[own], **options)
        except InputError:
            continue
        rows.append(_row(kind, part))
    if len(rows) > 1:
        table = AccuracyByCategory(rows=pd.DataFrame(rows), sample=whole.sample)
        results.append(("people.by_k_category", "The same by category", table))
    return results


def _with_all(
    whole: AccuracyByK, correct: NDArray[np.bool_], question: NDArray[np.object_]
) -> list[tuple[str, str, Result]]:
    """How often the highest mean of all scores finds the right answer, and a random choice does."""
    of_question = pd.Series(correct).groupby(question)
    chance = 1 / of_question.size()[of_question.sum().eq(1) & of_question.size().gt(1)]
    share = whole.accuracy[max(whole.accuracy)].replace(
        name="chosen_answers_that_are_right",
        label="Best scored answers that are right",
        estimator="highest mean of all scores; those that share it share the credit",
    )
    random_choice = share.replace(
        estimate=float(chance.mean()), std_error=math.nan, interval=None, notes=(),
        label="A random choice", estimator="mean of 1 / answers",
    )  # fmt: skip
    return [
        ("people.best_scored", "How often the best scored answer is the right one", share),
        ("people.random_choice", "A random choice among the answers", random_choice),
    ]


def _row(kind: str, part: AccuracyByK) -> dict[str, Any]:
    most = max(part.accuracy)
    row: dict[str, Any] = {"category": kind, "n_questions": part.sample.n_items, "most": most}
    for key, k in (("accuracy_1", min(part.accuracy)), ("accuracy_most", most)):
        of = part.accuracy[k]
        row[key] = of.estimate
        row[f"{key}_low"] = of.interval.low if of.interval else math.nan
        row[f"{key}_high"] = of.interval.high if of.interval else math.nan
    return row | {"recommended": part.recommended, "shown": part.shown}


def recommend_by_labels(
    results: Sequence[NamedResult], frame: pd.DataFrame
) -> Recommendation | None:
    """How many judgments to take, by what they buy in accuracy; None without such results.

    Parameters
    ----------
    results : sequence of NamedResult
        ``people.by_k`` of each condition.
    frame : DataFrame
        Tells what a judgment costs.

    Returns
    -------
    Recommendation or None
    """
    by_k = {
        r.about.conditions[0]: (r.id, r.result)
        for r in results
        if isinstance(r.result, AccuracyByK) and r.about.conditions
    }
    if not by_k:
        return None
    own = frame[frame["condition"].isin(by_k)]
    tokens = (own["tokens_in"] + own["tokens_out"]).groupby(own["condition"]).mean()
    cost = own.groupby("condition")["cost_usd"].mean()

    def reached(name: str) -> float:
        by_accuracy = by_k[name][1]
        return by_accuracy.accuracy[by_accuracy.recommended].estimate

    names = sorted(by_k, key=reached, reverse=True)
    parts: list[tuple[str, str]] = []
    for name in names[:_MOST_TOLD]:
        by_accuracy = by_k[name][1]
        k, most, fewest = (
            by_accuracy.recommended,
            max(by_accuracy.accuracy),
            min(by_accuracy.accuracy),
        )
        spent = tokens.get(name, math.nan) * k
        price = f", {spent:,.0f} tokens" if math.isfinite(spent) else ""
        one, all_of = (
            apa_number(by_accuracy.accuracy[j].estimate, bounded=True) for j in (fewest, most)
        )
        why = (
            f"shown to lose less than {apa_number(by_accuracy.margin, bounded=True)}"
            if by_accuracy.shown
            else "no fewer are shown to be enough"
        )
        verb = "orders rightly" if by_accuracy.of_pairs else "right in"
        unit = "" if parts else f" judgment{'s' * (k > 1)} an item"  # said once
        text = f"{name}: {k}{unit}{price}"
        parts.append((f"{text} ({verb} {one} with {fewest}, {all_of} with {most}", why))
    reasons = {why for _, why in parts}
    alike = len(parts) > 1 and len(reasons) == 1  # said once
    told = "; ".join(f"{text})" if alike else f"{text}; {why})" for text, why in parts)
    told += f"; {reasons.pop()}" if alike else ""
    best = by_k[names[0]][1]
    each = float(cost.get(names[0], math.nan))
    left = len(names) - _MOST_TOLD
    more = (f"{left} more stand in the report.",) if left > 0 else ()
    return Recommendation(
        sentences=(
            f"By the labels: {told}.",
            *more,
            "What a repeat buys in reliability is another question: repeats remove noise, no bias.",
        ),
        replicates=best.recommended,
        cost_usd=None if math.isnan(each) else each * best.recommended,
        reason="accuracy against the labels, by number of judgments",
        rests_on=tuple(by_k[n][0] for n in names),
    )
