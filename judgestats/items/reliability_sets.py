"""What the judges of arXiv 2412.12509 saw: its authors' public files of questions and answers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from judgestats.errors import InputError
from judgestats.items.files import Source
from judgestats.items.records import MAX_CHARS, as_text, check_items, shown
from judgestats.items.schema import Item, Response
from judgestats.items.tables import as_name

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
            f"{source.name}: there are no answers by {shown(unknown[0])}; the file has "
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
        raise InputError(f"{where}: expected lists of answers by source, not {shown(parts)}.")
    for name, rows in parts.items():
        for number, row in enumerate(rows, start=1):
            if not isinstance(row, Mapping):
                raise InputError(f"{where}, {name}, {number}: expected an object, not {shown(row)}")
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
        where = f"{source.name}, {shown(name)}"
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
