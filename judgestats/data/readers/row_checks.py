"""Checks of single rows, and questions to the user."""

from __future__ import annotations

import re
import shlex
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from judgestats.data.codes import n_levels
from judgestats.data.readers import columns, roles
from judgestats.data.readers.json_paths import PLACE, ROW
from judgestats.data.readers.layout import stem_of_order, with_paths
from judgestats.data.readers.options import TableOptions, without_options
from judgestats.data.readers.verdicts import coded, kind_of_column
from judgestats.data.verdict_kinds import normalize_value
from judgestats.errors import InputError, printable
from judgestats.files.text import command_word
from judgestats.results.records import CRITERIA


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One way to read a file: what it means, its options, and what it reads.

    The last part of `preview` holds the first judgments, the others counts. `words` are those of
    the command where the options are not all of them.
    """

    meaning: str
    options: TableOptions
    preview: tuple[str, ...]
    words: tuple[str, ...] = ()

    def command_words(self) -> list[str]:
        """What is added to a command that reads the file this way."""
        return list(self.words) or self.options.words()


VERSION = 1
"""Of the reading in JSON."""
_WIDTH, _MOST_ANSWERS = 100, 3


class OpenQuestionError(InputError):
    """A file that can be read in several ways; each answer's options were tried on it."""

    def __init__(self, source: Path | str, question: str, answers: tuple[Answer, ...]) -> None:
        self.source, self.question, self.answers = source, question, answers
        super().__init__(self.question_text(f"judgestats analyze {command_word(source)}"))

    def for_command(self, words: Sequence[str]) -> str:
        """The question with each answer as the command that was typed, read that way."""
        if words[1:2] == ["compare"]:  # which takes no options on how a table is read
            return str(self)
        words = [word for word in words if word != "--"]  # options follow behind the file
        given = any(w.partition("=")[0] == "--labels" for w in words)
        asked = self.drop_options("labels") if given else self
        return asked.question_text(shlex.join(without_options(words)))

    def question_text(self, command: str) -> str:
        """The question with each answer as that command, or in Python's words for a frame."""
        question = self.question
        if isinstance(self.source, Path):  # the blank to fill is in a whole command
            question = question.replace("what they mean: ", f"what they mean: {command} ", 1)
        lines = [f"{self.source}: {question}"]
        for answer in self.answers:
            options = answer.options
            if isinstance(self.source, Path):
                said = " ".join([command, *map(shlex.quote, answer.command_words())])
            else:
                given = ", ".join(f"{k}={v!r}" for k, v in options.set_options().items())
                said = f"js.audit(data, {given})"
            *counts, judgments = answer.preview
            lines += textwrap.wrap(
                f"{answer.meaning}: {', '.join(counts)}", _WIDTH, initial_indent="  ",
                subsequent_indent="    ", break_on_hyphens=False,
            )  # fmt: skip
            lines.append(f"      {said}")  # whole: it is copied
            if judgments and len(self.answers) <= _MOST_ANSWERS:
                lines.append(f"      {judgments}"[:_WIDTH])
        return "\n".join(lines)

    def drop_options(self, *names: str) -> OpenQuestionError:
        """The same for a command that does not take some of the options."""
        unset = {name: getattr(TableOptions(), name) for name in names}
        answers = (replace(a, options=replace(a.options, **unset)) for a in self.answers)
        return OpenQuestionError(self.source, self.question, tuple(answers))


def question_record(refusal: InputError, command: Sequence[str]) -> dict[str, Any]:
    """The reading of a file that was refused: the question, with its answers if any reads it.

    Parameters
    ----------
    refusal : InputError
    command : sequence of str
        The words to which the options of an answer are added.

    Returns
    -------
    dict
        ``version``, ``status`` (ask), ``question``, and ``options`` with ``meaning``, ``command``
        and ``preview`` (counts, then the first judgments) each.
    """
    question, answers = str(refusal), list[Answer]()
    if isinstance(refusal, OpenQuestionError):
        question, answers = refusal.question, [*refusal.answers]
    return {
        "version": VERSION,
        "status": "ask",
        "question": question,
        "options": [
            {
                "meaning": answer.meaning,
                "command": [*command, *answer.command_words()],
                "preview": [part for part in answer.preview if part],
            }
            for answer in answers
        ],
    }


class FurtherQuestionError(InputError):
    """A question whose answers leave another column open: the options of these answers."""

    def __init__(self, text: str, ways: Sequence[TableOptions]) -> None:
        self.ways = tuple(ways)
        super().__init__(text)


