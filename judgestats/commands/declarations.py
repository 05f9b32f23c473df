"""Every command as data: what it takes, how its help describes it, which function does it.

The first six commands are those that ``judgestats --help`` explains; it names the others.
"""

from __future__ import annotations

from collections.abc import Mapping

from judgestats.commands import collection_declarations, options
from judgestats.commands.arguments import Argument, Command, Option

FRONT = ("analyze", "run", "drift", "check", "labels", "report")
"""Commands that ``judgestats --help`` explains."""

# fmt: off
# A table: an option in one line where it fits.
_ANALYZE = Command(
    "Analyse judgments you already have", "audit:analyze_command",
    (
        Argument("file", "Log, table (CSV, TSV, JSON, JSON lines, Parquet, Excel, SQLite), "
            "folder of logs or of Parquet files, MLflow run id, or experiments:/NAME", kind="file"),
        Argument("further", "More MLflow runs, as repeats of the first", many="any", metavar="RUN"),
        *options.TABLE,
        Option("--labels-drawn", "Labels", "Sampling of the labelled items; by default "
            "that of the labels' column chance, else random",
            choices=("random", "stratified", "by-verdict", "convenience")),
        Option("--mix", "Statistics", "Shares of categories in production, for "
            "corrected rates, e.g. chat=.8,code=.2", metavar="CATEGORY=SHARE,..."),
        Option("--sensitivity", "Statistics", "TPR of another study and its number of "
            "labels, e.g. 137/149 or .92/149, to correct the pass rate without labels",
            metavar="CORRECT/LABELS"),
        Option("--specificity", "Statistics", "TNR of another study, e.g. 43/51 or .84/51",
            metavar="CORRECT/LABELS"),
        Option("--beside", "Statistics", "Scores of the same systems, to compare their "
            "ranking with that by pairwise preferences, e.g. scores.csv", kind="file"),
        Option("--specs", "Statistics", "Make each comparison under every declared choice "
            "(specification curve)", kind="switch"),
        Option("--joint", "Statistics", "With --specs, one p over all combinations of choices",
            kind="switch"),
        options.DUPLICATES,
        *options.RESAMPLING,
        *options.DECISION,
        *options.RESULTS,
        Option("--report", "Output", "Formats of the report, e.g. html,docx, or none",
            default="html,pdf", metavar="FORMATS", common=True),
        Option("--detail", "Output", "Length of the report", default="brief",
            choices=("brief", "full")),
        Option("--texts", "Output", "Replies in the list of disagreements with labels",
            default="on", choices=("on", "off")),
        Option("--crosscheck", "Output", "Recompute headline numbers with other packages "
            "(auto: where results are kept)", default="auto", choices=("auto", "yes", "no")),
        Option("--run-name", "Output", "Name of the MLflow run, e.g. release-7",
            metavar="NAME"),
        Option("--track", "Advanced", "Where results are kept; none writes reports to "
            "judgestats-reports/", default="mlflow", choices=("mlflow", "none")),
        Option("--stream", "Advanced", "One pass over Parquet or CSV instead of loading it; "
            "auto does so for folders and large files", default="auto",
            choices=("auto", "yes", "no"), alone="yes"),
        Option("--engine", "Advanced", "Where files of a large folder are read: loky:4 "
            "(processes), dask://HOST:PORT (machines that see the folder)", default="local",
            metavar="ENGINE"),
    ),
    examples=(
        "judgestats analyze my.csv",
        "judgestats analyze logs/",
        "judgestats analyze my.csv --map score=rating,item_id=prompt_id --scale 1-10",
        "judgestats analyze my.csv --values 'ship=pass,hold=fail' --labels people.csv",
        "judgestats analyze my.csv --sensitivity 137/149 --specificity 43/51",
        "judgestats analyze wide.xlsx --wide 'gpt*,claude*'",
        "judgestats analyze 0123456789abcdef0123456789abcdef",
    ),
    details="""\
Formats that are recognised (docs/readers.md):
  Inspect logs (.eval, .json)          MLflow traces, eval_results_table.json
  promptfoo results (JSON, database)   lm-evaluation-harness samples_*.jsonl
  AlpacaEval annotations.json          FastChat *_single.jsonl, *_pair.jsonl
  judgekeeper run-NN.jsonl             DeepEval test runs, ragas results
  JudgeBench outputs, RewardBench      Label Studio's JSON export
  any other table with one row per judgment
""",
)


