"""Specification curve: the declared analysis stays, single changes decide, the rest is shown."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import judgestats
from judgestats import read_judgments
from judgestats.analysis.audit import audit
from judgestats.cli import main
from judgestats.errors import InputError


def scores(shift=0.0, *, lost=0.0, wild=0.0, judges="ab", items=30, per=1, seed=0, heats=None):
    """Judgments of equal judges but for a shift, lost replies, and wild ones of the last."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(items):
        mean = rng.normal(6.5, 1.5)
        for j, judge in enumerate(judges):
            for r in range(5):
                last = j == len(judges) - 1
                x = np.clip(round(mean + shift * j + rng.normal(0, 0.7)), 1, 10)
                x = 1.0 if last and rng.random() < wild else float(x)
                gone = last and rng.random() < lost
                rows.append(
                    {"judge": judge, "temperature": (heats or {}).get(judge, 1.0),
                     "item_id": f"i{i}", "cluster": f"q{i // per}", "replicate": r,
                     "score": "nonsense" if gone else x}
                )  # fmt: skip
    return read_judgments(rows, values={"nonsense": "unparsed"}, mapping={"cluster": "cluster"})


def curves(found):
    return {r.id: r.result for r in found.results if r.id.startswith("specs.")}


def rows_of(curve, role):
    return curve.table[curve.table["role"] == role]


def test_lost_replies_counted_as_the_lowest_score_turn_a_headline():
    found = audit(scores(0.0, lost=0.15), n_resamples=99, specs="yes")
    curve = curves(found)["specs.shift.b, T=1:a, T=1"]
    assert [s.choices[0].key for s in curve.depends] == ["unparsed"]
    assert curve.short.startswith("depends on: unparsed policy (p ")
    headline = next(h for h in found.headlines if h.rests_on[0] == "shift.all")
    assert headline.claim == "open"
    assert "depends on: unparsed policy" in headline.says
    shown = audit(scores(0.3, lost=0.05), n_resamples=99, specs="yes")
    [turned] = [h for h in shown.headlines if h.rests_on[0] == "shift.all"]
    plain = audit(scores(0.3, lost=0.05), n_resamples=99)
    [claimed] = [h for h in plain.headlines if h.rests_on[0] == "shift.all"]
    assert (claimed.claim, turned.claim) == ("differs", "open")


def test_choices_that_change_nothing_are_not_counted():
    frame = scores(0.0)
    frame["score"] = frame["score"].clip(6, 8)
    found = audit(frame, n_resamples=99, specs="yes")
    for curve in curves(found).values():
        assert len(curve.decisive) == 1
        assert "no other choice applies" in curve.sentence()


def test_conditions_at_temperature_0_come_in_and_go_out():
    frame = scores(0.4, judges="abc", heats={"c": 0.0})
    found = curves(audit(frame, n_resamples=99, specs="yes"))
    values = {
        name.split(".")[1]: rows_of(curve, "decides").set_index("choice")["value"]
        for name, curve in found.items()
        if "c, T=0" not in name
    }
    assert (values["shift"]["temperature"], values["gmd"]["temperature"]) == ("out", "in")


def test_one_judge_has_no_curve_and_says_so():
    found = audit(scores(judges="a"), n_resamples=99, specs="yes")
    assert not curves(found)
    assert "no_specifications" in {getattr(t, "code", "") for t in found.limitations}


def test_the_joint_test_finds_a_difference_and_is_withheld_where_runs_differ():
    def joint(frame):
        found = audit(frame, n_resamples=99, specs="joint")
        return curves(found)["specs.shift.b, T=1:a, T=1"]

    assert joint(scores(1.5, lost=0.03)).p_joint == pytest.approx(0.001)
    assert joint(scores(0.0, lost=0.03)).p_joint > 0.05
    shifted = scores(0.0)
    shifted["score"] += shifted["replicate"].map({0: 0, 1: 1, 2: 2, 3: 0, 4: 1})
    withheld = joint(shifted)
    assert math.isnan(withheld.p_joint)
    assert "No joint test" in withheld.sentence()


@pytest.fixture
def table(tmp_path):
    frame = scores(0.0, lost=0.15)
    path = tmp_path / "judged.csv"
    said = frame["score"].astype(object).where(frame["status"].eq("ok"), "nonsense")
    frame.assign(score=said)[["judge", "item_id", "replicate", "score"]].to_csv(path, index=False)
    return path


def test_curves_leave_the_judges_on_the_screen(tmp_path, capsys):
    frame = scores(0.6, judges="abcd")
    frame[["judge", "item_id", "replicate", "score"]].to_csv(tmp_path / "four.csv", index=False)
    words = ["--specs", "--track", "none", "--report", "none", "--resamples", "99"]
    assert main(["analyze", str(tmp_path / "four.csv"), "--scale", "1-10", *words]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("Specs  ") for line in lines)
    shown = [line for line in lines if line[:1] in "abcd" and "[" in line]
    assert len(shown) >= 2 or any(line.startswith("Verdict") for line in lines)
    assert len(lines) <= 20