def open_question(
    source: Path | str,
    question: str,
    answers: Iterable[tuple[str, TableOptions]],
    read: Callable[[TableOptions], pd.DataFrame],
) -> InputError:
    """The refusal of a file that can be read in several ways.

    Parameters
    ----------
    source : Path or str
    question : str
        What is not known.
    answers : iterable of (meaning, TableOptions)
        Several may have one meaning: the first that reads the file is shown.
    read : callable
        Reads the file by options.

    Returns
    -------
    InputError
        With the commands that read the file; where none does, with why the first one failed.
    """
    shown: dict[str, Answer] = {}
    why = ""
    further: list[TableOptions] = []
    for meaning, options in answers:
        if meaning in shown:
            continue
        try:
            frame = read(options)
        except InputError as error:
            further += [options] if isinstance(error, roles.UndecidedError) else []
            first = str(error).removeprefix(f"{source}: ").splitlines()[0]
            why = why or f"{shlex.join(options.words())}: {first}"
            continue
        shown[meaning] = Answer(meaning=meaning, options=options, preview=preview(frame))
    if shown:
        return OpenQuestionError(source, question, tuple(shown.values()))
    text = f"{source}: {question}" + (f" Tried {why}" if why else "")
    return FurtherQuestionError(text, further) if further else InputError(text)


def preview(frame: pd.DataFrame) -> tuple[str, ...]:
    """What was read: counts, then the first judgments."""
    names = list(condition_names(frame).values())
    items, orders = frame["item_id"].nunique(), frame["order"].nunique()
    repeats = frame.groupby(["condition", "item_id", "order"], sort=False).size()
    parts = [_count(items, "item")]
    if len(names) > 1:
        listed = ", ".join([*names[:3], *["..."] * bool(names[3:])])
        parts.append(f"{len(names)} conditions ({listed})")
    parts += [_count(orders, "order")] if orders > 1 else []
    parts.append(_count(int(repeats.max()), "repeat"))
    if "label" in frame and (n := int((frame["label"] != "").sum())):
        parts.append(_count(n, "labelled judgment"))
    return (*parts, " | ".join(first_judgments(frame)))


def condition_names(frame: pd.DataFrame) -> dict[str, str]:
    """The parts of each condition's name that not all of them share, shortened."""
    parts = {str(c): str(c).split(", ") for c in frame["condition"].unique()}
    common = set.intersection(*map(set, parts.values())) if len(parts) > 1 else set()
    names = {c: ", ".join(part for part in own if part not in common) for c, own in parts.items()}
    return {c: printable(name[:30], one_line=True) for c, name in names.items()}


def first_judgments(frame: pd.DataFrame, most: int = 3) -> list[str]:
    """The first judgments as they are understood: item, condition, order, repeat and verdict.

    Parameters
    ----------
    frame : DataFrame
        A parsed frame; one without verdicts has none.
    most : int
        How many.

    Examples
    --------
    >>> rows = {"item_id": ["s0", "s0"], "condition": ["p1", "p2"], "order": "", "replicate": 0,
    ...         "score": [7, None], "choice": "", "status": ["ok", "missing"]}
    >>> first_judgments(pd.DataFrame(rows))
    ['s0 p1: 7', 's0 p2: missing']
    """
    if "status" not in frame:
        return []
    names = condition_names(frame)
    varied = {c: len(frame[c].unique()) > 1 for c in ("condition", "order", "replicate")}
    shown = []
    for row in frame.head(most).to_dict("records"):
        place = [row["item_id"], *([names[str(row["condition"])]] if varied["condition"] else [])]
        place += [row[c] for c in ("order", "replicate") if varied[c]]
        said = f"{row['score']:g}" if pd.notna(row["score"]) else row["choice"] or row["status"]
        label = f" (label {row['label']})" if row.get("label") else ""
        where = " ".join(str(part)[:30] for part in place if part != "")
        shown.append(printable(f"{where}: {said}{label}", one_line=True))
    return shown


def _count(n: int, word: str) -> str:
    return f"{n:,} {word}{'s' * (n != 1)}"


_JUDGED = (
    "condition", "criterion", "author", "order", "replicate", "status", "score", "choice", "label",
)  # fmt: skip


