"""Validity of one condition against labels."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats import stats
from judgestats.analysis.agreement import passes_of_items, ratings_of
from judgestats.analysis.coefficients import columns_of, declared_row, described, metric_values
from judgestats.analysis.families import AnalysisPlan, clusters_of, shared_clusters
from judgestats.analysis.limits import Limit
from judgestats.analysis.records import Analysis, Found, NamedResult, condition_result
from judgestats.analysis.supplements import Rows
from judgestats.analysis.validity_raters import PERSON, corrected_results, drawing, rate_corrections
from judgestats.analysis.validity_systems import disagreements, separated_scores
from judgestats.arrays import Floats, mean_of_present
from judgestats.data.parse import ScoreArray, score_array
from judgestats.data.readers.columns import TEXTS
from judgestats.data.readers.labels import PART, coded_labels, with_labels
from judgestats.data.readers.verdicts import coded_choices
from judgestats.data.verdict_kinds import Kind
from judgestats.data.vocabulary import FAIL, PASS
from judgestats.errors import InputError
from judgestats.items.records import Item, Response
from judgestats.protocols import Scale, response_names
from judgestats.results import About, Row
from judgestats.stats.agreement.raw_agreement import mean_share
from judgestats.stats.inference.result import Estimate, Result
from judgestats.stats.validity.error_rates import ErrorRates

_OF_RATES = {
    "sensitivity": "TPR: share of human passes that it passes",
    "specificity": "TNR: share of human fails that it fails",
    "precision": "Precision against human labels",
    "negative_predictive_value": "NPV against human labels",
    "balanced_accuracy": "Balanced accuracy against human labels",
    "matthews_correlation": "Matthews' correlation with human labels",
}
_CODES = {"pass": 1.0, "fail": 0.0}


def verdict_validity(asked: pd.DataFrame, declared: AnalysisPlan) -> Found:
    """Error rates of pass and fail verdicts, and the corrected pass rate.

    Parameters
    ----------
    asked : DataFrame
        Judgments of one condition; ``choice`` and ``label`` are ``pass``, ``fail`` or empty.
    declared : AnalysisPlan

    Returns
    -------
    list of (str, str, Result)
        Empty if nothing is labelled.
    """
    wide = _wide(asked)
    judge, items = wide.to_numpy(float), wide.index
    human = people_verdicts(asked, items)
    if not np.isfinite(human).any():
        return []
    options: dict[str, Any] = {
        "cluster": shared_clusters(clusters_of(asked, items)), "level": declared.level
    }  # fmt: skip
    share = mean_of_present(judge, 1)  # NaN: no verdict was parsed, so neither side
    majority = np.where(share == 0.5, np.nan, np.where(np.isnan(share), share, share > 0.5))
    drawn = drawing(asked, items, np.isfinite(human), majority, declared)
    rates = stats.error_rates(judge, human, **drawn.how, **options)
    results = _rates(rates, repeats=judge.shape[1])
    if drawn.labels_drawn in {"by-verdict", "stratified"} or drawn.chance is not None:
        # One judgment against one label, each counted once, would be biased: these stand for it.
        results += [
            (f"people.{key}", f"{title}, weighted", rates.rates[name])
            for key, name, title in (
                ("accuracy", "accuracy", "Accuracy"),
                ("kappa", "cohen_kappa", "Cohen's kappa with human labels"),
            )
        ]
        always = rates.rates["accuracy"].replace(
            label="A judge that always says the same", estimate=rates.constant["accuracy"],
            interval=None, details={},
        )  # fmt: skip
        results.append(("people.always_same", f"{always.label}, weighted", always))
    if np.isnan(human).any() or drawn.mix:
        score = stats.corrected_rate(judge, human, mix=drawn.mix, **drawn.how, **options)
        results += corrected_results(score, "pass rate", mix=drawn.mix)
    if judge.shape[1] >= 3 and np.any(np.all(np.isfinite(judge), axis=1) & np.isfinite(human)):
        by_k = stats.accuracy_by_k(judge, human, **options)
        results.append(("people.by_k", "Accuracy by number of verdicts", by_k))
    results.append(disagreements(items, share, human, least=0.5))
    return results


def people_verdicts(asked: pd.DataFrame, items: pd.Index) -> Floats:
    """Human verdict per item: 1 pass, 0 fail, NaN where there is none or a tie.

    Examples
    --------
    >>> f = pd.DataFrame({"item_id": ["x", "x", "y"], "label": ["pass", "fail", "pass"]})
    >>> people_verdicts(f, pd.Index(["x", "y", "z"])).tolist()
    [nan, 1.0, nan]
    """
    labels = asked["label"].map(_CODES).groupby(asked["item_id"], sort=False).mean()
    # People who differ on an item leave it without a label that a verdict could be held to.
    human = labels.reindex(items).where(lambda v: v != 0.5).round()
    return np.asarray(human, dtype=np.float64)


def _rates(rates: ErrorRates, *, repeats: int) -> Found:
    """The rates with their titles; notes on all of them are attached to the first."""
    of = f" (majority of its {repeats} verdicts)" if repeats > 1 else ""
    results: Found = []
    for name, title in _OF_RATES.items():
        rate = rates.rates[name]
        notes = rates.notes if name in {"sensitivity", "specificity"} else rate.notes
        table = rates.table if name == "sensitivity" else {}
        value = rate.replace(notes=notes, details={**rate.details, **table})
        results.append((f"people.{name}", f"{title}{of}", value))
    return results


def score_validity(
    name: str, array: ScoreArray, asked: pd.DataFrame, ratings: pd.Series, declared: AnalysisPlan
) -> Found:
    """Bias and concordance of one condition's scores, and the corrected mean.

    Parameters
    ----------
    name : str
        The condition.
    array : ScoreArray
    asked : DataFrame
        The judgments of the condition.
    ratings : Series
        Human ratings, by item.
    declared : AnalysisPlan

    Returns
    -------
    list of (str, str, Result)
        Empty where no item has both.
    """
    scores = array.scores[:, array.conditions.index(name), :]
    human = ratings.reindex(list(array.items)).to_numpy(float)
    judged = np.isfinite(scores).any(axis=1)
    scores, human = scores[judged], human[judged]
    items = np.asarray(array.items, dtype=object)[judged]
    cluster = shared_clusters(np.asarray(array.clusters, dtype=object)[judged])
    if not np.isfinite(human).any():
        return []
    if passes_of_items(asked) is not None:
        return separated_scores(scores, human, asked, declared, items=items, cluster=cluster)
    options: dict[str, Any] = {"cluster": cluster, "level": declared.level}
    agreement = stats.graded_agreement(scores, human, **options)
    graded = agreement.estimates
    mean = np.nanmean(scores, axis=1)
    drawn = drawing(asked, pd.Index(items), np.isfinite(human), mean, declared)
    results: Found = [
        (f"people.{k}", graded[k].label, graded[k].replace(notes=(*graded[k].notes, *drawn.notes)))
        for k in ("bias", "lower_limit", "upper_limit", "concordance", "slope")
    ]
    curve = Rows(table=agreement.curve)
    results.append(("people.curve", "Mean human score by the judge's score", curve))
    if np.isnan(human).any() or drawn.mix:
        score = stats.corrected_mean(scores, human, **drawn.of_scores, **options)
        results += corrected_results(score, "mean score", mix=drawn.mix)
    if np.any((np.isfinite(scores).sum(axis=1) >= 2) & np.isfinite(human)):
        results += [
            (f"people.{k}", f"{e.label} against human labels", e)
            for k, e in stats.error_parts(scores, human, **options).items()
        ]
    results.append(disagreements(items, mean, human, least=0.0))
    return results


def _wide(asked: pd.DataFrame) -> pd.DataFrame:
    """Items x judgments (replicates, orders) of pass verdicts."""
    values = asked.assign(
        value=asked["choice"].map(_CODES).astype(float),
        place=asked.groupby("item_id", sort=False).cumcount(),
    )
    items = list(dict.fromkeys(asked["item_id"]))
    return values.pivot(index="item_id", columns="place", values="value").reindex(items)


def validity_metrics(results: Iterable[tuple[str, str, Result]]) -> dict[str, float]:
    """Metrics of a condition, with the ends of their intervals.

    Examples
    --------
    >>> from judgestats.stats.inference.result import Interval, Sample
    >>> e = Estimate(name="sensitivity", label="", estimate=0.9, sample=Sample(n_items=9),
    ...              interval=Interval(low=0.8, high=0.95))
    >>> validity_metrics([("people.sensitivity", "", e)])
    {'validity/sensitivity': 0.9, 'ci/validity/sensitivity.lo': 0.8, 'ci/validity/sensitivity.hi': 0.95}
    """  # noqa: E501
    out: dict[str, float] = {}
    for kind, _, result in results:
        name = kind.removeprefix("people.")
        if name not in _METRICS or not isinstance(result, Estimate) or math.isnan(result.estimate):
            continue
        out |= metric_values(f"validity/{name}", result)
    return out


_MEASURED = ("bias", "separation", "concordance", "corrected", "mean_squared_error")
_METRICS = {*_OF_RATES, *_MEASURED}


def texts_of(items: Sequence[Item]) -> dict[str, tuple[str, str]]:
    """Question and answer of each thing judged, by its id."""
    return {name: (item.question, response.text) for item, name, response in _responses(items)}


def _responses(items: Sequence[Item]) -> Iterator[tuple[Item, str, Response]]:
    """Items with the names of their responses, and these."""
    for item in items:
        for name, response in zip(response_names(item), item.responses, strict=True):
            yield item, name, response


def texts_in(frame: pd.DataFrame) -> dict[str, tuple[str, str]]:
    """Question and answer of each item, where the file of the judgments holds them.

    Examples
    --------
    >>> texts_in(pd.DataFrame({"item_id": ["x"], "answer_text": ["It is blue."]}))
    {'x': ('', 'It is blue.')}
    """
    if not set(TEXTS) & set(frame):
        return {}
    first = frame.drop_duplicates("item_id")
    parts = [first[c] if c in first else pd.Series("", index=first.index) for c in TEXTS]
    return {str(i): (str(q), str(a)) for i, q, a in zip(first["item_id"], *parts, strict=True)}


def designed_scores(items: Sequence[Item], low: float, high: float) -> dict[str, float]:
    """The designed quality of answers in points of a scale, by what is judged."""
    return {
        name: low + (high - low) * response.quality
        for _, name, response in _responses(items)
        if response.quality is not None
    }


def labelled_frame(
    asked: pd.DataFrame, items: Sequence[Item], declared: AnalysisPlan
) -> tuple[pd.DataFrame, list[str]]:
    """One condition's judgments with ``label``: words for verdicts, numbers for scores.

    Parameters
    ----------
    asked : DataFrame
    items : sequence of Item
    declared : AnalysisPlan
        ``options`` say where the labels are from and from which score an answer passes.

    Returns
    -------
    tuple of DataFrame and list of str
        Without ``label`` where these labels say nothing of such verdicts, and why.
    """
    options = declared.options
    verdicts = bool(set(asked["choice"]) - {""}) or not asked["score"].notna().any()
    if options["labels"] == "designed":
        scores, frame = _designed(asked, items, declared), []
        label = asked["item_id"].astype("str").map(scores)
    else:
        file = Path(options["labels"])
        try:
            joined = with_labels(Path("what was judged"), asked, file, scores=True)
        except InputError as error:
            return asked, [str(error)]
        notes = asked.attrs.get("notes", ())
        frame = [str(note) for note in joined.attrs.get("notes", ()) if note not in notes]
        asked = joined
        words = asked["label"].astype(str).str.strip()
        label = pd.to_numeric(words.where(words != ""), errors="coerce")
        if label.notna().sum() == 0 and (words != "").any():
            if verdicts:
                return asked, frame
            name = asked["condition"].iloc[0]
            text = f"{name}: the labels are words, which scores are not held to."
            return asked.drop(columns="label"), [*frame, text]
    if verdicts:
        people = [str(c) for c in asked if str(c).startswith(PERSON)]
        columns = {"label": label} | {c: pd.to_numeric(asked[c], errors="coerce") for c in people}
        least = float(options["pass_from"])
        passes = {
            c: np.where(v.isna(), "", np.where(v >= least, "pass", "fail"))
            for c, v in columns.items()
        }
        return asked.assign(**passes), frame
    shown = ["" if np.isnan(v) else f"{v:.10g}" for v in label.to_numpy(float)]
    return asked.assign(label=shown), frame


def _designed(
    asked: pd.DataFrame, items: Sequence[Item], declared: AnalysisPlan
) -> dict[str, float]:
    """The designed quality on the scale, of as many answers as keep their label."""
    designed = designed_scores(items, *map(float, declared.options["scale"].split()))
    judged = sorted(set(asked["item_id"]) & set(designed))
    most = declared.options["labelled"]
    if most != "all" and int(most) < len(judged):
        judged = random.Random(f"{declared.seed}/labelled").sample(judged, int(most))
    return {name: designed[name] for name in judged}


_SHORT = {
    "unrepresentative": "labelled items differ from the rest in the judge's verdicts",
    "few_labels": "few labels",
    "no_better_than_chance": "sensitivity + specificity not above 1",
    "no_class": "one verdict is in no label",
    "few_in_class": "few labels of one verdict",
    "unread_left_out": "no unparsed item has a label: rates are of parsed verdicts",
    "convenience": "labels chosen by hand: nothing is corrected",
    "assumes_random": "labels are assumed random (--labels-drawn)",
}


def label_warnings(results: Iterable[NamedResult]) -> list[str]:
    """The gravest notes of results on people, each once, with the first condition that has it.

    Parameters
    ----------
    results : iterable of NamedResult

    Returns
    -------
    list of Limit
    """
    out: dict[str, str] = {}
    for named in results:
        if not named.id.startswith("people.") or not isinstance(named.result, Estimate):
            continue
        for note in named.result.notes:
            if note.code in _SHORT and note.code not in out:
                of = f"{', '.join(named.about.conditions)}: " if named.about.conditions else ""
                text = f"{of}{note.message}"
                out[note.code] = Limit(text, code=note.code, short=_SHORT[note.code])
    return [out[code] for code in _SHORT if code in out]


TUNED_ON = "labels/tuning"
"""Parameter of a run whose labels are the tuning part: the part's digest."""
_ON_TUNING = "on the labels used for tuning"


