"""Interpretation of a file: roles, counts, meanings, and ways to read an unclear one."""

from __future__ import annotations

import heapq
import re
import shlex
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count, pairwise, zip_longest
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd

from judgestats.data.readers import layout, roles, row_checks
from judgestats.data.readers.columns import (
    ALIASES,
    PARTS,
    REPEATED,
    SYSTEMS,
    VERDICTS,
    MissingRoleError,
    Remark,
    each_distinct,
    folded,
    may_hold_verdicts,
    names_id,
    names_text,
    nested,
    of_people,
    resolve_columns,
)
from judgestats.data.readers.json_paths import PLACE, ROW, leaf_paths, projected, with_leaves
from judgestats.data.readers.options import TableOptions
from judgestats.data.readers.verdicts import side_columns
from judgestats.data.verdict_kinds import (
    PREFERENCES,
    RepliesError,
    counted_words,
    normalize_value,
    numbers_of,
)
from judgestats.data.vocabulary import MeaningError, not_understood, pass_fail_words
from judgestats.errors import InputError
from judgestats.files.guarded import NoTableError
from judgestats.files.text import shorten_text
from judgestats.protocols.base import Status
from judgestats.results.numbers import count_noun

ROLE_OF: Mapping[str, str] = {
    "item_id": "item",
    "cluster": "cluster",
    "judge": "judge",
    "score": "verdict",
    "choice": "verdict",
    "verdict": "verdict",
    "replicate": "repeat",
    "order": "order",
    "temperature": "condition",
    "label": "label",
    "confidence": "confidence",
    **dict.fromkeys(("pass_probability", "logprob", "logprob_pass", "logprob_fail"), "confidence"),
    "explanation": "explanation",
    "raw_text": "raw_reply",
    "cost_usd": "cost",
    "weight": "weight",
    "chance": "chance",
    **{name: name for name in ("criterion", "system", "run", "rater", "latency_s")},
}
"""Roles of the columns of a judgments frame."""
COUNT_OF: Mapping[str, str] = {
    **dict.fromkeys(Status, "unparsed"),
    Status.FAILED: "error",
    Status.INVALID: "error",
    Status.NOT_APPLICABLE: "not_applicable",
    Status.MISSING: "missing",
}
"""Which of the four counts a judgment without a verdict belongs to."""
_LONGEST = 220


def add_roles(roles: dict[str, list[str]], role: str, columns: Iterable[str]) -> None:
    """Add columns to a role, each once."""
    held = roles.setdefault(role, [])
    held += [c for c in dict.fromkeys(columns) if c not in held]


def roles_of(
    names: Mapping[str, str],
    understanding: roles.ColumnRoles,
    *,
    systems: Sequence[str],
    wide: Mapping[str, str],
    options: TableOptions,
) -> dict[str, list[str]]:
    """The columns of each role.

    Parameters
    ----------
    names : mapping of our column to theirs
    understanding : ColumnRoles
    systems : sequence of str
        Columns that name systems.
    wide : mapping of column to role
        Columns that hold the verdicts of one judge, run, criterion, order or person each.
    options : TableOptions

    Returns
    -------
    dict of str to list of str
    """
    roles: dict[str, list[str]] = {}
    run = options.mapping.get("run", "")
    if run:
        names = {k: v for k, v in names.items() if k != "replicate" or v != run}
        names |= {k: v for k, v in options.mapping.items() if k in {"run", "replicate"}}
    # Names such as dense_safety and sparse_safety tell a system each.
    stacked_names = [c for c, role in wide.items() if role == "criterion"]
    made_system = ["system"] if stacked_names and "system" in understanding.item else []
    unnamed = {*systems, *made_system}
    add_roles(roles, "item", [c for c in understanding.item if c not in unnamed])
    stacked = set(wide.values()) - {"label"}
    for ours, column in names.items():
        role = ROLE_OF.get(ours, "")
        made = bool(stacked) and column in stacked | {"verdict"}
        if role and ours != "item_id" and not made:
            add_roles(roles, role, [column])
    factors = understanding.factors
    for factor in factors:
        role = "system" if folded(factor) in SYSTEMS else "condition"
        role = "criterion" if factor == understanding.criterion else role
        add_roles(roles, role, [c for c, r in wide.items() if r == factor] or [factor])
    answered = [c for c in understanding.item if folded(c) in SYSTEMS and c not in unnamed]
    add_roles(roles, "system", stacked_names if made_system else systems or answered)
    for column, role in wide.items():
        if role not in factors:
            add_roles(roles, {"replicate": "repeat"}.get(role, role), [column])
    for stated in (options.human, options.judge_rows):
        if stated:
            add_roles(roles, "rater_kind", [stated.partition("=")[0].strip()])
    return {role: columns for role, columns in roles.items() if columns}


