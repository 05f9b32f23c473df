"""What an audit says of the judge as an instrument: levels, leniency, fairness of sources."""

import numpy as np
import pandas as pd
import pytest

from judgestats.analysis.audit import audit
from judgestats.api import read_judgments
from judgestats.data import parsed_frame


def frame(*, favour=0.0, questions=60, labels=True, judges=("mild", "strict"), factor=True):
    """Two sources of equal quality; the strict judge is .8 stricter; `favour` lifts one source."""
    rng, rows = np.random.default_rng(1), []
    for i in range(questions):
        theta = rng.normal()
        for source in ("own", "other"):
            quality = theta + rng.normal()
            for judge in judges:
                lift = favour if source == "own" and judge == "mild" else 0.0
                shown = quality + lift - (0.8 if judge == "strict" else 0.0)
                score = 1.0 + np.digitize(shown + rng.logistic(0, 0.5), [-2, -1, 0, 1.0])
                row = {
                    "judge": judge, "temperature": 1.0, "item_id": f"i{i}-{source}",
                    "cluster": f"q{i}", "replicate": 0, "score": score, "status": "ok",
                    "factor_source": source, "label": str(round(5 + 1.5 * quality)),
                }  # fmt: skip
                rows.append(row if labels else row | {"label": ""})
    wanted = ("factor_source",) if factor else ()
    table = pd.DataFrame(rows)
    return parsed_frame(table if factor else table.drop(columns="factor_source"), factors=wanted)


def instrument(found):
    return {
        r.id.removeprefix("instrument."): r.result for r in found.results if "instrument." in r.id
    }


def test_a_judge_that_favours_a_source_is_found_and_a_fair_one_is_not():
    said = instrument(audit(frame(favour=1.2), n_resamples=19))
    assert said["dif_test.mild, T=1"].p_value < 0.001
    assert said["dif_test.mild, T=1"].effects[0].label.endswith("own over other")
    assert said["dif_test.strict, T=1"].p_value > 0.01


def noisy(seed, *, favour=0.0, apart=1.0, noise=1.2, questions=80):
    """A judge and people who each see the answers with noise of their own; `new` is better."""
    rng, rows = np.random.default_rng(seed), []
    for i in range(questions):
        theta = 6 + rng.normal()
        for k, source in enumerate(("old", "mid", "new")):
            quality = theta + apart * k + rng.normal(0, 0.5)
            seen = quality + (favour if source == "new" else 0.0) + rng.normal(0, 0.6)
            rows.append({
                "judge": "j", "temperature": 1.0, "item_id": f"i{i}-{source}", "cluster": f"q{i}",
                "replicate": 0, "score": float(np.clip(round(seen), 1, 10)), "status": "ok",
                "factor_source": source,
                "label": str(int(np.clip(round(quality + rng.normal(0, noise)), 1, 10))),
            })  # fmt: skip
    return audit(parsed_frame(pd.DataFrame(rows), factors=("factor_source",)), n_resamples=19)


def test_noise_in_the_labels_favours_no_source():
    # At equal labels the better source is better, which an unbiased judge sees.
    found = noisy(0)
    test = found["instrument.dif_test.j, T=1"]
    assert test.p_value < 0.01
    [said] = [h for h in found.headlines if "dif_test" in h.id]
    assert said.claim == "open"
    assert said.says == (
        "sources are scored differently at equal quality, but noise in the labels alone can "
        "explain it (j, T=1; old over mid)"
    )
    # At equal labels it scores the better source higher, and at equal scores so do people.
    assert test.details["sources"] == ["mid", "new", "old"]
    (new, old), (above, below) = (test.details[f"points_if_{k}"] for k in ("exact", "noisy"))
    assert new > 0 > old
    assert above < 0 < below
    # Where the sources are alike, so are the labels, and what is left is the judge's.
    [told] = [
        h
        for h in noisy(1, favour=1.2, apart=0.0, noise=0.5, questions=40).headlines
        if "dif_test" in h.id
    ]
    assert told.claim == "differs"
    assert "favours new" in told.says
    assert told.size.endswith("/dif_log_odds")


def test_an_audit_puts_judges_on_one_scale_and_counts_levels():
    found = audit(frame(factor=False), n_resamples=19)
    said = instrument(found)
    strict = said["leniency.strict, T=1"]
    assert strict.interval.high < 0
    metrics = found.condition_metrics["strict, T=1"]
    assert metrics["instrument/leniency"] == strict.estimate
    assert metrics["ci/instrument/leniency.lo"] == strict.interval.low
    assert 1 <= metrics["instrument/effective_levels"] <= 5


def test_what_an_audit_cannot_say_is_named():
    apart = frame(questions=20, favour=0.5)
    apart = apart[(apart["judge"] == "mild") == (apart["item_id"].str.len() % 2 == 0)]
    few = audit(apart, n_resamples=19)
    told = " ".join(map(str, few.limitations))
    assert "too few answers were scored by several judges" in told
    assert "two sources with at least 30 questions each are needed" in told
    unlabelled = audit(frame(labels=False), n_resamples=19)
    assert "Fairness between sources was not tested" in " ".join(map(str, unlabelled.limitations))
    one = instrument(audit(frame(judges=("mild",), factor=False), n_resamples=19))
    assert not [i for i in one if i.startswith("leniency")]


