"""The same judge and items at two dates or versions: what has changed, paired by item."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.analysis.limits import common_limits
from judgestats.analysis.outcome import Analysis, NamedResult
from judgestats.analysis.scores import score_conditions
from judgestats.analysis.selections import add_estimate
from judgestats.analysis.told import told_coefficient, told_percent
from judgestats.analysis.verdict_words import outcomes
from judgestats.analysis.verdicts import audit_verdicts, verdict_plan
from judgestats.errors import InputError
from judgestats.judgments.shapes import score_array
from judgestats.results.records import Role
from judgestats.stats.agreement.raw_agreement import flip_rate
from judgestats.stats.inference.result import Comparisons, Estimate, Result, format_p
from judgestats.stats.spread.spread_between_conditions import spread_test

__all__ = ["drift", "match_conditions"]

_QUESTION = "Has the judge changed between the two runs?"


def match_conditions(
    before: pd.DataFrame, after: pd.DataFrame, *, pairs: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Which condition of the first run is compared with which of the second.

    Parameters
    ----------
    before, after : DataFrame
        Parsed frames.
    pairs : mapping, optional
        Named by the user. By default conditions of the same label; where there is none, the only
        condition of each run.

    Returns
    -------
    dict
        Condition of the first run to condition of the second.

    Raises
    ------
    InputError
        Nothing matches, or a named condition is not there.

    Examples
    --------
    >>> a = pd.DataFrame({"condition": ["x, T=0", "x, T=1"]})
    >>> match_conditions(a, a)
    {'x, T=0': 'x, T=0', 'x, T=1': 'x, T=1'}
    """
    one, two = (list(dict.fromkeys(f["condition"])) for f in (before, after))
    if pairs:
        for name, known, which in (
            *((a, one, "first") for a in pairs),
            *((b, two, "second") for b in pairs.values()),
        ):
            if name not in known:
                raise InputError(
                    f"drift: the {which} run has no condition {name!r}. It has: {'; '.join(known)}."
                )
        return dict(pairs)
    same = {c: c for c in one if c in set(two)}
    if same:
        return same
    if len(one) == len(two) == 1:
        return {one[0]: two[0]}
    raise InputError(
        f"drift: the runs share no condition (first: {'; '.join(one)}; second: {'; '.join(two)}). "
        "Say which belong together with --pair 'FIRST -> SECOND'."
    )


def drift(
    before: pd.DataFrame,
    after: pd.DataFrame,
    *,
    pairs: Mapping[str, str] | None = None,
    n_resamples: int = 999,
    seed: int = 0,
    level: float = 0.95,
) -> Analysis:
    """Compare two runs of a judge on the items they share.

    Parameters
    ----------
    before, after : DataFrame
        Parsed judgments of the two runs.
    pairs : mapping, optional
        See `match_conditions`.
    n_resamples, seed : int
    level : float

    Returns
    -------
    Analysis
        For scores: shift of the mean, ratio of within-item variances, reliability in each run, and
        how many items change their most frequent score. For verdicts: reliability in each run and
        how many items change their most frequent verdict. All paired by item, with intervals.

    Raises
    ------
    InputError
        The runs share no condition, or fewer than three items.

    Examples
    --------
    >>> from judgestats.judgments.readers.frame import parsed_frame
    >>> def run(bump):
    ...     return parsed_frame(pd.DataFrame([
    ...         dict(judge="J", temperature=1.0, item_id=f"i{i}", cluster=f"i{i}", replicate=r,
    ...              score=float(2 + i % 5 + (i + r) % 2 + bump), status="ok")
    ...         for i in range(12) for r in range(4)]))
    >>> found = drift(run(0), run(1), n_resamples=99)
    >>> [round(row.estimate, 6) for row in found["shift.J, T=1"].rows]
    [1.0]
    """
    chosen = match_conditions(before, after, pairs=pairs)
    joined = _joined(before, after, chosen)
    results: list[NamedResult] = []
    scored = joined["score"].notna().any()
    if scored:
        array = score_array(joined)
        described = score_conditions(
            joined, array, level=level, n_permutations=n_resamples, seed=seed
        )
        table, metrics = described.table, dict(described.metrics)
        limits = tuple(common_limits(joined, table, array))
        results += described.results
    else:
        plan = verdict_plan(n_resamples=n_resamples, seed=seed, level=level)
        audited = audit_verdicts(joined.drop(columns="label", errors="ignore"), plan)
        table, metrics = audited.conditions, dict(audited.condition_metrics)
        limits = audited.limitations
        results += audited.results
    found: list[NamedResult] = []
    for first, second in chosen.items():
        pair = joined[joined["condition"].isin([f"first: {first}", f"second: {second}"])]
        found += _pair(first, second, pair, n_resamples, seed, level, scored=bool(scored))
    return Analysis(
        experiment="drift",
        question=_QUESTION,
        sentence=_sentence(found, _reliabilities(table, chosen)),
        conditions=table,
        results=(*found, *results),
        limitations=limits,
        condition_metrics=metrics,
    )


