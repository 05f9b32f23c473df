"""The registry of tests."""

from __future__ import annotations

from judgestats.results.estimands.entry import TestKind

__all__ = ["ENTRIES"]

ENTRIES: tuple[TestKind, ...] = (
    TestKind("blocked_f_test", "blocked F test", "blocked_f_test"),
    TestKind("spread_blocked_f", "blocked F test on the spread", "spread_test"),
    TestKind("credit_blocked_f", "blocked F test on the credit", "blocked_f_test"),
    TestKind("interaction_blocked_f", "blocked F test of the interaction", "blocked_f_test"),
    TestKind("prompt_sensitivity", "permutation test of the wording", "prompt_sensitivity"),
    TestKind("probe_shift", "test of a shift by a change", "probe_shift"),
    TestKind("scale_agreement", "test of the order on another scale", "scale_agreement"),
    TestKind("own_effect", "test of what its own answers gain", "preference_effects"),
    TestKind("attack_success", "exact test of an attack's success", "attack_success"),
    TestKind("run_change", "permutation test of a change between runs", "run_change"),
    TestKind("friedman_test", "Friedman's test", "friedman_test"),
    TestKind("iman_davenport_test", "Iman and Davenport's F", "friedman_test"),
    TestKind("quade_test", "Quade's test", "quade_test"),
    TestKind("skillings_mack_test", "Skillings and Mack's test", "skillings_mack_test"),
    TestKind("page_trend_test", "Page's L", "page_trend_test"),
    TestKind("jonckheere_test", "Jonckheere and Terpstra's test", "jonckheere_test"),
    TestKind("{kind}_trend", "{kind} correlation with the order", "spread_trend"),
    TestKind("wilcoxon_signed_rank", "Wilcoxon's signed-rank test", "wilcoxon_signed_rank"),
    TestKind("mann_whitney_test", "Mann-Whitney test", "mann_whitney_test"),
    TestKind("kruskal_test", "Kruskal-Wallis test", "kruskal_test"),
    TestKind("spearman_correlation", "Spearman's test", "spearman_correlation"),
    TestKind("kendall_correlation", "Kendall's test", "kendall_correlation"),
    TestKind("cochran_q_test", "Cochran's Q test", "cochran_q_test"),
    TestKind("mcnemar_test", "McNemar's test", "mcnemar_test"),
    TestKind("bowker_test", "Bowker's test of symmetry", "bowker_test"),
    TestKind("stuart_maxwell_test", "Stuart and Maxwell's test", "stuart_maxwell_test"),
    TestKind("levene_test", "Levene's test", "levene_test"),
    TestKind("brown_forsythe_test", "Brown and Forsythe's test", "levene_test"),
    TestKind("fligner_test", "Fligner and Killeen's test", "fligner_test"),
    TestKind("bartlett_test", "Bartlett's test", "bartlett_test"),
    TestKind("levene_of_variances", "Levene's test on variances", "levene_of_variances"),
    TestKind("published_{kind}", "{kind}, as published", "spread_published"),
    TestKind("normality_test", "D'Agostino and Pearson's test", "normality_test"),
    TestKind("position_test", "chi-squared test of positions", "position_test"),
    TestKind("accuracy_by_slot", "permutation test of the right option's place",
      "accuracy_by_slot"),
    TestKind("first_position_preference", "sign test of the first place",
      "first_position_preference"),
    TestKind("related_to_labels", "labels shuffled over items", "relation_null"),
    TestKind("representativeness", "labelled items against the rest", "representativeness_test"),
    TestKind("component_likelihood_ratio", "likelihood-ratio test of a component",
      "component_likelihood_ratio"),
    TestKind("dif_test", "test of sources at equal quality", "dif_test"),
)  # fmt: skip
