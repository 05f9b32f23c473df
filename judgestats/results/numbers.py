"""Numbers as text, conventions, and names of conditions."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from judgestats.files.text import format_number, written_out
from judgestats.results.records import Condition
from judgestats.results.results import Results


def is_number(text: str) -> bool:
    """Whether a text is a number.

    Examples
    --------
    >>> is_number("0.5"), is_number("low")
    (True, False)
    """
    try:
        float(text)
    except ValueError:
        return False
    return True


class Adjusted(Protocol):
    """What has an adjusted p: a test, a comparison, a claim."""

    @property
    def p_adjusted(self) -> float:
        """The adjusted p."""

    @property
    def p_bound(self) -> bool:
        """Whether it is an upper bound: the p that it is made from is at its floor."""


def adjusted_p(of: Adjusted) -> str:
    """The adjusted p of a test, a comparison or a claim, as `format_p` writes it.

    Examples
    --------
    >>> from judgestats.results import About, Headline
    >>> claim = Headline(id="h", hypothesis="h", claim="differs", about=About(), p_adjusted=0.002,
    ...                  p_bound=True)
    >>> adjusted_p(claim)
    '≤ .002'
    """
    return format_p(of.p_adjusted, smallest=of.p_adjusted if of.p_bound else 0.0)


_TINY, _WHOLE = 1e-5, 0.9995
"""Beyond these a bound is reported no more closely than any p."""


def format_p(p: float, *, smallest: float = 0.0) -> str:
    """Format a p-value exactly, or as ``< .001`` (APA: no leading zero, three decimals).

    Where the method of the test cannot give less than `smallest` and gave it, that is an upper
    bound and printed as one.

    Examples
    --------
    >>> format_p(0.0312), format_p(0.00001), format_p(1.0), format_p(float("nan"))
    ('= .031', '< .001', '> .999', '= NA')
    >>> format_p(0.001, smallest=0.001), format_p(1 / 10_000, smallest=1 / 10_000)
    ('≤ .001', '≤ .0001')
    >>> format_p(1e-12, smallest=1e-12), format_p(1.0, smallest=1.0)
    ('< .001', '> .999')
    """
    if p is None or math.isnan(p):
        return "= NA"
    if _TINY <= p < _WHOLE and p <= smallest * (1 + 1e-9):
        # Rounded up: a bound may not be smaller than what it bounds.
        decimals = 3 if p >= 0.0005 else math.ceil(-math.log10(p))
        bound = math.ceil(p * 10**decimals - 1e-9) / 10**decimals
        return "≤ " + f"{bound:.{decimals}f}".removeprefix("0")
    if p < 0.001:
        return "< .001"
    if p >= _WHOLE:
        return "> .999"
    return "= " + f"{p:.3f}".removeprefix("0")


def printed_p(p: float, *, smallest: float = 0.0) -> str:
    """A p-value as R prints it, as a bound where it is at the smallest that it can be.

    Examples
    --------
    >>> printed_p(0.031234), printed_p(1e-20), printed_p(0.001, smallest=0.001)
    ('= 0.03123', '< 2.2e-16', '<= 0.001')
    """
    if p < 2.2e-16:
        return "< 2.2e-16"
    return f"{'<=' if p <= smallest * (1 + 1e-9) else '='} {format_number(p)}"


def count_noun(count: int, one: str, several: str) -> str:
    """A number with its noun.

    Examples
    --------
    >>> count_noun(1, "answer", "answers"), count_noun(2000, "answer", "answers")
    ('1 answer', '2,000 answers')
    """
    return f"{count:,} {one if count == 1 else several}"


def as_sentence(text: str) -> str:
    """Text with a capital at its start and a full stop at its end.

    Examples
    --------
    >>> as_sentence("items are paired")
    'Items are paired.'
    """
    text = text.strip()
    if not text:
        return ""
    return text[0].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


def aligned(rows: Sequence[Sequence[str]], right: Collection[int]) -> list[str]:
    """Rows of text as columns, those with these indices at their right ends.

    Examples
    --------
    >>> aligned([["a", "b"], ["one", "10"]], {1})
    ['a     b', 'one  10']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            text.rjust(width) if j in right else text.ljust(width)
            for j, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


MINUS = "\u2212"
_MOST_DECIMALS = 4


def apa_number(value: float, *, digits: int = 2, bounded: bool = False) -> str:
    """A number with fixed decimals and a real minus sign; no leading zero where `bounded`.

    Small numbers get as many decimals as show one figure, so that ``0.004`` is not reported as 0.

    Examples
    --------
    >>> apa_number(0.3155, bounded=True), apa_number(-1.256), apa_number(0.0042)
    ('.32', '−1.26', '0.004')
    >>> apa_number(10126.634), apa_number(-0.0)
    ('10,126.63', '0.00')
    """
    if math.isnan(value):
        return "NA"
    if math.isinf(value):
        return "∞" if value > 0 else f"{MINUS}∞"
    if abs(value) >= 1e6:
        return written_out(value, figures=digits + 1).replace("-", MINUS)
    needed = next(
        (d for d in range(digits, _MOST_DECIMALS + 1) if abs(value) >= 0.5 * 10.0**-d), digits
    )
    return _fixed(value, needed, bounded=bounded)


