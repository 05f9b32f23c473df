"""Planning: components recovered, power as theory says, the cheapest sufficient design."""

from __future__ import annotations

import csv
import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from judgestats.errors import InputError
from judgestats.stats import icc, plan_study
from judgestats.stats.planning import Design, PilotComponents, pilot_components
from judgestats.stats.planning.design import _draw, _icc_widths


def noncentral_t_power(delta: float, n: int) -> float:
    t = stats.t.ppf(0.975, n - 1)
    nc = delta * math.sqrt(n)
    return float(stats.nct.sf(t, n - 1, nc) + stats.nct.cdf(-t, n - 1, nc))


def test_components_are_recovered() -> None:
    rng = np.random.default_rng(0)
    n = 3000
    x = (
        6
        + rng.normal(0, 1.5, (n, 1, 1))
        + rng.normal(0, 0.5, (n, 2, 1))
        + rng.normal(size=(n, 2, 5))
        * np.array([0.6, 1.2])[:, None]
        * np.sqrt(rng.gamma(2, 0.5, (n, 1, 1)))
    )
    c = pilot_components(x)
    assert c.item_variance == pytest.approx(2.25, rel=0.08)
    assert c.item_condition_variance == pytest.approx(0.25, rel=0.15)
    assert c.residual_variance == pytest.approx((0.36, 1.44), rel=0.08)
    assert c.heterogeneity == pytest.approx(0.5, rel=0.3)


def test_negative_components_become_zero_with_a_note() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(25, 2, 3))
    x -= x.mean(axis=2, keepdims=True)
    c = pilot_components(x)
    assert c.item_variance == 0.0
    assert c.item_condition_variance == 0.0
    assert {n.code for n in c.notes} == {"negative_component"}


def test_power_for_a_shift_is_the_noncentral_t() -> None:
    pilot = PilotComponents(
        item_variance=4.0, residual_variance=(0.5, 0.5), item_condition_variance=0.1
    )
    plan = plan_study(
        pilot,
        goal="mean",
        effect=0.3,
        target_power=0.8,
        items=(20, 40),
        replications=(2, 5),
        n_simulations=3000,
    )
    for row in plan.table.to_dict("records"):
        sd = math.sqrt(2 * (0.1 + 0.5 / row["replications"]))
        expected = noncentral_t_power(0.3 / sd, row["items"])
        assert row["power"] == pytest.approx(expected, abs=0.03)
        assert row["power_se"] == pytest.approx(
            math.sqrt(row["power"] * (1 - row["power"]) / 3000), rel=1e-9
        )


def test_no_effect_has_the_size_of_the_test() -> None:
    pilot = PilotComponents(item_variance=1.0, residual_variance=(0.5,), heterogeneity=1.0)
    plan = plan_study(
        pilot,
        goal="spread",
        effect=1.0,
        target_power=0.9,
        items=(30,),
        replications=(5,),
        n_simulations=2000,
    )
    assert plan.table["power"][0] == pytest.approx(0.05, abs=0.02)
    assert plan.cheapest is None
    assert "None of the 1 designs" in plan.sentence()


def test_orders_average_the_order_effect_away() -> None:
    pilot = PilotComponents(
        item_variance=1.0, residual_variance=(0.2, 0.2), item_order_variance=1.0
    )
    plan = plan_study(
        pilot,
        goal="mean",
        effect=0.4,
        target_width=0.1,
        items=(30,),
        replications=(4,),
        orders=(1, 4),
        n_simulations=400,
    )
    one, four = plan.table["width"]
    assert one / four == pytest.approx(math.sqrt((1 + 0.05) / (0.25 + 0.0125)), rel=0.1)
    assert plan.table["calls"].tolist() == [240, 960]


def test_cheapest_is_cheapest_and_priced_by_condition() -> None:
    pilot = PilotComponents(item_variance=1.0, residual_variance=(0.5, 0.5))
    plan = plan_study(
        pilot,
        goal="mean",
        effect=0.5,
        target_power=0.8,
        items=(10, 20, 40, 80),
        replications=(2, 4),
        cost_per_call=(0.01, 0.03),
        n_simulations=300,
    )
    reached = plan.table[plan.table["reached"]]
    assert plan.cheapest["cost"] == reached["cost"].min()
    row = plan.table.iloc[0]
    assert row["cost"] == pytest.approx(10 * 2 * 0.04)
    assert "cheapest of 8 designs" in plan.sentence()


def test_unknown_price_ranks_by_calls_and_stays_unknown() -> None:
    pilot = PilotComponents(item_variance=1.0, residual_variance=(0.5,))
    plan = plan_study(pilot, goal="reliability", target_width=0.3, n_simulations=50)
    assert plan.table["cost"].isna().all()
    assert plan.table["power"].isna().all()
    assert plan.cheapest["calls"] == plan.table[plan.table["reached"]]["calls"].min()
    assert "cost" not in plan.sentence()


def test_reliability_width_of_equal_scatter_is_nearly_that_of_f() -> None:
    pilot = PilotComponents(item_variance=1.0, residual_variance=(1.0,))
    plan = plan_study(
        pilot,
        goal="reliability",
        target_width=0.2,
        items=(50,),
        replications=(5,),
        n_simulations=1000,
    )
    f = 1 + 5 * 1.0
    ends = f / np.array([stats.f.isf(0.025, 49, 200), stats.f.ppf(0.025, 49, 200)])
    low, high = (ends - 1) / (ends + 4)
    assert plan.table["width"][0] == pytest.approx(high - low, rel=0.1)


