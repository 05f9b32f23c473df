"""Published studies: claims, their own tests, and judging strategies."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from judgestats.reporting import numbers, plots
from judgestats.reporting.runs import Run, number_of
from judgestats.reporting.sections.conditions import MOST_ROWS, grouped_table, number_in
from judgestats.reporting.sections.results import results_tables, rows_tables
from judgestats.reporting.tables import Captioned, Column, Markdown, Showable, Table
from judgestats.results import Comparison, Record, Results, Test, apa_number
from judgestats.results import Table as TableRecord
from judgestats.results.change_screen import claim_outcome
from judgestats.results.records import rows_of_table
from judgestats.sinks import escape_markdown


class _Pair(NamedTuple):
    """A test of the study: what its id begins with, its name, its effect size, and the blocked."""

    begun: str
    test: str
    effect: str
    symbol: str
    blocked: str
    blocked_test: str


_KRUSKAL = _Pair("kruskal.", "Kruskal-Wallis", "epsilon_squared", "ε²", "ranks.{}", "Friedman")
_MANN = _Pair("mann_whitney.", "Mann-Whitney", "probability_of_superiority", "A", "wilcoxon.{}",
              "Wilcoxon, Holm")  # fmt: skip
_TESTS: Mapping[str, tuple[_Pair, ...]] = {
    "temperature": (
        _Pair("spearman.", "Spearman (variance, T)", "spearman_rho", "ρ",
              "trend.page_trend_test.{}", "Page's trend test"),
    ),
    "judges": (_KRUSKAL, _MANN),
    "guidelines": (
        _KRUSKAL,
        _MANN._replace(blocked="equivalence.{}", blocked_test="Equivalence of variance ratio"),
    ),
    "reasoning": (
        _Pair("levene_of_variances.before.", "Levene, before against none", "variance_ratio", "VR",
              "ratio.{}/before:none", "Paired log-variance ratio"),
        _Pair("levene_of_variances.after.", "Levene, after against none", "variance_ratio", "VR",
              "ratio.{}/after:none", "Paired log-variance ratio"),
        _Pair("ratio_kruskal.", "Kruskal-Wallis of ratios", "epsilon_squared", "ε²",
              "interaction_f.{}", "Blocked F of ratios"),
        _Pair("ratio_mann_whitney.", "Mann-Whitney of ratios", "probability_of_superiority", "A",
              "interaction.{}", "Ratio of variance ratios, Holm"),
    ),
    "alignment": (
        _Pair("friedman.", "Friedman", "kendalls_w", "W", "ranks_of_credit.{}",
              "Friedman, questions kept together"),
        _Pair("nemenyi.", "Nemenyi", "critical_difference", "CD", "ranks_of_credit.pairs.{}",
              "Nemenyi, questions kept together"),
    ),
}  # fmt: skip


def study_tests(run: Run) -> Table | None:
    """The study's tests next to the tests that use the pairing of items; None where it has none.

    Parameters
    ----------
    run : Run

    Returns
    -------
    Table or None
    """
    pairs = _TESTS.get(run.records.experiment, ())
    rows = [row for pair in pairs for row in _study_rows(pair, run.records)]
    if not rows:
        return None
    more = f" {len(rows) - MOST_ROWS} more rows are in results.csv." * (len(rows) > MOST_ROWS)
    blocked = run.records.experiment == "alignment"
    assumes = "Pairs of one question are not independent." if blocked else (
        "The study's tests assume independence: items are not independent samples."
    )  # fmt: skip
    return Table(
        columns=(
            Column(key="what", label="Of"),
            Column(key="test", label="Study's test"),
            Column(key="effect", label="Effect size", align="right"),
            Column(key="p", label="p", align="right"),
            Column(key="blocked_test", label="Item-blocked test"),
            Column(key="blocked", label="p, blocked", align="right"),
        ),
        rows=tuple(rows[:MOST_ROWS]),
        caption="Tests as the study ran them.",
        note=f"{assumes}{more}",
        label="tbl-study-tests",
    )


def rewording(run: Run) -> list[Table]:
    """The contrasts of the study's claim under its prompts and paraphrases; none of other runs."""
    found = [r for r in run.records.results if isinstance(r, TableRecord) and r.id == "rewording"]
    caption = "Does the claim survive rewording? Ratios of variances with 95% CI over items"
    return rows_tables(found, label="tbl-rewording", caption=caption)


