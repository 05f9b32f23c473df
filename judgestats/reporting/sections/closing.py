"""Closing of a report: methods, files, account of calls, session, and command."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from judgestats import results
from judgestats.reporting.document import current_output, verbatim
from judgestats.reporting.numbers import integer, money
from judgestats.reporting.runs import Run
from judgestats.reporting.sections.people import linked
from judgestats.reporting.tables import Column, Markdown, Table
from judgestats.results.numbers import count_noun
from judgestats.results.quantities import TESTS
from judgestats.results.results import results_frame
from judgestats.sinks import escape_markdown, write_csv_file

Write = Callable[[str], str]
_SOURCES = {
    "blocked_f_test": "anderson2003", "spread_test": "anderson2003",
    "friedman_test": "friedman1937", "iman_davenport_test": "iman1980", "nemenyi": "demsar2006",
    "page_trend_test": "page1963", "kruskal_test": "kruskal1952",
    "wilcoxon_signed_rank": "wilcoxon1945",
    "mann_whitney_test": "mann1947", "pairwise_mann_whitney": "mann1947",
    "levene_test": "levene1960", "levene_of_variances": "levene1960",
    "published_levene": "levene1960", "cochran_q_test": "cochran1950",
    "mcnemar_test": "mcnemar1947", "pairwise_mcnemar": "mcnemar1947",
    "spearman_correlation": "spearman1904", "spearman_trend": "spearman1904",
    "comparisons_with_best": "hsu1996", "equivalence_of_spread": "schuirmann1987",
    "equivalence_of_means": "schuirmann1987", "equivalence_of_effects": "schuirmann1987",
}  # fmt: skip
"""Machine name of a test, or the function behind it, or of a set of comparisons: its source."""
_INTERVALS = (
    ("bootstrap", "bootstrap over questions, bias-corrected and accelerated [@efron1987]"),
    ("jackknife", "jackknife over questions, on a scale on which the estimate is nearly normal"),
    ("sandwich over clusters", "sandwich over questions"),
    ("t over clusters", "t over questions"),
    ("Clopper-Pearson", "Clopper and Pearson's exact interval [@clopper1934]"),
    ("MOVER", "limits recovered from Wilson's"),
    ("Wilson", "Wilson's interval on the effective number of labels [@wilson1927]"),
    ("noncentral F", "inversion of the noncentral F"),
    ("Hsu", "simultaneous intervals of comparisons with the best"),
    ("Nemenyi", "Nemenyi's simultaneous intervals"),
)
"""A word of an interval's method, and what it is called; a method without one is called itself."""
_ADJUSTED = {
    "holm": "Holm's method [@holm1979]",
    "half-level Holm": "Holm's method at half of the level [@holm1979]",
    "single-step (studentised range)": "the studentised range",
    "simultaneous": "simultaneous intervals",
    "Westfall-Young": "Westfall and Young's step-down procedure [@westfall1993]",
}
_SPREAD = (
    "The unit of every comparison of spread is an item under a condition. The item is the block: "
    "the same items were judged under every condition."
)
_ICC = "Reliabilities of scores are intraclass correlations (ICC) [@shrout1979]"
_OF_MEANS = {
    "alpha": "Cronbach's alpha [@cronbach1951]",
    "omega_total": "McDonald's omega [@mcdonald1999]",
}
_SEM = (
    "SEM is the standard error of measurement: the SD of repeated scores of one item, pooled over "
    "items."
)
_MEANS = (
    "The reliability of a mean of $k$ judgments is\n\n"
    "$$ \\rho_k = \\frac{k \\rho_1}{1 + (k - 1) \\rho_1} $$ {#eq-spearman-brown}\n\n"
    "after @spearman1910 and @brown1910; @eq-spearman-brown gives the numbers of judgments "
    "advised above."
)
_CORRECTED = {
    "cohen_kappa": "Cohen's kappa [@cohen1960]",
    "fleiss_kappa": "Fleiss' kappa [@fleiss1971]",
    "gwet_ac1": "Gwet's AC1 [@gwet2008]",
}
"""Estimands corrected for chance, with their sources."""
_VOTE_SHARE = (
    "The single-verdict reliability is the share of the variance of the verdicts' indicators that "
    "is between items [@fleiss1979]."
)
_GRADE = (
    "The Grade Score is the harmonic mean of position entropy and modal share over the rotations "
    "of the options [@gradescore2024]. It depends on the number of options, so scores are "
    "compared after correction for chance."
)
_SHUFFLED = "its p is (b + 1) / (B + 1), where b of B draws reach the observed value."
_ABSENCE = "A test that does not reach its level is never read as equality [@altman1995]."
_EVERY = ("primary", "secondary", "descriptive", "replicated")


