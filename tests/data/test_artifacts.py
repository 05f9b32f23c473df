"""A run's own files are checked when they are read again."""

import json
import math
import shutil
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from judgestats.cli import main


@pytest.fixture(scope="module")
def made(module_workplace: Path) -> Path:
    arguments = ["--judges", "sim-typical", "--limit", "4", "--repeats", "2", "--report", "none"]
    more = ["--temperatures", "0.5,1", "--resamples", "99", "--crosscheck", "no"]
    assert main(["run", "temperature", *arguments, *more]) == 0
    [file] = module_workplace.glob("mlruns/*/*/artifacts/data/judgments.parquet")
    return file.parent.parent


@pytest.fixture
def run(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The run's folder, which is afterwards as the run left it."""
    kept = shutil.copytree(made, tmp_path / "kept")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    yield made
    shutil.rmtree(made)
    shutil.copytree(kept, made)


def edit(run: Path, **cells: object) -> None:
    path = run / "data" / "judgments.parquet"
    frame = pd.read_parquet(path)
    for name, value in cells.items():
        frame.loc[frame.index[2], name] = value
    frame.to_parquet(path, index=False)


def test_the_manifest_has_the_digest_of_every_frame(run: Path) -> None:
    manifest = json.loads((run / "manifest.json").read_text())
    assert set(manifest["sha256"]) == {"judgments.parquet", "raw.parquet", "results.json"}
    assert manifest["scale"] == [1, 10]


def test_an_edited_score_is_refused_by_file_and_row(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = pd.read_parquet(run / "data" / "judgments.parquet")["score"].iloc[2]
    edit(run, score=99.0)
    for command in (
        ["report", str(run), "--to", "md"],
        ["report", str(run), "--to", "tex"],
        ["analyze", str(run / "data" / "judgments.parquet")],
        *([name, place] for name in ("show", "check") for place in (str(run), run.parent.name)),
        ["card", str(run), "--judge", "sim-typical, T=0.5"],
        ["view", str(run)],
        ["compare", str(run), str(run)],
    ):
        capsys.readouterr()
        assert main(command) == 2
        error = " ".join(capsys.readouterr().err.split())
        assert "judgments.parquet row 3: score 99 is outside 1-10" in error
        assert f"raw_text says {said:g}. Run judgestats reparse" in error
    noted = json.loads((run / "manifest.json").read_text())
    for scale in ("abc", [1], [1, math.inf], [1, math.nan], {"1": 10}, [1, 10**300], None):
        (run / "manifest.json").write_text(json.dumps(noted | {"scale": scale}))
        assert main(["show", str(run)]) == 2
        error = " ".join(capsys.readouterr().err.split())
        assert "judgments.parquet is not the file that the run wrote" in error
    assert main(["reparse", str(run)]) == 0  # starts from the replies
    assert f"99 -> {said:g}" in capsys.readouterr().out


def test_edited_results_are_refused(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = run / "results.json"
    path.write_text(path.read_text().replace('"title": "', '"title": "Approved. ', 1))
    judgments = str(run / "data" / "judgments.parquet")
    for command in (
        *([name, place] for name in ("show", "check") for place in (str(run), run.parent.name)),
        ["card", str(run), "--judge", "sim-typical, T=0.5"],
        ["report", str(run), "--to", "md"],
        ["view", str(run)],
    ):
        capsys.readouterr()
        assert main(command) == 2
        error = " ".join(capsys.readouterr().err.split())
        assert "results.json: it is not the file that the run wrote" in error
        assert "judgestats analyze" in error
    words = ["analyze", judgments, "--track", "none"]  # what the message advises
    assert main([*words, "--resamples", "99", "--report", "none"]) == 0
    (run / "manifest.json").write_text("[")
    assert main(["show", str(run)]) == 2
    assert "manifest.json is not valid JSON" in " ".join(capsys.readouterr().err.split())


def test_a_crosscheck_notes_the_results_that_it_adds_to(run: Path) -> None:
    frame = run / "data" / "judgments.parquet"
    out = ["--report", "md", "--track", "none", "--crosscheck", "yes", "--resamples", "99"]
    assert main(["analyze", str(frame), *out]) == 0
    [made] = Path("judgestats-reports").glob("*/results.json")
    manifest = json.loads((made.parent / "manifest.json").read_text())
    assert {"judgments.parquet", "results.json"} <= set(manifest["sha256"])
    assert main(["show", str(made.parent), "crosscheck"]) == 0
    assert main(["report", str(made.parent), "--to", "md"]) == 0
    assert main(["show", str(made.parent)]) == 0


def test_the_folder_of_a_run_is_read_by_its_judgments(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    screens = []
    quick = ["--track", "none", "--crosscheck", "no", "--resamples", "99"]
    for place in (run, run.parent, run / "data" / "judgments.parquet"):
        capsys.readouterr()
        assert main(["analyze", str(place), *quick]) == 0
        screens.append(capsys.readouterr().out)
    assert screens[0].splitlines()[:9] == screens[2].splitlines()[:9]
    assert screens[1].splitlines()[:9] == screens[2].splitlines()[:9]
    judgments = str(run / "data" / "judgments.parquet")
    assert main(["labels", "plan", judgments, "--labels", "4"]) == 0  # what the screen advises
    assert "4 items to label" in capsys.readouterr().out
    edit(run, score=99.0)
    assert main(["analyze", str(run)]) == 2
    assert "row 3: score 99 is outside 1-10" in capsys.readouterr().err


def test_a_plausible_edit_is_refused_too(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = pd.read_parquet(run / "data" / "judgments.parquet")["score"].iloc[2]
    edit(run, score=1.0 if said != 1 else 2.0)
    assert main(["report", str(run), "--to", "md"]) == 2
    assert "row 3: score" in capsys.readouterr().err
    edit(run, score=said, judge="another")
    assert main(["report", str(run), "--to", "md"]) == 2
    assert "is not the file that the run wrote" in capsys.readouterr().err


def test_reparse_starts_from_the_replies(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edit(run, replicate=7)
    assert main(["reparse", str(run)]) == 0
    said = capsys.readouterr().out
    assert said.startswith("16 judgments")  # 4 items x 2 temperatures x 2 repeats
    assert "missing -> " in said
