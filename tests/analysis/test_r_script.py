"""R recomputes a run's numbers from what is exported for it."""

from __future__ import annotations

import csv
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest

from judgestats.analysis import r_numbers, write_r
from judgestats.analysis.r_script import _holm, _text
from judgestats.cli import main
from judgestats.results import read_results
from judgestats.stats import p_adjust

R = shutil.which("Rscript")


def has_packages() -> bool:
    """Whether R and its packages are there."""
    if R is None:
        return False
    asked = "quit(status = !all(c('psych', 'lme4') %in% rownames(installed.packages())))"
    return subprocess.run([R, "-e", asked], capture_output=True, check=False).returncode == 0


def audited(tmp_path, frame):
    """The folder of an audit of a frame."""
    frame.to_csv("mine.csv", index=False)
    assert main(["analyze", "mine.csv", "--report", "none", "--resamples", "200"]) == 0
    [results] = tmp_path.rglob("results.json")
    return results.parent


def scores() -> pd.DataFrame:
    """Two judges, thirty items of fifteen questions, three repetitions; people's ratings."""
    rng = np.random.default_rng(1)
    truth = rng.normal(6, 2, 30)
    rows = [
        (f'it"em\\{i} é', f"q{i // 2}", judge, k, int(np.clip(round(v), 1, 10)), round(truth[i]))
        for i in range(30)
        for judge, sd in (("strict, T=1", 0.6), ("loose", 1.2))
        for k, v in enumerate(truth[i] + rng.normal(0, sd, 3))
    ]
    names = ["item", "question", "judge", "repeat", "score", "label"]
    return pd.DataFrame(rows, columns=names)


def verdicts() -> pd.DataFrame:
    """One judge's repeated categories beside labels."""
    rng = np.random.default_rng(2)
    rows = []
    for i in range(40):
        label = rng.choice(["red", "green", "blue"])
        for k in range(2):
            said = label if rng.random() < 0.7 else rng.choice(["red", "green", "blue"])
            rows.append((f"i{i}", "j", k, said, label))
    return pd.DataFrame(rows, columns=["item", "judge", "repeat", "verdict", "label"])


def once_and_words() -> pd.DataFrame:
    """Scores asked for once, people's pass and fail in words."""
    frame = scores().query("repeat == 0")
    return frame.assign(label=np.where(frame["label"] > 6, "yes", "no"))


@pytest.mark.parametrize("made", [scores, verdicts, once_and_words])
def test_r_gives_the_same_numbers(workplace, made):
    if not has_packages():
        pytest.skip("needs Rscript with psych and lme4")
    run = audited(workplace, made())
    out = workplace / "r"
    assert main(["export", str(run), "--r", "--out", str(out)]) == 0
    done = subprocess.run([R, "recompute.R"], cwd=out, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    with (out / "compared.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) >= {"scores": 9, "verdicts": 2, "once_and_words": 6}[made.__name__]
    assert all(row["same"] == "TRUE" for row in rows)


def test_what_is_written_holds_every_number_it_announces(workplace, capsys):
    run = audited(workplace, scores())
    from judgestats.tracking import run_judgments

    frame, found = run_judgments(str(run)), read_results(run / "results.json")
    numbers = write_r(workplace / "out", frame, found)
    script = (workplace / "out" / "recompute.R").read_text(encoding="utf-8")
    assert script.count("\nrow(") == len(numbers) == len(r_numbers(frame, found))
    kinds = {n.what for n in numbers}
    assert {"ICC(1,1)", "Cronbach's alpha", "F of spread within items"} <= kinds
    assert {"Pearson's correlation", "within-item variance"} <= kinds
    assert main(["export", str(run), "--r", "--out", str(workplace / "out")]) == 2
    assert "--overwrite" in capsys.readouterr().err


def test_names_are_strings_of_r():
    assert _text('a "b" \\ é') == '"a \\"b\\" \\\\ é"'


def test_holm_is_ours():
    p = [0.04, 0.01, 0.03, 0.01]
    assert _holm(p) == pytest.approx(p_adjust(p).tolist())
