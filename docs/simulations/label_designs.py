"""Label designs on finite sets: coverage, labels needed, and bounds; a part of decisions.py.

Four simulated judges, and the public sets that a folder holds: LLMBar's verdicts
(`llmbar/verdicts.csv.gz`), PandaLM's labels (`pandalm/labels.csv`), RewardBench 2 with eight scores
per response (`rewardbench2_k8/base_*_k8.jsonl.gz`), and two sets of the alternative annotator test
with simulated judges (`alt_test/NAME_human.csv.gz`, `alt_test/NAME_simulated_llm.csv.gz`).
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from judgestats.decisions import next_labels
from judgestats.stats.validity.label_plan import label_strata, stratified_rate

RANDOM, CHOSEN = "random labels, then strata", "labels next"
NEEDED: dict[str, tuple[int, float, float]] = {
    "even errors": (200, 0.555, 0.582),
    "doubtful third": (200, 0.462, 0.380),
    "weak": (200, 0.854, 0.839),
    "strong": (200, 0.250, 0.173),
    "RewardBench 2, gpt-5.4-nano": (400, 0.835, 0.796),
    "RewardBench 2, gpt-5.4-mini": (400, 0.746, 0.651),
    "RewardBench 2, gpt-5.4": (400, 0.677, 0.593),
    "LLMBar, ChatGPT-0301": (200, 0.990, 1.002),
    "LLMBar, ChatGPT": (200, 1.036, 0.999),
    "LLMBar, Falcon": (200, 0.982, 1.001),
    "LLMBar, GPT-4": (200, 0.737, 0.806),
    "LLMBar, LLaMA2": (200, 0.996, 1.006),
    "LLMBar, PaLM2": (200, 0.832, 0.911),
    "PandaLM, GPT-3.5": (200, 0.658, 0.684),
    "framing, close": (200, 0.166, 0.128),
    "framing, middle": (200, 0.300, 0.212),
    "framing, far": (200, 0.294, 0.174),
    "cebab_aspects, close": (200, 0.285, 0.259),
    "cebab_aspects, middle": (200, 0.481, 0.329),
    "cebab_aspects, far": (200, 0.309, 0.250),
}
"""Labels, and their share of those of people only (random, chosen) in the study of the design."""


@dataclass(frozen=True)
class LabelSet:
    """A finite set: human labels, the judge's verdicts, and their confidence."""

    name: str
    human: np.ndarray
    verdict: np.ndarray
    confidence: np.ndarray


def simulated_sets() -> Iterator[LabelSet]:
    """Judges whose errors are even, in the doubtful third, many, and few."""
    for name, se, sp, kind in (
        ("even errors", 0.9, 0.8, 0), ("doubtful third", 0.9, 0.8, 1), ("weak", 0.7, 0.7, 2),
        ("strong", 0.97, 0.95, 1),
    ):  # fmt: skip
        rng = np.random.default_rng(23)
        y = rng.random(3000) < {"weak": 0.6, "strong": 0.8}.get(name, 0.7)
        c = rng.random(3000)
        times = {0: np.ones(3000), 1: np.where(c < 1 / 3, 2.6, np.where(c < 2 / 3, 0.3, 0.1)),
                 2: np.where(c < 0.5, 1.4, 0.6)}[kind]  # fmt: skip
        wrong = rng.random(3000) < np.minimum(np.where(y, 1 - se, 1 - sp) * times, 0.5)
        yield LabelSet(name, y, y ^ wrong, c)


JUDGES = {
    "gpt-5.4-nano": ("base_nano_k8", "nano_scores"),
    "gpt-5.4-mini": ("base_both_k8", "mini_scores"),
    "gpt-5.4": ("base_both_k8", "full_scores"),
}
"""Files and columns of RewardBench 2's judges."""


def response_scores(folder: Path, judge: str) -> Iterator[tuple[int, int, list[float]]]:
    """Question, place of the response (0 is the correct one), and its scores."""
    file, column = JUDGES[judge]
    with gzip.open(folder / "rewardbench2_k8" / f"{file}.jsonl.gz", "rt") as lines:
        for question, row in enumerate(map(json.loads, lines)):
            for place, scores in enumerate(row.get(column) or []):
                yield question, place, [v for v in scores or [] if v is not None]


