"""Planning, splitting and collecting labels; watching rates."""

import http.client
import json
import socket
import sqlite3
import struct
import subprocess
import sys
import threading
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pandas as pd
import pytest

from judgestats.cli import main
from judgestats.commands import LabelFile, export_labels, read_table, write_table
from judgestats.data.readers.labels import labelled_ids
from judgestats.errors import InputError
from judgestats.files import changed_state
from judgestats.reporting.explorer import Answer, label_server

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
    assert "--rates: expected NAME=NUMBER, got 'prevalence=x'" in capsys.readouterr().err
    assert main(["labels", "plan"]) == 2
    assert "how many labels" in capsys.readouterr().err


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


def test_texts_are_known_by_their_names_and_else_ids_are_shown(judged, capsys):
    judged.assign(reason="It is right.").to_csv("judged.csv", index=False)
    assert main(["labels", "plan", "judged.csv", "--labels", "5"]) == 0
    out = read_table(Path("labels.csv"))
    assert list(out.columns) == ["item_id", "chance", "question", "answer", "annotator", "label"]
    judged[["item", "verdict"]].to_csv("bare.csv", index=False)
    capsys.readouterr()
    assert main(["labels", "plan", "bare.csv", "--labels", "5", "--out", "ids.csv"]) == 0
    assert "Only ids will be shown" in capsys.readouterr().out
    made = LabelFile(Path("ids.csv"), annotator="a1", choices=["good", "bad"]).payload()
    assert [name for name, _ in made["items"]["texts"]] == ["item"]
    assert sorted(made["texts"]) == sorted(read_table(Path("ids.csv"))["item_id"])


def test_a_plan_that_nobody_filled_in_says_how_to(judged, capsys):
    assert main(["labels", "plan", "judged.csv", "--labels", "200"]) == 0
    analyze = ["analyze", "judged.csv", "--labels", "labels.csv", "--track", "none"]
    told = "labels.csv: the table holds 200 items and no label yet. Give labels with: "
    assert main([*analyze, "--report", "none"]) == 2
    assert f"{told}judgestats labels collect labels.csv\n" in capsys.readouterr().err
    pairs = judged.assign(winner=np.array(["a", "b", "tie", "a"])[np.arange(200) % 4])
    pairs.drop(columns="verdict").to_csv("judged.csv", index=False)
    assert main([*analyze, "--report", "none"]) == 2
    assert "collect labels.csv --choices a,b,tie\n" in capsys.readouterr().err


def test_parts_keep_questions_together_unasked_or_say_that_none_is_named(judged, capsys):
    assert main(["labels", "split", "judged.csv"]) == 0
    one, two = (pd.read_csv(f"judged.{n}.csv") for n in ("tuning", "validation"))
    assert not set(one["question"]) & set(two["question"])
    assert "all items of one question" in capsys.readouterr().out
    pd.read_csv("judged.csv").drop(columns="question").to_csv("bare.csv", index=False)
    assert main(["labels", "split", "bare.csv"]) == 0
    assert "item by item: no column names the question" in capsys.readouterr().out


@pytest.fixture
def page(judged):
    main(["labels", "plan", "judged.csv", "--labels", "6", "--text", "answer"])

    file = LabelFile(Path("labels.csv"), annotator="a1", choices=["pass", "fail"])
    with served(file) as address:
        yield urlsplit(address).port, address.partition("#t=")[2], file.path, address


@contextmanager
def served(file):
    """The address of the page while it is served."""
    server, address = label_server(file.payload, file.save, port=0)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield address
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


def data(port, token):
    """The data of the page, and the answers in it by item."""
    made = json.loads(ask(port, "GET", "/data", token=token)[1])
    return made, {made["items"]["id"][i]: answer for i, answer in made["given"]}


