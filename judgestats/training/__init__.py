"""Judgments as training data; models of one's own: fine-tuned, asked, and covered by attention.

What runs a model needs an extra (``judgestats[train]``, ``judgestats[coverage]``) and imports it
only when it is used.
"""

from __future__ import annotations

from judgestats.training.examples import (
    KINDS,
    Chosen,
    Example,
    Filters,
    Source,
    Split,
    Student,
    balanced,
    imbalance,
    prompt_sha_of,
    split_by_question,
    student_of,
    training_examples,
)
from judgestats.training.train import LocalJudge, Trained, TrainingSettings, train_judge
from judgestats.training.write import write_training_data

__all__ = [
    "KINDS",
    "Chosen",
    "Example",
    "Filters",
    "LocalJudge",
    "Source",
    "Split",
    "Student",
    "Trained",
    "TrainingSettings",
    "balanced",
    "imbalance",
    "prompt_sha_of",
    "split_by_question",
    "student_of",
    "train_judge",
    "training_examples",
    "write_training_data",
]
