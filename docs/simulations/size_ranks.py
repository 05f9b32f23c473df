"""Size of the rank tests when nothing is there, and coverage of the effects' intervals.

Run ``python docs/simulations/size_ranks.py [size | coverage]``: it writes size_ranks.csv and
coverage_ranks.csv next to this file (about ten minutes on one core).

Scores are ``normal`` (item effect plus noise, no ties) or ``ties``: 7, 8, 9, 10 with probabilities
that differ by item, mostly 8 and 9, as judges give them. ``clusters``: four items to a question,
whose noise they share in part. The Monte Carlo error of a size of .05 is .007 with 1,000 data sets
and .011 with 400; that of a coverage of .95 is .011 with 400 and .022 with 100.
"""

from __future__ import annotations

import csv
import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from scipy import stats

from judgestats.stats.agreement.human import human_correlation
from judgestats.stats.comparison.groups import kruskal_test, mann_whitney_test
from judgestats.stats.comparison.matched import cochran_q_test, friedman_test, mcnemar_test
from judgestats.stats.comparison.paired import cliffs_delta, wilcoxon_signed_rank
from judgestats.stats.comparison.rank_correlation import page_trend_test, spearman_correlation
from judgestats.stats.inference.rank_distributions import level_ranks
from judgestats.stats.inference.result import Estimate

HERE = Path(__file__).resolve().parent
ALPHA = 0.05
DATA_SETS = 1000
DRAWN = 400
COVERAGE_SETS = 400
RESAMPLED_SETS = 100
Row = dict[str, object]


def draw(kind: str, n: int, k: int, rng: np.random.Generator) -> np.ndarray:
    """Scores of n items under k conditions that do nothing."""
    if kind == "normal":
        return rng.standard_normal((n, 1)) + rng.standard_normal((n, k))
    if kind == "ties":
        share = rng.dirichlet([0.6, 2.7, 2.4, 0.3], size=n)
        cuts = np.cumsum(share, axis=1)[:, None, :3]
        return 7.0 + np.sum(rng.uniform(size=(n, k, 1)) > cuts, axis=2)
    shared = np.repeat(rng.standard_normal((math.ceil(n / 4), k)), 4, axis=0)[:n]
    return shared + rng.standard_normal((n, k))


def smallest(family: object) -> float:
    """Smallest adjusted p of a family of comparisons."""
    return float(np.nanmin([r.p_adjusted for r in family.rows]))  # type: ignore[attr-defined]


def block_p_values(kind: str, x: np.ndarray, drawn: bool, seed: int) -> dict[str, float]:
    """P-values of the tests of blocks; those that permute only where `drawn`."""
    n = len(x)
    cluster = np.arange(n) // 4 if kind == "clusters" else None
    found = friedman_test(x)
    out = {
        "Friedman chi-squared": found.p_value,
        "Iman-Davenport F": found.iman_davenport.p_value,
        "Nemenyi, any pair": smallest(found.nemenyi()),
        "Page": page_trend_test(x).p_value,
    }
    if drawn:
        options = {"n_permutations": 99, "seed": seed}
        permuted = friedman_test(x, cluster=np.arange(n) if cluster is None else cluster, **options)
        out["Friedman permutation"] = permuted.p_value
        out["permutation pairs, any pair"] = smallest(permuted.permutation_pairs(**options))
        if cluster is not None:
            out["Page permutation"] = page_trend_test(x, cluster=cluster, **options).p_value
    return out


