"""Names that an earlier version had, and what to use instead; kept for one version."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from types import MappingProxyType

REMOVED_STATISTICS: Mapping[str, str] = MappingProxyType(
    {
        "bartlett_test": "scipy.stats.bartlett",
        "bowker_test": "statsmodels.stats.contingency_tables.SquareTable(table).symmetry()",
        "cohens_dz": 'pingouin.compute_effsize(x, y, paired=True, eftype="cohen_dz")',
        "cohens_h": "statsmodels.stats.proportion.proportion_effectsize",
        "eta_squared_ranks": "stats.kruskal_test(groups).effects[1]",
        "fligner_test": "scipy.stats.fligner",
        "glass_delta": "(mean(x) - mean(y)) / numpy.std(y, ddof=1)",
        "graded_response": "girth.grm_mml",
        "greatest_lower_bound": "psych::glb.algebraic in R",
        "guttman_lambda6": "psych::guttman in R, or stats.guttman_lambda2",
        "hodges_lehmann_paired": "stats.wilcoxon_signed_rank(x, y).effects[1]",
        "hodges_lehmann_shift": "stats.mann_whitney_test(x, y).effects[1]",
        "jonckheere_test": "stats.kendall_correlation of the group's rank and the value",
        "labels_by_item": 'frame.pivot(index="item", columns="annotator", values="label")',
        "light_kappa": "the mean of stats.cohen_kappa over pairs of raters",
        "modal_agreement": '1 - stats.flip_rate(verdicts, kind="mode").estimate',
        "odds_ratio": "scipy.stats.contingency.odds_ratio",
        "omega_ordinal": 'MBESS::ci.reliability(type = "categorical") in R',
        "pairwise_wilcoxon": "stats.wilcoxon_signed_rank of each pair, then stats.p_adjust",
        "permutation_null": "scipy.stats.permutation_test",
        "polychoric": "psych::polychoric in R",
        "pooled_variance": "numpy.var(scores, axis=-1, ddof=1).mean(axis=0)",
        "quade_test": "stats.friedman_test, or quade.test in R",
        "rank_biserial": "stats.cliffs_delta, the same number",
        "rank_biserial_paired": "stats.wilcoxon_signed_rank(x, y).effect",
        "reliability_of_scores": "stats.icc and stats.standard_error_of_measurement",
        "skillings_mack_test": "stats.friedman_test, or PMCMRplus::skillingsMackTest in R",
        "split_halves": "psych::splitHalf in R",
        "ten_berge_mu": "psych::tenberge in R",
    }
)
"""What `judgestats.stats` no longer has, with what takes its place."""


def warn_removed_statistic(name: str) -> None:
    """Warn that `judgestats.stats` no longer has a name, and say what to use."""
    advice = REMOVED_STATISTICS[name]
    message = f"judgestats.stats.{name} was removed in 0.3.0. Use {advice}."
    warnings.warn(message, FutureWarning, stacklevel=3)


REPLACED_COMMANDS: Mapping[str, str] = MappingProxyType(
    {"second-opinion": "judgestats show RUN crosscheck"}
)
"""Commands that still work for one version, with what takes their place."""


def command_note(name: str) -> str:
    """One line that names what takes the place of a command.

    Examples
    --------
    >>> command_note("second-opinion")
    'judgestats second-opinion is deprecated since 0.3.0. Use judgestats show RUN crosscheck.'
    """
    return f"judgestats {name} is deprecated since 0.3.0. Use {REPLACED_COMMANDS[name]}."


REPORT_PARTS: Mapping[str, str] = MappingProxyType(
    {
        "calibration": "agreement_figures",
        "claims": "closing",
        "disagreements": "exclusions",
        "files": "methods",
        "missing": "checks",
        "null_figure": "agreement_figures",
        "opinion": "methods",
        "page_one": "summary_page",
        "selections": "sensitivity",
        "systems": "findings",
    }
)
"""Former parts of `judgestats.reporting.sections`, with the part that has their functions."""


def warn_renamed_part(name: str) -> None:
    """Warn that a part of `judgestats.reporting.sections` has another name."""
    message = f"judgestats.reporting.sections.{name} is {REPORT_PARTS[name]} since 0.3.0."
    warnings.warn(message, FutureWarning, stacklevel=3)


def warn_renamed_function(old: str, new: str) -> None:
    """Warn that a function has another name."""
    warnings.warn(f"{old} is {new} since 0.3.0.", FutureWarning, stacklevel=3)
