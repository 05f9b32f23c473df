"""Where an experiment's labels come from: a file of people's, or the bundled items' design."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from judgestats.errors import InputError
from judgestats.experiment.common_parameters import CommonParameters
from judgestats.experiment.item_sources import one_source
from judgestats.experiment.parameter_types import Choice, Choices, Read, Whole, parameter
from judgestats.items.schema import Item
from judgestats.protocols.naming import response_names
from judgestats.stats.validity.label_draws import LABELS_DRAWN


def _from(name: str, value: str) -> float | None:
    if value == "middle":
        return None
    try:
        return float(value)
    except ValueError:
        raise InputError(f"{name}: expected a number or middle, got {value!r}.") from None


def _table_or_designed(name: str, value: str) -> str:
    if value not in {"", "designed"}:
        from judgestats.judgments.readers.labels import labelled_ids

        if not Path(value).is_file():
            raise InputError(f"{name}: there is no file {value!r}. Give a table, or designed.")
        labelled_ids(Path(value))
    return value


def _shares(name: str, value: str) -> str:
    from judgestats.analysis.drawn import read_mix

    try:
        read_mix(value)
    except InputError as error:
        raise InputError(str(error).replace("mix:", f"{name}:", 1)) from None
    return value


class LabelParameters(CommonParameters):
    """Of an experiment that holds a judge to labels."""

    labels: str = parameter(
        "designed",
        "a table of people's labels (item_id, label; annotator, chance), pass and fail or "
        "scores; designed: the items' designed quality on the scale",
    )
    labels_drawn: Annotated[str, Choice("", *LABELS_DRAWN)] = parameter(
        "", f"how the labelled answers were chosen: {', '.join(LABELS_DRAWN)}"
    )
    mix: Annotated[str, Read(_shares)] = parameter(
        "",
        "shares of the items' categories in the traffic that corrected rates and means are for, as "
        "in chat=.8,code=.2",
    )
    labelled: Annotated[int | None, Whole(1, or_word="all")] = parameter(
        "100", "of designed labels: how many answers keep theirs (drawn by seed), or all"
    )
    pass_from: Annotated[float | None, Read(_from)] = parameter(
        "middle", "people's score from which an answer passes; middle of the scale"
    )
    verdicts: Annotated[tuple[str, ...], Choices("pass_fail", "score")] = parameter(
        "pass_fail,score", "what the judge is asked for: pass_fail, score"
    )
    replicates: Annotated[int, Whole(1, 100_000)] = parameter(
        "3",
        "judgments of each answer in each condition (1 or more)",
        logged="design/replicates",
    )


class PeopleParameters(CommonParameters):
    """Of an experiment on scores: what their bias and variance are held to."""

    people: Annotated[str, Read(_table_or_designed)] = parameter(
        "",
        "a table of people's scores (item_id, label): squared error against them in its parts; "
        "designed: the bundled items' designed quality in their place, to rehearse",
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
    from judgestats.judgments.readers.labels import labelled_ids

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
