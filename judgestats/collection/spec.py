"""Judge names and files of judges."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from judgestats.collection.callable_judge import FunctionName, function_named
from judgestats.collection.local_model import SLOTS, LocalModel, local_model
from judgestats.data.columns import EXTRA, FIELDS, field_of
from judgestats.errors import InputError, nearest, printable
from judgestats.protocols.base import ReplyMode
from judgestats.redaction import keep_secret
from judgestats.simulated import simulated_answerers, simulated_judges
from judgestats.yaml_text import YamlTextError, read_yaml_file

DEFAULT_BASE_URL = "https://api.openai.com/v1"
SIMULATED_URL = "http://simulated.invalid/v1"
"""Stands for the simulated server inside this process; `.invalid` never resolves (RFC 2606)."""

_AT_URL = re.compile(r"^(?P<model>.+?)@(?P<url>https?://.+)$")
_AT_HOST = re.compile(
    r"^(?P<model>[^@]+)@(?P<host>localhost(?::\d+)?|\d+(?:\.\d+){3}(?::\d+)?|[\w.-]+:\d+|"
    r"[\w-]+(?:\.[\w-]+)+(?=/))(?P<path>/.*)?$"
)
"""A model's name may hold an @ itself (claude-opus-4@20250514): what looks like a host counts."""
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
"""Names of this machine."""
_URL = re.compile(r"[!-~]+")
"""An address is written in visible ASCII."""
CHAT = "chat"
WIRES = (CHAT, "completions")
_DUMMY = "no-key-needed"


class Secret:
    """A key that does not print: every textual form is a row of stars, and it cannot be pickled.

    Examples
    --------
    >>> Secret("sk-12345")
    Secret('***')
    >>> f"{Secret('sk-12345')}"
    '***'
    """

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value
        keep_secret(value)

    def reveal(self) -> str:
        """The key itself: only the client that sends it asks."""
        return self._value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash((Secret, self._value))

    def __repr__(self) -> str:
        return "Secret('***')"

    def __str__(self) -> str:
        return "***"

    def __format__(self, spec: str) -> str:
        return format("***", spec)

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("a Secret is never pickled")


