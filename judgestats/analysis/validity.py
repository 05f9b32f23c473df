"""Is the judge right: what labels say of one condition's scores or verdicts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.analysis.drawn import drawing
from judgestats.analysis.plan import AnalysisPlan
from judgestats.analysis.ratings import passes_of_items
from judgestats.analysis.supplements import Rows
from judgestats.analysis.validity_corrected import corrected_results
from judgestats.analysis.validity_disagreements import disagreements
from judgestats.analysis.validity_separation import LABELLED_ONLY, separated_scores
from judgestats.arrays import Floats, Objects
from judgestats.judgments.shapes import ScoreArray
from judgestats.stats.inference.result import Estimate, Result
from judgestats.stats.validity.corrected import corrected_mean, corrected_rate
from judgestats.stats.validity.error_parts import accuracy_by_k, error_parts
from judgestats.stats.validity.error_rates import ErrorRates, error_rates
from judgestats.stats.validity.graded import graded_agreement

Found = list[tuple[str, str, Result]]

_OF_RATES = {
    "sensitivity": "Of what people pass, how much it passes",
    "specificity": "Of what people fail, how much it fails",
    "precision": "Precision against people",
    "negative_predictive_value": "Negative predictive value against people",
    "balanced_accuracy": "Balanced accuracy against people",
    "matthews_correlation": "Matthews' correlation against people",
}
_CODES = {"pass": 1.0, "fail": 0.0}


def verdict_validity(asked: pd.DataFrame, declared: AnalysisPlan) -> Found:
    """Error rates of pass and fail verdicts, and the pass rate that people would give.

    Parameters
    ----------
    asked : DataFrame
        Judgments of one condition; ``choice`` and ``label`` are ``pass``, ``fail`` or empty.
    declared : AnalysisPlan

    Returns
    -------
    list of (str, str, Result)
        Empty where nothing is labelled.
    """
    wide = _wide(asked, _CODES)
    return labelled_verdicts(
        wide.to_numpy(float),
        people_verdicts(asked, wide.index),
        asked,
        declared,
        items=wide.index,
        cluster=_cluster(asked, wide.index),
    )


def people_verdicts(asked: pd.DataFrame, items: pd.Index) -> Floats:
    """What people say of each item: 1 pass, 0 fail, NaN where nobody does or they differ evenly.

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


def labelled_verdicts(
    judge: Floats,
    human: Floats,
    asked: pd.DataFrame,
    declared: AnalysisPlan,
    *,
    items: pd.Index,
    cluster: NDArray[Any] | None,
) -> Found:
    """What `verdict_validity` gives, from arrays.

    Parameters
    ----------
    judge : ndarray, shape (items, judgments)
        1 pass, 0 fail, NaN where there is none; the place of a judgment does not matter.
    human : ndarray, shape (items,)
    asked : DataFrame
        Rows that tell how labelled items were drawn (``chance``, ``category``).
    declared : AnalysisPlan
    items : Index
    cluster : ndarray or None

    Returns
    -------
    list of (str, str, Result)
    """
    if not np.isfinite(human).any():
        return []
    options: dict[str, Any] = {"cluster": cluster, "level": declared.level}
    read = np.isfinite(judge).sum(axis=1)
    # Where nothing was read the judge stands on neither side.
    share = np.where(read > 0, np.nansum(judge, axis=1) / np.maximum(read, 1), np.nan)
    majority = np.where(share == 0.5, np.nan, np.where(np.isnan(share), share, share > 0.5))
    drawn = drawing(asked, items, np.isfinite(human), majority, declared)
    how: dict[str, Any] = {
        "stratum": drawn.stratum,
        "chance": drawn.chance,
        "labels_drawn": drawn.labels_drawn,
    }
    rates = error_rates(judge, human, **how, **options)
    results = _rates(rates, repeats=judge.shape[1])
    if drawn.labels_drawn in {"by-verdict", "stratified"} or drawn.chance is not None:
        # One judgment against one label, each counted once, would be biased: these stand for it.
        results += [
            (f"people.{key}", f"{title}, weighted", rates.rates[name])
            for key, name, title in (
                ("accuracy", "accuracy", "Same verdict as people"),
                ("kappa", "cohen_kappa", "Same verdict as people, beyond chance"),
            )
        ]
        always = rates.rates["accuracy"].replace(
            label="A judge that always says the same", estimate=rates.constant["accuracy"],
            interval=None, details={},
        )  # fmt: skip
        results.append(("people.always_same", f"{always.label}, weighted", always))
    if np.isnan(human).any() or drawn.mix:
        score = corrected_rate(judge, human, mix=drawn.mix, **how, **options)
        results += corrected_results(score, "pass rate", mix=drawn.mix)
    if judge.shape[1] >= 3 and np.any(np.all(np.isfinite(judge), axis=1) & np.isfinite(human)):
        by_k = accuracy_by_k(judge, human, **options)
        results.append(("people.by_k", "Accuracy by number of verdicts", by_k))
    results.append(disagreements(items, share, human, least=0.5))
    return results


