"""``judgestats push``: consistency of the judge on each item, sent to an eval platform."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Literal

import pandas as pd

from judgestats.commands.arguments import Args, repeated_options, table_options
from judgestats.data.readers.registry import read_judgments
from judgestats.errors import InputError
from judgestats.files.remote import local_file
from judgestats.results.numbers import count_noun
from judgestats.runner import display as console
from judgestats.tracking.push import TARGETS, ItemScore, push, unsent
from judgestats.tracking.traces import is_stored, stored_assessments

_NAMED = {"langfuse-scores", "phoenix-annotations", "phoenix-evals"}
"""Exports whose items are the platform's own ids."""


def push_command(arguments: Args) -> int:
    """Send the vote share and the flip probability of each item.

    Parameters
    ----------
    arguments : Args
        ``file`` (a file or MLflow runs), ``to``, ``yes``, ``ledger``, and how a table is read.

    Returns
    -------
    int
        0.

    Raises
    ------
    InputError
        No item has an id of the platform, or none was judged twice.
    """
    form: Literal["screen", "json"] = "json" if arguments.json else "screen"
    with console.use_output(console.OutputOptions(form=form)):
        scores = list(item_scores(_judgments(arguments)))
        target, ledger = TARGETS[arguments.to](), Path(arguments.ledger)
        left = unsent(target, scores, ledger)
        if arguments.yes:
            for _ in push(target, left, ledger):
                pass
        if arguments.json:
            console.write_json(
                {
                    "schema": "judgestats.push/1", "to": arguments.to, "address": target.address,
                    "scores": len(scores), "unsent": 0 if arguments.yes else len(left),
                    "sent": len(left) if arguments.yes else 0,
                    "example": {"id": scores[0].id, **asdict(scores[0])} if scores else None,
                }
            )  # fmt: skip
        else:
            console.print_result(*_lines(arguments, scores, left, target.address))
    return 0


def _lines(
    arguments: Args, scores: list[ItemScore], left: list[ItemScore], address: str
) -> list[str]:
    where = f"{arguments.to} at {address}"
    if arguments.yes:
        known = f" {len(scores) - len(left):,} were there." if len(left) < len(scores) else ""
        sent = count_noun(len(left), "score", "scores")
        return [
            f"READY  Sent {sent} to {where}.{known}", f"Ledger: {arguments.ledger}",
            f"Next  {_again(arguments)}",
        ]  # fmt: skip
    every = count_noun(len(scores), "score", "scores")
    traces = count_noun(len({(s.trace_id, s.span_id) for s in scores}), "trace", "traces")
    lines = [f"READY  Dry run: {len(left):,} of {every} on {traces} would go to {where}."]
    if left:
        lines.append(f"Example: {left[0].name} {left[0].value:.3g} ({left[0].comment})")
    return [*lines, f"Next  {_again(arguments)} --yes"]


def _again(arguments: Args) -> str:
    words = [arguments.file, *arguments.further, "--to", arguments.to]
    words += ["--ledger", arguments.ledger] if arguments.ledger != "judgestats-push.db" else []
    return " ".join(["judgestats push", shlex.join(words), *repeated_options(arguments)])


def _judgments(arguments: Args) -> pd.DataFrame:
    """The judgments with the columns ``trace_id`` and ``span_id``."""
    words = [arguments.file, *arguments.further]
    if all(is_stored(w) and not Path(w).exists() for w in words):
        return stored_assessments(words, judge=arguments.judge).assign(span_id="")
    if arguments.further:
        raise InputError("push: name one file, or MLflow runs.")
    mapped = [part for text in arguments.map for part in text.split(",")]
    traced = [p.partition("=")[2].strip() for p in mapped if p.strip().startswith("trace_id=")]
    others = [p for p in mapped if not p.strip().startswith("trace_id=")]
    own = Args(**vars(arguments) | {"map": others, **({"item": traced} if traced else {})})
    frame = read_judgments(
        local_file(arguments.file), reader=arguments.reader, **table_options(own)
    )
    console.print_status(*frame.attrs["understood"])
    if "trace_id" in frame:
        return frame.assign(span_id="")
    if not traced and frame.attrs["reader"] not in _NAMED:
        count = frame["item_id"].nunique()
        raise InputError(
            f"push: 0 of {count:,} items have a trace id. Name its column: --map trace_id=COLUMN"
        )
    ids = frame["item_id"].str.partition("/") if not traced else None
    return frame.assign(
        trace_id=frame["item_id"] if ids is None else ids[0], span_id="" if ids is None else ids[2]
    )


def item_scores(frame: pd.DataFrame) -> Iterator[ItemScore]:
    """The vote share and the flip probability of each item and judge.

    Parameters
    ----------
    frame : DataFrame
        Parsed judgments with ``trace_id`` and ``span_id``.

    Yields
    ------
    ItemScore
        Vote share: share of the most frequent verdict among the repeats. Flip probability: share
        of the pairs of repeats with different verdicts, an unbiased estimate of the probability
        that two judgments differ.

    Raises
    ------
    InputError
        No item has a trace id, or none was judged twice.

    Examples
    --------
    >>> rows = [{"item": "t1", "trial": t, "passed": t > 0} for t in range(4)]
    >>> frame = read_judgments(rows).assign(trace_id="t1", span_id="")
    >>> [(s.name, s.value, s.comment) for s in item_scores(frame)]
    [('judgestats.vote_share', 0.75, '3 of 4 repeats agree'),
     ('judgestats.flip_probability', 0.5, '3 of 4 repeats agree')]
    """
    read = frame[frame["status"].eq("ok") & frame["stage"].eq("final")]
    verdict = read["choice"].astype(str).where(read["choice"].ne(""), read["score"].astype(str))
    read = read.assign(verdict=verdict)
    several = len(read["condition"].unique()) > 1
    repeated = False
    for (condition, _, order), own in read.groupby(["condition", "item_id", "order"], sort=False):
        counts = own["verdict"].value_counts()
        n = int(counts.sum())
        if n < 2:
            continue
        repeated = True
        share = float(counts.iloc[0]) / n
        flips = 1 - float((counts * (counts - 1)).sum()) / (n * (n - 1))
        tail = "".join(f".{part}" for part in ([condition] if several else []) + [order] if part)
        comment = f"{counts.iloc[0]} of {n} repeats agree"
        places = own[["trace_id", "span_id"]].drop_duplicates()
        for trace, span in places.itertuples(index=False):
            if not trace:
                continue
            for name, value in (("vote_share", share), ("flip_probability", flips)):
                yield ItemScore(
                    trace_id=str(trace), span_id=str(span), name=f"judgestats.{name}{tail}",
                    judge=str(own["judge"].iloc[0]), value=value, comment=comment,
                )  # fmt: skip
    if not repeated:
        raise InputError(
            "push: no item was judged twice, so no flip probability is known. Give a file with at "
            "least two judgments per item."
        )
