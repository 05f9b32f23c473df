"""Results and limitations of every analysis: lost judgments, single questions, repeats."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis import agreement, selections
from judgestats.analysis.agreement import ratings_of
from judgestats.analysis.families import Stratum, strata_of
from judgestats.analysis.limits import Limit
from judgestats.analysis.recommendation import repeat_gains
from judgestats.analysis.records import Analysis, NamedResult
from judgestats.analysis.repeat_errors import frame_errors
from judgestats.analysis.scores import clip_to_scale, on_one_scale, run_scales, scale_end_shares
from judgestats.data.matrices import lost_shares, score_array
from judgestats.data.readers.frame import bare
from judgestats.protocols.base import NO_REPLY, Status
from judgestats.results import About
from judgestats.results.numbers import LEAST_IN_CATEGORY, NEVER_REPEATED, format_number
from judgestats.stats.agreement.grade_score import grade_score_items
from judgestats.stats.agreement.raw_agreement import mean_share, pair_statistic
from judgestats.stats.designs.cells import cell_statistics
from judgestats.stats.designs.count_table import count_table
from judgestats.stats.inference import distributions
from judgestats.stats.inference.estimate import Estimate, Result
from judgestats.stats.reliability.intraclass import icc

_TITLES = {
    "unread": "Unparsed rate",
    "unanswered": "Share of judgments without a reply",
}


def unparsed_share(asked: pd.DataFrame, *, level: float = 0.95) -> Estimate:
    """The share of replies without a verdict, averaged over items, its interval over clusters.

    Parameters
    ----------
    asked : DataFrame
        Parsed judgments with ``item_id``, ``cluster`` and ``status``; those that were not answered
        or never asked are not replies.
    level : float

    Returns
    -------
    Estimate

    Examples
    --------
    >>> frame = pd.DataFrame({"item_id": list("abcdefgh"), "cluster": list("abcdefgh"),
    ...                       "status": ["ok"] * 7 + ["failed"]})
    >>> share = unparsed_share(frame)
    >>> share.estimate, share.interval.high > 0.02, unanswered_share(frame).estimate
    (0.0, True, 0.125)
    """
    replies = asked[~asked["status"].isin(_GONE)]
    return _share(replies, ~replies["status"].isin(_READ), "unread_share", level)


def unanswered_share(asked: pd.DataFrame, *, level: float = 0.95) -> Estimate:
    """The share of judgments that were not answered or never asked, as `unparsed_share`."""
    return _share(asked, asked["status"].isin(_GONE), "unanswered_share", level)


_GONE = [status.value for status in NO_REPLY]
_READ = [Status.OK.value, Status.NOT_APPLICABLE.value]


def _share(rows: pd.DataFrame, lost: pd.Series, name: str, level: float) -> Estimate:
    items = lost.astype(float).groupby(rows["item_id"], sort=False).mean()
    clusters = rows.groupby("item_id", sort=False)["cluster"].first()
    return mean_share(
        items.to_numpy(),
        cluster=clusters.loc[items.index].to_numpy(),
        level=level,
        name=name,
        label=_TITLES[name.removesuffix("_share")],
    )


def with_lost_shares(analysis: Analysis, frame: pd.DataFrame, *, level: float) -> Analysis:
    """An analysis with the intervals of both shares, of every condition and of the whole run.

    Where all was answered, the share of the unanswered is a metric and no record: it is not worth
    a line.
    """
    used = ["condition", "item_id", "cluster", "status"]
    frame = frame.loc[frame["stage"] == "final", used] if "stage" in frame else frame[used]
    gone = bool(frame["status"].isin(_GONE).any())
    shares = {str(n): _both(part, level) for n, part in frame.groupby("condition", sort=False)}
    described = [
        NamedResult(
            f"{kind}.{name}", _TITLES[kind], "descriptive", share, about=About(conditions=(name,))
        )
        for name, both in shares.items()
        for kind, share in both.items()
        if kind == "unread" or gone
    ]
    metrics = {
        name: {**(_metrics(shares[name]) if name in shares else {}), **own}
        for name, own in analysis.condition_metrics.items()
    }
    return replace(
        analysis,
        condition_metrics=metrics,
        metrics={**_metrics(_both(frame, level)), **analysis.metrics},
        described=(*analysis.described, *described),
    )


def _both(asked: pd.DataFrame, level: float) -> dict[str, Estimate]:
    """Both shares; that of the unparsed is undefined where there is no reply."""
    gone = asked["status"].isin(_GONE)
    shares = {} if gone.all() else {"unread": unparsed_share(asked, level=level)}
    return {**shares, "unanswered": unanswered_share(asked, level=level)}


def _metrics(shares: Mapping[str, Estimate]) -> dict[str, float]:
    out = {f"quality/{name}_share": math.nan for name in _TITLES}
    for name, share in shares.items():
        metric = f"quality/{name}_share"
        out[metric] = share.estimate
        if share.interval is not None:
            out[f"ci/{metric}.lo"] = share.interval.low
            out[f"ci/{metric}.hi"] = share.interval.high
    return out


def lost_shares_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Both shares of several rows of a table of conditions together.

    Examples
    --------
    >>> rows = [{"n": 10, "unread_share": 0.1, "unanswered_share": 0.0},
    ...         {"n": 10, "unread_share": float("nan"), "unanswered_share": 1.0}]
    >>> lost_shares_of(rows)
    {'unread_share': 0.1, 'unanswered_share': 0.5}
    """
    gone = [round(r["n"] * r["unanswered_share"]) for r in rows]
    unread = sum(
        round((r["n"] - n) * r["unread_share"])
        for r, n in zip(rows, gone, strict=True)
        if n < r["n"]
    )
    counts = {"failed": sum(gone), "unparseable": unread}
    counts["ok"] = sum(int(r["n"]) for r in rows) - sum(counts.values())
    return {name: float(np.round(share, 12)) for name, share in lost_shares(counts).items()}


