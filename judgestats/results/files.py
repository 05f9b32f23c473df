"""Writing and reading ``results.json``, validated against its schema both ways, and
``results.csv``.

pydantic is imported here when a file is written or read: the records themselves need none.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgestats.errors import InputError, guard_output
from judgestats.files.guarded import file_sha256, json_document
from judgestats.files.text import command_word, decode_json
from judgestats.results.quantities import quantity_of
from judgestats.results.records import Comparison, Estimate, Interval, Test, plain
from judgestats.results.results import VERSION, Results, inconsistency
from judgestats.sinks import rows_text

if TYPE_CHECKING:
    import pandas as pd


@cache
def _adapter() -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(Results)


def json_schema() -> dict[str, Any]:
    """The JSON Schema of ``results.json``, made from the types of the records."""
    schema: dict[str, Any] = _adapter().json_schema()
    whole = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": f"results.json of judgestats, version {VERSION}",
    }
    made: dict[str, Any] = plain(whole)  # a default of NaN is null
    return made


def to_plain(results: Results) -> dict[str, Any]:
    """Results as plain JSON values, validated against the schema.

    Raises
    ------
    ValueError
        A record contradicts the schema or another record: an error of the analysis.
    """
    plain_values: dict[str, Any] = plain(results)
    _checked(plain_values)
    return plain_values


def from_plain(values: Any, *, where: str = "results") -> Results:
    """Results from plain JSON values.

    Parameters
    ----------
    values : mapping
    where : str
        What an error names.

    Raises
    ------
    InputError
        They are of another version, or contradict the schema.
    """
    if not isinstance(values, dict) or not {"experiment", "results"} <= set(values):
        raise InputError(f"{where}: this was not written by judgestats: it holds no results.")
    version = values.get("version")
    if version is None:
        raise InputError(
            f"{where}: written by judgestats 0.1.0, whose results are prints and prose. "
            + _again(where)
        )
    if version != VERSION:
        raise InputError(
            f"{where}: version: {version!r} is not the version {VERSION} that this judgestats "
            "reads. Use the judgestats that wrote it, or a newer one."
        )
    values = {"finding": values.get("answer", ""), **values}  # 0.2.0 wrote answer and advice
    try:
        return _checked({k: v for k, v in values.items() if k not in {"answer", "recommendation"}})
    except ValueError as error:
        raise InputError(
            f"{where}: {_first(error)}. The file was changed after it was written. " + _again(where)
        ) from None


def _checked(values: dict[str, Any]) -> Results:
    results: Results = _adapter().validate_python(values)
    if wrong := inconsistency(results):
        raise ValueError(wrong)
    return results


def _first(error: ValueError) -> str:
    """Place and message of the first fault."""
    faults = getattr(error, "errors", None)
    if faults is None:
        return str(error)
    fault = faults()[0]
    place = ""
    steps = fault["loc"]
    if steps[:1] == ("results",):  # behind the index stands the kind, which is no place
        steps = (*steps[:2], *steps[3:])
    for step in steps:
        place += f"[{step}]" if isinstance(step, int) else f".{step}"
    return f"{place.removeprefix('.')}: {fault['msg'].removeprefix('Value error, ')}"


def _again(where: Path | str) -> str:
    judgments = command_word(Path(where).parent / "data" / "judgments.parquet")
    return (
        "Copy the file from the run's artifacts, or compute the results from the judgments next to "
        f"it: judgestats analyze {judgments}"
    )


def read_results(path: Path) -> Results:
    """Read ``results.json``.

    Parameters
    ----------
    path : Path

    Returns
    -------
    Results

    Raises
    ------
    InputError
        There is no such file; it is of another version, cut short, or was edited by hand. One
        sentence that names the file, the place and what to do.
    """
    return from_plain(read_values(path), where=str(path))


def read_values(path: Path) -> Any:
    """The JSON of ``results.json``, whatever its version.

    Raises
    ------
    InputError
        There is no such file, it is cut short or no JSON, or it is not what the run wrote.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}).") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: byte {error.start} is not UTF-8 text. {_again(path)}") from error
    try:
        values = decode_json(text, nan=False)
    except json.JSONDecodeError as error:
        cut = error.msg if text.rstrip().endswith("}") else "the file is cut short"
        raise InputError(
            f"{path}: line {error.lineno}, column {error.colno}: not JSON, {cut}. {_again(path)}"
        ) from error
    except ValueError as error:
        raise InputError(f"{path}: not JSON ({error}). {_again(path)}") from error
    if is_edited(path, path.parent):
        raise InputError(f"{path}: it is not the file that the run wrote. {_again(path)}")
    return values


