"""The types of a record's fields as a file holds them: numbers, plain values, and what is allowed.

JSON has neither NaN nor infinity. A number that is undefined is NaN here and ``null`` in a file; an
infinite one (an odds ratio without the other kind of pair) is ``"inf"`` or ``"-inf"`` there. The
markers below tell pydantic so; it is imported when a file is written or read, not before.
"""

from __future__ import annotations

import dataclasses
import enum
import math
from collections.abc import Callable, Mapping
from typing import Annotated, Any

_INFINITE = {"inf": math.inf, "-inf": -math.inf}


def plain(value: Any) -> Any:
    """Plain JSON values: NaN is None, infinity a word, arrays and frames are lists.

    Arrays and frames are known by what they can do (``tolist``, ``to_dict``), so that nothing
    heavy is imported here.

    Examples
    --------
    >>> plain({"a": math.nan, "b": (1, math.inf), 0.5: None})
    {'a': None, 'b': [1, 'inf'], '0.5': None}
    """
    if isinstance(value, enum.Enum):
        return plain(value.value)
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return None if math.isnan(value) else float(value) if math.isfinite(value) else str(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(v) for v in value]
    if hasattr(value, "to_dict") and hasattr(value, "columns"):
        return [plain(row) for row in value.to_dict("records")]
    if hasattr(value, "tolist"):
        numbers = str(getattr(value, "dtype", ""))[:3] in {"int", "uin", "flo"} and value.ndim
        # A sum is finite where every number is; ``x - x`` would be NaN where one is not.
        if numbers and math.isfinite((value - value).sum()):
            return value.tolist()
        return plain(value.tolist())
    return str(value)


_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def spreadsheet_cell(value: Any) -> Any:
    """A cell of a table that people open in a spreadsheet: text is never run as a formula.

    Names of judges, items and verdicts were written by others. Files of data, which are read
    again, keep their cells as they are.

    Examples
    --------
    >>> spreadsheet_cell("=1+1"), spreadsheet_cell("gpt-4o"), spreadsheet_cell(-1.5)
    ("'=1+1", 'gpt-4o', -1.5)
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def _number(value: Any) -> float:
    if value is None:
        return math.nan
    if isinstance(value, str) and value in _INFINITE:
        return _INFINITE[value]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"expected a number, null, 'inf' or '-inf', got {value!r}")  # noqa: TRY004
    return float(value)


def _probability(value: Any) -> float:
    number = _number(value)
    if not math.isnan(number) and not 0 <= number <= 1:
        raise ValueError(f"expected a probability between 0 and 1, or null, got {value!r}")
    return number


def _plain(value: Any) -> Any:
    return value


@dataclasses.dataclass(frozen=True)
class _Read:
    """Tells pydantic how a field is read, and its JSON Schema; writing is `plain` everywhere."""

    read: Callable[[Any], Any]
    schema: tuple[tuple[str, Any], ...]

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(self.read)

    def __get_pydantic_json_schema__(self, source: Any, handler: Any) -> dict[str, Any]:
        return dict(self.schema)


Number = Annotated[
    float,
    _Read(_number, (("anyOf", [{"type": ["number", "null"]}, {"enum": ["inf", "-inf"]}]),)),
]
"""A number: NaN where it is undefined (``null`` in a file), possibly infinite."""

Probability = Annotated[
    float, _Read(_probability, (("type", ["number", "null"]), ("minimum", 0), ("maximum", 1)))
]
"""A p-value: NaN where there is none."""

Plain = Annotated[Any, _Read(_plain, ())]
"""Any JSON value."""


class OneOf:
    """Of several dataclasses the one that the field ``kind`` names."""

    def __init__(self, **classes: type) -> None:
        self.classes = classes

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        choices = {kind: handler.generate_schema(cls) for kind, cls in self.classes.items()}
        return core_schema.tagged_union_schema(choices, discriminator="kind")
