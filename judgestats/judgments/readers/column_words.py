"""What columns' names, and cells of one letter a verdict, tell of a table's layout."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pandas as pd

ORDERS = frozenset(
    {"orig", "original", "swap", "swapped", "ab", "ba", "forward", "reverse", "g1", "g2"}
)
"""Words for one of two orders of presentation."""

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


def systems_by_criterion(columns: Sequence[str]) -> list[tuple[str, ...]]:
    """For each criterion the columns of all systems, where names are ``SYSTEM_CRITERION``.

    Examples
    --------
    >>> systems_by_criterion(["query", "x_tone", "x_safety", "y_tone", "y_safety"])
    [('x_tone', 'y_tone'), ('x_safety', 'y_safety')]
    >>> systems_by_criterion(["id", "tone", "safety"])
    []
    """
    found: dict[str, dict[str, str]] = {}
    for column in columns:
        words = re.split(r"[\s_.\-]+", column.casefold())
        if len(words) > 1 and words[-1] in _CRITERIA:
            found.setdefault(words[-1], {})["_".join(words[:-1])] = column
        elif len(words) > 1 and words[0] in _CRITERIA:
            found.setdefault(words[0], {})["_".join(words[1:])] = column
    systems = {tuple(sorted(own)) for own in found.values()}
    crossed = len(found) > 1 and len(systems) == 1 and len(next(iter(systems))) > 1
    return [tuple(own.values()) for own in found.values()] if crossed else []


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