_DECIDE = Command(
    "Decide on a cut-off, on automation, and on a panel",
    examples=("judgestats decide cutoff scores.csv --labels labels.csv --tpr .9 --tnr .8",),
    actions={
        "cutoff": Command(
            "Certify cut-offs by their TPR and TNR", "decide:cutoff_command",
            (
                options.JUDGED,
                *options.TABLE,
                options.DRAWN,
                Option("--tpr", "Statistics", "Required TPR, e.g. .9", kind="number", default=0.8,
                    common=True),
                Option("--tnr", "Statistics", "Required TNR, e.g. .8", kind="number", default=0.8,
                    common=True),
                Option("--cost", "Statistics", "Cost of a missed pass and of a false pass, e.g. "
                    "fn=3,fp=1", metavar="fn=COST,fp=COST"),
                Option("--cutoff", "Statistics", "Stated cut-off to describe, e.g. 7",
                    kind="number", default=None),
                Option("--lower-is-better", "Statistics", "A low score is good", kind="switch"),
                Option("--prevalence", "Statistics", "Share of passes that the cost is for, e.g. "
                    ".7 (default: that of the labels)", kind="number", default=None),
                options.LEVEL,
                options.seed_option("Seed of folds and redraws"),
                *options.RESULTS,
            ),
            examples=(
                "judgestats decide cutoff scores.csv --labels labels.csv --tpr .9 --tnr .8",
                "judgestats decide cutoff scores.csv --labels labels.csv --cost fn=3,fp=1",
                "judgestats decide cutoff scores.csv --labels labels.csv --require cutoff_exists",
            ),
        ),
        "panel": Command(
            "Estimate the effective votes of several judges", "decide:panel_command",
            (
                options.JUDGED,
                *options.TABLE,
                options.DRAWN,
                Option("--price", "Statistics", "Prices per item, of which the dearest judge goes "
                    "first, e.g. cheap=1,dear=10", metavar="NAME=PRICE,..."),
                Option("--margin", "Statistics", "Loss of accuracy that does not matter, e.g. .01",
                    kind="number", default=0.01),
                options.LEVEL,
                *options.RESULTS,
            ),
            examples=("judgestats decide panel votes.csv --labels labels.csv",),
        ),
        "automate": Command(
            "Certify which verdicts need no human", "decide:automate_command",
            (
                options.JUDGED,
                *options.TABLE,
                options.DRAWN,
                Option("--error", "Statistics", "Largest error rate of automated verdicts, or mean "
                    "score error as a share of the scale, e.g. .05", kind="number", default=0.05,
                    common=True),
                Option("--per-class", "Statistics", "Certify passes and fails separately",
                    kind="switch"),
                Option("--price", "Statistics", "Prices per item of judges and humans: a cascade, "
                    "e.g. cheap=1,dear=10,human=200", metavar="NAME=PRICE,..."),
                Option("--strict", "Statistics", "Tune the cascade on half of the labels and test "
                    "it on the other half", kind="switch"),
                Option("--cutoff", "Statistics", "Score from which an item passes, e.g. 7",
                    kind="number", default=None),
                options.LEVEL,
                Option("--out", "Output", "CSV file with one row per item: who decides it, e.g. "
                    "routes.csv", metavar="FILE"),
                *options.RESULTS,
            ),
            examples=(
                "judgestats decide automate verdicts.csv --labels labels.csv --error .05",
                "judgestats decide automate verdicts.csv --labels labels.csv --out routes.csv",
            ),
        ),
    },
)



