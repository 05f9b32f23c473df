"""Numbers as they are shown, each with the record that it is: a text that cannot differ from it.

``data-record`` in HTML names the record and the field: ``ID#estimate``, ``ID#interval.low``,
``conditions#rows.2.sem``, and without an id a field of the results file (``#facts.design.items``).
Of several results files on one page the file's name stands before it: ``run-2/ID#estimate``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

from judgestats.errors import InputError
from judgestats.reporting.escape import clean, escape_html, escape_markdown
from judgestats.reporting.formats import DASH, integer, is_missing, money, p_cell, p_value, percent
from judgestats.results import Comparison, Estimate, Results, Table
from judgestats.results.numbers import column_decimals, estimate_parts
from judgestats.results.parts import LOST

# in a sentence, what stays on one line: an interval, a p-value, a share
_ONE_NUMBER = re.compile(r"\[[^][ ]{1,12}, [^][ ]{1,12}\]|\bp [<>=≤≥] [.\d]+|\d %")


@dataclass(frozen=True)
class Shown:
    """A text in parts, each with the address of the record that it is, or none."""

    parts: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return "".join(text for text, _ in self.parts)

    def __add__(self, other: Shown | str) -> Shown:
        more = other.parts if isinstance(other, Shown) else ((other, ""),)
        return Shown((*self.parts, *more))

    def within(self, file: str) -> Shown:
        """The same, of one of several results files."""
        return Shown(tuple((text, f"{file}/{at}" if at else "") for text, at in self.parts))

    @property
    def html(self) -> str:
        """The parts for HTML, numbers in elements that say whose they are."""
        return "".join(
            f'<span data-record="{where}">{escape_html(text)}</span>'
            if where
            else escape_html(text)
            for text, where in self._kept()
        )

    @property
    def markdown(self) -> str:
        """The parts for Markdown, numbers in spans that say whose they are."""
        return "".join(
            f'[{_escaped(text)}]{{data-record="{where}"}}' if where else _spaced(text)
            for text, where in self._kept()
        )

    def _kept(self) -> tuple[tuple[str, str], ...]:
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


NOTHING = Shown(((DASH, ""),))
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
    """What stands at an address, of a results file or of several by name.

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
            raise InputError(f"results: no file is called {file!r}, of which {where} is to be.")
        return resolve(results[file], inner)
    record, _, field = where.partition("#")
    value: Any = results[unquote(record)] if record else results
    try:
        steps = unquote(field).split(".") if not isinstance(value, Table) else _steps(field)
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
        raise InputError(f"results: nothing stands at {where} ({error}).") from None
    return value


def _steps(field: str) -> list[str]:
    """A table's field: keys of columns may hold dots."""
    return unquote(field).split(".", 2)


@dataclass(frozen=True, kw_only=True)
class Measured:
    """An estimate with its interval and what chance gives, each with its address."""

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
    def of(cls, record: Estimate | Comparison) -> Measured:
        """Of an estimate or a comparison."""
        from judgestats.results import estimand_of
        from judgestats.results.numbers import bounds_of

        low, high = bounds_of(record.interval)
        entry = estimand_of(record.estimand)
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
    def is_finite(self) -> bool:
        """Whether there is a number."""
        return math.isfinite(self.value)

    @property
    def has_chance(self) -> bool:
        """Whether it is known what chance gives."""
        return math.isfinite(self.chance)

    def shown(self, *, bounds: bool = True, decimals: int | None = None) -> Shown:
        """The estimate, and its interval in brackets; with the decimals of its column."""
        if math.isinf(self.value):
            return Shown((("not reachable", self.at[0]),))
        if not self.is_finite:
            return NOTHING
        if self.unit == "USD":
            return Shown(((money(self.value), self.at[0]),))
        if self.unit in {"count", "tokens"} and float(self.value).is_integer():
            return Shown(((integer(self.value), self.at[0]), *(self._safe() if bounds else ())))
        if abs(self.value) >= 1e6:
            return Shown(((integer(self.value), self.at[0]),))
        low, high = self._ends()
        text, both = estimate_parts(self.value, low, high, bounded=self.bounded, decimals=decimals)
        out = Shown(((text, self.at[0]),))
        if bounds and self.lost:
            return Shown((*out.parts, (f" {LOST}", "")))
        if not bounds or math.isnan(low):
            return out
        first, last = both.strip("[]").split(", ")
        return Shown((*out.parts, (" [", ""), (first, self.at[1]), (", ", ""), (last, self.at[2]),
                      ("]", "")))  # fmt: skip

    def _safe(self) -> tuple[tuple[str, str], ...]:
        """The end of the interval of a number needed, which is on the safe side."""
        if not (math.isfinite(self.high) and self.high > self.value):
            return ()
        return ((" (", ""), (integer(self.high), self.at[2]), (" to be safe)", ""))

    def _ends(self) -> tuple[float, float]:
        """The interval, or none where these data leave an end of it open."""
        if math.isinf(self.low) or math.isinf(self.high):
            return math.nan, math.nan
        return self.low, self.high

    @property
    def ends(self) -> tuple[float, float, float]:
        """The number and its interval, as they are shown."""
        return self.value, *self._ends()

    def chance_shown(self) -> Shown:
        """What chance exceeds 5 times in 100."""
        if not math.isfinite(self.chance):
            return NOTHING
        text, _ = estimate_parts(self.chance, math.nan, math.nan, bounded=self.bounded)
        return Shown(((text, self.at[3]),))


def column(values: Sequence[Measured]) -> list[Shown]:
    """Numbers that stand below each other, with the same decimals."""
    decimals = column_decimals(m.ends for m in values)
    return [m.shown(decimals=decimals) for m in values]


def label(
    results: Results, where: str, *, p: bool = False, share: bool = False, bound: bool = False
) -> Shown:
    """One number at an address: a p-value (perhaps an upper bound), a share, or a count."""
    value = resolve(results, where)
    if is_missing(value):
        return NOTHING
    text = p_value(p_cell(value, bound=bound)) if p else percent(value) if share else integer(value)
    return Shown(((text, where),))


def count(results: Results, field: str) -> Shown:
    """A count of the results file, by its field."""
    return label(results, address("", field))


def named(text: str) -> str:
    """Markdown of names, and of counts of what is named: no record's numbers.

    Examples
    --------
    >>> named("run 1 of 2 "), named("and")
    ('[run 1 of 2]{data-kind="label"} ', 'and')
    """
    inner = text.strip(" ")  # other spaces keep what they stand between on one line
    if not any(letter.isdigit() for letter in inner):
        return Shown(((text, ""),)).markdown if inner else text
    before, after = " " * text.startswith(" "), " " * text.endswith(" ")
    return f'{before}[{_escaped(inner)}]{{data-kind="label"}}{after}'


def words(results: Results, where: str) -> str:
    """A text of the records as Markdown, the whole of it in one element that says whose it is.

    Examples
    --------
    >>> words(Results(experiment="x", question="Is it?", results=()), "#question")
    '[Is it\\\\?]{data-record="#question"}'
    """
    text = " ".join(clean(resolve(results, where)).split())
    text = _ONE_NUMBER.sub(lambda match: match[0].replace(" ", "\u00a0"), text)
    return Shown(((text, where),)).markdown if text else ""


def joined(parts: Sequence[Shown], between: str = ", ") -> Shown:
    """Several in a row."""
    out: list[tuple[str, str]] = []
    for i, part in enumerate(parts):
        out += [(between, "")] if i else []
        out += part.parts
    return Shown(tuple(out))
