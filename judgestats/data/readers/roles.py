"""Roles of columns: item, condition, and kind of rater."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.data.codes import codes_of, row_codes
from judgestats.data.readers import columns
from judgestats.data.readers.json_paths import BLOCK, leaves_of, object_in
from judgestats.data.verdict_kinds import normalize_value
from judgestats.errors import InputError
from judgestats.results.records import CRITERIA

_NAMES_OF_CRITERIA = CRITERIA | {"name", "key", "annotationname", "metricname", "scorename"}
"""Names (folded) of what may distinguish criteria."""
UNVARYING = "does not vary within an item"
"""Why a column that describes an item as a whole is not used in a key."""
_TIMES = re.compile(r"\b(\w*time|date|\w*stamp|created|updated|asked|started|ended)\b")
_MEASURES = re.compile(
    r"\b(latency|duration|seconds|tokens?|cost|price|usd|\w*length|chars|words|prob|probability"
    r"|logprobs?|confidence|weight|elapsed)\b|\bm?s$|^(?:n|num|count) (?!rating|score)"
)
_ROWS = re.compile(
    r"\b(uuid|guid|hash|sha\d*|digest|row|rowid|line|seed|fingerprint"
    r"|(request|job|log|eval|evaluation|judge?ment|execution|invocation) ?id)\b"
)
_NOTES = re.compile(
    r"\b(finish\w*|errors?|reason\w*|notes?|comments?|(?!context)\w*text|conv(?!ersation)\w*|explan\w*"
    r"|rational\w*)\b"
)
_IDS_OF_JUDGED = re.compile(
    r"(essay|comment|review|post|tweet|message|ticket|doc|document|passage|paragraph|sentence|story"
    r"|summary|article|submission|completion|student)(id|key)$"
)
"""Ids of what is judged: next to the id of a prompt or a topic they are part of an item."""
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}.*)?|\d{1,2}[./]\d{1,2}[./]\d{2,4}.*")
ANSWERS = {
    "answer", "answertext", "assistant", "candidate", "completion", "generation", "output",
    "response",
}  # fmt: skip
"""Names (folded) of entries' texts that are judged."""
_ENTRIES = {"check", "claim", "question", "requirement", "statement", "title"}
"""Names (folded) of parts that are judged, or of what they are judged by."""
_TEXTS_OF_ENTRIES = {
    "comment", "critique", "explanation", "feedback", "justification", "note", "notes", "rationale",
    "reason", "reasoning", "text",
}  # fmt: skip
_REPEATS = re.compile(
    r"(^(i|j|k|n|nr|no|num|number|index|idx|place|position|try|vote|sample|seed|iteration|round)$"
    r"|run|rep|trial|attempt|epoch|sampleindex|sampleid|iter|draw)"
)
_LONG = 60
_FEW = 30
_GROUPS = 20_000
_ALIKE = 0.9


@dataclass(frozen=True, kw_only=True)
class ColumnRoles:
    """How a table's columns are used.

    Attributes
    ----------
    item : tuple of str
        The columns that together name an item; the first is the question's.
    factors : tuple of str
        Columns that distinguish conditions.
    unused : tuple of (column, why)
    criterion : str
        Which of the factors distinguishes criteria; empty for none.
    reasons : mapping of column to str
        Why a column is part of the item or distinguishes conditions.
    """

    item: tuple[str, ...]
    factors: tuple[str, ...]
    unused: tuple[tuple[str, str], ...]
    criterion: str = ""
    reasons: Mapping[str, str] = field(default_factory=dict)


def last_word(column: str) -> str:
    """The last word of a path, folded.

    Examples
    --------
    >>> last_word("scores[].metric_name"), last_word("Criterion")
    ('metricname', 'criterion')
    """
    return columns.folded(re.split(r"\[\]\.?|\.", column.removesuffix("[]"))[-1])


def names_judged(name: str, column: pd.Series) -> bool:
    """Whether a column holds ids of what is judged, or unique ids of nobody knows what.

    Examples
    --------
    >>> ids = pd.Series([7, 8, 9, 10])
    >>> names_judged("essay_id", ids), names_judged("id", ids), names_judged("request_id", ids)
    (True, True, False)
    """
    if names_judged_text(name):
        return True
    by_name = columns.names_id(name) and not _ROWS.search(_spaced(name))
    return by_name and bool(hashable(column).is_unique)


