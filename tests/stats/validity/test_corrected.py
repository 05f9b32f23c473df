"""Corrected rates and means against R's survey, ppi-python and closed forms."""

import math

import numpy as np
import pytest
from scipy import stats

from judgestats.errors import InputError
from judgestats.stats import corrected_by_rates, corrected_mean, corrected_rate, labels_gained
from judgestats.stats.validity import (
    greg_mean,
    labelled_items,
    lang_reiczigel_limits,
    poststratified_rate,
    ppi_mean,
    stratified_mean,
)

BINARY = ("bin1000", "bin_rare", "bin_few20", "bin_perfect", "bin_useless", "bin_inverted")


def bounds(estimate):
    return estimate.interval.low, estimate.interval.high


@pytest.mark.parametrize("name", [*BINARY, "bin_by_verdict"])
def test_poststratified_rate_and_mover_limits(name, reference):
    d = reference.data(name)
    want = reference.value(name, "poststratified_mover_wilson_by_hand")
    items = labelled_items(d.judge, d.human, kind="verdict", where="t")
    out = poststratified_rate(items, join=False)
    assert out.estimate == pytest.approx(want["point"], abs=1e-12)
    clipped = [min(max(v, 0), 1) for v in want["ci95"]]
    assert bounds(out) == pytest.approx(clipped, abs=1e-10)
    drawn = "by-verdict" if name == "bin_by_verdict" else "random"
    whole = corrected_rate(d.judge, d.human, labels_drawn=drawn)
    judge = reference.value(name, "judge_only_wilson")
    assert bounds(whole.judge_only) == pytest.approx(judge["ci95"], abs=1e-10)
    if drawn == "random":
        human = reference.value(name, "human_only_wilson")
        assert bounds(whole.people_only) == pytest.approx(human["ci95"], abs=1e-10)
        greg = greg_mean(items)
        if math.isfinite(greg.estimate):
            assert greg.estimate == pytest.approx(want["point"], abs=1e-9)
    else:
        assert math.isnan(whole.people_only.estimate)
        assert "by the judge's verdict" in whole.people_only.reason


@pytest.mark.parametrize("name", [*BINARY, "scores"])
def test_ppi_is_that_of_its_package_and_the_t_form_of_the_formula(name, reference):
    d = reference.data(name)
    items = labelled_items(d.judge, d.human, kind="score", where="t")
    for estimator, key in (("ppi", "ppi_lam1"), ("ppi++", "ppi_plusplus")):
        want = reference.value(name, key)
        out = ppi_mean(items, estimator=estimator)
        assert out.estimate == pytest.approx(want["point"], abs=1e-10)
        want_t = reference.value(name, f"{key}_t_by_hand")
        assert out.details["lambda"] == pytest.approx(want_t["lam"], abs=1e-10)
        assert bounds(out) == pytest.approx(want_t["ci95"], abs=1e-10)


def test_regression_estimator(reference):
    d = reference.data("scores")
    items = labelled_items(d.judge, d.human, kind="score", where="t")
    want = reference.value("scores", "greg_by_hand")
    out = greg_mean(items)
    assert out.estimate == pytest.approx(want["point"], abs=1e-10)
    assert out.details["slope"] == pytest.approx(want["slope"], abs=1e-10)
    assert out.details["std_error_without_leverage"] == pytest.approx(
        want["se_superpop"], abs=1e-10
    )
    assert out.estimate == pytest.approx(reference.value("scores", "greg_point_lm_r"), abs=1e-9)
    people = corrected_mean(d.judge, d.human, labels_drawn="random").people_only
    r = reference.value("scores", "human_only_t_r")
    assert people.estimate == pytest.approx(r["mean"], abs=1e-12)
    assert bounds(people) == pytest.approx(r["ci"], abs=1e-10)


@pytest.mark.parametrize("labels", ["human_whole", "human_scattered"])
def test_clusters_by_sums_of_influence(labels, reference):
    d = reference.data("clusters")
    want = reference.value("clusters", f"{labels}_by_hand")
    items = labelled_items(d.judge, d[labels], kind="score", cluster=d.question, where="t")
    greg, difference = greg_mean(items), ppi_mean(items, estimator="difference")
    assert greg.estimate == pytest.approx(want["greg"], abs=1e-10)
    plain = greg.details["std_error_without_leverage"]
    assert plain == pytest.approx(want["greg_se_full_cluster"], abs=1e-10)
    assert plain < greg.std_error < 1.1 * plain
    assert difference.estimate == pytest.approx(want["difference"], abs=1e-10)
    assert difference.std_error == pytest.approx(want["difference_se_full_cluster"], abs=1e-10)
    people = corrected_mean(d.judge, d[labels], cluster=d.question).people_only
    assert people.std_error == pytest.approx(want["human_se_cluster"], abs=1e-10)
    assert greg.details["df"] < want["clusters"] - 1


