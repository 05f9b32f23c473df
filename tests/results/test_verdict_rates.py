"""How often verdicts err, and whether what they advise decides: the package's rule, simulated.

Judges lie at the boundary of one requirement, or of all; the wrong outcome must stay rare. The part
that always runs is seeded; ``-m study`` runs every cell.
"""

from __future__ import annotations

import functools
import math
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.special import betaincinv, ndtr
from scipy.stats import ttest_rel

from judgestats.cli import main
from judgestats.results import (
    Condition,
    DecisionOptions,
    Demand,
    Measure,
    Results,
    Subject,
    decide,
    share_measure,
    verdicts_of,
)
from judgestats.stats import condition_summary, icc, run_change

study = pytest.mark.study
GATE = (
    Demand(key="tpr", threshold=0.8, direction="min"),
    Demand(key="tnr", threshold=0.8, direction="min"),
    Demand(key="flip_rate", threshold=0.1, direction="max", kind="expected"),
)
NORMAL = np.linspace(-6, 6, 2001)


def allowed(rate: float, runs: int) -> float:
    """A rate with two standard errors of its simulation."""
    return rate + 2 * math.sqrt(rate * (1 - rate) / runs)


def normals(rng: np.random.Generator, items: int, size: int) -> np.ndarray:
    """Standard normals that correlate by .3 within clusters of so many items."""
    if size == 1:
        return rng.standard_normal(items)
    shared = np.repeat(rng.standard_normal(items // size), size)
    return math.sqrt(0.3) * shared + math.sqrt(0.7) * rng.standard_normal(items)


@functools.cache
def chances(mean: float, flips: float) -> np.ndarray:
    """Chances of a right verdict by a standard normal: beta with this mean and flip rate."""
    variance = mean * (1 - mean) - flips / 2
    total = mean * (1 - mean) / variance - 1
    return betaincinv(mean * total, (1 - mean) * total, ndtr(NORMAL))


def gate_outcome(rng, rates, items: int, repeats: int, passes: float, size: int, judges: int = 1):
    """The outcome on one judge with these rates (TPR, TNR, flip rate) and so many labels."""
    z = normals(rng, items, size)
    label = rng.random(items) < passes
    chance = np.where(
        label, *(np.interp(z, NORMAL, chances(rate, rates[2])) for rate in rates[:2])
    )  # fmt: skip
    right = rng.binomial(repeats, chance)
    flips = 2 * right * (repeats - right) / (repeats * (repeats - 1))
    clusters = np.arange(items) // size
    made = [
        share_measure(key, values.tolist(), groups.tolist(), most=most)
        for key, values, groups, most in (
            ("tpr", right[label] / repeats, clusters[label], repeats),
            ("tnr", right[~label] / repeats, clusters[~label], repeats),
            ("flip_rate", flips, clusters, repeats - 1),
        )
    ]
    return decide(list(zip(GATE, made, strict=True)), judges=judges).outcome


def shares(draw, runs: int) -> dict[str, float]:
    found = [draw() for _ in range(runs)]
    return {outcome: found.count(outcome) / runs for outcome in ("USE", "DO_NOT_USE")}


# What every run tests: 400 judges of two cells; the study: 1,000 of each.
ONE_AT_BOUNDARY = [
    pytest.param((0.80, 0.95, 0.04), n, size, marks=study)
    for n in (52, 100, 200, 400) for size in (1, 4)
] + [
    pytest.param(rates, n, size, marks=() if (n, size, rates[2]) == (200, 4, 0.04) else study)
    for rates in ((0.95, 0.80, 0.04), (0.92, 0.92, 0.10))
    for n in (52, 100, 200, 400) for size in (1, 4)
]  # fmt: skip


@pytest.mark.parametrize(("rates", "items", "size"), ONE_AT_BOUNDARY)
def test_a_gate_at_one_boundary_is_rarely_called_usable(rates, items, size, request) -> None:
    runs = 1_000 if request.node.get_closest_marker("study") else 400
    rng = np.random.default_rng(items * size)
    found = shares(lambda: gate_outcome(rng, rates, items, 3, 0.7, size), runs)
    assert found["USE"] <= allowed(0.05, runs)


@pytest.mark.parametrize(
    ("items", "repeats", "passes", "size"),
    [
        pytest.param(n, k, p, s, marks=() if (n, k, p, s) == (200, 3, 0.5, 1) else study)
        for n in (52, 100, 200, 400) for k in (2, 3, 10) for p, s in ((0.7, 1), (0.5, 1), (0.7, 4))
    ],
)  # fmt: skip
def test_a_gate_at_all_boundaries_is_rarely_refused(items, repeats, passes, size, request) -> None:
    runs = 1_000 if request.node.get_closest_marker("study") else 400
    rng = np.random.default_rng(items + repeats + size)
    rates = (0.80, 0.80, 0.10)
    found = shares(lambda: gate_outcome(rng, rates, items, repeats, passes, size), runs)
    assert found["DO_NOT_USE"] <= allowed(0.05, runs)
    assert found["USE"] <= allowed(0.002, runs)


@pytest.mark.parametrize(
    ("rates", "items", "passes", "size", "outcome", "power"),
    [
        ((0.92, 0.90, 0.05), 400, 0.7, 1, "USE", 0.892),
        pytest.param((0.95, 0.95, 0.03), 100, 0.7, 1, "USE", 0.61, marks=study),
        pytest.param((0.95, 0.95, 0.03), 100, 0.7, 4, "USE", 0.52, marks=study),
        pytest.param((0.92, 0.90, 0.05), 200, 0.7, 1, "USE", 0.5355, marks=study),
        pytest.param((0.92, 0.90, 0.05), 200, 0.5, 1, "USE", 0.7275, marks=study),
        pytest.param((0.92, 0.70, 0.05), 200, 0.7, 1, "DO_NOT_USE", 0.37, marks=study),
        pytest.param((0.92, 0.70, 0.05), 200, 0.5, 1, "DO_NOT_USE", 0.6002, marks=study),
        pytest.param((0.92, 0.70, 0.05), 400, 0.7, 4, "DO_NOT_USE", 0.61, marks=study),
    ],
)
def test_a_gate_has_the_power_that_the_pages_tell(
    rates, items, passes, size, outcome, power, request
) -> None:
    runs = 2_000 if request.node.get_closest_marker("study") else 300
    rng = np.random.default_rng(items)
    found = shares(lambda: gate_outcome(rng, rates, items, 3, passes, size), runs)
    error = 2 * math.sqrt(power * (1 - power) / runs)
    assert found[outcome] == pytest.approx(power, abs=0.03 + error)


@study
@pytest.mark.parametrize(
    ("rates", "wrong"), [((0.95, 0.80, 0.04), "USE"), ((0.80, 0.80, 0.10), "DO_NOT_USE")]
)
def test_none_of_five_judges_at_the_boundary_is_decided_on_wrongly(rates, wrong) -> None:
    rng = np.random.default_rng(5)
    any_wrong = [
        any(gate_outcome(rng, rates, 200, 3, 0.7, 1, judges=5) == wrong for _ in range(5))
        for _ in range(1_000)
    ]
    assert np.mean(any_wrong) <= allowed(0.05, 1_000)


# ---------------------------------------------------------------- scores
def score_draws(rng, runs: int, items: int, repeats: int, size: int) -> np.ndarray:
    """Whole scores from 1 to 10, items x runs x repeats; noise differs by item."""
    level = np.stack([normals(rng, items, size) for _ in range(runs)], axis=1)
    noise = 0.8 * np.exp(0.4 * rng.standard_normal((items, runs, 1)) - 0.08)
    raw = 5.5 + 1.8 * level[..., None] + noise * rng.standard_normal((items, runs, repeats))
    return np.clip(np.rint(raw), 1, 10)


@functools.cache
def true_score_numbers() -> tuple[float, float]:
    """ICC(1,1) and SEM of the population."""
    x = score_draws(np.random.default_rng(1), 1, 2_000_000, 2, 1)[:, 0]
    within = float(np.mean((x[:, 0] - x[:, 1]) ** 2) / 2)
    between = float(np.mean((x[:, 0] - x.mean()) * (x[:, 1] - x.mean())))
    return between / (between + within), math.sqrt(within)


def score_outcomes(rng, needed, runs: int, items: int, repeats: int, size: int) -> list[str]:
    """Outcomes on so many judges of whom ICC(1,1) and SEM are required."""
    demands = (
        Demand(key="icc_1_1", threshold=needed[0], direction="min"),
        Demand(key="sem", threshold=needed[1], direction="max"),
    )
    x = score_draws(rng, runs, items, repeats, size)
    cluster = [f"q{i // size}" for i in range(items)]
    found = []
    for k, row in enumerate(condition_summary(x, cluster=cluster).rows):
        reliability = icc(x[:, k], cluster=cluster, n_permutations=1)
        made = []
        for key, shape, record in (
            ("icc_1_1", "variance_ratio", reliability), ("sem", "log", row.sem)
        ):  # fmt: skip
            ends = record.interval  # none where one item holds nearly all variance
            stated = re.search(r"t with ([\d.]+)", ends.method) if ends else None
            made.append(Measure(
                key=key, shape=shape, estimate=record.estimate, n=items, n_clusters=items // size,
                low=ends.low if ends else math.nan, high=ends.high if ends else math.nan,
                df=float(record.details.get("df") or (stated[1] if stated else math.inf)),
                parts=repeats,
            ))  # fmt: skip
        found.append(decide(list(zip(demands, made, strict=True))).outcome)
    return found


@pytest.mark.parametrize(
    ("at", "items", "repeats", "size"),
    [
        pytest.param(at, n, k, s, marks=() if (at, n, k, s) == ("icc", 52, 3, 1) else study)
        for at in ("icc", "sem", "all") for n, k in ((52, 2), (52, 3), (100, 3), (200, 5))
        for s in (1, 4)
    ],
)  # fmt: skip
def test_scores_at_a_boundary_are_rarely_decided_on_wrongly(at, items, repeats, size, request):
    runs = 1_000 if request.node.get_closest_marker("study") else 150
    rng = np.random.default_rng(items + repeats + size)
    true_icc, true_sem = true_score_numbers()
    needed = {
        "icc": (true_icc, 1.3 * true_sem), "sem": (true_icc - 0.1, true_sem),
        "all": (true_icc, true_sem),
    }[at]  # fmt: skip
    found = score_outcomes(rng, needed, runs, items, repeats, size)
    assert found.count("USE") / runs <= allowed(0.05, runs)
    assert found.count("DO_NOT_USE") / runs <= allowed(0.05, runs)


# ---------------------------------------------------------------- drift
def pass_runs(rng, chance: np.ndarray, moved: float, repeats: int) -> list[np.ndarray]:
    """Passes of two runs on items with these chances; the second one's are moved."""
    shape = (chance.size, repeats)
    return [
        (rng.random(shape) < np.clip(chance + shift, 0, 1)[:, None]).astype(float)
        for shift in (0.0, moved)
    ]


def drift_rates(rng, runs: int, items: int, moved: float, repeats: int = 3) -> dict[str, float]:
    """Shares of CHANGED, of a change of the rate, and of NO CHANGE, by weighted Holm."""
    found = {"changed": 0, "rate": 0, "same": 0}
    for _ in range(runs):
        # Equivalence is tried where no chance is moved beyond 0 or 1.
        chance = rng.uniform(0.0, 1.0 if moved != 0.05 else 0.95, items)
        before, after = pass_runs(rng, chance, moved, repeats)
        rate = run_change(before, after, kind="scores", margin=0.05)
        flips = run_change(before.astype(int), after.astype(int), kind="flips")
        p = rate.p_value / 0.8, flips.p_value / 0.2
        first = min(p) <= 0.05
        by_rate = p[0] <= 0.05 or (first and rate.p_value <= 0.05)
        found["rate"] += by_rate
        found["changed"] += first
        found["same"] += not first and rate.details["p_equivalent"] <= 0.05
    return {key: n / runs for key, n in found.items()}


@pytest.mark.parametrize("runs", [300, pytest.param(4_000, marks=study)])
def test_fifteen_points_on_eighty_items_are_found(runs) -> None:
    found = drift_rates(np.random.default_rng(80), runs, 80, 0.15)
    assert found["rate"] >= 0.95 - 2 * math.sqrt(0.05 * 0.95 / runs)


@study
@pytest.mark.parametrize("items", [40, 80, 200, 400])
def test_an_unchanged_judge_rarely_has_changed(items) -> None:
    assert drift_rates(np.random.default_rng(items), 2_000, items, 0.0)["changed"] <= allowed(
        0.05, 2_000
    )


@study
@pytest.mark.parametrize("items", [80, 200, 400])
def test_a_change_of_the_margin_is_rarely_called_none(items) -> None:
    assert drift_rates(np.random.default_rng(items), 2_000, items, 0.05)["same"] <= allowed(
        0.05, 2_000
    )


@study
def test_the_command_finds_what_a_paired_t_finds(tmp_path, monkeypatch, capsys) -> None:
    """100 pairs of files of 80 items x 3: at most two runs fewer."""
    monkeypatch.chdir(tmp_path)
    rng, found = np.random.default_rng(3), {"command": 0, "t": 0}
    place = [(i, r) for i in range(80) for r in range(3)]
    for _ in range(100):
        runs = pass_runs(rng, rng.random(80), 0.15, 3)
        for name, run in zip(("a", "b"), runs, strict=True):
            rows = [f"q{i},j,{r},{'pass' if run[i, r] else 'fail'}" for i, r in place]
            Path(f"{name}.csv").write_text("\n".join(["item,judge,repeat,verdict", *rows]))
        assert main(["drift", "a.csv", "b.csv", "--resamples", "19"]) == 0
        said = capsys.readouterr().out
        found["command"] += said.startswith("CHANGED") and "pass rate rose" in said
        found["t"] += ttest_rel(*(run.mean(axis=1) for run in runs)).pvalue <= 0.05
    assert found["command"] >= found["t"] - 2


# ---------------------------------------------------------------- advice
def verdict_on_fails(right: int, n: int):
    """The verdict on a judge of whom the TNR is required, right on so many of n labelled fails."""
    subject = Subject(judge="j", label="j")
    tnr = share_measure("tnr", [1.0] * right + [0.0] * (n - right), range(n), subject=subject)
    results = Results(
        experiment="audit", question="?", results=(), conditions=(Condition(label="j", judge="j"),),
        measures=(Measure(key="_kind", subject=subject, reason="pass_fail"), tnr),
    )  # fmt: skip
    [verdict] = verdicts_of(results, DecisionOptions(required=("tnr=.8",)))
    return verdict


@pytest.mark.parametrize("true", [0.70, 0.75, 0.85, 0.90])
def test_the_labels_that_are_advised_decide(true) -> None:
    """From 30 labelled fails, those that decide with probability .80 do in .80 of 400 files."""
    rng = np.random.default_rng(11)
    tried, decided = 0, 0
    for _ in range(400):
        right = int(rng.binomial(30, true))
        first = verdict_on_fails(right, 30)
        if first.outcome != "CANNOT_TELL":
            assert first.next == ()
            continue
        [step] = first.next
        assert (step.unit, step.have, step.probability) == ("labelled fails", 30, 0.8)
        if step.assured is None:
            continue
        tried += 1
        more = int(rng.binomial(step.assured, true))
        second = verdict_on_fails(right + more, 30 + step.assured)
        decided += second.outcome != "CANNOT_TELL"
    assert tried > 100
    assert decided / tried >= 0.80