def test_the_screen_tells_severity_and_favoured_sources():
    found = audit(frame(favour=1.2), n_resamples=19)
    rows = {r.key: r for r in found.rows}
    records = found.records()
    lifted = records[rows["fair_source"].cells["mild, T=1, source=own"]]
    assert lifted.estimand == "dif_log_odds"
    assert lifted.interval.low > 0
    assert rows["fair_source"].ask == "DIF, own over other"
    strict = records[rows["fair_severity"].cells["strict, T=1, source=other"]]
    assert strict.interval.high < 0
    [mild, fair] = [h for h in found.headlines if "dif_test" in h.id]
    assert (mild.claim, fair.claim) == ("differs", "open")
    assert mild.says == (
        "sources are scored differently at equal quality (mild, T=1 favours own; own over other)"
    )
    assert mild.p_adjusted > found["instrument.dif_test.mild, T=1"].p_value
    plain = audit(frame(favour=1.2, factor=False), n_resamples=19)
    assert "instrument/leniency" in plain.condition_metrics["mild, T=1"]
    assert "fair_source" not in {r.key for r in plain.rows}


def test_a_shorter_scale_is_claimed_by_the_loss_of_information_alone():
    rng = np.random.default_rng(3)

    def shorter(levels, noise):
        true = rng.choice(levels, size=120)
        rows = [
            {"judge": "j", "temperature": 1.0, "item_id": f"i{i}", "cluster": f"i{i}",
             "replicate": r, "score": score + rng.choice(noise), "status": "ok"}
            for i, score in enumerate(true) for r in range(4)
        ]  # fmt: skip
        found = audit(parsed_frame(pd.DataFrame(rows)), n_resamples=19)
        told = [str(t) for t in found.limitations if "-level scale would do" in str(t)]
        return found["instrument.recoding_loss.j, T=1"], told

    loss, told = shorter([1.0, 3.0, 5.0, 7.0, 9.0], [0.0, 1.0])
    assert loss.interval.high <= 0.05
    assert told[0].startswith("j, T=1: A 5-level scale would do")
    loss, told = shorter([1.0, 4.0, 5.0, 8.0], [-1.0, 0.0, 1.0, 2.0])
    assert loss.interval.high > 0.05
    assert not told


def test_leniency_against_people_is_told_from_that_beside_other_judges():
    rng = np.random.default_rng(1)
    truth = rng.integers(3, 8, 40)
    rows = [
        {"judge": judge, "item": f"q{i}", "trial": k, "human_score": int(truth[i]),
         "score": int(truth[i] + moved + rng.choice([-1, 0, 0, 0, 1]))}
        for judge, moved in (("lenient", 1), ("fair", 0)) for i in range(40) for k in range(3)
    ]  # fmt: skip
    analysis = audit(read_judgments(rows), n_resamples=99)
    asked = {row.key: row.ask for row in analysis.records({}).rows}
    assert (asked["bias"], asked["fair_severity"]) == ("Bias vs. humans", "Leniency vs. panel")
    told = [
        limit.short for limit in analysis.limitations if getattr(limit, "code", "") == "leniency"
    ]
    assert told == ["mind the leniency of lenient"]
    without = audit(read_judgments([r | {"human_score": None} for r in rows]), n_resamples=99)
    assert not [limit for limit in without.limitations if "people did" in limit]


def test_leniency_vs_panel_rests_on_all_repeats_and_agrees_with_the_means():
    rng = np.random.default_rng(6)
    rows = [
        {"judge": j, "item": f"q{i}", "trial": k, "score": int(rng.integers(3, 8) + d)}
        for j, d in (("a", 0), ("b", 1), ("c", -1)) for i in range(30) for k in range(3)
    ]  # fmt: skip
    found = audit(read_judgments(rows), n_resamples=99)
    by_id = {n.id: n.result for n in found.results}
    means = pd.DataFrame(rows).groupby("judge")["score"].mean()
    values = {j: by_id[f"instrument.leniency.{j}"].estimate for j in "abc"}
    for j in "abc":
        assert values[j] == pytest.approx(means[j] - means.mean(), abs=1e-12)
    assert values["b"] - values["a"] == pytest.approx(means["b"] - means["a"], abs=1e-12)
    assert {r.key for r in found.rows} >= {"fair_severity"}
    assert not [r for r in found.rows if "first scores" in r.note]


@pytest.mark.parametrize(("shift", "said"), [(0.0, []), (-1.0, ["c: scores are lower"])])
def test_one_of_three_equal_judges_is_not_called_lenient(shift, said):
    rng = np.random.default_rng(118)
    human = rng.integers(3, 9, 60).astype(float)
    rows = [
        {"item": i, "judge": judge, "score": human[i] + by + rng.normal(), "label": human[i]}
        for judge, by in (("a", 0.0), ("b", 0.0), ("c", shift))
        for i in range(60)
    ]
    found = audit(read_judgments(pd.DataFrame(rows)), n_resamples=19)
    shifts = [r.result.rows[0].p_value for r in found.results if "people.shift." in r.id]
    assert min(shifts) < 0.05
    limits = [text for text in found.limitations if "than human scores" in text]
    assert [text.partition(" than")[0] for text in limits] == said