_DRIFT = Command(
    "Compare two runs and test for drift", "drift:drift_command",
    (
        Argument("first", "MLflow run id, folder of a run, or file of judgments", kind="file"),
        Argument("second", "The later run or file", kind="file"),
        *options.TABLE,
        *(
            Option(f"--{side}-options", "Input", f"Options on how the {side} file alone is read, "
                "e.g. '--map verdict=rating'", metavar="OPTIONS")
            for side in ("first", "second")
        ),
        Option("--pair", "Input", "Conditions to compare, e.g. 'T=0 -> T=1'; by default "
            "those of the same name", repeated=True, metavar="'FIRST -> SECOND'"),
        Option("--baseline", "Input", "Repeat of the first run with nothing changed; "
            "only larger changes count", kind="file", metavar="RUN"),
        options.DUPLICATES,
        *options.RESAMPLING,
        *options.RESULTS,
        Option("--target", "Statistics", "Items that estimate, interval, and p hold for",
            default="new-items", choices=("new-items", "these-items")),
        Option("--margin", "Statistics", "Change of the mean or rate that counts as none, "
            "e.g. .05 (default: .05 of rates, 5% of the scale of scores)", kind="number",
            default=float("nan")),
        Option("--fail-if-changed", "Output", "Exit code 1 if a change is found, for CI",
            kind="switch", common=True),
        Option("--fail-unless-same", "Output", "Exit code 1 if a change is found, 3 if "
            "equality is not shown", kind="switch"),
        Option("--out", "Output", "JSON file for the results, or folder that also gets "
            "the judgments, e.g. drift.json", metavar="FILE|DIR"),
    ),
    examples=(
        "judgestats drift before.csv after.csv",
        "judgestats drift FIRST_RUN SECOND_RUN --fail-if-changed",
    ),
)

_COMPARE = Command(
    "Compare runs or files with the first of them", "show:compare_command",
    (
        Argument("run", "MLflow run ids (or their beginnings), folders of runs, or files of "
            "judgments; the first is the reference", many="some", kind="file"),
        *options.RESAMPLES,
        *options.SHOWN,
    ),
    examples=("judgestats compare FIRST_RUN SECOND_RUN",),
)

_CHECK = Command(
    "Decide whether a judge may be used, for CI", "check:check_command",
    (
        Argument("file", "File of judgments (as analyze reads), MLflow run id, or folder of a run",
            kind="file"),
        *(o._replace(help="Only this judge, as one verdict, e.g. gpt-4o")
            if o.flag == "--judge" else o for o in options.TABLE),
        *options.DECISION,
        options.REQUIRE,
        Option("--at", "Input", "Only this condition, judge, or level of a factor, e.g. T=0.7",
            repeated=True, metavar="FACTOR=LEVEL"),
        Option("--condition", "Advanced", "Former name of --at", repeated=True, metavar="NAME"),
        Option("--criterion", "Input", "Only this criterion, e.g. accuracy", metavar="NAME"),
        options.DRAWN,
        Option("--tail", "Statistics", "Limit that decides the SEM and ICC(1,1); strict allows "
            "for far replies not seen", default="plain", choices=("plain", "strict")),
        Option("--strict", "Output", "Fail on USE WITH CARE, too", kind="switch"),
        Option("--allow", "Output", "Outcome that passes nevertheless", repeated=True,
            choices=("cannot-tell",), common=True),
        *options.SHOWN,
    ),
    examples=(
        "judgestats check verdicts.csv --labels labels.csv",
        "judgestats check verdicts.csv --labels labels.csv --require tpr=.9,tnr=.8",
        "judgestats check RUN --require icc_1_1=.8,unparsed=.02 --at T=0.7",
    ),
    details="""\
Exit code 0 if every subject passes, 1 if one fails, 2 if the input is refused,
3 for CANNOT TELL, 4 after an internal error.
""",
)