def test_strata(reference):
    d = reference.data("strata")
    out = corrected_rate(d.judge, d.human, stratum=d.stratum, labels_drawn="stratified")
    want = reference.value("strata", "poststratified_stratum_by_verdict_svy")
    assert out.corrected.estimate == pytest.approx(want["mean"], abs=1e-10)
    by_hand = reference.value("strata", "stratified_by_hand")
    assert out.people_only.estimate == pytest.approx(by_hand["mean"], abs=1e-10)
    scores = corrected_mean(d.judge, d.human, stratum=d.stratum, labels_drawn="stratified")
    assert scores.people_only.std_error == pytest.approx(by_hand["se"], abs=1e-10)
    items = labelled_items(d.judge, d.human, kind="score", stratum=d.stratum, where="t")
    shares = np.bincount(items.stratum) / items.n_items
    difference = stratified_mean(items, shares, slope=1.0)
    assert difference.estimate == pytest.approx(by_hand["difference"], abs=1e-10)
    # R's standard error is that of these items: the variance of the judge's means comes on top.
    of_items = sum(
        w**2 * np.var(items.judge[items.stratum == h], ddof=1) / np.sum(items.stratum == h)
        for h, w in enumerate(shares)
    )
    whole = np.sqrt(by_hand["difference_se_finite"] ** 2 + of_items)
    assert difference.std_error == pytest.approx(whole, abs=1e-10)


def test_a_stated_mix_weights_the_strata():
    judge, human = [1, 1, 0, 0] * 20, [1, 0, 0, 0] * 20
    stratum = (["a"] * 4 + ["b"] * 4) * 10
    human = [h if s == "a" else 1 for h, s in zip(human, stratum, strict=True)]
    out = corrected_rate(judge, human, stratum=stratum, mix={"a": 3, "b": 1})
    assert out.corrected.estimate == pytest.approx(0.75 * 0.25 + 0.25 * 1.0)
    with pytest.raises(InputError, match="share of every stratum"):
        corrected_rate(judge, human, stratum=stratum, mix={"a": 1})


def test_known_chances_are_weighted():
    rng = np.random.default_rng(4)
    y = rng.random(4000) < 0.6
    hard = rng.random(4000) < 0.3
    f = np.where(rng.random(4000) < np.where(hard, 0.4, 0.05), ~y, y)
    chance = np.where(hard, 0.25, 0.05)
    values = []
    for _ in range(40):
        human = np.where(rng.random(4000) < chance, y, np.nan)
        values.append(corrected_rate(f, human, chance=chance, labels_drawn="random"))
    means = [v.corrected.estimate for v in values]
    hits = [v.corrected.interval.low <= y.mean() <= v.corrected.interval.high for v in values]
    assert np.mean(means) == pytest.approx(y.mean(), abs=0.02)
    assert np.mean(hits) >= 0.9


@pytest.mark.parametrize("name", ["bin1000", "bin_rare", "bin_few20", "bin_perfect"])
def test_rogan_gladen_with_the_limits_of_lang_and_reiczigel(name, reference):
    d = reference.data(name)
    t = reference.value(name, "confusion_r")
    rest = d[d.human.isna()]
    counts = (t["tp"], t["tp"] + t["fn"], t["tn"], t["tn"] + t["fp"])
    limits = lang_reiczigel_limits(rest.judge.sum(), len(rest), *counts)
    assert limits == pytest.approx(reference.value(name, "lee2026_ci"), abs=1e-9)
    out = corrected_by_rates(
        rest.judge.sum(), len(rest), tp=counts[0], positives=counts[1], tn=counts[2],
        negatives=counts[3],
    )  # fmt: skip
    if math.isfinite(out.estimate):
        want = reference.value(name, "rogan_gladen_delta_by_hand")
        assert out.estimate == pytest.approx(want["clipped"], abs=1e-10)
        assert out.details["raw"] == pytest.approx(want["raw"], abs=1e-10)


@pytest.mark.parametrize("name", ["bin_useless", "bin_inverted"])
def test_a_judge_no_better_than_chance_is_not_inverted(name, reference):
    t = reference.value(name, "confusion_r")
    out = corrected_by_rates(
        t["judge_pass_all"], t["n_total"], tp=t["tp"], positives=t["tp"] + t["fn"], tn=t["tn"],
        negatives=t["tn"] + t["fp"],
    )  # fmt: skip
    assert math.isnan(out.estimate)
    assert "cannot be corrected" in out.reason