def _joined(before: pd.DataFrame, after: pd.DataFrame, chosen: Mapping[str, str]) -> pd.DataFrame:
    one = before[before["condition"].isin(chosen)]
    two = after[after["condition"].isin(chosen.values())]
    one = one.assign(condition="first: " + one["condition"])
    two = two.assign(condition="second: " + two["condition"])
    shared = set(one["item_id"]) & set(two["item_id"])
    if len(shared) < 3:
        raise InputError(
            f"drift: the runs share {len(shared)} items; at least 3 are needed. Judge the same "
            "items in both runs (the same items file, limit and seed)."
        )
    joined = pd.concat([one, two], ignore_index=True)
    return joined[joined["item_id"].isin(shared)].reset_index(drop=True)


def _pair(
    first: str,
    second: str,
    pair: pd.DataFrame,
    n_resamples: int,
    seed: int,
    level: float,
    *,
    scored: bool,
) -> list[NamedResult]:
    name = _name(first, second)
    listed: list[tuple[str, str, Role, Result]] = []
    names = (f"second: {second}", f"first: {first}")
    if scored:
        array = score_array(pair, conditions=names)
        spread = spread_test(
            array.scores,
            conditions=("second", "first"),
            cluster=array.clusters,
            reference="first",
            level=level,
            n_permutations=n_resamples,
            n_resamples=n_resamples,
            seed=seed,
        )
        if spread.shifts is not None:
            listed.append(("shift", "Shift of the mean score", "primary", spread.shifts))
        listed += [
            ("ratio", "Ratio of within-item variances", "primary", spread.ratios),
            ("spread", "Spread, paired by item", "secondary", spread.blocked_f),
        ]
    listed.append(("flips", "Items whose usual verdict changed", "primary", _flips(pair, names)))
    return [
        NamedResult(
            id=f"{kind}.{name}", title=f"{title} ({name})", role=role, result=result, headline=True
        )
        for kind, title, role, result in listed
    ]


def _flips(pair: pd.DataFrame, names: tuple[str, str]) -> Estimate:
    """Share of items whose most frequent verdict (smallest on a tie) differs between the runs."""
    read = pair[pair["status"] == "ok"]
    values = (
        read["score"].map(lambda v: f"{v:g}")
        if read["score"].notna().any()
        else outcomes(read["choice"])
    )
    usual = (
        read.assign(said=values)
        .groupby(["item_id", "condition"])["said"]
        .agg(lambda said: sorted(said.mode())[0])
        .unstack("condition")
        .reindex(columns=list(names))
    )
    known = pair.drop_duplicates("item_id").set_index("item_id")["cluster"].loc[usual.index]
    cluster: NDArray[np.object_] | None = None
    if known.nunique() < len(usual):
        cluster = known.to_numpy(object)
    found = flip_rate(usual.fillna("").to_numpy(object), cluster=cluster)
    return found.replace(
        label="Share of items whose most frequent verdict changed between the runs",
        sample=dataclasses.replace(found.sample, n_replications=None),  # the two are the runs
    )


def _name(first: str, second: str) -> str:
    return first if first == second else f"{first} -> {second}"


def _reliabilities(table: pd.DataFrame, chosen: Mapping[str, str]) -> dict[str, str]:
    """The reliability of one score in the first and in the second run, by pair of conditions."""
    if "icc1" not in table:
        return {}
    told = {row["condition"]: told_coefficient(row, "icc1") for row in table.to_dict("records")}
    return {
        _name(first, second): (
            f"reliability of one score {told[f'first: {first}']}, then {told[f'second: {second}']}"
        )
        for first, second in chosen.items()
    }


def _sentence(found: list[NamedResult], reliabilities: Mapping[str, str]) -> str:
    parts = []
    for named in found:
        kind, name = named.id.split(".", 1)
        result = named.result
        if kind in {"shift", "ratio"} and isinstance(result, Comparisons):
            row = result.rows[0]
            what = "mean moved by" if kind == "shift" else "variance multiplied by"
            if math.isnan(row.estimate):
                parts.append(f"{name}: {what} an undefined amount ({row.reason})")
                continue
            parts.append(f"{name}: {what} {row.told()}, p {format_p(row.p_value)}")
        elif kind == "flips" and isinstance(result, Estimate):
            share: dict[str, float] = {}
            add_estimate(share, "changed", result)
            if name in reliabilities:
                parts.append(f"{name}: {reliabilities[name]}")
            parts.append(f"{name}: {told_percent(share, 'changed')} of items changed their verdict")
    told = "; ".join(parts)
    return (
        f"Second run against first, paired by item: {told}. An interval that holds no change "
        "does not show that there is none."
    )
