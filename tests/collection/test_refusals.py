"""What 87 bodies mean that servers answered instead of a completion, as users reported them."""

import json
from pathlib import Path

import pytest

from judgestats.collection import Kind, Parameter, Stop, collect_judgments, read_error, read_reply
from judgestats.errors import JudgeError
from judgestats.simulated import SimulatedServer, run_server, send_json
from tests.collection.picky import Picky

_FILE = Path(__file__).parent / "data" / "errors.jsonl"
ERRORS = [json.loads(line) for line in _FILE.read_text(encoding="utf-8").splitlines()]
KINDS = {
    "refused_parameter": Kind.BAD_REQUEST,
    "unsupported_mode": Kind.BAD_REQUEST,
    "unknown_model": Kind.UNKNOWN_MODEL,
    "wrong_key": Kind.KEY_REFUSED,
    "no_permission": Kind.NO_PERMISSION,
    "quota": Kind.NO_QUOTA,
    "rate_limited": Kind.RATE_LIMITED,
    "overloaded": Kind.OVERLOADED,
    "too_long": Kind.BAD_REQUEST,
    "content_filtered": Kind.BAD_REQUEST,
    "bad_request": Kind.BAD_REQUEST,
    "server_error": Kind.SERVER_ERROR,
    "wrong_path": Kind.WRONG_PATH,
}
ABOUT = {
    "json_schema": Parameter.REPLY_FORMAT,
    "json_object": Parameter.REPLY_FORMAT,
    "tools": Parameter.REPLY_FORMAT,
    "n": Parameter.CHOICES,
    "seed": Parameter.SEED,
    "max_completion_tokens": "max_tokens",
    "too_long": Parameter.TOO_LONG,
    "content_filtered": Parameter.CONTENT,
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_body_has_its_meaning(kind):
    for error in ERRORS:
        if error["meaning"]["kind"] == kind:
            has_its_meaning(error)


def has_its_meaning(error):
    meaning, body = error["meaning"], error["body"].encode()
    read = (
        read_reply if error["status"] == 200 else lambda *rest: read_error(error["status"], *rest)
    )
    outcome = read(body, error["headers"], 0.1)
    assert outcome.kind is KINDS[meaning["kind"]]
    name = meaning.get("name", meaning["kind"])
    if "name" in meaning or meaning["kind"] in ABOUT:
        assert outcome.about == ABOUT.get(name, name)
    elif outcome.kind is Kind.BAD_REQUEST:
        assert outcome.about == Parameter.UNKNOWN
    if outcome.kind in {Kind.RATE_LIMITED, Kind.OVERLOADED}:
        assert outcome.retry_after_s == meaning.get("wait_s")
    assert outcome.detail
    assert "<title" not in outcome.detail
    assert len(outcome.detail) <= 300


def test_a_server_that_breaks_over_a_schema_is_asked_in_the_next_mode(plan, quick):
    breaks = Picky(lambda request: "response_format" in request, status=500, words="boom")
    with run_server(breaks) as url:
        collected = collect_judgments(plan(items=2, url=url), retry=quick)
    assert collected.account.answered == 8
    assert set(collected.frame["reply_mode"]) == {"tool"}
    assert any("HTTP 500 3 times" in note for note in collected.notes)


def test_one_judges_refusal_ends_that_judge_alone(plan, server):
    url, _ = server()
    tasks = [*plan(judges=("sim-nobody",), url=url), *plan(url=url)]
    collected = collect_judgments(tasks)
    assert collected.account.answered == 20
    assert collected.stopped_because is Stop.REFUSED
    assert "does not know the model 'sim-nobody'" in collected.message
    with pytest.raises(JudgeError, match="sim-nobody"):
        collect_judgments(tasks[:20])


def test_a_base_url_without_v1_gets_a_hint(plan):
    class Elsewhere(SimulatedServer):
        async def __call__(self, scope, receive, send):
            await send_json(send, 404, {"detail": "Not Found"})

    with (
        run_server(Elsewhere()) as url,
        pytest.raises(JudgeError, match=r"Most servers want .*/v1"),
    ):
        collect_judgments(plan(url=url.removesuffix("/v1")))


def test_a_model_that_refuses_every_temperature_is_judged_with_the_default(plan):
    picky = Picky(lambda request: "temperature" in request, words="temperature is deprecated")
    with run_server(picky) as url:
        collected = collect_judgments(plan(items=2, temperatures=(0.0, None), url=url))
    assert collected.account.invalid == collected.account.answered == 8
    assert any("temperatures=default" in note for note in collected.notes)


def test_there_are_as_many_as_were_collected():
    assert len(ERRORS) == 87
    assert {e["meaning"]["kind"] for e in ERRORS} == set(KINDS)
