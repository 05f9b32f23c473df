import itertools
import math

import numpy as np
import pytest

from judgestats.errors import InputError
from judgestats.stats import agreement_across_judges, majority_stability, percent_agreement
from judgestats.stats.agreement import panel_agreement
from judgestats.stats.agreement.vote_share import _sampled_stability


def brute_force(labels: str, k: int, ties: str) -> float:
    """Every ordered way to draw two disjoint panels."""
    total = n = 0.0
    for draw in itertools.permutations(labels, 2 * k):
        panels = [draw[:k], draw[k:]]
        tops = []
        for panel in panels:
            counts = {c: panel.count(c) for c in panel}
            tops.append({c for c, m in counts.items() if m == max(counts.values())})
        a, b = tops
        if ties == "random":
            total += len(a & b) / (len(a) * len(b))
        elif len(a) == 1 and len(b) == 1:
            total += a == b
        else:
            total += len(a) > 1 and len(b) > 1
        n += 1
    return total / n


@pytest.mark.parametrize("labels", ["AAAB", "AABBC", "AABBCC", "ABCABC"])
@pytest.mark.parametrize("ties", ["random", "own"])
def test_exact_stability_is_the_enumeration_of_all_draws(labels: str, ties: str) -> None:
    counts = [labels.count(c) for c in "ABC"]
    for k in (1, 2, 3):
        if 2 * k <= len(labels):
            ours = panel_agreement(counts, k=k, ties=ties)
            assert ours == pytest.approx(brute_force(labels, k, ties), abs=1e-12)


def test_drawn_panels_come_near_the_exact_value() -> None:
    counts = np.array([6, 3, 1])
    drawn = _sampled_stability(counts, 3, "random", 20_000, np.random.default_rng(0))
    assert drawn == pytest.approx(panel_agreement(counts, k=3), abs=0.02)


def test_one_judgment_panels_are_raw_agreement() -> None:
    codes = np.random.default_rng(1).integers(3, size=(30, 5))
    stability = majority_stability(codes, k=1)
    raw = percent_agreement(codes)
    assert stability.estimate == pytest.approx(raw.estimate, abs=1e-12)
    assert stability.interval.low == pytest.approx(raw.interval.low, abs=1e-12)


@pytest.mark.parametrize("ties", ["random", "own"])
def test_plug_in_is_higher_on_average(ties: str) -> None:
    rng = np.random.default_rng(2)
    codes = (rng.random((200, 10)) < rng.beta(3, 3, size=(200, 1))).astype(int)
    disjoint = majority_stability(codes, k=3, ties=ties)
    plug_in = majority_stability(codes, k=3, ties=ties, estimator="plug-in")
    assert plug_in.estimate > disjoint.estimate + 0.01
    assert [n.code for n in plug_in.notes] == ["plug_in_bias"]
    # The truth, from the generating probabilities.
    p = rng.beta(3, 3, size=200_000)
    majority = p**3 + 3 * p**2 * (1 - p)
    truth = float(np.mean(majority**2 + (1 - majority) ** 2))
    assert disjoint.estimate == pytest.approx(truth, abs=0.05)


def test_too_few_replications_is_a_reason_and_a_count() -> None:
    verdicts = [["A"] * 6, ["A", "B", "A", None, None, None]]
    out = majority_stability(verdicts, k=2)
    assert (out.estimate, out.sample.n_items, out.sample.n_excluded) == (1.0, 1, 1)
    none = majority_stability(verdicts, k=4)
    assert math.isnan(none.estimate)
    assert "8 judgments" in none.reason
    assert majority_stability(verdicts, k=4, estimator="plug-in").sample.n_items == 2


def test_unanimous_panels_have_a_one_sided_interval() -> None:
    out = majority_stability([["A"] * 6] * 25, k=3)
    assert out.estimate == 1.0
    assert out.interval.low == pytest.approx(0.025 ** (1 / 25))


def test_large_panels_are_drawn_and_repeat() -> None:
    codes = np.random.default_rng(3).integers(6, size=(3, 100))
    runs = [majority_stability(codes, k=25, n_draws=200, seed=5).estimate for _ in range(2)]
    assert runs[0] == runs[1]
    assert 0 < runs[0] < 1


def test_options_are_checked() -> None:
    with pytest.raises(InputError, match="majority_stability"):
        majority_stability([["A", "B"]], k=0)
    with pytest.raises(InputError, match="estimator"):
        majority_stability([["A", "B"]], k=1, estimator="bootstrap")
    with pytest.raises(InputError, match="panel_agreement"):
        panel_agreement([1, 2], k=0)


def test_agreement_across_judges_by_hand() -> None:
    a = [["A", "A"], ["B", None]]
    b = [["A", "B"], ["B", "B"]]
    c = [["A", "A"], ["A", "B"]]
    out = agreement_across_judges([a, b, c])
    # Replication 1: 3/3 and 1/3 pairs; replication 2: 1/3 and 1/1 (one judge missing).
    assert out.details["per_replication"] == pytest.approx([4 / 6, 2 / 4])
    assert out.estimate == pytest.approx(6 / 10)
    assert out.details["five_numbers"]["min"] == 0.5
    assert out.details["five_numbers_items"]["max"] == pytest.approx(4 / 6)


def test_agreement_across_judges_bad_input() -> None:
    with pytest.raises(InputError, match="at least two judges"):
        agreement_across_judges([[["A"]]])
    out = agreement_across_judges([[[None]], [["A"]]])
    assert math.isnan(out.estimate)
    assert out.reason
    assert math.isnan(out.details["five_numbers"]["median"])
