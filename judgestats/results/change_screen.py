"""First screen of a comparison of runs: outcome, facts, changes, and care."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence

from judgestats.results import screen, verdict_screen
from judgestats.results.contrasts import turned_record
from judgestats.results.numbers import apa_number, apa_p
from judgestats.results.quantities import quantity_of
from judgestats.results.records import Headline, Row, Test
from judgestats.results.results import Results

PRIMARY = ("shift", "pass_rate", "win_rate")
"""Hypotheses on the quantity that decides."""
SAME = "the same judgments in both runs: nothing has changed on these items"
"""The reason if nothing is tested, e.g. because one run was given twice."""
_STYLES = {"CHANGED": "bad", "NO CHANGE": "good", "CANNOT TELL": "bold"}
_STATES = {"differs": "changed", "equivalent": "no change", "open": "cannot tell",
           "undefined": "not tested"}  # fmt: skip
_NOT_SHOWN = "change not shown"
_RANKS = ("changed", "cannot tell", _NOT_SHOWN, "no change", "not tested", "-")
_RUN_VALUES = {
    "change_of_scores": "condition.mean.{}", "gmd_ratio": "condition.gmd.{}",
    "change_of_pass_rate": "verdicts.pass_rate.{}", "change_of_flips": "reliability.flip_rate.{}",
}  # fmt: skip
"""Ids of what a run has of the quantity that may have changed."""
_MOST, _MOST_NAMED, _LINES = 3, 4, 17


def change_outcome(headlines: Sequence[Headline]) -> str:
    """CHANGED, NO CHANGE or CANNOT TELL.

    Parameters
    ----------
    headlines : sequence of Headline
        Of a comparison of two runs.

    Returns
    -------
    str
        NO CHANGE where every leading quantity is established to be within its margin, or both runs
        hold the same judgments, and nothing has changed.
    """
    if any(h.claim == "differs" for h in headlines):
        return "CHANGED"
    leading = [h for h in headlines if h.hypothesis in PRIMARY or h.reason == SAME]
    alike = [h.claim == "equivalent" or h.reason == SAME for h in leading]
    return "NO CHANGE" if alike and all(alike) else "CANNOT TELL"


def change_sentences(results: Results) -> list[str]:
    """The claims that make the outcome, a sentence each, the quantity that decides first.

    Parameters
    ----------
    results : Results
        Of `judgestats drift`.

    Returns
    -------
    list of str
    """
    outcome = change_outcome(results.headlines)
    wanted = {"CHANGED": {"differs"}, "NO CHANGE": {"equivalent"}}.get(outcome, {"open"})
    deciding = [h for h in results.headlines if h.claim in wanted and h.reason != SAME]
    deciding.sort(key=lambda h: h.hypothesis not in PRIMARY)
    told = [text for h in deciding if (text := _sentence(h, results))]
    told += [f"{h.about.stratum}: {SAME}." for h in results.headlines if h.reason == SAME]
    if not told:
        gone = next((h for h in results.headlines if h.claim == "undefined"), None)
        told = [f"{gone.about.stratum}: not tested, since {gone.reason}."] if gone else []
    return told or ["nothing could be tested."]


def change_finding(results: Results) -> str:
    """The outcome of a comparison with its first claims, as one text."""
    told = " ".join(change_sentences(results)[:_MOST])
    return f"{change_outcome(results.headlines)}. {told}"


def outcome_lines(results: Results) -> list[str]:
    """The outcomes of an analysis as text, a line each; its finding where it has none.

    Parameters
    ----------
    results : Results

    Returns
    -------
    list of str
    """
    if results.verdicts:
        return [f"{word}  {text}" for word, text, _ in verdict_screen.verdict_groups(results)]
    if results.kind in {"drift", "comparison"}:
        outcome = change_outcome(results.headlines)
        return [f"{outcome}  {text}" for text in change_sentences(results)]
    return [results.finding] if results.finding else []


def _sentence(headline: Headline, results: Results) -> str:
    """How far one quantity moved, with its interval."""
    row, cell = _row_of(headline, results)
    who = f"{headline.about.stratum}: " if headline.about.stratum else ""
    if row is None:
        if (headline.claim, headline.hypothesis) != ("differs", "spread"):
            return ""  # else the ratio is 0 or infinite
        text = f"{who}repeated scores of one run never differ, those of the other do"
        return f"{text} ({apa_p(headline.p_adjusted)})."
    record = screen.number_of(results, cell)
    nothing = 1.0 if quantity_of(record.estimand).unit == "ratio" else 0.0
    what = row.ask.removeprefix("Change of ")
    moved = "rose by" if record.estimate > nothing else "fell by"
    moved = moved if headline.claim == "differs" else "changed by"
    if moved == "fell by" and nothing == 0:
        record = turned_record(record)
    number = screen.record_text(record, decimals=screen.row_decimals(row, results))
    if what == row.ask:
        what, moved = what if what.endswith(" changed by") else f"{what} =", ""
    by = f"{moved} {number}".strip()
    test = results.get(headline.rests_on[0], Test)
    on = ""
    if test.sample is not None and test.details.get("target") == "these items":
        on = f" on these {test.sample.n_items:,} items"
    on += screen.in_these_runs(test) if headline.claim == "differs" else ""
    if headline.claim == "equivalent":
        margin = apa_number(float(test.details["margin"]), bounded=_bounded(row))
        return f"{who}{what} {by}{on}, within the margin of {margin}."
    if headline.claim == "open":
        quantity = what.removesuffix(" =").removesuffix(" changed by")
        of = "result for" if what.endswith(" =") else "change of"
        return f"{who}the {of} {quantity}{on} is inconclusive, {number}."
    within = float(test.details.get("p_equivalent", math.nan)) <= 0.05
    return f"{who}{what} {by}{on}{', within the margin' if within else ''}."


def _row_of(headline: Headline, results: Results) -> tuple[Row | None, str]:
    """The row with the number that a claim is about, and that number's id."""
    for row in results.rows:
        for cell in row.cells.values():
            if cell in results and cell.rpartition("/")[0] in headline.rests_on:
                known = math.isfinite(screen.number_of(results, cell).estimate)
                return (row, cell) if known else (None, "")
    return None, ""


