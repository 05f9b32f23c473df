"""Later runs held to the first, paired by item: tests and tables, or the reason why not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from judgestats.analysis.drift import drift
from judgestats.errors import InputError
from judgestats.reporting import plots
from judgestats.reporting.escape import escape_markdown
from judgestats.reporting.formats import interval, positive_interval, why_unknown
from judgestats.reporting.runs import Run
from judgestats.reporting.sections.comparability import refusals
from judgestats.reporting.show import Captioned, Markdown, Showable
from judgestats.reporting.tables import Column, Table
from judgestats.results import Comparison, Estimate, Record, Results, ResultSet, Test
from judgestats.results.numbers import bounds_of

__all__ = ["PAIRED_KINDS", "Pair", "in_short", "paired", "pairs", "shifts"]

PAIRED_KINDS = ("shift", "ratio", "flips")
"""What is shown of `drift`, by the beginning of a result's id."""
_MANY_SHARED = 20
_FEWEST_DRAWN = 3
_FEW_SHARED = (
    " With so few shared items only large differences could be found: give the runs the same "
    "items, and the same seed where responses are drawn."
)


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

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """A row a condition: shift, ratio, changes."""
        return _paired_rows(self.found) if self.found is not None else []

    @property
    def told(self) -> str:
        """The comparison in words."""
        if self.found is None:
            return f"Not tested: {self.refused.rstrip('.')}."
        return _told(self.rows, self.number)

    @property
    def table(self) -> Table:
        """The comparison, a row a condition."""
        return _paired_table(self.rows, self.number)


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
    """What became of each comparison, a sentence each, and the shifts as dots with intervals."""
    told = [f"- **{pair.title}.** {escape_markdown(pair.told)}" for pair in held]
    text = "::: {.answer}\n\n" + "\n".join(told) + "\n\n:::"
    return [Markdown(text), shifts(held)]


def paired(held: Sequence[Pair]) -> list[Showable]:
    """Every later run against the first as `pairs` found it: a table each, or why there is none."""
    shown: list[Showable] = []
    for pair in held:
        shown.append(Markdown(f"## {pair.title}"))
        if pair.found is None:
            told = escape_markdown(pair.refused.rstrip("."))
            shown.append(Markdown(f"**Not tested**, since {told}."))
            continue
        shown.append(pair.table)
    return shown


def shifts(held: Sequence[Pair]) -> Captioned | None:
    """The shifts of the mean with intervals; None where there are fewer than three to draw."""
    rows = [row for pair in held for row in _shift_rows(pair.rows, pair.title)]
    if len(rows) < _FEWEST_DRAWN:
        return None
    return Captioned(
        figure=plots.Forest(
            rows=tuple(rows), x_label="Shift of the mean score (points of the scale)"
        ),
        label="fig-shifts",
        caption=(
            "Shift of the mean score against Run 1, paired by item, with intervals. An "
            "interval that holds 0 does not show that nothing changed."
        ),
    )


def _paired_rows(found: Results) -> list[dict[str, Any]]:
    """One row a condition: shift of the mean, ratio of variances, change beyond repetition.

    p-values are those of the tests, adjusted in the family of the analysis; that of the ratio is
    the test of spread.
    """
    rows: dict[str, dict[str, Any]] = {}
    for record in found.select(Record, top=True):
        kind, _, condition = record.id.partition(".")
        if kind not in {*PAIRED_KINDS, "spread"} or not isinstance(record, (Test, ResultSet)):
            continue
        row = rows.setdefault(condition, {"condition": condition})
        shown: Sequence[Record]
        if isinstance(record, Test):
            row["ratio_p" if kind == "spread" else f"{kind}_p"] = record.p_adjusted
            shown = found.effects(record)
        else:
            shown = found.members(record)
        if kind != "spread" and shown and isinstance(shown[0], (Estimate, Comparison)):
            row[kind] = shown[0].estimate
            row[f"{kind}_low"], row[f"{kind}_high"] = bounds_of(shown[0].interval)
            row["n"] = record.sample.n_items if record.sample is not None else None
    return [row for row in rows.values() if set(PAIRED_KINDS) & set(row)]