_LABELS = Command(
    "Plan, split, collect, and export human labels",
    examples=("judgestats labels plan my.csv --labels 200",),
    actions={
        "plan": Command(
            "Plan how many items to label, or draw them", "labels:plan_command",
            (
                Argument("file", "Table of judgments", kind="file", many="optional"),
                Option("--items", "Input", "Number of judged items, e.g. 5000", kind="whole",
                    default=None),
                *(option for option in options.TABLE if option.flag != "--labels"),
                Option("--labels", "Labels", "Number of items to draw, e.g. 200", kind="whole",
                    default=None),
                Option("--by", "Labels", "Column of verdicts to stratify the draw by, e.g. verdict",
                    metavar="COLUMN"),
                Option("--pilot", "Labels", "File of labels whose rates the plan uses, with "
                    "--by, e.g. pilot.csv", metavar="FILE"),
                options.TEXT,
                Option("--half-width", "Statistics", "Half width of the 95% CI to reach, e.g. .05",
                    kind="number", default=None),
                Option("--rates", "Statistics", "Expected rates, e.g. "
                    "prevalence=.7,sensitivity=.9,specificity=.8, or sd and correlation",
                    metavar="NAME=VALUE,..."),
                Option("--price", "Statistics", "Price per label, e.g. 0.50", kind="number",
                    default=float("nan")),
                options.seed_option("Seed of the draw"),
                Option("--out", "Output", "File to write (default: labels.csv)", metavar="FILE"),
            ),
            examples=(
                "judgestats labels plan my.csv --labels 200",
                "judgestats labels plan my.csv --half-width .05 --rates sd=1.2,correlation=.7",
            ),
        ),
        "split": Command(
            "Split labels into a part to tune on and one to validate on", "labels:split_command",
            (
                Argument("file", "Table of labels", kind="file"),
                Option("--item", "Columns", "Column that names the item, e.g. id",
                    metavar="COLUMN"),
                Option("--cluster", "Columns", "Column whose items stay together, e.g. question_id",
                    metavar="COLUMN"),
                Option("--validation", "Statistics", "Share to validate on", kind="number",
                    default=0.5),
                options.seed_option("Seed of the split"),
            ),
            examples=("judgestats labels split labels.csv --cluster question_id",),
        ),
        "next": Command(
            "Choose the items to label next, with a bound on the saving",
            "decide:next_command",
            (
                Argument("file", "File of judgments, as analyze reads", kind="file"),
                *options.TABLE,
                Option("--budget", "Statistics", "Labels in all, in four batches, e.g. 200",
                    kind="whole", default=200),
                Option("--until", "Statistics", "Width of the 95% CI at which to stop, e.g. "
                    "'width<=.1' (in quotes, for the shell)", metavar="width<=WIDTH"),
                options.TEXT,
                options.seed_option("Seed of the order, the same for all batches"),
                Option("--out", "Output", "File to write (default: labels-next.csv, then "
                    "labels-next-2.csv)",
                    metavar="FILE"),
                *options.RESULTS,
            ),
            examples=(
                "judgestats labels next my.csv --budget 200",
                "judgestats labels next my.csv --labels labels-next.csv --budget 200",
            ),
        ),
        "collect": Command(
            "Collect labels on a local web page", "labels:collect_command",
            (
                Argument("file", "Labels file, as labels plan writes it", kind="file"),
                Option("--annotator", "Labels", "Pseudonym of the rater", default="a1",
                    metavar="NAME"),
                Option("--choices", "Labels", "Words of a label", default="pass,fail",
                    metavar="WORD,..."),
                Option("--out", "Output", "File to send to a rater instead of serving the page, "
                    "e.g. label.html", kind="file"),
                Option("--port", "Advanced", "Port of the page; 0 is a free one", kind="whole",
                    default=0),
            ),
            examples=("judgestats labels collect labels.csv --annotator ann",),
        ),
        "export": Command(
            "Write labels from the web page into their file", "labels:export_command",
            (Argument("file", "Labels file, e.g. labels.csv", kind="file"),),
            examples=("judgestats labels export labels.csv",),
        ),
    },
)

_REPORT = Command(
    "Render the report of a run, or compare several runs", "show:report_command",
    (
        Argument("run", f"{options.RUN}; several are compared", kind="file", many="some"),
        Option("--document", "Input", "Name of a bundled document (brief, experiment, audit, "
            "compare, replication), or your own .qmd file, e.g. mine.qmd; a copy to edit is "
            "written there if it is not found", metavar="NAME|FILE.qmd"),
        options.REQUIRE,
        Option("--to", "Output", "Formats: html, pdf, docx, md, tex (default: html,pdf)",
            default=None, metavar="FORMATS"),
        Option("--out", "Output", "Folder, or one file, e.g. report.html (default: .)",
            kind="file"),
        Option("--detail", "Output", "Summary with its evidence, or all results", default="brief",
            choices=("brief", "full")),
        Option("--methods", "Output", "Methods section and reporting checklist instead of the "
            "report: printed, or written to FILE, e.g. methods.md (.md, .tex, .docx)", alone="-",
            metavar="[FILE]"),
        *options.SHOWN,
    ),
    examples=(
        "judgestats report RUN",
        "judgestats report RUN --to docx --detail full --out reports",
        "judgestats report FIRST_RUN SECOND_RUN --out comparison.html",
        "judgestats report RUN --methods methods.md",
    ),
)

