"""Figure of the summary page: an estimand against a factor, or ranked dots."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from judgestats.reporting import plots
from judgestats.reporting.numbers import Measured, number
from judgestats.reporting.runs import Run, number_of
from judgestats.reporting.sections import conditions
from judgestats.reporting.tables import Captioned
from judgestats.results import CONDITIONS, Comparison, Drawing, Estimate, ResultSet, quantity_of

_MOST_DOTS = 12
_MOST_PANELS = 3
_FEWEST = 3
"""Fewest numbers worth a figure: for two, or for one row, the table suffices."""
_BY_DEFAULT = ("sem", "icc1", "alignment", "accuracy", "grade_score", "vote_share", "mean")
"""What is drawn of an analysis that declares no figure: the first of them that it has."""
_MARKS = " Grey marks: chance alone stays below them in 95 of 100 runs."
_BARS = " Vertical bars join rows whose difference is not significant; it need not be zero."
_FACTORS = {"temperature": "Sampling temperature", "k": "Judgments averaged"}


@dataclass(frozen=True, kw_only=True)
class _Row:
    """A condition, or a result that stands for itself.

    `nothing` is the value of a result that would say that nothing differs, `claimed` whether one is
    claimed to.
    """

    name: str
    values: tuple[Measured, ...]
    stratum: str = ""
    quiet: bool = False
    claimed: bool = False
    nothing: float = math.nan
    condition: str = ""


def answer_figure(run: Run) -> Captioned | None:
    """The figure of the summary page; None for fewer than three numbers or two rows.

    Parameters
    ----------
    run : Run
    """
    drawing = run.records.drawing or Drawing(kind="dots", estimands=_BY_DEFAULT)
    curves = _curves(run, drawing) if drawing.kind == "curve" else None
    if curves is not None:
        caption = f"{_title(curves)} {drawing.caption}".strip()
        return Captioned(figure=curves, label="fig-answer", caption=caption)
    drawn = _dots(run, drawing)
    if drawn is None:
        return None
    dots, more = drawn
    caption = f"{_title(dots)} {drawing.caption or 'Estimates by condition with 95% intervals.'}"
    return Captioned(figure=dots, label="fig-answer", caption=caption + more)


def _title(figure: plots.Dots | plots.Curves) -> str:
    """The finding of the first panel."""
    if isinstance(figure, plots.Dots):
        panel = figure.panels[0]
        drawn = [i for i in range(len(figure.labels)) if i not in figure.quiet]
        return conditions.extremes_title(
            panel.name or panel.x_label, [figure.labels[i] for i in drawn],
            [panel.points[i].value for i in drawn],
        )  # fmt: skip
    curves = [c for c in figure.panels[0].curves if len(c.points) > 1]
    if not curves:
        return ""
    first = max(curves, key=lambda c: abs(c.points[-1].value - c.points[0].value))
    start, end = first.points[0].value, first.points[-1].value
    verb = "rises" if end > start else "falls" if end < start else "stays"
    span = f"from {number(start)} to {number(end)}" if end != start else f"at {number(start)}"
    return f"{figure.panels[0].y_label} of {first.name} {verb} {span}."


def _alt(panels: Sequence[tuple[str, Sequence[tuple[str, Measured]]]]) -> str:
    """The figure as text, from the records."""
    parts = []
    for what, points in panels:
        listed = "; ".join(f"{name} {m.text()}" for name, m in points if m.is_finite)
        parts.append(f"{what}: {listed}")
    return ". ".join(parts) + "."


def _point(m: Measured, x: float = math.nan) -> plots.Point:
    return plots.Point(value=m.value, low=m.low, high=m.high, x=x)


def _curves(run: Run, drawing: Drawing) -> plots.Curves | None:
    """Estimands against a factor; None where it has fewer than three levels, or no numbers."""
    rows = run.table(CONDITIONS)
    factors = {c.label: c.factors for c in run.records.conditions}
    keys = conditions.measures(run, drawing.estimands)
    panels: list[plots.CurvePanel] = []
    parts = []
    for key in keys:
        series: dict[str, list[tuple[float, Measured, str]]] = {}
        for i, row in enumerate(rows):
            own = factors.get(str(row.get("condition")), {})
            if not is_drawn(row, drawing):
                continue
            given = own.get(drawing.over, row.get(drawing.over))
            x = number_of(given) if isinstance(given, (int, float)) or given is None else math.nan
            m = conditions.measured(run, i, key)
            if not (math.isfinite(x) and m.is_finite):
                continue
            by = [_level(f, own.get(f, row.get(f, ""))) for f in drawing.by]
            name = ", ".join(n for n in (str(row.get("judge", "")), *by) if n and n != "None")
            series.setdefault(name, []).append((x, m, str(row.get("condition"))))
        if len({x for points in series.values() for x, _, _ in points}) < 3:
            continue
        line = None if panels else next(iter(_lines(run, drawing)), None)
        panels.append(
            plots.CurvePanel(
                y_label=conditions.with_unit(run, key),
                curves=tuple(
                    plots.Curve(
                        name=name,
                        points=tuple(
                            _point(m, x) for x, m, _ in sorted(points, key=lambda p: p[0])
                        ),
                    )
                    for name, points in series.items()
                ),
                lines=() if line is None else ((line.title or line.label, line.estimate),),
                from_zero=conditions.from_zero(key),
            )
        )
        parts.append(
            (conditions.heading(key), [(c, m) for points in series.values() for _, m, c in points])
        )
    if not panels:
        return None
    return plots.Curves(
        panels=tuple(panels),
        x_label=_FACTORS.get(drawing.over, drawing.over.replace("_", " ").capitalize()),
        caption=_alt(parts),
    )


def _level(factor: str, value: object) -> str:
    """A level as a legend says it.

    Examples
    --------
    >>> _level("temperature", 0.7), _level("k", 3)
    ('T=0.7', '3')
    """
    if factor == "temperature" and isinstance(value, (int, float)):
        return f"T={value:g}"
    return str(value)


def _lines(run: Run, drawing: Drawing) -> list[Estimate]:
    return [run.records.get(i, Estimate) for i in drawing.lines if i in run.records]


def is_drawn(row: Mapping[str, object], drawing: Drawing) -> bool:
    """Whether a condition, a row of their table, is one of those that the figure shows."""
    levels = {key: row.get(f"factor_{key}", row.get(key)) for key in drawing.only}
    return all(str(levels[key]) in values for key, values in drawing.only.items())


def _dots(run: Run, drawing: Drawing) -> tuple[plots.Dots, str] | None:
    """Rows of dots, and what the caption adds to what is declared."""
    rows, keys = _effects(run, drawing) if drawing.rows else _conditions(run, drawing)
    numbers = [sum(value.is_finite for value in row.values) for row in rows]
    if sum(numbers) < _FEWEST or sum(n > 0 for n in numbers) < 2:
        return None
    rows, more = _ranked(rows, keys, drawing, run)
    if any(math.isfinite(value.chance) for row in rows for value in row.values):
        more += _MARKS
    without = [
        conditions.heading(key) for k, key in enumerate(keys)
        if key in conditions.LOST and not any(math.isfinite(row.values[k].low) for row in rows)
    ]  # fmt: skip
    more += f" {', '.join(without)}: as counted, without intervals." if without else ""
    brackets = _brackets(run, rows, drawing)
    more += _BARS if brackets else ""
    for line in [] if drawing.rows else _lines(run, drawing):
        values = (Measured.from_record(line), *(Measured() for _ in keys[1:]))
        rows.append(_Row(name=line.title or line.label, values=values, quiet=True))
    names = {key: key if drawing.rows else conditions.heading(key) for key in keys}
    panels = [
        plots.DotPanel(
            name=name,
            x_label=key if drawing.rows else conditions.with_unit(run, key),
            points=tuple(_point(r.values[k]) for r in rows),
            chance=tuple(r.values[k].chance for r in rows),
            line=rows[0].nothing,
            percent=key in conditions.LOST,
            from_zero=key in conditions.LOST or conditions.from_zero(key),
        )
        for k, (key, name) in enumerate(names.items())
    ]
    figure = plots.Dots(
        labels=tuple(r.name for r in rows),
        panels=tuple(panels),
        brackets=tuple(brackets),
        quiet=tuple(i for i, r in enumerate(rows) if r.quiet),
        caption=_alt([
            (name, [(r.name, r.values[k]) for r in rows]) for k, name in enumerate(names.values())
        ]),
    )  # fmt: skip
    return figure, more


def _effects(run: Run, drawing: Drawing) -> tuple[list[_Row], list[str]]:
    """The declared results as rows, and the name of their axis."""
    listed = [run.records[i] for i in drawing.rows if i in run.records]
    kept = [
        e for e in listed if isinstance(e, (Estimate, Comparison)) and math.isfinite(e.estimate)
    ]
    if not kept:
        return [], []
    entry = quantity_of(kept[0].estimand)
    names = [e.a if isinstance(e, Comparison) else conditions.subject_of(e) for e in kept]
    if len({e.about.stratum for e in kept if isinstance(e, Comparison)}) > 1:
        names = [f"{e.about.stratum}, {n}" for e, n in zip(kept, names, strict=True)]
    own = len(set(names)) == len(names) and all(names)
    claimed = {h.size for h in run.records.headlines if h.claim == "differs"}
    rows = [
        _Row(
            name=n if own else e.title, values=(Measured.from_record(e),), claimed=e.id in claimed,
            nothing=entry.nothing,
        )
        for e, n in zip(kept, names, strict=True)
    ]  # fmt: skip
    unit = conditions.unit_label(entry.unit)
    what = f"{entry.heading} ({unit})" if unit else entry.heading
    return rows, [what[:1].upper() + what[1:]]


def _conditions(run: Run, drawing: Drawing) -> tuple[list[_Row], list[str]]:
    """The conditions as rows, and the columns of their numbers."""
    keys = [
        k
        for k in conditions.measures(run, drawing.estimands)
        if k not in conditions.LOST or conditions.any_of(run, k)
    ]
    keys = keys[:_MOST_PANELS]
    sets = [run.records.get(i, ResultSet) for i in drawing.compared if i in run.records]
    strata = {c: s.about.stratum for s in sets for c in s.about.conditions}
    compared = {str(r.get("condition")) for r in run.compared}
    rows = []
    for i, row in enumerate(run.table(CONDITIONS)):
        name = str(row.get("condition"))
        values = tuple(conditions.measured(run, i, key) for key in keys)
        if name in compared and is_drawn(row, drawing) and any(v.is_finite for v in values):
            rows.append(
                _Row(
                    name=run.condition_name(name), values=values, condition=name,
                    stratum=strata.get(name, ""),
                )
            )  # fmt: skip
    return rows, keys


def _ranked(
    rows: list[_Row], keys: Sequence[str], drawing: Drawing, run: Run
) -> tuple[list[_Row], str]:
    """The rows drawn, and which these are as text where not all are.

    Declared rows as they stand; of too many those claimed and then the largest. Of conditions the
    best first within each group that is compared; of too many those whose numbers the answer tells.
    """
    n, end = len(rows), "lowest" if _low(keys) else "highest"
    if drawing.rows:
        if n <= _MOST_DOTS:
            return rows, ""
        which = "largest" if math.isfinite(rows[0].nothing) else "first"
        if which == "largest":
            rows.sort(key=lambda r: (not r.claimed, -abs(r.values[0].value - r.nothing)))
        return rows[:_MOST_DOTS], f" The {which} {_MOST_DOTS} of {n} are drawn."
    order = list(dict.fromkeys(r.stratum for r in rows))
    rows.sort(key=lambda row: (order.index(row.stratum), _worth(row, keys)))
    if n <= _MOST_DOTS:
        return rows, ""
    place = {name: i for i, name in enumerate(dict.fromkeys(conditions.answer_conditions(run)))}
    best = sorted(rows, key=lambda row: _worth(row, keys))
    first = sorted(best, key=lambda row: place.get(row.condition, len(place)))[:_MOST_DOTS]
    answered = "those that the answer is about, then " * any(r.condition in place for r in first)
    kept = [row for row in rows if row in first]
    return kept, f" {_MOST_DOTS} of {n} are drawn: {answered}the {end}."


def _low(keys: Sequence[str]) -> bool:
    """Whether less is better of what the first panel shows."""
    return keys[0] in {"sem", "flip_rate", *conditions.LOST}


def _worth(row: _Row, keys: Sequence[str]) -> float:
    """By which conditions are sorted: the better, the less."""
    value = row.values[0].value
    return math.inf if math.isnan(value) else value if _low(keys) else -value


def _brackets(run: Run, rows: list[_Row], drawing: Drawing) -> list[tuple[int, int]]:
    """Runs of rows of which no pair is distinguished, of each set of comparisons."""
    records = run.records
    at = {r.condition or r.name: i for i, r in enumerate(rows)}
    out: list[tuple[int, int]] = []
    for set_id in drawing.compared:
        if set_id not in records:
            continue
        members = [m for m in records.members(records.get(set_id, ResultSet))
                   if isinstance(m, Comparison)]  # fmt: skip
        level = conditions.level_of(members[0], records) if members else math.nan
        inside = sorted({at[c] for m in members for c in m.about.conditions if c in at})
        if inside != list(range(inside[0], inside[0] + len(inside))) if inside else True:
            continue
        same = np.zeros((len(inside), len(inside)), dtype=bool)
        for m in members:
            pair = [at[c] - inside[0] for c in m.about.conditions if c in at]
            if len(pair) == 2:
                same[pair[0], pair[1]] = same[pair[1], pair[0]] = not m.p_adjusted <= level
        runs = plots.cliques(list(range(len(inside))), same | np.eye(len(inside), dtype=bool))
        out += [(inside[0] + a, inside[0] + b) for a, b in runs]
    return out
