"""Checks of rows across scales, orders, and repeats."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.data.codes import codes_of
from judgestats.data.readers import verdicts
from judgestats.data.readers.columns import (
    PARTS,
    VERDICTS,
    Remark,
    each_distinct,
    folded,
    text_column,
)
from judgestats.data.readers.options import TableOptions
from judgestats.data.readers.roles import group_codes
from judgestats.data.verdict_kinds import PREFERENCES, normalize_value
from judgestats.errors import InputError
from judgestats.protocols.base import Status

_ENOUGH = 20
_COPIES_ENOUGH = 30
_TIMES = 4
_LEVELS = 3
_SHARE = 0.1


def check_scales(source: Path | str, out: pd.DataFrame) -> list[str]:
    """Refuse judges of whom one uses a scale many times as wide as another's; name one who does so.

    Parameters
    ----------
    source : Path or str
    out : DataFrame
        With scores of no stated scale, a judge and factors.

    Returns
    -------
    list of str
        A note a judge whose own scores seem to be of two scales.

    Raises
    ------
    InputError
        Two judges (of one criterion) score on different scales.
    """
    factors = [c for c in out.columns if c.startswith("factor_")]
    read = [c for c in ("judge", "score", "replicate") if c in out]
    scored = out.loc[out["score"].notna(), [*read, *factors]]
    parts = [rows for _, rows in scored.groupby(factors, sort=False)] if factors else [scored]
    notes: dict[str, str] = {}
    for rows in parts:
        own = rows.groupby("judge", sort=False)["score"]
        tops = own.quantile(0.95)[own.size() >= _ENOUGH]
        if _differ(tops) and tops.max() > 10:
            low, high = str(tops.idxmin()), str(tops.idxmax())
            raise InputError(
                f"{source}: the scores seem to be of two scales: {low} gives up to "
                f"{own.max()[low]:g}, {high} up to {own.max()[high]:g}. Bring them to one scale, "
                "or state the one that both use (--scale 0-100)."
            )
        for judge, scores in own:
            note = _mixed_scales(rows.loc[scores.index])
            if note:
                text = (
                    f"The scores of {judge} seem to be of two scales: {note}. Bring them to one, "
                    "or state the one that is used (--scale 0-100)."
                )
                notes.setdefault(str(judge), Remark(text, "two_scales", len(scores)))
    return list(notes.values())


def _differ(tops: pd.Series) -> bool:
    return len(tops) > 1 and tops.min() > 0 and bool(tops.max() >= _TIMES * tops.min())


def _mixed_scales(rows: pd.DataFrame) -> str:
    """How one judge's scores are of two scales, as text; empty where they are of one."""
    scores = rows["score"].to_numpy(float)
    if len(scores) < 2 * _ENOUGH or scores.min() < 0:
        return ""
    if "replicate" in rows:
        runs = rows.groupby("replicate")["score"]
        tops = runs.quantile(0.95)[runs.size() >= _ENOUGH]
        if _differ(tops) and (tops.max() > 10 or _has_mixed_fractions(scores)):
            first, last = int(tops.argmin()), int(tops.argmax())
            highest = runs.max().loc[tops.index]
            return (
                f"repetition {tops.index[first]} goes up to {highest.iloc[first]:g}, "
                f"repetition {tops.index[last]} up to {highest.iloc[last]:g}"
            )
    if scores.max() > 10:
        for part, where in ((scores, "first"), (scores[::-1], "last")):
            n = int(np.argmax(part > 10))
            block, rest, steps = part[:n], part[n:], np.diff(part)
            is_sorted = (steps >= 0).all() or (steps <= 0).all()
            if n < _ENOUGH or len(rest) < _ENOUGH or is_sorted:
                continue
            # A judge who uses all of 0-100 begins with twenty scores of 10 or less by a chance in
            # which nobody believes; a file put together of two begins so.
            if np.quantile(rest, 0.95) >= _TIMES * block.max() > 0:
                return (
                    f"the {where} {n:,} go up to {block.max():g}, the others up to {rest.max():g}"
                )
    if _has_mixed_fractions(scores):
        shares = scores[(scores > 0) & (scores < 1)]
        return (
            f"{len(shares):,} are shares (such as {shares[0]:g}), others go up to {scores.max():g}"
        )
    return _split_levels(scores)


