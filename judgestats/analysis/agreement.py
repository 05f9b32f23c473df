"""Agreement across judges and orders, with labels, and with human scores."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, combinations
from string import ascii_lowercase
from typing import Any, Literal

import numpy as np
import pandas as pd

from judgestats import stats
from judgestats.analysis.families import AnalysisPlan, clusters_of, shared_clusters
from judgestats.analysis.limits import Limit
from judgestats.analysis.records import Found, NamedResult, condition_result
from judgestats.arrays import Floats, Ints, Objects, mean_of_present
from judgestats.data.codes import first_rows, places_of
from judgestats.data.columns import heat
from judgestats.data.parse import ScoreArray, final_rows
from judgestats.data.readers.columns import each_distinct
from judgestats.data.verdict_kinds import normalize_value, score_pass_map
from judgestats.items.records import Item
from judgestats.protocols.template import pair_name
from judgestats.results import About
from judgestats.results.records import Role
from judgestats.stats.agreement.human import CorrelationName
from judgestats.stats.comparison.rank_correlation import kendall_of_stack
from judgestats.stats.inference.distributions import ranks
from judgestats.stats.inference.result import Estimate, Result

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
    return mean_of_present(array.scores, 2)


def ratings_of(frame: pd.DataFrame) -> tuple[pd.Series, int]:
    """Human ratings by item (the mean of several), and how many labels are not numbers.

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
    """Human pass / fail labels of scored items as 1 and 0; None if labels are of another kind.

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
    """The corrected estimate of scored items: a rate for pass / fail labels, else a mean."""
    return "greg" if passes_of_items(frame) is None else "greg_rate"


def judges_named(found: Found) -> list[NamedResult]:
    """Primary results on judges side by side, each about its stratum."""
    strata = [i.split(".", 2)[2] if i.count(".") > 1 else "" for i, _, _ in found]
    return [
        NamedResult(i, title, "primary", result, about=About(stratum=stratum))
        for (i, title, result), stratum in zip(found, strata, strict=True)
    ]


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
    means, names = means[:, some], np.array(array.conditions)[some].tolist()
    shared = np.isfinite(means).sum(axis=1) >= 2
    if not 2 <= len(names) <= _MOST_JUDGES or int(shared.sum()) < 3:
        return []
    cluster = shared_clusters(array.clusters)
    common: dict[str, Any] = {"cluster": cluster, **declared.resampling}
    results: Found = []
    if int(np.isfinite(means).all(axis=1).sum()) >= 3:
        for kind, form, of in _FORMS:
            title = f"Agreement between judges, {form}: {of}"
            results.append((kind, title, stats.icc(means, form=form, missing="listwise", **common)))
    if np.unique(means[np.isfinite(means)]).size <= _MOST_VALUES:
        alpha = stats.krippendorff_alpha(means, metric="interval", **common)
        results.append(("judges.alpha", "Agreement between judges, Krippendorff's alpha", alpha))
    runs = stats.run_component(
        array.scores[:, some], cluster=array.clusters,
        interleaved=declared.design is not None and declared.design.interleaved,
    )  # fmt: skip
    shifts = stats.mean_shift(
        means, conditions=names, cluster=array.clusters, level=declared.level, runs=runs
    )
    results.append(("judges.shift", "Differences of mean scores, paired by item", shifts))
    correlated = _correlating(cluster, declared)
    for i, j in combinations(range(len(names)), 2):
        pair = f"{names[i]} and {names[j]}"
        for method, label in _METHODS[:2]:
            value = correlated(means[:, i], means[:, j], method=method)
            value = value.replace(name=f"{method}_of_judges", label=f"{label} of {pair}")
            title = f"{label} of two judges' scores ({pair})"
            results.append((f"judges.{method}.{pair}", title, value))
    return results


_FORMS: tuple[tuple[str, Literal["ICC(A,1)", "ICC(2,1)", "ICC(3,1)"], str], ...] = (
    ("judges.icca", "ICC(A,1)", "these judges"),
    ("judges.icc2", "ICC(2,1)", "judges like these"),
    ("judges.icc3", "ICC(3,1)", "how high each scores left aside"),
)


def _correlating(cluster: Objects | None, declared: AnalysisPlan) -> partial[Estimate]:
    """Correlation of two raters' scores with the plan's interval."""
    return partial(
        stats.human_correlation, cluster=cluster, level=declared.level,
        n_resamples=max(declared.n_resamples, 99), seed=declared.seed,
    )  # fmt: skip


def judges_limits(results: Iterable[NamedResult]) -> list[Limit]:
    """Limit if there are only two judges, which do not represent judges like them.

    Parameters
    ----------
    results : iterable of NamedResult
        Of an audit.
    """
    coefficients = [r.result for r in results if r.id == "judges.icc2"]
    found = (r.notes for r in coefficients if isinstance(r, Estimate))
    notes = [n.message for own in found for n in own if "two judges" in n.message]
    texts = [f"T{message.partition(' size. t')[2]}." for message in notes]
    return [Limit(t, code="two_judges", short=t.partition(";")[0]) for t in texts]


def ratings_results(
    name: str,
    array: ScoreArray,
    ratings: pd.Series,
    declared: AnalysisPlan,
    *,
    of_passes: bool = False,
) -> Found:
    """Agreement of one condition's scores with human ratings, item by item.

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
    groups = None if cluster is None else cluster[both]
    correlated = _correlating(cluster, declared)
    results: Found = []
    for method, label in _METHODS:
        value = correlated(scores, people, method=method)
        if declared.n_resamples and not math.isnan(value.estimate):
            pair, of = (people[both], scores[both]), _pearson
            most = declared.n_resamples
            if method == "spearman":
                pair = (ranks(pair[0]), ranks(pair[1]))
            elif method == "kendall":
                # Kendall's tau costs milliseconds a draw on thousands of items.
                of, most = kendall_of_stack, most if int(both.sum()) < 2000 else min(99, most)
            null = stats.relation_null(
                pair,
                of,
                vectorized=True,
                cluster=groups,
                n_permutations=most,
                seed=declared.seed,
            )
            value = value.replace(null=null)
        results.append((f"people.{method}", f"{label} with human ratings", value))
    if int(both.sum()) >= 2 and not of_passes:
        both_means = np.column_stack([people, scores])
        shift = stats.mean_shift(
            both_means, conditions=["people", name], cluster=array.clusters, level=declared.level
        )
        results.append(("people.shift", "Scores minus human ratings, mean difference", shift))
    return results


