"""Columns of a table: names, texts, and cells."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from judgestats.data.codes import codes_of, n_levels, row_codes, texts_by_code
from judgestats.data.vocabulary import pass_fail_words
from judgestats.errors import InputError
from judgestats.files.guarded import NoTableError
from judgestats.files.text import clean_json
from judgestats.protocols.base import Status

ALIASES: Mapping[str, tuple[str, ...]] = {
    "item_id": ("item", "item_id", "question_id", "prompt_id", "example_id", "sample_id", "qid",
                "case_id", "task_id", "doc_id", "pair_id", "cmp_index", "pair", "id", "idx",
                "index", "instance_id", "input_id", "example", "instance", "sample", "text_id"),
    "judge": ("judge", "judge_model", "judge_name", "rater", "annotator", "evaluator", "llm",
              "grader", "model"),
    "score": ("score", "rating", "grade", "stars", "points"),
    "choice": ("choice", "winner", "preference", "preferred", "pick", "judge_pick", "chosen"),
    "verdict": ("verdict", "passed", "pass", "is_pass", "correct", "is_correct", "judgment",
                "judgement", "criteria_met", "outcome", "decision", "result", "results", "success",
                "ans", "value", "y_pred"),
    "replicate": ("replicate", "replication", "repetition", "repeat", "trial", "rep", "run",
                  "epoch", "attempt"),
    "cluster": ("cluster", "question", "group"),
    "temperature": ("temperature", "temp"),
    "order": ("order", "position", "swap", "swapped"),
    "category": ("category", "task", "subset"),
    "status": ("status",),
    "label": ("label", "human", "human_label", "gold", "gold_label", "human_winner", "human_score",
              "human_rating", "expert", "ground_truth", "reference_label", "y_true"),
    "explanation": ("explanation", "reasoning", "rationale"),
    "pass_probability": ("pass_probability", "p_pass", "prob_pass", "probability", "prob"),
    "confidence": ("confidence", "certainty"),
    "logprob": ("logprob", "verdict_logprob", "logprob_verdict", "log_probability"),
    "logprob_pass": ("logprob_pass", "pass_logprob"),
    "logprob_fail": ("logprob_fail", "fail_logprob"),
    "raw_text": ("raw_text", "raw", "completion", "reply"),
    "reason": ("reason",),
    "request_order": ("request_order",),
    "cost_usd": ("cost_usd", "cost"),
    "weight": ("weight",),
    "chance": ("chance",),
    "tokens_in": ("tokens_in", "prompt_tokens"),
    "tokens_out": ("tokens_out", "completion_tokens"),
    **dict.fromkeys(("criterion", "system", "run", "rater", "rater_kind", "latency_s"), ()),
}  # fmt: skip
"""Column names that are understood without a mapping, best first; none for some roles."""

SIDES = tuple(
    (name.format(first), name.format(second))
    for name in ("model{}", "{}model", "system{}", "{}system", "modelname{}", "assistant{}",
                 "{}assistant", "bot{}", "llm{}", "agent{}", "contestant{}", "player{}",
                 "response{}model", "answer{}model", "output{}model", "model{}name", "model{}id")
    for first, second in (("a", "b"), ("1", "2"), ("left", "right"), ("first", "second"))
)  # fmt: skip
"""Names (folded) of the two columns that name the models of a pair."""

PARTS = {
    *(side for pair in SIDES for side in pair), "model", "turn", "responseid", "answerid",
    "answermodel", "responsemodel", "generator", "candidate", "system", "modelid", "sysid",
    "systemid", "output", "author", "responseindex", "subset", "doc", "document",
}  # fmt: skip
"""Names (folded) of what is part of an item where it varies within what the id names."""

SYSTEMS = {
    "model", "answermodel", "responsemodel", "generator", "author", "candidate", "system",
    "modelid", "sysid", "systemid",
}  # fmt: skip
"""Those of them that say which system answered."""

TRIALS = frozenset({"trial", "attempt", "episode", "rollout"})
"""Names (folded) of what numbers an agent's trials of a task, which are items of one cluster."""

VERDICTS = ("score", "choice", "verdict")


def label_note(column: str) -> str:
    """Whose labels a column holds: nobody is named where the column names a key.

    Examples
    --------
    >>> label_note("human_label")
    'human labels = human_label'
    >>> label_note("gold")
    'labels = gold (whoever made them)'
    """
    if folded(column).startswith(("gold", "groundtruth", "reference")):
        return f"labels = {column} (whoever made them)"
    return f"human labels = {column}"


