"""Keys are planted and searched for: journal, frame, logs, messages, tracebacks."""

import base64
import json
import logging
import traceback
from itertools import cycle, pairwise
from urllib.parse import quote

import pytest

from judgestats.collection import RetryPolicy, collect_judgments
from judgestats.errors import JudgeError, JudgestatsError, StoreError
from judgestats.redaction import keep_secret, scrubbed
from judgestats.simulated import Faults, SimulatedServer, run_server
from judgestats.tracking import store_faults

PLANTED = "sk-planted/0815+never-to-be-seen"
FORMS = {
    "plain": lambda key: json.dumps(key)[1:-1],
    "escaped": lambda key: "".join(f"\\u{ord(c):04x}" for c in key),
    "escaped twice": lambda key: "".join(f"\\\\u{ord(c):04x}" for c in key),
    "in a URL": lambda key: quote(key, safe=""),
    "in a URL, small letters": lambda key: (
        quote(key, safe="").replace("%2F", "%2f").replace("%2B", "%2b")
    ),
    "in hexadecimal": lambda key: key.encode().hex().upper(),
    "for HTML, named": lambda key: key.replace("/", "&sol;").replace("+", "&plus;"),
    "for HTML, in decimals": lambda key: "".join(f"&#{ord(c)};" for c in key),
    "for HTML, in hexadecimals": lambda key: "".join(f"&#x{ord(c):04X};" for c in key),
    "for HTML, some and twice": lambda key: "".join(
        f"&amp;#{ord(c)};" if i % 3 else c for i, c in enumerate(key)
    ),
    "base64": lambda key: base64.b64encode(key.encode()).decode(),
    "base64 of a header": lambda key: base64.b64encode(f"user:{key}".encode()).decode(),
    "base64 for URLs": lambda key: base64.urlsafe_b64encode(f"Bearer {key}.".encode()).decode(),
}
"""How a server repeats a key in a JSON string."""


def traces(key):
    """What must be found nowhere: the key, and the middle of its encoded forms."""
    encoded = [base64.b64encode(b"x" * i + key.encode()).decode()[6:-6] for i in range(3)]
    lower = quote(key, safe="").replace("%2F", "%2f").replace("%2B", "%2b")
    entities = [f"&#{ord(c)};&#{ord(d)};" for c, d in pairwise(key)]
    entities += [e.replace("&", "&amp;") for e in entities]
    entities += [f"&#x{ord(c):04X};&#x{ord(d):04X};" for c, d in pairwise(key)]
    entities += ["planted&sol;", "0815&plus;"]
    return [key, quote(key, safe=""), lower, *entities, key.encode().hex().upper(), *encoded]


class Parrot(SimulatedServer):
    """Repeats the key it was sent, in answers or in errors, in one form after the other."""

    def __init__(self, status: int) -> None:
        super().__init__(Faults())
        self.status, self.forms = status, cycle(FORMS.values())

    async def __call__(self, scope, receive, send):
        sent = dict(scope["headers"]).get(b"authorization", b"").decode()
        key = next(self.forms)(sent.removeprefix("Bearer "))
        body = (
            f'{{"error": {{"message": "{"x" * 280} {key}"}}, "model": "{key}",'
            f' "choices": [{{"message": {{"content": "your key is {key}"}}}}]}}'
        ).encode()
        headers = [(b"content-length", str(len(body)).encode()), (b"x-echo", sent.encode())]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


@pytest.mark.parametrize("status", [200, 400, 401, 404, 429, 500])
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_planted_key_is_found_nowhere(plan, tmp_path, monkeypatch, caplog, capsys, status):
    monkeypatch.setenv("JUDGESTATS_API_KEY", PLANTED)
    caplog.set_level(logging.DEBUG)
    once = RetryPolicy(attempts=2, patience_s=0.0, first_s=0.001)
    said = ""
    with run_server(Parrot(status)) as url:
        try:
            collected = collect_judgments(
                plan(items=4, url=url),  # more judgments than forms
                journal=tmp_path / "journal.db",
                stream_to=tmp_path / "parts",
                retry=once,
                progress=True,
            )
            said = collected.read().to_csv() + str(collected)
        except JudgestatsError as error:
            said = "".join(traceback.format_exception(error)) + repr(error.__dict__)
    captured = capsys.readouterr()
    for text in (said, caplog.text, captured.out, captured.err):
        assert not [t for t in traces(PLANTED) if t in text]
    files = [f for f in tmp_path.rglob("*") if f.is_file()]
    assert files
    for file in files:
        assert not [t for t in traces(PLANTED) if t.encode() in file.read_bytes()]


def test_locals_of_a_traceback_do_not_show_the_key(plan, server, monkeypatch):
    """Rich and pytest print local variables: objects along the way must not show the key."""
    url, _ = server(require_key="right")
    monkeypatch.setenv("JUDGESTATS_API_KEY", PLANTED)
    with pytest.raises(JudgeError) as caught:
        collect_judgments(plan(url=url))
    trace = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    shown = "".join(trace.format())
    assert PLANTED not in shown


def test_a_password_in_the_tracking_uri_is_not_repeated(monkeypatch):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "postgresql://me:hunter22%2Fsecret@127.0.0.1:9/runs")
    with pytest.raises(StoreError) as caught, store_faults("it was opened"):
        raise RuntimeError(
            "cannot reach postgresql://me:hunter22%2Fsecret@127.0.0.1 (hunter22/secret)"
        )
    shown = "".join(traceback.format_exception(caught.value))
    assert "hunter22" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert "hunter22" not in "".join(shown.splitlines(True)[-3:])


def test_a_key_of_eight_characters_is_removed_and_a_shorter_one_is_a_placeholder():
    keep_secret("Qz7-xw4Y")
    keep_secret("Rz7-xw4")
    assert scrubbed("a Qz7-xw4Y b Rz7-xw4 c") == "a *** b Rz7-xw4 c"


@pytest.mark.parametrize("code", [0xDCFF, 0xD800])
def test_a_key_that_is_not_utf_8_is_removed(code):
    keep_secret(f"Hv3longpass{chr(code)}word")
    for seen in (chr(code), "\ufffd", *(["%FF"] if code == 0xDCFF else [])):
        assert "Hv3long" not in scrubbed(f"at Hv3longpass{seen}word: refused")


def test_the_key_is_sent_all_the_same(plan, server, monkeypatch):
    url, _ = server(require_key=PLANTED)
    monkeypatch.setenv("JUDGESTATS_API_KEY", PLANTED)
    assert collect_judgments(plan(url=url)).account.answered == 20
    monkeypatch.setenv("JUDGESTATS_API_KEY", "another")
    with pytest.raises(JudgeError):
        collect_judgments(plan(url=url))
