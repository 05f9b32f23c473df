"""Results and limitations of every analysis: lost judgments, missing repeats, and labels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis import agreement, selections
from judgestats.analysis.agreement import ratings_of
from judgestats.analysis.coefficients import metric_values
from judgestats.analysis.limits import Limit
from judgestats.analysis.records import Analysis, NamedResult
from judgestats.analysis.repeats import frame_errors, repeat_gains
from judgestats.analysis.scores import clip_to_scale, on_one_scale, run_scales, scale_end_shares
from judgestats.data.codes import first_rows
from judgestats.data.parse import final_rows, kept_rows, lost_shares, score_counts
from judgestats.data.readers.frame import bare
from judgestats.files.text import format_number
from judgestats.protocols.base import NO_REPLY, Status
from judgestats.results import About
from judgestats.results.numbers import UNREPEATED_CODE
from judgestats.stats.agreement.raw_agreement import mean_share
from judgestats.stats.inference.result import Estimate, Result

_TITLES = {"unread": "Unparsed rate", "unanswered": "Share of judgments without a reply"}


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
    replies = kept_rows(asked, ~asked["status"].isin(_GONE))
    return _share(replies, ~replies["status"].isin(_READ), "unread_share", level)


def unanswered_share(asked: pd.DataFrame, *, level: float = 0.95) -> Estimate:
    """The share of judgments that were not answered or never asked, as `unparsed_share`."""
    return _share(asked, asked["status"].isin(_GONE), "unanswered_share", level)


_GONE = [status.value for status in NO_REPLY]
_READ = [Status.OK.value, Status.NOT_APPLICABLE.value]


def _share(rows: pd.DataFrame, lost: pd.Series, name: str, level: float) -> Estimate:
    codes = pd.factorize(rows["item_id"])[0]
    shares = np.bincount(codes, weights=lost) / np.bincount(codes)
    own, label = (
        rows["cluster"].iloc[first_rows(rows["item_id"])],
        _TITLES[name.removesuffix("_share")],
    )
    return mean_share(shares, cluster=own, level=level, name=name, label=label)


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
        NamedResult(f"{kind}.{name}", _TITLES[kind], "descriptive", share, about=about)
        for name, both in shares.items()
        for about in [About(conditions=(name,))]
        for kind, share in both.items()
        if kind == "unread" or gone
    ]
    metrics = {
        name: {**(_metrics(shares[name]) if name in shares else {}), **own}
        for name, own in analysis.condition_metrics.items()
    }
    of_run = {**_metrics(_both(frame, level)), **analysis.metrics}
    shown = (*analysis.described, *described)
    return replace(analysis, condition_metrics=metrics, metrics=of_run, described=shown)


def _both(asked: pd.DataFrame, level: float) -> dict[str, Estimate]:
    """Both shares; that of the unparsed is undefined where there is no reply."""
    gone = asked["status"].isin(_GONE)
    shares = {} if gone.all() else {"unread": unparsed_share(asked, level=level)}
    return {**shares, "unanswered": unanswered_share(asked, level=level)}


def _metrics(shares: Mapping[str, Estimate]) -> dict[str, float]:
    out = {f"quality/{name}_share": math.nan for name in _TITLES}
    for name, share in shares.items():
        out |= metric_values(f"quality/{name}_share", share)
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


UNREPEATED = Limit(
    "No item was judged more than once by the same judge in the same way, so consistency cannot "
    "be estimated. Repeat 100 items.",
    code=UNREPEATED_CODE,
    short="no repeats: consistency cannot be estimated",
)


OF_REPEATS = (
    "within_variance", "sem", "smallest_detectable_change", "constant_share", "icc1", "alpha",
    "omega", "mean_spread_correlation", "sd_between", "n_replications",
)  # fmt: skip


def repeat_limits(frame: pd.DataFrame) -> list[str]:
    """Conditions without repeats, or in which few items were repeated."""
    limits = []
    never: list[str] = []
    counted = score_counts(frame)
    for name, counts in counted.items():
        repeated, items = int((counts > 1).sum()), len(counts)
        if items and not repeated:
            never.append(name)
        elif 2 * repeated < items:
            limits.append(
                f"{name}: only {repeated} of {items} items were judged more than once. Estimates "
                "of consistency rest on these, which may differ from the others."
            )
    return [*not_repeated(never, of=len(counted)), *limits]


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
    have = "1 condition has" if len(never) == 1 else f"{len(never)} conditions have"
    short = f"{have} no repeats: consistency cannot be estimated there"
    some = Limit(f"{', '.join(never)}: {UNREPEATED}", code=UNREPEATED.code, short=short)
    return [UNREPEATED if len(never) == of else some] if never else []


def constant_limits(table: pd.DataFrame) -> list[str]:
    """Conditions with one and the same score throughout."""
    still = table.loc[(table["sd"] == 0) & (table["n_ok"] > 1), "condition"].astype(str).tolist()
    text = (
        f"{', '.join(still)}: every score is the same. Such scores do not distinguish items, "
        "and no agreement with them can be computed."
    )
    return [text] if still else []


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
    codes, items = pd.factorize(frame["item_id"])
    complete = np.bincount(codes, weights=frame["status"].ne("ok"), minlength=len(items)) == 0
    scores = frame["score"].to_numpy(float)
    read = ~np.isnan(scores)
    rows = []
    for condition in frame.loc[read, "condition"].unique():  # the others hold verdicts
        own = read & frame["condition"].eq(condition).to_numpy()
        of, values = codes[own], scores[own]
        n = np.bincount(of, minlength=len(items))
        mean = np.bincount(of, values, minlength=len(items)) / np.maximum(n, 1)
        squares = np.bincount(of, (values - mean[of]) ** 2, minlength=len(items))
        variance = np.where(n > 1, squares / np.maximum(n - 1, 1), math.nan)
        row: dict[str, Any] = {"condition": str(condition)}
        for suffix, kept in (("", n > 0), ("_complete", (n > 0) & complete)):
            of_items = pd.DataFrame({"mean": mean[kept], "variance": variance[kept]}).mean()
            row |= {f"items{suffix}": int(kept.sum()), **of_items.add_suffix(suffix)}
        rows.append(row)
    return pd.DataFrame(rows)


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
    frame = frame[[c for c in ("condition", *keys, "choice", "label") if c in frame]]
    repeated = frame.groupby(["condition", *keys], sort=False).size().max() > 1
    rows = []
    for condition, part in frame.groupby("condition", sort=False):
        read = part[part["choice"].ne("")]
        own = part.assign(choice=part["choice"].astype(str).replace("", "(unparsed)"))
        row: dict[str, Any] = {"condition": str(condition), "unread": len(part) - len(read)}
        for name, kept in (("", read), ("_unread", own)):
            common = selections.commonest_share(kept, keys) if repeated else math.nan
            row[f"commonest{name}"] = common
            row[f"same_after_swap{name}"] = selections.same_after_swap(kept)
            row[f"same_as_people{name}"] = selections.same_as_people(kept)
        rows.append(row)
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
    final = final_rows(frame)
    analysis = frame_errors(analysis, final, run_scales(analysis.conditions, scale), level)
    analysis = clip_to_scale(analysis, scale)
    scored = on_one_scale(final, analysis.conditions, scale)
    of_scores = "score" in frame and bool(final["score"].notna().any())
    tables = {
        "repeats": repeat_gains(analysis.conditions, frame),
        "policies.scores": score_sensitivity(scored),
        "policies.verdicts": verdict_sensitivity(final.iloc[:0] if of_scores else final),
        "scale_ends": scale_end_shares(scored, scale),
        "places.selections": selections.position_shares_selections(frame),
    }
    described = (
        NamedResult(k, _TABLES[k], "descriptive", Rows(table=_sort_conditions(table, analysis)))
        for k, table in tables.items()
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
    "repeats": "What repeats give, and what a judgment takes",
    "policies.scores": "Scores read, and items of which every judgment was read",
    "policies.verdicts": "Verdicts with unparsed ones left out, and as a category",
    "scale_ends": "Share of scores at an end of the scale",
    "places.selections": "How often each place was selected",
}