class Remark(str):
    """A sentence about what was read, with the code by which programs know it.

    Examples
    --------
    >>> remark = Remark("3 rows of other events left out.", "other_events", 3)
    >>> remark.code, remark.n
    ('other_events', 3)
    """

    def __new__(cls, text: str, code: str = "note", n: int = 1) -> Remark:  # noqa: D102
        one = super().__new__(cls, text)
        one.code, one.n = code, n
        return one

    code: str
    n: int


def folded(name: object) -> str:
    """A header without case, spaces, underscores, points, hyphens, and a remark in brackets.

    Examples
    --------
    >>> folded("Item ID"), folded("item_id"), folded("judge-Model"), folded("Score (1-5)")
    ('itemid', 'itemid', 'judgemodel', 'score')
    """
    plain = re.sub(r"\s+\([^()]*\)\s*$", "", str(name))
    return re.sub(r"[\s_.\-]+", "", plain).casefold()


def column_named(columns: Iterable[object], wanted: str) -> str:
    """The column of that name, or of that name but for case, spaces and underscores; else empty."""
    listed = [str(c) for c in columns]
    if wanted in listed:
        return wanted
    hits = [c for c in listed if folded(c) == folded(wanted)]
    return hits[0] if len(hits) == 1 else ""


def resolve_columns(
    path: Path | str,
    table: pd.DataFrame,
    mapping: Mapping[str, str],
    *,
    taken: Iterable[str] = (),
    needs_item: bool = True,
    needs_verdict: bool = True,
    reasons: dict[str, str] | None = None,
) -> dict[str, str]:
    """Which column of the file stands for which of ours.

    Parameters
    ----------
    path : Path or str
        For messages.
    table : DataFrame
    mapping : mapping of ours to theirs
    taken : iterable of str
        Columns that the caller has another use for.
    needs_item, needs_verdict : bool
        Whether the absence of these is an error.
    reasons : dict, optional
        Takes why each column of theirs serves.

    Returns
    -------
    dict

    Raises
    ------
    InputError
        A mapped column is missing, one column is mapped twice, or nothing names items or verdicts.
    """
    unknown = sorted(set(mapping) - set(ALIASES))
    if unknown:
        near = difflib.get_close_matches(unknown[0], ALIASES, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise InputError(
            f"mapping: {', '.join(unknown)} is not a role.{hint} Map one of: item, condition, "
            f"repeat, {', '.join(ALIASES)} (e.g. score=my_column)."
        )
    names: dict[str, str] = {}
    why: dict[str, str] = {} if reasons is None else reasons
    for ours, theirs in mapping.items():
        column = known_column(path, table, theirs, ours)
        before = next((o for o, c in names.items() if c == column), "")
        if before:
            raise InputError(
                f"{path}: the column {column!r} is mapped as {before} and as {ours}. Map another "
                f"column as {ours}, or leave it out."
            )
        names[ours], why[column] = column, "stated"
    used = {*names.values(), *taken}
    by_name = {folded(c): str(c) for c in reversed(list(table.columns))}
    has_verdict = any(v in names for v in VERDICTS)
    verdict_named = has_verdict or any(folded(c) in by_name for v in VERDICTS for c in ALIASES[v])
    for ours, candidates in ALIASES.items():
        if ours in names or (ours in VERDICTS and has_verdict):
            continue
        others = [v for v in ("score", "choice") if ours == "verdict" and v in names]
        if any(_holds(table, names[v]) for v in others):
            continue
        hits = [by_name.get(folded(c), "") for c in candidates]
        hits = [h for h in hits if h and h not in used]
        if ours not in {"raw_text", "explanation", "reason"}:
            hits = [h for h in hits if not _objects(table[h])]
        if ours == "score" and "criteriamet" in by_name:  # points of a rubric are its weights
            hits = [h for h in hits if folded(h) != "points"]
        if ours == "label" and not verdict_named:
            hits = [h for h in hits if not _is_constant(table[h])]
        if ours == "judge" and not verdict_named:
            hits = [h for h in hits if not says_pass_or_fail(table[h], wholly=False)]
            hits = [h for h in hits if not _holds_its_scores(table, h)]
        hit = next((h for h in hits if _holds(table, h)), hits[0] if hits else "")
        if hit and not (others and not _holds(table, hit)):
            names = {k: v for k, v in names.items() if k not in others} | {ours: hit}
            used.add(hit)
            why[hit] = "by name"
    if "status" not in mapping and _is_verdict(table, names.get("status", "")):
        own = names.pop("status")
        if not any(v in names for v in VERDICTS):
            names["verdict"], why[own] = own, "says pass and fail"
    asked = "cluster" in names
    known = "item_id" in names or (needs_item and not len(table))
    if not known and (own := _lone_id(table, used, asked=asked)):
        names["item_id"], why[own] = own, "the only id"
        used.add(own)
    by_question = folded(names.get("cluster", "")) == "question" and "cluster" not in mapping
    if by_question and "item_id" not in names:
        # Without an id the question names the item, with the system that answered where one did.
        names["item_id"] = names.pop("cluster")
    coded = "choice" in names and pd.api.types.is_numeric_dtype(table[names["choice"]])
    if needs_item and "item_id" not in names and verdict_named and not coded:
        texts = [c for c in map(str, table) if c not in used and names_question(c)]
        if texts and table[texts[0]].is_unique and table[texts[0]].notna().all():
            names["item_id"], why[texts[0]] = texts[0], "unique question"
    if needs_item and "item_id" not in names:
        raise MissingRoleError(path, "items", table)
    if "cluster" not in names and "item_id" in names and (own := _question(table, names, used)):
        names["cluster"], why[own] = own, "shared by several items"
    if not any(v in names for v in VERDICTS) and (own := _lone_verdict(table, names, used)):
        names["verdict"], why[own] = own, "named after a judge"
        used.add(own)
    if needs_verdict and not any(v in names for v in VERDICTS):
        said = {"label": names.get("label", ""), "by": names.get("judge", "")}
        raise MissingRoleError(path, "the verdicts", table, **said)
    return names


_OF_PEOPLE = re.compile(
    r"(?:^|[\W_])(annotators?|humans?|raters?|experts?|persons?|people|labels?|crowd|users?|gold"
    r"|reviewers?|manual|workers?|labell?ers?|coders?|physicians?|clinicians?|doctors?|teachers?"
    r"|instructors?|moderators?|your|mensch|lehrer|gutachter|humano|humaine?|experto)"
    r"(?:$|[\W_\d])",
    re.IGNORECASE,
)
RATERS = re.compile(r"annotator|rater|user|reviewer|person", re.IGNORECASE)
"""Names of columns that name raters, unless they hold verdicts."""
_OF_JUDGES = re.compile(
    r"(?:(?:judge|llm|ai|ki|ia|auto|grader|evaluator|model|prediction|predicted|pred)[\s_.\-]"
    r"|(?:.*[\s_.\-])?(?:prediction|predicted|pred|judge|llm|ai|ki|ia|autorater)$"
    r"|(?:gpt|claude|gemini|llama|mistral|qwen|deepseek)[\w.\-]*$)",
    re.IGNORECASE,
)
_IDS = re.compile(
    r"(?:.*[\W_])?(\w+?)(?:[\W_]+(?:id|ID|Id|[Nn]o\.|[Nn]r\.?|[Nn]umber)|\s*#|(?<=[a-z])I[dD]|(?<=[A-Z])Id)"
)
_OF_NO_ITEMS = re.compile(
    r"(?:judge|model|llm|rater|annotat\w+|user|worker|person|reviewer|evaluator|grader"
    r"|customer|author|labell?er|session|conversation|thread|chat|turn|run|trace|span|parent"
    r"|request|row|line|batch|job|project|data ?set|org|tenant|system|criterion|metric|feedback"
    r"|rating|judge?ment|evaluation|eval|score|result|label|verdict|experiment|group|cluster|topic"
    r"|response|answer|assignment|call|event|log|file|version|config|seed)$",
    re.IGNORECASE,
)
"""What an id may number without naming an item."""
_TEXT_NOUNS = {
    "doc", "document", "passage", "record", "case", "essay", "ticket", "claim", "article", "email",
    "utterance", "snippet",
}  # fmt: skip
REPEATED, _FEW_EACH = 1.2, 10
"""Rows per level of words that may name items which an id of rows does not."""
DONE = ("success", "succeeded", "completed", "done")
"""Words of other tools for a reply that came."""
_OF_REPLIES = {s.value for s in Status} | {*DONE, "error", "timeout"}
"""Words of the status of a reply."""
_FEWEST_ALIKE = 10
"""Rows from which a label that always equals the verdict is not a human label."""
_OF_ANSWERS, _TOP = {"groundtruth", "gold", "goldlabel", "label", "ytrue", "expert"}, 100
"""Names of labels that are also those of reference answers, and the highest score of a scale."""
_MANY = 0.1
"""Share of labels above that score from which labels are answers; fewer are absurd labels."""
_MOST_LEVELS = 101
_MOST_WORDS = 12


def of_people(name: str) -> bool:
    """Whether a column's name says that it may hold human labels.

    Examples
    --------
    >>> of_people("expert_1"), of_people("gold label"), of_people("llm_label")
    (True, True, False)
    >>> of_people("rater"), of_people("rater_model")
    (True, False)
    """
    words = [word.casefold() for word in _OF_PEOPLE.findall(name)]
    if not words:
        return False
    distilled = words[0] in {"teacher", "rater"} and "model" in name.casefold()
    return not distilled and not (of_judges(name) and words[0].startswith("label"))


def of_judges(name: str) -> bool:
    """Whether a column's name says that a judge gave what it holds.

    Examples
    --------
    >>> of_judges("llm_score"), of_judges("gpt-4o"), of_judges("score")
    (True, True, False)
    """
    return _OF_JUDGES.match(name) is not None


def names_id(name: str) -> bool:
    """Whether a column holds ids, by its name.

    Examples
    --------
    >>> names_id("trace_id"), names_id("traceId"), names_id("id"), names_id("is_valid")
    (True, True, True, False)
    """
    return name.casefold() in {"id", "uid"} or _IDS.fullmatch(name) is not None


def _lone_id(table: pd.DataFrame, used: Collection[str], *, asked: bool) -> str:
    """The only column that names what is judged: an id, or the noun for a text without questions.

    None where the id may number rows: it differs in every row, and another text repeats. Next to a
    question it has to go with an answer that differs in every row.
    """
    free = [str(c) for c in table.columns if c not in used and not _is_constant(table[c])]
    ids = [m for c in free if (m := _IDS.fullmatch(c))]
    named = [m[0] for m in ids if not _OF_NO_ITEMS.search(m[1])]
    named = named or [c for c in free if folded(c) in _TEXT_NOUNS and not asked]
    judged = [m[0] for m in ids if folded(m[1]) in _TEXT_NOUNS]
    named = judged if len(named) > 1 and len(judged) == 1 else named
    if len(named) != 1 or nested(table[named[0]]) or table[named[0]].isna().any():
        return ""
    if not len(table) or not table[named[0]].is_unique:
        return named[0]
    texts = [c for c in free if folded(c) in _TEXT_NOUNS or _is_text(table[c])]
    if asked:
        numbers_rows = not any("answer" in folded(c) and table[c].is_unique for c in texts)
    else:
        levels = [table[c].nunique() for c in texts if not nested(table[c])]
        numbers_rows = any(n * REPEATED <= len(table) <= n * _FEW_EACH for n in levels)
    return "" if numbers_rows else named[0]


def _is_constant(column: pd.Series) -> bool:
    """Whether several rows all hold the same."""
    return len(column) > 1 and not nested(column) and len(pd.unique(column)) == 1


def _lone_verdict(table: pd.DataFrame, names: Mapping[str, str], used: Collection[str]) -> str:
    """The column named after a judge's verdict (``llm_score``), if no other may hold one."""
    free = [c for c in map(str, table.columns) if c not in used]
    people = [c for c in free if of_people(c)] + [names[n] for n in ("label",) if n in names]
    rest = [c for c in free if c not in people]
    words = [_few_words(table[c]) for c in people]
    like = [
        c for c in rest
        if may_hold_verdicts(table[c]) or any(len(_few_words(table[c]) & w) > 1 for w in words)
    ]  # fmt: skip
    judged = [c for c in rest if of_judges(c)]
    paired = [c for c in judged if any(_noun(c) == _noun(p) for p in people if _noun(c))]
    named = [c for c in like if c in judged and _noun(c) not in ALIASES["confidence"]]
    if len(paired) == 1 and set(named) <= set(paired):
        return paired[0]
    return named[0] if len(named) == 1 == len(like) else ""


def _noun(name: str) -> str:
    """What is after the first word of a name: the noun of ``llm_score`` and ``human_score``."""
    return folded("_".join(re.split(r"[\W_]+", name)[1:]))


def repeats_verdict(table: pd.DataFrame, names: Mapping[str, str]) -> bool:
    """Whether the column ``label`` words the judge's own 0 or 1: it says the same in every row.

    Examples
    --------
    >>> rows = pd.DataFrame({"score": [0, 1] * 6, "label": ["wrong", "correct"] * 6})
    >>> names = {"score": "score", "label": "label"}
    >>> repeats_verdict(rows, names), repeats_verdict(rows.assign(label=["wrong"] * 12), names)
    (True, False)
    """
    label, verdict = names.get("label", ""), next((names[v] for v in VERDICTS if v in names), "")
    if folded(label) != "label" or verdict not in table or len(table) < _FEWEST_ALIKE:
        return False
    own, said = table[verdict].dropna(), table[label]
    if nested(said) or set(pd.unique(own)) != {0, 1} or not says_pass_or_fail(said):
        return False
    pairs = pd.DataFrame({"own": own, "said": said.loc[own.index]})
    return len(pairs.dropna()) == len(own) and len(pairs.drop_duplicates()) == 2


def holds_answers(table: pd.DataFrame, names: Mapping[str, str]) -> bool:
    """Whether a column such as ``ground_truth`` holds reference answers rather than verdicts.

    Texts are answers, and so are numbers of which a tenth exceed every scale of the verdicts.

    Examples
    --------
    >>> rows = pd.DataFrame({"score": [1, 5, 3], "gold": [12, 1771, 4]})
    >>> names = {"score": "score", "label": "gold"}
    >>> holds_answers(rows, names), holds_answers(rows.assign(gold=[2, 5, 4]), names)
    (True, False)
    """
    label, verdict = names.get("label", ""), next((names[v] for v in VERDICTS if v in names), "")
    if folded(label) not in _OF_ANSWERS or not len(table) or nested(table[label]):
        return False
    if _is_text(table[label]) and table[label].nunique() > _MOST_WORDS:
        return True
    said = pd.to_numeric(table[label], errors="coerce")
    own = pd.to_numeric(table[verdict], errors="coerce") if verdict in table else said
    return bool((said.abs() > _TOP).mean() > _MANY and not own.abs().max() > _TOP)


def _few_words(column: pd.Series) -> set[str]:
    """The words of a column of three categories or more; none of any other."""
    if pd.api.types.is_numeric_dtype(column) or nested(column):
        return set()
    words = {str(v).casefold() for v in pd.unique(column.dropna())}
    return words if 2 < len(words) <= _MOST_WORDS else set()


def may_hold_verdicts(column: pd.Series) -> bool:
    """Whether a column may hold verdicts: few numbers, fractions, or words for pass and fail."""
    if nested(column):
        return False
    levels = pd.unique(column.dropna())
    if not 1 < len(levels) <= _MOST_LEVELS or len(levels) == len(column):
        return bool(pd.api.types.is_float_dtype(column) and (column.dropna() % 1 > 0).any())
    return bool(pd.api.types.is_numeric_dtype(column)) or says_pass_or_fail(column)


def _is_verdict(table: pd.DataFrame, column: str) -> bool:
    """Whether a column named status says pass and fail, other than as the status of a reply."""
    if column not in table or not says_pass_or_fail(table[column]):
        return False
    words = {str(v).strip().casefold() for v in pd.unique(table[column].dropna())}
    return not words <= _OF_REPLIES


def says_pass_or_fail(column: pd.Series, *, wholly: bool = True) -> bool:
    """Whether a column holds words for pass and fail; not `wholly`: one of them among others.

    Examples
    --------
    >>> says_pass_or_fail(pd.Series(["ok", "bad"])), says_pass_or_fail(pd.Series(["ann", "bob"]))
    (True, False)
    """
    if pd.api.types.is_numeric_dtype(column) or nested(column):
        return bool(pd.api.types.is_bool_dtype(column))
    levels = pd.unique(column.dropna())
    words = {str(w): 1 for w in levels} if len(levels) <= _MOST_WORDS else {}
    found = pass_fail_words(words)
    meanings = {*found.verdicts.values()}
    return (meanings == {"pass", "fail"} and not found.unknown) if wholly else bool(meanings)


def _holds_its_scores(table: pd.DataFrame, column: str) -> bool:
    """Whether a column named after a judge holds its scores: people give the same numbers."""
    if not _are_numbers(table[column]):
        return False
    own = {*pd.to_numeric(table[column])}
    people = [c for c in map(str, table) if c != column and of_people(c)]
    others = [{*pd.to_numeric(table[c])} for c in people if _are_numbers(table[c])]
    shared = any(len(o) > 2 and 2 * len(own & o) >= min(len(own), len(o)) for o in others)
    return folded(column) == "llm" or (len(own) > 2 and shared)


def _are_numbers(column: pd.Series) -> bool:
    return len(column) > 0 and bool(pd.to_numeric(column, errors="coerce").notna().all())


def nested(column: pd.Series) -> bool:
    """Whether lists or objects are in a column's cells."""
    return bool(_types(column) & {list, dict, np.ndarray})


def _types(column: pd.Series) -> set[type]:
    """The types of a column's cells; none where all are numbers, or text."""
    if not pd.api.types.is_object_dtype(column) or pd.api.types.infer_dtype(column) == "string":
        return set()
    return set(map(type, column))


def _question(table: pd.DataFrame, names: Mapping[str, str], used: Collection[str]) -> str:
    """The column of ids of questions that several items share, next to items' own ids.

    One that varies within an item is part of what is judged, or a prompt of the judge: none here.
    """
    columns = question_columns(table.columns, used)
    for column in columns:
        item, shared = (table[c].astype(str) for c in (names["item_id"], column))
        n_items, whole = n_levels(item), row_codes([item, shared], len(table))
        if int(whole.max(initial=-1)) + 1 == n_items and are_shared(
            column, len(codes_of(shared)[1]), n_items
        ):
            return column
    return ""


def question_columns(columns: Iterable[object], used: Collection[str]) -> list[str]:
    """The unused columns that may name what several items share, by their names."""
    return [c for c in map(str, columns) if _QUESTIONS.fullmatch(c) and c not in used]


def are_shared(column: str, levels: int, n_items: int) -> bool:
    """Whether a column's levels are few enough for several items to share each.

    Examples
    --------
    >>> are_shared("query_id", 8, 40), are_shared("topic", 4, 40)
    (True, False)
    """
    if folded(column) in _IDS_OF_QUESTIONS:
        return levels < n_items
    return _FEWEST <= levels <= n_items / _PER_CLUSTER


_QUESTIONS = re.compile(
    r"(?:q|query|question|prompt|topic|document|conversation|session|user|example"
    r"|dialogue|thread)(?:[\s_.\-]*(?:id|idx|uid|key))?",
    re.IGNORECASE,
)
"""Names of what several items share, that are the clusters where items have their own ids."""
_IDS_OF_QUESTIONS = frozenset({"questionid", "qid"})
_FEWEST, _PER_CLUSTER = 5, 1.5
"""Levels, and items per level, from which a column of another name is a cluster."""

_OPTIONS = ("factor", "ignore")
"""Roles of columns that have their own option instead of ``--map``."""


def _holds(table: pd.DataFrame, column: str) -> bool:
    """Whether a column found by its name holds anything (an empty one serves for nothing)."""
    return not len(table) or bool(table[column].notna().any())


def _objects(column: pd.Series) -> bool:
    """Whether all filled cells hold objects (``{"rating": 3}``) or lists of them: no verdicts."""
    cells = column.dropna().head(50)
    return bool(len(cells)) and all(
        isinstance(v, Mapping) or (isinstance(v, str) and v.lstrip()[:2] in {'{"', "{'", "[{"})
        for v in cells
    )


class MissingRoleError(NoTableError):
    """No column is known to name items or hold the verdicts; `answered` if it says why."""

    def __init__(
        self, path: Path | str, role: str, table: pd.DataFrame, *, label: str = "", by: str = ""
    ) -> None:
        hint = ""
        numbers = (re.fullmatch(r"-?\d+([.,]\d+)?", str(c).strip()) for c in table.columns)
        if len(table) and any(numbers):
            hint = " Is its first row data? Then put a row with the columns' names above it."
        elif label and folded(by).startswith(("annotator", "rater")):
            hint = (
                f" {label!r} by {by!r} seems to hold human labels: give this file as --labels "
                "of the judge's file."
            )
        self.answered = bool(hint)
        does = "names items" if role == "items" else "holds the verdicts"
        super().__init__(f"{path}: no column {does}. The file has: {_listed(table)}.{hint}")


def known_column(path: Path | str, table: pd.DataFrame, wanted: str, ours: str) -> str:
    """The column that a role names, as the table spells it.

    Raises
    ------
    InputError
        There is none.
    """
    column = column_named(table.columns, wanted)
    if not column:
        raise no_column(path, wanted, ours, table)
    return column


def no_column(path: Path | str, wanted: str, ours: str, table: pd.DataFrame) -> NoTableError:
    """The error for a column that is not there: what there is, and how to name it."""
    key = ours.split(" ", 1)[0]
    near = difflib.get_close_matches(wanted, [str(c) for c in table.columns], n=1)
    hint = f" Did you mean {near[0]!r}?" if near and near[0] != wanted else ""
    way = f"--{key}" if key in _OPTIONS else f"--map {key}="
    return NoTableError(
        f"{path}: there is no column {wanted!r} to serve as {ours} ({way}). The file has: "
        f"{_listed(table)}.{hint}"
    )


def _listed(table: pd.DataFrame) -> str:
    return ", ".join(str(c)[:40] for c in list(table.columns)[:30])


TEXTS = ("question_text", "answer_text")
"""Columns of the frame that hold them; ``answer_length`` is a number of characters."""

_ASKED = ("question", "prompt", "input", "instruction", "query", "userinput", "request", "problem")
_ANSWERS = ("answer", "response", "output", "modeloutput", "modelanswer", "modelresponse",
            "actualoutput", "answertext", "responsetext", "generation", "text")  # fmt: skip
_JUDGED = re.compile(
    rf"[ab12]?(?:{'|'.join((*_ASKED, *_ANSWERS))}|context|document|passage|conversation|transcript)"
    r"(?:text)?[ab12]?"
)
"""Names (folded) of the texts of an item, also of both sides of a pair."""
_LENGTHS = ("length", "answerlength", "responselength", "outputlength", "nchars", "nwords",
            "ntokens", "chars", "words")  # fmt: skip
_WORDS = 3
_SEEN = 200


def text_columns(table: pd.DataFrame, used: Collection[str]) -> list[str]:
    """The columns whose names say that they hold what is judged.

    Examples
    --------
    >>> text_columns(pd.DataFrame(columns=["id", "Question", "response_a", "reason"]), {"id"})
    ['Question', 'response_a']
    """
    return [c for c in map(str, table) if c not in used and _JUDGED.fullmatch(folded(c))]


def item_texts(table: pd.DataFrame, verdicts: Collection[str]) -> dict[str, pd.Series]:
    """The columns of a table that hold what was judged, by our names.

    Parameters
    ----------
    table : DataFrame
    verdicts : collection of str
        Columns that hold verdicts, labels or the judge's own words.

    Returns
    -------
    dict of str to Series
        ``question_text`` and ``answer_text`` where a column of such a name holds texts rather than
        names; ``answer_length`` where a column of numbers says how long the answer is.

    Examples
    --------
    >>> rows = pd.DataFrame({"id": [1], "Response": ["It is blue, I think."], "score": [7]})
    >>> list(item_texts(rows, {"score"}))
    ['answer_text']
    """
    own = {folded(c): str(c) for c in reversed(list(table.columns)) if c not in verdicts}
    out: dict[str, pd.Series] = {}
    for ours, names in zip(TEXTS, (_ASKED, _ANSWERS), strict=True):
        column = next((own[n] for n in names if n in own and _is_text(table[own[n]])), "")
        if column:
            out[ours] = table[column].fillna("").astype(str)
    length = next((own[n] for n in _LENGTHS if n in own and _is_number(table[own[n]])), "")
    if length:
        out["answer_length"] = table[length].astype(float)
    return out


def answers_differ(table: pd.DataFrame, names: Mapping[str, str]) -> bool | None:
    """Whether ``model`` wrote the judged answers: each model has one of its own for an item.

    Parameters
    ----------
    table : DataFrame
    names : mapping of our column to theirs
        With ``judge`` and ``item_id``.

    Returns
    -------
    bool or None
        False where the models of an item have the same answer; None where the table does not say.

    Examples
    --------
    >>> texts = ["It is so.", "No, it is not."]
    >>> rows = pd.DataFrame({"id": [1, 1], "model": ["x", "y"], "answer": texts})
    >>> answers_differ(rows, {"item_id": "id", "judge": "model"})
    True
    """
    model, item = names.get("judge", ""), names.get("item_id", "")
    answer = next((str(c) for c in table if folded(str(c)) in _ANSWERS), "")
    if folded(model) != "model" or not (item and answer) or item in {answer, model}:
        return None
    if not _is_text(table[answer]) or table.groupby(item)[model].nunique().max() < 2:
        return None
    if table.groupby(item)[answer].nunique().max() < 2:
        return False
    # A `response` or an `output` may be what a judge replied.
    known = "answer" in folded(answer)
    return True if known and table.groupby([item, model])[answer].nunique().max() < 2 else None


def names_question(column: str) -> bool:
    """Whether a column holds questions, by its name.

    Examples
    --------
    >>> names_question("Query"), names_question("answer")
    (True, False)
    """
    return folded(column) in _ASKED


def names_text(column: str) -> bool:
    """Whether a column holds questions or answers, by its name.

    Examples
    --------
    >>> names_text("Question"), names_text("question_id")
    (True, False)
    """
    return folded(column) in {*_ASKED, *_ANSWERS}


def _is_number(column: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)


def _is_text(column: pd.Series) -> bool:
    """Whether cells are mostly of several words: an id or a letter is not text."""
    if _is_number(column):
        return False
    seen = column.dropna().head(_SEEN)
    texts = [v for v in seen if isinstance(v, str)]
    return 2 * sum(len(v.split()) >= _WORDS for v in texts) > len(seen)


_EXACT = 2**63
"""Whole numbers from here on have no place in 64 bits."""


def text_column(column: pd.Series) -> pd.Series:
    """A column as text; whole numbers without a point, missing ones empty.

    Examples
    --------
    >>> text_column(pd.Series([1.0, None])).tolist()
    ['1', '']
    >>> text_column(pd.Series([1.0, 1e300])).tolist()
    ['1', '1e+300']
    """
    if _mixed(column):
        return column.map(str).mask(column.isna(), "").astype("str")
    if column.dtype == "str":
        return column.fillna("")
    # Names repeat: each different value is written once.
    codes, distinct = codes_of(column)
    values = pd.Series(distinct)
    whole = pd.api.types.is_float_dtype(values) and (values.dropna() % 1 == 0).all()
    text = [
        "" if pd.isna(v) else str(int(v)) if whole and abs(v) < _EXACT else str(v) for v in values
    ]
    return texts_by_code(text, codes, column.index)


def clean_cells(table: pd.DataFrame) -> pd.DataFrame:
    """A table of Python objects with clean text in its cells and in the names of its columns.

    Examples
    --------
    >>> clean_cells(pd.DataFrame({"a": ["b" + chr(0xD83D)]}, dtype=object))["a"].tolist()[0][1:]
    '\ufffd'
    """
    out = table.rename(columns=clean_json)
    for place, dtype in enumerate(out.dtypes):
        if pd.api.types.is_object_dtype(dtype):  # other columns hold no lone surrogate
            column = out.iloc[:, place]
            values = pd.Series(map(clean_json, column), index=column.index, dtype=object)
            out.isetitem(place, values.to_numpy())
    return out


def each_distinct(column: pd.Series, text: Callable[[Any], str]) -> pd.Series:
    """What a function says of each cell, called once for each different value.

    Examples
    --------
    >>> each_distinct(pd.Series(["a", "a", "b"]), str.upper).tolist()
    ['A', 'A', 'B']
    """
    if _mixed(column):
        return column.map(text).astype("str")
    codes, distinct = codes_of(column)
    return texts_by_code([*map(text, distinct)], codes, column.index)


def _mixed(column: pd.Series) -> bool:
    """Whether a column has values of several types, so that equal values may be written apart."""
    kinds = _types(column) - {type(None)}
    return len(kinds) > 1 or bool(kinds & {list, dict, np.ndarray, set})


def joined_ids(table: pd.DataFrame, columns: Sequence[str]) -> pd.Series:
    """The ids of items that several columns name together.

    Examples
    --------
    >>> joined_ids(pd.DataFrame({"q": [81], "turn": [1]}), ["q", "turn"]).tolist()
    ['81/turn 1']
    """
    texts = [text_column(table[c]) for c in columns]
    out = texts[0]
    for text, column in zip(texts[1:], columns[1:], strict=True):
        out = out + (f"/{column} " if folded(column) == "turn" else "/") + text
    return out
