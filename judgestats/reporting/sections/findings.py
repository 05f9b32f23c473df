"""The results, by role: the primary ones as sentences, all of them as tables."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from judgestats.reporting.escape import clean, escape_markdown, verbatim
from judgestats.reporting.runs import Run
from judgestats.reporting.sections import figures
from judgestats.reporting.sections.result_tables import results_tables, shape_of
from judgestats.reporting.show import Markdown, Showable, pointer
from judgestats.results.numbers import format_p

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

_NONE: Mapping[str, str] = MappingProxyType({})
_RELIABILITIES = frozenset({"icc", "omega", "reliability"})
_MOST_SPOKEN = 6
_MOST_PRIMARY = 8
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
    found = run.of_role("primary")
    if not found:
        audited = run.results.get("kind") == "audit"
        return [] if audited else [Markdown("The plan names no primary result.")]
    spoken = found
    if len(found) > _MOST_PRIMARY:  # the tables say it better, and the appendix in full
        spoken = [r for r in found if shape_of(r) != "estimates"]
    families = [r for r in spoken if len(r.get("glance") or []) > 1 and shape_of(r) == "tests"]
    adjusted = _adjusted(families, spoken)
    if adjusted:  # each test is told with its adjusted p: the family would say it again
        spoken = [r for r in spoken if r not in families]
    shown: list[Showable] = [Markdown(_sentences(spoken, adjusted))]
    tabled = found
    if tables_elsewhere:
        tabled = [r for r in found if str(r.get("id", "")).partition(".")[0] not in _RELIABILITIES]
    tables = results_tables(tabled, run=run, label="primary", caption="Primary results")
    return [*shown, pointer(tables, about="the primary results side by side"), *tables]


def _adjusted(
    families: Sequence[dict[str, Any]], tests: Sequence[dict[str, Any]]
) -> dict[str, str]:
    """What to say of each test's adjusted p, by the test's id; found by its statistic."""
    said: dict[str, str] = {}
    for family in families:
        lines = [x for x in family.get("glance") or [] if x.get("p_adjusted") is not None]
        for test in tests:
            glance = (test.get("glance") or [{}])[0]
            for line in lines:
                same = line.get("statistic") == glance.get("statistic")
                if test is not family and same and glance.get("statistic") is not None:
                    how = str(line.get("adjust") or "adjusted").capitalize()
                    p = format_p(float(line["p_adjusted"]))
                    said[str(test["id"])] = f" ({how}-adjusted over {len(lines)} tests, p {p})"
    return said


def secondary(run: Run, *, pairs_in: str = "") -> list[Showable]:
    """The secondary results by hypothesis: the question, what was found, tables and figures.

    Parameters
    ----------
    run : Run
    pairs_in : str
        The label of the section that shows all pairs (`pairs`); they are left out here then.
    """
    questions = _questions(run)
    shown: list[Showable] = []
    for name, results in _grouped(run, questions).items():
        heading = questions.get(name) or str(results[0].get("title", name))
        pictures = figures.of_hypothesis(run, name)
        compared = [r for r in results if shape_of(r) == "comparisons"]
        others = [r for r in results if shape_of(r) != "comparisons"]
        shown.append(Markdown(f"## {escape_markdown(heading)}"))
        # ranks are shown by their diagram, the family's verdict and pairs as sentences
        spoken = [r for r in others if len(r.get("glance") or []) > 1]
        spoken += [r for r in compared if "rank" not in _estimated(r)][:_MOST_SPOKEN]
        shown.append(Markdown(_sentences(spoken)))
        parts: list[Showable] = [
            *results_tables(others, run=run, label=_slug(name), caption=heading), *pictures
        ]  # fmt: skip
        if not pairs_in:
            parts += results_tables(compared, run=run, label=_slug(name), caption=heading)
        told = pointer(parts, about="these results").text
        if pairs_in and compared:
            told = f"{told} All pairs stand in @{pairs_in}.".strip()
        shown += [Markdown(told), *parts]
    return shown


def pairs(run: Run) -> list[Showable]:
    """All comparisons of pairs, a table for each hypothesis."""
    questions = _questions(run)
    shown: list[Showable] = []
    for name, results in _grouped(run, questions).items():
        heading = questions.get(name) or str(results[0].get("title", name))
        compared = [r for r in results if shape_of(r) == "comparisons"]
        shown += results_tables(compared, run=run, label=_slug(name), caption=heading)
    return shown


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "more"


def _estimated(result: dict[str, Any]) -> str:
    return str(((result.get("tidy") or [{}])[0]).get("estimate_name", ""))


def replicated(run: Run) -> list[Showable]:
    """What the replicated study printed, of these data and of its own: never the answer.

    Of its own long tables the text tells what is to be said, and where they are (`printed_tables`).
    """
    computed, printed = _computed_and_printed(run)
    parts: list[Showable] = []
    if computed:
        tables = _tabled(computed, run, "What the study would have printed of this run")
        tested = any(shape_of(r) in {"tests", "comparisons"} for r in computed)
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
            "What follows are the replicated study's own figures, of its own judges and items. "
            "They are here to be compared with, not to conclude from."
        )
        said = [f"- {escape_markdown(str(r.get('text', '')))}" for r in printed]
        tables = _tabled(printed, run)
        where = pointer(tables, about="these figures in full")
        parts += [Markdown(text), "\n".join(said), Markdown(where.text)]
        if not _is_long(printed):
            parts += tables
    return parts


def printed_tables(run: Run) -> list[Showable]:
    """The replicated study's own tables for an appendix, where they are long."""
    _, printed = _computed_and_printed(run)
    return list(_tabled(printed, run)) if _is_long(printed) else []