def _bounded(row: Row) -> bool:
    return quantity_of(row.estimand).bounded


def change_screen(
    compared: Mapping[str, Results | str],
    *,
    runs: Sequence[Mapping[str, object]] = (),
    title: str = "",
    width: int = screen.WIDTH,
    more: str = "",
) -> screen.Lines:
    """The screen of later runs, each compared with the first.

    Parameters
    ----------
    compared : mapping of name to Results or str
        What was found of each later run, or why nothing was tested.
    runs : sequence of mapping
        Facts of the runs, of which the parameters that differ are shown.
    title : str
        What is compared; empty: as the results call it.
    width : int
    more : str
        The command that shows everything.

    Returns
    -------
    list of list of Span
    """
    tested = {name: found for name, found in compared.items() if isinstance(found, Results)}
    said: list[tuple[str, str]] = []
    for name, found in compared.items():
        if isinstance(found, str):
            said.append(("CANNOT TELL", f"{name}: not tested, since {found.rstrip('.')}."))
            continue
        prefix = f"{name}, " if len(compared) > 1 else ""
        outcome = change_outcome(found.headlines)
        said += [(outcome, f"{prefix}{text}") for text in change_sentences(found)]
    said.sort(key=lambda pair: list(_STYLES).index(pair[0]))
    head: screen.Lines = []
    for outcome, text in said[:_MOST]:
        lines = screen.wrap_words(text, width - len(outcome) - 2)[:3]
        head += screen.hanging_lines(f"{outcome}  ", _STYLES[outcome], lines)
    head += screen.rest_lines(len(said) - _MOST, more)
    simulated = runs and all(run.get("simulated") for run in runs)
    facts = ["SIMULATED"] if simulated else []
    facts += [title] if title else []
    for found in list(tested.values())[:1]:
        named, *sizes = verdict_screen.facts_of(found, screen.brief_of(found))
        facts += [*([] if title else [named.removeprefix("drift: ")]), *sizes, "paired by item"]
    listed = [*screen.wrap_words(" · ".join(facts), width)[:2], *_different(runs, width)]
    head += screen.dim_lines(listed)
    care = _care(tested, width)
    finding = _finding(tested)
    told = [[screen.Span(line)] for line in screen.wrap_words(finding, width)]
    below: screen.Lines = [[], *([*told, []] if finding else []), *care]
    room = _LINES - len(head) - len(below)
    table = _table(tested, width, max(room, 3), more, several=len(compared) > 1)
    return [*head, [], *table, *below] if table else [*head, *below]


