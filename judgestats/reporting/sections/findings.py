"""The results, by role: the primary ones as sentences, all of them as tables."""

from __future__ import annotations

import re
from collections.abc import Sequence

from judgestats.reporting.escape import clean, escape_markdown, verbatim
from judgestats.reporting.runs import Run
from judgestats.reporting.sections import figures
from judgestats.reporting.sections.pairs import p_of
from judgestats.reporting.sections.result_tables import results_tables, shape_of
from judgestats.reporting.show import Markdown, Showable, pointer
from judgestats.results import Comparison, Record, Results, ResultSet, Test, estimand_of
from judgestats.results import Table as TableRecord
from judgestats.results.prints import print_of
from judgestats.results.sentences import family_sentence, words_of
from judgestats.results.wording import Worded

__all__ = [
    "descriptive",
    "pairs",
    "primary",
    "printed_tables",
    "prints",
    "replicated",
    "replicated_section",
    "secondary",
]

_RELIABILITIES = frozenset({"icc", "omega", "reliability"})
_MOST_SPOKEN = 6
_MOST_PRIMARY = 8
_MOST_TESTS = 12
_MOST_PRINTED = 16
_MOST_PRINTED_ROWS = 12


def primary(run: Run, *, tables_elsewhere: bool = False) -> list[Showable]:
    """Each primary result as a sentence, then all of them in one table.

    Parameters
    ----------
    run : Run
    tables_elsewhere : bool
        Reliabilities are left out of the table, since the document shows them in one of its own.
    """
    records = run.records
    listed = run.of_role("primary")
    if not listed:
        return [] if records.kind == "audit" else [Markdown("The plan names no primary result.")]
    spoken = [r for r in listed if not _only_in_family(r)]
    if len(spoken) > _MOST_PRIMARY:  # the tables say it better, and the appendix in full
        spoken = [r for r in spoken if shape_of(r, records) != "estimates"]
    tests = [r for r in spoken if isinstance(r, Test)]
    rest = ""
    if len(tests) > _MOST_TESTS:  # what is found; the table has all
        told = sorted((t for t in tests if _decides(t, records)), key=lambda t: p_of(t)[1])
        spoken = [r for r in spoken if r in told[:_MOST_TESTS] or r not in tests]
        n = min(len(told), _MOST_TESTS)
        rest = f"{n} of {len(tests)} tests are told, those that decide most; the table has all."
    # a family speaks for the tests that are listed nowhere else
    families = _families([r for r in listed if _only_in_family(r)])
    shown: list[Showable] = [
        Markdown(_sentences(spoken, records, families=families)),
        Markdown(rest),
    ]
    tabled = [r for r in listed if not (tables_elsewhere and r.hypothesis in _RELIABILITIES)]
    tables = results_tables(tabled, results=records, label="primary", caption="Primary results")
    return [*shown, pointer(tables, about="the primary results side by side"), *tables]


def _decides(test: Test, results: Results) -> bool:
    level = results.family(test.family).level if test.family else 0.05
    return p_of(test)[1] <= level


def _only_in_family(record: Record) -> bool:
    """Whether a test stands in the plan only as one of many of a family, which speaks for it."""
    return isinstance(record, Test) and record.id.startswith(f"{record.family or record.id}/")


def _families(records: Sequence[Record]) -> list[str]:
    """The families of tests, in order."""
    return list(dict.fromkeys(r.family for r in records if isinstance(r, Test) and r.family))


