"""Several runs side by side: what differed, their results, paired tests where items overlap."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judgestats.errors import InputError
from judgestats.reporting import plots, tables
from judgestats.reporting.document import current_output, verbatim
from judgestats.reporting.numbers import (
    NOTHING,
    AddressedText,
    Measured,
    address,
    column,
    count,
    integer,
    label,
    name_reliability,
)
from judgestats.reporting.runs import Run
from judgestats.reporting.sections.conditions import (
    LOST,
    any_of,
    grouped_table,
    heading,
    level_of,
    measured,
)
from judgestats.reporting.sections.summary import changes, number_at
from judgestats.results import CONDITIONS, Results, Row, Test, write_results
from judgestats.results.screen import NOT_GIVEN, differing_parameters


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
    texts, others = _texts(first), _texts(second)  # none where a run kept no items
    changed = [
        name for name, text in texts.items()
        if others.get(name, text) != text
        and any(item == name or item.startswith(f"{name}/") for item in shared)
    ]  # fmt: skip
    if changed:
        reasons.append(
            f"{len(changed)} things judged have the same name but another text (such as "
            f"{changed[0]!r})"
        )
    return reasons


def _shortly(names: list[str]) -> str:
    more = len(names) - 4
    return "; ".join(names[:4]) + (f" and {more} more" if more > 0 else "")


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


_FEWEST_DRAWN = 3


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A later run compared with the first: what `drift` found on the items that both judged.

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
        """The comparison as text."""
        if self.comparison is None:
            return f"Not tested: {self.refused.rstrip('.')}."
        return f"{self.title}: {self.comparison.finding}"

    @property
    def table(self) -> tables.Table:
        """The comparison, a row per condition."""
        if self.comparison is None:
            raise InputError(f"{self.title} has no table: {self.refused}")
        return changes(self.comparison, first="Run 1", second=f"Run {self.number}", file=self.file)


def pairs(runs: Sequence[Run], *, n_resamples: int = 999, seed: int = 0) -> list[Pair]:
    """Every later run compared with the first, paired by item, or the reason why not.

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


def comparison_summary(held: Sequence[Pair]) -> list[tables.Showable]:
    """What became of each comparison, and the shifts as dots with intervals."""
    parts = []
    for pair in held:
        named_ = f"**{name_reliability(f'{pair.title}.')}**"
        if pair.comparison is None:
            parts.append(f"{named_} {name_reliability(pair.sentence)}")
            continue
        both = _items(pair.comparison).with_file(pair.file).markdown
        parts += [f"{named_} {both} items were judged by both."]
        found = AddressedText(((pair.comparison.finding, "#finding"),)).with_file(pair.file)
        parts.append(found.markdown)
    text = "::: {.answer}\n\n" + "\n\n".join(parts) + "\n\n:::"
    return [tables.Markdown(text), shifts(held)]


def paired(held: Sequence[Pair]) -> list[tables.Showable]:
    """Every later run against the first as `pairs` found it: a table each."""
    return [pair.table for pair in held if pair.comparison is not None]


def files(held: Sequence[Pair]) -> tables.Markdown:
    """The records of each comparison as a results file next to the page, with links."""
    made = {f"tables/{p.file}.json": p.comparison for p in held if p.comparison is not None}
    for name, comparison in made.items():
        write_results(current_output().path(name), comparison)
    lines = "\n".join(f"- [{name}]({name}): all records" for name in made)
    return tables.Markdown(f"::: {{.files}}\n\n{lines}\n\n:::" if made else "")


def shifts(held: Sequence[Pair]) -> tables.Captioned | None:
    """The shifts of the mean with intervals; None where there are fewer than three to draw."""
    rows = [row for pair in held for row in _shift_rows(pair)]
    if len(rows) < _FEWEST_DRAWN:
        return None
    return tables.Captioned(
        figure=plots.Forest(
            rows=tuple(rows), x_label="Shift of the mean score (points of the scale)"
        ),
        label="fig-shifts",
        caption=(
            "Filled squares changed significantly against Run 1, adjusted for all tests; a hollow "
            "one does not show that nothing changed. Shift of the mean score, paired by item, with "
            "unadjusted intervals."
        ),
    )


def _items(results: Results) -> AddressedText:
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
    return "different" if record.p_adjusted < level_of(record, results) else "undecided"


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


_SKIPPED = {"conditions", "columns"}
_FEW = 50


