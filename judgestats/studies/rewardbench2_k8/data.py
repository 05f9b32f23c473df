"""RewardBench 2, eight scores an answer: the study's files, and what the right answer earns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from judgestats.arrays import Floats
from judgestats.errors import InputError
from judgestats.studies.claims import file_of, records_of

FULL, MINI, NANO = "gpt-5.4", "gpt-5.4-mini", "gpt-5.4-nano"
_FILES: Mapping[tuple[str, float], tuple[str, str]] = {
    (FULL, 1.0): ("base_both_k8.jsonl", "full_scores"),
    (MINI, 1.0): ("base_both_k8.jsonl", "mini_scores"),
    (NANO, 1.0): ("base_nano_k8.jsonl", "nano_scores"),
    (FULL, 0.7): ("base_full_k8_t0.7.jsonl", "full_scores"),
    (FULL, 0.0): ("base_full_k8_t0.0.jsonl", "full_scores"),
}


@dataclass(frozen=True, kw_only=True)
class JudgeScores:
    """A judge at a temperature: its scores, questions x answers x repeats, the right one first."""

    scores: Floats
    questions: tuple[tuple[str, str], ...]

    def credit(self, k: int, *, ties: bool = True) -> Floats:
        """What the right answer earns by the mean of k scores, a question; NaN where unread.

        Without `ties`, as the study counts: the first k scores, those that were read, and
        nothing for a tie. With them, the mean over successive sets of k repeats.
        """
        starts = range(0, self.scores.shape[2] - k + 1, k) if ties else [0]
        parts = [self._earned(self.scores[:, :, s : s + k], ties=ties) for s in starts]
        read = ~np.isnan(parts)
        counts = read.sum(axis=0)
        total = np.where(read, parts, 0.0).sum(axis=0)
        return np.where(counts > 0, total / np.maximum(counts, 1), np.nan)

    def tied(self, k: int) -> float:
        """Share of the questions whose right answer shares the highest mean of the first k."""
        whole = self._earned(self.scores[:, :, :k], ties=True)
        return float(np.mean((whole > 0) & (whole < 1)))

    def _earned(self, some: Floats, *, ties: bool) -> Floats:
        read = ~np.isnan(some)
        counts = read.sum(axis=2)
        means = np.where(read, some, 0.0).sum(axis=2) / np.where(counts > 0, counts, np.nan)
        means = np.round(means, 9)  # 1/8ths of sums in another order are the same mean
        best = means == means.max(axis=1, keepdims=True)
        shared = best[:, 0] / np.maximum(best.sum(axis=1), 1)
        earned = shared if ties else (shared == 1).astype(float)
        return np.where(np.isnan(means).any(axis=1), np.nan, earned)


Data = Mapping[tuple[str, float], JudgeScores]


def read_scores(folder: Path) -> Data:
    """The judges and temperatures that a folder holds.

    Raises
    ------
    InputError
        If there is none of the files, or one is damaged.
    """
    file_of(folder, *dict.fromkeys(name for name, _ in _FILES.values()), study="RewardBench 2 k=8")
    data = {}
    for cell, (name, field) in _FILES.items():
        for path in sorted(folder.glob(f"{name}*"))[:1]:
            rows = records_of(path, ("id", "subset", field))
            try:
                scores = np.array([row.values[field] for row in rows], dtype=float)
            except (TypeError, ValueError) as error:
                raise InputError(f"replicate: {name}: {field} is no table of scores.") from error
            if scores.ndim != 3 or scores.shape[1] < 2:
                raise InputError(
                    f"replicate: {name}: {field} must be answers x repeats a question."
                )
            questions = tuple((str(r.values["subset"]), str(r.values["id"])) for r in rows)
            data[cell] = JudgeScores(scores=scores, questions=questions)
    return data
