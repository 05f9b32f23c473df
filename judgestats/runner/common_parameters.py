"""Parameters that experiments share, and how they are read."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import Field, create_model

from judgestats.collection.spec import JudgeSpec
from judgestats.data.columns import Condition
from judgestats.data.request_fields import EXTRA, FIELDS, field_of
from judgestats.engine import Engine, parse_engine
from judgestats.errors import InputError, nearest
from judgestats.items.records import Item
from judgestats.items.sets import parse_options
from judgestats.protocols.base import JudgingProtocol, Scale
from judgestats.protocols.pointwise import REASONING
from judgestats.protocols.template import PromptTemplate, check_places
from judgestats.protocols.writing import AnswerPrompt
from judgestats.runner.parameter_types import (
    BY_LEVEL,
    TRUTH,
    Choice,
    Choices,
    Names,
    OptionalNames,
    OptionalPositive,
    Pairs,
    ParameterModel,
    Positive,
    Read,
    Switch,
    Temperatures,
    Whole,
    parameter,
    parameters_of,
)
from judgestats.style import option

FORMATS = Choices("html", "pdf", "docx", "md", "tex", or_word="none", instead=())
"""The formats of a report."""


def _extra_body(name: str, value: str) -> Mapping[str, Any]:
    pairs = _PAIRS(name, value)
    return {EXTRA + k: field_of(EXTRA + k).read(v) for k, v in pairs.items()}


_PAIRS: Read = Pairs.__metadata__[0]  # type: ignore[attr-defined]
_ITEM_OPTIONS = Read(lambda _, value: parse_options(value))
_SCALE = Read(lambda _, value: Scale.parse(value))
_ENGINE = Read(lambda _, value: parse_engine(value))


class RunParameters(ParameterModel):
    """What even an entry point takes that asks no judge."""

    seed: Annotated[int, Whole(0)] = parameter(
        "0", "of the analysis and of sampling", logged="analysis/seed"
    )
    resamples: Annotated[int, Whole(99, 1_000_000)] = parameter(
        "999", "bootstrap resamples and permutations", logged="analysis/resamples"
    )
    report: Annotated[tuple[str, ...], FORMATS] = parameter("html,pdf", "formats, or none")
    detail: Annotated[Literal["brief", "full"], Choice("brief", "full")] = parameter(
        "brief", "of the report: brief (the answer and what it rests on), or full (all results)"
    )
    run_name: str = parameter("", "name of the MLflow run")


class _Asked(ParameterModel):
    """Who judges what, how it is asked for, and how requests are sent."""

    judges: Names = parameter(
        "sim-typical,sim-discerning,sim-coarse",
        "judges, comma-separated: model names, model@http://host/v1, or simulated sim-...",
    )
    base_url: str = parameter("", "any OpenAI-compatible server; applies to judges that name none")
    temperatures: Temperatures = parameter(
        "0,0.3,0.5,0.7,1",
        "0-2, comma-separated; or default, which leaves the field out of the request",
        logged="judge/temperatures",
    )
    replicates: Annotated[int, Whole(2, 100_000)] = parameter(
        "10",
        "judgments of each item in each condition (at least 2)",
        logged="design/replicates",
    )
    items: str = parameter(
        "bank",
        "bank, a file (JSONL, CSV, Parquet), a FastChat folder, or a set (judgestats items list)",
    )
    item_options: Annotated[Mapping[str, Any], _ITEM_OPTIONS] = parameter(
        "", "how a published set is read, as in ties=drop,turn=1 or preference=weighted"
    )
    map: Pairs = parameter("", "columns of the items file, as in question=prompt,response=answer")
    responses: Annotated[int | None, Whole(1, or_word="all")] = parameter(
        "1", "how many responses of each question are judged (drawn by seed), or all"
    )
    limit: Annotated[int | None, Whole(2, or_word="")] = parameter("", "at most so many questions")
    prompt: str = parameter(
        "",
        "a bundled prompt's name, or a text file with {question} and {response}; "
        "prompt.LEVEL=FILE for one level of what is compared, as in prompt.before=mine.txt",
        by_level=True,
    )
    prompt_by_level: Mapping[str, str] = Field(default_factory=dict)
    append: Annotated[Literal["reply", "none"], Choice("reply", "none")] = parameter(
        "reply",
        "reply: the reply instruction ends a prompt of your own without {reply}; none: the "
        "text is sent as it is",
    )
    scale: Annotated[Scale, _SCALE] = parameter(
        "1-10", "lowest-highest whole score", logged="judge/scale"
    )
    reply: Annotated[str, Choice("auto", "json_schema", "tool", "text", "logprobs")] = parameter(
        "auto",
        "how the verdict is asked for; auto takes the best the judge supports; "
        "logprobs is text with the probabilities of its tokens, for weighted scores",
    )
    choices: Annotated[int, Whole(1, 128)] = parameter(
        "1",
        "replications asked for in one request (the API's n)",
        logged="design/choices_per_request",
    )
    judge_seed: Annotated[int | None, Whole(0, or_word="")] = parameter(
        "", "seed sent to the judges (plus the replicate's number); none by default"
    )
    mode: Annotated[Literal["online", "batch", "offline"], Choice("online", "batch", "offline")] = (
        parameter(
            "online",
            "batch: through the provider's Batch API, at half the price, within 24 hours; offline: "
            "nothing is asked, the journal's answers are taken (judgestats requests, ingest)",
        )
    )
    concurrency: Annotated[int, Whole(1, 4096)] = parameter("64", "requests at the same time")
    engine: Annotated[Engine, _ENGINE] = parameter(
        "local", "where it is worked: local, loky:4 (processes), dask://host:8786 (a cluster)"
    )
    timeout: Positive = parameter("120", "seconds for one request")


def _setting(name: str) -> Any:
    """A field of the request: its own declaration says how it is read."""
    field = FIELDS[name]
    read = Read(lambda _, text: field.read(text), words=tuple(field.words), or_word="")
    return Annotated[Any, read], parameter("", field.help, logged=f"judge/{name}")


if TYPE_CHECKING:  # fields of the request are reached by their names (`settings_of`)
    _Requested = _Asked
else:
    _Requested = create_model(
        "_Requested",
        __base__=_Asked,
        __module__=__name__,
        **{name: _setting(name) for name in FIELDS if name != "temperature"},
    )


class _Spent(_Requested):
    extra_body: Annotated[Mapping[str, Any], Read(_extra_body)] = parameter(
        "",
        "fields that only some servers know, as in min_p=0.1,thinking.type=disabled",
        logged="judge/extra_body",
    )
    max_cost: OptionalPositive = parameter("", "stop before spending more, USD")
    prices: str = parameter("", "a price file (YAML) that goes before the bundled one")
    max_requests: Annotated[int | None, Whole(1, or_word="")] = parameter(
        "", "stop before sending more requests"
    )
    dry_run: Switch = parameter("false", "print calls, tokens and price, send nothing")
    journal: str = parameter(
        ".judgestats/journal.sqlite",
        "where answered calls are kept, so that a second run asks only for what is missing",
    )


class CommonParameters(RunParameters, _Spent):
    """What every experiment that asks a judge takes."""

    omega_model: Annotated[str, Choice("parallel", "tau-equivalent", "congeneric")] = parameter(
        "parallel",
        "model whose omega of repeated scores is given next to Cronbach's alpha",
        logged="analysis/omega_model",
    )
    texts: Annotated[Literal["on", "off"], Choice("on", "off")] = parameter(
        "on",
        "off: the list of disagreements with people names items only, no question, answer or reply",
    )
    crosscheck: Annotated[Literal["yes", "no"], Choice("yes", "no")] = parameter(
        "yes", "recompute headline numbers by pingouin, statsmodels and factor-analyzer"
    )
    traces: Annotated[Literal["on", "off"], Choice("on", "off")] = parameter(
        "off", "on: every judge call as an MLflow trace, with prompt, reply and verdict"
    )
    preset: str = parameter("", "paper: the replicated study's design")


def settings_of(parameters: CommonParameters) -> dict[str, Any]:
    """The fields of the request that parameters fix for all judges."""
    named = {name: parameters.get(name) for name in FIELDS}
    return {**{k: v for k, v in named.items() if v is not None}, **parameters.extra_body}


class AnswerParameters(CommonParameters):
    """Of an experiment in which models may answer first."""

    answers: str = parameter("", "a file of models' answers: item_id, author, answer")
    answerers: OptionalNames = parameter(
        "",
        "models that answer the questions first, written as judges are, or sim-answerer-1 to "
        "-11; unused where answers= is given",
    )
    answer_temperatures: Temperatures = parameter(
        "0.75", "0-2; every answerer answers once at each"
    )
    answer_prompt: str = parameter(
        "step_by_step",
        "a bundled prompt's name, or a text file with {question} (and {context} or {passage})",
    )
    answer_max_tokens: Annotated[int | None, Whole(1, or_word="")] = parameter(
        "", "longest answer; by default the server's own limit"
    )


class CandidateParameters(AnswerParameters):
    """Of an experiment that chooses among several responses."""

    candidates: Annotated[int, Whole(2, 64)] = parameter(
        "4", "responses of a question compared (drawn by seed; all if models answer)"
    )


P = TypeVar("P", bound=ParameterModel)


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
            flag = name in set(flags) and (not rest or rest[0].lower() not in TRUTH)
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
        for name in ("item_options", "per_benchmark"):
            texts.pop(name, None)
    return texts


def _sets_in(items: str) -> list[str]:
    return [part.strip().partition(":")[0] for part in items.split(",")]


def parse_parameters(
    given: Mapping[str, str],
    model: type[P],
    *,
    experiment: str,
    defaults: Mapping[str, str] | None = None,
    presets: Mapping[str, Mapping[str, str]] | None = None,
) -> P:
    """Read every parameter: given value, else preset, else the experiment's default, else common.

    Parameters
    ----------
    given : mapping of name to text
        As the user wrote them.
    model : class of ParameterModel
        What the experiment takes.
    experiment : str
        For the message.
    defaults, presets : mapping
        The experiment's own defaults, and its named presets.

    Returns
    -------
    ParameterModel

    Raises
    ------
    InputError
        An unknown name (with the nearest known one) or a value that cannot be used.

    Examples
    --------
    >>> from judgestats.runner.common_parameters import CommonParameters
    >>> parse_parameters({"limit": "20"}, CommonParameters, experiment="temperature").limit
    20
    """
    by_name = {p.name: p for p in parameters_of(model)}
    levels: dict[str, dict[str, str]] = {}
    for name, text in given.items():
        base, dot, level = name.partition(".")
        if dot and level and base in by_name and by_name[base].by_level:
            levels.setdefault(f"{base}{BY_LEVEL}", {})[level] = text
        elif name not in by_name:
            raise InputError(
                f"{experiment}: unknown parameter {name!r}.{nearest(name, by_name, shown=option)} "
                f"It takes: {', '.join(by_name)}."
            )
    texts = dict(defaults or {})
    preset = given.get("preset", "")
    if preset:
        if preset not in (presets or {}):
            names = ", ".join(presets or {}) or "none"
            raise InputError(f"preset: {experiment} has no preset {preset!r}. There are: {names}.")
        texts |= _preset_texts((presets or {})[preset], given)
    texts |= {name: text for name, text in given.items() if name in by_name}
    return model.read({**texts, **levels})


class OwnReasoning(CommonParameters):
    """Of an experiment in which a prompt of one's own may ask for an explanation."""

    reasoning: Annotated[str, replace(Choice(*REASONING), or_word="", instead="")] = parameter(
        "",
        "none, before, after: whether a prompt of your own has the judge explain itself, and when "
        "(the order of the reply's fields follows it)",
    )


