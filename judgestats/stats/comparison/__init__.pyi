"""Public names of `judgestats.stats.comparison`."""

from judgestats.stats.comparison.blocked_f import BestConditions as BestConditions
from judgestats.stats.comparison.blocked_f import blocked_f_test as blocked_f_test
from judgestats.stats.comparison.matched import FriedmanResult as FriedmanResult
from judgestats.stats.comparison.paired import hedges_correction as hedges_correction
from judgestats.stats.comparison.paired import walsh_averages as walsh_averages
from judgestats.stats.comparison.rank_correlation import kendall_of_stack as kendall_of_stack
