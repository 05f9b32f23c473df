"""How many labels and which: closed forms, allocation, draws and splits."""

import math

import numpy as np
import pytest

from judgestats import stats
from judgestats.errors import InputError


@pytest.mark.parametrize(
    ("rates", "labels", "people"),
    [
        ((0.7, 0.9, 0.8), 182, 323),
        ((0.7, 0.95, 0.95), 81, 323),
        ((0.7, 0.7, 0.7), 285, 323),
        ((0.9, 0.9, 0.7), 107, 139),
    ],
)
def test_the_numbers_of_the_design(rates, labels, people):
    plan = stats.labels_needed(
        0.05, n_items=2000, prevalence=rates[0], sensitivity=rates[1], specificity=rates[2]
    )
    assert (plan.labels, plan.people_only) == (labels, people)


def test_scores_prices_and_what_cannot_be_reached():
    plan = stats.labels_needed(0.2, n_items=1000, sd=1.5, correlation=0.8, price=0.5)
    assert plan.saved == pytest.approx(0.64)
    assert plan.cost == plan.labels * 0.5
    assert "a cost of" in plan.sentence()
    none = stats.labels_needed(0.01, n_items=100, prevalence=0.5, sensitivity=0.9, specificity=0.9)
    assert math.isinf(none.labels)
    assert "judge more items" in none.sentence()
    useless = stats.labels_needed(
        0.1, n_items=100, prevalence=0.5, sensitivity=0.5, specificity=0.5
    )
    assert useless.notes[0].code == "useless_judge"
    for options in ({}, {"sd": 1.0}, {"prevalence": 0.5, "sd": 1.0, "correlation": 0.5}):
        with pytest.raises(InputError):
            stats.labels_needed(0.1, n_items=100, **options)


def test_neyman_allocation_has_the_least_variance():
    w, s = np.array([0.7, 0.3]), np.array([0.28, 0.42])
    best = stats.allocate_labels(100, w, s, least=1)
    variance = [
        w[0] ** 2 * s[0] ** 2 / k + w[1] ** 2 * s[1] ** 2 / (100 - k) for k in range(1, 100)
    ]
    assert best[0] == 1 + int(np.argmin(variance))
    assert stats.allocate_labels(100, [0.99, 0.01], [0.3, 0.1]).tolist() == [90, 10]
    assert stats.allocate_labels(50, [0.5, 0.5], [1, 1], available=[12, 100]).tolist() == [12, 38]
    assert stats.allocate_labels(30, [0.5, 0.5], [0, 0]).tolist() == [15, 15]
    with pytest.raises(InputError, match="at least 10 each"):
        stats.allocate_labels(15, [0.5, 0.5], [1, 1])


def test_labels_drawn_by_verdict_with_known_chances_stay_correctable():
    rng = np.random.default_rng(1)
    values = []
    for seed in range(80):
        y = rng.random(1500) < 0.8
        f = np.where(y, rng.random(1500) < 0.92, rng.random(1500) < 0.3)
        verdict = np.where(f, "pass", "fail")
        chosen, chance = stats.draw_labels(verdict, {"pass": 60, "fail": 60}, seed=seed)
        human = np.full(1500, np.nan)
        human[chosen] = y[chosen]
        out = stats.corrected_rate(f, human, labels_drawn="by-verdict")
        values.append(out.corrected.estimate - y.mean())
        assert chance[f].sum() == pytest.approx(60)
    assert np.mean(values) == pytest.approx(0, abs=0.01)
    with pytest.raises(InputError, match="there are 2"):
        stats.draw_labels(["a", "a"], {"a": 3}, seed=0)


def test_split_keeps_questions_together():
    cluster = np.repeat(np.arange(40), np.random.default_rng(0).integers(1, 9, 40))
    part = stats.split_labels(cluster.size, cluster=cluster, validation=0.4, seed=3)
    assert all(len(set(part[cluster == c])) == 1 for c in range(40))
    assert part.mean() == pytest.approx(0.4, abs=0.05)
    again = stats.split_labels(cluster.size, cluster=cluster, validation=0.4, seed=3)
    assert np.array_equal(part, again)
    with pytest.raises(InputError, match="two questions"):
        stats.split_labels(5, cluster=[1] * 5, seed=0)


def test_the_planned_width_is_reached():
    rng = np.random.default_rng(3)
    plan = stats.labels_needed(0.05, n_items=2000, prevalence=0.7, sensitivity=0.9, specificity=0.8)
    widths = []
    for _ in range(60):
        y = rng.random(2000) < 0.7
        f = np.where(y, rng.random(2000) < 0.9, rng.random(2000) < 0.2)
        human = np.where(np.arange(2000) < plan.labels, y, np.nan)
        iv = stats.corrected_rate(f, human, labels_drawn="random").corrected.interval
        widths.append((iv.high - iv.low) / 2)
    assert np.mean(widths) == pytest.approx(0.05, abs=0.003)
