"""Columns, conditions, schemas, and versions of the judgments frame."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from judgestats.arrays import too_large
from judgestats.data.codes import codes_of, row_codes, texts_by_code
from judgestats.data.columns import JUDGMENT, KEY_COLUMNS, PARSED_COLUMNS, RAW_COLUMNS
from judgestats.data.verdict_kinds import KINDS
from judgestats.errors import InputError
from judgestats.files import Limits, parquet_table
from judgestats.protocols import Scale, ScoreForm, Status, read_reply
from judgestats.results.results import is_edited, manifest_of, note_digests

if TYPE_CHECKING:
    import pandera.pandas as pa

BECAME: Mapping[Status, str] = {
    **dict.fromkeys(Status, "unparsed"),
    Status.OK: "parsed",
    Status.FAILED: "not answered",
    Status.INVALID: "never asked",
    Status.NOT_APPLICABLE: "not applicable",
}
"""What became of a judgment: different things, of which only the first holds a verdict."""

TRANSPORT = ("answered", "failed", "invalid_condition")
_SHOWN = 8
_OWN = Limits(ratio=5_000, expanded_bytes=16 << 30)
"""A run's own frame repeats its texts more than a table of others may."""
_NOT_EMPTY = {"condition", "judge", "item_id", "cluster", "stage"}


@dataclass(frozen=True)
class Rule:
    """The type of a column and the values that it may hold.

    Attributes
    ----------
    kind : {"text", "number", "count", "flag", "texts"}
        Numbers may be missing, counts are integers from 0, and texts are lists of text.
    said : str
        What a value must be, for the message.
    words : tuple of str
        The words allowed; empty: any.
    ends : (low, high)
        Of numbers.
    """

    kind: str
    said: str = ""
    words: tuple[str, ...] = ()
    ends: tuple[float, float] = (-math.inf, math.inf)

    def settle(self, column: pd.Series) -> tuple[pd.Series, pd.Series]:
        """The column in its type, and which of its values break the rule.

        Examples
        --------
        >>> rule = Rule("count", "must be at least 0", ends=(0, math.inf))
        >>> [s.tolist() for s in rule.settle(pd.Series([2, "x", -1]))]
        [[2, 0, 0], [False, True, True]]
        """
        if self.kind == "flag":
            return column.astype(bool), pd.Series(False, index=column.index)
        if self.kind == "texts":
            return column, ~column.map(_all_texts).astype(bool)
        if self.kind == "text":
            texts, bad = column.astype("str"), column.isna()
            if self.words or self.said:
                codes, levels = codes_of(texts)
                wrong = ~levels.isin(self.words) if self.words else levels == ""
                bad = bad | wrong[codes] if wrong.any() else bad
            return texts, bad
        kind = column.dtype.kind if isinstance(column.dtype, np.dtype) else ""
        numbers = pd.to_numeric(column, errors="coerce").astype(float)
        low, high = self.ends
        bad = (numbers < low) | (numbers > high)
        if self.kind == "number":
            return numbers, bad if kind == "f" else bad | (numbers.isna() & column.notna())
        bad = bad if kind == "i" else bad | ~(numbers % 1 == 0)
        return numbers.mask(bad, 0).astype("int64"), bad

    def column(self) -> pa.Column:
        """The rule as a column of a pandera schema."""
        import pandera.pandas as pa

        checks = []
        if self.kind == "texts":
            checks.append(pa.Check(_all_texts, element_wise=True, error=self.said))
        if self.words:
            checks.append(pa.Check.isin(self.words, error=self.said))
        elif self.kind == "text" and self.said:
            checks.append(pa.Check.str_length(min_value=1, error=self.said))
        if self.ends != (-math.inf, math.inf):
            checks.append(pa.Check.in_range(*self.ends, error=self.said))
        types = {"text": str, "number": float, "count": "int64", "flag": bool, "texts": object}
        return pa.Column(types[self.kind], checks, nullable=self.kind == "number", coerce=True)


Schema = Mapping[str, Rule]
_ANY = (0, math.inf)


