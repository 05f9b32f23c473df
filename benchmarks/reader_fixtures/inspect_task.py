"""Two graders on canned answers, four epochs: run by Inspect itself (see README)."""

from __future__ import annotations

import json
import re
from pathlib import Path

from inspect_ai import Epochs, Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import get_model
from inspect_ai.scorer import Score, mean, model_graded_qa, scorer, stderr
from inspect_ai.solver import solver

ITEMS = json.loads((Path(__file__).parent / "items.json").read_text())
ASK = (
    "Rate the response on a scale of 1 to 10, in the form Rating: [[5]].\n\n[Question]\n{q}\n\n"
    "[The Start of Answer]\n{a}\n[The End of Answer]"
)


@solver
def canned(who):
    """Give the answer that the file has."""

    async def solve(state, generate):
        state.output.completion = state.metadata["answers"][who]
        return state

    return solve


@scorer(metrics=[mean(), stderr()], name="rating")
def rating():
    """Ask the grader for 1-10; a reply without a number is unscored."""

    async def score(state, target):
        grader = get_model(role="grader")
        said = (
            await grader.generate(ASK.format(q=state.input_text, a=state.output.completion))
        ).completion
        found = re.search(r"\[\[(\d+)\]\]", said)
        if found is None:
            return Score.unscored(
                reason="no rating in the reply", answer=state.output.completion, explanation=said
            )
        return Score(value=int(found.group(1)), answer=state.output.completion, explanation=said)

    return score


@task
def judged_answers(who: str = "model-x"):
    """Six questions, one answerer."""
    samples = [
        Sample(
            id=i["id"],
            input=i["question"],
            target=i["reference"],
            metadata={"category": i["category"], "answers": i["answers"]},
        )
        for i in ITEMS
    ]
    return Task(
        dataset=samples,
        solver=canned(who),
        scorer=[model_graded_qa(), rating()],
        epochs=Epochs(4, ["mean"]),
    )
