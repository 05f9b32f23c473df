"""Real and simulated judges side by side: writes docs/simulated-judges.md.

    python benchmarks/simulated_judges.py        # needs ../shared/data/llmasjudge

The real figures are of published repeated scores (MT-Bench, GPT-4's first-turn answers). The
simulated ones are exact: they come from the judges' score probabilities, not from draws, over 2,000
answers whose pseudo-quality lies in .70-.95 (GPT-4's answers are good ones).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from judgestats.simulated.judges import quality_of, simulated_judge, simulated_judges
from judgestats.simulated.truth import truth

ROOT = Path(__file__).parent.parent
DATA = ROOT.parent / "shared" / "data" / "llmasjudge"
OUT = ROOT / "docs" / "simulated-judges.md"
PAIRS = (
    ("sim-typical", "gpt-4o-mini"),
    ("sim-discerning", "gpt-4o"),
    ("sim-coarse", "gpt-3.5-turbo"),
)
TEMPERATURES = (0.0, 0.1, 0.3, 0.5, 0.7, 1.0)
SCORES = np.arange(1, 11)
TRIALS = 10


def probabilities(judge: str, temperature: float, answers: list[str]) -> np.ndarray:
    known = truth(judge)
    return np.array(
        [
            list(known.score_probabilities(f"Q{i}", a, temperature=temperature).values())
            for i, a in enumerate(answers)
        ]
    )


def answers(low: float, high: float, count: int) -> list[str]:
    found = []
    for i in range(100 * count):
        text = f"Answer {i}. " + "word " * 120
        if low <= quality_of(text) <= high:
            found.append(text)
        if len(found) == count:
            break
    return found


def spread_table(good: list[str]) -> list[str]:
    real = pd.read_csv(DATA / "temperature_variances.csv.gz")
    columns = (
        "judge",
        "T",
        "variance, simulated",
        "variance, real",
        "real, without items over 4",
        "constant items, simulated",
        "constant items, real",
    )
    lines = [f"| {' | '.join(columns)} |", "|" + "---|" * len(columns)]
    for simulated, name in PAIRS:
        for t in TEMPERATURES:
            p = probabilities(simulated, t, good)
            mean = p @ SCORES
            # the published variances divide by 10, not by 9
            variance = (p @ SCORES**2 - mean**2).mean() * (TRIALS - 1) / TRIALS
            constant = (p**TRIALS).sum(axis=1).mean()
            published = real[(real["judge"] == name) & np.isclose(real["temperature"], t)]
            v = published["variance"]
            lines.append(
                f"| {simulated} / {name} | {t:g} | {variance:.3f} | {v.mean():.3f} "
                f"| {v[v < 4].mean():.3f} | {constant:.2f} | {(v == 0).mean():.2f} |"
            )
    return lines


def score_table(good: list[str]) -> list[str]:
    real = pd.read_csv(DATA / "repeated_scores.csv.gz")
    head = " | ".join(str(s) for s in SCORES)
    lines = [f"| judge | T | {head} |", "|---|---|" + "---|" * len(SCORES)]
    for simulated, name in PAIRS:
        for t in (0.3, 1.0):
            share = probabilities(simulated, t, good).mean(axis=0)
            lines.append(f"| {simulated} | {t:g} | " + " | ".join(f"{s:.2f}" for s in share) + " |")
            rows = real[(real["judge"] == name) & np.isclose(real["temperature"], t)]
            shown = [f"{(rows['score'] == s).mean():.2f}" for s in SCORES]
            lines.append(f"| {name} | {t:g} | " + " | ".join(shown) + " |")
    return lines


def judge_table() -> list[str]:
    lines = ["| judge | what it is for |", "|---|---|"]
    for name in simulated_judges():
        judge = simulated_judge(name)
        like = f" (after {judge.stands_for})" if judge.stands_for else ""
        lines.append(f"| `{name}` | {judge.about}{like} |")
    return lines


TEXT = """# Simulated judges

<!-- written by benchmarks/simulated_judges.py -->

Judges whose truth is known, behind an OpenAI-compatible server: inside the process
(`judges=sim-typical`, no port), or for others (`judgestats simulate --port 8000`, then
`judges=sim-typical@http://127.0.0.1:8000/v1`). They cost nothing, and nothing they say is a finding
about a real judge.

{judges}

A score of answer *a* is drawn with probability proportional to
`exp(-(score - centre)^2 / (2 * variance * T))`: a softmax over the scale's points at temperature
T. `centre` grows with the answer's quality (the bundled bank's designed quality, a simulated
answer's stated one; any other text has a fixed pseudo-quality from its hash), `variance` differs
from answer to answer.
`judgestats.simulated.truth.truth(name)` gives all probabilities exactly, so that a study of
a simulated judge can be checked against the truth.

`sim-answerer-1` (weakest) to `sim-answerer-11` (strongest) answer questions instead of judging
(`answerers=sim-answerer-3,sim-answerer-8`). An answer's quality is normal around the model's skill
(.30 to .80), with a standard deviation of .12 over questions and of .12 T over draws; it is written
into the answer's last line, by which the simulated judges know it.

## What was matched

Matched to published repeated scores of real judges (`temperature_variances`, `repeated_scores` of
the study "LLMasJudge"): per judge and temperature the mean within-item variance of ten scores and
the share of items whose ten scores agree; and that most scores of good answers are 8 and 9. Not
matched: the low tail of real scores (real judges give some of GPT-4's answers a 1 because they
are wrong; here such answers have low quality by design), the spread of item means that follows
from it, and gpt-3.5-turbo's growth of variance at low T, which a handful of items carry (the column
without items over 4 leaves them out). How much reasoning adds to the spread (`reasoning_before`)
follows the study's claims in order and direction only: no figures were published.

{spread}

## Scores of good answers: shares at T = .3 and 1

{scores}

## How draws repeat

judgestats sends simulated judges the header `X-Judgestats-Draw: seed:group:replicates`, where
`group` is a hash of item, order, stage and factors. A reply hangs on judge, messages, temperature,
seed, group and replicate alone, so a run repeats to the bit in whatever order requests arrive and
however replications are bundled into requests. A client that sends `seed` gets the same reply to
the same request; one that sends neither gets a new draw for each repetition of a request, numbered
in the order of arrival.

## Misbehaviour on request

`judgestats.simulated.faults.Faults` lists it: latency distribution, 429 with and without
`Retry-After`, 500, 503, resets, stalled replies, truncated or huge JSON, HTML instead of JSON,
refusals, a content filter, replies cut at the token limit, a capacity, quota headers, refused or
ignored temperature, `n`, schema, tools and seed, a required key. Options of the server
(`judgestats simulate --faults rate_limited=.05,latency_s=.2`), or per
request in the header `X-Judgestats-Faults: rate_limited=.05,latency_s=.2`.
"""


def main() -> None:
    good = answers(0.70, 0.95, 2000)
    text = TEXT.format(
        judges="\n".join(judge_table()),
        spread="\n".join(spread_table(good)),
        scores="\n".join(score_table(good)),
    )
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