@dataclass(frozen=True, kw_only=True)
class JudgeSpec:
    """Where a judge is asked.

    Attributes
    ----------
    name : str
        As the user wrote it.
    model : str
        The model's name in the request.
    base_url : str
        The endpoint, without a trailing slash.
    simulated : bool
        Whether the answers are invented: by the simulated server in this process or on loopback.
    in_process : bool
        Whether it is asked inside this process (no port).
    key : Secret
    settings : mapping of field to value
        What every request to this judge carries, by the names of
        `judgestats.data.columns.FIELDS`.
    headers : mapping of name to Secret
        Further headers; an empty one is left out.
    query : mapping of name to text
        What follows the address (Azure's ``api-version``).
    reply_mode : ReplyMode or None
        None finds the best.
    price : mapping of str to float
        Dollars per million tokens (input, output, cached); empty asks the price table.
    concurrency : int or None
        The most requests in flight, where it is not the collection's.
    from_file : bool
        Whether it was read from a file of judges.
    written : mapping of name to text
        Headers and query as the file has them (``$NAME`` not filled in): what may lead one address
        to several models belongs to a judge's name in the journal, a key that rotates does not.
    function : FunctionName or None
        The function that is called instead of an endpoint.
    local : LocalModel or None
        The model that is run in this process.
    wire : {"chat", "completions"}
        Whether the prompt is sent as messages, or as one raw text without a chat template.
    """

    name: str
    model: str
    base_url: str
    simulated: bool
    in_process: bool
    key: Secret = field(repr=False, compare=False)
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)
    headers: Mapping[str, Secret] = field(default_factory=dict, hash=False, repr=False)
    query: Mapping[str, str] = field(default_factory=dict, hash=False, repr=False)
    reply_mode: ReplyMode | None = None
    price: Mapping[str, float] = field(default_factory=dict, hash=False)
    concurrency: int | None = None
    from_file: bool = False
    written: Mapping[str, str] = field(default_factory=dict, hash=False, repr=False)
    function: FunctionName | None = None
    local: LocalModel | None = None
    wire: str = CHAT

    @property
    def path(self) -> str:
        """The endpoint's path for a judgment, below its address."""
        return "/chat/completions" if self.wire == CHAT else "/completions"

    @property
    def location(self) -> str:
        """Where it is asked, as text."""
        if self.simulated:
            return "SIMULATED"
        if self.local is not None:
            return self.local.location
        return "a function in this process" if self.function is not None else self.base_url

    @property
    def address(self) -> tuple[str, str]:
        """Endpoint and model: what shares limits and the ledger."""
        return (self.base_url, self.model)

    @cached_property
    def capability_key(self) -> tuple[str, str]:
        """Endpoint, and the model with all that its requests carry: what shares capabilities.

        Two judges of one address may differ in their settings; what one is refused says nothing
        of the other, and neither may be asked with the other's.
        """
        mode = self.reply_mode and self.reply_mode.value
        own = [sorted(self.settings.items()), sorted(self.written.items()), mode]
        if not any(own):
            return self.address
        digest = hashlib.sha256(json.dumps(own, default=str).encode()).hexdigest()[:12]
        return (self.base_url, f"{self.model} ({digest})")

    @property
    def client_key(self) -> tuple[object, ...]:
        """What shares a client: address, query, headers and key; keys stay hidden in it."""
        return (
            self.base_url, tuple(self.query.items()), tuple(self.headers.items()), self.key,
            self.function, self.local,
        )  # fmt: skip

    def launch(self) -> JudgeSpec:
        """The judge where it listens: a local model is loaded the first time.

        Raises
        ------
        InputError
            The extra ``local`` is not installed.
        JudgeError
            The model cannot be loaded.
        """
        if self.local is None:
            return self
        url, key = self.local.serve(self.concurrency or SLOTS)
        return replace(self, base_url=url, key=Secret(key), in_process=False, local=None)


