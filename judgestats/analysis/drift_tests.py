"""Drift between two runs."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.analysis.coefficients import results_row
from judgestats.analysis.conversion import ratios_with_items
from judgestats.analysis.families import LEVEL, request_order, shared_clusters
from judgestats.analysis.limits import Limit
from judgestats.analysis.measures import given_verdicts, same_over_orders
from judgestats.analysis.records import Analysis, NamedResult
from judgestats.analysis.verdict_consistency import outcomes
from judgestats.arrays import Objects
from judgestats.data.parse import score_array
from judgestats.data.verdict_kinds import PREFERENCES
from judgestats.errors import InputError
from judgestats.results import About, Row
from judgestats.results.change_screen import PRIMARY, SAME
from judgestats.results.numbers import apa_number
from judgestats.results.records import Role
from judgestats.results.screen import describe_changes
from judgestats.stats import gmd_ratio, mean_shift, run_change, run_component
from judgestats.stats.agreement.run_change import RunKind, Target
from judgestats.stats.dispersion.ratios import exchange_test
from judgestats.stats.inference.result import Result, TestResult


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
        for names, labels, which in ((pairs, one, "first"), (pairs.values(), two, "second")):
            for name in (n for n in names if n not in labels):
                raise InputError(
                    f"drift: the {which} run has no condition {name!r}. It has: "
                    f"{'; '.join(labels)}."
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


def pair_label(first: str, second: str, *, joint: str = "\u00a0") -> str:
    """What a condition of the first run with one of the second is called: one name if alike.

    Parameters
    ----------
    first, second : str
    joint : str
        Character on both sides of the arrow. By default lines do not break there; in ids it is a
        space.

    Examples
    --------
    >>> pair_label("a", "a"), pair_label("a", "b", joint=" ")
    ('a', 'a -> b')
    """
    return first if first == second else f"{first}{joint}->{joint}{second}"


def both_runs(
    before: pd.DataFrame, after: pd.DataFrame, chosen: Mapping[str, str]
) -> tuple[pd.DataFrame, dict[str, int]]:
    """Both runs on the items they share, and how many items were matched and left out.

    Parameters
    ----------
    before, after : DataFrame
        Parsed frames.
    chosen : mapping of condition to condition
        See `match_conditions`.

    Returns
    -------
    frame : DataFrame
        Conditions are called ``first: NAME`` and ``second: NAME``.
    counts : dict
        ``matched``, ``only_first`` and ``only_second``.
    """
    one, two = (
        run[own].assign(condition=f"{which}: " + run.loc[own, "condition"].astype("str"))
        for which, run, labels in (("first", before, chosen), ("second", after, chosen.values()))
        for own in [run["condition"].isin(list(labels))]
    )
    names = [set(f["item_id"]) for f in (one, two)]
    shared = names[0] & names[1]
    if len(shared) < 3:
        raise InputError(
            f"drift: the runs share {len(shared)} items; at least 3 are needed. Judge the same "
            "items in both runs (the same items file, limit and seed)."
        )
    joined = pd.concat([one, two], ignore_index=True)
    counts = {
        "matched": len(shared),
        "only_first": len(names[0] - shared),
        "only_second": len(names[1] - shared),
    }
    return joined[joined["item_id"].isin(shared)].reset_index(drop=True), counts


def rerun_of(baseline: pd.DataFrame, chosen: Mapping[str, str], *, scored: bool) -> pd.DataFrame:
    """The unchanged re-run, which holds every condition that is compared."""
    absent = [c for c in chosen if c not in set(baseline["condition"])]
    if absent:
        raise InputError(
            f"drift: the baseline has no condition {absent[0]!r}. It is the first run done again: "
            "give a run of the same conditions."
        )
    return baseline if scored else baseline.assign(choice=outcomes(baseline["choice"]))


def with_parameters(
    analysis: Analysis, first: Mapping[str, Any], second: Mapping[str, Any]
) -> Analysis:
    """A comparison of two runs that names the parameters in which they differ.

    Parameters
    ----------
    analysis : Analysis
    first, second : mapping
        What the runs recorded (`judgestats.results.Results.facts`).

    Returns
    -------
    Analysis
    """
    text, short = describe_changes(first, second)
    if not text:
        return analysis
    limit = Limit(text, code="other_parameters", short=short)
    return replace(analysis, limitations=(limit, *analysis.limitations))


_RUNS = ("first run", "second run")
_ONCE = "neither run repeated its scores, so their SEM is not known"


_FEW_VALUES = 20
"""Scores of more distinct values are compared by mean and spread alone, not as verdicts."""


@dataclass(frozen=True)
class Aspect:
    """What may have changed between two runs: a column compared as numbers or as verdicts."""

    id: str
    words: str
    estimand: str
    title: str
    column: str = ""
    kind: RunKind = "scores"


ASPECTS: Mapping[str, Aspect] = {
    aspect.id: aspect
    for aspect in (
        Aspect("shift", "mean score", "change_of_scores", "Shift of the mean score", "score"),
        Aspect("spread", "mean difference of repeats", "gmd_ratio", "Mean difference of repeats"),
        Aspect("pass_rate", "pass rate", "change_of_pass_rate", "Change of the pass rate", "rate"),
        Aspect("win_rate", "win rate", "change_of_win_rate", "Change of the win rate", "rate"),
        Aspect("order", "order consistency", "change_of_order_consistency",
               "Change of order consistency"),
        Aspect("flip_rate", "flip rate", "change_of_flips", "Change of the flip rate",
               "choice", "flips"),
        Aspect("flips", "verdicts", "change_of_verdicts", "Verdicts changed beyond repetition",
               "choice", "verdicts"),
    )
}  # fmt: skip
"""In the order of the rows of the screen."""
LEAD = 0.8
"""Weight of the leading tests in the family, of which equivalence is asked too."""
_RATES = {"pass": 1.0, "fail": 0.0, "a": 1.0, "b": 0.0, "tie": 0.5}
SHARE = "share_"
"""Begins the ids of tests of the share of one score or category."""
_SCORES = replace(ASPECTS["flips"], title="Scores changed beyond repetition", column="score")


def tests_of_pair(
    first: str,
    second: str,
    own: pd.DataFrame,
    rerun: pd.DataFrame | None,
    n_pairs: int,
    *,
    scored: bool,
    level: float,
    seed: int,
    target: Target,
    margin: float,
    scale: tuple[float, float] | None,
) -> list[NamedResult]:
    """The tests of one condition, and the GMD ratio of its runs."""
    name, shown = pair_label(first, second, joint=" "), pair_label(first, second)
    labels = (f"first: {first}", f"second: {second}")
    words = {str(w).lower() for w in own["choice"]} - {""}
    aspects = [ASPECTS["flips"]]
    if not scored and words <= set(_RATES):
        is_pass = words <= {"pass", "fail"}
        asked = ("pass_rate", "flip_rate") if is_pass else ("win_rate", "flips")
        aspects = [ASPECTS[key] for key in asked]
        own = own.assign(rate=own["choice"].str.lower().map(_RATES))
        if rerun is not None:
            rerun = rerun.assign(rate=rerun["choice"].str.lower().map(_RATES))
    if scored:
        few = own["score"].nunique() <= _FEW_VALUES
        aspects = [ASPECTS["shift"], *([_SCORES] if few else [])]
    same = _are_same(own, rerun, labels, aspects[-1].column)
    if scored or not words <= set(_RATES):
        shares = _shares(own, "score" if scored else "choice")
        own = own.assign(**{a.column: values for a, values in shares})
        if rerun is not None:
            again = dict(_shares(rerun, "score" if scored else "choice", own))
            rerun = rerun.assign(**{a.column: again[a] for a, _ in shares})
        aspects += [aspect for aspect, _ in shares]
    elif words <= set(PREFERENCES) and rerun is None and own["order"].nunique() == 2:
        aspects.append(ASPECTS["order"])
    # Tests that do not lead share .2 of the family: their p must be as small as among 5 times more.
    n_tests = math.ceil(n_pairs * (len(aspects) - 1 + scored) / (1 - LEAD) - 1e-9)
    listed: list[tuple[str, str, Role, Result]] = []
    runs: dict[str, Any] = {}
    for aspect in aspects:
        own_margin = _margin(own, margin, scale, scores=aspect.column == "score")
        change = _change(own, rerun, labels, aspect, level=level, target=target, margin=own_margin)
        runs |= {key: v for key, v in change.details.items() if key == "runs"}
        change = change.replace(details={**change.details, **runs})
        listed.append((aspect.id, aspect.title, "primary", change))
    if scored:
        array = score_array(own, conditions=labels[::-1])
        ratios = gmd_ratio(
            array.scores, conditions=_RUNS[::-1], cluster=array.clusters, reference=_RUNS[0],
            n_comparisons=n_tests, level=level, seed=seed,
        )  # fmt: skip
        ratios = ratios_with_items(ratios, array.items)
        spread = exchange_test(ratios, "runs")
        if spread.reason and array.scores.shape[-1] < 2:
            spread = spread.replace(reason=_ONCE)
        spread = spread.replace(details={**spread.details, **runs})
        listed.append(("spread", ASPECTS["spread"].title, "primary", spread))
        listed.append(("gmd", "GMD ratio", "secondary", ratios))
    if same:
        listed = [(kind, title, role, _not_tested(r)) for kind, title, role, r in listed]
    judges, levels = set(own["judge"]), dict(zip(_RUNS, labels, strict=True))
    judge = str(judges.pop()) if len(judges) == 1 else ""
    about = About(judge=judge, stratum=shown, conditions=labels, varied="run")
    return [
        NamedResult(f"{kind}.{name}", f"{title} ({shown})", role, r, about=about, levels=levels)
        for kind, title, role, r in listed
    ]


def _shares(
    own: pd.DataFrame, column: str, levels_of: pd.DataFrame | None = None
) -> list[tuple[Aspect, pd.Series]]:
    """Whether each judgment is of a level, for every level but those that say nothing more."""
    read = (own if levels_of is None else levels_of)[column]
    levels = sorted(set(read[read.notna() & read.ne("")]))
    if len(levels) > _FEW_VALUES or len(levels) < 2:
        return []
    out = []
    for level in levels if len(levels) > 2 else levels[1:]:
        shown = f"{level:g}" if isinstance(level, float) else str(level)
        name = SHARE + re.sub(r"[.\s:/]+", "_", shown)
        words = f"share of {shown}"
        aspect = Aspect(name, words, "change_of_share", f"Change of the {words}", name)
        out.append((aspect, own[column].eq(level).astype(float)))
    return out


def share_rows(
    tests: Sequence[NamedResult], names: Mapping[str, str], p_adjusted: Mapping[str, float]
) -> tuple[Row, ...]:
    """A row of each share that has changed; the other shares are records alone.

    Parameters
    ----------
    tests : sequence of NamedResult
    names : mapping of str to str
        What each pair of conditions is called, and what its ids call it.
    p_adjusted : mapping of str to float
        Of the tests, by their ids.
    """
    changed = [r for r in tests if p_adjusted.get(r.id, math.nan) <= LEVEL]
    kinds = {r.id.partition(".")[0]: r.title.partition(" (")[0] for r in changed}
    return tuple(
        results_row(
            kind, title, title.removeprefix("Change of the "), "change_of_share",
            f"{kind}.{{}}/change_of_share", names,
        )
        for kind, title in kinds.items() if kind.startswith(SHARE)
    )  # fmt: skip


def _are_same(
    own: pd.DataFrame, rerun: pd.DataFrame | None, labels: tuple[str, str], column: str
) -> bool:
    """Whether both runs said the same of every item, in whatever order, and no re-run differs."""
    units = own.drop_duplicates(["item_id", "order"])
    rows = pd.MultiIndex.from_frame(units[["item_id", "order"]])
    runs = [own[own["condition"] == label] for label in labels]
    tables = [_table(run, rows, column) for run in (*runs, *([] if rerun is None else [rerun]))]
    said = [[sorted(map(str, row)) for row in table] for table in tables]
    read = any(value is not None for row in tables[0] for value in row)
    return read and all(one == said[0] for one in said[1:])


def _not_tested(result: Result) -> Result:
    """A test without p and effects; other results are unchanged."""
    if isinstance(result, TestResult):
        return replace(result, statistic=math.nan, p_value=math.nan, effects=(), reason=SAME)
    return result


def _change(
    own: pd.DataFrame,
    rerun: pd.DataFrame | None,
    labels: tuple[str, str],
    aspect: Aspect,
    *,
    level: float,
    target: Target,
    margin: float,
) -> TestResult:
    """`run_change` of one aspect; only the leading ones have a margin and a choice of target."""
    units = own.drop_duplicates(["item_id", "order"] if aspect.column else "item_id")
    rows = pd.MultiIndex.from_frame(units[["item_id", "order"]])
    cluster = units["cluster"].to_numpy(object)
    runs = [own[own["condition"] == label] for label in labels]
    one, two = (
        _table(run, rows, aspect.column) if aspect.column else _consistency(run, units["item_id"])
        for run in runs
    )
    leads = aspect.id in PRIMARY
    units_of = shared_clusters(cluster)
    change = run_change(
        one, two, kind=aspect.kind, cluster=units_of,
        baseline=None if rerun is None else (one, _table(rerun, rows, aspect.column)),
        target=target if leads and rerun is None else "new items",
        margin=margin if leads else math.nan,
        level=level,
    )  # fmt: skip
    named = (
        e if e.name == aspect.estimand else e.replace(name=aspect.estimand, label=aspect.title)
        for e in change.effects
    )  # fmt: skip
    details = dict(change.details)
    if leads and rerun is None and request_order(own) == "":
        details |= _scope(one, two, units_of, rate=aspect.column == "rate", level=level)
    return change.replace(effects=tuple(named), details=details)


def _scope(
    one: Objects, two: Objects, cluster: NDArray[Any] | None, *, rate: bool, level: float
) -> dict[str, Any]:
    """``runs`` and a note, where a change is shown for these runs only: repeats share a shift.

    The sides count as judges with runs; the variance between runs is in the error.
    """
    scores = np.full((len(one), 2, max(one.shape[1], two.shape[1])), np.nan)
    for side, values in enumerate((one, two)):
        scores[:, side, : values.shape[1]] = values.astype(float)
    runs = run_component(scores, cluster=cluster)
    if min(runs.runs) < 2 or not runs.nu:
        return {}
    [shift] = mean_shift(scores, runs=runs, cluster=cluster, level=level).rows
    if not runs.target and not shift.p_value > LEVEL:  # NaN: every item changed by the same
        return {}
    note, ends = runs.note, shift.interval
    if ends is not None and not runs.target:
        numbers = (runs.sd, shift.estimate, ends.low, ends.high)
        sd, change, low, high = (apa_number(number, bounded=rate) for number in numbers)
        note = f"With the variance between runs (SD {sd}) the change is {change} [{low}, {high}]."
    return {"runs": "these runs", "note_on_runs": note}


def _consistency(run: pd.DataFrame, items: pd.Series) -> Objects:
    """Order consistency of each item in one run, one column; None where an order is missing."""
    read = run[run["choice"].ne("")]
    same = same_over_orders(given_verdicts(read)).reindex(items).astype(object)
    return same.where(same.notna(), None).to_numpy(object)[:, None]


def _margin(
    own: pd.DataFrame, margin: float, scale: tuple[float, float] | None, *, scores: bool
) -> float:
    """Change that counts as none: as stated, else .05 of rates and 5% of the scale of scores."""
    if margin > 0 or not scores:
        return margin if margin > 0 else 0.05
    low, high = scale or (own["score"].min(), own["score"].max())
    return 0.05 * float(high - low)


def _table(run: pd.DataFrame, rows: pd.MultiIndex, column: str) -> Objects:
    """What one run said, (item, order) x replications; None if nothing was read."""
    read = run[run["status"] == "ok"]
    place = read.groupby(["item_id", "order"], sort=False).cumcount()
    table = read.assign(place=place).pivot(
        index=["item_id", "order"], columns="place", values=column
    )
    table = table.reindex(index=rows, columns=range(max(1, table.shape[1]))).astype(object)
    return table.where(table.notna(), None).to_numpy(object)
