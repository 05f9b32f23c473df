"""Reading takes work in proportion to the reply, in the shapes that would take most."""

import sys

import pytest

from judgestats.protocols import OptionForm, PairForm, Scale, ScoreForm, WordForm, read_reply

SHAPES = (
    "[[8]] ", "[[8]", "Score: 8. ", '{"score": 8} ', "{", "[", '{"a":', '{"a":"\\', '"', "1 ", "1.",
    "```json\n{\"score\": 8}\n```\n", "```", "does not deserve a 9. ", "8/10 ", "<think>",
    "</think>", "<|channel|>final<|message|>", "**", "> 8\n", "Overall, I rate it 7 out of 10. ",
    "A is better than B. ", "Option 1 ", "\\boxed{8}", "\\boxed{", "Score:", "# Verdict: A\n",
    "| 8 | 9 |\n", "8, ", "1-10 ", "-", "correct incorrect ", "<answer>", "not ", "[",
)  # fmt: skip
FORMS = (
    ScoreForm(Scale(1, 10)),
    PairForm(ties=True),
    OptionForm(4, "numbers"),
    WordForm(("correct", "incorrect")),
)


def work(text, form):
    """Calls made, of Python's functions and of built-in ones, to read a text."""
    count = 0

    def profile(frame, event, argument):
        nonlocal count
        count += event in {"call", "c_call"}

    sys.setprofile(profile)
    try:
        read_reply(text, form)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("form", FORMS, ids=lambda form: type(form).__name__)
def test_twice_the_reply_takes_twice_the_work(form):
    for shape in SHAPES:
        short = (shape * 1000)[:1500]
        read_reply(short, form)  # what is remembered between replies is remembered by both
        once, twice = work(short, form), work(short * 2, form)
        assert twice <= 2.3 * once + 200, shape
        assert once <= 30 * len(short) + 500, shape
