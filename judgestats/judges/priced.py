"""What a plan comes to: one judge's share, all of them, and how they print."""

from __future__ import annotations

import math
from dataclasses import dataclass

_UNKNOWN = "unknown"


@dataclass(kw_only=True)
class JudgePlan:
    """One judge's share of a plan. Tokens and dollars are (low, high) estimates."""

    judge: str
    judgments: int = 0
    cached: int = 0
    waiting: int = 0
    requests: int = 0
    tokens_in: tuple[float, float] = (0.0, 0.0)
    tokens_out: tuple[float, float] = (0.0, 0.0)
    cost_usd: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True, kw_only=True)
class Sampled:
    """Which part of a plan was priced for the whole, and how far another draw could lead.

    Attributes
    ----------
    pairs, all_pairs : int
    sets : int
        From each of which a part was drawn.
    requests, tokens : float
        Half the width of the interval of the total, as a share of it: 0.04 is plus or minus 4 %.
        Tokens stand for dollars.
    level : float
        Of these intervals.
    """

    pairs: int
    all_pairs: int
    sets: int
    requests: float
    tokens: float
    level: float = 0.95

    def __str__(self) -> str:
        of = "" if self.sets < 2 else f" (some of each of {self.sets} sets)"
        return (
            f"The figures are estimated from {self.pairs:,} of {self.all_pairs:,} pairs, drawn by "
            f"seed{of} with all strategies on each, and scaled up. Another draw could differ: "
            f"requests by ±{_percent(self.requests)}, tokens and dollars by "
            f"±{_percent(self.tokens)} ({100 * self.level:g} % intervals; the total includes them)."
        )


@dataclass(frozen=True, kw_only=True)
class PricePlan:
    """What a collection would ask, by judge; prints as a table.

    Attributes
    ----------
    judges : tuple of JudgePlan
    prices_as_of : str
        Date of the price table.
    reply_tokens : tuple of int
        A reply's tokens in the low and the high estimate.
    mode : {"online", "batch"}
    what : tuple of str
        Who is asked, and for what: headings of the table.
    sampled : Sampled or None
        Where a part was priced and scaled up: which, with its margin.
    old_prices : tuple of str
        Whose price was checked more than 90 days ago.
    """

    judges: tuple[JudgePlan, ...]
    prices_as_of: str
    reply_tokens: tuple[int, int]
    mode: str = "online"
    what: tuple[str, str] = ("judge", "judgments")
    sampled: Sampled | None = None
    old_prices: tuple[str, ...] = ()

    @property
    def requests(self) -> int:
        """Requests to be sent, retries aside."""
        return sum(j.requests for j in self.judges)

    @property
    def cost_usd(self) -> tuple[float, float]:
        """Low and high estimate in dollars, the margin of a sample included; NaN if unknown."""
        margin = self.sampled.tokens if self.sampled is not None else 0.0
        low = sum(j.cost_usd[0] for j in self.judges)
        high = sum(j.cost_usd[1] for j in self.judges)
        # NaN stays NaN: it is the first argument that max keeps where none is the larger
        return (max(low * (1 - margin), 0.0), high * (1 + margin))

    def __str__(self) -> str:
        width = max([5, *(len(j.judge) for j in self.judges)])
        heading = (
            f"{self.what[0]:<{width}}  {self.what[1]:>9}  in journal  requests  {'tokens in':>19}"
        )
        lines = [f"{heading}  {'tokens out':>19}  {'US dollars':>19}"]
        for j in self.judges:
            lines.append(
                f"{j.judge:<{width}}  {j.judgments:>9,}  {j.cached:>10,}  {j.requests:>8,}  "
                f"{_span(j.tokens_in):>19}  {_span(j.tokens_out):>19}  {_dollars(j.cost_usd):>19}"
            )
        lines.append(
            f"total: {self._requests()} requests, {self._price()} "
            f"(prices of {self.prices_as_of}). Nothing was sent. Estimates: 3-5 characters a "
            f"token, {self.reply_tokens[0]}-{self.reply_tokens[1]} tokens a reply; models that "
            "think before they answer use more; retries are not included."
        )
        lines += [f"{old}; look whether it still holds." for old in self.old_prices]
        if self.sampled is not None:
            lines.append(str(self.sampled))
        if self.mode == "batch":
            waiting = sum(j.waiting for j in self.judges)
            lines.append(
                "Through the Batch API: half the price, answers within 24 hours."
                + (f" {waiting:,} judgments wait in batches handed in before." if waiting else "")
            )
        return "\n".join(lines)

    def _price(self) -> str:
        price_range = _dollars(self.cost_usd)
        return f"price {price_range}" if price_range == _UNKNOWN else price_range

    def _requests(self) -> str:
        if self.sampled is None:
            return f"{self.requests:,}"
        off = self.requests * self.sampled.requests
        return f"{max(0.0, self.requests - off):,.0f}-{self.requests + off:,.0f}"


def _span(values: tuple[float, float]) -> str:
    return f"{values[0]:,.0f}-{values[1]:,.0f}"


def _dollars(values: tuple[float, float]) -> str:
    if math.isnan(values[0]) or math.isnan(values[1]):
        return _UNKNOWN
    digits = 2 if values[0] >= 10 else 4
    return f"${values[0]:,.{digits}f}-${values[1]:,.{digits}f}" if values[1] else "$0"


def _percent(share: float) -> str:
    """A margin for a reader: one digit below ten.

    Examples
    --------
    >>> _percent(0.0423), _percent(0.31), _percent(0.0)
    ('4.2 %', '31 %', '0 %')
    """
    value = 100 * share
    return f"{value:.0f} %" if value >= 10 or value == 0 else f"{value:.1f} %"