def _pearson(drawn: Floats, fixed: Floats) -> Floats:
    """Correlation of each row of a stack with one array."""
    d = drawn - drawn.mean(axis=-1, keepdims=True)
    f = fixed - fixed.mean()
    size = np.sqrt(np.sum(d * d, axis=-1) * np.sum(f * f))
    out: Floats = np.full(d.shape[:-1], math.nan)
    np.divide(d @ f, size, out=out, where=size > 0)
    return out


_FEWEST = 3
_MOST = 12
"""Items, pairs, systems or options that are needed, and conditions that are compared at most."""
_MOST_CHOICES = 20
_USED = {
    "item_id", "cluster", "condition", "score", "choice", "order", "replicate", "temperature",
    "label", "author", "system_a", "system_b", "verdict_kind",
}  # fmt: skip


def inter_judge_agreement(frame: pd.DataFrame, *, level: float) -> list[NamedResult]:
    """How far judges agree with one another, repetitions included.

    Of scores: ICC(A,1), the agreement of these judges in one judgment. Of verdicts: the share of
    pairs of judges that give the same verdict in the same repeat.

    Parameters
    ----------
    frame : DataFrame
        The parsed judgments.
    level : float
        Of intervals.

    Returns
    -------
    list of NamedResult
        ``between_judges.LEVEL`` for the judges at each level of temperature and other factors, and
        ``between_judges.across`` over all conditions where there are several levels; described,
        never claimed.

    Examples
    --------
    >>> rows = [dict(judge=j, condition=j, temperature=1.0, item_id=f"i{i}", cluster=f"i{i}",
    ...              replicate=r, order="", choice="ab"[i % 2], score=None)
    ...         for j in "xy" for i in range(6) for r in range(2)]
    >>> [(r.id, r.result.estimate) for r in inter_judge_agreement(pd.DataFrame(rows), level=0.95)]
    [('between_judges.T=1', 1.0)]
    """
    if frame["judge"].nunique() < 2:
        return []
    kept = [c for c in map(str, frame) if c in _USED or c.startswith("factor_")]
    frame = final_rows(frame)[kept]
    out = []
    for name, own in _levels(frame):
        conditions = tuple(map(str, own["condition"].unique()))
        agreement = _agreement(own, conditions, level) if 2 <= len(conditions) <= _MOST else None
        if agreement is not None:
            where = " over all conditions" if name == "across" else f" ({name})"
            identity, title = f"between_judges.{name}", f"Agreement between judges{where}"
            about = About(conditions=conditions)
            out.append(NamedResult(identity, title, "descriptive", agreement, about=about))
    return out


