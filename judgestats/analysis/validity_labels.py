"""The labels that an experiment holds its judges to, beside the judgments."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from judgestats.analysis.plan import AnalysisPlan
from judgestats.analysis.validity_annotators import PERSON
from judgestats.errors import InputError
from judgestats.items.schema import Item
from judgestats.judgments.readers.item_texts import TEXTS
from judgestats.judgments.readers.labels import with_labels
from judgestats.protocols.naming import response_names


def texts_of(items: Sequence[Item]) -> dict[str, tuple[str, str]]:
    """Question and answer of each thing judged, by its id."""
    return {
        name: (item.question, response.text)
        for item in items
        for name, response in zip(response_names(item), item.responses, strict=True)
    }


def texts_in(frame: pd.DataFrame) -> dict[str, tuple[str, str]]:
    """Question and answer of each item, where the file of the judgments holds them.

    Examples
    --------
    >>> texts_in(pd.DataFrame({"item_id": ["x"], "answer_text": ["It is blue."]}))
    {'x': ('', 'It is blue.')}
    """
    if not set(TEXTS) & set(frame):
        return {}
    first = frame.drop_duplicates("item_id")
    parts = [first[c] if c in first else pd.Series("", index=first.index) for c in TEXTS]
    return {str(i): (str(q), str(a)) for i, q, a in zip(first["item_id"], *parts, strict=True)}


def designed_scores(items: Sequence[Item], low: float, high: float) -> dict[str, float]:
    """The designed quality of answers in points of a scale, by what is judged."""
    return {
        name: low + (high - low) * response.quality
        for item in items
        for name, response in zip(response_names(item), item.responses, strict=True)
        if response.quality is not None
    }


def labelled_frame(
    asked: pd.DataFrame, items: Sequence[Item], declared: AnalysisPlan
) -> tuple[pd.DataFrame, list[str]]:
    """One condition's judgments with ``label``: words for verdicts, numbers for scores.

    Parameters
    ----------
    asked : DataFrame
    items : sequence of Item
    declared : AnalysisPlan
        ``options`` say where the labels are from and from which score an answer passes.

    Returns
    -------
    tuple of DataFrame and list of str
        Without ``label`` where these labels say nothing of such verdicts, and why.
    """
    options = declared.options
    verdicts = bool(set(asked["choice"]) - {""}) or not asked["score"].notna().any()
    if options["labels"] == "designed":
        scores, frame = _designed(asked, items, declared), []
        label = asked["item_id"].map(scores)
    else:
        try:
            joined = with_labels(
                Path("what was judged"), asked, Path(options["labels"]), scores=True
            )
        except InputError as error:
            return asked, [str(error)]
        notes = asked.attrs.get("notes", ())
        frame = [str(note) for note in joined.attrs.get("notes", ()) if note not in notes]
        asked = joined
        words = asked["label"].astype(str).str.strip()
        label = pd.to_numeric(words.where(words != ""), errors="coerce")
        if label.notna().sum() == 0 and (words != "").any():
            if verdicts:
                return asked, frame
            name = asked["condition"].iloc[0]
            text = f"{name}: the labels are words, which scores are not held to."
            return asked.drop(columns="label"), [*frame, text]
    if verdicts:
        people = [str(c) for c in asked if str(c).startswith(PERSON)]
        columns = {"label": label} | {c: pd.to_numeric(asked[c], errors="coerce") for c in people}
        least = float(options["pass_from"])
        passes = {
            c: np.where(v.isna(), "", np.where(v >= least, "pass", "fail"))
            for c, v in columns.items()
        }
        return asked.assign(**passes), frame
    shown = ["" if np.isnan(v) else f"{v:.10g}" for v in label.to_numpy(float)]
    return asked.assign(label=shown), frame


def _designed(
    asked: pd.DataFrame, items: Sequence[Item], declared: AnalysisPlan
) -> dict[str, float]:
    """The designed quality on the scale, of as many answers as keep their label."""
    designed = designed_scores(items, *map(float, declared.options["scale"].split()))
    judged = sorted(set(asked["item_id"]) & set(designed))
    most = declared.options["labelled"]
    if most != "all" and int(most) < len(judged):
        judged = random.Random(f"{declared.seed}/labelled").sample(judged, int(most))
    return {name: designed[name] for name in judged}
