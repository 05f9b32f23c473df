"""Each misbehaviour over loopback HTTP: the account and the statuses must be exact."""

import json
import os
import ssl
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.x509.oid import NameOID

from judgestats import collection
from judgestats.collection.client import _relevant_headers
from judgestats.data import setting_sent, validate_raw
from judgestats.errors import JudgeError

ONCE = collection.RetryPolicy(attempts=1, unusable_attempts=1, patience_s=0.0)
"""No second try, so that a fault's own status shows."""
CENT = collection.PriceTable(
    as_of="2026-01-01",
    source="test",
    endpoints={"simulated": {"*": collection.Price(input=10.0, output=10.0)}},
)


def consistent(collected):
    account = collected.account
    frame = validate_raw(collected.read())
    assert account.asked == account.answered + account.failed
    assert len(frame) == account.rows
    assert frame["failure"][frame["transport"] == "answered"].eq("").all()
    assert (frame["transport"] == "failed").sum() == account.failed
    return frame


@pytest.mark.parametrize(
    ("fault", "failure", "billed_in_vain"),
    [
        ("server_error", "server_error", False),
        ("reset", "connection_broken", True),
        ("truncated_json", "malformed_reply", True),
        ("huge_json", "reply_too_large", True),
        ("wrong_type", "wrong_path", True),
    ],
)
def test_a_fault_has_its_own_status(plan, server, fault, failure, billed_in_vain):
    url, app = server(**{fault: 0.4}, seed=3)
    tasks = plan(items=10, replicates=3, url=url)
    collected = collection.collect_judgments(tasks, retry=ONCE)
    frame = consistent(collected)
    account = collected.account
    assert len(frame) == 30
    assert account.failures == {failure: account.failed}
    assert 3 < account.failed < 25
    assert account.requests == app.received == 30
    assert account.discarded == (account.failed if billed_in_vain else 0)
    assert frame.loc[frame["transport"] == "failed", "raw_text"].eq("").all()


@pytest.mark.parametrize("fault", ["rate_limited", "overloaded", "truncated_json"])
def test_retries_bring_every_judgment(plan, server, quick, fault):
    url, app = server(**{fault: 0.3})
    collected = collection.collect_judgments(plan(items=10, replicates=3, url=url), retry=quick)
    frame = consistent(collected)
    assert collected.account.answered == 30
    assert collected.account.requests == app.received
    assert collected.account.retries == app.received - 30
    assert collected.account.retries > 0
    assert frame["attempts"].sum() == app.received
    clean = collection.collect_judgments(plan(items=10, replicates=3))
    assert frame["raw_text"].tolist() == clean.frame["raw_text"].tolist()


def test_a_stalled_reply_times_out_and_is_possibly_billed(plan, server):
    url, _ = server(stalled=0.3, stall_s=30.0)
    collected = collection.collect_judgments(
        plan(items=5, replicates=2, url=url), retry=ONCE, timeout_s=0.3, prices=CENT
    )
    frame = consistent(collected)
    timed_out = collected.account.failures["timed_out"]
    assert 0 < timed_out < 10
    assert (frame["failure"] == "timed_out").sum() == timed_out == collected.account.discarded
    assert collected.account.cost_in_vain_usd > 0
    assert any("--timeout allows more" in note for note in collected.notes)


def test_retry_after_zero_has_a_floor_and_an_end(plan, server):
    url, app = server(rate_limited=1.0, retry_after_s=0.0)
    hasty = collection.RetryPolicy(first_s=0.05, patience_s=0.5)
    collected = collection.collect_judgments(plan(items=1, replicates=1, url=url), retry=hasty)
    assert collected.account.failures == {"rate_limited": 1}
    assert app.received < 20  # it was 120 requests a second, for ever


def test_quota_headers_are_read(plan, server, quick):
    url, _ = server(capacity=6, quota_headers=True, latency_s=0.002)
    collected = collection.collect_judgments(
        plan(items=20, replicates=2, url=url), concurrency=12, retry=quick
    )
    assert collected.account.answered == 40


def test_anthropics_quota_headers_are_read():
    soon = (datetime.now(UTC) + timedelta(seconds=30)).isoformat()
    name = "anthropic-ratelimit-output-tokens"
    assert collection.quota_pause(
        {f"{name}-remaining": "0", f"{name}-reset": soon}
    ) == pytest.approx(30, abs=5)
    assert collection.quota_pause({f"{name}-remaining": "9", f"{name}-reset": soon}) == 0.0
    for odd in ("2026-99-99T00:00:00Z", "2026-01-01T::::::Z", "2026-01-01T00:00:00Z", ""):
        assert collection.quota_pause({f"{name}-remaining": "0", f"{name}-reset": odd}) == 0.0
    kept = _relevant_headers([(name.encode() + b"-reset", b"x"), (b"set-cookie", b"y")])
    assert kept == [(name.encode() + b"-reset", b"x")]


