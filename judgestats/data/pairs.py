"""Verdicts on pairs: both orders under one rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from judgestats.arrays import Floats, Objects
from judgestats.errors import InputError, one_of

if TYPE_CHECKING:
    import pandas as pd

RULES = ("tie", "first", "drop")
"""Where the two orders disagree: a tie; what the first order says; no verdict."""


def both_orders(asked: pd.DataFrame, pairs: Sequence[str]) -> tuple[Objects, Objects]:
    """Verdicts of one condition in both orders, pairs x replications; empty text where unread.

    Parameters
    ----------
    asked : DataFrame
        Parsed judgments of a pairwise condition; `choice` names the response (a, b, tie).
    pairs : sequence of str
        The pairs' ids, in the order wanted.

    Returns
    -------
    tuple of ndarray of object
        Orders ``ab`` and ``ba``.
    """
    replicates = sorted(set(asked["replicate"].unique()))
    tables = []
    for order in ("ab", "ba"):
        own = asked[asked["order"] == order]
        wide = own.pivot(index="item_id", columns="replicate", values="choice")
        wide = wide.reindex(index=list(pairs), columns=replicates).astype(object)
        tables.append(wide.where(wide.notna(), "").to_numpy(object))
    return tables[0], tables[1]


def combined(ab: Objects, ba: Objects, *, rule: str) -> Objects:
    """One verdict from both orders, by the declared rule; empty text where there is none.

    Parameters
    ----------
    ab, ba : ndarray of object
        ``"a"``, ``"b"``, ``"tie"`` or empty.
    rule : {"tie", "first", "drop"}

    Returns
    -------
    ndarray of object
        Where an order could not be read there is no verdict, except that ``first`` asks for the
        first order only.

    Examples
    --------
    >>> ab, ba = np.array(["a", "a", "b", ""]), np.array(["a", "b", "tie", "a"])
    >>> [combined(ab, ba, rule=r).tolist() for r in RULES]
    [['a', 'tie', 'tie', ''], ['a', 'a', 'b', ''], ['a', '', '', '']]
    """
    one_of("combined", "rule", rule, RULES)
    if rule == "first":
        return ab.astype(object)
    otherwise = "tie" if rule == "tie" else ""
    read = (ab != "") & (ba != "")
    return np.where(read, np.where(ab == ba, ab, otherwise), "").astype(object)


def scores_of(asked: pd.DataFrame, items: Sequence[str], *, values: str = "score") -> Floats:
    """Scores of one condition, things judged x replications; NaN where unread.

    Parameters
    ----------
    asked : DataFrame
    items : sequence of str
        Rows wanted, in this order; one may stand in it several times, as an answer in several
        pairs does.
    values : str

    Raises
    ------
    InputError
        An item has several in one replicate.
    """
    place = {item: i for i, item in enumerate(dict.fromkeys(items))}
    row = np.array([place.get(item, -1) for item in asked["item_id"].to_numpy(object)], dtype=int)
    replicates, column = np.unique(asked["replicate"].to_numpy(), return_inverse=True)
    wide = np.full((len(place), replicates.size), np.nan)
    held = row >= 0
    cells = row[held] * replicates.size + column[held]
    if np.unique(cells).size < cells.size:
        raise InputError(
            "scores_of: an item has several scores in one replicate. Number the repetitions, or "
            "take one order at a time."
        )
    wide[row[held], column[held]] = asked[values].to_numpy(dtype=float)[held]
    return wide[[place[item] for item in items]]
