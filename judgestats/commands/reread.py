"""``judgestats reread RUN``: what this version reads otherwise in a run's stored replies."""

from __future__ import annotations

from judgestats.commands.table import Given
from judgestats.errors import guard_output, printable
from judgestats.experiment import console
from judgestats.judgments.reread import reread, unread_causes
from judgestats.protocols.reading import READER_VERSION
from judgestats.protocols.scale import Scale
from judgestats.reporting.runs import load_run

_SHOWN = 20


def reread_command(arguments: Given) -> int:
    """Read the replies of a run again and print the differences; no judge is asked.

    Parameters
    ----------
    arguments : Given
        ``run`` and ``out``.

    Returns
    -------
    int
        0.
    """
    run = load_run(arguments.run)
    scale = Scale(int(run.scale[0]), int(run.scale[1])) if run.scale else None
    differences = reread(run.judgments, scale)
    if arguments.out:
        with guard_output(arguments.out):
            differences.to_csv(arguments.out, index=False)
    version = run.session.get("reader", "1")
    console.say(
        f"{len(run.finals)} judgments, read by version {version} of the reader, read again by "
        f"version {READER_VERSION}: {len(differences)} differ. Nothing was asked."
    )
    if causes := unread_causes(run.finals):
        console.say(f"Unread in the run: {causes}.")
    for row in differences.head(_SHOWN).to_dict("records"):
        why = f" ({row['reason']})" if row["reason"] else ""
        order = f" {row['order']}" if row["order"] else ""
        which = f"{row['condition']}: {row['item_id']}{order}, replicate {row['replicate']}"
        line = f"  {which}: {row['before']} -> {row['now']}{why}"
        console.say(printable(line, one_line=True))
    if len(differences) > _SHOWN and not arguments.out:
        console.say(f"  ... and {len(differences) - _SHOWN} more; --out FILE writes all of them.")
    if arguments.out:
        console.say(f"Differences: {arguments.out}")
    return 0
