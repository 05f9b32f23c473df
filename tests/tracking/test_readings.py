"""What MLflow shows first: the answer, and effects by the names that people read."""

from __future__ import annotations

import math
import os

from judgestats.results import (
    About,
    Comparison,
    Estimate,
    Headline,
    Recommendation,
    Results,
    Row,
    Statistic,
)
from judgestats.tracking.readings import answer_note, effects, readings
from judgestats.tracking.runs import RunWriter, key
from judgestats.tracking.store import open_store

_COMMON = {"role": "primary", "title": "T"}
RATIO = Comparison(
    id="ratio", hypothesis="spread", a="T=1", b="T=0.3", estimand="variance_ratio", estimate=3.5,
    method="m", statistic=Statistic(symbol="t", value=2.0), p=0.01, **_COMMON,  # type: ignore[arg-type]
)  # fmt: skip
SEM = Estimate(id="sem.a", hypothesis="c", estimand="sem", estimate=0.5, **_COMMON)  # type: ignore[arg-type]
NONE = Estimate(id="sem.b", hypothesis="c", estimand="sem", estimate=math.nan, **_COMMON)  # type: ignore[arg-type]
FOUND = Results(
    experiment="x",
    question="Does it?",
    answer="It does.",
    results=(RATIO, SEM, NONE),
    headlines=(
        Headline(
            id="h", hypothesis="spread", claim="differs", about=About(judge="sim-a"),
            estimand="variance_ratio", rests_on=("ratio",),
        ),
    ),
    rows=(
        Row(
            key="sem", ask="asked again it moves by", short="moves by", estimand="sem",
            cells={"a": "sem.a", "b": "sem.b"},
        ),
    ),
    recommendation=Recommendation(text="Take a."),
    facts={"simulated": True},
)  # fmt: skip


def test_the_description_begins_with_the_answer() -> None:
    assert answer_note(FOUND).splitlines()[0] == "**It does.**"
    assert "Take a." in answer_note(FOUND)
    assert "SIMULATED" in answer_note(FOUND)


def test_effects_are_named_as_people_read_them() -> None:
    (name,) = effects(FOUND)
    assert name == "answer/ratio of pooled within-cell variances T 1 to T 0.3/sim-a"
    assert effects(FOUND)[name] == 3.5
    assert readings(FOUND) == {"a": {"answer/asked again it moves by - points": 0.5}}
    assert all(key(n) == n for n in (*effects(FOUND), *readings(FOUND)["a"]))


def test_a_run_and_its_experiment_open_on_the_answer(workplace) -> None:
    store = open_store()
    with RunWriter(store, name="r") as run:
        run.answered(FOUND)
        run.metrics({"cost/usd": 1.0})
    kept = store.client.get_run(run.run_id)
    assert kept.data.tags["mlflow.note.content"].startswith("**It does.**")
    assert sorted(kept.data.metrics)[0].startswith("answer/")
    experiment = store.client.get_experiment(store.experiment_id)
    assert experiment.tags["mlflow.experimentKind"] == "custom_model_development"
    store.client.set_experiment_tag(
        store.experiment_id, "mlflow.experimentKind", "genai_development"
    )
    open_store()  # what the user chose stays
    experiment = store.client.get_experiment(store.experiment_id)
    assert experiment.tags["mlflow.experimentKind"] == "genai_development"
    assert os.environ["MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR"] == "false"
