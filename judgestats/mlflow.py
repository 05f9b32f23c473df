"""Our judges as MLflow's: a scorer for ``mlflow.genai.evaluate``."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mlflow.entities import AssessmentError, AssessmentSource, Feedback
from mlflow.genai.scorers import Scorer
from pydantic import PrivateAttr

from judgestats.collection.single_answers import AnswerJudge, AnswerRecord
from judgestats.errors import InputError

_QUESTIONS = ("question", "query", "prompt", "input", "request")
_ANSWERS = ("response", "answer", "output", "content", "text")
_REFERENCES = ("expected_response", "reference", "answer", "expected_facts")
_META = "mlflow.assessment."


def scorer(
    judge: str,
    *,
    name: str = "",
    question: str | Callable[[Any], str] = "",
    answer: str | Callable[[Any], str] = "",
    aggregations: list[Any] | None = None,
    **judging: Any,
) -> JudgeScorer:
    """A judge of judgestats as a scorer of ``mlflow.genai.evaluate``.

    Its verdicts are feedback of the source ``LLM_JUDGE``: a score, or true and false for pass and
    fail; a reply that cannot be read is an error with its reason, never a number. Evaluating the
    same answers again with one scorer repeats the judgment; ``judgestats analyze RUN`` audits what
    it said.

    Parameters
    ----------
    judge : str
        As ``judges=`` takes one: a model, ``MODEL@ADDRESS``, ``module:function``, ``sim-typical``,
        or a YAML file of one judge.
    name : str
        Of the feedback; the protocol's where it is empty.
    question, answer : str or function, optional
        The member of ``inputs`` (``outputs``) that holds the text, or a function that takes it
        out. Without one a text is itself, and of a mapping the only text, or what is called
        question, query, prompt, input, request or messages (response, answer, output, content,
        text, choices), is taken. ``context`` of the inputs is shown as such; the true answer is
        ``expected_response``, reference, answer or expected_facts of the expectations.
    aggregations : list, optional
        As MLflow's scorers take them.
    **judging
        As `judgestats.collection.single_answers.AnswerJudge` takes them: ``protocol``
        (``pointwise``, ``pass_fail``, ``correctness``), ``prompt``, ``scale``, ``reasoning``,
        ``temperature``, ``settings``, ``base_url``, ``journal`` ...

    Returns
    -------
    JudgeScorer

    Raises
    ------
    InputError
        No such judge, protocol or prompt.

    Examples
    --------
    >>> quality = scorer("sim-discerning", scale="1-5")
    >>> said = quality(inputs={"question": "2+2?"}, outputs="It is 4.")
    >>> said.name, said.source.source_id, 1 <= said.value <= 5
    ('pointwise', 'sim-discerning', True)
    """
    asked = AnswerJudge(judge, **judging)
    made = JudgeScorer(name=name or asked.protocol.name, aggregations=aggregations)
    made.asks(asked, question=question, answer=answer)
    return made


class JudgeScorer(Scorer):
    """What `scorer` makes; MLflow calls it from as many threads as it likes."""

    _judge: AnswerJudge = PrivateAttr()
    _question: str | Callable[[Any], str] = PrivateAttr(default="")
    _answer: str | Callable[[Any], str] = PrivateAttr(default="")
    _loop: asyncio.AbstractEventLoop | None = PrivateAttr(default=None)
    _starting: threading.Lock = PrivateAttr(default_factory=threading.Lock)

    def asks(
        self,
        judge: AnswerJudge,
        *,
        question: str | Callable[[Any], str] = "",
        answer: str | Callable[[Any], str] = "",
    ) -> None:
        """Take the judge that is asked, and where question and answer stand."""
        self._judge, self._question, self._answer = judge, question, answer

    # MLflow hands over what the signature names, and nothing else
    def __call__(  # type: ignore[override]
        self, *, inputs: Any = None, outputs: Any = None, expectations: Any = None
    ) -> Feedback:
        """The judge's feedback on one row."""
        asked = asyncio.run_coroutine_threadsafe(
            self._judge.judge(
                _text_of(inputs, self._question, _QUESTIONS, "inputs"),
                _text_of(outputs, self._answer, _ANSWERS, "outputs"),
                reference=_reference(expectations),
                context=_plain(inputs.get("context")) if isinstance(inputs, Mapping) else "",
            ),
            self._running(),
        )
        return _feedback(asked.result(), name=self.name, judge=self._judge.name)

    def _running(self) -> asyncio.AbstractEventLoop:
        """The event loop in which the judge lives, in a separate thread."""
        with self._starting:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(
                    target=self._loop.run_forever, name="judgestats-scorer", daemon=True
                ).start()
            return self._loop


def _feedback(judged: AnswerRecord, *, name: str, judge: str) -> Feedback:
    metadata = {f"judgestats.{k}": v for k, v in judged.origin.items()}
    for key, column in (
        ("judgeInputTokens", "tokens_in"),
        ("judgeOutputTokens", "tokens_out"),
        ("judgeCost", "cost_usd"),
    ):
        if column in judged.usage:
            metadata[_META + key] = f"{judged.usage[column]:g}"
    error = None
    if judged.value is None:
        error = AssessmentError(
            error_code=judged.verdict.status.value.upper(), error_message=judged.why_none
        )
    return Feedback(
        name=name,
        value=judged.value,
        error=error,
        rationale=judged.explanation or None,
        source=AssessmentSource(source_type="LLM_JUDGE", source_id=judge),
        metadata=metadata,
    )


def _text_of(value: Any, where: str | Callable[[Any], str], names: Sequence[str], what: str) -> str:
    """The text to judge in what MLflow passes.

    Examples
    --------
    >>> _text_of({"query": "2+2?", "user": "me"}, "", _QUESTIONS, "inputs")
    '2+2?'
    >>> _text_of({"choices": [{"message": {"content": "4"}}]}, "", _ANSWERS, "outputs")
    '4'
    """
    if callable(where):
        return where(value)
    if where:
        if not isinstance(value, Mapping) or where not in value:
            there = (
                f"There are: {', '.join(map(str, value))}." if isinstance(value, Mapping) else ""
            )
            raise InputError(f"the {what} have no member {where!r}. {there}".rstrip())
        return _plain(value[where])
    if not isinstance(value, Mapping):
        return _plain(value)
    for name in names:
        if name in value:
            return _plain(value[name])
    if isinstance(value.get("messages"), list):
        return _plain(value["messages"])
    choices = value.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], Mapping):
        return _plain(choices[0].get("message", choices[0]))
    texts = [v for v in value.values() if isinstance(v, str)]
    return texts[0] if len(value) == 1 and texts else _plain(value)


def _plain(value: Any) -> str:
    """A value as text: a message's content, messages one below the other, other things as JSON."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, Mapping) and isinstance(value.get("content"), str):
        return str(value["content"])
    if (
        isinstance(value, list)
        and value
        and all(isinstance(m, Mapping) and {"role", "content"} <= set(m) for m in value)
    ):
        if len(value) == 1:
            return str(value[0]["content"])
        return "\n\n".join(f"{m['role']}: {m['content']}" for m in value)
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


def _reference(expectations: Any) -> str:
    """The true answer among the expectations; empty where there is none."""
    if not isinstance(expectations, Mapping):
        return ""
    value = next((expectations[n] for n in _REFERENCES if expectations.get(n)), "")
    return "\n".join(map(_plain, value)) if isinstance(value, list) else _plain(value)
