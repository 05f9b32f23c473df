"""Any file of questions and responses as items: `read_items` finds out which layout it has."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from judgestats.errors import InputError, StoreError
from judgestats.items import preference_sets, question_sets
from judgestats.items.records import (
    MAX_CHARS,
    Item,
    check_items,
    item_from_record,
    item_to_record,
    longest_text,
    short_repr,
)
from judgestats.items.tables import Source, is_folder, parse_mapping, read_source, table_items


@dataclass(frozen=True, kw_only=True)
class Options:
    """What the caller of `read_items` asked for; None or False if nothing was."""

    mapping: Mapping[str, str] | None = None
    models: tuple[str, ...] | None = None
    cut: int | None = None
    turn: int | None = None
    ties: str = "keep"
    empty_ok: bool = False
    questions: bool = False


@dataclass(frozen=True, kw_only=True)
class Layout:
    """One layout of files: how it is recognised, read, and which options it understands.

    `whole` layouts are one JSON object, all others rows.
    """

    about: str
    fits: Callable[[Source], bool]
    load: Callable[[Source, Options], tuple[Item, ...]]
    options: tuple[str, ...] = ()
    whole: bool = False


def _has(*needed: str) -> Callable[[Source], bool]:
    """Whether the first row has all of these fields (rows may differ; the loader checks each)."""
    return lambda source: bool(source.rows) and set(needed) <= set(source.rows[0].values)


def _own(source: Source, options: Options) -> tuple[Item, ...]:
    items = (
        item_from_record(row.values, where=row.where, empty_ok=options.empty_ok)
        for row in source.rows
    )
    return check_items(items, where=source.name, need_responses=not options.questions)


def _is_own(source: Source) -> bool:
    """Own layout: every response is an object with `turns`."""
    if not _has("id", "turns", "responses")(source):
        return False
    responses = source.rows[0].values["responses"]
    return isinstance(responses, list) and all(
        isinstance(response, Mapping) and "turns" in response for response in responses
    )


def _is_evalbias(source: Source) -> bool:
    return bool(source.document) and all(
        isinstance(records, list)
        and records
        and isinstance(records[0], Mapping)
        and {"instruction", "response1", "response2"} <= set(records[0])
        for records in (source.document or {}).values()
    )


def _answers_by_model(*fields: str) -> Callable[[Source], bool]:
    """Whether the document has objects with these fields."""
    return lambda source: any(
        isinstance(entry, Mapping) and set(fields) <= set(entry)
        for entry in (source.document or {}).values()
    )


LAYOUTS: Mapping[str, Layout] = {
    "judgestats": Layout(
        about="judgestats' own: one item per line with id, turns, responses (as write_items "
        "writes)",
        fits=_is_own,
        load=_own,
        options=("empty_ok", "ties"),
    ),
    "mt_bench_human": Layout(
        about="MT-Bench human judgments: question_id, model_a, model_b, winner, judge, "
        "conversation_a, conversation_b, turn",
        fits=_has("question_id", "model_a", "model_b", "winner", "conversation_a"),
        load=lambda s, o: question_sets.human_judgment_items(s, models=o.models, turn=o.turn),
        options=("models", "turn", "ties"),
    ),
    "rewardbench": Layout(
        about="RewardBench: prompt, chosen, rejected, subset",
        fits=_has("prompt", "chosen", "rejected"),
        load=lambda s, _: preference_sets.rewardbench_items(s),
    ),
    "helpsteer2": Layout(
        about="HelpSteer2: prompt, response and five attributes; the preference follows from them",
        fits=_has("prompt", "response", "helpfulness", "correctness", "coherence"),
        load=lambda s, _: preference_sets.helpsteer2_items(s),
        options=("ties",),
    ),
    "judgebench": Layout(
        about="JudgeBench: question, response_A, response_B, label A>B or B>A",
        fits=_has("question", "response_A", "response_B", "label"),
        load=lambda s, _: preference_sets.judgebench_items(s),
    ),
    "evalbias": Layout(
        about="EvalBiasBench: type of bias to instruction, response1 (the better one), response2",
        fits=_is_evalbias,
        load=lambda s, _: preference_sets.evalbias_items(s),
        whole=True,
    ),
    "offsetbias": Layout(
        about="OffsetBias: instruction, output_1, output_2, label 1 or 2 (EvalBias's training)",
        fits=_has("instruction", "output_1", "output_2", "label"),
        load=lambda s, _: preference_sets.offsetbias_items(s),
    ),
    "oasst": Layout(
        about="OpenAssistant message trees: prompt with its replies",
        fits=lambda s: _has("prompt")(s) and isinstance(s.rows[0].values["prompt"], Mapping),
        load=lambda s, _: question_sets.oasst_items(s),
    ),
    "bbh": Layout(
        about="BIG-Bench Hard task: examples of input and target (questions without responses)",
        fits=lambda s: "examples" in (s.document or {}),
        load=lambda s, _: question_sets.bbh_items([s]),
        whole=True,
    ),
    "squad": Layout(
        about="SQuAD v1.1: data, paragraphs, qas (questions without responses)",
        fits=lambda s: "data" in (s.document or {}),
        load=lambda s, _: question_sets.squad_items(s),
        whole=True,
    ),
    "head_to_tail": Layout(
        about="arXiv 2412.12509's Head-to-Tail: model to mag and dblp, with true answers",
        fits=_answers_by_model("mag", "dblp"),
        load=lambda s, o: question_sets.head_to_tail_items(s, models=o.models, cut=o.cut),
        options=("models", "cut"),
        whole=True,
    ),
    "llm_reliability": Layout(
        about="arXiv 2412.12509's 55 questions with five answers each",
        fits=_answers_by_model("type", "prompt", "model_responses"),
        load=lambda s, _: question_sets.reliability_items(s),
        whole=True,
    ),
    "table": Layout(
        about="a table with columns for question and response(s), named by a mapping",
        fits=lambda s: bool(s.rows),
        load=lambda s, o: table_items(
            s,
            mapping=o.mapping,
            questions=o.questions,
            empty_ok=o.empty_ok,
        ),
        options=("mapping", "empty_ok", "ties"),
    ),
}
"""The layouts of files, the most special first; the first that fits is taken. A folder is
MT-Bench's, or one of BIG-Bench Hard tasks."""