def _rates(rates: ErrorRates, *, repeats: int) -> Found:
    """The rates with their titles; what is to be known of all of them stands with the first."""
    of = f" (majority of its {repeats} verdicts)" if repeats > 1 else ""
    return [
        (
            f"people.{name}",
            f"{title}{of}",
            rates.rates[name].replace(notes=rates.notes) if i < 2 else rates.rates[name],
        )
        for i, (name, title) in enumerate(_OF_RATES.items())
    ]


def score_validity(
    name: str, array: ScoreArray, asked: pd.DataFrame, ratings: pd.Series, declared: AnalysisPlan
) -> Found:
    """Bias and concordance of one condition's scores, and the mean that people would give.

    Parameters
    ----------
    name : str
        The condition.
    array : ScoreArray
    asked : DataFrame
        The judgments of the condition.
    ratings : Series
        People's, by item.
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
    clusters = np.asarray(array.clusters, dtype=object)[judged]
    cluster = clusters if len(set(clusters)) < clusters.size else None
    return labelled_scores(scores, human, asked, declared, items=items, cluster=cluster)


def labelled_scores(
    scores: Floats,
    human: Floats,
    asked: pd.DataFrame,
    declared: AnalysisPlan,
    *,
    items: Objects,
    cluster: NDArray[Any] | None,
) -> Found:
    """What `score_validity` gives, from arrays of the items that have a score.

    Parameters
    ----------
    scores : ndarray, shape (items, judgments)
        NaN where there is none; the place of a judgment does not matter.
    human : ndarray, shape (items,)
    asked : DataFrame
        Rows that tell how labelled items were drawn (``chance``, ``category``).
    declared : AnalysisPlan
    items : ndarray
    cluster : ndarray or None

    Returns
    -------
    list of (str, str, Result)
    """
    if not np.isfinite(human).any():
        return []
    if passes_of_items(asked) is not None:
        return separated_scores(scores, human, asked, declared, items=items, cluster=cluster)
    options: dict[str, Any] = {"cluster": cluster, "level": declared.level}
    agreement = graded_agreement(scores, human, **options)
    graded = agreement.estimates
    mean = np.nanmean(scores, axis=1)
    drawn = drawing(asked, pd.Index(items), np.isfinite(human), mean, declared)
    # Known unequal chances have no corrected mean: it is refused as after a draw by verdict.
    unequal = drawn.chance is not None or drawn.labels_drawn == "by-verdict"
    how: dict[str, Any] = {
        "stratum": drawn.stratum,
        "labels_drawn": "by-verdict" if unequal else drawn.labels_drawn,
    }
    notes = (LABELLED_ONLY,) if unequal or drawn.labels_drawn == "convenience" else ()
    results: Found = [
        (f"people.{k}", f"{graded[k].label}", graded[k].replace(notes=(*graded[k].notes, *notes)))
        for k in ("bias", "lower_limit", "upper_limit", "concordance", "slope")
    ]
    results.append(
        ("people.curve", "People's mean score by the judge's", Rows(table=agreement.curve))
    )
    if np.isnan(human).any() or drawn.mix:
        score = corrected_mean(scores, human, mix=drawn.mix, **how, **options)
        results += corrected_results(score, "mean score", mix=drawn.mix)
    if np.any((np.isfinite(scores).sum(axis=1) >= 2) & np.isfinite(human)):
        results += [
            (f"people.{k}", f"{e.label} against people", e)
            for k, e in error_parts(scores, human, **options).items()
        ]
    results.append(disagreements(items, mean, human, least=0.0))
    return results


def _wide(asked: pd.DataFrame, codes: Mapping[str, float]) -> pd.DataFrame:
    """Items x judgments (replicates, orders) of pass verdicts."""
    values = asked.assign(
        value=asked["choice"].map(codes).astype(float),
        place=asked.groupby("item_id", sort=False).cumcount(),
    )
    items = list(dict.fromkeys(asked["item_id"]))
    return values.pivot(index="item_id", columns="place", values="value").reindex(items)


def _cluster(asked: pd.DataFrame, items: Iterable[Any]) -> Objects | None:
    cluster_of_item = (
        asked.drop_duplicates("item_id").set_index("item_id")["cluster"].loc[list(items)]
    )
    return (
        cluster_of_item.to_numpy(object)
        if cluster_of_item.nunique() < len(cluster_of_item)
        else None
    )


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
        out[f"validity/{name}"] = result.estimate
        if result.interval is not None:
            out[f"ci/validity/{name}.lo"] = result.interval.low
            out[f"ci/validity/{name}.hi"] = result.interval.high
    return out


_METRICS = frozenset(
    {
        *_OF_RATES,
        "sensitivity",
        "specificity",
        "bias",
        "separation",
        "concordance",
        "corrected",
        "mean_squared_error",
    }
)
