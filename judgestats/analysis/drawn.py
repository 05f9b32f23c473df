"""How the labelled items were drawn: as stated, or as the chances beside the labels show."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import numpy as np
import pandas as pd

from judgestats.analysis.plan import AnalysisPlan
from judgestats.arrays import Bools, Floats, Objects
from judgestats.errors import InputError
from judgestats.stats.validity.label_draws import LABELS_DRAWN, LabelsDrawn


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """How the labels of one condition are to be weighted.

    Attributes
    ----------
    labels_drawn : str or None
        None where nobody says: the result then assumes random.
    chance : ndarray or None
        Known unequal chance of each labelled item.
    stratum : ndarray or None
        Of each item, for stratified labels or a stated mix.
    mix : mapping or None
        Stated share of each stratum in the traffic.
    """

    labels_drawn: LabelsDrawn | None
    chance: Floats | None = None
    stratum: Objects | None = None
    mix: Mapping[str, float] | None = None


def check_drawn(labels_drawn: str) -> str:
    """The name as it is, where it is one.

    Raises
    ------
    InputError
        It is none of the known ways.

    Examples
    --------
    >>> check_drawn("by-verdict")
    'by-verdict'
    """
    if labels_drawn and labels_drawn not in LABELS_DRAWN:
        raise InputError(
            f"labels_drawn must be one of {', '.join(LABELS_DRAWN)}, got {labels_drawn[:40]!r}. "
            "Say how the labelled items were chosen."
        )
    return labels_drawn


def drawn_as(declared: AnalysisPlan) -> str:
    """How the labelled items were chosen, as it was stated; empty where it was not."""
    return str(declared.options.get("labels_drawn") or "")


def drawing(
    asked: pd.DataFrame, items: pd.Index, labelled: Bools, verdict: Floats,
    declared: AnalysisPlan,
) -> Drawing:  # fmt: skip
    """How one condition's labelled items were drawn.

    Parameters
    ----------
    asked : DataFrame
        Judgments of the condition; a column ``chance`` is what ``judgestats labels plan`` wrote.
    items : Index
        The items in the order of the arrays.
    labelled : ndarray of bool
    verdict : ndarray
        The judge's verdict or score on each item, NaN where there is none.
    declared : AnalysisPlan
        ``options["labels_drawn"]`` is what was stated.

    Returns
    -------
    Drawing

    Raises
    ------
    InputError
        Nothing tells the weights that the stated way needs.
    """
    stated = cast("LabelsDrawn | None", declared.options.get("labels_drawn") or None)
    if mix := read_mix(declared.options.get("mix", "")):
        return _of_mix(asked, items, stated, mix)
    chance = _by_item(asked, "chance", items)
    names_listed = None
    if chance is not None:
        values = pd.to_numeric(chance, errors="coerce").to_numpy(float)
        names_listed = values if np.isfinite(values[labelled]).all() else None
    if (
        names_listed is not None
        and stated != "stratified"
        and np.ptp(names_listed[labelled]) <= 1e-9
    ):
        # Equal chances: drawn at random, unless what is stated goes beyond the chances.
        return Drawing(labels_drawn=stated or "random")
    if stated == "convenience":
        return Drawing(labels_drawn=stated)
    if names_listed is not None:
        by_verdict = not labelled.all() and _one_each(verdict[labelled], names_listed[labelled])
        if stated in {None, "by-verdict"} and by_verdict:
            return Drawing(labels_drawn="by-verdict")
        # Drawn by something else, as another judge's verdicts: the chances themselves weigh.
        return Drawing(labels_drawn="random", chance=names_listed)
    if stated == "stratified":
        stratum = _by_item(asked, "category", items)
        if stratum is None or stratum.fillna("").eq("").any():
            raise InputError(
                "labels_drawn='stratified' needs the category of every item, which is its stratum. "
                "Name the column by --map category=COLUMN (mapping={'category': COLUMN})."
            )
        return Drawing(labels_drawn=stated, stratum=stratum.to_numpy(object))
    if labelled.all():
        if stated == "by-verdict":
            raise InputError(
                "labels_drawn='by-verdict': every judged item is labelled, so the verdicts' shares "
                "among all items are not known. Give the judgments of all items and the labels by "
                "--labels FILE (labels=), or a column chance in that file."
            )
        return Drawing(labels_drawn=stated or "random")
    return Drawing(labels_drawn=stated)


def read_mix(text: str) -> dict[str, float]:
    """Shares of the categories in the traffic that a rate is for, as in ``chat=.8,code=.2``.

    Raises
    ------
    InputError
        A part is no share.

    Examples
    --------
    >>> read_mix("chat=8, code=2")
    {'chat': 8.0, 'code': 2.0}
    """
    out: dict[str, float] = {}
    for part in filter(None, (p.strip() for p in text.split(","))):
        name, _, value = part.rpartition("=")
        try:
            share = float(value)
        except ValueError:
            share = -1.0
        if not name or not 0 <= share < math.inf:
            raise InputError(f"mix: expected CATEGORY=SHARE, got {part[:40]!r}.")
        out[name.strip()] = share
    if out and not sum(out.values()) > 0:
        raise InputError("mix: the shares are all 0. Give the traffic's shares.")
    return out


def _of_mix(
    asked: pd.DataFrame, items: pd.Index, stated: LabelsDrawn | None, mix: Mapping[str, float]
) -> Drawing:
    """Rates for a stated mix of categories: corrected within each, weighted by its share."""
    stratum = _by_item(asked, "category", items)
    kinds = set() if stratum is None else set(stratum.fillna("").astype(str))
    if kinds != set(mix):
        raise InputError(
            f"mix names {', '.join(mix)}; the items' categories are "
            f"{', '.join(sorted(kinds)) or 'not known'}. Give a share of each (--map "
            "category=COLUMN names their column)."
        )
    if stated == "by-verdict" or "chance" in asked:
        raise InputError(
            "mix: labels drawn by verdict or with chances are not weighted to a mix. Draw labels "
            "at random within each category."
        )
    strata = np.asarray(stratum, dtype=object)
    return Drawing(labels_drawn=stated, stratum=strata, mix=mix)


def _by_item(asked: pd.DataFrame, column: str, items: pd.Index) -> pd.Series | None:
    if column not in asked:
        return None
    return asked.drop_duplicates("item_id").set_index("item_id")[column].reindex(items)


def _one_each(verdict: Floats, chance: Floats) -> bool:
    """Whether all labelled items of one verdict had one chance."""
    classes = np.where(np.isnan(verdict), -1.0, verdict)
    return all(np.ptp(chance[classes == v]) <= 1e-9 for v in np.unique(classes))
