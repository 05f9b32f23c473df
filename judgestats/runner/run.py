"""One experiment: items, judgments, statistics, and records; and a published study re-examined."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import textwrap
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import pandas as pd

from judgestats.analysis import Analysis, texts_of
from judgestats.analysis.limits import Limit
from judgestats.analysis.text_checks import refuse_text_copies
from judgestats.collection.account import Collected, Stop
from judgestats.collection.answers import AnswerPlan
from judgestats.data import unparsed_causes, validate_pipelines
from judgestats.deadlines import scratch_folder
from judgestats.engine import Engine
from judgestats.errors import BudgetError, InputError, JudgeError, guard_output
from judgestats.files.tables import read_csv
from judgestats.files.text import decode_json
from judgestats.items.item_sets import STUDY_DATA
from judgestats.results import plain, read_results
from judgestats.results import write_results as write_records
from judgestats.results.change_screen import claim_outcome
from judgestats.results.numbers import count_noun
from judgestats.results.screen import wrapped
from judgestats.runner import display as console
from judgestats.runner import record
from judgestats.runner.answers import answer_lines, answers_of, priced
from judgestats.runner.common_parameters import parse_parameters, settings_of
from judgestats.runner.design import Design, ReplicationDesign, ReplicationParameters
from judgestats.runner.display import Links, announce_progress, finish, output_parameters, show
from judgestats.runner.prepare import (
    Prepared,
    ask_of,
    check_prices,
    judgments_of,
    prepare,
    readers_of,
    with_given_answers,
)
from judgestats.runner.prompts import prompt_lines, rendered, request_records
from judgestats.runner.record import CallTraces, rendering, report_code
from judgestats.runner.sources import STAGE_JUDGES
from judgestats.studies import Options, Replication, Study, load_study
from judgestats.studies.published import with_published
from judgestats.studies.records import ABOUT, examined, shipped_records
from judgestats.tracking.store import ADOPTED_RUN, open_store, start_import

if TYPE_CHECKING:
    from judgestats.collection.journal import Journal
    from judgestats.collection.spec import JudgeSpec
    from judgestats.tracking.runs import RunWriter
    from judgestats.tracking.store import Store


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a finished run left behind.

    Attributes
    ----------
    run_id, experiment_id : str
    analysis : Analysis
    reports : mapping of format to place
    exit_code : int
        6 where budget, patience or the server ended it, 5 where its report failed, else 0.
    """

    run_id: str
    experiment_id: str
    analysis: Analysis
    reports: Mapping[str, Path | str]
    exit_code: int = 0


