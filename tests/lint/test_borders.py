"""Outside files are opened by judgestats.files alone; read from the syntax tree."""

import ast
from pathlib import Path

import pytest

import judgestats

ROOT = Path(judgestats.__file__).parent
READS = (
    "pandas.read_",
    "pyarrow.csv.read_",
    "pyarrow.json.read_",
    "pyarrow.parquet.read_",
    "pyarrow.feather.read_",
    "pyarrow.parquet.ParquetFile",
    "json.load",
    "yaml.load",
    "yaml.safe_load",
    "yaml.full_load",
    "yaml.unsafe_load",
    "sqlite3.connect",
    "zipfile.",
    "gzip.",
    "tarfile.",
    "xml.",
    "openpyxl.",
    "pickle.",
    "numpy.load",
)
ALLOWED = {
    ("collection/journal_file.py", "sqlite3.connect"): "the journal: written, and checked by sums",
    ("tracking/store.py", "sqlite3.connect"): "MLflow's tables, made new",
    ("reporting/pandoc.py", "zipfile.ZipFile"): "pandoc's own styles, written again",
    ("reporting/pandoc.py", "zipfile.ZipInfo"): "the same",
    ("collection/account.py", "pandas.read_parquet"): "parts of this run, in its scratch folder",
    ("reporting/explorer/page.py", "gzip.compress"): "the data of a page: written, not read",
    ("data/schema.py", "pandas.read_parquet"): "a run's own frame, in the types of its schema",
}


def calls(tree: ast.AST):
    """Each call's full name, imports written out, and its line."""
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                names[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        parts, at = [], node.func
        while isinstance(at, ast.Attribute):
            parts.append(at.attr)
            at = at.value
        if isinstance(at, ast.Name) and at.id in names:
            yield ".".join([names[at.id], *reversed(parts)]), node.lineno


def readings(source: str):
    return [(n, line) for n, line in calls(ast.parse(source)) if n.startswith(READS)]


def test_only_the_guarded_reader_opens_outside_files():
    found = {
        (str(path.relative_to(ROOT)), name): line
        for path in ROOT.rglob("*.py")
        if path.relative_to(ROOT).parts[0] != "files"
        for name, line in readings(path.read_text())
    }
    assert {f"{file}:{found[file, name]}: {name}" for file, name in found.keys() - ALLOWED} == set()
    assert found.keys() >= ALLOWED.keys(), "an exception that is no longer needed"


@pytest.mark.parametrize(
    "source",
    [
        "import pandas as pd\npd.read_csv('x')",
        "from json import loads\nloads('1')",
        "import json as j\nj.load(f)",
        "import pyarrow.parquet as pq\npq.ParquetFile('x')",
        "import xml.etree.ElementTree as tree\ntree.parse('x')",
        "def f():\n    from gzip import open as o\n    o('x')",
        "import numpy\nnumpy.load('x')",
        "import pickle\npickle.loads(b'')",
    ],
)
def test_the_lint_finds_a_reading_however_it_is_imported(source):
    assert len(readings(source)) == 1


def test_the_lint_lets_other_calls_through():
    assert readings("import json\njson.dumps(1)\nloads('1')") == []
