"""The summary as a screen, the full text, and several runs next to each other."""

from __future__ import annotations

import re
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
_FEW_ROWS = 8
"""Lines of a table that is cut: its head, two rows of each judge and how many more there are."""
_FULL = "--all"
"""What shows all, of every command that shows a screen."""


class Span(NamedTuple):
    """A text and how it is set: ``bold``, ``dim``, ``good``, ``bad`` or plainly."""

    text: str
    style: str = ""


Lines = list[list[Span]]


class _Share(NamedTuple):
    """Lines that the parts may take, and how many columns stand beside the rows."""

    answers: int
    use: int
    mind: int
    notes: int


_SHARES = (
    _Share(14, 4, 4, 4),
    _Share(8, 4, 4, 4),
    _Share(8, 3, 2, 2),
    _Share(8, 3, 2, 0),
    _Share(6, 3, 2, 0),
    _Share(6, 2, 1, 0),
    _Share(5, 2, 1, 0),
)


def screen_of(
    brief: Summary, *, width: int = WIDTH, height: int = HEIGHT, more: str = "", closing: int = 1
) -> Lines:
    """The lines of a screen.

    Parameters
    ----------
    brief : Summary
    width, height : int
        Columns and lines, at most.
    more : str
        The command that shows what is cut.
    closing : int
        Lines to leave for what follows.

    Returns
    -------
    list of list of Span

    Examples
    --------
    >>> empty = Summary(title="x.csv", facts=("1 judge",), shared="", columns=(), lines=(),
    ...               answers=(), use=("ask more items",), mind=())
    >>> print(plain_text(screen_of(empty)))
    x.csv · 1 judge
    <BLANKLINE>
    USE    ask more items
    """
    width = max(40, min(width, WIDTH))
    wide = _question_table(brief, width)
    rows = len(brief.columns) + 1 if wide is None else len(wide)
    head = _head(brief, width)
    tails = [_tail(brief, share, width, more) for share in _SHARES]
    for share, tail in zip(_SHARES, tails, strict=True):
        left = height - closing - len(head) - len(tail)
        notes = _notes(brief, width, share.notes)
        if rows + len(notes) <= left:
            table = wide if wide is not None else condition_table(brief, width, left, more)
            above = [*head, *table, *notes]
            return [*above, *_filling(brief, share, width, more, height - closing - len(above))]
    # Rows are left out in any case: of conditions so many that the answers have their room, of
    # questions, which are all others, as few as can be.
    room = [height - closing - len(head) - len(tail) for tail in tails]
    few = min(_FEW_ROWS, 2 + 2 * max(2, len({column.group for column in brief.columns})))
    last = len(tails) - 1
    k = last if wide else next((k for k, left in enumerate(room) if left >= few), last)
    left, tail = room[k], tails[k]
    if wide is not None:
        wide = [*wide[: left - 1], [Span(_more(len(wide) - left + 1, "row", more), "dim")]]
        return [*head, *wide, *tail]
    above = [*head, *condition_table(brief, width, left, more)]
    return [*above, *_filling(brief, _SHARES[k], width, more, height - closing - len(above))]


def plain_text(lines: Lines) -> str:
    """The lines without styles."""
    return "\n".join("".join(span.text for span in line).rstrip() for line in lines)


def _head(brief: Summary, width: int) -> Lines:
    lines = _joined([_clean(part) for part in (brief.title, *brief.facts)], width, 2)
    first, *rest = lines or [""]
    title = _clean(brief.title)
    if first.startswith(title):
        head = [[Span(title, "bold"), Span(first.removeprefix(title))]]
    else:
        head = [[Span(first, "bold")]]
    out: Lines = [*head, *([Span(text)] for text in rest)]
    if brief.read:
        out += _labelled("READ", _whole([_clean(r) for r in brief.read], " ", width - _LABEL, 3))
    return [*out, []]


def _tail(brief: Summary, share: _Share, width: int, more: str) -> Lines:
    """Answers, USE and MIND within their share of lines."""
    out: Lines = []
    answers: Lines = []
    for i, answer in enumerate(brief.answers):
        further = i < len(brief.answers) - 1
        room = share.answers - len(answers) - further  # a line to say that there are more
        if room < 1:
            answers.append([Span(_more(len(brief.answers) - i, "answer", more), "dim")])
            break
        fit = _whole if i == 0 else _fitting  # of a later one that does not fit it is said so
        lines = fit(_parts(_clean(answer.text)), "; ", width - 1, room, indent=3)
        if not lines:
            answers.append([Span(_more(len(brief.answers) - i, "answer", more), "dim")])
            break
        answers += [[Span(f" {line}" if j == 0 else line)] for j, line in enumerate(lines)]
    if brief.lines and answers:
        out.append([])
    out += answers
    if brief.use or brief.mind:
        out += [[]] if out or brief.lines else []
    for label, parts, sign, most in (
        ("USE", brief.use, _sign(brief.use), share.use), ("MIND", brief.mind, " · ", share.mind)
    ):  # fmt: skip
        texts = [_clean(part) for part in parts]
        out += _labelled(label, _whole(texts, sign, width - _LABEL, most)) if parts else []
    return out


def _filling(brief: Summary, share: _Share, width: int, more: str, room: int) -> Lines:
    """Answers, USE and MIND, of which MIND takes lines that are to spare."""
    for mind in range(room, share.mind, -1):
        tail = _tail(brief, share._replace(mind=mind), width, more)
        if len(tail) <= room:
            return tail
    return _tail(brief, share, width, more)


