"""The scale on which a score is given."""

from __future__ import annotations

from dataclasses import dataclass

from judgestats.errors import InputError

MOST_POINTS = 10_000
"""Points of a scale, at most."""


@dataclass(frozen=True)
class Scale:
    """Whole numbers from `low` to `high`, both included.

    Examples
    --------
    >>> Scale.parse("1-5")
    Scale(low=1, high=5)
    >>> Scale(1, 10).holds(11)
    False
    """

    low: int = 1
    high: int = 10

    def __post_init__(self) -> None:
        if self.low >= self.high:
            raise InputError(
                f"Scale: the lowest score ({self.low}) must be below the highest ({self.high})."
            )

    @classmethod
    def parse(cls, text: str) -> Scale:
        """Read ``low-high``, such as ``1-10`` or ``0-100``, of at most 10,000 points."""
        parts = text.strip().split("-")
        if len(parts) != 2 or not all(p.strip().isdigit() for p in parts):
            raise InputError(
                f"scale: expected two whole numbers as in 1-10, got {text!r}. "
                "Write for example scale=1-5."
            )
        scale = cls(int(parts[0]), int(parts[1]))
        if (points := scale.high - scale.low + 1) > MOST_POINTS:
            raise InputError(
                f"scale={scale} has {points:,} points; at most {MOST_POINTS:,}. Give a shorter one."
            )
        return scale

    def holds(self, score: float) -> bool:
        """Whether a score lies on the scale (range only: averages need not be whole)."""
        return self.low <= score <= self.high

    def __str__(self) -> str:
        return f"{self.low}-{self.high}"
