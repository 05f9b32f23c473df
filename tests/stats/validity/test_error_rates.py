"""Error rates against R, statsmodels and scikit-learn, and what is refused."""

import math

import numpy as np
import pytest

from judgestats.errors import InputError
from judgestats.stats import error_rates

BINARY = ("bin1000", "bin_rare", "bin_few20", "bin_perfect", "bin_useless", "bin_inverted")


@pytest.mark.parametrize("name", BINARY)
def test_rates_and_limits_are_those_of_r_and_statsmodels(name, reference):
    d = reference.data(name)
    out = error_rates(d.judge, d.human, labels_drawn="random")
    table = reference.value(name, "confusion_r")
    assert {k: out.table[k] for k in ("tp", "fp", "fn", "tn")} == {
        k: table[k] for k in ("tp", "fp", "fn", "tn")
    }
    for ours, theirs in (
        ("sensitivity", "sensitivity"),
        ("specificity", "specificity"),
        ("precision", "precision"),
        ("negative_predictive_value", "npv"),
    ):
        want = reference.value(name, theirs)
        rate = out.rates[ours]
        assert rate.estimate == pytest.approx(want["value"], abs=1e-12)
        ends = (rate.interval.low, rate.interval.high)
        assert ends == pytest.approx(want["clopper_pearson"], abs=1e-8)
    base = reference.value(name, "accuracy_and_base_rate")
    assert out.rates["accuracy"].estimate == pytest.approx(base["accuracy"], abs=1e-12)
    assert out.rates["balanced_accuracy"].estimate == pytest.approx(
        base["balanced_accuracy"], abs=1e-12
    )
    assert out.constant["accuracy"] == pytest.approx(max(base["always_pass"], base["always_fail"]))
    assert out.rates["cohen_kappa"].estimate == pytest.approx(
        reference.value(name, "kappa"), abs=1e-10
    )
    assert out.rates["matthews_correlation"].estimate == pytest.approx(
        reference.value(name, "mcc"), abs=1e-10
    )


def test_weighted_sensitivity_covers_where_labels_are_chosen_by_verdict():
    rng = np.random.default_rng(5)
    hits, n_runs = 0, 300
    for _ in range(n_runs):
        y = rng.random(1000) < 0.8
        f = np.where(y, rng.random(1000) < 0.92, rng.random(1000) < 0.3)
        human = np.full(1000, np.nan)
        for v in (True, False):
            chosen = rng.choice(np.flatnonzero(f == v), 60, replace=False)
            human[chosen] = y[chosen]
        iv = error_rates(f, human, labels_drawn="by-verdict").rates["sensitivity"].interval
        hits += iv.low <= 0.92 <= iv.high
    assert hits / n_runs >= 0.93 - 2 * math.sqrt(0.93 * 0.07 / n_runs)


def test_known_chances_are_weighted():
    rng = np.random.default_rng(4)
    y = rng.random(20000) < 0.6
    f = np.where(rng.random(20000) < 0.2, ~y, y)
    chance = np.where(y != f, 0.3, 0.05)
    human = np.where(rng.random(20000) < chance, y, np.nan)
    seen = error_rates(f, human, labels_drawn="random").rates
    rates = error_rates(f, human, chance=chance, labels_drawn="random").rates
    assert seen["sensitivity"].estimate < 0.5
    for name in ("sensitivity", "specificity", "accuracy", "balanced_accuracy"):
        assert rates[name].interval.low < 0.8 < rates[name].interval.high
        assert "weighted" in rates[name].estimator
    with pytest.raises(InputError, match="above 0 and up to 1"):
        error_rates(f, human, chance=chance * 0, labels_drawn="random")


def test_unread_verdicts_stand_in_the_table_and_in_no_rate():
    judge, human = [1, None, 0, None, 0], [1, 1, 0, 0, 1]
    out = error_rates(judge, human, labels_drawn="random")
    assert out.table["unread_positive"] == out.table["unread_negative"] == 1
    read = error_rates([1, 0, 0], [1, 0, 1], labels_drawn="random")
    for name, rate in out.rates.items():
        assert rate.estimate == pytest.approx(read.rates[name].estimate), name
    assert out.rates["sensitivity"].estimate == 0.5
    assert out.rates["accuracy"].estimate == pytest.approx(2 / 3)
    nothing = error_rates([None, None, 1], [1, 0, None], labels_drawn="random")
    assert {r.reason for r in nothing.rates.values()} == {
        "no labelled item has a verdict that was read"
    }