def names_judged_text(name: str) -> bool:
    """Whether a column holds ids of texts that are judged, by its name.

    Examples
    --------
    >>> names_judged_text("docid"), names_judged_text("query_id")
    (True, False)
    """
    return _IDS_OF_JUDGED.search(last_word(name)) is not None


def names_part(table: pd.DataFrame, column: str) -> bool:
    """Whether a column of entries holds answers, or what is true of one entry alone.

    Examples
    --------
    >>> table = pd.DataFrame({"a[].rubric": ["names x", "names y"], "a[].aspect": ["tone"] * 2})
    >>> names_part(table, "a[].rubric"), names_part(table, "a[].aspect")
    (True, False)
    """
    word = last_word(column)
    if word in CRITERIA | _ENTRIES:
        return column in table and 2 * table[column].astype(str).nunique() > len(table)
    return word in ANSWERS - columns.SYSTEMS


def names_criteria(column: str) -> bool:
    """Whether a condition's column names criteria, by its name.

    Examples
    --------
    >>> names_criteria("feedback_scores[].name"), names_criteria("prompt")
    (True, False)
    """
    return last_word(column) in _NAMES_OF_CRITERIA


def group_codes(table: pd.DataFrame, columns: Sequence[str]) -> NDArray[np.int64]:
    """A number for each row, the same where all of the columns hold the same."""
    return row_codes((table[column] for column in columns), len(table))


def hashable(column: pd.Series) -> pd.Series:
    """The column, as text where lists or objects, which have no hash, are in its cells."""
    return column.astype(str) if columns.nested(column) else column


def has_nested_values(column: pd.Series) -> bool:
    """Whether lists or objects are in a column's cells, as they are or as JSON text.

    Examples
    --------
    >>> has_nested_values(pd.Series(['[{"score": 3}]'])), has_nested_values(pd.Series(["a"]))
    (True, False)
    """
    shown = (v for v in column.dropna().head(50) if isinstance(v, str))
    return columns.nested(column) or any(v.lstrip()[:2] in {"[{", '{"', "{'"} for v in shown)


