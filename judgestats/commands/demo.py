"""``judgestats demo``: the answer on recorded judgments of real judges, then on one's own."""

from __future__ import annotations

import argparse

from judgestats.analysis.audit import audit
from judgestats.analysis.outcome import brief
from judgestats.experiment import console
from judgestats.judgments.demo import demo_file, demo_judgments

__all__ = ["demo_command"]


def demo_command(arguments: argparse.Namespace) -> int:
    """Audit the recorded judgments and print the answer; nothing is written, no judge is asked.

    Parameters
    ----------
    arguments : Namespace
        Empty.

    Returns
    -------
    int
        0.
    """
    del arguments
    frame = demo_judgments()
    console.say(
        "Three GPT-5.4 judges scored four responses to each of 100 questions of RewardBench 2, "
        "eight times",
        f"(recorded by Composo, MIT; {demo_file().name}). No judge is asked.",
        "",
        *frame.attrs["understood"],
        brief(audit(frame, n_resamples=99)),
        "On your own judgments (any table with an item and a verdict, or a tool's log):",
        "  judgestats doctor my.csv      what the file holds, and what it can answer",
        "  judgestats analyze my.csv     the audit, as a run of MLflow with a report",
        "  judgestats run temperature --judges gpt-4o-mini     ask a judge, by design",
    )
    return 0
