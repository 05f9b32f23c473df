"""The summary as a screen, the full text, and several runs next to each other."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from judgestats.deprecated import current_record
from judgestats.errors import printable
from judgestats.results.records import Estimate, Record
from judgestats.results.results import Results
from judgestats.results.summary import Cell, Summary, SummaryRow, brief_of
from judgestats.results.text import words_of

HEIGHT, WIDTH = 24, 100
_LABEL = 7
_LONGEST_NAME = 40
_NEXT = 2


class Span(NamedTuple):
    """A text and how it is set: ``bold``, ``dim``, ``good``, ``bad`` or plainly."""

    text: str
    style: str = ""


Lines = list[list[Span]]


def wrap_words(text: str, width: int) -> list[str]:
    """Lines of so many characters; names with hyphens stay whole.

    Examples
    --------
    >>> wrap_words("of sim-typical", 12)
    ['of', 'sim-typical']
    """
    return textwrap.wrap(text, width, break_on_hyphens=False)


def plain_text(lines: Lines) -> str:
    """The lines without styles."""
    return "\n".join("".join(span.text for span in line).rstrip() for line in lines)


def _clean(text: str) -> str:
    return printable(text, one_line=True)


def _name(text: str, longest: int = _LONGEST_NAME) -> str:
    text = _clean(text)
    if len(text) <= longest:
        return text
    end = longest // 3  # levels differ at the end more often than in the middle
    return f"{text[: longest - end - 3]}...{text[-end:]}"


def _cell(cell: Cell, *, bounds: bool = True) -> str:
    return f"{cell.number} {cell.bounds}" if bounds and cell.bounds else cell.number


def condition_table(brief: Summary, width: int, most: int, more: str) -> Lines:
    """A row a condition, as many questions beside it as fit, the first ones with intervals."""
    names = [_name(c.name, max(16, width // 2)) for c in brief.columns]
    first = max([*map(len, names), len(_name(brief.shared, width // 2))]) + 2
    columns: list[tuple[SummaryRow, list[str], int]] = []
    used = 1 + first
    for line in brief.lines:
        for bounds in (True, False):
            texts = [_cell(c, bounds=bounds) for c in line.cells]
            wide = max(len(line.short), *map(len, texts)) + 2
            if used + wide - 2 <= width:
                columns.append((line, texts, wide))
                used += wide
                break
    lines: Lines = [
        [
            Span(f" {_name(brief.shared, width // 2):<{first}}", "dim"),
            *(Span(f"{line.short:<{wide}}", "bold") for line, _, wide in columns),
        ]
    ]
    cut = len(names) + 1 > most
    groups = [column.group for column in brief.columns]
    places = {column.label: i for i, column in enumerate(brief.columns)}
    told = [places[label] for label in brief.told]
    shown = shared_out(groups, max(1, most - 2), told) if cut else range(len(names))
    for i in shown:
        spans = [Span(f" {names[i]:<{first}}")]
        for _, texts, wide in columns:
            spans.append(Span(f"{texts[i]:<{wide}}"))
        lines.append(spans)
    if cut:
        lines.append([Span(_more(len(names) - len(shown), "condition", more), "dim")])
    return lines


def shared_out(groups: Sequence[str], most: int, told: Sequence[int] = ()) -> Sequence[int]:
    """So many of the places: as many of each group, its first, its last and some between.

    Those that are `told`, the first before the others, stand in place of their neighbours.

    Examples
    --------
    >>> shared_out(["a"] * 5 + ["b"] * 5, 6)
    [0, 2, 4, 5, 7, 9]
    >>> shared_out(["a"] * 5 + ["b"] * 5, 6, told=[3, 1])
    [1, 3, 4, 5, 7, 9]
    >>> shared_out(["a", "b"], 6)
    [0, 1]
    """
    own: dict[str, list[int]] = {}
    for i, group in enumerate(groups):
        own.setdefault(group, []).append(i)
    kept: list[int] = [] if len(own) <= most else [*range(most)]
    for places in own.values() if not kept else ():
        room = min(most // len(own), len(places))
        kept += [places[k * (len(places) - 1) // max(1, room - 1)] for k in range(room)]
    safe: set[int] = set()
    for i in told:
        safe.add(i)
        if i in kept:
            continue
        # Each group keeps its share, where each has one.
        free = [k for k in kept if k not in safe and (len(own) > most or groups[k] == groups[i])]
        if among := [k for k in free if groups[k] == groups[i]] or free:
            kept[kept.index(min(among, key=lambda k: abs(k - i)))] = i
    return sorted(kept)


def _more(count: int, noun: str, command: str) -> str:
    text = f" and {count} more {noun}{'s' * (count != 1)}"
    return f"{text}: {command}" if command else text


def next_line(parts: Sequence[str], width: int) -> Lines:
    """What to do next, the most important first, in two lines; a command is never cut.

    What finds no room is left out; the first stands, however long, and so does an address, which
    a terminal wraps.
    """
    lines: list[str] = []
    room = width - _LABEL
    for part in (_clean(p) for p in parts):
        if lines and len(lines[-1]) + 3 + len(part) <= room:
            lines[-1] += f" · {part}"
        elif not lines or (
            len(lines) < _NEXT and (len(part) <= room or part.startswith(("http:", "https:")))
        ):
            lines.append(part)
    return [
        [Span("Next  " if i == 0 else "      ", "bold"), Span(line)] for i, line in enumerate(lines)
    ]


NOT_GIVEN = "–"
"""What stands for a parameter that a run does not have."""


def differing_parameters(facts: Sequence[Mapping[str, Any]]) -> dict[str, tuple[str, ...]]:
    """The parameters in which runs differ, with the text of each run.

    Parameters
    ----------
    facts : sequence of mapping
        `Results.facts` of each run; of one that recorded no parameters nothing is known.

    Returns
    -------
    dict of name to tuple of str

    Examples
    --------
    >>> one, two = {"request_seed": "default", "seed": "0"}, {"request_seed": "7", "seed": "0"}
    >>> differing_parameters([{"parameters": one}, {"parameters": two}])
    {'request_seed': ('default', '7')}
    >>> differing_parameters([{"parameters": one}, {}])
    {}
    """
    recorded = [current_record(fact.get("parameters") or {}) for fact in facts]
    if not all(recorded):
        return {}
    names = dict.fromkeys(name for own in recorded for name in own)
    texts = {name: tuple(str(own.get(name, NOT_GIVEN)) for own in recorded) for name in names}
    return {name: own for name, own in texts.items() if len(set(own)) > 1}


def describe_changes(first: Mapping[str, Any], second: Mapping[str, Any]) -> tuple[str, str]:
    """The parameters in which two runs differ: all with their texts, and in short.

    Parameters
    ----------
    first, second : mapping
        `Results.facts`.

    Returns
    -------
    (str, str)
        Empty where none differs, or one of the runs recorded none.

    Examples
    --------
    >>> describe_changes({"parameters": {"seed": "0"}}, {"parameters": {"seed": "1"}})
    ('The runs differ in the parameter seed (0 and 1).', 'the runs differ in seed (0 and 1)')
    """
    found = differing_parameters([first, second])
    if not found:
        return "", ""
    texts = [f"{name} ({one} and {two})" for name, (one, two) in found.items()]
    noun = "parameter" if len(texts) == 1 else "parameters"
    more = f" and {len(texts) - _MOST_NAMED} more parameters" if len(texts) > _MOST_NAMED else ""
    short = f"the runs differ in {', '.join(texts[:_MOST_NAMED])}{more}"
    return f"The runs differ in the {noun} {', '.join(texts)}.", short


_MOST_NAMED = 3
"""Parameters that a screen names."""


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
    lines = [
        " · ".join((brief.title, *brief.facts)),
        *brief.read,
        "",
        *_full_text_wrapped(results.question),
    ]
    if brief.lines:
        lines += ["", f"Conditions{f' ({brief.shared})' if brief.shared else ''}:"]
        lines += [text for line in brief.lines for text in _answer_lines(line, names)]
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
        lines += [f"{record.title}:", *_full_text_wrapped(worded.numbers + mark, indent="  ")]
    if why:
        lines += ["", *(t for k, n in why.items() for t in _full_text_wrapped(f"[{n}] {k}"))]
    if results.limitations:
        lines += ["", "Limits of these data:"]
        lines += [t for n in results.limitations for t in _full_text_wrapped(f"- {n.message}")]
    return "\n".join([*lines, ""])


def _answer_lines(line: SummaryRow, names: dict[str, str]) -> Iterator[str]:
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


def _full_text_wrapped(text: str, *, indent: str = "") -> list[str]:
    return textwrap.wrap(
        text, width=_WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  ",
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
