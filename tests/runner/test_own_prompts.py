"""A user's own prompt is sent as it is, at the level it is for, or refused with a sentence."""

import json

import pytest

from judgestats.errors import InputError
from judgestats.runner import load_design, rendered, run_experiment
from judgestats.runner.prepare import prepare

LIKE_A_STUDY = (
    "[system]\nYou rate answers.\n"
    "[user]\n\n[Question]\n{earlier}{question}\n\n\n\n---\n{response}{passage}\n---\n"
    'Submit {"score": n}, the score only. \n\n'
)


def items_file(folder, *, context="", turns=("Why {response}?",)):
    rows = [
        {
            "id": f"q{i}",
            "turns": list(turns),
            **({"context": context} if context else {}),
            "responses": [
                {"turns": ["x\n\n\n\ny"] * len(turns), "author": a} for a in ("m", "n", "o")
            ],
        }
        for i in range(2)
    ]
    path = folder / "items.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n", encoding="utf-8")
    return str(path)


def asked(name, **given):
    return rendered(prepare(load_design(name), given | {"dry_run": "true"}))


def text_file(folder, name, text):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_a_prompt_is_sent_to_the_byte(tmp_path):
    own = text_file(tmp_path, "own.txt", LIKE_A_STUDY)
    given = {
        "items": items_file(tmp_path),
        "prompt": own,
        "reply_instruction": "none",
        "reply": "tool",
    }
    [one] = asked("temperature", **given)
    assert [dict(m) for m in one.prompted.messages] == [
        {"role": "system", "content": "You rate answers."},
        {
            "role": "user",
            "content": "\n[Question]\nWhy {response}?\n\n\n\n---\nx\n\n\n\ny\n---\n"
            'Submit {"score": n}, the score only. \n',
        },
    ]
    assert one.prompted.schema.name == "submit_score"
    [usual] = asked("temperature", **given | {"reply_instruction": "reply"})
    assert usual.prompted.messages[1]["content"].endswith(
        "Reply with the score only. Call the tool submit_score."
    )


def test_every_level_may_have_its_prompt(tmp_path):
    before = text_file(tmp_path, "before.txt", "{question} {response} Think, then rate 1 to 10.")
    plain = text_file(tmp_path, "plain.txt", "{question} {response} Rate 1 to 10.")
    given = {"items": items_file(tmp_path), "reply_instruction": "none", "reply": "json_schema"}
    given |= {"prompt": plain, "prompt.before": before, "judges": "sim-typical"}
    texts = {
        one.conditions[0].rpartition("=")[2]: one.prompted for one in asked("reasoning", **given)
    }
    assert texts["before"].messages[0]["content"].endswith("Think, then rate 1 to 10.")
    assert list(texts["before"].schema.schema["properties"]) == ["explanation", "score"]
    assert texts["none"].messages[0]["content"].endswith("y Rate 1 to 10.")
    given = {"items": given["items"], "guidelines": "none,anchors,words", "judges": "sim-typical"}
    found = asked("guidelines", **given, **{"prompt.anchors": before})
    assert [("Think" in p.prompted.messages[-1]["content"]) for p in found] == [False, True, False]
    with pytest.raises(InputError, match=r"prompt\.anchor: .*not a level of this run.*anchors"):
        asked("guidelines", **given, **{"prompt.anchor": before})
    with pytest.raises(InputError, match=r"not a level of this run\. There are: writing, two_turn"):
        asked("temperature", **{"prompt.before": before})


