"""Audit of a file of judgments as an MLflow run."""

from __future__ import annotations

import hashlib
import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from judgestats.analysis import Analysis, AnalysisPlan
from judgestats.analysis.coefficients import statistics_of
from judgestats.analysis.specifications import specifications_of
from judgestats.commands.arguments import (
    Args,
    argument_texts,
    given_options,
    table_options,
)
from judgestats.commands.declarations import COMMANDS
from judgestats.commands.options import repeated_options
from judgestats.data.readers.columns import TEXTS
from judgestats.data.readers.frame import bare
from judgestats.data.readers.interpretation import counts_of, reading_of
from judgestats.data.readers.options import TableOptions
from judgestats.data.readers.registry import is_streamed, read_judgments
from judgestats.data.readers.row_checks import question_record
from judgestats.data.schema import BECAME, run_file, write_manifest
from judgestats.deadlines import scratch_folder
from judgestats.engine import parse_engine
from judgestats.errors import InputError, RenderError, guard_output
from judgestats.files.remote import local_file
from judgestats.files.text import command_word
from judgestats.protocols.base import NO_REPLY, Status
from judgestats.results import DecisionOptions, Results, plain
from judgestats.results.numbers import count_noun
from judgestats.runner import Links, announce_progress, finish, show
from judgestats.runner import display as console


def analyze_command(arguments: Args) -> int:
    """Check the words, and audit the file.

    Parameters
    ----------
    arguments : Args
        As `judgestats.cli` parses them.

    Returns
    -------
    int
        0.
    """
    formats: tuple[str, ...] = ()
    if arguments.report != "none":
        from judgestats.runner.common_parameters import FORMATS

        formats = FORMATS("report", arguments.report)
    if arguments.resamples < 99:
        raise InputError(f"analyze: --resamples must be at least 99, got {arguments.resamples}.")
    if arguments.joint and not arguments.specs:
        raise InputError("analyze: --joint tests the curve of --specs. Add --specs.")
    words = table_options(arguments)
    path = local_file(arguments.file)
    if (judgments := run_file(path)) != path:
        path, arguments.file = judgments, str(judgments)
    if arguments.further and not from_store(arguments, path):
        raise InputError(
            f"analyze: several files ({arguments.file}, {arguments.further[0]} ...): name "
            "one, or the folder that holds one tool's logs. Several MLflow runs may be named."
        )
    with console.use_output(console.parse_output_options(arguments)):
        return audit_file(arguments, path, words, formats)


@dataclass(frozen=True, kw_only=True)
class _AuditInput:
    """What was read and found, whichever way."""

    declared: AnalysisPlan
    analysis: Analysis
    line: str
    reader: str
    judges: tuple[str, ...]
    design: dict[str, Any]
    head: pd.DataFrame
    whole: pd.DataFrame | None
    texts: pd.DataFrame | None = None
    traces: tuple[str, ...] = ()
    experiment: str = ""
    frame: pd.DataFrame | None = None
    reading: Mapping[str, Any] | None = None

    def further(self, results: Results) -> dict[str, Any]:
        """The reading and the list of statistics, for programs."""
        frame = self.head if self.frame is None else self.frame
        reading = self.reading if self.frame is None else reading_of(self.frame)
        if reading is None:
            return {}
        return {
            "reading": reading, "statistics": statistics_of(results, frame),
            **({"specs": specs} if (specs := specifications_of(self.analysis)) else {}),
        }  # fmt: skip


