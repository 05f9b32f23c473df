"""Drift of a judge between two runs, and its claims."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.analysis.audit import verdict_plan
from judgestats.analysis.coefficients import declared_row, results_row
from judgestats.analysis.drift_tests import (
    LEAD,
    SHARE,
    both_runs,
    match_conditions,
    pair_label,
    rerun_of,
    share_rows,
    tests_of_pair,
)
from judgestats.analysis.families import claim_headline, claim_of, restrict_pairs
from judgestats.analysis.limits import Limit, common_limits
from judgestats.analysis.records import Analysis, NamedResult
from judgestats.analysis.scores import score_conditions
from judgestats.analysis.text_checks import apply_copy_policy, find_copies, handled_copies
from judgestats.analysis.verdict_audit import audit_verdicts
from judgestats.analysis.verdict_consistency import outcomes
from judgestats.data.parse import score_array
from judgestats.errors import InputError
from judgestats.results import About, Claim, Drawing, Headline, Row
from judgestats.results.change_screen import PRIMARY, SAME
from judgestats.stats import adjust_family
from judgestats.stats.agreement.run_change import Target
from judgestats.stats.inference.distributions import t
from judgestats.stats.inference.multiplicity import Family, weighted_levels
from judgestats.stats.inference.result import (
    Comparison,
    Comparisons,
    Estimate,
    Result,
    TestResult,
)
from judgestats.stats.validity.corrected import paired_share_difference
from judgestats.stats.validity.sequential import anchored_change

_ESTIMANDS = {
    "shift": "change_of_scores",
    "pass_rate": "change_of_pass_rate",
    "win_rate": "change_of_win_rate",
    "flip_rate": "change_of_flips",
    "flips": "change_of_verdicts",
    "order": "change_of_order_consistency",
    "spread": "gmd_ratio",
}
_ASPECTS = {
    "shift": "mean score", "pass_rate": "pass rate", "win_rate": "win rate",
    "flip_rate": "flip rate", "spread": "spread of repeated scores", "flips": "verdicts",
    "order": "order consistency",
}  # fmt: skip
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
    primary = [r for r in tests if isinstance(r.result, TestResult)]
    weights = drift_weights(r.id for r in primary)
    p = [r.result.p_value for r in primary if isinstance(r.result, TestResult)]
    levels = dict(
        zip(weights, weighted_levels(p, list(weights.values()), level=level), strict=True)
    )
    return [replace(r, result=_at_level(r, levels)) for r in tests]


def _at_level(named: NamedResult, levels: Mapping[str, float]) -> Result:
    """A test, or the ratio that it is of, with its interval at the level of the test."""
    result = named.result
    if isinstance(result, Comparisons):
        level = levels[_test_of(named)]
        rows = (replace(r, interval=r.limits(level) if r.limits else None) for r in result.rows)
        return replace(result, rows=tuple(rows))
    if isinstance(result, TestResult) and "df" in result.df:
        return _student_interval(result, levels[named.id])
    return result


def _test_of(ratio: NamedResult) -> str:
    """The id of the test of a ratio of dispersions."""
    return f"spread{ratio.id.removeprefix('gmd')}"


def _student_interval(result: TestResult, level: float) -> TestResult:
    """A test by Student's t with its interval at another level."""
    effect = result.effect
    if effect is None or effect.interval is None:
        return result
    half = float(t.ppf((1 + level) / 2, result.df["df"])) * effect.std_error
    interval = replace(
        effect.interval, low=effect.estimate - half, high=effect.estimate + half, level=level
    )
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
            out.append(replace(named, result=result.replace(details=details)))
        else:
            out.append(named)
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
        p = family.p_adjusted[named.id]
        claim: Claim = claim_of(p, math.nan)
        effect = _effect(named, tests)
        if named.result.reason == SAME:
            if named.about.stratum not in same:
                headlines.append(_same(named))
            same.add(named.about.stratum)
            continue
        fewer = claim == "open" and _fewer(kind, effect)
        p_alike = float(named.result.details.get("p_equivalent", math.nan))
        says = {
            key: (_FEWER if fewer and key == "open" else text).format(
                judge=_changed_what(kind, confirmed=confirmed), aspect=_aspect_of(named)
            )
            for key, text in _CLAIMS.items()
        }
        ratios = [r.id for r in tests if kind == "spread" and r.id == f"gmd.{name}"]
        headlines.append(
            claim_headline(
                named.id,
                named.about,
                says,
                p=p,
                p_alike=p_alike,
                p_bound=family.p_bound[named.id],
                estimand="" if fewer else _ESTIMANDS.get(kind, "change_of_share"),
                direction=_direction(kind, effect),
                rests_on=(named.id, *ratios),
                family="drift.family",
                reason=named.result.reason,
            )
        )
    return tuple(headlines)


