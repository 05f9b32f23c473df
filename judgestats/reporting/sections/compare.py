"""Several runs side by side: what differed, their results, paired tests where items overlap."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from judgestats.analysis.drift import drift
from judgestats.errors import InputError
from judgestats.reporting import plots
from judgestats.reporting.escape import escape_markdown, verbatim
from judgestats.reporting.formats import UNKNOWN, WHY_UNKNOWN, interval, percent, positive_interval
from judgestats.reporting.runs import Run, number_of, rows_of
from judgestats.reporting.sections.comparability import refusals
from judgestats.reporting.sections.data import COEFFICIENTS
from judgestats.reporting.show import Captioned, Markdown, Showable, pointer
from judgestats.reporting.tables import Column, Table
from judgestats.results import Comparison, Estimate, Record, Results, ResultSet, Test
from judgestats.results.numbers import bounds_of

__all__ = [
    "commands",
    "conditions",
    "differences",
    "limits",
    "names_of",
    "paired",
    "refusals",
    "summary",
]

PAIRED_KINDS = ("shift", "ratio", "flips")
"""What is shown of `drift`, by the beginning of a result's id."""
_MANY_SHARED = 20
_FEW_SHARED = (
    " With so few shared items only large differences could be found: give the runs the same "
    "items, and the same seed where responses are drawn."
)
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
                note=_why_unknown(scores),
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


def _why_unknown(rows: Sequence[dict[str, Any]]) -> str:
    told = any(isinstance(v, str) and UNKNOWN in v for row in rows for v in row.values())
    return WHY_UNKNOWN if told else ""


def _bounds(row: dict[str, Any], key: str, *, leading_zero: bool = True) -> str:
    low, high = number_of(row.get(f"{key}_low")), number_of(row.get(f"{key}_high"))
    return interval(low, high, leading_zero=leading_zero)


def paired(runs: Sequence[Run], *, n_resamples: int = 999, seed: int = 0) -> list[Showable]:
    """Every later run against the first, paired by item, or the reason why not.

    Parameters
    ----------
    runs : sequence of Run
        At least two.
    n_resamples, seed : int
        Of permutations and bootstraps.

    Returns
    -------
    list
        A sentence and a table for each, and a forest plot of the shifts of the mean.
    """
    shown: list[Showable] = []
    shifts: list[plots.EffectRow] = []
    for number, run in enumerate(runs[1:], start=2):
        title = f"Run {number} against Run 1"
        shown.append(Markdown(f"## {title}"))
        reasons = refusals(runs[0], run)
        if reasons:
            told = escape_markdown("; ".join(reasons))
            shown.append(Markdown(f"**Not tested**, since {told}."))
            continue
        try:
            found = drift(
                runs[0].judgments, run.judgments, n_resamples=n_resamples, seed=seed
            ).records({"kind": "comparison"})
        except InputError as error:
            shown.append(Markdown(f"**Not tested**: {escape_markdown(str(error))}"))
            continue
        lines = _paired_rows(found)
        table = _paired_table(lines, number)
        about = "the conditions that both runs judged"
        shown += [Markdown(_told(lines, number)), pointer(table, about=about), table]
        shifts += _shift_rows(lines, number)
    if shifts:
        shown.append(Markdown("@fig-shifts shows the shifts of the mean."))
        shown.append(
            Captioned(
                figure=plots.Forest(rows=tuple(shifts), x_label="Shift of the mean score"),
                label="fig-shifts",
                caption=(
                    "Shift of the mean score against Run 1, paired by item, with intervals. An "
                    "interval that holds 0 does not show that nothing changed."
                ),
            )
        )
    return shown


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
        + _why_unknown(shown),
        label=f"tbl-paired-{number}",
    )


def _shift_rows(rows: Sequence[dict[str, Any]], number: int) -> list[plots.EffectRow]:
    return [
        plots.EffectRow(
            label=row["condition"],
            estimate=row["shift"],
            low=row["shift_low"],
            high=row["shift_high"],
            group=f"Run {number} against Run 1",
        )
        for row in rows
        if "shift" in row
    ]
