"""What is wrong with the labels, said where limits are: few, unlike the rest, of one word."""

from __future__ import annotations

from collections.abc import Iterable

from judgestats.analysis.limits import Limit
from judgestats.analysis.outcome import NamedResult
from judgestats.stats.inference.result import Estimate

_SHORT = {
    "unrepresentative": "labelled items differ from the rest in the judge's verdicts",
    "few_labels": "few labels",
    "no_better_than_chance": "sensitivity + specificity not above 1",
    "no_class": "one verdict is in no label",
    "few_in_class": "few labels of one verdict",
    "unread_left_out": "no unread item has a label: rates are of what was read",
    "convenience": "labels chosen by hand: nothing is corrected",
    "assumes_random": "labels taken as drawn at random (--labels-drawn)",
}


def label_warnings(results: Iterable[NamedResult]) -> list[str]:
    """The gravest notes of results on people, each once, with the first condition that has it.

    Parameters
    ----------
    results : iterable of NamedResult

    Returns
    -------
    list of Limit
    """
    out: dict[str, str] = {}
    for named in results:
        if not named.id.startswith("people.") or not isinstance(named.result, Estimate):
            continue
        for note in named.result.notes:
            if note.code in _SHORT and note.code not in out:
                of = f"{', '.join(named.about.conditions)}: " if named.about.conditions else ""
                out[note.code] = Limit(
                    f"{of}{note.message}", code=note.code, short=_SHORT[note.code]
                )
    return [out[code] for code in _SHORT if code in out]
