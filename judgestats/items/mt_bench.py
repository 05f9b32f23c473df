"""MT-Bench as FastChat lays it out, and its human judgments as users download them.

An item's id is ``<question_id>-turn<t>`` and its cluster ``<question_id>`` in both, so that the two
can be joined.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from judgestats.errors import InputError
from judgestats.items.files import Row, Source, read_source
from judgestats.items.records import (
    MAX_CHARS,
    HumanLabel,
    Item,
    Response,
    as_turns,
    check_items,
    short_repr,
)
from judgestats.items.tables import as_name, read_winner

_BOTH_TURNS = (1, 2)


def is_mt_bench_folder(path: Path) -> bool:
    """Whether a folder holds ``question.jsonl`` and ``model_answer/``."""
    return (path / "question.jsonl").is_file() and (path / "model_answer").is_dir()


def mt_bench_items(
    folder: str | Path,
    *,
    models: Iterable[str] | None = None,
    turn: int | None = None,
    max_chars: int = MAX_CHARS,
) -> tuple[Item, ...]:
    """MT-Bench questions with models' answers, from a folder in FastChat's layout.

    Parameters
    ----------
    folder : str or Path
        Holds ``question.jsonl``, ``model_answer/<model>.jsonl`` and, where there are reference
        answers, ``reference_answer/*.jsonl`` or ``reference_answer*.jsonl``.
    models : iterable of str, optional
        Whose answers, in this order; all files (sorted by name) by default. As in FastChat a
        model's name is its *file's* name; the ``model_id`` inside, which may differ, is understood
        too.
    turn : {1, 2}, optional
        Which turn is judged: 1 (default) keeps the first question and answer only, 2 keeps both.
    max_chars : int
        Longest text allowed, in characters.

    Returns
    -------
    tuple of Item
        One a question, in the order of the question file; a response's author is the file's name. A
        response without text is kept: the model said nothing.

    Raises
    ------
    InputError
        If a file is missing or damaged, a model is unknown, or a question has no answer by one.
    """
    folder = Path(folder)
    turn = 1 if turn is None else turn
    if turn not in _BOTH_TURNS:
        raise InputError(f"mt_bench_items: turn must be 1 or 2, not {short_repr(turn)}.")
    if not is_mt_bench_folder(folder):
        raise InputError(
            f"mt_bench_items: {str(folder)!r} is not in FastChat's MT-Bench layout. It needs "
            "question.jsonl and a folder model_answer with one .jsonl a model."
        )
    answers = _model_answers(folder / "model_answer", models, max_chars)
    reference = _reference_answers(folder, max_chars)
    items = []
    for row in read_source(folder / "question.jsonl").rows:
        question_id = as_name(_field(row, "question_id"), f"{row.where}: 'question_id'")
        turns = as_turns(_field(row, "turns"), f"{row.where}: 'turns'", max_chars=max_chars)
        if len(turns) < turn:
            continue  # a one-turn question has no second turn to be judged
        responses = []
        for model, by_question in answers.items():
            if question_id not in by_question:
                raise InputError(
                    f"mt_bench_items: model_answer/{model}.jsonl has no answer to question "
                    f"{question_id}. Complete the file, or leave the model out (models=...)."
                )
            answers_given = by_question[question_id][:turn]
            if len(answers_given) < turn:
                raise InputError(
                    f"mt_bench_items: model_answer/{model}.jsonl answers only {len(answers_given)} "
                    f"turn(s) of question {question_id}; turn {turn} was asked for."
                )
            responses.append(Response(turns=answers_given, author=model))
        given = row.values.get("reference") or ()
        reference_turns = reference.get(question_id) or (
            as_turns(given, f"{row.where}: 'reference'", empty_ok=True, max_chars=max_chars)
            if given
            else ()
        )
        items.append(
            Item(
                id=f"{question_id}-turn{turn}",
                cluster=question_id,
                turns=turns[:turn],
                responses=tuple(responses),
                reference=reference_turns[:turn],
                category=str(row.values.get("category") or ""),
            )
        )
    return check_items(items, where="mt_bench_items")


def _field(row: Row, name: str) -> Any:
    if name not in row.values:
        raise InputError(
            f"{row.where}: the field {name!r} is missing; it has "
            f"{short_repr(list(row.values), 200)}."
        )
    return row.values[name]


def _model_answers(
    folder: Path, models: Iterable[str] | None, max_chars: int
) -> dict[str, dict[str, tuple[str, ...]]]:
    """Model (file's name) -> question id -> the turns of its first choice."""
    answers: dict[str, dict[str, tuple[str, ...]]] = {}
    file_of: dict[str, str] = {}
    for path in sorted(folder.glob("*.jsonl")):
        rows = read_source(path).rows
        answers[path.stem] = _answers(rows, max_chars)
        file_of[path.stem] = path.stem
        file_of.setdefault(str(rows[0].values.get("model_id", path.stem)), path.stem)
    if not answers:
        raise InputError("mt_bench_items: model_answer holds no .jsonl file. Give one a model.")
    if models is None:
        return answers
    wanted = [models] if isinstance(models, str) else list(models)
    if not wanted:
        raise InputError("mt_bench_items: models is empty. Name at least one, or leave it out.")
    unknown = [model for model in wanted if model not in file_of]
    if unknown:
        raise InputError(
            f"mt_bench_items: there are no answers by {short_repr(unknown[0])}; the folder has "
            f"{', '.join(answers)}. Choose among these."
        )
    return {file_of[model]: answers[file_of[model]] for model in wanted}


def _answers(rows: Iterable[Row], max_chars: int) -> dict[str, tuple[str, ...]]:
    answers = {}
    for row in rows:
        question_id = as_name(_field(row, "question_id"), f"{row.where}: 'question_id'")
        choices = _field(row, "choices")
        if (
            not isinstance(choices, Sequence)
            or not choices
            or not isinstance(choices[0], Mapping)
            or "turns" not in choices[0]
        ):
            raise InputError(
                f"{row.where}: 'choices' must be a list of objects with 'turns', not "
                f"{short_repr(choices)}."
            )
        answers[question_id] = as_turns(
            choices[0]["turns"], f"{row.where}: 'turns'", empty_ok=True, max_chars=max_chars
        )
    return answers


def _reference_answers(folder: Path, max_chars: int) -> dict[str, tuple[str, ...]]:
    """Question id -> reference turns, from the first reference file there is (by name)."""
    paths = sorted(folder.glob("reference_answer*.jsonl"))
    paths += sorted((folder / "reference_answer").glob("*.jsonl"))
    return _answers(read_source(paths[0]).rows, max_chars) if paths else {}


def human_judgment_items(
    source: Source,
    *,
    models: Iterable[str] | None = None,
    turn: int | None = None,
    max_chars: int = MAX_CHARS,
) -> tuple[Item, ...]:
    """MT-Bench human judgments (also Chatbot Arena's layout) as items with labels.

    Parameters
    ----------
    source : Source
        Rows with ``question_id, model_a, model_b, winner, judge, conversation_a, conversation_b``
        and ``turn``; a conversation is a list of ``{"role", "content"}``.
    models : iterable of str, optional
        Keep only judgments in which both models are among these.
    turn : {1, 2}, optional
        Keep only judgments of this turn; both by default.
    max_chars : int
        Longest text allowed, in characters.

    Returns
    -------
    tuple of Item
        One a question and turn, with every answer that was judged and every judgment as a label
        (several annotators a pair, and repeated ones, are kept as they are). The two turns of a
        question share its cluster.

    Raises
    ------
    InputError
        If a field is missing or of the wrong kind, or nothing is left.
    """
    if turn is not None and turn not in _BOTH_TURNS:
        raise InputError(f"human_judgment_items: turn must be 1 or 2, not {short_repr(turn)}.")
    keep = None if models is None else {models} if isinstance(models, str) else set(models)
    questions: dict[tuple[str, int], tuple[str, ...]] = {}
    responses: dict[tuple[str, int], dict[Response, int]] = {}
    labels: dict[tuple[str, int], list[HumanLabel]] = {}
    for row in source.rows:
        judged = _parse_turn(row)
        names = [as_name(_field(row, f"model_{s}"), f"{row.where}: 'model_{s}'") for s in "ab"]
        if (turn is not None and judged != turn) or (keep is not None and not keep >= set(names)):
            continue
        question_id = as_name(_field(row, "question_id"), f"{row.where}: 'question_id'")
        key = (question_id, judged)
        index = []
        for side, name in zip("ab", names, strict=True):
            asked, turns = _conversation(row, f"conversation_{side}", judged, max_chars)
            if questions.setdefault(key, asked) != asked:
                raise InputError(
                    f"{row.where}: question {question_id} is worded differently from before. "
                    "Give different questions different ids."
                )
            seen = responses.setdefault(key, {})
            index.append(seen.setdefault(Response(turns=turns, author=name), len(seen)))
        if index[0] == index[1]:
            continue  # an answer compared with itself says nothing
        labels.setdefault(key, []).append(
            HumanLabel(
                annotator=_annotator(row),
                a=index[0],
                b=index[1],
                winner=read_winner(_field(row, "winner"), f"{row.where}: 'winner'"),
                turn=judged,
            )
        )
    items = (
        Item(
            id=f"{key[0]}-turn{key[1]}",
            cluster=key[0],
            turns=asked,
            responses=tuple(responses[key]),
            labels=tuple(labels.get(key, ())),
        )
        for key, asked in questions.items()
    )
    return check_items(items, where=source.name)


def _parse_turn(row: Row) -> int:
    value = row.values.get("turn", 1)
    text = as_name(value, f"{row.where}: 'turn'")
    if text not in ("1", "2"):
        raise InputError(f"{row.where}: 'turn' must be 1 or 2, not {short_repr(value)}.")
    return int(text)


def _annotator(row: Row) -> str:
    value = row.values.get("judge", "human")
    if isinstance(value, Sequence) and not isinstance(value, str):  # ["gpt-4", "pair-v2"]
        value = "-".join(str(part) for part in value)
    return as_name(value, f"{row.where}: 'judge'")


def _conversation(
    row: Row, field: str, n_turns: int, max_chars: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The user's and the assistant's first `n_turns` messages."""
    messages = _field(row, field)
    turns: dict[str, list[object]] = {"user": [], "assistant": []}
    if not isinstance(messages, Sequence) or isinstance(messages, str):
        raise InputError(
            f"{row.where}: {field!r} must be a list of messages (role, content), not "
            f"{short_repr(messages)}. A CSV file cannot hold it; use JSONL or Parquet."
        )
    for message in messages:
        if not isinstance(message, Mapping) or message.get("role") not in tuple(turns):
            raise InputError(
                f"{row.where}: a message of {field!r} must have the role user or assistant and a "
                f"content, not {short_repr(message)}."
            )
        turns[message["role"]].append(message.get("content"))
    if min(len(turns["user"]), len(turns["assistant"])) < n_turns:
        raise InputError(f"{row.where}: {field!r} has fewer than {n_turns} turn(s).")
    what = f"{row.where}: {field!r}"
    return (
        as_turns(turns["user"][:n_turns], what, max_chars=max_chars),
        as_turns(turns["assistant"][:n_turns], what, empty_ok=True, max_chars=max_chars),
    )
