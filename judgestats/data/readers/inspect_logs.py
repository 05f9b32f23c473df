"""Logs of Inspect and promptfoo."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from judgestats.data.readers.frame import failed, grade, unparsed_fields
from judgestats.data.readers.logs import (
    Log,
    Reader,
    Rows,
    digest,
    is_missing,
    list_of,
    moment,
    named_text,
    object_of,
)
from judgestats.errors import InputError
from judgestats.files.guarded import archive, database, json_value
from judgestats.files.text import number, short, text
from judgestats.protocols.base import Status

_STOPPED = {"max_tokens": "length", "model_length": "length", "content_filter": "content_filter"}
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
        _samples(rows, log.first, iter(list_of(log.first.get("samples"))), log.judge)
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
    common = {"task": text(about.get("task"), 200), "author": text(about.get("model"), 200)}
    for sample in samples:
        if not isinstance(sample, dict):
            raise InputError(f"{rows.path}: a sample is {short(sample)}, not a JSON object.")
        calls = _calls(sample)
        epoch = number(sample.get("epoch"))
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
                "Answers vary between the epochs of a sample, or are not in the log: each is a "
                "separate item, its sample the cluster. Score the log again for repeated "
                "judgments of one answer (inspect score, append)."
            )
        scores: dict[str, dict[str, Any] | None] = dict(_named_scores(sample.get("scores")))
        stopped = text(object_of(sample.get("error")).get("message"), 300)
        if not scores and (stopped or not scorers):
            scores = dict.fromkeys(scorers or ("(no scorer)",))
        for name, score in scores.items():
            _add(rows, name, score, calls, grader, place, stopped, scorers, named)


def _declared(about: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Each scorer's name in the log, with what it is called here and the digest of its options.

    Inspect numbers scorers of one name. Those whose options are the same but for the model are one
    scorer: of other judges, or once more where a log was scored again.
    """
    first: dict[tuple[str, str], str] = {}
    declared: dict[str, tuple[str, str]] = {}
    for scorer in map(object_of, list_of(about.get("scorers"))):
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
    """Which of the answers to its question a sample holds; an unknown one is its own."""
    output = object_of(sample.get("output"))
    answer = digest(text(output.get("completion")) or _reply(output))
    if not answer and sample.get("error"):
        return 0
    answer = answer or f"epoch {text(sample.get('epoch'), 20)}"
    if answer not in answers:
        answers.append(answer)
    return answers.index(answer)


def _named_scores(scores: object) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each scorer's score; a scorer that gives several values becomes several."""
    for name, given in object_of(scores).items():
        score = dict(object_of(given))
        value = score.get("value")
        parts = dict(enumerate(value)) if isinstance(value, list) else value
        if isinstance(parts, dict):
            for part, single in parts.items():
                yield f"{name}.{part}", {**score, "value": single}
        else:
            yield name, score


def _calls(sample: Mapping[str, Any]) -> dict[str, list[Mapping[str, Any]]]:
    """The calls of models by each scorer: spans (or steps, in older logs) say whose they are."""
    spans: dict[str, str] = {}
    inside = ""
    calls: dict[str, list[Mapping[str, Any]]] = {}
    for event in map(object_of, list_of(sample.get("events"))):
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
    choices = list_of(output.get("choices"))
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
    choices = list_of(output.get("choices"))
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


_GRADED = re.compile(
    r"^(not-)?(llm-rubric|agent-rubric|search-rubric|g-eval|model-graded-.*|factuality|"
    r"answer-relevance|context-(?:recall|relevance|faithfulness)|conversation-relevance|pi|moderation)$"
)
_MOST_ROWS = 5_000_000
_JSON_COLUMNS = {"test_case": "testCase", "prompt": "prompt", "provider": "provider",
                 "grading_result": "gradingResult", "metadata": "metadata"}  # fmt: skip
"""Columns of promptfoo's database with JSON, and the names of their content in its exports."""
_RESULTS = """SELECT test_idx, prompt_idx, test_case, prompt, provider, grading_result, metadata
FROM eval_results WHERE eval_id = ? ORDER BY test_idx, prompt_idx"""


def _promptfoo_fits(log: Log) -> bool:
    if log.kind == "sqlite":
        with database(log.path) as link:
            tables = link.execute("SELECT name FROM sqlite_master WHERE type='table'")
            return {"evals", "eval_results"} <= {name for (name,) in tables}
    if log.kind == "json" and isinstance(log.document, dict):
        results = log.first.get("results")
        return isinstance(results, dict) and isinstance(results.get("results"), list)
    return log.has("testCase", "gradingResult", "promptIdx")


