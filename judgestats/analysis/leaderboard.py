"""Systems in order: by pairwise verdicts, whoever met whom, and by scores, side by side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import stats

from judgestats.analysis.asked_rows import asked_row
from judgestats.analysis.limits import Limit
from judgestats.analysis.outcome import NamedResult
from judgestats.analysis.plan import AnalysisPlan, Hypothesis
from judgestats.analysis.supplements import Rows
from judgestats.errors import InputError
from judgestats.results import About, Row
from judgestats.stats.inference.cluster_jackknife import mean_over_clusters
from judgestats.stats.inference.resampling import cluster_codes
from judgestats.stats.instrument.bradley_terry import bradley_terry
from judgestats.stats.instrument.many_facet import many_facet
from judgestats.stats.instrument.strengths import Strengths

__all__ = ["STRENGTH", "leaderboards", "strength_results", "strength_rows"]

STRENGTH = Hypothesis(
    id="strength",
    role="secondary",
    question="Which system is preferred, whoever met whom, the place taken out?",
    test="Bradley-Terry with Davidson's ties and an order effect, sandwich errors over clusters; "
    "ranks whose intervals hold all at once, and the chance that the observed order is the other "
    "one (where three systems or more are named)",
)
LENGTH = "log_length_ratio"
_FEWEST, _MOST = 3, 50_000
_SHOWN = 4
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
    if not {"system_a", "system_b", "choice"} <= set(frame):
        return results, described, limits
    for name, own in frame.groupby("condition", sort=False):
        used = _met(own)
        if used is None:
            continue
        condition, about = str(name), About(conditions=(str(name),))
        if len(used) > _MOST:
            why = f"{len(used)} verdicts take long: use judgestats.stats.bradley_terry on a part"
            limits.append(_refused(condition, why))
            continue
        try:
            strengths = _fitted(used, declared.level, declared.seed)
        except InputError as refusal:
            limits.append(_refused(condition, str(refusal)))
            continue
        for system, term in zip(strengths.systems, strengths.strengths, strict=True):
            results.append(
                NamedResult(
                    id=f"strength.{system}.{condition}",
                    title=f"Strength of {system} ({condition})",
                    role="secondary", result=term, about=about,
                )
            )  # fmt: skip
        results += [
            NamedResult(
                id=f"strength.{term.name}.{condition}", title=f"{term.label} ({condition})",
                role="secondary", result=term, about=about,
            )
            for term in strengths.others
            if term.name == "order_effect"
        ]  # fmt: skip
        described.append(
            NamedResult(
                id=f"leaderboard.{condition}", title=f"Systems by pairwise verdicts ({condition})",
                role="descriptive", result=Rows(table=_table(strengths)), about=about,
            )
        )  # fmt: skip
    return results, described, limits


def _refused(condition: str, why: str) -> Limit:
    return Limit(
        f"The systems were not put in order by pairwise verdicts ({condition}): {why}",
        code="no_strengths",
        short="systems not ordered by pairwise verdicts",
    )


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
    systems = [_called(n) for n in first if _called(n) != "order_effect"]
    rows = [
        asked_row(
            f"strength_{system}", f"strength of {system}", system, "strength",
            f"strength.{system}.{{}}", names, note="(logits)",
        )
        for system in systems[:_SHOWN]
    ]  # fmt: skip
    if any(_called(n) == "order_effect" for n in results):
        rows.append(
            asked_row(
                "position", "standing first adds", "first place", "order_effect",
                "strength.order_effect.{}", names, note="(log odds)",
            )
        )  # fmt: skip
    return tuple(rows)


def _called(named: NamedResult) -> str:
    return named.id.removeprefix("strength.").removesuffix(f".{named.about.conditions[0]}")


def _met(own: pd.DataFrame, *, lengths: bool = False) -> pd.DataFrame | None:
    """Verdicts between two named systems, as shown; None where these are no such verdicts."""
    choices = own["choice"].astype(str)
    systems = own[["system_a", "system_b"]].astype(str)
    present = (systems != "").all(axis=1) & (systems["system_a"] != systems["system_b"])
    if not set(choices[present]) <= {*_VERDICTS, "", "None", "nan"}:
        return None
    kept = present & choices.isin(_VERDICTS)
    if len(np.unique(systems[kept].to_numpy(str))) < _FEWEST:
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
    if lengths and {"length_a", "length_b"} <= set(own):
        shown = own.loc[kept, ["length_a", "length_b"]].to_numpy(float)
        if not (shown > 0).all():  # NaN too
            raise InputError(
                "leaderboards: length_a and length_b must be above 0 in every row with a verdict. "
                "Leave both columns out where lengths are not known."
            )
        ratio = np.log(shown[:, 0] / shown[:, 1])
        met[LENGTH] = np.where(second, -ratio, ratio)
    return met


def _fitted(used: pd.DataFrame, level: float, seed: int) -> Strengths:
    return bradley_terry(
        used["verdict"].to_numpy(str), system_a=used["first"].to_numpy(str),
        system_b=used["second"].to_numpy(str), order=bool(used["placed"].all()),
        covariates={LENGTH: used[LENGTH].to_numpy(float)} if LENGTH in used else None,
        cluster=used["cluster"].to_numpy(str), level=level, seed=seed,
    )  # fmt: skip


def _table(strengths: Strengths) -> pd.DataFrame:
    """A row a system, the strongest first."""
    other = {(pair.a, pair.b): pair.effect for pair in strengths.pairs}
    rows = []
    for k, (system, term) in enumerate(zip(strengths.systems, strengths.strengths, strict=True)):
        following = strengths.systems[k + 1] if k + 1 < len(strengths.systems) else ""
        rows.append(
            {
                "system": system,
                "strength": term.estimate,
                "low": term.interval.low if term.interval else np.nan,
                "high": term.interval.high if term.interval else np.nan,
                "best_rank": strengths.ranks[k][0],
                "worst_rank": strengths.ranks[k][1],
                "below_the_next": other.get((system, following), np.nan),
            }
        )
    return pd.DataFrame(rows)


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
        ``score``, ``system``, ``cluster``, and with several judges ``judge`` and ``item_id``: their
        severity is then taken out by the many-facet model.
    level : float
    seed : int

    Returns
    -------
    DataFrame
        A row a system, the strongest by pairs first: ``strength`` with ``low`` and ``high``, ranks,
        the chance of standing below the next one, then ``points`` with its interval (the mean
        score; with several judges less the mean of the systems) and ``rank_points``. ``attrs``:
        ``tau``, Kendall's tau-b between both orders, ``points_from``, how points were got, and
        with lengths ``length_effect``, the log odds that a unit of the log ratio adds.

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
    used = _met(pairs, lengths=True)
    if used is None:
        raise InputError(
            f"leaderboards: pairs need verdicts a, b or tie between {_FEWEST} systems or more "
            "(system_a, system_b). Two systems are compared by their win rate."
        )
    strengths = _fitted(used, level, seed)
    board = _table(strengths)
    points, how = _points(scores, level, seed)
    if set(points["system"]) != set(board["system"]):
        apart = sorted(set(points["system"]) ^ set(board["system"]))
        raise InputError(
            f"leaderboards: {', '.join(apart[:5])} stand in one of the two tables only. Give both "
            "for the same systems."
        )
    board = board.merge(points, on="system")
    board["rank_points"] = board["points"].rank(ascending=False, method="min").astype(int)
    tau = stats.kendalltau(board["strength"], board["points"]).statistic
    board.attrs |= {"tau": float(tau), "points_from": how}
    lengths = [t.estimate for t in strengths.others if t.name == "slope_of_covariate"]
    if lengths:
        board.attrs["length_effect"] = lengths[0]
    return board


def _points(scores: pd.DataFrame, level: float, seed: int) -> tuple[pd.DataFrame, str]:
    """Each system's points with their interval, and how they were got."""
    read = scores[scores["score"].notna()]
    several = {"judge", "item_id"} <= set(read) and len(read["judge"].unique()) > 1
    if several:
        once = read.drop_duplicates(["judge", "item_id", "system"])
        fit = many_facet(
            once["score"].to_numpy(float),
            answer=(once["item_id"].astype(str) + " / " + once["system"].astype(str)).to_numpy(str),
            facets={"judge": once["judge"].to_numpy(str)}, system=once["system"].to_numpy(str),
            cluster=once["cluster"].to_numpy(str), level=level, seed=seed,
        )  # fmt: skip
        terms = [(s.level, s.points.estimate, s.points.interval) for s in fit.systems]
        how = "many-facet model, severity of judges taken out"
    else:
        terms = []
        for system, part in read.groupby("system", sort=False):
            codes = cluster_codes(part["cluster"].to_numpy(str), len(part), where="leaderboards")
            mean = mean_over_clusters(part["score"].to_numpy(float), codes)
            terms.append((str(system), mean.mean, mean.interval(level)))
        how = "mean score"
    rows = [
        {
            "system": system,
            "points": value,
            "points_low": np.nan if interval is None else interval.low,
            "points_high": np.nan if interval is None else interval.high,
        }
        for system, value, interval in terms
    ]
    return pd.DataFrame(rows), how