def _study_rows(pair: _Pair, results: Results) -> Iterator[dict[str, Any]]:
    begun = f"published.{pair.begun}"
    for record in results.results:
        if not record.id.startswith(begun) or not isinstance(record, Test | Comparison):
            continue
        where, _, levels = record.id.removeprefix(begun).partition("/")
        blocked = _blocked(pair.blocked.format(where), levels, results)
        yield {
            "what": f"{where}, {levels.replace(':', ' and ')}" if levels else where,
            "test": pair.test,
            "effect": _effect(pair, record, blocked, results),
            "p": _p(record, "p", results),
            "blocked_test": pair.blocked_test if blocked is not None else "",
            "blocked": _p(blocked, "p_adjusted", results),
        }


def _blocked(identity: str, levels: str, results: Results) -> Record | None:
    """The blocked result of the same contrast, whichever level its id names first."""
    first, sign, second = levels.partition(":")
    names = [f"{identity}/{levels}", f"{identity}/{second}:{first}"] if sign else [identity]
    return next((results[name] for name in names if name in results), None)


def _p(record: Record | None, field: str, results: Results) -> numbers.AddressedText | str:
    """A p-value; the one before adjustment where no other test was of its family."""
    if not isinstance(record, Test | Comparison):
        return ""
    field = "p" if math.isnan(getattr(record, field)) else field
    if math.isnan(record.p):
        return ""
    bound = isinstance(record, Test) and record.p_bound
    return numbers.label(results, numbers.address(record.id, field), p=True, bound=bound)


def _effect(
    pair: _Pair, of: Record, blocked: Record | None, results: Results
) -> numbers.AddressedText | str:
    """Effect size: that of the test, the ratio of the blocked test, or the critical difference."""
    value, place = math.nan, ""
    if pair.effect == "critical_difference":
        whole = of.id.rpartition("/")[0]
        if whole and (found := results[whole].details.get(pair.effect)) is not None:
            value, place = float(str(found)), numbers.address(whole, f"details.{pair.effect}")
    elif pair.effect == "variance_ratio" and isinstance(blocked, Comparison):
        value, place = blocked.estimate, numbers.address(blocked.id, "estimate")
    elif (record := results.estimate(f"{of.id}/{pair.effect}")) is not None:
        value, place = record.estimate, numbers.address(record.id, "estimate")
    if math.isnan(value):
        return ""
    bounded = pair.effect not in {"critical_difference", "variance_ratio"}
    shown = apa_number(value, bounded=bounded)
    return numbers.AddressedText(((f"{pair.symbol} = ", ""), (shown, place)))


def _claims(run: Run) -> list[dict[str, Any]]:
    return [dict(c) for c in run.facts.get("claims") or []]


_CITED = ("schroeder2024", "llmasjudge")
"""Studies that references.bib knows, by the name that `replicate` gives them."""


def study(run: Run) -> Markdown:
    """Which study, on which data; that no judge was asked."""
    source = run.design.get("item_source")
    name = run.records.experiment.removeprefix("replicate ")
    cited = f" [@{name}]" if name in _CITED else ""
    text = f"No judge was asked: the study's own data were analysed again{cited}."
    if source:
        text += f" Data: {escape_markdown(source)}."
    return Markdown(text)


def overview(run: Run, *, tested: bool = False) -> Table | Markdown:
    """Every claim with what became of it; `tested` adds the test that it calls for."""
    claims = _claims(run)
    if not claims:
        return Markdown("The run holds no claims.")
    columns = {"number": "No.", "claim": "Claim", "published": "Published"}
    columns |= {"test_now": "Tested by"} if tested else {}
    columns |= {"verdict": "Re-examined"}
    return Table(
        columns=tuple(Column(key=key, label=text, align="left") for key, text in columns.items()),
        rows=tuple(
            c | {"number": str(i + 1), "verdict": claim_outcome(str(c.get("verdict", "")))}
            for i, c in enumerate(claims)
        ),
        caption=(
            "The study's claims. Inconclusive: the data establish neither the claim nor its "
            "contrary, which is not a refutation."
        ),
        label="tbl-claims",
    )