def _has_mixed_fractions(scores: NDArray[np.float64]) -> bool:
    """Whether fractions below 1 are among whole numbers beyond it, and nothing between."""
    share = (scores > 0) & (scores < 1)
    beyond = scores > 1
    return bool(
        share.mean() >= _SHARE
        and beyond.mean() >= _SHARE
        and (scores[beyond] % 1 == 0).all()
        and scores.max() >= _TIMES
        and len(set(scores[share])) >= _LEVELS
    )


def _split_levels(scores: NDArray[np.float64]) -> str:
    """Two groups of scores with nothing between them, one up to 10, one many times as high."""
    levels = np.unique(scores[scores > 0])
    if len(levels) < 2 * _LEVELS or levels[-1] <= 10:
        return ""
    ratio = levels[1:] / levels[:-1]
    at = int(np.argmax(ratio))
    low, high = levels[at], levels[at + 1]
    below, above = float((scores <= low).mean()), float((scores >= high).mean())
    few = min(at + 1, len(levels) - at - 1) < _LEVELS or min(below, above) < _SHARE
    if few or not 1 < low <= 10 < high or high < _TIMES * low:
        return ""
    return f"{100 * below:.0f}% are {low:g} or less, the others {high:g} or more"


_FIRST = frozenset({"ab", "original", "orig", "0", "false", "1", "first", "forward"})
MISTAKES_ENOUGH = 20
"""Rows that all are wrong in one way by no accident."""
REPEATED_SHARE = 0.2
"""Share of the items of a condition; fewer that occur in several rows are duplicates."""


