"""What other packages say of files of a judge's verdicts and people's labels; run by validity.py.

PYTHON benchmarks/peers/validity_peers.py FILE...           # with the peers installed; prints JSON
PYTHON benchmarks/peers/validity_peers.py --draws 300       # coverage over SETTINGS instead
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd

REPEATS = 3
ITEMS = 1_000
# judgy resamples 20,000 times by default: with that, the draws would take a day
JUDGY_RESAMPLES = 1_000
# pass / fail: labels, prevalence, sensitivity, specificity; scores: labels, correlation
SETTINGS: dict[str, tuple[float, ...]] = {
    "20 labels, rate .7, se .9, sp .8": (20, 0.7, 0.9, 0.8),
    "50 labels, rate .9, se .95, sp .6": (50, 0.9, 0.95, 0.6),
    "100 labels, rate .7, se .9, sp .8": (100, 0.7, 0.9, 0.8),
    "100 labels, rate .05, se .8, sp .9": (100, 0.05, 0.8, 0.9),
    "100 labels, rate .5, se .3, sp .3": (100, 0.5, 0.3, 0.3),
    "scores, 20 labels, r .8": (20, 0.8),
    "scores, 100 labels, r .8": (100, 0.8),
}
Estimators = dict[str, Callable[[], tuple[float, float, float]]]
Covered = dict[str, dict[str, list[float]]]


def draws(setting: str, count: int) -> Iterator[tuple[np.ndarray, np.ndarray, float]]:
    """Verdicts, labels (NaN where nobody labelled) and the true mean: as any package reads."""
    labels, *about = SETTINGS[setting]
    for seed in range(count):
        rng = np.random.default_rng([list(SETTINGS).index(setting), seed])
        if len(about) == 1:
            human = rng.normal(size=ITEMS)
            noise = np.sqrt(1 - about[0] ** 2) * rng.normal(size=ITEMS)
            judge, true = about[0] * human + noise + 0.3, 0.0
        else:
            true, sensitivity, specificity = about
            human = (rng.random(ITEMS) < true).astype(float)
            passes = np.where(human == 1, sensitivity, 1 - specificity)
            judge = (rng.random(ITEMS) < passes).astype(float)
        human[rng.permutation(ITEMS)[int(labels) :]] = np.nan
        yield judge, human, true


def coverage(
    estimators: Callable[..., Estimators], count: int
) -> dict[str, dict[str, list[float]]]:
    """By setting and estimator: share covered, mean width and share refused."""
    warnings.simplefilter("ignore")
    out: Covered = {}
    for setting in SETTINGS:
        rows: dict[str, list[tuple[float, float, float]]] = {}
        for judge, human, true in draws(setting, count):
            for name, function in estimators(judge, human).items():
                try:
                    _, low, high = function()
                    row = (float(low <= true <= high), high - low, 0.0)
                except Exception:  # a refusal is counted, not covered nor missed
                    row = (np.nan, np.nan, 1.0)
                rows.setdefault(name, []).append(row)
        out[setting] = {
            name: [
                float(np.nanmean(of)) if not np.isnan(of).all() else np.nan
                for of in np.transpose(r)
            ]
            for name, r in rows.items()
        }
    return out


def timed(function):
    """Estimate, ends and median seconds of some calls; or why there is none."""
    try:
        warnings.simplefilter("ignore")
        seconds = []
        for _ in range(REPEATS):
            start = time.perf_counter()
            values = function()
            seconds.append(time.perf_counter() - start)
        return [float(v) for v in values] + [float(np.median(seconds))]
    except Exception as error:  # a peer's refusal is a result of this comparison
        return f"{type(error).__name__}: {error}"[:160]


def peers_of(judge: np.ndarray, human: np.ndarray, resamples: int | None = None) -> Estimators:
    import evalstats
    import judgy
    import truescore
    from ppi_py import ppi_mean_ci, ppi_mean_pointestimate

    labelled = ~np.isnan(human)
    y, f, rest = human[labelled], judge[labelled], judge[~labelled]
    place = np.flatnonzero(labelled)

    def ends(estimate):
        interval = getattr(estimate, "interval", estimate)
        return estimate.point, interval.low, interval.high

    def ppi(lam):
        low, high = ppi_mean_ci(y, f, rest, alpha=0.05, lam=lam)
        point = ppi_mean_pointestimate(y, f, rest, lam=lam)
        return np.ravel(point)[0], np.ravel(low)[0], np.ravel(high)[0]

    def debiased():
        result = evalstats.judge_debias_mean_ci(judge, human, rng=np.random.default_rng(0))
        return result.mean, result.ci_low, result.ci_high

    out: Estimators = {
        "ppi-python, PPI++": lambda: ppi(None),
        "ppi-python, PPI": lambda: ppi(1),
        "truescore, PPI": lambda: ends(truescore.ppi_estimate(judge, y, place)),
        "truescore, labels alone": lambda: ends(truescore.gold_only_estimate(y)),
        "evalstats, PPI": debiased,
    }
    if set(np.unique(judge)) <= {0.0, 1.0}:
        out["truescore, Rogan-Gladen"] = lambda: ends(
            truescore.rogan_gladen_estimate(judge, y, place)
        )
        np.random.seed(0)  # noqa: NPY002 - judgy draws from the global generator
        whole = [v.astype(int) for v in (y, f, rest)]
        options = {} if resamples is None else {"bootstrap_iterations": resamples}
        out["judgy"] = lambda: judgy.estimate_success_rate(*whole, **options)
    return out


def of_file(path: Path) -> dict[str, object]:
    frame = pd.read_csv(path)
    estimators = peers_of(frame["judge"].to_numpy(float), frame["human"].to_numpy(float))
    return {name: timed(function) for name, function in estimators.items()}


if __name__ == "__main__":
    if sys.argv[1] == "--draws":
        few = lambda judge, human: peers_of(judge, human, JUDGY_RESAMPLES)  # noqa: E731
        print(json.dumps(coverage(few, int(sys.argv[2]))))
    else:
        print(json.dumps({p: of_file(Path(p)) for p in sys.argv[1:]}))
