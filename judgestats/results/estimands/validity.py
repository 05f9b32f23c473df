"""Estimands of a judge held to people's labels: its error rates, and averages corrected by them."""

from __future__ import annotations

from functools import partial

from judgestats.results.estimands.entry import Estimand

__all__ = ["ENTRIES"]

_rate = partial(
    Estimand, unit="probability", low=0.0, high=1.0, better="higher", function="error_rates"
)
_average = partial(Estimand, unit="number", function="corrected_mean")
_part = partial(Estimand, unit="squared points", function="error_parts")
_passes = partial(Estimand, unit="probability", low=0.0, high=1.0, function="corrected_rate")
_agreed = partial(
    Estimand, unit="probability", low=0.0, high=1.0, better="higher", function="agreement_ceiling"
)
_apart = partial(Estimand, unit="points", better="lower", function="agreement_ceiling")

ENTRIES: tuple[Estimand, ...] = (
    _rate("sensitivity", "sensitivity", meaning="share of what people pass that the judge passes"),
    _rate("specificity", "specificity", meaning="share of what people fail that the judge fails"),
    _rate("precision", "precision", meaning="share of what the judge passes that people pass"),
    _rate("negative_predictive_value", "negative predictive value",
        meaning="share of what the judge fails that people fail"),
    _rate("balanced_accuracy", "balanced accuracy", nothing=0.5,
        meaning="mean of sensitivity and specificity"),
    Estimand("matthews_correlation", "Matthews' correlation", unit="coefficient", low=-1.0,
        high=1.0, nothing=0.0, better="higher", function="error_rates",
        meaning="correlation of the judge's verdict and people's"),
    Estimand("bias", "bias (judge - people)", unit="points", nothing=0.0,
        function="graded_agreement", meaning="how much higher the judge scores than people"),
    Estimand("lower_limit", "lower limit of agreement", unit="points",
        function="graded_agreement", meaning="below it lie few differences of judge and people"),
    Estimand("upper_limit", "upper limit of agreement", unit="points",
        function="graded_agreement", meaning="above it lie few differences of judge and people"),
    Estimand("concordance", "Lin's concordance", unit="coefficient", low=-1.0, high=1.0,
        nothing=0.0, better="higher", function="graded_agreement",
        meaning="how near judge and people lie to the line of equal scores"),
    Estimand("pearson_correlation", "Pearson's r", unit="coefficient", symbol="r", low=-1.0,
        high=1.0, nothing=0.0, better="higher", function="graded_agreement",
        meaning="linear relation of the judge's scores and people's"),
    Estimand("slope", "slope of people's score on the judge's", unit="number",
        function="graded_agreement", meaning="points of people's for one of the judge's"),
    Estimand("brier", "Brier score", unit="probability", low=0.0, high=1.0, better="lower",
        function="confidence_calibration",
        meaning="mean squared distance of the confidence from people's verdict"),
    Estimand("calibration_error", "calibration error", unit="probability", low=0.0, high=1.0,
        better="lower", function="confidence_calibration",
        meaning="mean distance of the confidence from how often it is right"),
    _average("judge_only", "judge alone", meaning="what the judge says, its errors left in"),
    _average("people_only", "people's labels alone", meaning="what the labelled items alone say"),
    _passes("people_only_rate", "people's labels alone",
        meaning="pass rate of the labelled items alone"),
    Estimand("labels_worth", "labels that the judge is worth", unit="count", low=0.0,
        better="higher", function="corrected_rate",
        meaning="labels that people alone would need more for an interval as narrow"),
    _average("greg", "corrected mean (regression)",
        meaning="the judge's mean, corrected by the labels' regression on its scores"),
    _average("ppi", "PPI", meaning="the judge's mean less its mean error on the labelled items"),
    _average("ppi++", "PPI++", meaning="PPI with the judge weighed by how well it predicts people"),
    _passes("poststratified", "corrected pass rate",
        meaning="people's pass rate, by the judge's verdict and the labels in each"),
    Estimand("rogan_gladen", "corrected pass rate (rates measured elsewhere)",
        unit="probability", low=0.0, high=1.0, function="corrected_by_rates",
        meaning="people's pass rate, by the judge's error rates in another study"),
    Estimand("win_rate", "corrected win rate", unit="probability", low=0.0, high=1.0,
        nothing=0.5, better="higher", function="corrected_win_rate",
        meaning="how often people would prefer it, a tie half"),
    Estimand("probability_of_superiority", "probability of being better", unit="probability",
        low=0.0, high=1.0, nothing=0.5, function="corrected_differences",
        meaning="chance that one system is truly better than the other"),
    Estimand("accuracy_gain", "accuracy over the best member", unit="probability difference",
        low=-1.0, high=1.0, nothing=0.0, better="higher", function="panel_of_judges",
        meaning="accuracy of a panel less that of its best member"),
    _part("squared_error_gain", "squared error over the best member", nothing=0.0, better="lower",
        meaning="squared error of a panel less that of its best member"),
    _part("mean_squared_error", "mean squared error against people", low=0.0, better="lower",
        meaning="mean squared distance of the judge's scores from people's"),
    _part("squared_bias", "squared bias", low=0.0, better="lower",
        meaning="part of the squared error that all items share"),
    _part("between_items", "variance of errors between items", better="lower",
        meaning="part of the squared error that is an item's own and stays when asked again"),
    _part("replicates", "replicate variance", low=0.0, better="lower",
        meaning="part of the squared error that changes when asked again"),
    Estimand("accuracy_of_{k}", "accuracy of {k}", unit="probability", low=0.0, high=1.0,
        better="higher", function="accuracy_by_k",
        meaning="how often so many judgments together are right"),
    Estimand("accuracy_loss_{k}", "accuracy lost by {k}", unit="probability difference", low=-1.0,
        high=1.0, nothing=0.0, better="lower", function="accuracy_by_k",
        meaning="accuracy with the most judgments less that with so many"),
    Estimand("slice_difference", "difference of a slice from the rest",
        unit="probability difference", low=-1.0, high=1.0, nothing=0.0,
        function="error_rates_by_slice",
        meaning="how often the judge is right on a slice less how often on the rest"),
    Estimand("corrected_difference", "corrected difference", unit="number", nothing=0.0,
        function="corrected_differences",
        meaning="what people would say of one system less what of the other"),
    Estimand("{part}_change", "change of the {part}", unit="number", nothing=0.0,
        function="anchored_change",
        meaning="change between two times, the judge's own told apart by anchors"),
    _agreed("judge_person_agreement", "judge agrees with one person",
        meaning="how often the judge says what a person says"),
    _agreed("person_agreement", "people among themselves",
        meaning="how often two people say the same of an item"),
    Estimand("agreement_gap", "judge's agreement less people's", unit="probability difference",
        low=-1.0, high=1.0, nothing=0.0, better="higher", function="agreement_ceiling",
        meaning="how much more often the judge agrees with a person than people among themselves"),
    _apart("judge_person_distance", "distance of judge and person", low=0.0,
        meaning="mean distance of the judge's score from a person's"),
    _apart("person_distance", "distance of two people", low=0.0,
        meaning="mean distance of two people's scores of an item"),
    _apart("distance_gap", "judge's distance less people's", nothing=0.0,
        meaning="how much further the judge lies from a person than people from one another"),
)  # fmt: skip
