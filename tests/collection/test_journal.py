import asyncio
import contextlib
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from judgestats.cli import main
from judgestats.collection import (
    VERSION,
    Abilities,
    Answer,
    BatchRecord,
    BatchRequest,
    Charge,
    Journal,
    SentRequest,
    collect_judgments,
    journal_view,
    store_error,
)
from judgestats.data import setting_sent
from judgestats.errors import StoreError
from judgestats.protocols import ReplyMode
from judgestats.runner import load_design, settings_of
from judgestats.runner.prepare import prepare

EARLIER = Path(__file__).parents[1] / "made_by_0_1_0" / "journal.sqlite"

KEY = b"k" * 32


def answer(text="7"):
    return Answer(
        text=text, mode="text", finish_reason="stop", model="m", fingerprint="",
        sent='{"temperature":0.5}', choices=1, tokens_in=10.0, tokens_out=None, cost_usd=None,
        latency_s=0.1, attempts=1, asked_at="2026-01-01T00:00:00+00:00",
    )  # fmt: skip


def put(journal, key=KEY, text="7"):
    async def run():
        number = journal.begin([key])
        await journal.answered(number, [(key, answer(text))])

    asyncio.run(run())


def test_what_is_stored_is_there_after_reopening(tmp_path):
    path = tmp_path / "journal.db"
    with Journal(path) as journal:
        put(journal, text="sieben \u2603")
    with Journal(path) as journal:
        assert journal.get(KEY) == answer("sieben \u2603")
        assert journal.get(b"x" * 32) is None
        assert len(journal) == 1
        assert journal.was_lost([KEY]) == 0


