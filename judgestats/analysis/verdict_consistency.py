"""One condition's verdicts: repeated, in both orders, and beside people's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.analysis.people import people_results
from judgestats.analysis.plan import AnalysisPlan
from judgestats.analysis.scores import affordable
from judgestats.analysis.verdict_words import (
    orders_shown,
)
from judgestats.stats.agreement.gwet import gwet_ac1
from judgestats.stats.agreement.kappa import fleiss_kappa
from judgestats.stats.agreement.over_orders import Repetition, repetition_over_orders
from judgestats.stats.agreement.position_noise import position_and_noise
from judgestats.stats.agreement.position_preference import first_position_preference
from judgestats.stats.agreement.raw_agreement import flip_rate
from judgestats.stats.agreement.swap import swap_consistency
from judgestats.stats.agreement.vote_share import vote_share_reliability
from judgestats.stats.inference.result import Estimate, Result


def _wide(asked: pd.DataFrame, items: pd.Index) -> NDArray[np.object_]:
    """Items x replications of choices: empty text was asked and not read, None never asked."""
    table = asked.pivot(index="item_id", columns="replicate", values="choice").reindex(items)
    return table.astype(object).where(table.notna(), None).to_numpy(object)


def condition_results(asked: pd.DataFrame, declared: AnalysisPlan) -> list[tuple[str, str, Result]]:
    """What a condition's verdicts show: kind, title and result."""
    items = pd.Index(asked["item_id"].unique())
    clusters = asked.drop_duplicates("item_id").set_index("item_id")["cluster"].loc[items]
    cluster = clusters.to_numpy(object) if clusters.nunique() < len(items) else None
    orders = orders_shown(asked)
    by_order = {o: _wide(asked[asked["order"] == o], items) for o in orders}
    results = _repetition({o: t for o, t in by_order.items() if t.shape[1] > 1}, cluster, declared)
    if len(orders) == 2 and set(asked["choice"].unique()) <= {"a", "b", "tie", ""}:
        results += _order_results(by_order, orders, cluster, declared)
    if "label" in asked and (asked["label"] != "").any():
        results += people_results(asked, declared)
    return results


_REPEATED: tuple[tuple[str, str, Repetition, Callable[..., Estimate]], ...] = (
    ("fleiss_kappa", "Agreement of repetitions", "fleiss_kappa", fleiss_kappa),
    ("ac1", "Agreement of repetitions, AC1", "gwet_ac1", gwet_ac1),
    (
        "vote_share",
        "Reliability of one verdict",
        "vote_share_reliability",
        vote_share_reliability,
    ),
    ("flip_rate", "How often asking again changes the verdict", "flip_rate", flip_rate),
)


def _repetition(
    repeated: Mapping[str, NDArray[np.object_]],
    cluster: NDArray[np.object_] | None,
    declared: AnalysisPlan,
) -> list[tuple[str, str, Result]]:
    """Repetitions of the same order compared, over every order that was repeated."""
    if not repeated:
        return []
    tables = list(repeated.values())
    where = ", within orders" if len(tables) > 1 else ""
    common: dict[str, Any] = {
        "cluster": cluster,
        "level": declared.level,
        "n_permutations": affordable(declared.n_resamples, sum(t.size for t in tables)),
        "seed": declared.seed,
    }

    def agreement_of(
        of: Sequence[NDArray[np.object_]], name: Repetition, single: Callable[..., Estimate]
    ) -> Estimate:
        if len(of) > 1:
            return repetition_over_orders(of, coefficient=name, **common)
        alone: Estimate = single(of[0], **common)
        return alone

    results: list[tuple[str, str, Result]] = [
        (f"reliability.{kind}", f"{title}{where}", agreement_of(tables, name, single))
        for kind, title, name, single in _REPEATED
    ]
    unread = any((t == "").any() for t in tables)
    if unread and any(((t != "") & (t != None)).any() for t in tables):  # noqa: E711  elementwise
        named = [np.where(t == "", "(unread)", t) for t in tables]
        results.append(
            (
                "reliability.fleiss_kappa_unread",
                f"Agreement of repetitions{where}, an unread verdict as an option of its own",
                agreement_of(named, "fleiss_kappa", fleiss_kappa),
            )
        )
    return results


def _order_results(
    by_order: Mapping[str, NDArray[np.object_]],
    orders: list[str],
    cluster: NDArray[np.object_] | None,
    declared: AnalysisPlan,
) -> list[tuple[str, str, Result]]:
    ab, ba = orders
    first, second = by_order[ab], by_order[ba]
    results: list[tuple[str, str, Result]] = [
        (
            "order.swap_consistency",
            "Same response preferred after a swap",
            swap_consistency(first, second, cluster=cluster, level=declared.level),
        ),
        (
            "order.first_position",
            "Preference for the response shown first",
            first_position_preference(first, second, cluster=cluster, level=declared.level),
        ),
    ]
    if first.shape[1] > 1 and second.shape[1] > 1:
        results.append(
            (
                "order.noise",
                "Position apart from repetition",
                position_and_noise(
                    first,
                    second,
                    cluster=cluster,
                    level=declared.level,
                    n_permutations=declared.n_resamples,
                    seed=declared.seed,
                ),
            )
        )
    return results