def write_results(path: Path, results: Results) -> None:
    """Write ``results.json``, validated against its schema."""
    values = to_plain(results)
    text = json.dumps(values, indent=1, ensure_ascii=False, allow_nan=False)
    with guard_output(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8", newline="\n")
        if path.name == "results.json":
            note_digests(path.parent, [path])


MANIFEST = "manifest.json"
"""Digests of a run's frames and of its results, and the scale of its scores."""
_FARTHEST = 1e15
"""Ends of a scale lie below it; no text, NaN, or number of many digits is an end."""


def manifest_of(run: Path) -> dict[str, Any]:
    """What a run notes of its files; empty digests where it notes none."""
    path = run / MANIFEST
    noted = json_document(path) if path.is_file() else None
    if not isinstance(noted, dict) or not isinstance(noted.get("sha256"), dict):
        return {"sha256": {}, "scale": None}
    ends = noted.get("scale")
    numbers = [e for e in ends if isinstance(e, int | float)] if isinstance(ends, list) else []
    is_scale = len(numbers) == 2 and numbers == ends and all(abs(e) < _FARTHEST for e in numbers)
    return {**noted, "scale": ends if is_scale else None}


def note_digests(run: Path, files: Iterable[Path], **facts: Any) -> None:
    """Note digests of files, so that an edited one is refused later; others keep theirs.

    Parameters
    ----------
    run : Path
        The run's folder.
    files : iterable of Path
    **facts
        What else is noted.
    """
    noted = manifest_of(run)
    digests = {path.name: file_sha256(path) for path in files}
    document = {**noted, **facts, "sha256": {**noted["sha256"], **digests}}
    (run / MANIFEST).write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def is_edited(path: Path, run: Path) -> bool:
    """Whether a file of a run has another digest than the run noted; other files never are."""
    known = manifest_of(run)["sha256"].get(path.name)
    is_here = bool(known) and path.is_file()
    return is_here and file_sha256(path) != known


_CSV = (
    "id", "kind", "hypothesis", "role", "title", "judge", "stratum", "conditions", "slice",
    "a", "b", "estimand", "label", "unit", "estimate", "conf_low", "conf_high", "conf_level",
    "conf_method", "std_error", "null_mean", "null_q95", "statistic_symbol", "statistic", "df1",
    "df2", "p", "p_floor", "p_adjusted", "p_bound", "family", "held_to",
    "margin_low", "margin_high", "n_items", "n_clusters", "n_replications", "n_excluded", "method",
    "reason", "notes",
)  # fmt: skip


def csv_rows(results: Results) -> list[dict[str, Any]]:
    """One row an estimate, test or comparison: numbers at full precision."""
    return [
        _row(record)
        for record in results.results
        if isinstance(record, (Estimate, Test, Comparison))
    ]


def results_frame(results: Results) -> pd.DataFrame:
    """The rows of ``results.csv`` as a frame, with its columns; what is undefined is missing."""
    import pandas as pd

    return pd.DataFrame(csv_rows(results), columns=list(_CSV))


def _row(record: Estimate | Test | Comparison) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": record.id,
        "kind": record.kind,
        "hypothesis": record.hypothesis,
        "role": record.role,
        "title": record.title,
        "judge": record.about.judge,
        "stratum": record.about.stratum,
        "conditions": "; ".join(record.about.conditions),
        "slice": record.about.slice,
        "reason": record.reason,
        "notes": "; ".join(note.code for note in record.notes),
    }
    if record.sample is not None:
        names = ("n_items", "n_clusters", "n_replications", "n_excluded")
        row |= {name: getattr(record.sample, name) for name in names}
    if isinstance(record, (Estimate, Comparison)):
        entry = quantity_of(record.estimand)
        row |= {"estimand": entry.key, "label": entry.heading, "unit": entry.unit}
        row |= {"estimate": record.estimate, **_interval(record.interval)}
    if isinstance(record, Estimate):
        row |= {"std_error": record.std_error, "method": record.estimator}
        if record.null is not None:
            row |= {"null_mean": record.null.mean, "null_q95": record.null.q95}
            row |= {"p": record.null.p, "p_floor": record.null.p_floor}
        return row
    degrees = [*record.statistic.df.values(), None, None]
    row |= {"statistic_symbol": record.statistic.symbol, "statistic": record.statistic.value}
    row |= {"df1": degrees[0], "df2": degrees[1], "method": record.method}
    row |= {"p": record.p, "p_floor": record.p_floor, "p_adjusted": record.p_adjusted}
    row |= {"p_bound": record.p_bound}
    row["family"] = record.family
    if isinstance(record, Comparison):
        row |= {"a": record.a, "b": record.b, "held_to": record.held_to}
        if record.margin is not None:
            row |= {"margin_low": record.margin.low, "margin_high": record.margin.high}
    return row


def _interval(interval: Interval | None) -> dict[str, Any]:
    if interval is None:
        return {}
    return {
        "conf_low": interval.low,
        "conf_high": interval.high,
        "conf_level": interval.level,
        "conf_method": interval.method,
    }


def write_csv(path: Path, results: Results) -> None:
    """Write ``results.csv``; what is undefined is empty, never 0, and no text is a formula."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = ([plain(row.get(k, "")) for k in _CSV] for row in csv_rows(results))
    path.write_text(rows_text([_CSV, *rows]), encoding="utf-8", newline="")
