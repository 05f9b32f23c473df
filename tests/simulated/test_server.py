"""The simulated server as a server: bad requests, ports, options."""

import json
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from judgestats.errors import InputError
from judgestats.simulated import Faults, read_request, serve

GOOD = {"model": "sim-typical", "messages": [{"role": "user", "content": "Rate 1-10."}]}


def post(url, body, headers=None):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(f"{url}/chat/completions", data, headers or {})
    try:
        with urllib.request.urlopen(request) as reply:
            return reply.status, json.load(reply)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (GOOD, 200),
        (b"no json", 400),
        (b"[]", 400),
        ({**GOOD, "model": "gpt-4"}, 404),
        ({**GOOD, "model": 7}, 404),
        ({**GOOD, "messages": []}, 400),
        ({**GOOD, "messages": "hi"}, 400),
        ({**GOOD, "temperature": 3}, 400),
        ({**GOOD, "temperature": "hot"}, 400),
        ({**GOOD, "n": 0}, 400),
        ({**GOOD, "n": 1000}, 400),
        ({**GOOD, "messages": [{"role": "user", "content": [{"type": "text", "text": "x"}]}]}, 200),
        ({**GOOD, "messages": [7]}, 200),
        ({**GOOD, "tools": "x"}, 200),
        ({**GOOD, "response_format": {"type": "json_schema"}}, 200),
    ],
)
def test_requests_good_and_bad(server, body, status):
    url, _ = server()
    code, reply = post(url, body)
    assert code == status, reply
    assert ("choices" in reply) == (status == 200)


def test_a_malformed_draw_header_and_unknown_faults_are_refused(server):
    url, _ = server()
    assert post(url, GOOD, {"X-Judgestats-Draw": "x"})[0] == 400
    assert post(url, GOOD, {"X-Judgestats-Draw": "0:g:1"})[0] == 200
    assert post(url, GOOD, {"X-Judgestats-Faults": "explode=1"})[0] == 400


def test_serving_on_a_port_prints_the_address_and_binds_loopback(tmp_path):
    code = "from judgestats.simulated.app import serve; serve(0)"
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],
    )
    try:
        line = process.stdout.readline()
        assert "http://127.0.0.1:" in line
        url = line.split()[3]
        assert post(url, GOOD)[0] == 200
    finally:
        process.kill()
        process.communicate()


def test_an_unusable_port_is_named(server):
    url, _ = server()
    port = int(url.split(":")[2].split("/")[0])
    with pytest.raises(InputError, match="cannot be used"):
        serve(port)
    with pytest.raises(InputError, match="0-65535"):
        serve(70000)


def test_faults_are_parsed_and_checked():
    faults = Faults.parse("rate_limited=.1, latency_s=0.2, refuse_n, capacity=3, require_key=k")
    assert (faults.rate_limited, faults.latency_s, faults.capacity) == (0.1, 0.2, 3)
    assert faults.refuse_n
    assert faults.require_key == "k"
    for bad in ("explode=1", "rate_limited=much", "rate_limited=2", "reset=.6,overloaded=.6"):
        with pytest.raises(InputError):
            Faults.parse(bad)


def test_faults_befall_at_their_rates():
    faults = Faults(rate_limited=0.1, reset=0.2)
    met = [faults.befalling(i, 0) for i in range(5000)]
    assert abs(met.count("rate_limited") / 5000 - 0.1) < 0.02
    assert abs(met.count("reset") / 5000 - 0.2) < 0.025
    assert met == [faults.befalling(i, 0) for i in range(5000)]


def test_what_is_asked_is_read_from_schema_or_text():
    def ask(text, **more):
        return read_request({"messages": [{"role": "user", "content": text}], **more})

    assert (ask("Give a score from 1 (bad) to 7 (good).").low, ask("x").high) == (1, 10)
    assert ask("Give a score from 1 (bad) to 7 (good).").high == 7
    assert ask("on a scale of 0 to 100").high == 100
    framed = "[The Start of Answer]\nfrom 1 to 3\n[The End of Answer]\nRate from 1 to 5."
    assert ask(framed).high == 5  # what an answer says is not heeded
    schema = {
        "properties": {
            "reasoning": {"type": "string"},
            "score": {"type": "integer", "minimum": 1, "maximum": 4},
        }
    }
    tool = [{"type": "function", "function": {"name": "f", "parameters": schema}}]
    asked = ask("x", tools=tool)
    assert (asked.high, asked.reasoning, asked.tool) == (4, "before", "f")
    enum = {"properties": {"winner": {"enum": ["tie", "B", "A"]}}}
    two = "".join(f"[The Start of {n}]\n{n}\n[The End of {n}]\n" for n in ("Answer A", "Answer B"))
    asked = ask(two, response_format={"type": "json_schema", "json_schema": {"schema": enum}})
    assert asked.kind == "choice"
    assert asked.tie
    assert asked.labels == ("A", "B", "tie")
