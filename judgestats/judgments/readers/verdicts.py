"""A table's verdicts: what kind they are, criterion by criterion, and each one read."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from judgestats.arrays import LARGEST
from judgestats.errors import InputError
from judgestats.judgments.kinds import PREFERENCES, Kind, counted_words, kind_of, spelling
from judgestats.judgments.numerals import numbers_of
from judgestats.judgments.readers.names import VERDICTS, no_column
from judgestats.judgments.readers.options import TableOptions
from judgestats.judgments.readers.understanding import Understanding, names_criteria
from judgestats.judgments.words import (
    FAIL,
    PASS,
    STATUS_OF,
    not_understood,
    pass_fail_words,
    stated_meaning,
    stated_words,
)
from judgestats.protocols.base import Status
from judgestats.protocols.reading import PairForm, ScoreForm, read_reply
from judgestats.protocols.scale import Scale

_SCALES = ((0.0, 1.0), (1.0, 5.0), (0.0, 5.0), (1.0, 7.0), (1.0, 10.0), (0.0, 10.0), (0.0, 100.0))
_SEVERAL = 3
_ABSURD = 100
"""Times their range and size that a score lies beyond others if it is none of their scale."""
_WIDE = Scale(-(10**6), 10**6)


@dataclass(frozen=True, kw_only=True)
class Read:
    """Verdicts as they were read.

    `kinds` has the kind of each criterion (the empty name where there is one), which the column
    `criterion` names; `description` is the line for people; `scale` is stated or told by the
    values, never assumed; `far` has the index of scores that lie far from all others.
    """

    score: pd.Series
    choice: pd.Series
    reason: pd.Series
    status: pd.Series
    kinds: Mapping[str, Kind]
    description: str
    scale: tuple[float, float] | None
    notes: tuple[str, ...] = ()
    criterion: str = ""
    far: frozenset[Any] = frozenset()


def read_verdicts(
    source: Path | str,
    table: pd.DataFrame,
    names: Mapping[str, str],
    understanding: Understanding,
    options: TableOptions,
) -> Read:
    """Decide the kind of each criterion's verdicts, and read them.

    Parameters
    ----------
    source : Path or str
    table : DataFrame
    names : mapping of our column to theirs
    understanding : Understanding
    options : TableOptions

    Returns
    -------
    Read
    """
    score = pd.Series(np.nan, index=table.index)
    choice = pd.Series("", index=table.index, dtype=object)
    reason = pd.Series("the file has no verdict here", index=table.index, dtype=object)
    status = pd.Series(Status.UNPARSEABLE.value, index=table.index, dtype=object)
    criteria = next((c for c in understanding.factors if names_criteria(c) or "[]" in c), "")
    groups = (
        {str(k): g.index for k, g in table.groupby(criteria, sort=False)}
        if criteria
        else {"": table.index}
    )
    columns = [(role, names[role]) for role in VERDICTS if role in names]
    kinds: dict[str, Kind] = {}
    lines: list[str] = []
    scales: set[tuple[float, float] | None] = set()
    notes: list[str] = []
    far: set[Any] = set()
    kind_by_group = {
        (name, column): kind_of_column(source, table.loc[rows, column], column, role, options)
        for name, rows in groups.items()
        for role, column in columns
        if len(columns) == 1 or table.loc[rows, column].notna().any()
    }
    scored = {column for (_, column), kind in kind_by_group.items() if kind.name == "score"}
    for name, rows in groups.items():
        for role, column in columns:
            if (name, column) not in kind_by_group:
                continue
            kind, values = kind_by_group[name, column], table.loc[rows, column]
            if column in scored and kind.name == "preference" and _are_numbers(values):
                # a criterion of which only 1 and 2 occur, beside criteria on a scale
                as_scores = dataclasses.replace(options, kind="score")
                kind = kind_of_column(source, values, column, role, as_scores)
            if name in kinds and kind.name != "score" and kinds[name].name != "score":
                notes.append(f"The column {column!r} is not used beside the other verdicts.")
                continue
            kinds.setdefault(name, kind)
            numbers, words, why, became = coded(values, kind)
            score.loc[rows] = numbers.where(numbers.notna(), score.loc[rows])
            choice.loc[rows] = words.where(words != "", choice.loc[rows])
            reason.loc[rows], status.loc[rows] = why, became
            shown = f"verdict = `{column}`{f' ({name})' if name else ''}: {kind.description}"
            if kind.name == "score":
                scale_words, assumed, alone = _scale_said(numbers, options.scale, kind.scale)
                shown += f" {scale_words}"
                notes += assumed
                far |= alone
                scales.add(options.scale or kind.scale)
            lines.append(shown)
    scale = scales.pop() if len(scales) == 1 else None
    # A scale that only the cells tell ("8/10") holds where all of them do.
    return Read(
        score=score,
        choice=choice,
        reason=reason,
        status=status.mask(score.notna() | (choice != ""), Status.OK.value),
        kinds=kinds,
        description="; ".join(lines) or "verdict: none read",
        scale=scale,
        notes=tuple(notes),
        criterion=criteria,
        far=frozenset(far),
    )


def _are_numbers(values: pd.Series) -> bool:
    return bool((~np.isnan(numbers_of(values.dropna().tolist()))).all())


def kind_of_column(
    source: Path | str,
    values: pd.Series,
    column: str,
    role: str,
    options: TableOptions,
    rows: Sequence[int] | None = None,
) -> Kind:
    """The kind of a file's column, as `judgestats.judgments.kinds.kind_of` decides it."""
    try:
        return kind_of(
            values,
            column=column,
            role=role,
            kind=options.kind,
            passes=options.passes,
            fails=options.fails,
            stated=stated_words(options.values, "verdict"),
            rows=rows,
            scale=options.scale,
            read=_score_in,
        )
    except InputError as error:
        raise InputError(f"{source}: {error}") from None


