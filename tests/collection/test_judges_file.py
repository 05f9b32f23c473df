"""Several providers in one run, from a file."""

import json
from dataclasses import replace

import pytest

from judgestats.collection import (
    Ready,
    Sampling,
    collect_judgments,
    default_prices,
    read_judges,
    read_judges_file,
)
from judgestats.data import Condition, Task
from judgestats.errors import InputError
from judgestats.protocols import ReplyMode, prompted_in
from judgestats.runner import load_design
from judgestats.runner.prepare import prepare
from judgestats.simulated import SimulatedServer, read_body, run_server
from tests.batch_server import BatchServer

ENV = {"AZURE_KEY": "azure-key-0815", "OPENAI_API_KEY": "sk-openai-0815", "TENANT": "t-4711-tenant"}
FILE = """
judges:
  - name: azure
    model: sim-typical
    base_url: {url}
    key_env: AZURE_KEY
    key_header: api-key
    headers: {{x-tenant: $TENANT}}
    query: {{api-version: 2024-10-21}}
    settings: {{max_tokens: 40, reasoning_effort: low}}
    extra_body: {{thinking: {{type: disabled}}}}
    reply: text
    price: {{input: 1.0, output: 2.0}}
    concurrency: 2
  - name: plain
    model: sim-discerning
    base_url: {url}
"""


class Listening(BatchServer):
    """Keeps what it was asked."""

    def __init__(self):
        super().__init__()
        self.seen = []

    async def __call__(self, scope, receive, send):
        body = await read_body(receive)

        async def again():
            return {"type": "http.request", "body": body, "more_body": False}

        if body.startswith(b"{"):  # else it is a file of a batch
            self.seen.append((dict(scope["headers"]), scope["query_string"], json.loads(body)))
        await super().__call__(scope, again, send)


def test_each_judge_is_asked_as_its_entry_says(plan, tmp_path):
    app = Listening()
    file = tmp_path / "judges.yaml"
    with run_server(app) as url:
        file.write_text(FILE.format(url=url))
        judges = read_judges_file(file, environ=ENV)
        tasks = [
            Task(
                condition=Condition(judge=name, temperature=1.0),
                item_id=t.item_id,
                cluster=t.cluster,
                replicate=t.replicate,
                build=t.build,
            )
            for name in judges
            for t in plan(items=2, replicates=2)
        ]
        collected = collect_judgments(tasks, judges=judges)
    assert collected.account.answered == 8
    azure = [s for s in app.seen if s[2]["model"] == "sim-typical"]
    plain = [s for s in app.seen if s[2]["model"] == "sim-discerning"]
    assert (len(azure), len(plain)) == (4, 4)
    for headers, query, body in azure:
        assert headers[b"api-key"] == b"azure-key-0815"
        assert headers[b"x-tenant"] == b"t-4711-tenant"
        assert b"authorization" not in headers
        assert query == b"api-version=2024-10-21"
        assert body["thinking"] == {"type": "disabled"}
        assert body["reasoning_effort"] == "low"
        assert body["max_completion_tokens"] == 40
        assert "response_format" not in body
    for headers, query, body in plain:
        assert b"api-key" not in headers
        assert b"sk-openai-0815" not in headers.get(b"authorization", b"")
        assert query == b""
        assert "response_format" in body
    frame = collected.frame.groupby("judge")
    assert set(frame.get_group("azure")["reply_mode"]) == {ReplyMode.TEXT.value}
    assert frame.get_group("azure")["cost_usd"].gt(0).all()
    assert "azure-key" not in repr(judges)
    assert default_prices().price(judges["azure"]).output == 2.0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("judges: []", "holds no list"),
        ("a: [", "no YAML"),
        ("judges: [{name: x}]", "with a model"),
        ("judges: [{model: m, base_ulr: x}]", "Did you mean base_url"),
        ("judges: [{model: m, base_url: 'http://h/v1', key_env: NOWHERE}]", "NOWHERE"),
        ("judges: [{model: m, base_url: 'http://h/v1', headers: {a: $NO}}]", "variable NO"),
        ("judges: [{model: m, base_url: 'http://h/v1', reply: xml}]", "json_schema, tool, text"),
        ("judges: [{model: m, base_url: 'http://h/v1', price: {input: 1}}]", "input and output"),
        ("judges: [{model: m, base_url: 'http://h/v1', concurrency: 0}]", "1 to 4096"),
        ("judges: [{model: m, base_url: 'http://h/v1', settings: {top: 1}}]", "'top'"),
        ("judges: [{model: sim-null}, {model: sim-null}]", "twice"),
        ("judges: [{model: m, base_url: 7}]", "base_url must be a text"),
        ('judges: [{model: sim-null, name: "a\\nAccount: fine"}]', "control character"),
        ("judges: [{model: m, base_url: 'http://h', headers: {a: \"b\\r\\nc: d\"}}]", "line end"),
        (
            "judges: [{model: m, base_url: 'http://h', price: {input: .inf, output: 1}}]",
            "no number",
        ),
        ("judges: [{model: m, base_url: 'http://h', extra_body: {a: 2020-01-01}}]", "quotes"),
        ("judges: [{model: m, base_url: 'http://h/v1', extra_body: {messages: []}}]", "no extra"),
        ("judges: [{model: m, base_url: 'http://h/v1', settings: {temperature: 3}}]", "0 to 2"),
    ],
)
def test_what_a_file_says_wrong_is_named(tmp_path, text, words):
    file = tmp_path / "judges.yaml"
    file.write_text(text)
    with pytest.raises(InputError, match=words):
        read_judges_file(file, environ={})
    with pytest.raises(InputError, match="cannot be read"):
        read_judges_file(tmp_path / "absent.yaml", environ={})


