"""Wording of prompts: a study's own texts, paraphrases, or custom texts and schema."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgestats.analysis.limits import Limit
from judgestats.errors import InputError
from judgestats.files.guarded import json_document
from judgestats.files.text import decode_json
from judgestats.protocols import Correctness, Pairwise, Pointwise, Selection
from judgestats.protocols.base import (
    JudgingProtocol,
    Prompted,
    ReplyMode,
    ReplySchema,
    Status,
    Unit,
    Verdict,
)
from judgestats.protocols.pointwise import correct_as_counted
from judgestats.protocols.selection import UNRELATED
from judgestats.protocols.strategies.base import PairStrategy, Wording
from judgestats.protocols.template import PromptTemplate, bundled_prompts
from judgestats.runner.common_parameters import kinds_of, templates_of
from judgestats.studies.texts import StudyRequest, StudyTexts, read_study

if TYPE_CHECKING:
    from judgestats.data.columns import Condition
    from judgestats.items.records import Item
    from judgestats.runner.common_parameters import CommonParameters

_FIRST_FILES = {
    "llmasjudge": "core.py",
    "llm_reliability": "judges.py",
    "gradelab": "llm_eval.py",
    "cce": "src/prompt.py",
}
_FIRST_REQUESTS = {"crowd": "crowd/mtbench", "head_to_tail": "head_to_tail"}
_EMPTY = {
    **dict.fromkeys(("question", "response", "ground_truth", "prompt", "answer_a", "answer_b"), ""),
    "responses": ("",) * 5,
    "options": ("",),
    "pool_a": (),
    "pool_b": (),
}
"""An item without text: whether a study's files can be read is asked before items are."""
_PRINTED = {"outcome_removal": "removal", "key_points": "key_points"}
"""Prompts whose instruction only the paper of study D has, and the study's name of it."""
_SCORED = ("temperature", "judges", "guidelines", "reasoning")
_OWN = ("prompt", "pair_prompt", "option_template", "reply_schema")
_BENCHMARKS = {"BBH": "bbh", "SQuAD": "squad", "MT-Bench": "mtb"}
_PARAPHRASE = (
    "Prompts: paraphrases written for judgestats, not the study's text (wording=paraphrase). The "
    "run has the study's design, our wording."
)


@dataclass(frozen=True, kw_only=True)
class StudyWording:
    """Whose words the prompts of a run are.

    Attributes
    ----------
    kind : {"original", "paraphrase", "both", ""}
        Empty where a run replicates no study, or asks with prompts of the user's own.
    texts : StudyTexts or None
        What the original requests are read from.
    notes : tuple of str
        What a reader has to know of the study's own requests.
    """

    kind: str = ""
    texts: StudyTexts | None = None
    notes: tuple[str, ...] = ()

    @property
    def reply(self) -> str:
        """The reply mode of the study's own requests."""
        study = self.texts.study if self.texts else ""
        return ReplyMode.FUNCTION if study == "llmasjudge" else ReplyMode.TEXT

    @property
    def wire(self) -> str:
        """How the study's own requests are sent."""
        study = self.texts.study if self.texts else ""
        return "completions" if study == "llm_reliability" else "chat"

    @property
    def notices(self) -> tuple[str, ...]:
        """Whose words the prompts are, and what a reader has to know of the study's requests."""
        if self.kind != "paraphrase":
            return self.notes
        short = "prompts are paraphrases, not the study's text"
        return (Limit(_PARAPHRASE, code="wording", short=short), *self.notes)


_ORIGINAL_NOTES = {
    **dict.fromkeys(_SCORED, "Choices of one request (n) share one call, as in the study."),
    "alignment": "Choices of one request (n) share one call, as in the study. The study counts a "
    "failed comparison as a tie; here it has no verdict.",
    "grade_score": "The choice is the first Option after the first Selection in a reply, as in the "
    "study.",
    "omega": "The study shows five systems in one order, so position and system are confounded: "
    "omega cannot distinguish a preferred letter from a preferred system. Its code sends "
    "T = 2.22e-16 instead of 0.",
    "head_to_tail": "The study counts a reply as correct where it says correct and not incorrect, "
    "all others as incorrect. Its script passes judge and answering model in swapped places.",
}
"""What runs with a study's own requests say, by experiment."""
_NOTES = {
    "crowd": "The study's public code asks gpt-4o at T = 0.1, and names no temperature without a "
    "crowd. The preset's temperature is ours.",
}
"""What runs of a study's design say under any wording, by experiment."""


