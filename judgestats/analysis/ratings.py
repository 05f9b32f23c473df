"""Scores beside other scores of the same items: other judges', and people's ratings."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.families import AnalysisPlan, shared_clusters
from judgestats.analysis.records import NamedResult
from judgestats.arrays import Floats, Objects
from judgestats.data.matrices import ScoreArray
from judgestats.data.verdict_kinds import normalize_value, score_pass_map
from judgestats.results import About
from judgestats.stats.agreement.human_correlation import CorrelationName, human_correlation
from judgestats.stats.agreement.kappa import krippendorff_alpha
from judgestats.stats.comparison.rank_correlation import kendall_of_stack
from judgestats.stats.dispersion.condition_summary import mean_shift
from judgestats.stats.inference.distributions import ranks
from judgestats.stats.inference.estimate import Estimate, Result
from judgestats.stats.inference.permutation import relation_null
from judgestats.stats.reliability.intraclass import icc

Found = list[tuple[str, str, Result]]

_MOST_JUDGES = 12
_MOST_VALUES = 300
"""Distinct scores up to which alpha's table of coincidences is made."""
_METHODS: tuple[tuple[CorrelationName, str], ...] = (
    ("pearson", "Pearson's r"),
    ("spearman", "Spearman's rho"),
    ("kendall", "Kendall's tau-b"),
)


def item_means(array: ScoreArray) -> Floats:
    """Items x conditions: the mean of the scores read, NaN where none was.

    Examples
    --------
    >>> array = ScoreArray(scores=np.array([[[7.0, np.nan]], [[np.nan, np.nan]]]),
    ...                    items=("x", "y"), clusters=np.array(["x", "y"], object),
    ...                    conditions=("a",))
    >>> item_means(array).ravel().tolist()
    [7.0, nan]
    """
    n = np.isfinite(array.scores).sum(axis=2)
    return np.where(n > 0, np.nansum(array.scores, axis=2) / np.maximum(n, 1), np.nan)


def ratings_of(frame: pd.DataFrame) -> tuple[pd.Series, int]:
    """People's ratings by item (the mean of several), and how many labels are no number.

    Examples
    --------
    >>> f = pd.DataFrame({"item_id": ["x", "x", "y"], "label": ["7", "8", "good"]})
    >>> ratings, words = ratings_of(f)
    >>> ratings.to_dict(), words
    ({'x': 7.5}, 1)
    """
    if "label" not in frame:
        return pd.Series(dtype=float), 0
    passes = passes_of_items(frame)
    if passes is not None:
        return passes.dropna().groupby(frame["item_id"]).mean(), 0
    codes, labels = pd.factorize(frame["label"], use_na_sentinel=False)
    labels_text = pd.Series([str(label).strip() for label in labels], dtype=object)
    numbers = pd.to_numeric(labels_text.where(labels_text != ""), errors="coerce").astype(float)
    numbers = numbers.where(np.isfinite(numbers))
    rating = numbers.to_numpy()[codes]
    rated = np.isfinite(rating)
    words = int((labels_text != "").to_numpy()[codes].sum() - rated.sum())
    ratings = pd.DataFrame({"item_id": frame["item_id"][rated], "rating": rating[rated]})
    return ratings.groupby("item_id")["rating"].mean(), words


def passes_of_items(frame: pd.DataFrame) -> pd.Series | None:
    """1 and 0 where people's labels beside scores say pass and fail of the item; else None.

    Parameters
    ----------
    frame : DataFrame
        The parsed judgments.

    Returns
    -------
    Series or None
        By row, NaN where nobody says.

    Examples
    --------
    >>> passes_of_items(pd.DataFrame({"score": [7.0, 2.0], "label": ["yes", "no"]})).tolist()
    [1.0, 0.0]
    >>> passes_of_items(pd.DataFrame({"score": [7.0, 2.0], "label": ["6", "1"]})) is None
    True
    """
    if "label" not in frame or "score" not in frame:
        return None
    by_word = score_pass_map(frame["label"], frame["score"])
    if by_word is None:
        return None
    codes, labels = pd.factorize(frame["label"], use_na_sentinel=False)
    values = np.array([by_word.get(normalize_value(label), math.nan) for label in labels])
    return pd.Series(values[codes], index=frame.index)


def true_score_of(frame: pd.DataFrame) -> str:
    """Which number of all judged items people's labels beside scores give: a rate, or a mean."""
    return "greg" if passes_of_items(frame) is None else "greg_rate"


def judges_named(found: Found) -> list[NamedResult]:
    """Primary results on judges beside one another, each about its stratum."""
    return [
        NamedResult(
            i, title, "primary", result, headline=True,
            about=About(stratum=i.split(".", 2)[2] if i.count(".") > 1 else ""),
        )
        for i, title, result in found
    ]  # fmt: skip