def run_experiment(design: Design[Any], given: Mapping[str, str]) -> Outcome | None:
    """Run an experiment and print what a user wants to see, in order.

    Parameters
    ----------
    design : Design
    given : mapping of parameter to text

    Returns
    -------
    Outcome or None
        None after a dry run.

    Raises
    ------
    InputError, JudgeError, BudgetError, StoreError
        One clear sentence each; a run that was opened is marked FAILED.
    KeyboardInterrupt
        After Ctrl-C; everything answered is in the journal.
    """
    prepared = prepare(design, given)
    given = prepared.given
    _announce(prepared)
    p = prepared.parameters
    if p.until or p.max_items is not None:
        from judgestats.runner.stopping import check_stoppable

        check_stoppable(prepared)
    if p.dry_run:
        _dry_run(prepared)
        return None
    from judgestats.collection.journal import Journal
    from judgestats.collection.journal_file import check_file
    from judgestats.collection.plan import check_judges

    if p.duplicates == "refuse":
        refuse_text_copies(texts_of(prepared.items))
    is_early = _opens_store_first(prepared)
    if is_early:
        start_import()
    check_file(Path(p.journal))
    check_prices(prepared)  # before anything is asked
    if p.mode != "offline":
        check_judges(prepared.models, timeout_s=min(20.0, p.timeout))
    engine: Engine = p.engine
    with engine.running():  # a cluster that is not there is named before anything is asked
        if engine.kind != "local":
            console.print_status(
                f"Engine: {engine} with {engine.size()} workers."
                if _is_shared_out(prepared)
                else f"Engine: {engine} with {engine.size()} workers, for resampling. Batches and "
                "calls that follow from answers are collected by this process."
            )
    from judgestats.tracking.runs import RunWriter, run_files

    # a store that cannot be opened is named before anything is paid for
    store = open_store() if is_early else None
    name, began = p.run_name or record.run_name(prepared), time.time()
    command = console.repeat_command(design.name, given, mlflow=bool(os.environ.get(ADOPTED_RUN)))
    with (
        Journal(Path(p.journal)) as journal,  # ours before a run is opened
        run_files() as folder,
        ExitStack() as running,
    ):

        def start(store: Store) -> RunWriter:
            run = RunWriter(
                store,
                name=name,
                tags=record.tags(prepared),
                run_id=store.adopted_run,
                started=began,
            )
            return running.enter_context(run)

        run = start(store) if store is not None else None
        if prepared.answering is not None:
            prepared = _answered(prepared, prepared.answering, folder, journal)
        record.write_plan(prepared, folder, command)
        if run is not None:
            record.write_run_id(folder, run.run_id)
            record.log_plan(prepared, run, folder)
            run.artifacts(folder)
        sequential = None
        if p.until:
            from judgestats.runner.stopping import SequentialRun

            sequential = SequentialRun(prepared, journal, lambda part: _collect(part, journal, run))
            prepared, collected = sequential.run()
        else:
            collected = _collect(prepared, journal, run)
        journal.close()  # another process may go on while this one analyses
        raw = _checked(collected, prepared.models)
        account = collected.account.as_dict()
        frame, copies = judgments_of(prepared, raw)
        extras: dict[str, Any] = {"items": prepared.items} if design.uses_items else {}
        if prepared.staging is not None:
            extras["pipelines"] = validate_pipelines(prepared.staging.table(frame))
            extras["pipelines"].to_parquet(folder / "data" / "pipelines.parquet", index=False)

        if sequential is not None:
            plan = dataclasses.replace(prepared.plan, level=sequential.level)
            prepared = dataclasses.replace(prepared, plan=plan)

        with engine.running(), announce_progress(f"Analysing {len(frame):,} judgments"):
            analysis = prepared.analysis.analyse(frame, prepared.plan, **extras)
            analysis = with_published(
                analysis,
                frame,
                preset=given.get("preset", ""),
                contrasts=design.contrasts,
                extras=extras,
            )
        limits = (
            *([] if collected.complete else [_incomplete(collected, prepared)]),
            *prepared.notices,
            *_not_answered(raw),
            *(copies.limits if copies.groups else ()),
            *(prepared.answers.limitations if prepared.answers else ()),
            *analysis.limitations,
            *(f"Judgments: {note}." for note in collected.notes if "(asked without " in note),
        )
        analysis = dataclasses.replace(analysis, limitations=limits)
        error = 0.05 if sequential is None else sequential.error
        analysis = record.completed(prepared, frame, analysis, error=error)
        if sequential is not None:
            analysis = sequential.recorded(analysis, frame)
        facts = record.about(prepared, frame, collected, command)
        console.print_status(facts["design"]["line"])
        unknown = bool(account.get("cost_unknown"))
        lines = console.account_lines(account, unknown_price=unknown)
        console.print_verbose(*lines)
        if collected.notes:
            console.print_status(*console.note_lines(collected.notes))
        replies = frame[frame["transport"].eq("answered")]
        limit = settings_of(prepared.parameters).get("max_tokens")
        if causes := unparsed_causes(replies, limit):
            console.print_status(f"Unparsed replies: {causes}.")
        recorded = record.with_costs(prepared, analysis, facts["account"])
        results = recorded.records(facts)
        show(results, more=f"{console.show_command(run.run_id)} --all" if run else "")
        record.write_files(folder, frame, recorded, facts)
        if p.crosscheck == "yes":
            results = record.record_crosscheck(folder, frame, results)
        if is_new := run is None:
            run = start(open_store())
            record.write_run_id(folder, run.run_id)
        with rendering(folder, formats=p.report, detail=p.detail) as attach:
            if is_new:
                record.log_plan(prepared, run, folder)
            record.log_results(prepared, run, recorded, results)
            run.artifacts(folder)
            run.finish("FINISHED")
            reports = attach(run)
        links = Links(
            run.run_id,
            run.store,
            conditions=run.children,
            reports=reports,
            files=_further_files(run, analysis),
        )
        finish(results, links)
    return Outcome(
        run_id=run.run_id,
        experiment_id=run.store.experiment_id,
        analysis=analysis,
        reports=reports,
        exit_code=report_code(p.report, reports) if collected.complete else 6,
    )


