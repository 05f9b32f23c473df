"""Estimands of the judge as a measuring instrument: its scale, severity, fairness, rankings."""

from __future__ import annotations

from functools import partial

from judgestats.results.estimands.entry import Estimand

__all__ = ["ENTRIES"]

_share = partial(Estimand, unit="probability", low=0.0, high=1.0, function="levels_used")

ENTRIES: tuple[Estimand, ...] = (
    Estimand("effective_levels", "effective levels", unit="number", low=1.0,
        function="levels_used", better="higher",
        meaning="how many levels, each used alike, would spread the scores as much"),
    _share("mode_share", "share of the commonest score", better="lower",
        meaning="share of the scores on the level given most"),
    _share("ceiling_share", "share at the ceiling", better="lower",
        meaning="share of the scores on the highest level"),
    _share("floor_share", "share at the floor", better="lower",
        meaning="share of the scores on the lowest level"),
    Estimand("heaping", "heaping on round scores", unit="probability difference", low=-1.0,
        high=1.0, nothing=0.0, better="lower", function="levels_used",
        meaning="share on round scores less the share of levels that are round"),
    Estimand("strength", "strength", unit="logits", function="bradley_terry", better="higher",
        meaning="log odds of being preferred to the mean of the systems"),
    Estimand("strength_difference", "difference of strengths", unit="logits", nothing=0.0,
        function="bradley_terry", meaning="log odds that one system is preferred to the other"),
    Estimand("other_order_share", "chance of the other order", unit="probability", low=0.0,
        high=1.0, nothing=0.5, better="lower", function="bradley_terry",
        meaning="chance that new judgments of the same kind would order two systems otherwise"),
    Estimand("order_effect", "order effect", unit="logits", nothing=0.0,
        function="bradley_terry", meaning="log odds that the first of two equals is preferred"),
    Estimand("log_tie", "log of nu", unit="logits", function="bradley_terry",
        meaning="log weight of a tie between equals"),
    Estimand("slope_of_covariate", "slope of a covariate", unit="logits", nothing=0.0,
        function="bradley_terry", meaning="log odds for one unit more of the covariate"),
    Estimand("log_odds_{factor}", "log odds of a higher score, {factor}", unit="logits",
        nothing=0.0, function="cumulative_logit",
        meaning="log odds of a higher score for one unit or level of the factor"),
    Estimand("dif_log_odds", "log odds of a higher score at equal quality", unit="logits",
        nothing=0.0, function="dif_test",
        meaning="how much a source is favoured among outputs of equal quality"),
    Estimand("r2_change", "change of Nagelkerke's R²", unit="coefficient", low=0.0, high=1.0,
        nothing=0.0, better="lower", function="dif_test",
        meaning="what the source adds to quality in telling the score"),
    Estimand("severity", "severity", unit="logits", nothing=0.0, function="many_facet",
        meaning="how much stricter than the mean of its facet, on the same answers"),
    Estimand("severity_points", "severity in points", unit="points", nothing=0.0,
        function="many_facet", meaning="mean score given less the mean of its facet's"),
    Estimand("quality", "quality of a system", unit="logits", nothing=0.0, better="higher",
        function="many_facet", meaning="mean quality of its answers, severity of raters taken out"),
    Estimand("quality_points", "quality of a system in points", unit="points", nothing=0.0,
        better="higher", function="many_facet",
        meaning="mean score from the same judges less the mean of the systems"),
    Estimand("infit", "infit", unit="ratio", low=0.0, nothing=1.0, function="many_facet",
        meaning="squared residuals over their expectation, weighted by information"),
    Estimand("outfit", "outfit", unit="ratio", low=0.0, nothing=1.0, function="many_facet",
        meaning="mean of squared residuals over their expectation"),
    Estimand("threshold", "threshold", unit="logits", function="many_facet",
        meaning="quality at which two neighbouring levels are equally likely"),
    Estimand("answer_sd", "standard deviation of answers", unit="logits", low=0.0,
        function="cumulative_logit", meaning="how far the qualities of answers lie apart"),
    Estimand("discrimination", "discrimination", unit="number", nothing=0.0, better="higher",
        function="graded_response", symbol="a",
        meaning="how sharply the scores follow the quality that all judges see"),
    Estimand("kappa_of_errors", "kappa of errors", unit="coefficient", high=1.0, nothing=0.0,
        function="shared_errors", symbol="κ",
        meaning="how often two judges err on the same items, beyond chance"),
    Estimand("same_wrong_answer", "same wrong answer", unit="probability", low=0.0, high=1.0,
        function="shared_errors", meaning="share of the same option where both judges are wrong"),
)  # fmt: skip