def judgments_in(frame: pd.DataFrame) -> int:
    """The same number for frames with the same judgments, whatever their items are called.

    Examples
    --------
    >>> rows = pd.DataFrame({"item_id": ["a", "b"], "cluster": ["a", "b"], "score": [1, 2]})
    >>> judgments_in(rows) == judgments_in(rows.assign(item_id=["x", "y"], cluster=["x", "y"]))
    True
    """
    held = frame[[c for c in frame if c in _JUDGED or str(c).startswith("label_")]].astype(str)
    own = held.assign(**{c: pd.factorize(frame[c])[0] for c in ("item_id", "cluster")})
    hashed = pd.util.hash_pandas_object(own.sort_index(axis=1), index=False)
    return hash((*map(str, own), *hashed))


_IDS = re.compile(r"(?:^|[_\W])(?:id|uid|uuid|key|idx|index|item|question|prompt|query|input|trace"
                  r"|span|run|example|record|sample)$|Id$|ID$")  # fmt: skip
_COPIES = frozenset({"cached", "fromcache", "iscached", "cachehit", "wascached"})
_TASKS = frozenset({"task", "taskid", "tasknumber"})
_SUCCESSES = frozenset({"success", "successful", "solved", "resolved", "completed", "reward"})
_JUDGES = re.compile(r"(judge|grader|evaluator|rater|annotator|scorer|model|llm)", re.I)


@dataclass(frozen=True, kw_only=True)
class Rows:
    """A table as it is read: which column stands for which of ours, and by which options.

    `read` reads the same file by other options.
    """

    source: Path | str
    table: pd.DataFrame
    names: Mapping[str, str]
    options: TableOptions
    read: Callable[[TableOptions], pd.DataFrame]

    @property
    def verdict(self) -> str:
        """The column of verdicts; empty where replies hold them."""
        return next((self.names[v] for v in columns.VERDICTS if v in self.names), "")

    def ask(self, question: str, answers: Iterable[tuple[str, TableOptions]]) -> InputError:
        """An open question on these rows, with the answers that read them."""
        return open_question(self.source, question, answers, self.read)

    def mapped(self, **roles: str) -> TableOptions:
        """The options with roles of further columns."""
        return replace(self.options, mapping={**self.options.mapping, **roles})

    def ask_role(self, column: str, question: str, ways: Mapping[str, str]) -> InputError:
        """An open question on a column's role; ``ways`` maps each meaning to its role."""
        return self.ask(question, [(m, self.mapped(**{r: column})) for m, r in ways.items()])


def list_positions(table: pd.DataFrame, options: TableOptions) -> tuple[str, ...]:
    """The columns with the places of list entries, the innermost last; none in other tables."""
    paths = [*options.mapping.values(), *options.item, *options.factors]
    if not options.explode and not any("[]" in p for p in paths):
        return ()
    outer = [str(c) for c in table.columns if str(c).startswith(f"{PLACE} in ")]
    return (*outer, *([PLACE] if PLACE in table else []))


def stated_rows(
    source: Path | str, table: pd.DataFrame, options: TableOptions
) -> tuple[pd.DataFrame, pd.Series, str]:
    """The rows of verdicts and labels, a mask of the human ones, and a note on the choice.

    Raises
    ------
    InputError
        A column or value that is not there, or no judge's row is left.
    """
    parts = []
    for stated in options.rows:
        kept = roles.rows_of_raters(source, table, stated, "rows")
        parts.append(f"rows: {stated} ({int(kept.sum()):,} of {len(table):,})")
        table = table[kept].reset_index(drop=True)
    humans = pd.Series(data=False, index=table.index)
    if options.human:
        humans = roles.rows_of_raters(source, table, options.human, "human")
    if options.judge_rows:
        judged = roles.rows_of_raters(source, table, options.judge_rows, "judge-rows") & ~humans
        parts.append(
            f"judge's rows: {options.judge_rows} ({int(judged.sum()):,} of {len(table):,})"
        )
        kept = judged | humans
        table, humans = table[kept].reset_index(drop=True), humans[kept].reset_index(drop=True)
    if len(table) and humans.all():
        raise InputError(f"{source}: --human {options.human} leaves no judge's rows.")
    return table, humans, "; ".join(parts)


