"""Which reader reads a file: named, or recognised by what the file holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd

from judgestats.errors import InputError
from judgestats.judgments.readers.alpaca_eval import ALPACA_EVAL
from judgestats.judgments.readers.fastchat import FASTCHAT
from judgestats.judgments.readers.folder import read_folder
from judgestats.judgments.readers.inspect_logs import INSPECT
from judgestats.judgments.readers.judgekeeper import JUDGEKEEPER, JUDGEKEEPER_RECORDS
from judgestats.judgments.readers.lm_eval import LM_EVAL
from judgestats.judgments.readers.logs import Log, Reader, open_log
from judgestats.judgments.readers.mlflow_logs import MLFLOW, MLFLOW_TABLE
from judgestats.judgments.readers.promptfoo import PROMPTFOO
from judgestats.judgments.readers.rewardbench2 import read_rewardbench2_k8
from judgestats.judgments.readers.table_files import ENDINGS, NoTableError
from judgestats.judgments.readers.tables import read_table
from judgestats.judgments.schemas import validate_parsed

__all__ = ["LOGS", "read_judgments", "reader_names", "recognised"]

LOGS: Mapping[str, Reader] = {
    "inspect": INSPECT,
    "mlflow": MLFLOW,
    "mlflow-table": MLFLOW_TABLE,
    "promptfoo": PROMPTFOO,
    "lm-eval": LM_EVAL,
    "alpaca-eval": ALPACA_EVAL,
    "fastchat": FASTCHAT,
    "judgekeeper": JUDGEKEEPER,
    "judgekeeper-records": JUDGEKEEPER_RECORDS,
}
"""Readers of other tools' logs; each is recognised by what the file holds."""

_READERS: Mapping[str, Callable[[Path], pd.DataFrame]] = {
    "rewardbench2-k8": read_rewardbench2_k8,
}


def reader_names() -> tuple[str, ...]:
    """The readers that can be named.

    Examples
    --------
    >>> reader_names()
    ('table', 'inspect', 'mlflow', 'mlflow-table', 'promptfoo', 'lm-eval', 'alpaca-eval',
     'fastchat', 'judgekeeper', 'judgekeeper-records', 'rewardbench2-k8')
    """
    return ("table", *LOGS, *_READERS)


def recognised(log: Log) -> str:
    """The name of the reader that a file's content calls for; empty for a plain table or none."""
    return next((name for name, reader in LOGS.items() if reader.fits(log)), "")


def read_judgments(
    path: str | Path,
    *,
    reader: str = "auto",
    mapping: Mapping[str, str] | None = None,
    scale: tuple[float, float] | None = None,
    factors: tuple[str, ...] = (),
    judge: str = "",
) -> pd.DataFrame:
    """Read judgments that were made elsewhere into the validated judgments frame.

    Parameters
    ----------
    path : str or Path
        The file: a log of Inspect, MLflow, promptfoo, lm-evaluation-harness, AlpacaEval, FastChat
        or judgekeeper, or a table (CSV, TSV, JSON lines, JSON, Parquet). A folder is read as the
        logs of one tool that it holds.
    reader : str
        ``auto`` recognises the file by what it holds; otherwise one of ``reader_names()``.
    mapping : mapping of judgestats column to the file's column, optional
        The file is a table, and these are its columns; see the guide page for the names that are
        understood without one.
    scale : (low, high), optional
        The scale of the scores; a score outside it is an error. By default a reader's own scale,
        or none.
    factors : tuple of str
        For tables: further columns of the file that tell conditions apart.
    judge : str
        The judge's name, where the file does not tell it.

    Returns
    -------
    DataFrame
        The parsed frame: one row a judgment, whether it could be read or not. ``attrs["reader"]``
        names the reader, ``attrs["notes"]`` says what the file leaves open.

    Raises
    ------
    InputError
        The file, a column, a score or a repeated row cannot be used; the message says which.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name) / "my.csv"
    >>> _ = file.write_text("item,judge,trial,score\\na,J,1,7\\na,J,2,8\\nb,J,1,3\\nb,J,2,\\n")
    >>> frame = read_judgments(file)
    >>> frame["status"].tolist()
    ['ok', 'ok', 'ok', 'unparseable']
    >>> folder.cleanup()
    """
    path = Path(path)
    if not _there(path):
        raise InputError(f"there is no file {str(path)!r} (looked in {Path.cwd()}).")
    if reader not in {"auto", *reader_names()}:
        raise InputError(f"unknown reader {reader!r}. There are: {', '.join(reader_names())}.")
    if mapping or factors:
        if reader not in {"auto", "table"}:
            raise InputError(
                f"reader {reader!r} knows its own columns: leave mapping and factors out."
            )
        reader = "table"
    if path.is_dir():
        if reader in {"table", *_READERS}:
            raise InputError(f"{path} is a folder; name the file with the judgments.")
        reader, frame = read_folder(path, LOGS, reader=reader, judge=judge)
    else:
        reader, frame = _read_file(path, reader, mapping, factors, judge)
    attrs = {str(k): v for k, v in frame.attrs.items()}
    scale = scale or attrs.get("scale")
    frame = validate_parsed(frame, what=str(path), scale=scale)
    frame.attrs.update(
        {"notes": [], **attrs, "source": path.name, "scale": scale, "reader": reader}
    )
    return frame


def _there(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _read_file(
    path: Path,
    reader: str,
    mapping: Mapping[str, str] | None,
    factors: tuple[str, ...],
    judge: str,
) -> tuple[str, pd.DataFrame]:
    if reader == "table":
        return reader, read_table(path, mapping=mapping, factors=factors, judge=judge)
    if reader in _READERS:
        return reader, _READERS[reader](path)
    log = open_log(path, judge=judge)
    if reader != "auto":
        if not LOGS[reader].fits(log):
            raise InputError(
                f"{path} does not look like what the reader {reader} reads ({LOGS[reader].about}). "
                "Leave --reader out to have the file recognised."
            )
        return reader, LOGS[reader].read(log)
    name = recognised(log)
    if name:
        return name, LOGS[name].read(log)
    if path.name.lower().removesuffix(".gz").endswith(ENDINGS):
        try:
            return "table", read_table(path, judge=judge)
        except NoTableError as error:
            raise NoTableError(f"{error}\n{_understood()}") from error
    raise InputError(
        f"{path}: the file is not recognised, and the ending is not one of {', '.join(ENDINGS)}.\n"
        f"{_understood()}"
    )


def _understood() -> str:
    return (
        f"Recognised by what they hold: logs of {', '.join(LOGS)} (`judgestats analyze --help` "
        "names their files). Anything else is read as a table with one row a judgment: --map "
        "item_id=COLUMN,score=COLUMN (or choice=COLUMN) names its columns."
    )
