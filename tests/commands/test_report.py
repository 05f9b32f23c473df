"""Where ``judgestats report`` writes: a folder, or the file that ``--out`` names."""

from __future__ import annotations

from pathlib import Path

import pytest

from judgestats.cli import main


@pytest.fixture
def run(workplace: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """The folder of an audit."""
    rows = [f"a,i{i},{r},{1 + (i + r) % 5}" for i in range(6) for r in range(3)]
    Path("t.csv").write_text("\n".join(["judge,item_id,replicate,score", *rows]) + "\n")
    words = ["--resamples", "99", "--report", "none", "--scale", "1-5"]
    assert main(["analyze", "t.csv", *words]) == 0
    [folder] = workplace.glob("mlruns/*/*/artifacts")
    capsys.readouterr()
    return str(folder)


def test_a_name_with_a_suffix_is_a_file(run: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", run, "--out", "told/mine.html"]) == 0
    assert "Report (html): told/mine.html" in capsys.readouterr().out
    assert Path("told/mine.html").read_text("utf-8").startswith("<!DOCTYPE html>")
    assert not Path("told/mine.pdf").exists()
    assert main(["report", run, "--to", "md", "--out", "told/v1.2"]) == 0
    assert Path("told/v1.2/report.md").is_file()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--out", "x.doc"], "names a file of no known format. Let its name end in .html"),
        (["--out", "x.html", "--to", "html,pdf"], "Leave --to out"),
        (["--out", "t.csv"], "names a file of no known format"),
        (["--out", "plain"], "is a file. Name a folder"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_read(
    workplace: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    Path("plain").write_text("", encoding="utf-8")
    assert main(["report", "no-such-run", *words]) == 2
    assert said in capsys.readouterr().err


def test_two_runs_are_answered_on_the_screen_as_on_the_page(
    run: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [f"a,i{i},{r},{min(5, 2 + (i + r) % 5)}" for i in range(6) for r in range(3)]
    Path("u.csv").write_text("\n".join(["judge,item_id,replicate,score", *rows]) + "\n")
    assert (
        main(["analyze", "u.csv", "--resamples", "99", "--report", "none", "--scale", "1-5"]) == 0
    )
    [later] = (
        {str(f) for f in Path().glob("mlruns/*/*/artifacts")}
        - {str(Path(run))}
        - {str(Path(run).relative_to(Path.cwd()))}
    )
    capsys.readouterr()
    assert main(["report", run, later, "--to", "md"]) == 0
    text = capsys.readouterr().out
    said = " ".join(text.split())
    assert len(text.splitlines()) <= 24
    assert said.startswith("CHANGED a: the mean")
    assert text.index("Status") < text.index("Care") < text.index("Next")
    page = " ".join(Path("comparison.md").read_text("utf-8").split())
    assert "CHANGED. a: the mean" in page

    assert main(["report", run, run, "--to", "md"]) == 0
    same = " ".join(capsys.readouterr().out.split())
    assert "the same judgments in both runs: nothing has changed on these items" in same
