"""The proof on tiny models, where the extras are installed (run with -m study)."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "docs" / "local-models" / "prove.py"


def proof() -> Any:
    for name in ("torch", "transformers", "trl", "datasets"):
        pytest.importorskip(name, reason="needs judgestats[train,coverage]")
    spec = importlib.util.spec_from_file_location("prove", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.study
@pytest.mark.filterwarnings("ignore")
def test_the_commands_end_to_end_teach_the_form_of_a_verdict(tmp_path: Path) -> None:
    found = proof().prove(tmp_path)
    starts = ("judgestats run", "judgestats export", "python -m judgestats.training train",
              "python -m judgestats.training coverage")  # fmt: skip
    assert all(map(str.startswith, found["commands"], starts))
    assert found["loss"]["last_tenth"] < 0.2 * found["loss"]["first_tenth"]
    assert found["loss"]["validation"][-1] < found["loss"]["validation"][0]
    assert found["judge"]["before"]["status"].get("ok", 0) == 0
    assert found["judge"]["after"]["status"]["ok"] >= 0.8 * found["judge"]["after"]["asked"]
    assert 0 < found["coverage"]["own"] < 1
    # random weights tell own from other explanations by little but their length
    assert abs(found["coverage"]["own"] - found["coverage"]["unrelated"]) < 0.1


def test_the_committed_results_are_those_that_the_page_tells() -> None:
    found = json.loads(SCRIPT.with_name("results.json").read_text())["distilled"]
    page = (SCRIPT.parents[1] / "training-data.md").read_text()
    for line in found["commands"]:
        assert line in page
    losses, covered = found["loss"]["validation"], found["coverage"]
    for number in (losses[0], losses[-1], covered["own"], covered["unrelated"]):
        assert f"{number:.2f}" in page
    for when in ("before", "after"):
        judge = found["judge"][when]
        assert f"{judge['status'].get('ok', 0)} of {judge['asked']} {when}" in page
