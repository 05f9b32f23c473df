"""Records of a run: its declaration, files, traces, and report."""

from __future__ import annotations

import hashlib
import json
import math
import platform
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from judgestats.analysis.agreement import with_systems
from judgestats.analysis.families import Design
from judgestats.analysis.measures import with_measures
from judgestats.analysis.records import Analysis
from judgestats.analysis.supplements import supplemented
from judgestats.analysis.text_checks import with_flagged_texts
from judgestats.analysis.validity import labelled_frame, texts_of, with_people_error
from judgestats.analysis.validity_systems import with_disagreements
from judgestats.data.columns import PARSED_COLUMNS, RAW_COLUMNS, Task, as_text
from judgestats.data.parse import read_judgment, reader_of
from judgestats.data.schema import write_manifest
from judgestats.deadlines import scratch_folder
from judgestats.errors import InputError, RenderError
from judgestats.files.tables import read_csv
from judgestats.files.text import decode_json
from judgestats.items import item_set_sha, write_items
from judgestats.protocols.base import JudgingProtocol, ReplyMode, Unit, prompted_in
from judgestats.protocols.probes import ORIGINAL
from judgestats.protocols.replies import READER_VERSION
from judgestats.protocols.strategies.base import stage_kind
from judgestats.results import DecisionOptions, Results, finding_of, plain, write_csv
from judgestats.results import write_results as write_records
from judgestats.results.results import MANIFEST
from judgestats.results.verdict import SCHEMA, summary_of
from judgestats.runner import display as console
from judgestats.runner.display import announce_progress, output_parameters, print_result
from judgestats.sinks import csv_text
from judgestats.tracking import key, runs
from judgestats.tracking.traces import Call, TraceWriter
from judgestats.version import __version__

if TYPE_CHECKING:
    from judgestats.collection.account import Collected
    from judgestats.collection.ask import CollectionRequest
    from judgestats.collection.spec import JudgeSpec
    from judgestats.reporting.renderer import Publish
    from judgestats.runner.prepare import Prepared
    from judgestats.tracking.store import Store


