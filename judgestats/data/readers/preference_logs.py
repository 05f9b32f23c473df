"""Logs of pairwise benchmarks: AlpacaEval, FastChat, JudgeBench, RewardBench."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pandas as pd

from judgestats.data.readers.columns import Remark
from judgestats.data.readers.frame import failed, grade, parsed_frame, unparsed_fields
from judgestats.data.readers.logs import Log, Reader, Rows, list_of, moment, named_text, object_of
from judgestats.errors import InputError
from judgestats.files.guarded import records
from judgestats.files.text import number, text
from judgestats.protocols.base import Status

_CHOICE = {0.0: "tie", 1.0: "a", 1.5: "tie", 2.0: "b"}


def _fits(log: Log) -> bool:
    return log.has("instruction", "output_1", "output_2", "preference") and log.has("annotator")


def _preference_field(record: dict[str, Any], name: str) -> object:
    """A field under the name of this version or of an older one."""
    return record.get(f"preference_{name}", record.get(name))


def _read_log(log: Log) -> pd.DataFrame:
    preferences = [(number(r.get("preference")), r) for _, r in log.records()]
    weighted = any(not math.isnan(p) and p not in _CHOICE for p, _ in preferences)
    rows = Rows(log.path)
    for preference, record in preferences:
        one, two = (text(record.get(f"generator_{k}"), 200) or f"output {k}" for k in (1, 2))
        cluster = named_text(text(record.get("instruction")))
        raw = text(_preference_field(record, "raw_completion"))
        if math.isnan(preference) or not 0 <= preference <= 2 or 0 < preference < 1:
            read = unparsed_fields(raw, "no preference; AlpacaEval does not keep the reason")
        elif weighted:
            read = grade(preference - 1 if preference else 0.5)
        else:
            read = grade(_CHOICE[preference])
        rows.add(
            **read,
            judge=text(record.get("annotator"), 200) or log.judge,
            item_id=f"{cluster}/{one} vs {two}",
            cluster=cluster,
            system_a=one,
            system_b=two,
            category=text(record.get("dataset"), 200),
            raw_text=raw,
            cost_usd=number(_preference_field(record, "price_per_example")),
            latency_s=number(_preference_field(record, "time_per_example")),
            asked_at=text(_preference_field(record, "date"), 40),
        )
    rows.note(
        "AlpacaEval shows the two outputs in an order it draws and does not record: a preference "
        "for a place cannot be seen in these annotations."
    )
    if weighted:
        rows.note(
            "The preferences are weighted by token probabilities: the score is the weight of "
            "output_2, from 0 to 1 (AlpacaEval's number less 1)."
        )
    frame = rows.frame(scale=(0.0, 1.0) if weighted else None)
    frame.attrs["tested"] = "b"  # output_1 is the reference
    return frame


ALPACA_EVAL = Reader(
    name="alpaca-eval",
    about="AlpacaEval annotations.json: instruction, output_1, output_2, annotator, preference",
    item="instruction / pair; cluster: the instruction",
    roles={
        "item": ("instruction",),
        "verdict": ("preference",),
        "judge": ("annotator",),
        "system": ("generator_1", "generator_2"),
    },
    fits=_fits,
    read=_read_log,
)


_FAILED = "$ERROR$"
_WINNER = {"model_1": "a", "model_2": "b", "tie": "tie"}
_SCALE = (1.0, 10.0)


_SINGLE = ("question_id", "judge", "model", "score", "judgment", "turn")
_GAMES = ("question_id", "judge", "model_1", "model_2", "g1_winner", "g2_winner")


def _fastchat_fits(log: Log) -> bool:
    near = len({*_SINGLE, "user_prompt", "tstamp"} & set(log.first)) >= len(_SINGLE)
    return log.has(*_SINGLE[:-1]) or log.has(*_GAMES) or ("user_prompt" in log.first and near)


def _fastchat_read(log: Log) -> pd.DataFrame:
    rows = Rows(log.path)
    needed = _GAMES if "g1_winner" in log.first else _SINGLE
    if lost := [key for key in needed if key not in log.first]:
        raise InputError(
            f"{log.path}: these look like FastChat's judgments without {lost[0]!r}. Add it, or "
            "name the columns with --map."
        )
    by_prompt = _crossed_prompts(log)
    for _, record in log.records():
        judge, prompt = _judge(record.get("judge"))
        turn = text(record.get("turn"))
        suffix = f"/turn {turn}" if turn not in {"", "1"} else ""
        common: dict[str, Any] = {
            "judge": judge or log.judge,
            "scorer": prompt if by_prompt else "",
            "cluster": text(record.get("question_id"), 200),
            "asked_at": moment(number(record.get("tstamp"))),
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
                author=model,
                raw_text=reply,
            )
    frame = rows.frame()
    pairs = "system_a" in frame
    frame.attrs["layout"] = "mt-bench-pair" if pairs else "mt-bench-single"
    if pairs:
        frame.attrs["roles"] = {
            "item": ["question_id", "turn"], "cluster": ["question_id"], "judge": ["judge"],
            "order": ["g1_winner", "g2_winner"], "system": ["model_1", "model_2"],
            "verdict": ["g1_winner", "g2_winner"],
        }  # fmt: skip
    scores = frame["score"].dropna()
    if len(scores) and scores.between(*_SCALE).all():
        frame.attrs["scale"] = _SCALE
        said = "The scale 1-10 is MT-Bench's; the file does not state it."
        frame.attrs["notes"].append(Remark(said, "scale_assumed"))
    return frame


def _crossed_prompts(log: Log) -> bool:
    """Whether a judge had several prompts for one question and turn; else the turn decides."""
    prompts: dict[tuple[str, str, str], str] = {}
    for _, record in log.records():
        judge, prompt = _judge(record.get("judge"))
        key = judge, text(record.get("question_id"), 200), text(record.get("turn"))
        if prompts.setdefault(key, prompt) != prompt:
            return True
    return False


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
        return unparsed_fields(text, "no rating in the reply")
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
                author=model,
                raw_text=reply,
            )
            continue
        if reply.strip() == _FAILED:
            failure = failed("FastChat could not reach the judge")
        elif winner is None:
            failure = unparsed_fields(reply, "no verdict in the reply")
        else:
            failure = grade(winner)
        rows.add(
            **common, **failure, item_id=item, order=order, system_a=one, system_b=two,
            raw_text=reply,
        )  # fmt: skip


FASTCHAT = Reader(
    name="fastchat",
    about="FastChat judgments: *_single.jsonl (question_id, model, judge, score), *_pair.jsonl "
    "(model_1, model_2, g1_winner, g2_winner)",
    item="question / model or pair / turn; cluster: the question",
    roles={
        "item": ("question_id", "model", "turn"),
        "cluster": ("question_id",),
        "judge": ("judge",),
        "verdict": ("score",),
        "system": ("model",),
    },
    fits=_fastchat_fits,
    read=_fastchat_read,
)


_DECISION = {"A>B": "a", "B>A": "b", "A=B": "tie"}
_TURNED = {"a": "b", "b": "a", "tie": "tie"}
_MODEL = re.compile(r"judge_model=([^,]+?)(?:\.jsonl)?(?:\.gz)?$")


def _judgebench_read(log: Log) -> pd.DataFrame:
    rows = Rows(log.path)
    named = _MODEL.search(log.path.name)
    model = log.judge or (named[1] if named else "")
    if not model:
        rows.note(
            "The judge's model is in the name of JudgeBench's files, and not in this one's "
            "(--judge NAME)."
        )
    for _, record in log.records():
        for k, judgment in enumerate(list_of(record.get("judgments"))[:2]):
            rows.add(
                **_verdict(judgment, later=k == 1),
                judge=model or text(record.get("judge_name"), 200),
                scorer=text(record.get("judge_name"), 200),
                item_id=text(record.get("pair_id"), 200),
                cluster=text(record.get("original_id") or record.get("pair_id"), 200),
                category=text(record.get("source"), 200),
                author=text(record.get("response_model"), 200),
                label=_DECISION.get(text(record.get("label"), 10), ""),
                order="ba" if k else "ab",
            )
    return rows.frame()


def _verdict(judgment: object, *, later: bool) -> dict[str, Any]:
    """The decision, in the second order turned back to the response it means."""
    if not isinstance(judgment, dict):
        return failed("JudgeBench could not get a judgment")
    inner = judgment.get("judgment")
    reply = text(inner.get("response") if isinstance(inner, dict) else inner)
    choice = _DECISION.get(text(judgment.get("decision"), 10))
    if choice is None:
        return {**unparsed_fields(reply, "no decision in the reply"), "raw_text": reply}
    return {**grade(_TURNED[choice] if later else choice), "raw_text": reply}


JUDGEBENCH = Reader(
    name="judgebench",
    about="JudgeBench outputs/*.jsonl: pair_id, judge_name, judgments with a decision",
    item="pair; cluster: its original",
    roles={"item": ("pair_id",), "judge": ("judge_name",), "verdict": ("judgments[].decision",)},
    fits=lambda log: log.has("pair_id", "judge_name", "judgments", "label"),
    read=_judgebench_read,
)


_REWARDBENCH_CHOICE = {1.0: "a", 0.0: "b", 0.5: "tie"}


def _rewardbench_fits(log: Log) -> bool:
    return log.kind == "json" and log.has("id", "subset", "results", "model") and isinstance(
        log.first["results"], list
    )  # fmt: skip


def _rewardbench_read(log: Log) -> pd.DataFrame:
    rows = Rows(log.path)
    columns = {name: log.first[name] for name in ("id", "subset", "results")}
    if len({len(c) if isinstance(c, list) else -1 for c in columns.values()}) != 1:
        raise InputError(f"{log.path}: id, subset and results must be lists of one length.")
    judge = log.judge or text(log.first["model"], 200)
    for identity, subset, result in zip(*columns.values(), strict=True):
        choice = _REWARDBENCH_CHOICE.get(number(result))
        name = text(subset, 200)
        item = f"{name}/{text(identity, 200)}"
        rows.add(
            **(grade(choice) if choice else unparsed_fields("", "no result for this pair")),
            judge=judge,
            item_id=item,
            cluster=item,
            category=name,
            label="a",
        )
    rows.note(
        "Response a is the one that RewardBench's authors chose. RewardBench draws the order shown "
        "and does not record it: a preference for a place cannot be seen."
    )
    return rows.frame()


REWARDBENCH = Reader(
    name="rewardbench",
    about="RewardBench eval-set-scores: columns id, subset, results, with the model",
    item="subset / pair",
    roles={"item": ("subset", "id"), "judge": ("model",), "verdict": ("results",)},
    fits=_rewardbench_fits,
    read=_rewardbench_read,
)


_JUDGES = {"full": "gpt-5.4", "mini": "gpt-5.4-mini", "nano": "gpt-5.4-nano"}
_SCORES = re.compile(r"^(\w+)_scores$")
_TEMPERATURE = re.compile(r"_t(\d+(?:\.\d+)?)(?=\.|_|$)")
_REWARDBENCH2_SCALE = (1, 10)
_COLUMNS = [
    "judge", "temperature", "item_id", "cluster", "category", "replicate", "score",
    "status", "reason", "correct", "tokens_in", "tokens_out",
]  # fmt: skip
_OK, _REWARDBENCH2_FAILED = Status.OK.value, Status.FAILED.value


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
    frame.attrs["scale"] = _REWARDBENCH2_SCALE
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
            raise InputError(f"{place}: {field} is not a list of each response's scores.")
        errors = record.get(f"{short}_errors")
        tokens = _tokens(record.get("cost"), short, sum(len(scores) for scores in responses))
        judge = _JUDGES.get(short, short)
        for response, scores in enumerate(responses):
            item, correct = f"{cluster}/{response}", "yes" if response == 0 else "no"
            for replicate, score_at in enumerate(scores):
                score = number(score_at)
                lost = math.isnan(score)
                why = _call_error(errors, response, replicate) if lost else ""
                status = _REWARDBENCH2_FAILED if lost else _OK
                reason = (why or "the call failed") if lost else ""
                rows.append((judge, temperature, item, cluster, subset, replicate, score,
                             status, reason, correct, *tokens))  # fmt: skip
    return rows


def _two_deep(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(inner, list) for inner in value)


def _call_error(errors: Any, response: int, replicate: int) -> str:
    """The error of one call, where the record has it."""
    if not _two_deep(errors) or response >= len(errors) or replicate >= len(errors[response]):
        return ""
    return text(errors[response][replicate], 200)


def _tokens(cost: Any, judge: str, calls: int) -> list[float]:
    """Tokens of one judgment: a line gives those of all its judgments together."""
    costs = object_of(cost)
    return [
        number(costs.get(f"{judge}_{side}_tokens")) / max(calls, 1) for side in ("input", "output")
    ]


REWARDBENCH2_K8 = Reader(
    name="rewardbench2-k8",
    about="RewardBench 2 with repeated scores: subset, id, JUDGE_scores of each response",
    item="response; cluster: the prompt",
    roles={"item": ("id",), "cluster": ("id",)},
    fits=lambda log: (
        log.kind == "jsonl"
        and log.has("subset", "id")
        and any(_SCORES.match(k) and _two_deep(v) for k, v in log.first.items())
    ),
    read=lambda log: read_rewardbench2_k8(log.path),
)