def _opens_store_first(prepared: Prepared) -> bool:
    """Whether the store is opened before the first call: a call is paid, or a run is there.

    With simulated judges the answer is shown first, and MLflow is imported after it.
    """
    return (
        not all(spec.simulated and spec.in_process for spec in prepared.models.values())
        or prepared.parameters.traces == "on"
        or bool(os.environ.get(ADOPTED_RUN))
    )


def _announce(prepared: Prepared) -> None:
    """Who is asked, and what the design leaves open: all that a dry run shows."""
    dry = bool(prepared.parameters.dry_run)
    tell = console.print_result if dry else console.print_status
    for name in prepared.stage_judges:
        tell(f"At the stage {STAGE_JUDGES[name]} {prepared.parameters[name]} is asked, for all.")
    if prepared.answering is not None:
        tell(*answer_lines(prepared.answering))
    if dry or console.output_options().form == "full":
        console.print_result(*console.judges_lines(prepared.judges))
    else:
        tell(console.judges_line(prepared.judges))
    if prepared.requests and not dry:
        tell(*textwrap.wrap(prepared.wording_statement, 96))
    if prepared.notices:
        tell(*console.notice_lines(prepared.notices))


def _answered(
    prepared: Prepared, answering: AnswerPlan, folder: Path, journal: Journal
) -> Prepared:
    """The plan with the models' answers instead of the stand-ins."""
    given = answers_of(
        prepared.questions,
        answering,
        prepared.parameters,
        folder=folder,
        journal=journal,
        prices=prepared.prices,
    )
    account = given.record["account"]
    unknown = bool(account.get("cost_unknown"))
    console.print_verbose(*console.account_lines(account, unknown_price=unknown, what="answers"))
    if given.record["notes"]:
        console.print_status(*console.note_lines(given.record["notes"]))
    return with_given_answers(prepared, given)


def _further_files(run: RunWriter, analysis: Analysis) -> list[str]:
    """Where files are that an analysis made beyond the report."""
    if not analysis.files:
        return []
    from judgestats.tracking.runs import artifact_path

    place = artifact_path(run.store, run.run_id)
    return [f"{place}/{name}" for name in analysis.files]


def _dry_run(prepared: Prepared) -> None:
    from judgestats.collection.plan import price_plan

    p = prepared.parameters
    statement = prepared.wording_statement
    if console.output_options().form == "json":
        console.write_json({"wording": statement, "requests": request_records(prepared)})
    if statement and prepared.wording.kind != "paraphrase":  # which is a note already
        console.print_result(*textwrap.wrap(statement, 96), "")
    console.print_result(*prompt_lines(rendered(prepared)))
    if prepared.answering is not None:
        console.print_result(
            priced(prepared.questions, prepared.answering, p, prices=prepared.prices)
        )
    bound: list[str] = []
    if p.until:
        from judgestats.runner.stopping import longest_run

        prepared, said = longest_run(prepared)
        bound = [said]
    ask = ask_of(prepared, p.journal)
    console.print_result(str(price_plan(prepared.tasks, ask, stages=prepared.staging)), *bound)


def _collect(prepared: Prepared, journal: Journal, run: RunWriter | None) -> Collected:
    from judgestats.collection.single_answers import collect_judgments

    ask = ask_of(prepared, journal)
    traces = _traces(prepared, run)
    try:
        if not _is_shared_out(prepared):
            return collect_judgments(prepared.tasks, traces.heeding(ask) if traces else ask)
        from judgestats.collection.cluster import collect_distributed

        collected = collect_distributed(prepared.tasks, ask, engine=prepared.parameters.engine)
        if traces:
            for row in collected.read().astype(object).to_dict("records"):
                traces.add({str(name): value for name, value in row.items()})
        return collected
    finally:
        if traces:
            traces.close()


def _traces(prepared: Prepared, run: RunWriter | None) -> CallTraces | None:
    """What writes the calls as traces, where that is asked for."""
    if prepared.parameters.traces == "off":
        return None

    if run is None:
        raise ValueError("traces=on: the run of MLflow is started before the first call.")
    return CallTraces(prepared.tasks, *readers_of(prepared), run.store, run.run_id)


def _is_shared_out(prepared: Prepared) -> bool:
    """Whether several workers collect; calls that follow from answers and batches stay here."""
    p = prepared.parameters
    return p.engine.kind != "local" and prepared.staging is None and p.mode == "online"


