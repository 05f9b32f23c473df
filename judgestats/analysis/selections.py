"""Selections: rotations, conditions, and effects on the Grade Score."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.analysis.families import AnalysisPlan, direction_of
from judgestats.analysis.limits import first_limits, no_sampling
from judgestats.analysis.records import NamedResult, named_results
from judgestats.arrays import Objects
from judgestats.data.matrices import lost_shares
from judgestats.data.request_fields import heat
from judgestats.items.answers import model_names
from judgestats.results import About, apa_number
from judgestats.stats.agreement.grade_score import grade_score_difference, grade_score_items
from judgestats.stats.comparison.friedman import friedman_test
from judgestats.stats.comparison.paired import wilcoxon_signed_rank
from judgestats.stats.inference.result import Comparisons, Estimate, TestResult


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
        """Choices, with the status in place of what was not read: unread as a category."""
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

    What a replicated study printed is no question to these data.

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
    if not left:
        return []
    return [f"Not answered, since these data hold nothing for it: {' '.join(left)}"]


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
        One row a final verdict; nothing is said of verdicts that are one call each, without
        a column ``calls``.

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
    row[key] = result.estimate
    if result.interval is not None:
        row[f"{key}_low"], row[f"{key}_high"] = result.interval.low, result.interval.high
    if result.null is not None:
        row[f"{key}_null_mean"], row[f"{key}_null_q95"] = result.null.mean, result.null.q95
        row[f"{key}_null_p"] = result.null.p_value
        row[f"{key}_null_p_smallest"] = result.null.p_smallest


def metrics_of(row: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, float]:
    """Metrics of a condition for the MLflow UI, bounds under ``ci/``."""
    out: dict[str, float] = {}
    lost = {f"{name}_share": f"quality/{name}_share" for name in ("unread", "unanswered")}
    for column, metric in {**lost, **names}.items():
        if column in row:
            out[metric] = float(row[column])
        if f"{column}_low" in row:
            out[f"ci/{metric}.lo"] = float(row[f"{column}_low"])
            out[f"ci/{metric}.hi"] = float(row[f"{column}_high"])
    return out


def selection_limits(frame: pd.DataFrame, table: pd.DataFrame) -> list[str]:
    """What a careful reader would object to, where these data give cause.

    Parameters
    ----------
    frame : DataFrame
        The parsed judgments.
    table : DataFrame
        One row a condition.

    Returns
    -------
    list of str
    """
    limits = first_limits(
        table,
        int(table["n_clusters"].min()),
        "gave no verdict. They are shown as missing and as a category of their own; where the two "
        "differ, failures carry the result.",
    )
    limits += no_sampling(sorted(set(table.loc[table["temperature"] == 0, "judge"])))
    own = _own_answers(frame)
    if own:
        limits.append(
            f"{', '.join(own)}: judge and answerer at once. A preference for its own answers "
            "cannot be told from quality."
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
        self.positions: NDArray[np.float64] = position.to_numpy(float) - 1
        self.choices: NDArray[np.object_] = wide["choice"].fillna("").to_numpy(object)
        once = asked.groupby(keys, sort=False).agg(
            cluster=("cluster", "first"), n_options=("n_options", "first")
        )
        once["preferred"] = asked.groupby(keys, sort=False)["preferred"].max()
        once = once.loc[wide.index]
        self.items: NDArray[np.object_] = wide.index.get_level_values("item_id").to_numpy(object)
        self.cluster: NDArray[np.object_] = once["cluster"].to_numpy(object)
        self.n_options: NDArray[np.int64] = once["n_options"].to_numpy(np.int64)
        self.preferred: NDArray[np.object_] = once["preferred"].to_numpy(object)
        self.index = wide.index

    def repetitions(self) -> pd.DataFrame:
        """Choices with one row for each item and rotation, one column a replicate."""
        asked = np.arange(self.choices.shape[1]) < self.n_options[:, None]
        row, rotation = np.nonzero(asked)
        long = pd.DataFrame(
            {
                "item_id": self.items[row],
                "rotation": rotation,
                "replicate": self.index.get_level_values("replicate").to_numpy()[row],
                "choice": self.choices[row, rotation],
            }
        )
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


_PROMPT, OPTION = "factor_prompt", "factor_unrelated"
_FEWEST = 3
"""Items that a comparison of prompts needs."""


@dataclass(frozen=True, kw_only=True)
class Effect:
    """A test of what a factor does, with what its headline says beside the p."""

    result: NamedResult
    about: About
    direction: Literal["", "higher", "lower"] = ""
    beside: tuple[str, ...] = ()
    size: str = ""


def _strata(table: pd.DataFrame, vary: str) -> list[tuple[str, dict[str, str]]]:
    """Conditions that differ in one factor only: what they share, and level to condition."""
    if vary not in table:
        return []
    rest = [c for c in ("judge", "temperature", _PROMPT, OPTION) if c in table and c != vary]
    out = []
    for key, own in table.groupby(rest, sort=False):
        factors = dict(zip(rest, key, strict=True))
        words = [str(factors["judge"]), heat(factors["temperature"])]
        if _PROMPT in factors:
            words.append(f"prompt {factors[_PROMPT]}")
        if OPTION in factors:
            words.append("with unrelated" if factors[OPTION] == "yes" else "without unrelated")
        levels = {str(v): str(c) for v, c in zip(own[vary], own["condition"], strict=True)}
        out.append((", ".join(words), levels))
    return out


def effect_of_option(
    rotations: Mapping[str, Rotations],
    table: pd.DataFrame,
    declared: AnalysisPlan,
    *,
    n_permutations: int,
) -> tuple[list[NamedResult], list[Effect]]:
    """Differences that the unrelated option makes to chance-corrected scores, and their tests.

    Parameters
    ----------
    rotations : mapping of condition to Rotations
    table : DataFrame
        One row a condition.
    declared : AnalysisPlan
    n_permutations : int
        So many that the smallest p stands after adjustment.

    Returns
    -------
    list of NamedResult
    list of Effect
    """
    results: list[NamedResult] = []
    effects = []
    for name, levels in _strata(table, OPTION):
        for less in _less(rotations, levels, "no", declared).values():
            title = "With minus without the unrelated option"
            results += named_results(name, "secondary", ("unrelated", title, less))
            scores = _scores(rotations, {k: levels[k] for k in ("no", "yes")})
            if len(scores) >= _FEWEST:
                test = _compared(scores, rotations[levels["no"]], declared, n_permutations, OPTION)
                effects.append(
                    Effect(
                        result=NamedResult(
                            f"unrelated.test.{name}", f"Unrelated option, {name}", "secondary", test
                        ),
                        about=_about(name, levels, "unrelated option"),
                        direction=direction_of(less.estimate),
                        beside=(f"unrelated.{name}",),
                        size="" if math.isnan(less.estimate) else f"unrelated.{name}",
                    )
                )
    return results, effects


def _about(stratum: str, levels: Mapping[str, str], varied: str) -> About:
    return About(stratum=stratum, conditions=tuple(levels.values()), varied=varied)


def _scores(rotations: Mapping[str, Rotations], levels: Mapping[str, str]) -> pd.DataFrame:
    """Corrected scores of the items that all levels have."""
    return pd.DataFrame({k: rotations[c].item_scores() for k, c in levels.items()}).dropna()


def _less(
    rotations: Mapping[str, Rotations], levels: Mapping[str, str], base: str, declared: AnalysisPlan
) -> dict[str, Estimate]:
    """Every other level less the base, of chance-corrected scores of the same items."""
    if base not in levels:
        return {}
    first = rotations[levels[base]]
    out = {}
    for level, condition in levels.items():
        second = rotations[condition]
        if level == base or not first.index.equals(second.index):
            continue
        width = max(first.positions.shape[1], second.positions.shape[1])
        padded = [
            np.pad(p, ((0, 0), (0, width - p.shape[1])), constant_values=math.nan)
            for p in (first.positions, second.positions)
        ]
        out[level] = grade_score_difference(
            padded[0],
            padded[1],
            n_options_first=first.n_options,
            n_options_second=second.n_options,
            cluster=first.cluster,
            level=declared.level,
        )
    return out


def effect_of_prompt(
    rotations: Mapping[str, Rotations],
    table: pd.DataFrame,
    declared: AnalysisPlan,
    *,
    n_permutations: int,
) -> tuple[list[NamedResult], list[Effect]]:
    """Prompts compared: each prompt less the first, and one test a stratum.

    Parameters
    ----------
    found, table, declared, n_permutations
        As `effect_of_option`.

    Returns
    -------
    list of NamedResult
    list of Effect
    """
    differences: list[NamedResult] = []
    effects: list[Effect] = []
    for name, levels in _strata(table, _PROMPT):
        scores = _scores(rotations, levels)
        if len(levels) < 2 or len(scores) < _FEWEST:
            continue
        base = next(iter(levels))
        less = {
            f"prompt.difference.{other}.{name}": (other, difference)
            for other, difference in _less(rotations, levels, base, declared).items()
        }
        own = [
            NamedResult(
                identity, f"Prompt {other} less prompt {base}, {name}", "secondary", difference
            )
            for identity, (other, difference) in less.items()
        ]
        usable = {i: abs(d.estimate) for i, (_, d) in less.items() if math.isfinite(d.estimate)}
        test = _compared(scores, rotations[levels[base]], declared, n_permutations, _PROMPT)
        effects.append(
            Effect(
                result=NamedResult(
                    f"prompt.{name}", f"Prompts compared, {name}", "secondary", test
                ),
                about=_about(name, levels, "prompt"),
                beside=tuple(r.id for r in own),
                size=max(usable, key=lambda i: usable[i], default=""),
            )
        )
        differences += own
    return differences, effects


def _compared(
    scores: pd.DataFrame,
    first: Rotations,
    declared: AnalysisPlan,
    n_permutations: int,
    factor: str,
) -> TestResult:
    """Levels (columns) compared on the same items (rows): Friedman, of two Wilcoxon."""
    clusters = pd.Series(first.cluster, index=first.items).groupby(level=0).first()
    common: dict[str, Any] = {
        "names": [f"{factor.removeprefix('factor_')} {c}" for c in scores.columns],
        "cluster": clusters.loc[scores.index].to_numpy(object),
        "level": declared.level,
    }
    data = scores.to_numpy(float)
    if data.shape[1] == 2:
        return wilcoxon_signed_rank(data[:, 0], data[:, 1], **common)
    return friedman_test(data, **common, n_permutations=n_permutations, seed=declared.seed)


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
    """Share of verdicts that are people's, where the frame holds theirs."""
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


