"""Size and power of the tests of spread, where judges' scores make it hard.

Writes size_spread.csv next to this file; about ten minutes on one core:

    python docs/simulations/size_spread.py [scenario ...]

Three conditions. Size: the condition does not matter. Power: the last condition's variance is 1.5
times the others'. Scenarios:

- ``normal``: normal scores, items differ in mean.
- ``unequal_items``: normal; an item's variance is gamma (shape .5, mean 1): judges waver on few.
- ``unequal_cells``: the same, drawn for every item x condition cell by itself.
- ``ties_89``: scores 8 or 9 only, an item's threshold normal with standard deviation 2.
- ``rounded``: item means near 8.5 on a scale of 1 to 10, rounded and cut at 10.
- ``unequal_r``: unequal_items; under the last condition each score is lost with probability .3.
- ``unequal_r_ties``: ties_89 with the same loss.
- ``clusters``: four items per question; a question's spread moves by a separate factor under every
  condition (lognormal, standard deviation of the log .4), which its items share.

Tests: ``blocked_f`` uses the F distribution. ``blocked_f_permutation`` makes 199 exchanges of
cells. ``blocked_f_median`` takes distances from the median. All three are by cluster in
``clusters``. ``blocked_f_items`` ignores clusters. ``friedman`` and ``iman_davenport`` use the same
cells (cluster means in ``clusters``). ``f_uncorrected`` takes plain distances for any number of
scores. ``levene``, ``brown_forsythe``, ``fligner``, and ``bartlett`` use centred judgments, as
published. ``judgments_exchanged`` exchanges single centred judgments within an item (99 times, up
to 50 items).
"""

from __future__ import annotations

import csv
import sys
import warnings
import zlib
from pathlib import Path

import numpy as np
from scipy import stats

from judgestats.stats.comparison.blocked_f import blocked_f_test
from judgestats.stats.designs.cells import Cells, cell_statistics
from judgestats.stats.dispersion.published import centred_scores
from judgestats.stats.inference.rank_distributions import level_ranks

HERE = Path(__file__).resolve().parent
SCENARIOS = (
    "normal",
    "unequal_items",
    "unequal_cells",
    "ties_89",
    "rounded",
    "unequal_r",
    "unequal_r_ties",
    "clusters",
)
ITEMS = (20, 50, 200)
REPLICATIONS = (3, 10)
CONDITIONS = 3
RATIO = 1.5
SIZE_SAMPLES = 300
POWER_SAMPLES = 100
PERMUTATIONS = 199
EXCHANGED_UP_TO = 50
ALPHA = 0.05


