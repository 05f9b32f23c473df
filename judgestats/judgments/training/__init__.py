"""Judgments as chat-format training data for a judge of one's own."""

from __future__ import annotations

from judgestats.judgments.training.examples import (
    KINDS,
    Chosen,
    Example,
    Filters,
    Source,
    training_examples,
)
from judgestats.judgments.training.split import Split, split_by_question
from judgestats.judgments.training.write import Written, write_training_data

__all__ = [
    "KINDS",
    "Chosen",
    "Example",
    "Filters",
    "Source",
    "Split",
    "Written",
    "split_by_question",
    "training_examples",
    "write_training_data",
]
