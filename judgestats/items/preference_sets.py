"""Published sets of response pairs with a known better one: one loader each.

All keep the order of the file, in which the better response often stands first; a protocol that
shows both orders, or balances them, keeps this from a judge.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from types import MappingProxyType
from typing import Any

from judgestats.errors import InputError
from judgestats.items.files import Row, Source
from judgestats.items.records import MAX_CHARS, as_text, check_items, shown
from judgestats.items.schema import HumanLabel, Item, Response
from judgestats.items.tables import as_name, read_winner

GOLD = "gold"
"""The annotator's name of labels that a set declares to be right."""

HELPSTEER_WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "helpfulness": 0.65,
        "correctness": 0.80,
        "coherence": 0.45,
        "complexity": 0.55,
        "verbosity": -0.40,
    }
)
"""Weights by which HelpSteer2's authors turn the five attributes into one reward (arXiv 2406.08673,
their Llama 3 70B reward model)."""


_TURN_MARK = re.compile(r"\s*<extra_id_1>(Assistant|User)\n")


def _text(row: Row, name: str, *, empty_ok: bool = False, max_chars: int = MAX_CHARS) -> str:
    if name not in row.values:
        raise InputError(
            f"{row.where}: the field {name!r} is missing; it has {shown(list(row.values), 200)}."
        )
    return as_text(
        row.values[name], f"{row.where}: {name!r}", empty_ok=empty_ok, max_chars=max_chars
    )


def _optional_name(row: Row, name: str, default: str = "") -> str:
    value = row.values.get(name)
    return default if value in (None, "") else as_name(value, f"{row.where}: {name!r}")


def rewardbench_items(source: Source, *, max_chars: int = MAX_CHARS) -> tuple[Item, ...]:
    """RewardBench: rows with ``prompt, chosen, rejected, subset`` and, where given, ids and models.

    Also understands RewardBench 2, where `chosen` and `rejected` are lists: every chosen response
    is labelled better than every rejected one.

    Parameters
    ----------
    source : Source
    max_chars : int
        Longest text allowed, in characters.

    Returns
    -------
    tuple of Item
        Chosen responses first, then rejected ones; the category is the subset, labels are by
        ``"gold"``. Ids are ``<subset>/<id>`` (an id alone is not unique in RewardBench 2).

    Raises
    ------
    InputError
        If a field is missing, of the wrong type or empty.
    """
    items = []
    cluster_of: dict[str, str] = {}
    for number, row in enumerate(source.rows, start=1):
        subset = _optional_name(row, "subset")
        name = _optional_name(row, "id", f"row-{number}")
        item_id = f"{subset}/{name}" if subset else name
        prompt = _text(row, "prompt", max_chars=max_chars)
        chosen = _responses(row, "chosen", _models(row, "chosen_model"), max_chars)
        rejected = _responses(row, "rejected", _models(row, "rejected_model"), max_chars)
        # RewardBench 2 names the authors of all its completions together, or one for them all.
        authors = _models(row, "models")
        if len(authors) in {1, len(chosen) + len(rejected)}:
            chosen = _named(chosen, authors[: len(chosen)] if len(authors) > 1 else authors)
            rejected = _named(rejected, authors[len(chosen) :] if len(authors) > 1 else authors)
        items.append(
            Item(
                id=item_id,
                cluster=cluster_of.setdefault(prompt, item_id),
                turns=(prompt,),
                responses=chosen + rejected,
                category=subset,
                labels=tuple(
                    HumanLabel(annotator=GOLD, a=a, b=len(chosen) + b, winner="a")
                    for a in range(len(chosen))
                    for b in range(len(rejected))
                ),
            )
        )
    return check_items(items, where=source.name)


def _named(responses: tuple[Response, ...], authors: tuple[str, ...]) -> tuple[Response, ...]:
    names = authors * len(responses) if len(authors) == 1 else authors
    return tuple(
        replace(response, author=response.author or name)
        for response, name in zip(responses, names, strict=True)
    )


def _models(row: Row, name: str) -> tuple[str, ...]:
    value = row.values.get(name) or ()
    entries = value if isinstance(value, Sequence) and not isinstance(value, str) else (value,)
    return tuple(str(entry) for entry in entries)


def _responses(
    row: Row, field: str, authors: tuple[str, ...], max_chars: int
) -> tuple[Response, ...]:
    value = row.values.get(field)
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, Sequence) or not texts:
        raise InputError(
            f"{row.where}: {field!r} must be a text or a list of texts, not {shown(value)}."
        )
    names = authors if len(authors) == len(texts) else ("",) * len(texts)
    what = f"{row.where}: {field!r}"
    return tuple(
        Response(turns=(as_text(text, what, empty_ok=True, max_chars=max_chars),), author=name)
        for text, name in zip(texts, names, strict=True)
    )


