"""Judge calls as MLflow traces, and assessments."""

from __future__ import annotations

import contextlib
import hashlib
import json
import queue
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd

from judgestats.data.readers.trace_logs import trace_frame
from judgestats.data.schema import validate_parsed
from judgestats.errors import InputError, nearest, printable
from judgestats.tracking.store import Store, open_store, store_faults

BATCH = 100
_CLOSE_SECONDS = 60.0
_PREVIEW = 200
_SOURCE_RUN, _NAME = "mlflow.sourceRun", "mlflow.traceName"


@dataclass(frozen=True, kw_only=True)
class Call:
    """One call of a judge.

    Attributes
    ----------
    key : tuple of str
        What is unique in the run: condition, item, order, stage, replicate.
    judge, condition, model : str
    messages : sequence of mapping
        The prompt, as it was sent.
    reply : str
    value : float, str or None
        The verdict; None where the reply was not read.
    rationale, status, reason : str
        The judge's words; how the reply was read, and why not.
    tokens : mapping of str to int
        ``input_tokens``, ``output_tokens``.
    asked_at : str
        ISO 8601; empty where it is not known.
    latency_s : float
    """

    key: tuple[str, ...]
    judge: str
    condition: str
    model: str
    messages: Sequence[Mapping[str, Any]]
    reply: str
    value: float | str | None
    rationale: str
    status: str
    reason: str
    tokens: Mapping[str, int]
    asked_at: str
    latency_s: float


class TraceWriter:
    """Writes calls as traces of a run, a batch at a time, in a separate thread.

    Parameters
    ----------
    store : Store
    run_id : str
    describe : callable
        Makes a `Call` of what `add` takes; it runs in the thread.

    Attributes
    ----------
    written : int
        Traces in the store.
    fault : str
        Why the writing ended early; empty where it did not.
    """

    def __init__(self, store: Store, run_id: str, describe: Callable[[Any], Call]) -> None:
        self._experiment, self._run = store.experiment_id, run_id
        self._describe = describe
        self._waiting: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="judgestats-traces", daemon=True)
        self.written, self.fault = 0, ""
        self._thread.start()

    def add(self, row: Any) -> None:
        """Take what is known of a call that is done."""
        self._waiting.put(row)

    def close(self) -> None:
        """Write what waits, and end."""
        self._waiting.put(None)
        self._thread.join(_CLOSE_SECONDS)
        if self._thread.is_alive() and not self.fault:
            self.fault = f"the store took longer than {_CLOSE_SECONDS:.0f} seconds"

    def _work(self) -> None:
        batch: list[Any] = []
        while (row := self._next()) is not None:
            batch.append(row)
            if len(batch) >= BATCH:
                self._write(batch)
                batch = []
        self._write(batch)

    def _next(self) -> Any:
        while True:
            with contextlib.suppress(queue.Empty):
                return self._waiting.get(timeout=_CLOSE_SECONDS)

    def _write(self, rows: Sequence[Any]) -> None:
        if self.fault or not rows:
            return
        from mlflow.tracing.client import TracingClient

        try:
            client = TracingClient()
            calls = [self._describe(row) for row in rows]
            for call in calls:
                client.start_trace(_info(call, self._run, self._experiment))
            client.log_spans(self._experiment, [_span(call, self._run) for call in calls])
            self.written += len(calls)
        except Exception as error:  # a store's own faults are of many kinds: none may end a run
            self.fault = printable(f"{type(error).__name__}: {error}", one_line=True)[:300]


def _ids(call: Call, run_id: str) -> tuple[str, str]:
    """A trace's and its span's id: the same call of a run has the same, so that none is doubled."""
    digest = hashlib.sha256("\x1f".join((run_id, *call.key)).encode()).hexdigest()
    return digest[:32], digest[32:48]


def _times(call: Call) -> tuple[int, int]:
    """When it was asked, in ms, and how long it took."""
    asked = datetime.fromisoformat(call.asked_at).timestamp() if call.asked_at else time.time()
    return int(1000 * asked), round(1000 * call.latency_s)