def understand(
    source: Path | str,
    table: pd.DataFrame,
    names: Mapping[str, str],
    *,
    item: tuple[str, ...] = (),
    factors: tuple[str, ...] = (),
    ignore: tuple[str, ...] = (),
    places: tuple[str, ...] = (),
) -> ColumnRoles:
    """Say what names an item and a condition, and what the other columns are.

    Parameters
    ----------
    source : Path or str
        For messages.
    table : DataFrame
    names : mapping of our column to theirs
    item, factors, ignore : tuple of str
        As the user says.
    places : tuple of str
        Columns with the places of list entries, which are rows.

    Returns
    -------
    ColumnRoles

    Raises
    ------
    InputError
        A column could be part of an item's or a condition's key, and nobody said whether it is.
    """
    own_item = item or (names["item_id"],)
    stated = [names["criterion"]] if "criterion" in names else []
    usual = {names.get("judge"), names.get("temperature")}  # in the name of every condition
    factors = tuple(c for c in dict.fromkeys([*factors, *stated]) if c not in usual)
    not_parts = [names[n] for n in ("judge", "temperature", "order", "cluster") if n in names]
    not_parts = [c for c in not_parts if c not in own_item]
    serving = {*names.values()} - ({names["category"]} if "category" in names else set())
    rest = [str(c) for c in table.columns if c not in {*serving, *own_item, *factors, *ignore}]
    base = group_codes(table, [*own_item, *not_parts, *factors])
    system = names.get("system", "")
    parts = [system] if system and system not in own_item and varies(base, table[system]) else []
    grouping = [c for c in rest if columns.folded(c) in CRITERIA and groups_items(table[c], base)]
    criteria = list(grouping)
    for column in rest if not item else [c for c in rest if columns.folded(c) in CRITERIA]:
        if columns.folded(column) in CRITERIA and varies(base, table[column]):
            own = _are_parts(table[column], base)  # rubrics of one item, which no other has
            (parts if own else criteria).append(column)
        elif (
            columns.folded(column) in columns.PARTS
            and not item
            and varies(base, table[column])
            and not (places and varies_in_lists(table, column, places[-1]))
        ):
            parts.append(column)
    parts_of_key = (*own_item, *parts)
    conditions = (*factors, *criteria)
    if parts or criteria:
        base = group_codes(table, [*parts_of_key, *not_parts, *conditions])
    items = group_codes(table, parts_of_key)
    repeat = names.get("replicate", "")
    each = conditions if repeat else ()  # criteria that were columns share the id of their row
    n_rows = int(np.bincount(group_codes(table, each)).max(initial=0))
    unused: list[tuple[str, str]] = []
    open_: list[str] = []
    for column in rest:
        if column in {*parts, *criteria}:
            continue
        if column == BLOCK != names.get("category") and groups_items(table[column], items):
            why = ""
        elif places and (named := _entry_exclusion(table, column, base, places)) is not None:
            why = named
        elif (
            last_word(column) in ANSWERS - columns.SYSTEMS  # other answers are other items
            or (not repeat and names_judged(column, table[column]))
        ) and varies(base, table[column]):
            why = ""
        else:
            why = _why_unused(table[column], column, base, n_rows)
            if not why and repeat and numbers_repeats(table, column, repeat):
                why = f"goes with {repeat}"
            if not why and not _could_be_key(table[column], base):
                why = "measure"
            if why and column == names.get("category"):
                continue
        if why:
            unused.append((column, why))
        else:
            open_.append(column)
    unused += [(c, "as you say") for c in ignore if c in table.columns]
    if open_:
        raise UndecidedError(source, open_, parts_of_key, table, names)
    listed = [*stated, *criteria, *(c for c in factors if columns.folded(c) in CRITERIA), ""]
    return ColumnRoles(
        item=parts_of_key, factors=conditions, unused=tuple(unused), criterion=listed[0],
        reasons=dict.fromkeys((*item, *factors), "stated")
        | dict.fromkeys((*parts, *criteria), "by name, varies within items")
        | dict.fromkeys(grouping, "by name, groups items"),
    )  # fmt: skip


def varies(base: NDArray[np.int64], column: pd.Series) -> bool:
    """Whether a column varies within the groups that some codes number."""
    own, distinct = codes_of(column)
    if len(distinct) < 2:
        return False
    return bool(len(pd.unique(base * len(distinct) + own)) > int(base.max(initial=-1)) + 1)


def labels_vary(table: pd.DataFrame, item: Sequence[str], mapping: Mapping[str, str]) -> bool:
    """Whether rows of one item have one verdict and several labels, as raters give them.

    Examples
    --------
    >>> rows = pd.DataFrame({"id": ["a", "a"], "llm": [1, 1], "mine": [1, 0]})
    >>> labels_vary(rows, ["id"], {"verdict": "llm", "label": "mine"})
    True
    """
    label = mapping.get("label", "")
    verdict = next((mapping[v] for v in columns.VERDICTS if v in mapping), "")
    if not {label, verdict, *item} <= set(table):
        return False
    base = group_codes(table, list(item))
    return varies(base, table[label]) and not varies(base, table[verdict])


def groups_items(column: pd.Series, base: NDArray[np.int64]) -> bool:
    """Whether a few words are of several items each, and each item has one of them."""
    if pd.api.types.is_numeric_dtype(column) or column.isna().any() or varies(base, column):
        return False
    items = pd.Series(base).groupby(codes_of(column)[0]).nunique()
    return 1 < len(items) <= _MOST_LEVELS and bool(items.min() > 1)


def _are_parts(column: pd.Series, base: NDArray[np.int64]) -> bool:
    """Whether each level is of one group alone, and groups have several."""
    levels, distinct = codes_of(column)
    groups = int(base.max(initial=-1)) + 1
    pairs = len(pd.unique(base * len(distinct) + levels))
    return 1 < groups < pairs == len(distinct)


def varies_in_lists(table: pd.DataFrame, column: str, place: str) -> bool:
    """Whether a column differs among the entries of one list."""
    lists = table[place].eq(0).cumsum().to_numpy(np.int64) - 1
    return varies(lists, table[column])


