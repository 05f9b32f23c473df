"""Numbers as a report prints them: fixed decimals, APA p-values, intervals, money, NaN dashed."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from judgestats.results.numbers import format_p, written_out

DASH = "\u2013"
UNKNOWN = "not determined"
WHY_UNKNOWN = (
    "Not determined: these data, which few questions carry, leave that end of the interval open "
    "(more than 100 times from the estimate)."
)
MINUS = "\u2212"
_FIGURE_SPACE, _POINT_SPACE, _FIXED_SPACE = "\u2007", "\u2008", "\u00a0"


def is_missing(value: Any) -> bool:
    """Whether a value is None or NaN."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def number(value: Any, *, digits: int = 2, leading_zero: bool = True) -> str:
    """Fixed decimals, a real minus sign, a dash for NaN; no ``-0.00``.

    Examples
    --------
    >>> number(-1.256), number(float("nan")), number(0.5, leading_zero=False), number(-0.001)
    ('−1.26', '–', '.50', '0.00')
    """
    if is_missing(value):
        return DASH
    value = float(value)
    if math.isinf(value):
        return "∞" if value > 0 else MINUS + "∞"
    if value != 0 and (abs(value) >= 1e6 or abs(value) < 0.5 * 10 ** -(digits + 2)):
        large = abs(value) >= 1e6
        text = written_out(value, figures=digits + 1) if large else f"{0:.{digits}f}"
    else:
        text = f"{value:.{digits}f}"
    if text.startswith("-") and float(text.replace(",", "")) == 0:
        text = text[1:]
    if not leading_zero:
        text = text.replace("-0.", "-.", 1) if text.startswith("-0.") else text
        text = text[1:] if text.startswith("0.") else text
    return text.replace("-", MINUS)


class Bound(float):
    """A p-value in a table's cell that is an upper bound."""


def p_cell(p: float, *, bound: bool) -> float:
    """A p-value for a table's cell: `p_value` prints it as a bound where it is one.

    Examples
    --------
    >>> p_value(p_cell(0.002, bound=True)), p_value(p_cell(0.002, bound=False))
    ('≤ .002', '.002')
    """
    return Bound(p) if bound else p


def p_value(value: Any) -> str:
    """A p-value as APA prints it: three decimals, no leading zero, ``< .001`` and ``> .999``.

    Examples
    --------
    >>> p_value(0.0312), p_value(1e-9), p_value(1.0), p_value(None)
    ('.031', '< .001', '> .999', '–')
    """
    if is_missing(value):
        return DASH
    if isinstance(value, Bound):
        return format_p(float(value), smallest=float(value))
    if value < 0.001:
        return f"<{_FIXED_SPACE}.001".replace(_FIXED_SPACE, " ")
    if value >= 0.9995:
        return f">{_FIXED_SPACE}.999".replace(_FIXED_SPACE, " ")
    return f"{float(value):.3f}".removeprefix("0")


def interval(low: Any, high: Any, *, digits: int = 2, leading_zero: bool = True) -> str:
    """Two bounds in brackets.

    Examples
    --------
    >>> interval(0.751, 0.862, leading_zero=False), interval(None, 1.0)
    ('[.75, .86]', '–')
    """
    if is_missing(low) or is_missing(high):
        return DASH
    a = number(low, digits=digits, leading_zero=leading_zero)
    b = number(high, digits=digits, leading_zero=leading_zero)
    return f"[{a}, {b}]"


def positive_interval(
    low: Any, high: Any, *, estimate: Any, digits: int = 2, factor: float = 100.0
) -> str:
    """Bounds of a variance or a ratio; an end that says nothing is not printed as a number.

    An end more than `factor` times from the estimate comes from a standard error that these data
    do not determine, not from knowledge; what is known of the other end is still printed.

    Examples
    --------
    >>> positive_interval(0.1, 0.9, estimate=0.3)
    '[0.10, 0.90]'
    >>> positive_interval(0.1, 4e5, estimate=0.3), positive_interval(1e-9, 4e5, estimate=0.3)
    ('[0.10, not determined]', 'not determined')
    """
    if is_missing(low) or is_missing(high) or is_missing(estimate) or not estimate > 0:
        return interval(low, high, digits=digits)
    ends = [
        number(end, digits=digits) if 1 / factor <= end / estimate <= factor else UNKNOWN
        for end in (float(low), float(high))
    ]
    return UNKNOWN if ends == [UNKNOWN] * 2 else f"[{ends[0]}, {ends[1]}]"


def percent(value: Any, *, digits: int = 1) -> str:
    """A share as a percentage.

    Examples
    --------
    >>> percent(0.1234), percent(float("nan")), percent(0.0002)
    ('12.3 %', '–', '< 0.1 %')
    """
    if is_missing(value):
        return DASH
    least = 10.0**-digits
    if 0 < 100 * float(value) < least / 2:  # not none
        return f"< {least:.{digits}f} %"
    return f"{number(100 * float(value), digits=digits)} %"


def integer(value: Any) -> str:
    """A whole number with thin group separators.

    Examples
    --------
    >>> integer(12345), integer(None)
    ('12,345', '–')
    """
    return DASH if is_missing(value) else f"{round(float(value)):,}".replace("-", MINUS)


def money(value: Any) -> str:
    """US dollars; small amounts keep two significant digits; an unknown price is ``unknown``.

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
    """Pad right-aligned numbers with figure-wide spaces so that their points stand in a line.

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