def names_of(runs: Sequence[Run]) -> list[str]:
    """Run 1, Run 2, ..."""
    return [f"Run {i + 1}" for i in range(len(runs))]


def _file(name: str) -> str:
    """What a run's results file is called among several: ``run-1``."""
    return name.lower().replace(" ", "-")


def _run_name(run: Run) -> str:
    """A run's name and the beginning of its id, as MLflow's pages show them."""
    parts = (str(run.session.get("run_name") or ""), str(run.session.get("run_id") or "")[:8])
    return ", ".join(p for p in parts if p)


def summary(runs: Sequence[Run]) -> tables.Table:
    """The runs: what each asked, when, and of how many items."""
    rows = [
        {
            "run": name,
            "name": _run_name(run),
            "title": run.title,
            "when": f"{run.moment:%Y-%m-%d %H:%M} UTC" if run.moment else None,
            "items": count(run.records, "facts.design.items").with_file(_file(name))
            if run.design.get("items")
            else NOTHING,
        }
        for name, run in zip(names_of(runs), runs, strict=True)
    ]
    columns = (
        tables.Column(key="run", label="Run"),
        tables.Column(key="name", label="Name"),
        tables.Column(key="title", label="Title"),
        tables.Column(key="when", label="Judged until"),
        tables.Column(key="items", label="Items", align="right"),
    )
    return tables.Table(
        columns=tuple(tables.filled(columns, rows)),
        rows=tuple(rows),
        caption="The runs compared.",
        label="tbl-runs",
    )


def commands(runs: Sequence[Run]) -> tables.Markdown:
    """The command that repeats each run."""
    parts = []
    for name, run in zip(names_of(runs), runs, strict=True):
        text = str(run.facts.get("command") or run.session.get("command") or "")
        parts.append(f"{name_reliability(f'{name}:')}\n\n{verbatim(text or 'not recorded')}")
    return tables.Markdown("\n\n".join(parts))


def limits(runs: Sequence[Run]) -> str:
    """Which of the runs have few questions."""
    few = [
        f"{name_reliability(name)} ({questions.with_file(_file(name)).markdown})"
        for name, run in zip(names_of(runs), runs, strict=True)
        for questions in [count(run.records, "facts.design.clusters")]
        if 0 < int(run.design.get("clusters") or 0) < _FEW
    ]
    return f"Few questions: {', '.join(few)}." if few else ""


def differences(runs: Sequence[Run]) -> tables.Table | tables.Markdown:
    """Every parameter in which the runs differ, and what else they recorded of their making."""
    names = names_of(runs)
    recorded = all(run.facts.get("parameters") for run in runs)
    differ = differing_parameters([run.facts for run in runs])
    facts = [
        {
            **{k: _parameter(k, texts[i], _file(name)) for k, texts in differ.items()},
            **_facts(run, _file(name)),
        }
        for i, (name, run) in enumerate(zip(names, runs, strict=True))
    ]
    keys = list(dict.fromkeys(key for fact in facts for key in fact))
    differing = [k for k in keys if len({str(fact.get(k, NOT_GIVEN)) for fact in facts}) > 1]
    if not differing:
        if recorded:
            return tables.Markdown(f"The runs were made with the same parameters. {_ENVIRONMENT}")
        return tables.Markdown(f"No difference in parameters was recorded. {_UNKNOWN}")
    return tables.Table(
        columns=(
            tables.Column(key="what", label="Parameter"),
            *(tables.Column(key=name, label=name) for name in names),
        ),
        rows=tuple(
            {
                "what": key if key in differ else key.replace("_", " "),
                **dict(zip(names, values, strict=True)),
            }
            for key in differing
            for values in [[fact.get(key, NOT_GIVEN) for fact in facts]]
        ),
        caption=f"What differed between the runs. {_SAME if recorded else _UNKNOWN}",
        label="tbl-differences",
    )


_ENVIRONMENT = "Keys, headers and other settings of the environment are not recorded."
_SAME = f"All other parameters were the same. {_ENVIRONMENT}"
_UNKNOWN = "Other parameters may differ: not every run recorded all of its parameters."
_FACTS = {
    "clusters": "questions", "item_source": "items from", "replicates": "judgments of each",
    "understood": "what was read",
}  # fmt: skip