def _why_unused(column: pd.Series, name: str, base: NDArray[np.int64], n_rows: int) -> str:
    """Why a column is not used in a key; empty where it might have one."""
    if not varies(base, column):
        return UNVARYING
    if columns.nested(column):
        return "nested"
    name = _spaced(name)
    if pd.api.types.is_datetime64_any_dtype(column) or _TIMES.search(name):
        return "time"
    if not pd.api.types.is_numeric_dtype(column) and is_crossed(column, base):
        return ""
    if pd.api.types.is_float_dtype(column) and (column.dropna() % 1 != 0).any():
        return "measure"
    if _MEASURES.search(name):
        return "measure"
    if _ROWS.search(name):
        return "row id"
    if _NOTES.search(name):
        return "free text"
    kept = column.dropna()
    distinct = pd.unique(hashable(kept))
    if len(distinct) >= max(3, 0.9 * min(len(kept), n_rows)):
        return "row id"
    if not pd.api.types.is_numeric_dtype(column):
        texts = [str(v) for v in distinct[:500]]
        if all(_ISO.fullmatch(t.strip()) for t in texts):
            return "time"
        if sum(map(len, texts)) > _LONG * len(texts) or len(distinct) > max(200, len(kept) / 5):
            return "free text"
    elif len(distinct) > _FEW:
        return "measure"
    return ""


def counts_or_measures(column: str) -> bool:
    """Whether a name is that of a time, a measure or a text.

    Examples
    --------
    >>> counts_or_measures("latency_ms"), counts_or_measures("rating")
    (True, False)
    """
    return any(known.search(_spaced(column)) for known in (_TIMES, _MEASURES, _NOTES))


