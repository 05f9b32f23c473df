"""What other packages say of one file of scores and labels; run by decisions.py.

PYTHON benchmarks/peers/decision_peers.py FILE     # with the peers installed; prints JSON
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version

import numpy as np
import pandas as pd


def answers(frame: pd.DataFrame) -> list[dict[str, object]]:
    """One answer per question and package."""
    from cje import calibrated_mean_ci
    from fewhumans.estimators.pp_plus import ppi_plus_mean
    from fewhumans.estimators.stratified import stratified_ppi_plus
    from judge_audit.metrics.selective import certify_threshold

    human, verdict = frame["human"].to_numpy(float), frame["verdict"].to_numpy(float)
    known = ~np.isnan(human)
    made = certify_threshold(
        frame.loc[known, "confidence"].tolist(), (verdict == human)[known].tolist(), 0.1
    )
    rows: list[dict[str, object]] = [{
        "question": "automation", "package": "kunko-judge-audit", "estimate": made["coverage"],
        "threshold": made["threshold"], "wrong": made["errors"], "decided": made["covered"],
    }]  # fmt: skip
    rate = ppi_plus_mean(verdict[~known], human[known], verdict[known])
    strata = dict(zip(frame["item"], frame["stratum"].astype(str), strict=True))
    by_strata = stratified_ppi_plus(
        strata, dict(zip(frame["item"], verdict, strict=True)),
        dict(zip(frame.loc[known, "item"], human[known], strict=True)),
    )  # fmt: skip
    for question, found in (("pass rate", rate), ("pass rate by strata", by_strata)):
        rows.append({"question": question, "package": "fewhumans", "estimate": found.value,
                     "low": found.lo, "high": found.hi})  # fmt: skip
    mean = calibrated_mean_ci(
        frame["score"].to_numpy(float), human, cluster_ids=frame["question"].to_numpy(),
    )  # fmt: skip
    rows.append({"question": "pass rate from scores", "package": "cje-eval",
                 "estimate": mean.estimate, "low": mean.ci[0], "high": mean.ci[1]})  # fmt: skip
    return [{**row, "version": version(str(row["package"]))} for row in rows]


if __name__ == "__main__":
    print(json.dumps(answers(pd.read_csv(sys.argv[1])), default=float))
