"""Numbers in reports, with the records behind them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

from judgestats.errors import InputError
from judgestats.results import Comparison, Estimate, Results, Table, numbers, quantity_of
from judgestats.results.records import LOST
from judgestats.sinks import clean, escape_html, escape_markdown

DASH = "\u2013"
UNKNOWN = "not determined"
MINUS = "\u2212"
_FIGURE_SPACE, _POINT_SPACE, _FIXED_SPACE = "\u2007", "\u2008", "\u00a0"


def is_missing(value: Any) -> bool:
    """Whether a value is None or NaN."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def number(value: Any, *, digits: int = 2, leading_zero: bool = True) -> str:
    """A number as `numbers.apa_number` writes it; a dash for NaN.

    Examples
    --------
    >>> number(-1.256), number(float("nan")), number(0.5, leading_zero=False), number(-0.00001)
    ('−1.26', '–', '.50', '0.00')
    """
    if is_missing(value):
        return DASH
    return numbers.apa_number(float(value), digits=digits, bounded=not leading_zero)


class Bound(float):
    """A p-value in a table's cell that is an upper bound."""


def p_value(value: Any) -> str:
    """A p-value as APA prints it: three decimals, no leading zero, ``< .001`` and ``> .999``.

    Examples
    --------
    >>> p_value(0.0312), p_value(1e-9), p_value(1.0), p_value(None)
    ('.031', '< .001', '> .999', '–')
    """
    if is_missing(value):
        return DASH
    smallest = float(value) if isinstance(value, Bound) else 0.0
    return numbers.format_p(float(value), smallest=smallest).removeprefix("= ")


def interval(low: Any, high: Any) -> str:
    """Two bounds in brackets.

    Examples
    --------
    >>> interval(0.751, 0.862), interval(None, 1.0)
    ('[0.75, 0.86]', '–')
    """
    if is_missing(low) or is_missing(high):
        return DASH
    return f"[{number(low)}, {number(high)}]"


def positive_interval(low: Any, high: Any, *, estimate: Any) -> str:
    """Bounds of a variance or a ratio; an end that says nothing is not printed as a number.

    An end more than 100 times from the estimate comes from a standard error that these data
    do not determine, not from knowledge; what is known of the other end is still printed.

    Examples
    --------
    >>> positive_interval(0.1, 0.9, estimate=0.3)
    '[0.10, 0.90]'
    >>> positive_interval(0.1, 4e5, estimate=0.3), positive_interval(1e-9, 4e5, estimate=0.3)
    ('[0.10, not determined]', 'not determined')
    """
    if is_missing(low) or is_missing(high) or is_missing(estimate) or not estimate > 0:
        return interval(low, high)
    ends = [
        number(end, digits=2) if 0.01 <= end / estimate <= 100 else UNKNOWN
        for end in (float(low), float(high))
    ]
    return UNKNOWN if ends == [UNKNOWN] * 2 else f"[{ends[0]}, {ends[1]}]"


def percent(value: Any, *, digits: int = 1) -> str:
    """A share as a percentage.

    Examples
    --------
    >>> percent(0.1234), percent(float("nan")), percent(0.0002)
    ('12.3%', '–', '< 0.1%')
    """
    if is_missing(value):
        return DASH
    least = 10.0**-digits
    if 0 < 100 * float(value) < least / 2:  # not none
        return f"< {least:.{digits}f}%"
    return f"{number(100 * float(value), digits=digits)}%"


def integer(value: Any) -> str:
    """A whole number with thin group separators.

    Examples
    --------
    >>> integer(12345), integer(None)
    ('12,345', '–')
    """
    return DASH if is_missing(value) else f"{round(float(value)):,}".replace("-", MINUS)


def money(value: Any) -> str:
    """US dollars, with two significant digits for small amounts; ``unknown`` without a price.

    Examples
    --------
    >>> money(1234.5), money(0.000213), money(None), money(0.0)
    ('$1,234.50', '$0.00021', 'unknown', '$0.00')
    """
    if is_missing(value):
        return "unknown"
    value = float(value)
    if value != 0 and abs(value) < 0.01:
        places = 1 - math.floor(math.log10(abs(value)))
        return f"${value:.{places}f}"
    return f"${value:,.2f}"


FORMATS: dict[str, Callable[..., str]] = {
    "integer": integer,
    "money": money,
    "number": number,
    "p": p_value,
    "percent": percent,
}


def align_decimals(texts: list[str]) -> list[str]:
    """Pad right-aligned numbers with figure-wide spaces so that their points are in a line.

    Examples
    --------
    >>> [t.replace("\u2007", "_").replace("\u2008", ",") for t in align_decimals(["1", "2.25"])]
    ['1,__', '2.25']
    """

    def decimals(text: str) -> int:
        return len(text.partition(".")[2]) if _is_number(text) else 0

    most = max((decimals(t) for t in texts), default=0)
    out = []
    for text in texts:
        short = most - decimals(text)
        point = _POINT_SPACE if "." not in text and most else ""
        padded = text + point + _FIGURE_SPACE * short if _is_number(text) or text == DASH else text
        out.append(padded)
    return out