def parse_judge(
    name: str,
    *,
    base_url: str | None = None,
    environ: Mapping[str, str] | None = None,
    answers: bool = False,
) -> JudgeSpec:
    """Read a judge's name.

    ``sim-...`` alone is a simulated judge inside this process. ``module:function`` and
    ``mlflow:NAME`` are functions (see `judgestats.collection.callable_judge`). ``gguf:PATH`` is a
    model in this process (see `judgestats.collection.local_model`).
    ``model@http://host:port/v1`` names its own endpoint. Any other name is a model at `base_url`,
    else at ``OPENAI_BASE_URL``, else at OpenAI. The key is the provider's (``OPENAI_API_KEY`` for
    OpenAI, ``ANTHROPIC_API_KEY`` for Anthropic, ...), else ``JUDGESTATS_API_KEY``.
    ``OPENAI_API_KEY`` goes to OpenAI's own host, or to the one that ``OPENAI_BASE_URL`` names, and
    nowhere else.

    Parameters
    ----------
    name : str
    base_url : str, optional
    environ : mapping, optional
        Replaces ``os.environ`` (tests).
    answers : bool
        Whether it is a model that answers questions: ``sim-...`` alone is then a simulated
        answerer.

    Returns
    -------
    JudgeSpec

    Raises
    ------
    InputError
        Empty name, unknown simulated judge, a malformed URL, or no key for OpenAI.

    Examples
    --------
    >>> parse_judge("llama3@http://localhost:11434/v1", environ={}).base_url
    'http://localhost:11434/v1'
    >>> parse_judge("sim-typical", environ={}).simulated
    True
    """
    env = os.environ if environ is None else environ
    name = name.strip()
    if not name:
        raise InputError("judges: a model's name is empty. Write for example judges=gpt-4o-mini.")
    if printable(name, one_line=True) != name:
        raise InputError(
            f"judges: {name[:60]!r} holds a control character. Write the model's name."
        )
    match = _AT_URL.match(name)
    if match is None and "://" in name:
        example = "llama3@http://localhost:11434/v1"
        raise InputError(f"judges: this is an address alone. Write MODEL@ADDRESS, e.g. {example}.")
    if match is None and (bare := _AT_HOST.match(name)):
        why = "names an address without http:// or https://"
        url = f"{bare['model']}@http://{bare['host']}{bare['path'] or '/v1'}"
        raise InputError(f"judges: {strip_address(name)!r} {why}. Write {url}.")
    if match is None and name.startswith("sim-"):
        kind, models = (
            ("answerer", simulated_answerers()) if answers else ("judge", simulated_judges())
        )
        if name not in models:
            near = f"{nearest(name, models)} There are: {', '.join(models)}."
            raise InputError(f"{kind}s: there is no simulated {kind} {name!r}.{near}")
        return _in_process(name, SIMULATED_URL, simulated=True)
    if (local := local_model(name)) is not None:
        return _in_process(
            name, f"http://{local.digest}.gguf.invalid/v1", model=local.path.stem,
            reply_mode=ReplyMode.JSON_SCHEMA, concurrency=SLOTS, local=local,
        )  # fmt: skip
    served = bool(match or base_url or env.get("OPENAI_BASE_URL"))
    if (function := function_named(name, served=served)) is not None:
        url = f"http://{function.digest or 'unknown'}.function.invalid/v1"
        return _in_process(name, url, reply_mode=ReplyMode.TEXT, function=function)
    model = match["model"] if match else name
    url = match["url"] if match else base_url or env.get("OPENAI_BASE_URL") or DEFAULT_BASE_URL
    url = _checked(url, name)
    return JudgeSpec(
        name=name,
        model=model,
        base_url=url,
        simulated=model.startswith("sim-") and urlsplit(url).hostname in LOOPBACK,
        in_process=False,
        key=_key_for(url, name, env),
    )


def _in_process(
    name: str, url: str, *, model: str = "", simulated: bool = False, **more: Any
) -> JudgeSpec:
    """A judge inside this process, which needs no key; its address only names it."""
    return JudgeSpec(
        name=name, model=model or name, base_url=url, simulated=simulated, in_process=True,
        key=Secret(_DUMMY), **more,
    )  # fmt: skip


def strip_address(name: str) -> str:
    """A judge's name without its address, which may hold a password until it has been checked.

    Examples
    --------
    >>> strip_address("llama3@http://me:secret@localhost:11434/v1")
    'llama3'
    """
    return re.split(r"@?https?://", name, maxsplit=1)[0]


def _checked(url: str, name: str) -> str:
    example = "http://localhost:8000/v1"
    shown = strip_address(name)  # the message must not repeat a password
    try:
        parts = urlsplit(url)
        _ = parts.port, (parts.hostname or "").encode("idna")
    except ValueError as error:
        why = f"malformed{'' if '@' in url else f' ({error})'}"
        raise InputError(f"judge {shown!r}: the base URL is {why}. Write e.g. {example}.") from None
    if parts.username or parts.password or parts.query or parts.fragment:
        what = "the base URL carries a user name, a password or a query"
        write = f"Give the key in the variable {ANY_KEY}, and write {example}."
        raise InputError(f"judge {shown!r}: {what}. {write}")
    if parts.scheme not in {"http", "https"} or not parts.hostname or not _URL.fullmatch(url):
        got = "something that holds an @" if "@" in url else repr(url)
        raise InputError(f"judge {shown!r}: expected a base URL such as {example}, got {got}.")
    return url.rstrip("/")


