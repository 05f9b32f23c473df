"""Rejection sampling: winners of round robins of candidates."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.audit_answer import audit_headlines
from judgestats.analysis.chosen_responses import (
    Selections,
    authors_csv,
    chat_lines,
    choose,
    random_selections,
    rule_in_words,
    standings_csv,
)
from judgestats.analysis.families import (
    AnalysisPlan,
    Hypothesis,
    headlines_of_rows,
    jointly,
    one_family,
    published,
)
from judgestats.analysis.limits import Limit
from judgestats.analysis.records import (
    Analysis,
    NamedResult,
    by_role,
    named_results,
)
from judgestats.analysis.selections import (
    add_estimate,
    condition_row,
    label_shares,
    metrics_of,
    selection_limits,
    spent_on_a_verdict,
)
from judgestats.analysis.summary_rows import declared_row, ranked, results_row
from judgestats.arrays import Floats
from judgestats.data.columns import Condition
from judgestats.data.request_fields import heat
from judgestats.items.answers import labelled_shares
from judgestats.items.records import Item
from judgestats.results import About, Claim
from judgestats.stats.agreement.preference import intransitive_triads
from judgestats.stats.agreement.raw_agreement import mean_share
from judgestats.stats.comparison.paired_categories import cochran_q_test
from judgestats.stats.dispersion.condition_summary import mean_shift
from judgestats.stats.inference.result import Comparisons


def judge_at(judge: Any, temperature: Any) -> str:
    """A judge with its temperature, as a reader sees it."""
    return f"{judge} at {heat(temperature)}"


_FEWEST = 3
_QUESTION = (
    "Which of several candidate responses wins a round robin of pairwise judgments, how often is "
    "it the one that labels prefer, and do the other candidates help as a crowd?"
)
_FAMILY = "gains over a random candidate, and pairs of strategies of all judges"
_SAYS: Mapping[tuple[Claim, str], str] = {
    ("differs", "higher"): "the chosen candidate wins a larger share of its labelled comparisons "
    "than one drawn at random",
    ("differs", "lower"): "the chosen candidate wins a smaller share of its labelled comparisons "
    "than one drawn at random",
    ("open", ""): "the chosen candidate is not shown to win more or fewer of its labelled "
    "comparisons than one drawn at random",
    ("undefined", ""): "could not be compared with drawing",
}
_METRICS = {
    "best_share": "people/best_chosen",
    "gain": "people/gain_over_random",
    "circles": "order/circular_triads",
    "undecided": "quality/equal_points",
    "cost_per_chosen": "cost/usd_per_chosen",
}


def plan(parameters: Mapping[str, Any], conditions: Sequence[Condition]) -> AnalysisPlan:
    """The plan, as it is written to the run before the first call."""
    ties = str(parameters["equal_points"])
    several = len(conditions) > len({(c.judge, c.temperature) for c in conditions})
    compared = (
        Hypothesis(
            id="crowd",
            role="primary",
            question="Does one strategy choose the best candidate more often than another?",
            test="McNemar's exact tests of all pairs of strategies on the same questions, clusters "
            "kept together",
            family=_FAMILY,
        ),
    )
    return AnalysisPlan(
        experiment="rejection_sampling",
        question=_QUESTION,
        blocks="The question is the block: of each, one candidate is chosen by every strategy. A "
        "pair of candidates is won by the one that more of its judgments (orders, repetitions) "
        "prefer; points are wins plus half the ties. Candidates with equal points: "
        f"{rule_in_words(ties)}.",
        missing="A pair of which no judgment could be read has no winner; a question with such a "
        "pair is left out of that strategy's choices, and counted.",
        n_resamples=int(parameters["resamples"]),
        seed=int(parameters["seed"]),
        options={"equal_points": ties, "candidates": str(parameters["candidates"])},
        hypotheses=(
            Hypothesis(
                id="best",
                role="primary",
                question="How often is the chosen candidate the one that labels prefer?",
                test="share of questions, interval over clusters, beside a candidate drawn at "
                "random",
                family="none: estimates with intervals",
            ),
            Hypothesis(
                id="gain",
                role="primary",
                question="How much more of its labelled comparisons does the chosen candidate win "
                "than a candidate drawn at random?",
                test="mean difference, paired by question, interval over clusters",
                family=_FAMILY,
            ),
            *(compared if several else ()),
            Hypothesis(
                id="circles",
                question="How often do three candidates beat one another in a circle?",
                test="share of circular triads, interval over questions; 1/4 for random verdicts",
            ),
            published(
                "Table 3, as printed: models trained on the chosen responses",
                question="What did the replicated study print?",
            ),
        ),
    )


def analyse(
    frame: pd.DataFrame,
    declared: AnalysisPlan,
    *,
    items: Sequence[Item],
    pipelines: pd.DataFrame | None = None,
) -> Analysis:
    """Answer the plan's hypotheses.

    Parameters
    ----------
    frame : DataFrame
        The parsed judgments of all stages.
    declared : AnalysisPlan
    items : sequence of Item
        The questions with their candidates, and labels where there are any.
    pipelines : DataFrame, optional
        One row a verdict of a strategy on a pair in an order: ``condition``, ``item_id`` (the
        pair's name), ``choice`` (``a``: the earlier response), ``status``, and ``cost_usd`` of all
        calls behind it. By default the judgments themselves.

    Returns
    -------
    Analysis
        Its `files` hold the chosen responses as chat-format JSONL, one file a condition, and the
        standing of every candidate.
    """
    frame = frame if pipelines is None else pipelines
    shares = [np.array(labelled_shares(item)) for item in items]
    chosen: dict[str, Selections] = {}
    rows: list[dict[str, Any]] = []
    results: list[NamedResult] = []
    gains: dict[str, Comparisons] = {}
    files: dict[str, str] = {}
    for condition, asked in frame.groupby("condition", sort=False):
        name = str(condition)
        selected = choose(
            name, asked, items, rule=declared.options["equal_points"], seed=declared.seed
        )
        row = condition_row(name, asked)
        results += _describe(name, row, asked, selected, items, shares, declared)
        gain = _gain(row, selected, items, shares, declared)
        if gain is not None:
            gains[name] = gain
        chosen[name] = selected
        rows.append(row)
        files[f"chosen/{_file(name, len(files))}.jsonl"] = chat_lines(selected, items)
    files["chosen/random.jsonl"] = chat_lines(random_selections(items, seed=declared.seed), items)
    files["chosen/standings.csv"] = standings_csv(chosen, items, shares)
    if authors := authors_csv(chosen, items):
        files["chosen/authors.csv"] = authors
    table = pd.DataFrame(rows)
    if gains:
        together = one_family(gains, family="gain")
        results.append(NamedResult("gain", "Gain over a candidate at random", "primary", together))
    compared = _compare(chosen, table, items, shares, declared)
    for who, tested in compared.items():
        about = About(stratum=who, varied="strategy")
        between = ("crowd", "Best chosen, strategies compared", tested)
        results += named_results(who, "primary", between, headline=True, about=about)
    results = jointly(results, {"gain", *(f"crowd.{who}" for who in compared)}, family=_FAMILY)
    by_id = {r.id: r for r in results}
    compared = {
        who: pairs
        for who in compared
        if isinstance(pairs := by_id[f"crowd.{who}"].result, Comparisons)
    }
    headlines = list(audit_headlines(results))
    if gains:
        claims = headlines_of_rows(
            by_id["gain"], what="", estimand="rate_difference", about=About(varied="choice"),
        )  # fmt: skip
        headlines += [
            replace(claim, says=_SAYS[claim.claim, claim.direction],
                    about=replace(claim.about, stratum=name, conditions=(name,)))
            for name, claim in zip(gains, claims, strict=True)
        ]  # fmt: skip
    for who in compared:
        headlines += headlines_of_rows(
            by_id[f"crowd.{who}"], what=f"a difference between {{a}} and {{b}}, {who}",
            estimand="best_chosen", about=About(stratum=who, varied="strategy"),
        )  # fmt: skip
    return Analysis(
        experiment=declared.experiment,
        question=declared.question,
        drawing=ranked(
            "best_share",
            "tokens",
            caption="How often the candidate that labels prefer is chosen, and what that takes.",
        ),
        headlines=tuple(headlines),
        conditions=table,
        results=tuple(by_role(results)),
        limitations=(
            *selection_limits(frame, table),
            Limit(
                "A choice among these candidates: no strategy can choose what none of them holds.",
                code="candidates",
                short="no choice is better than its candidates",
            ),
            Limit(
                "Nothing is trained on the chosen responses here; Table 3 of arXiv 2502.12501, "
                "which scores models so trained, is on other scales.",
                code="not_trained",
                short="nothing is trained on the choices",
            ),
        ),
        rows=(
            declared_row("best_chosen", table["condition"], ids="best.{}"),
            results_row(
                "gain",
                "Gain over one drawn answer",
                "Gain",
                "rate_difference",
                "gain/chosen ({}):drawn at random",
                table["condition"],
            ),
            declared_row("intransitive_triads", table["condition"], ids="circles.{}"),
        ),
        condition_metrics={str(r["condition"]): metrics_of(r, _METRICS) for r in rows},
        files=files,
    )


def _describe(
    name: str,
    row: dict[str, Any],
    asked: pd.DataFrame,
    chosen: Selections,
    items: Sequence[Item],
    shares: Sequence[Floats],
    declared: AnalysisPlan,
) -> list[NamedResult]:
    clusters = np.array([item.cluster for item in items], dtype=object)
    row["n_pairs"], row["n_items"] = row["n_items"], len(items)
    row["n_chosen"] = sum(i is not None for i in chosen.index)
    row["incomplete"] = sum(s is None for s in chosen.standings)
    row["undecided"] = chosen.undecided / max(1, len(items) - row["incomplete"])
    row |= spent_on_a_verdict(asked)
    cost = row["cost_usd"]
    row["cost_per_chosen"] = cost / row["n_chosen"] if row["n_chosen"] else math.nan
    results: list[NamedResult] = []
    best = _best(chosen, shares)
    if np.isfinite(best).any():
        share = mean_share(
            best,
            cluster=clusters,
            level=declared.level,
            name="best_chosen",
            label="Best candidate chosen",
        )
        add_estimate(row, "best_share", share)
        row["best_at_random"] = float(np.nanmean(np.where(np.isnan(best), np.nan, _chance(shares))))
        results += named_results(name, "primary", ("best", "Best chosen", share))
    circles = _circles(chosen, items, declared)
    if circles is not None:
        add_estimate(row, "circles", circles)
        results += named_results(name, "secondary", ("circles", "Circular triads", circles))
    return results


def _best(chosen: Selections, shares: Sequence[Floats]) -> Floats:
    """Whether the chosen one has the largest labelled share; NaN where nothing is known."""
    out = np.full(len(shares), np.nan)
    for i, (index, share) in enumerate(zip(chosen.index, shares, strict=True)):
        if index is not None and np.isfinite(share).any():
            out[i] = float(share[index] >= np.nanmax(share) - 1e-9)
    return out


def _chance(shares: Sequence[Floats]) -> Floats:
    """What a candidate drawn at random would score as best."""
    return np.array(
        [np.mean(s >= np.nanmax(s) - 1e-9) if np.isfinite(s).any() else np.nan for s in shares]
    )


def _rates(chosen: Selections, shares: Sequence[Floats]) -> Floats:
    """Labelled share of a random candidate and of the chosen one; NaN where not known."""
    out = np.full((len(shares), 2), np.nan)
    for i, (index, share) in enumerate(zip(chosen.index, shares, strict=True)):
        if index is not None and np.isfinite(share[index]):
            out[i] = np.nanmean(share), share[index]
    return out


def _circles(chosen: Selections, items: Sequence[Item], declared: AnalysisPlan) -> Any:
    rows = []
    for item, verdicts in zip(items, chosen.verdicts, strict=True):
        for (i, j), listed in verdicts.items():
            votes = {v: listed.count(v) for v in ("a", "b", "tie")}
            if sum(votes.values()):
                net = votes["a"] - votes["b"]
                rows.append((item.id, i, j, "a" if net > 0 else "b" if net < 0 else "tie"))
    if not rows or max(len(item.responses) for item in items) < 3:
        return None
    question, first, second, verdict = zip(*rows, strict=True)
    return intransitive_triads(question, first, second, verdict, level=declared.level)


def _gain(
    row: dict[str, Any],
    chosen: Selections,
    items: Sequence[Item],
    shares: Sequence[Floats],
    declared: AnalysisPlan,
) -> Comparisons | None:
    rates = _rates(chosen, shares)
    kept = np.isfinite(rates).all(axis=1)
    if kept.sum() < _FEWEST:
        return None
    row["gain"] = float(np.mean(rates[kept][:, 1] - rates[kept][:, 0]))
    clusters = np.array([item.cluster for item in items], dtype=object)
    return label_shares(
        mean_shift(
            rates[kept],
            conditions=["drawn at random", "chosen"],
            cluster=clusters[kept],
            level=declared.level,
        )
    )


def _compare(
    chosen: Mapping[str, Selections],
    table: pd.DataFrame,
    items: Sequence[Item],
    shares: Sequence[Floats],
    declared: AnalysisPlan,
) -> dict[str, Comparisons]:
    """All pairs of strategies of a judge at a temperature, on the questions that all decided."""
    clusters = np.array([item.cluster for item in items], dtype=object)
    out = {}
    for (judge, temperature), own in table.groupby(
        ["judge", "temperature"], sort=False, dropna=False
    ):
        right = np.column_stack([_best(chosen[str(c)], shares) for c in own["condition"]])
        kept = np.isfinite(right).all(axis=1)
        if right.shape[1] < 2 or kept.sum() < _FEWEST:
            continue
        names = [str(s) for s in own["factor_strategy"]]
        test = cochran_q_test(
            right[kept],
            names=names,
            cluster=clusters[kept],
            **declared.drawn,
        )
        out[judge_at(judge, temperature)] = test.mcnemar(level=declared.level)
    return out


def _file(name: str, number: int) -> str:
    plain = "".join(c if c.isalnum() or c in "-.=@" else "_" for c in name)
    return f"{number + 1:02d}-{plain}"[:100]
