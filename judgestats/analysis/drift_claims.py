"""Claims of drift, and drift separated by anchors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.analysis.drift_tests import LEAD, PRIMARY, SAME, pair_label
from judgestats.analysis.families import LEVEL, claim_headline, claim_of
from judgestats.analysis.limits import Limit
from judgestats.analysis.records import Analysis, NamedResult
from judgestats.analysis.summary_rows import results_row
from judgestats.analysis.verdict_consistency import outcomes
from judgestats.results import About, Claim, Headline
from judgestats.results.numbers import (
    adjusted_p,
    apa_estimate,
    apa_number,
    estimate_parts,
    with_bounds,
)
from judgestats.stats.inference.distributions import t
from judgestats.stats.inference.multiplicity import Family, weighted_levels
from judgestats.stats.inference.result import Comparison, Comparisons, Estimate, Sample, TestResult
from judgestats.stats.validity.sequential import anchored_change
from judgestats.stats.validity.systems import paired_share_difference

_ESTIMANDS = {
    "shift": "change_of_scores",
    "pass_rate": "change_of_pass_rate",
    "win_rate": "change_of_win_rate",
    "flip_rate": "change_of_flips",
    "flips": "change_of_verdicts",
    "spread": "gmd_ratio",
}
_ASPECTS = {
    "shift": "mean score", "pass_rate": "pass rate", "win_rate": "win rate",
    "flip_rate": "flip rate", "spread": "spread of repeated scores", "flips": "verdicts",
}  # fmt: skip
_SAYS: Mapping[Claim, str] = {
    "differs": "{judge}: {aspect}",
    "equivalent": "no change: {aspect}, within the margin",
    "open": "no change is shown: {aspect}",
    "undefined": "not tested: {aspect}",
}
_FEWER = "no change is shown: {aspect}, of which fewer differ than repetition explains"
"""Where the interval of a share of changes lies below 0: no number tells a change."""
UNREAD = "no verdict in one of the runs"
"""The reason under which `run_change` counts the items that it leaves out."""


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
    return {n: LEAD / n_lead if leads[n] else round(1 - LEAD, 12) / n_rest for n in names}


def at_family_level(tests: Sequence[NamedResult], level: float) -> list[NamedResult]:
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
    return [
        replace(r, result=_at_level(r.result, levels[r.id]))
        if isinstance(r.result, TestResult) and "df" in r.result.df
        else r
        for r in tests
    ]


def _at_level(result: TestResult, level: float) -> TestResult:
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


def drift_outcome(headlines: Sequence[Headline]) -> str:
    """CHANGED, NO CHANGE or CANNOT TELL.

    Parameters
    ----------
    headlines : sequence of Headline
        Of `drift_headlines`.

    Returns
    -------
    str
        NO CHANGE where every leading quantity is shown to lie within its margin, or both runs hold
        the same judgments, and nothing has changed.
    """
    if any(h.claim == "differs" for h in headlines):
        return "CHANGED"
    leading = [h for h in headlines if h.hypothesis in PRIMARY or h.reason == SAME]
    alike = [h.claim == "equivalent" or h.reason == SAME for h in leading]
    return "NO CHANGE" if alike and all(alike) else "CANNOT TELL"


def smallest_change(tests: Sequence[NamedResult]) -> float:
    """The smallest change of a leading quantity that is found with probability .80.

    Parameters
    ----------
    tests : sequence of NamedResult

    Returns
    -------
    float
        In the quantity's unit, the largest over conditions; NaN where none has an error.
    """
    primary = [r.id for r in tests if isinstance(r.result, TestResult)]
    weights, found = drift_weights(primary), []
    for named in tests:
        result = named.result
        if not isinstance(result, TestResult) or named.id.partition(".")[0] not in PRIMARY:
            continue
        if result.effect is None or not result.effect.std_error > 0:
            continue
        df, alpha = result.df["df"], 0.05 * weights[named.id]
        quantiles = float(t.ppf(1 - alpha / 2, df)) + float(t.ppf(0.8, df))
        found.append(quantiles * result.effect.std_error)
    return max(found, default=math.nan)


def drift_headlines(
    tests: Sequence[NamedResult], family: Family, *, confirmed: bool = False
) -> tuple[Headline, ...]:
    """One headline a test: something changed, no change is shown, or it could not be tested.

    Parameters
    ----------
    tests : sequence of NamedResult
        ``shift.*``, ``spread.*`` and ``flips.*`` with the ``gmd.*`` beside them.
    family : Family
        Of all tests.
    confirmed : bool
        Whether changes are counted beyond an unchanged re-run, and so are the judge's.

    Returns
    -------
    tuple of Headline
        Not to have found a change is not to have shown that there is none: a leading quantity is
        the same only where its 90% interval lies within the margin. The test's details hold what
        is ruled out.
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
                judge=_changed_what(kind, confirmed=confirmed), aspect=_ASPECTS[kind]
            )
            for key, text in _SAYS.items()
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
                estimand="" if fewer else _ESTIMANDS[kind],
                direction=_direction(kind, effect),
                rests_on=(named.id, *ratios),
                family="drift.family",
                reason=named.result.reason,
            )
        )
    return tuple(headlines)


