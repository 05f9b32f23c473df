"""Tables in other shapes than one row per judgment: wide, lists in cells, nested JSON."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from judgestats.data.readers import json_paths
from judgestats.data.readers.columns import (
    RATERS,
    column_named,
    folded,
    may_hold_verdicts,
    names_id,
    of_judges,
    of_people,
    says_pass_or_fail,
)
from judgestats.data.readers.roles import counts_or_measures, hashable, last_word, names_model
from judgestats.errors import InputError
from judgestats.files.text import short

CROSSED = ("system+criterion", "judge+criterion")
"""Roles of columns with the verdicts on one system, or of one judge, by one criterion each."""
ROLES = ("judge", "replicate", "criterion", "system", *CROSSED, "order", "label")
"""What each of several columns may hold the verdicts of; ``label``: of one person."""

VALUE = "verdict"
RUN = re.compile(r"(run|rep|replicate|trial|try|attempt|sample|r|t)?[\s_\-]*\d+", re.I)
"""Levels that name runs."""
_MAX_CELLS = 50_000_000
_NONE = frozenset("_-?. x")
"""Letters that stand for no verdict among texts of one letter a verdict."""


def long_of(
    source: Path | str, table: pd.DataFrame, spec: str
) -> tuple[pd.DataFrame, str, tuple[str, ...]]:
    """A row per judgment, from a table with a column per judge, run, criterion or order.

    Parameters
    ----------
    source : Path or str
        For messages.
    table : DataFrame
    spec : str
        ``PATTERN,PATTERN`` or ``ROLE=PATTERN,PATTERN``, with ``*`` for any letters.

    Returns
    -------
    tuple of DataFrame, str, tuple of str
        The long table (columns: the role, and ``verdict``), the role, and the columns taken.

    Examples
    --------
    >>> wide = pd.DataFrame({"id": ["x"], "gpt_score": [7], "claude_score": [8]})
    >>> found, role, _ = long_of("f", wide, "*_score")
    >>> role, found[["judge", "verdict"]].values.tolist()
    ('judge', [['gpt', 7], ['claude', 8]])
    """
    role, patterns = _spec(spec)
    columns = _matching(source, table, patterns)
    if len(columns) < 2 and role not in {"", "label", "criterion", "system"}:
        raise InputError(
            f"{source}: --wide {spec!r} names only {columns[0]!r}. A single column of verdicts is "
            f"mapped: --map verdict={columns[0]}."
        )
    whole, head = role, role.partition("+")[0]
    crossed = systems_by_criterion(columns) if role in CROSSED else {}
    if role in CROSSED and set(crossed) != set(columns):
        raise InputError(
            f"{source}: --wide {spec!r}: the columns are not each {head} by each criterion. Name "
            f"one of the two: {head}=COLUMNS or criterion=COLUMNS."
        )
    levels = [c for _, c in crossed.values()] if crossed else _levels(columns)
    role = "criterion" if crossed else role or _role_of(levels)
    if role == "label":
        return table, role, columns
    if len(table) * len(columns) > _MAX_CELLS:
        raise InputError(
            f"{source}: {len(table):,} rows x {len(columns)} columns are more than {_MAX_CELLS:,} "
            "judgments. Split the file."
        )
    for name in (role, VALUE):
        if name in table.columns and name not in columns:
            table = table.rename(columns={name: f"{name} (file)"})
    rest = [c for c in table.columns if c not in columns]
    parts = [
        table[rest]
        .assign(**({head: crossed[column][0]} if crossed else {}))
        .assign(**{role: level})
        .assign(**{VALUE: table[column].astype(object)})
        for column, level in zip(columns, levels, strict=True)
    ]
    return pd.concat(parts, ignore_index=True), whole if crossed else role, columns


def labels_by_criterion(
    source: Path | str, table: pd.DataFrame, columns: Sequence[str]
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The table with a column of labels per person, from one per person and criterion.

    Parameters
    ----------
    source : Path or str
        Named in errors.
    table : DataFrame
        With a column ``criterion``, as `long_of` makes it.
    columns : sequence of str
        Columns of labels.

    Returns
    -------
    tuple of DataFrame and tuple of str
        As given where no name of a column ends or begins with that of a criterion.

    Raises
    ------
    InputError
        Some names do and others do not, or criteria are numbers, as persons may be.

    Examples
    --------
    >>> labels = {"human_tone": [1, 1], "human_depth": [2, 2]}
    >>> t = pd.DataFrame({"criterion": ["tone", "depth"], **labels})
    >>> labels_by_criterion("my.csv", t, list(labels))[0]["human"].tolist()
    [1, 2]
    """
    criteria = list(map(str, pd.unique(table["criterion"]))) if "criterion" in table else []
    people: dict[str, dict[str, str]] = {}
    for column in columns if len(criteria) > 1 else ():
        for one in sorted(criteria, key=len, reverse=True):
            name = re.escape(one)
            if m := re.fullmatch(rf"(.+)[\W_]{name}|{name}[\W_](.+)", column, re.I):
                people.setdefault(m[1] or m[2], {})[one] = column
                break
    named = {one: column for own in people.values() for one, column in own.items()}
    if not named:
        return table, tuple(columns)
    unclear = set(columns).difference(*(own.values() for own in people.values()))
    unclear |= {column for one, column in named.items() if one.isdigit()}
    if unclear:
        raise InputError(
            f"{source}: --wide person: {min(unclear)!r} may hold labels on one criterion or on "
            "all. Name every column of labels after a criterion, such as tone, human_tone."
        )
    none = pd.Series(None, table.index, dtype=object)
    said = {f"{name}_label" if name in table else name: none.copy() for name in people}
    for name, own in zip(said, people.values(), strict=True):
        for criterion, column in own.items():
            said[name] = said[name].mask(table["criterion"] == criterion, table[column])
    return table.drop(columns=list(columns)).assign(**said), tuple(said)