def prompt_of(parameters: CommonParameters, bundled: str, *, level: str = "") -> PromptTemplate:
    """The prompt of a level: ``prompt.LEVEL=``, else ``prompt=``, else the bundled one.

    Parameters
    ----------
    parameters : CommonParameters
    bundled : str
    level : str

    Returns
    -------
    PromptTemplate
    """
    own = parameters.prompt_by_level.get(level) or parameters.prompt
    return PromptTemplate.load(own or bundled, append=parameters.append != "none")


def holds_guideline(parameters: CommonParameters, template: PromptTemplate, *, level: str) -> bool:
    """Whether a level's prompt is one of your own for it, which needs no guideline put in."""
    return level in parameters.prompt_by_level and "guideline" not in template.placeholders


def own_reasoning(parameters: OwnReasoning, template: PromptTemplate, usual: str) -> str:
    """Whether and when the judge explains itself: as ``reasoning=`` says of a prompt of one's own.

    Raises
    ------
    InputError
        Of a bundled prompt another kind is asked for than its text says.
    """
    wanted = parameters.reasoning
    if wanted and wanted != usual and template.ours:
        raise InputError(
            f"reasoning: the bundled prompt {template.name} has its own (reasoning={usual}). Give "
            "a prompt of your own with it, as in prompt=mine.txt."
        )
    return wanted or usual