def study_wording(
    experiment: str, study: str, given: Mapping[str, str], parameters: CommonParameters
) -> StudyWording:
    """Whose words a run's prompts are, by ``wording=``, ``study_files=`` and what was fetched.

    Parameters
    ----------
    experiment : str
    study : str
        The study whose texts the design's prompts have; empty where none is read.
    given : mapping of parameter to text
    parameters : CommonParameters

    Returns
    -------
    StudyWording

    Raises
    ------
    InputError
        ``wording=`` without a preset; ``original`` without files, or next to a custom prompt.
    """
    wanted, files = parameters.wording, parameters.study_files
    if not parameters.preset:
        if wanted or files:
            raise InputError(
                f"{'wording' if wanted else 'study_files'}: it is for a study's design. Add "
                "preset=paper."
            )
        return StudyWording()
    own = [name for name in given if name in _OWN or name.startswith("prompt.")]
    if own and (wanted or files):
        raise InputError(f"wording: {own[0]} gives a custom prompt. Leave one of them out.")
    if own:
        return StudyWording()
    if not study:
        if wanted in {"original", "both"}:
            raise InputError(f"wording={wanted}: no text of this study is public. Leave it out.")
        return StudyWording(kind="paraphrase")
    notes = (_NOTES[experiment],) if experiment in _NOTES else ()
    fetched = Path("data") / study
    found = files or (str(fetched) if (fetched / _FIRST_FILES[study]).is_file() else "")
    if wanted == "paraphrase" or (not wanted and not found):
        return StudyWording(kind="paraphrase", notes=notes)
    if not found:
        raise InputError(
            f"wording={wanted}: the study's texts are not bundled. Run judgestats items fetch "
            f"{study}, or give study_files=FOLDER."
        )
    if "reply" in given:
        raise InputError(
            f"reply: wording={wanted or 'original'} replies as the study asked. Leave reply out."
        )
    if experiment in _ORIGINAL_NOTES:
        notes = (_ORIGINAL_NOTES[experiment], *notes)
    texts = read_study(study, found)
    texts.request(_FIRST_REQUESTS.get(experiment, texts.methods[0]), _EMPTY)
    return StudyWording(kind=wanted or "original", texts=texts, notes=notes)


class _ProtocolWrapper:
    """A protocol around another; the inner one has every attribute that is not defined here."""

    def __init__(self, inner: JudgingProtocol, *own: str) -> None:
        self.inner, self._own = inner, {"inner", *own}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name in self._own:
            raise AttributeError(name)
        return getattr(self.inner, name)

    @property
    def name(self) -> str:
        """That of the protocol inside."""
        return self.inner.name

    def units(self, items: tuple[Item, ...]) -> tuple[Unit, ...]:
        """The units of the protocol inside."""
        return self.inner.units(items)


class OriginalProtocol(_ProtocolWrapper):
    """A protocol whose prompt is the study's own request; replies are parsed as before.

    Parameters
    ----------
    inner : JudgingProtocol
        What is judged, and how replies are read.
    texts : StudyTexts
    factors : mapping
        The condition's levels: guideline, method, prompt.
    """

    def __init__(
        self, inner: JudgingProtocol, texts: StudyTexts, factors: Mapping[str, str]
    ) -> None:
        super().__init__(inner, "template", "templates", "wording")
        self.texts, self.factors = texts, factors

    def units(self, items: tuple[Item, ...]) -> tuple[Unit, ...]:
        """The units; options have the order of the file, rotated as in the study."""
        units = self.inner.units(items)
        if self.texts.study != "llm_reliability" and (
            with_context := next((u.item.id for u in units if u.item.context), "")
        ):
            raise InputError(
                f"wording=original: item {with_context!r} has a context, and the study's "
                "prompt has no place for it. Say wording=paraphrase."
            )
        if not isinstance(self.inner, Selection):
            return units
        return tuple(replace(unit, shown=_turned(unit)) for unit in units)

    def request(self, unit: Unit) -> StudyRequest:
        """The study's request for a unit."""
        return self.texts.request(*method_of(self.inner, self.factors, unit))

    def prompt(self, unit: Unit, mode: ReplyMode) -> Prompted:
        """The study's request, in its own reply mode whatever `mode` says."""
        return prompted_as(self.request(unit), mode)

    def read(self, unit: Unit, mode: ReplyMode, text: str, *, finish_reason: str = "") -> Verdict:
        """The verdict as the study's program reads it: a sum of sub-scores, a word of a text."""
        if self.factors.get("guideline") == "subscores":
            return _sum_of_parts(self.request(unit), text)
        if isinstance(self.inner, Correctness):
            counted = correct_as_counted(text)
            if math.isnan(counted):
                return Verdict(status=Status.UNPARSEABLE, reason="empty")
            return Verdict(status=Status.OK, choice="correct" if counted else "incorrect")
        if self.texts.study == "gradelab":
            found = re.search(r"Option\s+(\d+)", text.partition("Selection")[2] or text)
            text = f"Selection: Option {found.group(1)}" if found else ""
        if isinstance(self.inner, Pairwise) and mode is not ReplyMode.TEXT:
            text = _with_our_names(self.request(unit), text)
        return self.inner.read(unit, mode, text, finish_reason=finish_reason)


