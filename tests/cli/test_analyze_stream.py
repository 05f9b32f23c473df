"""`judgestats analyze FOLDER`: streamed by itself, the same run as any other."""

import numpy as np
import pandas as pd
import pytest

from judgestats.cli import main
from judgestats.reporting import load_run
from judgestats.reporting.sections import data


@pytest.fixture
def folder(workplace):
    rng = np.random.default_rng(1)
    rows = [
        {"item": f"i{i}", "judge": j, "trial": r, "score": float(rng.integers(1, 6) + i % 3)}
        for i in range(12)
        for j in ("A", "B")
        for r in range(3)
    ]
    parts = workplace / "parts"
    parts.mkdir()
    pd.DataFrame(rows).to_parquet(parts / "a.parquet", index=False)
    return parts


def test_a_folder_is_streamed(folder, capsys) -> None:
    words = ["analyze", str(folder), "--resamples", "99", "--report", "none", "--all"]
    assert main(words) == 0
    said = capsys.readouterr().out
    assert "Read 72 judgments of 12 items in 12 clusters by 2 judges from parts" in said
    (found,) = folder.parent.glob("mlruns/*/*/artifacts/results.json")
    run = load_run(found.parent)
    assert run.design["streamed"] is True
    assert list(run.conditions["n_ok"]) == [36, 36]
    assert "12 items from 12 questions were judged" in str(data.items(run))
    assert "All 72 judgments were answered and read" in str(data.exclusions(run))
