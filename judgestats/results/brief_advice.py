"""The last lines of a screen: which condition to use, and what to mind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from judgestats.results.conclusions import Recommendation
from judgestats.results.results import Results

_MOST_NAMES = 3
_GRAVE = (
    "simulated",
    "incomplete",
    "other_parameters",
    "not_repeated",
    "unread",
    "unanswered",
    "far_scores",
    "few_questions",
    "no_sampling",
    "few_repeats",
)
_VALID = frozenset({"people", "accuracy", "kappa", "bias", "right", "preferred"})
"""Rows that hold verdicts to what people say."""


def what_to_use(results: Results, names: Mapping[str, str]) -> list[str]:
    """The recommendation with its ties, as its fields say it; `names` by the conditions' labels."""

    def called(label: str) -> str:
        return names.get(label, label)

    given = results.recommendation
    if given is None:
        return []
    if given.chosen:
        each = "".join(what_to_repeat(given))
        text = ", ".join(filter(None, (called(given.chosen), each)))
        use = [f"{text}: {given.reason}" if given.reason else text]
        if others := [called(label) for label in given.tied if label != given.chosen]:
            use.append(f"not told from it: {_few(others)}")
        return use
    if 1 < len(given.tied) <= _MOST_NAMES:
        why = given.reason or "not told apart"
        return [f"{why[0].upper()}{why[1:]}: {_few([called(t) for t in given.tied])}"]
    return list(given.sentences) or [given.text]


def what_to_repeat(given: Recommendation) -> tuple[str, str, str]:
    """How many judgments of an item to take and how to make one of them: before, number, after.

    Examples
    --------
    >>> "".join(what_to_repeat(Recommendation(text="", replicates=3)))
    'average 3 judgments'
    >>> "".join(what_to_repeat(Recommendation(text="", replicates=3, counted="choices")))
    'ask 3 times and count the choices'
    """
    if given.replicates is None or given.replicates < 2:
        return ("one judgment each" if given.replicates == 1 else ""), "", ""
    number = f"{given.replicates}"
    if given.counted:
        return "ask ", number, f" times and count the {given.counted}"
    return "average ", number, " judgments"


def _few(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = len(names) - _MOST_NAMES
    return "; ".join(names[:_MOST_NAMES]) + (f"; and {more} more" if more > 0 else "")


def what_to_mind(results: Results) -> list[str]:
    """Limitations in short, the gravest first."""
    notes = sorted(
        results.limitations,
        key=lambda n: _GRAVE.index(n.code) if n.code in _GRAVE else len(_GRAVE),
    )
    minds = [str(n.values.get("short") or n.message) for n in notes]
    keys = {row.key for row in results.rows}
    if "reliability" in keys and not keys & _VALID:
        minds.append("reliability is not validity")
    return list(dict.fromkeys(minds))
