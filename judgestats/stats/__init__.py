"""The numbers: pure functions over arrays, and the frozen result objects they return.

>>> from judgestats import stats
>>> round(stats.fleiss_kappa([["a", "a"], ["b", "b"], ["a", "b"]]).estimate, 3)
0.333

Some functions bear the name of their module, so all are imported here, once: a lazy import would
make the name mean the function or the module, depending on what was imported before.
"""

from __future__ import annotations

from judgestats.stats.accuracy import accuracy, human_ceiling
from judgestats.stats.adjust import adjust_family, p_adjust
from judgestats.stats.alignment import alignment_by_category, alignment_score
from judgestats.stats.between_judges import agreement_across_judges
from judgestats.stats.cochran import cochran_q_test
from judgestats.stats.cohen import cohen_kappa
from judgestats.stats.concordance import kendalls_w
from judgestats.stats.condition_summary import condition_summary
from judgestats.stats.effects_counts import cohens_h, odds_ratio
from judgestats.stats.effects_means import cohens_d, cohens_dz, glass_delta, hedges_g
from judgestats.stats.effects_ranks import cliffs_delta, rank_biserial, vargha_delaney_a
from judgestats.stats.equivalence import equivalence_of_means, equivalence_of_spread
from judgestats.stats.friedman import friedman_test, nemenyi_critical_difference
from judgestats.stats.generalizability import d_study, generalizability
from judgestats.stats.grade_score import grade_score, grade_score_difference
from judgestats.stats.gwet import brennan_prediger, gwet_ac1, gwet_ac2
from judgestats.stats.human_correlation import disattenuated_correlation, human_correlation
from judgestats.stats.internal_consistency import cronbach_alpha, guttman_lambda2, guttman_lambda6
from judgestats.stats.intraclass import icc, icc_forms
from judgestats.stats.kappa import conger_kappa, fleiss_kappa, light_kappa
from judgestats.stats.kendall import kendall_correlation
from judgestats.stats.krippendorff import krippendorff_alpha
from judgestats.stats.kruskal import epsilon_squared, eta_squared_ranks, kruskal_test
from judgestats.stats.location_shift import hodges_lehmann_paired, hodges_lehmann_shift
from judgestats.stats.lower_bounds import greatest_lower_bound, split_halves, ten_berge_mu
from judgestats.stats.mann_whitney import mann_whitney_test, pairwise_mann_whitney
from judgestats.stats.matched_effects import rank_biserial_paired
from judgestats.stats.mcnemar import mcnemar_test
from judgestats.stats.mean_shift import mean_shift
from judgestats.stats.measurement_error import (
    smallest_detectable_change,
    standard_error_of_measurement,
)
from judgestats.stats.omega import omega_total
from judgestats.stats.order import option_win_rate, position_test
from judgestats.stats.ordinal_omega import omega_ordinal
from judgestats.stats.permutation import permutation_null
from judgestats.stats.planning import plan_study
from judgestats.stats.polychoric import polychoric
from judgestats.stats.position_noise import position_and_noise
from judgestats.stats.position_preference import first_position_preference
from judgestats.stats.priced_plan import priced_plan
from judgestats.stats.published_omega import published_omega_2412_12509
from judgestats.stats.quade import quade_test
from judgestats.stats.ratio_of_ratios import ratio_of_ratios
from judgestats.stats.raw_agreement import (
    flip_rate,
    modal_agreement,
    percent_agreement,
    unanimous_agreement,
    verdict_entropy,
)
from judgestats.stats.resampling import cluster_bootstrap
from judgestats.stats.round_robin import round_robin
from judgestats.stats.schmid_leiman import omega_hierarchical, schmid_leiman
from judgestats.stats.score_reliability import reliability_of_scores
from judgestats.stats.shape import normality_test
from judgestats.stats.skillings_mack import skillings_mack_test
from judgestats.stats.spearman import spearman_correlation
from judgestats.stats.spread import spread_test
from judgestats.stats.spread_published import levene_of_variances, spread_published
from judgestats.stats.spread_trend import spread_trend
from judgestats.stats.stability import majority_stability
from judgestats.stats.step_up import replications_needed, spearman_brown
from judgestats.stats.swap import swap_consistency
from judgestats.stats.symmetry import bowker_test, stuart_maxwell_test
from judgestats.stats.transitivity import intransitive_triads, pairwise_from_scores
from judgestats.stats.trend import jonckheere_test, page_trend_test
from judgestats.stats.variance_components import variance_components
from judgestats.stats.variance_ratio import pooled_variance, variance_ratio
from judgestats.stats.variance_tests import (
    bartlett_test,
    brown_forsythe_test,
    fligner_test,
    levene_test,
)
from judgestats.stats.vote_share import vote_share_reliability
from judgestats.stats.wilcoxon import pairwise_wilcoxon, wilcoxon_signed_rank

