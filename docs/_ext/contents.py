"""The site's table of contents, kept out of the pages: they read well as plain Markdown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

REFERENCE = (
    "reliability verdicts spread ranks people validity instrument order judgments items "
    "judges training reports experiments decisions"
)
GROUPS = {
    "Get started": "first-minute which-number notebooks/index",
    "How-to": (
        "readers collection items simulated-judges labels view verdict ledger decisions drift gate "
        "mlflow inspect agents large training-data"
    ),
    "Experiments and findings": "experiments/index findings/index studies examples/scores "
    "examples/verdicts",
    "Reference": "commands glossary reports api/index bad-input robustness replies what-is-read",
    "Background": (
        "how-computed validation/index simulations/index benchmarks/index differs architecture "
        "contributing size stability licences"
    ),
}
"""The five groups of the side bar; every page of the guide is in one (tested)."""

CONTENTS: dict[str, dict[str, list[str]]] = {
    "index": {caption: pages.split() for caption, pages in GROUPS.items()},
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


def _append(app: Any, page: str, source: list[str]) -> None:
    if page not in CONTENTS:
        return
    for caption, named in CONTENTS[page].items():
        pages = _pages(app, page, named)
        head = [":hidden:", *([f":caption: {caption}"] if caption else [])]
        source[0] += "\n".join(["", "", "```{toctree}", *head, "", *pages, "```", ""])


def setup(app: Any) -> dict[str, Any]:
    """Append the contents when a page is read."""
    app.connect("source-read", _append)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