PACKAGES = (
    "mlflow",
    "openai",
    "statsmodels",
    "scipy",
    "pingouin",
    "factor-analyzer",
    "numpy",
    "pandas",
)
"""Packages that may compute, or keep what was computed."""
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
    text = json.dumps(plain(value), indent=1, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")


def session(**more: str) -> dict[str, Any]:
    """What the numbers were computed with, and `more`; no name of a machine, user or folder."""
    return {
        "judgestats": __version__,
        "reader": READER_VERSION,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "packages": {p: v for p, v in _versions() if p.replace("-", "_") in sys.modules},
        **{name: value for name, value in more.items() if value},
    }


def _versions() -> Iterator[tuple[str, str]]:
    """Packages that may compute: one that is not imported has computed nothing."""
    return ((package, metadata.version(package)) for package in PACKAGES)


def write_run_id(folder: Path, run_id: str) -> None:
    """Add the MLflow run that keeps the files, and MLflow's version, to session.json."""
    path = folder / "session.json"
    kept = decode_json(path.read_text(encoding="utf-8"))
    packages = {p: v for p, v in _versions() if p in kept["packages"] or p == "mlflow"}
    write_json(path, {**kept, "packages": packages, "run_id": run_id})


def write_tables(folder: Path, tables: Mapping[str, pd.DataFrame]) -> None:
    """Write tables as CSV at full precision; no text in them is a formula of a spreadsheet."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        path = folder / f"{file_name(name)}.csv"
        path.write_text(csv_text(table), encoding="utf-8", newline="")


def write_results(folder: Path, analysis: Analysis, about: Mapping[str, Any]) -> None:
    """Write results.json, the tables behind it, and what computed them in session.json.

    Parameters
    ----------
    folder : Path
        The run's folder.
    analysis : Analysis
    about : mapping
        What the analysis does not know: judges, design, account, command.
    """
    records = analysis.records(about)
    if records.verdicts:
        verdicts = {"schema": SCHEMA, "verdicts": records.verdicts,
                    "summary": summary_of(records.verdicts, finding_of(records))}  # fmt: skip
        write_json(folder / "verdict.json", verdicts)
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
        before = decode_json(kept.read_text(encoding="utf-8"))
        write_json(kept, before | session())
    for name, text in analysis.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


def with_costs(prepared: Prepared, analysis: Analysis, account: Mapping[str, Any]) -> Analysis:
    """The analysis with the costs of its judgments among its metrics.

    Parameters
    ----------
    prepared : Prepared
    analysis : Analysis
        As `completed` leaves it.
    account : mapping
        Of the collection.
    """
    answers = prepared.answers.cost_usd if prepared.answers else 0.0
    costs = {
        "cost/usd": account["cost_usd"] + answers,
        "cost/requests": account["requests"],
        "quality/answered": account["answered"] + account["cached"],
    }
    return replace(analysis, metrics={**analysis.metrics, **costs})


def record_crosscheck(folder: Path, frame: pd.DataFrame, results: Results) -> Results:
    """Recompute headline numbers by other packages, and add the outcome to the results.

    Comes after the screen: importing the packages takes some seconds.

    Parameters
    ----------
    folder : Path
        The run's files, already complete.
    frame : DataFrame
        The parsed judgments.
    results : Results

    Returns
    -------
    Results
        With the cross-check.
    """
    from judgestats.analysis.crosscheck import (
        CROSSCHECK,
        crosscheck,
        crosscheck_table,
        with_crosscheck,
    )

    standings = folder / "chosen" / "standings.csv"
    with announce_progress("Cross-checking the results"):
        rows = crosscheck(
            frame, results, standings=read_csv(standings) if standings.is_file() else None
        )
    if not rows:
        return results
    results = with_crosscheck(results, rows)
    with scratch_folder("crosscheck") as scratch:
        made, kept = Path(scratch), folder / "session.json"
        if (folder / MANIFEST).is_file():
            shutil.copy(folder / MANIFEST, made)
        write_records(made / "results.json", results)
        write_csv(made / "results.csv", results)
        write_tables(made / "tables", {CROSSCHECK: crosscheck_table(rows)})
        if kept.is_file():
            before = decode_json(kept.read_text(encoding="utf-8"))
            write_json(made / "session.json", before | session(run_id=before.get("run_id", "")))
        shutil.copytree(made, folder, dirs_exist_ok=True)
    for note in results.limitations:
        if note.code == CROSSCHECK:
            print_result(f"WARNING: {note.message}")
    return results


def write_files(
    folder: Path, frame: pd.DataFrame, analysis: Analysis, facts: Mapping[str, Any]
) -> None:
    """Write results and judgments next to what `judgestats.runner.record.write_plan` left.

    Parameters
    ----------
    folder : Path
        The run's files.
    frame : DataFrame
        The parsed judgments.
    analysis : Analysis
    facts : mapping
        From `about`.
    """
    write_results(folder, analysis, facts)
    read = set(PARSED_COLUMNS) - set(RAW_COLUMNS)
    raw_columns = [c for c in frame.columns if c not in read]
    frame.to_parquet(folder / "data" / "judgments.parquet", index=False)
    frame[raw_columns].to_parquet(folder / "data" / "raw.parquet", index=False)
    write_manifest(folder, facts["design"]["scale"])


def log_results(
    prepared: Prepared, run: runs.RunWriter, analysis: Analysis, results: Results
) -> None:
    """Log the answer, the numbers, and a child run per condition.

    Parameters
    ----------
    prepared : Prepared
    run : RunWriter
    analysis : Analysis
    results : Results
        Its records, with the facts of the run.
    """
    if not results.facts["complete"]:
        run.tags({runs.INCOMPLETE: "true"})
    by_label = {c.label: c for c in prepared.conditions}
    children = {}
    for label in (c.label for c in results.conditions):
        if label not in by_label:
            continue  # made from the judgments of other conditions, such as a mean of them
        condition = by_label[label]
        spec = prepared.judges[condition.judge]
        own_tags = {
            "judgestats.kind": "condition",
            "judgestats.runner": prepared.design.name,
            "judgestats.simulated": str(spec.simulated).lower(),
        }
        params = {
            "judge/model": spec.model,
            "judge/temperature": as_text(condition.temperature),
            "design/replicates": prepared.parameters.repeats,
            **{f"factor/{k}": v for k, v in condition.levels.items()},
        }
        children[label] = (own_tags, params)
    log_answer(run, results, params=analysis.params, curves=analysis.curves, children=children)


def completed(
    prepared: Prepared,
    frame: pd.DataFrame,
    analysis: Analysis,
    *,
    error: float = 0.05,
) -> Analysis:
    """The analysis with what accompanies every answer, and with texts that need care named.

    Parameters
    ----------
    prepared : Prepared
    frame : DataFrame
        The parsed judgments.
    analysis : Analysis
    error : float
        Of verdicts.
    """
    scale = prepared.parameters.scale
    analysis = supplemented(
        analysis,
        with_systems(frame, prepared.items),
        level=prepared.plan.level,
        scale=(float(scale.low), float(scale.high)),
    )
    units = {
        condition.label: listed
        for condition, listed in prepared.units.items()
        # What the probes put into a text is no finding.
        if prepared.design.name != "probe" or condition.factors["probe"] == ORIGINAL
    }
    analysis = with_flagged_texts(analysis, units)
    analysis = with_people_error(
        analysis, frame, prepared.items, people=prepared.parameters.get("people", ""),
        scale=prepared.parameters.scale, level=prepared.plan.level,
    )  # fmt: skip
    analysis = with_disagreements(
        analysis, frame, texts_of(prepared.items), texts=prepared.parameters.texts == "on"
    )
    return measured(prepared, frame, analysis, error=error)


def measured(
    prepared: Prepared, frame: pd.DataFrame, analysis: Analysis, *, error: float = 0.05
) -> Analysis:
    """The analysis with what verdicts rest on, of an experiment that decides.

    Parameters
    ----------
    prepared : Prepared
    frame : DataFrame
        The parsed judgments.
    analysis : Analysis
    error : float
        Of all verdicts together.
    """
    if prepared.design.name not in _DECIDED:
        return analysis
    if prepared.design.name == "validity":
        parts = [part for _, part in frame.groupby("condition", sort=False)]
        frame = pd.concat([labelled_frame(p, prepared.items, prepared.plan)[0] for p in parts])
    return with_measures(analysis, frame, DecisionOptions(origin="experiment", error=error))


_DECIDED = frozenset({"temperature", "omega", "validity", "judges", "head_to_tail", "grade_score"})
"""Experiments that decide on each judge and condition."""


def about(
    prepared: Prepared, frame: pd.DataFrame, collected: Collected, command: str
) -> dict[str, Any]:
    """What results.json says beyond the analysis: judges, design, account, command.

    Parameters
    ----------
    prepared : Prepared
    frame : DataFrame
        The parsed judgments.
    collected : Collected
    command : str
        The command that repeats the run.

    Returns
    -------
    dict
    """
    from judgestats.runner.common_parameters import settings_of
    from judgestats.runner.sources import STAGE_JUDGES, source_name

    p = prepared.parameters
    elsewhere = {STAGE_JUDGES[name] for name in prepared.stage_judges}
    stage = frame["stage"].map(stage_kind)
    judges = [
        _judge(name, spec, frame[(frame["judge"] == name) & ~stage.isin(elsewhere)])
        for name, spec in prepared.judges.items()
    ]
    at_stages = [
        {"stage": STAGE_JUDGES[name], **_judge(p[name], spec, frame[stage == STAGE_JUDGES[name]])}
        for name, spec in prepared.stage_judges.items()
    ]
    first = next(iter(prepared.protocols.values()))
    declared = Design.from_frame(frame)
    return {
        "kind": "experiment",
        "title": prepared.design.title,
        "simulated": prepared.simulated,
        "judges": judges,
        **({"stage_judges": at_stages} if at_stages else {}),
        "design": {
            "experiment": prepared.design.name,
            "protocol": first.name,
            "conditions": [c.label for c in prepared.conditions],
            "temperatures": list(p.temperatures),
            "settings": settings_of(p),
            "varied": {k: list(v) for k, v in (p.get("vary") or {}).items()},
            "replicates": p.repeats,
            "items": len({u.item_id for u in next(iter(prepared.units.values()))}),
            "clusters": len({u.cluster for u in next(iter(prepared.units.values()))}),
            "item_source": source_name(p.items),
            "wording": prepared.wording_statement,
            "contrast": _compared(prepared),
            "scale": [p.scale.low, p.scale.high],
            "choices_per_request": p.samples_per_request,
            "facets": plain(declared),
            "line": declared.line,
            "seed": p.seed,
            "resamples": p.resamples,
        },
        "parameters": {**p.as_texts(), **output_parameters()},
        "families": plain(prepared.plan.hypotheses),
        "account": plain(collected.account.as_dict()),
        **({"answers": plain(prepared.answers.record)} if prepared.answers else {}),
        "complete": collected.complete,
        "judge_notes": list(collected.notes),
        "command": command,
    }


def _compared(prepared: Prepared) -> list[list[str]]:
    """Labels of what the study's claim compares, baseline first; not of levels run less often."""
    contrasts = prepared.design.contrasts
    found = []
    for contrast in contrasts:
        is_shown = contrast.base or contrast.vary == "temperature"
        if is_shown and contrast.vary == contrasts[0].vary:
            groups = contrast.groups(prepared.conditions)
            found += [group for group in groups if len(group) == max(map(len, groups))]
    return found


def _judge(name: str, spec: JudgeSpec, own: pd.DataFrame) -> dict[str, Any]:
    """A judge as asked for, and as its server reported itself in its own judgments."""
    return {
        "name": name,
        "model": spec.model,
        "simulated": spec.simulated,
        "endpoint": "in this process" if spec.in_process else spec.base_url,
        "settings": {
            **plain(spec.settings),
            **({"reply": spec.reply_mode.value} if spec.reply_mode else {}),
            **({"concurrency": spec.concurrency} if spec.concurrency else {}),
            **({"price": plain(spec.price)} if spec.price else {}),
        },
        "model_reported": sorted(set(own["model_reported"]) - {""}),
        "fingerprints": sorted(set(own["fingerprint"]) - {""})[:20],
        "reply_mode": sorted(set(own["reply_mode"]) - {""}),
        "prompt_sha": sorted(set(own["prompt_sha"]) - {""}),
    }


def log_answer(
    run: runs.RunWriter,
    results: Results,
    *,
    params: Mapping[str, Any],
    curves: Mapping[str, list[tuple[int, float]]],
    children: Mapping[str, tuple[Mapping[str, str], Mapping[str, Any]]],
) -> None:
    """Log the answer, its numbers, and a child run per condition for MLflow's comparison page.

    Parameters
    ----------
    run : RunWriter
    results : Results
    params, curves : mapping
    children : mapping of condition to (tags, parameters)
    """
    run.answered(results)
    run.numbers(results.metrics, params=params, curves=curves)
    if len(children) > runs.MOST_CHILDREN:
        run.conditions(results)
        return
    numbers = runs.metrics_of(results)
    for label, (own_tags, own_params) in children.items():
        with run.child(name=label, tags=own_tags) as child:
            child.numbers(numbers.get(label, {}), params=own_params)


def run_name(prepared: Prepared) -> str:
    """The experiment and its first judge; how many more there are."""
    judges = [s.model for s in prepared.judges.values()]
    more = f" +{len(judges) - 1}" if len(judges) > 1 else ""
    return f"{prepared.design.name}: {judges[0]}{more}"


def tags(prepared: Prepared) -> dict[str, str]:
    """What MLflow shows of a run before it is opened."""
    return {
        "judgestats.kind": "experiment",
        "judgestats.runner": prepared.design.name,
        "judgestats.simulated": str(prepared.simulated).lower(),
        "mlflow.note.content": (
            f"**{prepared.design.title}**\n\n{prepared.design.question}\n\n"
            + _simulated(prepared)
            + (f"{prepared.wording_statement}\n\n" if prepared.wording.kind else "")
            + "Open `report.html` under Artifacts; the child runs are the conditions."
        ),
    }


def _simulated(prepared: Prepared) -> str:
    names = [name for name, spec in prepared.models.items() if spec.simulated]
    if not names:
        return ""
    return (
        "SIMULATED: "
        f"{'all judges' if len(names) == len(prepared.models) else ', '.join(names)}.\n\n"
    )


def write_plan(prepared: Prepared, folder: Path, command: str) -> None:
    """Write design, plan, prompts and items to the run's files before the first call.

    The plan's time and digest are in session.json.

    Parameters
    ----------
    prepared : Prepared
    folder : Path
        The run's files.
    command : str
        The command that repeats the run.
    """
    p, plan = prepared.parameters, folder / "plan.json"
    write_json(plan, prepared.plan)
    planned = {
        "at": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "sha256": hashlib.sha256(plan.read_bytes()).hexdigest(),
    }
    name = p.run_name or run_name(prepared)
    kept = session(command=command, run_name=name)
    asked = {"experiment": prepared.design.name, "parameters": dict(prepared.given)}
    write_json(folder / "session.json", {**kept, **asked, "plan": planned})
    (folder / "prompts").mkdir(exist_ok=True)
    for prompt_sha, text in _templates(prepared).items():
        (folder / "prompts" / f"{prompt_sha}.txt").write_text(text, encoding="utf-8")
    from judgestats.runner.prompts import rendered

    write_json(folder / "prompts" / "rendered.json", [r.record() for r in rendered(prepared)])
    (folder / "data").mkdir(exist_ok=True)
    write_items(prepared.items, folder / "data" / "items.jsonl")


def _templates(prepared: Prepared) -> dict[str, str]:
    """The texts of the prompts by their digests, without what a paper has."""
    from judgestats.runner.common_parameters import templates_of
    from judgestats.runner.study_prompts import printed_prompts

    protocols = prepared.protocols.values()
    printed = {t for protocol in protocols for t in printed_prompts(protocol)}
    used = (t for protocol in protocols for t in templates_of(protocol))
    return {t.sha: t.text for t in used if t not in printed}


def log_plan(prepared: Prepared, run: runs.RunWriter, folder: Path) -> None:
    """Log what `write_plan` wrote, with the endpoint cards of the judges.

    Parameters
    ----------
    prepared : Prepared
    run : RunWriter
    folder : Path
        The run's files.
    """
    from judgestats.runner.sources import source_name

    p, first = prepared.parameters, next(iter(prepared.protocols.values()))
    sha = item_set_sha(prepared.items)
    if cards := _cards(prepared, run, folder):
        run.tags(cards)
    own = dict.fromkeys(request.sha256 for request in prepared.requests.values())
    shas = list(own) or _templates(prepared)
    run.tags({"prompt_sha256": ", ".join(shas), "data/sha256": sha})
    run.numbers(
        {},
        params={
            **p.logged(),
            **{f"parameter/{name}": text for name, text in output_parameters().items()},
            "judge/models": ", ".join(s.model for s in prepared.judges.values()),
            "judge/protocol": first.name,
            "design/experiment": prepared.design.name,
            "design/items": len({u.item_id for u in next(iter(prepared.units.values()))}),
            "design/conditions": len(prepared.conditions),
            "data/items": source_name(p.items),
            **(prepared.answers.params if prepared.answers else {}),
        },
    )
    table = pd.DataFrame(
        [
            {
                "item_id": u.item_id,
                "cluster": u.cluster,
                "category": u.category,
                "question": u.item.question[:500],
            }
            for u in next(iter(prepared.units.values()))
        ]
    )
    run.dataset(
        table,
        name=file_name(source_name(p.items)),
        digest=sha,
        source=source_name(p.items),
        context="judged",
    )


def _cards(prepared: Prepared, run: runs.RunWriter, folder: Path) -> dict[str, str]:
    """Put the newest endpoint card of every judge next to the judgments; tags say of which day."""
    tags = {}
    for name, spec in prepared.models.items():
        card = None if spec.in_process else runs.last_card(run.store, *spec.address)
        if card is not None:
            write_json(folder / "endpoints" / f"{file_name(name)}.json", card)
            tags[f"judgestats.endpoint.{key(name)}"] = str(card.get("asked_at", ""))
    return tags


class CallTraces:
    """Heeds every call that a collection finishes, and writes it as a trace.

    Parameters
    ----------
    tasks : iterable of Task
        The plan; what follows from answers is learned on the way.
    protocols, units : mapping
        Who reads the replies of a condition, and what is judged; both may grow.
    store : Store
    run_id : str
    """

    def __init__(
        self,
        tasks: Iterable[Task],
        protocols: Mapping[str, JudgingProtocol],
        units: Mapping[tuple[str, str], Unit],
        store: Store,
        run_id: str,
    ) -> None:
        self._tasks = {task.key: task for task in tasks}
        self._protocols, self._units = protocols, units
        self._seen: set[tuple[Any, ...]] = set()
        self._writer = TraceWriter(store, run_id, self._call)

    def heeding(self, ask: CollectionRequest) -> CollectionRequest:
        """The same collection, whose finished calls are heeded."""
        following = ask.follow_up

        def follow_up(row: Mapping[str, Any]) -> Iterable[Task]:
            self.add(row)
            tasks = list(following(row)) if following is not None else []  # type: ignore[arg-type]
            self._tasks.update({task.key: task for task in tasks})
            return tasks

        return replace(ask, follow_up=follow_up)

    def add(self, row: Mapping[str, Any]) -> None:
        """Take a call that is done, once."""
        key = _key(row)
        if key in self._tasks and key not in self._seen:
            self._seen.add(key)
            self._writer.add(row)

    def close(self) -> None:
        """Write what waits, and say where it is, or why it is not there."""
        with announce_progress("Writing traces"):
            self._writer.close()
        if self._writer.fault:
            console.print_status(
                f"Traces: {self._writer.written} written, then {self._writer.fault}."
            )
        else:
            console.print_status(
                f"Traces: {self._writer.written}, under Traces on the run's MLflow page."
            )

    def _call(self, row: Mapping[str, Any]) -> Call:
        task = self._tasks[_key(row)]
        verdict = read_judgment(
            reader_of(self._protocols[row["condition"]], row["stage"]),
            self._units[row["item_id"], row["order"]],
            transport=row["transport"],
            mode=row["reply_mode"],
            text=row["raw_text"],
            finish_reason=row["finish_reason"],
            failure=row["failure"],
        )
        value: float | str | None = verdict.choice or None
        if verdict.score is not None and math.isfinite(verdict.score):
            value = float(verdict.score)
        counts = {"input_tokens": row["tokens_in"], "output_tokens": row["tokens_out"]}
        return Call(
            key=tuple(map(str, _key(row))),
            judge=row["judge"],
            condition=row["condition"],
            model=row["model_reported"],
            messages=prompted_in(ReplyMode(row["reply_mode"]), task.build).messages,
            reply=row["raw_text"],
            value=value,
            rationale=verdict.explanation,
            status=verdict.status.value,
            reason=verdict.reason,
            tokens={k: int(v) for k, v in counts.items() if _is_finite(v)},
            asked_at=row["asked_at"],
            latency_s=float(row["latency_s"]) if _is_finite(row["latency_s"]) else 0.0,
        )


def _is_finite(value: Any) -> bool:
    return value is not None and math.isfinite(value)


def _key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return (row["condition"], row["item_id"], row["order"], row["stage"], row["replicate"])


Attach = Callable[[runs.RunWriter], dict[str, Path | str]]
"""Waits for the report, attaches it to a run, and says where it is.

By format: a local path where the artifacts are local, else the artifact's name. Empty where no
report could be rendered: this is reported, and the run does not fail, as its results are complete.
"""


@contextmanager
def rendering(
    folder: Path, *, formats: Sequence[str], detail: str = "brief", texts: bool = True
) -> Iterator[Attach]:
    """Write the interactive page, run the report's cells; pandoc and typst work on meanwhile.

    Parameters
    ----------
    folder : Path
        The run's files, already complete.
    formats : sequence of str
        Without any, nothing is rendered.
    detail : {"brief", "full"}
    texts : bool
        Whether the interactive page holds texts of items and replies.

    Yields
    ------
    Attach
    """
    if not formats:
        yield lambda run: {}  # noqa: ARG005
        return
    write_explorer(folder, texts=texts)
    from judgestats.reporting.renderer import begin_report

    with (
        scratch_folder("report") as scratch,
        ExitStack() as stack,
    ):
        publish: Publish | RenderError | OSError
        try:
            with announce_progress("Rendering the report"):
                publish = stack.enter_context(
                    begin_report(folder, to=formats, out_dir=scratch, detail=detail, figures=True)
                )
        except (RenderError, OSError) as error:
            publish = error
        yield partial(_attach, publish, Path(scratch))


def report_code(formats: Sequence[str], reports: Mapping[str, Path | str]) -> int:
    """5 where a report was asked for and none was made, else 0."""
    return 5 if formats and not reports else 0


def write_explorer(folder: Path, *, texts: bool = True) -> None:
    """Write the interactive page of a run into its folder, where it holds judgments."""
    from judgestats.reporting.explorer import run_page, write_page
    from judgestats.reporting.runs import load_run

    run = load_run(folder)
    if run.finals.empty:
        return
    try:
        write_page(run_page(run, keep_texts=texts), folder / "explore.html")
    except InputError as error:
        console.print_status(f"No interactive page was made: {error}")


def _attach(
    publish: Publish | RenderError | OSError, scratch: Path, run: runs.RunWriter
) -> dict[str, Path | str]:
    with announce_progress("Rendering the report"):
        try:
            if isinstance(publish, Exception):
                raise publish
            paths = publish()
        except (RenderError, OSError) as error:
            reason = " ".join(str(error).split())
            run.tags({"report": f"failed: {reason}"})
            console.print_status(
                f"The run is complete ({run.run_id}). The report failed: {reason} Retry with "
                f"judgestats report {run.run_id}.",
                "",
            )
            return {}
    run.artifacts(scratch)
    place = runs.artifact_path(run.store, run.run_id)
    return {
        kind: place / path.name if isinstance(place, Path) else f"{place}/{path.name}"
        for kind, path in paths.items()
    }
