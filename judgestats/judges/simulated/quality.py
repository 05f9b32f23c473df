"""How good an answer is, in truth: as designed where it is known, else a fixed pseudo-quality."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

from judgestats.protocols.padding import unpadded
from judgestats.protocols.probes.attacks import KEYS, OFF_TOPIC, without_injection
from judgestats.protocols.probes.wording import ALONE

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
def _designed() -> dict[str, float]:
    """Quality of the bundled bank's answers, by text."""
    from judgestats.items.bank import load_bank

    return {
        response.text.strip(): response.quality
        for item in load_bank()
        for response in item.responses
        if response.quality is not None
    }


def stated_quality(quality: float, written: str = "") -> str:
    """The line by which a simulated answer states its quality, and how it was written anew.

    Examples
    --------
    >>> quality_of(f"Because. {stated_quality(0.62)}")
    0.62
    >>> seen_in("Why?", f"Darum. {stated_quality(0.62, 'translated')}").change
    'translated'
    """
    return f"(A simulated answer of quality {quality:.2f}{f', {written}' * bool(written)}.)"


@lru_cache(maxsize=1)
def _authors() -> dict[str, str]:
    """Authors of the bundled bank's answers, by text."""
    from judgestats.items.bank import load_bank

    return {r.text.strip(): r.author for item in load_bank() for r in item.responses}


def author_of(answer: str) -> str:
    """The author of an answer of the bundled bank; empty for any other text.

    Examples
    --------
    >>> author_of("Some answer nobody wrote.")
    ''
    """
    return _authors().get(answer.strip(), "")


def quality_of(answer: str) -> float:
    """Quality of an answer in 0-1.

    Answers of the bundled bank have their designed quality, simulated answers the one that they
    state; any other text has a pseudo-quality that its hash fixes, uniform on 0.15-0.95, so that
    any data can be rehearsed.

    Examples
    --------
    >>> 0.15 <= quality_of("Some answer nobody wrote.") <= 0.95
    True
    """
    text = answer.strip()
    designed = _designed().get(text)
    if designed is not None:
        return designed
    stated = _STATED.search(text)
    if stated is not None:
        return float(stated.group(1))
    return _LOWEST + (_HIGHEST - _LOWEST) * uniform_of("quality", text)


@dataclass(frozen=True, kw_only=True)
class Seen:
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


def seen_in(question: str, answer: str) -> Seen:
    """What is shown as the answer to a question.

    An answer of the bundled bank is known under whatever probe has changed it; put under another
    question of the bank it is worth nothing, cut off what is left of it.

    Parameters
    ----------
    question, answer : str
        As shown.

    Examples
    --------
    >>> seen_in("Why?", "Some answer nobody wrote.").change
    ''
    """
    text, change = without_injection(answer)
    if not change:
        bare = unpadded(answer)
        plain = (bare, _plain_change(bare, answer))
        text, change = _changed().get(answer.strip(), plain)
    if change == "master key" or is_elsewhere(question, text):
        return Seen(text=text, change=change, quality=0.0)
    left = len(answer) / len(text) if change == "cut off" else 1.0
    return Seen(text=text, change=change, quality=quality_of(text) * left)


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
    """Which probe's reference stands in the prompt; empty for the right one, and other questions.

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
    """Whether an answer of the bundled bank stands under another question of the bank.

    Examples
    --------
    >>> is_elsewhere("Why?", "Some answer nobody wrote.")
    False
    """
    belongs = _questions().get(answer.strip())
    return belongs is not None and question.strip() in _asked() and question.strip() != belongs


@lru_cache(maxsize=1)
def _questions() -> dict[str, str]:
    """The question of each of the bundled bank's answers."""
    from judgestats.items.bank import load_bank

    return {r.text.strip(): i.question.strip() for i in load_bank() for r in i.responses}


@lru_cache(maxsize=1)
def _asked() -> frozenset[str]:
    return frozenset(_questions().values())


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