def secondary(run: Run, *, pairs_in: str = "") -> list[Showable]:
    """The secondary results by hypothesis: the question, what was found, tables and figures.

    Parameters
    ----------
    run : Run
    pairs_in : str
        The label of the section that shows all pairs (`pairs`); they are left out here then.
    """
    results, questions = run.records, _questions(run)
    shown: list[Showable] = []
    for name, records in _grouped(run).items():
        heading = questions.get(name) or records[0].title
        pictures = figures.of_hypothesis(run, name)
        compared = [r for r in records if shape_of(r, results) == "comparisons"]
        others = [r for r in records if r not in compared]
        shown.append(Markdown(f"## {escape_markdown(heading)}"))
        # ranks are shown by their diagram, the family's verdict and pairs as sentences
        spoken = [r for r in compared if not _ranks(r, results)][:_MOST_SPOKEN]
        shown.append(Markdown(_sentences(spoken, results, families=_families(others))))
        parts: list[Showable] = [
            *results_tables(others, results=results, label=_slug(name), caption=heading), *pictures
        ]  # fmt: skip
        if not pairs_in:
            parts += results_tables(compared, results=results, label=_slug(name), caption=heading)
        text = pointer(parts, about="these results").text
        if pairs_in and compared:
            text = f"{text} All pairs stand in @{pairs_in}.".strip()
        shown += [Markdown(text), *parts]
    return shown


def pairs(run: Run) -> list[Showable]:
    """All comparisons of pairs, a table for each hypothesis."""
    results, questions = run.records, _questions(run)
    shown: list[Showable] = []
    for name, records in _grouped(run).items():
        heading = questions.get(name) or records[0].title
        compared = [r for r in records if shape_of(r, results) == "comparisons"]
        shown += results_tables(compared, results=results, label=_slug(name), caption=heading)
    return shown


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "more"


def _ranks(record: Record, results: Results) -> bool:
    """Whether pairs are compared by their mean ranks."""
    members = results.members(record) if isinstance(record, ResultSet) else (record,)
    return isinstance(members[0], Comparison) and estimand_of(members[0].estimand).unit == "ranks"


def replicated(run: Run) -> list[Showable]:
    """What the replicated study printed, of these data and of its own: never the answer.

    Of its own long tables the text tells what is to be said, and where they are (`printed_tables`).
    """
    computed, printed = _computed_and_printed(run)
    parts: list[Showable] = []
    if computed:
        tables = _tabled(computed, run, "What the study would have printed of this run")
        tested = any(shape_of(r, run.records) in {"tests", "comparisons"} for r in computed)
        text = (
            "These are the tests that the replicated study printed, or that its text implies. They "
            "ignore the pairing of items, and some have the wrong size on such data; they are here "
            "to be compared with the published figures, not to conclude from."
            if tested
            else "These are the figures that the replicated study printed, computed from the "
            "judgments of this run. They are here to be compared with the published ones, not to "
            "conclude from."
        )
        parts += [Markdown(text), pointer(tables, about="these figures"), *tables]
    if printed:
        text = (
            "What follows are figures that the replicated study printed, of its own judges and "
            "items, and, where a line says so, the same figures of this run. They are here to be "
            "compared, not to conclude from."
        )
        sentences = [f"- {escape_markdown(r.text)}" for r in printed]
        tables = _tabled(printed, run)
        where = pointer(tables, about="these figures in full")
        parts += [Markdown(text), "\n".join(sentences), Markdown(where.text)]
        if not _is_long(printed):
            parts += tables
    if shape := figures.centred(run):
        parts += [pointer(shape, about="the shape of scores"), *shape]
    return parts


def printed_tables(run: Run) -> list[Showable]:
    """The replicated study's own tables for an appendix, where they are long."""
    _, printed = _computed_and_printed(run)
    return list(_tabled(printed, run)) if _is_long(printed) else []


def _computed_and_printed(run: Run) -> tuple[list[Record], list[TableRecord]]:
    """Replicated results on the judgments of this run, and tables copied from print."""
    listed = run.of_role("replicated")
    printed = [r for r in listed if isinstance(r, TableRecord)]
    return [r for r in listed if not isinstance(r, TableRecord)], printed


def _is_long(printed: Sequence[TableRecord]) -> bool:
    return sum(len(r.rows) for r in printed) > _MOST_PRINTED_ROWS


