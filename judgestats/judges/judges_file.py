"""Judges from a file: several providers in one run, each with address, key, headers and price."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from judgestats.errors import InputError, nearest, printable
from judgestats.judges.spec import ANY_KEY, PROVIDER_KEYS, JudgeSpec, Secret, parse_judge
from judgestats.judgments.settings import EXTRA, FIELDS, field_of
from judgestats.protocols.base import ReplyMode
from judgestats.secrecy import keep_secret
from judgestats.yaml_text import YamlTextError, read_yaml_file

_MEMBERS = (
    "name",
    "model",
    "base_url",
    "key_env",
    "key_header",
    "headers",
    "query",
    "settings",
    "extra_body",
    "reply",
    "price",
    "concurrency",
)
_UNSENDABLE = re.compile("[\x00-\x1f\x7f]")
_EXAMPLE = "judges: [{name: mine, model: llama3, base_url: http://localhost:11434/v1}]"


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
    """Add a judge that no other is taken for: the same requests would share their answers."""
    if one.name in judges:
        raise InputError(f"judges: {one.name!r} stands there twice. Give each judge its own name.")
    same = next((n for n, other in judges.items() if other.asked_as == one.asked_as), None)
    if same is not None:
        raise InputError(
            f"judges: {same!r} and {one.name!r} are asked the same ({one.model} at {one.base_url} "
            "with equal settings), so that one would be given the other's answers. Leave one out, "
            "or give them different settings; replicates= asks a judge several times."
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
        Stands in for ``os.environ``.

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
        raise InputError(
            f"judges: {file} cannot be used: {error}. Write for example {_EXAMPLE}"
        ) from None
    listed = value.get("judges") if isinstance(value, dict) else None
    if not isinstance(listed, list) or not listed:
        raise InputError(f"judges: {file} holds no list of judges. Write for example {_EXAMPLE}")
    specs: dict[str, JudgeSpec] = {}
    for number, entry in enumerate(listed, 1):
        _add(specs, _judge(entry, f"{file.name}, judge {number}", env))
    return specs


def _judge(entry: Any, where: str, env: Mapping[str, str]) -> JudgeSpec:
    if not isinstance(entry, dict) or not isinstance(entry.get("model"), str):
        raise InputError(f"judges: {where}: expected a mapping with a model, as in {_EXAMPLE}")
    for member in entry:
        if member not in _MEMBERS:
            raise InputError(
                f"judges: {where}: {member!r} is none of {', '.join(_MEMBERS)}."
                f"{nearest(str(member), _MEMBERS)}"
            )
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
    if reply is not None and reply not in [mode.value for mode in ReplyMode]:
        modes = ", ".join(mode.value for mode in ReplyMode)
        raise InputError(f"judges: {where}: reply must be one of {modes}.")
    return JudgeSpec(
        name=name or model,
        model=spec.model,
        base_url=spec.base_url,
        simulated=spec.simulated,
        in_process=spec.in_process,
        key=spec.key,
        settings=_settings(entry, where),
        headers=_headers(entry, where, env, spec.key),
        query={
            str(k): _filled(str(v), where, env) for k, v in _mapping(entry, "query", where).items()
        },
        reply_mode=spec.reply_mode if reply is None else ReplyMode(reply),
        price=_price(entry, where),
        concurrency=_concurrency(entry, where),
        from_file=True,
        written={
            f"{member}.{k}": str(v)
            for member in ("headers", "query")
            for k, v in _mapping(entry, member, where).items()
        },
        function=spec.function,
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


def _headers(
    entry: Mapping[str, Any], where: str, env: Mapping[str, str], key: Secret
) -> dict[str, Secret]:
    headers = {
        _filled(str(name), where, {}): Secret(_filled(str(value), where, env))
        for name, value in _mapping(entry, "headers", where).items()
    }
    if entry.get("key_header"):
        headers[str(entry["key_header"])] = key
        headers["Authorization"] = Secret("")
    return headers


def _settings(entry: Mapping[str, Any], where: str) -> dict[str, Any]:
    settings = dict(_mapping(entry, "settings", where))
    for name, value in settings.items():
        if name not in FIELDS:
            raise InputError(
                f"judges: {where}: settings has {name!r}, which is none of {', '.join(FIELDS)}."
                f"{nearest(str(name), FIELDS)}"
            )
        settings[name] = None if value == "default" else value
        field_of(name).check(settings[name])
    extra = dict(_flat(_mapping(entry, "extra_body", where), EXTRA))
    try:
        json.dumps(extra, allow_nan=False)
    except (TypeError, ValueError):
        raise InputError(
            f"judges: {where}: extra_body holds a date or another value that JSON has not. "
            "Put it in quotes."
        ) from None
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


def _concurrency(entry: Mapping[str, Any], where: str) -> int | None:
    value = entry.get("concurrency")
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= 4096:
        raise InputError(f"judges: {where}: concurrency must be 1 to 4096, got {value!r}.")
    return value