def _turned(unit: Unit) -> tuple[int, ...]:
    """The options in the file's order after a random one, the last ones moved to the front."""
    responses = unit.item.responses
    listed = sorted(unit.shown, key=lambda i: (responses[i].author != UNRELATED, i))
    kept = len(listed) - _turn_of(unit)
    return (*listed[kept:], *listed[:kept])


def _turn_of(unit: Unit) -> int:
    """How many options the study's call moved: one in the first order, all in the next."""
    if not unit.order:
        return 0
    order, of = map(int, unit.order.split("/"))
    return (1 - order) % of + 1


class OwnProtocol(_ProtocolWrapper):
    """A protocol with a text per kind of item, and with a reply schema of the user's own.

    Parameters
    ----------
    inner : JudgingProtocol
        What is judged, and how replies are read.
    kinds : mapping of kind to JudgingProtocol
        A category of items, or ``two_turn``; the first that fits an item is asked.
    schema : mapping
        Empty: the protocol's own.
    """

    def __init__(
        self,
        inner: JudgingProtocol,
        kinds: Mapping[str, JudgingProtocol],
        schema: Mapping[str, Any],
    ) -> None:
        super().__init__(inner, "kinds", "own_schema")
        self.kinds, self.own_schema = kinds, schema

    @property
    def templates(self) -> tuple[PromptTemplate, ...]:
        """The texts of all kinds."""
        asked = (self.inner, *self.kinds.values())
        return tuple(dict.fromkeys(t for one in asked for t in templates_of(one)))

    def examples(self, units: Sequence[Unit]) -> list[Unit]:
        """The first unit of each text."""
        return list({id(self._asked(u.item)): u for u in reversed(units)}.values())[::-1]

    def items_of(self, template: PromptTemplate, items: Sequence[Item]) -> list[Item]:
        """The items that are asked about with a text."""
        return [item for item in items if template in templates_of(self._asked(item))]

    def _asked(self, item: Item) -> JudgingProtocol:
        named = (self.kinds[kind] for kind in kinds_of(item) if kind in self.kinds)
        return next(named, self.inner)

    def prompt(self, unit: Unit, mode: ReplyMode) -> Prompted:
        """The prompt of the unit's kind, with the user's schema."""
        prompted = self._asked(unit.item).prompt(unit, mode)
        if not self.own_schema or prompted.schema is None:
            return prompted
        said = prompted.instruction
        for between in (", ", " and "):
            usual, own = (
                between.join(f'"{name}"' for name in schema["properties"])
                for schema in (prompted.schema.schema, self.own_schema)
            )
            if usual in said:
                said = said.replace(usual, own)
                break
        return replace(
            prompted,
            schema=replace(prompted.schema, schema=self.own_schema),
            instruction=said,
            messages=tuple(
                {**m, "content": m["content"].replace(prompted.instruction, said)}
                for m in prompted.messages
            ),
        )

    def read(self, unit: Unit, mode: ReplyMode, text: str, *, finish_reason: str = "") -> Verdict:
        """The verdict, as the protocol of the unit's kind reads it."""
        return self._asked(unit.item).read(unit, mode, text, finish_reason=finish_reason)


def own_protocol(
    build: Callable[[CommonParameters], JudgingProtocol],
    parameters: CommonParameters,
    items: Sequence[Item],
) -> JudgingProtocol:
    """The protocol of a condition, with a user's texts per kind of item and reply schema.

    Parameters
    ----------
    build : callable
        ``build(parameters)``: the design's protocol.
    parameters : CommonParameters
    items : sequence of Item

    Raises
    ------
    InputError
        The schema cannot be read, is not sent with this reply format, or lacks the verdict.
    """
    inner = build(parameters)
    given = parameters.prompt_by_level
    kinds = [k for k in dict.fromkeys(k for i in items for k in kinds_of(i)) if k in given]
    schema = _own_schema(parameters, inner) if parameters.reply_schema else {}
    if not kinds and not schema:
        return inner
    texts = {k: build(parameters.changed(prompt=given[k], prompt_by_level={})) for k in kinds}
    return OwnProtocol(inner, texts, schema)