def _tabled(
    records: Sequence[Record], run: Run, caption: str = "As the study printed"
) -> Sequence[Showable]:
    return results_tables(records, results=run.records, label="replicated", caption=caption)


def replicated_section(run: Run) -> list[Showable]:
    """The replicated results with their heading, or nothing at all."""
    shown = replicated(run)
    return (
        [Markdown("# As the replicated study printed it {#sec-replicated}"), *shown]
        if shown
        else []
    )


def descriptive(run: Run) -> list[Showable]:
    """The descriptive results, which test nothing: tables only, those the text shows left out."""
    shown_above = set(_RELIABILITIES) if "icc1" in run.conditions else set()
    if "factor_strategy" in run.conditions:
        shown_above = {"cost"}
    listed = [r for r in run.of_role("descriptive") if r.hypothesis not in shown_above]
    return list(
        results_tables(
            listed, results=run.records, label="descriptive", caption="Descriptive results"
        )
    )


def _questions(run: Run) -> dict[str, str]:
    return {
        str(h["id"]): str(h.get("question", ""))
        for h in run.plan.get("hypotheses") or run.facts.get("families") or []
        if h.get("id")
    }


def _grouped(run: Run) -> dict[str, list[Record]]:
    """The secondary results by the hypothesis they answer, in order."""
    groups: dict[str, list[Record]] = {}
    for record in run.of_role("secondary"):
        groups.setdefault(record.hypothesis, []).append(record)
    return groups


def _sentences(records: Sequence[Record], results: Results, *, families: Sequence[str] = ()) -> str:
    """Results as sentences; a reason or verdict that several share is said once, at the end."""
    worded = [(r, w) for r in records if str(w := words_of(r, results))]
    common = _common([w for _, w in worded])
    lines = []
    for record, words in worded:
        own = Worded(words.numbers, *("" if part in common else part for part in words[1:]))
        lines.append(f"- **{escape_markdown(record.title)}.** {sentence(str(own))}")
    lines += [f"- {sentence(family_sentence(family, results))}" for family in families]
    end = " ".join(common)
    return "\n".join([*lines, *(["", sentence(end)] if end else [])])


def _common(worded: Sequence[Worded]) -> list[str]:
    """The reason and verdict that all of several results share."""
    if len(worded) < 2:
        return []
    kept = [set(parts) for parts in zip(*(w[1:] for w in worded), strict=True)]
    return [parts.pop() for parts in kept if len(parts) == 1 and "" not in parts]


_SIGN = re.compile(
    r"(?<![\w*\\])(F|H|L|M|N|SD|U|V|W|d|g|p|r|t|z)(?= \\[=<>] |\\\([\d., N\\=]+\\\) \\[=<>] )"
)


def sentence(text: object) -> str:
    """A result's sentence as Markdown: ends in a full stop, sentences begin with a capital.

    Letters that stand for a statistic are set in italics, as the APA manual asks.

    Examples
    --------
    >>> print(sentence("t(3) = 2.10, p < .001"))
    *t*\\(3\\) \\= 2\\.10\\, *p* \\< \\.001\\.
    """
    plain = " ".join(clean(text).split())
    plain = re.sub(r"(?<=\.\s)[a-z](?=[a-z]* )", lambda m: m.group(0).upper(), plain)
    if plain and plain[-1] not in ".!?":
        plain += "."
    return _SIGN.sub(r"*\1*", escape_markdown(plain))


def prints(run: Run, *roles: str) -> Markdown:
    """The results of some roles, printed in full as in a terminal."""
    listed = run.of_role(*roles)
    parts = [
        f"**{escape_markdown(r.title)}**\n\n" + verbatim(print_of(r, run.records))
        for r in listed[:_MOST_PRINTED]
    ]
    if len(listed) > _MOST_PRINTED:
        parts.append(f"{len(listed) - _MOST_PRINTED} further results stand in `results.json`.")
    return Markdown("\n\n".join(parts))
