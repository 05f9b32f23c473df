"""Padding adds length and nothing that a simulated judge could see as quality."""

import math

import pytest

from judgestats.items import load_bank
from judgestats.protocols import padded, unpadded
from judgestats.simulated.judges import truth


def test_padding_can_be_taken_off_again():
    for item in load_bank()[:5]:
        for response in item.responses:
            assert unpadded(padded(response.text)) == response.text.rstrip()
            assert unpadded(response.text) == response.text


@pytest.mark.parametrize(("judge", "slope"), [("sim-verbose", 0.8), ("sim-typical", 0.0)])
def test_only_length_moves_a_simulated_judge(judge, slope):
    answer = load_bank()[0].responses[0].text
    longer = padded(answer)
    known = truth(judge)
    moved = known.centre("Why?", longer) - known.centre("Why?", answer)
    assert moved == pytest.approx(slope * math.log(len(longer) / len(answer)), abs=1e-9)
