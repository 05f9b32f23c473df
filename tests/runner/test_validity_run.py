"""validity, all the way: stated rates are recovered; a judge that sees nothing gets no claim."""

import json
from io import StringIO
from itertools import product

import numpy as np
import pandas as pd
import pytest

from judgestats.analysis.validity_run import analyse
from judgestats.cli import main
from judgestats.data import parsed_frame
from judgestats.errors import InputError
from judgestats.items import load_bank
from judgestats.protocols import response_names
from judgestats.runner import load_design, run_experiment
from judgestats.runner.prepare import prepare
from judgestats.simulated.judges import truth

SMALL = {"resamples": "99", "report": "none", "crosscheck": "no"}
ANSWERS = [
    (name, item, response)
    for item in load_bank()
    for name, response in zip(response_names(item), item.responses, strict=True)
]


def true_rates(judge, answers=ANSWERS):
    """Sensitivity and specificity of one verdict of a simulated judge on these answers."""
    passes = np.array([truth(judge).pass_probability(r.text, temperature=0.5) for *_, r in answers])
    good = np.array([r.quality >= 0.5 for *_, r in answers])
    return passes[good].mean(), 1 - passes[~good].mean()


@pytest.fixture(scope="module")
def judged():
    """Frames of judgments as the simulated judges would give them, without a server."""

    def frame(*judges, replicates=3, seed=0):
        rng = np.random.default_rng(seed)
        rows = []
        for judge, (name, item, response), r in product(judges, ANSWERS, range(replicates)):
            p = truth(judge).pass_probability(response.text, temperature=0.5)
            rows.append(
                {
                    "judge": judge, "temperature": 0.5, "item_id": name, "cluster": item.cluster,
                    "category": item.category, "replicate": r, "status": "ok",
                    "choice": "pass" if rng.random() < p else "fail",
                    "condition": f"{judge}, verdict=pass_fail", "factor_verdict": "pass_fail",
                }
            )  # fmt: skip
        return parsed_frame(pd.DataFrame(rows))

    return frame


def analysed(frame, **given):
    prepared = prepare(load_design("validity"), {**SMALL, "labelled": "all", **given})
    return analyse(frame, prepared.plan, items=load_bank())


def test_a_run_recovers_the_stated_rates_and_is_gated_by_them(workplace, capsys):
    given = {**SMALL, "judges": "sim-stated", "labelled": "120"}
    outcome = run_experiment(load_design("validity"), given)
    found = outcome.analysis
    row = found.conditions[found.conditions["factor_verdict"] == "pass_fail"].iloc[0]
    for key, true in zip(("sensitivity", "specificity"), true_rates("sim-stated"), strict=True):
        assert row[f"{key}_low"] < true < row[f"{key}_high"]
    passing = np.mean([r.quality >= 0.5 for *_, r in ANSWERS])
    assert row["true_score_low"] < passing < row["true_score_high"]
    scores = found.conditions[found.conditions["factor_verdict"] == "score"].iloc[0]
    mean = np.mean([1 + 9 * r.quality for *_, r in ANSWERS])
    assert scores["true_score_low"] < mean < scores["true_score_high"]
    assert {h.claim for h in found.headlines if h.hypothesis == "related"} == {"differs"}
    assert {"people.mean_squared_error", "people.by_k"} <= {
        r.id.rpartition(".sim")[0] for r in found.results
    }
    capsys.readouterr()
    check = ["check", outcome.run_id, "--require"]
    own = ["--at", "verdict=pass_fail"]
    assert main([*check, "validity/sensitivity>=.7", *own]) == 0
    assert main([*check, "validity/sensitivity>=.99", *own]) == 1
    assert main([*check, "validity/sensitivity>=.7"]) == 3  # scores have no rates
    [folder] = workplace.glob(f"mlruns/*/{outcome.run_id}/artifacts")
    written = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    assert any(r["id"].startswith("related.") for r in written["results"])


