"""Errors two judges share, against R's closed forms; hard items are no copies."""

import math

import numpy as np
import pytest

from judgestats.errors import InputError
from judgestats.stats import shared_errors


def check(out, reference, name):
    for row in out.rows:
        want = reference.value(name, f"{row.a}|{row.b}")
        assert row.estimate == pytest.approx(want["kappa_of_errors"], abs=1e-10)
        assert row.n == want["n"]
        pair = out.details["pairs"][f"{row.a} - {row.b}"]
        assert pair["both_wrong"] == want["n_both_wrong"]
        if math.isfinite(row.effect):
            assert row.effect == pytest.approx(want["same_wrong_answer"], abs=1e-10)


def test_the_copied_pair_is_found_among_four(reference):
    d = reference.data("copy400x4")
    out = shared_errors(d[["j1", "j2", "j3", "j4"]], d.truth, names=["j1", "j2", "j3", "j4"])
    check(out, reference, "copy400x4")
    assert [(r.a, r.b) for r in out.rows if r.p_adjusted < 0.001] == [("j3", "j4")]
    assert next(r for r in out.rows if r.b == "j4" and r.a == "j3").effect > 0.9


def test_siblings_of_llmbar_share_errors(reference):
    d = reference.data("llmbar_vanilla")
    wide = d.pivot(index="task", columns="worker", values="label")
    names = ["ChatGPT-0301", "ChatGPT", "Falcon", "GPT-4", "LLaMA2", "PaLM2"]
    truth = d.drop_duplicates("task").set_index("task").truth.loc[wide.index]
    out = shared_errors(wide[names], truth, names=names)
    check(out, reference, "llmbar_vanilla")
    assert all(math.isnan(r.effect) for r in out.rows)
    assert [n.code for n in out.notes] == ["two_options"]
    assert max(out.rows, key=lambda r: r.estimate).b == "ChatGPT"


@pytest.mark.parametrize("runs", [20, pytest.param(60, marks=pytest.mark.study)])
def test_hard_items_alone_are_seldom_called_copies(runs):
    rng, called, kappas = np.random.default_rng(5), 0, []
    for _ in range(runs):
        hard = np.where(rng.random(200) < 0.4, 0.7, 0.1)[:, None]
        truth = rng.integers(3, size=200)
        miss = rng.random((200, 5)) < hard
        said = np.where(miss, (truth[:, None] + rng.integers(1, 3, (200, 5))) % 3, truth[:, None])
        row = shared_errors(said, truth).rows[0]
        called += row.p_value < 0.05
        kappas.append(row.estimate)
    assert np.mean(kappas) > 0.2  # difficulty alone makes errors correlate
    assert called / runs <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / runs)


def test_what_cannot_be_said_is_said():
    with pytest.raises(InputError, match="at least two"):
        shared_errors([["a"], ["b"]], ["a", "b"])
    out = shared_errors([["a", "a"], ["b", "b"], ["c", "c"]], ["a", "b", "c"])
    assert math.isnan(out.rows[0].p_value)
    assert out.rows[0].reason
    assert [n.code for n in out.notes] == ["difficulty_unknown"]
