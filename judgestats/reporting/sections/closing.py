"""What follows: limitations, the priced recommendation, the account, the session."""

from __future__ import annotations

from judgestats.reporting.escape import escape_markdown, verbatim
from judgestats.reporting.formats import integer, money
from judgestats.reporting.runs import Run
from judgestats.reporting.sections.data import coefficients_of
from judgestats.reporting.show import Markdown
from judgestats.reporting.tables import Column, Table
from judgestats.results import Comparison, Record, ResultSet, Test

__all__ = [
    "account",
    "command",
    "limitations",
    "methods",
    "session",
    "sources_of_tests",
]


def limitations(run: Run) -> Markdown:
    """The limitations that follow from these data."""
    listed = [note.message for note in run.records.limitations]
    if not listed:
        return Markdown("The data gave cause for no limitation beyond those of the design.")
    return Markdown("\n".join(f"- {escape_markdown(text)}" for text in listed))


_METHODS = {
    "spread": (
        "The unit of every comparison of spread is an item under a condition, and the item is the "
        "block: the same items were judged under every condition. Spread within a cell is the mean "
        "absolute distance of its scores from their mean; cells are compared within items by a "
        "two-way F test whose p-value comes from exchanging whole cells within items "
        "[@anderson2003], and by ranks [@friedman1937; @iman1980; @demsar2006]; for ordered "
        "conditions by Page's trend test [@page1963]."
    ),
    "equivalence": (
        "Equivalence is claimed only by two one-sided tests against the declared margin "
        "[@schuirmann1987]."
    ),
    "scores": (
        "Reliabilities of scores are intraclass correlations [@shrout1979] with jackknife "
        "intervals over questions, and McDonald's omega [@mcdonald1999]. SEM is the standard "
        "error of measurement: the standard deviation of one judgment around the mean of all that "
        "the judge would give to the same answer."
    ),
    "means": (
        "The reliability of a mean of $k$ judgments is\n\n"
        "$$ \\rho_k = \\frac{k \\rho_1}{1 + (k - 1) \\rho_1} $$ {#eq-spearman-brown}\n\n"
        "after @spearman1910 and @brown1910; @eq-spearman-brown gives the numbers of judgments "
        "advised above."
    ),
    "verdicts": (
        "Verdicts are names without an order; agreement is corrected for chance [@cohen1960; "
        "@fleiss1971; @gwet2008], and intervals keep the verdicts of one question together."
    ),
    "grade": (
        "The Grade Score is the harmonic mean of the entropy of the chosen places and the "
        "frequency of the modal option over the rotations of the options [@gradescore2024]. It "
        "depends on the number of options, so scores are compared after correction for chance."
    ),
}


_INTERVALS = (
    "Intervals keep the items of one question together: where items are independent and an exact "
    "interval exists it is used, elsewhere the jackknife or bootstrap over questions on a "
    "scale on which the estimate is nearly normal; each result names its method in the appendix "
    "or in `results.json`. A null reference is the same coefficient after shuffling what the null "
    "hypothesis says does not matter; its p-value is (b + 1) / (B + 1), where b of B shuffles "
    "reach the observed value. CI: confidence interval; SD: standard deviation; ICC: intraclass "
    "correlation; T: sampling temperature."
)


_NAMED_TESTS = {
    "page_trend_test": ("Page's trend test", "@page1963"),
    "friedman_test": ("Friedman's test", "@friedman1937"),
    "kruskal_test": ("Kruskal and Wallis' test", "@kruskal1952"),
    "mann_whitney_test": ("Mann and Whitney's test", "@mann1947"),
    "pairwise_mann_whitney": ("Mann and Whitney's test", "@mann1947"),
    "wilcoxon_signed_rank": ("Wilcoxon's signed-rank test", "@wilcoxon1945"),
    "pairwise_wilcoxon": ("Wilcoxon's signed-rank test", "@wilcoxon1945"),
    "levene_test": ("Levene's test", "@levene1960"),
    "levene_of_variances": ("Levene's test", "@levene1960"),
    "mcnemar_test": ("McNemar's test", "@mcnemar1947"),
    "pairwise_mcnemar": ("McNemar's test", "@mcnemar1947"),
    "spearman_correlation": ("Spearman's rank correlation", "@spearman1904"),
}
"""Machine name of a test or comparison: what it is called, and its source."""