def _column(name: str) -> Rule:
    if name in _NOT_EMPTY:
        return Rule("text", f"{name} must not be empty")
    words: Mapping[str, tuple[str, ...]] = {
        "transport": TRANSPORT,
        "status": tuple(s.value for s in Status),
        "verdict_kind": ("", *KINDS, "text"),
    }
    if name in words:
        said = f"must be one of {', '.join(filter(None, words[name]))}"
        return Rule("text", said, words[name])
    default = JUDGMENT.get(name, "" if name == "position" else math.nan)
    if isinstance(default, str):
        return Rule("text")
    if isinstance(default, bool):
        return Rule("flag")
    if isinstance(default, int):
        return Rule("count", f"{name} must be a whole number of at least 0", ends=_ANY)
    if name == "temperature":
        return Rule("number", f"{name} must lie in 0-2", ends=(0, 2))
    if name.startswith("tokens_") or name in {"cost_usd", "latency_s"}:
        return Rule("number", f"{name} must not be negative", ends=_ANY)
    return Rule("number")  # score: any number or missing


def _pandera(rules: Schema) -> pa.DataFrameSchema:
    import logging

    # pandera announces itself on import of some backends; a library writes to no user's log.
    logging.getLogger("pandera").setLevel(logging.ERROR)
    import pandera.pandas as pa

    return pa.DataFrameSchema({name: rule.column() for name, rule in rules.items()}, strict=False)


def raw_schema() -> pa.DataFrameSchema:
    """Return pandera's schema of the raw frame: one row per judgment, nothing parsed yet.

    Runs validate what was collected with it, before anything is computed.

    Examples
    --------
    >>> "raw_text" in raw_schema().columns
    True
    """
    return _pandera(_rules(RAW_COLUMNS))


def parsed_schema() -> pa.DataFrameSchema:
    """Return pandera's schema of the parsed frame: raw plus status, verdict, and reason.

    Examples
    --------
    >>> sorted(set(parsed_schema().columns) - set(raw_schema().columns))
    ['choice', 'explanation', 'reason', 'score', 'status', 'verdict_kind']
    """
    return _pandera(_rules(PARSED_COLUMNS))


def _rules(names: Sequence[str]) -> Schema:
    return {name: _column(name) for name in names}


_PIPELINE_TEXT = (
    *("condition", "judge", "item_id", "cluster", "category", "order", "status"),
    *("choice", "position", "explanation", "reason"),
)
_PIPELINE_COUNTS = ("k", "replicate", "wanted", "used", "preferred", "left_out", "cut", "calls")


def _pipeline_rules() -> Schema:
    """Columns of ``pipelines.parquet``: one row per strategy, pair, order, and repeat."""
    numbers = ("temperature", "tokens_in", "tokens_out", "cost_usd")
    columns = {name: _column(name) for name in (*_PIPELINE_TEXT, *numbers)}
    columns["final_tokens_out"] = _column("tokens_out")
    count = Rule("count", "must not be negative", ends=_ANY)
    columns |= dict.fromkeys(_PIPELINE_COUNTS, count)
    return columns


def validate_pipelines(frame: pd.DataFrame) -> pd.DataFrame:
    """Check the table of verdicts that several calls led to, before it is written.

    Raises
    ------
    InputError
        With a capped list of the failing rows.
    """
    what = "pipelines"
    keys = ("condition", "item_id", "order", "replicate")
    return _validate(frame, _pipeline_rules(), what, keys=keys, is_run=True)


def _answer_rules() -> Schema:
    """Columns of ``answers.jsonl``: one row per answer of a model to all turns of an item."""
    columns = {name: _column(name) for name in _ANSWER_KNOWN}
    columns |= dict.fromkeys(_ANSWER_TEXT, Rule("text"))
    columns["sample"] = _column("replicate")
    columns["turns"] = Rule("texts", "must be a list of the answers to all turns")
    return columns


_ANSWER_KNOWN = (
    *("item_id", "temperature", "status", "reason", "model_reported"),
    *("tokens_out", "cost_usd", "cached", "asked_at"),
)
_ANSWER_TEXT = ("author", "answer", "model", "answerer")


