"""Everything that was found, as text: what ``--full`` and `print` of an analysis show."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from judgestats.results.brief import Line, brief_of
from judgestats.results.records import Estimate, Record
from judgestats.results.results import Results
from judgestats.results.sentences import words_of

_WIDTH = 96


def full_text(results: Results) -> str:
    """What is asked of every condition, then every result, each test explained once.

    Parameters
    ----------
    results : Results

    Returns
    -------
    str

    Examples
    --------
    >>> from judgestats.results import Estimate
    >>> e = Estimate(id="mean.a", hypothesis="mean", role="primary", title="Mean (a)",
    ...              estimand="mean", estimate=7.5)
    >>> print(full_text(Results(experiment="x", question="How high?", results=(e,))))
    x
    <BLANKLINE>
    How high?
    <BLANKLINE>
    Mean (a):
      mean score = 7.50.
    <BLANKLINE>
    """
    brief = brief_of(results)
    names = {column.label: column.name for column in brief.columns}
    lines = [" · ".join((brief.title, *brief.facts)), *brief.read, "", *_wrapped(results.question)]
    if brief.lines:
        lines += ["", f"Conditions{f' ({brief.shared})' if brief.shared else ''}:"]
        lines += [text for line in brief.lines for text in _asked(line, names)]
    lines.append("")
    shown = {cell.record for line in brief.lines for cell in line.cells}
    why: dict[str, int] = {}
    heads = {i for h in results.headlines for i in h.rests_on}
    for record in results.select(Record, top=True):
        if record.role in {"replicated", "descriptive"} and record.id not in heads:
            continue
        if record.id in shown and isinstance(record, Estimate):
            continue
        worded = words_of(record, results)
        if not worded.numbers:
            continue
        mark = ""
        if worded.why:
            mark = f" [{why.setdefault(worded.why, len(why) + 1)}]"
        lines += [f"{record.title}:", *_wrapped(worded.numbers + mark, indent="  ")]
    if why:
        lines += ["", *(t for k, n in why.items() for t in _wrapped(f"[{n}] {k}"))]
    if results.limitations:
        lines += ["", "Limits of these data:"]
        lines += [t for n in results.limitations for t in _wrapped(f"- {n.message}")]
    if results.recommendation:
        lines += ["", *_wrapped(f"Recommendation: {results.recommendation.text}")]
    return "\n".join([*lines, *(["", *_wrapped(results.answer)] if results.answer else ()), ""])


def _asked(line: Line, names: dict[str, str]) -> Iterator[str]:
    """A question, and each condition's answer below it."""
    yield f"  {' '.join(filter(None, (line.ask, line.unit, line.note)))}"
    wide = max((len(names[c.column]) for c in line.cells), default=0)
    for cell in line.cells:
        if cell.record:
            text = " ".join(filter(None, (cell.number, cell.bounds)))
            why = f" ({cell.reason})" if cell.reason else ""
            yield f"    {names[cell.column]:<{wide}}  {text}{why}"
    if line.beside:
        yield f"    ({', '.join(f'{b.words} {b.number}' for b in line.beside)})"


def _wrapped(text: str, *, indent: str = "") -> list[str]:
    return textwrap.wrap(
        text, width=_WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  ",
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
