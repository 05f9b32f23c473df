"""Does the lock resolve for every supported Python? ``python benchmarks/pythons.py --write``.

Asks pip, for each Python, whether requirements.lock can be installed as it stands: every package by
the pinned version, as a wheel for that Python, but for those that exist as source only. Nothing is
installed. ``--write`` writes the table of docs/stability.md.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from packaging.markers import Marker
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "requirements.lock"
PAGE = ROOT / "docs" / "stability.md"
PYTHONS = {"3.11": "3.11.9", "3.12": "3.12.9", "3.13": "3.13.5", "3.14": "3.14.0"}
"""Each with a patch that stands for it: the lock's markers ask for more than 3.11."""
SOURCE_ONLY = ("factor-analyzer",)
"""Packages without any wheel; pure Python, so that each Python builds them alike."""
BEGIN, END = "<!-- written by benchmarks/pythons.py --write -->", "<!-- end -->"


def pinned(full: str) -> str:
    """The lock's lines for one Python; pip would ask the markers of the Python that runs it."""
    where = {"python_full_version": full, "python_version": full.rpartition(".")[0]}
    blocks = re.split(r"\n(?=[a-z0-9])", LOCK.read_text(encoding="utf-8"), flags=re.IGNORECASE)
    lines = []
    for block in blocks:
        name, marked, rest = block.partition(" ; ")
        marker, _, hashes = rest.partition(" \\\n")
        if not marked:
            lines.append(block)
        elif Marker(marker).evaluate(where):
            lines.append(f"{name} \\\n{hashes}")
    return "\n".join(lines)


def resolved(python: str) -> tuple[list[str], str]:
    """What pip would install for a Python, and its last words where it cannot."""
    options = ["--dry-run", "--ignore-installed", "--no-deps", "--require-hashes", "--quiet"]
    options += ["--ignore-requires-python"]  # pip would ask the Python that runs it; see below
    kinds = ["--only-binary", ":all:", "--no-binary", ",".join(SOURCE_ONLY)]
    with tempfile.TemporaryDirectory() as folder:
        report, lock = Path(folder, "report.json"), Path(folder, "requirements.txt")
        full = PYTHONS[python]
        lock.write_text(pinned(full), encoding="utf-8")
        place = ["--python-version", full, "--target", folder, "--report", str(report)]
        pip = [sys.executable, "-m", "pip", "install"]
        done = subprocess.run(
            [*pip, *options, *kinds, *place, "-r", str(lock)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR: ")]
            return [], errors[-1].removeprefix("ERROR: ") if errors else "pip gave no reason"
        listed = json.loads(report.read_text(encoding="utf-8"))["install"]
    for one in listed:
        wants = one["metadata"].get("requires_python", "")
        if not SpecifierSet(wants).contains(full):
            return [], f"{one['metadata']['name']} wants Python {wants}"
    return [one["download_info"]["url"].rpartition("/")[2] for one in listed], ""


def row(python: str) -> str:
    """A Python's line of the table."""
    files, why = resolved(python)
    if why:
        return f"| {python} | no: {why} | | | |"
    wheels = [name for name in files if name.endswith(".whl")]
    pure = sum(name.endswith("-any.whl") for name in wheels)
    source = [name for name in files if not name.endswith(".whl")]
    built = ", ".join(re.sub(r"\.(tar\.gz|zip)$", "", name) for name in source) or "none"
    return f"| {python} | yes, {len(files)} packages | {pure} | {len(wheels) - pure} | {built} |"


def table(rows: list[str]) -> str:
    """The table as Markdown."""
    head = ["| Python | the lock resolves | wheels for any Python | for this one | from source |"]
    return "\n".join([*head, "|---|---|---|---|---|", *rows])


def main() -> int:
    """Print the table, or write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--python", action="append", choices=PYTHONS, help="these only")
    words = parser.parse_args()
    with ThreadPoolExecutor() as pool:  # pip waits for the index most of the time
        made = table(list(pool.map(row, words.python or PYTHONS)))
    print(made)
    if words.write:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        after = rest.partition(END)[2]
        PAGE.write_text(f"{before}{BEGIN}\n\n{made}\n\n{END}{after}", encoding="utf-8")
    return 0 if "| no: " not in made else 1


if __name__ == "__main__":
    sys.exit(main())
