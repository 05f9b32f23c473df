"""Rejection sampling: winners of round robins of candidates, and the files that hold them."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis import families, selections
from judgestats.analysis.audit_answer import audit_headlines
from judgestats.analysis.coefficients import (
    contrast_drawing,
    declared_row,
    metrics_of_conditions,
    ranked,
    results_row,
)
from judgestats.analysis.families import AnalysisPlan, Hypothesis
from judgestats.analysis.limits import Limit
from judgestats.analysis.records import Analysis, NamedResult, named_results, sort_by_role
from judgestats.arrays import Floats
from judgestats.data.columns import Condition, heat
from judgestats.errors import InputError
from judgestats.items import Item, labelled_shares
from judgestats.protocols.template import pair_name
from judgestats.results import About
from judgestats.sinks import csv_text
from judgestats.stats import cochran_q_test, intransitive_triads, mean_shift, round_robin
from judgestats.stats.agreement.preference import RoundRobin
from judgestats.stats.agreement.raw_agreement import mean_share
from judgestats.stats.inference.result import Comparisons

_FEWEST = 3
_FAMILY = "gains over a random candidate, and pairs of strategies of all judges"
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
    compared = Hypothesis(
        "crowd", "Does one strategy choose the best candidate more often than another?",
        "McNemar's exact tests of all pairs of strategies on the same questions, clusters kept "
        "together", _FAMILY, "primary",
    )  # fmt: skip
    return families.planned(
        "rejection_sampling", parameters,
        Hypothesis("best", "How often is the chosen candidate the one that labels prefer?",
            "share of questions, interval over clusters, next to a candidate drawn at random",
            "none: estimates with intervals", "primary"),
        Hypothesis(
            "gain", "How much more of its labelled comparisons does the chosen candidate win than "
            "a candidate drawn at random?",
            "mean difference, paired by question, interval over clusters", _FAMILY, "primary",
        ),
        *((compared,) if several else ()),
        Hypothesis("circles", "How often do three candidates beat one another in a circle?",
            "share of circular triads, interval over questions; 1/4 for random verdicts"),
        families.published(
            "Table 3, as printed: models trained on the chosen responses",
            "What did the replicated study print?",
        ),
        options={"equal_points": ties, "candidates": str(parameters["candidates"])},
        blocks="The question is the block: of each, one candidate is chosen by every strategy. A "
        "pair of candidates is won by the one that more of its judgments (orders, repetitions) "
        "prefer; points are wins plus half the ties. Candidates with equal points: "
        f"{rule_in_words(ties)}.",
        missing="A pair of which no judgment could be read has no winner; a question with such a "
        "pair is left out of that strategy's choices, and counted.",
    )  # fmt: skip


_DRAWN = "How often the candidate that labels prefer is chosen, and what that takes."
_LIMITS = (
    Limit("A choice among these candidates: no strategy can choose what none of them holds.",
          code="candidates", short="no choice is better than its candidates"),
    Limit("Nothing is trained on the chosen responses here; Table 3 of arXiv 2502.12501, which "
          "scores models so trained, is on other scales.",
          code="not_trained", short="nothing is trained on the choices"),
)  # fmt: skip


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
        One row per verdict of a strategy on a pair in an order. Columns: ``condition``, ``item_id``
        (the pair's name), ``choice`` (``a``: the earlier response), ``status``, and ``cost_usd`` of
        all its calls. By default the judgments themselves.

    Returns
    -------
    Analysis
        Its `files` hold the chosen responses as chat-format JSONL, one file per condition, and the
        standing of every candidate.
    """
    frame = frame if pipelines is None else pipelines
    shares = [np.array(labelled_shares(item)) for item in items]
    chosen: dict[str, Selections] = {}
    rows: list[dict[str, Any]] = []
    results: list[NamedResult] = []
    gains: dict[str, Comparisons] = {}
    files: dict[str, str] = {}
    rule = declared.options["equal_points"]
    for condition, asked in frame.groupby("condition", sort=False):
        name = str(condition)
        selected = choose(name, asked, items, rule=rule, seed=declared.seed)
        row = selections.condition_row(name, asked)
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
        together = families.one_family(gains, family="gain")
        results.append(NamedResult("gain", "Gain over a candidate at random", "primary", together))
    compared = _compare(chosen, table, items, shares, declared)
    abouts = {who: About(stratum=who, varied="strategy") for who in compared}
    for who, tested in compared.items():
        between = ("crowd", "Best chosen, strategies compared", tested)
        results += named_results(who, "primary", between, about=abouts[who])
    results = families.jointly(
        results, {"gain", *(f"crowd.{who}" for who in compared)}, family=_FAMILY
    )
    by_id = {r.id: r for r in results}
    headlines = list(audit_headlines(results))
    if gains:
        claims = families.headlines_of_rows(
            by_id["gain"], estimand="rate_difference", about=About(varied="choice")
        )
        for name, claim in zip(gains, claims, strict=True):
            about = replace(claim.about, stratum=name, conditions=(name,))
            headlines.append(replace(claim, about=about))
    for who, about in abouts.items():
        headlines += families.headlines_of_rows(
            by_id[f"crowd.{who}"], estimand="best_chosen", about=about
        )
    rows_shown = (
        declared_row("best_chosen", table["condition"], ids="best.{}"),
        results_row(
            "gain", "Gain over one drawn answer", "Gain", "rate_difference",
            "gain/chosen ({}):drawn at random", table["condition"],
        ),
        declared_row("intransitive_triads", table["condition"], ids="circles.{}"),
    )  # fmt: skip
    return Analysis(
        experiment=declared.experiment,
        question=declared.question,
        drawing=contrast_drawing(rows_shown, ranked("best_share", "tokens", caption=_DRAWN)),
        headlines=tuple(headlines),
        conditions=table,
        results=tuple(sort_by_role(results)),
        limitations=(*selections.selection_limits(frame, table), *_LIMITS),
        rows=rows_shown,
        condition_metrics=metrics_of_conditions(rows, _METRICS),
        files=files,
    )  # fmt: skip


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
    row |= selections.spent_on_a_verdict(asked)
    cost = row["cost_usd"]
    row["cost_per_chosen"] = cost / row["n_chosen"] if row["n_chosen"] else math.nan
    best, chance, *_ = _outcomes(chosen, shares).T
    share = None
    if np.isfinite(best).any():
        share = mean_share(
            best, cluster=clusters, level=declared.level, name="best_chosen",
            label="Best candidate chosen",
        )  # fmt: skip
        row["best_at_random"] = float(np.nanmean(np.where(np.isnan(best), np.nan, chance)))
    circles = _circles(chosen, items, declared)
    return selections.entered(
        row, name,
        ("best_share", "primary", "best", "Best chosen", share),
        ("circles", "secondary", "circles", "Circular triads", circles),
    )  # fmt: skip