@pytest.mark.parametrize(("n", "r"), [(3, 2), (4, 3), (12, 2), (40, 5)])
@pytest.mark.parametrize("shared", [0.0, 0.5, 0.99])
def test_widths_of_many_studies_are_those_of_icc(n, r, shared) -> None:
    rng = np.random.default_rng(n)
    noise = rng.normal(size=(30, n, 1, 1, r)) * (rng.random((30, n, 1, 1, 1)) < 0.8)
    x = np.sqrt(shared) * rng.normal(size=(30, n, 1, 1, 1)) + np.sqrt(1 - shared) * noise
    intervals = [icc(study[:, 0, 0], n_permutations=0).interval for study in x]
    one_by_one = [np.inf if i is None else i.high - i.low for i in intervals]
    assert _icc_widths(x, 0.05) == pytest.approx(one_by_one, rel=1e-9)


def test_same_numbers_for_any_number_of_workers() -> None:
    pilot = PilotComponents(item_variance=1.0, residual_variance=(0.5, 0.7), heterogeneity=0.4)
    arguments = {
        "goal": "spread",
        "effect": 1.5,
        "target_width": 2.0,
        "items": (10, 20),
        "replications": (2, 3),
        "n_simulations": 50,
    }
    one = plan_study(pilot, **arguments)
    two = plan_study(pilot, **arguments, n_jobs=2)
    assert one.table.equals(two.table)
    other = plan_study(pilot, **arguments, seed=1)
    assert not one.table.equals(other.table)


def test_pilot_conditions_are_used_without_an_effect() -> None:
    rng = np.random.default_rng(3)
    x = 5 + rng.normal(size=(30, 1, 1)) + rng.normal(size=(30, 3, 4)) * 0.5
    x[:, 2] += 1.0
    plan = plan_study(
        pilot_components(x), goal="mean", target_power=0.9, items=(40,), n_simulations=100
    )
    assert plan.table["calls"].tolist() == [40 * 3 * r for r in (2, 3, 5, 10)]
    assert plan.cheapest["power"] > 0.95


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"goal": "fame", "target_power": 0.8}, "goal must be one of"),
        ({"goal": "mean"}, "either target_power or target_width, got neither"),
        ({"goal": "mean", "target_power": 0.8, "target_width": 1.0}, "got both"),
        ({"goal": "mean", "target_power": 80}, "target_power"),
        ({"goal": "reliability", "target_power": 0.8}, "target_power"),
        ({"goal": "spread", "target_width": 0.5}, "target_width"),
        ({"goal": "spread", "effect": -1, "target_power": 0.8}, "effect"),
        ({"goal": "mean", "target_power": 0.8, "effect": 1, "items": (2,)}, "items"),
        ({"goal": "mean", "target_power": 0.8, "effect": 1, "replications": (1,)}, "replications"),
        ({"goal": "mean", "target_power": 0.8, "effect": 1, "orders": ()}, "orders"),
        ({"goal": "mean", "target_power": 0.8, "effect": 1, "cost_per_call": -1}, "cost_per_call"),
        ({"goal": "mean", "target_power": 0.8, "effect": 1, "n_simulations": 1}, "n_simulations"),
        ({"goal": "mean", "target_power": 0.8}, "effect is needed"),
    ],
)
def test_meaningless_plans_are_refused(arguments, match: str) -> None:
    pilot = PilotComponents(item_variance=1.0, residual_variance=(0.5,))
    with pytest.raises(InputError, match=match):
        plan_study(pilot, **arguments)


def test_meaningless_components_are_refused() -> None:
    with pytest.raises(InputError, match="not negative"):
        PilotComponents(item_variance=-1, residual_variance=(1.0,))
    with pytest.raises(InputError, match="0 under every condition"):
        PilotComponents(item_variance=1, residual_variance=(0.0, 0.0))
    with pytest.raises(InputError, match="means must be one"):
        PilotComponents(item_variance=1, residual_variance=(1.0,), means=(1.0, 2.0))
    with pytest.raises(InputError, match="needs 3 items"):
        pilot_components(np.ones((2, 2, 3)))


def test_a_pilot_whose_items_half_never_vary_is_planned_with_such_items():
    rng = np.random.default_rng(3)
    noise = rng.normal(size=(60, 1, 6))
    noise[::2] = 0.0
    pilot = pilot_components(6 + rng.normal(size=(60, 1, 1)) + noise)
    assert pilot.residuals is not None
    drawn = _draw(pilot, Design(n_items=400, n_replications=4), 3, rng)
    constant = np.ptp(drawn, axis=-1)[:, :, 0, 0] < 1e-12
    assert constant.mean() == pytest.approx(0.5, abs=0.05)
    assert drawn.var(axis=-1, ddof=1).mean() == pytest.approx(pilot.residual_variance[0], rel=0.1)
    options = {"goal": "spread", "effect": 2.0, "target_power": 0.8, "items": [40]}
    as_they_are = plan_study(pilot, **options, replications=[5]).table["power"].iloc[0]
    normal = dataclasses.replace(pilot, residuals=None, heterogeneity=0.0)
    promised = plan_study(normal, **options, replications=[5]).table["power"].iloc[0]
    assert as_they_are < promised - 0.1


def test_committed_plans_promise_no_more_than_was_reached():
    table = Path(__file__).resolve().parents[3] / "docs" / "simulations" / "planned_power.csv"
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert all(float(r["promised_pilot_items"]) <= float(r["reached"]) + 0.1 for r in rows)
    spread = [r for r in rows if r["goal"] == "spread" and r["items"].startswith("half")]
    assert all(float(r["promised_gamma_normal"]) > float(r["reached"]) + 0.1 for r in spread)
