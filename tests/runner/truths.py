"""What simulated judges are known to do: the truth that experiments should find again."""

import numpy as np

from judgestats.items import load_bank
from judgestats.protocols import Pointwise
from judgestats.runner import load_design
from judgestats.runner.prepare import prepare
from judgestats.simulated.judges import truth


def judged_items(name, given):
    """What an experiment of these parameters judges."""
    return {task.item_id for task in prepare(load_design(name), given).tasks}


def variance_of(judge, judged, *, temperature, **how):
    """Average over the judged answers of the judge's variance of repeated scores."""
    units = [u for u in Pointwise().units(load_bank()) if u.item_id in set(judged)]
    known = truth(judge)
    return float(
        np.mean(
            [
                known.variance(
                    u.item.question,
                    u.item.responses[u.shown[0]].text,
                    temperature=temperature,
                    **how,
                )
                for u in units
            ]
        )
    )


def holds(row, expected, *, widen=1.6):
    """Whether a ratio's interval, widened on the log scale, holds the truth.

    1.6 makes about 99.8% of 95%, so that one seeded run may be asked to get every interval right.
    """
    half = np.log(row.interval.high / row.interval.low) / 2 * widen
    return abs(np.log(row.estimate / expected)) < half
