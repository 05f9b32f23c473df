"""What a judgment costs: a price table in a dated data file; an unlisted model costs "unknown"."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from judgestats.errors import InputError
from judgestats.judges.spec import JudgeSpec

__all__ = ["Price", "PriceTable", "default_prices", "load_prices"]

_DATE = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{4})$")
_MILLION = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Price:
    """US dollars per million tokens, in and out; NaN = unknown."""

    input: float
    output: float

    @property
    def known(self) -> bool:
        """Whether both prices are known."""
        return not (math.isnan(self.input) or math.isnan(self.output))

    @property
    def in_batch(self) -> Price:
        """The price through a Batch API: half.

        Examples
        --------
        >>> Price(input=0.15, output=0.6).in_batch.output
        0.3
        """
        return Price(input=self.input / 2, output=self.output / 2)

    def cost(self, tokens_in: float | None, tokens_out: float | None) -> float:
        """Dollars for so many tokens; NaN where price or tokens are unknown.

        Examples
        --------
        >>> round(Price(input=0.15, output=0.6).cost(1000, 100), 6)
        0.00021
        """
        if self.input == 0 and self.output == 0:
            return 0.0
        if tokens_in is None or tokens_out is None:
            return math.nan
        return (tokens_in * self.input + tokens_out * self.output) / _MILLION


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
        >>> from judgestats.judges.spec import parse_judge
        >>> key = {"OPENAI_API_KEY": "x"}
        >>> default_prices().price(parse_judge("gpt-4o-mini-2024-07-18", environ=key)).input
        0.15
        >>> default_prices().price(parse_judge("gpt-99", environ=key)).known
        False
        >>> default_prices().price(parse_judge("sim-typical", environ={})).output
        0.0
        """
        names = ["simulated"] if spec.simulated else []
        host = urlsplit(spec.base_url)
        names += [host.netloc, host.hostname or ""]
        for name in names:
            listed = self.endpoints.get(name, {})
            for model in (spec.model, _DATE.sub("", spec.model), "*"):
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
    file = resources.files("judgestats.judges").joinpath("data", "prices.yaml")
    return _parse(file.read_text(encoding="utf-8"), "prices.yaml")


def load_prices(path: str | Path) -> PriceTable:
    """A user's price file, before the bundled table.

    Raises
    ------
    InputError
        Where the file is absent or not of the bundled file's layout.
    """
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"prices: {file} cannot be read ({error}).") from None
    return default_prices().extended(_parse(text, str(file)))


def _parse(text: str, name: str) -> PriceTable:
    try:
        value: Any = yaml.safe_load(text)
        endpoints = {
            str(host): {str(model): _price(entry) for model, entry in models.items()}
            for host, models in value["endpoints"].items()
        }
        return PriceTable(
            as_of=str(value["as_of"]), source=str(value.get("source", "")), endpoints=endpoints
        )
    except (yaml.YAMLError, KeyError, TypeError, AttributeError, ValueError) as error:
        raise InputError(
            f"prices: {name} is not a price file ({type(error).__name__}: {error}). Expected: "
            "as_of: DATE, endpoints: {host: {model: {input: dollars, output: dollars}}}."
        ) from None


def _price(entry: Mapping[str, Any]) -> Price:
    price = Price(input=float(entry["input"]), output=float(entry["output"]))
    if price.input < 0 or price.output < 0:
        raise ValueError("a price is negative")
    return price