def reading_of(frame: pd.DataFrame) -> dict[str, Any]:
    """The reading of a file as ``--json`` has it.

    Parameters
    ----------
    frame : DataFrame
        As `judgestats.read_judgments` returns it.

    Returns
    -------
    dict
        ``version``, ``status``, ``layout``, ``sentence``, ``roles``, ``reasons``, ``counts``,
        ``first_judgments``, ``values``, ``unused``, ``options``, ``warnings``.

    Examples
    --------
    >>> from judgestats import read_judgments
    >>> rows = [{"item": "a", "trial": 1, "score": 7}, {"item": "a", "trial": 2, "score": None}]
    >>> reading = reading_of(read_judgments(rows))
    >>> reading["roles"]
    {'item': ['item'], 'verdict': ['score'], 'repeat': ['trial']}
    >>> reading["counts"]["judgments"], reading["counts"]["missing"], reading["counts"]["repeats"]
    (1, 1, 2)
    >>> reading["sentence"]
    'Read as a table: 1 item (item), 2 repeats (trial), verdict = score; 1 judgment, 1 missing.'
    """
    attrs, counts = frame.attrs, counts_of(frame)
    roles = {str(k): list(v) for k, v in attrs.get("roles", {}).items()}
    return {
        "version": row_checks.VERSION,
        "status": "ok",
        "layout": attrs.get("layout") or attrs.get("reader", "table"),
        "sentence": _sentence(str(attrs.get("about", "a table")), roles, counts),
        "roles": roles,
        "reasons": dict(attrs.get("reasons", {})),
        "counts": counts,
        "first_judgments": row_checks.first_judgments(frame),
        "values": {str(c): dict(words) for c, words in attrs.get("values", {}).items() if words},
        "unused": {str(c): str(why) for c, why in attrs.get("unused", {}).items()},
        "options": list(attrs.get("options", ())),
        "warnings": [
            {"code": note.code, "message": str(note), "count": note.n}
            for note in map(_remark, attrs.get("notes", ()))
        ],
    }


def _remark(note: str) -> Remark:
    return note if isinstance(note, Remark) else Remark(note)