def test_requests_in_flight_when_killed_are_known_afterwards(tmp_path):
    path = tmp_path / "journal.db"
    code = (
        "import os, signal, sys\n"
        "from judgestats.collection.journal import Journal\n"
        "Journal(sys.argv[1]).begin([b'k' * 32, b'l' * 32])\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    assert done.returncode < 0
    with Journal(path) as journal:
        pass  # merely opening it does not forget
    with Journal(path) as journal:
        assert journal.was_lost([KEY, b"l" * 32, b"m" * 32]) == 2
        assert journal.was_lost([KEY]) == 0
        put(journal)
    with Journal(path) as journal:
        assert journal.was_lost([KEY]) == 0
        assert journal.was_lost([b"l" * 32]) == 1


def test_a_request_that_failed_for_certain_leaves_nothing(tmp_path):
    path = tmp_path / "journal.db"

    async def run(journal):
        journal.failed(journal.begin([KEY]))
        journal.failed(journal.begin([b"l" * 32]), billed_in_vain="timed_out")

    with Journal(path) as journal:
        asyncio.run(run(journal))
    with Journal(path) as journal:
        assert journal.was_lost([KEY, b"l" * 32]) == 0
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT outcome FROM attempts").fetchall() == [("timed_out",)]
    db.close()


def test_a_second_process_is_told_who_holds_the_journal(tmp_path):
    path = tmp_path / "journal.db"
    with Journal(path) as journal:
        put(journal)
        with pytest.raises(StoreError, match=r"in use by another process \(process \d+ since "):
            Journal(path)
        assert journal.get(KEY) is not None


def refused(path, match):
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(StoreError, match=match):
        Journal(path)
    if before is not None:
        assert path.read_bytes() == before


def test_foreign_files_are_named_and_left_alone(tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("my notes, quite long enough to be longer than a header would be " * 4)
    refused(text, "not a SQLite file")
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE t (x)")
    db.close()
    refused(other, "of another program")
    refused(tmp_path, "a folder")


def test_a_newer_journal_is_named(tmp_path):
    path = tmp_path / "journal.db"
    Journal(path).close()
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version=99")
    db.close()
    refused(path, "newer judgestats.*99")


def test_truncated_journals_are_named(tmp_path):
    path = tmp_path / "journal.db"
    with Journal(path) as journal:
        for i in range(50):
            put(journal, bytes([i]) * 32, "x" * 1000)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    refused(path, "truncated")
    path.write_bytes(whole[:50])
    refused(path, "truncated")
    path.write_bytes(b"")
    refused(path, "0 bytes")
    path.unlink()
    (tmp_path / "journal.db-wal").write_bytes(b"something")
    refused(path, "write-ahead log")
    assert (tmp_path / "journal.db-wal").read_bytes() == b"something"


def test_damaged_pages_are_named(tmp_path):
    path = tmp_path / "journal.db"
    with Journal(path) as journal:
        for i in range(50):
            put(journal, bytes([i]) * 32, "x" * 1000)
    whole = bytearray(path.read_bytes())
    for at in range(4096, len(whole)):
        whole[at] = 0xA5
    path.write_bytes(bytes(whole))
    with pytest.raises(StoreError, match="damaged"), Journal(path) as journal:
        journal.get(KEY)
    assert not (tmp_path / "journal.db.owner").exists()


def test_a_full_disk_is_named_and_what_was_stored_is_kept(tmp_path):
    path = tmp_path / "journal.db"
    with Journal(path) as journal:
        put(journal, text="kept")
        pages = journal._database.db.execute("PRAGMA page_count").fetchone()[0]
        journal._database.db.execute(f"PRAGMA max_page_count={pages}")
        with pytest.raises(StoreError, match="disk is full"):
            put(journal, b"l" * 32, "x" * 100_000)
    with Journal(path) as journal:
        kept = journal.get(KEY)
        assert kept is not None
        assert kept.text == "kept"
        assert journal.get(b"l" * 32) is None


def test_a_read_only_place_is_named(tmp_path):
    with pytest.raises(StoreError, match="folder"):
        Journal("/proc/no-such-folder/journal.db")
    path = tmp_path / "journal.db"
    Journal(path).close()
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    with pytest.raises(sqlite3.OperationalError) as caught:
        db.execute("DELETE FROM answers")
    db.close()
    assert "read-only" in str(store_error(caught.value, path))


def test_many_writers_share_commits(tmp_path):
    async def run(journal):
        async def one(i):
            key = i.to_bytes(32, "big")
            await journal.answered(journal.begin([key]), [(key, answer(str(i)))])

        await asyncio.gather(*(one(i) for i in range(200)))

    with Journal(tmp_path / "journal.db") as journal:
        commits = []
        journal._database.db.set_trace_callback(
            lambda sql: commits.append(sql) if sql == "COMMIT" else None
        )
        asyncio.run(run(journal))
        assert len(journal) == 200
        assert len(commits) < 20


def test_what_was_half_made_is_no_other_programs(tmp_path):
    """A process that ended (a full disk, SIGKILL) after the first page and before the schema."""
    path = tmp_path / "journal.db"
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode=WAL")
    db.close()
    assert path.stat().st_size == 4096
    with Journal(path) as journal:
        put(journal)
    with Journal(path) as journal:
        assert len(journal) == 1


def test_a_journal_that_cannot_be_made_leaves_nothing_behind(tmp_path, monkeypatch):
    path = tmp_path / "journal.db"

    def full(self, db):
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(Journal, "_lay_out", full)
    with pytest.raises(StoreError, match="disk is full"):
        Journal(path)
    assert list(tmp_path.iterdir()) == []
    monkeypatch.undo()
    with Journal(path) as journal:
        put(journal)


def test_a_foreign_file_with_a_log_is_found_out_under_the_lock(tmp_path):
    path = tmp_path / "other.db"
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA wal_autocheckpoint=0")
    db.execute("PRAGMA application_id=7")  # in the log only: the file's own header says 0
    db.execute("CREATE TABLE t (x)")
    copies = [(p, p.read_bytes()) for p in tmp_path.iterdir() if not p.name.endswith("-shm")]
    db.close()
    for file, content in copies:  # as a killed process would have left it
        file.write_bytes(content)
    refused(path, "of another program")


def test_pipes_and_reserved_names(tmp_path, monkeypatch):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(StoreError, match="not an ordinary file"):
        Journal(pipe)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StoreError, match=r"journal \.: this is a folder"):
        Journal(".")
    with Journal(":memory:") as journal:  # to SQLite: no file at all
        put(journal)
    assert (tmp_path / ":memory:").stat().st_size > 0
    with Journal(":memory:") as journal:
        assert len(journal) == 1


def test_closing_again_does_nothing_to_another_process(tmp_path):
    path = tmp_path / "journal.db"
    first = Journal(path)
    first.close()
    with Journal(path):
        first.close()
        assert path.with_name("journal.db.owner").exists()


def test_a_journal_from_before_batches_is_brought_up_to_date(tmp_path):
    path = tmp_path / "journal.db"
    shutil.copy(EARLIER, path)
    db = sqlite3.connect(path)
    db.executescript("DROP TABLE batches; DROP TABLE batch_requests; PRAGMA user_version=1;")
    db.close()
    with Journal(path) as journal:
        assert len(journal) == 18
        assert journal.batches.open_judgments() == set()
    db = sqlite3.connect(path)
    assert db.execute("PRAGMA user_version").fetchone() == (VERSION,)
    db.close()


def test_a_journal_of_0_1_0_answers_the_same_plan(tmp_path):
    """Nothing is asked again: the keys are those of then, and the settings are one mapping."""
    path = tmp_path / "journal.db"
    shutil.copy(EARLIER, path)
    given = {
        "judges": "sim-typical",
        "temperatures": "0,0.5,1",
        "limit": "3",
        "repeats": "2",
        "request_seed": "7",
        "max_tokens": "300",
    }
    prepared = prepare(load_design("temperature"), given)
    collected = collect_judgments(
        prepared.tasks,
        journal=path,
        experiment="temperature",
        seed=7,
        settings=settings_of(prepared.parameters),
    )
    assert (collected.account.cached, collected.account.asked) == (18, 0)
    frame = collected.read()
    assert setting_sent(frame["sent"], "temperature") == frame["temperature"].tolist()
    assert setting_sent(frame["sent"], "seed") == [7 + r for r in frame["replicate"]]
    assert frame["tokens_reasoning"].isna().all()
    assert any("read by version 1 of the rules" in note for note in collected.notes)
    again = collect_judgments(prepared.tasks, journal=path, seed=7, settings={"max_tokens": 300})
    assert again.account.cached == 18
    assert not any("of the rules" in note for note in again.notes)


def test_a_batch_of_0_1_0_on_its_way_is_still_known(tmp_path):
    path = tmp_path / "journal.db"
    shutil.copy(EARLIER, path)
    db = sqlite3.connect(path)
    db.execute("INSERT INTO batches VALUES ('n', 'u', 'm', 'f', 'b', 0.5, 1.0)")
    row = ("n", "c", KEY + b"l" * 32, "text", 0.5, 3, "max_tokens", 1, 2)
    db.execute("INSERT INTO batch_requests VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    db.commit()
    db.close()
    with Journal(path) as journal:
        request = journal.batches.requests("n")["c"]
        assert request.keys == (KEY, b"l" * 32)
        assert request.sent.settings_json == '{"temperature":0.5,"seed":3}'
        assert "top_k" in request.sent.settings
        assert (request.sent.choices, request.tried) == (2, 2)


def test_batches_and_answers_end_together(tmp_path):
    path = tmp_path / "journal.db"
    record = BatchRecord(name="n", base_url="u", model="m", estimate=0.5)
    request = BatchRequest(
        custom_id="c",
        keys=(KEY, b"l" * 32),
        sent=SentRequest(
            mode=ReplyMode.TEXT, settings={"top_k": 5}, varied=frozenset({"temperature"}), seed=3
        ),
        tried=2,
    )
    with Journal(path) as journal:
        put(journal, text="first")
        journal.batches.begin(record, [request])
        with pytest.raises(StoreError):
            journal.batches.begin(record, [request])  # a name stands once, and nothing is left over
    with Journal(path) as journal:
        assert journal.batches.open("u", "m") == [record]
        assert journal.batches.open("u", "other") == []
        assert journal.batches.requests("n") == {"c": request}
        assert journal.was_lost([KEY, b"l" * 32]) == 1  # asked online now, it is paid for twice
        new = journal.store_batch("n", {KEY: answer("second"), b"l" * 32: answer("second")})
        assert new == {b"l" * 32}
        assert journal.get(KEY) == answer("first")
        assert journal.batches.open("u", "m") == []
        assert journal.batches.open_judgments() == set()


def flipped(path, place, bit):
    """The file with one bit turned."""
    content = bytearray(path.read_bytes())
    content[place] ^= 1 << bit
    path.write_bytes(bytes(content))


def test_no_flipped_bit_changes_an_answer_in_silence(tmp_path):
    """Of 250 bits turned in the answers' pages, 29 lost an answer and 12 altered one, unseen."""
    whole = tmp_path / "whole.db"
    keys = [bytes([i]) * 32 for i in range(40)]
    with Journal(whole) as journal:
        journal.keep([(key, answer(f"text {i}")) for i, key in enumerate(keys)])
        before = dict(journal.entries())
    size, draw = whole.stat().st_size, random.Random(17)
    seen = 0
    for _ in range(150):
        path = tmp_path / "flipped.db"
        shutil.copy(whole, path)
        flipped(path, draw.randrange(100, size), draw.randrange(8))
        try:
            with Journal(path) as journal:
                faults = journal.damaged()
                after = dict(journal.entries())
        except StoreError:
            seen += 1
            continue
        seen += bool(faults)
        assert faults or after == before
        assert all(before.get(key) == kept for key, kept in after.items())
    assert seen > 20


def test_a_damaged_answer_is_named_and_can_be_taken_out(tmp_path, capsys):
    path = tmp_path / "journal.db"
    with Journal(path) as journal:
        journal.keep([(KEY, answer("kept")), (b"l" * 32, answer("hurt"))])
    db = sqlite3.connect(path)
    db.execute("UPDATE answers SET text = 'hurT' WHERE text = 'hurt'")
    db.commit()
    db.close()
    with Journal(path) as journal, pytest.raises(StoreError, match="judgestats doctor FILE"):
        journal.get(b"l" * 32)
    assert main(["doctor", str(path)]) == 1
    said = capsys.readouterr().out
    assert "2 answers kept, 1 fault\n  row 2: its checksum differs" in said
    assert "\n\n" not in said
    assert main(["doctor", str(path), "--drop"]) == 1
    assert main(["doctor", str(path)]) == 0
    assert "1 answers whole" in capsys.readouterr().out
    with Journal(path) as journal:
        assert journal.get(KEY).text == "kept"
        assert journal.get(b"l" * 32) is None


HURT = {
    "text that is no UTF-8": (
        "UPDATE answers SET text = CAST(x'e974' AS TEXT)",
        "checksum differs",
    ),
    "what was learned": ('UPDATE abilities SET value = \'{"mode": "jcon"}\'', "cannot be read"),
}


@pytest.mark.parametrize(("change", "said"), HURT.values(), ids=HURT)
def test_what_flipped_bits_leave_is_named_and_can_be_taken_out(change, said, tmp_path, capsys):
    path = tmp_path / "journal.db"
    with Journal(path) as journal:
        journal.keep([(KEY, answer("hurt"))])
        journal.learn("http://x", "m", Abilities())
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute(change)
        db.commit()

    def used():
        with Journal(path) as journal:
            return journal.get(KEY), journal.abilities("http://x", "m")

    with pytest.raises(StoreError, match="judgestats doctor FILE"):
        used()
    assert main(["doctor", str(path), "--drop"]) == 1
    assert said in capsys.readouterr().out
    assert main(["doctor", str(path)]) == 0


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE ledger SET known = 'much'",
        "UPDATE batch_requests SET sent = '{'",
        "PRAGMA writable_schema=1; UPDATE sqlite_master SET sql = CAST(x'ac' AS TEXT) || sql",
    ],
)
def test_a_damaged_file_is_a_sentence_and_no_traceback(change, tmp_path):
    path = tmp_path / "journal.db"
    request = BatchRequest(
        custom_id="1", keys=(KEY,), sent=SentRequest(mode=ReplyMode.TEXT), tried=0
    )
    with Journal(path) as journal:
        journal.ledger.line("a", "http://x", "m")
        journal.batches.begin(BatchRecord(name="b", base_url="http://x", model="m"), [request])
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.executescript(change)
        db.commit()

    def used():
        with Journal(path) as journal:
            return journal.ledger.lines(), journal.batches.requests("b")

    with pytest.raises(StoreError, match="the file is damaged"):
        used()