def _spec(spec: str) -> tuple[str, list[str]]:
    head, mark, rest = spec.partition("=")
    role = head.strip().lower() if mark else ""
    known = {"run": "replicate", "repeat": "replicate", "person": "label", "annotator": "label"}
    role = known.get(role, role)
    if role and role not in ROLES:
        raise InputError(
            f"--wide: a column may be a {', '.join(ROLES).replace('replicate', 'repeat')}, not "
            f"{role!r}. Write for example --wide 'judge=gpt*,claude*'."
        )
    patterns = [p.strip() for p in (rest if mark else spec).split(",") if p.strip()]
    if not patterns:
        raise InputError("--wide names no column. Write for example --wide 'gpt*,claude*'.")
    return role, patterns


def wide_paths(spec: str) -> list[str]:
    """What a specification of wide columns names by a path into nested cells.

    Examples
    --------
    >>> wide_paths("criterion=scores.tone.value,gpt*")
    ['scores.tone.value']
    """
    return [p for p in _spec(spec)[1] if "." in p and "*" not in p]


def wide_columns(columns: Sequence[str], spec: str) -> list[str]:
    """The columns that a specification of wide columns fits.

    Examples
    --------
    >>> wide_columns(["id", "gpt-4o", "Claude"], "judge=gpt*,claude")
    ['gpt-4o', 'Claude']
    """
    patterns = [p.lower() for p in _spec(spec)[1]]
    return [c for c in columns if any(fnmatch.fnmatch(c.lower(), p) for p in patterns)]


