"""Re-examining a published study: no judge is asked, everything else is as in an experiment."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judgestats.analysis.outcome import Analysis, summary
from judgestats.experiment import console
from judgestats.experiment.design import ReplicationDesign, project_folder
from judgestats.experiment.folder import session, write_json, write_results, write_tables
from judgestats.experiment.parameters import parse_parameters
from judgestats.stats.inference.result import to_plain
from judgestats.studies import Options, Replication, Study, load_study

__all__ = ["data_folder", "run_replication"]


def data_folder(study: Study, given: str) -> Path:
    """Where a study's data are: as given, else its default beside the project."""
    return Path(given) if given else project_folder("experiments").parent / study.default_data


def run_replication(design: ReplicationDesign, given: Mapping[str, str]) -> Analysis:
    """Re-examine a study and log it as an MLflow run.

    Parameters
    ----------
    design : ReplicationDesign
    given : mapping of parameter to text

    Returns
    -------
    Analysis

    Raises
    ------
    InputError
        An unknown study, or a folder that does not hold its data.
    StoreError
        The run cannot be written.
    """
    parameters = parse_parameters(given, experiment=design.name, parameters=design.all_parameters)
    study = load_study(parameters["study"])
    options = Options(n_resamples=parameters["resamples"], seed=parameters["seed"])
    found = study.examine(data_folder(study, parameters["data"]), options)
    console.say(
        f"Study: {study.title} ({study.source}). Data: {found.data_source}. No judge is asked.", ""
    )
    from judgestats.experiment.record import render_into
    from judgestats.tracking.runs import RunWriter
    from judgestats.tracking.store import open_store

    store = open_store()
    command = console.repeat_command(design.name, given, mlflow=bool(store.adopted_run))
    tags = {
        "judgestats.kind": "replication",
        "judgestats.experiment": f"replicate {study.name}",
        "judgestats.simulated": "false",
        "mlflow.note.content": f"**{found.title}**\n\n{found.sentence()}",
    }
    analysis = found.analysis()
    name = parameters["run_name"] or f"replicate: {study.name}"
    with (
        tempfile.TemporaryDirectory(prefix="judgestats-") as scratch,
        RunWriter(store, name=name, tags=tags, run_id=store.adopted_run) as run,
    ):
        folder = Path(scratch)
        write_json(folder / "plan.json", found.plan(options))
        write_json(
            folder / "session.json", session(command=command, run_name=name, run_id=run.run_id)
        )
        write_results(folder, analysis, _about(found, options, command))
        run.answered(analysis.records(_about(found, options, command)))
        write_tables(folder / "tables", {"claims": found.table()})
        run.params(
            {
                "data/study": study.name,
                "data/source": found.data_source,
                "design/conditions": len(found.conditions),
                "analysis/seed": options.seed,
                "analysis/resamples": options.n_resamples,
            }
        )
        run.metrics(analysis.metrics)
        run.artifacts(folder)
        reports = render_into(
            run, folder, formats=parameters["report"], detail=parameters["detail"]
        )
        console.say(*_claim_lines(found))
        console.say(summary(analysis))
        console.say(
            *console.store_lines(
                run_id=run.run_id,
                experiment_id=store.experiment_id,
                experiment_name=store.experiment_name,
                uri=store.uri,
            ),
            *(f"Report ({kind}): {where}" for kind, where in reports.items()),
        )
    return analysis


def _claim_lines(found: Replication) -> list[str]:
    lines = ["", "Claims:"]
    for claim in found.claims:
        lines += [
            "",
            f"  {claim.claim}",
            f"    published:  {claim.published}",
            f"    then:       {claim.test_then}",
        ]
        if claim.reproduced:
            lines.append(f"    reproduced: {claim.reproduced}")
        lines += [
            f"    now:        {claim.test_now}",
            f"    {claim.verdict.upper()}: {claim.because}",
        ]
    return [*lines, ""]


def _about(found: Replication, options: Options, command: str) -> dict[str, Any]:
    judges = list(dict.fromkeys(found.conditions.get("judge", [])))
    return {
        "kind": "replication",
        "title": found.title,
        "simulated": False,
        "judges": [
            {"name": j, "model": j, "simulated": False, "model_reported": []} for j in judges
        ],
        "design": {
            "experiment": f"replicate {found.study}",
            "conditions": list(found.conditions.get("condition", [])),
            "item_source": found.data_source,
            "seed": options.seed,
            "resamples": options.n_resamples,
        },
        "claims": to_plain(found.table()),
        "families": [],
        "account": {},
        "complete": True,
        "command": command,
    }
