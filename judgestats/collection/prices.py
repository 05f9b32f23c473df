"""Prices of models, usage, and planned, used, and reserved cost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from judgestats.collection.ledger import Spend
from judgestats.collection.request import FRAME_TOKENS, Encoded, TextSize
from judgestats.collection.retry import Kind, Outcome
from judgestats.collection.spec import JudgeSpec
from judgestats.errors import InputError
from judgestats.yaml_text import YamlTextError, read_yaml, read_yaml_file

_MILLION = 1_000_000
_OLD_DAYS = 90
"""Days after which a price is reported as old."""


@dataclass(frozen=True, kw_only=True)
class Price:
    """US dollars per million tokens; NaN = unknown.

    Attributes
    ----------
    input, output : float
    cached : float
        Of input that the provider had cached; where unknown, it counts as any other input.
    up_to : float
        Tokens of a prompt up to which the price holds.
    as_of, source : str
        The day on which it was checked, and by whom.
    """

    input: float
    output: float
    cached: float = math.nan
    up_to: float = math.inf
    as_of: str = ""
    source: str = ""

    @property
    def is_known(self) -> bool:
        """Whether the prices of input and output are known."""
        return not (math.isnan(self.input) or math.isnan(self.output))

    @property
    def free(self) -> bool:
        """Whether it is known to cost nothing."""
        return self.input == 0 and self.output == 0

    @property
    def batch_price(self) -> Price:
        """The price through a Batch API: half.

        Examples
        --------
        >>> Price(input=0.15, output=0.6).batch_price.output
        0.3
        """
        return replace(self, input=self.input / 2, output=self.output / 2, cached=self.cached / 2)

    def cost(
        self, tokens_in: float | None, tokens_out: float | None, cached: float | None = None
    ) -> float:
        """Dollars for these tokens, `cached` of those in; NaN if price or tokens are unknown.

        Examples
        --------
        >>> round(Price(input=0.15, output=0.6).cost(1000, 100), 6)
        0.00021
        >>> round(Price(input=2.0, output=8.0, cached=0.5).cost(1000, 0, 800), 6)
        0.0008
        """
        if self.free:
            return 0.0
        if tokens_in is None or tokens_out is None or tokens_in > self.up_to:
            return math.nan
        from_cache = 0.0 if cached is None or math.isnan(self.cached) else min(cached, tokens_in)
        saved = from_cache * (self.input - self.cached) if from_cache else 0.0
        return (tokens_in * self.input - saved + tokens_out * self.output) / _MILLION

    def age(self, *, day: date | None = None) -> str:
        """What to say of a price that was checked more than 90 days ago; empty otherwise.

        Examples
        --------
        >>> Price(input=1.0, output=2.0, as_of="2026-01-01").age(day=date(2026, 8, 1))
        'its price was checked on 2026-01-01, 212 days ago'
        """
        try:
            days = ((day or today()) - date.fromisoformat(self.as_of)).days
        except ValueError:
            return ""
        if days <= _OLD_DAYS or self.free:
            return ""
        return f"its price was checked on {self.as_of}, {days:,} days ago"


def today() -> date:
    """Today in UTC, from which the age of a price is counted."""
    return datetime.now(UTC).date()


@dataclass(frozen=True, kw_only=True)
class PriceTable:
    """Prices by endpoint (host name, or ``simulated``) and model, with their date."""

    as_of: str
    source: str
    endpoints: Mapping[str, Mapping[str, Price]]

    def price(self, spec: JudgeSpec) -> Price:
        """The price of a judge; unknown (NaN) where it is not listed.

        Examples
        --------
        >>> from judgestats.collection.spec import parse_judge
        >>> key = {"OPENAI_API_KEY": "x"}
        >>> default_prices().price(parse_judge("gpt-4o-mini", environ=key)).input
        0.15
        >>> default_prices().price(parse_judge("gpt-4o-mini-2024-07-18", environ=key)).is_known
        False
        >>> default_prices().price(parse_judge("sim-typical", environ={})).output
        0.0
        """
        if spec.price:
            own: Mapping[str, Any] = spec.price
            return Price(**own, source="the file of judges")
        names = ["simulated"] if spec.simulated or spec.local else []
        host = urlsplit(spec.base_url)
        for name in (*names, host.netloc, host.hostname or ""):
            listed = self.endpoints.get(name, {})
            for model in (spec.model, "*"):
                if model in listed:
                    return listed[model]
        return Price(input=math.nan, output=math.nan)

    def extended(self, other: PriceTable) -> PriceTable:
        """The table with another's entries, which take precedence over its own."""
        endpoints = {name: dict(models) for name, models in self.endpoints.items()}
        for name, models in other.endpoints.items():
            endpoints[name] = {**endpoints.get(name, {}), **models}
        return PriceTable(as_of=other.as_of, source=other.source, endpoints=endpoints)