def _all_texts(turns: object) -> bool:
    return isinstance(turns, list) and bool(turns) and all(isinstance(t, str) for t in turns)


def validate_answers(table: pd.DataFrame) -> pd.DataFrame:
    """Check the table of models' answers, before it is written.

    Raises
    ------
    InputError
        With a capped list of the failing rows.
    """
    return _validate(table, _answer_rules(), "answers", keys=("item_id", "author"), is_run=True)


def validate_raw(frame: pd.DataFrame, *, what: str = "raw judgments") -> pd.DataFrame:
    """Check a raw frame and return it with its types settled.

    Parameters
    ----------
    frame : DataFrame
        The columns of ``RAW_COLUMNS``; more are allowed (``factor_<name>``).
    what : str
        What the frame is, for the message.

    Returns
    -------
    DataFrame
        A copy with a fresh index and the schema's types.

    Raises
    ------
    InputError
        With a capped list of the failing rows.
    """
    return _validate(frame, _rules(RAW_COLUMNS), what, is_run=True)


def validate_parsed(
    frame: pd.DataFrame,
    *,
    what: str = "judgments",
    scale: tuple[float, float] | None = None,
    is_run: bool = False,
) -> pd.DataFrame:
    """Check a parsed frame: types, one row per judgment, a score exactly where the status is ok.

    Parameters
    ----------
    frame : DataFrame
        The columns of ``PARSED_COLUMNS``; more are allowed.
    what : str
        What the frame is, for the message.
    scale : (low, high), optional
        Where given, a score outside it is an error.
    is_run : bool
        Whether a run of judgestats collected it: pandera then validates it too.

    Returns
    -------
    DataFrame
        A copy with a fresh index and the schema's types.

    Raises
    ------
    InputError
        With a capped list of the failing rows.
    """
    frame = _validate(frame, _rules(PARSED_COLUMNS), what, is_run=is_run)
    ok = frame["status"] == Status.OK.value
    has_verdict = frame["score"].notna() | (frame["choice"] != "")
    # A stage before the verdict may be a text that was asked for, such as a plan.
    written = (frame["stage"] != "final") & (frame["explanation"] != "")
    _refuse(
        frame,
        ok & ~has_verdict & ~written,
        what,
        "status is ok but there is neither score nor choice",
    )
    _refuse(frame, ~ok & has_verdict, what, "status is not ok but there is a score or choice")
    if scale is not None:
        low, high = scale
        outside = frame["score"].notna() & ~frame["score"].between(low, high)
        _refuse(
            frame,
            outside,
            what,
            f"the score is outside the scale {low:g}-{high:g}. Correct the file, or state its "
            "scale (scale=low-high)",
        )
    large = pd.Series(too_large(frame["score"]), index=frame.index)
    _refuse(frame, large, what, "the score is infinite or beyond 1e50")
    return frame


def _validate(
    frame: pd.DataFrame,
    schema: Schema,
    what: str,
    *,
    keys: Sequence[str] = KEY_COLUMNS,
    is_run: bool = False,
) -> pd.DataFrame:
    missing = [c for c in schema if c not in frame.columns]
    if missing:
        raise InputError(
            f"{what}: the frame lacks the column{'s' * (len(missing) > 1)} {', '.join(missing)}. "
            f"It has: {', '.join(map(str, frame.columns[:40]))}."
        )
    frame = frame.reset_index(drop=True)
    about, frame.attrs = frame.attrs, {}  # pandas copies them deeply at every step
    settled: dict[str, pd.Series] = {}
    lines: list[str] = []
    for name, rule in schema.items():
        settled[name], bad = rule.settle(frame[name])
        if bad.any():
            lines.append(_fault(frame.loc[bad, name], name, rule))
    if lines:
        further = ["  ... further columns fail too"] if len(lines) > _SHOWN else []
        told = "\n".join([*lines[:_SHOWN], *further])
        raise InputError(f"{what}: {len(frame)} rows do not fit the judgments schema:\n{told}")
    frame = frame.assign(**settled)
    if is_run:
        frame = _pandera(schema).validate(frame)
    codes = row_codes((frame[k] for k in keys), len(frame))
    duplicated = pd.Series(np.bincount(codes)[codes] > 1, index=frame.index)
    _refuse(
        frame,
        duplicated,
        what,
        f"the same ({', '.join(k.removesuffix('_id') for k in keys)}) occurs in more than one row. "
        "Number the repetitions in a replicate column, or drop the repeated rows",
    )
    frame.attrs = about
    return frame


