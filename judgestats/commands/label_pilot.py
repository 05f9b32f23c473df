"""What labels at hand say of a judge's verdicts: rates to plan more labels by."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from judgestats.errors import InputError
from judgestats.judgments.kinds import pass_fail, spelling


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
    verdicts: Mapping[str, str], labels: Sequence[tuple[str, str]], *, where: str
) -> dict[str, VerdictClass]:
    """Each of the judge's verdicts with the labels at hand.

    Parameters
    ----------
    verdicts : mapping of item to the judge's verdict
    labels : sequence of (item, label)
    where : str
        The labels' file, for messages.

    Returns
    -------
    dict of verdict to VerdictClass

    Raises
    ------
    InputError
        Verdicts or labels are not pass and fail, or no label belongs to an item.

    Examples
    --------
    >>> found = by_class({"x": "yes", "y": "no"}, [("x", "pass"), ("y", "fail")], where="a file")
    >>> found["yes"].share, found["yes"].rate
    (0.5, 0.75)
    """
    labelled = [
        (item, spelling(word)) for item, word in labels if item in verdicts and word.strip()
    ]
    if not labelled:
        raise InputError(f"{where}: no label belongs to an item judged.")
    own = pass_fail([spelling(v) for v in verdicts.values() if v != "unread"])
    codes = pass_fail([word for _, word in labelled])
    if own is None or codes is None:
        raise InputError(
            f"{where}: a pilot speaks of pass and fail verdicts, and of labels in such words."
        )
    out = {}
    for verdict in dict.fromkeys(verdicts.values()):
        word = [label for item, label in labelled if verdicts[item] == verdict]
        out[verdict] = VerdictClass(
            share=sum(v == verdict for v in verdicts.values()) / len(verdicts),
            labels=len(word),
            passed=sum(label == codes[0] for label in word),
            says_pass=None if verdict == "unread" else spelling(verdict) == own[0],
        )
    return out


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