def test_labels_are_written_at_once_and_work_goes_on(page):
    port, token, path, _ = page
    made, given = data(port, token)
    first = made["items"]["id"][0]
    assert (len(made["items"]["id"]), given) == (6, {})
    for label in ("pass", "fail"):
        sent = json.dumps({"item": first, "label": label, "note": f"was {label}"})
        assert ask(port, "POST", "/label", token=token, body=sent)[0].status == 200
    assert data(port, token)[1] == {first: {"label": "fail", "note": "was fail", "unsure": False}}
    unsure = json.dumps({"item": made["items"]["id"][1], "label": "", "unsure": True})
    assert ask(port, "POST", "/label", token=token, body=unsure)[0].status == 200
    assert read_table(path)["label"].eq("").all()
    assert export_labels(path) == 1
    rows = read_table(path)
    mine = rows[rows["item_id"] == first]
    columns = ["annotator", "label", "note"]
    assert mine[columns].to_numpy().tolist() == [["a1", "fail", "was fail"]]
    again = LabelFile(path, annotator="a1", choices=["pass", "fail"]).payload()
    assert [bool(answer["label"]) for _, answer in again["given"]] == [True, False]
    assert again["items"]["id"] == made["items"]["id"]
    other = LabelFile(path, annotator="a2", choices=["pass", "fail"])
    assert other.payload()["given"] == []
    other.save(first, Answer("pass"))
    assert export_labels(path) == 2
    both = read_table(path)
    assert len(both[both["item_id"] == first]) == 2
    with closing(sqlite3.connect(path.with_suffix(".db"))) as store:
        kept = store.execute("SELECT label FROM history WHERE item_id = ?", (first,)).fetchall()
    assert kept == [("pass",), ("fail",), ("pass",)]


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet"])
def test_two_annotators_at_once_lose_no_label(tmp_path, ending):
    path = tmp_path / f"labels.{ending}"
    empty = {"item_id": ["1", "2"], "text": ["a,\tb", "c"], "annotator": "", "label": ""}
    write_table(pd.DataFrame(empty), path)
    ann, ben = (LabelFile(path, annotator=a, choices=["pass", "fail"]) for a in ("ann", "ben"))
    ann.save("1", Answer("pass"))
    ben.save("1", Answer("fail"))
    ann.save("2", Answer("fail"))
    assert export_labels(path) == 3
    given = read_table(path)[["item_id", "annotator", "label"]]
    want = {("1", "ann", "pass"), ("1", "ben", "fail"), ("2", "ann", "fail")}
    assert set(given.itertuples(index=False, name=None)) == want


LABEL = """
import sys
from pathlib import Path
from judgestats.commands.labels import LabelFile
from judgestats.reporting.explorer import Answer
file = LabelFile(Path("labels.csv"), annotator=sys.argv[1], choices=["pass", "fail"])
print("ready", flush=True)
sys.stdin.readline()
for i in range(60):
    file.save(f"i{i}", Answer("pass"))
"""


def together(script, names, folder):
    """One process for each name, each stopped at a line of its standard input."""
    return [
        subprocess.Popen(
            [sys.executable, "-c", script, name], cwd=folder, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )
        for name in names
    ]  # fmt: skip


def write_line(process, text):
    process.stdin.write(f"{text}\n")
    process.stdin.flush()


@pytest.mark.parametrize("name", ["labels.db", "labels.xlsx", "labels.jsonl.gz", "labels.csv"])
def test_a_file_in_whose_format_no_label_is_written_stays_as_it_is(name, judged, tmp_path, capsys):
    path = tmp_path / name
    empty = pd.DataFrame({"item_id": ["1", "2"], "annotator": "", "label": ""})
    if name.endswith((".db", ".csv")):  # a database, also under the name of a CSV file
        with closing(sqlite3.connect(path)) as database:
            empty.to_sql("labels", database, index=False)
    elif name.endswith(".gz"):
        empty.to_json(path, orient="records", lines=True)
    else:
        empty.to_excel(path, index=False)
    before = path.read_bytes()
    words = ["labels", "collect", str(path), "--annotator", "a1", "--choices", "pass,fail"]
    assert main(words) == 2
    said = "labels are kept in CSV, TSV, JSON lines, JSON or Parquet. Name such a file, e.g. "
    refusal = " ".join(capsys.readouterr().err.split())
    assert path.read_bytes() == before
    if name == "labels.csv":
        assert "labels.csv: the file is not in the format of its name" in refusal
    else:
        assert f"{name}: {said}labels.csv." in refusal
        path.unlink()
        assert main(["labels", "plan", "judged.csv", "--labels", "5", "--out", name]) == 2
        assert f"{name}: {said}labels.csv." in " ".join(capsys.readouterr().err.split())
        assert not path.exists()