def _spaced(name: str) -> str:
    """The words of a name, with spaces between them."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[\W_]+", " ", name).strip().lower()


def is_crossed(column: pd.Series, base: NDArray[np.int64]) -> bool:
    """Whether a few values are in the rows of every item, equally often: a design, no verdict.

    Examples
    --------
    >>> items = np.array([0, 0, 1, 1])
    >>> is_crossed(pd.Series(["x", "y", "y", "x"]), items)
    True
    >>> is_crossed(pd.Series([1, 2, 1, 1]), items)
    False
    """
    if column.isna().any() or not 2 <= column.nunique() <= _FEW:
        return False
    return _same_levels(column, base)


def _could_be_key(column: pd.Series, base: NDArray[np.int64]) -> bool:
    """Whether values of a design stand here, rather than a measure that happens to repeat.

    Words that repeat do. Numbers do where every item has the same ones, equally often.
    """
    if not pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column):
        return True
    return _same_levels(column, base)


def _same_levels(column: pd.Series, base: NDArray[np.int64]) -> bool:
    """Whether nearly every item has the same values, equally often."""
    sizes = np.bincount(base)
    several = np.flatnonzero(sizes > 1)[:_GROUPS]
    if not len(several):
        return False
    kept = np.isin(base, several)
    codes, distinct = pd.factorize(column[kept], use_na_sentinel=False)
    groups = np.searchsorted(several, base[kept])
    cells = np.bincount(
        groups * len(distinct) + codes, minlength=len(several) * len(distinct)
    ).reshape(len(several), len(distinct))
    same = (cells == cells[0]).all(axis=1).mean()
    return bool(same >= _ALIKE and (cells[0] > 0).sum() > 1)


def _entry_exclusion(
    table: pd.DataFrame, column: str, base: NDArray[np.int64], places: Sequence[str]
) -> str | None:
    """Why a column of list entries has no part; empty where it may have one, None if not known.

    A column one to one with the entries' places names them, unless it numbers or describes them.
    """
    varied = varies(base, table[column])
    if column in places and (column == places[-1] or not varied):
        return "place in the list"
    word = last_word(column)
    if word in _TEXTS_OF_ENTRIES:
        return "free text"
    if not varied or names_part(table, column):
        return "" if varied else None
    if _MEASURES.search(word):
        return "measure"
    levels = table[column].astype(str).nunique()
    place = next((p for p in places if numbers_repeats(table, column, p)), "")
    if not place or not 1 < levels <= len(table) // 2:
        return None
    if pd.api.types.is_numeric_dtype(table[column]) and _REPEATS.search(word):
        return f"goes with {place}"
    return ""


def numbers_repeats(table: pd.DataFrame, column: str, repeat: str) -> bool:
    """Whether a column goes one to one with the repetition (a seed a run)."""
    own, levels = codes_of(table[column])
    pairs = len(pd.unique(own * table[repeat].nunique(dropna=False)
                          + pd.factorize(table[repeat], use_na_sentinel=False)[0]))  # fmt: skip
    return pairs == len(levels) == table[repeat].nunique(dropna=False)


class UndecidedError(InputError):
    """Columns that could be part of an item's or a condition's key."""

    def __init__(
        self,
        source: Path | str,
        columns: Sequence[str],
        item: Sequence[str],
        table: pd.DataFrame,
        names: Mapping[str, str],
    ) -> None:
        self.columns, self.item = tuple(columns), tuple(item)
        self.table, self.names = table, dict(names)
        self.examples = ", ".join(
            f"{c!r} ({', '.join(str(v)[:20] for v in pd.unique(hashable(table[c].dropna()))[:3])}"
            " ...)"
            for c in columns[:4]
        )
        several = len(columns) > 1
        self.groups = self.columns == (BLOCK,) and not varies(
            group_codes(table, item), table[BLOCK]
        )
        super().__init__(
            f"{source}: the column{'s' * several} {self.examples} "
            f"var{'y' if several else 'ies'} among the rows of one {' + '.join(item)}, so that "
            f"these rows may be no repetitions of one judgment."
            if not self.groups
            else f"{source}: {self.examples} names groups of {' + '.join(item)}."
        )


_JUDGE = {
    "llm", "llm_judge", "ai", "ai_judge", "model", "eval", "evaluator", "evaluation", "auto",
    "auto_eval", "automatic", "automated", "autorater", "autograder", "online_scoring", "judge",
    "machine", "bot", "prediction", "suggestion",
}  # fmt: skip
_HUMAN = {
    "human", "annotation", "annotator", "ui", "app", "user", "person", "people", "expert",
    "physician", "reviewer", "review", "manual", "labeler", "labeller", "crowd", "crowdworker",
    "worker", "rater", "gold", "response", "author", "participant",
}  # fmt: skip
_RULE = frozenset({"code", "heuristic", "programmatic", "rule", "regex", "exact_match"})
_UNCLEAR = frozenset({"api", "sdk", "external", "import", "other"})
_CERTAIN = {
    "human", "annotation", "annotator", "people", "crowd", "crowdworker", "labeler", "labeller",
    "manual",
}  # fmt: skip
"""Words that name people in every context; `ui` or `user` may name something else."""
_OF_PEOPLE = _CERTAIN | {"person", "expert", "physician"}
_CLASSES = (("judge", _JUDGE), ("human", _HUMAN), ("rule", _RULE), ("unclear", _UNCLEAR))
_SMALL = frozenset(
    {"arena", "a", "an", "the", "as", "by", "of", "in", "end", "feedback", "based", "graded"}
)
_MODELS = re.compile(
    r"(gpt|claude|gemini|llama|mistral|mixtral|qwen|deepseek|grok|prometheus|o[134]\b)", re.I
)
_NAMED = re.compile(
    r"(source|kind|type|annotat|rater|rated|judge|evaluat|grader|scorer|labell?er|feedback|review"
    r"|author|creat|origin|provenance|(^|[_.])by$)",
    re.I,
)
_KIND_NAMED = re.compile(r"(source|annotat|rater|judge|evaluat|grader|scorer|feedback)", re.I)
_MOST_LEVELS, _MOST_TOLD = 20, 8
_EMPTY = "empty"
_SAMPLE = 400


@dataclass(frozen=True, kw_only=True)
class RaterKinds:
    """A column that says who gave each row: its levels by kind of rater, with their rows."""

    column: str
    rows: Mapping[str, int]
    kinds: Mapping[str, tuple[str, ...]]

    def format_kind(self, kind: str) -> str:
        """The levels of a kind as an option takes them, with the column."""
        return f"{self.column}={','.join(filter(None, self.kinds.get(kind, ())))}"

    def described(self) -> str:
        """Each kind with its levels and rows."""
        told = []
        for kind, levels in self.kinds.items():
            named = [f"{v or _EMPTY} {self.rows[v]:,}" for v in levels[:_MOST_TOLD]]
            more = [f"{len(levels) - _MOST_TOLD:,} more"] if len(levels) > _MOST_TOLD else []
            told.append(f"{kind} ({', '.join([*named, *more])})")
        return ", ".join(told)


def kind_of_rater(level: str) -> str:
    """Whether a word names a judge, a human, a rule, or is unclear; empty for any other word.

    Examples
    --------
    >>> [kind_of_rater(w) for w in ("LLM", "human_annotator", "gpt-4o", "CODE", "SDK", "medicine")]
    ['judge', 'human', 'judge', 'rule', 'unclear', '']
    """
    if not level.strip():
        return "unclear"
    if names_model(level):
        return "judge"
    words = _words(level)
    joined = "_".join(words)
    for kind, known in _CLASSES:
        if joined in known:
            return kind
    if not words or not all(any(w in known for _, known in _CLASSES) for w in words):
        return ""
    if set(words) & _OF_PEOPLE:
        return "human"
    return next(kind for kind, known in _CLASSES if set(words) & known)


def names_model(name: str) -> bool:
    """Whether a name begins as those of language models do.

    Examples
    --------
    >>> names_model("gpt_score"), names_model("fluency")
    (True, False)
    """
    return _MODELS.match(name.strip()) is not None


def _words(level: str) -> list[str]:
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", level)
    words = [w for w in re.split(r"[\W_\d]+", apart.casefold()) if w]
    words = [w for w in words if w not in _SMALL] or words
    every = frozenset().union(*(known for _, known in _CLASSES))
    return [w[:-1] if w not in every and w.endswith("s") else w for w in words]


def rater_kinds(
    table: pd.DataFrame, names: Mapping[str, str], *, explained: Collection[str] = ()
) -> RaterKinds | None:
    """The column that says who gave each row, where rows of human raters are among the judge's.

    Parameters
    ----------
    table : DataFrame
    names : mapping of our column to theirs
    explained : collection of str
        Columns whose part the user stated.

    Returns
    -------
    RaterKinds or None

    Examples
    --------
    >>> rows = pd.DataFrame({"item": ["a", "a"], "source": ["EVAL", "ANNOTATION"]})
    >>> rater_kinds(rows, {"item_id": "item"}).kinds
    {'judge': ('EVAL',), 'human': ('ANNOTATION',)}
    >>> rater_kinds(rows.assign(source=["wiki", "news"]), {"item_id": "item"}) is None
    True
    """
    judge = names.get("judge", "")
    serving = {c for role, c in names.items() if role not in {"judge", "cluster", "category"}}
    found = []
    for column, cells in _word_columns(table, {*serving, *explained}):
        kinds = kinds_of_raters(column, cells)
        if kinds is None or (columns.folded(column) in columns.SYSTEMS and column != judge):
            continue
        asks, if_varied = (_asks(kinds, judges=column == judge, varied=v) for v in (False, True))
        item = names.get("item_id")
        if not asks and if_varied and item in table:
            asks = varies(group_codes(table, [str(item)]), cells)
        if asks:
            found.append(kinds)
    return max(found, key=_rank, default=None)


def rater_columns(
    table: pd.DataFrame, names: Mapping[str, str], *, explained: Collection[str] = ()
) -> list[str]:
    """The columns of words that name raters, of whatever kinds."""
    serving = {c for role, c in names.items() if role not in {"judge", "cluster", "category"}}
    return [
        column
        for column, cells in _word_columns(table, {*serving, *explained})
        if (kinds := kinds_of_raters(column, cells)) and set(kinds.kinds) - {"unknown"}
    ]


def _rank(kinds: RaterKinds) -> tuple[bool, bool]:
    return {"judge", "human"} <= set(kinds.kinds), bool(_KIND_NAMED.search(kinds.column))


def kinds_of_raters(column: str, cells: pd.Series) -> RaterKinds | None:
    """The levels of a column by kind of rater; None where it holds no few words.

    Examples
    --------
    >>> kinds_of_raters("by", pd.Series(["gpt-4o", "human", "gpt-4o"])).rows
    {'gpt-4o': 2, 'human': 1}
    """
    kept = cells.dropna()
    words = len(kept) and (kept.dtype == "str" or pd.api.types.infer_dtype(kept) == "string")
    if not words:
        return None
    codes, levels = codes_of(cells.fillna(""))
    if not _few_or_people({*map(str, levels)} - {""}):
        return None
    counts = dict(zip(map(str, levels), np.bincount(codes).tolist(), strict=True))
    kinds: dict[str, list[str]] = {}
    for level in counts:
        kinds.setdefault(kind_of_rater(level) or "unknown", []).append(level)
    order = ("judge", "human", "rule", "unclear", "unknown")
    listed = {k: tuple(kinds[k]) for k in order if k in kinds}
    return RaterKinds(column=column, rows=counts, kinds=listed)


def _few_or_people(levels: Collection[object]) -> bool:
    """Whether words are few enough for kinds of raters, or all name people, as ``user_17`` does."""
    return len(levels) <= _MOST_LEVELS or all(kind_of_rater(str(w)) == "human" for w in levels)


def _asks(found: RaterKinds, *, judges: bool, varied: bool) -> bool:
    """Whether rows of human raters, of rules or of nobody known may be among the judge's."""
    kinds = set(found.kinds)
    certain = any(set(_words(v)) & _CERTAIN for v in found.kinds.get("human", ()))
    last = ".".join(found.column.split(".")[-2:])
    named = bool(_NAMED.search(last))
    if "unknown" in kinds:
        return certain and (judges or ("judge" in kinds and bool(_KIND_NAMED.search(last))))
    if {"human", "judge"} <= kinds:
        return named or certain or varied
    if kinds == {"human"} and judges and len(found.kinds["human"]) > 1:
        return True
    if "human" in kinds:
        return certain if kinds == {"human"} and named else (named or certain) and len(kinds) > 1
    empty_only = kinds == {"judge", "unclear"} and set(found.kinds["unclear"]) == {""}
    return "judge" in kinds and len(kinds) > 1 and named and not (judges and empty_only)


