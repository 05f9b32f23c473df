"""What preferences and choices hold beside the audit: wins by system, and the place of options."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from string import ascii_lowercase
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.analysis.outcome import NamedResult
from judgestats.items.schema import Item
from judgestats.judgments.readers.cell_texts import each_distinct
from judgestats.protocols.naming import pair_name
from judgestats.results import About
from judgestats.results.records import Role
from judgestats.stats.agreement.option_positions import position_test
from judgestats.stats.agreement.order_accuracy import accuracy_by_slot
from judgestats.stats.agreement.win_rates import win_rates
from judgestats.stats.inference.result import Result

_FEWEST = 3
"""Items, and options of a choice, that a result needs at least."""
_OUTCOMES = {"a", "b", "tie", ""}

Found = Iterator[tuple[str, str, Result]]


def beside_verdicts(frame: pd.DataFrame, *, level: float) -> list[NamedResult]:
    """Win rates of systems, and accuracy and choice share by the place of an option.

    Parameters
    ----------
    frame : DataFrame
        The parsed judgments; with ``system_a`` and ``system_b`` where they tell who wrote the two
        responses.
    level : float
        Of intervals.

    Returns
    -------
    list of NamedResult
        Described, never claimed.

    Examples
    --------
    >>> beside_verdicts(pd.DataFrame({"condition": ["x"], "score": [7.0]}), level=0.95)
    []
    """
    return [
        *_named(frame, lambda own: _wins(own, level), role="descriptive"),
        *slot_results(frame, level=level, role="descriptive"),
    ]


def has_slots(frame: pd.DataFrame) -> bool:
    """Whether `slot_results` has an answer for some condition."""
    parts = frame.groupby("condition", sort=False) if "choice" in frame else ()
    return any(_what_is_known(own)[2] for _, own in parts)


def slot_results(
    frame: pd.DataFrame,
    *,
    level: float,
    role: Role = "secondary",
    n_permutations: int = 999,
    seed: int = 0,
) -> list[NamedResult]:
    """Whether choices among three or more options follow the place where an option stands.

    Parameters
    ----------
    frame : DataFrame
        The parsed judgments; an order that lists the options, or letters that are places, tell
        where each stood.
    level : float
    role : str
    n_permutations, seed : int

    Returns
    -------
    list of NamedResult
        A test a condition: of accuracy by the place of the right option where labels tell it, else
        of the places chosen; none where places are not known.
    """
    drawn = {"n_permutations": n_permutations, "seed": seed}
    return _named(frame, lambda own: _slots(own, level, drawn), role=role, hypothesis="slots")


def _named(
    frame: pd.DataFrame,
    compute: Callable[[pd.DataFrame], Found],
    *,
    role: Role,
    hypothesis: str = "",
) -> list[NamedResult]:
    """What is found of each condition, with its name."""
    if "choice" not in frame:
        return []
    return [
        NamedResult(
            id=f"{kind}.{condition}",
            title=f"{title} ({condition})",
            role=role,
            result=result,
            hypothesis=hypothesis,
            about=About(conditions=(str(condition),)),
        )
        for condition, own in frame.groupby("condition", sort=False)
        for kind, title, result in compute(own)
    ]


def with_systems(frame: pd.DataFrame, items: Sequence[Item]) -> pd.DataFrame:
    """Judged pairs with the authors of their two responses as ``system_a`` and ``system_b``.

    Parameters
    ----------
    frame : DataFrame
        The parsed judgments of a run.
    items : sequence of Item

    Returns
    -------
    DataFrame
        As given where no judged pair has two authors.
    """
    authors = {
        pair_name(item, (i, j)): (item.responses[i].author, item.responses[j].author)
        for item in items
        for i, j in combinations(range(len(item.responses)), 2)
    }
    if not frame["item_id"].isin(list(authors)).any():
        return frame
    sides = [authors.get(str(name), ("", "")) for name in frame["item_id"]]
    return frame.assign(system_a=[a or "" for a, _ in sides], system_b=[b or "" for _, b in sides])


def _wins(own: pd.DataFrame, level: float) -> Found:
    """Of preferences between the responses of named systems; a system never meets itself."""
    if not {"system_a", "system_b"} <= set(own) or not set(own["choice"]) <= _OUTCOMES:
        return
    a, b = (own[c].astype(str) for c in ("system_a", "system_b"))
    own = own[(a != "") & (b != "") & (a != b)]
    if own["item_id"].nunique() < _FEWEST or not own["choice"].ne("").any():
        return
    yield (
        "wins",
        "Win rate of each system, a tie half",
        win_rates(
            own["choice"].to_numpy(object),
            system_a=own["system_a"].to_numpy(object),
            system_b=own["system_b"].to_numpy(object),
            cluster=own["cluster"].to_numpy(object),
            level=level,
        ),
    )


def _slots(own: pd.DataFrame, level: float, drawn: Mapping[str, Any]) -> Found:
    """Of choices among options whose places are known: by the order shown, or by their letters."""
    own, k, placed_choices = _what_is_known(own)
    if placed_choices == "gold":
        labelled = own[own["gold"] >= 0]
        yield (
            "slots.accuracy",
            "Accuracy and choices by the place of the right option",
            accuracy_by_slot(
                labelled["place"].to_numpy(float),
                labelled["gold"].to_numpy(int),
                item=labelled["item_id"].to_numpy(object),
                n_options=k,
                cluster=labelled["cluster"].to_numpy(object),
                level=level,
                **drawn,
            ),
        )
    elif placed_choices == "order":
        yield "slots.choices", "Choices by place", _by_place(own, k, level, drawn)


def _what_is_known(own: pd.DataFrame) -> tuple[pd.DataFrame, int, str]:
    """Judgments with their places, how many options, and by what a place can be told to matter."""
    if not own["choice"].ne("").any():
        return own, 0, ""
    own, k = _placed(own)
    if k < _FEWEST or own["item_id"].nunique() < _FEWEST or not (own["place"] >= 0).any():
        return own, k, ""
    if own.loc[own["gold"] >= 0, "item_id"].nunique() >= _FEWEST:
        return own, k, "gold"
    several = own.groupby("item_id")["order"].nunique().min() > 1
    return own, k, "order" if several else ""


def _placed(own: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """Judgments with the place chosen and the right one, -1 where unknown, and how many options.

    An order that lists the options (``cab``, ``m3|m1|m2``) tells where each stood. Without one the
    letter of an option of a choice is its place.
    """
    choices = each_distinct(own["choice"], lambda v: str(v).strip().lower())
    gold = (
        each_distinct(own["label"], lambda v: str(v).strip().lower())
        if "label" in own
        else pd.Series("", index=own.index)
    )
    codes, shown = pd.factorize(own["order"], use_na_sentinel=False)
    orders_shown = [_listed(str(order).strip().lower()) for order in shown]
    listed = set(orders_shown)
    options = sorted(set().union(*listed))
    ordered = len(options) >= _FEWEST and all(sorted(o) == options for o in listed)
    if not ordered:
        words = {*choices.unique(), *gold.unique()} - {""}
        kinds = set(own["verdict_kind"].unique()) if "verdict_kind" in own else set()
        if listed != {()} or not kinds <= {"choice", ""}:
            return own, 0
        if not words or not all(len(w) == 1 and w in ascii_lowercase for w in words):
            return own, 0
        options = list(ascii_lowercase[: max(map(ascii_lowercase.index, words)) + 1])
        orders_shown = [tuple(options)] * len(orders_shown)
    orders = pd.Series([orders_shown[code] for code in codes], index=own.index)

    def places(values: pd.Series) -> list[int]:
        return [o.index(v) if v in o else -1 for o, v in zip(orders, values, strict=True)]

    return own.assign(order=orders, place=places(choices), gold=places(gold)), len(options)


def _listed(order: str) -> tuple[str, ...]:
    """The options in the order shown: between separators, else letter by letter.

    Examples
    --------
    >>> _listed("cab"), _listed("m3 | m1 | m2"), _listed("")
    (('c', 'a', 'b'), ('m3', 'm1', 'm2'), ())
    """
    if re.search(r"[\s,>|]", order):
        return tuple(part for part in re.split(r"[\s,>|]+", order) if part)
    return tuple(order.replace("-", ""))


def _by_place(own: pd.DataFrame, k: int, level: float, drawn: Mapping[str, Any]) -> Result:
    """Places chosen, tested against the options chosen: items in the rows, judgments beside."""
    own = own.assign(at=own.groupby("item_id").cumcount())
    wide = own.pivot(index="item_id", columns="at", values="place").fillna(-1)
    shown = own.pivot(index="item_id", columns="at", values="order")
    options = sorted(own["order"].iloc[0])
    first: list[int] = list(range(k))
    orders: NDArray[np.int64] = np.array(
        [
            [[options.index(c) for c in o] if isinstance(o, tuple) else first for o in row]
            for row in shown.to_numpy(object)
        ]
    )
    clusters = own.drop_duplicates("item_id").set_index("item_id")["cluster"]
    return position_test(
        wide.to_numpy(float),
        n_options=k,
        orders=orders,
        cluster=clusters.loc[wide.index].to_numpy(object),
        level=level,
        **drawn,
    )
