"""What a file of judgments can answer today, and what the rest would take."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pandas as pd

from judgestats.judgments.kinds import PREFERENCES
from judgestats.judgments.readers.names import folded
from judgestats.judgments.readers.understanding import names_criteria

_Z = 1.959964
_AIM = 0.05
FEWEST_SYSTEMS = 3
"""Systems that verdicts on pairs put in order; of two there are win rates."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """One question about a judge: whether these data answer it, and on what grounds.

    `needs` says what would be needed where they do not, or what would answer it better; `command`
    is what comes next then: a command (``{file}`` is the file), or an option of `analyze`.
    """

    asked: str
    answered: bool
    grounds: str
    needs: str = ""
    command: str = ""


def labels_for(half: float, *, share: float = 0.5) -> int:
    """How many labelled items an interval of a share needs to reach +-`half`.

    Examples
    --------
    >>> labels_for(0.05), labels_for(0.05, share=0.9)
    (385, 139)
    """
    return math.ceil(_Z**2 * share * (1 - share) / half**2)


def half_width(n: int, *, share: float = 0.5) -> float:
    """Half the interval of a share of `n` independent items, in points of 100.

    Examples
    --------
    >>> round(half_width(385), 2)
    4.99
    """
    return 100 * _Z * math.sqrt(share * (1 - share) / n) if n else math.nan


def answerable(frame: pd.DataFrame) -> tuple[Question, ...]:
    """What these judgments can answer.

    Parameters
    ----------
    frame : DataFrame
        A parsed frame.

    Returns
    -------
    tuple of Question

    Examples
    --------
    >>> from judgestats.judgments.readers import read_judgments
    >>> found = answerable(read_judgments([{"item": i, "passed": i % 2 == 0} for i in range(9)]))
    >>> [(q.asked, q.answered) for q in found][1]
    ('Would it say the same again?', False)
    """
    return tuple(
        q
        for q in (
            _described(frame), _repeated(frame), _orders(frame), _people(frame), _compared(frame),
            _systems(frame),
        )
        if q is not None
    )  # fmt: skip


def _described(frame: pd.DataFrame) -> Question:
    n = int(frame["cluster"].nunique())
    read = int(frame["status"].eq("ok").sum())
    ok = read > 0
    return Question(
        asked="How does it judge these items?",
        answered=ok,
        grounds=f"{read:,} of {len(frame):,} judgments read, {n:,} questions: a share is known to "
        f"+-{half_width(n):.0f} points",
        needs=f"{labels_for(_AIM)} questions for +-5 points" if n < labels_for(_AIM) else "",
    )


def _repeated(frame: pd.DataFrame) -> Question:
    sizes = frame[frame["status"] == "ok"].groupby(["condition", "item_id", "order"]).size()
    several = sizes[sizes > 1]
    n = int(several.index.get_level_values("item_id").nunique())
    few = n < 50
    return Question(
        asked="Would it say the same again?",
        answered=n > 2,
        grounds=f"{n:,} items judged {_times(several)}" if n else "every item was judged once",
        needs="each judgment twice more (3 repeats) on 50 items or more" if few else "",
        command="" if n else "--map replicate=COLUMN",
    )


def _times(sizes: pd.Series) -> str:
    low, high = int(sizes.min()), int(sizes.max())
    return f"{low} times" if low == high else f"{low} to {high} times"


def _orders(frame: pd.DataFrame) -> Question | None:
    words = set(frame["choice"].astype(str).str.lower()) - {""}
    if not words or not words <= set(PREFERENCES) or words <= {"0", "1"}:
        return None
    per = frame.groupby(["condition", "item_id"])["order"].nunique()
    both = int((per > 1).sum())
    return Question(
        asked="Does it follow the place where a response stands?",
        answered=both > 2,
        grounds=f"{both:,} pairs in both orders" if both else "one order only",
        needs="" if both >= 50 else "every pair also with the responses swapped (50 pairs or more)",
        command="" if both else "--map order=COLUMN",
    )


def _people(frame: pd.DataFrame) -> Question:
    labelled = frame[frame["label"].ne("") & frame["status"].eq("ok")] if "label" in frame else (
        frame.iloc[:0]
    )  # fmt: skip
    n = int(labelled["cluster"].nunique())
    if not n:
        need = min(labels_for(_AIM, share=0.8), int(frame["cluster"].nunique()))
        return Question(
            asked="Do people agree with it?",
            answered=False,
            grounds="no labels of people",
            needs=f"labels of about {need} questions for +-5 points (if they agree on 80 %)",
            command=f"judgestats labels plan {{file}} --labels {need}, then --labels labels.csv",
        )
    verdicts = labelled["choice"].where(labelled["choice"] != "", labelled["score"].astype(str))
    same = float((verdicts.str.lower() == labelled["label"].str.lower()).mean())
    share = min(max(same, 0.05), 0.95)
    need = labels_for(_AIM, share=share)
    return Question(
        asked="Do people agree with it?",
        answered=n > 2,
        grounds=f"labels of {n:,} questions: agreement is known to "
        f"+-{half_width(n, share=share):.0f} points",
        needs=f"about {need} labelled questions for +-5 points" if n < need else "",
    )


def _compared(frame: pd.DataFrame) -> Question:
    """Judges and ways of judging are compared within a criterion, never across two."""
    factors = [c for c in frame.columns if c.startswith("factor_")]
    by = [c for c in factors if names_criteria(c[7:]) or folded(c[7:]) == "task"]
    parts = [rows for _, rows in frame.groupby(by, sort=False)] if by else [frame]
    rows = max(parts, key=lambda part: part["condition"].nunique())
    n = int(rows["condition"].nunique())
    if n < 2:
        return Question(
            asked="Which judge is better?",
            answered=False,
            grounds="one judge",
            needs="the same items by a second judge",
            command="--map judge=COLUMN",
        )
    per = rows[rows["status"] == "ok"].groupby("item_id")["condition"].nunique()
    shared = int((per == n).sum())
    within = " of one criterion" if by else ""
    return Question(
        asked="Which judge is better?",
        answered=shared > 2,
        grounds=f"{shared:,} items were judged under all {n} conditions{within}",
        needs="" if shared > 2 else "the same items under every condition",
    )


def _systems(frame: pd.DataFrame) -> Question | None:
    """Systems are put in order by verdicts on pairs of three or more."""
    if "system_a" not in frame:
        return None
    n = pd.concat([frame["system_a"], frame["system_b"]]).nunique()
    needs = f"pairs of {FEWEST_SYSTEMS} systems or more (two: win rates)"
    return Question(
        asked="Which system leads?",
        answered=n >= FEWEST_SYSTEMS,
        grounds=f"{n} systems were compared in pairs",
        needs="" if n >= FEWEST_SYSTEMS else needs,
    )
