"""Formulas and the layouts they read."""

import pandas as pd
import pytest

from judgestats.errors import InputError
from judgestats.stats.designs import Formula, as_paired, parse_formula, read_blocks, read_groups

LONG = pd.DataFrame(
    {
        "score": [1.0, 2.0, 3.0, 4.0],
        "the judge": ["b", "a", "b", "a"],
        "item": ["i1", "i1", "i2", "i2"],
        "question": ["q1", "q1", "q1", "q1"],
    }
)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("score ~ t", ("score", "t", "")),
        ("  score~t|item ", ("score", "t", "item")),
        ("`the score` ~ `T (C)` | item_id", ("the score", "T (C)", "item_id")),
        ("a.b ~ c.d | e.f", ("a.b", "c.d", "e.f")),
    ],
)
def test_formulas_are_read(text: str, parts: tuple[str, str, str]) -> None:
    assert parse_formula(text) == Formula(response=parts[0], factor=parts[1], block=parts[2])


@pytest.mark.parametrize("text", ["", "score", "~ t", "a ~ b + c", "a ~ b | c | d", "a b ~ c"])
def test_what_is_no_formula_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="must read 'response ~ factor'"):
        parse_formula(text)


def test_blocks_from_a_long_frame() -> None:
    found = read_blocks("score ~ `the judge` | item", LONG, where="f", cluster="question")
    assert found.conditions == ("b", "a")
    assert found.scores.tolist() == [[1, 2], [3, 4]]
    assert found.sample.n_clusters == 1
    assert found.data_name == "score, the judge and item"
    by_labels = read_blocks(
        "score ~ `the judge` | item", LONG, where="f", cluster=["x", "x", "y", "y"]
    )
    assert by_labels.cluster is not None
    assert by_labels.cluster.tolist() == [0, 1]


def test_categories_keep_their_order() -> None:
    data = LONG.assign(c=pd.Categorical(LONG["the judge"], categories=["a", "b"]))
    assert read_blocks("score ~ c | item", data, where="f").conditions == ("a", "b")


def test_wide_frames_and_nullable_columns() -> None:
    wide = pd.DataFrame({"x": [1, 2], "y": pd.array([3, None], dtype="Int64")})
    found = read_blocks(wide.astype(float), where="f")
    assert found.conditions == ("x", "y")
    assert found.sample.n_items == 1
    nullable = LONG.assign(score=pd.array([1, 2, None, 4], dtype="Int64"))
    assert read_blocks("score ~ `the judge` | item", nullable, where="f").sample.n_items == 1


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (
            lambda: read_blocks("score ~ judge | item", LONG, where="f"),
            r"no column 'judge'; it has",
        ),
        (
            lambda: read_blocks("item ~ `the judge` | item", LONG, where="f"),
            "column 'item' must hold numbers",
        ),
        (
            lambda: read_blocks(
                "score ~ `the judge` | item", LONG.assign(item=[None, "a", "b", "b"]), where="f"
            ),
            "1 missing labels",
        ),
        (
            lambda: read_blocks("score ~ `the judge` | item", LONG, where="f", cluster=["x"]),
            "one label per row",
        ),
        (lambda: read_groups("score ~ item", LONG, where="f", cluster="zz"), "no column 'zz'"),
        (lambda: read_groups({"a": [[1]]}, where="f"), "one-dimensional"),
        (lambda: read_groups([1.0], [["a"]], where="f"), "groups must be one-dimensional"),
        (lambda: as_paired("score ~ item | `the judge`", None, where="f"), "pandas DataFrame"),
    ],
)
def test_errors_name_what_lacks(call: object, match: str) -> None:
    with pytest.raises(InputError, match=match):
        call()  # type: ignore[operator]


def test_every_message_names_function_and_next_step() -> None:
    with pytest.raises(InputError) as caught:
        read_blocks("score ~ temperature | item", LONG, where="friedman_test")
    text = str(caught.value)
    assert text.startswith("friedman_test: ")
    assert text.endswith(".")
    assert "Correct the formula or the frame" in text