@pytest.mark.parametrize("judge", ["sim-stated", "sim-lenient"])
def test_stated_rates_hold_on_average_and_in_the_intervals(judged, judge):
    stated = truth(judge).judge
    se, sp = true_rates(judge)
    assert se == pytest.approx(stated.sensitivity, abs=0.08)
    assert sp == pytest.approx(stated.specificity, abs=0.16)
    row = analysed(judged(judge)).conditions.iloc[0]
    assert row["sensitivity_low"] < se < row["sensitivity_high"]
    assert row["specificity_low"] < sp < row["specificity_high"]


def test_a_liking_for_length_shows_in_the_slices(judged):
    found = analysed(judged("sim-lenient"))
    [slices] = [
        r.result for r in found.results if r.id.startswith("slices.length_specificity.sim-lenient")
    ]
    lengths = np.array([len(r.text) for *_, r in ANSWERS])
    low, high = np.quantile(lengths, [1 / 3, 2 / 3], method="inverted_cdf")
    long = true_rates("sim-lenient", [a for a in ANSWERS if len(a[2].text) > high])[1]
    short = true_rates("sim-lenient", [a for a in ANSWERS if len(a[2].text) <= low])[1]
    assert long < short - 0.1
    rates = slices.details["rates"]
    assert len(rates) == 3
    for name, true in ((f"long (over {high:g})", long), (f"short (to {low:g})", short)):
        assert rates[name].interval.low < true < rates[name].interval.high


def test_labels_that_have_nothing_to_do_with_the_verdicts_give_no_claim(judged):
    claims = []
    for seed in range(6):
        frame = judged("sim-stated", "sim-blind", replicates=1, seed=seed)
        rng = np.random.default_rng(seed)
        items = frame["item_id"].unique()
        shuffled = dict(zip(items, rng.permutation(items), strict=True))
        frame = frame.assign(item_id=frame["item_id"].map(shuffled))
        clusters = {name: item.cluster for name, item, _ in ANSWERS}
        found = analysed(frame.assign(cluster=frame["item_id"].map(clusters)))
        related = [h for h in found.headlines if h.hypothesis == "related"]
        assert len(related) == 2
        claims.append(any(h.claim == "differs" for h in related))
    assert sum(claims) <= 2


def test_labels_of_people_come_from_a_file(workplace, judged):
    rows = [
        {"item_id": name, "annotator": who, "label": "pass" if r.quality >= 0.5 else "fail"}
        for name, _, r in ANSWERS[:60]
        for who in ("a", "b")
    ]
    pd.DataFrame(rows).to_csv("people.csv", index=False)
    found = analysed(judged("sim-stated"), labels="people.csv", labels_drawn="convenience")
    [corrected] = [r.result for r in found.results if r.id.startswith("people.corrected")]
    assert "by hand" in corrected.reason
    assert found.conditions["sensitivity"].iloc[0] > 0.7
    assert any("have no label" in text for text in found.limitations)


def test_labels_that_belong_to_nothing_are_refused_before_a_judge_is_asked(workplace):
    pd.DataFrame({"item_id": ["x"], "label": ["pass"]}).to_csv("people.csv", index=False)
    with pytest.raises(InputError, match="no label of people"):
        prepare(load_design("validity"), {"labels": "people.csv"})
    with pytest.raises(InputError, match="no file"):
        prepare(load_design("validity"), {"labels": "nowhere.csv"})
    with pytest.raises(InputError, match="number or middle"):
        prepare(load_design("validity"), {"pass_from": "high"})


def test_disagreements_are_a_file_with_texts_or_without(workplace, judged):
    from judgestats.analysis import DISAGREEMENTS, texts_of, with_disagreements

    frame = judged("sim-lenient")
    frame = frame.assign(explanation="=HYPERLINK(1)")
    found = analysed(frame)
    known = texts_of(load_bank())
    shown = with_disagreements(found, frame, known, texts=True)
    listed = next(r for r in found.results if r.id.startswith("people.disagreements"))
    (workplace / "list.csv").write_text(shown.files[DISAGREEMENTS], encoding="utf-8")
    table = pd.read_csv("list.csv")
    assert len(table) == listed.result.n
    row = table.iloc[0]
    assert row["answer"].lstrip("'") == known[row["item_id"]][1]
    assert row["judge_says"] == "'=HYPERLINK(1)"  # no spreadsheet runs it
    bare = with_disagreements(found, frame, known, texts=False)
    assert list(pd.read_csv(StringIO(bare.files[DISAGREEMENTS]))) == [
        "condition", "item_id", "judge", "people", "gap",
    ]  # fmt: skip
    assert "disagreements" in {r.id for r in bare.described}


