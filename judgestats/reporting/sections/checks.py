"""Checks and their consequences, null calibration, and how far results hang on single questions."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from judgestats.judgments.shapes import score_array
from judgestats.reporting.formats import integer, number, percent
from judgestats.reporting.runs import Run
from judgestats.reporting.sections.scales import on_one_scale
from judgestats.reporting.show import Markdown
from judgestats.reporting.tables import Column, Table
from judgestats.stats.cells import cell_statistics

_MOST_LEFT_OUT = 500
"""With more questions than this no single one can matter much."""

__all__ = ["checks", "left_out", "left_out_primary", "missing_policies", "warnings"]


def checks(run: Run) -> Table:
    """What was checked, what was found, and what follows from it."""
    rows = tuple(
        {"check": check, "found": found, "consequence": consequence}
        for check, found, consequence in _checks(run)
    )
    return Table(
        columns=(
            Column(key="check", label="Check"),
            Column(key="found", label="Found"),
            Column(key="consequence", label="Consequence"),
        ),
        rows=rows,
        caption="Checks of the data, and what follows from each.",
        label="tbl-checks",
    )


def _checks(run: Run) -> Iterator[tuple[str, str, str]]:
    frame, table = run.judgments, run.conditions
    if not frame.empty:
        unread = 1 - frame["status"].eq("ok").groupby(frame["condition"], sort=False).mean()
        worst = float(unread.max())
        spread = worst - float(unread.min())
        yield (
            "Judgments that could not be read",
            f"at most {percent(worst)} of a condition",
            "none is missing"
            if worst == 0
            else "conditions lose unequally: compare them with care"
            if spread > 0.02
            else "too few to move the results much; both are counted",
        )
        fingerprints = frame.loc[frame["fingerprint"].ne(""), ["judge", "fingerprint"]]
        most = int(fingerprints.groupby("judge")["fingerprint"].nunique().max() or 0) if len(
            fingerprints
        ) else 0  # fmt: skip
        yield (
            "Did a judge's system change while it was asked?",
            "no fingerprint was reported" if most == 0 else f"at most {most} fingerprint(s)",
            "cannot be told" if most == 0 else "no change seen" if most == 1 else
            "part of the spread may come from the change",
        )  # fmt: skip
        if frame["finish_reason"].ne("").any():
            cut = int(frame["finish_reason"].eq("length").sum())
            yield (
                "Replies cut off at the token limit",
                integer(cut),
                "none" if cut == 0 else "raise the limit: a cut reply may have lost its verdict",
            )
        ends = _at_the_ends(run)
        if ends is not None:
            name, share = ends
            yield (
                "Scores at an end of the scale",
                f"{percent(share, digits=0)} in {name}",
                "spread cannot show beyond the scale's end: read mean and spread together"
                if share > 0.3
                else "the ends of the scale do not limit the spread much",
            )
    if "constant_share" in table:
        still = table.loc[table["constant_share"] > 0.95, "condition"].astype(str).tolist()
        yield (
            "Conditions in which repeating changes nothing",
            f"{len(still)} of {len(table)}",
            "their reliability near 1 says that sampling was off, not that the judge is right"
            if still
            else "every condition has some spread",
        )
    if "mean_spread_correlation" in table:
        related = table["mean_spread_correlation"].to_numpy(dtype=float)
        lowest = float(np.nanmin(related)) if np.isfinite(related).any() else math.nan
        yield (
            "Do items with high means scatter less?",
            f"correlation down to {number(lowest, leading_zero=False)}",
            "mean and spread are confounded: a smaller spread may only be a higher mean"
            if lowest < -0.3
            else "no strong relation",
        )
    clusters = int(run.design.get("clusters") or (frame["cluster"].nunique() if len(frame) else 0))
    yield (
        "Questions (the independent units)",
        integer(clusters),
        "few: intervals are wide and may cover less than they say" if clusters < 50 else "enough",
    )
    for code, count, message in _grouped_warnings(run):
        yield (f"Warning: {code.replace('_', ' ')}", f"{count} result(s)", _generally(message))


def _at_the_ends(run: Run) -> tuple[str, float] | None:
    scale, frame = run.scale, on_one_scale(run)
    if scale is None or "score" not in frame:
        return None
    scored = frame[frame["score"].notna()]
    if scored.empty:
        return None
    ends = (scored["score"].le(scale[0]) | scored["score"].ge(scale[1])).groupby(
        scored["condition"], sort=False
    )
    shares = ends.mean()
    return str(shares.idxmax()), float(shares.max())


def _grouped_warnings(run: Run) -> list[tuple[str, int, str]]:
    """Warnings of the results by their code: how many, and the first as an example."""
    found: dict[str, list[str]] = {}
    for _, code, message in run.warnings():
        found.setdefault(code, []).append(message)
    return [(code, len(messages), messages[0]) for code, messages in found.items()]


def _generally(message: str) -> str:
    """A warning without the names before its first colon."""
    return re.sub(r"^.{1,80}?: (?=[A-Z])", "", message)


def warnings(run: Run) -> Table | Markdown:
    """All warnings in full, each once."""
    found: dict[str, list[str]] = {}
    for title, _, message in run.warnings():
        found.setdefault(message, []).append(title)
    if not found:
        return Markdown("No result carries a warning.")
    rows = []
    for message, titles in found.items():
        named = list(dict.fromkeys(titles))
        more = f" and {len(named) - 3} more" if len(named) > 3 else ""
        rows.append({"where": "; ".join(named[:3]) + more, "text": message})
    return Table(
        columns=(Column(key="text", label="Warning"), Column(key="where", label="Results")),
        rows=tuple(rows),
        caption="All warnings of all results.",
        label="tbl-warnings",
    )


def missing_policies(run: Run) -> Table | Markdown:
    """Means and spreads with all readable scores, and with completely read items only."""
    frame = on_one_scale(run)
    if frame.empty:
        return Markdown("")
    if "score" not in frame or not frame["score"].notna().any():
        return _verdict_policies(run)
    if frame["status"].eq("ok").all():
        return Markdown(
            "Every judgment was read, so leaving unread judgments out and leaving their items out "
            "altogether give the same numbers."
        )
    lost = set(frame.loc[frame["status"].ne("ok"), "item_id"])
    kept = frame[~frame["item_id"].isin(lost)]
    rows = []
    for condition, part in frame.groupby("condition", sort=False):
        if not part["score"].notna().any():
            continue  # verdicts, not scores
        complete = kept[kept["condition"] == condition]
        a, b = _mean_and_variance(part), _mean_and_variance(complete)
        rows.append(
            {
                "condition": str(condition), "mean": a[0], "variance": a[1], "items": a[2],
                "mean_c": b[0], "variance_c": b[1], "items_c": b[2],
            }
        )  # fmt: skip
    return Table(
        columns=(
            Column(key="condition", label="Condition"),
            Column(key="items", label="Items", format="integer"),
            Column(key="mean", label="Mean", format="number:2"),
            Column(key="variance", label="Variance", format="number:3"),
            Column(key="items_c", label="Complete items", format="integer"),
            Column(key="mean_c", label="Mean", format="number:2"),
            Column(key="variance_c", label="Variance", format="number:3"),
        ),
        rows=tuple(rows),
        caption=(
            "Two policies for unread judgments: every score that was read, and only items of which "
            "every judgment was read in every condition."
        ),
        label="tbl-missing",
    )


def _verdict_policies(run: Run) -> Table | Markdown:
    """Agreement of an item's verdicts, unread ones left out, and as a category of their own."""
    frame = run.judgments
    if frame["status"].eq("ok").all():
        return Markdown(
            "Every verdict was read, so both policies for unread ones give the same numbers."
        )
    rows = []
    for condition, part in frame.groupby("condition", sort=False):
        keys = ["item_id", "order"]
        read = part[part["choice"].ne("")]
        own = part.assign(choice=part["choice"].where(part["choice"].ne(""), "(not read)"))
        rows.append(
            {
                "condition": str(condition),
                "lost": len(part) - len(read),
                "missing": _modal_share(read, keys),
                "own": _modal_share(own, keys),
            }
        )
    return Table(
        columns=(
            Column(key="condition", label="Condition"),
            Column(key="lost", label="Not read", format="integer"),
            Column(key="missing", label="Left out", format="coefficient:3"),
            Column(key="own", label="As a category", format="coefficient:3"),
        ),
        rows=tuple(rows),
        caption=(
            "Two policies for unread verdicts: share of an item's verdicts that are its commonest "
            "one, with unread verdicts left out, and with them as a category of their own."
        ),
        label="tbl-missing",
    )


