"""Nominal and ordinal agreement beside R."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from judgestats.stats import (
    brennan_prediger,
    cohen_kappa,
    conger_kappa,
    fleiss_kappa,
    gwet_ac1,
    gwet_ac2,
    krippendorff_alpha,
    percent_agreement,
    unanimous_agreement,
)
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


def _by_hand(dataset: str, weights: str) -> Case:
    def ours() -> dict[str, float]:
        t = table(dataset)
        return {
            "pa": percent_agreement(t, weights=weights).estimate,
            "gwet": gwet_ac2(t, weights=weights).estimate,
            "fleiss": fleiss_kappa(t, weights=weights).estimate,
            "brennan_prediger": brennan_prediger(t, weights=weights).estimate,
        }

    return Case(
        statistic="agreement coefficients",
        dataset=dataset,
        key=f"cac_by_hand_{weights}",
        ours=ours,
        note="pa, AC1/AC2, Fleiss, Brennan-Prediger",
    )


def _kripp(dataset: str, metric: str) -> list[Case]:
    def ours() -> float:
        return krippendorff_alpha(table(dataset), metric=metric).estimate

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
    if metric == "ordinal":
        rows.append(case(ksa, agrees=False, note="krippendorffsalpha treats ordinal as interval"))
    elif whole:
        rows.append(case(ksa, agrees=True, tolerance=1e-9))
    else:
        note = "krippendorffsalpha keeps units rated once"
        rows.append(case(ksa, agrees=False, note=note))
    return rows


def _irrcac(dataset: str) -> list[Case]:
    """Values and standard errors (linearised) of irrCAC, at its five decimals."""
    functions = {
        "gwet.ac1": gwet_ac2,
        "fleiss.kappa": fleiss_kappa,
        "conger.kappa": conger_kappa,
        "bp.coeff": brennan_prediger,
        "pa.coeff": percent_agreement,
    }
    rows = []
    weights = ("unweighted", "linear", "quadratic", "ordinal")
    for name, function in functions.items():
        for weight in weights if dataset in ORDERED else weights[:1]:
            key = f"irrCAC_{name}_{weight}"
            nan = dataset == "nominal60x12_na" and name in {"gwet.ac1", "fleiss.kappa"}
            if nan:
                # irrCAC gives NaN; the value is held to cac_by_hand_unweighted instead.
                continue

            def ours(f: Any = function, w: str = weight) -> float:
                return f(table(dataset), weights=w, interval="none").estimate

            def error(f: Any = function, w: str = weight) -> float:
                return f(table(dataset), weights=w, interval="linearised").std_error

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
            ours=lambda m=m: krippendorff_alpha(table(dataset), metric=m, interval="none").estimate,
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
        by = fleiss_kappa(complete(dataset)).details["by_category"]
        used = [v for v in by.values() if not np.isnan(v["kappa"])]
        return np.array([[v["kappa"], v["z"], v["p_value"]] for v in used])

    return [
        Case(statistic="Fleiss' kappa, z of kappa = 0", dataset=dataset, key="fleiss_kappa",
             ours=lambda: [fleiss_kappa(complete(dataset)).estimate,
                           fleiss_kappa(complete(dataset)).details["z_no_agreement"]],
             theirs=lambda v: [v["value"], v["statistic"]], tolerance=1e-10, note=note),
        Case(statistic="Fleiss' kappa by category", dataset=dataset, key="fleiss_kappa_detail",
             ours=detail, tolerance=THREE, note=note or "irr rounds to three decimals"),
        Case(statistic="Conger's kappa", dataset=dataset, key="fleiss_kappa_exact",
             path=("value",), ours=lambda: conger_kappa(complete(dataset)).estimate, note=note),
        Case(statistic="all replications agree (%)", dataset=dataset, key="percent_agreement_all",
             ours=lambda: 100 * unanimous_agreement(complete(dataset)).estimate, note=note),
    ]  # fmt: skip


def _missing() -> list[Case]:
    """What irrCAC refuses, and ours gives."""
    note = "irrCAC gives NaN when an item has no verdict; it is left out here (cac_by_hand)"
    return [
        Case(statistic=name, dataset="nominal60x12_na", key=key, path=("coeff",), ours=ours,
             agrees=False, note=note)
        for name, key, ours in (
            ("gwet.ac1", "irrCAC_gwet.ac1_unweighted",
             lambda: gwet_ac1(table("nominal60x12_na")).estimate),
            ("fleiss.kappa", "irrCAC_fleiss.kappa_unweighted",
             lambda: fleiss_kappa(table("nominal60x12_na")).estimate),
        )
    ]  # fmt: skip


def _two_raters() -> list[Case]:
    dataset = "tworaters120"
    names = {"unweighted": "unweighted", "linear": "equal", "quadratic": "squared"}

    def cohen(weights: str, **options: Any) -> Any:
        d = load(dataset)
        return cohen_kappa(d.a, d.b, weights=weights, categories=[1, 2, 3, 4, 5], **options)

    def gwet(weights: str, interval: str = "linearised") -> Any:
        both = load(dataset)[["a", "b"]].to_numpy()
        return gwet_ac2(both, weights=weights, categories=[1, 2, 3, 4, 5], interval=interval)

    rows = [
        Case(statistic=f"Cohen's kappa ({w}), z of kappa = 0", dataset=dataset,
             key=f"cohen_kappa_{k}",
             ours=lambda w=w: [cohen(w).estimate, cohen(w).details["z_no_agreement"]],
             theirs=lambda v: [v["value"], v["statistic"]])
        for w, k in names.items()
    ]  # fmt: skip
    for w, key, path in (
        ("unweighted", "cohen_kappa_vcd", "unweighted"),
        ("linear", "cohen_kappa_vcd", "weighted_linear"),
        ("quadratic", "cohen_kappa_vcd_quadratic", "weighted_quadratic"),
    ):
        rows.append(
            Case(statistic=f"Cohen's kappa ({w}), ASE", dataset=dataset, key=key, path=(path,),
                 ours=lambda w=w: [cohen(w).estimate, cohen(w).details["ase"]],
                 theirs=lambda v: [v["value"], v["ASE"]])
        )  # fmt: skip
    by_n = np.sqrt(119 / 120)
    divisor = "irrCAC's table version divides the variance by n, its raw version and ours by n - 1"
    rows += [
        Case(statistic="Cohen's kappa, variance", dataset=dataset, key="cohen_kappa_psych",
             path=("var.kappa",), ours=lambda: cohen("unweighted").details["ase"] ** 2),
        Case(statistic="Cohen's kappa (quadratic), variance", dataset=dataset,
             key="cohen_kappa_psych", path=("var.weighted",), agrees=False,
             ours=lambda: cohen("quadratic").details["ase"] ** 2,
             note="psych 2.2.9's variance of the weighted kappa is 0"),
        Case(statistic="AC1 and its standard error", dataset=dataset, key="gwet_ac1",
             ours=lambda: [gwet("unweighted").estimate, gwet("unweighted").std_error * by_n],
             theirs=lambda v: [v["coeff.val"], v["coeff.se"]], note=divisor),
        Case(statistic="AC2 (quadratic) and its standard error", dataset=dataset,
             key="gwet_ac2_quadratic",
             ours=lambda: [gwet("quadratic").estimate, gwet("quadratic").std_error * by_n],
             theirs=lambda v: [v["coeff.val"], v["coeff.se"]], note=divisor),
    ]  # fmt: skip
    return rows


CASES: list[Case] = [
    *[_by_hand(d, w) for d in CATEGORIES for w in (
        ("unweighted", "linear", "quadratic") if d in ORDERED else ("unweighted",))],
    *[c for d in CATEGORIES for m in (
        ("nominal", "ordinal", "interval", "ratio") if d in ORDERED else ("nominal",))
      for c in _kripp(d, m)],
    *[c for d in CATEGORIES for c in _irrcac(d)],
    *[c for d in CATEGORIES for c in (*_irrcac_alpha(d), *_irr(d))],
    *_missing(),
    *_two_raters(),
]  # fmt: skip
