"""What an audit of verdicts asks, whatever the data say."""

from __future__ import annotations

from judgestats.analysis.leaderboard import STRENGTH
from judgestats.analysis.plan import AnalysisPlan, Hypothesis
from judgestats.analysis.validity_panel import PANEL
from judgestats.analysis.validity_slices import SLICES
from judgestats.analysis.validity_systems import SYSTEMS

_QUESTION = "How consistent are these verdicts, do they follow position, and do people agree?"


def verdict_plan(*, n_resamples: int, seed: int, level: float) -> AnalysisPlan:
    """What an audit of verdicts asks, whatever the data say.

    Parameters
    ----------
    n_resamples, seed : int
    level : float

    Returns
    -------
    AnalysisPlan
    """
    return AnalysisPlan(
        experiment="audit",
        question=_QUESTION,
        blocks="The item (for pairs: the pair of responses) is the block; intervals keep the items "
        "of a cluster together.",
        missing="A judgment without a verdict has a status and no verdict; the rates are reported "
        "by condition.",
        level=level,
        n_resamples=n_resamples,
        seed=seed,
        hypotheses=(
            Hypothesis(
                id="reliability",
                role="primary",
                question="Would the same judge say the same again?",
                test="Fleiss' kappa, AC1, vote-share reliability and flip rate, beside their null",
            ),
            Hypothesis(
                id="order",
                role="primary",
                question="Does the verdict follow the response or the place where it stands?",
                test="swap consistency, first-position preference, position apart from repetition",
            ),
            Hypothesis(
                id="people",
                role="primary",
                question="Do the verdicts agree with people?",
                test="1 / .5 / 0 score beside always-tie and random baselines, accuracy, Cohen's "
                "kappa; the null shuffles people's labels over items. With several people their "
                "own agreement, and the alternative annotator test (epsilon .1), beside",
            ),
            Hypothesis(
                id="slots",
                role="secondary",
                question="Do choices follow the place where an option stands?",
                test="accuracy by the place of the right option, else the places chosen; places "
                "exchanged within items; adjusted with the comparisons of conditions",
            ),
            PANEL,
            SYSTEMS,
            STRENGTH,
            SLICES,
            Hypothesis(
                id="compare",
                role="secondary",
                question="Which condition agrees more with people?",
                test="blocked F test on the scores, p by exchanging conditions within items; "
                "Friedman (Wilcoxon for two) beside it",
                family="all pairs of conditions, on the items that all of them judged",
                adjustment="holm",
            ),
        ),
    )
