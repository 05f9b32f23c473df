"""Sentences of verdicts, and requirements as users write them."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product

import pytest

from judgestats.results import CODES, ORDER, PRECISIONS, Requirement, read_requirements, reason_of
from judgestats.results.purposes import QUANTITIES

VERB = re.compile(
    r"\b(is|are|was|has|have|pass|passes|fails?|flips|repeats?|changes?|follow|agrees?|do|explains?|"
    r"detects?|differ|must|costs|equal|separates?|ranks?|rests|name)\b"
)
PLAIN_REASONS = {"no human labels.", "one judge.", "no pass / fail verdicts."}
"""Reasons that name what is missing, after "subject, purpose: "."""


def test_outcomes_have_a_number_in_their_order():
    assert [CODES[outcome] for outcome in ORDER] == [-1.0, 0.0, 0.5, 1.0]


STATES = ("holds", "fails", "open", "not_measured")


@pytest.mark.parametrize("state", STATES)
def test_every_reason_is_a_short_sentence(state):
    """A verb, at most 25 words, no placeholder left, one full stop at its end."""
    for key, several, estimate in product(QUANTITIES, (False, True), (0.25, 0.31)):
        if key in PRECISIONS and state == "fails":  # a precision never fails
            continue
        r = Requirement(
            key=key, kind="required", direction=QUANTITIES[key].direction or "min", threshold=0.2,
            threshold_from="default", status=state, estimate=estimate, low=0.2, high=0.4,
            limit=0.25, limit_side="lower", level=0.025,
        )  # fmt: skip
        text = reason_of(r, several=several)
        assert text.endswith("."), text
        assert 1 < len(text.split()) <= 25, text
        assert not re.search(r"[{}]|nan", text), text
        assert text in PLAIN_REASONS or VERB.search(text), text


def test_a_reason_states_the_limit_where_the_interval_alone_would_decide():
    r = Requirement(
        key="icc_1_1", kind="required", direction="min", threshold=0.75, threshold_from="default",
        status="open", estimate=0.8, low=0.76, high=0.84, limit=0.745, limit_side="lower",
        level=0.005,
    )  # fmt: skip
    assert reason_of(r) == "ICC(1,1) .80 is too close to .75 (99.5% limit .745)."
    assert reason_of(r, several=True) == "ICC(1,1) is too close to .75 (99.5% limits)."
    assert reason_of(replace(r, low=0.74)) == "ICC(1,1) .80 is too close to .75."
    assert reason_of(replace(r, low=0.6, estimate=0.9)) == "ICC(1,1) .90 rests on too few items."


@pytest.mark.parametrize(
    ("text", "key", "side", "threshold"),
    [
        ("tpr=.9", "tpr", "min", 0.9), ("tpr>=.9", "tpr", "min", 0.9),
        ("tpr=90%", "tpr", "min", 0.9),
        ("sensitivity=.9", "tpr", "min", 0.9), ("recall=.9", "tpr", "min", 0.9),
        ("specificity=.8", "tnr", "min", 0.8), ("reliability=.8", "icc_1_1", "min", 0.8),
        ("icc=.8", "icc_1_1", "min", 0.8), ("cohen_kappa=.6", "kappa", "min", 0.6),
        ("unread=.02", "unparsed_share", "max", 0.02), ("sem=.5", "sem", "max", 0.5),
        ("sdc=2", "sdc", "max", 2.0), ("position_bias=.1", "position_bias", "within", -0.1),
        ("pass_rate>=.6", "pass_rate", "min", 0.6), ("pass_rate<=.6", "pass_rate", "max", 0.6),
        ("pass_rate=.6...8", "pass_rate", "within", 0.6),
    ],
)  # fmt: skip
def test_a_requirement_is_read(text, key, side, threshold):
    [(found, demand)] = read_requirements([text]).items()
    assert (found, demand.direction, demand.threshold) == (key, side, threshold)


def test_a_requirement_can_be_removed():
    assert read_requirements(["flip_rate=none"]) == {"flip_rate": None}
