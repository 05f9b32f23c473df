"""Simulated judges, the quality of answers, and the exact distribution of verdicts."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from judgestats.errors import InputError
from judgestats.protocols.pairwise import unpadded
from judgestats.protocols.probes.edits import ALONE, KEYS, OFF_TOPIC, strip_injection

if TYPE_CHECKING:
    from judgestats.items.records import Response


@dataclass(frozen=True)
class SimulatedJudge:
    """The parameters of a simulated judge. Points are points of a 1-10 scale.

    Scores. An answer of quality q is centred at
    ``floor + span * q ** curve + severity + question_effect * z1 + answer_effect * z2 +
    verbosity * log(length / 600)`` points, with z1 and z2 standard normal, fixed per judge and
    question or answer. A score k is drawn with probability proportional to
    ``exp(-(k - centre)**2 / (2 * variance * T))``: a language model's softmax over the scale's
    points, at temperature T. At T = 0 it is the nearest point. The variance itself varies
    from answer to answer, log-normally with mean `noise` and log standard deviation
    `noise_spread`, so that, averaged over answers, the within-item variance is close to
    ``noise * T``.

    Choices. Option i has the logit ``discrimination * (q_i + choice_effect * z_i + verbosity / 9 *
    log(length_i / 600)) + position_bias * (1 - i / (k - 1))``, the last of three or more
    `recency` more; a tie, where it may be named, has the mean logit plus `tie`. The choice is a
    softmax of the logits at temperature T.

    Pass or fail. Where `sensitivity` is stated, an answer of quality .5 or more passes with the
    chance `sensitivity`, any other with ``1 - specificity``; `length_bias` times
    ``log(length / 250)`` is added to the chance's logit. The verdict is drawn once per judge and
    answer; at temperature T a share `waver` * T of the judgments draws again, so that the rates
    hold at any T. Without a stated sensitivity the logit is
    ``discrimination * (q + choice_effect * z + verbosity / 9 * log(length / 600) - .5)``, divided
    by T.

    Attributes
    ----------
    temperature_matters : bool
        If false, T = 1 whatever is asked: the null of every question about temperature.
    reasoning_before, reasoning_after : float
        Factors on T where the judge explains before, or after, its verdict.
    guided : float
        Factor on T where a scoring guideline is given.
    lapse_share, lapse_weight : float
        Share of answers on which the judge wavers between its score and the lowest one, and the
        lowest one's weight there at T = 1.
    crowd_gain : float
        Growth of `discrimination` with k crowd judgments: the factor ``1 + gain * log2(1 + k)``.
    favours : str
        An author of the bundled bank whose answers it likes better than they are.
    favour : float
        By how many points; in choices by ``favour / 9`` of quality, as `verbosity`.
    moved_by : mapping of str to float
        Points that a variant of a probe (`judgestats.protocols.probes`) adds to a score; in choices
        what a note adds to the answer that it names, by a ninth of quality a point, as `favour`.
    wording : float
        Standard deviation, in points, of what a wording of the prompt does to an answer's score;
        in choices by a ninth of quality a point.
    scale_effect : float
        Standard deviation, in points, of what another scale than 1-10 does to an answer's score.
    forgets_turn : float
        Share of answers that it scores as usual where the lowest number is the best.
    always_first : bool
        Chooses the first option, whatever it is.
    sensitivity, specificity : float
        Of a verdict of pass or fail on an answer of 250 characters; 0: not stated.
    length_bias, waver : float
        See above.
    nonresponse, malformed : float
        Rates of replies without a verdict, and of replies that break the asked-for form.
    """

    name: str
    _: KW_ONLY
    floor: float = 2.2
    span: float = 7.3
    curve: float = 0.55
    severity: float = 0.0
    question_effect: float = 0.3
    answer_effect: float = 0.5
    noise: float = 0.25
    noise_spread: float = 1.2
    temperature_matters: bool = True
    reasoning_before: float = 1.6
    reasoning_after: float = 1.05
    guided: float = 1.0
    verbosity: float = 0.0
    favours: str = ""
    favour: float = 0.0
    lapse_share: float = 0.0
    lapse_weight: float = 0.0
    discrimination: float = 12.0
    choice_effect: float = 0.05
    position_bias: float = 0.3
    recency: float = 0.0
    tie: float = -0.5
    crowd_gain: float = 0.0
    moved_by: Mapping[str, float] = field(default_factory=dict)
    wording: float = 0.0
    scale_effect: float = 0.0
    forgets_turn: float = 0.0
    always_first: bool = False
    sensitivity: float = 0.0
    specificity: float = 0.0
    length_bias: float = 0.0
    waver: float = 0.2
    nonresponse: float = 0.0
    malformed: float = 0.0


_JUDGES = (
    SimulatedJudge("sim-typical"),
    SimulatedJudge("sim-discerning", noise=0.55, noise_spread=1.4, reasoning_before=1.3,
        discrimination=18.0, position_bias=0.15),
    SimulatedJudge("sim-coarse", floor=6.7, span=2.7, curve=1.0, question_effect=0.2,
        answer_effect=0.3, noise=0.34, noise_spread=1.2, reasoning_before=1.4, lapse_share=0.02,
        lapse_weight=0.3, discrimination=6.0, position_bias=0.8),
    SimulatedJudge("sim-null", noise=0.4, temperature_matters=False, reasoning_before=1.0,
        reasoning_after=1.0),
    SimulatedJudge("sim-guided", noise=0.4, guided=1 / 3),
    SimulatedJudge("sim-positional", position_bias=2.0),
    SimulatedJudge("sim-verbose", verbosity=0.8),
    SimulatedJudge("sim-partial", favours="author-a", favour=1.5),
    SimulatedJudge("sim-swayed",
        moved_by={"citation": 0.8, "tone": 0.5, "bandwagon: high": 1.2, "author: expert": 0.7,
            "famous name": 1.0, "pair bandwagon": 1.5}, favours="author-b", favour=1.5),
    SimulatedJudge("sim-credulous",
        moved_by={"order": 9.0, "forged verdict": 9.0, "authority": 4.0, "master key": 3.5},
        position_bias=0.0, recency=1.5),
    SimulatedJudge("sim-fair", position_bias=0.0),
    SimulatedJudge("sim-parochial",
        moved_by={"nationality: Norway": 0.9, "mother tongue: English": 0.6,
            "reasoning left out": -1.2}, position_bias=0.0),
    SimulatedJudge("sim-literal",
        moved_by={"wrong reference": -2.0, "altered reference": -1.0, "no reference": 0.5,
            "translated": -0.8, "condensed": -1.1, "other tone": 0.6}, position_bias=0.0),
    SimulatedJudge("sim-touchy", wording=0.8),
    SimulatedJudge("sim-numeric", scale_effect=1.2, forgets_turn=0.2),
    SimulatedJudge("sim-always-first", always_first=True),
    SimulatedJudge("sim-noisy", noise=2.0, discrimination=4.0, nonresponse=0.02, malformed=0.02),
    SimulatedJudge("sim-unreadable", nonresponse=0.2),
    SimulatedJudge("sim-crowd", discrimination=2.5, crowd_gain=0.8),
    SimulatedJudge("sim-crowd-deaf", discrimination=2.5),
    SimulatedJudge("sim-stated", sensitivity=0.92, specificity=0.85),
    SimulatedJudge("sim-lenient", severity=0.8, verbosity=0.8, sensitivity=0.96, specificity=0.7,
        length_bias=1.2),
    SimulatedJudge("sim-blind", floor=6.0, span=0.0, answer_effect=1.5, sensitivity=0.6,
        specificity=0.4),
)  # fmt: skip
"""docs/simulated-judges.md describes each of them."""
_BY_NAME = {judge.name: judge for judge in _JUDGES}


def simulated_judges() -> tuple[str, ...]:
    """Names of the simulated judges.

    Examples
    --------
    >>> "sim-typical" in simulated_judges()
    True
    """
    return tuple(_BY_NAME)


def simulated_judge(name: str) -> SimulatedJudge:
    """The parameters of a simulated judge.

    Raises
    ------
    InputError
        Where there is none of that name.

    Examples
    --------
    >>> simulated_judge("sim-typical").noise
    0.25
    """
    if name not in _BY_NAME:
        raise InputError(
            f"simulated judge: there is none called {name!r}. There are: {', '.join(_BY_NAME)}."
        )
    return _BY_NAME[name]


_NORMAL = NormalDist()
_LOWEST, _HIGHEST = 0.15, 0.95
_STATED = re.compile(r"\(A simulated answer of quality (0\.\d\d)(?:, ([a-z ]{1,40}))?\.\)")


def uniform_of(*parts: object) -> float:
    """A number in (0, 1) fixed by the parts: the same in every process.

    Examples
    --------
    >>> uniform_of("a", 1) == uniform_of("a", 1)
    True
    """
    text = "\x1f".join(map(str, parts)).encode("utf-8", "surrogatepass")
    digest = hashlib.blake2b(text, digest_size=8).digest()
    return (int.from_bytes(digest, "big") + 0.5) / 2**64


def normal_of(*parts: object) -> float:
    """A standard normal number fixed by the parts."""
    return _NORMAL.inv_cdf(min(max(uniform_of(*parts), 1e-12), 1 - 1e-12))


@lru_cache(maxsize=1)
def _bank_answers() -> dict[str, tuple[str, Response]]:
    """The bundled bank's answers by their texts, each with its question."""
    from judgestats.items.bank import load_bank

    return {r.text.strip(): (i.question.strip(), r) for i in load_bank() for r in i.responses}


