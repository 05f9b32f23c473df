"""Drift of a judge between two runs, and its claims."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.audit import plan, verdict_plan
from judgestats.analysis.coefficients import declared_row, results_row
from judgestats.analysis.drift_tests import (
    ASPECTS,
    LEAD,
    SHARE,
    both_runs,
    match_conditions,
    pair_label,
    rerun_of,
    share_rows,
    tests_of_pair,
)
from judgestats.analysis.families import (
    AnalysisPlan,
    claim_headline,
    claim_of,
    described_headline,
    direction_of,
    restrict_pairs,
    with_omega_model,
)
from judgestats.analysis.limits import Limit, common_limits
from judgestats.analysis.records import Analysis, NamedResult
from judgestats.analysis.scores import declared_conditions
from judgestats.analysis.text_checks import apply_copy_policy, find_copies, handled_copies
from judgestats.analysis.verdict_audit import audit_verdicts
from judgestats.analysis.verdict_consistency import outcomes
from judgestats.arrays import Floats, Objects
from judgestats.errors import InputError
from judgestats.results import About, Claim, Drawing, Headline, Row
from judgestats.results.change_screen import PRIMARY, SAME
from judgestats.results.screen import in_these_runs
from judgestats.stats import adjust_family, anchored_change, paired_share_difference
from judgestats.stats.agreement.run_change import Target
from judgestats.stats.inference.distributions import t
from judgestats.stats.inference.multiplicity import Family, weighted_levels
from judgestats.stats.inference.result import (
    Comparison,
    Comparisons,
    Estimate,
    Result,
    TestResult,
    adjusted_interval,
)

_CLAIMS: Mapping[Claim, str] = {
    "differs": "{judge}: {aspect}",
    "equivalent": "no change: {aspect}, within the margin",
    "open": "no change is shown: {aspect}",
    "undefined": "not tested: {aspect}",
}
_FEWER = "no change is shown: {aspect}, of which fewer differ than repetition explains"
"""Text where the interval of a share of changes is below 0, which is not a change."""


def drift_weights(tests: Iterable[str]) -> dict[str, float]:
    """The weight of each test in the family: .8 for the leading ones, .2 for the others.

    Examples
    --------
    >>> drift_weights(["pass_rate.J", "flip_rate.J"])
    {'pass_rate.J': 0.8, 'flip_rate.J': 0.2}
    """
    names = list(tests)
    leads = {name: name.partition(".")[0] in PRIMARY for name in names}
    n_lead = sum(leads.values())
    n_rest = len(names) - n_lead
    rest = round(1 - LEAD, 12) if n_lead else 1.0
    return {n: LEAD / n_lead if leads[n] else rest / n_rest for n in names}


def family_intervals(tests: Sequence[NamedResult], level: float) -> list[NamedResult]:
    """The tests with intervals that agree with the adjusted p.

    Parameters
    ----------
    tests : sequence of NamedResult
    level : float
        Of the family.

    Returns
    -------
    list of NamedResult
    """
    p = {r.id: r.result.p_value for r in tests if isinstance(r.result, TestResult)}
    weights = list(drift_weights(p).values())
    of_tests = weighted_levels(list(p.values()), weights, level=level)
    levels = dict(zip(p, of_tests, strict=True))
    return [replace(r, result=_at_level(r, levels, level)) for r in tests]


def _at_level(named: NamedResult, levels: Mapping[str, float], family_level: float) -> Result:
    """A test, or the ratio that it is of, with its interval at the level of the test."""
    result = named.result
    if isinstance(result, Comparisons):
        level = levels[_test_of(named)]
        bounds = [r.limits(level) if r.limits else None for r in result.rows]
        rows = (
            replace(r, interval=adjusted_interval(own, family_level))
            for r, own in zip(result.rows, bounds, strict=True)
        )
        return replace(result, rows=tuple(rows))
    if isinstance(result, TestResult) and "df" in result.df:
        return _student_interval(result, levels[named.id], family_level)
    return result


def _test_of(ratio: NamedResult) -> str:
    """The id of the test of a ratio of dispersions."""
    return f"spread{ratio.id.removeprefix('gmd')}"


def _student_interval(result: TestResult, level: float, family_level: float) -> TestResult:
    """A test by Student's t with its interval at another level."""
    effect = result.effect
    if effect is None or effect.interval is None:
        return result
    half = float(t.ppf((1 + level) / 2, result.df["df"])) * effect.std_error
    interval = replace(
        effect.interval, low=effect.estimate - half, high=effect.estimate + half, level=level,
        family_level=None if level == family_level else family_level,
    )  # fmt: skip
    ends = (-interval.low, interval.high)
    above = max(ends) if effect.name != "change_of_verdicts" else interval.high
    return result.replace(
        effects=(effect.replace(interval=interval), *result.effects[1:]),
        details={**result.details, "ruled_out_above": above},
    )


