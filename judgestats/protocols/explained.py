"""Verdicts with reasons, worked examples, and prompts for text instead of a verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import Any, ClassVar

from judgestats.errors import InputError
from judgestats.files.text import decode_json
from judgestats.items.records import Item
from judgestats.protocols import replies
from judgestats.protocols.base import Prompted, ReplyMode, ReplySchema, Scale, Status, Unit, Verdict
from judgestats.protocols.replies.decision import is_unusable
from judgestats.protocols.template import PromptTemplate, bare_texts, framed_text, joined_texts


def explained_schema(
    name: str, description: str, verdict: Mapping[str, Any], *, called: str, reasoning: str
) -> ReplySchema:
    """A verdict, and its reasons where they are asked for, in the order asked for.

    Parameters
    ----------
    name, description : str
        Of the tool.
    verdict : mapping
        The verdict's own schema: a number is the field ``score``, a word ``choice``.
    called : str
        What the reasons are for: score, choice, verdict.
    reasoning : {"none", "before", "after"}

    Returns
    -------
    ReplySchema

    Examples
    --------
    >>> said = explained_schema("t", "d", {"type": "integer"}, called="score", reasoning="before")
    >>> list(said.schema["properties"])
    ['explanation', 'score']
    """
    field = "score" if verdict["type"] == "integer" else "choice"
    own = {field: dict(verdict)}
    explain = {"explanation": {"type": "string", "description": f"The reasons for the {called}."}}
    fields = {"none": own, "before": explain | own, "after": own | explain}[reasoning]
    return ReplySchema(name=name, description=description, schema=object_schema(fields))


def object_schema(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON schema of an object with all of these fields and no other."""
    return {
        "type": "object",
        "properties": dict(fields),
        "required": list(fields),
        "additionalProperties": False,
    }


def reference_text(item: Item) -> str:
    """The reference answer of an item under a heading; empty where there is none."""
    return f"[Reference answer]\n{item.reference[-1]}" if item.reference else ""


def reply_words(
    mode: ReplyMode, verdict: str, reasoning: str, *, schema: str, tool: str, text: str
) -> str:
    """Whether and when the judge is to explain itself, and the form of the reply in a mode.

    Examples
    --------
    >>> reply_words(ReplyMode.TOOL, "score", "none", schema="", tool="Call it.", text="")
    'Reply with the score only. Call it.'
    """
    how = {ReplyMode.JSON_SCHEMA: schema, ReplyMode.TOOL: tool, ReplyMode.TEXT: text}[mode]
    when = {
        "none": f"Reply with the {verdict} only.",
        "before": f"Think step by step: first explain your judgment, then give the {verdict}.",
        "after": f"First give the {verdict}, then explain it.",
    }[reasoning]
    return f"{when} {how}"


def field_names(schema: ReplySchema, between: str = " and ") -> str:
    """The names of a reply's fields in quotes, as a prompt lists them."""
    return between.join(f'"{name}"' for name in schema.schema["properties"])


def prompted(
    template: PromptTemplate,
    values: Mapping[str, str],
    *,
    mode: ReplyMode,
    schema: ReplySchema,
    seal: str = "",
) -> Prompted:
    """A template filled, with the reply's schema where the mode has one."""
    return Prompted(
        messages=template.ask(values, seal=seal),
        mode=mode,
        prompt_sha=template.sha,
        instruction=template.instruction(values),
        schema=None if mode is ReplyMode.TEXT else schema,
    )


_VERDICTS = ("A", "B", "tie")
_MAX_EXAMPLES = 50


@dataclass(frozen=True, kw_only=True)
class Example:
    """A pair with its verdict, as it should have been judged."""

    question: str
    response_a: str
    response_b: str
    choice: str
    explanation: str = ""


