"""Systems in order by pairwise verdicts, whoever met whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from judgestats.analysis.answerable import FEWEST_SYSTEMS
from judgestats.analysis.asked_rows import asked_row
from judgestats.analysis.limits import Limit
from judgestats.analysis.outcome import NamedResult
from judgestats.analysis.plan import AnalysisPlan, Hypothesis
from judgestats.analysis.supplements import Rows
from judgestats.errors import InputError
from judgestats.results import About, Row
from judgestats.stats.inference.result import Estimate, Interval, Sample
from judgestats.stats.instrument.bradley_terry import bradley_terry
from judgestats.stats.instrument.strengths import Strengths

STRENGTH = Hypothesis(
    id="strength",
    role="secondary",
    question="Which system is preferred, whoever met whom, the place and length taken out?",
    test="Bradley-Terry with Davidson's ties, an order effect and, where lengths are known, "
    "the log of their ratio; sandwich errors over clusters; "
    "ranks whose intervals hold all at once, and the chance that the observed order is the other "
    "one (where three systems or more are named)",
)
LENGTH = "log_length_ratio"
FEWEST = FEWEST_SYSTEMS
_MOST = 50_000
_SHOWN = 4
_FURTHER = {
    "order_effect": ("position", "standing first adds", "first place"),
    "slope_of_covariate": ("length", "being e times as long adds", "length"),
}
"""Terms beside the strengths that the screen shows: key, question and short name of their row."""
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
        condition, about = str(name), About(conditions=(str(name),))
        if len(used) > _MOST:
            why = f"{len(used)} verdicts take long: use judgestats.stats.bradley_terry on a part"
            refused.setdefault(why, []).append(condition)
            continue
        if LENGTH in used and not np.isfinite(used[LENGTH].to_numpy(float)).all():
            used = used.drop(columns=LENGTH)
            limits.append(
                Limit(
                    f"Lengths were not taken out of the systems' strengths ({condition}): not "
                    "every row with a verdict has two lengths above 0.",
                    code="no_lengths",
                    short="lengths not taken out of strengths",
                )
            )
        try:
            strengths = fitted_strengths(used, declared.level, declared.seed)
        except InputError as refusal:
            why = str(refusal).removeprefix("bradley_terry: ")
            refused.setdefault(why, []).append(condition)
            continue

        def named(kind: str, title: str, term: Estimate, of: About = about) -> NamedResult:
            return NamedResult(
                id=f"{kind}.{of.conditions[0]}", title=f"{title} ({of.conditions[0]})",
                role="secondary", result=term, about=of,
            )  # fmt: skip

        for system, term, rank in zip(
            strengths.systems,
            strengths.strengths,
            rank_estimates(strengths.systems, strengths.ranks, strengths.sample, declared.level),
            strict=True,
        ):
            results.append(named(f"strength.{system}", f"Strength of {system}", term))
            described.append(replace(named(f"rank.{system}", rank.label, rank), role="descriptive"))
        results += [
            named(f"strength.{term.name}", term.label, term)
            for term in strengths.others
            if term.name in _FURTHER
        ]
        described.append(
            NamedResult(
                id=f"leaderboard.{condition}", title=f"Systems by pairwise verdicts ({condition})",
                role="descriptive", result=Rows(table=strength_table(strengths)), about=about,
            )
        )  # fmt: skip
    limits += [_refused(named_conditions, why) for why, named_conditions in refused.items()]
    return results, described, limits


def _refused(conditions: Sequence[str], why: str) -> Limit:
    where = conditions[0] if len(conditions) == 1 else f"{len(conditions)} conditions"
    return Limit(
        f"The systems were not put in order by pairwise verdicts ({where}): {why}",
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
    systems = [_called(n) for n in first if _called(n) not in _FURTHER]
    there = {_called(n) for n in results}
    equal = "(logits, equal length)" if "slope_of_covariate" in there else "(logits)"
    rows = [
        asked_row(
            f"strength_{system}", f"strength of {system}", system, "strength",
            f"strength.{system}.{{}}", names, note=equal,
            beside={"rank, all at once": f"rank.{system}.{names[0]}"} if len(names) == 1 else {},
        )
        for system in systems[:_SHOWN]
    ]  # fmt: skip
    rows += [
        asked_row(key, ask, short, estimand, f"strength.{estimand}.{{}}", names, note="(log odds)")
        for estimand, (key, ask, short) in _FURTHER.items()
        if estimand in there
    ]
    return tuple(rows)


def _called(named: NamedResult) -> str:
    return named.id.removeprefix("strength.").removesuffix(f".{named.about.conditions[0]}")


def meetings(own: pd.DataFrame) -> pd.DataFrame | None:
    """Verdicts between two named systems, as shown; None where these are no such verdicts.

    Where both lengths are columns, the log of their ratio stands beside: not finite where one is
    missing or 0.
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