def _modal_share(frame: pd.DataFrame, keys: list[str]) -> float:
    counts = frame.groupby([*keys, "choice"]).size()
    grouped = counts.groupby(level=keys)
    return float((grouped.max() / grouped.sum()).mean()) if len(counts) else math.nan


def _mean_and_variance(frame: pd.DataFrame) -> tuple[float, float, int]:
    """Mean of item means, mean of item variances, number of items with a score."""
    cells = frame.dropna(subset=["score"]).groupby("item_id")["score"].agg(["mean", "var"])
    if cells.empty:
        return (math.nan, math.nan, 0)
    return (float(cells["mean"].mean()), float(cells["var"].mean()), len(cells))


def left_out(run: Run) -> Table | Markdown:
    """How far the within-item variance of each condition hangs on one question.

    The pooled variance is computed again with each question left out in turn; the extremes are
    shown. The arrays are those of the analysis, nothing is drawn at random.
    """
    arrays: dict[str, Any] = dict(run.results.get("arrays") or {})
    if "cell_variances" not in arrays:
        return Markdown("")
    variances = np.array(
        [[math.nan if v is None else float(v) for v in row] for row in arrays["cell_variances"]]
    )
    clusters = np.array([str(c) for c in arrays["clusters"]])
    if len(set(clusters.tolist())) < 3:
        return Markdown("With fewer than three questions none can be left out.")
    names, codes = np.unique(clusters, return_inverse=True)
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
        low, high = int(np.nanargmin(means)), int(np.nanargmax(means))
        rows.append(
            {
                "condition": str(condition),
                "all": float(column[seen].mean()),
                "low": float(means[low]),
                "without_low": str(names[low]) if means[low] < column[seen].mean() else None,
                "high": float(means[high]),
            }
        )
    return Table(
        columns=(
            Column(key="condition", label="Condition"),
            Column(key="all", label="All questions", format="number:3"),
            Column(key="low", label="Lowest, one left out", format="number:3"),
            Column(key="high", label="Highest, one left out", format="number:3"),
            Column(key="without_low", label="Question that adds most"),
        ),
        rows=tuple(rows),
        caption="Within-item variance with each question left out in turn.",
        label="tbl-left-out",
    )