def _promptfoo_read_log(log: Log) -> pd.DataFrame:
    rows = Rows(log.path)
    config: Mapping[str, Any] = {}
    if log.kind == "sqlite":
        listed, config = _database(log, rows)
    elif log.kind == "json" and isinstance(log.document, dict):
        config = object_of(log.first.get("config"))
        listed = [r for r in log.first["results"]["results"] if isinstance(r, dict)]
    else:
        listed = [r for _, r in log.records()]
    grader = object_of(object_of(config.get("defaultTest")).get("options")).get("provider")
    graded = [(r, list(_components(object_of(r.get("gradingResult"))))) for r in listed]
    tests = _tests(listed)
    numeric = _numeric(graded)
    skipped: dict[str, int] = {}
    never = 0
    for record, components in graded:
        never += not components
        place = _row_factors(record, tests)
        for component in components:
            assertion = object_of(component.get("assertion"))
            kind = text(assertion.get("type"), 100)
            if not _GRADED.match(kind):
                skipped[kind] = skipped.get(kind, 0) + 1
                continue
            judge, temperature = _grader(component, record, grader)
            if not judge:
                judge = log.judge or "promptfoo's default grader"
                rows.note("The results do not name the grading model (--judge NAME does).")
            judgment = _judgment(component, numeric)
            rows.add(**place, **judgment, judge=judge, temperature=temperature)
    if skipped:
        words = ", ".join(f"{k or 'unnamed'} ({n})" for k, n in list(skipped.items())[:5])
        rows.note(f"Assertions that no model grades were left out: {words}.")
    if never:
        rows.note(f"{never} results hold no assertion, so they have no judgment.")
    if names := [n for n, yes in numeric.items() if yes]:
        rows.note(
            f"{', '.join(names)}: promptfoo's scores between 0 and 1 are read, not pass and fail."
        )
    frame = rows.frame()
    if len(set(frame["author"])) == 1:
        frame = frame.drop(columns="author")  # one provider and prompt: nothing is compared
    if len(frame["score"].dropna()) and frame["score"].dropna().between(0, 1).all():
        frame.attrs["scale"] = (0.0, 1.0)
    return frame


def _components(grading: Mapping[str, Any], depth: int = 0) -> Iterator[Mapping[str, Any]]:
    """The single assertions; an assert-set holds more of them."""
    for component in map(object_of, list_of(grading.get("componentResults"))):
        if component.get("componentResults") and depth < 5:
            yield from _components(component, depth + 1)
        elif component.get("assertion"):
            yield component


def _vars(record: Mapping[str, Any]) -> str:
    case = object_of(record.get("testCase"))
    given = case.get("vars") or record.get("vars")
    return text(dict(sorted(given.items())) if isinstance(given, Mapping) else given)


def _tests(listed: list[dict[str, Any]]) -> dict[str, str]:
    """A name of each test: its description, or else the number of its first run."""
    names: dict[str, str] = {}
    for record in listed:
        key = _vars(record)
        if key not in names:
            content = text(object_of(record.get("testCase")).get("description"), 200)
            index = number(record.get("testIdx"))
            name = named_text(content) or (f"test {index:g}" if not math.isnan(index) else "test")
            names[key] = name if name not in names.values() else f"{name} {digest(key)[:8]}"
    return names


def _row_factors(record: Mapping[str, Any], tests: Mapping[str, str]) -> dict[str, Any]:
    provider = record.get("provider")
    content = object_of(provider)
    named = provider if isinstance(provider, str) else ""
    who = text(content.get("label") or content.get("id") or named, 200)
    label = text(object_of(record.get("prompt")).get("label"))
    prompt = label if 0 < len(label) <= 60 else f"prompt {number(record.get('promptIdx')):g}"
    answerer = " ".join(filter(None, (who, " ".join(prompt.split()))))
    cluster = tests[_vars(record)] or "test"
    metadata = object_of(record.get("metadata")) or object_of(
        object_of(record.get("testCase")).get("metadata")
    )
    return {
        "cluster": cluster,
        "item_id": f"{cluster}/{answerer}",
        "author": answerer,
        "category": text(metadata.get("category"), 200),
    }


def _metric(component: Mapping[str, Any]) -> str:
    assertion = object_of(component.get("assertion"))
    kind = text(assertion.get("type"), 100)
    named = text(assertion.get("metric"), 200)
    value = text(assertion.get("value"))
    return named or (f"{kind} {digest(value)[:6]}" if value else kind)