def _checked(collected: Collected, asked: Mapping[str, JudgeSpec]) -> pd.DataFrame:
    """The raw frame, or the reason why there is nothing to analyse."""
    if collected.stopped_because is Stop.INTERRUPTED:
        raise KeyboardInterrupt(collected.message)
    raw = collected.read()
    answered = raw["transport"].eq("answered") if len(raw) else pd.Series(dtype=bool)
    if not answered.any():
        if collected.message and not collected.complete:
            error = BudgetError(collected.message)
            error.exit_code = 6
            raise error
        reasons = _reasons(raw) if len(raw) else ""
        heard = "".join(f" {note}." for note in collected.notes[:3])
        raise JudgeError(
            f"no judgment was answered: {reasons or 'nothing was asked'}.{heard} "
            + _advice(asked.values())
        )
    for sentence in (collected.message, *_not_answered(raw)):
        if sentence:
            console.print_status(sentence, "")
    return raw


def _advice(asked: Iterable[JudgeSpec]) -> str:
    """Where to look when nothing was answered: a function has no address and no key."""
    functions = [s.function.name for s in asked if s.function is not None]
    if not functions:
        return "Check the judge's name, its address and its key with `judgestats doctor`."
    return (
        f"What {' and '.join(functions)} itself raised is reported here: call it in Python on one "
        "question and answer, and fix it there."
    )


def _not_answered(raw: pd.DataFrame) -> tuple[str, ...]:
    """Which conditions a judge refused or never answered, as sentences; nothing where none."""
    sentences = []
    refused = raw["transport"].eq("invalid_condition")
    if refused.any():
        invalid = sorted(set(raw.loc[refused, "condition"]))
        sentences.append(
            f"Left out, since the judge refuses {_refused_fields(raw)}: {'; '.join(invalid)}. "
            "No other call replaces them."
        )
    answered = set(raw.loc[raw["transport"].eq("answered"), "condition"])
    mute = raw[~refused & ~raw["condition"].isin(answered)]
    for condition, rows in mute.groupby("condition", sort=False):
        sentences.append(f"No judgment was answered under {condition}: {_reasons(rows)}.")
    return tuple(sentences)


def _refused_fields(raw: pd.DataFrame) -> str:
    """``the temperature``: the fields for which conditions are invalid."""
    failures = raw.loc[raw["transport"].eq("invalid_condition"), "failure"]
    return " and ".join(f"the {f.removesuffix('_refused')}" for f in dict.fromkeys(failures))


def _reasons(rows: pd.DataFrame) -> str:
    """Why judgments failed: the commonest kinds."""
    kinds = rows["failure"].value_counts().head(3)
    return "; ".join(f"{why} ({count_noun(n, 'time', 'times')})" for why, n in kinds.items())


def _incomplete(collected: Collected, prepared: Prepared) -> Limit:
    done = collected.account.answered + collected.account.cached
    what = f"{done} of {len(prepared.tasks)} planned judgments"
    if prepared.staging is not None:
        what = f"{prepared.staging.settled} of {len(prepared.staging)} planned verdicts"
    text = f"Incomplete: {what}. {collected.message}"
    return Limit(text, code="incomplete", short=f"INCOMPLETE: {what}")


@dataclass(frozen=True, kw_only=True)
class RunFiles:
    """The files that were written.

    Attributes
    ----------
    files : mapping of path to int
        How many requests each holds.
    models : mapping of path to str
        The model that each asks.
    planned : int
        Judgments of the plan, as far as it is known.
    journal : str
    """

    files: Mapping[Path, int]
    models: Mapping[Path, str]
    planned: int
    journal: str


def write_requests(
    design: Design[Any], given: Mapping[str, str], to: Path, *, parts: int = 1
) -> RunFiles:
    """Write what the journal does not hold of a run: a file per judge, in the stated parts.

    All requests of a question are in one part, so that a runner's cache of prefixes pays.

    Parameters
    ----------
    design : Design
    given : mapping of parameter to text
    to : Path
        ``requests.jsonl``; several judges, or parts, add to its name.
    parts : int

    Returns
    -------
    RunFiles

    Raises
    ------
    InputError
        If a parameter or file cannot be used, judges are functions, or models answer first.
    """
    if parts < 1:
        raise InputError(f"requests: --parts must be at least 1, got {parts}.")
    if to.is_dir():
        raise InputError(f"requests: --to {to} is a folder. Name a file, e.g. requests.jsonl.")
    prepared = prepare(design, {**given, "mode": "offline"})
    with guard_output(to):
        written, models = asyncio.run(_write(prepared, to, parts))
    return RunFiles(
        files=dict(sorted(written.items())),
        models=models,
        planned=len(prepared.tasks),
        journal=prepared.parameters.journal,
    )


