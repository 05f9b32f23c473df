"""Consistency of one condition's verdicts, and agreement with human labels."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from judgestats.analysis.coefficients import computed, declared_for, repetition_results
from judgestats.analysis.families import AnalysisPlan, clusters_of, shared_clusters
from judgestats.analysis.records import Found
from judgestats.analysis.scores import affordable
from judgestats.analysis.validity import confidence_results
from judgestats.analysis.validity_raters import annotator_results
from judgestats.analysis.validity_systems import verdict_disagreements
from judgestats.arrays import Floats, Ints, Objects
from judgestats.errors import InputError
from judgestats.results.quantities.entry import Kind
from judgestats.stats import accuracy, relation_null
from judgestats.stats.designs.count_table import count_table
from judgestats.stats.inference.result import Estimate, Note, Sample

OUTCOMES: Mapping[str, str] = {
    **dict.fromkeys(("a", "model_a", "response_a", "assistant_a", "1", "first", "[[a]]"), "a"),
    **dict.fromkeys(("b", "model_b", "response_b", "assistant_b", "2", "second", "[[b]]"), "b"),
    **dict.fromkeys(("tie", "c", "0", "same", "both", "neither", "equal", "[[c]]"), "tie"),
}
"""Spellings of the outcome of a comparison of two responses."""


_FIRST = {"ab", "original", "orig", "0", "false", "1"}


def orders_shown(frame: pd.DataFrame) -> list[str]:
    """The orders of presentation, the one with a first before the others, whatever row comes first.

    Examples
    --------
    >>> orders_shown(pd.DataFrame({"order": ["ba", "ab", "ba"]}))
    ['ab', 'ba']
    """
    orders = sorted(map(str, frame["order"].unique()))
    return sorted(orders, key=lambda o: o.lower() not in _FIRST)


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
    >>> outcomes(pd.Series(["A", "C"])).tolist()  # options: a tie was read as one before
    ['a', 'c']
    """
    lower = {value: str(value).strip().lower() for value in values.unique()}
    if _is_option_set(lower.values()):
        return values.map(lower)
    strange = [value for value, word in lower.items() if word and word not in OUTCOMES]
    if not strange:
        return values.map({value: OUTCOMES.get(word, "") for value, word in lower.items()})
    if strict:
        raise InputError(
            f"audit: {str(strange[0])[:40]!r} is not an outcome of a comparison (a, b, tie and "
            "their usual spellings), which a label needs. Map the column, or leave the labels out."
        )
    return values.astype(str) if values.dtype == object else values


def _is_option_set(lower: Iterable[str]) -> bool:
    """Whether verdicts are options of a choice: a, b and c by themselves, or numbers.

    Readers spell the outcome of a comparison as a, b and tie, so that a c is not one of these.
    """
    words = set(lower) - {""}
    return {"c"} <= words <= {"a", "b", "c"} or (bool(words) and all(map(str.isdecimal, words)))


def lower_case(values: pd.Series) -> pd.Series:
    """Texts without case and space around them."""
    return values.map({value: str(value).strip().lower() for value in values.unique()})


def has_shared_words(frame: pd.DataFrame) -> bool:
    """Whether labels are verdicts in their own words (pass and fail) that the judge uses too."""
    labels = set(lower_case(frame["label"]).unique()) - {""}
    return not labels <= set(OUTCOMES) and bool(labels & set(lower_case(frame["choice"]).unique()))