def _numeric(graded: list[tuple[dict[str, Any], list[Mapping[str, Any]]]]) -> dict[str, bool]:
    """Metrics with scores other than 0 and 1: those are scores, the others verdicts."""
    numeric: dict[str, bool] = {}
    for _, components in graded:
        for component in components:
            if _GRADED.match(text(object_of(component.get("assertion")).get("type"), 100)):
                score = number(component.get("score"))
                other = not math.isnan(score) and score not in {0.0, 1.0}
                numeric[_metric(component)] = numeric.get(_metric(component), False) or other
    return numeric


def _grader(
    component: Mapping[str, Any], record: Mapping[str, Any], default: object
) -> tuple[str, float]:
    """The model that graded, and its temperature: the assertion's, the test's, or the default."""
    options = object_of(object_of(record.get("testCase")).get("options"))
    for given in (
        object_of(component.get("assertion")).get("provider"),
        options.get("provider"),
        default,
    ):
        if isinstance(given, str) and given:
            return text(given, 200), math.nan
        content = object_of(given)
        content = object_of(content.get("text")) or content
        if content.get("id"):
            return text(content["id"], 200), number(
                object_of(content.get("config")).get("temperature")
            )
    return "", math.nan


def _judgment(component: Mapping[str, Any], numeric: Mapping[str, bool]) -> dict[str, Any]:
    """The verdict of a graded assertion, and what it rests on."""
    reason = text(component.get("reason"))
    metadata = object_of(component.get("metadata"))
    http = number(object_of(metadata.get("http")).get("status"))
    used = object_of(component.get("tokensUsed"))
    metric = _metric(component)
    if http >= 400:
        # promptfoo 0.121 counts some refused calls as "Grading passed", with score 1.
        failure = failed(f"the grader's server answered with status {http:g}")
    elif metadata.get("graderError") or component.get("error"):
        failure = unparsed_fields(
            "", reason or text(component.get("error")) or "promptfoo could not read the grade"
        )
    elif numeric[metric]:
        failure = grade(component.get("score"), raw=reason)
    elif isinstance(component.get("pass"), bool):
        failure = grade("pass" if component["pass"] else "fail")
    else:
        failure = unparsed_fields(reason, "neither pass nor fail")
    spent = number(used.get("numRequests")) != 0
    return {
        **failure,
        "scorer": metric,
        "prompt_sha": digest(text(object_of(component.get("assertion")).get("value"))),
        "raw_text": reason,
        "explanation": reason,
        "tokens_in": number(used.get("prompt")) if spent else math.nan,
        "tokens_out": number(used.get("completion")) if spent else math.nan,
    }


def _database(log: Log, rows: Rows) -> tuple[list[dict[str, Any]], Mapping[str, Any]]:
    """The latest evaluation in promptfoo's own database."""
    with database(log.path) as link:
        evals = [*link.execute("SELECT id, created_at, config FROM evals ORDER BY created_at")]
        if not evals:
            raise InputError(f"{log.path} holds no evaluation.")
        identity, created, config = evals[-1]
        if len(evals) > 1:
            rows.note(
                f"The database holds {len(evals)} evaluations; the latest is read, "
                f"{short(identity)} of {moment(number(created) / 1000) or 'unknown time'} "
                "(promptfoo export writes another)."
            )
        listed: list[dict[str, Any]] = []
        for test, prompt, *cells in link.execute(_RESULTS, (identity,)):
            if len(listed) >= _MOST_ROWS:
                raise InputError(f"{log.path}: more than {_MOST_ROWS:,} results in one evaluation.")
            content = zip(_JSON_COLUMNS.items(), cells, strict=True)
            fields = {name: _json(log, cell, column) for (column, name), cell in content}
            listed.append({"testIdx": test, "promptIdx": prompt, **fields})
        return listed, object_of(_json(log, config, "config"))


def _json(log: Log, value: object, name: str) -> Any:
    if not isinstance(value, str) or not value:
        return None
    return json_value(value, f"{log.path}, column {name}")


PROMPTFOO = Reader(
    name="promptfoo",
    about="promptfoo results: JSON or JSON lines (-o out.json), or its database promptfoo.db",
    item="test / provider and prompt; cluster: the test",
    roles={"item": ("testIdx",), "criterion": ("metric",), "repeat": ("--repeat",)},
    fits=_promptfoo_fits,
    read=_promptfoo_read_log,
)
