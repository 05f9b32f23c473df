"""Several runs side by side: the rows that they share, a column a run and condition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from judgestats.results.answers import Answer, number_of, shown
from judgestats.results.brief import Brief, Cell, Column, Line, brief_of
from judgestats.results.numbers import bounds_of, column_decimals
from judgestats.results.results import Results
from judgestats.results.thresholds import Threshold

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
    >>> one, two = {"judge_seed": "default", "seed": "0"}, {"judge_seed": "7", "seed": "0"}
    >>> differing_parameters([{"parameters": one}, {"parameters": two}])
    {'judge_seed': ('default', '7')}
    >>> differing_parameters([{"parameters": one}, {}])
    {}
    """
    recorded = [fact.get("parameters") or {} for fact in facts]
    if not all(recorded):
        return {}
    names = dict.fromkeys(name for own in recorded for name in own)
    texts = {name: tuple(str(own.get(name, NOT_GIVEN)) for own in recorded) for name in names}
    return {name: own for name, own in texts.items() if len(set(own)) > 1}


def parameters_apart(first: Mapping[str, Any], second: Mapping[str, Any]) -> tuple[str, str]:
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
    >>> parameters_apart({"parameters": {"seed": "0"}}, {"parameters": {"seed": "1"}})
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


def brief_of_runs(
    runs: Mapping[str, Results],
    *,
    thresholds: Sequence[Threshold] = (),
    changes: Mapping[str, Results | str] | None = None,
) -> Brief:
    """The abstract of several runs side by side: their conditions are the columns.

    Parameters
    ----------
    runs : mapping of name to Results
    thresholds : sequence of Threshold
    changes : mapping of name to Results or str, optional
        Of later runs, what `drift` from the first run found, or why nothing was tested.

    Returns
    -------
    Brief
        Of the rows that several runs have, those of the first run first. Its cells name the
        records of their own run, its answers those of `changes`; nothing else is claimed of
        differences.
    """
    briefs = {name: brief_of(results, thresholds=thresholds) for name, results in runs.items()}
    columns = tuple(
        Column(
            label=f"{name}: {column.label}",
            name=f"{name}: {column.label if brief.shared else column.name}",
            group=name,
        )
        for name, brief in briefs.items()
        for column in brief.columns
    )
    lines: dict[tuple[str, str], list[Line]] = {}
    for brief in briefs.values():
        for line in brief.lines:
            lines.setdefault((line.key, line.ask), []).append(line)
    kept = [key for key, results in lines.items() if len(results) > 1] or list(lines)
    told = 2 if len(runs) == 2 else 1  # of more runs there is room for the sizes
    answers, mind = _changed(changes or {}, first=next(iter(runs)))
    simulated = [m for b in briefs.values() for m in b.mind if m.startswith("SIMULATED")]
    untested = "whether runs differ is tested on the page, and by judgestats drift"
    facts = [results.facts for results in runs.values()]
    apart = [parameters_apart(facts[0], other)[1] for other in facts[1:]]
    if len(runs) > 2:
        names = [*runs]
        apart = [
            text.replace("the runs differ", f"{name} differs from {names[0]}")
            for name, text in zip(names[1:], apart, strict=True)
        ]
    apart = [text for text in apart if text]
    mind = tuple(dict.fromkeys((*simulated, *apart, *(mind if changes else (untested,)))))
    return Brief(
        title=f"{len(runs)} runs side by side",
        facts=tuple(f"{name}: {', '.join(brief.facts[:told])}" for name, brief in briefs.items()),
        shared="",
        columns=columns,
        lines=tuple(_side_by_side(key, briefs, runs) for key in kept),
        answers=answers,
        use=(),
        mind=mind,
        thresholds=next((b.thresholds for b in briefs.values() if b.thresholds), ()),
    )


def _changed(
    changes: Mapping[str, Results | str], *, first: str
) -> tuple[tuple[Answer, ...], tuple[str, ...]]:
    """What each later run claims against the first, and what to mind of that."""
    answers: list[Answer] = []
    mind: dict[str, None] = {}
    for name, change in changes.items():
        against = f"{name} against {first}"
        if isinstance(change, str):
            text = f"{against}: not tested: {change}"
            answers.append(Answer(claim="undefined", text=text))
            continue
        brief = brief_of(change)
        answers += [
            replace(a, text=f"{against}: {a.text[0].lower()}{a.text[1:]}") for a in brief.answers
        ]
        mind |= dict.fromkeys(brief.mind)
    return tuple(answers), tuple(mind)


def _side_by_side(
    key: tuple[str, str], briefs: Mapping[str, Brief], runs: Mapping[str, Results]
) -> Line:
    """One question over all runs, with the same decimals; who does not ask it has empty cells."""
    own = {n: next((k for k in b.lines if (k.key, k.ask) == key), None) for n, b in briefs.items()}
    numbers = {
        (name, cell.record): number_of(runs[name], cell.record)
        for name, line in own.items()
        for cell in (line.cells if line is not None else ())
        if cell.record
    }
    decimals = column_decimals((n.estimate, *bounds_of(n.interval)) for n in numbers.values())
    cells: list[Cell] = []
    for name, brief in briefs.items():
        line = own[name]
        for i, column in enumerate(brief.columns):
            cell = replace(
                line.cells[i] if line else Cell(column=""), column=f"{name}: {column.label}"
            )
            if cell.record:
                number, bounds = shown(numbers[name, cell.record], decimals=decimals)
                cell = replace(cell, number=number, bounds=bounds)
            cells.append(cell)
    first = next(line for line in own.values() if line is not None)
    return replace(first, cells=tuple(cells), beside=())
