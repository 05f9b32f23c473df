"""Any field of the request can be fixed or varied: conditions, plan, tables and trends follow."""

import json

import pytest

from judgestats.collection import collect_judgments
from judgestats.data import parse_judgments
from judgestats.errors import InputError
from judgestats.runner import load_design, settings_of
from judgestats.runner.prepare import prepare
from judgestats.simulated import Faults, SimulatedServer, run_server


def collected(name, given, **options):
    prepared = prepare(load_design(name), {"resamples": "199", "responses": "2", **given})
    found = collect_judgments(
        prepared.tasks,
        experiment=name,
        settings=settings_of(prepared.parameters),
        judges=dict(prepared.judges),
        **options,
    )
    units = {(u.item_id, u.order): u for listed in prepared.units.values() for u in listed}
    by_label = {c.label: p for c, p in prepared.protocols.items()}
    frame = parse_judgments(found.read(), protocols=by_label, units=units)
    return prepared, found, frame


def answer(name, given):
    prepared, _, frame = collected(name, given)
    return prepared, prepared.analysis.analyse(frame, prepared.plan)


EFFORT = "reasoning_effort:high,none,medium"


def test_a_varied_field_makes_conditions_in_order():
    given = {"judges": "sim-typical,sim-null", "temperatures": "1", "limit": "4"}
    prepared = prepare(load_design("judges"), {**given, "vary": EFFORT})
    assert [c.label for c in prepared.conditions][:3] == [
        "sim-typical, T=1, reasoning_effort=none",
        "sim-typical, T=1, reasoning_effort=medium",
        "sim-typical, T=1, reasoning_effort=high",
    ]
    assert "vary.reasoning_effort" in {h.id for h in prepared.plan.hypotheses}


def test_effort_is_found_and_its_null_is_found_null():
    given = {
        "judges": "sim-discerning,sim-null",
        "temperatures": "1",
        "repeats": "6",
        "vary": EFFORT,
    }
    _, analysis = answer("judges", given)
    page = "vary.reasoning_effort.trend.page_trend_test."
    assert analysis[f"{page}sim-discerning at T=1"].p_value < 0.05
    assert analysis[f"{page}sim-null at T=1"].p_value > 0.05
    assert set(analysis.conditions["factor_reasoning_effort"]) == {"none", "medium", "high"}


def test_fixed_fields_stand_in_every_request():
    given = {
        "judges": "sim-typical,sim-null",
        "temperatures": "default",
        "limit": "2",
        "repeats": "2",
        "top_p": "0.9",
        "extra_body": "thinking.type=disabled",
    }
    prepared, _, frame = collected("judges", given)
    assert [c.label for c in prepared.conditions] == [
        "sim-typical, T=default",
        "sim-null, T=default",
    ]
    [sent] = set(frame["sent"])
    assert json.loads(sent) == {"top_p": 0.9, "extra_body.thinking.type": "disabled"}
    assert frame["temperature"].isna().all()


def test_a_refused_field_is_left_out_where_fixed_and_ends_the_condition_where_varied():
    with run_server(SimulatedServer(Faults(refuse_field="reasoning_effort"))) as url:
        given = {
            "judges": f"sim-typical@{url},sim-null@{url}",
            "temperatures": "1",
            "limit": "2",
            "repeats": "2",
        }
        _, found, frame = collected("judges", {**given, "reasoning_effort": "low"})
        assert any("(asked without reasoning_effort)" in note for note in found.notes)
        assert set(frame["status"]) == {"ok"}
        assert set(frame["sent"]) == {'{"temperature":1.0}'}
        assert "reasoning_effort" in frame["requested"].iloc[0]
        _, found, frame = collected("judges", {**given, "vary": "reasoning_effort:low,default"})
        low = frame["factor_reasoning_effort"] == "low"
        assert set(frame.loc[low, "status"]) == {"invalid_condition"}
        assert set(frame.loc[low, "failure"]) == {"reasoning_effort_refused"}
        assert set(frame.loc[~low, "status"]) == {"ok"}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"vary": "reasoning_efort:low,high"}, "Did you mean reasoning_effort"),
        ({"vary": "reasoning_effort:low,hgh"}, "Did you mean high"),
        ({"vary": "reasoning_effort:low"}, "at least two levels"),
        ({"vary": "reasoning_effort"}, "FIELD:LEVEL"),
        ({"vary": "temperature:0,1"}, "temperatures=0,0.5,1"),
        ({"vary": "top_p:0.5,1", "top_p": "0.9"}, "fixed and varied at once"),
        ({"top_p": "1.5"}, "from 0 to 1"),
        ({"temperatures": "default,1"}, "Give it alone"),
        ({"reasoning_effort": "lots"}, "must be one of"),
    ],
)
def test_wrong_settings_are_named(given, said):
    with pytest.raises(InputError, match=said):
        prepare(load_design("judges"), {"temperatures": "1", **given})
