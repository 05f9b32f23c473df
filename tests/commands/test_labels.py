"""Planning, splitting and collecting labels; watching rates."""

from __future__ import annotations

import http.client
import json
import shutil
import subprocess
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judgestats.cli import main
from judgestats.commands.label_files import read_table, write_table
from judgestats.commands.labels_page import LabelFile, label_server
from judgestats.judgments.readers.registry import read_judgments

HOSTILE = "</pre><script>document.title='owned'</script><img src=x onerror=alert(1)>"


@pytest.fixture
def judged(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "item": [f"i{i}" for i in range(200)],
            "question": [f"q{i // 4}" for i in range(200)],
            "verdict": np.where(rng.random(200) < 0.8, "pass", "fail"),
            "answer": [HOSTILE if i % 2 else f"answer {i}" for i in range(200)],
        }
    )
    frame.to_csv("judged.csv", index=False)
    return frame


def test_how_many_labels(capsys):
    words = ["labels", "plan", "--half-width", ".05", "--items", "2000", "--rates"]
    assert main([*words, "prevalence=.7,sensitivity=.9,specificity=.8"]) == 0
    assert "182 labels with the judge, 323 without" in capsys.readouterr().out
    assert main([*words, "prevalence=x"]) == 2
    assert main(["labels", "plan"]) == 2
    assert "how many labels" in capsys.readouterr().err