def public_sets(folder: Path) -> Iterator[LabelSet]:
    """Recorded judgments with labels of people or gold."""
    for judge in JUDGES:
        known = [(place, v) for _, place, v in response_scores(folder, judge) if len(v) >= 4]
        s, y = np.array([np.mean(v) for _, v in known]), np.array([p == 0 for p, _ in known])
        cutoff = min(np.unique(s.round(1)), key=lambda t: float(np.mean((s >= t) != y)))
        yield LabelSet(f"RewardBench 2, {judge}", y, s >= cutoff, np.abs(s - cutoff))
    d = pd.read_csv(folder / "llmbar" / "verdicts.csv.gz")
    d = d[(d["strategy"] == "Vanilla_NoRules") & ~d["set"].str.startswith("CaseStudy")]
    for judge, own in d.dropna(subset=["winner_orig", "winner_swap", "label"]).groupby("llm"):
        if len(own) >= 350:
            first, swapped = (own[c].to_numpy() == 1 for c in ("winner_orig", "winner_swap"))
            yield LabelSet(f"LLMBar, {judge}", own["label"].to_numpy() == 1, first,
                           (first == swapped).astype(float))  # fmt: skip
    d = pd.read_csv(folder / "pandalm" / "labels.csv")
    d["people"] = d[["annotator1", "annotator2", "annotator3"]].mode(axis=1)[0]
    d["gpt35"] = d["gpt35"].astype(str)
    own = d[d["gpt35"].isin(["1", "2"]) & d["people"].isin([1, 2]) & d["pandalm7b"].isin([0, 1, 2])]
    first = own["gpt35"].to_numpy() == "1"
    same = own["pandalm7b"].to_numpy().astype(int) == np.where(first, 1, 2)
    yield LabelSet("PandaLM, GPT-3.5", own["people"].to_numpy() == 1, first, same.astype(float))
    for name in ("framing", "cebab_aspects"):
        human = pd.read_csv(folder / "alt_test" / f"{name}_human.csv.gz")
        judged = pd.read_csv(folder / "alt_test" / f"{name}_simulated_llm.csv.gz")
        top = human["label"].mode()[0]
        share = (human["label"] == top).groupby(human["item"]).mean()
        share = share[share != 0.5]
        three = judged[judged["llm"].isin(["sim_close", "sim_middle", "sim_far"])]
        votes = (three["label"] == top).groupby(three["item"]).mean()
        for judge, own in three.groupby("llm"):
            verdict = own.set_index("item")["label"] == top
            items = share.index.intersection(verdict.index)
            yield LabelSet(f"{name}, {str(judge).removeprefix('sim_')}",
                           share[items].to_numpy() > 0.5, verdict[items].to_numpy(),
                           np.abs(votes[items].to_numpy() - 0.5))  # fmt: skip


def bounds(found: LabelSet) -> tuple[dict[str, float], dict[str, float]]:
    """Bounds that ``labels next`` prints where everything is labelled, and those by definition."""
    y, f = found.human.astype(float), found.verdict.astype(float)
    said = next_labels(f, found.confidence, y, budget=y.size).bound
    theta = y.mean()
    whole = theta * (1 - theta)
    strata = label_strata(f, found.confidence)
    inside = [pd.Series(y).groupby(by) for by in (f, strata)]
    weights = [one.size() / y.size for one in inside]
    spreads = [one.mean() * (1 - one.mean()) for one in inside]
    defined = {
        "1 - R2, verdict": float((weights[0] * spreads[0]).sum()) / whole,
        "1 - R2, strata": float((weights[1] * spreads[1]).sum()) / whole,
        "best allocation": float((weights[1] * np.sqrt(spreads[1])).sum()) ** 2 / whole,
    }
    printed = (said.verdict, said.strata, said.neyman)
    return dict(zip(defined, map(float, printed), strict=True)), defined


def draws(found: LabelSet, n: int, replicates: int) -> dict[str, np.ndarray]:
    """Estimate and limits of each design, one row per replicate; NaN where not defined."""
    y, f = found.human.astype(float), found.verdict.astype(float)
    strata = label_strata(f, found.confidence)
    sizes = np.bincount(strata)
    rows: dict[str, list[tuple[float, float, float]]] = {RANDOM: [], CHOSEN: []}
    rng = np.random.default_rng([39, n, y.size])
    for r in range(replicates):
        drawn = rng.choice(y.size, n, replace=False)
        have = np.bincount(strata[drawn], minlength=sizes.size)
        passes = np.bincount(strata[drawn], y[drawn], minlength=sizes.size).astype(int)
        rows[RANDOM].append(stratified_rate(sizes, have, passes))
        labels = np.full(y.size, np.nan)
        while True:
            made = next_labels(f, found.confidence, labels, budget=n, seed=r)
            if not made.chosen:
                break
            labels[list(made.chosen)] = y[list(made.chosen)]
        rows[CHOSEN].append((made.estimate.estimate, made.estimate.low, made.estimate.high))
    return {name: np.array(own) for name, own in rows.items()}


def needed_share(estimates: np.ndarray, n: int, human: np.ndarray) -> float:
    """Labels as a share of those of people only, drawn at random, with the same variance."""
    size, theta = human.size, human.mean()
    whole = theta * (1 - theta) * size / (size - 1)
    equal = 1 / (np.nanvar(estimates) / whole + 1 / size)
    return float(n / equal)
