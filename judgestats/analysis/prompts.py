"""Sensitivity to the prompt's wording, also across judges."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.coefficients import declared_row
from judgestats.analysis.families import AnalysisPlan, Hypothesis, claim_headline, planned
from judgestats.analysis.limits import Limit, common_limits
from judgestats.analysis.records import Analysis, NamedResult, named_results
from judgestats.analysis.scores import declared_conditions
from judgestats.arrays import Objects
from judgestats.data.columns import Condition, heat
from judgestats.data.parse import scores_of
from judgestats.results import About, Drawing, Headline, Row
from judgestats.stats import adjust_family, crossed_components, mean_shift, prompt_sensitivity
from judgestats.stats.inference.multiplicity import Family
from judgestats.stats.inference.result import Estimates, TestResult

CROSSED = Hypothesis(
    "crossed", "Which shares of the variance are due to answers, judges, wordings, and repeats, "
    "and how are two judgments used best?",
    "random-effects model, answer x judge x wording x repeat: components by expected mean squares, "
    "intervals by the jackknife over questions. D-study of two judgments (two judges or more)",
)  # fmt: skip
FEW_JUDGES = 5
_PARTS = {
    "answers": "over all judges, the answers",
    "judges": "the judges",
    "wording": "the wording",
    "repeats": "repeats",
}


def _crossed_results(
    frame: pd.DataFrame, items: Sequence[str], cluster: Objects, declared: AnalysisPlan
) -> list[NamedResult]:
    """The model of each temperature at which several judges were asked in the same wordings."""
    results = []
    for temperature, asked in frame.groupby("temperature", sort=False, dropna=False):
        parts = {
            str(judge): {str(w): p for w, p in own.groupby("factor_wording", sort=False)}
            for judge, own in asked.groupby("judge", sort=False)
        }
        wordings = [list(own) for own in parts.values()]
        if len(parts) < 2 or any(set(w) != set(wordings[0]) for w in wordings):
            continue
        tables = [[scores_of(own[w], items) for w in wordings[0]] for own in parts.values()]
        depth = max(t.shape[1] for row in tables for t in row)
        padded = (
            [np.pad(t, ((0, 0), (0, depth - t.shape[1])), constant_values=np.nan) for t in row]
            for row in tables
        )
        scores = np.stack([np.stack(row, 1) for row in padded], 1)
        where = heat(float(str(temperature)))
        components = crossed_components(scores, cluster=cluster, level=declared.level)
        row = ("crossed", "Answers, judges, wordings and repeats", components)
        about = About(stratum=where, varied="wording")
        results += named_results(where, "secondary", row, about=about)
    return results


def _crossed_shares(results: Sequence[NamedResult]) -> dict[str, str]:
    """Labels and result ids of the variance shares of the four sources."""
    several = len(results) > 1
    return {
        f"{words} ({r.about.stratum})" if several else words: f"{r.id}/variance_share_{part}"
        for r in results
        for part, words in _PARTS.items()
    }


def _few(crossed: Sequence[NamedResult], wordings: int) -> list[Limit]:
    """Limits of intervals over questions with few wordings or few judges."""
    counts = [int(r.result.details["n_judges"]) for r in crossed if isinstance(r.result, Estimates)]
    judges = min(counts, default=FEW_JUDGES)
    scarce = (
        (wordings, _FEW_WORDINGS, "wordings",
         "results for other wordings are uncertain. Five or more are usual."),
        (judges, FEW_JUDGES, "judges",
         "their variance has an interval over questions, so results for others are uncertain."),
    )  # fmt: skip
    return [
        Limit(f"Only {n} {what}: {text}", code=f"few_{what}",
              short=f"{n} {what}: results for others are uncertain")
        for n, enough, what, text in scarce if n < enough
    ]  # fmt: skip


_FEW_WORDINGS = 5


def plan(parameters: Mapping[str, Any], conditions: Sequence[Condition]) -> AnalysisPlan:
    """The plan, as it is written to the run before the first call."""
    declared = planned(
        "prompts", parameters,
        Hypothesis("wording", "Do scores vary more over wordings than over repeats?",
            "permutation test: the scores of an answer exchanged over wordings; the share of the "
            "variance due to wording, intervals over questions",
            "judges and temperatures", "primary"),
        Hypothesis("level", "Which wordings are stricter?",
            "mean score of each wording minus the first one's, paired by answer",
            "wordings of a judge"),
        CROSSED,
        blocks="The answer, or the pair in one order, is the block: every wording judges the same.",
        missing="A judgment that could not be read is left out; the rates are reported.",
        options={"asks": parameters.get("asks", "scores")},
    )  # fmt: skip
    alone = len({c.judge for c in conditions}) == 1
    return declared.drop_hypotheses(CROSSED.id) if alone else declared


def analyse(frame: pd.DataFrame, declared: AnalysisPlan) -> Analysis:
    """Answer the plan's hypotheses on judgments with ``factor_wording``.

    Parameters
    ----------
    frame : DataFrame
        The parsed judgments.
    declared : AnalysisPlan

    Returns
    -------
    Analysis
    """
    pairs = declared.options.get("asks") == "pairs"
    if pairs:
        value = {"a": 1.0, "tie": 0.5, "b": 0.0}
        shown = frame["item_id"].astype(str) + " " + frame["order"].astype(str)
        frame = frame.assign(score=frame["choice"].map(value).astype(float), item_id=shown)
    once = frame.drop_duplicates("item_id")
    items, cluster = list(once["item_id"]), once["cluster"].to_numpy(object)
    tests: dict[str, TestResult] = {}
    results: list[NamedResult] = []
    about: dict[str, About] = {}
    for (judge, temperature), asked in frame.groupby(
        ["judge", "temperature"], sort=False, dropna=False
    ):
        where = f"{judge} at {heat(float(str(temperature)))}"
        parts = {str(k): part for k, part in asked.groupby("factor_wording", sort=False)}
        table = np.stack([scores_of(part, items) for part in parts.values()], axis=1)
        names = tuple(str(part["condition"].iloc[0]) for part in parts.values())
        about[where] = About(judge=str(judge), stratum=where, conditions=names, varied="wording")
        tests[where] = prompt_sensitivity(table, cluster=cluster, **declared.resampling)
        shift = mean_shift(
            table, conditions=list(parts), reference=next(iter(parts)), cluster=cluster,
            level=declared.level,
        )  # fmt: skip
        shift = dataclasses.replace(shift, family=f"wordings, {where}")
        row = ("level", "Wordings minus the first", shift)
        results += named_results(where, "secondary", row, about=about[where])
    family = adjust_family(tests, family="the wording of the prompt: judges and temperatures")
    title = "Wording of the prompt"
    tested = [
        NamedResult(f"wording.{where}", f"{title}, {where}", "primary", test, about=about[where])
        for where, test in tests.items()
    ]
    tested.append(NamedResult("wording", f"{title}, adjusted", "primary", family))
    crossed = _crossed_results(frame, items, cluster, declared)
    headlines = tuple(_headline(where, test, family, about[where]) for where, test in tests.items())
    described, array = declared_conditions(frame, declared)
    return Analysis(
        experiment="prompts",
        question=declared.question,
        headlines=headlines,
        conditions=described.table,
        results=(*tested, *results, *crossed, *described.results),
        limitations=(
            *common_limits(frame, described.table, array),
            *_few(crossed, frame["factor_wording"].nunique()),
            *_negative_share_limits(tests),
        ),
        drawing=Drawing(
            kind="dots",
            rows=tuple(f"wording.{where}/wording_share" for where in tests),
            caption="Share of the variance of a single judgment due to the wording of the prompt "
            "(0: none).",
        ),
        rows=_rows(list(tests), _crossed_shares(crossed), pairs=pairs),
        condition_metrics=described.metrics,
    )


def _rows(where: Sequence[str], beside: Mapping[str, str], *, pairs: bool) -> tuple[Row, ...]:
    def row(key: str, **more: Any) -> Row:
        return declared_row(key, where, ids=f"wording.{{}}/{key}", **more)

    share, flips = (
        row("wording_share", beside=beside),
        [row("flips_repeated"), row("flips_reworded")],
    )
    return (*flips, share) if pairs else (row("sd_repeated"), row("sd_reworded"), share, *flips)


def _negative_share_limits(tests: Mapping[str, TestResult]) -> list[Limit]:
    """Limit for shares whose whole interval is below 0, which is not an effect."""
    below = [
        where
        for where, test in tests.items()
        for share in test.effects
        if share.name == "wording_share" and share.interval and share.interval.high < 0
    ]
    text = (
        f"The share of wording is below 0 ({', '.join(below)}), which no true share is. Scores "
        "varied less over wordings than over repeats. This happens by chance if the wording "
        "has no effect. Shares are not cut at 0, so they are unbiased."
    )
    short = "a share below 0 means: no effect of the wording"
    return [Limit(text, code="below_nothing", short=short)] if below else []


def _headline(where: str, test: TestResult, family: Family, about: About) -> Headline:
    own = f"wording.{where}"
    return claim_headline(
        own, about, p=family.p_adjusted[where], p_bound=family.p_bound[where],
        estimand="wording_share", rests_on=(own,), family="wording", reason=test.reason,
        size=f"{own}/wording_share",
    )  # fmt: skip
