"""Public names of `judgestats.stats.robustness`."""

from judgestats.stats.robustness.levels import BETWEEN as BETWEEN
from judgestats.stats.robustness.levels import merged_levels as merged_levels
