"""arXiv 2412.12509, Table 4: how many of a question's five answers are right, from public files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from judgestats.errors import InputError
from judgestats.items.answers import holds_target
from judgestats.items.files import read_source
from judgestats.results.numbers import apa_number
from judgestats.stats.agreement.mean_share import mean_share
from judgestats.stats.inference.result import Estimate
from judgestats.studies.claims import Claim, Options, not_examined, now, then
from judgestats.studies.paper_tables import omega_tables

_FILES = (
    "prompt_responses.json",
    "squad_sampled_q.json",
    "bbh_sampled_q.json",
    "accuracy_resp_squad.csv",
    "accuracy_resp_bbh.csv",
)
_SQUAD, _BBH = "SQuAD", "BBH"


def five_numbers(counts: Sequence[float]) -> list[float]:
    """Least, quartiles, most: numbers of the data, as the paper prints them.

    Examples
    --------
    >>> five_numbers([0, 0, 1, 1, 2])
    [0.0, 0.0, 1.0, 1.0, 2.0]
    """
    return [float(v) for v in np.quantile(np.asarray(counts, dtype=float), np.linspace(0, 1, 5))]


def answers(folder: Path, options: Options) -> Claim:
    """What the public answers say of how many are right.

    Parameters
    ----------
    folder : Path
        With the authors' questions, answers and counts.
    options : Options

    Returns
    -------
    Claim

    Raises
    ------
    InputError
        If a file is damaged.
    """
    printed = {b: _printed(b) for b in (_BBH, _SQUAD)}
    about = {
        "claim": "Of five answers to SQuAD nearly all are right, of BBH hardly any.",
        "published": "Table 4: " + "; ".join(f"{b} {_told(v)}" for b, v in printed.items()),
        "test_then": "right answers of five a question, counted by a script; five numbers",
        "test_now": "answers that name the whole true answer as words: share with an interval over "
        "questions",
    }
    files = {name: next(iter(sorted(folder.rglob(name))), None) for name in _FILES}
    paths = {name: path for name, path in files.items() if path is not None}
    if absent := [name for name in _FILES if name not in paths]:
        return not_examined(
            "answers", missing=f"the folder lacks {absent[0]} of the authors' repository", **about
        )
    texts = _texts(paths["prompt_responses.json"])
    true = {
        _SQUAD: {
            f"squad:{row['id']}": str(row["answers"][0]["text"])
            for row in _rows(paths["squad_sampled_q.json"], "id", "answers")
        },
        _BBH: {
            f"bbh:{row['category']}": str(row["target"])
            for row in _rows(paths["bbh_sampled_q.json"], "category", "target")
        },
    }
    counted = {
        _SQUAD: _counts(paths["accuracy_resp_squad.csv"]),
        _BBH: _counts(paths["accuracy_resp_bbh.csv"]),
    }
    for benchmark, targets in true.items():
        if set(targets) != set(counted[benchmark]) or not set(targets) <= set(texts):
            raise InputError(
                f"replicate: the files on {benchmark} are not about the same questions."
            )
    whole = {
        b: {q: _naming(texts[q], target) for q, target in own.items()} for b, own in true.items()
    }
    lost = sum(np.isnan(v) for own in whole.values() for v in own.values())
    share = {
        b: mean_share(
            [v for v in own.values() if not np.isnan(v)],
            level=options.level,
            name="answer_accuracy",
            label="Answers that name the true answer",
        )
        for b, own in whole.items()
    }
    five = {b: five_numbers(list(own.values())) for b, own in counted.items()}
    same = sum(five[b] == printed[b] for b in printed)
    first = sum(
        counted[_SQUAD][q] == sum(target[:1] in t for t in texts[q])
        for q, target in true[_SQUAD].items()
    )
    return Claim(
        id="answers",
        **about,
        reproduced=f"{'; '.join(f'{b} {_told(v)}' for b, v in five.items())} in the authors' "
        f"counts: {same} of 2 as printed",
        verdict="stands in part" if _above(share[_SQUAD], share[_BBH]) else "does not stand",
        because=_because(share, first=first, n=len(true[_SQUAD]), lost=int(lost)),
        results=(
            *(
                then(
                    f"answers.then.{b}",
                    f"Right answers by the authors' counts, {b}",
                    mean_share(
                        [counted[b][q] / len(texts[q]) for q in own],
                        level=options.level,
                        name="answer_accuracy",
                        label="Right answers as counted",
                    ),
                )
                for b, own in true.items()
            ),
            *(now(f"answers.now.{b}", f"Answers that name the truth, {b}", share[b]) for b in true),
        ),
    )


def _naming(texts: Sequence[str], target: str) -> float:
    """Share of the answers that name the target; NaN where it is no name to be looked for."""
    named = [holds_target(text, target) for text in texts]
    return (
        float(np.mean([s for s in named if s is not None])) if None not in named else float("nan")
    )


def _because(share: Mapping[str, Estimate], *, first: int, n: int, lost: int) -> str:
    sentences = []
    if first == n:
        sentences.append(
            f"In {first} of {n} SQuAD questions the count is that of the answers which hold the "
            "first character of the true answer, and the authors' public script (resp_accuracy.py) "
            "looks for that character alone."
        )
    text = " and ".join(f"{_share(e)} of the answers to {b}" for b, e in share.items())
    ahead = "ahead" if _above(share[_SQUAD], share[_BBH]) else "not shown to be ahead"
    sentences.append(
        f"The whole true answer is named by {text}: SQuAD is {ahead}. An answer that names it in "
        "passing, or all options, counts"
        + (f"; {lost} questions whose true answer is a sentence or a sign do not." if lost else ".")
    )
    return " ".join(sentences)


def _above(first: Estimate, second: Estimate) -> bool:
    a, b = first.interval, second.interval
    return a is not None and b is not None and a.low > b.high


def _share(estimate: Estimate) -> str:
    value = apa_number(estimate.estimate, digits=2, bounded=True)
    if estimate.interval is None:
        return value
    low, high = (
        apa_number(v, digits=2, bounded=True)
        for v in (estimate.interval.low, estimate.interval.high)
    )
    return f"{value} [{low}, {high}]"


def _told(numbers: Sequence[float]) -> str:
    return " / ".join(f"{v:g}" for v in numbers)


def _printed(benchmark: str) -> list[float]:
    table = omega_tables()
    own = table[(table["table"] == 4) & (table["benchmark"] == benchmark)]
    values = own.set_index("statistic")["value"]
    return [float(values[f"correct_of_5_{n}"]) for n in ("min", "q1", "median", "q3", "max")]


def _texts(path: Path) -> dict[str, list[str]]:
    document = read_source(path).document or {}
    texts = {}
    for name, entry in document.items():
        listed = entry.get("model_responses") if isinstance(entry, Mapping) else None
        if not isinstance(listed, Mapping) or not listed:
            raise InputError(f"replicate: {path.name}: {str(name)[:60]!r} names no answers.")
        texts[str(name)] = [str(text) for text in listed.values()]
    return texts


def _rows(path: Path, *needed: str) -> list[Mapping[str, Any]]:
    rows = [row.values for row in read_source(path).rows]
    whole = all(set(needed) <= set(row) for row in rows)
    if not rows or not whole or ("answers" in needed and not all(_answered(r) for r in rows)):
        raise InputError(f"replicate: {path.name}: every row needs {' and '.join(needed)}.")
    return rows


def _answered(row: Mapping[str, Any]) -> bool:
    listed = row["answers"]
    return isinstance(listed, list) and bool(listed) and "text" in dict(listed[0])


def _counts(path: Path) -> dict[str, int]:
    """The last row of the authors' table: how many answers are right, a question."""
    row = dict(read_source(path).rows[-1].values)
    counts = {str(q): str(v) for q, v in row.items() if re.match(r"(bbh|squad):", str(q))}
    if not counts or not all(v.isdecimal() for v in counts.values()):
        raise InputError(f"replicate: {path.name}: the last row must count the right answers.")
    return {q: int(v) for q, v in counts.items()}
