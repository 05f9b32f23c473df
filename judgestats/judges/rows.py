"""A judgment's row in the raw frame."""

from __future__ import annotations

from typing import Any

from judgestats.judges.asking import Asked
from judgestats.judges.journal import Answer
from judgestats.judgments.design import Task
from judgestats.protocols.base import Prompted

__all__ = ["answer_row", "blank_row", "failed_row", "invalid_row"]


def blank_row(task: Task, prompted: Prompted, experiment: str) -> dict[str, Any]:
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
        "reply_mode": prompted.mode.value,
        "finish_reason": "",
        "prompt_sha": prompted.prompt_sha,
        "model_reported": "",
        "fingerprint": "",
        "temperature_sent": None,
        "seed_sent": None,
        "choices_in_request": 1,
        "tokens_in": None,
        "tokens_out": None,
        "cost_usd": None,
        "latency_s": None,
        "attempts": 0,
        "cached": False,
        "asked_at": "",
    }
    for name, value in condition.factors.items():
        row[f"factor_{name}"] = value
    return row


def answer_row(
    task: Task, prompted: Prompted, answer: Answer, *, cached: bool, experiment: str
) -> dict[str, Any]:
    """The row of an answered judgment."""
    row = blank_row(task, prompted, experiment)
    row["raw_text"] = answer.text
    row["reply_mode"] = answer.mode
    row["finish_reason"] = answer.finish_reason
    row["model_reported"] = answer.model
    row["fingerprint"] = answer.fingerprint
    row["temperature_sent"] = answer.temperature_sent
    row["seed_sent"] = answer.seed_sent
    row["choices_in_request"] = answer.choices
    row["tokens_in"] = answer.tokens_in
    row["tokens_out"] = answer.tokens_out
    row["cost_usd"] = answer.cost_usd
    row["latency_s"] = None if answer.latency_s < 0 else answer.latency_s
    row["attempts"] = answer.attempts
    row["cached"] = cached
    row["asked_at"] = answer.asked_at
    return row


def failed_row(task: Task, prompted: Prompted, asked: Asked, *, experiment: str) -> dict[str, Any]:
    """The row of a judgment that was given up."""
    row = blank_row(task, prompted, experiment)
    row["transport"] = "failed"
    if asked.failure is not None:
        row["failure"] = asked.failure.kind.value
        row["latency_s"] = asked.failure.latency_s
    row["attempts"] = asked.tried
    row["asked_at"] = asked.asked_at
    return row


def invalid_row(task: Task, prompted: Prompted, *, experiment: str) -> dict[str, Any]:
    """The row of a judgment whose condition the model refuses."""
    row = blank_row(task, prompted, experiment)
    row["transport"] = "invalid_condition"
    row["failure"] = "temperature_refused"
    return row
