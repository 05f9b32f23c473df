"""From an MLflow run to what judges said in it: the assessments on its traces."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pandas as pd

from judgestats.errors import InputError
from judgestats.judgments.readers.mlflow_logs import trace_frame
from judgestats.judgments.schemas import validate_parsed
from judgestats.tracking.store import open_store, store_faults

__all__ = ["is_run_id", "run_assessments"]

_RUN = re.compile(r"(?:runs:/)?([0-9a-f]{32})/?")
_MOST_TRACES = 200_000
_PAGE = 500


def is_run_id(word: str) -> bool:
    """Whether a word is an MLflow run id (or ``runs:/`` and one).

    Examples
    --------
    >>> is_run_id("runs:/0123456789abcdef0123456789abcdef"), is_run_id("logs/x.eval")
    (True, False)
    """
    return _RUN.fullmatch(word) is not None


def run_assessments(run: str, *, judge: str = "") -> pd.DataFrame:
    """What the judges of an MLflow evaluation said, from the store that MLflow's settings name.

    Each evaluation is a run of its own: to take several evaluations of the same answers as
    repetitions, export the traces of the experiment into one file.

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