def kind_line(
    numbers: pd.Series, column: str, kind: Kind, options: TableOptions, rows: Sequence[int]
) -> tuple[str, tuple[str, ...]]:
    """What a column was taken for, in words, and which scores lie far from all others.

    Parameters
    ----------
    numbers : Series
        The different scores, as `coded` reads them.
    column : str
    kind : Kind
    options : TableOptions
    rows : sequence of int
        How many rows hold each.

    Returns
    -------
    tuple of str and tuple of str
        What is printed before any number; notes.
    """
    line = f"verdict = `{column}`: {kind.description}"
    if kind.name != "score":
        return line, ()
    counts = pd.Series(rows, index=numbers.index)
    scale, notes, _ = _scale_said(numbers, options.scale, kind.scale, counts)
    return f"{line} {scale}", notes


@cache
def _score_in(text: str) -> float | None:
    return read_reply(text, ScoreForm(_WIDE)).score


def coded(values: pd.Series, kind: Kind) -> tuple[pd.Series, pd.Series, pd.Series, pd.Series]:
    """Verdicts of a kind as scores and words, with reason and status where there is neither.

    Parameters
    ----------
    values : Series
    kind : Kind

    Returns
    -------
    tuple of Series
        Scores (NaN where there is none), words (empty where there is none), reasons, statuses.

    Examples
    --------
    >>> from judgestats.judgments.kinds import kind_of
    >>> cells = pd.Series(["1", "0", ""])
    >>> coded(cells, kind_of(cells, column="passed"))[1].tolist()
    ['pass', 'fail', '']
    """
    codes, distinct = pd.factorize(values, use_na_sentinel=False)
    spelled = [spelling(v) for v in distinct]
    if kind.name == "score":
        read = numbers_of(pd.Series([kind.codes.get(s, v)
                                     for v, s in zip(distinct, spelled, strict=True)]))  # fmt: skip
        if "read from texts" in kind.description:
            read = np.array(
                [n if not np.isnan(n) else (_score_in(str(v)) if s else None)
                 for n, v, s in zip(read, distinct, spelled, strict=True)], dtype=float,
            )  # fmt: skip
        words = np.full(len(distinct), "", dtype=object)
        why = [_no_score(v) if s else "the file has no score here"
               for v, s in zip(distinct, spelled, strict=True)]  # fmt: skip
    else:
        read = np.full(len(distinct), np.nan)
        coded_words: list[str] = (
            [kind.codes.get(s, "") for s in spelled]
            if kind.codes
            else [_word(v, kind) for v in distinct]
        )
        words = np.array(coded_words, dtype=object)
        why = [f"no verdict of this kind: {str(v)[:60]}" if s else "the file has no verdict here"
               for v, s in zip(distinct, spelled, strict=True)]  # fmt: skip
    at = values.index
    became = [STATUS_OF[kind.statuses.get(s, "unparsed")].value for s in spelled]
    return (
        pd.Series(read[codes], index=at, dtype=float),
        pd.Series(words[codes], index=at, dtype=object),
        pd.Series(np.array(why, dtype=object)[codes], index=at, dtype=object),
        pd.Series(np.array(became, dtype=object)[codes], index=at, dtype=object),
    )