@lru_cache(maxsize=1)
def default_prices() -> PriceTable:
    """The table that ships with judgestats (``judges/data/prices.yaml``).

    Examples
    --------
    >>> default_prices().as_of >= "2025"
    True
    """
    file = resources.files("judgestats.collection").joinpath("data", "prices.yaml")
    return _parse(read_yaml(file.read_text(encoding="utf-8")), "prices.yaml")


def load_prices(path: str | Path) -> PriceTable:
    """A user's price file, before the bundled table.

    Raises
    ------
    InputError
        Where the file is absent or not of the bundled file's layout.
    """
    file = Path(path)
    try:
        value = read_yaml_file(file)
    except OSError as error:
        raise InputError(f"prices: {file} cannot be read ({error}).") from None
    except YamlTextError as error:
        raise _no_price_file(str(file), str(error)) from None
    return default_prices().extended(_parse(value, str(file)))


def _parse(value: Any, name: str) -> PriceTable:
    try:
        dated = {"as_of": str(value["as_of"]), "source": str(value.get("source", ""))}
        endpoints: dict[str, dict[str, Price]] = {}
        for address, models in value["endpoints"].items():
            listed = endpoints.setdefault(_host(str(address)), {})
            listed.update({str(m): _price(dated | entry) for m, entry in models.items()})
        return PriceTable(**dated, endpoints=endpoints)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise _no_price_file(name, f"{type(error).__name__}: {error}") from None


def _host(address: str) -> str:
    """The host of an endpoint, which may be written as an address.

    Examples
    --------
    >>> _host("http://localhost:8000/v1"), _host("api.openai.com")
    ('localhost:8000', 'api.openai.com')
    """
    return urlsplit(address if "//" in address else f"//{address}").netloc


def _no_price_file(name: str, why: str) -> InputError:
    price = "{input: dollars, output: dollars} (and cached: dollars, up_to: tokens)"
    form = f"as_of: DATE, endpoints: {{host: {{model: {price}}}}}"
    return InputError(f"prices: {name} is not a price file ({why}). Expected: {form}.")


def _price(entry: Mapping[str, Any]) -> Price:
    if unknown := set(entry) - {"input", "output", "cached", "up_to", "as_of", "source"}:
        raise ValueError(f"{', '.join(sorted(map(str, unknown)))} is not part of a price")
    names = ("input", "output", "cached") if "cached" in entry else ("input", "output")
    dollars = {name: float(entry[name]) for name in names}
    up_to, as_of = float(entry.get("up_to", math.inf)), str(entry["as_of"])
    date.fromisoformat(as_of)  # without its day nobody is told that a price is old
    if not all(0 <= each < math.inf for each in dollars.values()) or not up_to > 0:
        raise ValueError("a price is negative, infinite or no number")
    return Price(**dollars, up_to=up_to, as_of=as_of, source=str(entry["source"]))


_NOTHING = (0.0, 0.0)
_COUNTS = ("tokens_in", "tokens_out", "tokens_cached", "tokens_reasoning")