# ------------------------------------------------------------------- what a server does not support


def test_a_refused_temperature_makes_the_condition_invalid(plan, server):
    url, app = server(refuse_temperature=True)
    tasks = plan(items=5, replicates=2, temperatures=(0.5, 1.0, None), url=url)
    collected = collection.collect_judgments(tasks)
    frame = consistent(collected)
    invalid = frame[frame["transport"] == "invalid_condition"]
    assert (invalid["temperature"] == 0.5).all()
    assert len(invalid) == collected.account.invalid == 10
    assert set(invalid["failure"]) == {"temperature_refused"}
    assert collected.account.answered == 20
    assert app.answered == 20  # nothing was run at the default
    assert app.received <= 20 + 10
    assert any("condition is invalid" in note for note in collected.notes)


@pytest.mark.parametrize(
    ("faults", "mode"),
    [
        ({}, "json_schema"),
        ({"refuse_schema": True}, "tool"),
        ({"refuse_schema": True, "refuse_tools": True}, "text"),
    ],
)
def test_the_reply_mode_falls_to_what_is_supported(plan, server, tmp_path, faults, mode):
    url, app = server(**faults)
    path = tmp_path / "journal.db"
    collected = collection.collect_judgments(plan(items=5, replicates=2, url=url), journal=path)
    frame = consistent(collected)
    assert set(frame["reply_mode"]) == {mode}
    assert set(collected.reply_modes.values()) == {mode}
    assert app.received == 10 + len(faults)  # one request finds out for all
    again = collection.collect_judgments(plan(items=5, replicates=3, url=url), journal=path)
    assert app.received == 15 + len(faults)  # and the journal remembers
    assert again.account.cached == 10


def test_a_mode_that_a_server_ignores_is_not_taken_for_proven(plan, server):
    url, _ = server(ignore_schema=True)
    collected = collection.collect_judgments(plan(url=url))
    frame = consistent(collected)
    assert set(frame["reply_mode"]) == {"tool"}
    assert any("ignores the reply mode json_schema" in note for note in collected.notes)
    assert collected.account.discarded == 1


@pytest.mark.parametrize("faults", [{"refuse_n": True}, {"ignore_n": True}])
def test_where_n_is_missing_judgments_are_asked_one_by_one(plan, server, faults):
    url, app = server(**faults)
    collected = collection.collect_judgments(
        plan(items=4, replicates=4, url=url), choices_per_request=4, concurrency=2
    )
    frame = consistent(collected)
    assert collected.account.answered == 16
    assert app.answered == 16
    assert app.received <= 16 + 2
    assert any("one by one" in note for note in collected.notes)
    clean = collection.collect_judgments(plan(items=4, replicates=4))
    assert frame["raw_text"].tolist() == clean.frame["raw_text"].tolist()


def test_a_refused_seed_is_dropped_and_recorded(plan, server):
    url, _ = server(refuse_seed=True)
    collected = collection.collect_judgments(plan(url=url), seed=1)
    assert set(setting_sent(collected.frame["sent"], "seed")) == {None}
    assert any("without a seed" in note for note in collected.notes)


# ------------------------------------------------------------------- all at once


def test_chaos(plan, server, quick, tmp_path):
    url, app = server(
        rate_limited=0.05,
        rate_limited_silent=0.03,
        overloaded=0.03,
        server_error=0.05,
        reset=0.05,
        truncated_json=0.03,
        wrong_type=0.02,
        refusal=0.02,
        cut_off=0.02,
        latency_s=0.002,
        latency_spread=0.5,
    )
    tasks = plan(items=25, replicates=8, temperatures=(0.5, 1.0), url=url)
    path = tmp_path / "journal.db"
    cap = 0.4
    first = collection.collect_judgments(
        tasks, journal=path, retry=quick, prices=CENT, budget=collection.Budget(max_cost=cap)
    )
    consistent(first)
    assert first.stopped_because is collection.Stop.MAX_COST
    assert first.account.total_cost_usd <= cap
    billed = app.billed_tokens * 10 / 1e6
    assert billed <= cap  # by the server's own count, replies that came to nothing included
    rest = collection.collect_judgments(tasks, journal=path, retry=quick, prices=CENT)
    frame = consistent(rest)
    assert rest.complete
    assert len(frame) == 400
    assert rest.account.cached == first.account.answered
    assert rest.account.answered + rest.account.cached == 400
    assert rest.account.failed == 0
    assert first.account.requests + rest.account.requests == app.received


