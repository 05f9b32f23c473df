"""Killed between any two steps of a batch: nothing handed in is handed in again or lost."""

import json
import signal

from judgestats.collection import Journal
from tests.collection.forge import in_a_batch, killed_at_every_step


def test_killed_between_two_steps_the_same_command_goes_on(tmp_path, server, forge):
    url, app = server()
    process = forge.start(killed_at_every_step, url=url, folder=str(tmp_path))
    out, err = process.communicate(timeout=300)
    found = {one["where"]: one for one in map(json.loads, out.splitlines())}
    handed_in = {where: one["handed_in"] for where, one in found.items()}
    assert handed_in == {
        "recorded": 0,
        "uploaded": 0,
        "file stored": 0,
        "created": 1,  # its id was never stored: found again by its metadata
        "id stored": 1,
        "ended": 1,
        "downloaded": 1,
    }, err
    for one in found.values():
        assert one["signal"] == signal.SIGKILL
        assert (one["stored"], one["waiting"]) == (1, 19)  # one was asked online, first of all
        assert one["complete"]
        assert one["in_all"] == 1  # never a second batch
        account = one["again"]
        assert (account["cached"], account["answered"], account["failed"]) == (1, 19, 0)
        assert account["requests"] == 19
        assert (one["third"]["cached"], one["third"]["requests"]) == (20, 0)
        assert one["same"]
    assert app.batch_api.billed == 7 * 19
    for where in found:
        with Journal(tmp_path / f"{where}.db") as journal:
            assert len(journal) == 20
            assert not journal.batches.open_judgments()
    uploads = [f for f in app.batch_api._files.values() if f.purpose == "batch"]
    assert len(uploads) == 7 + 1  # and the one whose id nobody ever knew


def test_a_real_interrupt_leaves_the_batch_on_the_server(tmp_path, server, forge):
    url, app = server(batch_looks=10**9)
    process = forge.start(in_a_batch, url=url, journal=str(tmp_path / "j.db"))
    for line in process.stderr:
        if "handed in with 19 requests" in line:
            break
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    account = json.loads(out.splitlines()[-1])
    assert "1 batch goes on on the server (batch_000001)" in account["message"]
    assert account["answered"] == 1
    with Journal(tmp_path / "j.db") as journal:
        (record,) = journal.batches.open(url, "sim-typical")
        assert record.batch_id == "batch_000001"
    assert app.batch_api.billed == 0
