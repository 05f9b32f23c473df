"""Every cell that a study declares, as its preset reads it, and the sizes that follow from them.

Stand-ins of the sets' own sizes: 80 questions in 8 categories, 27 tasks, 48 articles.
"""

from collections import Counter

import pytest

from judgestats.errors import InputError
from judgestats.protocols import Scale
from judgestats.runner import load_design, parse_parameters
from judgestats.runner.prepare import prepare
from tests.runner.test_presets import SIX, lines, paper, per_condition

GPTS = {"gpt-3.5-turbo", "gpt-4o-mini", "gpt-4o"}
ELEVEN = tuple(i / 10 for i in range(11))
OPEN_JUDGES = {
    "Nexusflow/Starling-LM-7B-beta", "meta-llama/Meta-Llama-3-8B-Instruct",
    "google/gemma-1.1-7b-it",
}  # fmt: skip
GRADED = {
    "items": "mt_bench", "item_options": {"turn": 1, "models": ("gpt-4",)}, "scale": Scale(1, 10),
    "reply": "tool", "responses": 1, "samples_per_request": 10,
}  # fmt: skip
CHOSEN = {
    "reply": "text", "judges": OPEN_JUDGES, "temperatures": (0, 0.25, 0.5, 0.75, 1),
    "repeats": 100, "top_k": 50, "options": 5, "reading": "study", "max_tokens": 50,
}  # fmt: skip
ROTATED = {
    "items": "oasst", "reply": "text", "judges": {"grade_score_judges.yaml"},
    "temperatures": (0.3,), "limit": None,
}  # fmt: skip
CELLS = {
    ("temperature", "paper"): {
        **GRADED, "judges": GPTS, "temperatures": ELEVEN, "repeats": 10, "limit": None,
    },
    ("temperature", "distribution"): {
        **GRADED, "judges": GPTS, "temperatures": (0.3, 0.5, 1), "repeats": 100, "limit": 30,
        "samples_per_request": 100,
    },
    ("judges", "paper"): {
        **GRADED, "judges": GPTS, "temperatures": ELEVEN, "repeats": 10, "limit": None,
    },
    ("guidelines", "paper"): {
        **GRADED, "judges": {"gpt-4o-mini"}, "temperatures": (0.3, 0.5, 1), "repeats": 10,
        "guidelines": ("none", "anchors", "words", "paragraphs", "subscores"), "limit": None,
    },
    ("reasoning", "paper"): {
        **GRADED, "judges": GPTS, "temperatures": (0.3, 0.5, 1), "repeats": 10,
        "reasoning": ("none", "before", "after"), "limit": None,
    },
    ("alignment", "paper"): {
        "items": "mt_bench_human", "pairs": 1000, "reply": "tool", "judges": {"gpt-4o-mini"},
        "methods": {
            "pairwise", "pairwise-before", "pointwise", "pointwise-before", "pointwise-after",
            "pointwise-guideline",
        },
        "methods_at": 0.5, "series": {"pointwise", "pointwise-before"},
        "temperatures": (0, 0.2, 0.4, 0.6, 0.8, 1), "repeated": ("pointwise",), "repeats": 10,
        "samples_per_request": 10, "scale": Scale(1, 10), "limit": None,
    },
    ("omega", "paper"): {
        **CHOSEN, "items": "bbh,squad,mt_bench", "per_category": 1, "per_benchmark": {"squad": 20},
        "answerers": {
            "meta-llama/Meta-Llama-3-8B", "lmsys/vicuna-7b-v1.5", "google/gemma-7b",
            "microsoft/phi-2", "tiiuae/falcon-7b",
        },
        "answer_temperatures": (0.75,), "answer_prompt": "step_by_step", "answer_max_tokens": 150,
        "limit": None,
    },
    ("omega", "same_answers"): {**CHOSEN, "items": "llm_reliability", "limit": None},
    ("head_to_tail", "paper"): {
        "items": "head_to_tail", "reply": "text", "judges": OPEN_JUDGES, "temperatures": (0.75,),
        "item_options": {"models": ("lmsys/vicuna-7b-v1.5",), "cut": 15}, "repeats": 100,
        "responses": 1, "top_k": 50, "max_tokens": 50, "limit": None,
    },
    ("grade_score", "paper"): {
        **ROTATED, "prompts": ("1", "2", "3", "4"), "distractor": ("no", "yes"), "repeats": 1,
    },
    ("grade_score", "repeats"): {
        **ROTATED, "prompts": ("1",), "distractor": ("no",), "repeats": 5,
    },
    ("crowd", "paper"): {
        "items": "rewardbench,helpsteer2,mt_bench_human,judgebench,offsetbias", "pairs": None,
        "judges": {
            "gpt-4o-2024-08-06@https://api.openai.com/v1", "Qwen/Qwen2.5-7B-Instruct",
            "Qwen/Qwen2.5-32B-Instruct", "Qwen/Qwen2.5-72B-Instruct",
            "meta-llama/Llama-3.3-70B-Instruct",
        },
        "strategies": {"vanilla", "long", "criteria", "plan", "majority", "aggregate", "cce"},
        "k": 16, "scaling": (0, 1, 2, 4, 6, 8, 10, 12, 14, 16), "repeats": 3, "ties": False,
        "selections": {"criticising", "praising", "balanced", "random"}, "selections_at": (8, 16),
        "temperatures": (0,), "limit": None,
    },
    ("rejection_sampling", "paper"): {
        "items": "lima", "candidates": 4, "judges": {"gpt-4o-2024-08-06"}, "temperatures": (0,),
        "answer_temperatures": (0.7,), "strategies": {"vanilla", "cce"}, "limit": None,
    },
}  # fmt: skip
"""What the four studies declare; a set where the order of what is listed means nothing."""
STUDIES = (
    "temperature", "judges", "guidelines", "reasoning", "alignment", "omega", "head_to_tail",
    "grade_score", "crowd", "rejection_sampling",
)  # fmt: skip