def with_reach(tests: Sequence[NamedResult]) -> list[NamedResult]:
    """The tests; those of leading quantities say which change they find with probability .80."""
    weights = drift_weights(r.id for r in tests if isinstance(r.result, TestResult))
    out = []
    for named in tests:
        result = named.result
        effect = result.effect if isinstance(result, TestResult) else None
        leads = named.id.partition(".")[0] in PRIMARY
        if isinstance(result, TestResult) and leads and effect and effect.std_error > 0:
            df, alpha = result.df["df"], 0.05 * weights[named.id]
            quantiles = float(t.ppf(1 - alpha / 2, df)) + float(t.ppf(0.8, df))
            details = {**result.details, "smallest_change": quantiles * effect.std_error}
            result = result.replace(details=details)
        out.append(replace(named, result=result))
    return out


def drift_headlines(
    tests: Sequence[NamedResult], family: Family, *, confirmed: bool = False
) -> tuple[Headline, ...]:
    """One headline a test: something changed, no change is shown, or it could not be tested.

    Parameters
    ----------
    tests : sequence of NamedResult
        ``shift.*``, ``spread.*`` and ``flips.*``, with their ``gmd.*``.
    family : Family
        Of all tests.
    confirmed : bool
        Whether changes are counted beyond an unchanged re-run, and so are the judge's.

    Returns
    -------
    tuple of Headline
        A change that is not significant may still exist. "No change" of a leading quantity needs a
        90% interval within the margin. The details of the test hold the changes that are ruled out.
    """
    headlines: list[Headline] = []
    same: set[str] = set()
    for named in tests:
        kind, _, name = named.id.partition(".")
        if not isinstance(named.result, TestResult):
            continue
        if named.result.reason == SAME:
            if named.about.stratum not in same:  # nothing was tested of this condition
                headlines.append(described_headline(named, claim="open", reason=SAME, says=SAME))
            same.add(named.about.stratum)
            continue
        p, ratio = family.p_adjusted[named.id], f"gmd.{name}"
        ratios = [r.result for r in tests if kind == "spread" and r.id == ratio]
        effect: Estimate | Comparison | None = None if kind == "spread" else named.result.effect
        for result in ratios[:1]:
            effect = result.rows[0] if isinstance(result, Comparisons) else None
        fewer, direction = False, ""
        if effect is not None and kind == "flips":
            ends = effect.interval
            fewer = claim_of(p, math.nan) == "open" and ends is not None and ends.high < 0
        elif effect is not None:
            direction = direction_of(effect.estimate - (kind == "spread"))
        aspect = ASPECTS.get(kind)
        words = named.title.partition(" (")[0].removeprefix("Change of the ")
        changed = "the judge has changed" if confirmed else "verdicts differ"
        if not confirmed and (kind.startswith(SHARE) or kind in {"shift", "spread"}):
            changed = "shares differ" if kind.startswith(SHARE) else "scores differ"
        says = {
            key: (_FEWER if fewer and key == "open" else text).format(
                judge=changed + in_these_runs(named.result),
                aspect=aspect.words if aspect else words,
            )
            for key, text in _CLAIMS.items()
        }
        estimand = aspect.estimand if aspect else "change_of_share"
        headlines.append(
            claim_headline(
                named.id,
                named.about,
                says,
                p=p,
                p_bound=family.p_bound[named.id],
                p_alike=float(named.result.details.get("p_equivalent", math.nan)),
                estimand="" if fewer else estimand,
                direction=direction,
                rests_on=(named.id, *(ratio for _ in ratios)),
                family="drift.family",
                reason=named.result.reason,
            )
        )
    return tuple(headlines)


