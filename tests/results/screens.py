"""What holds of every screen: its bounds, and that each of its numbers is a record's field."""

from __future__ import annotations

import re

from judgestats import results

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
    for answer in brief.answers:
        rest = _rest(answer.text, answer.headlines, answer.records, found)
        assert not re.search(r"\d", rest), (answer.text, rest)
    for width in (60, 80, 100):
        lines = results.screen_of(brief, width=width, more="judgestats show 01234567", closing=2)
        text = results.plain_text(
            [*lines, *results.next_line(["judgestats show 01234567", "mlflow ui"], width)]
        )
        assert len(text.splitlines()) <= results.HEIGHT, text
        assert not re.search(r" \.\.\.$", text, re.M), (
            text
        )  # sentences and notes stand whole or not at all
        assert text.count("(") == text.count(")"), text
        assert max(map(len, text.splitlines())) <= width, text
    return brief


def _rest(
    text: str, headlines: tuple[str, ...], records: tuple[str, ...], found: results.Results
) -> str:
    """An answer without what is a record's field, a name, or a count of what is named."""
    known: list[str] = []
    decimals = results.decimals_of(found)
    for i in records:
        record = results.number_of(found, i)
        number, bounds = results.format_record(record, decimals=decimals.get(i))
        known += [part for part in (number, bounds) if part]
        known += bounds.strip("[]").replace("−", "").split(", ")
        known += [getattr(record, "a", ""), getattr(record, "b", "")]
        known += [f"place {n}: " for n in re.findall(r"^position_(\d+)_share$", record.estimand)]
        known.append(results.hangs_on(record.details, clusters=results.QUESTIONS))
        known += (
            [f"p {results.adjusted_p(record)}"] if isinstance(record, results.Comparison) else []
        )
    known += results.short_names(found).values()
    for headline in found.headlines:
        if headline.id in headlines:
            about = headline.about
            says = results.with_names(headline.says, results.short_names(found))
            known += re.split(r"\{\d+\}", says) if headline.claim == "described" else [says]
            known += [headline.reason, f"p {results.adjusted_p(headline)}"]
            known += [about.stratum, about.judge, *about.conditions]
            known += headline.id.rpartition("/")[2].split(":")  # a pair's names
            known.append(results.name_of(headline.estimand) if headline.estimand else "")
    if not headlines:  # the range of a row
        known += [c.label for c in found.conditions]
        known += [v for c in results.brief_of(found).columns for v in (c.name, c.label)]
        known += [line.ask for line in results.brief_of(found).lines]
    known += [f"{part[0].upper()}{part[1:]}" for part in known if part]
    for part in sorted(filter(None, known), key=len, reverse=True):
        text = text.replace(part, "")
    return COUNTED.sub("", text)
