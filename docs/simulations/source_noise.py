"""How often a judge is claimed to favour a source, where human labels are noisy.

Writes source_noise.csv next to this file, a row per setting, 200 draws each:

    python -m docs.simulations.source_noise

40 questions with one answer of each source. Judge and humans see every answer with independent
noise. `gap`: points between one source and the next better one. `bias`: points that the judge adds
to the last source. `noise`: standard deviation of human noise (the judge's is .6). `test`: the
share in which `dif_test` rejects, `claimed`: in which it does and noise in the labels cannot be
why.
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor

import numpy as np

from docs.simulations.tables import write_rows
from judgestats.stats.robustness.source_dif import NOISY, dif_test

DRAWS, QUESTIONS = 200, 40
SETTINGS = [
    (gap, bias, noise, sources)
    for gap, bias, noise in (
        (1.0, 0.0, 0.3), (1.0, 0.0, 0.8), (1.0, 0.0, 1.2), (1.0, 0.5, 0.8), (1.0, 1.0, 0.8),
        (1.0, -1.0, 0.8), (0.0, 0.0, 0.8), (0.0, 0.5, 0.8), (0.0, 0.8, 0.8),
    )
    for sources in (2, 3)
]  # fmt: skip


def shares(setting: tuple[float, float, float, int]) -> dict[str, object]:
    """One row of the table."""
    gap, bias, noise, k = setting
    rng = np.random.default_rng(1)
    cluster = np.repeat(np.arange(QUESTIONS), k).astype(str)
    source = np.tile(list("abc")[:k], QUESTIONS)
    rejected = claimed = 0
    for _ in range(DRAWS):
        quality = 6 + rng.normal(0, 1, (QUESTIONS, 1)) + gap * np.arange(k)
        quality = quality + rng.normal(0, 0.5, (QUESTIONS, k))
        seen = quality + rng.normal(0, 0.6, (QUESTIONS, k))
        seen[:, -1] += bias
        labels = quality + rng.normal(0, noise, (QUESTIONS, k))
        score, label = (np.round(np.clip(x, 1, 10)).ravel() for x in (seen, labels))
        result = dif_test(score, source, quality=label, cluster=cluster)
        if result.p_value < 0.05:
            rejected += 1
            claimed += all(note.code != NOISY for note in result.notes)
    return {
        "gap": gap, "bias": bias, "noise": noise, "sources": k, "draws": DRAWS,
        "test": f"{rejected / DRAWS:.3f}", "claimed": f"{claimed / DRAWS:.3f}",
    }  # fmt: skip


def main() -> None:
    """Write the table."""
    with ProcessPoolExecutor(2) as pool:
        write_rows("source_noise.csv", list(pool.map(shares, SETTINGS)))


if __name__ == "__main__":
    main()
