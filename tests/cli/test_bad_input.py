"""Bad input gets one clear sentence, exit code 2, and leaves nothing behind."""

import json
import sqlite3
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from judgestats.cli import main

KEY = "sk-planted-0123456789abcdef"


def told(capsys, *words):
    code = main(list(words))
    captured = capsys.readouterr()
    return code, captured.err


def left_behind(folder):
    with sqlite3.connect(folder / "mlflow.db") as db:
        return db.execute("select count(*) from runs").fetchone()[0]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "temperature", "--judges", "sim-nonsense"], "There are: sim-typical"),
        (["run", "temperature", "--judges", "gpt-4o-mini"], "OPENAI_API_KEY"),
        (["run", "temperature", "--repeats", "1"], "repeats"),
        (["run", "temperature", "--temperatures", "0,abc"], "not a number"),
        (["run", "temperature", "--temperatures", "3"], "out of range"),
        (["run", "temprature"], "There are:"),
        (["run"], "name an experiment"),
        (["run", "temperature", "--replicate", "3"], "Did you mean --repeats?"),
        (["run", "temperature", "--items", "none.jsonl"], "none.jsonl"),
        (["run", "temperature", "--prompt", "none.txt"], "none.txt"),
        (["run", "temperature", "--base-url", "ftp://x", "--judges", "m"], "ftp"),
        (["analyze", "none.csv"], "there is no file"),
        (["analyze"], "required: file"),
        (["frobnicate"], "frobnicate"),
        (["report", "0123456789abcdef0123456789abcdef"], "there is no run"),
        (["simulate", "--port", "99999"], "0-65535"),
    ],
)
def test_one_sentence_and_nothing_written(workplace, capsys, words, said):
    code, err = told(capsys, *words)
    assert code == 2
    assert said in err
    assert err.startswith("judgestats: ")
    assert "Traceback" not in err
    assert left_behind(workplace) == 0
    assert not (workplace / ".judgestats").exists()


class _Refusing(BaseHTTPRequestHandler):
    """A server that refuses every key, and repeats it in its message as some do."""

    def do_GET(self):
        key = self.headers.get("Authorization", "")
        body = json.dumps({"error": {"message": f"Incorrect API key: {key}"}}).encode()
        self.send_response(401)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, *_):
        """Silent."""


@pytest.fixture
def refusing_server():
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Refusing)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_wrong_key_is_named_and_never_shown(workplace, capsys, monkeypatch, refusing_server):
    monkeypatch.setenv("JUDGESTATS_API_KEY", KEY)
    code, err = told(capsys, "run", "temperature", "--judges", "m", "--base-url", refusing_server)
    assert code == 2
    assert "refuses the key" in err
    assert KEY not in err
    assert left_behind(workplace) == 0
    for file in workplace.rglob("*"):
        if file.is_file():
            assert KEY.encode() not in file.read_bytes(), file


def test_an_unreachable_server(workplace, capsys):
    code, err = told(
        capsys, "run", "temperature", "--judges", "m", "--base-url", "http://127.0.0.1:9/v1"
    )
    assert code == 2
    assert "cannot be reached" in err
    assert left_behind(workplace) == 0


def test_a_store_that_cannot_be_written(workplace, capsys, monkeypatch):
    import mlflow

    uri = "sqlite:////proc/judgestats/none.db"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
    mlflow.set_tracking_uri(uri)
    code, err = told(capsys, "run", "temperature", "--judges", "sim-typical")
    assert code == 5  # the answers are kept
    assert "tracking store" in err
    assert "MLFLOW_TRACKING_URI" in err


def test_a_file_without_the_mapped_column(workplace, capsys):
    (workplace / "i.csv").write_text("question,answer\nWhy?,Because.\n")
    code, err = told(capsys, "run", "temperature", "--items", "i.csv", "--map", "question=prompt")
    assert code == 2
    assert "prompt" in err
    assert "i.csv" in err
