"""The public files of arXiv 2412.12509: what its judges saw, read as items."""

import json

import pytest

from judgestats.errors import InputError
from judgestats.items import load_items, read_items

ROW = {"question": "Who wrote it?", "response": "Ann Example and more", "ground_truth": "Ann"}
BOTH = {
    model: {"mag": [ROW], "dblp": [ROW | {"question": "Where?", "ground_truth": ["x", "y"]}]}
    for model in ("lmsys/vicuna", "falcon")
}
FIVE = {
    "bbh:navigate": {"type": "bbh", "prompt": "Back?", "model_responses": {"a": "", "b": "yes"}},
    "squad:1": {
        "type": "squad",
        "prompt": "Context: A passage. Question: none.\n Question: Who?\n Answer:",
        "model_responses": {"a": "me", "b": "you"},
    },
    "mtb:coding": {
        "type": "mtb",
        "prompt": ["Write it.", "Now red."],
        "model_responses": {"a": "red", "b": "blue"},
    },
}


def written(folder, document):
    path = folder / "own.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_head_to_tail_has_true_answers_and_those_of_models(tmp_path):
    path = written(tmp_path, BOTH)
    first, second = read_items(path)
    assert (first.id, first.category, first.reference) == ("mag-1", "mag", ("Ann",))
    assert second.reference == ("x; y",)
    assert [r.author for r in first.responses] == ["lmsys/vicuna", "falcon"]
    [one, _] = read_items(path, models=("lmsys/vicuna",), cut=15)
    assert [r.text for r in one.responses] == ["Ann Example and"]
    with pytest.raises(InputError, match="no answers by 'gpt'; the file has lmsys/vicuna, falcon"):
        read_items(path, models=("gpt",))
    other = {**BOTH, "falcon": {"mag": [ROW | {"question": "Another?"}], "dblp": []}}
    with pytest.raises(InputError, match="another model was asked another question"):
        read_items(written(tmp_path, other))


def test_the_55_questions_come_with_their_benchmarks_and_answers(tmp_path):
    bbh, squad, mtb = load_items(f"llm_reliability:{written(tmp_path, FIVE)}")
    assert [i.category for i in (bbh, squad, mtb)] == ["BBH", "SQuAD", "MT-Bench"]
    assert [r.text for r in bbh.responses] == ["", "yes"]
    assert (squad.context, squad.turns) == ("A passage. Question: none.", ("Who?",))
    assert mtb.turns == ("Write it.", "Now red.")
    for damage, said in (
        ({"type": "other"}, "'type' must be one of bbh"),
        ({"model_responses": {}}, "must name models"),
        ({"prompt": 3}, "'prompt'"),
    ):
        with pytest.raises(InputError, match=said):
            read_items(
                written(tmp_path, {"bbh:x": FIVE["bbh:navigate"] | damage}),
                layout="llm_reliability",
            )
