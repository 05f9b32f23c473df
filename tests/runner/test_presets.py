"""preset=paper is the study's whole design: items, turn, answerers, judges, prompts, orders, times.

The studies' sets do not ship; stand-ins in their layouts stand where `items fetch` puts them.
"""

import json
from collections import Counter

import pytest

from judgestats.errors import InputError
from judgestats.protocols import ReplyMode
from judgestats.runner import load_design, rendered, run_experiment
from judgestats.runner.prepare import prepare

SIX = ("alpaca-13b", "claude-v1", "gpt-3.5-turbo", "gpt-4", "llama-13b", "vicuna-13b-v1.3")


def lines(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n", encoding="utf-8")


@pytest.fixture
def sets(workplace):
    data = workplace / "data"
    questions = [
        {"question_id": i, "category": c, "turns": [f"First {i}?", f"Second {i}?"]}
        for i, c in enumerate(("writing", "writing", "maths"), start=81)
    ]
    lines(data / "mt_bench" / "question.jsonl", questions)
    for model in SIX:
        rows = [
            {"question_id": q["question_id"], "choices": [{"turns": [f"{model} one", "two"]}]}
            for q in questions
        ]
        lines(data / "mt_bench" / "model_answer" / f"{model}.jsonl", rows)
    for task in ("navigate", "snarks"):
        document = {"examples": [{"input": f"{task} {i}?", "target": "Yes"} for i in range(3)]}
        lines(data / "bbh" / f"{task}.json", [document])
    paragraph = {
        "context": "The passage.",
        "qas": [{"id": f"s{i}", "question": "Who?", "answers": [{"text": "me"}]} for i in "ab"],
    }
    article = {"title": "An article", "paragraphs": [paragraph]}
    lines(data / "squad" / "dev-v1.1.json", [{"data": [article]}])
    human = [
        {
            "question_id": i,
            "model_a": a,
            "model_b": b,
            "winner": "model_a",
            "judge": "expert_1",
            "turn": 1,
            **{
                f"conversation_{side}": [
                    {"role": "user", "content": f"First {i}?"},
                    {"role": "assistant", "content": f"{model} {i}"},
                ]
                for side, model in (("a", a), ("b", b))
            },
        }
        for i in (81, 82, 83, 84)
        for a, b in (("gpt-4", "claude-v1"), ("gpt-4", "llama-13b"))
    ]
    lines(workplace / "human.jsonl", human)
    lines(
        workplace / "trees.jsonl",
        [
            {
                "message_tree_id": f"t{i}",
                "prompt": {"text": f"Prompt {i}", "replies": [{"text": f"r{k}"} for k in range(3)]},
            }
            for i in range(3)
        ],
    )
    return workplace


def paper(name, **given):
    return prepare(load_design(name), {"preset": "paper", "dry_run": "true", **given})


def per_condition(prepared):
    return Counter(task.condition.label for task in prepared.tasks)


@pytest.mark.parametrize(
    ("name", "judges", "temperatures", "levels"),
    [
        ("temperature", 3, 11, 1),
        ("judges", 3, 11, 1),
        ("guidelines", 1, 3, 5),
        ("reasoning", 3, 3, 3),
    ],
)
def test_study_a_judges_gpt_4s_first_answers(sets, name, judges, temperatures, levels):
    prepared = paper(name)
    assert len(prepared.conditions) == judges * temperatures * levels
    assert {j.model for j in prepared.judges.values()} <= {"gpt-4o-mini", "gpt-3.5-turbo", "gpt-4o"}
    assert set(per_condition(prepared).values()) == {3 * 10}  # 80 in MT-Bench itself
    units = prepared.units[prepared.conditions[0]]
    assert [u.item_id for u in units] == ["81-turn1", "82-turn1", "83-turn1"]
    assert {u.item.responses[0].text for u in units} == {"gpt-4 one"}
    first = rendered(prepared)[0].prompted
    assert first.mode.value == "tool"
    assert first.schema.name == "submit_score"
    assert first.messages[1]["content"] == (
        "[Question]\nFirst 81?\n\n[The Start of Answer]\ngpt-4 one\n[The End of Answer]\n\n"
        "Reply with the score only. Call the tool submit_score."
    )


def test_study_a_alignment_asks_ten_times_only_what_it_averages(sets):
    prepared = paper("alignment", items="mt_bench_human:human.jsonl")
    times = per_condition(prepared)
    pairs, answers = 8, 12
    by_method = {(c.factors["method"], c.temperature): times[c.label] for c in prepared.conditions}
    assert by_method["pointwise", 0.5] == 10 * answers
    assert by_method["pointwise", 0.2] == by_method["pointwise-before", 0.2] == answers
    assert by_method["pairwise", 0.5] == by_method["pairwise-before", 0.5] == 2 * pairs
    assert {t for m, t in by_method if m == "pointwise"} == {0, 0.2, 0.4, 0.5, 0.6, 0.8, 1}
    assert prepared.parameters["pairs"] == 1000
    assert [n.code for n in prepared.notices] == ["wording"]


def test_study_b_is_55_questions_of_three_benchmarks(sets):
    prepared = paper("omega", base_url="http://localhost:8000/v1")
    assert Counter(item.category for item in prepared.questions) == {
        "BBH": 2,
        "SQuAD": 1,
        "MT-Bench": 2,
    }  # 27, 20 and 8 in the sets themselves: one a category
    [second, _] = [i for i in prepared.questions if i.category == "MT-Bench"]
    assert len(second.turns) == 2
    assert len(prepared.answering.answerers) == 5
    assert prepared.answering.temperatures == (0.75,)
    assert len(prepared.conditions) == 3 * 5
    assert set(per_condition(prepared).values()) == {5 * 100}
    assert all(protocol.reasoning == "after" for protocol in prepared.protocols.values())
    [one] = rendered(prepared)
    assert one.prompted.schema is None
    assert one.prompted.messages[1]["content"].endswith(
        "First give the verdict, then explain it. Write the verdict in the form Best Response: "
        "[[letter]], with one of A to E."
    )


def test_study_b_head_to_tail_judges_vicunas_answers_as_its_script_cuts_them(sets):
    with pytest.raises(InputError, match="`judgestats items fetch head_to_tail`"):
        paper("head_to_tail")
    rows = [
        {"question": f"{i}?", "response": f"{i} and twenty letters more", "ground_truth": i}
        for i in ("one", "two", "three")
    ]
    document = {m: {"mag": rows, "dblp": []} for m in ("lmsys/vicuna-7b-v1.5", "tiiuae/falcon-7b")}
    lines(sets / "data" / "head_to_tail" / "application_responses.json", [document])
    prepared = paper("head_to_tail", base_url="http://localhost:8000/v1")
    assert prepared.answering is None
    assert set(per_condition(prepared).values()) == {3 * 100}
    [one] = rendered(prepared)
    assert one.prompted.messages[1]["content"].startswith(
        "[Question]\none?\n\n[Reference answer]\none\n\n"
        "[The Start of Answer]\none and twenty \n[The End of Answer]"
    )
    own = [{"id": f"h{i}", "question": "?", "reference": "x"} for i in "abc"]
    lines(sets / "own.jsonl", own)
    given = {"items": "own.jsonl", "item_options": "", "base_url": "http://localhost:8000/v1"}
    asked = paper("head_to_tail", answerers="lmsys/vicuna-7b-v1.5", **given)
    assert list(asked.answering.answerers) == ["lmsys/vicuna-7b-v1.5"]


def test_study_b_on_the_studys_own_answers(sets):
    answers = {name: f"{name} says" for name in "abcde"}
    document = {
        f"{kind}:{i}": {"type": kind, "prompt": prompt, "model_responses": answers}
        for kind, prompt in (("bbh", "Q?"), ("squad", "Context: P\n Question: Q?\n Answer:"))
        for i in (1, 2)
    } | {"mtb:x": {"type": "mtb", "prompt": ["One?", "Two?"], "model_responses": answers}}
    lines(sets / "data" / "llm_reliability" / "prompt_responses.json", [document])
    given = {"preset": "same_answers", "dry_run": "true", "base_url": "http://localhost:8000/v1"}
    prepared = prepare(load_design("omega"), given)
    assert Counter(item.category for item in prepared.items) == {
        "BBH": 2,
        "SQuAD": 2,
        "MT-Bench": 1,
    }
    assert prepared.answering is None
    assert set(per_condition(prepared).values()) == {5 * 100}
    assert prepared.parameters["max_tokens"] == 50
    assert [n.code for n in prepared.notices] == ["wording"]


def test_study_c_has_ten_judges_with_an_endpoint_each(sets):
    prepared = paper("grade_score", items="oasst:trees.jsonl")
    assert len(prepared.judges) == 10
    hosts = Counter(spec.base_url.split("/")[2] for spec in prepared.judges.values())
    assert hosts == {"api.anthropic.com": 3, "api.openai.com": 2, "api.together.xyz": 5}
    assert sum(bool(spec.price) for spec in prepared.judges.values()) == 7
    assert len(prepared.conditions) == 10 * 4 * 2
    times = per_condition(prepared)
    assert times["gpt-4o, T=0.3, prompt=1, unrelated=no"] == 3 * 3
    assert times["gpt-4o, T=0.3, prompt=4, unrelated=yes"] == 3 * 4
    text = rendered(prepared)[0].prompted.messages[1]["content"]
    assert text.endswith(
        "Write the verdict in the form Selection: Option k, with one of Option 1 to Option 3."
    )


def test_study_d_names_its_sets_and_asks_for_a_crowd_at_once(sets):
    with pytest.raises(InputError, match=r"answerers: cce-criticising@16 compares .* eleven"):
        paper("crowd")
    with pytest.raises(InputError, match=r"rewardbench, helpsteer2.*`judgestats items fetch jud"):
        paper("crowd", answerers="a,b")
    preset = load_design("crowd").presets["paper"]
    assert preset["k"] == "16"
    assert preset["repeats"] == "3"
    assert len(preset["judges"].split(",")) == 5
    with pytest.raises(InputError, match="LIMA's 1,000 instructions"):
        paper("rejection_sampling")


def test_sets_that_are_not_there_are_named_with_what_brings_them(workplace):
    with pytest.raises(InputError, match=r"`judgestats items fetch mt_bench` \(licence Apache-2.0"):
        paper("temperature")
    with pytest.raises(InputError, match=r"bbh, squad, mt_bench are not below data/.* Rehearse"):
        paper("omega")


def test_a_plan_names_open_models_that_the_default_address_does_not_serve(workplace):
    prepared = paper("head_to_tail", items="bank", item_options="")
    [notice] = (n for n in prepared.notices if "does not serve" in n)
    assert all(name in notice for name in prepared.judges)
    served = paper("head_to_tail", items="bank", item_options="", base_url="http://localhost:1/v1")
    assert not any("does not serve" in n for n in served.notices)


def test_study_b_reads_as_the_study_and_shows_its_omega_beside(workplace, monkeypatch):
    monkeypatch.setattr("judgestats.studies.published._SHUFFLINGS", 9)
    given = {"items": "bank", "judges": "sim-coarse", "answerers": "", "temperatures": "1"}
    given |= {"repeats": "8", "limit": "9", "report": "none", "resamples": "99"}
    design = load_design("omega")
    given |= {"preset": "paper", "per_category": "all"}
    found = run_experiment(design, given).analysis
    tables = {r.id: r for r in found.results if r.role == "replicated"}
    right = tables["published.right_answers"].result.table
    assert right["whose"].tolist() == ["this run", "as printed", "as printed"]
    assert right.loc[right["benchmark"] == "SQuAD", "lower quartile"].tolist() == [5]
    [omega] = [r for r in tables.values() if r.id.startswith("published.omega.")]
    assert omega.role == "replicated"
    assert omega.result.null is not None
    protocol = next(iter(prepare(design, given | {"dry_run": "true"}).protocols.values()))
    [unit] = protocol.units(prepare(design, given).items)[:1]
    read = {
        text: protocol.read(unit, ReplyMode.TEXT, text).status.value
        for text in (
            "Best Response: [[A]]",
            "The best is [[A]].",
            "Best Response: A. Or Best Response: B",
        )
    }
    assert list(read.values()) == ["ok", "unparseable", "ambiguous"]


def test_study_a_distribution_leaves_its_figures_data(workplace):
    given = {"preset": "distribution", "items": "bank", "judges": "sim-typical", "limit": "4"}
    given |= {"repeats": "6", "report": "html", "detail": "full", "resamples": "99"}
    found = run_experiment(load_design("temperature"), given).analysis
    [report] = workplace.glob("mlruns/*/*/artifacts/report.html")
    assert "Scores minus the mean of their item." in report.read_text(encoding="utf-8")
    head, *rows = found.files["tables/centred_scores.csv"].splitlines()
    assert head == "condition,score_less_item_mean,count"
    assert sum(int(row.rpartition(",")[2]) for row in rows) == 4 * 6 * 3
    assert load_design("temperature").presets["distribution"]["repeats"] == "100"