def counts_of(frame: pd.DataFrame) -> dict[str, int]:
    """Rows, items, judges, verdicts and labels of a frame, in whole numbers.

    Judgments are rows with a verdict; those without are not applicable, unparsed, an error or
    missing. Labels are counted by rater.
    """
    attrs = frame.attrs
    levels = attrs.get("levels", {})
    statuses = Counter[str]()
    for status, n in frame["status"].value_counts().items():
        statuses["ok" if status == "ok" else COUNT_OF[Status(str(status))]] += int(n)
    sides = [c for c in ("system_a", "system_b") if c in frame]
    systems = (
        set().union(*(set(frame[c]) for c in sides)) if sides else set(frame.get("author", ()))
    )
    criteria = frame["criterion"].nunique() if "criterion" in frame else 1
    people = [c for c in frame if str(c).startswith("label_")]
    has_label = pd.Series(False, index=frame.index)
    if "label" in frame:
        has_label = each_distinct(frame["label"], lambda v: str(v).strip()).ne("")
    keys = ["item_id", *([c for c in ("criterion",) if c in frame])]
    labelled = frame[[*keys, *people]].assign(label=has_label).drop_duplicates(keys)
    given = labelled[people].map(lambda v: str(v) != "") if people else labelled[["label"]]
    ties = given.any(axis=1) & ~labelled["label"]
    return {
        "rows_in": int(attrs.get("rows_in", len(frame))),
        "rows_filtered": int(attrs.get("rows_filtered", 0)),
        "items": int(frame["item_id"].nunique()),
        "clusters": int(frame["cluster"].nunique()),
        "judges": int(frame["judge"].nunique()),
        "human_raters": len(people) or int(has_label.any()),
        "systems": max(len(systems - {""}), int(levels.get("system", 0))),
        "criteria": max(int(criteria), int(levels.get("criterion", 1))),
        "orders": max(1, int(frame["order"].replace("", pd.NA).nunique())),
        "repeats": int(frame["replicate"].nunique()),
        "judgments": statuses["ok"],
        "labels": int(given.to_numpy(bool).sum()),
        **{name: statuses[name] for name in ("not_applicable", "unparsed", "error", "missing")},
        "label_missing": int((~labelled["label"] & ~ties).sum()) if has_label.any() else 0,
        "label_tie": int(ties.sum()),
        "copies": sum(
            note.n for note in map(_remark, attrs.get("notes", ())) if note.code == "copies"
        ),
    }


def _sentence(about: str, roles: Mapping[str, Sequence[str]], counts: Mapping[str, int]) -> str:
    """The reading in one sentence."""

    def count_text(count: str, word: str) -> str:
        plural = {"criterion": "criteria"}.get(word, f"{word}s")
        held = roles.get(word, ())
        columns = ", ".join([*held[:2], "..."] if len(held) > 3 else held)
        return count_noun(counts[count], word, plural) + (f" ({columns})" if columns else "")

    parts = [count_text("items", "item")]
    several = (("clusters", "cluster"), ("judges", "judge"), ("systems", "system"),
               ("criteria", "criterion"), ("orders", "order"), ("repeats", "repeat"))  # fmt: skip
    for key, word in several:
        if counts[key] > 1 and (word != "cluster" or counts[key] < counts["items"]):
            parts.append(count_text(key, word))
    if columns := roles.get("verdict"):
        parts.append(f"verdict = {', '.join(columns)}")
    found = [count_noun(counts["judgments"], "judgment", "judgments")]
    found += [
        f"{counts[name]:,} {name.replace('_', ' ')}"
        for name in ("not_applicable", "unparsed", "error", "missing")
        if counts[name]
    ]
    if counts["labels"]:
        found.append(count_noun(counts["labels"], "label", "labels"))
    text = f"Read as {about}: {', '.join(parts)}; {', '.join(found)}."
    return text if len(text) <= _LONGEST else text[: _LONGEST - 4] + " ..."


_MOST_ANSWERS: Final = 3
_MOST_TRIED: Final = 24
_MOST_CELLS: Final = 2_000_000
_MOST_SCORES: Final = 101
_MOST_CONDITIONS: Final = 12
_FEW: Final = 20
_LONG: Final = 40
_VERDICT_WORDS = frozenset(
    {"score", "verdict", "value", "label", "rating", "grade", "result", "choice", "winner",
     "passed", "correct", "criteriamet", "preference"}
)  # fmt: skip
_ITEM_WORDS = re.compile(
    r"(id|key|idx|index|item|case|record|sample|question|prompt|doc|input|conversation|dialogue)$"
)
_ROW_IDS = re.compile(r"(row|line|uuid|guid|hash|request)")
_SYSTEM_WORDS = SYSTEMS | {"bot", "app", "appversion", "version", "variant", "assistant", "engine"}
_WAYS = re.compile(r"(prompt|template|language|lang|style|format|mode|setting|temperature)")
_RUN_WORDS = re.compile(r"(run|trial|rep|repeat|attempt|iteration|epoch)(id)?$")
_JUDGE_WORDS = re.compile(r"(judge|grader|evaluator|annotator|rater|scorer|review|[a-z]{3}edby$)")