def lost_metrics(table: pd.DataFrame) -> dict[str, float]:
    """Both shares of a whole table of conditions, as metrics."""
    rows = [{str(k): v for k, v in row.items()} for row in table.to_dict("records")]
    return {f"quality/{name}": share for name, share in lost_shares_of(rows).items()}


NOT_REPEATED = Limit(
    "No item was judged more than once by the same judge in the same way, so consistency cannot "
    "be estimated. Judge 100 items again.",
    code=NEVER_REPEATED,
    short="nothing was asked twice: consistency is not known",
)


OF_REPEATS = (
    "within_variance", "sem", "smallest_detectable_change", "constant_share", "icc1", "alpha",
    "omega", "mean_spread_correlation", "sd_between", "n_replications",
)  # fmt: skip


def repeat_limits(frame: pd.DataFrame) -> list[str]:
    """Conditions without repeats, or in which few items were repeated."""
    limits = []
    final = frame["score"].notna() & (frame["stage"] == "final")
    read = frame.loc[final, ["condition", "item_id"]]
    sizes = read.groupby(["condition", "item_id"], sort=False).size()
    never: list[str] = []
    for name, mine in sizes.groupby(level="condition", sort=False):
        repeated, items = int((mine > 1).sum()), len(mine)
        if not repeated:
            never.append(str(name))
        elif 2 * repeated < items:
            limits.append(
                f"{name}: only {repeated} of {items} items were judged more than once. What is "
                "said about consistency rests on these; they may not be like the others."
            )
    return [*not_repeated(never, of=len(set(frame["condition"].unique()))), *limits]


def not_repeated(never: Sequence[str], *, of: int) -> list[str]:
    """What follows for the conditions of which no item was rejudged, said once for all.

    Parameters
    ----------
    never : sequence of str
        Their names.
    of : int
        How many conditions there are; where it is all of them, none need be named.

    Returns
    -------
    list of str

    Examples
    --------
    >>> not_repeated(["x", "y"], of=3)[0][:20]
    'x, y: No item was ju'
    >>> not_repeated(["x", "y"], of=2)[0][:11]
    'No item was'
    """
    if not never:
        return []
    return [NOT_REPEATED if len(never) == of else not_repeated_in(never)]


def not_repeated_in(conditions: Sequence[str]) -> Limit:
    """`NOT_REPEATED`, of these conditions alone."""
    text = f"{', '.join(conditions)}: {NOT_REPEATED}"
    n = len(conditions)
    once = "1 condition was" if n == 1 else f"{n} conditions were"
    short = f"{once} asked once: consistency is not known there"
    return Limit(text, code=NOT_REPEATED.code, short=short)


