"""Kinds of verdict: decided from values and names, said, overridden, refused."""

import itertools
import re

import numpy as np
import pandas as pd
import pytest

from judgestats import read_judgments
from judgestats.data import kind_of
from judgestats.errors import InputError

BITS = [1, 0, 1, 1, 0, 1]


@pytest.mark.parametrize(
    "values",
    [
        BITS,
        [float(b) for b in BITS],
        [bool(b) for b in BITS],
        [str(b) for b in BITS],
        ["yes" if b else "no" for b in BITS],
        ["Correct" if b else "incorrect" for b in BITS],
        ["PASS" if b else "FAIL" for b in BITS],
        ["True" if b else "False" for b in BITS],
    ],
)
@pytest.mark.parametrize("column", ["passed", "score", "verdict", "grade"])
def test_pass_and_fail_however_they_are_written(values, column):
    rows = [{"item": f"i{i}", column: v} for i, v in enumerate(values)]
    found = read_judgments(rows)
    assert found["choice"].tolist() == ["pass" if b else "fail" for b in BITS]
    assert found["score"].isna().all()
    assert "pass / fail" in found.attrs["understood"][0]


@pytest.mark.parametrize(
    ("column", "values", "kind"),
    [
        ("score", [1, 5, 3], "score"),
        ("score", [1, 2, 2], "score"),
        ("score", [0.2, 0.9], "score"),
        ("winner", ["model_a", "model_b", "tie"], "preference"),
        ("winner", [1, 2, 0], "preference"),
        ("verdict", ["[[A]]", "[[B]]"], "preference"),
        ("verdict", [3, 7, 9], "score"),
        ("choice", ["a", "b", "c", "d"], "choice"),
        ("choice", [1, 2, 3, 4], "choice"),
        ("verdict", ["mild", "severe", "none"], "category"),
        ("verdict", ["a", "b", "tie", "a", "b", "a", "b", "a", "b", "???!"], "preference"),
    ],
)
def test_a_kind_follows_from_values_and_name(column, values, kind):
    assert kind_of(pd.Series(values), column=column).name == kind


def test_zero_and_one_are_never_a_tie_and_no_scale_unless_said():
    rows = [{"item": f"i{i}", "score": b} for i, b in enumerate(BITS)]
    assert read_judgments(rows, kind="score")["score"].tolist() == BITS
    assert read_judgments(rows, scale=(0, 1))["score"].tolist() == BITS
    winner = [{"item": f"i{i}", "winner": b} for i, b in enumerate(BITS)]
    with pytest.raises(InputError, match=r"--kind pass-fail --pass 1, or --values '0=a,1=b'"):
        read_judgments(winner)
    coded = read_judgments(winner, codes={"0": "a", "1": "b"})
    assert set(coded["choice"]) == {"a", "b"}


def test_any_two_words_with_a_pass_named():
    rows = [{"item": f"i{i}", "verdict": "ship" if b else "hold"} for i, b in enumerate(BITS)]
    with pytest.raises(InputError, match=r"'ship'.*--kind category"):
        read_judgments(rows)
    assert set(read_judgments(rows, kind="category")["choice"]) == {"ship", "hold"}
    found = read_judgments(rows, passes="ship")
    assert found["choice"].tolist() == ["pass" if b else "fail" for b in BITS]
    with pytest.raises(InputError, match="no entry of the column 'verdict' is go"):
        read_judgments(rows, passes="go")


def test_hundreds_of_categories_are_text():
    rows = [{"item": f"i{i}", "verdict": f"It is fine, I think, number {i}"} for i in range(300)]
    with pytest.raises(InputError, match=r"300 different texts.*--parse"):
        read_judgments(rows)


def test_wrong_options_are_refused_before_the_file_is_looked_at():
    for options, said in (
        ({"kind": "grade"}, "--kind must be one of"),
        ({"kind": "score", "passes": "yes"}, "--pass says pass / fail"),
        ({"codes": {"1": "x"}}, "cannot mean 'x'"),
        ({"factors": "x", "item": "x"}, "by --item and by --factor"),
        ({"scale": (5, 1)}, "must be below"),
    ):
        with pytest.raises(InputError, match=said):
            read_judgments("there-is-no-such-file.csv", **options)


