"""What holds of every screen: its bounds, and that each of its numbers is a record's field."""

from __future__ import annotations

import re

from judgestats import results
from judgestats.results.verdict_screen import care_of, verdict_screen

COUNTED = re.compile(r", for \d+ of \d+|; and \d+ more")


def assert_screen(found: results.Results) -> results.Summary:
    """Hold the screen of an analysis to its promises, and return its abstract."""
    brief = results.brief_of(found)
    assert brief.lines, "no row was declared, or none has a result"
    for line in brief.lines:
        records = [results.number_of(found, cell.record) for cell in line.cells if cell.record]
        decimals = results.column_decimals(
            (r.estimate, *results.bounds_of(r.interval)) for r in records
        )
        assert any(cell.record for cell in line.cells), line.ask
        for cell in line.cells:
            if cell.record:
                assert (cell.number, cell.bounds) == results.format_record(
                    results.number_of(found, cell.record), decimals=decimals
                )
    whole = {said.rstrip(".") for _, said in care_of(found)}
    for width in (60, 80, 100):
        lines = verdict_screen(found, width=width, more="judgestats show 01234567")
        text = results.plain_text(
            [*lines, *results.next_line(["judgestats show 01234567", "mlflow ui"], width)]
        )
        assert len(text.splitlines()) <= results.HEIGHT, text
        assert not re.search(r" \.\.\.$", text, re.M), (
            text
        )  # sentences and notes stand whole or not at all
        assert text.count("(") == text.count(")"), text
        assert not any("_" in row.key and row.key in text for row in found.rows), text
        for said in re.findall(r"^Care  (.+(?:\n {6}.+)*)", text, re.M):
            for part in " ".join(said.split()).split(" · "):
                assert part.rstrip(".") in whole, text
        assert max(map(len, text.splitlines())) <= width, text
    return brief
