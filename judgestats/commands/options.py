"""Options that several commands share: how results are shown, and how a table is read."""

from __future__ import annotations

from judgestats.commands.arguments import Args, Argument, Option, given_options

# fmt: off
# A table: an option in one line where it fits.
RUN = "MLflow run id (or its beginning), or folder of a run"

def seed_option(about: str) -> Option:
    """The option ``--seed``."""
    return Option("--seed", "Statistics", about, kind="whole", default=0)


SHOWN = (
    Option("--all", "Output", "Every result instead of one screen", kind="switch"),
    Option("--json", "Output", "One JSON document (summary and results), nothing else",
        kind="switch"),
)
"""How results are shown."""

REQUIRE = Option(
    "--require", "Statistics", "Requirements of the judge, e.g. tpr=.9,sem=.5", repeated=True,
    metavar="NAME=VALUE,...", common=True,
)
"""A threshold of a metric."""

DECISION = (
    Option("--for", "Statistics", "Purpose of the judge", common=True,
        choices=("gate", "estimate", "compare", "rank", "score")),
    Option("--looks", "Statistics", "Planned looks at a growing file of labels", kind="whole",
        default=1),
)
"""What a judge is for."""

RESULTS = (REQUIRE, *SHOWN)
"""Thresholds, and how results are shown."""

RESAMPLES = (
    Option("--resamples", "Statistics", "Bootstrap resamples and permutations", kind="whole",
        default=999),
    seed_option("Seed of resampling"),
)

RESAMPLING = (
    *RESAMPLES,
    Option("--omega-model", "Statistics", "Factor model of omega, next to Cronbach's alpha",
        default="parallel", choices=("parallel", "tau-equivalent", "congeneric")),
)

DUPLICATES = Option(
    "--duplicates", "Statistics", "Handling of items that repeat another item's text or replies: "
    "one cluster, first item only, no change, or an error", default="cluster",
    choices=("cluster", "drop", "keep", "refuse"),
)

VALUES = Option(
    "--values", "Labels", "Meaning of words, e.g. 'P=pass,F=fail,U=unparsed'. Meanings: pass, "
    "fail, a, b, tie, skip, unparsed, error, missing, or a number. label:P and verdict:P map "
    "words of one side, and '>=4' numbers", repeated=True, metavar="WORD=MEANING,...", common=True,
)

ROWS = (
    Option("--human", "Labels", "Rows by human raters, e.g. source=ANNOTATION",
        metavar="COLUMN=VALUE,..."),
    Option("--judge-rows", "Labels", "Rows by the judge (others are left out), e.g. source=EVAL",
        metavar="COLUMN=VALUE,..."),
    Option("--rows", "Input", "Rows to read (others are left out), e.g. type=grade", repeated=True,
        metavar="COLUMN=VALUE,..."),
)

TABLE = (
    Option("--reader", "Input", "Format of the file, e.g. table or promptfoo", default="auto"),
    Option("--kind", "Input", "Kind of verdicts: score, pass-fail, preference, choice, or "
        "category", common=True),
    Option("--scale", "Input", "Lowest and highest score, e.g. 1-10", metavar="LOW-HIGH",
        common=True),
    Option("--wide", "Input", "Columns that hold one judge each, e.g. 'gpt*,claude*'; or "
        "ROLE=PATTERNS (judge, run, criterion, system, order, person)", repeated=True,
        metavar="PATTERNS", common=True),
    Option("--parse", "Input", "Parser of verdicts in replies: pointwise, pairwise, or a "
        "regular expression with one group, e.g. 'Score: ([0-9]+)'", metavar="PROTOCOL|REGEX"),
    Option("--table", "Input", "Table (SQLite) or sheet (Excel) to read, e.g. Sheet1",
        metavar="NAME"),
    Option("--explode", "Input", "Columns with a list in each cell, e.g. scores", repeated=True,
        metavar="COLUMNS"),
    Option("--as-shown", "Input", "Preferences name the position (first or second), not the "
        "response", kind="switch"),
    Option("--map", "Columns", "Column of a role, or path into nested JSON, e.g. "
        "verdict=rating,item=question+turn; roles are item, cluster, judge, system, criterion, "
        "condition, order, repeat, run, label, rater, rater_kind, verdict, confidence, weight",
        repeated=True, metavar="ROLE=COLUMN,...", common=True),
    Option("--item", "Columns", "Columns that together name an item, e.g. question_id,turn",
        repeated=True, metavar="COLUMNS", common=True),
    Option("--factor", "Columns", "Columns whose values are conditions, e.g. prompt_version",
        repeated=True, metavar="COLUMNS"),
    Option("--ignore", "Columns", "Columns to leave out, e.g. id,time", repeated=True,
        metavar="COLUMNS"),
    Option("--judge", "Columns", "Name of the judge, where no column holds it, e.g. gpt-4o",
        metavar="NAME"),
    Option("--labels", "Labels", "File with human labels per item, e.g. labels.csv", kind="file",
        common=True),
    VALUES,
    Option("--pass", "Labels", "Words that mean pass, e.g. ship", repeated=True, metavar="WORDS"),
    Option("--fail", "Labels", "Words that mean fail, e.g. hold; rest stands for everything that "
        "--pass does not name", repeated=True, metavar="WORDS"),
    *ROWS,
)
"""How a table is read."""

def repeated_options(args: Args) -> list[str]:
    """The options on how a table is read, as they were given, for another command."""
    return given_options(TABLE, args)

DRAWN = Option("--labels-drawn", "Labels", "Sampling of the labelled items",
    choices=("random", "stratified", "by-verdict", "convenience"))

LEVEL = Option("--level", "Statistics", "Confidence of all claims together", kind="number",
    default=0.95)

TEXT = Option("--text", "Labels", "Column to show to raters (default: questions and answers, "
    "by name)", repeated=True, metavar="COLUMN")


JUDGED = Argument("file", "File of judgments, as analyze reads", kind="file")