__all__ = [
    "accuracy",
    "adjust_family",
    "agreement_across_judges",
    "alignment_by_category",
    "alignment_score",
    "bartlett_test",
    "bowker_test",
    "brennan_prediger",
    "brown_forsythe_test",
    "cliffs_delta",
    "cluster_bootstrap",
    "cochran_q_test",
    "cohen_kappa",
    "cohens_d",
    "cohens_dz",
    "cohens_h",
    "condition_summary",
    "conger_kappa",
    "cronbach_alpha",
    "d_study",
    "disattenuated_correlation",
    "epsilon_squared",
    "equivalence_of_means",
    "equivalence_of_spread",
    "eta_squared_ranks",
    "first_position_preference",
    "fleiss_kappa",
    "fligner_test",
    "flip_rate",
    "friedman_test",
    "generalizability",
    "glass_delta",
    "grade_score",
    "grade_score_difference",
    "greatest_lower_bound",
    "guttman_lambda2",
    "guttman_lambda6",
    "gwet_ac1",
    "gwet_ac2",
    "hedges_g",
    "hodges_lehmann_paired",
    "hodges_lehmann_shift",
    "human_ceiling",
    "human_correlation",
    "icc",
    "icc_forms",
    "intransitive_triads",
    "jonckheere_test",
    "kendall_correlation",
    "kendalls_w",
    "krippendorff_alpha",
    "kruskal_test",
    "levene_of_variances",
    "levene_test",
    "light_kappa",
    "majority_stability",
    "mann_whitney_test",
    "mcnemar_test",
    "mean_shift",
    "modal_agreement",
    "nemenyi_critical_difference",
    "normality_test",
    "odds_ratio",
    "omega_hierarchical",
    "omega_ordinal",
    "omega_total",
    "option_win_rate",
    "p_adjust",
    "page_trend_test",
    "pairwise_from_scores",
    "pairwise_mann_whitney",
    "pairwise_wilcoxon",
    "percent_agreement",
    "permutation_null",
    "plan_study",
    "polychoric",
    "pooled_variance",
    "position_and_noise",
    "position_test",
    "priced_plan",
    "published_omega_2412_12509",
    "quade_test",
    "rank_biserial",
    "rank_biserial_paired",
    "ratio_of_ratios",
    "reliability_of_scores",
    "replications_needed",
    "round_robin",
    "schmid_leiman",
    "skillings_mack_test",
    "smallest_detectable_change",
    "spearman_brown",
    "spearman_correlation",
    "split_halves",
    "spread_published",
    "spread_test",
    "spread_trend",
    "standard_error_of_measurement",
    "stuart_maxwell_test",
    "swap_consistency",
    "ten_berge_mu",
    "unanimous_agreement",
    "vargha_delaney_a",
    "variance_components",
    "variance_ratio",
    "verdict_entropy",
    "vote_share_reliability",
    "wilcoxon_signed_rank",
]
