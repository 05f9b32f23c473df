"""What to do with a judge: for what it can be used, how many repeats it needs, at what price."""

from __future__ import annotations

import math
from typing import Any

from judgestats.reporting.display import Markdown
from judgestats.reporting.numbers import DASH, integer, money, number
from judgestats.reporting.runs import Run, number_of
from judgestats.reporting.sections.data import condition_table, with_bounds
from judgestats.reporting.tables import Column, Table
from judgestats.results.numbers import (
    AVERAGED,
    LEAST_IN_CATEGORY,
    NEVER_REPEATED,
    TARGETS,
)
from judgestats.sinks import escape_markdown


def not_repeated(run: Run) -> Markdown:
    """That consistency is not known, where no judgment was repeated; else nothing."""
    messages = [n.message for n in run.records.limitations if n.code == NEVER_REPEATED]
    if not messages:
        return Markdown("")
    return Markdown("\n\n".join(f"**{escape_markdown(str(t))}**" for t in messages))


def prices(run: Run) -> Table | Markdown:
    """Judgments an item for a target reliability, and what they cost in tokens and money."""
    table = run.conditions
    if table.empty:
        return Markdown("")
    if "factor_strategy" in table and "calls" in table:  # one call is not what a verdict costs
        return Markdown(
            "What a final verdict takes, with all the calls behind it, stands in @tbl-strategies."
        )
    name = next((c for c in ("icc1", "vote_share") if c in table), "")
    # A mean of k is made of the judgments of another condition, whose price stands there.
    priced = [row for row in run.described if not number_of(row.get("k")) > 1]
    repeats = _repeats(run)
    rows = [_price_row(row, repeats.get(str(row.get("condition")), {})) for row in priced]
    any_priced = any(r["each"] > 0 or (r["each"] == 0 and not run.all_simulated) for r in rows)
    tokens = any(not math.isnan(r["tokens"]) for r in rows)
    if not name and not any_priced and not tokens:
        return Markdown(_NO_PRICE)
    columns = []
    if name:
        label = "ICC(1,1)" if name == "icc1" else "Reliability of one"
        columns.append(Column(key="single", label=label, format="coefficient:3"))
    if tokens:
        columns.append(Column(key="tokens", label="Tokens of one", format="integer"))
    if any_priced:
        columns.append(Column(key="each", label="Cost of one", format="money"))
    for target in TARGETS if name else ():
        shown = number(target, leading_zero=False)
        columns.append(Column(key=f"k{target}", label=f"Judgments for {shown}", align="right"))
        if any_priced:
            columns.append(Column(key=f"cost{target}", label="Cost an item", align="right"))
    if not name and any_priced:
        columns.append(Column(key="item", label="Cost an item here", format="money"))
    if any_priced:
        note = (
            "Unknown: the model is not in the price table. "
            if any(math.isnan(r["each"]) for r in rows)
            else ""
        )
    else:
        note = _SIMULATED_PRICE if run.all_simulated else _NO_PRICE + " "
    tail = "" if not name else "Reliability is not validity: a judge can be consistent and wrong."
    what = (
        "How many judgments an item must be averaged for a reliability of .80 and .90"
        if name == "icc1"
        else "How many verdicts an item needs for shares with a reliability of .80 and .90"
        if name
        else "What a judgment takes"
    )
    return condition_table(
        run,
        columns,
        rows,
        caption=what
        + (", and what that costs an item at the prices of this run." if any_priced else "."),
        note=(note + tail).strip(),
        label="tbl-prices",
    )


_SIMULATED_PRICE = (
    "A simulated judge has no price; the tokens (in and out) are those of its prompts and replies. "
)
_NO_PRICE = (
    "The judgments carry no cost, so no price can be given: map columns cost_usd, or tokens_in and "
    "tokens_out, to see it."
)


