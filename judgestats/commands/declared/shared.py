"""Words that several commands take: how a file is read, how results are shown."""

from __future__ import annotations

from judgestats.commands.table import Option

SHOW = (
    Option("--full", "print everything that was found, not one screen", kind="switch"),
    Option(
        "--json", "print one JSON document (abstract and results) and nothing else", kind="switch"
    ),
)
"""How results are shown."""

SHOW_AND_BOUNDS = (
    *SHOW,
    Option(
        "--min",
        "mark rows against a bound, as in reliability=.8 (repeat)",
        repeated=True,
        metavar="ROW=NUMBER",
        name="at_least",
    ),
    Option(
        "--max",
        "the same for what must not be larger, as in sem=1 (repeat)",
        repeated=True,
        metavar="ROW=NUMBER",
        name="at_most",
    ),
)
"""And what they are held to."""

OMEGA_MODEL = Option(
    "--omega-model",
    "model whose omega of repeated scores is given next to Cronbach's alpha",
    default="parallel",
    choices=("parallel", "tau-equivalent", "congeneric"),
)
"""The model whose omega stands beside; declared before the data are seen."""

VALUES = Option(
    "--values",
    "What words of verdicts and labels mean, e.g. 'P=pass,F=fail,U=unparsed' (pass, fail, a, b, "
    "tie, skip, unparsed, error, missing, a number; label:P or verdict:P for one side) (repeat)",
    repeated=True,
    metavar="WORD=MEANING,...",
)
"""What words mean; for every command that reads labels or verdicts."""

ROWS = (
    Option(
        "--human",
        "rows that people gave: labels of the judge's rows, e.g. source=ANNOTATION",
        metavar="COLUMN=VALUE,...",
    ),
    Option(
        "--judge-rows",
        "rows that are judged; others are left out, e.g. source=EVAL",
        metavar="COLUMN=VALUE,...",
    ),
)
"""Whose rows are read."""

TABLE = (
    Option("--reader", "what the file is, where it should not be recognised", default="auto"),
    Option(
        "--map",
        "a column's name, as in score=rating, or a path into nested JSON, as in "
        "score=scores.coherence (repeat, or separate by commas)",
        repeated=True,
        metavar="OURS=THEIRS",
    ),
    Option(
        "--item",
        "the columns that together name an item, as in question_id,turn (repeat)",
        repeated=True,
        metavar="NAME",
    ),
    Option(
        "--factor", "columns that tell conditions apart (repeat)", repeated=True, metavar="NAME"
    ),
    Option(
        "--ignore",
        "columns that have no part in what a judgment is (repeat)",
        repeated=True,
        metavar="NAME",
    ),
    VALUES,
    Option("--pass", "Words that are a pass, e.g. ship (repeat)", repeated=True, metavar="WORD"),
    Option(
        "--fail",
        "Words that are a fail, or rest for all that --pass does not name (repeat)",
        repeated=True,
        metavar="WORD",
    ),
    Option(
        "--explode", "columns with lists in their cells (repeat)", repeated=True, metavar="NAME"
    ),
    Option("--kind", "score, pass-fail, preference, choice or category"),
    Option("--codes", "Earlier name of --values", metavar="WORD=MEANING,..."),
    Option("--scale", "lowest-highest score, as in 1-10"),
    Option(
        "--wide",
        "a column a judge, as in 'gpt*,claude*'; or ROLE=PATTERNS (judge, run, criterion, system, "
        "order, person) (repeat)",
        repeated=True,
        metavar="PATTERNS",
    ),
    Option(
        "--parse",
        "read verdicts out of replies: pointwise, pairwise, or a pattern with one group",
        metavar="PROTOCOL|REGEX",
    ),
    Option("--labels", "people's labels, by item", kind="file"),
    Option("--table", "of a database; the sheet of a workbook"),
    Option("--as-shown", "preferences name places, not responses", kind="switch"),
    Option("--judge", "the judge's name, if no column tells it"),
    *ROWS,
)
"""How a table is to be read."""
