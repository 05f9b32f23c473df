"""Interactive page of a run: its judgments, its items' texts, its record."""

from __future__ import annotations

from typing import Any

from judgestats.errors import InputError
from judgestats.files import parquet_table
from judgestats.items.records import item_from_record
from judgestats.protocols.template import pair_name, pairs_of, response_names
from judgestats.reporting.explorer.page import html_page
from judgestats.reporting.explorer.payload import ItemTexts, frame_texts, view_payload
from judgestats.reporting.runs import Run

ITEM_TEXTS = "texts.parquet"
"""Name of the texts that an audit keeps in the folder ``data``."""


def run_page(run: Run, **options: Any) -> str:
    """Return the page of a run.

    Parameters
    ----------
    run : Run
    **options
        Of `judgestats.reporting.explorer.view_payload`.

    Returns
    -------
    str
        HTML.

    Raises
    ------
    InputError
        The run holds no judgments.
    """
    if run.finals.empty:
        compared = run.records.kind in {"drift", "comparison"}
        why = "it is a comparison of runs" if compared else "they were counted, not kept"
        raise InputError(f"view: {run.folder} has no judgments ({why}). Give one run.")
    frame = options.pop("frame", run.finals)
    return html_page(view_payload(run.records, frame, texts=item_texts(run), **options)[1])


def item_texts(run: Run) -> ItemTexts:
    """Return what was judged, by the ids of judged items.

    Parameters
    ----------
    run : Run
        Items of an experiment hold their texts; an audit keeps those of its file.
    """
    kept = run.folder / "data" / ITEM_TEXTS
    if not run.items:
        held = frame_texts(run.finals)
        return held if held or not kept.is_file() else frame_texts(parquet_table(kept))
    out: dict[str, list[tuple[str, str]]] = {}
    for record in run.items:
        item = item_from_record(record)
        question = [("Context", item.context), ("Question", "\n\n".join(item.turns))]
        answers = ["\n\n".join(r.turns) for r in item.responses]
        out[item.id] = [*question, *((f"Answer {i + 1}", a) for i, a in enumerate(answers))]
        for name, answer in zip(response_names(item), answers, strict=True):
            out[name] = [*question, ("Answer", answer)]
        for i, j in pairs_of(item):
            out[pair_name(item, (i, j))] = [
                *question, ("Answer a", answers[i]), ("Answer b", answers[j])
            ]  # fmt: skip
        out = {k: [(n, t) for n, t in parts if t] for k, parts in out.items()}
    return out
