"""Commands that ask judges, export judgments, and train: what they take."""

from __future__ import annotations

from collections.abc import Mapping

from judgestats.commands.arguments import Argument, Command, Option
from judgestats.commands.options import RESULTS, RUN

# fmt: off
# A table: an option in one line where it fits.
_EXPERIMENT = "EXPERIMENT [--PARAMETER VALUE]..."

RUN_COMMAND = Command(
    "Run an experiment on a judge", "run:run_command",
    RESULTS,
    examples=(
        "judgestats run temperature",
        "judgestats run temperature --judges gpt-4o-mini --items my.jsonl --dry-run",
    ),
    open=_EXPERIMENT,
    completes="run:completions",
    explains=True,
)

ITEMS = Command(
    "List, fetch, and show published item sets",
    examples=("judgestats items list",),
    actions={
        "list": Command(
            "List the published sets, or the files of one", "demo:list_command",
            (
                Argument("name", "Name of a set, e.g. mtbench", many="optional"),
            ),
            examples=("judgestats items list",),
        ),
        "fetch": Command(
            "Download a published set and verify it", "demo:fetch_command",
            (
                Argument("name", "Name of a set, e.g. mtbench"),
                Option("--out", "Output", "Folder (default: data/NAME)", kind="folder"),
                Option("--overwrite", "Output", "Replace files that differ", kind="switch"),
            ),
            examples=("judgestats items fetch mtbench",),
        ),
        "show": Command(
            "Describe the items of a set or a file", "demo:show_command",
            (
                Argument("name", "File, name of a set, or bank", kind="file"),
                Option("--map", "Columns", "Column of a field, e.g. question=prompt", repeated=True,
                    metavar="FIELD=COLUMN"),
                Option("--options", "Columns", "Options of a published set, e.g. ties=drop,turn=1",
                    metavar="NAME=VALUE,..."),
            ),
            examples=("judgestats items show my.jsonl --map question=prompt",),
        ),
    },
)

REQUESTS = Command(
    "Write requests for a batch runner, and read its answers",
    examples=("judgestats requests export temperature --items my.jsonl",),
    actions={
        "export": Command(
            "Write the requests that a run still needs", "requests:export_command",
            (
                Option("--to", "Output", "File to write; several judges or parts extend its name",
                    default="requests.jsonl", kind="file"),
                Option("--parts", "Output", "Number of files, for a cluster", kind="whole",
                    default=1),
            ),
            details="""\
EXPERIMENT is one of `judgestats run`, with its parameters, or the id of a run,
with the parameters that change. `judgestats run EXPERIMENT --help` lists them.
""",
            examples=(
                "judgestats requests export temperature --judges my-model@http://gpus/v1",
                "judgestats requests export RUN --parts 8",
                "vllm run-batch -i requests.jsonl -o results.jsonl --model my-model",
                "judgestats requests import results.jsonl",
                "judgestats run temperature --judges my-model@http://gpus/v1 --mode offline",
            ),
            open=_EXPERIMENT,
            completes="run:completions",
        ),
        "import": Command(
            "Read a batch runner's answers into the journal", "requests:import_command",
            (
                Argument("results", "Files of answers (JSON lines in OpenAI's form), or folders "
                    "of them", kind="file", many="some", metavar="FILE"),
                Option("--journal", "Output", "Journal of the run",
                    default=".judgestats/journal.sqlite", kind="file"),
            ),
            examples=("judgestats requests import results.jsonl",),
        ),
    },
)

EXPORT = Command(
    "Export judgments as training data", "requests:export_judgments_command",
    (
        Argument("runs", RUN, kind="file", many="some", metavar="RUN"),
        Option("--out", "Output", "Folder for the files, e.g. export", kind="folder",
            required=True),
        Option("--overwrite", "Output", "Replace files that exist", kind="switch"),
        Option("--mode", "Training data", "Strategies to include: vanilla, crowd comparative "
            "(cce), both, or any", default="mixed", choices=("vanilla", "cce", "mixed", "any")),
        Option("--correct", "Training data", "Only judgments that agree with the label",
            kind="switch"),
        Option("--consistent", "Training data", "Only judgments equal in both orders",
            kind="switch"),
        Option("--condition", "Training data", "Only this condition, judge, or level of a "
            "factor, e.g. T=0", repeated=True, metavar="NAME"),
        Option("--balance", "Training data", "Equal numbers per strategy", kind="switch"),
        Option("--validation", "Training data", "Share of questions held out", kind="number",
            default=0.1),
        Option("--seed", "Training data", "Seed of the split", kind="whole", default=0),
    ),
    examples=(
        "judgestats export RUN --out training --correct",
    ),
)

ENDPOINT = Command(
    "Test what a model's endpoint supports", "run:endpoint_command",
    (
        Argument("model", "Model, e.g. gpt-4o-mini or llama3@http://host:8000/v1, or judges.yaml"),
        Option("--base-url", "Input", "Address of the server, e.g. http://localhost:8000/v1"),
        Option("--timeout", "Input", "Seconds per call", kind="number", default=60.0),
        Option("--prices", "Input", "Price file (YAML), e.g. prices.yaml", metavar="FILE"),
        Option("--out", "Output", "JSON file for the card, e.g. card.json", metavar="FILE"),
        Option("--track", "Output", "Where the card is kept", default="mlflow",
            choices=("mlflow", "none")),
    ),
    examples=("judgestats endpoint llama3 --base-url http://localhost:8000/v1",),
)

TRAINING: Mapping[str, Command] = {
    "train": Command(
        "Fine-tune a judge on exported judgments (extra: train)", "requests:train_command",
        (
            Argument("data", "Folder that `judgestats export` wrote, or file of chats",
                kind="file"),
            Option("--model", "Input", "Folder of a model, or its name on the hub",
                required=True),
            Option("--max-length", "Input", "Longest example in tokens; longer ones are "
                "left out", kind="whole", default=4096),
            Option("--epochs", "Training", "Passes over the examples", kind="number",
                default=1.0),
            Option("--learning-rate", "Training", "Learning rate", kind="number",
                default=2e-05),
            Option("--batch-size", "Training", "Examples per step", kind="whole", default=1),
            Option("--accumulate", "Training", "Steps per update", kind="whole", default=8),
            Option("--seed", "Training", "Seed of training", kind="whole", default=0),
            Option("--out", "Output", "New folder for the judge, e.g. judge", kind="folder",
                required=True),
        ),
        examples=("python -m judgestats.training train training --model NAME --out judge",),
    ),
    "coverage": Command(
        "Measure what explanations attend to (extra: coverage)", "requests:coverage_command",
        (
            Argument("run", RUN, kind="file"),
            Option("--model", "Input", "Folder or name of an encoder-decoder", required=True),
            Option("--threshold", "Statistics", "Attention that counts as covered",
                kind="number", default=0.1),
            Option("--seed", "Statistics", "Seed of the comparison", kind="whole", default=0),
            Option("--out", "Output", "CSV file with one row per judgment", metavar="FILE"),
        ),
        examples=("python -m judgestats.training coverage RUN --model NAME",),
    ),
}
"""Commands of ``python -m judgestats.training``."""