def _matching(source: Path | str, table: pd.DataFrame, patterns: list[str]) -> tuple[str, ...]:
    matching: list[str] = []
    for pattern in patterns:
        exact = column_named(table.columns, pattern)
        hits = [exact] if exact else [
            str(c) for c in table.columns if fnmatch.fnmatch(str(c).lower(), pattern.lower())
        ]  # fmt: skip
        if not hits:
            raise InputError(
                f"{source}: --wide: no column fits {pattern!r}. The file has: "
                f"{', '.join(str(c) for c in list(table.columns)[:30])}."
            )
        matching += [h for h in hits if h not in matching]
    return tuple(matching)


def _levels(columns: Sequence[str]) -> list[str]:
    """The columns' names without what they share at their beginning or end."""
    if len(columns) < 2:
        return list(columns)
    words = [re.split(r"([\s_.\-]+)", c) for c in columns]
    while all(len(w) > 2 for w in words) and len({tuple(w[:2]) for w in words}) == 1:
        words = [w[2:] for w in words]
    while all(len(w) > 2 for w in words) and len({tuple(w[-2:]) for w in words}) == 1:
        words = [w[:-2] for w in words]
    levels = ["".join(w) for w in words]
    return levels if len(set(levels)) == len(columns) else list(columns)


def _role_of(levels: Sequence[str]) -> str:
    if all(RUN.fullmatch(level) for level in levels):
        return "replicate"
    return "order" if {folded(level) for level in levels} <= ORDERS else "judge"