@pytest.mark.parametrize("text", ["headers: {x: 'sk-literal-0815", "headers: sk-literal-0815"])
def test_what_is_wrong_is_told_without_what_the_file_holds(tmp_path, text):
    file = tmp_path / "judges.yaml"
    file.write_text(f"judges:\n  - {{model: m, base_url: 'http://h/v1', {text}}}")
    with pytest.raises(InputError) as told:
        read_judges_file(file, environ={})
    assert "sk-literal" not in str(told.value)


def test_a_judge_with_a_temperature_of_its_own_is_asked_at_no_other(tmp_path):
    file = tmp_path / "judges.yaml"
    own = "settings: {temperature: default, reasoning_effort: low}"
    file.write_text(f"judges: [{{model: sim-null}}, {{name: o3, model: sim-noisy, {own}}}]")
    design = load_design("judges")
    given = {"judges": str(file), "temperatures": "0,1", "limit": "2", "dry_run": "true"}
    labels = [c.label for c in prepare(design, given).conditions]
    assert labels == ["sim-null, T=0", "sim-null, T=1", "o3, T=default"]
    with pytest.raises(InputError, match="reasoning_effort is fixed for 'o3'"):
        prepare(design, {**given, "vary": "reasoning_effort:low,high"})


TWO = """
judges:
  - {{name: terse, model: sim-typical, base_url: {url}, settings: {{max_tokens: 40,
     temperature: 0}}, reply: text, price: {{input: 1, output: 1}}, headers: {{x-route: a}}}}
  - {{name: long, model: sim-typical, base_url: {url}, settings: {{max_tokens: 90}},
     price: {{input: 50, output: 50}}, headers: {{x-route: b}}}}
"""


@pytest.mark.parametrize("mode", ["online", "batch"])
def test_two_judges_of_one_model_are_asked_each_as_its_entry_says(
    plan, tmp_path, quick_batches, mode
):
    app, file = Listening(), tmp_path / "judges.yaml"
    with run_server(app) as url:
        file.write_text(TWO.format(url=url))
        judges = read_judges_file(file, environ={})
        asked = plan(items=2, replicates=2)
        heat = {"terse": 0.0, "long": 1.0}
        tasks = [
            replace(task, condition=Condition(judge=name, temperature=heat[name]))
            for name in judges
            for task in asked
        ]
        options = {"judges": judges, "journal": tmp_path / "j.sqlite", "mode": mode}
        collected = collect_judgments(tasks, **options)
        app.seen.clear()
        again = collect_judgments(tasks, **options)
    assert collected.account.answered == again.account.cached == 8
    assert app.seen == []
    frame = collected.frame.set_index("judge")
    for name, most, reply in (("terse", 40, "text"), ("long", 90, "json_schema")):
        one = frame.loc[name]
        assert set(one["reply_mode"]) == {reply}
        assert {json.loads(s)["max_tokens"] for s in one["sent"]} == {most}
        assert {json.loads(s)["temperature"] for s in one["sent"]} == {heat[name]}
    each = frame["cost_usd"] / (frame["tokens_in"] + frame["tokens_out"])
    assert each.loc["long"].median() == pytest.approx(50 * each.loc["terse"].median())
    assert set(collected.reply_modes.items()) == {("terse", "text"), ("long", "json_schema")}


