"""The ``judgestats`` command: words in, one clear sentence out when something is wrong.

Nothing heavy is imported until a subcommand needs it, so that ``--help`` answers at once.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from importlib import import_module

from judgestats.commands.show_words import add_show_words
from judgestats.commands.table_words import add_table_words
from judgestats.errors import InputError, JudgestatsError, nearest, printable
from judgestats.spelling import as_typed
from judgestats.version import __version__

__all__ = ["main"]

_RUN_EPILOG = """\
examples:
  judgestats run temperature                                    simulated judges, bundled items
  judgestats run temperature --judges gpt-4o-mini               needs OPENAI_API_KEY
  judgestats run temperature --base-url http://localhost:8000/v1 --judges my-model
  judgestats run temperature --items my.jsonl --prompt my.txt --dry-run
"""

_ANALYZE_EPILOG = """\
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
  judgestats analyze my.csv --kind pass-fail --pass yes --labels people.csv
  judgestats analyze wide.xlsx --wide 'gpt*,claude*'
  judgestats analyze 0123456789abcdef0123456789abcdef    judges' assessments of an MLflow run
"""


class _Parser(argparse.ArgumentParser):
    """argparse that reports wrong words as everything else is reported."""

    def error(self, message: str) -> None:  # type: ignore[override]
        raise InputError(f"{message}.{_meant(self, message)} See {self.prog} --help.")


def _meant(parser: argparse.ArgumentParser, message: str) -> str:
    """The hint behind a wrong word: the nearest command, choice or option."""
    choice = re.search(r"invalid choice: '(.*?)' \(choose from (.*)\)", message)
    if choice:
        return nearest(choice[1], re.findall(r"[\w-]+", choice[2]))
    unknown = re.search(r"unrecognized arguments: (--[\w-]+)", message)
    return nearest(unknown[1], _options(parser)) if unknown else ""


def _omega_model(command: argparse.ArgumentParser) -> None:
    """The model whose omega stands beside; declared before the data are seen."""
    command.add_argument(
        "--omega-model",
        default="parallel",
        choices=("parallel", "tau-equivalent", "congeneric"),
        help="model whose omega of repeated scores stands beside that of parallel replications",
    )


def _options(parser: argparse.ArgumentParser) -> list[str]:
    """The options of a command."""
    return [word for action in parser._actions for word in action.option_strings]


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="judgestats",
        description="How consistent, reliable, fair and human-like is an LLM judge?",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"judgestats {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)

    run = commands.add_parser(
        "run",
        help="run an experiment on a judge",
        epilog=_RUN_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        add_help=False,
        allow_abbrev=False,
    )
    run.add_argument("experiment", nargs="?", default="")

    analyze = commands.add_parser(
        "analyze",
        help="analyse judgments you already have",
        epilog=_ANALYZE_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    analyze.add_argument(
        "file",
        help="a log, a table (CSV, TSV, JSON lines, JSON, Parquet, Excel, SQLite), a folder of "
        "logs or of Parquet, an MLflow run id, or experiments:/NAME",
    )
    analyze.add_argument(
        "further", nargs="*", metavar="RUN", help="further MLflow runs, as repetitions of the first"
    )
    add_table_words(analyze)
    analyze.add_argument(
        "--stream",
        nargs="?",
        const="yes",
        default="auto",
        choices=("auto", "yes", "no"),
        help="count Parquet in one pass instead of loading it (auto: folders, and large files)",
    )
    analyze.add_argument(
        "--texts",
        choices=("on", "off"),
        default="on",
        help="off: the list of disagreements with people holds no reply",
    )
    analyze.add_argument(
        "--labels-drawn",
        default="",
        choices=("random", "stratified", "by-verdict", "convenience"),
        help="how the labelled items were chosen (stratified: by category); else as the labels' "
        "column chance shows, or random is assumed",
    )
    analyze.add_argument(
        "--mix", default="", metavar="CATEGORY=SHARE,...",
        help="shares of the categories in the traffic that corrected rates are for",
    )  # fmt: skip
    _omega_model(analyze)
    analyze.add_argument("--resamples", type=int, default=999)
    analyze.add_argument("--seed", type=int, default=0)
    analyze.add_argument("--report", default="html,pdf", help="formats, or none")
    analyze.add_argument(
        "--detail", choices=("brief", "full"), default="brief", help="of the report"
    )
    analyze.add_argument("--run-name", default="")
    analyze.add_argument(
        "--track",
        choices=("mlflow", "none"),
        default="mlflow",
        help="keep the audit as a run of MLflow; none: a report's files go to judgestats-reports/",
    )
    add_show_words(analyze)

    show = commands.add_parser(
        "show", help="show a run again, or one of its results in words", allow_abbrev=False
    )
    show.add_argument("run", help="an MLflow run id (or how it begins), or a run's folder")
    show.add_argument("result", nargs="*", metavar="ID", help="a result's id; one that begins so")
    add_show_words(show)

    report = commands.add_parser(
        "report", help="render the report of a run again, or compare several", allow_abbrev=False
    )
    report.add_argument(
        "run", nargs="+", help="an MLflow run id, or a run's folder; several are compared"
    )
    report.add_argument("--to", help="html, pdf, docx, md, tex (by default html,pdf)")
    report.add_argument(
        "--out", default="", help="folder (by default the current one), or one file such as x.html"
    )
    report.add_argument(
        "--detail",
        choices=("brief", "full"),
        default="brief",
        help="the answer and what it rests on, or all results",
    )
    report.add_argument("--document", default="", help="a document's name, or your own .qmd")
    report.add_argument("--template", default="", help="your own .qmd (judgestats template)")
    add_show_words(report)

    second = commands.add_parser(
        "second-opinion",
        help="recompute a run's numbers by independent packages",
        allow_abbrev=False,
    )
    second.add_argument("run", help="an MLflow run id, or a run's folder")
    second.add_argument("--out", default="", help="a CSV file for the table")

    template = commands.add_parser(
        "template",
        help="a report as a Quarto document of your own, to be edited",
        allow_abbrev=False,
    )
    template.add_argument("name", help="brief, experiment, audit or replication")
    template.add_argument("--run", required=True, help="an MLflow run id, or a run's folder")
    template.add_argument("--out", default="", help="folder (by default the current one)")

    simulate = commands.add_parser(
        "simulate", help="serve the simulated judges over HTTP", allow_abbrev=False
    )
    simulate.add_argument("--port", type=int, default=8099)
    simulate.add_argument("--host", default="127.0.0.1")
    simulate.add_argument(
        "--faults",
        default="",
        metavar="NAME=VALUE,...",
        help="how it misbehaves, as in latency_s=.2,rate_limited=.05",
    )

    drift = commands.add_parser(
        "drift", help="has a judge changed between two runs?", allow_abbrev=False
    )
    drift.add_argument("first", help="an MLflow run id, a run's folder, or a file of judgments")
    drift.add_argument("second", help="the later run, or file")
    drift.add_argument(
        "--pair",
        action="append",
        default=[],
        metavar="'FIRST -> SECOND'",
        help="conditions that belong together (repeat); by default those of the same name",
    )
    drift.add_argument(
        "--baseline",
        default="",
        metavar="RUN",
        help="the first run done again with nothing changed: changes are counted beyond its own",
    )
    drift.add_argument(
        "--fail-if-changed", action="store_true", help="exit 1 where a change is shown (for CI)"
    )
    drift.add_argument(
        "--anchors", default="", metavar="RUN",
        help="unchanged answers of the first run judged again today: tells the judge's change from "
        "the system's",
    )  # fmt: skip
    drift.add_argument("--labels", default="", metavar="FILE",
        help="people's labels of the first run's answers")  # fmt: skip
    drift.add_argument("--relabels", default="", metavar="FILE",
        help="today's labels of the anchors: have the people changed?")  # fmt: skip
    _omega_model(drift)
    drift.add_argument("--resamples", type=int, default=999)
    drift.add_argument("--seed", type=int, default=0)
    drift.add_argument("--out", default="", help="write the results to this JSON file too")
    add_show_words(drift)

    reread = commands.add_parser(
        "reread", help="read a run's stored replies again; nothing is asked", allow_abbrev=False
    )
    reread.add_argument("run", help="an MLflow run id, or a run's folder")
    reread.add_argument("--out", default="", help="write all differences to this CSV file")

    check = commands.add_parser(
        "check", help="exit 1 unless a run keeps its bounds (for CI)", allow_abbrev=False
    )
    check.add_argument("run", help="an MLflow run id")
    check.add_argument(
        "--min",
        action="append",
        default=[],
        metavar="NAME=NUMBER",
        help="a row of the screen (reliability), its estimand (icc_1_1) or a metric of the run "
        "(reliability/icc1) that must be at least so large (repeat)",
    )
    check.add_argument(
        "--max", action="append", default=[], metavar="NAME=NUMBER", help="or at most (repeat)"
    )
    check.add_argument(
        "--condition",
        action="append",
        default=[],
        metavar="NAME",
        help="only this condition, judge, or level of a factor, as T=0 (repeat)",
    )

    add_show_words(check, bounds=False)

    export = commands.add_parser(
        "export", help="judgments as training data for a judge of your own", allow_abbrev=False
    )
    export.add_argument("runs", nargs="+", metavar="RUN", help="MLflow run ids, or runs' folders")
    export.add_argument("--out", required=True, metavar="DIR", help="folder for the files")
    export.add_argument(
        "--mode",
        choices=("vanilla", "cce", "mixed", "any"),
        default="mixed",
        help="whose judgments: vanilla, crowd comparative, both, or all strategies",
    )
    export.add_argument("--correct", action="store_true", help="only those that agree with labels")
    export.add_argument("--consistent", action="store_true", help="only same in both orders")
    export.add_argument("--verdict-only", action="store_true", help="without the reasoning")
    export.add_argument("--ties", choices=("drop", "keep"), default="drop")
    export.add_argument(
        "--condition",
        action="append",
        default=[],
        metavar="NAME",
        help="only this condition, judge, or level of a factor, as T=0 (repeat)",
    )
    export.add_argument(
        "--balance", action="store_true", help="as many of each kind (vanilla, cce) as the least"
    )
    export.add_argument(
        "--prompt", default="", help="how the student is asked: a bundled prompt or a file"
    )
    export.add_argument(
        "--validation", type=float, default=0.1, help="share of questions held out (0.1)"
    )
    export.add_argument("--seed", type=int, default=0)
    export.add_argument("--overwrite", action="store_true")

    train = commands.add_parser(
        "train", help="fine-tune a judge on exported judgments (extra: train)", allow_abbrev=False
    )
    train.add_argument("data", help="a folder that `judgestats export` wrote, or a file of chats")
    train.add_argument("--model", required=True, help="a model's folder, or its name on the hub")
    train.add_argument("--out", required=True, metavar="DIR", help="a new folder for the judge")
    train.add_argument("--epochs", type=float, default=1.0)
    train.add_argument("--learning-rate", type=float, default=2e-5)
    train.add_argument("--batch-size", type=int, default=1)
    train.add_argument("--accumulate", type=int, default=8, help="steps before an update")
    train.add_argument("--max-length", type=int, default=4096, help="tokens; longer are left out")
    train.add_argument("--seed", type=int, default=0)

    coverage = commands.add_parser(
        "coverage",
        help="what of the responses do explanations attend to (extra: coverage)",
        allow_abbrev=False,
    )
    coverage.add_argument("run", help="an MLflow run id, or a run's folder")
    coverage.add_argument("--model", required=True, help="an encoder-decoder: folder or name")
    coverage.add_argument("--threshold", type=float, default=0.1)
    coverage.add_argument("--seed", type=int, default=0)
    coverage.add_argument("--out", default="", help="write one row a judgment to this CSV file")

    items = commands.add_parser(
        "items", help="published item sets: list, fetch, show a file", allow_abbrev=False
    )
    items.add_argument("action", choices=("list", "fetch", "show"))
    items.add_argument("name", nargs="?", default="", help="a set's name; for show also a file")
    items.add_argument("--out", default="", metavar="DIR", help="where to (data/NAME)")
    items.add_argument(
        "--overwrite", action="store_true", help="replace files that are there and are others"
    )
    items.add_argument("--map", action="append", default=[], metavar="FIELD=COLUMN")
    items.add_argument("--options", default="", help="as item_options: ties=drop,turn=1")

    labels = commands.add_parser(
        "labels", help="people's labels: how many, which, a page to give them", allow_abbrev=False
    )
    labels.add_argument("action", choices=("plan", "split", "collect"))
    labels.add_argument("file", nargs="?", default="", help="a table; for collect a labels file")
    labels.add_argument("--half-width", type=float, help="plan: how near, as in .05")
    labels.add_argument("--rates", default="", metavar="NAME=VALUE,...",
        help="plan: prevalence, sensitivity and specificity, or sd and correlation")  # fmt: skip
    labels.add_argument("--items", type=int, default=0, help="plan: items judged")
    labels.add_argument("--price", type=float, default=float("nan"), help="plan: of a label")
    labels.add_argument("--labels", type=int, default=0, help="plan: items to draw")
    labels.add_argument("--by", default="", metavar="COLUMN", help="plan: draw by verdict")
    labels.add_argument("--pilot", default="", metavar="LABELS",
        help="plan: labels at hand, whose rates are planned with (with --by)")  # fmt: skip
    labels.add_argument("--text", action="append", default=[], metavar="COLUMN",
        help="plan: a text to show (repeat)")  # fmt: skip
    labels.add_argument("--item", default="", metavar="COLUMN")
    labels.add_argument("--cluster", default="", metavar="COLUMN", help="split: the question")
    labels.add_argument("--validation", type=float, default=0.5, help="split: share held out")
    labels.add_argument("--out", default="", help="plan: the file (labels.csv)")
    labels.add_argument("--annotator", default="a1", help="collect: a pseudonym")
    labels.add_argument("--choices", default="pass,fail", help="collect: the words of a label")
    labels.add_argument("--port", type=int, default=0, help="collect: a free one by default")
    labels.add_argument("--seed", type=int, default=0)

    monitor = commands.add_parser(
        "monitor", help="running rates of a stream, with limits for every look", allow_abbrev=False
    )
    monitor.add_argument("file", help="a table of new judgments")
    monitor.add_argument("--state", required=True, metavar="FILE", help="kept from look to look")
    monitor.add_argument("--rate", action="append", default=[], metavar="NAME=COLUMN:WORD",
        help="share of a word; COLUMN: unread, COLUMN:=OTHER agreement (repeat)")  # fmt: skip
    monitor.add_argument("--cluster", default="", metavar="COLUMN")
    monitor.add_argument("--min", action="append", default=[], metavar="NAME=NUMBER")
    monitor.add_argument("--max", action="append", default=[], metavar="NAME=NUMBER")
    monitor.add_argument("--level", type=float, default=0.95)

    demo = commands.add_parser(
        "demo", help="the answer on recorded judgments of real judges", allow_abbrev=False
    )
    add_show_words(demo)

    endpoint = commands.add_parser(
        "endpoint", help="what an endpoint honours, ignores and refuses", allow_abbrev=False
    )
    endpoint.add_argument(
        "model", help="as in gpt-4o-mini, llama3@http://host:8000/v1, judges.yaml"
    )
    endpoint.add_argument("--base-url", default="")
    endpoint.add_argument("--prices", default="", help="a price file (YAML)")
    endpoint.add_argument("--out", default="", help="keep the card in this JSON file")
    endpoint.add_argument(
        "--against", default="", help="compare with this card: a file, or a run's id"
    )
    endpoint.add_argument(
        "--track", choices=("mlflow", "none"), default="mlflow", help="keep the card as a run"
    )

    journal = commands.add_parser(
        "journal", help="is a journal as it was written, and what did it cost?", allow_abbrev=False
    )
    journal.add_argument("action", choices=("verify",))
    journal.add_argument("file", nargs="?", default=".judgestats/journal.sqlite")
    journal.add_argument("--drop", action="store_true", help="take damaged answers out")

    doctor = commands.add_parser(
        "doctor",
        help="what is installed, or what a file of judgments holds and can answer",
        allow_abbrev=False,
    )
    doctor.add_argument("file", nargs="?", default="", help="a file of judgments")
    add_table_words(doctor)
    doctor.add_argument("--judges", default="", help="judges to ask, comma-separated")
    doctor.add_argument("--base-url", default="")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        By default the process's own arguments.

    Returns
    -------
    int
        0 on success, 2 on a wrong input or a fault outside, 130 after Ctrl-C.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        return _dispatch(words)
    except JudgestatsError as error:
        said = " ".join([str(error), *getattr(error, "__notes__", [])])
        sys.stderr.write(f"judgestats: {printable(as_typed(said))}\n")
        return error.exit_code
    except KeyboardInterrupt as stop:
        said = str(stop) or "stopped; run the same command again to go on where it stopped."
        sys.stderr.write(f"\njudgestats: {printable(said)}\n")
        return 130
    except BrokenPipeError:
        # The reader of our output (head, less) has gone: that is not a failure of ours.
        sys.stderr.close()
        return 0


def _dispatch(words: list[str]) -> int:
    parser = _parser()
    if not words:
        parser.print_help()
        return 0
    if words[0] == "run":
        from judgestats.commands.run import run_command

        return run_command(words[1:])
    arguments, unknown = parser.parse_known_args(words)
    if not arguments.command:
        parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    chosen = _COMMANDS[arguments.command]
    if unknown:
        commands = next(a for a in parser._actions if a.dest == "command")
        own: _Parser = commands.choices[arguments.command]  # type: ignore[index]
        own.error(f"unrecognized arguments: {' '.join(unknown)}")
    if arguments.command == "doctor" and arguments.file:
        chosen = _COMMANDS["doctor FILE"]
    module, function = chosen.split(":")
    run: Callable[[argparse.Namespace], int] = getattr(import_module(module), function)
    return run(arguments)


_COMMANDS = {
    name: f"judgestats.commands.{place}"
    for name, place in {
        "analyze": "analyze:analyze_command",
        "report": "report:report_command",
        "template": "template:template_command",
        "show": "show:show_command",
        "simulate": "simulate:simulate_command",
        "drift": "drift:drift_command",
        "reread": "reread:reread_command",
        "check": "check:check_command",
        "second-opinion": "second_opinion:second_opinion_command",
        "export": "export:export_command",
        "train": "train:train_command",
        "coverage": "train:coverage_command",
        "items": "items:items_command",
        "labels": "labels:labels_command",
        "monitor": "monitor:monitor_command",
        "demo": "demo:demo_command",
        "journal": "journal:journal_command",
        "endpoint": "endpoint:endpoint_command",
        "doctor": "doctor:doctor_command",
        "doctor FILE": "doctor_file:doctor_file",
    }.items()
}
"""Where each command stands; imported when it is needed."""