def with_rater_kinds(
    source: Path | str,
    table: pd.DataFrame,
    options: TableOptions,
    read: Callable[[TableOptions], pd.DataFrame],
) -> TableOptions:
    """The options with the rows that people and judges gave, by the column of `rater_kind`.

    Raises
    ------
    InputError
        There is no such column, or a level of it does not say who gave the rows.
    """
    wanted = options.mapping.get("rater_kind", "")
    if not wanted:
        return options
    column = columns.known_column(source, table, wanted, "rater_kind")
    found = roles.kinds_of_raters(column, table[column].astype(object))
    mapping = {k: v for k, v in options.mapping.items() if k != "rater_kind"}
    plain = replace(options, mapping=mapping)
    names = {"item_id": str(table.columns[0])}
    if found is None or "judge" not in found.kinds:
        levels = ", ".join(map(str, pd.unique(table[column].dropna())[:8]))
        raise InputError(
            f"{source}: --map rater_kind={wanted}: no level of {column!r} ({levels}) names a "
            "judge. State which rows belong to the judge and to humans: --judge-rows and --human."
        )
    if set(found.kinds) & {"unclear", "unknown"}:
        rows = Rows(source=source, table=table, names=names, options=plain, read=read)
        raise raters_question(rows, found)
    human = found.format_kind("human") if "human" in found.kinds else ""
    return replace(plain, human=human, judge_rows=found.format_kind("judge"))


_TOTALS = {
    "total", "totals", "sum", "average", "avg", "mean", "median", "overall", "grand total", "count",
    "summe", "gesamt", "durchschnitt", "mittelwert",
}  # fmt: skip
"""Words by which spreadsheets name a row that sums up the others."""


def check_rows(rows: Rows) -> None:
    """Refuse a table whose rows may be something else than one judge's judgments of items.

    Raises
    ------
    OpenQuestionError
        With the commands that read the file.
    """
    for check in (
        _totals,
        check_raters,
        _raters_of_labels,
        _annotators,
        _scores_of_raters,
        _labels_of_rows,
        _models,
        _events,
        _second_order,
        _numbered,
        check_row_ids,
        _copies,
        _trials,
        _orders,
    ):
        check(rows)


def _totals(rows: Rows) -> None:
    """Refuse a last row that holds the sum or mean of the others."""
    item = rows.names["item_id"]
    cells = rows.table[item]
    last = str(cells.iloc[-1]) if len(cells) and not rows.options.item else ""
    if normalize_value(last) in _TOTALS and int(cells.astype(str).eq(last).sum()) == 1:
        raise InputError(
            f"{rows.source}: the last row names {last!r} as its item, so that it may be "
            f"a row of totals. Delete it, or state the item: --item {shlex.quote(item)}."
        )


def check_raters(rows: Rows) -> None:
    """Refuse rows of human raters, of rules or of nobody known among the judge's."""
    stated = rows.options.judge_rows.partition("=")[0].strip()
    found = roles.rater_kinds(
        rows.table, rows.names,
        explained={
            *rows.options.factors, *rows.options.item, stated, rows.options.mapping.get("judge", "")
        },
    )  # fmt: skip
    if found is not None:
        raise raters_question(rows, found)


def raters_question(rows: Rows, found: roles.RaterKinds) -> InputError:
    """The refusal of a table with rows of several kinds of raters.

    Parameters
    ----------
    rows : Rows
    found : RaterKinds
        The column that distinguishes them.

    Returns
    -------
    InputError
    """
    if set(found.kinds) == {"human"} and found.column == rows.names.get("judge"):
        question = (
            f"{found.column!r} names only people: {found.described()}. Give the judge's file, with "
            "this one as --labels; or are they judged?"
        )
        judged = replace(rows.options, mapping={**rows.options.mapping, "judge": found.column})
        return rows.ask(question, [("people are judges", judged)])
    if set(found.kinds) == {"human"}:
        return InputError(
            f"{rows.source}: no judge's rows: {found.column!r} holds {found.described()} only. "
            "Give the judge's file, with this one as --labels; or say that these rows are judged: "
            f"--judge-rows {found.format_kind('human')}."
        )
    said = f"says who gave each row: {found.described()}"
    stated = rows.options.judge_rows or rows.options.human
    if stated and stated.partition("=")[0].strip() != found.column:  # one column is said already
        kept = (*rows.options.rows, found.format_kind(_judge_kind(found)))
        answers = [("only these rows are read", replace(rows.options, rows=kept))]
        return rows.ask(f"{found.column!r} {said}, too.", answers)
    question = f"{found.column!r} {said}. Whose is judged?"
    return rows.ask(question, _rater_options(rows, found))