def _computed_and_printed(run: Run) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Replicated results on the judgments of this run, and tables copied from print."""
    found = run.of_role("replicated")
    printed = [r for r in found if shape_of(r) == "rows"]
    return [r for r in found if r not in printed], printed


def _is_long(printed: Sequence[dict[str, Any]]) -> bool:
    return sum(len(r.get("tidy") or []) for r in printed) > _MOST_PRINTED_ROWS


def _tabled(
    found: Sequence[dict[str, Any]], run: Run, caption: str = "As the study printed"
) -> Sequence[Showable]:
    return results_tables(found, run=run, label="replicated", caption=caption)


def replicated_section(run: Run) -> list[Showable]:
    """The replicated results with their heading, or nothing at all."""
    found = replicated(run)
    return (
        [Markdown("# As the replicated study printed it {#sec-replicated}"), *found]
        if found
        else []
    )


def descriptive(run: Run) -> list[Showable]:
    """The descriptive results, which test nothing: tables only, those the text shows left out."""
    shown_above = set(_RELIABILITIES) if "icc1" in run.conditions else set()
    if "factor_strategy" in run.conditions:
        shown_above = {"cost"}
    found = [
        r for r in run.of_role("descriptive")
        if str(r.get("id", "")).partition(".")[0] not in shown_above
    ]  # fmt: skip
    return list(results_tables(found, run=run, label="descriptive", caption="Descriptive results"))


def _questions(run: Run) -> dict[str, str]:
    return {
        str(h["id"]): str(h.get("question", ""))
        for h in run.plan.get("hypotheses") or run.results.get("families") or []
        if h.get("id")
    }


def _grouped(run: Run, questions: dict[str, str]) -> dict[str, list[dict[str, Any]]]:
    """The secondary results by the hypothesis they answer, in order."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for result in run.of_role("secondary"):
        groups.setdefault(hypothesis_of(str(result["id"]), questions), []).append(result)
    return groups


def hypothesis_of(result_id: str, questions: dict[str, str]) -> str:
    """The hypothesis that a result answers: the longest declared id its own id begins with.

    Examples
    --------
    >>> hypothesis_of("judges_ratio.T=0", {"judges": "?", "ratio": "?"})
    'judges'
    """
    stem = result_id.partition(".")[0]
    if stem in questions:
        return stem
    begins = [q for q in questions if stem.startswith(f"{q}_")]
    if begins:
        return max(begins, key=len)
    return {"ranks": "spread", "ranks_f": "spread", "posthoc": "spread"}.get(stem, stem)


def _sentences(results: Sequence[dict[str, Any]], adjusted: Mapping[str, str] = _NONE) -> str:
    """Results as sentences; how several of them end alike is said once, at the end."""
    texts = [" ".join(clean(r.get("text", "")).split()) for r in results]
    common = _common_end(texts)
    lines = []
    for result, text in zip(results, texts, strict=True):
        own = text.removesuffix(common).strip() if common else text
        more = adjusted.get(str(result.get("id", "")), "")
        if more:  # behind the p-value it belongs to
            own = re.sub(r"(?<![\w.])(p [=<>] [.\d]+)", rf"\1{more}", own, count=1)
        title = escape_markdown(result.get("title", ""))
        lines.append(f"- **{title}.** {sentence(own)}")
    return "\n".join([*lines, *(["", sentence(common)] if common else [])])


def _common_end(texts: Sequence[str]) -> str:
    """The sentences with which all of several texts end."""
    if len(texts) < 2:
        return ""
    split = [re.split(r"(?<=[a-z)]\.) (?=[A-Z])", t) for t in texts]
    common: list[str] = []
    while all(len(parts) > len(common) + 1 for parts in split):
        last = {parts[-1 - len(common)] for parts in split}
        if len(last) > 1:
            break
        common.insert(0, last.pop())
    return " ".join(common)


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
    found = run.of_role(*roles)
    parts = [
        f"**{escape_markdown(r.get('title', ''))}**\n\n" * bool(r.get("title"))
        + verbatim(str(r.get("print", "")).strip("\n"))
        for r in found[:_MOST_PRINTED]
    ]
    if len(found) > _MOST_PRINTED:
        parts.append(f"{len(found) - _MOST_PRINTED} further prints stand in `results.json`.")
    return Markdown("\n\n".join(parts))
