"""Public names of `judgestats.stats.inference`."""

from judgestats.stats.inference.bootstrap import cluster_codes as cluster_codes
from judgestats.stats.inference.distributions import proportion_limits as proportion_limits
from judgestats.stats.inference.distributions import studentized_range_isf as studentized_range_isf
from judgestats.stats.inference.distributions import studentized_range_sf as studentized_range_sf
from judgestats.stats.inference.jackknife import effective_clusters as effective_clusters
from judgestats.stats.inference.jackknife import jackknife_error as jackknife_error
from judgestats.stats.inference.jackknife import log_ratio_of_sums as log_ratio_of_sums
from judgestats.stats.inference.jackknife import mean_over_clusters as mean_over_clusters
from judgestats.stats.inference.keywords import DEFAULTS as DEFAULTS
from judgestats.stats.inference.keywords import NULL as NULL
from judgestats.stats.inference.keywords import ON_DEMAND as ON_DEMAND
from judgestats.stats.inference.keywords import P_VALUE as P_VALUE
from judgestats.stats.inference.keywords import one_blas_thread as one_blas_thread
from judgestats.stats.inference.multiplicity import ADJUSTMENTS as ADJUSTMENTS
from judgestats.stats.inference.multiplicity import signed_step_down as signed_step_down
from judgestats.stats.inference.multiplicity import weighted_holm as weighted_holm
from judgestats.stats.inference.multiplicity import weighted_levels as weighted_levels
from judgestats.stats.inference.permutation import draw_permutations as draw_permutations
from judgestats.stats.inference.permutation import (
    permutation_distribution as permutation_distribution,
)
from judgestats.stats.inference.permutation import permutations_needed as permutations_needed
from judgestats.stats.inference.rank_distributions import kth_average as kth_average
from judgestats.stats.inference.rank_distributions import kth_difference as kth_difference
from judgestats.stats.inference.rank_distributions import median_average as median_average
from judgestats.stats.inference.rank_distributions import median_difference as median_difference
from judgestats.stats.inference.rank_distributions import (
    noise_free_difference as noise_free_difference,
)
from judgestats.stats.inference.rank_distributions import page_null as page_null
from judgestats.stats.inference.rank_distributions import rank_sum_null as rank_sum_null
from judgestats.stats.inference.rank_distributions import signed_rank_null as signed_rank_null
from judgestats.stats.inference.result import Comparison as Comparison
from judgestats.stats.inference.result import Comparisons as Comparisons
from judgestats.stats.inference.result import Estimate as Estimate
from judgestats.stats.inference.result import Interval as Interval
from judgestats.stats.inference.result import Result as Result
from judgestats.stats.inference.result import Sample as Sample
from judgestats.stats.inference.result import TestResult as TestResult
from judgestats.stats.inference.runs import RunComponent as RunComponent
from judgestats.stats.inference.runs import run_component as run_component
from judgestats.stats.inference.sum_statistics import CountedCodes as CountedCodes
