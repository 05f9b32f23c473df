"""Selections: rotations, conditions, and effects on the Grade Score."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from judgestats import stats
from judgestats.analysis.coefficients import columns_of
from judgestats.analysis.families import AnalysisPlan
from judgestats.analysis.limits import first_limits, no_sampling
from judgestats.analysis.records import NamedResult, named_results
from judgestats.arrays import Floats, Ints, Objects
from judgestats.data.parse import lost_shares
from judgestats.items.answers import model_names
from judgestats.results import apa_number
from judgestats.results.records import Role
from judgestats.stats.agreement.grade_score import grade_score_items
from judgestats.stats.comparison.blocked_f import blocked_f_test
from judgestats.stats.dispersion.condition_summary import mean_shift
from judgestats.stats.dispersion.equivalence import EquivalenceResult, equivalence_of_means
from judgestats.stats.inference.result import Comparisons, Estimate, Result, TestResult


class Choices:
    """Choices of one condition: units x replications, and what the units are.

    Attributes
    ----------
    values : ndarray of object, shape (n_units, n_replications)
        Empty text where not read.
    status : ndarray of object
        As `values`.
    items : ndarray of object, shape (n_units,)
    cluster : ndarray of object, shape (n_units,)
    category : ndarray of object, shape (n_units,)
    """

    def __init__(self, asked: pd.DataFrame, *, column: str, items: Sequence[str]) -> None:
        wide = asked.pivot(index="item_id", columns="replicate", values=[column, "status"])
        wide = wide.reindex(list(items)).fillna("")
        once = asked.drop_duplicates("item_id").set_index("item_id").reindex(list(items))
        self.values: Objects = wide[column].to_numpy(object)
        self.status: Objects = wide["status"].to_numpy(object)
        self.items: Objects = np.asarray(items, dtype=object)
        self.cluster: Objects = once["cluster"].fillna("").to_numpy(object)
        self.category: Objects = once["category"].fillna("").to_numpy(object)

    @property
    def with_status(self) -> Objects:
        """Choices, with the status instead of what was not read: unparsed as a category."""
        unread = (self.values == "") & (self.status != "")
        return np.where(unread, "(no verdict)", self.values)


def choices_of(frame: pd.DataFrame, *, column: str = "position") -> dict[str, Choices]:
    """Choices by condition, all on the same items in the same order.

    Parameters
    ----------
    frame : DataFrame
        Parsed judgments with one order an item.
    column : {"position", "choice"}
        What is counted. Positions (the letters) of a seeded order are exchangeable over items;
        names of authors are not: where the same author is best on every item, a perfect judge has
        no variance between items.

    Returns
    -------
    dict of condition to Choices
    """
    if column not in frame:
        frame = frame.assign(**{column: ""})
    items = list(dict.fromkeys(frame["item_id"]))
    return {
        str(condition): Choices(asked, column=column, items=items)
        for condition, asked in frame.groupby("condition", sort=False)
    }


def share_result(
    identity: str, title: str, name: str, share: Estimate, random_choice: float
) -> NamedResult:
    """A share of choices, named with what a random choice would get.

    Parameters
    ----------
    identity, title, name : str
        Of the result, and the condition.
    share : Estimate
    random_choice : float
    """
    text = f"{title} (a random choice: {apa_number(random_choice, bounded=True)}), {name}"
    details = {**share.details, "random_choice": random_choice}
    return NamedResult(identity, text, "secondary", share.replace(details=details))


def sort_results(results: Sequence[NamedResult], declared: AnalysisPlan) -> list[NamedResult]:
    """Results by role, then in the order of the plan's hypotheses."""
    roles = {"primary": 0, "secondary": 1, "descriptive": 2}
    places = {h.id: i for i, h in enumerate(declared.hypotheses)}

    def sort_key(result: NamedResult) -> tuple[int, int]:
        return roles.get(result.role, 3), places.get(result.id.split(".")[0], len(places))

    return sorted(results, key=sort_key)