@dataclass(kw_only=True)
class JudgePlan:
    """One judge's share of a plan. Tokens and dollars are (low, high) estimates."""

    judge: str
    judgments: int = 0
    cached: int = 0
    waiting: int = 0
    requests: int = 0
    tokens_in: tuple[float, float] = _NOTHING
    tokens_out: tuple[float, float] = _NOTHING
    cost_usd: tuple[float, float] = _NOTHING

    def add(self, other: JudgePlan) -> None:
        """Add another plan."""
        for name, value in vars(other).items():
            own = getattr(self, name)
            if isinstance(value, tuple):
                setattr(self, name, (own[0] + value[0], own[1] + value[1]))
            elif name != "judge":
                setattr(self, name, own + value)

    def scaled(self, times: float) -> JudgePlan:
        """The plan `times` times, before its cost is known."""
        names = ("judgments", "cached", "waiting", "requests")
        counts: dict[str, Any] = {name: round(getattr(self, name) * times) for name in names}
        return JudgePlan(
            judge=self.judge,
            **counts,
            tokens_in=(self.tokens_in[0] * times, self.tokens_in[1] * times),
            tokens_out=(self.tokens_out[0] * times, self.tokens_out[1] * times),
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
    sampled : (int, int) or None
        Where a part was priced and scaled up: its pairs, and all.
    old_prices : tuple of str
        Whose price was checked more than 90 days ago.
    """

    judges: tuple[JudgePlan, ...]
    prices_as_of: str
    reply_tokens: tuple[int, int]
    mode: str = "online"
    what: tuple[str, str] = ("judge", "judgments")
    sampled: tuple[int, int] | None = None
    old_prices: tuple[str, ...] = ()

    @property
    def requests(self) -> int:
        """Requests to be sent, retries aside."""
        return sum(j.requests for j in self.judges)

    @property
    def cost_usd(self) -> tuple[float, float]:
        """Low and high estimate in dollars; NaN if unknown."""
        costs = [j.cost_usd for j in self.judges]
        return (sum(low for low, _ in costs), sum(high for _, high in costs))

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
        cost = _dollars(self.cost_usd)
        lines.append(
            f"total: {self.requests:,} requests, {cost if '$' in cost else f'price {cost}'} "
            f"(prices of {self.prices_as_of}). Nothing was sent. Estimates: 3-5 characters per "
            f"token, {self.reply_tokens[0]}-{self.reply_tokens[1]} tokens per reply. Models that "
            "think before they answer use more. Retries are not included."
        )
        lines += [f"{old}; check that it still holds." for old in self.old_prices]
        if self.sampled is not None:
            some, pairs = self.sampled
            spread = "spread evenly over the plan, and scaled up"
            lines.append(f"The figures are estimated from {some:,} of {pairs:,} pairs, {spread}.")
        if self.mode == "batch":
            lines.append("Through the Batch API: half the price, answers within 24 hours.")
            if waiting := sum(j.waiting for j in self.judges):
                lines[-1] += f" {waiting:,} judgments wait in batches handed in before."
        return "\n".join(lines)


def _span(values: tuple[float, float]) -> str:
    return f"{values[0]:,.0f}-{values[1]:,.0f}"


def _dollars(values: tuple[float, float]) -> str:
    if math.isnan(values[0]) or math.isnan(values[1]):
        return "unknown"
    digits = 2 if values[0] >= 10 else 4
    return f"${values[0]:,.{digits}f}-${values[1]:,.{digits}f}" if values[1] else "$0"


@dataclass(frozen=True, kw_only=True, slots=True)
class Charged:
    """What a request is charged at.

    Attributes
    ----------
    outcome : Outcome
        Without the reported tokens that its text does not allow.
    cost : float
        Dollars by reported tokens; NaN where they, or the price, are not known.
    estimate : float
        Dollars to charge where the cost is not known.
    basis : str
        What the estimate rests on.
    """

    outcome: Outcome
    cost: float
    estimate: float
    basis: str = "their length"


def charged(
    outcome: Outcome, price: Price, asked: TextSize, *, hold: float, bound: int | None
) -> Charged:
    """Charge a request by its reported tokens, or by its length where they cannot be right.

    Parameters
    ----------
    outcome : Outcome
    price : Price
    asked : TextSize
        Of the prompt.
    hold : float
        Dollars held back for the request.
    bound : int or None
        The request's ``max_tokens``. With one, a request of unknown cost is charged at no less
        than what was held back for it, so that ``max_cost`` stays a bound.

    Examples
    --------
    >>> from judgestats.collection.retry import Choice
    >>> lie = Outcome(kind=Kind.ANSWERED, choices=(Choice("8" * 10 + " good" * 1000, "stop"),),
    ...     tokens_in=300, tokens_out=0)
    >>> price = Price(input=10.0, output=40.0)
    >>> made = charged(lie, price, TextSize.from_texts(["Why? "] * 100), hold=0.02, bound=None)
    >>> made.outcome.usage_fault, made.cost, round(made.estimate, 4)
    ('0 tokens', nan, 0.0531)
    """
    if not price.is_known or price.free:
        return Charged(outcome=outcome, cost=price.cost(*outcome.usage), estimate=hold)
    written = TextSize.from_texts(outcome.contents)
    tokens_in, tokens_out, cached = outcome.usage
    reported = ((tokens_out, written), (tokens_in, asked))
    wrong = [(n, size) for n, size in reported if n is not None and not size.allows(n)]
    known = not wrong and tokens_in is not None and tokens_out is not None
    basis = "their length"
    if not known:  # one count that cannot be right leaves none to rest on
        fault = outcome.usage_fault or ("no token counts" if outcome.contents else "")
        if wrong and not outcome.usage_fault:
            fault = f"{wrong[0][0]:,} token{'s' * (wrong[0][0] != 1)}"
        counts: dict[str, Any] = dict.fromkeys(_COUNTS)
        outcome = replace(outcome, **counts, usage_fault=fault)
        least_out, least_in, cached = tokens_out or 0, tokens_in or 0, None
        tokens_out, tokens_in = written.estimate, asked.estimate
        too_many = any(n > size.floor for n, size in wrong)
        if not too_many and (least_out > tokens_out or least_in > tokens_in):
            tokens_out, tokens_in = max(least_out, tokens_out), max(least_in, tokens_in)
            basis = "their length and the higher count that is reported"
    cost = price.cost(*outcome.usage)
    estimate = replace(price, up_to=math.inf).cost(tokens_in, tokens_out, cached)
    if hold > estimate and (bound is not None or known or outcome.kind is not Kind.ANSWERED):
        return Charged(outcome=outcome, cost=cost, estimate=hold, basis="what was reserved")
    return Charged(outcome=outcome, cost=cost, estimate=estimate, basis=basis)


@dataclass(slots=True)
class UsageFaults:
    """Replies whose reported tokens were not believed, and what they are charged at."""

    replies: int = 0
    characters: int = 0
    dollars: float = 0.0
    first: str = ""
    basis: str = ""

    def add(self, bill: Charged) -> None:
        """Count one."""
        self.replies += 1
        self.characters += sum(map(len, bill.outcome.contents))
        self.dollars += bill.estimate
        self.first = self.first or bill.outcome.usage_fault
        self.basis = self.basis or bill.basis

    def note(self, name: str, *, capped: bool) -> str:
        """What to say of them; empty where there were none.

        Examples
        --------
        >>> UsageFaults(2, 10_000, 0.1, "0 tokens", "their length").note("m", capped=True)
        'm reports 0 tokens for 2 replies of about 5,000 characters, so their cost is estimated \
from their length: about $0.05 per reply. max_cost holds for the estimate'
        """
        if not self.replies:
            return ""
        replies = "1 reply" if self.replies == 1 else f"{self.replies:,} replies"
        size, each = self.characters / self.replies, self.dollars / self.replies
        note = (
            f"{name} reports {self.first} for {replies} of about {size:,.0f} characters, so their "
            f"cost is estimated from {self.basis}: about ${each:.2g} per reply"
        )
        return f"{note}. max_cost holds for the estimate" if capped else note


_LEAST = 800.0
"""Tokens held back for a reply without a bound, at least."""
_MARGIN = 2.0
"""Multiple of the most tokens seen that is reserved without a limit on tokens."""


class CostReservation:
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
        The worst seen (`judgestats.collection.ledger.Spend`).

    Examples
    --------
    >>> reserve = CostReservation(Price(input=1.0, output=1.0), Spend())
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
        """Whether the reserved amount bounds the cost, if the server kept to it."""
        return self._bounds and self.input_ratio <= 1 and self.output_ratio <= 1

    @property
    def alone(self) -> bool:
        """Whether no reply has been seen: the next request goes alone, as it may cost anything."""
        return self.longest == 0 and not self._price.free

    def tokens(self, size: int, choices: int, *, bound: int | None) -> tuple[float, float]:
        """Tokens in and out to hold back for a prompt of this many bytes."""
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
            written = TextSize.from_texts(outcome.contents)
            seen, least = written.estimate / choices, written.floor / choices
        else:  # the tokens of several choices come as one sum
            seen = least = outcome.tokens_out / choices
        if bound is not None:
            self.output_ratio = max(self.output_ratio, least / bound)
        self.longest = max(self.longest, seen, 1.0)
        if outcome.tokens_in is not None and size is not None:
            self.input_ratio = max(self.input_ratio, outcome.tokens_in / (size + FRAME_TOKENS))
