"""Nominal and ordinal agreement beside R."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from judgestats import stats
from judgestats.stats.designs import CountTable
from judgestats.stats.designs.count_table import count_table
from validation.base import Case, load

CATEGORIES: dict[str, list[Any]] = {
    "nominal60x12": list("ABCDE"),
    "nominal60x12_na": list("ABCDE"),
    "ordrater50x5": [1, 2, 3, 4, 5],
    "krippendorff_c": [1, 2, 3, 4, 5],
    "paradox100x4": ["bad", "ok"],
}
ORDERED = ("ordrater50x5", "krippendorff_c")
COMPLETE = ("nominal60x12", "ordrater50x5", "paradox100x4")
FIVE = 5.1e-6  # irrCAC prints five decimals
THREE = 5.1e-4  # irr's category-wise kappas and z have three


@cache
def table(dataset: str) -> CountTable:
    return count_table(load(dataset).to_numpy(), categories=CATEGORIES[dataset])


@cache
def complete(dataset: str) -> CountTable:
    """Only the items every judge rated, as irr keeps them."""
    return count_table(load(dataset).dropna().to_numpy(), categories=CATEGORIES[dataset])


def _by_hand(dataset: str) -> Case:
    def ours() -> dict[str, float]:
        t = table(dataset)
        return {
            "pa": stats.percent_agreement(t).estimate,
            "gwet": stats.gwet_ac1(t).estimate,
            "fleiss": stats.fleiss_kappa(t).estimate,
        }

    return Case(
        statistic="agreement coefficients",
        dataset=dataset,
        key="cac_by_hand_unweighted",
        ours=ours,
        theirs=lambda v: {k: v[k] for k in ("pa", "gwet", "fleiss")},
        note="pa, AC1, Fleiss",
    )


def _kripp(dataset: str, metric: str) -> list[Case]:
    def ours() -> float:
        return stats.krippendorff_alpha(table(dataset), metric=metric).estimate

    def case(suffix: str, *, agrees: bool, note: str = "", tolerance: float = 1e-10) -> Case:
        return Case(
            statistic=f"Krippendorff's alpha ({metric})",
            dataset=dataset,
            key=f"kripp_alpha_{metric}{suffix}",
            ours=ours,
            agrees=agrees,
            note=note,
            tolerance=tolerance,
        )

    wrong = (
        "The package takes N R (R - 1) ordered pairs for the number of verdicts N R when data are "
        "complete with more than two raters"
    )
    whole = dataset in COMPLETE
    rows = [case("_by_hand", agrees=True)]
    rows += [case(s, agrees=not whole, note=wrong if whole else "") for s in ("", "_DescTools")]
    ksa = "_krippendorffsalpha"
    if whole:
        rows.append(case(ksa, agrees=True, tolerance=1e-9))
    else:
        note = "krippendorffsalpha keeps units rated once"
        rows.append(case(ksa, agrees=False, note=note))
    return rows


def _irrcac(dataset: str) -> list[Case]:
    """Values and standard errors (linearised) of irrCAC, at its five decimals."""
    functions = {
        "gwet.ac1": stats.gwet_ac1,
        "fleiss.kappa": stats.fleiss_kappa,
        "pa.coeff": stats.percent_agreement,
    }
    rows = []
    for name, function in functions.items():
        if dataset == "nominal60x12_na" and name != "pa.coeff":
            # irrCAC gives NaN; the value is held to cac_by_hand_unweighted instead.
            continue
        key = f"irrCAC_{name}_unweighted"

        def ours(f: Any = function) -> float:
            return f(table(dataset), interval="none").estimate

        def error(f: Any = function) -> float:
            return f(table(dataset), interval="linearised").std_error

        rows.append(
            Case(statistic=name, dataset=dataset, key=key, path=("coeff",), ours=ours,
                 tolerance=1e-10 if name == "pa.coeff" else FIVE)
        )  # fmt: skip
        partial = dataset in {"nominal60x12_na", "krippendorff_c"}
        rows.append(
            Case(
                statistic=f"{name}, standard error",
                dataset=dataset,
                key=key,
                path=("se",),
                ours=error,
                tolerance=FIVE,
                agrees=not partial,
                note="irrCAC's variance counts items with fewer than two verdicts as if their "
                "pairs disagreed; ours leaves them out of the pair agreement"
                if partial
                else "",
            )
        )
    return rows


def _irrcac_alpha(dataset: str) -> list[Case]:
    """irrCAC's Krippendorff: its quadratic weight is the interval metric."""
    metrics = {"unweighted": "nominal", "quadratic": "interval"}
    return [
        Case(
            statistic=f"Krippendorff's alpha ({m})",
            dataset=dataset,
            key=f"irrCAC_krippen.alpha_{w}",
            path=("coeff",),
            ours=lambda m=m: (
                stats.krippendorff_alpha(table(dataset), metric=m, interval="none").estimate
            ),
            tolerance=FIVE,
        )
        for w, m in metrics.items()
        if w == "unweighted" or dataset in ORDERED
    ]