def study_screen(results: Results, *, width: int = screen.WIDTH) -> screen.Lines:
    """The screen of a re-examined study: what became of its claims.

    Parameters
    ----------
    results : Results
        Of kind ``replication``, whose facts hold the claims.
    width : int

    Returns
    -------
    list of list of Span
    """
    listed = results.facts.get("claims")
    claims = [c for c in listed if isinstance(c, Mapping)] if isinstance(listed, Sequence) else []
    head: screen.Lines = []
    for outcome, verdicts, words in _STUDY:
        own = [c for c in claims if c.get("verdict") in verdicts]
        if own:
            text = f"{len(own)} of {len(claims)} claims {words[len(own) > 1]}."
            head.append([screen.Span(f"{outcome:<13}", _STUDY_STYLES[outcome]), screen.Span(text)])
    head += screen.dim_lines(screen.wrap_words(results.title, width)[:2])
    room = _LINES - 2 - len(head)
    rows, shown = [["Claim", "Re-examined"]], 0
    for claim in claims:
        parts = textwrap.wrap(str(claim.get("claim", "")), width - 20) or [""]
        if len(rows) + len(parts) > room:
            break
        said = [claim_outcome(str(claim.get("verdict", ""))), *[""] * len(parts)]
        rows += [[part, word] for part, word in zip(parts, said, strict=False)]
        shown += 1
    table = verdict_screen.grid_lines(rows, width) or []
    return [*head, [], *table, *screen.rest_lines(len(claims) - shown, "")]


_OUTCOMES = {
    "stands": ("holds", "hold"),
    "stands in part": ("holds in part", "hold in part"),
    "open": ("inconclusive", "inconclusive"),
    "does not stand": ("does not hold", "do not hold"),
}
"""Recorded outcomes of claims, as shown for one claim and for several."""


def claim_outcome(recorded: str, count: int = 1) -> str:
    """Label of a recorded outcome of `count` claims.

    Examples
    --------
    >>> claim_outcome("stands in part"), claim_outcome("does not stand", 2)
    ('holds in part', 'do not hold')
    """
    return _OUTCOMES.get(recorded, (recorded, recorded))[count != 1]


_STUDY = (
    (
        "PASS", ("stands", "stands in part"),
        ("holds on these data, in whole or in part", "hold on these data, in whole or in part"),
    ),
    ("FAIL", ("does not stand",), ("does not hold", "do not hold")),
    (
        "CANNOT TELL", ("open", "not examined"),
        ("is inconclusive or not examined", "are inconclusive or not examined"),
    ),
)  # fmt: skip
_STUDY_STYLES = {"PASS": "good", "FAIL": "bad", "CANNOT TELL": "bold"}


def _care(tested: Mapping[str, Results], width: int) -> screen.Lines:
    listed = [pair for found in tested.values() for pair in verdict_screen.care_of(found)]
    return verdict_screen.care_text_lines(list(dict.fromkeys(listed)), width)


def _different(runs: Sequence[Mapping[str, object]], width: int) -> list[str]:
    """Parameters in which the runs differ, with their texts."""
    differ = screen.differing_parameters(runs) if runs else {}
    if not differ:
        return []
    first = runs[0].get("parameters")
    total = len(first) if isinstance(first, Mapping) else len(differ)
    named = [f"{name} ({', '.join(texts)})" for name, texts in list(differ.items())[:_MOST_NAMED]]
    more = f" and {len(differ) - _MOST_NAMED} more" if len(differ) > _MOST_NAMED else ""
    same = total - sum(texts[0] != screen.NOT_GIVEN for texts in differ.values())
    text = f"Different: {', '.join(named)}{more}. Same: {same} other parameters."
    return screen.wrap_words(text, width)[:2]


