"""arXiv 2412.12509: its application to Head-to-Tail, from the authors' public verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from pathlib import Path

import numpy as np

from judgestats.arrays import Floats
from judgestats.errors import InputError
from judgestats.items.files import read_source
from judgestats.results.numbers import apa_number
from judgestats.stats.agreement.mean_share import mean_share
from judgestats.stats.agreement.vote_share import vote_share_reliability
from judgestats.stats.inference.result import Estimate, Sample
from judgestats.studies.claims import Claim, Options, not_examined, now, then
from judgestats.studies.paper_tables import omega_tables

_FILE = "head_to_tail.csv"
_CODES = {"1": 1.0, "0": 0.0, "_": np.nan}
_HALF_DIGIT = 5e-5 + 1e-9
_COPIES = 0.99
"""Correlation of item means from which judges are called near copies of one another."""

_ABOUT = {
    "claim": "Accuracy on Head-to-Tail as judged hardly varies between judges.",
    "published": "Tables 5 and 6: A_LM .0395-.0396 (standard error .0003-.0004), omega about .99",
    "test_then": "mean over questions and replications, an empty reply counted as incorrect; its "
    "standard error over replications",
    "test_now": "accuracy as judged with an interval over questions, empty replies left out; "
    "reliability of one verdict; correlation of the judges' shares by question",
}


def read_application(folder: Path) -> dict[str, Floats]:
    """The verdicts on Head-to-Tail by judge, questions x replications; nothing without the file.

    Parameters
    ----------
    folder : Path
        With ``head_to_tail.csv`` (``.gz``): judge, item, and the verdicts of its replications as
        one text (1 correct, 0 not, _ empty).

    Returns
    -------
    dict of str to ndarray
        NaN where the reply was empty; questions in the order of their numbers.

    Raises
    ------
    InputError
        If the file is damaged.
    """
    files = sorted(folder.glob(f"{_FILE}*"))
    if not files:
        return _authors(folder)
    verdicts: dict[str, dict[int, list[float]]] = {}
    for row in read_source(files[0]).rows:
        judge, item, text = (str(row.values.get(k, "")) for k in ("judge", "item", "verdicts"))
        if not judge or not item.isdecimal() or not text or set(text) - set(_CODES):
            raise InputError(
                f"replicate: {row.where}: expected judge, item (a number) and verdicts of 1, 0 "
                "and _."
            )
        verdicts.setdefault(judge, {})[int(item)] = [_CODES[c] for c in text]
    arrays = {}
    for judge, rows in verdicts.items():
        if len({len(v) for v in rows.values()}) > 1 or set(rows) != set(
            next(iter(verdicts.values()))
        ):
            raise InputError(f"replicate: {files[0].name}: the rows of {judge} are not complete.")
        arrays[judge] = np.array([rows[item] for item in sorted(rows)])
    return arrays


def _authors(folder: Path) -> dict[str, Floats]:
    """The same from the authors' files, a judge's texts by question, read by their rule."""
    own = sorted(folder.rglob("judge_full_*_by_lmsys_vicuna-7b-v1.5.json"))
    arrays = {}
    for path in own:
        document = read_source(path).document or {}
        listed = [texts for texts in document.values() if isinstance(texts, list)]
        if len(listed) != len(document) or len({len(texts) for texts in listed}) != 1:
            raise InputError(f"replicate: {path.name}: expected a list of texts for each question.")
        name = path.name.removeprefix("judge_full_").partition("_by_")[0]
        arrays[name] = np.array([[_told(text) for text in texts] for texts in listed])
    return arrays


def _told(text: object) -> float:
    """1 where a text holds correct and not incorrect; NaN where it is empty.

    Examples
    --------
    >>> [_told(t) for t in (" correct", "It is incorrect.", "")]
    [1.0, 0.0, nan]
    """
    words = text.lower() if isinstance(text, str) else ""
    return float("correct" in words and "incorrect" not in words) if words.strip() else float("nan")


def application(folder: Path, options: Options) -> Claim:
    """What the public verdicts on Head-to-Tail say of the application's accuracy and reliability.

    Parameters
    ----------
    folder : Path
    options : Options

    Returns
    -------
    Claim
    """
    verdicts = read_application(folder)
    if not verdicts:
        return not_examined(
            "head_to_tail",
            **_ABOUT,
            missing="the folder has no head_to_tail.csv.gz; the authors' repository holds the "
            "verdicts in application_data/judgment_results",
        )
    as_printed = {judge: np.nan_to_num(x) for judge, x in verdicts.items()}
    printed = {judge: _printed(judge) for judge in verdicts}
    matches = sum(
        abs(round(float(x.mean()), 4) - printed[judge]) < _HALF_DIGIT
        for judge, x in as_printed.items()
    )
    shares = {judge: np.nanmean(x, axis=1) for judge, x in verdicts.items()}
    same = [_pair(shares[a], shares[b]) for a, b in combinations(verdicts, 2)]
    accuracy = {
        judge: mean_share(share, level=options.level, name="accuracy", label="Accuracy as judged")
        for judge, share in shares.items()
    }
    one = {
        judge: vote_share_reliability(
            np.where(np.isnan(x), "", np.where(x > 0, "correct", "incorrect")).astype(object),
            level=options.level,
            n_permutations=options.n_resamples,
            seed=options.seed,
        )
        for judge, x in verdicts.items()
    }
    low = min(r for r, _ in same) if same else np.nan
    copies = bool(same) and low >= _COPIES
    text = ", ".join(
        apa_number(float(x.mean()), digits=4, bounded=True) for x in as_printed.values()
    )
    return Claim(
        id="head_to_tail",
        **_ABOUT,
        reproduced=f"A_LM {text}: {matches} of {len(verdicts)} as printed",
        verdict="stands in part" if copies else "stands",
        because=_because(as_printed, accuracy, one, same, copies=copies),
        results=(
            *(
                then(f"head_to_tail.then.{j}", f"A_LM, {_short(j)}", _over_replications(x))
                for j, x in as_printed.items()
            ),
            *(
                now(f"head_to_tail.now.accuracy.{j}", f"Accuracy as judged, {_short(j)}", e)
                for j, e in accuracy.items()
            ),
            *(
                now(f"head_to_tail.now.one.{j}", f"Reliability of one verdict, {_short(j)}", e)
                for j, e in one.items()
            ),
        ),
    )


def _because(
    as_printed: Mapping[str, Floats],
    accuracy: Mapping[str, Estimate],
    one: Mapping[str, Estimate],
    same: list[tuple[float, float]],
    *,
    copies: bool,
) -> str:
    first = next(iter(accuracy))
    n, times = as_printed[first].shape
    bounds = [e.interval for e in accuracy.values() if e.interval is not None]
    sentences = []
    if bounds:
        low, high = min(b.low for b in bounds), max(b.high for b in bounds)
        sentences.append(
            f"The accuracies are alike, and none is known to four digits: over {n:,} questions the "
            f"95 % intervals reach from {_three(low)} to {_three(high)}; the printed standard "
            f"errors are those of {times} replications of the same questions."
        )
    values = [e.estimate for e in one.values()]
    sentences.append(
        f"One verdict's reliability is {_three(min(values))} to {_three(max(values))}."
    )
    if copies:
        sentences.append(
            f"That judges agree is not shown by it: their shares by question correlate "
            f"{_three(min(r for r, _ in same))} to {_three(max(r for r, _ in same))} and are the "
            f"very same in {100 * min(s for _, s in same):.0f} to "
            f"{100 * max(s for _, s in same):.0f} % of the questions, as one judge asked again "
            "would give: three verdicts here weigh as one. In the authors' public script "
            "(application_judges.py; read, not run here) the call hands the answering model over "
            "as the judge and the judge as the answering model, and the files carry the names that "
            "this order gives. Which models were asked cannot be told from the verdicts."
        )
    return " ".join(sentences)


def _three(value: float) -> str:
    return apa_number(value, digits=3, bounded=True)


def _pair(first: Floats, second: Floats) -> tuple[float, float]:
    """Correlation of two judges' shares, and how often they are the very same."""
    return float(np.corrcoef(first, second)[0, 1]), float(np.mean(first == second))


def _over_replications(verdicts: Floats) -> Estimate:
    """The mean as printed; its standard error is over replications, for the same questions."""
    means = verdicts.mean(axis=0)
    return Estimate(
        name="accuracy",
        label="A_LM as printed",
        estimate=float(means.mean()),
        std_error=float(means.std(ddof=1) / np.sqrt(len(means))),
        sample=Sample(n_items=len(verdicts)),
    )


def _short(judge: str) -> str:
    return judge.replace("_", "/", 1).split("/")[-1]


def _printed(judge: str) -> float:
    table = omega_tables()
    own = table[
        (table["table"] == 5)
        & (table["statistic"] == "A_LM")
        & (table["judge"] == judge.replace("_", "/", 1))
    ]
    return float(own["value"].iloc[0]) if len(own) else float("nan")
