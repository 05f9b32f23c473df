"""Public names of `judgestats.stats.dispersion`."""

from judgestats.stats.dispersion.condition_summary import kurtosis_change as kurtosis_change
from judgestats.stats.dispersion.dispersion_test import SpreadResult as SpreadResult
from judgestats.stats.dispersion.dispersion_test import trend_over_cells as trend_over_cells
from judgestats.stats.dispersion.published import centred_scores as centred_scores
from judgestats.stats.dispersion.ratios import exchange_ratio as exchange_ratio