def methods(
    run: Run,
    *,
    advised: bool = True,
    roles: Sequence[str] = _EVERY,
    write: Write = escape_markdown,
) -> Markdown:
    """The methods behind the results that the run has, with their sources: those and no others.

    Parameters
    ----------
    run : Run
    advised : bool
        Whether numbers of judgments are advised next to them.
    roles : sequence of str
        Of the tests and comparisons named.
    write : function
        Writes what records say in the form wanted.
    """
    estimands = {e.estimand for e in run.records.select(results.Estimate)}
    named = [r for r in run.records.select(results.Record, role=tuple(roles)) if _is_test(run, r)]
    parts = [
        _SPREAD * any("spread" in getattr(r, "test", getattr(r, "name", "")) for r in named),
        _scores(run, estimands),
        _MEANS * bool(advised and "icc1" in run.conditions),
        _verdicts(estimands),
        _GRADE * bool({"grade_score", "grade_score_corrected"} & estimands),
        _tests(named, write),
        _intervals(run, write),
        _null_sentence(run, write),
        _adjusted(run, named, write),
        _crosschecked(run),
    ]
    return Markdown("\n\n".join(filter(None, parts)))


def _is_test(run: Run, record: results.Record) -> bool:
    """Whether a result is a test, or a set of comparisons."""
    if isinstance(record, results.ResultSet):
        return any(isinstance(m, results.Comparison) for m in run.records.members(record))
    return isinstance(record, results.Test)


def _scores(run: Run, estimands: set[str]) -> str:
    if "icc1" not in run.conditions:
        return ""
    of_means = [text for key, text in _OF_MEANS.items() if key in estimands]
    text = f"{_ICC}{', those of means ' if of_means else ''}{' and '.join(of_means)}."
    return f"{text} {_SEM}" if {"sem"} & {*run.conditions, *estimands} else text


def _verdicts(estimands: set[str]) -> str:
    parts = []
    used = [text for key, text in _CORRECTED.items() if key in estimands]
    if used:
        parts.append(f"Agreement is corrected for chance: {', '.join(used)}.")
    if any(key.startswith("vote_share_reliability") for key in estimands):
        parts.append(_VOTE_SHARE)
    return " ".join(["Verdicts are names without an order.", *parts]) if parts else ""


def _tests(named: Sequence[results.Record], write: Write) -> str:
    """Every test and every comparison of pairs once, as its method says it."""
    tests = dict.fromkeys(
        write(_method(r.method)) + _source(r.test) for r in named if isinstance(r, results.Test)
    )
    pairs = dict.fromkeys(
        write(_method(r.method)) + _source(r.name)
        for r in named
        if isinstance(r, results.ResultSet)
    )
    sentences = [f"Tests: {'; '.join(tests)}."] if tests else []
    sentences += [f"Pairs: {'; '.join(pairs)}."] if pairs else []
    return " ".join(sentences)


def _source(key: str) -> str:
    function = results.kind_of_test(key).function if key in TESTS else ""
    source = _SOURCES.get(key) or _SOURCES.get(function, "")
    return f" [@{source}]" if source else ""


def _method(text: str) -> str:
    """A method as text: without the number of draws, clusters called what they are."""
    text = re.sub(r"\(\d[\d,]* permutations", "(permutations", text)
    return text.replace("(items as clusters)", "over items").replace("clusters", "questions")


def _intervals(run: Run, write: Write) -> str:
    """How the intervals were made."""
    made = [
        interval.method
        for record in run.records.select(results.Record)
        if (interval := getattr(record, "interval", None)) is not None and interval.method
    ]
    words = list(dict.fromkeys(_interval(method, write) for method in made))
    if not words:
        return ""
    text = f"Intervals ({100 * run.level:g}%): {'; '.join(words)}."
    over = any("over questions" in word for word in words)
    return (
        f"{text} Over questions means that the items of a question stay together." if over else text
    )


def _interval(method: str, write: Write) -> str:
    if method == "F":
        return "inversion of F"
    called = next((words for mark, words in _INTERVALS if mark in method), "")
    return called or write(_method(re.sub(r"\d[\d.]* (?=effective df|df)", "", method)))


def _null_sentence(run: Run, write: Write) -> str:
    """What is shuffled, or drawn, where a result has a null value."""
    nulls = [e.null for e in run.records.select(results.Estimate) if e.null is not None]
    ways = dict.fromkeys(
        f"{'drawing from' if null.drawn else 'shuffling'} {null.permuted}" for null in nulls
    )
    if not ways:
        return ""
    text = f"Null: the same coefficient after {_listed(map(write, ways))}"
    tested = any(null.p == null.p for null in nulls)
    return f"{text}; {_SHUFFLED}" if tested else f"{text}."


