"""prompts: a judge that its prompt's wording moves is found, one that it does not is not."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from judgestats.analysis.prompts import _negative_share_limits, analyse, plan
from judgestats.data import parsed_frame
from judgestats.errors import InputError
from judgestats.items import load_bank
from judgestats.protocols import Pointwise, ProbedPairwise, PromptTemplate, ReplyMode
from judgestats.runner import load_design
from judgestats.runner.prepare import prepare
from judgestats.simulated import distribution, read_request
from judgestats.simulated.judges import truth
from tests.null_judge.designs import claims, reworded, seeded
from tests.null_judge.worlds import World

WORDINGS = ("pointwise", *(f"pointwise_{k}" for k in range(2, 9)))


def judged(judges, *, seed=0):
    rng = np.random.default_rng(seed)
    rows = []
    for wording in WORDINGS:
        protocol = Pointwise(template=PromptTemplate.bundled(wording))
        for unit in protocol.units(load_bank())[::3]:
            asked = read_request({"messages": list(protocol.prompt(unit, ReplyMode.TEXT).messages)})
            assert (asked.low, asked.high) == (1, 10)
            for judge in judges:
                chances = truth(judge).score_probabilities(
                    asked.question, asked.answers[0], temperature=1.0, wording=asked.wording
                )
                drawn = rng.choice(list(chances), size=3, p=list(chances.values()))
                rows += [
                    {
                        "judge": judge, "temperature": 1.0, "item_id": unit.item_id,
                        "cluster": unit.cluster, "replicate": r, "status": "ok",
                        "score": float(s), "condition": f"{judge}, wording={wording}",
                        "factor_wording": wording,
                    }
                    for r, s in enumerate(drawn)
                ]  # fmt: skip
    return parsed_frame(pd.DataFrame(rows))


def compared(judges, *, seed=0):
    """Verdicts on pairs in both orders, in eight wordings."""
    rng = np.random.default_rng(seed)
    rows = []
    for wording in ("pairwise", *(f"pairwise_{k}" for k in range(2, 9))):
        protocol = ProbedPairwise(template=PromptTemplate.bundled(wording), pairs=32)
        for unit in protocol.units(load_bank()):
            asked = read_request({"messages": list(protocol.prompt(unit, ReplyMode.TEXT).messages)})
            for judge in judges:
                values, sums = distribution(truth(judge), asked, 1.0)
                drawn = rng.choice(len(values), size=3, p=np.diff([0.0, *sums]) / sums[-1])
                rows += [
                    {
                        "judge": judge, "temperature": 1.0, "item_id": unit.item_id,
                        "cluster": unit.cluster, "replicate": r, "status": "ok",
                        "order": unit.order, "condition": f"{judge}, wording={wording}",
                        "choice": protocol.read(unit, ReplyMode.TEXT, f"[[{values[k]}]]").choice,
                        "factor_wording": wording,
                    }
                    for r, k in enumerate(drawn)
                ]  # fmt: skip
    return parsed_frame(pd.DataFrame(rows))


def test_pairs_are_judged_otherwise_in_other_words_by_the_judge_that_heeds_them():
    frame = compared(["sim-fair", "sim-touchy"])
    given = {"resamples": 199, "seed": 0, "asks": "pairs"}
    found = analyse(frame, plan(given, ()))
    claims = {h.about.judge: h.claim for h in found.headlines}
    assert claims == {"sim-fair": "open", "sim-touchy": "differs"}
    effects = {e.name: e for e in found["wording.sim-touchy at T=1"].effects}
    assert effects["flips_repeated"].estimate < effects["flips_reworded"].estimate
    assert effects["wording_share"].interval.low > 0
    assert {row.key for row in found.rows} == {"flips", "fair_flips", "fair_wording"}


def test_the_eight_wordings_of_either_kind_are_taken_by_default():
    for asks, first in (("scores", "pointwise"), ("pairs", "pairwise")):
        prepared = prepare(load_design("prompts"), {"asks": asks, "judges": "sim-touchy"})
        levels = {c.factors["wording"] for c in prepared.conditions}
        assert levels == {first, *(f"{first}_{k}" for k in range(2, 9))}
    with pytest.raises(InputError, match="leaves nothing to compare"):
        prepare(load_design("prompts"), {"prompts": "pointwise"})


@pytest.fixture(scope="module")
def found():
    frame = judged(["sim-typical", "sim-touchy"])
    return analyse(frame, plan({"resamples": 199, "seed": 0}, ()))


def test_the_dial_is_found_at_its_size(found):
    claims = {h.about.judge: h.claim for h in found.headlines}
    assert claims == {"sim-typical": "open", "sim-touchy": "differs"}
    share = found["wording.sim-touchy at T=1"].effect
    # .8 points of wording beside .5 of asking again, both cut at the ends of the scale
    assert share.interval.low < 0.64 / (0.64 + 0.25) < share.interval.high + 0.1
    assert share.interval.low > 0.4


def test_nothing_is_claimed_of_wordings_that_change_nothing():
    wrong = sum(bool(claims(reworded(seeded(24, s), World(), resamples=99))) for s in range(4))
    assert wrong == 0  # the last claims one by p that is not adjusted


def test_a_single_prompt_or_two_of_one_name_are_refused(tmp_path):
    design = load_design("prompts")
    with pytest.raises(InputError, match=r"Write prompts=one\.txt,two\.txt"):
        prepare(design, {"prompt": "pointwise_2"})
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "p.txt").write_text("{question} {response}")
    with pytest.raises(InputError, match="two files have the same name"):
        prepare(design, {"prompts": f"{tmp_path}/a/p.txt,{tmp_path}/b/p.txt"})


def test_several_judges_share_one_model_with_a_d_study(found):
    parts = {e.name: e for e in found["crossed.T=1"].terms}
    shares = [e.estimate for n, e in parts.items() if n.startswith("variance_share")]
    assert sum(shares) == pytest.approx(1)
    wording = parts["variance_share_wording"]
    assert wording.interval.low > 0
    assert parts["error_of_two_prompts"].estimate < parts["error_of_prompt_twice"].estimate
    [few] = [limit for limit in map(str, found.limitations) if limit.startswith("Only 2 judges")]
    assert few.endswith("so results for others are uncertain.")
    [row] = [r for r in found.rows if r.key == "fair_wording"]
    assert "crossed.T=1/variance_share_judges" in row.beside.values()


def test_one_judge_has_no_such_model():
    frame = judged(["sim-touchy"])
    alone = analyse(frame, plan({"resamples": 19, "seed": 0}, ()))
    assert not [r for r in alone.results if r.id.startswith("crossed")]


def test_a_share_below_nothing_is_explained(found):
    at = next(r for r in found.results if r.id == "wording.sim-typical at T=1").result
    low = replace(
        at.effect, estimate=-0.07, interval=replace(at.effect.interval, low=-0.12, high=-0.02)
    )  # fmt: skip
    [note] = _negative_share_limits({"j at T=1": at.replace(effects=(low,)), "k": at})
    assert "is below 0 (j at T=1), which no true share is." in note
    assert not _negative_share_limits({"k": at})
