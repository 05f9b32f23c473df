"""State in SQLite: one transaction per change, whoever else changes it and whatever kills it."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing

import pytest

from judgestats.cli import main
from judgestats.errors import InputError, StoreError
from judgestats.files import Look, Observation, Reference, Terms, changed_state

TERMS = Terms(alpha=0.05)


def add(path, digest, values, item="q"):
    with changed_state(path) as state:
        state.open(TERMS)
        period = state.add_period(digest)
        state.add_observations(
            Observation(period, "anchor", f"{item}{i}", 0, v) for i, v in enumerate(values)
        )
        state.add_look(Look(period, 0.5, -0.5, "not_yet"))


def test_observations_and_looks_come_back_as_they_were_given(tmp_path):
    path = tmp_path / "m.db"
    with changed_state(path) as state:
        state.open(TERMS)
        state.add_reference([Reference("q0", "c", 3, 2.0, 2.0)])
    add(path, "a", [0.5, None, 1.0])
    with changed_state(path, create=False) as state:
        assert state.terms() == TERMS
        assert state.reference() == [Reference("q0", "c", 3, 2.0, 2.0)]
        assert [o.value for o in state.observations("anchor")] == [0.5, None, 1.0]
        assert [*state.observations("new")] == []
        assert state.looks() == [Look(1, 0.5, -0.5, "not_yet")]
    assert [p.name for p in tmp_path.iterdir()] == ["m.db"]
    assert path.read_bytes()[68:72] == b"JSM2"


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), 1.5, -0.1])
def test_a_value_outside_the_range_changes_nothing(tmp_path, bad):
    path = tmp_path / "m.db"
    add(path, "a", [0.5])
    with pytest.raises(InputError, match="the range is 0 to 1"):
        add(path, "b", [0.5, bad])
    with changed_state(path) as state:
        assert state.periods() == [1]


def test_the_same_file_and_other_terms_are_refused(tmp_path):
    path = tmp_path / "m.db"
    add(path, "a", [0.5])
    with pytest.raises(InputError, match=r"was added to .*m\.db before"):
        add(path, "a", [0.6])
    with (
        pytest.raises(InputError, match=r"opened with alpha 0\.05, not 0\.1"),
        changed_state(path) as state,
    ):
        state.open(Terms(alpha=0.1))


@pytest.mark.parametrize(
    "row",
    [("q", "c", 0, 0.0, 0.0), ("q", "c", -5, 0.0, 0.0), ("q", "c", 2, 9.0, 1.0),
     ("q", "c", 2, 1.0, float("inf")), ("q", "c", 2, "x", 1.0)],
)  # fmt: skip
def test_a_reference_that_no_judgments_can_have_is_refused(tmp_path, row):
    path = tmp_path / "m.db"
    add(path, "a", [0.5])
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("INSERT INTO reference VALUES (?, ?, ?, ?, ?)", row)
    with pytest.raises(InputError, match="is no state of judgestats monitor"):
        add(path, "b", [0.5])


def test_a_state_that_another_process_holds_is_waited_for_and_then_named(tmp_path, monkeypatch):
    path = tmp_path / "m.db"
    add(path, "a", [0.5])
    connect, waits = sqlite3.connect, []

    def in_a_hurry(place, *, timeout=0.0, **options):
        waits.append(timeout)
        return connect(place, timeout=timeout / 100, **options)

    with closing(connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        monkeypatch.setattr(sqlite3, "connect", in_a_hurry)
        with pytest.raises(StoreError, match=r"^Another process holds .*m\.db"):
            add(path, "b", [0.5])
        assert max(waits) == 5.0
        other.execute("ROLLBACK")
    add(path, "b", [0.5])


def test_a_refused_first_change_leaves_nothing_of_it(tmp_path):
    with pytest.raises(InputError):
        add(tmp_path / "m.db", "a", [7.0])
    with changed_state(tmp_path / "m.db") as state:
        assert state.terms() is None
        assert state.periods() == []
    with (
        pytest.raises(InputError, match="no such file"),
        changed_state(tmp_path / "none.db", create=False),
    ):
        pass


def test_many_who_make_the_same_state_at_once_all_count(tmp_path):
    path = tmp_path / "m.db"
    threads = [threading.Thread(target=add, args=(path, str(k), [0.5])) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    with changed_state(path) as state:
        assert len(state.periods()) == 8


@pytest.mark.parametrize("kind", ["fifo", "folder", "/dev/null"])
def test_what_is_no_plain_file_is_refused_at_once(tmp_path, kind):
    path = tmp_path / "m.db"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(kind)
    with pytest.raises(InputError, match="not a plain file"):
        add(path, "a", [0.5])


PERIODS = """
import sys
from pathlib import Path
from judgestats.files import Observation, Terms, changed_state
for k in range(10_000):
    with changed_state(Path(sys.argv[1])) as state:
        state.open(Terms(alpha=.05))
        period = state.add_period(str(k))
        state.add_observations(Observation(period, "new", f"q{i}", 0, .5) for i in range(20))
    print(k, flush=True)
"""


def test_a_kill_at_any_moment_leaves_the_state_before_or_after_the_period(tmp_path):
    path = tmp_path / "m.db"
    child = subprocess.Popen(
        [sys.executable, "-c", PERIODS, str(path)], stdout=subprocess.PIPE, text=True
    )
    said = [child.stdout.readline() for _ in range(20)]
    child.send_signal(signal.SIGKILL)
    said += child.stdout.readlines()
    child.wait(20)
    child.stdout.close()
    acknowledged = len([line for line in said if line.endswith("\n")])
    with changed_state(path) as state:
        periods = len(state.periods())
        assert acknowledged <= periods <= acknowledged + 1
        assert state.rows("SELECT count(*) FROM observation") == [(20 * periods,)]


def test_a_state_is_known_by_each_byte_of_its_mark(tmp_path, capsys):
    path = tmp_path / "m.db"
    add(path, "a", [0.5])
    assert main(["check", str(path)]) == 2
    assert "the state has no anchors" in capsys.readouterr().err
    for place in (68, 69, 70, 71):
        changed = bytearray(path.read_bytes())
        changed[place] ^= 1
        other = tmp_path / f"{place}.db"
        other.write_bytes(changed)
        assert main(["check", str(other)]) == 2
        assert "the state has no anchors" not in capsys.readouterr().err