def test_a_damaged_line_of_the_ledger_is_named(tmp_path, capsys):
    path = tmp_path / "journal.db"
    with Journal(path) as journal:
        first = journal.ledger.line("a", "http://x", "m")
        other = journal.ledger.line("b", "http://x", "m")
        journal.ledger.charge([Charge(line=first, reported=0.25), Charge(line=other, reported=0.5)])
        journal.ledger.charge_again(other, 2)
        assert journal.damaged() == []
    db = sqlite3.connect(path)
    db.execute("UPDATE ledger SET known = 0.05 WHERE known = 0.5")
    db.commit()
    db.close()
    assert main(["doctor", str(path)]) == 1
    said = capsys.readouterr().out
    assert "line 2 of the ledger" in said
    assert "line 1" not in said


def test_a_journal_is_its_owners_alone(tmp_path):
    with Journal(tmp_path / "journal.db") as journal:
        put(journal)
        assert {p.stat().st_mode & 0o077 for p in tmp_path.iterdir()} == {0}


def test_a_look_does_not_lock_and_sees_what_is_committed(tmp_path):
    path = tmp_path / "journal.db"
    with Journal(path) as journal:
        put(journal)
        with journal_view(path) as seen:
            assert seen.get(KEY) == answer()
        journal.keep([(b"l" * 32, answer("later"))])  # still ours
        with journal_view(path) as seen:
            assert len(seen) == 2
    with journal_view(tmp_path / "absent.db") as seen:
        assert len(seen) == 0
    assert not (tmp_path / "absent.db").exists()


def test_abilities_are_kept_by_endpoint_and_model(tmp_path):
    path = tmp_path / "journal.db"
    learned = Abilities(mode=ReplyMode.TOOL, proven=True, refused={("temperature", 0.5): "no"})
    with Journal(path) as journal:
        journal.learn("http://a/v1", "m", learned)
    with Journal(path) as journal:
        assert journal.abilities("http://a/v1", "m") == learned
        assert journal.abilities("http://b/v1", "m") is None
