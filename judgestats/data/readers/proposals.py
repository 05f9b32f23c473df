"""Ways to read a file whose columns do not say what they hold: each is tried on it."""

from __future__ import annotations

import heapq
import re
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from itertools import count, pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd

from judgestats.data.readers.columns import (
    ALIASES,
    OF_PEOPLE,
    PARTS,
    SYSTEMS,
    VERDICTS,
    folded,
    may_hold_verdicts,
    names_text,
    nested,
    resolve_columns,
)
from judgestats.data.readers.json_paths import PLACE, leaf_paths, projected
from judgestats.data.readers.layout import NO_VERDICT, ORDERS, criteria_names, shapes_of_verdicts
from judgestats.data.readers.options import TableOptions
from judgestats.data.readers.roles import (
    ANSWERS,
    UndecidedError,
    counts_or_measures,
    has_nested_values,
    kind_of_rater,
    last_word,
    names_criteria,
)
from judgestats.data.readers.row_checks import Answer, OpenQuestionError, preview
from judgestats.data.verdict_kinds import PREFERENCES, counted_words, normalize_value, numbers_of
from judgestats.data.vocabulary import not_understood, pass_fail_words
from judgestats.errors import InputError
from judgestats.files.guarded import NoTableError
from judgestats.files.text import shorten_text

_MOST_ANSWERS: Final = 3
_MOST_TRIED: Final = 24
_MOST_CELLS: Final = 2_000_000
_MOST_SCORES: Final = 101
_FEW: Final = 20
_LONG: Final = 40
_VERDICT_WORDS = frozenset(
    {"score", "verdict", "value", "label", "rating", "grade", "result", "choice", "winner",
     "passed", "correct", "criteriamet", "preference"}
)  # fmt: skip
_ITEM_WORDS = re.compile(r"(id|key|idx|index|item|case|record|sample|question|prompt|doc|input)$")
_ROW_IDS = re.compile(r"(row|line|uuid|guid|hash|request)")
_SYSTEM_WORDS = SYSTEMS | {"bot", "app", "appversion", "version", "variant", "assistant", "engine"}
_WAYS = re.compile(r"(prompt|template|language|lang|style|format|mode|setting|temperature)")
_JUDGE_WORDS = re.compile(r"(judge|grader|evaluator|annotator|rater|scorer)")


def proposed(
    source: Path | str,
    table: pd.DataFrame,
    options: TableOptions,
    error: NoTableError | UndecidedError,
    read: Callable[[TableOptions], pd.DataFrame],
) -> InputError:
    """The question of what a table's columns hold, with the ways that read it.

    Parameters
    ----------
    source : Path or str
    table : DataFrame
    options : TableOptions
        What the user said.
    error : NoTableError or UndecidedError
        Why this is not enough.
    read : callable
        Reads the table by options.

    Returns
    -------
    InputError
        The error itself where no way reads the table.
    """
    seeds = [(0.0, options)]
    if isinstance(error, NoTableError):
        seeds = list(_seeds(source, table, options))
    found = _question(source, table, seeds, error, read)
    return _words_to_state(source, table, options) or error if found is error else found


def _words_to_state(
    source: Path | str, table: pd.DataFrame, options: TableOptions
) -> InputError | None:
    """What to type where verdicts seem to be words that are not understood, if one column fits."""
    names = resolve_columns(source, table, options.mapping, needs_item=False, needs_verdict=False)
    if any(v in names for v in VERDICTS):
        return None
    words = [c for c in map(str, table) if c not in names.values() and _may_be_words(table[c], c)]
    people = [c for c in words if OF_PEOPLE.search(c)]
    judged = [c for c in words if c not in people or c.casefold().startswith("model")]
    items = [c for _, c in _item_columns(table, {*names.values(), *words})]
    items += [c for c in map(str, table) if names_text(c) and table[c].is_unique]
    if len(judged) != 1 or not ("item_id" in names or options.item or items):
        return None
    labels = [c for c in people if c not in judged]
    said = {"verdict": judged[0]} | ({"label": labels[0]} if len(labels) == 1 else {})
    stated = _stated(options, mapping=said)
    if "item_id" not in names and not options.item:
        stated = replace(stated, item=(items[0],))
    unknown = pass_fail_words(counted_words(table[judged[0]])).unknown
    way = f"Add {shlex.join(stated.words())}."
    return InputError(f"{source}: {not_understood(judged[0], unknown, otherwise=way)}")