def test_an_endpoint_that_goes_down_is_named_and_answers_are_kept(plan, tmp_path):
    from judgestats.simulated import SimulatedServer, run_server

    path = tmp_path / "journal.db"
    with run_server(SimulatedServer()) as url:
        collection.collect_judgments(plan(items=2, url=url), journal=path)
    with pytest.raises(JudgeError, match="cannot be reached") as caught:
        collection.collect_judgments(
            plan(items=3, url=url),
            journal=path,
            retry=collection.RetryPolicy(first_s=0.001, longest_s=0.001),
        )
    assert caught.value.exit_code == 2
    assert collection.collect_judgments(plan(items=2, url=url), journal=path).account.cached == 8


def test_a_wait_is_told_at_once(plan, server, capsys):
    url, _ = server(rate_limited=0.5, retry_after_s=1.2, seed=3)
    collected = collection.collect_judgments(
        plan(items=2, replicates=1, url=url), progress=True, concurrency=2
    )
    assert collected.account.answered == 2
    assert f"{url} asks to wait" in capsys.readouterr().err


@pytest.fixture
def private_tls(tmp_path):
    """A server on loopback whose certificate no authority signed, and the certificate's file."""
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "private")])
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    host = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    made = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    made = made.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    certificate = made.add_extension(host, critical=False).sign(key, SHA256())
    file = tmp_path / "private.pem"
    plain = serialization.NoEncryption()
    forms = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    file.write_bytes(
        certificate.public_bytes(serialization.Encoding.PEM) + key.private_bytes(*forms, plain)
    )
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(file)
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"https://127.0.0.1:{server.server_port}/v1", file
        server.shutdown()
        thread.join()


def test_a_private_certificate_is_named_with_what_helps(plan, private_tls, capsys):
    url, file = private_tls
    tasks = plan(items=1, replicates=1, url=url)
    with pytest.raises(JudgeError, match="certificate is not trusted") as refused:
        collection.collect_judgments(tasks, retry=ONCE)
    assert "SSL_CERT_FILE (judges) and REQUESTS_CA_BUNDLE (MLflow)" in str(refused.value)
    assert "self-signed certificate" in str(refused.value)
    # aiohttp reads the variable once in a process, when it is loaded
    words = ["doctor", "--judges", f"m@{url}"]
    asked = subprocess.run(
        [sys.executable, "-m", "judgestats", *words],
        env={**os.environ, "SSL_CERT_FILE": str(file)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "POST /v1/chat/completions" in capsys.readouterr().err  # the server's log: trusted
    assert "certificate" not in asked.stdout + asked.stderr


@pytest.mark.parametrize(
    ("fault", "finish"),
    [("refusal", "refusal"), ("filtered", "content_filter"), ("cut_off", "length")],
)
def test_refusals_and_cut_replies_are_answers_with_a_reason(plan, server, fault, finish):
    url, _ = server(**{fault: 0.5})
    collected = collection.collect_judgments(plan(items=10, replicates=3, url=url))
    frame = consistent(collected)
    assert collected.account.answered == 30
    assert 3 < (frame["finish_reason"] == finish).sum() < 27
    assert set(frame["finish_reason"]) == {finish, "stop"}


def test_concurrency_falls_under_a_capacity_and_everything_arrives(plan, server, quick):
    url, app = server(capacity=4, latency_s=0.005)
    collected = collection.collect_judgments(
        plan(items=20, replicates=5, url=url), concurrency=32, retry=quick
    )
    assert collected.account.answered == 100
    assert collected.account.retries < 150
    consistent(collected)
    assert app.peak_in_flight <= 33


def test_an_ignored_temperature_is_sent_all_the_same(plan, server):
    url, _ = server(ignore_temperature=True)
    frame = collection.collect_judgments(plan(temperatures=(0.0,), url=url)).frame
    assert set(setting_sent(frame["sent"], "temperature")) == {0.0}


def test_faults_can_be_asked_for_by_header(plan, server):
    import urllib.request

    url, _ = server()
    body = json.dumps(
        {"model": "sim-typical", "messages": [{"role": "user", "content": "Rate 1-10."}]}
    ).encode()
    request = urllib.request.Request(
        f"{url}/chat/completions", body, {"X-Judgestats-Faults": "refusal=1"}
    )
    with urllib.request.urlopen(request) as answer:
        message = json.load(answer)["choices"][0]["message"]
    assert message["refusal"]