def _is_scored(before: pd.DataFrame, after: pd.DataFrame) -> bool:
    """Whether both runs hold scores; refused where one of them holds verdicts."""
    kinds = {
        scored
        for frame in (before, after)
        if (scored := bool(frame["score"].notna().any())) or (frame["choice"] != "").any()
    }
    if len(kinds) > 1:
        raise InputError(
            "drift: one run holds scores and the other verdicts, so they cannot be compared. "
            "State one kind for both, e.g. --kind score."
        )
    return True in kinds


def left_out_items(counts: Mapping[str, int]) -> tuple[Limit, ...]:
    """That items of one run have no counterpart in the other.

    Examples
    --------
    >>> left_out_items({"matched": 5, "only_first": 27, "only_second": 0})[0].short
    '27 of 32 items left out'
    """
    lost = counts["only_first"] + counts["only_second"]
    if not lost:
        return ()
    each = [
        f"{counts[key]} of the {counts[key] + counts['matched']} items of the {which} run"
        for key, which in (("only_first", "first"), ("only_second", "second"))
        if counts[key]
    ]
    text = f"Only items of both runs are compared: {' and '.join(each)} occur in that run alone."
    short = f"{lost} of {lost + counts['matched']} items left out"
    return (Limit(text, code="items_left_out", short=short),)


_PARTS = {
    "people": ("Change of human labels, on unchanged answers", "Change of the labels", "Labels"),
    "accuracy": (
        "Change of agreement with human labels, on unchanged answers",
        "agreement with human labels changed by",
        "agreement",
    ),
    "distance": (
        "Change of the distance from people, on unchanged answers",
        "distance from people changed by",
        "distance",
    ),
    "sensitivity": ("Change of TPR, on unchanged answers", "TPR changed by", "TPR"),
    "specificity": ("Change of TNR, on unchanged answers", "TNR changed by", "TNR"),
}
"""Of each part of a change: its title, the question of its row on the screen, its short name."""
_LEAST = 5
"""Items of one label that a change of sensitivity or specificity needs."""
_PASS = {"pass": 1.0, "yes": 1.0, "correct": 1.0, "fail": 0.0, "no": 0.0, "incorrect": 0.0}


def with_labelled(
    analysis: Analysis,
    before: pd.DataFrame,
    after: pd.DataFrame,
    pairs: Mapping[str, str],
    *,
    level: float,
) -> Analysis:
    """The comparison of two runs on the same answers, led by what their labels tell.

    Parameters
    ----------
    analysis : Analysis
    before, after : DataFrame
        The labels of the first run (else of the second) are those that both are held to.
    pairs : mapping of condition to condition
    level : float

    Returns
    -------
    Analysis
        As given if nothing is labelled.
    """
    results: list[NamedResult] = []
    headlines: list[Headline] = []
    names: dict[str, str] = {}
    for first, second in pairs.items():
        parts = _labelled_changes(before, after, first, second, level)
        stratum, name = pair_label(first, second), pair_label(first, second, joint=" ")
        about = About(stratum=stratum, conditions=(first, second), varied="run")
        for key, estimate in parts.items():
            identity, title = f"anchored.{key}.{name}", f"{_PARTS[key][0]} ({stratum})"
            names[stratum] = name
            results.append(NamedResult(identity, title, "primary", estimate, about=about))
            headlines.append(described_headline(results[-1]))
    rows = (
        results_row(key, ask, short, f"{key}_change", f"anchored.{key}.{{}}", names)
        for key, (_, ask, short) in _PARTS.items()
    )
    return replace(
        analysis,
        results=(*results, *analysis.results),
        headlines=(*headlines, *analysis.headlines),
        rows=(*rows, *analysis.rows) if results else analysis.rows,
    )