def unanswered(results: Sequence[NamedResult], declared: AnalysisPlan) -> list[str]:
    """The plan's questions for which these data hold nothing, as a limitation; none where all do.

    Numbers printed by a replicated study are not questions of these data.

    Parameters
    ----------
    results : sequence of NamedResult
    declared : AnalysisPlan

    Returns
    -------
    list of str
    """
    met = {result.id.split(".")[0] for result in results}
    own = [h for h in declared.hypotheses if h.role != "replicated"]
    left = [h.question for h in own if h.id not in met]
    text = f"Not answered, since these data hold nothing for it: {' '.join(left)}"
    return [text] if left else []


def condition_row(condition: str, asked: pd.DataFrame) -> dict[str, Any]:
    """The columns that every condition has."""
    ok = int(asked["status"].eq("ok").sum())
    cost = asked["cost_usd"].sum(min_count=1) if "cost_usd" in asked else math.nan
    return {
        "condition": condition,
        "judge": str(asked["judge"].iloc[0]),
        "temperature": float(asked["temperature"].iloc[0]),
        **{c: str(asked[c].iloc[0]) for c in asked.columns if c.startswith("factor_")},
        "n": len(asked),
        "n_items": int(asked["item_id"].nunique()),
        "n_clusters": int(asked["cluster"].nunique()),
        "n_replications": int(asked["replicate"].nunique()),
        "n_ok": ok,
        **lost_shares(asked["status"].value_counts().to_dict()),
        "cost_usd": float(cost),
    }


def spent_on_a_verdict(pipelines: pd.DataFrame) -> dict[str, float]:
    """Calls and tokens that one final verdict took on average, with all calls behind it.

    Parameters
    ----------
    pipelines : DataFrame
        One row per final verdict. Without a column ``calls`` each verdict is one call, and the
        result is empty.

    Returns
    -------
    dict
    """
    if "calls" not in pipelines:
        return {}
    tokens = pipelines["tokens_in"] + pipelines["tokens_out"]
    return {"calls": float(pipelines["calls"].mean()), "tokens": float(tokens.mean())}


def add_estimate(row: dict[str, Any], key: str, result: Estimate) -> None:
    """Put an estimate, its bounds and its null's 95th percentile into a condition's row."""
    row |= columns_of(key, result)
    if result.null is not None:
        row[f"{key}_null_mean"], row[f"{key}_null_q95"] = result.null.mean, result.null.q95
        row[f"{key}_null_p"] = result.null.p_value
        row[f"{key}_null_p_smallest"] = result.null.p_smallest


Entry = tuple[str, Role, str, str, Result | None]


def entered(row: dict[str, Any], subject: str, *entries: Entry, **more: Any) -> list[NamedResult]:
    """Results put into a condition's row of the table, and named.

    Parameters
    ----------
    row : dict
        Added to.
    subject : str
        Ends the ids and the titles.
    *entries : tuple
        Column of the row, role, prefix of the id, title, result. An entry without a column is not
        in the row. An entry without an id is not in the list. None is in neither.
    **more
        Further fields of all named results.

    Returns
    -------
    list of NamedResult
    """
    results: list[NamedResult] = []
    for column, role, key, title, result in entries:
        estimate = result.effect if isinstance(result, TestResult) else result
        if column and isinstance(estimate, Estimate):
            add_estimate(row, column, estimate)
        if key and result is not None:
            results += named_results(subject, role, (key, title, result), **more)
    return results


def selection_limits(frame: pd.DataFrame, table: pd.DataFrame) -> list[str]:
    """What a careful reader would object to, where these data give cause.

    Parameters
    ----------
    frame : DataFrame
        The parsed judgments.
    table : DataFrame
        One row per condition.

    Returns
    -------
    list of str
    """
    limits = first_limits(
        table,
        int(table["n_clusters"].min()),
        "gave no verdict. They are shown as missing and as a separate category. Where the two "
        "differ, the result depends on failures.",
    )
    limits += no_sampling(sorted(set(table.loc[table["temperature"] == 0, "judge"])))
    own = _own_answers(frame)
    if own:
        limits.append(
            f"{', '.join(own)}: judge and answerer are the same model. Self-preference cannot be "
            "separated from quality."
        )
    return limits


