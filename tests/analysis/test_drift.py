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
from judgestats.results import change_outcome, change_sentences, plain_text, read_results
from judgestats.results.change_screen import change_screen
from tests.null_judge.designs import seeded
from tests.null_judge.doors import RUNS, SAME
from tests.null_judge.worlds import World, scored


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


def test_a_shift_of_the_mean_and_nothing_else():
    found = drift(run(seed=1), run(seed=2, bump=0.5), n_resamples=199)
    shift = found["shift.J, T=1"].effect
    assert shift.interval.low < 0.5 < shift.interval.high
    assert shift.interval.low > 0
    assert claims(found) == {"shift": "differs", "spread": "open"}
    [moved, spread] = found.headlines
    assert (moved.direction, moved.rests_on) == ("higher", ("shift.J, T=1",))
    assert moved.p_adjusted < 0.05 < spread.p_adjusted
    records = found.records()
    assert change_outcome(records.headlines) == "CHANGED"
    [sentence] = change_sentences(records)
    assert sentence.startswith("J, T=1: the mean rose by 0.")
    screen = plain_text(change_screen({"": records}))
    reach = records["shift.J, T=1"].details["smallest_change"]
    assert f"finds a change of {reach:.2f} points in the mean" in screen
    assert set(records.family("drift.family").members) == {"shift.J, T=1", "spread.J, T=1"}
    assert records["shift.J, T=1"].p_adjusted == moved.p_adjusted


def test_a_wider_spread_lowers_reliability():
    found = drift(run(seed=1), run(seed=2, spread=2.0), n_resamples=199)
    [ratio] = found["gmd.J, T=1"].rows
    assert ratio.interval.low < 2 < ratio.interval.high
    assert claims(found) == {"shift": "equivalent", "spread": "differs"}
    assert found.headlines[1].rests_on == ("spread.J, T=1", "gmd.J, T=1")
    first, second = found.conditions["icc1"]
    assert second < first


def test_a_change_of_dispersion_is_claimed_exactly_where_its_interval_leaves_one_out():
    claimed = []
    for seed in range(12):
        runs = [run(seed=2 * seed + i, spread=1 + i * (seed % 4) / 4, items=25) for i in (0, 1)]
        runs = [r.assign(score=r["score"].round()) for r in runs] if seed % 2 else runs
        found = drift(*runs, n_resamples=99)
        [row] = found["gmd.J, T=1"].rows
        apart = not row.interval.low - 1e-9 <= 1 <= row.interval.high + 1e-9
        assert apart == (row.p_adjusted <= 0.05) == (claims(found)["spread"] == "differs")
        assert row.p_value == found["spread.J, T=1"].p_value
        claimed.append(apart)
    assert 2 < sum(claimed) < 10


@pytest.mark.parametrize("orders", [("",), ("ab", "ba")])
def test_verdicts_are_counted_beyond_what_repetition_changes(orders):
    same = drift(choices(seed=1, orders=orders), choices(seed=2, orders=orders), n_resamples=199)
    change = same["flips.J, T=1"]
    # 37.5 % of two verdicts on an item differ, in one run as between the runs.
    assert change.details["within"] == pytest.approx(0.375, abs=0.08)
    assert change.effect.interval.low < 0 < change.effect.interval.high
    both = {"order": "open"} if len(orders) > 1 else {}
    assert claims(same) == {"win_rate": "open", "flips": "open", **both}
    assert change_outcome(same.headlines) == "CANNOT TELL"
    assert "is inconclusive, " in change_sentences(same.records())[0]
    turned = drift(
        choices(seed=1, orders=orders, items=160),
        choices(seed=2, moved=5, orders=orders, items=160),
        n_resamples=199,
    )
    # Half of the items go from .75 to .25: half the squared distance of the shares is .125.
    assert turned["flips.J, T=1"].effect.estimate == pytest.approx(0.125, abs=0.06)
    assert claims(turned)["flips"] == "differs"
    assert change_outcome(turned.headlines) == "CHANGED"


