"""Columns that may hold verdicts, by their names and shapes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

ORDERS = frozenset(
    {"orig", "original", "swap", "swapped", "ab", "ba", "forward", "reverse", "g1", "g2"}
)
"""Words for one of two orders of presentation."""

SYSTEM_CRITERION = "system+criterion"
"""Role of columns with the verdicts on one system by one criterion each."""
_RUN = re.compile(r"(run|rep|repeat|replicate|trial|attempt|epoch)[\s_.\-]*\d+", re.I)
_CRITERIA = frozenset(
    {
        "accuracy", "clarity", "coherence", "completeness", "conciseness", "consistency",
        "correctness", "creativity", "depth", "engagingness", "factuality", "faithfulness",
        "fluency", "groundedness", "harmlessness", "helpfulness", "honesty", "naturalness",
        "overall", "quality", "readability", "relevance", "relevancy", "safety", "style", "tone",
        "understandability",
    }
)  # fmt: skip
_SHORT = 20
_LETTERS = 5


def order_columns(columns: Sequence[str]) -> tuple[str, ...]:
    """The two columns whose names differ in the order that they are of; else none.

    Examples
    --------
    >>> order_columns(["set", "winner_orig", "winner_swap"])
    ('winner_orig', 'winner_swap')
    """
    by_stem: dict[str, list[str]] = {}
    for column in columns:
        words = [w for w in re.split(r"[\s_.\-]+", column) if w]
        rest = [w for w in words if w.casefold() not in ORDERS]
        if len(rest) == len(words) - 1:
            by_stem.setdefault("_".join(rest).casefold(), []).append(column)
    return next((tuple(c) for c in by_stem.values() if len(c) == 2), ())


def named_runs(columns: Sequence[str]) -> tuple[str, ...]:
    """The columns that are named as one judge's runs are.

    Examples
    --------
    >>> named_runs(["id", "run1", "run2"]), named_runs(["run1"])
    (('run1', 'run2'), ())
    """
    named = tuple(c for c in columns if _RUN.fullmatch(c))
    stems = {re.sub(r"\d+$", "", c).casefold() for c in named}
    return named if len(named) > 1 and len(stems) == 1 else ()


def run_columns(table: pd.DataFrame, columns: Sequence[str]) -> tuple[str, ...]:
    """The columns that hold one run's verdicts each: ``run1`` to ``run8``.

    Examples
    --------
    >>> t = pd.DataFrame({"run1": [7], "run2": [8], "runtime": [3]})
    >>> run_columns(t, ["run1", "run2", "runtime"])
    ('run1', 'run2')
    """
    named = named_runs(columns)
    if not named:
        return ()
    cells = pd.concat([table[c].head(50) for c in named]).dropna().astype(str)
    return named if len(cells) and cells.str.len().max() <= _SHORT else ()


def criteria_names(columns: Sequence[str]) -> bool:
    """Whether columns are named as criteria of one judgment are.

    Examples
    --------
    >>> criteria_names(["Coherence", "fluency_score"]), criteria_names(["gpt-4o", "overall"])
    (True, False)
    """
    words = [set(re.split(r"[\s_.\-]+", c.casefold())) for c in columns]
    return len(words) > 1 and all(w & _CRITERIA for w in words)


def systems_by_criterion(columns: Sequence[str]) -> dict[str, tuple[str, str]]:
    """The system and the criterion of each column, where names are ``SYSTEM_CRITERION``.

    Examples
    --------
    >>> found = systems_by_criterion(["query", "x_tone", "x_safety", "y_tone", "y_safety"])
    >>> found["y_tone"], "query" in found
    (('y', 'tone'), False)
    >>> systems_by_criterion(["id", "tone", "safety"])
    {}
    """
    found: dict[str, tuple[str, str]] = {}
    for column in columns:
        words = re.split(r"[\s_.\-]+", column)
        if len(words) > 1 and words[-1].casefold() in _CRITERIA:
            found[column] = "_".join(words[:-1]), words[-1]
        elif len(words) > 1 and words[0].casefold() in _CRITERIA:
            found[column] = "_".join(words[1:]), words[0]
    systems, criteria = ({pair[k] for pair in found.values()} for k in (0, 1))
    several = len(systems) > 1 and len(criteria) > 1
    return found if several and len(found) == len(systems) * len(criteria) else {}


def criteria_columns(table: pd.DataFrame, taken: Collection[str]) -> str:
    """The option ``--wide`` of a table with a column for each criterion; empty for any other.

    Examples
    --------
    >>> t = pd.DataFrame({"id": ["a", "b"], "tone": [1, 2], "clarity": [2.5, 2]})
    >>> criteria_columns(t, {"id"})
    'criterion=tone,clarity'
    """
    rest = [str(c) for c in table.columns if c not in taken]
    if any(_OF_PEOPLE.search(c) for c in rest):
        return ""  # human labels stand among them: whose is what has to be said
    if crossed := systems_by_criterion(rest):
        return f"{SYSTEM_CRITERION}={','.join(crossed)}"
    named = [c for c in rest if criteria_names([c, c])]
    alike = [c for c in rest if _like_verdicts(table[c])]
    numbers = [c for c in named if pd.api.types.is_numeric_dtype(table[c])]
    whole = [c for c in named if c in numbers or c in alike]
    several = len(whole) > 1 and len(whole) == len(named) and set(alike) <= set(named)
    return f"criterion={','.join(whole)}" if several else ""


def letters_in(column: pd.Series) -> bool:
    """Whether each cell holds several verdicts of one letter each, equally many in every row.

    Examples
    --------
    >>> letters_in(pd.Series(["1101", "0_01"])), letters_in(pd.Series(["7", "10"]))
    (True, False)
    """
    cells = [v for v in column if isinstance(v, str)]
    if len(cells) < len(column) or len(cells) < 2:
        return False
    sizes = set(map(len, cells))
    letters = set("".join(cells))
    if len(sizes) != 1 or min(sizes) < 3 or not 1 < len(letters) <= _LETTERS:
        return False
    return len(set(cells)) > _LETTERS or letters <= set("01_-?. x")


_PEOPLE = re.compile(r"(annotator|human|rater|expert|person|label|crowd)", re.I)
_OF_PEOPLE = re.compile(
    r"(?:^|[\W_])(?:annotators?|humans?|raters?|experts?|persons?|people|labels?|crowd|users?|gold"
    r"|reviewers?|manual|physicians?)(?:$|[\W_\d])",
    re.IGNORECASE,
)
"""Words in names of columns that may hold what people said."""
_MOST = 20
_SHOWN = 8


def shapes_of_verdicts(table: pd.DataFrame, names: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Options for verdicts in replies, in lists, or in a column for each run, judge or criterion.

    Parameters
    ----------
    table : DataFrame
    names : mapping of our column to theirs
        What was recognised.

    Yields
    ------
    dict
        Of `TableOptions`.

    Examples
    --------
    >>> t = pd.DataFrame({"id": [1, 2], "winner_orig": ["a", "b"], "winner_swap": ["a", "a"]})
    >>> next(shapes_of_verdicts(t, {"item_id": "id"}))
    {'wide': ('order=winner_orig,winner_swap',)}
    """
    if raw := names.get("raw_text"):
        yield {"parse": _protocol(table[raw])}
    label = names.get("label", "")
    rest = [str(c) for c in table.columns if c not in names.values()]
    cells = {c: [str(v) for v in table[c].dropna().head(_MOST)] for c in rest}
    for column, seen in cells.items():
        listed = seen and all(v[:1] == "[" and v[1:].lstrip()[:1] != "{" for v in seen)
        if listed or letters_in(table[column].head(1_000)):
            yield {"explode": (column,)}
    if orders := order_columns(rest):
        yield {"wide": (f"order={','.join(orders)}",)}
    like = [c for c in rest if _like_verdicts(table[c])]
    people = [c for c in like if _PEOPLE.match(c)]
    judges = _one_vocabulary(table, [c for c in like if c not in people])
    labels = (f"person={','.join(people)}",) if people and not label else ()
    if len(judges) > 1 and not orders:
        roles = ("criterion", "judge") if criteria_names(judges) else ("judge", "criterion")
        for role in roles:
            yield {"wide": (f"{role}={','.join(judges)}", *labels)}
    if label and not judges:
        yield {"mapping": {"verdict": label}}
    texts = [c for c, seen in cells.items() if seen and sum(map(len, seen)) > 30 * len(seen)]
    replies = [c for c in rest if re.search(r"(reply|response|output|completion|answer)", c, re.I)]
    for text in texts if len(texts) == 1 else replies[:1]:
        yield {"mapping": {"raw_text": text}, "parse": _protocol(table[text])}


def _protocol(replies: pd.Series) -> str:
    """Which protocol's replies these seem to be."""
    pairs = replies.dropna().astype(str).head(50).str.contains(r"\[\[[ABC]\]\]|\[\[[AB][<>=]")
    return "pairwise" if len(pairs) and pairs.mean() > 0.5 else "pointwise"


def _like_verdicts(column: pd.Series) -> bool:
    """Few different short values."""
    distinct = pd.unique(column.dropna().astype(str))
    most = min(_MOST, max(4, len(column) // 2))
    return 1 < len(distinct) <= most and max(map(len, distinct)) <= _MOST


def _one_vocabulary(table: pd.DataFrame, columns: Sequence[str]) -> list[str]:
    """Those that say what another one says too; all where no two do and there is only one."""
    words = {c: set(table[c].dropna().astype(str).str.lower()) for c in columns}
    kept = [c for c in columns if any(_alike(words[c], words[d]) for d in columns if d != c)]
    return (kept or list(columns)[:1])[:_SHOWN]


def _alike(one: set[str], other: set[str]) -> bool:
    return 2 * len(one & other) >= min(len(one), len(other))