_DOCTOR = Command(
    "Check the installation, a file of judgments, or a journal", "doctor:doctor_command",
    (
        Argument("file", "File of judgments or journal; none: the installation", kind="file",
            many="optional"),
        Option("--judges", "Installation", "Judges to call once, e.g. gpt-4o-mini,sim-typical"),
        Option("--base-url", "Installation", "Address of the server, e.g. "
            "http://localhost:8000/v1"),
        Option("--timeout", "Installation", "Seconds per call", kind="number", default=30.0),
        Option("--drop", "Journal", "Remove damaged answers", kind="switch"),
        Option("--json", "Output", "The reading of the file as one JSON document", kind="switch"),
        *options.TABLE,
    ),
    examples=(
        "judgestats doctor",
        "judgestats doctor my.csv",
        "judgestats doctor .judgestats/journal.sqlite",
    ),
)




_MONITOR = Command(
    "Track rates of a stream with anytime-valid limits", "monitor:monitor_command",
    (
        Argument("file", "Table of new judgments", kind="file"),
        Option("--state", "Input", "File that keeps the judgments, e.g. monitor.db", kind="file",
            required=True),
        Option("--rate", "Input", "Rate to track: share of a word, e.g. pass=verdict:pass; "
            "NAME=COLUMN: is the unparsed rate, NAME=COLUMN:=OTHER the agreement of two columns",
            repeated=True, metavar="NAME=COLUMN:WORD"),
        Option("--cluster", "Input", "Column whose rows belong together, e.g. user",
            metavar="COLUMN"),
        Option("--anchors", "Input", "File of anchors judged before, which separates a change of "
            "the judge from one of the system, e.g. anchors.csv", kind="file"),
        Option("--tolerance", "Statistics", "Smallest change that raises an alarm, as a share of "
            "the range", kind="number", default=0.02),
        Option("--reopen", "Input", "Use the file as a new reference for today's judge",
            kind="switch"),
        Option("--plan", "Output", "Print the periods until a judge change is detected",
            kind="switch"),
        Option("--per-period", "Statistics", "Anchors rejudged per period, for --plan",
            kind="whole", default=20),
        Option("--label", "Columns", "Column of anchors with human pass / fail labels, in the word "
            "of --rate or as 0 and 1", metavar="COLUMN"),
        Option("--criteria", "Statistics", "Criteria monitored at once with anchors, which share "
            "the error, e.g. 3", kind="whole", default=1),
        Option("--chart", "Output", "File for the chart of both processes, e.g. change.svg",
            metavar="FILE"),
        Option("--json", "Output", "One JSON document", kind="switch"),
        options.REQUIRE._replace(
            help="Threshold of a rate, e.g. 'pass>=.8' (in quotes, for the shell); with anchors "
            "judge_changed=no"),
        Option("--level", "Statistics", "Confidence level over all updates", kind="number",
            default=0.95),
        *options.TABLE,
    ),
    examples=(
        "judgestats monitor today.csv --state monitor.db --rate pass=verdict:pass",
        "judgestats monitor today.csv --state monitor.db --anchors old.csv --rate p=verdict:pass",
    ),
)


_VIEW = Command(
    "Show every judgment on an interactive page", "view:view_command",
    (
        Argument("file", f"{options.RUN}, or file of judgments (as analyze reads)", kind="file"),
        *(o._replace(help="File with human labels per item, or decisions that the page saved, "
            "e.g. labels.csv") if o.flag == "--labels" else o for o in options.TABLE),
        Option("--cutoff", "Statistics", "Score from which an item passes, e.g. 6", kind="number",
            default=float("nan")),
        Option("--out", "Output", "File to write", kind="file", default="explore.html",
            common=True),
        Option("--texts", "Output", "Texts of items and replies in the page", default="on",
            choices=("on", "off"), common=True),
        Option("--max-mb", "Output", "Size of the page in MB above which texts are left out",
            kind="number", default=20.0),
        Option("--open", "Output", "Open the page in a browser (default: on a terminal)",
            kind="switch"),
        Option("--no-open", "Output", "Only write the page", kind="switch"),
    ),
    examples=(
        "judgestats view RUN",
        "judgestats view my.csv --labels people.csv --out explore.html",
    ),
)