def _irr(dataset: str) -> list[Case]:
    """Packages that drop items with a missing verdict: held to on complete items."""
    few = "irr drops items with a missing verdict: ours on the complete items"
    note = "" if dataset in COMPLETE else few

    def detail() -> np.ndarray:
        by = stats.fleiss_kappa(complete(dataset)).details["by_category"]
        used = [v for v in by.values() if not np.isnan(v["kappa"])]
        return np.array([[v["kappa"], v["z"], v["p_value"]] for v in used])

    return [
        Case(statistic="Fleiss' kappa, z of kappa = 0", dataset=dataset, key="fleiss_kappa",
             ours=lambda: [stats.fleiss_kappa(complete(dataset)).estimate,
                           stats.fleiss_kappa(complete(dataset)).details["z_no_agreement"]],
             theirs=lambda v: [v["value"], v["statistic"]], tolerance=1e-10, note=note),
        Case(statistic="Fleiss' kappa by category", dataset=dataset, key="fleiss_kappa_detail",
             ours=detail, tolerance=THREE, note=note or "irr rounds to three decimals"),
        Case(statistic="all replications agree (%)", dataset=dataset, key="percent_agreement_all",
             ours=lambda: 100 * stats.unanimous_agreement(complete(dataset)).estimate, note=note),
    ]  # fmt: skip


def _missing() -> list[Case]:
    """What irrCAC refuses, and ours gives."""
    note = "irrCAC gives NaN when an item has no verdict; it is left out here (cac_by_hand)"
    return [
        Case(statistic=name, dataset="nominal60x12_na", key=key, path=("coeff",), ours=ours,
             agrees=False, note=note)
        for name, key, ours in (
            ("gwet.ac1", "irrCAC_gwet.ac1_unweighted",
             lambda: stats.gwet_ac1(table("nominal60x12_na")).estimate),
            ("fleiss.kappa", "irrCAC_fleiss.kappa_unweighted",
             lambda: stats.fleiss_kappa(table("nominal60x12_na")).estimate),
        )
    ]  # fmt: skip


def _two_raters() -> list[Case]:
    dataset = "tworaters120"

    def cohen() -> Any:
        d = load(dataset)
        return stats.cohen_kappa(d.a, d.b, categories=[1, 2, 3, 4, 5])

    def gwet() -> Any:
        both = load(dataset)[["a", "b"]].to_numpy()
        return stats.gwet_ac1(both, categories=[1, 2, 3, 4, 5], interval="linearised")

    by_n = np.sqrt(119 / 120)
    divisor = "irrCAC's table version divides the variance by n, its raw version and ours by n - 1"
    return [
        Case(statistic="Cohen's kappa, z of kappa = 0", dataset=dataset,
             key="cohen_kappa_unweighted",
             ours=lambda: [cohen().estimate, cohen().details["z_no_agreement"]],
             theirs=lambda v: [v["value"], v["statistic"]]),
        Case(statistic="Cohen's kappa, ASE", dataset=dataset, key="cohen_kappa_vcd",
             path=("unweighted",), ours=lambda: [cohen().estimate, cohen().details["ase"]],
             theirs=lambda v: [v["value"], v["ASE"]]),
        Case(statistic="Cohen's kappa, variance", dataset=dataset, key="cohen_kappa_psych",
             path=("var.kappa",), ours=lambda: cohen().details["ase"] ** 2),
        Case(statistic="AC1 and its standard error", dataset=dataset, key="gwet_ac1",
             ours=lambda: [gwet().estimate, gwet().std_error * by_n],
             theirs=lambda v: [v["coeff.val"], v["coeff.se"]], note=divisor),
    ]  # fmt: skip


CASES: list[Case] = [
    *[_by_hand(d) for d in CATEGORIES],
    *[c for d in CATEGORIES for m in (("nominal", "interval") if d in ORDERED else ("nominal",))
      for c in _kripp(d, m)],
    *[c for d in CATEGORIES for c in _irrcac(d)],
    *[c for d in CATEGORIES for c in (*_irrcac_alpha(d), *_irr(d))],
    *_missing(),
    *_two_raters(),
]  # fmt: skip