_AS_GIVEN = {"ab", "original", "orig", "0", "false", "1"}
"""Orders that show response a first, by their names in files."""


def position_shares_pairs(frame: pd.DataFrame) -> pd.DataFrame:
    """How often the response shown first was preferred, and the one shown second, ties left out.

    Parameters
    ----------
    frame : DataFrame
        Parsed judgments.

    Returns
    -------
    DataFrame
        ``condition``, ``first``, ``second``; empty for judgments that are not in two orders.

    Examples
    --------
    >>> frame = pd.DataFrame({"condition": "a", "order": ["ab", "ba"] * 2,
    ...                       "choice": ["a", "b", "a", "a"]})
    >>> position_shares_pairs(frame).to_dict("records")
    [{'condition': 'a', 'first': 0.75, 'second': 0.25}]
    """
    if frame.empty or not {"order", "choice"} <= set(frame.columns):
        return pd.DataFrame()
    orders = list(dict.fromkeys(map(str, frame["order"].unique())))
    if len(orders) != 2:
        return pd.DataFrame()
    first = next((o for o in orders if o.lower() in _AS_GIVEN), orders[0])
    read = frame[frame["choice"].isin(["a", "b", "tie"])]
    swapped = read["order"].astype(str) != first
    place = read["choice"].where(~swapped, read["choice"].map({"a": "b", "b": "a", "tie": "tie"}))
    rows = []
    for condition, own in place.groupby(read["condition"].astype(str), sort=False):
        decided = own[own.ne("tie")]
        share = float(decided.eq("a").mean())  # NaN where every verdict is a tie
        rows.append({"condition": condition, "first": share, "second": 1 - share})
    return pd.DataFrame(rows)


def position_shares_selections(frame: pd.DataFrame) -> pd.DataFrame:
    """How often each place was selected, over the items with the most common number of options.

    Parameters
    ----------
    frame : DataFrame
        Parsed judgments.

    Returns
    -------
    DataFrame
        ``condition``, the number of selections ``n``, and ``place_1``, ``place_2``, ...; empty for
        judgments that are no selections in all rotations.
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
