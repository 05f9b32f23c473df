"""All results of one analysis, and ``results.json``: written, read, and validated both ways."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from judgestats.errors import InputError, guard_output
from judgestats.files.guarded import file_sha256, json_document
from judgestats.files.text import command_word, decode_json
from judgestats.results import records
from judgestats.results.quantities import kind_of_test, quantity_of
from judgestats.results.records import Comparison, Estimate, Test, plain
from judgestats.results.verdict import Measure, Verdict
from judgestats.sinks import rows_text

if TYPE_CHECKING:
    import pandas as pd

VERSION = 2
"""Of the file. 0.1.0 wrote none."""

CONDITIONS = "conditions"
"""Id of the table that describes the conditions, one row each, at full precision."""

Kind = TypeVar("Kind", bound=records.Record)


@dataclass(frozen=True, kw_only=True)
class Results(records.Part):
    """Everything an analysis found, as data.

    Attributes
    ----------
    version : int
    kind : {"experiment", "audit", "drift", "comparison", "replication"}
    experiment, title, question : str
    headlines, results, families, conditions : tuple of records
    rows : tuple of Row
        Quantities of every condition, for the screen and the report's first page.
    drawing : Drawing or None
        The figure that answers.
    limitations : tuple of Note
    measures : tuple of Measure
        What verdicts rest on, with what their limits at any level follow from.
    verdicts : tuple of Verdict
        One per judge, condition and criterion.
    decisions : tuple of mapping
        Cut-offs, automation and panels, as `judgestats.decisions` writes them.
    finding : str
        The first claim in one sentence, without p; of a comparison its outcome.
    care : tuple of str
        What limits the verdicts, the gravest first.
    metrics : mapping of name to number
        Of the whole run, under the names that MLflow and ``judgestats check`` know.
    condition_metrics : mapping of condition to mapping
        Of each condition; ``ci/NAME.lo`` and ``ci/NAME.hi`` are the ends of NAME's interval.
    facts : mapping
        Of the run: judges, design, account, command.

    Examples
    --------
    >>> e = Estimate(id="mean.a", hypothesis="mean", role="descriptive", title="Mean",
    ...              estimand="mean", estimate=7.5)
    >>> found = Results(experiment="x", question="?", results=(e,))
    >>> found["mean.a"].estimate, [r.id for r in found.select(Estimate, hypothesis="mean")]
    (7.5, ['mean.a'])
    """

    experiment: str
    question: str
    results: tuple[records.AnyRecord, ...]
    families: tuple[records.Family, ...] = ()
    headlines: tuple[records.Headline, ...] = ()
    conditions: tuple[records.Condition, ...] = ()
    rows: tuple[records.Row, ...] = ()
    limitations: tuple[records.Note, ...] = ()
    measures: tuple[Measure, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    decisions: tuple[records.Plain, ...] = ()
    finding: str = ""
    care: tuple[str, ...] = ()
    drawing: records.Drawing | None = None
    metrics: Mapping[str, records.Number] = field(default_factory=dict)
    condition_metrics: Mapping[str, Mapping[str, records.Number]] = field(default_factory=dict)
    title: str = ""
    kind: Literal["experiment", "audit", "drift", "comparison", "replication"] = "experiment"
    facts: Mapping[str, records.Plain] = field(default_factory=dict)
    version: Literal[2] = 2

    @cached_property
    def _record_index(self) -> dict[str, records.Record]:
        return {record.id: record for record in self.results}

    def __getitem__(self, result_id: str) -> records.Record:
        """The result of this id."""
        try:
            return self._record_index[result_id]
        except KeyError:
            raise KeyError(
                f"no result is called {result_id!r}. There are: {', '.join(self._record_index)}"
            ) from None

    def _judge_facts(self) -> list[Mapping[str, records.Plain]]:
        listed = (self.facts.get(key) for key in ("judges", "stage_judges"))
        every = [j for judges in listed if isinstance(judges, (list, tuple)) for j in judges]
        return [judge for judge in every if isinstance(judge, Mapping)]

    @property
    def simulated_judges(self) -> list[str]:
        """The names of the judges that were simulated."""
        return [
            str(judge.get("name", "")) for judge in self._judge_facts() if judge.get("simulated")
        ]

    @property
    def all_simulated(self) -> bool:
        """Whether all judges were simulated."""
        return bool(self.facts.get("simulated")) and all(
            judge.get("simulated", True) for judge in self._judge_facts()
        )

    def __contains__(self, result_id: str) -> bool:
        return result_id in self._record_index

    def estimate(self, result_id: str) -> Estimate | None:
        """The estimate of this id; None where there is none."""
        record = self._record_index.get(result_id)
        return record if isinstance(record, Estimate) else None

    def get(self, result_id: str, kind: type[Kind]) -> Kind:
        """The result of this id, which is of this kind."""
        record = self[result_id]
        if not isinstance(record, kind):
            raise InputError(
                f"results: {result_id!r} is no {kind.__name__}, it is a {type(record).__name__}."
            )
        return record

    def claimed_p(self, claim: str) -> float:
        """The adjusted p of a claim, a headline or a test, that pairs are held to; NaN: of none."""
        for headline in self.headlines:
            if headline.id == claim:
                return headline.p_adjusted
        for test in [self[claim]] if claim in self else []:
            if isinstance(test, (records.Test, records.Comparison)):
                return test.p_adjusted if test.family else test.p
        return math.nan

    def select(
        self,
        kind: type[Kind] | None = None,
        *,
        hypothesis: str | Sequence[str] = "",
        role: str | Sequence[str] = "",
        condition: str = "",
        judge: str = "",
        estimand: str = "",
        top: bool = False,
    ) -> Iterator[Kind]:
        """The results that are so, in order.

        Parameters
        ----------
        kind : type, optional
            `Estimate`, `Test`, `Comparison`, `Table` or `ResultSet`.
        hypothesis, role : str or sequence of str
        condition, judge, estimand : str
            Of those about this condition, or judge; of this estimand.
        top : bool
            Only those that are part of no other.
        """
        for record in self.results:
            if not isinstance(record, kind or records.Record) or (top and record.part_of):
                continue
            asked = (
                (hypothesis, record.hypothesis),
                (role, record.role),
                (judge, record.about.judge),
                (estimand, getattr(record, "estimand", "")),
            )
            about = not condition or condition in record.about.conditions
            if about and all(
                not w or own in ([w] if isinstance(w, str) else w) for w, own in asked
            ):
                yield record  # type: ignore[misc]

    def members(self, whole: records.ResultSet | records.Family) -> tuple[records.Record, ...]:
        """The results of a set or family, in order."""
        return tuple(self[i] for i in whole.members)

    def effects(self, test: records.Test | records.Comparison) -> tuple[Estimate, ...]:
        """The effect sizes of a test, the main one first."""
        return tuple(self.get(i, Estimate) for i in test.effects)

    def family(self, family_id: str) -> records.Family:
        """The family of this id."""
        for family in self.families:
            if family.id == family_id:
                return family
        raise KeyError(f"no family is called {family_id!r}")

    def condition(self, label: str) -> records.Condition:
        """The condition of this label."""
        for condition in self.conditions:
            if condition.label == label:
                return condition
        raise KeyError(f"no condition is called {label!r}")

    def notes(self) -> Iterator[tuple[records.Record, records.Note]]:
        """All warnings with the results they belong to."""
        for record in self.results:
            for note in record.notes:
                yield record, note


def inconsistency(results: Results) -> str:
    """Where records contradict one another: place and what is wrong; empty where nowhere.

    A file written by judgestats has no such place, one that was edited by hand may.
    """
    seen: dict[str, int] = {}
    for i, record in enumerate(results.results):
        if record.id in seen:
            return f"results[{i}].id: {record.id!r} is also the id of results[{seen[record.id]}]"
        seen[record.id] = i
    families = {family.id: family for family in results.families}
    for place, ids in _references(results):
        for result_id in ids:
            if result_id not in seen:
                return f"{place}: there is no result {result_id!r}"
    for i, h in enumerate(results.headlines):
        if h.family and h.family not in families:
            return f"headlines[{i}].family: there is no family {h.family!r}"
    for i, record in enumerate(results.results):
        if wrong := _contradiction(record, results, families):
            return f"results[{i}].{wrong}"
    return ""


def _references(results: Results) -> Iterator[tuple[str, Sequence[str]]]:
    """Places that name results, and the ids there."""
    for i, family in enumerate(results.families):
        yield f"families[{i}].members", family.members
    for i, h in enumerate(results.headlines):
        yield f"headlines[{i}].rests_on", h.rests_on
        yield f"headlines[{i}].size", (h.size,) if h.size else ()
    for i, c in enumerate(results.conditions):
        yield f"conditions[{i}].estimates", tuple(c.estimates.values())
    for i, row in enumerate(results.rows):
        yield f"rows[{i}].cells", (*row.cells.values(), *row.beside.values())
    for i, record in enumerate(results.results):
        yield f"results[{i}].part_of", (record.part_of,) if record.part_of else ()
        for name in ("members", "effects"):
            yield f"results[{i}].{name}", getattr(record, name, ())


def _contradiction(
    record: records.Record, results: Results, families: Mapping[str, records.Family]
) -> str:
    """The field of a record that says what cannot be, and why; empty where none does."""
    of_test = isinstance(record, records.Test)
    try:
        if isinstance(record, (Estimate, Comparison)):
            quantity_of(record.estimand)
        elif isinstance(record, Test):
            kind_of_test(record.test)
    except InputError as error:
        return f"{'test' if of_test else 'estimand'}: {error}".rstrip(".")
    if isinstance(record, (Test, Comparison)):
        if record.family and record.id not in getattr(families.get(record.family), "members", ()):
            return f"family: {record.family!r} does not hold {record.id!r}"
        claim = record.held_to if isinstance(record, Comparison) else ""
        least = results.claimed_p(claim) if claim else 0.0
        if math.isnan(least):
            return f"held_to: there is no claim {claim!r}"
        if record.p_adjusted < least * (1 - 1e-9):
            return f"p_adjusted: {record.p_adjusted} is below that of {claim!r}"
        if record.p_adjusted < record.p * (1 - 1e-9):
            return f"p_adjusted: {record.p_adjusted} is below p, {record.p}"
    if isinstance(record, records.Table):
        wide = [j for j, row in enumerate(record.rows) if len(row) != len(record.columns)]
        return f"rows[{wide[0]}]: not as long as the columns" if wide else ""
    return ""


_FORMER = frozenset({"answer", "recommendation", "figures"})
"""Keys that 0.2 wrote, and that nothing reads."""


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
    values = {"finding": values.get("answer", ""), **values}
    try:
        return _checked({k: v for k, v in values.items() if k not in _FORMER})
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
    if steps[:1] == ("results",):  # the kind follows the index and is not a place
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
"""Upper bound of the ends of a scale. Text, NaN, and numbers of many digits are refused."""


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


_FIELDS = {
    "judge": "about.judge", "stratum": "about.stratum", "slice": "about.slice",
    "conf_low": "interval.low", "conf_high": "interval.high", "conf_level": "interval.level",
    "conf_method": "interval.method", "null_mean": "null.mean", "null_q95": "null.q95",
    "statistic_symbol": "statistic.symbol", "statistic": "statistic.value",
    "margin_low": "margin.low", "margin_high": "margin.high",
    **{name: f"sample.{name}" for name in _CSV if name.startswith("n_")},
}  # fmt: skip
"""Fields of a record behind columns of another name."""


def csv_rows(results: Results) -> list[dict[str, Any]]:
    """One row per estimate, test or comparison, with numbers at full precision."""
    return [
        csv_row(record)
        for record in results.results
        if isinstance(record, (Estimate, Test, Comparison))
    ]


def results_frame(results: Results) -> pd.DataFrame:
    """The rows of ``results.csv`` as a frame, with its columns; what is undefined is missing."""
    import pandas as pd

    return pd.DataFrame(csv_rows(results), columns=list(_CSV))


def csv_row(record: Estimate | Test | Comparison) -> dict[str, Any]:
    """A record as a row of ``results.csv``."""
    row: dict[str, Any] = {}
    for name in _CSV:
        value: Any = record
        for part in _FIELDS.get(name, name).split("."):
            value = getattr(value, part, None)
        if value is not None:
            row[name] = value
    row["conditions"] = "; ".join(record.about.conditions)
    row["notes"] = "; ".join(note.code for note in record.notes)
    if not isinstance(record, Test):
        entry = quantity_of(record.estimand)
        row |= {"estimand": entry.key, "label": entry.heading, "unit": entry.unit}
    if not isinstance(record, Estimate):
        degrees = [*record.statistic.df.values(), None, None]
        row |= {"df1": degrees[0], "df2": degrees[1]}
        return row
    row["method"] = record.estimator
    if record.null is not None:
        row |= {"p": record.null.p, "p_floor": record.null.p_floor}
    return row


def write_csv(path: Path, results: Results) -> None:
    """Write ``results.csv``; what is undefined is empty, never 0, and no text is a formula."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = ([plain(row.get(k, "")) for k in _CSV] for row in csv_rows(results))
    path.write_text(rows_text([_CSV, *rows]), encoding="utf-8", newline="")
