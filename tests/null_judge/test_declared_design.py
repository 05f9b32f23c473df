"""Equal judges under the regimes in which intervals over items alone fail: runs, wild replies."""

import math

import numpy as np
import pytest

from judgestats.stats import gmd_ratio, mean_shift, repeat_pairs, run_component

SCALE = (1, 10)
ITEMS = 40


def drawn(
    rng: np.random.Generator, judges: int, repeats: int, *, shift: float = 0.0, wild: float = 0.0
) -> np.ndarray:
    """Items x equal judges x repeats: scores of 1-10, shifts of runs in units of noise."""
    means = rng.normal(6.5, 1.5, size=(ITEMS, 1, 1))
    runs = shift * rng.normal(size=(1, judges, repeats))
    x = np.clip(np.round(means + 0.7 * (runs + rng.normal(size=(ITEMS, judges, repeats)))), *SCALE)
    return np.where(rng.random(x.shape) < wild, 1.0, x)


def most(n: int, level: float = 0.05) -> float:
    """Share of false claims that two Monte Carlo errors allow."""
    return level + 2 * math.sqrt(level * (1 - level) / n)


def false_means(repeats: int, shift: float, n: int) -> tuple[float, float]:
    """Shares of data sets in which means differ, of judges and in these runs."""
    rng = np.random.default_rng([repeats, int(100 * shift), n])
    of_judges = in_runs = 0
    for _ in range(n):
        x = drawn(rng, 3, repeats, shift=shift)
        rows = mean_shift(x, runs=run_component(x)).rows
        claimed = [r for r in rows if r.p_adjusted <= 0.05]
        of_judges += any(r.details["target"] != "these runs" for r in claimed)
        in_runs += any(r.details["target"] == "these runs" for r in claimed)
    return of_judges / n, in_runs / n


@pytest.mark.parametrize("repeats", [3, 5, 10])
@pytest.mark.parametrize("shift", [0.0, 0.2, 0.4])
def test_equal_judges_in_runs_rarely_differ(repeats: int, shift: float) -> None:
    assert false_means(repeats, shift, 100)[0] <= most(100)


def test_two_runs_of_two_judges_claim_nothing_of_judges() -> None:
    rng = np.random.default_rng(1)
    claims = 0
    for _ in range(100):
        x = drawn(rng, 2, 2, shift=0.4)
        [row] = mean_shift(x, runs=run_component(x)).rows
        assert row.details["target"] == "these runs"
        claims += row.p_adjusted <= 0.05
    assert claims > 10  # the shift is there, and the words bear it


@pytest.mark.study
@pytest.mark.parametrize("repeats", [2, 3, 5, 10])
@pytest.mark.parametrize("shift", [0.1, 0.2, 0.25 / 0.7, 0.4])
def test_false_means_of_400_data_sets(repeats: int, shift: float) -> None:
    bound = 0.104 if repeats == 2 else 0.077 if repeats == 3 else most(400)
    assert false_means(repeats, shift, 400)[0] <= bound


def covered(wild: float, n: int) -> tuple[float, float]:
    """Shares of data sets whose plain interval of the SEM, and whose tail bound, hold the truth."""
    truth = repeat_pairs(drawn_many(wild), scale=SCALE).sem().estimate
    rng = np.random.default_rng([7, int(1000 * wild)])
    plain = bounded = 0
    for _ in range(n):
        pairs = repeat_pairs(drawn(rng, 1, 3, wild=wild)[:, 0], scale=SCALE)
        sem, tail = pairs.sem(), pairs.sem_tail()
        plain += sem.low <= truth <= sem.high
        bounded += tail.low <= truth <= tail.high
    return plain / n, bounded / n


def drawn_many(wild: float) -> np.ndarray:
    rng = np.random.default_rng(3)
    return np.concatenate([drawn(rng, 1, 10, wild=wild)[:, 0] for _ in range(1000)])


@pytest.mark.parametrize("wild", [0.0, 0.01, 0.03])
def test_the_tail_bound_covers_where_wild_replies_were_not_seen(wild: float) -> None:
    _, bounded = covered(wild, 150)
    assert bounded >= 0.93 - 2 * math.sqrt(0.93 * 0.07 / 150)


@pytest.mark.study
@pytest.mark.parametrize("wild", [0.01, 0.03])
def test_the_tail_bound_covers_in_400_data_sets(wild: float) -> None:
    plain, bounded = covered(wild, 400)
    assert bounded >= 0.93
    assert plain < bounded


def test_p_and_interval_of_every_claim_agree() -> None:
    rng = np.random.default_rng(17)
    rejected = 0
    for _ in range(150):
        x = drawn(rng, 3, 4, shift=rng.choice([0.0, 0.3]))
        x[:, 1] += rng.choice([0, 1])
        rows = mean_shift(x, runs=run_component(x)).rows + gmd_ratio(x).rows
        for row in rows:
            null = 1.0 if row.estimate_name == "gmd_ratio" else 0.0
            if row.interval is None:
                continue
            outside = not row.interval.low - 1e-9 <= null <= row.interval.high + 1e-9
            assert outside == (row.p_adjusted <= 0.05)
            rejected += outside
    assert rejected > 50


def test_interleaved_repeats_cost_no_power() -> None:
    rng = np.random.default_rng(23)
    x = drawn(rng, 2, 5)
    x[:20, 1] += 1
    plain = mean_shift(x).rows[0]
    found = mean_shift(x, runs=run_component(x, interleaved=True)).rows[0]
    assert (found.p_value, found.interval) == (plain.p_value, plain.interval)


def test_rows_and_an_added_point_change_nothing() -> None:
    rng = np.random.default_rng(29)
    x = drawn(rng, 2, 5, shift=0.3)
    order = rng.permutation(ITEMS)
    for moved in (x[order], x + 1):
        one, other = (mean_shift(v, runs=run_component(v)).rows[0] for v in (x, moved))
        assert other.estimate == pytest.approx(one.estimate, rel=1e-9)
        assert other.p_value == pytest.approx(one.p_value, rel=1e-9)
        ratios = [gmd_ratio(v).rows[0] for v in (x, moved)]
        assert ratios[0].p_value == ratios[1].p_value
        assert ratios[0].estimate == pytest.approx(ratios[1].estimate, rel=1e-9)


def test_one_repeat_and_a_constant_judge_have_reasons() -> None:
    once = run_component(np.arange(20.0).reshape(10, 2, 1))
    assert math.isnan(once.p_value)
    x = drawn(np.random.default_rng(2), 2, 3)
    x[:, 1] = 8
    [row] = gmd_ratio(x).rows
    assert math.isnan(row.estimate)
    assert row.reason
    assert mean_shift(x, runs=run_component(x)).rows[0].interval is not None
