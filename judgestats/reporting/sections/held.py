"""Later runs held to the first, paired by item: tests and tables, or the reason why not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judgestats.analysis.drift import drift
from judgestats.errors import InputError
from judgestats.reporting import plots
from judgestats.reporting.runs import Run
from judgestats.reporting.sections.answers import told
from judgestats.reporting.sections.comparability import refusals
from judgestats.reporting.show import Captioned, Markdown, Showable
from judgestats.reporting.shown import NOTHING, Measured, Shown, address, column, label, named
from judgestats.reporting.tables import Column, Table
from judgestats.results import Comparison, Estimate, Results, Test, write_results

__all__ = ["Pair", "files", "in_short", "paired", "pairs", "shifts"]

_FEWEST_DRAWN = 3


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A later run held to the first: what `drift` found on the items that both judged.

    Attributes
    ----------
    number : int
        Of the later run, from 2.
    refused : str
        Why nothing was tested; then there are no records.
    found : Results or None
    """

    number: int
    refused: str = ""
    found: Results | None = None

    @property
    def title(self) -> str:
        """What is compared."""
        return f"Run {self.number} against Run 1"

    @property
    def file(self) -> str:
        """What its results file is called."""
        return f"run-{self.number}-against-run-1"

    @property
    def told(self) -> str:
        """The comparison in words."""
        if self.found is None:
            return f"Not tested: {self.refused.rstrip('.')}."
        return f"{self.title}: {self.found.answer}"

    @property
    def table(self) -> Table:
        """The comparison, a row a condition."""
        if self.found is None:
            raise InputError(f"{self.title} has no table: {self.refused}")
        return _paired_table(self, self.found)


def pairs(runs: Sequence[Run], *, n_resamples: int = 999, seed: int = 0) -> list[Pair]:
    """Every later run held to the first, paired by item, or the reason why not.

    Parameters
    ----------
    runs : sequence of Run
        At least two.
    n_resamples, seed : int
        Of permutations and bootstraps.

    Returns
    -------
    list of Pair
    """
    held = []
    for number, run in enumerate(runs[1:], start=2):
        reasons = refusals(runs[0], run)
        if reasons:
            held.append(Pair(number=number, refused="; ".join(reasons)))
            continue
        try:
            found = drift(runs[0].judgments, run.judgments, n_resamples=n_resamples, seed=seed)
        except InputError as error:
            held.append(Pair(number=number, refused=str(error)))
            continue
        held.append(Pair(number=number, found=found.records({"kind": "comparison"})))
    return held


def in_short(held: Sequence[Pair]) -> list[Showable]:
    """What became of each comparison, and the shifts as dots with intervals."""
    parts = []
    for pair in held:
        named_ = f"**{named(f'{pair.title}.')}**"
        if pair.found is None:
            parts.append(f"{named_} {named(pair.told)}")
            continue
        parts += [
            f"{named_} {_items(pair.found).within(pair.file).markdown} items were judged by both."
        ]
        parts += told(pair.found, pair.file)
    text = "::: {.answer}\n\n" + "\n\n".join(parts) + "\n\n:::"
    return [Markdown(text), shifts(held)]


def paired(held: Sequence[Pair]) -> list[Showable]:
    """Every later run against the first as `pairs` found it: a table each."""
    return [pair.table for pair in held if pair.found is not None]


def files(held: Sequence[Pair]) -> Markdown:
    """The records of each comparison as a results file beside the page, with links."""
    made = [f"tables/{pair.file}.json" for pair in held if pair.found is not None]
    for pair in held:
        if pair.found is not None:
            Path("tables").mkdir(exist_ok=True)
            write_results(Path("tables", f"{pair.file}.json"), pair.found)
    lines = "\n".join(f"- [{name}]({name}): all records" for name in made)
    return Markdown(f"::: {{.files}}\n\n{lines}\n\n:::" if made else "")