def templates_of(protocol: JudgingProtocol) -> tuple[PromptTemplate, ...]:
    """The prompt texts that a protocol uses."""
    own = getattr(protocol, "templates", None) or (getattr(protocol, "template", None),)
    return tuple(template for template in own if template is not None)


def check_own_prompts(
    parameters: CommonParameters,
    protocols: Mapping[Condition, JudgingProtocol],
    items: Iterable[Item],
    judges: Mapping[str, JudgeSpec],
    answering: AnswerPrompt | None,
) -> None:
    """Refuse what would send another prompt than a user thinks, before anything is asked.

    Parameters
    ----------
    parameters : CommonParameters
    protocols : mapping of Condition to protocol
    items : iterable of Item
    judges : mapping of str to JudgeSpec
    answering : AnswerPrompt or None
        How models are asked that answer first.

    Raises
    ------
    InputError
        ``prompt.LEVEL=`` names no level; ``append=none`` without a prompt of one's own, or where a
        judge may be asked for plain text without a word on its form; a text without a place for
        what the questions hold.
    """
    levels = list(dict.fromkeys(v for c in protocols for v in map(str, c.factors.values())))
    for level in parameters.prompt_by_level:
        if level not in levels:
            there = f"There are: {', '.join(levels)}." if levels else "All are asked alike."
            near = nearest(level, levels)
            raise InputError(f"prompt.{level}: {level!r} is no level of this run.{near} {there}")
    used = list(dict.fromkeys(t for p in protocols.values() for t in templates_of(p)))
    if parameters.append == "none":
        _check_verbatim(parameters, used, judges)
    items = tuple(items)
    for template in [*used, *([answering.template] if answering else [])]:
        check_places(template, items)


def _check_verbatim(
    parameters: CommonParameters, used: Iterable[PromptTemplate], judges: Mapping[str, JudgeSpec]
) -> None:
    if all(template.ours for template in used):
        raise InputError(
            "append=none: every prompt of this run ships with judgestats and says itself where the "
            "reply instruction stands. It is for a prompt of your own: prompt=FILE."
        )
    unsaid = [name for name, spec in judges.items() if spec.reply_mode is None]
    if parameters.reply == "auto" and unsaid:
        raise InputError(
            f"append=none: with reply=auto, {unsaid[0]} may be asked for plain text, which needs a "
            "word on its form. Say reply=json_schema or reply=tool (the form is then a field of "
            "the request, and nothing stands in the prompt), or reply=text where your prompt says "
            "how the verdict is written."
        )
