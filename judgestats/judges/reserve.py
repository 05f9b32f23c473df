"""How much money is held back for a request before it is sent."""

from __future__ import annotations

import math
from dataclasses import replace

from judgestats.judges.ledger import Spend
from judgestats.judges.outcomes import Outcome
from judgestats.judges.prices import Price
from judgestats.judges.request import Encoded
from judgestats.judges.text_size import FRAME_TOKENS, TextSize

_LEAST = 800.0
"""Tokens held back for a reply without a bound, at least."""
_MARGIN = 2.0
"""Times the worst seen is held back, where nothing bounds it."""


class Reserve:
    """What one request to a model may cost at most, as far as anything bounds it.

    A token is at least one byte of text, so that a prompt has at most as many tokens as bytes. A
    reply has at most ``max_tokens`` (the `bound`) where the server heeds it; else, and once a
    longer reply has been seen, twice the worst seen is held back, which is a guess and no bound.

    Parameters
    ----------
    price : Price
    earlier : Spend
        With the worst that earlier runs saw.

    Attributes
    ----------
    longest, input_ratio, output_ratio : float
        The worst seen (`judgestats.judges.ledger.Spend`).

    Examples
    --------
    >>> reserve = Reserve(Price(input=1.0, output=1.0), Spend())
    >>> reserve.tokens(600, 2, bound=50)
    (1000.0, 100.0)
    >>> reserve.tokens(600, 2, bound=None), reserve.bounded
    ((1000.0, 1600.0), False)
    """

    def __init__(self, price: Price, earlier: Spend) -> None:
        self._price = replace(price, up_to=math.inf)  # a step is no reason to hold nothing back
        self.longest = earlier.longest
        self.input_ratio = earlier.input_ratio
        self.output_ratio = earlier.output_ratio
        self._bounds = True

    @property
    def bounded(self) -> bool:
        """Whether all that was held back bounds the cost, as far as the server kept to it."""
        return self._bounds and self.input_ratio <= 1 and self.output_ratio <= 1

    @property
    def alone(self) -> bool:
        """Whether no reply has been seen: the next request goes alone, as it may cost anything."""
        return self.longest == 0 and not self._price.free

    def tokens(self, size: int, choices: int, *, bound: int | None) -> tuple[float, float]:
        """Tokens in and out to hold back for a prompt of so many bytes."""
        into = float(size + FRAME_TOKENS)
        if self.input_ratio > 1:
            into *= _MARGIN * self.input_ratio
        if bound is None:
            self._bounds = False
        elif self.output_ratio <= 1:
            return into, float(bound * choices)
        return into, max(_MARGIN * self.longest, _LEAST) * choices

    def hold(self, encoded: Encoded, choices: int, *, bound: int | None) -> float:
        """Dollars to hold back; NaN where the price is unknown."""
        return self._price.cost(*self.tokens(encoded.size, choices, bound=bound))

    def saw(
        self, outcome: Outcome, choices: int, *, size: int | None = None, bound: int | None = None
    ) -> None:
        """Remember the worst: the longest reply, the prompt with the most tokens for its bytes."""
        if outcome.tokens_out is None:
            written = TextSize.of(outcome.contents)
            seen, least = written.estimate / choices, written.floor / choices
            if bound is not None:
                self.output_ratio = max(self.output_ratio, least / bound)
        else:  # the tokens of several choices come as one sum
            seen = outcome.tokens_out / choices
            if bound is not None:
                self.output_ratio = max(self.output_ratio, seen / bound)
        self.longest = max(self.longest, seen, 1.0)
        if outcome.tokens_in is not None and size is not None:
            self.input_ratio = max(self.input_ratio, outcome.tokens_in / (size + FRAME_TOKENS))