def tuning_digest(frames: Sequence[pd.DataFrame]) -> str:
    """Digest of the tuning part that the labels are from; empty where they are from none.

    Examples
    --------
    >>> part = pd.DataFrame({"label": ["pass", ""], "labels_part": ["tuning:1f", ""]})
    >>> tuning_digest([part]), tuning_digest([part.assign(labels_part="validation:2c")])
    ('1f', '')
    """
    parts: set[str] = set()
    for frame in frames:
        if PART in frame and "label" in frame:
            parts |= set(frame.loc[frame["label"].astype(str) != "", PART].astype(str))
    digests = [p.removeprefix("tuning:") for p in sorted(parts) if p.startswith("tuning:")]
    return digests[0] if digests else ""


def marked_as_tuned(analysis: Analysis, frames: Sequence[pd.DataFrame]) -> Analysis:
    """The analysis with its agreement named as that on the labels used for tuning, if it is.

    Parameters
    ----------
    analysis : Analysis
    frames : sequence of DataFrame
        Judgments with ``label`` and the column that `judgestats labels split` wrote.

    Returns
    -------
    Analysis
    """
    digest = tuning_digest(frames)
    if not digest:
        return analysis
    text = (
        f"Agreement is {_ON_TUNING} (digest {digest}): a prompt chosen among ten equal ones on 100 "
        "labels looks .065 too accurate there. Use the validation part for the decision."
    )
    return replace(
        analysis,
        results=tuple(map(_marked, analysis.results)),
        described=tuple(map(_marked, analysis.described)),
        limitations=(text, *analysis.limitations),
        params={**analysis.params, TUNED_ON: digest},
    )