def _sign(parts: Sequence[str]) -> str:
    """What stands between parts: nothing more between sentences."""
    return " " if parts and parts[0].endswith((".", "!", "?")) else "; "


def _parts(text: str) -> list[str]:
    """What stands between semicolons, but for those within brackets.

    Examples
    --------
    >>> _parts("it moves: a (2 [1, 3]; few items); b")
    ['it moves: a (2 [1, 3]; few items)', 'b']
    """
    out = [""]
    for piece in text.split("; "):
        inside = out[-1].count("(") > out[-1].count(")")
        if out[-1] and not inside:
            out.append(piece)
        else:
            out[-1] += f"; {piece}" if out[-1] else piece
    return out


def _whole(parts: Sequence[str], sign: str, width: int, most: int, *, indent: int = 0) -> list[str]:
    """Whole parts in at most so many lines, see `_fitting`; else how many words they are."""
    fitting = _fitting(parts, sign, width, most, indent=indent)
    return fitting or [f"in {len(' '.join(parts).split()):,} words: {_FULL}"]


def _fitting(
    parts: Sequence[str], sign: str, width: int, most: int, *, indent: int = 0
) -> list[str]:
    """Whole parts in at most so many lines: the last, least ones are left out, which is said.

    The first stands whole in twice as many lines rather than not at all; empty where it does not.
    """
    for kept in range(len(parts), 0, -1):
        left = f" ({len(parts) - kept} more: {_FULL})" if kept < len(parts) else ""
        lines = _wrapped(sign.join(parts[:kept]) + left, width, indent)
        if len(lines) <= most or (kept == 1 and len(lines) <= 2 * most):
            return lines
    return []


_ONE_NUMBER = re.compile(r"\b(?:p|r|W|rho) [=<>≤] \S+|\S+ \[[^\[\]]{1,30}\]")
_FIXED = "\u00a0"


def _wrapped(text: str, width: int, indent: int) -> list[str]:
    """Lines that break between words, but within no p and no number with its interval.

    Examples
    --------
    >>> _wrapped("it differs by 0.50 [0.41, 0.61] points, p = .012", 20, 1)
    ['it differs by', ' 0.50 [0.41, 0.61]', ' points, p = .012']
    """
    text = _ONE_NUMBER.sub(lambda match: match[0].replace(" ", _FIXED), text)
    lines = textwrap.wrap(
        text, width=width, subsequent_indent=" " * indent, break_on_hyphens=False
    )  # fmt: skip
    return [line.replace(_FIXED, " ") for line in lines]


def _labelled(label: str, lines: Sequence[str]) -> Lines:
    return [
        [Span(f"{label if i == 0 else '':<{_LABEL}}", "bold"), Span(line)]
        for i, line in enumerate(lines)
    ]


def _joined(parts: Sequence[str], width: int, most: int) -> list[str]:
    """Parts with points between them, in so many lines; those that find no room are left out."""
    lines: list[str] = []
    for part in parts:
        if lines and len(lines[-1]) + 3 + len(part) <= width:
            lines[-1] += f" · {part}"
        elif len(lines) < most:
            lines.append(_name(part, width))
    return lines


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


def _question_table(brief: Summary, width: int) -> Lines | None:
    """A row a question; None where the columns do not fit."""
    if not brief.lines:
        return []
    asks = max(len(line.ask) for line in brief.lines) + 2
    asks = max(asks, len(_name(brief.shared)) + 2)
    texts = [[_cell(c) for c in line.cells] for line in brief.lines]
    names = [_name(c.name) for c in brief.columns]
    sizes = [max(len(name), *(len(row[k]) for row in texts)) for k, name in enumerate(names)]
    if 1 + asks + sum(sizes) + 3 * (len(sizes) - 1) > width:
        return None
    with_units = (
        1 + asks + sum(sizes) + 3 * len(sizes) + max(len(line.unit) for line in brief.lines)
    )
    widths = [size + (3 if with_units <= width else 2) for size in sizes]
    lines: Lines = [
        [
            Span(f" {_name(brief.shared):<{asks}}", "dim"),
            *(Span(f"{name:<{w}}", "bold") for name, w in zip(names, widths, strict=True)),
        ]
    ]
    for line, row in zip(brief.lines, texts, strict=True):
        spans = [Span(f" {line.ask:<{asks}}")]
        for text, w in zip(row, widths, strict=True):
            spans.append(Span(f"{text:<{w}}"))
        room = width - sum(len(s.text) for s in spans)
        behind = (" ".join(filter(None, (line.unit, line.note))), line.unit)
        spans += [Span(text, "dim") for text in behind if text and len(text) <= room][:1]
        lines.append(spans)
    return lines


def _notes(brief: Summary, width: int, most: int) -> Lines:
    """What holds for a whole row (chance, ceilings, baselines): whole notes in so many lines."""
    out: list[str] = []
    for line in brief.lines:
        if line.beside:
            listed = ", ".join(f"{b.words} {b.number}" for b in line.beside)
            note = [f"   {part}" for part in _wrapped(f"{line.ask}: {listed}", width - 3, 2)]
            out += note if len(out) + len(note) <= most else []
    return [[Span(text, "dim")] for text in out]


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
    if results.recommendation:
        lines += ["", *_full_text_wrapped(f"Recommendation: {results.recommendation.text}")]
    return "\n".join(
        [*lines, *(["", *_full_text_wrapped(results.answer)] if results.answer else ()), ""]
    )


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
