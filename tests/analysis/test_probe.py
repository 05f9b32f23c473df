"""probe: what moves a judge is found at its size, what does not is not claimed."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from judgestats.analysis.probe import analyse, plan
from judgestats.data import Condition, parsed_frame
from judgestats.errors import InputError
from judgestats.items import Item, Response, load_bank
from judgestats.protocols import (
    PROBES,
    ProbedPairwise,
    ProbedPointwise,
    ProbedSelection,
    ReplyMode,
    Scale,
    probes_named,
    scaled,
    variants_of,
)
from judgestats.simulated import distribution, read_request, stated_quality
from judgestats.simulated.judges import truth
from tests.null_judge.designs import claims, probed, seeded
from tests.null_judge.worlds import World

BANK = load_bank()


def protocol(variant, items):
    if variant.asks == "pairs":
        return ProbedPairwise(variant=variant, pairs=64)
    if variant.scale:
        return scaled(ProbedPointwise(variant=variant))
    return ProbedSelection() if variant.asks == "options" else ProbedPointwise(variant=variant)


def judged(judges, probes, *, replicates=3, seed=0, items=BANK):
    """Judgments as the simulated judges would give them at T = 1, without a server."""
    rng = np.random.default_rng(seed)
    rows = []
    for name, variant in variants_of(probes).items():
        asked_by = protocol(variant, items)
        if asked_by is None:  # the scale of the run itself
            continue
        for unit in asked_by.units(items):
            asked = read_request({"messages": list(asked_by.prompt(unit, ReplyMode.TEXT).messages)})
            for judge in judges:
                values, sums = distribution(truth(judge), asked, 1.0)
                drawn = rng.choice(len(values), size=replicates, p=np.diff([0.0, *sums]) / sums[-1])
                rows += [
                    {
                        "judge": judge, "temperature": 1.0, "item_id": unit.item_id,
                        "cluster": unit.cluster, "replicate": r, "status": "ok",
                        "condition": f"{judge}, probe={name}", "order": unit.order,
                        "factor_probe": name, **said(asked_by, unit, variant, values[k]),
                    }
                    for r, k in enumerate(drawn)
                ]  # fmt: skip
    return parsed_frame(pd.DataFrame(rows))


def said(asked_by, unit, variant, value):
    if variant.asks == "scores":
        return {"score": asked_by.read(unit, ReplyMode.TEXT, f"Score: [[{value}]]").score}
    text = f"[[{value}]]" if variant.asks == "pairs" else f"Best Response: [[{value}]]"
    verdict = asked_by.read(unit, ReplyMode.TEXT, text)
    return {"choice": verdict.choice, **verdict.extra}


def analysed(frame, probes, items=BANK, **given):
    parameters = {
        "probes": probes, "scale": Scale(), "resamples": 99, "seed": 0, "own": {}, "texts": "on",
        **given,
    }  # fmt: skip
    conditions = [Condition(judge=j, temperature=1.0) for j in frame["judge"].unique()]
    return analyse(frame, plan(parameters, conditions), items=items)


@pytest.fixture(scope="module")
def found():
    probes = probes_named("probes", "padding,citation,tone,bandwagon,author,gender,attack,control")
    return analysed(judged(["sim-typical", "sim-swayed", "sim-credulous"], probes), probes)


def claimed(found, claim):
    return {(h.about.judge, h.about.varied) for h in found.headlines if h.claim == claim}


def test_every_dial_is_found_at_its_size(found):
    moved = {k for k in claimed(found, "differs") if PROBES[k[1]].kind == "fair"}
    assert moved == {("sim-swayed", n) for n in ("citation", "tone", "bandwagon", "author")}
    interval = found["instrument.bandwagon.sim-swayed at T=1"].effect.interval
    assert 0.5 < interval.low <= 1.2


def test_a_judge_that_sees_nothing_is_not_called_fair():
    probes = probes_named("probes", "padding,gender,off topic")
    found = analysed(judged(["sim-blind"], probes), probes)
    assert not claimed(found, "equivalent")
    assert not claimed(found, "differs")
    assert {h.reason for h in found.headlines if h.hypothesis == "moved"} == {
        "no control was passed: a judge that sees nothing is not called fair"
    }


def test_an_effect_is_claimed_of_the_probe_that_has_it():
    world = World(sizes=(1,) * 30, replications=5, unread=0.0, constant=0.0)
    found = probed(seeded(23, 0), world, resamples=19, effect=-1.0)
    assert claimed(found, "differs") == {("a", "citation"), ("b", "citation")}


def test_what_could_not_be_built_is_named():
    probes = probes_named("probes", "padding,wrong reference,off topic")
    one = tuple(i for i in BANK if not i.reference)[:1]
    found = analysed(judged(["sim-typical"], probes, items=one), probes)
    told = " ".join(map(str, found.limitations))
    assert "Not built from these items: off topic (no second question" in told
    assert "wrong reference (no reference that the probe could change)" in told


@pytest.fixture(scope="module")
def compared():
    probes = probes_named("probes", "pairs,options")
    judges = ["sim-fair", "sim-swayed", "sim-credulous", "sim-positional"]
    own = {"sim-swayed": "author-b", "sim-fair": "author-c"}
    return analysed(judged(judges, probes), probes, own=own)


def test_what_moves_comparisons_is_found_where_it_is_and_nowhere_else(compared):
    moved = {k for k in claimed(compared, "differs") if PROBES[k[1]].kind == "fair"}
    last = {("sim-positional", "last of many")}  # what stands last is chosen less often by it
    assert moved - last == {
        ("sim-swayed", "famous name"), ("sim-swayed", "pair bandwagon"),
        ("sim-swayed", "own answer"), ("sim-credulous", "last of many"),
        ("sim-positional", "position"), ("sim-positional", "first of many"),
    }  # fmt: skip
    fair = {n for j, n in claimed(compared, "equivalent") if j == "sim-fair"}
    assert {"position", "famous name", "pair hint"} <= fair


def test_without_labels_nothing_is_said_of_own_answers():
    probes = probes_named("probes", "position,own answer,first of many,pair off topic")
    items = tuple(replace(i, labels=(), responses=i.responses[:2]) for i in BANK)
    found = analysed(judged(["sim-partial"], probes, items=items), probes, items=items,
                     own={"sim-partial": "author-a"})  # fmt: skip
    told = " ".join(map(str, found.limitations))
    assert "own answer (without human labels" in told
    assert "first of many (no question has 3 answers: position examines two)" in told
    assert "instrument.position.sim-partial at T=1" in {r.id for r in found.results}


@pytest.fixture(scope="module")
def on_scales():
    probes = probes_named("probes", "scale,cut off")
    return analysed(judged(["sim-fair", "sim-numeric"], probes), probes)


def test_scales_are_compared_by_order(on_scales):
    moved = {k for k in claimed(on_scales, "differs") if PROBES[k[1]].kind == "scale"}
    assert moved == {("sim-numeric", n) for n in _SCALES}
    assert claimed(on_scales, "equivalent") == {("sim-fair", n) for n in _SCALES}
    told = " ".join(map(str, on_scales.limitations))
    assert "Not built from these items: scale 1-10 (the scale of the run" in told
    [worst] = [r.result.table for r in on_scales.described if r.id == "worst_cases"]
    turned = worst[worst["probe"] == "reversed scale"]
    assert set(turned["judge"]) == {"sim-numeric at T=1"}
    assert turned["moved"].abs().between(0.3, 1).all()
    forgot = on_scales["instrument.reversed scale.sim-numeric at T=1"].effect.estimate
    assert forgot > on_scales["instrument.scale 1-5.sim-numeric at T=1"].effect.estimate
    levels = {r.id: r.result.estimate for r in on_scales.results if r.id.startswith("levels.")}
    assert levels["levels.scale 1-5.sim-fair at T=1"] < levels["levels.1-10.sim-fair at T=1"]
    assert levels["levels.scale 1-100.sim-fair at T=1"] > levels["levels.1-10.sim-fair at T=1"]


_SCALES = ("scale 1-5", "scale 1-100", "reversed scale", "scale of words")


def test_padding_is_told_from_quality_where_longer_answers_really_are_better():
    def answer(q):
        return f"{'It says something more. ' * round(4 + 40 * q)}{stated_quality(q)}"

    rng = np.random.default_rng(7)
    items = tuple(
        Item(
            id=f"q{i}", cluster=f"q{i}", turns=(f"Question {i}?",),
            responses=tuple(Response(turns=(answer(q),)) for q in rng.uniform(0.2, 0.9, 2)),
        )
        for i in range(40)
    )  # fmt: skip
    probes = probes_named("probes", "padding,pair padding,off topic,pair off topic")
    found = analysed(
        judged(["sim-fair", "sim-verbose"], probes, items=items), probes, items=items
    )  # fmt: skip
    moved = {k for k in claimed(found, "differs") if PROBES[k[1]].kind == "fair"}
    assert {k for k in moved if k[0] == "sim-fair"} == set()
    assert ("sim-verbose", "padding") in moved


def worked(k, quality):
    """An answer that ends with its final answer, and as it was written at length."""
    reasons = " ".join(f"Step {i} of {k} follows from the one before." for i in range(12))
    final = f"Final answer: {k} {stated_quality(quality)}"
    expanded = f"{reasons} {reasons} {reasons}\n{final}"
    return Response(turns=(f"{reasons}\n{final}",), written=(("expanded", expanded),))


@pytest.fixture(scope="module")
def reasoned():
    rng = np.random.default_rng(11)
    items = tuple(
        Item(
            id=f"q{i}", cluster=f"q{i}", turns=(f"Question {i}?",),
            responses=tuple(worked(f"{i}.{k}", q) for k, q in enumerate(rng.uniform(.2, .7, 2))),
        )
        for i in range(60)
    )  # fmt: skip
    listed = "nationality,mother tongue,reasoning left out,expanded"
    probes = probes_named("probes", listed)
    judges = ["sim-fair", "sim-parochial", "sim-verbose"]
    return analysed(judged(judges, probes, items=items), probes, items=items)


def rewritten(k, quality):
    """An answer, as translated, in fewer words and in another tone."""
    written = tuple(
        (how, f"Was {k} betrifft. {stated_quality(quality, how)}")
        for how in ("translated", "condensed", "other tone")
    )
    return Response(turns=(f"About {k}. {stated_quality(quality)}",), written=written)


def test_a_judge_bound_to_its_reference_moves_with_a_tampered_one():
    probes = probes_named("probes", "wrong reference,altered reference,no reference,off topic")
    found = analysed(judged(["sim-fair", "sim-literal"], probes), probes)
    sizes = {"wrong reference": -2.0, "altered reference": -1.0, "no reference": 0.5}
    for probe, size in sizes.items():
        fair, bound = (
            found[f"instrument.{probe}.{j} at T=1"].effect.interval
            for j in ("sim-fair", "sim-literal")
        )
        assert -0.25 < fair.low <= fair.high < 0.25  # chance alone
        assert bound.low <= size + 0.4  # cut at the ends of the scale
        assert bound.high >= size - 0.4
        assert np.sign(bound.low) == np.sign(bound.high) == np.sign(size)
    assert not {k for k in claimed(found, "differs") if PROBES[k[1]].kind == "reference"}


def test_attacks_succeed_with_the_judge_that_obeys_and_with_no_other(found):
    taken = {k for k in claimed(found, "differs") if PROBES[k[1]].kind == "attack"}
    assert taken == {("sim-credulous", n) for n in ("order", "forged verdict", "master key")}
    rate = found["instrument.order.sim-credulous at T=1"].effect
    assert rate.estimate == 1.0
    assert rate.interval.low > 0.85


def test_a_judge_that_sees_what_is_worse_may_be_called_fair(found):
    assert ("sim-typical", "gender") in claimed(found, "equivalent")
    assert {n for j, n in claimed(found, "differs") if j == "sim-typical"} == {
        "off topic", "cut off", "pair off topic",
    }  # fmt: skip


def test_the_figure_of_one_change_names_it():
    probes = probes_named("probes", "padding,off topic")
    judges = ["sim-blind", "sim-typical", "sim-swayed"]
    drawing = analysed(judged(judges, probes), probes).drawing
    assert len(drawing.rows) == 3
    assert "the change padding adds" in drawing.caption


def test_the_figure_is_of_the_comparisons_where_they_are_what_moves_judges():
    probes = probes_named("probes", "gender,position,off topic,pair off topic")
    judges = ["sim-blind", "sim-typical", "sim-positional"]
    found = analysed(judged(judges, probes), probes)
    assert ("sim-positional", "position") in claimed(found, "differs")
    assert {"position"} == {row.split(".")[1] for row in found.drawing.rows}
    assert "the change position adds" in found.drawing.caption


def test_nothing_is_claimed_of_judges_that_heed_no_probe():
    wrong = sum(bool(claims(probed(seeded(22, s), World(), resamples=19))) for s in range(3))
    assert wrong == 0  # the first is the nearest: a tenth of its p is a claim


def test_a_name_shifts_preferences_by_what_the_judge_adds_to_whom_it_names(compared):
    probe = PROBES["famous name"]
    expected = []
    for side in probe.variants:
        asked_by = ProbedPairwise(variant=side, pairs=64)
        share = []
        for unit in asked_by.units(BANK):
            asked = read_request({"messages": list(asked_by.prompt(unit, ReplyMode.TEXT).messages)})
            _, sums = distribution(truth("sim-swayed"), asked, 1.0)
            first, second, tie = np.diff([0.0, *sums])
            share.append((first if unit.order == "ab" else second) + tie / 2)
        expected.append(np.mean(share))
    interval = compared["instrument.famous name.sim-swayed at T=1"].effect.interval
    assert interval.low < expected[1] - expected[0] < interval.high


def test_the_worst_cases_stand_with_their_texts(compared):
    [cases] = [r.result.table for r in compared.described if r.id == "worst_cases"]
    famous = cases[cases["probe"] == "famous name"]
    assert 1 <= len(famous) <= 3
    assert (famous["moved"] > 0).all()
    assert famous["answer"].str.contains("-- against --").all()


def test_a_judge_that_is_not_asked_has_no_own_answers():
    probes = probes_named("probes", "own answer")
    given = {"probes": probes, "scale": Scale(), "resamples": 9, "seed": 0}
    given |= {"own": {"x": "a"}, "texts": "on"}
    with pytest.raises(InputError, match="own: 'x' is not among the judges"):
        plan(given, [Condition(judge="y", temperature=1.0)])


def test_what_was_written_anew_is_found_at_its_size():
    rng = np.random.default_rng(12)
    items = tuple(
        Item(
            id=f"q{i}", cluster=f"q{i}", turns=(f"Question {i}?",),
            responses=tuple(rewritten(f"{i}.{k}", q) for k, q in enumerate(rng.uniform(.3, .7, 2))),
        )
        for i in range(40)
    )  # fmt: skip
    probes = probes_named("probes", "translated,condensed,other tone,off topic")
    found = analysed(judged(["sim-fair", "sim-literal"], probes, items=items), probes, items=items)
    moved = {k for k in claimed(found, "differs") if PROBES[k[1]].kind == "fair"}
    sizes = {"translated": -0.8, "condensed": -1.1, "other tone": 0.6}
    assert moved == {("sim-literal", probe) for probe in sizes}
    for probe, size in sizes.items():
        interval = found[f"instrument.{probe}.sim-literal at T=1"].effect.interval
        assert interval.low <= size <= interval.high


def test_authors_origins_and_reasoning_left_out_are_found_at_their_size(reasoned):
    moved = {k for k in claimed(reasoned, "differs") if PROBES[k[1]].kind == "fair"}
    assert moved == {
        ("sim-parochial", "nationality"), ("sim-parochial", "mother tongue"),
        ("sim-parochial", "reasoning left out"), ("sim-verbose", "expanded"),
        ("sim-verbose", "reasoning left out"),
    }  # fmt: skip
    sizes = {"nationality": 0.9, "mother tongue": 0.6, "reasoning left out": -1.2}
    for probe, size in sizes.items():
        interval = reasoned[f"instrument.{probe}.sim-parochial at T=1"].effect.interval
        assert interval.low <= size <= interval.high
    # Three times as long, at .8 points a unit of log length.
    interval = reasoned["instrument.expanded.sim-verbose at T=1"].effect.interval
    assert interval.low <= 0.8 * np.log(2.9) <= interval.high