def _outcomes(chosen: Selections, shares: Sequence[Floats]) -> Floats:
    """Whether the best candidate is chosen, the chance of it, and labelled shares won.

    The shares are those of a random candidate and of the chosen one; NaN where not known.
    """
    out = np.full((len(shares), 4), np.nan)
    for row, index, share in zip(out, chosen.index, shares, strict=True):
        if np.isfinite(share).any():
            best = share >= np.nanmax(share) - 1e-9
            row[1] = np.mean(best)
            if index is not None:
                row[0] = best[index]
                if np.isfinite(share[index]):
                    row[2:] = np.nanmean(share), share[index]
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
    rates = _outcomes(chosen, shares)[:, 2:]
    kept = np.isfinite(rates).all(axis=1)
    if kept.sum() < _FEWEST:
        return None
    row["gain"] = float(np.mean(rates[kept][:, 1] - rates[kept][:, 0]))
    clusters = np.array([item.cluster for item in items], dtype=object)
    names = ["drawn at random", "chosen"]
    shift = mean_shift(rates[kept], conditions=names, cluster=clusters[kept], level=declared.level)
    return selections.label_shares(shift)


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
    by_judge = table.groupby(["judge", "temperature"], sort=False, dropna=False)
    for (judge, temperature), own in by_judge:
        right = np.column_stack([_outcomes(chosen[str(c)], shares)[:, 0] for c in own["condition"]])
        kept = np.isfinite(right).all(axis=1)
        if right.shape[1] < 2 or kept.sum() < _FEWEST:
            continue
        names = [str(s) for s in own["factor_strategy"]]
        test = cochran_q_test(
            right[kept], names=names, cluster=clusters[kept], **declared.resampling
        )
        out[f"{judge} at {heat(temperature)}"] = test.mcnemar(level=declared.level)
    return out


def _file(name: str, number: int) -> str:
    plain = "".join(c if c.isalnum() or c in "-.=@" else "_" for c in name)
    return f"{number + 1:02d}-{plain}"[:100]


TIES: Mapping[str, str] = {
    "judgments": "the larger share of single judgments won, then a seeded draw",
    "random": "a seeded draw",
    "drop": "none is chosen",
}
"""How candidates with equal points are handled."""


@dataclass(frozen=True, kw_only=True)
class Selections:
    """Choices of one condition, question by question.

    Attributes
    ----------
    standings : tuple of RoundRobin or None
        None where a pair has no verdict.
    index : tuple of int or None
        The chosen candidate; None where there is none.
    undecided : int
        Questions in which several had most points.
    verdicts : tuple of mapping
        All verdicts on each pair of candidates.
    """

    standings: tuple[RoundRobin | None, ...]
    index: tuple[int | None, ...]
    undecided: int
    verdicts: tuple[dict[tuple[int, int], list[str]], ...]


def rule_in_words(rule: str) -> str:
    """What a rule for equal points does.

    Raises
    ------
    InputError
        If the rule is unknown.

    Examples
    --------
    >>> rule_in_words("drop")
    'none is chosen'
    """
    if rule not in TIES:
        raise InputError(f"equal_points: must be one of {', '.join(TIES)}, got {rule!r}.")
    return TIES[rule]


