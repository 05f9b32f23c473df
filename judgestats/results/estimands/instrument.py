"""Estimands of the judge as a measuring instrument: its scale, severity, fairness, rankings."""

from __future__ import annotations

from functools import partial

from judgestats.results.estimands.entry import Estimand

__all__ = ["ENTRIES"]

_share = partial(Estimand, unit="probability", low=0.0, high=1.0, function="levels_used")

ENTRIES: tuple[Estimand, ...] = (
    Estimand("effective_levels", "effective levels", unit="number", low=1.0,
        function="levels_used", better="higher",
        meaning="how many levels, each used alike, would spread the scores as much"),
    _share("mode_share", "share of the commonest score", better="lower",
        meaning="share of the scores on the level given most"),
    _share("ceiling_share", "share at the ceiling", better="lower",
        meaning="share of the scores on the highest level"),
    _share("floor_share", "share at the floor", better="lower",
        meaning="share of the scores on the lowest level"),
    Estimand("heaping", "heaping on round scores", unit="probability difference", low=-1.0,
        high=1.0, nothing=0.0, better="lower", function="levels_used",
        meaning="share on round scores less the share of levels that are round"),
)  # fmt: skip