def left_out_primary(run: Run) -> Table | Markdown:
    """The blocked F test of spread, judge by judge, with each question left out in turn.

    Here the p-value is that of the F distribution: what is shown is how much it moves, not a new
    result. The statistic of a cell is the mean distance of its scores from their mean.
    """
    frame, table = run.judgments, run.conditions
    if frame.empty or not run.with_prefix("spread") or "judge" not in table:
        return Markdown("")
    rows = []
    for judge, chosen in table.groupby("judge", sort=False):
        names = [str(c) for c in chosen["condition"]]
        if len(names) < 2:
            continue
        array = score_array(frame, conditions=tuple(names))
        cells = cell_statistics(array.scores).from_mean
        whole = np.isfinite(cells).all(axis=1)
        y, owner = cells[whole], np.array([str(c) for c in array.clusters])[whole]
        questions = list(dict.fromkeys(owner.tolist()))
        if not 4 <= len(questions) <= _MOST_LEFT_OUT:
            continue
        every = _blocked_f(y)
        found = [_blocked_f(y[owner != q]) for q in questions]
        weakest = int(np.argmin([f for f, _ in found]))
        rows.append(
            {
                "judge": str(judge),
                "f": every[0],
                "low": found[weakest][0],
                "high": max(f for f, _ in found),
                "p": max(p for _, p in found),
                "question": str(questions[weakest]),
            }
        )
    if not rows:
        return Markdown("")
    return Table(
        columns=(
            Column(key="judge", label="Judge"),
            Column(key="f", label="F, all questions", format="number:2"),
            Column(key="low", label="Lowest F, one left out", format="number:2"),
            Column(key="high", label="Highest F", format="number:2"),
            Column(key="p", label="Largest p", format="p"),
            Column(key="question", label="Question that matters most"),
        ),
        rows=tuple(rows),
        caption=(
            "The primary test with each question left out in turn (p of the F distribution, to "
            "show how much it moves)."
        ),
        label="tbl-left-out-primary",
    )


def _blocked_f(y: np.ndarray[Any, Any]) -> tuple[float, float]:
    """F of the conditions after removing the blocks, and its p by the F distribution."""
    n, k = y.shape
    centred = y - y.mean(axis=1, keepdims=True)
    between = n * float(np.sum(centred.mean(axis=0) ** 2)) / (k - 1)
    residual = float(np.sum((centred - centred.mean(axis=0)) ** 2)) / ((n - 1) * (k - 1))
    if residual <= 0:
        return (math.nan, math.nan)
    f = between / residual
    return (f, float(stats.f.sf(f, k - 1, (n - 1) * (k - 1))))