async def _write(prepared: Prepared, to: Path, parts: int) -> tuple[Counter[Path], dict[Path, str]]:
    """Requests and model of each file."""
    from judgestats.collection.offline import missing_requests

    ask = ask_of(prepared, prepared.parameters.journal)
    written: Counter[Path] = Counter()
    models: dict[Path, str] = {}
    opened: dict[Path, BinaryIO] = {}
    questions: dict[str, int] = {}
    to.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        async for one in missing_requests(prepared.tasks, ask):
            part = questions.setdefault(one.cluster, len(questions)) % parts
            path = _path(to, prepared, one.judge, part, parts)
            if path not in opened:
                opened[path] = stack.enter_context(path.open("wb"))
                models[path] = prepared.judging[one.judge].model
            opened[path].write(one.line)
            written[path] += 1
    return written, models


def _path(to: Path, prepared: Prepared, judge: str, part: int, parts: int) -> Path:
    """``requests.jsonl``, or ``requests-JUDGE-1-of-4.jsonl``."""
    named = [record.file_name(judge)] if len(prepared.judging) > 1 else []
    numbered = [f"{part + 1}-of-{parts}"] if parts > 1 else []
    return to.with_stem("-".join([to.stem, *named, *numbered]))


def run_replication(design: ReplicationDesign, given: Mapping[str, str]) -> Outcome:
    """Re-examine a study, on data that are given or from the package's records of it.

    Parameters
    ----------
    design : ReplicationDesign
    given : mapping of parameter to text

    Returns
    -------
    Outcome
        Of the records that ship the analysis has conditions and sentence; every result is in the
        run's ``results.json``.

    Raises
    ------
    InputError
        An unknown study, or a folder or archive that does not hold its data.
    StoreError
        The run cannot be written.
    """
    parameters = parse_parameters(given, design.parameters, experiment=design.name)
    study = load_study(parameters.study)
    with scratch_folder() as scratch:
        folder = Path(scratch)
        if not parameters.data:
            _refuse_options(given)
            records = shipped_records(study.name, folder)
            return _log(design, given, parameters, study, records, folder, _as_shipped(folder))
        options = Options(n_resamples=parameters.resamples, seed=parameters.seed)
        with announce_progress(f"Re-examining {study.title}"):
            examination = examined(study, Path(parameters.data), options)
        records = write_records_of(examination, options, folder)
        return _log(design, given, parameters, study, records, folder, examination.analysis())


def _as_shipped(folder: Path) -> Analysis:
    """The analysis behind shipped records, as far as a summary and a notebook need it."""
    plan = decode_json((folder / "plan.json").read_text(encoding="utf-8"))
    about = decode_json((folder / ABOUT).read_text(encoding="utf-8"))
    return Analysis(
        experiment=plan["experiment"],
        question=plan["question"],
        finding=about["sentence"],
        conditions=read_csv(folder / "tables" / "conditions.csv"),
        results=(),
        metrics=about["metrics"],
    )


def _refuse_options(given: Mapping[str, str]) -> None:
    """Records are as they were computed: a seed for them would be without effect."""
    unused = [name for name in ("seed", "resamples") if name in given]
    if unused:
        raise InputError(
            f"{unused[0]}: without data= the records that ship with judgestats are shown, computed "
            "once. Give the study's data to compute again: data=FOLDER or data=ARCHIVE.zip."
        )


def write_records_of(replication: Replication, options: Options, folder: Path) -> dict[str, Any]:
    """Write what a re-examination found as a run's files, and give what a run says of it.

    Parameters
    ----------
    replication : Replication
    options : Options
    folder : Path

    Returns
    -------
    dict
        ``source``, ``sentence``, ``claims`` (rows), ``params``, ``metrics``.
    """
    analysis = replication.analysis()
    record.write_json(folder / "plan.json", replication.plan(options))
    record.write_results(folder, analysis, _about(replication, options))
    record.write_tables(folder / "tables", {"claims": replication.table()})
    return {
        "title": replication.title,
        "source": replication.data_source,
        "sentence": replication.sentence(),
        "claims": plain([claim.row() for claim in replication.claims]),
        "params": {
            "data/study": replication.study,
            "data/source": replication.data_source,
            "design/conditions": len(replication.conditions),
            "analysis/seed": options.seed,
            "analysis/resamples": options.n_resamples,
        },
        "metrics": plain(dict(analysis.metrics)),
    }


