"""As many examples of one kind as of another, and what is said where there are not."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from judgestats.errors import InputError
from judgestats.training.examples import Chosen, Example

LEFT_OUT = "more of its kind than of the others"
_UNEVEN = 2.0
"""How many times larger the largest kind may be before it is remarked upon."""


def balanced(chosen: Chosen, *, seed: int = 0) -> Chosen:
    """As many examples of every kind (vanilla, cce, ...) as the smallest has.

    Parameters
    ----------
    chosen : Chosen
    seed : int
        Of which examples of a larger kind are kept: round its questions, so that all stay in it
        for as long as there is room, and within a question drawn.

    Returns
    -------
    Chosen
        In their order; what was left out is counted.

    Raises
    ------
    InputError
        If there is one kind only.
    """
    sizes = Counter(example.kind for example in chosen.examples)
    if len(sizes) < 2:
        only = f"all {len(chosen.examples)} are {next(iter(sizes))}" if sizes else "there is none"
        raise InputError(
            f"export: examples of several kinds are needed to be balanced, and {only}. Leave "
            "--balance out, or export a run with vanilla and crowd judgments (--mode mixed)."
        )
    least = min(sizes.values())
    kept: set[int] = set()
    for kind in sizes:
        places = [i for i, example in enumerate(chosen.examples) if example.kind == kind]
        kept |= set(_round_the_questions(chosen.examples, places, seed)[:least])
    lost = len(chosen.examples) - len(kept)
    left = dict(chosen.left_out) | ({LEFT_OUT: lost} if lost else {})
    examples = tuple(x for i, x in enumerate(chosen.examples) if i in kept)
    return replace(chosen, examples=examples, left_out=left)


def _round_the_questions(
    examples: Sequence[Example], places: Sequence[int], seed: int
) -> list[int]:
    by_question: dict[tuple[str, str], list[tuple[str, int]]] = {}
    for i in places:
        x = examples[i]
        about = "\0".join((str(seed), x.condition, x.item_id, x.order, str(x.replicate), x.run))
        draw = hashlib.sha256(about.encode("utf-8", "surrogatepass")).hexdigest()
        by_question.setdefault((x.run, x.cluster), []).append((draw, i))
    turns = [
        (rank, draw, i)
        for listed in by_question.values()
        for rank, (draw, i) in enumerate(sorted(listed))
    ]
    return [i for _, _, i in sorted(turns)]


def imbalance(chosen: Chosen) -> str:
    """What to say of kinds of very different size; empty where there is nothing to say.

    Examples
    --------
    >>> imbalance(Chosen(examples=(), judgments=0))
    ''
    """
    sizes = Counter(example.kind for example in chosen.examples).most_common()
    if len(sizes) < 2 or sizes[0][1] <= _UNEVEN * sizes[-1][1]:
        return ""
    (most, many), (least, few) = sizes[0], sizes[-1]
    return (
        f"The kinds are uneven: {many} examples are {most} and {few} {least}, since a run has more "
        f"conditions of the one than of the other. What is learned will be {most} above all; "
        "--balance draws as many of each."
    )
