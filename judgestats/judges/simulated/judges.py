"""The simulated judges and their parameters: what a study of them should recover."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from judgestats.errors import InputError


@dataclass(frozen=True, kw_only=True)
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
    chance `sensitivity`, any other with ``1 - specificity``; `length_bias` times ``log(length /
    250)`` is added to the chance's logit. The verdict is drawn once per judge and answer; at
    temperature T a share `waver` * T of the judgments draws anew, so that the rates hold at any T.
    Without a stated sensitivity the logit is ``discrimination * (q + choice_effect * z + verbosity
    / 9 * log(length / 600) - .5)``, divided by T.

    Attributes
    ----------
    stands_for : str
        The real judge whose published figures it follows, if any.
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
    about: str
    stands_for: str = ""
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
    SimulatedJudge(
        name="sim-typical",
        about="steady at low temperature, uses the upper half of the scale",
        stands_for="gpt-4o-mini",
    ),
    SimulatedJudge(
        name="sim-discerning",
        about="tells answers apart better when it compares them; its scores scatter about twice as "
        "much as those of sim-typical",
        stands_for="gpt-4o",
        noise=0.55,
        noise_spread=1.4,
        reasoning_before=1.3,
        discrimination=18.0,
        position_bias=0.15,
    ),
    SimulatedJudge(
        name="sim-coarse",
        about="gives hardly anything but 8, 9 and 10, and lapses on a few answers",
        stands_for="gpt-3.5-turbo",
        floor=6.7,
        span=2.7,
        curve=1.0,
        question_effect=0.2,
        answer_effect=0.3,
        noise=0.34,
        noise_spread=1.2,
        reasoning_before=1.4,
        lapse_share=0.02,
        lapse_weight=0.3,
        discrimination=6.0,
        position_bias=0.8,
    ),
    SimulatedJudge(
        name="sim-null",
        about="its spread does not depend on temperature or reasoning: every such test should be "
        "non-significant",
        noise=0.4,
        temperature_matters=False,
        reasoning_before=1.0,
        reasoning_after=1.0,
    ),
    SimulatedJudge(
        name="sim-guided",
        about="scatters a third as much as soon as it is given a scoring guideline",
        noise=0.4,
        guided=1 / 3,
    ),
    SimulatedJudge(
        name="sim-positional",
        about="strongly prefers what stands first",
        position_bias=2.0,
    ),
    SimulatedJudge(
        name="sim-verbose",
        about="prefers long answers",
        verbosity=0.8,
    ),
    SimulatedJudge(
        name="sim-partial",
        about="likes the answers of author-a of the bundled bank better than they are",
        favours="author-a",
        favour=1.5,
    ),
    SimulatedJudge(
        name="sim-swayed",
        about="swayed by citations, a cheerful tone, what others are said to think, an expert's or "
        "a famous model's name, and by author-b of the bundled bank",
        moved_by={
            "citation": 0.8,
            "tone": 0.5,
            "bandwagon: high": 1.2,
            "author: expert": 0.7,
            "famous name": 1.0,
            "pair bandwagon": 1.5,
        },
        favours="author-b",
        favour=1.5,
    ),
    SimulatedJudge(
        name="sim-credulous",
        about="does what an answer tells it to, passes some empty answers, and likes what stands "
        "last of several",
        moved_by={"order": 9.0, "forged verdict": 9.0, "authority": 4.0, "master key": 3.5},
        position_bias=0.0,
        recency=1.5,
    ),
    SimulatedJudge(
        name="sim-fair",
        about="as sim-typical, without its slight preference for the first place: nothing but "
        "quality moves it, so every claim that it is moved should be missing",
        position_bias=0.0,
    ),
    SimulatedJudge(
        name="sim-parochial",
        about="scores authors from Norway and those whose mother tongue is English higher, and a "
        "final answer without its reasoning lower",
        moved_by={
            "nationality: Norway": 0.9,
            "mother tongue: English": 0.6,
            "reasoning left out": -1.2,
        },
        position_bias=0.0,
    ),
    SimulatedJudge(
        name="sim-literal",
        about="holds answers to the reference shown, right or not, scores translated and condensed "
        "answers lower and likes another tone",
        moved_by={
            "wrong reference": -2.0,
            "altered reference": -1.0,
            "no reference": 0.5,
            "translated": -0.8,
            "condensed": -1.1,
            "other tone": 0.6,
        },
        position_bias=0.0,
    ),
    SimulatedJudge(
        name="sim-touchy",
        about="scores another way as soon as its prompt is worded otherwise",
        wording=0.8,
    ),
    SimulatedJudge(
        name="sim-numeric",
        about="puts answers in another order on another scale, and on one answer in five forgets "
        "that the lowest number is the best",
        scale_effect=1.2,
        forgets_turn=0.2,
    ),
    SimulatedJudge(
        name="sim-always-first",
        about="always chooses the first option",
        always_first=True,
    ),
    SimulatedJudge(
        name="sim-noisy",
        about="hardly repeats itself, and fails to answer now and then",
        noise=2.0,
        discrimination=4.0,
        nonresponse=0.02,
        malformed=0.02,
    ),
    SimulatedJudge(
        name="sim-unreadable",
        about="one reply in five holds no verdict",
        nonresponse=0.2,
    ),
    SimulatedJudge(
        name="sim-crowd",
        about="sees more when it is shown other judgments",
        discrimination=2.5,
        crowd_gain=0.8,
    ),
    SimulatedJudge(
        name="sim-crowd-deaf",
        about="as sim-crowd, but other judgments do not help it",
        discrimination=2.5,
    ),
    SimulatedJudge(
        name="sim-stated",
        about="passes 92 % of what should pass and fails 85 % of what should fail",
        sensitivity=0.92,
        specificity=0.85,
    ),
    SimulatedJudge(
        name="sim-lenient",
        about="passes 96 % of what should pass, fails 70 % of what should fail, and passes long "
        "answers more readily",
        severity=0.8,
        verbosity=0.8,
        sensitivity=0.96,
        specificity=0.7,
        length_bias=1.2,
    ),
    SimulatedJudge(
        name="sim-blind",
        about="its scores and its verdicts of pass or fail do not depend on how good an answer is: "
        "every claim that it is right should be missing",
        floor=6.0,
        span=0.0,
        answer_effect=1.5,
        sensitivity=0.6,
        specificity=0.4,
    ),
)
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
    >>> simulated_judge("sim-typical").stands_for
    'gpt-4o-mini'
    """
    if name not in _BY_NAME:
        raise InputError(
            f"simulated judge: there is none called {name!r}. There are: {', '.join(_BY_NAME)}."
        )
    return _BY_NAME[name]