def _own_answers(frame: pd.DataFrame) -> list[str]:
    """Judges whose model is an author of what was judged, endpoint and temperature aside."""
    authors: set[str] = set()
    if "options" in frame:  # a choice was made: all authors whose answers were shown
        authors |= {a for shown in set(frame["options"]) for a in str(shown).split("|")}
    if "author" in frame:  # single answers were judged
        authors |= set(frame["author"].astype(str))
    models = {m for author in authors for m in model_names(author)}
    return sorted(j for j in set(frame["judge"].astype(str)) if models & set(model_names(j)))


class Rotations:
    """Selections of one condition: (item, replicate) x rotations.

    Attributes
    ----------
    positions : ndarray of float, shape (n_rows, n_rotations)
        Place selected, from 0; NaN where not read or not asked.
    choices : ndarray of object
        The response selected; empty where not read.
    preferred : ndarray of object, shape (n_rows,)
        The option that people or the item's design prefer; empty where unknown.
    n_options : ndarray of int, shape (n_rows,)
    items, cluster : ndarray of object, shape (n_rows,)
    """

    def __init__(self, asked: pd.DataFrame, items: Sequence[str] | None = None) -> None:
        for column in ("position", "preferred"):
            if column not in asked:
                asked = asked.assign(**{column: ""})
        parts = asked["order"].str.split("/", expand=True).astype(int)
        asked = asked.assign(rotation=parts[0] - 1, n_options=parts[1])
        keys = ["item_id", "replicate"]
        wide = asked.pivot(index=keys, columns="rotation", values=["position", "choice"])
        own = dict.fromkeys(asked["item_id"])
        order = [i for i in items or own if i in own]
        wide = wide.reindex(order, level="item_id")
        position = pd.DataFrame(wide["position"]).apply(pd.to_numeric, errors="coerce")
        self.positions: Floats = position.to_numpy(float) - 1
        self.choices: Objects = wide["choice"].fillna("").to_numpy(object)
        once = asked.groupby(keys, sort=False).agg(
            cluster=("cluster", "first"), n_options=("n_options", "first")
        )
        once["preferred"] = asked.groupby(keys, sort=False)["preferred"].max()
        once = once.loc[wide.index]
        self.items: Objects = wide.index.get_level_values("item_id").to_numpy(object)
        self.cluster: Objects = once["cluster"].to_numpy(object)
        self.n_options: Ints = once["n_options"].to_numpy(np.int64)
        self.preferred: Objects = once["preferred"].to_numpy(object)
        self.index = wide.index

    def repetitions(self) -> pd.DataFrame:
        """Choices with one row for each item and rotation, one column a replicate."""
        asked = np.arange(self.choices.shape[1]) < self.n_options[:, None]
        row, rotation = np.nonzero(asked)
        long = pd.DataFrame({
            "item_id": self.items[row], "rotation": rotation,
            "replicate": self.index.get_level_values("replicate").to_numpy()[row],
            "choice": self.choices[row, rotation],
        })  # fmt: skip
        wide = long.pivot(index=["item_id", "rotation"], columns="replicate", values="choice")
        return wide.fillna("")

    def item_scores(self) -> pd.Series:
        """Chance-corrected Grade Score by item, over its complete replicates."""
        items = grade_score_items(self.positions, n_options=self.n_options)
        values = np.where(items["complete"].astype(bool), items["corrected"], np.nan)
        return pd.Series(values, index=self.items).groupby(level=0, sort=False).mean()


def rotations_of(frame: pd.DataFrame) -> dict[str, Rotations]:
    """Selections by condition.

    Parameters
    ----------
    frame : DataFrame
        Parsed judgments whose `order` is ``"s/N"``, as `judgestats.protocols.selection` makes it.

    Returns
    -------
    dict of condition to Rotations
    """
    # All conditions list their items alike, so that they can be compared item by item.
    items = list(dict.fromkeys(frame["item_id"]))
    return {str(c): Rotations(asked, items) for c, asked in frame.groupby("condition", sort=False)}


def is_rotated(frame: pd.DataFrame) -> bool:
    """Whether judgments are selections whose options were shown in rotations (order ``s/N``)."""
    return (
        {"order", "position", "choice"} <= set(frame.columns)
        and len(frame) > 0
        and bool(frame["order"].astype(str).str.fullmatch(r"\d+/\d+").all())
    )


