"""A run as a report reads it: its results, plan, judgments, items and prompts."""

from __future__ import annotations

import atexit
import math
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlencode

import pandas as pd

from judgestats.data.columns import label
from judgestats.data.schema import read_artifact
from judgestats.deadlines import make_scratch_folder
from judgestats.errors import InputError
from judgestats.files.text import decode_json
from judgestats.results import CONDITIONS, Condition, Record, Results, read_results
from judgestats.results.numbers import describe_conditions, short_names
from judgestats.results.records import own_condition, rows_of_table

_SHOWN_ELSEWHERE = {CONDITIONS, "condition", "unread", "sensitivity", "repeats"}
"""What describes conditions and data: their own sections show it."""


_MODES = (
    ("wrong", ("people.", "condition.accuracy", "accuracy", "tpr", "tnr", "alignment")),
    ("flips", ("reliability.", "condition.flip", "flip_rate", "vote_share", "condition.sem")),
    ("unparsed", ("unread", "condition.unread")),
)
"""Lists of the interactive page, by how the keys of numbers begin that rest on them."""


def _is_named(judge: str, text: str) -> bool:
    """Whether a text names a judge, not one whose name only begins alike."""
    return re.search(rf"(?<![\w.-]){re.escape(judge)}(?![\w.-])", text) is not None


