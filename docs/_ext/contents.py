"""The site's table of contents, kept out of the pages: they read well as plain Markdown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

GUIDE = "first-minute which-number glossary items collection reports gallery"
STATISTICS = (
    "how-computed examples/scores examples/verdicts validation/index simulations/index "
    "simulated-judges"
)
REFERENCE = (
    "reliability verdicts spread ranks people validity instrument order planning judgments items "
    "judges training reports experiments"
)
CONTENTS: dict[str, dict[str, list[str]]] = {
    "index": {
        "Guide": GUIDE.split(),
        "Findings": ["findings/index"],
        "Notebooks": ["notebooks/index"],
        "Experiments": ["experiments/index"],
        "Statistics": STATISTICS.split(),
        "Reference": ["api/index", "benchmarks/index", "contributing"],
    },
    "experiments/index": {"": ["*"]},
    "findings/index": {"": ["*"]},
    "notebooks/index": {"": ["*"]},
    "validation/index": {"": ["*"]},
    "simulations/index": {"": ["*"]},
    "benchmarks/index": {"": ["*"]},
    "api/index": {"": REFERENCE.split()},
}
"""Page -> caption -> pages. ``*`` stands for all other pages of its folder, by name."""


def _pages(app: Any, page: str, named: list[str]) -> list[str]:
    folder = Path(app.srcdir) / Path(page).parent
    found: list[str] = []
    for name in named:
        if name == "*":
            found += sorted(f.stem for f in folder.glob("*.md") if f.stem != "index")
        else:
            found.append(name)
    return found


def _further(app: Any) -> list[str]:
    """Guide pages that the table does not name: a new page is never left out."""
    named = {name for names in CONTENTS["index"].values() for name in names} | {"index"}
    return sorted(f.stem for f in Path(app.srcdir).glob("*.md") if f.stem not in named)


def _append(app: Any, page: str, source: list[str]) -> None:
    if page not in CONTENTS:
        return
    for caption, named in CONTENTS[page].items():
        pages = _pages(app, page, named) + (_further(app) if caption == "Guide" else [])
        head = [":hidden:", *([f":caption: {caption}"] if caption else [])]
        source[0] += "\n".join(["", "", "```{toctree}", *head, "", *pages, "```", ""])


def setup(app: Any) -> dict[str, Any]:
    """Append the contents when a page is read."""
    app.connect("source-read", _append)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