def test_unread_verdicts_are_a_class_of_their_own():
    rng = np.random.default_rng(8)
    y = rng.random(20000) < 0.7
    unread = rng.random(20000) < np.where(y, 0.05, 0.25)
    f = np.where(unread, np.nan, np.where(rng.random(20000) < 0.1, ~y, y))
    human = np.where(np.arange(20000) < 4000, y, np.nan)
    out = corrected_rate(f, human, labels_drawn="random")
    assert out.unread == unread.sum()
    assert out.corrected.estimate == pytest.approx(y.mean(), abs=0.015)
    assert y[~unread].mean() > 0.74
    assert not out.others


def test_unread_verdicts_without_a_label_are_left_out():
    judge = np.array([1.0] * 60 + [0.0] * 40 + [np.nan] * 50)
    human = np.full(150, np.nan)
    human[:30], human[60:90] = [1.0] * 27 + [0.0] * 3, [0.0] * 24 + [1.0] * 6
    out = corrected_rate(judge, human, labels_drawn="by-verdict")
    read = corrected_rate(judge[:100], human[:100], labels_drawn="by-verdict")
    assert out.corrected.estimate == read.corrected.estimate == pytest.approx(0.6 * 0.9 + 0.4 * 0.2)
    assert out.unread == 50
    assert "unread_left_out" in {n.code for n in out.notes}


def test_how_labels_were_drawn_decides(reference):
    d = reference.data("bin1000")
    unstated = corrected_rate(d.judge, d.human)
    assert "assumes_random" in {n.code for n in unstated.notes}
    assert "assumes random" in unstated.sentence()
    by_hand = corrected_rate(d.judge, d.human, labels_drawn="convenience")
    assert math.isnan(by_hand.corrected.estimate)
    assert "picked by hand" in by_hand.sentence()
    few = d.copy()
    few.loc[(few.judge == 0) & (np.arange(1000) % 3 > 0), "human"] = np.nan
    assert "unrepresentative" in {n.code for n in corrected_rate(few.judge, few.human).notes}
    with pytest.raises(InputError, match="needs the stratum"):
        corrected_rate(d.judge, d.human, labels_drawn="stratified")
    with pytest.raises(InputError, match="no item has a label"):
        corrected_rate([1, 0], [None, None])


def test_labels_gained_are_those_of_two_codes(declared):
    rows = declared.data("labels60of300")
    out, expected = (
        labels_gained(rows["score"], rows["label"]),
        declared.value("labels60of300", "label_gain"),
    )
    ours = [out.details["correlation"], out.estimate, out.interval.low, out.interval.high]
    theirs = [expected["r"], expected["gain"], *expected["ci"]]
    assert ours == pytest.approx(theirs, rel=1e-8)
    wider = labels_gained(rows["score"], rows["label"], level=0.99).interval
    assert wider.low < out.interval.low < out.interval.high < wider.high


def test_labels_gained_are_refused_where_they_cannot_be_known():
    rng = np.random.default_rng(3)
    people = rng.normal(size=200)
    judge = people + rng.normal(size=200)
    for n, given, reason in (
        (19, judge, "19 labels are too few"), (30, np.ones(200), "do not vary"),
    ):  # fmt: skip
        out = labels_gained(given, np.where(np.arange(200) < n, people, np.nan))
        assert math.isnan(out.estimate)
        assert reason in out.reason
    labels = np.where(np.arange(200) < 30, people, np.nan)
    picked = corrected_mean(judge, labels, labels_drawn="convenience").labels_extra
    assert "picked by hand" in picked.reason
    two = labels_gained(judge, labels, cluster=np.r_[np.zeros(28), np.ones(172)])
    assert two.interval is None
    assert "No interval: 2 questions, effectively 1.1" in two.notes[0].message
    same = labels_gained(people, labels)
    assert (same.estimate, same.interval.high) == pytest.approx((170, 170))


def test_one_label_and_constant_judges_end_in_reasons():
    for judge, human in (([1, 1, 1], [1, None, None]), ([1, 1, 1, 1], [1, 0, 1, None])):
        out = corrected_mean(judge, human)
        shown = str(out) + out.sentence()
        assert "nan" not in shown
    rate = corrected_rate([1, 1, 0, 0], [1, None, None, None])
    assert rate.corrected.details["people_only"]
    assert rate.labels_extra.reason == "1 label is too few"