def helpsteer2_items(
    source: Source, *, preference: str | None = None, max_chars: int = MAX_CHARS
) -> tuple[Item, ...]:
    """HelpSteer2: the responses to a prompt, with the preference that their ratings imply.

    Parameters
    ----------
    source : Source
        Rows with ``prompt, response, helpfulness, correctness, coherence, complexity, verbosity``
        (each 0-4); rows with the same prompt belong together (two a prompt in the published set).
    preference : str, optional
        What decides: one of the five attributes (``"helpfulness"`` by default), or ``"weighted"``,
        their sum by `HELPSTEER_WEIGHTS`. Equal values are a tie.
    max_chars : int
        Longest text allowed, in characters.

    Returns
    -------
    tuple of Item
        One a prompt, with a label by ``"ratings"`` for every pair of its responses. Prompts with
        one response only are left out: nothing can be compared. A prompt that holds earlier turns
        (marked ``<extra_id_1>User`` and ``<extra_id_1>Assistant`` in the published file) becomes an
        item of several turns.

    Raises
    ------
    InputError
        If `preference` is unknown, or a field is missing or of the wrong type.
    """
    rule = preference or "helpfulness"
    if rule != "weighted" and rule not in HELPSTEER_WEIGHTS:
        raise InputError(
            f"helpsteer2_items: preference must be one of {', '.join(HELPSTEER_WEIGHTS)} or "
            f"weighted, not {shown(rule)}."
        )
    weights = HELPSTEER_WEIGHTS if rule == "weighted" else {rule: 1.0}
    rated: dict[str, list[tuple[Response, float]]] = {}
    for row in source.rows:
        answer = _text(row, "response", empty_ok=True, max_chars=max_chars)
        value = sum(w * _rating(row, name) for name, w in weights.items())
        prompt = _text(row, "prompt", max_chars=max_chars)
        _, earlier = _conversation_turns(prompt)
        rated.setdefault(prompt, []).append((Response(turns=(*earlier, answer)), value))
    items = []
    for number, (prompt, entries) in enumerate(rated.items(), start=1):
        if len(entries) < 2:
            continue
        labels = tuple(
            HumanLabel(annotator="ratings", a=a, b=b, winner=_higher(entries[a][1], entries[b][1]))
            for a, b in combinations(range(len(entries)), 2)
        )
        name = f"prompt-{number}"
        items.append(
            Item(
                id=name,
                cluster=name,
                turns=_conversation_turns(prompt)[0],
                responses=tuple(response for response, _ in entries),
                labels=labels,
            )
        )
    return check_items(items, where=source.name)


