"""Where an experiment's labels come from: a file of people's, or the bundled items' design."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judgestats.errors import InputError
from judgestats.experiment.item_sources import one_source
from judgestats.experiment.parameters import (
    Parameter,
    read_choice,
    read_choices,
    read_optional_whole,
    read_text,
    read_whole,
)
from judgestats.items.schema import Item
from judgestats.judgments.readers.labels import labelled_ids
from judgestats.protocols.naming import response_names
from judgestats.stats.validity.inputs import LABELS_DRAWN

__all__ = ["LABELS", "PEOPLE", "with_known_labels"]


def _from(name: str, value: str) -> float | None:
    if value == "middle":
        return None
    try:
        return float(value)
    except ValueError:
        raise InputError(f"{name}: expected a number or middle, got {value!r}.") from None


def _table_or_designed(name: str, value: str) -> str:
    if value not in {"", "designed"}:
        if not Path(value).is_file():
            raise InputError(f"{name}: there is no file {value!r}. Give a table, or designed.")
        labelled_ids(Path(value))
    return value


LABELS = (
    Parameter(
        name="labels",
        default="designed",
        read=read_text,
        help="a table of people's labels (item_id, label; annotator, chance), pass and fail or "
        "scores; designed: the items' designed quality on the scale",
    ),
    Parameter(
        name="labels_drawn",
        default="",
        read=read_choice("", *LABELS_DRAWN),
        help=f"how the labelled answers were chosen: {', '.join(LABELS_DRAWN)}",
    ),
    Parameter(
        name="labelled",
        default="100",
        read=read_optional_whole(1),
        help="of designed labels: how many answers keep theirs (drawn by seed), or all",
    ),
    Parameter(
        name="pass_from",
        default="middle",
        read=_from,
        help="people's score from which an answer passes; middle of the scale",
    ),
    Parameter(
        name="verdicts",
        default="pass_fail,score",
        read=read_choices("pass_fail", "score"),
        help="what the judge is asked for: pass_fail, score",
    ),
    Parameter(
        name="replicates",
        default="3",
        read=read_whole(1, 100_000),
        help="judgments of each answer in each condition (1 or more)",
    ),
)
"""Parameters of an experiment that holds a judge to labels."""


PEOPLE = Parameter(
    name="people",
    default="",
    read=_table_or_designed,
    help="a table of people's scores (item_id, label): squared error against them in its parts; "
    "designed: the bundled items' designed quality in their place, to rehearse",
)
"""Of an experiment on scores: what their bias and variance are held to."""


def with_known_labels(parameters: Mapping[str, Any]) -> tuple[Item, ...]:
    """The items of ``items=``, where there is a label for some of what is judged.

    Parameters
    ----------
    parameters : mapping
        Read.

    Returns
    -------
    tuple of Item

    Raises
    ------
    InputError
        No answer of the items has a label.
    """
    items = one_source(parameters)
    if parameters["labels"] == "designed":
        if not any(r.quality is not None for item in items for r in item.responses):
            raise InputError(
                f"labels=designed: no answer of {parameters['items']!r} has a designed quality. "
                "Give people's labels as labels=FILE, with a column item_id and a column label."
            )
        return items
    known = labelled_ids(Path(parameters["labels"]))
    names = [name for item in items for name in response_names(item)]
    clusters = {item.cluster for item in items}
    if not known & {*names, *clusters}:
        raise InputError(
            f"labels: no label of {parameters['labels']} belongs to an answer of "
            f"{parameters['items']!r}. Answers there are called "
            f"{', '.join(map(repr, names[:3]))}, here {', '.join(map(repr, sorted(known)[:3]))}."
        )
    return items
