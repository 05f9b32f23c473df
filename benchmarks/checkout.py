"""Two checkouts measured by the same script: how each is run, and the page that shows both.

The figures stand in a JSON file beside the page, one entry a column (before, after), so that the
page is made anew from both whenever one is measured.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parents[1]
DOCS = PROJECT / "docs" / "benchmarks"
COLUMNS = ("before", "after")
Figures = dict[str, Any]


def arguments(description: str | None) -> argparse.ArgumentParser:
    """The options that every such script has."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tree", type=Path, default=PROJECT, help="the checkout to measure")
    parser.add_argument("--column", choices=COLUMNS, default="after")
    parser.add_argument(
        "--page-only", action="store_true", help="measure nothing: the page from figures kept"
    )
    parser.add_argument("--write", action="store_true", help="write the page in docs/benchmarks")
    return parser


def environment(tree: Path) -> dict[str, str]:
    """The checkout's package ahead of the one installed; no store, no keys, compiled bytecode."""
    unwanted = ("PYTHON", "MLFLOW_", "OPENAI_", "JUDGESTATS_")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(unwanted)}
    return kept | {
        "PYTHONPATH": str(tree.resolve()),
        "MPLBACKEND": "agg",
    }


def python(tree: Path, *words: object, cwd: Path) -> str:
    """What Python prints for these words; the command must succeed."""
    done = subprocess.run(
        [sys.executable, *map(str, words)],
        cwd=cwd,
        env=environment(tree),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"python {' '.join(map(str, words))}: {done.stderr[-2000:]}")
    return done.stdout


def turns(
    calls: Mapping[str, Callable[[], Any]], repeats: int, *, warm: bool = True
) -> dict[str, dict[str, float]]:
    """Median wall and CPU seconds of commands that take turns, after a round to warm up."""
    runs: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
    for number in range(repeats + warm):
        for name, call in calls.items():
            wall, cpu = time.perf_counter(), _children()
            call()
            if number >= warm:
                runs[name].append((time.perf_counter() - wall, _children() - cpu))
    return {
        name: {
            "wall": statistics.median(wall for wall, _ in pairs),
            "cpu": statistics.median(cpu for _, cpu in pairs),
        }
        for name, pairs in runs.items()
    }


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def about(tree: Path) -> Figures:
    """Version, commit, Python and load; the package that answers must be the checkout's."""
    code = "import judgestats; print(judgestats.__version__); print(judgestats.__file__)"
    version, file = python(tree, "-c", code, cwd=tree).split("\n")[:2]
    if not Path(file).is_relative_to(tree.resolve()):
        raise SystemExit(f"{tree} holds no judgestats: {file} answers.")
    commit = subprocess.run(
        ["git", "rev-parse", "--short=7", "HEAD"],
        cwd=tree,
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()
    return {
        "version": version,
        "commit": commit or "no commit",
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 1),
        "cores": os.cpu_count(),
        "renderer": "Quarto" if shutil.which("quarto") else "the built-in renderer",
    }


def update(name: str, column: str, figures: Figures, *, write: bool) -> dict[str, Figures]:
    """Both columns with this one's new figures; kept in the JSON file where asked to."""
    path = DOCS / f"{name}.json"
    stored = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    if figures:  # none where the page alone is asked for
        stored[column] = {**stored.get(column, {}), **figures}
    columns = {c: stored[c] for c in COLUMNS if c in stored}
    if write:
        path.write_text(json.dumps(columns, indent=1) + "\n", encoding="utf-8")
    return columns


def heading(columns: Mapping[str, Figures]) -> str:
    """What was measured, and under which load."""
    said = [
        f"*{name}*: {c['about']['version']} ({c['about']['commit']}), Python "
        f"{c['about']['python']}, {c['about']['cores']} cores, "
        f"load {c['about']['load']} before, {c['about']['renderer']}"
        for name, c in columns.items()
    ]
    return "; ".join(said) + "."


def table(columns: Mapping[str, Figures], section: str, first: str, kinds: Sequence[str]) -> str:
    """One row a thing measured, with each kind of figure before and after.

    Parameters
    ----------
    columns : mapping
        As `update` returns them.
    section : str
        The key under which each column keeps a mapping of row to mapping of kind to number.
    first : str
        Heading of the first column.
    kinds : sequence of str
    """
    parts = {name: column.get(section, {}) for name, column in columns.items()}
    rows = list(dict.fromkeys(row for part in parts.values() for row in part))
    heads = [f"{kind} {name}".strip() for kind in kinds for name in COLUMNS]
    lines = [f"| {first} | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
    for row in rows:
        cells = [
            _cell(parts.get(name, {}).get(row, {}).get(kind)) for kind in kinds for name in COLUMNS
        ]
        lines.append(f"| {row} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cell(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) else f"{value:.3g}"


def command_table(
    took: Mapping[str, Mapping[str, float]], memory: Mapping[str, float], *, base: str
) -> str:
    """Markdown table of commands: seconds, CPU as a multiple of one command's, peak memory."""
    lines = [
        "| command | wall s | CPU s | ratio of CPU to imports | peak MB |",
        "|---|---|---|---|---|",
    ]
    for label, t in took.items():
        peak = f"{memory[label]:.0f}" if label in memory else "-"
        ratio = t["cpu"] / took[base]["cpu"]
        lines.append(f"| {label} | {t['wall']:.2f} | {t['cpu']:.2f} | {ratio:.2f} | {peak} |")
    return "\n".join(lines)