def _own_schema(parameters: CommonParameters, inner: JudgingProtocol) -> Mapping[str, Any]:
    path = Path(parameters.reply_schema)
    usual = getattr(inner, "schema", None)
    if usual is None:
        raise InputError(f"reply_schema: {inner.name} judges in stages, each with its own schema.")
    if parameters.reply not in {"json_schema", "tool", "function"}:
        raise InputError(
            f"reply_schema: reply={parameters.reply} may send no schema. Add reply=json_schema, "
            "reply=tool, or reply=function."
        )
    if not path.is_file():
        raise InputError(f"reply_schema: there is no file {str(path)!r}.")
    schema = json_document(path)
    needed = {k: v for k, v in usual().schema["properties"].items() if k != "explanation"}
    fields = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(fields, dict) or schema.get("type") != "object" or set(needed) - set(fields):
        raise InputError(
            f"reply_schema: {path.name} must be an object schema with the property "
            f"{', '.join(sorted(needed))}."
        )
    for name, known in needed.items():
        asked = fields[name] if isinstance(fields[name], dict) else {}
        for word in ("minimum", "maximum"):
            if word in known and asked.get(word, known[word]) != known[word]:
                raise InputError(
                    f"reply_schema: {path.name}: {name} has the {word} {asked[word]}, the scale "
                    f"has {known[word]}. Give the schema's scale by --scale."
                )
        words = asked.get("enum", known.get("enum"))
        if "enum" in known and not (
            isinstance(words, list) and any(word in known["enum"] for word in words)
        ):
            raise InputError(
                f"reply_schema: {path.name}: the enum of {name} must be a list with one of "
                f"{', '.join(known['enum'])}."
            )
    own: Mapping[str, Any] = schema
    return own


def prompted_as(request: StudyRequest, mode: ReplyMode) -> Prompted:
    """A study's request as a prompt of a run."""
    listed = request.messages
    messages = [{"role": "user", "content": listed}] if isinstance(listed, str) else listed
    tool = request.tool[0] if request.tool else None
    schema = tool and ReplySchema(
        name=tool["name"], description=tool["description"], schema=tool["parameters"]
    )
    return Prompted(
        messages=tuple(messages),
        mode=mode,
        prompt_sha=request.sha256[:12],
        schema=schema or None,
        functions=tuple(request.tool or ()),
    )


def method_of(
    protocol: JudgingProtocol, factors: Mapping[str, str], unit: Unit
) -> tuple[str, dict[str, Any]]:
    """The study's name of a request, and the item's texts under the study's names.

    Raises
    ------
    InputError
        The study has no such request.
    """
    item = unit.item
    shown = [item.responses[index].text for index in unit.shown]
    one = {"question": item.question, "response": shown[0]}
    pair = dict(zip(("answer_a", "answer_b"), shown, strict=False))
    if isinstance(protocol, Selection) and protocol.labels == "numbers":
        turn = _turn_of(unit)
        method = f"prompt_{factors.get('prompt', '1')}/rotation_{turn}"
        return method, {"question": item.question, "options": [*shown[turn:], *shown[:turn]]}
    if isinstance(protocol, Selection):
        kind = item.published.get("type") or _BENCHMARKS.get(item.category)
        if kind is None:
            raise InputError(
                f"wording=original: item {item.id!r} is of no benchmark of the study "
                f"({', '.join(_BENCHMARKS)}). Say wording=paraphrase."
            )
        return f"best_response/{kind}", {"prompt": _prompt_of(item, kind), "responses": shown}
    if isinstance(protocol, Correctness):
        truth = item.published.get("ground_truth", item.reference[-1])
        return "head_to_tail", {**one, "ground_truth": truth}
    if isinstance(protocol, Pairwise):
        return f"pairwise/{protocol.reasoning}", {"question": item.question, **pair}
    if isinstance(protocol, Pointwise):
        guideline = factors.get("guideline", "none")
        reference = "+reference" if factors.get("method") == "pointwise-guideline" else ""
        method = f"pointwise/{guideline}/{protocol.reasoning}{reference}"
        return method, {**one, "scale": protocol.scale.high}
    raise InputError(
        f"wording=original: the study asks no {protocol.name}. Say wording=paraphrase."
    )