def test_reasoning_and_options_of_a_prompt_of_ones_own(tmp_path):
    own = text_file(
        tmp_path, "own.txt", "{question}\n{options}\nEvaluation: ...\nSelection: Option k"
    )
    given = {"items": items_file(tmp_path), "prompts": own, "distractor": "no", "limit": "2"}
    given |= {"reply_instruction": "none", "reply": "json_schema", "judges": "sim-typical"}
    [one] = asked(
        "grade_score", **given, reasoning="before", option_template="**Option {n}** {text}"
    )
    text = one.prompted.messages[0]["content"]
    assert text == (
        "Why {response}?\n**Option 1** x\n\n\n\ny\n\n**Option 2** x\n\n\n\ny\n\n"
        "**Option 3** x\n\n\n\ny\nEvaluation: ...\nSelection: Option k"
    )
    assert list(one.prompted.schema.schema["properties"]) == ["explanation", "choice"]
    letters = {"items": given["items"], "judges": "sim-typical"}
    [one] = asked("omega", **letters, option_template=r"[{label}]: {text}\n")
    assert "[A]: x\n\n\ny\n[B]: x" not in one.prompted.messages[1]["content"]
    assert (
        "[A]: x\n\ny\n[B]: x" in one.prompted.messages[1]["content"]
    )  # tidied: not reply_instruction=none
    with pytest.raises(InputError, match=r"write \{label\} or \{n\}"):
        asked("omega", **letters, option_template="{text}")
    with pytest.raises(InputError, match="bundled prompt best_response has its own"):
        asked("omega", **letters, reasoning="before")


def test_what_a_prompt_leaves_out_is_refused(tmp_path):
    own = text_file(tmp_path, "own.txt", "{question} {options}")
    given = {"judges": "sim-typical", "prompt": own}
    with pytest.raises(InputError, match="no place for it: the judge"):
        asked("omega", **given, items=items_file(tmp_path, context="A passage."))
    with pytest.raises(InputError, match="2 of 2 questions have an earlier turn"):
        asked("omega", **given, items=items_file(tmp_path, turns=("One?", "Two?")))
    answer = {
        "answer_prompt": text_file(tmp_path, "a.txt", "{question}"),
        "answerers": "sim-answerer-1,sim-answerer-2",
    }
    with pytest.raises(InputError, match=r"'a.txt'.*a context"):
        asked("omega", items=items_file(tmp_path, context="A passage."), **answer)
    with pytest.raises(
        InputError, match="reply_instruction=none: with reply=auto, gpt-4o may be asked"
    ):
        asked(
            "omega",
            **given | {"judges": "gpt-4o"},
            items=items_file(tmp_path),
            reply_instruction="none",
        )
    with pytest.raises(InputError, match="ships with judgestats"):
        asked("omega", reply_instruction="none")


def test_a_dry_run_prints_the_prompt_and_a_run_keeps_it(workplace, capsys):
    given = {"judges": "sim-typical", "temperatures": "0,1", "limit": "2", "repeats": "2"}
    run_experiment(load_design("temperature"), given | {"dry_run": "true"})
    printed = capsys.readouterr().out
    assert "Prompt (as it is sent) under sim-typical, T 0; sim-typical, T 1" in printed
    assert 'Reply with the score only. Reply as a JSON object with "score".' in printed
    assert printed.index("[The Start of Answer]") < printed.index("US dollars")
    done = run_experiment(load_design("temperature"), given | {"report": "none", "resamples": "99"})
    [file] = workplace.glob(f"mlruns/*/{done.run_id}/artifacts/prompts/rendered.json")
    [record] = json.loads(file.read_text(encoding="utf-8"))
    assert record["instruction"].startswith("Reply with the score only.")
    assert record["conditions"] == ["sim-typical, T=0", "sim-typical, T=1"]
    assert {m["role"] for m in record["messages"]} == {"system", "user"}


def mixed_items(folder):
    """One-turn items of two categories, and one of two turns."""
    kinds = (("code", 1), ("code", 1), ("prose", 1), ("prose", 2))
    rows = [
        {
            "id": f"q{i}",
            "category": category,
            "turns": [f"Question {i}.{t}?" for t in range(turns)],
            "responses": [{"turns": ["An answer."] * turns, "author": "m"}],
        }
        for i, (category, turns) in enumerate(kinds)
    ]
    path = folder / "mixed.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    return str(path)