def _marked(named: NamedResult) -> NamedResult:
    """A result that rests on the labels, with that in its title."""
    held = named.id.startswith(("people.", "related.", "error."))
    return replace(named, title=f"{named.title}, {_ON_TUNING}") if held else named


def steady_results(name: str, asked: pd.DataFrame, declared: AnalysisPlan) -> list[NamedResult]:
    """The SEM of repeated scores, or the flip rate of repeated verdicts.

    Parameters
    ----------
    name : str
        The condition.
    asked : DataFrame
        Its judgments; pass and fail have a ``choice``.
    declared : AnalysisPlan

    Returns
    -------
    list of NamedResult
        Empty if no item has repeats.
    """
    if asked["replicate"].nunique() < 2:
        return []
    if not set(asked["choice"]) - {""}:
        array = score_array(asked)
        value = stats.condition_summary(
            array.scores, conditions=array.conditions, cluster=array.clusters, level=declared.level
        )[name].sem
    else:
        wide = asked.pivot(index="item_id", columns="replicate", values="choice")
        value = stats.flip_rate(
            wide.to_numpy(object), cluster=shared_clusters(clusters_of(asked, wide.index)),
            level=declared.level, n_permutations=0, seed=declared.seed,
        )  # fmt: skip
    return [described(value, About(conditions=(name,)))]