def proposed(
    source: Path | str,
    table: pd.DataFrame,
    options: TableOptions,
    error: NoTableError
    | roles.UndecidedError
    | RepliesError
    | MeaningError
    | row_checks.FurtherQuestionError,
    read: Callable[[TableOptions], pd.DataFrame],
) -> InputError:
    """The question of what a table's columns hold, with the ways that read it.

    Parameters
    ----------
    source : Path or str
    table : DataFrame
    options : TableOptions
        What the user said.
    error : NoTableError, UndecidedError, RepliesError, MeaningError or FurtherQuestionError
        Why this is not enough.
    read : callable
        Reads the table by options.

    Returns
    -------
    InputError
        The error itself where no way reads the table.
    """
    seeds = [(0.0, options)]
    if isinstance(error, RepliesError):
        cells = table[error.column] if error.column in table else pd.Series(dtype=object)
        one = {"mapping": {"raw_text": error.column}, "parse": layout.protocol_of(cells)}
        seeds = [] if options.parse else [(0.0, _stated(options, **one))]
    if isinstance(error, row_checks.FurtherQuestionError):
        seeds = [(0.4 * place, way) for place, way in enumerate(error.ways)]
    if isinstance(error, NoTableError):
        trees = [c for c in map(str, table) if roles.has_nested_values(table[c])]
        seeds = list(_seeds(source, with_leaves(table, trees), options))
    found = _question(source, table, seeds, error, read)
    is_open = found is error and not isinstance(error, MeaningError)
    stated = _words_to_state(source, table, options) if is_open else None
    if stated is None:
        return found
    column = stated.mapping["verdict"]
    unclear = not_understood(column, pass_fail_words(counted_words(table[column])).unknown)
    return _question(source, table, [(0.0, stated)], unclear, read)


def _words_to_state(
    source: Path | str, table: pd.DataFrame, options: TableOptions
) -> TableOptions | None:
    """The options where verdicts seem to be words that are not understood, if one column fits."""
    names = resolve_columns(source, table, options.mapping, needs_item=False, needs_verdict=False)
    if any(v in names for v in VERDICTS):
        return None
    served = {*names.values(), *_design(table, names, options)}
    words = [c for c in map(str, table) if c not in served and _may_be_words(table[c], c)]
    people = [c for c in words if of_people(c)]
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
    return stated


