"""The parts of a report: each function takes a run and gives tables, figures or sentences.

They are named after what a reader looks for, in the order of a report: `design`, `data`, `checks`,
`findings`, `figures`, `sensitivity`, `advice`, `closing`; `crowd` shows judging strategies,
`compare` puts several runs side by side, `claims` re-examines a study.
"""

from judgestats.reporting.sections import (
    advice,
    checks,
    claims,
    closing,
    compare,
    crowd,
    data,
    design,
    figures,
    findings,
    sensitivity,
)

__all__ = [
    "advice",
    "checks",
    "claims",
    "closing",
    "compare",
    "crowd",
    "data",
    "design",
    "figures",
    "findings",
    "sensitivity",
]