def load_examples(path: str | Path) -> tuple[Example, ...]:
    """Read examples from a JSON-lines file.

    Parameters
    ----------
    path : path
        One object a line: ``question``, ``response_a``, ``response_b``, ``choice`` (A, B or tie)
        and, if wanted, ``explanation``.

    Returns
    -------
    tuple of Example

    Raises
    ------
    InputError
        If the file is missing or a line is not of that form.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"examples: there is no file {str(path)!r}.")
    examples = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            values = decode_json(line)
            example = Example(**{k: str(v) for k, v in values.items()})
        except (ValueError, TypeError, AttributeError) as error:
            form = "question, response_a, response_b, choice and perhaps explanation"
            raise InputError(
                f"examples: {path.name}, line {number}: expected an object with {form} ({error})."
            ) from error
        if example.choice not in _VERDICTS:
            got = f"choice must be one of {', '.join(_VERDICTS)}, got {example.choice!r}"
            raise InputError(f"examples: {path.name}, line {number}: {got}.")
        examples.append(example)
    if not 1 <= len(examples) <= _MAX_EXAMPLES:
        most = f"1 to {_MAX_EXAMPLES} examples, got {len(examples)}"
        raise InputError(f"examples: {path.name} must hold {most}.")
    return tuple(examples)


def examples_text(examples: Sequence[Example], *, reasoning: str) -> str:
    """The examples as a block of the prompt; each is between its own marks.

    Parameters
    ----------
    examples : sequence of Example
    reasoning : {"none", "before", "after"}
        Where the explanation stands, as in the reply that is asked for.
    """
    blocks = []
    for number, e in enumerate(examples, start=1):
        reasons = [f"Explanation: {e.explanation}"] if e.explanation and reasoning != "none" else []
        verdict = [f"Verdict: {e.choice}"]
        order = reasons + verdict if reasoning == "before" else verdict + reasons
        answers = [f"Assistant A: {e.response_a}", f"Assistant B: {e.response_b}"]
        text = "\n".join([f"Question: {e.question}", *answers, *order])
        blocks.append(framed_text(f"Example {number}", text))
    return "\n\n".join(blocks)


GUIDELINES = ("none", "anchors", "words", "paragraphs", "subscores")
"""The bundled levels, from nothing to a sum of sub-scores."""
GUIDELINE_SCALE = Scale(1, 10)
"""What the bundled levels are written for."""

_PLACE = "{guideline}"
_MAX_CHARS = 50_000


def guideline_level(name_or_path: str) -> str:
    """What a level is called in results: a bundled name as it is, a file by its stem.

    Examples
    --------
    >>> guideline_level("texts/my rubric.txt")
    'my rubric'
    """
    return name_or_path if name_or_path in GUIDELINES else Path(name_or_path).stem


def guideline_text(name_or_path: str, *, scale: Scale | None = None) -> str:
    """The text of a guideline: bundled, by name, or a user's own file.

    Parameters
    ----------
    name_or_path : str
    scale : Scale, optional
        The scale in use. The bundled texts speak of 1-10.

    Returns
    -------
    str

    Raises
    ------
    InputError
        If there is no such guideline or file, or it does not fit the scale.

    Examples
    --------
    >>> guideline_text("none")
    ''
    >>> "mediocre" in guideline_text("anchors")
    True
    """
    if name_or_path in GUIDELINES:
        if name_or_path != "none" and scale is not None and scale != GUIDELINE_SCALE:
            why = f"is written for the scale 1-10, not {scale}"
            raise InputError(
                f"guidelines: {name_or_path!r} {why}. Use scale=1-10, or give your own text files."
            )
        folder = resources.files("judgestats.protocols").joinpath("guidelines")
        return folder.joinpath(f"{name_or_path}.txt").read_text(encoding="utf-8").strip()
    path = Path(name_or_path)
    if not path.is_file():
        bundled = f"no bundled guideline of that name (there are: {', '.join(GUIDELINES)})"
        raise InputError(f"guidelines: there is no file {name_or_path!r}, and {bundled}.")
    try:
        text = path.read_text(encoding="utf-8").strip()
    except UnicodeDecodeError as error:
        raise InputError(f"guidelines: {name_or_path} is not UTF-8 text ({error}).") from error
    if not text or len(text) > _MAX_CHARS:
        held = f"1 to {_MAX_CHARS} characters, got {len(text)}"
        raise InputError(f"guidelines: {name_or_path} must hold {held}. For none, write none.")
    return text


def with_guideline(template: PromptTemplate, text: str) -> PromptTemplate:
    """The prompt with a guideline inserted, so that the prompt's hash distinguishes levels.

    Raises
    ------
    InputError
        If the prompt has no ``{guideline}``.

    Examples
    --------
    >>> t = PromptTemplate(text="{question} {response} {guideline}", name="mine")
    >>> with_guideline(t, "10 is best.").text
    '{question} {response} 10 is best.'
    """
    if "guideline" not in template.placeholders:
        why = "the text lacks {guideline}, so all guidelines would ask alike"
        raise InputError(f"prompt {template.name!r}: {why}. Put {{guideline}} where it belongs.")
    return replace(template, text=template.text.replace(_PLACE, text))


@dataclass(frozen=True, kw_only=True)
class Writing:
    """Ask for a text. What is read is ``explanation``; there is neither score nor choice.

    Parameters
    ----------
    name : str
        The stage.
    template : PromptTemplate
    what : str
        Name of the reply's field, such as ``plan``.

    Examples
    --------
    >>> w = Writing(name="plan", template=PromptTemplate.bundled("evaluation_plan"), what="plan")
    >>> w.read(None, ReplyMode.JSON_SCHEMA, '{"plan": "Check the sum."}').explanation
    'Check the sum.'
    >>> w.read(None, ReplyMode.TEXT, "  ").status.value
    'unparseable'
    """

    name: str
    template: PromptTemplate
    what: str

    def units(self, items: object) -> tuple[Unit, ...]:
        """None: a text is asked for as a stage of a strategy, which says of what."""
        del items
        return ()

    def schema(self) -> ReplySchema:
        """The reply's JSON schema, also the parameters of the tool ``submit_<what>``."""
        text = {"type": "string", "description": f"The {self.what}."}
        return ReplySchema(
            name=f"submit_{self.what}",
            description=f"Submit the {self.what}.",
            schema=object_schema({self.what: text}),
        )

    def prompt(
        self, unit: Unit, mode: ReplyMode, *, more: Mapping[str, str] | None = None
    ) -> Prompted:
        """The prompt; `more` fills the placeholders that a unit does not."""
        item = unit.item
        how = {
            ReplyMode.JSON_SCHEMA: f'Reply as a JSON object with the field "{self.what}".',
            ReplyMode.TOOL: f"Call the tool submit_{self.what}.",
            ReplyMode.TEXT: f"Reply with the {self.what} only.",
        }[mode]
        values = {
            **bare_texts(item),
            "context": joined_texts(*item.turns[:-1], item.context),
            "reference": reference_text(item),
            "reply": how,
            **(more or {}),
        }
        return prompted(self.template, values, mode=mode, schema=self.schema())

    def read(
        self, unit: Unit | None, mode: ReplyMode, text: str, *, finish_reason: str = ""
    ) -> Verdict:
        """The text in a reply, or the reason why there is none.

        A reply that was cut, refused or left empty is not text: half an analysis could end just
        before what matters.
        """
        del unit  # read the same way for every unit
        if is_unusable(text, finish_reason):
            return replies.no_verdict(text, finish_reason, "the reply is too long")
        if mode is not ReplyMode.TEXT and text.lstrip().startswith("{"):
            reply = replies.reply_object(text, self.what, tool=self.schema().name)
            written = reply.text(self.what).strip() if reply is not None else ""
            missing = f"the reply's JSON has no text {self.what!r}"
        else:
            written, missing = replies.strip_reasoning(text.strip()), "the reply is empty"
        if not written:
            return replies.no_verdict(text, finish_reason, missing)
        return Verdict(status=Status.OK, explanation=written)


