"""Verdicts of a table, and preferences that name a system."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from judgestats.arrays import LARGEST
from judgestats.data import vocabulary
from judgestats.data.codes import codes_of, texts_by_code
from judgestats.data.readers.columns import (
    SIDES,
    VERDICTS,
    Remark,
    each_distinct,
    folded,
    nested,
    no_column,
    text_column,
)
from judgestats.data.readers.options import TableOptions
from judgestats.data.readers.roles import ColumnRoles, names_criteria
from judgestats.data.verdict_kinds import (
    PREFERENCES,
    Kind,
    RepliesError,
    check_direction,
    counted_words,
    kind_of,
    normalize_value,
    numbers_of,
)
from judgestats.errors import InputError
from judgestats.protocols import PairForm, Scale, ScoreForm, Status, read_reply

_SCALES = ((0.0, 1.0), (1.0, 5.0), (0.0, 5.0), (1.0, 7.0), (1.0, 10.0), (0.0, 10.0), (0.0, 100.0))
_SHORT_SCALES = ((0.0, 3.0), (0.0, 4.0), (1.0, 3.0), (1.0, 4.0))
"""Scales that are assumed where both ends were seen."""
_SEVERAL = 3
_ABSURD = 100
"""Multiple of the other scores' range and size beyond which a score is not on their scale."""
_WIDE = Scale(-(10**6), 10**6)
_LONGEST_READ = 200_000


@dataclass(frozen=True, kw_only=True)
class Read:
    """Parsed verdicts of a file.

    `kinds` has the kind of each criterion in the column `criterion` (with an empty name if there is
    only one). `description` is the line for users. `scale` is stated or inferred from the
    values, never assumed. `far` has the index of scores that are far from all others.
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
    understanding: ColumnRoles,
    options: TableOptions,
) -> Read:
    """Decide the kind of each criterion's verdicts, and read them.

    Parameters
    ----------
    source : Path or str
    table : DataFrame
    names : mapping of our column to theirs
    understanding : ColumnRoles
    options : TableOptions

    Returns
    -------
    Read
    """
    nothing = {
        "score": np.nan,
        "choice": "",
        "reason": "the file has no verdict here",
        "status": Status.MISSING.value,
    }
    parts: list[pd.DataFrame] = []
    named = (c for c in understanding.factors if names_criteria(c) or "[]" in c)
    criteria = understanding.criterion or next(named, "")
    groups = (
        {str(k): g.index for k, g in table.groupby(text_column(table[criteria]), sort=False)}
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
        own = pd.DataFrame(nothing, index=rows)
        for role, column in columns:
            if (name, column) not in kind_by_group:
                continue
            kind, values = kind_by_group[name, column], table.loc[rows, column]
            if column in scored and kind.name == "preference" and _are_numbers(values):
                # a criterion of which only 1 and 2 occur, beside criteria on a scale
                as_scores = dataclasses.replace(options, kind="score")
                kind = kind_of_column(source, values, column, role, as_scores)
            if name in kinds and kind.name != "score" and kinds[name].name != "score":
                text = f"The column {column!r} is not used next to the other verdicts."
                notes.append(Remark(text, "column_unused"))
                continue
            kinds.setdefault(name, kind)
            numbers, words, why, became = coded(values, kind)
            own = own.assign(
                score=numbers.where(numbers.notna(), own["score"]),
                choice=words.where(words != "", own["choice"]),
                reason=why,
                status=became,
            )
            shown = _described(column, kind, name)
            if kind.name == "score":
                scale_words, assumed, alone = _describe_scale(numbers, options.scale, kind.scale)
                shown += f" {scale_words}"
                notes += assumed
                far |= alone
                scales.add(options.scale or kind.scale)
            lines.append(shown)
        parts.append(own)
    whole = parts[0] if len(parts) == 1 else pd.concat(parts).loc[table.index]
    has_verdict = whole["score"].notna() | (whole["choice"] != "")
    scale = scales.pop() if len(scales) == 1 else None
    # A scale that only the cells tell ("8/10") holds where all of them do.
    return Read(
        score=whole["score"],
        choice=whole["choice"],
        reason=whole["reason"],
        status=whole["status"].mask(has_verdict, Status.OK.value),
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
    """The kind of a file's column, as `judgestats.data.verdict_kinds.kind_of` decides it."""
    try:
        kind = kind_of(
            values,
            column=column,
            role=role,
            kind=options.kind,
            passes=options.passes,
            fails=options.fails,
            stated=vocabulary.stated_words(options.values, "verdict"),
            rows=rows,
            scale=options.scale,
            read=_score_in,
        )
    except RepliesError as error:
        raise RepliesError(column, f"{source}: {error}") from None
    except vocabulary.MeaningError as error:
        raise error.at(source) from None
    except InputError as error:
        raise InputError(f"{source}: {error}") from None
    if kind.name == "pass-fail":
        check_direction(source, column, kind.codes, kind.stated)
    return kind