def audit_file(arguments: Args, path: Path, words: dict[str, Any], formats: tuple[str, ...]) -> int:
    """Read, validate, audit, log, report.

    Parameters
    ----------
    arguments : Args
        As `judgestats.cli` parses them.
    path : Path
        The file.
    words : dict
        How its table is read, as `judgestats.commands.arguments.table_options` has it.
    formats : tuple of str
        Of the report.

    Returns
    -------
    int
        0.
    """
    began = time.time()
    if arguments.track != "none":
        from judgestats.runner import record
        from judgestats.tracking.runs import RunWriter, earlier_looks, run_files
        from judgestats.tracking.store import open_audit_store, start_import

        if _is_large(path):
            start_import()
    engine = parse_engine(arguments.engine)
    with announce_progress(f"Reading and analysing {path.name}"), engine.running():
        judged = _audited(arguments, path, words)
    analysis = judged.analysis
    console.print_verbose(judged.line)
    if judged.declared.design is not None:
        console.print_status(judged.declared.design.line)
    command = _command(arguments)
    facts = _about(arguments, path, judged, command)
    look: dict[str, str] = {}
    if arguments.track != "none" and (look := look_tags(analysis, path)):
        k = 1 + earlier_looks(open_audit_store(judged.experiment), look)
        analysis = replace(
            analysis, decision=replace(analysis.decision, looks=max(arguments.looks, k))
        )
        judged = replace(judged, analysis=analysis)
    results = analysis.records(facts)
    name = arguments.run_name or f"audit: {console.file_called(path)}"
    if arguments.track == "none":
        return _untracked(arguments, judged, facts, name, formats)

    tags = {"judgestats.kind": "audit", "judgestats.simulated": "false", **look}
    digest = _digest(path)
    with run_files() as folder, ExitStack() as running:
        following = next_commands(arguments, results, judged)
        show(results, following=following, linked=True)
        _write(folder, judged, facts, name)
        if (checked := _to_check(arguments, judged, kept=True)) is not None:
            results = record.record_crosscheck(folder, checked, results)
        store = open_audit_store(judged.experiment)
        run = running.enter_context(
            RunWriter(store, name=name, tags=tags, run_id=store.adopted_run, started=began)
        )
        record.write_run_id(folder, run.run_id)
        texts = arguments.texts == "on"
        with record.rendering(
            folder, formats=formats, detail=arguments.detail, texts=texts
        ) as attach:
            run.dataset(
                judged.head,
                name=record.file_name(path.name),
                digest=digest,
                source=path.name,
                context="judgments",
            )
            record.log_answer(
                run,
                results,
                params={
                    **{_LOGGED.get(n, f"parameter/{n}"): t for n, t in facts["parameters"].items()},
                    "judge/models": ", ".join(judged.judges),
                    "data/items": path.name,
                    "data/reader": judged.reader,
                    "data/sha256": digest[:12],
                    "data/streamed": judged.whole is None,
                    "design/experiment": "audit",
                    "design/conditions": len(analysis.conditions),
                    "design/items": judged.design["items"],
                    "design/replicates": judged.design["replicates"],
                    **analysis.params,
                },
                curves=analysis.curves,
                children={
                    str(row["condition"]): (
                        {**tags, "judgestats.kind": "condition"},
                        {"judge/model": row["judge"], "judge/temperature": row["temperature"]},
                    )
                    for row in analysis.conditions.to_dict("records")
                },
            )
            run.artifacts(folder)
            fault = run.link(judged.traces) if judged.traces else ""
            run.finish("FINISHED")
            if fault:
                console.print_result(fault)
            reports = attach(run)
        links = Links(run.run_id, store, conditions=run.children, reports=reports)
        finish(results, links, following=following, further=judged.further(results))
    return record.report_code(formats, reports)


def look_tags(analysis: Analysis, path: Path) -> dict[str, str]:
    """What tells repeated checks of growing labels from one another; empty without labels.

    Parameters
    ----------
    analysis : Analysis
    path : Path
        The file of judgments.
    """
    from judgestats.tracking.runs import LOOK, LOOK_OF

    labels = {m.subject.label: 0 for m in analysis.measures if m.key in {"tpr", "tnr"}}
    for m in analysis.measures:
        if m.key in {"tpr", "tnr"}:
            labels[m.subject.label] += m.n
    if not labels:
        return {}
    decision = analysis.decision
    asked = (str(path.resolve()), decision.purpose, *decision.required, "", *labels)
    digest = hashlib.sha256("\0".join(asked).encode()).hexdigest()[:16]
    return {LOOK_OF: digest, LOOK: str(max(labels.values()))}


_LOGGED = {name: f"analysis/{name}" for name in ("seed", "resamples", "omega_model")}
"""What MLflow calls the parameters of the analysis; all others are ``parameter/NAME``."""