def _labelled_changes(
    before: pd.DataFrame, after: pd.DataFrame, first: str, second: str, level: float
) -> dict[str, Estimate]:
    """What labels of then and of today say of agreement, human raters, and the judge's errors.

    Sensitivity can change while the mean does not: verdicts are compared within each label of then.
    """
    runs = [f[f["condition"] == c] for f, c in ((before, first), (after, second))]
    items = runs[0].drop_duplicates("item_id").set_index("item_id")

    def item_means(values: pd.Series, run: pd.DataFrame) -> pd.Series:
        return values.groupby(run["item_id"], sort=False).mean().reindex(items.index)

    then, today = _labels(before, first), _labels(after, first)
    then = (today if then.empty else then).reindex(items.index)
    was, now = (item_means(_values(run), run) for run in runs)
    changes: list[tuple[str, pd.Series, pd.Series, int]] = []
    labelled = [f for f in runs if "label" in f and f["label"].astype(str).ne("").any()]
    if labelled:
        label = labelled[0].drop_duplicates("item_id").set_index("item_id")["label"].astype(str)
        scored = bool(runs[0]["score"].notna().any())
        one, two = (item_means(_credit(run, label, scored=scored), run) for run in runs)
        changes.append(("distance" if scored else "accuracy", one, two, _LEAST))
    if was.notna().any() and now.notna().any():
        judged = was.notna()
        changes.append(("people", then[judged], today.reindex(then.index[judged]), 2))
        if set(then[judged].dropna()) <= {0.0, 1.0} and set(was[judged].round(9)) <= {0.0, 1.0}:
            passes, fails = judged & then.eq(1), judged & then.eq(0)
            changes.append(("sensitivity", was[passes], now[passes], _LEAST))
            changes.append(("specificity", 1 - was[fails], 1 - now[fails], _LEAST))
    out = {}
    for key, one, two, least in changes:
        both = one.notna() & two.notna()
        if int(both.sum()) >= least:
            cluster = items["cluster"].loc[both.index[both]].to_numpy(object)
            first_run, second_run = (side[both].to_numpy(float) for side in (one, two))
            out[key] = _change(key, first_run, second_run, cluster, level)
    return out


def _credit(run: pd.DataFrame, label: pd.Series, *, scored: bool) -> pd.Series:
    """Of each judgment its distance from the label of its item, or whether it is the same."""
    human = run["item_id"].astype("str").map(label)
    if scored:
        return (run["score"] - pd.to_numeric(human, errors="coerce")).abs()
    texts = (c.fillna("").astype(str) for c in (run["choice"], human))
    words, wanted = (outcomes(text).str.lower() for text in texts)
    return words.eq(wanted).astype(float).where(human.fillna("").ne("") & words.ne(""))


def _change(key: str, one: Floats, two: Floats, cluster: Objects, level: float) -> Estimate:
    """Paired difference on the same answers: Tango's of shares, where a question has one answer."""
    named = {"name": f"{key}_change", "label": _PARTS[key][0].partition(",")[0]}
    if len(set(cluster)) == cluster.size and set(np.r_[one, two]) <= {0.0, 1.0}:
        return paired_share_difference(two, one, level=level).replace(**named)
    how = {"cluster_before": cluster, "cluster_after": cluster}
    return anchored_change(one, two, two, **how, level=level)["judge"].replace(**named)


def _labels(frame: pd.DataFrame, condition: str) -> pd.Series:
    """Human labels by item: scores, or 1 for a pass."""
    own = frame[frame["condition"] == condition] if condition in set(frame["condition"]) else frame
    if "label" not in own:
        return pd.Series(dtype=float)
    words = own["label"].astype(str).str.strip().str.lower()
    value = pd.to_numeric(words.map(lambda v: _PASS.get(v, v)), errors="coerce")
    return value.groupby(own["item_id"], sort=False).mean().dropna()


def _values(run: pd.DataFrame) -> pd.Series:
    """Scores, or 1 for a pass and 0 for a fail."""
    words = run["choice"].astype(str).str.lower().map(_PASS)
    return (run["score"] if run["score"].notna().any() else words).astype(float)


