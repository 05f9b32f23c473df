"""One's own judgments: CSV, JSON lines or Parquet, one row a judgment, with a column mapping."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

import pandas as pd

from judgestats.errors import InputError
from judgestats.judgments.readers.frame import parsed_frame
from judgestats.judgments.readers.table_files import NoTableError, table_of
from judgestats.protocols.base import Status

__all__ = ["ALIASES", "read_table"]

ALIASES: Mapping[str, tuple[str, ...]] = {
    "item_id": ("item", "id", "item_id", "question_id", "prompt_id", "example_id", "index"),
    "judge": ("judge", "judge_model", "judge_name", "rater", "annotator", "evaluator", "model"),
    "score": ("score", "rating", "grade", "judgment", "judgement"),
    "choice": ("choice", "verdict", "winner", "preference", "pick"),
    "replicate": ("replicate", "replication", "repetition", "repeat", "trial", "rep", "run"),
    "cluster": ("cluster", "question", "group"),
    "temperature": ("temperature", "temp"),
    "order": ("order", "position", "swap", "swapped"),
    "category": ("category", "task", "subset"),
    "status": ("status",),
    "label": ("label", "human", "human_label", "gold", "human_winner", "human_score"),
    "explanation": ("explanation", "reasoning", "rationale"),
    "raw_text": ("raw_text", "raw", "completion", "reply"),
    "reason": ("reason",),
    "cost_usd": ("cost_usd", "cost"),
    "tokens_in": ("tokens_in", "prompt_tokens"),
    "tokens_out": ("tokens_out", "completion_tokens"),
}
"""Column names that are understood without a mapping, best first."""

_NAMES = ("item_id", "judge", "cluster", "category", "order")
_FREE = ("explanation", "raw_text", "reason")


def read_table(
    path: Path,
    *,
    mapping: Mapping[str, str] | None = None,
    factors: tuple[str, ...] = (),
    judge: str = "",
) -> pd.DataFrame:
    """Read one's own judgments into the parsed frame.

    Parameters
    ----------
    path : Path
        A table with one row a judgment.
    mapping : mapping of judgestats column to the file's column
        For columns whose names are not understood by themselves (see ``ALIASES``).
    factors : tuple of str
        Further columns of the file that tell conditions apart (a prompt's name, a guideline).
    judge : str
        The judge's name, where the file has no column for it.

    Returns
    -------
    DataFrame
        A row without a readable verdict keeps its row: its status says so.

    Raises
    ------
    InputError
        A missing mapped column, no column with a verdict, or an empty file.
    """

    def kept_as_written(header: pd.DataFrame) -> Collection[str]:
        found = resolve_columns(path, header, mapping or {})
        return {*factors, *(found[n] for n in (*_NAMES, *_FREE) if n in found)}

    table = table_of(path, kept_as_written)
    if table.empty:
        raise InputError(f"{path}: the file holds no judgments.")
    names = resolve_columns(path, table, mapping or {})
    for factor in factors:
        if factor not in table.columns:
            raise _no_column(path, factor, "factor", table)
    out = pd.DataFrame({ours: table[theirs] for ours, theirs in names.items()})
    out["item_id"] = _text(out["item_id"])
    out["cluster"] = _text(out["cluster"]) if "cluster" in out else out["item_id"]
    out["judge"] = _text(out["judge"]) if "judge" in out else (judge or "judge")
    for column in ("order", "category", "explanation", "raw_text", "reason", "label"):
        if column in out:
            out[column] = _text(out[column])
    if "temperature" in out:
        out["temperature"] = _numbers(path, out["temperature"], names["temperature"])
    else:
        out["temperature"] = float("nan")
    for column in ("cost_usd", "tokens_in", "tokens_out"):
        if column in out:
            out[column] = _numbers(path, out[column], names[column])
    for factor in factors:
        out[f"factor_{factor}"] = _text(table[factor])
    out = _with_status(path, out, names)
    columns = tuple(f"factor_{f}" for f in factors)
    frame = parsed_frame(out, factors=columns)
    frame.attrs["columns_read"] = dict(names)
    return frame


def resolve_columns(path: Path, table: pd.DataFrame, mapping: Mapping[str, str]) -> dict[str, str]:
    """Which column of the file stands for which of ours."""
    unknown = sorted(set(mapping) - set(ALIASES))
    if unknown:
        raise InputError(
            f"mapping: {', '.join(unknown)} is no column of judgestats. Map one of: "
            f"{', '.join(ALIASES)} (as in score=my_column)."
        )
    for ours, theirs in mapping.items():
        if theirs not in table.columns:
            raise _no_column(path, theirs, ours, table)
    names = dict(mapping)
    taken = set(mapping.values())
    lower = {str(c).lower(): str(c) for c in table.columns}
    for ours, candidates in ALIASES.items():
        if ours in names:
            continue
        hit = next((lower[c] for c in candidates if c in lower and lower[c] not in taken), None)
        if hit is not None:
            names[ours] = hit
            taken.add(hit)
    if "item_id" not in names:
        raise _no_column(path, "item_id", "item_id", table)
    if "score" not in names and "choice" not in names:
        raise _no_column(path, "score", "score (or choice)", table)
    return names


def _no_column(path: Path, wanted: str, ours: str, table: pd.DataFrame) -> NoTableError:
    have = ", ".join(map(str, list(table.columns)[:30]))
    key = ours.split(" ", 1)[0]
    return NoTableError(
        f"{path}: there is no column {wanted!r} to serve as {ours}. The file has: {have}. "
        f"Name the right one with --map {key}=COLUMN (in Python: mapping={{'{key}': 'COLUMN'}})."
    )


def _text(column: pd.Series) -> pd.Series:
    missing = column.isna()
    values = column.astype(object)
    if pd.api.types.is_float_dtype(column) and (column.dropna() % 1 == 0).all():
        values = column.dropna().astype("int64").astype(object).reindex(column.index)
    return values.map(str).mask(missing, "").astype(object)


def _numbers(path: Path, column: pd.Series, name: str) -> pd.Series:
    numbers = pd.to_numeric(column, errors="coerce")
    bad = column.notna() & numbers.isna()
    if bad.any():
        row = int(bad.to_numpy().argmax())
        raise InputError(
            f"{path}: column {name!r} holds {str(column.iloc[row])[:40]!r} in row {row}, which is "
            "no number."
        )
    return numbers.astype(float)


def _with_status(path: Path, out: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """Turn what cannot be read into a status, and keep what it said."""
    if "score" in out:
        column = out["score"]
        numbers = pd.to_numeric(column, errors="coerce").astype(float)
        said = column.notna() & (column.astype(str).str.strip() != "")
        if said.any() and numbers.isna().all():
            raise InputError(
                f"{path}: no entry of the column {names['score']!r} is a number (the first is "
                f"{str(column[said].iloc[0])[:40]!r}). For verdicts in words map it as "
                f"choice={names['score']}."
            )
        unread = said & numbers.isna()
        out["score"] = numbers
        has_verdict = numbers.notna()
        why = pd.Series("the file has no score here", index=out.index).mask(
            unread, "not a number: " + column.astype(str).str.slice(0, 60)
        )
    else:
        has_verdict = pd.Series(False, index=out.index)
        why = pd.Series("the file has no verdict here", index=out.index)
    if "choice" in out:
        out["choice"] = _text(out["choice"]).str.strip()
        has_verdict = has_verdict | (out["choice"] != "")
    if "status" in out:
        stated = _text(out["status"]).str.strip().str.lower()
        known = {s.value for s in Status}
        strange = sorted(set(stated) - known - {""})
        if strange:
            raise InputError(
                f"{path}: column {names['status']!r} holds the status {strange[0]!r}; known are "
                f"{', '.join(sorted(known))}."
            )
        default = has_verdict.map({True: "ok", False: Status.UNPARSEABLE.value})
        out["status"] = stated.mask(stated == "", default)
    else:
        out["status"] = has_verdict.map({True: "ok", False: Status.UNPARSEABLE.value})
    if "reason" not in out:
        out["reason"] = why.mask(has_verdict, "")
    return out