def _aspect_of(named: NamedResult) -> str:
    """What a test is about: a quantity, or the share of one score or category."""
    kind = named.id.partition(".")[0]
    whole = named.title.partition(" (")[0]
    return _ASPECTS.get(kind) or whole.removeprefix("Change of the ")


def _changed_what(kind: str, *, confirmed: bool) -> str:
    """What has changed: the judge only where changes are counted beyond an unchanged re-run."""
    if confirmed:
        return "the judge has changed"
    if kind.startswith(SHARE):
        return "shares differ"
    return "scores differ" if kind in {"shift", "spread"} else "verdicts differ"


def _same(named: NamedResult) -> Headline:
    """That nothing was tested of a condition, since both runs said the same."""
    return Headline(
        id=f"headline.{named.id}",
        hypothesis=named.id.partition(".")[0],
        claim="open",
        about=named.about,
        rests_on=(named.id,),
        reason=SAME,
        says=SAME,
    )


def _fewer(kind: str, effect: Estimate | Comparison | None) -> bool:
    """Whether verdicts differ less between the runs than within them, as repetition cannot."""
    interval = effect.interval if kind == "flips" and effect is not None else None
    return interval is not None and interval.high < 0


def _effect(named: NamedResult, tests: Sequence[NamedResult]) -> Estimate | Comparison | None:
    """The size of the change that a test is about: its own effect, or the ratio of distances."""
    kind, _, name = named.id.partition(".")
    if kind != "spread":
        return named.result.effect if isinstance(named.result, TestResult) else None
    ratio = next((r.result for r in tests if r.id == f"gmd.{name}"), None)
    return ratio.rows[0] if isinstance(ratio, Comparisons) else None


def _direction(kind: str, effect: Estimate | Comparison | None) -> Literal["", "higher", "lower"]:
    """Of the second run against the first; verdicts have no order."""
    nothing = 1.0 if kind == "spread" else 0.0
    if effect is None or kind == "flips":
        return ""
    if effect.estimate > nothing:
        return "higher"
    return "lower" if effect.estimate < nothing else ""


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


# fmt: off
_PARTS = {
    "people": (
        "Change of human labels, on unchanged answers", "Change of the labels", "Labels"
    ),
    "accuracy": (
        "Change of agreement with human labels, on unchanged answers",
        "agreement with human labels changed by", "agreement",
    ),
    "distance": (
        "Change of the distance from people, on unchanged answers",
        "distance from people changed by", "distance",
    ),
    "sensitivity": (
        "Change of TPR, on unchanged answers", "TPR changed by", "TPR"
    ),
    "specificity": (
        "Change of TNR, on unchanged answers", "TNR changed by", "TNR"
    ),
}
"""Of each part of a change: its title, the question of its row on the screen, its short name."""
# fmt: on
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
        labelled = before if not _labels(before, first).empty else after
        old, new = _item_means(before, first), _item_means(after, second)
        parts: dict[str, Estimate] = _agreement(before, after, first, second, level=level)
        if not old.empty and not new.empty:
            parts |= _people(labelled, after, first, old, new, level=level)
        stratum, name = pair_label(first, second), pair_label(first, second, joint=" ")
        about = About(stratum=stratum, conditions=(first, second), varied="run")
        for key, estimate in parts.items():
            identity, title = f"anchored.{key}.{name}", f"{_PARTS[key][0]} ({stratum})"
            names[stratum] = name
            results.append(NamedResult(identity, title, "primary", estimate, about=about))
            headlines.append(
                Headline(
                    id=f"headline.{identity}",
                    hypothesis="anchored",
                    claim="undefined" if math.isnan(estimate.estimate) else "described",
                    about=about,
                    estimand=estimate.name,
                    rests_on=(identity,),
                    reason=estimate.reason,
                )
            )
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