def steady_rows(results: Iterable[NamedResult]) -> tuple[Row, ...]:
    """The rows of these results on the screen and on the summary page."""
    names = [(r.id.split(".")[1], r.about.conditions[0]) for r in results]
    return tuple(
        declared_row(key, [name for of, name in names if of == key]) for key in ("flip_rate", "sem")
    )


CONFIDENCE = "confidence"
"""Column: confidence of the judge in its verdict."""
CHANCE_OF_PASSING = "pass_probability"
"""Column: the judge's chance that the answer passes."""
_LEAST = 20


@dataclass(frozen=True, kw_only=True)
class Diagram(Rows):
    """Reliability diagram: a row a bin of confidences."""

    summary: str

    def sentence(self) -> str:
        """Brier's score, and the calibration error with its null."""
        return self.summary


def confidence_results(asked: pd.DataFrame, declared: AnalysisPlan) -> Found:
    """Brier's score, calibration error with its null, and the reliability diagram.

    Parameters
    ----------
    asked : DataFrame
        Judgments of one condition, with the same values in ``choice`` and ``label``. The first
        judgment of each item counts.
    declared : AnalysisPlan

    Returns
    -------
    list of (str, str, Result)
        Empty if fewer than 20 labelled verdicts have a confidence, or if confidences are not
        probabilities.
    """
    named = [c for c in (CHANCE_OF_PASSING, CONFIDENCE) if c in asked and asked[c].notna().any()]
    if not named:
        return []
    stated = named[0]
    own = asked[(asked["label"] != "") & (asked["choice"] != "") & asked[stated].notna()]
    own = own.drop_duplicates("item_id")
    of_passing = stated == CHANCE_OF_PASSING and not is_of_verdict(own)
    if of_passing:
        own = own[own["label"].isin(["pass", "fail"])]
        outcome = own["label"].eq("pass")
    else:
        outcome = own["choice"].eq(own["label"])
    chance = own[stated].to_numpy(float)
    if chance.size and 1 < chance.max() <= 100 and chance.min() >= 0:
        chance = chance / 100  # said in per cent
    if chance.size < _LEAST:
        return []
    cluster = shared_clusters(own["cluster"].to_numpy(object))
    options: dict[str, Any] = {"cluster": cluster, "level": declared.level, "seed": declared.seed}
    try:
        calibration = stats.confidence_calibration(chance, outcome.to_numpy(np.float64), **options)
    except InputError:  # outside 0-1: no chances, so nothing is said of them
        return []
    of = f"of its confidence {'of passing' if of_passing else 'in its verdict'}"
    diagram = Diagram(table=calibration.diagram, summary=calibration.sentence())
    return [
        ("people.brier", f"Brier score {of}", calibration.brier),
        ("people.calibration", f"Calibration error {of}", calibration.calibration_error),
        ("people.reliability_diagram", f"Reliability diagram {of}", diagram),
    ]


