"""Changes between runs, and whether they can be tested."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

from judgestats.errors import InputError
from judgestats.reporting import plots
from judgestats.reporting.document import current_sink
from judgestats.reporting.numbers import NOTHING, Shown, address, label, name_reliability
from judgestats.reporting.runs import Run
from judgestats.reporting.sections.summary_page import changes, number_at, sentences
from judgestats.reporting.show import Captioned, Markdown, Showable
from judgestats.reporting.tables import Table
from judgestats.results import Results, Test, write_results

__all__ = [
    "Pair",
    "files",
    "in_short",
    "paired",
    "pairs",
    "refusals",
    "shifts",
]


def refusals(first: Run, second: Run) -> list[str]:
    """Why two runs cannot be tested against each other; empty where they can."""
    reasons = []
    one, two = first.judgments, second.judgments
    if one.empty or two.empty:
        return ["one of them holds no judgments"]
    scored = [bool(f["score"].notna().any()) for f in (one, two)]
    if scored[0] != scored[1]:
        reasons.append("one holds scores and the other verdicts")
    names = [list(dict.fromkeys(map(str, f["condition"]))) for f in (one, two)]
    if not set(names[0]) & set(names[1]) and max(map(len, names)) > 1:
        reasons.append(
            f"they share no condition ({_shortly(names[0])} in one, {_shortly(names[1])} in the "
            "other)"
        )
    if all(scored) and first.scale and second.scale and first.scale != second.scale:
        reasons.append(
            f"their scales differ ({first.scale[0]:g} to {first.scale[1]:g} and "
            f"{second.scale[0]:g} to {second.scale[1]:g})"
        )
    shared = set(one["item_id"]) & set(two["item_id"])
    if len(shared) < 3:
        reasons.append(f"they share {len(shared) or 'no'} items, and at least 3 are needed")
    changed = [name for name in _changed_items(first, second) if _is_shared(name, shared)]
    if changed:
        reasons.append(
            f"{len(changed)} things judged have the same name but another text (such as "
            f"{changed[0]!r})"
        )
    return reasons


def _shortly(names: list[str], most: int = 4) -> str:
    more = len(names) - most
    return "; ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def _changed_items(first: Run, second: Run) -> list[str]:
    """What has the same name in both runs and another text; nothing where a run kept no items.

    Compared is what a judge reads: the question with its context and reference under the item's
    id, each response under the id with its author. Labels of people, categories and responses that
    only one of the runs holds make no difference.
    """
    one, two = _texts(first), _texts(second)
    return [key for key in one if key in two and one[key] != two[key]]


def _texts(run: Run) -> dict[str, str]:
    texts: dict[str, str] = {}
    for item in run.items:
        name = str(item.get("id"))
        asked = {k: item.get(k) or "" for k in ("turns", "context", "reference")}
        texts[name] = json.dumps(asked, sort_keys=True)
        for place, response in enumerate(item.get("responses") or []):
            key = f"{name}/{response.get('author') or place}"
            texts[key] = json.dumps(response.get("turns"), sort_keys=True)
    return texts


def _is_shared(name: str, shared: set[str]) -> bool:
    """Whether a name stands for something that both runs judged: itself, or part of it."""
    return any(item == name or item.startswith(f"{name}/") for item in shared)


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
    comparison : Results or None
    """

    number: int
    refused: str = ""
    comparison: Results | None = None

    @property
    def title(self) -> str:
        """What is compared."""
        return f"Run {self.number} against Run 1"

    @property
    def file(self) -> str:
        """What its results file is called."""
        return f"run-{self.number}-against-run-1"

    @property
    def sentence(self) -> str:
        """The comparison in words."""
        if self.comparison is None:
            return f"Not tested: {self.refused.rstrip('.')}."
        return f"{self.title}: {self.comparison.answer}"

    @property
    def table(self) -> Table:
        """The comparison, a row a condition."""
        if self.comparison is None:
            raise InputError(f"{self.title} has no table: {self.refused}")
        return changes(self.comparison, first="Run 1", second=f"Run {self.number}", file=self.file)


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
        Adjusted for all: a judge run four times has not changed three times.
    """
    from judgestats.analysis.drift import drift  # with all that it computes by

    held = []
    tested = sum(not refusals(runs[0], run) for run in runs[1:])
    for number, run in enumerate(runs[1:], start=2):
        reasons = refusals(runs[0], run)
        if reasons:
            held.append(Pair(number=number, refused="; ".join(reasons)))
            continue
        try:
            change = drift(
                runs[0].judgments, run.judgments, n_resamples=n_resamples, seed=seed,
                comparisons=tested,
            )  # fmt: skip
        except InputError as error:
            held.append(Pair(number=number, refused=str(error)))
            continue
        held.append(Pair(number=number, comparison=change.records({"kind": "comparison"})))
    return held


def in_short(held: Sequence[Pair]) -> list[Showable]:
    """What became of each comparison, and the shifts as dots with intervals."""
    parts = []
    for pair in held:
        named_ = f"**{name_reliability(f'{pair.title}.')}**"
        if pair.comparison is None:
            parts.append(f"{named_} {name_reliability(pair.sentence)}")
            continue
        both = _items(pair.comparison).within(pair.file).markdown
        parts += [f"{named_} {both} items were judged by both."]
        parts += sentences(pair.comparison, pair.file)
    text = "::: {.answer}\n\n" + "\n\n".join(parts) + "\n\n:::"
    return [Markdown(text), shifts(held)]


def paired(held: Sequence[Pair]) -> list[Showable]:
    """Every later run against the first as `pairs` found it: a table each."""
    return [pair.table for pair in held if pair.comparison is not None]


def files(held: Sequence[Pair]) -> Markdown:
    """The records of each comparison as a results file beside the page, with links."""
    made = {f"tables/{p.file}.json": p.comparison for p in held if p.comparison is not None}
    for name, comparison in made.items():
        write_results(current_sink().path(name), comparison)
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


def _items(results: Results) -> Shown:
    """The items that both runs judged, of the test that has most."""
    usable = [t for t in results.select(Test, top=True) if t.sample is not None]
    if not usable:
        return NOTHING
    test = max(usable, key=lambda t: t.sample.n_items if t.sample else 0)
    return label(results, address(test.id, "sample.n_items"))


def _verdict(results: Results, test: str) -> plots.Verdict:
    if test not in results or math.isnan(results.get(test, Test).p_adjusted):
        return ""
    record = results.get(test, Test)
    return "different" if record.p_adjusted < results.family(record.family).level else "undecided"


def _shift_rows(pair: Pair) -> list[plots.EffectRow]:
    analysis = pair.comparison
    if analysis is None:
        return []
    moved = [row.cells for row in analysis.rows if row.key == "shift"]
    numbers = [(name, number_at(analysis, i)) for cells in moved for name, i in cells.items()]
    return [
        plots.EffectRow(
            label=name, estimate=m.value, low=m.low, high=m.high, group=pair.title,
            verdict=_verdict(analysis, f"shift.{name}"),
        )
        for name, m in numbers
        if m.is_finite
    ]  # fmt: skip
