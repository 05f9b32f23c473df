"""Inspect logs: ``.eval`` archives and ``.json`` files, every scorer's grade of every epoch."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from judgestats.data.readers.frame import failed, grade
from judgestats.data.readers.logs import Log, Reader, Rows, digest, is_missing, object_of
from judgestats.errors import InputError
from judgestats.files.guarded import archive
from judgestats.files.text import number, short, text
from judgestats.protocols.base import Status

_STOPPED = {
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "content_filter",
}
_WORDS = {"C": "correct", "I": "incorrect", "P": "partial", "N": "no answer"}
"""Inspect's own grades, spelled out: a C could be the tie of a comparison of A and B."""

_NONE = {status.value for status in Status if status is not Status.OK}

_WHO = {"judge", "model", "base_url", "temperature", "journal"}
"""Options of scorers that name the judge, not the request."""
_OURS = "judged"
"""What judgestats' own scorer is called in a log."""

_START = "_journal/start.json"


def _fits(log: Log) -> bool:
    if log.kind == "zip":
        with archive(log.path) as zip_archive:
            return bool({"header.json", _START} & set(zip_archive.names))
    return log.kind == "json" and log.has("eval", "status", "version")


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _read_log(log: Log) -> pd.DataFrame:
    rows = Rows(log.path)
    if log.kind == "zip":
        with archive(log.path) as zip_archive:
            whole = "header.json" in zip_archive.names
            header = object_of(zip_archive.json("header.json" if whole else _START))
            if not whole:
                rows.note(
                    "The evaluation was interrupted: only the samples that were written are here."
                )
            names = (
                n for n in zip_archive.names if n.startswith("samples/") and n.endswith(".json")
            )
            _samples(rows, header, (zip_archive.json(name) for name in names), log.judge)
    else:
        _samples(rows, log.first, iter(_listed(log.first.get("samples"))), log.judge)
        if log.first.get("samples") is None:
            rows.note("The log has only its header, without samples.")
    frame = rows.frame()
    for _, own in frame.groupby("condition", sort=False):
        if set(own["choice"]) - {""} <= set(_WORDS):
            frame.loc[own.index, "choice"] = own["choice"].replace(_WORDS)
    return frame


def _samples(rows: Rows, header: Mapping[str, Any], samples: Iterator[Any], named: str) -> None:
    about = object_of(header.get("eval"))
    grader = object_of(object_of(about.get("model_roles")).get("grader"))
    scorers = _declared(about)
    answers: dict[str, list[str]] = {}
    common = {
        "task": text(about.get("task"), 200),
        "author": text(about.get("model"), 200),
    }
    epochs = set[float]()
    for sample in samples:
        if not isinstance(sample, dict):
            raise InputError(f"{rows.path}: a sample is {short(sample)}, not a JSON object.")
        calls = _calls(sample)
        epoch = number(sample.get("epoch"))
        epochs.add(epoch)
        cluster = text(sample.get("id"), 300)
        metadata = object_of(sample.get("metadata"))
        which = _answer_index(sample, answers.setdefault(cluster, []))
        place = {
            **common,
            "cluster": cluster,
            "item_id": f"{cluster}/{common['author']}" + (f" (answer {which + 1})" * (which > 0)),
            "category": text(metadata.get("category"), 200),
            "replicate": int(epoch) - 1 if 1 <= epoch < 1e9 and not which else -1,
        }
        if which:
            rows.note(
                "Answers vary between the epochs of a sample: each is a separate item, its "
                "sample the cluster. Score the log again for repeated judgments of one answer "
                "(inspect score, append)."
            )
        scores: dict[str, dict[str, Any] | None] = dict(
            _named_scores(object_of(sample.get("scores")))
        )
        stopped = text(object_of(sample.get("error")).get("message"), 300)
        if not scores and (stopped or not scorers):
            scores = dict.fromkeys(scorers or ("(no scorer)",))
        for name, score in scores.items():
            _add(rows, name, score, calls, grader, place, stopped, scorers, named)
    if len(epochs) > 1 and not any(answers.values()):
        rows.note(
            "No sample holds its answer: epochs are interpreted as repeated judgments of one "
            "answer. Where the answers differ, flip rate and SEM do not hold."
        )