def test_labels_go_into_a_file_with_an_ending_in_capitals(judged, tmp_path):
    plan = ["labels", "plan", "judged.csv", "--labels", "5", "--out", "L.PARQUET"]
    assert main(plan) == 0
    file = LabelFile(Path("L.PARQUET"), annotator="a1", choices=["pass", "fail"])
    file.save(file.payload()["items"]["id"][0], Answer("pass"))
    export_labels(file.path)
    assert pd.read_parquet("L.PARQUET")["label"].eq("pass").sum() == 1


def test_two_processes_at_once_lose_no_label(tmp_path):
    """What was answered "saved" is in the file: each of 2 x 60 labels."""
    items = {"item_id": [f"i{i}" for i in range(60)], "annotator": "", "label": ""}
    write_table(pd.DataFrame(items), tmp_path / "labels.csv")
    both = together(LABEL, ["ann", "ben"], tmp_path)
    for process in both:
        assert process.stdout.readline() == "ready\n"
    for process in both:
        write_line(process, "go")
    for process in both:
        process.communicate(timeout=120)
        assert process.returncode == 0
    export_labels(tmp_path / "labels.csv")
    given = read_table(tmp_path / "labels.csv")
    assert len(given) == 120
    assert given.groupby("annotator")["item_id"].nunique().to_dict() == {"ann": 60, "ben": 60}
    assert {path.name for path in tmp_path.iterdir()} == {"labels.csv", "labels.db"}


LOOK = """
import sys
from judgestats.cli import main
from judgestats.commands import labels as labels_page
for line in iter(sys.stdin.readline, "\\n"):
    if line.strip() != "begin":
        main(["monitor", line.strip(), "--state", "s.db", "--rate", "pass=verdict:pass"])
    print("ready", flush=True)
"""


def test_two_looks_at_once_are_both_kept(tmp_path):
    """Four times two processes add a file of judgments to one state."""
    for i in range(8):
        stream(tmp_path / f"{i}.csv", 0.9, 400, i)
    both = together(LOOK, ["one", "two"], tmp_path)
    for first in (None, 0, 2, 4, 6):
        for k, process in enumerate(both):
            write_line(process, "begin" if first is None else f"{first + k}.csv")
        for process in both:
            while (line := process.stdout.readline()) != "ready\n":
                assert line, "the process ended"
    for process in both:
        process.communicate("\n", timeout=60)
        assert process.returncode == 0
    with changed_state(tmp_path / "s.db", create=False) as state:
        assert state.rows("SELECT count(*) FROM observation") == [(8 * 400,)]
        assert state.periods() == [look.period for look in state.looks()] == [*range(1, 9)]


def test_a_label_that_was_acknowledged_outlives_a_kill(tmp_path):
    items = {"item_id": [f"i{i}" for i in range(60)], "annotator": "", "label": ""}
    write_table(pd.DataFrame(items), tmp_path / "labels.csv")
    [process] = together(
        LABEL.replace('"pass"))', '"pass")); print(i, flush=True)'), ["a"], tmp_path
    )
    write_line(process, "go")
    said = [process.stdout.readline() for _ in range(30)]
    process.kill()
    said += process.stdout.readlines()
    process.wait(20)
    process.stdin.close()
    process.stdout.close()
    acknowledged = [f"i{line.strip()}" for line in said[1:] if line.endswith("\n")]
    assert len(acknowledged) >= 29
    with pytest.raises(InputError, match="judgestats labels export"):
        labelled_ids(tmp_path / "labels.csv")
    export_labels(tmp_path / "labels.csv")
    given = read_table(tmp_path / "labels.csv")
    assert set(acknowledged) <= set(given.loc[given["label"] == "pass", "item_id"])
    assert len(labelled_ids(tmp_path / "labels.csv")) == given["label"].eq("pass").sum()


