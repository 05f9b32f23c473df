"""Public names of `judgestats.stats.reliability`."""

from judgestats.lazy import public_names as public_names
from judgestats.stats.reliability.intraclass import FORMS as FORMS
from judgestats.stats.reliability.intraclass import exact_replications as exact_replications
from judgestats.stats.reliability.intraclass import icc_value as icc_value
from judgestats.stats.reliability.mean_square_ratio import MeanSquareRatio as MeanSquareRatio
from judgestats.stats.reliability.omega_fit import OmegaEstimate as OmegaEstimate
from judgestats.stats.reliability.omega_fit import covariances_of_stack as covariances_of_stack
from judgestats.stats.reliability.omega_fit import weighted_covariances as weighted_covariances
from judgestats.stats.reliability.one_factor import fit_stack as fit_stack
from judgestats.stats.reliability.one_factor import minres_one_factor as minres_one_factor
from judgestats.stats.reliability.one_factor import ml_discrepancy as ml_discrepancy
from judgestats.stats.reliability.one_factor import ml_one_factor as ml_one_factor
from judgestats.stats.reliability.one_factor import singular_reason as singular_reason
from judgestats.stats.reliability.published_omega import MODULES as MODULES
from judgestats.stats.reliability.published_omega import accepts_argument as accepts_argument
from judgestats.stats.reliability.published_omega import factor_analysis as factor_analysis
from judgestats.stats.reliability.published_omega import install as install
from judgestats.stats.reliability.published_omega import minres_factors as minres_factors
from judgestats.stats.reliability.published_omega import oblimin as oblimin
from judgestats.stats.reliability.published_omega import (
    published_verdict_codes as published_verdict_codes,
)
from judgestats.stats.reliability.published_omega import (
    translate_finite_argument as translate_finite_argument,
)
from judgestats.stats.reliability.repeat_error import RepeatPairs as RepeatPairs
from judgestats.stats.reliability.repeat_error import far_distance as far_distance
from judgestats.stats.reliability.repeat_error import repeat_pairs as repeat_pairs
