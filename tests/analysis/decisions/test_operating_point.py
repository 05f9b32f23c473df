"""Operating point: reference values, the certified window, refusals, and texts of the record."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import judgestats as js
from judgestats import stats
from judgestats.cli import main
from judgestats.decisions import operating_point
from judgestats.errors import InputError
from judgestats.stats.validity import calibration as cutoffs
from tests.analysis.decisions.reference import agree, data, expected

RATES = {"tpr": 0.9, "tnr": 0.8, "labels_drawn": "random"}


def drawn(n=400, distance=3.0, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.6
    return rng.normal(size=n) + distance * y, y


def test_reference_values():
    d = data("dec_scores")
    s, y, c = d["score"].to_numpy(float), d["label"].to_numpy() == 1, d["cluster"].to_numpy()
    alone = operating_point(s, y, **RATES)
    found = operating_point(s, y, cluster=c, cost={"fn": 3, "fp": 1}, **RATES)
    delta = cutoffs.joint_share(0.05, 2, independent=True)
    counts = cutoffs.error_counts(s, y, delta=delta)
    at_five = int(np.searchsorted(counts.cutoffs, 5.0))
    kinds = {"pass": cutoffs.clustering(s[y], c[y]), "fail": cutoffs.clustering(s[~y], c[~y])}
    miss, false = counts.counts_at(counts.youden)
    cost = cutoffs.expected_cost(s, y, c, miss=3, false_pass=1, fold=d["fold"].to_numpy())
    agree("dec_scores", {
        "auc": alone.auc.estimate, "window": alone.window, "window_clusters": found.window,
        "auc_se_delong": stats.separation(s, y.astype(float)).std_error,
        "auc_se_clusters": stats.separation(s, y.astype(float), cluster=c).std_error,
        **{f"icc_{k}": made.icc for k, made in kinds.items()},
        **{f"size_{k}": made.size for k, made in kinds.items()},
        **{f"design_effect_{k}": found.design_effect[k] for k in kinds},
        "tpr_lower_at_5": counts.tpr_lower[at_five], "tnr_lower_at_5": counts.tnr_lower[at_five],
        "least_passes": cutoffs.least_trials(0.1, delta),
        "least_fails": cutoffs.least_trials(0.2, delta),
        "youden_cutoff": counts.youden, "cost_cutoff": found.cost_cutoff,
        "youden": 1 - miss / counts.n_pass - false / counts.n_fail,
        "cost_same_labels": cost.same_labels, "cost_cross_fitted": cost.estimate,
        "cost_cross_fitted_se": cost.std_error,
    })  # fmt: skip
    assert alone.cutoff == expected("dec_scores", "youden_cutoff")
    grades = data("dec_grades")
    for key, (tpr, tnr) in {"window_90_60": (0.9, 0.6), "window_95_90": (0.95, 0.9)}.items():
        made = operating_point(grades["score"], grades["label"], tpr=tpr, tnr=tnr)
        agree("dec_grades", {key: made.limits})
        assert made.certified == (key == "window_90_60")
        assert (made.window is None) != made.certified


@settings(deadline=None)
@given(st.integers(0, 200), st.sampled_from([0.7, 0.8, 0.9]), st.sampled_from([0.6, 0.8, 0.9]))
def test_a_stricter_requirement_never_widens_the_window(seed, tpr, tnr):
    s, y = drawn(n=200, distance=2.5, seed=seed)
    counts = cutoffs.error_counts(np.round(s, 1), y, delta=0.025)
    low, high = counts.window(tpr, tnr)
    stricter = counts.window(tpr + 0.05, tnr + 0.05)
    assert stricter[0] >= low
    assert stricter[1] <= high
    assert np.all(np.diff(counts.tpr_lower) <= 1e-12)
    assert np.all(np.diff(counts.tnr_lower) >= -1e-12)


def test_whatever_is_chosen_inside_the_window_is_certified():
    s, y = drawn()
    for cost in (None, {"fn": 50, "fp": 1}, {"fn": 1, "fp": 50}):
        found = operating_point(s, y, cost=cost, **RATES)
        low, high = found.window
        assert low <= found.cutoff <= high
    assert operating_point(s, y, cost={"fn": 50, "fp": 1}, **RATES).cutoff == low
    assert operating_point(s, y, cost={"fn": 1, "fp": 50}, **RATES).cutoff == high


def test_a_low_score_that_is_good_turns_everything_once():
    s, y = drawn()
    up, down = operating_point(s, y, **RATES), operating_point(-s, y, lower_is_better=True, **RATES)
    assert down.window == (-up.window[1], -up.window[0])
    assert down.cutoff == -up.cutoff
    assert (down.tpr, down.tnr) == (up.tpr, up.tnr)
    assert "score <=" in down.screen()[0]


def test_repeats_are_averaged_raters_vote_and_unparsed_scores_are_counted():
    s, y = drawn()
    one = operating_point(s, y, **RATES)
    raters = np.column_stack([y, y, ~y]).astype(float)
    again = operating_point(np.column_stack([s - 1, s + 1]), raters, **RATES)
    assert again.window == pytest.approx(one.window)
    tied = operating_point(s, np.column_stack([y, np.where(np.arange(400) < 30, ~y, y)]), **RATES)
    assert (tied.n_ties, tied.n_labels) == (30, 370)
    lost = operating_point(np.where(np.arange(400) < 7, np.nan, s), y, **RATES)
    assert (lost.n_unparsed, lost.n_labels, lost.n_items) == (7, 393, 400)


def test_clusters_that_repeat_an_item_count_once():
    s, y = drawn(n=300)
    once = operating_point(s, y, cluster=np.arange(300), **RATES)
    copied = operating_point(
        np.repeat(s, 4), np.repeat(y, 4), cluster=np.repeat(np.arange(300), 4), **RATES
    )
    assert copied.design_effect["pass"] == pytest.approx(4, abs=1e-6)
    low, high = copied.window
    assert once.window[0] <= low + 0.1
    assert high <= once.window[1] + 0.1


def test_what_cannot_be_claimed_is_refused_or_has_a_reason():
    s, y = drawn()
    with pytest.raises(InputError, match=r"picked by hand.*labels plan"):
        operating_point(s, y, labels_drawn="convenience")
    with pytest.raises(InputError, match="by verdict bias TPR and TNR"):
        operating_point(s, y, labels_drawn="by-verdict")
    with pytest.raises(InputError, match=r"If all chances were equal: --labels-drawn random"):
        operating_point(s, y, labels_drawn="stratified")
    with pytest.raises(InputError, match=r"at least 35 passes.*at least 17 fails"):
        operating_point(s[:30], y[:30], tpr=0.9, tnr=0.8)
    with pytest.raises(InputError, match=r"Every item has a label\."):
        operating_point(s[:30], y[:30])
    with pytest.raises(InputError, match=r"labels plan my\.csv --labels 12$"):
        operating_point(s[:42], [*y[:30], *[None] * 12])
    with pytest.raises(InputError, match=r"AUC \.0.*Then add --lower-is-better"):
        operating_point(-s, y)
    with pytest.raises(InputError, match="must be between 0 and 1"):
        operating_point(s, y, tpr=1.0)
    with pytest.raises(InputError, match=r"fn=3,fp=1"):
        operating_point(s, y, cost={"fn": 3})
    weak = operating_point(*drawn(distance=1.0), tpr=0.95, tnr=0.9)
    assert not weak.certified
    assert weak.window is None
    assert weak.tried is not None
    record = weak.to_dict()
    assert (record["cutoff"], record["tpr"]["estimate"], record["window"]) == (None, None, None)
    assert weak.next[0].if_true is None
    assert "No practical number" in weak.screen()[-1]
    only = operating_point(s[y], y[y])
    assert "TPR holds up to" in only.reason
    assert not only.certified


def test_more_labels_that_would_decide_do_decide():
    s, y = drawn(n=100, distance=3.2)
    made = operating_point(s, y, tpr=0.9, tnr=0.85)
    assert not made.certified
    counts = cutoffs.error_counts(s, y, delta=cutoffs.joint_share(0.05, 2, independent=True))
    n = cutoffs.labels_for_window(s, y, counts, tpr=0.9, tnr=0.85)
    assert made.next[0].if_true == n - 100
    kept = 0
    for seed in range(60):
        i = np.random.default_rng(seed).integers(0, 100, n)
        low, high = cutoffs.error_counts(s[i], y[i], delta=counts.delta).window(0.9, 0.85)
        kept += low <= high
    assert kept >= 36


def test_cost_is_cross_fitted_and_another_prevalence_has_no_interval():
    s, y = drawn(distance=1.5)
    made = operating_point(s, y, cost={"fn": 3, "fp": 1}, tpr=0.6, tnr=0.6)
    assert made.cost.low < made.cost.estimate < made.cost.high
    other = operating_point(s, y, cost={"fn": 3, "fp": 1}, prevalence=0.9, tpr=0.6, tnr=0.6)
    assert np.isnan(other.cost.low)
    assert other.cost_cutoff <= made.cost_cutoff


def test_a_stated_cutoff_has_two_sided_limits():
    s, y = drawn()
    made = operating_point(s, y, cutoff=1.5, tpr=0.9, tnr=0.9)
    assert made.cutoff_rule == "user"
    assert made.tpr.lower < made.tpr.estimate < made.tpr.upper
    assert made.certified == (made.tpr.lower >= 0.9 and made.tnr.lower >= 0.9)


@pytest.fixture
def files(tmp_path):
    d = data("dec_scores")
    d[["item", "cluster", "score"]].to_csv(tmp_path / "scores.csv", index=False)
    labels = d[["item"]].assign(label=d["label"].map({1: "pass", 0: "fail"}))
    labels.to_csv(tmp_path / "labels.csv", index=False)
    return tmp_path / "scores.csv", ["--labels", str(tmp_path / "labels.csv")]


def test_the_command_prints_the_record_and_its_exit_code(files, capsys):
    file, labels = files
    words = ["decide", "cutoff", str(file), *labels, "--tpr", ".9", "--tnr", ".8"]
    assert main([*words, "--require", "cutoff_exists"]) == 0
    screen = capsys.readouterr().out
    assert main([*words, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["schema"], record["kind"]) == ("judgestats.decision/1", "operating_point")
    assert record["window"] == expected("dec_scores", "window_clusters").tolist()
    assert screen.splitlines()[: len(record["screen"])] == record["screen"]
    assert "from 4.5 to 5.26" in screen
    assert len(record["roc"]) == 200
    strict = [*words[:-4], "--tpr", ".999", "--tnr", ".8"]
    assert main(strict) == 2
    assert "at least" in capsys.readouterr().err
    strict = [*words[:-4], "--tpr", ".97", "--tnr", ".97", "--require", "cutoff_exists"]
    assert main(strict) == 3
    assert capsys.readouterr().out.startswith("CUTOFF  No cut-off is certified")
    assert main([*words, "--lower-is-better"]) == 2
    assert "leave out --lower-is-better" in capsys.readouterr().err


def test_items_of_one_cluster_allow_no_limit():
    s, y = drawn()
    with pytest.raises(InputError, match="all labelled items are in one cluster"):
        operating_point(s, y, cluster=np.zeros(400))
    made = operating_point(s, y, cluster=y.astype(int))
    assert not made.certified  # one cluster in each class
    assert made.tried.tpr.lower < 0.1


def test_a_required_cost_is_that_of_a_split(files, capsys):
    file, labels = files
    words = ["decide", "cutoff", str(file), *labels, "--labels-drawn", "random"]
    assert main([*words, "--cost", "fn=1,fp=1", "--require", "cost<=.2"]) == 0
    out = capsys.readouterr().out
    assert "the cheapest cut-off of the other half of the labels" in " ".join(out.split())
    assert main([*words, "--cost", "fn=1,fp=1", "--require", "cost<=.001"]) == 1
    capsys.readouterr()
    assert main([*words, "--require", "cost<=.2"]) == 2
    assert "Add --cost" in capsys.readouterr().err
    s, y = drawn()
    whole = operating_point(s, y, cost={"fn": 1, "fp": 1})
    half = operating_point(s, y, cost={"fn": 1, "fp": 1}, split=True)
    assert half.cost.high - half.cost.low > whole.cost.high - whole.cost.low
    assert (whole.is_split, half.is_split) == (False, True)


def test_a_gate_on_scores_asks_for_a_certified_cutoff(files):
    file, labels = files
    gate = js.check(file, labels=labels[1], for_="gate", n_resamples=99)
    assert [r.key for r in gate.verdicts[0].requirements] == ["cutoff_exists"]
    assert gate.exit_code == 0
    strict = js.check(
        file, labels=labels[1], for_="gate", require={"tpr": 0.97, "tnr": 0.97}, n_resamples=99
    )
    assert strict.exit_code == 3
    assert "no cut-off is shown" in strict.verdicts[0].sentence
    assert strict.results.decisions[0]["requirement"] == {"tpr": 0.97, "tnr": 0.97}


def test_analyze_shows_the_cutoff(files, capsys):
    file, labels = files
    assert main(["analyze", str(file), *labels, "--track", "none", "--report", "none"]) == 0
    assert "CUTOFF  Pass at score >= 5.1: TPR >= .80 and TNR >= .80" in capsys.readouterr().out


def test_labels_one_and_zero_are_no_points_of_the_scale_and_mean_what_is_stated(tmp_path, capsys):
    s, y = drawn()
    file = tmp_path / "s.csv"
    pd.DataFrame({"item": range(len(s)), "score": s.round(2), "label": y.astype(int)}).to_csv(
        file, index=False
    )
    assert "kappa_weighted" not in {
        m.key for m in js.check(file, for_="score", n_resamples=99).results.measures
    }
    words = ["decide", "cutoff", str(file), "--json"]
    assert main(words) == 0
    assert json.loads(capsys.readouterr().out)["auc"]["estimate"] > 0.9
    turned = ["--values", "label:1=fail,label:0=pass", "--lower-is-better"]
    assert main([*words, *turned]) == 0
    assert json.loads(capsys.readouterr().out)["auc"]["estimate"] > 0.9
    graded = tmp_path / "graded.csv"
    pd.DataFrame({"item": range(len(s)), "score": s.round(2), "label": 1 + np.arange(len(s)) % 5}
                 ).to_csv(graded, index=False)  # fmt: skip
    assert main(["decide", "cutoff", str(graded), "--values", "label:1=fail"]) == 2
    assert "label:WORD" in capsys.readouterr().err


def test_human_scores_are_cut_by_the_option_that_their_refusal_shows(tmp_path, capsys):
    s, y = drawn()
    human = np.where(y, 4.0, 2.0) + np.arange(len(s)) % 2 / 2
    folder = tmp_path
    items = pd.DataFrame({"item": [f"q{i}" for i in range(len(s))], "score": s.round(2)})
    items.to_csv(folder / "s.csv", index=False)
    items[["item"]].assign(label=human).to_csv(folder / "scores.csv", index=False)
    items[["item"]].assign(label=np.where(human >= 4, "pass", "fail")).to_csv(
        folder / "words.csv", index=False
    )
    words = ["decide", "cutoff", str(folder / "s.csv"), "--json", "--labels"]
    assert main([*words, str(folder / "scores.csv")]) == 2
    said = capsys.readouterr().err
    option = re.search(r"--values '(.+?)'", said)[1]
    assert option == "label:>=4=pass,label:<4=fail"
    made = []
    for more in (
        [str(folder / "scores.csv"), "--values", option],
        [str(folder / "scores.csv"), "--values", "label:>3.9=pass,label:<=3.9=fail"],
        [str(folder / "words.csv")],
    ):
        assert main([*words, *more]) == 0
        made.append(json.loads(capsys.readouterr().out))
    assert made[0] == made[1] == made[2]
    assert made[0]["auc"]["estimate"] > 0.9


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--cutoff", "nan"], "expected a number, got 'nan'"),
        (["--cutoff", "5", "--cost", "fn=1,fp=1"], "Leave out --cost or --cutoff"),
        (["--prevalence", ".2"], "Add --cost fn=3,fp=1"),
        (["--prevalence", "2", "--cost", "fn=1,fp=1"], "between 0 and 1"),
    ],
)
def test_options_without_an_effect_are_refused(files, capsys, more, said):
    file, labels = files
    assert main(["decide", "cutoff", str(file), *labels, *more]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("kept", [0.02, 0.98, 0.0, 1.0])
def test_a_cost_is_stated_in_words_or_not_at_all(kept):
    y = np.arange(300) < 300 * kept
    made = operating_point(
        np.tile([3.0, 3.0, 4.0], 100), y, tpr=0.5, tnr=0.5, cost={"fn": 1, "fp": 9}, prevalence=0.2
    )
    assert not made.certified
    assert "inf" not in str(made).replace("inform", "")
    assert (made.cost is None) == (kept in {0.0, 1.0})
