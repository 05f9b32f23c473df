"""Judgments as training data; models of one's own: fine-tuned, asked, and covered by attention.

What runs a model needs an extra (``judgestats[train]``, ``judgestats[coverage]``) and imports it
only when it is used.
"""

from __future__ import annotations

from judgestats.training.examples import (
    KINDS,
    DataSplit,
    Example,
    ExampleSet,
    Filters,
    Source,
    Student,
    balanced,
    imbalance,
    prompt_sha_of,
    split_by_question,
    student_of,
    training_examples,
)
from judgestats.training.train import LocalJudge, Trained, TrainingSettings, train_judge
from judgestats.training.write import WrittenFiles, write_training_data

__all__ = [
    "KINDS",
    "ExampleSet",
    "Example",
    "Filters",
    "LocalJudge",
    "Source",
    "DataSplit",
    "Student",
    "Trained",
    "TrainingSettings",
    "WrittenFiles",
    "balanced",
    "imbalance",
    "prompt_sha_of",
    "split_by_question",
    "student_of",
    "train_judge",
    "training_examples",
    "write_training_data",
]