def _told(rows: Sequence[dict[str, Any]], number: int) -> str:
    """The comparison in words."""
    parts = []
    for kind, what in (("shift", "the mean score"), ("ratio", "the spread")):
        tested = [r for r in rows if not math.isnan(r.get(f"{kind}_p", math.nan))]
        if not tested:
            continue
        apart = [r for r in tested if r[f"{kind}_p"] < 0.05]
        parts.append(
            f"{what} differs in {len(apart)} of {_conditions(len(tested))}"
            if apart
            else f"no difference of {what} was detected in {_conditions(len(tested))}"
        )
    items = max((int(r["n"]) for r in rows if r.get("n")), default=0)
    how = " (adjusted p below .05). What is not detected is not shown to be absent."
    # Without a p the differences do not vary; a shift of 0 then says that every one is 0.
    same = bool(rows) and all(r.get("shift") == 0 for r in rows)
    nothing = (
        "the mean of every item's scores is the same in both, so there is no difference to test."
        if same
        else "nothing could be tested."
    )
    text = "; ".join(parts) + how if parts else nothing
    return f"On the {items} items that both runs judged, Run {number} held to Run 1: {text}" + (
        _FEW_SHARED if items < _MANY_SHARED else ""
    )


def _conditions(count: int) -> str:
    return f"{count} condition" + "s" * (count != 1)


def _paired_table(rows: Sequence[dict[str, Any]], number: int) -> Table:
    shown = [
        row
        | {
            f"{kind}_ci": interval(
                row.get(f"{kind}_low"), row.get(f"{kind}_high"), leading_zero=kind != "flips"
            )
            for kind in PAIRED_KINDS
        }
        | {
            "ratio_ci": positive_interval(
                row.get("ratio_low"), row.get("ratio_high"), estimate=row.get("ratio")
            )
        }
        for row in rows
    ]
    columns = [
        Column(key="condition", label="Condition"),
        Column(key="n", label="Items", format="integer"),
        Column(key="shift", label="Shift of mean", format="number:2"),
        Column(key="shift_ci", label="Interval", align="right"),
        Column(key="shift_p", label="p, adjusted", format="p"),
        Column(key="ratio", label="Ratio of variances", format="number:2"),
        Column(key="ratio_ci", label="Interval", align="right"),
        Column(key="ratio_p", label="p, adjusted", format="p"),
        Column(key="flips", label="Changed", format="coefficient:2"),
        Column(key="flips_ci", label="Interval", align="right"),
    ]
    kept = [
        c for c in columns
        if c.key in {"condition", "n"} or any(c.key.split("_")[0] in row for row in rows)
    ]  # fmt: skip
    return Table(
        columns=tuple(kept),
        rows=tuple(shown),
        caption=(
            f"Run {number} against Run 1, paired by item. Shift: mean of Run {number} minus mean "
            "of Run 1. Ratio: its within-item variance over that of Run 1. Changed: share of "
            "verdicts or scores that changed beyond repetition. p-values are adjusted in one "
            "family; that of a ratio is the test of spread."
        ),
        note=(
            "– undefined: a variance of 0 in one of the runs. "
            if any(math.isnan(row.get("ratio", 0.0)) for row in rows)
            else ""
        )
        + why_unknown(shown),
        label=f"tbl-paired-{number}",
    )


def _shift_rows(rows: Sequence[dict[str, Any]], group: str) -> list[plots.EffectRow]:
    return [
        plots.EffectRow(
            label=row["condition"],
            estimate=row["shift"],
            low=row["shift_low"],
            high=row["shift_high"],
            group=group,
        )
        for row in rows
        if "shift" in row
    ]