def _word_columns(table: pd.DataFrame, serving: Collection[str]) -> Iterator[tuple[str, pd.Series]]:
    """Columns of words, and the content of cells that hold objects, by its path."""
    for name in table.columns:
        column, cells = str(name), table[name]
        if column in serving or pd.api.types.is_numeric_dtype(cells):
            continue
        if isinstance(cells.dtype, pd.CategoricalDtype):
            cells = cells.astype(object)
        kept = cells.dropna()
        some = kept.iloc[:: max(1, len(kept) // _SAMPLE)]
        objects = [o for v in some if (o := object_in(v)) is not None]
        if not objects:
            if all(isinstance(v, str) for v in some) and _few_or_people(set(some)):
                yield column, cells
            continue
        values: dict[str, set[object]] = {}
        for one in objects:
            for path, value in leaves_of(one).items():
                values.setdefault(path, set()).add(value if isinstance(value, str) else None)
        for path, seen in values.items():
            words = {v for v in seen if isinstance(v, str)}
            whole = f"{column}.{path}"
            if words and len(words) <= _MOST_LEVELS and whole not in serving:
                yield whole, cells.map(partial(_leaf_at, path=path))


def _leaf_at(value: object, path: str) -> object:
    one = object_in(value)
    return None if one is None else leaves_of(one).get(path)


def rows_of_raters(source: Path | str, table: pd.DataFrame, stated: str, option: str) -> pd.Series:
    """Which rows hold one of the values of ``COLUMN=VALUE,VALUE``.

    Raises
    ------
    InputError
        There is no such column, or it does not hold a value.
    """
    wanted, _, given = stated.partition("=")
    column = columns.known_column(source, table, wanted.strip(), option)
    cells = columns.each_distinct(table[column], normalize_value)
    values = [normalize_value(v) for v in given.split(",")]
    lost = [v for v in values if not cells.eq(v).any()]
    if lost:
        there = ", ".join(map(str, pd.unique(hashable(table[column].dropna()))[:8]))
        raise InputError(
            f"{source}: --{option} {stated}: the column {column!r} never holds {lost[0]!r}. It "
            f"holds: {there}."
        )
    return cells.isin(values)