def _is_number(text: str) -> bool:
    bare = text.replace(MINUS, "").replace(",", "").replace(".", "", 1)
    return bool(bare) and bare.isascii() and bare.isdigit()


# in a sentence, what stays on one line: an interval, a p-value, a share
_ONE_NUMBER = re.compile(r"\[[^][ ]{1,12}, [^][ ]{1,12}\]|\bp [<>=≤≥] [.\d]+|\d %")


@dataclass(frozen=True)
class AddressedText:
    """A text in parts, each with the address of the record that it is, or none."""

    parts: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return "".join(text for text, _ in self.parts)

    def __add__(self, other: AddressedText | str) -> AddressedText:
        more = other.parts if isinstance(other, AddressedText) else ((other, ""),)
        return AddressedText((*self.parts, *more))

    def with_file(self, file: str) -> AddressedText:
        """The same, of one of several results files."""
        return AddressedText(tuple((text, f"{file}/{at}" if at else "") for text, at in self.parts))

    @property
    def html(self) -> str:
        """The parts for HTML, numbers in elements that say whose they are."""
        return "".join(
            f'<span data-record="{where}">{escape_html(text)}</span>'
            if where
            else escape_html(text)
            for text, where in self._unbroken_parts()
        )

    @property
    def markdown(self) -> str:
        """The parts for Markdown, numbers in spans that say whose they are."""
        return "".join(
            f'[{_escaped(text)}]{{data-record="{where}"}}' if where else _spaced(text)
            for text, where in self._unbroken_parts()
        )

    def _unbroken_parts(self) -> tuple[tuple[str, str], ...]:
        """The parts; the two ends of an interval stay on one line."""
        before = ("", *(where for _, where in self.parts))
        return tuple(
            (",\u00a0" if text == ", " and last.endswith("low") else text, where)
            for (text, where), last in zip(self.parts, before, strict=False)
        )


def _escaped(text: str) -> str:
    """Markdown of a text in which spaces that keep words together stay."""
    return "\u00a0".join(map(escape_markdown, text.split("\u00a0")))


def _spaced(text: str) -> str:
    """Markdown of a part between others: a space at its ends stays."""
    inner = _escaped(text)
    return f"{' ' * text.startswith(' ')}{inner}{' ' * (text.endswith(' ') and len(text) > 1)}"


NOTHING = AddressedText(((DASH, ""),))
"""What is not there."""


def address(record: str, field: str) -> str:
    """The address of a field, in letters that no format reads as its own.

    Examples
    --------
    >>> address("sem.my judge, T=1", "interval.low")
    'sem.my%20judge%2C%20T%3D1#interval.low'
    """
    return f"{quote(record, safe='')}#{quote(field, safe='')}"


def resolve(results: Results | Mapping[str, Results], where: str) -> Any:
    """The value at an address, of a results file or of several by name.

    Raises
    ------
    InputError
        Nothing does.

    Examples
    --------
    >>> e = Estimate(id="m", hypothesis="m", role="primary", title="M", estimand="mean",
    ...              estimate=7.5)
    >>> resolve(Results(experiment="x", question="?", results=(e,)), "m#estimate")
    7.5
    """
    file, _, inner = where.rpartition("/")
    if not isinstance(results, Results):
        if file not in results:
            raise InputError(f"results: no file {file!r} for {where}.")
        return resolve(results[file], inner)
    record, _, field = where.partition("#")
    value: Any = results[unquote(record)] if record else results
    try:
        steps = unquote(field).split(".", 2 if isinstance(value, Table) else -1)
        for step in steps:
            if isinstance(value, Table) and step == "rows":
                value = [
                    dict(zip((c.key for c in value.columns), row, strict=True))
                    for row in value.rows
                ]
            elif isinstance(value, Mapping):
                value = value[step]
            elif isinstance(value, (list, tuple)):
                value = value[int(step)]
            else:
                value = getattr(value, step)
    except (AttributeError, KeyError, IndexError, ValueError) as error:
        raise InputError(f"results: there is nothing at {where} ({error}).") from None
    return value


