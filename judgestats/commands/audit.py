"""Audit of a file of judgments as an MLflow run."""

from __future__ import annotations

import hashlib
import shlex
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from judgestats.analysis import Analysis, AnalysisPlan
from judgestats.analysis.coefficients import statistics_of
from judgestats.analysis.specifications import specifications_of
from judgestats.commands.arguments import (
    Args,
    Option,
    argument_texts,
    repeated_options,
    table_options,
)
from judgestats.commands.declarations import COMMANDS
from judgestats.data.readers.columns import TEXTS
from judgestats.data.readers.frame import bare
from judgestats.data.readers.interpretation import counts_of, open_question_record, reading_of
from judgestats.data.readers.registry import read_judgments
from judgestats.data.readers.row_checks import OpenQuestionError
from judgestats.data.schema import BECAME, run_file, write_manifest
from judgestats.deadlines import scratch_folder
from judgestats.errors import InputError, RenderError, guard_output
from judgestats.files.remote import local_file
from judgestats.files.text import command_word
from judgestats.protocols.base import NO_REPLY, Status
from judgestats.results import DecisionOptions, Results, plain
from judgestats.results.numbers import count_noun
from judgestats.runner import Links, announce_progress, finish, record, show
from judgestats.runner import display as console
from judgestats.tracking.runs import (
    LOOK,
    LOOK_OF,
    RunWriter,
    earlier_looks,
    run_files,
)
from judgestats.tracking.store import open_audit_store, start_import


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
    streamed = _streams(arguments, path)
    if arguments.track != "none" and (streamed or _is_large(path)):
        start_import()
    with announce_progress(f"Reading and analysing {path.name}"):
        judged = (_streamed if streamed else _read_memory)(arguments, path, words)
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
        _write(folder, judged, facts, name)
        following = next_commands(arguments, results, judged)
        show(results, following=following, linked=True)
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
                    "data/streamed": streamed,
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
            with scratch_folder() as scratch:
                results = record.record_crosscheck(Path(scratch), checked, results)
        finish(results, following=following, further=judged.further(results))
        return 0
    from judgestats.reporting.renderer import render_report

    folder = Path("judgestats-reports") / record.file_name(name)
    with guard_output(folder):
        folder.mkdir(parents=True, exist_ok=True)
        _write(folder, judged, facts, name)
    show(results, following=following, linked=True)
    if checked is not None:
        with guard_output(folder):
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


_NOT_STREAMED = ("item", "wide", "explode", "parse", "as_shown")
_STREAMED = (
    "mapping", "factors", "judge", "passes", "fails", "values", "human", "judge_rows", "rows"
)  # fmt: skip
_SHARES = ("mix", "sensitivity", "specificity")
_IN_MEMORY = (*_SHARES, "beside", "specs")
CHECKED_ROWS = 500_000
"""Judgments up to which other packages recompute numbers without being asked: some 15 seconds."""
STREAM_ROWS = 5_000_000
"""Rows of a Parquet file from which it is streamed without being asked: some 5 GiB as a frame."""
STREAM_BYTES = 256 << 20
"""The same of CSV, by its size: some 5 million rows."""


LARGE_BYTES = 64 << 20
"""Size of a file, or of a folder's files, whose reading leaves time to import MLflow meanwhile."""


def _is_large(path: Path) -> bool:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file()) >= LARGE_BYTES


def _streams(arguments: Args, path: Path) -> bool:
    """Whether the judgments are counted in one pass rather than held in memory."""
    from judgestats.data.large.dataset import SEPARATORS, is_parquet, rows_of

    if arguments.stream == "no" or not path.exists():
        return False
    parquet, separated = is_parquet(path), path.suffix.lower() in SEPARATORS
    if arguments.stream == "yes":
        if not (parquet or separated):
            raise InputError(
                f"analyze: --stream reads Parquet (a file, or a folder of files) and CSV, but "
                f"{path} is neither. Convert it, or leave --stream out."
            )
    elif separated:
        if path.stat().st_size < STREAM_BYTES:
            return False
    elif not parquet or (not path.is_dir() and rows_of(path) < STREAM_ROWS):
        return False
    if arguments.reader not in {"auto", "table"}:
        raise InputError(
            f"analyze: only --reader table can be streamed, got {arguments.reader!r}. Use --stream "
            "no."
        )
    return True


