"""The run's files: what is written before the first call, and what after the last."""

from __future__ import annotations

import json
import platform
import re
import sys
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import pandas as pd

from judgestats.analysis.outcome import Analysis
from judgestats.protocols.reading import READER_VERSION
from judgestats.results import write_csv
from judgestats.results import write_results as write_records
from judgestats.results.values import spreadsheet_cell
from judgestats.stats.inference.result import to_plain
from judgestats.version import __version__

_PACKAGES = (
    "mlflow",
    "openai",
    "statsmodels",
    "scipy",
    "pingouin",
    "factor-analyzer",
    "numpy",
    "pandas",
    "pandera",
)
_UNSAFE = re.compile(r"[^A-Za-z0-9_.=-]+")


def file_name(text: str) -> str:
    """A name that is safe as a file's.

    Examples
    --------
    >>> file_name("gpt-4o, T=0.5")
    'gpt-4o_T=0.5'
    """
    return _UNSAFE.sub("_", text).strip("_.")[:120] or "unnamed"


def write_json(path: Path, value: Any) -> None:
    """Write plain JSON, keys in their order, NaN as null."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(to_plain(value), indent=1, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")


def session(**more: str) -> dict[str, Any]:
    """What the numbers were computed with, and `more`; no name of a machine, user or folder."""
    return {
        "judgestats": __version__,
        "reader": READER_VERSION,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "packages": _loaded(tracked=bool(more.get("run_id"))),
        **{name: value for name, value in more.items() if value},
    }


def _loaded(*, tracked: bool) -> dict[str, str]:
    """Versions of the packages in use so far: what is merely installed computed nothing.

    MLflow may be in use in another process.
    """
    return {
        package: metadata.version(package)
        for package in _PACKAGES
        if package.replace("-", "_") in sys.modules or (tracked and package == "mlflow")
    }


def write_tables(folder: Path, tables: Mapping[str, pd.DataFrame]) -> None:
    """Write tables as CSV at full precision; no text in them is a formula of a spreadsheet."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        safe = table.rename(columns=spreadsheet_cell).map(spreadsheet_cell)
        safe.to_csv(folder / f"{file_name(name)}.csv", index=False)


def write_results(
    folder: Path, analysis: Analysis, about: Mapping[str, Any], *, run_id: str = ""
) -> None:
    """Write results.json, the tables behind it, and what computed them in session.json.

    Parameters
    ----------
    folder : Path
        The run's folder.
    analysis : Analysis
    about : mapping
        What the analysis does not know: judges, design, account, command.
    run_id : str
        The run of MLflow that keeps them.
    """
    records = analysis.records(about)
    write_records(folder / "results.json", records)
    write_csv(folder / "results.csv", records)
    frames = [
        named.result.tidy().assign(result=named.id, role=named.role) for named in analysis.results
    ]
    rows = [frame.astype(object) for frame in frames if len(frame)]
    tables = {"conditions": analysis.conditions}
    if rows:
        tables["results"] = pd.concat(rows, ignore_index=True)
    write_tables(folder / "tables", tables)
    kept = folder / "session.json"
    if kept.is_file():  # written before the first judgment, when no analysis was imported yet
        before = json.loads(kept.read_text(encoding="utf-8"))
        write_json(kept, before | session(run_id=run_id))
    for name, text in analysis.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
