"""The exact distribution of a simulated judge's verdicts: for the server, and to check studies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

from judgestats.protocols.pairwise import unpadded
from judgestats.simulated.judges import (
    SimulatedJudge,
    author_of,
    is_elsewhere,
    normal_of,
    quality_of,
    seen_in,
    simulated_judge,
    uniform_of,
)

_DEFAULT_TEMPERATURE = 1.0
_COLDEST = 1e-3
_USUAL_LENGTH = 600
_PASSES_FROM = 0.5
_BANK_LENGTH = 250


class Truth:
    """What a simulated judge's verdicts are drawn from.

    Parameters
    ----------
    judge : SimulatedJudge
    """

    def __init__(self, judge: SimulatedJudge) -> None:
        self.judge = judge

    def temperature(
        self, temperature: float | None, reasoning: str = "none", guided: bool = False
    ) -> float:
        """The temperature at which a verdict is drawn; None is the server's default, 1."""
        judge = self.judge
        if not judge.temperature_matters:
            return 1.0
        asked = _DEFAULT_TEMPERATURE if temperature is None else temperature
        factor = {"before": judge.reasoning_before, "after": judge.reasoning_after}
        return asked * factor.get(reasoning, 1.0) * (judge.guided if guided else 1.0)

    def centre(self, question: str, answer: str, note: str = "", wording: str = "") -> float:
        """Where the scores of an answer are centred, in points of a 1-10 scale."""
        judge, whole = self.judge, answer
        seen = seen_in(_strip_blocks(question), answer)
        answer = seen.text
        centre = judge.floor + judge.span * float(seen.quality**judge.curve) + judge.severity
        centre += judge.moved_by.get(seen.change, 0.0) + judge.moved_by.get(note, 0.0)
        if judge.wording:
            centre += judge.wording * normal_of("wording", judge.name, wording, answer.strip())
        centre += judge.question_effect * normal_of("question", judge.name, _strip_blocks(question))
        centre += judge.answer_effect * normal_of("answer", judge.name, answer.strip())
        return centre + judge.verbosity * _log_length(whole) + self._favour(answer)

    def _favour(self, answer: str) -> float:
        """Points that it adds to the answers of the author it favours."""
        if not self.judge.favours:
            return 0.0
        return self.judge.favour * float(author_of(answer) == self.judge.favours)

    def score_probabilities(
        self,
        question: str,
        answer: str,
        *,
        temperature: float | None,
        low: int = 1,
        high: int = 10,
        reasoning: str = "none",
        guided: bool = False,
        note: str = "",
        wording: str = "",
        turned: bool = False,
        worded: bool = False,
    ) -> dict[int, float]:
        """Probability of each score of the scale, given that there is a verdict.

        Parameters
        ----------
        question, answer : str
            As shown.
        temperature : float or None
        low, high : int
            The scale.
        reasoning : {"none", "before", "after"}
        guided : bool
            Whether a scoring guideline is given.
        note : str
            The variant of a probe whose note is shown.
        wording : str
            The system message.
        turned, worded : bool
            Whether the lowest number is the best, and whether words stand for numbers.

        Returns
        -------
        dict of int to float

        Examples
        --------
        >>> p = truth("sim-typical").score_probabilities("Why?", "Because.", temperature=0.0)
        >>> max(p.values())
        1.0
        """
        judge = self.judge
        step = 9 / (high - low)  # points of a 1-10 scale from one score to the next
        text = seen_in(_strip_blocks(question), answer).text.strip()
        centre = self.centre(question, answer, note, wording)
        scale = "words" if worded else "turned" if turned else f"{low}-{high}"
        if judge.scale_effect and scale != "1-10":
            centre += judge.scale_effect * normal_of("scale", judge.name, scale, text)
        centre = min(max(centre, 1.0), 10.0)
        spread = judge.noise_spread
        variance = judge.noise * math.exp(
            spread * normal_of("variance", judge.name, text) - spread**2 / 2
        )
        lapses = normal_of("lapse", judge.name, text) < _quantile(judge.lapse_share)
        logits = {}
        for score in range(low, high + 1):
            distance = 1 + (score - low) * step - centre
            logits[score] = -(distance**2) / (2 * variance)
        if lapses:
            logits[low] = max(logits.values()) + math.log(judge.lapse_weight)
        chances = _softmax(logits, self.temperature(temperature, reasoning, guided))
        if turned and uniform_of("turned", judge.name, text) >= judge.forgets_turn:
            return {low + high - score: p for score, p in chances.items()}
        return chances

    def variance(
        self,
        question: str,
        answer: str,
        *,
        temperature: float | None,
        low: int = 1,
        high: int = 10,
        reasoning: str = "none",
        guided: bool = False,
    ) -> float:
        """Variance of repeated scores of one answer: what a within-item variance estimates."""
        chances = self.score_probabilities(
            question,
            answer,
            temperature=temperature,
            low=low,
            high=high,
            reasoning=reasoning,
            guided=guided,
        )
        mean = sum(score * p for score, p in chances.items())
        return sum((score - mean) ** 2 * p for score, p in chances.items())

    def choice_probabilities(
        self,
        answers: Sequence[str],
        *,
        temperature: float | None,
        tie: bool = False,
        reasoning: str = "none",
        crowd: int = 0,
        question: str = "",
        note: str = "",
        named: int = 0,
        wording: str = "",
    ) -> list[float]:
        """Probability of each option in the order shown, and of a tie (last) where it is offered.

        Parameters
        ----------
        answers : sequence of str
            As shown.
        temperature : float or None
        tie : bool
            Whether a tie may be named.
        reasoning : {"none", "before", "after"}
        crowd : int
            Crowd judgments shown with the answers.
        question : str
            As shown; an answer to another question of the bundled bank has no value.
        note : str
            The probe whose note is shown.
        named : int
            The place of the answer that the note names.
        wording : str
            The system message.

        Examples
        --------
        >>> t = truth("sim-always-first")
        >>> t.choice_probabilities(["a", "b"], temperature=1.0)
        [1.0, 0.0]
        """
        judge = self.judge
        count = len(answers)
        if judge.always_first:
            return [1.0] + [0.0] * (count - 1 + tie)
        sharpness = judge.discrimination * (1 + judge.crowd_gain * math.log2(1 + crowd))
        logits: dict[int, float] = {}
        for place, shown in enumerate(answers):
            answer = unpadded(shown)
            seen = 0.0 if is_elsewhere(_strip_blocks(question), answer) else quality_of(answer)
            seen += judge.moved_by.get(note, 0.0) / 9 * (place == named)
            seen += judge.choice_effect * normal_of("choice", judge.name, answer.strip())
            seen += judge.verbosity / 9 * _log_length(shown) + self._favour(answer) / 9
            if judge.wording:
                seen += judge.wording / 9 * normal_of("wording", judge.name, wording, answer)
            first = 1 - place / (count - 1) if count > 1 else 0.0
            logits[place] = sharpness * seen + judge.position_bias * first
            logits[place] += judge.recency * (count > 2 and place == count - 1)
        if tie:
            logits[count] = sum(logits.values()) / count + judge.tie
        return list(_softmax(logits, self.temperature(temperature, reasoning)).values())

    def pass_probability(
        self, answer: str, *, temperature: float | None, reasoning: str = "none"
    ) -> float:
        """Probability of the verdict pass, given that there is one.

        Parameters
        ----------
        answer : str
            As shown.
        temperature : float or None
        reasoning : {"none", "before", "after"}

        Examples
        --------
        >>> 0 <= truth("sim-stated").pass_probability("Because.", temperature=1.0) <= 1
        True
        """
        judge, text = self.judge, unpadded(answer).strip()
        heat = self.temperature(temperature, reasoning)
        if not judge.sensitivity:
            seen = quality_of(text) + judge.choice_effect * normal_of("choice", judge.name, text)
            seen += judge.verbosity / 9 * _log_length(answer) + self._favour(text) / 9
            return _softmax({0: judge.discrimination * (seen - _PASSES_FROM), 1: 0.0}, heat)[0]
        rate = judge.sensitivity if quality_of(text) >= _PASSES_FROM else 1 - judge.specificity
        logit = math.log(rate / (1 - rate)) + judge.length_bias * _log_length(answer, _BANK_LENGTH)
        chance = 1 / (1 + math.exp(-logit))
        fixed = float(uniform_of("pass", judge.name, text) < chance)
        anew = min(1.0, judge.waver * heat)
        return (1 - anew) * fixed + anew * chance


@lru_cache(maxsize=64)
def truth(judge: str) -> Truth:
    """The truth of a simulated judge by name.

    Examples
    --------
    >>> t = truth("sim-null")
    >>> low = t.variance("Why?", "Because.", temperature=0.0)
    >>> low == t.variance("Why?", "Because.", temperature=1.0)
    True
    """
    return Truth(simulated_judge(judge))


def _softmax(logits: dict[int, float], temperature: float) -> dict[int, float]:
    top = max(logits.values())
    if temperature < _COLDEST:
        best = next(k for k, v in logits.items() if v == top)
        return {k: float(k == best) for k in logits}
    weights = {k: math.exp((v - top) / temperature) for k, v in logits.items()}
    total = sum(weights.values())
    return {k: w / total for k, w in weights.items()}


def _quantile(share: float) -> float:
    from statistics import NormalDist

    return NormalDist().inv_cdf(share) if 0 < share < 1 else -math.inf


def _log_length(answer: str, usual: int = _USUAL_LENGTH) -> float:
    return math.log(max(len(answer), 20) / usual)


def _strip_blocks(question: str) -> str:
    """The question up to the next framed block, as the server finds it in a prompt."""
    return question.split("\n\n[", 1)[0].strip()
