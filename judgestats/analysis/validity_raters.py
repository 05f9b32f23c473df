"""Rates, annotators, panels of judges, and draws of labels."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pandas as pd

from judgestats import stats
from judgestats.analysis.agreement import item_means, passes_of_items
from judgestats.analysis.families import AnalysisPlan, Hypothesis, shared_clusters
from judgestats.analysis.records import Found, NamedResult
from judgestats.arrays import Bools, Floats, Objects
from judgestats.data.parse import ScoreArray
from judgestats.errors import InputError
from judgestats.results import About, apa_number
from judgestats.stats.inference.result import Estimate, Note, Sample
from judgestats.stats.validity.annotators import AlternativeAnnotator
from judgestats.stats.validity.corrected import CorrectedScore
from judgestats.stats.validity.label_draws import LABELS_DRAWN, LabelsDrawn
from judgestats.stats.validity.label_plan import gain_phrase
from judgestats.stats.validity.panels import FOLDS, LEAST_LABELS, Panel
from judgestats.stats.validity.poststratified import effective_passes
from judgestats.stats.validity.scores import AccuracyByK


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
    parts = ("judge_only", "people_only", "labels_extra")[0 if beside_judge else 1 :]
    numbers = {name: getattr(score, name).estimate for name in parts}
    details = {**score.corrected.details, **numbers}
    corrected = score.corrected.replace(notes=score.notes, details=details)
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
    title = f"Corrected {what} ({', '.join(beside)})"
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
            "sensitivity= and specificity= are for judgments without labels, but these have some. "
            "Labels of the items judged correct the rate better (standard deviation .034 against "
            ".050 with 100 labels). Leave the rates out, or the labels."
        )
    judges = list(frame["judge"].unique())
    if len(judges) > 1:
        raise InputError(
            f"sensitivity= and specificity= are one judge's, and {len(judges)} judges are here "
            f"({', '.join(map(str, judges[:3]))}). Give the judgments of one."
        )
    if not set(frame["choice"].unique()) - {""} <= {"pass", "fail"} or frame["score"].notna().any():
        raise InputError(
            "sensitivity= and specificity= correct pass and fail verdicts, and these are others. "
            "Leave the rates out; --kind pass-fail or --pass WORD says which word is a pass."
        )


def rate_corrections(asked: pd.DataFrame, declared: AnalysisPlan) -> Found:
    """The pass rate corrected by the rates of another study.

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
    corrected = stats.corrected_by_rates(
        passes, n, tp=tp, positives=positives, tn=tn, negatives=negatives,
        level=declared.level,
    )  # fmt: skip
    clusters, unread = int(np.unique(codes).size), asked["item_id"].nunique() - len(share)
    groups = clusters if clusters < codes.size else None
    sample = Sample(n_items=len(share), n_clusters=groups, excluded={"unread": unread})
    shown = ", ".join(
        f"{name} {apa_number(right / labels, bounded=True)} of {labels:g} labels"
        for name, (right, labels) in rates.items()
    )
    alone = apa_number(passes / n, bounded=True)
    title = f"Corrected pass rate (judge alone {alone}; measured elsewhere: {shown})"
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
) -> Found:
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
        whole = stats.choice_accuracy_by_k(scores, correct, array.clusters, **options)
    except InputError:
        return []
    by_k: Found = [("people.by_k", "The same, by number of judgments", whole)]
    return _with_all(whole, correct, array.clusters) + (by_k if scores.shape[1] > 1 else [])


def _with_all(whole: AccuracyByK, correct: Bools, question: Objects) -> Found:
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


PERSON = "label_"
"""Prefix of a column that holds one rater's labels."""
_LEAST = 10
_MOST_PEOPLE = 50