def constant_limits(table: pd.DataFrame) -> list[str]:
    """Conditions with one and the same score throughout."""
    still = table.loc[(table["sd"] == 0) & (table["n_ok"] > 1), "condition"].astype(str).tolist()
    if not still:
        return []
    text = (
        f"{', '.join(still)}: every score is the same. Such scores tell no item from another, "
        "and no agreement with them can be computed."
    )
    return [text]


def label_limits(frame: pd.DataFrame) -> list[str]:
    """Human labels that could not be compared with scores, and why."""
    ratings, words = ratings_of(frame)
    if not words:
        return []
    spelled = frame["label"].astype(str).str.strip()
    numeric = pd.to_numeric(spelled.where(spelled != ""), errors="coerce").notna()
    by_word = (
        frame["score"].groupby(spelled.where((spelled != "") & ~numeric)).agg(["mean", "count"])
    )
    named = ", ".join(
        f"{str(word)[:30]!r} {short_number(row['mean'])} ({int(row['count'])})"
        for word, row in by_word[by_word["count"] > 0].head(6).iterrows()
    )
    text = (
        f"{words} labels are words, not numbers: a correlation with scores needs numbers, and the "
        "order of the words is not known"
        + (" (the numeric labels are used)" if len(ratings) else "")
        + ". Map them to numbers to compare."
    )
    return [text + (f" Mean score by label (scores): {named}." if named else "")]


def short_number(value: float) -> str:
    """A number with three digits, for a sentence."""
    return format_number(value, digits=3)


_MOST_LEFT_OUT = 500
"""With more questions than this no single one can matter much."""


def left_out_estimates(analysis: Analysis, frame: pd.DataFrame) -> pd.DataFrame:
    """Reliability, or what verdicts agree with, by condition, each question left out in turn.

    Parameters
    ----------
    analysis : Analysis
    frame : DataFrame
        The parsed judgments; nothing is computed of those judged in stages, where a row is a part
        of a verdict.

    Returns
    -------
    DataFrame
        ``what``, ``condition``, the number of ``all`` questions, ``low`` and ``high`` with one
        left out, and the ``question`` that matters most.
    """
    staged = "stage" in frame and bool(frame["stage"].ne("final").any())
    if frame.empty or staged:
        return pd.DataFrame()
    kinds = frozenset(map(str, analysis.conditions.columns))
    rows: list[dict[str, Any]] = []
    questions = frame["cluster"].groupby(frame["condition"]).nunique()
    few = frame["condition"].map(questions.between(3, _MOST_LEFT_OUT))
    for condition, part in frame[few].groupby("condition", sort=False) if few.any() else ():
        owners = part["cluster"].astype(str).to_numpy(dtype=object)
        codes, uniques = pd.factorize(owners)
        names = [str(name) for name in uniques]
        if not 3 <= len(names) <= _MOST_LEFT_OUT:
            continue
        for what, value in _estimators(part, kinds):
            every = value(np.ones(len(part), dtype=bool))
            values = np.array([value(codes != code) for code in range(len(names))])
            if not math.isnan(every) and not np.isnan(values).all():
                rows.append(_row(what, str(condition), every, values, names))
    for condition, every, values, names in _credit_left_out(analysis):
        rows.append(_row("Agreement with people (1 / .5 / 0)", condition, every, values, names))
    rows.sort(key=lambda row: str(row["what"]))
    return pd.DataFrame(rows)


def _row(
    what: str, condition: str, every: float, values: np.ndarray[Any, Any], names: list[str]
) -> dict[str, Any]:
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    most = names[int(np.nanargmax(np.abs(values - every)))]
    return {
        "what": what, "condition": condition, "all": every, "low": low, "high": high,
        "question": most if low < high else None,
    }  # fmt: skip


def _credit_left_out(
    analysis: Analysis,
) -> Iterator[tuple[str, float, np.ndarray[Any, Any], list[str]]]:
    """Mean credit of each method over pairs: of all of them, and without each question."""
    arrays = analysis.arrays
    if not {"credit", "clusters", "conditions"} <= set(arrays):
        return
    credit = np.asarray(arrays["credit"], dtype=float)
    clusters = np.array([str(c) for c in arrays["clusters"]])
    names = list(dict.fromkeys(clusters.tolist()))
    if not 3 <= len(names) <= _MOST_LEFT_OUT:
        return
    for j, condition in enumerate(arrays["conditions"]):
        present = ~np.isnan(credit[:, j])
        if len(set(clusters[present].tolist())) > 1:
            kept = [present & (clusters != name) for name in names]
            values = np.array([credit[rows, j].mean() for rows in kept])
            yield str(condition), float(credit[present, j].mean()), values, names