PROVIDER_KEYS = {
    "api.openai.com": "OPENAI_API_KEY",
    "openai.azure.com": "AZURE_OPENAI_API_KEY",
    "api.anthropic.com": "ANTHROPIC_API_KEY",
    "generativelanguage.googleapis.com": "GEMINI_API_KEY",
    "api.mistral.ai": "MISTRAL_API_KEY",
    "api.cohere.ai": "CO_API_KEY",
    "api.deepseek.com": "DEEPSEEK_API_KEY",
    "api.x.ai": "XAI_API_KEY",
    "api.groq.com": "GROQ_API_KEY",
    "api.together.xyz": "TOGETHER_API_KEY",
    "api.fireworks.ai": "FIREWORKS_API_KEY",
    "openrouter.ai": "OPENROUTER_API_KEY",
}
"""The variable that holds the key for a host, its subdomains included."""
ANY_KEY = "JUDGESTATS_API_KEY"


def key_variable(url: str) -> str:
    """The variable of the environment that holds the key of an endpoint's provider, if it is known.

    Examples
    --------
    >>> key_variable("https://api.anthropic.com/v1"), key_variable("http://localhost:8000/v1")
    ('ANTHROPIC_API_KEY', '')
    """
    host = urlsplit(url).hostname or ""
    return next(
        (v for name, v in PROVIDER_KEYS.items() if host == name or host.endswith(f".{name}")), ""
    )


def key_hint(url: str) -> str:
    """The variables that may hold the key of an endpoint, as a message names them.

    Examples
    --------
    >>> key_hint("https://api.x.ai/v1"), key_hint("http://localhost:8000/v1")
    ('XAI_API_KEY', 'JUDGESTATS_API_KEY')
    """
    return key_variable(url) or ANY_KEY


def _key_for(url: str, name: str, env: Mapping[str, str]) -> Secret:
    """The key for an endpoint: its provider's, else the one for any, else none.

    `OPENAI_API_KEY` is OpenAI's: another server gets it only where ``OPENAI_BASE_URL`` names it.
    """
    variable = key_variable(url)
    parts, named = urlsplit(url), env.get("OPENAI_BASE_URL", "").strip().rstrip("/")
    if not variable and url == named and (parts.scheme == "https" or parts.hostname in LOOPBACK):
        variable = "OPENAI_API_KEY"
    for candidate in (variable, ANY_KEY):
        if candidate and (key := env.get(candidate, "").strip()):
            if not key.isascii() or any(c.isspace() or ord(c) < 32 for c in key):
                raise InputError(
                    "the API key holds a space or another character that cannot be sent in a "
                    f"header. Check {candidate} (its value is not shown here)."
                )
            return Secret(key)
    if (variable and variable != "OPENAI_API_KEY") or parts.hostname == "api.openai.com":
        raise InputError(
            f"judge {name!r}: no key. Set {variable}, or name a local server "
            "(base_url=http://localhost:8000/v1). The simulated judge sim-typical needs no key."
        )
    return Secret(_DUMMY)


_MEMBERS = (
    "name", "model", "base_url", "key_env", "key_header", "headers", "query", "settings",
    "extra_body", "reply", "price", "concurrency",
)  # fmt: skip
_UNSENDABLE = re.compile("[\x00-\x1f\x7f]")
_EXAMPLE = "Write e.g. judges: [{name: mine, model: llama3, base_url: http://localhost:11434/v1}]"


def is_judges_file(name: str) -> bool:
    """Whether what stands for judges is a file of them.

    Examples
    --------
    >>> is_judges_file("judges.yaml"), is_judges_file("gpt-4o")
    (True, False)
    """
    return name.lower().endswith((".yaml", ".yml"))


def read_judges(
    names: Iterable[str], *, base_url: str = "", environ: Mapping[str, str] | None = None
) -> dict[str, JudgeSpec]:
    """Judges by name: those of files, and those named as `parse_judge` reads them.

    Examples
    --------
    >>> list(read_judges(["sim-typical", "sim-noisy"], environ={}))
    ['sim-typical', 'sim-noisy']
    """
    judges: dict[str, JudgeSpec] = {}
    for name in dict.fromkeys(names):
        if is_judges_file(name):
            listed = read_judges_file(name, environ=environ)
        else:
            listed = {name: parse_judge(name, base_url=base_url or None, environ=environ)}
        for one in listed.values():
            _add(judges, one)
    return judges


