"""A gate cannot be turned round, and takes every name that a screen shows."""

from __future__ import annotations

import functools
import json

import numpy as np
import pandas as pd
import pytest

import judgestats as js
from judgestats.cli import main
from judgestats.data import demo_judgments
from judgestats.errors import InputError
from judgestats.pytest_plugin import held_judge
from judgestats.results import (
    Results,
    distinguishable,
    name_of,
    quantity_of_row,
    read_requirements,
    write_results,
)


def scores() -> pd.DataFrame:
    """One judge whose repeats move by half a point, and one whose repeats move by 1.5."""
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        [
            {"item": i, "judge": judge, "repeat": r, "score": float(np.round(level + noise, 1))}
            for judge, sem in (("better", 0.5), ("worse", 1.5))
            for i, level in enumerate(rng.uniform(3, 8, 60))
            for r, noise in enumerate(rng.normal(0, sem, 4))
        ]
    )


def verdicts(*, labels: bool) -> pd.DataFrame:
    """Pass / fail verdicts, asked three times."""
    rng = np.random.default_rng(2)
    rows = []
    for i in range(60):
        right = "pass" if rng.random() < 0.6 else "fail"
        for r in range(3):
            wrong = rng.random() < 0.15
            said = {"pass": "fail", "fail": "pass"}[right] if wrong else right
            rows.append({"item": i, "repeat": r, "verdict": said, "label": right})
    return pd.DataFrame(rows).drop(columns=[] if labels else ["label"])


def labelled_scores() -> pd.DataFrame:
    return scores().assign(label=lambda f: (f["item"] * 7 % 5 + 3).astype(float))


def pairs() -> pd.DataFrame:
    """Verdicts on pairs, each in both orders."""
    rng = np.random.default_rng(4)
    return pd.DataFrame(
        [
            {"item": i, "model_a": "x", "model_b": "y", "order": order, "repeat": r,
             "winner": "model_a" if (i % 3 > 0) ^ (rng.random() < 0.2) else "model_b"}
            for i in range(40)
            for order in ("ab", "ba")
            for r in range(2)
        ]
    )  # fmt: skip


SCREENS = {
    "demo": demo_judgments,
    "scores": scores,
    "labelled scores": labelled_scores,
    "pass and fail": functools.partial(verdicts, labels=False),
    "labels": functools.partial(verdicts, labels=True),
    "pairs": pairs,
}


@functools.cache
def results_of(name: str) -> Results:
    return js.audit(SCREENS[name](), n_resamples=99).run.records


@pytest.mark.parametrize("name", SCREENS)
def test_every_name_that_a_screen_shows_can_be_required(name) -> None:
    """Its label, its short label, its key, its coefficient; and what was not parsed."""
    results = results_of(name)
    assert results.rows
    names = [("unparsed", "lower")]
    for row in distinguishable(results.rows):
        better = quantity_of_row(row).better
        shown = {row.ask, row.short, row.key, row.estimand, name_of(row.estimand)}
        names += [(called, better) for called in shown if called and "," not in called]
    for called, better in names:
        right, wrong = (">=", "<=") if better == "higher" else ("<=", ">=")
        number = "2" if "ean" in called else ".5"
        required = [f"{called}{right}{number}"]
        assert read_requirements(required, results), called
        verdicts = js.check(_Held(results), require=required).verdicts
        assert any(v.requirements[0].status != "not_measured" for v in verdicts), called
        if better in {"higher", "lower"}:
            with pytest.raises(InputError, match="would pass the worst judge"):
                read_requirements([f"{called}{wrong}.5"], results)


class _Held:
    """Results as a finding holds them."""

    def __init__(self, results: Results) -> None:
        self.run = self
        self.records = results


def test_check_and_analyze_refuse_the_side_that_passes_the_worse_judge(
    tmp_path, capsys, monkeypatch
) -> None:
    """``sem>=.5`` passed the judge with an SEM of 1.5 and failed the other."""
    monkeypatch.chdir(tmp_path)
    scores().to_csv("s.csv", index=False)
    write_results(tmp_path / "results.json", results_of("scores"))
    right = "so sem>=.75 would pass the worst judge. Write sem=.75 (at most .75)."
    plain = ["analyze", "s.csv", "--report", "none", "--track", "none", "--resamples", "99"]
    for words in (["check", str(tmp_path)], ["check", "s.csv"], plain):
        assert main([*words, "--require", "sem>=.75"]) == 2
        assert right in " ".join(capsys.readouterr().err.split())
    assert main(["check", str(tmp_path), "--require", "sem=.75,unread=.2", "--json"]) == 1
    verdicts = json.loads(capsys.readouterr().out)["verdicts"]
    status = {(r["key"], v["subject"]["label"]): r["status"]
              for v in verdicts for r in v["requirements"]}  # fmt: skip
    assert status == {
        ("sem", "better"): "holds", ("sem", "worse"): "fails",
        ("unparsed_share", "better"): "holds", ("unparsed_share", "worse"): "holds",
    }  # fmt: skip
    assert main([*plain, "--require", "unparsed=.02"]) == 0
    assert capsys.readouterr().out.startswith("CANNOT TELL")  # 60 items do not show .02
    assert main([*plain, "--require", "unpased<=.02"]) == 2
    assert "Did you mean unparsed?" in capsys.readouterr().err


def test_a_bound_is_refused_before_a_judge_is_asked(workplace, capsys) -> None:
    words = ["run", "temperature", "--judges", "sim-typical", "--limit", "4", "--report", "none"]
    assert main([*words, "--require", "sem>=.5"]) == 2
    told = capsys.readouterr().err
    assert "Write sem=.5 (at most .5)." in told
    assert "Judging" not in told


def test_the_fixture_takes_the_same_names_and_refuses_the_same_side() -> None:
    frame = verdicts(labels=False)
    many = pd.concat([frame.assign(item=frame["item"] + 60 * k) for k in range(4)])
    held_judge(many, require="reliability=.3,unparsed=.02", n_resamples=99)
    with pytest.raises(InputError, match=r"Write reliability=.8 \(at least .8\)"):
        held_judge(frame, require="reliability<=.8", n_resamples=99)
    with pytest.warns(DeprecationWarning, match="require"):
        held_judge(many, min={"reliability": 0.3}, max={"unread": 0.02}, n_resamples=99)