def _estimators(
    part: pd.DataFrame, kinds: frozenset[str]
) -> list[tuple[str, Callable[[np.ndarray[Any, Any]], float]]]:
    """What can be estimated from a condition's judgments, as functions of the rows kept."""
    if "score" in part and part["score"].notna().any():
        array = part.pivot_table(
            index="item_id", columns="replicate", values="score", aggfunc="first", sort=False
        )
        if array.shape[1] < 2:
            return []
        values = array.to_numpy(dtype=float)
        place = array.index.get_indexer(pd.Index(part["item_id"]))

        def reliability(kept: np.ndarray[Any, Any]) -> float:
            chosen = values[_item_mask(place[kept], len(values))]
            return float(icc(chosen, form="ICC(1,1)", interval="none", n_permutations=0).estimate)

        return [("Reliability of one judgment, ICC(1,1)", reliability)]
    if "grade_score" in kinds and selections.is_rotated(part):
        return [("Grade Score", _grade_score(part))]
    repeated = len(part) > part["item_id"].nunique()
    one_order = not part.duplicated(["item_id", "replicate"]).any()
    if "vote_share" in kinds and repeated and one_order:
        return [("Reliability of one verdict", _vote_share(part))]
    read = part["choice"].astype(str).ne("").to_numpy()
    estimators: list[tuple[str, Callable[[np.ndarray[Any, Any]], float]]] = []
    for what, statistic in (
        ("Same verdict as people", selections.same_as_people),
        ("Same verdict after a swap", selections.same_after_swap),
        ("Commonest verdict of an item, share", _repeated_share),
    ):
        if not math.isnan(statistic(part[read])):
            estimators.append((what, _subset_statistic(statistic, part, read)))
    return estimators


def _grade_score(part: pd.DataFrame) -> Callable[[np.ndarray[Any, Any]], float]:
    """Mean of the items' Grade Scores over the items of the rows kept."""
    rotations = selections.Rotations(part)
    scores = grade_score_items(rotations.positions, n_options=rotations.n_options)
    complete = np.asarray(scores["complete"], dtype=bool)
    values = np.asarray(scores["grade_score"], dtype=float)[complete]
    # An item has a value a replicate.
    owner, items = pd.factorize(rotations.items[complete])
    place = pd.Index(items).get_indexer(pd.Index(part["item_id"]))

    def mean(kept: np.ndarray[Any, Any]) -> float:
        chosen = _item_mask(place[kept], len(items))[owner]
        return float(values[chosen].mean()) if chosen.any() else math.nan

    return mean


def _vote_share(part: pd.DataFrame) -> Callable[[np.ndarray[Any, Any]], float]:
    """Single-verdict reliability (of letters, where they were shown) over the items kept."""
    column = "position" if "position" in part else "choice"
    wide = part.pivot(index="item_id", columns="replicate", values=column).fillna("")
    table = count_table(wide.to_numpy(object), where="left_out_estimates")
    place = wide.index.get_indexer(pd.Index(part["item_id"]))
    statistic = pair_statistic("anova")

    def reliability(kept: np.ndarray[Any, Any]) -> float:
        return float(statistic.value(table.counts[_item_mask(place[kept], len(wide))]))

    return reliability


def _item_mask(places: np.ndarray[Any, Any], n: int) -> np.ndarray[Any, Any]:
    """Which of `n` items some rows belong to, by the items' places (-1: none of them)."""
    shown = np.zeros(n, dtype=bool)
    shown[places[places >= 0]] = True
    return shown


def _subset_statistic(
    statistic: Callable[[pd.DataFrame], float], part: pd.DataFrame, read: np.ndarray[Any, Any]
) -> Callable[[np.ndarray[Any, Any]], float]:
    return lambda kept: statistic(part[read & kept])


def _repeated_share(frame: pd.DataFrame) -> float:
    keys = ["item_id", "order"] if "order" in frame else ["item_id"]
    return (
        selections.commonest_share(frame, keys)
        if len(frame) and frame.groupby(keys).size().max() > 1
        else math.nan
    )


