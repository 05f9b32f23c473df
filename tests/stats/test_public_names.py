"""Every public statistic can be had from judgestats.stats, says what it is, and comes alone."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import judgestats
from judgestats import stats
from judgestats.deprecated import REMOVED_STATISTICS

ROOT = Path(judgestats.__file__).parent
HEAVY = {
    "mlflow",
    "openai",
    "matplotlib",
    "sklearn",
    "pingouin",
    "statsmodels",
    "pandera",
    "scipy.stats",
}


def test_each_name_is_a_documented_function():
    for name in stats.__all__:
        function = getattr(stats, name)
        assert inspect.isfunction(function), name
        doc = inspect.getdoc(function) or ""
        for heading in ("Parameters", "Returns", "Examples"):
            assert f"{heading}\n---" in doc, (name, heading)
        assert not name.startswith("test")
        assert function.__name__ == name


def test_the_package_shows_its_public_names_and_nothing_else():
    assert dir(stats) == sorted(stats.__all__)
    with pytest.raises(AttributeError, match="no attribute 'fleis_kappa'"):
        stats.fleis_kappa  # noqa: B018


def test_no_public_name_is_hidden_by_a_module_of_its_package():
    """Whoever imports `package.name` sets that attribute of the package to the module."""
    hidden = []
    for stub in ROOT.rglob("__init__.pyi"):
        for node in ast.parse(stub.read_text("utf-8")).body:
            names = node.names if isinstance(node, ast.ImportFrom) else []
            package = ".".join(("judgestats", *stub.parent.relative_to(ROOT).parts))
            hidden += [
                f"{package}.{one.name}"
                for one in names
                if node.module != package and importlib.util.find_spec(f"{package}.{one.name}")
            ]
    assert hidden == []


def test_a_removed_name_says_what_to_use():
    for name in REMOVED_STATISTICS:
        assert name not in stats.__all__
        advice = re.escape(f"judgestats.stats.{name} was removed in 0.3.0. Use ")
        with pytest.warns(FutureWarning, match=advice), pytest.raises(AttributeError):
            getattr(stats, name)


def loaded_after(code: str) -> set[str]:
    """Modules in a fresh interpreter after some code has run."""
    shown = f"{code}\nimport sys\nprint(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_the_package_itself_loads_no_room_and_everything_loads_nothing_heavy():
    loaded = loaded_after("import judgestats, judgestats.stats")
    assert not {m for m in loaded if m.startswith("judgestats.stats.")}
    assert not loaded & {"numpy", "scipy", "pandas"}
    assert not loaded_after("from judgestats.stats import *") & HEAVY
