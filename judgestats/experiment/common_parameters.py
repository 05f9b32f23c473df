"""What every experiment that asks a judge takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, create_model

from judgestats.engine import Engine, parse_engine
from judgestats.experiment.parameter_types import (
    Choice,
    Choices,
    Names,
    OptionalPositive,
    Pairs,
    ParameterModel,
    Positive,
    Read,
    Switch,
    Temperatures,
    Whole,
    parameter,
)
from judgestats.items.sets import parse_options
from judgestats.judgments.settings import EXTRA, FIELDS, field_of
from judgestats.protocols.scale import Scale

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
    traces: Annotated[Literal["on", "off"], Choice("on", "off")] = parameter(
        "off", "on: every judge call as an MLflow trace, with prompt, reply and verdict"
    )
    preset: str = parameter("", "paper: the replicated study's design")


def settings_of(parameters: CommonParameters) -> dict[str, Any]:
    """The fields of the request that parameters fix for all judges."""
    named = {name: parameters.get(name) for name in FIELDS}
    return {**{k: v for k, v in named.items() if v is not None}, **parameters.extra_body}