def _prompt_of(item: Item, kind: str) -> Any:
    """The question as the study's file has it."""
    if "prompt" in item.published:
        return item.published["prompt"]
    if kind == "squad":
        return f"Context: {item.context}\n Question: {item.question}\n Answer:"
    return list(item.turns) if kind == "mtb" else item.question


def _with_our_names(request: StudyRequest, text: str) -> str:
    """A reply on a pair with the field and the words of our schema instead of the study's."""
    parts = request.tool[0]["parameters"]["properties"] if request.tool else {}
    for name in (name for name, part in parts.items() if "enum" in part):
        text = re.sub(rf'"{re.escape(name)}"(\s*:)', r'"choice"\1', text, count=1)
    return text.replace('"model_a"', '"A"').replace('"model_b"', '"B"')


def _sum_of_parts(request: StudyRequest, text: str) -> Verdict:
    """The score as the study's program adds it; a part that is missing leaves none."""
    parts = request.tool[0]["parameters"]["properties"] if request.tool else {}
    bounds = {k: v for k, v in parts.items() if v.get("type") == "integer"}
    try:
        reply = decode_json(text)
    except ValueError:
        reply = None
    said = reply if isinstance(reply, dict) else {}
    numbers = {k: said.get(k) for k in bounds}
    bad = [k for k, v in numbers.items() if isinstance(v, bool) or not isinstance(v, int)]
    if bad or not bounds:
        return Verdict(status=Status.UNPARSEABLE, reason=f"no whole number {', '.join(bad)}")
    total = {k: v for k, v in numbers.items() if isinstance(v, int)}
    if any(not bounds[k]["minimum"] <= v <= bounds[k]["maximum"] for k, v in total.items()):
        return Verdict(status=Status.OUT_OF_SCALE, reason="a sub-score is out of its range")
    return Verdict(status=Status.OK, score=float(sum(total.values())), explanation=text)


@dataclass(frozen=True, kw_only=True)
class OriginalPairs(Wording):
    """The vanilla and crowd prompts of study D; what is not published stays a paraphrase.

    Parameters
    ----------
    texts : StudyTexts
    """

    texts: StudyTexts = field(default=StudyTexts("cce", Path()))

    def _prompt(self, name: str) -> PromptTemplate:
        """The paper's instruction, the judgment after it, where the paper's text is given."""
        ours = super()._prompt(name)
        if name not in _PRINTED or self.texts.paper is None or not ours.ours:
            return ours
        said = self.texts.request(_PRINTED[name], {}).messages
        said = said if isinstance(said, str) else said[0]["content"]
        return replace(ours, text=f"{said}\n\n{{judgments}}", ours=False, append=False)

    def ask(
        self,
        prompt: str,
        unit: Unit,
        mode: ReplyMode,
        judgments: str = "",
        *,
        pools: Mapping[str, Sequence[Mapping[str, str]]] | None = None,
    ) -> Prompted:
        """The study's request where it is public."""
        crowd = prompt == "judge_crowd"
        if not crowd and prompt not in {"vanilla", "judge_vanilla"}:
            return super().ask(prompt, unit, mode, judgments)
        none = {"pool_a": (), "pool_b": ()}
        return prompted_as(self.request(unit, (pools or none) if crowd else None), mode)

    def request(
        self, unit: Unit, pools: Mapping[str, Sequence[Mapping[str, str]]] | None = None
    ) -> StudyRequest:
        """The request for a pair, with a crowd's judgments where `pools` are given."""
        shown = [unit.item.responses[index] for index in unit.shown]
        name = {"helpsteer2": "helpsteer2", "judgebench": "judgebench"}.get(
            unit.category.lower(), ""
        )
        fields: dict[str, Any] = {"question": unit.item.question}
        fields |= dict(zip(("answer_a", "answer_b"), (r.text for r in shown), strict=False))
        if len(unit.item.turns) > 1:
            name = "two_turn"
            for turn in range(2):
                fields[f"question_{turn + 1}"] = unit.item.turns[turn]
                for letter, response in zip("ab", shown, strict=False):
                    fields[f"answer_{letter}_{turn + 1}"] = response.turns[turn]
        if pools is None:
            return self.texts.request("/".join(filter(None, ("vanilla", name))), fields)
        method = f"crowd/{name if name in {'helpsteer2', 'two_turn'} else 'mtbench'}"
        return self.texts.request(method, {**fields, **pools})


