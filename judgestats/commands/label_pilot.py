"""What labels at hand say of a judge's verdicts: rates to plan more labels by."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from judgestats.errors import InputError
from judgestats.judgments.words import PASS, not_understood, pass_fail_words, stated_words


@dataclass(frozen=True, kw_only=True)
class VerdictClass:
    """One verdict of the judge: its share of the items, and how often people pass such items."""

    share: float
    labels: int
    passed: int
    says_pass: bool | None
    """None: unread."""

    @property
    def rate(self) -> float:
        """People's pass rate; half a label either way keeps it inside 0-1."""
        return (self.passed + 0.5) / (self.labels + 1)

    @property
    def sd(self) -> float:
        """Of a label in this class."""
        return math.sqrt(self.rate * (1 - self.rate))


def by_class(
    verdicts: Mapping[str, str],
    labels: Sequence[tuple[str, str]],
    *,
    where: str,
    values: Mapping[str, str] | None = None,
) -> dict[str, VerdictClass]:
    """Each of the judge's verdicts with the labels at hand.

    Parameters
    ----------
    verdicts : mapping of item to the judge's verdict
    labels : sequence of (item, label)
    where : str
        The labels' file, for messages.
    values : mapping of word to meaning, optional
        As ``--values`` says.

    Returns
    -------
    dict of verdict to VerdictClass

    Raises
    ------
    InputError
        A word of the verdicts or labels is not understood as pass or fail, or no label belongs to
        an item.

    Examples
    --------
    >>> found = by_class({"x": "yes", "y": "no"}, [("x", "pass"), ("y", "fail")], where="a file")
    >>> found["yes"].share, found["yes"].rate
    (0.5, 0.75)
    """
    own = _looked_up("verdict", verdicts.values(), values, where)
    codes = _looked_up("label", [word for _, word in labels], values, where)
    labelled = [(item, codes[w]) for item, w in labels if item in verdicts and w in codes]
    if not labelled:
        raise InputError(f"{where}: no label belongs to an item judged.")
    out = {}
    for verdict in dict.fromkeys(verdicts.values()):
        word = [label for item, label in labelled if verdicts[item] == verdict]
        out[verdict] = VerdictClass(
            share=sum(v == verdict for v in verdicts.values()) / len(verdicts),
            labels=len(word),
            passed=word.count(PASS),
            says_pass=own[verdict] == PASS if verdict in own else None,
        )
    return out


def _looked_up(
    side: str, words: Iterable[str], values: Mapping[str, str] | None, where: str
) -> dict[str, str]:
    """The words of one side that are a verdict, as pass or fail."""
    counts = Counter(w for w in words if w.strip())
    found = pass_fail_words(counts, stated_words(values or {}, side))
    if found.unknown:
        raise InputError(f"{where}: {not_understood(side, found.unknown)}")
    return found.verdicts


def pilot_rates(classes: Mapping[str, VerdictClass]) -> dict[str, float]:
    """Prevalence, sensitivity and specificity over the items read, by the verdicts' shares.

    Examples
    --------
    >>> one = VerdictClass(share=0.5, labels=9, passed=8, says_pass=True)
    >>> two = VerdictClass(share=0.5, labels=9, passed=1, says_pass=False)
    >>> {k: round(v, 3) for k, v in pilot_rates({"pass": one, "fail": two}).items()}
    {'prevalence': 0.5, 'sensitivity': 0.85, 'specificity': 0.85}
    """
    read = [c for c in classes.values() if c.says_pass is not None]
    whole = sum(c.share for c in read)
    prevalence = sum(c.share * c.rate for c in read) / whole
    passing = sum(c.share * c.rate for c in read if c.says_pass) / whole
    failing = sum(c.share * (1 - c.rate) for c in read if not c.says_pass) / whole
    return {
        "prevalence": prevalence,
        "sensitivity": passing / prevalence,
        "specificity": failing / (1 - prevalence),
    }
