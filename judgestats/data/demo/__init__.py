"""Recorded judgments of real judges: a sample of scores that Composo published (MIT, see LICENSE).

100 questions of RewardBench 2, four responses each, scored 1 to 10 eight times by three judges at
temperature 1; the first response of a question is the correct one.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from judgestats.data.readers import read_judgments

__all__ = ["demo_file", "demo_judgments"]


def demo_file() -> Path:
    """The file, as it ships with the package."""
    return Path(__file__).with_name("scores.csv.gz")


def demo_judgments() -> pd.DataFrame:
    """The judgments, read as anybody's own file is.

    Examples
    --------
    >>> frame = demo_judgments()
    >>> len(frame), frame["cluster"].nunique(), frame["judge"].nunique()
    (9600, 100, 3)
    """
    return read_judgments(demo_file(), wide=("run=run*",), scale=(1, 10))