def stated_quality(quality: float, written: str = "") -> str:
    """The line by which a simulated answer states its quality, and how it was written again.

    Examples
    --------
    >>> quality_of(f"Because. {stated_quality(0.62)}")
    0.62
    >>> seen_in("Why?", f"Darum. {stated_quality(0.62, 'translated')}").change
    'translated'
    """
    return f"(A simulated answer of quality {quality:.2f}{f', {written}' * bool(written)}.)"


def author_of(answer: str) -> str:
    """The author of an answer of the bundled bank; empty for any other text.

    Examples
    --------
    >>> author_of("Some answer nobody wrote.")
    ''
    """
    known = _bank_answers().get(answer.strip())
    return known[1].author if known else ""


def quality_of(answer: str) -> float:
    """Quality of an answer in 0-1.

    Answers of the bundled bank have their designed quality, simulated answers the one that they
    state; any other text has a pseudo-quality that its hash fixes, uniform on 0.15-0.95, so that
    any data can be tested.

    Examples
    --------
    >>> 0.15 <= quality_of("Some answer nobody wrote.") <= 0.95
    True
    """
    text = answer.strip()
    known = _bank_answers().get(text)
    if known is not None and known[1].quality is not None:
        return known[1].quality
    stated = _STATED.search(text)
    if stated is not None:
        return float(stated.group(1))
    return _LOWEST + (_HIGHEST - _LOWEST) * uniform_of("quality", text)


