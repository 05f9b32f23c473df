"""Public names of `judgestats.stats.agreement`."""

from judgestats.stats.agreement.grade_score import chance_grade_score as chance_grade_score
from judgestats.stats.agreement.grade_score import (
    exceeds_grade_score_bound as exceeds_grade_score_bound,
)
from judgestats.stats.agreement.grade_score import grade_score_items as grade_score_items
from judgestats.stats.agreement.human import alignment_credit as alignment_credit
from judgestats.stats.agreement.human import attention_coverage as attention_coverage
from judgestats.stats.agreement.kappa import (
    least_against_even_chance as least_against_even_chance,
)
from judgestats.stats.agreement.kappa import least_fleiss_kappa as least_fleiss_kappa
from judgestats.stats.agreement.kappa import (
    least_krippendorff_alpha as least_krippendorff_alpha,
)
from judgestats.stats.agreement.kappa import least_vote_share as least_vote_share
from judgestats.stats.agreement.position import clopper_pearson as clopper_pearson
from judgestats.stats.agreement.position import (
    repetition_over_orders as repetition_over_orders,
)
from judgestats.stats.agreement.preference import equivalence_of_effects as equivalence_of_effects
from judgestats.stats.agreement.preference import preference_effects as preference_effects
from judgestats.stats.agreement.raw_agreement import mean_of_groups as mean_of_groups
from judgestats.stats.agreement.raw_agreement import mean_share as mean_share