def test_every_preset_of_the_studies_is_held():
    listed = {(name, preset) for name in STUDIES for preset in load_design(name).presets}
    assert listed == set(CELLS)


@pytest.mark.parametrize(("name", "preset"), CELLS)
def test_a_preset_says_what_the_study_says_cell_by_cell(name, preset):
    design, cells = load_design(name), CELLS[name, preset]
    given = {"defaults": design.defaults, "presets": design.presets}
    read = parse_parameters({"preset": preset}, design.parameters, experiment=name, **given)
    found = {cell: getattr(read, cell) for cell in cells}
    found = {k: set(v) if isinstance(cells[k], set) else v for k, v in found.items()}
    assert found == cells
    assert set(design.presets[preset]) <= set(cells)  # what a preset sets is a cell of the study


@pytest.fixture
def whole(workplace):
    data = workplace / "data"
    questions = [
        {"question_id": 81 + i, "category": f"category {i // 10}", "turns": [f"{i}?", f"And {i}?"]}
        for i in range(80)
    ]
    lines(data / "mt_bench" / "question.jsonl", questions)
    for model in SIX:
        answers = [
            {"question_id": q["question_id"], "choices": [{"turns": [f"{model} one", "two"]}]}
            for q in questions
        ]
        lines(data / "mt_bench" / "model_answer" / f"{model}.jsonl", answers)
    for task in range(27):
        document = {"examples": [{"input": f"{task}.{i}?", "target": "Yes"} for i in range(3)]}
        lines(data / "bbh" / f"task_{task}.json", [document])
    articles = [
        {
            "title": f"Article {a}",
            "paragraphs": [
                {
                    "context": f"Passage {a}.",
                    "qas": [
                        {"id": f"{a}-{i}", "question": "Who?", "answers": [{"text": "me"}]}
                        for i in range(2)
                    ],
                }
            ],
        }
        for a in range(48)
    ]
    lines(data / "squad" / "dev-v1.1.json", [{"data": articles}])
    return workplace


@pytest.mark.parametrize(
    ("name", "preset", "conditions", "judgments"),
    [
        ("temperature", "paper", 3 * 11, 80 * 10),
        ("temperature", "distribution", 3 * 3, 30 * 100),
        ("judges", "paper", 3 * 11, 80 * 10),
        ("guidelines", "paper", 3 * 5, 80 * 10),
        ("reasoning", "paper", 3 * 3 * 3, 80 * 10),
        ("omega", "paper", 3 * 5, 55 * 100),
    ],
)
def test_the_size_of_a_study_follows(whole, name, preset, conditions, judgments):
    given = {"preset": preset, "dry_run": "true", "base_url": "http://localhost:8000/v1"}
    prepared = prepare(load_design(name), given)
    counts = per_condition(prepared)
    assert len(counts) == len(prepared.conditions) == conditions
    assert set(counts.values()) == {judgments}
    assert [note.code for note in prepared.notices] == ["wording"]


def test_study_b_has_27_20_and_8_questions_in_one_order_of_options_each(whole):
    prepared = paper("omega", base_url="http://localhost:8000/v1")
    benchmarks = Counter(item.category for item in prepared.questions)
    assert benchmarks == {"BBH": 27, "SQuAD": 20, "MT-Bench": 8}
    ids = [item.id for item in prepared.questions]
    assert ids == [item.id for item in paper("omega", base_url="http://h/v1").questions]
    other = paper("omega", base_url="http://h/v1", seed="1").questions
    assert ids != [item.id for item in other]
    units = prepared.units[prepared.conditions[0]]
    assert all(prepared.units[c] == units for c in prepared.conditions)
    asked = {(task.item_id, task.order) for task in prepared.tasks}  # in all replications
    assert len(asked) == 55


def test_a_size_of_a_set_that_is_not_judged_is_refused(whole):
    with pytest.raises(InputError, match="per_benchmark: 'sqad' is not one of the sets given"):
        paper("omega", base_url="http://h/v1", per_benchmark="sqad=20")
    with pytest.raises(InputError, match="per_benchmark: squad: must be at least 1"):
        paper("omega", base_url="http://h/v1", per_benchmark="squad=0")
