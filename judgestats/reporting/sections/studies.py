"""Published studies: claims, their own tests, and judging strategies."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from judgestats.reporting import numbers
from judgestats.reporting.runs import Run
from judgestats.reporting.sections.conditions import MOST_ROWS
from judgestats.reporting.sections.results import results_tables, rows_tables
from judgestats.reporting.tables import Column, Markdown, Showable, Table
from judgestats.results import Comparison, Record, Results, Test, apa_number
from judgestats.results import Table as TableRecord
from judgestats.results.change_screen import claim_outcome
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
