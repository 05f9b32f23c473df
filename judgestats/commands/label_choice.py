"""``judgestats labels next``: items to label next, after the bound on what that saves."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd

from judgestats.analysis.decisions.next_labels import BATCHES, NextLabels, next_labels
from judgestats.analysis.decisions.record import ItemJudgments
from judgestats.arrays import Floats
from judgestats.commands.arguments import Args
from judgestats.commands.decide import finish, name_file, read_decidable, requirements_of
from judgestats.commands.label_page import OWN_COLUMNS, check_writable, read_table, write_table
from judgestats.errors import InputError

_MOST_CHOICES = 10


@name_file
def next_command(arguments: Args) -> int:
    """Print the bound and the estimate, and write the next batch.

    Parameters
    ----------
    arguments : Args
        ``file``, ``labels``, ``budget``, ``until``, ``text``, ``seed``, ``out``, and how the table
        is read.

    Returns
    -------
    int
        0; of what is required 1 where it fails and 3 where it cannot be determined.
    """
    until = _width(arguments.until)
    out = Path(arguments.out or "labels-next.csv")
    frame, judged = read_decidable(arguments)
    if arguments.labels and "chance" not in frame:
        raise InputError(
            f"{arguments.labels}: there is no column chance, so the sampling of the labels is "
            "unknown. Give a file that labels next wrote."
        )
    if len(judged) != 1:
        names = [one.name for one in judged]
        raise InputError(
            f"labels next: {arguments.file} holds {len(names)} judges: {', '.join(names[:8])}. "
            f"Name one, e.g. --rows judge={names[0]}."
        )
    chance = None
    if arguments.labels:
        named = frame.groupby("item_id", sort=False)["chance"].first()
        chance = pd.to_numeric(named.reindex(judged[0].items), errors="coerce").to_numpy()
    made = _choose_items(judged[0], arguments, chance)
    requirements_of([made], arguments)
    if until is not None and until >= 1 and made.quantity == "pass_rate":
        raise InputError(f"labels next: a pass rate's width is below 1, got {until:g}.")
    width = made.estimate.high - made.estimate.low
    reached = until is not None and width <= until
    steps: list[str] = []
    if made.chosen and not reached:
        _write(made, judged[0], arguments, out)
        steps = [f"Next  judgestats labels collect {out}{_choices(judged[0])}"]
    elif reached:
        steps = [f"Width {width:.3f} is reached: no more labels are needed."]
    return finish([made], arguments, steps=steps, looks=BATCHES)


def _choose_items(judged: ItemJudgments, arguments: Args, chance: Floats | None) -> NextLabels:
    verdicts, share = judged.majority
    stated = judged.confidence if judged.confident.any() else None
    return next_labels(
        judged.scores if judged.is_scored else verdicts,
        share if stated is None and not judged.is_scored else stated,
        judged.labels if judged.has_labels else judged.label_scores, budget=arguments.budget,
        chance=chance, cluster=judged.cluster, seed=arguments.seed,
    )  # fmt: skip


def _choices(judged: ItemJudgments) -> str:
    """The option that names the scores which raters choose from, where they are few."""
    scores = judged.scores[np.isfinite(judged.scores)]
    if not scores.size or (scores % 1).any() or np.ptp(scores) > _MOST_CHOICES:
        return ""
    # size: at most _MOST_CHOICES apart, see above
    return f" --choices {','.join(map(str, range(int(scores.min()), int(scores.max()) + 1)))}"


def _write(made: NextLabels, judged: ItemJudgments, arguments: Args, out: Path) -> None:
    if out.exists():
        raise InputError(f"{out} is there already. Name another file by --out.")
    check_writable(out)
    items = judged.items[list(made.chosen)]
    texts = {}
    if arguments.text:
        table = read_table(Path(arguments.file))
        names = [c for c in ("item_id", "item", "id", *arguments.item) if c in table]
        lost = [c for c in arguments.text if c not in table or c in OWN_COLUMNS]
        if lost or not names:
            raise InputError(f"labels next: there is no column {(lost or ['item'])[0]!r} to show.")
        first = table.drop_duplicates(names[-1]).set_index(names[-1])
        texts = {c: first[c].reindex(items).fillna("").to_numpy() for c in arguments.text}
    write_table(
        pd.DataFrame({
            "item_id": items, "chance": made.chance, **texts, "annotator": "", "label": ""
        }),
        out,
    )  # fmt: skip


def _width(text: str) -> float | None:
    """The width of ``width<=NUMBER``."""
    if not text:
        return None
    name, sign, value = text.partition("<=")
    try:
        width = float(value)
    except ValueError:
        width = math.nan
    if name.strip() != "width" or not sign or not 0 < width < math.inf:
        raise InputError(f"labels next: --until takes 'width<=.1', got {text!r}.")
    return width
