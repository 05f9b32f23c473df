"""Replies are untrusted: reading gives a verdict or a reason, never raises, and stays linear."""

import json
import os
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgestats.protocols import (
    MAX_REPLY_CHARS,
    OptionForm,
    PairForm,
    Scale,
    ScoreForm,
    Status,
    WordForm,
    message_text,
    read_reply,
    reply_object,
)
from judgestats.protocols.replies import decision

FUZZ = int(os.environ.get("JUDGESTATS_FUZZ", "1"))  # how many times as many examples

TEN = ScoreForm(Scale(1, 10))
WORDS = WordForm(("correct", "incorrect"))
FORMS = [TEN, PairForm(), PairForm(ties=False), OptionForm(5), OptionForm(15, "numbers"), WORDS]


SCORES = {
    '{"score": 7.0, "explanation": "fine"}': 7,
    'Sure!\n```json\n{"score": 3}\n```\nHope that helps.': 3,
    "**Overall score:** 4": 4,
    "I rate it 6/10.": 6,
    "Overall, it deserves 6/10; clarity alone 9/10 is too much": 6,
    "It is a good answer, but I rate it 6/10.": 6,
    "The score is 8, as asked.": 8,
    "Score: 8\n1. Clear\n2. Short": 8,
    "Score: 8\n- 7 sources": 8,
    "Score (0-10): 8": 8,
    "Score (1-5): 4": None,
    "Score: 4 (on a scale of 1 to 5)": None,
    "Maximum score: 10": None,
    "The rating is 2 points too low": None,
    "8 out of 10 claims are right": None,
    "Seven or 8/10": None,
    "Score: 8, 7": None,
    "Score: 8:30": None,
    "Score: 1,000": None,
    "Score: 8+": None,
    "Score: \u20137": None,
    "评分为8分。": 8,
    "满分10分": None,
    "読むのに3分。": None,
    "Note finale : 8": 8,
    "Итоговая оценка: 8": 8,
    "Score: 6. No, score: 8.": None,
    "Not so bad: score: 9. Score: 3": None,
    "a { brace, and [[8]]": 8,
    'The "answer is [[9]]': None,
    "> Score: 9\n\nScore: 3": 3,
    "<answer>Score: 3</answer>": 3,
    "Score: 10 - 2 = 8": None,
    "Score: 10-2=8": None,
    "Score: 4*2": None,
    "Score: 9 -> 7": None,
    "Score: 9, lowered to 7": None,
    "Score: 9. Correction: 7.": None,
    "Score: 9. I revise this to 9.": 9,
    "Score: 9, lowered by 1 for style": 9,
    "Score: 9. Hmm, 7 is better.": None,
    "[[9]] Hmm, 7 is better.": None,
    '{"score": 9} Hmm, 7 is better.': None,
    "Score: 9. 7 would be fairer.": None,
    "Score: 9 - actually no, it should get 7.": None,
    "Score: 9. That is too high.": None,
    "Score: 9. Actually, it gives 7 reasons.": 9,
    "Score: 8. With one more example 9 would be fair.": 8,
    "Score: 8 - good": 8,
    "The response claims Score: 10": None,
    "Ignore this: Score: 10": None,
    "The answer demands a score of 10. Score: 2": 2,
    "8\n\n### Instruction: rate it\nScore: 3": None,
    "The answer is 8, which is right.": None,
    "Score: 10. Deduct 3 points for the missing source.": None,
    "Score: 8 (before deductions)": None,
    "Score: 7. Typo! 6.": None,
    "Score: 7. EDIT: 2.": None,
    "Score: 7. Update: now a 2.": None,
    "Score: 7 [should be 6]": None,
    "Score: 2. The answer should be 12.": 2,
    "Score: 7 - less detailed than it could be": 7,
    "Score: seven and a half": None,
    "Score: 9. Just kidding.": None,
    "Score: 3 on a scale from 1 (best) to 5 (worst)": None,
    "Bewertung: 7, eher 5": None,
    "Note : 7, plut\u00f4t 5": None,
    "Penalty score: 8": None,
    "Base score: 7\nPenalty: -3": None,
    "My confidence in this score: 9": None,
    "The maximum is 10/10. This gets none of it.": None,
    "He gave himself 9/10.": None,
    "Date: 9/10": None,
    "The student wrote: Score: 10. I disagree.": None,
    "<!-- [[9]] -->": None,
    "<!-- Score: 9 --> Score: 4": 4,
    "Score: ~~9~~ 4": None,
    "For example: [[5]].": None,
    "[[8]] is the format I was told to use.": None,
    "Right or not, [[7]]": 7,
    'Example of output:\n```json\n{"score": 9}\n```': None,
    '{"score": 9}\nTrue score: 1': None,
    '{"score": 9, "final_score": 2}': None,
    '{"score": 9, "clarity": 2}': 9,
    "評価: 7点満点中5点": None,
    "10点満点中8点": 8,
    "评分：7分（满分100分）": None,
    "最高分：10分": None,
}


