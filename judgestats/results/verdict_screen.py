"""First screen: verdicts, facts, table, finding, and care, from the record alone."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from judgestats.errors import printable
from judgestats.results.contrasts import answer_sentence, claim_sentence, systems_sentence
from judgestats.results.numbers import apa_number, short_names, with_bounds, with_names
from judgestats.results.purposes import (
    FLAGS,
    PURPOSES,
    is_imprecise,
    not_shown,
    reason_of,
    threshold_text,
    too_few,
)
from judgestats.results.quantities import PUBLIC_NAMES
from judgestats.results.records import Table
from judgestats.results.results import Results
from judgestats.results.screen import (
    BOUNDS,
    NOTHING,
    WIDTH,
    Lines,
    Span,
    Summary,
    brief_of,
    condition_table,
    dim_lines,
    hanging_lines,
    rest_lines,
    shared_out,
    wrap_words,
)
from judgestats.results.verdict import ORDER, NextStep, Outcome, Requirement, Verdict

WORDS: Mapping[Outcome, str] = {
    "USE": "USE", "USE_WITH_CARE": "USE WITH CARE", "DO_NOT_USE": "DO NOT USE",
    "CANNOT_TELL": "CANNOT TELL",
}  # fmt: skip
"""Outcomes as they are printed."""
_IN_TABLES: Mapping[Outcome, str] = {
    "USE": "use", "USE_WITH_CARE": "care", "DO_NOT_USE": "do not use", "CANNOT_TELL": "cannot tell"
}  # fmt: skip
_STYLES: Mapping[Outcome, str] = {
    "USE": "good", "USE_WITH_CARE": "good", "DO_NOT_USE": "bad", "CANNOT_TELL": "bold"
}  # fmt: skip
_MOST_SUBJECTS, _BESIDE_SUBJECTS = 4, 3
"""Rows of subjects that specification curves leave, with a head, thresholds, and the rest."""
_MOST_LINES, _MOST_VERDICTS, _MOST_CARE, _MOST_NAMES = 20, 3, 3, 3
_FEW_ROWS = 6
_LONGEST_NOTE, _MOST_KEYS, _MOST_CURVES = 100, 6, 3
_LONGEST = 160
"""Characters of a text on a screen."""
_BESIDE_FLIPS = "far_share"
"""Quantity of full tables that a first screen has only where flips replace a refused ICC."""
_THESE_RUNS = " in these runs"
_BEHIND: Mapping[str, tuple[str, ...]] = {"icc_1_1": ("icc_3_1",), "sem": ("sem_tail",)}
"""Rows that directly follow the row of a requirement."""
_STATES: Mapping[str, str] = {"not_measured": "not measured"}
_CODES_OF_LIMITS: Mapping[str, frozenset[str]] = {
    "assumes_random": frozenset({"labels_drawn_unknown"}),
    "not_repeated": frozenset({"expected_missing"}),
    "simulated": frozenset({"simulated"}),
    "few_questions": frozenset({"few_clusters"}),
    "no_sampling": frozenset({"t0_only"}),
    "far_scores": frozenset({"far_scores"}),
    "no_scale": frozenset({"scale_assumed"}),
}
"""Caveats that say what a limitation says."""
_GRAVE_NOTES = frozenset(
    {"crosscheck", "duplicate_items", "incomplete", "labels_equal_verdicts", "other_parameters"}
)
"""Limitations of the data that are reported before major caveats, at any length."""


def verdict_screen(
    results: Results, *, width: int = WIDTH, closing: int = 2, more: str = "", finding: str = ""
) -> Lines:
    """The first screen of an analysis that has verdicts.

    Parameters
    ----------
    results : Results
    width : int
        Characters per line, at most 100.
    closing : int
        Lines that follow.
    more : str
        The command that shows everything.
    finding : str
        One sentence; empty: from the analysis' claims.

    Returns
    -------
    list of list of Span
    """
    width = max(60, min(width, WIDTH))
    brief = brief_of(results)
    head = [*verdict_lines(results, width), *facts_lines(results, brief, width), []]
    told = [[Span(line)] for line in wrap_words(finding or finding_of(results), width)]
    found: Lines = [[], *told] if told else []
    listed = care_of(results)
    care = care_text_lines(listed, width)
    is_step = bool(listed) and listed[0][0] == "step"
    room = _MOST_LINES - closing - len(head)
    subjects = min(len({v.subject.label for v in results.verdicts}), _MOST_SUBJECTS)
    least = subjects + _BESIDE_SUBJECTS
    is_certified = any(d.get("certified") for d in results.decisions)
    step = care_text_lines(listed[:1], width) if is_step else []
    for most in (_MOST_DECISIONS, 1):
        decided = decision_lines(results, width, most)
        left = room - len(found) - len(decided)
        if left - len(care) >= least or (is_certified and left - len(step) >= (5 if step else 0)):
            found += decided
            break
    found = found or [[]]
    rows = sum(map(len, contrast_of(results)))
    while care and room - len(found) - len(care) < max(5, rows + 2 if len(care) > 1 else 0):
        shorter = max(i for i, line in enumerate(care) if line[0].text.strip())
        if is_step and not shorter and room - len(found) - len(care) >= 3:
            break  # what would decide is worth some rows of a contrast
        care = care[:shorter]
    panel, curves = _panel_lines(results), _specification_lines(results, width)
    left = room - len(found) - len(care) - len(panel)
    while len(curves) > 1 and left - sum(map(len, curves)) < least:
        curves.pop()
    panel += [line for curve in curves for line in curve]
    table = _table(results, brief, width, room - len(found) - len(care) - len(panel), more)
    return [*head, *table, *panel, *found, *care]


_MOST_DECISIONS = 2


def decision_lines(results: Results, width: int = WIDTH, most: int = _MOST_DECISIONS) -> Lines:
    """What the data certify: cut-off, automation, panel; certified decisions first."""
    made = sorted(results.decisions, key=lambda d: not d.get("certified"))
    shown = made[:most]
    lines: Lines = []
    for one in shown:
        first = one["screen"][0]
        wide = len(first) - len(first.partition("  ")[2].lstrip())  # the word and its spaces
        for line in one["screen"]:
            wrapped = textwrap.wrap(_clean(line[wide:]), width - wide)
            heads = [line[:wide], *[" " * wide] * len(wrapped)]
            lines += [[Span(head + part)] for head, part in zip(heads, wrapped, strict=False)]
    more = len(made) - len(shown)
    return [*([[]] if lines else []), *lines, *([[Span(f"{more} more: --all")]] if more else [])]


def subject_names(results: Results) -> dict[str, str]:
    """Names of subjects in verdict lines: judge and condition, as short as possible."""
    judges = {v.subject.judge for v in results.verdicts}
    shared = short_names(results)
    out = {}
    for v in results.verdicts:
        name = shared.get(v.subject.label, v.subject.name)
        several = len(judges) > 1 and v.subject.judge and v.subject.judge not in name
        out[v.subject.label] = _clean(f"{v.subject.judge} {name}" if several else name)
    return out


def verdict_groups(results: Results, *, brief: bool = False) -> list[tuple[str, str, Outcome]]:
    """A word, subjects with purpose and reason, and the outcome, per reason, the best first.

    Brief ones state a purpose once, and count many subjects after the best outcome.
    """
    ordered = sorted(results.verdicts, key=lambda v: -ORDER.index(v.outcome))
    by_reason: dict[tuple[str, str, str, str], list[Verdict]] = {}
    for v in ordered:
        state = v.blocker or (v.decisive.status if v.decisive else v.sentence)
        deciding = "" if v.purpose == "contrast" else v.deciding
        by_reason.setdefault((v.outcome, v.purpose, deciding, state), []).append(v)
    shown = list(by_reason.values())
    if len(shown) > _MOST_VERDICTS:
        rest = shown[_MOST_VERDICTS - 1 :]
        shown = [*shown[: _MOST_VERDICTS - 1], [v for group in rest for v in group]]
    out: list[tuple[str, str, Outcome]] = []
    for group in shown:
        outcome = group[-1].outcome
        is_known = brief and any(g[0].purpose == group[0].purpose for g in shown[: len(out)])
        said = verdict_reason(group, results, brief=is_known)
        out.append((WORDS[outcome], said, outcome))
    return out


def verdict_lines(results: Results, width: int = WIDTH) -> Lines:
    """The outcomes, each with its subjects and reason."""
    lines: Lines = []
    groups = verdict_groups(results)
    wide = max((len(word) for word, _, _ in groups), default=0) + 2
    for word, text, outcome in groups:
        lines += hanging_lines(f"{word:<{wide}}", _STYLES[outcome], wrap_words(text, width - wide))
    return lines


def verdict_reason(group: Sequence[Verdict], results: Results, *, brief: bool = False) -> str:
    """Subjects, purpose unless brief, and reason of verdicts with one outcome."""
    called = subject_names(results)
    names = [called.get(v.subject.label, _clean(v.subject.name)) for v in group]
    are_conditions = any(", " in name for name in names)
    joint = "; " if are_conditions else ", "
    listed = joint.join(names[:_MOST_NAMES])
    if len(names) > _MOST_NAMES and brief:  # the table has the worst first
        listed = f"{len(names)} {'conditions' if are_conditions else 'judges'}"
    elif len(names) > _MOST_NAMES:
        listed += f"{joint}and {len(names) - _MOST_NAMES} more"
    purpose, words = PURPOSES.get(group[0].purpose), ""
    if purpose and not brief:
        words = (purpose.phrases if len(group) > 1 else "") or purpose.phrase
    comma = " " if group[0].purpose == "panel" else ", " if words else ""
    said = {v.sentence for v in group}
    stems = said if len(said) == 1 else {f"{s.rpartition(': ')[0]}." for s in said}
    if group[0].purpose == "contrast" and len(stems) == 1 and stems != {"."}:
        return f"{listed}: {stems.pop()}"
    alike = len({(v.outcome, v.deciding, v.blocker) for v in group}) == 1
    if not alike:
        counts = Counter(WORDS[v.outcome] for v in group)
        return f"{listed}: {', '.join(f'{n} {word}' for word, n in counts.items())}."
    made = [v.decisive for v in group]
    decisive = next((r for r in made if r is not None and r.apart), made[0])
    few = [r is not None and is_imprecise(r) for r in made]
    missing = decisive is not None and decisive.status == "not_measured"
    shared = len({v.sentence for v in group}) == 1 and (missing or group[0].blocker)
    own = len(group) == 1 or shared
    reason = group[0].sentence if own else reason_of(decisive, results, several=True)
    if not own and any(few) and decisive is not None:
        reason = f"{decisive.label} {(too_few if all(few) else not_shown)(decisive)}."
    return f"{listed}{comma}{words}: {reason}"


def facts_lines(results: Results, brief: Summary, width: int) -> Lines:
    """Source, size, scale, labels, what was not parsed, and cost."""
    return dim_lines(wrap_words(" · ".join(facts_of(results, brief)), width)[:2])


def facts_of(results: Results, brief: Summary) -> list[str]:
    """Source, size, scale, labels, what was not parsed, and cost, a phrase each."""
    parts = [brief.title.removeprefix("Audit of "), *brief.facts]
    if results.all_simulated:
        parts[0] = "SIMULATED"
    parts += _label_counts(results)
    return [_clean(part) for part in parts if part]


def _label_counts(results: Results) -> list[str]:
    """Labelled items by class, where all judges have the same."""
    counts = {key: {m.n for m in results.measures if m.key == key} for key in ("tpr", "tnr")}
    if any(len(n) != 1 for n in counts.values()):
        return []
    passes, fails = (n.pop() for n in counts.values())
    return [f"{passes + fails:,} labels ({passes:,} pass, {fails:,} fail)"]


def _table(results: Results, brief: Summary, width: int, room: int, more: str) -> Lines:
    """Requirements, then further rows: of one subject, of several, or a row per subject."""
    verdicts = [v for v in results.verdicts if v.purpose != "panel"]
    if not verdicts and not brief.lines:
        return []
    contrast = contrast_of(results)
    if not verdicts or contrast or any(v.purpose == "contrast" for v in verdicts):
        lines = tuple(line for line in brief.lines if line.estimand != _BESIDE_FLIPS)
        return condition_table(replace(brief, lines=lines), width, room, more, contrast)
    keys = list(dict.fromkeys(r.key for v in verdicts for r in v.requirements))
    if len(verdicts) == 1:
        rows = _rows_of_one(verdicts[0], brief)
        kept = len(verdicts[0].requirements) + 1
        while (grid := grid_lines(rows, width)) is None and len(rows) > kept:
            rows.remove(max(rows[kept:], key=lambda row: len(row[1])))
        bare = [[row[0], row[1].partition(" [")[0], *row[2:]] for row in rows]
        return _truncate(grid or grid_lines(bare, 2 * width) or [], room, more)
    if len(keys) > _MOST_KEYS:
        return _largest(verdicts, subject_names(results), keys, width, room, more)
    by_label = {v.subject.label: v for v in verdicts}
    labels = [v.subject.label for v in verdicts]
    grid = grid_lines(_rows_of_several(brief, by_label, labels, keys), width)
    if grid is not None and len(grid) <= room:
        return grid
    keys.sort(key=lambda key: all(v.deciding != key for v in verdicts))  # what decides is kept
    if grid is not None and len(grid) <= room + 6:
        grid = grid_lines(_rows_of_several(brief, by_label, labels, keys), width) or grid
        return [*grid[: max(1, room - 1)], grid[-1]]
    return _subject_rows(brief, verdicts, keys, width, room, more)


def contrast_of(results: Results) -> list[list[str]]:
    """Labels of the conditions that the experiment's first contrast compares, baseline first.

    Empty where all conditions are compared.
    """
    design = results.facts.get("design") or {}
    listed = [[str(label) for label in labels] for labels in design.get("contrast") or ()]
    compared = {label for labels in listed for label in labels}
    return listed if len(compared) > _FEW_ROWS or len(compared) < len(results.conditions) else []


def _largest(
    verdicts: Sequence[Verdict],
    names: Mapping[str, str],
    keys: Sequence[str],
    width: int,
    room: int,
    more: str,
) -> Lines:
    """The requirements that come out worst, one row each, a column per subject."""
    rank = {"fails": 0, "open": 1, "holds": 2, "not_measured": 3}

    def worst(key: str) -> tuple[int, float]:
        found = [r for v in verdicts for r in [_requirement(v, key)] if r]
        rooms = [-r.slack for r in found if r.status == "fails" and math.isfinite(r.slack)]
        return min(rank[r.status] for r in found), min(rooms, default=0.0)

    shown = sorted(keys, key=worst)[: max(1, min(_MOST_KEYS, room - 3))]
    heads = [names[v.subject.label] for v in verdicts]
    rows = [["Largest effects", *heads, "Needed"]]
    for key in shown:
        found = [_requirement(v, key) for v in verdicts]
        known = [r for r in found if r]
        rows.append([known[0].label, *(number_text(r) if r else "-" for r in found),
                     threshold_text(known[0])])  # fmt: skip
    rows.append(["Verdict", *(_IN_TABLES[v.outcome] for v in verdicts), ""])
    grid = grid_lines(rows, width)
    if grid is None:  # without the words that all names share, else without intervals
        rows[0] = [cell.partition(" at ")[0] for cell in rows[0]]
        bare = [[cell.partition(" [")[0] for cell in row] for row in rows]
        grid = grid_lines(rows, width) or grid_lines(bare, width) or []
    return [*grid, *rest_lines(len(keys) - len(shown), more)]


def _rows_of_one(verdict: Verdict, brief: Summary) -> list[list[str]]:
    rows = [[_runs_head([verdict]), "Estimate", "Needed", "Status"]]
    seen = {r.key for r in verdict.requirements}
    further = {
        key: [label, number, "-", "-"]
        for key, label, cells in _further(brief, seen)
        if (number := cells.get(verdict.subject.label, ""))
    }
    for r in verdict.requirements:
        rows.append(
            [_requirement_label(r, brief), number_text(r), threshold_text(r), status_text(r)]
        )
        rows += [further.pop(key) for key in _BEHIND.get(r.key, ()) if key in further]
    return [*rows, *further.values()]


def _rows_of_several(
    brief: Summary, by_label: Mapping[str, Verdict], labels: Sequence[str], keys: Sequence[str]
) -> list[list[str]]:
    names = _names(brief)
    columns = (names.get(label, _clean(label)) for label in labels)
    rows = [[_runs_head(by_label.values()), *columns, "Needed"]]
    further = {
        key: [label, *(numbers.get(name, "-") for name in labels), "-"]
        for key, label, numbers in _further(brief, set(keys))
    }
    for key in keys:
        own = {label: _requirement(by_label[label], key) for label in labels}
        asked = [r for r in own.values() if r]
        if all(r.status == "not_measured" and r.kind == "expected" for r in asked):
            continue
        needed = next((threshold_text(r) for r in own.values() if r), "-")
        cells = [_cell(r) for r in own.values()]
        rows.append([_requirement_label(asked[0], brief), *cells, needed])
        rows += [further.pop(behind) for behind in _BEHIND.get(key, ()) if behind in further]
    rows += further.values()
    rows.append(["Verdict", *(_IN_TABLES[by_label[label].outcome] for label in labels), ""])
    return rows


def _requirement_label(r: Requirement, brief: Summary) -> str:
    """Label of a requirement, with the words of its row where it holds for these runs only."""
    asks = (line.ask for line in brief.lines if line.estimand == r.key)
    return f"{r.label}{_THESE_RUNS}" if any(a.endswith(_THESE_RUNS) for a in asks) else r.label


def _runs_head(verdicts: Iterable[Verdict]) -> str:
    """Head of a table whose numbers hold for these runs only; else empty."""
    few = any(c.code == "these_runs" for v in verdicts for c in v.caveats)
    return "In these runs" if few else ""


def _panel_lines(results: Results) -> Lines:
    """What all judges together are required to reach."""
    return [
        [Span(
            f"All judges: {r.label} {number_text(r)}, "
            f"needed {threshold_text(r)}: {status_text(r)}"
        )]
        for v in results.verdicts if v.purpose == "panel" for r in v.requirements
    ]  # fmt: skip


def _specification_lines(results: Results, width: int) -> list[Lines]:
    """Whether comparisons hold under the declared choices, those that do not first."""
    curves = [r for r in results.select(Table) if r.hypothesis == "specs"]
    curves.sort(key=lambda r: bool(r.details.get("holds")))
    names = short_names(results)
    said = [with_names(str(r.details.get("said", "")), names) for r in curves[:_MOST_CURVES]]
    return [
        hanging_lines("Specs  ", "bold", wrap_words(_clean(one), width - 7)[:2]) for one in said
    ]


def _subject_rows(
    brief: Summary,
    verdicts: Sequence[Verdict],
    keys: Sequence[str],
    width: int,
    room: int,
    more: str,
) -> Lines:
    """A row per subject, as many quantities as fit, and the verdict."""
    names = _names(brief)
    columns: list[tuple[str, list[str]]] = []
    for key in keys:
        found = [_requirement(v, key) for v in verdicts]
        cells = [number_text(r) if r else "-" for r in found]
        if any(cell != "-" for cell in cells):
            columns.append((next(r.label for r in found if r), cells))
    judges = [v.subject.judge for v in verdicts]
    for _, label, numbers in _further(brief, set(keys), short=True):
        columns.append((label, [numbers.get(v.subject.label, "-") for v in verdicts]))
    last = ("Verdict", [_IN_TABLES[v.outcome] for v in verdicts])
    first = (
        _runs_head(verdicts),
        [names.get(v.subject.label, _clean(v.subject.name)) for v in verdicts],
    )
    grid: Lines = []
    for count in range(len(columns), -1, -1):
        used = [first, *columns[:count], last]
        rows = zip(*([head, *cells] for head, cells in used), strict=True)
        if (made := grid_lines(list(rows), width)) is not None:
            grid = made
            break
    asked = [_requirement(verdicts[0], key) for key in keys]
    needed = [
        f"{r.label} {threshold_text(r)}"
        for r in asked if r and (r.kind == "required" or r.status != "not_measured")
    ]  # fmt: skip
    said = f"Needed: {', '.join(needed)}" if needed else ""
    note = wrap_words(said, width) if said else []
    if len(grid) + len(note) <= room:
        return [*grid, *dim_lines(note)]
    note = wrap_words(f"{len(grid)} more: {more} · {said}", width) if said else [""]
    count = max(1, room - 1 - len(note))
    worst = sorted(range(len(verdicts)), key=lambda i: (ORDER.index(verdicts[i].outcome), -i))
    told = list({judges[i]: i for i in reversed(worst)}.values())
    shown = shared_out(judges, count, told)
    rest = f"{len(verdicts) - len(shown)} more" + (f": {more}" if more else "")
    note = wrap_words(f"{rest} · {said}" if said else rest, width)
    return [grid[0], *(grid[i + 1] for i in shown), *dim_lines(note)]


def _names(brief: Summary) -> dict[str, str]:
    return {c.label: _clean(c.name) for c in brief.columns}


def _requirement(verdict: Verdict, key: str) -> Requirement | None:
    return next((r for r in verdict.requirements if r.key == key), None)


def _further(
    brief: Summary, seen: set[str], *, short: bool = False
) -> Iterator[tuple[str, str, Mapping[str, str]]]:
    """Rows of the analysis that no requirement shows: key, label, and number by condition.

    The labels of bounds may be `short`.
    """
    hidden = {_BESIDE_FLIPS} if all(line.estimand != "flip_rate" for line in brief.lines) else set()
    for line in brief.lines:
        estimand = PUBLIC_NAMES.get(line.estimand, line.estimand)
        if estimand in seen | hidden:
            continue
        unit = f" ({line.unit})" if line.unit else ""
        numbers = {
            cell.column: " ".join(filter(None, (cell.number, cell.bounds)))
            for cell in line.cells if cell.number != NOTHING
        }  # fmt: skip
        label = line.short if short and line.estimand in BOUNDS else f"{line.ask}{unit}"
        if numbers:
            yield line.key, label, numbers


def _cell(r: Requirement | None) -> str:
    """A number, with its status where the shown interval has another one."""
    if r is None or r.status == "not_measured":
        return "-" if r is None else "not measured"
    status = status_text(r)
    return f"{number_text(r)} {status[status.index('(') :]}" if "(" in status else number_text(r)


def number_text(r: Requirement) -> str:
    """Estimate and 95% interval."""
    if r.status == "not_measured" or math.isnan(r.estimate):
        return "-"
    if r.key in FLAGS:
        return "yes" if r.estimate else "no" if r.key != "cutoff_exists" else "not shown"
    if r.key == "automation_share":  # certified: a lower limit
        return f"≥ {apa_number(r.estimate, bounded=True)}"
    return with_bounds(r.estimate, r.low, r.high, bounded=r.bounded)


_SPANNERS = {
    "Reliability": ("icc", "sem", "sdc", "flip", "kappa_repeat", "k_", "unparsed"),
    "Order": ("order", "position"),
    "Rate": ("pass", "half_width", "labels_saved"),
    "Systems": ("mdd", "separability", "kendall"),
}
"""How the keys of requirements begin, by the heading over them."""


def spanner(key: str) -> str:
    """Heading over requirements of one kind.

    Examples
    --------
    >>> spanner("flip_rate"), spanner("tpr")
    ('Reliability', 'Accuracy')
    """
    return next((name for name, keys in _SPANNERS.items() if key.startswith(keys)), "Accuracy")


def status_text(r: Requirement) -> str:
    """Status of a requirement, with the limit where the interval shows another one."""
    word = _STATES.get(r.status, r.status)
    return f"{word} (limit {apa_number(r.limit, digits=3, bounded=r.bounded)})" if r.apart else word


def limit_text(verdict: Verdict) -> str:
    """The deciding requirement by the limit that decides it; a sentence where none does.

    Limits have as many digits as set them apart from the threshold.
    """
    r = verdict.decisive
    if r is None or r.status not in {"fails", "open"} or math.isnan(r.limit) or r.key in FLAGS:
        return verdict.sentence
    word = {"lower": "at least", "upper": "at most"}.get(r.limit_side, "is")
    if r.status == "open" and r.limit_side:
        missed = r.direction != "within" and (r.estimate < r.threshold) == (r.direction == "min")
        word = "may still be" if missed else "may be"

    return f"{r.label} {word} {limit_number(r)}, needs {threshold_text(r)}"


def limit_number(r: Requirement, least: int = 2) -> str:
    """The limit that decides, with as many digits as set it apart from the threshold."""
    if r.limit in {r.threshold, r.top}:
        return apa_number(r.limit, digits=least, bounded=r.bounded)

    def text(value: float, digits: int) -> str:
        return apa_number(value, digits=digits, bounded=r.bounded)

    ends = (r.threshold, r.top)
    apart = (d for d in range(least, 6) if text(r.limit, d) not in {text(e, d) for e in ends})
    return text(r.limit, next(apart, 6))


def grid_lines(rows: Sequence[Sequence[str]], width: int) -> Lines | None:
    """Aligned columns; None where they are wider than the screen."""
    sizes = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    if sum(sizes) + 2 * (len(sizes) - 1) > width:
        return None
    styles = {"use": "good", "care": "good", "do not use": "bad", "fails": "bad", "holds": "good"}
    gaps = [*["  "] * (len(sizes) - 1), ""]
    return [
        [
            Span(f"{cell:<{n}}{gap}", styles.get(cell.partition(" (")[0], "") if i else "bold")
            for cell, n, gap in zip(row, sizes, gaps, strict=True)
        ]
        for i, row in enumerate(rows)
    ]


def _truncate(grid: Lines, room: int, more: str) -> Lines:
    room = max(2, room)
    if len(grid) <= room:
        return grid
    return [*grid[: room - 1], *rest_lines(len(grid) - room + 1, more)]


def finding_of(results: Results) -> str:
    """The answer to an experiment's question, and whether a claim of its study holds reworded.

    Empty where the verdicts answer for each judge, and the rows are those of the contrast.
    """
    reworded = next((r for r in results.results if r.id == "rewording"), None)
    said = reworded.text if isinstance(reworded, Table) else ""
    told = results.verdicts and all(v.purpose == "contrast" for v in results.verdicts)
    answer = "" if told and contrast_of(results) else _answer_of(results)
    return f"{answer} {said}".strip()


def _answer_of(results: Results) -> str:
    """The answer; else the first claim, one that shows something first."""
    if answered := answer_sentence(results):
        return _clean(answered)
    claimed = [h for h in results.headlines if h.claim in {"differs", "equivalent"}]
    claimed += [h for h in results.headlines if h.claim == "open"]
    told = {v.sentence for v in results.verdicts}
    for headline in claimed:
        sentence = claim_sentence(headline, results)
        if sentence and sentence not in told:
            subject = headline.about.stratum or headline.about.judge
            who = f"{subject}: " if subject and subject not in sentence else ""
            return _clean(f"{who}{sentence}")
    return finding_on_rate(results) or _clean(systems_sentence(results))


def finding_on_rate(results: Results) -> str:
    """What to make of the pass rate of one judge."""
    gates = [v for v in results.verdicts if v.purpose in {"gate", "estimate"}]
    if len(gates) != 1:
        return ""
    record = results.estimate(f"people.corrected.{gates[0].subject.label}")
    if record is not None and math.isfinite(record.estimate):
        return (
            "Report the corrected pass rate: human raters are estimated to pass "
            f"{100 * record.estimate:.0f}% of all items."
        )
    if any(r.key == "tpr" and r.status == "not_measured" for r in gates[0].requirements):
        return "The pass rate is the judge's. The human pass rate may differ from it by 20 points."
    return ""


def care_of(results: Results) -> list[tuple[str, str]]:
    """Caveats of the verdicts and limitations of the analysis: severity and text, grave first."""
    called = subject_names(results)
    out: dict[str, tuple[str, str]] = {}
    codes: set[str] = set()
    judged = [v for v in results.verdicts if v.purpose != "panel"]
    many = len(results.verdicts) > 1
    by_text: dict[tuple[str, str, str, str], list[str]] = {}
    for v in results.verdicts:
        step = step_of(v)
        planned = step.key if step and not step.have else ""
        for c in v.caveats:
            codes.add(c.code)
            if c.code == "expected_missing" and c.about == planned:
                continue  # the step says how much is missing
            by_text.setdefault((c.code, c.severity, c.text, c.action), []).append(
                called[v.subject.label]
            )
    for (_, severity, text, action), names in by_text.items():
        own = many and len(names) < len(judged)
        who = f"{'; '.join(names[:_MOST_NAMES])}: " if own else ""
        said = f"{who}{text} {action}".strip()
        out.setdefault(said, (severity, said))
    steps: list[str] = []
    of_contrast: list[str] = []
    for v in results.verdicts:
        if (step := step_of(v)) is None:
            continue
        name = called[v.subject.label]
        if many and v.purpose == "contrast" and step.if_true is not None:
            more = " more items" if not of_contrast else ""
            of_contrast.append(f"{step.if_true:,}{more} for {name}")
        else:
            who = f"{name}: " if many else ""
            steps.append(f"{who}{step_text(step, deciding_label(v, step.key))}")
    if of_contrast:
        rest = len(of_contrast) - 2
        verb = "suffice, each if" if rest >= 0 else "suffice if"
        said = f"{' and '.join(of_contrast[:2])} {verb} {_LARGEST} equals its estimate."
        steps.insert(0, _with_rest(said, rest))
    if len(steps) > 2:
        steps = [_with_rest(steps[0], len(steps) - 1)]
    out |= {said: ("step", said) for said in steps}
    is_required = any(v.requirements for v in results.verdicts)
    for note in results.limitations:
        said = str(note.values.get("short") or note.message)
        known = bool(codes & _CODES_OF_LIMITS.get(note.code, frozenset()))
        known = known or (note.code == "simulated" and results.all_simulated)
        known = known or (note.code == "few_repeats" and is_required)  # a step says what decides
        grave = note.code in _GRAVE_NOTES
        if not known and (grave or len(said) <= _LONGEST_NOTE):
            if said.partition(" ")[0].isalpha():  # and no file name
                said = said[0].upper() + said[1:]
            out.setdefault(said, ("grave" if grave else "minor", said))
    ranks = ("blocker", "grave", "step", "major", "minor")
    return sorted(out.values(), key=lambda pair: ranks.index(pair[0]))


def step_of(verdict: Verdict) -> NextStep | None:
    """What would decide the verdict: of the requirement that decides, else the first."""
    if verdict.outcome != "CANNOT_TELL":
        return None
    return next((s for s in verdict.next if s.key == verdict.deciding), (*verdict.next, None)[0])


_LARGEST = "the largest difference"


def deciding_label(verdict: Verdict, key: str) -> str:
    """What more data decide: a requirement, or differences of conditions or of systems."""
    if key == "separability":
        return "each difference of systems"
    return next((r.label for r in verdict.requirements if r.key == key), _LARGEST)


def _with_rest(said: str, rest: int) -> str:
    """What would decide, and how many more steps the record has, where that fits."""
    text = f"{said} {rest} more in the record."
    return text if rest > 0 and len(text) <= _LONGEST else said


def step_text(step: NextStep, label: str) -> str:
    """What would decide, in one sentence."""
    unit, true, sure = step.unit, step.if_true, step.assured
    if not step.have and true is not None:
        return f"{label} needs about {true} {unit}."
    if sure is not None and true is not None and sure != true:
        return (
            f"{true:,} more {unit} suffice if {label} equals its estimate, {sure:,} with "
            "probability .80."
        )
    if true is not None:
        return f"{true:,} more {unit} suffice if {label} equals its estimate."
    where = "too small" if label == _LARGEST else "at the threshold"
    if step.key == "separability":
        return f"No practical number of {unit} decides: too many differences are close to 0."
    return f"No practical number of {unit} decides: {label} is {where}."


def care_text_lines(listed: Sequence[tuple[str, str]], width: int) -> Lines:
    """Caveats in a few lines: severity and text, as `care_of` lists them."""
    major = [text for severity, text in listed if severity != "minor"]
    minor = [text for severity, text in listed if severity == "minor"]
    joint = " · "
    room = min(2 * (width - 6) - 12, _LONGEST)  # two lines, wherever words break
    texts = [*major]
    short: list[str] = []
    for text in (_clean(t).rstrip(".") for t in minor):
        if len(short) < 3 and len(joint.join([*short, text])) <= room:
            short.append(text)
    texts += [joint.join(short)] if short else []
    lines: Lines = []
    for text in texts[:_MOST_CARE]:
        lines += hanging_lines("Care  ", "bold", wrap_words(_clean(text), width - 6))
    return lines


def _clean(text: str) -> str:
    text = printable(text, one_line=True)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
