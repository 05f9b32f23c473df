"""The public list of `judgestats.stats`, read by type checkers and by the package."""

from judgestats.stats.agreement.grade_score import (
    grade_score as grade_score,
)
from judgestats.stats.agreement.grade_score import (
    grade_score_difference as grade_score_difference,
)
from judgestats.stats.agreement.human import (
    accuracy as accuracy,
)
from judgestats.stats.agreement.human import (
    alignment_by_category as alignment_by_category,
)
from judgestats.stats.agreement.human import (
    alignment_score as alignment_score,
)
from judgestats.stats.agreement.human import (
    correlation_by_level as correlation_by_level,
)
from judgestats.stats.agreement.human import (
    human_ceiling as human_ceiling,
)
from judgestats.stats.agreement.human import (
    human_correlation as human_correlation,
)
from judgestats.stats.agreement.kappa import (
    cohen_kappa as cohen_kappa,
)
from judgestats.stats.agreement.kappa import (
    fleiss_kappa as fleiss_kappa,
)
from judgestats.stats.agreement.kappa import (
    gwet_ac1 as gwet_ac1,
)
from judgestats.stats.agreement.kappa import (
    krippendorff_alpha as krippendorff_alpha,
)
from judgestats.stats.agreement.order_effects import (
    accuracy_by_slot as accuracy_by_slot,
)
from judgestats.stats.agreement.order_effects import (
    option_win_rate as option_win_rate,
)
from judgestats.stats.agreement.order_effects import (
    pair_accuracy as pair_accuracy,
)
from judgestats.stats.agreement.order_effects import (
    position_test as position_test,
)
from judgestats.stats.agreement.position import (
    agreement_across_judges as agreement_across_judges,
)
from judgestats.stats.agreement.position import (
    first_position_preference as first_position_preference,
)
from judgestats.stats.agreement.position import (
    position_and_noise as position_and_noise,
)
from judgestats.stats.agreement.position import (
    swap_consistency as swap_consistency,
)
from judgestats.stats.agreement.preference import (
    intransitive_triads as intransitive_triads,
)
from judgestats.stats.agreement.preference import (
    pairwise_from_scores as pairwise_from_scores,
)
from judgestats.stats.agreement.preference import (
    round_robin as round_robin,
)
from judgestats.stats.agreement.preference import (
    win_rates as win_rates,
)
from judgestats.stats.agreement.raw_agreement import (
    flip_rate as flip_rate,
)
from judgestats.stats.agreement.raw_agreement import (
    percent_agreement as percent_agreement,
)
from judgestats.stats.agreement.raw_agreement import (
    unanimous_agreement as unanimous_agreement,
)
from judgestats.stats.agreement.raw_agreement import (
    vote_share_reliability as vote_share_reliability,
)
from judgestats.stats.agreement.run_change import (
    run_change as run_change,
)
from judgestats.stats.comparison.blocked_f import (
    comparisons_with_best as comparisons_with_best,
)
from judgestats.stats.comparison.groups import (
    kruskal_test as kruskal_test,
)
from judgestats.stats.comparison.groups import (
    mann_whitney_test as mann_whitney_test,
)
from judgestats.stats.comparison.groups import (
    pairwise_mann_whitney as pairwise_mann_whitney,
)
from judgestats.stats.comparison.matched import (
    cochran_q_test as cochran_q_test,
)
from judgestats.stats.comparison.matched import (
    friedman_test as friedman_test,
)
from judgestats.stats.comparison.matched import (
    mcnemar_test as mcnemar_test,
)
from judgestats.stats.comparison.matched import (
    nemenyi_critical_difference as nemenyi_critical_difference,
)
from judgestats.stats.comparison.paired import (
    cliffs_delta as cliffs_delta,
)
from judgestats.stats.comparison.paired import (
    cohens_d as cohens_d,
)
from judgestats.stats.comparison.paired import (
    hedges_g as hedges_g,
)
from judgestats.stats.comparison.paired import (
    wilcoxon_signed_rank as wilcoxon_signed_rank,
)
from judgestats.stats.comparison.rank_correlation import (
    page_trend_test as page_trend_test,
)
from judgestats.stats.comparison.rank_correlation import (
    spearman_correlation as spearman_correlation,
)
from judgestats.stats.designs.count_table import (
    copied_items as copied_items,
)
from judgestats.stats.dispersion.condition_summary import (
    condition_summary as condition_summary,
)
from judgestats.stats.dispersion.condition_summary import (
    mean_shift as mean_shift,
)
from judgestats.stats.dispersion.condition_summary import (
    normality_test as normality_test,
)
from judgestats.stats.dispersion.dispersion_test import (
    spread_test as spread_test,
)
from judgestats.stats.dispersion.dispersion_test import (
    spread_trend as spread_trend,
)
from judgestats.stats.dispersion.equivalence import (
    equivalence_of_means as equivalence_of_means,
)
from judgestats.stats.dispersion.equivalence import (
    equivalence_of_spread as equivalence_of_spread,
)
from judgestats.stats.dispersion.published import (
    brown_forsythe_test as brown_forsythe_test,
)
from judgestats.stats.dispersion.published import (
    levene_of_variances as levene_of_variances,
)
from judgestats.stats.dispersion.published import (
    levene_test as levene_test,
)
from judgestats.stats.dispersion.published import (
    spread_published as spread_published,
)
from judgestats.stats.dispersion.ratios import (
    gmd_ratio as gmd_ratio,
)
from judgestats.stats.dispersion.ratios import (
    ratio_of_ratios as ratio_of_ratios,
)
from judgestats.stats.dispersion.ratios import (
    variance_ratio as variance_ratio,
)
from judgestats.stats.inference.bootstrap import (
    cluster_bootstrap as cluster_bootstrap,
)
from judgestats.stats.inference.multiplicity import (
    adjust_family as adjust_family,
)
from judgestats.stats.inference.multiplicity import (
    p_adjust as p_adjust,
)
from judgestats.stats.inference.permutation import (
    relation_null as relation_null,
)
from judgestats.stats.inference.runs import (
    run_component as run_component,
)
from judgestats.stats.models.bradley_terry import (
    bradley_terry as bradley_terry,
)
from judgestats.stats.models.crossed_effects import (
    crossed_components as crossed_components,
)
from judgestats.stats.reliability.intraclass import (
    icc as icc,
)
from judgestats.stats.reliability.intraclass import (
    replications_needed as replications_needed,
)
from judgestats.stats.reliability.intraclass import (
    spearman_brown as spearman_brown,
)
from judgestats.stats.reliability.omega import (
    omega_total as omega_total,
)
from judgestats.stats.reliability.published_omega import (
    published_omega_2412_12509 as published_omega_2412_12509,
)
from judgestats.stats.reliability.repeat_error import (
    repeat_pairs as repeat_pairs,
)
from judgestats.stats.robustness.levels import (
    levels_used as levels_used,
)
from judgestats.stats.robustness.levels import (
    recoding_loss as recoding_loss,
)
from judgestats.stats.robustness.probes import (
    attack_success as attack_success,
)
from judgestats.stats.robustness.probes import (
    probe_shift as probe_shift,
)
from judgestats.stats.robustness.source_dif import (
    dif_test as dif_test,
)
from judgestats.stats.robustness.wording import (
    prompt_sensitivity as prompt_sensitivity,
)
from judgestats.stats.robustness.wording import (
    scale_agreement as scale_agreement,
)
from judgestats.stats.validity.annotators import (
    agreement_ceiling as agreement_ceiling,
)
from judgestats.stats.validity.annotators import (
    alternative_annotator_test as alternative_annotator_test,
)
from judgestats.stats.validity.annotators import (
    leniency as leniency,
)
from judgestats.stats.validity.calibration import (
    confidence_calibration as confidence_calibration,
)
from judgestats.stats.validity.calibration import (
    separation as separation,
)
from judgestats.stats.validity.corrected import (
    corrected_differences as corrected_differences,
)
from judgestats.stats.validity.corrected import (
    corrected_mean as corrected_mean,
)
from judgestats.stats.validity.corrected import (
    corrected_rate as corrected_rate,
)
from judgestats.stats.validity.corrected import (
    corrected_win_rate as corrected_win_rate,
)
from judgestats.stats.validity.corrected import (
    paired_share_difference as paired_share_difference,
)
from judgestats.stats.validity.corrected import (
    tango_limits as tango_limits,
)
from judgestats.stats.validity.error_rates import (
    error_rates as error_rates,
)
from judgestats.stats.validity.error_rates import (
    error_rates_by_slice as error_rates_by_slice,
)
from judgestats.stats.validity.label_plan import (
    allocate_labels as allocate_labels,
)
from judgestats.stats.validity.label_plan import (
    draw_labels as draw_labels,
)
from judgestats.stats.validity.label_plan import (
    labels_gained as labels_gained,
)
from judgestats.stats.validity.label_plan import (
    labels_needed as labels_needed,
)
from judgestats.stats.validity.label_plan import (
    split_labels as split_labels,
)
from judgestats.stats.validity.panels import (
    panel_gain as panel_gain,
)
from judgestats.stats.validity.panels import (
    panel_of_judges as panel_of_judges,
)
from judgestats.stats.validity.panels import (
    panel_of_scores as panel_of_scores,
)
from judgestats.stats.validity.poststratified import (
    corrected_by_rates as corrected_by_rates,
)
from judgestats.stats.validity.scores import (
    accuracy_by_k as accuracy_by_k,
)
from judgestats.stats.validity.scores import (
    choice_accuracy_by_k as choice_accuracy_by_k,
)
from judgestats.stats.validity.scores import (
    error_parts as error_parts,
)
from judgestats.stats.validity.scores import (
    graded_agreement as graded_agreement,
)
from judgestats.stats.validity.sequential import (
    anchored_change as anchored_change,
)
