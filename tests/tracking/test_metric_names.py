"""Metrics of a run have declared names, with coordinates where a run has several subjects."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from judgestats.cli import main
from judgestats.results import QUANTITIES as DECLARED
from judgestats.results import Condition, Demand, Measure, Results, Subject, decide
from judgestats.results.purposes import QUANTITIES
from judgestats.results.quantities import PUBLIC_NAMES
from judgestats.tracking import (
    MOST_CHILDREN,
    SHARED,
    RunWriter,
    declared_names,
    open_store,
    verdict_metrics,
)

FORM = re.compile(r"[a-z][a-z0-9_]*(/[A-Za-z0-9_.-]+)*(\.lo|\.hi)?")
KNOWN = {*DECLARED, *PUBLIC_NAMES.values(), *QUANTITIES, "verdict", "n_items",
         "pass_rate_corrected", "curve", "null_p95", "omega_published",
         "vote_share_all"}  # fmt: skip
COMMON = {"verdict", "n_items", "unparsed_share", "unanswered_share"}
"""Names, their limits included, that every run has: two runs side by side share six or more."""
SIMULATED = ["--judges", "sim-typical", "--limit", "6", "--report", "none", "--resamples", "99",
             "--crosscheck", "no"]  # fmt: skip


def parent() -> tuple[dict[str, float], dict[str, str], int]:
    """Metrics and parameters of the newest parent run, and its number of children."""
    client = open_store(existing=True).client
    found = client.search_runs([e.experiment_id for e in client.search_experiments()])
    top = [r for r in found if "mlflow.parentRunId" not in r.data.tags]
    newest = max(top, key=lambda r: r.info.start_time)
    own = [r for r in found if r.data.tags.get("mlflow.parentRunId") == newest.info.run_id]
    return newest.data.metrics, newest.data.params, len(own)


def wrong_names(metrics: dict[str, float]) -> list[str]:
    """Names that are of another form, or whose first part no entry declares."""
    return [
        name for name in metrics
        if not FORM.fullmatch(name) or re.split(r"/|\.(?=lo$|hi$)", name)[0] not in KNOWN
    ]  # fmt: skip


@pytest.mark.parametrize(
    "experiment",
    [
        "temperature",
        *(
            pytest.param(name, marks=pytest.mark.study)
            for name in (
                "omega",
                "guidelines",
                "grade_score",
                "crowd",
                "validity",
                "bias",
                "judges",
                "reasoning",
                "prompts",
                "probe",
                "alignment",
                "self_consistency",
                "rejection_sampling",
                "head_to_tail",
            )
        ),
    ],
)
def test_every_metric_of_an_experiment_is_declared(workplace, experiment: str) -> None:
    assert main(["run", experiment, *SIMULATED]) == 0
    metrics, params, children = parent()
    assert wrong_names(metrics) == []
    assert {"verdict", "n_items"} <= set(metrics)
    assert sum(name.partition(".")[0] in COMMON for name in metrics) >= 6
    assert children <= MOST_CHILDREN
    assert params["design/experiment"] == experiment


def test_an_analysis_has_the_shared_names_and_the_values_of_its_record(workplace, capsys) -> None:
    rng = np.random.default_rng(0)
    rows = ["item,judge,repeat,verdict,label"]
    for i in range(80):
        y = i % 2
        for r in (1, 2):
            said = y if rng.random() < 0.9 else 1 - y
            rows.append(
                f"q{i},my judge,{r},{('fail', 'pass')[said]},{('fail', 'pass')[y] * (i < 60)}"
            )
    Path("v.csv").write_text("\n".join(rows) + "\n", "utf-8")
    words = ["--report", "none", "--resamples", "99", "--crosscheck", "no"]
    assert main(["analyze", "v.csv", *words]) == 0
    capsys.readouterr()
    metrics, _, _ = parent()
    assert wrong_names(metrics) == []
    shared = {"verdict", "flip_rate", "tpr", "tnr", "kappa", "pass_rate", "unparsed_share",
              "n_items", "pass_rate_corrected"}  # fmt: skip
    assert shared <= set(metrics)
    assert metrics["n_items"] == 80
    assert metrics["tpr.lo"] < metrics["tpr"] < metrics["tpr.hi"]


def several(*conditions: Condition) -> Results:
    """Results with an ICC and a verdict for each condition."""
    measures, verdicts = [], []
    for k, c in enumerate(conditions):
        subject = Subject(judge=c.judge, condition=c.factors, label=c.label)
        made = Measure(key="icc_1_1", subject=subject, estimate=0.5 + k / 100, low=0.4, high=0.7)
        measures.append(made)
        demand = Demand(key="icc_1_1", threshold=0.3, direction="min")
        verdicts.append(decide([(demand, made)], subject=subject, purpose="score"))
    return Results(
        experiment="x", question="?", results=(), conditions=conditions,
        measures=tuple(measures), verdicts=tuple(verdicts),
    )  # fmt: skip


def test_the_description_has_every_outcome_in_twelve_lines(workplace) -> None:
    found = several(*(Condition(label=f"j{k}", judge=f"j{k}") for k in range(9)))
    store = open_store()
    with RunWriter(store, name="r") as run:
        run.answered(replace(found, verdicts=tuple(
            decide(
                [(Demand(key="icc_1_1", threshold=needed, direction="min"), made)],
                subject=made.subject, purpose="score",
            )
            for made, needed in zip(found.measures, [0.3] * 7 + [0.6, 0.9], strict=True)
        )))  # fmt: skip
    note = store.client.get_run(run.run_id).data.tags["mlflow.note.content"]
    assert len(note.splitlines()) <= 12
    for outcome in ("USE", "CANNOT TELL", "DO NOT USE"):
        assert f"**{outcome}** " in note
    [row, *_] = [line for line in note.splitlines() if line.startswith("| j")]
    assert row.startswith("| j8 |")
    assert row.endswith("| **fails** |")


def test_every_factor_that_varies_is_in_the_name() -> None:
    found = verdict_metrics(several(*(
        Condition(label=f"{j}, T={t}", judge=j, factors={"temperature": t, "mode": "low"})
        for j in ("a b", "c@http://h:1/v1") for t in (0.3, 1)
    )))  # fmt: skip
    assert set(found) >= {"icc_1_1/a-b/temperature-0.3", "icc_1_1/c-h-1-v1/temperature-1.hi"}
    assert wrong_names(found) == []
    one = verdict_metrics(several(Condition(label="a", judge="a")))
    assert one["icc_1_1"] == 0.5


def test_labels_with_one_slug_keep_their_own_numbers_and_ten_judges_have_some() -> None:
    alike = verdict_metrics(several(*(Condition(label=n, judge=n) for n in ("a b", "a-b"))))
    assert {alike["icc_1_1/a-b"], alike["icc_1_1/a-b-2"]} == {0.5, 0.51}
    many = verdict_metrics(several(*(Condition(label=f"j{k}", judge=f"j{k}") for k in range(13))))
    assert sum(name.count("/") == 1 and "." not in name for name in many) == 10


def test_two_numbers_of_one_quantity_are_both_kept() -> None:
    names = declared_names({"people/kappa": 0.5, "agreement/kappa": 0.6, "ci/people/kappa.lo": 0.1})
    assert sorted(names.values()) == [0.1, 0.5, 0.6]
    assert set(SHARED) <= KNOWN
