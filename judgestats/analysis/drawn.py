"""How the labelled items were drawn: as stated, or as the chances beside the labels show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.analysis.plan import AnalysisPlan
from judgestats.errors import InputError
from judgestats.stats.validity.inputs import LABELS_DRAWN, LabelsDrawn

__all__ = ["Drawing", "check_drawn", "drawing"]

Floats = NDArray[np.float64]


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
        Of each item, for stratified labels.
    """

    labels_drawn: LabelsDrawn | None
    chance: Floats | None = None
    stratum: NDArray[np.object_] | None = None


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


def drawing(
    asked: pd.DataFrame, items: pd.Index, labelled: NDArray[np.bool_], verdict: Floats,
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
    chance = _by_item(asked, "chance", items)
    known = None
    if chance is not None:
        values = pd.to_numeric(chance, errors="coerce").to_numpy(float)
        known = values if np.isfinite(values[labelled]).all() else None
    if known is not None and stated != "stratified" and np.ptp(known[labelled]) <= 1e-9:
        # Equal chances: drawn at random, unless what is stated goes beyond the chances.
        return Drawing(labels_drawn=stated or "random")
    if stated == "convenience":
        return Drawing(labels_drawn=stated)
    if known is not None:
        by_verdict = not labelled.all() and _one_each(verdict[labelled], known[labelled])
        if stated in {None, "by-verdict"} and by_verdict:
            return Drawing(labels_drawn="by-verdict")
        # Drawn by something else, as another judge's verdicts: the chances themselves weigh.
        return Drawing(labels_drawn="random", chance=known)
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


def _by_item(asked: pd.DataFrame, column: str, items: pd.Index) -> pd.Series | None:
    if column not in asked:
        return None
    return asked.drop_duplicates("item_id").set_index("item_id")[column].reindex(items)


def _one_each(verdict: Floats, chance: Floats) -> bool:
    """Whether all labelled items of one verdict had one chance."""
    classes = np.where(np.isnan(verdict), -1.0, verdict)
    return all(np.ptp(chance[classes == v]) <= 1e-9 for v in np.unique(classes))