def coded_choices(frame: pd.DataFrame, values: Mapping[str, str] | None = None) -> pd.DataFrame:
    """A parsed frame with words that say pass and fail, or what was stated of them, as that.

    Parameters
    ----------
    frame : DataFrame
        A frame of any other verdicts, or of categories, is returned as it is.
    values : mapping of word to meaning, optional
        As `TableOptions` has it.

    Returns
    -------
    DataFrame

    Raises
    ------
    InputError
        Some verdicts say pass or fail, and others are words that are not understood.

    Examples
    --------
    >>> frame = pd.DataFrame({"choice": ["Yes", "no", "error: timeout", ""], "status": "ok"})
    >>> found = coded_choices(frame)
    >>> found["choice"].tolist(), found["status"].tolist()
    (['pass', 'fail', '', ''], ['ok', 'ok', 'failed', 'ok'])
    """
    stated = stated_words(values or {}, "verdict")
    words = frame["choice"].where(frame["choice"] != "", None)
    counts = counted_words(words)
    told = any(stated_meaning(w, stated) for w in counts)
    if not told:
        category = "verdict_kind" in frame and frame["verdict_kind"].eq("category").any()
        found = pass_fail_words(counts)
        if (
            category
            or not found.is_binary
            or set(counts) <= {PASS, FAIL, *PREFERENCES} - {"1", "0"}
        ):
            return frame
        if found.unknown:
            raise not_understood("verdict", found.unknown)
    kind = kind_of(words, column="verdict", kind="" if told else "pass-fail", stated=stated)
    numbers, choice, why, became = coded(words, kind)
    lost = (frame["choice"] != "") & (choice == "") & numbers.isna()
    out = frame.assign(choice=choice, status=frame["status"].mask(lost, became))
    if kind.name == "score":
        out["score"] = frame["score"].where(numbers.isna(), numbers)
    if "reason" in out:
        out["reason"] = out["reason"].mask(lost, why)
    out.attrs = dict(frame.attrs)
    return out


FAR = "far from all others"
"""What a note says of scores that may be mistakes."""
KEPT_FAR = f"{FAR} ("
"""What it says where they are kept."""
INFINITE, TOO_LARGE = "an infinite score", "a score too large to compute with"
"""How the reason begins why such a score is unread."""


def _no_score(value: object) -> str:
    if str(value).strip().lstrip("+-").lower() in {"inf", "infinity", "∞"}:
        return f"{INFINITE}: {value}"
    return f"{TOO_LARGE if is_too_large(value) else 'not a number'}: {str(value)[:60]}"


def is_too_large(value: object) -> bool:
    """Whether a cell is a number that nothing is computed with, or an infinite one."""
    try:
        return abs(float(str(value)[:400])) > LARGEST
    except ValueError:
        return False


def _word(value: object, kind: Kind) -> str:
    word = spelling(value)
    if word in kind.statuses:
        return ""
    return str(value).strip() if isinstance(value, str) else word


def _scale_said(
    numbers: pd.Series,
    stated: tuple[float, float] | None,
    text: tuple[float, float] | None,
    counts: pd.Series | None = None,
) -> tuple[str, tuple[str, ...], set[Any]]:
    """The scale in words, what lies strangely far from the rest in words, and its index.

    `counts` has the rows of each number, where `numbers` are the different ones.
    """
    if ends := stated or text:
        by = "as stated" if stated else "as its cells say"
        return f"on the scale {ends[0]:g}-{ends[1]:g}, {by}", (), set()
    kept = numbers.dropna()
    if kept.empty:
        return "on no known scale", (), set()
    rows = pd.Series(1, index=kept.index) if counts is None else counts.loc[kept.index]
    alone = _lone(kept, rows)
    most = kept.drop(index=list(alone.index))
    n = int(rows.loc[alone.index].sum())
    low, high = float(most.min()), float(most.max())
    fits = next((s for s in _SCALES if s[0] <= low and high <= s[1] and _uses(most, s)), None)
    if len(set(most)) < _SEVERAL:
        fits = None  # one value, or two, do not tell a scale
    they = f"all but {n:,}" if n else "they"
    range_text = (
        f"on the scale {fits[0]:g}-{fits[1]:g}, assumed since {they} run from {low:g} to {high:g} "
        "(--scale states it)"
        if fits
        else f"from {low:g} to {high:g}{f' in all rows but {n:,}' if n else ''} "
        "(--scale states the scale)"
    )
    if not n:
        return range_text, (), set()
    far = _beyond(alone, low, high, _ABSURD * max(1.0, high - low, abs(low), abs(high)))
    place = "outside the range of all others (" if far.empty else KEPT_FAR
    first = zip(alone.index[:3].astype(int).tolist(), alone.head(3).tolist(), strict=True)
    places = [f"{v:.15g}" + ("" if counts is not None else f" in row {i + 1}") for i, v in first]
    more = " and others" if len(alone) > len(places) else ""
    lone = (
        f"{n:,} of {int(rows.sum()):,} scores {'lies' if n == 1 else 'lie'} {place}{low:g} to "
        f"{high:g}): {', '.join(places)}{more}. If that is a mistake, correct the file; state the "
        f"scale (--scale {_scale_text(fits, low, high)}) to have such scores refused."
    )
    return range_text, (lone,), set(alone.index)