@dataclass(frozen=True, kw_only=True)
class Perception:
    """What a simulated judge makes of a text.

    Attributes
    ----------
    text : str
        The answer in it, as it was before a probe changed it.
    change : str
        The variant of the probe; empty for an unchanged text.
    quality : float
        Of what is shown, in 0-1.
    """

    text: str
    change: str
    quality: float


def seen_in(question: str, answer: str) -> Perception:
    """What is shown as the answer to a question.

    An answer of the bundled bank is known under whatever probe has changed it; put under another
    question of the bank it has no value, cut off what is left of it.

    Parameters
    ----------
    question, answer : str
        As shown.

    Examples
    --------
    >>> seen_in("Why?", "Some answer nobody wrote.").change
    ''
    """
    text, change = strip_injection(answer)
    if not change:
        bare = unpadded(answer)
        plain = (bare, _plain_change(bare, answer))
        text, change = _changed().get(answer.strip(), plain)
    if change == "master key" or is_elsewhere(question, text):
        return Perception(text=text, change=change, quality=0.0)
    left = len(answer) / len(text) if change == "cut off" else 1.0
    return Perception(text=text, change=change, quality=quality_of(text) * left)


def _plain_change(bare: str, answer: str) -> str:
    """How a text of nobody's bank was changed: by padding, or to what a last line ends with."""
    if bare != answer:
        return "padding"
    stated = _STATED.search(answer)
    if stated is not None and stated.group(2):
        return stated.group(2)
    return "reasoning left out" if answer.startswith(ALONE) else ""