def _facts(run: Run, file: str) -> dict[str, AddressedText | str]:
    facts: dict[str, AddressedText | str] = {
        _FACTS.get(k, k): _fact(k, v, file) for k, v in run.design.items() if k not in _SKIPPED
    }
    scale = run.design.get("scale")
    if scale:
        facts["scale"] = " to ".join(_text(v) for v in scale)
    judges = run.facts.get("judges") or []
    facts["judges"] = ", ".join(str(j.get("name", "")) for j in judges)
    facts["models reported"] = ", ".join(
        dict.fromkeys(str(m) for j in judges for m in j.get("model_reported") or [])
    )
    facts["fingerprints"] = ", ".join(
        dict.fromkeys(str(m) for j in judges for m in (j.get("fingerprints") or [])[:4])
    )
    for what, label_ in (("endpoint", "endpoints"), ("settings", "settings of judges")):
        told = [(j.get("name", ""), j.get(what)) for j in judges if j.get(what)]
        facts[label_] = "; ".join(f"{name}: {_text(value)}" for name, value in told)
    facts["prompts"] = ", ".join(run.prompts)
    packages = run.session.get("packages") or {}
    facts["judgestats"] = str(run.session.get("judgestats", ""))
    facts["python"] = str(run.session.get("python", ""))
    return facts | {f"package {p}": str(v) for p, v in packages.items()}


def _parameter(name: str, text: str, file: str) -> AddressedText | str:
    """A parameter's text with its address."""
    if text == NOT_GIVEN or "." in name:
        return text
    return AddressedText(((text, address("", f"facts.parameters.{name}")),)).with_file(file)


def _fact(key: str, value: Any, file: str) -> AddressedText | str:
    """A number of the design with its address; everything else is quoted."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        text = integer(value) if float(value).is_integer() else _text(value)
        return AddressedText(((text, address("", f"facts.design.{key}")),)).with_file(file)
    return _text(value)


def _text(value: Any) -> str:
    if value is None:
        return "not known"
    if isinstance(value, (list, tuple)):
        texts = [_text(v) for v in value]
        return (" " if all(t.endswith(".") for t in texts) else ", ").join(texts)
    if isinstance(value, Mapping):
        return ", ".join(f"{k}={_text(v)}" for k, v in value.items())
    return f"{value:g}" if isinstance(value, float) else str(value)


def conditions(runs: Sequence[Run]) -> tables.Table | None:
    """Results side by side, a row per run and condition: what the screen shows of them."""
    rows: list[dict[str, Any]] = [
        {
            "group": f"{name}: {run.title}",
            "what": str(row.get("condition", "")),
            **{key: _lost_share(run, i, key).with_file(_file(name)) for key in LOST},
            "run": run,
            "file": _file(name),
        }
        for name, run in zip(names_of(runs), runs, strict=True)
        for i, row in enumerate(run.table(CONDITIONS))
    ]
    asked: dict[tuple[str, str], list[Row]] = {}
    for declared in (row for run in runs for row in run.records.rows):
        asked.setdefault((declared.key, declared.ask), []).append(declared)
    of_several = [own[0] for own in asked.values() if len(own) > 1]
    lost = [key for key in LOST if any(any_of(run, key) for run in runs)]
    columns = [
        tables.Column(key="what", label="Condition"),
        *(tables.Column(key=key, label=heading(key), align="right") for key in lost),
    ]
    for line in of_several or [own[0] for own in asked.values()]:
        head = f"{line.short[:1].upper()}{line.short[1:]}"
        columns.append(tables.Column(key=f"c{len(columns)}", label=head, align="right"))
        values = [_row_value(r, line) for r in rows]
        for row, text in zip(rows, column(values), strict=True):
            row[columns[-1].key] = text.with_file(row["file"])
    return grouped_table(
        columns,
        rows,
        group="group",
        caption="Results by run and condition, each run on its own items.",
        label="tbl-conditions",
    )


def _lost_share(run: Run, row: int, key: str) -> AddressedText:
    """The share of judgments of a condition that were not read, or not answered."""
    measure = measured(run, row, key)
    return label(run.records, measure.at[0], share=True) if measure.is_finite else NOTHING


def _row_value(row: Mapping[str, Any], line: Row) -> Measured:
    """A declared row's number of one condition of one run."""
    records = row["run"].records
    asked = next((r for r in records.rows if (r.key, r.ask) == (line.key, line.ask)), None)
    return number_at(records, asked.cells.get(row["what"], "") if asked else "")