def _agreement(
    before: pd.DataFrame, after: pd.DataFrame, first: str, second: str, *, level: float
) -> dict[str, Estimate]:
    """How much more, or less, both runs agree with one and the same label of each item."""
    own = [f[f["condition"] == c] for f, c in ((before, first), (after, second))]
    labelled = next((f for f in own if "label" in f and f["label"].astype(str).ne("").any()), None)
    if labelled is None:
        return {}
    label = labelled.drop_duplicates("item_id").set_index("item_id")["label"].astype(str)
    scored = own[0]["score"].notna().any()
    name = "distance_change" if scored else "accuracy_change"
    credit = []
    for frame in own:
        human = frame["item_id"].map(label)
        if scored:
            value = (frame["score"] - pd.to_numeric(human, errors="coerce")).abs()
        else:
            words = outcomes(frame["choice"].astype(str)).str.lower()
            present = human.fillna("").ne("") & words.ne("")
            wanted = outcomes(human.fillna("")).str.lower()
            value = words.eq(wanted).astype(float).where(present)
        credit.append(value.groupby(frame["item_id"], sort=False).mean())
    was, now = credit[0], credit[1].reindex(credit[0].index)
    if int((was.notna() & now.notna()).sum()) < _LEAST:
        return {}
    clusters = own[0].drop_duplicates("item_id").set_index("item_id")["cluster"]
    groups = clusters.reindex(was.index).to_numpy(object)
    return {name.removesuffix("_change"): _change(name, was, now, groups, level)}


def _people(
    before: pd.DataFrame,
    after: pd.DataFrame,
    condition: str,
    old: pd.DataFrame,
    again: pd.DataFrame,
    *,
    level: float,
) -> dict[str, Estimate]:
    """What labels of then and of today say of human raters and of the judge's errors.

    Sensitivity can change while the mean does not: verdicts are compared within each label of then.
    """
    then, today = (_labels(f, condition) for f in (before, after))
    then = then.reindex(old.index)
    cluster = old["cluster"].to_numpy(object)
    out = {}
    relabelled = today.reindex(old.index)
    if int((then.notna() & relabelled.notna()).sum()) >= 2:
        out["people"] = _change("people_change", then, relabelled, cluster, level)
    judged = again["value"].reindex(old.index)
    if set(then.dropna()) <= {0.0, 1.0} and set(old["value"].dropna().round(9)) <= {0.0, 1.0}:
        for key, label in (("sensitivity", 1.0), ("specificity", 0.0)):
            own = (then == label) & judged.notna()
            if int(own.sum()) < _LEAST:
                continue
            was, now = (v if label else 1 - v for v in (old["value"], judged))
            groups = cluster[own.to_numpy()]
            out[key] = _change(f"{key}_change", was[own], now[own], groups, level)
    return out


def _change(
    name: str, one: pd.Series, two: pd.Series, cluster: NDArray[np.object_], level: float
) -> Estimate:
    """Paired difference on the same answers: Tango's of shares, where a question has one answer."""
    both = (one.notna() & two.notna()).to_numpy()
    a, b, groups = one[both].to_numpy(float), two[both].to_numpy(float), cluster[both]
    if len(set(groups)) == groups.size and set(np.r_[a, b]) <= {0.0, 1.0}:
        return paired_share_difference(b, a, level=level).replace(name=name, label=_label(name))
    whole = anchored_change(a, b, b, cluster_before=groups, cluster_after=groups, level=level)
    return whole["judge"].replace(name=name, label=_label(name))


def _label(name: str) -> str:
    return _PARTS[name.removesuffix("_change")][0].partition(",")[0]


def _labels(frame: pd.DataFrame, condition: str) -> pd.Series:
    """Human labels by item: scores, or 1 for a pass."""
    own = frame[frame["condition"] == condition] if condition in set(frame["condition"]) else frame
    if "label" not in own:
        return pd.Series(dtype=float)
    words = own["label"].astype(str).str.strip().str.lower()
    value = pd.to_numeric(words.map(lambda v: _PASS.get(v, v)), errors="coerce")
    return value.groupby(own["item_id"], sort=False).mean().dropna()


def _item_means(frame: pd.DataFrame, condition: str) -> pd.DataFrame:
    """Mean score, or share of passes, of each item with its cluster."""
    own = frame[frame["condition"] == condition]
    value = own["score"]
    if not value.notna().any():
        value = own["choice"].astype(str).str.lower().map(_PASS)
    table = own.assign(value=value.astype(float)).groupby("item_id", sort=False)
    return table.agg(value=("value", "mean"), cluster=("cluster", "first")).dropna(subset="value")