def _declared(about: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Each scorer's name in the log, with what it is called here and the digest of its options.

    Inspect numbers scorers of one name. Those whose options are the same but for the model are one
    scorer: of other judges, or once more where a log was scored again.
    """
    first: dict[tuple[str, str], str] = {}
    declared: dict[str, tuple[str, str]] = {}
    for scorer in map(object_of, _listed(about.get("scorers"))):
        name = unique = text(scorer.get("name"), 200)
        n = 0
        while unique in declared:
            n += 1
            unique = f"{name}{n}"
        options = {k: v for k, v in object_of(scorer.get("options")).items() if k not in _WHO}
        sha = digest(text(options)) if options else ""
        label = text(options.get("protocol"), 40) or "pointwise" if name == _OURS else unique
        if label in first.values():
            label = unique
        declared[unique] = (first.setdefault((name, sha), label), sha)
    return declared


def _answer_index(sample: Mapping[str, Any], answers: list[str]) -> int:
    """Which of the answers to its question a sample holds; 0 where it holds none."""
    output = object_of(sample.get("output"))
    answer = digest(text(output.get("completion")) or _reply(output))
    if not answer:
        return 0
    if answer not in answers:
        answers.append(answer)
    return answers.index(answer)


def _named_scores(scores: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each scorer's score; a scorer that gives several values becomes several."""
    for name, given in scores.items():
        score = dict(object_of(given))
        value = score.get("value")
        if isinstance(value, dict):
            for part, single in value.items():
                yield f"{name}.{part}", {**score, "value": single}
        elif isinstance(value, list):
            for i, single in enumerate(value):
                yield f"{name}.{i}", {**score, "value": single}
        else:
            yield name, score


def _calls(sample: Mapping[str, Any]) -> dict[str, list[Mapping[str, Any]]]:
    """The calls of models by each scorer: spans (or steps, in older logs) say whose they are."""
    spans: dict[str, str] = {}
    inside = ""
    calls: dict[str, list[Mapping[str, Any]]] = {}
    for event in map(object_of, _listed(sample.get("events"))):
        kind, name = event.get("event"), text(event.get("name"), 200)
        if kind == "span_begin":
            parent = spans.get(text(event.get("parent_id"), 200), "")
            own = name if event.get("type") == "scorer" else parent
            spans[text(event.get("id"), 200)] = own
        elif kind == "step" and event.get("type") == "scorer":
            inside = name if event.get("action") == "begin" else ""
        elif kind == "model":
            whose = spans.get(text(event.get("span_id"), 200), "") or inside
            if whose:
                calls.setdefault(whose, []).append(event)
    return calls


def _add(
    rows: Rows,
    name: str,
    score: Mapping[str, Any] | None,
    calls: Mapping[str, list[Mapping[str, Any]]],
    grader: Mapping[str, Any],
    place: Mapping[str, Any],
    stopped: str,
    scorers: Mapping[str, tuple[str, str]],
    named: str,
) -> None:
    whole = name if name in scorers else name.split(".", 1)[0]
    called, sha = scorers.get(whole, (whole, ""))
    content = score or {}
    ours = object_of(object_of(content.get("metadata")).get("judgestats"))
    asked = calls.get(whole, calls.get(name, []))
    call = asked[-1] if asked else {}
    output = object_of(call.get("output"))
    config = object_of(call.get("config")) or object_of(grader.get("config"))
    usage = object_of(output.get("usage"))
    models = dict.fromkeys(text(event.get("model"), 200) for event in asked)
    judge = text(ours.get("judge") or " + ".join(models) or grader.get("model"), 200) or named
    if not judge:
        judge = name
        rows.note(f"No model's call is recorded for the scorer {name!r}: it is used as the judge.")
    choices = _listed(output.get("choices"))
    finish = text(object_of(choices[0]).get("stop_reason"), 40) if choices else ""
    raw = text(output.get("completion")) or _reply(output)
    explanation = text(content.get("explanation"))
    why = text(
        content.get("reason") or object_of(content.get("metadata")).get("unscored_reason"), 300
    )
    status = ours.get("status")
    if status in _NONE:
        failure = {"status": status, "score": math.nan, "choice": "", "reason": why}
    elif stopped and content.get("value") is None:
        failure = failed(stopped)
    elif text(call.get("error")) and is_missing(content.get("value")):
        failure = failed(text(call.get("error"), 300))
    else:
        failure = grade(
            content.get("value"),
            raw=raw or explanation,
            why=f"unscored: {why}" if why else "",
            finish_reason=_STOPPED.get(finish, ""),
        )
    rows.add(
        **place,
        **failure,
        judge=judge,
        scorer=called + name[len(whole) :],
        temperature=number(ours.get("temperature", config.get("temperature"))),
        raw_text=raw or explanation,
        explanation=explanation,
        finish_reason=finish,
        prompt_sha=text(ours.get("prompt_sha"), 64) or sha,
        model_reported=text(ours.get("model") or output.get("model"), 200),
        tokens_in=number(ours.get("tokens_in", usage.get("input_tokens"))),
        tokens_out=number(ours.get("tokens_out", usage.get("output_tokens"))),
        cost_usd=number(ours.get("cost_usd", usage.get("total_cost"))),
        latency_s=number(output.get("time")),
        asked_at=text(call.get("timestamp"), 40),
    )


def _reply(output: Mapping[str, Any]) -> str:
    """The text of a model's first choice."""
    choices = _listed(output.get("choices"))
    return text(object_of(object_of(choices[0]).get("message")).get("content")) if choices else ""


INSPECT = Reader(
    name="inspect",
    about="Inspect logs: .eval, or .json with eval, status, samples; a folder of them",
    item="sample / model under test, each answer one; cluster: the sample",
    roles={
        "item": ("samples[].id", "samples[].epoch"),
        "cluster": ("samples[].id",),
        "criterion": ("scores",),
        "verdict": ("samples[].scores.value",),
    },
    fits=_fits,
    read=_read_log,
)
