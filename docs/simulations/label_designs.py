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
from judgestats.stats.validity.label_plan import label_strata, pass_variances, stratified_mean

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
"""Labels, and their share of human labels alone (random, chosen) in the study of the design."""


@dataclass(frozen=True)
class LabelSet:
    """A finite set: human labels, the judge's verdicts, and their confidence; or scores."""

    name: str
    human: np.ndarray
    verdict: np.ndarray
    confidence: np.ndarray | None = None

    @property
    def is_scored(self) -> bool:
        """Whether judge and labels are scores."""
        return self.confidence is None


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


def scored_sets(folder: Path | None) -> Iterator[LabelSet]:
    """Scores of judges and human labels: simulated, and SummEval with simulated judges."""
    for name, noise, uneven in (
        ("scores, r .9", 0.9, False), ("scores, r .7", 2.0, False), ("scores, r .5", 3.4, False),
        ("scores, errors at the low end", 1.3, True), ("scores, half are 10", 1.5, False),
    ):  # fmt: skip
        rng = np.random.default_rng(24)
        quality = rng.normal(10 if name.endswith("are 10") else 6, 2, 3000)
        human = np.clip(np.round(quality), 1, 10)
        sd = noise * (np.where(quality < 5, 2.0, 0.4) if uneven else 1.0)
        yield LabelSet(name, human, np.clip(np.round(quality + sd * rng.normal(size=3000)), 1, 10))
    if folder:
        human = pd.read_csv(folder / "alt_test" / "summeval_human.csv.gz")
        judged = pd.read_csv(folder / "alt_test" / "summeval_simulated_llm.csv.gz")
        people = human.groupby("item")["label"].mean()
        for judge in ("close", "middle", "far"):
            own = judged[judged["llm"] == f"sim_{judge}"].set_index("item")["label"]
            items = people.index.intersection(own.index)
            yield LabelSet(f"SummEval, {judge}", people[items].to_numpy(), own[items].to_numpy())


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
    """Recorded judgments with human or gold labels."""
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
    strata = strata_of(found)
    inside = [pd.Series(y).groupby(by) for by in (f, strata)]
    weights = [one.size() / y.size for one in inside]
    spreads = [one.var(ddof=0) for one in inside]
    alone = float((weights[0] * spreads[0]).sum()) / y.var()
    if found.is_scored:
        alone = 1 - float(np.corrcoef(f, y)[0, 1]) ** 2
    defined = {
        "1 - R2, verdict": alone,
        "1 - R2, strata": float((weights[1] * spreads[1]).sum()) / y.var(),
        "best allocation": float((weights[1] * np.sqrt(spreads[1])).sum()) ** 2 / y.var(),
    }
    printed = (said.verdict, said.strata, said.neyman)
    return dict(zip(defined, map(float, printed), strict=True)), defined


def strata_of(found: LabelSet) -> np.ndarray:
    """Strata of the design: of scores thirds, and halves inside them."""
    f = found.verdict.astype(float)
    if found.is_scored:
        cuts = np.unique(np.quantile(f, (1 / 3, 2 / 3)))
        return label_strata(np.searchsorted(cuts, f, "right") / 2, f, 2)
    return label_strata(f, found.confidence)


def draws(found: LabelSet, n: int, replicates: int) -> dict[str, np.ndarray]:
    """Estimate and limits of each design, one row per replicate; NaN where not defined."""
    y, f = found.human.astype(float), found.verdict.astype(float)
    strata = strata_of(found)
    sizes = np.bincount(strata)
    rows: dict[str, list[tuple[float, float, float]]] = {RANDOM: [], CHOSEN: []}
    rng = np.random.default_rng([39, n, y.size])
    for r in range(replicates):
        drawn = rng.choice(y.size, n, replace=False)
        have, sums, squares = (
            np.bincount(strata[drawn], y[drawn] ** k, minlength=sizes.size) for k in (0, 1, 2)
        )
        means = sums / np.maximum(have, 1)
        spread = pass_variances(have, sums)
        if found.is_scored:
            pilot = 2 * y[drawn[: n // 4]].var(ddof=1)
            spread = (squares - have * means**2 + pilot) / (np.maximum(have, 1) + 1)
        rows[RANDOM].append(stratified_mean(sizes, have, means, spread))
        labels = np.full(y.size, np.nan)
        while True:
            made = next_labels(f, found.confidence, labels, budget=n, seed=r)
            if not made.chosen:
                break
            labels[list(made.chosen)] = y[list(made.chosen)]
        rows[CHOSEN].append((made.estimate.estimate, made.estimate.low, made.estimate.high))
    return {name: np.array(own) for name, own in rows.items()}


def needed_share(estimates: np.ndarray, n: int, human: np.ndarray) -> float:
    """Labels as a share of random human labels alone with the same variance."""
    size = human.size
    whole = human.astype(float).var(ddof=1)
    equal = 1 / (np.nanvar(estimates) / whole + 1 / size)
    return float(n / equal)