def _add(judges: dict[str, JudgeSpec], one: JudgeSpec) -> None:
    """Add a judge; refuse one whose requests equal another's, which would share its answers."""
    if one.name in judges:
        raise InputError(f"judges: {one.name!r} occurs twice. Give each judge its own name.")
    for name, other in judges.items():
        if other.capability_key == one.capability_key:
            raise InputError(
                f"judges: {name!r} and {one.name!r} are asked the same ({one.model} at "
                f"{one.base_url}), so that one would be given the other's answers. Leave one out, "
                "or give them different settings; repeats= asks a judge several times."
            )
    judges[one.name] = one


def read_judges_file(
    path: str | Path, *, environ: Mapping[str, str] | None = None
) -> dict[str, JudgeSpec]:
    """The judges of a YAML file by name.

    Each has ``model`` (or a name as on the command line) and, where they are needed, ``name``,
    ``base_url``, ``key_env`` (the variable of the environment that holds the key; the file never
    does), ``key_header`` (the header that carries it, for servers that want no ``Authorization``),
    ``headers`` and ``query`` (``$NAME`` stands for a variable), ``settings`` (fields of every
    request, ``default`` to leave one out; a temperature there is the judge's only one),
    ``extra_body``, ``reply`` (json_schema, tool, text, logprobs), ``price`` (dollars per million
    tokens: input, output, cached) and ``concurrency``.

    Parameters
    ----------
    path : path
    environ : mapping, optional
        Replaces ``os.environ``.

    Returns
    -------
    dict of name to JudgeSpec

    Raises
    ------
    InputError
        The file, or one of its judges, cannot be used; it names the judge and the member.
    """
    file, env = Path(path), os.environ if environ is None else environ
    try:
        value = read_yaml_file(file)
    except OSError as error:
        raise InputError(f"judges: {file} cannot be read ({error}).") from None
    except YamlTextError as error:
        raise InputError(f"judges: {file} cannot be used: {error}. {_EXAMPLE}") from None
    listed = value.get("judges") if isinstance(value, dict) else None
    if not isinstance(listed, list) or not listed:
        raise InputError(f"judges: {file} holds no list of judges. {_EXAMPLE}")
    specs: dict[str, JudgeSpec] = {}
    for number, entry in enumerate(listed, 1):
        _add(specs, _judge(entry, f"{file.name}, judge {number}", env))
    return specs


