"""Seconds from a command to its result, with and without a report, as ratios to imports alone.

    python benchmarks/seconds.py --tree PATH --column before --write
    python benchmarks/seconds.py --write --quarto build/quarto/bin/quarto

Every command starts in an empty folder, so that it makes its own store and journal. The commands
take turns with a Python that imports mlflow, pandas and scipy.stats, which no run can do without;
CPU seconds and ratios hold on a busy machine where wall seconds do not. The audited file is
../shared/data/rewardbench2_k8/base_both_k8.jsonl.gz (1,730 questions x 4 answers x 8 scores, two
judges); without it those rows are left out.
"""

from __future__ import annotations

import compileall
import tempfile
from collections.abc import Callable
from pathlib import Path

from checkout import DOCS, PROJECT, Figures, about, arguments, heading, python, table, turns, update

AUDITED = PROJECT.parent / "shared" / "data" / "rewardbench2_k8" / "base_both_k8.jsonl.gz"
BESIDE = "import mlflow, pandas, scipy.stats"
BY_QUARTO = """
import os, sys
from pathlib import Path
from judgestats.cli import main
os.environ["PATH"] = sys.argv[1] + os.pathsep + os.environ["PATH"]
assert main(["run", "temperature"]) == 0
[page] = Path("mlruns").glob("*/*/artifacts/report.html")
assert 'content="quarto-' in page.read_text("utf-8"), "the built-in renderer served"
"""
KINDS = ("wall s", "CPU s", "wall ratio", "CPU ratio")


def commands(audited: Path, quarto: Path | None) -> dict[str, tuple[object, ...]]:
    """The words of every command timed, by the name of its row."""
    run = ("-m", "judgestats", "run", "temperature")
    rows: dict[str, tuple[object, ...]] = {
        BESIDE: ("-c", BESIDE),
        "run temperature, no report": (*run, "--report", "none"),
        "run temperature, no report, traces": (*run, "--report", "none", "--traces", "on"),
        "run temperature, HTML and PDF": run,
    }
    if quarto is not None:
        by_quarto = ("-c", BY_QUARTO, quarto.resolve().parent)
        rows["run temperature, HTML and PDF by Quarto"] = by_quarto
    if audited.exists():
        audit = ("-m", "judgestats", "analyze", audited, "--reader", "rewardbench2-k8")
        rows["analyze rewardbench2-k8, no report"] = (*audit, "--report", "none")
        rows["analyze rewardbench2-k8, HTML and PDF"] = audit
    return rows


def seconds(tree: Path, audited: Path, quarto: Path | None, repeats: int) -> dict[str, Figures]:
    """Wall and CPU seconds of each command, and their ratio to the imports' in the same run."""

    def timed(words: tuple[object, ...]) -> Callable[[], None]:
        def call() -> None:
            with tempfile.TemporaryDirectory() as folder:
                python(tree, *words, cwd=Path(folder))

        return call

    compileall.compile_dir(tree / "judgestats", quiet=2)
    timed(("-c", BESIDE))()
    calls = {name: timed(words) for name, words in commands(audited, quarto).items()}
    took = turns(calls, repeats, warm=False)
    beside = took[BESIDE]
    return {
        name: {
            "wall s": t["wall"],
            "CPU s": t["cpu"],
            "wall ratio": t["wall"] / beside["wall"],
            "CPU ratio": t["cpu"] / beside["cpu"],
        }
        for name, t in took.items()
    }


def page(columns: dict[str, Figures]) -> str:
    """The page as Markdown."""
    turns_taken = ", ".join(f"{name} {c['repeats']}" for name, c in columns.items())
    return f"""# From a command to its result

`python benchmarks/seconds.py --write` makes this page; `--tree PATH --column before` measures
another checkout by the same script. Medians of commands that took turns, each in an empty folder
(turns: {turns_taken}); the ratio is to `{BESIDE}` in the same run.
{heading(columns)}
Where the load is above the number of cores, read the CPU seconds and their ratio. A command is
one Python process, and typst's for a PDF. Every command makes a store of its own; its tables are
copied from the user's cache but for a machine's first run, which makes them there (some four CPU
seconds more).

One process against three, `run temperature` without a report, in turns under load 8: time to the
screen x 0.87, wall x 1.08, CPU x 1.10 (one turn). The rows below are of three processes.

{table(columns, "seconds", "command", KINDS)}
"""


def main() -> None:
    """Measure, print the page, and write it where asked to."""
    parser = arguments(__doc__)
    parser.add_argument("--repeats", type=int, default=3, help="turns of every command (3)")
    parser.add_argument("--audited", type=Path, default=AUDITED, help="the file to analyze")
    parser.add_argument("--quarto", type=Path, help="a quarto (.ci/real_quarto.py) beside ours")
    given = parser.parse_args()
    tree = given.tree.resolve()
    figures: Figures = {}
    if not given.page_only:
        figures = {
            "about": about(tree),
            "repeats": given.repeats,
            "seconds": seconds(tree, given.audited.resolve(), given.quarto, given.repeats),
        }
    text = page(update("seconds", given.column, figures, write=given.write))
    print(text)
    if given.write:
        (DOCS / "seconds.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
