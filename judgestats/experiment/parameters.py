"""Parameters of an experiment: names, defaults, how each is read, and what a wrong one is told.

MLflow hands every ``-P name=value`` on as ``--name value`` and validates nothing, so each parameter
is read and checked here, once, for `mlflow run` and for `judgestats run` alike.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from judgestats.engine import Engine, parse_engine
from judgestats.errors import InputError, nearest
from judgestats.items.sets import parse_options
from judgestats.judgments.settings import EXTRA, FIELDS, field_of
from judgestats.protocols.scale import Scale
from judgestats.spelling import option

__all__ = [
    "COMMON",
    "Parameter",
    "common",
    "parse_parameters",
    "read_choice",
    "read_choices",
    "read_mapping",
    "read_names",
    "read_optional",
    "read_optional_whole",
    "read_or_none",
    "read_temperatures",
    "read_text",
    "read_truth",
    "read_whole",
    "settings_of",
    "split_arguments",
]


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One parameter: its name, its default as a user would write it, and how it is read.

    One `by_level` may also be given as ``name.LEVEL=...`` for one level of what is compared; these
    are read into ``<name>_by_level``.
    """

    name: str
    default: str
    read: Callable[[str, str], Any]
    help: str
    by_level: bool = False


def _text(name: str, value: str) -> str:
    del name
    return value


def _names(name: str, value: str) -> tuple[str, ...]:
    names = tuple(v.strip() for v in value.split(",") if v.strip())
    if not names:
        raise InputError(f"{name}: give at least one name, got {value!r}.")
    repeated = sorted({n for n in names if names.count(n) > 1})
    if repeated:
        raise InputError(f"{name}: {', '.join(repeated)} stands more than once.")
    return names


def _whole(low: int, high: int = 10**9) -> Callable[[str, str], int]:
    def read(name: str, value: str) -> int:
        try:
            number = int(value)
        except ValueError:
            raise InputError(f"{name}: expected a whole number, got {value!r}.") from None
        if not low <= number <= high:
            bound = f"at least {low}" if high == 10**9 else f"from {low} to {high}"
            raise InputError(f"{name}: must be {bound}, got {number}.")
        return number

    return read


def _optional(read: Callable[[str, str], Any]) -> Callable[[str, str], Any]:
    return lambda name, value: None if value == "" else read(name, value)