def _changed_what(kind: str, *, confirmed: bool) -> str:
    """What has changed: the judge only where changes are counted beyond an unchanged re-run."""
    if confirmed:
        return "the judge has changed"
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


def drift_sentence(
    headlines: Sequence[Headline],
    tests: Sequence[NamedResult],
    counts: Mapping[str, int],
    *,
    confirmed: bool = False,
) -> str:
    """The answer in one sentence.

    Parameters
    ----------
    headlines : sequence of Headline
    tests : sequence of NamedResult
        What they rest on.
    counts : mapping
        Items ``matched``, and ``only_first`` and ``only_second`` left out.
    confirmed : bool
        See `drift_headlines`.

    Returns
    -------
    str
        CHANGED, NO CHANGE or CANNOT TELL; what changed, by how much; what did not show a change,
        and which changes are ruled out; which items it stands on.
    """
    by_id = {r.id: r for r in tests}
    resting = [by_id[h.rests_on[0]] for h in headlines]
    changed = [h for h in headlines if h.claim == "differs"]
    same = [h for h in headlines if h.reason == SAME]
    still = [h for h in headlines if h.claim == "open" and h not in same]
    parts = []
    if changed:
        what = ", ".join(_changed(h, by_id[h.rests_on[0]], tests) for h in changed)
        subject = _changed_what(changed[0].hypothesis, confirmed=confirmed)
        parts.append(f"{subject}: {what}")
    if alike := [h for h in headlines if h.claim == "equivalent"]:
        what = ", ".join(_alike(h, by_id[h.rests_on[0]], tests) for h in alike)
        parts.append(f"no change: {what}")
    if still:
        smallest = adjusted_p(min(still, key=lambda h: h.p_adjusted))
        beside = " beside it" if changed else ""
        parts.append(
            f"no change is shown{beside} {_strata_phrase(still)} (smallest adjusted p {smallest})"
        )
        if ruled := list(_ruled_out([by_id[h.rests_on[0]] for h in still], tests)):
            parts.append(f"ruled out there: {_listed(ruled)}")
    if same:
        parts.append(f"{SAME} ({', '.join(h.about.stratum for h in same)})")
    if len(same) < len(headlines) and _once(resting):
        parts.append(
            "each run judged once, so that at most the direction of a shift can be told, not "
            "whether single judgments or their spread changed beyond repetition"
        )
    else:
        parts += _untested([h for h in headlines if h.claim == "undefined"])
    reach = smallest_change(tests)
    if not math.isnan(reach):
        parts.append(f"smallest change found with probability .80: {apa_number(reach)}")
    parts.append(_item_counts(counts, resting))
    outcome = drift_outcome(headlines)
    if outcome == "CHANGED" and all(_is_within_margin(by_id[h.rests_on[0]]) for h in changed):
        outcome += ", within the margin"
    return f"{outcome}: {'; '.join(parts)}."