def _write(
    folder: Path,
    judged: _AuditInput,
    facts: Mapping[str, Any],
    name: str,
) -> None:
    """The files of an audit, as its run and its reports have them."""
    from judgestats.runner import record

    record.write_json(folder / "plan.json", judged.declared)
    record.write_results(folder, judged.analysis, facts)
    if judged.whole is not None:
        (folder / "data").mkdir(exist_ok=True)
        judged.whole.to_parquet(folder / "data" / "judgments.parquet", index=False)
        if judged.texts is not None:
            judged.texts.to_parquet(folder / "data" / "texts.parquet", index=False)
        write_manifest(folder, (facts.get("design") or {}).get("scale"))
    kept = record.session(command=str(facts["command"]), run_name=name)
    record.write_json(folder / "session.json", kept)


def _to_check(arguments: Args, judged: _AuditInput, *, kept: bool) -> pd.DataFrame | None:
    """The judgments that other packages take; None if nothing is recomputed."""
    small = judged.whole is not None and len(judged.whole) <= CHECKED_ROWS
    wanted = kept and small if arguments.crosscheck == "auto" else arguments.crosscheck == "yes"
    return judged.whole if wanted else None


def _untracked(
    arguments: Args,
    judged: _AuditInput,
    facts: Mapping[str, Any],
    name: str,
    formats: tuple[str, ...],
) -> int:
    """Without MLflow: the screen; with a report, the audit's files in a folder next to it."""
    results = judged.analysis.records(facts)
    checked = _to_check(arguments, judged, kept=bool(formats))
    following = next_commands(arguments, results, judged)
    if not formats:
        again = " ".join(["judgestats analyze", command_word(arguments.file), "--all"])
        following = following or [again]
        show(results, following=following)
        if checked is not None:
            from judgestats.runner import record

            with scratch_folder() as scratch:
                results = record.record_crosscheck(Path(scratch), checked, results)
        finish(results, following=following, further=judged.further(results))
        return 0
    from judgestats.reporting.renderer import render_report
    from judgestats.runner import record

    folder = Path("judgestats-reports") / record.file_name(name)
    show(results, following=following, linked=True)
    with guard_output(folder):
        folder.mkdir(parents=True, exist_ok=True)
        _write(folder, judged, facts, name)
        if checked is not None:
            results = record.record_crosscheck(folder, checked, results)
    try:
        with announce_progress("Rendering the report"), guard_output(folder):
            record.write_explorer(folder, texts=arguments.texts == "on")
            made = render_report(
                folder, to=formats, out_dir=folder, detail=arguments.detail, figures=True
            )
    except RenderError as error:
        error.exit_code = 5
        error.add_note(
            f"The results are in {folder}. Retry with judgestats report {command_word(folder)}."
        )
        raise
    show_again = f"judgestats show {command_word(folder)}"
    following = [*following, show_again, *map(str, made.values())]
    finish(results, following=following, further=judged.further(results))
    return 0


_SHARES = ("mix", "sensitivity", "specificity")
CHECKED_ROWS = 500_000
"""Judgments up to which other packages recompute numbers without being asked: some 15 seconds."""
LARGE_BYTES = 64 << 20
"""Size of a file, or of a folder's files, whose reading leaves time to import MLflow meanwhile."""


def _is_large(path: Path) -> bool:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file()) >= LARGE_BYTES


def _frames(arguments: Args, path: Path, words: dict[str, Any]) -> Iterator[pd.DataFrame]:
    """The judgments: one frame, or several of whole conditions where there are very many."""
    if from_store(arguments, path):
        from judgestats.api import read_judgments as read_any

        said = {n: words[n] for n in ("judge", "values") if words[n]}
        yield read_any([arguments.file, *arguments.further], **said)
        return
    options = TableOptions(**words)
    table = arguments.reader in {"auto", "table"}
    if table and path.exists() and is_streamed(path, options, arguments.stream):
        from judgestats.data.readers.large.reduce import condition_frames

        with asking("analyze", arguments.file):
            yield from condition_frames(path, options)
    else:
        yield read_or_ask(path, arguments, {**words, "stream": arguments.stream})


def _audited(arguments: Args, path: Path, words: dict[str, Any]) -> _AuditInput:
    parts: list[_AuditInput] = []
    frames = _frames(arguments, path, words)
    while (frame := next(frames, None)) is not None:
        parts.append(_audited_frame(arguments, path, frame, words))
        del frame  # before the next one is made
    return parts[0] if len(parts) == 1 else _merged(parts)