def sources_of_tests(run: Run) -> Markdown:
    """The tests that a replication's results name, with their sources."""
    kinds = {test.test for test in run.records.select(Test)}
    kinds |= {s.name for s in run.records.select(ResultSet)}
    named = list(
        dict.fromkeys(f"{n} [{key}]" for kind, (n, key) in _NAMED_TESTS.items() if kind in kinds)
    )
    return Markdown(f"Tests named above: {'; '.join(named)}.") if named else Markdown("")


def methods(run: Run, *, advised: bool = True) -> Markdown:
    """The methods behind the results that the run has, with their sources.

    `advised` says whether numbers of judgments are advised beside them.
    """
    stems = {r.id.partition(".")[0] for r in run.records.select(Record, top=True)}
    has = {
        "spread": "spread" in stems,
        "equivalence": "equivalence" in stems,
        "scores": "icc1" in run.conditions,
        "means": advised and "icc1" in run.conditions,
        "verdicts": bool(coefficients_of(run)),
        "grade": "grade" in stems,
    }
    parts = [text for key, text in _METHODS.items() if has[key]]
    parts.append(_INTERVALS)
    if not any(isinstance(r, (Test, Comparison)) for r in run.records.results):
        return Markdown("\n\n".join(parts))
    parts.append(
        "Tests of one family are adjusted together by the method that the plan names, Holm's as a "
        "rule [@holm1979]. A test that does not reach its level is never read as equality "
        "[@altman1995]."
    )
    return Markdown("\n\n".join(parts))


def account(run: Run) -> Table | Markdown:
    """What was asked, answered, paid."""
    entries = run.facts.get("account") or {}
    labels = {
        "asked": "Judgments asked for",
        "answered": "Answered",
        "failed": "Failed",
        "cached": "Taken from the journal (not asked again)",
        "requests": "Requests",
        "retries": "Retries",
        "tokens_in": "Tokens in",
        "tokens_out": "Tokens out",
    }
    parts = {
        "tokens_cached": "Tokens in, of these cached",
        "tokens_reasoning": "Tokens out, of these reasoning",
    }
    labels |= {key: text for key, text in parts.items() if entries.get(key)}
    rows = [
        {"what": text, "n": integer(entries[key])}
        for key, text in labels.items()
        if entries.get(key) is not None
    ]
    if not rows:
        return Markdown("The run keeps no account of calls.")
    if entries.get("cost_unknown"):
        rows.append({"what": "Cost", "n": "unknown (a model has no price in the table)"})
    else:
        rows.append({"what": "Cost", "n": money(entries.get("cost_usd"))})
    return Table(
        columns=(
            Column(key="what", label="Account"),
            Column(key="n", label="Number", align="right"),
        ),
        rows=tuple(rows),
        caption="What was asked, answered and paid.",
        label="tbl-account",
    )


def session(run: Run) -> Table | Markdown:
    """Versions of everything that computed the numbers."""
    s = run.session
    if not s:
        return Markdown("The run keeps no session information.")
    rows = [{"what": k, "version": str(s[k])} for k in ("judgestats", "python", "system") if k in s]
    rows += [{"what": str(k), "version": str(v)} for k, v in (s.get("packages") or {}).items()]
    return Table(
        columns=(Column(key="what", label="Program"), Column(key="version", label="Version")),
        rows=tuple(rows),
        caption="Session information.",
        label="tbl-session",
    )


def command(run: Run) -> Markdown:
    """The command that repeats the run."""
    text = str(run.facts.get("command") or run.session.get("command") or "")
    return Markdown(verbatim(text)) if text else Markdown("The run does not say how it was made.")