def blocked_f_p(y: np.ndarray) -> np.ndarray:
    """P of the blocked F test for a stack of tables, studies x items x conditions."""
    _, n, k = y.shape
    centred = y - y.mean(axis=2, keepdims=True)
    columns = centred.mean(axis=1)
    between = n * np.sum(columns**2, axis=1)
    residual = np.sum(centred**2, axis=(1, 2)) - between
    df1, df2 = k - 1, (n - 1) * (k - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        f = between / df1 / (residual / df2)
    p = np.asarray(stats.f.sf(f, df1, df2))
    return np.where(np.isnan(p), 1.0, p)


def draw(scenario: str, n: int, r: int, ratio: float, rng: np.random.Generator) -> np.ndarray:
    """Scores of one study, items x conditions x replications."""
    scale = np.ones(CONDITIONS)
    scale[-1] = np.sqrt(ratio)
    spread = scale[None, :, None]
    noise = rng.normal(size=(n, CONDITIONS, r))
    item = rng.normal(size=(n, 1, 1))
    if scenario in {"unequal_items", "unequal_r"}:
        x = 6 + item + noise * spread * np.sqrt(rng.gamma(0.5, 2, size=(n, 1, 1)))
    elif scenario == "unequal_cells":
        x = 6 + item + noise * spread * np.sqrt(rng.gamma(0.5, 2, size=(n, CONDITIONS, 1)))
    elif scenario.endswith(("ties_89", "r_ties")):
        x = 8.0 + (2 * item + noise * spread > 0)
    elif scenario == "rounded":
        x = np.clip(np.round(8.5 + item + 0.6 * spread * noise), 1, 10)
    elif scenario == "clusters":
        question = rng.normal(0, 0.4, size=(-(-n // 4), CONDITIONS, 1))
        x = 6 + item + noise * spread * np.exp(np.repeat(question, 4, axis=0)[:n])
    else:
        x = 6 + item + noise * spread
    if scenario.startswith("unequal_r"):
        lost = rng.random((n, r)) < 0.3
        lost[:, :2] = False  # two scores stay
        x[:, -1][lost] = np.nan
    return x


def exchanged_judgments(x: np.ndarray, rng: np.random.Generator) -> float:
    """P of the blocked F when single centred judgments are exchanged within items."""
    n, k, r = x.shape
    centred = (x - x.mean(axis=2, keepdims=True)).reshape(n, k * r)

    def share(stack: np.ndarray) -> np.ndarray:
        cells = stack.reshape(-1, n, k, r)
        y = np.abs(cells - cells.mean(axis=3, keepdims=True)).mean(axis=3)
        y = y - y.mean(axis=2, keepdims=True)
        between = n * np.sum(y.mean(axis=1) ** 2, axis=1)
        total = np.sum(y**2, axis=(1, 2))
        return between / np.where(total > 0, total, 1.0)

    null = share(rng.permuted(np.repeat(centred[None], 99, axis=0), axis=2))
    return float((np.sum(null >= share(centred[None])[0] - 1e-12) + 1) / 100)


def f_only(y: np.ndarray) -> float:
    """P of the blocked F from the F distribution."""
    return float(blocked_f_p(y[None])[0])


def rank_p(y: np.ndarray) -> dict[str, float]:
    """P of Friedman's test and of Iman and Davenport's form of it."""
    n, k = y.shape
    if not np.ptp(level_ranks(y, axis=1), axis=1).any():
        return {"friedman": np.nan, "iman_davenport": np.nan}
    ranks = level_ranks(y, axis=1) - (k + 1) / 2
    chi = (k - 1) * np.sum(ranks.sum(axis=0) ** 2) / np.sum(ranks**2)
    rest = n * (k - 1) - chi
    f = (n - 1) * chi / rest if rest > 0 else np.inf
    return {
        "friedman": float(stats.chi2.sf(chi, k - 1)),
        "iman_davenport": float(stats.f.sf(f, k - 1, (n - 1) * (k - 1))),
    }


def cluster_means(y: np.ndarray, cluster: np.ndarray | None) -> np.ndarray:
    """Means over the items of each cluster; the items themselves without clusters."""
    if cluster is None:
        return y
    return np.array([y[cluster == g].mean(axis=0) for g in range(cluster.max() + 1)])


def p_values(scenario: str, x: np.ndarray, rng: np.random.Generator) -> dict[str, float]:
    """P of every test on one study; NaN where a test is undefined."""
    n = x.shape[0]
    cells: Cells = cell_statistics(x)
    cluster = np.arange(n) // 4 if scenario == "clusters" else None
    seed = int(rng.integers(2**31))
    out: dict[str, float] = {}
    found = blocked_f_test(cells.from_mean, cluster=cluster, n_permutations=PERMUTATIONS, seed=seed)
    out["blocked_f_permutation"] = found.p_value
    out["blocked_f"] = found.details.get("p_f", np.nan)
    out["blocked_f_median"] = f_only(cluster_means(cells.from_median, cluster))
    if cluster is not None:
        out["blocked_f_items"] = f_only(cells.from_mean)
    out |= rank_p(cluster_means(cells.from_mean, cluster))
    if scenario.startswith("unequal_r"):
        plain = np.nanmean(np.abs(x - np.nanmean(x, axis=2, keepdims=True)), axis=2)
        out["f_uncorrected"] = f_only(plain)
    elif n <= EXCHANGED_UP_TO:
        out["judgments_exchanged"] = exchanged_judgments(x, rng)
    centred = centred_scores(x)
    groups = [g[~np.isnan(g)] for g in (centred[:, j].ravel() for j in range(CONDITIONS))]
    if any(np.ptp(g) > 0 for g in groups):
        out["levene"] = stats.levene(*groups, center="mean").pvalue
        out["brown_forsythe"] = stats.levene(*groups, center="median").pvalue
        out["fligner"] = stats.fligner(*groups).pvalue
        out["bartlett"] = stats.bartlett(*groups).pvalue
    return out


def study(scenario: str, n: int, r: int, ratio: float, samples: int) -> list[dict[str, object]]:
    """Share of rejections of every test, with its Monte Carlo standard error."""
    rng = np.random.default_rng(zlib.crc32(f"{scenario} {n} {r} {ratio}".encode()))
    found = [p_values(scenario, draw(scenario, n, r, ratio, rng), rng) for _ in range(samples)]
    rows: list[dict[str, object]] = []
    for test in found[0]:
        p = np.array([f[test] for f in found])
        share = float(np.mean(p <= ALPHA + 1e-12))  # undefined does not reject
        rows.append(
            {
                "scenario": scenario,
                "N": n,
                "R": r,
                "variance_ratio": ratio,
                "test": test,
                "rejected": f"{share:.3f}",
                "std_error": f"{np.sqrt(share * (1 - share) / samples):.3f}",
                "undefined": f"{np.mean(np.isnan(p)):.3f}",
                "samples": samples,
            }
        )
    return rows


def main(scenarios: list[str]) -> None:
    """Run the scenarios and write the table."""
    warnings.simplefilter("ignore", stats.ConstantInputWarning)
    table = HERE / "size_spread.csv"
    rows: list[dict[str, object]] = []
    if scenarios and table.exists():  # the other scenarios' rows are kept
        with table.open(encoding="utf-8") as file:
            rows += [row for row in csv.DictReader(file) if row["scenario"] not in scenarios]
    for scenario in scenarios or SCENARIOS:
        for n in ITEMS:
            for r in REPLICATIONS:
                rows += study(scenario, n, r, 1.0, SIZE_SAMPLES)
                rows += study(scenario, n, r, RATIO, POWER_SAMPLES)
        print(scenario, "done", flush=True)
    with table.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main(sys.argv[1:])
