"""Our judges as Inspect's: a scorer for new evaluations, and for logs that are scored again."""

from __future__ import annotations

from typing import Any

try:
    from inspect_ai.scorer import CORRECT, INCORRECT, Score, Scorer, Target, mean, stderr
    from inspect_ai.scorer import scorer as registered
    from inspect_ai.solver import TaskState
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "judgestats.inspect_ai needs Inspect: pip install 'judgestats[inspect]'.", name="inspect_ai"
    ) from error

from click import ClickException

from judgestats.collection.single_answers import AnswerJudge, AnswerRecord
from judgestats.errors import InputError, JudgestatsError

_KEY = "judgestats"
"""Of a score's metadata, as the reader of logs looks for it."""


class ScorerError(JudgestatsError, ClickException):
    """A scorer cannot be made as it was asked for.

    Of a `ValueError`, as `InputError` is, `inspect score` would say no more than that the scorer
    could not be loaded. Its commands are of Click, which print this sentence and end with code 2.
    """


@registered(  # type: ignore[untyped-decorator, unused-ignore]
    metrics=[mean(), stderr()], name="judged"
)
def scorer(judge: str = "", **judging: Any) -> Scorer:
    """A judge of judgestats as a scorer of Inspect, which lists it as ``judgestats/judged``.

    A reply that cannot be read, or none, is an unscored sample with its reason, never a number.
    Scoring the same log again repeats the judgment of the same answers; ``judgestats analyze LOG``
    audits what it said.

    Parameters
    ----------
    judge : str
        As ``judges=`` takes one: a model, ``MODEL@ADDRESS``, ``module:function``, ``sim-typical``,
        or a YAML file of one judge.
    **judging
        As `judgestats.collection.single_answers.AnswerJudge` takes them: ``protocol``
        (``pointwise``, ``pass_fail``, ``correctness``, which is shown the sample's target),
        ``prompt``, ``scale``, ``reasoning``, ``temperature``, ``settings``, ``base_url``,
        ``journal`` ...

    Returns
    -------
    Scorer
        A score, or of pass and fail Inspect's ``C`` and ``I``.

    Raises
    ------
    ScorerError
        No judge is given, or there is no such judge, protocol or prompt.
    """
    if not judge:
        raise ScorerError("judge: say which, as in -S judge=gpt-4o-mini or scorer('my:fun').")
    try:
        asked = AnswerJudge(judge, **judging)
    except InputError as error:
        raise ScorerError(str(error)) from error

    async def score(state: TaskState, target: Target) -> Score:
        answer = state.output.completion
        judged = await asked.judge(
            state.input_text,
            answer,
            reference=target.text.strip(),
            earlier=_earlier(state, judge=asked.name, protocol=asked.protocol.name),
        )
        return _score(judged, judge=asked.name, answer=answer)

    return score


def _earlier(state: TaskState, *, judge: str, protocol: str) -> int:
    """How many scores of this judge a sample has, where its log is scored again."""
    origins = [(score.metadata or {}).get(_KEY) or {} for score in (state.scores or {}).values()]
    return sum(o.get("judge") == judge and o.get("protocol") == protocol for o in origins)


def _score(judged: AnswerRecord, *, judge: str, answer: str) -> Score:
    common: dict[str, Any] = {
        "answer": answer,
        "explanation": judged.explanation,
        "metadata": {_KEY: {"judge": judge, **judged.origin, **judged.usage}},
    }
    if judged.value is None:
        return Score.unscored(reason=judged.why_none, **common)
    if isinstance(judged.value, bool):
        return Score(value=CORRECT if judged.value else INCORRECT, **common)
    return Score(value=judged.value, **common)
