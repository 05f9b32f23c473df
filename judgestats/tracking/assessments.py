"""From MLflow's runs and experiments to what judges said in them: assessments on traces."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from judgestats.errors import InputError, nearest
from judgestats.judgments.readers.mlflow_logs import trace_frame
from judgestats.judgments.schemas import validate_parsed
from judgestats.tracking.store import Store, open_store, store_faults

_RUN = re.compile(r"(?:runs:/)?([0-9a-f]{32})/?")
_EXPERIMENT = re.compile(r"experiments?:/{0,2}(.+)")
_MOST_TRACES = 200_000
_SAID_IN = "mlflow.assessment.sourceRunId"
_PAGE = 500


def is_run_id(word: str) -> bool:
    """Whether a word is an MLflow run id (or ``runs:/`` and one).

    Examples
    --------
    >>> is_run_id("runs:/0123456789abcdef0123456789abcdef"), is_run_id("logs/x.eval")
    (True, False)
    """
    return _RUN.fullmatch(word) is not None


def is_stored(word: str) -> bool:
    """Whether a word names what MLflow keeps: a run id, or ``experiments:/NAME`` (or an id).

    Examples
    --------
    >>> is_stored("experiments:/support bot"), is_stored("my.csv")
    (True, False)
    """
    return is_run_id(word) or _EXPERIMENT.fullmatch(word) is not None


def stored_assessments(words: Sequence[str], *, judge: str = "") -> pd.DataFrame:
    """What judges said in MLflow runs and experiments, with people's feedback as labels.

    Labels are what people said under a judge's own name. Of a run it is what that run's judges
    said, on whichever traces; of an experiment all that was said on its traces, whether by an
    evaluation, by a monitor or in production. Several judgments of the same input and output by
    one judge are repetitions.

    Parameters
    ----------
    words : sequence of str
        Run ids and ``experiments:/NAME``, of the store that MLflow's settings name.
    judge : str
        The judge's name, where an assessment does not tell it.

    Returns
    -------
    DataFrame
        The validated parsed frame, with the column ``trace_id``; ``attrs["experiment_id"]`` is that
        of the traces, empty where they are of several.

    Raises
    ------
    InputError
        There is no such run or experiment, or its traces hold no judge's assessment.
    """
    store = open_store(existing=True)
    traces: dict[str, dict[str, Any]] = {}
    homes: set[str] = set()
    runs: set[str] = set()
    whole = False
    with store_faults("traces were read"):
        for word in words:
            if named := _RUN.fullmatch(word):
                experiment, run = _home_of(store, word, named.group(1)), named.group(1)
            else:
                experiment, run, whole = _experiment_id(store, word), "", True
            read_now = _traces(store.client, experiment, run)
            if not read_now:
                raise InputError(_no_traces(word, run))
            homes.add(experiment)
            runs |= {run, *(_source_run(t) for t in read_now)} if not run else {run}
            traces |= {str(t["info"].get("trace_id")): t for t in read_now}
    listed = list(traces.values()) if whole else [_said_in(t, runs) for t in traces.values()]
    frame = trace_frame(listed, path=Path(", ".join(words)), judge=judge)
    attrs = dict(frame.attrs)
    frame = validate_parsed(frame, what=", ".join(words))
    frame.attrs.update({"notes": [], "scale": None, **attrs})
    repeated = len(runs - {""})
    if repeated > 1:
        frame.attrs["notes"].append(f"{repeated} runs were read as repetitions of one another.")
    frame.attrs.update(
        source=", ".join(words),
        reader="mlflow",
        experiment_id=next(iter(homes)) if len(homes) == 1 else "",
    )
    return frame


def _home_of(store: Store, word: str, run: str) -> str:
    """The experiment of a run."""
    from mlflow.exceptions import MlflowException

    try:
        return str(store.client.get_run(run).info.experiment_id)
    except MlflowException as error:
        raise InputError(
            f"there is no file and no run {word!r} in {store.uri}. Set MLFLOW_TRACKING_URI to "
            "the store that has the run."
        ) from error


def _experiment_id(store: Store, word: str) -> str:
    named = _EXPERIMENT.fullmatch(word)
    if named is None:
        raise InputError(
            f"{word!r} is no MLflow run id (32 hexadecimal digits) and no experiments:/NAME."
        )
    name = named.group(1)
    experiment = store.client.get_experiment_by_name(name)
    if experiment is None:
        listed = store.client.search_experiments(max_results=1000)
        experiment = next((e for e in listed if e.experiment_id == name), None)
    if experiment is None:
        names = [e.name for e in listed]
        raise InputError(
            f"there is no experiment {name!r} in {store.uri}. There are: "
            f"{', '.join(names[:10])}.{nearest(name, names)}"
        )
    return str(experiment.experiment_id)


def _no_traces(word: str, run: str) -> str:
    what = f"run {run}" if run else f"the experiment {word}"
    table = (
        " A table of the older mlflow.evaluate is the artifact eval_results_table.json: download "
        "it and name the file."
        if run
        else ""
    )
    made = "(mlflow.genai.evaluate makes them)"
    return f"{what} has no traces, so no judge's assessments {made}.{table}"


def _source_run(trace: Mapping[str, Any]) -> str:
    return str((trace["info"].get("trace_metadata") or {}).get("mlflow.sourceRun", ""))


def _said_in(trace: dict[str, Any], runs: set[str]) -> dict[str, Any]:
    """A trace without what judges of other runs said of it; people's words belong to all."""
    info = trace["info"]
    assessments = [
        a
        for a in info.get("assessments") or []
        if (a.get("metadata") or {}).get(_SAID_IN, "") in {"", *runs}
    ]
    return {**trace, "info": {**info, "assessments": assessments}}


def _traces(client: Any, experiment: str, run: str) -> list[dict[str, Any]]:
    """The traces of a run, or where none is named of an experiment, the oldest first."""
    traces: list[dict[str, Any]] = []
    token: str | None = None
    while True:
        page = client.search_traces(
            locations=[experiment], run_id=run or None, max_results=_PAGE, page_token=token
        )
        traces += [trace.to_dict() for trace in page]
        token = page.token
        if not token:
            return sorted(traces, key=lambda t: str(t["info"].get("request_time", "")))
        if len(traces) >= _MOST_TRACES:
            raise InputError(
                f"{f'run {run}' if run else 'the experiment'} has more than {_MOST_TRACES:,} "
                "traces. Export them as JSON lines."
            )
