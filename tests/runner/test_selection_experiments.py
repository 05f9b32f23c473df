"""omega, head_to_tail and grade_score, all the way: what simulated judges do is found again."""

import json

import numpy as np
import pytest

from judgestats.errors import InputError
from judgestats.items import load_bank
from judgestats.runner import BestOfParameters, benchmarks, load_design, run_experiment, source_name
from judgestats.runner.prepare import prepare
from judgestats.simulated.judges import truth
from judgestats.stats.agreement import chance_grade_score
from tests.runner.report_cells import shown_by

SMALL = {"resamples": "99", "report": "none", "crosscheck": "no"}


def declared_are_answered(name, given, analysis):
    plan = prepare(load_design(name), given).plan
    answered = {r.id.split(".")[0] for r in analysis.results}
    # The bank is one benchmark, and its targets are the same for all answers.
    return {h.id for h in plan.hypotheses} - {"benchmark", "accuracy"} <= answered


def true_reliability(judge, units, *, temperature, reasoning):
    """Vote-share reliability of one choice in the population of these items."""
    shares = np.array(
        [
            truth(judge).choice_probabilities(
                [u.item.responses[i].text for i in u.shown],
                temperature=temperature,
                reasoning=reasoning,
            )
            for u in units
        ]
    )
    n = len(shares)
    within = 1 - (shares**2).sum(axis=1).mean()
    between = 1 - ((shares.sum(axis=0) ** 2).sum() - (shares**2).sum()) / (n * (n - 1))
    return 1 - within / between


def test_omega_finds_the_known_reliability_and_agreement(workplace):
    given = {
        **SMALL,
        "judges": "sim-coarse,sim-noisy",
        "temperatures": "0.5,1",
        "repeats": "12",
        "options": "4",
    }
    design = load_design("omega")
    units = next(iter(prepare(design, given).units.values()))
    found = run_experiment(design, given).analysis
    for row in found.conditions.to_dict("records"):
        expected = true_reliability(
            row["judge"], units, temperature=row["temperature"], reasoning="after"
        )
        # The items are the population here, so only the judgments scatter: well inside these.
        assert row["vote_share"] == pytest.approx(expected, abs=0.08), row["condition"]
        assert row["vote_share_null_q95"] < 0.1
        assert row["vote_share_low"] < expected < row["vote_share_high"]
    noisy = found.conditions.set_index("condition").loc["sim-noisy, T=1"]
    assert noisy["unread_share"] > 0
    assert noisy["vote_share_unread_a_category"] != noisy["vote_share"]
    assert declared_are_answered("omega", given, found)
    assert any("could" in t or "gave no verdict" in t for t in found.limitations)


def test_grade_score_finds_position_bias_and_consistency(workplace):
    given = {
        **SMALL,
        "judges": "sim-discerning,sim-always-first",
        "temperatures": "0",
        "prompts": "1,3",
        "options": "3",
        "limit": "12",
        "repeats": "2",
    }
    outcome = run_experiment(load_design("grade_score"), given)
    found = outcome.analysis
    table = found.conditions
    # Items are counted as items, though every rotation was asked for twice.
    assert {found[f"grade.{c}"].sample.n_items for c in table["condition"]} == {12}
    [folder] = workplace.glob(f"mlruns/*/{outcome.run_id}/artifacts")
    tables = {t.label: t for t in shown_by(folder) if hasattr(t, "rows")}
    always_first = [r for r in tables["tbl-places"].rows if r["group"] == "sim-always-first"]
    assert {r["place_1"] for r in always_first} == {1.0}
    described = [t for label, t in tables.items() if label.startswith("tbl-conditions")]
    for key in ("llm_score", "choice_score", "harmonic_of_means", "grade_score", "chance"):
        [shown] = [t for t in described if key in {c.key for c in t.columns}]
        [(text, source), *_] = shown.rows[0][key].parts
        assert source == f"conditions#rows.0.{key}"
        assert float(text) == pytest.approx(table[key].iloc[0], abs=0.006)
    first = table[table["judge"] == "sim-always-first"]
    assert (first["grade_score"] == 0).all()
    steady = table[table["judge"] == "sim-discerning"]
    assert (steady["grade_score"] > 0.85).all()
    assert (
        table.loc[table["factor_unrelated"] == "no", "chance"] - chance_grade_score(3)
    ).abs().max() < 1e-9
    assert (
        table.loc[table["factor_unrelated"] == "yes", "chance"] - chance_grade_score(4)
    ).abs().max() < 1e-9
    # The unrelated option stands first in one of four rotations.
    wins = first.loc[first["factor_unrelated"] == "yes", "unrelated_wins"]
    assert (wins == 0.25).all()
    assert (table["noise"] == 0).all()
    assert found["position.sim-always-first, T=0, prompt=1, unrelated=no"].p_value < 0.05
    assert declared_are_answered("grade_score", given, found)
    published = found["published"].tidy()
    assert (len(published), int(published["impossible"].sum())) == (80, 9)