def judges_results(array: ScoreArray, declared: AnalysisPlan) -> Found:
    """Agreement between conditions on the items that several of them scored.

    Parameters
    ----------
    array : ScoreArray
    declared : AnalysisPlan

    Returns
    -------
    list of (str, str, Result)
        Intraclass correlations (absolute agreement, and with each one's level taken out),
        Krippendorff's alpha, differences of means and correlations of every pair; empty where
        fewer than three items have scores of two conditions.
    """
    means = item_means(array)
    some = np.asarray(np.isfinite(means).any(axis=0))
    means, names = (
        means[:, some],
        [c for c, s in zip(array.conditions, some.tolist(), strict=True) if s],
    )
    shared = np.isfinite(means).sum(axis=1) >= 2
    if not 2 <= len(names) <= _MOST_JUDGES or int(shared.sum()) < 3:
        return []
    cluster = shared_clusters(array.clusters)
    common: dict[str, Any] = {"cluster": cluster, "level": declared.level}
    drawn: dict[str, Any] = {"n_permutations": declared.n_resamples, "seed": declared.seed}
    results: Found = []
    if int(np.isfinite(means).all(axis=1).sum()) >= 3:
        results += [
            (
                kind,
                f"Agreement between judges{level}",
                icc(means, form=form, missing="listwise", **common, **drawn),  # type: ignore[arg-type]
            )
            for kind, form, level in (
                ("judges.icc2", "ICC(2,1)", ", ICC(2,1)"),
                ("judges.icc3", "ICC(3,1)", ", ICC(3,1): how high each scores left aside"),
            )
        ]
    if np.unique(means[np.isfinite(means)]).size <= _MOST_VALUES:
        alpha = krippendorff_alpha(means, metric="interval", **common, **drawn)
        results.append(("judges.alpha", "Agreement between judges, Krippendorff's alpha", alpha))
    results.append(
        (
            "judges.shift",
            "Differences of mean scores, paired by item",
            mean_shift(means, conditions=names, cluster=array.clusters, level=declared.level),
        )
    )
    for i, j in itertools.combinations(range(len(names)), 2):
        for method, label in _METHODS[:2]:
            value = human_correlation(
                means[:, i],
                means[:, j],
                method=method,
                n_resamples=max(declared.n_resamples, 99),
                seed=declared.seed,
                **common,
            )
            pair = f"{names[i]} and {names[j]}"
            results.append(
                (
                    f"judges.{method}.{pair}",
                    f"{label} of two judges' scores ({pair})",
                    value.replace(name=f"{method}_of_judges", label=f"{label} of {pair}"),
                )
            )
    return results


def ratings_results(
    name: str,
    array: ScoreArray,
    ratings: pd.Series,
    declared: AnalysisPlan,
    *,
    of_passes: bool = False,
) -> Found:
    """Agreement of one condition's scores with people's ratings, item by item.

    Parameters
    ----------
    name : str
        The condition.
    array : ScoreArray
    ratings : Series
        By item, as `ratings_of` gives them.
    declared : AnalysisPlan
    of_passes : bool
        The ratings are pass and fail: no difference can be taken of points and these.

    Returns
    -------
    list of (str, str, Result)
        Three correlations with their null (ratings shuffled over items), and the paired
        difference of means; empty where no item has both.
    """
    scores = item_means(array)[:, array.conditions.index(name)]
    people = ratings.reindex(list(array.items)).to_numpy(float)
    both = np.isfinite(scores) & np.isfinite(people)
    if not both.any():
        return []
    cluster = shared_clusters(array.clusters)
    results: Found = []
    for method, label in _METHODS:
        value = human_correlation(
            scores,
            people,
            method=method,
            cluster=cluster,
            level=declared.level,
            n_resamples=max(declared.n_resamples, 99),
            seed=declared.seed,
        )
        groups = None if cluster is None else cluster[both]
        value = _with_null(value, scores[both], people[both], method, groups, declared)
        results.append((f"people.{method}", f"{label} with people's ratings", value))
    if int(both.sum()) >= 2 and not of_passes:
        shift = mean_shift(
            np.column_stack([people, scores]),
            conditions=["people", name],
            cluster=array.clusters,
            level=declared.level,
        )
        results.append(("people.shift", "Scores against people's ratings, mean difference", shift))
    return results


def _with_null(
    value: Estimate,
    scores: Floats,
    people: Floats,
    method: str,
    cluster: Objects | None,
    declared: AnalysisPlan,
) -> Estimate:
    """The correlation beside what it is when ratings are shuffled over items."""
    if not declared.n_resamples or math.isnan(value.estimate):
        return value
    if method == "spearman":
        scores, people = ranks(scores), ranks(people)
    kendall = method == "kendall"
    # Kendall's tau costs milliseconds a draw on thousands of items.
    most = declared.n_resamples if not kendall or scores.size < 2000 else 99
    null = relation_null(
        (people, scores),
        kendall_of_stack if kendall else _pearson,
        vectorized=True,
        cluster=cluster,
        n_permutations=min(most, declared.n_resamples),
        seed=declared.seed,
    )
    return value.replace(null=null)


def _pearson(drawn: Floats, fixed: Floats) -> Floats:
    """Correlation of each row of a stack with one array."""
    d = drawn - drawn.mean(axis=-1, keepdims=True)
    f = fixed - fixed.mean()
    size = np.sqrt(np.sum(d * d, axis=-1) * np.sum(f * f))
    out: Floats = np.full(d.shape[:-1], math.nan)
    np.divide(d @ f, size, out=out, where=size > 0)
    return out
