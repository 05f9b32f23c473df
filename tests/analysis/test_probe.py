"""probe: what moves a judge is found at its size, what does not is not claimed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from judgestats.analysis.probe import analyse, plan
from judgestats.items.bank import load_bank
from judgestats.judges.simulated.request_reader import read_request
from judgestats.judges.simulated.truth import truth
from judgestats.judgments.readers.frame import parsed_frame
from judgestats.protocols.base import ReplyMode
from judgestats.protocols.probes import PROBES, ProbedPointwise, probes_named, variants_of
from judgestats.protocols.scale import Scale
from tests.null_judge.designs import claims, probed, seeded
from tests.null_judge.worlds import World

BANK = load_bank()


def judged(judges, probes, *, replicates=3, seed=0, items=BANK):
    """Judgments as the simulated judges would give them at T = 1, without a server."""
    rng = np.random.default_rng(seed)
    rows = []
    for name, variant in variants_of(probes).items():
        protocol = ProbedPointwise(variant=variant)
        for unit in protocol.units(items):
            asked = read_request({"messages": list(protocol.prompt(unit, ReplyMode.TEXT).messages)})
            for judge in judges:
                chances = truth(judge).score_probabilities(
                    asked.question, asked.answers[0], temperature=1.0, note=asked.note
                )
                drawn = rng.choice(list(chances), size=replicates, p=list(chances.values()))
                rows += [
                    {
                        "judge": judge, "temperature": 1.0, "item_id": unit.item_id,
                        "cluster": unit.cluster, "replicate": r, "status": "ok",
                        "score": float(score), "condition": f"{judge}, probe={name}",
                        "factor_probe": name,
                    }
                    for r, score in enumerate(drawn)
                ]  # fmt: skip
    return parsed_frame(pd.DataFrame(rows))


def analysed(frame, probes, **given):
    parameters = {"probes": probes, "scale": Scale(), "resamples": 99, "seed": 0, **given}
    return analyse(frame, plan(parameters, ()))


@pytest.fixture(scope="module")
def found():
    probes = probes_named("probes", "padding,citation,tone,bandwagon,author,gender,attack,control")
    return analysed(judged(["sim-typical", "sim-swayed", "sim-credulous"], probes), probes)


def claimed(found, claim):
    return {(h.about.judge, h.about.varied) for h in found.headlines if h.claim == claim}


def test_every_dial_is_found_at_its_size(found):
    moved = {k for k in claimed(found, "differs") if PROBES[k[1]].kind == "fair"}
    assert moved == {("sim-swayed", n) for n in ("citation", "tone", "bandwagon", "author")}
    shifts = {(r.a, r.interval.low <= 1.2 and r.interval.low > 0.5) for r in found["moved"].rows
              if r.a == "bandwagon: high (sim-swayed at T=1)"}  # fmt: skip
    assert shifts == {("bandwagon: high (sim-swayed at T=1)", True)}


def test_attacks_succeed_with_the_judge_that_obeys_and_with_no_other(found):
    taken = {k for k in claimed(found, "differs") if PROBES[k[1]].kind == "attack"}
    assert taken == {("sim-credulous", n) for n in ("order", "forged verdict", "master key")}
    rate = found["attack.order.sim-credulous at T=1"].effect
    assert rate.estimate == 1.0
    assert rate.interval.low > 0.85


def test_a_judge_that_sees_what_is_worse_may_be_called_fair(found):
    assert ("sim-typical", "gender") in claimed(found, "equivalent")
    assert {n for j, n in claimed(found, "differs") if j == "sim-typical"} == {
        "off topic", "cut off",
    }  # fmt: skip


def test_a_judge_that_sees_nothing_is_not_called_fair():
    probes = probes_named("probes", "padding,gender,off topic")
    found = analysed(judged(["sim-blind"], probes), probes)
    assert not claimed(found, "equivalent")
    assert not claimed(found, "differs")
    assert {h.reason for h in found.headlines if h.hypothesis == "moved"} == {
        "no control was passed: a judge that sees nothing is not called fair"
    }
    assert "nothing is called fair" in found.sentence


def test_nothing_is_claimed_of_judges_that_heed_no_probe():
    wrong = sum(bool(claims(probed(seeded(22, s), World(), resamples=19))) for s in range(12))
    assert wrong <= 2


def test_an_effect_is_claimed_of_the_probe_that_has_it():
    world = World(sizes=(1,) * 30, replications=5, unread=0.0, constant=0.0)
    found = probed(seeded(23, 0), world, resamples=19, effect=-1.0)
    assert claimed(found, "differs") == {("a", "citation"), ("b", "citation")}


def test_what_could_not_be_built_is_named():
    probes = probes_named("probes", "padding,wrong reference,off topic")
    one = tuple(i for i in BANK if not i.reference)[:1]
    found = analysed(judged(["sim-typical"], probes, items=one), probes)
    assert any("Not built from these items: off topic, wrong reference" in str(t)
               for t in found.limitations)  # fmt: skip
