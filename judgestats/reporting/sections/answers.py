"""The answers of page one: those of the screen, their numbers with their records."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from judgestats.reporting.runs import Run
from judgestats.reporting.show import Markdown
from judgestats.reporting.shown import Shown, address, named, words
from judgestats.results import Comparison, Results
from judgestats.results.answers import LOST, Answer, decimals_of, number_of, shown
from judgestats.results.brief import brief_of
from judgestats.results.numbers import adjusted_p

__all__ = ["answer_texts", "answers", "sentences"]

_MOST = 4
"""Answers that page one has room for: the tables tell all."""
_P = re.compile(r"\bp (= )?$")


def answers(run: Run) -> Markdown:
    """The answer in a sentence a claim, as the screen says it; else the run's own sentence."""
    texts = sentences(run.records) or [words(run.records, "#answer")]
    return Markdown("::: {.answer}\n\n" + "\n\n".join(texts) + "\n\n:::")


def answer_texts(run: Run) -> list[str]:
    """What `answers` says, a text each."""
    claims = [answer.text for answer in _first(run.records)]
    return claims or [run.records.answer]


def sentences(results: Results, file: str = "") -> list[str]:
    """What is claimed, a sentence each, as Markdown.

    Parameters
    ----------
    results : Results
    file : str
        The name of the results file, where several stand on one page.
    """
    return [
        words(results, "#answer")
        if not answer.headlines and answer.text == results.answer
        else _marked(answer, results, file)
        for answer in _first(results)
    ]


def _first(results: Results) -> Sequence[Answer]:
    """The answers that page one has room for; that of all claims of a study takes none of it."""
    return brief_of(results).answers[: _MOST + (results.kind == "replication")]


def _marked(answer: Answer, results: Results, file: str) -> str:
    """The sentence; each number a span with its record, what stands between them a label."""
    out, at = [], 0
    for start, end, number in sorted(_numbers(answer, results), key=lambda n: n[0]):
        if start >= at:
            placed = number.within(file) if file else number
            # "p = " stays with its number
            before = _P.sub(lambda match: match[0].replace(" ", "\u00a0"), answer.text[at:start])
            out += [named(before), placed.markdown]
            at = end
    return "".join([*out, named(f"{answer.text[at:].rstrip('.')}.")])


def _numbers(answer: Answer, results: Results) -> Iterator[tuple[int, int, Shown]]:
    """Where each number stands in the sentence, in the order of its records and claims."""
    at = 0
    decimals = decimals_of(results)
    claimed = {f"p {adjusted_p(h)}" for h in results.headlines if h.id in answer.headlines}
    for record in (number_of(results, i) for i in answer.records):
        number, bounds = shown(record, decimals=decimals.get(record.id))
        whole = f"{number} {bounds}" if bounds.startswith("[") else number
        start = answer.text.find(whole, at)
        if start < 0 or not math.isfinite(record.estimate):
            continue
        at = start + len(whole)
        parts = [(number, address(record.id, "estimate"))]
        if bounds == LOST:
            parts.append((f" {LOST}", ""))
        elif bounds.startswith("["):
            low, high = bounds.strip("[]").split(", ")
            parts += [(" [", ""), (low, address(record.id, "interval.low")), (", ", ""),
                      (high, address(record.id, "interval.high")), ("]", "")]  # fmt: skip
        yield start, at, Shown(tuple(parts))
        if isinstance(record, Comparison) and not math.isnan(record.p_adjusted):
            whole = f"p {adjusted_p(record)}"  # a pair's own, where the claim's is another
            if whole in claimed or (start := answer.text.find(whole, at)) < 0:
                continue
            at = start + len(whole)
            p = whole.removeprefix("p ").removeprefix("= ").replace(" ", "\u00a0")
            yield (
                at - len(whole.removeprefix("p ").removeprefix("= ")),
                at,
                Shown(((p, address(record.id, "p_adjusted")),)),
            )
    at = 0
    places = {headline.id: i for i, headline in enumerate(results.headlines)}
    for i in (places[h] for h in answer.headlines):
        whole = f"p {adjusted_p(results.headlines[i])}"
        number = whole.removeprefix("p ").removeprefix("= ")
        start = answer.text.find(whole, at)
        if start >= 0 and math.isfinite(results.headlines[i].p_adjusted):
            at = start + len(whole)
            where = address("", f"headlines.{i}.p_adjusted")
            yield at - len(number), at, Shown(((number.replace(" ", "\u00a0"), where),))