@lru_cache(maxsize=1)
def _references() -> dict[str, str]:
    """The reference answer to each question of the bundled bank that has one."""
    from judgestats.items.bank import load_bank

    return {i.question.strip(): i.reference[-1].strip() for i in load_bank() if i.reference}


def reference_shown(question: str, shown: str) -> str:
    """Which probe's reference is in the prompt; empty for the right one, and other questions.

    Parameters
    ----------
    question, shown : str
        The reference as shown; empty where there is none.

    Examples
    --------
    >>> reference_shown("Why?", "Because.")
    ''
    """
    right = _references().get(question.strip())
    if right is None or shown.strip() == right:
        return ""
    if not shown.strip():
        return "no reference"
    other = shown.strip() in _references().values()
    return "wrong reference" if other else "altered reference"


def is_elsewhere(question: str, answer: str) -> bool:
    """Whether an answer of the bundled bank is under another question of the bank.

    Examples
    --------
    >>> is_elsewhere("Why?", "Some answer nobody wrote.")
    False
    """
    known = _bank_answers().get(answer.strip())
    return (
        known is not None
        and question.strip() in _known_questions()
        and question.strip() != known[0]
    )


@lru_cache(maxsize=1)
def _known_questions() -> frozenset[str]:
    return frozenset(question for question, _ in _bank_answers().values())


@lru_cache(maxsize=1)
def _changed() -> dict[str, tuple[str, str]]:
    """The bundled bank's answers as the probes show them: what they were, and the variant."""
    from judgestats.items.bank import load_bank
    from judgestats.protocols.probes import ORIGINAL, PROBES, ProbedPointwise, Variant, variants_of

    def texts(variant: Variant) -> dict[str, str]:
        units = ProbedPointwise(variant=variant).units(bank)
        return {u.item_id: u.item.responses[u.shown[0]].text for u in units}

    bank = load_bank()
    own = texts(variants_of(())[ORIGINAL])
    changed: dict[str, tuple[str, str]] = {}
    for probe in PROBES.values():
        changed_text = probe.asks == "scores" and not (probe.changed.needs or probe.changed.scale)
        if not changed_text or OFF_TOPIC in probe.variants:
            continue
        for name, text in texts(probe.changed).items():
            changed.setdefault(text.strip(), (own[name], probe.name))
    return changed | dict.fromkeys((k.strip() for k in KEYS), ("", "master key"))


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
        logits = {
            score: -((1 + (score - low) * step - centre) ** 2) / (2 * variance)
            for score in range(low, high + 1)
        }
        share = judge.lapse_share
        lapse = _NORMAL.inv_cdf(share) if 0 < share < 1 else -math.inf
        if normal_of("lapse", judge.name, text) < lapse:
            logits[low] = max(logits.values()) + math.log(judge.lapse_weight)
        chances = _softmax(logits, self.temperature(temperature, reasoning, guided))
        if turned and uniform_of("turned", judge.name, text) >= judge.forgets_turn:
            return {low + high - score: p for score, p in chances.items()}
        return chances

    def variance(self, question: str, answer: str, **asked: Any) -> float:
        """Variance of repeated scores of one answer: what a within-item variance estimates."""
        chances = self.score_probabilities(question, answer, **asked)
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


def _log_length(answer: str, usual: int = _USUAL_LENGTH) -> float:
    return math.log(max(len(answer), 20) / usual)


def _strip_blocks(question: str) -> str:
    """The question up to the next framed block, as the server finds it in a prompt."""
    return question.split("\n\n[", 1)[0].strip()
