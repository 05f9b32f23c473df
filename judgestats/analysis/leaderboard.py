"""Leaderboards from pairwise verdicts and from scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np
import pandas as pd

from judgestats.analysis.audit_answer import FEWEST_SYSTEMS
from judgestats.analysis.coefficients import declared_row, results_row
from judgestats.analysis.families import AnalysisPlan, Hypothesis, described_headline
from judgestats.analysis.limits import Limit
from judgestats.analysis.records import Analysis, Found, NamedResult, condition_result
from judgestats.analysis.supplements import Rows
from judgestats.arrays import Floats
from judgestats.errors import InputError
from judgestats.results import Headline, Row, bounds_of
from judgestats.stats.inference import Estimate, Interval, Sample, cluster_codes
from judgestats.stats.inference.jackknife import cluster_sums
from judgestats.stats.models.bradley_terry import Strengths, bradley_terry, rank_intervals
from judgestats.stats.models.ordinal import cluster_df, wald_interval

STRENGTH = Hypothesis(
    "strength",
    "Which system is preferred, adjusted for opponent, position, and length?",
    "Bradley-Terry with Davidson's ties, an order effect and, where lengths are known, "
    "the log of their ratio. Sandwich errors over clusters. With three systems or more: "
    "simultaneous intervals of ranks, and the probability of another order",
)
LENGTH = "log_length_ratio"
FEWEST = FEWEST_SYSTEMS
_MOST = 50_000
_SHOWN = 4
_FURTHER = {
    "order_effect": ("position", "Effect of the first position", "First position"),
    "slope_of_covariate": ("length", "Effect of e times the length", "Length"),
}
"""Further terms of the model on the screen: key, label, and short label of their row."""
_VERDICTS = {"a", "b", "tie"}
_TURNED = {"a": "b", "b": "a", "tie": "tie"}


def strength_results(
    frame: pd.DataFrame, declared: AnalysisPlan
) -> tuple[list[NamedResult], list[NamedResult], list[Limit]]:
    """Strengths of the systems of every condition, their table, and why there are none.

    Parameters
    ----------
    frame : DataFrame
        The parsed judgments; ``system_a`` and ``system_b`` name the systems of each row.
    declared : AnalysisPlan

    Returns
    -------
    results, described : list of NamedResult
    limits : list of Limit
        A refusal of the model: systems that are not linked, or that always win.
    """
    results: list[NamedResult] = []
    described: list[NamedResult] = []
    limits: list[Limit] = []
    refused: dict[str, list[str]] = {}
    if not {"system_a", "system_b", "choice"} <= set(frame):
        return results, described, limits
    for name, own in frame.groupby("condition", sort=False):
        used = meetings(own)
        if used is None:
            continue
        condition = str(name)
        if len(used) > _MOST:
            why = f"{len(used)} verdicts take long: use judgestats.stats.bradley_terry on a part"
            refused.setdefault(why, []).append(condition)
            continue
        if LENGTH in used and not np.isfinite(used[LENGTH].to_numpy(float)).all():
            used = used.drop(columns=LENGTH)
            text = (
                f"Lengths were not taken out of the systems' strengths ({condition}): not every "
                "row with a verdict has two lengths above 0."
            )
            short = "lengths not taken out of strengths"
            limits.append(Limit(text, code="no_lengths", short=short))
        try:
            strengths = fitted_strengths(used, declared.level, declared.seed)
        except InputError as refusal:
            why = str(refusal).removeprefix("bradley_terry: ")
            refused.setdefault(why, []).append(condition)
            continue

        ranks = rank_estimates(strengths.systems, strengths.ranks, strengths.sample, declared.level)
        further = [t for t in strengths.others if t.name in _FURTHER]
        named = zip(strengths.systems, strengths.strengths, strict=True)
        terms: Found = [(f"strength.{s}", f"Strength of {s}", t) for s, t in named]
        terms += [(f"strength.{t.name}", t.label, t) for t in further]
        places: Found = [
            *((f"rank.{s}", r.label, r) for s, r in zip(strengths.systems, ranks, strict=True)),
            ("leaderboard", "Systems by pairwise verdicts", Rows(table=strength_table(strengths))),
        ]  # fmt: skip
        results += [condition_result(k, t, condition, r, role="secondary") for k, t, r in terms]
        described += [
            condition_result(k, t, condition, r, role="descriptive") for k, t, r in places
        ]
    limits += [_refusal_limit(named_conditions, why) for why, named_conditions in refused.items()]
    return results, described, limits


def _refusal_limit(conditions: Sequence[str], why: str) -> Limit:
    where = conditions[0] if len(conditions) == 1 else f"{len(conditions)} conditions"
    text = f"The systems were not put in order by pairwise verdicts ({where}): {why}"
    short = "systems not ordered by pairwise verdicts"
    return Limit(text, code="no_strengths", short=short)


def strength_rows(results: Sequence[NamedResult]) -> tuple[Row, ...]:
    """A row for each of the first systems, in the order of the first condition; then the place's.

    Parameters
    ----------
    results : sequence of NamedResult
        Of `strength_results`.

    Returns
    -------
    tuple of Row
    """
    names = list(dict.fromkeys(n.about.conditions[0] for n in results))
    first = [n for n in results if n.about.conditions == tuple(names[:1])]
    systems = [_system_name(n) for n in first if _system_name(n) not in _FURTHER]
    there = {_system_name(n) for n in results}
    equal = "(logits, equal length)" if "slope_of_covariate" in there else "(logits)"
    rows = [
        results_row(
            f"strength_{system}", f"Strength of {system}", system, "strength",
            f"strength.{system}.{{}}", names, note=equal,
            beside={"rank, all at once": f"rank.{system}.{names[0]}"} if len(names) == 1 else {},
        )
        for system in systems[:_SHOWN]
    ]  # fmt: skip
    rows += [
        results_row(
            key, ask, short, estimand, f"strength.{estimand}.{{}}", names, note="(log odds)"
        )
        for estimand, (key, ask, short) in _FURTHER.items()
        if estimand in there
    ]
    return tuple(rows)


def _system_name(named: NamedResult) -> str:
    return named.id.removeprefix("strength.").removesuffix(f".{named.about.conditions[0]}")


def meetings(own: pd.DataFrame) -> pd.DataFrame | None:
    """Verdicts between two named systems, as shown; None where these are no such verdicts.

    If both lengths are columns, a column holds the log of their ratio. It is not finite where a
    length is missing or 0.
    """
    choices = own["choice"].astype(str)
    systems = own[["system_a", "system_b"]].astype(str)
    present = (systems != "").all(axis=1) & (systems["system_a"] != systems["system_b"])
    if not set(choices[present]) <= {*_VERDICTS, "", "None", "nan"}:
        return None
    kept = present & choices.isin(_VERDICTS)
    if len(np.unique(systems[kept].to_numpy(str))) < FEWEST:
        return None
    order = own["order"].astype(str)[kept] if "order" in own else pd.Series("", own.index[kept])
    second = order.eq("ba").to_numpy()
    a, b = (systems.loc[kept, c].to_numpy(object) for c in ("system_a", "system_b"))
    met = pd.DataFrame({
        "verdict": np.where(second, choices[kept].map(_TURNED), choices[kept]),
        "first": np.where(second, b, a), "second": np.where(second, a, b),
        "cluster": own.loc[kept, "cluster"].astype(str).to_numpy(object),
        "placed": order.isin(["ab", "ba"]).to_numpy(),
    })  # fmt: skip
    if {"length_a", "length_b"} <= set(own):
        shown = own.loc[kept, ["length_a", "length_b"]].to_numpy(float)
        ratio = np.log(np.where(shown > 0, shown, np.nan)) @ [1.0, -1.0]
        met[LENGTH] = np.where(second, -ratio, ratio)
    return met


def fitted_strengths(used: pd.DataFrame, level: float, seed: int) -> Strengths:
    """The model of `meetings`, with order and lengths where every row has them."""
    return bradley_terry(
        used["verdict"].to_numpy(str), system_a=used["first"].to_numpy(str),
        system_b=used["second"].to_numpy(str), order=bool(used["placed"].all()),
        covariates={LENGTH: used[LENGTH].to_numpy(float)} if LENGTH in used else None,
        cluster=used["cluster"].to_numpy(str), level=level, seed=seed,
    )  # fmt: skip


def rank_estimates(
    systems: Sequence[str], ranks: Sequence[tuple[int, int]], sample: Sample, level: float
) -> tuple[Estimate, ...]:
    """The place of each system, the best first, with intervals that hold for all at once.

    Examples
    --------
    >>> [str(e.interval) for e in rank_estimates("xy", [(1, 1), (2, 2)], Sample(n_items=9), .95)]
    ['[1.000, 1.000]', '[2.000, 2.000]']
    """
    how = "simultaneous over all pairs of systems"
    return tuple(
        Estimate(
            name="rank", label=f"Rank of {system}", estimate=float(place), sample=sample,
            interval=Interval(low=float(best), high=float(worst), level=level, method=how),
        )
        for place, (system, (best, worst)) in enumerate(zip(systems, ranks, strict=True), start=1)
    )  # fmt: skip


def strength_table(strengths: Strengths) -> pd.DataFrame:
    """A row per system, the strongest first."""
    other = {(pair.a, pair.b): pair.effect for pair in strengths.pairs}
    low, high = zip(*(bounds_of(term.interval) for term in strengths.strengths), strict=True)
    following = zip(strengths.systems, [*strengths.systems[1:], ""], strict=True)
    return pd.DataFrame({
        "system": strengths.systems,
        "strength": [term.estimate for term in strengths.strengths], "low": low, "high": high,
        "best_rank": [best for best, _ in strengths.ranks],
        "worst_rank": [worst for _, worst in strengths.ranks],
        "below_the_next": [other.get(pair, np.nan) for pair in following],
    })  # fmt: skip


BY_SCORES = "by scores"


@dataclass(frozen=True)
class _ScoreRanking:
    """Systems in the order of their points, the best first."""

    systems: tuple[str, ...]
    points: tuple[Estimate, ...]
    ranks: tuple[tuple[int, int], ...]
    how: str


def add_scores(analysis: Analysis, scores: pd.DataFrame, *, level: float, seed: int) -> Analysis:
    """Add scores of the same systems to an audit of pairwise verdicts.

    Parameters
    ----------
    analysis : Analysis
        Of verdicts between named systems.
    scores : DataFrame
        The parsed judgments with scores; ``author`` names the system.
    level : float
    seed : int

    Returns
    -------
    Analysis
        Its first rows are the ranks by both, the strengths and the points.

    Raises
    ------
    InputError
        The verdicts order no systems, the scores name none, or they name others.
    """
    boards = [r for r in analysis.described if r.id.startswith("leaderboard.")]
    if not boards:
        refused = [x for x in analysis.limitations if getattr(x, "code", "") == "no_strengths"]
        none = (
            "analyze --beside: the judgments are not verdicts between three or more named systems, "
            "so scores have no order. Name first a file with columns model_a and model_b."
        )
        raise InputError(str(next(iter(refused), none)))
    by_scores = _rank_scores(scores, level, seed)
    placed = rank_estimates(by_scores.systems, by_scores.ranks, by_scores.points[0].sample, level)
    described: list[NamedResult] = [
        NamedResult(
            id=f"{kind}.{system}.{BY_SCORES}", title=f"{e.label} ({BY_SCORES})",
            role="descriptive", result=e,
        )
        for kind, estimates in (("points", by_scores.points), ("rank", placed))
        for system, e in zip(by_scores.systems, estimates, strict=True)
    ]  # fmt: skip
    limits: list[Limit] = []
    headlines: list[Headline] = []
    names = [r.about.conditions[0] for r in boards]
    for name, named in zip(names, boards, strict=True):
        board, tau = _side_by_side(named.result.tidy(), by_scores)
        common = Estimate(
            name="order_in_common", label="Order by verdicts and by scores", estimate=tau,
            sample=Sample(n_items=len(board)), estimator="Kendall's tau-b over the systems",
            reason="" if np.isfinite(tau) else "all systems have the same points",
        )  # fmt: skip
        order = condition_result("order_in_common", common.label, name, common, role="descriptive")
        title = f"Systems by pairwise verdicts and by scores ({name}; {by_scores.how})"
        described += [order, replace(named, result=Rows(table=board), title=title)]
        limits += _contradictions(board, name)
        says = _leader_sentence(board)
        headlines.append(described_headline(order, hypothesis="strength", says=says))
    systems = list(boards[0].result.tidy()["system"])
    taken = {f"strength_{system}" for system in systems}
    first = [replace(r, beside={}) for r in analysis.rows if r.key in taken]
    rest = [r for r in analysis.rows if r.key not in taken]
    return replace(
        analysis,
        described=(*(r for r in analysis.described if r not in boards), *described),
        headlines=(*headlines, *analysis.headlines),
        limitations=(*limits, *analysis.limitations),
        rows=(*_rows(systems[:_SHOWN], names), *first, *rest),
    )


def _rows(systems: Sequence[str], names: Sequence[str]) -> tuple[Row, ...]:
    """Ranks by verdicts and by scores, points, and how far both orders agree."""
    return (
        *(
            results_row(
                f"rank_{system}", f"Rank of {system}", f"Rank of {system}", "rank",
                f"rank.{system}.{{}}", [*names, BY_SCORES], note="(intervals hold at once)",
            )
            for system in systems
        ),
        declared_row("order_in_common", names, ids="order_in_common.{}"),
        *(
            results_row(
                f"points_{system}", f"Quality of {system}", "Quality", "quality_points",
                f"points.{system}.{{}}", [BY_SCORES], note="from the mean of the systems",
            )
            for system in systems
        ),
    )  # fmt: skip


def _leader_sentence(board: pd.DataFrame) -> str:
    """Who leads by verdicts, and who by scores.

    Examples
    --------
    >>> _leader_sentence(pd.DataFrame({"system": ["x", "y"], "points": [1.0, 2.0],
    ...     "rank_points": [2, 1]}))
    'by verdicts x leads, by scores y'
    """
    first = str(board["system"].iloc[0])
    best = str(board["system"].iloc[int(board["points"].argmax())])
    if best != first:
        return f"by verdicts {first} leads, by scores {best}"
    same = board["rank_points"].is_monotonic_increasing
    return f"by verdicts and by scores {first} leads" + (", all in the same order" * same)


def _contradictions(board: pd.DataFrame, condition: str) -> list[Limit]:
    """Pairs of systems with significant differences in opposite directions."""
    turned = [
        f"{a['system']} above {b['system']}"
        for a, b in permutations(board.to_dict("records"), 2)
        if a["worst_rank"] < b["best_rank"] and a["best_rank_points"] > b["worst_rank_points"]
    ]
    if not turned:
        return []
    more = f" and {len(turned) - 3} more" if len(turned) > 3 else ""
    text = (
        f"Verdicts on pairs ({condition}) rank {', '.join(turned[:3])}{more}. Scores rank them in "
        "the reverse order, and both differences are significant. The two ways of judging do not "
        "reward the same qualities."
    )
    return [Limit(text, code="orders_contradict", short=f"by scores the other way: {turned[0]}")]


def _side_by_side(board: pd.DataFrame, by_scores: _ScoreRanking) -> tuple[pd.DataFrame, float]:
    """A row per system with both places, and Kendall's tau-b between them."""
    from scipy import stats

    if set(by_scores.systems) != set(board["system"]):
        apart = sorted(set(by_scores.systems) ^ set(board["system"]))
        raise InputError(
            f"leaderboards: only one of the two tables has {', '.join(apart[:5])}. Give both for "
            "the same systems."
        )
    low, high = zip(*(bounds_of(p.interval) for p in by_scores.points), strict=True)
    points = pd.DataFrame({
        "system": by_scores.systems,
        "points": [p.estimate for p in by_scores.points], "points_low": low, "points_high": high,
        "best_rank_points": [best for best, _ in by_scores.ranks],
        "worst_rank_points": [worst for _, worst in by_scores.ranks],
    })  # fmt: skip
    out = board.merge(points, on="system")
    out["rank_points"] = out["points"].rank(ascending=False, method="min").astype(int)
    return out, float(stats.kendalltau(out["strength"], out["points"]).statistic)


