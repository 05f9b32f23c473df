"""Judging strategies in a report: what they cost, how they scale, what they select, one case."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from judgestats.reporting import plots
from judgestats.reporting.escape import escape_markdown, verbatim
from judgestats.reporting.formats import interval
from judgestats.reporting.runs import Run, number_of, rows_of
from judgestats.reporting.show import Captioned, Showable
from judgestats.reporting.tables import Column, Table

__all__ = ["case", "scaling", "selection", "strategies"]


def _arrays(run: Run, name: str) -> list[dict[str, Any]]:
    arrays: Mapping[str, Any] = dict(run.results.get("arrays") or {})
    found = arrays.get(name)
    return list(found) if isinstance(found, list) else []


def strategies(run: Run) -> Table | None:
    """Length, calls and tokens of each strategy, beside its accuracy."""
    if "factor_strategy" not in run.conditions or "tokens" not in run.conditions:
        return None
    rows = [
        {
            "judge": row["judge"],
            "strategy": row["factor_strategy"],
            "accuracy": _with_interval(row),
            "words": number_of(row.get("words")),
            "points": number_of(row.get("points")),
            "calls": number_of(row.get("calls")),
            "tokens": number_of(row.get("tokens")),
            "usd": number_of(row.get("cost_usd")) / max(number_of(row.get("n")), 1.0),
        }
        for row in rows_of(run.conditions)
    ]
    return Table(
        columns=(
            Column(key="strategy"),
            Column(key="accuracy", align="right"),
            Column(key="words", format="number:1"),
            Column(key="points", label="key points", format="number:1"),
            Column(key="calls", format="number:1"),
            Column(key="tokens", format="integer"),
            Column(key="usd", label="USD", format="money"),
        ),
        rows=tuple(rows),
        group="judge",
        caption="What a verdict takes, by strategy.",
        note="Words and key points of the final explanation; calls, tokens and dollars of all "
        "calls that one verdict uses. A call that strategies share counts in full for each.",
        label="tbl-strategies",
    )


def _with_interval(row: Mapping[str, Any]) -> str:
    value = number_of(row.get("accuracy"))
    low, high = number_of(row.get("accuracy_low")), number_of(row.get("accuracy_high"))
    if math.isnan(value):
        return "–"
    text = f"{100 * value:.1f} %"
    return text if math.isnan(low) else f"{text} {interval(100 * low, 100 * high, digits=0)}"


def scaling(run: Run) -> list[Showable]:
    """Accuracy and length against the number of crowd judgments."""
    rows = _arrays(run, "scaling")
    names = list(dict.fromkeys(str(row["judge"]) for row in rows))
    curves = []
    for name in names:
        own = [row for row in rows if row["judge"] == name]
        if len({row["k"] for row in own}) < len(own):
            continue  # several temperatures: one curve would mix them
        curves.append(
            plots.ScalingCurve(
                name=name,
                k=tuple(number_of(r["k"]) for r in own),
                share=tuple(number_of(r["accuracy"]) for r in own),
                low=tuple(number_of(r.get("accuracy_low")) for r in own),
                high=tuple(number_of(r.get("accuracy_high")) for r in own),
            )
        )
    if not any(len(curve.k) > 1 for curve in curves):
        return []
    table = Table(
        columns=(
            Column(key="k", format="integer"),
            Column(key="used", label="judgments shown", format="number:1"),
            Column(key="accuracy", align="right"),
            Column(key="words", format="number:1"),
            Column(key="final_tokens_out", label="tokens of the reply", format="number:1"),
            Column(key="tokens", label="tokens in all", format="integer"),
        ),
        rows=tuple({**row, "accuracy": _with_interval(row)} for row in rows),
        group="judge",
        caption="Crowd comparison by the number of judgments before the verdict (0 is vanilla).",
        label="tbl-scaling",
    )
    figure = Captioned(
        figure=plots.ScalingCurves(curves=tuple(curves)),
        label="fig-scaling",
        caption="Accuracy against the number of crowd judgments, with 95% intervals over "
        "questions. The numbers of judgments are drawn at equal distances.",
    )
    return [figure, table]


def selection(run: Run) -> Table | None:
    """Selections of crowd judgments, with and without their verdicts."""
    rows = _arrays(run, "selection")
    if not rows:
        return None
    shown: dict[tuple[str, Any, str], dict[str, Any]] = {}
    for row in rows:
        key = (str(row["judge"]), row["k"], str(row["selection"]))
        cell = shown.setdefault(key, {"judge": key[0], "k": key[1], "selection": key[2]})
        cell[str(row["verdicts"])] = _with_interval(row)
        if row["verdicts"] == "removed":
            cell["matching"] = number_of(row.get("preferred"))
            cell["used"] = number_of(row.get("used"))
    return Table(
        columns=(
            Column(key="selection"),
            Column(key="k", format="integer"),
            Column(key="matching", label="of the kind", format="number:1"),
            Column(key="used", label="shown", format="number:1"),
            Column(key="removed", label="verdicts removed", align="right"),
            Column(key="kept", label="verdicts kept", align="right"),
        ),
        rows=tuple(sorted(shown.values(), key=lambda cell: str(cell["judge"]))),
        group="judge",
        caption="Accuracy by selection of crowd judgments, with and without their verdicts.",
        note="Where there are fewer judgments of the kind than asked for, others fill the places.",
        label="tbl-selection",
    )


def case(run: Run) -> list[Showable]:
    """One pair, side by side."""
    arrays: Mapping[str, Any] = dict(run.results.get("arrays") or {})
    found = arrays.get("case")
    if not isinstance(found, dict) or not found:
        return []
    letter = "earlier" if found["label"] == "a" else "later"
    about = (
        f"Pair {escape_markdown(found['pair'])}, judge {escape_markdown(found['judge'])}, "
        f"{escape_markdown(found['why'])}. It illustrates and proves nothing. The label prefers "
        f"the {letter} response."
    )
    parts: list[Showable] = [about]
    for name, key in (
        ("Question", "question"),
        ("Earlier response (a)", "response_a"),
        ("Later response (b)", "response_b"),
    ):
        parts += [f"**{name}**", verbatim(found[key])]
    for verdict in found["verdicts"]:
        right = "right" if verdict["right"] else "not right"
        said = (
            f"**{escape_markdown(verdict['strategy'])}** says "
            f"{escape_markdown(verdict['choice'])} ({right}), with "
            f"{int(verdict['judgments_before'])} judgments before it:"
        )
        parts += [said, verbatim(verdict["explanation"] or "(no explanation)")]
    return parts
