"""Write docs/validation.md: every statistic of ours beside what R says.

Run ``python docs/build_validation.py`` after adding rows to a registry in tests/validation, and
``python docs/build_validation.py --check`` to fail where the page is out of date. The check
compares numbers to the digits the page needs, so that another platform's last bits are no change.
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

PAGE = ROOT / "docs" / "validation.md"

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
on the data sets of `tests/reference`. The page is written by `docs/build_validation.py`; the test
suite checks every row, and CI that the page is up to date.

*Difference* is absolute for values up to 1 and relative beyond; of an array (`[n]`) the largest
difference is given beside the first entry (where they differ, beside the entry that differs most).
A row marked **differs** is meant: the note says which convention or fault is behind it. *refused*
means that R stops with an error there and `judgestats` returns NaN with a reason.

"""


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
    for bound in (1e-12, 1e-10, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2):
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
        case.dataset,
        call(case) + (f" {where}" if where else ""),
        r,
        shown(ours),
        shown_difference(case, outcome),
        text(case.note),
    ]
    return "| " + " | ".join(cells) + " |"


def page() -> str:
    """The whole page."""
    parts = [HEADER]
    cases = all_cases()
    for module in sorted({m for m, _ in cases}):
        parts.append(f"## {TITLES.get(module, module.replace('_', ' ').capitalize())}\n\n")
        parts.append("| statistic | data | R's call | R | judgestats | difference | note |\n")
        parts.append("|---|---|---|---|---|---|---|\n")
        rows = [row(case) for m, case in cases if m == module]
        parts.append("\n".join(rows) + "\n\n")
    return "".join(parts).rstrip("\n") + "\n"


NUMBER = re.compile(r"(?<![\w.])-?\d+\.?\d*(?:e[+-]?\d+)?(?![\w.])")


def same_line(a: str, b: str) -> bool:
    """Whether two rows tell the same: equal words, numbers equal to 1e-6."""
    a, b = (re.sub(r"< \de-\d+|\*\*differs\*\* \S+", "difference", line) for line in (a, b))
    if NUMBER.sub("#", a) != NUMBER.sub("#", b):
        return False
    pairs = zip(NUMBER.findall(a), NUMBER.findall(b), strict=True)
    return all(math.isclose(float(x), float(y), rel_tol=1e-6, abs_tol=1e-8) for x, y in pairs)


def main() -> int:
    """Write the page, or check it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail where the page is out of date")
    fresh = page()
    if not parser.parse_args().check:
        PAGE.write_text(fresh, encoding="utf-8")
        return 0
    old = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    old_lines, new_lines = old.splitlines(), fresh.splitlines()
    stale = [
        new
        for old_line, new in zip(old_lines, new_lines, strict=False)
        if not same_line(old_line, new)
    ]
    if stale or len(old_lines) != len(new_lines):
        sys.stderr.write(
            "docs/validation.md is out of date: run `python docs/build_validation.py`.\n"
            + "".join(f"  {line[:200]}\n" for line in stale[:5])
        )
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