_QUESTION = "Has the judge changed between the two runs, beyond repeat noise?"
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
    table, described, limits, metrics = _described(
        joined, n_resamples=n_resamples, seed=seed, level=level, scored=scored,
        omega_model=omega_model,
    )  # fmt: skip
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
    family = _adjust_comparisons(family, comparisons)
    tests = [
        replace(r, result=restrict_pairs(r.result, family.p_adjusted[i], claim=i))
        if isinstance(r.result, Comparisons) and (i := _test_of(r))
        else r
        for r in tests
    ]
    confirmed = baseline is not None
    headlines = drift_headlines(tests, family, confirmed=confirmed)
    names = {pair_label(*pair): pair_label(*pair, joint=" ") for pair in chosen.items()}
    analysis = Analysis(
        experiment="drift",
        question=_QUESTION,
        headlines=headlines,
        conditions=table,
        results=(
            *tests,
            NamedResult(
                id="drift.family", title="Change between the runs, adjusted", role="primary",
                result=family,
            ),
            *described,
        ),
        limitations=limits,
        condition_metrics=metrics,
        rows=(*_rows(names), *share_rows(tests, names, family.p_adjusted)),
        drawing=_drawing([pair_label(*pair, joint=" ") for pair in chosen.items()], scored=scored),
    )  # fmt: skip
    return with_labelled(analysis, before, after, chosen, level=level)


def _adjust_comparisons(family: Family, comparisons: int) -> Family:
    """Adjusted for all comparisons of runs too (Bonferroni over them, Holm within each)."""
    if comparisons == 1:
        return family
    adjusted = {k: float(np.minimum(1.0, p * comparisons)) for k, p in family.p_adjusted.items()}
    return replace(
        family, name=f"{family.name}, in {comparisons} comparisons of runs", p_adjusted=adjusted
    )


def _drawing(names: Sequence[str], *, scored: bool) -> Drawing:
    """The change of every condition: of its mean score, or of its verdicts."""
    kind, aspect = ("shift", "change_of_scores") if scored else ("flips", "change_of_verdicts")
    what = "Shift of the mean score" if scored else "Verdicts changed beyond repetition"
    return Drawing(
        kind="dots",
        rows=tuple(f"{kind}.{name}/{aspect}" for name in names),
        caption=f"{what}, from the first run to the second, with intervals.",
    )


def _rows(names: Mapping[str, str]) -> tuple[Row, ...]:
    """What changed of each condition, with the interval that says what is ruled out."""
    return (
        declared_row("change_of_scores", names, ids="shift.{}/change_of_scores"),
        declared_row("gmd_ratio", names, ids="gmd.{}/second run:first run"),
        declared_row("change_of_pass_rate", names, ids="pass_rate.{}/change_of_pass_rate"),
        declared_row("change_of_win_rate", names, ids="win_rate.{}/change_of_win_rate"),
        declared_row(
            "change_of_order_consistency", names, ids="order.{}/change_of_order_consistency"
        ),
        declared_row("change_of_flips", names, ids="flip_rate.{}/change_of_flips"),
        declared_row("change_of_verdicts", names, ids="flips.{}/change_of_verdicts"),
    )


def _described(
    joined: pd.DataFrame,
    *,
    n_resamples: int,
    seed: int,
    level: float,
    scored: bool,
    omega_model: str,
) -> tuple[pd.DataFrame, list[NamedResult], tuple[str, ...], dict[str, Any]]:
    """Each run by itself: the table of conditions, reliabilities, limits and metrics."""
    if scored:
        array = score_array(joined)
        scored_conditions = score_conditions(
            joined, array, level=level, n_permutations=n_resamples, seed=seed,
            omega_model=omega_model,
        )  # fmt: skip
        limits = tuple(common_limits(joined, scored_conditions.table, array))
        kinds = ("condition.mean.", "condition.sem.")
        shown = [r for r in scored_conditions.estimates if r.id.startswith(kinds)]
        return (
            scored_conditions.table,
            [*scored_conditions.results, *shown],
            limits,
            dict(scored_conditions.metrics),
        )
    plan = verdict_plan(n_resamples=n_resamples, seed=seed, level=level)
    audited = audit_verdicts(joined.drop(columns="label", errors="ignore"), plan)
    described = [replace(r, role="descriptive") for r in audited.with_role("primary")]
    metrics = dict(audited.condition_metrics)
    return audited.conditions, described, audited.limitations, metrics