@dataclass(frozen=True, kw_only=True)
class Measured:
    """An estimate with its interval and the null value, each with its address."""

    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    chance: float = math.nan
    bounded: bool = False
    unit: str = ""
    lost: bool = False
    """Whether its interval is not estimable."""
    at: tuple[str, str, str, str] = ("", "", "", "")

    @classmethod
    def from_record(cls, record: Estimate | Comparison) -> Measured:
        """Of an estimate or a comparison."""
        low, high = numbers.bounds_of(record.interval)
        entry = quantity_of(record.estimand)
        null = getattr(record, "null", None)
        return cls(
            value=record.estimate,
            low=low,
            high=high,
            chance=null.q95 if null is not None else math.nan,
            bounded=entry.bounded,
            unit=entry.unit,
            lost=record.not_estimable,
            at=(
                address(record.id, "estimate"),
                address(record.id, "interval.low"),
                address(record.id, "interval.high"),
                address(record.id, "null.q95"),
            ),
        )

    @property
    def address(self) -> str:
        """The address of the number."""
        return self.at[0]

    @property
    def is_finite(self) -> bool:
        """Whether there is a number."""
        return math.isfinite(self.value)

    @property
    def has_chance(self) -> bool:
        """Whether the null value is known."""
        return math.isfinite(self.chance)

    def text(self, *, decimals: int | None = None) -> AddressedText:
        """The estimate, and its interval in brackets; with the decimals of its column."""
        if math.isinf(self.value):
            return AddressedText((("not reachable", self.at[0]),))
        if not self.is_finite:
            return NOTHING
        if self.unit == "USD":
            return AddressedText(((money(self.value), self.at[0]),))
        if self.unit in {"count", "tokens"} and float(self.value).is_integer():
            return AddressedText(((integer(self.value), self.at[0]), *self._safe()))
        if abs(self.value) >= 1e6:
            return AddressedText(((integer(self.value), self.at[0]),))
        low, high = self._ends()
        text, both = numbers.estimate_parts(
            self.value, low, high, bounded=self.bounded, decimals=decimals
        )
        out = AddressedText(((text, self.at[0]),))
        if self.lost:
            return AddressedText((*out.parts, (f" {LOST}", "")))
        if math.isnan(low):
            return out
        first, last = both.strip("[]").split(", ")
        bounds = ((" [", ""), (first, self.at[1]), (", ", ""), (last, self.at[2]), ("]", ""))
        return AddressedText((*out.parts, *bounds))

    def _safe(self) -> tuple[tuple[str, str], ...]:
        """The end of the interval of a number needed, which is on the safe side."""
        if not (math.isfinite(self.high) and self.high > self.value):
            return ()
        return ((" (up to ", ""), (integer(self.high), self.at[2]), (")", ""))

    def _ends(self) -> tuple[float, float]:
        """The interval, or none where these data leave an end of it open."""
        if math.isinf(self.low) or math.isinf(self.high):
            return math.nan, math.nan
        return self.low, self.high

    @property
    def ends(self) -> tuple[float, float, float]:
        """The number and its interval, as they are shown."""
        return self.value, *self._ends()

    def chance_shown(self) -> AddressedText:
        """What chance exceeds 5 times in 100."""
        if not math.isfinite(self.chance):
            return NOTHING
        text, _ = numbers.estimate_parts(self.chance, math.nan, math.nan, bounded=self.bounded)
        return AddressedText(((text, self.at[3]),))


def column(values: Sequence[Measured]) -> list[AddressedText]:
    """Numbers that stand below each other, with the same decimals."""
    decimals = numbers.column_decimals(m.ends for m in values)
    return [m.text(decimals=decimals) for m in values]


def label(
    results: Results, where: str, *, p: bool = False, share: bool = False, bound: bool = False
) -> AddressedText:
    """One number at an address: a p-value (perhaps an upper bound), a share, or a count."""
    value = resolve(results, where)
    if is_missing(value):
        return NOTHING
    value = Bound(value) if bound else value
    text = p_value(value) if p else percent(value) if share else integer(value)
    return AddressedText(((text, where),))


def count(results: Results, field: str) -> AddressedText:
    """A count of the results file, by its field."""
    return label(results, address("", field))


def name_reliability(text: str) -> str:
    """Markdown of names, and of counts of what is named: no record's numbers.

    Examples
    --------
    >>> name_reliability("run 1 of 2 "), name_reliability("and")
    ('[run 1 of 2]{data-kind="label"} ', 'and')
    """
    inner = text.strip(" ")  # other spaces keep what they stand between on one line
    if not any(letter.isdigit() for letter in inner):
        return AddressedText(((text, ""),)).markdown if inner else text
    before, after = " " * text.startswith(" "), " " * text.endswith(" ")
    return f'{before}[{_escaped(inner)}]{{data-kind="label"}}{after}'


def words(results: Results, where: str) -> str:
    """A text of the records as Markdown, all of it in one element that says whose it is.

    Examples
    --------
    >>> words(Results(experiment="x", question="Is it?", results=()), "#question")
    '[Is it\\\\?]{data-record="#question"}'
    """
    text = " ".join(clean(resolve(results, where)).split())
    text = _ONE_NUMBER.sub(lambda match: match[0].replace(" ", "\u00a0"), text)
    return AddressedText(((text, where),)).markdown if text else ""
