"""Loaders of published sets, on small files made for these tests and on the real ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from judgestats.errors import InputError
from judgestats.items import HumanLabel, Item, describe_items, read_items

FIXTURES = Path(__file__).parent / "fixtures"
DATA = Path(__file__).parents[2].parent / "shared" / "data"


def real(path: str) -> Path:
    if not (DATA / path).exists():
        pytest.skip(f"the real data are not here: ../shared/data/{path}")
    return DATA / path


def by_id(items: tuple[Item, ...]) -> dict[str, Item]:
    return {item.id: item for item in items}


def winners(item: Item) -> list[tuple[int, int, str]]:
    return [(label.a, label.b, label.winner) for label in item.labels]


def test_rewardbench() -> None:
    items = by_id(read_items(FIXTURES / "rewardbench.jsonl"))
    assert list(items) == ["arithmetic/1", "arithmetic/2", "refusals/1"]
    item = items["arithmetic/2"]
    assert [(r.text, r.author) for r in item.responses] == [("81", "maker-2"), ("", "maker-1")]
    assert item.category == "arithmetic"
    assert item.labels == (HumanLabel(annotator="gold", a=0, b=1, winner="a"),)


def test_rewardbench_2_has_lists() -> None:
    items = by_id(read_items(FIXTURES / "rewardbench2.jsonl"))
    assert winners(items["Facts/7"]) == [(0, 1, "a"), (0, 2, "a"), (0, 3, "a")]
    assert winners(items["Maths/7"]) == [(0, 2, "a"), (1, 2, "a")]
    assert [r.author for r in items["Facts/7"].responses] == ["m-1"] * 4  # one model for all


def test_helpsteer2_preference_follows_from_the_attributes() -> None:
    items = read_items(FIXTURES / "helpsteer2.jsonl")
    assert [item.question for item in items] == ["Name a fruit.", "Name a colour."]
    assert [winners(item) for item in items] == [[(0, 1, "a")], [(0, 1, "tie")]]


def test_helpsteer2_refuses_a_rating_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "h.jsonl"
    row = {"prompt": "p", "response": "r", "helpfulness": "good", "correctness": 1, "coherence": 1}
    path.write_text(json.dumps(row) + "\n")
    with pytest.raises(InputError, match=r"line 1: 'helpfulness' must be a number, not 'good'"):
        read_items(path)


def test_helpsteer2_keeps_the_turns_of_a_conversation(tmp_path: Path) -> None:
    attributes = dict.fromkeys(
        ("helpfulness", "correctness", "coherence", "complexity", "verbosity"), 2
    )
    several = "Hello<extra_id_1>Assistant\nHi there.\n<extra_id_1>User\nName a river."
    broken = "Hello<extra_id_1>User\nWhy?"  # marks that do not alternate: one text, as it stands
    path = tmp_path / "h.jsonl"
    rows = [
        {"prompt": prompt, "response": said, **attributes}
        for prompt in (several, broken)
        for said in ("The Rhine.", "Paris.")
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    first, second = read_items(path)
    assert first.turns == ("Hello", "Name a river.")
    assert [r.turns for r in first.responses] == [
        ("Hi there.", "The Rhine."),
        ("Hi there.", "Paris."),
    ]
    assert second.turns == (broken,)


def test_ties_that_cannot_be_dropped(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="ties must be keep or drop, not 'no'"):
        read_items(FIXTURES / "helpsteer2.jsonl", ties="no")
    with pytest.raises(InputError, match="ties has no effect on the layout judgebench"):
        read_items(FIXTURES / "judgebench.jsonl", ties="drop")
    row = {"question": "q", "response_a": "x", "response_b": "y", "winner": "tie"}
    path = tmp_path / "t.jsonl"
    path.write_text(json.dumps(row) + "\n")
    with pytest.raises(InputError, match="every label is a tie"):
        read_items(path, ties="drop")


def test_judgebench() -> None:
    first, second = read_items(FIXTURES / "judgebench.jsonl")
    assert (first.id, first.category, winners(first)) == ("p-1", "made-maths", [(0, 1, "a")])
    assert winners(second) == [(0, 1, "b")]
    assert {r.author for r in second.responses} == {"maker-1"}


def test_evalbias_response1_is_the_better_one() -> None:
    items = read_items(FIXTURES / "evalbias.json")
    assert [item.id for item in items] == ["length_bias-1", "concreteness-1", "concreteness-2"]
    assert all(winners(item) == [(0, 1, "a")] for item in items)
    assert items[2].cluster == "length_bias-1"  # the same instruction


def test_oasst_keeps_trees_with_two_replies_and_reads_ranks() -> None:
    (item,) = read_items(FIXTURES / "oasst_trees.jsonl")
    assert (item.id, item.category, len(item.responses)) == ("t-1", "en", 3)
    assert winners(item) == [(0, 1, "b")]  # rank 0 is the best; the third reply has no rank


def test_mt_bench_folder() -> None:
    first = read_items(FIXTURES / "mt_bench")
    assert [item.id for item in first] == ["81-turn1", "82-turn1"]
    assert [item.cluster for item in first] == ["81", "82"]
    assert [r.author for r in first[0].responses] == ["m-1", "m-2"]
    assert first[1].reference == ("It is 4.",)  # the reference file wins over the question's own
    second = read_items(FIXTURES / "mt_bench", turn=2, models=["m-1-internal"])
    assert [item.id for item in second] == ["81-turn2", "82-turn2"]
    assert second[1].responses[0].turns == ("5", "4")
    assert second[1].responses[0].author == "m-1"  # the file's name
    with pytest.raises(InputError, match=r"no answers by 'm-9'; the folder has m-1, m-2"):
        read_items(FIXTURES / "mt_bench", models=["m-9"])
    with pytest.raises(InputError, match="turn must be 1 or 2, not 3"):
        read_items(FIXTURES / "mt_bench", turn=3)


def test_mt_bench_missing_answer_is_named(tmp_path: Path) -> None:
    (tmp_path / "model_answer").mkdir()
    question = (FIXTURES / "mt_bench" / "question.jsonl").read_text()
    (tmp_path / "question.jsonl").write_text(question)
    answers = (FIXTURES / "mt_bench" / "model_answer" / "m-1.jsonl").read_text().splitlines()
    (tmp_path / "model_answer" / "m-1.jsonl").write_text(answers[0] + "\n")
    with pytest.raises(InputError, match=r"m-1\.jsonl has no answer to question 82"):
        read_items(tmp_path)


def test_human_judgments_several_annotators_a_pair() -> None:
    items = by_id(read_items(FIXTURES / "mt_bench_human.jsonl"))
    assert list(items) == ["81-turn1", "81-turn2", "82-turn1"]
    turn1, turn2 = items["81-turn1"], items["81-turn2"]
    assert turn1.cluster == turn2.cluster == "81"
    assert turn1.turns == ("Name a river.",)
    assert turn2.turns == ("Name a river.", "And its country?")
    assert [(x.annotator, x.winner) for x in turn1.labels] == [
        ("expert_1", "a"),
        ("author_2", "tie"),
    ]
    authors = [r.author for r in turn2.responses]
    named = [(authors[x.a], authors[x.b], x.winner, x.annotator) for x in turn2.labels]
    assert named == [("m-2", "m-3", "b", "expert_1"), ("m-1", "m-3", "tie", "gpt-4-pair-v2")]
    assert turn2.responses[0].turns == ("A river.", "")  # the model said nothing: kept


def test_human_judgments_join_with_the_folder() -> None:
    human = by_id(read_items(FIXTURES / "mt_bench_human.jsonl", turn=2))["81-turn2"]
    folder = by_id(read_items(FIXTURES / "mt_bench", turn=2))["81-turn2"]
    judged = {response.author: response.turns for response in human.responses}
    assert {r.author: r.turns for r in folder.responses} == {m: judged[m] for m in ("m-1", "m-2")}
    assert (human.turns, human.cluster) == (folder.turns, folder.cluster)


def test_real_mt_bench() -> None:
    items = read_items(real("mt_bench"))
    about = describe_items(items)
    assert (about.items, about.responses, len(about.categories)) == (80, 480, 8)
    assert set(about.categories.values()) == {10}
    assert "vicuna-13b-v1.3" in about.authors  # its model_id is another
    second = read_items(real("mt_bench"), turn=2, models=["gpt-4", "vicuna-13b-hao-0515"])
    assert describe_items(second).two_turn == 80
    assert [r.author for r in second[0].responses] == ["gpt-4", "vicuna-13b-v1.3"]
    assert all(len(item.reference) == 2 for item in second if item.category == "math")


def test_real_bbh() -> None:
    items = read_items(real("bbh"))
    about = describe_items(items)
    assert (about.items, len(about.categories), about.with_reference) == (1250, 5, 1250)
    one = read_items(real("bbh/date_understanding.json"))
    assert one[0].id == "date_understanding-1"
    assert one[0].reference == ("(B)",)


def test_real_evalbias() -> None:
    about = describe_items(read_items(real("evalbiasbench/biasbench.json")))
    assert (about.items, about.labels, len(about.categories)) == (80, 80, 6)


@pytest.mark.parametrize(
    ("layout", "file", "said"),
    [
        ("judgebench", "evalbias.json", r"evalbias.json is not in the layout judgebench .*object"),
        ("evalbias", "judgebench.jsonl", r"not in the layout evalbias .* it holds rows with"),
        ("evalbias", "mt_bench", "is a folder, and a file is in the layout evalbias"),
        ("bbh", "mt_bench", "a folder that is not in the layout bbh"),
        ("helpsteer2", "rewardbench.jsonl", "the field 'response' is missing"),
        ("rewardbench", "judgebench.jsonl", "the field 'prompt' is missing"),
        ("mt_bench_human", "helpsteer2.jsonl", "the field 'model_a' is missing"),
    ],
)
def test_a_file_of_another_set_is_told_as_such(layout: str, file: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_items(FIXTURES / file, layout=layout)
