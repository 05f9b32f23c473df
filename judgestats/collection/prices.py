"""Prices of models, usage, and reserved cost."""

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

from judgestats.collection.spec import JudgeSpec
from judgestats.errors import InputError
from judgestats.yaml_text import YamlTextError, read_yaml, read_yaml_file

_MILLION = 1_000_000
_OLD_DAYS = 90
"""Days after which a price is said to be old."""


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
        """Dollars for so many tokens, `cached` of those in; NaN where price or tokens are unknown.

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
    """The day on which a price's age is told, in UTC."""
    return datetime.now(UTC).date()


_UNKNOWN = Price(input=math.nan, output=math.nan)


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
            own = {"cached": math.nan, **spec.price}
            return Price(
                input=own["input"],
                output=own["output"],
                cached=own["cached"],
                source="the file of judges",
            )
        names = ["simulated"] if spec.simulated else []
        host = urlsplit(spec.base_url)
        names += [host.netloc, host.hostname or ""]
        for name in names:
            listed = self.endpoints.get(name, {})
            for model in (spec.model, "*"):
                if model in listed:
                    return listed[model]
        return _UNKNOWN

    def extended(self, other: PriceTable) -> PriceTable:
        """The table with another's entries, which go before its own."""
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
    return InputError(
        f"prices: {name} is not a price file ({why}). Expected: as_of: DATE, endpoints: {{host: "
        "{model: {input: dollars, output: dollars}}} (and where they are known cached: dollars, "
        "up_to: tokens)."
    )


def _price(entry: Mapping[str, Any]) -> Price:
    if unknown := set(entry) - {"input", "output", "cached", "up_to", "as_of", "source"}:
        raise ValueError(f"{', '.join(sorted(map(str, unknown)))} is no part of a price")
    price = Price(
        input=float(entry["input"]),
        output=float(entry["output"]),
        cached=float(entry.get("cached", math.nan)),
        up_to=float(entry.get("up_to", math.inf)),
        as_of=str(entry["as_of"]),
        source=str(entry["source"]),
    )
    date.fromisoformat(price.as_of)  # without its day nobody is told that a price is old
    listed = [price.input, price.output, *([price.cached] if "cached" in entry else ())]
    if not all(0 <= dollars < math.inf for dollars in listed) or not price.up_to > 0:
        raise ValueError("a price is negative, infinite or no number")
    return price