def _adjusted(run: Run, named: Sequence[results.Record], write: Write) -> str:
    """How tests of one family are adjusted together."""
    if not named:
        return ""
    ids = {r.id for r in named} | {
        m for r in named if isinstance(r, results.ResultSet) for m in r.members
    }
    ways = dict.fromkeys(
        _ADJUSTED.get(family.method) or write(family.method)
        for family in run.records.families
        if family.method != "none" and len(family.members) > 1 and ids.intersection(family.members)
    )
    text = f"Tests of one family are adjusted together: {'; '.join(ways)}. " if ways else ""
    return text + _ABSENCE


def _listed(parts: Iterable[str]) -> str:
    *before, last = parts
    return f"{', '.join(before)} or {last}" if before else last


def _crosschecked(run: Run) -> str:
    """How many numbers other packages recomputed, and the largest difference."""
    rows = [row for row in run.table("crosscheck") if not row["reason"]]
    if not rows:
        return ""
    largest = max(abs(row["difference"] or 0.0) for row in rows)
    packages = {row["package"].rpartition(" ")[::2] for row in rows}
    named = " and ".join(f"{p} {'.'.join(v.split('.')[:2])}" for p, v in sorted(packages))
    numbers = count_noun(len(rows), "headline number was", "headline numbers were")
    difference = f"the largest difference is {largest:.0e}" if largest else "there is no difference"
    return f"{numbers} recomputed with {named}; {difference}."


_CSV = {
    "tests": "every test, with statistic, degrees of freedom, p and adjusted p",
    "pairs": "every pair, with interval, p and adjusted p",
    "estimates": "every estimate, with its interval and null value",
    "conditions": "everything that describes the conditions, at full precision",
    "disagreements": "every item on which judge and human labels differ, the widest gap first",
}


_KINDS = {"tests": "test", "pairs": "comparison", "estimates": "estimate"}


def files(run: Run) -> Markdown:
    """The tables that the report leaves out, as CSV next to it, with links."""
    every = results_frame(run.records)
    made = {name: every[every["kind"] == kind] for name, kind in _KINDS.items()}
    made["conditions"] = pd.DataFrame(run.table(results.CONDITIONS))
    written = [name for name, part in made.items() if len(part)]
    for name in written:
        write_csv_file(current_output().path(f"tables/{name}.csv"), made[name])
    here = [*written, *(["disagreements"] if linked(run) else [])]
    lines = [f"- [tables/{n}.csv](tables/{n}.csv): {_CSV[n]}" for n in here]
    lines.append("- results.json: all records; `judgestats report RUN --detail full` shows them.")
    return Markdown("::: {.files}\n\n" + "\n".join(lines) + "\n\n:::")


_ACCOUNT = {
    "asked": "Judgments asked for",
    "answered": "Answered",
    "failed": "Failed",
    "cached": "From the journal (no new call)",
    "requests": "Requests",
    "retries": "Retries",
    "tokens_in": "Tokens in",
    "tokens_out": "Tokens out",
    "tokens_cached": "Tokens in, of these cached",
    "tokens_reasoning": "Tokens out, of these reasoning",
}


def account(run: Run) -> Table | Markdown:
    """What was asked, answered, paid."""
    entries = run.facts.get("account") or {}
    rows = {
        text: integer(entries[key])
        for key, text in _ACCOUNT.items()
        if entries.get(key) or (entries.get(key) == 0 and "of these" not in text)
    }
    if not rows:
        return Markdown("The run keeps no account of calls.")
    unknown = "unknown (a model has no price in the table)"
    rows["Cost"] = unknown if entries.get("cost_unknown") else money(entries.get("cost_usd"))
    return _facts(rows, ("Account", "Number"), "Calls, replies, and cost.", "tbl-account")


def session(run: Run) -> Table | Markdown:
    """Versions of everything that computed the numbers."""
    names = ("judgestats", "python", "system")
    versions: dict[str, Any] = {k: run.session[k] for k in names if k in run.session}
    versions |= run.session.get("packages") or {}
    if not versions:
        return Markdown("The run keeps no session information.")
    return _facts(versions, ("Program", "Version"), "Session information.", "tbl-session")


def _facts(rows: Mapping[str, Any], heads: tuple[str, str], caption: str, label: str) -> Table:
    """A table of two columns: what, and its number or text."""
    return Table(
        columns=(
            Column(key="what", label=heads[0]),
            Column(key="value", label=heads[1], align="right" if heads[1] == "Number" else "left"),
        ),
        rows=tuple({"what": what, "value": str(value)} for what, value in rows.items()),
        caption=caption,
        label=label,
    )


def command(run: Run) -> Markdown:
    """The command that repeats the run."""
    text = str(run.facts.get("command") or run.session.get("command") or "")
    return Markdown(verbatim(text) if text else "The run does not say how it was made.")
