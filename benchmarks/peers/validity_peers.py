"""What other packages say of files of a judge's verdicts and people's labels; run by validity.py.

PYTHON benchmarks/peers/validity_peers.py FILE...     # with the peers installed; prints JSON
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

REPEATS = 3


def timed(function):
    """Estimate, ends and median seconds of some calls; or why there is none."""
    try:
        warnings.simplefilter("ignore")
        seconds = []
        for _ in range(REPEATS):
            start = time.perf_counter()
            found = function()
            seconds.append(time.perf_counter() - start)
        return [float(v) for v in found] + [float(np.median(seconds))]
    except Exception as error:  # a peer's refusal is a result of this comparison
        return f"{type(error).__name__}: {error}"[:160]


def of_file(path: Path) -> dict[str, object]:
    import evalstats
    import judgy
    import truescore
    from ppi_py import ppi_mean_ci, ppi_mean_pointestimate

    frame = pd.read_csv(path)
    judge, human = frame["judge"].to_numpy(float), frame["human"].to_numpy(float)
    known = ~np.isnan(human)
    y, f, rest = human[known], judge[known], judge[~known]
    place = np.flatnonzero(known)

    def told(estimate):
        return (
            estimate.point,
            estimate.interval.low if hasattr(estimate, "interval") else (estimate.low),
            estimate.interval.high if hasattr(estimate, "interval") else estimate.high,
        )

    def ppi(lam):
        low, high = ppi_mean_ci(y, f, rest, alpha=0.05, lam=lam)
        point = ppi_mean_pointestimate(y, f, rest, lam=lam)
        return np.ravel(point)[0], np.ravel(low)[0], np.ravel(high)[0]

    def debiased():
        found = evalstats.judge_debias_mean_ci(judge, human, rng=np.random.default_rng(0))
        return found.mean, found.ci_low, found.ci_high

    out = {
        "ppi-python, PPI++": timed(lambda: ppi(None)),
        "ppi-python, PPI": timed(lambda: ppi(1)),
        "truescore, PPI": timed(lambda: told(truescore.ppi_estimate(judge, y, place))),
        "truescore, labels alone": timed(lambda: told(truescore.gold_only_estimate(y))),
        "evalstats, PPI": timed(debiased),
    }
    if set(np.unique(judge)) <= {0.0, 1.0}:
        out["truescore, Rogan-Gladen"] = timed(
            lambda: told(truescore.rogan_gladen_estimate(judge, y, place))
        )
        np.random.seed(0)  # noqa: NPY002 - judgy draws from the global generator
        whole = [v.astype(int) for v in (y, f, rest)]
        out["judgy"] = timed(lambda: judgy.estimate_success_rate(*whole))
    return out


if __name__ == "__main__":
    print(json.dumps({p: of_file(Path(p)) for p in sys.argv[1:]}))
