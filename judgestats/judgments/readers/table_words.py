"""What is told of a table before any number: columns that serve, and columns that do not."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from judgestats.judgments.kinds import passes_beside_scores
from judgestats.judgments.readers.names import (
    ALIASES,
    SYSTEMS,
    folded,
    labels_said,
)
from judgestats.judgments.readers.options import TableOptions
from judgestats.judgments.readers.understanding import UNVARYING, Understanding

_OF_ITEMS = frozenset(map(folded, ALIASES["verdict"]))
"""Names of columns that may be people's verdicts where they are the same in all rows of an item."""


def understood_as(
    frame: pd.DataFrame,
    names: Mapping[str, str],
    understanding: Understanding,
    options: TableOptions,
) -> str:
    """What names an item, the judge and the repeats, and which columns have no part in it."""
    judge = names.get("judge")
    parts = [f"item = {' + '.join(understanding.item)}"]
    if "cluster" in names and frame["cluster"].nunique() < frame["item_id"].nunique():
        parts.append(f"cluster = {names['cluster']}")
    judge_name = options.judge or "not named"
    parts.append(f"judge = {judge}" if judge else f"judge: {judge_name} (--judge NAME)" if not
                 options.judge else f"judge: {judge_name}")  # fmt: skip
    if "temperature" in names:
        parts.append(f"temperature = {names['temperature']}")
    if "order" in names:
        parts.append(f"order = {names['order']}")
    if understanding.factors:
        parts.append(f"conditions also by {' + '.join(understanding.factors)}")
    sizes = frame.groupby(["condition", "item_id", "order"], sort=False).size()
    low, high = int(sizes.min()), int(sizes.max())
    counted = f"{low} to {high} repeats" if low < high else f"{low} repeat{'s' * (low != 1)}"
    by = f" ({names['replicate']})" if "replicate" in names and high > 1 else (
        " (numbered by row)" if high > 1 else ""
    )  # fmt: skip
    parts.append(counted + by)
    if "label" in frame and (frame["label"] != "").any():
        pair = passes_beside_scores(frame["label"], frame["score"])
        kind = " (pass / fail of the item, no points)" if pair else ""
        parts.append(f"{labels_said(_labels_from(frame, names, options))}{kind}")
    else:
        parts += [
            f"did people say `{c}`? Then --map label={c}"
            for c, why in understanding.unused
            if why == UNVARYING and folded(c) in _OF_ITEMS
        ][:1]
    return "; ".join([*parts, *unused_columns(understanding)])


def _labels_from(frame: pd.DataFrame, names: Mapping[str, str], options: TableOptions) -> str:
    """Where people's labels are from, and of how many people."""
    people = [str(c).removeprefix("label_") for c in frame.columns if str(c).startswith("label_")]
    of = f" of {len(people)} people ({few_names(people)})" if len(people) > 1 else ""
    if options.human:
        return f"rows of {options.human}"
    if isinstance(options.labels, (str, Path)):
        return f"{Path(options.labels).name}{of}, joined by item"
    return f"{names.get('label', 'joined by item' if options.labels is not None else 'theirs')}{of}"


def systems_of_answers(
    table: pd.DataFrame, understanding: Understanding, names: Mapping[str, str]
) -> list[str]:
    """The column that names the system where each answer has an id, and its question a column."""
    whole = [c for c, why in understanding.unused if why == UNVARYING]
    named = [c for c in whole if folded(c) in SYSTEMS and len(table[c].unique()) > 1]
    alone = len(named) == 1 and not any(folded(c) in SYSTEMS for c in understanding.item)
    return named if alone and "cluster" in names else []


def unused_columns(understanding: Understanding) -> list[str]:
    """The columns that have no part in what is analysed, in words."""
    still = [c for c, why in understanding.unused if why == UNVARYING]
    others = [f"{c}: {why}" for c, why in understanding.unused if c not in still]
    sentences = []
    if still:
        several = len(still) > 1
        sentences.append(
            f"{len(still)} column{'s' * several} not used ({few_names(still)}) "
            f"do{'es' * (not several)} not vary within an item"
        )
    if others:
        sentences.append(f"{len(others)} not used ({few_names(others)})")
    return sentences


def few_names(names: list[str]) -> str:
    """The first eight names, none longer than forty characters."""
    return ", ".join(n[:40] for n in names[:8]) + (", ..." if len(names) > 8 else "")
