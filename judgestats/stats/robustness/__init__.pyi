"""Public names of `judgestats.stats.robustness`."""

from judgestats.stats.robustness.levels import BETWEEN as BETWEEN
