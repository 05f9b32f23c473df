"""``judgestats demo``: the answer on recorded judgments of real judges, then on one's own."""

from __future__ import annotations

from judgestats.analysis.audit import audit
from judgestats.commands.table import Given
from judgestats.experiment import console
from judgestats.experiment.showing import finish, show, working
from judgestats.judgments.demo import demo_file, demo_judgments


def demo_command(arguments: Given) -> int:
    """Audit the recorded judgments and print the answer; nothing is written, no judge is asked.

    Parameters
    ----------
    arguments : Given
        ``full``, ``json`` and thresholds.

    Returns
    -------
    int
        0.
    """
    with console.showing(console.asked_for(arguments)):
        frame = demo_judgments()
        with working("Analysing the recorded judgments"):
            findings = audit(frame, n_resamples=99)
        results = findings.records(
            {
                "kind": "audit",
                "title": "Recorded judgments of RewardBench 2 (Composo, MIT)",
                "design": {
                    "items": int(frame["item_id"].nunique()),
                    "replicates": int(frame["replicate"].nunique()),
                    "scale": list(frame.attrs["scale"]),
                },
            }
        )
        show(results, first=(_ABOUT, *frame.attrs["understood"]))
        finish(
            results,
            following=(
                "judgestats doctor my.csv",
                "judgestats analyze my.csv",
                "judgestats run temperature",
            ),
        )
    return 0


_ABOUT = (
    "Three GPT-5.4 judges scored four responses to each of 100 questions of RewardBench 2, eight "
    f"times\n(recorded by Composo, MIT; {demo_file().name}). No judge is asked.\n"
)