def _judge_kind(found: roles.RaterKinds) -> str:
    """The kind of rater whose rows are judged, if nobody says another."""
    return "judge" if "judge" in found.kinds else next(k for k in found.kinds if k != "human")


def _rater_options(rows: Rows, found: roles.RaterKinds) -> Iterator[tuple[str, TableOptions]]:
    kinds = found.kinds
    others, judge = [k for k in kinds if k not in {"human", "judge"}], _judge_kind(found)
    judged = found.format_kind(judge)
    table = with_paths(rows.source, rows.table, [found.column])
    judged_rows = table[table[found.column].isin(kinds[judge])]
    unclear = [v for k in others if k != "rule" for v in kinds[k] if v]
    for keyed in _keyed(rows, judged_rows):
        mapping = {k: v for k, v in keyed.mapping.items() if k != "label"}
        labelled = replace(keyed, labels=None, mapping=mapping)
        if "human" in kinds and not rows.options.human:
            human = replace(labelled, human=found.format_kind("human"))
            only = replace(human, judge_rows=judged) if set(kinds) - {"human", judge} else human
            yield "human rows are labels", only
        yield f"only {judge} rows are judged", replace(keyed, judge_rows=judged)
        if judge == "judge" and unclear:
            either = {k: ",".join([*filter(None, kinds.get(k, ())), *unclear]) for k in
                      ("human", "judge")}  # fmt: skip
            people = f"{found.column}={either['human']}"
            human = replace(labelled, human=people, judge_rows=judged)
            yield "unclear rows are human", human
            more = replace(keyed, judge_rows=f"{found.column}={either['judge']}")
            yield "unclear rows are the judge's", more


def _keyed(rows: Rows, judged: pd.DataFrame) -> Iterator[TableOptions]:
    """The options, and where rows have their own ids with the column that names items."""
    table, names, options = rows.table, rows.names, rows.options
    item = names["item_id"]
    own = not options.item and n_levels(table[item]) == len(table)
    if not own:
        yield options
    for column, criterion in _keys(judged, names, len(table)):
        mapping, factors = dict(options.mapping), options.factors
        if criterion and columns.folded(criterion) not in CRITERIA:
            factors = tuple(c for c in factors if c != criterion)
            mapping["criterion"] = criterion
        if "item_id" in mapping:
            yield replace(options, mapping={**mapping, "item_id": column}, factors=factors)
        elif not options.item:
            yield replace(options, mapping=mapping, item=(column,), factors=factors)
    if own:
        yield options


def _keys(judged: pd.DataFrame, names: Mapping[str, str], n_rows: int) -> list[tuple[str, str]]:
    """Columns that name items, with one that names criteria, of which each judgment has its own."""
    serving = {names[v] for v in columns.VERDICTS if v in names}
    free = [c for c in map(str, judged) if c not in serving and not columns.nested(judged[c])]
    filled = [c for c in free if _IDS.search(c) and judged[c].notna().all()]
    ids = [c for c in filled if 1 < judged[c].nunique() < n_rows]
    named = [c for c in free if roles.names_criteria(c) and 1 < judged[c].nunique() <= 50]
    parts = [names[n] for n in ("judge", "replicate", "order", "temperature") if n in names]
    found = []
    for column in ids:
        for criterion in ("", *(c for c in named if c != column)):
            key = list(dict.fromkeys([column, *filter(None, [criterion]), *parts]))
            if not judged.astype(dict.fromkeys(key, str)).duplicated(key).any():
                found.append((column, criterion))
                break
    return sorted(found, key=lambda f: judged[f[0]].nunique())


def _annotators(rows: Rows) -> None:
    """Possible names of human raters in the column that would name judges."""
    column = rows.names.get("judge", "")
    if column in rows.options.mapping.values() or rows.options.human or rows.options.judge_rows:
        return
    levels = [str(v) for v in rows.table[column].dropna().unique()] if column else []
    judges = [v for v in levels if roles.kind_of_rater(v) == "judge"]
    others = [v for v in levels if v not in judges]
    by_name = {"annotator"} | ({"rater", "labeler", "labeller"} if judges else set())
    if len(levels) < 2 or not others or columns.folded(column) not in by_name:
        return
    if not roles.varies(roles.group_codes(rows.table, [rows.names["item_id"]]), rows.table[column]):
        return
    human = replace(rows.options, human=f"{column}={','.join(others)}")
    raise rows.ask(
        f"{column!r} holds names ({', '.join(others[:3])}). If all are people, give the file as "
        "--labels of the judge's file. Who are they?",
        [
            *([(f"people, next to {', '.join(judges[:3])}", human)] if judges else []),
            ("they are judges", rows.mapped(judge=column)),
        ],
    )


