"""Two runs of a judge compared: what has changed is found, and what has not is not claimed."""

import json
import math
import shlex

import numpy as np
import pandas as pd
import pytest

from judgestats import read_judgments
from judgestats.analysis.drift import drift
from judgestats.cli import main
from judgestats.data import parsed_frame
from judgestats.errors import InputError
from judgestats.results import change_outcome, change_sentences


def run(*, seed, bump=0.0, spread=1.0, judge="J", items=40, replications=6):
    rng = np.random.default_rng(seed)
    quality = np.linspace(2, 8, items)
    rows = [
        {"judge": judge, "temperature": 1.0, "item_id": f"i{i}", "cluster": f"i{i}",
         "replicate": r, "score": quality[i] + bump + spread * rng.normal(), "status": "ok"}
        for i in range(items) for r in range(replications)
    ]  # fmt: skip
    return parsed_frame(pd.DataFrame(rows))


def choices(*, seed, moved=0, items=40, replications=4, orders=("",)):
    """Verdicts of which every item is one in four times something else; some items turn around."""
    rng = np.random.default_rng(seed)
    frame = run(seed=seed, items=items, replications=replications).assign(score=np.nan)
    number = frame["item_id"].str[1:].astype(int)
    first = (number < items / 2) ^ (number % 10 < moved)
    other = rng.random(len(frame)) < 0.25
    frame["choice"] = np.where(first ^ other, "a", "b")
    return pd.concat([frame.assign(order=o) for o in orders], ignore_index=True)


def claims(found):
    return {h.hypothesis: h.claim for h in found.headlines}


def test_scores_are_not_compared_with_verdicts():
    with pytest.raises(InputError, match="one run holds scores and the other verdicts"):
        drift(run(seed=1), choices(seed=2), n_resamples=99)


def test_repeats_that_begin_or_cease_to_differ_are_a_change():
    varied = run(seed=2)
    still = run(seed=1).assign(score=5.0)
    for before, after in ((still, varied), (varied, still)):
        found = drift(before, after, n_resamples=99)
        assert claims(found) == {"shift": "equivalent", "spread": "differs"}
        assert change_outcome(found.headlines) == "CHANGED"
        [said] = change_sentences(found.records())
        assert "repeated scores of one run never differ, those of the other do (p = .00" in said
        [row] = found["gmd.J, T=1"].rows
        assert (math.isnan(row.estimate), row.interval) == (True, None)


def test_items_without_a_counterpart_and_unread_ones_are_told():
    before, after = choices(seed=1, items=32), choices(seed=2, items=5)
    after.loc[after["item_id"] == "i0", ["status", "choice"]] = ["refused", ""]
    found = drift(before, after, n_resamples=99)
    assert "27 of the 32 items of the first run" in found.limitations[0]
    assert found["win_rate.J, T=1"].sample.n_items == 4


def test_an_unchanged_rerun_is_the_baseline_of_a_service_that_varies():
    def day(seed):
        rng = np.random.default_rng(seed)
        frame = run(seed=seed)
        mood = dict(zip(frame["item_id"].unique(), rng.normal(0, 1, 40), strict=True))
        score = frame["score"] + frame["item_id"].map(mood)
        return frame.assign(score=score.round().clip(1, 10))

    plain = drift(day(1), day(2), n_resamples=199)
    assert plain["flips.J, T=1"].p_value < 0.05
    assert any("--baseline" in text for text in plain.limitations)
    beyond = drift(day(1), day(2), baseline=day(3), n_resamples=199)
    assert claims(beyond)["flips"] == "open"
    assert not any("--baseline" in text for text in beyond.limitations)
    changed = day(2).assign(score=lambda f: (f["score"] - 2).clip(1, 10))
    moved = drift(day(1), changed, baseline=day(3), n_resamples=199)
    assert claims(moved)["shift"] == "differs"
    with pytest.raises(InputError, match="baseline has no condition 'J, T=1'"):
        drift(day(1), day(2), baseline=run(seed=3, judge="K"))


def test_another_version_is_named_and_the_same_items_are_needed():
    both = pd.concat([run(seed=2, judge="K"), run(seed=3, judge="L")], ignore_index=True)
    with pytest.raises(InputError, match="--pair 'FIRST -> SECOND'"):
        drift(run(seed=1), both)
    pair = drift(run(seed=1), both, pairs={"J, T=1": "L, T=1"}, n_resamples=99)
    assert {h.about.stratum for h in pair.headlines} == {"J, T=1\u00a0->\u00a0L, T=1"}
    with pytest.raises(InputError, match="no condition 'M'"):
        drift(run(seed=1), both, pairs={"J, T=1": "M"})
    other = run(seed=2).assign(item_id=lambda f: "other " + f["item_id"])
    with pytest.raises(InputError, match="share 0 items"):
        drift(run(seed=1), other)


