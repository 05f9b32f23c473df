"""Frames that earlier versions wrote: read as they stand, or brought up to the present columns."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pandas as pd

from judgestats.errors import InputError
from judgestats.judgments.columns import PARSED_COLUMNS


def read_frame(path: Path) -> pd.DataFrame:
    """A run's judgments, those of 0.1.0 too.

    Raises
    ------
    InputError
        Naming the file, where it is no frame of judgments.
    """
    try:
        frame = pd.read_parquet(path)
    except (OSError, ValueError) as error:
        why = " ".join(str(error).split())[:200]
        raise InputError(
            f"{path}: it cannot be read as judgments ({why}). Only a finished run holds them; "
            "repeat the run, which takes its answers from the journal."
        ) from None
    return brought_up(frame, what=str(path))


def brought_up(frame: pd.DataFrame, *, what: str = "judgments") -> pd.DataFrame:
    """A frame with the columns of the present version; nothing of an earlier one is lost.

    0.1.0 had a column a setting (``temperature_sent``, ``seed_sent``), no kinds of verdict, and
    neither cached nor reasoning tokens.

    Raises
    ------
    InputError
        A frame that is neither of this version nor of 0.1.0.

    Examples
    --------
    >>> brought_up(pd.DataFrame({"item_id": ["q"]}))
    Traceback (most recent call last):
        ...
    judgestats.errors.InputError: judgments: no frame of judgments of judgestats; it lacks condition, judge, status.
    """  # noqa: E501
    lacking = [c for c in ("condition", "judge", "item_id", "status") if c not in frame]
    if lacking:
        raise InputError(
            f"{what}: no frame of judgments of judgestats; it lacks {', '.join(lacking)}."
        )
    missing = [c for c in PARSED_COLUMNS if c not in frame]
    if not missing:
        return frame
    frame = frame.copy()
    if "sent" in missing:
        sent = {"temperature": "temperature_sent", "seed": "seed_sent"}
        columns = {name: frame.pop(c) for name, c in sent.items() if c in frame}
        frame["sent"] = [
            json.dumps({k: v for k, v in zip(columns, row, strict=True) if pd.notna(v)})
            for row in zip(*columns.values(), strict=True)
        ] or [""] * len(frame)
    for name in {"tokens_cached", "tokens_reasoning"}.intersection(missing):
        frame[name] = math.nan
    if "requested" in missing:
        frame["requested"] = ""
    if "verdict_kind" in missing and {"score", "choice"} <= set(frame):
        frame["verdict_kind"] = kinds_by_value(frame)
    own = [c for c in PARSED_COLUMNS if c in frame]
    return frame[[*own, *(c for c in frame.columns if c not in own)]]


def kinds_by_value(frame: pd.DataFrame) -> pd.Series:
    """The kind of every condition's verdicts, where nothing but the values says it.

    Examples
    --------
    >>> frame = pd.DataFrame({"condition": ["x", "x", "y"], "score": [1.0, None, None],
    ...                       "choice": ["", "", "tie"]})
    >>> kinds_by_value(frame).tolist()
    ['score', 'score', 'preference']
    """
    kinds: dict[object, str] = {}
    for condition, rows in frame[["condition", "score", "choice"]].groupby("condition", sort=False):
        words = {*map(str, rows["choice"].dropna().unique())} - {""}
        if rows["score"].notna().any():
            kinds[condition] = "score"
        elif words:
            kinds[condition] = "preference" if words <= {"a", "b", "tie"} else "choice"
        else:
            kinds[condition] = ""
    return frame["condition"].map(kinds)