def _info(call: Call, run_id: str, experiment_id: str) -> Any:
    from mlflow.entities import TraceInfo, TraceLocation, TraceState

    started, took = _times(call)
    prompt_text = str(call.messages[-1].get("content", "")) if call.messages else ""
    return TraceInfo(
        trace_id=f"tr-{_ids(call, run_id)[0]}",
        trace_location=TraceLocation.from_experiment_id(experiment_id),
        request_time=started,
        execution_duration=took,
        state=TraceState.OK if call.status != "failed" else TraceState.ERROR,
        request_preview=prompt_text[:_PREVIEW],
        response_preview=call.reply[:_PREVIEW],
        trace_metadata={_SOURCE_RUN: run_id, "mlflow.trace_schema.version": "3"},
        tags={
            _NAME: call.judge, "condition": call.condition[:250], "item": call.key[1][:250],
            "replicate": call.key[-1], "status": call.status,
        },
        assessments=[_assessment(call, started)],
    )  # fmt: skip


def _assessment(call: Call, at: int) -> Any:
    from mlflow.entities import AssessmentError, AssessmentSource, Feedback

    unread = call.value is None
    return Feedback(
        name=call.judge[:250],
        value=call.value,
        error=AssessmentError(error_code=call.status, error_message=call.reason)
        if unread
        else None,
        source=AssessmentSource(source_type="LLM_JUDGE", source_id=call.judge),
        rationale=call.rationale or None,
        metadata={"condition": call.condition},
        create_time_ms=at,
        last_update_time_ms=at,
    )


def _span(call: Call, run_id: str) -> Any:
    from mlflow.entities import Span

    trace, span = _ids(call, run_id)
    started, took = _times(call)
    attributes = {
        "mlflow.traceRequestId": f"tr-{trace}",
        "mlflow.spanType": "CHAT_MODEL",
        "mlflow.spanInputs": {"messages": list(call.messages)},
        "mlflow.spanOutputs": {"content": call.reply},
        "mlflow.llm.model": call.model or call.judge,
    }
    if call.tokens:
        attributes["mlflow.chat.tokenUsage"] = {
            **call.tokens, "total_tokens": sum(call.tokens.values()),
        }  # fmt: skip
    failed = call.status == "failed"
    return Span.from_dict(
        {
            "name": call.judge,
            "context": {"trace_id": f"0x{trace}", "span_id": f"0x{span}"},
            "parent_id": None,
            "start_time": started * 1_000_000,
            "end_time": (started + took) * 1_000_000,
            "status_code": "ERROR" if failed else "OK",
            "status_message": call.reason if failed else "",
            "attributes": {k: json.dumps(v, ensure_ascii=False) for k, v in attributes.items()},
            "events": [],
        }
    )


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
    """What judges said in MLflow runs and experiments, with human feedback as labels.

    Labels are human feedback under a judge's own name. A run gives the assessments by its judges,
    on any trace. An experiment gives all assessments of its traces: by evaluations, by monitors,
    and in production. Several judgments of the same input and output by one judge are repeats.

    Parameters
    ----------
    words : sequence of str
        Run ids and ``experiments:/NAME``, of the store that MLflow's settings name.
    judge : str
        The judge's name, where an assessment does not name it.

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
    listed = (
        list(traces.values()) if whole else [_own_assessments(t, runs) for t in traces.values()]
    )
    frame = trace_frame(listed, path=Path(", ".join(words)), judge=judge)
    attrs = dict(frame.attrs)
    frame = validate_parsed(frame, what=", ".join(words))
    frame.attrs.update({"notes": [], "scale": None, **attrs})
    repeated = len(runs - {""})
    if repeated > 1:
        frame.attrs["notes"].append(
            f"{repeated} runs were interpreted as repetitions of one another."
        )
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
            f"{word!r} is neither an MLflow run id (32 hexadecimal digits) nor experiments:/NAME."
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


def _own_assessments(trace: dict[str, Any], runs: set[str]) -> dict[str, Any]:
    """A trace without the assessments by judges of other runs; human feedback is kept."""
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