def read_items(
    path: str | Path,
    *,
    mapping: Mapping[str, str] | str | None = None,
    layout: str | None = None,
    models: Iterable[str] | None = None,
    cut: int | None = None,
    turn: int | None = None,
    ties: str = "keep",
    empty_ok: bool = False,
    questions: bool = False,
    max_chars: int = MAX_CHARS,
) -> tuple[Item, ...]:
    """The items in a file or folder, whatever its layout.

    Parameters
    ----------
    path : str or Path
        A ``.jsonl``, ``.json``, ``.csv``, ``.tsv`` or ``.parquet`` file (each also ``.gz``), or a
        folder in FastChat's MT-Bench layout or of BIG-Bench Hard tasks.
    mapping : mapping or str, optional
        Field to column, as ``{"question": "prompt_text"}`` or ``"question=prompt_text"``. Giving
        one means that the file is a table. `judgestats.items.tables.FIELDS` has the fields, and
        the names that are understood without a mapping.
    layout : str, optional
        One of `LAYOUTS` (or ``"mt_bench"`` for its folder), instead of finding out.
    models : iterable of str, optional
        MT-Bench and Head-to-Tail only: whose answers.
    cut : int, optional
        Head-to-Tail only: this many characters of an answer (the study's script shows judges 15).
    turn : {1, 2}, optional
        MT-Bench only: which turn is judged (folder: 1 by default; human judgments: both).
    ties : {"keep", "drop"}
        Layouts with labels that may call a tie: ``"drop"`` leaves those labels out, and items of
        which every label was a tie.
    empty_ok : bool
        Tables and own layout: keep empty responses, as those of a model that said nothing.
        Published sets keep them anyway.
    questions : bool
        Whether a file may hold questions only, which models answer before anything is judged.
    max_chars : int
        Longest text allowed, in characters.

    Returns
    -------
    tuple of Item

    Raises
    ------
    InputError
        With the file, the line and what to do: no such file, unknown ending, empty or damaged file,
        bad JSON line, missing column, wrong type, empty text, duplicate id, too long a text, an
        option that the layout does not understand.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name) / "mine.csv"
    >>> _ = path.write_text("prompt_text,answer\\nWhy?,Because.\\nWhy?,No idea.\\n")
    >>> items = read_items(path, mapping="question=prompt_text")
    >>> [(item.id, item.cluster, item.responses[0].text) for item in items]
    [('row-1', 'row-1', 'Because.'), ('row-2', 'row-1', 'No idea.')]
    >>> folder.cleanup()
    """
    if isinstance(mapping, str):
        mapping = parse_mapping(mapping)
    options = Options(
        mapping=mapping or None,
        models=(models,) if isinstance(models, str) else None if models is None else tuple(models),
        cut=cut,
        turn=turn,
        ties=ties,
        empty_ok=empty_ok,
        questions=questions,
    )
    if ties not in ("keep", "drop"):
        raise InputError(f"read_items: ties must be keep or drop, not {short_repr(ties)}.")
    if layout is not None and layout != "mt_bench" and layout not in LAYOUTS:
        raise InputError(
            f"read_items: there is no layout {short_repr(layout)}. Choose one of mt_bench, "
            f"{', '.join(LAYOUTS)}, or leave it out."
        )
    with longest_text(max_chars):
        items = _read(Path(path), options, layout)
    return preference_sets.drop_ties(items) if ties == "drop" else items