def lmsys():
    """The layout of lmsys' judgments: every pair of models of a question, two turns."""
    models = ["alpaca", "gpt-4", "llama", "vicuna"]
    return pd.DataFrame(
        [
            {
                "question_id": q,
                "model_a": a,
                "model_b": b,
                "winner": "model_a" if q % 2 else "model_b",
                "judge": "gpt-4",
                "turn": turn,
                "conversation": f"Tell me about {q}",
                "tstamp": 1_690_000_000.5 + q,
            }
            for q in range(81, 100)
            for a, b in itertools.combinations(models, 2)
            for turn in (1, 2)
        ]
    )


def test_the_layout_of_lmsys_is_not_pooled():
    found = read_judgments(lmsys())
    assert found["item_id"].nunique() == 19 * 6 * 2
    assert found["cluster"].nunique() == 19
    assert set(found["replicate"]) == {0}
    assert found.attrs["understood"][1].startswith(
        "item = question_id + model_a + model_b + turn; judge = judge; 1 repeat; 2 columns not used"
    )


def test_a_column_that_may_be_part_of_the_key_is_refused_with_the_commands():
    frame = lmsys()
    frame["language"] = np.tile(["en", "de"], len(frame) // 2)
    with pytest.raises(InputError) as refused:
        read_judgments(frame.drop(columns="turn"))
    said = str(refused.value)
    assert "item=('question_id', 'model_a', 'model_b', 'language')" in said
    assert "factors=('language',)" in said
    as_item = read_judgments(
        frame.drop(columns="turn"), item=("question_id", "model_a", "model_b", "language")
    )
    assert as_item["replicate"].max() == 0
    as_factor = read_judgments(frame.drop(columns="turn"), factors="language")
    assert as_factor["condition"].nunique() == 2
    pooled = read_judgments(frame.drop(columns="turn"), ignore="language")
    assert pooled["replicate"].max() == 1


def test_free_text_times_row_ids_and_measures_are_no_keys():
    rng = np.random.default_rng(1)
    n = 60
    frame = pd.DataFrame(
        {
            "item": np.repeat(np.arange(n // 3), 3),
            "score": rng.integers(1, 11, n),
            "latency_ms": rng.integers(100, 110, n),
            "created_at": ["2026-01-01", "2026-01-02", "2026-01-03"] * (n // 3),
            "uuid": [f"u{i}" for i in range(n)],
            "thoughts": [f"{'long ' * 20}{i % 7}" for i in range(n)],
            "entropy": rng.random(n),
            "topic": np.repeat([f"t{i % 4}" for i in range(n // 3)], 3),
        }
    )
    found = read_judgments(frame)
    assert found["replicate"].max() == 2
    assert found.attrs["unused"] == {
        "latency_ms": "measure",
        "created_at": "time",
        "uuid": "row id",
        "thoughts": "free text",
        "entropy": "measure",
        "topic": "does not vary within an item",
    }
    asked = read_judgments(frame.assign(is_correct=[1, 1, 1, 0, 0, 0] * 10)).attrs["understood"]
    assert "did people say `is_correct`? Then --map label=is_correct" in " ".join(asked)


def test_numbers_of_a_design_are_keys_and_measures_that_repeat_are_not():
    frame = pd.DataFrame({"item": np.repeat(range(10), 4), "score": [3, 4, 5, 6] * 10})
    with pytest.raises(InputError, match="'replicate': 'shot'"):
        read_judgments(frame.assign(shot=[1, 2, 3, 4] * 10))
    numbered = read_judgments(frame.assign(shot=[1, 2, 3, 4] * 10), mapping={"replicate": "shot"})
    assert set(numbered["replicate"]) == {1, 2, 3, 4}
    rng = np.random.default_rng(2)
    assert len(read_judgments(frame.assign(stars_seen=rng.integers(1, 6, 40)))) == 40
    # A seed a run goes with the run.
    seeded = frame.assign(run=[1, 2, 3, 4] * 10, attempt_seed=["p", "q", "r", "s"] * 10)
    assert read_judgments(seeded)["replicate"].nunique() == 4


@pytest.mark.parametrize(
    ("column", "cells", "option"),
    [
        ("verdict", [1, 0, -1, 1], "--values='-1=WHAT'"),
        ("score", [1, 0, -1, 1], "--kind score"),
        ("winner", ["1", "0", "tie"], "--values '0=a,1=b'"),
    ],
)
def test_codes_of_two_meanings_are_asked_about(column, cells, option):
    with pytest.raises(InputError, match=re.escape(option)):
        kind_of(pd.Series(cells, dtype=object), column=column)
