"""Columns that may hold verdicts."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

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
_ASKED = frozenset({"prompt", "question", "input", "instruction", "query"})
_GIVEN = frozenset({"response", "answer", "output", "completion", "candidate"})
_MOST = 20
_SHOWN = 8


def item_hint(table: pd.DataFrame) -> str:
    """Which column may name items: by its name, else the one of short words that repeats least."""
    asked, given = (
        next((str(c) for c in table.columns if str(c).casefold() in words), "")
        for words in (_ASKED, _GIVEN)
    )
    if asked and given:
        return f" If {asked!r} and {given!r} tell what was judged: --item {asked},{given}."
    named = [str(c) for c in table.columns if re.search(r"(id|idx|index|key|nr|no)$", str(c), re.I)]
    if not named and len(table):
        distinct = {
            str(c): table[c].astype(str).nunique()
            for c in table.columns
            if not pd.api.types.is_float_dtype(table[c])
            and table[c].astype(str).str.len().max() <= 2 * _MOST
        }
        best = max(distinct, key=lambda c: distinct[c], default="")
        named = [best] if best and distinct[best] > max(_MOST, len(table) // 10) else []
    return f" Is it {named[0]!r}?" if named else ""


def verdicts_hint(table: pd.DataFrame, names: Mapping[str, str]) -> str:
    """What the user may have meant to be the verdicts, as a sentence with its option.

    Parameters
    ----------
    table : DataFrame
    names : mapping of our column to theirs
        What was recognised.

    Returns
    -------
    str
        Empty where nothing looks like verdicts; else it begins with a space.

    Examples
    --------
    >>> t = pd.DataFrame({"id": [1, 2], "winner_orig": ["a", "b"], "winner_swap": ["a", "a"]})
    >>> verdicts_hint(t, {"item_id": "id"})
    " Does each of winner_orig and winner_swap hold one order's (--wide 'order=winner_orig,winner_swap')?"
    """  # noqa: E501
    if raw := names.get("raw_text"):
        return f" If {raw!r} holds the replies: --parse {_protocol(table[raw])}."
    label = names.get("label", "")
    used = set(names.values()) - {label}
    rest = [str(c) for c in table.columns if c not in used and c != label]
    examples = {c: [str(v) for v in table[c].dropna().head(_MOST)] for c in rest}
    lists = [
        c for c, cells in examples.items()
        if cells and all(v[:1] == "[" and v[1:].lstrip()[:1] != "{" for v in cells)
    ]  # fmt: skip
    if len(lists) != 1:
        lists = [c for c in rest if letters_in(table[c].head(1_000))]
    if len(lists) == 1:
        return f" If {lists[0]!r} lists the verdicts: --explode {lists[0]}."
    if orders := order_columns(rest):
        return f" Does each of {' and '.join(orders)} hold one order's ({_wide('order', orders)})?"
    if len(runs := run_columns(table, rest)) > 1:
        return f" Does each of {_few(runs)} hold one run's ({_wide('run', runs)})?"
    if label and str(names.get("judge", "")).casefold().startswith(("annotator", "rater")):
        return (
            f" {label!r} by {names['judge']!r} seems to hold people's labels: give this file as "
            "--labels of the judge's file."
        )
    like = [c for c in rest if _like_verdicts(table[c])]
    judges = [c for c in like if not _PEOPLE.match(c)]
    people = [c for c in like if c not in judges]
    if label and _PEOPLE.match(label):
        people = [label, *people] if people else []
    judges = _one_vocabulary(table, judges)
    if len(judges) > 1 or len(people) > 1:
        role = "criterion" if criteria_names(judges) else ""
        ways = [_wide(role, judges)] if judges else []
        ways += [_wide("person", people)] if people else []
        named = ", ".join(judges or people)
        return f" Is it one of {named}, or does each hold one's verdicts ({' '.join(ways)})?"
    if label and not judges:
        return f" If {label!r} is the judge's own verdict: --map verdict={label}."
    if any(v[:2] in {"[{", '{"'} or v[:1] == "[" for cells in examples.values() for v in cells):
        return f" Is it {judges[0]!r}?" if judges else ""  # the verdicts stand inside
    texts = [c for c, cells in examples.items() if cells and sum(map(len, cells)) > 30 * len(cells)]
    replies = [c for c in rest if re.search(r"(reply|response|output|completion|answer)", c, re.I)]
    if not judges and len(texts or replies) == 1:
        [text] = texts or replies
        return (
            f" If {text!r} holds the judge's replies: --map raw_text={text} --parse "
            f"{_protocol(table[text])}."
        )
    return f" Is it {judges[0]!r}?" if judges else ""


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


def _wide(role: str, columns: Sequence[str]) -> str:
    listed = ",".join(columns)
    return f"--wide '{role}={listed}'" if role else f"--wide '{listed}'"


def _few(columns: Sequence[str]) -> str:
    return ", ".join(columns) if len(columns) <= 3 else f"{columns[0]} to {columns[-1]}"