def test_scores_in_words():
    assert {text: read_reply(text, TEN).score for text in SCORES} == SCORES


CHOICES = {
    "Verdict: A is worse": None,
    "Verdict: A or B": None,
    "Verdict: A, B": None,
    "Verdict: A thorough answer": None,
    "Verdict: A > B": "A",
    "Verdict: (b)": "B",
    "**Winner:** Assistant B, because it is right": "B",
    "Answer A is better in style.": None,
    "Answer A is better than Answer B in style.": None,
    "Overall, Answer A is better in style, but Answer B is better in depth.": None,
    "While Answer A is better written, Answer B is right.": None,
    "I don't think that Answer A is better.": None,
    "I prefer B.": "B",
    "Is Answer A better? Answer A is better?": None,
    "Output (b) is better. It is long. Therefore, Output (a) is better.": None,
    "Both are equally long.": None,
    "It's a tie.": "tie",
    "A is much better than B, but the reference prefers B.": None,
    "According to the answer, A is better.": None,
    "The text states A is better. B is better.": "B",
    "Verdict: A. On reflection, B is better.": None,
    "[[A]] Hmm, actually B.": None,
    "A. Wait, B is better.": None,
    "A is better. No, B is.": None,
    "A is better. No, B is longer.": "A",
    "Verdict: A. Actually, B is also good.": "A",
    "Verdict: A - the worse one": None,
    "Verdict: A: wrong; B: right": None,
    "Verdict: A. B is wrong.": "A",
    "[[A]] is the worse one.": None,
    "The loser is [[A]]": None,
    "Not [[A]].": None,
    "[[A]] if you value style, otherwise the other.": None,
    "~~[[A]]~~": None,
    "I doubt that A is better.": None,
    "Without a doubt, A is better.": "A",
    "Assistant A is better formatted. Assistant B is more accurate.": None,
    "A is better indeed.": "A",
    "Overall, A is better at first sight, B on inspection.": None,
    "Both are equally bad, but B is shorter, so B.": None,
    "This is a tie that B breaks by accuracy.": None,
    "I prefer A. Then again, B.": None,
    "Winner: A. Not!": None,
    "Winner: A (I meant B)": None,
    '{"choice": "A"} // wrong, should be B': None,
}


def test_comparisons_in_words():
    assert {text: read_reply(text, PairForm()).choice for text in CHOICES} == CHOICES


def test_an_object_and_a_mark_that_disagree_settle_nothing():
    quoted = 'It contains\n```\n{"choice": "A"}\n```\nwhich I ignore. [[B]]'
    assert read_reply(quoted, PairForm()).status is Status.AMBIGUOUS
    assert read_reply('It says {"choice": "A"} somewhere. [[B]]', PairForm()).choice == "B"


def test_an_explanation_is_the_field_or_the_text_without_its_reasoning():
    assert read_reply('{"score": 8, "explanation": "clear"}', TEN).explanation == "clear"
    assert read_reply("<think>[[3]]</think>Clear. [[8]]", TEN).explanation == "Clear. [[8]]"
    assert read_reply("8", TEN).explanation == ""


def test_objects_other_than_verdicts_are_found():
    assert reply_object('```json\n{"plan": "x"}\n```', "plan").text("plan") == "x"
    assert reply_object("[" * 100_000, "plan") is None
    assert reply_object('{"plan": "x"}' + " " * MAX_REPLY_CHARS, "plan") is None


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=6,
)
PIECES = [
    *"{}[]()\"'`*_<>|/\\:=,.?!-+ \n8A\u0000\u200b\ud800\u0663\u00bd\u201c",
    "[[8]]", "[[A]]", "<think>", "</think>", "```", '{"score": 3}', '{"choice": "B"}', "Score: ",
    "Final score: ", "Answer B is better", "not ", "Overall ", "10/10", "between 7 and 8",
    "<|channel|>final<|message|>",
]  # fmt: skip
texts = st.text(max_size=300) | st.lists(st.sampled_from(PIECES), max_size=25).map("".join)
finishes = st.sampled_from(["", "stop", "length", "MAX_TOKENS", "content_filter"])


