"""The gate: decided on bounds, in every condition."""

import math

import pytest

from judgestats.commands.check import WHOLE_RUN, judge_run, read_demands
from judgestats.errors import InputError

ICC = "reliability/icc1"
LO, HI = f"ci/{ICC}.lo", f"ci/{ICC}.hi"


def found(runs, *, least=(), most=()):
    return {f.where: f for f in judge_run(runs, read_demands(list(least), list(most)))}


@pytest.mark.parametrize(
    ("side", "bound", "passed"),
    [("least", 0.7, True), ("least", 0.71, False), ("most", 0.95, True), ("most", 0.94, False)],
)
def test_the_bad_end_of_the_interval_decides(side, bound, passed):
    runs = {WHOLE_RUN: {}, "a": {ICC: 0.9, LO: 0.7, HI: 0.95}}
    assert found(runs, **{side: [f"{ICC}={bound}"]})["a"].passed is passed


def test_a_condition_without_the_number_does_not_pass_unseen():
    runs = {WHOLE_RUN: {"cost/usd": 1.0}, "a": {ICC: 0.9, LO: 0.8, HI: 0.95}, "mute": {}}
    table = found(runs, least=[f"{ICC}=.5"])
    assert set(table) == {"a", "mute"}
    assert table["a"].passed
    assert not table["mute"].passed
    assert table["mute"].basis == "undefined"
    assert math.isnan(table["mute"].decided_on)


def test_an_undefined_interval_is_not_replaced_by_the_estimate():
    runs = {"a": {ICC: 0.9, LO: 0.8, HI: 0.95}, "b": {ICC: 1.0}}
    table = found(runs, least=[f"{ICC}=.5"])
    assert not table["b"].passed
    assert table["b"].basis == "undefined lower bound"


def test_a_number_that_is_only_counted_decides_itself():
    runs = {WHOLE_RUN: {}, "a": {"quality/unread_share": 0.04}, "b": {"quality/unread_share": 0.1}}
    table = found(runs, most=["quality/unread_share=.05"])
    assert [table[n].passed for n in "ab"] == [True, False]
    assert table["a"].basis == "estimate (no interval)"


def test_a_number_of_the_whole_run_is_asked_of_it_alone():
    runs = {WHOLE_RUN: {"cost/total": 1.0}, "a": {}}
    assert list(found(runs, most=["cost/total=2"])) == [WHOLE_RUN]


def test_an_unknown_number_is_named_with_the_known_ones():
    with pytest.raises(InputError, match=r"'nosuch'.*reliability/icc1"):
        judge_run({"a": {ICC: 0.9}}, read_demands(["nosuch=1"], []))


@pytest.mark.parametrize("text", ["icc1", "=1", "icc1=high", "icc1=nan", "icc1=inf"])
def test_a_demand_that_is_none_is_refused(text):
    with pytest.raises(InputError, match="METRIC=NUMBER"):
        read_demands([text], [])
