"""What a result is: records, declared quantities, families, the file, how numbers are put.

An analysis makes records (`Estimate`, `Test`, `Comparison`, `Table`, `ResultSet`), puts tests into
families and draws headlines; `Results` holds them and is what ``results.json`` holds. Sentences,
prints, tables and figures are made from it, and nothing is read back from a text.
"""

from __future__ import annotations

from judgestats.results.files import (
    from_plain,
    json_schema,
    read_results,
    to_plain,
    write_csv,
    write_results,
)
from judgestats.results.quantities import QUANTITIES, TESTS, Quantity, kind_of_test, quantity_of
from judgestats.results.records import (
    About,
    AnyRecord,
    Claim,
    Column,
    Comparison,
    Condition,
    Drawing,
    Estimate,
    Family,
    Figure,
    Headline,
    Interval,
    Margin,
    Note,
    Null,
    Recommendation,
    Record,
    ResultSet,
    Row,
    Sample,
    Statistic,
    Table,
    Test,
)
from judgestats.results.results import CONDITIONS, VERSION, Results

__all__ = [
    "CONDITIONS",
    "QUANTITIES",
    "TESTS",
    "VERSION",
    "About",
    "AnyRecord",
    "Claim",
    "Column",
    "Comparison",
    "Condition",
    "Drawing",
    "Quantity",
    "Estimate",
    "Family",
    "Figure",
    "Headline",
    "Interval",
    "Margin",
    "Note",
    "Null",
    "Recommendation",
    "Record",
    "ResultSet",
    "Results",
    "Row",
    "Sample",
    "Statistic",
    "Table",
    "Test",
    "quantity_of",
    "from_plain",
    "json_schema",
    "kind_of_test",
    "read_results",
    "to_plain",
    "write_csv",
    "write_results",
]