def test_runs_that_judged_once_show_the_direction_at_most():
    before, after = run(seed=1, replications=1), run(seed=2, replications=1, bump=1.0)
    found = drift(before, after, n_resamples=199)
    assert claims(found) == {"shift": "differs", "spread": "undefined"}
    once = drift(choices(seed=1, replications=1), choices(seed=2, replications=1), n_resamples=99)
    assert claims(once) == {"win_rate": "open", "flips": "undefined"}


def test_many_conditions_against_themselves_are_one_family_and_a_short_print():
    both = [
        pd.concat([run(seed=10 * s + j, judge=f"J{j}", items=12, replications=3) for j in range(8)])
        for s in (1, 2)
    ]
    found = drift(*(f.reset_index(drop=True) for f in both), n_resamples=49)
    assert len(found.headlines) == 16
    assert {h.claim for h in found.headlines} <= {"open", "equivalent"}
    screen = plain_text(change_screen({"": found.records()}))
    assert len(screen.splitlines()) <= 20
    assert "9 more" in screen


def test_a_simulated_judge_on_one_side_is_named_on_every_page(workplace):
    for name, simulated in (("real", False), ("sim", True)):
        data = workplace / name / "data"
        data.mkdir(parents=True)
        judge = "sim-typical" if simulated else "J"
        run(seed=1, items=8, judge=judge).to_parquet(data / "judgments.parquet", index=False)
        judges = [{"name": judge, "model": judge, "simulated": simulated, "prompt_sha": ["x"]}]
        facts = {"simulated": simulated, "judges": judges}
        (workplace / name / "results.json").write_text(json.dumps({"facts": facts}))
    words = ["drift", "real", "sim", "--pair", "J, T=1 -> sim-typical, T=1", "--resamples", "99"]
    assert main([*words, "--out", "moved"]) == 0
    found = read_results(workplace / "moved" / "results.json")
    assert found.simulated_judges == ["sim-typical"]
    assert not found.all_simulated
    assert main(["report", "moved", "--to", "md", "--out", "page"]) == 0
    assert "SIMULATED: sim-typical" in (workplace / "page" / "report.md").read_text("utf-8")
    assert main(["drift", "real", "real", "--resamples", "99", "--out", "same.json"]) == 0
    assert "simulated" not in read_results(workplace / "same.json").facts


def test_the_declared_omega_of_each_run_stands_beside_the_parallel_one():
    frame = scored(seeded(2), World(sizes=(1,) * 30, replications=4, constant=0.1), RUNS)
    first = frame["condition"] == RUNS[0].label
    found = drift(
        frame[first], frame[~first], pairs=SAME, n_resamples=19, omega_model="tau-equivalent"
    )
    told = [r for r in found.results if r.id.startswith("reliability.omega_tau-equivalent.")]
    assert len(told) == 2
    assert all(0 < r.result.estimate < 1 for r in told)


def test_items_of_one_run_alone_are_told_on_the_first_screen():
    later = run(seed=2)
    later["item_id"] = later["item_id"].where(later["item_id"] < "i3", "other " + later["item_id"])
    found = drift(run(seed=1), later, n_resamples=19).records({"kind": "drift", "title": "drift"})
    screen = plain_text(change_screen({"": found}))
    assert "items left out" in screen
    kept = later["item_id"].str.startswith("i").sum() // 6
    assert f"{40 - kept} of the 40 items of the first run" in " ".join(
        n.message for n in found.limitations
    )


def test_a_change_of_these_items_need_not_be_one_of_others():
    """Each target has its own estimate, interval, and p."""
    turned = np.random.default_rng(7).choice([-1.0, 1.0], 40)
    before, after = run(seed=1), run(seed=3)
    moves = dict(
        zip([f"i{i}" for i in range(40)], 1.5 * (turned - turned.mean()) + 0.3, strict=True)
    )
    after["score"] += after["item_id"].map(moves)
    others = drift(before, after, n_resamples=99)
    these = drift(before, after, n_resamples=99, target="these items")
    wide, narrow = (f["shift.J, T=1"] for f in (others, these))
    assert wide.effect.estimate == narrow.effect.estimate
    assert wide.p_value > 0.05 > narrow.p_value
    assert wide.effect.interval.low < 0 < narrow.effect.interval.low
    assert claims(these)["shift"] == "differs"
    assert these["shift.J, T=1"].details["target"] == "these items"


