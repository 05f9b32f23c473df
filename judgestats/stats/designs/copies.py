"""Items whose replies are copies of another item's."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import special

from judgestats.arrays import Ints
from judgestats.errors import InputError
from judgestats.stats.inference.estimate import Sample
from judgestats.stats.inference.result import TestResult

INFORMATIVE = 0.2
"""Chance of an equal order up to which two items with the same replies indicate copying."""
SHOWN_AT = 0.001
"""p up to which copies are shown, by at least `_LEAST` pairs."""
_LEAST = 2


def copied_items(
    replies: ArrayLike, item: ArrayLike, run: ArrayLike, *, cell: ArrayLike | None = None
) -> TestResult:
    r"""Test whether some items hold the replies of others, in the same order of repeats.

    Parameters
    ----------
    replies : array-like, shape (n_rows,)
        Scores or verdicts; a missing one counts as a reply.
    item : array-like, shape (n_rows,)
    run : array-like, shape (n_rows,)
        Number of the repeat.
    cell : array-like, shape (n_rows,), optional
        The judge, or its condition, of which a row is a repeat; None: all are of one.

    Returns
    -------
    TestResult
        Statistic: pairs of items that are identical in every cell and order. ``estimates``:
        ``observed`` and ``expected``. ``details``: ``groups`` of such items, and ``shown``, whether
        p is at most .001 with two pairs or more. p is NaN with its reason where no two items hold
        the same replies with more than one order.

    Raises
    ------
    InputError
        If lengths differ, there is no row, or an item has a repeat twice in a cell.

    Notes
    -----
    Of a pair of items whose cells hold the same replies, the chance of the same order in all of
    them is :math:`P = \prod 1 / (\text{distinct orders})`, whatever the scores' distribution,
    where the repeats of a cell can be exchanged. Pairs with P > .2 tell little and are left out.
    Observed: pairs in the same order; expected: the sum of P; p that of a Poisson count. Work is
    proportional to the rows. False alarms .000 to .002, up to .007 where runs share shifts.

    References
    ----------
    Chen (1975), Annals of Probability 3, 534-545 (Poisson counts of rare dependent events).

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> x = rng.integers(1, 6, (30, 5))
    >>> x[20:] = x[:10]
    >>> item, run = np.repeat(np.arange(30), 5), np.tile(np.arange(5), 30)
    >>> found = copied_items(x.ravel(), item, run)
    >>> found.statistic >= 10, found.details["shown"]
    (True, True)
    """
    where = "copied_items"
    cells = np.zeros(len(np.atleast_1d(item)), int) if cell is None else cell
    given = [
        v if isinstance(v, np.ndarray) else np.asarray(v, object)
        for v in (replies, item, run, cells)
    ]
    if given[0].size == 0 or any(v.shape != given[0].shape or v.ndim != 1 for v in given):
        raise InputError(f"{where}: replies, item, run, and cell must be of one length, not 0.")
    reply_of, item_of, run_of, cell_of = (_codes(v) for v in given)
    rows = pd.DataFrame({"item": item_of, "cell": cell_of, "run": run_of, "reply": reply_of})
    if rows.duplicated(["item", "cell", "run"]).any():
        raise InputError(f"{where}: an item has a repeat twice in a cell. Number the repeats.")
    items = _signatures(rows)
    names = pd.unique(pd.Series(given[1]))
    same = items.groupby("replies", sort=False)
    n_same = same["item"].transform("size")
    log_chance = items["log_chance"].to_numpy()
    told = (n_same > 1).to_numpy() & (log_chance <= math.log(INFORMATIVE) + 1e-12)
    test = TestResult(
        name="copied_items", method="Poisson count of items with the same replies in one order",
        statistic=0.0, statistic_name="pairs", p_value=math.nan,
        sample=Sample(n_items=len(items)),
        null_hypothesis="repeats of a cell can be exchanged, for each item by itself",
        alternative="some items hold the replies of others",
        estimates={"observed": 0.0, "expected": 0.0}, details={"groups": [], "shown": False},
    )  # fmt: skip
    if not told.any():
        return test.replace(reason="no two items hold the same replies in more than one order")
    # Of a group of g items with the same replies, g (g - 1) / 2 pairs of one chance.
    expected = float(np.sum(np.exp(log_chance[told]) * (n_same.to_numpy()[told] - 1)) / 2)
    alike = ["replies", "ordered"]
    kept = items[told]
    kept = kept[kept.duplicated(alike, keep=False)]
    groups = [np.sort(g["item"].to_numpy()) for _, g in kept.groupby(alike, sort=False)]
    observed = sum(g.size * (g.size - 1) // 2 for g in groups)
    p = float(special.gammainc(observed, expected)) if observed else 1.0
    listed = sorted(groups, key=lambda g: int(g[0]))
    return test.replace(
        statistic=float(observed),
        p_value=p,
        estimates={"observed": float(observed), "expected": expected},
        details={
            "groups": [[names[k] for k in g.tolist()] for g in listed],
            "shown": bool(p <= SHOWN_AT and observed >= _LEAST),
        },
    )


def _codes(values: NDArray[Any]) -> Ints:
    """Whole numbers for values, in the order in which they appear; all missing ones are one."""
    return np.asarray(pd.factorize(values, use_na_sentinel=False)[0], dtype=np.int64)


def _signatures(rows: pd.DataFrame) -> pd.DataFrame:
    """Of each item its replies without and with their order, hashed, and the log chance of it."""
    by_cell = rows.groupby(["item", "cell", "reply"], sort=False).size()
    orders = pd.DataFrame({"n": by_cell, "ways": special.gammaln(by_cell.to_numpy() + 1)})
    cells = orders.groupby(level=["item", "cell"], sort=False).sum()
    cells["log_chance"] = cells["ways"] - special.gammaln(cells["n"].to_numpy() + 1)
    unordered = by_cell.rename("n").reset_index()
    ordered = rows.sort_values(["item", "cell", "run"], kind="stable")
    place = ordered.groupby(["item", "cell"], sort=False).cumcount()
    out = cells["log_chance"].groupby(level="item", sort=True).sum().reset_index()
    for name, table in (
        ("replies", unordered[["item", "cell", "reply", "n"]]),
        ("ordered", ordered[["item", "cell", "reply"]].assign(n=place)),
    ):
        mixed = pd.util.hash_pandas_object(table[["cell", "reply", "n"]], index=False)
        total = np.zeros(len(out), dtype=np.uint64)
        np.add.at(total, table["item"].to_numpy(), mixed.to_numpy())
        out[name] = total
    return out