def _conversation_turns(prompt: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The user's turns in a HelpSteer2 prompt, and the assistant's earlier answers between them.

    A prompt in which the marks do not alternate from user to user stays one text.
    """
    first, *rest = _TURN_MARK.split(prompt)
    roles, texts = rest[::2], [first.strip(), *(text.strip() for text in rest[1::2])]
    alternating = ["Assistant", "User"] * (len(roles) // 2)
    if not roles or roles != alternating or not all(texts):
        return (prompt,), ()
    return tuple(texts[::2]), tuple(texts[1::2])


def _rating(row: Row, name: str) -> float:
    value = row.values.get(name)
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"{row.where}: {name!r} must be a number, not {shown(value)}.")
    return number


def _higher(a: float, b: float) -> str:
    if abs(a - b) < 1e-9:  # sums of weights differ by rounding only
        return "tie"
    return "a" if a > b else "b"


def judgebench_items(source: Source, *, max_chars: int = MAX_CHARS) -> tuple[Item, ...]:
    """JudgeBench: pairs in which one answer is objectively correct.

    Parameters
    ----------
    source : Source
        Rows with ``pair_id, source, question, response_A, response_B`` and `label`, ``"A>B"`` or
        ``"B>A"``; all answers of a row are by `response_model`.
    max_chars : int
        Longest text allowed, in characters.

    Returns
    -------
    tuple of Item
        The category is `source` (``mmlu-pro-physics``, ``livebench-math`` ...).

    Raises
    ------
    InputError
        If a field is missing or of the wrong type, or a label is neither.
    """
    items = []
    cluster_of: dict[str, str] = {}
    for number, row in enumerate(source.rows, start=1):
        label = str(row.values.get("label")).replace(" ", "")
        if label not in ("A>B", "B>A"):
            raise InputError(f"{row.where}: 'label' must be A>B or B>A, not {shown(label)}.")
        question = _text(row, "question", max_chars=max_chars)
        item_id = _optional_name(row, "pair_id", f"row-{number}")
        author = _optional_name(row, "response_model")
        items.append(
            Item(
                id=item_id,
                cluster=cluster_of.setdefault(question, item_id),
                turns=(question,),
                responses=tuple(
                    Response(
                        turns=(_text(row, name, empty_ok=True, max_chars=max_chars),),
                        author=author,
                    )
                    for name in ("response_A", "response_B")
                ),
                category=_optional_name(row, "source"),
                labels=(HumanLabel(annotator=GOLD, a=0, b=1, winner=label[0].lower()),),
            )
        )
    return check_items(items, where=source.name)


def evalbias_items(source: Source, *, max_chars: int = MAX_CHARS) -> tuple[Item, ...]:
    """EvalBiasBench: pairs by type of bias; `response1` is the better one.

    Parameters
    ----------
    source : Source
        One object: type of bias to a list of ``{"instruction", "response1", "response2",
        "label"}``, where `label` is the number of the better response (always 1 in the published
        file).
    max_chars : int
        Longest text allowed, in characters.

    Returns
    -------
    tuple of Item
        The category is the type of bias.

    Raises
    ------
    InputError
        If a field is missing or of the wrong type.
    """
    items = []
    cluster_of: dict[str, str] = {}
    for bias, records in (source.document or {}).items():
        if not isinstance(records, Sequence) or isinstance(records, str):
            raise InputError(f"{source.name}: {bias!r} must be a list, not {shown(records)}.")
        for number, record in enumerate(records, start=1):
            row = _row(source, record, f"{bias}, record {number}")
            instruction = _text(row, "instruction", max_chars=max_chars)
            item_id = f"{bias.replace(' ', '_')}-{number}"
            winner = read_winner(row.values.get("label", 1), f"{row.where}: 'label'")
            items.append(
                Item(
                    id=item_id,
                    cluster=cluster_of.setdefault(instruction, item_id),
                    turns=(instruction,),
                    responses=_two_responses(row, max_chars),
                    category=bias,
                    labels=(HumanLabel(annotator=GOLD, a=0, b=1, winner=winner),),
                )
            )
    return check_items(items, where=source.name)


def _row(source: Source, record: Any, where: str) -> Row:
    if not isinstance(record, Mapping):
        raise InputError(f"{source.name}, {where} must be an object, not {shown(record)}.")
    return Row(where=f"{source.name}, {where}", values=record)


def _two_responses(
    row: Row, max_chars: int, authors: tuple[str, str] = ("", "")
) -> tuple[Response, ...]:
    return tuple(
        Response(turns=(_text(row, name, empty_ok=True, max_chars=max_chars),), author=author)
        for name, author in zip(("response1", "response2"), authors, strict=True)
    )


def _scalar_text(value: Any) -> Any:
    return str(value) if isinstance(value, bool | int | float) else value


def pandalm_items(source: Source, *, max_chars: int = MAX_CHARS) -> tuple[Item, ...]:
    """PandaLM's test set: pairs with three human annotators.

    Parameters
    ----------
    source : Source
        Rows with ``idx, instruction, input, response1, response2, cmp_key`` and ``annotator1`` to
        ``annotator3`` (0 tie, 1, 2).
    max_chars : int
        Longest text allowed, in characters.

    Returns
    -------
    tuple of Item
        `input` is the context, `cmp_key` (``<model>_<model>``) gives the authors, the category is
        `motivation_app`. Pairs with the same instruction and input share a cluster. A response that
        the file holds as a number or truth value is read as its text.

    Raises
    ------
    InputError
        If a field is missing or of the wrong type.
    """
    items = []
    cluster_of: dict[tuple[str, str], str] = {}
    for number, given in enumerate(source.rows, start=1):
        # The published file has `true` where a model answered "True": it went through YAML.
        row = Row(where=given.where, values={k: _scalar_text(v) for k, v in given.values.items()})
        instruction = _text(row, "instruction", empty_ok=True, max_chars=max_chars)
        context = as_text(
            row.values.get("input") or "",
            f"{row.where}: 'input'",
            empty_ok=True,
            max_chars=max_chars,
        )
        if not instruction.strip():  # the published file has such records: the input is the task
            instruction, context = as_text(context, f"{row.where}: 'input'"), ""
        item_id = _optional_name(row, "idx", f"row-{number}")
        names = _optional_name(row, "cmp_key").split("_")
        labels = tuple(
            HumanLabel(
                annotator=field,
                a=0,
                b=1,
                winner=read_winner(row.values[field], f"{row.where}: {field!r}"),
            )
            for field in ("annotator1", "annotator2", "annotator3")
            if row.values.get(field) is not None
        )
        items.append(
            Item(
                id=item_id,
                cluster=cluster_of.setdefault((instruction, context), item_id),
                turns=(instruction,),
                context=context,
                responses=_two_responses(
                    row, max_chars, (names[0], names[1]) if len(names) == 2 else ("", "")
                ),
                category=_optional_name(row, "motivation_app"),
                labels=labels,
            )
        )
    return check_items(items, where=source.name)
