"""From an MLflow run to what judges said in it: the assessments on its traces."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pandas as pd

from judgestats.errors import InputError, nearest
from judgestats.judgments.readers.mlflow_logs import trace_frame
from judgestats.judgments.schemas import validate_parsed
from judgestats.tracking.store import open_store, store_faults

__all__ = ["is_run_id", "run_assessments", "stored_runs"]

_RUN = re.compile(r"(?:runs:/)?([0-9a-f]{32})/?")
_EXPERIMENT = re.compile(r"experiments?:/{0,2}(.+)")
_MOST_TRACES = 200_000
_MOST_RUNS = 1_000
_PAGE = 500


def is_run_id(word: str) -> bool:
    """Whether a word is an MLflow run id (or ``runs:/`` and one).

    Examples
    --------
    >>> is_run_id("runs:/0123456789abcdef0123456789abcdef"), is_run_id("logs/x.eval")
    (True, False)
    """
    return _RUN.fullmatch(word) is not None


def stored_runs(word: str) -> list[str]:
    """The runs of MLflow that a word names: a run id, or ``experiments:/NAME`` (or an id).

    Parameters
    ----------
    word : str

    Returns
    -------
    list of str
        Of an experiment its runs with traces, the oldest first; empty for any other word.

    Raises
    ------
    InputError
        There is no such experiment, or none of its runs has traces.

    Examples
    --------
    >>> stored_runs("my.csv"), stored_runs("runs:/0123456789abcdef0123456789abcdef")
    ([], ['runs:/0123456789abcdef0123456789abcdef'])
    """
    if is_run_id(word):
        return [word]
    named = _EXPERIMENT.fullmatch(word)
    if named is None:
        return []
    store = open_store(existing=True)
    with store_faults("an experiment was looked up"):
        found = store.client.get_experiment_by_name(named.group(1))
        if found is None:
            listed = store.client.search_experiments(max_results=1000)
            found = next((e for e in listed if e.experiment_id == named.group(1)), None)
        if found is None:
            names = [e.name for e in listed]
            raise InputError(
                f"there is no experiment {named.group(1)!r} in {store.uri}. There are: "
                f"{', '.join(names[:10])}.{nearest(named.group(1), names)}"
            )
        runs = store.client.search_runs(
            [found.experiment_id], order_by=["attributes.start_time ASC"], max_results=_MOST_RUNS
        )
        ids = [
            run.info.run_id
            for run in runs
            if store.client.search_traces(
                locations=[found.experiment_id],
                run_id=run.info.run_id,
                max_results=1,
                include_spans=False,
            )
        ]
    if not ids:
        raise InputError(
            f"none of the {len(runs)} runs of the experiment {found.name!r} has traces, so no "
            "judge's assessments (mlflow.genai.evaluate makes them)."
        )
    return ids


def run_assessments(run: str, *, judge: str = "") -> pd.DataFrame:
    """What the judges of an MLflow evaluation said, from the store that MLflow's settings name.

    Parameters
    ----------
    run : str
        An MLflow run id.
    judge : str
        The judge's name, where an assessment does not tell it.

    Returns
    -------
    DataFrame
        The validated parsed frame.

    Raises
    ------
    InputError
        There is no such run, or its traces hold no judge's assessment.
    """
    found = _RUN.fullmatch(run)
    if found is None:
        raise InputError(f"{run!r} is no MLflow run id (32 hexadecimal digits).")
    identity = found.group(1)
    store = open_store(existing=True)
    from mlflow.exceptions import MlflowException

    with store_faults("a run was looked up"):
        try:
            known = store.client.get_run(identity)
        except MlflowException as error:
            raise InputError(
                f"there is no file and no run {run!r} in {store.uri}. Set MLFLOW_TRACKING_URI to "
                "the store that has the run."
            ) from error
        traces = _traces(store.client, known.info.experiment_id, identity)
    if not traces:
        raise InputError(
            f"run {identity} has no traces, so no judge's assessments (mlflow.genai.evaluate makes "
            "them). A table of the older mlflow.evaluate is the artifact eval_results_table.json: "
            "download it and name the file."
        )
    frame = trace_frame(traces, path=Path(identity), judge=judge)
    attrs = dict(frame.attrs)
    frame = validate_parsed(frame, what=f"run {identity}")
    frame.attrs.update(
        {"notes": [], "scale": None, **attrs, "source": identity, "reader": "mlflow"}
    )
    return frame


def _traces(client: Any, experiment: str, run: str) -> list[dict[str, Any]]:
    traces: list[dict[str, Any]] = []
    token: str | None = None
    while True:
        page = client.search_traces(
            locations=[experiment], run_id=run, max_results=_PAGE, page_token=token
        )
        traces += [trace.to_dict() for trace in page]
        token = page.token
        if not token:
            return traces
        if len(traces) >= _MOST_TRACES:
            raise InputError(
                f"run {run} has more than {_MOST_TRACES:,} traces. Export them as JSON lines."
            )
