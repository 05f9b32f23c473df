"""Make the preference labels of the bundled bank: three designed annotator personas.

They are not people and their labels say nothing about people. They exist so that everything that
needs human labels (alignment, ceilings, disagreement between annotators) can be tested on data
whose truth is known. A persona's liking for an answer is

    liking = trust * quality + per_doubling * length + flattery * (is it flattering) + noise

with the answer's designed quality in 0-1, its length in doublings of the words relative to the
item's geometric mean (cut at +-2), and normal noise. Of two answers a persona prefers the one it
likes better, and calls a tie where the difference is below its threshold; `first_shown` is added to
the answer shown first. Every draw comes from a generator named by (seed, item, persona), so that a
new item changes no other item's labels.

    python docs/build_bank_labels.py     # writes judgestats/items/bank/labels.jsonl again

A test holds that the committed file is what it writes.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path

from judgestats.errors import InputError
from judgestats.items import HumanLabel, Item, Response, load_bank

LABELS = Path(__file__).parents[1] / "judgestats" / "items" / "bank" / "labels.jsonl"
SEED = 20250117
FLATTERING = "sycophantic"


@dataclass(frozen=True, kw_only=True)
class Persona:
    """What one designed annotator likes; all numbers in units of designed quality (0-1).

    Attributes
    ----------
    trust : float
        Weight of the designed quality.
    per_doubling : float
        Added for each doubling of the answer's length.
    flattery : float
        Added where the answer has the trait ``"sycophantic"``.
    first_shown : float
        Added to the answer shown first.
    noise : float
        Standard deviation of the liking of one answer.
    tie_below : float
        Two answers closer than this are called a tie.
    """

    trust: float
    per_doubling: float
    flattery: float
    first_shown: float
    noise: float
    tie_below: float


PERSONAS: Mapping[str, Persona] = {
    "strict-expert": Persona(
        trust=1.0, per_doubling=0.0, flattery=-0.05, first_shown=0.0, noise=0.06, tie_below=0.09
    ),
    "lay-reader": Persona(
        trust=0.75,
        per_doubling=0.07,
        flattery=0.12,
        first_shown=0.0,
        noise=0.10,
        tie_below=0.08,
    ),
    "hurried-reader": Persona(
        trust=0.60,
        per_doubling=-0.06,
        flattery=0.0,
        first_shown=0.05,
        noise=0.14,
        tie_below=0.12,
    ),
}
"""The three personas by name: the expert sees quality, the lay reader also likes length and
flattery, the hurried reader likes it short, is drawn to the first answer, and is noisy."""


def annotate(item: Item, *, seed: int = SEED) -> tuple[HumanLabel, ...]:
    """Every persona's preference for every pair of an item's answers.

    Parameters
    ----------
    item : Item
        All its responses need a designed quality.
    seed : int
        Another seed draws another set of labels from the same personas.

    Returns
    -------
    tuple of HumanLabel
        Pairs by pairs, the personas within; `a` is the answer shown first (drawn once per pair, the
        same for all personas) and `turn` the last turn, the whole conversation having been read.

    Raises
    ------
    InputError
        If a response has no designed quality.

    Examples
    --------
    >>> answers = tuple(Response(turns=("x y",), quality=q) for q in (0.1, 0.9))
    >>> item = Item(id="q", cluster="q", turns=("Why?",), responses=answers)
    >>> for label in annotate(item):
    ...     preferred = label.a if label.winner == "a" else label.b
    ...     print(label.annotator, item.responses[preferred].quality)
    strict-expert 0.9
    lay-reader 0.9
    hurried-reader 0.9
    """
    lengths = _doublings(item.responses)
    rng = random.Random(f"{seed}/{item.id}/order")
    pairs = [p if rng.random() < 0.5 else p[::-1] for p in combinations(range(len(lengths)), 2)]
    by_persona: list[list[HumanLabel]] = []
    for name, persona in PERSONAS.items():
        rng = random.Random(f"{seed}/{item.id}/{name}")
        likings = []
        for index, (response, length) in enumerate(zip(item.responses, lengths, strict=True)):
            if response.quality is None:
                raise InputError(
                    f"annotate: response {index} of item {item.id!r} has no designed quality. "
                    "Give every response a quality in 0-1."
                )
            likings.append(
                persona.trust * response.quality
                + persona.per_doubling * length
                + persona.flattery * (FLATTERING in response.traits)
                + rng.gauss(0.0, persona.noise)
            )
        by_persona.append(
            [
                HumanLabel(
                    annotator=name,
                    a=a,
                    b=b,
                    winner=_winner(likings[a] + persona.first_shown - likings[b], persona),
                    turn=len(item.turns),
                )
                for a, b in pairs
            ]
        )
    return tuple(label for of_pair in zip(*by_persona, strict=True) for label in of_pair)


def _doublings(responses: tuple[Response, ...]) -> list[float]:
    """Length of each answer in doublings relative to the item's geometric mean, cut at +-2."""
    logs = [math.log2(max(1, sum(len(t.split()) for t in r.turns))) for r in responses]
    mean = sum(logs) / len(logs)
    return [min(2.0, max(-2.0, log - mean)) for log in logs]


def _winner(difference: float, persona: Persona) -> str:
    if abs(difference) < persona.tie_below:
        return "tie"
    return "a" if difference > 0 else "b"


def label_lines(items: Iterable[Item]) -> str:
    """The text of ``labels.jsonl`` for the items: one label per line."""
    return "".join(
        json.dumps({"item": item.id, **asdict(label)}) + "\n"
        for item in items
        for label in annotate(item)
    )


if __name__ == "__main__":
    LABELS.write_text(label_lines(load_bank()), encoding="utf-8")
