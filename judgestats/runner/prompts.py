"""Prompts of a run, of users and of probes."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from judgestats.data.columns import Condition
from judgestats.protocols.base import JudgingProtocol, Prompted, ReplyMode, Unit, prompted_in
from judgestats.protocols.probes import (
    OPTIONS,
    PAIRS,
    Probe,
    ProbedPairwise,
    ProbedPointwise,
    ProbedSelection,
    Variant,
    probes_named,
    scaled,
    variants_of,
)
from judgestats.protocols.strategies.base import Wording
from judgestats.runner.common_parameters import (
    OwnReasoning,
    own_reasoning,
    prompt_of,
    settings_of,
    templates_of,
)
from judgestats.runner.design import crossed
from judgestats.runner.parameter_types import (
    IntParam,
    Pairs,
    ParsedParam,
    data_option,
    judge_option,
    parameter,
)
from judgestats.runner.study_prompts import OwnProtocol, printed_prompts
from judgestats.studies.texts import StudyRequest

if TYPE_CHECKING:
    from judgestats.runner.prepare import Prepared


_LONGEST = 1_200
"""Characters of one paragraph that the terminal shows; a run's files have them all."""


@dataclass(frozen=True, kw_only=True)
class Stage:
    """What a text of a strategy is for.

    Attributes
    ----------
    stage : str
        As a user names it who gives a prompt for it.
    instruction : str
        The reply instruction.
    conditions : list of str
        Labels of those under which it is asked.
    """

    stage: str
    instruction: str
    conditions: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Rendered:
    """One prompt as it is sent, and the conditions under which it is.

    Attributes
    ----------
    prompted : Prompted
    item_id : str
        What it asks about.
    conditions : list of str
        Labels.
    templates : tuple of str
        Hashes of the texts that it is made from.
    stages : dict of str to Stage
        Of strategies: the stage that each text is for, by hash. Strategies that end with the same
        prompt may have others before it.
    """

    prompted: Prompted
    item_id: str
    templates: tuple[str, ...]
    stages: dict[str, Stage] = field(default_factory=dict)
    conditions: list[str] = field(default_factory=list)

    def record(self) -> dict[str, Any]:
        """As it is in ``prompts/rendered.json``."""
        p = self.prompted
        return {
            "conditions": self.conditions,
            "templates": list(self.templates),
            "stages": {sha: asdict(stage) for sha, stage in self.stages.items()},
            "item": self.item_id,
            "reply_mode": p.mode.value,
            "instruction": p.instruction,
            "messages": [dict(m) for m in p.messages],
            "schema": dict(p.schema.schema) if p.schema else None,
        }


def rendered(prepared: Prepared) -> tuple[Rendered, ...]:
    """The first prompt of every condition, each once.

    Parameters
    ----------
    prepared : Prepared

    Returns
    -------
    tuple of Rendered
        In the reply mode asked for, else as a JSON schema, which is tried first.
    """
    reply_mode = prepared.parameters.reply
    by_text: dict[str, Rendered] = {}
    for condition, protocol in prepared.protocols.items():
        own = prepared.judges[condition.judge].reply_mode
        mode = own or (ReplyMode.JSON_SCHEMA if reply_mode == "auto" else ReplyMode(reply_mode))
        units = prepared.units[condition]
        for unit in protocol.examples(units) if isinstance(protocol, OwnProtocol) else units[:1]:
            prompted = prompted_in(mode, partial(protocol.prompt, unit))
            one = Rendered(
                prompted=prompted,
                item_id=unit.item_id,
                templates=tuple(dict.fromkeys(t.sha for t in templates_of(protocol))),
            )
            one = by_text.setdefault(repr(prompted), one)
            one.conditions.append(condition.label)
            for sha, stage in _stages(protocol, unit, mode).items():
                one.stages.setdefault(sha, stage).conditions.append(condition.label)
        for template in printed_prompts(protocol):
            listed = ({"role": "user", "content": template.text},)
            alone = Prompted(messages=listed, mode=ReplyMode.TEXT, prompt_sha=template.sha)
            one = Rendered(prompted=alone, item_id=units[0].item_id, templates=(template.sha,))
            by_text.setdefault(template.sha, one).conditions.append(condition.label)
    return tuple(by_text.values())


def request_records(prepared: Prepared) -> list[dict[str, Any]]:
    """The request of every condition for its first item, as ``--dry-run --json`` prints it.

    Parameters
    ----------
    prepared : Prepared

    Returns
    -------
    list of dict
        ``study``, ``method``, ``item``, ``wire``, ``messages``, ``tool``, ``tool_choice``,
        ``params`` and the digests of messages and tool, with the condition's label.
    """
    own = prepared.requests
    by_label = {label: one for one in rendered(prepared)[::-1] for label in one.conditions}
    records = []
    for condition in prepared.conditions:
        prompted = by_label[condition.label].prompted
        schema = prompted.schema
        tool = None
        if schema is not None and prompted.mode in {ReplyMode.TOOL, ReplyMode.FUNCTION}:
            tool = [dict(f) for f in prompted.functions] or [
                {
                    "name": schema.name,
                    "description": schema.description,
                    "parameters": schema.schema,
                }
            ]
        study = own.get(condition)
        request = study or StudyRequest(
            wire=prepared.parameters.wire,
            messages=[dict(m) for m in prompted.messages],
            tool=tool,
            tool_choice={"name": schema.name} if schema is not None and tool else None,
        )
        samples = prepared.parameters.samples_per_request
        sent = {
            "n": samples if samples > 1 else None,
            **settings_of(prepared.parameters),
            "temperature": condition.temperature,
        }
        params = {**request.params, **{k: v for k, v in sent.items() if v is not None}}
        records.append(
            {
                "condition": condition.label,
                "study": prepared.wording.texts.study if prepared.wording.texts else "",
                "method": request.method,
                "item": prepared.units[condition][0].item_id,
                **replace(request, params=params).record(),
            }
        )
    return records


