"""Every reply shape of the table is read as the table says, by the way a run takes."""

import json
from pathlib import Path

import pytest

from judgestats.collection import read_reply
from judgestats.items import Item, Response
from judgestats.protocols import Correctness, Pairwise, Pointwise, ReplyMode, Scale, Selection

SHAPES = [
    json.loads(line)
    for line in (Path(__file__).parent / "fixtures" / "replies.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]
MODES = {"json": ReplyMode.JSON_SCHEMA, "tool": ReplyMode.TOOL, "text": ReplyMode.TEXT}


def text_of(shape):
    """The text and finish reason of a shape; a message goes the way of a server's reply."""
    finish = shape["finish_reason"]
    if "message" in shape:
        reply = {"choices": [{"message": shape["message"], "finish_reason": finish}]}
        [choice] = read_reply(json.dumps(reply).encode(), {}, 0.0).choices
        return choice.text, choice.finish_reason
    made = shape.get("generator")
    text = made["head"] + made["repeat"] * made["times"] + made["tail"] if made else shape["text"]
    return text, finish or ""


def protocol_of(shape):
    options = shape.get("options", {})
    return {
        "pointwise": lambda: Pointwise(scale=Scale(*shape["scale"])),
        "pairwise": lambda: Pairwise(ties=options["ties"]),
        "selection": lambda: Selection(labels=options["labels"]),
        "correctness": Correctness,
    }[shape["protocol"]]()


def value_of(shape, verdict):
    """The value as the table has it: the place shown, before it is mapped to a response."""
    if shape["protocol"] == "pointwise":
        return verdict.score
    if shape["protocol"] == "pairwise":
        return {"first": "A", "second": "B"}.get(verdict.extra.get("position"), verdict.choice)
    if shape["protocol"] == "selection":
        return verdict.extra.get("position")
    return verdict.choice


def read(shape):
    """Status, value, and whether a reason is given."""
    protocol = protocol_of(shape)
    count = {"selection": shape.get("options", {}).get("count"), "pairwise": 2}
    names = range(count.get(shape["protocol"]) or 1)
    item = Item(
        id="q",
        cluster="q",
        turns=("Why?",),
        reference=("Because.",),
        responses=tuple(Response(turns=(f"text {i}",), author=f"m{i}") for i in names),
    )
    unit = protocol.units((item,))[0]
    text, finish = text_of(shape)
    verdict = protocol.read(unit, MODES[shape["mode"]], text, finish_reason=finish)
    return verdict.status.value, value_of(shape, verdict), bool(verdict.reason)


@pytest.mark.parametrize("protocol", sorted({shape["protocol"] for shape in SHAPES}))
def test_a_shape_is_read_as_the_table_says(protocol):
    for shape in SHAPES:
        if shape["protocol"] == protocol:
            status = shape["expect"]["status"].replace("out_of_range", "out_of_scale")
            expected = (status, shape["expect"]["value"], status != "ok")
            assert read(shape) == expected, (shape["id"], shape["why"])


def test_the_table_is_whole():
    assert len(SHAPES) == 309
    assert {s["protocol"] for s in SHAPES} == {"pointwise", "pairwise", "selection", "correctness"}
