"""Agreement between judges within each level of what was varied, and across all of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.analysis.outcome import NamedResult
from judgestats.judgments.settings import heat
from judgestats.results import About
from judgestats.stats.agreement.between_judges import agreement_across_judges
from judgestats.stats.inference.result import Result
from judgestats.stats.reliability.intraclass import icc

_FEWEST = 3
_MOST = 12
"""Items that are needed, and conditions that are compared at most."""
_MOST_CHOICES = 20
_USED = ("item_id", "cluster", "condition", "score", "choice", "order", "replicate")


def beside_judges(frame: pd.DataFrame, *, level: float) -> list[NamedResult]:
    """How far judges agree with one another, repetitions included.

    Of scores ICC(2,1) of the judges' means of each item; of verdicts the share of pairs of judges
    that give the same in the same repetition.

    Parameters
    ----------
    frame : DataFrame
        The parsed judgments.
    level : float
        Of intervals.

    Returns
    -------
    list of NamedResult
        ``between_judges.LEVEL`` for the judges at each level of temperature and other factors, and
        ``between_judges.across`` over all conditions where there are several levels; described,
        never claimed.

    Examples
    --------
    >>> rows = [dict(judge=j, condition=j, temperature=1.0, item_id=f"i{i}", cluster=f"i{i}",
    ...              replicate=r, order="", choice="ab"[i % 2], score=None)
    ...         for j in "xy" for i in range(6) for r in range(2)]
    >>> [(r.id, r.result.estimate) for r in beside_judges(pd.DataFrame(rows), level=0.95)]
    [('between_judges.T=1', 1.0)]
    """
    if "stage" in frame and not frame["stage"].eq("final").all():
        frame = frame[frame["stage"] == "final"]
    if frame["judge"].nunique() < 2:
        return []
    out = []
    for name, own in _levels(frame):
        conditions = tuple(map(str, own["condition"].unique()))
        agreement = _agreement(own, conditions, level) if 2 <= len(conditions) <= _MOST else None
        if agreement is not None:
            out.append(
                NamedResult(
                    id=f"between_judges.{name}",
                    title="Agreement between judges"
                    + (" over all conditions" if name == "across" else f" ({name})"),
                    role="descriptive",
                    result=agreement,
                    about=About(conditions=conditions),
                )
            )
    return out


def _levels(frame: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """The judgments at each level of everything but the judge, then all of them."""
    factors = [c for c in map(str, frame) if c.startswith("factor_")]
    keys = ["temperature", *factors]
    groups: list[tuple[Any, pd.DataFrame]] = list(frame.groupby(keys, sort=False, dropna=False))
    for key, own in groups:
        parts = [] if np.isnan(key[0]) else [heat(float(key[0]))]
        parts += [f"{c.removeprefix('factor_')}={v}" for c, v in zip(factors, key[1:], strict=True)]
        yield ", ".join(parts) or "all", own
    if len(groups) > 1:
        yield "across", frame


def _agreement(own: pd.DataFrame, conditions: tuple[str, ...], level: float) -> Result | None:
    """Of the conditions on the items that all of them judged; None where these are too few."""
    scored = "score" in own and own["score"].notna().any()
    own = own[[c for c in _USED if c in own]]
    read = own[own["score"].notna()] if scored else own[own["choice"].astype(str) != ""]
    several = read.groupby("item_id", sort=False)["condition"].nunique()
    items = several.index[several == len(conditions)]
    if len(items) < _FEWEST:
        return None
    if len(items) < len(several):
        read = read[read["item_id"].isin(items)]
    clusters = read.drop_duplicates("item_id").set_index("item_id")["cluster"].loc[items]
    common: dict[str, Any] = {
        "cluster": clusters.to_numpy(object) if clusters.nunique() < len(items) else None,
        "level": level,
    }
    if scored:
        means = read.pivot_table(index="item_id", columns="condition", values="score", sort=False)
        table = means.loc[items, list(conditions)].to_numpy(float)
        return icc(table, form="ICC(2,1)", n_permutations=0, **common)
    if read["choice"].nunique() > _MOST_CHOICES:
        return None
    return agreement_across_judges(_cube(read, items, conditions), **common)


def _cube(read: pd.DataFrame, items: pd.Index, conditions: tuple[str, ...]) -> NDArray[np.object_]:
    """Verdicts as judges x items x repetitions, an order being a repetition of its own."""
    asked = read["order"].astype(str) + "\0" + read["replicate"].astype(str)
    codes, times = pd.factorize(asked)
    cube = np.full((len(conditions), len(items), len(times)), None, dtype=object)
    cube[
        pd.Index(conditions).get_indexer(pd.Index(read["condition"])),
        items.get_indexer(pd.Index(read["item_id"])),
        codes,
    ] = read["choice"].to_numpy(object)
    return cube
