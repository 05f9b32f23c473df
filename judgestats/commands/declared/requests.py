"""``judgestats requests``: what is missing of a run, for a batch runner."""

from __future__ import annotations

from judgestats.commands.table import Command, Option

_EPILOG = """\
then an experiment with its parameters (judgestats run EXPERIMENT --help lists them), or a
run and the parameters that are changed of it

examples:
  judgestats requests temperature --judges my-model@http://gpus/v1 --items my.jsonl
  judgestats requests RUN --parts 8
  vllm run-batch -i requests.jsonl -o results.jsonl --model my-model
  judgestats ingest results.jsonl
  judgestats run temperature --judges my-model@http://gpus/v1 --items my.jsonl --mode offline
"""

COMMAND = Command(
    "requests:requests_command",
    (
        Option(
            "--to",
            "the file to be written; several judges or parts add to its name",
            default="requests.jsonl",
            kind="file",
            metavar="FILE",
        ),
        Option("--parts", "files to split it into, for a cluster", kind="whole", default=1),
    ),
    epilog=_EPILOG,
    open=True,
    completes="run:completions",
)
