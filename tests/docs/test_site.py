"""The documentation: nothing public is missing from it, and no link in it leads nowhere."""

from __future__ import annotations

import importlib
import importlib.util
import re
from pathlib import Path

from judgestats import stats
from judgestats.runner import experiment_names

REPOSITORY = Path(__file__).resolve().parents[2]
DOCS = REPOSITORY / "docs"
PAGES = sorted([REPOSITORY / "README.md", *DOCS.rglob("*.md")])
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def test_every_statistic_is_in_the_reference_once() -> None:
    listed = [
        line.strip()
        for page in (DOCS / "api").glob("*.rst")
        for line in page.read_text(encoding="utf-8").splitlines()
        if line.startswith("   ") and not line.strip().startswith(":")
    ]
    for name in stats.__all__:
        assert listed.count(name) == 1, name


def test_every_entry_of_the_reference_exists() -> None:
    missing = []
    for page in sorted((DOCS / "api").glob("*.rst")):
        module = ""
        for line in page.read_text(encoding="utf-8").splitlines():
            if line.startswith(".. currentmodule:: "):
                module = line.partition(":: ")[2]
            elif line.startswith("   ") and not line.strip().startswith(":"):
                home, _, name = f"{module}.{line.strip().lstrip('~')}".rpartition(".")
                if module == "judgestats.inspect_ai":  # needs an extra
                    continue
                if not hasattr(importlib.import_module(home), name):
                    missing.append(f"{page.name}: {home} has no {name}")
    assert missing == []


def test_every_page_of_the_reference_is_in_the_sites_contents() -> None:
    spec = importlib.util.spec_from_file_location("contents", DOCS / "_ext" / "contents.py")
    contents = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(contents)
    pages = {page.stem for page in (DOCS / "api").glob("*.rst")}
    assert pages == set(contents.REFERENCE.split())


def test_every_page_of_the_guide_is_in_one_of_five_groups() -> None:
    spec = importlib.util.spec_from_file_location("contents", DOCS / "_ext" / "contents.py")
    contents = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(contents)
    listed = [page for pages in contents.GROUPS.values() for page in pages.split()]
    folders = [f"{page.parent.name}/index" for page in DOCS.glob("*/index.md")]
    assert len(contents.GROUPS) == 5
    assert {p.stem for p in DOCS.glob("*.md")} - {"index"} <= set(listed)
    assert set(folders) <= set(listed)
    assert len(listed) == len(set(listed))


def test_every_experiment_has_its_page_and_its_row() -> None:
    overview = (DOCS / "experiments" / "index.md").read_text(encoding="utf-8")
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    for name in experiment_names():
        assert list((DOCS / "experiments").glob(f"{name}*.md")), name
        assert f"({name}" in overview, name
        assert f"`{name}`" in readme, name


def test_documented_parameters_are_those_of_the_designs() -> None:
    spec = importlib.util.spec_from_file_location("build_parameters", DOCS / "build_parameters.py")
    assert spec is not None
    assert spec.loader is not None
    build = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build)
    for page, text in build.pages().items():
        assert page.read_text(encoding="utf-8") == text, page.name


def test_links_lead_somewhere() -> None:
    dead = [
        f"{page}: {target}"
        for page in PAGES
        for target in LINK.findall(page.read_text(encoding="utf-8"))
        if not target.startswith(("http://", "https://")) and not (page.parent / target).exists()
    ]
    assert dead == []