def test_the_report_draws_the_curve_of_each_claim():
    frame = scores(0.3, lost=0.05, wild=0.02, per=2)
    found = judgestats.audit(frame, n_resamples=99, specs="yes")
    drawn = {one.label: one for one in found.figures._drawn.values() if "specific" in one.label}
    assert set(drawn) == {"fig-specifications-1", "fig-specifications-2"}
    by_title = {one.figure.x_label: one for one in drawn.values()}
    curve = curves(found.analysis)["specs.shift.b, T=1:a, T=1"]
    [mean] = [
        one
        for title, one in by_title.items()
        if title.startswith("Mean") or "difference of means" in title.casefold()
    ]
    every = [r.estimate for r in mean.figure.rows if r.group.startswith("All combinations")]
    assert every == sorted(every)
    assert len(every) == len([s for s in curve.every if s.verdict != "not estimable"])
    assert mean.figure.rows[0].label == "declared"
    assert mean.figure.rows[0].estimate == pytest.approx(curve.default.estimate)
    assert f"of {len(every)} have the sign and verdict" in mean.caption
    assert mean.figure._repr_png_().startswith(b"\x89PNG")


def test_the_declared_specification_is_the_record_of_the_audit():
    frame = scores(0.2, lost=0.05, wild=0.02, judges="abc", per=2)
    plain = audit(frame, n_resamples=99)
    found = audit(frame, n_resamples=99, specs="yes")
    n = 0
    for claim in ("shift", "gmd"):
        for row in plain[f"{claim}.all"].rows:
            curve = curves(found)[f"specs.{claim}.{row.a}:{row.b}"]
            [own] = rows_of(curve, "default").to_dict("records")
            assert (own["estimate"], own["p"]) == (row.estimate, row.p_adjusted)
            assert (own["low"], own["high"]) == (row.interval.low, row.interval.high)
            among = rows_of(curve, "all")
            assert (among["choice"] == "declared").sum() == 1
            assert among["estimate"].is_monotonic_increasing
            n += 1
    assert n == 6


def test_a_clear_difference_holds_in_every_specification():
    found = audit(scores(1.5, lost=0.03, wild=0.01, per=2), n_resamples=99, specs="yes")
    curve = curves(found)["specs.shift.b, T=1:a, T=1"]
    assert curve.same_share == 1.0
    n = len(curve.decisive)
    assert f"holds in {n} of {n}." in curve.sentence()
    assert next(h for h in found.headlines if h.rests_on[0] == "shift.all").claim == "differs"
    assert set(rows_of(curve, "reveals")["choice"]) == {"cluster"}
    assert set(rows_of(curve, "apart")["choice"]) == {"repeats"}
    assert not {"cluster", "repeats"} & {s.choices[0].key for s in curve.decisive[1:]}


def test_unparsed_verdicts_are_a_category_of_their_own():
    rng = np.random.default_rng(4)
    rows = []
    for i in range(120):
        label = "pass" if rng.random() < 0.5 else "fail"
        for judge, lost in (("a", 0.0), ("b", 0.5)):
            said = label if rng.random() < 0.85 else {"pass": "fail", "fail": "pass"}[label]
            gone = rng.random() < lost
            rows.append(
                {"judge": judge, "temperature": 1.0, "item_id": f"i{i}", "cluster": f"i{i}",
                 "replicate": 0, "verdict": "nonsense" if gone else said, "label": label}
            )  # fmt: skip
    frame = read_judgments(rows, values={"nonsense": "unparsed"})
    found = curves(audit(frame, n_resamples=99, specs="yes"))
    [curve] = found.values()
    assert [s.choices[0].value for s in curve.depends] == ["own category"]


def test_an_unknown_kind_of_curve_is_refused():
    with pytest.raises(InputError, match="specs"):
        audit(scores(), n_resamples=99, specs="all")


def test_the_command_shows_the_curve_and_its_document(table, capsys):
    words = ["analyze", str(table), "--specs", "--scale", "1-10", "--values", "nonsense=unparsed",
             "--track", "none", "--report", "none", "--resamples", "99"]  # fmt: skip
    assert main([*words, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    turned = [s for s in document["specs"] if not s["holds"]]
    assert turned[0]["depends_on"] == ["unparsed"]
    records = [r for r in document["results"]["results"] if r["hypothesis"] == "specs"]
    assert len(records) == len(document["specs"])
    assert main(words) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "Specs Difference of means, b against a: " in shown
    assert "depends on: unparsed policy" in shown


def test_the_joint_test_needs_the_curve(table, capsys):
    assert main(["analyze", str(table), "--joint"]) == 2
    assert "Add --specs" in capsys.readouterr().err
