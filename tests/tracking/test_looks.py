"""Repeated verdicts on a growing file of labels are counted by the store."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np

from judgestats.cli import main


def write_labels(folder: Path, n: int) -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 200)
    with (folder / "verdicts.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["item", "judge", "verdict", "label"])
        for i, y in enumerate(truth):
            said = y if rng.random() < 0.9 else 1 - y
            label = ("fail", "pass")[y] if i < n else ""
            rows.writerow([f"q{i}", "j", ("fail", "pass")[said], label])


def looks(folder: Path, capsys, *more: str) -> tuple[int, set[str]]:
    command = ["analyze", "verdicts.csv", "--report", "none", "--resamples", "99", "--json", *more]
    assert main([*command, "--crosscheck", "no"]) == 0
    verdict = json.loads(capsys.readouterr().out)["results"]["verdicts"][0]
    return verdict["levels"]["looks"], {c["code"] for c in verdict["caveats"]}


def test_each_growth_of_the_labels_is_a_look(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path / 'mlflow.db'}")
    write_labels(tmp_path, 60)
    first, again = looks(tmp_path, capsys), looks(tmp_path, capsys)
    assert (first[0], again[0]) == (1, 1)  # the same labels are no second look
    assert "looks" not in first[1]
    write_labels(tmp_path, 120)
    count, codes = looks(tmp_path, capsys)
    assert count == 2
    assert "looks" in codes
    assert looks(tmp_path, capsys, "--looks", "5")[0] == 5
