"""Numbers that analyses compute by and reports name."""

from __future__ import annotations

TARGETS = (0.80, 0.90)
"""Reliabilities that repeats are asked for."""
AVERAGED = (1, 3, 10)
"""Judgments that a mean is made of."""
LEAST_IN_CATEGORY = 10
"""Items that a category needs for its share to be told."""
NEVER_REPEATED = "not_repeated"
"""The limit of judgments of which none was asked for twice."""