def test_head_to_tail_finds_the_share_a_judge_calls_correct(workplace):
    given = {**SMALL, "judges": "sim-coarse", "temperatures": "1", "repeats": "10"}
    design = load_design("head_to_tail")
    units = next(iter(prepare(design, given).units.values()))
    found = run_experiment(design, given).analysis
    chances = [
        truth("sim-coarse").choice_probabilities(
            [u.item.responses[u.shown[0]].text, "option 1 of a prompt without marks"],
            temperature=1.0,
        )[0]
        for u in units
    ]
    [row] = found.conditions.to_dict("records")
    assert not {"accuracy", "right"} & {r.key for r in found.rows}  # no person has checked
    assert row["as_judged"] == pytest.approx(np.mean(chances), abs=0.06)
    spread = np.sqrt(np.mean(np.array(chances) * (1 - np.array(chances))) / len(units) / 10)
    assert row["as_judged_se_replications"] == pytest.approx(spread, rel=0.8)
    assert row["as_judged_low"] < np.mean(chances) < row["as_judged_high"]
    published = found["published"].tidy().set_index("judge")
    columns = ["accuracy as judged (A_LM)", "its standard error", "omega"]
    assert published.loc["google/gemma-1.1-7b-it", columns].tolist() == [
        ".0395",
        ".00033",
        ".9893",
    ]


def test_answers_come_from_a_file_and_targets_are_matched(workplace):
    questions = {
        "examples": [
            {"input": f"Is {i} even?", "target": "yes" if i % 2 == 0 else "no"} for i in range(8)
        ]
    }
    (workplace / "parity.json").write_text(json.dumps(questions))
    rows = []
    for i in range(8):
        right, wrong = ("yes", "no") if i % 2 == 0 else ("no", "yes")
        for model, said in (("m1", right), ("m2", wrong), ("sim-typical", f"I say {right}.")):
            rows.append({"item_id": f"parity-{i + 1}", "model": model, "answer": said})
    (workplace / "answers.jsonl").write_text("\n".join(json.dumps(r) for r in rows))
    given = {
        **SMALL,
        "items": "bbh:parity.json",
        "answers": "answers.jsonl",
        "judges": "sim-typical",
        "temperatures": "1",
        "repeats": "4",
    }
    found = run_experiment(load_design("omega"), given).analysis
    [row] = found.conditions.to_dict("records")
    assert row["answers_right"] == pytest.approx(2 / 3)
    assert 0 <= row["chosen_right"] <= 1
    assert any("judge and answerer are the same model" in text for text in found.limitations)
    with pytest.raises(InputError, match="fewer than two answers"):
        prepare(load_design("omega"), {**given, "answers": ""})


def test_items_of_several_sources_become_benchmarks(workplace):
    items = benchmarks(BestOfParameters.read({"items": "bank", "per_category": "1"}))
    assert len(items) == len({i.category for i in load_bank()})
    assert {i.category for i in items} == {"bank"}
    assert source_name("bbh:some/where/x.json,mt_bench:there/mt") == "x.json, mt"


def test_a_second_run_asks_nothing_and_a_dry_run_sends_nothing(workplace, capsys):
    given = {
        **SMALL,
        "judges": "sim-typical",
        "prompts": "1",
        "distractor": "no",
        "limit": "4",
        "options": "3",
    }
    design = load_design("grade_score")
    assert run_experiment(design, {**given, "dry_run": "true"}) is None
    assert "Nothing was sent" in capsys.readouterr().out
    run_experiment(design, given)
    again = run_experiment(design, given)
    [folder] = workplace.glob(f"mlruns/*/{again.run_id}/artifacts")
    account = json.loads((folder / "results.json").read_text())["facts"]["account"]
    assert (account["requests"], account["cached"]) == (0, 12)


@pytest.mark.parametrize(("name", "tasks"), [("omega", 48000), ("grade_score", 13840)])
def test_the_paper_preset(workplace, name, tasks):
    given = {"preset": "paper", "base_url": "http://localhost:8000/v1", "items": "bank"}
    given["dry_run"] = "true"  # no key is needed
    if name == "omega":
        given["per_category"] = "all"
    assert len(prepare(load_design(name), given).tasks) == tasks
