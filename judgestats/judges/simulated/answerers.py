"""Simulated models that answer questions, with an answer's quality written into its text."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from judgestats.errors import InputError
from judgestats.judges.simulated.quality import normal_of, stated_quality, uniform_of

_LOWEST, _HIGHEST = 0.05, 0.98
_SENTENCES = (
    "First, it helps to say what is asked.",
    "The question names everything that is needed.",
    "One step follows from the one before.",
    "Two cases have to be told apart, and only one of them applies.",
    "A quick check with numbers agrees with this.",
    "An exception is possible but does not matter here.",
    "So the parts can be put together.",
    "The final answer follows from the last step.",
)


@dataclass(frozen=True, kw_only=True)
class SimulatedAnswerer:
    """A simulated model that answers.

    An answer's quality is ``skill + question_effect * z1 + heat * T * z2``, cut to 0.05-0.98, with
    z1 standard normal and fixed per model and question, z2 standard normal and drawn anew.

    Attributes
    ----------
    skill : float
        Mean quality of its answers, in 0-1.
    question_effect, heat : float
        Standard deviations of quality: over questions, and over draws at T = 1.
    """

    name: str
    skill: float
    question_effect: float = 0.12
    heat: float = 0.12


_COUNT = 11
_BY_NAME = {
    f"sim-answerer-{n}": SimulatedAnswerer(name=f"sim-answerer-{n}", skill=0.25 + 0.05 * n)
    for n in range(1, _COUNT + 1)
}


def simulated_answerers() -> tuple[str, ...]:
    """Names of the simulated models that answer, from the weakest to the strongest.

    Examples
    --------
    >>> simulated_answerers()[0]
    'sim-answerer-1'
    """
    return tuple(_BY_NAME)


def simulated_answerer(name: str) -> SimulatedAnswerer:
    """The parameters of a simulated model that answers.

    Raises
    ------
    InputError
        Where there is none of that name.

    Examples
    --------
    >>> simulated_answerer("sim-answerer-11").skill
    0.8
    """
    if name not in _BY_NAME:
        raise InputError(
            f"simulated answerer: there is none called {name!r}. There are: {', '.join(_BY_NAME)}."
        )
    return _BY_NAME[name]


@lru_cache(maxsize=1)
def _bank() -> dict[str, list[tuple[float, str]]]:
    """The bundled bank's answers with their designed quality, by question."""
    from judgestats.items.bank import load_bank

    return {
        item.question.strip(): [
            (r.quality, r.text) for r in item.responses if r.quality is not None
        ]
        for item in load_bank()
    }


def answer_text(
    answerer: SimulatedAnswerer, question: str, *, temperature: float | None, seed: str
) -> str:
    """One answer; `seed` fixes it.

    A question of the bundled bank is answered with the bank's answer whose designed quality is
    nearest to the one drawn; any other with sentences that say nothing. The last line states the
    quality, by which a simulated judge knows it (and a reader, that nobody wrote this).

    Parameters
    ----------
    answerer : SimulatedAnswerer
    question : str
    temperature : float or None
        None is the server's default, 1.
    seed : str
        Names the draw: the same seed gives the same answer.

    Examples
    --------
    >>> said = answer_text(simulated_answerer("sim-answerer-3"), "Why?", temperature=0, seed="0")
    >>> said.splitlines()[-1]
    '(A simulated answer of quality 0.55.)'
    """
    hot = 1.0 if temperature is None else temperature
    quality = answerer.skill
    quality += answerer.question_effect * normal_of("skill", answerer.name, question)
    if hot > 0:
        quality += answerer.heat * hot * normal_of("draw", answerer.name, question, seed)
    quality = min(max(quality, _LOWEST), _HIGHEST)
    by_quality = _bank().get(question)
    if by_quality:
        body = min(by_quality, key=lambda pair: abs(pair[0] - quality))[1]
    else:
        length = 2 + int(uniform_of("length", answerer.name, question) * (len(_SENTENCES) - 2))
        body = " ".join(_SENTENCES[-length:])
    return f"{body}\n\n{stated_quality(quality)}"
