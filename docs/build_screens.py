"""Screens in the documentation, as the commands print them.

    python docs/build_screens.py            # run the commands, write what they print
    python docs/build_screens.py --check    # CI: pages show what the commands print

A page marks a place with ``<!-- screen: COMMAND -->`` and ``<!-- end screen -->``; the text between
is written here. The commands ask no judge and write no run.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLACE = re.compile(r"(<!-- screen: (judgestats [^\n]*?) -->\n).*?(<!-- end screen -->)", re.DOTALL)


def environment() -> dict[str, str]:
    """The same width, encoding, and settings on every machine."""
    own = ("JUDGESTATS_", "MLFLOW_", "OPENAI_", "PYTHON", "FORCE_COLOR", "LC_", "LANG")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(own)}
    fixed = {"PYTHONPATH": str(ROOT), "PYTHONUTF8": "1", "COLUMNS": "100", "NO_COLOR": "1"}
    return kept | fixed


def screen(command: str) -> str:
    """What a command prints on standard output, in a folder with the data of docs/data."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "docs" / "data", folder, dirs_exist_ok=True)
        done = subprocess.run(
            [sys.executable, "-m", *command.split()],
            cwd=folder,
            env=environment(),
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
    if done.returncode > 1:  # 1: a gate failed, or a change is shown
        sys.exit(f"{command}: {done.stderr}")
    return done.stdout.strip("\n")


def update_screens(text: str, screens: dict[str, str]) -> str:
    """A page with its screens as they are now; each command is run once."""

    def one(found: re.Match[str]) -> str:
        command = found[2]
        if command not in screens:
            screens[command] = screen(command)
        return f"{found[1]}```\n{screens[command]}\n```\n{found[3]}"

    return PLACE.sub(one, text)


def pages() -> list[Path]:
    """The pages that show a screen."""
    every = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in every if "<!-- screen: " in page.read_text(encoding="utf-8")]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    screens: dict[str, str] = {}
    for page in pages():
        text = page.read_text(encoding="utf-8")
        fresh = update_screens(text, screens)
        if check and fresh != text:
            sys.exit(f"{page.relative_to(ROOT)} shows an old screen: python docs/build_screens.py")
        page.write_text(fresh, encoding="utf-8", newline="\n")
    if not screens:
        sys.exit("no page shows a screen")
