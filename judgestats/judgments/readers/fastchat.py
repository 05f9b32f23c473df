"""FastChat judgments (MT-Bench): single grades, and pairs judged in both orders."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from judgestats.judgments.readers.grades import failed, grade, unread
from judgestats.judgments.readers.logs import Log, Reader, Rows, moment
from judgestats.judgments.readers.untrusted import number, text

_FAILED = "$ERROR$"
_WINNER = {"model_1": "a", "model_2": "b", "tie": "tie"}
_SCALE = (1.0, 10.0)


def _fits(log: Log) -> bool:
    return log.has("question_id", "judge", "model", "score", "judgment") or log.has(
        "question_id", "judge", "model_1", "model_2", "g1_winner", "g2_winner"
    )


def _read(log: Log) -> pd.DataFrame:
    rows = Rows(log.path)
    for _, record in log.records():
        judge, prompt = _judge(record.get("judge"))
        turn = text(record.get("turn"))
        suffix = f"/turn {turn}" if turn not in {"", "1"} else ""
        common: dict[str, Any] = {
            "judge": judge or log.judge,
            "scorer": prompt,
            "cluster": text(record.get("question_id"), 200),
            "asked_at": moment(number(record.get("tstamp"))),
            "replicate": -1,
        }
        if "g1_winner" in record:
            _pair(rows, record, common, suffix)
        else:
            model = text(record.get("model"), 200)
            reply = text(record.get("judgment"))
            rows.add(
                **common,
                **_score(record.get("score"), reply),
                item_id=f"{common['cluster']}/{model}{suffix}",
                answerer=model,
                raw_text=reply,
            )
    frame = rows.frame()
    scores = frame["score"].dropna()
    if len(scores) and scores.between(*_SCALE).all():
        frame.attrs["scale"] = _SCALE
        frame.attrs["notes"].append("The scale 1-10 is MT-Bench's; the file does not state it.")
    return frame


def _judge(value: object) -> tuple[str, str]:
    """FastChat names a judge as (model, prompt)."""
    if isinstance(value, list) and value:
        return text(value[0], 200), text(value[1], 200) if len(value) > 1 else ""
    return text(value, 200), ""


def _score(value: object, text: str) -> dict[str, Any]:
    if text.strip() == _FAILED:
        return failed("FastChat could not reach the judge")
    score = number(value)
    if score == -1:
        return unread(text, "no rating in the reply")
    return grade(None if math.isnan(score) else score, raw=text)


def _pair(rows: Rows, record: dict[str, Any], common: dict[str, Any], suffix: str) -> None:
    one, two = (text(record.get(k), 200) for k in ("model_1", "model_2"))
    item = f"{common['cluster']}/{one} vs {two}{suffix}"
    for game, order in (("g1", "ab"), ("g2", "ba")):
        reply = text(record.get(f"{game}_judgment"))
        winner = _WINNER.get(text(record.get(f"{game}_winner"), 20))
        if "m1_score" in record:
            model, key = (one, "m1_score") if game == "g1" else (two, "m2_score")
            rows.add(
                **common,
                **_score(record.get(key), reply),
                item_id=f"{common['cluster']}/{model}{suffix}",
                answerer=model,
                raw_text=reply,
            )
            continue
        if reply.strip() == _FAILED:
            failure = failed("FastChat could not reach the judge")
        elif winner is None:
            failure = unread(reply, "no verdict in the reply")
        else:
            failure = grade(winner)
        rows.add(**common, **failure, item_id=item, order=order, raw_text=reply)


FASTCHAT = Reader(
    name="fastchat",
    about="FastChat judgments: *_single.jsonl (question_id, model, judge, score), *_pair.jsonl "
    "(model_1, model_2, g1_winner, g2_winner)",
    item="question / model or pair / turn; cluster: the question",
    fits=_fits,
    read=_read,
)
