"""Who gave each row of a table: a judge, a person, or a rule."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pandas as pd

from judgestats.errors import InputError
from judgestats.judgments.kinds import spelling
from judgestats.judgments.readers.cell_texts import each_distinct
from judgestats.judgments.readers.names import SYSTEMS, column_named, folded, no_column
from judgestats.judgments.readers.trees import leaves_of, object_in
from judgestats.judgments.readers.understanding import group_codes, varies

_JUDGE = frozenset(
    {"llm", "llm_judge", "ai", "ai_judge", "model", "eval", "evaluator", "evaluation", "auto",
     "auto_eval", "automatic", "automated", "autorater", "autograder", "online_scoring", "judge",
     "machine", "bot", "prediction", "suggestion"}
)  # fmt: skip
_HUMAN = frozenset(
    {"human", "annotation", "annotator", "ui", "app", "user", "person", "people", "expert",
     "physician", "reviewer", "review", "manual", "labeler", "labeller", "crowd", "crowdworker",
     "worker", "rater", "gold", "response"}
)  # fmt: skip
_RULE = frozenset({"code", "heuristic", "programmatic", "rule", "regex", "exact_match"})
_UNCLEAR = frozenset({"api", "sdk", "external", "import", "other"})
_CERTAIN = frozenset(
    {"human", "annotation", "annotator", "people", "crowd", "crowdworker", "labeler", "labeller",
     "manual"}
)  # fmt: skip
"""Words that name people in every context; `ui` or `user` may name something else."""
_OF_PEOPLE = _CERTAIN | {"person", "expert", "physician"}
_CLASSES = (("judge", _JUDGE), ("human", _HUMAN), ("rule", _RULE), ("unclear", _UNCLEAR))
_SMALL = frozenset({"a", "an", "the", "as", "by", "of", "in", "end", "feedback", "based", "graded"})
_MODELS = re.compile(
    r"(gpt|claude|gemini|llama|mistral|mixtral|qwen|deepseek|grok|prometheus|o[134]\b)", re.I
)
_NAMED = re.compile(
    r"(source|kind|type|annotat|rater|rated|judge|evaluat|grader|scorer|labell?er|feedback|review"
    r"|author|creat|origin|provenance|(^|[_.])by$)",
    re.I,
)
_KIND_NAMED = re.compile(r"(source|annotat|rater|judge|evaluat|grader|scorer|feedback)", re.I)
_MOST_LEVELS = 20
_EMPTY = "empty"
_SAMPLE = 400


@dataclass(frozen=True, kw_only=True)
class RaterKinds:
    """A column that says who gave each row: its levels by kind of rater, with their rows."""

    column: str
    rows: Mapping[str, int]
    kinds: Mapping[str, tuple[str, ...]]

    def named(self, kind: str) -> str:
        """The levels of a kind as an option takes them, with the column."""
        return f"{self.column}={','.join(filter(None, self.kinds.get(kind, ())))}"

    def described(self) -> str:
        """Each kind with its levels and rows."""
        return ", ".join(
            f"{kind} ({', '.join(f'{v or _EMPTY} {self.rows[v]:,}' for v in levels)})"
            for kind, levels in self.kinds.items()
        )


def kind_of_rater(level: str) -> str:
    """Whether a word names a judge, a human, a rule, or is unclear; empty for any other word.

    Examples
    --------
    >>> [kind_of_rater(w) for w in ("LLM", "human_annotator", "gpt-4o", "CODE", "SDK", "medicine")]
    ['judge', 'human', 'judge', 'rule', 'unclear', '']
    """
    if not level.strip():
        return "unclear"
    if _MODELS.match(level.strip()):
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


def _words(level: str) -> list[str]:
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", level)
    words = [w for w in re.split(r"[\W_\d]+", apart.casefold()) if w]
    words = [w for w in words if w not in _SMALL] or words
    every = frozenset().union(*(known for _, known in _CLASSES))
    return [w[:-1] if w not in every and w.endswith("s") else w for w in words]


def rater_kinds(
    table: pd.DataFrame, names: Mapping[str, str], *, explained: Collection[str] = ()
) -> RaterKinds | None:
    """The column that says who gave each row, where rows of people stand among the judge's.

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
        kinds = _kinds_of(column, cells)
        if kinds is None or (folded(column) in SYSTEMS and column != judge):
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
        if (kinds := _kinds_of(column, cells)) and set(kinds.kinds) - {"unknown"}
    ]


def _rank(kinds: RaterKinds) -> tuple[bool, bool]:
    return {"judge", "human"} <= set(kinds.kinds), bool(_KIND_NAMED.search(kinds.column))


def _kinds_of(column: str, cells: pd.Series) -> RaterKinds | None:
    kept = cells.dropna()
    words = len(kept) and pd.api.types.infer_dtype(kept) == "string"
    if not words or kept.nunique() > _MOST_LEVELS:
        return None
    counts = {str(k): int(n) for k, n in cells.fillna("").value_counts(sort=False).items()}
    kinds: dict[str, list[str]] = {}
    for level in counts:
        kinds.setdefault(kind_of_rater(level) or "unknown", []).append(level)
    order = ("judge", "human", "rule", "unclear", "unknown")
    listed = {k: tuple(kinds[k]) for k in order if k in kinds}
    return RaterKinds(column=column, rows=counts, kinds=listed)


def _asks(found: RaterKinds, *, judges: bool, varied: bool) -> bool:
    """Whether rows of people, of rules or of nobody known may stand among the judge's."""
    kinds = set(found.kinds)
    certain = any(set(_words(v)) & _CERTAIN for v in found.kinds.get("human", ()))
    last = ".".join(found.column.split(".")[-2:])
    named = bool(_NAMED.search(last))
    if "unknown" in kinds:
        return certain and (judges or ("judge" in kinds and bool(_KIND_NAMED.search(last))))
    if {"human", "judge"} <= kinds:
        return named or certain or varied
    if "human" in kinds:
        return certain if kinds == {"human"} and named else (named or certain) and len(kinds) > 1
    empty_only = kinds == {"judge", "unclear"} and set(found.kinds["unclear"]) == {""}
    return "judge" in kinds and len(kinds) > 1 and named and not (judges and empty_only)


def _word_columns(table: pd.DataFrame, serving: Collection[str]) -> Iterator[tuple[str, pd.Series]]:
    """Columns of words, and what stands in cells that hold objects, by its path."""
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
            if all(isinstance(v, str) for v in some) and len(set(some)) <= _MOST_LEVELS:
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
    column = column_named(table.columns, wanted.strip())
    if not column:
        raise no_column(source, wanted.strip(), option, table)
    cells = each_distinct(table[column], spelling)
    values = [spelling(v) for v in given.split(",")]
    lost = [v for v in values if not cells.eq(v).any()]
    if lost:
        there = ", ".join(map(str, pd.unique(table[column].dropna())[:8]))
        raise InputError(
            f"{source}: --{option} {stated}: the column {column!r} never holds {lost[0]!r}. It "
            f"holds: {there}."
        )
    return cells.isin(values)