def same_after_swap(frame: pd.DataFrame) -> float:
    """Share of items with one verdict in each of two orders whose verdicts are the same."""
    if "order" not in frame or frame["order"].nunique() != 2:
        return math.nan
    sets = frame.groupby("item_id").agg(orders=("order", "nunique"), n=("choice", "size"),
                                        kinds=("choice", "nunique"))  # fmt: skip
    both = sets[(sets["orders"] == 2) & (sets["n"] == 2)]
    return float((both["kinds"] == 1).mean()) if len(both) else math.nan


def same_as_people(frame: pd.DataFrame) -> float:
    """Share of verdicts that equal the human label, if the frame has labels."""
    if "label" not in frame:
        return math.nan
    rows = frame[frame["label"].astype(str).ne("")]
    same = rows["choice"].astype(str).eq(rows["label"].astype(str))
    return float(same.mean()) if len(rows) else math.nan


def commonest_share(frame: pd.DataFrame, keys: list[str]) -> float:
    """Share of a unit's verdicts that are its commonest one, averaged over units."""
    counts = frame.groupby([*keys, "choice"]).size()
    grouped = counts.groupby(level=keys)
    return float((grouped.max() / grouped.sum()).mean()) if len(counts) else math.nan


Compared = TypeVar("Compared", bound=Comparisons)


def label_shares(differences: Compared) -> Compared:
    """Differences of means of 0 and 1 as what they are: of shares, not of points of a scale."""
    rows = tuple(replace(row, estimate_name="rate_difference") for row in differences.rows)
    return replace(differences, rows=rows)


def share_differences(
    table: Floats,
    names: Sequence[str],
    *,
    cluster: Any,
    level: float,
    margin: float,
    quantity: str,
    reference: str | None = None,
) -> tuple[Comparisons, EquivalenceResult]:
    """Differences of shares between conditions, and tests that they are within a margin.

    Parameters
    ----------
    table : ndarray, shape (n_items, n_conditions)
    names : sequence of str
        Of the conditions.
    cluster : sequence
    level, margin : float
    quantity : str
        What the shares are of.
    reference : str, optional
        What the others are compared with; every pair by default.
    """
    common: dict[str, Any] = {"conditions": names, "cluster": cluster, "reference": reference}
    equal = equivalence_of_means(table, margin=margin, **common)
    shifts = mean_shift(table, level=level, **common)
    return label_shares(shifts), label_shares(replace(equal, quantity=quantity))


def matched_rank_test(data: Floats, declared: AnalysisPlan, **common: Any) -> TestResult:
    """Rank test of matched columns: Wilcoxon's of two, Friedman's of more."""
    if data.shape[1] == 2:
        return stats.wilcoxon_signed_rank(*data.T, **common, level=declared.level)
    return stats.friedman_test(data, **common, **declared.resampling)


def credit_test(data: Floats, *, within: str, **keywords: Any) -> TestResult:
    """Blocked F test of agreement with human labels, conditions exchanged within blocks."""
    return blocked_f_test(data, **keywords).replace(
        name="credit_blocked_f",
        method=f"Blocked F test of credit, conditions exchanged within {within}",
        null_hypothesis="the conditions agree equally often with human labels",
        alternative="some agree more often than others",
    )


def position_shares_selections(frame: pd.DataFrame) -> pd.DataFrame:
    """How often each position was selected, over the items with the most common number of options.

    Parameters
    ----------
    frame : DataFrame
        Parsed judgments.

    Returns
    -------
    DataFrame
        ``condition``, the number of selections ``n``, and ``place_1``, ``place_2``, ...; empty for
        judgments that are not selections in all rotations.
    """
    if not is_rotated(frame):
        return pd.DataFrame()
    rows = []
    for condition, asked in frame.groupby("condition", sort=False):
        turned = Rotations(asked)
        n = int(np.bincount(turned.n_options).argmax())
        chosen = turned.positions[turned.n_options == n, :n].ravel()
        chosen = chosen[np.isfinite(chosen)].astype(int)
        if len(chosen):
            shares = np.bincount(chosen, minlength=n) / len(chosen)
            places = {f"place_{k + 1}": float(share) for k, share in enumerate(shares)}
            rows.append({"condition": str(condition), "n": len(chosen), **places})
    return pd.DataFrame(rows)
