"""Scores of two scales in one file: between judges refused, within one judge named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.errors import InputError

_ENOUGH = 20
_TIMES = 4
_LEVELS = 3
_SHARE = 0.1


def check_scales(source: Path | str, out: pd.DataFrame) -> list[str]:
    """Refuse judges of whom one uses a scale many times as wide as another's; name one who does so.

    Parameters
    ----------
    source : Path or str
    out : DataFrame
        With scores of no stated scale, a judge and factors.

    Returns
    -------
    list of str
        A note a judge whose own scores seem to be of two scales.

    Raises
    ------
    InputError
        Two judges (of one criterion) score on different scales.
    """
    factors = [c for c in out.columns if c.startswith("factor_")]
    scored = out[out["score"].notna()]
    parts = [rows for _, rows in scored.groupby(factors, sort=False)] if factors else [scored]
    notes: dict[str, str] = {}
    for rows in parts:
        own = rows.groupby("judge", sort=False)["score"]
        tops = own.quantile(0.95)[own.size() >= _ENOUGH]
        if _differ(tops) and tops.max() > 10:
            low, high = str(tops.idxmin()), str(tops.idxmax())
            raise InputError(
                f"{source}: the scores seem to be of two scales: {low} gives up to "
                f"{own.max()[low]:g}, {high} up to {own.max()[high]:g}. Bring them to one scale, "
                "or state the one that both use (--scale 0-100)."
            )
        for judge, scores in own:
            note = _within(rows.loc[scores.index])
            if note:
                notes.setdefault(
                    str(judge),
                    f"The scores of {judge} seem to be of two scales: {note}. Bring them to one, "
                    "or state the one that is used (--scale 0-100).",
                )
    return list(notes.values())


def _differ(tops: pd.Series) -> bool:
    return len(tops) > 1 and tops.min() > 0 and bool(tops.max() >= _TIMES * tops.min())


def _within(rows: pd.DataFrame) -> str:
    """How one judge's scores are of two scales, in words; empty where they are of one."""
    scores = rows["score"].to_numpy(float)
    if len(scores) < 2 * _ENOUGH or scores.min() < 0:
        return ""
    if "replicate" in rows:
        runs = rows.groupby("replicate")["score"]
        tops = runs.quantile(0.95)[runs.size() >= _ENOUGH]
        if _differ(tops) and (tops.max() > 10 or _in_shares(scores)):
            first, last = int(tops.argmin()), int(tops.argmax())
            highest = runs.max().loc[tops.index]
            return (
                f"repetition {tops.index[first]} goes up to {highest.iloc[first]:g}, "
                f"repetition {tops.index[last]} up to {highest.iloc[last]:g}"
            )
    if scores.max() > 10:
        for part, where in ((scores, "first"), (scores[::-1], "last")):
            n = int(np.argmax(part > 10))
            block, rest = part[:n], part[n:]
            if n < _ENOUGH or len(rest) < _ENOUGH or _sorted(part):
                continue
            # A judge who uses all of 0-100 begins with twenty scores of 10 or less by a chance in
            # which nobody believes; a file put together of two begins so.
            if np.quantile(rest, 0.95) >= _TIMES * block.max() > 0:
                return (
                    f"the {where} {n:,} go up to {block.max():g}, the others up to {rest.max():g}"
                )
    if _in_shares(scores):
        shares = scores[(scores > 0) & (scores < 1)]
        return (
            f"{len(shares):,} are shares (such as {shares[0]:g}), others go up to {scores.max():g}"
        )
    return _apart(scores)


def _sorted(scores: NDArray[np.float64]) -> bool:
    steps = np.diff(scores)
    return bool((steps >= 0).all() or (steps <= 0).all())


def _in_shares(scores: NDArray[np.float64]) -> bool:
    """Whether fractions below 1 stand among whole numbers beyond it, and nothing between."""
    share = (scores > 0) & (scores < 1)
    beyond = scores > 1
    return bool(
        share.mean() >= _SHARE
        and beyond.mean() >= _SHARE
        and (scores[beyond] % 1 == 0).all()
        and scores.max() >= _TIMES
        and len(set(scores[share])) >= _LEVELS
    )


def _apart(scores: NDArray[np.float64]) -> str:
    """Two groups of scores with nothing between them, one up to 10, one many times as high."""
    levels = np.unique(scores[scores > 0])
    if len(levels) < 2 * _LEVELS or levels[-1] <= 10:
        return ""
    ratio = levels[1:] / levels[:-1]
    at = int(np.argmax(ratio))
    low, high = levels[at], levels[at + 1]
    below, above = float((scores <= low).mean()), float((scores >= high).mean())
    few = min(at + 1, len(levels) - at - 1) < _LEVELS or min(below, above) < _SHARE
    if few or not 1 < low <= 10 < high or high < _TIMES * low:
        return ""
    return f"{100 * below:.0f} % are {low:g} or less, the others {high:g} or more"