def test_labels_edited_in_the_file_are_taken_over_or_named(tmp_path):
    path = tmp_path / "labels.csv"
    frame = pd.DataFrame({"item_id": ["1", "2", "3"], "annotator": "", "label": ""})
    write_table(frame, path)
    how = {"annotator": "a", "choices": ["pass", "fail"]}
    file = LabelFile(path, **how)
    for item in ("1", "2"):
        file.save(item, Answer("pass"))
    export_labels(path)
    rows = read_table(path)
    rows.loc[rows["item_id"] == "1", "label"] = "fail"
    rows.loc[rows["item_id"] == "2", ["annotator", "label"]] = ""
    write_table(rows, path)  # by hand, and nothing is waiting: the file is right
    assert (tmp_path / "labels.db").read_bytes()[68:72] == b"JSL1"
    again = LabelFile(path, **how)
    made = again.payload()
    given = {made["items"]["id"][i]: answer["label"] for i, answer in made["given"]}
    assert given == {"1": "fail"}
    again.save("3", Answer("fail"))
    rows.loc[rows["item_id"] == "1", "label"] = "pass"
    write_table(rows, path)  # by hand, while labels are waiting
    with pytest.raises(InputError, match=r"labels\.db holds labels that it lacks .*'1' by 'a'"):
        export_labels(path)
    write_table(frame.head(1), tmp_path / "labels.tsv")
    with pytest.raises(InputError, match=r"holds the labels of 'labels\.csv', not of labels\.tsv"):
        LabelFile(tmp_path / "labels.tsv", **how)


def test_two_labels_of_one_person_for_an_item_are_refused(tmp_path):
    path = tmp_path / "labels.csv"
    rows = {"item_id": ["1", "1"], "annotator": "a", "label": ["pass", "fail"]}
    write_table(pd.DataFrame(rows), path)
    with pytest.raises(InputError, match="item '1' has the labels 'pass' and 'fail' of 'a'"):
        LabelFile(path, annotator="a", choices=["pass", "fail"])


def test_a_database_of_another_program_is_left_alone(tmp_path):
    path = tmp_path / "labels.csv"
    write_table(pd.DataFrame({"item_id": ["1"], "annotator": "a", "label": "pass"}), path)
    with closing(sqlite3.connect(tmp_path / "labels.db")) as db, db:
        db.execute("CREATE TABLE mine (x)")
    before = (tmp_path / "labels.db").read_bytes()
    assert labelled_ids(path) == {"1"}
    with pytest.raises(InputError, match=r"labels\.db is no store of labels"):
        LabelFile(path, annotator="a", choices=["pass", "fail"])
    assert (tmp_path / "labels.db").read_bytes() == before


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
        for method, where in (("GET", "/data"), ("POST", "/label")):
            reply, _ = ask(port, method, where, body=body, **case)
            assert reply.status == 403, case
    assert ask(port, "GET", "/", Host="evil.example")[0].status == 403
    item = data(port, token)[0]["items"]["id"][0]
    for bad in (
        {"item": item, "label": "<b>"}, {"item": "i", "label": "pass"}, [], {"item": [item]},
        {"item": item, "label": ""}, {"item": item, "label": "pass", "unsure": "no"},
        {"item": item, "label": "pass", "note": [[[[[["deep"]]]]]]},
    ):  # fmt: skip
        sent = json.dumps(bad)
        assert ask(port, "POST", "/label", token=token, body=sent)[0].status == 400, bad
    large = json.dumps({"item": item, "label": "pass", "note": "x" * 100_000})
    assert ask(port, "POST", "/label", token=token, body=large)[0].status == 403
    assert path.read_bytes() == before
    assert data(port, token)[1] == {}


def test_a_browser_that_leaves_or_sends_no_request_prints_nothing(page, capfd):
    port, token, _, _ = page
    head = f"POST /label HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nX-Token: {token}\r\n"
    for length in ("9" * 5000, "-1", "+5", "\u0665"):
        with socket.create_connection(("127.0.0.1", port), timeout=10) as link:
            link.sendall(f"{head}Content-Length: {length}\r\n\r\n".encode())
            assert link.makefile("rb").readline() == b"HTTP/1.1 403 Forbidden\r\n", length
    now = struct.pack("ii", 1, 0)  # a reset at once instead of an orderly end
    for sent in ("GET / HT", f"{head}Content-Length: 5000\r\n\r\n{{"):
        with socket.create_connection(("127.0.0.1", port), timeout=10) as link:
            link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, now)
            link.sendall(sent.encode())
    assert data(port, token)[1] == {}  # the connections before it were taken
    for thread in threading.enumerate():
        if "process_request" in thread.name:
            thread.join(10)
    assert capfd.readouterr().err == ""


def test_a_connection_that_says_nothing_is_closed(judged):
    server, _ = label_server(dict, print, port=0)
    assert 0 < server.RequestHandlerClass.timeout <= 60
    server.RequestHandlerClass.timeout = 0.1
    with socket.create_connection(server.server_address, timeout=10) as link:
        server.handle_request()
        assert link.recv(1) == b""
    server.server_close()


