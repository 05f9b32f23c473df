"""Two leaderboards of the same systems: by pairwise verdicts and by scores, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.analysis.asked_rows import asked_row
from judgestats.analysis.leaderboard import (
    FEWEST,
    LENGTH,
    fitted_strengths,
    meetings,
    rank_estimates,
    strength_table,
)
from judgestats.analysis.limits import Limit
from judgestats.analysis.outcome import Analysis, NamedResult
from judgestats.analysis.supplements import Rows
from judgestats.errors import InputError
from judgestats.results import About, Headline, Row
from judgestats.stats.inference.cluster_jackknife import cluster_sums
from judgestats.stats.inference.resampling import cluster_codes
from judgestats.stats.inference.result import Estimate, Sample
from judgestats.stats.instrument.fitting import cluster_df, wald_interval
from judgestats.stats.instrument.many_facet import many_facet
from judgestats.stats.instrument.strengths import rank_intervals

BY_SCORES = "by scores"
_SHOWN = 4


@dataclass(frozen=True)
class _ByScores:
    """Systems in the order of their points, the best first."""

    systems: tuple[str, ...]
    points: tuple[Estimate, ...]
    ranks: tuple[tuple[int, int], ...]
    how: str


def leaderboards(
    pairs: pd.DataFrame, scores: pd.DataFrame, *, level: float = 0.95, seed: int = 0
) -> pd.DataFrame:
    """Systems by pairwise verdicts and by scores, side by side.

    Parameters
    ----------
    pairs : DataFrame
        ``choice`` (a, b or tie), ``system_a``, ``system_b``, ``cluster`` (the question) and, where
        it is known, ``order`` (ab, ba). ``length_a`` and ``length_b``, the lengths of the texts,
        are taken out as the log of their ratio.
    scores : DataFrame
        ``score``, ``system`` (or ``author``), ``cluster``, and with several judges ``judge`` and
        ``item_id``: their severity is then taken out by the many-facet model.
    level : float
    seed : int

    Returns
    -------
    DataFrame
        A row a system, the strongest by pairs first: ``strength`` with ``low`` and ``high``, ranks,
        the chance of standing below the next one, then ``points`` with its interval (the mean
        score less the mean of the systems), ``rank_points`` and ``best_rank_points`` and
        ``worst_rank_points``, which hold for all systems at once. ``attrs``: ``tau``, Kendall's
        tau-b between both orders, ``points_from``, how points were got, and with lengths
        ``length_effect``, the log odds that a unit of the log ratio adds.

    Raises
    ------
    InputError
        If the systems differ, fewer than three can be compared, or the model refuses.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> quality = {"x": 1.0, "y": 0.0, "z": -1.0}
    >>> pairs = pd.DataFrame([
    ...     {"choice": "a" if rng.random() < 1 / (1 + np.exp(quality[b] - quality[a])) else "b",
    ...      "system_a": a, "system_b": b, "order": "ab", "cluster": q}
    ...     for q in range(40) for a in "xyz" for b in "xyz" if a != b])
    >>> scores = pd.DataFrame([{"score": round(6 + quality[s] + rng.normal()), "system": s,
    ...                         "cluster": q} for q in range(40) for s in "xyz"])
    >>> board = leaderboards(pairs, scores)
    >>> list(board["system"]), board.attrs["tau"]
    (['x', 'y', 'z'], 1.0)
    """
    used = meetings(pairs)
    if used is None:
        raise InputError(
            f"leaderboards: pairs need verdicts a, b or tie between {FEWEST} systems or more "
            "(system_a, system_b). Two systems are compared by their win rate."
        )
    if LENGTH in used and not np.isfinite(used[LENGTH].to_numpy(float)).all():
        raise InputError(
            "leaderboards: length_a and length_b must be above 0 in every row with a verdict. "
            "Leave both columns out where lengths are not known."
        )
    strengths = fitted_strengths(used, level, seed)
    by_scores = _by_scores(scores, level, seed)
    board, tau = _side_by_side(strength_table(strengths), by_scores)
    board.attrs |= {"tau": tau, "points_from": by_scores.how}
    lengths = [t.estimate for t in strengths.others if t.name == "slope_of_covariate"]
    if lengths:
        board.attrs["length_effect"] = lengths[0]
    return board


def with_scores_beside(
    analysis: Analysis, scores: pd.DataFrame, *, level: float, seed: int
) -> Analysis:
    """An audit of pairwise verdicts with the same systems' scores beside.

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
        raise InputError(
            str(refused[0])
            if refused
            else "analyze --beside: the judgments are no verdicts between three named systems or "
            "more, so there is no order to set scores beside. Name first the file of verdicts, "
            "with the columns model_a and model_b."
        )
    by_scores = _by_scores(scores, level, seed)
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
        about = About(conditions=(name,))
        described += [
            NamedResult(
                id=f"order_in_common.{name}", title=f"{common.label} ({name})",
                role="descriptive", result=common, about=about,
            ),
            replace(
                named, result=Rows(table=board),
                title=f"Systems by pairwise verdicts and by scores ({name}; {by_scores.how})",
            ),
        ]  # fmt: skip
        limits += _contradictions(board, name)
        headlines.append(
            Headline(
                id=f"headline.order_in_common.{name}", hypothesis="strength",
                claim="described" if np.isfinite(tau) else "undefined", about=about,
                estimand="order_in_common", rests_on=(f"order_in_common.{name}",),
                reason=common.reason, says=_in_words(board),
            )
        )  # fmt: skip
    systems = list(boards[0].result.tidy()["system"])
    taken = {f"strength_{system}" for system in systems}
    kept = [replace(r, beside={}) if r.key in taken else r for r in analysis.rows]
    first = [r for r in kept if r.key in taken]
    return replace(
        analysis,
        described=(*(r for r in analysis.described if r not in boards), *described),
        headlines=(*headlines, *analysis.headlines),
        limitations=(*limits, *analysis.limitations),
        rows=(
            *_rows(systems[:_SHOWN], names),
            *first,
            *(r for r in kept if r not in first),
        ),
    )