def left_out_variances(analysis: Analysis) -> pd.DataFrame:
    """How far the pooled within-item variance of each condition depends on one question.

    Parameters
    ----------
    analysis : Analysis
        Its arrays hold the variances of cells.

    Returns
    -------
    DataFrame
        As `left_out_estimates`, with the question that adds most; empty with fewer than three.
    """
    arrays = analysis.arrays
    if "cell_variances" not in arrays:
        return pd.DataFrame()
    variances = np.asarray(arrays["cell_variances"], dtype=float)
    names, codes = np.unique([str(c) for c in arrays["clusters"]], return_inverse=True)
    if len(names) < 3:
        return pd.DataFrame()
    rows = []
    for j, condition in enumerate(arrays["conditions"]):
        column = variances[:, j]
        seen = np.isfinite(column)
        if not seen.any():
            continue
        values = np.where(seen, column, 0.0)
        without = seen.sum() - np.bincount(codes, weights=seen, minlength=len(names))
        rest = values.sum() - np.bincount(codes, weights=values, minlength=len(names))
        means = np.full(len(names), math.nan)
        np.divide(rest, without, out=means, where=without > 0)
        low, every = int(np.nanargmin(means)), float(column[seen].mean())
        rows.append(
            {
                "condition": str(condition), "all": every, "low": float(means[low]),
                "high": float(np.nanmax(means)),
                "question": str(names[low]) if means[low] < every else None,
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def left_out_primary(analysis: Analysis, frame: pd.DataFrame) -> pd.DataFrame:
    """The primary blocked F tests of spread, with each question left out in turn.

    Here the p-value is that of the F distribution: what is shown is how much it moves, not a new
    result. The statistic of a cell is the mean distance of its scores from their mean.

    Parameters
    ----------
    analysis : Analysis
    frame : DataFrame

    Returns
    -------
    DataFrame
        ``test``, F of ``all`` questions, ``low``, ``high``, the largest ``p``, the ``question``
        without which F is smallest.
    """
    rows = []
    for stratum in _primary_strata(analysis):
        array = score_array(frame, conditions=stratum.conditions)
        cells = cell_statistics(array.scores).from_mean
        whole = np.isfinite(cells).all(axis=1)
        y, owner = cells[whole], np.array([str(c) for c in array.clusters])[whole]
        questions = list(dict.fromkeys(owner.tolist()))
        if not 4 <= len(questions) <= _MOST_LEFT_OUT:
            continue
        without_each = [_blocked_f(y[owner != q]) for q in questions]
        weakest = int(np.argmin([f for f, _ in without_each]))
        rows.append(
            {
                "test": stratum.name, "all": _blocked_f(y)[0], "low": without_each[weakest][0],
                "high": max(f for f, _ in without_each), "p": max(p for _, p in without_each),
                "question": str(questions[weakest]),
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def _primary_strata(analysis: Analysis) -> tuple[Stratum, ...]:
    """The conditions that each primary test of spread compares, by its name."""
    table = analysis.conditions
    named = {
        r.id.partition(".")[2]: r.about.conditions
        for r in analysis.results
        if r.id.startswith("spread.") and r.about.conditions
    }
    if named:
        return tuple(
            Stratum(name="all conditions" if name == "all" else name, conditions=c, labels=c)
            for name, c in named.items()
        )
    tested = {
        r.id.partition(".")[2] for r in analysis.results if r.id.partition(".")[0] == "spread"
    }
    if "all" in tested:  # an audit compares all conditions at once
        names = tuple(str(c) for c in table["condition"])
        return (Stratum(name="all conditions", conditions=names, labels=names),)
    if not tested or "judge" not in table or "temperature" not in table:
        return ()
    factors = [str(c) for c in table.columns if str(c).startswith("factor_")]
    for vary in ("temperature", "judge", *factors):
        strata = strata_of(table, vary=vary)
        if strata and {s.name for s in strata} <= tested:
            return strata
    return ()


def _blocked_f(y: np.ndarray[Any, Any]) -> tuple[float, float]:
    """F of the conditions after removing the blocks, and its p by the F distribution."""
    n, k = y.shape
    centred = y - y.mean(axis=1, keepdims=True)
    between = n * float(np.sum(centred.mean(axis=0) ** 2)) / (k - 1)
    residual = float(np.sum((centred - centred.mean(axis=0)) ** 2)) / ((n - 1) * (k - 1))
    if residual <= 0:
        return (math.nan, math.nan)
    f = between / residual
    return (f, float(distributions.f.sf(f, k - 1, (n - 1) * (k - 1))))


def score_sensitivity(frame: pd.DataFrame) -> pd.DataFrame:
    """Means and variances with all readable scores, and with completely read items only.

    Parameters
    ----------
    frame : DataFrame
        Parsed judgments, scores in points of one scale.

    Returns
    -------
    DataFrame
        One row per condition: ``items``, ``mean``, ``variance``, and the same of the items of which
        every judgment was read (``..._complete``). Empty where all were read, or none is a score.

    Examples
    --------
    >>> frame = pd.DataFrame({"condition": "a", "item_id": list("xxyy"), "score": [1, 3, 5, None],
    ...                       "status": ["ok", "ok", "ok", "unparseable"]})
    >>> score_sensitivity(frame).T[0].to_dict() == {"condition": "a", "items": 2, "mean": 3.5,
    ...     "variance": 2.0, "items_complete": 1, "mean_complete": 2.0, "variance_complete": 2.0}
    True
    """
    if "score" not in frame or frame["status"].eq("ok").all():
        return pd.DataFrame()
    frame = frame[["condition", "item_id", "score", "status"]]  # texts are slow to copy
    kept = frame[~frame["item_id"].isin(set(frame.loc[frame["status"].ne("ok"), "item_id"]))]
    rows = []
    for condition, part in frame.groupby("condition", sort=False):
        if not part["score"].notna().any():
            continue  # verdicts, not scores
        complete = _scores_of(kept[kept["condition"] == condition])
        own = {f"{name}_complete": value for name, value in complete.items()}
        rows.append({"condition": str(condition), **_scores_of(part), **own})
    return pd.DataFrame(rows)


def _scores_of(frame: pd.DataFrame) -> dict[str, Any]:
    """Number of items with a score, mean of their means, mean of their variances."""
    cells = frame.dropna(subset=["score"]).groupby("item_id")["score"].agg(["mean", "var"])
    if cells.empty:
        return {"items": 0, "mean": math.nan, "variance": math.nan}
    return {
        "items": len(cells),
        "mean": float(cells["mean"].mean()),
        "variance": float(cells["var"].mean()),
    }


def verdict_sensitivity(frame: pd.DataFrame) -> pd.DataFrame:
    """Agreement of an item's verdicts, unparsed ones left out, and as a separate category.

    Parameters
    ----------
    frame : DataFrame
        Parsed judgments.

    Returns
    -------
    DataFrame
        One row per condition: the share of the modal verdict of items judged more than once in an
        order, order consistency, and accuracy. Each has two columns: of parsed verdicts, and
        (``..._unread``) with unparsed ones as a category. Empty if all were parsed.
    """
    if "choice" not in frame or frame["status"].eq("ok").all():
        return pd.DataFrame()
    keys = ["item_id", "order"]
    repeated = frame.groupby(["condition", *keys], sort=False).size().max() > 1
    rows = []
    for condition, part in frame.groupby("condition", sort=False):
        read = part[part["choice"].ne("")]
        own = part.assign(choice=part["choice"].where(part["choice"].ne(""), "(unparsed)"))
        row: dict[str, Any] = {"condition": str(condition), "unread": len(part) - len(read)}
        for name, kept in (("", read), ("_unread", own)):
            row[f"commonest{name}"] = (
                selections.commonest_share(kept, keys) if repeated else math.nan
            )
            row[f"same_after_swap{name}"] = selections.same_after_swap(kept)
            row[f"same_as_people{name}"] = selections.same_as_people(kept)
        rows.append(row)
    return pd.DataFrame(rows)


def agreement_by_category(frame: pd.DataFrame, *, level: float = 0.95) -> pd.DataFrame:
    """Shares of verdicts that equal the human label, by condition and category, with intervals.

    Parameters
    ----------
    frame : DataFrame
        Parsed judgments; without labels or categories nothing is computed.
    level : float

    Returns
    -------
    DataFrame
        ``condition``, ``category``, ``n_items``, ``accuracy`` and its interval's ends.
    """
    if not {"label", "category"} <= set(frame.columns):
        return pd.DataFrame()
    labelled = frame[frame["label"].astype(str).ne("") & frame["choice"].astype(str).ne("")]
    labelled = labelled.assign(
        right=labelled["choice"].astype(str) == labelled["label"].astype(str)
    )
    rows: list[dict[str, Any]] = []
    for (condition, name), group in labelled.groupby(["condition", "category"], sort=True):
        by_item = group.groupby("item_id")["right"].mean()
        if not name or len(by_item) < LEAST_IN_CATEGORY:
            continue
        clusters = group.groupby("item_id")["cluster"].first().loc[by_item.index]
        share = mean_share(by_item.to_numpy(dtype=float), cluster=clusters.to_numpy(), level=level)
        low, high = (
            (share.interval.low, share.interval.high) if share.interval else (math.nan, math.nan)
        )
        rows.append(
            {
                "condition": str(condition), "category": str(name), "n_items": len(by_item),
                "accuracy": share.estimate, "accuracy_low": low, "accuracy_high": high,
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


@dataclass(frozen=True, kw_only=True)
class Rows(Result):
    """A table as a result."""

    table: pd.DataFrame

    def tidy(self) -> pd.DataFrame:
        """The table."""
        return self.table


def supplemented(
    analysis: Analysis,
    frame: pd.DataFrame,
    *,
    level: float,
    scale: tuple[float, float] | None = None,
) -> Analysis:
    """An analysis with the supplements that every run has.

    Parameters
    ----------
    analysis : Analysis
    frame : DataFrame
        The parsed judgments that it is of.
    level : float
        Of intervals.
    scale : (float, float), optional
        Ends of the scale of the scores, where it is known.

    Returns
    -------
    Analysis
    """
    frame = bare(frame)
    analysis = with_lost_shares(analysis, frame, level=level)
    final = frame[frame["stage"].eq("final")] if "stage" in frame else frame
    analysis = frame_errors(analysis, final, run_scales(analysis.conditions, scale), level)
    analysis = clip_to_scale(analysis, scale)
    several = "stage" in frame and not frame["stage"].eq("final").all()
    verdicts = frame[frame["stage"] == "final"] if several else frame
    scored = on_one_scale(verdicts, analysis.conditions, scale)
    of_scores = "score" in frame and bool(verdicts["score"].notna().any())
    tables = {
        "sensitivity.primary": left_out_primary(analysis, frame),
        "sensitivity.estimates": left_out_estimates(analysis, frame),
        "sensitivity.variance": left_out_variances(analysis),
        "categories": agreement_by_category(frame, level=level),
        "repeats": repeat_gains(analysis.conditions, frame),
        "policies.scores": score_sensitivity(scored),
        "policies.verdicts": verdict_sensitivity(verdicts.iloc[:0] if of_scores else verdicts),
        "scale_ends": scale_end_shares(scored, scale),
        "places.selections": selections.position_shares_selections(frame),
    }
    described = tuple(
        NamedResult(
            name,
            _TABLES[name],
            "descriptive",
            Rows(table=_sort_conditions(table, analysis)),
        )
        for name, table in tables.items()
        if len(table)
    )
    by_name = {r.id for r in analysis.results}  # what an audit has claimed
    return replace(
        analysis,
        described=(
            *analysis.described,
            *described,
            *agreement.label_agreement_results(frame, level=level),
            *(r for r in agreement.verdict_results(frame, level=level) if r.id not in by_name),
            *agreement.inter_judge_agreement(frame, level=level),
        ),
    )


def _sort_conditions(table: pd.DataFrame, analysis: Analysis) -> pd.DataFrame:
    """Rows of conditions as the conditions stand: answers may come in any order."""
    if list(table.columns[:1]) != ["condition"]:
        return table
    order = {str(name): at for at, name in enumerate(analysis.conditions["condition"])}
    return table.sort_values(
        "condition", key=lambda names: names.map(order), kind="stable", ignore_index=True
    )


_TABLES = {
    "sensitivity.primary": "F of the primary test, each question left out in turn",
    "sensitivity.estimates": "Estimates, each question left out in turn",
    "sensitivity.variance": "Within-item variance, each question left out in turn",
    "repeats": "What repeats give, and what a judgment takes",
    "policies.scores": "Scores read, and items of which every judgment was read",
    "policies.verdicts": "Verdicts with unparsed ones left out, and as a category",
    "scale_ends": "Share of scores at an end of the scale",
    "places.selections": "How often each place was selected",
    "categories": "Same verdict as the labels, by category",
}
