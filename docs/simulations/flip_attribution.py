"""False and found attributions of changed verdicts; writes flip_attribution.csv.

100 items, m repeats per side, K items whose output changed, pass rates Beta(a, a). A false
attribution is "system changed" of an item whose output has the same pass rate.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from judgestats.decisions import attribute_flips

SETTINGS = ((0, 5, 0.4), (0, 10, 1.0), (10, 3, 0.4), (10, 5, 0.4), (10, 5, 0.15), (10, 10, 0.4))
SEEDS = 200


def frame(passes: np.ndarray, texts: np.ndarray) -> pd.DataFrame:
    """Judgments as drift reads them."""
    items, repeats = passes.shape
    return pd.DataFrame({
        "item_id": np.repeat([f"q{i:03}" for i in range(items)], repeats),
        "choice": np.where(passes.ravel(), "pass", "fail"),
        "answer_text": np.repeat(texts, repeats),
    })  # fmt: skip


def one(changed: int, m: int, a: float, seed: int) -> tuple[int, int, int, int, int]:
    """False, found, all flips of changed items, flips, and whether noise's interval holds them."""
    rng = np.random.default_rng(seed)
    p = rng.beta(a, a, 100)
    q = np.where(np.arange(100) < changed, rng.beta(a, a, 100), p)
    before, after = (rng.random((100, m)) < r[:, None] for r in (p, q))
    names = np.array([f"output {i}" for i in range(100)])
    found = attribute_flips(frame(before, names), frame(after, np.char.add(names, " again")))
    of_system = {int(f.item[1:]) for f in found.rows if f.cause == "system changed"}
    flipped = {int(f.item[1:]) for f in found.rows}
    noise = int((rng.random(100) < 2 * p * (1 - p)).sum())
    return (
        sum(i >= changed for i in of_system), sum(i < changed for i in of_system),
        sum(i < changed for i in flipped), len(flipped), int(found.low <= noise <= found.high),
    )  # fmt: skip


def main() -> None:
    """One row per setting."""
    rows = []
    for changed, m, a in SETTINGS:
        counts = np.array([one(changed, m, a, seed) for seed in range(SEEDS)])
        false, found, of_changed, flips, held = counts.T
        rows.append({
            "changed": changed, "repeats": m, "a": a, "flips": round(flips.mean(), 2),
            "false_share": round(float((false / np.maximum(false + found, 1)).mean()), 4),
            "any_false": round(float((false > 0).mean()), 4),
            "found_of_changed_flips": round(float(found.sum() / max(of_changed.sum(), 1)), 3),
            "noise_interval_holds": round(float(held.mean()), 3),
        })  # fmt: skip
    out = Path(__file__).with_suffix(".csv")
    pd.DataFrame(rows).to_csv(out, index=False)
    print(out.read_text())


if __name__ == "__main__":
    main()