def _read(path: Path, options: Options, layout: str | None) -> tuple[Item, ...]:
    if is_folder(path):
        return _read_folder(path, options, layout)
    if layout == "mt_bench":
        raise InputError(f"read_items: the layout mt_bench is a folder, but {path} is a file.")
    source = read_source(path)
    name = layout or _find_layout(source, mapped=options.mapping is not None)
    _refuse_other_form(source, name)
    _refuse_unused(options, name, LAYOUTS[name].options)
    return LAYOUTS[name].load(source, options)


def _find_layout(source: Source, *, mapped: bool) -> str:
    if mapped:
        if source.document is not None:
            raise InputError(
                f"{source.name}: a mapping needs a table, but the file holds one JSON object with "
                f"{short_repr(list(source.document), 200)}. Give a list of objects, or JSONL."
            )
        return "table"
    for name, layout in LAYOUTS.items():
        if layout.fits(source):
            return name
    raise InputError(
        f"{source.name}: the layout is not known; the file holds one JSON object with "
        f"{short_repr(list(source.document or {}), 200)}. Give a list of objects (or JSONL) with a "
        "question and a response each, and a mapping where the names are your own."
    )


def _refuse_other_form(source: Source, name: str) -> None:
    """A file that cannot have the layout that was stated for it."""
    is_whole = source.document is not None
    if is_whole != LAYOUTS[name].whole:
        holds = f"one object with {short_repr(list(source.document or {}), 120)}"
        raise InputError(
            f"{source.name} is not in the layout {name} ({LAYOUTS[name].about}): it holds "
            f"{holds if is_whole else f'rows with {short_repr(list(source.columns), 120)}'}. Leave "
            "the layout out to have it found, or give another file."
        )


def _read_folder(path: Path, options: Options, layout: str | None) -> tuple[Item, ...]:
    layout_name = "mt_bench" if question_sets.is_mt_bench_folder(path) else "bbh"
    if layout not in (None, layout_name):
        raise InputError(
            f"read_items: {str(path)!r} is a folder"
            + (
                f", and a file is in the layout {layout}. Give the file."
                if layout not in ("mt_bench", "bbh")
                else f" that is not in the layout {layout}: there must be question.jsonl and "
                "model_answer/*.jsonl (mt_bench) or tasks as *.json (bbh)."
            )
        )
    if layout_name == "mt_bench":
        _refuse_unused(options, "mt_bench", ("models", "turn"))
        return question_sets.mt_bench_items(path, models=options.models, turn=options.turn)
    tasks = sorted(path.glob("*.json"))
    if not tasks:
        raise InputError(
            f"read_items: the folder {str(path)!r} holds neither MT-Bench in FastChat's layout "
            "(question.jsonl and model_answer/*.jsonl) nor BIG-Bench Hard tasks (*.json). Give a "
            "file, or another folder."
        )
    _refuse_unused(options, "bbh", ())
    return question_sets.bbh_items([read_source(task) for task in tasks])


def _refuse_unused(options: Options, name: str, understood: tuple[str, ...]) -> None:
    """An option that would be ignored is an error: the caller believes that it has an effect."""
    for field in fields(options):
        if field.name == "questions" or field.name in understood:
            continue
        if getattr(options, field.name) != field.default:
            raise InputError(
                f"read_items: {field.name} has no effect on the layout {name} "
                f"({'it understands ' + ', '.join(understood) if understood else 'no options'}). "
                "Leave it out, or say another layout."
            )


def write_items(items: Iterable[Item], path: str | Path) -> None:
    """Write items to a ``.jsonl`` file in judgestats' own layout; `read_items` reads them back.

    Parameters
    ----------
    items : iterable of Item
    path : str or Path
        A file whose name ends in ``.jsonl``; replaced if it is there.

    Raises
    ------
    InputError
        If the ending is another one, or the items are not usable (none, or an id twice).
    StoreError
        If the file cannot be written.
    """
    path = Path(path)
    if path.suffix.lower() != ".jsonl":
        raise InputError(f"write_items: the name must end in .jsonl, not {short_repr(path.name)}.")
    checked = check_items(items, where="write_items", need_responses=False)
    lines = (json.dumps(item_to_record(item), ensure_ascii=False) for item in checked)
    text = "".join(f"{line}\n" for line in lines)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise StoreError(f"write_items: {str(path)!r} cannot be written ({error}).") from error
