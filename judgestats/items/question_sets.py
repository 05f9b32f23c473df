"""Published sets of questions.

MT-Bench has the layout of FastChat, and its human judgments that of the download. An item's
id is ``<question_id>-turn<t>`` and its cluster ``<question_id>`` in both, so that the two can be
joined.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

from judgestats.errors import InputError
from judgestats.items import records
from judgestats.items.records import short_repr
from judgestats.items.tables import Row, Source, as_name, read_source, read_winner


def _get(value: object, key: str, where: str) -> Any:
    if not isinstance(value, Mapping) or key not in value:
        raise InputError(f"{where}: the field {key!r} is missing in {short_repr(value)}.")
    return value[key]


def _text(value: object, key: str, where: str, *, empty_ok: bool = False) -> str:
    text = _get(value, key, where)
    return records.as_text(text, f"{where}: {key!r}", empty_ok=empty_ok)


def _list(value: object, key: str, where: str) -> Sequence[Any]:
    entries = _get(value, key, where)
    if not isinstance(entries, Sequence) or isinstance(entries, str | bytes):
        raise InputError(f"{where}: {key!r} must be a list, not {short_repr(entries)}.")
    return entries


def bbh_items(sources: Iterable[Source]) -> tuple[records.Item, ...]:
    """BIG-Bench Hard tasks: questions with a reference answer, to be answered by models.

    Parameters
    ----------
    sources : iterable of Source
        One a task: ``{"examples": [{"input", "target"}]}``; the task is the file's name.

    Returns
    -------
    tuple of Item
        Without responses; the category is the task.

    Raises
    ------
    InputError
        If a field is missing or of the wrong type.
    """
    items = []
    for source in sources:
        task = source.name.split(".")[0]
        for number, example in enumerate(_list(source.document, "examples", source.name), start=1):
            where = f"{source.name}, example {number}"
            name = f"{task}-{number}"
            question = _text(example, "input", where)
            target = as_name(_get(example, "target", where), f"{where}: 'target'")
            items.append(
                records.Item(
                    id=name, cluster=name, turns=(question,), responses=(), reference=(target,),
                    category=task,
                )
            )  # fmt: skip
    return records.check_items(items, where="bbh_items", need_responses=False)


def squad_items(source: Source) -> tuple[records.Item, ...]:
    """SQuAD v1.1: questions on a passage, to be answered by models.

    Parameters
    ----------
    source : Source
        ``{"data": [{"title", "paragraphs": [{"context", "qas": [{"id", "question",
        "answers": [{"text"}]}]}]}]}``.

    Returns
    -------
    tuple of Item
        Without responses; the passage is the context and the cluster (questions on one passage are
        not independent), the category the article's title, the reference the first answer given.

    Raises
    ------
    InputError
        If a field is missing or of the wrong type.
    """
    items = []
    for article in _list(source.document, "data", source.name):
        title = as_name(_get(article, "title", source.name), f"{source.name}: 'title'")
        paragraphs = _list(article, "paragraphs", f"{source.name}, {title}")
        for number, paragraph in enumerate(paragraphs, start=1):
            where = f"{source.name}, {title}, paragraph {number}"
            context = _text(paragraph, "context", where)
            for entry in _list(paragraph, "qas", where):
                answers = _list(entry, "answers", where)
                items.append(
                    records.Item(
                        id=as_name(_get(entry, "id", where), f"{where}: 'id'"),
                        cluster=f"{title}/{number}",
                        turns=(_text(entry, "question", where).strip(),),
                        responses=(),
                        context=context,
                        reference=tuple(
                            as_name(_get(answer, "text", where), f"{where}: 'text'")
                            for answer in answers[:1]
                        ),
                        category=title,
                    )
                )
    return records.check_items(items, where=source.name, need_responses=False)


def oasst_items(source: Source) -> tuple[records.Item, ...]:
    """OpenAssistant's message trees: first prompts with their several replies.

    Parameters
    ----------
    source : Source
        Rows ``{"message_tree_id", "prompt": {"text", "lang", "replies": [{"text", "rank"}]}}``.

    Returns
    -------
    tuple of Item
        Trees whose prompt has at least two replies (deleted ones do not count); the category is the
        language. Where replies are ranked (0 is best), every pair gets a label by ``"ranking"``.

    Raises
    ------
    InputError
        If a field is missing or of the wrong type, or no tree has two replies.
    """
    items = []
    for row in source.rows:
        prompt = _get(row.values, "prompt", row.where)
        replies = [
            reply
            for reply in _list(prompt, "replies", row.where)
            if isinstance(reply, Mapping)
            and reply.get("role", "assistant") == "assistant"
            and not reply.get("deleted")
        ]
        if len(replies) < 2:
            continue
        tree = as_name(_tree_id(row, prompt), f"{row.where}: 'message_tree_id'")
        items.append(
            records.Item(
                id=tree,
                cluster=tree,
                turns=(_text(prompt, "text", row.where),),
                responses=tuple(
                    records.Response(
                        turns=(_text(r, "text", f"{row.where}, a reply", empty_ok=True),)
                    )
                    for r in replies
                ),
                category=str(prompt.get("lang") or ""),
                labels=_labels_from_ranks([reply.get("rank") for reply in replies]),
            )
        )
    if not items:
        raise InputError(
            f"{source.name}: no tree has a prompt with two replies or more. Give OpenAssistant's "
            "*_trees.jsonl, not the flat message file."
        )
    return records.check_items(items, where=source.name)


def _tree_id(row: Row, prompt: Mapping[str, Any]) -> Any:
    return row.values.get("message_tree_id") or prompt.get("message_id") or row.where


def _labels_from_ranks(ranks: list[Any]) -> tuple[records.HumanLabel, ...]:
    labels = []
    for a, b in combinations(range(len(ranks)), 2):
        first, second = ranks[a], ranks[b]
        if not isinstance(first, int | float) or not isinstance(second, int | float):
            continue  # unranked replies are compared by nobody
        winner = "tie" if first == second else "a" if first < second else "b"
        labels.append(records.HumanLabel(annotator="ranking", a=a, b=b, winner=winner))
    return tuple(labels)


BENCHMARK_OF: Mapping[str, str] = {"bbh": "BBH", "squad": "SQuAD", "mtb": "MT-Bench"}
"""The authors' names of their benchmarks, and the paper's."""

_PASSAGE = re.compile(r"\s*Context: (.*?)\s*\n\s*Question: (.*?)\s*(?:\n\s*Answer:\s*)?", re.DOTALL)


def head_to_tail_items(
    source: Source,
    *,
    models: Iterable[str] | None = None,
    cut: int | None = None,
) -> tuple[records.Item, ...]:
    """Head questions of Head-to-Tail's academic domain, with true and models' answers.

    Parameters
    ----------
    source : Source
        ``{model: {"mag": [{"question", "response", "ground_truth"}], "dblp": [...]}}``.
    models : iterable of str, optional
        Whose answers; all by default.
    cut : int, optional
        Characters of an answer that are kept; the authors' script shows a judge 15.

    Returns
    -------
    tuple of Item
        One per question; several true answers of one are joined by semicolons.

    Raises
    ------
    InputError
        If a field is missing or of the wrong type, or a model has no answers in the file.
    """
    document = source.document or {}
    wanted = list(document) if models is None else list(models)
    if unknown := [model for model in wanted if model not in document]:
        raise InputError(
            f"{source.name}: there are no answers by {short_repr(unknown[0])}; the file has "
            f"{', '.join(document)}. Choose among these."
        )
    items: dict[str, records.Item] = {}
    for model in wanted:
        for item_id, row, where in _rows(document[model], f"{source.name}, {model}"):
            question = records.as_text(row.get("question"), f"{where}: 'question'")
            answer = records.as_text(row.get("response"), f"{where}: 'response'", empty_ok=True)
            truth = row.get("ground_truth")
            truths = truth if isinstance(truth, list) else [truth]
            item = items.setdefault(
                item_id,
                records.Item(
                    id=item_id,
                    cluster=item_id,
                    turns=(question,),
                    responses=(),
                    reference=("; ".join(as_name(t, f"{where}: 'ground_truth'") for t in truths),),
                    category=item_id.partition("-")[0],
                    published={"ground_truth": truth},
                ),
            )
            if item.turns != (question,):
                raise InputError(f"{where}: another model was asked another question here.")
            own = records.Response(turns=(answer[:cut],), author=model)
            items[item_id] = replace(item, responses=(*item.responses, own))
    return records.check_items(items.values(), where=source.name)


def _rows(parts: object, where: str) -> Iterator[tuple[str, Mapping[str, Any], str]]:
    if not isinstance(parts, Mapping) or not all(isinstance(v, list) for v in parts.values()):
        raise InputError(f"{where}: expected lists of answers by source, not {short_repr(parts)}.")
    for name, rows in parts.items():
        for number, row in enumerate(rows, start=1):
            if not isinstance(row, Mapping):
                raise InputError(
                    f"{where}, {name}, {number}: expected an object, not {short_repr(row)}"
                )
            yield f"{name}-{number}", row, f"{where}, {name}, {number}"


def reliability_items(source: Source) -> tuple[records.Item, ...]:
    """The 55 questions of the study with the five answers that its judges saw.

    Parameters
    ----------
    source : Source
        ``{"bbh:task": {"type", "prompt", "model_responses": {model: text}}}``; of MT-Bench the
        prompt is two turns, and the answers are to the second.

    Returns
    -------
    tuple of Item
        The category is the benchmark.

    Raises
    ------
    InputError
        If a field is missing or of the wrong type.
    """
    items = []
    for name, entry in (source.document or {}).items():
        where = f"{source.name}, {short_repr(name)}"
        if not isinstance(entry, Mapping) or entry.get("type") not in BENCHMARK_OF:
            raise InputError(f"{where}: 'type' must be one of {', '.join(BENCHMARK_OF)}.")
        answers = entry.get("model_responses")
        if not isinstance(answers, Mapping) or not answers:
            raise InputError(f"{where}: 'model_responses' must name models and their answers.")
        prompt = entry.get("prompt")
        listed = prompt if isinstance(prompt, list) else [prompt]
        turns = tuple(records.as_text(t, f"{where}: 'prompt'") for t in listed)
        context = ""
        if entry["type"] == "squad" and (passage := _PASSAGE.fullmatch(turns[-1])):
            context, turns = passage[1], (passage[2],)
        items.append(
            records.Item(
                id=str(name),
                cluster=str(name),
                turns=turns,
                context=context,
                responses=tuple(
                    records.Response(
                        turns=(records.as_text(text, f"{where}: {model}", empty_ok=True),),
                        author=str(model),
                    )
                    for model, text in answers.items()
                ),
                category=BENCHMARK_OF[entry["type"]],
                published={"type": entry["type"], "prompt": prompt},
            )
        )
    return records.check_items(items, where=source.name)


_BOTH_TURNS = (1, 2)


def is_mt_bench_folder(path: Path) -> bool:
    """Whether a folder holds ``question.jsonl`` and ``model_answer/``."""
    return (path / "question.jsonl").is_file() and (path / "model_answer").is_dir()


def mt_bench_items(
    folder: str | Path,
    *,
    models: Iterable[str] | None = None,
    turn: int | None = None,
) -> tuple[records.Item, ...]:
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

    Returns
    -------
    tuple of Item
        One per question, in the order of the question file; a response's author is the file's name.
        A response without text is kept: the model said nothing.

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
    answers = _model_answers(folder / "model_answer", models)
    reference = _reference_answers(folder)
    items = []
    for row in read_source(folder / "question.jsonl").rows:
        question_id = as_name(_field(row, "question_id"), f"{row.where}: 'question_id'")
        turns = records.as_turns(_field(row, "turns"), f"{row.where}: 'turns'")
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
            responses.append(records.Response(turns=answers_given, author=model))
        given = row.values.get("reference") or ()
        reference_turns = reference.get(question_id) or (
            records.as_turns(given, f"{row.where}: 'reference'", empty_ok=True) if given else ()
        )
        items.append(
            records.Item(
                id=f"{question_id}-turn{turn}",
                cluster=question_id,
                turns=turns[:turn],
                responses=tuple(responses),
                reference=reference_turns[:turn],
                category=str(row.values.get("category") or ""),
            )
        )
    return records.check_items(items, where="mt_bench_items")


def _field(row: Row, name: str) -> Any:
    if name not in row.values:
        raise InputError(
            f"{row.where}: the field {name!r} is missing; it has "
            f"{short_repr(list(row.values), 200)}."
        )
    return row.values[name]


def _model_answers(
    folder: Path, models: Iterable[str] | None
) -> dict[str, dict[str, tuple[str, ...]]]:
    """Model (file's name) -> question id -> the turns of its first choice."""
    answers: dict[str, dict[str, tuple[str, ...]]] = {}
    file_of: dict[str, str] = {}
    for path in sorted(folder.glob("*.jsonl")):
        rows = read_source(path).rows
        answers[path.stem] = _answers(rows)
        file_of[path.stem] = path.stem
        file_of.setdefault(str(rows[0].values.get("model_id", path.stem)), path.stem)
    if not answers:
        raise InputError("mt_bench_items: model_answer holds no .jsonl file. Give one per model.")
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


def _answers(rows: Iterable[Row]) -> dict[str, tuple[str, ...]]:
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
        answers[question_id] = records.as_turns(
            choices[0]["turns"], f"{row.where}: 'turns'", empty_ok=True
        )
    return answers


def _reference_answers(folder: Path) -> dict[str, tuple[str, ...]]:
    """Question id -> reference turns, from the first reference file there is (by name)."""
    paths = sorted(folder.glob("reference_answer*.jsonl"))
    paths += sorted((folder / "reference_answer").glob("*.jsonl"))
    return _answers(read_source(paths[0]).rows) if paths else {}


def human_judgment_items(
    source: Source,
    *,
    models: Iterable[str] | None = None,
    turn: int | None = None,
) -> tuple[records.Item, ...]:
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

    Returns
    -------
    tuple of Item
        One per question and turn, with every answer that was judged and every judgment as a label
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
    responses: dict[tuple[str, int], dict[records.Response, int]] = {}
    labels: dict[tuple[str, int], list[records.HumanLabel]] = {}
    for row in source.rows:
        judged = _parse_turn(row)
        names = [as_name(_field(row, f"model_{s}"), f"{row.where}: 'model_{s}'") for s in "ab"]
        if (turn is not None and judged != turn) or (keep is not None and not keep >= set(names)):
            continue
        question_id = as_name(_field(row, "question_id"), f"{row.where}: 'question_id'")
        key = (question_id, judged)
        index = []
        for side, name in zip("ab", names, strict=True):
            asked, turns = _conversation(row, f"conversation_{side}", judged)
            if questions.setdefault(key, asked) != asked:
                raise InputError(
                    f"{row.where}: question {question_id} is worded differently from before. "
                    "Give different questions different ids."
                )
            seen = responses.setdefault(key, {})
            index.append(seen.setdefault(records.Response(turns=turns, author=name), len(seen)))
        if index[0] == index[1]:
            continue  # an answer compared with itself says nothing
        labels.setdefault(key, []).append(
            records.HumanLabel(
                annotator=_annotator(row),
                a=index[0],
                b=index[1],
                winner=read_winner(_field(row, "winner"), f"{row.where}: 'winner'"),
                turn=judged,
            )
        )
    items = (
        records.Item(
            id=f"{key[0]}-turn{key[1]}",
            cluster=key[0],
            turns=asked,
            responses=tuple(responses[key]),
            labels=tuple(labels.get(key, ())),
        )
        for key, asked in questions.items()
    )
    return records.check_items(items, where=source.name)


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


def _conversation(row: Row, field: str, n_turns: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
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
        records.as_turns(turns["user"][:n_turns], what),
        records.as_turns(turns["assistant"][:n_turns], what, empty_ok=True),
    )