def _merged(parts: Sequence[_AuditInput]) -> _AuditInput:
    """Audits of frames of conditions as one; conditions of different frames are not compared."""
    from judgestats.analysis.audit import merge_analyses, merged_plan
    from judgestats.data.readers.large.reduce import MOST_ROWS

    first = parts[0]
    designs = [p.declared.design for p in parts if p.declared.design is not None]
    judges = tuple(dict.fromkeys(j for p in parts for j in p.judges))
    declared = merged_plan([p.declared for p in parts])
    declared = replace(declared, design=replace(
        designs[0], n_judges=len(judges), n_conditions=sum(d.n_conditions for d in designs),
        runs=(min(d.runs[0] for d in designs), max(d.runs[1] for d in designs)),
    ))  # fmt: skip
    limit = (
        f"Conditions were audited in {len(parts)} parts of at most {MOST_ROWS:,} judgments. "
        "Conditions of different parts are not compared."
    )
    named = [(f"part_{i}", _of_conditions(p.analysis)) for i, p in enumerate(parts, start=1)]
    analysis = replace(
        merge_analyses(named, [], [limit]),
        measures=tuple(m for p in parts for m in p.analysis.measures),
        decision=first.analysis.decision,
        decisions=tuple(d for p in parts for d in p.analysis.decisions),
    )
    readings = [p.reading for p in parts if p.reading is not None]
    added = {"rows_in", "rows_filtered", "judgments", "not_applicable", "unparsed", "error",
             "missing"}  # fmt: skip
    counts = {
        name: (sum if name in added else max)(r["counts"][name] for r in readings)
        for name in readings[0]["counts"]
    } | {"judges": len(judges)}
    line = (
        f"Read {counts['rows_in']:,} rows of {counts['items']:,} items by "
        f"{count_noun(len(judges), 'judge', 'judges')}."
    )
    understood = first.line.splitlines()[1:]
    return replace(
        first, declared=declared, analysis=analysis, judges=judges,
        line="\n".join([line, limit, *understood]),
        head=pd.concat([p.head for p in parts]), reading={**readings[0], "counts": counts},
    )  # fmt: skip


def _of_conditions(analysis: Analysis) -> Analysis:
    """An analysis without what rests on several conditions: others are in other parts."""
    kept = [
        r for r in analysis.results
        if len(r.about.conditions) == 1 and not r.id.startswith("instrument.leniency.")
    ]  # fmt: skip
    ids = {r.id for r in (*kept, *analysis.described)}
    return replace(
        analysis,
        results=tuple(kept),
        headlines=tuple(h for h in analysis.headlines if ids.issuperset(h.rests_on)),
        rows=tuple(
            row for row in analysis.rows
            if ids.intersection(cell.partition("/")[0] for cell in row.cells.values())
        ),
    )  # fmt: skip


