"""The parts of a report: each function takes a run and gives tables, figures or sentences.

They are named after what a reader looks for, in the order of a report: `design`, `data`, `checks`,
`findings`, `figures`, `sensitivity`, `advice`, `closing`; `crowd` shows judging strategies,
`compare` puts several runs side by side, `claims` re-examines a study.
"""

from judgestats.reporting.sections import (
    advice,
    brief,
    checks,
    claims,
    closing,
    compare,
    comparison_figures,
    crowd,
    data,
    design,
    figures,
    findings,
    page_one,
    sensitivity,
)

__all__ = [
    "advice",
    "brief",
    "checks",
    "claims",
    "closing",
    "compare",
    "comparison_figures",
    "crowd",
    "data",
    "design",
    "figures",
    "findings",
    "page_one",
    "sensitivity",
]