def shifts(held: Sequence[Pair]) -> Captioned | None:
    """The shifts of the mean with intervals; None where there are fewer than three to draw."""
    rows = [row for pair in held for row in _shift_rows(pair)]
    if len(rows) < _FEWEST_DRAWN:
        return None
    return Captioned(
        figure=plots.Forest(
            rows=tuple(rows), x_label="Shift of the mean score (points of the scale)"
        ),
        label="fig-shifts",
        caption=(
            "Shift of the mean score against Run 1, paired by item, with intervals, which are "
            "not adjusted. Filled squares: shifted by the test, adjusted for all that was tested. "
            "A hollow one does not show that nothing changed."
        ),
    )


def _items(found: Results) -> Shown:
    """The items that both runs judged, of the test that has most."""
    known = [t for t in found.select(Test, top=True) if t.sample is not None]
    if not known:
        return NOTHING
    test = max(known, key=lambda t: t.sample.n_items if t.sample else 0)
    return label(found, address(test.id, "sample.n_items"))


_TESTS = {"shift": "shift", "spread": "spread", "verdicts": "flips"}
"""A row of drift's screen, and the test of it, by the beginning of its id."""
_HEADS = {"shift": "Mean moved", "spread": "Variance x", "verdicts": "Changed"}


def _paired_table(pair: Pair, found: Results) -> Table:
    names = list(dict.fromkeys(name for row in found.rows for name in row.cells))
    rows: list[dict[str, Any]] = [{"condition": name} for name in names]
    columns = [Column(key="condition", label="Condition")]
    for asked in found.rows:
        numbers = [_number(found, asked.cells.get(name, "")) for name in names]
        for row, text in zip(rows, column(numbers), strict=True):
            row[asked.key] = text.within(pair.file)
            row[f"{asked.key}_p"] = _p(found, f"{_TESTS[asked.key]}.{row['condition']}").within(
                pair.file
            )
        columns += [
            Column(key=asked.key, label=_HEADS[asked.key], align="right"),
            Column(key=f"{asked.key}_p", label="p, adjusted", align="right"),
        ]
    undefined = any(str(row.get("spread", "")) == str(NOTHING) for row in rows)
    return Table(
        columns=tuple(columns),
        rows=tuple(rows),
        caption=(
            f"Run {pair.number} against Run 1, paired by item. Mean moved: Run {pair.number} minus "
            "Run 1, in points. Variance x: its within-item variance over that of Run 1; the p is "
            "that of the test of spread. Changed: verdicts, or scores, beyond repetition. "
            "p-values are adjusted in one family."
        ),
        note="– undefined: a variance of 0 in one of the runs." if undefined else "",
        label=f"tbl-paired-{pair.number}",
    )


def _number(found: Results, where: str) -> Measured:
    record = found[where] if where else None
    return Measured.of(record) if isinstance(record, (Estimate, Comparison)) else Measured()


def _p(found: Results, test: str) -> Shown:
    if test not in found:
        return NOTHING
    bound = found.get(test, Test).p_bound
    return label(found, address(test, "p_adjusted"), p=True, bound=bound)


def _verdict(found: Results, test: str) -> plots.Verdict:
    if test not in found or math.isnan(found.get(test, Test).p_adjusted):
        return ""
    record = found.get(test, Test)
    return "different" if record.p_adjusted < found.family(record.family).level else "undecided"


def _shift_rows(pair: Pair) -> list[plots.EffectRow]:
    found = pair.found
    rows = [row for row in found.rows if row.key == "shift"] if found is not None else []
    if found is None:
        return []
    numbers = [(name, _number(found, i)) for row in rows for name, i in row.cells.items()]
    return [
        plots.EffectRow(
            label=name, estimate=m.value, low=m.low, high=m.high, group=pair.title,
            verdict=_verdict(found, f"shift.{name}"),
        )
        for name, m in numbers
        if m.known
    ]  # fmt: skip