def _scores_of_raters(rows: Rows) -> None:
    """Scores of the verdict's scale in a column that would name raters."""
    options, verdict = rows.options, rows.verdict
    stated = {*options.mapping.values(), *options.ignore, *options.item, *options.factors}
    if not verdict or "label" in rows.names or options.human or options.labels is not None:
        return
    named = [c for c in map(str, rows.table) if columns.RATERS.fullmatch(c) and c not in stated]
    levels = {c: roles.hashable(rows.table[c]).dropna() for c in [verdict, *named]}
    points = {c: {*pd.to_numeric(v, errors="coerce")} for c, v in levels.items()}
    for column in named:
        if len(points[column]) < 3 or not points[column] <= points[verdict]:
            continue
        if roles.varies(roles.group_codes(rows.table, [rows.names["item_id"]]), rows.table[column]):
            continue
        ways = [("human labels", rows.mapped(label=column))]
        if rows.names.get("judge") == column:
            ways += [("judges", rows.mapped(judge=column))]
        ways += [
            ("numbers of raters, not used", replace(options, ignore=(*options.ignore, column)))
        ]
        raise rows.ask(f"{column!r} holds scores that {verdict!r} holds too. What are they?", ways)


def _raters_of_labels(rows: Rows) -> None:
    """Names of raters in the column that would name judges: the verdict is the same for all."""
    column, label, verdict = *(rows.names.get(r, "") for r in ("judge", "label")), rows.verdict
    if not (label and verdict) or column in rows.options.mapping.values():
        return
    if columns.folded(column) not in {"annotator", "rater", "evaluator"}:
        return
    of_item = rows.table.groupby(rows.names["item_id"], sort=False)
    if of_item[verdict].nunique().max() > 1:
        return
    reason = f"{verdict!r} is the same for every {column!r}, and {label!r} differs."
    if of_item[label].nunique().max() < 2:
        known = {roles.kind_of_rater(str(v)) for v in rows.table[column].dropna().unique()}
        if known <= {"judge"} or not columns.of_judges(verdict):
            return
        reason = f"{column!r} names who gave {verdict!r} or {label!r}."
    raise rows.ask_role(
        column,
        f"{reason} Who are they?",
        {"they gave the labels": "rater", "they are judges": "judge"},
    )


def _labels_of_rows(rows: Rows) -> None:
    """Rows of one item whose labels differ, so that they are not repeats of one judgment."""
    label, item, options = rows.names.get("label", ""), rows.names["item_id"], rows.options
    stated = options.item or options.human or "item_id" in options.mapping
    if not label or stated or {"replicate", "rater"} & set(rows.names):
        return
    parts = [rows.names[n] for n in ("judge", "order", "temperature") if n in rows.names]
    words = rows.table[rows.table[label].notna()].astype({label: str})
    sizes = words.groupby([item, *parts], sort=False)[label].agg(["size", "nunique"])
    several = sizes[sizes["size"] > 1]
    if len(several) < 3 or 2 * (several["nunique"] > 1).sum() < len(several):
        return
    base = roles.group_codes(rows.table, [item, *parts])
    other = rows.table.drop(columns=list(rows.names.values()))
    if any(
        2 * cells.nunique() <= len(cells) and roles.varies(base, cells)
        for c, cells in other.items()
        if not columns.nested(cells) and not roles.counts_or_measures(str(c))
    ):
        return  # which may name raters, conditions or criteria
    each, repeats = replace(rows.mapped(cluster=item), item=(ROW,)), replace(options, item=(item,))
    raise rows.ask(
        f"{label!r} differs among the rows of one {item!r}. Are they different items?",
        [("each row is an item", each), ("repeats, whose labels differ", repeats)],
    )


def _models(rows: Rows) -> None:
    """Models where neither a name nor the judged texts say whether they judge or answered."""
    column = rows.names.get("judge", "")
    stated = column in (*rows.options.mapping.values(), *rows.options.item, *rows.options.factors)
    if columns.folded(column) != "model" or stated or rows.table[column].nunique() < 2:
        return
    if columns.answers_differ(rows.table, rows.names) is False:
        return
    raise rows.ask_role(
        column,
        f"{column!r} names several models. Are they judges, or systems whose answers are judged?",
        {"they are judges": "judge", "they wrote the answers": "system"},
    )


