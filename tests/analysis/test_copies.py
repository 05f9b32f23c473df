"""Copied and repeated items: found, joined as clusters, dropped, kept or refused."""

import json

import numpy as np
import pandas as pd
import pytest

import judgestats as js
from judgestats.analysis import find_copies, join_copies
from judgestats.cli import main
from judgestats.errors import InputError


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


def test_refusing_copies_says_how_to_count_them():
    with pytest.raises(InputError, match="--duplicates cluster"):
        js.audit(rows(), duplicates="refuse")
    js.audit(rows(copies=0), n_resamples=19, duplicates="refuse")
    with pytest.raises(InputError, match="duplicates"):
        js.audit(rows(), duplicates="merge")


def test_the_same_text_under_another_name_is_one_cluster():
    frame = rows(n=12, copies=0, runs=1)
    text = {f"i{k}": f"The long answer number {k}" for k in range(12)} | {
        "i7": "  THE long\nanswer number\u00a0\u0033 "
    }
    read = js.read_judgments(frame.assign(answer=frame["item"].map(text)))
    copies = find_copies(read)
    assert (copies.groups, copies.by) == ((("i3", "i7"),), "text")
    joined, _ = join_copies(read)
    assert joined["cluster"].nunique() == 11
    whole = js.read_judgments(frame.assign(question="What is the very same question?"))
    assert find_copies(whole).groups == ()


def test_copies_join_declared_clusters():
    frame = rows(n=40, copies=1)
    frame = pd.concat([frame, rows(n=40, copies=1).assign(item=lambda f: "z" + f["item"])])
    frame["cluster"] = frame["item"].str[:-1]
    read = js.read_judgments(frame)
    joined, copies = join_copies(read)
    assert copies.n_copies >= 35
    assert joined["cluster"].nunique() < read["cluster"].nunique()
    by = joined.drop_duplicates("item_id").set_index("item_id")["cluster"]
    assert by["i3"] == by["zi3"] == by["i5"]


def test_repeats_lost_in_an_outage_make_no_copies():
    rng = np.random.default_rng(2)
    passed, lost = rng.random(40) < 0.5, rng.random((40, 2, 5)) < [0.03, 0.03, 0.7, 0.03, 0.03]
    frame = pd.DataFrame(
        {"item": f"i{i}", "judge": f"j{j}", "trial": r,
         "verdict": "" if lost[i, j, r] else "pass" if passed[i] else "fail"}
        for i in range(40) for j in range(2) for r in range(5)
    )  # fmt: skip
    assert not find_copies(js.read_judgments(frame)).groups


def test_without_text_or_repeats_copies_cannot_be_detected():
    found = js.audit(rows(runs=1, copies=0), n_resamples=19)
    assert "Copies cannot be detected without text or repeats." in found.analysis.limitations
    assert not find_copies(js.read_judgments(rows(runs=4, copies=0))).groups


def test_a_stream_joins_drops_or_refuses_copies(tmp_path, capsys):
    path = tmp_path / "judged.parquet"
    rows().to_parquet(path, index=False)
    words = ["analyze", str(path), "--stream", "--track", "none", "--report", "none",
             "--resamples", "99", "--scale", "1-10"]  # fmt: skip
    assert main([*words, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    codes = {note["code"] for note in document["results"]["limitations"]}
    assert "duplicate_items" in codes
    assert main([*words, "--duplicates", "refuse"]) == 2
    assert "--duplicates cluster" in capsys.readouterr().err
    assert main([*words, "--duplicates", "drop", "--json"]) == 0
    dropped = json.loads(capsys.readouterr().out)["reading"]["counts"]
    assert dropped["items"] < document["reading"]["counts"]["items"]


@pytest.mark.parametrize("repeats", [1, 4])
def test_copying_every_item_leaves_p_and_interval(repeats):
    rng = np.random.default_rng(8)
    quality = rng.normal(6, 1.5, 30)
    own = [
        {"item": f"i{i}", "answer": f"The long answer number {i}", "judge": j, "trial": r,
         "score": float(quality[i] + 0.4 * (j == "b") + rng.normal())}
        for i in range(30) for j in "ab" for r in range(repeats)
    ]  # fmt: skip
    copied = [*own, *({**row, "item": f"c{row['item']}"} for row in own)]
    key = "judges.shift" if repeats == 1 else "shift.all"
    found = [js.audit(pd.DataFrame(data), n_resamples=99).analysis for data in (own, copied)]
    one, other = (f[key].rows[0] for f in found)
    assert other.estimate == pytest.approx(one.estimate, rel=1e-9)
    if repeats == 1:  # by items only: no runs are compared
        assert other.p_value == pytest.approx(one.p_value, rel=1e-9)
        assert other.interval.low == pytest.approx(one.interval.low, rel=1e-9)
    [said] = [t for t in found[1].limitations if getattr(t, "code", "") == "duplicate_items"]
    assert "counted once as clusters" in said