def test_bad_input_is_told_in_sentences():
    with pytest.raises(InputError, match=r"'maybe'.*the verdicts are"):
        error_rates(["pass", "fail"], ["pass", "maybe"])
    with pytest.raises(InputError, match="no item has a label"):
        error_rates([1, 0], [None, None])
    with pytest.raises(InputError, match="labels_drawn must be one of"):
        error_rates([1, 0], [1, 0], labels_drawn="somehow")


def test_by_verdict_without_a_label_of_the_unread_speaks_for_what_was_read():
    judge = np.array([1.0] * 60 + [0.0] * 40 + [np.nan] * 5)
    human = np.full(105, np.nan)
    human[:20], human[60:80] = [1.0] * 18 + [0.0] * 2, [0.0] * 15 + [1.0] * 5
    out = error_rates(judge, human, labels_drawn="by-verdict")
    assert out.rates["sensitivity"].estimate == pytest.approx(54 / (54 + 10))
    assert out.rates["specificity"].estimate == pytest.approx(30 / (30 + 6))
    human[60:80] = np.nan
    assert (
        "no label"
        in error_rates(judge, human, labels_drawn="by-verdict").rates["sensitivity"].reason
    )


def test_tied_repeats_are_half_of_either_verdict():
    judge = np.array([[1, 1], [1, 0], [0, 0], [1, 0], [0, 1], [1, 1]], dtype=float)
    human = np.array([1, 1, 0, 0, 1, 0], dtype=float)
    out = error_rates(judge, human)
    assert (out.table["tied_positive"], out.table["tied_negative"]) == (2, 1)
    assert out.rates["sensitivity"].estimate == pytest.approx((1 + 0.5 + 0.5) / 3)
    assert out.rates["specificity"].estimate == pytest.approx((1 + 0.5 + 0) / 3)
    assert out.rates["accuracy"].estimate == pytest.approx((1 + 0.5 + 1 + 0.5 + 0.5 + 0) / 6)
    assert out.rates["precision"].estimate == pytest.approx(2.0 / 3.5)
    turned = error_rates(1 - judge, 1 - human)
    assert turned.rates["specificity"].estimate == out.rates["sensitivity"].estimate
    assert any(note.code == "tied_votes" for note in out.notes)


def test_no_negatives_has_a_reason_and_a_note():
    out = error_rates([1, 1, 0], [1, 1, 1])
    assert math.isnan(out.rates["specificity"].estimate)
    assert "people never say fail" in out.rates["specificity"].reason
    codes = {n.code for n in out.notes}
    assert {"no_class", "few_labels", "assumes_random"} <= codes
    assert "NaN" not in str(out)
    assert "nan" not in str(out)


def test_labels_chosen_by_verdict_are_weighted_by_the_verdicts_shares(reference):
    d = reference.data("bin_by_verdict")
    out = error_rates(d.judge, d.human, labels_drawn="by-verdict")
    post = reference.value("bin_by_verdict", "poststratified_mover_wilson_by_hand")
    w, ppv, fo = post["weight_pass"], post["ppv"], post["false_omission"]
    assert out.rates["sensitivity"].estimate == pytest.approx(w * ppv / post["point"], abs=1e-12)
    assert out.rates["specificity"].estimate == pytest.approx(
        (1 - w) * (1 - fo) / (1 - post["point"]), abs=1e-12
    )
    assert out.rates["precision"].estimate == pytest.approx(ppv, abs=1e-12)
    biased = reference.value("bin_by_verdict", "sensitivity")["value"]
    assert abs(out.rates["sensitivity"].estimate - biased) > 0.1


def test_clusters_widen_and_are_counted():
    rng = np.random.default_rng(3)
    q = np.repeat(np.arange(30), 5)
    bad = rng.random(30) < 0.3
    y = rng.random(150) < 0.6
    f = np.where(bad[q], ~y, y)
    alone = error_rates(f, y, labels_drawn="random").rates["accuracy"]
    whole = error_rates(f, y, cluster=q, labels_drawn="random").rates["accuracy"]
    assert whole.estimate == alone.estimate
    assert np.ptp([whole.interval.low, whole.interval.high]) > 1.8 * np.ptp(
        [alone.interval.low, alone.interval.high]
    )
    assert whole.details["effective_n"] < 40
