"""One pair on which strategies differ, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from judgestats.analysis.crowd_data import Judged
from judgestats.analysis.crowd_plan import REFERENCE
from judgestats.analysis.plan import AnalysisPlan
from judgestats.items.schema import Item
from judgestats.protocols.naming import pair_name

_LONGEST = 1_500


def side_by_side(
    judges: Sequence[Judged],
    items: Sequence[Item],
    gold: Mapping[str, str],
    declared: AnalysisPlan,
) -> dict[str, Any]:
    """The first pair that vanilla gets wrong and the last strategy named gets right.

    Such a case illustrates and proves nothing: the rule that picks it favours the strategy. Where
    there is none, the first pair on which the two differ is taken, and else the first pair.

    Parameters
    ----------
    judges : sequence of Judged
    items : sequence of Item
    gold : mapping of pair to label
    declared : AnalysisPlan

    Returns
    -------
    dict
        Texts, shortened; empty where there are not two strategies.
    """
    names = [n for n in declared.options["strategies"].split(",") if n]
    for judged in judges:
        other = next((n for n in reversed(names) if n in judged.strategies), REFERENCE)
        if other == REFERENCE or REFERENCE not in judged.strategies:
            continue
        rows = judged.rows[judged.rows["replicate"] == 0].set_index(["item_id", "order"])
        two = [rows[rows["factor_strategy"] == n] for n in (REFERENCE, other)]
        shared = [key for key in two[0].index if key in two[1].index]
        if not shared:
            continue
        key, why = _picked(shared, two)
        texts = _texts(items, str(key[0]))
        return {
            "judge": judged.name,
            "pair": str(key[0]),
            "order": str(key[1]),
            "label": gold[str(key[0])],
            "why": why,
            **texts,
            "verdicts": [
                {
                    "strategy": name,
                    "choice": str(own.loc[key, "choice"]) or str(own.loc[key, "status"]),
                    "right": bool(own.loc[key, "right"] == 1),
                    "judgments_before": int(own.loc[key, "used"]),
                    "explanation": _short(str(own.loc[key, "explanation"])),
                }
                for name, own in zip((REFERENCE, other), two, strict=True)
            ],
        }
    return {}


def _picked(keys: Sequence[Any], two: Sequence[pd.DataFrame]) -> tuple[Any, str]:
    right = [[float(own.loc[key, "right"]) for key in keys] for own in two]
    for key, vanilla, other in zip(keys, *right, strict=True):
        if vanilla == 0 and other == 1:
            return key, "the first pair on which vanilla is wrong and the strategy right"
    for key, vanilla, other in zip(keys, *right, strict=True):
        if vanilla != other:
            return key, "the first pair on which the two differ"
    return keys[0], "the first pair: the two never differ"


def _texts(items: Sequence[Item], pair: str) -> dict[str, str]:
    for item in items:
        for label in item.labels:
            low, high = min(label.a, label.b), max(label.a, label.b)
            if pair_name(item, (low, high)) == pair:
                return {
                    "before": _short("\n\n".join((item.context, *item.turns[:-1])).strip()),
                    "question": _short(item.question),
                    "response_a": _short(item.responses[low].text),
                    "response_b": _short(item.responses[high].text),
                }
    return {"before": "", "question": "", "response_a": "", "response_b": ""}


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} [...]"