def _refuse(frame: pd.DataFrame, bad: pd.Series, what: str, why: str) -> None:
    """Raise with the first few failing rows, if any fail."""
    count = int(bad.sum())
    if not count:
        return
    shown = frame.loc[bad].head(_SHOWN)
    lines = [f"  row {i}: {_row_text(row)}" for i, row in shown.iterrows()]
    more = f"\n  ... and {count - len(shown)} more" if count > len(shown) else ""
    raise InputError(f"{what}: {count} of {len(frame)} rows: {why}.\n" + "\n".join(lines) + more)


def _row_text(row: pd.Series) -> str:
    names = [c for c in (*KEY_COLUMNS, "status", "score", "choice") if c in row.index]
    return ", ".join(f"{c}={str(row[c])[:60]!s}" for c in names if str(row[c]) != "")


def _fault(bad: pd.Series, name: str, rule: Rule) -> str:
    """What a column's values must be, and the first that are not."""
    rows = ", ".join(map(str, bad.index[:3])) + (" ..." if len(bad) > 3 else "")
    values = ", ".join(repr(str(v)[:40]) for v in bad.head(3))
    more = f" and {len(bad) - 3} more" if len(bad) > 3 else ""
    said = rule.said or f"must be a {rule.kind}"
    return f"  {name}: {said} (row {rows}); found {values}{more}"


def write_manifest(run: Path, scale: Sequence[float] | None) -> None:
    """Note the digest of every frame of a run, so that an edited one is refused later.

    Parameters
    ----------
    run : Path
        The run's folder, its frames below ``data``.
    scale : (low, high) or None
        Of its scores.
    """
    frames = sorted((run / "data").glob("*.parquet"))
    note_digests(run, frames, scale=list(scale) if scale else None)


def read_artifact(run: Path, name: str, *, is_checked: bool = True) -> pd.DataFrame:
    """A frame of a run as the run wrote it.

    Parameters
    ----------
    run : Path
        The run's folder. One of an earlier version has no manifest, and is read without a check.
    name : {"judgments", "raw"}
    is_checked : bool
        Whether the digest must be that of the manifest.

    Returns
    -------
    DataFrame

    Raises
    ------
    InputError
        The file cannot be read, or differs from what the run wrote. The message names the first
        row whose score is not that of its reply.
    """
    path = run / "data" / f"{name}.parquet"
    if is_checked:
        refuse_edited(path)
    if name == "judgments":
        return read_frame(path)
    return validate_raw(parquet_table(path, _OWN), what=str(path))


def run_file(path: Path) -> Path:
    """The judgments of a run whose folder is named; another path unchanged.

    Examples
    --------
    >>> run_file(Path("verdicts.csv")).name
    'verdicts.csv'
    """
    runs = (path / "artifacts", path)  # MLflow's folder of a run, or that of its artifacts
    files = [r / "data" / "judgments.parquet" for r in runs if (r / "results.json").is_file()]
    return next((file for file in files if file.is_file()), path)


def refuse_edited(path: Path) -> None:
    """Refuse a frame of a run that is not as the run wrote it; other files pass.

    Parameters
    ----------
    path : Path

    Raises
    ------
    InputError
        The digest is not that of the run's manifest.
    """
    run = path.resolve().parent.parent
    if path.suffix == ".parquet" and is_edited(path, run):
        why, scale = "is not the file that the run wrote", manifest_of(run).get("scale")
        if path.stem == "judgments" and scale:
            why = _edited_score(read_frame(path), scale) or why
        raise InputError(f"{path.name} {why}. Run judgestats reparse RUN.")