def choose(
    name: str, asked: pd.DataFrame, items: Sequence[Item], *, rule: str, seed: int
) -> Selections:
    """The winner of each question's round robin.

    Parameters
    ----------
    name : str
        The condition; with the seed it fixes the draws.
    asked : DataFrame
        Its verdicts: ``item_id`` (the pair's name) and ``choice``.
    items : sequence of Item
    rule : {"judgments", "random", "drop"}
        How candidates with equal points are handled.
    seed : int

    Returns
    -------
    Selections

    Raises
    ------
    InputError
        If the rule is unknown.
    """
    rule_in_words(rule)
    by_pair: dict[str, list[str]] = {}
    for pair, choice in zip(asked["item_id"], asked["choice"], strict=True):
        by_pair.setdefault(pair, []).append(choice)
    standings: list[RoundRobin | None] = []
    index: list[int | None] = []
    verdicts: list[dict[tuple[int, int], list[str]]] = []
    undecided = 0
    for item in items:
        pairs = list(combinations(range(len(item.responses)), 2))
        verdicts_by_pair = {p: by_pair.get(pair_name(item, p), []) for p in pairs}
        flat = [(i, j, v) for (i, j), listed in verdicts_by_pair.items() for v in listed]
        first, second = (np.array([row[k] for row in flat], dtype=int) for k in (0, 1))
        words = np.array([v for *_, v in flat], dtype=object)
        standing = round_robin(first, second, words, n_candidates=len(item.responses))
        verdicts.append(verdicts_by_pair)
        standings.append(standing if standing.complete else None)
        undecided += standing.complete and len(standing.leaders()) > 1
        index.append(_winner(standing, f"{seed}\0{name}\0{item.id}", rule))
    return Selections(
        standings=tuple(standings),
        index=tuple(index),
        undecided=undecided,
        verdicts=tuple(verdicts),
    )


def _winner(standing: RoundRobin, draw: str, rule: str) -> int | None:
    leaders = standing.leaders(by_share=rule == "judgments")
    if not standing.complete or (len(leaders) > 1 and rule == "drop"):
        return None
    return leaders[_drawn(draw, len(leaders))]


def _drawn(draw: str, among: int) -> int:
    """A place that depends on the text alone."""
    digest = hashlib.sha256(draw.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") % among


def random_selections(items: Sequence[Item], *, seed: int) -> Selections:
    """A candidate of each question, drawn by seed: what a selection must be better than."""
    index = tuple(_drawn(f"{seed}\0at random\0{item.id}", len(item.responses)) for item in items)
    nothing = (None,) * len(items)
    return Selections(standings=nothing, index=index, undecided=0, verdicts=({},) * len(items))


def chat_lines(chosen: Selections, items: Sequence[Item]) -> str:
    """The chosen responses as chat-format JSONL: the question's turns and the response's.

    A question whose chosen response says nothing in a turn is left out.
    """
    lines = []
    for item, index in zip(items, chosen.index, strict=True):
        if index is None:
            continue
        first, *further = item.turns
        asked = [f"{item.context}\n\n{first}" if item.context else first, *further]
        messages = [
            {"role": role, "content": text}
            for exchange in zip(asked, item.responses[index].turns, strict=True)
            for role, text in zip(("user", "assistant"), exchange, strict=True)
        ]
        if all(m["content"].strip() for m in messages):
            lines.append(json.dumps({"messages": messages}))
    return "".join(f"{line}\n" for line in lines)


def authors_csv(chosen: Mapping[str, Selections], items: Sequence[Item]) -> str:
    """The share of its comparisons that each author's responses win, a condition, as CSV."""
    rows = [
        {"condition": name, "author": response.author, "share_won": share}
        for name, choice_of_pair in chosen.items()
        for item, standing in zip(items, choice_of_pair.standings, strict=True)
        if standing is not None
        for response, share in zip(item.responses, standing.share, strict=True)
        if response.author
    ]
    if not rows:
        return ""
    by = pd.DataFrame(rows).groupby(["condition", "author"], sort=False)["share_won"]
    return csv_text(by.agg(responses="count", share_won="mean").reset_index())


def standings_csv(
    chosen: Mapping[str, Selections], items: Sequence[Item], shares: Sequence[Floats]
) -> str:
    """Wins, points and labelled share of every candidate, as CSV."""
    rows = []
    for name, choice_of_pair in chosen.items():
        for item, standing, index, share in zip(
            items, choice_of_pair.standings, choice_of_pair.index, shares, strict=True
        ):
            if standing is None:
                continue
            own = standing.tidy()
            own.insert(0, "condition", name)
            own.insert(1, "item_id", item.id)
            own.insert(3, "author", [r.author for r in item.responses])
            chosen_rows = [i == index for i in range(len(own))]
            rows.append(own.assign(labelled_share=share, chosen=chosen_rows))
    return csv_text(pd.concat(rows, ignore_index=True)) if rows else ""
