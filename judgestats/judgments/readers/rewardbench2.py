"""RewardBench 2 with k repeated scores: several judges' scores of four responses, k times each."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pandas as pd

from judgestats.errors import InputError
from judgestats.judgments.readers.frame import parsed_frame
from judgestats.protocols.base import Status

__all__ = ["read_rewardbench2_k8"]

_JUDGES = {"full": "gpt-5.4", "mini": "gpt-5.4-mini", "nano": "gpt-5.4-nano"}
_SCORES = re.compile(r"^(\w+)_scores$")
_TEMPERATURE = re.compile(r"_t(\d+(?:\.\d+)?)(?=\.|_|$)")
_SCALE = (1, 10)


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
    rows: list[dict[str, Any]] = []
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            rows.extend(_line_rows(path, number, line, temperature))
    if not rows:
        raise InputError(f"{path}: no line holds a field that ends in _scores.")
    frame = parsed_frame(pd.DataFrame(rows))
    frame.attrs["scale"] = _SCALE
    return frame


def _line_rows(path: Path, number: int, line: str, temperature: float) -> list[dict[str, Any]]:
    try:
        record = json.loads(line)
        cluster = f"{record['subset']}/{record['id']}"
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{path}: line {number} is not a RewardBench 2 record with subset and id ({error!r})."
        ) from error
    rows = []
    for field, responses in record.items():
        match = _SCORES.match(field)
        if match is None:
            continue
        short = match.group(1)
        errors = record.get(f"{short}_errors") or []
        tokens = _tokens(record.get("cost"), short, sum(len(scores) for scores in responses))
        for response, scores in enumerate(responses):
            for replicate, score in enumerate(scores):
                failed = score is None
                why = errors[response][replicate] if failed and response < len(errors) else None
                rows.append(
                    {
                        "judge": _JUDGES.get(short, short),
                        "temperature": temperature,
                        "item_id": f"{cluster}/{response}",
                        "cluster": cluster,
                        "category": record["subset"],
                        "replicate": replicate,
                        "score": float("nan") if failed else float(score),
                        "status": Status.FAILED.value if failed else Status.OK.value,
                        "reason": str(why or "the call failed")[:200] if failed else "",
                        "correct": "yes" if response == 0 else "no",
                        **tokens,
                    }
                )
    return rows


def _tokens(cost: Any, judge: str, calls: int) -> dict[str, float]:
    """Tokens of one judgment: a line gives those of all its judgments together."""
    known = cost if isinstance(cost, dict) else {}
    return {
        f"tokens_{side}": float(value) / max(calls, 1)
        for side, value in (
            ("in", known.get(f"{judge}_input_tokens")),
            ("out", known.get(f"{judge}_output_tokens")),
        )
        if isinstance(value, int | float)
    }