def _is_within_margin(named: NamedResult) -> bool:
    """Whether a change is shown to be smaller than what counts as one."""
    details = named.result.details if isinstance(named.result, TestResult) else {}
    return bool(details.get("p_equivalent", math.nan) <= LEVEL)


def _alike(headline: Headline, named: NamedResult, tests: Sequence[NamedResult]) -> str:
    """A leading quantity shown to be the same, with its interval and margin."""
    effect = _effect(named, tests)
    details = named.result.details if isinstance(named.result, TestResult) else {}
    what = f"{headline.about.stratum}, {_ASPECTS[headline.hypothesis]}"
    if effect is None or effect.interval is None:
        return what
    shown = with_bounds(effect.estimate, effect.interval.low, effect.interval.high)
    return f"{what}: {shown}, margin {apa_number(float(details['margin']))}"


def _untested(headlines: Sequence[Headline]) -> Iterator[str]:
    """What could not be tested, and why; one reason stands for all that share it."""
    by_reason: dict[str, list[str]] = {}
    for headline in headlines:
        by_reason.setdefault(headline.reason, []).append(_ASPECTS[headline.hypothesis])
    for reason, aspects in by_reason.items():
        yield f"not tested: {_listed(list(dict.fromkeys(aspects)))}, since {reason}"