def each_claim(run: Run) -> list[Showable]:
    """Claim by claim: published, its own test reproduced, the required test, the verdict."""
    shown: list[Showable] = []
    for claim in _claims(run):
        identity = str(claim.get("id", ""))
        lines = [f"## {escape_markdown(claim.get('claim', identity))}", ""]
        for key, label_ in (
            ("published", "Published"),
            ("test_then", "The study's test"),
            ("reproduced", "That test on these data"),
            ("test_now", "The required test"),
        ):
            if claim.get(key):
                lines.append(f"- *{label_}:* {escape_markdown(claim[key])}")
        verdict = claim_outcome(str(claim.get("verdict", ""))).capitalize()
        because = escape_markdown(claim.get("because", ""))
        shown.append(
            Markdown("\n".join([*lines, "", f"**{escape_markdown(verdict)}.** {because}"]))
        )
        slug = re.sub(r"[^a-z0-9]+", "-", identity.lower()).strip("-") or "claim"
        mine = run.select_kind(identity)
        own = [r for r in mine if r.role == "replicated"]
        called = [r for r in mine if r.role != "replicated"]
        shown += results_tables(run, called, label=f"{slug}-now", caption="Required tests")
        shown += results_tables(
            run, own, label=f"{slug}-then", caption="The study's own tests, reproduced"
        )
    return shown


def replicated(run: Run) -> list[Showable]:
    """Figures that the replicated study printed, of these and of its data: never the answer."""
    listed = run.with_role("replicated")
    if not listed:
        return []
    text = (
        "These are figures that the replicated study printed, or that its text implies, of these "
        "or of its data. Some ignore the pairing of items and have the wrong size on such "
        "data. They are here to be compared with the published figures, not to conclude from."
    )
    tables = results_tables(run, listed, label="replicated", caption="As the study printed")
    return [Markdown(text), *tables]


_MOST_SETS = 8
SET = "accuracy_in_"
"""How columns begin that hold the accuracy on one set."""


def _arrays(run: Run, name: str) -> list[dict[str, Any]]:
    """Rows of an array of the run, each under its judge and temperature."""
    rows = run.arrays.get(name)
    at = {row["condition"]: row["at"] for row in run.described}
    return [
        row | {"who": _who(run, row), "at": at.get(row.get("condition"))}
        for row in (rows if isinstance(rows, list) else [])
    ]


def _who(run: Run, row: Mapping[str, Any]) -> str:
    """The judge, with the temperature where the run has several."""
    temperatures = run.conditions.get("temperature")
    if temperatures is None or temperatures.nunique(dropna=False) < 2:
        return str(row["judge"])
    asked = row.get("temperature")
    return f"{row['judge']} at T={'default' if numbers.is_missing(asked) else f'{asked:g}'}"


_ACCURACY = Column(key="accuracy", label="Accuracy", format="coefficient:3")


def strategies(run: Run) -> Table | None:
    """Calls, tokens, and price of a final verdict by strategy, next to its accuracy."""
    if "factor_strategy" not in run.conditions or "calls" not in run.conditions:
        return None
    rows = [
        row | {
            "who": _who(run, row),
            "usd": number_of(row.get("cost_usd")) / max(number_of(row.get("n")), 1.0),
        }
        for row in run.described
    ]  # fmt: skip
    free = run.all_simulated and not any(row["usd"] > 0 for row in rows)
    priced = (
        Column(key="usd", label="Price", format="money"),
        Column(key="cost_per_chosen", label="Price of a choice", format="money"),
    )
    return grouped_table(
        (
            Column(key="factor_strategy", label="Strategy"),
            _ACCURACY,
            Column(key="words", label="Words", format="number:1"),
            Column(key="points", label="Key points", format="number:1"),
            Column(key="calls", label="Calls", format="number:1"),
            Column(key="tokens", label="Tokens", format="integer"),
            *(() if free else priced),
        ),
        rows,
        caption="Tokens and cost per verdict, by strategy.",
        note="Calls, tokens (in and out), and price of one final verdict, with every call behind "
        "it: plans, votes, crowd judgments, removals. A call that strategies share counts in full "
        "for each. Words and key points are those of the final explanation."
        + " A simulated judge has no price."
        * free,
        label="tbl-strategies",
        group="who",
    )


def sets(run: Run) -> Table | None:
    """Accuracy of the compared strategies on each set, and their average."""
    names = [
        str(c) for c in run.conditions.columns
        if str(c).startswith(SET) and not str(c).endswith(("_low", "_high"))
    ]  # fmt: skip
    if not 2 <= len(names) <= _MOST_SETS:
        return None
    heads = {name: name.removeprefix(SET) for name in names} | {"average": "Average"}
    return grouped_table(
        (
            Column(key="factor_strategy", label="Strategy"),
            *(Column(key=k, label=v, format="coefficient:3") for k, v in heads.items()),
        ),
        [row | {"who": _who(run, row)} for row in run.compared],
        caption=f"Accuracy by set, with {100 * run.level:g}% intervals over questions. "
        "The average counts every set alike.",
        label="tbl-sets",
        group="who",
    )