def _second_order(rows: Rows) -> None:
    """A column next to the verdicts that has their name and a word for an order."""
    verdict, options = rows.verdict, rows.options
    if not verdict or options.wide or "order" in rows.names:
        return
    name = "_".join(re.split(r"[\s_.\-]+", verdict.casefold()))
    known = {*rows.names.values(), *options.ignore, *options.item, *options.factors}
    found = [c for c in map(str, rows.table) if c not in known and stem_of_order(c) == name]
    if len(found) != 1 or verdict in options.mapping.values():
        return
    both = replace(options, wide=(f"order={verdict},{found[0]}",))
    raise rows.ask(
        f"{found[0]!r} has the name of {verdict!r}. Is it the second order of each pair?",
        [
            ("both orders; verdicts name responses", both),
            ("both orders; verdicts name places", replace(both, as_shown=True)),
            (f"only {verdict} is judged", replace(options, ignore=(*options.ignore, found[0]))),
        ],
    )


def _numbered(rows: Rows) -> None:
    """Columns next to the verdicts that have their name and a number."""
    verdict, options = rows.verdict, rows.options
    if not verdict or options.wide or options.explode or verdict in options.mapping.values():
        return
    known = {*rows.names.values(), *options.ignore, *options.item, *options.factors}
    form = re.compile(rf"{re.escape(verdict)}[\W_]?(\d{{1,2}})", re.IGNORECASE)
    found = {c: form.fullmatch(c) for c in map(str, rows.table) if c not in known}
    more = {c: int(m[1]) for c, m in found.items() if m}
    first = min(more.values(), default=0)  # 2 next to a first without a number
    whole = first in {1, 2} and sorted(more.values()) == [*range(first, first + len(more))]
    numbers = {pd.api.types.is_numeric_dtype(rows.table[c]) for c in (verdict, *more)}
    if not whole or len(numbers) > 1:
        return
    wide = f"repeat={','.join([verdict, *more])}"
    mapping = {k: v for k, v in options.mapping.items() if k not in columns.VERDICTS}
    raise rows.ask(
        f"{', '.join([verdict, *more])} have one name. Are they repeats?",
        [
            ("repeats", replace(options, mapping=mapping, wide=(wide,))),
            (f"only {verdict} is judged", replace(options, ignore=(*options.ignore, *more))),
        ],
    )


def _events(rows: Rows) -> None:
    """Events of an item without a verdict, next to those with one."""
    cells = rows.table.get(rows.verdict, pd.Series(dtype=object))
    empty = cells.isna() | columns.each_distinct(cells, lambda v: str(v).strip()).eq("")
    if not empty.any() or empty.all():
        return
    options = rows.options
    known = {*rows.names.values(), *options.item, *options.factors, *options.ignore}
    base = roles.group_codes(rows.table, [rows.names["item_id"]])
    for name, column in rows.table.items():
        if name in known or columns.folded(name) in CRITERIA:
            continue
        if pd.api.types.is_numeric_dtype(column) or columns.nested(column) or column.isna().any():
            continue
        judged = sorted(set(column[~empty].astype(str)))
        others = set(column[empty].astype(str))
        if len(judged) + len(others) > _FEW_EVENTS or others & {*judged}:
            continue
        if roles.varies(base, column):
            kept = replace(options, rows=(*options.rows, f"{name}={','.join(judged)}"))
            factors = replace(options, factors=(*options.factors, str(name)))
            raise rows.ask(
                f"no row of {name!r} = {', '.join(sorted(others))} holds a verdict.",
                [("these are other events", kept), ("conditions", factors)],
            )


_FEW_EVENTS = 8
"""The most kinds of events of one file."""


def check_row_ids(rows: Rows) -> None:
    """Refuse an id of each row where items have another id, and a row for each criterion."""
    item = rows.names["item_id"]
    if rows.options.item or len(rows.table) < 4 or n_levels(rows.table[item]) < len(rows.table):
        return
    if not any(roles.names_criteria(str(c)) for c in rows.table.columns):
        return
    keys = [(c, k) for c, k in _keys(rows.table, rows.names, len(rows.table)) if k and c != item]
    further = [o for o in _keyed(rows, rows.table) if o != rows.options]
    if not keys and (keys := _crossed_ids(rows)):
        ids, criteria = ({"criterion": k} for _, k in keys), [c for c, _ in keys]
        further = [rows.mapped(**k, item_id=c) for c, k in zip(criteria, ids, strict=True)]
    if not keys or 3 * rows.table[keys[0][0]].nunique() > 2 * len(rows.table):
        return
    column, criterion = keys[0]
    question = f"{item!r} differs in every row, and {column!r} with {criterion!r} names rows."
    answers = [(f"{column} names items", o) for o in further]
    raise rows.ask(f"{question} What is an item?", answers)


