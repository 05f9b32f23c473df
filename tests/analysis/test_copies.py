"""Copied and repeated items: found, joined as clusters, dropped, kept or refused."""

import json

import numpy as np
import pandas as pd
import pytest

import judgestats as js
from judgestats.analysis import find_copies
from judgestats.cli import main


def rows(n=40, copies=15, judges=2, runs=4, seed=1):
    """Scores of `n` items, the last `copies` of which repeat the first ones' replies."""
    rng = np.random.default_rng(seed)
    true = rng.normal(6, 1.5, (1, n, 1))
    x = np.clip(np.round(true + rng.normal(0, 1, (judges, n, runs))), 1, 10)
    x[:, n - copies :] = x[:, :copies]
    return pd.DataFrame(
        {"item": f"i{i}", "judge": f"j{j}", "trial": r, "score": x[j, i, r]}
        for j in range(judges) for i in range(n) for r in range(runs)
    )  # fmt: skip


def test_copied_replies_count_once_as_clusters_and_are_named():
    found = js.audit(rows(), n_resamples=99)
    [said] = [t for t in found.analysis.limitations if getattr(t, "code", "") == "duplicate_items"]
    n = find_copies(js.read_judgments(rows())).n_copies
    assert n >= 13
    assert said.startswith(
        f"{n} items repeat another item's replies (i0 = i25, i1 = i26, i2 = i27, ...)"
    )
    assert "counted once as clusters" in said
    alone = js.audit(rows(), n_resamples=99, duplicates="keep")
    once = js.audit(rows(), n_resamples=99, duplicates="drop")
    results = [next(r.result for r in f.analysis.results if r.id.startswith("reliability.icc1"))
               for f in (found, alone, once)]  # fmt: skip
    assert results[0].sample.n_clusters == 40 - n
    assert results[2].sample.n_items == 40 - n
    assert results[0].estimate == pytest.approx(results[1].estimate)


def test_a_run_joins_items_of_the_same_text_and_refuses_them_before_it_asks(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    items = tmp_path / "items.jsonl"
    items.write_text("".join(
        json.dumps({"id": f"q{i}", "question": f"What is {i % 10} plus 1?",
                    "response": f"It is {i % 10 + 1}."}) + "\n"
        for i in range(12)
    ))  # fmt: skip
    words = f"run temperature --items {items} --judges sim-typical --repeats 3 --temperatures 0.5,1"
    words = [*words.split(), "--resamples", "99", "--report", "none", "--crosscheck", "no"]
    assert main([*words, "--duplicates", "refuse"]) == 2
    assert "q0 = q10, q1 = q11" in capsys.readouterr().err
    assert not (tmp_path / ".judgestats" / "journal.sqlite").exists()
    assert main(words) == 0
    assert "10 questions" in capsys.readouterr().err
