"""Published sets of questions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from judgestats.errors import InputError
from judgestats.items.files import Row, Source
from judgestats.items.records import (
    MAX_CHARS,
    HumanLabel,
    Item,
    Response,
    as_text,
    check_items,
    short_repr,
)
from judgestats.items.tables import as_name


def _get(value: object, key: str, where: str) -> Any:
    if not isinstance(value, Mapping) or key not in value:
        raise InputError(f"{where}: the field {key!r} is missing in {short_repr(value)}.")
    return value[key]


def _text(value: object, key: str, where: str, max_chars: int, *, empty_ok: bool = False) -> str:
    text = _get(value, key, where)
    return as_text(text, f"{where}: {key!r}", empty_ok=empty_ok, max_chars=max_chars)


def _list(value: object, key: str, where: str) -> Sequence[Any]:
    entries = _get(value, key, where)
    if not isinstance(entries, Sequence) or isinstance(entries, str | bytes):
        raise InputError(f"{where}: {key!r} must be a list, not {short_repr(entries)}.")
    return entries


def bbh_items(sources: Iterable[Source], *, max_chars: int = MAX_CHARS) -> tuple[Item, ...]:
    """BIG-Bench Hard tasks: questions with a reference answer, to be answered by models.

    Parameters
    ----------
    sources : iterable of Source
        One a task: ``{"examples": [{"input", "target"}]}``; the task is the file's name.
    max_chars : int
        Longest text allowed, in characters.

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
            question = _text(example, "input", where, max_chars)
            target = as_name(_get(example, "target", where), f"{where}: 'target'")
            items.append(
                Item(
                    id=name, cluster=name, turns=(question,), responses=(), reference=(target,),
                    category=task,
                )
            )  # fmt: skip
    return check_items(items, where="bbh_items", need_responses=False)


def squad_items(source: Source, *, max_chars: int = MAX_CHARS) -> tuple[Item, ...]:
    """SQuAD v1.1: questions on a passage, to be answered by models.

    Parameters
    ----------
    source : Source
        ``{"data": [{"title", "paragraphs": [{"context", "qas": [{"id", "question",
        "answers": [{"text"}]}]}]}]}``.
    max_chars : int
        Longest text allowed, in characters.

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
            context = _text(paragraph, "context", where, max_chars)
            for entry in _list(paragraph, "qas", where):
                answers = _list(entry, "answers", where)
                items.append(
                    Item(
                        id=as_name(_get(entry, "id", where), f"{where}: 'id'"),
                        cluster=f"{title}/{number}",
                        turns=(_text(entry, "question", where, max_chars).strip(),),
                        responses=(),
                        context=context,
                        reference=tuple(
                            as_name(_get(answer, "text", where), f"{where}: 'text'")
                            for answer in answers[:1]
                        ),
                        category=title,
                    )
                )
    return check_items(items, where=source.name, need_responses=False)


def oasst_items(source: Source, *, max_chars: int = MAX_CHARS) -> tuple[Item, ...]:
    """OpenAssistant's message trees: first prompts with their several replies.

    Parameters
    ----------
    source : Source
        Rows ``{"message_tree_id", "prompt": {"text", "lang", "replies": [{"text", "rank"}]}}``.
    max_chars : int
        Longest text allowed, in characters.

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
            Item(
                id=tree,
                cluster=tree,
                turns=(_text(prompt, "text", row.where, max_chars),),
                responses=tuple(
                    Response(
                        turns=(_text(r, "text", f"{row.where}, a reply", max_chars, empty_ok=True),)
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
    return check_items(items, where=source.name)


def _tree_id(row: Row, prompt: Mapping[str, Any]) -> Any:
    return row.values.get("message_tree_id") or prompt.get("message_id") or row.where


def _labels_from_ranks(ranks: list[Any]) -> tuple[HumanLabel, ...]:
    labels = []
    for a, b in combinations(range(len(ranks)), 2):
        first, second = ranks[a], ranks[b]
        if not isinstance(first, int | float) or not isinstance(second, int | float):
            continue  # unranked replies are compared by nobody
        winner = "tie" if first == second else "a" if first < second else "b"
        labels.append(HumanLabel(annotator="ranking", a=a, b=b, winner=winner))
    return tuple(labels)


BENCHMARK_OF: Mapping[str, str] = {"bbh": "BBH", "squad": "SQuAD", "mtb": "MT-Bench"}
"""The authors' names of their benchmarks, and the paper's."""

_PASSAGE = re.compile(r"\s*Context: (.*?)\s*\n\s*Question: (.*?)\s*(?:\n\s*Answer:\s*)?", re.DOTALL)


def head_to_tail_items(
    source: Source,
    *,
    models: Iterable[str] | None = None,
    cut: int | None = None,
    max_chars: int = MAX_CHARS,
) -> tuple[Item, ...]:
    """Head questions of Head-to-Tail's academic domain, with true and models' answers.

    Parameters
    ----------
    source : Source
        ``{model: {"mag": [{"question", "response", "ground_truth"}], "dblp": [...]}}``.
    models : iterable of str, optional
        Whose answers; all by default.
    cut : int, optional
        Characters of an answer that are kept; the authors' script shows a judge 15.
    max_chars : int
        Longest text allowed, in characters.

    Returns
    -------
    tuple of Item
        One a question; several true answers of one are joined by semicolons.

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
    items: dict[str, Item] = {}
    for model in wanted:
        for item_id, row, where in _rows(document[model], f"{source.name}, {model}"):
            question = as_text(row.get("question"), f"{where}: 'question'", max_chars=max_chars)
            answer = as_text(
                row.get("response"), f"{where}: 'response'", empty_ok=True, max_chars=max_chars
            )
            truth = row.get("ground_truth")
            truths = truth if isinstance(truth, list) else [truth]
            item = items.setdefault(
                item_id,
                Item(
                    id=item_id,
                    cluster=item_id,
                    turns=(question,),
                    responses=(),
                    reference=("; ".join(as_name(t, f"{where}: 'ground_truth'") for t in truths),),
                    category=item_id.partition("-")[0],
                ),
            )
            if item.turns != (question,):
                raise InputError(f"{where}: another model was asked another question here.")
            own = Response(turns=(answer[:cut],), author=model)
            items[item_id] = replace(item, responses=(*item.responses, own))
    return check_items(items.values(), where=source.name)


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


def reliability_items(source: Source, *, max_chars: int = MAX_CHARS) -> tuple[Item, ...]:
    """The 55 questions of the study with the five answers that its judges saw.

    Parameters
    ----------
    source : Source
        ``{"bbh:task": {"type", "prompt", "model_responses": {model: text}}}``; of MT-Bench the
        prompt is two turns, and the answers are to the second.
    max_chars : int
        Longest text allowed, in characters.

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
        turns = tuple(as_text(t, f"{where}: 'prompt'", max_chars=max_chars) for t in listed)
        context = ""
        if entry["type"] == "squad" and (passage := _PASSAGE.fullmatch(turns[-1])):
            context, turns = passage[1], (passage[2],)
        items.append(
            Item(
                id=str(name),
                cluster=str(name),
                turns=turns,
                context=context,
                responses=tuple(
                    Response(
                        turns=(
                            as_text(text, f"{where}: {model}", empty_ok=True, max_chars=max_chars),
                        ),
                        author=str(model),
                    )
                    for model, text in answers.items()
                ),
                category=BENCHMARK_OF[entry["type"]],
            )
        )
    return check_items(items, where=source.name)
