"""LLMasJudge re-examined: published numbers are reproduced, planted effects found, nulls left."""

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from judgestats.errors import InputError
from judgestats.runner import load_design, run_replication
from judgestats.studies import Claim, Options, load_study, study_names
from judgestats.studies.llmasjudge_data import read_llmasjudge

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "llmasjudge"
QUICK = Options(n_resamples=199)
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the shared data folder is absent")


@pytest.fixture(scope="module")
def published():
    if not DATA.is_dir():
        pytest.skip("the shared data folder is absent")
    return {c.id: c for c in load_study("llmasjudge").examine(DATA, QUICK).claims}


def result(claim, identity):
    return next(r.result for r in claim.results if r.id == identity)


@needs_data
def test_every_claim_has_a_row_and_those_without_data_say_so(published):
    assert len(published) == 12
    missing = {k for k, c in published.items() if not c.is_examined}
    assert {"reasoning_before", "reasoning_after", "alignment_methods"} <= missing
    for claim in published.values():
        assert claim.test_then
        assert claim.test_now
        assert claim.because
        assert bool(claim.results) == claim.is_examined


@needs_data
def test_the_studys_own_numbers_are_reproduced(published):
    # Variances that are equal on paper differ in their last digit, which scipy ranks.
    as_given = pd.read_csv(DATA / "temperature_variances.csv.gz")
    frame = as_given.round({"variance": 9})
    for judge, own in frame.groupby("judge"):
        rho, _ = stats.spearmanr(own["temperature"], own["variance"])
        ours = result(published["temperature"], f"temperature.then.{judge}")
        assert ours.effect.estimate == pytest.approx(rho, abs=1e-9)
        assert ours.p_value < 1e-4  # as published
    at = as_given[as_given["temperature"] == 0.6]
    groups = [g["variance"].to_numpy() for _, g in at.groupby("judge", sort=False)]
    ours = result(published["judges"], "judges.then.kruskal.T=0.6")
    assert ours.p_value == pytest.approx(stats.kruskal(*groups).pvalue, rel=1e-9)


@needs_data
def test_the_verdicts_on_the_published_data(published):
    verdicts = {k: c.verdict for k, c in published.items()}
    assert verdicts["temperature"] == "stands"
    assert verdicts["judges"] == "stands in part"  # T = .8 lacks items of one judge
    assert "T=0.8: not pairable" in published["judges"].because
    assert "Above T = 0" in published["temperature"].because
    assert "Mann-Whitney at T=0.6" in published["judges"].reproduced
    assert verdicts["small_variance"] == "stands"  # above T = 0, where it is not so by construction
    assert verdicts["guidelines"] == "open"  # neither a difference nor equality is shown
    assert verdicts["distribution"] == "does not stand"


def variances(rng, mean, n=80):
    return (rng.gamma(1.5, mean / 1.5, size=n)).tolist()


@pytest.fixture
def authors(tmp_path):
    """The authors' layout with planted effects: before x 4, after equal, one array short."""
    rng = np.random.default_rng(5)

    def write(name, content, file="combined_results.json"):
        folder = tmp_path / "results" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(json.dumps(content), encoding="utf-8")

    def cell(values):
        return {"individual_variances": values, "average_variance": float(np.mean(values))}

    base = variances(rng, 0.2)
    jitter = [(np.array(base) * rng.uniform(0.9, 1.1, 80)).tolist() for _ in range(6)]
    judges = ("gpt-3.5-turbo", "gpt-4o-mini", "gpt-4o")
    results = {
        t: {
            j: cell(np.multiply(base, f * g).tolist())
            for j, g in zip(judges, (2, 1, 3), strict=True)
        }
        for t, f in (("0.3", 1.0), ("0.5", 1.1), ("1.0", 2.0))
    }
    results["1.0"]["gpt-4o-mini"] = cell(variances(rng, 0.4, n=70))
    write("exp1b", {"experiment": "1b", "results": results})
    write("exp2a", {"results": {t: cell((4 * np.array(jitter[0])).tolist()) for t in results}})
    write("exp2b", {"results": {t: cell(jitter[1]) for t in results}})
    write("exp3b", {"results": {t: {"gpt-4o-mini": cell(jitter[2])} for t in ("0.3", "0.5")}})
    raw = {}
    for name, factor in (("exp1c", (1, 1, 1)), ("exp1c_reasoning", (1, 6, 1))):
        raw[name] = {
            t: {
                j: {
                    "raw_scores": [
                        np.round(7 + np.sqrt(f) * rng.normal(size=60 - i % 3), 3).tolist()
                        for i in range(30)
                    ]
                }
                for j, f in zip(judges, factor, strict=True)
            }
            for t in ("0.3", "1.0")
        }
    write("exp1c", {"results": raw["exp1c"]})
    write("exp1c_reasoning", {"results": raw["exp1c_reasoning"]}, "combined_results_reasoning.json")
    credit = rng.choice([0, 0.5, 1], p=[0.1, 0.2, 0.7], size=400)
    worse = np.where(rng.random(400) < 0.3, 0.5, credit)
    tie = rng.choice([0.5, 1], p=[0.8, 0.2], size=400)
    scores = {
        "pairwise_baseline": worse,
        "pairwise_no_reasoning": credit,
        "no_reasoning_temps": {f"temp_{t}": credit for t in (0.0, 0.2)},
        "with_reasoning_temps": {"temp_0.0": credit, "temp_0.2": worse},
        "additional_methods": {
            "always_tie": tie,
            "random": rng.choice([0, 0.5, 1], size=400),
            "gpt4o_mini_basic": credit,
            "gpt4o_mini_reasoning": worse,
            "gpt4o_mini_10trials": np.roll(credit, 1),
        },
    }

    def plain(value):
        if isinstance(value, dict):
            return {k: plain(v) for k, v in value.items()}
        return value.tolist()

    write("exp4a", {"intermediate_scores": plain(scores)})
    return tmp_path


