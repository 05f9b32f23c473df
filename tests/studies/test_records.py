"""`replicate` answers from the package, and on the authors' folder or zip as it is."""

import json
import zipfile

import numpy as np
import pytest

from judgestats.errors import InputError
from judgestats.runner import load_design, run_replication
from judgestats.studies import Options, load_study, records, study_names
from judgestats.studies.records import ABOUT, examined, shipped_records
from judgestats.studies.schroeder2024_data import application, read_application
from tests.studies.test_schroeder2024 import JUDGES, authors_json

NAMES = ("Nexusflow_Starling-LM-7B-beta", "google_gemma-1.1-7b-it")


@pytest.mark.parametrize("name", study_names())
def test_records_ship_with_their_source_and_no_row_of_the_data(tmp_path, name):
    about = shipped_records(name, tmp_path)
    assert "records that ship" in about["source"]
    assert all(len(digest) == 64 for digest in about["digests"].values())
    assert len(about["claims"]) >= 3
    files = {p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*") if p.is_file()}
    assert files == {
        ABOUT,
        "plan.json",
        "results.csv",
        "results.json",
        "tables/claims.csv",
        "tables/conditions.csv",
        "tables/results.csv",
    }


def test_a_fresh_machine_sees_the_re_examination(workplace, capsys):
    given = {"study": "schroeder2024", "report": "none"}
    shown = run_replication(load_design("replicate"), given).analysis
    assert shown.records().finding.startswith("Of 8 claims:")
    assert len(shown.conditions) == 45
    said = capsys.readouterr().out
    assert "records that ship" in said
    assert "44 of 45" in said
    assert "A_LM .0396, .0395, .0395: 3 of 3 as printed" in said
    assert "judgestats items fetch schroeder2024" in said
    [results] = workplace.glob("mlruns/*/*/artifacts/results.json")
    assert json.loads(results.read_text(encoding="utf-8"))["kind"] == "replication"
    with pytest.raises(InputError, match="seed: without data= the records"):
        run_replication(load_design("replicate"), {"seed": "1"})


def test_the_authors_zip_is_taken_as_it_is(tmp_path):
    inner = authors_json(tmp_path / "full_judgments", judges=JUDGES[:1], replications=8)
    (tmp_path / "data").mkdir()
    with zipfile.ZipFile(tmp_path / "data" / "full_judgments.zip", "w") as packed:
        packed.write(inner / "results.json", "full_judgments/results/results.json")
    study, options = load_study("schroeder2024"), Options(n_resamples=9)
    for given in (tmp_path / "data", tmp_path / "data" / "full_judgments.zip"):
        found = examined(study, given, options)
        assert found.data_source == "the authors' JSON"
    (tmp_path / "not.zip").write_text("no")
    with pytest.raises(InputError, match=r"not\.zip is not a complete zip archive"):
        examined(study, tmp_path / "not.zip", options)


@pytest.mark.parametrize("how", ["cut", "flipped", "not JSON", "lacks a part", "lacks a file"])
def test_damaged_records_are_one_sentence(tmp_path, monkeypatch, how):
    package = tmp_path / "records"
    package.mkdir()
    [whole] = [p for p in records.resources.files(records).iterdir() if p.name == "llmasjudge.zip"]
    data, copy = bytearray(whole.read_bytes()), package / "llmasjudge.zip"
    if how == "cut":
        copy.write_bytes(data[: len(data) // 2])
    elif how == "flipped":
        data[len(data) // 3] ^= 255
        copy.write_bytes(data)
    else:
        with zipfile.ZipFile(whole) as old, zipfile.ZipFile(copy, "w") as new:
            for name in old.namelist():
                text = old.read(name)
                if name == ABOUT:
                    text = {"not JSON": text[:-9], "lacks a part": b"{}"}.get(how, text)
                if not (how == "lacks a file" and name == "results.json"):
                    new.writestr(name, text)
    monkeypatch.setattr(records.resources, "files", lambda _: package)
    with pytest.raises(InputError, match=r"records of llmasjudge that ship .* are damaged"):
        shipped_records("llmasjudge", tmp_path / "out")


def verdicts(folder, *, copies):
    rng = np.random.default_rng(2)
    chances = rng.choice([0.0, 0.1, 1.0], size=60, p=[0.8, 0.15, 0.05])
    lines = ["judge,item,verdicts"]
    for judge in NAMES:
        if not copies:
            chances = rng.permutation(chances)
        for item, chance in enumerate(chances):
            said = "".join("1" if x else "0" for x in rng.random(50) < chance)
            lines.append(f"{judge},{item},_{said[1:]}")
    (folder / "head_to_tail.csv").write_text("\n".join(lines) + "\n")
    return folder


@pytest.mark.parametrize(("copies", "verdict"), [(True, "stands in part"), (False, "stands")])
def test_judges_that_are_near_copies_are_told(tmp_path, copies, verdict):
    claim = application(verdicts(tmp_path, copies=copies), Options(n_resamples=19))
    assert claim.verdict == verdict
    assert ("count as one" in claim.because) is copies
    assert {r.id.split(".")[0] for r in claim.results} == {"then", "now"}


def test_the_authors_texts_are_read_by_their_rule(tmp_path):
    texts = {"q1": [" correct", "incorrect"], "q2": ["", "Correctness: correct"]}
    path = tmp_path / f"judge_full_{NAMES[0]}_by_lmsys_vicuna-7b-v1.5.json"
    path.write_text(json.dumps(texts))
    np.testing.assert_equal(
        read_application(tmp_path)[NAMES[0]], np.array([[1.0, 0.0], [np.nan, 1.0]])
    )
    (tmp_path / "head_to_tail.csv").write_text("judge,item,verdicts\nj,0,12\n")
    with pytest.raises(InputError, match="verdicts of 1, 0"):
        read_application(tmp_path)