def is_of_verdict(frame: pd.DataFrame) -> bool:
    """Whether probabilities are of the verdict, not of a pass: they are high where it fails.

    Examples
    --------
    >>> f = pd.DataFrame({"choice": ["pass", "fail"], "pass_probability": [.9, .8]})
    >>> is_of_verdict(f), is_of_verdict(f.assign(pass_probability=[.9, .2]))
    (True, False)
    """
    return bool(frame.loc[frame["choice"] == FAIL, CHANCE_OF_PASSING].median() > 0.5)


def is_pass_fail(frame: pd.DataFrame) -> bool:
    """Whether all verdicts that were read are ``pass`` or ``fail``.

    Examples
    --------
    >>> is_pass_fail(pd.DataFrame({"choice": ["pass", ""]}))
    True
    """
    words = set(frame["choice"].unique()) - {""}
    return bool(words) and words <= {PASS, FAIL}


def to_pass_fail(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with all words for pass and fail, in verdicts and labels, made uniform.

    A frame with any other verdict is returned as it is. Labels may be in their own words.

    Parameters
    ----------
    frame : DataFrame
        A parsed frame.

    Returns
    -------
    DataFrame

    Raises
    ------
    InputError
        A word among them is not understood.

    Examples
    --------
    >>> f = pd.DataFrame({"choice": ["Yes", "no", ""], "label": ["P", "F", ""], "status": "ok"})
    >>> found = to_pass_fail(f)
    >>> found["choice"].tolist(), found["label"].tolist()
    (['pass', 'fail', ''], ['pass', 'fail', ''])
    """
    frame = coded_choices(frame)
    people = [str(c) for c in frame if c == "label" or str(c).startswith("label_")]
    if not people or not is_pass_fail(frame):
        return frame
    labels, _ = coded_labels("audit", frame[people], Kind(name="pass-fail"))
    return frame.assign(**{c: labels[c] for c in people})


def pass_fail_results(asked: pd.DataFrame, declared: AnalysisPlan) -> Found:
    """The pass rate of one condition, and its error rates where people labelled items.

    Parameters
    ----------
    asked : DataFrame
        Judgments of one condition, ``pass``, ``fail`` or empty.
    declared : AnalysisPlan

    Returns
    -------
    list of (str, str, Result)
        Empty if nothing was read.
    """
    read = asked[asked["choice"] != ""]
    if read.empty:
        return []
    share = (read["choice"] == PASS).groupby(read["item_id"], sort=False).mean()
    clusters = read.groupby("item_id", sort=False)["cluster"].first()
    rate = pass_rate(np.asarray(share, dtype=np.float64), clusters.to_numpy(object), declared)
    results: Found = [("verdicts.pass_rate", "How many pass", rate)]
    results += rate_corrections(asked, declared)
    if "label" in read and set(read["label"].unique()) - {""} <= {PASS, FAIL}:
        results += verdict_validity(asked, declared)
    return results


def pass_rate(shares: Floats, cluster: NDArray[Any], declared: AnalysisPlan) -> Estimate:
    """How often one judgment passes: the mean over items, with intervals over clusters."""
    return mean_share(
        shares, cluster=cluster, level=declared.level, name="share", label="Pass rate"
    )


_KS = (1, 3, 5, 10, 20)
_PARTS = ("mean_squared_error", "squared_bias", "between_items", "replicates")


def with_people_error(
    analysis: Analysis,
    frame: pd.DataFrame,
    items: Sequence[Item],
    *,
    people: str,
    scale: Scale,
    level: float,
) -> Analysis:
    """An analysis of scores with their squared error against human labels, split into its parts.

    The parts show whether reasoning or a lower temperature reduces spread but increases bias. They
    are squared bias, variance between items, and variance of repeats (which falls with k).

    Parameters
    ----------
    analysis : Analysis
    frame : DataFrame
        The parsed judgments.
    items : sequence of Item
    people : str
        A table of human scores. ``designed`` is the items' designed quality on the scale, which
        results call by that name. Empty: no comparison with humans.
    scale : Scale
    level : float

    Returns
    -------
    Analysis
        As it was where no item has both, or none was scored twice.
    """
    if not people or not frame["score"].notna().any():
        return analysis
    scored = frame[frame["score"].notna() | frame["choice"].eq("")]
    try:
        ratings, labelled = _ratings(scored, items, people, scale)
    except InputError as error:  # the judgments are paid for: they are kept, and this is said
        return replace(analysis, limitations=(*analysis.limitations, f"people: {error}"))
    if ratings.empty:
        return analysis
    array = score_array(scored)
    human = ratings.reindex(list(array.items)).to_numpy(float)
    cluster = shared_clusters(array.clusters)
    against = "the designed quality" if people == "designed" else "people"
    results: list[NamedResult] = []
    rows: list[dict[str, Any]] = []
    metrics = {name: dict(values) for name, values in analysis.condition_metrics.items()}
    for name in array.conditions:
        scores = array.condition(name)
        if not np.any((np.isfinite(scores).sum(axis=1) >= 2) & np.isfinite(human)):
            continue
        for k in [k for k in _KS if k <= scores.shape[1]]:
            parts = stats.error_parts(scores, human, k=k, cluster=cluster, level=level)
            row: dict[str, Any] = {"condition": name, "k": k}
            for part in _PARTS:
                row |= columns_of(part, parts[part])
            rows.append(row)
            if k == 1:
                found = [(f"error.{part}", parts[part]) for part in _PARTS]
                results += [
                    condition_result(i, f"{e.label} against {against}", name, e, role="descriptive")
                    for i, e in found
                ]
                metrics.setdefault(name, {})["validity/mean_squared_error"] = row[_PARTS[0]]
    if not rows:
        return analysis
    title = f"Squared error against {against}: bias² + items + replicates / k"
    table = NamedResult("error.by_k", title, "descriptive", Rows(table=pd.DataFrame(rows)))
    analysis = replace(
        analysis, described=(*analysis.described, *results, table), condition_metrics=metrics
    )
    return marked_as_tuned(analysis, [labelled])


def _ratings(
    frame: pd.DataFrame, items: Sequence[Item], people: str, scale: Scale
) -> tuple[pd.Series, pd.DataFrame]:
    """Human scores by item, and the judgments with their labels."""
    if people != "designed":
        joined = with_labels(Path("what was judged"), frame, Path(people))
        ratings, words = ratings_of(joined)
        if ratings.empty and words:
            raise InputError(
                f"people: the labels of {people} are words, but human scores must be numbers."
            )
        return ratings, joined
    return pd.Series(designed_scores(items, scale.low, scale.high), dtype=float), frame
