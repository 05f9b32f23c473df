"""A judgment's row in the raw frame."""

from __future__ import annotations

from typing import Any

from judgestats.judges.journal import Answer
from judgestats.judges.request import Ready
from judgestats.judges.sending import RequestResult
from judgestats.judgments.design import Task


def blank_row(task: Task, ready: Ready, experiment: str) -> dict[str, Any]:
    """The row of a judgment before anything is known of its reply."""
    condition = task.condition
    row: dict[str, Any] = {
        "experiment": experiment,
        "condition": condition.label,
        "judge": condition.judge,
        "temperature": condition.temperature,
        "item_id": task.item_id,
        "cluster": task.cluster,
        "category": task.category,
        "replicate": task.replicate,
        "stage": task.stage,
        "order": task.order,
        "transport": "answered",
        "failure": "",
        "raw_text": "",
        "reply_mode": ready.prompted.mode.value,
        "finish_reason": "",
        "prompt_sha": ready.prompted.prompt_sha,
        "model_reported": "",
        "fingerprint": "",
        "requested": ready.requested,
        "sent": "",
        "choices_in_request": 1,
        "tokens_in": None,
        "tokens_out": None,
        "tokens_cached": None,
        "tokens_reasoning": None,
        "cost_usd": None,
        "latency_s": None,
        "attempts": 0,
        "cached": False,
        "asked_at": "",
    }
    for name, value in condition.levels.items():
        row[f"factor_{name}"] = value
    return row


def answer_row(
    task: Task, ready: Ready, answer: Answer, *, cached: bool, experiment: str
) -> dict[str, Any]:
    """The row of an answered judgment."""
    row = blank_row(task, ready, experiment)
    row["raw_text"] = answer.text
    row["reply_mode"] = answer.mode
    row["finish_reason"] = answer.finish_reason
    row["model_reported"] = answer.model
    row["fingerprint"] = answer.fingerprint
    row["sent"] = answer.sent
    row["choices_in_request"] = answer.choices
    row["tokens_in"] = answer.tokens_in
    row["tokens_out"] = answer.tokens_out
    row["tokens_cached"] = answer.tokens_cached
    row["tokens_reasoning"] = answer.tokens_reasoning
    row["cost_usd"] = answer.cost_usd
    row["latency_s"] = None if answer.latency_s < 0 else answer.latency_s
    row["attempts"] = answer.attempts
    row["cached"] = cached
    row["asked_at"] = answer.asked_at
    return row


def failed_row(
    task: Task, ready: Ready, asked: RequestResult, *, experiment: str
) -> dict[str, Any]:
    """The row of a judgment that was given up."""
    row = blank_row(task, ready, experiment)
    row["transport"] = "failed"
    if asked.failure is not None:
        row["failure"] = asked.failure.kind.value
        row["latency_s"] = asked.failure.latency_s
    row["attempts"] = asked.tried
    row["asked_at"] = asked.asked_at
    return row


def invalid_row(task: Task, ready: Ready, refused: str, *, experiment: str) -> dict[str, Any]:
    """The row of a judgment that was never asked for, since the model refuses its condition."""
    row = blank_row(task, ready, experiment)
    row["transport"] = "invalid_condition"
    row["failure"] = f"{refused}_refused"
    return row
