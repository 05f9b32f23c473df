"""Weighted scores stand beside sampled ones: described, never compared, never recommended."""

import math

import pytest

from judgestats.analysis import alignment, self_consistency
from judgestats.collection import collect_judgments
from judgestats.data import parse_judgments
from judgestats.protocols import ReplyMode
from judgestats.runner import load_design
from judgestats.runner.prepare import prepare

SMALL = {
    "judges": "sim-noisy",
    "temperatures": "0.5,1",
    "repeats": "3",
    "limit": "4",
    "resamples": "99",
}


def analysed(name, module, mode, **more):
    prepared = prepare(load_design(name), {**SMALL, **more})
    raw = collect_judgments(
        prepared.tasks, judges=dict(prepared.judges), reply_mode=ReplyMode(mode)
    ).read()
    units = {(u.item_id, u.order): u for own in prepared.units.values() for u in own}
    protocols = {c.label: p for c, p in prepared.protocols.items()}
    frame = parse_judgments(raw, protocols=protocols, units=units)
    declared = module.plan(prepared.parameters, prepared.conditions)
    return module.analyse(frame, declared, items=prepared.items)


@pytest.mark.parametrize(
    ("name", "module", "mark"),
    [
        ("alignment", alignment, "pointwise-weighted"),
        ("self_consistency", self_consistency, ", weighted by"),
    ],
)
def test_they_are_described_beside_the_sampled_scores_and_enter_nothing_else(name, module, mark):
    more = {"methods": "pointwise,pairwise"} if name == "alignment" else {}
    plain = analysed(name, module, "text", **more)
    weighed = analysed(name, module, "logprobs", **more)
    rows = weighed.conditions[weighed.conditions["condition"].str.contains(mark)]
    assert len(rows) == 2  # temperatures
    assert rows["alignment"].notna().all()
    assert "icc1" not in rows or rows["icc1"].isna().all()
    sampled = weighed.conditions.drop(rows.index)
    assert list(sampled["condition"]) == list(plain.conditions["condition"])
    ours = [r for r in weighed.results if mark in r.id]
    assert ours
    assert {r.role for r in ours} == {"descriptive"}
    assert {r.id for r in weighed.results} - {r.id for r in ours} == {r.id for r in plain.results}
    said = " ".join(set(weighed.limitations) - set(plain.limitations))
    assert "Temperature does not apply" in said
    assert "weighted scores are equal at T=0.5 and T=1" in said
    assert "fixed randomness" in said
    assert "1.00 of the probability on average" in said
    first, second = rows["alignment"]
    assert first == second or math.isclose(first, second)


def test_pipelines_refuse_them():
    with pytest.raises(Exception, match="reply=logprobs to experiments of one call"):
        prepare(load_design("crowd"), {"reply": "logprobs"})