_OFFERED = ("question", "context", "passage")


def answer_status(text: str, *, finish_reason: str = "") -> tuple[Status, str]:
    """What became of an answer, and why where it is not whole.

    The answer stays what the model said, also where it is cut off or empty: its status is data.

    Parameters
    ----------
    text : str
    finish_reason : str
        As the server reported it.

    Returns
    -------
    tuple of Status and str

    Examples
    --------
    >>> answer_status("It is 4.")[0].value, answer_status("It is", finish_reason="length")[0].value
    ('ok', 'truncated')
    """
    if replies.is_withheld(finish_reason):
        return Status.REFUSED, f"the server ended the answer with {finish_reason!r}"
    if replies.is_cut(finish_reason):
        return Status.TRUNCATED, "the answer ends at the token limit"
    if not text.strip():
        return Status.UNPARSEABLE, "the answer is empty"
    return Status.OK, ""


@dataclass(frozen=True, kw_only=True)
class AnswerPrompt:
    """Ask a model to answer an item.

    Parameters
    ----------
    template : PromptTemplate
        Must hold ``{question}``; ``{context}`` (or ``{passage}``) is the item's passage, at the
        first turn. Every turn of the question is put with it; earlier turns and their answers
        precede as a conversation.

    Examples
    --------
    >>> item = Item(id="q", cluster="q", turns=("2+2?", "And doubled?"), responses=())
    >>> [m["role"] for m in AnswerPrompt().prompt(item, ("4",), ReplyMode.TEXT).messages]
    ['user', 'assistant', 'user']
    """

    name: ClassVar[str] = "answering"

    template: PromptTemplate = field(default_factory=lambda: PromptTemplate.bundled("step_by_step"))

    def __post_init__(self) -> None:
        self.template.require({"question"}, offered=_OFFERED)

    def prompt(self, item: Item, answers: tuple[str, ...], mode: ReplyMode) -> Prompted:
        """The request for the next answer.

        Parameters
        ----------
        item : Item
        answers : tuple of str
            The model's own answers to the earlier turns.
        mode : ReplyMode
            Answers are plain text, whatever it says.
        """
        del mode
        messages: list[dict[str, str]] = []
        for place in range(len(answers) + 1):
            context = item.context if place == 0 else ""
            given = {"question": item.turns[place], "context": context, "passage": context}
            asked = self.template.fill(given)
            messages += [m for m in asked if place == 0 or m["role"] != "system"]
            if place < len(answers):
                messages.append({"role": "assistant", "content": answers[place]})
        return Prompted(messages=tuple(messages), mode=ReplyMode.TEXT, prompt_sha=self.template.sha)
