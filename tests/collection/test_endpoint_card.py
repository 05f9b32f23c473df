"""The card tells what is honoured from what is ignored and what is refused."""

import asyncio
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from mlflow import MlflowClient

from judgestats.cli import main
from judgestats.collection import examined, first_answer, parse_judge, read_reply
from judgestats.errors import InputError, JudgeError
from judgestats.simulated import run_server, send_bytes


def card(url, model="sim-noisy"):
    return asyncio.run(examined(parse_judge(f"{model}@{url}", environ={})))


def test_a_server_that_does_what_it_is_asked(server):
    url, app = server(quota_headers=True)
    seen = card(url)
    assert {seen.features[f] for f in ("json_schema", "tools", "n")} == {"honoured"}
    assert "effect is seen (0 against 1)" in seen.features["temperature"]
    assert seen.calls == app.received <= 18
    assert seen.features["logprobs"] == "honoured, before temperature"
    assert seen.tokens["in"] > 0
    assert "x-ratelimit-limit-requests" in seen.rate_limits
    assert seen.cost_usd == 0.0


def test_what_is_ignored_is_not_taken_for_honoured(server):
    url, _ = server(ignore_schema=True, ignore_n=True, ignore_temperature=True)
    seen = card(url)
    assert seen.features["json_schema"] == seen.features["n"] == "ignored"
    assert "no effect is seen" in seen.features["temperature"]


def test_what_is_refused_has_the_servers_words(server):
    url, _ = server(refuse_schema=True, refuse_tools=True, refuse_n=True, refuse_temperature=True)
    seen = card(url)
    assert all(seen.features[f].startswith("refused (") for f in ("json_schema", "tools", "n"))
    assert seen.features["temperature"] == "refused at 0"
    assert seen.repeats_at_0 == 0


def test_cards_of_two_days_are_compared(server, workplace, tmp_path, capsys):
    url, app = server()
    file = tmp_path / "card.json"
    model = f"sim-noisy@{url}"
    assert main(["endpoint", model, "--out", str(file), "--track", "none"]) == 0
    assert not MlflowClient().search_runs(["0"])
    assert json.loads(file.read_text())["features"]["json_schema"] == "honoured"
    assert main(["endpoint", model]) == 0
    said = capsys.readouterr().out
    tags = MlflowClient().get_run(re.search(r"Kept as run (\w+)", said)[1]).data.tags
    assert tags["judgestats.kind"] == "endpoint"
    assert tags["judgestats.endpoint.json_schema"] == "honoured"
    assert main(["endpoint", model]) == 0
    assert "\nAs on 20" in capsys.readouterr().out
    app.faults = replace(app.faults, refuse_n=True)
    assert main(["endpoint", model]) == 0
    assert re.search(r"\nn: honoured on 20.*, now refused", capsys.readouterr().out)


def test_a_run_keeps_the_newest_card_of_its_judges(server, workplace, capsys):
    url, _ = server()
    model = f"sim-noisy@{url}"
    assert main(["endpoint", model]) == 0
    given = "--temperatures 0.5,1 --repeats 2 --limit 3 --resamples 99 --report none --all"
    assert main(["run", "temperature", "--judges", model, *given.split()]) == 0
    run_id = re.search(r"MLflow run (\w+)", capsys.readouterr().out)[1]
    client = MlflowClient()
    [file] = client.list_artifacts(run_id, "endpoints")
    card = json.loads(Path(client.download_artifacts(run_id, file.path, "kept")).read_text())
    assert card["features"]["json_schema"] == "honoured"
    tags = client.get_run(run_id).data.tags
    [kept] = [v for k, v in tags.items() if k.startswith("judgestats.endpoint.")]
    assert kept == card["asked_at"]


def test_a_page_or_an_unknown_model_is_no_judge(server):
    async def page(scope, receive, send):
        await send_bytes(send, 200, b"<!doctype html><title>Log in</title>", b"text/html", [])

    with run_server(page) as url, pytest.raises(JudgeError, match="no chat completions there"):
        asyncio.run(first_answer(parse_judge(f"m@{url}", environ={}), timeout_s=10.0))
    url, _ = server()
    with pytest.raises(JudgeError, match="does not know the model"):
        asyncio.run(first_answer(parse_judge(f"gpt-99@{url}", environ={}), timeout_s=10.0))


