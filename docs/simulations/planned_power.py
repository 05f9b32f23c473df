"""Power that a plan promises and power that its study reaches.

Writes planned_power.csv beside this file; about a minute on one core:

    python docs/simulations/planned_power.py

A pilot of 30 items, 5 replications and one condition is drawn from a population in which some of
the items never vary; a study of 40 items and 5 replications is to find a ratio of variances of 2
(``spread``), or a shift
of a quarter of a point (``mean``). ``pilot_items``: residuals drawn from the
pilot's items, as `plan_study` does; ``gamma_normal``: normal residuals with a gamma item factor of
the pilot's heterogeneity. Promised powers are means over pilots, with their standard deviation;
``reached`` is the power in the population itself.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from tables import write_rows

from judgestats.stats.planning.design import blocked_f_p, plan_study
from judgestats.stats.planning.pilot import pilot_components

PILOTS, STUDIES = 20, 4000
ITEMS, REPLICATIONS = 40, 5
EFFECT = {"spread": 2.0, "mean": 0.25}
POPULATIONS = ("all items vary", "half constant", "half constant, whole points")


def population(
    name: str, rng: np.random.Generator, n: int, ratio: float, shift: float
) -> np.ndarray:
    """Scores (items, 2 conditions, replications); under the second more spread or a higher mean."""
    noise = rng.normal(size=(n, 2, REPLICATIONS)) * np.sqrt([1.0, ratio])[:, None]
    if name != "all items vary":
        noise[rng.random(n) < 0.5] = 0.0
    x = 6 + rng.normal(0, 1.5, (n, 1, 1)) + noise + np.array([0.0, shift])[:, None]
    return np.round(x) if name.endswith("points") else x


def power_reached(name: str, goal: str, rng: np.random.Generator) -> float:
    """Share of studies from the population in which the planned test rejects."""
    ratio, shift = (EFFECT[goal], 0.0) if goal == "spread" else (1.0, EFFECT[goal])
    x = population(name, rng, ITEMS * STUDIES, ratio, shift)
    x = x.reshape(STUDIES, ITEMS, 2, REPLICATIONS)
    mean = x.mean(axis=3)
    values = np.abs(x - mean[..., None]).mean(axis=3) if goal == "spread" else mean
    return float(np.mean(blocked_f_p(values) < 0.05))


def cell(name: str, goal: str, rng: np.random.Generator) -> dict[str, object]:
    """Promised and reached power in one population."""
    promised: dict[str, list[float]] = {"pilot_items": [], "gamma_normal": []}
    for seed in range(PILOTS):
        pilot = pilot_components(population(name, rng, 30, 1.0, 0.0)[:, :1])
        for kind, powers in promised.items():
            model = pilot
            if kind == "gamma_normal":
                model = dataclasses.replace(pilot, residuals=None)
            plan = plan_study(
                model, goal=goal, effect=EFFECT[goal], target_power=0.8, items=[ITEMS],
                replications=[REPLICATIONS], n_simulations=400, seed=seed,
            )  # fmt: skip
            powers.append(float(plan.table["power"].iloc[0]))
    row: dict[str, object] = {"items": name, "goal": goal, "effect": EFFECT[goal]}
    for kind, powers in promised.items():
        row[f"promised_{kind}"] = round(float(np.mean(powers)), 3)
        row[f"sd_{kind}"] = round(float(np.std(powers, ddof=1)), 3)
    return row | {"reached": round(power_reached(name, goal, rng), 3), "pilots": PILOTS}


def main() -> None:
    """Simulate every population and write the table."""
    rng = np.random.default_rng(20261122)
    rows = [cell(name, goal, rng) for name in POPULATIONS for goal in EFFECT]
    write_rows("planned_power.csv", rows)


if __name__ == "__main__":
    main()
