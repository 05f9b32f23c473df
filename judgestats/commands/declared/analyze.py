"""``judgestats analyze``: analyse judgments you already have."""

from __future__ import annotations

from judgestats.commands.declared.shared import OMEGA_MODEL, SHOW_AND_BOUNDS, TABLE
from judgestats.commands.table import Argument, Command, Option

_EPILOG = """\
recognised by what they hold (docs/readers.md):
  Inspect logs (.eval, .json)          MLflow traces with assessments, eval_results_table.json
  promptfoo results (JSON, database)   lm-evaluation-harness samples_*.jsonl
  AlpacaEval annotations.json          FastChat *_single.jsonl, *_pair.jsonl
  judgekeeper run-NN.jsonl             DeepEval test runs, ragas results
  JudgeBench outputs, RewardBench      Label Studio's JSON export
  anything else: a table, one row a judgment

examples:
  judgestats analyze logs/
  judgestats analyze my.csv --map score=rating,item_id=prompt_id --scale 1-10
  judgestats analyze my.csv --values 'ship=pass,hold=fail' --labels people.csv
  judgestats analyze my.csv --sensitivity 137/149 --specificity 43/51
  judgestats analyze pairs.csv --beside scores.csv
  judgestats analyze wide.xlsx --wide 'gpt*,claude*'
  judgestats analyze 0123456789abcdef0123456789abcdef    judges' assessments of an MLflow run
"""

COMMAND = Command(
    "audit:analyze_command",
    (
        Argument(
            "file",
            "a log, a table (CSV, TSV, JSON lines, JSON, Parquet, Excel, SQLite), a folder of "
            "logs or of Parquet, an MLflow run id, or experiments:/NAME",
            kind="file",
        ),
        Argument(
            "further",
            "further MLflow runs, as repetitions of the first",
            many="any",
            metavar="RUN",
        ),
        *TABLE,
        Option(
            "--stream",
            "count Parquet in one pass instead of loading it (auto: folders, and large files)",
            default="auto",
            choices=("auto", "yes", "no"),
            alone="yes",
        ),
        Option(
            "--texts",
            "off: the list of disagreements with people holds no reply",
            default="on",
            choices=("on", "off"),
        ),
        Option(
            "--labels-drawn",
            "how the labelled items were chosen (stratified: by category); else as the labels' "
            "column chance shows, or random is assumed",
            choices=("random", "stratified", "by-verdict", "convenience"),
        ),
        Option(
            "--mix",
            "shares of the categories in the traffic that corrected rates are for",
            metavar="CATEGORY=SHARE,...",
        ),
        Option(
            "--sensitivity",
            "of another study with its number of labels, as in 137/149 or .92/149; with "
            "--specificity it corrects the pass rate where there are no labels",
            metavar="RIGHT/LABELS",
        ),
        Option(
            "--specificity",
            "of another study, as in 43/51 or .84/51",
            metavar="RIGHT/LABELS",
        ),
        Option(
            "--beside",
            "scores of the same systems (a column model or system): their order beside that by "
            "verdicts on pairs",
            kind="file",
            metavar="FILE",
        ),
        OMEGA_MODEL,
        Option("--resamples", kind="whole", default=999),
        Option("--seed", kind="whole", default=0),
        Option("--report", "formats, or none", default="html,pdf"),
        Option("--detail", "of the report", default="brief", choices=("brief", "full")),
        Option(
            "--crosscheck",
            "recompute headline numbers by other packages (auto: where results are kept)",
            default="auto",
            choices=("auto", "yes", "no"),
        ),
        Option("--run-name"),
        Option(
            "--track",
            "keep the audit as a run of MLflow; none: a report's files go to judgestats-reports/",
            default="mlflow",
            choices=("mlflow", "none"),
        ),
        *SHOW_AND_BOUNDS,
    ),
    epilog=_EPILOG,
)