def _rank_scores(scores: pd.DataFrame, level: float, seed: int) -> _ScoreRanking:
    """Each system's points and rank, and how they were got."""
    column = next((c for c in ("system", "author") if c in scores), None)
    read = scores[scores["score"].notna()] if "score" in scores else scores.iloc[:0]
    if column is not None:
        read = read[read[column].astype(str).ne("")]
    if column is None or not len(read):
        raise InputError(
            "leaderboards: the scores need a number (score) and its system: a column model, "
            "system, or candidate next to one that names the judge."
        )
    how = "mean score"
    if {"judge", "item_id"} <= set(read) and (n := read["judge"].nunique()) > 1:
        shared = read.groupby(["item_id", column])["judge"].transform("nunique") == n
        if not shared.any():
            raise InputError(
                f"leaderboards: no answer was scored by all {n} judges, so a strict judge and poor "
                "answers look alike. Let all judges score the same answers, or give one judge's."
            )
        read, how = read[shared], f"mean score of the answers that all {n} judges scored"
    return _centred_means(
        read["score"].to_numpy(float), read[column], read["cluster"], level, seed, how
    )


def _centred_means(
    score: Floats, system: pd.Series, cluster: pd.Series, level: float, seed: int,
    how: str,
) -> _ScoreRanking:  # fmt: skip
    """Mean scores minus the mean of the systems; questions that all answered cancel."""
    systems, of = np.unique(system.astype(str).to_numpy(str), return_inverse=True)
    of = of.reshape(-1)
    codes = cluster_codes(cluster.astype(str).to_numpy(str), score.size, where="leaderboards")
    member = (of[:, None] == np.arange(systems.size)).astype(float)
    n = member.sum(axis=0)
    means = score @ member / n
    centre = np.eye(systems.size) - 1 / systems.size
    influence = cluster_sums(member * (score - means[of])[:, None] / n, codes) @ centre
    g = len(influence)
    if g < 2:
        raise InputError(
            "leaderboards: the scores are all of one question (cluster), which shows no variation. "
            "Score answers to several questions."
        )
    covariance = influence.T @ influence * (g / (g - 1))
    best = np.argsort(-means, kind="stable")
    points, covariance = (centre @ means)[best], covariance[np.ix_(best, best)]
    df = cluster_df(codes)
    sample = Sample(n_items=score.size, n_clusters=g)
    errors = np.sqrt(np.diag(covariance))
    names = tuple(map(str, systems[best]))
    return _ScoreRanking(
        names,
        tuple(
            Estimate(
                name="quality_points", label=f"Quality of system {name} in points",
                estimate=float(value), std_error=float(se), sample=sample, estimator="mean score",
                interval=wald_interval(float(value), float(se), df=df, level=level),
            )
            for name, value, se in zip(names, points, errors, strict=True)
        ),
        rank_intervals(points, covariance, df=df, level=level, seed=seed),
        how,
    )  # fmt: skip