@pytest.fixture
def examined(authors):
    found = load_study("llmasjudge").examine(authors, QUICK)
    return {c.id: c for c in found.claims}


def test_planted_effects_in_the_authors_layout_are_found(examined):
    before = examined["reasoning_before"]
    assert before.verdict == "stands"
    [row] = result(before, "reasoning_before.now.ratio").rows
    assert row.interval.low < 4 < row.interval.high * 1.1
    assert examined["reasoning_after"].verdict == "stands"  # equal, and shown to be
    interaction = result(examined["reasoning_judges"], "reasoning_judges.now.T=1")
    ratios = {(r.a, r.b): r.estimate for r in interaction.rows}
    assert ratios["gpt-4o-mini", "gpt-3.5-turbo"] == pytest.approx(6, rel=0.25)
    # It differs at .3 as well, which the claim denies.
    assert examined["reasoning_judges"].verdict == "stands in part"


def write_raw(folder, factor, *, wavering=60):
    """Raw scores at T = .3 and 1 in the authors' layout; `factor` multiplies variances at T = 1."""
    rng = np.random.default_rng(11)
    for name, treated in (("exp1c", False), ("exp1c_reasoning", True)):
        results = {}
        for t in ("0.3", "1.0"):
            cells = {}
            for j, f in zip(("gpt-3.5-turbo", "gpt-4o-mini", "gpt-4o"), factor, strict=True):
                scale = np.sqrt(f) if treated and t == "1.0" else 1.0
                draws = 7 + scale * rng.normal(size=(40, wavering))
                cells[j] = {"raw_scores": draws.round(3).tolist()}
            results[t] = cells
        (folder / name).mkdir(parents=True)
        (folder / name / "combined_results.json").write_text(json.dumps({"results": results}))


@pytest.mark.parametrize(
    ("factor", "verdict"),
    [
        ((1, 6, 1), "stands"),  # gpt-4o-mini most at T = 1, all alike at .3
        ((6, 1, 6), "stands in part"),  # alike at .3, but gpt-4o-mini is changed least at T = 1
        ((6, 6, 1), "stands in part"),  # more than one of the others only
    ],
)
def test_the_claim_on_reasoning_by_judge_has_its_parts(tmp_path, factor, verdict):
    write_raw(tmp_path, factor)
    found = load_study("llmasjudge").examine(tmp_path, QUICK)
    [claim] = [c for c in found.claims if c.id == "reasoning_judges"]
    assert claim.verdict == verdict, claim.because
    assert "shown to be changed alike at T=0.3" in claim.because


def test_a_sparse_folder_is_examined_as_far_as_it_goes(tmp_path):
    """Two temperatures, arrays of unequal length, one raw cell that never varies: no traceback."""
    rng = np.random.default_rng(0)

    def write(name, results):
        (tmp_path / name).mkdir()
        (tmp_path / name / "combined_results.json").write_text(json.dumps({"results": results}))

    def cell(n):
        return {"gpt-4o-mini": {"individual_variances": variances(rng, 0.2, n=n)}}

    write("exp1b", {"0.0": cell(80), "0.5": cell(79)})
    write("exp3b", {"0.5": cell(78)})
    write("exp1c", {"0.5": {"gpt-4o-mini": {"raw_scores": [[8] * 20] * 5}}})
    claims = {c.id: c for c in load_study("llmasjudge").examine(tmp_path, QUICK).claims}
    assert claims["temperature"].verdict == claims["guidelines"].verdict == "open"
    assert "complete arrays" in claims["guidelines"].because
    assert claims["distribution"].verdict == "not examined"
    assert claims["small_variance"].verdict == "not examined"
    assert claims["reasoning_before"].verdict == "not examined"