def _rows(systems: Sequence[str], names: Sequence[str]) -> tuple[Row, ...]:
    """Ranks by verdicts and by scores, points, and how far both orders agree."""
    return (
        *(
            asked_row(
                f"rank_{system}", f"rank of {system}", f"{system}'s rank", "rank",
                f"rank.{system}.{{}}", [*names, BY_SCORES], note="(intervals hold at once)",
            )
            for system in systems
        ),
        asked_row(
            "order_in_common", "both orders agree", "orders agree", "order_in_common",
            "order_in_common.{}", names, note="(tau-b)",
        ),
        *(
            asked_row(
                f"points_{system}", f"points of {system}", f"{system}'s points", "quality_points",
                f"points.{system}.{{}}", [BY_SCORES], note="from the mean of the systems",
            )
            for system in systems
        ),
    )  # fmt: skip


def _in_words(board: pd.DataFrame) -> str:
    """Who leads by verdicts, and who by scores.

    Examples
    --------
    >>> _in_words(pd.DataFrame({"system": ["x", "y"], "points": [1.0, 2.0], "rank_points": [2, 1]}))
    'by verdicts x leads, by scores y'
    """
    first = str(board["system"].iloc[0])
    best = str(board["system"].iloc[int(board["points"].argmax())])
    if best != first:
        return f"by verdicts {first} leads, by scores {best}"
    same = board["rank_points"].is_monotonic_increasing
    return f"by verdicts and by scores {first} leads" + (", all in the same order" * same)


def _contradictions(board: pd.DataFrame, condition: str) -> list[Limit]:
    """Pairs of systems that both orders tell apart, each the other way."""
    rows = board.to_dict("records")
    turned = [
        f"{a['system']} above {b['system']}"
        for a in rows
        for b in rows
        if a["worst_rank"] < b["best_rank"] and a["best_rank_points"] > b["worst_rank_points"]
    ]
    if not turned:
        return []
    more = f" and {len(turned) - 3} more" if len(turned) > 3 else ""
    return [
        Limit(
            f"Verdicts on pairs ({condition}) put {', '.join(turned[:3])}{more}, and scores put "
            "them the other way, both beyond chance: the two ways of judging do not reward the "
            "same.",
            code="orders_contradict",
            short=f"by scores the other way: {turned[0]}",
        )
    ]