def comparable(frame: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Choices that labels can be compared with; the others become unparsed, and are named.

    A judge that answers something else than a, b or tie has not given a verdict: that is a status,
    and neither agreement nor disagreement. Where most choices are something else, the column is
    the wrong one or coded otherwise, and the caller has to say how.
    """
    lower = lower_case(frame["choice"])
    if _is_option_set(lower.unique()):
        return frame.assign(choice=lower), ()
    strange = ~lower.isin([*OUTCOMES, ""])
    if 2 * int(strange.sum()) > int((lower != "").sum()):
        raise InputError(
            f"audit: most choices are not pairwise outcomes (a, b, tie, and their usual "
            f"spellings), such as {frame.loc[strange, 'choice'].iloc[0][:40]!r}, but the labels "
            "are. Recode the choices, or leave the labels out."
        )
    read = frame.assign(
        choice=lower.map(lambda v: OUTCOMES.get(v, "")),
        status=frame["status"].mask(strange, "unparseable"),
    )
    return read, tuple(dict.fromkeys(frame.loc[strange, "choice"].astype(str)))


_OUTCOMES = ("a", "b", "tie")
_CREDIT = np.array([[1.0, 0.0, 0.5], [0.0, 1.0, 0.5], [0.5, 0.5, 1.0]])
"""1 for the same outcome, .5 where exactly one says tie; rows the judge, columns the human."""


def people_results(asked: pd.DataFrame, declared: AnalysisPlan) -> Found:
    """Agreement of one condition's verdicts with human labels.

    Parameters
    ----------
    asked : DataFrame
        Judgments of one condition. ``choice`` and ``label`` are ``a``, ``b``, ``tie`` or empty, or
        other values (pass and fail), which are only tested for equality.
    declared : AnalysisPlan

    Returns
    -------
    list of (str, str, Result)
        Identity, title and result.
    """
    pairs = asked[asked["label"] != ""]
    judge, human = pairs["choice"].to_numpy(object), pairs["label"].to_numpy(object)
    words = {*judge, *human} - {""}
    names = _OUTCOMES if words <= set(_OUTCOMES) else tuple(sorted(words))
    # Several judgments of one item are not independent: the item is the least cluster.
    options = {"cluster": pairs["cluster"].to_numpy(object), "level": declared.level}
    kinds: list[Kind] = ["labels"]
    if words <= set(_OUTCOMES):
        kinds += ["pair labels", "tied labels"] if "tie" in words else ["pair labels"]
    tables: dict[str, Callable[[Floats], Floats]] = {
        "alignment_score": lambda t: _share(t, _CREDIT),
        "accuracy": lambda t: _share(t, np.eye(len(names))),
        "cohen_kappa": kappa_of_tables,
        "accuracy_exclude_ties": lambda t: _share(t[..., :2, :2], np.eye(2)),
    }
    items = _items_read(pairs, names)
    return [
        *(
            (
                q.record,
                q.title or q.heading,
                _item_estimate(value, items, tables.get(q.key), declared),
            )
            for q in declared_for(*kinds)
            for value in [computed(q, judge, human, categories=list(names), **options)]
        ),
        *_always_same(pairs, names, declared.level),
        *annotator_results(asked, declared, scores=False),
        verdict_disagreements(pairs),
        *confidence_results(asked, declared),
    ]


def _always_same(pairs: pd.DataFrame, names: tuple[str, ...], level: float) -> Found:
    """Accuracy of always giving the most common human verdict, over items with a verdict."""
    once = pairs[pairs["choice"] != ""].drop_duplicates("item_id")
    if once.empty:
        return []
    human = once["label"].to_numpy(object)
    constant = str(once["label"].mode().iloc[0])
    same = accuracy(
        np.full(human.size, constant, dtype=object), human, categories=names,
        cluster=once["cluster"].to_numpy(object), level=level,
    )  # fmt: skip
    same = same.replace(label=f"A judge that always says {constant}")
    return [("people.always_same", f"Majority baseline ('{constant}')", same)]


def _share(table: Floats, credit: Floats) -> Floats:
    return np.asarray((table * credit).sum((-2, -1)) / table.sum((-2, -1)))


def kappa_of_tables(table: Floats) -> Floats:
    """Cohen's kappa of each square table of a stack."""
    p = table / table.sum((-2, -1), keepdims=True)
    chance = (p.sum(-1) * p.sum(-2)).sum(-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((np.trace(p, axis1=-2, axis2=-1) - chance) / (1 - chance))


@dataclass(frozen=True, kw_only=True)
class _Items:
    """What was read of each item; several labels of one leave nothing to shuffle."""

    sizes: Ints
    n_clusters: int
    several_labels: bool
    labels: Ints
    counts: Floats
    clusters: Objects


def _items_read(pairs: pd.DataFrame, names: tuple[str, ...]) -> _Items:
    read = pairs[pairs["choice"] != ""]
    item, ids = pd.factorize(read["item_id"])
    place = {name: i for i, name in enumerate(names)}
    label = read["label"].map(place).to_numpy(int)
    counts, labelled = (np.zeros((len(ids), len(names))) for _ in range(2))
    np.add.at(counts, (item, read["choice"].map(place).to_numpy(int)), 1.0)
    labelled[item, label] = 1.0
    first = np.unique(item, return_index=True)[1]
    return _Items(
        sizes=np.bincount(item, minlength=len(ids)),
        n_clusters=int(read["cluster"].nunique()),
        several_labels=bool((labelled.sum(axis=1) > 1).any()),
        labels=np.asarray(label[first], dtype=np.int64),
        counts=counts,
        clusters=read["cluster"].to_numpy(object)[first],
    )


def _item_estimate(
    result: Estimate,
    items: _Items,
    value: Callable[[Floats], Floats] | None,
    declared: AnalysisPlan,
) -> Estimate:
    """The result with items counted as items, and with its null where `value` gives it of a table.

    The statistics see one row per judgment; several of one item (orders, replications) are counted
    as that item's replications. The null shuffles human labels over items, so an item's judgments
    stay together, and whole clusters where items have them.
    """
    n, out = items.sizes.size, result.sample
    result = result.replace(sample=Sample(
        n_items=n, n_clusters=items.n_clusters, n_excluded=out.n_excluded,
        n_replications=int(items.sizes.min()) if n else None,
        n_replications_max=int(items.sizes.max()) if n else None,
        excluded={f"judgments, {why}": lost for why, lost in out.excluded.items()},
    ))  # fmt: skip
    if value is None or not declared.n_resamples or math.isnan(result.estimate):
        return result
    if items.several_labels:
        note = Note(
            code="no_null",
            message="items have several different labels, so no null is given: labels "
            "cannot be shuffled over items",
        )
        return result.replace(notes=(*result.notes, note))
    names = np.arange(items.counts.shape[1])
    null = relation_null(
        (items.labels, items.counts),
        lambda drawn, chosen: value(
            np.einsum("nv,bnl->bvl", chosen, (drawn[..., None] == names).astype(float))
        ),
        cluster=items.clusters,
        n_permutations=declared.n_resamples,
        seed=declared.seed,
        vectorized=True,
    )
    return result.replace(null=null)


def _wide(asked: pd.DataFrame, items: pd.Index) -> Objects:
    """Items x replications of choices: empty text was asked and not read, None never asked."""
    table = asked.pivot(index="item_id", columns="replicate", values="choice").reindex(items)
    return table.astype(object).where(table.notna(), None).to_numpy(object)


def condition_results(asked: pd.DataFrame, declared: AnalysisPlan) -> Found:
    """What a condition's verdicts show: kind, title and result."""
    items = pd.Index(asked["item_id"].unique())
    cluster = shared_clusters(clusters_of(asked, items))
    orders = orders_shown(asked)
    by_order = {o: _wide(asked[asked["order"] == o], items) for o in orders}
    results = _repetition([t for t in by_order.values() if t.shape[1] > 1], cluster, declared)
    if len(orders) == 2 and set(asked["choice"].unique()) <= {"a", "b", "tie", ""}:
        first, second = by_order.values()
        width, common = min(first.shape[1], second.shape[1]), declared.resampling
        results += [
            (q.record, q.title or q.heading, computed(q, first, second, cluster=cluster, **common))
            for q in declared_for("pairs", repeats=width)
        ]
    if "label" in asked and (asked["label"] != "").any():
        results += people_results(asked, declared)
    return results


def _repetition(tables: list[Objects], cluster: Objects | None, declared: AnalysisPlan) -> Found:
    """Repetitions of the same order compared, over every order that was repeated."""
    if not tables:
        return []
    affordable_draws = affordable(declared.n_resamples, sum(t.size for t in tables))
    common = {**declared.resampling, "cluster": cluster, "n_permutations": affordable_draws}
    results = repetition_results([count_table(t) for t in tables], **common)
    unread = any((t == "").any() for t in tables)
    if unread and any(((t != "") & (t != None)).any() for t in tables):  # noqa: E711  elementwise
        named = [np.where(t == "", "(unparsed)", t) for t in tables]
        [(record, title, value)] = repetition_results(named, only="fleiss_kappa", **common)
        results.append((f"{record}_unread", f"{title}, unparsed as a category", value))
    return results
