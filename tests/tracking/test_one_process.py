"""One process: the answer first, MLflow when it is needed, and no run left RUNNING."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from judgestats.cli import main
from judgestats.errors import StoreError
from judgestats.runner import run
from judgestats.tracking import store

WORDS = ["run", "temperature", "--judges", "sim-typical", "--temperatures", "0.5,1"]
WORDS += ["--replicates", "2", "--limit", "4", "--resamples", "99", "--report"]


def statuses(folder: Path) -> list[str]:
    with sqlite3.connect(folder / "mlflow.db") as db:
        found = db.execute(
            "select status from runs where run_uuid not in"
            " (select run_uuid from tags where key = 'mlflow.parentRunId')"
        )
        return [status for (status,) in found]


def python(code: str, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=cwd, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def test_mlflow_is_not_imported_where_nothing_is_tracked(tmp_path: Path) -> None:
    (tmp_path / "my.csv").write_text(
        "item,replicate,score\n" + "".join(f"q{i},{k},{i + k}\n" for i in range(6) for k in (1, 2))
    )
    code = (
        "import sys\nfrom judgestats.cli import main\n"
        "for words in (['--help'], ['run', '--help'], ['run', 'temperature', '--help'],"
        " ['run', 'temperature', '--dry-run'], ['analyze', 'my.csv', '--track', 'none']):\n"
        "    code = main(words)\n"
        "    assert code == 0, (words, code)\n"
        "    assert 'mlflow' not in sys.modules, words\n"
    )
    done = python(code, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_simulated_judges_are_answered_for_before_a_store_is_opened(workplace, monkeypatch) -> None:
    order: list[str] = []
    for name in ("show", "open_store", "start_import"):
        whole = getattr(run, name)

        def noted(*given, _name=name, _whole=whole, **named):
            order.append(_name)
            return _whole(*given, **named)

        monkeypatch.setattr(run, name, noted)
    assert main([*WORDS, "none"]) == 0
    assert order == ["show", "open_store"]
    order.clear()
    assert main([*WORDS, "none", "--traces", "on"]) == 0
    assert order == ["start_import", "open_store", "show"]
    assert statuses(workplace) == ["FINISHED", "FINISHED"]


def test_a_run_with_a_report_starts_no_python_but_that_of_typst(workplace, monkeypatch) -> None:
    started: list[str] = []
    popen = subprocess.Popen.__init__

    def noted(self, args, *given, **named):
        started.append(" ".join(map(str, args)))
        popen(self, args, *given, **named)

    monkeypatch.setattr(subprocess.Popen, "__init__", noted)
    monkeypatch.setenv("JUDGESTATS_RENDERER", "builtin")
    assert main([*WORDS, "html,pdf"]) == 0
    assert started
    assert [s for s in started if "pandoc" not in s and "typst" not in s] == []
    assert len(list(workplace.glob("mlruns/*/*/artifacts/report.*"))) == 2


@pytest.mark.parametrize(("traces", "left"), [("off", []), ("on", ["KILLED"])])
def test_an_interrupted_run_is_killed_or_was_never_there(
    workplace, monkeypatch, capsys, traces, left
) -> None:
    from judgestats.analysis import temperature as analysis

    def interrupted(*_):
        raise KeyboardInterrupt

    words = [*WORDS, "none", "--traces", traces]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(analysis, "analyse", interrupted)
        assert main(words) == 130
    assert statuses(workplace) == left
    told = capsys.readouterr().err
    assert ("The plan is kept in " in told) is (not left)
    if not left:
        kept = Path(told.split("The plan is kept in ")[1].strip().removesuffix("."))
        assert (kept / "plan.json").is_file()
    assert main(words) == 0
    assert "16 from the journal" in capsys.readouterr().err
    assert statuses(workplace) == [*left, "FINISHED"]


@pytest.mark.skipif(os.name != "posix", reason="SIGTERM is of POSIX")
def test_sigterm_ends_a_run_as_killed(workplace) -> None:
    code = (
        "import os, signal, time\n"
        "from judgestats.analysis import temperature as analysis\n"
        "from judgestats.cli import main\n"
        "def ended(*_):\n    os.kill(os.getpid(), signal.SIGTERM)\n    time.sleep(30)\n"
        "analysis.analyse = ended\n"
        "raise SystemExit(main())\n"
    )
    done = python(code, *WORDS, "none", "--traces", "on", cwd=workplace)
    assert done.returncode == 143, done.stderr
    assert "run the same command again" in done.stderr
    assert statuses(workplace) == ["KILLED"]


def test_a_fault_of_the_import_is_raised_when_the_store_is_opened(monkeypatch) -> None:
    for module in ("mlflow.data.pandas_dataset", "mlflow.store.tracking.sqlalchemy_store"):
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, "mlflow.store.tracking.sqlalchemy_store")

    def broken(self) -> None:
        self.fault = ImportError("no module named sqlalchemy")

    monkeypatch.setattr(store._Import, "run", broken)
    store.start_import()
    store.start_import()  # once is enough
    with pytest.raises(ImportError, match="sqlalchemy"):
        store.open_store()
    assert store._import == []


def test_what_was_imported_beside_opens_the_store(workplace, monkeypatch) -> None:
    monkeypatch.delitem(sys.modules, "mlflow.store.tracking.sqlalchemy_store")
    store.start_import()
    [thread] = store._import
    assert store.open_store().experiment_name == "judgestats"
    assert not thread.is_alive()


def test_a_store_that_cannot_be_opened_leaves_the_answer_and_the_files(
    workplace, monkeypatch, capsys
) -> None:
    def fault(*_, **__):
        raise StoreError("the tracking store failed while it was opened")

    monkeypatch.setattr(run, "open_store", fault)
    assert main([*WORDS, "none"]) == 5
    said = capsys.readouterr()
    assert "SIMULATED · " in said.out
    kept = Path(said.err.split("files are kept in ")[1].split(" ")[0])
    assert (kept / "results.json").is_file()