def test_the_shell_has_a_policy_and_no_data(page):
    port, token, _, _ = page
    reply, text = ask(port, "GET", "/")
    policy = reply.getheader("Content-Security-Policy")
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert token not in text
    assert "answer 0" not in text


def test_the_data_hold_no_verdict(judged, capsys):
    """Every value of the run but items and texts is looked for: the columns, the verdicts."""
    plan = ["labels", "plan", "judged.csv", "--labels", "40", "--by", "verdict", "--text", "answer"]
    assert main(plan) == 0
    made = LabelFile(Path("labels.csv"), annotator="a1", choices=["good", "bad"]).payload()
    assert not {"judgments", "columns", "record", "label", "slice"} & {*made, *made["items"]}
    text = json.dumps(made)
    for value in ("verdict", '"pass', '"fail', "chance", "q1"):
        assert value not in text
    drawn = read_table(Path("labels.csv"))["item_id"].tolist()
    assert sorted(made["items"]["id"]) == sorted(drawn)
    assert made["items"]["id"] != drawn


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
    words = ["--state", "s.db", "--rate", "pass=verdict:pass", "--rate", "agree=verdict:=label",
             "--cluster", "q", "--require", "pass>=.8"]  # fmt: skip
    stream("one.csv", 0.9, 150, 1)
    assert main(["monitor", "one.csv", *words]) == 0
    assert "at every update, 150 judgments" in capsys.readouterr().out
    assert main(["monitor", "one.csv", *words]) == 2
    assert "added before" in capsys.readouterr().err
    stream("two.csv", 0.3, 400, 2, first=1000)
    assert main(["monitor", "two.csv", *words]) == 1
    said = capsys.readouterr().out
    assert "550 judgments" in said
    assert said.startswith("FAIL  Beyond the threshold: pass.")
    assert main(["monitor", "two.csv", "--state", "s.db", "--rate", "x=verdict:pass"]) == 2
    assert "other rates" in capsys.readouterr().err
    before = (tmp_path / "s.db").read_bytes()
    pd.read_csv("two.csv").drop(columns="label").assign(q="new").to_csv("three.csv", index=False)
    assert main(["monitor", "three.csv", *words]) == 2
    told = capsys.readouterr()
    assert "no column 'label'" in told.err
    assert not told.out  # no rate of a file that is refused
    assert (tmp_path / "s.db").read_bytes() == before


@pytest.mark.parametrize("cell", ["7", "inf", "good"])
def test_a_number_that_is_no_share_is_named_with_its_row(cell, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one.csv").write_text(f"id,passed\na,1\nb,0\nc,{cell}\n")
    assert main(["monitor", "one.csv", "--state", "s.db", "--rate", "pass=passed"]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "one.csv, row 3: passed is" in told
    assert "a rate is of numbers from 0 to 1" in told
    assert not (tmp_path / "s.db").exists()


def test_a_stream_tells_slips_of_words_bounds_and_files(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    stream("one.csv", 0.9, 60, 1)
    words = ["monitor", "one.csv", "--state", "s.db", "--rate"]
    assert main([*words, "pass=verdict:pass", "--require", "pass>=80"]) == 2
    assert "a share is between 0 and 1" in capsys.readouterr().err
    assert main([*words, "pass=verdict:PASS"]) == 0
    assert "no row's verdict is 'PASS'" in capsys.readouterr().out
    assert main([*words, "pass=verdict:PASS"]) == 2
    assert "was added to s.db before" in capsys.readouterr().err


def test_texts_that_differ_within_an_item_are_not_labelled_as_one(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [(i, k, "pass", f"answer {i} {k}") for i in range(20) for k in (1, 2)]
    pd.DataFrame(rows, columns=["id", "run", "verdict", "answer"]).to_csv("v.csv", index=False)
    words = ["labels", "plan", "v.csv", "--labels", "10", "--text", "answer", "--out", "l.csv"]
    assert main(words) == 2
    assert "20 items have several texts" in (said := capsys.readouterr().err)
    assert main([*words, *said.split("item: ")[1].rstrip(".\n").split()]) == 0
    assert len(pd.read_csv("l.csv")) == 10