def pair_tests(kind: str, n: int) -> dict[str, Callable[[np.ndarray], float]]:
    """Tests of two conditions, of two samples, and of verdicts."""
    cluster = np.arange(n) // 4 if kind == "clusters" else None
    tests: dict[str, Callable[[np.ndarray], float]] = {
        "Wilcoxon": lambda x: wilcoxon_signed_rank(x).p_value,
    }
    if cluster is not None:
        tests["Wilcoxon exact over clusters"] = lambda x: (
            wilcoxon_signed_rank(x, cluster=cluster).p_value
        )
        return tests
    tests |= {
        "Mann-Whitney": lambda x: mann_whitney_test(x[: n // 2, 0], x[n // 2 :, 0]).p_value,
    }
    if kind == "ties":
        tests["McNemar exact"] = lambda x: mcnemar_test(*(x.T > 8)).p_value
    return tests


def rejects(test: Callable[[np.ndarray], float], data: list[np.ndarray]) -> float:
    """Share of data sets rejected; undefined p-values do not reject."""
    return float(np.mean([p < ALPHA + 1e-12 for p in (test(x) for x in data)]))


def size_rows() -> Iterator[Row]:
    """The rows of size_ranks.csv."""
    for kind in ("normal", "ties", "clusters"):
        for n in (10, 20, 50):
            for k in (3, 11):
                rng = np.random.default_rng([n, k, len(kind)])
                tables = [
                    block_p_values(kind, draw(kind, n, k, rng), b < DRAWN, seed=b)
                    for b in range(DATA_SETS)
                ]
                for name in tables[0]:
                    p = [t[name] for t in tables if name in t]
                    size = float(np.mean([v < ALPHA + 1e-12 for v in p]))
                    yield row(kind, n, k, name, size, len(p))
            rng = np.random.default_rng([n, 2, len(kind)])
            pairs = [draw(kind, n, 2, rng) for _ in range(DATA_SETS)]
            for name, test in pair_tests(kind, n).items():
                yield row(kind, n, 2, name, rejects(test, pairs), len(pairs))
            if kind == "ties":
                rng = np.random.default_rng([n, 4])
                verdicts = [(draw(kind, n, 4, rng) > 8).astype(float) for _ in range(DATA_SETS)]
                size = rejects(lambda x: cochran_q_test(x).p_value, verdicts)
                yield row(kind, n, 4, "Cochran's Q chi2", size, len(verdicts))


def row(kind: str, n: int, k: int, test: str, size: float, count: int) -> Row:
    """One row of the size table."""
    return {
        "scores": kind,
        "n_items": n,
        "conditions": k,
        "test": test,
        "size": round(size, 4),
        "data_sets": count,
    }


# --------------------------------------------------------------------- coverage


def population_w(kind: str, k: int, shift: float) -> float:
    """Concordance of 200,000 items."""
    x = shifted(kind, 200_000, k, shift, np.random.default_rng([k, 99]))
    centred = level_ranks(x, axis=1) - (k + 1) / 2
    return float(np.sum(centred.mean(axis=0) ** 2) / np.mean(np.sum(centred**2, axis=1)))


def shifted(kind: str, n: int, k: int, shift: float, rng: np.random.Generator) -> np.ndarray:
    """Scores whose conditions rise evenly, `shift` noise standard deviations from end to end."""
    x = rng.standard_normal((n, k)) + np.linspace(0, shift, k)
    return np.clip(np.round(8.3 + 0.7 * x), 1, 10) if kind == "ties" else x


def two(kind: str, n: int, shift: float, rng: np.random.Generator) -> np.ndarray:
    """Pairs with a mean difference of `shift` of its standard deviations."""
    d = rng.standard_normal(n) + shift
    base = rng.standard_normal(n)
    x = np.column_stack([base + d, base])
    return np.round(8.3 + 0.7 * x) if kind == "ties" else x


def coverage_cases() -> Iterator[tuple[str, str, int, float, float, Callable, Callable]]:
    """(effect, scores, n, shift, truth, draw, estimate) for every row of coverage_ranks.csv."""
    big = np.random.default_rng(7)
    for kind in ("normal", "ties"):
        for shift in (0.0, 0.5, 1.5):
            for k in (3, 11):
                truth = population_w(kind, k, shift) if shift else 0.0
                for n in (10, 20, 50, 200):
                    yield (
                        f"Kendall's W, k = {k}: f", kind, n, shift, truth,
                        lambda rng, a=kind, b=n, c=k, s=shift: shifted(a, b, c, s, rng),
                        lambda x: friedman_test(x).effects[0],
                    )  # fmt: skip
            wide = two(kind, 400_000, shift, big)
            d = wide[:, 0] - wide[:, 1]
            d0 = d[np.abs(d) > 1e-9]
            half = d0.size // 2
            r = float(np.mean(np.sign(np.round(d0[:half] + d0[half : 2 * half], 9))))
            pseudomedian = float(np.median((d[::2] + d[1::2]) / 2))
            delta = float(np.mean(np.sign(np.round(wide[::2, 0] - wide[1::2, 1], 9))))
            shift_truth = float(np.median(np.round(wide[::2, 0] - wide[1::2, 1], 9)))
            if kind == "normal":
                r, pseudomedian = 2 * float(stats.norm.cdf(math.sqrt(2) * shift)) - 1, shift
            for n in (10, 20, 50, 200):
                make = lambda rng, a=kind, b=n, s=shift: two(a, b, s, rng)  # noqa: E731
                yield (
                    "matched rank-biserial: jackknife", kind, n, shift, r, make,
                    lambda x: wilcoxon_signed_rank(x).effects[0],
                )  # fmt: skip
                yield (
                    "pseudomedian", kind, n, shift, pseudomedian, make,
                    lambda x: wilcoxon_signed_rank(x).effects[1],
                )  # fmt: skip
                apart = lambda rng, a=kind, b=n, s=shift: np.column_stack(  # noqa: E731
                    [two(a, b, s, rng)[:, 0], two(a, b, s, rng)[:, 1]]
                )
                yield (
                    "Cliff's delta: cliff", kind, n, shift, delta, apart,
                    lambda x: cliffs_delta(x[:, 0], x[:, 1]),
                )  # fmt: skip
                yield (
                    "Hodges-Lehmann shift", kind, n, shift, shift_truth, apart,
                    lambda x: mann_whitney_test(x[:, 0], x[:, 1]).effects[1],
                )  # fmt: skip
    for shift in (0.0, 0.8, 2.0):
        x = draw("clusters", 200_000, 3, big) + np.linspace(0, shift, 3)
        centred = level_ranks(x, axis=1) - 2
        truth = float(np.sum(centred.mean(axis=0) ** 2) / np.mean(np.sum(centred**2, axis=1)))
        for n in (20, 40, 80):
            make = lambda rng, b=n, s=shift: (  # noqa: E731
                draw("clusters", b, 3, rng) + np.linspace(0, s, 3)
            )
            for how, clustered in (("f over clusters", True), ("f, clusters ignored", False)):
                yield (
                    f"Kendall's W, k = 3: {how}", "clusters", n, shift, truth * (shift > 0), make,
                    lambda x, c=clustered: friedman_test(
                        x, cluster=np.arange(x.shape[0]) // 4 if c else None, n_permutations=9
                    ).effects[0],
                )  # fmt: skip
    for rho in (0.0, 0.5, 0.9):
        spearman = 6 / math.pi * math.asin(rho / 2)
        tau = 2 / math.pi * math.asin(rho)
        epsilon = population_epsilon(rho, big)
        for n in (20, 50, 200):
            make = lambda rng, b=n, r=rho: bivariate(b, r, rng)  # noqa: E731
            yield (
                "Spearman's rho: bonett-wright", "normal", n, rho, spearman, make,
                lambda x: spearman_correlation(x[:, 0], x[:, 1]).effects[0],
            )  # fmt: skip
            yield (
                "Kendall's tau-b", "normal", n, rho, tau, make,
                lambda x: human_correlation(x[:, 0], x[:, 1], method="kendall"),
            )  # fmt: skip
            yield (
                "rank epsilon squared", "normal", n, rho, epsilon,
                lambda rng, b=n, s=rho: shifted("normal", b, 3, 2 * s, rng),
                lambda x: kruskal_test(x.T.tolist()).effects[0],
            )  # fmt: skip


def bivariate(n: int, rho: float, rng: np.random.Generator) -> np.ndarray:
    """Normal pairs with correlation rho."""
    x = rng.standard_normal((n, 2))
    x[:, 1] = rho * x[:, 0] + math.sqrt(1 - rho**2) * x[:, 1]
    return x


def population_epsilon(shift: float, rng: np.random.Generator) -> float:
    """Share of the rank variance between three large groups."""
    ranks = stats.rankdata(shifted("normal", 100_000, 3, 2 * shift, rng)).reshape(-1, 3)
    return float(ranks.mean(axis=0).var() / ranks.var()) if shift else 0.0


def coverage_rows() -> Iterator[Row]:
    """The rows of coverage_ranks.csv."""
    for effect, kind, n, shift, truth, make, estimate in coverage_cases():
        heavy = "bootstrap" in effect
        if heavy and n == 200:
            continue
        rng = np.random.default_rng([n, int(10 * shift), len(kind)])
        found: list[Estimate] = [
            estimate(make(rng)) for _ in range(RESAMPLED_SETS if heavy else COVERAGE_SETS)
        ]
        known = [e.interval for e in found if e.interval is not None]
        slack = 1e-9
        yield {
            "effect": effect,
            "scores": kind,
            "n_items": n,
            "shift_or_rho": shift,
            "truth": round(truth, 4),
            "coverage": round(
                float(np.mean([i.low - slack <= truth <= i.high + slack for i in known])), 4
            )
            if known
            else "",
            "mean_width": round(float(np.mean([i.high - i.low for i in known])), 4)
            if known
            else "",
            "no_interval": round(1 - len(known) / len(found), 4),
            "data_sets": len(found),
        }


def write(name: str, rows: Iterator[Row]) -> None:
    """Write rows as they come."""
    with (HERE / name).open("w", newline="", encoding="utf-8") as file:
        writer: csv.DictWriter[str] | None = None
        for values in rows:
            if writer is None:
                writer = csv.DictWriter(file, fieldnames=list(values), lineterminator="\n")
                writer.writeheader()
            writer.writerow(values)
            file.flush()


def main() -> None:
    """Write the tables asked for, or both."""
    asked = sys.argv[1:] or ["size", "coverage"]
    if "size" in asked:
        write("size_ranks.csv", size_rows())
    if "coverage" in asked:
        write("coverage_ranks.csv", coverage_rows())


if __name__ == "__main__":
    main()
