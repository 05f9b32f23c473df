"""Failures in a row: when a condition, or a model, is asked no more."""

from __future__ import annotations

from judgestats.judges.outcomes import Kind, Outcome, Parameter

_BLAMELESS = 3
"""Judgments in a row refused in every reply mode after which the mode is not to blame."""


class Streaks:
    """Judgments given up in a row at one model, by condition.

    A refusal is about what was asked: it counts against its condition only. Any other failure may
    be the server's: it counts against the model too, once more than one condition has met it.

    Examples
    --------
    >>> streaks = Streaks()
    >>> refused = Outcome(kind=Kind.BAD_REQUEST)
    >>> for _ in range(2):
    ...     streaks.gave_up(refused, "m, T=2")
    >>> streaks.condition_fails("m, T=2", most=2), streaks.condition_fails("m, T=1", most=2)
    (2, 0)
    >>> streaks.answered("m, T=1")
    >>> streaks.condition_fails("m, T=2", most=2)
    2
    """

    def __init__(self) -> None:
        self._of_condition: dict[str, int] = {}
        self._of_model: dict[str, int] = {}
        self._refused: dict[str, int] = {}

    def answered(self, condition: str) -> None:
        """A judgment of a condition was answered."""
        if self._of_condition:
            self._of_condition.pop(condition, None)
            self._refused.pop(condition, None)
        if self._of_model:
            self._of_model.clear()

    def gave_up(self, outcome: Outcome, condition: str) -> None:
        """A judgment of a condition was given up."""
        if outcome.about in {Parameter.CONTENT, Parameter.TOO_LONG}:
            return  # what was refused is this item
        self._of_condition[condition] = self._of_condition.get(condition, 0) + 1
        counts = self._refused if outcome.kind is Kind.BAD_REQUEST else self._of_model
        counts[condition] = counts.get(condition, 0) + 1

    def condition_fails(self, condition: str, *, most: int) -> int:
        """How many of a condition failed in a row; 0 where that is less than `most`."""
        count = self._of_condition.get(condition, 0)
        return count if count >= most else 0

    def model_fails(self, *, most: int) -> int:
        """How many failed in a row in several conditions; 0 where that is less than `most`."""
        count = sum(self._of_model.values())
        return count if count >= most and len(self._of_model) > 1 else 0

    def mode_is_blameless(self, condition: str) -> bool:
        """Whether so many of a condition were refused that another reply mode changes nothing."""
        return self._refused.get(condition, 0) >= _BLAMELESS
