"""Write what follows from the declared quantities: the public list of statistics, API pages.

Run ``python docs/build_public_list.py`` after adding an entry to judgestats/results/quantities: the
function that it names becomes public (judgestats/stats/__init__.pyi) and is listed on the page of
its area. ``--check`` writes nothing and names each missing entry.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = {
    "agreement": "verdicts",
    "comparison": "ranks",
    "dispersion": "spread",
    "models": "instrument",
    "reliability": "reliability",
    "robustness": "instrument",
    "validity": "validity",
}
"""The API page of an area's statistics, where none lists them yet."""
INTERNAL = {
    "blocked_f_test",
    "cell_statistics",
    "kurtosis_change",
    "mean_of_groups",
    "mean_share",
    "preference_effects",
    "proportion",
    "representativeness_test",
}
"""Registered for what other functions and the analyses report; not offered alone."""
FUNCTION = r'function="(?:[\w.]+:)?(\w+)"'
HEADER = '"""The public list of `judgestats.stats`, read by type checkers and by the package."""\n'


def declared(root: Path) -> str:
    """The text of all declarations."""
    entries = sorted((root / "judgestats" / "results" / "quantities").glob("*.py"))
    return "".join(path.read_text(encoding="utf-8") for path in entries)


def registered(root: Path) -> set[str]:
    """The functions that the declarations name."""
    return set(re.findall(FUNCTION, declared(root))) - INTERNAL


def defined(root: Path) -> dict[str, str]:
    """The modules of all functions in the packages of stats."""
    homes = {}
    for path in sorted((root / "judgestats" / "stats").glob("*/*.py")):
        module = ".".join(path.relative_to(root).with_suffix("").parts)
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                homes[node.name] = module
    return homes


def exported(root: Path) -> dict[str, str]:
    """The public names and their modules, as the stub lists them."""
    stub = ast.parse((root / "judgestats" / "stats" / "__init__.pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: str(node.module) for node in imports for alias in node.names}


def stub(names: dict[str, str]) -> str:
    """The stub's text."""
    ordered = sorted(names.items(), key=lambda item: (item[1], item[0]))
    lines = (f"from {module} import (\n    {name} as {name},\n)\n" for name, module in ordered)
    return HEADER + "\n" + "".join(lines)


def listed(root: Path) -> str:
    """The text of all API pages."""
    pages = sorted((root / "docs" / "api").glob("*.rst"))
    return "".join(page.read_text(encoding="utf-8") for page in pages)


def problems(root: Path) -> Iterator[str]:
    """The places that a registered statistic still misses."""
    homes, public, pages = defined(root), exported(root), listed(root)
    held = "".join(
        path.read_text(encoding="utf-8")
        for folder in ("validation", "stats")
        for path in sorted((root / "tests" / folder).rglob("*.py"))
    )
    held += " ".join(
        re.findall(FUNCTION + r"(?=(?:(?!function=).)*?reference=)", declared(root), re.S)
    )
    for name in sorted(registered(root)):
        if name not in homes:
            yield f"{name}: no function in judgestats/stats"
            continue
        if name not in public:
            yield f"{name}: not in judgestats/stats/__init__.pyi: run docs/build_public_list.py"
        if f"   {name}\n" not in pages:
            yield f"{name}: not on a page of docs/api: run docs/build_public_list.py"
        if not re.search(rf"\b{name}\b", held):
            yield f"{name}: no reference rows in tests/validation, nor a test in tests/stats"


def write(root: Path) -> None:
    """Export what is registered and list it on the page of its area."""
    homes, public = defined(root), exported(root)
    new = {name: homes[name] for name in sorted(registered(root)) if name in homes}
    path = root / "judgestats" / "stats" / "__init__.pyi"
    path.write_text(stub(public | new), encoding="utf-8")
    for name, module in new.items():
        if f"   {name}\n" not in listed(root):
            page = root / "docs" / "api" / f"{PAGES[module.split('.')[2]]}.rst"
            text = page.read_text(encoding="utf-8").rstrip("\n")
            page.write_text(f"{text}\n   {name}\n", encoding="utf-8")


def main() -> int:
    """Write the list, or check it."""
    root = Path(sys.argv[sys.argv.index("--root") + 1]) if "--root" in sys.argv else ROOT
    if "--check" not in sys.argv:
        write(root)
    missing = list(problems(root))
    for line in missing:
        print(line, file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    raise SystemExit(main())