def _crossed_ids(rows: Rows) -> list[tuple[str, str]]:
    """Other ids than those of the rows, with what names criteria of nearly all of them."""
    table, item = rows.table, rows.names["item_id"]
    found = []
    for column in (c for c in map(str, table) if columns.names_id(c) and c != item):
        for criterion in (c for c in map(str, table) if roles.names_criteria(c)):
            pairs = table[[column, criterion]].astype(str)
            some, others = pairs.nunique().tolist()
            crossed = min(some, others) > 1 and len(pairs.drop_duplicates()) >= 0.8 * some * others
            found += [(column, criterion)] if crossed else []
    return found


def _copies(rows: Rows) -> None:
    """Replies that a cache gave again."""
    for name in [str(c) for c in rows.table.columns if roles.last_word(str(c)) in _COPIES]:
        words = set(map(normalize_value, rows.table[name].dropna()))
        base = roles.group_codes(rows.table, [rows.names["item_id"]])
        marks = len(words) > 1 and words <= {"true", "false", "1", "0"}
        if not marks or not roles.varies(base, rows.table[name]):
            continue
        first = next(w for w in ("false", "0") if w in words)
        raise rows.ask(
            f"{name!r} marks replies that were copied from a cache. Copies are not repeats: they "
            "say nothing of consistency.",
            [("without the copies", replace(rows.options, judge_rows=f"{name}={first}"))],
        )


def _trials(rows: Rows) -> None:
    """Trials of an agent, which are not repeats of a judge."""
    repeat, item = rows.names.get("replicate", ""), rows.names["item_id"]
    stated = rows.options.item or repeat in rows.options.mapping.values()
    trials = columns.folded(item) in _TASKS and columns.folded(repeat) in columns.TRIALS
    if stated or not trials or roles.last_word(rows.verdict) not in _SUCCESSES:
        return
    raise rows.ask(
        f"{repeat!r} numbers trials of one {item!r}. Are these an agent's trials or a judge's "
        "repeats?",
        [
            ("an agent's trials, an item each", replace(rows.options, item=(item, repeat))),
            ("a judge's repeats", rows.mapped(replicate=repeat)),
        ],
    )


def _orders(rows: Rows) -> None:
    """Lists of two preferences: one in each order, or one judgment twice."""
    if not list_positions(rows.table, rows.options) or PLACE in {
        c for r, c in rows.options.mapping.items() if r in {"order", "replicate"}
    } | {*rows.options.item, *rows.options.factors}:
        return
    if set(rows.table[PLACE]) != {0, 1} or "order" in rows.names or rows.options.parse:
        return
    role = next(v for v in columns.VERDICTS if v in rows.names)
    kind = kind_of_column(
        rows.source, rows.table[rows.names[role]], rows.names[role], role, rows.options
    )
    if kind.name != "preference":
        return
    as_orders = rows.mapped(order=PLACE)
    words = coded(rows.table[rows.names[role]], kind)[1]
    same = float(words.groupby(rows.table[PLACE].eq(0).cumsum()).nunique().eq(1).mean())
    answers = [("both orders; verdicts name places", replace(as_orders, as_shown=True))]
    if same > 0.25:
        answers.append(("both orders; verdicts name responses", as_orders))
        answers.append(("one order, judged twice", rows.mapped(replicate=PLACE)))
    raise rows.ask(
        f"each list holds two verdicts on a pair ({rows.names[role]}). Are they its two orders?",
        answers,
    )


def mixed_criteria_error(rows: Rows, column: str) -> InputError:
    """The refusal of a condition whose levels have verdicts of several kinds or scales."""
    options = rows.options
    factors = tuple(c for c in options.factors if columns.column_named([column], c) == "")
    mapping = {**options.mapping, "criterion": column}
    return rows.ask(
        f"the verdicts differ in kind or scale by {column!r}, as those of criteria do.",
        [("criteria", replace(options, factors=factors, mapping=mapping))],
    )