def _described(column: str, kind: Kind, criterion: str) -> str:
    """The column, its criterion, and its kind."""
    return f"verdict = `{column}`{f' ({criterion})' if criterion else ''}: {kind.description}"


def kind_line(
    numbers: pd.Series,
    column: str,
    kind: Kind,
    options: TableOptions,
    rows: Sequence[int],
    criterion: str = "",
) -> tuple[str, tuple[str, ...]]:
    """Describe the kind of a column, and the scores that are far from all others.

    Parameters
    ----------
    numbers : Series
        The different scores, as `coded` reads them.
    column : str
    kind : Kind
    options : TableOptions
    rows : sequence of int
        How many rows hold each.
    criterion : str
        Whose verdicts they are, where there are several.

    Returns
    -------
    tuple of str and tuple of str
        What is printed before any number; notes.
    """
    line = _described(column, kind, criterion)
    if kind.name != "score":
        return line, ()
    counts = pd.Series(rows, index=numbers.index)
    scale, notes, _ = _describe_scale(numbers, options.scale, kind.scale, counts)
    return f"{line} {scale}", notes


@cache
def _score_in(text: str) -> float | None:
    return read_reply(text, ScoreForm(_WIDE, stored=True)).score


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
    >>> from judgestats.data.verdict_kinds import kind_of
    >>> cells = pd.Series(["1", "0", ""])
    >>> coded(cells, kind_of(cells, column="passed"))[1].tolist()
    ['pass', 'fail', '']
    """
    codes, distinct = codes_of(values)
    spelled = [normalize_value(v) for v in distinct]
    if kind.name == "score":
        read = numbers_of([math.nan if s in kind.statuses else kind.codes.get(s, v)
                           for v, s in zip(distinct, spelled, strict=True)])  # fmt: skip
        if "read from texts" in kind.description:
            read = np.array(
                [n if not np.isnan(n) else (_score_in(str(v)) if s else None)
                 for n, v, s in zip(read, distinct, spelled, strict=True)], dtype=float,
            )  # fmt: skip
        words = [""] * len(distinct)
        why = [_no_score(v) if s else "the file has no score here"
               for v, s in zip(distinct, spelled, strict=True)]  # fmt: skip
    else:
        read = np.full(len(distinct), np.nan)
        words = (
            [kind.codes.get(s, "") for s in spelled]
            if kind.codes
            else [_word(v, kind) for v in distinct]
        )
        why = [f"no verdict of this kind: {str(v)[:60]}" if s else "the file has no verdict here"
               for v, s in zip(distinct, spelled, strict=True)]  # fmt: skip
    at = values.index
    why = ["" if w or n == n else y for w, n, y in zip(words, read.tolist(), why, strict=True)]  # noqa: PLR0124
    became = [
        vocabulary.STATUS_OF[kind.statuses.get(s, "unparsed" if s else "missing")].value
        for s in spelled
    ]
    choice, reason, status = (texts_by_code(texts, codes, at) for texts in (words, why, became))
    return pd.Series(read[codes], index=at, dtype=float), choice, reason, status


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
    stated = vocabulary.stated_words(values or {}, "verdict")
    counts = counted_words(frame["choice"])
    told = any(vocabulary.stated_meaning(w, stated) for w in counts)
    if not told:
        category = "verdict_kind" in frame and frame["verdict_kind"].eq("category").any()
        found = vocabulary.pass_fail_words(counts)
        if (
            category
            or not found.is_binary
            or set(counts) <= {vocabulary.PASS, vocabulary.FAIL, *PREFERENCES} - {"1", "0"}
        ):
            return frame
        if found.unknown:
            raise vocabulary.not_understood("verdict", found.unknown)
    words = frame["choice"].astype(str).where(frame["choice"] != "", None)
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


ALL_OTHERS = "all others"
"""What a note names where it names scores that may be mistakes."""
FAR = f"far from {ALL_OTHERS}"
"""Text where scores are far away."""
KEPT_FAR = f"{FAR} ("
"""What it says where they are kept."""
INFINITE, TOO_LARGE = "an infinite score", "a score too large to compute with"
"""First words of the reason why such a score is unparsed."""


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
    word = normalize_value(value)
    if word in kind.statuses:
        return ""
    return str(value).strip() if isinstance(value, str) else word


def _describe_scale(
    numbers: pd.Series,
    stated: tuple[float, float] | None,
    text: tuple[float, float] | None,
    counts: pd.Series | None = None,
) -> tuple[str, tuple[str, ...], set[Any]]:
    """The scale as text, the outlying scores as text, and their index.

    `counts` has the rows of each number, where `numbers` are the different ones.
    """
    if ends := stated or text:
        by = "as stated" if stated else "as its cells say"
        return f"on the scale {ends[0]:g}-{ends[1]:g}, {by}", (), set()
    values, rows = numbers.dropna(), counts
    if values.empty:
        return "on no known scale", (), set()
    if rows is None:
        rows = values.value_counts()
        values = rows.index.to_series()
    alone = _lone(values, rows.loc[values.index])
    most = values.drop(index=list(alone.index))
    n = int(rows.loc[alone.index].sum())
    low, high = float(most.min()), float(most.max())
    whole = (most % 1 == 0).all()
    around = (s for s in _SCALES if s[0] <= low and high <= s[1])
    fits = next((s for s in around if s[1] > 1 or not whole), None)
    fits = (low, high) if (low, high) in _SHORT_SCALES and whole else fits
    if len(set(most)) < _SEVERAL:
        fits = None  # one value, or two, do not tell a scale
    scale = f"{fits[0]:g}-{fits[1]:g}" if fits else ""
    they = f"all except {n:,}" if n else "they"
    range_text = (
        f"on the scale {scale}, assumed since {they} run from {low:g} to {high:g} "
        "(--scale states it)"
        if fits
        else f"from {low:g} to {high:g}{f' in all rows but {n:,}' if n else ''} "
        "(--scale states the scale)"
    )
    if not n:
        return range_text, (), set()
    alone = numbers[numbers.isin(alone)] if counts is None else alone
    far = _far_values(alone, low, high, _ABSURD * max(1.0, high - low, abs(low), abs(high)))
    place = f"outside the range of {ALL_OTHERS} (" if far.empty else KEPT_FAR
    first = zip(alone.index[:3].astype(int).tolist(), alone.head(3).tolist(), strict=True)
    places = [f"{v:.15g}" + ("" if counts is not None else f" in row {i + 1}") for i, v in first]
    more = " and others" if len(alone) > len(places) else ""
    scale = scale or f"{int(low)}-{max(int(np.ceil(high)), int(low) + 1)}"
    lone = (
        f"{n:,} of {int(rows.loc[values.index].sum()):,} scores {'lies' if n == 1 else 'lie'} "
        f"{place}{low:g} to {high:g}): {', '.join(places)}{more}. If that is a mistake, correct "
        f"the file; state the scale (--scale {scale}) to have such scores "
        "refused."
    )
    return range_text, (Remark(lone, "far_score", n),), set(alone.index)


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
        far = _far_values(values, low, high, times * size)
        if 0 < int(each.loc[far.index].sum()) <= most:
            return far.sort_index()
    return kept.iloc[:0]


def _far_values(values: pd.Series, low: float, high: float, gap: float) -> pd.Series:
    vanishing = (values.abs() < 1 / LARGEST) & (values != 0)
    return values[(values > high + gap) | (values < low - gap) | vanishing]


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
    if nested(table[column]):
        raise InputError(f"{source}: {column!r} holds lists or objects, not replies: name a path.")
    codes, distinct = pd.factorize(table[column], use_na_sentinel=False)
    reader = _reader(options, [v for v in distinct if isinstance(v, str)])
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


_FRACTION = re.compile(
    r"(?:\A|(?:score|rating|grade)\b[^\n\d]{0,12})\d{1,4}(?:[.,]\d{1,4})?\s?/\s?(\d{1,6})\b", re.I
)


def _reader(options: TableOptions, replies: Sequence[str]) -> Callable[[str], Any]:
    if options.parse == "pointwise":
        ends = {int(high) for text in replies for high in _FRACTION.findall(text[:_LONGEST_READ])}
        low, high = options.scale or (_WIDE.low, ends.pop() if len(ends) == 1 else _WIDE.high)
        scale = Scale(int(low), int(high))
        return lambda text: read_reply(text, ScoreForm(scale, stored=True)).score
    if options.parse == "pairwise":
        return lambda text: read_reply(text, PairForm(stored=True)).choice
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
        hits = set(pattern.findall(text[:_LONGEST_READ]))
        return hits.pop() if len(hits) == 1 else None

    return read


_MOSTLY = 0.8
_LONGEST_NAME = 60
_PLACES = (("a", "b"), ("1", "2"), ("left", "right"), ("first", "second"))
_LENGTHS = ("length", "len", "nchars", "chars", "nwords", "words", "ntokens", "tokens")
_TEXTS = ("response", "answer", "output", "completion", "text")


def side_columns(table: pd.DataFrame) -> tuple[str, str] | None:
    """The columns that name the two models of a row; None where the table has none.

    Examples
    --------
    >>> side_columns(pd.DataFrame(columns=["id", "Model A", "Model B"]))
    ('Model A', 'Model B')
    """
    own = {folded(c): str(c) for c in table.columns}
    pairs = ((own[a], own[b]) for a, b in SIDES if a in own and b in own)
    return next((pair for pair in pairs if all(_are_names(table[c]) for c in pair)), None)


def _are_names(column: pd.Series) -> bool:
    """Whether the cells are as short as names, not texts."""
    return max(map(len, column.dropna().head(200).astype(str)), default=0) <= _LONGEST_NAME


def length_columns(table: pd.DataFrame) -> tuple[str, str] | None:
    """The columns that show how long the two responses of each row are, or hold their texts.

    Examples
    --------
    >>> length_columns(pd.DataFrame({"response_a": ["Yes."], "response_b": ["No."]}))
    ('response_a', 'response_b')
    """
    own = {folded(c): str(c) for c in table.columns}
    for names, numbers in ((_LENGTHS, True), (_TEXTS, False)):
        for name in names:
            for places in _PLACES:
                for spelled in ([f"{name}{p}" for p in places], [f"{p}{name}" for p in places]):
                    if not all(n in own for n in spelled):
                        continue
                    first, second = (own[n] for n in spelled)
                    numeric = (pd.api.types.is_numeric_dtype(table[c]) for c in (first, second))
                    if all(n is numbers for n in numeric):
                        return first, second
    return None


def side_lengths(table: pd.DataFrame) -> tuple[pd.Series, pd.Series] | None:
    """How long the two responses of each row are; None where the table does not tell.

    Parameters
    ----------
    table : DataFrame

    Returns
    -------
    tuple of Series or None
        Numbers of columns like ``length_a`` and ``tokens_b``, else the characters of columns of
        texts like ``response_a``; NaN where a cell is empty.

    Examples
    --------
    >>> rows = pd.DataFrame({"response_a": ["Yes.", None], "response_b": ["No, never.", "No."]})
    >>> [length.tolist() for length in side_lengths(rows)]
    [[4.0, nan], [10.0, 3.0]]
    """
    columns = length_columns(table)
    if columns is None:
        return None
    first, second = (
        table[c] if pd.api.types.is_numeric_dtype(table[c]) else table[c].astype("string").str.len()
        for c in columns
    )
    return first.astype(float), second.astype(float)


def _no_verdict(word: str) -> str:
    return "yes" if not word or vocabulary.status_word(word) else ""


def map_model_names(
    table: pd.DataFrame, names: Mapping[str, str], options: TableOptions
) -> tuple[pd.DataFrame, str]:
    """The table with models' names among the verdicts as positions (a or b), and a note on it.

    Parameters
    ----------
    table : DataFrame
    names : mapping of our column to theirs
    options : TableOptions

    Returns
    -------
    tuple of DataFrame and str
        As given where the verdicts name no models of their rows, or where their kind is stated.

    Examples
    --------
    >>> rows = pd.DataFrame({"model_a": ["x", "z"], "model_b": ["y", "x"], "winner": ["x", "x"]})
    >>> found, said = map_model_names(rows, {"choice": "winner"}, TableOptions())
    >>> found["winner"].tolist(), said
    (['a', 'b'], 'winner names models: a is the one of model_a, b the one of model_b')
    """
    sides = side_columns(table)
    told = any(vocabulary.family(m) == "preference" for m in options.values.values())
    if sides is None or told or options.passes or options.kind not in {"", "preference"}:
        return table, ""
    a, b = (each_distinct(table[c], normalize_value) for c in sides)
    if set(a) | set(b) <= set(PREFERENCES):
        return table, ""
    parts: list[str] = []
    for column in {names[n]: None for n in (*VERDICTS, "label") if n in names}:
        if column in sides or pd.api.types.is_numeric_dtype(table[column]):
            continue
        words = each_distinct(table[column], normalize_value)
        first, second = (words == a) & (a != b), (words == b) & (a != b)
        named = first | second
        recognised = named | (words.isin(PREFERENCES) | each_distinct(words, _no_verdict).eq("yes"))
        if not named.any() or recognised.mean() < _MOSTLY:
            continue
        cells = table[column].astype(object).mask(first, "a").mask(second, "b")
        other = ~recognised
        # A model that is not in the row is no verdict on it.
        table = table.assign(**{column: cells.mask(other, "unparsed")})
        n = int(other.sum())
        unread = f" ({n:,} name neither: unparsed)" if n else ""
        parts.append(
            f"{column} names models: a is the one of {sides[0]}, b the one of {sides[1]}{unread}"
        )
    return table, "; ".join(parts)
