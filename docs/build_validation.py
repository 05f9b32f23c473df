"""Write docs/validation: every statistic of ours beside what R says, one page an area.

Run ``python docs/build_validation.py`` after adding rows to a registry in tests/validation, and
``python docs/build_validation.py --check`` to fail where a page is out of date. The check compares
numbers to the digits the pages need, so that another platform's last bits are no change.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
sys.path.insert(0, str(ROOT))

from validation.base import Case, Outcome, all_cases, entry, run  # noqa: E402

FOLDER = ROOT / "docs" / "validation"

TITLES = {
    "alignment": "Agreement with people",
    "counts_and_adjustment": "Counts and adjusted p-values",
    "factor": "Omega and factor models",
    "order": "Order",
    "paired_and_two_samples": "Paired and independent samples",
    "ranks": "Locations, ranks and proportions",
    "scores": "Reliability of scores and variance components",
    "spread": "Spread",
    "verdicts": "Agreement of verdicts",
}

HEADER = """# Held to R

Every statistic of `judgestats` for which an R package or a formula written out in R gives a number,
on the data sets of `tests/reference`, one page an area. The pages are written by
`docs/build_validation.py`; the test suite checks every row, and CI that the pages are up to date.

*Difference* is absolute for values up to 1 and relative beyond; of an array (`[n]`) the largest
difference is given beside the first entry (where they differ, beside the entry that differs most).
A row marked **differs** is meant: the note says which convention or fault is behind it. *refused*
means that R stops with an error there and `judgestats` returns NaN with a reason.

"""


BOUNDS = (1e-12, 1e-10, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2)
"""Orders of magnitude of a difference: the exact last bits depend on the platform."""


def shown(value: float) -> str:
    """A number with ten significant digits."""
    if math.isnan(value):
        return "NaN"
    return "0" if abs(value) < 1e-13 else f"{value:.10g}"


def shown_difference(case: Case, outcome: Outcome) -> str:
    """An order of magnitude only: the exact last bits depend on the platform."""
    if outcome.r_error or case.undefined:
        return "undefined"
    if not case.agrees:
        return f"**differs** {outcome.difference:.1g}"
    for bound in BOUNDS:
        if outcome.difference <= bound:
            return f"< {bound:.0e}"
    return f"{outcome.difference:.1g}"


def text(value: str) -> str:
    """Text that fits into one cell of a table."""
    return re.sub(r"\s+", " ", value).replace("|", "\\|").strip()


def call(case: Case) -> str:
    """R's call as code, shortened."""
    source = text(entry(case.dataset, case.key)["r_call"]).replace("`", "'")
    return f"`{source if len(source) <= 90 else source[:87] + '...'}`"


def row(case: Case) -> str:
    """One row of the table."""
    outcome = run(case)
    size = f" [{outcome.ours.size}]" if outcome.ours.size > 1 else ""
    where = ".".join(str(step) for step in case.path)
    # Where they agree, the entry that differs most is a matter of the platform's last bits.
    index = outcome.first if case.agrees else outcome.worst
    r = "refused" if outcome.r_error else shown(outcome.r[index])
    ours = outcome.ours[index]
    cells = [
        text(case.statistic) + size,
        shown_difference(case, outcome),
        r,
        shown(ours),
        case.dataset,
        call(case) + (f" {where}" if where else ""),
        text(case.note),
    ]
    return "| " + " | ".join(cells) + " |"


def title(area: str) -> str:
    """What an area is called."""
    return TITLES.get(area, area.replace("_", " ").capitalize())


def page(area: str, cases: list[Case]) -> str:
    """The rows of an area."""
    head = "statistic | difference | R | judgestats | data | R's call | note"
    lines = [
        f"# {title(area)}, held to R",
        "",
        "[All areas, and how to read the columns](index.md).",
        "",
    ]
    lines += [f"| {head} |", f"|{'---|' * 7}", *map(row, cases), ""]
    return "\n".join(lines)


def summary(area: str, cases: list[Case]) -> str:
    """An area in one row: how many numbers, how far they lie from R's, what differs on purpose."""
    outcomes = [run(case) for case in cases]
    compared = [
        o.difference
        for case, o in zip(cases, outcomes, strict=True)
        if case.agrees and not (o.r_error or case.undefined)
    ]
    worst = next((f"< {b:.0e}" for b in BOUNDS if max(compared) <= b), f"{max(compared):.1g}")
    apart = sum(not case.agrees for case in cases)
    undefined = sum(bool(o.r_error or c.undefined) for c, o in zip(cases, outcomes, strict=True))
    cells = (f"[{title(area)}]({area}.md)", len(cases), worst, apart, undefined)
    return f"| {' | '.join(map(str, cells))} |"


def pages() -> dict[Path, str]:
    """Every page by its file."""
    areas: dict[str, list[Case]] = {}
    for area, case in all_cases():
        areas.setdefault(area, []).append(case)
    table = [
        "| area | rows | largest difference | meant to differ | undefined |",
        "|---|---|---|---|---|",
    ]
    table += [summary(area, areas[area]) for area in sorted(areas)]
    index = HEADER + "\n".join(table) + "\n"
    return {FOLDER / "index.md": index} | {
        FOLDER / f"{area}.md": page(area, cases) for area, cases in sorted(areas.items())
    }


NUMBER = re.compile(r"(?<![\w.])-?\d+\.?\d*(?:e[+-]?\d+)?(?![\w.])")


def same_line(a: str, b: str) -> bool:
    """Whether two rows tell the same: equal words, numbers equal to 1e-6."""
    a, b = (re.sub(r"< \de-\d+|\*\*differs\*\* \S+", "difference", line) for line in (a, b))
    if NUMBER.sub("#", a) != NUMBER.sub("#", b):
        return False
    pairs = zip(NUMBER.findall(a), NUMBER.findall(b), strict=True)
    return all(math.isclose(float(x), float(y), rel_tol=1e-6, abs_tol=1e-8) for x, y in pairs)


def stale(path: Path, fresh: str) -> list[str]:
    """Lines of a page that are not what they should be."""
    old = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    new = fresh.splitlines()
    wrong = [b for a, b in zip(old, new, strict=False) if not same_line(a, b)]
    return wrong or ([f"{len(old)} lines, {len(new)} expected"] if len(old) != len(new) else [])


def main() -> int:
    """Write the pages, or check them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail where a page is out of date")
    fresh = pages()
    if not parser.parse_args().check:
        FOLDER.mkdir(exist_ok=True)
        for path, text_ in fresh.items():
            path.write_text(text_, encoding="utf-8")
        return 0
    wrong = {path.name: stale(path, text_) for path, text_ in fresh.items()}
    wrong |= {p.name: ["no such area"] for p in FOLDER.glob("*.md") if p not in fresh}
    told = [f"  {name}: {lines[0][:200]}" for name, lines in wrong.items() if lines]
    if told:
        sys.exit("docs/validation: run `python docs/build_validation.py`.\n" + "\n".join(told))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
