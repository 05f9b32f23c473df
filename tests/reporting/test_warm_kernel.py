"""A Python that imported the cells' needs beforehand makes the report that a fresh one makes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from judgestats import warm_kernel
from judgestats.reporting import code_cells
from judgestats.reporting.render import render_report
from judgestats.warm_kernel import end, kernel_environment, taken, warm_up, warmed


def brief(run: Path, into: Path) -> bytes:
    made = render_report(run, to=("html",), out_dir=into, renderer="builtin", figures=True)
    pictures = sorted((into / "figures").glob("*.svg"))
    return made["html"].read_bytes() + b"".join(p.read_bytes() for p in pictures)


@pytest.fixture(scope="module")
def cold(run_folder, tmp_path_factory) -> bytes:
    return brief(run_folder, tmp_path_factory.mktemp("cold"))


def test_the_report_is_the_same_and_the_python_that_waited_made_it(
    run_folder, cold, tmp_path, capfd
) -> None:
    with warmed():
        warm_up("brief")
        (process,) = warm_kernel._waiting
        warm_up("brief")
        assert warm_kernel._waiting == [process]
        assert brief(run_folder, tmp_path) == cold
        assert warm_kernel._waiting == []
        assert process.poll() is not None  # it ended with the document
    assert capfd.readouterr() == ("", "")


def test_one_that_has_died_is_replaced(run_folder, cold, tmp_path, monkeypatch) -> None:
    with warmed():
        warm_up("brief")
        warm_kernel._waiting[0].kill()
        warm_kernel._waiting[0].wait()
        assert taken() is None
        warm_up("brief")
        process = taken()
        assert process is not None
        monkeypatch.setattr(code_cells, "taken", lambda: process)  # it dies after it was taken
        process.kill()
        process.wait()
        assert brief(run_folder, tmp_path) == cold
    end(process)


def test_one_that_nobody_needs_is_ended() -> None:
    with warmed():
        warm_up("brief")
        (process,) = warm_kernel._waiting
        assert process.poll() is None
    assert process.poll() is not None


def test_no_key_is_in_its_environment(monkeypatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "a secret")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost")
    monkeypatch.setenv("LANG", "C.UTF-8")
    environment = kernel_environment(Path(os.devnull), 0)
    assert not {"SOME_API_KEY", "OPENAI_BASE_URL"} & set(environment)
    assert environment["LANG"] == "C.UTF-8"
