"""One entry of the registry: what a number is, how it is written, and where it is computed."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

UNITS = {
    "probability": "share or probability, from 0 to 1",
    "probability difference": "difference of two shares, from -1 to 1",
    "coefficient": "coefficient of its own range",
    "points": "points of the scale",
    "squared points": "squared points of the scale",
    "logits": "logits (log odds)",
    "ratio": "ratio, 1 where nothing differs",
    "ranks": "mean ranks",
    "standard deviations": "standard deviations",
    "bits": "bits",
    "count": "count",
    "place": "place in an order, 1 is the best",
    "tokens": "tokens",
    "USD": "US dollars",
    "seconds": "seconds",
    "number": "number without unit",
}
"""The kinds of unit, in words."""


Direction = Literal["higher", "lower", "nothing", "none"]
"""Of `Estimand.better`."""


@dataclass(frozen=True)
class Estimand:
    """What a number is.

    Attributes
    ----------
    key : str
        Its machine name; ``{...}`` stands for a number or word (``position_{place}_share``).
    label : str
        Its name for a reader, as a column or row of a table bears it.
    unit : str
        A key of `UNITS`.
    meaning : str
        One line that says what it tells.
    function : str
        The public function that computes it: its documentation says how.
    symbol : str
        As a formula or the APA manual writes it; empty: the label.
    low, high : float
        The range that it can have.
    nothing : float
        Its value where nothing differs or is related, NaN where it has none that is fixed.
    better : {"higher", "lower", "nothing", "none"}
        Which end speaks for a judge. Of ``nothing`` a departure from `nothing` to either side
        speaks against one, so that a bound from above holds its size; ``none`` has no direction.
    """

    key: str
    label: str
    unit: str
    meaning: str
    function: str
    symbol: str = ""
    low: float = -math.inf
    high: float = math.inf
    nothing: float = math.nan
    better: Direction = field(kw_only=True)

    @property
    def bounded(self) -> bool:
        """Whether it cannot exceed 1, and so is written without a leading zero."""
        return self.high <= 1

    @property
    def is_ratio(self) -> bool:
        """Whether it is compared on the log scale, 1 being no difference."""
        return self.unit == "ratio"


@dataclass(frozen=True)
class TestKind:
    """A test: its machine name, its name for a reader, and the public function that computes it.

    `found` is what a reader is told of whom it is significant for: what the test asks holds.
    """

    __test__ = False  # pytest must not collect it

    key: str
    label: str
    function: str
    found: str = "differs"