def _side_by_side(board: pd.DataFrame, by_scores: _ByScores) -> tuple[pd.DataFrame, float]:
    """A row a system with both places, and Kendall's tau-b between them."""
    from scipy import stats

    if set(by_scores.systems) != set(board["system"]):
        apart = sorted(set(by_scores.systems) ^ set(board["system"]))
        raise InputError(
            f"leaderboards: {', '.join(apart[:5])} stand in one of the two tables only. Give both "
            "for the same systems."
        )
    intervals = [p.interval for p in by_scores.points]
    points = pd.DataFrame(
        {
            "system": by_scores.systems,
            "points": [p.estimate for p in by_scores.points],
            "points_low": [i.low if i else np.nan for i in intervals],
            "points_high": [i.high if i else np.nan for i in intervals],
            "best_rank_points": [best for best, _ in by_scores.ranks],
            "worst_rank_points": [worst for _, worst in by_scores.ranks],
        }
    )
    out = board.merge(points, on="system")
    out["rank_points"] = out["points"].rank(ascending=False, method="min").astype(int)
    return out, float(stats.kendalltau(out["strength"], out["points"]).statistic)


def _by_scores(scores: pd.DataFrame, level: float, seed: int) -> _ByScores:
    """Each system's points and rank, and how they were got."""
    column = next((c for c in ("system", "author") if c in scores), None)
    read = scores[scores["score"].notna()] if "score" in scores else scores.iloc[:0]
    if column is not None:
        read = read[read[column].astype(str).ne("")]
    if column is None or not len(read):
        raise InputError(
            "leaderboards: the scores need a number (score) and the system that it is of: a "
            "column model, system or candidate beside one that names the judge."
        )
    systems, of = np.unique(read[column].astype(str).to_numpy(str), return_inverse=True)
    cluster = read["cluster"].astype(str).to_numpy(str)
    if {"judge", "item_id"} <= set(read) and len(read["judge"].unique()) > 1:
        once = read.assign(system=systems[of]).drop_duplicates(["judge", "item_id", "system"])
        fit = many_facet(
            once["score"].to_numpy(float),
            answer=(once["item_id"].astype(str) + " / " + once["system"]).to_numpy(str),
            facets={"judge": once["judge"].to_numpy(str)}, system=once["system"].to_numpy(str),
            cluster=once["cluster"].astype(str).to_numpy(str), level=level, seed=seed,
        )  # fmt: skip
        return _ByScores(
            tuple(s.level for s in fit.systems), tuple(s.points for s in fit.systems),
            fit.system_ranks, "many-facet model, severity of judges taken out",
        )  # fmt: skip
    return _of_means(read["score"].to_numpy(float), systems, of.reshape(-1), cluster, level, seed)


def _of_means(
    score: NDArray[np.float64], systems: NDArray[np.str_], of: NDArray[np.int64],
    cluster: NDArray[np.str_], level: float, seed: int,
) -> _ByScores:  # fmt: skip
    """Mean scores less the mean of the systems; questions that all answered cancel."""
    codes = cluster_codes(cluster, score.size, where="leaderboards")
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
    return _ByScores(
        names,
        tuple(
            Estimate(
                name="quality_points", label=f"Quality of system {name} in points",
                estimate=float(value), std_error=float(se), sample=sample, estimator="mean score",
                interval=wald_interval(float(value), float(se), df=df, level=level,
                                       sandwich="CR1"),
            )
            for name, value, se in zip(names, points, errors, strict=True)
        ),
        rank_intervals(points, covariance, df=df, level=level, seed=seed),
        "mean score",
    )  # fmt: skip
