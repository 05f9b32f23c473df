"""Public judgments re-examined: numbers made by hand, real data where they are, and the pages."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

from judgestats.errors import InputError
from judgestats.runner import load_design, run_replication
from judgestats.studies import Claim, Options, load_study, study_names
from judgestats.studies.people_sets import macro_f1, read_labels
from judgestats.studies.rewardbench2 import FULL, JudgeScores, read_scores

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared" / "data"
QUICK = Options(n_resamples=99)
real = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data are not here")


def claims_of(name: str, folder: Path) -> dict[str, Claim]:
    return {c.id: c for c in load_study(name).examine(folder, QUICK).claims}


def pages() -> object:
    spec = importlib.util.spec_from_file_location("findings", ROOT / "docs" / "build_findings.py")
    assert spec is not None
    assert spec.loader is not None
    build = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build)
    return build


def test_every_study_has_its_page_and_the_pages_are_what_the_records_say() -> None:
    build = pages()
    assert set(build.TOLD) >= set(study_names())
    for path, text in build.pages(draw=False).items():
        assert path.read_text(encoding="utf-8") == text, path.name


def test_a_tie_is_credit_shared_or_an_error() -> None:
    scores = np.array([[[7, 7], [7, 6], [1, 1]], [[5, 5], [6, 6], [1, 1]]], dtype=float)
    asked = JudgeScores(scores=scores, questions=(("a", "1"), ("a", "2")))
    assert asked.credit(1, ties=False).tolist() == [0.0, 0.0]
    assert asked.credit(1).tolist() == [0.75, 0.0]  # a tie in the first repeat, right in the second
    assert asked.credit(2).tolist() == [1.0, 0.0]
    assert (asked.tied(1), asked.tied(2)) == (0.5, 0.0)


def test_an_unread_score_is_no_score() -> None:
    scores = np.array([[[7, np.nan], [7, 6]], [[np.nan, np.nan], [1, 2]]])
    asked = JudgeScores(scores=scores, questions=(("a", "1"), ("a", "2")))
    assert asked.credit(2)[0] == 1.0
    assert np.isnan(asked.credit(2)[1])


def test_scores_of_a_folder_are_checked(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no base_both_k8"):
        read_scores(tmp_path, QUICK)
    row = {"id": "1", "subset": "Math", "full_scores": [1, 2], "mini_scores": [[1], [2]]}
    (tmp_path / "base_both_k8.jsonl").write_text(json.dumps(row) + "\n")
    with pytest.raises(InputError, match="full_scores must be answers x repeats"):
        read_scores(tmp_path, QUICK)


@real
def test_eight_scores_as_printed_and_with_ties_shared() -> None:
    claims = claims_of("rewardbench2_k8", SHARED / "rewardbench2_k8")
    assert "71.7% at k = 1, 81.5% at k = 8: +9.8 points" in claims["full"].reproduced
    assert claims["full"].verdict == "stands in part"
    assert "72.5% at k = 1, 77.1% at k = 8" in claims["at_zero"].reproduced
    assert claims["nano"].verdict == "does not stand"
    assert claims["smaller"].verdict == claims["where"].verdict == "stands"


def test_shuffled_scores_gain_nothing_by_repeats(tmp_path: Path) -> None:
    """Where every answer is scored alike, eight scores are right a quarter of the time."""
    rng = np.random.default_rng(3)
    rows = [
        {"id": str(i), "subset": "s", "full_scores": rng.integers(5, 9, (4, 8)).tolist(),
         "mini_scores": rng.integers(5, 9, (4, 8)).tolist()}
        for i in range(400)
    ]  # fmt: skip
    (tmp_path / "base_both_k8.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    claims = claims_of("rewardbench2_k8", tmp_path)
    assert claims["full"].verdict == "does not stand"
    assert claims["smaller"].verdict == "open"
    assert claims["nano"].verdict == "not examined"
    asked = read_scores(tmp_path, QUICK)[FULL, 1.0]
    assert abs(float(asked.credit(1).mean()) - 0.25) < 0.02
    counted = float(asked.credit(8, ties=False).mean() - asked.credit(1, ties=False).mean())
    assert counted > 0.02  # what ties counted as errors make of nothing


def test_macro_f1_is_the_mean_of_three() -> None:
    assert macro_f1(["1", "1", "2", "0"], ["1", "2", "2", "0"]) == pytest.approx(
        (1.0 + 2 / 3 + 2 / 3) / 3
    )
    assert macro_f1(["1", "2"], ["", ""]) == 0.0


def test_labels_of_people_must_be_outcomes(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text(
        "idx,annotator1,annotator2,annotator3,gpt35,pandalm7b\n0,1,2,5,1,Tie\n"
    )
    with pytest.raises(InputError, match="an annotator's label is none of 0, 1, 2"):
        read_labels(tmp_path, QUICK)
    (tmp_path / "labels.csv").write_text(
        "idx,annotator1,annotator2,annotator3,gpt35,pandalm7b\n0,1,2,0,what?,Tie\n"
    )
    labels = read_labels(tmp_path, QUICK)
    assert labels.gold.tolist() == ["0"]
    assert [x.tolist() for x in labels.judges.values()] == [["0"], [""]]


@real
def test_the_printed_ratio_of_pandalm_is_not_met() -> None:
    claims = claims_of("pandalm", SHARED / "pandalm")
    assert claims["ratio"].verdict == "does not stand"
    assert claims["ratio"].reproduced.startswith("99.8%")
    assert claims["people"].reproduced == ".852, .879, .862"
    assert claims["replaces"].verdict == "does not stand"


def test_a_study_without_an_address_says_where_its_data_are(workplace, capsys) -> None:
    given = {"study": "rewardbench2_k8", "report": "none"}
    run_replication(load_design("replicate"), given)
    said = capsys.readouterr().out
    assert "--study rewardbench2_k8 --data FOLDER" in said
    assert "your copy, from Composo" in said
    assert "It holds base_both_k8.jsonl.gz" in said
    assert "items fetch" not in said


def test_llmbar_takes_apart_right_and_consistent(tmp_path: Path) -> None:
    """A judge that always gives the wrong answer agrees with itself."""
    rows = ["set,item,label,llm,strategy,winner_orig,winner_swap"]
    for i in range(40):
        for llm, one, two in (("wrong", 2, 2), ("right", 1, 1), ("first", 1, 2)):
            rows.append(f"LLMBar/Adversarial/Manual,{i},1,{llm},Vanilla,{one},{two}")
        rows.append(f"LLMBar/Natural,{i},1,wrong,Vanilla,1,1")
    (tmp_path / "verdicts.csv").write_text("\n".join(rows) + "\n")
    claims = claims_of("llmbar", tmp_path)
    assert claims["consistent"].verdict == "does not stand"
    assert "it is wrong in both orders in 100.0%" in claims["consistent"].because
    assert claims["best"].verdict == claims["swap"].verdict == "not examined"
    (tmp_path / "verdicts.csv").write_text("\n".join([*rows, rows[-1]]) + "\n")
    with pytest.raises(InputError, match="a pair occurs twice"):
        claims_of("llmbar", tmp_path)


@real
def test_llmbar_as_printed() -> None:
    claims = claims_of("llmbar", SHARED / "llmbar")
    assert (
        claims["best"].reproduced == "Metrics_Reference 82.8%, Vanilla_NoRules 73.1%, Vanilla 80.8%"
    )
    assert [c.verdict for c in claims.values()].count("stands") == 4


def _verdicts(path: Path, told: dict[str, str]) -> None:
    """Two judges: one that picks the place, one that picks the answer, three repetitions."""
    rows = ["bench,judge,rep,cmp_index,ans"]
    for q in range(12):
        for rep in (1, 2, 3):
            for one, two in (("x", "y"), ("y", "x")):
                for judge, picks in told.items():
                    ans = picks if picks != "x" else ("A" if one == "x" else "B")
                    rows.append(f"Own,{judge},{rep},q{q};{one};{two},{ans}")
    path.write_text("\n".join(rows) + "\n")


def test_position_is_what_order_adds_to_repetition(tmp_path: Path) -> None:
    _verdicts(tmp_path / "repetition_verdicts.csv", {"place": "A", "answer": "x"})
    found = load_study("position_bias").examine(tmp_path, QUICK)
    cells = found.conditions.set_index("judge")
    assert cells.loc["place", "position_effect"] == 1.0
    assert cells.loc["answer", "position_effect"] == 0.0
    assert cells["repetition_noise"].tolist() == [0.0, 0.0]
    claims = {c.id: c for c in found.claims}
    assert claims["stable"].verdict == "stands"
    assert claims["position"].verdict == "stands in part"
    assert "The position effect is significant in 1 of 2 cells" in claims["position"].because
    _verdicts(tmp_path / "repetition_verdicts.csv", {"place": "D"})
    with pytest.raises(InputError, match="'D' is none of A, B, C"):
        claims_of("position_bias", tmp_path)


@real
def test_the_position_of_nine_judges() -> None:
    claims = claims_of("position_bias", SHARED / "position_bias")
    assert claims["inflated"].verdict == "does not stand"
    assert claims["stable"].reproduced == ".639 to .972"


def _people(folder: Path, labels: np.ndarray) -> None:
    rows = ["item,annotator,label"]
    rows += [f"{i},h{k},{label}" for i, own in enumerate(labels) for k, label in enumerate(own)]
    (folder / "framing_human.csv").write_text("\n".join(rows) + "\n")


def test_people_who_agree_pass_in_a_judges_place(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 3, (300, 1))
    _people(tmp_path, np.broadcast_to(truth, (300, 4)))
    claims = claims_of("alt_test", tmp_path)
    assert claims["people"].verdict == claims["modest"].verdict == "stands"
    assert claims["clusters"].verdict == "not examined"
    odd = np.where(rng.random((300, 4)) < 0.5, rng.integers(0, 3, (300, 4)), truth)
    odd[:, 0] = rng.integers(0, 3, 300)
    _people(tmp_path, odd)
    assert "Narrative framing 3 of 4" in claims_of("alt_test", tmp_path)["people"].because


def test_the_authors_folders_are_read_too(tmp_path: Path) -> None:
    own = tmp_path / "data" / "framing"
    own.mkdir(parents=True)
    labels = {f"h{k}": {str(i): "yes" if i % 3 else "no" for i in range(60)} for k in range(3)}
    (own / "human_annotations.json").write_text(json.dumps(labels))
    assert "Narrative framing 3 of 3" in claims_of("alt_test", tmp_path)["people"].because
    (own / "human_annotations.json").write_text("[1]")
    with pytest.raises(InputError, match=r"expected \{annotator"):
        claims_of("alt_test", tmp_path)


@real
def test_no_annotator_of_cebab_stars_passes() -> None:
    claims = claims_of("alt_test", SHARED / "alt_test")
    assert "CEBaB stars 0 of 10" in claims["people"].because
    assert claims["clusters"].verdict == "stands"


def _arena(path: Path, judge_right: float, n: int = 300) -> None:
    rng = np.random.default_rng(7)
    rows = []
    for i in range(n):
        first, people = bool(rng.integers(2)), "AB"[rng.random() < 0.4]
        pick = people if rng.random() < judge_right else "AB"[people == "A"]
        rows.append(
            {"id": str(i), "model_a": "m" if first else "k", "model_b": "k" if first else "m",
             "human_winner": f"model_{people.lower()}", "judge_pick": pick}
        )  # fmt: skip
    path.write_text(json.dumps(rows))


def test_a_judge_like_people_has_their_win_rate(tmp_path: Path) -> None:
    _arena(tmp_path / "pairs.json", 1.0)
    claims = claims_of("arena_pairs", tmp_path)
    assert claims["same"].verdict == "open"
    assert claims["mended"].verdict == "stands"
    rows = json.loads((tmp_path / "pairs.json").read_text())
    (tmp_path / "pairs.json").write_text(json.dumps([rows[0] | {"judge_pick": "maybe"}]))
    with pytest.raises(InputError, match="judge_pick 'maybe' is not A or B"):
        claims_of("arena_pairs", tmp_path)


@real
def test_the_arena_judge_is_not_people() -> None:
    claims = claims_of("arena_pairs", SHARED / "arena_pairs")
    assert "significant in 2 of 3 files" in claims["same"].because
    assert claims["mended"].verdict == "stands"
    assert claims["first"].because.startswith("The judge picks the first position in 56.5")
