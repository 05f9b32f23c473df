"""What analyses of selections share: choices spread out, rows of conditions, limits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.limits import Limit, few_questions, lost_limits, simulated_judges
from judgestats.analysis.outcome import NamedResult
from judgestats.analysis.plan import AnalysisPlan
from judgestats.arrays import Objects
from judgestats.items.answers import model_names
from judgestats.judgments.shapes import lost_shares
from judgestats.results import About
from judgestats.results.numbers import apa_number
from judgestats.results.records import Role
from judgestats.stats.inference.result import Estimate, Result


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


def named(
    identity: str,
    title: str,
    role: Role,
    result: Result,
    *,
    headline: bool = False,
    about: About | None = None,
) -> NamedResult:
    """A named result, shortly."""
    return NamedResult(
        id=identity, title=title, role=role, result=result, headline=headline,
        about=about or About(),
    )  # fmt: skip


def beside(
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
    return named(identity, text, "secondary", share.replace(details=details))


def in_order(results: Sequence[NamedResult], declared: AnalysisPlan) -> list[NamedResult]:
    """Results by role, then in the order of the plan's hypotheses."""
    roles = {"primary": 0, "secondary": 1, "descriptive": 2}
    places = {h.id: i for i, h in enumerate(declared.hypotheses)}

    def place(result: NamedResult) -> tuple[int, int]:
        return roles.get(result.role, 3), places.get(result.id.split(".")[0], len(places))

    return sorted(results, key=place)


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
    limits: list[str] = []
    simulated = simulated_judges(table["judge"])
    if simulated is not None:
        limits.append(simulated)
    if int(table["n_clusters"].min()) < 50:
        limits.append(few_questions(int(table["n_clusters"].min())))
    limits += lost_limits(
        table,
        "gave no verdict. They are shown as missing and as a category of their own; where the two "
        "differ, failures carry the result.",
    )
    cold = sorted(set(table.loc[table["temperature"] == 0, "judge"]))
    if cold:
        limits.append(
            Limit(
                f"T = 0 ({', '.join(cold)}): the same draw is repeated, so a reliability near 1 "
                "there says that sampling was switched off, not that the judge is right or would "
                "agree with itself if asked differently.",
                code="no_sampling",
                short="T = 0 repeats the same draw",
            )
        )
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