def _log(
    design: ReplicationDesign,
    given: Mapping[str, str],
    parameters: ReplicationParameters,
    study: Study,
    records: Mapping[str, Any],
    folder: Path,
    analysis: Analysis,
) -> Outcome:
    """One MLflow run with the records, their report, and the claims on the terminal."""
    from judgestats.tracking.runs import RunWriter

    about = f"Study: {study.title} ({study.source}). Data: {records['source']}."
    console.print_status(*wrapped(f"{about} No judge is called."), "")
    began = time.time()
    command = console.repeat_command(design.name, given, mlflow=bool(os.environ.get(ADOPTED_RUN)))
    tags = {
        "judgestats.kind": "replication",
        "judgestats.runner": f"replicate {study.name}",
        "judgestats.simulated": "false",
        "mlflow.note.content": f"**{records['title']}**\n\n{records['sentence']}",
    }
    name = parameters.run_name or f"replicate: {study.name}"
    shown = output_parameters()
    results = read_results(folder / "results.json")
    recorded = {"parameters": {**parameters.as_texts(), **shown}}
    results = replace(results, facts={**results.facts, **recorded})
    write_records(folder / "results.json", results)
    record.write_json(folder / "session.json", record.session(command=command, run_name=name))
    show(results, first=_claim_lines(records["claims"]))
    store = open_store()
    with RunWriter(store, name=name, tags=tags, run_id=store.adopted_run, started=began) as run:
        record.write_run_id(folder, run.run_id)
        with rendering(folder, formats=parameters.report, detail=parameters.detail) as attach:
            run.numbers(
                records["metrics"],
                params={
                    **parameters.logged(),
                    **{f"parameter/{word}": text for word, text in shown.items()},
                    **records["params"],
                },
            )
            run.artifacts(folder)
            run.answered(results)
            run.finish("FINISHED")
            reports = attach(run)
        if not parameters.data:
            console.print_status(*_repeat_instructions(study))
        finish(results, Links(run.run_id, store, reports=reports, has_judgments=False))
        return Outcome(
            run_id=run.run_id,
            experiment_id=store.experiment_id,
            analysis=analysis,
            reports=reports,
            exit_code=report_code(parameters.report, reports),
        )


def _repeat_instructions(study: Study) -> list[str]:
    """How the records are computed again; some of the data have an address to fetch them from."""
    said = "These records ship with judgestats; the data do not. To compute them again:"
    again = f"  judgestats run replicate --study {study.name} --data"
    if study.name in STUDY_DATA:
        return [said, f"  judgestats items fetch {study.name}", f"{again} data/{study.name}", ""]
    held = study.layout.replace("`", "")
    return [
        said,
        f"{again} FOLDER",
        f"FOLDER: your copy, from {study.source}. It holds {held}.",
        "",
    ]


def _claim_lines(claims: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = ["", "Claims:"]
    for claim in claims:
        lines += [
            "",
            f"  {claim['claim']}",
            f"    published:  {claim['published']}",
            f"    then:       {claim['test_then']}",
        ]
        if claim["reproduced"]:
            lines.append(f"    reproduced: {claim['reproduced']}")
        lines += [
            f"    now:        {claim['test_now']}",
            f"    {claim_outcome(claim['verdict']).upper()}: {claim['because']}",
        ]
    return [*lines, ""]


def _about(replication: Replication, options: Options) -> dict[str, Any]:
    judges = list(dict.fromkeys(replication.conditions.get("judge", [])))
    return {
        "kind": "replication",
        "title": replication.title,
        "simulated": False,
        "judges": [
            {"name": j, "model": j, "simulated": False, "model_reported": []} for j in judges
        ],
        "design": {
            "experiment": f"replicate {replication.study}",
            "conditions": list(replication.conditions.get("condition", [])),
            "item_source": replication.data_source,
            "seed": options.seed,
            "resamples": options.n_resamples,
        },
        "claims": plain(replication.table()),
        "families": [],
        "account": {},
        "complete": True,
        "command": "",
    }