def _edited_score(frame: pd.DataFrame, scale: Sequence[float]) -> str:
    """The first score that is off the scale, or another than its reply says, with its row."""
    low, high = (int(end) for end in scale)
    if [low, high] != list(scale) or low >= high:
        return ""
    form = ScoreForm(Scale(low, high))
    for number, row in enumerate(frame.to_dict("records"), start=1):
        score = row["score"]
        if not isinstance(score, float) or math.isnan(score):
            continue
        text = str(row.get("raw_text", ""))
        said = read_reply(text, form, tool="submit_score").score
        is_off = not low <= score <= high
        if is_off or (said is not None and said != score):
            what = f"is outside {low}-{high}" if is_off else "is not what was said"
            says = f"; raw_text says {said:g}" if said is not None else ""
            return f"row {number}: score {score:g} {what}{says}"
    return ""


def read_frame(path: Path) -> pd.DataFrame:
    """A run's judgments, those of 0.1.0 too.

    Raises
    ------
    InputError
        The file is not a frame of judgments.
    """
    try:
        frame = parquet_table(path, _OWN)
    except InputError as error:
        raise InputError(
            f"{error} Only a finished run holds judgments; repeat the run, which takes its answers "
            "from the journal."
        ) from None
    return brought_up(frame, what=str(path))


def brought_up(frame: pd.DataFrame, *, what: str = "judgments") -> pd.DataFrame:
    """A frame with the columns of the present version; nothing of an earlier one is lost.

    0.1.0 had a column per setting (``temperature_sent``, ``seed_sent``), no kinds of verdict, and
    neither cached nor reasoning tokens.

    Raises
    ------
    InputError
        A frame that is neither of this version nor of 0.1.0.

    Examples
    --------
    >>> brought_up(pd.DataFrame({"item_id": ["q"]}))
    Traceback (most recent call last):
        ...
    judgestats.errors.InputError: judgments: no frame of judgments of judgestats; it lacks condition, judge, status.
    """  # noqa: E501
    lacking = [c for c in ("condition", "judge", "item_id", "status") if c not in frame]
    if lacking:
        raise InputError(
            f"{what}: no frame of judgments of judgestats; it lacks {', '.join(lacking)}."
        )
    missing = [c for c in PARSED_COLUMNS if c not in frame]
    if not missing:
        return frame
    frame = frame.copy()
    if "sent" in missing:
        sent = {"temperature": "temperature_sent", "seed": "seed_sent"}
        columns = {name: frame.pop(c) for name, c in sent.items() if c in frame}
        frame["sent"] = [
            json.dumps({k: v for k, v in zip(columns, row, strict=True) if pd.notna(v)})
            for row in zip(*columns.values(), strict=True)
        ] or [""] * len(frame)
    for name in {"tokens_cached", "tokens_reasoning"}.intersection(missing):
        frame[name] = math.nan
    if "requested" in missing:
        frame["requested"] = ""
    if "verdict_kind" in missing and {"score", "choice"} <= set(frame):
        frame["verdict_kind"] = kinds_by_value(frame)
    own = [c for c in PARSED_COLUMNS if c in frame]
    return frame[[*own, *(c for c in frame.columns if c not in own)]]


def kinds_by_value(frame: pd.DataFrame) -> pd.Series:
    """The kind of every condition's verdicts, where only the values show it.

    Examples
    --------
    >>> frame = pd.DataFrame({"condition": ["x", "x", "y"], "score": [1.0, None, None],
    ...                       "choice": ["", "", "tie"]})
    >>> kinds_by_value(frame).tolist()
    ['score', 'score', 'preference']
    """
    codes, labels = codes_of(frame["condition"])
    chosen, words = codes_of(frame["choice"].fillna(""))
    scored = np.bincount(codes, frame["score"].notna(), minlength=len(labels))
    meaning = np.where(words == "", 0, np.where(words.isin(["a", "b", "tie"]), 1, 2))[chosen]
    seen = np.bincount(codes * 3 + meaning, minlength=3 * len(labels)).reshape(-1, 3)
    kinds = [
        "score" if has_score else "choice" if other else "preference" if preference else ""
        for has_score, (_, preference, other) in zip(scored, seen, strict=True)
    ]
    return texts_by_code(kinds, codes, frame.index)
