"""What a user may say about a table of judgments."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from judgestats.data.verdict_kinds import KINDS
from judgestats.data.vocabulary import check_values, values_option
from judgestats.errors import InputError
from judgestats.protocols.base import MOST_POINTS


def scale_of(given: object) -> tuple[float, float] | None:
    """The ends of a scale, from ``"1-10"`` or two numbers; None where none is given.

    Examples
    --------
    >>> scale_of("1-10"), scale_of((0, 1)), scale_of(None)
    ((1.0, 10.0), (0.0, 1.0), None)
    """
    if given is None:
        return None
    ends: Any = given
    if isinstance(given, str):
        match = re.fullmatch(r"\s*(-?[\d.]+)\s*(?:-|to|\.\.)\s*(-?[\d.]+)\s*", given)
        ends = match.groups() if match else ()
    try:
        low, high = map(float, ends)
        scale = low, high
    except (TypeError, ValueError):
        scale = (math.nan, math.nan)
    if not all(map(math.isfinite, scale)):
        raise InputError(
            f"--scale: expected LOWEST-HIGHEST, e.g. 1-10 or 0-1, got {str(given)[:40]!r}."
        )
    points = abs(scale[1] - scale[0]) + 1
    if points > MOST_POINTS:
        raise InputError(
            f"--scale {scale[0]:.15g}-{scale[1]:.15g} has {points:,.0f} points; at most "
            f"{MOST_POINTS:,}. Leave --scale out: the scores are then read without a scale."
        )
    return scale


_LISTED = {"item": "item", "condition": "factors"}
"""Roles of ``--map`` that have a separate option; ``+`` joins several columns."""
ROLE_NAMES: Mapping[str, str] = {
    "repeat": "replicate",
    "raw_reply": "raw_text",
    "cost": "cost_usd",
    "latency": "latency_s",
}
"""Other names of roles (ours behind them)."""
_FLAGS = {"mapping": "--map", "factors": "--factor", "passes": "--pass", "fails": "--fail"}


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """How to read a table; what is empty is decided from the table.

    Attributes
    ----------
    mapping : mapping of role to column
        A name with points is a path into nested JSON. ``item`` and ``condition`` take several
        columns (``item=question+turn``), and are then `item` and `factors`.
    factors, item, ignore : tuple of str
        Columns that distinguish conditions, that together name an item, and that do neither.
    judge : str
        The judge's name, where no column names it.
    kind : str
        The kind of verdict.
    passes, fails : tuple of str
        Words that are a pass, and a fail (``rest``: all others).
    values : mapping of word to meaning
        What words of verdicts and labels mean: ``pass``, ``fail``, ``a``, ``b``, ``tie``, ``skip``,
        ``unparsed``, ``error``, ``missing`` or a number; ``label:WORD`` and ``verdict:WORD`` are
        of one side only.
    scale : (low, high) or None
    wide : tuple of str
        Columns that each hold the verdicts of one judge, run, criterion, order or person.
    explode : tuple of str
        Columns with lists in their cells, a verdict or a repetition each.
    parse : str
        A protocol's name or a regular expression: how to read verdicts out of replies.
    labels : path or frame or None
        Human labels, in a second table.
    table : str
        The table of a database, or the sheet of a workbook.
    as_shown : bool
        Verdicts name the place where a response was shown, not the response.
    human, judge_rows : str
        ``COLUMN=VALUE,VALUE``: the rows that people gave (they are labels), and the rows that are
        judged.
    rows : tuple of str
        ``COLUMN=VALUE,VALUE`` each: all other rows are left out before anything else.
    """

    mapping: Mapping[str, str] = field(default_factory=dict)
    factors: tuple[str, ...] = ()
    item: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    judge: str = ""
    kind: str = ""
    passes: tuple[str, ...] = ()
    fails: tuple[str, ...] = ()
    values: Mapping[str, str] = field(default_factory=dict)
    scale: tuple[float, float] | None = None
    wide: tuple[str, ...] = ()
    explode: tuple[str, ...] = ()
    parse: str = ""
    labels: Any = None
    table: str = ""
    as_shown: bool = False
    human: str = ""
    judge_rows: str = ""
    rows: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse wrong values before any data are read."""
        self._take_roles()
        if self.kind and self.kind not in KINDS:
            raise InputError(f"--kind must be one of {', '.join(KINDS)}, got {self.kind!r}.")
        if (self.passes or self.fails) and self.kind not in {"", "pass-fail"}:
            option = "--pass" if self.passes else "--fail"
            raise InputError(f"{option} says pass / fail, but --kind is {self.kind}. Drop one.")
        check_values(self.values)
        stated_options = [("human", self.human), ("judge-rows", self.judge_rows)]
        for option, stated in [*stated_options, *(("rows", text) for text in self.rows)]:
            if stated and not all(part.strip() for part in (stated + "=").split("=", 2)[:2]):
                raise InputError(
                    f"--{option}: expected COLUMN=VALUE[,VALUE], got {stated[:60]!r}. Write for "
                    f"example --{option} source={'ANNOTATION' if option == 'human' else 'EVAL'}."
                )
        other = "--labels" if self.labels is not None else "--map label="
        if self.human and (self.labels is not None or "label" in self.mapping):
            raise InputError(f"--human and {other} both give human labels. Drop one.")
        raters = "rater_kind" in self.mapping
        if raters and (self.human or self.judge_rows):
            option = "human" if self.human else "judge-rows"
            raise InputError(
                f"--{option} and --map rater_kind= both state the rater kind. Drop one."
            )
        both = sorted(set(self.factors) & set(self.item))
        if both:
            raise InputError(f"{both[0]!r} is named by --item and by --factor. Choose one.")
        if self.scale is not None and not self.scale[0] < self.scale[1]:
            raise InputError(
                f"--scale: the lowest score ({self.scale[0]:g}) must be below the highest "
                f"({self.scale[1]:g})."
            )

    def _take_roles(self) -> None:
        """Give roles their names here, and the columns of an item and of conditions to these."""
        mapping: dict[str, str] = {}
        for role, column in self.mapping.items():
            if (own := _LISTED.get(role)) is not None:
                columns = tuple(c.strip() for c in column.split("+"))
                object.__setattr__(self, own, (*getattr(self, own), *columns))
                continue
            ours = ROLE_NAMES.get(role, role)
            if ours in mapping:
                raise InputError(f"--map: {role} and {ours} are one role. Map one column to it.")
            mapping[ours] = column
        object.__setattr__(self, "mapping", mapping)

    @property
    def has_table_options(self) -> bool:
        """Whether something was said that only a table has."""
        return bool(
            self.mapping or self.factors or self.item or self.ignore or self.wide or self.explode
            or self.parse or self.table or self.human or self.judge_rows or self.rows
        )  # fmt: skip

    @property
    def has_columns(self) -> bool:
        """Whether something was said of columns, which a tool's layout knows."""
        return replace(self, human="", judge_rows="", rows=()).has_table_options

    @property
    def stated_rows(self) -> list[str]:
        """Every ``COLUMN=VALUE,VALUE`` that was said of rows."""
        return [text for text in (self.human, self.judge_rows, *self.rows) if text]

    @property
    def stated_columns(self) -> list[str]:
        """The columns by which rows are distinguished."""
        return [text.partition("=")[0].strip() for text in self.stated_rows]

    def set_options(self) -> dict[str, Any]:
        """What is not left to be decided from the table, by the name of its attribute.

        Examples
        --------
        >>> TableOptions(factors=("name",)).set_options()
        {'factors': ('name',)}
        """
        plain = {f.name: getattr(self, f.name) for f in fields(self)}
        labels = {} if self.labels is None else {"labels": plain.pop("labels")}
        return labels | {k: v for k, v in plain.items() if v not in ({}, (), "", None, False)}

    def words(self) -> list[str]:
        """The options of a command that say the same.

        Examples
        --------
        >>> TableOptions(mapping={"score": "a.b"}, human="source=UI").words()
        ['--map', 'score=a.b', '--human', 'source=UI']
        """
        words: list[str] = []
        for name, value in self.set_options().items():
            flag = _FLAGS.get(name, f"--{name.replace('_', '-')}")
            if name == "values":
                words += shlex.split(values_option(value))
            elif isinstance(value, Mapping):
                words += [flag, ",".join(f"{k}={v}" for k, v in value.items())]
            elif name in {"wide", "rows"}:
                words += [word for spec in value for word in (flag, spec)]
            elif name == "scale":
                words += [flag, f"{value[0]:g}-{value[1]:g}"]
            elif isinstance(value, tuple):
                words += [flag, ",".join(value)]
            elif name == "labels" and not isinstance(value, (str, Path)):
                continue  # a frame has no name
            else:
                words += [flag] if value is True else [flag, str(value)]
        return words


def without_options(words: Sequence[str]) -> list[str]:
    """The words of a command without those that say how a table is read; labels stay.

    Examples
    --------
    >>> without_options(["check", "my.csv", "--map", "score=s", "--item=id", "--labels", "l.csv"])
    ['check', 'my.csv', '--labels', 'l.csv']
    """
    names = {f.name for f in fields(TableOptions)} - {"labels"}
    flags = {_FLAGS.get(name, f"--{name.replace('_', '-')}") for name in names}
    flags |= {"--first-options", "--second-options"}
    kept: list[str] = []
    following = iter(words)
    for word in following:
        flag, mark, _ = word.partition("=")
        if flag not in flags:
            kept.append(word)
        elif not mark and flag != "--as-shown":
            next(following, None)
    return kept
