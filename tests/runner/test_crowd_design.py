"""preset=paper of crowd, cell by cell: sets, strategies, k, selections, criteria in prompts."""

import json
from pathlib import Path

import pytest

from judgestats.runner import load_design
from judgestats.runner.prepare import prepare

FIXTURES = Path(__file__).parents[1] / "items" / "fixtures"
FIVE = "helpfulness, correctness, coherence, complexity and verbosity"


@pytest.fixture(scope="module")
def design(tmp_path_factory):
    """The study's design on stand-ins of its five sets, with a crowd from a file."""
    folder = tmp_path_factory.mktemp("crowd")
    rows = [{"instruction": f"Do {i}", "output_1": "g", "output_2": "b", "label": 1} for i in "ab"]
    (folder / "own.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    sets = ",".join(
        [
            *(
                f"{name}:{FIXTURES / name}.jsonl"
                for name in ("rewardbench", "helpsteer2", "mt_bench_human", "judgebench")
            ),
            f"offsetbias:{folder / 'own.jsonl'}",
        ]
    )
    given = {"preset": "paper", "items": sets, "dry_run": "true"}
    given |= {"base_url": "http://localhost:8000/v1"}
    return prepare(load_design("crowd"), given | {"answerers": "sim-answerer-1,sim-answerer-2"})


def test_sets_judges_repetitions_and_orders_are_the_studys(design):
    names = {"rewardbench", "helpsteer2", "mt_bench_human", "judgebench", "offsetbias"}
    assert {item.category for item in design.items} == names
    assert all(label.winner != "tie" for item in design.items for label in item.labels)
    assert [spec.model for spec in design.judges.values()] == [
        "gpt-4o-2024-08-06",
        "Qwen/Qwen2.5-7B-Instruct",
        "Qwen/Qwen2.5-32B-Instruct",
        "Qwen/Qwen2.5-72B-Instruct",
        "meta-llama/Llama-3.3-70B-Instruct",
    ]
    assert design.parameters["repeats"] == 3
    assert len(design.answering.temperatures) == 2
    assert {unit.order for unit in next(iter(design.units.values()))} == {"ab", "ba"}


def test_strategies_are_those_of_tables_1_and_4_and_the_curve(design):
    asked = {condition.factors["strategy"] for condition in design.conditions}
    baselines = {"vanilla", "long", "plan", "criteria", "majority@16", "aggregate@16"}
    curve = {f"cce-criticising@{k}" for k in (1, 2, 4, 6, 8, 10, 12, 14, 16)}
    table_4 = {
        f"cce-{how}{raw}@{k}"
        for how in ("criticising", "praising", "balanced", "random")
        for raw in ("", "-raw")
        for k in (8, 16)
    }
    assert asked == baselines | curve | table_4
