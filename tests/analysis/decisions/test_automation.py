"""Automation certificate and cascade: reference values, candidates, refusals, and routes."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgestats.cli import main
from judgestats.decisions import automation_certificate, cascade_certificate
from judgestats.errors import InputError
from judgestats.stats.validity import calibration as cutoffs
from judgestats.stats.validity import sequential as fallback
from tests.analysis.decisions.reference import agree, data, expected


def drawn(n=3000, labels=900, seed=0, error=0.01):
    """Sure items are nearly always right, the others often wrong."""
    rng = np.random.default_rng(seed)
    c, y = rng.random(n), rng.random(n) < 0.6
    v = np.where(rng.random(n) < np.where(c > 0.5, error, 0.4), ~y, y)
    return v, c, np.where(np.arange(n) < labels, y.astype(float), np.nan)


def test_reference_values():
    d = data("dec_confidence")
    made = automation_certificate(d["verdict"], d["confidence"], d["label"], per_class=False)
    tested = made.candidates
    agree("dec_confidence", {
        "all_candidates": [c.threshold for c in tested], "all_m": [c.m for c in tested],
        "all_x": [c.x for c in tested], "all_p": [c.p for c in tested],
        "all_certified": made.certified, "all_threshold": made.threshold, "all_share": made.share,
        "all_upper": made.upper, "least_labels": cutoffs.least_trials(0.05, 0.05),
        "binomial_p_4_of_200": fallback.error_p(4, 200, 0.05),
        "confidence_auroc": made.auroc.estimate,
    })  # fmt: skip
    bound = expected("dec_confidence", "hoeffding_bentkus_p_4_of_200").item()
    assert fallback.error_p(4, 200, 0.05) < bound / 2  # why it is not offered
    apart = automation_certificate(d["verdict"], d["confidence"], d["label"], per_class=True)
    agree("dec_confidence", {
        f"{name}_{key}": getattr(part, key)
        for name, part in apart.per_class.items()
        for key in ("threshold", "share", "upper", "certified")
    })  # fmt: skip
    v = data("dec_votes")
    votes = [[1] * k + [0] * (8 - k) for k in v["passes_of_8"]]
    made = automation_certificate(votes, None, v["label"])
    assert made.confidence_source == "votes"
    agree("dec_votes", {
        "m": [c.m for c in made.candidates], "x": [c.x for c in made.candidates],
        "threshold": made.threshold, "share": made.share,
    })  # fmt: skip


def test_reference_values_of_the_cascade():
    d = data("dec_cascade")
    made = cascade_certificate(
        {j: d[f"{j}_verdict"] for j in ("dear", "cheap")},
        {j: d[f"{j}_confidence"] for j in ("dear", "cheap")}, d["label"],
        prices={"cheap": 1, "dear": 10, "human": 200}, error=0.1, level=0.9,
        thresholds=np.round(np.arange(0.98, 0.49, -0.02), 2),
    )  # fmt: skip
    cheap, dear = made.stages
    decided = cheap.wrong + dear.wrong, cheap.labels + dear.labels
    agree("dec_cascade", {
        **{f"{s.judge}_{key}": getattr(s, key)
           for s in made.stages for key in ("reached", "threshold", "decided")},
        **{f"{s.judge}_errors": s.wrong for s in made.stages},
        "people": made.n_items - cheap.decided - dear.decided, "cost_per_item": made.cost.estimate,
        "error_decided": decided[0] / decided[1],
    })  # fmt: skip
    assert made.recommended == "last judge alone"
    assert made.last.share == 1
    assert set(made.routes) == {"dear"}
    assert made.cost.low < made.cost.estimate < made.cost.high
    assert "Use dear alone: it decides all items" in made.screen()[-1]


def test_the_interval_of_a_cost_allows_for_humans_where_every_item_is_decided():
    rng = np.random.default_rng(12)
    rows = {"cheap": rng.random(1200), "dear": rng.random(1200)}
    label = np.where(np.arange(1200) < 600, 1.0, np.nan)
    made = cascade_certificate(
        {judge: np.ones(1200) for judge in rows}, rows, label, labels_drawn="random",
        prices={"cheap": 1, "dear": 10, "human": 1000},
    )  # fmt: skip
    assert sum(one.share for one in made.stages) == 1
    assert made.cost.estimate == made.cost.low == 1
    # Rule of three: 3.7 of 1,200 further items may reach humans, each for all prices.
    assert 1 + 3.7 * 1011 / 1200 < made.cost.high < 1 + 6 * 1011 / 1200
    assert "routes" not in made.to_dict()


def test_candidates_never_come_from_labelled_items():
    v, c, labels = drawn()
    made = automation_certificate(v, c, labels)
    turned = np.where(np.isnan(labels), labels, 1 - labels)
    other = automation_certificate(v, c, turned, per_class=False, advice=False)
    assert [x.threshold for x in made.candidates] == [
        x.threshold for x in other.candidates
    ] or other.reason.startswith("confidence is not shown to separate")
    own = set(np.round(c[np.isnan(labels)], 12))
    assert {round(x.threshold, 12) for x in made.candidates} <= own
    few = automation_certificate(v[:1000], c[:1000], labels[:1000])
    assert [x.threshold for x in few.candidates][:3] == [0.99, 0.98, 0.95]


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(1, 400), st.floats(0, 1)), min_size=1, max_size=12))
def test_levels_spent_never_exceed_delta(sets):
    m = np.cumsum([k for k, _ in sets]).tolist()
    p = [q for _, q in sets]
    levels = fallback.fallback_test(m, p, least=59, delta=0.05)
    assert all(0 <= level <= 0.05 + 1e-12 for level in levels)
    # Level enters at starts only, and leaves with a failure: what is lost and held adds up.
    lost = sum(level for level, q in zip(levels, p, strict=True) if 0 < level < q)
    held = levels[-1] if levels[-1] >= p[-1] else 0.0
    assert lost + held <= 0.05 + 1e-12


@settings(deadline=None)
@given(st.integers(0, 10_000))
def test_what_is_certified_has_few_errors_and_enough_labels(seed):
    rng = np.random.default_rng(seed)
    c = np.round(rng.random(700), 2)
    wrong = rng.random(700) < 0.3 * (1 - c)
    made = fallback.certify(c, wrong, fallback.candidates(rng.random(500)), error=0.1, delta=0.05)
    if made.passed is not None:
        assert made.passed.m >= made.least
        assert made.passed.x / made.passed.m <= 0.1
        assert made.upper > made.passed.x / made.passed.m


def test_ties_and_unparsed_verdicts_go_to_people_and_are_no_errors():
    v, c, labels = drawn()
    base = automation_certificate(v, c, labels)
    lost = np.where(np.arange(3000) % 10 == 0, np.nan, v.astype(float))
    made = automation_certificate(lost, c, labels)
    assert made.n_unparsed == 300
    assert made.n_labels == 810
    assert made.share < base.share
    assert all(made.routes[i] == "human" for i in range(0, 3000, 10))
    votes = np.repeat(v[:, None].astype(float), 4, axis=1)
    votes[:60, :2] = 1 - votes[:60, :2]
    tied = automation_certificate(votes, None, labels, advice=False, error=0.3)
    assert set(tied.routes[:60]) == {"human"}


def test_a_rare_class_gets_its_own_certificate():
    rng = np.random.default_rng(4)
    y = rng.random(6000) < 0.95
    c = rng.random(6000)
    v = np.where(rng.random(6000) < np.where(y, 0.005, 0.6), ~y, y)
    labels = np.where(np.arange(6000) < 2000, y.astype(float), np.nan)
    made = automation_certificate(v, c, labels)
    assert made.by_class
    assert not made.per_class["fail"].certified
    assert "No fails" in " ".join(made.screen())
    assert made.error_rates["false_pass"] == pytest.approx(
        ((v == 1) & ~y)[:2000].sum() / (v[:2000] == 1).sum()
    )


def test_confidence_that_tells_nothing_is_said_and_all_items_are_still_tested():
    rng = np.random.default_rng(2)
    y = rng.random(2000) < 0.5
    labels = np.where(np.arange(2000) < 800, y.astype(float), np.nan)
    c = rng.random(2000)
    bad = automation_certificate(np.where(rng.random(2000) < 0.1 + 0.2 * c, ~y, y), c, labels)
    assert not bad.certified
    assert "not shown to separate correct from wrong verdicts" in bad.reason
    assert len(bad.candidates) == 1
    good = automation_certificate(
        np.where(rng.random(2000) < 0.01, ~y, y), rng.random(2000), labels
    )
    assert good.certified
    assert good.share == 1
    assert "confidence >=" not in good.screen()[0]


def test_refusals():
    v, c, labels = drawn()
    with pytest.raises(InputError, match="picked by hand"):
        automation_certificate(v, c, labels, labels_drawn="convenience")
    with pytest.raises(InputError, match="at least 59"):
        automation_certificate(v, c, np.where(np.arange(3000) < 40, labels, np.nan))
    with pytest.raises(InputError, match="no confidence"):
        automation_certificate(v, None, labels)
    by_verdict = automation_certificate(v, c, labels, labels_drawn="by-verdict")
    assert by_verdict.by_class
    with pytest.raises(InputError, match="per class only"):
        automation_certificate(v, c, labels, labels_drawn="by-verdict", per_class=False)
    with pytest.raises(InputError, match="no price of human"):
        cascade_certificate({"a": v, "b": v}, {"a": c, "b": c}, labels, prices={"a": 1, "b": 2})
    warned = automation_certificate(v, c, labels, human_disagreement=0.12)
    assert warned.caveats[-1].code == "people_differ"


def test_copies_in_clusters_count_once():
    v, c, labels = drawn(n=300)
    fixed = {"thresholds": [0.9, 0.7, 0.5, 0.3], "per_class": False, "advice": False}
    once = automation_certificate(v, c, labels, **fixed)
    copied = automation_certificate(
        *(np.repeat(x, 5) for x in (v, c, labels)), cluster=np.repeat(np.arange(300), 5), **fixed
    )
    assert (copied.n_clusters, copied.n_labels) == (300, 1500)
    assert [x.p for x in copied.candidates] == pytest.approx([x.p for x in once.candidates])
    assert [x.level for x in copied.candidates] == [x.level for x in once.candidates]


@pytest.fixture
def files(tmp_path):
    d = data("dec_confidence")
    words = {1: "pass", 0: "fail"}
    file, labels = tmp_path / "verdicts.csv", tmp_path / "labels.csv"
    d[["item", "confidence"]].assign(verdict=d["verdict"].map(words)).to_csv(file, index=False)
    known = d[d["label"].notna()]
    known[["item"]].assign(label=known["label"].map(words)).to_csv(labels, index=False)
    return [str(file), "--labels", str(labels)]


def test_the_command_writes_routes_and_answers_requirements(files, tmp_path, capsys):
    out = tmp_path / "routes.csv"
    words = ["decide", "automate", *files, "--error", ".05"]
    assert main([*words, "--out", str(out), "--require", "automation_share>=.3"]) == 0
    screen = " ".join(capsys.readouterr().out.split())
    assert "36% of verdicts can be automated" in screen
    assert "AUROC of confidence ." in screen
    routes = pd.read_csv(out)
    assert list(routes) == ["item_id", "route", "verdict", "confidence"]
    assert len(routes) == 2000
    assert (routes["route"] == "automatic").mean() == pytest.approx(0.3605)
    assert (routes.loc[routes["route"] == "automatic", "confidence"] >= 0.958).all()
    assert main([*words, "--out", str(out)]) == 2
    assert "there already" in capsys.readouterr().err
    assert main([*words, "--require", "automation_share>=.5"]) == 3
    capsys.readouterr()
    assert main([*words, "--require", "cutoff_exists"]) == 2
    assert "no cutoff_exists" in capsys.readouterr().err
    assert main([*words, "--per-class", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["per_class"]["pass"]["threshold"] == 0.959
    assert record["confidence_source"] == "mapped"


def test_several_annotators_vote_ties_are_counted_and_their_difference_is_warned_of(
    files, tmp_path, capsys
):
    labels = pd.read_csv(files[2])
    other = labels.assign(annotator="b")
    turned = other.index[:100]
    other.loc[turned, "label"] = other.loc[turned, "label"].map({"pass": "fail", "fail": "pass"})
    both = tmp_path / "both.csv"
    pd.concat([labels.assign(annotator="a"), other]).to_csv(both, index=False)
    assert main(["decide", "automate", files[0], "--labels", str(both), "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["n_ties"] == 100
    assert record["n_labels"] == len(labels) - 100
    caveat = next(one for one in record["caveats"] if one["code"] == "people_differ")
    assert f"{100 / len(labels):.2f}"[1:] in caveat["text"]


def test_the_command_takes_prices(tmp_path, capsys):
    d = data("dec_cascade")
    words = {1: "pass", 0: "fail"}
    rows = [
        pd.DataFrame({"item": d["item"], "judge": j, "verdict": d[f"{j}_verdict"].map(words),
                      "confidence": d[f"{j}_confidence"]})
        for j in ("cheap", "dear")
    ]  # fmt: skip
    file, labels, out = (tmp_path / name for name in ("v.csv", "labels.csv", "routes.csv"))
    pd.concat(rows).to_csv(file, index=False)
    d[["item"]].assign(label=d["label"].map(words)).to_csv(labels, index=False)
    given = ["decide", "automate", str(file), "--labels", str(labels)]
    common = [*given, "--error", ".1"]
    assert main([*common, "--price", "cheap=1,dear=10,human=200", "--out", str(out)]) == 0
    screen = capsys.readouterr().out
    assert screen.startswith("CASCADE  cheap ")
    assert "Use dear alone" in screen
    assert set(pd.read_csv(out)["route"]) == {"dear"}
    assert main([*common, "--price", "cheap=1,other=10,human=200"]) == 2
    assert "other" in capsys.readouterr().err
    priced = [*common, "--price", "cheap=1,dear=10,human=200"]
    for more, said in (
        (["--per-class"], "--per-class is of one judge"),
        (["--cutoff", "3"], "--cutoff is of scores"),
    ):
        assert main([*priced, *more]) == 2
        assert said in capsys.readouterr().err
    for more in ([], ["--price", "cheap=1,dear=10,human=200"]):
        assert main([*common, *more, "--labels-drawn", "stratified"]) == 2
        assert "in each stratum" in capsys.readouterr().err
    assert main([*priced, "--labels-drawn", "by-verdict"]) == 2
    command = capsys.readouterr().err.partition("judgestats labels plan ")[2].split()
    assert main(["labels", "plan", *command, "--out", str(tmp_path / "drawn.csv")]) == 0
    rows = pd.read_csv(labels).assign(annotator="a")
    other = rows.assign(annotator="b", label=rows["label"].mask(rows.index % 5 == 0, "pass"))
    pd.concat([rows, other]).to_csv(labels, index=False)
    capsys.readouterr()
    assert main([*given, "--error", ".05", "--price", "cheap=1,dear=10,human=200"]) == 0
    assert "Two human raters differ in" in capsys.readouterr().out


def strict_cascade(rng, n=6000, labelled=3000, rates=(0.01, 0.4), **more):
    """Two judges: the cheap one is often wrong where it is unsure."""
    y, c = rng.random(n) < 0.6, rng.random(n)
    cheap = np.where(rng.random(n) < np.where(c > 0.5, *rates), ~y, y)
    dear = np.where(rng.random(n) < 0.02, ~y, y)
    labels = np.where(np.arange(n) < labelled, y.astype(float), np.nan)
    made = cascade_certificate(
        {"cheap": cheap, "dear": dear}, {"cheap": c, "dear": rng.random(n)}, labels,
        prices={"cheap": 1, "dear": 10, "human": 200}, labels_drawn="random", strict=True, **more,
    )  # fmt: skip
    return made, np.where(np.array(made.routes) == "cheap", cheap, dear) != y


def test_a_strict_cascade_keeps_its_error_and_says_that_it_is_exact():
    made, wrong = strict_cascade(np.random.default_rng(1), error=0.1)
    decided = np.array(made.routes) != "human"
    assert made.recommended == "cascade"
    assert wrong[decided].mean() <= 0.1
    assert made.stages[0].share > 0.4
    assert "(exact)" in made.screen()[0] + made.screen()[1]
    again, _ = strict_cascade(np.random.default_rng(1), error=0.1)
    assert again.routes == made.routes


def test_a_strict_cascade_rarely_certifies_what_errs_more():
    rng = np.random.default_rng(2)
    false = [
        any(s.decided for s in strict_cascade(
            rng, 1200, 600, (0.13, 0.13), error=0.02, level=0.95
        )[0].stages[:1])
        for _ in range(40)
    ]  # fmt: skip
    assert sum(false) <= 3


@pytest.mark.parametrize(
    ("columns", "source"),
    [
        (lambda p, v: {"logprob": np.log(p)}, "logprob"),
        (lambda p, v: {"sure": np.log(p)}, "logprob"),
        (
            lambda p, v: {
                "logprob_pass": np.log(np.where(v, p, 1 - p)),
                "logprob_fail": np.log(np.where(v, 1 - p, p)),
            },
            "logprob",
        ),
        (lambda p, v: {"p_pass": np.where(v, p, 1 - p)}, "mapped"),
        (lambda p, v: {"probability": p}, "mapped"),
        (lambda p, v: {"confidence": np.where(p > 0.75, "high", "low")}, "words"),
    ],
)
def test_probabilities_of_the_verdict_serve_as_confidence(tmp_path, capsys, columns, source):
    rng = np.random.default_rng(8)
    n = 900
    y, p = rng.random(n) < 0.6, 0.5 + 0.5 * rng.random(n)
    v = np.where(rng.random(n) < np.where(p > 0.75, 0.01, 0.4), ~y, y)
    words = np.array(["fail", "pass"])
    label = np.where(np.arange(n) < 700, words[y.astype(int)], "")
    made = columns(p, v)
    file = tmp_path / "f.csv"
    pd.DataFrame(
        {"item": range(n), "verdict": words[v.astype(int)], "label": label, **made}
    ).to_csv(file, index=False)
    mapped = ["--map", "confidence=sure"] if "sure" in made else []
    assert main(["decide", "automate", str(file), *mapped, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["certified"], found["confidence_source"]) == (True, source)
    assert found["share"] == pytest.approx(0.5, abs=0.06)
    assert found["auroc"]["estimate"] > 0.7
    assert ("confidence >= high;" in " ".join(found["screen"])) == (source == "words")


def scored_items(rng, n=900):
    """Scores of judge and people on 1-10; sure items differ little."""
    human, sure = rng.integers(2, 10, n).astype(float), rng.random(n)
    score = np.clip(human + np.where(sure > 0.5, 0, rng.integers(-4, 5, n)), 1, 10)
    return score, sure, np.where(np.arange(n) < 600, human, np.nan)


def test_score_errors_are_bounded_as_a_share_of_the_scale():
    score, sure, human = scored_items(np.random.default_rng(1))
    made = automation_certificate(
        score, sure, human, error=0.05, scale=(1, 10), labels_drawn="random"
    )
    assert (made.certified, made.loss, made.unit) == (True, "score", 9)
    kept = np.isfinite(human) & (sure >= made.threshold)
    losses = np.abs(score - human)[kept] / 9
    assert made.wrong == pytest.approx(losses.sum())
    assert losses.mean() < made.upper <= 0.05
    assert fallback.betting_p(losses, made.upper) == pytest.approx(0.05, abs=1e-6)
    assert "mean error <= 5% of the scale (0.45 points)" in made.screen()[0]
    with pytest.raises(InputError, match="outside the scale"):
        automation_certificate(score, sure, human, scale=(1, 5))


@given(st.integers(0, 1000), st.floats(0.02, 0.5))
@settings(max_examples=40, deadline=None)
def test_betting_never_passes_a_sample_whose_mean_is_too_large(seed, error):
    losses = np.random.default_rng(seed).beta(0.5, 2, 200)
    p = fallback.betting_p(losses, error)
    assert 0 < p <= 1
    assert p <= fallback.betting_p(losses, error, 2.0)
    if losses.mean() >= error:
        assert p > 0.3
    assert fallback.betting_p(np.zeros(fallback.least_losses(error, 0.05)), error) <= 0.05
    assert fallback.betting_p(np.zeros(fallback.least_losses(error, 0.05) - 1), error) > 0.05


def test_the_command_takes_scores(tmp_path, capsys):
    score, sure, human = scored_items(np.random.default_rng(2))
    file = tmp_path / "s.csv"
    pd.DataFrame(
        {"item": range(900), "score": score, "confidence": sure, "human_score": human}
    ).to_csv(file, index=False)
    assert main(["decide", "automate", str(file)]) == 2
    assert "--scale 1-10" in capsys.readouterr().err
    out = tmp_path / "routes.csv"
    assert main(["decide", "automate", str(file), "--scale", "1-10", "--out", str(out)]) == 0
    assert "of the scale" in capsys.readouterr().out
    routes = pd.read_csv(out)
    assert routes["verdict"].tolist() == score.tolist()
    assert routes.loc[routes["route"] == "automatic", "confidence"].min() > 0.4
    assert main(["decide", "cutoff", str(file)]) == 2
    assert "labels are scores" in capsys.readouterr().err


def test_confidence_on_another_scale_is_tested_where_every_item_is_labelled():
    v, c, labels = drawn(900, 900)
    shares = [
        automation_certificate(v, scale * c, labels, per_class=False, labels_drawn="random").share
        for scale in (1, 100)
    ]
    assert shares[0] == pytest.approx(shares[1], abs=0.02)
    assert 0.3 < shares[0] < 0.9
    levels = np.searchsorted([0.5, 0.8], c) + 1.0  # low, medium, high
    made = automation_certificate(v, levels, labels, per_class=False, labels_drawn="random")
    assert made.share == pytest.approx((c > 0.5).mean())
