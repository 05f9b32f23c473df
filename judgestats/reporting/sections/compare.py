"""Several runs side by side: what differed, their results, paired tests where items overlap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from judgestats.reporting.document import escape_markdown, verbatim
from judgestats.reporting.numbers import (
    NOTHING,
    Measured,
    Shown,
    address,
    column,
    count,
    integer,
    label,
    name_reliability,
)
from judgestats.reporting.runs import Run
from judgestats.reporting.sections.data import COEFFICIENTS
from judgestats.reporting.sections.measures import LOST, any_of, heading, measured
from judgestats.reporting.sections.run_changes import (
    Pair,
    files,
    in_short,
    paired,
    pairs,
    refusals,
    shifts,
)
from judgestats.reporting.show import Markdown, with_next
from judgestats.reporting.table_layout import Column
from judgestats.reporting.tables import Table
from judgestats.results import CONDITIONS, Comparison, Estimate
from judgestats.results.screen import NOT_GIVEN, brief_of_runs, differing_parameters
from judgestats.results.summary import SummaryRow

__all__ = [
    "Pair",
    "commands",
    "conditions",
    "differences",
    "files",
    "in_short",
    "limits",
    "own_items",
    "names_of",
    "paired",
    "pairs",
    "refusals",
    "shifts",
    "summary",
]

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


def summary(runs: Sequence[Run]) -> Table:
    """The runs: what each asked, when, and of how many items."""
    rows = [
        {
            "run": name,
            "name": _run_name(run),
            "title": run.title,
            "when": f"{run.moment:%Y-%m-%d %H:%M} UTC" if run.moment else None,
            "items": count(run.records, "facts.design.items").within(_file(name))
            if run.design.get("items")
            else NOTHING,
        }
        for name, run in zip(names_of(runs), runs, strict=True)
    ]
    columns = (
        Column(key="run", label="Run"),
        Column(key="name", label="Name"),
        Column(key="title", label="Title"),
        Column(key="when", label="Judged until"),
        Column(key="items", label="Items", align="right"),
    )
    return Table(
        columns=tuple(c for c in columns if any(r[c.key] not in ("", None) for r in rows)),
        rows=tuple(rows),
        caption="The runs compared.",
        label="tbl-runs",
    )


def commands(runs: Sequence[Run]) -> Markdown:
    """The command that repeats each run."""
    parts = []
    for name, run in zip(names_of(runs), runs, strict=True):
        text = str(run.facts.get("command") or run.session.get("command") or "")
        parts.append(f"{name_reliability(f'{name}:')}\n\n{verbatim(text or 'not recorded')}")
    return Markdown("\n\n".join(parts))


def limits(runs: Sequence[Run]) -> Markdown:
    """What limits a comparison of these runs."""
    few = [
        f"{name_reliability(name)} ({_questions(run).within(_file(name)).markdown})"
        for name, run in zip(names_of(runs), runs, strict=True)
        if 0 < int(run.design.get("clusters") or 0) < _FEW
    ]
    always = (
        "Runs made at different times may differ in more than their parameters: a provider may "
        "change a model under the same name."
    )
    shown = [f"- Few questions: {', '.join(few)}."] if few else []
    return Markdown("\n".join([*shown, f"- {escape_markdown(always)}"]))


def _questions(run: Run) -> Shown:
    return count(run.records, "facts.design.clusters")


def differences(runs: Sequence[Run]) -> Table | Markdown:
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
            return Markdown(f"The runs were made with the same parameters. {_ENVIRONMENT}")
        return Markdown(f"No difference in parameters was recorded. {_UNKNOWN}")
    return Table(
        columns=(
            Column(key="what", label="Parameter"),
            *(Column(key=name, label=name) for name in names),
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


def _facts(run: Run, file: str) -> dict[str, Shown | str]:
    facts: dict[str, Shown | str] = {
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


def _parameter(name: str, text: str, file: str) -> Shown | str:
    """A parameter's text with its address."""
    if text == NOT_GIVEN or "." in name:
        return text
    return Shown(((text, address("", f"facts.parameters.{name}")),)).within(file)


def _fact(key: str, value: Any, file: str) -> Shown | str:
    """A number of the design with its address; everything else is quoted."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        text = integer(value) if float(value).is_integer() else _text(value)
        return Shown(((text, address("", f"facts.design.{key}")),)).within(file)
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


def own_items() -> Markdown:
    """Before the table of conditions: that rows of several runs mix judges with items."""
    return Markdown(
        with_next(
            "Each run is described on its own items. Where runs judged different items, "
            "differences between their rows mix judges with items."
        )
    )


def conditions(runs: Sequence[Run]) -> Table | None:
    """Results side by side, a row a run and condition: what the screen shows of them."""
    names = names_of(runs)
    rows: list[dict[str, Any]] = []
    for name, run in zip(names, runs, strict=True):
        described = run.table(CONDITIONS)
        rows += [
            {
                "group": f"{name}: {run.title}",
                "what": str(row.get("condition", "")),
                **{key: _lost_share(run, i, key).within(_file(name)) for key in LOST},
                "run": run,
                "file": _file(name),
                "at": i,
            }
            for i, row in enumerate(described)
        ]
    brief = brief_of_runs({name: run.records for name, run in zip(names, runs, strict=True)})
    shown = [(line.short, [_row_value(r, line) for r in rows]) for line in brief.lines]
    if not shown:  # made before analyses declared their rows
        keys = ("mean", *COEFFICIENTS)
        shown = [(heading(k), [measured(r["run"], r["at"], k) for r in rows]) for k in keys]
    lost = [key for key in LOST if any(any_of(run, key) for run in runs)]
    columns = [
        Column(key="what", label="Condition"),
        *(Column(key=key, label=heading(key), align="right") for key in lost),
    ]
    for short, values in shown:
        head = f"{short[:1].upper()}{short[1:]}"
        columns.append(Column(key=f"c{len(columns)}", label=head, align="right"))
        for row, text in zip(rows, column(values), strict=True):
            row[columns[-1].key] = text.within(row["file"])
    kept = [c for c in columns if any(str(r[c.key]) != str(NOTHING) for r in rows)]
    if len(kept) < 2:
        return None
    return Table(
        columns=tuple(kept),
        rows=tuple(rows),
        group="group",
        caption="Results by run and condition, each run on its own items.",
        label="tbl-conditions",
    )


def _lost_share(run: Run, row: int, key: str) -> Shown:
    """The share of judgments of a condition that were not read, or not answered."""
    measure = measured(run, row, key)
    return label(run.records, measure.at[0], share=True) if measure.is_finite else NOTHING


def _row_value(row: Mapping[str, Any], line: SummaryRow) -> Measured:
    """A declared row's number of one condition of one run."""
    records = row["run"].records
    asked = next((r for r in records.rows if (r.key, r.ask) == (line.key, line.ask)), None)
    record = records[asked.cells[row["what"]]] if asked and row["what"] in asked.cells else None
    return Measured.of(record) if isinstance(record, (Estimate, Comparison)) else Measured()
