"""RewardBench 2 with k repeated scores: several judges' scores of four responses, k times each."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pandas as pd

from judgestats.errors import InputError
from judgestats.judgments.readers.frame import parsed_frame
from judgestats.judgments.readers.logs import Reader
from judgestats.judgments.readers.untrusted import number, records, text
from judgestats.protocols.base import Status

_JUDGES = {"full": "gpt-5.4", "mini": "gpt-5.4-mini", "nano": "gpt-5.4-nano"}
_SCORES = re.compile(r"^(\w+)_scores$")
_TEMPERATURE = re.compile(r"_t(\d+(?:\.\d+)?)(?=\.|_|$)")
_SCALE = (1, 10)
_COLUMNS = [
    "judge", "temperature", "item_id", "cluster", "category", "replicate", "score",
    "status", "reason", "correct", "tokens_in", "tokens_out",
]  # fmt: skip
_OK, _FAILED = Status.OK.value, Status.FAILED.value


def _temperature(path: Path) -> float:
    """The files name a temperature only where it is not the default of 1."""
    name = path.name.removesuffix(".gz").removesuffix(".jsonl")
    match = _TEMPERATURE.search(name)
    return float(match.group(1)) if match else 1.0


def read_rewardbench2_k8(path: Path) -> pd.DataFrame:
    """Read one file of repeated scores.

    An item is (subset, id, response index) and its cluster (subset, id): `id` alone is not unique.
    A ``null`` score is a failed call, with the error the file gives.

    Parameters
    ----------
    path : Path
        ``*.jsonl`` or ``*.jsonl.gz``; each line has ``<judge>_scores`` as responses x repeats.

    Returns
    -------
    DataFrame
        A parsed frame; `correct` is "yes" for response 0, the correct one of the four.
    """
    temperature = _temperature(path)
    rows = [row for place, line in records(path) for row in _line_rows(place, line, temperature)]
    if not rows:
        raise InputError(f"{path}: no line holds a field that ends in _scores.")
    frame = parsed_frame(pd.DataFrame(rows, columns=_COLUMNS))
    frame.attrs["scale"] = _SCALE
    return frame


def _line_rows(place: str, record: dict[str, Any], temperature: float) -> list[tuple[Any, ...]]:
    """The judgments of one line, as rows of `_COLUMNS`."""
    subset, key = text(record.get("subset")), text(record.get("id"))
    if not subset or not key:
        raise InputError(f"{place} is not a RewardBench 2 record with subset and id.")
    cluster = f"{subset}/{key}"
    rows = []
    for field, responses in record.items():
        match = _SCORES.match(field)
        if match is None:
            continue
        short = match.group(1)
        if not _two_deep(responses):
            raise InputError(f"{place}: {field} is no list of each response's scores.")
        errors = record.get(f"{short}_errors")
        tokens = _tokens(record.get("cost"), short, sum(len(scores) for scores in responses))
        judge = _JUDGES.get(short, short)
        for response, scores in enumerate(responses):
            item, correct = f"{cluster}/{response}", "yes" if response == 0 else "no"
            for replicate, score_at in enumerate(scores):
                score = number(score_at)
                lost = math.isnan(score)
                why = _at(errors, response, replicate) if lost else ""
                status = _FAILED if lost else _OK
                reason = (why or "the call failed") if lost else ""
                rows.append((judge, temperature, item, cluster, subset, replicate, score,
                             status, reason, correct, *tokens))  # fmt: skip
    return rows


def _two_deep(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(inner, list) for inner in value)


def _at(errors: Any, response: int, replicate: int) -> str:
    """The error of one call, where the record has it."""
    if not _two_deep(errors) or response >= len(errors) or replicate >= len(errors[response]):
        return ""
    return text(errors[response][replicate], 200)


def _tokens(cost: Any, judge: str, calls: int) -> list[float]:
    """Tokens of one judgment: a line gives those of all its judgments together."""
    costs = cost if isinstance(cost, dict) else {}
    return [
        number(costs.get(f"{judge}_{side}_tokens")) / max(calls, 1) for side in ("input", "output")
    ]


REWARDBENCH2_K8 = Reader(
    name="rewardbench2-k8",
    about="RewardBench 2 with repeated scores: subset, id, JUDGE_scores of each response",
    item="response; cluster: the prompt",
    fits=lambda log: (
        log.kind == "jsonl"
        and log.has("subset", "id")
        and any(_SCORES.match(k) and _two_deep(v) for k, v in log.first.items())
    ),
    read=lambda log: read_rewardbench2_k8(log.path),
)