def _read_memory(arguments: Args, path: Path, words: dict[str, Any]) -> _AuditInput:
    from judgestats.analysis.audit import audit_read, plan_for
    from judgestats.analysis.leaderboard import add_scores
    from judgestats.analysis.measures import with_measures
    from judgestats.analysis.supplements import supplemented
    from judgestats.analysis.text_checks import LINKED, join_copies
    from judgestats.analysis.validity import texts_in
    from judgestats.analysis.validity_systems import with_disagreements
    from judgestats.api import read_judgments as read_any

    runs = [arguments.file, *arguments.further]
    if from_store(arguments, path):
        said = {n: words[n] for n in ("judge", "values") if words[n]}
        frame = read_any(runs, **said)
    else:
        frame = read_or_ask(path, arguments, words)
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
        analysis = add_scores(
            analysis, read_any(arguments.beside), level=declared.level, seed=arguments.seed
        )
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
        },
        head=frame[["condition", "item_id", "cluster", "replicate", "status", "score", "choice"]],
        whole=frame.drop(columns=[*TEXTS], errors="ignore"),
        texts=_item_texts(frame) if arguments.texts == "on" else None,
        traces=tuple(frame["trace_id"].unique()) if "experiment_id" in frame.attrs else (),
        experiment=str(frame.attrs.get("experiment_id", "")),
        frame=frame,
    )


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
    """The judgments of a file; with ``--json`` a question about it is printed as the document.

    Raises
    ------
    InputError
        The file cannot be read, or in several ways.
    """
    try:
        return read_judgments(path, reader=arguments.reader, **words)
    except OpenQuestionError as question:
        if console.output_options().form == "json":
            command = ["judgestats", "analyze", arguments.file]
            console.write_json({"reading": open_question_record(question, command)})
        raise


def from_store(arguments: Args, path: Path) -> bool:
    """Whether runs of MLflow, or an experiment, are named rather than a file."""
    from judgestats.tracking.traces import is_stored

    return not path.exists() and is_stored(arguments.file)