def test_no_reply_in_time_names_the_option_and_is_no_refusal():
    calls = 0

    async def slow(scope, receive, send):
        nonlocal calls
        calls += 1
        if calls > 1:
            await asyncio.Event().wait()  # until the client goes away
        choice = {"index": 0, "finish_reason": "stop", "message": {"content": "[[7]]"}}
        body = json.dumps({"model": "m", "choices": [choice]}).encode()
        await send_bytes(send, 200, body, b"application/json", [])

    with run_server(slow) as url:
        spec = parse_judge(f"m@{url}", environ={})
        features = asyncio.run(examined(spec, timeout_s=0.3)).features
        why = "cannot be determined (no reply within 0.3 s; --timeout allows more)"
        assert set(features.values()) == {why}
        with pytest.raises(JudgeError, match=r"timed out \(no reply within 0.3 s; --timeout"):
            asyncio.run(first_answer(spec, timeout_s=0.3))
    with pytest.raises(InputError, match="--timeout is a number of seconds above 0, got 0"):
        asyncio.run(examined(spec, timeout_s=0))


PLANTED = "sk-planted-0815-never-to-be-seen"
WEIGHED = {
    "a list": [1],
    "a text": "8",
    "content of another form": {"content": {"token": "8"}},
    "numbers past any float": {
        "content": [{"token": "8", "top_logprobs": [{"token": "8", "logprob": -(10**350)}]}]
    },
    "entries of another form": {"content": [None, {"token": 8, "top_logprobs": ["8", 7]}]},
}


@pytest.mark.parametrize("weighed", WEIGHED.values(), ids=WEIGHED)
def test_log_probabilities_of_another_form_are_a_feature_and_no_fault(weighed, monkeypatch):
    monkeypatch.setenv("JUDGESTATS_API_KEY", PLANTED)
    choice = {"message": {"content": f"8 {PLANTED}"}, "logprobs": weighed}
    reply = json.dumps({"model": PLANTED, "choices": [choice]}).encode()
    echo = [(f"x-ratelimit-{PLANTED}".encode(), PLANTED.encode())]

    async def lies(scope, receive, send):
        while (await receive()).get("more_body"):
            pass
        await send_bytes(send, 200, reply, b"application/json", echo)

    spec = parse_judge("m@http://127.0.0.1:9/v1")
    seen = asyncio.run(examined(spec, app=lies))
    assert re.match("honoured|ignored", seen.features["logprobs"])
    assert PLANTED not in seen.to_json() + str(seen)


def test_judges_of_a_file_are_looked_at_as_they_are_asked(server, workplace, tmp_path, capsys):
    url, _ = server()
    file = tmp_path / "judges.yaml"
    own = "settings: {reasoning_effort: low}, key_env: MINE"
    file.write_text(
        f"judges: [{{name: a, model: sim-noisy, base_url: {url}, {own}}},"
        f" {{name: b, model: sim-none, base_url: {url}}}]"
    )
    assert main(["doctor", "--judges", str(file)]) == 1
    assert "the variable MINE (key_env) is not set" in capsys.readouterr().out
    file.write_text(file.read_text().replace(", key_env: MINE", ""))
    assert main(["doctor", "--judges", str(file)]) == 1
    said = capsys.readouterr().out
    assert "Judge a: answers as sim-noisy" in said
    assert "judge b: see above" in said
    file.write_text(file.read_text().replace("sim-none", "sim-typical"))
    assert main(["endpoint", str(file), "--track", "none"]) == 0
    said = capsys.readouterr().out
    assert "a:\nsim-noisy at" in said
    assert "b:\nsim-typical at" in said
    assert "reasoning 80" in said
    assert main(["endpoint", str(file), "--out", "card.json"]) == 2
    assert "of one card" in capsys.readouterr().err


def test_a_reported_name_is_one_line_of_text():
    body = {"model": "m\x1b[2J\nAccount: fine", "choices": [{"message": {"content": "[[4]]"}}]}
    assert read_reply(json.dumps(body).encode(), {}, 0.0).model == "m [2J Account: fine"
