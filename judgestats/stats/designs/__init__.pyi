"""Public names of `judgestats.stats.designs`."""

from judgestats.lazy import public_names as public_names
from judgestats.stats.designs.cells import cell_statistics as cell_statistics
from judgestats.stats.designs.count_table import CountTable as CountTable
from judgestats.stats.designs.count_table import encode_verdicts as encode_verdicts
from judgestats.stats.designs.count_table import rare_category_notes as rare_category_notes
from judgestats.stats.designs.score_matrix import AGGREGATES as AGGREGATES
from judgestats.stats.designs.score_matrix import aggregate_replications as aggregate_replications
from judgestats.stats.designs.score_matrix import as_paired as as_paired
from judgestats.stats.designs.score_matrix import mean_squares as mean_squares
from judgestats.stats.designs.score_matrix import one_way_mean_squares as one_way_mean_squares
from judgestats.stats.designs.score_matrix import prepare_scores as prepare_scores
from judgestats.stats.designs.score_matrix import read_blocks as read_blocks
from judgestats.stats.designs.score_matrix import read_groups as read_groups
