"""What an audit says of the judge as an instrument: levels, leniency, fairness of sources."""

import numpy as np
import pandas as pd

from judgestats.analysis.audit import audit
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
