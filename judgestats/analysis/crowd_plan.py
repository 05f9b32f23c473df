"""The plan of the experiment on crowd comparative evaluation, declared before the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from judgestats.analysis.plan import AnalysisPlan, Hypothesis
from judgestats.judgments.design import Condition
from judgestats.protocols.strategies import asked_names

MARGIN = 0.05
FAMILY = "strategies, gains over vanilla and trends over k: all judges"
"""What the answer claims; pairs of strategies beside it are adjusted within a judge."""
"""Declared margin: accuracies that differ by less than five points in a hundred."""
REFERENCE = "vanilla"
QUESTION = (
    "Is a judge more often right when other judgments stand before its verdict, how does that "
    "grow with their number, which of them help, and what does it cost?"
)


def plan(parameters: Mapping[str, Any], conditions: Sequence[Condition]) -> AnalysisPlan:
    """The plan, as it is written to the run before the first call."""
    del conditions  # all that matters is in the parameters and the judgments
    names = {purpose: ",".join(listed) for purpose, listed in asked_names(parameters).items()}
    return AnalysisPlan(
        experiment="crowd",
        question=QUESTION,
        blocks=(
            "The pair is the block: all strategies judge the same pairs in the same orders. A "
            "verdict is right if it names the response that the label prefers. Pairs, orders and "
            "repetitions of one question are kept together in every interval and test. What "
            "Cochran's Q and McNemar's tests count as items are verdicts: a pair in one order, in "
            "one repetition. Calls that strategies share (crowd judgments, votes) are asked once; "
            "they make strategies more alike than separate calls would, and each is charged for "
            "them in full."
        ),
        missing=(
            "A crowd judgment that could not be read is not selected, one whose verdict could not "
            "be removed is not shown, and fewer than k are recorded; with none there is no final "
            "verdict. Verdicts that are missing are left out (a pair in an order is compared only "
            "where all strategies have one), and, as the second policy, counted as wrong."
        ),
        n_resamples=int(parameters["resamples"]),
        seed=int(parameters["seed"]),
        margins={"accuracy": MARGIN},
        options={**names, "reference": REFERENCE},
        hypotheses=_hypotheses(),
    )


def _hypotheses() -> tuple[Hypothesis, ...]:
    return (
        Hypothesis(
            id="strategies",
            role="primary",
            question="Do the strategies differ in how often they are right?",
            test="Cochran's Q over verdicts, p by permuting strategies jointly within a question; "
            "then McNemar's exact test of every pair of strategies",
            family="pairs of strategies, within a judge",
            adjustment="holm",
        ),
        Hypothesis(
            id="gain",
            role="secondary",
            question="By how much does each strategy differ from the vanilla judge, and is no "
            "difference shown?",
            test="difference of mean accuracy, interval over questions; no difference needs it "
            f"within {MARGIN} (two one-sided tests)",
            family=FAMILY,
            adjustment="holm",
        ),
        Hypothesis(
            id="scaling",
            role="secondary",
            question="Does accuracy, or the length of the explanation, grow with the number of "
            "crowd judgments?",
            test="Page's test over k (0 is vanilla), p by permuting k jointly within a question",
            family="per judge",
        ),
        Hypothesis(
            id="selection",
            role="secondary",
            question="Which crowd judgments help, and does removing their verdict matter?",
            test="Cochran's Q over selections with and without verdicts, at the same k; McNemar's "
            "exact test of every pair",
            family="pairs of selections, within a judge and k",
            adjustment="holm",
        ),
        Hypothesis(
            id="accuracy",
            role="descriptive",
            question="How often is each strategy right, on each set and on their average?",
            test="share of right verdicts with interval over questions; the average counts every "
            "set alike",
        ),
        Hypothesis(
            id="order",
            role="descriptive",
            question="Does the verdict hang on the order of the two responses?",
            test="consistency between orders, first-position preference",
        ),
        Hypothesis(
            id="repeat",
            role="descriptive",
            question="Is the final verdict the same when the whole pipeline is repeated?",
            test="agreement of repetitions and Fleiss' kappa, with interval over questions",
        ),
        Hypothesis(
            id="cost",
            role="descriptive",
            question="What does a point of accuracy cost?",
            test="tokens and dollars beyond the vanilla judge's, per point gained, where a gain is "
            "shown after adjustment; interval from that of the gain",
        ),
        Hypothesis(
            id="points",
            role="descriptive",
            question="Does the explanation make more points?",
            test="key points and words by strategy; difference from vanilla paired by pair",
        ),
        Hypothesis(
            id="published",
            role="replicated",
            question="What did the study print?",
            test="Tables 1, 2 and 4 of arXiv 2502.12501",
        ),
    )
