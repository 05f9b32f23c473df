"""What files and servers say reaches the terminal without controls; a password reaches nothing."""

import json

import pandas as pd
import pytest

from judgestats.cli import main
from judgestats.simulated import run_server
from tests.collection.picky import Picky

EVIL = "\x1b[2J\x1b[31m\r\nAccount: forged\x07\x9b"
PASSWORD = "hunter-2-planted"
SMALL = ("--report", "none", "--resamples", "99")


class Evil(Picky):
    """Refuses the hottest condition in words that paint; its fingerprint repeats the key too."""

    def __init__(self):
        super().__init__(lambda request: request["temperature"] == 2.0, words=f"no {EVIL}")

    async def __call__(self, scope, receive, send):
        key = dict(scope["headers"]).get(b"authorization", b"")
        painted = json.dumps(EVIL)[1:-1].encode() + key

        async def painting(message):
            if message["type"] == "http.response.start":
                kept = [h for h in message["headers"] if h[0] != b"content-length"]
                message = {**message, "headers": kept}
            elif "body" in message:
                body = message["body"].replace(b"fp_simulated_1", painted)
                message = {**message, "body": body.replace(b'"in_progress"', b'"%s"' % painted)}
            await send(message)

        await super().__call__(scope, receive, painting)


def assert_hidden(said, files):
    assert PASSWORD not in said
    for file in files:
        assert PASSWORD.encode() not in file.read_bytes(), file


def said_by(capsys, code, *words):
    assert main(list(words)) == code
    out, err = capsys.readouterr()
    for line in (out + err).split("\n"):
        assert line.replace("\t", " ").isprintable(), line
        assert not line.startswith("Account: forged")
    return out + err


def test_items_and_servers_words(workplace, capsys, monkeypatch):
    monkeypatch.setenv("JUDGESTATS_API_KEY", PASSWORD)
    items = [
        {"id": f"q{i}{EVIL}", "category": EVIL, "question": f"? {EVIL} {i}", "response": "So."}
        for i in range(6)
    ]
    path = workplace / "evil.jsonl"
    path.write_text("\n".join(map(json.dumps, items)))
    said = said_by(capsys, 0, "items", "show", str(path))
    assert "First item, q0" in said
    with run_server(Evil()) as url:
        plan = ["--items", str(path), "--temperatures", "0.5,1,2", "--repeats", "2"]
        plan += ["--report", "html", "--resamples", "99"]
        said = said_by(capsys, 0, "run", "temperature", "--judges", f"sim-typical@{url}", *plan)
        assert "What the servers said:" in said
        assert "no [2J [31m Account: forged" in said
        assert "No judgment was answered under" in said
    written = [f for f in workplace.rglob("*") if f.is_file()]
    assert {"report.html", "results.json", "journal.sqlite", "mlflow.db"} <= {
        f.name for f in written
    }
    assert any(b"Bearer ***" in f.read_bytes() for f in written)  # where the key would stand
    assert_hidden(said, written)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_names_in_tables(workplace, capsys, kind):
    rows = [
        {"item_id": f"q{i}{EVIL}", "judge": j, "replicate": r, "score": 1 + (3 * i + r) % 9}
        for i in range(6)
        for j in (f"a{EVIL}", "b")
        for r in range(3)
    ]
    frame = pd.DataFrame(rows).assign(kind=f"k{EVIL}")
    path = workplace / "parts"
    if kind == "csv":
        path = workplace / "evil.csv"
        frame.to_csv(path, index=False)
    else:
        path.mkdir()
        frame.to_parquet(path / "a.parquet", index=False)
    said = said_by(capsys, 0, "analyze", str(path), "--factor", "kind", *SMALL)
    assert "Account: forged" in said  # within a name


def test_the_last_words_of_an_interrupt(capsys, monkeypatch):
    def stopped(words):
        raise KeyboardInterrupt(f"Stopped: {EVIL}")

    monkeypatch.setattr("judgestats.commands.run.run_command", stopped)
    assert main(["run", "temperature"]) == 130
    assert "\x1b" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["--judges", f"m@https://me:{PASSWORD}@host/v1"],
        ["--judges", f"m@https://me:{PASSWORD}/x@host/v1"],
        ["--judges", f"https://me:{PASSWORD}@host/v1"],
        ["--judges", "m", "--base-url", f"https://me:{PASSWORD}@host/v1"],
        ["--judges", "m", "--base-url", f"https://me:{PASSWORD}/x@host/v1"],
        ["--judges", "m", "--base-url", f"https://host/v1?key={PASSWORD}"],
    ],
)
def test_a_password_in_an_address_is_repeated_nowhere(workplace, capsys, words):
    for before, code in ((["run", "temperature"], 2), (["doctor"], 1)):
        assert main([*before, *words]) == code
        out, err = capsys.readouterr()
        assert_hidden(out + err, [f for f in workplace.rglob("*") if f.is_file()])