def _listed(parts: Sequence[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def _strata_phrase(headlines: Sequence[Headline]) -> str:
    names = list(dict.fromkeys(h.about.stratum for h in headlines))
    what = _listed(list(dict.fromkeys(_ASPECTS[h.hypothesis] for h in headlines)))
    return f"for {names[0] if len(names) == 1 else f'any of {len(names)} conditions'} in {what}"


def _changed(headline: Headline, named: NamedResult, tests: Sequence[NamedResult]) -> str:
    """One change with its size, interval and p."""
    effect = _effect(named, tests)
    size = ""
    if effect is not None and not math.isnan(effect.estimate):
        low, high = (
            (effect.interval.low, effect.interval.high) if effect.interval else (math.nan, math.nan)
        )
        if headline.hypothesis == "flips":
            share = [100 * v for v in (effect.estimate, low, high)]
            number, interval = estimate_parts(*share, digits=1)
            size = f"{number} % more differ than between repetitions {interval}".rstrip()
        elif headline.hypothesis == "spread":
            size = (
                "mean difference of two repeats multiplied by "
                f"{with_bounds(effect.estimate, low, high)}"
            )
        elif headline.hypothesis in {"pass_rate", "win_rate", "flip_rate"}:
            size = f"moved by {with_bounds(effect.estimate, low, high, bounded=True)}"
        else:
            size = f"moved by {with_bounds(effect.estimate, low, high)} points"
        details = named.result.details if isinstance(named.result, TestResult) else {}
        if headline.hypothesis in PRIMARY:
            here = details.get("target") == "these items"
            size += f" on these {_sample(named).n_items} items" if here else " on items like these"
    what = _ASPECTS[headline.hypothesis]
    return (
        f"{headline.about.stratum}, {what}{': ' * bool(size)}{size} "
        f"(adjusted p {adjusted_p(headline)})"
    )


def _ruled_out(open_tests: Sequence[NamedResult], tests: Sequence[NamedResult]) -> Iterator[str]:
    """By aspect, the changes outside every interval; none where one has no interval."""
    by_kind: dict[str, list[Estimate | Comparison | None]] = {}
    for named in open_tests:
        by_kind.setdefault(named.id.partition(".")[0], []).append(_effect(named, tests))
    for kind, effects in by_kind.items():
        intervals = [e.interval for e in effects if e is not None and e.interval is not None]
        if len(intervals) < len(effects):
            continue
        low, high = min(i.low for i in intervals), max(i.high for i in intervals)
        if not low < high < math.inf:
            continue
        if kind in {"pass_rate", "win_rate", "flip_rate"}:
            yield (
                f"changes of the {_ASPECTS[kind]} above {apa_number(max(-low, high), bounded=True)}"
            )
        elif kind == "shift":
            yield f"shifts of the mean above {apa_number(max(-low, high))} points"
        elif kind == "flips":
            yield f"changes of more than {apa_number(100 * high, digits=1)} % of verdicts"
        else:
            yield (
                f"a mean difference of two repeats below {apa_number(low)} or above "
                f"{apa_number(high)} times the first"
            )


def _once(tests: Sequence[NamedResult]) -> bool:
    """Whether no run judged anything twice."""
    return all(_sample(t).n_replications_max in {None, 1} for t in tests)


def _sample(named: NamedResult) -> Sample:
    if not isinstance(named.result, TestResult):
        raise TypeError(f"{named.id} is no test")
    return named.result.sample


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
    text = f"Only items of both runs are compared: {' and '.join(each)} stand in that run alone."
    short = f"{lost} of {lost + counts['matched']} items left out"
    return (Limit(text, code="items_left_out", short=short),)


def _item_counts(counts: Mapping[str, int], tests: Sequence[NamedResult]) -> str:
    """The items compared, those without a counterpart, those unread in one of the runs."""
    lost = [
        f"{counts[key]} only in the {which} run left out"
        for key, which in (("only_first", "first"), ("only_second", "second"))
        if counts[key]
    ]
    unread = max(_sample(t).excluded.get(UNREAD, 0) for t in tests)
    if unread:
        lost.append(f"up to {unread} of them without a verdict in one")
    text = f"compared by item on the {counts['matched']} items that both runs judged"
    return f"{text} ({', '.join(lost)})" if lost else text


# fmt: off
_PARTS = {
    "total": ("Total change between the runs", "Total change", "Change"),
    "judge": ("Change of the judge, on unchanged answers", "Change of the judge", "Judge"),
    "system": (
        "Change of the system, as today's judge sees it", "Change of the system", "System"
    ),
    "people": (
        "Change of people's labels, on unchanged answers", "Change of the labels", "Labels"
    ),
    "accuracy": (
        "Change of agreement with people, on unchanged answers", "agreement with people changed by",
        "agreement",
    ),
    "distance": (
        "Change of the distance from people, on unchanged answers",
        "distance from people changed by", "distance",
    ),
    "sensitivity": (
        "Change of sensitivity, on unchanged answers", "sensitivity changed by", "sensitivity"
    ),
    "specificity": (
        "Change of specificity, on unchanged answers", "specificity changed by", "specificity"
    ),
}
"""Of each part of a change: its title, the question of its row on the screen, its short name."""
# fmt: on
_LEAST = 5
"""Anchors of one label that a change of sensitivity or specificity needs."""
_PASS = {"pass": 1.0, "yes": 1.0, "correct": 1.0, "fail": 0.0, "no": 0.0, "incorrect": 0.0}


def with_split(
    analysis: Analysis,
    before: pd.DataFrame,
    anchors: pd.DataFrame,
    after: pd.DataFrame,
    pairs: Mapping[str, str],
    *,
    level: float,
) -> Analysis:
    """The comparison of the anchors with the total change split into its two parts.

    Parameters
    ----------
    analysis : Analysis
        Of the first run and the anchors.
    before, anchors, after : DataFrame
    pairs : mapping of condition to condition
        Of the first run to the second.
    level : float

    Returns
    -------
    Analysis
    """
    split: dict[tuple[str, str], Mapping[str, Estimate]] = {}
    for first, second in pairs.items():
        old, new = _item_means(before, first), _item_means(after, second)
        again = _item_means(anchors, first if first in set(anchors["condition"]) else second)
        if old.empty or new.empty:
            continue
        parts = anchored_change(
            old["value"].to_numpy(float),
            again["value"].reindex(old.index).to_numpy(float),
            new["value"].to_numpy(float),
            cluster_before=old["cluster"].to_numpy(object),
            cluster_after=new["cluster"].to_numpy(object),
            level=level,
        )
        people = _people(before, anchors, first, old, again, level=level)
        split[first, second] = parts | people
    note = (
        "The anchors are taken as drawn at random among the first run's answers; others speak for "
        "themselves alone."
    )
    if not any("people" in parts for parts in split.values()):
        note += " A change of people is not seen: give the anchors' labels of then and of today."
    return _led(analysis, split, note)


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
        As given where nothing is labelled.
    """
    split: dict[tuple[str, str], Mapping[str, Estimate]] = {}
    for first, second in pairs.items():
        labelled = before if not _labels(before, first).empty else after
        old, new = _item_means(before, first), _item_means(after, second)
        parts: dict[str, Estimate] = _agreement(before, after, first, second, level=level)
        if not old.empty and not new.empty:
            parts |= _people(labelled, after, first, old, new, level=level)
        if parts:
            split[first, second] = parts
    return _led(analysis, split) if split else analysis


def _led(
    analysis: Analysis, split: Mapping[tuple[str, str], Mapping[str, Estimate]], *notes: str
) -> Analysis:
    """The analysis with these changes before everything else."""
    results: list[NamedResult] = []
    headlines: list[Headline] = []
    names: dict[str, str] = {}
    for pair, parts in split.items():
        stratum = pair_label(*pair)
        names[stratum] = pair_label(*pair, joint=" ")
        about = About(stratum=stratum, conditions=pair, varied="run")
        for key, estimate in parts.items():
            identity, title = f"anchored.{key}.{names[stratum]}", f"{_PARTS[key][0]} ({stratum})"
            results.append(
                NamedResult(identity, title, "primary", estimate, headline=True, about=about)
            )
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
    changes = (_change_phrase(pair_label(*pair), parts) for pair, parts in split.items())
    rows = (
        results_row(key, ask, short, f"{key}_change", f"anchored.{key}.{{}}", names)
        for key, (_, ask, short) in _PARTS.items()
    )
    return replace(
        analysis,
        sentence=" ".join([*changes, analysis.sentence]),
        results=(*results, *analysis.results),
        headlines=(*headlines, *analysis.headlines),
        limitations=(*notes, *analysis.limitations),
        rows=(*rows, *analysis.rows),
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
    anchors: pd.DataFrame,
    condition: str,
    old: pd.DataFrame,
    again: pd.DataFrame,
    *,
    level: float,
) -> dict[str, Estimate]:
    """What labels of the anchors, of then and of today, say of people and of the judge's errors.

    Sensitivity can change while the mean does not: verdicts are compared within each label of then.
    """
    then, today = (_labels(f, condition) for f in (before, anchors))
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
    """People's labels by item: scores, or 1 for a pass."""
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


def _change_phrase(name: str, parts: Mapping[str, Estimate]) -> str:
    shown = {k: apa_estimate(e.estimate, e.interval) for k, e in parts.items()}
    beside = ("accuracy", "distance", "people", "sensitivity", "specificity")
    called = {k: _PARTS[k][1].removesuffix(" changed by") for k in beside if k in shown}
    asked = called | ({"people": "people's labels"} if "people" in shown else {})
    sentences = [f"{what} by {shown[k]}" for k, what in asked.items()]
    if "total" not in parts:
        return f"{name}: on the same answers changed: {', '.join(sentences)}."
    if np.isnan(parts["judge"].estimate):
        return f"{name}: changed by {shown['total']}; {parts['judge'].reason}."
    text = (
        f"{name}: of the total change of {shown['total']}, {shown['judge']} is the judge's (on "
        f"unchanged answers) and {shown['system']} the system's as today's judge sees it."
    )
    return f"{text} On unchanged answers changed: {', '.join(sentences)}." if sentences else text
