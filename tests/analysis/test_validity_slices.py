"""Audits of labelled files: baselines beside agreement, slices, the texts that a file holds."""

import numpy as np
import pandas as pd
import pytest

import judgestats as js


def graded(n=360, *, categories=4, people=3):
    """A judge that passes what is long, and labels of three people for each answer."""
    rng = np.random.default_rng(12)
    truth = rng.random(n) < 0.6
    words = rng.integers(3, 60, n)
    judge = np.where(truth, rng.random(n) < 0.95, rng.random(n) < np.where(words > 40, 0.8, 0.1))
    judged = pd.DataFrame(
        {
            "item": range(n),
            "question": [f"What is the colour of {i}?" for i in range(n)],
            "response": [" ".join(["blue"] * w) for w in words],
            "category": [f"c{i % categories}" for i in range(n)],
            "verdict": np.where(judge, "yes", "no"),
            "explanation": [f"because of {i}" for i in range(n)],
        }
    )
    labels = pd.concat(
        pd.DataFrame({"item": range(n), "annotator": f"p{j}",
                      "label": np.where(truth ^ (rng.random(n) < 0.1), "yes", "no")})
        for j in range(people)
    )  # fmt: skip
    return judged, labels


@pytest.fixture(scope="module")
def read():
    judged, labels = graded()
    return js.read_judgments(judged, labels=labels)


@pytest.fixture(scope="module")
def found(read):
    return js.audit(read, n_resamples=19)


def by_kind(found):
    return {r.id.rpartition(".")[0]: r.result for r in found.analysis.results}


def test_many_slices_are_adjusted_by_benjamini_and_hochberg():
    judged, labels = graded(categories=11, people=1)
    slices = by_kind(js.audit(judged, labels=labels, n_resamples=19))["slices.category"]
    assert len(slices.rows) == 11
    assert slices.adjust == "BH"


def test_a_column_of_lengths_serves_where_there_are_no_texts():
    judged, labels = graded(people=1)
    judged = judged.assign(length=judged["response"].str.len()).drop(columns="response")
    slices = by_kind(js.audit(judged, labels=labels, n_resamples=19))["slices.length_specificity"]
    assert len(slices.rows) == 3