def check_table(
    source: Path | str,
    table: pd.DataFrame,
    out: pd.DataFrame,
    options: TableOptions,
    read: verdicts.Read,
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
        If an export holds everything twice, verdicts name positions, or scores have two scales.
    """
    _duplicate_export(source, table, names)
    out = _as_shown(source, out, options)
    two_scales: list[str] = []
    if options.scale is None and "score" in {k.name for k in read.kinds.values()}:
        two_scales = check_scales(source, out[~out.index.isin(read.far)])
    out, repeated = _drop_duplicates(table, out, names)
    notes = [*two_scales, *repeated]
    for start, what in ((verdicts.INFINITE, "infinite score"), (verdicts.TOO_LARGE, "score")):
        if any(str(reason).startswith(start) for reason in out["reason"].unique()):
            such = out["reason"].astype(str).str.startswith(start)
            n, row = int(such.sum()), int(such.argmax()) + 1
            value = str(out["reason"].iloc[row - 1]).removeprefix(start).lstrip(": ")
            first, far = f"the first in row {row}", ""
            if start == verdicts.TOO_LARGE:
                first, far = f"{value} in row {row}", f"{verdicts.FAR}, "
            text = (
                f"{n:,} {what}{'s' * (n > 1)} ({first}) {'are' if n > 1 else 'is'} {far}no point "
                "of a scale and counted as unparsed."
            )
            notes.append(Remark(text, "no_score", n))
    if "label" in out:
        if "label" not in options.mapping:
            _check_label_scale(source, out, names.get("label", ""))
        both = (out["label"] != "") & (out["status"] == "ok")
        points = each_distinct(out["score"], "{:g}".format)
        said = out["choice"].where(out["choice"] != "", points)[both]
        same = said.astype(str) == out.loc[both, "label"].astype(str)
        if len(same) >= MISTAKES_ENOUGH and same.all() and len(set(said)) > 1:
            text = (
                f"The labels ({names.get('label', 'joined')}) and the verdicts are the same in all "
                f"{len(same):,} rows that have both. Is the label the judge's own verdict?"
            )
            notes.append(Remark(text, "labels_equal_verdicts", len(same)))
    return out, [*notes, *_equal_repeats(out)]


class LabelScaleError(InputError):
    """Labels on another scale than the scores."""


def _check_label_scale(source: Path | str, out: pd.DataFrame, column: str) -> None:
    """Refuse labels on another scale than the scores, such as 1-5 next to 0-100."""
    scores, labels = out["score"].dropna(), pd.to_numeric(out["label"], errors="coerce").dropna()
    if min(len(scores), len(labels)) < _ENOUGH or set(labels) <= {0, 1}:
        return
    # the usual highest values, since one stray 99 is no scale
    low, high, top = np.quantile(scores.astype(float), [0, 1, 0.95]).tolist()
    least, most, usual = np.quantile(labels.astype(float), [0, 1, 0.95]).tolist()
    shares = (low >= 0 and high <= 1) != (least >= 0 and most <= 1)
    apart = max(top, usual) > max(10, _TIMES * min(top, usual))
    if low == high or least == most or not (shares or apart):
        return
    way = f": --ignore {shlex.quote(column)}" if column else ""
    raise LabelScaleError(
        f"{source}: the labels ({least:g} to {most:g}) and the scores ({low:g} to {high:g}) are on "
        f"different scales. Bring one to the scale of the other, or leave the labels out{way}."
    )


def _equal_repeats(out: pd.DataFrame) -> list[str]:
    """Whether every item's repeats are one verdict, as where a cache gave them again."""
    found = out[out["status"] == "ok"]
    settings = (c for c in map(str, out) if c == "temperature" or c.startswith("factor_"))
    within = ["judge", *settings]
    keys = ["item_id", *(["order"] if "order" in out else [])]
    cell, condition = group_codes(found, [*within, *keys]), group_codes(found, within)
    sizes = np.bincount(cell)
    if sizes.max(initial=0) < 3:
        return []
    verdict = group_codes(found, ["score", "choice"])
    pairs = pd.unique(cell * (verdict.max() + 1) + verdict)
    different = np.bincount(pairs // (verdict.max() + 1))
    of_cell = np.zeros(len(sizes), dtype=np.int64)
    of_cell[cell] = condition
    for first in np.sort(np.unique(condition, return_index=True)[1]):
        own = of_cell == condition[first]
        if own.sum() >= _COPIES_ENOUGH and sizes[own].min() >= 3 and different[own].max() == 1:
            text = (
                f"All repeats of all {own.sum():,} items are equal ({found['judge'].iloc[first]}), "
                "as copies from a cache are. If they are copies, consistency is not known."
            )
            return [Remark(text, "copies", int((sizes[own] - 1).sum()))]
    return []


def _duplicate_export(source: Path | str, table: pd.DataFrame, names: Mapping[str, str]) -> None:
    """Refuse a file with each row twice to the letter, in whatever order."""
    n = len(table)
    if n < MISTAKES_ENOUGH or n % 2 or "replicate" in names:
        return
    single = (np.bincount(group_codes(table, [names["item_id"]])) % 2).any()
    if not single and (np.bincount(group_codes(table, [*map(str, table)])) == 2).all():
        raise InputError(
            f"{source}: each of {n // 2:,} rows is there twice to the letter, as in a file that "
            "was exported twice. Drop the copies; if the judge did say all of it again, number "
            "the repetitions in a column replicate."
        )


def _drop_duplicates(
    table: pd.DataFrame, out: pd.DataFrame, names: Mapping[str, str]
) -> tuple[pd.DataFrame, list[str]]:
    """The rows without those that judge an item again by accident, and the notes on them.

    Where no column numbers repetitions and few items of a condition occur in several rows, these
    are not repetitions that would measure agreement. One row per item is kept, one that could be
    read if there is any; where rows contradict each other the item is unparsed.
    """
    if "replicate" in names:
        return out, []
    within = [c for c in out.columns if c in {"judge", "temperature", "order", "stage"}]
    within += [c for c in out.columns if c.startswith("factor_")]
    key = ["item_id", *within]
    if int(group_codes(out, key).max(initial=-1)) + 1 == len(out):
        return out, []
    again = out.duplicated(key)
    several = out.duplicated(key, keep=False)
    items = (~again).groupby([out[c] for c in within], dropna=False).transform("sum")
    many = (several & ~again).groupby([out[c] for c in within], dropna=False).transform("sum")
    chance = several & (many < REPEATED_SHARE * items)
    if not chance.any():
        notes = _repeated_rows(table, out, key)
        sizes = out.groupby(key, dropna=False).size()
        if notes and sizes.min() < sizes.max():
            # Some items twice and others once, no two rows of one apart: no design of repeats.
            first = f" (the first is row {int(again.to_numpy().argmax()) + 1})"
            note = repeated_note(int(again.sum()), 0, first=first, which="each a copy")
            return out[~again], [Remark(note, "duplicated_rows", int(again.sum()))]
        return out, notes
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
    ranked = out.assign(_read=out["status"] != "ok").sort_values("_read", kind="stable")
    dropped = chance & ranked.duplicated(key).reindex(out.index)
    note = repeated_note(
        int(dropped.sum()),
        int((unclear & ~dropped).sum()),
        first=f" (the first is row {int(again.to_numpy().argmax()) + 1})",
    )
    return out[~dropped], [Remark(note, "duplicated_rows", int(dropped.sum()))]


def repeated_note(n: int, unread: int, *, first: str = "", which: str = "few of them") -> str:
    """Note on rows that were left out because they judge an item again by accident.

    Examples
    --------
    >>> repeated_note(1, 0).partition(", few")[0]
    '1 row judges an item again'
    """
    note = (
        f"{n:,} row{'s judge' if n > 1 else ' judges'} an item again{first}, {which}, and no "
        "column numbers repetitions: treated as duplicates and left out, so that agreement between "
        "repetitions is undefined"
    )
    if unread:
        note += (
            f"; {unread:,} item{'s' * (unread > 1)} whose rows contradict each other "
            f"{'are' if unread > 1 else 'is'} unparsed"
        )
    return note + ". If the judge was asked again, number the repetitions in a column replicate."


def _repeated_rows(table: pd.DataFrame, out: pd.DataFrame, key: list[str]) -> list[str]:
    """A note where every repetition is a row that is in the file twice, to the letter."""
    again = out.duplicated(key)
    n = int(again.sum())
    said = out.duplicated([*key, "score", "choice"])
    if said.sum() < n or table.astype(str).duplicated().sum() < n:
        return []
    text = (
        f"{n:,} row{'s' * (n > 1)} repeat{'s' * (n == 1)} an earlier one to the letter (the first "
        f"is row {int(again.argmax()) + 1}), and no repetition says anything else. If the file was "
        "exported twice, drop them; if the judge gave repeats, number the repetitions in a "
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
    if len(pairs) < MISTAKES_ENOUGH or pairs.shape[1] != 2:
        return out
    same = float((pairs[False] == pairs[True]).mean())
    first_share = float(((pairs[False] == "a") & (pairs[True] == "b")).mean())
    if same < 0.25 and 0.25 * (1 - same) < first_share < 0.75 * (1 - same):
        raise InputError(
            f"{source}: in the second order ({next(o for o in orders if o != first)!r}) the "
            f"verdict is the other letter for {100 * (1 - same):.0f}% of {len(pairs):,} pairs, "
            "whichever response won in the first: it seems to name the position, not the "
            "response. Say so with --as-shown (Python: as_shown=True); if the letters do name "
            "responses, analyse each order by itself (--factor order)."
        )
    return out


_MARKS = (";", "|", "::", "__", "/")
_MOSTLY = 0.8


def with_pairs_of_ids(
    source: Path | str, table: pd.DataFrame, names: Mapping[str, str], options: TableOptions
) -> tuple[pd.DataFrame, dict[str, str], str]:
    """The table with the question and the two models that an item's id joins (``81;gpt;claude``).

    Parameters
    ----------
    source : Path or str
    table : DataFrame
    names : mapping of our column to theirs
    options : TableOptions

    Returns
    -------
    tuple of DataFrame, dict and str
        All as given unless most ids also occur with their last two parts swapped, and the verdicts
        are preferences.

    Examples
    --------
    >>> rows = pd.DataFrame({"pair": ["1;x;y", "1;y;x"], "winner": ["A", "B"]})
    >>> found, names, said = with_pairs_of_ids("f", rows, {"item_id": "pair", "choice": "winner"},
    ...                                        TableOptions())
    >>> found[[names["item_id"], "model_a", "model_b"]].values.tolist()
    [['1', 'x', 'y'], ['1', 'y', 'x']]
    """
    given = dict(names)
    item = given.get("item_id", "")
    question = f"question of {item}"
    stated = "order" in given or options.item or options.labels is not None
    taken = {"model_a", "model_b", question} & set(table.columns)
    if not item or stated or taken or verdicts.side_columns(table) is not None:
        return table, given, ""
    codes, ids = codes_of(text_column(table[item]))
    mark = next((m for m in _MARKS if len(ids) and all(v.count(m) >= 2 for v in ids)), "")
    if not mark:
        return table, given, ""
    parts = [v.rsplit(mark, 2) for v in ids]
    id_set = set(ids)
    twins = [mark.join((q, b, a)) in id_set and a != b for q, a, b in parts]
    if np.mean(twins) < _MOSTLY or not _preferences(source, table, given, options):
        return table, given, ""
    own = np.array(parts, dtype=object)[codes]
    table = table.assign(**{question: own[:, 0], "model_a": own[:, 1], "model_b": own[:, 2]}).drop(
        columns=item
    )
    return table, {**given, "item_id": question}, f"{item} joins a question and two models ({mark})"


def with_orders(
    source: Path | str, table: pd.DataFrame, names: Mapping[str, str], options: TableOptions
) -> tuple[pd.DataFrame, dict[str, str], str]:
    """The table with every pair named one way, the order in a column, and a note on it.

    Parameters
    ----------
    source : Path or str
    table : DataFrame
    names : mapping of our column to theirs
    options : TableOptions

    Returns
    -------
    tuple of DataFrame, dict and str
        All as given where no pair occurs in both orders, or where the verdicts are not preferences.

    Examples
    --------
    >>> rows = pd.DataFrame({"id": [1, 1], "model_a": ["x", "y"], "model_b": ["y", "x"],
    ...                      "winner": ["model_a", "model_a"]})
    >>> found, names, said = with_orders("f", rows, {"item_id": "id", "choice": "winner"},
    ...                                  TableOptions())
    >>> found[["model_a", "winner", names["order"]]].values.tolist()
    [['x', 'model_a', 'ab'], ['x', 'model_b', 'ba']]
    >>> said
    '1 pair of model_a and model_b stands in both orders, read as two orders of one pair'
    """
    given = dict(names)
    own = {folded(c): str(c) for c in table.columns}
    sides = verdicts.side_columns(table)
    if sides is None or "order" in given or options.labels is not None or "item_id" not in given:
        return table, given, ""
    first, second = sides
    if {first, second} & set(given.values()):
        return table, given, ""
    key = [given["item_id"], *[c for c in options.item if c not in {first, second}]]
    key += [c for f, c in own.items() if f in PARTS and c not in {first, second, *given.values()}]
    turned, pairs = _turned(table, key, first, second)
    if not pairs or not _preferences(source, table, given, options):
        return table, given, ""
    a, b = table[first].astype(object), table[second].astype(object)
    order = "order shown" if "order shown" not in table else "order (of the pair)"
    one_way = {first: a.mask(turned, b), second: b.mask(turned, a)}
    table = table.assign(**one_way, **{order: np.where(turned, "ba", "ab")})
    opposite = _opposite(options)
    for column in {given[n] for n in (*VERDICTS, "label") if n in given}:
        other = [opposite.get(normalize_value(v), v) for v in table.loc[turned, column]]
        table[column] = table[column].astype(object)
        table.loc[turned, column] = pd.Series(other, index=table.index[turned], dtype=object)
    several = pairs > 1
    text = (
        f"{pairs:,} pair{'s' * several} of {first} and {second} stand{'s' * (not several)} in both "
        "orders, read as two orders of one pair"
    )
    return table, {**given, "order": order}, text


def _turned(
    table: pd.DataFrame, key: list[str], first: str, second: str
) -> tuple[np.ndarray[Any, np.dtype[np.bool_]], int]:
    """Which rows give a pair the other way round than its first row, and how many pairs have so."""
    both = pd.concat([table[first], table[second]], ignore_index=True).astype(str)
    codes, _ = pd.factorize(both)
    a, b = codes[: len(table)].astype(np.int64), codes[len(table) :].astype(np.int64)
    wide = int(codes.max(initial=0)) + 1
    base = group_codes(table, list(dict.fromkeys(key)))
    pair = (base * wide + np.minimum(a, b)) * wide + np.maximum(a, b)
    number, _ = pd.factorize(pair)
    begins = np.unique(number, return_index=True)[1]
    turned = (a < b) != (a < b)[begins][number]
    return turned, len(np.unique(number[turned]))


def _preferences(
    source: Path | str, table: pd.DataFrame, names: Mapping[str, str], options: TableOptions
) -> bool:
    """Whether the verdicts say which of the two is better."""
    for role in VERDICTS:
        if role in names and options.kind in {"", "preference"}:
            kind = verdicts.kind_of_column(source, table[names[role]], names[role], role, options)
            return kind.name == "preference"
    return False


def _opposite(options: TableOptions) -> dict[str, str]:
    """How each spelling of a and b is spelled for the other."""
    codes = {v: normalize_value(k) for k, v in options.values.items()}
    if {"a", "b"} <= set(codes):
        return {codes["a"]: codes["b"], codes["b"]: codes["a"]}
    words = [[w for w, v in PREFERENCES.items() if v == side] for side in ("a", "b")]
    return dict(zip(*words, strict=True)) | dict(zip(*words[::-1], strict=True))
