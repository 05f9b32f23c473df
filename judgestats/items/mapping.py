"""Which column of a table holds what: the user's mapping, and customary names where none is given.

A mapping is written ``question=prompt_text,response=answer``: judgestats' field on the left, the
file's column on the right.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from judgestats.errors import InputError
from judgestats.items.records import shown

FIELDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "id": ("id", "item_id", "item", "uid", "idx"),
        "cluster": ("cluster", "question_id", "prompt_id", "group"),
        "question": ("question", "prompt", "instruction", "query", "turns", "input", "user"),
        "response": ("response", "answer", "output", "completion", "text"),
        "responses": ("responses", "answers", "outputs", "completions", "candidates"),
        "response_a": ("response_a", "response1", "response_1", "answer_a", "output_a", "output_1"),
        "response_b": ("response_b", "response2", "response_2", "answer_b", "output_b", "output_2"),
        "author": ("author", "model", "model_id", "generator", "source"),
        "author_a": ("author_a", "model_a", "model1", "model_1"),
        "author_b": ("author_b", "model_b", "model2", "model_2"),
        "context": ("context", "passage", "document", "input"),
        "reference": ("reference", "reference_answer", "gold", "ground_truth", "target"),
        "category": ("category", "task", "subset", "topic"),
        "quality": ("quality",),
        "winner": ("winner", "preference", "label", "human_winner"),
        "annotator": ("annotator", "rater", "human", "judge"),
    }
)
"""The fields of a table row, and for each the column names that are taken for it when the mapping
does not name one; the first that the file has counts."""


def parse_mapping(text: str | None) -> dict[str, str]:
    """A mapping of fields to columns from its command-line form.

    Parameters
    ----------
    text : str or None
        ``"question=prompt_text,response=answer"``; a column's name may hold ``=`` but no comma.

    Returns
    -------
    dict
        Field name to column name; empty for None or an empty text.

    Raises
    ------
    InputError
        If a part is not ``field=column``, a field is unknown, or one is mapped twice.

    Examples
    --------
    >>> parse_mapping("question=prompt_text, response=answer")
    {'question': 'prompt_text', 'response': 'answer'}
    >>> parse_mapping("")
    {}
    """
    mapping: dict[str, str] = {}
    for part in (text or "").split(","):
        if not part.strip():
            continue
        field, equals, column = (piece.strip() for piece in part.partition("="))
        if not (equals and field and column):
            raise InputError(
                f"parse_mapping: {shown(part.strip())} is not of the form field=column. Write for "
                "instance question=prompt_text,response=answer."
            )
        if field in mapping:
            raise InputError(f"parse_mapping: the field {field!r} is mapped twice. Map it once.")
        mapping[field] = column
    _check_fields(mapping)
    return mapping


def _check_fields(mapping: Mapping[str, str]) -> None:
    unknown = [field for field in mapping if field not in FIELDS]
    if unknown:
        raise InputError(
            f"mapping: {shown(unknown[0])} is no field of an item. The fields are "
            f"{', '.join(FIELDS)}; the file's own column name stands right of the equals sign."
        )


def resolve_columns(
    columns: Iterable[str], *, mapping: Mapping[str, str] | None = None, where: str
) -> dict[str, str]:
    """Field to column for one table: the user's mapping, completed by customary names.

    Parameters
    ----------
    columns : iterable of str
        The columns that the file has.
    mapping : mapping, optional
        The user's choice; wins over customary names, and a column it uses is taken for nothing
        else.
    where : str
        The file's name, for messages.

    Returns
    -------
    dict
        Only fields that the file has.

    Raises
    ------
    InputError
        If a mapped column is not in the file.

    Examples
    --------
    >>> resolve_columns(["prompt", "answer", "score"], where="my.csv")
    {'question': 'prompt', 'response': 'answer'}
    """
    present = list(columns)
    chosen = dict(mapping or {})
    _check_fields(chosen)
    for field, column in chosen.items():
        if column not in present:
            raise InputError(
                f"{where}: the mapping asks for column {column!r} as {field!r}, but the file has "
                f"{shown(present, 300)}. Correct the mapping ({field}=...), or the file."
            )
    taken = set(chosen.values())
    for field, names in FIELDS.items():
        if field in chosen:
            continue
        for name in names:
            if name in present and name not in taken:
                chosen[field] = name
                taken.add(name)
                break
    return chosen
