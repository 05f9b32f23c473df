"""Every judge of a pair is told the same aspects; every stage may have a prompt of one's own."""

from dataclasses import replace

import pytest

from judgestats.errors import InputError
from judgestats.items import load_bank
from judgestats.protocols import ReplyMode, Wording, strategy
from judgestats.runner import load_design, rendered
from judgestats.runner.prepare import prepare

NAMES = ("vanilla", "long", "criteria", "plan", "majority@2", "aggregate@2", "cce@2", "cce-raw@2")


def pair(category):
    item = next(item for item in load_bank() if item.labels)
    return strategy("vanilla").units((replace(item, category=category),))[0]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("category", "told"),
    [
        ("helpsteer2", "helpfulness, correctness, coherence, complexity and verbosity"),
        ("writing", "helpfulness, relevance, accuracy, depth, creativity and level of detail"),
    ],
)
def test_all_judges_of_a_pair_are_told_the_aspects_of_its_set(name, category, told):
    one = strategy(name)
    unit = pair(category)
    assert told in one.prompt(unit, ReplyMode.TEXT).messages[0]["content"]
    for call in one.calls(unit, {}):
        text = "\n".join(m["content"] for m in call.build(ReplyMode.TEXT).messages)
        assert told in text
        assert "{aspects}" not in text


def test_every_stage_may_have_a_prompt_of_ones_own(tmp_path):
    final = tmp_path / "final.txt"
    final.write_text("{question} {response_a} {response_b} <<{judgments}>> MINE")
    removal = tmp_path / "removal.txt"
    removal.write_text("Strike it: {judgments}")
    wording = Wording(own=(("crowd", str(final)), ("removal", str(removal))))
    one = strategy("cce@2", wording=wording)
    assert "MINE" in one.prompt(pair("x"), ReplyMode.TEXT).messages[0]["content"]
    assert {t.name for t in one.templates} == {"judge_vanilla", "removal.txt", "final.txt"}
    bare = tmp_path / "bare.txt"
    bare.write_text("Strike it.")
    with pytest.raises(InputError, match=r"lacks \{judgments\}"):
        Wording(own=(("removal", str(bare)),))
    with pytest.raises(InputError, match="no stage 'finale'"):
        Wording(own=(("finale", str(final)),))


def test_a_run_takes_them(workplace, tmp_path):
    own = tmp_path / "points.txt"
    own.write_text("List the points of {judgments}")
    given = {"strategies": "vanilla,cce@2", "scaling": "none", "selections": "none", "pairs": "4"}
    prepared = prepare(load_design("crowd"), given | {"prompts": f"points={own}"})
    names = {t.name for p in prepared.protocols.values() for t in p.templates}
    assert "points.txt" in names
    assert len(rendered(prepared)) == 2


def test_each_text_is_recorded_with_its_stage_and_its_own_reply_instruction(workplace):
    given = {"strategies": "vanilla,plan,cce@2,cce-raw@2", "scaling": "none", "selections": "none",
             "pairs": "4", "judges": "sim-crowd", "key_points": "4"}  # fmt: skip
    prepared = prepare(load_design("crowd"), given)
    names = {t.sha: t.name for p in prepared.protocols.values() for t in p.templates}
    ends, under = {}, {}
    for one in rendered(prepared):
        for sha, stage in one.record()["stages"].items():
            ends.setdefault((names[sha], stage["stage"]), set()).add(stage["instruction"])
            under.setdefault(names[sha], []).extend(stage["conditions"])
    field = {name: text.pop().split('"')[1] for (name, _), text in ends.items()}
    assert field == {
        "judge_vanilla": "explanation", "evaluation_plan": "plan", "judge_plan": "explanation",
        "outcome_removal": "analysis", "judge_crowd": "explanation", "key_points": "aspects",
    }  # fmt: skip
    assert not any(ends.values()), "one instruction each"
    assert {stage for _, stage in ends} == {
        "vanilla", "plan", "planned", "removal", "crowd", "points",
    }  # fmt: skip
    assert len(under["judge_crowd"]) == 2 > len(under["outcome_removal"]) == 1, "raw removes none"
