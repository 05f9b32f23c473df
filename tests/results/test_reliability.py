"""Omega, alpha and vote share by name: on the screen, in MLflow, and as JSON."""

import json
import sqlite3
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judgestats.cli import main

LOADINGS = np.array([1.5, 1.2, 0.6, 0.3, 0.2])


@pytest.fixture
def known(workplace: Path) -> Path:
    """Scores whose covariance is exactly that of the known case: omega .74280, alpha .65972."""
    drawn = np.random.default_rng(0).normal(size=(400, 5))
    drawn -= drawn.mean(axis=0)
    white = drawn @ np.linalg.inv(np.linalg.cholesky(np.cov(drawn.T))).T
    scores = white @ np.linalg.cholesky(np.outer(LOADINGS, LOADINGS) + np.eye(5)).T
    rows = [(f"q{i}", k, scores[i, k]) for i in range(400) for k in range(5)]
    path = workplace / "known.csv"
    pd.DataFrame(rows, columns=["item_id", "repeat", "score"]).to_csv(path, index=False)
    return path


def test_omega_of_the_known_case_is_on_the_screen_in_mlflow_and_in_json(
    known: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["analyze", str(known), "--omega-model", "congeneric"]) == 0
    lines = capsys.readouterr().out.splitlines()
    [omega] = [line for line in lines if line.startswith("McDonald's omega (congeneric)")]
    [alpha] = [line for line in lines if line.startswith("Cronbach's alpha")]
    assert ".743 [" in omega
    assert ".660 [" in alpha
    assert "Null 95th percentile" in omega
    assert lines.index(alpha) == lines.index(omega) + 1
    with sqlite3.connect(tmp_path / "mlflow.db") as store:
        metrics = dict(store.execute("select key, value from latest_metrics").fetchall())
    assert metrics["omega_total"] == pytest.approx(0.74280, abs=1e-4)
    assert metrics["alpha"] == pytest.approx(0.65972, abs=1e-4)
    assert metrics["omega_total.lo"] < metrics["omega_total"] < metrics["omega_total.hi"]
    assert 0 < metrics["omega_total.null95"] < 0.5
    [folder] = tmp_path.glob("mlruns/*/*/artifacts")
    assert main(["show", str(folder), "--json"]) == 0
    first, second = json.loads(capsys.readouterr().out)["reliability"]
    assert (first["key"], second["key"]) == ("omega_total", "alpha")
    assert first["estimate"] == pytest.approx(0.74280, abs=1e-4)
    assert first["crosscheck"]["code"].startswith("factor-analyzer ")
    assert second["crosscheck"]["code"].startswith("pingouin ")
    for row in (first, second):
        assert row["crosscheck"]["agrees"] is True
        assert row["crosscheck"]["value"] == pytest.approx(row["estimate"], abs=1e-3)


def test_alpha_is_never_logged_as_omega(
    workplace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few = ["--limit", "8", "--repeats", "4", "--resamples", "99", "--report", "none"]
    more = ["--temperatures", "0,0.5", "--judges", "sim-typical", "--crosscheck", "no"]
    assert main(["run", "omega", *few, *more]) == 0
    said = capsys.readouterr().out
    assert "Reliability, sim-typical, T=0.5" in said  # never T=0
    assert "Vote-share reliability, one choice" in said
    assert "Vote-share reliability, all repeats" in said
    assert "omega = alpha under the parallel model" in said
    with sqlite3.connect(workplace / "mlflow.db") as store:
        keys = {key for (key,) in store.execute("select key from latest_metrics").fetchall()}
    assert not any(key.startswith("omega_total") for key in keys)
    assert any(key.startswith("vote_share_reliability") for key in keys)


def test_omega_as_published_is_next_to_its_null(
    workplace: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("judgestats.studies.published._SHUFFLINGS", 9)
    few = ["--limit", "9", "--repeats", "20", "--resamples", "99", "--report", "none"]
    more = ["--temperatures", "0,1", "--judges", "sim-coarse", "--crosscheck", "no"]
    assert main(["run", "omega", *few, *more, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["reliability"]
    published = [row for row in rows if row["key"] == "omega_published"]
    assert [(r["condition"], r["part"]) for r in published][-1] == ("sim-coarse, T=1", "bank")
    assert published[-1]["null"] > 0
    assert published[-1]["crosscheck"] is None
    with sqlite3.connect(workplace / "mlflow.db") as store:
        metrics = dict(store.execute("select key, value from latest_metrics").fetchall())
    assert metrics["omega_published/bank"] == published[-1]["estimate"]
    assert metrics["omega_published/bank.null95"] == published[-1]["null"]
