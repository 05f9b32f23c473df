"""Ratios of spread whose rows name the item that they hang on most."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from judgestats.stats.inference.result import Comparisons
from judgestats.stats.spread.spread_between_conditions import SpreadResult


def with_items(spread: SpreadResult, items: Sequence[str]) -> SpreadResult:
    """The comparison of spread with its items by name in the ratios.

    Parameters
    ----------
    spread : SpreadResult
    items : sequence of str
        Ids in the order of the scores that were compared.

    Returns
    -------
    SpreadResult

    Examples
    --------
    >>> from judgestats.stats.spread.spread_between_conditions import spread_test
    >>> scores = [[[8, 9], [3, 9]], [[5, 6], [4, 6]], [[6, 7], [6, 5]]]
    >>> found = with_items(spread_test(scores, n_permutations=0), ["q1", "q2", "q3"])
    >>> found.ratios.rows[0].details["largest_item"]
    'q1'
    """
    distances = spread.distance_ratios
    return dataclasses.replace(
        spread,
        ratios=ratios_with_items(spread.ratios, items),
        distance_ratios=None if distances is None else ratios_with_items(distances, items),
    )


def ratios_with_items(ratios: Comparisons, items: Sequence[str]) -> Comparisons:
    """The ratios with the item that holds most of a side by name."""
    rows = tuple(
        dataclasses.replace(
            row, details={**row.details, "largest_item": items[row.details["largest_item"] - 1]}
        )
        if "largest_item" in row.details
        else row
        for row in ratios.rows
    )
    return dataclasses.replace(ratios, rows=rows)