COMMANDS: Mapping[str, Command] = {
    "analyze": _ANALYZE,
    "run": collection_declarations.RUN_COMMAND,
    "drift": _DRIFT,
    "check": _CHECK,
    "labels": _LABELS,
    "decide": _DECIDE,
    "report": _REPORT,
    "doctor": _DOCTOR,
    "show": Command(
        "Show a run again, or one of its results", "show:show_command",
        (
            Argument("run", options.RUN, kind="file"),
            Argument("result", "Id of a result, or its beginning", many="any", metavar="ID"),
            Option("--out", "Output", "CSV file for a table, e.g. crosscheck.csv",
                metavar="FILE"),
            *options.RESULTS,
        ),
        examples=("judgestats show RUN", "judgestats show RUN crosscheck"),
    ),
    "view": _VIEW,
    "card": Command(
        "Write the verdict on one judge as a picture (SVG) or JSON", "show:card_command",
        (
            Argument("run", options.RUN, kind="file"),
            Option("--judge", "Input", "Judge or condition, if there are several, e.g. gpt-4o",
                metavar="NAME", common=True),
            Option("--out", "Output", "File to write, card.svg or card.json", kind="file",
                default="card.svg", common=True),
        ),
        examples=("judgestats card RUN --out card.svg",),
    ),
    "push": Command(
        "Send vote share and flip probability to an eval platform", "push:push_command",
        (
            Argument("file", "File as for analyze, or MLflow run id", kind="file"),
            Argument("further", "More MLflow runs, as repeats", many="any", metavar="RUN"),
            *options.TABLE,
            Option("--to", "Output", "Platform", choices=("mlflow", "langfuse", "phoenix"),
                required=True, common=True),
            Option("--yes", "Output", "Send the scores; without it they are only counted",
                kind="switch", common=True),
            Option("--ledger", "Output", "File of what was sent", kind="file",
                default="judgestats-push.db"),
            Option("--json", "Output", "One JSON document, nothing else", kind="switch"),
        ),
        examples=("judgestats push my.csv --map trace_id=trace --to langfuse",),
    ),
    "demo": Command(
        "Analyse recorded judgments of real judges", "demo:demo_command",
        options.RESULTS,
        examples=("judgestats demo",),
    ),
    "compare": _COMPARE,
    "items": collection_declarations.ITEMS,
    "endpoint": collection_declarations.ENDPOINT,
    "export": collection_declarations.EXPORT,
    "requests": collection_declarations.REQUESTS,
    "monitor": _MONITOR,
    "reparse": Command(
        "Parse the stored replies of a run again, without calls", "requests:reparse_command",
        (
            Argument("run", options.RUN, kind="file"),
            Option("--out", "Output", "CSV file for all differences, e.g. changed.csv",
                metavar="FILE"),
        ),
        examples=("judgestats reparse RUN",),
    ),
    "mcp": Command(
        "Serve verdicts to agents by the Model Context Protocol", "mcp:mcp_command",
        (
            Option("--root", "Input", "Folder that files are read from (default: the current "
                "one)", repeated=True, metavar="FOLDER"),
        ),
        examples=("judgestats mcp --root .",),
    ),
    "simulate": Command(
        "Serve the simulated judges over HTTP", "run:simulate_command",
        (
            Option("--port", "Advanced", "Port of the server", kind="whole", default=8099),
            Option("--host", "Advanced", "Address to listen on", default="127.0.0.1"),
            Option("--faults", "Advanced", "Faults to simulate, e.g. "
                "latency_s=.2,rate_limited=.05", metavar="NAME=VALUE,..."),
        ),
        examples=("judgestats simulate --port 8099",),
    ),
}
"""Commands of ``judgestats``, those in front first."""


PROGRAMS: Mapping[str, Mapping[str, Command]] = {
    "judgestats": COMMANDS,
    "python -m judgestats.training": collection_declarations.TRAINING,
}
"""Programs by the command that starts them."""
