"""Where an experiment's items come from: one source, or several benchmarks with models' answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from judgestats.errors import InputError
from judgestats.experiment.answer_parameters import AnswerParameters, CandidateParameters
from judgestats.experiment.common_parameters import CommonParameters
from judgestats.experiment.pair_parameters import PairParameters
from judgestats.experiment.selection_parameters import BestOfParameters
from judgestats.items.answers import with_answers
from judgestats.items.candidates import draw_candidates
from judgestats.items.labelled import draw_labelled_pairs
from judgestats.items.schema import Item
from judgestats.items.sets import check_there, layout_of, load_items
from judgestats.items.summary import select_items

_BENCHMARKS = {"bbh": "BBH", "squad": "SQuAD", "mt_bench": "MT-Bench", "oasst": "OASST"}


def one_source(parameters: CommonParameters) -> tuple[Item, ...]:
    """The items of ``items=``, at most ``limit=`` of them.

    Parameters
    ----------
    parameters : CommonParameters

    Returns
    -------
    tuple of Item
    """
    return limited(load_items(parameters.items, **_options(parameters)), parameters)


def _options(parameters: CommonParameters) -> dict[str, Any]:
    """How the items are read: ``map=``, ``item_options=``, and whether questions are enough."""
    mapping = {"mapping": parameters.map} if parameters.map else {}
    answered = isinstance(parameters, AnswerParameters) and (
        parameters.answerers or parameters.answers
    )
    questions = {"questions": True} if answered else {}
    return {**mapping, **questions, **parameters.item_options}


def labelled(parameters: PairParameters) -> tuple[Item, ...]:
    """The items of ``items=`` with their labelled pairs only, ``pairs=`` of them.

    Parameters
    ----------
    parameters : CommonParameters

    Returns
    -------
    tuple of Item
    """
    return draw_labelled_pairs(one_source(parameters), limit=parameters.pairs, seed=parameters.seed)


def candidates(parameters: CandidateParameters) -> tuple[Item, ...]:
    """The items of ``items=`` with ``candidates=`` responses each, or with those of ``answers=``.

    Where models answer first (``answerers=``), all their answers are the candidates.

    Parameters
    ----------
    parameters : CommonParameters

    Returns
    -------
    tuple of Item
    """
    items: Sequence[Item] = load_items(parameters.items, **_options(parameters))
    if parameters.answers:
        items = with_answers(items, parameters.answers)
    elif parameters.answerers:
        return limited(items, parameters)
    drawn = draw_candidates(items, count=parameters.candidates, seed=parameters.seed)
    return limited(drawn, parameters)


def benchmarks(parameters: BestOfParameters) -> tuple[Item, ...]:
    """The items of several sources (``items=bbh:FOLDER,mt_bench:FOLDER``), with models' answers.

    Of MT-Bench the second turn is taken. Where ``answers=`` names a file, its answers replace an
    item's own, and questions that nobody answers are left out before any are drawn; where
    ``answerers=`` names models, the questions come without answers. Of each
    category ``per_category`` questions are drawn by seed, and of each set at most as many as
    ``per_benchmark`` says; then the category of an item becomes its benchmark, by which results are
    reported.

    Parameters
    ----------
    parameters : CommonParameters

    Returns
    -------
    tuple of Item
    """
    read_items: list[Item] = []
    sources = [s.strip() for s in parameters.items.split(",") if s.strip()]
    check_there(sources)
    sizes = parameters.per_benchmark
    names = [layout_of(source) or source for source in sources]
    if strange := [name for name in sizes if name not in names]:
        raise InputError(
            f"per_benchmark: {strange[0]!r} is none of the sets given ({', '.join(names)})."
        )
    for source, layout_of_source in zip(sources, map(layout_of, sources), strict=True):
        options = _options(parameters)
        if layout_of_source == "llm_reliability":  # drawn by its authors, of three benchmarks
            read_items += load_items(source, **options)
            continue
        if layout_of_source == "mt_bench":
            options["turn"] = 2
        items: Sequence[Item] = load_items(source, **options)
        if not _models_answer(parameters):
            items = _answered(items, parameters.answers, source)
        per_category = parameters.per_category
        if per_category is not None:
            most = per_category * len({item.category for item in items})
            items = select_items(items, limit=most, seed=parameters.seed)
        name = _BENCHMARKS.get(layout_of_source, source_name(source))
        items = [replace(item, category=name) for item in items]
        size = sizes.get(layout_of_source or source, len(items))
        read_items += select_items(items, limit=min(size, len(items)), seed=parameters.seed)
    return limited(read_items, parameters)


def referenced(parameters: AnswerParameters) -> tuple[Item, ...]:
    """The items of ``items=`` that have a true answer, with the answers of ``answers=`` if given.

    Where ``answerers=`` names models, they come without answers.

    Parameters
    ----------
    parameters : CommonParameters

    Returns
    -------
    tuple of Item
    """
    items: Sequence[Item] = load_items(parameters.items, **_options(parameters))
    if parameters.answers:
        items = with_answers(items, parameters.answers)
    asked = _models_answer(parameters)
    kept = [item for item in items if item.reference and (item.responses or asked)]
    if not kept:
        raise InputError(
            f"items: none of the {len(items)} items of {parameters['items']!r} has both a "
            "reference (the true answer) and a response to be judged. Give a file with both, or "
            "the responses as answers=FILE, or models that answer as answerers=MODEL,..."
        )
    return limited(kept, parameters)


def _models_answer(parameters: AnswerParameters) -> bool:
    return bool(parameters.answerers) and not parameters.answers


def _answered(items: Sequence[Item], answers: str, source: str) -> Sequence[Item]:
    if answers:
        needed = any(len(item.responses) < 2 for item in items)
        given = {item.id: item for item in with_answers(items, answers, required=needed)}
        items = [given.get(item.id, item) for item in items]
    kept = [item for item in items if len(item.responses) > 1]
    if len(kept) == len(items) or (answers and kept):
        return kept
    raise InputError(
        f"items: {len(items) - len(kept)} of the {len(items)} questions of {source} have fewer "
        "than two answers to choose from. Give models' answers as answers=FILE (JSONL or CSV with "
        "item_id, author, answer), or models that answer first as answerers=MODEL,MODEL,..."
    )


def limited(items: Sequence[Item], parameters: CommonParameters) -> tuple[Item, ...]:
    """At most ``limit=`` of the items, drawn by seed."""
    limit = parameters.limit
    if limit is not None and limit < len(items):
        return select_items(items, limit=limit, seed=parameters.seed)
    return tuple(items)


def source_name(items: str) -> str:
    """What a run calls its items: names without folders.

    Examples
    --------
    >>> source_name("bbh:data/bbh,mt_bench:data/mt_bench"), source_name("bank")
    ('bbh, mt_bench', 'bank')
    """
    return ", ".join(Path(part.strip().rpartition(":")[2]).name for part in items.split(","))