def test_damaged_alignment_scores_are_left_out_and_named(tmp_path):
    rng = np.random.default_rng(1)
    credit = rng.choice([0, 0.5, 1], size=50).tolist()
    scores = {
        "pairwise_no_reasoning": credit,
        "pairwise_baseline": credit[:40],
        "no_reasoning_temps": {"temp_0.0": credit, "warm": credit},
        "with_reasoning_temps": {"temp_0.0": ["good"]},
        "additional_methods": {
            "always_tie": [0.5] * 50, "random": [7.0] * 50, "gpt4o_mini_basic": credit,
            "gpt4o_mini_reference": [], "gpt4o_mini_reasoning": [[1.0]],
            "gpt4o_mini_reasoning_after": 1.0, "gpt4o_mini_10trials": [None],
        },
    }  # fmt: skip
    (tmp_path / "exp4a").mkdir()
    (tmp_path / "exp4a" / "combined_results.json").write_text(
        json.dumps({"intermediate_scores": scores})
    )
    found = load_study("llmasjudge").examine(tmp_path, QUICK)
    told = " ".join(found.limitations)
    for name in ("random", "reference", "reasoning", "reasoning_after", "10trials"):
        assert f"{name} holds something else than scores of 0 to 1" in told
    assert "warm is no temperature" in told
    [claim] = [c for c in found.claims if c.id == "alignment_methods"]
    assert "Of another length, not comparable by pair: pairwise, reasoning (40)" in claim.because


def test_alignment_claims(examined):
    assert examined["alignment_methods"].verdict == "stands"
    assert examined["alignment_temperature_before"].verdict == "stands"
    nothing = examined["alignment_temperature_none"]  # the very same scores at both temperatures
    assert nothing.verdict != "does not stand"
    assert examined["more_trials"].verdict in {"open", "stands"}


def test_a_short_array_is_never_aligned_by_index(examined, authors):
    # Two complete temperatures are left of that judge: no trend over three.
    assert not [r for r in examined["temperature"].results if r.id.endswith("f.gpt-4o-mini")]
    claim = load_study("llmasjudge").examine(authors, QUICK)
    assert any("gpt-4o-mini at T=1 (70)" in text for text in claim.limitations)


def test_ragged_scores_keep_their_items(authors):
    table = read_llmasjudge(authors).raw["none"][0.3, "gpt-4o"]
    assert table.shape == (30, 60)
    assert np.isnan(table[1, 59:]).all()
    assert not np.isnan(table[0]).any()


def test_wrong_folders_and_files_are_told_apart(tmp_path):
    with pytest.raises(InputError, match="no folder"):
        read_llmasjudge(tmp_path / "absent")
    with pytest.raises(InputError, match="holds neither"):
        read_llmasjudge(tmp_path)
    (tmp_path / "exp1b").mkdir()
    (tmp_path / "exp1b" / "combined_results.json").write_text("{not json", encoding="utf-8")
    with pytest.raises(InputError, match="no JSON"):
        read_llmasjudge(tmp_path)
    (tmp_path / "exp1b" / "combined_results.json").write_text(
        '{"results": {"0.5": {"gpt-4o": {"individual_variances": ["x"]}}}}', encoding="utf-8"
    )
    assert "something else than numbers" in read_llmasjudge(tmp_path).left_out[0]


def test_the_registry_names_its_studies():
    assert "llmasjudge" in study_names()
    with pytest.raises(InputError, match="no study 'nobody'"):
        load_study("nobody")
    with pytest.raises(InputError, match="verdict must be one of"):
        Claim("x", "c", published="p", test_then="t", test_now="n", verdict="true")
    claim = Claim(id="x", claim="c", published="p", test_then="t", test_now="n")
    assert not claim.not_examined("m").is_examined


def test_the_entry_point_logs_a_run_of_its_kind(workplace, authors, capsys):
    given = {"data": str(authors), "report": "none", "resamples": "199"}
    analysis = run_replication(load_design("replicate"), given).analysis
    said = capsys.readouterr().out
    assert "No judge is called" in " ".join(said.split())
    assert max(map(len, said.partition("Claims:")[0].splitlines())) <= 100
    assert "HOLDS" in said
    [results] = workplace.glob("mlruns/*/*/artifacts/results.json")
    content = json.loads(results.read_text())
    assert content["kind"] == "replication"
    assert len(content["facts"]["claims"]) == 12
    assert content["finding"] == analysis.finding
    assert {"primary", "secondary", "replicated"} <= {r["role"] for r in content["results"]}
    ids = [r["id"] for r in content["results"]]
    assert len(ids) == len(set(ids))
    plan = json.loads((results.parent / "plan.json").read_text())
    assert {h["id"] for h in plan["hypotheses"]} <= {i.split(".")[0] for i in ids}
    assert math.isfinite(analysis.metrics["claims/stands"])
