"""How often each place was chosen: of two responses in both orders, of options in all rotations."""

from __future__ import annotations

import numpy as np
import pandas as pd

from judgestats.analysis.rotations import Rotations
from judgestats.analysis.verdict_shares import in_rotations

_AS_GIVEN = {"ab", "original", "orig", "0", "false", "1"}
"""Orders that show response a first, by their names in files."""


def of_pairs(frame: pd.DataFrame) -> pd.DataFrame:
    """How often the response shown first was preferred, and the one shown second, ties left out.

    Parameters
    ----------
    frame : DataFrame
        Parsed judgments.

    Returns
    -------
    DataFrame
        ``condition``, ``first``, ``second``; empty for judgments that are not in two orders.

    Examples
    --------
    >>> frame = pd.DataFrame({"condition": "a", "order": ["ab", "ba"] * 2,
    ...                       "choice": ["a", "b", "a", "a"]})
    >>> of_pairs(frame).to_dict("records")
    [{'condition': 'a', 'first': 0.75, 'second': 0.25}]
    """
    if frame.empty or not {"order", "choice"} <= set(frame.columns):
        return pd.DataFrame()
    orders = list(dict.fromkeys(map(str, frame["order"].unique())))
    if len(orders) != 2:
        return pd.DataFrame()
    first = next((o for o in orders if o.lower() in _AS_GIVEN), orders[0])
    read = frame[frame["choice"].isin(["a", "b", "tie"])]
    swapped = read["order"].astype(str) != first
    place = read["choice"].where(~swapped, read["choice"].map({"a": "b", "b": "a", "tie": "tie"}))
    rows = []
    for condition, own in place.groupby(read["condition"].astype(str), sort=False):
        decided = own[own.ne("tie")]
        share = float(decided.eq("a").mean())  # NaN where every verdict is a tie
        rows.append({"condition": condition, "first": share, "second": 1 - share})
    return pd.DataFrame(rows)


def of_selections(frame: pd.DataFrame) -> pd.DataFrame:
    """How often each place was selected, over the items with the most common number of options.

    Parameters
    ----------
    frame : DataFrame
        Parsed judgments.

    Returns
    -------
    DataFrame
        ``condition``, the number of selections ``n``, and ``place_1``, ``place_2``, ...; empty for
        judgments that are no selections in all rotations.
    """
    if not in_rotations(frame):
        return pd.DataFrame()
    rows = []
    for condition, asked in frame.groupby("condition", sort=False):
        turned = Rotations(asked)
        n = int(np.bincount(turned.n_options).argmax())
        chosen = turned.positions[turned.n_options == n, :n].ravel()
        chosen = chosen[np.isfinite(chosen)].astype(int)
        if len(chosen):
            shares = np.bincount(chosen, minlength=n) / len(chosen)
            places = {f"place_{k + 1}": float(share) for k, share in enumerate(shares)}
            rows.append({"condition": str(condition), "n": len(chosen), **places})
    return pd.DataFrame(rows)