_QUESTION = "Has the judge changed between the two runs, beyond repeat noise?"
_DRAWN = {"shift": "Shift of the mean score", "flips": "Verdicts changed beyond repetition"}
_FAMILY = "change between the runs, one test for each condition and aspect"
_NO_MARGIN = Limit(
    "No scale is stated, so the margin of the mean is 5% of the range of these scores. State the "
    "scale (--scale 1-10) or the margin (--margin .5).",
    code="margin_of_range",
    short="margin: 5% of the range of these scores (state --scale or --margin)",
)
_NO_BASELINE = Limit(
    "No unchanged re-run of the first run was given (--baseline): a service that varies from day "
    "to day by itself counts as changed.",
    code="no_baseline",
    short="no unchanged re-run: day-to-day changes are not separated (--baseline FILE)",
)


def drift(
    before: pd.DataFrame,
    after: pd.DataFrame,
    *,
    baseline: pd.DataFrame | None = None,
    pairs: Mapping[str, str] | None = None,
    n_resamples: int = 999,
    seed: int = 0,
    level: float = 0.95,
    omega_model: str = "parallel",
    comparisons: int = 1,
    target: Target = "new items",
    margin: float = math.nan,
    duplicates: str = "cluster",
) -> Analysis:
    """Compare two runs of a judge on the items they share.

    Parameters
    ----------
    before, after : DataFrame
        Parsed judgments of the two runs.
    baseline : DataFrame, optional
        The first run done again with nothing changed (an A/A re-run): shifts of the mean and
        changed verdicts are then counted beyond what that re-run changed. A service that varies
        from day to day changes without being changed.
    pairs : mapping, optional
        See `match_conditions`.
    n_resamples : int
        Permutations of each test; more are drawn where the family needs them.
    seed : int
    level : float
    omega_model : {"parallel", "tau-equivalent", "congeneric"}
        Its omega is reported in addition to the parallel one.
    comparisons : int
        Number of comparisons of runs, this one included; p is adjusted for all.
    target : {"new items", "these items"}
        What the estimate, interval, and p of the mean, pass rate or win rate hold for.
    margin : float
        Change of it that counts as none; by default .05 of rates, 5% of the stated scale, else of
        the range of the scores, which a limitation says.
    duplicates : {"cluster", "drop", "keep", "refuse"}
        How items that repeat another item's text, or its replies in both runs, are handled:
        `join_copies`.

    Returns
    -------
    Analysis
        Tests of one family, paired by item: the mean score, pass rate or win rate, the spread of
        repeated scores, the flip rate, and verdicts that differ between the runs more often than
        within them. Next to them the reliability in each run. A headline each.

    Raises
    ------
    InputError
        The runs share no condition, or fewer than three items.

    Notes
    -----
    With labelled items, the changes of agreement with human labels, sensitivity, and specificity on
    the same answers come first. Estimate, interval, and p of a row have one target (`run_change`).
    The test of spread exchanges whole cells. Weighted Holm: the mean, pass rate, or win rate weighs
    .8, all others .2, and intervals have the same levels. "No change" is claimed if the 90%
    interval of the leading quantity is within the margin. Runs without repeats show at most the
    direction of a shift.

    Examples
    --------
    >>> from judgestats.data.readers.frame import parsed_frame
    >>> def run(bump):
    ...     return parsed_frame(pd.DataFrame([
    ...         dict(judge="J", temperature=1.0, item_id=f"i{i}", cluster=f"i{i}", replicate=r,
    ...              score=float(2 + i % 5 + (i + r) % 2 + bump), status="ok")
    ...         for i in range(12) for r in range(4)]))
    >>> found = drift(run(0), run(1), n_resamples=99)
    >>> round(found["shift.J, T=1"].effect.estimate, 6), found.headlines[0].claim
    (1.0, 'differs')
    """
    chosen = match_conditions(before, after, pairs=pairs)
    joined, counts = both_runs(before, after, chosen)
    copies = handled_copies(find_copies(joined), duplicates)
    joined, before, after = (apply_copy_policy(f, copies) for f in (joined, before, after))
    scored = _is_scored(before, after)
    if not scored:
        joined = joined.assign(choice=outcomes(joined["choice"]))
    make = plan if scored else verdict_plan
    declared = make(n_resamples=n_resamples, seed=seed, level=level)
    declared = with_omega_model(declared, omega_model)
    table, described, limits, metrics = _described(joined, declared, scored=scored)
    joint = copies.limits if copies.groups else ()
    limits = (*left_out_items(counts), *joint, *limits)
    if baseline is None:
        limits = (*limits, _NO_BASELINE)
    scale = before.attrs.get("scale") or after.attrs.get("scale")
    if scored and not margin > 0 and not scale:
        limits = (*limits, _NO_MARGIN)
    again = None if baseline is None else rerun_of(baseline, chosen, scored=scored)
    tests: list[NamedResult] = []
    for first, second in chosen.items():
        own = joined[joined["condition"].isin([f"first: {first}", f"second: {second}"])]
        rerun = None if again is None else again[again["condition"] == first]
        tests += tests_of_pair(
            first, second, own, rerun, len(chosen) * comparisons, scored=scored,
            level=level, seed=seed, target=target, margin=margin, scale=scale,
        )  # fmt: skip
    tests = with_reach(family_intervals(tests, 1 - (1 - level) / comparisons))
    primary = {r.id: r.result for r in tests if isinstance(r.result, TestResult)}
    family = adjust_family(primary, family=_FAMILY, weights=drift_weights(primary))
    if comparisons > 1:
        p = {k: float(np.minimum(1.0, v * comparisons)) for k, v in family.p_adjusted.items()}
        name = f"{family.name}, in {comparisons} comparisons of runs"
        family = replace(family, name=name, p_adjusted=p)
    tests = [
        replace(r, result=restrict_pairs(r.result, family.p_adjusted[i], claim=i))
        if isinstance(r.result, Comparisons) and (i := _test_of(r))
        else r
        for r in tests
    ]
    confirmed = baseline is not None
    headlines = drift_headlines(tests, family, confirmed=confirmed)
    changed = {h.rests_on[0] for h in headlines if h.claim == "differs"}
    details = (
        r.result.details for r in tests if isinstance(r.result, TestResult) and r.id in changed
    )
    said = dict.fromkeys(str(d["note_on_runs"]) for d in details if "note_on_runs" in d)
    limits = (*(Limit(text, code="runs", short=text) for text in said), *limits)
    names = {pair_label(*pair): pair_label(*pair, joint=" ") for pair in chosen.items()}
    title, drawn = "Change between the runs, adjusted", "shift" if scored else "flips"
    analysis = Analysis(
        experiment="drift",
        question=_QUESTION,
        headlines=headlines,
        conditions=table,
        results=(*tests, NamedResult("drift.family", title, "primary", family), *described),
        limitations=limits,
        condition_metrics=metrics,
        rows=(*_rows(names), *share_rows(tests, names, family.p_adjusted)),
        drawing=Drawing(
            kind="dots",
            rows=tuple(f"{drawn}.{n}/{ASPECTS[drawn].estimand}" for n in names.values()),
            caption=f"{_DRAWN[drawn]}, from the first run to the second, with intervals.",
        ),
    )  # fmt: skip
    return with_labelled(analysis, before, after, chosen, level=level)


def _rows(names: Mapping[str, str]) -> tuple[Row, ...]:
    """What changed of each condition, with the interval that says what is ruled out."""
    ids = {a.estimand: f"{a.id}.{{}}/{a.estimand}" for a in ASPECTS.values()}
    ids["gmd_ratio"] = "gmd.{}/second run:first run"
    return tuple(declared_row(key, names, ids=own) for key, own in ids.items())


def _described(
    joined: pd.DataFrame, declared: AnalysisPlan, *, scored: bool
) -> tuple[pd.DataFrame, list[NamedResult], tuple[str, ...], dict[str, Any]]:
    """Each run by itself: the table of conditions, reliabilities, limits and metrics."""
    if scored:
        found, array = declared_conditions(joined, declared)
        limits = tuple(common_limits(joined, found.table, array))
        kinds = ("condition.mean.", "condition.sem.")
        shown = [r for r in found.estimates if r.id.startswith(kinds)]
        return found.table, [*found.results, *shown], limits, dict(found.metrics)
    audited = audit_verdicts(joined.drop(columns="label", errors="ignore"), declared)
    described = [replace(r, role="descriptive") for r in audited.with_role("primary")]
    return audited.conditions, described, audited.limitations, dict(audited.condition_metrics)