def costs(run: Run) -> Table | None:
    """What a point of accuracy beyond the vanilla judge's costs, where one is shown."""
    rows = [
        row | {
            "who": table.id.partition(".")[2],
            "at": (table.id, i),
            "tokens_each": _per_point(row, "tokens", numbers.integer),
            "usd_each": _per_point(row, "usd", numbers.money),
        }
        for table in run.select_kind("cost") for i, row in enumerate(rows_of_table(table))
    ]  # fmt: skip
    return grouped_table(
        (
            Column(key="strategy", label="Strategy"),
            Column(key="gain", label=f"Points gained, {100 * run.level:g}% CI", format="number:1"),
            Column(key="tokens", label="Tokens per verdict", format="integer"),
            Column(key="tokens_each", label="Tokens per point", align="right"),
            Column(key="usd_each", label="Price per point", align="right"),
        ),
        rows,
        caption="Cost of accuracy: tokens of a verdict beyond the vanilla judge's, per percentage "
        "point gained.",
        note="– where no gain is shown after adjustment: the price of nothing is not defined. "
        "Intervals of a price are those of the gain; tokens and dollars are treated as known.",
        label="tbl-costs",
        group="who",
    )


def _per_point(row: Mapping[str, Any], what: str, form: Callable[[Any], str]) -> str:
    """What a point costs, with what it costs if the gain is as large and as small as may be."""
    price, low, high = (
        number_of(row.get(f"{what}_per_point{end}")) for end in ("", "_low", "_high")
    )
    if not price > 0:
        return numbers.DASH
    return form(price) if numbers.is_missing(low) else f"{form(price)} [{form(low)}, {form(high)}]"


def scaling(run: Run) -> list[Showable]:
    """Accuracy and length against the number of crowd judgments."""
    rows = _arrays(run, "scaling")
    steps = sorted({number_of(row["k"]) for row in rows})
    curves: dict[str, list[plots.Point]] = {}
    for row in rows:
        m = number_in(row, "accuracy")
        at = steps.index(number_of(row["k"]))
        point = plots.Point(x=at, value=m.value, low=m.low, high=m.high)
        curves.setdefault(row["who"], []).append(point)
    if not any(len(points) > 1 for points in curves.values()):
        return []
    table = grouped_table(
        (
            Column(key="k", format="integer", align="left"),
            Column(key="used", label="Judgments shown", format="number:1"),
            _ACCURACY,
            Column(key="words", label="Words", format="number:1"),
            Column(key="final_tokens_out", label="Tokens of the reply", format="number:1"),
            Column(key="tokens", label="Tokens in all", format="integer"),
        ),
        rows,
        caption="Crowd comparison by the number of judgments before the verdict (0 is vanilla).",
        label="tbl-scaling",
        group="who",
    )
    drawn = tuple(plots.Curve(name=name, points=tuple(own)) for name, own in curves.items())
    figure = Captioned(
        figure=plots.Curves(
            panels=(plots.CurvePanel(y_label="Accuracy", curves=drawn),),
            x_label="Judgments before the verdict (k)",
            levels=tuple(f"{k:g}" for k in steps),
        ),
        label="fig-scaling",
        caption=f"Accuracy against the number of crowd judgments, with {100 * run.level:g}% "
        "intervals over questions. The numbers of judgments are drawn at equal distances.",
    )
    return [figure, table]


def selection(run: Run) -> Table | None:
    """Selections of crowd judgments, with and without their verdicts."""
    shown: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in _arrays(run, "selection"):
        key = (row["who"], row["k"], str(row["selection"]))
        cell = shown.setdefault(key, dict(zip(("who", "k", "selection"), key, strict=True)))
        cell[str(row["verdicts"])] = number_in(row, "accuracy").text()
        if row["verdicts"] == "removed":
            cell |= {k: number_of(row.get(k)) for k in ("preferred", "used")}
    return grouped_table(
        (
            Column(key="selection", label="Selection"),
            Column(key="k", format="integer"),
            Column(key="preferred", label="Of the kind", format="number:1"),
            Column(key="used", label="Shown", format="number:1"),
            Column(key="removed", label="Verdicts removed", align="right"),
            Column(key="kept", label="Verdicts kept", align="right"),
        ),
        sorted(shown.values(), key=lambda cell: str(cell["who"])),
        caption="Accuracy by selection of crowd judgments, with and without their verdicts.",
        note="Criticising: judgments in which the candidate loses. Praising: those that it wins. "
        "Balanced: half of each. Of the kind: number of the judgments shown that are of the kind; "
        "others replace missing ones.",
        label="tbl-selection",
        group="who",
    )
