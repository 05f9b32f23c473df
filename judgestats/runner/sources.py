"""Sources of items and labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from judgestats.errors import InputError
from judgestats.items.answers import draw_candidates, with_answers
from judgestats.items.preference_sets import draw_labelled_pairs
from judgestats.items.records import Item
from judgestats.items.sets import check_there, layout_of, load_items, select_items
from judgestats.protocols.template import response_names
from judgestats.runner.common_parameters import (
    AnswerParameters,
    CandidateParameters,
    CommonParameters,
)
from judgestats.runner.pair_parameters import BestOfParameters, PairParameters
from judgestats.runner.parameter_types import ChoiceParam, Choices, IntParam, ParsedParam, parameter
from judgestats.stats.validity.label_draws import LABELS_DRAWN

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


def _from(name: str, value: str) -> float | None:
    if value == "middle":
        return None
    try:
        return float(value)
    except ValueError:
        raise InputError(f"{name}: expected a number or middle, got {value!r}.") from None


def _table_or_designed(name: str, value: str) -> str:
    if value not in {"", "designed"}:
        from judgestats.data.readers.labels import labelled_ids

        if not Path(value).is_file():
            raise InputError(f"{name}: there is no file {value!r}. Give a table, or designed.")
        labelled_ids(Path(value))
    return value


def _shares(name: str, value: str) -> str:
    from judgestats.analysis.validity_raters import read_mix

    try:
        read_mix(value)
    except InputError as error:
        raise InputError(str(error).replace("mix:", f"{name}:", 1)) from None
    return value


class LabelParameters(CommonParameters):
    """Of an experiment that holds a judge to labels."""

    labels: str = parameter(
        "designed",
        "Table of human labels (item_id, label; annotator, chance), e.g. labels.csv; "
        "designed takes the designed quality of the bundled items",
        group="Data",
    )
    labels_drawn: Annotated[str, ChoiceParam("", *LABELS_DRAWN)] = parameter(
        "", f"Sampling of the labelled answers: {', '.join(LABELS_DRAWN)}", group="Data"
    )
    mix: Annotated[str, ParsedParam(_shares)] = parameter(
        "",
        "Shares of categories in production, for corrected rates, e.g. chat=.8,code=.2",
        group="Analysis",
    )
    labelled: Annotated[int | None, IntParam(1, or_word="all")] = parameter(
        "100", "Answers that keep a designed label (sampled by seed), or all", group="Data"
    )
    pass_from: Annotated[float | None, ParsedParam(_from)] = parameter(
        "middle",
        "Cut-off: human score from which an answer passes, e.g. 4, or middle of the scale",
        group="Analysis",
    )
    verdicts: Annotated[tuple[str, ...], Choices("pass_fail", "score")] = parameter(
        "pass_fail,score", "Kinds of verdicts to ask for: pass_fail, score, or both"
    )
    repeats: Annotated[int, IntParam(1, 100_000)] = parameter(
        "3",
        "Judgments per answer and condition, 1 or more",
        logged="design/replicates",
        common=True,
    )


class PeopleParameters(CommonParameters):
    """Of an experiment on scores: what their bias and variance are held to."""

    people: Annotated[str, ParsedParam(_table_or_designed)] = parameter(
        "",
        "Table of human scores (item_id, label), e.g. people.csv, for bias and variance; "
        "designed takes the designed quality of the bundled items",
        group="Data",
    )


def with_known_labels(parameters: LabelParameters) -> tuple[Item, ...]:
    """The items of ``items=``, where there is a label for some of what is judged.

    Parameters
    ----------
    parameters : LabelParameters

    Returns
    -------
    tuple of Item

    Raises
    ------
    InputError
        No answer of the items has a label.
    """
    items = one_source(parameters)
    if parameters.labels == "designed":
        if not any(r.quality is not None for item in items for r in item.responses):
            raise InputError(
                f"labels=designed: no answer of {parameters['items']!r} has a designed quality. "
                "Give people's labels as labels=FILE, with a column item_id and a column label."
            )
        return items
    from judgestats.data.readers.labels import labelled_ids

    ids = labelled_ids(Path(parameters.labels))
    names = [name for item in items for name in response_names(item)]
    clusters = {item.cluster for item in items}
    if not ids & {*names, *clusters}:
        raise InputError(
            f"labels: no label of {parameters['labels']} belongs to an answer of "
            f"{parameters['items']!r}. Answers there are called "
            f"{', '.join(map(repr, names[:3]))}, here {', '.join(map(repr, sorted(ids)[:3]))}."
        )
    return items