@dataclass(frozen=True)
class Run:
    """A finished run's files.

    Attributes
    ----------
    folder : Path
        Where they are.
    records : Results
        What ``results.json`` holds.
    """

    folder: Path
    records: Results

    @property
    def facts(self) -> Mapping[str, Any]:
        """What the run says next to its results: judges, design, account, command."""
        return self.records.facts

    def _json(self, name: str) -> dict[str, Any]:
        path = self.folder / name
        if not path.is_file():
            return {}
        try:
            content = decode_json(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise InputError(f"{path}: not readable as JSON ({error}).") from error
        return content if isinstance(content, dict) else {}

    @cached_property
    def plan(self) -> dict[str, Any]:
        """The analysis plan as declared before the first judgment; empty where there is none."""
        return self._json("plan.json")

    @cached_property
    def session(self) -> dict[str, Any]:
        """Versions."""
        return self._json("session.json")

    @cached_property
    def judgments(self) -> pd.DataFrame:
        """The parsed judgments; an empty frame where the run has none."""
        path = self.folder / "data" / "judgments.parquet"
        return read_artifact(self.folder, "judgments") if path.is_file() else pd.DataFrame()

    @cached_property
    def finals(self) -> pd.DataFrame:
        """The judgments without the stages that come before, or after, a verdict."""
        frame = self.judgments
        return frame[frame["stage"] == "final"] if "stage" in frame else frame

    @cached_property
    def items(self) -> tuple[dict[str, Any], ...]:
        """The items judged, as plain values."""
        path = self.folder / "data" / "items.jsonl"
        if not path.is_file():
            return ()
        lines = path.read_text(encoding="utf-8").split("\n")
        return tuple(decode_json(line) for line in lines if line.strip())

    @cached_property
    def prompts(self) -> dict[str, str]:
        """Prompt texts by their hash, in the order in which the plan asks with them."""
        folder = self.folder / "prompts"
        files = {path.stem: path for path in sorted(folder.glob("*.txt"))}
        planned = [
            sha
            for prompt in self.sample_prompts
            for sha in (*prompt["templates"], *prompt.get("stages", ()))
        ]
        order = dict.fromkeys(sha for sha in [*planned, *files] if sha in files)
        return {sha: files[sha].read_text(encoding="utf-8") for sha in order}

    @cached_property
    def sample_prompts(self) -> tuple[dict[str, Any], ...]:
        """One prompt of every kind as it was sent; none of a run made before there were any."""
        path = self.folder / "prompts" / "rendered.json"
        return tuple(decode_json(path.read_text(encoding="utf-8"))) if path.is_file() else ()

    @cached_property
    def conditions(self) -> pd.DataFrame:
        """One row per condition; None is NaN in number columns."""
        frame = pd.DataFrame(self.table(CONDITIONS))
        for column in frame.columns:
            values = frame[column]
            if values.dtype == object and all(
                v is None or isinstance(v, (int, float)) for v in values
            ):
                frame[column] = pd.to_numeric(values)
        return frame

    @property
    def hypotheses(self) -> list[dict[str, Any]]:
        """Those of the plan, else the families that an audit answers."""
        return list(self.plan.get("hypotheses") or self.facts.get("families") or [])

    @property
    def title(self) -> str:
        """What the run is called."""
        return self.records.title or self.records.experiment or "judgestats run"

    @property
    def question(self) -> str:
        """What was asked."""
        return self.records.question

    @property
    def several_judges(self) -> bool:
        """Whether the conditions belong to more than one judge."""
        return "judge" in self.conditions and len(set(self.conditions["judge"])) > 1

    @cached_property
    def names(self) -> dict[str, str]:
        """What the conditions are called, by their labels, as on the screen."""
        return short_names(self.records)

    @cached_property
    def own_names(self) -> dict[str, str]:
        """What distinguishes the conditions of one judge, by their labels; alone where several."""
        if self.several_judges and not self.is_grouped:
            return {}
        groups: dict[str, list[Condition]] = {}
        for condition in self.records.conditions:
            groups.setdefault(condition.judge, []).append(condition)
        return {
            column.label: column.name.removeprefix(f"{judge}, ")
            for judge, own in groups.items() for column in describe_conditions(own)[1]
        }  # fmt: skip

    def condition_name(self, label: str) -> str:
        """The name of a condition; whatever else is one keeps its own."""
        return self.names.get(label, label)

    @property
    def is_grouped(self) -> bool:
        """Whether tables of conditions are grouped by judge: several, one of them at several."""
        return self.several_judges and bool((self.conditions["judge"].value_counts() > 1).any())

    @cached_property
    def described(self) -> list[dict[str, Any]]:
        """The conditions as dicts, those of one judge together, in their order otherwise."""
        rows = [row | {"at": (CONDITIONS, i)} for i, row in enumerate(rows_of(self.conditions))]
        if not self.is_grouped:
            return rows
        order = list(dict.fromkeys(str(row.get("judge", "")) for row in rows))
        return sorted(rows, key=lambda row: order.index(str(row.get("judge", ""))))

    @cached_property
    def compared(self) -> list[dict[str, Any]]:
        """The conditions described, of a run of many strategies those that the plan compares.

        Points of a curve and single selections have their own tables.
        """
        names = str((self.plan.get("options") or {}).get("strategies", "")).split(",")
        kept = [row for row in self.described if row.get("factor_strategy") in names]
        return kept or self.described

    @property
    def simulated_judges(self) -> list[str]:
        """The names of the judges that were simulated."""
        return self.records.simulated_judges

    @property
    def simulated(self) -> bool:
        """Whether any judge was simulated."""
        return bool(self.facts.get("simulated", False))

    @property
    def all_simulated(self) -> bool:
        """Whether no model was asked at all."""
        return self.records.all_simulated

    @property
    def design(self) -> dict[str, Any]:
        """The design's numbers."""
        return dict(self.facts.get("design") or {})

    @property
    def scale(self) -> tuple[float, float] | None:
        """Ends of the score scale, where it is known."""
        scale = self.design.get("scale")
        return (float(scale[0]), float(scale[1])) if scale else None

    @property
    def level(self) -> float:
        """Level of the intervals."""
        return float(self.plan.get("level", 0.95))

    @cached_property
    def moment(self) -> datetime | None:
        """When the last judgment was made: the report's date; None where no judgment tells."""
        if "asked_at" in self.judgments:
            asked = pd.to_datetime(self.judgments["asked_at"], errors="coerce", utc=True).dropna()
            if len(asked):
                last: datetime = asked.max().to_pydatetime()
                return last.replace(microsecond=0)
        return None

    def evidence(self, where: str) -> str:
        """Fragment of the interactive page with the judgments behind a number.

        Parameters
        ----------
        where : str
            Address, as `judgestats.reporting.numbers.address` writes it, or the sentence in which
            the number stands.
        """
        record, field = (unquote(part) for part in where.partition("#")[::2])
        part, labels, key = field.split("."), [], record
        if part[-1] == "item_id":
            row = self.table(record)[int(part[1])]
            return urlencode({"item": str(row["item_id"]), "column": str(row["condition"])})
        if record == CONDITIONS:
            labels, key = [str(self.table(CONDITIONS)[int(part[1])].get("condition"))], part[2]
        elif record in self.records:
            own = self.records[record]
            labels = [*own.about.conditions]
            if not labels:
                whole = [self.records[own.part_of].title] if own.part_of in self.records else []
                row = self.table(record)[int(part[1])] if part[0] == "rows" else {}
                words = [word for word in row.values() if isinstance(word, str)]
                labels = [record, own.about.judge, own.title, *whole, *words]
                labels += self._conditions_named(labels)
        elif part[0] == "verdicts":
            verdict = self.records.verdicts[int(part[1])]
            labels = [verdict.subject.label]
            key = verdict.requirements[int(part[3])].key if len(part) > 3 else verdict.deciding
        elif not field:
            labels, key = [where, *self._conditions_named([where])], ""
        names = [("mode", mode) for mode, keys in _MODES if key.startswith(keys)]
        shown = {c.label: c for c in self.records.conditions if not c.derived}
        levels = {level for c in shown.values() for level in c.factors.items()}
        made = [  # from judgments of these conditions
            (c.judge, levels & set(c.factors.items()))
            for c in self.records.conditions
            if c.derived and any(_is_named(c.label, text) for text in labels)
        ]  # fmt: skip
        named = [
            c for c in shown.values()
            if any(c.label == t if t in shown else _is_named(c.label, t) for t in labels)
            or any(c.judge in panel.split(" + ") and own <= {*c.factors.items()}
                   for panel, own in made)
        ]  # fmt: skip
        names += [("judge", c.judge) for c in named or shown.values()
                  if named or any(_is_named(c.judge, label) for label in labels)]  # fmt: skip
        rest = [("condition", own_condition(c.label, c.judge, c.criterion)) for c in named]
        names += rest if any(condition for _, condition in rest) else []
        names += [("criterion", c.criterion) for c in named if c.criterion]
        return urlencode(list(dict.fromkeys(names)))

    def _conditions_named(self, texts: Sequence[str]) -> list[str]:
        """Labels of the conditions whose levels, and judge if any, are named by texts."""
        conditions = self.records.conditions

        def is_told(word: str) -> bool:
            return any(_is_named(word, text) for text in texts)

        judges = {c.judge for c in conditions if is_told(c.judge)}
        levels = {level for c in conditions for level in c.factors.items()}
        told = {
            (factor, level) for factor, level in levels
            if is_told(level if isinstance(level, str) else label(factor, level))
            and any(c.factors.get(factor, "") != level for c in conditions)
        }  # fmt: skip
        factors = {factor for factor, _ in told}
        return [
            c.label for c in conditions
            if factors & {*c.factors} and (not judges or c.judge in judges)
            and all(level in told for level in c.factors.items() if level[0] in factors)
        ]  # fmt: skip

    def with_role(self, *roles: str) -> list[Record]:
        """The results of some roles that are part of no other, in order."""
        listed = self.records.select(Record, role=roles, top=True)
        return [record for record in listed if record.hypothesis not in _SHOWN_ELSEWHERE]

    def table(self, name: str) -> list[dict[str, Any]]:
        """Rows of a table that the analysis wrote next to its results; none without a table."""
        return rows_of_table(self.records[name]) if name in self.records else []

    def select_kind(self, kind: str) -> list[Record]:
        """The results of one kind, which their ids begin with (``kind.``), in order."""
        listed = self.records.select(Record, top=True)
        return [record for record in listed if record.id.partition(".")[0] == kind]


def rows_of(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """A frame's rows as dicts."""
    return [{str(k): v for k, v in row.items()} for row in frame.to_dict("records")]


def number_of(value: Any) -> float:
    """A JSON value as a number: None is NaN, and infinity may be spelled out.

    Examples
    --------
    >>> number_of(None), number_of("inf"), number_of(2)
    (nan, inf, 2.0)
    """
    return math.nan if value is None else float(value)


def load_run(run: str | os.PathLike[str]) -> Run:
    """Read a run.

    Parameters
    ----------
    run : path or str
        A folder with a run's files, or an MLflow run id (the store is that of
        ``MLFLOW_TRACKING_URI``).

    Returns
    -------
    Run

    Raises
    ------
    InputError
        There is no such run, or it holds no results of judgestats.
    """
    folder = Path(run)
    if not (folder / "results.json").is_file():
        from judgestats.tracking.runs import run_folder

        scratch = make_scratch_folder("run")
        atexit.register(shutil.rmtree, scratch, ignore_errors=True)
        folder, _ = run_folder(str(run), scratch)
    return Run(folder=folder.resolve(), records=read_results(folder / "results.json"))