def _may_be_words(column: pd.Series, name: str) -> bool:
    """A few short words, some of them not understood."""
    if pd.api.types.is_numeric_dtype(column) or nested(column) or roles.counts_or_measures(name):
        return False
    levels = [str(v) for v in pd.unique(column.dropna())]
    if any(level.startswith("[") for level in levels):
        return False
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
    found_in: list[tuple[row_checks.Answer, ...]] = []
    for name in sorted(lists, key=lambda p: (-p.count("[]"), not p, p)):
        inside = [p for p in leaves if p.startswith(f"{name}[]") or (not name and "[]" not in p)]
        if not inside:
            continue
        table = pd.DataFrame(projected(document, inside[:1])).infer_objects()
        table = table[[c for c in table if not nested(table[c])]]
        if table.empty or len(found_in) >= _MOST_ANSWERS:
            continue
        label = next((c for c in map(str, table) if roles.last_word(c) in _LABELS), "")
        said = TableOptions(mapping={"label": label} if label else {})
        seeds = [
            (cost, one)
            for cost, one in _seeds(source, table, said)
            if not name or any(p.startswith(f"{name}[]") for p in one.mapping.values())
        ]
        found = _question(source, table, seeds, error, read)
        found_in += [found.answers] if isinstance(found, row_checks.OpenQuestionError) else []
    answers = [one for own in zip_longest(*found_in) for one in own if one]  # the first of each
    if not answers:
        return error
    return row_checks.OpenQuestionError(source, _UNCERTAIN, tuple(answers[:_MOST_ANSWERS]))


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
    queue = sorted((cost, next(number), one) for cost, one in seeds)  # a heap
    answers: dict[int, row_checks.Answer] = {}
    refusals: dict[str, TableOptions] = {}
    unclear, left = "", max(4, min(_MOST_TRIED, _MOST_CELLS // max(1, table.size)))
    while queue and left and len(answers) < _MOST_ANSWERS:
        cost, _, options = heapq.heappop(queue)
        left -= 1
        try:
            frame = read(options)
        except roles.UndecidedError as open_:
            further = _with_roles(open_.table, options, open_)
            for more, one in further:
                heapq.heappush(queue, (cost + more, next(number), one))
        except MeaningError as open_:
            said = ["they mean:", *map(shlex.quote, replace(options, labels=None).words()), ""]
            unclear = unclear or open_.question.replace("they mean: ", " ".join(said), 1)
            for place, way in enumerate(open_.ways):
                if "kind" in way and not isinstance(error, MeaningError):
                    continue  # every column of words could be one of categories
                told = {**options.values, **way.get("values", {})}
                stated = replace(options, **{**way, "values": told})
                heapq.heappush(queue, (cost + 0.1 * place, next(number), stated))
        except row_checks.OpenQuestionError as asked:
            for place, answer in enumerate(asked.answers):
                heapq.heappush(queue, (cost + 0.4 * place, next(number), answer.options))
        except row_checks.FurtherQuestionError as asked:
            for place, further_options in enumerate(asked.ways):
                heapq.heappush(queue, (cost + 0.4 * place, next(number), further_options))
        except InputError as refused:
            refusals.setdefault(str(refused), options)
        else:
            found = row_checks.Answer(
                meaning=_meaning(options), options=options, preview=row_checks.preview(frame)
            )
            answers.setdefault(row_checks.judgments_in(frame), found)
    if not answers and not isinstance(error, MeaningError):
        if not isinstance(error, MissingRoleError) or len(refusals) != 1:
            return error
        [(why, options)] = refusals.items()
        words = [] if options.parse else options.words()
        added = f" Add {shlex.join(words)}." if words else ""
        return InputError(why + added)
    by_words = isinstance(error, MeaningError) or all(a.options.values for a in answers.values())
    question = unclear if unclear and by_words else _UNCERTAIN
    if isinstance(error, roles.UndecidedError):
        verb, them = ("varies", "is it") if len(error.columns) == 1 else ("vary", "are they")
        within = f"{verb} within one" if not error.groups else "names groups of"
        question = f"{error.examples} {within} {' + '.join(error.item)}. What {them}?"
    return row_checks.OpenQuestionError(source, question, tuple(answers.values()))


def _meaning(options: TableOptions) -> str:
    """The role of each column in a short phrase."""
    held = {"item": options.item, "condition": options.factors, "not used": options.ignore}
    parts = [f"{role} = {' + '.join(columns)}" for role, columns in held.items() if columns]
    named = {"item_id": "item", "replicate": "repeat"}
    parts += [f"{named.get(role, role)} = {column}" for role, column in options.mapping.items()]
    parts += [f"{word} = {meaning}" for word, meaning in options.values.items()]
    parts += [f"labels are rows of {options.human}"] if options.human else []
    parts += [f"only rows of {options.judge_rows}"] if options.judge_rows else []
    parts += [f"kind = {options.kind}"] if options.kind else []
    parts += [f"replies are {options.parse}"] if options.parse else []
    parts += [*options.wide, *(f"one row per entry of {c}" for c in options.explode)]
    return shorten_text("; ".join(parts), 100)


def _seeds(
    source: Path | str, table: pd.DataFrame, options: TableOptions
) -> Iterator[tuple[float, TableOptions]]:
    """Options that say where the verdicts are and what names an item, with their costs."""
    names = resolve_columns(source, table, options.mapping, needs_item=False, needs_verdict=False)
    paths = {o: c for o, c in names.items() if "." in c and o in {"item_id", *VERDICTS}}
    if verdict := next((paths[v] for v in VERDICTS if v in paths), ""):
        people = layout.people_columns(table, verdict, {*names.values()})
        paths |= {"label": people[0]} if len(people) == 1 and "label" not in names else {}
    options = _stated(options, mapping=paths)
    whole = [(0.0, options)]
    if not options.parse and not options.wide and not any(v in names for v in VERDICTS):
        sides = side_columns(table) or ()
        outcomes = {*PREFERENCES, *(normalize_value(v) for c in sides for v in table[c].unique())}
        for free in (table.drop(columns=[*_design(table, names, options)]), table):
            shapes = list(layout.shapes_of_verdicts(free, names))
            columns = _verdict_columns(free, {*names.values(), *sides}, outcomes)
            if shapes or columns or any(_may_be_words(free[c], c) for c in map(str, free)):
                break
        if chance := names.get("pass_probability"):
            columns = [(0.0, chance), *columns]
        item = _item_of(table, names, options)
        ways = [{"mapping": m} for m in _with_labels(table, [c for _, c in columns], names, item)]
        shapes = [*ways, *shapes] if len(ways) == 1 else [*shapes, *ways]
        whole = [(0.3 * k, _stated(options, **one)) for k, one in enumerate(shapes)]
        after = 0.3 * len(whole)
        whole += [
            (after + cost, _stated(options, mapping={"verdict": column}))
            for cost, column in columns
        ]
        if not whole:
            words = [c for c in map(str, table.columns) if folded(roles.last_word(c)) in _ALIASES]
            whole = [(0.0, _stated(options, mapping={"choice": c})) for c in words[:2]]
    has_rows = len(table) > 1 and any(v in names for v in VERDICTS)
    for cost, one in whole:
        if "item_id" in names or options.item:
            yield cost, one
            continue
        used = {*names.values(), *one.mapping.values()}
        used |= {c for spec in one.wide for c in layout.wide_columns([*map(str, table)], spec)}
        pair = has_rows and side_columns(table)
        used |= set(pair or ())
        found = [*_item_columns(table, used), *[(1.0, ROW)] * bool(pair)]
        for more, column in found or [(0.0, ROW)][:has_rows]:
            yield cost + more, replace(one, item=(column,))


def _design(table: pd.DataFrame, names: Mapping[str, str], options: TableOptions) -> set[str]:
    """The columns whose few values occur in the rows of every item: not verdicts."""
    served = {*names.values()}
    item = _item_of(table, names, options)
    if item not in table or table[item].is_unique:
        return set()
    base = roles.group_codes(table, [item])
    rest = (c for c in map(str, table) if c != item and c not in served and not _is_named(c))
    return {c for c in rest if not nested(table[c]) and roles.is_crossed(table[c], base)}


def _item_of(table: pd.DataFrame, names: Mapping[str, str], options: TableOptions) -> str:
    """The column that names items, or that most likely does."""
    item = names.get("item_id", "") or next(iter(options.item), "")
    return item or next((c for _, c in _item_columns(table, {*names.values()})), "")


def _with_labels(
    table: pd.DataFrame, columns: Sequence[str], names: Mapping[str, str], item: str
) -> list[dict[str, str]]:
    """Two columns of verdicts as verdict and label: by rows or names, or else both ways."""
    columns = [c for c in columns if not layout.NO_VERDICT.search(roles.last_word(c))]
    if len(columns) != 2 or "label" in names:
        return []
    first, second = sorted(columns, key=lambda c: (of_people(c), list(table).index(c)))
    ways = [{"verdict": first, "label": second}, {"verdict": second, "label": first}]
    if by_rows := [w for w in ways if item in table and roles.labels_vary(table, [item], w)]:
        return by_rows
    if not of_people(second) and any("." in c for c in columns):
        return []  # parts of one record
    return ways[:1] if of_people(second) else ways


def _stated(options: TableOptions, **further: Any) -> TableOptions:
    """The options with what a shape of verdicts takes."""
    mapping = {**options.mapping, **further.pop("mapping", {})}
    return replace(options, mapping=mapping, **further)


def _verdict_columns(
    table: pd.DataFrame, taken: Collection[str], outcomes: Collection[str]
) -> list[tuple[float, str]]:
    """Columns that may hold verdicts, the likeliest first."""
    found = []
    for column in map(str, table.columns):
        cells = table[column].dropna()
        word = roles.last_word(column)
        if column in taken or nested(cells) or not len(cells) or names_id(column):
            continue
        counts = cells.map(normalize_value).value_counts()
        numbers = not np.isnan(numbers_of(counts.index.tolist())).any()
        fractions = numbers and pd.api.types.is_float_dtype(cells)
        known = pass_fail_words({str(w): int(n) for w, n in counts.items()})
        if numbers and not fractions and len(counts) == len(table) > _FEW:
            continue  # numbers of rows
        words = (not known.unknown and known.is_binary) or set(counts.index) <= {*outcomes}
        if roles.counts_or_measures(column) and (numbers or not words):
            continue
        if len(counts) < 2 or not (words or fractions or (numbers and len(counts) <= _MOST_SCORES)):
            continue
        likely = 2 * _is_named(column) + (not numbers)
        unlikely = 3 * bool(layout.NO_VERDICT.search(word)) + 2 * (len(set(counts)) == 1)
        found.append((float(unlikely - likely), column))
    found.sort()
    return [(0.5 * place, column) for place, (_, column) in enumerate(found[:4])]


def _is_named(column: str) -> bool:
    """Whether a column is named as verdicts are."""
    word = roles.last_word(column)
    return word in _VERDICT_WORDS or folded(word) in _ALIASES


_LABELS = frozenset(map(folded, ALIASES["label"][1:]))
_ALIASES = frozenset(folded(name) for role in VERDICTS for name in ALIASES[role])


def _item_columns(table: pd.DataFrame, taken: Collection[str]) -> list[tuple[float, str]]:
    """Columns that may name items, the likeliest first."""
    found = []
    trees = {c for c in map(str, table) if roles.has_nested_values(table[c])}
    for column in map(str, table.columns):
        cells = table[column]
        word = roles.last_word(column)
        if column in trees.union(taken) or column.startswith(PLACE) or cells.isna().any():
            continue
        named = bool(_ITEM_WORDS.search(word))
        distinct = pd.unique(cells)
        levels = len(distinct)
        fractions = pd.api.types.is_float_dtype(cells) or (numbers_of(distinct) % 1 > 0).any()
        repeated = word.endswith("text") and REPEATED * levels <= len(table)
        repeated |= word in {"comment", "text"} and levels == len(table)
        if fractions or (roles.counts_or_measures(column) and not (named or repeated)):
            continue
        few_numbers = 2 * len(table) < _FEW and pd.api.types.is_numeric_dtype(cells)
        if levels < 2 or (few_numbers and not named):
            continue
        if levels <= _MOST_ANSWERS and not named and may_hold_verdicts(cells):
            continue
        unique = levels == len(table)
        few = levels <= min(5, len(table) // 4)
        cost = 2.0 * few + 1.5 * unique
        cost += 2.0 * bool(unique and _ROW_IDS.search(word)) - 1.0 * named
        cost += 2.0 * bool(layout.NO_VERDICT.search(word) and not named)
        found.append((cost, -levels, column, 1.5 * few))
    found.sort()
    return [(0.5 * place + more, column) for place, (_, _, column, more) in enumerate(found[:4])]


def _with_roles(
    table: pd.DataFrame, options: TableOptions, error: roles.UndecidedError
) -> Iterator[tuple[float, TableOptions]]:
    """The options with each role that the first open column may have."""
    texts = {
        c: roles.names_part(table, c) or (c in table and _is_text(table[c])) for c in error.columns
    }
    unique = {c: c in table and not nested(table[c]) and table[c].is_unique for c in texts}
    column = min(error.columns, key=lambda c: (texts[c], c.endswith("[]"), unique[c]))
    key = error.item
    if texts[column]:
        judged = PLACE if PLACE in table and "[]" in column else column
        yield 0.0, replace(options, item=(*key, judged))
        yield 1.0, replace(options, ignore=(*options.ignore, column))
        return
    cells = table[column].astype(object) if column in table else pd.Series(dtype=object)
    named = _JUDGE_WORDS.search(roles.last_word(column))
    raters = roles.kinds_of_raters(column, cells) if named else None
    others = [v for k in ("human", "unknown") if raters for v in raters.kinds.get(k, ())]
    if raters and others and "judge" in raters.kinds:
        yield 0.0, replace(options, human=f"{column}={','.join(others)}")
        yield 0.1, replace(options, judge_rows=raters.format_kind("judge"))
    costs = _roles(table, column)
    if error.groups:
        few = table[column].nunique() ** 2 <= len(table)
        costs |= {"cluster": 2.0 * few, "system": 0.2, "unused": 0.5}
        costs.pop("judge" if "judge" in error.names else "item", 0)
    if roles.labels_vary(table, key, error.names):
        costs = {"rater": 0.0} | {role: cost + 0.5 for role, cost in costs.items()}
    for role, cost in costs.items():
        if role in options.mapping or column in options.mapping.values():
            continue
        if role == "rater" and "label" not in error.names:
            continue
        if role == "condition":
            yield cost, replace(options, factors=(*options.factors, column))
        elif role == "item":
            yield cost, replace(options, item=(*key, column))
        elif role == "unused":
            yield cost, replace(options, ignore=(*options.ignore, column))
        else:
            yield cost, replace(options, mapping={**options.mapping, role: column})


def _is_text(column: pd.Series) -> bool:
    words = [v for v in column.dropna().head(200) if isinstance(v, str)]
    return bool(words) and sum(map(len, words)) > _LONG * len(words)


def _roles(table: pd.DataFrame, column: str) -> dict[str, float]:
    """The roles that a column which varies within an item may have, with their costs."""
    word = roles.last_word(column)
    cells = table[column].dropna() if column in table else pd.Series(dtype=object)
    levels = [str(v) for v in pd.unique(roles.hashable(cells))]
    if not levels or roles.has_nested_values(cells):
        return {}  # its parts stand elsewhere
    if len(levels) > 50 or roles.names_judged(column, cells):
        return {"item": 0.0, "unused": 0.5}
    if pd.api.types.is_numeric_dtype(cells) and not pd.api.types.is_bool_dtype(cells):
        whole = sorted(int(v) for v in set(cells))
        numbered = whole[:1] in ([0], [1]) and all(b == a + 1 for a, b in pairwise(whole))
        return {"replicate": 0.0 if numbered else 1.0, "condition": 1.0, "item": 1.0}
    costs = {"condition": 1.0} if len(levels) <= _MOST_CONDITIONS else {}
    costs |= {"system": 1.0, "criterion": 1.0, "item": 2.0}
    if PLACE in table and "[]" not in column:  # of the record that holds the list
        costs |= {"condition": 0.5, "item": 1.2}
    raters = [roles.kind_of_rater(v) == "judge" for v in levels]
    if all(raters) or _JUDGE_WORDS.search(word):
        costs["judge"] = 0.0
    if roles.names_criteria(column) or layout.criteria_names([*levels, *levels]):
        costs["criterion"] = 0.0
    if of_people(column):
        costs["rater"] = 0.0
    if word in _SYSTEM_WORDS:
        costs["system"] = 0.0
    elif word in PARTS:
        costs["item"] = 0.0
    if _WAYS.search(word):
        costs |= {"condition": 0.0, "item": 0.5}
    if {folded(v) for v in levels} <= layout.ORDERS:
        costs["order"] = 0.0
    numbered = layout.are_numbered(levels)
    if _RUN_WORDS.search(word) or (numbered and layout.RUN.fullmatch(levels[0])):
        costs["replicate"] = 0.0
    elif numbered:
        costs |= {"condition": 0.0, "replicate": 0.5}
    return dict(sorted(costs.items(), key=lambda pair: pair[1]))