def _positive(name: str, value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        raise InputError(f"{name}: expected a number, got {value!r}.") from None
    if not 0 < number < float("inf"):
        raise InputError(f"{name}: must be a number above 0, got {value}.")
    return number


def _temperatures(name: str, value: str) -> tuple[float | None, ...]:
    numbers = []
    listed = _names(name, value)
    if listed == ("default",):
        return (None,)
    if "default" in listed:
        raise InputError(
            f"{name}: default leaves the temperature to the server, which may be any; it stands "
            "alone, since it cannot be ordered among numbers."
        )
    for part in listed:
        try:
            number = float(part)
        except ValueError:
            raise InputError(
                f"{name}: {part!r} is no number. Write for example {name}=0,0.5,1."
            ) from None
        if not 0 <= number <= 2:
            raise InputError(f"{name}: {part} is out of range; a temperature lies in 0-2.")
        numbers.append(number)
    if len(set(numbers)) < len(numbers):
        raise InputError(f"{name}: the same temperature stands more than once in {value!r}.")
    return tuple(sorted(numbers))


def _truth(name: str, value: str) -> bool:
    if value.strip().lower() not in _TRUTH:
        raise InputError(f"{name}: expected true or false, got {value!r}.")
    return _TRUTH[value.strip().lower()]


_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def _scale(name: str, value: str) -> Scale:
    del name
    return Scale.parse(value)


def _mapping(name: str, value: str) -> Mapping[str, str]:
    out = {}
    for part in filter(None, (p.strip() for p in value.split(","))):
        ours, sign, theirs = part.partition("=")
        if not sign or not ours.strip() or not theirs.strip():
            raise InputError(f"{name}: expected ours=theirs[,...], got {part!r}.")
        out[ours.strip()] = theirs.strip()
    return out


def _item_options(name: str, value: str) -> Mapping[str, Any]:
    del name
    return parse_options(value)


def _engine(name: str, value: str) -> Engine:
    del name
    return parse_engine(value)


def _one_of(*words: str) -> Callable[[str, str], str]:
    def read(name: str, value: str) -> str:
        if value not in words:
            raise InputError(
                f"{name}: must be one of {', '.join(words)}, got {value!r}.{nearest(value, words)}"
            )
        return value

    return read


def _some_of(*words: str) -> Callable[[str, str], tuple[str, ...]]:
    def read(name: str, value: str) -> tuple[str, ...]:
        chosen = _names(name, value)
        for word in chosen:
            if word not in words:
                raise InputError(
                    f"{name}: {word!r} is not one of {', '.join(words)}.{nearest(word, words)}"
                )
        return chosen

    return read


def _or_none(read: Callable[[str, str], tuple[Any, ...]]) -> Callable[[str, str], tuple[Any, ...]]:
    return lambda name, value: () if value == "none" else read(name, value)


def _whole_or_all(low: int) -> Callable[[str, str], int | None]:
    return lambda name, value: None if value == "all" else _whole(low)(name, value)


def _setting(name: str, value: str) -> Any:
    return field_of(name).read(value)


def _extra_body(name: str, value: str) -> Mapping[str, Any]:
    return {EXTRA + k: field_of(EXTRA + k).read(v) for k, v in _mapping(name, value).items()}


def settings_of(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of the request that parameters fix for all judges."""
    named = {name: parameters.get(name) for name in FIELDS}
    return {**{k: v for k, v in named.items() if v is not None}, **parameters["extra_body"]}


# The readers that experiments use for parameters of their own.
read_text = _text
read_names = _names
read_mapping = _mapping
read_whole = _whole
read_optional = _optional
read_optional_whole = _whole_or_all
read_or_none = _or_none
read_temperatures = _temperatures
read_choice = _one_of
read_choices = _some_of
read_truth = _truth


_FORMATS = ("html", "pdf", "docx", "md", "tex")

COMMON: tuple[Parameter, ...] = (
    Parameter(
        name="judges",
        default="sim-typical,sim-discerning,sim-coarse",
        read=_names,
        help="judges, comma-separated: model names, model@http://host/v1, or simulated sim-...",
    ),
    Parameter(
        name="base_url",
        default="",
        read=_text,
        help="any OpenAI-compatible server; applies to judges that name none",
    ),
    Parameter(
        name="temperatures",
        default="0,0.3,0.5,0.7,1",
        read=_temperatures,
        help="0-2, comma-separated; or default, which leaves the field out of the request",
    ),
    Parameter(
        name="replicates",
        default="10",
        read=_whole(2, 100_000),
        help="judgments of each item in each condition (at least 2)",
    ),
    Parameter(
        name="items",
        default="bank",
        read=_text,
        help="bank, a file (JSONL, CSV, Parquet), a FastChat folder, or a set (judgestats items "
        "list)",
    ),
    Parameter(
        name="item_options",
        default="",
        read=_item_options,
        help="how a published set is read, as in ties=drop,turn=1 or preference=weighted",
    ),
    Parameter(
        name="map",
        default="",
        read=_mapping,
        help="columns of the items file, as in question=prompt,response=answer",
    ),
    Parameter(
        name="responses",
        default="1",
        read=lambda n, v: None if v == "all" else _whole(1)(n, v),
        help="how many responses of each question are judged (drawn by seed), or all",
    ),
    Parameter(
        name="limit", default="", read=_optional(_whole(2)), help="at most so many questions"
    ),
    Parameter(
        name="prompt",
        default="",
        read=_text,
        help="a bundled prompt's name, or a text file with {question} and {response}; "
        "prompt.LEVEL=FILE for one level of what is compared, as in prompt.before=mine.txt",
        by_level=True,
    ),
    Parameter(
        name="append",
        default="reply",
        read=_one_of("reply", "none"),
        help="reply: the reply instruction ends a prompt of your own without {reply}; none: the "
        "text is sent as it is",
    ),
    Parameter(name="scale", default="1-10", read=_scale, help="lowest-highest whole score"),
    Parameter(
        name="reply",
        default="auto",
        read=_one_of("auto", "json_schema", "tool", "text", "logprobs"),
        help="how the verdict is asked for; auto takes the best the judge supports; "
        "logprobs is text with the probabilities of its tokens, for weighted scores",
    ),
    Parameter(
        name="choices",
        default="1",
        read=_whole(1, 128),
        help="replications asked for in one request (the API's n)",
    ),
    Parameter(name="seed", default="0", read=_whole(0), help="of the analysis and of sampling"),
    Parameter(
        name="judge_seed",
        default="",
        read=_optional(_whole(0)),
        help="seed sent to the judges (plus the replicate's number); none by default",
    ),
    Parameter(
        name="mode",
        default="online",
        read=_one_of("online", "batch"),
        help="batch: through the provider's Batch API, at half the price, within 24 hours",
    ),
    Parameter(
        name="concurrency", default="64", read=_whole(1, 4096), help="requests at the same time"
    ),
    Parameter(
        name="engine",
        default="local",
        read=_engine,
        help="where it is worked: local, loky:4 (processes), dask://host:8786 (a cluster)",
    ),
    Parameter(name="timeout", default="120", read=_positive, help="seconds for one request"),
    *(
        Parameter(name=f.name, default="", read=_optional(_setting), help=f.help)
        for f in FIELDS.values()
        if f.name != "temperature"
    ),
    Parameter(
        name="extra_body",
        default="",
        read=_extra_body,
        help="fields that only some servers know, as in min_p=0.1,thinking.type=disabled",
    ),
    Parameter(
        name="max_cost",
        default="",
        read=_optional(_positive),
        help="stop before spending more, USD",
    ),
    Parameter(
        name="prices",
        default="",
        read=_text,
        help="a price file (YAML) that goes before the bundled one",
    ),
    Parameter(
        name="max_requests",
        default="",
        read=_optional(_whole(1)),
        help="stop before sending more requests",
    ),
    Parameter(
        name="dry_run",
        default="false",
        read=_truth,
        help="print calls, tokens and price, send nothing",
    ),
    Parameter(
        name="journal",
        default=".judgestats/journal.sqlite",
        read=_text,
        help="where answered calls are kept, so that a second run asks only for what is missing",
    ),
    Parameter(
        name="resamples",
        default="999",
        read=_whole(99, 1_000_000),
        help="bootstrap resamples and permutations",
    ),
    Parameter(
        name="omega_model",
        default="parallel",
        read=read_choice("parallel", "tau-equivalent", "congeneric"),
        help="model whose omega of repeated scores stands beside that of parallel replications, "
        "which the design implies",
    ),
    Parameter(
        name="report",
        default="html,pdf",
        read=_or_none(_some_of(*_FORMATS)),
        help="formats, or none",
    ),
    Parameter(
        name="detail",
        default="brief",
        read=_one_of("brief", "full"),
        help="of the report: brief (the answer and what it rests on), or full (all results)",
    ),
    Parameter(
        name="texts",
        default="on",
        read=_one_of("on", "off"),
        help="off: the list of disagreements with people names items only, no question, answer or "
        "reply",
    ),
    Parameter(
        name="traces",
        default="off",
        read=_one_of("on", "off"),
        help="on: every judge call as an MLflow trace, with prompt, reply and verdict",
    ),
    Parameter(name="preset", default="", read=_text, help="paper: the replicated study's design"),
    Parameter(name="run_name", default="", read=_text, help="name of the MLflow run"),
)
"""What every experiment takes."""


def common(*names: str) -> tuple[Parameter, ...]:
    """Some of the common parameters, for entry points that do not take all of them.

    Examples
    --------
    >>> [p.name for p in common("seed", "report")]
    ['seed', 'report']
    """
    by_name = {p.name: p for p in COMMON}
    return tuple(by_name[n] for n in names)


def split_arguments(arguments: Iterable[str], *, flags: Iterable[str] = ()) -> dict[str, str]:
    """``--name value``, ``--name=value`` and ``-P name=value``; dashes are underscores.

    Parameters
    ----------
    arguments : iterable of str
    flags : iterable of str
        Parameters that are true or false: alone they mean true.

    Examples
    --------
    >>> split_arguments(["--replicates", "20", "-P", "limit=5", "--dry-run"], flags=["dry_run"])
    {'replicates': '20', 'limit': '5', 'dry_run': 'true'}
    """
    given: dict[str, str] = {}
    rest = deque(arguments)
    while rest:
        head = rest.popleft()
        if head == "-P" and rest:
            head = f"-P{rest.popleft()}"
        start = "-P" if head.startswith("-P") else "--"
        name, sign, value = head.removeprefix(start).partition("=")
        named, dot, level = name.partition(".")
        name = f"{named.replace('-', '_')}{dot}{level}"
        if not head.startswith(start) or not name or (start == "-P" and not sign):
            raise InputError(f"expected --name value or -P name=value, got {head!r}.")
        if not sign:
            flag = name in set(flags) and (not rest or rest[0].lower() not in _TRUTH)
            if not flag and not rest:
                raise InputError(f"--{name.replace('_', '-')} needs a value.")
            value = "true" if flag else rest.popleft()
        if name in given:
            raise InputError(f"{name} is given more than once.")
        given[name] = value
    return given


def _preset_texts(preset: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """A preset's values; options of its items only where those, or another copy, are judged."""
    texts = dict(preset)
    if "items" in given and _sets_in(given["items"]) != _sets_in(preset.get("items", "")):
        texts.pop("item_options", None)
    return texts


def _sets_in(items: str) -> list[str]:
    return [part.strip().partition(":")[0] for part in items.split(",")]


def parse_parameters(
    given: Mapping[str, str],
    *,
    experiment: str,
    parameters: Iterable[Parameter] = COMMON,
    defaults: Mapping[str, str] | None = None,
    presets: Mapping[str, Mapping[str, str]] | None = None,
) -> dict[str, Any]:
    """Read every parameter: given value, else preset, else the experiment's default, else common.

    Parameters
    ----------
    given : mapping of name to text
        As the user wrote them.
    experiment : str
        For the message.
    parameters : iterable of Parameter
        What the experiment takes.
    defaults, presets : mapping
        The experiment's own defaults, and its named presets.

    Returns
    -------
    dict
        Every parameter by name, read.

    Raises
    ------
    InputError
        An unknown name (with the nearest known one) or a value that cannot be used.

    Examples
    --------
    >>> parse_parameters({"replicates": "20"}, experiment="temperature")["replicates"]
    20
    """
    known = {p.name: p for p in parameters}
    levelled = [name for name, p in known.items() if p.by_level]
    levels: dict[str, dict[str, Any]] = {f"{name}_by_level": {} for name in levelled}
    for name, text in given.items():
        base, dot, level = name.partition(".")
        if dot and level and base in levelled:
            levels[f"{base}_by_level"][level] = known[base].read(name, text)
        elif name not in known:
            raise InputError(
                f"{experiment}: unknown parameter {name!r}.{nearest(name, known, shown=option)} "
                f"It takes: {', '.join(known)}."
            )
    texts = {name: p.default for name, p in known.items()} | dict(defaults or {})
    preset = given.get("preset", "")
    if preset:
        if preset not in (presets or {}):
            names = ", ".join(presets or {}) or "none"
            raise InputError(f"preset: {experiment} has no preset {preset!r}. There are: {names}.")
        texts |= _preset_texts((presets or {})[preset], given)
    texts |= {name: text for name, text in given.items() if name in known}
    return {name: known[name].read(name, text) for name, text in texts.items()} | levels