def annotator_results(asked: pd.DataFrame, declared: AnalysisPlan, *, scores: bool) -> Found:
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
        agreed = stats.agreement_ceiling(
            values, labels, scores=scores, cluster=cluster, level=declared.level
        )
        replaced = stats.alternative_annotator_test(
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
    beyond: Found = []
    if not scores:  # on the items of the others: judged, labelled by two
        kappa = stats.fleiss_kappa(
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


def _replaces(replaced: AlternativeAnnotator) -> Found:
    """Share of annotators that the judge may replace, with that of a constant judge."""
    named = {
        "replaces": (f"Alt-test winning rate (epsilon {replaced.epsilon:g})", replaced),
        "constant_replaces": ("Alt-test winning rate of a constant judge",
                              replaced.beside.get("the best constant label")),
    }  # fmt: skip
    results: Found = []
    for kind, (label, test) in named.items():
        if test is not None and not test.reason:
            rate = Estimate(
                name="winning_rate", label=label, estimate=test.winning_rate, sample=test.sample
            )
            results.append((f"people.{kind}", label, rate))
    return results


def _labels(table: pd.DataFrame, *, scores: bool) -> Objects:
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
    "panel", "Is a panel of these conditions better than its best member?",
    "majority (scores: mean, median) and weights learnt from labels against each member, with the "
    "interval of the best one. Weights are learnt on four fifths of the questions. Near copies and "
    "the effective number of judges are reported", "none: differences with intervals",
)  # fmt: skip
PANEL_GAIN = "panel.gain"
_MOST = 12
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
        Empty where there is one condition, no label, or another kind of verdicts.
    """
    names = [str(c) for c in frame["condition"].unique()]
    if "label" not in frame or len(names) < 2:
        return []
    values = set(frame["label"]) - {"", "tie"}
    words = next((p for p in _PAIRS if values and values <= set(p)), None)
    if words is None:
        return []
    code = {words[0]: 0.0, words[1]: 1.0}
    value = frame["choice"].map(code).astype(float)
    share = value.groupby([frame["item_id"], frame["condition"]], sort=False).mean().unstack()
    share = share.reindex(columns=names).sort_index()  # folds follow the items, not their rows
    votes = np.where(share == 0.5, np.nan, np.where(share.isna(), share, share > 0.5))
    first = _once(frame).loc[share.index]
    human = first["label"].map(code).to_numpy(float)
    clusters = first["cluster"].to_numpy(object)
    return _panel(declared, stats.panel_of_judges, names, clusters, votes, human)


def _once(frame: pd.DataFrame) -> pd.DataFrame:
    """A row per item, without a label where the conditions' labels differ."""
    labels = frame["label"].mask(frame["label"].eq("")).groupby(frame["item_id"]).nunique()
    first = frame.drop_duplicates("item_id").set_index("item_id")
    return first.assign(label=first["label"].mask(labels.reindex(first.index) > 1, ""))


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
        Empty where there is one condition, or no label.
    """
    order = np.argsort(np.asarray(array.items, dtype=str))
    human = ratings.reindex(list(array.items)).to_numpy(float)[order]
    names, means = list(array.conditions), item_means(array)[order]
    return _panel(declared, stats.panel_of_scores, names, array.clusters[order], means, human)


def _panel(
    declared: AnalysisPlan,
    function: Callable[..., Panel],
    names: list[str],
    clusters: Objects | None,
    *data: Any,
) -> list[NamedResult]:
    """The panel, and what its plain rule gains over the best member, or that labels are too few."""
    if not 2 <= len(names) <= _MOST:
        return []
    about = About(conditions=tuple(names))
    cluster = None if clusters is None else shared_clusters(clusters)
    labelled = np.array([not (pd.isna(v) or v == "") for v in data[-1]], bool)
    n = int(labelled.sum())
    groups = n if cluster is None else len(set(cluster[labelled]))
    if 0 < n < LEAST_LABELS or 0 < groups < FOLDS:
        gain = Estimate(
            name="squared_error_gain" if function is stats.panel_of_scores else "accuracy_gain",
            label="Panel minus its best member", estimate=math.nan, sample=Sample(n_items=n),
            reason=f"{n} labels{'' if n < LEAST_LABELS else f' in {groups} clusters'} are too few",
        )  # fmt: skip
        title = "A panel of all minus its best member"
        return [NamedResult(PANEL_GAIN, title, "secondary", gain, about=about)]
    try:
        panel = function(
            *data, names=names, cluster=cluster, level=declared.level, seed=declared.seed
        )
    except InputError:
        return []
    rule, gain = next(iter(panel.against_best.items()))
    title = f"A panel of all, by {rule}, minus its best member"
    return [
        NamedResult("panel.all", "Several judges as one panel", "secondary", panel, about=about),
        NamedResult(PANEL_GAIN, title, "secondary", gain, about=about),
    ]


LABELLED_ONLY = Note(
    code="labelled_only",
    message="The labelled items were not drawn at random: this speaks for them alone.",
)


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

    @property
    def is_unequal(self) -> bool:
        """Whether labelled items had unequal chances."""
        return self.chance is not None or self.labels_drawn == "by-verdict"

    @property
    def how(self) -> dict[str, Any]:
        """Keywords of `stats.error_rates` and `stats.corrected_rate`."""
        names = ("stratum", "chance", "labels_drawn")
        return {name: getattr(self, name) for name in names}

    @property
    def of_scores(self) -> dict[str, Any]:
        """Keywords of `stats.corrected_mean`; unequal chances count as a draw by verdict."""
        drawn = "by-verdict" if self.is_unequal else self.labels_drawn
        return {"stratum": self.stratum, "mix": self.mix, "labels_drawn": drawn}

    @property
    def notes(self) -> tuple[Note, ...]:
        """That results speak for the labelled items alone, where they do."""
        alone = self.is_unequal or self.labels_drawn == "convenience"
        return (LABELLED_ONLY,) if alone else ()


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
    chances = None if chance is None else pd.to_numeric(chance, errors="coerce").to_numpy(float)
    if chances is not None and not np.isfinite(chances[labelled]).all():
        chances = None
    if chances is not None and stated != "stratified" and np.ptp(chances[labelled]) <= 1e-9:
        # Equal chances: drawn at random, unless what is stated goes beyond the chances.
        return Drawing(labels_drawn=stated or "random")
    if stated == "convenience":
        return Drawing(labels_drawn=stated)
    if chances is not None:
        by_verdict = not labelled.all() and _one_each(verdict[labelled], chances[labelled])
        if stated in {None, "by-verdict"} and by_verdict:
            return Drawing(labels_drawn="by-verdict")
        # Drawn by something else, as another judge's verdicts: the chances themselves weigh.
        return Drawing(labels_drawn="random", chance=chances)
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
