"""Count tables of verdicts, and items whose replies copy another item's."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import special

from judgestats.arrays import Floats, Ints, check_axes
from judgestats.errors import InputError
from judgestats.stats.inference.result import Note, Sample, TestResult
from judgestats.stats.inference.sum_statistics import counts_of_codes


@dataclasses.dataclass(frozen=True, kw_only=True)
class CountTable:
    """How often each item received each verdict.

    Attributes
    ----------
    counts : ndarray of float, shape (n_items, n_categories)
        Judgments of each item in each category; missing judgments are counted nowhere.
    categories : tuple
        The categories in order; the columns of `counts`.
    codes : ndarray of int, shape (n_items, n_replications), or None
        Index of each verdict in `categories`, -1 where missing. None for a table made from counts
        alone (then who gave which verdict is unknown).
    given : bool
        Whether the caller named the categories; if not they are those that occur.
    """

    counts: Floats
    categories: tuple[Any, ...]
    codes: Ints | None = None
    given: bool = False

    @property
    def n_items(self) -> int:
        """Number of items, rated or not."""
        return int(self.counts.shape[0])

    @property
    def per_item(self) -> Floats:
        """Number of parsed judgments per item."""
        # numpy's own sum over a short last axis is much slower.
        return np.asarray(self.counts @ np.ones(self.counts.shape[1]))

    def values(self) -> Floats:
        """Numeric value of each category: itself if a number, else its rank 1, 2, ..."""
        if all(isinstance(c, (int, float)) and not isinstance(c, bool) for c in self.categories):
            return np.asarray(self.categories, dtype=float)
        return np.arange(1, len(self.categories) + 1, dtype=float)

    def sample(self, *, least: int = 1) -> Sample:
        """Items, replications and exclusions for a coefficient needing `least` judgments per item.

        Examples
        --------
        >>> count_table([["A", "A"], ["B", None], [None, None]]).sample(least=2).n_items
        1
        """
        per_item = self.per_item
        used = per_item >= least
        return Sample.from_mask(
            used,
            "no verdict was read" if least == 1 else f"fewer than {least} verdicts",
            n_replications=int(per_item[used].min()) if used.any() else 0,
            n_replications_max=int(per_item[used].max()) if used.any() else 0,
        )


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def encode_verdicts(
    verdicts: ArrayLike, *, categories: Sequence[Any] | None = None, where: str = "encode_verdicts"
) -> tuple[Ints, tuple[Any, ...]]:
    """Turn verdicts into category indices; missing (None, NaN, empty text) becomes -1.

    Parameters
    ----------
    verdicts : array-like, any shape
        Text labels or numbers.
    categories : sequence, optional
        All categories that may occur, in order. None: those that do, numbers before text, sorted.
    where : str
        Name of the calling function, for messages.

    Returns
    -------
    codes : ndarray of int, the shape of `verdicts`
    categories : tuple

    Raises
    ------
    InputError
        If a verdict is not one of `categories`, a category is named twice or is empty, or a number
        is infinite.

    Notes
    -----
    Linear in the number of verdicts (hashing, no sort of the verdicts).

    Examples
    --------
    >>> encode_verdicts([["B", "A"], ["", "B"]])
    (array([[ 1,  0],
           [-1,  1]]), ('A', 'B'))
    """
    array = verdicts if isinstance(verdicts, np.ndarray) else _as_objects(verdicts, where)
    if array.dtype.kind in "US":
        array = array.astype(str)
    flat = array.ravel()
    raw, uniques = pd.factorize(flat if flat.dtype.kind != "U" else flat.astype(object))
    options = [u.item() if isinstance(u, np.generic) else u for u in uniques]
    if strange := [v for v in options if isinstance(v, float) and not np.isfinite(v)]:
        raise InputError(
            f"{where}: verdicts must be text or finite numbers, got {strange[0]}. Mark unparsed "
            "verdicts by None, NaN, or an empty text."
        )
    empty = [i for i, value in enumerate(options) if _is_text(value) and not value.strip()]
    kept = [value for i, value in enumerate(options) if i not in empty]
    if categories is None:
        order = sorted(kept, key=lambda v: (_is_text(v), v))
        # A whole number prints as 1, not as 1.0.
        named: tuple[Any, ...] = tuple(
            int(v) if isinstance(v, float) and v.is_integer() else v for v in order
        )
    else:
        named = tuple(c.item() if isinstance(c, np.generic) else c for c in categories)
        order = list(named)
        if len(set(named)) != len(named) or any(_is_text(c) and not c.strip() for c in named):
            raise InputError(
                f"{where}: categories must be distinct and not empty, got {list(named)}."
            )
        unknown = [value for value in kept if value not in set(named)]
        if unknown:
            shown = ", ".join(repr(v) for v in unknown[:5])
            more = " and others" if len(unknown) > 5 else ""
            how = "Add it to categories, or mark such verdicts as missing (None)."
            raise InputError(
                f"{where}: verdicts must be one of the categories {list(named)}, got {shown}{more}"
                f". {how}"
            )
    position = {value: i for i, value in enumerate(order)}
    # The last entry serves index -1, pandas' mark of a missing value.
    lookup = np.array([position.get(value, -1) for value in options] + [-1], dtype=np.int64)
    return lookup[raw].reshape(array.shape), named


def _as_objects(verdicts: Any, where: str) -> NDArray[Any]:
    """Nested lists or a frame as an array, refusing rows of unequal length."""
    if isinstance(verdicts, (pd.DataFrame, pd.Series)):
        return np.asarray(verdicts.to_numpy(dtype=object))
    try:
        array = np.array(verdicts, dtype=object)
    except ValueError:  # rows of rows that do not fit together
        array = np.array([[]], dtype=object)
        ragged = True
    else:
        # numpy keeps rows of unequal length as objects.
        ragged = any(isinstance(v, (list, tuple, np.ndarray)) for v in array.ravel()[:1])
    if ragged:
        raise InputError(
            f"{where}: verdicts must be one row per item with the same number of columns, got rows "
            "of unequal length. Fill the missing replications with None."
        )
    return array


def count_table(
    verdicts: ArrayLike | CountTable,
    *,
    categories: Sequence[Any] | None = None,
    where: str = "count_table",
) -> CountTable:
    """Count verdicts per item and category, in time linear in the number of judgments.

    Parameters
    ----------
    verdicts : array-like, shape (n_items, n_replications), or CountTable
        Text labels or numbers; None, NaN and empty text are missing. A table is returned as it is,
        so that several coefficients share one count.
    categories : sequence, optional
        All categories that could have been chosen, in order. Coefficients whose chance agreement
        depends on the number of categories (Gwet) need it; None takes those seen.
    where : str
        Name of the calling function, for messages.

    Returns
    -------
    CountTable

    Raises
    ------
    InputError
        If the shape is not two-dimensional, there is no item, or a verdict is unknown.

    Examples
    --------
    >>> table = count_table([["A", "A", "B"], ["B", "B", None]])
    >>> table.counts
    array([[2., 1.],
           [0., 2.]])
    >>> table.categories
    ('A', 'B')
    """
    if isinstance(verdicts, CountTable):
        if categories is not None and tuple(categories) != verdicts.categories:
            raise InputError(
                f"{where}: categories must be those of the count table {verdicts.categories}."
            )
        return verdicts
    codes, named = encode_verdicts(verdicts, categories=categories, where=where)
    check_axes(where, "verdicts", codes, "items x replications", (1,))
    return CountTable(
        counts=counts_of_codes(codes, len(named)),
        categories=named,
        codes=codes,
        given=categories is not None,
    )


RARE = 10
"""Items' worth of verdicts off the main category below which kappa's intervals fall short."""


def rare_category_notes(counts: ArrayLike) -> tuple[Note, ...]:
    """Warn where too few verdicts leave the main category for a kappa's interval to hold.

    Parameters
    ----------
    counts : array-like, shape (n_items, n_categories)

    Returns
    -------
    tuple of Note
        Empty, or one note. The limit is from docs/simulations/coverage_verdicts.csv: nominal 95%
        intervals of kappa covered .94 with 20 items' worth of minority verdicts, .91 with 5, .83
        with 2 and .76 with 1.5, whatever the method.

    Examples
    --------
    >>> [n.code for n in rare_category_notes([[3, 0]] * 40 + [[2, 1]])]
    ['rare_categories']
    """
    table = np.asarray(counts, dtype=float)
    total = table.sum()
    rated = int(np.sum(table.sum(axis=1) > 0))
    if total == 0 or np.sum(table.sum(axis=0) > 0) < 2:
        return ()
    minority = rated * (1.0 - table.sum(axis=0).max() / total)
    message = (
        f"Only {minority:.2g} items' worth of verdicts are outside the most frequent category: in "
        "simulations 95% intervals of chance-corrected coefficients then cover .69 to .91. Compare "
        "raw agreement and AC1."
    )
    return Note.where(minority < RARE, "rare_categories", message)


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
        ``observed`` and ``expected``. ``details``: ``groups`` of such items, and ``shown`` (p is at
        most .001 with two pairs or more). The p is NaN with its reason where no two items have the
        same replies with more than one order.

    Raises
    ------
    InputError
        If lengths differ, there is no row, or an item has a repeat twice in a cell.

    Notes
    -----
    Two items have the same replies in all cells. The probability of the same order in all of them
    is :math:`P = \prod 1 / (\text{distinct orders})` for any distribution of scores, if the
    repeats of a cell are exchangeable. Pairs with P > .2 are hardly informative and are left out.
    The observed count is that of pairs in the same order. The expected count is the sum of P, and
    p is that of a Poisson count. Work is proportional to the rows. False alarms .000 to .002,
    up to .007 where runs share shifts.

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
        statistic=0.0, statistic_name="pairs",
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