def test_few_labels_of_a_skewed_score_get_limits_that_follow_the_skewness():
    rng = np.random.default_rng(3)
    truth = rng.exponential(size=400)
    judge = 0.5 * truth + rng.exponential(size=400)
    few = np.where(np.arange(400) < 20, truth, np.nan)
    corrected = corrected_mean(judge, few, labels_drawn="random").corrected
    half = corrected.std_error * stats.t.isf(0.025, corrected.details["df"])
    low, high = corrected.interval.low, corrected.interval.high
    assert low <= corrected.estimate - half + 1e-9
    assert high > corrected.estimate + half  # the long tail lies above
    assert "Hall" in corrected.interval.method
    many = np.where(np.arange(400) < 100, truth, np.nan)
    assert corrected_mean(judge, many, labels_drawn="random").corrected.interval.method == "t"


def test_labels_gained_stand_with_the_corrected_rate(reference):
    d = reference.data("bin1000")
    out = corrected_rate(d.judge, d.human, labels_drawn="random")
    assert out.labels_extra.estimate == labels_gained(d.judge, d.human).estimate
    assert f"Effective extra labels {out.labels_extra.estimate:.0f} [" in out.sentence()
    useless = reference.data("bin_useless")
    assert "no gain is shown" in corrected_rate(useless.judge, useless.human).sentence()


def test_repeats_are_averaged_before_anything_else(reference):
    d = reference.data("scores")
    once = corrected_mean(d.judge, d.human, labels_drawn="random")
    five = corrected_mean(np.tile(d.judge.to_numpy()[:, None], 5), d.human, labels_drawn="random")
    assert bounds(once.corrected) == pytest.approx(bounds(five.corrected), abs=1e-12)


def test_labels_gained_pool_the_correlation_within_strata():
    rng = np.random.default_rng(4)
    layer = np.repeat([0, 5], 100)
    judge, people = layer + rng.normal(size=(2, 200))
    labels = np.where(np.arange(200) % 2 == 0, people, np.nan)
    whole = labels_gained(judge, labels)
    within = labels_gained(judge, labels, stratum=layer)
    assert whole.interval.low > 40
    assert within.interval.low == 0
    again = labels_gained(judge[::-1] + 3, labels[::-1], stratum=layer[::-1])
    assert again.estimate == pytest.approx(within.estimate)


def test_no_interval_has_no_width():
    out = corrected_rate([1] * 30 + [0] * 30, [1] * 30 + [0] * 30, labels_drawn="random")
    low, high = bounds(out.corrected)
    assert high - low > 0.1
    clustered = corrected_rate(
        [1] * 30 + [0] * 30, [1] * 30 + [0] * 30, cluster=np.arange(60) // 5,
        labels_drawn="random",
    )  # fmt: skip
    assert np.ptp(bounds(clustered.corrected)) > high - low


def test_fewer_than_twenty_labels_of_scores_use_people_alone():
    rng = np.random.default_rng(0)
    y = rng.normal(size=100)
    human = np.where(np.arange(100) < 12, y, np.nan)
    out = corrected_mean(y + rng.normal(0, 0.3, 100), human, labels_drawn="random")
    assert out.corrected.name == "people_only"
    assert {"few_labels", "people_only"} <= {n.code for n in out.notes}
    assert "greg" in out.others


@pytest.mark.parametrize(("passes", "warned"), [(40, False), (300, True)])
def test_few_labels_of_a_verdict_are_warned_of_where_the_verdict_is_common(passes, warned):
    """Three labels among the judge's passes: a twenty-fifth, or a third, of the items."""
    judge = np.repeat([1.0, 0.0], [passes, 1000 - passes])
    human = np.full(1000, np.nan)
    human[:3] = 1.0, 1.0, 0.0
    human[-60:] = np.tile([0.0, 0.0, 0.0, 1.0], 15)
    found = corrected_rate(judge, human, labels_drawn="by-verdict")
    assert ("few_in_class" in {n.code for n in found.notes}) is warned


@pytest.mark.parametrize(("passes", "code"), [(20, "people_only"), (300, "class_unlabelled")])
def test_a_verdict_without_a_label_is_warned_of_where_it_is_common(passes, code):
    judge = np.repeat([1.0, 0.0], [passes, 1000 - passes])
    human = np.full(1000, np.nan)
    human[-60:] = np.tile([0.0, 0.0, 1.0], 20)
    found = corrected_rate(judge, human, labels_drawn="random")
    assert found.corrected.details["people_only"]
    codes = {n.code for n in found.notes}
    assert code in codes
    assert len(codes & {"people_only", "class_unlabelled"}) == 1