def _stages(protocol: JudgingProtocol, unit: Unit, mode: ReplyMode) -> dict[str, Stage]:
    """The stage of each text of a strategy; none of another protocol, which has one prompt."""
    wording = getattr(protocol, "wording", None)
    if not isinstance(wording, Wording):
        return {}
    out = {}
    for template in templates_of(protocol):
        stage = wording.stage_of(template)
        prompted = prompted_in(mode, partial(wording.bare, stage, unit))
        out[template.sha] = Stage(stage=stage, instruction=prompted.instruction)
    return out


def prompt_lines(prompts: Sequence[Rendered]) -> list[str]:
    """Prompts as a dry run prints them, with the form of the reply that the request asks for."""
    lines = []
    for number, one in enumerate(prompts, start=1):
        labels = [label.replace("=", " ") for label in one.conditions]
        more = f" and {len(labels) - 3} more" if len(labels) > 4 else ""
        under = "; ".join(labels[:3] if more else labels) + more
        count = f"{number} of {len(prompts)}" if len(prompts) > 1 else "as it is sent"
        lines += _wrapped(f"Prompt ({count}) under {under}; asked about {one.item_id}:")
        for message in one.prompted.messages:
            lines += ["", f"  [{message['role']}]"]
            text = re.sub(rf"[^\n]{{{_LONGEST},}}", _shortened, message["content"])
            lines += [f"  {line}".rstrip() for line in text.split("\n")]
        lines += ["", f"  {_form(one.prompted)}", ""]
    return lines


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, 96, break_long_words=False, break_on_hyphens=False)


def _form(prompted: Prompted) -> str:
    if prompted.mode is ReplyMode.LOGPROBS:
        return "(reply: plain text, with log-probabilities)"
    if prompted.schema is None:
        return "(reply: plain text)"
    fields = ", ".join(prompted.schema.schema["properties"])
    how = {ReplyMode.JSON_SCHEMA: "a JSON schema", ReplyMode.FUNCTION: "a function"}.get(
        prompted.mode, "a tool"
    )
    return f"(reply: {how}, {prompted.schema.name}, with {fields})"


def _shortened(match: re.Match[str]) -> str:
    line, kept = match.group(0), _LONGEST // 2
    return f"{line[:kept]} [... {len(line) - 2 * kept:,} characters ...] {line[-kept:]}"


class ProbeParameters(OwnReasoning):
    """Which probes, and what they are asked of."""

    probes: Annotated[tuple[Probe, ...], ParsedParam(probes_named)] = parameter(
        "all",
        "Probes: all, a kind (fair, scale, attack, control), a task (scores, pairs, "
        "options), or names (docs/experiments/probe.md)",
    )
    pairs: Annotated[int | None, IntParam(4, or_word="all")] = data_option(
        "32", "Pairs to compare (sampled by seed, across questions; labelled ones first), or all"
    )
    options: Annotated[int | None, IntParam(3, or_word="all")] = data_option(
        "4", "Responses per choice of the best of several (sampled by seed), or all"
    )
    own: Pairs = data_option(
        "",
        "Authors of a judge's own answers, e.g. gpt-4o=gpt; by default those under its "
        "model's name",
    )
    pair_prompt: str = judge_option(
        "", "Pairwise prompt with {question}, {response_a}, {response_b}, {context}"
    )


def probe_conditions(parameters: ProbeParameters) -> tuple[Condition, ...]:
    """Every judge at every temperature under every variant of the probes chosen."""
    return crossed(parameters, probe=list(_requested_variants(parameters)))


def probe_protocol(parameters: ProbeParameters, condition: Condition) -> JudgingProtocol:
    """The protocol that asks for what a condition's variant shows.

    Parameters
    ----------
    parameters : ProbeParameters
    condition : Condition
        With the factor ``probe``.

    Returns
    -------
    protocol
    """
    variant = _requested_variants(parameters)[condition.factors["probe"]]
    if variant.asks == "pairs":
        given = parameters.changed(prompt=parameters.pair_prompt)
        return ProbedPairwise(
            template=prompt_of(given, "pairwise", level=PAIRS),
            variant=variant,
            pairs=parameters.pairs,
            seed=parameters.seed,
        )
    if variant.asks == "options":
        return ProbedSelection(
            template=prompt_of(parameters.changed(prompt=""), "best_response", level=OPTIONS),
            variant=variant,
            options=parameters.options,
            seed=parameters.seed,
        )
    template = prompt_of(parameters, "pointwise")
    asked = ProbedPointwise(
        template=template,
        scale=parameters.scale,
        reasoning=own_reasoning(parameters, template, "none"),
        variant=variant,
        responses=parameters.responses,
        seed=parameters.seed,
    )
    return (scaled(asked) or asked) if variant.scale else asked


def _requested_variants(parameters: ProbeParameters) -> dict[str, Variant]:
    """Variants by name, without the scales that the run's prompt does not allow."""
    variants = variants_of(parameters.probes)
    if not any(v.scale for v in variants.values()):
        return variants
    plain = ProbedPointwise(template=prompt_of(parameters, "pointwise"), scale=parameters.scale)
    return {
        name: v
        for name, v in variants.items()
        if not v.scale or scaled(replace(plain, variant=v)) is not None
    }
