"""The pointwise protocol: units, prompts, the order of the schema's fields."""

import pytest

from judgestats.errors import InputError
from judgestats.items import Item, Response
from judgestats.protocols import Pointwise, PromptTemplate, ReplyMode, Scale, answers_in


def _item(**changes):
    given = {
        "id": "q1",
        "cluster": "q1",
        "turns": ("What is {low}?",),
        "responses": (Response(turns=("four",), author="a"), Response(turns=("five",), author="b")),
    }
    return Item(**(given | changes))


def test_responses_without_distinct_authors_still_have_distinct_names():
    twins = (Response(turns=("x",), author="a"), Response(turns=("y",), author="a"))
    names = [u.item_id for u in Pointwise().units((_item(responses=twins),))]
    assert len(set(names)) == 2


def test_braces_in_a_question_are_not_placeholders():
    protocol = Pointwise()
    prompt = protocol.prompt(protocol.units((_item(),))[0], ReplyMode.TEXT)
    assert "What is {low}?" in prompt.messages[-1]["content"]


def test_the_answer_stands_between_its_marks():
    protocol = Pointwise()
    prompt = protocol.prompt(protocol.units((_item(),))[1], ReplyMode.JSON_SCHEMA)
    assert [text for _, text in answers_in(prompt.messages[-1]["content"])] == ["five"]


@pytest.mark.parametrize(
    ("reasoning", "fields"),
    [("before", ["explanation", "score"]), ("after", ["score", "explanation"])],
)
def test_the_order_of_the_schemas_fields_follows_the_reasoning(reasoning, fields):
    schema = Pointwise(reasoning=reasoning).schema().schema
    assert list(schema["properties"]) == fields
    assert schema["required"] == fields


def test_the_scale_reaches_prompt_and_schema():
    protocol = Pointwise(scale=Scale(0, 5))
    prompt = protocol.prompt(protocol.units((_item(),))[0], ReplyMode.TOOL)
    assert prompt.schema.schema["properties"]["score"]["maximum"] == 5
    assert "from 0 (worst) to 5 (best)" in prompt.messages[0]["content"]
    text = protocol.prompt(protocol.units((_item(),))[0], ReplyMode.TEXT)
    assert text.schema is None
    assert "[[number]] (0-5)" in text.messages[-1]["content"]


def test_earlier_turns_are_context():
    item = _item(turns=("First?", "Second?"), responses=(Response(turns=("one", "two")),))
    protocol = Pointwise()
    content = protocol.prompt(protocol.units((item,))[0], ReplyMode.TEXT).messages[-1]["content"]
    assert content.index("User: First?") < content.index("Assistant: one")
    assert content.index("Assistant: one") < content.index("Second?")
    assert [text for _, text in answers_in(content)] == ["two"]


def test_a_prompt_is_identified_by_its_text_alone(tmp_path):
    file = tmp_path / "mine.txt"
    file.write_text("Judge {question} {response}")
    one = PromptTemplate.load(str(file))
    assert one.sha == PromptTemplate(text="Judge {question} {response}", name="other").sha
    assert one.sha != PromptTemplate(text="Judge {question} {response}!").sha


def test_a_prompt_without_the_response_is_refused():
    with pytest.raises(InputError, match=r"lacks \{response\}"):
        Pointwise(template=PromptTemplate(text="Judge {question}", name="mine.txt"))


def test_a_users_prompt_without_a_reply_placeholder_still_says_how_to_reply():
    protocol = Pointwise(template=PromptTemplate(text="Judge {question} {response}"))
    prompt = protocol.prompt(protocol.units((_item(),))[0], ReplyMode.TEXT)
    assert prompt.messages[-1]["content"].endswith("Score: [[number]] (1-10).")


def test_wrong_scales_are_refused():
    for text in ("10", "5-1", "a-b", "1-1"):
        with pytest.raises(InputError):
            Scale.parse(text)


def test_one_unit_a_response_named_by_author():
    units = Pointwise().units((_item(),))
    assert [u.item_id for u in units] == ["q1/a", "q1/b"]
    assert {u.cluster for u in units} == {"q1"}