def test_what_one_judge_is_refused_says_nothing_of_another_of_its_model(plan, tmp_path):
    class Picky(SimulatedServer):
        """Refuses a temperature where the model is to reason, as some servers do."""

        async def __call__(self, scope, receive, send):
            body = await read_body(receive)

            async def again():
                return {"type": "http.request", "body": body, "more_body": False}

            if (
                body
                and "reasoning_effort" in (asked := json.loads(body))
                and "temperature" in asked
            ):
                error = {"error": {"message": "Unsupported value", "param": "temperature"}}
                await send({"type": "http.response.start", "status": 400, "headers": []})
                await send({"type": "http.response.body", "body": json.dumps(error).encode()})
                return
            await super().__call__(scope, again, send)

    file = tmp_path / "judges.yaml"
    with run_server(Picky()) as url:
        file.write_text(
            f"judges: [{{name: thinks, model: sim-typical, base_url: {url}, settings: "
            "{reasoning_effort: low}}, "
            f"{{name: plain, model: sim-typical, base_url: {url}}}]"
        )
        judges = read_judges_file(file, environ={})
        tasks = [
            replace(task, condition=Condition(judge=name, temperature=1.0))
            for name in judges
            for task in plan(items=2, replicates=2)
        ]
        for _ in range(2):
            frame = collect_judgments(tasks, judges=judges, journal=tmp_path / "j.sqlite").frame
            by_judge = frame.groupby("judge")["transport"].agg(set)
            assert by_judge.to_dict() == {"thinks": {"invalid_condition"}, "plain": {"answered"}}


def test_headers_and_query_tell_judges_apart_and_a_rotated_key_does_not(plan, tmp_path):
    file = tmp_path / "judges.yaml"
    text = (
        "judges: [{{model: m, base_url: 'http://h/v1', headers: {{x: $TENANT}}, query: {{v: {}}}}}]"
    )
    task = plan(items=1, replicates=1)[0]

    def key(version, tenant):
        file.write_text(text.format(version))
        (spec,) = read_judges_file(file, environ={"TENANT": tenant}).values()
        return Ready(spec, [task], prompted_in(ReplyMode.TEXT, task.build), Sampling()).keys

    assert key(1, "one-tenant") == key(1, "other-tenant") != key(2, "one-tenant")


@pytest.mark.parametrize(
    "two",
    [
        "{name: a, model: m, base_url: 'http://h/v1'}, {name: b, model: m, base_url: 'http://h/v1'}",
        (
            "{name: a, model: m, base_url: 'http://h/v1', price: {input: 1, output: 1}}, "
            "{name: b, model: m, base_url: 'http://h/v1', concurrency: 2}"
        ),
    ],
)
def test_two_names_for_one_judge_are_refused(tmp_path, two):
    file, other = tmp_path / "judges.yaml", tmp_path / "more.yaml"
    file.write_text(f"judges: [{two}]")
    with pytest.raises(InputError, match="would be given the other's answers"):
        read_judges_file(file, environ={})
    file.write_text("judges: [{name: a, model: m, base_url: 'http://h/v1'}]")
    other.write_text("judges: [{name: a, model: n, base_url: 'http://h/v1'}]")
    with pytest.raises(InputError, match="'a' occurs twice"):
        read_judges([str(file), str(other)], environ={})
    with pytest.raises(InputError, match="are asked the same"):
        read_judges([str(file), "m@http://h/v1"], environ={})


def test_a_judges_own_temperature_is_kept_for_votes_and_for_what_others_ask_of_it(tmp_path):
    file = tmp_path / "judges.yaml"
    file.write_text(
        "judges: [{name: fixed, model: sim-crowd, settings: {temperature: 0.25}}, "
        "{name: free, model: sim-discerning, settings: {max_tokens: 900}}]"
    )
    given = {
        "judges": str(file), "limit": "2", "pairs": "4", "strategies": "vanilla,majority@2,cce@2",
        "scaling": "none", "selections": "none", "remover": "fixed", "key_points": "0",
        "temperatures": "0.75", "raised": "1.5", "repeats": "1", "journal": "",
    }  # fmt: skip
    prepared = prepare(load_design("crowd"), given)
    staging = prepared.staging
    frame = collect_judgments(
        prepared.tasks, follow_up=staging.follow_up, judges=prepared.judges
    ).frame
    stage = frame["stage"].str.split("-").str[0]
    heat = frame.groupby(["judge", stage])["temperature"].agg(set)
    assert heat.to_dict() == {
        ("fixed", "crowd"): {0.25}, ("fixed", "final"): {0.25}, ("fixed", "removal"): {0.25},
        ("fixed", "vote"): {0.25}, ("free", "crowd"): {0.75}, ("free", "final"): {0.75},
        ("free", "vote"): {1.5},
    }  # fmt: skip
