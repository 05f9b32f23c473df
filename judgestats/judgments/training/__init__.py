"""Judgments as chat-format training data for a judge of one's own."""

from __future__ import annotations

from judgestats.judgments.training.balance import balanced, imbalance
from judgestats.judgments.training.examples import (
    KINDS,
    Chosen,
    Example,
    Filters,
    Source,
    Student,
    prompt_sha_of,
    student_of,
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
    "Student",
    "Written",
    "balanced",
    "imbalance",
    "prompt_sha_of",
    "split_by_question",
    "student_of",
    "training_examples",
    "write_training_data",
]
