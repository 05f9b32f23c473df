"""Several providers in one run, from a file."""

import json

import pytest

from judgestats.errors import InputError
from judgestats.experiment.design import load_design
from judgestats.experiment.prepare import prepare
from judgestats.judges.collect import collect_judgments
from judgestats.judges.judges_file import read_judges_file
from judgestats.judges.prices import default_prices
from judgestats.judges.simulated.app import SimulatedServer
from judgestats.judges.simulated.server import serving
from judgestats.judges.simulated.wire import read_body
from judgestats.judgments.design import Condition, Task
from judgestats.protocols.base import ReplyMode

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


class Listening(SimulatedServer):
    """Keeps what it was asked."""

    def __init__(self):
        super().__init__()
        self.seen = []

    async def __call__(self, scope, receive, send):
        body = await read_body(receive)

        async def again():
            return {"type": "http.request", "body": body, "more_body": False}

        if body:
            self.seen.append((dict(scope["headers"]), scope["query_string"], json.loads(body)))
        await super().__call__(scope, again, send)


def test_each_judge_is_asked_as_its_entry_says(plan, tmp_path):
    app = Listening()
    file = tmp_path / "judges.yaml"
    with serving(app) as url:
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
