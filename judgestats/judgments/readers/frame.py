"""Completing a reader's columns to the full parsed frame."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from judgestats.errors import printable
from judgestats.judgments.columns import PARSED_COLUMNS
from judgestats.judgments.versions import kinds_by_value

_DEFAULTS: dict[str, Any] = {
    "experiment": "read",
    "category": "",
    "stage": "final",
    "order": "",
    "transport": "answered",
    "failure": "",
    "raw_text": "",
    "reply_mode": "text",
    "finish_reason": "",
    "prompt_sha": "",
    "model_reported": "",
    "fingerprint": "",
    "temperature": math.nan,
    "requested": "",
    "sent": "",
    "choices_in_request": 1,
    "tokens_in": math.nan,
    "tokens_out": math.nan,
    "tokens_cached": math.nan,
    "tokens_reasoning": math.nan,
    "cost_usd": math.nan,
    "latency_s": math.nan,
    "attempts": 1,
    "cached": False,
    "asked_at": "",
    "score": math.nan,
    "choice": "",
    "explanation": "",
    "reason": "",
}


def reading_key(label: str) -> tuple[object, ...]:
    """What sorts labels as people read them: words by letter, numbers within them by size.

    Examples
    --------
    >>> sorted(["B, T=1", "a, T=10", "a, T=0.3", "a, T=2"], key=reading_key)
    ['a, T=0.3', 'a, T=2', 'a, T=10', 'B, T=1']
    """
    parts = re.split(r"(\d+(?:\.\d+)?)", label)
    key = tuple(float(p) if i % 2 else p.casefold() for i, p in enumerate(parts))
    return (*key, label)


def in_reading_order(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows with their conditions as people read them, else in the order that they had.

    Examples
    --------
    >>> f = pd.DataFrame({"condition": ["A, T=1", "A, T=0.3", "A, T=1"], "n": [1, 2, 3]})
    >>> in_reading_order(f)["n"].tolist()
    [2, 1, 3]
    """
    codes, labels = pd.factorize(frame["condition"])
    ranked = sorted(range(len(labels)), key=lambda i: reading_key(str(labels[i])))
    if ranked == list(range(len(labels))):
        return frame
    place = np.argsort(ranked)[codes]
    ordered = frame.iloc[np.argsort(place, kind="stable")].reset_index(drop=True)
    ordered.attrs.update(frame.attrs)
    return ordered


def bare(frame: pd.DataFrame) -> pd.DataFrame:
    """The same data without ``attrs``, which pandas copies in depth at every step.

    Examples
    --------
    >>> f = pd.DataFrame({"n": [1]})
    >>> f.attrs["notes"] = ["said"]
    >>> bare(f).attrs, f.attrs
    ({}, {'notes': ['said']})
    """
    out = frame.copy(deep=False)
    out.attrs = {}
    return out


def condition_labels(frame: pd.DataFrame, factors: Iterable[str]) -> pd.Series:
    """One label a condition: the judge, its temperature, and further factors as ``name=value``."""
    label = frame["judge"].astype(str)
    temperature = frame["temperature"]
    codes, distinct = pd.factorize(temperature, use_na_sentinel=False)
    words = ["" if pd.isna(t) else f", T={float(t):g}" for t in distinct]
    if any(words):
        label = label + pd.Series(words, dtype=object).take(codes).set_axis(label.index)
    for factor in factors:
        name = factor.removeprefix("factor_")
        label = label + ", " + name + "=" + frame[factor].astype(str)
    return label


def _plain_names(frame: pd.DataFrame, columns: Iterable[str]) -> pd.DataFrame:
    """Names that are printed, without what would move the cursor or begin another line."""
    for column in set(frame.columns).intersection(columns):
        names = [n for n in frame[column].unique() if isinstance(n, str)]
        plain = {n: p for n in names if (p := printable(n, one_line=True)) != n}
        if plain:
            frame = frame.assign(**{column: frame[column].replace(plain)})
    return frame


def parsed_frame(columns: pd.DataFrame, *, factors: tuple[str, ...] = ()) -> pd.DataFrame:
    """Fill in the columns a file does not have, and label the conditions.

    Repetitions are numbered in the order of the rows where no column numbers them. Costs, tokens
    and times that a file does not tell stay missing: they are never 0.
    """
    frame = columns.reset_index(drop=True)
    missing = {k: v for k, v in _DEFAULTS.items() if k not in frame.columns}
    frame = frame.assign(**missing)
    frame = _plain_names(frame, ("judge", "condition", *factors))
    if "condition" not in frame.columns:
        frame = frame.assign(condition=condition_labels(frame, factors))
    if "replicate" not in frame.columns:
        key = ["condition", "item_id", "order", "stage"]
        frame["replicate"] = frame.groupby(key, sort=False).cumcount()
    failed = frame["status"].eq("failed") & frame["transport"].eq("answered")
    frame["transport"] = frame["transport"].mask(failed, "failed")
    if "verdict_kind" not in frame.columns:
        frame["verdict_kind"] = kinds_by_value(frame)
    extra = [c for c in frame.columns if c not in PARSED_COLUMNS]
    return frame[[*PARSED_COLUMNS, *extra]]
