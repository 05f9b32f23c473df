import numpy as np
import pandas as pd
import pytest

from judgestats.errors import InputError
from judgestats.stats.designs import encode_verdicts, rare_category_notes
from judgestats.stats.designs.count_table import count_table


@pytest.mark.parametrize(
    "verdicts",
    [
        np.array([["x", "y"], ["y", "y"]]),
        np.array([["x", "y"], ["y", "y"]], dtype=object),
        pd.DataFrame({"r1": ["x", "y"], "r2": ["y", "y"]}),
        [("x", "y"), ("y", "y")],
        pd.DataFrame({"r1": ["x", "y"], "r2": ["y", "y"]}, dtype="category"),
    ],
)
def test_every_container_gives_the_same_counts(verdicts: object) -> None:
    assert count_table(verdicts).counts.tolist() == [[1, 1], [0, 2]]


@pytest.mark.parametrize(
    ("verdicts", "match"),
    [
        ([["A"], ["A", "B"]], "unequal length"),
        (["A", "B"], "items x replications"),
        (np.empty((0, 3)), "at least 1 item"),
        (np.array([[1.0, np.inf]]), "finite"),
    ],
)
def test_unusable_verdicts_are_refused(verdicts: object, match: str) -> None:
    with pytest.raises(InputError, match=match):
        count_table(verdicts)


def test_categories_must_be_distinct() -> None:
    with pytest.raises(InputError, match="distinct"):
        encode_verdicts(["A"], categories=["A", "A"])


def test_a_table_is_not_recounted_under_other_categories() -> None:
    table = count_table([["A", "B"]])
    assert count_table(table) is table
    with pytest.raises(InputError, match="count table"):
        count_table(table, categories=["A", "B", "C"])


def test_rare_categories_are_warned_about_only_when_rare() -> None:
    assert rare_category_notes([[1, 1]] * 30) == ()
    assert rare_category_notes([[2, 0]] * 30) == ()
    assert [n.code for n in rare_category_notes([[2, 0]] * 95 + [[0, 2]] * 5)] == [
        "rare_categories"
    ]


def test_unknown_category_is_refused_with_its_name() -> None:
    with pytest.raises(InputError, match=r"one of the categories \['A', 'B'\], got 'C'"):
        count_table([["A", "C"]], categories=["A", "B"])