def _fixed(value: float, decimals: int, *, bounded: bool) -> str:
    text = f"{abs(value):,.{decimals}f}"
    negative = value < 0 and bool(text.strip("0."))
    if bounded and text.startswith("0."):
        text = text[1:]
    return f"{MINUS}{text}" if negative else text


def apa_p(p: float, *, smallest: float = 0.0) -> str:
    """``p = .031``, ``p < .001`` or ``p > .999``.

    Examples
    --------
    >>> apa_p(0.0312), apa_p(1e-9), apa_p(1.0)
    ('p = .031', 'p < .001', 'p > .999')
    """
    return f"p {format_p(p, smallest=smallest)}"


def estimate_parts(
    value: float,
    low: float,
    high: float,
    *,
    digits: int = 2,
    bounded: bool = False,
    decimals: int | None = None,
) -> tuple[str, str]:
    """An estimate and the bounds of its interval as texts with the same decimals.

    The decimals are those that show two figures of the interval's width: `digits` of them at least,
    and 4 at most unless `digits` is more. Further ones would pretend to a precision that is not
    there, fewer would hide what is.

    Parameters
    ----------
    value, low, high : float
        NaN bounds: there is no interval.
    digits : int
        The fewest decimals.
    bounded : bool
        Whether the quantity cannot exceed 1, and so has no leading zero.
    decimals : int, optional
        Those of the column that it is in (`column_decimals`), rather than its own.

    Returns
    -------
    tuple of str
        The estimate, and ``[low, high]`` or an empty text.

    Examples
    --------
    >>> estimate_parts(0.8229, 0.79, 0.8542, bounded=True)
    ('.823', '[.790, .854]')
    >>> estimate_parts(2.0428, 1.5713, 2.66)
    ('2.04', '[1.57, 2.66]')
    >>> estimate_parts(0.004, -0.14, 0.15)
    ('0.00', '[−0.14, 0.15]')
    >>> estimate_parts(0.5, math.nan, math.nan)
    ('0.50', '')
    """
    if decimals is None:
        decimals = _decimals(value, low, high, digits)
    texts = [
        apa_number(v, digits=digits, bounded=bounded)
        if decimals is None or not abs(v) < 1e6
        else _fixed(v, decimals, bounded=bounded)
        for v in (value, low, high)
    ]
    if math.isnan(low) or math.isnan(high):
        return texts[0], ""
    return texts[0], f"[{texts[1]}, {texts[2]}]"


def _decimals(value: float, low: float, high: float, digits: int) -> int | None:
    """Decimals that show two figures of an interval's width; None where it has none."""
    width = high - low
    if not math.isfinite(width) or width <= 0 or max(abs(value), abs(low), abs(high)) >= 1e6:
        return None
    return max(digits, min(1 - math.floor(math.log10(width)), _MOST_DECIMALS))


def column_decimals(numbers: Iterable[tuple[float, float, float]]) -> int | None:
    """The decimals of a column of estimates, which are compared down it: one number for all.

    Those of its widest interval: more would pretend, for that row, to a precision that is not
    there. None where no interval tells, and each number has its own.

    Parameters
    ----------
    numbers : iterable of (value, low, high)

    Examples
    --------
    >>> column_decimals([(0.003, 0.0, 0.09), (0.0, 0.0, 0.0), (1.2, 0.9, 1.4)])
    2
    >>> column_decimals([(0.0123, 0.0103, 0.0143), (0.02, 0.018, 0.022)])
    4
    >>> column_decimals([(0.5, math.nan, math.nan)])
    """
    own = (_decimals(*number, digits=2) for number in numbers)
    return min((d for d in own if d is not None), default=None)


def with_bounds(
    value: float,
    low: float = math.nan,
    high: float = math.nan,
    *,
    digits: int = 2,
    bounded: bool = False,
) -> str:
    """An estimate with its interval as a sentence shows it: see `estimate_parts`.

    Examples
    --------
    >>> with_bounds(0.8229, 0.79, 0.8542, bounded=True), with_bounds(0.8229, bounded=True)
    ('.823 [.790, .854]', '.82')
    """
    number, bounds = estimate_parts(value, low, high, digits=digits, bounded=bounded)
    return f"{number} {bounds}" if bounds else number


def bounds_of(interval: Any) -> tuple[float, float]:
    """The bounds of an `Interval`; NaN where there is none."""
    return (interval.low, interval.high) if interval else (math.nan, math.nan)


def percent_of(interval: Any) -> str:
    """The level of an `Interval` in percent: that of its family, where it is adjusted for one.

    Examples
    --------
    >>> from judgestats.results import Interval
    >>> percent_of(Interval(low=0, high=1)), percent_of(Interval(low=0, high=1, level=0.999))
    ('95', '99.9')
    >>> percent_of(Interval(low=0, high=1, level=1 - 0.05 / 6, family_level=0.95))
    'adjusted 95'
    """
    adjusted = interval.family_level
    return f"{100 * interval.level:.4g}" if adjusted is None else f"adjusted {100 * adjusted:.4g}"


