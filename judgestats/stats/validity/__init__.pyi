"""Public names of `judgestats.stats.validity`."""

from judgestats.stats.validity.calibration import isotonic_steps as isotonic_steps
from judgestats.stats.validity.inputs import labelled_items as labelled_items
from judgestats.stats.validity.poststratified import lang_reiczigel_limits as lang_reiczigel_limits
from judgestats.stats.validity.poststratified import poststratified_rate as poststratified_rate
from judgestats.stats.validity.regression import greg_mean as greg_mean
from judgestats.stats.validity.regression import ppi_mean as ppi_mean
from judgestats.stats.validity.regression import stratified_mean as stratified_mean
from judgestats.stats.validity.sequential import RunningAverage as RunningAverage