def test_the_command(workplace, capsys):
    frames = {"a": run(seed=1, items=8), "b": run(seed=2, items=8, bump=1.0)}
    folders = {}
    for name, frame in frames.items():
        data = workplace / name / "data"
        data.mkdir(parents=True)
        frame.to_parquet(data / "judgments.parquet", index=False)
        (workplace / name / "results.json").write_text("{}")
        folders[name] = str(workplace / name)
    words = ["drift", folders["a"], folders["b"], "--resamples", "99"]
    assert main([*words, "--out", "drift.json", "--all"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("CHANGED  J, T=1: the mean ")
    assert "on these" not in out
    assert json.loads((workplace / "drift.json").read_text())
    assert main([*words, "--fail-if-changed"]) == 1
    assert main(["drift", folders["a"], folders["a"], "--fail-if-changed"]) == 0
    capsys.readouterr()
    assert main([*words, "--fail-unless-same"]) == 1
    assert main(["drift", folders["a"], folders["a"], "--fail-unless-same"]) == 0
    assert main([*words, "--target", "these-items", "--margin", "9", "--all"]) == 0
    one_line = " ".join(capsys.readouterr().out.split())
    assert f"on these {frames['a']['item_id'].nunique()} items, within the margin" in one_line
    assert main([*words, "--baseline", folders["a"]]) == 0
    assert main(["drift", folders["a"], "nowhere"]) == 2
    assert "nowhere" in capsys.readouterr().err
    assert main([*words[:3], "--pair", "J"]) == 2
    assert "--pair expects" in capsys.readouterr().err


def test_relabelled_items_tell_the_peoples_change_and_verdicts_that_of_the_errors():
    rng = np.random.default_rng(1)
    n = 200
    then = rng.random(n) < 0.5
    today = then | (rng.random(n) < 0.4)  # people became lenient
    first = then.copy()  # a judge without an error ...
    again = np.where(then, rng.random(n) < 0.7, rng.random(n) < 0.3)  # ... now errs on both sides

    def run(passed, label=None):
        rows = [
            {"judge": "J", "temperature": 1.0, "item_id": f"i{i}", "cluster": f"i{i}",
             "replicate": 0, "choice": "pass" if p else "fail", "status": "ok"}
            | ({} if label is None else {"label": "pass" if label[i] else "fail"})
            for i, p in enumerate(passed)
        ]  # fmt: skip
        return parsed_frame(pd.DataFrame(rows))

    found = drift(run(first, then), run(again, today), n_resamples=19)
    people = found["anchored.people.J, T=1"]
    assert people.estimate == pytest.approx(today.mean() - then.mean())
    assert people.interval.low > 0
    for key in ("sensitivity", "specificity"):
        change = found[f"anchored.{key}.J, T=1"]
        assert -0.45 < change.estimate < -0.15
        assert change.interval.high < 0


@pytest.mark.parametrize("kind", ["pass-fail", "pairs", "scores"])
def test_labels_tell_first_whether_the_judge_came_nearer_to_people(kind):
    rng = np.random.default_rng(2)
    n = 150
    words = {"pass-fail": ["fail", "pass"], "pairs": ["a", "b", "tie"], "scores": range(1, 8)}
    people = rng.choice(list(words[kind]), n)

    def run(right, label=None):
        said = np.where(rng.random(n) < right, people, rng.permutation(people))
        value = "score" if kind == "scores" else "choice"
        rows = [
            {"judge": "J", "temperature": 1.0, "item_id": f"i{i}", "cluster": f"i{i}", "order": "",
             "replicate": 0, value: float(v) if kind == "scores" else str(v), "status": "ok"}
            | ({} if label is None else {"label": str(label[i])})
            for i, v in enumerate(said)
        ]  # fmt: skip
        return parsed_frame(pd.DataFrame(rows))

    before, after = run(0.9, people), run(0.4)
    found = drift(before, after, n_resamples=19)
    key = "distance" if kind == "scores" else "accuracy"
    change = found[f"anchored.{key}.J, T=1"]
    assert (change.interval.low > 0) if kind == "scores" else (change.interval.high < 0)
    assert found.headlines[0].rests_on == (f"anchored.{key}.J, T=1",)
    assert next(r.key for r in found.records().rows) == key
    assert ("anchored.sensitivity.J, T=1" in {r.id for r in found.results}) == (kind == "pass-fail")
    swapped = drift(after, before, n_resamples=19)  # labels of the later run serve as well
    back = swapped[f"anchored.{key}.J, T=1"]
    assert back.estimate == pytest.approx(-change.estimate)
    bare = drift(before.drop(columns="label"), after, n_resamples=19)
    assert not any(r.id.startswith("anchored.") for r in bare.results)


def verdicts(*, seed, moved=0.0, items=80, replications=3):
    """Pass or fail of items of all difficulties."""
    rng = np.random.default_rng(seed)
    true = np.random.default_rng(99).random(items)
    frame = run(seed=seed, items=items, replications=replications).assign(score=np.nan)
    p = np.clip(true + moved, 0, 1)[frame["item_id"].str[1:].astype(int)]
    frame["choice"] = np.where(rng.random(len(frame)) < p, "pass", "fail")
    return frame


def test_a_change_within_what_runs_differ_by_holds_in_these_runs():
    shifts = np.random.default_rng(3).normal(0, 1, (2, 5))
    sides = []
    for side, shift in enumerate(shifts):
        frame = run(seed=side, replications=5)
        sides.append(frame.assign(score=frame["score"] + shift[frame["replicate"]] + 0.5 * side))
    found = drift(*sides, n_resamples=19)
    assert claims(found)["shift"] == "differs"
    assert found.headlines[0].says.startswith("scores differ in these runs")
    assert "in these runs" in change_sentences(found.records())[0]
    assert any("With the variance between runs" in text for text in found.limitations)
    at_random = [frame.assign(request_order="interleaved") for frame in sides]
    calm = [run(seed=1, replications=5), run(seed=2, replications=5, bump=0.8)]
    for pair in (at_random, calm):
        beyond = drift(*pair, n_resamples=19)
        assert claims(beyond)["shift"] == "differs"
        assert "in these runs" not in change_sentences(beyond.records())[0]


@pytest.mark.parametrize("made", [run, choices])
def test_nothing_is_tested_of_the_same_judgments(made):
    first = made(seed=1)
    found = drift(first, first.sample(frac=1.0, random_state=0), n_resamples=99)
    [headline] = found.headlines
    assert headline.says == "the same judgments in both runs: nothing has changed on these items"
    assert headline.claim == "open"  # no error for a gate: a judge that repeats itself passes
    assert headline.estimand == ""
    assert change_outcome(found.headlines) == "NO CHANGE"
    assert change_sentences(found.records()) == [f"J, T=1: {headline.says}."]
    tested = [r.result for r in found.results if r.id.startswith(("shift.", "spread.", "flips."))]
    assert tested
    assert all(np.isnan(test.p_value) and not test.effects for test in tested)


def test_fewer_changes_than_repetition_explains_are_no_effect():
    first = choices(seed=1)
    second = first.copy()
    second.loc[0, "choice"] = "b" if first.loc[0, "choice"] == "a" else "a"
    found = drift(first, second, n_resamples=99)
    assert found["flips.J, T=1"].effect.interval.high < 0
    assert claims(found)["flips"] == "open"


def test_order_consistency_is_compared_by_item():
    def run(seed, follows):
        rng = np.random.default_rng(seed)
        return read_judgments([
            {"judge": "J", "item": f"i{i}", "order": o, "repeat": r,
             "winner": ("a" if o == "ab" else "b") if rng.random() < follows else "ab"[i % 2]}
            for i in range(80) for o in ("ab", "ba") for r in range(2)
        ])  # fmt: skip

    found = drift(run(1, 0.1), run(2, 0.6), n_resamples=199)
    [told] = [h for h in found.headlines if h.estimand == "change_of_order_consistency"]
    assert (told.claim, told.direction) == ("differs", "lower")
    assert found["order.J"].effect.interval.high < 0


def tables(folder, unclear):
    """A table of plain names, and one of the same items by other names."""
    rng = np.random.default_rng(7)
    n = 60
    items = [f"i{i // 2}" for i in range(n)]
    repeat, scores = [i % 2 + 1 for i in range(n)], rng.integers(1, 11, (3, n))
    plain = {"item_id": items, "judge": "m", "repeat": repeat, "score": scores[0]}
    pd.DataFrame(plain).to_csv(folder / "plain.csv", index=False)
    other = {"doc": items, "n": repeat, "v1": scores[1], "v2": scores[2]}
    pd.DataFrame(other).to_csv(folder / "other.csv", index=False)
    twice = pd.DataFrame({"item_id": items, "template": [*"ab"] * (n // 2), "score": scores[0]})
    twice.to_csv(folder / "twice.csv", index=False)
    return [f"{name}.csv" for name in unclear]


@pytest.mark.parametrize(
    ("files", "flags"),
    [
        (("plain", "other"), {"--second-options"}),
        (("twice", "twice"), {"--factor", "--item", "--map"}),
    ],
)
def test_a_question_about_two_files_is_answered_for_each(files, flags, workplace, capsys):
    names = tables(workplace, files)
    assert main(["drift", *names]) == 2
    said = capsys.readouterr().err
    commands = [
        shlex.split(line[line.index("judgestats drift") :].split("    ")[0])
        for line in said.splitlines()
        if "judgestats drift" in line
    ]
    assert {c[4] for c in commands} == flags
    assert main([*commands[0][1:], "--resamples", "19"]) == 0
    capsys.readouterr()
    assert main(["drift", *names, "--json"]) == 2
    options = json.loads(capsys.readouterr().out)["reading"]["options"]
    assert [o["command"] for o in options] == commands


def test_options_of_one_file_leave_the_other(workplace, capsys):
    names = tables(workplace, ("plain", "other"))
    read = ["--second-options", "--map verdict=v1,repeat=n --scale 1-10"]
    assert main(["drift", *names, "--resamples", "19", *read, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    verdicts = {side: r["roles"]["verdict"] for side, r in document["reading"].items()}
    assert verdicts == {"first": ["score"], "second": ["v1"]}
    assert main(["drift", *names, "--first-options", "--map 'v1"]) == 2
    assert "is not quoted right" in capsys.readouterr().err