def _judge(entry: Any, where: str, env: Mapping[str, str]) -> JudgeSpec:
    if not isinstance(entry, dict) or not isinstance(entry.get("model"), str):
        raise InputError(f"judges: {where}: expected a mapping with a model. {_EXAMPLE}")
    for member in entry:
        if member not in _MEMBERS:
            members = f"{', '.join(_MEMBERS)}.{nearest(str(member), _MEMBERS)}"
            raise InputError(f"judges: {where}: {member!r} is none of {members}")
    for member in ("name", "base_url", "key_env", "key_header"):
        if not isinstance(entry.get(member, ""), str):
            raise InputError(f"judges: {where}: {member} must be a text.")
    name = entry.get("name", "").strip()
    if name != printable(name, one_line=True):
        raise InputError(f"judges: {where}: its name holds a control character.")
    variable = entry.get("key_env", "")
    if variable and not env.get(variable, "").strip():
        raise InputError(f"judges: {where}: the variable {variable} (key_env) is not set.")
    keys = env
    if variable:  # what the file names goes before the provider's own
        keys = dict.fromkeys([*PROVIDER_KEYS.values(), ANY_KEY], env[variable].strip())
    model, url = entry["model"], entry.get("base_url")
    served = bool(url) and model.startswith("sim-") and "@" not in model  # else: in this process
    spec = parse_judge(f"{model}@{url}" if served else model, base_url=url, environ=keys)
    reply = entry.get("reply")
    if reply is not None and reply not in list(ReplyMode):
        raise InputError(f"judges: {where}: reply must be one of {', '.join(ReplyMode)}.")
    slots = entry.get("concurrency")
    if slots is not None and (type(slots) is not int or not 1 <= slots <= 4096):
        raise InputError(f"judges: {where}: concurrency must be 1 to 4096, got {slots!r}.")
    headers, query = (_mapping(entry, member, where) for member in ("headers", "query"))
    secrets = {
        _filled(str(name), where, {}): Secret(_filled(str(value), where, env))
        for name, value in headers.items()
    }
    if entry.get("key_header"):
        secrets |= {entry["key_header"]: spec.key, "Authorization": Secret("")}
    return replace(
        spec,
        name=name or model,
        settings=_settings(entry, where),
        headers=secrets,
        query={str(k): _filled(str(v), where, env) for k, v in query.items()},
        reply_mode=spec.reply_mode if reply is None else ReplyMode(reply),
        price=_price(entry, where),
        concurrency=slots or spec.concurrency,
        from_file=True,
        written={f"headers.{k}": str(v) for k, v in headers.items()}
        | {f"query.{k}": str(v) for k, v in query.items()},
    )


def _mapping(entry: Mapping[str, Any], member: str, where: str) -> dict[str, Any]:
    value = entry.get(member) or {}
    if not isinstance(value, dict):
        raise InputError(f"judges: {where}: {member} must be a mapping.")
    return value


def _filled(text: str, where: str, env: Mapping[str, str]) -> str:
    """A text, or the value of the variable that it names, which is kept secret."""
    if text.startswith("$"):
        name, text = text[1:], env.get(text[1:], "").strip()
        if not text:
            raise InputError(f"judges: {where}: the variable {name} is not set.")
        keep_secret(text)
    if _UNSENDABLE.search(text):
        raise InputError(f"judges: {where}: a header or query holds a line end or a control.")
    return text


def _settings(entry: Mapping[str, Any], where: str) -> dict[str, Any]:
    settings = dict(_mapping(entry, "settings", where))
    for name, value in settings.items():
        if name not in FIELDS:
            names = f"{', '.join(FIELDS)}.{nearest(str(name), FIELDS)}"
            raise InputError(f"judges: {where}: settings has {name!r}, which is not one of {names}")
        settings[name] = None if value == "default" else value
        field_of(name).check(settings[name])
    extra = dict(_flat(_mapping(entry, "extra_body", where), EXTRA))
    try:
        json.dumps(extra, allow_nan=False)
    except (TypeError, ValueError):
        what = "extra_body holds a date or another value that JSON has not. Put it in quotes."
        raise InputError(f"judges: {where}: {what}") from None
    return settings | extra


def _flat(value: Mapping[str, Any], before: str) -> list[tuple[str, Any]]:
    pairs: list[tuple[str, Any]] = []
    for name, inner in value.items():
        if isinstance(inner, dict):
            pairs += _flat(inner, f"{before}{name}.")
        else:
            pairs.append((field_of(f"{before}{name}").name, inner))
    return pairs


def _price(entry: Mapping[str, Any], where: str) -> dict[str, float]:
    try:
        price = {str(k): float(v) for k, v in _mapping(entry, "price", where).items()}
    except (TypeError, ValueError):
        price = {"": -1.0}
    if price and not ({"input", "output"} <= set(price) <= {"input", "output", "cached"}):
        raise InputError(f"judges: {where}: price needs input and output, in dollars per million.")
    if any(not 0 <= value < math.inf for value in price.values()):
        raise InputError(f"judges: {where}: a price is negative, or no number.")
    return price