def test_every_kind_of_item_may_have_its_text(tmp_path, workplace):
    code = text_file(tmp_path, "code.txt", "Code. {question} {response}")
    turns = text_file(tmp_path, "turns.txt", "Turns. {conversation} {response}")
    given = {"items": mixed_items(tmp_path), "judges": "sim-typical", "temperatures": "0.5,1"}
    given |= {"prompt.code": code, "prompt.two_turn": turns, "report": "none", "repeats": "2"}
    found = {
        one.item_id: one.prompted.messages[-1]["content"] for one in asked("temperature", **given)
    }
    assert found["q0"].startswith("Code. Question 0.0?")
    assert found["q2"].startswith("[Question]\nQuestion 2.0?")  # the bundled text
    assert found["q3"].startswith("Turns. ")
    assert "Question 3.1?" in found["q3"]
    with pytest.raises(InputError, match=r"prompt\.verse: .*not a level.*There are: code, prose"):
        asked("temperature", **given, **{"prompt.verse": code})
    run_experiment(load_design("temperature"), given)
    [kept] = workplace.glob("mlruns/*/*/artifacts/prompts/rendered.json")
    assert {"q0", "q2", "q3"} == {one["item"] for one in json.loads(kept.read_text("utf-8"))}


def test_a_reply_schema_of_ones_own_is_sent_in_its_order(tmp_path, workplace):
    fields = {
        "evidence": {"type": "string"},
        "score": {"type": "integer", "minimum": 1, "maximum": 10},
        "confidence": {"type": "integer"},
    }
    schema = {"type": "object", "properties": fields, "required": list(fields)}
    path = text_file(tmp_path, "schema.json", json.dumps(schema))
    given = {"items": mixed_items(tmp_path), "judges": "sim-typical", "reply_schema": path}
    [one] = asked("temperature", **given, reply="json_schema")
    assert list(one.prompted.schema.schema["properties"]) == ["evidence", "score", "confidence"]
    given |= {"temperatures": "0.5,1", "report": "none", "repeats": "2", "reply": "tool"}
    found = run_experiment(load_design("temperature"), given).analysis
    assert found.conditions["n_ok"].tolist() == [8, 8]
    with pytest.raises(InputError, match="reply=auto may send no schema"):
        asked("temperature", **given | {"reply": "auto"})
    bare = text_file(tmp_path, "bare.json", json.dumps({"type": "object", "properties": {}}))
    with pytest.raises(InputError, match=r"bare\.json must be an object schema .* score"):
        asked("temperature", **given | {"reply_schema": bare})
    with pytest.raises(InputError, match="there is no file"):
        asked("temperature", **given | {"reply_schema": "missing.json"})


@pytest.mark.parametrize(
    ("experiment", "field", "message"),
    [
        ("omega", {"choice": {"enum": ["A", "B", "C"]}, "why": {}}, ""),
        ("omega", {"choice": {"minimum": 1}, "why": {}}, ""),
        ("temperature", {"score": {}, "why": {}}, ""),
        ("omega", {"choice": {"enum": ["first"]}}, "must be a list with one of A, B"),
        ("omega", {"choice": {"enum": 3}}, "must be a list with one of A, B"),
        ("grade_score", {"choice": {"enum": ["A"]}}, "must be a list with one of Option 1"),
        ("temperature", {"score": {"maximum": 5}}, "the scale has 10"),
    ],
)
def test_a_reply_schema_must_hold_verdicts_that_are_read(
    tmp_path, workplace, experiment, field, message
):
    path = text_file(tmp_path, "mine.json", json.dumps({"type": "object", "properties": field}))
    given = {"judges": "sim-typical", "reply_schema": path, "reply": "json_schema", "limit": "3"}
    if message:
        with pytest.raises(InputError, match=message):
            asked(experiment, **given)
        return
    [one] = asked(experiment, **given)
    names = ", ".join(f'"{name}"' for name in field)  # once, as the schema has them
    sent = one.prompted.messages[-1]["content"]
    assert f"with {names}" in sent
    assert sent.count('"why"') == 1
