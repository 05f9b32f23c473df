"""Mistakes that a file of judgments shows: found before any number, refused or named."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from judgestats.errors import InputError
from judgestats.judgments.readers.cell_texts import each_distinct
from judgestats.judgments.readers.options import TableOptions
from judgestats.judgments.readers.scales import check_scales
from judgestats.judgments.readers.verdicts import FAR, INFINITE, TOO_LARGE, Read
from judgestats.protocols.base import Status

_FIRST = frozenset({"ab", "original", "orig", "0", "false", "1", "first", "forward"})
_ENOUGH = 20
FEW_REPEATED = 0.2
"""Share of the items of a condition; fewer that stand in several rows are duplicates."""


def check_mistakes(
    source: Path | str,
    table: pd.DataFrame,
    out: pd.DataFrame,
    options: TableOptions,
    read: Read,
    names: Mapping[str, str],
) -> tuple[pd.DataFrame, list[str]]:
    """Refuse what can only be a mistake, and name what may be one.

    Parameters
    ----------
    source : Path or str
    table : DataFrame
        As it was read.
    out : DataFrame
        As it was understood.
    options : TableOptions
    read : Read
    names : mapping

    Returns
    -------
    tuple of DataFrame and list of str
        The frame (verdicts of shown places turned into responses where the user says so, without
        duplicates) and notes.

    Raises
    ------
    InputError
        An export that holds everything twice; verdicts that name places; scores of two scales.
    """
    _duplicate_export(source, table, names)
    out = _as_shown(source, out, options)
    two_scales: list[str] = []
    if options.scale is None and "score" in {k.name for k in read.kinds.values()}:
        two_scales = check_scales(source, out[~out.index.isin(read.far)])
    out, repeated = _without_duplicates(table, out, names)
    notes = [*two_scales, *repeated]
    for start, what in ((INFINITE, "infinite score"), (TOO_LARGE, "score")):
        such = out["reason"].astype(str).str.startswith(start)
        if such.any():
            n, row = int(such.sum()), int(such.argmax()) + 1
            value = str(out["reason"].iloc[row - 1]).removeprefix(start).lstrip(": ")
            first, far = f"the first in row {row}", ""
            if start == TOO_LARGE:
                first, far = f"{value} in row {row}", f"{FAR}, "
            notes.append(
                f"{n:,} {what}{'s' * (n > 1)} ({first}) {'are' if n > 1 else 'is'} {far}no point "
                "of a scale and counted as unread."
            )
    if "label" in out:
        both = (out["label"] != "") & (out["status"] == "ok")
        verdicts = out["choice"].where(
            out["choice"] != "", each_distinct(out["score"], "{:g}".format)
        )
        same = verdicts[both].astype(str) == out.loc[both, "label"].astype(str)
        if len(same) >= _ENOUGH and same.all() and len(set(verdicts[both])) > 1:
            notes.append(
                f"The labels ({names.get('label', 'joined')}) and the verdicts are the same in all "
                f"{len(same):,} rows that have both. Is the label the judge's own verdict?"
            )
    return out, notes


def _duplicate_export(source: Path | str, table: pd.DataFrame, names: Mapping[str, str]) -> None:
    """Refuse a file of which the second half repeats the first to the letter."""
    n = len(table)
    if n < _ENOUGH or n % 2 or "replicate" in names:
        return
    key = names["item_id"]
    half = n // 2
    ids = table[key].to_numpy(object)
    if not np.array_equal(ids[:half], ids[half:]):
        return
    first = table.iloc[:half].reset_index(drop=True)
    second = table.iloc[half:].reset_index(drop=True)
    if first.astype(str).equals(second.astype(str)):
        raise InputError(
            f"{source}: rows {half + 1:,} to {n:,} repeat rows 1 to {half:,} to the letter, as in "
            "a file that was exported twice. Drop them; if the judge did say all of it again, "
            "number the repetitions in a column replicate."
        )


def _without_duplicates(
    table: pd.DataFrame, out: pd.DataFrame, names: Mapping[str, str]
) -> tuple[pd.DataFrame, list[str]]:
    """The rows without those that judge an item again by accident, and what is to be told.

    Where no column numbers repetitions and few items of a condition stand in several rows, these
    are no repetitions from which agreement could be told. One row an item is kept, one that could
    be read if there is any; where rows contradict each other the item is unread.
    """
    if "replicate" in names:
        return out, []
    within = [c for c in out.columns if c in {"judge", "temperature", "order", "stage"}]
    within += [c for c in out.columns if c.startswith("factor_")]
    key = ["item_id", *within]
    again = out.duplicated(key)
    if not again.any():
        return out, []
    several = out.duplicated(key, keep=False)
    items = (~again).groupby([out[c] for c in within], dropna=False).transform("sum")
    many = (several & ~again).groupby([out[c] for c in within], dropna=False).transform("sum")
    chance = several & (many < FEW_REPEATED * items)
    if not chance.any():
        return out, _repeated_rows(table, out, key)
    read = chance & (out["status"] == "ok")
    verdicts = out.loc[read].groupby(key, dropna=False, sort=False)[["score", "choice"]]
    ways = verdicts.transform("nunique").max(axis=1).reindex(out.index, fill_value=0)
    unclear = chance & (ways > 1)
    out = out.assign(
        score=out["score"].mask(unclear),
        choice=out["choice"].mask(unclear, ""),
        status=out["status"].mask(unclear, Status.AMBIGUOUS.value),
        reason=out["reason"].mask(unclear, "its rows contradict each other"),
    )
    first = out.assign(_read=out["status"] != "ok").sort_values("_read", kind="stable")
    dropped = chance & first.duplicated(key).reindex(out.index)
    note = repeated_note(
        int(dropped.sum()),
        int((unclear & ~dropped).sum()),
        first=f" (the first is row {int(again.to_numpy().argmax()) + 1})",
    )
    return out[~dropped], [note]


def repeated_note(n: int, unread: int, *, first: str = "") -> str:
    """What is told where rows were left out that judge an item again by accident.

    Examples
    --------
    >>> repeated_note(1, 0).partition(", few")[0]
    '1 row judges an item again'
    """
    note = (
        f"{n:,} row{'s judge' if n > 1 else ' judges'} an item again{first}, few of them, and no "
        "column numbers repetitions: taken for duplicates and left out, so that agreement between "
        "repetitions is undefined"
    )
    if unread:
        note += (
            f"; {unread:,} item{'s' * (unread > 1)} whose rows contradict each other "
            f"{'are' if unread > 1 else 'is'} unread"
        )
    return note + ". If the judge was asked again, number the repetitions in a column replicate."


def _repeated_rows(table: pd.DataFrame, out: pd.DataFrame, key: list[str]) -> list[str]:
    """A note where every repetition is a row that stands in the file twice, to the letter."""
    again = out.duplicated(key)
    n = int(again.sum())
    if int(out.duplicated([*key, "score", "choice"]).sum()) < n:
        return []
    if int(table.astype(str).duplicated().sum()) < n:
        return []
    text = (
        f"{n:,} row{'s' * (n > 1)} repeat{'s' * (n == 1)} an earlier one to the letter (the first "
        f"is row {int(again.argmax()) + 1}), and no repetition says anything else. If the file was "
        "exported twice, drop them; if the judge was asked again, number the repetitions in a "
        "column replicate."
    )
    return [text]


def _as_shown(source: Path | str, out: pd.DataFrame, options: TableOptions) -> pd.DataFrame:
    """Verdicts on pairs in two orders, as the response that is meant."""
    if "order" not in out or not set(out["choice"].unique()) <= {"a", "b", "tie", ""}:
        if options.as_shown:
            raise InputError(
                f"{source}: --as-shown is about preferences in two orders, and needs a column with "
                "the order (--map order=COLUMN)."
            )
        return out
    orders = [o for o in out["order"].unique() if o != ""]
    if len(orders) != 2:
        return out
    first = next((o for o in orders if str(o).lower() in _FIRST), orders[0])
    later = out["order"] != first
    if options.as_shown:
        turned = out["choice"].map({"a": "b", "b": "a"}).fillna(out["choice"])
        return out.assign(choice=out["choice"].mask(later, turned))
    decided = out[out["choice"].isin(["a", "b"])]
    key = ["item_id", "judge", "temperature"]
    wide = decided.assign(later=later).groupby([*key, "later"], dropna=False)["choice"].first()
    pairs = wide.unstack("later").dropna()
    if len(pairs) < _ENOUGH or pairs.shape[1] != 2:
        return out
    same = float((pairs[False] == pairs[True]).mean())
    first_share = float(((pairs[False] == "a") & (pairs[True] == "b")).mean())
    if same < 0.25 and 0.25 * (1 - same) < first_share < 0.75 * (1 - same):
        raise InputError(
            f"{source}: in the second order ({next(o for o in orders if o != first)!r}) the "
            f"verdict is the other letter for {100 * (1 - same):.0f} % of {len(pairs):,} pairs, "
            "whichever response won in the first: it seems to name the place shown, not the "
            "response. Say so with --as-shown (Python: as_shown=True); if the letters do name "
            "responses, analyse each order by itself (--factor order)."
        )
    return out
