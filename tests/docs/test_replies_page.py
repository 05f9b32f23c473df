"""The page of reply shapes is current, and the published replies are read as it says."""

import importlib.util
import json
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
DATA = REPOSITORY.parent / "shared" / "data"


@pytest.fixture(scope="module")
def build():
    path = REPOSITORY / "docs" / "build_replies.py"
    spec = importlib.util.spec_from_file_location("build_replies", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_current(build):
    assert build.PAGE.read_text(encoding="utf-8") == build.page()


@pytest.mark.skipif(not DATA.is_dir(), reason="the shared data folder is absent")
def test_published_replies_are_read_as_the_page_says(build):
    kept = [json.loads(line) for line in build.DIFFERENCES.read_text("utf-8").splitlines()]
    assert build.differences(DATA) == kept
