"""The same run gives the same bytes: in another process, folder, time zone and locale."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

RENDER = """
import sys
from judgestats.reporting.renderer import render_report
render_report(sys.argv[1], to=("html", "pdf"), out_dir=sys.argv[2], renderer="builtin",
              detail="full")
"""


def test_same_bytes_elsewhere(report: dict[str, Path], run_folder: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "a folder elsewhere"
    elsewhere.mkdir()
    environment = os.environ | {
        "TZ": "Pacific/Auckland", "LC_ALL": "C.UTF-8", "LANG": "de_DE.UTF-8",
        "PYTHONHASHSEED": "77", "COLUMNS": "40", "MPLBACKEND": "svg", "HOME": str(elsewhere),
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", RENDER, str(run_folder), str(tmp_path / "again")],
        cwd=elsewhere, env=environment, capture_output=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    for kind in ("html", "pdf"):
        again = (tmp_path / "again" / f"report.{kind}").read_bytes()
        assert again == report[kind].read_bytes(), kind
