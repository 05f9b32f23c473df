"""promptfoo results: every assertion that a model graded, from JSON, JSON lines or its database."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from judgestats.data.readers.frame import failed, grade, unparsed_fields
from judgestats.data.readers.logs import Log, Reader, Rows, digest, moment, named_text, object_of
from judgestats.errors import InputError
from judgestats.files.guarded import database, json_value
from judgestats.files.text import number, short, text

_GRADED = re.compile(
    r"^(not-)?(llm-rubric|agent-rubric|search-rubric|g-eval|model-graded-.*|factuality|"
    r"answer-relevance|context-(?:recall|relevance|faithfulness)|conversation-relevance|pi|moderation)$"
)
_MOST_ROWS = 5_000_000
_JSON_COLUMNS = ("test_case", "prompt", "provider", "grading_result", "metadata")
_RESULTS = """SELECT test_idx, prompt_idx, test_case, prompt, provider, grading_result, metadata
FROM eval_results WHERE eval_id = ? ORDER BY test_idx, prompt_idx"""


def _fits(log: Log) -> bool:
    if log.kind == "sqlite":
        return {"evals", "eval_results"} <= _tables(log)
    if log.kind == "json" and isinstance(log.document, dict):
        results = log.first.get("results")
        return isinstance(results, dict) and isinstance(results.get("results"), list)
    return log.has("testCase", "gradingResult", "promptIdx")


def _read_log(log: Log) -> pd.DataFrame:
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
            _add(rows, record, component, place, grader, numeric, log.judge)
    if skipped:
        words = ", ".join(f"{k or 'unnamed'} ({n})" for k, n in list(skipped.items())[:5])
        rows.note(f"Assertions that no model grades were left out: {words}.")
    if never:
        rows.note(f"{never} results hold no assertion, so they have no judgment.")
    frame = rows.frame()
    if len(set(frame["author"])) == 1:
        frame = frame.drop(columns="author")  # one provider and prompt: nothing is compared
    frame.attrs["notes"] += _score_note(numeric)
    if len(frame["score"].dropna()) and frame["score"].dropna().between(0, 1).all():
        frame.attrs["scale"] = (0.0, 1.0)
    return frame


def _score_note(numeric: Mapping[str, bool]) -> list[str]:
    names = [n for n, yes in numeric.items() if yes]
    return (
        [f"{', '.join(names)}: promptfoo's scores between 0 and 1 are read, not pass and fail."]
        if names
        else []
    )


def _components(grading: Mapping[str, Any], depth: int = 0) -> Iterator[Mapping[str, Any]]:
    """The single assertions; an assert-set holds more of them."""
    listed = grading.get("componentResults")
    for component in map(object_of, listed if isinstance(listed, list) else []):
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
    who = text(
        content.get("label")
        or content.get("id")
        or (provider if isinstance(provider, str) else ""),
        200,
    )
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
        "replicate": -1,
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


def _add(
    rows: Rows,
    record: Mapping[str, Any],
    component: Mapping[str, Any],
    place: Mapping[str, Any],
    default: object,
    numeric: Mapping[str, bool],
    named: str,
) -> None:
    judge, temperature = _grader(component, record, default)
    if not judge:
        judge = named or "promptfoo's default grader"
        rows.note("The results do not name the grading model (--judge NAME does).")
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
    rows.add(
        **place,
        **failure,
        judge=judge,
        temperature=temperature,
        scorer=metric,
        prompt_sha=digest(text(object_of(component.get("assertion")).get("value"))),
        raw_text=reason,
        explanation=reason,
        tokens_in=number(used.get("prompt")) if spent else math.nan,
        tokens_out=number(used.get("completion")) if spent else math.nan,
    )


def _tables(log: Log) -> set[str]:
    with database(log.path) as link:
        return {n for (n,) in link.execute("SELECT name FROM sqlite_master WHERE type='table'")}


def _database(log: Log, rows: Rows) -> tuple[list[dict[str, Any]], Mapping[str, Any]]:
    """The latest evaluation in promptfoo's own database."""
    with database(log.path) as link:
        evals = link.execute(
            "SELECT id, created_at, config FROM evals ORDER BY created_at"
        ).fetchall()
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
        for row in link.execute(_RESULTS, (identity,)):
            if len(listed) >= _MOST_ROWS:
                raise InputError(f"{log.path}: more than {_MOST_ROWS:,} results in one evaluation.")
            fields = dict(zip(("test_idx", "prompt_idx", *_JSON_COLUMNS), row, strict=True))
            for name in _JSON_COLUMNS:
                fields[name] = _json(log, fields[name], name)
            listed.append(
                {
                    "testIdx": fields["test_idx"],
                    "promptIdx": fields["prompt_idx"],
                    "testCase": fields["test_case"],
                    "prompt": fields["prompt"],
                    "provider": fields["provider"],
                    "gradingResult": fields["grading_result"],
                    "metadata": fields["metadata"],
                }
            )
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
    fits=_fits,
    read=_read_log,
)
