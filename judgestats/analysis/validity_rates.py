"""Error rates, corrected rates, and accuracy by number of repeats."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.analysis.agreement import passes_of_items
from judgestats.analysis.families import AnalysisPlan
from judgestats.data.matrices import ScoreArray
from judgestats.errors import InputError
from judgestats.results.numbers import apa_number
from judgestats.stats.inference.result import Result, Sample
from judgestats.stats.validity.corrected import CorrectedScore
from judgestats.stats.validity.label_plan import gain_phrase
from judgestats.stats.validity.poststratified import corrected_by_rates, effective_passes
from judgestats.stats.validity.scores import AccuracyByK, choice_accuracy_by_k

Found = list[tuple[str, str, Result]]


def corrected_results(
    score: CorrectedScore, what: str, *, mix: Mapping[str, float] | None, beside_judge: bool = True
) -> Found:
    """The corrected number and its references.

    Parameters
    ----------
    score : CorrectedScore
    what : str
        ``pass rate`` or ``mean score``.
    mix : mapping of category to share, or None
    beside_judge : bool
        Whether the judge's own mean is the same quantity and is reported as a reference.

    Returns
    -------
    list of (str, str, Result)
    """
    shares = ", ".join(f"{k} {v / sum(mix.values()):.2g}" for k, v in mix.items()) if mix else ""
    corrected = score.corrected.replace(
        notes=score.notes,
        details={
            **score.corrected.details,
            **({"judge_only": score.judge_only.estimate} if beside_judge else {}),
            "people_only": score.people_only.estimate,
            "labels_extra": score.labels_extra.estimate,
        },
    )
    beside = [
        f"{name} {apa_number(e.estimate, bounded=what == 'pass rate')}"
        for name, e in (("judge alone", score.judge_only), ("labels alone", score.people_only))
        if not math.isnan(e.estimate) and (beside_judge or e is not score.judge_only)
    ]
    if score.labels_extra.interval is not None:
        beside.append(gain_phrase(score.labels_extra))
    if not score.labels_drawn:
        beside.append("assumes that the labelled items were drawn at random")
    if shares:
        beside.append(f"for the mix {shares}")
    title = f"The {what} that people would give ({', '.join(beside)})"
    results: Found = [("people.corrected", title, corrected)]
    alone = score.people_only
    if not math.isnan(alone.estimate):
        name = "people_only_rate" if what == "pass rate" else "people_only"
        results.append(("people.labels_alone", alone.label, alone.replace(name=name)))
    extra = score.labels_extra
    if extra.interval is not None:
        results.append(("people.labels_extra", extra.label, extra))
    return results


RATES = ("sensitivity", "specificity")


def read_rates(given: Mapping[str, str]) -> dict[str, tuple[float, float]]:
    """How many labels each rate rests on, and how many of them the judge met.

    Parameters
    ----------
    given : mapping of str to str
        ``sensitivity`` and ``specificity``: ``137/149``, or the share ``.92/149``.

    Returns
    -------
    dict of str to (right, labels)
        Empty if nothing is given.

    Raises
    ------
    InputError
        One is given without the other, or is not a rate with its number of labels.

    Examples
    --------
    >>> read_rates({"sensitivity": "137/149", "specificity": ".84/50"})
    {'sensitivity': (137.0, 149.0), 'specificity': (42.0, 50.0)}
    """
    rates = {name: str(given[name]).strip() for name in RATES if str(given.get(name, "")).strip()}
    if len(rates) == 1:
        [one] = rates
        other = next(r for r in RATES if r != one)
        raise InputError(f"{one}= needs {other}= too: a rate is corrected by both.")
    out = {}
    for name, text in rates.items():
        first, mark, second = (p.strip() for p in text.partition("/"))
        try:
            right, labels = float(first), float(second) if mark else math.nan
        except ValueError:
            right = labels = math.nan
        if "." in first and 0 <= right <= 1:
            right *= labels
        if not (0 <= right <= labels < math.inf) or labels < 1:
            raise InputError(
                f"{name}= must say on how many labels the rate rests: 137/149 (137 of 149 right), "
                f"or the share .92/149; got {text[:40]!r}."
            )
        out[name] = (round(right, 6), labels)
    return out


def check_rates(frame: pd.DataFrame, declared: AnalysisPlan) -> None:
    """Refuse rates measured elsewhere where these judgments have no use of them.

    Parameters
    ----------
    frame : DataFrame
        The parsed judgments, their verdicts as pass and fail where they are.
    declared : AnalysisPlan

    Raises
    ------
    InputError
        There are labels, several judges, or verdicts other than pass and fail.
    """
    if not read_rates(declared.options):
        return
    if "label" in frame and frame["label"].astype(str).str.strip().ne("").any():
        raise InputError(
            "sensitivity= and specificity= are for judgments without labels, and these have some: "
            "labels of the items judged correct the rate better (standard deviation .034 against "
            ".050 with 100 labels). Leave the rates out, or the labels."
        )
    judges = list(frame["judge"].unique())
    if len(judges) > 1:
        raise InputError(
            f"sensitivity= and specificity= are one judge's, and {len(judges)} judges are here "
            f"({', '.join(map(str, judges[:3]))}). Give the judgments of one."
        )
    if not set(frame["choice"]) - {""} <= {"pass", "fail"} or frame["score"].notna().any():
        raise InputError(
            "sensitivity= and specificity= correct pass and fail verdicts, and these are others. "
            "Leave the rates out; --kind pass-fail or --pass WORD says which word is a pass."
        )


def rate_corrections(asked: pd.DataFrame, declared: AnalysisPlan) -> list[tuple[str, str, Result]]:
    """The pass rate that people would give, by the rates of another study.

    Parameters
    ----------
    asked : DataFrame
        Judgments of one condition, ``pass``, ``fail`` or empty.
    declared : AnalysisPlan
        ``options`` hold the rates.

    Returns
    -------
    list of (str, str, Result)
        Empty where none were given or nothing was read.

    Notes
    -----
    Rogan and Gladen's estimate with Lang and Reiczigel's interval, on the number of independent
    items that would have the variance over clusters.
    """
    rates = read_rates(declared.options)
    read = asked[asked["choice"] != ""]
    if not rates or read.empty:
        return []
    passed = (read["choice"] == "pass").astype(float)
    share = passed.groupby(read["item_id"], sort=False).mean()
    cluster, _ = pd.factorize(read.groupby("item_id", sort=False)["cluster"].first())
    codes = np.asarray(cluster, dtype=np.int64)
    passes, n = effective_passes(np.asarray(share, dtype=np.float64), codes, level=declared.level)
    (tp, positives), (tn, negatives) = (rates[name] for name in RATES)
    corrected = corrected_by_rates(
        passes, n, tp=tp, positives=positives, tn=tn, negatives=negatives,
        level=declared.level,
    )  # fmt: skip
    clusters = int(np.unique(codes).size)
    unread = asked["item_id"].nunique() - len(share)
    sample = Sample(
        n_items=len(share),
        n_clusters=clusters if clusters < codes.size else None,
        excluded={"unread": unread},
    )
    shown = ", ".join(
        f"{name} {apa_number(right / labels, bounded=True)} of {labels:g} labels"
        for name, (right, labels) in rates.items()
    )
    title = (
        f"The pass rate that people would give (judge alone "
        f"{apa_number(passes / n, bounded=True)}; measured elsewhere: {shown})"
    )
    details = {**corrected.details, "judge_only": passes / n, "effective_n": n}
    return [("people.corrected", title, corrected.replace(sample=sample, details=details))]


_RIGHT = frozenset({"yes", "true", "1", "1.0", "correct", "right"})


def right_answers(frame: pd.DataFrame) -> pd.Series | None:
    """Whether each item is the correct answer to its question; None if that is unknown.

    It follows from a column ``correct``, or from pass / fail labels of scored items. The labels
    must pass one of several answers per question, and never two.

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
    """How often the best scored answer is the right one, by number of scores.

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
        Empty where no question has one correct answer among several; by number only where each is
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
    return results


def _with_all(
    whole: AccuracyByK, correct: NDArray[np.bool_], question: NDArray[np.object_]
) -> list[tuple[str, str, Result]]:
    """Accuracy of the highest mean of all scores, and of a random choice."""
    of_question = pd.Series(correct).groupby(question)
    chance = 1 / of_question.size()[of_question.sum().eq(1) & of_question.size().gt(1)]
    share = whole.accuracy[max(whole.accuracy)].replace(
        name="chosen_answers_that_are_right",
        label="Best scored answers that are correct",
        estimator="highest mean of all scores; ties share the credit",
    )
    random_choice = share.replace(
        estimate=float(chance.mean()), std_error=math.nan, interval=None, notes=(),
        label="A random choice", estimator="mean of 1 / answers",
    )  # fmt: skip
    return [
        ("people.best_scored", "How often the best scored answer is the right one", share),
        ("people.random_choice", "A random choice among the answers", random_choice),
    ]
