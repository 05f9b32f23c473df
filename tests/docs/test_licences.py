"""The page of licences states where GPL packages are imported, and that it is at run time."""

import ast
from pathlib import Path

import pytest

from docs import build_licences

ROOT = Path(build_licences.PAGE).parents[1]


@pytest.mark.parametrize("module", build_licences.GPL)
def test_the_page_states_where_a_package_is_imported(module):
    files = build_licences.imported_in(module)
    assert files
    page = build_licences.PAGE.read_text(encoding="utf-8")
    [line] = [x for x in page.splitlines() if x.startswith(f"- {module.replace('_', '-')}: ")]
    assert line.count(".py") == len(files)
    assert all(f"`{file}`" in line for file in files)


@pytest.mark.parametrize("module", build_licences.GPL)
def test_no_module_of_the_package_imports_it_when_it_is_imported(module):
    for file in build_licences.imported_in(module):
        for node in ast.parse((ROOT / file).read_text(encoding="utf-8")).body:
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not any(name.split(".")[0] == module for name in names), file
