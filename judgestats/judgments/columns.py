"""The columns of the judgments frame, by name: one row a judgment, long format."""

from __future__ import annotations

KEY_COLUMNS = ("condition", "item_id", "order", "stage", "replicate")
"""Together unique: one judgment."""

RAW_COLUMNS = (
    "experiment",
    "condition",
    "judge",
    "temperature",  # as the design asks; NaN = the server's default
    "item_id",
    "cluster",
    "category",
    "replicate",
    "stage",
    "order",
    "transport",  # answered | failed | invalid_condition
    "failure",  # class of the failure, empty when answered
    "raw_text",  # the reply's text or tool arguments, bounded in size
    "reply_mode",
    "finish_reason",
    "prompt_sha",
    "model_reported",
    "fingerprint",
    "requested",  # settings beside the prompt, as JSON by the fields' names
    "sent",  # those that the request carried; empty where none was sent
    "choices_in_request",
    "tokens_in",
    "tokens_out",
    "tokens_cached",  # part of tokens_in; NaN where the server does not say
    "tokens_reasoning",  # part of tokens_out
    "cost_usd",  # NaN = unknown price
    "latency_s",
    "attempts",
    "cached",
    "asked_at",  # ISO 8601, UTC
)

PARSED_COLUMNS = (
    *RAW_COLUMNS,
    "status",
    "verdict_kind",  # score | pass-fail | preference | choice | category | text; empty if unknown
    "score",
    "choice",
    "explanation",
    "reason",
)