def _streamed(arguments: Args, path: Path, words: dict[str, Any]) -> _AuditInput:
    from judgestats.analysis.large import (
        audit_criteria,
        counted_errors,
        counted_verdicts,
        plan_for_criteria,
        with_labelled,
    )
    from judgestats.analysis.measures import with_measures
    from judgestats.analysis.scores import clip_to_scale
    from judgestats.analysis.text_checks import join_counted_copies
    from judgestats.data.large.reduce import (
        counts_of_reduced,
        reading_of_reduced,
        reduce_criteria,
        without_labels,
    )
    from judgestats.data.large.reduced import labelled_judgments

    if len(words["item"]) == 1:
        words = words | {"mapping": {**words["mapping"], "item_id": words["item"][0]}, "item": ()}
    further = [w for w in _NOT_STREAMED if words[w]]
    further += [w for w in _IN_MEMORY if getattr(arguments, w)]
    if further:
        raise InputError(
            f"analyze: --{further[0]} needs the judgments in memory. Use --stream no, or leave it "
            "out."
        )
    scale = words["scale"]
    read = {n: words[n] for n in _STREAMED}
    found = reduce_criteria(path, scale=scale, kind=words["kind"], **read)
    joined = {k: join_counted_copies(r, arguments.duplicates) for k, r in found.items()}
    found = {k: reduced for k, (reduced, _) in joined.items()}
    choices: dict[str, Any] = {
        "n_resamples": arguments.resamples,
        "seed": arguments.seed,
        "omega_model": arguments.omega_model,
    }
    first = next(iter(found.values()))
    scales = {r.scale for r in found.values() if r.is_scores}
    if not scale and len(scales) == 1:
        scale = scales.pop()
    if len(found) > 1 and (words["labels"] or words["human"] or "label" in first.columns_read):
        listed = ", ".join(found)
        raise InputError(
            f"{path}: labels of several criteria ({listed[:80]}) need the judgments in memory. Use "
            "--stream no, or name one criterion: --rows COLUMN=VALUE."
        )
    analysis = audit_criteria(found, **choices)
    labelled = None
    if len(found) == 1:
        labelled = labelled_judgments(path, first, labels=words["labels"], **read)
    if labelled is None:
        found = {k: without_labels(r) for k, r in found.items()}
    else:
        analysis = with_labelled(
            analysis, first, labelled, labels_drawn=arguments.labels_drawn, **choices
        )
    parts, total = [*found.values()], counts_of_reduced([*found.values()])
    analysis = counted_errors(analysis, parts, scale)
    limits = dict.fromkeys(limit for _, copies in joined.values() for limit in copies.limits)
    analysis = replace(analysis, limitations=(*analysis.limitations, *limits))
    analysis = with_measures(
        clip_to_scale(analysis, scale), None, decision_options(arguments), labelled=labelled,
        counted=counted_verdicts(parts),
    )  # fmt: skip
    columns = [column for reduced in parts for column in reduced.columns]
    criteria = [name for name, reduced in found.items() for _ in reduced.columns]
    judges = tuple(dict.fromkeys(c.judge for c in columns))
    counts: Counter[str] = Counter()
    for column in columns:
        counts.update(column.statuses)
    understood = [*dict.fromkeys(text for reduced in parts for text in reduced.understood)]
    return _AuditInput(
        declared=plan_for_criteria(parts, **choices),
        analysis=analysis,
        line=(
            f"Counted {total['rows']:,} judgments of {total['items']:,} items in "
            f"{total['clusters']:,} clusters by {count_noun(len(judges), 'judge', 'judges')} in "
            f"{count_noun(len(parts), 'pass', 'passes') if parts[1:] else 'one pass'} over "
            f"{count_noun(parts[0].n_files, 'file', 'files')} of {path.name}"
            f"{_lost_counts(counts)}." + "".join(f"\n{sentence}" for sentence in understood)
        ),
        reader="table",
        judges=judges,
        design={
            "items": total["items"],
            "clusters": total["clusters"],
            "replicates": total["repeats"],
            "columns": plain(dict(parts[0].columns_read)),
            "scale": plain(scale),
            "understood": plain(understood),
            "streamed": True,
        },
        head=pd.DataFrame(
            {
                "condition": [c.label for c in columns],
                **({"criterion": criteria} if parts[1:] else {}),
                "judge": [c.judge for c in columns],
                "n": [c.n for c in columns],
            }
        ),
        whole=None,
        reading=reading_of_reduced(parts, labelled),
    )


def _digest(path: Path) -> str:
    """SHA-256 of the file, or of a folder's files in order."""
    from judgestats.data.large.dataset import is_parquet, parquet_files
    from judgestats.data.readers.logs import files_in

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


def _repeats(option: Option) -> bool:
    """Whether an option, of those beyond the table's, changes the numbers or the report."""
    further = option.name in {"labels_drawn", "texts", "crosscheck", "stream"}
    return further or (option.group == "Statistics" and option.name not in {"resamples", "seed"})


def _command(arguments: Args) -> str:
    path = Path(arguments.file)
    file = arguments.file if from_store(arguments, path) else path.name
    words = ["judgestats analyze", command_word(file), *map(shlex.quote, arguments.further)]
    words += repeated_options(arguments)
    for option in filter(_repeats, COMMANDS["analyze"].options):
        value = getattr(arguments, option.name)
        given = value if option.repeated else [value] if value and value != option.default else []
        for one in given:
            text = Path(one).name if option.kind == "file" else str(one)
            words.append(
                option.flag if option.kind == "switch" else f"{option.flag} {shlex.quote(text)}"
            )
    words += [f"--resamples {arguments.resamples} --seed {arguments.seed}"]
    return " ".join(words)


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
