"""The worked examples: their helpers, and that what they print is what the committed pages say.

Only the cheap sections are run again; the data are public and not part of the repository.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
EXAMPLES = REPOSITORY / "docs" / "examples"
DATA = REPOSITORY.parent / "shared" / "data"
NAMES = ("tables", "repeated_scores", "scores", "verdicts")

needs_data = pytest.mark.skipif(
    not DATA.exists(), reason="the published judgments are not beside the repository"
)


@pytest.fixture(scope="module")
def examples() -> Iterator[dict[str, ModuleType]]:
    """The scripts, imported from their folder; their plain names are taken back afterwards."""
    sys.path.insert(0, str(EXAMPLES))
    before = {n: sys.modules.pop(n) for n in NAMES if n in sys.modules}
    try:
        yield {name: importlib.import_module(name) for name in NAMES}
    finally:
        sys.path.remove(str(EXAMPLES))
        for name in NAMES:
            sys.modules.pop(name, None)
        sys.modules.update(before)


def page(name: str) -> str:
    return (EXAMPLES / f"{name}.md").read_text(encoding="utf-8")


def test_credit_is_shared_among_ties(examples: dict[str, ModuleType]) -> None:
    credit = examples["scores"].credit_of_first
    # Two replications: alone at the top, then tied with one other; the mean stands alone.
    x = np.array([[9.0, 8.0], [3.0, 8.0], [3.0, 2.0], [1.0, 1.0]])
    row = credit(x, np.array(["q"] * 4)).iloc[0]
    assert row["one"] == 0.75
    assert row["one tied"] == 0.5
    assert row["many"] == 1.0
    assert not row["many tied"]


def test_a_question_with_a_missing_score_is_left_out(examples: dict[str, ModuleType]) -> None:
    x = np.array([[9.0], [8.0], [7.0], [np.nan], [5.0], [5.0], [5.0], [5.0]])
    found = examples["scores"].credit_of_first(x, np.repeat(["q", "p"], 4))
    assert found["question"].tolist() == ["p"]
    assert found["one"].tolist() == [0.25]


def test_responses_of_one_question_must_be_together(examples: dict[str, ModuleType]) -> None:
    with pytest.raises(ValueError, match="consecutive"):
        examples["scores"].credit_of_first(np.ones((4, 2)), np.array(["q", "q", "q", "p"]))


def test_contrast_reliability_is_free_of_the_question(examples: dict[str, ModuleType]) -> None:
    """Simulated truth: variance 2 within questions, error 1; levels of questions do not enter."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(4000, 4, 1)) * np.sqrt(2) + rng.normal(size=(4000, 4, 8))
    reliability = examples["scores"].contrast_reliability
    assert reliability(x) == pytest.approx(2 / 3, abs=0.01)
    moved = x + rng.normal(size=(4000, 1, 1)) * 10
    assert reliability(moved) == pytest.approx(reliability(x), abs=1e-9)


@needs_data
def test_published_trend_is_what_the_page_says(examples: dict[str, ModuleType]) -> None:
    assert examples["repeated_scores"].temperature_section(DATA) in page("scores")


@needs_data
def test_three_judges_are_what_the_page_says(examples: dict[str, ModuleType]) -> None:
    assert examples["repeated_scores"].repeated_section(DATA) in page("scores")


@needs_data
def test_eight_scores_are_what_the_page_says(examples: dict[str, ModuleType]) -> None:
    """One of the four files: within-question reliability, accuracy and agreement at T = 0."""
    scores = examples["scores"]
    frame = scores.read_judgments(
        DATA / "rewardbench2_k8" / scores.FILES["t0.0"], reader="rewardbench2-k8"
    )
    text = page("scores")
    for table in (scores.question_table(frame), scores.accuracy_table(frame)):
        row = scores.markdown(table).splitlines()[-1]
        assert row.startswith("| gpt-5.4, T=0 |")
        assert row in text


@needs_data
def test_arena_votes_are_what_the_page_says(examples: dict[str, ModuleType]) -> None:
    assert examples["verdicts"].arena_section(DATA) in page("verdicts")