def _scale_text(fits: tuple[float, float] | None, low: float, high: float) -> str:
    return (
        f"{fits[0]:g}-{fits[1]:g}"
        if fits
        else f"{int(low)}-{max(int(np.ceil(high)), int(low) + 1)}"
    )


def _lone(kept: pd.Series, rows: pd.Series) -> pd.Series:
    """Scores far from all others.

    At most one in two hundred (or one of 10) beyond twice the range of the others; or at most one
    in ten beyond a hundred times their range and size, as a time stamp among grades is.
    """
    n = int(rows.sum())
    values = kept.sort_values()
    each = rows.loc[values.index]
    end = each.cumsum()
    for most, times in ((max(1, n // 200), 2), (n // 10, _ABSURD)):
        bulk = values[(end > most) & (end - each < n - most)]
        if n < 10 or bulk.empty:
            continue
        low, high = float(bulk.min()), float(bulk.max())
        size = max(1.0, high - low, *((abs(low), abs(high)) if times > 2 else ()))
        far = _beyond(values, low, high, times * size)
        if 0 < int(each.loc[far.index].sum()) <= most:
            return far.sort_index()
    return kept.iloc[:0]


def _beyond(values: pd.Series, low: float, high: float, gap: float) -> pd.Series:
    return values[(values > high + gap) | (values < low - gap)]


def _uses(kept: pd.Series, scale: tuple[float, float]) -> bool:
    return scale[1] > 1 or bool((kept % 1 != 0).any())


def read_texts(
    source: Path | str, table: pd.DataFrame, names: dict[str, str], options: TableOptions
) -> tuple[pd.DataFrame, dict[str, str]]:
    """Verdicts read out of replies, by a protocol's reader or a regular expression.

    Parameters
    ----------
    source : Path or str
    table : DataFrame
    names : dict
        Our column to theirs; the replies are in ``raw_text``, or where the verdict is.
    options : TableOptions

    Returns
    -------
    tuple of DataFrame and dict
        With a column of what was read, which is the verdict now.
    """
    column = next((names[n] for n in ("raw_text", *VERDICTS) if n in names), "")
    if not column:
        raise no_column(source, "raw_text", "raw_text (the replies)", table)
    reader = _reader(options)
    codes, distinct = pd.factorize(table[column], use_na_sentinel=False)
    readings: list[Any] = [reader(str(v)) if isinstance(v, str) else None for v in distinct]
    read = pd.Series(readings, dtype=object).to_numpy()[codes]
    if readings and all(v is None for v in readings):
        raise InputError(
            f"{source}: --parse {options.parse!r} reads no verdict in any of the {len(distinct):,} "
            f"different replies of {column!r}; the first is {str(distinct[0])[:60]!r}."
        )
    kept = {k: v for k, v in names.items() if k not in VERDICTS}
    table = table.assign(**{f"{column} (read)": pd.Series(read, index=table.index).infer_objects()})
    return table, {**kept, "raw_text": column, "verdict": f"{column} (read)"}


def _reader(options: TableOptions) -> Callable[[str], Any]:
    if options.parse == "pointwise":
        low, high = options.scale or (float(_WIDE.low), float(_WIDE.high))
        scale = Scale(int(low), int(high))
        return lambda text: read_reply(text, ScoreForm(scale)).score
    if options.parse == "pairwise":
        return lambda text: read_reply(text, PairForm()).choice
    try:
        pattern = re.compile(options.parse)
    except re.error as error:
        raise InputError(
            f"--parse {options.parse!r} is neither pointwise, pairwise nor a regular expression "
            f"({error})."
        ) from None
    if pattern.groups != 1:
        raise InputError(
            f"--parse {options.parse!r}: a regular expression needs one group, around the verdict "
            "(as in 'Score: (\\d+)')."
        )

    def read(text: str) -> Any:
        hits = set(pattern.findall(text[:200_000]))
        return hits.pop() if len(hits) == 1 else None

    return read