def _finding(tested: Mapping[str, Results]) -> str:
    """Which change of the leading quantity the design finds."""
    found = [
        (float(test.details["smallest_change"]), headline.estimand, test)
        for results in tested.values()
        for headline in results.headlines if headline.hypothesis in PRIMARY and headline.rests_on
        for test in [results.get(headline.rests_on[0], Test)] if "smallest_change" in test.details
    ]  # fmt: skip
    if not found:
        return ""
    reach, estimand, test = max(found, key=lambda one: one[0])
    quantity = quantity_of(estimand)
    what = {"change_of_scores": "the mean", "change_of_pass_rate": "the pass rate"}
    unit = " points" if quantity.unit == "points" else ""
    price = [note.message for note in test.notes if note.code == "wider_claim"]
    finds = (
        f"This design finds a change of {apa_number(reach, bounded=quantity.bounded)}{unit} in "
        f"{what.get(estimand, 'the win rate')} with probability .80."
    )
    return " ".join([finds, *price])


def _table(
    tested: Mapping[str, Results], width: int, room: int, more: str, *, several: bool
) -> screen.Lines:
    """A row per quantity: both runs, the change, its margin, and what is shown."""
    cells: list[tuple[int, list[str]]] = []
    for name, results in tested.items():
        claims = {i: h for h in results.headlines for i in h.rests_on}
        named = len({label for row in results.rows for label in row.cells}) > 1
        for row in results.rows:
            for label, cell in row.cells.items():
                claim = claims.get(cell) or claims.get(cell.rpartition("/")[0])
                texts = _cells(row, cell, claim, results)
                status = _STATES.get(claim.claim if claim else "", "-")
                if status == "cannot tell" and texts[-1] == "-":
                    status = _NOT_SHOWN  # without a margin, only a change can be shown
                rank = _RANKS.index(status)
                lead = claim is not None and claim.hypothesis in PRIMARY
                rank = rank if lead or not rank else rank + len(_RANKS)
                who = [name] * several + [label] * named
                cells.append((rank, [" ".join(who), *texts, status]))
    most = room - 1 if len(cells) < room else room - 2
    shown = sorted(cells, key=lambda pair: pair[0])[:most]
    rows = [row for _, row in cells if any(row is kept for _, kept in shown)]
    if not rows:
        return []
    rows.insert(0, ["", "", "First", "Second", "Change", "Margin", "Status"])
    kept = [k for k in range(7) if any(row[k] not in {"", "-"} for row in rows[1:])]
    if max(kept) < 2:  # named, without a number
        return []
    while (
        grid := verdict_screen.grid_lines([[row[k] for k in kept] for row in rows], width)
    ) is None:
        spare = [k for k in (5, 2, 3, 0) if k in kept]
        if not spare:
            return []
        kept.remove(spare[0])
    return [*grid, *screen.rest_lines(len(cells) - len(shown), more)]


def _cells(row: Row, cell: str, claim: Headline | None, results: Results) -> list[str]:
    """Quantity, first run, second run, change, and margin."""
    record = screen.number_of(results, cell)
    number, bounds = screen.format_record(record, decimals=screen.row_decimals(row, results))
    ratio = quantity_of(record.estimand).unit == "ratio"
    sign = "" if ratio or not record.estimate > 0 else "+"
    what = row.ask.removeprefix("Change of ").removeprefix("the ").removesuffix(" changed by")
    values = []
    for run in claim.about.conditions[:2] if claim else ():
        own = results.estimate(_RUN_VALUES.get(row.estimand, "").format(run))
        values.append(screen.format_record(own)[0] if own else "-")
    test = results[claim.rests_on[0]] if claim and claim.rests_on else None
    margin = float(getattr(test, "details", {}).get("margin", math.nan))
    limit = f"±{apa_number(margin, bounded=_bounded(row))}" if math.isfinite(margin) else "-"
    change = " ".join(filter(None, (f"{sign}{number}", bounds)))
    values = values if len(values) == 2 else ["-", "-"]
    return [f"{what[:1].upper()}{what[1:]}", *values, change, limit if not ratio else "-"]