def _audited_frame(
    arguments: Args, path: Path, frame: pd.DataFrame, words: dict[str, Any]
) -> _AuditInput:
    from judgestats.analysis.audit import audit_read, plan_for
    from judgestats.analysis.leaderboard import add_scores
    from judgestats.analysis.measures import with_measures
    from judgestats.analysis.supplements import supplemented
    from judgestats.analysis.text_checks import LINKED, join_copies
    from judgestats.analysis.validity import texts_in
    from judgestats.analysis.validity_systems import with_disagreements

    streamed = "files" in frame.attrs
    choices: dict[str, Any] = {
        "n_resamples": arguments.resamples,
        **{n: getattr(arguments, n) for n in ("seed", "labels_drawn", "omega_model", *_SHARES)},
        "specs": "joint" if arguments.joint else "yes" if arguments.specs else "",
    }
    frame, copies = join_copies(frame, arguments.duplicates)
    declared = plan_for(frame, **choices)
    if declared.design is not None and arguments.duplicates == "cluster":
        design = replace(declared.design, n_copies=copies.n_copies)
        declared = replace(declared, design=design)
    analysis = audit_read(frame, notes=frame.attrs["notes"], limits=copies.limits, **choices)
    rows = bare(frame)
    rows.attrs = {k: v for k, v in frame.attrs.items() if k in {LINKED, "notes"}}
    analysis = supplemented(analysis, rows, level=declared.level, scale=frame.attrs.get("scale"))
    analysis = with_disagreements(analysis, rows, texts_in(rows), texts=arguments.texts == "on")
    analysis = with_measures(analysis, rows, decision_options(arguments))
    if arguments.beside:
        from judgestats.api import read_judgments as read_any

        analysis = add_scores(
            analysis, read_any(arguments.beside), level=declared.level, seed=arguments.seed
        )
    alone = frame.attrs.get("frames", 1) == 1
    held = ["condition", "item_id", "cluster", "replicate", "status", "score", "choice"]
    of_part = [*held, *(c for c in ("judge", "criterion") if c in frame)]
    return _AuditInput(
        declared=declared,
        analysis=analysis,
        line=_read_lines(path, frame),
        reader=str(frame.attrs["reader"]),
        judges=tuple(frame["judge"].unique()),
        design={
            "items": int(frame["item_id"].nunique()),
            "clusters": int(frame["cluster"].nunique()),
            "replicates": int(frame["replicate"].nunique()),
            "columns": plain(frame.attrs.get("columns_read", {})),
            "scale": plain(frame.attrs.get("scale")),
            "scale_assumed": not words["scale"],
            "understood": plain(frame.attrs.get("understood", [])),
            "notes": plain(frame.attrs["notes"]),
            **({"streamed": True} if streamed else {}),
        },
        head=frame[held] if alone else frame[of_part].drop_duplicates("condition"),
        whole=None if streamed else frame.drop(columns=[*TEXTS], errors="ignore"),
        texts=_item_texts(frame) if arguments.texts == "on" else None,
        traces=tuple(frame["trace_id"].unique()) if "experiment_id" in frame.attrs else (),
        experiment=str(frame.attrs.get("experiment_id", "")),
        frame=frame if alone else None,
        reading=None if alone else _of_part(frame),
    )


def _of_part(frame: pd.DataFrame) -> dict[str, Any]:
    """The reading of some conditions of a file, with the items of all."""
    reading = reading_of(frame)
    return {**reading, "counts": {**reading["counts"], **frame.attrs["whole"]}}


def _item_texts(frame: pd.DataFrame) -> pd.DataFrame | None:
    """Question and answer of each item once, for the interactive page."""
    own = [c for c in TEXTS if c in frame]
    return frame[["item_id", *own]].drop_duplicates("item_id") if own else None


def next_commands(arguments: Args, results: Results, judged: _AuditInput) -> list[str]:
    """What to run next on a table: labels where there are none, more where they are too few."""
    file = command_word(arguments.file)
    if judged.reader != "table" or judged.frame is None or not results.verdicts:
        return []
    keys = {m.key for m in results.measures}
    labelled = bool(keys & {"tpr", "tnr", "kappa", "kappa_weighted", "accuracy"})
    wide = not labelled and not arguments.labels
    short = any(s.have and s.unit.startswith("label") for v in results.verdicts for s in v.next)
    if not (wide or short):
        return []
    counts = counts_of(judged.frame)
    if counts["labels"] and not counts["label_missing"]:
        return []
    kept = "more-labels.csv" if short else "labels.csv"
    drawn = min(200, counts["items"])
    again = [w for w in repeated_options(arguments) if not w.startswith("--labels ")]
    words = ["judgestats labels plan", file, *again, f"--labels {drawn}"]
    words += [f"--out {kept}"] if short else []
    plan, collect = " ".join(words), f"judgestats labels collect {kept}"
    is_short = len(f"Next  {plan} · {collect}") < console.screen_size()[0]
    return [plan, collect] if is_short else [plan]  # the first one names the second


def decision_options(arguments: Args) -> DecisionOptions:
    """How verdicts are made, as ``--for``, ``--require`` and the like say."""
    return DecisionOptions(
        purpose=getattr(arguments, "for"),
        required=tuple(arguments.require),
        looks=arguments.looks,
        labels_drawn=arguments.labels_drawn,
    )


def read_or_ask(path: Path, arguments: Args, words: Mapping[str, Any]) -> pd.DataFrame:
    """The judgments of a file; with ``--json`` a refusal is printed as the document.

    Raises
    ------
    InputError
        The file cannot be read, or in several ways.
    """
    with asking("analyze", arguments.file):
        return read_judgments(path, reader=arguments.reader, **words)