def _may_be_words(column: pd.Series, name: str) -> bool:
    """A few short words, some of them not understood."""
    if pd.api.types.is_numeric_dtype(column) or nested(column) or counts_or_measures(name):
        return False
    levels = [str(v) for v in pd.unique(column.dropna())]
    few = 1 < len(levels) <= min(_FEW, len(column) // 2) and max(map(len, levels)) <= _FEW
    return few and bool(pass_fail_words(dict.fromkeys(levels, 1)).unknown)


def proposed_paths(
    source: Path | str,
    document: Any,
    error: InputError,
    read: Callable[[TableOptions], pd.DataFrame],
) -> InputError:
    """The question of which paths of a JSON document hold what; the error itself if none does."""
    leaves = leaf_paths(document)
    lists = {"", *(path[: m.start()] for path in leaves for m in re.finditer(r"\[\]", path))}
    answers: list[Answer] = []
    for name in sorted(lists, key=lambda p: (-p.count("[]"), p)):
        inside = [p for p in leaves if p.startswith(f"{name}[]") or (not name and "[]" not in p)]
        if not inside:
            continue
        table = pd.DataFrame(projected(document, inside[:1])).infer_objects()
        table = table[[c for c in table if not nested(table[c])]]
        if table.empty or len(answers) >= _MOST_ANSWERS:
            continue
        label = next((c for c in map(str, table) if last_word(c) in _LABELS), "")
        said = TableOptions(mapping={"label": label} if label else {})
        seeds = [
            (cost, one)
            for cost, one in _seeds(source, table, said)
            if not name or one.mapping.get("verdict", "").startswith(f"{name}[]")
        ]
        found = _question(source, table, seeds, error, read)
        answers += found.answers if isinstance(found, OpenQuestionError) else ()
    if not answers:
        return error
    return OpenQuestionError(source, _UNCERTAIN, tuple(answers[:_MOST_ANSWERS]))


_UNCERTAIN = "which column holds what is not certain."


def _question(
    source: Path | str,
    table: pd.DataFrame,
    seeds: Iterable[tuple[float, TableOptions]],
    error: InputError,
    read: Callable[[TableOptions], pd.DataFrame],
) -> InputError:
    """The cheapest ways that read the table, or the error."""
    number = count()
    queue = [(cost, next(number), one) for cost, one in seeds]
    heapq.heapify(queue)
    answers: dict[str, Answer] = {}
    left = max(4, min(_MOST_TRIED, _MOST_CELLS // max(1, table.size)))
    while queue and left and len(answers) < _MOST_ANSWERS:
        cost, _, options = heapq.heappop(queue)
        left -= 1
        try:
            frame = read(options)
        except UndecidedError as open_:
            further = _with_roles(open_.table, options, open_)
            for more, one in further:
                heapq.heappush(queue, (cost + more, next(number), one))
        except OpenQuestionError as asked:
            for place, answer in enumerate(asked.answers):
                heapq.heappush(queue, (cost + 0.4 * place, next(number), answer.options))
        except InputError:
            continue
        else:
            said = _meaning(options)
            answers.setdefault(said, Answer(meaning=said, options=options, preview=preview(frame)))
    if not answers:
        return error
    question = _UNCERTAIN
    if isinstance(error, UndecidedError):
        verb, them = ("varies", "is it") if len(error.columns) == 1 else ("vary", "are they")
        question = f"{error.examples} {verb} within one {' + '.join(error.item)}. What {them}?"
    return OpenQuestionError(source, question, tuple(answers.values()))


def _meaning(options: TableOptions) -> str:
    """What is what, in a few words."""
    held = {"item": options.item, "condition": options.factors, "not used": options.ignore}
    parts = [f"{role} = {' + '.join(columns)}" for role, columns in held.items() if columns]
    named = {"item_id": "item", "replicate": "repeat"}
    parts += [f"{named.get(role, role)} = {column}" for role, column in options.mapping.items()]
    parts += [f"labels are rows of {options.human}"] if options.human else []
    parts += [f"only rows of {options.judge_rows}"] if options.judge_rows else []
    parts += [f"replies are {options.parse}"] if options.parse else []
    parts += [*options.wide, *(f"one row an entry of {c}" for c in options.explode)]
    return shorten_text("; ".join(parts), 100)


def _seeds(
    source: Path | str, table: pd.DataFrame, options: TableOptions
) -> Iterator[tuple[float, TableOptions]]:
    """Options that say where the verdicts are and what names an item, with their costs."""
    names = resolve_columns(source, table, options.mapping, needs_item=False, needs_verdict=False)
    whole = [(0.0, options)]
    if not options.parse and not options.wide and not any(v in names for v in VERDICTS):
        shapes = list(shapes_of_verdicts(table, names))
        whole = [(0.3 * k, _stated(options, **one)) for k, one in enumerate(shapes)]
        after = 0.3 * len(whole)
        whole += [
            (after + cost, _stated(options, mapping={"verdict": column}))
            for cost, column in _verdict_columns(table, {*names.values()})
        ]
        if not whole:
            words = [c for c in map(str, table.columns) if folded(last_word(c)) in _ALIASES]
            whole = [(0.0, _stated(options, mapping={"choice": c})) for c in words[:2]]
    for cost, one in whole:
        if "item_id" in names or options.item:
            yield cost, one
            continue
        used = {*names.values(), *one.mapping.values()}
        for more, column in _item_columns(table, used):
            yield cost + more, replace(one, item=(column,))


def _stated(options: TableOptions, **further: Any) -> TableOptions:
    """The options with what a shape of verdicts takes."""
    mapping = {**options.mapping, **further.pop("mapping", {})}
    return replace(options, mapping=mapping, **further)


def _verdict_columns(table: pd.DataFrame, taken: Collection[str]) -> list[tuple[float, str]]:
    """Columns that may hold verdicts, the likeliest first."""
    found = []
    for column in map(str, table.columns):
        cells = table[column].dropna()
        word = last_word(column)
        if column in taken or nested(cells) or not len(cells) or counts_or_measures(column):
            continue
        counts = cells.map(normalize_value).value_counts()
        numbers = not np.isnan(numbers_of(counts.index.tolist())).any()
        fractions = numbers and pd.api.types.is_float_dtype(cells)
        known = pass_fail_words({str(w): int(n) for w, n in counts.items()})
        words = (not known.unknown and known.is_binary) or set(counts.index) <= set(PREFERENCES)
        if len(counts) < 2 or not (words or fractions or (numbers and len(counts) <= _MOST_SCORES)):
            continue
        likely = 2 * (word in _VERDICT_WORDS or folded(word) in _ALIASES) + (not numbers)
        unlikely = 3 * bool(NO_VERDICT.search(word)) + 2 * (len(set(counts)) == 1)
        found.append((float(unlikely - likely), column))
    found.sort()
    return [(0.5 * place, column) for place, (_, column) in enumerate(found[:4])]


_LABELS = frozenset(map(folded, ALIASES["label"][1:]))
_ALIASES = frozenset(folded(name) for role in VERDICTS for name in ALIASES[role])


def _item_columns(table: pd.DataFrame, taken: Collection[str]) -> list[tuple[float, str]]:
    """Columns that may name items, the likeliest first."""
    found = []
    for column in map(str, table.columns):
        cells = table[column]
        word = last_word(column)
        if column in taken or column.startswith(PLACE) or nested(cells) or cells.isna().any():
            continue
        named = bool(_ITEM_WORDS.search(word))
        if pd.api.types.is_float_dtype(cells) or (counts_or_measures(column) and not named):
            continue
        levels = cells.nunique()
        if levels < 2:
            continue
        if levels <= _MOST_ANSWERS and not named and may_hold_verdicts(cells):
            continue
        unique = levels == len(table)
        cost = 2.0 * (levels <= min(5, len(table) // 4)) + 1.5 * unique
        cost += 2.0 * bool(unique and _ROW_IDS.search(word)) - 1.0 * named
        cost += 2.0 * bool(NO_VERDICT.search(word) and not named)
        found.append((cost, -levels, column))
    found.sort()
    return [(0.5 * place, column) for place, (_, _, column) in enumerate(found[:4])]


def _with_roles(
    table: pd.DataFrame, options: TableOptions, error: UndecidedError
) -> Iterator[tuple[float, TableOptions]]:
    """The options with each role that the first open column may have."""
    texts = {c: c in table and _is_text(table[c]) for c in error.columns}
    texts |= {c: True for c in texts if last_word(c) in ANSWERS - SYSTEMS}
    column = min(error.columns, key=lambda c: texts[c])
    key = error.item
    if texts[column]:
        judged = PLACE if PLACE in table and "[]" in column else column
        yield 0.0, replace(options, item=(*key, judged))
        yield 1.0, replace(options, ignore=(*options.ignore, column))
        return
    for role, cost in _roles(table, column).items():
        if role in options.mapping:
            continue
        if role == "condition":
            yield cost, replace(options, factors=(*options.factors, column))
        elif role == "item":
            yield cost, replace(options, item=(*key, column))
        else:
            yield cost, replace(options, mapping={**options.mapping, role: column})


def _is_text(column: pd.Series) -> bool:
    words = [v for v in column.dropna().head(200) if isinstance(v, str)]
    return bool(words) and sum(map(len, words)) > _LONG * len(words)


def _roles(table: pd.DataFrame, column: str) -> dict[str, float]:
    """The roles that a column which varies within an item may have, with their costs."""
    word = last_word(column)
    cells = table[column].dropna() if column in table else pd.Series(dtype=object)
    levels = [str(v) for v in pd.unique(cells)]
    if not levels or has_nested_values(cells):
        return {}  # its parts stand elsewhere
    if len(levels) > 50:
        return {"item": 0.0, "condition": 2.0}
    if pd.api.types.is_numeric_dtype(cells) and not pd.api.types.is_bool_dtype(cells):
        whole = sorted(int(v) for v in set(cells))
        numbered = whole[:1] in ([0], [1]) and all(b == a + 1 for a, b in pairwise(whole))
        return {"replicate": 0.0 if numbered else 1.0, "condition": 1.0, "item": 1.0}
    costs = {"condition": 1.0, "system": 1.0, "criterion": 1.0, "item": 2.0}
    if PLACE in table and "[]" not in column:  # of the record that holds the list
        costs |= {"condition": 0.5, "item": 1.2}
    raters = [kind_of_rater(v) == "judge" for v in levels]
    if all(raters) or _JUDGE_WORDS.search(word):
        costs["judge"] = 0.0
    if names_criteria(column) or criteria_names([*levels, *levels]):
        costs["criterion"] = 0.0
    if word in _SYSTEM_WORDS:
        costs["system"] = 0.0
    elif word in PARTS:
        costs["item"] = 0.0
    if _WAYS.search(word):
        costs |= {"condition": 0.0, "item": 0.5}
    if {folded(v) for v in levels} <= ORDERS:
        costs["order"] = 0.0
    return dict(sorted(costs.items(), key=lambda pair: pair[1]))
