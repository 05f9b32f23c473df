"""What takes what: CPU seconds of the stages of two commands, by the profiler.

    python benchmarks/stages.py --write

Each command runs once in an empty folder under cProfile on CPU time, which makes Python code about
twice as slow: shares are to be compared, not seconds. Stages overlap: what a stage imports first is
in its own row and in that of the imports. The audited file is that of benchmarks/seconds.py.
"""

from __future__ import annotations

import argparse
import json
import os
import pstats
import subprocess
import sys
import tempfile
from pathlib import Path

from checkout import DOCS, PROJECT
from seconds import AUDITED

STAGES = {
    "everything in this process": ("cli.py", "main"),
    "imports, in all stages": ("<frozen importlib._bootstrap>", "_find_and_load"),
    "asking the judges": ("collection/single_answers.py", "collect_judgments"),
    "reading the file": ("readers/registry.py", "read_judgments"),
    "analysis of experiments": ("runner/run.py", "again"),
    "analysis of audits": ("analysis/audit.py", "audit_read"),
    "what every analysis gets": ("analysis/supplements.py", "supplemented"),
    "files of results": ("runner/record.py", "write_results"),
    "waiting for the process that writes the run": ("tracking/writer_process.py", "ask"),
    "report: waiting for what remains of it": ("runner/traces.py", "_attach"),
}
"""Rows of the table: end of the file and name of the function whose calls they are."""
PROFILED = """
import cProfile, json, pathlib, resource, sys, time
profile = cProfile.Profile(time.process_time)
profile.enable()
from judgestats.cli import main
code = main(json.loads(sys.argv[1]))
profile.disable()
profile.dump_stats("profile")
of = resource.getrusage(resource.RUSAGE_CHILDREN)
pathlib.Path("children").write_text(str(of.ru_utime + of.ru_stime))
sys.exit(code)
"""


def stages(words: list[str]) -> dict[str, float]:
    """CPU seconds of each stage of one command, and of the processes that it started."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PYTHONPATH": str(PROJECT)}
        command = [sys.executable, "-c", PROFILED, json.dumps(words)]
        subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
        stats = pstats.Stats(str(Path(folder) / "profile")).stats  # type: ignore[attr-defined]
        took = {
            name: sum(
                cumulative
                for (path, _, function), (_, _, _, cumulative, _) in stats.items()
                if path.endswith(file) and function == called
            )
            for name, (file, called) in STAGES.items()
        }
        took["processes it started (MLflow, cells, pandoc)"] = float(
            (Path(folder) / "children").read_text()
        )
    return took


def page(columns: dict[str, dict[str, float]]) -> str:
    """The page as Markdown."""
    whole = {name: next(iter(took.values())) for name, took in columns.items()}
    rows = [
        f"| {stage} | "
        + " | ".join(
            f"{took[stage]:.1f} ({100 * took[stage] / whole[name]:.0f} %)" if took[stage] else "-"
            for name, took in columns.items()
        )
        + " |"
        for stage in next(iter(columns.values()))
    ]
    return "\n".join(
        [
            "# What takes what",
            "",
            "`python benchmarks/stages.py --write` makes this page: CPU seconds under the profiler",
            "(about twice those without), and shares of all that the process itself does. Stages",
            "overlap: what a stage is the first to import counts in its row and in the imports'.",
            "The seconds that a user waits are in [seconds](seconds.md).",
            "",
            f"| stage | {' | '.join(columns)} |",
            f"|---|{'---|' * len(columns)}",
            *rows,
            "",
        ]
    )


def main() -> None:
    """Profile, print the page, and write it where asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks/stages.md")
    parser.add_argument("--audited", type=Path, default=AUDITED, help="the file to analyze")
    given = parser.parse_args()
    commands = {"`run temperature`": ["run", "temperature"]}
    if given.audited.exists():
        audit = ["analyze", str(given.audited.resolve()), "--reader", "rewardbench2-k8"]
        commands["`analyze` rewardbench2-k8"] = audit
    text = page({name: stages(words) for name, words in commands.items()})
    print(text)
    if given.write:
        (DOCS / "stages.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
