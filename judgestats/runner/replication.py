"""Re-examining a published study: no judge is asked, everything else is as in an experiment."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from judgestats.analysis.records import Analysis
from judgestats.deadlines import scratch_folder
from judgestats.errors import InputError
from judgestats.files.tables import read_csv
from judgestats.files.text import decode_json
from judgestats.items.item_sets import STUDY_DATA
from judgestats.results import plain, read_results
from judgestats.results import write_results as write_records
from judgestats.runner import display as console
from judgestats.runner import record
from judgestats.runner.common_parameters import parse_parameters
from judgestats.runner.design import ReplicationDesign, ReplicationParameters
from judgestats.runner.display import Links, announce_progress, finish, output_parameters, show
from judgestats.runner.run import Outcome
from judgestats.studies import Options, Replication, Study, load_study
from judgestats.studies.records import ABOUT, examined, shipped_records


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
    from judgestats.runner.record import rendering, report_code
    from judgestats.tracking.runs import RunWriter
    from judgestats.tracking.store import ADOPTED_RUN, open_store

    about = f"Study: {study.title} ({study.source}). Data: {records['source']}."
    console.print_status(*console.wrapped(f"{about} No judge is asked."), "")
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
            run.params(
                {
                    **parameters.logged(),
                    **{f"parameter/{word}": text for word, text in shown.items()},
                    **records["params"],
                }
            )
            run.metrics(records["metrics"])
            run.artifacts(folder)
            run.answered(results)
            run.finish("FINISHED")
            reports = attach(run)
        if not parameters.data:
            console.print_status(*_repeat_instructions(study))
        finish(results, Links(run.run_id, store, reports=reports))
        return Outcome(
            run_id=run.run_id,
            experiment_id=store.experiment_id,
            analysis=analysis,
            reports=reports,
            exit_code=report_code(parameters.report, reports),
        )


def _repeat_instructions(study: Study) -> list[str]:
    """How the records are computed again; some of the data have an address to fetch them from."""
    can_be_fetched = study.name in STUDY_DATA
    folder = f"data/{study.name}" if can_be_fetched else "FOLDER"
    fetched = [f"  judgestats items fetch {study.name}"] if can_be_fetched else []
    head = (
        "These are records that judgestats computed from the authors' data and ships; the data do",
        "not ship. To compute them again, on your copy of the data:",
    )
    if study.from_print:
        head = (
            "These are records that judgestats computed from the tables as the paper prints them;",
            "no judgments are public. To compute them again, from the tables as CSV files:",
        )
    return [
        *head,
        *fetched,
        f"  judgestats run replicate --study {study.name} --data {folder}",
        *(
            []
            if can_be_fetched
            else [
                f"FOLDER: your copy, from {study.source}.",
                f"It holds {study.layout.replace('`', '')}.",
            ]
        ),
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
            f"    {claim['verdict'].upper()}: {claim['because']}",
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