def _levels(frame: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """The judgments at each level of everything but the judge, then all of them."""
    factors = [c for c in map(str, frame) if c.startswith("factor_")]
    groups: Any = frame.groupby(["temperature", *factors], sort=False, dropna=False)
    for key, own in groups:
        parts = [] if np.isnan(key[0]) else [heat(float(key[0]))]
        parts += [f"{c.removeprefix('factor_')}={v}" for c, v in zip(factors, key[1:], strict=True)]
        yield ", ".join(parts) or "all", own
    if groups.ngroups > 1:
        yield "across", frame


def _agreement(own: pd.DataFrame, conditions: tuple[str, ...], level: float) -> Result | None:
    """Of the conditions on the items that all of them judged; None where these are too few."""
    scored = "score" in own and own["score"].notna().any()
    if scored:
        verdicts = own["score"].to_numpy(float)
    else:
        codes, words = pd.factorize(own["choice"])
        if (words != "").sum() > _MOST_CHOICES:
            return None
        verdicts = np.where(words == "", math.nan, np.arange(len(words)))[codes]
    axes = (own[name] for name in ("condition", "item_id", "order", "replicate"))
    place, shape, (names, *_) = places_of(*axes)
    cube = np.full(shape, math.nan)
    cube.reshape(-1)[place] = verdicts
    cube = cube.reshape(*shape[:2], -1)[names.get_indexer(pd.Index(conditions))]
    shared = ~np.isnan(cube).all(axis=2).any(axis=0)
    if shared.sum() < _FEWEST:
        return None
    cluster = own["cluster"].iloc[first_rows(own["item_id"])].to_numpy(object)[shared]
    common: dict[str, Any] = {"cluster": shared_clusters(cluster), "level": level}
    if scored:
        table = np.moveaxis(cube[:, shared], 0, 1)
        return stats.icc(table, form="ICC(A,1)", n_permutations=0, **common)
    return stats.agreement_across_judges(cube[:, shared], **common)


_OUTCOMES = {"a", "b", "tie", ""}
_ORDERS = {"ab", "ba"}


def label_agreement_results(frame: pd.DataFrame, *, level: float) -> list[NamedResult]:
    """Pair accuracy over both orders, accuracy by slot, and correlation by level, where there are.

    Parameters
    ----------
    frame : DataFrame
        The parsed judgments, with a column ``label`` where people or a key said what is correct.
    level : float
        Of intervals.

    Returns
    -------
    list of NamedResult
        Described, never claimed.

    Examples
    --------
    >>> label_agreement_results(pd.DataFrame({"condition": ["x"], "score": [7.0]}), level=0.95)
    []
    """
    return _name_results(
        frame,
        lambda own: chain(_pair_accuracies(own, level), _rating_correlations(own, level)),
        column="label", role="descriptive", hypothesis="people",
    )  # fmt: skip


def _pair_accuracies(own: pd.DataFrame, level: float) -> Iterator[tuple[str, str, Result]]:
    """Of pairs that were shown in both orders and labelled."""
    if not {"choice", "order"} <= set(own):
        return
    own = own[own["label"].astype(str).isin(_OUTCOMES - {""}) & own["order"].isin(_ORDERS)]
    if not set(own["choice"].unique()) <= _OUTCOMES:
        return
    yield from _slot_accuracies(own, level)
    if set(own["order"].unique()) != _ORDERS:
        return
    wide = own.pivot_table(
        index="item_id", columns=["order", "replicate"], values="choice", aggfunc="first",
        sort=False,
    )  # fmt: skip
    wide = wide.reindex(columns=wide.columns.sort_values()).fillna("")
    once = own.drop_duplicates("item_id").set_index("item_id").loc[wide.index]
    if len(wide) < _FEWEST or _several_labels(own):
        return
    ab, ba = (wide[o].to_numpy(object) for o in ("ab", "ba"))
    cluster, labels = once["cluster"].to_numpy(object), once["label"].to_numpy(object)
    right = stats.pair_accuracy(ab, ba, labels, cluster=cluster, level=level)
    yield "people.both_orders", "Right in both orders", right


def _several_labels(own: pd.DataFrame) -> bool:
    """Whether people say more than one thing of an item."""
    return bool(own.groupby("item_id")["label"].nunique().max() > 1)


def _slot_accuracies(own: pd.DataFrame, level: float) -> Iterator[tuple[str, str, Result]]:
    """Of labelled pairs of which it is known which response was shown first."""
    decided = own[own["label"].isin(["a", "b"])]
    if decided["item_id"].nunique() < _FEWEST or _several_labels(decided):
        return
    first = decided["order"].str[0]
    second = decided["choice"].ne(first).astype(float)
    chosen = np.asarray(second.where(decided["choice"].isin(["a", "b"])), np.float64)
    gold = np.asarray(decided["label"] != first, np.int64)
    test = _accuracy_by_slot(decided, chosen, gold, 2, level, {"n_permutations": 999, "seed": 0})
    yield "people.slots", "Accuracy by the position of the correct response", test


def _accuracy_by_slot(
    own: pd.DataFrame, place: Floats, gold: Ints, k: int, level: float, drawn: Mapping[str, Any]
) -> Result:
    """Test of accuracy by the position of the correct option, of judgments in rows."""
    return stats.accuracy_by_slot(
        place, gold, item=own["item_id"].to_numpy(object), n_options=k,
        cluster=own["cluster"].to_numpy(object), level=level, **drawn,
    )  # fmt: skip


def _rating_correlations(own: pd.DataFrame, level: float) -> Iterator[tuple[str, str, Result]]:
    """Of answers of several systems to several questions, scored and rated."""
    if not {"author", "score"} <= set(own):
        return
    ratings, _ = ratings_of(own)
    scored = own.dropna(subset=["score"])
    items = scored.groupby("item_id", sort=False).agg(
        score=("score", "mean"), source=("cluster", "first"), system=("author", "first")
    )
    items["human"] = ratings.reindex(items.index)
    items = items.dropna(subset=["human"])
    items = items[items["system"].astype(str) != ""]
    several = items.groupby("source").size().max() if len(items) else 0
    if items["system"].nunique() < _FEWEST or items["source"].nunique() < _FEWEST or several < 2:
        return
    by_level = stats.correlation_by_level(
        items["score"].to_numpy(float), items["human"].to_numpy(float),
        source=items["source"].to_numpy(object), system=items["system"].to_numpy(object),
        level=level,
    )  # fmt: skip
    title = "Correlation with human ratings, pooled, within questions and between systems"
    yield "people.levels", title, by_level


def verdict_results(frame: pd.DataFrame, *, level: float) -> list[NamedResult]:
    """Win rates of systems, and accuracy and choice share by the place of an option.

    Parameters
    ----------
    frame : DataFrame
        The parsed judgments; with ``system_a`` and ``system_b`` where they tell who wrote the two
        responses.
    level : float
        Of intervals.

    Returns
    -------
    list of NamedResult
        Described, never claimed.

    Examples
    --------
    >>> verdict_results(pd.DataFrame({"condition": ["x"], "score": [7.0]}), level=0.95)
    []
    """
    named = {"system_a", "system_b"} <= set(frame)
    wins = _name_results(frame, lambda own: _wins(own, level), role="descriptive") if named else []
    return [*wins, *slot_results(frame, level=level, role="descriptive")]


def has_slots(frame: pd.DataFrame) -> bool:
    """Whether `slot_results` has an answer for some condition."""
    if not _may_have_slots(frame):
        return False
    used = frame[[c for c in frame if c in _USED]]
    return any(_order_evidence(own)[2] for _, own in used.groupby("condition", sort=False))


def _may_have_slots(frame: pd.DataFrame) -> bool:
    """Whether an order lists three options, or a verdict is one letter."""
    if "choice" not in frame:
        return False
    orders, words = (map(str, frame[c].unique()) for c in ("order", "choice"))
    letters = any(len(word.strip()) == 1 for word in words)
    return letters or any(len(_listed(order)) >= _FEWEST for order in orders)


def slot_results(
    frame: pd.DataFrame,
    *,
    level: float,
    role: Role = "secondary",
    n_permutations: int = 999,
    seed: int = 0,
) -> list[NamedResult]:
    """Whether choices among three or more options follow the place where an option stands.

    Parameters
    ----------
    frame : DataFrame
        The parsed judgments. Positions follow from an order that lists the options, or from letters
        that are positions.
    level : float
    role : str
    n_permutations, seed : int

    Returns
    -------
    list of NamedResult
        One test per condition: of accuracy by position of the correct option with labels, else of
        the positions chosen. Empty if positions are not known.
    """
    if not _may_have_slots(frame):
        return []
    drawn = {"n_permutations": n_permutations, "seed": seed}
    compute = partial(_slots, level=level, drawn=drawn)
    return _name_results(frame, compute, role=role, hypothesis="slots")


def _name_results(
    frame: pd.DataFrame,
    compute: Callable[[pd.DataFrame], Iterator[tuple[str, str, Result]]],
    *,
    role: Role,
    hypothesis: str = "",
    column: str = "choice",
) -> list[NamedResult]:
    """The findings of each condition, with its name; none without the column."""
    if column not in frame or frame[column].isin(["", None]).all():
        return []
    used = frame[[c for c in frame if c in _USED]]  # each column of a part is copied
    return [
        condition_result(kind, title, str(condition), result, role=role, hypothesis=hypothesis)
        for condition, own in used.groupby("condition", sort=False)
        for kind, title, result in compute(own)
    ]


def with_systems(frame: pd.DataFrame, items: Sequence[Item]) -> pd.DataFrame:
    """Judged pairs with the authors of their two responses as ``system_a`` and ``system_b``.

    Parameters
    ----------
    frame : DataFrame
        The parsed judgments of a run.
    items : sequence of Item

    Returns
    -------
    DataFrame
        As given where no judged pair has two authors.
    """
    authors = {
        pair_name(item, (i, j)): (item.responses[i].author, item.responses[j].author)
        for item in items
        for i, j in combinations(range(len(item.responses)), 2)
    }
    if not frame["item_id"].isin(list(authors)).any():
        return frame
    sides = [authors.get(str(name), ("", "")) for name in frame["item_id"]]
    return frame.assign(system_a=[a or "" for a, _ in sides], system_b=[b or "" for _, b in sides])


def _wins(own: pd.DataFrame, level: float) -> Iterator[tuple[str, str, Result]]:
    """Of preferences between the responses of named systems; a system never meets itself."""
    if not set(own["choice"].unique()) <= _OUTCOMES:
        return
    a, b = (own[c].astype(str) for c in ("system_a", "system_b"))
    own = own[(a != "") & (b != "") & (a != b)]
    if own["item_id"].nunique() < _FEWEST or not own["choice"].ne("").any():
        return
    columns = {c: own[c].to_numpy(object) for c in ("system_a", "system_b", "cluster")}
    rates = stats.win_rates(own["choice"].to_numpy(object), **columns, level=level)
    yield "wins", "Win rate of each system, a tie half", rates


def _slots(
    own: pd.DataFrame, level: float, drawn: Mapping[str, Any]
) -> Iterator[tuple[str, str, Result]]:
    """Of choices among options whose places are known: by the order shown, or by their letters."""
    own, k, placed_choices = _order_evidence(own)
    if placed_choices == "gold":
        labelled = own[own["gold"] >= 0]
        place, gold = labelled["place"].to_numpy(float), labelled["gold"].to_numpy(np.int64)
        test = _accuracy_by_slot(labelled, place, gold, k, level, drawn)
        yield "slots.accuracy", "Accuracy and choices by the position of the correct option", test
    elif placed_choices == "order":
        yield "slots.choices", "Choices by place", _position_test(own, k, level, drawn)


def _order_evidence(own: pd.DataFrame) -> tuple[pd.DataFrame, int, str]:
    """Judgments with positions, number of options, and the test: gold, order, or none."""
    if not own["choice"].ne("").any():
        return own, 0, ""
    own, k = _placed(own)
    if k < _FEWEST or own["item_id"].nunique() < _FEWEST or not (own["place"] >= 0).any():
        return own, k, ""
    if own.loc[own["gold"] >= 0, "item_id"].nunique() >= _FEWEST:
        return own, k, "gold"
    several = own.groupby("item_id")["order"].nunique().min() > 1
    return own, k, "order" if several else ""


def _placed(own: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """Judgments with the chosen and the correct position (-1: unknown), and number of options.

    An order that lists the options (``cab``, ``m3|m1|m2``) gives the position of each. Without one
    the letter of an option is its position.
    """
    codes, shown = pd.factorize(own["order"], use_na_sentinel=False)
    orders_shown = [_listed(str(order).strip().lower()) for order in shown]
    listed = set(orders_shown)
    options = sorted(set().union(*listed))
    ordered = len(options) >= _FEWEST and all(sorted(o) == options for o in listed)
    if not ordered:
        given = (own[c].unique() for c in ("choice", "label") if c in own)
        words = {str(word).strip().lower() for word in chain(*given)} - {""}
        kinds = set(own["verdict_kind"].unique()) if "verdict_kind" in own else set()
        if listed != {()} or not kinds <= {"choice", ""}:
            return own, 0
        if not words or not all(len(w) == 1 and w in ascii_lowercase for w in words):
            return own, 0
        options = list(ascii_lowercase[: max(map(ascii_lowercase.index, words)) + 1])
        orders_shown = [tuple(options)] * len(orders_shown)
    orders = pd.Series([orders_shown[code] for code in codes], index=own.index)

    def positions(column: str) -> list[int]:
        if column not in own:
            return [-1] * len(own)
        values = each_distinct(own[column], lambda v: str(v).strip().lower())
        return [o.index(v) if v in o else -1 for o, v in zip(orders, values, strict=True)]

    placed = own.assign(order=orders, place=positions("choice"), gold=positions("label"))
    return placed, len(options)


def _listed(order: str) -> tuple[str, ...]:
    """The options in the order shown: between separators, else letter by letter.

    Examples
    --------
    >>> _listed("cab"), _listed("m3 | m1 | m2"), _listed("")
    (('c', 'a', 'b'), ('m3', 'm1', 'm2'), ())
    """
    if re.search(r"[\s,>|]", order):
        return tuple(part for part in re.split(r"[\s,>|]+", order) if part)
    return tuple(order.replace("-", ""))


def _position_test(own: pd.DataFrame, k: int, level: float, drawn: Mapping[str, Any]) -> Result:
    """Test of the positions chosen against the options chosen, one row per item."""
    own = own.assign(at=own.groupby("item_id").cumcount())
    wide = own.pivot(index="item_id", columns="at", values="place").fillna(-1)
    shown = own.pivot(index="item_id", columns="at", values="order")
    options = sorted(own["order"].iloc[0])
    first: list[int] = list(range(k))
    orders = np.array([
        [[options.index(c) for c in o] if isinstance(o, tuple) else first for o in row]
        for row in shown.to_numpy(object)
    ])  # fmt: skip
    return stats.position_test(
        wide.to_numpy(float), n_options=k, orders=orders, cluster=clusters_of(own, wide.index),
        level=level, **drawn,
    )  # fmt: skip


_SHARE = {"a": 1.0, "b": 0.0, "tie": 0.5}


def author_of_judge(judge: str, authors: Sequence[str]) -> str:
    """The author that bears the name of a judge's model, or nothing.

    Examples
    --------
    >>> author_of_judge("org/GPT-4@http://localhost/v1", ["gpt-4", "llama"])
    'gpt-4'
    """
    model = judge.partition("@")[0].lower()
    names = {model, model.rpartition("/")[2]}
    return next((a for a in authors if a.lower() in names), "")


def own_authors(
    frame: pd.DataFrame, items: Sequence[Item], declared: Mapping[str, str]
) -> dict[str, str]:
    """Each judge's own author: as declared, else the author that bears its model's name."""
    authors = sorted({r.author for item in items for r in item.responses if r.author})
    judges = dict.fromkeys(str(j) for j in frame["judge"])
    named = {j: declared.get(j) or author_of_judge(j, authors) for j in judges}
    return {judge: author for judge, author in named.items() if author in authors}


def preference_share(verdicts: Objects) -> Floats:
    """Share of each pair's verdicts for the earlier response, a tie counting half; NaN if none.

    Examples
    --------
    >>> preference_share(np.array([["a", "tie"], ["b", ""], ["", ""]], dtype=object)).tolist()
    [0.75, 0.0, nan]
    """
    points = np.vectorize(lambda v: _SHARE.get(v, np.nan), otypes=[float])(verdicts)
    present = ~np.isnan(points)
    count = present.sum(axis=1)
    total = np.where(present, points, 0.0).sum(axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def position_shares(ab: Objects, ba: Objects) -> Floats:
    """Share of each pair's verdicts for the second and for the first position, shape (n_pairs, 2).

    Each order weighs the same, and a tie counts half. NaN where an order was not parsed.
    """
    first = (preference_share(ab) + 1 - preference_share(ba)) / 2
    return np.column_stack([1 - first, first])