def printed_prompts(protocol: JudgingProtocol) -> tuple[PromptTemplate, ...]:
    """The prompts of a strategy whose instruction is read from the study's paper."""
    if not isinstance(getattr(protocol, "wording", None), OriginalPairs):
        return ()
    return tuple(t for t in templates_of(protocol) if t.name in _PRINTED and not t.ours)


def reworded(
    experiment: str, wording: StudyWording, conditions: Sequence[Condition]
) -> tuple[Condition, ...]:
    """The conditions, each under every wording where ``wording=both``.

    Study A's prompt that scores one answer has eight bundled wordings; others have one.
    """
    if wording.kind != "both":
        return tuple(conditions)
    levels = ["original", "paraphrase"]
    if experiment in _SCORED:
        levels += [name for name in bundled_prompts() if name.startswith("pointwise_")]
    return tuple(
        replace(c, factors={**c.factors, "wording": level}) for level in levels for c in conditions
    )


def in_wording(
    parameters: CommonParameters, wording: StudyWording, condition: Condition
) -> CommonParameters:
    """The parameters under which a condition's wording is the prompt."""
    level = condition.factors.get("wording", "") if wording.kind == "both" else ""
    return parameters.changed(prompt=level) if level in bundled_prompts() else parameters


def original_protocol(
    protocol: JudgingProtocol, wording: StudyWording, factors: Mapping[str, str]
) -> JudgingProtocol:
    """The protocol with the study's own requests instead of its prompts.

    Parameters
    ----------
    protocol : JudgingProtocol
    wording : StudyWording
    factors : mapping
        The condition's levels.
    """
    if wording.texts is None or factors.get("wording", "original") != "original":
        return protocol
    if hasattr(protocol, "calls"):
        return _with_pairs(protocol, wording.texts)
    return OriginalProtocol(protocol, wording.texts, factors)


def _with_pairs(protocol: Any, texts: StudyTexts) -> JudgingProtocol:
    given: Wording = protocol.wording
    if given.orders == "balanced":
        raise InputError(
            "orders=balanced: with wording=original every candidate keeps its position. Say "
            "orders=ab."
        )
    values = {name: getattr(given, name) for name in given.__dataclass_fields__}
    own = OriginalPairs(**{**values, "orders": "ab"}, texts=texts)
    inner = getattr(protocol, "strategy", None)
    if isinstance(inner, PairStrategy):
        protocol = replace(protocol, strategy=replace(inner, wording=own))
    original: JudgingProtocol = replace(protocol, wording=own)
    return original


def first_requests(
    protocols: Mapping[Any, JudgingProtocol], units: Mapping[Any, Sequence[Unit]]
) -> dict[Any, StudyRequest]:
    """The study's request for the first item of each condition that sends one."""
    requests: dict[Any, StudyRequest] = {}
    for condition, protocol in protocols.items():
        unit = units[condition][0]
        if isinstance(protocol, OriginalProtocol):
            requests[condition] = protocol.request(unit)
        elif isinstance(own := getattr(protocol, "wording", None), OriginalPairs):
            requests[condition] = own.request(unit)
    return requests


def wording_statement(wording: StudyWording, requests: Mapping[Any, StudyRequest]) -> str:
    """One sentence on whose words the prompts are: for dry run, screen, report and MLflow.

    Parameters
    ----------
    wording : StudyWording
    requests : mapping
        From `first_requests`.

    Returns
    -------
    str
        Empty where no study is replicated.

    Examples
    --------
    >>> wording_statement(StudyWording(kind="paraphrase"), {})[:48]
    'Prompts: paraphrases written for judgestats, not'
    """
    if wording.kind == "paraphrase":
        return _PARAPHRASE
    places = list(dict.fromkeys(request.source for request in requests.values()))
    if not places:
        return ""
    rest = ""
    if wording.texts and wording.texts.study == "cce":
        unpublished = "long, criteria, plan, aggregate, removal, key points"
        if wording.texts.paper:
            unpublished = unpublished.removesuffix(", removal, key points")
            printed = [wording.texts.request(method, {}).source for method in _PRINTED.values()]
            rest = (
                f" Instructions of removal and key points: the paper's, read from "
                f"{'; '.join(printed)}. The judgment follows them, between our marks."
            )
        rest += f" Prompts that the study does not publish ({unpublished}) are paraphrases."
    if wording.kind == "both":
        rest += " Conditions of another wording have paraphrases written for judgestats."
    return f"Prompts: the study's text, read from {'; '.join(places)}.{rest}"
