"""Audits of labelled files: baselines beside agreement, slices, the texts that a file holds."""

from io import StringIO

import numpy as np
import pandas as pd
import pytest

import judgestats as js
from judgestats.analysis import DISAGREEMENTS, texts_in, with_disagreements
from judgestats.data import item_texts
from judgestats.results import brief_of


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


def test_the_constant_judge_and_two_people_stand_beside_agreement(read, found):
    results = by_kind(found)
    once = read.drop_duplicates("item_id")["label"]
    assert results["people.always_same"].estimate == pytest.approx(
        once.value_counts(normalize=True).max()
    )
    assert results["people.among_kappa"].estimate < results["people.among_themselves"].estimate
    lines = {line.key: line for line in brief_of(found.records()).lines}
    assert [b.words for b in lines["accuracy"].beside][:2] == [
        "majority baseline",
        "human ceiling",
    ]
    assert lines["kappa"].beside[0].words == "human ceiling"


def test_labels_drawn_by_verdict_weigh_the_constant_judge_too():
    judged, labels = graded(people=1)
    passes = np.flatnonzero(judged["verdict"] == "yes")[:60]
    fails = np.flatnonzero(judged["verdict"] == "no")[:60]
    some = labels[labels["item"].isin([*passes, *fails])]
    results = by_kind(js.audit(judged, labels=some, labels_drawn="by-verdict", n_resamples=19))
    weights = {"yes": (judged["verdict"] == "yes").mean() / 60}
    weights["no"] = (judged["verdict"] == "no").mean() / 60
    told = some.merge(judged, on="item")
    share = (told["verdict"].map(weights) * (told["label"] == "yes")).sum()
    assert results["people.always_same"].estimate == pytest.approx(max(share, 1 - share))


def test_length_in_thirds_is_read_from_the_texts_of_the_file(found):
    slices = by_kind(found)["slices.length_specificity"]
    rows = {r.a.partition(" ")[0]: r for r in slices.rows}
    assert set(rows) == {"short", "middle", "long"}
    assert rows["long"].p_adjusted < 0.01
    assert rows["long"].estimate < -0.3
    assert slices.adjust == "holm"


def test_disagreements_have_the_texts_of_the_file(read, found):
    listed = with_disagreements(found.analysis, read, texts_in(read), texts=True)
    row = pd.read_csv(StringIO(listed.files[DISAGREEMENTS])).iloc[0]
    assert row["question"] == f"What is the colour of {row['item_id']}?"
    assert row["answer"].startswith("blue")
    assert row["judge_says"] == f"because of {row['item_id']}"


def test_pairs_have_disagreements_too():
    rng = np.random.default_rng(3)
    label = rng.choice(["a", "b", "tie"], 60)
    said = np.where(rng.random(60) < 0.8, label, "b")
    pairs = pd.DataFrame({"item": range(60), "winner": said, "label": label})
    results = by_kind(js.audit(pairs, n_resamples=19))
    listed = results["people.disagreements"]
    assert listed.n == (said != label).sum()
    assert set(listed.rows["judge"]) == {"b"}


@pytest.mark.parametrize(
    ("column", "cells"),
    [
        ("answer", ["A", "B", "C"]),
        ("response", ["r-1", "r-2", "r-3"]),
        ("output", [1, 2, 3]),
        ("length", [True, False, True]),
        ("prompt", [None, None, None]),
    ],
)
def test_letters_names_and_flags_are_no_texts(column, cells):
    assert item_texts(pd.DataFrame({column: cells}), set()) == {}