@contextmanager
def asking(*words: str) -> Iterator[None]:
    """With ``--json``, the refusal of a file is printed as the document; `words` of the command."""
    try:
        yield
    except InputError as refusal:
        if console.output_options().form == "json":
            command = ["judgestats", *words]
            console.write_json({"reading": question_record(refusal, command)})
        raise


def from_store(arguments: Args, path: Path) -> bool:
    """Whether runs of MLflow, or an experiment, are named rather than a file."""
    if path.exists():
        return False
    from judgestats.tracking.traces import is_stored

    return is_stored(arguments.file)


def _digest(path: Path) -> str:
    """SHA-256 of the file, or of a folder's files in order."""
    from judgestats.data.readers.logs import files_in
    from judgestats.files.tables import is_parquet, parquet_files

    if not path.exists():
        return ""  # a run of MLflow, which is not a file
    if is_parquet(path):
        files = list(parquet_files(path))
    else:
        files = files_in(path) if path.is_dir() else [path]
    digest = hashlib.sha256()
    for name in files:
        with name.open("rb") as file:
            while chunk := file.read(1 << 20):
                digest.update(chunk)
    return digest.hexdigest()


def _lost_counts(statuses: Mapping[str, int]) -> str:
    """Judgments without a verdict: replies that were not read, and what has no reply.

    Examples
    --------
    >>> _lost_counts({"ok": 5, "refused": 2, "failed": 1})
    '; unparsed: 2 refused; 1 not answered'
    """
    gone = {status.value: BECAME[status] for status in (*NO_REPLY, Status.NOT_APPLICABLE)}
    unread = [f"{n:,} {s}" for s, n in statuses.items() if n and s != "ok" and s not in gone]
    text = f"; unparsed: {', '.join(unread)}" if unread else ""
    return text + "".join(f"; {statuses[s]:,} {gone[s]}" for s in gone if statuses.get(s))


def _read_lines(path: Path, frame: pd.DataFrame) -> str:
    statuses = {str(s): int(n) for s, n in frame["status"].value_counts().items()}
    text = (
        f"Read {len(frame)} judgments of {frame['item_id'].nunique()} items in "
        f"{frame['cluster'].nunique()} clusters by "
        f"{count_noun(frame['judge'].nunique(), 'judge', 'judges')} from {path.name} "
        f"({frame.attrs['reader']}){_lost_counts(statuses)}."
    )
    understood = frame.attrs.get("understood", [])
    return "\n".join([text, *understood, *(f"Note: {note}" for note in frame.attrs["notes"])])


def _command(arguments: Args) -> str:
    path = Path(arguments.file)
    file = arguments.file if from_store(arguments, path) else path.name
    repeated = [
        option for option in COMMANDS["analyze"].options
        if option.name in {"texts", "crosscheck", "stream"}
        or (option.group not in {"Output", "Advanced"} and option.name not in {"resamples", "seed"})
    ]  # fmt: skip
    words = ["judgestats analyze", command_word(file), *map(shlex.quote, arguments.further)]
    words += given_options(repeated, arguments)
    return " ".join([*words, f"--resamples {arguments.resamples} --seed {arguments.seed}"])


def _about(arguments: Args, path: Path, judged: _AuditInput, command: str) -> dict[str, Any]:
    return {
        "kind": "audit",
        "title": f"Audit of {console.file_called(path)}",
        "simulated": False,
        "judges": [
            {"name": j, "model": j, "simulated": False, "model_reported": []} for j in judged.judges
        ],
        "design": {
            "experiment": "audit",
            "conditions": list(judged.analysis.conditions["condition"]),
            **judged.design,
            "facets": plain(judged.declared.design),
            "line": judged.declared.design.line if judged.declared.design else "",
            "item_source": path.name,
            "reader": judged.reader,
            "seed": arguments.seed,
            "resamples": arguments.resamples,
        },
        "parameters": argument_texts(COMMANDS["analyze"], arguments),
        "families": plain(judged.declared.hypotheses),
        "account": {},
        "complete": True,
        "command": command,
    }
