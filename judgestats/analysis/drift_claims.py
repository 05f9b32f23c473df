"""Claims of drift, and drift separated by anchors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.analysis.drift_tests import LEAD, SHARE, pair_label
from judgestats.analysis.families import claim_headline, claim_of
from judgestats.analysis.limits import Limit
from judgestats.analysis.records import Analysis, NamedResult
from judgestats.analysis.summary_rows import results_row
from judgestats.analysis.verdict_consistency import outcomes
from judgestats.results import About, Claim, Headline
from judgestats.results.change_screen import PRIMARY, SAME
from judgestats.stats.inference.distributions import t
from judgestats.stats.inference.multiplicity import Family, weighted_levels
from judgestats.stats.inference.result import Comparison, Comparisons, Estimate, TestResult
from judgestats.stats.validity.sequential import anchored_change
from judgestats.stats.validity.systems import paired_share_difference

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
    rest = round(1 - LEAD, 12) if n_lead else 1.0
    return {n: LEAD / n_lead if leads[n] else rest / n_rest for n in names}


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
                judge=_changed_what(kind, confirmed=confirmed), aspect=_aspect_of(named)
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
        "Change of TPR, on unchanged answers", "TPR changed by", "TPR"
    ),
    "specificity": (
        "Change of TNR, on unchanged answers", "TNR changed by", "TNR"
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
    rows = (
        results_row(key, ask, short, f"{key}_change", f"anchored.{key}.{{}}", names)
        for key, (_, ask, short) in _PARTS.items()
    )
    return replace(
        analysis,
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