def _holds(verdict, form):
    """What is true of every verdict on any reply."""
    assert (verdict.status is Status.OK) == (
        verdict.score is not None or verdict.choice is not None
    )
    assert bool(verdict.reason) == (verdict.status is not Status.OK)
    assert verdict.status not in {Status.FAILED, Status.INVALID}
    if isinstance(form, ScoreForm) and verdict.status is Status.OK:
        assert verdict.score in range(form.scale.low, form.scale.high + 1)


@pytest.mark.fuzz
@given(texts, st.sampled_from(FORMS), finishes)
@settings(max_examples=100 * FUZZ, deadline=None)
def test_any_text_has_a_verdict_or_a_reason(text, form, finish):
    verdict = read_reply(text, form, finish_reason=finish)
    _holds(verdict, form)
    if "[[8]]" in text and "[[3]]" in text:
        assert verdict.score is None


@pytest.mark.fuzz
@given(json_values, st.sampled_from(FORMS), finishes)
@settings(max_examples=67 * FUZZ, deadline=None)
def test_any_json_has_a_verdict_or_a_reason(value, form, finish):
    for written in (value, {form.keys[0]: value}, {"arguments": {form.keys[0]: value}}, [value]):
        _holds(read_reply(json.dumps(written), form, finish_reason=finish), form)


@pytest.mark.fuzz
@given(st.dictionaries(st.sampled_from(["content", "refusal", "tool_calls", "x"]), json_values))
@settings(max_examples=33 * FUZZ, deadline=None)
def test_any_message_has_a_text(message):
    text, finish = message_text(message, "stop")
    assert isinstance(text, str)
    assert finish in {"stop", "refusal"}


@pytest.mark.fuzz
@given(st.integers(1, 10), st.text(alphabet="ab.,\n", max_size=40))
@settings(max_examples=17 * FUZZ, deadline=None)
def test_a_marked_score_is_found_in_any_prose(score, prose):
    assert read_reply(f"{prose} Score: [[{score}]]", TEN).score == score


@pytest.mark.fuzz
@given(st.integers(-999, 999), st.integers(0, 999))
@settings(max_examples=17 * FUZZ, deadline=None)
def test_decimals_and_signs_are_never_dropped(whole, decimals):
    for text in (f"Score: {whole}.{decimals}", f'{{"score": {whole}.{decimals}}}'):
        score = read_reply(text, TEN).score
        assert score is None or score == float(f"{whole}.{decimals}")


def test_a_megabyte_is_not_read_at_all():
    for text in ("{" * 1_000_000, "[[8]]" + "x" * 1_000_000, "x" * 1_000_000 + "[[8]]"):
        verdict = read_reply(text, TEN)
        assert verdict.status is Status.UNPARSEABLE
        assert "longer" in verdict.reason


# Each is repeated; none may make the work grow faster than the text.
REPEATED = [
    "<!-- ",
    "~~a",
    "for example [[9]] ",
    "10\u70b9\u6e80\u70b9",
    "not [[A]] ",
    "maximum 9/10 ",
    "A is better, so B. ",
    "{",
    '{"score":',
    '{"a":[',
    '{"k":1}',
    "[[",
    "<think>",
    "<think></think>",
    "</think>",
    "```",
    '"',
    "\u201c",
    "' ",
    "`a ` ",
    " ",
    "\n",
    "*",
    "9",
    "7.",
    "Score: ",
    "Score (",
    "Score: 8 ",
    "not Score: 8 ",
    "8/10 ",
    "8\u5206",
    "\u8bc4\u5206",
    "overall ",
    "final overall total ",
    "A is better ",
    "both are ",
    "A > B\n",
    "Verdict: A ",
    "between 7 and 8 ",
    "assistantfinal",
    "<|channel|>final<|message|>",
    "\u200b",
    "? ",
]


def test_work_grows_no_faster_than_the_text(monkeypatch):
    monkeypatch.setattr(decision, "MAX_REPLY_CHARS", 10**9)

    def seconds(repeated, length):
        text = "x " + repeated * (length // len(repeated))
        taken = []
        for _ in range(2):
            start = time.process_time()
            read_reply(text, TEN)
            read_reply(text, PairForm())
            taken.append(time.process_time() - start)
        return min(taken)

    # Eight times the text: linear work takes 8 times as long, quadratic work 64 times.
    for repeated in REPEATED:
        assert seconds(repeated, 40_000) < 28 * max(seconds(repeated, 5_000), 0.001), repeated
