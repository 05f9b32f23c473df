"""What all statistics share is declared once: keywords, defaults, checks, documentation."""

from __future__ import annotations

import inspect
import pickle

import pytest

from judgestats import stats
from judgestats.errors import InputError

SHARED = ("cluster", "level", "n_resamples", "n_permutations", "seed")
OWN = {
    ("alternative_annotator_test", "level"),  # of significance, as its source writes it
    ("alternative_annotator_test", "n_resamples"),  # of its power; 0 for none
}


def parameters(name: str) -> dict[str, inspect.Parameter]:
    return dict(inspect.signature(getattr(stats, name)).parameters)


def test_a_misspelled_keyword_is_refused_with_the_right_one() -> None:
    with pytest.raises(TypeError, match=r"'n_resample'\. Did you mean n_resamples\?"):
        stats.fleiss_kappa([["a", "a"], ["b", "b"]], n_resample=10)


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ({"level": 95}, r"fleiss_kappa: level must be between 0 and 1, got 95"),
        ({"n_resamples": 1}, "fleiss_kappa: n_resamples must be at least 2, got 1"),
        ({"n_permutations": -1}, r"fleiss_kappa: n_permutations must be at least 0"),
    ],
)
def test_what_cannot_be_is_refused_under_the_name_that_was_called(bad, why) -> None:
    with pytest.raises(InputError, match=why):
        stats.fleiss_kappa([["a", "a"], ["b", "b"]], **bad)


def test_a_statistic_goes_to_another_process_by_its_name() -> None:
    assert pickle.loads(pickle.dumps(stats.fleiss_kappa)) is stats.fleiss_kappa