def exploded(source: Path | str, table: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """A row an entry of the lists in some cells; ``place`` numbers the entries from 0.

    Parameters
    ----------
    source : Path or str
    table : DataFrame
    columns : sequence of str
        Their lists must be equally long in each row. A column of equally long texts of few letters
        (``1101``) holds one verdict a letter.

    Returns
    -------
    DataFrame
        Entries that are objects become columns.

    Examples
    --------
    >>> exploded("f", pd.DataFrame({"id": ["x"], "s": ["[7, 8]"]}), ["s"])[["s", "place"]].values
    array([[7, 0],
           [8, 1]], dtype=object)
    """
    names = []
    for wanted in columns:
        name = column_named(table.columns, wanted)
        if not name:
            raise InputError(
                f"{source}: --explode: there is no column {wanted!r}. The file has: "
                f"{', '.join(str(c) for c in list(table.columns)[:30])}."
            )
        names.append(name)
    lists = {
        name: [[None if v in _NONE else v for v in cell] for cell in table[name]]
        if letters_in(table[name])
        else [_listed(v, source, name, i) for i, v in enumerate(table[name])]
        for name in names
    }
    for i in range(len(table)):
        if len({len(lists[n][i]) for n in names}) > 1:
            raise InputError(
                f"{source}, row {i}: the lists of {', '.join(names)} differ in length. Explode one "
                "of them."
            )
    rows = [len(v) for v in lists[names[0]]]
    if not any(rows):
        raise InputError(
            f"{source}: --explode: every list of {', '.join(names)} is empty, so there is no "
            "verdict to read. Name another column."
        )
    if sum(rows) > _MAX_CELLS:
        raise InputError(f"{source}: more than {_MAX_CELLS:,} entries. Split the file.")
    lists |= _equally_long(table.drop(columns=names), rows)
    table = json_paths.with_leaves(table, [str(c) for c in table.columns if c not in lists])
    out = table.drop(columns=list(lists)).loc[table.index.repeat(rows)].reset_index(drop=True)
    for name, listed in lists.items():
        entries = [e for cell in listed for e in cell]
        objects = [e for e in entries if isinstance(e, dict)]
        if not entries or len(objects) < len(entries):
            nested = next((e for e in entries if isinstance(e, (list, tuple, dict))), None)
            if nested is not None:
                raise InputError(
                    f"{source}: --explode: a list of {name} holds {short(nested)}. Its entries "
                    "must be all verdicts or all objects."
                )
            out[name] = pd.Series(entries, dtype=object)
            continue
        inner = pd.DataFrame([json_paths.leaves_of(e) for e in objects])
        both = [str(c) for c in inner.columns.intersection(out.columns)]
        if both:
            raise InputError(
                f"{source}: the column {both[0]!r} is in the records and in the entries of "
                f"{name!r}. Name each by its path, as in --map item_id=id,score={name}[].score."
            )
        out = pd.concat([out, inner], axis=1)
    out[json_paths.PLACE] = [i for n in rows for i in range(n)]
    return out


def _equally_long(table: pd.DataFrame, rows: Sequence[int]) -> dict[str, list[list[Any]]]:
    """Further columns with lists of plain values, as long as those that are exploded."""
    found = {}
    for name in map(str, table.columns):
        cells = [json_paths.json_list(v) for v in table[name]]
        if all(
            cell is not None
            and len(cell) == n
            and not any(isinstance(e, (dict, list)) for e in cell)
            for cell, n in zip(cells, rows, strict=True)
        ):
            found[name] = [list(cell or ()) for cell in cells]
    return found


def _listed(value: object, source: Path | str, name: str, row: int) -> list[Any]:
    if isinstance(value, str):
        cell = value.strip()
        if cell.startswith("["):
            value = json_paths.json_cell(cell, "[")
        else:
            for mark in ("|", ";", ","):
                if mark in cell:
                    return [_plain(p.strip()) for p in cell.split(mark)]
            return [_plain(cell)] if cell else []
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return list(value)
    if value is None or value != value:  # noqa: PLR0124 - NaN
        return []
    raise InputError(
        f"{source}, row {row}: the column {name!r} holds {short(value)}, which is not a list. "
        "Leave it out of --explode."
    )


def _plain(text: str) -> object:
    try:
        return float(text)
    except ValueError:
        return text


def with_paths(source: Path | str, table: pd.DataFrame, paths: Iterable[str]) -> pd.DataFrame:
    """The table with a column for every path (``scores.coherence``) that is not a column yet."""
    for path in paths:
        if column_named(table.columns, path) or "." not in path:
            continue
        column = path_column(source, table, path)
        if column is not None:
            table = table.assign(**{path: column})
    return table


def path_column(source: Path | str, table: pd.DataFrame, path: str) -> pd.Series | None:
    """The value at a path in each row; None where its first part is not a column.

    Examples
    --------
    >>> path_column("f", pd.DataFrame({"s": ['{"a": [3, 4]}']}), "s.a.1").tolist()
    [4]
    """
    steps = path.split(".")
    for n in range(len(steps) - 1, 0, -1):
        column = column_named(table.columns, ".".join(steps[:n]))
        if column:
            values = [
                json_paths.follow_path(json_paths.json_cell(v), steps[n:]) for v in table[column]
            ]
            if all(v is None for v in values) and values:
                raise InputError(
                    f"{source}: there is nothing at {path!r}. The column {column!r} holds "
                    f"{short(table[column].iloc[0])}."
                )
            return pd.Series(values, index=table.index, dtype=object).infer_objects()
    return None


ORDERS = {"orig", "original", "swap", "swapped", "ab", "ba", "forward", "reverse", "g1", "g2"}
"""Words for one of two orders of presentation."""

_NAMED_RUN = re.compile(
    r"(?:(?:score|rating|grade|verdict|judg\w+|llm|result|label|choice|winner)[\s_.\-]+)?"
    r"(?:run|rep|repeat|replicate|trial|attempt|epoch)[\s_.\-]*\d+"
    r"(?:[\s_.\-]+(?:score|rating|grade|verdict|judg\w+|result|label|choice|winner))?",
    re.IGNORECASE,
)
_OF_RUNS = re.compile(r"(?:^|[\W_])(?:run|rep|repeat|trial|attempt|epoch)s?(?:$|[\W_])", re.I)
"""A word for a run among those of a column's name."""
_CRITERIA = {
    "accuracy", "clarity", "coherence", "completeness", "conciseness", "consistency", "correctness",
    "creativity", "depth", "engagingness", "factuality", "faithfulness", "fluency", "groundedness",
    "harmlessness", "helpfulness", "honesty", "naturalness", "overall", "precision", "quality",
    "readability", "recall", "relevance", "relevancy", "safety", "similarity", "style", "tone",
    "understandability",
}  # fmt: skip
NO_VERDICT = re.compile(
    r"(points|weight|threshold|priority|count|token|cost|price|latency|time|length|seed|step|index"
    r"|version|temperature|place|rank|position|turn)$"
)
"""Ends of names of measures, which hold no verdict."""
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
        if stem := stem_of_order(column):
            by_stem.setdefault(stem, []).append(column)
            continue
        words = re.split(r"[\s_.\-]+", column.casefold())
        if len(words) > 1:  # a_vs_b and b_vs_a
            by_stem.setdefault(" ".join(sorted(words)), []).append(column)
    return next((tuple(c) for c in by_stem.values() if len(c) == 2), ())


def stem_of_order(column: str) -> str:
    """The name without the word for an order in it; empty where it has none.

    Examples
    --------
    >>> stem_of_order("swapped winner"), stem_of_order("winner")
    ('winner', '')
    """
    words = [w for w in re.split(r"[\s_.\-]+", column.casefold()) if w]
    rest = [w for w in words if w not in ORDERS]
    return "_".join(rest) if len(rest) == len(words) - 1 else ""


def are_numbered(names: Sequence[str]) -> bool:
    """Whether names differ in a number only, which runs from 0 or 1.

    Examples
    --------
    >>> are_numbered(["score_1", "score_2"]), are_numbered(["gpt-4", "gpt-5"])
    (True, False)
    """
    found = [re.fullmatch(r"(.*?)(\d{1,4})(\D*)", name) for name in names]
    stems = {(m[1], m[3]) for m in found if m}
    numbers = sorted(int(m[2]) for m in found if m)
    first = numbers[0] if numbers else -1
    whole = first in {0, 1} and numbers == [*range(first, first + len(names))]
    return len(stems) == 1 and len(numbers) > 1 and whole


def named_runs(columns: Sequence[str]) -> tuple[str, ...]:
    """The columns that are named as one judge's runs are.

    Examples
    --------
    >>> named_runs(["id", "run1", "run2"]), named_runs(["run1"])
    (('run1', 'run2'), ())
    >>> named_runs(["id", "score_run1", "score_run2"])
    ('score_run1', 'score_run2')
    """
    named = tuple(c for c in columns if _NAMED_RUN.fullmatch(c))
    stems = {re.sub(r"\d+", "", c).casefold() for c in named}
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
    if any(of_people(c) for c in rest):
        return ""  # human labels stand among them: whose is what has to be said
    if crossed := systems_by_criterion(rest):
        if all(map(names_model, (system for system, _ in crossed.values()))):
            return ""  # models may judge or be judged
        return f"{CROSSED[0]}={','.join(crossed)}"
    named = [c for c in rest if criteria_names([c, c])]
    alike = [c for c in rest if _like_verdicts(table[c]) or _is_share(c, table[c])]
    if any(_name_words(c)[1:] == _name_words(d) for c in named if of_judges(c) for d in named):
        return ""  # llm_tone next to tone
    beside = tuple(f"{c}{mark}" for c in named for mark in " _.-/")
    named = [c for c in named if not c.startswith(beside)]  # reasons, and calls
    numbers = [c for c in named if pd.api.types.is_numeric_dtype(table[c])]
    whole = [c for c in named if c in numbers or c in alike]
    several = len(whole) > 1 and len(whole) == len(named) and set(alike) <= set(named)
    return f"criterion={','.join(whole)}" if several else ""


def with_raters_as_columns(
    source: Path | str, table: pd.DataFrame, names: dict[str, str], factors: Sequence[str]
) -> tuple[pd.DataFrame, dict[str, str], tuple[str, ...]]:
    """A row per judgment, with a column of labels per rater, from a row per label.

    Parameters
    ----------
    source : Path or str
        For messages.
    table : DataFrame
    names : dict of our column to theirs
        With ``rater``, ``label``, and a verdict.
    factors : sequence of str
        Columns that distinguish conditions.

    Returns
    -------
    tuple of DataFrame, dict, tuple of str
        The table, its names, and the columns of labels.

    Raises
    ------
    InputError
        A verdict differs between the rows of its raters, a rater labels one judgment twice, or a
        label has no rater.
    """
    rater, label = names["rater"], names["label"]
    roles = ("item_id", "judge", "system", "criterion", "order", "replicate", "temperature")
    keys = list(dict.fromkeys([*(names[r] for r in roles if r in names), *factors]))
    verdicts = [names[r] for r in ("score", "choice", "verdict") if r in names]
    codes = pd.factorize(pd.MultiIndex.from_frame(table[keys].astype(str)))[0]
    for column in verdicts:
        if table[column].astype(str).groupby(codes).nunique().max() > 1:
            raise InputError(
                f"{source}: {column!r} differs between the raters ({rater}) of one judgment, so "
                "they are no raters of it."
            )
    nobody = table[rater].isna() | (table[rater].astype(str).str.strip() == "")
    if table[label][nobody].notna().any():
        raise InputError(
            f"{source}: a label has no rater ({rater}). Name one, or delete the label."
        )
    labels = table.assign(_group=codes)[~nobody]
    if labels.duplicated(["_group", rater]).any():
        raise InputError(f"{source}: a rater ({rater}) labels one judgment twice.")
    wide = labels.pivot(index="_group", columns=rater, values=label)
    wide.columns = [f"{label} {name}" for name in wide.columns]
    kept = table.drop(columns=[rater, label])[~pd.Series(codes).duplicated().to_numpy()]
    wide = wide.reindex(range(len(kept)))
    kept = pd.concat([kept.reset_index(drop=True), wide], axis=1)
    names = {ours: c for ours, c in names.items() if ours not in {"rater", "label"}}
    return kept, names, tuple(wide.columns)


_NO_LABELS = re.compile(
    r"(?:.*[\W_])?(?:id|idx|name|key|no|nr|n|count|kind|type"
    r"|group|model|agreement|confidence|time|weight|min|max|std|sd|var|variance)",
    re.IGNORECASE,
)
"""Names of raters and of measures, which hold no label."""
_SCORED = frozenset(
    {"mean", "avg", "average", "median", "overall", "score", "scores", "rating", "ratings", "grade"}
)
"""Words, besides those for people and of the verdict's name, of a name for labels with points."""


def people_columns(table: pd.DataFrame, verdict: str, taken: Collection[str]) -> list[str]:
    """Columns of human labels, in the words or numbers of a column of verdicts.

    Examples
    --------
    >>> columns = {"llm": ["yes", "no"], "human_1": ["no", "yes"], "rater": [1, 2]}
    >>> t = pd.DataFrame(columns).loc[[0, 1] * 9]
    >>> people_columns(t, "llm", {"llm"})
    ['human_1']
    >>> people_columns(t.assign(rater=["good", "bad"] * 9), "llm", {"llm"})
    ['human_1', 'rater']
    """
    named = [
        c
        for c in map(str, table.columns)
        if c not in taken and of_people(c) and not _NO_LABELS.fullmatch(c)
        and (not RATERS.fullmatch(c) or says_pass_or_fail(table[c], wholly=False))
    ]  # fmt: skip
    scored = _SCORED | {*_name_words(verdict)}
    scored_by = [c for c in named if all(w in scored or of_people(w) for w in _name_words(c))]
    on_scale = [c for c in scored_by if _on_the_scale(table[verdict], table[c])]
    like = [c for c in named if may_hold_verdicts(table[c]) or _like_verdicts(table[c])]
    return [c for c in named if c in on_scale or (c in like and _same_words(table, verdict, c))]


def _name_words(column: str) -> list[str]:
    return [w for w in re.split(r"[\W_\d]+", column.casefold()) if w]


def _on_the_scale(verdicts: pd.Series, labels: pd.Series) -> bool:
    """Whether labels are numbers such as means, within the verdicts' range of several points."""
    if not (pd.api.types.is_float_dtype(labels) and pd.api.types.is_numeric_dtype(verdicts)):
        return False
    low, high = verdicts.min(), verdicts.max()
    inside = labels.dropna().between(low, high)
    return bool(verdicts.nunique() > 2 and len(inside) and inside.mean() > 0.9)


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


_OF_ANSWERS = re.compile(r"(?:^|[\W_])(?:answer|response|output|sys(?:tem)?|model|candidate)", re.I)
_OF_REPLIES = re.compile(r"(?:reply|response|output|completion|answer|content)s?$")
_MARK = r"\A\[(PASS|FAIL|ERROR)\]"
"""How outputs begin in a table of promptfoo without a column of statuses."""
_POINTS = r"\A\s*(\d{1,3}(?:\.\d+)?)(?=\s*(?:[-:(]|$))"
"""How replies begin whose first word is a number of points."""
_MOST = 20


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
        yield {"parse": protocol_of(table[raw])}
    label = names.get("label", "")
    rest = [str(c) for c in table.columns if c not in names.values()]
    yield from ({"mapping": {"verdict": c, "label": p}} for c, p in _human_pairs(table, rest))
    cells = {c: [str(v) for v in table[c].dropna().head(_MOST)] for c in rest}
    marked = [c for c, seen in cells.items() if seen and all(re.match(_MARK, v) for v in seen)]
    if len(marked) == 1:
        yield {"mapping": {"raw_text": marked[0]}, "parse": _MARK}
    elif marked and not any(set(c) & set(",*=") for c in marked):
        yield {"wide": (f"system={','.join(marked)}",), "parse": _MARK}
    for column, seen in cells.items():
        listed = seen and all(v[:1] == "[" and v[1:].lstrip()[:1] != "{" for v in seen)
        if listed and _are_rankings(table[column].dropna().head(_MOST)):
            continue
        if listed or letters_in(table[column].head(1_000)):
            yield {"explode": (column,)}
    if orders := order_columns(rest):
        yield {"wide": (f"order={','.join(orders)}",)}
    rest = [c for c in rest if not (NO_VERDICT.search(folded(c)) or names_id(c))]
    like = [c for c in rest if _like_verdicts(table[c]) or _is_share(c, table[c])]
    people = [c for c in like if of_people(c)]
    judges = _one_vocabulary(table, [c for c in like if c not in people])
    machines = [c for c in judges if of_judges(c.rpartition(".")[2])]
    if len(machines) == 1 < len(judges) and not people:  # among people by their names
        others = [c for c in judges if c not in machines]
        one = {"verdict": machines[0]}
        yield {"mapping": one, "wide": (f"person={','.join(others)}",)}
    labels = (f"person={','.join(people)}",) if people and not label else ()
    if crossed := systems_by_criterion(judges):
        yield from ({"wide": (f"{role}={','.join(crossed)}", *labels)} for role in CROSSED)
    if len(judges) > 1 and not orders:
        of_systems = all(_OF_ANSWERS.search(c) for c in judges)
        roles: tuple[str, ...] = ("system", "judge") if of_systems else ("judge", "criterion")
        roles = ("criterion", "judge") if criteria_names(judges) else roles
        runs = are_numbered(judges) or all(map(_OF_RUNS.search, judges))
        roles = ("repeat", *roles) if runs else roles
        for role in roles:
            yield {"wide": (f"{role}={','.join(judges)}", *labels)}
    if len(judges) == 1 and labels:
        whose = {"label": people[0]} if len(people) == 1 else {}
        yield {"mapping": {"verdict": judges[0], **whose}, "wide": () if whose else labels}
    if label and not judges:
        yield {"mapping": {"verdict": label}}
    texts = [c for c, seen in cells.items() if seen and sum(map(len, seen)) > 30 * len(seen)]
    replies = [c for c in rest if _OF_REPLIES.search(last_word(c))]
    replied = [c for c in replies if not all(v.strip().isdecimal() for v in cells[c])]
    for text in (c for c in replied if all(re.match(_POINTS, v) for v in cells[c])):
        yield {"mapping": {"raw_text": text}, "parse": _POINTS}
    for text in texts if len(texts) == 1 else replies[:1]:
        yield {"mapping": {"raw_text": text}, "parse": protocol_of(table[text])}


def _human_pairs(table: pd.DataFrame, columns: Sequence[str]) -> Iterator[tuple[str, str]]:
    """A column and that of humans by its name, such as ``severity`` and ``human_severity``."""
    for people in (c for c in columns if of_people(c)):
        words = _name_words(people)
        own = {tuple(w for k, w in enumerate(words) if k != at) for at in (0, len(words) - 1)}
        for column in columns:
            if tuple(_name_words(column)) not in own or of_people(column):
                continue
            if _same_words(table, column, people):
                yield column, people


def _are_rankings(column: pd.Series) -> bool:
    """Whether all lists hold the same words in several orders: no verdicts, but rankings."""
    lists = [
        tuple(map(str, entries)) for v in column if (entries := json_paths.json_list(v)) is not None
    ]
    words = {tuple(sorted(entries)) for entries in lists}
    return len(words) == 1 < len(set(lists)) and len(set(lists[0])) == len(lists[0]) > 1


def protocol_of(replies: pd.Series) -> str:
    """Which protocol's replies these seem to be."""
    pairs = replies.dropna().astype(str).head(50).str.contains(r"\[\[[ABC]\]\]|\[\[[AB][<>=]")
    return "pairwise" if len(pairs) and pairs.mean() > 0.5 else "pointwise"


def _like_verdicts(column: pd.Series) -> bool:
    """Few different short values."""
    distinct = pd.unique(pd.Series(pd.unique(hashable(column).dropna())).astype(str))
    most = min(_MOST, max(4, len(column) // 2))
    return 1 < len(distinct) <= most and max(map(len, distinct)) <= _MOST


def _is_share(name: str, column: pd.Series) -> bool:
    """Whether a column holds fractions from 0 to 1, other than a measure such as a confidence."""
    numbers = pd.api.types.is_float_dtype(column) and not counts_or_measures(name)
    return bool(numbers and column.dropna().between(0, 1).all() and (column % 1 > 0).any())


def _one_vocabulary(table: pd.DataFrame, columns: Sequence[str]) -> list[str]:
    """Those that say what another one says too; all where no two do and there is only one."""
    words = {c: _words_of(c, table[c]) for c in columns}
    kept = [c for c in columns if any(_alike(words[c], words[d]) for d in columns if d != c)]
    return kept or list(columns)[:1]


def _words_of(name: str, column: pd.Series) -> set[str]:
    """What a column says, without case; one word for all shares."""
    if _is_share(name, column):
        return {"share"}
    words = pd.unique(hashable(column).dropna())
    return {re.sub(r"\.0$", "", str(v).lower()) for v in words}


def _same_words(table: pd.DataFrame, verdicts: str, labels: str) -> bool:
    """Whether labels say what verdicts say, if in other words, some of which are not understood."""
    if says_pass_or_fail(table[verdicts]) and says_pass_or_fail(table[labels], wholly=False):
        return True
    return _alike(_words_of(verdicts, table[verdicts]), _words_of(labels, table[labels]))


def _alike(one: set[str], other: set[str]) -> bool:
    return 2 * len(one & other) >= min(len(one), len(other))