def _price_row(row: dict[str, Any], repeats: dict[str, Any]) -> dict[str, Any]:
    single = number_of(repeats.get("single"))
    still = number_of(row.get("constant_share")) >= 0.95 or single >= 1.0
    each = _cost_of_one(row)
    line = row | {
        "single": single,
        "each": each,
        "tokens": number_of(repeats.get("tokens")),
        "item": each * number_of(repeats.get("calls")),
    }
    for target in TARGETS:
        need = math.nan if still else number_of(repeats.get(f"needed_{round(100 * target)}"))
        line[f"k{target}"] = "no spread" if still else _count(need)
        line[f"cost{target}"] = "" if still else _price(each, need)
    return line


def uses(run: Run) -> Table | Markdown:
    """What the judge can tell apart, with one judgment and with means of several."""
    table = run.conditions
    if "sem" not in table or "icc1" not in table:
        return _uses_of_verdicts(run)
    repeats = _repeats(run)
    rows: list[dict[str, Any]] = []
    for row in run.described:
        given = repeats.get(str(row.get("condition")), {})
        line = dict(row)
        for k in AVERAGED:
            line[f"sdc{k}"] = number_of(given.get(f"difference_{k}"))
            line[f"rel{k}"] = number_of(given.get(f"reliability_{k}"))
        rows.append(line)
    columns = [Column(key="sd_between", label="SD between items", format="number:2")]
    for k in AVERAGED:
        noun = "one judgment" if k == 1 else f"mean of {k}"
        columns += [
            Column(key=f"rel{k}", label=f"Reliability, {noun}", format="coefficient:2"),
            Column(key=f"sdc{k}", label=f"Smallest difference, {noun}", format="number:2"),
        ]
    return condition_table(
        run,
        columns,
        rows,
        caption=(
            "What can be told apart. Two answers whose scores differ by less than the smallest "
            "difference (in score points) are not told apart by this judge: noise alone exceeds it "
            "5 times in 100."
        ),
        label="tbl-uses",
    )


def _uses_of_verdicts(run: Run) -> Table | Markdown:
    """On which kind of item verdicts agree least and most with people's, by condition."""
    rows: list[dict[str, Any]] = []
    shares = run.table("categories")
    for row in run.described:
        mine = sorted(
            (
                number_of(c["accuracy"]),
                str(c["category"]),
                with_bounds(c, "accuracy"),
                c["n_items"],
            )
            for c in shares
            if c["condition"] == row.get("condition")
        )
        if len(mine) < 2:
            continue
        low, high = mine[0], mine[-1]
        rows.append(
            row | {
                "low": f"{low[1]} ({low[3]})", "low_value": low[2],
                "high": f"{high[1]} ({high[3]})", "high_value": high[2],
            }
        )  # fmt: skip
    if not rows:
        return Markdown("")
    return condition_table(
        run,
        (
            Column(key="low", label="Agrees least on (items)"),
            Column(key="low_value", label="Accuracy", align="right"),
            Column(key="high", label="Agrees most on (items)"),
            Column(key="high_value", label="Accuracy", align="right"),
        ),
        rows,
        caption=(
            "Where verdicts agree least and most with people's: shares of the same verdict with "
            f"{100 * run.level:g} % intervals, categories of at least {LEAST_IN_CATEGORY} items. "
            "The least and the most of many categories look more extreme than they are."
        ),
        label="tbl-uses",
    )


def _cost_of_one(row: dict[str, Any]) -> float:
    cost, n = number_of(row.get("cost_usd")), number_of(row.get("n"))
    return cost / n if n else math.nan


def _repeats(run: Run) -> dict[str, dict[str, Any]]:
    """What repeats give, by condition, as the analysis found it."""
    return {str(row["condition"]): row for row in run.table("repeats")}


def _count(need: float) -> str:
    if math.isnan(need):
        return DASH
    return "not reachable" if math.isinf(need) else integer(need)


def _price(each: float, need: float) -> str:
    return DASH if not math.isfinite(need) else money(each * need)
