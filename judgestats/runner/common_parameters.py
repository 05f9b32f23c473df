"""Parameters that experiments share, and how they are read."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import Field, create_model

from judgestats.collection.spec import CHAT, WIRES, JudgeSpec
from judgestats.data.columns import EXTRA, FIELDS, Condition, field_of
from judgestats.deprecated import RENAMED_PARAMETERS
from judgestats.engine import Engine, parse_engine
from judgestats.errors import InputError, nearest
from judgestats.items import Item, parse_options
from judgestats.protocols.base import JudgingProtocol, Scale
from judgestats.protocols.explained import AnswerPrompt
from judgestats.protocols.pointwise import REASONING
from judgestats.protocols.template import PromptTemplate, check_placeholders
from judgestats.runner.parameter_types import (
    BY_LEVEL,
    TRUTH,
    ChoiceParam,
    Choices,
    IntParam,
    ListParam,
    OnOff,
    OptionalNames,
    OptionalPositive,
    Pairs,
    ParameterModel,
    ParsedParam,
    Positive,
    Switch,
    Temperatures,
    analysis_option,
    budget_option,
    data_option,
    judge_option,
    output_option,
    parameter,
    parameters_of,
    request_option,
)
from judgestats.terminal import option

WORDINGS = ("original", "paraphrase", "both")
"""Whose words the prompts of a replicated study are."""

FORMATS = Choices("html", "pdf", "docx", "md", "tex", or_word="none", instead=())
"""The formats of a report."""


def _extra_body(name: str, value: str) -> Mapping[str, Any]:
    pairs = _PAIRS(name, value)
    return {EXTRA + k: field_of(EXTRA + k).read(v) for k, v in pairs.items()}


_PAIRS: ParsedParam = Pairs.__metadata__[0]  # type: ignore[attr-defined]
_ITEM_OPTIONS = ParsedParam(lambda _, value: parse_options(value))
_SCALE = ParsedParam(lambda _, value: Scale.parse(value))
_ENGINE = ParsedParam(lambda _, value: parse_engine(value))
_REASONING = replace(ChoiceParam(*REASONING), or_word="", instead="")


class RunParameters(ParameterModel):
    """What even an entry point takes that asks no judge."""

    seed: Annotated[int, IntParam(0)] = analysis_option(
        "0", "Seed of resampling and of samples of items", logged="analysis/seed"
    )
    resamples: Annotated[int, IntParam(99, 1_000_000)] = analysis_option(
        "999", "Bootstrap resamples and permutations", logged="analysis/resamples"
    )
    report: Annotated[tuple[str, ...], FORMATS] = output_option(
        "html,pdf", "Formats of the report, e.g. html,docx, or none"
    )
    detail: Annotated[Literal["brief", "full"], ChoiceParam("brief", "full")] = output_option(
        "brief", "Length of the report: brief or full"
    )
    run_name: str = output_option("", "Name of the MLflow run, e.g. release-7")


class _JudgeParameters(ParameterModel):
    """Who judges what, how it is asked for, and how requests are sent."""

    judges: ListParam = judge_option(
        "sim-typical,sim-discerning,sim-coarse",
        "Judges, comma-separated, e.g. gpt-4o,llama3@http://host:8000/v1, a judges.yaml, "
        "gguf:model.gguf, or simulated sim-typical",
        common=True,
    )
    base_url: str = judge_option(
        "", "Address of an OpenAI-compatible server, e.g. http://localhost:8000/v1", common=True
    )
    temperatures: Temperatures = judge_option(
        "0,0.3,0.5,0.7,1",
        "Temperatures, 0-2, e.g. 0,0.5,1; default leaves the field out of the request",
        logged="judge/temperatures",
        common=True,
    )
    repeats: Annotated[int, IntParam(2, 100_000)] = parameter(
        "10",
        "Judgments per item and condition, at least 2, e.g. 20",
        logged="design/replicates",
        common=True,
    )
    items: str = data_option(
        "bank",
        "Items to judge: file (JSONL, CSV, Parquet), FastChat folder, published set "
        "(judgestats items list), or bank, e.g. my.jsonl",
        common=True,
    )
    item_options: Annotated[Mapping[str, Any], _ITEM_OPTIONS] = data_option(
        "", "Options of a published set, e.g. ties=drop,turn=1"
    )
    map: Pairs = data_option("", "Columns of the items file, e.g. question=prompt,response=answer")
    responses: Annotated[int | None, IntParam(1, or_word="all")] = data_option(
        "1", "Responses per question to judge (sampled by seed), or all"
    )
    limit: Annotated[int | None, IntParam(2, or_word="")] = data_option(
        "", "Largest number of questions, e.g. 20", common=True
    )
    prompt: str = judge_option(
        "",
        "Prompt: bundled name, or text file with {question} and {response}, e.g. "
        "mine.txt; prompt.LEVEL=FILE for one level of a comparison, one category of items, or "
        "two_turn",
        by_level=True,
        common=True,
    )
    prompt_by_level: Mapping[str, str] = Field(default_factory=dict)
    reply_instruction: Annotated[Literal["reply", "none"], ChoiceParam("reply", "none")] = (
        request_option(
            "reply",
            "Reply instruction at the end of a custom prompt without {reply}: reply adds it, "
            "none leaves it out",
        )
    )
    scale: Annotated[Scale, _SCALE] = judge_option(
        "1-10", "Lowest and highest whole score, e.g. 1-5", logged="judge/scale", common=True
    )
    reply: Annotated[
        str, ChoiceParam("auto", "json_schema", "tool", "function", "text", "logprobs")
    ] = request_option(
        "auto",
        "Reply format; auto takes the best that the judge supports, function sends the legacy "
        "field functions, logprobs gives weighted scores",
    )
    reply_schema: str = request_option(
        "",
        "JSON schema of the reply with the field of the verdict, in your order, e.g. schema.json",
    )
    wire: Annotated[str, ChoiceParam(*WIRES)] = request_option(
        CHAT,
        "How a prompt is sent: chat (messages), or completions (one raw text, no chat template)",
        logged="judge/wire",
    )
    samples_per_request: Annotated[int, IntParam(1, 128)] = request_option(
        "1", "Repeats per request (the API's n), e.g. 5", logged="design/choices_per_request"
    )
    request_seed: Annotated[int | None, IntParam(0, or_word="")] = request_option(
        "", "Seed of the judges' sampling (the repeat's number is added), e.g. 7"
    )
    mode: Annotated[
        Literal["online", "batch", "offline"], ChoiceParam("online", "batch", "offline")
    ] = request_option(
        "online",
        "How requests are sent: online, batch (Batch API at half the price, within 24 "
        "hours), or offline (answers of the journal only; judgestats requests)",
    )
    concurrency: Annotated[int, IntParam(1, 4096)] = request_option(
        "64", "Requests at the same time"
    )
    engine: Annotated[Engine, _ENGINE] = request_option(
        "local",
        "Where judgments are made: local, loky:4 (processes), or dask://host:8786 (cluster)",
    )
    timeout: Positive = request_option("120", "Seconds per request")


def _setting(name: str) -> Any:
    """A field of the request: its own declaration says how it is read."""
    field = FIELDS[name]
    read = ParsedParam(lambda _, text: field.read(text), words=tuple(field.words), or_word="")
    return Annotated[Any, read], request_option("", field.help, logged=f"judge/{name}")


if TYPE_CHECKING:  # fields of the request are reached by their names (`settings_of`)
    _Requested = _JudgeParameters
else:
    _Requested = create_model(
        "_Requested",
        __base__=_JudgeParameters,
        __module__=__name__,
        **{name: _setting(name) for name in FIELDS if name != "temperature"},
    )


class _BudgetParameters(_Requested):
    extra_body: Annotated[Mapping[str, Any], ParsedParam(_extra_body)] = request_option(
        "",
        "Fields of some servers only, e.g. min_p=0.1,thinking.type=disabled",
        logged="judge/extra_body",
    )
    max_cost: OptionalPositive = budget_option(
        "", "Largest cost in US dollars, e.g. 5", common=True
    )
    prices: str = budget_option(
        "", "Price file (YAML) that overrides the bundled prices, e.g. prices.yaml"
    )
    max_requests: Annotated[int | None, IntParam(1, or_word="")] = budget_option(
        "", "Largest number of requests, e.g. 1000"
    )
    until: str = budget_option(
        "",
        "Rule that ends the run early: a width, e.g. icc_1_1:width<=.1, or an answer, e.g. "
        "difference!=0, icc_1_1>=.75, or verdict",
        logged="design/until",
    )
    max_items: Annotated[int | None, IntParam(4, or_word="")] = budget_option(
        "", "Largest number of items with --until, e.g. 300; by default all"
    )
    first_look: Annotated[int, IntParam(2)] = budget_option(
        "20", "Items at the first look of --until"
    )
    look_items: Annotated[int, IntParam(1)] = budget_option(
        "10", "Items between two looks of --until"
    )
    dry_run: Switch = budget_option(
        "false", "Print calls, tokens and cost, and send nothing", common=True
    )
    journal: str = budget_option(
        ".judgestats/journal.sqlite",
        "File that keeps every answered call, so that a second run asks only for what is missing",
    )


class CommonParameters(RunParameters, _BudgetParameters):
    """What every experiment that asks a judge takes."""

    omega_model: Annotated[str, ChoiceParam("parallel", "tau-equivalent", "congeneric")] = (
        analysis_option(
            "parallel",
            "Factor model of omega, next to Cronbach's alpha",
            logged="analysis/omega_model",
        )
    )
    duplicates: Annotated[
        Literal["cluster", "drop", "keep", "refuse"],
        ChoiceParam("cluster", "drop", "keep", "refuse"),
    ] = analysis_option(
        "cluster",
        "Handling of items that repeat another item's text or replies: one cluster, first item "
        "only, no change, or an error",
        logged="analysis/duplicates",
    )
    texts: OnOff = output_option(
        "on", "Replies in the list of disagreements with labels: on or off"
    )
    crosscheck: Annotated[Literal["yes", "no"], ChoiceParam("yes", "no")] = analysis_option(
        "yes",
        "Recompute headline numbers with pingouin, statsmodels, and factor-analyzer: yes or no",
    )
    traces: OnOff = output_option(
        "off", "MLflow trace of every call, with prompt, reply and verdict: on or off"
    )
    preset: str = parameter(
        "",
        "Design of the replicated study: paper (prompts: paraphrases unless study_files are given)",
    )
    study_files: str = judge_option(
        "",
        "Folder or ZIP of the study's repository with its prompts, e.g. data/gradelab "
        "(judgestats items fetch gradelab); of crowd also a text file of its paper",
    )
    wording: Annotated[str, ChoiceParam("", *WORDINGS)] = judge_option(
        "",
        "Prompts with preset=paper: original (the study's text), paraphrase, or both as "
        "conditions; by default original where study files are found",
        logged="wording",
    )


def settings_of(parameters: CommonParameters) -> dict[str, Any]:
    """The fields of the request that parameters fix for all judges."""
    named = {name: parameters.get(name) for name in FIELDS}
    return {**{k: v for k, v in named.items() if v is not None}, **parameters.extra_body}


class AnswerParameters(CommonParameters):
    """Of an experiment in which models may answer first."""

    answers: str = data_option(
        "", "File of models' answers with item_id, author, answer, e.g. answers.csv"
    )
    answerers: OptionalNames = data_option(
        "",
        "Models that answer the questions first, written as judges are, or sim-answerer-1 to -11",
    )
    answer_temperatures: Temperatures = data_option(
        "0.75", "Temperatures of the answerers, e.g. 0,0.75; one answer at each"
    )
    answer_prompt: str = data_option(
        "step_by_step",
        "Prompt of the answerers: bundled name, or text file with {question} (and "
        "{context} or {passage})",
    )
    answer_max_tokens: Annotated[int | None, IntParam(1, or_word="")] = data_option(
        "", "Longest answer in tokens, e.g. 500; by default the server's limit"
    )


class CandidateParameters(AnswerParameters):
    """Of an experiment that chooses among several responses."""

    candidates: Annotated[int, IntParam(2, 64)] = data_option(
        "4", "Responses per question to compare (sampled by seed; all if models answer)"
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
    >>> split_arguments(["--repeats", "20", "-P", "limit=5", "--dry-run"], flags=["dry_run"])
    {'repeats': '20', 'limit': '5', 'dry_run': 'true'}
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
            now = {n: option(n) for n in by_name}
            now |= {n: now[new] for n, new in RENAMED_PARAMETERS.items() if new in by_name}
            hint = nearest(name, now, shown=now.__getitem__)
            raise InputError(
                f"{experiment}: unknown parameter {name!r}.{hint} It takes: {', '.join(by_name)}."
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
    """Of an experiment in which a custom prompt may ask for an explanation."""

    reasoning: Annotated[str, _REASONING] = judge_option(
        "", "Explanation asked for in your own prompt: none, before, or after the verdict"
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
    return PromptTemplate.load(own or bundled, append=parameters.reply_instruction != "none")


def kinds_of(item: Item) -> tuple[str, ...]:
    """Kinds of an item that may have a separate prompt: its category, and several turns."""
    turns = ("two_turn",) if len(item.turns) > 1 else ()
    return (*filter(None, (item.category,)), *turns)


def holds_guideline(parameters: CommonParameters, template: PromptTemplate, *, level: str) -> bool:
    """Whether a level has a custom prompt, which needs no guideline put in."""
    return level in parameters.prompt_by_level and "guideline" not in template.placeholders


def own_reasoning(parameters: OwnReasoning, template: PromptTemplate, usual: str) -> str:
    """Whether and when the judge explains itself: as ``reasoning=`` says of a custom prompt.

    Raises
    ------
    InputError
        Of a bundled prompt another kind is asked for than its text says.
    """
    wanted = parameters.reasoning
    if wanted and wanted != usual and template.ours:
        raise InputError(
            f"reasoning: the bundled prompt {template.name} has its own (reasoning={usual}). Give "
            "a custom prompt with it, e.g. prompt=mine.txt."
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
        If ``prompt.LEVEL=`` names no level, or ``reply_instruction=none`` comes without a custom
        prompt or with plain text of unstated form. If a prompt has no placeholder for texts of the
        questions.
    """
    items = tuple(items)
    levels = list(dict.fromkeys(v for c in protocols for v in map(str, c.factors.values())))
    levels += [kind for item in items for kind in kinds_of(item) if kind not in levels]
    levels = list(dict.fromkeys(levels))
    for level in parameters.prompt_by_level:
        if level not in levels:
            there = f"There are: {', '.join(levels)}." if levels else "All are asked alike."
            near = nearest(level, levels)
            raise InputError(f"prompt.{level}: {level!r} is not a level of this run.{near} {there}")
    used = list(dict.fromkeys(t for p in protocols.values() for t in templates_of(p)))
    if parameters.reply_instruction == "none":
        _check_verbatim(parameters, used, judges)
    for protocol in {id(p): p for p in protocols.values()}.values():
        items_of = getattr(protocol, "items_of", None)
        for template in templates_of(protocol):
            check_placeholders(template, items_of(template, items) if items_of else items)
    if answering:
        check_placeholders(answering.template, items)


def _check_verbatim(
    parameters: CommonParameters, used: Iterable[PromptTemplate], judges: Mapping[str, JudgeSpec]
) -> None:
    if all(template.ours for template in used):
        raise InputError(
            "reply_instruction=none: every prompt of this run ships with judgestats and says "
            "itself where the reply instruction stands. It is for your own prompt: prompt=FILE."
        )
    unsaid = [name for name, spec in judges.items() if spec.reply_mode is None]
    if parameters.reply == "auto" and unsaid:
        raise InputError(
            f"reply_instruction=none: with reply=auto, {unsaid[0]} may be asked for plain text, "
            "which needs a word on its form. Say reply=json_schema or reply=tool (the form is then "
            "a field of the request, and nothing is in the prompt), or reply=text where your "
            "prompt says how the verdict is written."
        )
