"""Several runs side by side: what differed, their results, paired tests where items overlap."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from judgestats.reporting.escape import escape_markdown, verbatim
from judgestats.reporting.formats import interval, percent, positive_interval, why_unknown
from judgestats.reporting.runs import Run, number_of, rows_of
from judgestats.reporting.sections.comparability import refusals
from judgestats.reporting.sections.data import COEFFICIENTS
from judgestats.reporting.sections.held import Pair, in_short, paired, pairs, shifts
from judgestats.reporting.show import Markdown
from judgestats.reporting.tables import Column, Table

__all__ = [
    "Pair",
    "commands",
    "conditions",
    "differences",
    "in_short",
    "limits",
    "names_of",
    "paired",
    "pairs",
    "refusals",
    "shifts",
    "summary",
]

_SKIPPED = {"conditions", "columns"}


def names_of(runs: Sequence[Run]) -> list[str]:
    """Run 1, Run 2, ... with what each is called."""
    return [f"Run {i + 1}" for i in range(len(runs))]


def _run_name(run: Run) -> str:
    """A run's name and the beginning of its id, as MLflow's pages show them."""
    parts = (str(run.session.get("run_name") or ""), str(run.session.get("run_id") or "")[:8])
    return ", ".join(p for p in parts if p)


def summary(runs: Sequence[Run]) -> Table:
    """The runs: what each asked, when, and what it found in a sentence."""
    return Table(
        columns=(
            Column(key="run", label="Run"),
            *((Column(key="name", label="Name"),) if any(map(_run_name, runs)) else ()),
            Column(key="title", label="Title"),
            Column(key="when", label="Judged until"),
            Column(key="sentence", label="Found"),
        ),
        rows=tuple(
            {
                "run": name,
                "name": _run_name(run),
                "title": run.title + (" (SIMULATED)" if run.simulated else ""),
                "when": f"{run.moment:%Y-%m-%d %H:%M} UTC" if run.moment else None,
                "sentence": run.records.answer,
            }
            for name, run in zip(names_of(runs), runs, strict=True)
        ),
        caption="The runs compared.",
        label="tbl-runs",
    )


def commands(runs: Sequence[Run]) -> Markdown:
    """The command that repeats each run."""
    parts = []
    for name, run in zip(names_of(runs), runs, strict=True):
        text = str(run.facts.get("command") or run.session.get("command") or "")
        parts.append(f"{name}:\n\n{verbatim(text or 'not recorded')}")
    return Markdown("\n\n".join(parts))


def limits(runs: Sequence[Run]) -> Markdown:
    """What limits a comparison of these runs."""
    texts = []
    simulated = [n for n, run in zip(names_of(runs), runs, strict=True) if run.simulated]
    if simulated:
        texts.append(
            f"{', '.join(simulated)}: simulated. The numbers show what the method finds, not how "
            "any real judge behaves."
        )
    few = [
        f"{name} ({run.design.get('clusters')})"
        for name, run in zip(names_of(runs), runs, strict=True)
        if 0 < int(run.design.get("clusters") or 0) < 50
    ]
    if few:
        texts.append(
            f"Few questions: {', '.join(few)}. Intervals are wide, and what holds for these "
            "questions need not hold for others."
        )
    texts.append(
        "Runs made at different times may differ in more than their parameters: a provider may "
        "change a model under the same name."
    )
    return Markdown("\n".join(f"- {escape_markdown(text)}" for text in texts))


def differences(runs: Sequence[Run]) -> Table | Markdown:
    """Every parameter in which the runs differ."""
    facts = [_facts(run) for run in runs]
    keys = list(dict.fromkeys(key for fact in facts for key in fact))
    differing = [k for k in keys if len({fact.get(k, "–") for fact in facts}) > 1]
    if not differing:
        return Markdown("The runs were made with the same parameters.")
    names = names_of(runs)
    return Table(
        columns=(
            Column(key="what", label="Parameter"),
            *(Column(key=name, label=name) for name in names),
        ),
        rows=tuple(
            {"what": key.replace("_", " "), **dict(zip(names, values, strict=True))}
            for key in differing
            for values in [[fact.get(key, "–") for fact in facts]]
        ),
        caption="What differed between the runs. All other parameters were the same.",
        label="tbl-differences",
    )


_FACTS = {"clusters": "questions", "item_source": "items from", "replicates": "judgments of each"}


def _facts(run: Run) -> dict[str, str]:
    facts = {_FACTS.get(k, k): _text(v) for k, v in run.design.items() if k not in _SKIPPED}
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
    facts["prompts"] = ", ".join(run.prompts)
    packages = run.session.get("packages") or {}
    facts["judgestats"] = str(run.session.get("judgestats", ""))
    facts["python"] = str(run.session.get("python", ""))
    return facts | {f"package {p}": str(v) for p, v in packages.items()}


def _text(value: Any) -> str:
    if value is None:
        return "not known"
    if isinstance(value, (list, tuple)):
        return ", ".join(_text(v) for v in value)
    if isinstance(value, Mapping):
        return ", ".join(f"{k}={_text(v)}" for k, v in value.items())
    return f"{value:g}" if isinstance(value, float) else str(value)


def conditions(runs: Sequence[Run]) -> list[Table]:
    """Results side by side: scores in one table, verdicts in another."""
    tables = []
    scores: list[dict[str, Any]] = []
    verdicts: list[dict[str, Any]] = []
    for name, run in zip(names_of(runs), runs, strict=True):
        for row in rows_of(run.conditions):
            base = {"group": f"{name}: {run.title}", "condition": str(row.get("condition", ""))}
            if "mean" in row:
                scores.append(
                    base
                    | {
                        "n": row.get("n_items"),
                        "unread": percent(number_of(row.get("unread_share"))),
                        "mean": number_of(row.get("mean")),
                        "mean_ci": _bounds(row, "mean"),
                        "var": number_of(row.get("within_variance")),
                        "var_ci": positive_interval(
                            number_of(row.get("within_variance_low")),
                            number_of(row.get("within_variance_high")),
                            estimate=number_of(row.get("within_variance")),
                        ),
                        "icc": number_of(row.get("icc1")),
                        "icc_ci": _bounds(row, "icc1", leading_zero=False),
                    }
                )
            verdicts += [
                base
                | {
                    "what": label,
                    "value": number_of(row.get(key)),
                    "ci": _bounds(row, key, leading_zero=False),
                }
                for key, label in COEFFICIENTS.items()
                if not math.isnan(number_of(row.get(key)))
            ]
    if scores:
        tables.append(
            Table(
                columns=(
                    Column(key="condition", label="Condition"),
                    Column(key="n", label="Items", format="integer"),
                    Column(key="unread", label="Not read", align="right"),
                    Column(key="mean", label="Mean", format="number:2"),
                    Column(key="mean_ci", label="Interval", align="right"),
                    Column(key="var", label="Within-item variance", format="number:3"),
                    Column(key="var_ci", label="Interval", align="right"),
                    Column(key="icc", label="ICC(1,1)", format="coefficient:3"),
                    Column(key="icc_ci", label="Interval", align="right"),
                ),
                rows=tuple(scores),
                group="group",
                caption="Scores by run and condition, each run on its own items.",
                note=why_unknown(scores),
                label="tbl-scores",
            )
        )
    if verdicts:
        tables.append(
            Table(
                columns=(
                    Column(key="condition", label="Condition"),
                    Column(key="what", label="Coefficient"),
                    Column(key="value", label="Estimate", format="coefficient:3"),
                    Column(key="ci", label="Interval", align="right"),
                ),
                rows=tuple(verdicts),
                group="group",
                caption="Verdicts by run and condition, each run on its own items.",
                label="tbl-verdicts",
            )
        )
    return tables


def _bounds(row: dict[str, Any], key: str, *, leading_zero: bool = True) -> str:
    low, high = number_of(row.get(f"{key}_low")), number_of(row.get(f"{key}_high"))
    return interval(low, high, leading_zero=leading_zero)