def test_items_are_those_that_an_audit_would_see(tmp_path, monkeypatch, capsys):
    """A file with names of its own: the labels that are planned are read without a mapping."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    rows = [
        {"prompt_id": f"p{i}", "system": system, "judge_model": "j", "rating": rng.integers(1, 11)}
        for i in range(20)
        for system in ("one", "two")
        for _ in range(2)
    ]
    pd.DataFrame(rows).to_csv("my.csv", index=False)
    assert main(["labels", "plan", "my.csv", "--labels", "15", "--out", "labels.csv"]) == 0
    assert "item = prompt_id + system" in capsys.readouterr().out
    labels = read_table(Path("labels.csv"))
    assert set(labels["item_id"]) <= {f"p{i}/{s}" for i in range(20) for s in ("one", "two")}
    labels.assign(label="7").to_csv("done.csv", index=False)
    read = read_judgments("my.csv", labels="done.csv")
    assert read["label"].ne("").sum() == 30  # both judgments of each item
    pd.DataFrame({"number": [1, 2], "word": ["a", "b"]}).to_csv("no.csv", index=False)
    assert main(["labels", "plan", "no.csv", "--labels", "1", "--out", "more.csv"]) == 2


def test_a_pilot_gives_the_rates_and_where_labels_tell_most(judged, capsys):
    pilot = judged.head(80).assign(label=lambda f: f["verdict"])
    pilot.loc[pilot["verdict"].eq("fail") & (pilot.index % 2 == 0), "label"] = "pass"
    pilot[["item", "label"]].to_csv("pilot.csv", index=False)
    words = ["labels", "plan", "judged.csv", "--pilot", "pilot.csv"]
    assert main([*words, "--half-width", ".05"]) == 2
    assert "--by" in capsys.readouterr().err
    assert main([*words, "--by", "verdict", "--half-width", ".05"]) == 0
    said = capsys.readouterr().out
    assert "By the pilot: prevalence 0.8" in said
    assert "labels with the judge" in said
    assert main([*words, "--by", "verdict", "--labels", "60"]) == 0
    verdict = judged.set_index("item")["verdict"].loc[read_table(Path("labels.csv"))["item_id"]]
    # Neyman: passes are right almost always, fails half of the time.
    assert (verdict == "fail").mean() > (judged["verdict"] == "fail").mean() + 0.1


def test_which_items_and_nothing_of_the_verdict(judged, capsys):
    assert main(["labels", "plan", "judged.csv", "--labels", "40", "--by", "verdict",
                 "--text", "answer"]) == 0  # fmt: skip
    out = read_table(Path("labels.csv"))
    assert list(out.columns) == ["item_id", "chance", "answer", "annotator", "label"]
    verdict = judged.set_index("item")["verdict"].loc[out["item_id"]].to_numpy()
    assert (verdict == "fail").sum() >= 10
    sizes = judged["verdict"].value_counts()
    for v in ("pass", "fail"):
        got = out["chance"].astype(float)[verdict == v]
        assert got.to_numpy() == pytest.approx((verdict == v).sum() / sizes[v])
    assert main(["labels", "plan", "judged.csv", "--labels", "40"]) == 2  # the file is there
    assert "there already" in capsys.readouterr().err


def test_parts_keep_questions_together(judged, capsys):
    assert main(["labels", "split", "judged.csv", "--cluster", "question", "--seed", "3"]) == 0
    one, two = (pd.read_csv(f"judged.{n}.csv") for n in ("tuning", "validation"))
    assert not set(one["question"]) & set(two["question"])
    assert len(one) + len(two) == 200
    assert capsys.readouterr().out.count("digest") == 2


def test_parts_keep_questions_together_unasked_or_say_that_none_is_named(judged, capsys):
    assert main(["labels", "split", "judged.csv"]) == 0
    one, two = (pd.read_csv(f"judged.{n}.csv") for n in ("tuning", "validation"))
    assert not set(one["question"]) & set(two["question"])
    assert "all of a question" in capsys.readouterr().out
    pd.read_csv("judged.csv").drop(columns="question").to_csv("bare.csv", index=False)
    assert main(["labels", "split", "bare.csv"]) == 0
    assert "item by item: no column names the question" in capsys.readouterr().out


@pytest.fixture
def page(judged):
    main(["labels", "plan", "judged.csv", "--labels", "6", "--text", "answer"])

    file = LabelFile(Path("labels.csv"), annotator="a1", choices=["pass", "fail"])
    server, address = label_server(file, port=0)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server.server_address[1], address.partition("token=")[2], Path("labels.csv"), address
    server.shutdown()
    server.server_close()
    thread.join(5)


def ask(port, method, path, *, token="", body=None, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request(method, path, body, {"X-Token": token, **headers})
    reply = connection.getresponse()
    text = reply.read().decode()
    connection.close()
    return reply, text


def test_labels_are_written_at_once_and_work_goes_on(page):
    port, token, path, _ = page
    first = json.loads(ask(port, "GET", "/state", token=token)[1])
    assert (first["done"], first["total"]) == (0, 6)
    sent = json.dumps({"item": first["item"], "label": "pass"})
    after = json.loads(ask(port, "POST", "/label", token=token, body=sent)[1])
    assert after["done"] == 1
    assert after["item"] != first["item"]
    assert after["previous"] == first["item"]
    changed = json.dumps({"item": first["item"], "label": "fail"})
    ask(port, "POST", "/label", token=token, body=changed)
    rows = read_table(path)
    mine = rows[rows["item_id"] == first["item"]]
    assert mine[["annotator", "label"]].to_numpy().tolist() == [["a1", "fail"]]
    again = LabelFile(path, annotator="a1", choices=["pass", "fail"])
    assert again.state()["done"] == 1
    other = LabelFile(path, annotator="a2", choices=["pass", "fail"])
    assert other.state()["given"] == ""
    other.save(first["item"], "pass")
    both = read_table(path)
    assert len(both[both["item_id"] == first["item"]]) == 2


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet"])
def test_two_annotators_at_once_lose_no_label(tmp_path, ending):
    path = tmp_path / f"labels.{ending}"
    empty = {"item_id": ["1", "2"], "text": ["a,\tb", "c"], "annotator": "", "label": ""}
    write_table(pd.DataFrame(empty), path)
    ann, ben = (LabelFile(path, annotator=a, choices=["pass", "fail"]) for a in ("ann", "ben"))
    ann.save("1", "pass")
    ben.save("1", "fail")
    ann.save("2", "fail")
    given = read_table(path)[["item_id", "annotator", "label"]]
    want = {("1", "ann", "pass"), ("1", "ben", "fail"), ("2", "ann", "fail")}
    assert set(given.itertuples(index=False, name=None)) == want


def test_strangers_are_refused(page):
    port, token, path, _ = page
    before = path.read_bytes()
    body = json.dumps({"item": "i1", "label": "pass"})
    for case in (
        {"token": ""},
        {"token": "wrong"},
        {"token": token, "Host": "evil.example"},
        {"token": token, "Origin": "http://evil.example"},
        {"token": token, "Origin": "null"},
    ):
        for method, where in (("GET", "/state"), ("GET", "/"), ("POST", "/label")):
            reply, _ = ask(port, method, where, body=body, **case)
            assert reply.status == 403, case
    bad = json.dumps({"item": "i1", "label": "<b>"})
    assert ask(port, "POST", "/label", token=token, body=bad)[0].status == 400
    assert ask(port, "POST", "/label", token=token, body="[]")[0].status == 400
    assert path.read_bytes() == before


def test_the_page_has_a_policy_and_no_verdict(page):
    port, token, _, _ = page
    reply, text = ask(port, "GET", f"/?token={token}")
    policy = reply.getheader("Content-Security-Policy")
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert token not in text
    assert "verdict" not in json.loads(ask(port, "GET", "/state", token=token)[1])["texts"][0]


@pytest.mark.browser
@pytest.mark.skipif(shutil.which("chromium") is None, reason="Chromium is not installed")
def test_hostile_texts_are_texts_in_a_browser(page, tmp_path):
    port, token, _, address = page
    for _ in range(6):  # an item with a hostile text
        state = json.loads(ask(port, "GET", "/state", token=token)[1])
        if state["texts"][0][1] == HOSTILE or not state["item"]:
            break
        sent = json.dumps({"item": state["item"], "label": "pass"})
        ask(port, "POST", "/label", token=token, body=sent)
    made = subprocess.run(
        ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=4000",
         f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", address],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    assert f"Item {state['item']}" in made.stdout
    assert "&lt;script&gt;document.title='owned'" in made.stdout
    assert "<title>Labels</title>" in made.stdout
    assert "1 pass" in made.stdout


def stream(path, rate, n, seed, first=0):
    rng = np.random.default_rng(seed)
    pd.DataFrame(
        {
            "q": [f"q{first + i}" for i in range(n)],
            "verdict": np.where(rng.random(n) < rate, "pass", "fail"),
            "label": "pass",
        }
    ).to_csv(path, index=False)


def test_a_rate_that_falls_ends_with_one(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = ["--state", "s.json", "--rate", "pass=verdict:pass", "--rate", "agree=verdict:=label",
             "--cluster", "q", "--min", "pass=.8"]  # fmt: skip
    stream("one.csv", 0.9, 150, 1)
    assert main(["monitor", "one.csv", *words]) == 0
    assert "at every look, 150 judgments" in capsys.readouterr().out
    assert main(["monitor", "one.csv", *words]) == 2
    assert "added before" in capsys.readouterr().err
    stream("two.csv", 0.3, 400, 2, first=1000)
    assert main(["monitor", "two.csv", *words]) == 1
    said = capsys.readouterr().out
    assert "550 judgments" in said
    assert "Beyond its bound" in said
    assert main(["monitor", "two.csv", "--state", "s.json", "--rate", "x=verdict:pass"]) == 2
    assert "other rates" in capsys.readouterr().err
    before = (tmp_path / "s.json").read_text()
    pd.read_csv("two.csv").drop(columns="label").assign(q="new").to_csv("three.csv", index=False)
    assert main(["monitor", "three.csv", *words]) == 2
    told = capsys.readouterr()
    assert "no column 'label'" in told.err
    assert not told.out  # no rate of a file that is refused
    assert (tmp_path / "s.json").read_text() == before


def test_a_stream_tells_slips_of_words_bounds_and_files(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    stream("one.csv", 0.9, 60, 1)
    words = ["monitor", "one.csv", "--state", "s.json", "--rate"]
    assert main([*words, "pass=verdict:pass", "--min", "pass=80"]) == 2
    assert "a share lies inside 0-1" in capsys.readouterr().err
    assert main([*words, "pass=verdict:PASS"]) == 0
    assert "no row's verdict is 'PASS'" in capsys.readouterr().out
    assert main([*words, "pass=verdict:PASS"]) == 2
    assert "was added to s.json before" in capsys.readouterr().err