def test_squared_error_is_split_by_condition_and_k(workplace):
    given = {**SMALL, "judges": "sim-typical", "temperatures": "0.3,1", "limit": "6",
             "repeats": "3", "people": "designed"}  # fmt: skip
    outcome = run_experiment(load_design("temperature"), given)
    [folder] = workplace.glob(f"mlruns/*/{outcome.run_id}/artifacts")
    records = {
        r["id"]: r
        for r in json.loads((folder / "results.json").read_text(encoding="utf-8"))["results"]
    }
    titles = [r["title"] for r in records.values() if r["id"].startswith("error.")]
    assert titles
    assert not [t for t in titles if "people" in t]  # a design is nobody's score
    keys = [c["key"] for c in records["error.by_k"]["columns"]]
    rows = [dict(zip(keys, row, strict=True)) for row in records["error.by_k"]["rows"]]
    assert {(r["condition"], r["k"]) for r in rows} == {
        (f"sim-typical, T={t}", k) for t in ("0.3", "1") for k in (1, 3)
    }
    for r in rows:
        parts = r["squared_bias"] + r["between_items"] + r["replicates"]
        assert parts == pytest.approx(r["mean_squared_error"])
        assert r["mean_squared_error_low"] < r["mean_squared_error"]
    with pytest.raises(InputError, match="no file"):
        prepare(load_design("temperature"), {"people": "nowhere.csv"})


def test_probabilities_of_the_verdicts_tokens_are_held_to_labels(workplace):
    given = {**SMALL, "judges": "sim-typical", "verdicts": "pass_fail", "repeats": "1",
             "labelled": "all", "reply": "logprobs"}  # fmt: skip
    outcome = run_experiment(load_design("validity"), given)
    found = {r.id.rpartition(".sim")[0]: r.result for r in outcome.analysis.results}
    brier = found["people.brier"]
    stated = truth("sim-typical")
    chances = [stated.pass_probability(r.text, temperature=None) for *_, r in ANSWERS]
    true = np.mean([(p - (r.quality >= 0.5)) ** 2 for p, (*_, r) in zip(chances, ANSWERS)])  # noqa: B905
    assert brier.sample.n_items > 100
    assert brier.interval.low < true < brier.interval.high
    assert "people.reliability_diagram" in found


def test_rates_are_weighted_to_a_stated_mix_of_traffic(judged):
    categories = sorted({item.category for item in load_bank()})
    mix = ",".join(f"{c}={9 if i == 0 else 1}" for i, c in enumerate(categories))
    found = {
        name: next(r for r in analysed(judged("sim-stated"), **given).results
                   if r.id.startswith("people.corrected"))
        for name, given in (("mix", {"mix": mix, "labelled": "120"}), ("own", {"labelled": "120"}))
    }  # fmt: skip
    assert "for the mix" in found["mix"].title
    assert found["mix"].result.estimate != found["own"].result.estimate
    with pytest.raises(InputError, match="mix: expected CATEGORY=SHARE"):
        prepare(load_design("validity"), {**SMALL, "mix": "chat"})


def test_people_who_were_tuned_on_mark_the_error_against_them(workplace):
    rows = [
        {"item_id": name, "label": round(1 + 9 * r.quality, 1), "labels_part": "tuning:abc123"}
        for name, _, r in ANSWERS
    ]
    pd.DataFrame(rows).to_csv("people.csv", index=False)
    given = {**SMALL, "judges": "sim-typical", "temperatures": "0.3,1", "limit": "16",
             "repeats": "3", "people": "people.csv"}  # fmt: skip
    outcome = run_experiment(load_design("temperature"), given)
    held = [r for r in outcome.analysis.described if r.id.startswith("error.")]
    assert held
    assert all(r.title.endswith("on the labels used for tuning") for r in held)
    assert outcome.analysis.params["labels/tuning"] == "abc123"
    assert "digest abc123" in outcome.analysis.limitations[0]
