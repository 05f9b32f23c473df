"""The licences of everything that is installed with judgestats, in docs/licences.md.

    python docs/build_licences.py            # write the page
    python docs/build_licences.py --check    # CI: the page is current, every licence is known

Names come from the environment that requirements.lock makes, licences from each package's own
metadata. A package whose metadata say nothing has its licence in `STATED`, looked up by hand.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import re
import sys
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PAGE = Path(__file__).resolve().parent / "licences.md"
LOCK = PAGE.parents[1] / "requirements.lock"
STATED = {
    "factor-analyzer": "GPL-2.0 (its LICENSE file)",
    "huey": "MIT (its LICENSE file)",
    "skops": "MIT (its LICENSE file)",
}
KNOWN = re.compile(
    r"MIT|BSD|Apache|ISC|PSF|Python|MPL|Mozilla|Unlicense|Zlib|HPND|CC0|public domain|CNRI|GPL|"
    r"General Public",
    re.IGNORECASE,
)
COPYLEFT = re.compile(r"GPL|General Public", re.IGNORECASE)
_APART = (
    "imported at run time, not part of judgestats; who distributes both together is bound by it"
)
GPL = ("pingouin", "factor_analyzer")
"""Modules under the GPL that judgestats imports at run time."""
NOTES = {
    "factor-analyzer": _APART,
    "pingouin": _APART,
    "pypandoc-binary": "the wheel carries pandoc (GPL-2.0-or-later), started as a program",
}
"""What a copyleft licence means here; one that has no note fails the check."""
PACKAGE = PAGE.parents[1] / "judgestats"


def licence_of(distribution: importlib.metadata.Distribution) -> str:
    """A package's licence as its metadata state it, in one line."""
    data = distribution.metadata
    name = canonicalize_name(data["Name"])
    if name in STATED:
        return STATED[name]
    if expression := data.get("License-Expression"):
        return str(expression)
    classified = [
        c.split(" :: ")[-1]
        for c in data.get_all("Classifier") or []
        if c.startswith("License ::") and c.count(" :: ") > 1
    ]
    if classified:
        return ", ".join(dict.fromkeys(classified))
    said = " ".join((data.get("License") or "").split())
    return said if said and len(said) <= 60 else "unknown"


def imported_in(module: str) -> list[str]:
    """Files of the package that import a module, by a statement or by its name."""
    named = re.compile(rf'^\s*(import|from) {module}\b|"{module}[.:]', re.MULTILINE)
    files = sorted(PACKAGE.rglob("*.py"))
    return [str(f.relative_to(PACKAGE.parent)) for f in files if named.search(f.read_text("utf-8"))]


def locked() -> set[str]:
    """Names in requirements.lock."""
    found = re.findall(r"^([A-Za-z0-9._-]+)==", LOCK.read_text(encoding="utf-8"), re.MULTILINE)
    return {canonicalize_name(name) for name in found}


def needed(root: str) -> set[str]:
    """Everything that an installation of `root` brings along, without its extras."""
    found: set[str] = set()
    waiting = [root]
    while waiting:
        name = canonicalize_name(waiting.pop())
        if name in found:
            continue
        found.add(name)
        try:
            requires = importlib.metadata.requires(name) or []
        except importlib.metadata.PackageNotFoundError:
            continue  # for another platform or Python
        for text in requires:
            one = Requirement(text)
            extras = [{"extra": e} for e in ("", *one.extras)]
            if one.marker is None or any(one.marker.evaluate(e) for e in extras):
                waiting.append(one.name)
    return found - {canonicalize_name(root)}


def page() -> tuple[str, list[str]]:
    """The page, and what is wrong with it."""
    names = locked()
    installed = {
        canonicalize_name(d.metadata["Name"]): d for d in importlib.metadata.distributions()
    }
    runtime = needed("judgestats")
    wrong: list[str] = []
    tables: dict[bool, list[str]] = {True: [], False: []}
    for name in sorted(names & set(installed)):
        licence = licence_of(installed[name])
        note = NOTES.get(name, "") if name in runtime else ""
        if not KNOWN.search(licence):
            wrong.append(f"{name}: {licence!r} is no licence that is known")
        elif name in runtime and COPYLEFT.search(licence) and not note:
            wrong.append(f"{name}: {licence!r} is copyleft: say in NOTES what that means")
        tables[name in runtime].append(f"| {name} | {licence} | {note} |")
    head = "| package | licence | note |\n|---|---|---|\n"
    gpl = {name: ", ".join(f"`{f}`" for f in imported_in(name)) for name in sorted(GPL)}
    text = f"""# Licences

judgestats is under the MIT licence. Written by `docs/build_licences.py` from the metadata of what
`requirements.lock` installs on Linux; CI checks that it is current and that every licence is known.

judgestats imports pingouin and factor-analyzer, which are under the GPL, at run time only, inside
functions: for the cross-check, and factor-analyzer also to recompute the omega of arXiv 2412.12509.
Neither is part of judgestats.

- pingouin: {gpl["pingouin"]}
- factor-analyzer: {gpl["factor_analyzer"]}

## Installed with judgestats

{head}{chr(10).join(tables[True])}

## For developing and testing only

{head}{chr(10).join(tables[False])}
"""
    return text, wrong


def main() -> None:
    """Write the page, or check it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    text, wrong = page()
    if wrong:
        sys.exit("\n".join(wrong))
    if not check:
        PAGE.write_text(text, encoding="utf-8")
        return
    standing = set(PAGE.read_text(encoding="utf-8").splitlines())
    rows = [line for line in text.splitlines() if line.startswith(("| ", "- "))]
    missing = [line for line in rows if line not in standing]
    if missing:
        sys.exit("docs/licences.md is not current, run `make docs`:\n" + "\n".join(missing))


if __name__ == "__main__":
    main()
