"""Judge calls as MLflow traces: the prompt, the reply, and the verdict as an assessment.

A thread of its own writes them in batches while the judges are asked. Traces are an extra: where
the store refuses them, the writing ends and says why, and the run goes on.
"""

from __future__ import annotations

import hashlib
import json
import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from judgestats.errors import printable
from judgestats.tracking.store import Store

BATCH = 100
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
    """Writes calls as traces of a run, a batch at a time, in a thread of its own.

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
        self._thread.join()

    def _work(self) -> None:
        batch: list[Any] = []
        while (row := self._waiting.get()) is not None:
            batch.append(row)
            if len(batch) >= BATCH:
                self._write(batch)
                batch = []
        self._write(batch)

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