def test_a_pass_rate_that_rises_by_fifteen_points_is_found():
    found = drift(verdicts(seed=1), verdicts(seed=101, moved=0.15), n_resamples=19)
    assert [h.hypothesis for h in found.headlines] == ["pass_rate", "flip_rate"]
    rate = found["pass_rate.J, T=1"]
    assert claims(found)["pass_rate"] == "differs"
    assert change_sentences(found.records())[0].startswith("J, T=1: the pass rate rose by .")
    level = rate.effect.interval.level
    assert level == pytest.approx(0.96) or level == pytest.approx(0.95)


def test_the_same_pass_rate_is_shown_only_within_the_margin():
    frames = (
        verdicts(seed=1, items=400, replications=5),
        verdicts(seed=2, items=400, replications=5),
    )
    found = drift(*frames, n_resamples=19)
    rate = found["pass_rate.J, T=1"]
    assert rate.details["margin"] == 0.05
    assert claims(found)["pass_rate"] == "equivalent"
    assert change_outcome(found.headlines) == "NO CHANGE"
    assert "within the margin of .05" in change_sentences(found.records())[0]
    strict = drift(*frames, n_resamples=19, margin=0.001)
    assert change_outcome(strict.headlines) == "CANNOT TELL"


def test_the_names_of_two_runs_stay_on_one_line():
    found = drift(run(seed=1), run(seed=2, judge="K"), n_resamples=99)
    assert {h.about.stratum for h in found.headlines} == {"J, T=1\u00a0->\u00a0K, T=1"}
    assert "shift.J, T=1 -> K, T=1" in found.records()


def test_a_share_that_grows_is_told_by_its_score():
    rng = np.random.default_rng(3)
    before = scored_run(rng, ten=0.0)
    found = drift(before, scored_run(rng, ten=0.2), n_resamples=199)
    shares = {h.rests_on[0]: h for h in found.headlines if h.estimand == "change_of_share"}
    grown = shares["share_10.J"]
    assert (grown.claim, grown.direction) == ("differs", "higher")
    assert "share of 10" in grown.says
    test = found["share_10.J"]
    assert test.effect.interval.low > 0
    assert 0.05 < test.effect.estimate < 0.3
    assert found["share_10.J"].details["target"] == "new items"
    rows = {row.key: row.ask for row in found.rows}
    assert rows["share_10"] == "Change of the share of 10"
    again = drift(before, scored_run(rng, ten=0.0), n_resamples=199)
    assert {h.claim for h in again.headlines if h.estimand == "change_of_share"} == {"open"}


def scored_run(rng, *, ten):
    means = np.random.default_rng(0).normal(6, 1.2, 60)
    return read_judgments([
        {"judge": "J", "item": f"i{i}", "repeat": r,
         "score": 10.0 if rng.random() < ten else float(np.clip(round(x), 1, 9))}
        for i, m in enumerate(means) for r, x in enumerate(m + rng.normal(0, 0.7, 4))
    ])  # fmt: skip


def test_copied_items_count_once_in_a_comparison_of_runs():
    def run(seed):
        rng = np.random.default_rng(seed)
        x = np.clip(np.round(np.random.default_rng(0).normal(6, 1.5, (40, 1))
                             + rng.normal(0, 0.8, (40, 5))), 1, 10)  # fmt: skip
        x[20:] = x[:20]
        return read_judgments([{"judge": "J", "item": f"i{i}", "repeat": r, "score": x[i, r]}
                               for i in range(40) for r in range(5)])  # fmt: skip

    found = {p: drift(run(1), run(2), n_resamples=99, duplicates=p) for p in ("cluster", "keep")}
    joined, kept = (found[p]["shift.J"] for p in ("cluster", "keep"))
    assert joined.effect.estimate == pytest.approx(kept.effect.estimate)
    assert joined.effect.std_error > 1.2 * kept.effect.std_error
    codes = {getattr(t, "code", "") for t in found["cluster"].limitations}
    assert "duplicate_items" in codes
    with pytest.raises(InputError, match="--duplicates"):
        drift(run(1), run(2), n_resamples=99, duplicates="refuse")