def apa_estimate(value: float, interval: Any, *, digits: int = 2, bounded: bool = False) -> str:
    """``.81, 95% CI [.75, .87]``: an estimate with its `Interval`, if there is one.

    Examples
    --------
    >>> from judgestats.results import Interval
    >>> apa_estimate(0.8134, Interval(low=0.751, high=0.862), bounded=True)
    '.81, 95% CI [.75, .86]'
    >>> apa_estimate(0.8134, None)
    '0.81'
    """
    low, high = bounds_of(interval)
    number, bounds = estimate_parts(value, low, high, digits=digits, bounded=bounded)
    return f"{number}, {percent_of(interval)}% CI {bounds}" if bounds else number


TARGETS = (0.80, 0.90)
"""Reliabilities that repeats are asked for."""
UNREPEATED_CODE = "not_repeated"
"""Code of the limitation of data without repeats."""


@dataclass(frozen=True, kw_only=True)
class Column:
    """A condition: label, distinguishing part, and judge (or run)."""

    label: str
    name: str
    group: str = ""


def columns_of(results: Results) -> tuple[str, tuple[Column, ...]]:
    """The conditions that a row answers for, and whatever else one does (a pair, a judge)."""
    used = dict.fromkeys(label for row in results.rows for label in row.cells)
    conditions = [c for c in results.conditions if c.label in used]
    if len(conditions) == len(used):
        return describe_conditions(conditions)
    return "", tuple(Column(label=label, name=label) for label in used)


def short_names(results: Results) -> dict[str, str]:
    """The name of every condition by its label, one and the same on a screen and a page.

    Conditions of which no row of the screen tells anything keep their labels, unless none does.

    Examples
    --------
    >>> conditions = tuple(Condition(label=f"a, T={t:g}", judge="a", factors={"temperature": t})
    ...                    for t in (0.0, 1.0))
    >>> short_names(Results(experiment="x", question="?", results=(), conditions=conditions))
    {'a, T=0': 'T=0', 'a, T=1': 'T=1'}
    """
    labels = {c.label for c in results.conditions}
    _, columns = columns_of(results)
    if not columns or not labels.intersection(c.label for c in columns):
        _, columns = describe_conditions(results.conditions)
    return {c.label: c.name for c in columns if c.label in labels}


def with_names(text: str, names: Mapping[str, str]) -> str:
    """A text in which conditions are called by their names instead of their labels.

    Examples
    --------
    >>> with_names("a, T=0.5 is better than a, T=0.", {"a, T=0": "T=0", "a, T=0.5": "T=0.5"})
    'T=0.5 is better than T=0.'
    """
    other = sorted((label for label, name in names.items() if label != name), key=len)
    if not other:
        return text
    labels = "|".join(re.escape(label) for label in reversed(other))
    return re.sub(rf"(?<!\w)({labels})(?!\.?\w)", lambda match: names[match[0]], text)


def describe_conditions(conditions: Sequence[Condition]) -> tuple[str, tuple[Column, ...]]:
    """What conditions have in common, and what tells each from the others.

    Examples
    --------
    >>> conditions = [Condition(label=f"a, T={t:g}", judge="a", factors={"temperature": t})
    ...               for t in (0.0, 1.0)]
    >>> shared, columns = describe_conditions(conditions)
    >>> shared, [c.name for c in columns]
    ('a', ['T=0', 'T=1'])
    """
    parts = [_parts(c) for c in conditions]
    names = list(dict.fromkeys(key for part in parts for key in part))
    common = [n for n in names if len({part.get(n, "") for part in parts}) == 1]
    if len(conditions) == 1:
        common = common[1:] if "judge" in common else []
    varied = [n for n in names if n not in common]
    spelled = [n for n in varied if n not in {"judge", "temperature"}]
    levels = {part[n].partition("=")[2] for part in parts for n in spelled if n in part}
    if len(spelled) == 1 and not any(map(is_number, levels)):
        [factor] = spelled  # words say by themselves what they are levels of
        parts = [
            part | ({factor: part[factor].removeprefix(f"{factor}=")} if factor in part else {})
            for part in parts
        ]
    own = [", ".join(part[k] for k in varied if k in part) for part in parts]
    if len(set(own)) < len(own) or not all(own):  # told apart by more than factors
        return "", tuple(Column(label=c.label, name=c.label, group=c.judge) for c in conditions)
    shared = ", ".join(parts[0][n] for n in common if parts[0].get(n)) if parts else ""
    return shared, tuple(
        Column(label=c.label, name=name, group=c.judge)
        for c, name in zip(conditions, own, strict=True)
    )


def _parts(condition: Condition) -> dict[str, str]:
    """The judge and every factor of a condition, as its name spells them."""
    parts = {"judge": condition.judge} if condition.judge else {}
    for factor, level in condition.factors.items():
        if level is None:
            continue
        value = f"{level:g}" if isinstance(level, float) else level
        parts[factor] = f"T={value}" if factor == "temperature" else f"{factor}={value}"
    return parts
