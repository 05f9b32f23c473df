"""Every experiment that a test runs keeps to one screen, of records alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from judgestats.results import Results
from judgestats.runner import run
from tests.results.screens import assert_screen


@pytest.fixture(scope="session", autouse=True)
def screens_are_held() -> Iterator[None]:
    shown = run.show

    def held(found: Results, *, first: Sequence[str] = (), more: str = "") -> None:
        if found.kind != "replication":  # its screen counts claims
            assert_screen(found)
        shown(found, first=first, more=more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "show", held)
        yield
